"""The kinds of file in a vault, as frozen values; times are aware and in UTC, paths relative to the vault with `/`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Dated(StrEnum):
    """Where a note's date comes from."""

    KEY = "key"
    """`created` or `date` in its front matter."""
    NAME = "name"
    """A date in its file name."""
    FILE = "file"
    """The modification time, which git does not keep."""


class Kind(StrEnum):
    """What a file is, said by where it lies."""

    NOTE = "note"
    SUMMARY = "summary"
    CARD = "card"
    RETIRED = "retired"
    STRAY = "stray"
    """A person's file in `tier-n/` or `retired/`: found by recall, named by `doctor`, in no sum."""
    TOPIC = "topic"
    SESSION = "session"
    ENTITY = "entity"
    PROCEDURE = "procedure"


@dataclass(frozen=True, slots=True)
class Note:
    """One raw observation, without its text."""

    path: str
    handle: str
    created: datetime
    dated: Dated
    digest: str
    """Of its current version; empty where the text can't be read."""
    chars: int
    """Code points of the text to summarize."""
    lines: int
    touched: datetime
    """Modification time of the file: how long a person has let it rest."""
    source: str = ""
    embed: str = ""
    """The link of the note whose text this one shows; empty for a note with a text of its own."""
    title: str = ""
    problem: str = ""
    """Why it can't be used as it is; empty for a sound note."""
    is_card: bool = False
    """It says of itself that it is a model's card: one that a renamed folder left behind."""
    text_path: str = ""
    """Of an embed: the file that holds the text it shows."""


@dataclass(frozen=True, slots=True)
class Source:
    """One line of a summary's provenance: a link, and digest and date of what was read under it."""

    link: str
    digest: str
    date: datetime


@dataclass(frozen=True, slots=True)
class Summary:
    """What one batch was compressed to, without its text."""

    path: str
    handle: str
    tier: int
    batch: int
    created: datetime
    span_from: datetime
    span_to: datetime
    note_count: int
    sources: tuple[Source, ...]
    digest: str
    """Of its text: what the provenance of a roll-up names."""
    chars: int
    lines: int
    summarizer: str = ""
    draft: bool = False
    problem: str = ""
    """Why it is broken; a broken summary covers nothing, and its model does not grow."""


@dataclass(frozen=True, slots=True)
class Card:
    """A model's card: what it is about, and whether it has been put away."""

    path: str
    handle: str
    description: str = ""
    archived: bool = False
    folded_into: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Shaped:
    """A topic, session, entity, procedure, retired summary or stray file: what the store must know of it unread."""

    path: str
    handle: str
    kind: Kind
    created: datetime
    name: str = ""
    """`name` of an entity, `title` of any other."""
    status: str = ""
    chars: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Session(Shaped):
    """A session digest: what was done and said in one session, and the topics that it belongs to."""

    session: str = ""
    """The harness's own name for it."""
    topics: tuple[str, ...] = ()
    """Slugs."""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Curated(Shaped):
    """A record that somebody proposed and a person confirms: a procedure, or an entity."""

    confidence: float | None = None
    """From 0 to 1; None where it is not said, or no number."""
    source: str = ""
    duplicates: tuple[str, ...] = ()
    """Handles of records that it may repeat."""
    superseded_by: str = ""
    contradicts: tuple[str, ...] = ()
    pruned: str = ""
    """The day when it fell due."""
    is_dated: bool = True
    """Whether the file says when it was made: one that does not is never pruned."""
    says_confidence: bool = False
    """Whether the file says a confidence, readable or not."""


@dataclass(frozen=True, slots=True)
class Entity(Curated):
    """A person, a place, a project, or whatever else has a name."""

    label: str = ""
    """What kind of thing it is, in the file's own word."""
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Handles that its text links to."""


File = Note | Summary | Card | Shaped

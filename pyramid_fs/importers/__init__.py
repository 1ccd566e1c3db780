"""Bringing in notes that were written elsewhere: streamed, dated as they were, and never twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyramid_fs import layout, record

if TYPE_CHECKING:
    from pyramid_fs.census import Census
    from pyramid_fs.issue import Tools

LINES = 200
"""So many imported notes share one line-up of the ledger's disk write."""


@dataclass(slots=True)
class Imported:
    """What came of an import."""

    read: int = 0
    notes: int = 0
    """Notes that were made; a note in several models counts once."""
    files: int = 0
    known: int = 0
    """Notes that an earlier import, here or on another machine, had made."""
    models: list[str] = field(default_factory=list)
    """Models that were made."""
    bad: list[str] = field(default_factory=list)
    """One line for each part of the input that is no note, with the reason."""
    skipped: int = 0
    """What holds no text."""


@dataclass(frozen=True, slots=True)
class Done:
    """The source tags that a ledger knows."""

    tags: frozenset[str]

    def __contains__(self, tag: str) -> bool:
        return tag in self.tags


class Models:
    """The models that an import writes to."""

    def __init__(self, tools: Tools) -> None:
        self._tools, self._there = tools, tools.census.models()
        self._meant: dict[str, str] = {}

    def meant(self, name: str) -> str:
        """Give the model that a name means: one that is there but for case and composition, or the name itself.

        Raise RefusedWrite for a model that has been put away.
        """
        if name not in self._meant:
            there = next((other for other in self._there if layout.same_name(name, other)), None)
            if there:
                record.refuse_archived(self._tools, [there])
            self._meant[name] = there or name
        return self._meant[name]

    def is_new(self, model: str) -> bool:
        """Whether a model is to be made; from then on it is there."""
        if model in self._there:
            return False
        self._there.append(model)
        return True


def done(census: Census) -> Done:
    """Read from all ledger files what was imported before, deleted or forgotten since or not."""
    return Done(frozenset(str(entry["source"]) for entry in census.vault.ledger() if "made" in entry))


def tag(*parts: str) -> str:
    """Make the source tag of one imported note: what it is called where it came from, and its text."""
    return f"{parts[0]}#{hashlib.sha256(chr(10).join(parts[1:]).encode()).hexdigest()[:16]}"


def suffixes(tag_text: str) -> list[str]:
    """Give the suffixes to try for an imported note, made from its tag, so that two machines make the same file."""
    return [layout.digest_suffix(tag_text, str(number)) for number in range(8)]

"""Bringing in notes that were written elsewhere: streamed, dated as they were, and never twice."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyramid_fs import files, layout, record, times
from pyramid_fs.errors import DiskError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

    from pyramid_fs.census import Census
    from pyramid_fs.errors import Problem
    from pyramid_fs.issue import Tools

LINES = 200
"""So many imported notes share one line-up of the ledger's disk write."""
LONGEST = 64 << 20
"""Bytes that one line of an input may have: a longer one is passed over, never held."""
_POINTS = r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+"
_OPENS = re.compile(rf"( {{0,3}}|{_POINTS})(`{{3,}}+(?!.*`)|~{{3,}})")
"""A fence of code that opens, on its own line or right behind the mark of a point."""


@dataclass(slots=True)
class Imported:
    """What came of an import; `notes`, `records`, `relations`, `known`, `skipped` and the bad ones add up to `read`."""

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
    """What holds no text, or is no note of its kind."""
    records: int = 0
    """Entity records that were made."""
    relations: int = 0
    """Relations that a record took in; one that no record could take in is a note."""
    left_out: dict[str, int] = field(default_factory=dict)
    """What was skipped, by kind."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Where a file lay → where its note lies in the model: its name, or a folder's, was none for every system."""
    others: int = 0
    """Files of a folder that are no markdown, and links: not read, left where they are."""

    def skip(self, what: str, count: int = 1) -> None:
        """Count something that was read and is not kept."""
        if count:
            self.skipped += count
            self.left_out[what] = self.left_out.get(what, 0) + count


class Done:
    """The source tags that a ledger knows, and those of this run: eight bytes for each, not its text."""

    def __init__(self, tags: Iterable[str]) -> None:
        self._marks = {hash(each) for each in tags}

    def __contains__(self, tag: str) -> bool:
        return hash(tag) in self._marks

    def add(self, tag: str) -> None:
        """Know one more."""
        self._marks.add(hash(tag))


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
    return Done(str(entry["source"]) for entry in census.vault.ledger() if "made" in entry and "source" in entry)


def tag(*parts: str) -> str:
    """Make the source tag of one imported note: what it is called where it came from, and its text."""
    return f"{parts[0]}#{hashlib.sha256(chr(10).join(parts[1:]).encode()).hexdigest()[:16]}"


def suffixes(tag_text: str) -> list[str]:
    """Give the suffixes to try for an imported note, made from its tag, so that two machines make the same file."""
    return [layout.digest_suffix(tag_text, str(number)) for number in range(8)]


def model_named(model: str, otherwise: str) -> str:
    """Give the model that all goes to: the one that was named, or one that is called like the input."""
    return layout.legal(model or layout.slug(otherwise) or "notes")


# Reading


def raw_lines(opened: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield the size of each line and its bytes; None for one that is too long to be held."""
    while data := opened.readline(LONGEST):
        size, more = len(data), data
        while not more.endswith(b"\n") and len(more) == LONGEST:
            more = opened.readline(LONGEST)
            size += len(more)
        yield size, data if size == len(data) else None


def refuse_vault(folder: Path, root: Path) -> None:
    """Raise UsageError for a folder that is, holds or belongs to the vault: its notes are in it already."""
    given, own = folder.resolve(), root.resolve()
    if given == own or given in own.parents:
        raise UsageError(f"{folder} is the vault itself, or holds it: give the folder that the notes come from")
    if own in given.parents and given.relative_to(own).parts[0] in layout.FOLDERS:
        raise UsageError(f"{folder} is the vault's own: its notes are in it already")


def listing(folder: Path) -> list[str]:
    """List the markdown files in a folder and those below it; links, tools' folders and leftovers are left out."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    shut: list[Problem] = []
    found = sorted(seen.path for seen in files.walk(folder, ".", shut))
    if shut:
        raise DiskError(f"{folder} can't be read whole: {shut[0].path}: {shut[0].reason}")
    return [path.removeprefix("./") for path in found]


def code_lines(lines: Sequence[str]) -> dict[int, int]:
    """Give the lines of fenced code, its fences too, each with the line that opens it; unclosed it goes to the end."""
    found, opened, closes = dict[int, int](), 0, None
    for at, line in enumerate(lines):
        if closes is None:
            opens = _OPENS.match(line)
            if not opens:
                continue
            opened, closes = at, _closing(*opens.groups())
        elif closes.fullmatch(line):
            closes = None
        found[at] = opened
    return found


def _closing(before: str, fence: str) -> re.Pattern[str]:
    """Make what closes a fence: one as long of the same kind; within a point it stands as deep as the point's text."""
    room = 3 + (len(before) if before.strip() else 0)
    return re.compile(rf" {{0,{room}}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")


def later(time: datetime, ticks: int) -> datetime:
    """Give a time so many of the least steps later: what is of one time keeps its order."""
    try:
        return time + ticks * times.TICK
    except OverflowError:
        return time


def is_spellable(text: str) -> bool:
    """Whether a text can stand in a file: half a character or a NUL byte can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text

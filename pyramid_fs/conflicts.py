"""Copies that sync tools and git leave beside a file: which file each is of, and what taking a side does."""

from __future__ import annotations

import difflib
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pyramid_fs import files, layout, links
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, NoSuchHandle, RefusedWrite
from pyramid_fs.notes import Dated, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyramid_fs.notes import Note

TRASH = ".trash"
"""Where what was not taken is put: Obsidian's own folder for that, which no reader of a vault looks into."""


class Side(StrEnum):
    """What a person takes."""

    ORIGINAL = "original"
    COPY = "copy"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A copy, and the file that it is a copy of."""

    copy: str
    original: str
    is_alone: bool
    """The file that it is a copy of is gone."""
    is_same: bool
    """Both have the same bytes but for line ends."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: a file is moved; or where `over` is set, `path` takes the place of `to`."""

    path: str
    to: str
    over: bool = False


# The plan


def steps(found: Conflict, side: Side, free: str) -> list[Step]:
    """Say what taking a side does; `free` is the name that the copy gets as a file of its own.

    What is not taken is moved to the trash before anything else changes, so that a kill loses nothing. Raise
    RefusedWrite where both can't stand.
    """
    if side is Side.ORIGINAL and found.is_alone:
        raise RefusedWrite(f"{found.original} is gone, so there is only the copy: --take copy")
    if side is Side.ORIGINAL:
        return [Step(found.copy, trashed(found.copy))]
    if side is Side.COPY and found.is_alone:
        return [Step(found.copy, found.original)]
    if side is Side.COPY:
        return [Step(found.copy, found.original, over=True)]
    place = layout.place(found.original)
    if place is None or place.kind not in {Kind.NOTE, Kind.SESSION, Kind.ENTITY, Kind.PROCEDURE}:
        raise RefusedWrite(f"of {found.original} there can be only one: --take copy or --take original")
    return [Step(found.copy, free)]


def trashed(path: str) -> str:
    """Give the place in the trash of a file."""
    return f"{TRASH}/{path.replace('/', '-')}"


def diff(original: bytes, copy: bytes, found: Conflict) -> list[str]:
    """Show what differs, line by line: `-` stands in the original alone, `+` in the copy alone."""
    old, new = (pages.decode(data)[0].splitlines() for data in (original, copy))
    return list(difflib.unified_diff(old, new, found.original, found.copy, lineterm=""))


def alike(notes: Iterable[Note]) -> Iterator[tuple[Note, Note]]:
    """Yield each note whose name looks like that of a copy, as `beans 2.md` beside `beans.md`, with the other note.

    The name alone proves nothing; here the text, or the date that both files say, is the same, too.
    """
    known = {unicodedata.normalize("NFC", note.path): note for note in notes}
    for path, note in known.items():
        folder, _, name = path.rpartition("/")
        if not (base := layout.copied_from(name[:-3])) or not (other := known.get(f"{folder}/{base}.md")):
            continue
        is_dated_so = note.dated is Dated.KEY and other.dated is Dated.KEY and note.created == other.created
        if is_dated_so or (note.digest and note.digest == other.digest):
            yield note, other


# Finding and doing


def listing(root: Path) -> Iterator[Conflict]:
    """Yield the conflict copies of a vault, sorted by path within each folder of a kind."""
    for top in (layout.MODELS, *layout.SHAPES):
        for path in sorted(files.everything(root, top)):
            if layout.is_conflict_copy(path.rsplit("/", 1)[-1]):
                yield look(root, path)
    for name in files.names(root, "."):
        if layout.original_of(name) == layout.SETTINGS:
            yield look(root, name)


def look(root: Path, copy: str) -> Conflict:
    """Say what a copy is a copy of, and whether they differ."""
    original = _original(root, copy)
    try:
        there = files.read(root / original)
    except FileNotFoundError:
        return Conflict(copy, original, is_alone=True, is_same=False)
    except DiskError:
        return Conflict(copy, original, is_alone=False, is_same=False)
    return Conflict(copy, original, is_alone=False, is_same=_lines(there) == _lines(_read(root, copy)))


def _original(root: Path, copy: str) -> str:
    """Give the path of what a copy is of, as the disk spells it: a tool may compose the letters of a name otherwise."""
    folder, _, name = copy.rpartition("/")
    wanted = layout.original_of(name)
    if not (root / folder / wanted).exists():
        same = (n for n in files.names(root, folder) if _nfc(n) == _nfc(wanted))
        wanted = next(same, wanted)
    return f"{folder}/{wanted}" if folder else wanted


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _lines(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").rstrip(b"\n")


def _read(root: Path, path: str) -> bytes:
    try:
        return files.read(root / path)
    except FileNotFoundError:
        raise NoSuchHandle(f"{path} went away meanwhile") from None


def find(root: Path, named: str, notes: Iterable[Note]) -> Conflict:
    """Find the copy that a path, a name or a handle means, a note that is `alike` another one, too.

    Raise NoSuchHandle.
    """
    wanted = links.target(named).removesuffix(".toml")
    copies = [each for each in listing(root) if _is_named(each.copy, wanted)] or [
        Conflict(note.path, other.path, is_alone=False, is_same=note.digest == other.digest)
        for note, other in alike(notes)
        if _is_named(note.path, wanted)
    ]
    if not copies:
        raise NoSuchHandle(f"{named[:120]!r} is no copy of another file; `pyramid doctor` lists those that are")
    if len(copies) > 1:
        raise NoSuchHandle(f"{named!r} means several copies; give the path: {', '.join(c.copy for c in copies[:12])}")
    return copies[0]


def _is_named(path: str, wanted: str) -> bool:
    return unicodedata.normalize("NFC", f"/{path.rpartition('.')[0]}").endswith(f"/{wanted}")


def differences(root: Path, found: Conflict) -> list[str]:
    """Read both, and show what differs; of a copy that is alone, all of it."""
    original = b"" if found.is_alone else _read(root, found.original)
    return diff(original, _read(root, found.copy), found)


def take(root: Path, found: Conflict, side: Side, suffix: Callable[[], str]) -> list[str]:
    """Take a side; give a line for each thing that was done. Nothing is deleted: what is not taken is in the trash."""
    stem = found.original.removesuffix(".md")
    said = []
    for step in steps(found, side, f"{stem}-{suffix()}.md"):
        if step.over:
            original, copy = _read(root, step.to), _read(root, step.path)
            said.append(f"{step.to} was moved to {_put_away(root, step.to, original)}")
            files.replace(root / step.to, copy, original)
            files.remove(root / step.path, copy)
        elif step.to.startswith(f"{TRASH}/"):
            copy = _read(root, step.path)
            said.append(f"{step.path} was moved to {_put_away(root, step.path, copy)}")
            files.remove(root / step.path, copy)
            continue
        else:
            files.move(root / step.path, root / step.to)
        said.append(f"{step.path} is {step.to} now")
    return said


def _put_away(root: Path, path: str, data: bytes) -> str:
    """Write a file's bytes to the trash, under a name that is free there."""
    place = trashed(path)
    stem = place.removesuffix(".md")
    for number in range(1, 1_000):
        try:
            files.create(root / place, data)
        except ExistsAlready:
            place = f"{stem} {number + 1}.md"
            continue
        return place
    raise RefusedWrite(f"there are a thousand of {place} already: empty the trash, {root / TRASH}")

"""Conversations from other tools: the values, and what all their readers share, from dates to huge JSON arrays."""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from pyramid_fs import times
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

PERSON, AGENT = "person", "agent"
CHUNK = 1 << 18
"""Bytes of an export that are read at once."""
LARGEST = 256 << 20
"""Bytes that one record may have; a larger one is named and passed over."""
PATIENCE = 1000
"""So many unusable records at the beginning, and none that is good, tell that a file is of another kind."""

_MILLISECONDS = 1e11  # a count above it is no number of seconds: that would be after the year 5000
_SKIP = re.compile(rb'(?:[^"{}\[\],]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_SKIP_INSIDE = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_REST = re.compile(rb"(?:[^\"\\]++|\\.)*+", re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HALVES = re.compile(r"[\ud800-\udfff]")
_PART = re.compile(r"conversations(?:[-_ ]?\d+)?\.json", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said at a time."""

    role: str
    """`person` or `agent`."""
    text: str
    at: datetime | None
    name: str = ""
    """Who spoke, where the format says it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation, without the tools' part in it."""

    source: str
    """The source tag, the same in every export: `claude-code:…`, `claude:…`, `chatgpt:…`."""
    session: str
    """The other tool's own id."""
    title: str
    """Empty where it has none."""
    started: datetime | None
    ended: datetime | None
    turns: tuple[Turn, ...]
    place: str = ""
    """The folder or project that it was held in, where the format has it."""


@dataclass(frozen=True, slots=True)
class Bad:
    """One record that can't be used."""

    where: str
    reason: str


# What every format has


def clean(text: str) -> str:
    """Give a text as a note may hold it: no half letters, control characters or colours of a terminal."""
    text = _HALVES.sub("\ufffd", _whole(text)) if _HALVES.search(text) else text
    text = _CONTROLS.sub("", _COLOURS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    return text.strip()


def _whole(text: str) -> str:
    """Put together the letters that came in two halves."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def line(text: Any) -> str:
    """Give a value of an export as one line: a title, an id, a folder; empty for what is no text."""
    return " ".join(clean(text).split()) if isinstance(text, str) else ""


def when(value: Any) -> datetime | None:
    """Read a time, seconds or milliseconds since 1970 or a text; None where there is none."""
    try:
        if isinstance(value, str):
            return times.parse(value, UTC)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            return None
        return times.EPOCH + timedelta(seconds=value / 1000 if value > _MILLISECONDS else value)
    except (ValueError, OverflowError):
        return None


def made(
    source: str,
    turns: Iterable[Turn],
    *,
    title: Any = "",
    place: Any = "",
    started: datetime | None = None,
    ended: datetime | None = None,
) -> Conversation:
    """Make a conversation; its own times stand in only where its turns say none. `source` ends in the session's id."""
    said = tuple(turns)
    dated = [turn.at for turn in said if turn.at]
    return Conversation(
        source=source,
        session=source.split(":", 1)[1],
        title=line(title),
        started=min(dated, default=started or ended),
        ended=max(dated, default=ended or started),
        turns=said,
        place=line(place),
    )


def branch(leaf: str, parents: Mapping[str, str | None]) -> list[str]:
    """List the ids from the first to a leaf, up the parents; a circle ends where it closes."""
    found: dict[str, None] = {}
    at: str | None = leaf
    while at is not None and at in parents and at not in found:
        found[at] = None
        at = parents[at]
    return list(reversed(found))


def newest_leaf(parents: Mapping[str, str | None], ages: Mapping[str, datetime | None]) -> str:
    """Name the newest of the ids that are nobody's parent; of equal ones the last."""
    inner = set(parents.values())
    leaves = [(ages.get(name) or times.EPOCH, place, name) for place, name in enumerate(parents) if name not in inner]
    return max(leaves, default=(times.EPOCH, 0, next(iter(parents), "")))[2]


# Exports: a huge JSON array in a file, in several, or in a zip


def read_export(
    path: Path, kind: str, key: str, turn_into: Callable[[dict[str, Any], str], Iterator[Conversation | Bad]]
) -> Iterator[Conversation | Bad]:
    """Read an export: `conversations.json`, a numbered part of it, the zip, or the folder that holds them.

    `key` is what each record must have. Raise UsageError for a file of another kind. An id that comes again is told.
    """
    parts = _parts(path, kind)
    return recognized(_without_repeats(_of_parts(parts, key, turn_into)), f"{path} is no export of {kind}")


def _of_parts(
    parts: list[_Part], key: str, turn_into: Callable[[dict[str, Any], str], Iterator[Conversation | Bad]]
) -> Iterator[Conversation | Bad]:
    for part in parts:
        try:
            with part.open() as stream:
                for where, found in records(stream, part.name):
                    yield from _turned(found, where, key, turn_into)
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            yield Bad(part.name, f"it can't be read on: {str(error).lower() or 'it breaks off'}")


def _turned(
    found: Any, where: str, key: str, turn_into: Callable[[dict[str, Any], str], Iterator[Conversation | Bad]]
) -> Iterator[Conversation | Bad]:
    if isinstance(found, Bad):
        yield found
    elif not isinstance(found, dict):
        yield Bad(where, "it is no JSON object")
    elif key not in found:
        yield Bad(where, f"`{key}` is missing")
    else:
        yield from turn_into(found, where)


def _without_repeats(found: Iterable[Conversation | Bad]) -> Iterator[Conversation | Bad]:
    seen: set[str] = set()
    for one in found:
        if isinstance(one, Conversation) and one.source in seen:
            yield Bad(one.source, "this id comes again; the first conversation of it was taken")
            continue
        if isinstance(one, Conversation):
            seen.add(one.source)
        yield one


def recognized(found: Iterator[Conversation | Bad], refusal: str) -> Iterator[Conversation | Bad]:
    """Pass on what was found; raise UsageError, with the first reason, where nothing of it is a conversation."""
    first: list[Conversation | Bad] = []
    for one in found:
        first.append(one)
        if isinstance(one, Conversation):
            return chain(first, found)
        if len(first) == PATIENCE:
            break
    reason = next((one.reason for one in first if isinstance(one, Bad)), "")
    if reason:
        raise UsageError(f"{refusal}: {reason}; give the file, zip or folder that the tool exported")
    return iter(())


@dataclass(frozen=True, slots=True)
class _Part:
    """One file of an export, on its own or in a zip."""

    name: str
    path: Path
    member: str = ""

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open it for reading, unpacked as it is read."""
        if not self.member:
            with self.path.open("rb") as stream:
                yield stream
            return
        with zipfile.ZipFile(self.path) as packed, packed.open(self.member) as stream:
            yield stream


def _parts(path: Path, kind: str) -> list[_Part]:
    try:
        if path.is_dir():
            found = [_Part(name, path / name) for name in _names_below(path)]
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                found = [_Part(name, path, name) for name in packed.namelist() if _is_part(name)]
        else:
            with path.open("rb"):
                return [_Part(path.name, path)]
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise UsageError(f"{path} can't be read: {(getattr(error, 'strerror', None) or str(error)).lower()}") from error
    if not found:
        raise UsageError(f"{path} holds no conversations.json: give the zip or folder that {kind} exported")
    return sorted(found, key=lambda part: part.name)


def _names_below(folder: Path) -> Iterator[str]:
    for top, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.relpath(os.path.join(top, name), folder) for name in names if _is_part(name))  # noqa: PTH118


def _is_part(name: str) -> bool:
    return _PART.fullmatch(name.rsplit("/", 1)[-1]) is not None and "__MACOSX" not in name


# Records of a JSON array. The streaming parsers end at the first faulty byte, integer or control character, and with
# it the run; here each record is cut out by its brackets and parsed on its own.


def records(stream: IO[bytes], name: str) -> Iterator[tuple[str, Any]]:
    """Yield where each record of a JSON array stands and the record, or a Bad; a lone object is the only one."""
    head = stream.read(CHUNK).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"{"):
        yield from _of_object(head + stream.read(LARGEST), name)
        return
    if not head.startswith(b"["):
        yield name, Bad(name, "it is no JSON array")
        return
    rest: Iterator[bytes] = iter(lambda: stream.read(CHUNK), b"")
    for number, data in enumerate(cut(chain([head], rest), LARGEST), 1):
        where = f"{name}, record {number}"
        yield where, _parsed(data, where)


def _of_object(data: bytes, name: str) -> Iterator[tuple[str, Any]]:
    found = _parsed(data, name)
    inner = found.get("conversations") if isinstance(found, dict) else None
    if not isinstance(inner, list):
        yield name, found
        return
    for number, one in enumerate(inner, 1):
        yield f"{name}, record {number}", one


def _parsed(data: bytes | None, where: str) -> Any:
    if data is None:
        return Bad(where, f"it breaks off, or has more than {LARGEST >> 20} MB")
    try:
        # one spoilt letter is no reason to lose a conversation
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return Bad(where, "it is not JSON")


def cut(chunks: Iterable[bytes], most: int) -> Iterator[bytes | None]:
    """Cut a JSON array into the bytes of its records; None for one that is longer than `most` or breaks off."""
    scan = _Scan()
    kept, size = bytearray(), 0
    for chunk in chunks:
        for piece, is_end in scan.pieces(chunk):
            size += len(piece)
            if size <= most:
                kept += piece
            else:
                kept.clear()
            if not is_end:
                continue
            if size > most:
                yield None
            elif kept.strip() or not scan.is_over:
                yield bytes(kept)
            kept.clear()
            size = 0
        if scan.is_over:
            return
    yield None


class _Scan:
    """How deep in brackets, and whether within a text, the reading of an array stands."""

    def __init__(self) -> None:
        self.depth, self.is_over = 0, False
        self._in_text, self._carry = False, b""

    def pieces(self, chunk: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield the bytes of records in a chunk, and whether a record ends with them."""
        data, at, begin = self._carry + chunk, 0, 0
        self._carry = b""
        while at < len(data):
            if self._in_text:
                at = _REST.match(data, at).end()  # type: ignore[union-attr]
                if data[at : at + 1] == b"\\":  # what it escapes is in the next chunk
                    self._carry = data[at:]
                    break
                self._in_text = at == len(data)
                at += 1
                continue
            at = (_SKIP_INSIDE if self.depth > 1 else _SKIP).match(data, at).end()  # type: ignore[union-attr]
            mark = data[at : at + 1]
            at += 1
            self._in_text = mark == b'"'
            if mark and mark in b"{[":
                self.depth += 1
                begin = at if self.depth == 1 else begin
            elif mark and mark in b"}]":
                self.depth -= 1
            self.is_over = bool(mark) and self.depth <= 0
            if self.is_over or (mark == b"," and self.depth == 1):
                yield data[begin : at - 1], True
                begin = at
            if self.is_over:
                return
        yield data[begin : len(data) - len(self._carry)], False

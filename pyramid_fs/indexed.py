"""What an index says of itself: which catalog it follows and how far, and size and checksum of each of its files."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyramid_fs import files
from pyramid_fs.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSION = 1
"""Raised when a text gives other words than before, or is kept in another way: then an index is built afresh."""
META = "meta.json"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NO_FILE = (FileNotFoundError, DiskError, ValueError)
"""A file that is not there, can't be read, or holds no text or JSON."""
Facts = tuple[int, int, int]
"""Of a file: its size, its modification time in nanoseconds, its CRC-32."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What an index stands for."""

    key: str
    """Version and time zone: an index of another is none."""
    birth: str
    """Of the catalog that it follows."""
    rev: int
    """The number of the last change of the catalog that it holds."""
    token: str
    """What the catalog gave that change, and would not give another of the same number."""
    folder: str
    generation: int
    """Of Whoosh's list of segments."""
    boot: str
    """When the machine was started last, where a system tells."""
    files: dict[str, Facts]


def key(zone: str) -> str:
    """Give the key of an index whose days are those of a time zone."""
    return f"{VERSION}:{zone}"


def read(folder: Path, wanted: str) -> Meta | None:
    """Read what the index in a folder says of itself; None where it says nothing that can be used."""
    try:
        raw = json.loads(files.read(folder / META))
        held = {str(name): (int(size), int(time), int(crc)) for name, (size, time, crc) in raw.pop("files").items()}
        meta = Meta(**raw, files=held)
    except (*_NO_FILE, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None
    kinds = (str, str, int, str, str, int, str)
    typed = all(type(raw[name]) is kind for name, kind in zip(Meta.__slots__, kinds, strict=False))
    return meta if typed and meta.key == wanted else None


def keep(folder: Path, meta: Meta) -> None:
    """Write what an index says of itself. Raise OSError."""
    plain: dict[str, Any] = {name: getattr(meta, name) for name in Meta.__slots__}
    files.keep(folder / META, json.dumps(plain).encode())


def facts(folder: Path, names: Iterable[str], known: Mapping[str, Facts]) -> dict[str, Facts]:
    """Describe files; raise ValueError where one that was described before is not as it was."""
    found = {}
    for name in names:
        stat = (folder / name).stat()
        before = known.get(name)
        same = before is not None and before[:2] == (stat.st_size, stat.st_mtime_ns)
        crc = before[2] if before and same else _crc(folder / name)
        if before and crc != before[2]:
            raise ValueError(f"{name} is not as it was written")
        found[name] = (stat.st_size, stat.st_mtime_ns, crc)
    return found


def fits(folder: Path, meta: Meta) -> bool:
    """Whether the files are as they were written; after another start of the machine each is read for that."""
    sure = bool(meta.boot) and meta.boot == boot()
    return all(_is_same(folder, meta, name, sure=sure) for name in meta.files)


def may_follow(folder: Path, meta: Meta, generation: int, segments: tuple[str, ...]) -> bool:
    """Whether a commit may follow what was said last, and its old segments are as they were written.

    A commit that was never said was interrupted by a kill, which harms no file; a power cut may.
    """
    if not meta.boot or meta.boot != boot() or generation < meta.generation:
        return False
    return all(_is_same(folder, meta, name) for name in meta.files if name.startswith(segments))


def _is_same(folder: Path, meta: Meta, name: str, *, sure: bool = True) -> bool:
    """Whether a file is as it was written; where its time can't be trusted, by its checksum."""
    size, time, crc = meta.files[name]
    stat = (folder / name).stat()
    return stat.st_size == size and ((sure and stat.st_mtime_ns == time) or _crc(folder / name) == crc)


def boot() -> str:
    """Tell when the machine was started last; empty where a system does not tell."""
    try:
        return files.read(_BOOT).decode("ascii").strip()
    except _NO_FILE:  # then a kill can't be told from a power cut
        return ""


def _crc(path: Path) -> int:
    return zlib.crc32(path.read_bytes())

"""What an index says of itself: which catalog it follows and how far, and size and checksum of each of its files."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyramid_fs import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSION = 1
"""Raised when a text gives other words than before, or is kept in another way: then an index is built afresh."""
META = "meta.json"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
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
    except Exception:  # noqa: BLE001  (whatever is wrong with it: it is of no use)
        return None
    return meta if meta.key == wanted else None


def keep(folder: Path, meta: Meta) -> None:
    """Write what an index says of itself. Raise OSError."""
    plain: dict[str, Any] = {name: getattr(meta, name) for name in Meta.__slots__}
    files.keep(folder / META, json.dumps(plain).encode())


def facts(folder: Path, names: Iterable[str], known: Mapping[str, Facts]) -> dict[str, Facts]:
    """Describe files; the checksum of one that was described before is not computed again."""
    found = {}
    for name in names:
        stat = (folder / name).stat()
        before = known.get(name)
        same = before is not None and before[:2] == (stat.st_size, stat.st_mtime_ns)
        found[name] = (stat.st_size, stat.st_mtime_ns, before[2] if before and same else _crc(folder / name))
    return found


def fits(folder: Path, meta: Meta, generation: int) -> bool:
    """Whether the files are as they were written.

    A commit newer than what is said of it was interrupted by a kill, which harms no file; a power cut may.
    """
    if generation != meta.generation:
        return bool(meta.boot) and meta.boot == boot()
    for name, (size, time, crc) in meta.files.items():
        stat = (folder / name).stat()
        if stat.st_size != size or (stat.st_mtime_ns != time and _crc(folder / name) != crc):
            return False
    return True


def boot() -> str:
    """Tell when the machine was started last; empty where a system does not tell."""
    try:
        return files.read(_BOOT).decode("ascii").strip()
    except Exception:  # noqa: BLE001  (then a kill can't be told from a power cut)
        return ""


def _crc(path: Path) -> int:
    return zlib.crc32(path.read_bytes())

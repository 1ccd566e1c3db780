"""Writes the vault in one file: a JSON object a line, or an archive of its files as they stand.

A file is written beside its place, checked, and put there whole or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import json
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import files, forget, kinds, layout, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, RefusedWrite, UsageError
from pyramid_fs.notes import Card, Kind, Note, Shaped, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, BinaryIO

    from pyramid_fs.census import Census
    from pyramid_fs.notes import File

GIT = ".git"
TAR, ZIP = (".tar.gz", ".tgz"), (".zip",)
HELD = 16 << 20
"""A file of up to so many bytes is read whole before it is archived, so that it is of one moment."""
LEFT_OUT = "nothing of it could be read, so it is not in the export"
_PIECE = 1 << 20
_TRIES = 3
_LEVEL = 6
_TEMP = ".pyramid-"
_DOS, _DOS_END = datetime(1980, 1, 1, tzinfo=UTC), datetime(2107, 12, 31, tzinfo=UTC)
"""The first and the last day that a zip knows."""
_STAMP = 0x5455
"""The field in which a zip keeps seconds of the calendar that no zone moves."""


# Lines


@dataclass(slots=True)
class Lines:
    """What came of an export to lines."""

    notes: int = 0
    others: int = 0
    """Summaries, records, sessions, topics and models."""
    problems: list[str] = field(default_factory=list)
    """Notes that can't be used as they are: what can be read of them is exported; one of which nothing can, is not."""


class _Text(NamedTuple):
    """One note's text, and the models that it is in."""

    note: Note
    models: tuple[str, ...]


def write_lines(
    census: Census, out: BinaryIO, *, everything: bool = False, step: Callable[[int, int], None] = lambda *_: None
) -> Lines:
    """Write every note, one object a line, by (created, handle); with `everything` the other kinds after them.

    Those come by kind: models, summaries (by model and tier), topics, sessions, entities, procedures. `step` is told
    how many of how many are written.
    """
    census.refresh()
    report, texts = Lines(), _texts(census)
    rest = _others(census) if everything else []
    total = len(texts) + len(rest)
    for number, text in enumerate(texts, 1):
        line = _note_line(census, text)
        is_there = bool(line["text"]) or "front" in line
        if is_there:
            _put(out, line)
        report.notes += is_there
        report.problems += _problems(text.note, is_there=is_there)
        step(number, total)
    for number, (model, file) in enumerate(rest, len(texts) + 1):
        _put(out, _other_line(census, model, file))
        report.others += 1
        step(number, total)
    return report


def _problems(note: Note, *, is_there: bool) -> list[str]:
    reasons = [*([note.problem] if note.problem else []), *([] if is_there else [LEFT_OUT])]
    return [f"{note.path}: {'; '.join(reasons)}"] if reasons else []


def _put(out: BinaryIO, line: dict[str, Any]) -> None:
    data = json.dumps(line, ensure_ascii=False)
    # a name that is not UTF-8 is spelled with the escapes of JSON
    out.write((data if _is_utf8(data) else json.dumps(line)).encode() + b"\n")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(census: Census) -> list[_Text]:
    """List the notes that have a text of their own, each with its model and those that embed it."""
    homes: dict[str, Note] = {}
    shown: dict[str, list[str]] = {}
    for model in census.models():
        for note in census.now(model).state.notes:
            path = note.text_path or note.path
            shown.setdefault(path, []).append(model)
            if not note.text_path:
                homes[path] = note
    found = [_Text(note, tuple(dict.fromkeys((note.path.split("/")[1], *shown[path])))) for path, note in homes.items()]
    return sorted(found, key=lambda text: (text.note.created, text.note.handle, text.note.path))


def _note_line(census: Census, text: _Text) -> dict[str, Any]:
    note, data = text.note, _bytes(census, text.note.path)
    page = pages.read(data)
    as_spelled = bool(page.body) and kinds.spell_note(page.body, note.created, note.source) == data
    plain = as_spelled or not (page.fenced or page.block)
    return {
        "kind": str(Kind.NOTE),
        "handle": note.handle,
        "models": list(text.models),
        "created": times.spell(note.created),
        **({"source": note.source} if note.source else {}),
        "digest": note.digest or pages.digest(page.body),
        "text": page.body,
        **({} if plain else {"front": page.block}),
        **({"problem": note.problem} if note.problem else {}),
    }


def _bytes(census: Census, path: str) -> bytes:
    try:
        return files.read(census.vault.root / path)
    except (FileNotFoundError, DiskError):
        return b""


def _shown(census: Census, path: str) -> pages.Page:
    """Read a file as answers show it."""
    try:
        return forget.page(census, path)
    except (FileNotFoundError, DiskError):
        return pages.Page()


_ORDER = {Kind.TOPIC: 2, Kind.SESSION: 3, Kind.ENTITY: 4, Kind.PROCEDURE: 5}


def _others(census: Census) -> list[tuple[str, File]]:
    """List all that is no note, each with its model: cards, summaries, then the other shapes."""
    cards: list[tuple[str, File]] = []
    summaries: list[tuple[str, File]] = []
    for model in census.models():
        now = census.now(model)
        cards += [(model, now.card)] if now.card else []
        made = {s.path: s for s in (*now.state.active.values(), *now.state.losers, *now.state.broken)}
        every = [f for f in census.values(f"{layout.MODELS}/{model}") if isinstance(f, Summary)]
        summaries += [(model, made.get(s.path, s)) for s in sorted(every, key=lambda s: (s.tier, s.created, s.handle))]
    shapes = [file for top in layout.SHAPES for file in census.values(top) if isinstance(file, Shaped)]
    shapes.sort(key=lambda file: (_ORDER.get(file.kind, 9), file.created, file.handle, file.path))
    return [*cards, *summaries, *(("", file) for file in shapes)]


def _other_line(census: Census, model: str, file: File) -> dict[str, Any]:
    page = _shown(census, file.path)
    shared: dict[str, Any] = {"handle": file.handle, "path": file.path}
    if isinstance(file, Card):
        return {"kind": "model", **shared, "model": model, "description": file.description, "archived": file.archived,
                "text": page.body, "front": page.block}  # fmt: skip
    if isinstance(file, Summary):
        return {"kind": str(Kind.SUMMARY), **shared, "model": model, "tier": file.tier,
                "created": times.spell(file.created), "note_count": file.note_count,
                "sources": [source.link for source in file.sources if forget.is_named(census, source)],
                "text": page.body, "front": page.block}  # fmt: skip
    name = {"name": file.name} if isinstance(file, Shaped) and file.name else {}
    status = {"status": file.status} if isinstance(file, Shaped) and file.status else {}
    created = {"created": times.spell(file.created)} if isinstance(file, Shaped) else {}
    kind = str(file.kind) if isinstance(file, Shaped) else str(Kind.STRAY)
    return {"kind": kind, **shared, **name, **status, **created, "text": page.body, "front": page.block}


# The place of the file


@contextlib.contextmanager
def placed(path: Path, root: Path, *, force: bool) -> Iterator[Path]:
    """Give the file to write to, beside `path`; when all went well it takes its place, else no trace of it is left.

    A link stays one: what it leads to is written. Raise ExistsAlready where there is a file and `force` is off,
    UsageError for a place within the vault, RefusedWrite for a pipe, a device or whatever else is no file.
    """
    path = check_place(path, root, force=force)
    temp = path.with_name(f"{_TEMP}{os.urandom(6).hex()}.tmp")
    try:
        yield temp
        with temp.open("rb") as written:
            os.fsync(written.fileno())
        _settle(temp, path, force=force)
    except OSError as error:
        raise DiskError(f"{path} can't be written: {_words(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temp.unlink()
    files.sync_folder(path.parent)


def check_place(path: Path, root: Path, *, force: bool) -> Path:
    """Give the place that a path leads to, over links; raise where an export can't go."""
    path = files.absolute(path)
    mode = _mode_of(path)
    if stat.S_ISDIR(mode):
        raise UsageError(f"{path} is a folder: give the name of a file")
    if mode and not stat.S_ISREG(mode):
        raise RefusedWrite(f"{path} is no file but a pipe, a device or the like: give the name of a file")
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise RefusedWrite(f"{path} is a link that leads to itself: give the name of a file")
    if not stat.S_ISDIR(_mode_of(place.parent)):
        raise UsageError(f"{place.parent} is no folder: make it first")
    if root.resolve() in place.parents:
        raise UsageError(
            f"{path} lies in the vault, where copies of notes would be kept and shared with it: name a place outside"
        )
    if not force and (mode or path.is_symlink()):
        raise ExistsAlready(f"{path} exists already; `--force` writes over it")
    return place


def _mode_of(path: Path) -> int:
    """Give what kind of thing a path leads to; 0 where there is nothing."""
    try:
        return path.stat().st_mode
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
            return 0
        raise DiskError(f"{path} can't be written: {_words(error)}") from error


def _settle(temp: Path, path: Path, *, force: bool) -> None:
    if force:
        temp.replace(path)
        return
    try:
        os.link(temp, path)
    except FileExistsError:
        raise ExistsAlready(f"{path} exists already; `--force` writes over it") from None
    except OSError:  # a disk without hard links
        if path.exists():
            raise ExistsAlready(f"{path} exists already; `--force` writes over it") from None
        temp.rename(path)


# The archive


@dataclass(slots=True)
class Archived:
    """What came of an archive."""

    files: int = 0
    bytes: int = 0
    gone: int = 0
    """Files that were deleted while it was written."""
    left: list[str] = field(default_factory=list)
    """Links and whatever else is no file: not followed, and not in it."""


class _Member(NamedTuple):
    """One file, open to be read: of one moment, or else of its size when it was opened."""

    path: str
    found: os.stat_result
    size: int
    data: _Hashed


class _Hashed:
    """Reads on, and keeps the digest of what was read."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened, self.sum = opened, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        data = self._opened.read(size)
        self.sum.update(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._opened.close()


def is_archive(path: Path) -> bool:
    """Whether a name is that of an archive that can be written."""
    return path.name.lower().endswith((*TAR, *ZIP))


def write_archive(
    root: Path,
    temp: Path,
    *,
    as_zip: bool,
    with_git: bool = False,
    step: Callable[[int, int], None] = lambda *_: None,
) -> Archived:
    """Write the files of a folder into an archive, under one folder of its name, and read it back.

    The same files with the same times make the same bytes. Raise DiskError where a file can't be read, changes for too
    long, or where the archive does not hold what was read.
    """
    report, name, digests = Archived(), root.resolve().name or "vault", dict[str, bytes]()
    paths = sorted(_paths(root, report, with_git=with_git))
    with temp.open("wb") as out, (_zip if as_zip else _tar)(out) as add:
        for count, path in enumerate(paths, 1):
            member = _opened(root, path, HELD)
            if member is None:
                report.gone += 1
                continue
            with contextlib.closing(member.data):
                _refuse_spelling(path, as_zip=as_zip)
                add(f"{name}/{path}", member)
            digests[f"{name}/{path}"] = member.data.sum.digest()
            report.files += 1
            report.bytes += member.size
            step(count, len(paths))
    _check(temp, digests, as_zip=as_zip)
    return report


def _paths(root: Path, report: Archived, *, with_git: bool) -> Iterator[str]:
    """Yield the paths of the files under a folder; links, and what a kill left half-written, are left out."""

    def shut(error: OSError) -> None:
        raise DiskError(f"{error.filename} can't be read: {_words(error)}") from error

    for folder, below, names in os.walk(root, onerror=shut):
        at = Path(folder)
        below[:] = [each for each in below if with_git or each != GIT]
        report.left += [(at / each).relative_to(root).as_posix() for each in below if (at / each).is_symlink()]
        for each in names:
            path = (at / each).relative_to(root).as_posix()
            if (each.startswith(_TEMP) and each.endswith(".tmp")) or (each == GIT and not with_git):
                continue
            if _is_odd(at / each):
                report.left.append(path)
                continue
            yield path


def _is_odd(path: Path) -> bool:
    """Whether there is something that is neither a file nor gone: a link, a pipe, a socket."""
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _opened(root: Path, path: str, held: int) -> _Member | None:
    """Open a file to be archived; None where it is gone."""
    try:
        opened = (root / path).open("rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DiskError(f"{root / path} can't be read: {_words(error)}") from error
    found = os.fstat(opened.fileno())
    if found.st_size > held:
        return _Member(path, found, found.st_size, _Hashed(opened))
    with opened:
        for _ in range(_TRIES):
            opened.seek(0)
            data = opened.read()
            before, found = found, os.fstat(opened.fileno())
            if files.signature(before) == files.signature(found):
                break
    return _Member(path, found, len(data), _Hashed(io.BytesIO(data)))


def _refuse_spelling(path: str, *, as_zip: bool) -> None:
    if as_zip and not _is_utf8(path):
        shown = path.encode("utf-8", "replace").decode()
        raise DiskError(f"{shown} has a name that no zip can hold: give the archive a name that ends in .tar.gz")


@contextlib.contextmanager
def _tar(out: BinaryIO) -> Iterator[Callable[[str, _Member], None]]:
    """Open a tar that nothing but its files decides: no user, no time of its own."""
    with (
        gzip.GzipFile("", "wb", _LEVEL, out, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as made,
    ):

        def add(name: str, member: _Member) -> None:
            info = tarfile.TarInfo(name)
            seconds, rest = divmod(member.found.st_mtime_ns, 10**9)
            info.size, info.mtime, info.mode = member.size, seconds, _mode(member)
            info.pax_headers = {"mtime": f"{seconds}.{rest:09d}"} if rest else {}
            try:
                made.addfile(info, member.data)
            except OSError as error:
                if error.errno:
                    raise
                raise DiskError(f"{member.path} was cut off while it was read: try again") from error

        yield add


@contextlib.contextmanager
def _zip(out: BinaryIO) -> Iterator[Callable[[str, _Member], None]]:
    """Open a zip of the same kind; it keeps times by the second."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as made:

        def add(name: str, member: _Member) -> None:
            seconds = member.found.st_mtime_ns // 10**9
            time = min(max(times.from_ns(seconds * 10**9), _DOS), _DOS_END)
            info = zipfile.ZipInfo(name, time.timetuple()[:6])
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = (stat.S_IFREG | _mode(member)) << 16
            info.extra = struct.pack("<HHBi", _STAMP, 5, 1, min(max(seconds, -(2**31)), 2**31 - 1))
            with made.open(info, "w", force_zip64=member.size > HELD) as into:
                left = member.size
                while left and (data := member.data.read(min(left, _PIECE))):
                    into.write(data)
                    left -= len(data)
            if left:
                raise DiskError(f"{member.path} was cut off while it was read: try again")

        yield add


def _mode(member: _Member) -> int:
    return 0o755 if member.found.st_mode & stat.S_IXUSR else 0o644


def _check(path: Path, digests: dict[str, bytes], *, as_zip: bool) -> None:
    """Read an archive back; raise DiskError where it does not hold what was written."""
    left = dict(digests)
    try:
        for name, opened in (_in_zip if as_zip else _in_tar)(path):
            if left.pop(name, None) != _digest(opened):
                raise DiskError(f"the archive does not hold {name} as it was read: nothing was kept; try again")
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DiskError(f"the archive can't be read back: nothing was kept; try again ({error})") from error
    if left:
        raise DiskError(f"the archive lacks {len(left)} files: nothing was kept; try again")


def _in_tar(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with gzip.open(path) as packed:
        with tarfile.open(fileobj=packed, mode="r|") as made:
            for info in made:
                if opened := made.extractfile(info):
                    yield info.name, opened
        while packed.read(_PIECE):  # its sum is checked at its end alone
            pass


def _in_zip(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as made:
        for info in made.infolist():
            with made.open(info) as opened:
                yield info.filename, opened


def _digest(opened: IO[bytes]) -> bytes:
    known = hashlib.sha256()
    while data := opened.read(_PIECE):
        known.update(data)
    return known.digest()


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()

"""What is known of each file by its stat, kept in the user's cache folder so that nothing is parsed twice.

The catalog is a memory, never a truth: each answer compares it with a walk of the disk first, and everything works,
slower, without it. The only home of sqlite3.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyramid_fs import links, times
from pyramid_fs.files import Seen, Sig
from pyramid_fs.notes import Card, Dated, File, Kind, Note, Shaped, Source, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

VERSION = 1
"""Raised when a value is read from a file in another way: then all are read again."""
DOUBT_NS = 2_000_000_000
"""A file that changed less than this before it was read may change again within one tick of its clock (git's rule)."""
BUSY = 2.0
"""Seconds to wait for another process that writes the catalog."""

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, size INT, mtime INT, ctime INT, inode INT, doubt INT,
    handle TEXT, embed TEXT, digest TEXT, value TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_handle ON files (handle);
CREATE INDEX IF NOT EXISTS by_digest ON files (digest) WHERE digest != '';
CREATE INDEX IF NOT EXISTS by_embed ON files (embed) WHERE embed != '';
CREATE TABLE IF NOT EXISTS models (model TEXT PRIMARY KEY, stamp INT, derived TEXT);
CREATE TABLE IF NOT EXISTS trouble (model TEXT PRIMARY KEY, tries INT, at REAL, reason TEXT);
"""


class Row:
    """What one file was, when it was read last."""

    __slots__ = ("_file", "_value", "doubt", "sig")

    def __init__(self, sig: Sig, doubt: bool, value: str) -> None:  # noqa: FBT001
        self.sig, self.doubt, self._value = sig, doubt, value
        self._file: File | None = None

    @property
    def value(self) -> str:
        """The file's value as the catalog spells it."""
        return self._value

    @property
    def file(self) -> File | None:
        """The file's value; None for a file that holds nothing."""
        if self._file is None and self._value != "null":
            self._file = decode(self._value)
        return self._file


@dataclass(slots=True)
class Change:
    """What an update found."""

    paths: list[str] = field(default_factory=list)
    """Files that are new, changed or gone."""
    models: set[str] = field(default_factory=set)


class Catalog:
    """The rows of one vault; without a path, or where the disk refuses, it lives in memory alone."""

    def __init__(self, path: Path | None, key: str) -> None:
        self.groups: dict[str, dict[str, Row]] = {}
        """Rows by the folder they are walked by: `models/alice`, `topics`."""
        self.stamps: dict[str, int] = {}
        self._whole = False
        self._loaded: set[str] = set()
        """Groups whose rows were all read; a group may hold single rows before."""
        self._marked = False
        self._index: dict[str, list[str]] | None = None
        self._base = _open(path, f"{VERSION}:{key}") if path else None

    def close(self) -> None:
        """Let go of the file."""
        if self._base:
            self._base.close()
            self._base = None

    def row(self, path: str) -> Row | None:
        """Give what is known of a file, from memory or from disk."""
        rows = self.groups.get(group(path), {})
        if path not in rows and self._base and not self._whole:
            with contextlib.suppress(sqlite3.Error):
                self._add(self._base.execute(f"{_SELECT} WHERE path = ?", (path,)))
        return self.groups.get(group(path), {}).get(path)

    def update(
        self, scopes: Collection[str], seen: Iterable[Seen], shut: Collection[str], read: Callable[[Seen], File | None]
    ) -> Change:
        """Bring all rows of some groups (none named: of all) up to date with what a walk has seen.

        Only files that are new, changed or in doubt are read. What lies under a folder that is `shut` is left alone.
        """
        self._load(scopes)
        began, fresh, change = time.time_ns(), {}, Change()
        left = {path for scope in (scopes or self.groups) for path in self.groups.get(scope, ())}
        for found in seen:
            left.discard(found.path)
            row = self.groups.get(group(found.path), {}).get(found.path)
            if row and row.sig == found.sig and not row.doubt:
                continue
            made = _row(found, began, read)
            if made is None:
                left.update([found.path] if row else [])
                continue
            fresh[found.path] = made
            if row is None or row.value != made.value:
                change.paths.append(found.path)
        gone = [path for path in left if not any(path.startswith(f"{folder}/") for folder in shut)]
        change.paths += gone
        self._keep(fresh, gone, change)
        if not scopes and not self._marked:
            self._mark_walked()
        return change

    def _mark_walked(self) -> None:
        with self._transaction() as base:
            if base:
                base.execute("INSERT OR REPLACE INTO meta VALUES ('walked', 'yes')")
        self._marked = True

    def refresh(self, seen: Iterable[tuple[str, Sig | None]], read: Callable[[Seen], File | None]) -> Change:
        """Bring single files up to date, by the stat of each (None: it is gone)."""
        began, change = time.time_ns(), Change()
        fresh: dict[str, Row] = {}
        gone: list[str] = []
        for path, sig in seen:
            row = self.row(path)
            if sig is None:
                gone += [path] if row else []
            elif not row or row.sig != sig or row.doubt:
                made = _row(Seen(path, sig), began, read)
                if made:
                    fresh[path] = made
                    change.paths += [path] if not row or row.value != made.value else []
        change.paths += gone
        self._keep(fresh, gone, change)
        return change

    def put(self, path: str, sig: Sig, file: File) -> None:
        """Take in a file that was just written, so that the next walk need not read it."""
        row = Row(sig, doubt=True, value=encode(file))
        self._keep({path: row}, [], Change([path]))

    def with_digest(self, digest: str) -> list[str]:
        """List the notes with a text of their own that are known under a digest."""
        if self._base and not self._whole:
            with contextlib.suppress(sqlite3.Error):
                return sorted(
                    path for (path,) in self._base.execute("SELECT path FROM files WHERE digest = ?", (digest,))
                )
        files = (row.file for rows in self.groups.values() for row in rows.values())
        return sorted(f.path for f in files if isinstance(f, Note) and f.digest == digest and not f.embed)

    @property
    def walked(self) -> bool:
        """Whether the whole vault has been walked since the catalog was made."""
        if self._whole:
            return True
        if self._base:
            with contextlib.suppress(sqlite3.Error):
                return self._base.execute("SELECT value FROM meta WHERE key = 'walked'").fetchone() is not None
        return False

    def paths_of(self, handle: str) -> list[str]:
        """List the paths that are known under a handle, in the whole vault."""
        if self._base and not self._whole:
            with contextlib.suppress(sqlite3.Error):
                return sorted(
                    path for (path,) in self._base.execute("SELECT path FROM files WHERE handle = ?", (handle,))
                )
        if self._index is None:
            self._index = {}
            for rows in self.groups.values():
                for path in rows:
                    self._index.setdefault(_name(path), []).append(path)
        return sorted(self._index.get(handle, []))

    def _keep(self, fresh: dict[str, Row], gone: list[str], change: Change) -> None:
        for path, row in fresh.items():
            self.groups.setdefault(group(path), {})[path] = row
        for path in gone:
            del self.groups[group(path)][path]
        if change.paths:
            self._index = None
            change.models = {model for path in change.paths if (model := _model(path))}
            change.models |= {_model(path) for path in self._embedding({_name(path) for path in change.paths})}
        if fresh or gone:
            self._write(fresh, gone, change.models)

    def _embedding(self, handles: set[str]) -> list[str]:
        """List the files that embed one of these handles."""
        if self._base and not self._whole:
            with contextlib.suppress(sqlite3.Error):
                rows = self._base.execute("SELECT path, embed FROM files WHERE embed != ''")
                return [path for path, embed in rows if links.name(embed) in handles]
        return [
            path
            for rows in self.groups.values()
            for path, row in rows.items()
            if isinstance(row.file, Note) and row.file.embed and links.name(row.file.embed) in handles
        ]

    def _write(self, fresh: dict[str, Row], gone: list[str], models: set[str]) -> None:
        with self._transaction() as base:
            if base is None:
                return
            base.executemany("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?,?,?)", _records(fresh))
            base.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in gone if _is_utf8(path)])
            for model in models:
                base.execute(
                    "INSERT INTO models VALUES (?, 1, NULL) ON CONFLICT (model)"
                    " DO UPDATE SET stamp = stamp + 1, derived = NULL",
                    (model,),
                )
            self.stamps = dict(base.execute("SELECT model, stamp FROM models"))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection | None]:
        """Write, or go on without: a catalog that can't be written costs time, never an answer."""
        if self._base is None:
            yield None
            return
        try:
            self._base.execute("BEGIN IMMEDIATE")
            yield self._base
            self._base.execute("COMMIT")
        except (sqlite3.Error, UnicodeError):
            self._forget_base()

    def _forget_base(self) -> None:
        """Go on in memory: another process holds the catalog too long, the disk is full, or it is damaged."""
        if not self._whole:
            with contextlib.suppress(sqlite3.Error):
                self._load(())
        self._whole = True
        self.close()

    def _load(self, scopes: Collection[str]) -> None:
        if self._base is None or self._whole:
            return
        try:
            if not scopes:
                self._add(self._base.execute(_SELECT))
                self._whole = True
            for scope in scopes:
                if scope not in self._loaded:
                    self._loaded.add(scope)
                    self._add(self._base.execute(f"{_SELECT} WHERE path > ? AND path < ?", (f"{scope}/", f"{scope}0")))
            self.stamps = dict(self._base.execute("SELECT model, stamp FROM models"))
        except sqlite3.Error:
            self._whole = True
            self.close()

    def _add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for path, size, mtime, ctime, inode, doubt, value in rows:
            known = self.groups.setdefault(group(path), {})
            if path not in known:
                known[path] = Row(Sig(size, mtime, ctime, inode), bool(doubt), value)

    # What is computed from a model's rows, for as long as they stand

    def derived(self, model: str) -> str:
        """Give what was kept for a model since its files changed last; empty where nothing was."""
        if self._base:
            with contextlib.suppress(sqlite3.Error):
                for (text,) in self._base.execute("SELECT derived FROM models WHERE model = ?", (model,)):
                    return text or ""
        return ""

    def keep_derived(self, kept: dict[str, str]) -> None:
        """Keep what was computed for models, unless another process has seen their files change meanwhile."""
        with self._transaction() as base:
            for model, text in kept.items() if base else ():
                stamp = self.stamps.get(model, 0)
                base.execute("INSERT OR IGNORE INTO models VALUES (?, ?, NULL)", (model, stamp))  # type: ignore[union-attr]
                base.execute("UPDATE models SET derived = ? WHERE model = ? AND stamp = ?", (text, model, stamp))  # type: ignore[union-attr]

    # What failed, for the backoff and `status`

    def trouble(self) -> dict[str, tuple[int, float, str]]:
        """Give model → (tries in a row, time of the last, reason) for each model whose summary failed last."""
        if self._base:
            with contextlib.suppress(sqlite3.Error):
                return {m: (n, at, reason) for m, n, at, reason in self._base.execute("SELECT * FROM trouble")}
        return {}

    def note_trouble(self, model: str, reason: str | None) -> None:
        """Remember that a model's summary failed, or (None) that one was made."""
        with self._transaction() as base:
            if base and reason is None:
                base.execute("DELETE FROM trouble WHERE model = ?", (model,))
            elif base:
                base.execute(
                    "INSERT INTO trouble VALUES (?, 1, ?, ?) ON CONFLICT (model)"
                    " DO UPDATE SET tries = tries + 1, at = excluded.at, reason = excluded.reason",
                    (model, time.time(), reason),
                )


_SELECT = "SELECT path, size, mtime, ctime, inode, doubt, value FROM files"


def _open(path: Path, key: str) -> sqlite3.Connection | None:
    for fresh in (False, True):
        try:
            if fresh:
                _remove(path)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return _connect(path, key)
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                return None
        except (sqlite3.Error, OSError):
            continue
    return None


def _connect(path: Path, key: str) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
    try:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = OFF")  # a lost catalog is made anew; the notes are what is synced to disk
        kept = (
            base.execute("SELECT name FROM sqlite_master WHERE name = 'trouble'").fetchone()
            and base.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
        )
        if not kept:
            base.executescript(_TABLES)
        if not kept or kept[0] != key:
            base.executescript("BEGIN IMMEDIATE; DELETE FROM meta; DELETE FROM files; DELETE FROM models; COMMIT;")
            base.execute("INSERT OR REPLACE INTO meta VALUES ('key', ?)", (key,))
    except BaseException:
        base.close()
        raise
    return base


def _remove(path: Path) -> None:
    for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if name.is_dir():
            name.rename(name.with_name(f"{name.name}.{os.getpid()}.old"))
        name.unlink(missing_ok=True)
    if path.parent.is_file():
        path.parent.unlink()


def _row(found: Seen, now_ns: int, read: Callable[[Seen], File | None]) -> Row | None:
    try:
        value = encode(read(found))
    except FileNotFoundError:
        return None
    return Row(found.sig, _in_doubt(found.sig, now_ns), value)


def _in_doubt(sig: Sig, now_ns: int) -> bool:
    return now_ns - sig.ctime_ns < DOUBT_NS or 0 <= now_ns - sig.mtime_ns < DOUBT_NS


def group(path: str) -> str:
    """Give the folder that a file is walked by: `models/alice`, `topics`."""
    parts = path.split("/", 2)
    return f"{parts[0]}/{parts[1]}" if parts[0] == "models" and len(parts) > 2 else parts[0]  # noqa: PLR2004


def _is_utf8(path: str) -> bool:
    return path.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in path)


def _model(path: str) -> str:
    parts = path.split("/", 2)
    return parts[1] if parts[0] == "models" else ""


def _name(path: str) -> str:
    return links.target(path.rsplit("/", 1)[-1])


def _records(rows: dict[str, Row]) -> Iterator[tuple[Any, ...]]:
    for path, row in rows.items():
        if not _is_utf8(path):  # read again each time: sqlite takes no such text
            continue
        note = row.file if isinstance(row.file, Note) else None
        embed, digest = (note.embed, "" if note.embed else note.digest) if note else ("", "")
        yield (path, *row.sig, row.doubt, _name(path), embed, digest, row.value)


# Spelling values


def encode(file: File | None) -> str:
    """Spell a value as one line of JSON: its kind, then its fields."""
    if file is None:
        return "null"
    return json.dumps(_fields(file), ensure_ascii=False, separators=(",", ":"))


def _fields(file: File) -> list[Any]:
    if isinstance(file, Note):
        return ["note", file.path, file.handle, times.micros(file.created), file.dated, file.digest, file.chars, file.lines,
                times.micros(file.touched), file.source, file.embed, file.title, file.problem,
                file.is_card]  # fmt: skip
    if isinstance(file, Summary):
        spans = [times.micros(t) for t in (file.created, file.span_from, file.span_to)]
        sources = [[s.link, s.digest, times.micros(s.date)] for s in file.sources]
        return ["summary", file.path, file.handle, file.tier, file.batch, *spans, file.note_count, sources, file.digest,
                file.chars, file.lines, file.summarizer, file.draft, file.problem]  # fmt: skip
    if isinstance(file, Card):
        return ["card", file.path, file.handle, file.description, file.archived, file.folded_into, file.problem]
    return ["shaped", file.path, file.handle, file.kind, times.micros(file.created), file.name, file.status, file.chars,
            file.problem]  # fmt: skip


def decode(text: str) -> File:
    """Read back what `encode` spelled."""
    kind, *rest = json.loads(text)
    time_of = times.from_micros
    if kind == "note":
        path, handle, created, dated, digest, chars, lines, touched, *more = rest
        return Note(path, handle, time_of(created), Dated(dated), digest, chars, lines, time_of(touched), *more)
    if kind == "summary":
        path, handle, tier, batch, created, start, end, count, sources, *more = rest
        named = tuple(Source(link, digest, time_of(date)) for link, digest, date in sources)
        return Summary(path, handle, tier, batch, time_of(created), time_of(start), time_of(end), count, named, *more)
    if kind == "card":
        return Card(*rest)
    path, handle, what, created, *more = rest
    return Shaped(path, handle, Kind(what), time_of(created), *more)

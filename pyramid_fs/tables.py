"""The tables of the catalog: opening them in a file, and writing rows. With the catalog the only home of sqlite3.

A file has a number for as long as it is there (`id`), and so has its last change (`rev`): an index follows by these.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any

from pyramid_fs import links, times
from pyramid_fs.notes import Note, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.rows import Row

BUSY = 2.0
"""Seconds to wait for another process that writes the catalog."""

TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, size INT, mtime INT, ctime INT, inode INT, doubt INT,
    handle TEXT, embed TEXT, digest TEXT, value TEXT, mark TEXT, id INT, rev INT, model TEXT, at INT, chars INT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_handle ON files (handle);
CREATE INDEX IF NOT EXISTS by_digest ON files (digest) WHERE digest != '';
CREATE INDEX IF NOT EXISTS by_embed ON files (embed) WHERE embed != '';
CREATE INDEX IF NOT EXISTS by_id ON files (id);
CREATE INDEX IF NOT EXISTS by_rev ON files (rev);
CREATE INDEX IF NOT EXISTS by_age ON files (model, at, path, id, embed) WHERE at IS NOT NULL;
CREATE TABLE IF NOT EXISTS sources (name TEXT, summary TEXT, PRIMARY KEY (name, summary)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_summary ON sources (summary);
CREATE TABLE IF NOT EXISTS gone (id INTEGER PRIMARY KEY, rev INT);
CREATE INDEX IF NOT EXISTS gone_by_rev ON gone (rev);
CREATE TABLE IF NOT EXISTS revs (rev INTEGER PRIMARY KEY, token TEXT);
CREATE TABLE IF NOT EXISTS models (model TEXT PRIMARY KEY, stamp INT, mark TEXT, derived TEXT);
CREATE TABLE IF NOT EXISTS trouble (model TEXT PRIMARY KEY, tries INT, at REAL, reason TEXT);
"""
_FRESH = "".join(f"DROP TABLE IF EXISTS {table};" for table in ("meta", "files", "models", "sources", "gone", "revs"))
_BEGIN = "INSERT INTO meta VALUES ('rev', 0), ('birth', lower(hex(randomblob(8))));"
_PUT = """
INSERT INTO files VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (path) DO UPDATE SET
    size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime, inode = excluded.inode,
    doubt = excluded.doubt, handle = excluded.handle, embed = excluded.embed, digest = excluded.digest,
    value = excluded.value, mark = excluded.mark, model = excluded.model, at = excluded.at, chars = excluded.chars,
    rev = CASE WHEN files.mark = excluded.mark AND files.value = excluded.value AND files.mark != ''
          THEN files.rev ELSE excluded.rev END
"""
SELECT = "SELECT path, size, mtime, ctime, inode, doubt, value, mark FROM files"


def open_base(path: Path, key: str) -> sqlite3.Connection | None:
    """Open a catalog, begun afresh where it is damaged or of another key; None where the disk refuses it."""
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
    with contextlib.ExitStack() as unless_ready:
        unless_ready.callback(base.close)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = NORMAL")  # its last moments may be lost; what it says goes together
        kept = (
            base.execute("SELECT name FROM sqlite_master WHERE name = 'trouble'").fetchone()
            and base.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
        )
        if not kept or kept[0] != key:
            base.executescript(f"BEGIN IMMEDIATE; {_FRESH} {TABLES} {_BEGIN} COMMIT;")
            base.execute("INSERT OR REPLACE INTO meta VALUES ('key', ?)", (key,))
        unless_ready.pop_all()
    return base


def inode(path: Path) -> int:
    """Tell which file lies at a path; 0 for none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _remove(path: Path) -> None:
    if path.parent.is_file():
        path.parent.unlink()
    for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if name.is_dir():
            name.rename(name.with_name(f"{name.name}.{os.getpid()}.old"))
        name.unlink(missing_ok=True)


def reserve(base: sqlite3.Connection, count: int) -> int:
    """Take so many numbers, never given before, for rows and their changes; give the first."""
    base.execute("UPDATE meta SET value = value + ? WHERE key = 'rev'", (count,))
    last = int(base.execute("SELECT value FROM meta WHERE key = 'rev'").fetchone()[0])
    # a catalog that a power cut threw back gives the same numbers again, but not the same token
    base.execute("INSERT OR REPLACE INTO revs VALUES (?, lower(hex(randomblob(8))))", (last,))
    return last - count + 1


def put(base: sqlite3.Connection, rows: dict[str, Row], first: int) -> None:
    """Write rows; one that only its stat tells from the row before keeps the number of its last change."""
    base.executemany(_PUT, _records(rows, first))
    summaries = {path: row.file for path, row in rows.items() if isinstance(row.file, Summary) and is_utf8(path)}
    base.executemany("DELETE FROM sources WHERE summary = ?", [(path,) for path in summaries])
    named = {(links.name(source.link), path) for path, file in summaries.items() for source in file.sources}
    base.executemany("INSERT INTO sources VALUES (?, ?)", sorted(named))


def drop(base: sqlite3.Connection, paths: list[str], first: int, rev: int) -> None:
    """Take out rows, but for those that came after the walk that missed them had begun."""
    numbered = [(number, path, rev) for number, path in enumerate(paths, first)]
    base.executemany("INSERT OR REPLACE INTO gone SELECT id, ? FROM files WHERE path = ? AND rev <= ?", numbered)
    base.executemany("DELETE FROM files WHERE path = ? AND rev <= ?", [(path, rev) for path in paths])
    base.executemany("DELETE FROM sources WHERE summary = ?", [(path,) for path in paths])


def _age(note: Note | None) -> tuple[int | None, int | None]:
    return (times.micros(note.created), note.chars) if note else (None, None)


def _records(rows: dict[str, Row], first: int) -> Iterator[tuple[Any, ...]]:
    for number, (path, row) in enumerate(rows.items(), first):
        if not is_utf8(path):  # read again each time: sqlite takes no such text
            continue
        note = row.file if isinstance(row.file, Note) else None
        embed, digest = (links.name(note.embed), "" if note.embed else note.digest) if note else ("", "")
        known = (path, *row.sig, row.doubt, name_of(path), embed, digest, row.value)
        yield (*known, row.mark, number, number, model_of(path), *_age(note))


def is_utf8(path: str) -> bool:
    """Whether sqlite takes a text."""
    return path.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in path)


def model_of(path: str) -> str:
    """Give the model that a file lies in; empty for any other file."""
    parts = path.split("/", 2)
    return parts[1] if parts[0] == "models" else ""


def name_of(path: str) -> str:
    """Give the name by which links mean a file."""
    return links.target(path.rsplit("/", 1)[-1])

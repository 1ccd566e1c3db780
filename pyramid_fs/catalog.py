"""What is known of each file by its stat, kept in the user's cache folder so that nothing is parsed twice.

The catalog is a memory, never a truth: each answer compares it with a walk of the disk first, and everything works,
slower, without it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sqlite3
import threading
import time
import zlib
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyramid_fs import links, tables
from pyramid_fs.files import Folder, Seen, Sig
from pyramid_fs.layout import SHAPES
from pyramid_fs.notes import File, Note
from pyramid_fs.rows import Row, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

VERSION = 6
"""Raised when a value is read from a file in another way: then all are read again."""
DOUBT_NS = 2_000_000_000
"""A file that changed less than this before it was read may change again within one tick of its clock (git's rule)."""
_NEVER = 1 << 60
"""A change that no walk is older than."""
FEW = 100
"""So many handles are looked up one by one; for more, all embeds are gone through."""


Read: TypeAlias = "Callable[[Seen], tuple[File | None, str]]"
"""How a file is read: its value, and the mark of its bytes (empty where it can't be read)."""


@dataclass(slots=True)
class Change:
    """What an update found."""

    paths: list[str] = field(default_factory=list)
    """Files that are new, changed or gone."""
    models: set[str] = field(default_factory=set)


_Method = TypeVar("_Method", bound="Callable[..., Any]")


def one_at_a_time(method: _Method) -> _Method:
    """Let one thread at a time run the methods of a thing that has a `lock`."""

    @functools.wraps(method)
    def alone(self: Any, *args: Any, **options: Any) -> Any:
        with self.lock:
            return method(self, *args, **options)

    return alone  # type: ignore[return-value]


class Catalog:
    """The rows of one vault; without a path, or where the disk refuses, it lives in memory alone."""

    def __init__(self, path: Path | None, key: str) -> None:
        self.lock = threading.RLock()
        """Held by whoever asks or changes: the threads of one process may share a catalog."""
        self.groups: dict[str, dict[str, Row]] = {}
        """Rows by the folder they are walked by (`models/alice`, `topics`), as far as they are in memory."""
        self.stamps: dict[str, int] = {}
        self._complete: set[str] = set()
        """Groups whose rows are all in memory."""
        self._marks: dict[str, str] = {}
        """Marks of the listings that the rows of a group stand for."""
        self._skipped: dict[str, tuple[list[Folder], Read]] = {}
        """What was seen of groups that are as their rows on disk say, and how to read them should those get lost."""
        self._odd: set[str] = set()
        """Paths that are not UTF-8, which no row on disk can hold."""
        self._marked = False
        self._index: dict[str, list[str]] | None = None
        self._changes = 0
        self._copy: sqlite3.Connection | None = None
        self._copied = -1
        self._key = f"{VERSION}:{zlib.crc32(tables.TABLES.encode())}:{key}"  # other tables are another catalog
        self._path = path
        self._base: sqlite3.Connection | None = None
        self._inode = 0
        self._begin()

    def _begin(self) -> None:
        self._base = tables.open_base(self._path, self._key) if self._path else None
        self._inode = tables.inode(self._path) if self._path and self._base else 0

    def _come_back(self) -> None:
        """Begin anew where the file has been taken away, or another put in its place, under an open process."""
        if self._base and self._path and tables.inode(self._path) != self._inode:
            self.close()
            for known in (self.groups, self.stamps, self._marks, self._skipped, self._complete, self._odd):
                known.clear()
            self._marked, self._index = False, None
            self._begin()

    @one_at_a_time
    def close(self) -> None:
        """Let go of the file."""
        for base in (self._base, self._copy):
            if base:
                base.close()
        self._base = self._copy = None

    @one_at_a_time
    def row(self, path: str) -> Row | None:
        """Give what is known of a file, from memory or from disk."""
        key = group(path)
        if path not in self.groups.get(key, {}) and self._base and key not in self._complete:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                self._add(key, self._base.execute(f"{tables.SELECT} WHERE path = ?", (path,)))
        return self.groups.get(key, {}).get(path)

    @one_at_a_time
    def rows(self, key: str) -> dict[str, Row]:
        """Give all rows of a group."""
        if key not in self._complete:
            listing, read = self._skipped.pop(key, ([], None))
            if not self._load(key) and read:  # the catalog broke between the walk and this question
                fresh, _ = self._compare(key, listing, time.time_ns(), read)
                self._keep(fresh, [], Change())
        return self.groups.setdefault(key, {})

    @one_at_a_time
    def all_rows(self) -> dict[str, dict[str, Row]]:
        """Give all rows, by group."""
        return {key: self.rows(key) for key in sorted(self._keys())}

    def _keys(self) -> set[str]:
        """Name every group that has a row, in memory or on disk."""
        return {*self.groups, *SHAPES, *(f"models/{model}" for model in self.stamps if not model.endswith("/"))}

    @one_at_a_time
    def update(
        self,
        scopes: Collection[str],
        seen: Iterable[Folder | Seen],
        shut: Collection[str],
        read: Read,
    ) -> Change:
        """Bring all rows of some groups (none named: of all) up to date with what a walk has seen.

        Only files that are new, changed or in doubt are read. A group that is as its rows on disk say is not even
        loaded. What lies under a folder that is `shut` is left alone.
        """
        self._come_back()
        self._leave_to_newer()
        began, change, kept, rev = time.time_ns(), Change(), self._marks_on_disk(), self._rev()
        changed_elsewhere = self._take_stamps()
        for model in changed_elsewhere:
            self._let_go(model.rstrip("/") if model.endswith("/") else f"models/{model}")
        listings = _listings(seen)
        fresh, gone, settled = dict[str, Row](), list[str](), dict[str, str]()
        for key in dict.fromkeys([*listings, *(scopes or sorted(self._keys()))]):
            listing = listings.get(key, [])
            mark = _mark(listing) if not any(_overlap(key, folder) for folder in shut) else ""
            if mark and mark == (self._marks if self.groups.get(key) else kept).get(key):
                if key not in self._complete:
                    self._skipped[key], self._marks[key] = (listing, read), mark
                continue
            new, left = self._compare(key, listing, began, read)
            fresh |= new
            gone += [path for path in left if not any(path.startswith(f"{folder}/") for folder in shut)]
            if mark and not any(row.doubt for row in new.values()):
                settled[key] = mark
        self._keep(fresh, gone, change, rev)
        self._save_marks(
            {k: mark for k, mark in settled.items() if len(self.groups.get(k, {})) == _count(listings.get(k, []))},
            kept,
        )
        change.models |= {model for model in changed_elsewhere if not model.endswith("/")}
        if not scopes and not self._marked:
            self._mark_walked()
        return change

    def _compare(self, key: str, listing: list[Folder], began: int, read: Read) -> tuple[dict[str, Row], set[str]]:
        """Hold a group's rows against what a walk has seen; give the new rows, and the paths that are gone."""
        rows, fresh = self.rows(key), dict[str, Row]()
        left = set(rows)
        for found in (file for folder in listing for file in folder.files()):
            left.discard(found.path)
            row = rows.get(found.path)
            if row and row.sig == found.sig and not row.doubt:
                continue
            if made := _row(found, began, read):
                fresh[found.path] = made
            elif row:
                left.add(found.path)
        return fresh, left

    def _marks_on_disk(self) -> dict[str, str]:
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                found = self._base.execute("SELECT model, mark FROM models WHERE mark IS NOT NULL")
                return {f"models/{model}": mark for model, mark in found}
        return {}

    def _save_marks(self, settled: dict[str, str], kept: dict[str, str]) -> None:
        """Keep the marks of groups whose rows are all on disk, unless another process has seen them change."""
        self._marks |= settled
        new = [(mark, model, self.stamps.get(model)) for key, mark in settled.items()
               if kept.get(key) != mark and (model := key.partition("/")[2])]  # fmt: skip
        if new:
            with self._transaction() as base:
                if base:
                    base.executemany("UPDATE models SET mark = ? WHERE model = ? AND stamp = ?", new)

    def _take_stamps(self, bumped: Collection[str] = ()) -> set[str]:
        """Read the stamps; name the models of which another process has seen files change since the last time."""
        if not self._base:
            return set()
        with contextlib.suppress(sqlite3.Error, UnicodeError):
            known, self.stamps = self.stamps, dict(self._base.execute("SELECT model, stamp FROM models"))
            return {model for model, at in self.stamps.items() if at != known.get(model, 0) + (model in bumped)}
        return set()

    def _mark_walked(self) -> None:
        with self._transaction() as base:
            if base:
                base.execute("INSERT OR REPLACE INTO meta VALUES ('walked', 'yes')")
        self._marked = True

    @one_at_a_time
    def refresh(self, seen: Iterable[tuple[str, Sig | None]], read: Read) -> Change:
        """Bring single files up to date, by the stat of each (None: it is gone)."""
        self._leave_to_newer()
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
        self._keep(fresh, gone, change)
        return change

    @one_at_a_time
    def put(self, path: str, sig: Sig, file: File, mark: str) -> Change:
        """Take in a file that was just written, so that the next walk need not read it."""
        change = Change()
        self._keep({path: Row(sig, doubt=True, value=encode(file), mark=mark)}, [], change)
        return change

    @one_at_a_time
    def with_digest(self, digest: str) -> list[str]:
        """List the notes with a text of their own that are known under a digest."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                return sorted(
                    path for (path,) in self._base.execute("SELECT path FROM files WHERE digest = ?", (digest,))
                )
        files = (row.file for rows in self.groups.values() for row in rows.values())
        return sorted(f.path for f in files if isinstance(f, Note) and f.digest == digest and not f.embed)

    @property
    @one_at_a_time
    def walked(self) -> bool:
        """Whether the whole vault has been walked since the catalog was made."""
        if not self._marked and self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                self._marked = self._base.execute("SELECT value FROM meta WHERE key = 'walked'").fetchone() is not None
        return self._marked

    @one_at_a_time
    def paths_of(self, handle: str) -> list[str]:
        """List the paths that are known under a handle, in the whole vault."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                found = self._base.execute("SELECT path FROM files WHERE handle = ?", (handle,))
                return sorted(
                    {path for (path,) in found} | {path for path in self._odd if tables.name_of(path) == handle}
                )
        if self._index is None:
            self._index = {}
            for rows in self.groups.values():
                for path in rows:
                    self._index.setdefault(tables.name_of(path), []).append(path)
        return sorted(self._index.get(handle, []))

    def _rev(self) -> int:
        """Give the number of the last change on disk; what has a greater one was not there when a walk began."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                return int(self._base.execute("SELECT value FROM meta WHERE key = 'rev'").fetchone()[0])
        return _NEVER

    def _let_go(self, key: str) -> None:
        """Read a group's rows from disk again when they are asked for: another process has changed them there."""
        if self._base:
            for known in (self.groups, self._marks, self._skipped):
                known.pop(key, None)
            self._complete.discard(key)

    def _keep(self, fresh: dict[str, Row], gone: list[str], change: Change, rev: int = _NEVER) -> None:
        for path, row in fresh.items():
            rows = self.groups.setdefault(group(path), {})
            if path not in rows or rows[path].value != row.value:
                change.paths.append(path)
            rows[path] = row
        for path in gone:
            del self.groups[group(path)][path]
        change.paths += gone
        for path in (*fresh, *gone):
            self._marks.pop(group(path), None)
        self._odd = {*(path for path in fresh if not tables.is_utf8(path)), *self._odd}.difference(gone)
        if change.paths:
            self._index = None
            change.models |= {model for path in change.paths if (model := tables.model_of(path))}
            change.models |= self._embedding({tables.name_of(path) for path in change.paths})
        if fresh or gone:
            self._changes += 1
            self._write(fresh, gone, change, rev)

    @one_at_a_time
    def embedded(self, key: str) -> set[str]:
        """Give the handles that the files of a group embed."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                ask = "SELECT embed FROM files INDEXED BY by_embed WHERE embed != '' AND path > ? AND path < ?"
                return {embed for (embed,) in self._base.execute(ask, (f"{key}/", f"{key}0"))}
        files = (row.file for row in self.rows(key).values())
        return {links.name(file.embed) for file in files if isinstance(file, Note) and file.embed}

    def _embedding(self, handles: set[str]) -> set[str]:
        """Name the models that hold an embed of one of these handles, or an embed of such an embed."""
        models, known, fresh = set[str](), set[str](), handles
        while fresh:
            known |= fresh
            paths = self._embeds_of(fresh)
            models |= {tables.model_of(path) for path in paths}
            fresh = {tables.name_of(path) for path in paths} - known
        return models

    def _embeds_of(self, handles: set[str]) -> set[str]:
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                if len(handles) > FEW:
                    rows = self._base.execute("SELECT path, embed FROM files WHERE embed != ''")
                    return {path for path, embed in rows if embed in handles}
                ask = "SELECT path FROM files WHERE embed = ? AND embed != ''"
                return {path for handle in handles for (path,) in self._base.execute(ask, (handle,))}
        return {
            path
            for rows in self.groups.values()
            for path, row in rows.items()
            if isinstance(row.file, Note) and row.file.embed and links.name(row.file.embed) in handles
        }

    def _write(self, fresh: dict[str, Row], gone: list[str], change: Change, rev: int) -> None:
        with self._transaction() as base:
            if base is None:
                return
            left = [path for path in gone if tables.is_utf8(path)]
            first = tables.reserve(base, len(fresh) + len(left))
            tables.put(base, fresh, first)
            tables.drop(base, left, first + len(fresh), rev)
            # a group beside the models' folders has its stamp under its name with a slash, which no model's has
            beside = {f"{group(path)}/" for path in change.paths if not tables.model_of(path)}
            stamped_now = frozenset(change.models | beside)
            base.executemany(
                "INSERT INTO models VALUES (?, 1, NULL, NULL) ON CONFLICT (model)"
                " DO UPDATE SET stamp = stamp + 1, mark = NULL, derived = NULL",
                [(stamped,) for stamped in stamped_now],
            )
            change.models |= {model for model in self._take_stamps(stamped_now) if not model.endswith("/")}

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection | None]:
        """Write, or go on without: a catalog that can't be written costs time, never an answer."""
        if self._base is None:
            yield None
            return
        try:
            self._base.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            self._forget_base()
        else:
            self._leave_to_newer()
        if self._base is None:
            yield None
            return
        try:
            yield self._base
            self._base.execute("COMMIT")
        except (sqlite3.Error, UnicodeError):
            self._forget_base()

    def _leave_to_newer(self) -> None:
        """Go on in memory where another process has begun the catalog anew, to read values in another way."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                kept = self._base.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()
                if kept and kept[0] != self._key:
                    self.close()

    def _forget_base(self) -> None:
        """Go on in memory: another process holds the catalog too long, the disk is full, or it is damaged."""
        with contextlib.suppress(sqlite3.Error, UnicodeError):
            for key in self._keys() - self._complete:
                self._fetch(key)
        self.close()

    def _load(self, key: str) -> bool:
        """Bring all rows of a group into memory; say whether the catalog on disk gave them."""
        self._complete.add(key)
        try:
            return self._fetch(key)
        except (sqlite3.Error, UnicodeError):
            self.close()
            return False

    def _fetch(self, key: str) -> bool:
        if self._base is None:
            return False
        self._add(key, self._base.execute(f"{tables.SELECT} WHERE path > ? AND path < ?", (f"{key}/", f"{key}0")))
        self._complete.add(key)
        return True

    def _add(self, key: str, rows: Iterable[tuple[Any, ...]]) -> None:
        known = self.groups.setdefault(key, {})
        for path, size, mtime, ctime, inode, doubt, value, mark in rows:
            if path not in known:
                known[path] = Row(Sig(size, mtime, ctime, inode), bool(doubt), value, mark)

    # What the index asks

    @property
    @one_at_a_time
    def birth(self) -> str:
        """Give the name of this catalog, which a catalog begun anew does not share; empty where none is on disk."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                found = self._base.execute("SELECT value FROM meta WHERE key = 'birth'").fetchone()
                return str(found[0]) if found else ""
        return ""

    @one_at_a_time
    def ask(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        """Answer a SELECT over the rows, from disk, or from memory where there is no catalog on disk."""
        if any(isinstance(value, str) and not tables.is_utf8(value) for value in values):
            return []  # no row holds such a text
        if self._base:
            try:
                return self._base.execute(question, values).fetchall()
            except (sqlite3.Error, UnicodeError):
                self._forget_base()
        return self._in_memory().execute(question, values).fetchall()

    @property
    @one_at_a_time
    def odd(self) -> list[str]:
        """The paths that no row on disk can hold."""
        return sorted(self._odd)

    def _in_memory(self) -> sqlite3.Connection:
        """Give the rows as tables in memory, made anew when a row has changed since."""
        if self._copy is None or self._copied != self._changes:
            if self._copy:
                self._copy.close()
            self._copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._copy.executescript(tables.TABLES)
            self._copy.execute("INSERT INTO meta VALUES ('rev', 0)")
            tables.put(self._copy, {path: row for rows in self.groups.values() for path, row in rows.items()}, 1)
            self._copied = self._changes
        return self._copy

    # What is computed from a model's rows, for as long as they stand

    @one_at_a_time
    def derived(self, model: str) -> str:
        """Give what was kept for a model since its files changed last; empty where nothing was."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                for (text,) in self._base.execute("SELECT derived FROM models WHERE model = ?", (model,)):
                    return text or ""
        return ""

    @one_at_a_time
    def keep_derived(self, kept: dict[str, str]) -> None:
        """Keep what was computed for models, unless another process has seen their files change meanwhile."""
        with self._transaction() as base:
            for model, text in kept.items() if base else ():
                stamp = self.stamps.get(model, 0)
                base.execute("INSERT OR IGNORE INTO models VALUES (?, ?, NULL, NULL)", (model, stamp))  # type: ignore[union-attr]
                base.execute("UPDATE models SET derived = ? WHERE model = ? AND stamp = ?", (text, model, stamp))  # type: ignore[union-attr]

    # What failed, for the backoff and `status`

    @one_at_a_time
    def trouble(self) -> dict[str, tuple[int, float, str]]:
        """Give model → (tries in a row, time of the last, reason) for each model whose summary failed last."""
        if self._base:
            with contextlib.suppress(sqlite3.Error, UnicodeError):
                return {m: (n, at, reason) for m, n, at, reason in self._base.execute("SELECT * FROM trouble")}
        return {}

    @one_at_a_time
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


def _row(found: Seen, now_ns: int, read: Read) -> Row | None:
    try:
        file, mark = read(found)
    except FileNotFoundError:
        return None
    return Row(found.sig, _in_doubt(found.sig, now_ns), encode(file), mark)


def _in_doubt(sig: Sig, now_ns: int) -> bool:
    return now_ns - sig.ctime_ns < DOUBT_NS or 0 <= now_ns - sig.mtime_ns < DOUBT_NS


def _listings(seen: Iterable[Folder | Seen]) -> dict[str, list[Folder]]:
    """Sort what a walk has seen by group; a file beside the models' folders belongs to none."""
    listings: dict[str, list[Folder]] = {}
    for found in seen:
        folder = found if isinstance(found, Folder) else _alone(found)
        if folder.names:
            listings.setdefault(group(f"{folder.path}/"), []).append(folder)
    listings.pop("models", None)
    return listings


def _alone(found: Seen) -> Folder:
    path, _, name = found.path.rpartition("/")
    return Folder(path, [name], [*found.sig])


def _mark(listing: list[Folder]) -> str:
    """Give one short text for the names and signatures of files; empty where none can be had."""
    numbers = array("q")
    try:
        names = "\0".join(["\0".join([f"{folder.path}/", *folder.names]) for folder in listing]).encode()
        for folder in listing:
            numbers.extend(array("q", folder.numbers))
    except (UnicodeError, OverflowError):
        return ""
    return hashlib.blake2b(b"\0".join([names, numbers]), digest_size=16).hexdigest()


def _count(listing: list[Folder]) -> int:
    return sum(len(folder.names) for folder in listing)


def _overlap(key: str, folder: str) -> bool:
    return f"{key}/".startswith(f"{folder}/") or folder.startswith(f"{key}/")


def group(path: str) -> str:
    """Give the folder that a file is walked by: `models/alice`, `topics`."""
    parts = path.split("/", 2)
    return f"{parts[0]}/{parts[1]}" if parts[0] == "models" and len(parts) > 2 else parts[0]  # noqa: PLR2004

"""Keeps the index at what the catalog knows, and reads what no index holds yet; also the process that indexes a share.

The catalog numbers each change of a file. An index says up to which number it stands, so what it lacks is one question
to the catalog, and a text that was taken in twice is taken out first: any step may be cut short and done again.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pyramid_fs import files, indexed, texts
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, Locked, PyramidError
from pyramid_fs.index import LENGTHS, Damage, Index, View, length_byte
from pyramid_fs.rows import decode
from pyramid_fs.vault import open_vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyramid_fs.census import Census
    from pyramid_fs.indexed import Meta
    from pyramid_fs.notes import File
    from pyramid_fs.texts import Entry
    from pyramid_fs.vault import Vault

SHARED = 3_000
"""From so many texts on, processes share the work; fewer are done before they have started."""
SHARE = 20_000
"""Texts of one segment at most: more of them make a search faster and a process larger (some 150 MB)."""
STEP = 500
"""Texts between two words on progress."""
LONG = 30.0
"""Seconds that `reindex` waits for another process that writes the index."""

_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE})
"""The disk's trouble, or the system's, and not the index's: it stays."""


Progress: TypeAlias = "Callable[[int, int], None]"
"""Told so many texts done, of how many."""


class Lacking(NamedTuple):
    """A file that an index lacks, or has as it was."""

    id: int
    path: str
    rev: int
    value: str


def quiet(done: int, total: int) -> None:
    """Show no progress."""


class Loose:
    """Texts that no index holds, read for one search: only what that search may ask for is kept."""

    def __init__(self, entries: Iterable[Entry], wanted: Iterable[str]) -> None:
        kept = _wanted(tuple(wanted))
        self.lengths: dict[int, int] = {}
        self._terms: dict[str, dict[int, int]] = {}
        self._facets: dict[str, set[int]] = {}
        for entry in entries:
            self.lengths[entry.id] = length_byte(sum(entry.terms.values()))
            for term, count in entry.terms.items():
                if kept(term):
                    self._terms.setdefault(term, {})[entry.id] = count
            for facet in entry.facets:
                self._facets.setdefault(facet, set()).add(entry.id)
        self.count = len(self.lengths)
        self.words = sum(LENGTHS[byte] for byte in self.lengths.values())

    def column(self, term: str, norms: Sequence[float], most: float) -> dict[int, float]:
        """Give the saturated frequency of a term, as `View.column` does."""
        found = self._terms.get(term, {})
        return {number: f * most / (f + norms[self.lengths[number]]) for number, f in found.items()}

    def having(self, term: str) -> int:
        """Count the texts that have a term."""
        return len(self._terms.get(term, ()))

    def facet(self, facet: str) -> set[int]:
        """Give the texts that have a facet."""
        return self._facets.get(facet, set())

    def begins(self, prefix: str) -> list[str]:
        """List the terms that begin with a prefix, of those that are kept."""
        return [term for term in self._terms if term.startswith(prefix)]


def _wanted(terms: tuple[str, ...]) -> Callable[[str], bool]:
    """Tell which terms a search may ask for: its own, and those that begin like them."""
    exact, begins = set(terms), tuple({term[:STEM] for term in terms if len(term) >= STEM})

    def kept(term: str) -> bool:
        return term in exact or term.startswith(begins)

    return lru_cache(maxsize=100_000)(kept)


STEM = 2
"""Letters that a word found in another spelling begins with."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that can be searched: the index, and what it lacks."""

    view: View | None
    stale: frozenset[int]
    """Texts of the index that have changed or are gone."""
    loose: Loose

    @property
    def count(self) -> int:
        """Texts."""
        held = self.view.count - sum(self.view.has(number) for number in self.stale) if self.view else 0
        return held + self.loose.count

    @property
    def mean(self) -> float:
        """Words of a text, on average."""
        total = (self.view.words - self.view.words_of(self.stale) if self.view else 0.0) + self.loose.words
        return max(1.0, total / max(1, self.count))

    def having(self, term: str) -> int:
        """Count the texts that have a term."""
        if not self.view:
            return self.loose.having(term)
        if not self.stale:
            return self.view.having(term) + self.loose.having(term)
        held = self.view.column(term, LENGTHS, 1.0)
        return len(held) - len(self.stale & held.keys()) + self.loose.having(term)

    def column(self, term: str, norms: Sequence[float], most: float) -> dict[int, float]:
        """Give the saturated frequency of a term, by text."""
        found = self.view.column(term, norms, most) if self.view else {}
        for number in self.stale & found.keys():
            del found[number]
        return found | self.loose.column(term, norms, most) if self.loose.count else found

    def facet(self, facet: str) -> set[int]:
        """Give the texts that have a facet."""
        found = self.view.facet(facet) if self.view else set()
        if self.stale:
            found = found - self.stale
        return found | more if (more := self.loose.facet(facet)) else found

    def begins(self, prefix: str, most: int) -> list[str]:
        """List the first terms that begin with a prefix, at most so many."""
        # of the index's terms some may stand only in texts that have changed since
        found = self.view.begins(prefix, most + len(self.stale)) if self.view else []
        both = sorted({*found, *self.loose.begins(prefix)})
        return [term for term in both if not self.stale or self.having(term)][:most]


class Indexing:
    """The index of one vault, and how it follows the catalog."""

    def __init__(self, census: Census, cache: Path) -> None:
        self._census, self._cache = census, cache
        self.index = Index(cache / "index", indexed.key(census.vault.settings.zone_name))
        self.news: list[str] = []
        """What a person should know, once."""

    @property
    def vault(self) -> Vault:
        """The vault that is indexed."""
        return self._census.vault

    # What the index lacks

    def rev(self) -> int:
        """Give the number of the last change that the catalog knows."""
        found = self._census.catalog.ask("SELECT value FROM meta WHERE key = 'rev'")
        return int(found[0][0]) if found else 0

    def lacking(self, rev: int) -> list[Lacking]:
        """List the files that have changed since a change, in the order of their last change."""
        ask = "SELECT id, path, rev, value FROM files WHERE rev > ? ORDER BY rev"
        return [Lacking(*row) for row in self._census.catalog.ask(ask, rev)]

    def gone(self, rev: int) -> set[int]:
        """Give the numbers of files that have gone since a change."""
        return {number for (number,) in self._census.catalog.ask("SELECT id FROM gone WHERE rev > ?", rev)}

    def _fitting(self) -> View | None:
        view = self.index.view()
        return view if view and self._follows(view.meta) else None

    def _follows(self, meta: Meta) -> bool:
        """Whether an index goes on from a change that the catalog knows."""
        return meta.birth == self._census.catalog.birth and meta.token == self.token(meta.rev)

    def token(self, rev: int) -> str:
        """Give what the catalog knows a change by, beside its number; empty for none."""
        found = self._census.catalog.ask("SELECT token FROM revs WHERE rev = ?", rev)
        return str(found[0][0]) if found else ""

    # Bringing it up to date

    def bring_up(self, progress: Progress = quiet, wait: float = 0.0, *, afresh: bool = False) -> bool:
        """Take into the index what it lacks; say whether it lacks nothing now.

        Where another process writes, the disk is full, or whatever else happens, the index stays as it is.
        """
        birth = self._census.catalog.birth
        if not birth:
            return False
        view = None if afresh else self._fitting()
        if view and view.meta.rev >= self.rev():
            return True
        try:
            self.index.clear_way()
            with files.locked(self.index.lock, wait):
                self._write(birth, progress, afresh=afresh)
        except Damage as error:
            if afresh:
                raise _as_ours(error) from error
            if not isinstance(error, Locked):
                self._say(f"the index can't be written, so every file is read: {error}")
            return False
        return True

    def _write(self, birth: str, progress: Progress, *, afresh: bool) -> None:
        meta = None if afresh else self._usable()
        if meta:
            try:
                self._follow(meta, progress)
            except Damage as error:
                if isinstance(error, PyramidError) or (isinstance(error, OSError) and error.errno in _DISK):
                    raise
                self._say_broken()
            else:
                return
        self._follow(self.index.begin(birth), progress)

    def _usable(self) -> Meta | None:
        view, meta = self.index.view(), self.index.meta()
        if view and meta and self._follows(meta):
            return meta
        if self.index.exists():
            self._say_broken()
        return None

    def _say_broken(self) -> None:
        self.index.close()
        self._say("the index did not fit what is on disk, and was built afresh")

    def _say(self, line: str) -> None:
        self.news += [line] if line not in self.news else []

    def _follow(self, meta: Meta, progress: Progress) -> None:
        rev = self.rev()
        token = self.token(rev)
        lacking, gone = self.lacking(meta.rev), self.gone(meta.rev)
        view = self.index.view()
        if view and (meta.rev == 0 or not self.index.is_said(meta)):  # cut short before it could be said how far it is
            gone |= view.held(one.id for one in lacking)
        else:  # a number given after the index was written can't be in it
            gone |= {one.id for one in lacking if one.id <= meta.rev}
        if len(lacking) >= SHARED:
            self._share(meta, lacking, gone, rev, progress)
        else:
            self.index.apply(meta, gone, _shown(entries(self.vault, lacking), len(lacking), progress), rev, token)

    def _share(self, meta: Meta, lacking: list[Lacking], gone: set[int], rev: int, progress: Progress) -> None:
        """Let processes index a share each; what is done is taken in, in order, as it comes."""
        cores = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        size = min(SHARE, -(-len(lacking) // cores))
        waiting = deque(lacking[at : at + size] for at in range(0, len(lacking), size))
        running: deque[_Share] = deque()
        folder, done = self.index.folder / meta.folder, 0
        progress(0, len(lacking))
        try:
            while waiting or running:
                while waiting and len(running) < cores:
                    running.append(_Share(self.vault, self.index, folder, waiting.popleft()))
                share = running.popleft()
                try:
                    segment = share.result(_beyond(progress, done, len(lacking)))
                    upto = (rev, self.token(rev)) if not (waiting or running) else (meta.rev, meta.token)
                    meta = self.index.adopt(meta, segment, share.folder, gone, *upto)
                finally:
                    share.stop()
                done, gone = done + len(share.lacking), set()
                progress(done, len(lacking))
        finally:
            for share in running:
                share.stop()

    # What is searched

    def sources(self, wanted: Iterable[str]) -> Sources:
        """Give all that can be searched at this moment: the committed index, and what is not in it."""
        view = self._fitting()
        rev = view.meta.rev if view else 0
        lacking = self.lacking(rev)
        stale = frozenset(self.gone(rev) | {one.id for one in lacking}) if view else frozenset[int]()
        odd = [Lacking(-at, path, 0, "") for at, path in enumerate(self._census.catalog.odd, 1)]
        return Sources(view, stale, Loose(self._entries([*lacking, *odd]), wanted))

    def _entries(self, lacking: list[Lacking]) -> Iterator[Entry]:
        for one in lacking:
            if one.value:
                yield from entries(self.vault, [one])
            elif (row := self._census.catalog.row(one.path)) and row.value != "null":
                yield from entries(self.vault, [one._replace(value=row.value)])


def _beyond(progress: Progress, done: int, total: int) -> Callable[[int], None]:
    return lambda count: progress(done + count, total)


def _as_ours(error: Exception) -> PyramidError:
    return error if isinstance(error, PyramidError) else DiskError(f"the index can't be written: {error}")


def _shown(made: Iterable[Entry], total: int, progress: Progress) -> Iterator[Entry]:
    for count, entry in enumerate(made, 1):
        yield entry
        if count % STEP == 0:
            progress(count, total)


def entries(vault: Vault, lacking: Iterable[Lacking]) -> Iterator[Entry]:
    """Read what is searched of files; one that is gone is left out, one that can't be read is found by its name."""
    for one in lacking:
        if one.value == "null":
            continue
        try:
            page = vault.page(one.path)
        except FileNotFoundError:
            continue
        except DiskError:
            page = pages.Page()
        if made := texts.entry(one.id, decode_file(one.value), page, vault.settings.zone):
            yield made


def decode_file(value: str) -> File:
    """Read a file's value as the catalog keeps it."""
    return decode(value)


# A process that indexes a share


class _Share:
    """A process that writes one segment."""

    def __init__(self, vault: Vault, index: Index, folder: Path, lacking: list[Lacking]) -> None:
        self.lacking = lacking
        self.folder = folder / f"share-{os.urandom(4).hex()}"
        self._listing = self.folder.with_suffix(".jsonl")
        with self._listing.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in lacking)
        program = [sys.executable, "-P", "-m", "pyramid_fs.indexing"]
        self._process = subprocess.Popen(  # noqa: S603  (this program itself)
            [*program, str(vault.root), str(index.folder), str(self.folder), str(self._listing)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def result(self, progress: Callable[[int], None]) -> object:
        """Wait for the segment; raise DiskError where there is none."""
        assert self._process.stdout  # noqa: S101
        for line in self._process.stdout:
            progress(int(line))
        _, errors = self._process.communicate()
        if self._process.returncode:
            raise DiskError(f"a process that indexes ended early: {errors.strip().rpartition(chr(10))[2]}")
        return pickle.loads((self.folder / SEGMENT).read_bytes())  # noqa: S301  (made just now by our own process)

    def stop(self) -> None:
        """End the process, if it has not ended, and clear away what it worked with."""
        self._process.kill()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._listing.unlink(missing_ok=True)


SEGMENT = "segment.pickle"
"""What Whoosh says of a segment, handed from the process that wrote it to the one that takes it in."""


def index_share(root: str, index: str, folder: str, listing: str) -> None:
    """Write the segment of the files that a listing names, and say every now and then how many are done."""
    vault = open_vault(Path(root))
    with Path(listing).open(encoding="utf-8") as file:
        lacking = [Lacking(*json.loads(line)) for line in file]

    def say(done: int, _: int) -> None:
        print(done, flush=True)  # noqa: T201  (read by the process that started this one)

    made = _shown(entries(vault, lacking), len(lacking), say)
    segment = Index(Path(index), indexed.key(vault.settings.zone_name)).write_segment(Path(folder), made)
    (Path(folder) / SEGMENT).write_bytes(pickle.dumps(segment))


if __name__ == "__main__":
    index_share(*sys.argv[1:])

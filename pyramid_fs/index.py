"""The Whoosh index in the user's cache folder: which terms stand in which texts. Disposable; the only home of whoosh.

An index is a folder of segments that are never changed, Whoosh's list of them, and `meta.json`, written after each
commit, which says what the index stands for: the catalog's birth, how far in its changes, and size and checksum of
every file. Whatever does not fit is unusable, and is built afresh.

Only what is needed of Whoosh is used: its segments, its commits and its merging. Posting lists are read in whole
blocks, since scores are computed over all of them (a text's neighbours count for it), not over the best of each list.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
import warnings
from array import array
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

from pyramid_fs import files, indexed
from pyramid_fs.indexed import Facts, Meta

with warnings.catch_warnings():
    warnings.simplefilter("ignore", SyntaxWarning)  # Whoosh 2.7.4 is older than what they warn of
    from whoosh import columns, fields, formats
    from whoosh.codec.whoosh3 import W3Codec
    from whoosh.filedb.filestore import FileStorage
    from whoosh.index import TOC, FileIndex, clean_files
    from whoosh.reading import SegmentReader, TermNotFound
    from whoosh.util.numeric import byte_to_length, length_to_byte
    from whoosh.writing import SegmentWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pyramid_fs.texts import Entry

MANY = 24
"""Segments before some are merged: each costs a search some 50 µs a word."""
MERGED = 12
"""So many of the smallest are merged at once."""
SMALL = 2_000
"""Texts that a merge takes while somebody waits: merging costs more than indexing, some 2 ms a text."""
REMEMBERED = 4_000
"""Terms of a segment whose place is remembered."""
MOST = 64
"""Segments at which size is no reason any more."""
STALE = 0.2
"""A small segment with this share of its texts gone is merged away."""
RETRIES = 5
"""A reader that meets a commit finds a file gone and looks again."""
PAUSE = 0.02
LENGTHS = tuple(float(byte_to_length(byte)) for byte in range(256))
"""Words of a text by the byte that an index keeps of it."""
_NAME = "MAIN"
_FORMAT = formats.Existence()
Damage = Exception
"""Whatever a damaged index makes Whoosh raise: it can be anything, and always means the same."""


class _Counted(fields.FieldType):  # type: ignore[misc]
    """A field that is given its terms counted."""

    def __init__(self, *, scorable: bool) -> None:
        super().__init__(_FORMAT, None, scorable=scorable)

    def index(self, value: Mapping[str, int], **_: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        for term, count in value.items():
            yield term.encode(), count, float(count), b""


def _schema() -> fields.Schema:
    number = fields.COLUMN(columns.NumericColumn("I"))
    return fields.Schema(id=number, text=_Counted(scorable=True), facet=_Counted(scorable=False))


class Segment:
    """One segment, read: its texts' numbers and lengths are in memory, its terms on disk."""

    def __init__(self, folder: Path, storage: FileStorage, schema: fields.Schema, segment: Any) -> None:
        self.name = segment.segment_id()
        count = segment.doc_count_all()
        self.ids = _ids(folder, segment)
        self.bytes = _column(folder, segment, "_text_len").ljust(count, b"\0")
        for gone in segment.deleted_docs():
            self.ids[gone] = 0
        self.gone = segment.deleted_count()
        self.count = count - self.gone
        live = self.bytes if self.count == count else bytes(b for i, b in zip(self.ids, self.bytes, strict=True) if i)
        self.words = sum(LENGTHS[byte] * live.count(byte) for byte in set(live))
        self._infos: dict[tuple[str, bytes], Any] = {}
        self._reader = SegmentReader(storage, schema, segment)
        self._terms = self._reader._terms  # noqa: SLF001

    def close(self) -> None:
        """Let go of the files."""
        with contextlib.suppress(Damage):
            self._reader.close()

    def _info(self, field: str, term: bytes) -> Any:
        """Look up where a term's postings are; None for a term that is not here. Each is asked for several times."""
        key = (field, term)
        if key not in self._infos:
            if len(self._infos) >= REMEMBERED:
                self._infos.clear()
            try:
                self._infos[key] = self._terms.term_info(field, term)
            except TermNotFound:
                self._infos[key] = None
        return self._infos[key]

    def blocks(self, field: str, term: bytes) -> Iterator[tuple[Iterable[int], Sequence[float] | float]]:
        """Yield (places in the segment, how often) of a term; one number where all are the same."""
        info = self._info(field, term)
        if info is None:
            return
        matcher = self._terms._codec.postings_reader(self._terms._postfile, info, _FORMAT)  # noqa: SLF001
        while True:
            matcher._read_data()  # noqa: SLF001
            places, weights, _ = matcher._data  # noqa: SLF001
            yield accumulate(places), 1.0 if weights is None else weights
            if matcher._lastblock:  # noqa: SLF001
                return
            matcher._next_block()  # noqa: SLF001

    def having(self, term: bytes) -> int:
        """Count the texts that have a term."""
        if not self.gone:
            info = self._info("text", term)
            return int(info.doc_frequency()) if info else 0
        return sum(1 for places, _ in self.blocks("text", term) for at in places if self.ids[at])

    def live_terms_from(self, field: str, prefix: str) -> Iterator[str]:
        """Yield the terms that begin with a prefix and stand in a text that is not gone."""
        found = self.terms_from(field, prefix)
        return (term for term in found if self.having(term.encode())) if self.gone else found

    def terms_from(self, field: str, prefix: str) -> Iterator[str]:
        """Yield the terms that begin with a prefix."""
        for name, term in self._terms.terms_from(field, prefix.encode()):
            text = term.decode("utf-8", "replace")
            if name != field or not text.startswith(prefix):
                return
            yield text


class View:
    """An index as one commit left it. Searches of several threads take turns."""

    def __init__(self, meta: Meta, segments: list[Segment]) -> None:
        self.meta, self._segments = meta, segments
        self._lock = threading.Lock()
        self._kinds: dict[str, set[int]] = {}
        self.count = sum(segment.count for segment in segments)
        """Texts."""
        self.words = sum(segment.words for segment in segments)
        """Words of all of them."""

    @property
    def segments(self) -> dict[str, Segment]:
        """The segments by name."""
        return {segment.name: segment for segment in self._segments}

    def close(self, but: View | None = None) -> None:
        """Let go of the files, of those that another view reads too not."""
        for segment in self._segments:
            if but is None or segment not in but.segments.values():
                segment.close()

    def column(self, term: str, norms: Sequence[float], most: float) -> dict[int, float]:
        """Give BM25's saturated frequency of a term, by text: `f · most / (f + norm of the text's length)`."""
        found: dict[int, float] = {}
        with self._lock:
            for segment in self._segments:
                ids, lengths = segment.ids, segment.bytes
                for places, weights in segment.blocks("text", term.encode()):
                    if isinstance(weights, float):
                        found |= {ids[at]: weights * most / (weights + norms[lengths[at]]) for at in places}
                    else:
                        pairs = zip(places, weights, strict=True)
                        found |= {ids[at]: weight * most / (weight + norms[lengths[at]]) for at, weight in pairs}
        found.pop(0, None)
        return found

    def having(self, term: str) -> int:
        """Count the texts that have a term."""
        with self._lock:
            return sum(segment.having(term.encode()) for segment in self._segments)

    def facet(self, facet: str) -> set[int]:
        """Give the texts that have a facet; kinds are asked for again and again, and remembered."""
        if facet in self._kinds:
            return self._kinds[facet]
        found: set[int] = set()
        with self._lock:
            for segment in self._segments:
                for places, _ in segment.blocks("facet", facet.encode()):
                    found.update(map(segment.ids.__getitem__, places))
        found.discard(0)
        if facet.startswith("kind:"):
            self._kinds[facet] = found
        return found

    def begins(self, prefix: str, most: int) -> list[str]:
        """List the first terms that begin with a prefix, at most so many."""
        with self._lock:
            first = [islice(segment.live_terms_from("text", prefix), most) for segment in self._segments]
            return sorted(set(chain.from_iterable(first)))[:most]

    def has(self, number: int) -> bool:
        """Whether a text is in the index."""
        return any(number in segment.ids for segment in self._segments)

    def held(self, numbers: Iterable[int]) -> set[int]:
        """Tell which of some texts are in the index."""
        wanted = set(numbers)
        return wanted.intersection(chain.from_iterable(segment.ids for segment in self._segments))

    def words_of(self, numbers: Iterable[int]) -> float:
        """Count the words of some texts, as far as they are in the index."""
        found = [(segment, segment.ids.index(n)) for n in numbers for segment in self._segments if n in segment.ids]
        return sum(LENGTHS[segment.bytes[at]] for segment, at in found)


class Index:
    """The index of one vault: reading it, and writing it under `lock`."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder
        self._key = key
        self._schema = _schema()
        self._view: View | None = None
        self._mark: files.Sig | None = None

    @property
    def lock(self) -> Path:
        """The lock that a writer holds."""
        return self.folder / "lock"

    def close(self) -> None:
        """Let go of the files."""
        if self._view:
            self._view.close()
        self._view = self._mark = None

    # Reading

    def view(self) -> View | None:
        """Give the index as it was committed last; None where there is none that can be used."""
        for _ in range(RETRIES):
            mark = files.look(self.folder / indexed.META)
            if mark is None:
                self.close()
                return None
            if self._view and mark == self._mark:
                return self._view
            try:
                old, self._view = self._view, self._open()
            except Damage:  # damaged, or in the middle of a commit
                self.close()
                time.sleep(PAUSE)
                continue
            self._mark = mark
            if old:
                old.close(but=self._view)
            return self._view
        return None

    def meta(self) -> Meta | None:
        """Read what the index says of itself; None where it says nothing that can be used."""
        return indexed.read(self.folder, self._key)

    def _open(self) -> View:
        meta = self.meta()
        if meta is None:
            raise ValueError("it says nothing of itself")
        folder = self.folder / meta.folder
        storage = FileStorage(str(folder))
        generation = TOC._latest_generation(storage, _NAME)  # noqa: SLF001
        if generation == meta.generation and not indexed.fits(folder, meta):
            raise ValueError("a file is not as it was written")
        toc = TOC.read(storage, _NAME, schema=self._schema)
        if generation != meta.generation and not indexed.may_follow(folder, meta, generation, _prefixes(toc)):
            raise ValueError("a file is not as it was written")
        known = self._view.segments if self._view else {}
        with contextlib.ExitStack() as unless_read:
            segments = []
            for segment in toc.segments:
                same = known.get(segment.segment_id())
                if same and same.gone == segment.deleted_count():
                    segments.append(same)
                    continue
                segments.append(Segment(folder, storage, self._schema, segment))
                unless_read.callback(segments[-1].close)
            unless_read.pop_all()
        return View(meta, segments)

    def exists(self) -> bool:
        """Whether there is anything where the index lies, but for its lock."""
        try:
            with os.scandir(self.folder) as found:
                return any(entry.name != "lock" for entry in found)
        except OSError:
            return self.folder.exists()

    def is_said(self, meta: Meta) -> bool:
        """Whether the last commit is the one that was said of the index: no kill came between."""
        toc = TOC.read(FileStorage(str(self.folder / meta.folder)), _NAME, schema=self._schema)
        return bool(toc.generation == meta.generation)

    # Writing, under the lock

    def clear_way(self) -> None:
        """Remove a file that lies where the index's folder should be."""
        if self.folder.is_file():
            self.folder.unlink()

    def begin(self, birth: str) -> Meta:
        """Begin an empty index for a catalog; readers of the one before go on until they look again."""
        old = files.subfolders(self.folder, ".") if self.folder.is_dir() else []
        folder = self.folder / f"i-{os.urandom(4).hex()}"
        folder.mkdir(parents=True, mode=0o700)
        FileIndex.create(FileStorage(str(folder)), self._schema, _NAME)
        meta = self._keep_meta(folder, birth, 0, "", {})
        for name in old:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        return meta

    def apply(self, meta: Meta, gone: set[int], entries: Iterable[Entry], rev: int, token: str = "") -> Meta:
        """Take texts out and others in, as one commit that stands for the changes up to `rev`."""
        folder = self.folder / meta.folder
        writer = self._writer(folder)
        try:
            _delete(writer, folder, gone)
            for entry in entries:
                _add(writer, entry)
            writer.commit(mergetype=_merge)
        except BaseException:
            _abandon(writer)
            raise
        return self._keep_meta(folder, meta.birth, rev, token, meta.files)

    def write_segment(self, folder: Path, entries: Iterable[Entry]) -> Any:
        """Write one segment in a folder of its own, for a later `adopt`; give what Whoosh says of it.

        Not in the index's folder: Whoosh's temporary files have the same names in every process.
        """
        folder.mkdir(mode=0o700)
        FileIndex.create(FileStorage(str(folder)), self._schema, _NAME)
        writer = self._writer(folder)
        try:
            for entry in entries:
                _add(writer, entry)
            segment = writer._finalize_segment()  # noqa: SLF001
            writer._finish()  # noqa: SLF001
        except BaseException:
            _abandon(writer)
            raise
        return segment

    def adopt(self, meta: Meta, segment: Any, source: Path, gone: set[int], rev: int, token: str = "") -> Meta:
        """Take in a segment that was written in a folder of its own."""
        folder = self.folder / meta.folder
        for path in source.glob(f"{segment.segment_id()}.*"):
            path.replace(folder / path.name)
        storage = FileStorage(str(folder))
        toc = TOC.read(storage, _NAME, schema=self._schema)
        for before in toc.segments:
            _delete_from(before, folder, gone)
        kept = [before for before in toc.segments if before.deleted_count() < before.doc_count_all()]
        TOC(self._schema, [*kept, segment], toc.generation + 1).write(storage, _NAME)
        clean_files(storage, _NAME, toc.generation + 1, [*kept, segment])
        return self._keep_meta(folder, meta.birth, rev, token, meta.files)

    def _writer(self, folder: Path) -> SegmentWriter:
        index = FileIndex(FileStorage(str(folder)), schema=self._schema)
        return SegmentWriter(index, timeout=1.0, delay=0.01, compound=False)

    def _keep_meta(self, folder: Path, birth: str, rev: int, token: str, known: Mapping[str, Facts]) -> Meta:
        toc = TOC.read(FileStorage(str(folder)), _NAME, schema=self._schema)
        prefixes = _prefixes(toc)
        ours = (*prefixes, f"_{_NAME}_{toc.generation}.toc")
        names = [path.name for path in folder.iterdir() if path.name.startswith(ours)]
        if lost := {name for name in known if name.startswith(prefixes)} - set(names):
            raise ValueError(f"{min(lost)} is gone")
        facts = indexed.facts(folder, names, known)
        meta = Meta(self._key, birth, rev, token, folder.name, toc.generation, indexed.boot(), facts)
        indexed.keep(self.folder, meta)
        return meta


def _prefixes(toc: TOC) -> tuple[str, ...]:
    return tuple(f"{segment.segment_id()}." for segment in toc.segments)


def _column(folder: Path, segment: Any, name: str) -> bytes:
    path = folder / W3Codec.column_filename(segment, name)
    return path.read_bytes() if name == "id" or path.exists() else b""


def _ids(folder: Path, segment: Any) -> array[int]:
    """Give the texts' numbers, by their places in a segment; Whoosh writes them big-endian, and without gaps."""
    ids = array("I")
    ids.frombytes(_column(folder, segment, "id"))
    if sys.byteorder == "little":
        ids.byteswap()
    if len(ids) != segment.doc_count_all() or (len(ids) and not all(ids)):
        raise ValueError("a text has no number")
    return ids


def _add(writer: SegmentWriter, entry: Entry) -> None:
    writer.add_document(id=entry.id, text=entry.terms, facet=dict.fromkeys(entry.facets, 1))


def _delete(writer: SegmentWriter, folder: Path, gone: set[int]) -> None:
    for segment in writer.segments if gone else ():
        _delete_from(segment, folder, gone)


def _delete_from(segment: Any, folder: Path, gone: set[int]) -> None:
    ids = _ids(folder, segment)
    if len(gone) < 20:  # noqa: PLR2004  (a look through a large array takes a millisecond)
        places = [at for number in gone if number in ids for at in _places(ids, number)]
    else:
        places = [at for at, number in enumerate(ids) if number in gone]
    for at in places:
        segment.delete_document(at)


def _places(ids: array[int], number: int) -> list[int]:
    return [at for at, found in enumerate(ids) if found == number]


def _merge(writer: SegmentWriter, segments: list[Any]) -> list[Any]:
    """Decide which segments stay; the others are written into the new one."""
    live = [segment for segment in segments if segment.doc_count() > 0]
    taken = {id(s) for s in live if s.doc_count_all() <= SMALL and s.deleted_count() > STALE * s.doc_count_all()}
    if len(live) > MANY:
        smallest = sorted(live, key=_size)[:MERGED]
        if len(live) > MOST or sum(map(_size, smallest)) <= SMALL:
            taken |= {id(segment) for segment in smallest}
    for segment in live:
        if id(segment) in taken:
            reader = SegmentReader(writer.storage, writer.schema, segment)
            try:
                writer.add_reader(reader)
            finally:
                reader.close()
    return [segment for segment in live if id(segment) not in taken]


def _size(segment: Any) -> int:
    return int(segment.doc_count())


def _abandon(writer: SegmentWriter) -> None:
    """Drop a writer after a failure; Whoosh itself would keep the lock."""
    with contextlib.suppress(Damage):
        writer.cancel()
    with contextlib.suppress(Damage):
        if writer.writelock:
            writer.writelock.release()


def length_byte(count: int) -> int:
    """Give the byte that an index keeps of a text's length."""
    return int(length_to_byte(count))

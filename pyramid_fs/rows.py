"""A row of the catalog: a file's signature and its value, spelled as a line of JSON and read when it is asked for."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from pyramid_fs import times
from pyramid_fs.notes import Card, Curated, Dated, Entity, File, Kind, Note, Session, Shaped, Source, Summary

if TYPE_CHECKING:
    from pyramid_fs.files import Sig


_SHAPED: dict[str, type[Shaped]] = {"shaped": Shaped, "session": Session, "curated": Curated, "entity": Entity}


class Row:
    """What one file was, when it was read last."""

    __slots__ = ("_file", "_value", "doubt", "mark", "sig")

    def __init__(self, sig: Sig, doubt: bool, value: str, mark: str = "") -> None:  # noqa: FBT001
        self.sig, self.doubt, self.mark, self._value = sig, doubt, mark, value
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


def mark(data: bytes) -> str:
    """Give a short text that changes when a file's bytes do."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def encode(file: File | None) -> str:
    """Spell a value as one line of JSON: its kind, then its fields."""
    if file is None:
        return "null"
    return json.dumps(_fields(file), ensure_ascii=False, separators=(",", ":"))


def _fields(file: File) -> list[Any]:
    if isinstance(file, Note):
        created, touched = times.micros(file.created), times.micros(file.touched)
        return ["note", file.path, file.handle, created, file.dated, file.digest, file.chars, file.lines, touched,
                file.source, file.embed, file.title, file.problem, file.is_card]  # fmt: skip
    if isinstance(file, Summary):
        spans = [times.micros(t) for t in (file.created, file.span_from, file.span_to)]
        sources = [[s.link, s.digest, times.micros(s.date)] for s in file.sources]
        return ["summary", file.path, file.handle, file.tier, file.batch, *spans, file.note_count, sources, file.digest,
                file.chars, file.lines, file.summarizer, file.draft, file.problem]  # fmt: skip
    if isinstance(file, Card):
        return ["card", file.path, file.handle, file.description, file.archived, file.folded_into, file.problem]
    kind = next(kind for kind, made in _SHAPED.items() if type(file) is made)
    more = [getattr(file, field) for field in _SHAPED[kind].__dataclass_fields__][4:]
    return [kind, file.path, file.handle, file.kind, times.micros(file.created), *more]


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
    flat: list[Any] = [tuple(value) if isinstance(value, list) else value for value in more]
    return _SHAPED[kind](path, handle, Kind(what), time_of(created), *flat)

"""What of a file is searched: its words with what a person wrote beside them, and what it can be narrowed down by."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import layout, times, words
from pyramid_fs.format import as_text
from pyramid_fs.notes import Card, Dated, Note, Shaped, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime, tzinfo

    from pyramid_fs.format import Page
    from pyramid_fs.notes import File

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
"""A note is found by the month that it is of, as it is said: May 2023."""

_OWN = frozenset({"created", "date", "source", "type", "status", "kind", "archived", "folded_into", "confidence"})
"""Keys whose values are the store's, not words of a person."""
_LINE = re.compile(r"\s*(?:-\s+)?(?:([\w-]+):(?=\s|$))?(.*)")
"""A line of front matter: its key, and what stands after it."""
_SPEAKER = re.compile(r"\W{0,4}([^\W\d_][\w.'\u2019 -]{0,40}?)\W{0,3}:[*\s]")
"""`Anna: …` and `**Anna:** …` at the beginning of a text."""


class Entry(NamedTuple):
    """One text as an index holds it."""

    id: int
    """The catalog's number of the file."""
    terms: Mapping[str, int]
    """How often each term stands in it."""
    facets: tuple[str, ...]
    """What it can be narrowed down by, see `facets`."""


def entry(number: int, file: File, page: Page, zone: tzinfo) -> Entry | None:
    """Give what is searched of a file; None for an embed, whose text is another file's, with no word of its own."""
    if is_embed(file) and not any(text.strip() for text in beside(file, page)):
        return None
    return Entry(number, terms(file, page, zone), tuple(facets(file, page, zone)))


def terms(file: File, page: Page, zone: tzinfo) -> Counter[str]:
    """Count the terms of a file: its text, the texts in its front matter, its name, model and date as they are said."""
    counts = Counter(words.terms("" if is_embed(file) else page.body))
    values = Counter(term for text in beside(file, page) for term in words.terms(text))
    counts.update(values)
    counts.update({term: 1 for text in typed(file, page) for term in words.terms(text) if term not in values})
    counts.update(term for text in said(file, zone) for term in words.terms(text))
    counts.update(dict.fromkeys(wholes(file), 1))
    return counts


def beside(file: File, page: Page) -> Iterator[str]:
    """Yield what a person wrote in front matter; all of it where it can't be parsed, none of a summary's sums."""
    if file.problem and not page.keys:
        yield page.block
    elif not (isinstance(file, Summary) and not file.problem):
        yield from (text for key, value in page.keys.items() if key not in _OWN for text in _values(value))


def typed(file: File, page: Page) -> Iterator[str]:
    """Yield what else stands in front matter that could be parsed: comments, say, which are no values."""
    if page.keys and not isinstance(file, Summary):
        kept = (found for line in page.block.split("\n") if (found := _LINE.match(line)) and found[1] not in _OWN)
        yield "\n".join(found[2] for found in kept)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    else:
        yield as_text(value)


def said(file: File, zone: tzinfo) -> Iterator[str]:
    """Yield what a text does not say of itself: its name, where a person gave it, and the month that it is of."""
    if (name := layout.words_of(file.handle)) == file.handle and not isinstance(file, (Summary, Card)):
        yield name
    if isinstance(file, Note) and file.dated is not Dated.FILE:
        day = times.into(file.created, zone)
        yield f"{MONTHS[day.month - 1]} {day.year}"


def wholes(file: File) -> Iterator[str]:
    """Yield the terms by which a file is found under its handle and its source."""
    yield words.fold(file.handle)[: words.LONGEST]
    if isinstance(file, Note) and file.source:
        yield words.fold(file.source)[: words.LONGEST]


def facets(file: File, page: Page, zone: tzinfo) -> Iterator[str]:
    """Yield `kind:`, `model:`, `tier:`, the year, month and day of a text, and `who:` for speaker and model."""
    yield f"kind:{kind_of(file)}"
    parts = file.path.split("/")
    if parts[0] == layout.MODELS:
        yield f"model:{parts[1]}"
    if isinstance(file, Summary):
        yield f"tier:{file.tier}"
    yield from (f"who:{name}" for name in dict.fromkeys(who(file, page)))
    first, last = dates(file)
    if first and first == last:
        day = times.day(first, zone)
        yield from (f"day:{day[:size]}" for size in (4, 7, 10))


def who(file: File, page: Page) -> Iterator[str]:
    """Yield the names of those a text is by or about: its speaker, the words of its model's name."""
    if not isinstance(file, Note):
        return
    if speaker := _SPEAKER.match(page.body):
        yield from words.terms(speaker[1])
    yield from (term for term in words.terms(file.path.split("/")[1]) if not term.isdecimal())


def is_embed(file: File) -> bool:
    """Whether a file shows the text of another."""
    return isinstance(file, Note) and bool(file.embed)


def kind_of(file: File) -> str:
    """Name the kind of a file, as `--kind` takes it."""
    if isinstance(file, Note):
        return "note"
    if isinstance(file, Summary):
        return "summary"
    return "card" if isinstance(file, Card) else str(file.kind)


def dates(file: File) -> tuple[datetime | None, datetime | None]:
    """Give the first and the last time of what a file says; None where it has none."""
    if isinstance(file, Summary):
        return file.span_from, file.span_to
    if isinstance(file, (Note, Shaped)):
        return file.created, file.created
    return None, None

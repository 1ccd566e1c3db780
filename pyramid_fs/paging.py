"""What of an answer fits: whole items only, the rest named with the call that shows it; pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyramid_fs import bounds
from pyramid_fs.calls import SHELL
from pyramid_fs.errors import UsageError
from pyramid_fs.views import NAMED, PAGE_CHARS, Left

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyramid_fs.calls import Calls
    from pyramid_fs.context import Expanded, Hits, Map, Rollup, RollupSource, Text

TOO_LONG = "too long to be shown among others"
_SHORTEST = 400
"""Characters of a part of a long text, at the least: an answer that holds less is not worth a call."""
_STEPS = 16
"""So finely is looked for how much of a long text fits; it breaks before that, where something ends."""


def everything(_: object) -> bool:
    """Take an answer of any size."""
    return True


@dataclass(frozen=True, slots=True)
class Face:
    """How whoever asks is answered: how calls are spelled, and how much one answer holds."""

    calls: Calls = SHELL
    page_chars: int = PAGE_CHARS
    fits: Callable[[object], bool] = everything


def map_page(whole: Map, page: int, face: Face) -> Map:
    """Give a page of the map: models as far as they fit, the notes on the first page beside them."""
    if page == 1 and face.fits(whole):
        return whole
    start = 0
    for number in range(1, page):
        start += len(_models_from(whole, start, number, face).models)
        if start >= len(whole.models):
            raise UsageError(f"the map has no page {page}: its last is {number}")
    found = _models_from(whole, start, page, face)
    return (
        found
        if page > 1
        else bounds.most(0, len(whole.recent), lambda n: _with_notes(whole, found, n, face), face.fits)
    )


def _models_from(whole: Map, start: int, page: int, face: Face) -> Map:
    rest = whole.models[start:]

    def build(count: int) -> Map:
        names = [line.name for line in rest[count:]]
        left = (Left("models", len(names), 0, tuple(names[:NAMED]), face.calls.map_page(page + 1)),) if names else ()
        archived = () if start else whole.archived
        return replace(whole, models=rest[:count], archived=archived, recent=(), left=left)

    found = bounds.most(1, len(rest), build, face.fits)
    return found if face.fits(found) else replace(found, archived=())  # names of thousands that were put away


def _with_notes(whole: Map, found: Map, count: int, face: Face) -> Map:
    missed = whole.recent[count:]
    chars, handles = sum(len(text.text) for text in missed), tuple(text.handle for text in missed[:NAMED])
    models = list(dict.fromkeys(model for text in missed for model in text.models))[:NAMED]
    left = (Left("of the newest notes", len(missed), chars, handles, face.calls.load(models)),) if missed else ()
    return replace(found, recent=whole.recent[:count], left=(*found.left, *left, *whole.left))


def hits_page(found: Hits, rest: Callable[[int], str], face: Face) -> Hits:
    """Give as many hits as fit; `rest` spells the call for those from a place on, counted from the first shown."""

    def build(count: int) -> Hits:
        return replace(found, hits=found.hits[:count], next=rest(count) if count < len(found.hits) else found.next)

    return bounds.most(1, len(found.hits), build, face.fits)


def expanded_page(whole: Expanded, depth: int, page: int, face: Face) -> Expanded:
    """Give a page of what a handle leads to: its own text first, in parts where it is too long, then what is below."""
    last = 0
    for last, found in enumerate(_expanded_pages(whole, depth, face), 1):
        if last == page:
            return found
    raise UsageError(f"{whole.handle} has no page {page}: its last is {last}")


def _expanded_pages(whole: Expanded, depth: int, face: Face) -> Iterator[Expanded]:
    if face.fits(whole):
        yield whole
        return
    bare, number, shown = replace(whole, below=(), left=()), 0, 0
    parts = text_parts(whole.text.text, lambda text: face.fits(_part(bare, text, (_PLACE, _PLACE))))
    total, last = len(whole.text.text), next(parts)
    for following in parts:
        number, shown, text, last = number + 1, shown + len(last), last, following
        left = Left("of the text", 1, total - shown, (), face.calls.expand(whole.handle, number + 1, depth))
        yield _part(bare, text, (left,))
    below, huge = _apart(
        whole.below, lambda text: face.fits(replace(bare, text=replace(bare.text, text=""), below=(text,)))
    )
    named = tuple(_too_long(text, face.calls) for text in huge)
    first = _part(bare, last, named + whole.left)
    while True:
        number += 1
        found = _with_below(first, below, face.calls.expand(whole.handle, number + 1, depth), face)
        yield found
        below = below[len(found.below) :]
        if not below:
            return
        first = _part(bare, "", ())


_PLACE = Left("of the text", 1, 10_000_000, ("x" * 120,), "x" * 250)
"""Stands for what is named beside a part of a text, while it is measured."""


def _part(bare: Expanded, text: str, left: tuple[Left, ...]) -> Expanded:
    return replace(bare, text=replace(bare.text, text=text), left=left)


def _with_below(first: Expanded, below: Sequence[Text], call: str, face: Face) -> Expanded:
    def build(count: int) -> Expanded:
        rest = below[count:]
        chars, handles = sum(len(text.text) for text in rest), tuple(text.handle for text in rest[:NAMED])
        left = (Left("of what it is made from", len(rest), chars, handles, call),) if rest else ()
        return replace(first, below=tuple(below[:count]), left=(*left, *first.left))

    return bounds.most(0 if first.text.text else 1, len(below), build, face.fits)


def _apart(texts: Sequence[Text], fits: Callable[[Text], bool]) -> tuple[list[Text], list[Text]]:
    """Part texts that can be shown among others from those that can't."""
    fitting = [text for text in texts if fits(text)]
    return fitting, [text for text in texts if text not in fitting]


def _too_long(text: Text | RollupSource, calls: Calls) -> Left:
    return Left(TOO_LONG, 1, len(text.text), (text.handle,), calls.expand(text.handle))


def rollup_page(whole: Rollup, face: Face) -> Rollup:
    """Give a batch that is due with as many of its sources as fit, the shortest first; the others are named."""
    by_size = sorted(whole.items, key=lambda item: len(item.text))

    def build(count: int) -> Rollup:
        rest = by_size[count:]
        items = tuple(item for item in whole.items if item not in rest)
        return replace(whole, items=items, left=tuple(_too_long(item, face.calls) for item in rest))

    return bounds.most(0, len(by_size), build, face.fits)


def text_parts(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Break a text that is too long for an answer where a line, a sentence or a word ends; nothing is lost."""
    start = 0
    while cut := _cut(text[start:], fits):
        yield text[start : start + cut]
        start += cut
    yield text[start:]


def _cut(text: str, fits: Callable[[str], bool]) -> int:
    """Say where to break a text; 0 where all of it fits, or where it is short.

    What is tried grows from short texts on: to measure all that is left for each part would take minutes for a book.
    """
    size = _SHORTEST
    while size < len(text) and fits(text[: 2 * size]):
        size *= 2
    if size >= len(text):
        return 0
    size = len(bounds.most(0, _STEPS, lambda step: text[: size + size * step // _STEPS], fits))
    ends = (text.rfind(mark, size // 2, size) + len(mark) for mark in ("\n\n", "\n", "。", ". ", " "))
    return next((end for end in ends if end > size // 2), size)

"""What a view shows of a model within a budget: the cover always, then notes, then the ramp; never a part of a text."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyramid_fs import pyramid
from pyramid_fs.calls import SHELL
from pyramid_fs.notes import Dated, Note, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from pyramid_fs.calls import Calls
    from pyramid_fs.pyramid import State

NEWEST = 5
"""So many of the newest notes are shown whatever else is: the end of a model stays sharp."""
RAMP = 2
"""So many of the newest covered summaries of each lower tier are shown again, so that detail fades slowly."""
NAMED = 8
"""So many handles of what did not fit are named; the call that shows the rest stands beside them."""
PAGE_CHARS = 24_000
"""A page of a whole tier."""

_LEFT = {"tail": "notes that no summary has yet", "notes": "of the newest notes, summarized above"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a view shows, without its text."""

    path: str
    """Where the text lies: of an embed, the file of the note that it shows."""
    handle: str
    tier: int
    """Of a summary; -1 for a note."""
    notes: int
    """Versions of notes below it; 1 for a note."""
    span_from: datetime
    span_to: datetime
    chars: int
    lines: int
    dated: bool = True
    """Whether the date is one that the vault keeps; a file's time alone is not."""
    again: bool = False
    """Whether a summary in the view covers it already."""
    revised: bool = False
    source: str = ""
    problem: str = ""
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """What did not fit, and the exact call that shows it."""

    what: str
    count: int
    chars: int
    handles: tuple[str, ...]
    call: str


@dataclass(frozen=True, slots=True)
class View:
    """The entries of a view, summaries before notes, each oldest first, and what was left out."""

    model: str
    entries: tuple[Entry, ...]
    left: tuple[Left, ...]
    chars: int
    """Size of the entries as they are shown."""


def of_summary(summary: Summary, *, again: bool = False) -> Entry:
    """Make a summary's entry."""
    return Entry(
        path=summary.path,
        handle=summary.handle,
        tier=summary.tier,
        notes=summary.note_count,
        span_from=summary.span_from,
        span_to=summary.span_to,
        chars=summary.chars,
        lines=summary.lines,
        again=again,
        draft=summary.draft,
    )


def of_note(note: Note, state: State) -> Entry:
    """Make a note's entry."""
    again = note.path in state.covered
    return Entry(
        path=note.text_path or note.path,
        handle=note.handle,
        tier=-1,
        notes=1,
        span_from=note.created,
        span_to=note.created,
        chars=note.chars,
        lines=note.lines,
        dated=note.dated is not Dated.FILE or again or note.path in state.revised,
        again=again,
        revised=note.path in state.revised,
        source=note.source,
        problem=note.problem,
    )


def plan(
    state: State,
    budget: int,
    size: Callable[[Entry], int],
    *,
    calls: Calls = SHELL,
    page_chars: int = PAGE_CHARS,
    is_strict: bool = False,
) -> View:
    """Choose what a view of `budget` characters shows.

    The cover is whole whatever the budget says; then the newest notes, the rest of the tail from its newest, and the
    ramp, as far as each fits whole. Where it `is_strict` the cover, too, is only shown as far as it fits, from its top.
    """
    cover = [of_summary(summary) for summary in state.cover]
    room, missed_cover = budget - sum(size(entry) for entry in cover), list[Entry]()
    if is_strict and room < 0:
        from_top = sorted(cover, key=lambda e: (e.tier, e.span_to), reverse=True)
        cover, missed_cover, room = _fill(from_top, budget, size)
    newest = heapq.nlargest(NEWEST, state.notes, key=pyramid.by_age)
    sharp = {note.path for note in newest}
    wanted = [*newest, *(note for note in reversed(state.tail) if note.path not in sharp)]
    shown, missed, room = _fill([of_note(note, state) for note in wanted], room, size)
    ramp, missed_ramp, room = _fill(_ramp(state), room, size)
    return View(
        model=state.model,
        entries=(*_oldest_first([*cover, *ramp]), *_oldest_first(shown)),
        left=tuple(_left(state, [*missed_cover, *missed, *missed_ramp], size, calls, page_chars)),
        chars=budget - room,
    )


def _fill(entries: Iterable[Entry], room: int, size: Callable[[Entry], int]) -> tuple[list[Entry], list[Entry], int]:
    """Take each entry that fits in what room is left; give those taken, those not, and the room."""
    taken, missed = [], []
    for entry in entries:
        needed = size(entry) if entry.chars < room else room + 1
        if needed <= room:
            taken.append(entry)
            room -= needed
        else:
            missed.append(entry)
    return taken, missed, room


def _ramp(state: State) -> list[Entry]:
    """Give the newest covered summaries of each tier below the top, from the highest tier down."""
    covered: dict[int, list[Summary]] = {}
    for summary in state.active.values():
        if summary.handle in state.parents:
            covered.setdefault(summary.tier, []).append(summary)
    newest = (
        summary
        for tier in sorted(covered, reverse=True)
        for summary in heapq.nlargest(RAMP, covered[tier], key=lambda s: (s.span_to, s.span_from, s.handle))
    )
    return [of_summary(summary, again=True) for summary in newest]


def _oldest_first(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda e: (e.span_from, -e.tier, e.span_to, e.handle))


def _left(
    state: State, missed: Sequence[Entry], size: Callable[[Entry], int], calls: Calls, page_chars: int
) -> Iterator[Left]:
    """Name what did not fit, each kind with the page on which the oldest of it stands."""
    for which in dict.fromkeys(_whole_of(entry) for entry in missed):
        entries = [entry for entry in missed if _whole_of(entry) == which]
        what = _LEFT.get(which, "summaries" if not entries[0].again else "finer summaries of periods summarized above")
        page = _page_of(state, which, entries, size, page_chars)
        yield _left_out(what, entries, calls.tier(state.model, which, page))


def _whole_of(entry: Entry) -> str:
    """Name the whole, in the words of `tier`, that shows an entry which a view left out."""
    if entry.tier >= 0:
        return str(entry.tier)
    return "notes" if entry.again else "tail"


def _page_of(state: State, which: str, wanted: Sequence[Entry], size: Callable[[Entry], int], page_chars: int) -> int:
    keys = {(entry.path, entry.handle) for entry in wanted}
    pages = _pages(_of_tier(state, which), size, page_chars)
    return next(number for number, page in enumerate(pages, 1) if any((e.path, e.handle) in keys for e in page))


def _left_out(what: str, entries: list[Entry], call: str) -> Left:
    return Left(what, len(entries), sum(e.chars for e in entries), tuple(e.handle for e in entries[:NAMED]), call)


def tier(
    state: State,
    which: str,
    page: int,
    size: Callable[[Entry], int],
    budget: int = PAGE_CHARS,
    *,
    calls: Calls = SHELL,
) -> View:
    """Give one page of a whole tier: a tier's active summaries, all notes (`notes`), or the `tail`; oldest first.

    Pages count from 1. Each holds whole entries up to `budget` characters, and at least one.
    """
    pages = list(_pages(_of_tier(state, which), size, budget))
    shown = pages[page - 1] if page <= len(pages) else []
    rest = [entry for following in pages[page:] for entry in following]
    what = f"more of tier {which}" if which.isdigit() else f"more {which}"
    call = calls.tier(state.model, which, page + 1)
    left = (_left_out(what, rest, call),) if rest else ()
    return View(state.model, tuple(shown), left, sum(size(entry) for entry in shown))


def _of_tier(state: State, which: str) -> list[Entry]:
    if which == "notes":
        return [of_note(note, state) for note in sorted(state.notes, key=pyramid.by_age)]
    if which == "tail":
        return [of_note(note, state) for note in state.tail]
    chosen = sorted((s for s in state.active.values() if s.tier == int(which)), key=pyramid.by_span)
    return [of_summary(summary) for summary in chosen]


def _pages(entries: list[Entry], size: Callable[[Entry], int], budget: int) -> Iterable[list[Entry]]:
    page: list[Entry] = []
    used = 0
    for entry in entries:
        needed = size(entry)
        if page and used + needed > budget:
            yield page
            page, used = [], 0
        page.append(entry)
        used += needed
    if page:
        yield page

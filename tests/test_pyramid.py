"""The rule of the pyramid, sentence by sentence of FORMAT.md, on plain values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, permutations, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import pyramid
from pyramid_fs.notes import Dated, Note, Source, Summary
from pyramid_fs.pyramid import Batch, Files, Frontier, Index, Shape, State, derive

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

START = datetime(2026, 11, 1, tzinfo=UTC)
NOW = START + timedelta(days=300)
SMALL = Shape(batch_notes=3, batch_chars=100, fan_in=2)


def at(minute: float) -> datetime:
    return START + timedelta(minutes=minute)


def note(
    name: str,
    minute: float = 0,
    digest: str = "",
    *,
    chars: int = 10,
    dated: Dated = Dated.KEY,
    touched: datetime = START,
    problem: str = "",
) -> Note:
    """A note `name` of the model m; its text, unless a digest says otherwise, is its own."""
    return Note(
        path=f"models/m/{name}.md",
        handle=name.rsplit("/", 1)[-1],
        created=at(minute),
        dated=dated,
        digest=digest or f"text of {name}",
        chars=chars,
        lines=1,
        touched=touched,
        problem=problem,
    )


def unreadable(name: str) -> Note:
    return replace(note(name, problem="it can't be read"), digest="")


def batch(handle: str, *notes: Note, minute: float = 60, links: Sequence[str] = ()) -> Summary:
    """A tier-0 summary of the notes as they are."""
    sources = [
        Source(link, n.digest, n.created) for n, link in zip(notes, links or [n.handle for n in notes], strict=True)
    ]
    return _summary(handle, 0, sources, minute, [n.created for n in notes])


def rollup(handle: str, *below: str | Summary, tier: int = 1, minute: float = 120) -> Summary:
    """A summary of summaries, each given or, where it is not here, named by its handle."""
    sources = [Source(s, "?", at(0)) if isinstance(s, str) else Source(s.handle, s.digest, s.created) for s in below]
    spans = [date for s in below for date in ([at(0)] if isinstance(s, str) else [s.span_from, s.span_to])]
    return _summary(handle, tier, sources, minute, spans)


def _summary(handle: str, tier: int, sources: Sequence[Source], minute: float, dates: Sequence[datetime]) -> Summary:
    return Summary(
        path=f"models/m/tier-{tier}/{handle}.md",
        handle=handle,
        tier=tier,
        batch=1,
        created=at(minute),
        span_from=min(dates),
        span_to=max(dates),
        note_count=len(sources),
        sources=tuple(sources),
        digest=f"text of {handle}",
        chars=100,
        lines=1,
    )


def state(*files: Note | Summary, retired: Iterable[str] = ()) -> State:
    notes = tuple(file for file in files if isinstance(file, Note))
    summaries = tuple(file for file in files if isinstance(file, Summary))
    return derive(Files("m", notes, summaries, frozenset(retired)))


def handles(files: Iterable[Note | Summary]) -> list[str]:
    return [file.handle for file in files]


def plan(found: State, shape: Shape = SMALL, now: datetime = NOW, *, settled: bool = False) -> list[tuple[int, str]]:
    """Give what is due, each batch as its tier and its sources."""
    return [(b.tier, " ".join(handles(b.sources))) for b in pyramid.plan(found, shape, now, settled=settled)]


# Rule 1: a batch of notes


def test_the_tenth_note_closes_a_batch_and_nine_wait() -> None:
    notes = [note(f"n{number:02d}", number) for number in range(10)]
    assert plan(state(*notes[:9]), Shape()) == []
    assert plan(state(*notes), Shape()) == [(0, " ".join(handles(notes)))]


def test_the_note_that_crosses_the_limit_of_characters_is_the_last_of_its_batch() -> None:
    notes = [note("a", 1, chars=4000), note("b", 2, chars=3999), note("c", 3, chars=1), note("d", 4, chars=5)]
    assert plan(state(*notes[:2], notes[3]), Shape()) == [(0, "a b d")]
    assert plan(state(*notes), Shape()) == [(0, "a b c")]
    assert plan(state(*notes[:2]), Shape()) == []


def test_one_huge_note_is_a_batch_alone() -> None:
    assert plan(state(note("small", 2), note("huge", 1, chars=200_000)), Shape()) == [(0, "huge")]


def test_a_huge_note_takes_the_older_ones_that_wait_with_it() -> None:
    assert plan(state(note("old", 1), note("huge", 2, chars=8000), note("new", 3)), Shape()) == [(0, "old huge")]


def test_a_batch_takes_the_oldest_notes_by_date_then_handle() -> None:
    notes = [note("z", 1), note("c", 2), note("a", 2), note("b", 2)]
    assert plan(state(*notes)) == [(0, "z a b")]


def test_the_numbers_of_the_defaults_are_those_of_the_format_page() -> None:
    shape = Shape()
    assert (shape.batch_notes, shape.batch_chars, shape.fan_in) == (10, 8000, 5)
    assert [shape.target(tier) for tier in range(6)] == [600, 800, 1000, 1200, 1200, 1200]


# Rule 2: roll-ups


def test_roll_ups_that_are_due_come_before_the_next_batch_of_notes() -> None:
    notes = [note(f"n{number:02d}", number) for number in range(15)]
    tiers = [tier for tier, _ in plan(state(*notes))]
    assert tiers == [0, 0, 1, 0, 0, 1, 2, 0]


def test_a_roll_up_takes_the_oldest_by_span_from_then_span_to_then_handle() -> None:
    early_long = batch("d", note("a", 1), note("b", 9))
    early_short = batch("c", note("e", 1), note("f", 2))
    late = batch("a", note("g", 5), note("h", 6))
    late_twin = batch("b", note("i", 5), note("j", 6))
    found = state(late, late_twin, early_long, early_short)
    assert plan(found, Shape(fan_in=3)) == [(1, "c d a")]
    assert plan(found, Shape(fan_in=4)) == [(1, "c d a b")]


def test_four_summaries_wait_and_five_are_rolled_up() -> None:
    batches = [batch(f"s{number}", note(f"n{number}", number)) for number in range(5)]
    assert plan(state(*batches[:4]), Shape()) == []
    assert plan(state(*batches), Shape()) == [(1, "s0 s1 s2 s3 s4")]


def test_only_summaries_that_no_active_summary_names_are_rolled_up() -> None:
    first, second, third = (batch(f"s{number}", note(f"n{number}", number)) for number in range(3))
    assert plan(state(first, second, third, rollup("r", first, second))) == []


def test_tiers_have_no_top() -> None:
    notes = [note(f"n{number:04d}", number) for number in range(3 * 2**9)]
    assert max(tier for tier, _ in plan(state(*notes))) == 9


def test_a_late_summary_of_an_old_period_is_rolled_up_first() -> None:
    late = batch("late", note("old", -100), minute=500)
    found = state(batch("a", note("n1", 1)), batch("b", note("n2", 2)), late)
    assert plan(found) == [(1, "late a")]


def test_a_batch_sums_the_notes_and_the_span_below_it() -> None:
    low, high = batch("low", note("a", 1), note("b", 7)), batch("high", note("c", 3))
    roll = next(pyramid.plan(state(low, high), SMALL, NOW))
    assert (roll.note_count, roll.span) == (3, (at(1), at(7)))
    notes = Batch("m", 0, (note("x", 5), note("y", 4)))
    assert (notes.note_count, notes.span) == (2, (at(4), at(5)))


def test_growth_one_by_one_is_the_growth_that_was_planned() -> None:
    found = state(*(note(f"n{number:02d}", number) for number in range(14)))
    frontier, numbers, grown = Frontier(found, SMALL, found.tail), count(), []
    files: list[Note | Summary] = [*found.notes]
    while due := frontier.due():
        made = _made(due, next(numbers), Index(found.notes))
        frontier.take(due, made)
        files.append(made)
        grown.append((due.tier, len(due.sources)))
    after = state(*files)
    assert [(b.tier, len(b.sources)) for b in pyramid.plan(found, SMALL, NOW)] == grown
    assert plan(after) == []
    assert (len(after.covered), len(after.tail)) == (12, 2)


def _made(due: Batch, number: int, index: Index[Note]) -> Summary:
    """Stand in for the summary that a batch is made to."""
    start, end = due.span
    sources = [Source(index.link(s) if isinstance(s, Note) else s.handle, s.digest, s.created) for s in due.sources]
    made = _summary(f"m-t{due.tier}-{number:05d}", due.tier, sources, 0, [start, end])
    return replace(made, created=NOW + timedelta(minutes=number), note_count=due.note_count)


# Rule 4: losers, waiting, active


def test_of_two_summaries_of_one_version_the_earlier_is_active_and_the_other_loses() -> None:
    a, b, c = note("a", 1), note("b", 2), note("c", 3)
    found = state(a, b, c, batch("late", b, c, minute=70), batch("early", a, b, minute=60))
    assert list(found.active) == ["early"]
    assert handles(found.losers) == ["late"]
    assert handles(found.tail) == ["c"]


def test_equal_times_are_settled_by_the_handle() -> None:
    a = note("a")
    found = state(a, batch("y", a), batch("x", a))
    assert (list(found.active), handles(found.losers)) == (["x"], ["y"])


def test_a_loser_takes_nothing_so_that_a_third_may_be_active() -> None:
    a, b, c = note("a", 1), note("b", 2), note("c", 3)
    found = state(a, b, c, batch("s1", a, minute=60), batch("s2", a, b, minute=61), batch("s3", b, c, minute=62))
    assert (list(found.active), handles(found.losers)) == (["s1", "s3"], ["s2"])
    assert found.tail == ()


def test_two_versions_of_a_note_may_both_be_summarized() -> None:
    old, new = note("a", 1, "old"), note("a", 1, "new")
    found = state(new, batch("s1", old, minute=60), batch("s2", new, minute=61))
    assert (list(found.active), found.covered) == (["s1", "s2"], {new.path: "s2"})


def test_the_same_text_in_two_notes_is_two_versions() -> None:
    one, two = note("a", 1, "same"), note("b", 2, "same")
    found = state(one, two, batch("s1", one, minute=60), batch("s2", two, minute=61))
    assert list(found.active) == ["s1", "s2"]


def test_a_note_that_is_gone_still_counts_as_a_source() -> None:
    gone = note("a", 1)
    found = state(batch("s1", gone, minute=60), batch("s2", gone, note("b", 2), minute=61))
    assert handles(found.losers) == ["s2"]


def test_links_are_compared_by_the_files_they_mean_and_not_by_their_spelling() -> None:
    deep = note("trips/beans", 1)
    found = state(deep, batch("s1", deep, minute=60), batch("s2", deep, minute=61, links=["trips/beans"]))
    assert handles(found.losers) == ["s2"]


def test_a_roll_up_of_a_loser_loses_and_its_other_sources_stand_in_the_cover() -> None:
    a, b, c = note("a", 1), note("b", 2), note("c", 3)
    first, loser, other = batch("s1", a, minute=60), batch("s2", a, b, minute=61), batch("s3", c, minute=62)
    found = state(a, b, c, first, loser, other, rollup("r", loser, other))
    assert handles(found.losers) == ["s2", "r"]
    assert handles(found.cover) == ["s1", "s3"]
    assert handles(found.tail) == ["b"]


def test_of_two_roll_ups_of_one_summary_the_earlier_takes_it() -> None:
    low = [batch(f"s{number}", note(f"n{number}", number), minute=60 + number) for number in range(3)]
    found = state(*low, rollup("r2", low[1], low[2], minute=121), rollup("r1", low[0], low[1], minute=120))
    assert handles(found.losers) == ["r2"]
    assert handles(found.cover) == ["r1", "s2"]
    assert found.parents == {"s0": "r1", "s1": "r1"}


def test_a_roll_up_of_a_retired_summary_loses_wherever_that_lies() -> None:
    low, kept = batch("s1", note("a")), batch("s2", note("b"), minute=61)
    only_retired = state(kept, rollup("r", "s1", kept), retired=["s1"])
    in_both = state(low, kept, rollup("r", low, kept), retired=["s1"])
    assert handles(only_retired.losers) == handles(in_both.losers) == ["r"]
    assert list(only_retired.active) == list(in_both.active) == ["s2"]


def test_a_handle_in_both_places_is_retired() -> None:
    a = note("a")
    found = state(a, batch("s1", a), retired=["s1"])
    assert (found.active, found.losers, handles(found.tail)) == ({}, (), ["a"])


def test_a_broken_summary_that_is_retired_holds_nothing_up() -> None:
    broken = replace(batch("s1", note("a")), problem="it has no text")
    assert state(broken, retired=["s1"]).is_held == []


def test_a_roll_up_waits_for_a_summary_that_is_not_here_and_takes_nothing() -> None:
    here = batch("s1", note("a"))
    found = state(here, rollup("r", here, "s2"))
    assert found.waiting == {"r": "its source s2 is not here, or can't be read"}
    assert handles(found.cover) == ["s1"]


def test_a_roll_up_waits_for_one_that_waits() -> None:
    middle = rollup("r", "s1", "s2")
    found = state(middle, rollup("top", middle, tier=2, minute=180))
    assert found.waiting["top"] == "its source r waits itself"


def test_a_roll_up_waits_for_a_broken_summary() -> None:
    broken = replace(batch("s1", note("a")), problem="broken", sources=())
    assert list(state(broken, rollup("r", broken)).waiting) == ["r"]


def test_losing_goes_before_waiting() -> None:
    a = note("a")
    first, loser = batch("s1", a, minute=60), batch("s2", a, minute=61)
    found = state(a, first, loser, rollup("r", "absent", loser))
    assert (handles(found.losers), found.waiting) == (["s2", "r"], {})


def test_a_source_of_another_tier_is_no_source() -> None:
    low = batch("s1", note("a"))
    assert list(state(low, rollup("r", low, tier=2)).waiting) == ["r"]


def test_a_model_with_a_waiting_summary_does_not_grow() -> None:
    notes = [note(f"n{number}", number) for number in range(3)]
    held = state(*notes, rollup("r", "s1"))
    assert held.is_held == ["r waits: its source s1 is not here, or can't be read"]
    assert plan(held) == []


def test_a_model_with_a_broken_summary_does_not_grow_also_with_nothing_above_it() -> None:
    notes = [note(f"n{number}", number) for number in range(3)]
    broken = replace(batch("s1", notes[0]), problem="it has no text", sources=())
    held = state(*notes, broken)
    assert held.is_held == ["s1 is broken: it has no text"]
    assert (plan(held), len(held.tail)) == ([], 3)


def test_the_model_grows_again_when_the_file_arrives() -> None:
    notes = [note(f"n{number}", number) for number in range(4)]
    low = batch("s1", notes[3])
    assert plan(state(*notes, rollup("r", "s1"))) == []
    assert plan(state(*notes, low, rollup("r", low))) == [(0, "n0 n1 n2")]


def test_the_cover_is_what_no_active_summary_names_oldest_first() -> None:
    low = [batch(f"s{number}", note(f"n{number}", 9 - number), minute=60 + number) for number in range(3)]
    assert handles(state(*low).cover) == ["s2", "s1", "s0"]
    assert handles(state(*low, rollup("r", low[1], low[2])).cover) == ["r", "s0"]


def test_the_sources_of_a_summary_are_given_by_path_and_what_is_gone_by_handle() -> None:
    here, gone = note("a"), note("b", 1)
    low = batch("s1", here, gone)
    found = state(here, low, rollup("r", low))
    assert found.sources == {"s1": ("models/m/a.md", "?b"), "r": ("s1",)}


# Rule 6: revised notes


def test_an_edited_note_is_tail_again_and_marked_and_its_old_version_stays_covered() -> None:
    old, new = note("a", 1, "old"), note("a", 1, "new")
    found = state(new, batch("s1", old))
    assert (handles(found.tail), found.revised) == (["a"], frozenset({new.path}))
    assert (list(found.active), found.covered, found.missing) == (["s1"], {}, ())


def test_a_note_that_goes_back_to_its_first_version_is_covered_by_its_first_summary() -> None:
    old, new = note("a", 1, "A"), note("a", 1, "B")
    found = state(old, batch("s1", old, minute=60), batch("s2", new, minute=61))
    assert (found.covered, found.tail, found.revised) == ({old.path: "s1"}, (), frozenset())


def test_a_revised_note_is_taken_once_it_has_been_quiet_for_a_day() -> None:
    new = note("a", 1, "new", chars=500, touched=at(0))
    found = state(new, batch("s1", note("a", 1, "old")))
    assert plan(found, now=at(0) + timedelta(hours=24, seconds=-1)) == []
    assert plan(found, now=at(0) + timedelta(hours=24)) == [(0, "a"), (1, "planned-000000001 s1")]


def test_a_clock_that_was_set_back_does_not_hold_a_revised_note_for_ever() -> None:
    new = note("a", 1, "new", chars=500, touched=at(0) + timedelta(days=400))
    found = state(new, batch("s1", note("a", 1, "old")))
    assert [tier for tier, _ in plan(found, now=at(0))] == [0, 1]


def test_a_revised_note_that_rests_holds_up_no_other() -> None:
    rests = note("a", 1, "new", touched=NOW)
    others = [note(name, 2) for name in "bcd"]
    assert plan(state(rests, *others, batch("s1", note("a", 1, "old"))), Shape(batch_notes=3)) == [(0, "b c d")]


# Settled notes


def test_growth_in_the_background_leaves_a_new_file_its_quiet_time() -> None:
    fresh = note("a", chars=500, touched=at(5))
    assert plan(state(fresh), now=at(5) + timedelta(seconds=29), settled=True) == []
    assert plan(state(fresh), now=at(5) + timedelta(seconds=30), settled=True) == [(0, "a")]


def test_growth_that_a_person_asks_for_takes_new_files_at_once() -> None:
    assert plan(state(note("a", chars=500, touched=NOW))) == [(0, "a")]


def test_a_note_as_the_store_wrote_it_needs_no_quiet_time() -> None:
    own = note("2026-11-01-000000-said-k3f9", chars=500, touched=at(0) + timedelta(seconds=4))
    assert plan(state(own), now=at(0) + timedelta(seconds=5), settled=True) == [(0, own.handle)]


@pytest.mark.parametrize(
    "edited",
    [
        note("2026-11-01-000000-said-k3f9", chars=500, touched=at(5)),
        note("2026-11-01-000000-said-k3f9", 1, chars=500, touched=at(5)),
        note("2026-11-01-000000-said-k3f9", chars=500, touched=at(5), dated=Dated.NAME),
    ],
    ids=["touched since", "of another time than its name", "without created"],
)
def test_a_note_of_the_store_that_a_person_has_been_at_needs_it(edited: Note) -> None:
    assert plan(state(edited), now=at(5) + timedelta(seconds=20), settled=True) == []
    assert plan(state(edited), now=at(5) + timedelta(seconds=31), settled=True) == [(0, edited.handle)]


def test_a_problem_is_in_the_tail_and_no_batch_takes_it() -> None:
    notes = [note("a", 1, problem="its `created` can't be read"), *(note(name, 2) for name in "bcd")]
    found = state(*notes)
    assert handles(found.tail) == ["a", "b", "c", "d"]
    assert plan(found) == [(0, "b c d")]


def test_a_note_that_can_no_longer_be_read_stays_covered() -> None:
    found = state(unreadable("a"), batch("s1", note("a")))
    assert (found.covered, found.tail) == ({"models/m/a.md": "s1"}, ())
    assert handles(state(unreadable("b"), batch("s1", note("a"))).tail) == ["b"]


# Rule 5, and dates that bind


def test_a_back_dated_note_waits_like_all_others_and_nothing_is_batched_again() -> None:
    notes = [note(f"n{number}", number + 10) for number in range(3)]
    found = state(*notes, batch("s1", *notes), note("old", 1), note("new", 50))
    assert handles(found.tail) == ["old", "new"]
    assert plan(found) == []


def test_the_date_that_was_recorded_binds_a_note_that_only_its_file_dates() -> None:
    read = note("a", 1, dated=Dated.FILE)
    moved = note("a", 900, dated=Dated.FILE)
    assert state(moved, batch("s1", read)).notes[0].created == at(1)


def test_the_first_active_summary_binds_and_dates_later_versions_too() -> None:
    first, second, now = (note("a", minute, f"v{minute}", dated=Dated.FILE) for minute in (1, 2, 3))
    found = state(now, batch("s2", second, minute=61), batch("s1", first, minute=60))
    assert (found.tail[0].created, found.revised) == (at(1), frozenset({now.path}))
    lost = batch("s0", first, note("x"), minute=62)
    assert state(now, lost, batch("s2", second, minute=61)).tail[0].created == at(2)


def test_the_date_of_a_loser_binds_nothing() -> None:
    x, read = note("x"), note("a", 1, dated=Dated.FILE)
    found = state(x, note("a", 900, dated=Dated.FILE), batch("s1", x, minute=60), batch("s2", x, read, minute=61))
    assert next(n for n in found.notes if n.handle == "a").created == at(900)


@pytest.mark.parametrize("dated", [Dated.KEY, Dated.NAME])
def test_a_date_that_the_note_says_itself_is_never_bound(dated: Dated) -> None:
    assert state(note("a", 900, dated=dated), batch("s1", note("a", 1))).notes[0].created == at(900)


def test_a_bound_date_orders_the_tail() -> None:
    read, now = note("a", 1, "old", dated=Dated.FILE), note("a", 900, "new", dated=Dated.FILE)
    assert handles(state(note("b", 5), now, batch("s1", read)).tail) == ["a", "b"]


# Rules 7 and 9: what is gone, and what was renamed


def test_a_note_that_is_gone_leaves_its_summary_active_and_is_named_as_missing() -> None:
    here, gone = note("a"), note("b", 1)
    found = state(here, batch("s1", here, gone))
    assert list(found.active) == ["s1"]
    assert [(handle, source.link) for handle, source in found.missing] == [("s1", "b")]


def test_a_renamed_note_is_matched_by_its_digest() -> None:
    renamed = note("new-name", 1, "same")
    found = state(renamed, batch("s1", note("old-name", 1, "same")))
    assert (found.covered, found.tail, found.missing) == ({renamed.path: "s1"}, (), ())
    assert found.sources["s1"] == (renamed.path,)


def test_a_renamed_and_edited_note_is_new_and_the_old_one_is_missing() -> None:
    found = state(note("new-name", 1, "new"), batch("s1", note("old-name", 1, "old")))
    assert (handles(found.tail), len(found.missing)) == (["new-name"], 1)


def test_one_note_a_link_in_the_order_of_summaries_and_of_notes() -> None:
    young, old = note("y", 2, "same"), note("x", 1, "same")
    gone = [batch("s2", note("q", 1, "same"), minute=61), batch("s1", note("p", 1, "same"), minute=60)]
    assert state(young, old, *gone).covered == {old.path: "s1", young.path: "s2"}
    only_one = state(young, *gone)
    assert only_one.covered == {young.path: "s1"}
    assert [handle for handle, _ in only_one.missing] == ["s2"]


def test_a_note_that_a_summary_names_by_handle_is_not_matched_to_another_link() -> None:
    kept = note("a", 1, "same")
    found = state(kept, batch("s1", kept, minute=60), batch("s2", note("gone", 1, "same"), minute=61))
    assert (found.covered, len(found.missing)) == ({kept.path: "s1"}, 1)


def test_a_note_of_which_another_version_is_named_may_be_matched() -> None:
    kept = note("a", 1, "new")
    found = state(kept, batch("s1", note("a", 1, "old"), minute=60), batch("s2", note("gone", 1, "new"), minute=61))
    assert found.covered == {kept.path: "s2"}


def test_a_renamed_note_that_only_its_file_dates_keeps_the_date_that_binds() -> None:
    renamed = note("new-name", 900, "same", dated=Dated.FILE)
    assert state(renamed, batch("s1", note("old-name", 1, "same", dated=Dated.FILE))).notes[0].created == at(1)


def test_a_note_without_a_known_text_is_matched_to_no_link() -> None:
    found = state(unreadable("a"), batch("s1", replace(note("gone"), digest="")))
    assert handles(found.tail) == ["a"]


# Links


def test_a_link_means_a_note_wherever_it_lies_in_its_model() -> None:
    found = state(note("trips/2026/beans", 1), batch("s1", note("beans", 1, "text of trips/2026/beans")))
    assert list(found.covered) == ["models/m/trips/2026/beans.md"]


def test_a_link_with_a_path_means_the_file_whose_path_ends_so() -> None:
    one, two = note("a/day", 1), note("b/day", 2)
    found = state(one, two, batch("s1", two, links=["b/day"]))
    assert found.covered == {two.path: "s1"}
    assert Index([one, two]).find("c/day") == []


def test_of_several_notes_that_a_link_may_mean_the_one_with_the_same_text_is_meant() -> None:
    one, two = note("a/day", 1, "one"), note("b/day", 2, "two")
    assert state(one, two, batch("s1", note("day", 2, "two"))).covered == {two.path: "s1"}


def test_a_link_takes_as_much_of_the_path_as_makes_it_unique() -> None:
    notes = [note("day"), note("x/a/day"), note("y/a/day"), note("y/b/day"), note("beans")]
    index = Index(notes)
    assert [index.link(n) for n in notes] == ["m/day", "x/a/day", "y/a/day", "b/day", "beans"]
    assert all(index.find(index.link(n)) == [n] for n in notes)


def test_links_and_paths_are_compared_composed() -> None:
    decomposed = Note("models/m/cafe\u0301/day.md", "day", at(0), Dated.KEY, "x", 1, 1, START)
    index = Index([decomposed, note("day")])
    assert index.link(decomposed) == "caf\u00e9/day"
    assert index.find("caf\u00e9/day") == [decomposed]


def test_a_file_whose_whole_path_is_another_ones_end_still_gets_a_link() -> None:
    short = Note("a/day.md", "day", at(0), Dated.KEY, "x", 1, 1, START)
    long = Note("b/a/day.md", "day", at(0), Dated.KEY, "y", 1, 1, START)
    assert Index([short, long]).link(short) == "a/day"
    assert Index([short, long]).link(long) == "b/a/day"


# Looking up and down


def test_ancestors_lead_from_a_summary_to_the_cover() -> None:
    low = batch("s1", note("a"))
    middle = rollup("r", low)
    found = state(low, middle, rollup("t", middle, tier=2, minute=180))
    assert pyramid.ancestors(found, "s1") == ["r", "t"]
    assert pyramid.ancestors(found, "t") == []


def test_leaves_are_the_notes_below_all_tiers_down() -> None:
    a, b = note("a", 1), note("b", 2)
    one, two = batch("s1", a, minute=60), batch("s2", b, minute=61)
    found = state(a, one, two, rollup("r", one, two))
    below = [(handle, path) for handle, path, _ in pyramid.leaves(found, ["r", "unknown"])]
    assert below == [("s1", "models/m/a.md"), ("s2", "?b")]


# The whole: a pure function of the files


def test_the_state_is_the_same_in_whatever_order_the_files_are_read() -> None:
    a, b, moved = note("a", 1), note("b", 2), note("x/c", 3, "c")
    low = [
        batch("s1", a, minute=60),
        batch("s2", a, b, minute=60),
        batch("s3", note("c", 3, "c"), minute=61),
        replace(batch("s4", b), problem="broken"),
        replace(batch("s5", b), problem="broken too"),
    ]
    orders = product(permutations([a, b, moved]), permutations(low))
    assert len({repr(state(*notes, *summaries, retired=["s9"])) for notes, summaries in orders}) == 1


def _meant(link: tuple[str, str]) -> tuple[str, str]:
    """Give what two links of one summary may not have in common: the store never writes such a pair."""
    return (link[0].rsplit("/", 1)[-1], link[1])


@st.composite
def vaults(draw: st.DrawFn) -> list[Note | Summary]:
    """Draw a model as merges leave it: notes of several versions, gone ones, and summaries of any of them."""
    versions = st.sampled_from("ABC")
    names = st.sampled_from(["a", "b", "c", "d", "x/a", "y/b"])
    dated = st.sampled_from(Dated)
    minutes = st.integers(0, 5)
    notes = {
        name: note(name, draw(minutes), draw(versions), dated=draw(dated))
        for name in draw(st.lists(names, unique=True, max_size=6))
    }
    made: list[Summary] = []
    for number in range(draw(st.integers(0, 7))):
        named = draw(st.lists(st.tuples(names, versions), unique_by=_meant, min_size=1, max_size=3))
        sources = [note(name, draw(minutes), digest) for name, digest in named]
        made.append(batch(f"s{number}", *sources, minute=60 + draw(minutes), links=[name for name, _ in named]))
    for tier in (1, 2):
        below = [s.handle for s in made if s.tier == tier - 1] + ["absent"]
        for number in range(draw(st.integers(0, 3))):
            named_below = draw(st.lists(st.sampled_from(below), unique=True, min_size=1, max_size=2))
            made.append(rollup(f"r{tier}{number}", *named_below, tier=tier, minute=120 * tier + draw(minutes)))
    broken = [replace(s, problem="broken") if draw(st.integers(0, 9)) == 0 else s for s in made]
    return [*notes.values(), *broken]


@given(vaults(), st.randoms(use_true_random=False), st.sets(st.sampled_from(["s0", "s1", "r10"])))
def test_any_files_in_any_order_give_one_state_that_counts_each_version_once(
    files: list[Note | Summary],
    random: Random,
    retired: set[str],
) -> None:
    found = state(*files, retired=retired)
    shuffled = list(files)
    random.shuffle(shuffled)
    assert repr(state(*shuffled, retired=retired)) == repr(found)
    _counts_once(found)
    assert not set(found.active) & retired


def _counts_once(found: State) -> None:
    assert {n.path for n in found.tail} | set(found.covered) == {n.path for n in found.notes}
    assert len(found.tail) + len(found.covered) == len(found.notes)
    below = [
        (path, source.digest) for summary in found.cover for _, path, source in pyramid.leaves(found, [summary.handle])
    ]
    named = [version for version in below if not version[0].startswith("?")]
    assert len(named) == len(set(named))
    current = {(n.path, n.digest) for n in found.notes}
    assert {path for path, digest in named if (path, digest) in current} == set(found.covered)
    losing = {s.handle for s in found.losers}
    assert not losing & set(found.active)
    assert not set(found.waiting) & (losing | set(found.active))


@given(vaults())
def test_taking_the_losers_away_changes_nothing_of_what_is_active(files: list[Note | Summary]) -> None:
    found = state(*files)
    lost = {s.handle for s in found.losers}
    kept = [file for file in files if file.handle not in lost]
    after = state(*kept, retired=lost)
    assert repr((after.active, after.covered, after.tail, after.waiting)) == repr(
        (found.active, found.covered, found.tail, found.waiting)
    )
    assert after.losers == ()


@given(vaults())
def test_growth_ends_with_fewer_notes_than_a_batch_and_fewer_summaries_a_tier_than_a_fan_in(
    files: list[Note | Summary],
) -> None:
    found = state(*files)
    if found.is_held:
        return
    numbers, index, made = count(), Index(found.notes), list[Summary]()
    frontier = Frontier(found, SMALL, found.tail)
    while due := frontier.due():
        made.append(_made(due, next(numbers), index))
        frontier.take(due, made[-1])
    after = state(*files, *made)
    _counts_once(after)
    assert after.losers == found.losers
    assert set(handles(made)) <= set(after.active)
    assert len(after.tail) < SMALL.batch_notes
    tiers = [s.tier for s in after.cover]
    assert all(tiers.count(tier) < SMALL.fan_in for tier in set(tiers))

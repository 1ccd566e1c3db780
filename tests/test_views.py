"""What a view shows within a budget: the cover always, the newest notes first, the ramp last, and texts whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import pyramid, render, views
from pyramid_fs.notes import Dated, Note, Source, Summary
from pyramid_fs.pyramid import Batch, Files, Frontier, Shape, State, derive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyramid_fs.views import Entry, View

START = datetime(2026, 1, 1, tzinfo=UTC)
BUDGET = 24_000


def note(number: int, *, chars: int = 150, day: float | None = None, digest: str = "", **more: object) -> Note:
    """The note of that number, one an hour."""
    time = START + timedelta(hours=number) if day is None else START + timedelta(days=day)
    made = Note(
        path=f"models/m/2026-01/n{number:06d}.md",
        handle=f"n{number:06d}",
        created=time,
        dated=Dated.KEY,
        digest=digest or f"{number:016d}",
        chars=chars,
        lines=2,
        touched=time,
    )
    return replace(made, **more)  # type: ignore[arg-type]


class Model:
    """A model that grows as `advance` makes it grow, held as values."""

    def __init__(self, shape: Shape | None = None) -> None:
        self.shape = shape or Shape()
        self.notes: list[Note] = []
        self.summaries: list[Summary] = []
        self._numbers = count()
        self._frontier = Frontier(self.state(), self.shape, ())

    def add(self, *notes: Note) -> None:
        """Add notes, each newer than all before, and have the summaries written that fall due."""
        for one in notes:
            self.notes.append(one)
            self._frontier._tail.append(one)
            while due := self._frontier.due():
                self.summaries.append(self._made(due))
                self._frontier.take(due, self.summaries[-1])

    def _made(self, due: Batch) -> Summary:
        start, end = due.span
        handle = f"m-t{due.tier}-{next(self._numbers):05d}"
        return Summary(
            path=f"models/m/tier-{due.tier}/{handle}.md",
            handle=handle,
            tier=due.tier,
            batch=1,
            created=end + timedelta(minutes=1 + due.tier),
            span_from=start,
            span_to=end,
            note_count=due.note_count,
            sources=tuple(Source(s.handle, s.digest, s.created) for s in due.sources),
            digest=handle,
            chars=self.shape.target(due.tier),
            lines=6,
        )

    def state(self, notes: Iterable[Note] | None = None) -> State:
        return derive(Files("m", tuple(self.notes if notes is None else notes), tuple(self.summaries)))


def grown(number: int) -> Model:
    """A model of so many notes."""
    model = Model()
    model.add(*(note(n) for n in range(number)))
    return model


@pytest.fixture(scope="module")
def huge() -> Model:
    """A model of 100,000 notes."""
    return grown(100_000)


def view(state: State, budget: int = BUDGET) -> View:
    return views.plan(state, budget, render.size)


def handles(entries: Iterable[Entry]) -> list[str]:
    return [entry.handle for entry in entries]


def notes_of(found: View) -> list[str]:
    return handles(entry for entry in found.entries if entry.tier < 0)


def cover_of(found: View) -> list[str]:
    return handles(entry for entry in found.entries if entry.tier >= 0 and not entry.again)


def ramp_of(found: View) -> list[str]:
    return handles(entry for entry in found.entries if entry.tier >= 0 and entry.again)


# The order in which a budget is spent


@pytest.mark.parametrize("budget", [1, 500, 3000, BUDGET])
def test_the_cover_is_whole_whatever_the_budget(budget: int) -> None:
    state = grown(249).state()
    assert cover_of(view(state, budget)) == [s.handle for s in state.cover]


def test_the_newest_notes_come_first_then_the_rest_of_the_tail_then_the_ramp() -> None:
    state = grown(259).state()
    cover = sum(render.size(views.of_summary(s)) for s in state.cover)
    each = render.size(views.of_note(state.tail[0], state))
    newest = [f"n{number:06d}" for number in range(250, 259)]
    assert notes_of(view(state, cover)) == []
    for room in range(10):
        found = view(state, cover + room * each)
        assert notes_of(found) == newest[9 - room :]
        assert ramp_of(found) == []
    assert len(ramp_of(view(state, cover + 9 * each + 1200))) == 1


def test_the_newest_five_are_shown_also_where_they_are_summarized() -> None:
    found = view(grown(250).state())
    newest = [entry for entry in found.entries if entry.tier < 0]
    assert handles(newest) == [f"n{number:06d}" for number in range(245, 250)]
    assert all(entry.again for entry in newest)


def test_the_newest_five_come_before_an_older_part_of_the_tail() -> None:
    model = grown(20)
    late = note(900, day=-5)
    state = derive(Files("m", (*model.notes, late), tuple(model.summaries)))
    cover = sum(render.size(views.of_summary(s)) for s in state.cover)
    each = render.size(views.of_note(note(19), state))
    assert notes_of(view(state, cover + 5 * each + 90)) == [f"n{number:06d}" for number in range(15, 20)]
    assert notes_of(view(state))[0] == late.handle


def test_the_ramp_is_the_newest_two_covered_summaries_of_each_lower_tier() -> None:
    state = grown(2500).state()
    covered = [s for s in state.active.values() if s.handle in state.parents]
    newest = {t: sorted((s for s in covered if s.tier == t), key=pyramid.by_span)[-2:] for t in range(4)}
    assert sorted(ramp_of(view(state))) == sorted(s.handle for found in newest.values() for s in found)
    assert {tier: len(found) for tier, found in newest.items()} == {0: 2, 1: 2, 2: 2, 3: 0}


def test_the_ramp_never_takes_the_place_of_the_cover_or_the_notes() -> None:
    for number in (49, 50, 250, 251, 1259):
        state = grown(number).state()
        for budget in range(500, 12_000, 700):
            found = view(state, budget)
            if ramp_of(found):
                assert set(cover_of(found)) == {s.handle for s in state.cover}
                assert {n.handle for n in state.tail} <= set(notes_of(found))


def test_a_text_that_does_not_fit_is_left_out_whole_and_smaller_ones_are_still_shown() -> None:
    model = Model()
    model.add(note(1, chars=100), note(2, chars=5000), note(3, chars=100))
    found = view(model.state(), 1000)
    assert notes_of(found) == ["n000001", "n000003"]
    assert [(left.count, left.chars, left.handles) for left in found.left] == [(1, 5000, ("n000002",))]


def test_what_is_shown_fits_the_budget_unless_the_cover_alone_does_not() -> None:
    state = grown(1259).state()
    cover = sum(render.size(views.of_summary(s)) for s in state.cover)
    for budget in range(1000, 20_000, 1700):
        assert view(state, budget).chars <= max(budget, cover)


def test_summaries_come_before_notes_and_each_oldest_first() -> None:
    found = view(grown(259).state())
    tiers = [entry.tier >= 0 for entry in found.entries]
    assert tiers == sorted(tiers, reverse=True)
    for kind in (True, False):
        spans = [entry.span_from for entry in found.entries if (entry.tier >= 0) == kind]
        assert spans == sorted(spans)


def test_an_empty_model_has_an_empty_view() -> None:
    found = view(Model().state())
    assert (found.entries, found.left, found.chars) == ((), (), 0)


# What was left out


def test_what_is_left_out_of_the_tail_is_named_newest_first_with_number_size_and_call() -> None:
    state = derive(Files("m", tuple(note(number) for number in range(30)), ()))
    (left,) = view(state, 400).left
    assert (left.what, left.count, left.chars) == ("notes that no summary has yet", 28, 28 * 150)
    assert left.handles == tuple(f"n{number:06d}" for number in range(27, 19, -1))
    assert left.call == "pyramid load m --tier tail"


def test_each_call_leads_to_the_page_with_the_oldest_entry_that_was_left_out() -> None:
    state = grown(2509).state()
    cover = sum(render.size(views.of_summary(s)) for s in state.cover)
    found = view(state, cover)
    assert {left.call.split(" --page")[0] for left in found.left} == {
        "pyramid load m --tier tail",
        "pyramid load m --tier 0",
        "pyramid load m --tier 1",
        "pyramid load m --tier 2",
    }
    assert shown_by(state, found) == {n.handle for n in state.tail[-views.NAMED :]} | set(ramp_of(view(state)))


def test_newest_notes_that_are_summarized_and_too_long_are_named_apart() -> None:
    model = grown(400)
    model.add(note(401, chars=30_000), note(402, chars=30_000))
    state = model.state()
    found = view(state)
    (left,) = [left for left in found.left if left.what == "of the newest notes, summarized above"]
    assert (left.count, left.chars, left.handles) == (2, 60_000, ("n000402", "n000401"))
    assert {"n000401", "n000402"} <= shown_by(state, found)


def shown_by(state: State, found: View) -> set[str]:
    """Follow the calls of what was left out, page by page to the end; give what they show of it."""
    named: set[str] = set()
    for left in found.left:
        call: str | None = left.call
        while call:
            words = call.split()
            page = int(words[6]) if len(words) > 5 else 1
            shown = views.tier(state, words[4], page, render.size)
            named.update(handles(shown.entries))
            call = shown.left[0].call if shown.left else None
    return {handle for left in found.left for handle in left.handles} & named


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("user", "user"),
        ("moving-house_2.0", "moving-house_2.0"),
        ("übung", "übung"),
        ("two words", "'two words'"),
        ("Mum's", "'Mum'\"'\"'s'"),
        ("a$b", "'a$b'"),
    ],
)
def test_the_name_of_a_model_is_one_word_of_the_call(name: str, word: str) -> None:
    state = replace(derive(Files("m", tuple(note(n) for n in range(9)), ())), model=name)
    assert view(state, 10).left[0].call == f"pyramid load {word} --tier tail"


# Nothing gets lost from one note to the next


def represented(state: State, found: View) -> set[str]:
    """Give the paths of the notes of which a view shows the text, or a summary above it."""
    shown = {entry.path for entry in found.entries if entry.tier < 0}
    roots = [entry.handle for entry in found.entries if entry.tier >= 0]
    return shown | {path for _, path, _ in pyramid.leaves(state, roots)}


def test_the_view_of_one_note_more_still_shows_each_note_or_a_summary_above_it() -> None:
    model = Model()
    before: set[str] = set()
    for number in range(280):  # past the roll-up of 250
        model.add(note(number))
        state = model.state()
        found = view(state)
        now = represented(state, found)
        assert before <= now
        assert {s.handle for s in state.cover} <= set(handles(found.entries))
        assert [f"n{n:06d}" for n in range(max(0, number - 4), number + 1)] == notes_of(found)[-5:]
        before = now


@given(st.lists(st.integers(1, 1500), min_size=1, max_size=70), st.sampled_from([2, 3, 5]))
def test_so_it_does_with_notes_of_any_ordinary_length(sizes: list[int], fan_in: int) -> None:
    model = Model(Shape(batch_notes=4, fan_in=fan_in))
    before: set[str] = set()
    for number, chars in enumerate(sizes):
        model.add(note(number, chars=chars))
        state = model.state()
        now = represented(state, view(state))
        assert before <= now
        before = now


@given(st.lists(st.integers(1, 30_000), min_size=1, max_size=40), st.integers(1, 30_000))
def test_whatever_the_budget_each_note_is_shown_summarized_or_named(sizes: list[int], budget: int) -> None:
    model = Model(Shape(batch_notes=4, fan_in=2))
    model.add(*(note(number, chars=chars) for number, chars in enumerate(sizes)))
    state = model.state()
    found = view(state, budget)
    tail = sum(left.count for left in found.left if left.what.startswith("notes that no summary"))
    assert len(represented(state, found)) + tail == len(sizes)


@pytest.mark.parametrize("number", [249, 250, 251])
def test_around_the_roll_up_of_all_the_newest_five_and_all_the_rest_are_still_there(number: int) -> None:
    state = grown(number).state()
    found = view(state)
    assert len(represented(state, found)) == number
    assert notes_of(found)[-5:] == [f"n{n:06d}" for n in range(number - 5, number)]
    assert len(cover_of(found)) == {249: 8, 250: 1, 251: 1}[number]
    assert len(ramp_of(found)) == {249: 2, 250: 4, 251: 4}[number]


# Size


def printed(state: State, found: View) -> str:
    """Print a view with texts of the sizes that its entries say."""
    from test_render import loaded_of

    return render.loaded_text(loaded_of(state, found))


@pytest.mark.slow
def test_a_hundred_thousand_notes_make_a_view_of_bounded_size(huge: Model) -> None:
    state = huge.state()
    found = view(state)
    assert len(state.covered) == 100_000
    assert found.chars <= BUDGET
    assert len(cover_of(found)) <= 4 * 7
    assert len(printed(state, found)) <= 32_000
    assert len(represented(state, found)) == 100_000


@pytest.mark.slow
def test_so_it_is_when_all_of_them_were_revised(huge: Model) -> None:
    state = huge.state(replace(one, digest=f"new {one.digest}") for one in huge.notes)
    found = view(state)
    assert len(state.revised) == len(state.tail) == 100_000
    assert len(printed(state, found)) <= 32_000
    assert notes_of(found)[-5:] == [f"n{number:06d}" for number in range(99_995, 100_000)]
    assert found.left[0].count + len(notes_of(found)) == 100_000


# Entries


def test_an_entry_says_whether_its_date_is_one_that_the_vault_keeps() -> None:
    loose = note(1, dated=Dated.FILE)
    sure = note(2)
    state = derive(Files("m", (loose, sure), ()))
    assert [views.of_note(n, state).dated for n in (loose, sure)] == [False, True]
    model = Model(Shape(batch_notes=1))
    model.add(loose)
    assert views.of_note(model.state().notes[0], model.state()).dated
    revised = model.state([replace(loose, digest="new")])
    assert views.of_note(revised.tail[0], revised).dated
    assert views.of_note(revised.tail[0], revised).revised


def test_an_embed_is_shown_by_the_file_that_holds_its_text() -> None:
    embed = note(1, text_path="models/other/2026-01/n.md", source="chat", problem="it waits")
    entry = views.of_note(embed, derive(Files("m", (embed,), ())))
    assert (entry.path, entry.handle, entry.source) == ("models/other/2026-01/n.md", "n000001", "chat")
    assert entry.problem == "it waits"


def test_the_same_files_give_the_same_view() -> None:
    model = grown(259)
    assert view(model.state(reversed(model.notes))) == view(model.state())


# Whole tiers, in pages


@pytest.mark.parametrize(("which", "number"), [("0", 125), ("1", 25), ("2", 5), ("9", 0), ("notes", 1259), ("tail", 9)])
def test_a_whole_tier_is_shown_in_pages_of_whole_entries_oldest_first(which: str, number: int) -> None:
    state = grown(1259).state()
    shown: list[Entry] = []
    for page in count(1):
        found = views.tier(state, which, page, render.size, 5000)
        assert found.chars <= 5000
        shown += found.entries
        if not found.left:
            break
        (left,) = found.left
        assert left.call == f"pyramid load m --tier {which} --page {page + 1}"
        assert left.count == number - len(shown)
    assert len(shown) == len(set(handles(shown))) == number
    assert all(one.span_from <= other.span_from for one, other in pairwise(shown))


def test_a_page_holds_at_least_one_entry_and_one_past_the_last_is_empty() -> None:
    state = derive(Files("m", (note(1, chars=90_000), note(2, chars=90_000)), ()))
    assert [len(views.tier(state, "notes", page, render.size).entries) for page in (1, 2, 3)] == [1, 1, 0]
    assert views.tier(state, "notes", 1, render.size).left[0].what == "more notes"


def test_where_an_answer_is_bounded_the_cover_is_shown_from_its_top_and_the_rest_is_named() -> None:
    state = grown(90).state()
    cover = [views.of_summary(summary) for summary in state.cover]
    whole = sum(render.size(entry) for entry in cover)
    strict = views.plan(state, whole, render.size, is_strict=True)
    assert cover_of(strict) == cover_of(view(state, whole))
    shown = views.plan(state, whole - 1, render.size, is_strict=True)
    missed = [left for left in shown.left if left.what == "summaries"]
    assert len(cover_of(shown)) == len(cover) - 1
    assert cover_of(shown)[0] == cover[0].handle
    assert sum(left.count for left in missed) >= 1
    assert views.plan(state, 0, render.size, is_strict=True).entries == ()

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import pyramid
from pyramid_fs.browser import drawing
from pyramid_fs.notes import Dated, Note, Source, Summary
from pyramid_fs.pyramid import Files, Shape, State

DAY = datetime(2026, 3, 1, 8, tzinfo=UTC)
SMALL = Shape(batch_notes=3, fan_in=2)
SVG = "{http://www.w3.org/2000/svg}"


def note(number: int) -> Note:
    at = DAY + timedelta(days=number)
    return Note(f"models/m/n{number:05}.md", f"n{number:05}", at, Dated.KEY, f"{number:016}", 40, 1, at)


def grown(count: int, shape: Shape = SMALL) -> State:
    """A model of so many notes, with every summary that is due."""
    notes = tuple(note(number) for number in range(count))
    made: list[Summary] = []
    frontier = pyramid.Frontier(pyramid.derive(Files("m", notes)), shape, notes)
    while batch := frontier.due():
        handle = f"m-t{batch.tier}-{len(made):04}-aaaa"
        start, end = batch.span
        summary = Summary(
            f"models/m/tier-{batch.tier}/{handle}.md", handle, batch.tier, len(made),
            DAY + timedelta(days=count, seconds=len(made)), start, end, batch.note_count,
            tuple(Source(s.handle, s.digest, DAY) for s in batch.sources), f"{len(made):016x}", 40, 1,
        )  # fmt: skip
        made.append(summary)
        frontier.take(batch, summary)
    return pyramid.derive(Files("m", notes, tuple(made)))


def spelled(drawn: drawing.Drawing, text: str = "What it says.") -> str:
    return drawing.svg(drawn, "m", lambda path: f"/file/{path}", lambda path: f"/tier/{path}", lambda _: text, "/tail")


def test_blocks_stand_above_what_they_are_made_of_and_the_tail_is_at_the_right() -> None:
    state = grown(14)
    drawn = drawing.draw(state, UTC)
    assert [len(tier) for tier in drawn.tiers] == [4, 2, 1]
    assert (drawn.covered, drawn.tail, drawn.total) == (12, 2, 14)
    places = {block.path: (block.start, block.width) for tier in drawn.tiers for block in tier}
    for handle, parent in state.parents.items():
        start, width = places[state.active[handle].path]
        above, wide = places[state.active[parent].path]
        assert above <= start
        assert start + width <= above + wide
    assert sum(block.width for block in drawn.tiers[0]) == 12


@given(st.integers(0, 60), st.integers(1, 9))
def test_every_note_is_under_the_drawing_once(count: int, most: int) -> None:
    state = grown(count)
    drawn = drawing.draw(state, UTC, most=most)
    assert drawn.total == count
    for tier, blocks in enumerate(drawn.tiers):
        summaries = [s for s in state.active.values() if s.tier == tier]
        assert sum(block.count for block in blocks) == len(summaries)
        assert sum(block.width for block in blocks) == sum(s.note_count for s in summaries)
        assert all(a.start + a.width <= b.start for a, b in pairwise(blocks))
    ET.fromstring(spelled(drawn))  # it is well formed


def test_where_there_are_too_many_neighbours_are_drawn_as_one_which_says_so() -> None:
    drawn = drawing.draw(grown(60), UTC, most=5)
    assert len(drawn.tiers[0]) == 5
    made = spelled(drawn)
    assert "4 summaries of tier 0 · 12 notes · 2026-03-01 to 2026-03-12" in made
    assert 'href="/tier/models/m/tier-0/m-t0-0000-aaaa.md"' in made


def test_each_block_has_a_name_and_shows_its_text() -> None:
    root = ET.fromstring(spelled(drawing.draw(grown(7), UTC), "Beans were sown. " * 40))
    links = root.findall(f"{SVG}a")
    assert [link.findtext(f"{SVG}title") for link in links] == [
        "tier 1 · 6 notes · 2026-03-01 to 2026-03-06",
        "tier 0 · 3 notes · 2026-03-01 to 2026-03-03",
        "tier 0 · 3 notes · 2026-03-04 to 2026-03-06",
        "tail · 1 note that no summary has yet",
    ]
    lines = [span.text or "" for span in links[0].iter(f"{SVG}tspan")]
    assert len(lines) == 2
    assert all(len(line) <= 132 for line in lines)
    assert lines[1].endswith(" …")


def test_a_revised_note_a_draft_and_what_counts_no_more_are_marked() -> None:
    state = grown(6)
    first = state.notes[0]
    edited = replace(first, digest="f" * 16)
    summaries = [replace(s, draft=s.handle.endswith("0000-aaaa")) for s in state.active.values()]
    other = replace(summaries[0], handle="m-t0-0009-zzzz", path="models/m/tier-0/m-t0-0009-zzzz.md",
                    created=summaries[0].created + timedelta(days=9))  # fmt: skip
    again = pyramid.derive(Files("m", (edited, *state.notes[1:]), (*summaries, other)))
    drawn = drawing.draw(again, UTC, [("models/m/retired/old.md", "old")])
    assert drawn.revised == 1
    marks = {block.path: block.marks for block in drawn.tiers[0]}
    assert set(marks[summaries[0].path]) == {"revised", "draft"}
    assert [(found.handle, found.why.split(":")[0]) for found in drawn.aside] == [
        ("old", "retired"),
        ("m-t0-0009-zzzz", "lost a merge"),
    ]
    made = spelled(drawn)
    assert "a note of it was revised · a draft" in made
    assert "old · retired" in made
    assert "<circle" in made


def test_the_line_of_time_names_days_once() -> None:
    days = [day for _, day in drawing.draw(grown(30), UTC).ticks]
    assert days[0] == "2026-03-01"
    assert days == sorted(set(days))
    assert not drawing.draw(grown(0), UTC).ticks


def test_nothing_in_a_text_or_an_address_breaks_out() -> None:
    made = drawing.svg(
        drawing.draw(grown(4), UTC),
        '"><script>',
        lambda _: '"><script>',
        lambda _: "",
        lambda _: "</text><script>x",
        "",
    )
    assert "<script" not in made
    ET.fromstring(made)


@pytest.mark.parametrize("count", [10_000])
def test_ten_thousand_notes_are_drawn_in_less_than_300_kb(count: int) -> None:
    drawn = drawing.draw(grown(count, Shape()), UTC)
    made = spelled(drawn, "Alice asked about the morning train, and Bob paid for the piano lesson. " * 8)
    assert sum(block.count for tier in drawn.tiers for block in tier) == 1_249
    assert len(made.encode()) < 300_000

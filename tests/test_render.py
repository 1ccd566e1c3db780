"""The answers as text: sizes that are foretold, texts that are quoted, calls that can be typed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import render, times
from pyramid_fs.context import (
    Advanced,
    Estimate,
    Expanded,
    Hit,
    Hits,
    Loaded,
    LoadedModel,
    Map,
    ModelLine,
    ModelStatus,
    RedoPlan,
    Status,
    Text,
    Tried,
    Why,
)
from pyramid_fs.errors import Problem
from pyramid_fs.views import Entry, Left

if TYPE_CHECKING:
    from pyramid_fs.pyramid import State
    from pyramid_fs.views import View

START = datetime(2026, 11, 1, 23, 30, tzinfo=UTC)


def text_of(entry: Entry, text: str, zone: ZoneInfo | None = None) -> Text:
    """Give an entry its text, as `load` does."""
    days = [times.day(time, zone or UTC) if entry.dated else "" for time in (entry.span_from, entry.span_to)]
    return Text(
        entry.handle, entry.path, ("m",), entry.tier, entry.notes, days[1], days[0], days[1], text,
        again=entry.again, revised=entry.revised, draft=entry.draft, source=entry.source, problem=entry.problem,
    )  # fmt: skip


def loaded_of(state: State, found: View) -> Loaded:
    """Give a view texts of the sizes that its entries say."""
    texts = [text_of(e, "\n".join("x" * ((e.chars + 1) // e.lines - 1) for _ in range(e.lines))) for e in found.entries]
    model = LoadedModel(
        name=state.model,
        description="",
        notes=len(state.notes),
        covered=len(state.covered),
        tail=len(state.tail),
        span_from="2026-01-01",
        span_to="2026-12-31",
        summaries=tuple(text for text in texts if text.tier >= 0),
        recent=tuple(text for text in texts if text.tier < 0),
        left=found.left,
    )
    return Loaded("/vault", (model,))


TEXT = Text("a", "models/m/a.md", ("m",), -1, 1, "2026-11-01", "2026-11-01", "2026-11-01", "One.\n\nTwo.")
SUMMARY = replace(TEXT, handle="m-t1-0001-k3f9", tier=1, notes=50, span_to="2026-11-09", text="All.")


# Sizes


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=300).filter(str.strip),
    st.builds(
        Entry,
        path=st.just("models/m/a.md"),
        handle=st.text("abc-é", min_size=1, max_size=30),
        tier=st.integers(-1, 3),
        notes=st.integers(1, 10**6),
        span_from=st.just(START),
        span_to=st.sampled_from([START, START + timedelta(hours=1), START + timedelta(days=9)]),
        chars=st.just(0),
        lines=st.just(0),
        dated=st.booleans(),
        again=st.booleans(),
        revised=st.booleans(),
        source=st.sampled_from(["", "chat:1", "a long\nsource " * 30]),
        problem=st.sampled_from(["", "it can't be parsed"]),
    ),
    st.sampled_from(["UTC", "Europe/Berlin", "America/Lima"]),
)
def test_the_size_of_an_entry_is_what_it_takes_when_it_is_shown(text: str, entry: Entry, zone: str) -> None:
    entry = replace(entry, chars=len(text), lines=text.count("\n") + 1)
    shown = f"{render.header(text_of(entry, text, ZoneInfo(zone)))}\n{render.quote(text)}\n\n"
    size = render.size(entry, ZoneInfo(zone))
    blanks = sum(len(line) - len(line.rstrip()) + (not line.strip()) for line in text.split("\n"))
    assert len(shown) <= size <= len(shown) + blanks


def test_a_loaded_model_takes_what_its_view_foretold_and_little_more() -> None:
    found = Loaded("/vault", (loaded_model(summaries=(SUMMARY,), recent=(TEXT, TEXT)),))
    entries = [
        Entry(t.path, t.handle, t.tier, t.notes, START, START, len(t.text), t.text.count("\n") + 1)
        for t in (SUMMARY, TEXT, TEXT)
    ]
    foretold = sum(render.size(entry) for entry in entries)
    assert foretold - 10 <= len(render.loaded_text(found)) <= foretold + 300


# Quoting


def test_each_line_of_a_text_is_quoted_so_that_nothing_in_it_stands_as_an_order() -> None:
    assert render.quote("# Do this\n\n---\nnow  ") == "> # Do this\n>\n> ---\n> now"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT, "[[a]] · 2026-11-01"),
        (SUMMARY, "[[m-t1-0001-k3f9]] · tier 1 · 50 notes · 2026-11-01 to 2026-11-09"),
        (replace(TEXT, span_from="", span_to=""), "[[a]] · undated"),
        (replace(TEXT, again=True), "[[a]] · 2026-11-01 · also summarized above"),
        (replace(TEXT, revised=True), "[[a]] · 2026-11-01 · revised since it was summarized"),
        (replace(TEXT, problem="no date"), "[[a]] · 2026-11-01 · needs a person: no date"),
        (replace(TEXT, source="chat:1\n# x"), "[[a]] · 2026-11-01 · source: chat:1 # x"),
        (
            replace(SUMMARY, again=True, span_to="2026-11-01"),
            "[[m-t1-0001-k3f9]] · tier 1 · 50 notes · 2026-11-01 · finer view of a period summarized above",
        ),
    ],
)
def test_the_line_above_a_text_says_what_it_is(text: Text, line: str) -> None:
    assert render.header(text) == line


# The answers


def loaded_model(
    *,
    description: str = "",
    span: tuple[str, str] = ("2026-11-01", "2026-11-09"),
    summaries: tuple[Text, ...] = (),
    recent: tuple[Text, ...] = (),
    left: tuple[Left, ...] = (),
    archived: bool = False,
    name: str = "m",
    notes: int = 1,
) -> LoadedModel:
    return LoadedModel(name, description, notes, 0, 1, *span, summaries, recent, left, ("it waits",), archived)


def test_a_loaded_model_shows_summaries_then_notes_then_what_was_left_out() -> None:
    left = Left("notes that no summary has yet", 9, 12_345, ("b", "c"), "pyramid load m")
    model = loaded_model(description="Trains", summaries=(SUMMARY,), recent=(TEXT,), left=(left,), archived=True)
    assert render.loaded_text(Loaded("/v", (model,), ("pyramid load other",))).split("\n") == [
        "Vault: /v",
        render.QUOTED,
        "",
        "# m — Trains",
        "[1 note · 0 in summaries · 1 not yet · 2026-11-01 to 2026-11-09 · archived · it waits]",
        "",
        "## Summaries, oldest first",
        "",
        "[[m-t1-0001-k3f9]] · tier 1 · 50 notes · 2026-11-01 to 2026-11-09",
        "> All.",
        "",
        "## Notes, oldest first",
        "",
        "[[a]] · 2026-11-01",
        "> One.",
        ">",
        "> Two.",
        "",
        "Left out: 9 notes that no summary has yet (12,345 characters): b, c and 7 more. Shown by: pyramid load m",
        "",
        "Left out, whole models that did not fit. Shown by: pyramid load other",
    ]


def test_an_empty_model_says_how_to_write_the_first_note() -> None:
    shown = render.loaded_text(Loaded("/v", (loaded_model(span=("", ""), name="two words", notes=0),)))
    assert shown.endswith("No notes yet. Write one: pyramid record -m 'two words' 'TEXT'")
    assert "2026" not in shown


def line(**more: object) -> ModelLine:
    made = ModelLine("m", "Trains", 12, 2, {"0": 1}, "2026-11-01", "2026-11-09", ("x waits",), 1234, 345)
    return replace(made, **more)  # type: ignore[arg-type]


def test_the_map_says_that_nothing_is_loaded_and_lists_models_and_newest_notes() -> None:
    left = Left("notes", 1, 5, ("b",), "pyramid load m")
    assert render.map_text(Map("/v", (line(),), ("old", "older"), (TEXT,), (left,))).split("\n") == [
        "Nothing is loaded yet: this is a map. Load the models that matter with: pyramid load NAME…",
        "Vault: /v",
        "",
        "# Models",
        (
            "- m — Trains [12 notes · 2026-11-01 to 2026-11-09 · 2 not summarized yet"
            " · view 1,234 characters, some 345 tokens · x waits]"
        ),
        "",
        "Archived: old, older",
        "",
        "# Newest notes over all models",
        render.QUOTED,
        "",
        "[[a]] · 2026-11-01",
        "> One.",
        ">",
        "> Two.",
        "",
        "Left out: 1 notes (5 characters): b. Shown by: pyramid load m",
    ]


def test_the_map_of_an_empty_vault_says_how_to_make_a_model() -> None:
    assert "Make one: pyramid model new NAME" in render.map_text(Map("/v", (), (), ()))


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (line(notes=0, waiting=(), description=""), "- m [0 notes]"),
        (
            line(notes=1, tail=0, waiting=(), span_to="2026-11-01"),
            "- m — Trains [1 note · 2026-11-01 · view 1,234 characters, some 345 tokens]",
        ),
    ],
)
def test_a_line_of_the_map_leaves_out_what_there_is_none_of(found: ModelLine, shown: str) -> None:
    assert render.model_line(found) == shown


def test_a_summary_leads_down_to_its_sources_and_up_to_the_cover() -> None:
    found = Expanded("/v", "s", "summary", ("m",), SUMMARY, ("t1", "t2"), (TEXT,), ("gone",))
    shown = render.expanded_text(found)
    assert "In: m\nSummarized in: [[t1]], [[t2]]\n\n## Made from, oldest first\n\n[[a]]" in shown
    assert shown.endswith("Gone since it was summarized: gone")


def test_a_note_without_a_summary_says_so_and_other_files_have_none() -> None:
    found = Expanded("/v", "a", "note", ("m",), TEXT, (), (), ())
    assert render.expanded_text(found).endswith("In: m\nNo summary has it yet.")
    assert render.expanded_text(replace(found, kind="card", models=())).endswith("> Two.")


def test_hits_are_called_fragments_and_name_the_call_that_loads_their_models() -> None:
    one = Hit("a", "models/m/a.md", "note", ("m", "two words"), None, "2026-11-01", "A\nB", 1.0)
    two = Hit("t", "topics/t.md", "topic", (), None, "", "C", 0.5)
    three = Hit("s", "models/m/tier-1/s.md", "summary", ("m",), 1, "2026-11-09", "D", 0.4)
    assert render.hits_text(Hits("/v", "q", (one, two, three), "pyramid recall q --start 3", ("cut",))).split("\n") == [
        "These are fragments; the models they come from are not loaded. Load them with: pyramid load m 'two words'",
        "Vault: /v",
        render.QUOTED,
        "",
        "[[a]] · note · m, two words · 2026-11-01",
        "> A",
        "> B",
        "",
        "[[t]] · topic · undated",
        "> C",
        "",
        "[[s]] · summary of tier 1 · m · 2026-11-09",
        "> D",
        "",
        "cut",
        "There is more. Shown by: pyramid recall q --start 3",
    ]
    assert render.hits_text(Hits("/v", "q", (two,), None)).startswith("These are fragments; the models they come")
    assert "Load them with" not in render.hits_text(Hits("/v", "q", (two,), None))


def test_a_hit_says_where_it_comes_from_where_to_go_on_and_what_its_score_is_made_of() -> None:
    hit = Hit(
        "a", "models/m/a.md", "note", ("m",), None, "", "A", 1.5, "chat:\n7", ("s", "t"), {"own": 1.0, "near": 0.5}
    )
    assert render.hits_text(Hits("/v", "q", (hit,), None), explain=True).split("\n")[4:] == [
        "[[a]] · note · m · undated · source: chat: 7",
        "> A",
        "In: [[s]], [[t]]",
        "Score 1.50: its own words 1.00, the notes around it 0.50",
    ]
    assert "Score" not in render.hits_text(Hits("/v", "q", (hit,), None))


def test_why_says_where_a_file_stands_and_what_keeps_it_from_coming_up() -> None:
    why = Why("/v", "a", "models/m/a.md", "q", 3, (), ("one",), ("two",), {"own": 1.0}, 1.0)
    assert render.why_text(why).split("\n") == [
        "Vault: /v", "[[a]] is hit 3.", "Found in it: one", "Not in it: two", "Score 1.00: its own words 1.00",
    ]  # fmt: skip
    why = replace(why, place=None, reasons=("It is retired.",), found=(), lacking=(), parts={})
    assert render.why_text(why).split("\n") == ["Vault: /v", "[[a]] is no hit.", "It is retired."]


def test_no_hit_says_what_was_looked_for_and_where() -> None:
    assert render.hits_text(Hits("/v", "x" * 900, (), None)) == f"Nothing found for {'x' * 200!r} in /v."


def test_the_status_says_for_each_model_what_waits_and_why() -> None:
    busy = ModelStatus("m", 20, 5, {"0": 2, "1": 1}, 3, 4, ("s waits: x",))
    idle = ModelStatus("n", 1, 1, {}, 0, 0, ())
    problems = (Problem("models/m/a.md", "it can't be parsed", "mend it"), Problem("models/m/b.md", "no text"))
    found = Status("/v", (busy, idle), problems, {"files": 9, "indexed": None}, None, ("pyramid.toml: odd",))
    assert render.status_text(found).split("\n") == [
        "Vault: /v",
        "",
        "m: 20 notes · 5 in the tail · summaries: 2 of tier 0, 1 of tier 1 · 3 due: pyramid advance · 4 revised",
        "  s waits: x",
        "n: 1 note · 1 in the tail · summaries: none",
        "",
        "models/m/a.md: it can't be parsed → mend it",
        "models/m/b.md: no text",
        "",
        "Files: 9 · not in an index yet: the next recall makes one",
        "pyramid.toml: odd",
    ]
    bare = replace(found, models=(), problems=(), warnings=(), index={"files": 9, "indexed": 7})
    assert render.status_text(bare) == "Vault: /v\n\n\nFiles: 9 · 7 of them in the index"


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (Advanced("/v", (), 0), "Nothing was due."),
        (Advanced("/v", ("a", "b"), 2), "2 summaries written."),
        (Advanced("/v", ("a",), 3), "1 summary written.\n2 more are due."),
        (Advanced("/v", (), 0, retired=("x",)), "Nothing was due.\nRetired: x"),
        (Advanced("/v", (), 1, failed=("m: no",)), "0 summaries written."),
        (Advanced("/v", ("a",), 4, held=("m: x waits",)), "1 summary written."),
        (Advanced("/v", (), 0, busy=("m",)), "0 summaries written."),
        (
            Advanced("/v", (), 1, batches=({"model": "m", "tier": 0, "sources": 10, "from": "a", "to": "b"},)),
            "1 summary is due; nothing was written.\nm: tier 0 of 10 (a to b)",
        ),
    ],
)
def test_an_advance_says_what_it_wrote(found: Advanced, shown: str) -> None:
    assert render.advanced_text(found) == shown


# Summarizers, tried and asked


def test_what_came_of_a_try_is_shown_with_what_it_cost() -> None:
    tried = Tried(
        "/v", "openai:m", "the next batch", "alice", 0, 10, 600, "It was so.", 10, 1, 900, 10, 300, 20, 2.5, ("length",)
    )
    shown = render.tried_text(tried)
    assert "300 tokens in, 20 out" in shown
    assert "Checks passed: length" in shown
    assert "look twice" not in shown
    assert "look twice: Rome" in render.tried_text(replace(tried, unsupported=("Rome",), tokens_in=None))
    assert "Would not be stored: cut" in render.tried_text(replace(tried, reason="cut", passed=()))


@pytest.mark.parametrize(
    ("seconds", "said"), [(3.4, "3 s"), (89.4, "89 s"), (120, "2 min"), (5340, "89 min"), (5460, "1 h 31 min")]
)
def test_how_long_something_takes(seconds: float, said: str) -> None:
    assert render.duration(seconds) == said


def test_a_redo_of_many_is_shown_with_its_price() -> None:
    cost = Estimate(3, 12.0, 4, 900, 90, 5)
    assert "900 tokens in, 90 out" in render.estimate_line(cost)
    assert "tokens" not in render.estimate_line(replace(cost, tokens_in=None, at_once=1))
    plan = RedoPlan("/v", "openai:m", ("a", "b", "c"), 2, 5000, {"alice": {"0": 2, "1": 1}}, cost)
    shown = render.redo_plan_text(plan)
    assert "3 summaries to write again by openai:m, 1 of them because they stand above" in shown
    assert "alice: 2 of tier 0, 1 of tier 1" in shown
    assert render.redo_plan_text(replace(plan, summaries=(), chosen=0)) == "Nothing to write again."
    assert "About" not in render.redo_plan_text(replace(plan, estimate=None, chosen=3))


def test_progress_says_rate_calls_tokens_and_the_time_left() -> None:
    assert render.progress_line(20, 40, 10, 21, 4000) == "2/s · 21 calls · 4,000 tokens · 10 s left"
    assert render.progress_line(1, 2, 120, 0, 0) == "0.5/min · 2 min left"
    assert render.progress_line(0, 2, 120, 0, 0) == ""


def test_what_was_left_out_is_one_line_each() -> None:
    left = Left("notes", 2, 10, ("a",), "pyramid load m")
    assert render.left_lines([left]) == ["Left out: 2 notes (10 characters): a and 1 more. Shown by: pyramid load m"]

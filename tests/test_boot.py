"""The bundle as text: within its bound whatever is in it, whole lines only, and what was left out is said."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import boot
from pyramid_fs.boot import Bundle, History, RecordLine, SessionText, TopicLine
from pyramid_fs.calls import TOOLS
from pyramid_fs.context import ModelLine, Text

CHARS = 8_000


def model(name: str, description: str = "A bed.", **more: Any) -> ModelLine:
    given_: dict[str, Any] = {
        "notes": 3, "tail": 3, "summaries": {}, "span_from": "2026-03-01", "span_to": "2026-03-14", "waiting": (),
        "view_chars": 300, "view_tokens": 80, **more,
    }  # fmt: skip
    return ModelLine(name, description, **given_)


def record(name: str, text: str = "", kind: str = "entity", **more: Any) -> RecordLine:
    given_: dict[str, Any] = {"status": "confirmed", "created": "2026-03-14", **more}
    return RecordLine(f"{name}-x7q2"[-60:], f"x/{name}.md", kind, name if kind == "entity" else "", text, **given_)


def rule(text: str, **more: Any) -> RecordLine:
    return record(text[:10], text, "procedure", **more)


def note(handle: str, text: str) -> Text:
    return Text(handle, "p", ("plot",), -1, 1, "2026-03-14", "2026-03-14", "2026-03-14", text)


def topic(slug: str, title: str = "", **more: Any) -> TopicLine:
    return TopicLine(slug, title or slug, more.pop("sessions", 2), more.pop("active", "2026-03-14"), **more)


def bundle(**parts: Any) -> Bundle:
    empty: dict[str, Any] = {
        "vault": "/home/kim/Memory", "query": "", "models": (), "topics": (), "entities": (), "procedures": (),
        "recent": (), "sessions": (), "pending": 0, "soon": 0,
    }  # fmt: skip
    return Bundle(**{**empty, **parts})


def test_an_empty_vault_says_what_to_do_next() -> None:
    text = boot.bundle_text(bundle(), CHARS)
    assert "pyramid model new NAME" in text
    assert "Topics" not in text
    assert "Entities" not in text
    assert "pending" not in text


def test_everything_is_shown_where_it_fits() -> None:
    found = bundle(
        models=(model("plot"), model("shed", "", notes=1, span_to="", waiting=("a file is broken",))),
        topics=(topic("hedges", "The hedges", status="open"), topic("new", sessions=0, active="")),
        entities=(
            record("Ada", label="person", aliases=("Countess",), contradicts=("kim-x7q2",)),
            record("Kim", status="pending", confidence=0.7, is_contradicted=True, duplicates=("tim-x7q2",)),
            record("Old", superseded_by="new-x7q2"),
        ),
        procedures=(rule("Oil the\nhinges."),),
        recent=(note("n1", "The pump was mended.\nTwice."),),
        sessions=(boot.SessionLine("s-x7q2", "2026-03-13", "The cellar", ("pumps",), "Found the leak."),),
        pending=3,
        soon=2,
        notes=("Topics could not be had: the disk is full",),
    )
    lines = boot.bundle_text(found, CHARS).splitlines()
    assert "- plot — A bed. [3 notes · to 2026-03-14]" in lines
    assert "- shed [1 note · a file is broken]" in lines
    assert "- hedges — The hedges [2 sessions · last 2026-03-14 · open]" in lines
    assert "- new [0 sessions]" in lines
    assert "- Ada [[Ada-x7q2]] [person · confirmed · 2026-03-14 · also: Countess · contradicts [[kim-x7q2]]]" in lines
    kim = "pending 0.7 · 2026-03-14 · contradicted by another · may repeat [[tim-x7q2]]"
    assert f"- Kim [[Kim-x7q2]] [{kim}]" in lines
    assert "- Old [[Old-x7q2]] [confirmed · 2026-03-14 · superseded by [[new-x7q2]]]" in lines
    assert any(line.startswith("- Oil the hinges. [[") for line in lines)
    assert "> The pump was mended." in lines
    assert any("[[s-x7q2]]" in line for line in lines)
    assert "Found the leak." in "\n".join(lines)
    assert "Topics could not be had: the disk is full" in lines
    assert lines[-1] == "3 records wait for a person: pyramid pending (2 of them will be pruned within a week)"
    assert "pyramid topic summarize hedges" in "\n".join(lines)


def test_one_record_waits() -> None:
    text = boot.bundle_text(bundle(pending=1), CHARS)
    assert text.endswith("1 record waits for a person: pyramid pending")


def test_for_an_agent_calls_are_tools() -> None:
    text = boot.bundle_text(bundle(models=(model("plot"),), topics=(topic("hedges"),)), CHARS, TOOLS)
    assert 'topic_thread_summarize(topic="hedges")' in text
    assert "load_model(names=[…])" in text


def test_of_five_hundred_procedures_the_newest_are_shown_and_the_others_counted() -> None:
    found = bundle(procedures=tuple(rule(f"{at:03} Oil the hinges of the gate.") for at in range(500)))
    text = boot.bundle_text(found, CHARS)
    shown = [line for line in text.splitlines() if "Oil the hinges" in line]
    assert shown == [boot.record_line(each) for each in found.procedures[: len(shown)]]
    assert 20 < len(shown) < 500
    assert f"{500 - len(shown)} more: pyramid procedure list" in text
    assert len(text) <= CHARS


@pytest.mark.parametrize(("part", "verb"), [("entities", "entity"), ("topics", "topic")])
def test_what_does_not_fit_is_counted_with_the_command_that_lists_it(part: str, verb: str) -> None:
    make = record if part == "entities" else topic
    found = bundle(**{part: tuple(make(f"{at}{'x' * 600}") for at in range(5))})
    text = boot.bundle_text(found, CHARS)
    left = 5 - text.count("x" * 600 + " [")
    assert 0 < left < 5
    assert f"{left} more: pyramid {verb} list" in text


def test_a_query_changes_what_the_notes_are_called() -> None:
    recent = (note("n1", "The pump."),)
    assert "Newest notes." in boot.bundle_text(bundle(recent=recent), CHARS)
    assert "Notes that fit." in boot.bundle_text(bundle(recent=recent, query="pump"), CHARS)


def test_long_descriptions_are_cut_at_a_word_as_the_map_has_all_of_them() -> None:
    text = boot.bundle_text(bundle(models=(model("plot", "berry " * 90),)), CHARS)
    assert "berry … [" in text
    assert text.count("berry") < 40


SIZES = st.integers(0, 700)
NAMES = st.integers(1, 60)


@given(
    st.lists(st.tuples(NAMES, SIZES), max_size=80),
    st.lists(st.tuples(NAMES, SIZES), max_size=5),
    st.lists(SIZES, max_size=8),
    st.lists(SIZES, max_size=40),
    st.lists(st.integers(0, 5000), max_size=12),
    st.lists(st.integers(1, 300), max_size=4),
    st.integers(2_500, 12_000),
)
def test_it_is_never_longer_than_it_may_be_and_every_line_is_whole(
    models: list[tuple[int, int]],
    topics: list[tuple[int, int]],
    entities: list[int],
    rules: list[int],
    notes: list[int],
    said: list[int],
    chars: int,
) -> None:
    found = bundle(
        models=tuple(model(f"{at:02}{'m' * name}", "d " * (size // 2)) for at, (name, size) in enumerate(models)),
        topics=tuple(topic(f"{at}{'t' * name}", "T" * size) for at, (name, size) in enumerate(topics)),
        entities=tuple(record(f"{at}{'e' * size}") for at, size in enumerate(entities)),
        procedures=tuple(rule(f"{at} {'r' * size}") for at, size in enumerate(rules)),
        recent=tuple(note(f"n{at}", "水" * size) for at, size in enumerate(notes)),
        pending=3,
        notes=tuple("f" * size for size in said),
    )
    text = boot.bundle_text(found, chars)
    assert len(text) <= chars
    lines = set(text.splitlines())
    for each in (*found.entities, *found.procedures):
        line = boot.record_line(each)
        assert line in lines or line[:12] not in {shown[:12] for shown in lines}
    shown = sum(boot.record_line(each) in lines for each in found.procedures)
    assert shown == len(rules) or f"{len(rules) - shown} more: pyramid procedure list" in lines
    assert [boot.record_line(each) in lines for each in found.procedures] == [at < shown for at in range(len(rules))]


def test_every_models_name_stands_before_anything_else_has_room() -> None:
    models = tuple(model(f"bed-{at:02}", "long " * 30) for at in range(60))
    text = boot.bundle_text(bundle(models=models, recent=tuple(note(f"n{at}", "x" * 500) for at in range(9))), CHARS)
    assert all(each.name in text for each in models)


def test_a_history_shows_each_session_with_its_day_and_its_text_quoted() -> None:
    session = SessionText(
        "h1", "sessions/h1.md", "s1", "The pump", "2026-03-14", ("pumps",), "Mended.\nTwice.", "spade"
    )
    found = History("/v", "pumps", "The pumps", 2, (session,), "showing the most recent 1 of 2 sessions")
    text = boot.history_text(found)
    assert "# pumps — The pumps\n[2 sessions, newest first]\nshowing the most recent 1 of 2 sessions\n" in text
    assert text.endswith("[[h1]] · 2026-03-14 · The pump · spade\n> Mended.\n> Twice.")
    bare = boot.history_text(dataclasses.replace(found, title="pumps", total=0, sessions=(), note=""))
    assert bare.endswith("# pumps\n[0 sessions, newest first]\nNo session lists it yet.")

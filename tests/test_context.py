"""What answers contain beside a view: counts, spans, the newest notes over all models, the names that may be meant."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pyramid_fs import context
from pyramid_fs.errors import NoSuchModel
from pyramid_fs.notes import Card, Dated, Note, Source, Summary
from pyramid_fs.pyramid import Files, State, derive

START = datetime(2026, 11, 1, tzinfo=UTC)


def note(name: str, day: float, model: str = "m", *, chars: int = 10, problem: str = "", text_path: str = "") -> Note:
    time = START + timedelta(days=day)
    path = f"models/{model}/{name}.md"
    return Note(path, name, time, Dated.KEY, name, chars, 1, time, problem=problem, text_path=text_path)


def summary(handle: str, tier: int, first: float, last: float, *sources: str) -> Summary:
    return Summary(
        path=f"models/m/tier-{tier}/{handle}.md",
        handle=handle,
        tier=tier,
        batch=1,
        created=START + timedelta(days=90 + tier),
        span_from=START + timedelta(days=first),
        span_to=START + timedelta(days=last),
        note_count=len(sources),
        sources=tuple(Source(source, source, START) for source in sources),
        digest=handle,
        chars=10,
        lines=1,
    )


def state(*files: Note | Summary) -> State:
    notes = tuple(file for file in files if isinstance(file, Note))
    return derive(Files("m", notes, tuple(file for file in files if isinstance(file, Summary))))


def test_active_summaries_are_counted_by_tier() -> None:
    low = [summary(f"s{number}", 0, 1, 1, f"n{number}") for number in range(3)]
    assert context.by_tier(state(*low, summary("r", 1, 1, 1, "s0", "s1"))) == {"0": 3, "1": 1}


def test_tiers_are_counted_in_the_order_of_numbers() -> None:
    files = [summary("t0", 0, 1, 1, "n")]
    files += [summary(f"t{tier}", tier, 1, 1, f"t{tier - 1}") for tier in range(1, 12)]
    assert list(context.by_tier(state(*files))) == [str(tier) for tier in range(12)]


def test_the_span_of_a_model_runs_over_summaries_and_tail() -> None:
    low = summary("s", 0, 2, 5, "gone")
    assert context.span(state(low, note("a", 3))) == (START + timedelta(days=2), START + timedelta(days=5))
    assert context.span(state(note("a", 1), low, note("b", 9))) == (
        START + timedelta(days=1),
        START + timedelta(days=9),
    )
    assert context.span(state()) is None


def test_the_newest_notes_over_several_models_come_newest_first_each_text_once() -> None:
    own = note("a", 1, "one")
    embed = note("b", 1, "two", text_path="models/one/a.md")
    found = context.newest([state(own, note("c", 3, "one")), state(embed, note("d", 2, "two"))], 3)
    assert [entry.handle for entry in found] == ["c", "d", "a"]
    assert [entry.handle for entry in context.newest([state(own, note("c", 3, "one"))], 1)] == ["c"]


def test_a_model_says_why_it_waits_and_what_needs_a_person() -> None:
    sound = Card("models/m/m.md", "m")
    one, two = note("a", 1, problem="no date"), note("b", 2, problem="not UTF-8")
    assert context.waiting([], state(note("a", 1)), sound) == ()
    assert context.waiting(["s waits"], state(one), None) == ("s waits", "a needs a person: pyramid doctor")
    assert context.waiting([], state(one, two), replace(sound, problem="a bracket is open")) == (
        "2 files need a person: pyramid doctor",
        "its card can't be read: a bracket is open",
    )


# Names


def test_models_are_named_as_their_folders_are_each_once() -> None:
    known = ["cafe\u0301", "user"]
    assert context.check_models(["user", "caf\u00e9", "user"], known) == ["user", "cafe\u0301"]


@pytest.mark.parametrize(
    ("wanted", "known", "said"),
    [
        (["usr"], ["user", "work"], "no model 'usr'; the closest: user"),
        (["USER"], ["user"], "no model 'USER'; the closest: user"),
        (["moving"], ["moving-house", "x"], "no model 'moving'; the closest: moving-house"),
        (["zzz"], ["user", "work"], "no model 'zzz'; there are: user, work"),
        (["zzz"], list("abcdef"), "no model 'zzz'; there are: a, b, c, d, e and more, see `pyramid map`"),
        (["zzz"], [], "no model 'zzz'; there is none yet; `pyramid model new NAME --description '…'` makes one"),
        (["user", "x", "wrk"], ["user", "work"], "no model 'x', 'wrk'; the closest: work"),
        (
            ["q" * 500],
            [],
            f"no model {'q' * 80!r}; there is none yet; `pyramid model new NAME --description '…'` makes one",
        ),
    ],
)
def test_an_unknown_model_is_an_error_that_names_the_closest(wanted: list[str], known: list[str], said: str) -> None:
    with pytest.raises(NoSuchModel) as caught:
        context.check_models(wanted, known)
    assert str(caught.value) == said


def test_at_most_five_names_are_offered() -> None:
    known = [f"moving-{number}" for number in range(9)]
    assert len(context.closest("moving", known)) == 5

"""Topic threads: ordered by the sessions' own times, and cut where an answer is full."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import threads
from pyramid_fs.notes import Kind, Session, Shaped

DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


def session(number: int, *topics: str, chars: int = 100, hours: int = 0) -> Session:
    """Make the session of a day in March."""
    handle, time = f"2026-03-{number:02}-walk-{number:04}", DAY + timedelta(days=number, hours=hours)
    return Session(f"sessions/{handle}.md", handle, Kind.SESSION, time, chars=chars, topics=topics)


def card(slug: str, title: str = "", created: datetime = DAY, status: str = "open") -> Shaped:
    return Shaped(f"topics/{slug}.md", slug, Kind.TOPIC, created, title, status)


def order(found: list[threads.Thread]) -> list[str]:
    return [thread.slug for thread in found]


def test_threads_come_by_the_times_of_their_sessions_and_not_of_their_cards() -> None:
    cards = [card("hedges", created=DAY + timedelta(days=300)), card("walls", created=DAY)]
    found = threads.threads(cards, [session(2, "hedges"), session(5, "walls"), session(1, "walls")])
    assert order(found) == ["walls", "hedges"]
    assert [s.created.day for s in found[0].sessions] == [6, 2]
    assert found[0].active == DAY + timedelta(days=5)


def test_an_old_session_that_is_linked_today_makes_no_topic_the_most_recent() -> None:
    cards = [card("hedges"), card("walls")]
    before = [session(9, "walls"), session(5, "hedges"), session(1)]
    assert order(threads.threads(cards, before)) == ["walls", "hedges"]
    linked = [session(9, "walls"), session(5, "hedges"), session(1, "hedges")]
    after = threads.threads(cards, linked)
    assert order(after) == ["walls", "hedges"]
    assert [s.created.day for s in after[1].sessions] == [6, 2]


def test_a_topic_that_has_no_card_is_a_thread() -> None:
    (thread,) = threads.threads([], [session(3, "Ditches")])
    assert (thread.slug, thread.title, thread.status, thread.created) == ("Ditches", "ditches", "", None)
    assert len(thread.sessions) == 1


def test_topics_without_sessions_come_last_the_newest_first() -> None:
    cards = [card("old", created=DAY), card("new", created=DAY + timedelta(days=400)), card("walls")]
    found = threads.threads(cards, [session(1, "walls")])
    assert order(found) == ["walls", "new", "old"]
    assert found[1].active is None


def test_a_session_stands_in_each_of_its_topics_once() -> None:
    found = threads.threads([card("walls"), card("hedges")], [session(1, "walls", "Hedges", "WALLS")])
    assert {thread.slug: len(thread.sessions) for thread in found} == {"walls": 1, "hedges": 1}


@pytest.mark.parametrize(
    ("slug", "linked"),
    [
        ("kitchen", "Kitchen"),
        ("café", unicodedata.normalize("NFD", "Café")),
        (unicodedata.normalize("NFD", "café"), "café"),
        ("переезд", "Переезд"),
        ("搬家", "搬家"),
        ("straße", "STRASSE"),
    ],
)
def test_links_fit_a_card_but_for_case_and_composition(slug: str, linked: str) -> None:
    (thread,) = threads.threads([card(slug, "T")], [session(1, linked)])
    assert (thread.title, len(thread.sessions)) == ("T", 1)


def test_sessions_of_one_moment_are_in_the_order_of_their_handles() -> None:
    one, two = session(1, "walls"), session(2, "walls", hours=-24)
    assert one.created == two.created
    for given_ in ([one, two], [two, one]):
        (thread,) = threads.threads([], given_)
        assert thread.sessions == (two, one)


# How much fits


def test_of_fifty_one_sessions_fifty_are_shown_and_a_note_says_so() -> None:
    sessions = [session(number) for number in range(51)]
    shown = threads.fitting(sessions)
    assert shown == tuple(sessions[:50])
    assert threads.cap_note(len(shown), 51) == "showing the most recent 50 of 51 sessions"
    assert threads.cap_note(50, 50) == ""


@pytest.mark.parametrize(
    ("chars", "shown"),
    [
        ([40_000], 1),
        ([40_001], 1),
        ([900_000, 1], 1),
        ([20_000, 20_000], 2),
        ([20_000, 20_000, 0], 3),
        ([20_000, 20_001], 1),
        ([39_999, 2, 1], 1),
        ([1, 40_000], 1),
        ([], 0),
    ],
)
def test_as_many_fit_as_their_characters_allow_and_the_newest_always(chars: list[int], shown: int) -> None:
    assert len(threads.fitting([session(at, chars=count) for at, count in enumerate(chars)])) == shown


@given(st.lists(st.integers(0, 30), max_size=9), st.integers(1, 8), st.integers(0, 40))
def test_what_fits_is_the_longest_beginning_within_the_bounds(chars: list[int], most: int, room: int) -> None:
    sessions = [session(at, chars=count) for at, count in enumerate(chars)]
    shown = threads.fitting(sessions, most, room)
    assert shown == tuple(sessions[: len(shown)])
    assert bool(shown) == bool(sessions)
    assert len(shown) <= most
    assert len(shown) == 1 or sum(s.chars for s in shown) <= room
    following = sessions[: len(shown) + 1]
    assert len(following) == len(shown) or len(following) > most or sum(s.chars for s in following) > room

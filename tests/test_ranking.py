"""The order of what a query finds."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import words
from pyramid_fs.ranking import (
    WEIGHTS,
    Column,
    Day,
    Group,
    Place,
    Sought,
    days,
    idf,
    rank,
    sought,
    united,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from pyramid_fs.ranking import Doc


def terms_of(query: str) -> list[str]:
    return [one.whole for one in sought(words.asked(query)).sought]


def nowhere(doc: Doc) -> tuple[Place, ...]:
    return ()


def order(
    columns: Sequence[Column], places: Mapping[Doc, Sequence[Place]] | None = None, aside: Sequence[Doc] = ()
) -> list[Doc]:
    return [one.doc for one in rank(columns, lambda doc: (places or {}).get(doc, ()), aside)]


def test_what_every_question_says_is_not_sought() -> None:
    assert terms_of("When did the writer start?") == ["writer", "start"]
    assert terms_of("in May for us") == ["may", "us"]


def test_stop_words_are_sought_for_want_of_others() -> None:
    assert terms_of("who is it") == ["who"]
    assert terms_of("to be or not to be") == ["not"]
    assert terms_of("to be of it") == ["to", "be", "of", "it"]
    assert sought(()).sought == ()


def test_each_word_is_sought_once_and_a_part_less_than_the_whole() -> None:
    asked = sought(words.asked("buffer_writer writer writer"))
    parts = (("buffer", 0.5), ("writer", 0.5))
    assert asked.sought == (Sought((("buffer_writer", 1.0),), parts), Sought((("writer", 1.0),)))


def test_the_rarest_words_of_a_long_query_are_kept_in_their_order() -> None:
    having = {"one": 5, "two": 1, "four": 2, "five": 9}
    asked = sought(
        [(word,) for word in ("one", "two", "three", "four", "five")], lambda term: having.get(term, 0), most=3
    )
    assert [word.terms[0][0] for word in asked.sought] == ["one", "two", "four"]
    assert asked.cut == 2
    assert [word.terms[0][0] for word in sought([("one",), ("two",)], most=1).sought] == ["one"]


def test_a_rare_word_tells_more() -> None:
    assert idf(100, 1) > idf(100, 50) > idf(100, 100) > 0


def test_a_column_adds_up_the_terms_of_a_word() -> None:
    made = united([(2.0, {"a": 1.0}), (0.5, {"a": 0.25, "b": 0.125})], ())
    assert made == Column({"a": 1.25, "b": 0.125}, 2.5)
    assert united([], ()) == Column()


def test_parts_of_a_word_count_together_or_with_the_whole() -> None:
    weld, twelve = (1.0, {"a": 0.5, "b": 0.5, "c": 0.5}), (1.0, {"a": 0.25, "b": 0.25, "d": 0.25})
    made = united([(2.0, {"a": 1.0, "c": 1.0})], [weld, twelve])
    assert made == Column({"a": 1.75, "b": 0.75, "c": 1.5}, 4.0)


def test_without_places_the_words_decide() -> None:
    assert rank([], nowhere) == []
    assert order([Column({"a": 1.0, "b": 2.0}, 3.0), Column({"a": 2.0, "c": 0.5}, 3.0)]) == ["a", "b", "c"]


def test_the_note_next_to_another_completes_it() -> None:
    one, two = Column({"a": 1.0, "b": 1.0}, 2.0), Column({"n": 1.0}, 2.0)
    places = {"a": [Place()], "b": [Place(after=("n",))], "n": [Place(before=("b",))]}
    found = {hit.doc: hit for hit in rank([one, two], lambda doc: places[str(doc)])}
    assert found["a"].near == 0
    assert found["b"].near == pytest.approx(WEIGHTS.near, abs=1e-5)
    assert found["b"].score > found["a"].score


def test_a_word_that_a_note_has_itself_adds_little_from_the_next() -> None:
    places = {"b": [Place(after=("n",))]}
    same = rank([Column({"b": 1.0, "n": 1.0}, 2.0), Column({}, 2.0)], lambda doc: places.get(str(doc), []))
    assert 0 < same[0].near < WEIGHTS.near / 2


def test_a_note_without_a_word_is_no_hit_and_one_beside_a_seed_is_ranked_with_it() -> None:
    places = {"a": [Place(after=("b", "c", "d"))], "b": [Place(before=("a",))], "c": [Place(before=("b", "a"))]}
    column = Column({"a": 1.0, "c": 0.25, "b": 0.125}, 2.0)
    found = rank([column], lambda doc: places.get(str(doc), []), seeds=1)
    assert [(hit.doc, hit.own) for hit in found] == [("a", 1.0), ("b", 0.125)]


def test_a_text_with_every_word_comes_first() -> None:
    one, two, none = Column({"a": 0.25, "b": 1.0}, 2.0), Column({"a": 0.25, "n": 1.0}, 2.0), Column({}, 2.0)
    places = {"b": [Place(after=("n",))], "n": [Place(before=("b",))]}
    found = rank([one, two, none], lambda doc: places.get(str(doc), []))
    assert [hit.doc for hit in found] == ["a", "b", "n"]
    assert [hit.every > 0 for hit in found] == [True, False, False]
    assert rank([one], lambda _: [])[0].every == 0


def test_long_notes_gain_less_from_what_is_around_them() -> None:
    def near(length: float) -> float:
        place = Place(after=("n",), length=length)
        found = rank([Column({"b": 1.0}, 2.0), Column({"n": 1.0}, 2.0)], lambda doc: (place,) if doc == "b" else ())
        return {hit.doc: hit.near for hit in found}["b"]

    assert near(WEIGHTS.reach) == pytest.approx(near(0) / 2, abs=1e-5)


def test_a_batch_and_its_summary_give_to_their_notes() -> None:
    batch = Place(groups=(Group("one", "s"), Group("above")))
    columns = [Column({"a": 1.0, "b": 1.0, "c": 1.0, "s": 1.5}, 2.0)]
    found = rank(columns, lambda doc: (batch,) if doc in {"a", "b"} else (), aside={"s"})
    assert [hit.doc for hit in found] == ["a", "b", "c"]
    assert found[0].summary == pytest.approx(WEIGHTS.summary * 1.5)
    assert found[0].group == pytest.approx(2 * WEIGHTS.group * 2 * 2 / 3, abs=1e-5)
    assert found[2].group == found[2].summary == 0


def test_of_several_places_the_one_that_gives_most_counts() -> None:
    columns = [Column({"a": 1.0}, 2.0), Column({"n": 1.0}, 2.0)]
    both = [Place(before=("n",)), Place(before=("m",))]
    assert rank(columns, lambda doc: both if doc == "a" else ())[0].near == pytest.approx(WEIGHTS.near, abs=1e-5)


def test_a_name_and_a_date_are_a_soft_bonus() -> None:
    columns = [Column({"a": 2.0, "b": 1.8, "c": 1.0}, 4.0)]
    found = rank(columns, nowhere, named=[{"b", "c"}, {"b"}], dated=lambda doc: 0.5 if doc == "c" else 0.0)
    assert [hit.doc for hit in found] == ["b", "a", "c"]
    assert [hit.name for hit in found] == [0.5, 0, 0.5]
    assert [hit.date for hit in found] == [0, 0, 0.1]


def test_only_the_best_and_their_equals_pass_score_on() -> None:
    asked: list[str] = []

    def places(doc: Doc) -> tuple[Place, ...]:
        asked.append(str(doc))
        return ()

    rank([Column({"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0, "s": 5.0}, 9.0)], places, aside={"s"}, seeds=2)
    assert sorted(asked) == ["a", "b", "c"]


@given(st.lists(st.dictionaries(st.integers(0, 30), st.floats(0.01, 4.99), min_size=1), min_size=1), st.randoms())
def test_the_score_is_the_sum_of_its_parts_in_any_order_of_the_input(
    found: list[dict[int, float]], chance: random.Random
) -> None:
    def place(doc: Doc) -> tuple[Place, ...]:
        at = hash(doc)
        return (Place((at - 1, at - 2), (at + 1, at + 2), (Group(at // 10, -1),), 50.0),)

    def mixed(column: dict[int, float]) -> Column:
        items = list(column.items())
        chance.shuffle(items)
        return Column(dict(items), 5.0)

    once = rank([Column({doc: one[doc] for doc in one}, 5.0) for one in found], place, named=[{1, 2}], seeds=5)
    again = rank([mixed(one) for one in found], place, named=[{1, 2}], seeds=5)
    assert {hit.doc: hit.score for hit in once} == pytest.approx({hit.doc: hit.score for hit in again}, abs=2e-6)
    assert all(hit.score == pytest.approx(sum(hit[2:]), abs=1e-6) for hit in once)
    assert [hit.score for hit in once] == sorted((hit.score for hit in once), reverse=True)
    assert min(min(hit[1:]) for hit in once) >= 0


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("on 8 May, 2023?", [Day(2023, 5, 8)]),
        ("the 8th of May", [Day(None, 5, 8)]),
        ("May 8th, 2023 or June 1", [Day(2023, 5, 8), Day(None, 6, 1)]),
        ("in May 2023", [Day(2023, 5)]),
        ("September 2023", [Day(2023, 9)]),
        ("last march", [Day(None, 3)]),
        ("since 2021", [Day(2021)]),
        ("2023-05-08 2023-05", [Day(2023, 5, 8), Day(2023, 5)]),
        ("8 May and 8 May", [Day(None, 5, 8)]),
        ("how may I march 2023-13-01 1-2023-05 in 20231", []),
    ],
)
def test_dates_in_a_query(query: str, named: list[Day]) -> None:
    assert list(days(query)) == named


def test_a_date_matches_what_a_query_leaves_open() -> None:
    assert Day(None, 5).matches(date(2023, 5, 8))
    assert Day(2023, 5, 8).matches(date(2023, 5, 8))
    assert not Day(2023, 5, 9).matches(date(2023, 5, 8))
    assert not Day(2022, 5, 8).matches(date(2023, 5, 8))


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_may_be_asked_for(text: str) -> None:
    assert all(day.year or day.month for day in days(text))
    asked = sought(words.asked(text))
    assert bool(asked.sought) == bool(words.terms(text))


def test_the_second_note_away_gives_less_and_the_third_nothing() -> None:
    columns = [Column({"a": 1.0}, 2.0), Column({"n": 1.0}, 2.0)]

    def near(*after: str) -> float:
        return rank(columns, lambda doc: (Place(after=after),) if doc == "a" else ())[0].near

    assert near("n") > near("m", "n") > near("m", "m", "n") == 0


def test_a_text_aside_takes_no_rank_as_a_neighbour_either() -> None:
    place = Place(after=("s",), groups=(Group("one"), Group("two"), Group("three", "s")))
    found = rank([Column({"a": 1.0, "s": 1.0}, 2.0)], lambda doc: (place,), aside={"s"})
    assert [hit.doc for hit in found] == ["a"]
    assert found[0].summary == 0

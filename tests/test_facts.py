"""The facts of a text, and which of them another text still holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import facts
from pyramid_fs.facts import Fact, Names
from pyramid_fs.summarizers.claims import Day


def values(text: str, kind: str) -> set[object]:
    """List the sure facts of one kind in a text."""
    return {fact.value for fact in facts.told(text).sure if fact.kind == kind}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met Mara and Jean-Luc in Lisbon.", {"mara", "jean", "luc", "lisbon"}),
        ("it was Mara's idea, and I’m sure that I've told Mara so", {"mara"}),
        ("Recently we walked. Walking is nice.", set()),
        ("See you on Monday, and thanks!", set()),
        ("вчера мы видели Марину в Казани", {"мари", "каза"}),
        ("我们在里斯本见到了玛拉。", set()),
        ("Der Hund und die Katze liegen mit dem Ball in der Sonne von Lissabon.", set()),
        ("we leave on 5 May for Oslo", {"oslo"}),
        ("we leave in early May for Oslo", {"may", "oslo"}),
    ],
)
def test_names_are_words_with_a_capital_inside_a_sentence(text: str, names: set[str]) -> None:
    assert values(text, "names") == names


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["Mara paid.", "I asked Mara about it."], {"mara"}),
        (["Mara paid.", "Mara left."], {"mara"}),
        (["Mara paid. Mara left."], {"mara"}),
        (["Mara paid."], set()),
        (["Rust is bad.", "Rust again.", "the rust of the old boat"], set()),
        (["Walking helps.", "Walking again."], set()),
        (["The boat leaks.", "The boat leaks."], set()),
    ],
)
def test_a_word_that_begins_a_sentence_is_a_name_where_other_texts_say_so(texts: list[str], names: set[str]) -> None:
    learned = Names()
    found = learned.told(texts[0])
    for text in texts[1:]:
        learned.told(text)
    assert {fact.value for fact in found.with_names(learned.known)} == names
    assert found.with_names(frozenset()) == frozenset()


@pytest.mark.parametrize(
    ("text", "numbers", "dates"),
    [
        ("it cost 1,250 euros, or 3.50 a piece", {"1250", "3.5"}, set()),
        ("on 5 May 2024 at 10:30", {"10:30"}, {(Day(2024, 5, 5),)}),
        ("2024-05-05", set(), {(Day(2024, 5, 5),)}),
        ("3/4/2026", set(), {(Day(2026, 4, 3), Day(2026, 3, 4))}),
        ("२ किताबें", {"2"}, set()),
        ("nothing", set(), set()),
    ],
)
def test_numbers_are_those_outside_dates(text: str, numbers: set[str], dates: set[tuple[Day, ...]]) -> None:
    assert (values(text, "numbers"), values(text, "dates")) == (numbers, dates)


@pytest.mark.parametrize(
    ("fact", "text", "count"),
    [
        ("in Lisbon", "the LISBON trip", 1),
        ("with Mara", "the boat is mara's", 1),
        ("with Mara", "the marathon", 0),
        ("видели Марину", "пришла Марина", 1),
        ("all of 1,250", "some 1250 of them", 1),
        ("all of 1,250", "some 12 of 50", 0),
        ("back in 2022", "in May 2022", 1),
        ("on 5 May 2024", "2024-05-05", 1),
        ("on 5 May 2024", "5. Mai", 1),
        ("on 5 May 2024", "in May 2024", 0),
        ("on 5 May 2024", "on 6 May 2024", 0),
        ("on 5 May 2024", "on 5 May 2023", 0),
        ("in May 2024", "on 5 May 2024", 1),
        ("on 3/4/2026", "on 4 March 2026", 1),
    ],
)
def test_a_fact_is_held_however_it_is_spelled(fact: str, text: str, count: int) -> None:
    known = facts.told(fact).sure
    assert len(known) == 1
    assert len(facts.held(known, text)) == count


@given(st.text(), st.text())
def test_a_text_holds_its_own_facts_whatever_follows(text: str, more: str) -> None:
    known = facts.told(text).sure
    assert facts.held(known, text) == known
    assert facts.held(known, f"{text}\n—\n{more}") == known


def test_facts_are_counted_by_kind() -> None:
    found = facts.told("with Mara and Otto for 20 euros on 5 May").sure
    assert facts.by_kind(found) == {"names": 2, "numbers": 1, "dates": 1}
    assert facts.by_kind([Fact("dates", (Day(0, 5, 5),))]) == {"names": 0, "numbers": 0, "dates": 1}

"""What a query asks for: words, phrases, words left out; and the part of a text that answers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import query, words
from pyramid_fs.query import FRAGMENT, WORDS, Query, fragment, holds, parse, squeezed

# Reading a query


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("train Harbour", Query((("train",), ("harbour",)))),
        ('the "Morning  Train" now', Query((("the",), ("now",)), ("morning train",))),
        ("train -ferries", Query((("train",),), (), ("ferri",))),
        ('train -"night ferry"', Query((("train",),), (), (), ("night ferry",))),
        ("train, (ferry)!", Query((("train",), ("ferri",)))),
        ("train train TRAIN", Query((("train",),))),
        ("- -- -!", Query(())),
        ("C++ ...", Query((("c++", "c"),))),
        ('say "', Query((("say",),))),
        ('"Café"', Query((), ("cafe",))),
        ("", Query(())),
    ],
)
def test_a_query_is_words_phrases_and_words_left_out(text: str, expected: Query) -> None:
    assert parse(text) == expected


def test_a_query_that_asks_for_nothing_is_blank() -> None:
    assert parse("* -train").is_blank
    assert not parse('"->"').is_blank
    assert not parse("train").is_blank


def test_too_many_words_are_cut_and_counted_but_no_required_one() -> None:
    asked = parse(" ".join(f"w{number}" for number in range(WORDS + 7)) + ' "a phrase" -minus')
    assert (len(asked.words), asked.cut, asked.phrases, asked.without) == (WORDS, 7, ("a phrase",), ("minu",))


@given(st.text(), st.text())
def test_any_text_is_a_query_and_any_text_an_answer(text: str, other: str) -> None:
    asked = parse(text)
    holds(asked, [text, other])
    fragment(other * 50, {term: 1.0 for word in asked.words for term in word}, asked.phrases)


# Phrases


def test_a_phrase_must_be_there_whatever_blanks_and_accents_are_in_it() -> None:
    assert holds(parse('"morning train"'), ["The Morning\n  Train leaves."])
    assert holds(parse('"a cafe"'), ["A Café."])
    assert not holds(parse('train "morning ferry"'), ["The morning train.", "ferry"])
    assert holds(parse('"one" "two"'), ["one", "two"])


def test_a_phrase_left_out_must_be_in_no_text() -> None:
    assert holds(parse('train -"night ferry"'), ["A train.", "ferry"])
    assert not holds(parse('train -"night ferry"'), ["A train.", "tags: night ferry"])


def test_a_text_is_squeezed_to_one_blank() -> None:
    assert squeezed(" A\n\tb  C ") == "a b c"


# The part of a text that is shown


def test_a_short_text_is_shown_whole() -> None:
    text = "word " * (2 * FRAGMENT // 5)
    assert fragment(text, {"word": 1.0}) == text


def test_a_long_text_is_shown_where_most_of_the_words_stand() -> None:
    text = "saffron " + "filler " * 200 + "saffron and turmeric together " + "filler " * 200
    shown = fragment(text, {"saffron": 1.0, "turmer": 1.0})
    assert "saffron and turmeric" in shown
    assert len(shown) <= FRAGMENT + 4
    assert (shown[:2], shown[-2:]) == ("… ", " …")
    assert fragment(text, {"saffron": 1.0}).startswith("saffron filler")
    assert fragment(text, {}).startswith("saffron filler")


def test_a_phrase_is_shown_before_words() -> None:
    text = "saffron turmeric " * 40 + "the old\nred boat " + "saffron turmeric " * 40
    assert "old\nred boat" in fragment(text, {"saffron": 1.0, "turmer": 2.0}, ["old red"])
    assert fragment(text, {"saffron": 1.0}, ["not here"]).startswith("saffron")


def test_a_text_without_blanks_is_cut_all_the_same() -> None:
    shown = fragment("x" * 2000, {})
    assert shown == "x" * FRAGMENT + " …"
    assert len(fragment("三月" * 500 + "雨" + "三月" * 500, {"雨": 1.0})) <= FRAGMENT + 4


def test_a_word_found_far_into_a_text_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "SOUGHT", 1_000)
    assert fragment("word " * 400 + "saffron", {"saffron": 1.0}).startswith("word word")


@given(st.text(max_size=3), st.integers(0, 700))
def test_the_fragment_holds_the_word_found(letters: str, before: int) -> None:
    text = "w " * before + letters + " saffron " + letters + " w" * 700
    assert "saffron" in fragment(text, dict.fromkeys(words.terms("saffron"), 1.0)) or "saffron" not in text


def test_the_best_place_in_a_text_of_many_words_found_takes_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        found = [(number * 9, f"word{number}") for number in range(count)]
        worth = {term: 1.0 for _, term in found}
        begun = time.process_time()
        query._densest(found, worth)
        return time.process_time() - begun

    seconds(100)
    # ten times the words in ten times the time, or thrice that where the machine has other things to do
    assert seconds(20_000) < max(0.5, 30 * seconds(2_000))

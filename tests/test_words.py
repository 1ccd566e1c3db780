"""The words of a text: one spelling finds another."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import words

FOUND = [
    ("cafe", "Le café est ouvert"),
    ("strasse", "die Straße"),
    ("lodz", "Łódź"),
    ("Jose\u0301", "José"),
    ("José", "Jose\u0301"),
    ("🎉", "party 🎉🎉"),
    ("❤", "love ❤\ufe0f"),
    ("C++", "I like C++."),
    ("C#", "C# is"),
    ("R&D", "the R&D team"),
    ("2.3.1", "v2.3.1"),
    ("2.3", "version v2.3.1"),
    ("session_id", "user_session_id"),
    ("BufferedWriter", "a bufferedwriter"),
    ("buffered writer", "class BufferedWriter"),
    ("index_store", "see src/lib/index_store.py"),
    ("index_store", "C:\\x\\index_store.py"),
    ("OReilly", "O'Reilly"),
    ("O’Reilly", "OReilly"),
    ("TBD", "TBD"),
    ("B", "Plan B"),
    ("to be or not to be", "to be or not to be"),
    ("foo", "title:foo"),
    ("full", "ｆｕｌｌ ｗｉｄｔｈ"),
    ("東京", "私は東京に住む"),
    ("京", "東京"),
    ("カタカナ", "ｶﾀｶﾅ"),
    ("ภาษาไทย", "ผมพูดภาษาไทย"),
    ("한국어", "한국어를"),
    ("हिन्दी", "हिन्दी में"),
    ("don't", "dont"),
    ("dont", "don't"),
    ("Anna", "Anna's"),
    ("they", "they're"),
    ("__init__", "def __init__(self)"),
    ("UTF8", "UTF-8"),
    ("€", "5 €"),
    ("x", "\x00x"),
    ("a", "\ud800 a"),
    ("USA", "U.S.A."),
    ("U.S.A.", "USA"),
    ("email", "e-mail"),
    ("e-mail", "email"),
    ("went", "going"),
    ("children", "a child"),
    ("running", "ran"),
    ("İstanbul", "istanbul"),
]


@pytest.mark.parametrize(("query", "text"), FOUND)
def test_a_query_finds_a_text(query: str, text: str) -> None:
    held = set(words.terms(text))
    asked = list(words.asked(query))
    assert asked
    assert all(held & set(word) for word in asked)


def test_words_of_another_meaning_stay_apart() -> None:
    assert not set(words.terms("C")) & set(words.terms("see"))
    assert "c++" not in words.terms("C#")
    assert words.terms("— … «»") == []
    assert list(words.asked("— …")) == []


def test_a_part_of_a_word_stands_behind_the_whole() -> None:
    assert next(words.asked("user_session")) == ("user_session", "user", "session")
    assert next(words.asked("v2.3.1"))[:2] == ("v2.3.1", "2.3.1")
    assert list(words.asked("東京都")) == [("東京",), ("京都",)]


def test_the_letters_of_a_word_are_told_apart_from_the_marks_around_it() -> None:
    text = "(Émile's) 東京"
    assert [(text[start:end], terms) for start, end, terms in words.spans(text)] == [
        ("Émile's", ("emil",)),
        ("東京", ("東", "京", "東京")),
    ]


def test_odd_words_are_kept_short_and_whole() -> None:
    assert words.terms("\u0300") == []
    assert words.terms("x" * 1000) == ["x" * words.LONGEST]
    assert words.terms("a" * 70 + "Bc") == ["a" * 64]
    assert words.terms("1.1" * 40)[0] == ("1.1" * 40)[: words.LONGEST]
    assert words.terms("_") == ["_"]
    assert "rock'n'roll" in words.terms("rock'n'roll")
    assert "rocknroll" in words.terms("rock'n'roll")
    assert words.terms("İ's") == words.terms("İ")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_has_words_that_find_it(text: str) -> None:
    held = words.terms(text)
    assert held == [term for _, _, terms in words.spans(text) for term in terms]
    assert all(0 < len(term) <= words.LONGEST for term in held)
    for word in words.asked(text):
        assert set(word) <= set(held)


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert words.fold(words.fold(text)) == words.fold(words.fold(words.fold(text)))


@pytest.mark.parametrize("piece", ["a", "a\n", "a.", "a'", "a/", "aB", "_", "1.", "東", "a's", "é.", "\u0301"])
def test_a_huge_text_takes_time_in_proportion(piece: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        assert len(words.terms(piece * count)) <= 3 * count
        return time.process_time() - start

    few, many = seconds(20_000), seconds(200_000)
    assert many < 60 * few + 0.5


@pytest.mark.parametrize(
    ("word", "alone", "parts"),
    [
        ("weld12", (), ("weld", "12")),
        ("BufferedWriter", (), ("buffer", "writer")),
        ("src/user_session.py", ("user_session.py", "user_session"), ("src", "user", "session", "py")),
        ("v2.3.1", ("2.3.1", "2.3"), ()),
        ("C++", (), ()),
        ("O'Reilly", ("oreilly",), ("reilli",)),
        ("l'amour", ("lamour",), ("amour",)),
        ("they're", ("thei",), ()),
        ("R&D", (), ("r", "d")),
        ("e-mail", ("email",), ("e", "mail")),
        ("train", (), ()),
    ],
)
def test_what_stands_for_a_word_by_itself_and_what_only_together(
    word: str, alone: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    (terms,) = words.asked(word)
    found_alone, found_parts = words.split(terms)
    assert set(alone) <= set(found_alone)
    assert not set(parts) & set(found_alone)
    assert found_parts == parts

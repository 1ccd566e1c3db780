"""What recall finds in one text: words, phrases, words left out, in any script; and the text around them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import scan
from pyramid_fs.scan import FRAGMENT, Found, Query, best, fragment, match, parse, weighed


def found(query: str, text: str, extra: str = "") -> Found | None:
    return match(parse(query), text, extra)


# Reading a query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("train Harbour", Query(("train", "harbour"), (), ())),
        ('the "Morning  Train" now', Query(("the", "now"), ("morning train",), ())),
        ("train -ferry", Query(("train",), (), ("ferry",))),
        ('train -"night ferry"', Query(("train",), (), ("night ferry",))),
        ("train, (ferry)!", Query(("train", "ferry"), (), ())),
        ("well-known", Query(("well-known", "well", "known"), (), ())),
        ("train train TRAIN", Query(("train",), (), ())),
        ("- --", Query(("-", "--"), (), ())),
        ("C++ ...", Query(("c++", "c", "..."), (), ())),
        ('say "', Query(("say", '"'), (), ())),
        ("", Query((), (), ())),
    ],
)
def test_a_query_is_words_phrases_and_words_left_out(text: str, query: Query) -> None:
    assert parse(text) == query


def test_a_word_that_is_a_phrase_too_is_looked_for_once() -> None:
    assert parse('"train" train') == Query((), ("train",), ())


def test_too_many_words_are_cut_and_counted_but_no_required_one() -> None:
    query = parse(" ".join(f"w{number}" for number in range(scan.WORDS + 7)) + ' "a phrase"')
    assert (len(query.words), query.cut, query.phrases) == (scan.WORDS, 7, ("a phrase",))


@given(st.text())
def test_any_text_is_a_query(text: str) -> None:
    match(parse(text), text, text)


# Finding


def test_more_words_rank_higher_and_none_is_required() -> None:
    text = "The morning train leaves at seven."
    one, both = found("train ferry", text), found("train morning", text)
    assert one
    assert both
    assert (one.score, both.score) == (0.5, 1.0)
    assert found("ferry harbour", text) is None


def test_a_phrase_must_be_there_whatever_line_ends_are_in_it() -> None:
    assert found('"morning train"', "The Morning\n  Train leaves.")
    assert found('train "morning ferry"', "The morning train.") is None


def test_a_word_left_out_must_not_be_there_in_text_or_front_matter() -> None:
    assert found("train -ferry", "A train.")
    assert found("train -ferry", "A train, a ferry.") is None
    assert found("train -ferry", "A train.", "tags: [ferry]") is None
    assert found("train -ferry", "A train, transferryed.")


def test_the_beginning_of_a_word_counts_less_and_its_middle_nothing() -> None:
    whole, start = found("train", "A train."), found("train", "A trainer.")
    assert whole
    assert start
    assert (whole.score, start.score) == (1.0, scan.PARTIAL)
    assert found("rain", "A train.") is None
    assert found("tr", "A train.") is None


def test_a_whole_word_is_found_behind_a_longer_one() -> None:
    hit = found("train", "The trainer and the train.")
    assert hit == Found(1.0, 20, (1.0,))


def test_what_a_person_wrote_in_front_matter_is_found() -> None:
    assert found("harbour", "A train.", "title: The harbour") == Found(1.0, 0, (1.0,))
    assert found('"the harbour"', "A train.", "title: The harbour")
    assert found("harbour", "A harbourside.", "title: The harbour") == Found(1.0, 0, (1.0,))
    assert found("harbour", "A harbour.", "title: The harbourside") == Found(1.0, 2, (1.0,))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("STRASSE", "die straße"),
        ("café", "CAFE\u0301"),
        ("１２３", "room 123"),
        ("ﬁne", "it is fine"),
        ("東京", "昨日東京に行った"),
        ("กรุง", "ไปกรุงเทพ"),
        ("☂", "rain ☂ again"),
        ("user_id", "the user_id column"),
    ],
)
def test_one_spelling_finds_another_in_any_script(query: str, text: str) -> None:
    assert found(query, text)


def test_the_first_place_of_a_word_or_a_phrase_is_given() -> None:
    assert found("seven train", "The train at seven.") == Found(1.0, 4, (1.0, 1.0))
    hit = found('"at seven"', "The train at seven.")
    assert hit
    assert hit.at == 10


# Ranking


def test_the_best_come_first_and_of_equals_the_newer() -> None:
    low, high = Found(0.5, 0), Found(1.0, 0)
    ranked = best([(low, "2026-02", "b"), (high, "2026-01", "a"), (high, "2026-03", "c"), (low, "2026-09", "d")], 3)
    assert [path for _, _, path in ranked] == ["c", "a", "d"]


def test_a_rare_word_weighs_more_than_one_that_stands_everywhere() -> None:
    texts = {"a": "the train", "b": "the harbour", "c": "the", "d": "the"}
    hits = {path: hit for path, text in texts.items() if (hit := found("the harbour", text))}
    scores = {path: hit.score for path, hit in weighed(hits, 100).items()}
    assert scores["b"] == 1.0
    assert scores["a"] == scores["c"] < 0.5


def test_phrases_alone_are_not_weighed() -> None:
    hit = found('"the train"', "the train")
    assert hit
    assert weighed({"a": hit}, 9) == {"a": hit}
    assert weighed({}, 9) == {}


# Fragments


def test_a_text_of_up_to_two_fragments_is_shown_whole() -> None:
    text = "word " * (2 * FRAGMENT // 5)
    assert fragment(text, 400) == text
    assert fragment(f"{text}.", 0) != text


def test_a_fragment_holds_the_place_ends_at_words_and_is_marked() -> None:
    words = [f"word{number:04d}" for number in range(400)]
    text = " ".join(words)
    for number in (0, 1, 20, 200, 398, 399):
        part = fragment(text, text.index(words[number]))
        assert words[number] in part
        assert set(part.split()) <= {*words, "…"}
        assert part.startswith("… ") == (not part.startswith(words[0]))
        assert part.endswith(" …") == (not part.endswith(words[-1]))
        assert len(part) <= FRAGMENT + 4


def test_a_text_without_blanks_is_cut_within() -> None:
    part = fragment("x" * 2000, 1000)
    assert part == f"… {'x' * FRAGMENT} …"


@pytest.mark.parametrize(
    "filler",
    ["Straße ", "ﬃ ", unicodedata.normalize("NFD", "é à ô "), "㍿ "],
    ids=["longer when folded", "a ligature", "shorter when composed", "four for one"],
)
def test_a_fragment_shows_the_word_that_was_found_however_folding_moved_it(filler: str) -> None:
    text = f"{filler * 800}needle {filler * 800}"
    hit = found("needle", text)
    assert hit
    assert "needle" in fragment(text, hit.at)


@given(st.text(min_size=0, max_size=2000), st.integers(0, 4000))
def test_a_fragment_of_any_text_is_a_part_of_it(text: str, at: int) -> None:
    part = fragment(text, at)
    assert part.removeprefix("… ").removesuffix(" …") in text or part in text

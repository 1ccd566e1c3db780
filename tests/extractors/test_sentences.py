"""Sentences of a digest come as they stand, and end where they end."""

from __future__ import annotations

import pytest

from pyramid_fs.extractors.sentences import LONGEST, sentences


def told(text: str) -> list[str]:
    return list(sentences(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Halloran met J. R. Holm. It rained.", ["Dr. Halloran met J. R. Holm.", "It rained."]),
        ("Am 14. Mai kam er. Es war z. B. kalt.", ["Am 14. Mai kam er.", "Es war z. B. kalt."]),
        ("It ends on June 9. Then it is over.", ["It ends on June 9.", "Then it is over."]),
        ("It cost 3.50 at example.org today. Fine.", ["It cost 3.50 at example.org today.", "Fine."]),
        ('He said "Go!" and left. "Stay." She did.', ['He said "Go!"', "and left.", '"Stay."', "She did."]),
        ("一。二！三？", ["一。", "二！", "三？"]),
        ("एक। दो।", ["एक।", "दो।"]),
        ("نعم؟ لا.", ["نعم؟", "لا."]),
        ("- one\n- two\n\n1. three", ["one", "two", "three"]),
        ("# A heading\nA text", ["A text"]),
        ("a\n```\ncode. more.\n```\nb", ["a", "b"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_a_text_comes_apart_where_sentences_end(text: str, expected: list[str]) -> None:
    assert told(text) == expected


def test_lines_that_a_hard_wrap_broke_are_one() -> None:
    long = "this line goes on for more than fifty characters and so it"
    assert told(f"{long}\nends here. Then\nanother") == [f"{long}\nends here.", "Then", "another"]


def test_what_never_ends_is_taken_in_pieces() -> None:
    text = "word " * 1000
    assert all(len(piece) <= LONGEST for piece in told(text))
    assert " ".join(told(text)).split() == text.split()
    assert "".join(told("字" * 5000)) == "字" * 5000

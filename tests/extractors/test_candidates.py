"""Candidates are compared by their words, joined where they are the same, and left out where they leak."""

from __future__ import annotations

import pytest

from pyramid_fs import leaks
from pyramid_fs.extractors import Candidate, clean
from pyramid_fs.extractors.candidates import fold, merged, standing
from pyramid_fs.notes import Kind


def made(text: str, sure: float = 0.5, label: str = "", evidence: str = "", kind: Kind = Kind.ENTITY) -> Candidate:
    return Candidate(kind, text, label, sure, evidence or text)


def test_the_same_in_another_spelling_is_one_with_the_higher_confidence_and_the_first_label() -> None:
    assert merged([made("Ada  Brennan", 0.5), made("ada brennan", 0.9, "person"), made("Ada", 0.4)]) == [
        made("Ada  Brennan", 0.9, "person"),
        made("Ada", 0.4),
    ]
    assert len(merged([made("Ada"), made("Ada", kind=Kind.PROCEDURE)])) == 2


def test_composition_and_case_are_folded() -> None:
    assert fold("Cafe\u0301  ADA\n") == fold("café ada")


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("goes on and ends", "goes on\nand ends"),
        ("  The text goes ", "The text goes"),
        ("The text goes\n on", "The text goes on"),
        ("The text went", ""),
        ("", ""),
        ("(.*)", ""),
    ],
)
def test_a_quote_must_stand_in_the_text_but_for_white_space(quote: str, found: str) -> None:
    assert standing(quote, "The text goes on\nand ends.") == found


def test_what_holds_a_secret_is_left_out() -> None:
    secret = "password: " + "correct-horse-battery"
    kept = made("Ada", evidence="Ada said hello.")
    assert clean([kept, made("Bo", evidence=f"Bo's {secret}"), made(f"Always use {secret}")], leaks.find) == [kept]

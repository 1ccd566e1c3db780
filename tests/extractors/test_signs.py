"""Evidence of different kinds adds up to a confidence, and every kind has its reason."""

from __future__ import annotations

import itertools

import pytest

from pyramid_fs.extractors import signs
from pyramid_fs.extractors.signs import Sign, confidence

ALL = [value for value in vars(signs).values() if isinstance(value, Sign)]


def test_every_kind_of_evidence_has_a_share_and_a_reason() -> None:
    assert len(ALL) > 20
    assert all(0 < sign.weight < 1 and len(sign.reason) > 10 for sign in ALL)


def test_one_kind_alone_is_worth_its_share_however_often_it_is_listed() -> None:
    assert confidence([signs.NAMED], 1) == confidence([signs.NAMED] * 3, 1) == signs.NAMED.weight


@pytest.mark.parametrize(("one", "other"), list(itertools.pairwise(ALL)))
def test_two_kinds_are_worth_more_than_either_and_never_certain(one: Sign, other: Sign) -> None:
    both = confidence([one, other], 1)
    assert max(one.weight, other.weight) < both <= signs.MOST < 1


def test_mentions_add_less_and_less_and_then_nothing() -> None:
    sure = [confidence([signs.GIVEN], count) for count in range(1, 9)]
    gains = [after - before for before, after in itertools.pairwise(sure)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0 == gains[-1]


def test_a_capital_that_says_nothing_is_not_proposed_alone() -> None:
    for weak in (signs.FIRST, signs.GERMAN, signs.ACRONYM, signs.BEING):
        assert confidence([weak], 1) < 0.5

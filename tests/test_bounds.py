"""What a text costs, and the most whole items that fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import bounds

PROSE = {
    "English": "The ferry leaves at nine, and Mara keeps the tickets in the blue tin by the door of the kitchen. ",
    "Chinese": "渡轮九点出发，玛拉把船票放在厨房门边的蓝色铁盒里。",
    "Russian": "Паром отходит в девять, и Мара держит билеты в синей жестянке у кухонной двери. ",
    "Hindi": "नाव नौ बजे छूटती है, और मारा टिकट रसोई के दरवाज़े के पास नीले डिब्बे में रखती है। ",
    "Arabic": "تغادر العبّارة في التاسعة، وتحتفظ مارا بالتذاكر في العلبة الزرقاء قرب باب المطبخ. ",
    "Thai": "เรือข้ามฟากออกเก้าโมง มาราเก็บตั๋วไว้ในกล่องสีน้ำเงินข้างประตูครัว ",
}


def test_nothing_costs_nothing() -> None:
    assert bounds.tokens("") == 0


def test_a_letter_a_mark_and_a_byte_of_another_script_cost_what_was_measured() -> None:
    assert bounds.tokens("a" * 1000) == round(1000 * bounds.PER_LETTER)
    assert bounds.tokens(" " * 1000) == round(1000 * bounds.PER_LETTER)
    assert bounds.tokens("7" * 1000) == round(1000 * bounds.PER_MARK)
    assert bounds.tokens("\n" * 1000) == round(1000 * bounds.PER_MARK)
    assert bounds.tokens("é" * 1000) == round(2000 * bounds.PER_BYTE)
    assert bounds.tokens("渡" * 1000) == round(3000 * bounds.PER_BYTE)
    assert bounds.tokens("🛶" * 1000) == round(4000 * bounds.PER_BYTE)


def test_half_a_surrogate_pair_is_a_text_too() -> None:
    assert bounds.tokens("\ud83d" * 100) == round(300 * bounds.PER_BYTE)


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE)
def test_prose_costs_a_credible_number(text: str) -> None:
    """Between a sixth of a token and two tokens a character, whatever the script."""
    assert len(text) / 6 < bounds.tokens(text) < 2 * len(text)


@given(st.text(), st.text())
def test_two_texts_cost_about_what_they_cost_together(one: str, other: str) -> None:
    assert abs(bounds.tokens(one + other) - bounds.tokens(one) - bounds.tokens(other)) <= 2


@given(st.text(), st.text())
def test_more_text_never_costs_less(one: str, more: str) -> None:
    assert bounds.tokens(one) <= bounds.tokens(one + more)


@given(st.integers(0, 40), st.integers(-3, 40), st.integers(-5, 60))
def test_the_largest_that_fits_is_built(least: int, more: int, room: int) -> None:
    greatest = least + more
    found = bounds.most(least, greatest, lambda count: count, lambda count: count <= room)
    if greatest <= least:
        assert found == greatest
    else:
        assert found == max(least, min(greatest, room))


def test_what_fits_whole_is_built_once() -> None:
    built: list[int] = []

    def build(count: int) -> int:
        built.append(count)
        return count

    assert bounds.most(0, 1000, build, lambda _: True) == 1000
    assert built == [1000]


def test_a_thousand_sizes_are_searched_in_a_few_steps() -> None:
    built: list[int] = []

    def build(count: int) -> int:
        built.append(count)
        return count

    assert bounds.most(0, 1024, build, lambda count: count <= 700) == 700
    assert len(built) <= 13

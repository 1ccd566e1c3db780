"""Links, addresses, handles, quoted titles and dates are told by their form, in any script."""

from __future__ import annotations

import pytest

from pyramid_fs.extractors import signs
from pyramid_fs.extractors.rules import propose


def found(text: str) -> dict[str, tuple[str, float]]:
    return {each.text: (each.label, each.confidence) for each in propose(text)}


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("[[Harbour Plan]]", "Harbour Plan"),
        ("[[notes/Harbour Plan.md]]", "Harbour Plan"),
        ("[[Harbour Plan#Costs]]", "Harbour Plan"),
        ("[[harbour|The Harbour Plan]]", "The Harbour Plan"),
        ("[[ada-brennan-x7q2|Ada Brennan]]", "Ada Brennan"),
        ("[[静海计划]]", "静海计划"),
        ("[[מפת הנמל]]", "מפת הנמל"),
        ("[[แผนที่ท่าเรือ]]", "แผนที่ท่าเรือ"),
    ],
)
def test_a_wikilink_is_a_name_in_any_script(link: str, name: str) -> None:
    assert found(f"see {link} for it.")[name][1] >= signs.LINK.weight


@pytest.mark.parametrize(
    "link",
    [
        "[[2026-11-20-090000-met-at-the-harbour-p2m7]]",
        "[[2026-11-20]]",
        "[[alice-t0-0012-x7q2]]",
        "[[models/alice/tier-0/alice-t0-0012-x7q2]]",
        "[[run-the-tests-first-x7q2]]",
        "![[picture.png]]",
        "[[]]",
        "[[123]]",
    ],
)
def test_a_link_to_what_the_store_made_is_no_news(link: str) -> None:
    assert found(f"see {link} for it.") == {}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mail her at leila@norvale.example.", "leila@norvale.example"),
        ("see https://marigold.example.org/plan?x=1.", "https://marigold.example.org/plan?x=1"),
        ("见 https://lvzhou.example.cn/plan。", "https://lvzhou.example.cn/plan"),
        ("at www.marigold.example it is", "www.marigold.example"),
    ],
)
def test_an_address_is_told_by_its_form(text: str, name: str) -> None:
    assert found(text)[name] == ("address", signs.ADDRESS.weight)


def test_a_handle_is_somebody_and_code_is_nobody() -> None:
    assert found("ask @mirela_k about it")["@mirela_k"][0] == "person"
    assert found("use `@cache` and `Ada Brennan` there") == {}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('they read the book "The Salt Road" on the way.', "The Salt Road"),
        ('they liked "The Salt Road" by Ines Valdar.', "The Salt Road"),
        ("er las den Roman „Das stille Ufer“ in dem Zug.", "Das stille Ufer"),
        ("мы читали роман «Тихий берег».", "Тихий берег"),
        ("他在读《静海》。", "静海"),
        ("彼は『静かな海』を読んだ。", "静かな海"),
    ],
)
def test_a_work_in_quotes_is_one(text: str, title: str) -> None:
    label, sure = found(text)[title]
    assert label == "work"
    assert sure >= 0.5


@pytest.mark.parametrize("text", ['she said "Thanks for the help" and left.', 'he called it "Not Bad At All".'])
def test_what_somebody_said_is_no_work(text: str) -> None:
    assert not [label for label, _ in found(text).values() if label == "work"]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("the deadline is 2026-05-12.", "2026-05-12"),
        ("it is due on May 12, 2026.", "May 12, 2026"),
        ("the appointment is on 3 June 2026 at ten.", "3 June 2026"),
        ("die Frist endet am 14. Mai 2026.", "14. Mai 2026"),
        ("сдать не позднее 14 мая 2026.", "14 мая 2026"),
        ("报告5月14日截止。", "5月14日"),
        ("5月14日までに出す。", "5月14日"),
        ("الموعد يوم 14 مايو 2026.", "14 مايو 2026"),
        ("अंतिम तिथि 14 मई 2026 है।", "14 मई 2026"),
    ],
)
def test_a_date_that_something_is_due_on_is_proposed(text: str, date: str) -> None:
    assert found(text)[date] == ("date", signs.DATED.weight)


@pytest.mark.parametrize(
    "text", ["they talked at 3:14 pm on 11 May 2023.", "am 14. Mai 2026 war es warm.", "version 1.2.3 of it."]
)
def test_a_date_of_the_past_is_not(text: str) -> None:
    assert not [label for label, _ in found(text).values() if label == "date"]

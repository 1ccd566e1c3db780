"""Pending, confirmed, pruned: what falls due to the moment, what never does, and what may repeat what."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import curation, kinds, layout
from pyramid_fs import format as pages
from pyramid_fs.notes import Curated, Entity, Kind
from pyramid_fs.settings import Curation

RULES = Curation()
MADE = datetime(2026, 3, 14, 9, tzinfo=UTC)
LATER = MADE + timedelta(days=30)
TICK = timedelta(microseconds=1)


def entity(name: str, label: str = "", *aliases: str, **more: Any) -> Entity:
    given_: dict[str, Any] = {"status": "pending", "confidence": 0.6, "says_confidence": True, **more}
    handle = f"{layout.slug(name) or 'entity'}-x7q2"
    return Entity(f"entities/{handle}.md", handle, Kind.ENTITY, MADE, name, label=label, aliases=aliases, **given_)


def procedure(handle: str = "rule-x7q2", **more: Any) -> Curated:
    given_: dict[str, Any] = {"status": "pending", "confidence": 0.6, "says_confidence": True, **more}
    return Curated(f"procedures/{handle}.md", handle, Kind.PROCEDURE, MADE, **given_)


def read(*keys: str, body: str = "Text.", path: str = "procedures/rule-x7q2.md") -> Curated:
    """Read a record from its file."""
    place = layout.place(path)
    assert place
    text = "\n".join(["---", *keys, "---", body, ""])
    found = kinds.read(path, place, pages.read(text.encode()), MADE, UTC)
    assert isinstance(found, Curated)
    return found


def falls(record: Curated, now: datetime = LATER, **extracted: datetime) -> bool:
    at = {key.replace("_", ":"): time for key, time in extracted.items()}
    return list(curation.due([record], at, RULES, now)) == [record]


# Status


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        ("confirmed", "confirmed"),
        ("Confirmed", "confirmed"),
        ('" CONFIRMED "', "confirmed"),
        ("confirmed   # by me", "confirmed"),
        ("Pruned", "pruned"),
        ("pending", "pending"),
        ("PENDING", "pending"),
        ("draft", "pending"),
        ("yes", "pending"),
        ("", "pending"),
        ("[confirmed, no]", "pending"),
    ],
)
def test_a_status_is_read_in_any_case_and_an_unknown_one_is_pending(typed: str, status: str) -> None:
    assert curation.status(read(f"status: {typed}")) == status


def test_a_record_without_front_matter_is_pending() -> None:
    place = layout.place("procedures/rule.md")
    assert place
    found = kinds.read("procedures/rule.md", place, pages.read(b"Run the tests first."), MADE, UTC)
    assert isinstance(found, Curated)
    assert curation.status(found) == "pending"
    assert "`confidence` is missing" in curation.unclear(found)


@pytest.mark.parametrize("typed", ["confirm", "accepted", "YES", "1", "prune", "~", "[confirmed, no]", "北", "open"])
def test_a_status_that_is_none_waits_says_so_and_never_falls_due(typed: str) -> None:
    record = read(f"status: {typed}", "confidence: 0.1", "created: 2026-03-14T09:00:00Z")
    assert curation.status(record) == "pending"
    assert curation.is_mistyped(record)
    assert curation.unclear(record).startswith(f"{curation.MISTYPED}`{record.status}`")
    assert not falls(record, MADE + timedelta(days=9999))
    assert curation.soon([record], {}, RULES, MADE + timedelta(days=9999)) == 0


@pytest.mark.parametrize("typed", ["", "pending", '" Pending "', "confirmed", "PRUNED"])
def test_a_status_that_is_one_is_not_mistyped(typed: str) -> None:
    record = read(f"status: {typed}", "confidence: 0.1", "created: 2026-03-14T09:00:00Z")
    assert not curation.is_mistyped(record)
    assert curation.unclear(record) == ""


# Falling due


def test_thirty_days_to_the_microsecond() -> None:
    record = procedure()
    assert not falls(record, LATER - TICK)
    assert falls(record, LATER)


@pytest.mark.parametrize(
    ("typed", "is_due"),
    [
        ("0.85", False),
        ("0.850", False),
        ('"0.85"', False),
        ("0.8499", True),
        ("0.8499999999", True),
        ("0", True),
        ("1", False),
        (".5", True),
        ("8.4e-1", True),
    ],
)
def test_a_confidence_is_compared_as_it_stands_and_never_rounded(typed: str, *, is_due: bool) -> None:
    record = read("status: pending", f"confidence: {typed}", "created: 2026-03-14T09:00:00Z")
    assert curation.unclear(record) == ""
    assert falls(record) is is_due


@pytest.mark.parametrize("number", [0.85, 0.8499999999, 0.8500000001, 0.84999, 1e-9, 0.0, 1.0, 0.1 + 0.2])
def test_a_confidence_that_the_store_writes_stays_on_its_side_of_the_gate(number: float) -> None:
    data = kinds.spell_procedure(procedure(confidence=number), "Text.")
    kept = kinds.confidence(pages.read(data).text("confidence"))
    assert kept is not None
    assert (kept < RULES.prune_below) is (number < RULES.prune_below)
    assert kept <= number
    assert kept == pytest.approx(number, abs=1e-6)


@pytest.mark.parametrize("typed", ["high", "85%", "0,6", "nan", "inf", "-0.1", "1.1", "[0.6, 0.7]", "0.6.1"])
def test_a_confidence_that_is_no_number_is_never_pruned(typed: str) -> None:
    record = read("status: pending", f"confidence: {typed}", "created: 2026-03-14")
    assert record.confidence is None
    assert not falls(record, MADE + timedelta(days=9999))
    assert "is no number from 0 to 1: it is never pruned" in curation.unclear(record)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (["created: 2026-03-14"], "`confidence` is missing"),
        (["created: 2026-03-14", "confidence:"], "`confidence` is missing"),
        (["confidence: 0.6"], "`created` is missing"),
        (["confidence: 0.6", "created: yesterday"], "`created` can't be read"),
        (["confidence: 0.6", "created: 2026-02-30"], "`created` can't be read"),
    ],
)
def test_what_lacks_a_date_or_a_confidence_is_never_pruned_and_says_why(keys: list[str], reason: str) -> None:
    record = read("status: pending", *keys)
    assert not falls(record, MADE + timedelta(days=9999))
    assert reason in curation.unclear(record)
    assert curation.unclear(replace(record, status="confirmed")) == ""
    assert curation.unclear(replace(record, status="pruned")) == ""


def test_a_date_in_the_name_dates_a_record() -> None:
    record = read("status: pending", "confidence: 0.6", path="procedures/2026-03-14-rule.md")
    assert curation.unclear(record) == ""
    assert falls(record)


@pytest.mark.parametrize("status", ["confirmed", "pruned"])
def test_what_is_confirmed_or_pruned_never_falls_due(status: str) -> None:
    assert not falls(procedure(status=status), MADE + timedelta(days=9999))


def test_it_waits_from_when_its_session_was_gone_through_where_that_was_later() -> None:
    record = procedure(source="session:a1")
    assert falls(record, session_a1=MADE - timedelta(days=5))
    assert not falls(record, session_a1=MADE + TICK)
    assert falls(record, LATER + TICK, session_a1=MADE + TICK)
    assert falls(record, session_b2=MADE + timedelta(days=20))


@pytest.mark.parametrize("created", [datetime.max.replace(tzinfo=UTC), datetime(9999, 12, 20, tzinfo=UTC)])
def test_a_date_at_the_end_of_all_calendars_never_comes(created: datetime) -> None:
    record = replace(procedure(), created=created)
    assert not falls(record, datetime(9998, 1, 1, tzinfo=UTC))
    assert curation.due_day(record, {}, RULES, UTC) == "9999-12-31"


@pytest.mark.parametrize(
    ("zone", "day"),
    [("UTC", "2026-04-13"), ("Pacific/Auckland", "2026-04-13"), ("Pacific/Kiritimati", "2026-04-13")],
)
def test_the_day_when_it_fell_due_is_of_the_vaults_zone(zone: str, day: str) -> None:
    assert curation.due_day(procedure(), {}, RULES, ZoneInfo(zone)) == day
    late = replace(procedure(), created=MADE.replace(hour=23))
    assert curation.due_day(late, {}, RULES, ZoneInfo(zone)) == (day if zone == "UTC" else "2026-04-14")


@given(st.integers(0, 10**6), st.integers(-720, 720))
def test_the_day_is_the_same_whenever_and_wherever_it_is_asked_for(seconds: int, minutes: int) -> None:
    record = replace(procedure(), created=MADE + timedelta(seconds=seconds))
    now = LATER + timedelta(seconds=seconds + abs(minutes))
    assert falls(record, now.astimezone(ZoneInfo("Asia/Kolkata"))) is falls(record, now)
    day = curation.due_day(record, {}, RULES, UTC)
    assert datetime.fromisoformat(day).replace(tzinfo=UTC) <= record.created + RULES.prune_after


def test_a_week_ahead_is_counted_what_will_go() -> None:
    records = [procedure(), procedure(status="confirmed"), procedure(confidence=0.9), procedure(confidence=None)]
    assert curation.soon(records, {}, RULES, LATER - timedelta(days=7) - TICK) == 0
    assert curation.soon(records, {}, RULES, LATER - timedelta(days=7)) == 1
    assert curation.soon(records, {}, RULES, LATER + timedelta(days=70)) == 1


def test_other_numbers_of_the_vault_are_kept_to() -> None:
    rules = Curation(prune_below=0.5, prune_after=timedelta(days=1))
    at = MADE + timedelta(days=1)
    assert list(curation.due([procedure(confidence=0.5)], {}, rules, at)) == []
    assert len(list(curation.due([procedure(confidence=0.49)], {}, rules, at))) == 1


def test_the_ledgers_of_all_machines_say_when_a_session_was_gone_through_first() -> None:
    lines: list[dict[str, Any]] = [
        {"source": "session:a", "made": 2, "at": "2026-03-15T00:00:00Z"},
        {"source": "session:a", "made": 0, "at": "2026-03-14T00:00:00Z"},
        {"source": "session:b", "made": 0, "at": "2026-03-14"},
        {"source": "session:c", "at": "2026-03-14"},
        {"source": ["x"], "made": 1, "at": "2026-03-14"},
        {"source": "session:d", "made": 1, "at": "soon"},
        {"source": "session:e", "made": 1},
        {"begun": "session:f", "at": "2026-03-14"},
    ]
    first = datetime(2026, 3, 14, tzinfo=UTC)
    for given_ in (lines, lines[::-1]):
        assert curation.extracted_at(given_, UTC) == {"session:a": first, "session:b": first}


# What is shown


def test_confirmed_come_before_pending_and_the_newest_first() -> None:
    records = [
        replace(procedure(f"r{at}", status=status), created=MADE + timedelta(days=day))
        for at, (status, day) in enumerate([("pending", 9), ("confirmed", 1), ("pending", 3), ("confirmed", 2)])
    ]
    assert [r.handle for r in curation.ordered(records)] == ["r3", "r1", "r0", "r2"]


def test_what_is_pruned_or_superseded_is_not_shown_and_what_is_contradicted_is() -> None:
    plain = entity("Ada", contradicts=("kim-x7q2",))
    records = [
        plain, entity("Kim"), entity("Old", superseded_by="Ada-X7Q2"), entity("Gone", status="pruned"),
    ]  # fmt: skip
    assert curation.shown(records) == records[:2]
    assert curation.contradicted(records) == {"kim-x7q2"}


def test_what_took_a_place_and_was_pruned_gives_it_back() -> None:
    old, new = entity("Old", superseded_by="new-x7q2"), entity("New")
    assert curation.shown([old, new]) == [new]
    assert curation.shown([old, replace(new, status="pruned")]) == [old]


def test_a_pruned_record_contradicts_nobody() -> None:
    assert curation.contradicted([entity("Ada", status="pruned", contradicts=("kim-x7q2",))]) == frozenset()


def test_handles_in_a_file_may_be_links_with_paths_and_aliases() -> None:
    found = read('contradicts: ["[[entities/Kim-X7Q2|Kim]]", "[[kim-x7q2]]"]', "superseded_by: [[entities/New-x7q2]]")
    assert found.contradicts == ("Kim-X7Q2", "kim-x7q2")
    assert curation.contradicted([found]) == {"kim-x7q2"}
    assert found.superseded_by == "New-x7q2"


def test_whether_one_is_superseded_by_another_over_others() -> None:
    one, two, three = entity("A", superseded_by="b-x7q2"), entity("B", superseded_by="C-x7q2"), entity("C")
    every = [one, two, three]
    assert curation.leads_to(one, three, every)
    assert not curation.leads_to(three, one, every)
    ring = [one, replace(two, superseded_by="a-x7q2"), three]
    assert not curation.leads_to(one, three, ring)
    assert curation.leads_to(one, one, ring)
    outside = entity("D", superseded_by="a-x7q2")
    assert not curation.leads_to(outside, outside, [*ring, outside])


def test_two_that_supersede_each_other_after_a_merge_both_stay() -> None:
    one, two = entity("A", superseded_by="b-x7q2"), entity("B", superseded_by="a-x7q2")
    older, lost = entity("D", superseded_by="a-x7q2"), entity("E", superseded_by="never-x7q2")
    assert curation.shown([one, two, older, lost]) == [one, two]


# Likely duplicates


def flags(new: Curated, *others: Curated, text: str = "", said: str = "") -> bool:
    found = curation.duplicates(new, text, [(other, said) for other in others])
    assert found in ([], [other.handle for other in others])
    return bool(found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada Lovelace", "ada lovelace"),
        ("Ada Lovelace", "Ada  Lovelace."),
        ("José Álvarez", "Jose Alvarez"),
        ("José", unicodedata.normalize("NFD", "José")),
        ("Lovelace", "Ada Lovelace"),
        ("Harbour Café", "Harbor Cafe"),
        ("Johnson", "Jonson"),
        ("Johnson", "Jonsen"),
        ("Анна Ковалёва", "Анна Ковалева"),
        ("Ковалева", "Анна Ковалева"),
        ("王小明", "王小明"),
        ("小明", "王小明"),
        ("東京", "東京駅"),
        ("한강공원", "한강"),
    ],
)
def test_names_that_may_be_one_are_flagged(one: str, other: str) -> None:
    assert flags(entity(one), entity(other))
    assert flags(entity(other), entity(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada", "Ida"),
        ("Ada", "Ada Lovelace"),
        ("Kim", "Tim"),
        ("Anna", "Anne"),
        ("Ann", "Annabel"),
        ("Anna", "Annabel"),
        ("Johnson", "Jansens"),
        ("Harbour", "Harbourmasters"),
        ("Garden", "Kindergartens"),
        ("王", "王小明"),
        ("王小明", "李小紅"),
        ("", "Ada"),
        ("...", "Ada"),
        ("!", "?"),
    ],
)
def test_names_that_are_two_are_not(one: str, other: str) -> None:
    assert not flags(entity(one), entity(other))
    assert not flags(entity(other), entity(one))


def test_aliases_are_names_on_either_side() -> None:
    known = entity("Augusta King", "person", "Ada Lovelace")
    assert flags(entity("Ada Lovelace"), known)
    assert flags(entity("The Countess", "", "augusta king"), known)
    assert not flags(entity("The Countess"), known)


@pytest.mark.parametrize(
    ("one", "other", "flagged"),
    [("person", "person", True), ("Person", "person", True), ("", "person", True), ("person", "place", False)],
)
def test_only_what_is_of_one_kind_or_of_none(one: str, other: str, *, flagged: bool) -> None:
    assert flags(entity("Paris", one), entity("Paris", other)) is flagged


def test_pruned_and_superseded_records_are_flagged_too() -> None:
    assert flags(entity("Ada Lovelace"), entity("Ada Lovelace", status="pruned"))
    assert flags(entity("Ada Lovelace"), entity("Ada Lovelace", superseded_by="x"))


def test_an_entity_is_no_duplicate_of_a_procedure() -> None:
    assert not flags(entity("Run tests"), procedure(), said="Run tests")
    assert not flags(procedure(), entity("Run tests"), text="Run tests")


TEN = "Run the small tests first and the slow ones only at night"


@pytest.mark.parametrize(
    ("other", "flagged"),
    [
        (TEN, True),
        (TEN.upper() + "!", True),
        ("- " + TEN.replace(" ", "  "), True),
        (TEN.replace("night", "noon"), True),
        (TEN + " please", True),
        ("Ask before you run the slow tests at night", False),
        ("Run", False),
        ("", False),
        ("…", False),
    ],
)
def test_procedures_are_flagged_by_near_equal_text(other: str, *, flagged: bool) -> None:
    assert flags(procedure(), procedure("other-p2m7"), text=TEN, said=other) is flagged


def test_two_texts_without_words_repeat_nothing() -> None:
    assert not flags(procedure(), procedure("other-p2m7"), text="…", said="!!")


NAMES = st.text("abcdé 王小", max_size=9)


@given(NAMES, NAMES)
def test_nearness_is_the_same_both_ways(one: str, other: str) -> None:
    assert curation.is_near(one, other) is curation.is_near(other, one)


@given(st.text("abc", min_size=5, max_size=12), st.integers(0, 11), st.sampled_from("xyz"), st.sampled_from("pqr"))
def test_two_letters_apart_is_near(name: str, at: int, one: str, two: str) -> None:
    at %= len(name)
    assert curation.is_near(name, name[:at] + one + name[at + 1 :])
    assert curation.is_near(name, name[:at] + one + two + name[at:])
    assert not curation.is_near(name, "".join(one if letter in "ab" else two for letter in name))

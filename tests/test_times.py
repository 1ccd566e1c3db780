"""Times are read in every way that people write them, and spelled in one."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyramid_fs import times

BERLIN = ZoneInfo("Europe/Berlin")
FAR_EAST = timezone(timedelta(hours=14))
FAR_WEST = timezone(timedelta(hours=-12))
ZONES: list[tzinfo] = [UTC, BERLIN, FAR_EAST, FAR_WEST]
WINTER = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-11-29T20:15:30Z", WINTER),
        ("2026-11-29t20:15:30z", WINTER),
        ("2026-11-29 20:15:30 UTC", WINTER),
        ("2026-11-29 20:15:30 utc", WINTER),
        ("2026-11-29 20:15:30 GMT", WINTER),
        ("2026-11-29T20:15:30+00:00", WINTER),
        ("2026-11-29T20:15:30-00:00", WINTER),
        ("2026-11-29T21:15:30+01:00", WINTER),
        ("2026-11-29T21:15:30+0100", WINTER),
        ("2026-11-29T21:15:30 +01", WINTER),
        ("2026-11-29T10:45:30-0930", WINTER),
        ("2026-11-30T02:00:30+05:45", WINTER),
        ("2026-11-29T21:15:30", WINTER),
        ("2026-11-29 21:15:30", WINTER),
        ("2026-11-29   21:15:30", WINTER),
        ("2026-11-29\t21:15:30\tZ", at(2026, 11, 29, 21, 15, 30)),
        ("2026-11-29T21:15", at(2026, 11, 29, 20, 15)),
        ("2026-11-29 9:05", at(2026, 11, 29, 8, 5)),
        ("2026-11-29T21:15:30.5", at(2026, 11, 29, 20, 15, 30, 500_000)),
        ("2026-11-29T21:15:30,25", at(2026, 11, 29, 20, 15, 30, 250_000)),
        ("2026-11-29T20:15:30.123456789Z", at(2026, 11, 29, 20, 15, 30, 123_456)),
        ("2026-11-29T20:15:30.12345678901234Z", at(2026, 11, 29, 20, 15, 30, 123_456)),
        ("2026-11-29", at(2026, 11, 28, 23)),
        ("2026-07-01", at(2026, 6, 30, 22)),
        ("  2026-11-29  ", at(2026, 11, 28, 23)),
        ("Sunday, 2026-11-29, late", at(2026, 11, 28, 23)),
        ("[[2026-11-29]]", at(2026, 11, 28, 23)),
        ("[[daily/2026-11-29|yesterday]]", at(2026, 11, 28, 23)),
        ("[[daily-2026-11-29-harbour]]", at(2026, 11, 28, 23)),
        ("2026-11-29, then 2026-12-01", at(2026, 11, 28, 23)),
        ("2026-11-29 Zürich", at(2026, 11, 28, 23)),
        ("2026-11-29 at home", at(2026, 11, 28, 23)),
        ("2026-11-29 (changed 2026-12-01 10:00)", at(2026, 11, 28, 23)),
        ("[[2026-11-29 3 plans]]", at(2026, 11, 28, 23)),
        ("[[2026-11-29-201530-prefers-the-morning-train-k3f9]]", at(2026, 11, 28, 23)),
        ("harbour - 2026-11-29", at(2026, 11, 28, 23)),
        ("noon--2026-11-29", at(2026, 11, 28, 23)),
        ("2026-11-29 Haus/Hof", at(2026, 11, 28, 23)),
        ("2026-11-29 z. B. morning", at(2026, 11, 28, 23)),
        ("_2026-11-29 21:15:30_", WINTER),
        ('"2026-11-29 21:15:30 ",', WINTER),
        ("Sunday, 2026-11-29 21:15:30", WINTER),
        ("2026-11-29 21:15:30 (Sunday)", WINTER),
        ("2026-11-29, 21:15:30", WINTER),
        ("2026-11-29 Sun 21:15:30", WINTER),
        ("<2026-11-29 Sun 21:15:30>", WINTER),
        ("2026-11-29 Sunday at 21:15:30.", WINTER),
        ("2026-11-29 at 21:15:30", WINTER),
        ("[[2026-11-29 21:15:30]]", WINTER),
        ("[[2026-11-29 21:15:30|the evening]]", WINTER),
        ("2026-11-29 9:15:30 PM", WINTER),
        ("2026-11-29, 9:15:30 p.m.", WINTER),
        ("2026-11-29T09:15:30pm", WINTER),
        ("2026-11-29 9:15:30\u202fPM", WINTER),
        ("2026-11-29 8:15:30 PM UTC", WINTER),
        ("2026-11-29 12:15 AM", at(2026, 11, 28, 23, 15)),
        ("2026-11-29 12:15 PM", at(2026, 11, 29, 11, 15)),
        ("2026-11-29T2115", at(2026, 11, 29, 20, 15)),
        ("2026-11-29T211530", WINTER),
        ("2026-11-29T201530Z", WINTER),
        ("2026-11-29T201530.5Z", at(2026, 11, 29, 20, 15, 30, 500_000)),
        ("2026-11-29T211530+0100", WINTER),
        ("2026-11-29 21:15:30 GMT+1", WINTER),
        ("2026-11-29 22:15:30 UTC+2", WINTER),
        ("2026-11-29 22:15:30 UTC+02:00", WINTER),
        ("2026-11-29 22:15:30 utc +0200", WINTER),
        ("2026-11-29 15:15:30 UTC-5", WINTER),
        ("2026-11-30 01:45:30 GMT+5:30", WINTER),
        ("2026-11-29 21:15:30 Europe/Berlin", WINTER),
        ("2026-11-29T21:15:30[Europe/Berlin]", WINTER),
        ("2026-11-29 15:15:30 [America/New_York]", WINTER),
        ("2026-07-01 16:15:30 America/New_York", at(2026, 7, 1, 20, 15, 30)),
        ("2026-11-29 17:15:30 America/Argentina/Buenos_Aires", WINTER),
        ("2026-11-29 19:15:30 Etc/GMT+1", WINTER),
        ("2026-11-29 3:15:30 PM America/New_York", WINTER),
        ("2026-11-29T21:15:30+01:00[Europe/Berlin]", WINTER),
        ("2026-10-25T02:30:00+01:00[Europe/Berlin]", at(2026, 10, 25, 1, 30)),
        ("2026-10-25T02:30:00+02:00[Europe/Berlin]", at(2026, 10, 25, 0, 30)),
        ("2026-11-29T20:15:30Z[Europe/Berlin]", WINTER),
        ("2026-11-29 21:15:30 +0100 CET", WINTER),
        ("2026-11-29 20:15:30 +0000 UTC", WINTER),
        ("2026-11-29 21:15:30 +0100 (Central European Standard Time)", WINTER),
        ("2026-11-29 UTC", at(2026, 11, 29)),
        ("2026-11-29Z", at(2026, 11, 29)),
        ("2026-11-29 America/New_York", at(2026, 11, 29, 5)),
        ("0001-01-02", at(1, 1, 1, 23, 6, 32)),
        ("9999-12-31T22:00:00", at(9999, 12, 31, 21)),
    ],
)
def test_a_time_is_read_as_people_write_it_in_the_zone_of_the_vault(text: str, meant: datetime) -> None:
    assert times.parse(text, BERLIN) == meant
    assert times.parse(text, BERLIN).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "29.11.2026",
        "2026-11",
        "12026-11-29",
        "2026-11-291",
        "2026-1-2",
        "0000-00-00",
        "0000-01-01",
        "2026-02-30",
        "2026-13-01",
        "2026-11-29T24:00",
        "2026-11-29T12:60",
        "2026-11-29T12:00:60",
        "2026-11-29T12:00+24:00",
        "2026-11-29T12:00+99:99",
        "2026-11-29T12:00+01:60",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59-12:00",
        "{{date}}",
    ],
)
def test_what_the_calendar_does_not_know_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"no date"):
        times.parse(text, UTC)


@pytest.mark.parametrize(
    "text",
    [
        *(f"2026-11-29 20:15 {zone}" for zone in ("CET", "EST", "IST", "cet", "B", "Zürich", "Berlin", "UTC+25:00")),
        *(f"2026-11-29T20:15{zone}" for zone in ("CET", "[CET]", "[Nowhere/Berlin]", " Nowhere/Berlin", "+1", "Z+1")),
        *(f"2026-11-29T20:15{zone}" for zone in (" Etc/..", " Europe/", " America", " America/Argentina", "+01:00:30")),
        *(f"2026-11-29 20:15{more}" for more in ("5", ":3", ":300", ":30:5", ":30.5.5", "–21:00", "-21:30")),
        *(f"2026-11-29 20:15{more}" for more in (" or so", ", CET", " PM", "/2026-11-30", " 2026-11-30", "h")),
        *(
            f"2026-11-29 20:15{more}"
            for more in (" - 21:00", " - Sunday", " CET[Europe/Berlin]", " UTC CET", "Z UTC+1")
        ),
        *(f"2026-11-29 {clock}" for clock in ("0:15 PM", "8 PM", "8pm", "13:15 PM", "20h15", "20h", "20 Uhr", "20.15")),
        *(f"2026-11-29 {clock}" for clock in ("2015", "201530", "20-15", "until 20:15", "20:", "| 20:15", "8:15 P")),
        *(f"2026-11-29{clock}" for clock in ("T20.15", "T20", "T20-15", "T201", "T20153", "T2560", "_20:15", "-20:15")),
        *("2026-11-29+01:00", "2026-11-29+0100", "2026-11-29-08:00"),
        *(
            "2026-11-29T21:15+02:00[Europe/Berlin]",
            "2026-11-29 20:15 +0100 UTC",
            "2026-11-29 20:15Z CET",
            "2026-11-29 20:15Z (CET)",
        ),
        *("20:15, 2026-11-29", "8:15 PM on 2026-11-29", "2026-11-29 20:15 on 2026-11-30"),
        *("-0044-03-15", "on -0044-03-15", "\u22120044-03-15", "0044-03-15 BC", "0044-03-15 B.C.E."),
    ],
)
def test_nothing_that_stands_with_a_time_is_dropped_what_is_not_certain_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no date|is not certain"):
        times.parse(text, BERLIN)


def test_the_reason_names_what_is_not_certain_and_what_would_be() -> None:
    with pytest.raises(ValueError, match=r"'2026-11-29 20:15' is not certain with 'CET' beside it: .* \+01:00"):
        times.parse("2026-11-29 20:15 CET", UTC)
    with pytest.raises(ValueError, match=r"'0044-03-15' is not certain with '-' beside it"):
        times.parse("-0044-03-15", UTC)
    with pytest.raises(ValueError, match=r"beside it.{0,80}$"):
        times.parse(f"2026-11-29 20:15 {'x' * 1000}", UTC)


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    began = time.process_time()
    for mark in " .(_|-,\t[1aA:/":
        for start in ("2026-11-29", "2026-11-29 20:15", "2026-11-29T20:15+01:00", "2026-11-29 20:15 Etc/"):
            with suppress(ValueError):
                times.parse(f"{start}{mark * 20_000}x", UTC)
            with suppress(ValueError):
                times.parse(f"{mark * 20_000}{start}", UTC)
    assert time.process_time() - began < 5


def test_the_reason_names_the_date_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"'2026-02-30' is no date: day is out of range for month"):
        times.parse("on 2026-02-30", UTC)
    with pytest.raises(ValueError, match=r"no date like 2026-11-29 in 'x{60}'"):
        times.parse("x" * 1000, UTC)


@pytest.mark.parametrize(("text", "zone"), [("0001-01-01", FAR_EAST), ("9999-12-31T23:00", FAR_WEST)])
def test_a_day_that_utc_can_not_hold_is_a_value_error(text: str, zone: tzinfo) -> None:
    with pytest.raises(ValueError, match="is no date"):
        times.parse(text, zone)


@given(
    st.from_regex(r"\d{4}-\d\d-\d\d([T ]\d\d?:\d\d(:\d\d([.,]\d+)?)?( ?([+-]\d\d(:?\d\d)?|Z))?)?", fullmatch=True)
    | st.text(),
    st.sampled_from(ZONES),
)
@example("9999-12-31", FAR_WEST)
@example("0001-01-01", FAR_EAST)
@example("٢٠٢٦-١١-٢٩", UTC)
@example("0001-01-01 00:00 Europe/Berlin", UTC)
@example("9999-12-31 23:00 America/New_York", UTC)
@example("2026-11-29T١٢٣٠ UTC+٩", UTC)
def test_any_text_is_a_time_in_utc_or_a_value_error(text: str, zone: tzinfo) -> None:
    for read in (times.parse, times.day_end):
        with suppress(ValueError):
            assert read(text, zone).tzinfo is UTC
    named = times.in_name(text, zone)
    assert named is None or named.tzinfo is UTC


@pytest.mark.parametrize(
    ("stem", "meant"),
    [
        ("2026-11-29-201530-prefers-the-morning-train-k3f9", WINTER),
        ("2026-11-29", at(2026, 11, 28, 23)),
        ("2026-11-29 harbour", at(2026, 11, 28, 23)),
        ("2026-11-29T20-15 harbour", at(2026, 11, 28, 23)),
        ("2026-11-29 20.15 CET", at(2026, 11, 28, 23)),
        ("2026-11-29T2015", at(2026, 11, 28, 23)),
        ("-2026-11-29", at(2026, 11, 28, 23)),
        ("harbour 2026-11-29", at(2026, 11, 28, 23)),
        ("harbour-2026-11-29", at(2026, 11, 28, 23)),
        ("harbour-2026-11-29-late", at(2026, 11, 28, 23)),
        ("harbour_2026-11-29", at(2026, 11, 28, 23)),
        ("2026-11-29-201530", at(2026, 11, 28, 23)),
        ("2026-02-30 harbour", None),
        ("2026-11-29-256199-harbour-k3f9", None),
        ("harbour", None),
        ("20261129 harbour", None),
        ("12026-11-29", None),
        ("2026-11-295", None),
        ("", None),
    ],
)
def test_a_name_that_the_store_made_carries_utc_and_any_other_a_day_of_the_vault(
    stem: str, meant: datetime | None
) -> None:
    assert times.in_name(stem, BERLIN) == meant


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (WINTER, "2026-11-29T20:15:30Z"),
        (WINTER.astimezone(BERLIN), "2026-11-29T20:15:30Z"),
        (WINTER + times.TICK, "2026-11-29T20:15:30.000001Z"),
        (WINTER.replace(microsecond=500_000), "2026-11-29T20:15:30.5Z"),
        (WINTER.replace(second=0), "2026-11-29T20:15:00Z"),
        (at(7, 1, 1), "0007-01-01T00:00:00Z"),
    ],
)
def test_a_time_has_one_spelling(time: datetime, text: str) -> None:
    assert times.spell(time) == text


@given(st.datetimes(timezones=st.just(UTC)), st.sampled_from(ZONES))
def test_what_is_spelled_reads_back_in_any_zone(time: datetime, zone: tzinfo) -> None:
    assert times.parse(times.spell(time), zone) == time
    assert times.from_micros(times.micros(time)) == time
    assert times.in_name(f"{times.stamp(time)}-word-k3f9", zone) == time.replace(microsecond=0)


def test_a_name_carries_utc_with_four_digits_of_the_year() -> None:
    assert times.stamp(WINTER.astimezone(BERLIN)) == "2026-11-29-201530"
    assert times.stamp(at(7, 1, 1)) == "0007-01-01-000000"


@pytest.mark.parametrize(
    ("nanoseconds", "meant"),
    [
        (0, times.EPOCH),
        (1_999, times.EPOCH + times.TICK),
        (-1, times.EPOCH - times.TICK),
        (1_795_983_330_000_000_000, WINTER),
        (10**30, datetime.max.replace(tzinfo=UTC)),
        (-(10**30), datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_a_file_time_that_no_calendar_holds_becomes_the_nearest(nanoseconds: int, meant: datetime) -> None:
    assert times.from_ns(nanoseconds) == meant


@pytest.mark.parametrize(
    ("time", "zone", "text"),
    [
        (at(2026, 11, 29, 23, 30), UTC, "2026-11-29"),
        (at(2026, 11, 29, 23, 30), BERLIN, "2026-11-30"),
        (datetime.max.replace(tzinfo=UTC), FAR_EAST, "9999-12-31"),
        (datetime.min.replace(tzinfo=UTC), FAR_WEST, "0001-01-01"),
    ],
)
def test_a_day_is_that_of_the_vault(time: datetime, zone: tzinfo, text: str) -> None:
    assert times.day(time, zone) == text


ENDS = [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
WIDE = [*ZONES, ZoneInfo("America/New_York"), ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Etc/GMT+12")]


@pytest.mark.parametrize("zone", WIDE, ids=str)
@pytest.mark.parametrize("end", ENDS, ids=str)
def test_at_both_ends_of_the_calendar_a_time_has_a_day_a_spelling_and_a_step(end: datetime, zone: tzinfo) -> None:
    there = times.into(end, zone)
    assert there.tzinfo is zone
    assert there.date().isoformat() == times.day(end, zone)
    assert abs(there.date() - end.date()) <= timedelta(days=1)
    wall = end.replace(tzinfo=zone)
    assert times.into(wall, UTC).tzinfo is UTC
    assert times.spell(wall)[:4] == times.stamp(wall)[:4] == f"{end.year:04d}"
    assert end <= times.after(end) <= ENDS[1]
    assert times.after(end, timedelta(days=36_500)) <= ENDS[1]


@given(st.datetimes(timezones=st.just(UTC)), st.sampled_from(WIDE), st.timedeltas(min_value=timedelta(0)))
@example(ENDS[0], FAR_WEST, timedelta.max)
@example(ENDS[1], FAR_EAST, timedelta.max)
def test_any_time_has_a_day_anywhere_and_any_step_leads_to_one(at: datetime, zone: tzinfo, step: timedelta) -> None:
    assert times.into(at, zone).date().isoformat() == times.day(at, zone)
    assert at <= times.after(at, step) <= ENDS[1]


@pytest.mark.parametrize("count", [10**25, -(10**25), 10**16 * 40, -(10**17)])
def test_a_count_that_no_calendar_holds_becomes_the_nearest_time(count: int) -> None:
    assert times.from_micros(count) == ENDS[count > 0]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-11-29", at(2026, 11, 29, 23) - times.TICK),
        (" 2026-11-29\n", at(2026, 11, 29, 23) - times.TICK),
        ("2026-03-28", at(2026, 3, 28, 23) - times.TICK),
        ("2026-03-29", at(2026, 3, 29, 22) - times.TICK),  # the clock went forward: a day of 23 hours
        ("2026-11-29T21:15", at(2026, 11, 29, 20, 15)),
        ("on 2026-11-29", at(2026, 11, 28, 23)),
        ("9999-12-31", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_a_bare_date_as_an_upper_bound_is_the_last_moment_of_that_day(text: str, meant: datetime) -> None:
    assert times.day_end(text, BERLIN) == meant


@given(st.dates(max_value=date(9999, 12, 29)), st.sampled_from(ZONES))
def test_the_last_moment_of_a_day_is_one_tick_before_the_next(day: date, zone: tzinfo) -> None:
    try:
        start = times.parse(day.isoformat(), zone)
    except ValueError:  # before the first day of UTC
        return
    end = times.day_end(day.isoformat(), zone)
    assert start < end
    assert times.day(end, zone) == day.isoformat()
    assert end + times.TICK == times.parse((day + timedelta(days=1)).isoformat(), zone)

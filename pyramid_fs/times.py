"""Times as people write them and as the store spells them: always aware, always UTC inside."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
"""The ends of the calendar: what would lie beyond is taken to be there."""
TICK = timedelta(microseconds=1)
"""The least step between two times that the store issues."""

_DAY = r"(\d{4})-(\d\d)-(\d\d)"
_CLOCK = r"(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
_OFFSET = r"[+-]\d\d:?\d\d|[+-]\d\d"
_BLANK = r"[ \t\u00a0\u202f]"
_WEEKDAY = r"\(?(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\b[.,)]*"

_USUAL = re.compile(rf"(?:\[\[)?{_DAY}(?:(?:[Tt]|[ \t]+){_CLOCK}[ \t]*((?i:Z|UTC|GMT)|{_OFFSET})?)?(?:\]\])?")
"""What nearly every time looks like that is read, as a link or bare; all else is read slowly."""
_DATE = re.compile(rf"(?<!\d){_DAY}(?!\d)")
_TIME = re.compile(rf"(?:[Tt]|(?:,{_BLANK}*|{_BLANK}+)(?i:{_WEEKDAY}{_BLANK}+)?(?:at{_BLANK}+)?){_CLOCK}(?![\d:])")
_BASIC = re.compile(r"[Tt](\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?(?![\d:])")
_HALF = re.compile(rf"{_BLANK}*([AaPp])\.?[Mm]\b\.?")
_ZONE = re.compile(rf"{_BLANK}*({_OFFSET})(?![\d:])")
_FROM_UTC = (
    rf"{_BLANK}*((?i:UTC|GMT){_BLANK}?[+-](?:\d\d(?::?\d\d)?|\d(?::\d\d)?)(?![\d:])"
    rf"|(?:{{}}|(?i:UTC|GMT))(?![^\W_]|{_BLANK}*[+-]\d))"
)
_UTC, _DAY_UTC = re.compile(_FROM_UTC.format("[Zz]")), re.compile(_FROM_UTC.format("Z"))
"""Behind a date alone a `z.` may begin a word."""
_PLACE = re.compile(rf"{_BLANK}*(\[)?([A-Z][A-Za-z_+-]*(?:/[A-Z][\w+-]*)+)(?(1)\])(?![\w/+-])", re.ASCII)
_SHORT = re.compile(rf"{_BLANK}*(?:([A-Z]{{3,5}})\b|\([^()\d]*\))")
"""What a person may call the zone whose offset is said."""
_MARKS = r"[^\w|/+\u2013\u2014-]*+"
_END = re.compile(rf"{_MARKS}(?:(?i:{_WEEKDAY}){_MARKS})?(?:\|[^\]\d]*+{_MARKS})?")
"""What may stand behind a time: marks that close, a weekday, the other name of a link."""
_ALSO = re.compile(
    r"(?<!\d)\d\d?:\d\d(?!\d)"
    r"|\A(?:[Tt]\d|\+\d|[\s,_]+(?:\d\d?:|\d\d?\s*(?:[ap]\.?m\b|h\d{0,2}\b|uhr\b)|\d\d[.h-]\d\d(?![\d.-])"
    r"|(?:\d{4}|\d{6})(?![\d-])|b\.?\s?c\b))",
    re.IGNORECASE,
)
"""What says more beside a date than words do: a time that can't be read, years before the first."""
_MINUS = re.compile(r"(?<![\w-])[-\u2212]\Z")
_STORE_NAME = re.compile(r"(\d{4})-(\d\d)-(\d\d)-(\d\d)(\d\d)(\d\d)-")
_NAME_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


# Reading


def parse(text: str, zone: tzinfo) -> datetime:
    """Read the first date or time in `text`; raise ValueError where there is none that the calendar knows.

    A time without a zone is taken in `zone`, a bare date is the start of that day there. Words around a date (a link, a
    weekday) are passed over; where what stands with it may change what time is meant, ValueError says so.
    """
    found = _USUAL.fullmatch(text)
    if not found:
        return _read(text, zone)
    *parts, offset = found.groups()
    return _made(text, parts, offset, zone)


def _made(said: str, parts: Sequence[str | None], offset: str | None, zone: tzinfo) -> datetime:
    year, month, day, hour, minute, second, fraction = parts
    try:
        return datetime(
            int(year or 0),
            int(month or 0),
            int(day or 0),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(offset) if offset else zone,
        ).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{said[:60]!r} is no date: {error}") from error


def _zone(offset: str) -> tzinfo:
    offset = offset.upper().removeprefix("UTC").removeprefix("GMT").lstrip()
    if offset[:1] not in {"+", "-"}:
        return UTC
    hour, _, rest = offset[1:].partition(":")
    hours, minutes = int(hour[:2]), int(hour[2:] or rest or 0)
    if hours > 15 or minutes > 59:  # noqa: PLR2004  (no place was ever further from Greenwich)
        raise ValueError(f"the zone {offset} is none: they go from -15:59 to +15:59")
    apart = timedelta(hours=hours, minutes=minutes)
    return timezone(-apart if offset[0] == "-" else apart)


# Reading slowly: what is not written as usual, or has words around it


def _read(text: str, zone: tzinfo) -> datetime:
    """Read the first date in a text with the time and the zone behind it; nothing that may matter is passed over."""
    found = _DATE.search(text)
    if not found:
        raise ValueError(f"no date like 2026-11-29 in {text[:60]!r}")
    clock = _TIME.match(text, found.end()) or _BASIC.match(text, found.end())
    end = clock.end() if clock else found.end()
    half = _HALF.match(text, end) if clock else None
    said = text[found.start() : half.end() if half else end]
    parts: list[str | None] = [*found.groups(), *(clock.groups() if clock else [None] * 4)]
    if half:
        parts[3] = _of_day(said, int(parts[3] or 0), half[1])
    made, rest = _in_zone(said, parts, text[found.start() + len(said) :], zone, is_time=clock is not None)
    if beside := _beside(text[: found.start()], rest, is_time=clock is not None):
        raise _uncertain(said, beside)
    return made


def _of_day(said: str, hour: int, half: str) -> str:
    """Give the hour of the day for one of a clock with two halves."""
    if not 0 < hour <= 12:  # noqa: PLR2004  (a clock's hours)
        raise ValueError(f"{said[:60]!r} is no date: hours before and after noon go from 1 to 12")
    return str(hour % 12 + (12 if half in "Pp" else 0))


def _in_zone(said: str, parts: Sequence[str | None], rest: str, zone: tzinfo, *, is_time: bool) -> tuple[datetime, str]:
    """Make a time in the zone that is said behind it, else in `zone`; give with it what stands behind that."""
    if named := (_ZONE.match(rest) or _UTC.match(rest)) if is_time else _DAY_UTC.match(rest):
        made = _made(said, parts, named[1], zone)
        return made, _without_place(said, made, _zone(named[1]), rest[named.end() :])
    there, after_it = _place(rest)
    return _made(said, parts, None, there or zone), after_it


def _without_place(said: str, made: datetime, offset: tzinfo, rest: str) -> str:
    """Leave out the name of the zone behind an offset, which says all; raise ValueError where they disagree."""
    there, after_it = _place(rest)
    if there and offset is not UTC and into(made, there).utcoffset() != offset.utcoffset(None):
        raise _uncertain(said, rest)
    short = _SHORT.match(after_it)
    agrees = short and (short[1] in {"UTC", "GMT", "WET"}) == (offset is UTC)
    return after_it[short.end() :] if short and agrees and not there else after_it


def _place(rest: str) -> tuple[tzinfo | None, str]:
    """Give the zone that a text begins with by its name, and what stands behind that; None where it names none."""
    place = _PLACE.match(rest)
    if not place:
        return None, rest
    import zoneinfo  # for one of a thousand dates

    try:
        return zoneinfo.ZoneInfo(place[2]), rest[place.end() :]
    except (KeyError, ValueError, OSError):
        return None, rest


def _beside(before: str, rest: str, *, is_time: bool) -> str:
    """Give what stands with a date and may change what is meant; empty where nothing does."""
    if minus := _MINUS.search(before) or _ALSO.search(before):
        return minus[0]
    if is_time:
        return "" if _END.fullmatch(rest.replace("_", " ")) else rest
    other = _DATE.search(rest)
    also = _ALSO.search(rest[: other.start()] if other else rest)
    return also[0] if also else ""


def _uncertain(said: str, beside: str) -> ValueError:
    meant = "write the time as 20:15, its zone as UTC, +01:00 or Europe/Berlin"
    return ValueError(f"{said[:60]!r} is not certain with {beside.strip()[:30]!r} beside it: {meant}")


def in_name(stem: str, zone: tzinfo) -> datetime | None:
    """Read the date in a file name: a name that the store made carries UTC, any other a day in `zone`."""
    made = _STORE_NAME.match(stem)
    try:
        if made:
            return datetime(*(int(part) for part in made.groups()), tzinfo=UTC)  # type: ignore[misc,arg-type]
        found = _NAME_DATE.search(stem)
        return parse(found[0], zone) if found else None
    except ValueError:
        return None


# Counting and spelling


def from_ns(nanoseconds: int) -> datetime:
    """Turn a file's time into a time; one that no calendar holds becomes the nearest that does."""
    return from_micros(nanoseconds // 1000)


def micros(time: datetime) -> int:
    """Give a time as microseconds since 1970."""
    return (time - EPOCH) // TICK


def from_micros(count: int) -> datetime:
    """Turn microseconds since 1970 back into a time; one that no calendar holds becomes the nearest that does."""
    try:
        return EPOCH + timedelta(microseconds=count)
    except OverflowError:
        return LAST if count > 0 else FIRST


def after(time: datetime, step: timedelta = TICK) -> datetime:
    """Give the time that is a step later, or the end of the calendar."""
    try:
        return time + step
    except OverflowError:
        return LAST


def into(time: datetime, zone: tzinfo) -> datetime:
    """Give a time as the clocks in `zone` show it; where the calendar ends before that, as they show it here."""
    try:
        return time.astimezone(zone)
    except OverflowError:
        return time.replace(tzinfo=zone)


def spell(time: datetime) -> str:
    """Spell a time as front matter holds it: `2026-11-29T20:15:30Z`, with a fraction only where there is one."""
    text = into(time, UTC).replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0') if '.' in text else text}Z"


def stamp(time: datetime) -> str:
    """Spell a time as names that the store makes carry it: `2026-11-29-201530`, UTC."""
    utc = into(time, UTC)
    return f"{utc.year:04d}-{utc:%m-%d-%H%M%S}"  # not every C library pads a year before 1000


def day(time: datetime, zone: tzinfo) -> str:
    """Spell the day on which a time falls in `zone`."""
    return into(time, zone).date().isoformat()


def day_end(text: str, zone: tzinfo) -> datetime:
    """Read an upper bound: a bare date means the last moment of that day in `zone`, a time means itself."""
    start = parse(text, zone)
    if not re.fullmatch(r"\s*\d{4}-\d\d-\d\d\s*", text):
        return start
    try:
        following = date.fromisoformat(text.strip()) + timedelta(days=1)
        return datetime(following.year, following.month, following.day, tzinfo=zone).astimezone(UTC) - TICK
    except OverflowError:
        return LAST

"""Times as people write them and as the store spells them: always aware, always UTC inside."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
"""The least step between two times that the store issues."""

_TIME = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)"
    r"(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?[ \t]*((?i:Z|UTC|GMT)\b|[+-]\d\d:?\d\d|[+-]\d\d)?)?"
)
_STORE_NAME = re.compile(r"(\d{4})-(\d\d)-(\d\d)-(\d\d)(\d\d)(\d\d)-")
_NAME_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


def parse(text: str, zone: tzinfo) -> datetime:
    """Read the first date or time in `text`; raise ValueError where there is none that the calendar knows.

    A time without a zone is taken in `zone`, a bare date is the start of that day there. Text around it (a link, a
    weekday) is passed over.
    """
    found = _TIME.search(text)
    if not found:
        raise ValueError(f"no date like 2026-11-29 in {text[:60]!r}")
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    try:
        return datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(offset) if offset else zone,
        ).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{found[0]!r} is no date: {error}") from error


def _zone(offset: str) -> tzinfo:
    if offset[0] not in "+-":
        return UTC
    digits = offset[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:  # noqa: PLR2004  (of a day, and of an hour)
        raise ValueError(f"the zone {offset} is none: they go from -23:59 to +23:59")
    apart = timedelta(hours=hours, minutes=minutes)
    return timezone(-apart if offset[0] == "-" else apart)


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


def from_ns(nanoseconds: int) -> datetime:
    """Turn a file's time into a time; one that no calendar holds becomes the nearest that does."""
    try:
        return EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if nanoseconds > 0 else datetime.min.replace(tzinfo=UTC)


def micros(time: datetime) -> int:
    """Give a time as microseconds since 1970."""
    return (time - EPOCH) // TICK


def from_micros(count: int) -> datetime:
    """Turn microseconds since 1970 back into a time."""
    return EPOCH + timedelta(microseconds=count)


def spell(time: datetime) -> str:
    """Spell a time as front matter holds it: `2026-11-29T20:15:30Z`, with a fraction only where there is one."""
    text = time.astimezone(UTC).replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0') if '.' in text else text}Z"


def stamp(time: datetime) -> str:
    """Spell a time as names that the store makes carry it: `2026-11-29-201530`, UTC."""
    utc = time.astimezone(UTC)
    return f"{utc.year:04d}-{utc:%m-%d-%H%M%S}"  # not every C library pads a year before 1000


def day(time: datetime, zone: tzinfo) -> str:
    """Spell the day on which a time falls in `zone`."""
    try:
        return time.astimezone(zone).date().isoformat()
    except OverflowError:
        return time.date().isoformat()


def day_end(text: str, zone: tzinfo) -> datetime:
    """Read an upper bound: a bare date means the last moment of that day in `zone`, a time means itself."""
    start = parse(text, zone)
    if not re.fullmatch(r"\s*\d{4}-\d\d-\d\d\s*", text):
        return start
    try:
        following = date.fromisoformat(text.strip()) + timedelta(days=1)
        return datetime(following.year, following.month, following.day, tzinfo=zone).astimezone(UTC) - TICK
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)

"""What becomes of records that a machine proposed: pending until a person confirms, pruned where nobody does; pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyramid_fs import layout, times
from pyramid_fs.notes import Curated, Entity, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from pyramid_fs.settings import Curation

PENDING, CONFIRMED, PRUNED = "pending", "confirmed", "pruned"
KNOWN = (PENDING, CONFIRMED, PRUNED)
MISTYPED = "its `status` is "
"""How the reason begins for a record whose status is none of these."""
IMPORTED = ("mcp-memory:", "basic-memory:")
"""How the source of a record begins that was imported: nobody weighed it, so it waits for a person, and says so."""
NEAR_LETTERS = 5
"""From so many letters on, names one or two letters apart may be one name spelled twice …"""
NEAR = 2
"""… so many letters apart."""
CONTAINED = 4
"""A name of so many letters that stands in another as whole words may be the same, said shorter."""
SIGNS = 2
"""The same for scripts without spaces, where a sign says more than a letter."""
ALIKE = 0.85
"""Share of two texts that is equal, word by word, from which on one may repeat the other."""
WARNING = timedelta(days=7)
"""So long ahead is said what will be pruned."""


def status(record: Curated) -> str:
    """Say where a record stands; what is neither confirmed nor pruned is pending."""
    return record.status if record.status in {CONFIRMED, PRUNED} else PENDING


def is_mistyped(record: Curated) -> bool:
    """Whether a person typed a status that is none: such a record waits, and nothing is written over that word."""
    return bool(record.status) and record.status not in KNOWN


def shown(records: Sequence[Curated]) -> list[Curated]:
    """Leave what belongs in a bundle: what is neither pruned nor superseded.

    One that was pruned itself takes no place; nor do records that supersede each other in a ring, as a merge makes it.
    """
    pruned, by = {layout.folded(record.handle) for record in records if status(record) == PRUNED}, _successors(records)
    return [
        record
        for record in records
        if status(record) != PRUNED
        and (
            not record.superseded_by
            or layout.folded(record.superseded_by) in pruned
            or _leads(by, record.handle, record.handle)
        )
    ]


def leads_to(record: Curated, to: Curated, records: Iterable[Curated]) -> bool:
    """Whether a record is superseded by another, at once or over others."""
    return _leads(_successors(records), record.handle, to.handle)


def _successors(records: Iterable[Curated]) -> dict[str, str]:
    return {layout.folded(record.handle): layout.folded(record.superseded_by) for record in records}


def _leads(by: Mapping[str, str], handle: str, to: str) -> bool:
    at, end, seen = by.get(layout.folded(handle), ""), layout.folded(to), set[str]()
    while at and at != end and at not in seen:
        seen.add(at)
        at = by.get(at, "")
    return at == end


def ordered(records: Iterable[Curated]) -> list[Curated]:
    """Put confirmed records before pending ones, the newest first."""
    return sorted(records, key=lambda r: (status(r) == CONFIRMED, r.created, r.handle), reverse=True)


def contradicted(records: Iterable[Curated]) -> frozenset[str]:
    """Give the handles, folded, that another record, which is not pruned, contradicts."""
    return frozenset(
        layout.folded(handle) for record in records if status(record) != PRUNED for handle in record.contradicts
    )


# Pruning


def since(record: Curated, extracted: Mapping[str, datetime]) -> datetime:
    """Say from when on a record waits: when it was made, or when its session was gone through, if that was later."""
    at = extracted.get(record.source)
    return max(record.created, at) if at else record.created


def unclear(record: Curated) -> str:
    """Say what keeps a pending record from being pruned; empty where it may be, and where that is meant so."""
    if status(record) != PENDING:
        return ""
    if is_mistyped(record):
        return f"{MISTYPED}`{record.status[:40]}`, which is none: it counts as pending, and is never pruned"
    if record.confidence is None and (record.says_confidence or not record.source.startswith(IMPORTED)):
        said = "is no number from 0 to 1" if record.says_confidence else "is missing"
        return f"its `confidence` {said}: it is never pruned"
    if record.problem:
        return f"{record.problem}; it is never pruned"
    return "" if record.is_dated else "its `created` is missing: it is never pruned"


def due(
    records: Iterable[Curated], extracted: Mapping[str, datetime], rules: Curation, now: datetime
) -> Iterator[Curated]:
    """Yield what is to be pruned: unconfirmed, waiting too long, and of low confidence."""
    for record in records:
        if status(record) != PENDING or unclear(record) or record.confidence is None:
            continue
        if record.confidence < rules.prune_below and _due_at(record, extracted, rules) <= now:
            yield record


def _due_at(record: Curated, extracted: Mapping[str, datetime], rules: Curation) -> datetime:
    try:
        return since(record, extracted) + rules.prune_after
    except OverflowError:  # a date at the end of all calendars
        return datetime.max.replace(tzinfo=UTC)


def due_day(record: Curated, extracted: Mapping[str, datetime], rules: Curation, zone: tzinfo) -> str:
    """Give the day when a record fell due, as two machines both write it."""
    return times.day(_due_at(record, extracted, rules), zone)


def soon(records: Iterable[Curated], extracted: Mapping[str, datetime], rules: Curation, now: datetime) -> int:
    """Count what will be pruned within a week, if nobody confirms it."""
    return sum(1 for _ in due(records, extracted, rules, now + WARNING))


def extracted_at(ledger: Iterable[Mapping[str, Any]], zone: tzinfo) -> dict[str, datetime]:
    """Read when each source was gone through first, on whatever machine."""
    found: dict[str, datetime] = {}
    for entry in ledger:
        if "made" not in entry or not isinstance(entry.get("source"), str):
            continue
        try:
            at = times.parse(str(entry.get("at", "")), zone)
        except ValueError:
            continue
        found[entry["source"]] = min(at, found.get(entry["source"], at))
    return found


# Likely duplicates: flagged, never skipped, never merged


def duplicates(record: Curated, text: str, others: Iterable[tuple[Curated, str]]) -> list[str]:
    """Give the handles of records that a new one may repeat; with each comes its text, which procedures are told by."""
    if isinstance(record, Entity):
        names = _names(record)
        return [
            o.handle for o, _ in others if isinstance(o, Entity) and _same_label(record, o) and _meet(names, _names(o))
        ]
    mine = _plain(text)
    return [other.handle for other, said in others if other.kind is Kind.PROCEDURE and _repeats(mine, _plain(said))]


def _same_label(one: Entity, other: Entity) -> bool:
    return not one.label or not other.label or _plain(one.label) == _plain(other.label)


def _names(entity: Entity) -> list[str]:
    return [plain for name in (entity.name, *entity.aliases) if (plain := _plain(name))]


def _plain(text: str) -> str:
    """Leave of a text its words, without case, accents and marks; its signs where it has no words."""
    from pyramid_fs import words  # with a stemmer, which costs a reading command as much as its reading

    folded = words.fold(text)
    return " ".join(re.findall(r"\w+", folded)) or folded.strip()


def _meet(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    return any(is_near(one, other) for one in mine for other in theirs)


def is_near(one: str, other: str) -> bool:
    """Whether two plain names may be one: equal, a letter or two apart, or one within the other as whole words."""
    short, long = sorted((one, other), key=len)
    if short == long:
        return True
    if _is_unspaced(short) and _is_unspaced(long):
        return len(short) >= SIGNS and short in long
    if len(short) >= CONTAINED and f" {short} " in f" {long} ":
        return True
    return len(short) >= NEAR_LETTERS and len(long) - len(short) <= NEAR and _apart(short, long) <= NEAR


def _is_unspaced(text: str) -> bool:
    return " " not in text and any(ord(letter) > 0x2E7F for letter in text)  # noqa: PLR2004  (CJK and what follows)


def _apart(one: str, other: str) -> int:
    """Count the letters to change, put in or leave out between two names; it stops counting past what is near."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        above, row[0] = row[0], number
        for at, theirs in enumerate(other, 1):
            above, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, above + (letter != theirs))
        if min(row) > NEAR:
            return NEAR + 1
    return row[-1]


def _repeats(one: str, other: str) -> bool:
    if one == other:
        return bool(one)
    mine, theirs = one.split(), other.split()
    if not mine or not theirs or min(len(mine), len(theirs)) < ALIKE * max(len(mine), len(theirs)) - 1:
        return False
    from difflib import SequenceMatcher  # for a procedure that is written alone

    return SequenceMatcher(None, mine, theirs, autojunk=False).ratio() >= ALIKE

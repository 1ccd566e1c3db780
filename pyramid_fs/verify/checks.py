"""The checks: small functions that each name one kind of fault, or of what a person may want to know."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import layout, links, times
from pyramid_fs.errors import Problem
from pyramid_fs.verify.reading import DIGEST, SUMMARY_NAME, Note, Source, Summary
from pyramid_fs.verify.rule import Pyramid, key, nfc, sum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime


def _folders(pyramid: Pyramid) -> Iterator[Problem]:
    for path, reason, fix in pyramid.model.shut:
        yield Problem(path, f"{reason}: nothing is taken as deleted", fix)
    for path in pyramid.model.strays:
        if named := SUMMARY_NAME.fullmatch(nfc(path)):
            yield Problem(path, f"it lies in {named[1]}, and its name says tier {int(named[2])}")


def _texts(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.model.summaries:
        yield from (Problem(summary.path, f"broken summary: {reason}") for reason in summary.wrong)
        if summary.has_conflict:
            yield Problem(summary.path, "the conflict markers of a merge stand in it")
        for source in summary.sources:
            if not DIGEST.fullmatch(source.digest):
                yield Problem(summary.path, f"the digest of {source.link} is no digest: {source.digest[:20]!r}")


def _sources_elsewhere(pyramid: Pyramid) -> Iterator[Problem]:
    """Find sources that are there, but not where this tier's lie; a note that moved away is missing, and no fault."""
    for summary in pyramid.model.summaries:
        below = f"a summary of tier {summary.tier - 1}" if summary.tier else "a note"
        off = [s for s in summary.sources if not s.file or s.file.handle != links.name(s.link)]
        for source, path in ((s, path) for s in off for path in pyramid.vault.paths.get(links.name(s.link), ())):
            if pyramid.standing[summary.path] != "loser" and (summary.tier or not _is_note(path)):
                yield Problem(summary.path, f"its source {source.link} is {path}, not {below} of this model")


def _is_note(path: str) -> bool:
    place = layout.place(path)
    return place is not None and place.tier < 0


def _sources_twice(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.active:
        for (path, _), count in Counter(key(summary, source) for source in summary.sources if source.file).items():
            if count > 1:
                yield Problem(summary.path, f"it names one source {count} times: {path}")


def _digests_swapped(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.active:
        # notes whose names a person swapped took their dates along; of one date they can't be told from a wrong digest
        dates = Counter(source.date for source in summary.sources)
        off = [(s, file) for s, file in _revised(pyramid, summary) if s.date == _date(file) and dates[s.date] == 1]
        read, current = {source.digest for source, _ in off}, {file.digest for _, file in off}
        for source, file in off:
            if source.digest in current and file.digest in read:
                yield Problem(summary.path, f"the digest of {source.link} is that of another of its sources")


def _date(file: Note | Summary) -> datetime:
    return file.created if isinstance(file, Summary) else file.dated or file.touched


def _revised(pyramid: Pyramid, summary: Summary) -> list[tuple[Source, Note | Summary]]:
    """List the sources whose text is another by now, and that in no summary yet."""
    found = ((source, source.file) for source in summary.sources if source.file)
    return [(s, file) for s, file in found if file.digest not in {"", s.digest} and file.path not in pyramid.homes]


class Below(NamedTuple):
    """What lies below a summary, recounted note by note."""

    versions: int
    """Of notes."""
    first: datetime
    last: datetime
    forgotten: int
    """Those of them that have a tombstone: a summary above may be written again without them already."""

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The earliest and the latest date."""
        return self.first, self.last


def _below(pyramid: Pyramid) -> dict[str, Below]:
    """Recount each active summary, by path, from all that lies below it, by the dates that were recorded."""
    below: dict[str, Below] = {}
    for summary in pyramid.active:
        parts = [
            below[s.file.path] if s.file and summary.tier else Below(1, s.date, s.date, _is_forgotten(s, pyramid))
            for s in summary.sources
        ]
        counts, firsts, lasts, forgotten = zip(*parts, strict=True)
        below[summary.path] = Below(sum(counts), min(firsts), max(lasts), sum(forgotten))
    return below


def _is_forgotten(source: Source, pyramid: Pyramid) -> bool:
    return pyramid.vault.forgot(links.name(source.link), source.digest)


def _is_due(summary: Summary, found: Below, pyramid: Pyramid) -> bool:
    """Whether a roll-up's count is another only as it, or what lies below it, is still to be written without a note.

    One that was written again names fewer, by the forgotten ones that are still below it at most. One that was not
    names more: what is below it names those no more, and a tombstone says only that there were so many.
    """
    off = summary.note_count - found.versions
    return summary.tier > 0 and off != 0 and -found.forgotten <= off <= len(pyramid.vault.tombstones)


def _sums_below(pyramid: Pyramid) -> Iterator[Problem]:
    below = _below(pyramid)
    for summary in pyramid.active:
        found, is_due = below[summary.path], _is_due(summary, below[summary.path], pyramid)
        if summary.note_count != found.versions and not is_due:
            reason = f"its note_count is {summary.note_count}, and {found.versions} versions lie below it"
            yield Problem(summary.path, reason)
        # of two that count alike each may lack another note, as long as one that was forgotten is below them
        if summary.span != found.span and not is_due and not (summary.tier and found.forgotten):
            yield Problem(summary.path, f"its span is {_spell(summary.span)}, and its sources say {_spell(found.span)}")
        above = [s.file.created for s in summary.sources if isinstance(s.file, Summary)]
        if summary.created < times.after(max([found.last, *above])):  # after the last of all times is that time
            yield Problem(summary.path, "its created is not later than that of every source")


def _spell(span: Iterable[datetime]) -> str:
    return " to ".join(times.spell(date) for date in span)


def _counted_twice(pyramid: Pyramid) -> Iterator[Problem]:
    for path, homes in pyramid.homes.items():
        if len(homes) > 1:
            yield Problem(path, f"its current version is counted {len(homes)} times: in {', '.join(homes)}")
    for path, parents in pyramid.parents.items():
        if len(parents) > 1:
            yield Problem(path, f"it is rolled up {len(parents)} times: in {', '.join(parents)}")


def _sums(pyramid: Pyramid) -> Iterator[Problem]:
    path, found = f"{layout.MODELS}/{pyramid.model.name}", sum_of(pyramid)
    if found.notes != found.covered + found.tail:
        yield Problem(path, f"{found.notes} notes are not {found.covered} covered + {found.tail} in the tail")
    below = _below(pyramid) if pyramid.vault.tombstones else {}
    due = {s.path: below[s.path].versions for s in pyramid.cover if below and _is_due(s, below[s.path], pyramid)}
    total = sum(due.get(summary.path, summary.note_count) for summary in pyramid.cover)
    sources = [source for summary in pyramid.active for source in summary.sources if summary.tier == 0]
    versions = {(source.file.path if source.file else source.link, source.digest) for source in sources}
    if total != len(versions):
        yield Problem(path, f"its cover counts {total} versions of notes, and its tier 0 names {len(versions)}")


def _notes_off(pyramid: Pyramid) -> Iterator[Problem]:
    paths = {note.path for note in pyramid.model.notes}
    for note in pyramid.model.notes:
        if note.problem:
            yield Problem(note.path, f"no batch takes it: {note.problem}")
        elif (twin := nfc(note.path)) != note.path and twin in paths:
            yield Problem(note.path, "no batch takes it: its name equals another but for composition")


def _summaries_off(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.model.summaries:
        if pyramid.standing[summary.path] == "loser":
            yield Problem(summary.path, "it lost a merge, covers nothing and is to be retired")
        if pyramid.standing[summary.path] == "waiting":
            off = (s.link for s in summary.sources if not s.file or pyramid.standing[s.file.path] != "active")
            yield Problem(summary.path, f"it waits, and covers nothing, until its sources are here: {', '.join(off)}")


def _sources_off(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.active:
        for source, _ in _revised(pyramid, summary):
            later = "so it is due for redo" if summary.tier else "so its text as it is now is tail"
            yield Problem(summary.path, f"its source {source.link} was revised since, {later}")
        for source in summary.sources if summary.tier == 0 else ():
            if reason := _gone(source, pyramid) or _redated(source):
                yield Problem(summary.path, f"its source {source.link} {reason}")


def _counts_off(pyramid: Pyramid) -> Iterator[Problem]:
    below = _below(pyramid) if pyramid.vault.tombstones else {}
    for summary in pyramid.active if below else ():
        if _is_due(summary, below[summary.path], pyramid):
            reason = f"it counts {summary.note_count} versions, and {below[summary.path].versions} lie below it"
            yield Problem(summary.path, f"{reason}: a note was forgotten, so it is due to be written without it")


def _gone(source: Source, pyramid: Pyramid) -> str:
    if source.fate == "missing" and (moved := pyramid.vault.paths.get(links.name(source.link))):
        return f"is missing: moved to {', '.join(moved)}"
    if source.fate == "absent":
        return "is absent: not here yet, or in a folder that can't be read"
    return {"missing": "is missing", "forgotten": "was forgotten"}.get(source.fate, "")


def _redated(source: Source) -> str:
    dated = source.file.dated if isinstance(source.file, Note) else None
    return f"says {times.spell(dated)} now; {times.spell(source.date)} binds" if dated and dated != source.date else ""


FAULTS = (_folders, _texts, _sources_elsewhere, _sources_twice, _digests_swapped, _sums_below, _counted_twice, _sums)
REMARKS = (_notes_off, _summaries_off, _sources_off, _counts_off)

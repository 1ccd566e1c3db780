"""Goes through session digests for entities and procedures, each session once, and adds what it finds as pending."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyramid_fs import curation, shapes, times
from pyramid_fs.errors import PyramidError
from pyramid_fs.notes import Curated, Kind, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from pyramid_fs.extractors import Candidate, Extractor
    from pyramid_fs.issue import Tools
    from pyramid_fs.settings import Curation

LINES = 20
"""So many sessions share one write of the ledger."""


@dataclass(slots=True)
class Backfilled:
    """What came of going through sessions."""

    qualifying: int = 0
    """Sessions that were to be gone through: not done before, old enough, and with a text."""
    done_before: int = 0
    processed: int = 0
    entities: int = 0
    procedures: int = 0
    below: int = 0
    """Candidates under the gate."""
    errors: list[str] = field(default_factory=list)


def tag(session: Session) -> str:
    """Give the source tag of what was found in a session: by its own id, else by its handle."""
    return f"session:{session.session or session.handle}"


def todo(tools: Tools, before: datetime | None) -> tuple[list[Session], int]:
    """List the sessions to go through, oldest first, and count those that are done."""
    sessions = sorted(
        (s for s in tools.census.values("sessions") if isinstance(s, Session) and s.chars and not s.problem),
        key=lambda s: (s.created, s.handle),
    )
    old = [session for session in sessions if before is None or session.created < before]
    done = skip_set(tools)
    left = [session for session in old if session.chars > done.get(tag(session), -1)]
    return left, len(old) - len(left)


def skip_set(tools: Tools) -> dict[str, float]:
    """Give the source tags that are done, on whatever machine, and also after pruning, each with so many characters.

    That is what a ledger says was gone through, with or without a find, and every record's source, whatever its
    status; but for a session that was begun and not ended: a kill cut it off, and what it lacks is added. A session
    that has gone on since, and has more characters, is gone through again: what was found in it before is not made
    twice.
    """
    ledger = list(tools.census.vault.ledger())
    made: dict[str, float] = {}
    for entry in ledger:
        if "made" in entry:
            source, size = str(entry["source"]), entry.get("chars")
            made[source] = max(made.get(source, -1), size if isinstance(size, int) else math.inf)
    begun = {str(entry["begun"]) for entry in ledger if "begun" in entry}
    return {**dict.fromkeys({record.source for record in _known(tools)} - begun, math.inf), **made}


def _known(tools: Tools) -> list[Curated]:
    return [r for top in ("entities", "procedures") for r in tools.census.values(top) if isinstance(r, Curated)]


def backfill(
    tools: Tools,
    extractor: Extractor,
    admit: float,
    *,
    before: datetime | None = None,
    limit: int | None = None,
    dry: bool = False,
    step: Callable[[Session], None] = lambda _: None,
) -> Backfilled:
    """Go through the sessions that were not gone through; one error never stops the rest."""
    sessions, done = todo(tools, before)
    report = Backfilled(len(sessions), done)
    if dry:
        return report
    others, sessions = shapes.records(tools), sessions[:limit]
    for at in range(0, len(sessions), LINES):
        some = sessions[at : at + LINES]
        _note(tools, [{"begun": tag(session)} for session in some])
        entries = []
        for session in some:
            try:
                made = sum(_add_all(tools, extractor, session, admit, others, report))
                entries.append({"source": tag(session), "made": made, "chars": session.chars})
            except PyramidError as error:
                report.errors.append(f"{session.handle}: {error}")
            step(session)
        report.processed += len(entries)
        _note(tools, entries)
    return report


def _note(tools: Tools, entries: list[dict[str, object]]) -> None:
    at = times.spell(tools.clock())
    tools.census.vault.add_to_ledger(shapes.machine(tools), [{**entry, "at": at} for entry in entries])


def _add_all(
    tools: Tools,
    extractor: Extractor,
    session: Session,
    admit: float,
    others: list[tuple[Curated, str]],
    report: Backfilled,
) -> Iterator[int]:
    """Add what a session yields; yield 1 for each record that is new."""
    for found in _admitted(extractor.extract(shapes.text_of(tools, session)), admit, report):
        made = _record(found, tag(session), session.created)
        added = shapes.add(tools, made, _said(found), seed=tag(session), others=others)
        if not added.is_new:
            continue
        report.entities += made.kind is Kind.ENTITY
        report.procedures += made.kind is Kind.PROCEDURE
        yield 1


def _admitted(found: Sequence[Candidate], admit: float, report: Backfilled) -> Iterator[Candidate]:
    from pyramid_fs import leaks  # for extraction alone

    for candidate in found:
        if candidate.confidence < admit:
            report.below += 1
        elif not any(leaks.find(f"{candidate.text}\n{candidate.evidence}")):
            yield candidate


def _record(found: Candidate, source: str, time: datetime) -> Curated:
    if found.kind is Kind.ENTITY:
        return shapes.entity(found.text, found.label, found.confidence, source, time)
    return shapes.procedure(found.confidence, source, time)


def _said(found: Candidate) -> str:
    """Give a record's text: a procedure's own, or for an entity the sentence that speaks of it, as a quote."""
    return found.text if found.kind is Kind.PROCEDURE else f"> {' '.join(found.evidence.split())}"


# Pruning


def prune(tools: Tools, rules: Curation, *, dry: bool = False) -> list[tuple[Curated, str]]:
    """Mark as pruned what nobody confirmed in time, in place; give each with the day when it fell due."""
    zone, extracted = tools.census.vault.settings.zone, extracted_at(tools)
    found = [
        (record, curation.due_day(record, extracted, rules, zone))
        for record in curation.due(_known(tools), extracted, rules, tools.clock())
    ]
    failed: list[PyramidError] = []
    for record, day in () if dry else found:
        try:
            tools.census.vault.set_keys(record.path, {"status": curation.PRUNED, "pruned": day})
        except (PyramidError, FileNotFoundError) as error:  # one file never holds up the others
            failed += [error] if isinstance(error, PyramidError) else []
    if failed:
        raise failed[0]
    return found


def extracted_at(tools: Tools) -> dict[str, datetime]:
    """Read when each session was gone through."""
    return curation.extracted_at(tools.census.vault.ledger(), tools.census.vault.settings.zone)

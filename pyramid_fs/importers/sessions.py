"""Imports conversations as session digests: each once, dated as it was, and again where it has gone on since."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyramid_fs import digests, files, shapes, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, PyramidError
from pyramid_fs.importers.conversations import Bad, Conversation
from pyramid_fs.notes import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyramid_fs.issue import Tools


@dataclass(slots=True)
class Sessions:
    """What came of an import of conversations; its counts add up to `read`."""

    read: int = 0
    made: int = 0
    grown: int = 0
    """Digests written again, as their conversation has gone on."""
    known: int = 0
    edited: int = 0
    """Digests of conversations that have gone on, and that a person has edited: left as they are."""
    skipped: int = 0
    """Conversations without anything to keep."""
    failed: int = 0
    """Conversations whose digest could not be made; a next run tries them again."""
    bad: list[str] = field(default_factory=list)
    """One line for each record that can't be used, and for each failure."""


def bring_in(
    tools: Tools,
    found: Iterable[Conversation | Bad],
    digest: Callable[[Conversation], str],
    *,
    topics: Sequence[str] = (),
    dry: bool = False,
    step: Callable[[], None] = lambda: None,
) -> Sessions:
    """Save a digest of each conversation that has none, or whose digest is older than it; one failure ends nothing."""
    report = Sessions()
    entries = {str(entry["source"]): entry for entry in tools.census.vault.ledger() if "turns" in entry}
    known = {s.session: s for s in tools.census.values("sessions") if isinstance(s, Session) and s.session}
    for each in found:
        step()
        if isinstance(each, Bad):
            report.bad.append(f"{each.where}: {each.reason}")
            continue
        report.read += 1
        try:
            what = _one(tools, each, entries.get(each.source), known.get(each.session), digest, topics, dry=dry)
        except PyramidError as error:
            what = "failed"
            report.bad.append(f"{each.source}: {error}")
        setattr(report, what, getattr(report, what) + 1)
    return report


def _one(
    tools: Tools,
    talk: Conversation,
    entry: dict[str, Any] | None,
    there: Session | None,
    digest: Callable[[Conversation], str],
    topics: Sequence[str],
    *,
    dry: bool,
) -> str:
    """Save one conversation; say what came of it, in a word of the report's."""
    if digests.stays_out(talk):
        return "skipped"
    if entry and int(entry["turns"]) >= len(talk.turns):
        return "known"
    if there and not entry:  # saved by an agent, or by a copy of the vault whose ledger is not here
        return "known"
    if entry and not there:  # deleted since: a person's no
        return "known"
    if there and entry and _digest_of(tools, there) != entry.get("digest"):
        return "edited"
    what = "grown" if there else "made"
    if dry:
        return what
    text = digest(talk)
    shapes.save_session(
        tools,
        text,
        topics,
        session=talk.session,
        title=digests.title_of(talk),
        source=talk.source,
        started=talk.started,
        replaces=True,
    )
    line = {"source": talk.source, "made": 1, "turns": len(talk.turns), "digest": pages.digest(text.strip())}
    at = times.spell(tools.clock())
    tools.census.vault.add_to_ledger(files.machine(tools.cache.parent), [{**line, "at": at}])
    return what


def _digest_of(tools: Tools, session: Session) -> str:
    try:
        return pages.digest(tools.census.vault.page(session.path).body)
    except (FileNotFoundError, DiskError):
        return ""

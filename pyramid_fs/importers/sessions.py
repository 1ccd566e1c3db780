"""Imports conversations as session digests: each once, dated as it was, and again where it has gone on since."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import files, shapes, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, PyramidError
from pyramid_fs.importers.conversations import Bad, Conversation
from pyramid_fs.notes import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyramid_fs.issue import Tools


class _Import(NamedTuple):
    """How far a conversation was imported."""

    turns: int
    digests: frozenset[str]
    """Of the texts that were written for it: one that has another was edited since."""


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
    unusable: int = 0
    """Records, and parts and lines of one, that can't be used, and ids that came again: each was read too."""
    bad: list[str] = field(default_factory=list)
    """One line for each of these, and for each failure."""


def bring_in(
    tools: Tools,
    found: Iterable[Conversation | Bad],
    digest: Callable[[Conversation], str],
    stays_out: Callable[[Conversation], str],
    *,
    topics: Sequence[str] = (),
    dry: bool = False,
    step: Callable[[], None] = lambda: None,
) -> Sessions:
    """Save a digest of each conversation that has none, or whose digest is older than it.

    A failure ends nothing, but for a disk that is full or may not be written, which would fail the others too.
    `stays_out` says why a conversation is none to remember; empty for one that is.
    """
    report, imports = Sessions(), _imports(tools)
    known = {s.session: s for s in tools.census.values("sessions") if isinstance(s, Session) and s.session}
    for each in found:
        step()
        report.read += 1
        if isinstance(each, Bad):
            report.unusable += 1
            report.bad.append(f"{each.where}: {each.reason}")
            continue
        before, there = imports.get(each.source), known.get(each.session)
        try:
            what = "skipped" if stays_out(each) else _fate(tools, each, before, there)
            if what in {"made", "grown"} and not dry:
                _save(tools, each, digest(each), topics)
        except DiskError:
            raise
        except PyramidError as error:
            what = "failed"
            report.bad.append(f"{each.source}: {error}")
        setattr(report, what, getattr(report, what) + 1)
    return report


def _imports(tools: Tools) -> dict[str, _Import]:
    """Read from the ledgers of all machines how far each conversation was imported."""
    found: dict[str, _Import] = {}
    for entry in tools.census.vault.ledger():
        if isinstance(turns := entry.get("turns"), int):
            source, digest = str(entry.get("source", "")), str(entry.get("digest", ""))
            before = found.get(source, _Import(0, frozenset()))
            found[source] = _Import(max(before.turns, turns), before.digests | {digest})
    return found


def _fate(tools: Tools, talk: Conversation, before: _Import | None, there: Session | None) -> str:
    """Say what is to become of a conversation, in a word of the report's."""
    if before is None:  # a digest without an import: an agent's, or of a copy of the vault whose ledger is not here
        return "known" if there else "made"
    if before.turns >= len(talk.turns) or not there:  # one that was deleted since is a person's no
        return "known"
    return "grown" if _digest_of(tools, there) in before.digests else "edited"


def _save(tools: Tools, talk: Conversation, text: str, topics: Sequence[str]) -> None:
    """Save a digest, and note how far the conversation went."""
    shapes.save_session(
        tools,
        text,
        topics,
        session=talk.session,
        title=talk.title,
        source=talk.source,
        started=talk.started,
        replaces=True,
    )
    turns, said = len(talk.turns), pages.digest(text.strip())
    line = {"source": talk.source, "made": 1, "turns": turns, "digest": said, "at": times.spell(tools.clock())}
    tools.census.vault.add_to_ledger(files.machine(tools.cache.parent), [line])


def _digest_of(tools: Tools, session: Session) -> str:
    try:
        return pages.digest(tools.census.vault.page(session.path).body)
    except (FileNotFoundError, DiskError):
        return ""

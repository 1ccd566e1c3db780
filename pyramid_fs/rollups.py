"""Summaries that the agent itself writes: hands out a batch that is due, and takes its text once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pyramid_fs import batches, files, forget, issue, pyramid, renaming, summarizers
from pyramid_fs.context import Rollup, RollupSource, Written
from pyramid_fs.errors import RefusedWrite, SummarizerFailed, UsageError
from pyramid_fs.notes import Note
from pyramid_fs.summarizers import prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyramid_fs.batches import Desk
    from pyramid_fs.census import ModelNow
    from pyramid_fs.issue import Tools
    from pyramid_fs.notes import Source
    from pyramid_fs.pyramid import Batch
    from pyramid_fs.summarizers import Request

AGENT = "agent"
"""What a summary's `summarizer` says: an agent wrote it, and, after a colon, which."""
WAIT = 20.0
"""Seconds to wait for another process that writes a summary of the same model."""
_HEX = 12
"""Hex digits of a ticket that tell one batch from any other of its model."""


def next_due(tools: Tools, models: Sequence[str]) -> Rollup | None:
    """Hand out the next batch that is due in the first of the models that has one; None where none has."""
    for model in models:
        desk = batches.Desk(tools, _settled(tools, model))
        found = None if desk.now.held else desk.ahead.next()
        if found:
            batch, _ = found
            sources, request = batches.read_batch(tools, desk.now, batch, desk.below)
            return Rollup(
                ticket=ticket_of(batch, sources),
                model=model,
                tier=batch.tier,
                target=request.target,
                rules=prompt.rules(request),
                items=tuple(RollupSource(i.handle, i.date, i.text, i.source) for i in request.items),
                more=_due(tools, desk, models) - 1,
            )
    return None


def _settled(tools: Tools, model: str) -> ModelNow:
    """Give a model once its files are under its name, and what was forgotten is out of its summaries."""
    now = tools.census.fresh(model)
    if not forget.due(tools.census, model) and not renaming.left(tools.census):
        return now
    with files.locked(tools.cache / issue.grow_lock(model), WAIT):
        return forget.settle(tools, renaming.settle(tools.census, tools.cache, model), forget.Settled())


def _due(tools: Tools, desk: Desk, models: Sequence[str]) -> int:
    shape, clock = tools.census.vault.settings.shape, tools.clock()
    found = [desk.now if model == desk.now.name else tools.census.now(model) for model in models]
    return sum(1 for now in found if not now.held for _ in pyramid.plan(now.state, shape, clock))


def ticket_of(batch: Batch, sources: Sequence[Source]) -> str:
    """Name a batch and the very texts that it was read from: `MODEL t0 SOURCES-TEXTS`, the last two as digests."""
    names = _digest(source.path if isinstance(source, Note) else source.handle for source in batch.sources)
    return f"{batch.model} t{batch.tier} {names}-{_digest(source.digest for source in sources)}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_HEX]


def hand_in(tools: Tools, known: Sequence[str], ticket: str, text: str, by: str) -> Written:
    """Store the text of a batch that was handed out.

    Raise UsageError for what is no ticket, RefusedWrite where the batch was written or a source changed meanwhile,
    SummarizerFailed where the text fails the checks. Nothing is stored then.
    """
    ticket = ticket.strip()
    model, tier, _ = _parts_of(ticket)
    if model not in known:
        raise UsageError(f"the ticket is for model {model!r}, which is not there any more; ask for the next batch")
    with files.locked(tools.cache / issue.grow_lock(model), WAIT):
        desk = batches.Desk(tools, forget.settle(tools, tools.census.fresh(model), forget.Settled()))
        if desk.now.held:
            raise RefusedWrite(f"{model} does not grow now: {'; '.join(desk.now.held)}")
        found = desk.ahead.next()
        if found is None:
            raise RefusedWrite(_why_not(desk, "", ticket))
        batch, planned = found
        sources, request = batches.read_batch(tools, desk.now, batch, desk.below)
        if ticket_of(batch, sources) != ticket:
            raise RefusedWrite(_why_not(desk, ticket_of(batch, sources), ticket))
        clean = _checked(text, request)
        summary = batches.commit(tools, batch, planned, sources, clean, by=f"{AGENT}:{by}" if by else AGENT)
    if model in tools.census.catalog.trouble():
        tools.census.catalog.note_trouble(model, None)
    more = sum(1 for _ in _more(tools, model))
    return Written(summary.handle, summary.path, model, tier, summary.chars, more)


def _parts_of(ticket: str) -> tuple[str, int, str]:
    model, _, rest = ticket.strip().rpartition(" t")
    tier, _, digests = rest.partition(" ")
    if not model or not (tier.isascii() and tier.isdigit()) or len(digests) != 2 * _HEX + 1:
        raise UsageError(f"{ticket[:120]!r} is no ticket: hand in the one that came with the batch, as it stands")
    return model, int(tier), digests


def _why_not(desk: Desk, due: str, ticket: str) -> str:
    """Say why a ticket is refused; `due` is the one that would be taken, empty where nothing is due."""
    _, tier, digests = _parts_of(ticket)
    names = digests.partition("-")[0]
    if due.rpartition("-")[0] == ticket.rpartition("-")[0]:
        return "a source changed since the batch was handed out; nothing was stored: ask for it again"
    for summary in desk.now.state.active.values():
        if summary.tier == tier and _digest(desk.now.state.sources[summary.handle]) == names:
            return f"the batch was written meanwhile: {summary.handle}; nothing was stored: ask for the next one"
    return "that batch is not due any more; nothing was stored: ask for the next one"


def _checked(text: str, request: Request) -> str:
    clean = summarizers.in_sentences(summarizers.tidy(text))
    if reason := summarizers.fault(clean, request):
        raise SummarizerFailed(
            f"the summary was not stored: {reason}; write it again and hand it in with the same ticket"
        )
    return clean


def _more(tools: Tools, model: str) -> Iterator[Batch]:
    now = tools.census.fresh(model)
    if not now.held:
        yield from pyramid.plan(now.state, tools.census.vault.settings.shape, tools.clock())

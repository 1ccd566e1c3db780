"""Tries a summarizer on one batch and stores nothing; and what many summaries would cost, going by those that were."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from pyramid_fs import batches, context, pyramid, summarizers
from pyramid_fs.errors import DiskError, RefusedWrite, SummarizerFailed
from pyramid_fs.redo import Sources
from pyramid_fs.summarizers import Answer, Answering, Item, Request, checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyramid_fs.census import ModelNow
    from pyramid_fs.issue import Tools
    from pyramid_fs.meter import Metered
    from pyramid_fs.summarizers import Call, Summarizer

SAMPLE, SAMPLE_MODEL = 10, "allotment"
"""Where a vault has no notes: so many of the bundled ones."""
SAMPLE_ABOUT = "A vegetable plot through half a year."
RECENT = 200
"""So many of the last calls say what a summary costs."""
CHECKED = ("there is a text", "neither too short nor too long", "nothing that would break the file", "prose, no JSON")
CHECKED_MODEL = ("no error page", "no copy of the notes", "no refusal", "the script of the notes", "ends as a sentence")
"""What is checked of every text, and of a model's beside."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A batch to try a summarizer on."""

    what: str
    request: Request


# The batch


def find(tools: Tools, models: Sequence[str]) -> Trial:
    """Give the next batch that is due, else that of the newest summary, else bundled notes."""
    found = [tools.census.now(model) for model in models]
    return next(_due(tools, found), None) or next(_written(tools, found), None) or sample(tools)


def _due(tools: Tools, found: Sequence[ModelNow]) -> Iterator[Trial]:
    shape, clock = tools.census.vault.settings.shape, tools.clock()
    for now in found:
        batch = None if now.held else next(pyramid.plan(now.state, shape, clock), None)
        if batch:
            _, request = batches.read_batch(tools, now, batch, batches.Below(tools.census, now.state))
            yield Trial(f"the next batch of {now.name} ({_size(request)})", request)


def _written(tools: Tools, found: Sequence[ModelNow]) -> Iterator[Trial]:
    """Yield the batches of the summaries there are, newest first, as far as their sources can still be read."""
    every = [(summary, now) for now in found for summary in now.state.active.values()]
    for summary, now in sorted(every, key=lambda pair: (pair[0].created, pair[0].handle), reverse=True):
        try:
            request = Sources(tools, now).request(summary)
        except (RefusedWrite, DiskError):
            continue
        yield Trial(f"the batch of {summary.handle} ({_size(request)})", request)


def sample(tools: Tools) -> Trial:
    """Give some of the bundled notes as a batch."""
    text = resources.files("pyramid_fs").joinpath("demo.jsonl").read_text("utf-8")
    lines = [line for line in map(json.loads, text.splitlines()) if line.get("model") == SAMPLE_MODEL][:SAMPLE]
    items = tuple(Item(f"sample {at}", line["created"][:10], line["text"]) for at, line in enumerate(lines, 1))
    target = tools.census.vault.settings.shape.target(0)
    texts = [item.text for item in items]
    request = Request(SAMPLE_MODEL, SAMPLE_ABOUT, 0, target, items, lambda: texts, template=tools.template(0))
    return Trial(f"bundled notes, as there are none yet ({_size(request)})", request)


def _size(request: Request) -> str:
    what = "summaries" if request.tier else "notes"
    return f"{len(request.items)} {what}, {request.chars:,} characters"


# The trial


class _Heard:
    """Passes requests on, and keeps what was answered last, also where it is not good enough to be stored."""

    def __init__(self, summarizer: Summarizer) -> None:
        self._summarizer = summarizer
        self.name, self.draft = summarizer.name, summarizer.draft
        self.takes, self.slow = summarizer.takes, summarizer.slow
        self.last = ""

    def summarize(self, request: Request) -> str:
        return self.answer(request).text

    def answer(self, request: Request) -> Answer:
        self.last = ""
        asked = self._summarizer
        found = asked.answer(request) if isinstance(asked, Answering) else Answer(asked.summarize(request))
        self.last = found.text
        return found


def tried(vault: str, summarizer: Summarizer, trial: Trial, spent: Callable[[Call], None] | None) -> context.Tried:
    """Have a batch summarized as growth would; `spent` is told of every call."""
    heard, request = _Heard(summarizer), trial.request
    calls: list[Call] = []

    def told(call: Call) -> None:
        calls.append(call)
        if spent:
            spent(call)

    reason = ""
    try:
        text = summarizers.write(heard, request, told)
    except SummarizerFailed as error:
        text, reason = heard.last.strip(), str(error)
    passed = (*CHECKED, *(CHECKED_MODEL if summarizer.slow else ()))
    return context.Tried(
        vault=vault,
        summarizer=summarizer.name,
        what=trial.what,
        model=request.model,
        tier=request.tier,
        sources=len(request.items),
        target=request.target,
        text=text,
        chars=len(text),
        calls=len(calls),
        chars_in=sum(call.chars_in for call in calls),
        chars_out=sum(call.chars_out for call in calls),
        tokens_in=_sum(call.tokens_in for call in calls),
        tokens_out=_sum(call.tokens_out for call in calls),
        seconds=round(sum(call.seconds for call in calls), 3),
        passed=() if reason else passed,
        reason=reason,
        unsupported=checks.unsupported(text, request) if text and summarizer.slow else (),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


# What many would cost


def estimate(summaries: int, calls: Iterable[Metered], at_once: int) -> context.Estimate | None:
    """Say what so many summaries would cost, going by calls that were made; None where none succeeded.

    What failed calls cost is shared among those that succeeded: it comes again.
    """
    recent = list(calls)[-RECENT:]
    good = sum(1 for call in recent if not call.failed)
    if not good:
        return None

    def share(total: float) -> float:
        return total * summaries / good

    tokens_in, tokens_out = _sum(call.tokens_in for call in recent), _sum(call.tokens_out for call in recent)
    return context.Estimate(
        summaries=summaries,
        seconds=round(share(sum(call.seconds for call in recent)) / max(1, min(at_once, summaries)), 1),
        at_once=at_once,
        tokens_in=None if tokens_in is None else round(share(tokens_in)),
        tokens_out=None if tokens_out is None else round(share(tokens_out)),
        measured=good,
    )

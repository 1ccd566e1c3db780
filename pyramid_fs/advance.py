"""Growth: plan a batch, have it summarized, commit it; one after the other, each on disk before the next."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pyramid_fs import files, kinds, layout, pyramid, summarizers, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, Locked, PyramidError, SummarizerFailed
from pyramid_fs.notes import Dated, Note, Source, Summary
from pyramid_fs.pyramid import Batch, Frontier, Index, State
from pyramid_fs.summarizers import Item, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.census import Census, ModelNow
    from pyramid_fs.summarizers import Summarizer

BACKOFF = timedelta(minutes=1)
"""After a failure growth in the background waits this long, then twice as long each time …"""
BACKOFF_MOST = timedelta(hours=6)
"""… but never longer than this."""
SKEW = timedelta(hours=48)
"""A time further ahead than this was set by hand or by a broken clock: the store's own times don't follow it."""
LOCK_WAIT = 20.0
"""Seconds to wait for the moment in which another process takes the time for a note."""


@dataclass(slots=True)
class Grown:
    """What came of growing one or several models."""

    written: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    exit_code: int = 0
    """The gravest of what failed: a disk that can't be written (40) outweighs a summarizer (30)."""
    held: dict[str, list[str]] = field(default_factory=dict)
    busy: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tools:
    """What growth works with; the clock and the names come from outside, so that a test can hold them."""

    census: Census
    summarizer: Summarizer
    cache: Path
    """The folder of the locks."""
    clock: Callable[[], datetime]
    suffix: Callable[[], str]
    settled: bool = False
    """Whether new files must have been quiet for a while: growth in the background."""


def random_suffix() -> str:
    """Draw the suffix of a new name."""
    return "".join(secrets.choice(layout.ALPHABET) for _ in range(layout.SUFFIX))


def grow(tools: Tools, model: str, grown: Grown, *, wait: float = 0.0) -> Iterator[Summary]:
    """Yield each summary of a model once it is on disk, until nothing is due; note in `grown` what came of it.

    Only one process grows a model at a time; raise Locked where another does so for longer than `wait` seconds. To
    stop, close the iterator: what was yielded stands, what was not yielded does not exist.
    """
    with files.locked(tools.cache / grow_lock(model), wait):
        now = _settle(tools, model, grown)
        if now.held:
            grown.held[model] = now.held
            return
        try:
            yield from _batches(tools, now, grown)
        except SummarizerFailed as error:
            grown.failed[model] = str(error)
            grown.exit_code = max(grown.exit_code, error.exit_code)
            tools.census.catalog.note_trouble(model, str(error))


def grow_lock(model: str) -> str:
    """Name the lock of whoever writes a model's summaries."""
    return f"grow-{_lock_name(model)}"


def _lock_name(model: str) -> str:
    return f"{layout.digest_suffix(model)}-{layout.shorten(layout.slug(model), 60)}.lock"


def _settle(tools: Tools, model: str, grown: Grown) -> ModelNow:
    """Move losers of a merge to `retired/`, remove what a kill left, and give the model as it is then."""
    root, scope = tools.census.vault.root, f"{layout.MODELS}/{model}"
    now = tools.census.fresh(model)
    tiers = sorted({summary.tier for summary in now.state.active.values()})
    files.sweep(root, [scope, *(f"{scope}/tier-{tier}" for tier in tiers)])
    if not now.state.losers:
        return now
    for summary in now.state.losers:
        retire(tools, model, summary)
        grown.retired.append(summary.handle)
    return tools.census.fresh(model)


def retire(tools: Tools, model: str, summary: Summary) -> None:
    """Move a summary to `retired/`, where it is kept and in no cover."""
    root = tools.census.vault.root
    to = f"{layout.MODELS}/{model}/{layout.RETIRED}"
    try:
        files.move(root / summary.path, root / to / f"{summary.handle}.md")
    except ExistsAlready:
        name = f"{summary.handle[: -layout.SUFFIX]}{tools.suffix()}"
        files.move(root / summary.path, root / to / f"{name}.md")


def _batches(tools: Tools, now: ModelNow, grown: Grown) -> Iterator[Summary]:
    desk, failed_before = Desk(tools, now), now.name in tools.census.catalog.trouble()
    while batch := desk.frontier.due():
        sources, request = read_batch(tools, desk.now, batch, desk.below)
        text = summarizers.write(tools.summarizer, request)
        if desk.is_stale():
            # somebody else wrote here meanwhile (a sync tool, git): plan again from what is there now
            desk = Desk(tools, tools.census.fresh(now.name))
            if desk.now.held:
                grown.held[now.name] = desk.now.held
                return
            if desk.frontier.due() != batch:
                continue
        summary = commit(tools, batch, sources, text, desk.next_number(batch.tier))
        desk.take(batch, summary)
        if failed_before:
            tools.census.catalog.note_trouble(now.name, None)
            failed_before = False
        grown.written.append(summary.handle)
        yield summary


class Desk:
    """A model at work: its frontier, the notes below its summaries, and how its tier folders looked last."""

    def __init__(self, tools: Tools, now: ModelNow) -> None:
        self._folder = tools.census.vault.root / layout.MODELS / now.name
        self._top = max((summary.tier for summary in now.state.active.values()), default=-1)
        self._marks = self._look()
        self._numbers: dict[int, int] = {}
        self.now = now
        self.below = Below(tools.census, now.state)
        shape = tools.census.vault.settings.shape
        ready = pyramid.ready(now.state, shape, tools.clock(), settled=tools.settled)
        self.frontier = Frontier(now.state, shape, ready)

    def _look(self) -> tuple[int, ...]:
        names = [layout.RETIRED, *(f"tier-{tier}" for tier in range(self._top + 2))]
        return tuple(files.folder_mark(self._folder / name) for name in names)

    def is_stale(self) -> bool:
        """Whether a summary has appeared in the model or gone that was not made here."""
        return self._look() != self._marks

    def next_number(self, tier: int) -> int:
        """Give the label of the next batch of a tier."""
        if tier not in self._numbers:
            taken = files.names(self._folder, f"tier-{tier}")
            self._numbers[tier] = max((layout.batch_of(name) for name in taken if name.endswith(".md")), default=0)
        return self._numbers[tier] + 1

    def take(self, batch: Batch, summary: Summary) -> None:
        """Take in a summary that was just written."""
        self._top = max(self._top, summary.tier)
        self._numbers[summary.tier] = summary.batch
        self._marks = self._look()
        self.frontier.take(batch, summary)
        self.below.add(summary, batch)


# Reading a batch


class Below:
    """The notes below each summary, those that were written in this run included."""

    def __init__(self, census: Census, state: State) -> None:
        self._census, self._sources = census, dict(state.sources)
        self._active = dict(state.active)
        self._notes = {note.path: note for note in state.notes}
        self.index = Index(state.notes)

    def add(self, summary: Summary, batch: Batch) -> None:
        """Take in a summary that was just written."""
        self._active[summary.handle] = summary
        names = (s.path if isinstance(s, Note) else s.handle for s in batch.sources)
        self._sources[summary.handle] = tuple(names)

    def texts(self, handle: str) -> Iterator[str]:
        """Yield the texts of the notes below a summary, as they were summarized, oldest first.

        Where a version can't be read any more, what its summary says stands for it, once.
        """
        summary = self._active[handle]
        if summary.tier:
            for below in self._sources[handle]:
                yield from self.texts(below)
            return
        lost = False
        for path, source in zip(self._sources[handle], summary.sources, strict=True):
            text = self._version(path, source.digest)
            lost = lost or text is None
            if text is not None:
                yield text
        if lost:
            yield _text_of(self._census, summary.path)

    def _version(self, path: str, digest: str) -> str | None:
        note = self._notes.get(path)
        if note is None:
            return None
        try:
            page = self._census.vault.page(note.text_path or note.path)
        except (FileNotFoundError, DiskError):
            return None
        return kinds.note_text(page) if pages.digest(page.body) == digest else None


def notes_below(tools: Tools, now: ModelNow, handle: str) -> Iterator[str]:
    """Yield the texts of the notes below an active summary, as they were summarized, oldest first."""
    return Below(tools.census, now.state).texts(handle)


def _text_of(census: Census, path: str) -> str:
    try:
        return kinds.note_text(census.vault.page(path))
    except FileNotFoundError:
        raise SummarizerFailed(f"{path} went away while its batch was read; try again") from None


def read_batch(tools: Tools, now: ModelNow, batch: Batch, below: Below) -> tuple[tuple[Source, ...], Request]:
    """Read a batch; give its provenance, with the digests of what was read, and what a summarizer is asked."""
    sources, items = [], []
    for source in batch.sources:
        page = _page(tools.census, source)
        link = below.index.link(source) if isinstance(source, Note) else source.handle
        sources.append(Source(link, pages.digest(page.body), source.created))
        items.append(item_of(tools, source, kinds.note_text(page)))
    request = Request(
        model=now.name,
        description=now.card.description if now.card else "",
        tier=batch.tier,
        target=tools.census.vault.settings.shape.target(batch.tier),
        items=tuple(items),
        notes=lambda: (
            (text for source in batch.sources for text in below.texts(source.handle))
            if batch.tier
            else (item.text for item in items)
        ),
    )
    return tuple(sources), request


def _page(census: Census, source: Note | Summary) -> pages.Page:
    path = source.path if isinstance(source, Summary) else source.text_path or source.path
    try:
        page = census.vault.page(path)
    except FileNotFoundError:
        raise SummarizerFailed(f"{path} went away while its batch was read; try again") from None
    if page.problem or page.is_blank:
        raise SummarizerFailed(f"{path} changed while its batch was read; try again")
    return page


def item_of(tools: Tools, source: Note | Summary, text: str) -> Item:
    """Make a source what a summarizer reads."""
    zone = tools.census.vault.settings.zone
    if isinstance(source, Summary):
        first, last = times.day(source.span_from, zone), times.day(source.span_to, zone)
        return Item(source.handle, first if first == last else f"{first} to {last}", text)
    date = times.day(source.created, zone) if source.dated is not Dated.FILE else ""
    return Item(source.handle, date, text, source.source)


# Committing


def commit(tools: Tools, batch: Batch, sources: tuple[Source, ...], text: str, number: int, *, by: str = "") -> Summary:
    """Store a summary, durably, under a name that no other has; `by` is who wrote it, if not the summarizer."""
    vault = tools.census.vault
    start, end = batch.span
    latest = max(s.created for s in batch.sources)
    created = issue_time(tools, batch.model, latest + times.TICK)
    summary = Summary(
        path=layout.summary_path(batch.model, batch.tier, number, tools.suffix()),
        handle="",
        tier=batch.tier,
        batch=number,
        created=created,
        span_from=start,
        span_to=end,
        note_count=batch.note_count,
        sources=sources,
        digest=pages.digest(text),
        chars=len(text),
        lines=text.count("\n") + 1,
        summarizer=by or tools.summarizer.name,
        draft=not by and tools.summarizer.draft,
    )
    while True:
        try:
            files.create(vault.root / summary.path, kinds.spell_summary(summary, text))
            return replace(summary, handle=layout.handle(summary.path))
        except ExistsAlready:
            summary = replace(summary, path=layout.summary_path(batch.model, batch.tier, number, tools.suffix()))


def issue_time(tools: Tools, model: str, at_least: datetime | None = None) -> datetime:
    """Give the time for something new in a model: now, but later than all that the store issued there before."""
    with files.locked(tools.cache / f"time-{_lock_name(model)}", LOCK_WAIT) as handle:
        kept = files.read_handle(handle)
        last = times.from_micros(int(kept)) if kept.isdigit() else _latest(tools, model)
        time = tools.clock()
        if last and time <= last:
            time = last + times.TICK
        if at_least and time < at_least:
            time = at_least
        files.write_handle(handle, str(times.micros(time)))
    return time


def keep_time(tools: Tools, model: str, time: datetime) -> None:
    """Note that something was issued in a model at a time that another model asked for."""
    with files.locked(tools.cache / f"time-{_lock_name(model)}", LOCK_WAIT) as handle:
        kept = files.read_handle(handle)
        if not kept.isdigit() or int(kept) < times.micros(time):
            files.write_handle(handle, str(times.micros(time)))


def _latest(tools: Tools, model: str) -> datetime | None:
    """Find the last time in a model where nobody kept it: the cache folder is new."""
    limit = tools.clock() + SKEW
    state = tools.census.fresh(model).state
    found = [note.created for note in state.notes if note.dated is Dated.KEY]
    found += [summary.created for summary in state.active.values()]
    return max((time for time in found if time <= limit), default=None)


def waits(tools: Tools, model: str) -> str:
    """Say why growth in the background leaves a model alone for now; empty where it does not."""
    tries, at, reason = tools.census.catalog.trouble().get(model, (0, 0.0, ""))
    if not tries:
        return ""
    pause = min(BACKOFF * 2 ** min(tries - 1, 20), BACKOFF_MOST)
    again = datetime.fromtimestamp(at, tools.clock().tzinfo) + pause
    return f"{reason} (tried {tries} times, again after {times.spell(again)})" if tools.clock() < again else ""


def grow_all(tools: Tools, models: list[str], grown: Grown, wait: float) -> Iterator[Summary]:
    """Yield the summaries of several models; a model that another process grows comes last, and is waited for."""
    busy = []
    for model in models:
        try:
            yield from _one(tools, model, grown, 0.0)
        except Locked:
            busy.append(model)
    for model in busy:
        try:
            yield from _one(tools, model, grown, wait)
        except Locked:
            grown.busy.append(model)


def _one(tools: Tools, model: str, grown: Grown, wait: float) -> Iterator[Summary]:
    """Grow one model; what fails there never holds up the others."""
    with contextlib.closing(grow(tools, model, grown, wait=wait)) as summaries:  # type: ignore[type-var]
        try:
            yield from summaries
        except Locked:
            raise
        except PyramidError as error:
            grown.failed[model] = str(error)
            grown.exit_code = max(grown.exit_code, error.exit_code)

"""Growth: plan batches, have them summarized, several at once where that is slow, and put each on disk as it comes."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pyramid_fs import batches, files, forget, layout, pyramid, renaming, summarizers, times
from pyramid_fs.errors import Locked, PyramidError, SummarizerFailed
from pyramid_fs.issue import grow_lock
from pyramid_fs.notes import Note
from pyramid_fs.summarizers import Throttled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyramid_fs.census import ModelNow
    from pyramid_fs.issue import Tools
    from pyramid_fs.notes import Source, Summary
    from pyramid_fs.pyramid import Batch
    from pyramid_fs.summarizers import Call, Request, Summarizer

BACKOFF = timedelta(minutes=1)
"""After a failure growth in the background waits this long, then twice as long each time …"""
BACKOFF_MOST = timedelta(hours=6)
"""… but never longer than this."""
HEAD_START = 0.01
"""Seconds left to a call to get on its way before what came is stored: one call follows the other 3 ms sooner so."""
PAUSE = 5.0
"""Seconds to wait where a provider asks for a pause and does not say how long."""
PATIENCE = 120.0
"""Seconds that a provider may ask to wait for; one that asks for more has failed."""
PAUSES = 10
"""So many pauses in a row, with nothing written between them, are a failure."""


@dataclass(slots=True)
class Grown:
    """What came of growing one or several models."""

    written: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    """Written again without a note that was forgotten."""
    failed: dict[str, str] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    """The exit code of each failure."""
    held: dict[str, list[str]] = field(default_factory=dict)
    busy: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """The gravest of what failed: a disk that can't be written (40) outweighs a summarizer (30)."""
        return max((self.codes[model] for model in self.failed), default=0)

    def fail(self, model: str, error: PyramidError) -> None:
        """Note a failure."""
        self.failed[model], self.codes[model] = str(error), error.exit_code


@dataclass(frozen=True, slots=True)
class Effort:
    """How growth goes about it."""

    wait: float = 0.0
    """Seconds to wait for another process that grows the same model."""
    limit: int | None = None
    """So many summaries at most."""
    at_once: int = 1
    """So many calls of the summarizer at the same time."""
    tries: int = 1
    """A model whose summary failed is tried so often in one run: from the third time on if something else succeeds."""
    fallback: Summarizer | None = None
    """Who writes a batch that failed too often; None where it waits."""
    fall_after: int = 0
    """So many failures in a row are too often."""
    spent: Callable[[str, int, Call], None] | None = None
    """Told of every call, with the model and the tier that it was for."""
    is_spent: Callable[[], bool] = lambda: False
    """Whether no more calls may be begun: a summary may take several."""


def grow(tools: Tools, model: str, grown: Grown, *, wait: float = 0.0) -> Iterator[Summary]:
    """Yield each summary of one model once it is on disk; raise Locked where another process grows it too long."""
    yield from grow_all(tools, [model], grown, Effort(wait))
    if model in grown.busy:
        raise Locked(f"{model} is being advanced by another process")


def grow_all(tools: Tools, models: Sequence[str], grown: Grown, effort: Effort) -> Iterator[Summary]:
    """Yield the summaries of several models, each once it is on disk, until nothing is due.

    Only one process grows a model at a time; one that another process grows comes last, and is waited for. What fails
    in one model never holds up the others. To stop, close the iterator: what was yielded stands, what was not yielded
    does not exist.
    """
    run = _Run(tools, models, grown, effort)
    try:
        yield from run.summaries()
    finally:
        run.close()


# Calls


class Job(Protocol):
    """One summary to be had: who is asked for it, what is asked, and who is told of each call."""

    @property
    def summarizer(self) -> Summarizer:
        """Who writes it."""
        ...

    @property
    def request(self) -> Request:
        """What is asked."""
        ...

    @property
    def spent(self) -> Callable[[Call], None] | None:
        """Told of every call."""
        ...


_J = TypeVar("_J", bound=Job)


class Asking(Generic[_J]):
    """Calls of a summarizer: several at once where that is slow, and none while a provider asks for a pause."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._pause, self._pauses = 0.0, 0
        self._came = SimpleQueue[tuple[_J, str | BaseException]]()
        self.flying = 0
        self.later = deque[_J]()
        """Calls that a provider asked to make later."""

    @property
    def is_free(self) -> bool:
        """Whether one more call may begin now."""
        return self.flying < self._at_once and time.monotonic() >= self._pause

    def begin(self, job: _J) -> None:
        """Have a summary written: here, or on the side where that is slow, or several are at once."""

        def call() -> None:
            try:
                self._came.put((job, summarizers.write(job.summarizer, job.request, job.spent)))
            except BaseException as error:  # noqa: BLE001  (handed over to who waits for it, and raised there)
                self._came.put((job, error))

        self.flying += 1
        if self._at_once == 1 and not job.summarizer.slow:
            call()
        else:
            threading.Thread(target=call, daemon=True).start()

    def head_start(self) -> None:
        """Leave the processor to a call that flies alone until it is on its way."""
        if self.flying == 1:
            time.sleep(HEAD_START)

    def take(self) -> tuple[_J, str | BaseException | None]:
        """Wait for a text, or why there is none; None where the call is made again later."""
        job, outcome = self._came.get()
        self.flying -= 1
        if isinstance(outcome, Throttled) and self._pauses < PAUSES and self._is_patient(outcome):
            self.later.append(job)
            return job, None
        return job, outcome

    def went_well(self) -> None:
        """Note that something was written: pauses count anew."""
        self._pauses = 0

    def rest(self) -> bool:
        """Wait until a pause is over; False where there is none."""
        left = self._pause - time.monotonic()
        if left > 0:
            time.sleep(left)
        return left > 0

    def stop(self, summarizer: Summarizer) -> None:
        """End what is still being written: nobody waits for it."""
        stop = getattr(summarizer, "stop", None)
        if self.flying and stop:
            stop()

    def _is_patient(self, asked: Throttled) -> bool:
        """Whether to wait as long as a provider asks; then nothing is begun until that time is over."""
        seconds = PAUSE if asked.retry_after is None else asked.retry_after
        if seconds > PATIENCE:
            return False
        if time.monotonic() >= self._pause:
            self._pauses += 1
        self._pause = max(self._pause, time.monotonic() + seconds)
        return True


# Growing


@dataclass(frozen=True, slots=True)
class _Job:
    """One call: a batch that was read, and who is to write its summary."""

    model: _Model
    batch: Batch
    planned: Summary
    sources: tuple[Source, ...]
    request: Request
    summarizer: Summarizer
    spent: Callable[[Call], None] | None = None


class _Model:
    """One model that is being grown: its lock, its desk, and what of it is with the summarizer."""

    def __init__(self, tools: Tools, name: str, grown: Grown, effort: Effort, wait: float) -> None:
        self.name, self._tools, self._grown = name, tools, grown
        self._held = contextlib.ExitStack()
        self._held.enter_context(files.locked(tools.cache / grow_lock(name), wait))
        self.flying = 0
        self.is_stopped = self._is_stale = False
        with contextlib.ExitStack() as unless_ready:
            unless_ready.callback(self._held.close)
            self._begin(_settle(tools, name, grown))
            unless_ready.pop_all()
        failures = tools.census.catalog.trouble().get(name, (0, 0.0, ""))[0]
        self._failed_before = failures > 0
        self._fallback = effort.fallback if 0 < effort.fall_after <= failures else None
        self._spent = effort.spent

    def _begin(self, now: ModelNow) -> None:
        self._desk, self._is_stale = batches.Desk(self._tools, now), False
        if now.held:
            self._grown.held[self.name] = now.held
            self.is_stopped = True

    def next(self, *, in_order: bool = False) -> _Job | None:
        """Give the next batch that can be summarized now; None where there is none, or not `in_order`."""
        if self._is_stale and not self.flying:
            self._begin(self._tools.census.fresh(self.name))
        if self.is_stopped or self._is_stale:
            return None
        found = self._desk.ahead.next(in_order=in_order)
        if found is None:
            return None
        sources, request = batches.read_batch(self._tools, self._desk.now, found[0], self._desk.below)
        writer, self._fallback = self._fallback or self._tools.summarizer, None
        return _Job(self, *found, sources, request, writer, told(self._spent, self.name, found[0].tier))

    def is_due(self, job: _Job) -> bool:
        """Whether a batch whose text came is still to be summarized."""
        if self._is_stale or self._desk.is_stale() or self._desk.lacks(job.batch):
            # somebody else wrote here meanwhile (a sync tool, git): the plan is made again from what is there now
            self._is_stale = True
            return self._is_due_yet(job.batch)
        return True

    def commit(self, job: _Job, text: str) -> Summary:
        """Put a summary on disk."""
        batch, desk = job.batch, self._desk
        by, is_draft = job.summarizer.name, job.summarizer.draft
        made = batches.commit(self._tools, batch, job.planned, job.sources, text, by=by, is_draft=is_draft)
        desk.take(batch, job.planned, made)
        if self._failed_before and not self.is_stopped:
            self._tools.census.catalog.note_trouble(self.name, None)
            self._failed_before = False
        return made

    def _is_due_yet(self, batch: Batch) -> bool:
        now = self._tools.census.fresh(self.name)
        shape, clock = self._tools.census.vault.settings.shape, self._tools.clock()
        due = () if now.held else pyramid.plan(now.state, shape, clock, settled=self._tools.settled)
        return any(_keys(other) == _keys(batch) for other in due)

    def fail(self, error: PyramidError) -> None:
        """Begin nothing more here in this run."""
        self.is_stopped = self._failed_before = True
        self._grown.fail(self.name, error)
        if isinstance(error, SummarizerFailed):
            self._tools.census.catalog.note_trouble(self.name, str(error))

    def close(self) -> None:
        """Let others grow it."""
        self._held.close()


class _Run:
    """One run over several models."""

    def __init__(self, tools: Tools, models: Sequence[str], grown: Grown, effort: Effort) -> None:
        self._tools, self._grown, self._effort = tools, grown, effort
        self._todo, self._busy = deque(models), deque[str]()
        self._open: list[_Model] = []
        self._asking = Asking[_Job](effort.at_once)
        self._failures: dict[str, tuple[int, int]] = {}
        """Of each model that failed: how often, and how many were written by then."""
        self._begun = 0

    def summaries(self) -> Iterator[Summary]:
        """Yield what is written, until nothing is due."""
        while True:
            self._fill()
            if self._asking.flying:
                job, outcome = self._asking.take()
                made = self._taken(job, outcome) if outcome is not None else None
                job.model.flying -= 1
                if made:
                    yield made
            elif not self._turn():
                return

    def close(self) -> None:
        """Let go of all models; what is still with a summarizer is not waited for, and not stored."""
        for model in self._open:
            model.close()
        self._open.clear()
        self._asking.stop(self._tools.summarizer)

    # Beginning calls

    def _fill(self) -> None:
        """Begin as many calls as may run at once."""
        while self._asking.is_free:
            job = self._asking.later.popleft() if self._asking.later else self._next()
            if job is None:
                return
            self._begin(job)

    def _begin(self, job: _Job) -> None:
        job.model.flying += 1
        self._begun += 1
        self._asking.begin(job)

    def _next(self) -> _Job | None:
        if self._is_enough() or self._effort.is_spent():
            return None
        while True:
            for model in self._open[:]:
                try:
                    job = model.next()
                except PyramidError as error:  # a source went away while it was read
                    model.fail(error)
                    job = None
                if job:
                    return job
                self._leave(model)
            if not self._todo:
                return None
            self._enter(self._todo.popleft(), 0.0, self._busy.append)

    def _is_enough(self) -> bool:
        return self._effort.limit is not None and self._begun >= self._effort.limit

    def _enter(self, name: str, wait: float, is_busy: Callable[[str], None]) -> None:
        try:
            self._open.append(_Model(self._tools, name, self._grown, self._effort, wait))
        except Locked:
            is_busy(name)
        except PyramidError as error:
            self._grown.fail(name, error)

    def _leave(self, model: _Model) -> None:
        """Close a model that has nothing more to do, and none of whose summaries are still being written."""
        waits = any(job.model is model for job in self._asking.later)
        if not model.flying and not waits:
            self._open.remove(model)
            model.close()

    # Taking in what came

    def _taken(self, job: _Job, outcome: str | BaseException) -> Summary | None:
        made = None
        try:
            if isinstance(outcome, BaseException):
                raise outcome
            if job.model.is_due(job):
                trouble = self._go_on(job)
                made = job.model.commit(job, outcome)
                if trouble:
                    job.model.fail(trouble)
        except PyramidError as error:
            self._note_failure(job.model, error)
            job.model.fail(error)
        if made:
            self._asking.went_well()
            self._grown.written.append(made.handle)
        return made

    def _go_on(self, job: _Job) -> PyramidError | None:
        """Begin the call after this one, if one may: it need not wait until the text that came is on disk.

        Give why the next batch can't be read, where it can't.
        """
        may = job.summarizer.slow and self._asking.is_free and not self._asking.later
        if not may or self._is_enough() or self._effort.is_spent():
            return None
        try:
            after = job.model.next(in_order=True)
        except PyramidError as error:
            return error
        if after:
            self._begin(after)
            self._asking.head_start()
        return None

    def _note_failure(self, model: _Model, error: PyramidError) -> None:
        failures, _ = self._failures.get(model.name, (0, 0))
        more = self._effort.tries if isinstance(error, Throttled) else 0 if model.is_stopped else 1
        self._failures[model.name] = (failures + more, len(self._grown.written))

    def _turn(self) -> bool:
        """Go on where nothing is being written, with what paused, failed or was busy; False at the end."""
        if (self._asking.later or self._todo or self._open) and self._asking.rest():
            return True
        if self._is_enough() or self._effort.is_spent():
            return False
        written = len(self._grown.written)
        # once without more ado, as a network hiccups; then only while something else succeeds
        again = [
            model
            for model, (failures, at) in self._failures.items()
            if model in self._grown.failed and failures < self._effort.tries and (failures == 1 or written > at)
        ]
        for name in again:
            self._failures[name] = (self._failures[name][0], written)
            self._grown.failed.pop(name, None)
        self._todo.extend(again)
        if not again and self._busy:
            self._enter(self._busy.popleft(), self._effort.wait, self._grown.busy.append)
            return True
        return bool(again)


def told(spent: Callable[[str, int, Call], None] | None, model: str, tier: int) -> Callable[[Call], None] | None:
    """Have somebody told of the calls for one model and tier."""
    return (lambda call: spent(model, tier, call)) if spent else None


def _keys(batch: Batch) -> tuple[object, ...]:
    """Tell one batch from any other: its tier, and the versions of its sources."""
    return (batch.tier, *((s.path, s.digest) if isinstance(s, Note) else s.handle for s in batch.sources))


def _settle(tools: Tools, model: str, grown: Grown) -> ModelNow:
    """Bring in what lies under old names, retire losers, take out what was forgotten and what a kill left; give it."""
    root, scope = tools.census.vault.root, f"{layout.MODELS}/{model}"
    now, settled = renaming.settle(tools.census, tools.cache, model), forget.Settled()
    # first: without what was forgotten, a summary that came with an old copy may be no loser
    now = forget.settle(tools, now, settled)
    grown.rewritten += settled.written
    grown.retired += settled.retired
    tiers = sorted({summary.tier for summary in now.state.active.values()})
    files.sweep(root, [scope, *(f"{scope}/tier-{tier}" for tier in tiers)])
    if not now.state.losers:
        return now
    for summary in now.state.losers:
        batches.retire(tools, model, summary)
        grown.retired.append(summary.handle)
    return tools.census.fresh(model)


def waits(tools: Tools, model: str) -> str:
    """Say why growth in the background leaves a model alone for now; empty where it does not."""
    tries, at, reason = tools.census.catalog.trouble().get(model, (0, 0.0, ""))
    if not tries:
        return ""
    pause = min(BACKOFF * 2 ** min(tries - 1, 20), BACKOFF_MOST)
    again = datetime.fromtimestamp(at, tools.clock().tzinfo) + pause
    return f"{reason} (tried {tries} times, again after {times.spell(again)})" if tools.clock() < again else ""

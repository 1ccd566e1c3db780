"""Writes summaries again over the same batches, in the same files, each once, and then those above them."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyramid_fs import files, forget, history, kinds, layout, links, pyramid, summarizers
from pyramid_fs import format as pages
from pyramid_fs.advance import Asking, told
from pyramid_fs.batches import Below, item_of
from pyramid_fs.errors import DiskError, Locked, PyramidError, RefusedWrite, SummarizerFailed
from pyramid_fs.issue import grow_lock
from pyramid_fs.summarizers import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pyramid_fs.advance import Effort
    from pyramid_fs.census import ModelNow
    from pyramid_fs.issue import Tools
    from pyramid_fs.notes import Note, Source, Summary
    from pyramid_fs.pyramid import State
    from pyramid_fs.summarizers import Call, Summarizer

TRIES = 2
"""A summary that could not be had is tried again once, after the others: a network hiccups."""
GIVE_UP = 6
"""So many failures in a row, with nothing written between them, end a run: it is not the texts that are at fault."""


@dataclass(slots=True)
class Redone:
    """What came of writing many summaries again."""

    written: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Handles and reasons; the old text of each stands."""
    codes: set[int] = field(default_factory=set)
    """The exit codes of the failures."""
    left: int = 0
    """So many were not begun, as too many failed in a row."""

    def fail(self, handle: str, error: PyramidError) -> None:
        """Note a failure."""
        self.failed[handle] = str(error)
        self.codes.add(error.exit_code)


# The plan


def planned(state: State, chosen: Iterable[str]) -> list[str]:
    """List what is written again for the chosen summaries: they and all above them, lowest tier first, oldest first."""
    found = {above for handle in chosen for above in (handle, *pyramid.ancestors(state, handle))}
    return sorted(found, key=lambda handle: (state.active[handle].tier, *pyramid.by_span(state.active[handle])))


def chars_of(state: State, handle: str) -> int:
    """Give the size of a summary's sources, as far as they are still there."""
    summary = state.active[handle]
    if summary.tier:
        return sum(state.active[below].chars for below in state.sources[handle])
    sizes = {note.path: note.chars for note in state.notes}
    return sum(sizes.get(path, 0) for path in state.sources[handle])


# One, and those above it


def redo(
    tools: Tools, now: ModelNow, handle: str, spent: Callable[[str, int, Call], None] | None = None
) -> Iterator[Summary]:
    """Yield the summary, then each above it, once its new text is on disk.

    Handle, batch, dates and provenance stay; only the text and who wrote it change. Raise RefusedWrite, naming the
    source, where the version that was summarized can't be read any more.
    """
    now = forget.settle(tools, now, forget.Settled())
    if handle not in now.state.active:
        raise RefusedWrite(f"{handle} was made from what is forgotten now, and is retired: nothing was written")
    below = Sources(tools, now)
    chain = [now.state.active[each] for each in (handle, *pyramid.ancestors(now.state, handle))]
    first = below.request(chain[0])
    for summary in chain:
        request = first if summary is chain[0] else below.request(summary)
        text = summarizers.write(tools.summarizer, request, told(spent, now.name, summary.tier))
        _store(tools, now, summary, text)
        yield summary


# Many


def redo_many(
    tools: Tools, chosen: Mapping[str, Sequence[str]], done: Redone, effort: Effort, *, keeps: bool = True
) -> Iterator[Summary]:
    """Yield each summary once its new text is on disk: of each model (its name) those chosen, and those above them.

    Those below come first, and each is written once. What fails is noted in `done`, and does not hold up the others; a
    summary that was not chosen is left as it is where nothing below it was written. To stop, close the iterator.
    Without `keeps` the old texts are not kept: they are drafts of a moment ago.
    """
    run = _Run(tools, chosen, done, effort, keeps=keeps)
    try:
        yield from run.summaries()
    finally:
        run.close()


@dataclass(frozen=True, slots=True)
class _Job:
    """One summary to be written again."""

    model: _Model
    summary: Summary
    request: Request
    summarizer: Summarizer
    spent: Callable[[Call], None] | None


class _Model:
    """One model some of whose summaries are written again: its lock, and what is still to be done."""

    def __init__(self, tools: Tools, name: str, chosen: Iterable[str], done: Redone, wait: float) -> None:
        self.name, self._tools = name, tools
        self._held = contextlib.ExitStack()
        self._held.enter_context(files.locked(tools.cache / grow_lock(name), wait))
        with contextlib.ExitStack() as unless_ready:
            unless_ready.callback(self._held.close)
            self.now = forget.settle(tools, tools.census.fresh(name), forget.Settled())
            unless_ready.pop_all()
        self._below = Sources(tools, self.now)
        active = self.now.state.active
        for handle in chosen:
            if handle not in active:
                done.fail(handle, RefusedWrite("it is not active any more: it is in no cover, and nothing was written"))
        self._wanted = {handle for handle in chosen if handle in active}
        self._todo = planned(self.now.state, self._wanted)
        self._open = set(self._todo)
        """Neither written nor failed yet."""

    def next(self) -> Summary | None:
        """Give a summary all of whose sources are as they shall be; None where none is ready."""
        for handle in self._todo[:]:
            if self._open.isdisjoint(self.now.state.sources[handle]):
                self._todo.remove(handle)
                if handle in self._wanted:
                    return self.now.state.active[handle]
                self._open.discard(handle)  # nothing below it was written
        return None

    def request(self, summary: Summary) -> Request:
        """Read what it was made from."""
        return self._below.request(summary)

    def store(self, summary: Summary, text: str, *, keeps: bool) -> None:
        """Put a new text on disk; the summary above is to be written, too."""
        _store(self._tools, self.now, summary, text, keeps=keeps)
        self._open.discard(summary.handle)
        if above := self.now.state.parents.get(summary.handle):
            self._wanted.add(above)

    def again(self, summary: Summary) -> None:
        """Put a summary off until the others are written."""
        self._todo.append(summary.handle)

    def give_up(self, summary: Summary) -> None:
        """Leave a summary as it is."""
        self._open.discard(summary.handle)

    @property
    def is_done(self) -> bool:
        """Whether nothing is to be done any more."""
        return not self._open

    @property
    def left(self) -> int:
        """Count what is still to be done."""
        return len(self._open & self._wanted)

    def close(self) -> None:
        """Let others grow it."""
        self._held.close()


class _Run:
    """One run over several models."""

    def __init__(
        self, tools: Tools, chosen: Mapping[str, Sequence[str]], done: Redone, effort: Effort, *, keeps: bool
    ) -> None:
        self._tools, self._done, self._effort = tools, done, effort
        self._chosen, self._keeps = chosen, keeps
        self._todo, self._busy = deque(chosen), deque[str]()
        self._open: list[_Model] = []
        self._asking = Asking[_Job](effort.at_once)
        self._tries: dict[str, int] = {}
        self._failures = 0
        """In a row."""

    def summaries(self) -> Iterator[Summary]:
        """Yield what is written, until all is."""
        while True:
            self._fill()
            if self._asking.flying:
                job, outcome = self._asking.take()
                if outcome is not None and self._taken(job, outcome):
                    yield job.summary
            elif not self._turn():
                return

    def close(self) -> None:
        """Let go of all models; what is still with a summarizer is not waited for, and not stored."""
        for model in self._open:
            model.close()
        self._open.clear()
        self._asking.stop(self._tools.summarizer)

    def _fill(self) -> None:
        while self._asking.is_free and self._failures < GIVE_UP:
            job = self._asking.later.popleft() if self._asking.later else self._next()
            if job is None:
                return
            self._asking.begin(job)

    def _next(self) -> _Job | None:
        while True:
            for model in self._open[:]:
                while summary := model.next():
                    if job := self._job(model, summary):
                        return job
                if model.is_done:
                    self._open.remove(model)
                    model.close()
            if not self._todo:
                return None
            self._enter(self._todo.popleft(), 0.0)

    def _job(self, model: _Model, summary: Summary) -> _Job | None:
        try:
            request = model.request(summary)
        except PyramidError as error:
            self._done.fail(summary.handle, error)
            model.give_up(summary)
            return None
        spent = told(self._effort.spent, model.name, summary.tier)
        return _Job(model, summary, request, self._tools.summarizer, spent)

    def _enter(self, name: str, wait: float) -> None:
        try:
            self._open.append(_Model(self._tools, name, self._chosen[name], self._done, wait))
        except PyramidError as error:
            if isinstance(error, Locked) and wait < self._effort.wait:
                self._busy.append(name)
                return
            said = Locked(f"{name} is being advanced by another process") if isinstance(error, Locked) else error
            for handle in self._chosen[name]:
                self._done.fail(handle, said)

    def _taken(self, job: _Job, outcome: str | BaseException) -> bool:
        """Store a text that came, or see to a failure; whether something was written."""
        try:
            if isinstance(outcome, BaseException):
                raise outcome
            job.model.store(job.summary, outcome, keeps=self._keeps)
        except PyramidError as error:
            self._failed(job, error)
            return False
        self._failures = 0
        self._asking.went_well()
        self._done.written.append(job.summary.handle)
        return True

    def _failed(self, job: _Job, error: PyramidError) -> None:
        handle = job.summary.handle
        self._tries[handle] = self._tries.get(handle, 0) + 1
        is_theirs = isinstance(error, SummarizerFailed)
        self._failures += is_theirs
        if is_theirs and self._tries[handle] < TRIES and self._failures < GIVE_UP:
            job.model.again(job.summary)
            return
        self._done.fail(handle, error)
        job.model.give_up(job.summary)

    def _turn(self) -> bool:
        """Go on where nothing is being written, with what paused or was busy; False at the end."""
        if self._failures >= GIVE_UP:
            rest = sum(len(self._chosen[name]) for name in (*self._todo, *self._busy))
            self._done.left = sum(model.left for model in self._open) + rest
            return False
        is_more = self._asking.later or self._todo or any(not model.is_done for model in self._open)
        if is_more and self._asking.rest():
            return True
        if not self._busy:
            return False
        self._enter(self._busy.popleft(), self._effort.wait)
        return True


# Reading what a summary was made from


class Sources:
    """What the summaries of one model were made from, as it was summarized."""

    def __init__(self, tools: Tools, now: ModelNow) -> None:
        self._tools, self._now = tools, now
        self._notes = {note.path: note for note in now.state.notes}

    @cached_property
    def _below(self) -> Below:
        return Below(self._tools.census, self._now.state)

    def request(self, summary: Summary) -> Request:
        """Say what a summarizer is asked for; RefusedWrite, naming the source, where one can't be read any more."""
        tools, now = self._tools, self._now
        sources = tuple(zip(now.state.sources[summary.handle], summary.sources, strict=True))
        if summary.tier == 0:
            items = [item_of(tools, *self._version(path, source)) for path, source in sources]
        else:
            below = [now.state.active[path] for path, _ in sources]
            items = [item_of(tools, each, self._text(each)) for each in below]
        return Request(
            model=now.name,
            description=now.card.description if now.card else "",
            tier=summary.tier,
            target=tools.census.vault.settings.shape.target(summary.tier),
            items=tuple(items),
            notes=lambda: self._below.texts(summary.handle) if summary.tier else (item.text for item in items),
            template=tools.template(summary.tier),
        )

    def _text(self, summary: Summary) -> str:
        try:
            return kinds.note_text(self._tools.census.vault.page(summary.path))
        except FileNotFoundError:
            raise RefusedWrite(f"{summary.path} went away meanwhile: nothing was written; try again") from None

    def _version(self, path: str, source: Source) -> tuple[Note, str]:
        """Find the text of a note as it was summarized: the file, or the version of it that git keeps."""
        note = self._notes.get(path)
        if note is None:
            return _gone(self._tools, source)
        where = note.text_path or note.path
        for data in _texts(self._tools, where):
            page = pages.read(data)
            if pages.digest(page.body) == source.digest:
                return note, kinds.note_text(page)
        raise RefusedWrite(f"{source.link} was revised since, and git has no such version: nothing was written")


def _gone(tools: Tools, source: Source) -> tuple[Note, str]:
    """Find the text of a note that is gone in what git keeps of files of its name."""
    vault = tools.census.vault
    for path, data in history.versions_named(vault.root, f"{links.name(source.link)}.md"):
        page = pages.read(data)
        if pages.digest(page.body) == source.digest:
            note = kinds.read_note(path, page, source.date, vault.settings.zone)
            return replace(note, created=source.date), kinds.note_text(page)
    raise RefusedWrite(f"{source.link} was summarized and is gone, and git has no such version: nothing was written")


def _texts(tools: Tools, path: str) -> Iterator[bytes]:
    root = tools.census.vault.root
    with contextlib.suppress(DiskError, FileNotFoundError):
        yield files.read(root / path)
    yield from history.versions(root, path)


# Storing


def _store(tools: Tools, now: ModelNow, summary: Summary, text: str, *, keeps: bool = True) -> None:
    """Put a new text on disk, keeping the old one if it `keeps` any.

    The summary above it is a draft from then on until it is written, too: so a kill in between leaves word of it.
    """
    root, path = tools.census.vault.root, tools.census.vault.root / summary.path
    try:
        old = files.read(path)
    except FileNotFoundError:
        raise RefusedWrite(f"{summary.path} went away meanwhile: nothing was written") from None
    if pages.digest(pages.read(old).body) != summary.digest:
        raise RefusedWrite(f"{summary.path} changed since it was read: nothing was written; try again")
    if above := now.state.parents.get(summary.handle):
        _mark(root / now.state.active[above].path)
    if keeps and not _is_in_git(tools, summary.path, old):
        kept = f"{summary.handle[: -layout.SUFFIX]}{tools.suffix()}"
        files.create(root / layout.MODELS / now.name / layout.RETIRED / f"{kept}.md", old)
    made = pages.set_body(pages.set_key(old, "summarizer", tools.summarizer.name), text)
    if summary.tier:  # it says what its sources say now, and is no longer due for that
        made = pages.set_key(made, "digests", _digests(tools, now, summary))
    files.replace(path, pages.set_key(made, "draft", tools.summarizer.draft or None), old)


def _digests(tools: Tools, now: ModelNow, summary: Summary) -> list[str]:
    """Give the digests of a roll-up's sources as they are, for those that are there."""
    found = []
    for place, source in zip(now.state.sources[summary.handle], summary.sources, strict=True):
        below = now.state.active.get(place)
        with contextlib.suppress(FileNotFoundError, DiskError):
            found.append(pages.digest(tools.census.vault.page(below.path).body) if below else source.digest)
            continue
        found.append(source.digest)
    return found


def _mark(path: Path) -> None:
    """Make a summary a draft; one that can't be changed now is named when its own turn comes."""
    with contextlib.suppress(PyramidError, FileNotFoundError):
        old = files.read(path)
        if (marked := pages.set_key(old, "draft", value=True)) != old:
            files.replace(path, marked, old)


def _is_in_git(tools: Tools, path: str, old: bytes) -> bool:
    """Whether git holds the text of a summary, which may have been made a draft since."""
    root = tools.census.vault.root
    if history.is_committed(root, path):
        return True
    body = pages.read(old).body
    return any(pages.read(data).body == body for data in history.versions(root, path))

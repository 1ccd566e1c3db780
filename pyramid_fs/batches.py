"""A model at work: the batch that is due, its texts as a summarizer reads them, and the summary put on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyramid_fs import files, kinds, layout, pyramid, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, SummarizerFailed
from pyramid_fs.issue import issue_time
from pyramid_fs.notes import Dated, Note, Source, Summary
from pyramid_fs.pyramid import Ahead, Batch, Frontier, Index, State
from pyramid_fs.summarizers import Item, Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyramid_fs.census import Census, ModelNow
    from pyramid_fs.issue import Tools


class Desk:
    """A model at work: its frontier, the notes below its summaries, and how its tier folders looked last."""

    def __init__(self, tools: Tools, now: ModelNow) -> None:
        self._folder = tools.census.vault.root / layout.MODELS / now.name
        self._top = max((summary.tier for summary in now.state.active.values()), default=-1)
        self._marks = self._look()
        self._numbers: dict[int, int] = {}
        self._suffix = tools.suffix
        self.now = now
        self.below = Below(tools.census, now.state)
        shape = tools.census.vault.settings.shape
        ready = pyramid.ready(now.state, shape, tools.clock(), settled=tools.settled)
        self.ahead = Ahead(Frontier(now.state, shape, ready), self.name)

    def _look(self) -> tuple[int, ...]:
        names = [layout.RETIRED, *(f"tier-{tier}" for tier in range(self._top + 2))]
        return tuple(files.folder_mark(self._folder / name) for name in names)

    def is_stale(self) -> bool:
        """Whether a summary has appeared in the model or gone that was not made here."""
        return self._look() != self._marks

    def lacks(self, batch: Batch) -> bool:
        """Whether a summary that a batch rolls up has gone: of two changes in one tick a folder's time tells one."""
        root = self._folder.parent.parent
        return any(isinstance(source, Summary) and not (root / source.path).is_file() for source in batch.sources)

    def name(self, batch: Batch) -> str:
        """Give the path of a batch's summary: the next number of its tier, which is a label without meaning."""
        tier = batch.tier
        if tier not in self._numbers:
            taken = files.names(self._folder, f"tier-{tier}")
            self._numbers[tier] = max((layout.batch_of(name) for name in taken if name.endswith(".md")), default=0)
        self._numbers[tier] += 1
        return layout.summary_path(batch.model, tier, self._numbers[tier], self._suffix())

    def take(self, batch: Batch, planned: Summary, made: Summary) -> None:
        """Take in a summary that was just written."""
        self._top = max(self._top, made.tier)
        self._marks = self._look()
        self.ahead.take(planned, made)
        self.below.add(made, batch)


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
        template=tools.template(batch.tier),
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


def commit(
    tools: Tools,
    batch: Batch,
    planned: Summary,
    sources: tuple[Source, ...],
    text: str,
    *,
    by: str,
    is_draft: bool = False,
) -> Summary:
    """Store a summary, durably, under the name that was planned, or one like it if that is taken; `by` wrote it."""
    vault = tools.census.vault
    start, end = batch.span
    latest = max(s.created for s in batch.sources)
    created = issue_time(tools, batch.model, times.after(latest))
    number = planned.batch
    summary = Summary(
        path=planned.path,
        handle=planned.handle,
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
        summarizer=by,
        draft=is_draft,
    )
    while True:
        try:
            files.create(vault.root / summary.path, kinds.spell_summary(summary, text))
            return replace(summary, handle=layout.handle(summary.path))
        except ExistsAlready:
            summary = replace(summary, path=layout.summary_path(batch.model, batch.tier, number, tools.suffix()))


def retire(tools: Tools, model: str, summary: Summary) -> None:
    """Move a summary to `retired/`, where it is kept and in no cover."""
    root = tools.census.vault.root
    to = f"{layout.MODELS}/{model}/{layout.RETIRED}"
    try:
        files.move(root / summary.path, root / to / f"{summary.handle}.md")
    except ExistsAlready:
        name = f"{summary.handle[: -layout.SUFFIX]}{tools.suffix()}"
        files.move(root / summary.path, root / to / f"{name}.md")

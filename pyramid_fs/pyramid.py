"""The rule of the pyramid, as pure functions: what is active, what is tail, what is cover, and which batch is due."""

from __future__ import annotations

import unicodedata
from bisect import insort
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from pyramid_fs import layout, links, times
from pyramid_fs.notes import Dated, Note, Source, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


_AT_ONCE = timedelta(seconds=5)
"""A note's file is written within this time after the time in its name, or a person has been at it since."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers of the pyramid; FORMAT.md says where each comes from. Changing one changes future batches only."""

    batch_notes: int = 10
    batch_chars: int = 8000
    fan_in: int = 5
    target_chars: tuple[int, ...] = (600, 800, 1000, 1200)
    settle: timedelta = timedelta(seconds=30)
    """A new file's own quiet before growth in the background may take it."""
    revised: timedelta = timedelta(hours=24)
    """The same for a note that was summarized before, whoever asks."""

    def target(self, tier: int) -> int:
        """Give the target length of a tier's summaries, in characters."""
        return self.target_chars[min(tier, len(self.target_chars) - 1)]


class Version(NamedTuple):
    """A note's text at a time; `place` is its path, or `?link` for a note that is gone."""

    place: str
    digest: str


@dataclass(frozen=True, slots=True)
class Files:
    """What one model's folder holds, each file read once."""

    model: str
    notes: tuple[Note, ...] = ()
    summaries: tuple[Summary, ...] = ()
    """Of all tiers, broken ones included."""
    retired: frozenset[str] = frozenset()
    """Handles in `retired/`."""


@dataclass(frozen=True, slots=True)
class State:
    """One model, computed from its files alone."""

    model: str
    notes: tuple[Note, ...]
    """With the dates that bind."""
    tail: tuple[Note, ...]
    """Oldest first."""
    revised: frozenset[str]
    """Paths of notes in the tail of which an older version was summarized."""
    active: Mapping[str, Summary]
    """By handle, in (tier, created, handle) order."""
    losers: tuple[Summary, ...]
    waiting: Mapping[str, str]
    """Handle of a summary that waits → the reason."""
    broken: tuple[Summary, ...]
    parents: Mapping[str, str]
    """Handle of an active summary → the active summary that names it."""
    covered: Mapping[str, str]
    """Path of a note → the active summary that its current version is in."""
    sources: Mapping[str, tuple[str, ...]]
    """Handle of an active summary → the path of each source, in its order; `?handle` for one that is gone."""
    missing: tuple[tuple[str, Source], ...]
    """(summary, source) for each note that is gone."""

    @property
    def cover(self) -> list[Summary]:
        """The active summaries that no active summary names, oldest first."""
        return sorted((s for s in self.active.values() if s.handle not in self.parents), key=by_span)

    @property
    def is_held(self) -> list[str]:
        """Why the model does not grow; empty where it may."""
        return [
            *(f"{handle} waits: {reason}" for handle, reason in self.waiting.items()),
            *(f"{summary.handle} is broken: {summary.problem}" for summary in self.broken),
        ]


def by_age(file: Note | Summary) -> tuple[datetime, str, str]:
    """Order by (created, handle)."""
    return (file.created, file.handle, file.path)


def by_span(summary: Summary) -> tuple[datetime, datetime, str]:
    """Order by (span_from, span_to, handle)."""
    return (summary.span_from, summary.span_to, summary.handle)


def _by_path(file: Note | Summary) -> str:
    return file.path


# Links


_File = TypeVar("_File", Note, Summary)


class Index(Generic[_File]):
    """Looks links up among the files of one model."""

    def __init__(self, files: Iterable[_File]) -> None:
        self._by_name: dict[str, list[_File]] = defaultdict(list)
        for file in files:
            self._by_name[file.handle].append(file)

    def find(self, link: str) -> list[_File]:
        """List the files that a link may mean: by its name, and as much of the path before it as it gives."""
        found = self._by_name.get(links.name(link), [])
        if "/" not in link:
            return found
        return [file for file in found if path_fits(file.path, link)]

    def link(self, file: _File) -> str:
        """Spell the shortest link that means this file alone within its model."""
        rivals = [other for other in self._by_name[file.handle] if other is not file]
        parts = unicodedata.normalize("NFC", file.path)[:-3].split("/")
        for start in range(len(parts) - 1, 0, -1):
            link = "/".join(parts[start:])
            if not any(path_fits(rival.path, link) for rival in rivals):
                return link
        return "/".join(parts)


def path_fits(path: str, link: str) -> bool:
    """Whether a link's path is the end of a file's path."""
    return f"/{unicodedata.normalize('NFC', path)[:-3]}".endswith(f"/{link}")


def _resolve(source: Source, index: Index[Note]) -> Note | None:
    """Find the note that a source means; of several, the one whose text is still the same or whose path it gives."""
    found = index.find(source.link)
    if len(found) < 2:  # noqa: PLR2004
        return found[0] if found else None
    same = [note for note in found if note.digest == source.digest or _inside(note) == source.link]
    return min(same, key=lambda note: (note.digest != source.digest, note.path), default=None)


def _inside(note: Note) -> str:
    """Give a note's path within its model, as a link spells it."""
    return unicodedata.normalize("NFC", note.path.split("/", 2)[-1])[:-3]


# The active set


@dataclass(slots=True)
class _Rule:
    """Rule 4 at work on one model: what has been decided so far."""

    active: dict[str, Summary] = field(default_factory=dict)
    losers: dict[str, Summary] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    taken: dict[Version, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)


def derive(files: Files) -> State:
    """Compute a model's state: a pure function of its files, whatever order they came in."""
    sound = sorted((s for s in files.summaries if not s.problem and s.handle not in files.retired), key=by_age)
    broken = tuple(sorted((s for s in files.summaries if s.problem and s.handle not in files.retired), key=_by_path))
    notes = sorted(files.notes, key=_by_path)
    index = Index(notes)
    rule = _Rule()
    for summary in (s for s in sound if s.tier == 0):
        _place_notes(rule, summary, index)
    for tier in range(1, 1 + max((s.tier for s in sound), default=0)):
        below = Index(s for s in sound if s.tier == tier - 1)
        for summary in (s for s in sound if s.tier == tier):
            _place_rollup(rule, summary, below, files.retired)
    _adopt(rule, notes)
    return _state(files.model, _bound_dates(rule, notes), rule, broken)


def _place_notes(rule: _Rule, summary: Summary, index: Index[Note]) -> None:
    found = [_resolve(source, index) for source in summary.sources]
    versions = [
        Version(note.path if note else f"?{source.link}", source.digest)
        for note, source in zip(found, summary.sources, strict=True)
    ]
    if any(version in rule.taken for version in versions):
        rule.losers[summary.handle] = summary
        return
    rule.active[summary.handle] = summary
    rule.sources[summary.handle] = tuple(version.place for version in versions)
    rule.taken.update(dict.fromkeys(versions, summary.handle))


def _place_rollup(rule: _Rule, summary: Summary, below: Index[Summary], retired: frozenset[str]) -> None:
    found = [(source.link, next(iter(below.find(source.link)), None)) for source in summary.sources]
    if any(_is_lost(rule, link, source, retired) for link, source in found):
        rule.losers[summary.handle] = summary
        return
    for link, source in found:
        if source is None or source.handle not in rule.active:
            reason = "waits itself" if source else "is not here, or can't be read"
            rule.waiting[summary.handle] = f"its source {links.name(link)} {reason}"
            return
    handles = tuple(source.handle for _, source in found if source)
    rule.active[summary.handle] = summary
    rule.sources[summary.handle] = handles
    rule.parents.update(dict.fromkeys(handles, summary.handle))


def _is_lost(rule: _Rule, link: str, source: Summary | None, retired: frozenset[str]) -> bool:
    if links.name(link) in retired:
        return True
    return source is not None and (source.handle in rule.losers or source.handle in rule.parents)


def _adopt(rule: _Rule, notes: Sequence[Note]) -> None:
    """Match links that no longer resolve to notes by digest: one note a link, in (created, handle) order (rule 9)."""
    gone = [version for version in rule.taken if version.place.startswith("?")]
    if not gone:
        return
    free: dict[str, deque[Note]] = defaultdict(deque)
    for note in sorted(notes, key=by_age):
        if note.digest and Version(note.path, note.digest) not in rule.taken:
            free[note.digest].append(note)
    adopted: dict[Version, str] = {}
    for version in gone:
        if free[version.digest]:
            adopted[version] = free[version.digest].popleft().path
    for handle in {rule.taken[version] for version in adopted}:
        rule.sources[handle] = tuple(
            adopted.get(Version(place, source.digest), place)
            for place, source in zip(rule.sources[handle], rule.active[handle].sources, strict=True)
        )
    for version, path in adopted.items():
        rule.taken[Version(path, version.digest)] = rule.taken[version]


def _bound_dates(rule: _Rule, notes: Sequence[Note]) -> tuple[Note, ...]:
    """Give notes that only their file dates the date that the first active summary of them recorded."""
    bound: dict[str, datetime] = {}
    for handle, summary in rule.active.items():
        if summary.tier == 0:
            for place, source in zip(rule.sources[handle], summary.sources, strict=True):
                bound.setdefault(place, source.date)
    if not bound:
        return tuple(notes)
    return tuple(
        replace(note, created=bound[note.path]) if note.dated is Dated.FILE and note.path in bound else note
        for note in notes
    )


def _state(model: str, notes: tuple[Note, ...], rule: _Rule, broken: tuple[Summary, ...]) -> State:
    summarized: dict[str, str] = {}
    for version, handle in rule.taken.items():
        summarized.setdefault(version.place, handle)
    covered = {note.path: handle for note in notes if (handle := _cover_of(note, rule, summarized))}
    tail = tuple(sorted((note for note in notes if note.path not in covered), key=by_age))
    missing = tuple(
        (handle, source)
        for handle, summary in rule.active.items()
        if summary.tier == 0
        for place, source in zip(rule.sources[handle], summary.sources, strict=True)
        if place.startswith("?")
    )
    return State(
        model=model,
        notes=notes,
        tail=tail,
        revised=frozenset(note.path for note in tail if note.path in summarized),
        active=rule.active,
        losers=tuple(rule.losers.values()),
        waiting=rule.waiting,
        broken=broken,
        parents=rule.parents,
        covered=covered,
        sources=rule.sources,
        missing=missing,
    )


def _cover_of(note: Note, rule: _Rule, summarized: Mapping[str, str]) -> str:
    if note.digest:
        return rule.taken.get(Version(note.path, note.digest), "")
    # what can't be read any more is not known to have changed: what was summarized stays covered
    return summarized.get(note.path, "")


# Growth


@dataclass(frozen=True, slots=True)
class Batch:
    """What one summary is to be made of."""

    model: str
    tier: int
    sources: tuple[Note, ...] | tuple[Summary, ...]
    """Oldest first: notes at tier 0, summaries of the tier below above it."""

    @property
    def note_count(self) -> int:
        """Versions of notes below, all tiers down."""
        return sum(source.note_count if isinstance(source, Summary) else 1 for source in self.sources)

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The earliest and the latest date of the notes below."""
        return (
            min(s.span_from if isinstance(s, Summary) else s.created for s in self.sources),
            max(s.span_to if isinstance(s, Summary) else s.created for s in self.sources),
        )


class Frontier:
    """Where a model grows: the notes that no summary has, and the summaries that no roll-up has.

    Summaries that were made are added one by one, so that a model of any size costs one pass.
    """

    def __init__(self, state: State, shape: Shape, ready: Iterable[Note]) -> None:
        self._model, self._shape = state.model, shape
        self._tail = deque(ready)
        self._open: dict[int, list[tuple[tuple[datetime, datetime, str], Summary]]] = defaultdict(list)
        for summary in state.active.values():
            if summary.handle not in state.parents:
                insort(self._open[summary.tier], (by_span(summary), summary), key=lambda pair: pair[0])

    def due(self) -> Batch | None:
        """Give the next batch that is due, or None. Roll-ups come before the next batch of notes."""
        for tier in sorted(self._open):
            if len(self._open[tier]) >= self._shape.fan_in:
                oldest = tuple(summary for _, summary in self._open[tier][: self._shape.fan_in])
                return Batch(self._model, tier + 1, oldest)
        size = _closes(self._tail, self._shape)
        return Batch(self._model, 0, tuple(self._tail[at] for at in range(size))) if size else None

    def take(self, batch: Batch, made: Summary) -> None:
        """Note that the batch was summarized."""
        if batch.tier == 0:
            for _ in batch.sources:
                self._tail.popleft()
        else:
            del self._open[batch.tier - 1][: len(batch.sources)]
        insort(self._open[made.tier], (by_span(made), made), key=lambda pair: pair[0])


class Ahead:
    """Batches of one model that may be summarized at the same time, in their order.

    A roll-up waits until all its sources are written; nothing else waits. `name` gives each summary the path that it
    will have, so that an order by handle is the same before and after it is written.
    """

    def __init__(self, frontier: Frontier, name: Callable[[Batch], str]) -> None:
        self._frontier, self._name = frontier, name
        self._written: dict[str, Summary] = {}
        self._planned: set[str] = set()
        self._waiting: list[tuple[Batch, Summary]] = []

    def next(self, *, in_order: bool = False) -> tuple[Batch, Summary] | None:
        """Give a batch whose sources are all there, with the summary as it is planned; None where none is ready.

        `in_order` gives none while one that comes before it waits for its sources.
        """
        for at, (batch, planned) in enumerate(self._waiting):
            if not self._lacks(batch):
                del self._waiting[at]
                return self._with_written(batch), planned
        while not (in_order and self._waiting) and (due := self._frontier.due()):
            planned = _planned(due, self._name(due))
            self._frontier.take(due, planned)
            waits = self._lacks(due)
            self._planned.add(planned.handle)
            if not waits:
                return self._with_written(due), planned
            self._waiting.append((due, planned))
        return None

    def _lacks(self, batch: Batch) -> bool:
        return any(source.handle in self._planned for source in batch.sources if isinstance(source, Summary))

    def _with_written(self, batch: Batch) -> Batch:
        sources = tuple(self._written.get(s.handle, s) for s in batch.sources if isinstance(s, Summary))
        return replace(batch, sources=sources) if sources else batch

    def take(self, planned: Summary, made: Summary) -> None:
        """Take in a summary that was written."""
        self._planned.discard(planned.handle)
        self._written[planned.handle] = made


def _closes(tail: Sequence[Note], shape: Shape) -> int:
    """Count the notes of the first batch that closes: the note that crosses the limit is its last; 0 if none closes."""
    chars = 0
    for count, note in enumerate(tail, 1):
        chars += note.chars
        if count == shape.batch_notes or chars >= shape.batch_chars:
            return count
    return 0


def ready(state: State, shape: Shape, now: datetime, *, settled: bool = False) -> Iterator[Note]:
    """Yield the notes of the tail that a batch may take, oldest first.

    A problem is never taken, a revised note not before its quiet time; with `settled` a new file not before its own.
    """
    for note in state.tail:
        quiet = shape.revised if note.path in state.revised else _settle(note, shape) if settled else timedelta(0)
        if not note.problem and abs(now - note.touched) >= quiet:
            yield note


def _settle(note: Note, shape: Shape) -> timedelta:
    """Give the quiet that a new file needs: none for one that lies as the store wrote it, in one piece."""
    whole = note.dated is Dated.KEY and times.in_name(note.handle, UTC) == note.created.replace(microsecond=0)
    return timedelta(0) if whole and note.touched - note.created < _AT_ONCE else shape.settle


def plan(state: State, shape: Shape, now: datetime, *, settled: bool = False) -> Iterator[Batch]:
    """Yield every batch that is due, roll-ups of summaries that are only planned included."""
    if state.is_held:
        return
    frontier = Frontier(state, shape, ready(state, shape, now, settled=settled))
    number = 0
    while batch := frontier.due():
        yield batch
        number += 1
        frontier.take(batch, _planned(batch, f"planned-{number:09d}.md"))


def _planned(batch: Batch, path: str) -> Summary:
    """Stand in for a summary that is not written yet."""
    start, end = batch.span
    return Summary(
        path=path,
        handle=layout.handle(path),
        tier=batch.tier,
        batch=layout.batch_of(path.rpartition("/")[2]),
        created=end,
        span_from=start,
        span_to=end,
        note_count=batch.note_count,
        sources=(),
        digest="",
        chars=0,
        lines=0,
    )


def ancestors(state: State, handle: str) -> list[str]:
    """List the active summaries above one, lowest first."""
    found = []
    while handle in state.parents:
        handle = state.parents[handle]
        found.append(handle)
    return found


def leaves(state: State, handles: Iterable[str]) -> Iterator[tuple[str, str, Source]]:
    """Yield (summary, path, source) of every note below the summaries, oldest summaries first."""
    for handle in handles:
        summary = state.active.get(handle)
        if summary is None:
            continue
        if summary.tier == 0:
            for path, source in zip(state.sources[handle], summary.sources, strict=True):
                yield handle, path, source
        else:
            yield from leaves(state, state.sources[handle])

"""What changed between two states of a vault, in human terms: of notes, summaries, models and records."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import layout, render, times
from pyramid_fs.notes import Card, Curated, Dated, File, Kind, Note, Shaped, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

EXCERPT = 100
"""Characters of a text that stand for it."""
SENTENCE = 240
"""Characters of a sentence that are shown."""
MOST = 20
"""Lines of a model's changes that are shown; `--all` shows every one."""
FEWEST = 3
"""Of each kind of change so many are shown, however many kinds there are."""
_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")

_CUT = re.compile(r"^ *[-+] and [\d,]+ more$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of a vault; files that both states hold alike, byte for byte, may be left out of both."""

    files: Mapping[str, File]
    models: frozenset[str]
    forgotten: Mapping[tuple[str, str], datetime | None]
    """Tombstones: (SHA-256 of the handle, digest) → when."""
    read: Callable[[File], str]
    """Gives a file's text."""


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A note that is new, another, elsewhere or gone."""

    handle: str
    path: str
    created: str
    """The day; empty where only the file's time is known."""
    text: str
    """Its first words; none of a note that was forgotten."""
    was: str = ""
    """The path that it had, where it has another now."""
    removed: tuple[str, ...] = ()
    """Sentences."""
    added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryChange:
    """A summary that is new, written again or retired."""

    handle: str
    path: str
    tier: int
    notes: int
    """Versions of notes below it."""
    span_from: str
    span_to: str
    notes_before: int
    removed: tuple[str, ...] = ()
    """Sentences."""
    added: tuple[str, ...] = ()
    withheld: int = 0
    """So many sentences went with a note that was forgotten, and are not told again."""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """What happened to one model."""

    name: str
    happened: tuple[str, ...] = ()
    """To the model itself: `new`, `renamed from …`, `archived`, `brought back`, `folded into …`, `gone`, …"""
    added: tuple[NoteChange, ...] = ()
    revised: tuple[NoteChange, ...] = ()
    moved: tuple[NoteChange, ...] = ()
    gone: tuple[NoteChange, ...] = ()
    forgotten: tuple[NoteChange, ...] = ()
    written: tuple[SummaryChange, ...] = ()
    redone: tuple[SummaryChange, ...] = ()
    retired: tuple[SummaryChange, ...] = ()
    lost: tuple[SummaryChange, ...] = ()
    """Summaries whose file is gone, which the store never does."""


@dataclass(frozen=True, slots=True)
class RecordChange:
    """An entity, procedure, topic or session that is new or another."""

    kind: str
    handle: str
    name: str
    what: str
    """`proposed`, `confirmed`, `pruned`, `pending again`, `superseded`, `new`, `gone`."""
    by: str = ""
    """The handle of the record that stands in its place."""


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed between two states of a vault."""

    vault: str
    since: str
    """What the first state is, in words; `until` is the second."""
    until: str
    models: tuple[ModelChange, ...]
    records: tuple[RecordChange, ...]
    """Entities and procedures."""
    topics: tuple[RecordChange, ...]
    sessions: tuple[RecordChange, ...]
    forgotten_unseen: int = 0
    """Notes that were forgotten in between, and that neither state shows."""
    said: tuple[str, ...] = ()
    """What can't be known."""


# A state that is cut off at a time


def stopped(snapshot: Snapshot, until: datetime, day: str) -> Snapshot:
    """Give a state as it would be had the vault stopped at a time, as far as dates tell; `day` is the day of that time.

    Models have no date: they are those of now. Retired summaries are left out: when one was retired is not known.
    """
    files = {path: _status_then(file, day) for path, file in snapshot.files.items() if _is_by(file, until)}
    forgotten = {mark: at for mark, at in snapshot.forgotten.items() if at is None or at <= until}
    return replace(snapshot, files=files, forgotten=forgotten)


def _is_by(file: File, until: datetime) -> bool:
    if isinstance(file, Card) or (isinstance(file, Shaped) and file.kind in {Kind.RETIRED, Kind.STRAY}):
        return False
    return file.created <= until and not (isinstance(file, Summary) and file.problem)


def _status_then(file: File, day: str) -> File:
    """Take back a pruning of a later day."""
    if isinstance(file, Curated) and file.status == "pruned" and file.pruned > day:
        return replace(file, status="pending")
    return file


# Comparing


class _Pair(NamedTuple):
    old: File | None
    new: File | None


def compare(old: Snapshot, new: Snapshot, zone: tzinfo) -> Diff:
    """Say what changed from one state to another; vault and words are left to whoever knows them."""
    names = renamed(old, new)
    before, after = _counted(old), _counted(new)
    pairs = list(_pairs(before, after, names))
    found = _Found(old, new, zone, names, {f.handle for f in new.files.values() if _is_retired(f)})
    for pair in pairs:
        found.take(pair)
    shapes = sorted(found.shapes, key=lambda change: (change.kind, change.what, change.handle))
    return Diff(
        vault="",
        since="",
        until="",
        models=tuple(found.models()),
        records=tuple(change for change in shapes if change.kind in {Kind.ENTITY, Kind.PROCEDURE}),
        topics=tuple(change for change in shapes if change.kind == Kind.TOPIC),
        sessions=tuple(change for change in shapes if change.kind == Kind.SESSION),
        forgotten_unseen=len(_handles_of(new.forgotten.keys() - old.forgotten.keys()) - _handles_of(found.tombs)),
    )


def renamed(old: Snapshot, new: Snapshot) -> dict[str, str]:
    """Give old → new name of each model that goes on under another: most of its handles lie there now.

    One without notes goes by its card.
    """
    gone, fresh = old.models - new.models, new.models - old.models
    handles = {model: _handles(old, model) or _described(old, model) for model in gone}
    there = {model: _handles(new, model) | _described(new, model) for model in fresh}
    found: dict[str, str] = {}
    for model in sorted(gone, key=lambda name: (-len(handles[name]), name)):
        shared = {to: len(handles[model] & there[to]) for to in sorted(fresh - set(found.values()))}
        to = max(shared, key=lambda name: shared[name], default="")
        if to and shared[to] * 2 > len(handles[model]):
            found[model] = to
    return found


def _handles(snapshot: Snapshot, model: str) -> set[str]:
    start = f"{layout.MODELS}/{model}/"
    return {f.handle for path, f in snapshot.files.items() if path.startswith(start) and isinstance(f, (Note, Summary))}


def _described(snapshot: Snapshot, model: str) -> set[str]:
    card = snapshot.files.get(layout.card_path(model))
    return {f"[{card.description}]"} if isinstance(card, Card) and card.description else set()  # no handle has brackets


def _counted(snapshot: Snapshot) -> dict[str, File]:
    """Leave out what is no note: cards that a renamed folder left behind, and what was forgotten and came back."""
    return {
        path: file
        for path, file in snapshot.files.items()
        if not (isinstance(file, Note) and (file.is_card or _tomb(file, snapshot.forgotten)))
    }


def _tomb(note: Note, forgotten: Mapping[tuple[str, str], datetime | None]) -> tuple[str, str] | None:
    """Find a note's tombstone."""
    if not forgotten:
        return None
    mark = (hashed(note.handle), note.digest)
    if not note.embed or mark in forgotten:
        return mark if mark in forgotten else None
    return next((tomb for tomb in forgotten if tomb[0] == mark[0]), None)  # an embed's has its target's digest


def hashed(handle: str) -> str:
    """Give what a tombstone says of a handle."""
    return hashlib.sha256(handle.encode("utf-8", "replace")).hexdigest()


def _handles_of(tombs: Iterable[tuple[str, str]]) -> set[str]:
    """Give the hashed handles: a note has a tombstone for each of its versions."""
    return {handle for handle, _ in tombs}


def _is_retired(file: File) -> bool:
    return isinstance(file, Shaped) and file.kind is Kind.RETIRED


def _sort(file: File) -> str:
    return str(file.kind) if isinstance(file, Shaped) else type(file).__name__


def _pairs(before: dict[str, File], after: dict[str, File], names: Mapping[str, str]) -> Iterator[_Pair]:
    """Pair what is one file in both states: by path, by handle, and notes by their text; then what is in one alone."""
    left = dict(before)
    fresh = dict(after)
    for path, file in before.items():
        to = _path_now(path, names)
        if to in fresh and _sort(fresh[to]) == _sort(file):
            yield _Pair(left.pop(path), fresh.pop(to))
    by_handle, by_text = _groups(fresh.values(), _by_handle), _groups(fresh.values(), _by_text)
    for key_of, groups in ((_by_handle, by_handle), (lambda file: _by_text(file, names), by_text)):
        for path, file in sorted(left.items()):
            there = [other for other in groups.get(key_of(file), ()) if other.path in fresh]
            if len(there) == 1 or (there and key_of is not _by_handle):
                del left[path]
                yield _Pair(file, fresh.pop(there[0].path))
    yield from (_Pair(file, None) for file in left.values())
    yield from (_Pair(None, file) for file in fresh.values())


def _path_now(path: str, names: Mapping[str, str]) -> str:
    top, _, rest = path.partition("/")
    model, _, inside = rest.partition("/")
    if top != layout.MODELS or model not in names:
        return path
    return layout.card_path(names[model]) if path == layout.card_path(model) else f"{top}/{names[model]}/{inside}"


def _groups(files: Iterable[File], key_of: Callable[[File], tuple[str, ...]]) -> dict[tuple[str, ...], list[File]]:
    groups: dict[tuple[str, ...], list[File]] = defaultdict(list)
    for file in sorted(files, key=lambda file: file.path):
        if key := key_of(file):
            groups[key].append(file)
    return groups


def _by_handle(file: File) -> tuple[str, ...]:
    return () if isinstance(file, Card) else (_sort(file), file.handle)


def _by_text(file: File, names: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Give what tells a note within its model whatever it is called."""
    if not isinstance(file, Note) or not file.digest:
        return ()
    model = _model(file)
    return ((names or {}).get(model, model), file.digest)


def _model(file: File) -> str:
    return file.path.split("/")[1]


@dataclass(slots=True)
class _Found:
    """What has been found so far."""

    old: Snapshot
    new: Snapshot
    zone: tzinfo
    names: Mapping[str, str]
    """Of models that were renamed, old → new."""
    retired: set[str]
    lists: dict[str, dict[str, list[NoteChange | SummaryChange]]] = field(default_factory=dict)
    happened: dict[str, list[str]] = field(default_factory=dict)
    shapes: list[RecordChange] = field(default_factory=list)
    tombs: set[tuple[str, str]] = field(default_factory=set)

    def take(self, pair: _Pair) -> None:
        """Sort one pair into what it tells of."""
        file = pair.new or pair.old
        if pair.old is pair.new:
            return
        if isinstance(file, Note):
            self._note(pair)
        elif isinstance(file, Summary):
            self._summary(pair)
        elif isinstance(file, Card):
            self._card(pair)
        elif isinstance(file, Shaped) and file.kind not in {Kind.RETIRED, Kind.STRAY}:
            self.shapes += _shape_changes(pair)

    def _put(self, which: str, file: File, change: NoteChange | SummaryChange) -> None:
        self.lists.setdefault(_model(file), {}).setdefault(which, []).append(change)

    def _note(self, pair: _Pair) -> None:
        old, new = pair
        if isinstance(new, Note) and isinstance(old, Note):
            if not old.digest or not new.digest:  # what can't be read is not known to have changed
                return
            if old.digest != new.digest:
                removed, added = sentences(self.old.read(old), self.new.read(new))
                self._put("revised", new, self._of_note(new, self.new, old, removed, added))
            elif self._has_moved(old, new):
                self._put("moved", new, self._of_note(new, self.new, old))
        elif isinstance(new, Note):
            self._put("added", new, self._of_note(new, self.new))
        elif isinstance(old, Note):
            tomb = _tomb(old, self.new.forgotten)
            self.tombs |= {tomb} if tomb else set()
            change = self._of_note(old, self.old)
            self._put("forgotten" if tomb else "gone", old, replace(change, text="") if tomb else change)

    def _has_moved(self, old: Note, new: Note) -> bool:
        """Whether a note lies elsewhere, but for what its model is called."""
        return _path_now(old.path, self.names) != new.path

    def _of_note(
        self,
        note: Note,
        where: Snapshot,
        old: Note | None = None,
        removed: Sequence[str] = (),
        added: Sequence[str] = (),
    ) -> NoteChange:
        day = "" if note.dated is Dated.FILE else times.day(note.created, self.zone)
        was = old.path if old and self._has_moved(old, note) else ""
        return NoteChange(note.handle, note.path, day, excerpt(where.read(note)), was, tuple(removed), tuple(added))

    def _summary(self, pair: _Pair) -> None:
        old, new = pair
        if isinstance(new, Summary) and isinstance(old, Summary):
            if old.problem or new.problem:  # the same; `doctor` names it
                return
            removed, added = sentences(self.old.read(old), self.new.read(new))
            if removed or added or old.sources != new.sources:
                change = self._of_summary(new, old, removed, added)
                is_cut = new.note_count < old.note_count
                self._put("redone", new, replace(change, removed=(), withheld=len(removed)) if is_cut else change)
        elif isinstance(new, Summary):
            self._put("written", new, self._of_summary(new, new, (), sentences("", self.new.read(new))[1]))
        elif isinstance(old, Summary):
            self._put("retired" if old.handle in self.retired else "lost", old, self._of_summary(old, old))

    def _of_summary(
        self, summary: Summary, old: Summary, removed: Sequence[str] = (), added: Sequence[str] = ()
    ) -> SummaryChange:
        first, last = times.day(summary.span_from, self.zone), times.day(summary.span_to, self.zone)
        facts = (summary.handle, summary.path, summary.tier, summary.note_count, first, last, old.note_count)
        return SummaryChange(*facts, tuple(removed), tuple(added))

    def _card(self, pair: _Pair) -> None:
        old, new = (card if isinstance(card, Card) else Card("", "") for card in pair)
        said = self.happened.setdefault(_model(pair.new or pair.old or new), [])
        if new.folded_into and new.folded_into != old.folded_into:
            said.append(f"folded into {new.folded_into}")
        elif new.archived and not old.archived:
            said.append("archived")
        if pair.new and old.archived and not new.archived:
            said.append("brought back")
        if pair.old and pair.new and old.description != new.description:
            said.append("described anew")

    def models(self) -> Iterator[ModelChange]:
        """Yield what happened, model by model."""
        was = {to: name for name, to in self.names.items()}
        gone = self.old.models - self.new.models - self.names.keys()
        fresh = self.new.models - self.old.models
        for model in sorted({*self.lists, *self.happened, *gone, *fresh}):
            first = [f"renamed from {was[model]}"] if model in was else ["new"] if model in fresh else []
            happened = (*first, *self.happened.get(model, ()), *(["gone"] if model in gone else []))
            lists = {which: tuple(sorted(found, key=_in_order)) for which, found in self.lists.get(model, {}).items()}
            if happened or lists:
                yield ModelChange(model, happened, **lists)  # type: ignore[arg-type]


def _in_order(change: NoteChange | SummaryChange) -> tuple[str, str]:
    return (change.created if isinstance(change, NoteChange) else f"{change.tier:03d} {change.span_to}", change.handle)


def _shape_changes(pair: _Pair) -> Iterator[RecordChange]:
    old, new = pair
    file = new or old
    if not isinstance(file, Shaped):
        return

    def change(what: str, by: str = "") -> RecordChange:
        return RecordChange(str(file.kind), file.handle, file.name or file.handle, what, by)

    if not isinstance(new, Shaped):
        yield change("gone")
    elif not isinstance(new, Curated):
        if old is None:
            yield change("new")
        elif isinstance(old, Shaped) and new.status != old.status and new.kind is Kind.TOPIC:
            yield change(new.status or "open")
    else:
        before = old if isinstance(old, Curated) else None
        if before is None or before.status != new.status:
            yield change(_record_word(new.status, is_new=before is None))
        if new.superseded_by and new.superseded_by != (before.superseded_by if before else ""):
            yield change("superseded", new.superseded_by)


def _record_word(status: str, *, is_new: bool) -> str:
    if status == "pending":
        return "proposed" if is_new else "pending again"
    return status or "without a status"


def sentences(old: str, new: str) -> tuple[list[str], list[str]]:
    """Give the sentences that are gone and those that are new, each in its order."""
    before, after = _split(old), _split(new)
    had, has = set(before), set(after)
    return [one for one in before if one not in has], [one for one in after if one not in had]


def _split(text: str) -> list[str]:
    return list(dict.fromkeys(" ".join(one.split()) for one in _END.split(text) if one.strip()))


def excerpt(text: str, most: int = EXCERPT) -> str:
    """Give the first words of a text, on one line."""
    line = " ".join(text[: most * 4].split())
    if len(line) <= most and len(text) <= most * 4:
        return line
    return f"{line[:most].rsplit(' ', 1)[0] if ' ' in line[:most] else line[:most]} …"


# As text

_LISTS = {
    "written": "Summaries written",
    "redone": "Summaries written again",
    "retired": "Summaries retired",
    "lost": "Summaries whose file is gone",
    "forgotten": "Notes forgotten",
    "gone": "Notes gone",
    "revised": "Notes revised",
    "moved": "Notes moved or renamed",
    "added": "Notes added",
}
"""The lists of a model's changes in the order in which they are shown, each with its heading."""


def as_text(found: Diff, rest: str = "", *, whole: bool = False) -> str:
    """Show what changed, model by model, counts first.

    Where it is not the `whole`, `rest` is the call that shows what was left out.
    """
    lines = [f"Vault: {found.vault}", f"From {found.since}", f"to {found.until}.", *found.said]
    if not (found.models or found.records or found.topics or found.sessions or found.forgotten_unseen):
        return "\n".join([*lines, "Nothing changed."])
    lines += [render.QUOTED, "", f"In all: {' · '.join(_totals(found))}"]
    for model in found.models:
        lines += ["", *_model_lines(model, whole=whole)]
    groups = {"Entities and procedures": found.records, "Topics": found.topics, "Sessions": found.sessions}
    for head, changes in ((head, changes) for head, changes in groups.items() if changes):
        lines += [
            "",
            f"# {head} [{_said_counts(changes)}]",
            *_cut([_record_line(one) for one in changes], MOST, whole=whole),
        ]
    text = "\n".join(lines)
    return f"{text}\n\nAll of it: {rest}" if rest and _CUT.search(text) else text


def _totals(found: Diff) -> Iterator[str]:
    for which in _LISTS:
        if count := sum(len(getattr(model, which)) for model in found.models):
            yield _counted_as(which, count)
    if found.forgotten_unseen:
        yield f"{found.forgotten_unseen:,} more forgotten that neither state shows"
    models = sum(bool(model.happened) for model in found.models)
    yield from ([f"{models:,} {'model' if models == 1 else 'models'} changed as such"] if models else [])
    for what, changes in (("records", found.records), ("topics", found.topics), ("sessions", found.sessions)):
        yield from ([f"{what}: {_said_counts(changes)}"] if changes else [])


def _counted_as(which: str, count: int) -> str:
    noun, _, done = _LISTS[which].partition(" ")
    one = {"Notes": "note", "Summaries": "summary"}[noun]
    return f"{count:,} {one if count == 1 else noun.lower()} {done}"


def _said_counts(changes: Sequence[RecordChange]) -> str:
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.what] = counts.get(change.what, 0) + 1
    return " · ".join(f"{count:,} {what}" for what, count in counts.items())


def _model_lines(model: ModelChange, *, whole: bool) -> Iterator[str]:
    lists = {which: getattr(model, which) for which in _LISTS if getattr(model, which)}
    facts = [*model.happened, *(_counted_as(which, len(found)) for which, found in lists.items())]
    yield f"# {model.name} [{' · '.join(facts)}]"
    most = max(FEWEST, MOST // max(len(lists), 1))
    for which, found in lists.items():
        yield f"{_LISTS[which]}:"
        room = most if which not in {"redone", "revised"} else max(FEWEST, most // FEWEST)  # these take several lines
        blocks = ["\n".join(_change_lines(which, change, whole=whole)) for change in (found if whole else found[:room])]
        yield from _cut(blocks, room, whole=whole, count=len(found))


def _cut(blocks: list[str], most: int, *, whole: bool, count: int = 0) -> list[str]:
    left = max(count, len(blocks)) - most
    return blocks if whole or left <= 0 else [*blocks[:most], f"- and {left:,} more"]


def _change_lines(which: str, change: NoteChange | SummaryChange, *, whole: bool) -> Iterator[str]:
    if isinstance(change, NoteChange):
        words = f" · {render.in_plain_sight(change.text)}" if change.text and which != "revised" else ""
        yield f"- [[{change.handle}]] · {change.created or 'undated'}{words}"
        yield from ([f"  it was {change.was}"] if change.was else [])
    else:
        span = change.span_from if change.span_from == change.span_to else f"{change.span_from} to {change.span_to}"
        before = f", {change.notes_before:,} before" if change.notes_before != change.notes else ""
        words = f" · {render.in_plain_sight(excerpt(' '.join(change.added)))}" if which == "written" else ""
        yield f"- [[{change.handle}]] · tier {change.tier} · {change.notes:,} notes{before} · {span}{words}"
        if change.withheld:
            yield f"  - {change.withheld} that went with what was forgotten"
    if which not in {"redone", "revised"}:
        return
    for mark, told in (("-", change.removed), ("+", change.added)):
        lines = [f"  {mark} {render.in_plain_sight(excerpt(one, SENTENCE))}" for one in told]
        yield from (
            lines if whole or len(lines) <= FEWEST else [*lines[:FEWEST], f"  {mark} and {len(lines) - FEWEST} more"]
        )


def _record_line(change: RecordChange) -> str:
    name = f" · {render.in_plain_sight(excerpt(change.name))}" if change.name != change.handle else ""
    by = f" by [[{change.by}]]" if change.by else ""
    return f"- {change.what}{by}: [[{change.handle}]] · {change.kind}{name}"

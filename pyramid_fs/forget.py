"""Takes what was forgotten out of every summary that was made from it, all tiers up, in the same files.

A tombstone is all that must be written by hand: whatever names a tombstoned version, or counts more notes than lie
below it, is due, whether a kill or an old copy left it so. What stands there is replaced by whole sentences of the
notes that are left, a draft for a model, so that no summarizer that fails keeps a text that somebody wants gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import batches, files, history, kinds, layout, links, pyramid, summarizers
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, NoSuchHandle, PyramidError, RefusedWrite, SummarizerFailed, UsageError
from pyramid_fs.notes import Kind, Note, Shaped, Summary
from pyramid_fs.summarizers import Extractive, Item, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyramid_fs.census import Census, ModelNow
    from pyramid_fs.issue import Tools
    from pyramid_fs.notes import Source
    from pyramid_fs.pyramid import State

EMPTIED = "The text that stood here was made from a note that was forgotten."
"""What is left of a retired summary."""
UNREADABLE = "A note was forgotten, and the others that this was made from can't be read any more."
"""What is left of a summary none of whose other sources has a text."""
CHAIN = 8
"""An embed of an embed is followed this far."""
AWAITED = "A note was forgotten, and this is written again once all that it was made from is here."
"""What is left of a summary that waits for a source."""
TAKEN = "[taken out: a note below was forgotten, and this is written again at the next `pyramid advance`]"
"""What an answer shows of a summary that is due: its own text never."""
ROUNDS = 2
"""What is moved away in the first round has its text taken out in the second."""


_SET = re.compile(r"[\s*_#>|~=`]|[-+](?!\w)")
"""What a formatter sets otherwise: blanks, line breaks, bullets, emphasis."""
_DUE = "due to forget"


class Version(NamedTuple):
    """A version of a note, as a summary names it."""

    handle: str
    digest: str


# What a note is in


@dataclass(frozen=True, slots=True)
class Target:
    """One note that is to be forgotten, in all models."""

    handle: str
    paths: tuple[str, ...]
    """Of its files: its embeds first, then its text; none where a person has deleted it."""
    versions: frozenset[Version]
    """All that its files, the summaries and git know it by."""
    texts: tuple[str, ...]
    """Its versions, as far as they can be read."""
    alike: tuple[str, ...] = ()
    """Those of the paths that are another note's, of the same name and text: a tombstone can't tell the two apart."""


def find(census: Census, handle: str) -> Target:
    """Find all of a note: the census has just been refreshed.

    A note that a person has deleted is known by the summaries and embeds that name it. Raise NoSuchHandle where nothing
    does, UsageError for what is no note.
    """
    note, name = _note(census, handle)
    states = [census.now(model).state for model in census.models()]
    paths = _files(census, states, note, name)
    handles = {name, *(layout.handle(path) for path in paths)}
    named, rivals = list(_named(census, states, paths, handles)), _rivals(census, states, paths, handles)
    homes = {path.split("/")[1] for path in paths} if note else _homes(handle, states, named)
    digests = ({note.digest} if note else set()) | {v.digest for model, v in named if model in homes} - rivals
    old = list(history.versions(census.vault.root, note.path)) if note else []
    digests |= {pages.digest(pages.read(data).body) for data in old} - rivals
    handles |= {version.handle for _, version in named if version.digest in digests}
    versions = frozenset(Version(each, digest) for each in handles for digest in digests if digest)
    before = frozenset(digest for mark, digest in census.forgotten if mark == hashed(name))
    if not versions and before:
        again = frozenset(Version(name, digest) for digest in before)
        return Target(name, (), again, tuple(_texts(census, (), (), name, before)))
    if not versions:
        raise NoSuchHandle(f"there is no note {handle[:120]!r}, and no summary names it: recall finds texts")
    alike = _alike(census, states, paths, versions)
    if note and (other := _of_other_signs(census, note.path, alike)):
        raise UsageError(
            f"{other} has the name and the words of {note.path} and says something else: "
            "a tombstone can't tell the two apart, so rename one of them first"
        )
    versions |= {Version(layout.handle(path), digest) for path in alike for digest in digests if digest}
    last = note.path if note else ""
    ordered = tuple(sorted(paths | alike, key=lambda path: (path == last, path)))
    texts = tuple(_texts(census, ordered, old, name, digests))
    return Target(name, ordered, versions, texts, tuple(path for path in ordered if path in alike))


def _note(census: Census, handle: str, depth: int = 0) -> tuple[Note | None, str]:
    """Find the note whose text a handle shows, and its handle; None where it is gone."""
    if depth > CHAIN or not census.meant(handle):
        return None, links.name(links.target(handle))
    found = census.find(handle)
    if isinstance(found, Summary):
        raise UsageError(f"{found.handle} is a summary, and only notes are forgotten: pyramid expand {found.handle}")
    if not isinstance(found, Note):
        raise UsageError(f"{found.handle} is no note, and only notes are forgotten: you may delete {found.path}")
    if not found.embed and not found.digest:
        raise RefusedWrite(f"{found.path} can't be read ({found.problem}): delete it, then forget {found.handle}")
    if not found.embed:
        return found, found.handle
    shown = next((n for n in census.now(found.path.split("/")[1]).state.notes if n.path == found.path), found)
    row = census.catalog.row(shown.text_path) if shown.text_path else None
    if row and isinstance(row.file, Note):
        return row.file, row.file.handle
    return _note(census, found.embed, depth + 1)


def _homes(handle: str, states: Sequence[State], named: Sequence[tuple[str, Version]]) -> set[str]:
    """Say in which models a note lay that is gone; raise NoSuchHandle where these were several notes of one name."""
    there = {state.model for state in states}
    said = {part for part in links.target(handle).split("/")[:-1] if part in there}
    found: dict[str, set[str]] = {}
    for model, version in named:
        if model in said or not said:
            found.setdefault(model, set()).add(version.digest)
    if len(found) > 1 and not set.intersection(*found.values()):
        listing = ", ".join(f"{model}/{links.name(handle)}" for model in sorted(found))
        raise NoSuchHandle(f"{handle!r} were several notes, which are gone; say which model's: {listing}")
    return set(found)


def _files(census: Census, states: Sequence[State], note: Note | None, name: str) -> set[str]:
    """List the file of a note and its embeds, those included that show a note which is gone."""
    shown = {each.path: each for state in states for each in state.notes}
    paths, names = {note.path} if note else set(), {name}
    embeds = [file for file in census.values() if isinstance(file, Note) and file.embed]
    for _ in range(CHAIN):
        for file in embeds:
            if links.name(file.embed) in names and _shows(census, note, file, shown.get(file.path)):
                paths.add(file.path)
        names |= {layout.handle(path) for path in paths}
    return paths


def _shows(census: Census, note: Note | None, embed: Note, shown: Note | None) -> bool:
    """Whether an embed shows a note: one that is no note any more shows one that was forgotten before."""
    if shown:
        return shown.text_path == note.path if note and shown.text_path else not shown.text_path
    return note is not None and census.is_forgotten(replace(embed, digest=note.digest))


def _named(
    census: Census, states: Sequence[State], paths: set[str], handles: set[str]
) -> Iterator[tuple[str, Version]]:
    """Yield (model, version) of each line of provenance that may mean a note, in whatever summary it stands."""
    for state in states:
        active = {summary.path for summary in state.active.values()}
        for place, source in (placed for handle in state.active for placed in _placed(state, handle)):
            name = links.name(source.link)
            if place in paths or (name in handles and not _is_named(place, name)):
                yield state.model, Version(name, source.digest)
        others = (s for s in (*_summaries(census, state.model), *retired(census, state.model)) if s.path not in active)
        for source in (source for summary in others if summary.tier == 0 for source in summary.sources):
            if (name := links.name(source.link)) in handles:
                yield state.model, Version(name, source.digest)


def _placed(state: State, handle: str) -> Iterator[tuple[str, Source]]:
    summary = state.active[handle]
    if summary.tier == 0:
        yield from zip(state.sources[handle], summary.sources, strict=True)


def _is_named(place: str, name: str) -> bool:
    """Whether a source is a file of that name: no note that is gone, and none that stands for it by its text."""
    return not place.startswith("?") and layout.handle(place) == name


def _rivals(census: Census, states: Sequence[State], paths: set[str], handles: set[str]) -> set[str]:
    """Give the digests of other notes of a like name: people's own names repeat, and those stay notes."""
    found = {
        file.digest
        for file in census.values()
        if isinstance(file, Note) and file.handle in handles and file.path not in paths
    }
    for state in states:
        for handle in state.active:
            for place, source in _placed(state, handle):
                name = links.name(source.link)
                if place not in paths and name in handles and _is_named(place, name):
                    found.add(source.digest)
    return found


def _alike(census: Census, states: Sequence[State], paths: set[str], versions: frozenset[Version]) -> set[str]:
    """List the files of other notes that the tombstones will hit: those of the same name and text, and their embeds."""
    found = [
        file
        for file in census.values()
        if isinstance(file, Note) and Version(file.handle, file.digest) in versions and file.path not in paths
    ]
    return set().union(*(_files(census, states, file, file.handle) for file in found)) - paths


def _of_other_signs(census: Census, path: str, alike: set[str]) -> str:
    """Give a note that differs in more than a formatter's marks: digests are of words, and `5` is no `-5`."""
    said = {one: _SET.sub("", body) for one, body in _bodies(census, sorted({path, *alike})) if not links.embed(body)}
    return next((other for other in said if said[other] != said.get(path, said[other])), "")


def _bodies(census: Census, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        with contextlib.suppress(FileNotFoundError, DiskError):
            yield path, census.vault.page(path).body


def _texts(
    census: Census, paths: Sequence[str], old: Sequence[bytes], name: str, digests: Collection[str]
) -> Iterator[str]:
    root = census.vault.root
    for path in paths:
        with contextlib.suppress(FileNotFoundError, DiskError):
            page = census.vault.page(path)
            if not links.embed(page.body):
                yield kinds.note_text(page)
    gone = () if paths else (data for _, data in history.versions_named(root, f"{name}.md"))
    for page in map(pages.read, (*old, *gone)):
        if pages.digest(page.body) in digests:
            yield kinds.note_text(page)


def tombstones(target: Target, known: frozenset[tuple[str, str]], at: str) -> list[dict[str, str]]:
    """Spell the ledger lines that keep a note forgotten: those that are not there yet."""
    lines = sorted((hashed(handle), digest) for handle, digest in target.versions)
    return [{"forgot": mark, "digest": digest, "at": at} for mark, digest in lines if (mark, digest) not in known]


def remove(root: Path, target: Target) -> None:
    """Delete the files of a note, its embeds first; raise RefusedWrite where one says something else by now."""
    digests = {version.digest for version in target.versions}
    for path in target.paths:
        with contextlib.suppress(FileNotFoundError):
            data = files.read(root / path)
            body = pages.read(data).body
            if not links.embed(body) and pages.digest(body) not in digests:
                raise RefusedWrite(f"{path} changed since it was read: it is still there; try again")
            files.remove(root / path, data)


def hashed(handle: str) -> str:
    """Give what a tombstone says of a handle, whose words must not stand there."""
    return hashlib.sha256(handle.encode("utf-8", "replace")).hexdigest()


# The plan for one model


@dataclass(frozen=True, slots=True)
class Cut:
    """A summary as it stands, and as it is without what was forgotten."""

    before: Summary
    after: Summary
    is_due: bool

    @property
    def is_bare(self) -> bool:
        """Whether nothing is left that it was made from."""
        return not self.after.sources and not self.before.problem


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done in one model, in this order."""

    emptied: tuple[Cut, ...] = ()
    """Retired ones whose text is taken out: the highest tier first, as each is known by what it names below."""
    blanked: tuple[Cut, ...] = ()
    """Those that wait for a source: their text goes at once, and a new one can't be had yet."""
    written: tuple[Cut, ...] = ()
    """Active ones that are written again, the lowest tier first."""
    bare: tuple[Cut, ...] = ()
    """Those that are left without sources, and losers: they are retired, the highest tier first."""
    state: State | None = None
    """The model as it is then."""

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.emptied or self.blanked or self.written or self.bare)


def plan(now: State, live: Iterable[Summary], dead: Iterable[Summary], forgot: Callable[[str, str], bool]) -> Plan:
    """Say what of a model is due: `live` lie in `tier-n/`, `dead` in `retired/`; `forgot` knows the tombstones."""
    shelved = {summary.handle: summary for summary in dead}
    ghosts = [summary for summary in live if summary.handle in shelved]
    standing = [summary for summary in live if summary.handle not in shelved]
    cuts = _cuts([*ghosts, *standing, *shelved.values()], forgot)
    if not any(cut.is_due for cut in cuts.values()):
        return Plan()
    left = tuple(cut.after for s in standing if not (cut := cuts[s.path]).is_bare)
    notes = tuple(note for note in now.notes if not forgot(note.handle, note.digest))
    state = pyramid.derive(pyramid.Files(now.model, notes, left, frozenset(shelved)))
    due = sorted((cut for cut in cuts.values() if cut.is_due), key=lambda cut: (cut.before.tier, cut.before.path))
    stays = {summary.path for summary in (*state.active.values(), *(s for s in left if s.handle in state.waiting))}
    return Plan(
        emptied=tuple(cut for cut in reversed(due) if cut.before.path in {s.path for s in shelved.values()}),
        blanked=tuple(cut for cut in reversed(due) if cut.before.path in stays and cut.before.handle in state.waiting),
        written=tuple(cut for cut in due if cut.before.path in stays and cut.before.handle in state.active),
        bare=tuple(
            cut
            for cut in reversed(due)
            if cut.before.path not in stays and cut.before.path not in {s.path for s in shelved.values()}
        ),
        state=state,
    )


def _cuts(found: Iterable[Summary], forgot: Callable[[str, str], bool]) -> dict[str, Cut]:
    """Take what was forgotten out of each, by path; of two of one handle the last is the one that links mean."""
    cuts, below = dict[str, Cut](), dict[tuple[int, str], Cut]()
    for summary in sorted(found, key=lambda summary: summary.tier):
        cut = _notes_cut(summary, forgot) if summary.tier == 0 else _rollup_cut(summary, below)
        cuts[summary.path] = below[summary.tier, summary.handle] = cut
    return cuts


def _notes_cut(summary: Summary, forgot: Callable[[str, str], bool]) -> Cut:
    kept = tuple(source for source in summary.sources if not forgot(links.name(source.link), source.digest))
    if len(kept) == len(summary.sources):
        return Cut(summary, summary, is_due=False)
    return Cut(summary, _with(summary, kept, len(kept), [(source.date, source.date) for source in kept]), is_due=True)


def _rollup_cut(summary: Summary, below: Mapping[tuple[int, str], Cut]) -> Cut:
    named = [(source, below.get((summary.tier - 1, links.name(source.link)))) for source in summary.sources]
    kept = [(source, cut) for source, cut in named if cut is None or not cut.is_bare]
    found = [cut for _, cut in kept if cut]
    lost = sum(cut.before.note_count - cut.after.note_count for _, cut in named if cut)
    is_whole = all(cut for _, cut in named)
    count = sum(cut.after.note_count for cut in found) if is_whole else summary.note_count - lost
    is_due = len(kept) < len(named) or any(cut.is_due for cut in found) or count < summary.note_count
    is_due = is_due or (is_whole and summary.digest == pages.digest(AWAITED))
    if not is_due or not named:
        return Cut(summary, summary, is_due=False)
    spans = [(cut.after.span_from, cut.after.span_to) for cut in found] if is_whole else [_span(summary)]
    return Cut(summary, _with(summary, tuple(source for source, _ in kept), count, spans), is_due=True)


def _span(summary: Summary) -> tuple[datetime, datetime]:
    return summary.span_from, summary.span_to


def _with(
    summary: Summary, kept: tuple[Source, ...], count: int, spans: Sequence[tuple[datetime, datetime]]
) -> Summary:
    firsts, lasts = zip(*(spans if kept else [_span(summary)]), strict=True)
    return replace(summary, sources=kept, note_count=count, span_from=min(firsts), span_to=max(lasts))


# Reading what the plan is made of


def _summaries(census: Census, model: str) -> list[Summary]:
    """List the sound summaries in a model's tiers, whatever their standing."""
    found = census.values(f"{layout.MODELS}/{model}")
    return [file for file in found if isinstance(file, Summary) and not file.problem]


def retired(census: Census, model: str) -> Iterator[Summary]:
    """Read the retired summaries of a model: what they were made from is in no catalog."""
    scope = f"{layout.MODELS}/{model}"
    for file in census.values(scope):
        if isinstance(file, Shaped) and file.kind is Kind.RETIRED:
            with contextlib.suppress(FileNotFoundError, DiskError):
                yield _retired(census, file.path)


def _retired(census: Census, path: str) -> Summary:
    page = census.vault.page(path)
    said = page.text("tier").strip()
    tier = int(said) if said.isascii() and said.isdigit() and len(said) < 4 else 0  # noqa: PLR2004
    read = kinds.read_summary(path, tier, page, census.vault.settings.zone)
    # one that is left without sources was emptied, and is no more broken than that
    is_bare = not page.problem and not pages.links_of(page, "provenance") and page.text("note_count").strip() == "0"
    return replace(read, problem="") if is_bare else read


def planned(census: Census, now: ModelNow, more: Iterable[Version] = ()) -> Plan:
    """Say what of a model is due, with the tombstones that are there and `more` that shall be."""
    known = census.forgotten | {(hashed(handle), digest) for handle, digest in more}
    if not known:
        return Plan()
    marks: dict[str, str] = {}
    digests = {digest for _, digest in known}

    def forgot(handle: str, digest: str) -> bool:
        if digest not in digests:  # most are not, and a hash of each name takes its time
            return False
        mark = marks.get(handle) or marks.setdefault(handle, hashed(handle))
        return (mark, digest) in known

    return plan(now.state, _summaries(census, now.name), list(retired(census, now.name)), forgot)


# What answers show of what is due


def page(census: Census, path: str) -> pages.Page:
    """Read a file as answers show it: of a summary that is due neither its text nor what it names."""
    found = census.vault.page(path)
    return pages.Page(body=TAKEN, fenced=found.fenced) if is_due(census, path) else found


def is_due(census: Census, path: str) -> bool:
    """Whether a summary, as the last refresh found it, still tells of what was forgotten."""
    place = layout.place(path) if census.forgotten else None
    if place is None or place.kind not in {Kind.SUMMARY, Kind.RETIRED}:
        return False
    return path in due(census, place.model)


def due(census: Census, model: str) -> frozenset[str]:
    """Give the paths of a model's summaries that are due, worked out once for as long as the model stands as it is."""
    if not census.forgotten:
        return frozenset()
    now = census.now(model)
    if _DUE not in now.told:
        found = planned(census, now)
        cuts = (*found.emptied, *found.blanked, *found.written, *found.bare)
        now.told[_DUE] = frozenset(cut.before.path for cut in cuts)
    return now.told[_DUE]


def is_named(census: Census, source: Source) -> bool:
    """Whether a summary may name a source in an answer: the name of one that was forgotten holds words of it."""
    return not census.forgotten or (hashed(links.name(source.link)), source.digest) not in census.forgotten


# Doing it


@dataclass(slots=True)
class Settled:
    """What came of it."""

    written: list[str] = field(default_factory=list)
    """Handles of summaries that were written again, and are drafts now."""
    retired: list[str] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)
    """Paths of retired summaries whose text was taken out."""


def settle(tools: Tools, now: ModelNow, done: Settled) -> ModelNow:
    """Do all that is due in one model, whose lock the caller holds; give the model as it is then.

    Every step is known again from the files, so one that was cut short is done by the next writing verb. Raise the
    first error once all that it does not hold up is done.
    """
    errors: list[PyramidError] = []
    for _ in range(ROUNDS):
        found = planned(tools.census, now)
        if not found:
            break
        _act(tools, now, found, done, errors)
        now = tools.census.fresh(now.name)
    if errors:
        raise errors[0]
    return now


def _act(tools: Tools, now: ModelNow, found: Plan, done: Settled, errors: list[PyramidError]) -> None:
    """Carry out a plan; what stands on a summary that could not be written is left for the next time."""
    failed: set[str] = set()

    def tried(cut: Cut, step: Callable[[Cut], object]) -> bool:
        try:
            step(cut)
        except FileNotFoundError:
            return False
        except PyramidError as error:
            errors.append(error)
            failed.add(cut.before.handle)
            return False
        return True

    writing = _Writing(tools, now, found)
    done.emptied += [cut.before.path for cut in found.emptied if tried(cut, writing.empty)]
    for cut in found.blanked:
        tried(cut, writing.blank)
    for cut in found.written:
        below = {links.name(source.link) for source in cut.after.sources if cut.after.tier}
        if below & failed:
            failed.add(cut.before.handle)
        elif tried(cut, writing.rewrite):
            done.written.append(cut.before.handle)
    retires = (cut for cut in found.bare if tried(cut, lambda cut: batches.retire(tools, now.name, cut.before)))
    done.retired += [cut.before.handle for cut in retires]


class _Writing:
    """Texts for the summaries of one model, and what each says of those below it."""

    def __init__(self, tools: Tools, now: ModelNow, found: Plan) -> None:
        self._tools, self._now, self._root = tools, now, tools.census.vault.root
        self._state = found.state or now.state
        self._notes = {note.path: note for note in self._state.notes}
        self._below = batches.Below(tools.census, self._state)
        self._digests: dict[str, str] = {}
        """Of the texts that were written here."""

    def empty(self, cut: Cut) -> None:
        """Take the text out of a retired summary."""
        self._put(cut, EMPTIED)

    def blank(self, cut: Cut) -> None:
        """Take the text out of a summary that waits, and have it written again later."""
        self._put(cut, AWAITED, by=Extractive.name)

    def rewrite(self, cut: Cut) -> None:
        """Write a summary again from what is left."""
        text = self._text(cut.after)
        self._put(cut, text, by=Extractive.name)
        self._digests[cut.before.handle] = pages.digest(text)

    def _text(self, summary: Summary) -> str:
        items = tuple(self._items(summary))
        request = Request(
            model=self._now.name,
            description=self._now.card.description if self._now.card else "",
            tier=summary.tier,
            target=self._tools.census.vault.settings.shape.target(summary.tier),
            items=items,
            notes=lambda: self._below.texts(summary.handle) if summary.tier else (item.text for item in items),
        )
        try:
            return summarizers.write(Extractive(), request) if items else UNREADABLE
        except SummarizerFailed:
            return UNREADABLE

    def _items(self, summary: Summary) -> Iterator[Item]:
        for place, source in zip(self._state.sources[summary.handle], summary.sources, strict=True):
            if summary.tier:
                below = self._state.active[place]
                yield batches.item_of(self._tools, below, kinds.note_text(self._tools.census.vault.page(below.path)))
            elif text := self._version(place, source):
                yield Item(links.name(source.link), "", text)

    def _version(self, place: str, source: Source) -> str:
        """Find the text of a note as it was summarized: its file, or what git keeps; empty where there is none."""
        note = self._notes.get(place)
        where = note.text_path or note.path if note else ""
        for data in self._texts(where, f"{links.name(source.link)}.md"):
            page = pages.read(data)
            if pages.digest(page.body) == source.digest:
                return kinds.note_text(page)
        return ""

    def _texts(self, path: str, name: str) -> Iterator[bytes]:
        if not path:
            yield from (data for _, data in history.versions_named(self._root, name))
            return
        with contextlib.suppress(DiskError, FileNotFoundError):
            yield files.read(self._root / path)
        yield from history.versions(self._root, path)

    def _put(self, cut: Cut, text: str, by: str = "") -> None:
        path = self._root / cut.before.path
        old = files.read(path)
        if (made := self._spelled(old, cut, text, by)) != old:
            files.replace(path, made, old)

    def _spelled(self, old: bytes, cut: Cut, text: str, by: str) -> bytes:
        """Change what the file says of its sources, its text and who wrote it; a person's own lines stay."""
        after = cut.after
        if by:  # it says what its sources say now
            sources = tuple(self._as_it_says(after.tier, source) for source in after.sources)
            after = replace(after, sources=sources, summarizer=by, draft=True)
        try:
            return pages.set_body(_with_keys(old, cut, after), text)
        except RefusedWrite:  # by hand it was spelled so that no line of it can be changed alone
            return kinds.spell_summary(after, text)

    def _as_it_says(self, tier: int, source: Source) -> Source:
        below = self._state.active.get(links.name(source.link)) if tier else None
        known = self._digests.get(below.handle, below.digest) if below else source.digest
        return replace(source, digest=known)


def _with_keys(old: bytes, cut: Cut, after: Summary) -> bytes:
    spelled = pages.as_list(pages.read(old).keys.get("provenance"))
    kept = set(cut.after.sources)
    values = {
        "span_from": after.span_from,
        "span_to": after.span_to,
        "note_count": after.note_count,
        "provenance": [link for link, source in zip(spelled, cut.before.sources, strict=True) if source in kept],
        "digests": [source.digest for source in after.sources],
        "dates": [source.date for source in after.sources],
        "summarizer": after.summarizer,
        "draft": after.draft or None,
    }
    for key, value in values.items():
        old = pages.set_key(old, key, value)
    return old

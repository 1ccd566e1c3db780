"""The vault as it was, read like the present one: from the dates in its files alone, or as a commit of git holds it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from pyramid_fs import comparing, files, history, kinds, layout, pyramid, render, settings, times
from pyramid_fs import format as pages
from pyramid_fs.calls import Shell, word
from pyramid_fs.catalog import Catalog
from pyramid_fs.census import Census, ModelNow
from pyramid_fs.comparing import Snapshot
from pyramid_fs.context import Loaded, Map
from pyramid_fs.errors import DiskError, Problem, PyramidError, UsageError
from pyramid_fs.files import Seen, Sig
from pyramid_fs.notes import Kind, Note, Shaped, Summary
from pyramid_fs.pyramid import Files
from pyramid_fs.vault import Vault, find_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pyramid_fs.comparing import Diff
    from pyramid_fs.format import Page
    from pyramid_fs.history import Commit
    from pyramid_fs.notes import File

SHORT = 10
"""Digits of a commit's id that a person is shown."""
NOW = "now"
"""Names the files as they lie there."""
NEVER = Sig(0, 0, 0, 0)
"""The signature of a file that lies on no disk."""
LAST = datetime.max.replace(tzinfo=UTC)
EDITED = (
    "Texts that were edited or written again since are shown as they are now, and models as they are named, described "
    "and put away now. What was deleted, forgotten or retired since is missing."
)
UNKNOWN = (
    "By dates alone: which notes were revised, moved or deleted, which summaries were written again or retired, which "
    "records were confirmed and what happened to the models themselves, is not known."
)
_TOPS = (layout.MODELS, *layout.SHAPES)
_DATED = re.compile(
    r"\s*\d{4}-\d\d-\d\d(?:(?:[Tt]|[ \t]+)\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?"
    r"[ \t]*(?:(?i:Z|UTC|GMT)|[+-]\d\d(?::?\d\d)?)?)?\s*"
)


@dataclass(frozen=True, slots=True)
class AsOf:
    """What a look back went by."""

    asked: str
    until: datetime
    """What was written up to this time counts."""
    commit: str = ""
    """Empty where it was made from the dates alone."""
    committed: datetime | None = None
    from_dates: bool = False
    """Whether it was asked for that git be left aside."""
    said: tuple[str, ...] = ()
    """What stands above the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastMap(Map):
    """The map as it was."""

    as_of: AsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class PastLoaded(Loaded):
    """Models as they were."""

    as_of: AsOf


def past_map(found: Map, as_of: AsOf) -> PastMap:
    """Say of a map what it goes by."""
    return PastMap(**_fields(found), as_of=as_of)


def past_loaded(found: Loaded, as_of: AsOf) -> PastLoaded:
    """Say of loaded models what they go by."""
    return PastLoaded(**_fields(found), as_of=as_of)


def _fields(value: Map | Loaded) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


class PastShell(Shell):
    """Commands that go on from a look back, and stay in the past."""

    def __init__(self, asked: str, *, from_dates: bool) -> None:
        self._then = f" --as-of {word(asked)}{' --from-dates' if from_dates else ''}"
        self.map, self.load_models = f"{Shell.map}{self._then}", f"{Shell.load_models}{self._then}"

    def map_page(self, page: int) -> str:  # noqa: ARG002
        """Spell `map`, which has one page."""
        return self.map

    def load(self, names: Sequence[str]) -> str:
        """Spell `load --as-of`."""
        return f"{super().load(names)}{self._then}"

    def tier(self, model: str, tier: str, page: int) -> str:
        """Spell `load --tier --as-of`."""
        return f"{super().tier(model, tier, page)}{self._then}"


# A vault that lies in a commit


@dataclass(frozen=True, slots=True)
class Kept(Vault):
    """A vault whose files are what git gave; nothing of it is read from the disk, and nothing written."""

    data: Mapping[str, bytes] = field(default_factory=dict)
    touched: datetime = times.EPOCH
    """Of every file: git keeps no modification times, so an undated note is as old as its commit."""

    def page(self, path: str) -> Page:
        """Take apart the file at `path`; raise FileNotFoundError where there is none."""
        if path not in self.data:
            raise FileNotFoundError(path)
        return pages.read(self.data[path])

    def value(self, seen: Seen) -> tuple[File | None, str]:
        """Read the value of a file; its mark is not needed."""
        place, zone = layout.place(seen.path), self.settings.zone
        return kinds.read(seen.path, place, self.page(seen.path), self.touched, zone) if place else None, ""

    def ledger(self) -> Iterator[dict[str, Any]]:
        """Yield every line of every ledger file; a line that can't be read is passed over."""
        for path in sorted(path for path in self.data if path.startswith(f"{layout.LEDGER}/")):
            yield from ledger_lines(self.data[path])

    def ledger_mark(self) -> tuple[tuple[str, Sig | None], ...]:
        """Give the same value always: a commit does not change."""
        return ((layout.LEDGER, None),)


def ledger_lines(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the lines of a ledger file that can be read."""
    for line in data.decode("utf-8", "replace").split("\n"):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry


def keep(vault: Vault, commit: Commit, tree: Mapping[str, str]) -> Kept:
    """Read all that a commit holds of a vault, under the settings of that time where they can be read."""
    wanted = {path: blob for path, blob in tree.items() if path == layout.SETTINGS or is_read(path)}
    given = history.blobs(vault.root, wanted.values())
    data = {path: given[blob] for path, blob in wanted.items()}
    return Kept(vault.root, _settings_of(vault, data.get(layout.SETTINGS)), data, commit.at)


def is_read(path: str) -> bool:
    """Whether a file is one that the store reads: what a walk of the disk would come to, and the ledgers."""
    *above, name = path.split("/")
    if any(layout.is_tool_folder(folder) for folder in above):
        return False
    if above == [layout.LEDGER]:
        return ".jsonl" in name and not name.startswith(".")
    return layout.place(path) is not None


def _settings_of(vault: Vault, data: bytes | None) -> settings.Settings:
    if data is None:
        return vault.settings
    try:
        return settings.read_vault(pages.decode(data)[0], layout.SETTINGS, find_zone)
    except PyramidError:
        return vault.settings


class KeptCensus(Census):
    """What a commit holds, read once."""

    def __init__(self, kept: Kept) -> None:
        super().__init__(kept, Catalog(None, kept.settings.zone_name))
        self._names = models_in(kept.data)
        self._read_tombstones()
        found = sorted(path for path in kept.data if layout.place(path))
        self.catalog.update([], (Seen(path, NEVER) for path in found), [], kept.value)

    def models(self) -> list[str]:
        """List the models of that time."""
        return self._names

    def refresh(self, models: Iterable[str] | None = None) -> None:
        """Leave all as it is: a commit does not change."""


def models_in(paths: Iterable[str]) -> list[str]:
    """List the models that files lie in."""
    parts = (path.split("/", 2) for path in paths if path.startswith(f"{layout.MODELS}/"))
    return sorted({part[1] for part in parts if len(part) > 2 and not layout.is_tool_folder(part[1])})  # noqa: PLR2004


# A vault that stopped at a time, by the dates in its files


class DatedCensus(Census):
    """The present files as far as they are dated at or before a time, as they are now."""

    def __init__(self, present: Census, until: datetime) -> None:
        super().__init__(present.vault, Catalog(None, present.vault.settings.zone_name))
        self._present, self._until = present, until

    def models(self) -> list[str]:
        """List the models of now: a folder has no date."""
        return self._present.models()

    def refresh(self, models: Iterable[str] | None = None) -> None:
        """Bring the present up to date."""
        self._present.refresh(models)
        self.shut = self._present.shut
        self._models.clear()

    def now(self, model: str) -> ModelNow:
        """Give a model as it would be had it stopped then; a broken summary, which has no date, is left out."""
        if model not in self._models:
            present, summaries, retired = self._present.now(model), [], []
            for file in self._files(model):
                if isinstance(file, Summary) and not file.problem and file.created <= self._until:
                    summaries.append(file)
                elif isinstance(file, Shaped) and file.kind is Kind.RETIRED:
                    retired.append(file.handle)
            notes = tuple(note for note in present.state.notes if self._since(note) <= self._until)
            held = Files(model, notes, tuple(summaries), frozenset(retired))
            self._models[model] = ModelNow(model, present.card, pyramid.derive(held), present.shut)
        return self._models[model]

    def is_later(self, model: str) -> bool:
        """Whether nothing of a model is as old as that."""
        then, now = self.now(model).state, self._present.now(model).state
        return not then.notes and not then.active and bool(now.notes or now.active)

    def _files(self, model: str) -> Iterator[File]:
        for path, row in self._present.catalog.rows(f"{layout.MODELS}/{model}").items():
            if row.file is not None and not self._present.is_shut(path):
                yield row.file

    def _since(self, note: Note) -> datetime:
        """Give the time since which a note is in its model: an embed may be younger than the text that it shows."""
        row = self._present.catalog.row(note.path) if note.embed else None
        own = row.file if row else None
        return max(note.created, own.created) if isinstance(own, Note) else note.created


# Finding what is meant


def is_dated(asked: str) -> bool:
    """Whether a text is a date or a time and nothing else, though perhaps none that the calendar knows."""
    return _DATED.fullmatch(asked) is not None


def moment(asked: str | datetime, present: Census) -> tuple[str, datetime]:
    """Read a time, or a date, which means the end of that day in the vault's zone; raise UsageError for neither."""
    if not isinstance(asked, str):
        return times.spell(asked), asked
    if not is_dated(asked):
        raise UsageError(f"{asked[:60]!r} is no date like 2026-11-29 and no time like 2026-11-29T20:15Z")
    try:
        return asked.strip(), times.day_end(asked, present.vault.settings.zone)
    except ValueError as error:
        raise UsageError(str(error)) from None


def is_future(asked: str | datetime, present: Census, now: datetime) -> bool:
    """Whether a date or time is later than now: a date, if its day has not begun."""
    if not isinstance(asked, str):
        return asked > now
    try:
        return is_dated(asked) and times.parse(asked, present.vault.settings.zone) > now
    except ValueError:
        return False


def look_back(
    present: Census, asked: str | datetime, now: datetime, *, from_dates: bool = False
) -> tuple[Census, AsOf]:
    """Find the vault as it was at a time: in git where that reaches back so far, else by the dates alone.

    In the future it is as it is now, which is not what the last commit holds.
    """
    text, until = moment(asked, present)
    vault = present.vault
    if is_future(asked, present, now):
        coming = f"As of {text}, which is in the future: the memory as it is now."
        return DatedCensus(present, until), AsOf(text, until, from_dates=from_dates, said=(coming,))
    if commit := None if from_dates else _commit_at(vault.root, until):
        past = _kept_census(vault, commit)
        said = _said_of_git(text, commit, _forgotten_since(past, present))
        return past, AsOf(text, until, commit.id, commit.at, said=said)
    in_vain = not from_dates and history.is_inside(vault.root)
    why = ", as git holds nothing of this vault that is as old" if in_vain else ""
    return DatedCensus(present, until), AsOf(text, until, from_dates=from_dates, said=_said_of_dates(text, why))


def _commit_at(root: Path, until: datetime) -> Commit | None:
    """Find the commit that says how the vault was at a time; None where git does not reach back so far."""
    commit = history.commit_at(root, until)
    return commit if commit and history.holds(root, commit.id, (layout.SETTINGS, layout.MODELS)) else None


def _kept_census(vault: Vault, commit: Commit) -> Census:
    return KeptCensus(keep(vault, commit, history.tree(vault.root, commit.id)))


def _said_of_git(asked: str, commit: Commit, forgotten: int) -> tuple[str, ...]:
    where = f"from the commit {commit.id[:SHORT]} of {times.spell(commit.at)}"
    lines = [f"As of {asked}, {where}; what was not committed then is not in it. Nothing of it is the present."]
    if forgotten:
        are = f"{forgotten} notes in it were" if forgotten > 1 else "1 note in it was"
        lines.append(f"{are} forgotten since: git still holds the text.")
    return tuple(lines)


def _said_of_dates(asked: str, why: str) -> tuple[str, ...]:
    return f"As of {asked}, from the dates alone{why}. Nothing of it is the present.", EDITED


def _forgotten_since(past: Census, present: Census) -> int:
    marks = tombstones(present.vault).keys() - past.forgotten
    notes = (file for file in past.values() if isinstance(file, Note)) if marks else ()
    return sum((comparing.hashed(note.handle), note.digest) in marks for note in notes)


def as_text(found: PastMap | PastLoaded) -> str:
    """Show the past under the lines that say what it goes by; the calls in it stay in the past."""
    calls = PastShell(found.as_of.asked, from_dates=found.as_of.from_dates)
    text = render.map_text(found, calls) if isinstance(found, PastMap) else render.loaded_text(found, calls)
    return "\n".join([*found.as_of.said, text])


def without_later(past: Census, found: Map, as_of: AsOf) -> tuple[Map, AsOf]:
    """Leave models off a map of which nothing is as old as that, and say so: a folder has no date."""
    if not isinstance(past, DatedCensus):
        return found, as_of
    later = [name for name in (*(line.name for line in found.models), *found.archived) if past.is_later(name)]
    if not later:
        return found, as_of
    lines = tuple(line for line in found.models if line.name not in later)
    archived = tuple(name for name in found.archived if name not in later)
    said = f"Left off, as nothing of them is as old as that: {', '.join(later)}."
    return replace(found, models=lines, archived=archived), replace(as_of, said=(*as_of.said, said))


# Two states to compare


@dataclass(frozen=True, slots=True)
class End:
    """One end of a comparison, as it was asked for."""

    asked: str
    until: datetime | None = None
    """Of a date or time; None for a commit, and for now."""
    commit: Commit | None = None
    """None for now, and where git does not reach back so far."""
    is_future: bool = False
    """Whether it is yet to come: then it is now."""

    @property
    def is_now(self) -> bool:
        """Whether it is the files as they lie there."""
        return self.is_future or (self.until is None and self.commit is None)

    @property
    def is_by_dates(self) -> bool:
        """Whether only dates tell what it was."""
        return self.until is not None and self.commit is None and not self.is_future

    @property
    def label(self) -> str:
        """Say in words what it is."""
        if self.is_future:
            return f"{self.asked}, which is in the future: the files as they lie there"
        if self.is_now:
            return "now, the files as they lie there"
        if self.commit is None:
            return f"{self.asked}, by the dates in the files alone"
        return f"{self.asked}: the commit {self.commit.id[:SHORT]} of {times.spell(self.commit.at)}"


def end(present: Census, asked: str | datetime | None, now: datetime) -> End:
    """Find what a person named: a date, a time, a commit; None or `now` for the present. Raise UsageError."""
    root = present.vault.root
    if asked is None or asked == NOW:
        return End(NOW)
    if not isinstance(asked, str) or is_dated(asked):
        text, until = moment(asked, present)
        if is_future(asked, present, now):
            return End(text, until, is_future=True)
        return End(text, until, _commit_at(root, until))
    if commit := history.commit_named(root, asked):
        return End(asked, None, commit)
    shown = asked[:60]
    if history.is_inside(root):
        raise UsageError(
            f"git knows no commit {shown!r} here, and it is no date like 2026-11-29: `git log` lists commits"
        )
    raise UsageError(f"{shown!r} is no date like 2026-11-29, and this vault has no commits in git to go by")


def compared(present: Census, since: str | datetime, until: str | datetime | None, now: datetime) -> Diff:
    """Say what changed between two dates, times or commits, or from one to now.

    Raise UsageError for what is neither.
    """
    present.models()  # where the vault is gone, nothing is taken as deleted
    first, last = end(present, since, now), end(present, until, now)
    if first.until and last.until and first.until > last.until:
        raise UsageError(f"{first.asked} comes after {last.asked}: give the earlier one first")
    reads = _by_dates if first.is_by_dates or last.is_by_dates else _by_files
    old, new, said = reads(present, first, last)
    found = comparing.compare(old, new, present.vault.settings.zone)
    return replace(found, vault=str(present.vault.root), since=first.label, until=last.label, said=said)


_Ends: TypeAlias = "tuple[Snapshot, Snapshot, tuple[str, ...]]"


def _by_dates(present: Census, first: End, last: End) -> _Ends:
    """Cut one state off at two times."""
    held = first if last.is_by_dates else last
    whole = _whole(_kept_census(present.vault, held.commit) if held.commit else present)
    zone = present.vault.settings.zone

    def cut(one: End) -> Snapshot:
        at = one.until if one.until and one.is_by_dates else LAST
        return comparing.stopped(whole, at, times.day(at, zone))

    return cut(first), cut(last), (UNKNOWN,)


def _whole(census: Census) -> Snapshot:
    """Give all that the vault holds, notes with the dates that bind."""
    census.refresh()
    found: dict[str, File] = {f.path: f for top in _TOPS for f in census.values(top) if not isinstance(f, Note)}
    for model in census.models():
        found |= {note.path: note for note in census.now(model).state.notes}
    return Snapshot(found, frozenset(census.models()), tombstones(census.vault), _reader(census.vault))


def _by_files(present: Census, first: End, last: End) -> _Ends:
    """Read of two states the files that are not the same in both."""
    vault, shut = present.vault, list[Problem]()
    like = next((one.commit.id for one in (first, last) if one.commit), "")
    old, new = (_listing(vault, one, like, shut) for one in (first, last))
    known = {path for path in old.keys() | new.keys() if not any(path.startswith(f"{p.path}/") for p in shut)}
    other = {path for path in known if old.get(path) != new.get(path) or path.startswith(f"{layout.LEDGER}/")}
    states = (_state(vault, one, listing, known, other) for one, listing in ((first, old), (last, new)))
    said = tuple(f"{problem.path} can't be read, and what lies in it is not compared." for problem in shut)
    return (*states, said)  # type: ignore[return-value]


def _listing(vault: Vault, one: End, like: str, shut: list[Problem]) -> dict[str, str]:
    """Give path → blob of the files that the store reads."""
    if one.commit:
        return {path: blob for path, blob in history.tree(vault.root, one.commit.id).items() if is_read(path)}
    found = [seen.path for top in _TOPS for seen in files.walk(vault.root, top, shut)]
    return {path: _blob(vault.root, path, like) for path in found}


def _blob(root: Path, path: str, like: str) -> str:
    """Give the id that git would have for a file; none, which no file has in git, where it can't be read."""
    try:
        return history.blob_id(files.read(root / path), like)
    except (DiskError, FileNotFoundError):
        return ""


def _state(vault: Vault, one: End, listing: Mapping[str, str], known: set[str], wanted: Collection[str]) -> Snapshot:
    paths = sorted(path for path in listing if path in wanted)
    if one.commit:
        given = history.blobs(vault.root, [listing[path] for path in paths])
        vault = Kept(vault.root, vault.settings, {path: given[listing[path]] for path in paths}, one.commit.at)
    found: dict[str, File] = {}
    for path in paths:
        sig = NEVER if one.commit else files.look(vault.root / path)
        file = vault.value(Seen(path, sig))[0] if sig else None
        found |= {path: file} if file else {}
    return Snapshot(found, frozenset(models_in(known & listing.keys())), tombstones(vault), _reader(vault))


def _reader(vault: Vault) -> Callable[[File], str]:
    def read(file: File) -> str:
        try:
            return kinds.note_text(vault.page(file.path))
        except (FileNotFoundError, DiskError):
            return ""

    return read


def tombstones(vault: Vault) -> dict[tuple[str, str], datetime | None]:
    """Give (SHA-256 of the handle, digest) → when of each tombstone."""
    found: dict[tuple[str, str], datetime | None] = {}
    for entry in vault.ledger():
        if "forgot" in entry:
            found[str(entry["forgot"]), str(entry.get("digest", ""))] = _when(str(entry.get("at", "")))
    return found


def _when(text: str) -> datetime | None:
    try:
        return times.parse(text, UTC)
    except ValueError:
        return None

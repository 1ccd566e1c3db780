"""Has what still arrives under the old name of a renamed model follow it: git moves no folder that one side alone made.

The ledger says which models were renamed. A folder of such a name that has no card is no model of its own: what lies
in it goes to the same place under the new name, file by file and never over another.
"""

from __future__ import annotations

import contextlib
import shlex
import unicodedata
from dataclasses import replace
from datetime import UTC
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import files, layout, links, times
from pyramid_fs.errors import DiskError, ExistsAlready, Locked, Problem, RefusedWrite
from pyramid_fs.issue import grow_lock
from pyramid_fs.notes import Kind, Source, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from pyramid_fs.census import Census, ModelNow

LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""What file managers leave in a folder: it goes with the folder."""
TEMP = ".pyramid-"
"""A file that somebody is writing just now begins so; it is moved once it has its name."""


_Mark = tuple[str, str]
"""A note's handle and digest, or a summary's handle and nothing."""


class Fate(StrEnum):
    """What becomes of a file under an old name."""

    MOVES = "moves"
    GOES = "goes"
    """The same bytes lie there already."""
    STAYS = "stays"
    """Another text lies there."""


class Step(NamedTuple):
    """One file, and where it belongs."""

    path: str
    to: str
    fate: Fate


class Carried(NamedTuple):
    """What came of it: the paths that files have now, those that had to stay, and those where none is left."""

    moved: list[str]
    stays: list[str]
    left: list[str]


# What the ledger says


def line(old: str, new: str, now: datetime, before: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Spell the ledger line of a rename: later than every other one, whatever another machine's clock said."""
    last = max((at for at, _, _ in _lines(before)), default=None)
    return {"renamed": old, "to": new, "at": times.spell(max(now, times.after(last)) if last else now)}


def followed(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Give old name → the name that its model has now, both NFC; a name that a model was renamed to again is none."""
    now = dict[str, str]()
    for _, old, new in sorted(_lines(entries)):
        now |= {name: new for name, there in now.items() if there == old}
        now[old] = new
        now.pop(new, None)
    return now


def _lines(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[datetime, str, str]]:
    for entry in entries:
        old, new = entry.get("renamed"), entry.get("to")
        if isinstance(old, str) and isinstance(new, str) and old != new:
            with contextlib.suppress(ValueError):
                at = times.parse(str(entry.get("at", "")), UTC)
                yield at, unicodedata.normalize("NFC", old), unicodedata.normalize("NFC", new)


# What is left under an old name


def left(census: Census) -> dict[str, str]:
    """Give the folders of old names that are still there, each with the model that they belong to."""
    names = followed(census.renames)
    if not names:
        return {}
    there = {unicodedata.normalize("NFC", model): model for model in census.models()}
    found = {there[old]: there[new] for old, new in names.items() if old in there and new in there}
    return {old: new for old, new in found.items() if not has_card(census, old)}


def has_card(census: Census, model: str) -> bool:
    """Whether a folder is a model that somebody made, and no rest of one."""
    return files.look(census.vault.root / layout.card_path(model)) is not None or census.fresh(model).card is not None


def plan(root: Path, old: str, new: str) -> list[Step]:
    """Say what becomes of each file under an old name."""
    top = f"{layout.MODELS}/{old}/"
    found = [path for path in files.everything(root, top) if not _is_passing(path.rpartition("/")[2])]
    steps = [(path, f"{layout.MODELS}/{new}/{path.removeprefix(top)}") for path in found]
    return [Step(path, to, _fate(root, path, to)) for path, to in steps]


def _is_passing(name: str) -> bool:
    return name in LITTER or name.startswith(TEMP)


def _fate(root: Path, path: str, to: str) -> Fate:
    place = layout.place(to)
    if place and place.kind is Kind.CARD:
        return Fate.STAYS  # a note that would speak for the whole model there
    if not (root / to).exists():
        return Fate.MOVES
    try:
        return Fate.GOES if files.read(root / path) == files.read(root / to) else Fate.STAYS
    except (FileNotFoundError, DiskError):
        return Fate.STAYS


def problems(census: Census) -> Iterator[Problem]:
    """Yield what lies under an old name, and what a rename by hand left so."""
    known = left(census)
    for old, new in known.items():
        steps = plan(census.vault.root, old, new)
        for step in steps:
            if step.fate is Fate.STAYS:
                reason = f"it lies under the old name of {new}, and {step.to} says something else"
                yield Problem(step.path, reason, f"move it into models/{new} under another name, or delete it")
        if any(step.fate is not Fate.STAYS for step in steps):
            reason = f"it is what came under the old name of {new}"
            yield Problem(f"{layout.MODELS}/{old}", reason, f"`pyramid advance {shlex.quote(new)}` moves it there")
    bare = [model for model in census.models() if model not in known and not census.now(model).card]
    found = _Links(census) if bare else None
    for old in bare:
        if found and (new := found.home(old)):
            reason = f"it has no card, and it and the summaries in {new} are of one model"
            command = f"pyramid model rename {shlex.quote(old)} {shlex.quote(new)}"
            yield Problem(f"{layout.MODELS}/{old}", reason, f"`{command}` moves it there")


class _Links:
    """What lies in each model and what its summaries name, to tell which folders are of one model."""

    def __init__(self, census: Census) -> None:
        self._held, self._lost, self._named = dict[str, set[_Mark]](), dict[str, set[_Mark]](), dict[str, int]()
        summaries: dict[str, list[Summary]] = {}
        for file in census.values():
            if isinstance(file, Summary):
                summaries.setdefault(file.path.split("/")[1], []).append(file)
        for model in census.models():
            made = summaries.get(model, [])
            notes = {(note.handle, note.digest) for note in census.now(model).state.notes if note.digest}
            self._held[model] = notes | {(summary.handle, "") for summary in made}
            named = {(links.name(s.link), "" if tier else s.digest) for tier, s in _sources(made)}
            self._named[model], self._lost[model] = len(named), named - self._held[model]
        self._missing = [model for model, lost in self._lost.items() if lost]

    def home(self, model: str) -> str:
        """Give the other model that names most of what lies here, or holds most of what is named here; else nothing.

        A note or some that a person moved from one model to another do not make the two one.
        """
        here, named = self._held[model], self._named[model]
        missed = self._held if self._lost[model] else self._missing
        found = {other: self._shared(model, other) for other in missed if other != model}
        best = max(found, key=lambda other: sum(found[other]), default="")
        held_there, named_there = found.get(best, (0, 0))
        is_most = 2 * named_there > len(here) or 2 * held_there > named
        return best if is_most and held_there + named_there > 1 else ""

    def _shared(self, model: str, other: str) -> tuple[int, int]:
        """Count what is named here and lies in the other model, and what lies here and is named there."""
        return len(self._lost[model] & self._held[other]), len(self._lost[other] & self._held[model])


def _sources(made: list[Summary]) -> Iterator[tuple[int, Source]]:
    return ((summary.tier, source) for summary in made for source in summary.sources)


# Moving it


def carry(root: Path, old: str, new: str) -> Carried:
    """Move what lies under an old name; the caller holds the locks of both. What a kill leaves is moved the next time.

    Raise DiskError.
    """
    done = Carried([], [], [])
    for step in plan(root, old, new):
        fate = step.fate
        if fate is Fate.MOVES:
            try:
                files.move(root / step.path, root / step.to)
                done.moved.append(step.to)
                done.left.append(step.path)
            except (ExistsAlready, RefusedWrite):  # it came meanwhile, or a link leads elsewhere
                fate = Fate.STAYS
        elif fate is Fate.GOES and _removed(root, step):
            done.left.append(step.path)
        elif fate is Fate.GOES:
            fate = Fate.STAYS
        if fate is Fate.STAYS:
            done.stays.append(step.path)
    _remove_empty(root / layout.MODELS / old)
    return done


def _removed(root: Path, step: Step) -> bool:
    """Remove a file whose bytes lie under the new name, too; False where that is so no more."""
    try:
        files.remove(root / step.path, files.read(root / step.to))
    except (FileNotFoundError, RefusedWrite):
        return False
    return True


def _remove_empty(folder: Path) -> None:
    """Remove a folder and those in it, as far as nothing but litter lies there."""
    with contextlib.suppress(OSError):
        for each in list(folder.iterdir()):
            if each.is_dir() and not each.is_symlink():
                _remove_empty(each)
        rest = list(folder.iterdir())
        if all(each.name in LITTER for each in rest):
            for each in rest:
                each.unlink()
            folder.rmdir()


def settle(census: Census, cache: Path, model: str) -> ModelNow:
    """Bring together what lies under the names of one model, whose lock the caller holds; give it as it is then.

    A folder of an old name does not grow; raise Locked where it can't be moved now.
    """
    now, stays = census.fresh(model), list[str]()
    for old, new in left(census).items():
        if model not in {old, new}:
            continue
        try:
            with files.locked(cache / grow_lock(new if model == old else old), 0.0):
                done = carry(census.vault.root, old, new)
        except Locked:
            if model == old:
                raise
            continue
        stays += done.stays if model == old else []
        census.refresh([old, new])
        now = census.now(model)
    held = tuple(Problem(path, "it lies under the old name of a model; see `pyramid doctor`") for path in stays)
    return replace(now, shut=(*now.shut, *held)) if held else now


def settle_all(census: Census, cache: Path, wait: float) -> Carried:
    """Bring together what lies under the old names of all models."""
    done = Carried([], [], [])
    for old, new in left(census).items():
        for known, more in zip(done, carry_locked(census, cache, old, new, wait), strict=True):
            known.extend(more)
    return done


def carry_locked(census: Census, cache: Path, old: str, new: str, wait: float) -> Carried:
    """Move what lies under an old name, with the locks of both models."""
    first, second = sorted((old, new))
    with files.locked(cache / grow_lock(first), wait), files.locked(cache / grow_lock(second), wait):
        done = carry(census.vault.root, old, new)
    census.refresh([old, new])
    return done

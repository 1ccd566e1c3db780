"""Folders that a sync tool keeps alike: files arrive in any order, cut off at first, and conflict copies are left."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from pyramid_fs import layout
from simulation import checks, world
from simulation.world import Machine, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

ROUNDS = 60
"""So many rounds all folders may need in the end until none has anything new."""
OWN = {"meet": 18, "arrive": 24, "go": 2, "rename": 0.2}
"""How often folders meet, files arrive, a machine goes off or comes back, and a model is renamed."""


@dataclass(frozen=True)
class Plan:
    """How large a run is, which tool carries the files, and what may happen."""

    folders: int = 4
    steps: int = 600
    seed: int = 7
    tool: str = "syncthing"
    often: Mapping[str, float] = field(default_factory=dict)
    """Steps that happen more or less often than they would; 0 is never."""
    look: int = 8
    """After so many steps the folder that was changed last is held against the checker."""
    stop_at: int = 10


@dataclass(frozen=True)
class Entry:
    """One version of a file as the tool knows it: who changed it how often, what it holds (None: deleted), and when."""

    vector: tuple[tuple[str, int], ...]
    data: bytes | None
    mtime: int

    def by(self, name: str, data: bytes | None, mtime: int) -> Entry:
        """Give the version that a machine made of it."""
        counts = dict(self.vector)
        counts[name] = counts.get(name, 0) + 1
        return Entry(tuple(sorted(counts.items())), data, mtime)

    def has_seen(self, other: Entry) -> bool:
        """Whether this version was made with the other before its eyes, or is it."""
        counts = dict(self.vector)
        return all(counts.get(name, 0) >= count for name, count in other.vector)

    def with_seen(self, other: Entry) -> Entry:
        """Give this version, made to have seen the other."""
        counts = dict(self.vector)
        for name, count in other.vector:
            counts[name] = max(count, counts.get(name, 0))
        return Entry(tuple(sorted(counts.items())), self.data, self.mtime)


NEW = Entry((), None, 0)


@dataclass
class Folder(Machine):
    """A machine whose copy of the vault a sync tool looks after."""

    tool: str = "syncthing"
    known: dict[str, Entry] = field(default_factory=dict)
    incoming: dict[str, Entry] = field(default_factory=dict)
    partial: dict[str, bytes] = field(default_factory=dict)
    """Files that are cut off for now, and what of them is there."""
    is_off: bool = False

    def scan(self) -> int:
        """Take in what people and the store changed here; count it."""
        there = {path.relative_to(self.root).as_posix(): path for path in self.root.rglob("*") if path.is_file()}
        changed = 0
        for name, path in sorted(there.items()):
            data, known = path.read_bytes(), self.known.get(name, NEW)
            if not _is_temp(path.name) and data != known.data and self.partial.get(name) != data:
                self.known[name] = known.by(self.name, data, path.stat().st_mtime_ns)
                self.partial.pop(name, None)
                changed += 1
        for name in sorted(self.known):
            if name not in there and self.known[name].data is not None and name not in self.partial:
                self.known[name] = self.known[name].by(self.name, None, int(self.clock().timestamp() * 10**9))
                changed += 1
        return changed

    def ask(self, other: Folder) -> None:
        """Note what another folder has that this one has not seen."""
        for name, entry in sorted(other.known.items()):
            if not self.known.get(name, NEW).has_seen(entry):
                self.incoming[name] = entry

    def arrive(self, name: str, chance: Callable[[], float]) -> None:
        """Let one file come in, or a part of it."""
        entry, path = self.incoming[name], self.root / name
        if entry.data and name not in self.partial and chance() < 0.15 and self._is_plain(name, entry):
            path.parent.mkdir(parents=True, exist_ok=True)
            cut = entry.data[: int(len(entry.data) * chance())]
            if chance() < 0.5:
                _temp(path, self.tool).write_bytes(cut)
                return
            # a tool that writes in place, or a disk that was full for a moment
            path.write_bytes(cut)
            self.partial[name] = cut
            self.world.counts["files cut off for a while"] += 1
            return
        del self.incoming[name]
        self.take(name, entry)

    def _is_plain(self, name: str, entry: Entry) -> bool:
        """Whether a version only has to be put in its place."""
        path, known = self.root / name, self.known.get(name, NEW)
        data = path.read_bytes() if path.is_file() else None
        return entry.has_seen(known) and data == known.data

    def take(self, name: str, entry: Entry) -> None:
        """Take in a version that is all here: in its place, or beside what was written here meanwhile."""
        path, known = self.root / name, self.known.get(name, NEW)
        cut = self.partial.pop(name, None)
        data = path.read_bytes() if path.is_file() else None
        if cut is not None and data == cut:
            data = known.data
        if data != known.data:  # changed here since the last scan
            known = known.by(self.name, data, path.stat().st_mtime_ns if data is not None else 0)
            self.known[name] = known
        if known.has_seen(entry):
            self._put(name, known)
        elif entry.has_seen(known):
            self._put(name, entry)
        else:
            self._settle(name, known, entry)

    def _settle(self, name: str, known: Entry, entry: Entry) -> None:
        """Settle two versions of which neither has seen the other: a text wins over a deletion, else the later one."""
        if known.data == entry.data:
            self._put(name, known.with_seen(entry))
        elif known.data is None:
            self._put(name, self._chosen(entry, known))
        elif entry.data is None:
            self._put(name, self._chosen(known, entry))
        elif (entry.mtime, entry.data) > (known.mtime, known.data):
            copy = self._name_copy(name)
            (self.root / copy).write_bytes(known.data)
            self.date(self.root / copy)
            self.world.counts["conflict copies made"] += 1
            self._put(name, self._chosen(entry, known))
        else:  # the other folder makes the copy when ours comes there
            self._put(name, known)

    def _chosen(self, one: Entry, other: Entry) -> Entry:
        """Give the version that stays, as one that was chosen here: another machine may have chosen otherwise."""
        return one.with_seen(other).by(self.name, one.data, one.mtime)

    def _name_copy(self, name: str) -> str:
        stem, now = name.removesuffix(".md"), self.clock()
        while True:
            number = self.world.number()
            if self.tool == "dropbox":
                more = f" ({number})" if number % 3 == 0 else ""
                made = f"{stem} ({self.name}'s conflicted copy {now:%Y-%m-%d}){more}.md"
            else:
                made = f"{stem}.sync-conflict-{now:%Y%m%d-%H%M%S}-{self.name.upper():A>7}.md"
            if not (self.root / made).exists():
                return made
            now += timedelta(seconds=number)

    def _put(self, name: str, entry: Entry) -> None:
        path = self.root / name
        self.known[name] = entry
        for tool in TEMPS:
            _temp(path, tool).unlink(missing_ok=True)
        if entry.data is None:
            path.unlink(missing_ok=True)
            for folder in path.parents[: len(path.relative_to(self.root / name.split("/", maxsplit=1)[0]).parts) - 1]:
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
            return
        if path.is_file() and path.read_bytes() == entry.data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = _temp(path, self.tool)
        temp.write_bytes(entry.data)
        os.utime(temp, ns=(entry.mtime, entry.mtime))
        temp.replace(path)


TEMPS = {"syncthing": ".syncthing.{}.tmp", "windows": "~syncthing~{}.tmp", "dropbox": ".~{}"}
"""How the tools name a file that is not all here."""


def _temp(path: Path, tool: str) -> Path:
    return path.with_name(TEMPS[tool].format(path.name))


def _is_temp(name: str) -> bool:
    return name.startswith((".syncthing.", "~syncthing~", ".~", ".pyramid-"))


@dataclass
class Run:
    """One simulation."""

    plan: Plan
    top: Path
    world: World = field(init=False)
    folders: list[Folder] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.world = World(Random(self.plan.seed))
        for number in range(self.plan.folders):
            skew = timedelta(hours=self.world.random.choice((0, -3, 2, 26)), seconds=number)
            folder = Folder(self.world, f"m{number:02}", self.top / f"m{number:02}", skew, tool=self.plan.tool)
            folder.root.mkdir(parents=True)
            self.folders.append(folder)
        first, *others = self.folders
        first.root.rmdir()
        world.new_vault(first.root)
        first.scan()
        for other in others:
            other.ask(first)
            for name in sorted(other.incoming):
                other.take(name, other.incoming.pop(name))
            for top in layout.FOLDERS:
                (other.root / top).mkdir(exist_ok=True)

    def steps(self) -> Iterator[str]:
        """Do one step after the other, each in a folder of its own; yield its name."""
        often = {**{name: weight for name, (weight, _) in world.STEPS.items()}, **OWN, **self.plan.often}
        names, weights, chance = list(often), list(often.values()), self.world.random
        for number in range(self.plan.steps):
            self.world.now += timedelta(minutes=chance.choice((1, 5, 20, 60)))
            name, folder = chance.choices(names, weights)[0], chance.choice(self.folders)
            try:
                if name in OWN:
                    getattr(self, name)(folder)
                else:
                    world.STEPS[name][1](self.world, folder)
                if number % self.plan.look == 0:
                    found = checks.sound(folder, is_whole=not folder.partial)
                    self.faults += (f"step {number}: {folder.name}: {fault}" for fault in found)
            except Exception as error:
                said = f"step {number}, {name} in {folder.name}, seed {self.plan.seed}, {self.plan.tool}"
                raise AssertionError(said) from error
            yield name
            if len(self.faults) >= self.plan.stop_at:
                return

    def meet(self, folder: Folder) -> None:
        """Have a folder tell the others what is new in it, and hear from them, as far as they are there."""
        folder.scan()
        for other in self.folders:
            if other is not folder and not folder.is_off and not other.is_off:
                other.scan()
                folder.ask(other)
                other.ask(folder)

    def arrive(self, folder: Folder) -> None:
        """Let some of what is on its way come in, in any order."""
        names, chance = sorted(folder.incoming), self.world.random
        for name in chance.sample(names, chance.randint(0, min(len(names), 20))):
            folder.arrive(name, chance.random)

    def go(self, folder: Folder) -> None:
        """Have a machine go off for long, or come back."""
        folder.is_off = not folder.is_off

    def rename(self, folder: Folder) -> None:
        """Have a person rename a model, when all machines are alike: what others write meanwhile does not go along."""
        self.become_one()
        world.rename_model(self.world, folder)
        self.become_one()

    def become_one(self) -> bool:
        """Bring everything everywhere, whole; whether anything was new."""
        is_new = False
        for folder in self.folders:
            folder.is_off = False
        for _ in range(ROUNDS):
            for folder in self.folders:
                self.meet(folder)
            moved = False
            for folder in self.folders:
                for name in self.world.random.sample(sorted(folder.incoming), len(folder.incoming)):
                    folder.take(name, folder.incoming.pop(name))
                    moved = True
            is_new = is_new or moved
            if not moved and not any(folder.scan() for folder in self.folders):
                return is_new
        self.faults.append(f"after {ROUNDS} rounds files are still on their way")
        return is_new

    def settle(self) -> None:
        """Have all folders become one and grow, until none has anything new."""
        self.world.now += timedelta(days=40)
        for number in range(ROUNDS):
            self.world.now += timedelta(days=3)
            is_new = self.become_one()
            for folder in self.folders:
                done = folder.memory.advance()
                assert done.failed == (), done.failed
                self.world.counts["losers retired"] += len(done.retired)
                if done.written or done.retired:
                    is_new = self.become_one() or is_new
            if not is_new:
                self.world.counts["settling rounds"] = number
                return
        self.faults.append(f"after {ROUNDS} rounds there is still something new")

    def end(self) -> None:
        """Settle, and judge what came of it."""
        self.settle()
        self.faults += checks.ended(self.world, self.folders)
        counts, root = self.world.counts, self.folders[0].root
        counts["texts written"], counts["texts taken back"] = len(self.world.said), len(self.world.taken_back)
        counts["conflict copies in the end"] = len(world.conflict_copies(root))
        census = self.folders[0].memory.census
        states = [census.now(model).state for model in census.models()]
        counts["notes in the end"] = sum(len(state.notes) for state in states)
        counts["summaries in the final active set"] = sum(len(state.active) for state in states)

    def close(self) -> None:
        """Let go of all folders."""
        for folder in self.folders:
            folder.close()

    def report(self) -> str:
        """Say what happened, and what it cost."""
        plan = self.plan
        what = f"{plan.folders} folders, {plan.tool}, {plan.steps} steps"
        return checks.report(self.world, f"seed {plan.seed}: {what}", time.monotonic() - self.begun, self.faults)


def simulate(plan: Plan, top: Path, told: Callable[[int, list[str]], None] = lambda _, __: None) -> Run:
    """Run a simulation to its end; what is wrong is in its `faults`."""
    done = Run(plan, top)
    try:
        for number, _ in enumerate(done.steps(), 1):
            told(number, done.faults)
        if len(done.faults) < plan.stop_at:
            done.end()
    finally:
        done.close()
    return done

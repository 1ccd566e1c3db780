"""State machines on real folders: a vault that people and the store share, copies that merge, a kill at any moment."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from checker import Report, check
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pyramid_fs import vault
from pyramid_fs.layout import ALPHABET
from pyramid_fs.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random
    from unittest import TestCase

    from pyramid_fs.pyramid import State
    from pyramid_fs.summarizers import Request

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
MODELS = ("alice", "harbour")
BATCH_NOTES, FAN_IN = 3, 2
SMALL = f"format = 1\n\n[pyramid]\nbatch_notes = {BATCH_NOTES}\nbatch_chars = 300\nfan_in = {FAN_IN}\n"


class Tells:
    """A summarizer that is quick and sure: it names its sources."""

    name, draft, takes, slow = "tells", False, 0, False

    def summarize(self, request: Request) -> str:
        named = ", ".join(item.handle for item in request.items)
        return f"The summary of tier {request.tier} of {request.model} was made of these: {named}."


@dataclass
class Clock:
    """A clock that a test sets."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


def suffixes(first: int = 0) -> Callable[[], str]:
    """Give suffixes that are never the same twice."""
    numbers = itertools.count(first)
    return lambda: "".join(ALPHABET[next_ // 36**place % 36] for next_ in [next(numbers)] for place in range(4))


def new_vault(root: Path) -> None:
    """Make a vault of a small shape."""
    root.mkdir(parents=True)
    (root / "pyramid.toml").write_text(SMALL)
    vault.make_vault(root, models=dict.fromkeys(MODELS, ""))


def opened(root: Path, clock: Clock, suffix: Callable[[], str]) -> Memory:
    """Open a vault, with its cache beside it and the settings of nobody."""
    beside = root.parent
    environ = {"PYRAMID_CACHE_DIR": str(beside / "cache"), "PYRAMID_CONFIG": str(beside / "no-config.toml")}
    return Memory(root, environ=environ, clock=clock, suffix=suffix, summarizer=Tells())


def note_paths(root: Path) -> list[Path]:
    """List the files that are no summaries, cards included."""
    inner = ((path, path.relative_to(root / "models").parts[1]) for path in sorted((root / "models").rglob("*.md")))
    return [path for path, top in inner if not (top.startswith("tier-") or top == "retired")]


def set_time(path: Path, time: datetime) -> None:
    os.utime(path, (time.timestamp(),) * 2)


def bytes_of(paths: list[Path]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in paths}


def states(memory: Memory) -> dict[str, State]:
    memory.census.refresh()
    return {model: memory.census.now(model).state for model in memory.census.models()}


def checked(root: Path) -> Report:
    """Hold a vault against the checker, which shares no code with the store."""
    report = check(root)
    assert report.faults == []
    assert report.balances
    return report


def agree(root: Path, memory: Memory) -> None:
    """The checker, the store and the store's own proof count the same."""
    found = states(memory)
    report = checked(root)
    assert [model.name for model in report.models] == sorted(found)
    for model in report.models:
        state = found[model.name]
        active = {
            str(tier): sorted(s.handle for s in state.active.values() if s.tier == tier)
            for tier in {s.tier for s in state.active.values()}
        }
        assert model.active == active
        assert (model.notes, model.covered, model.tail) == (len(state.notes), len(state.covered), len(state.tail))
        assert model.cover == sorted(s.handle for s in state.cover)
        assert model.other["loser"] == sorted(s.handle for s in state.losers)
        assert model.other["waiting"] == sorted(state.waiting)
        assert sorted(s.link.rsplit("/", 1)[-1] for _, s in state.missing) == model.missing
    sums = memory.verify()
    assert sums.balances, sums.faults
    assert [(m.name, m.notes, m.covered, m.tail) for m in sums.models] == [
        (m.name, m.notes, m.covered, m.tail) for m in report.models
    ]


def grow_out(memory: Memory, clock: Clock) -> None:
    """Let all notes rest, then advance until nothing is due."""
    clock.now += timedelta(days=3)
    while memory.advance().written:
        pass
    for state in states(memory).values():
        settled = [note for note in state.tail if not note.problem]
        assert len(settled) < BATCH_NOTES
        tiers = [summary.tier for summary in state.cover]
        assert all(tiers.count(tier) < FAN_IN for tier in tiers)
        assert state.losers == ()


def tried(machine: type[RuleBasedStateMachine], share: int) -> type[TestCase]:
    """Try a machine on real folders, with its share of the examples that the profile gives to quick tests."""
    case = machine.TestCase
    case.settings = settings(max_examples=settings().max_examples // share, stateful_step_count=20)
    return case


# One vault

TEXTS = st.sampled_from(
    [
        "The morning train leaves at seven.",
        "Beans need two cups of water.",
        "The harbour is closed on Sundays, and on Mondays before noon.",
        "A long story of the ferry. " * 12,
    ]
)
HEADS = st.sampled_from(
    ["", "---\ncreated: 2026-10-05\n---\n", "---\ndate: 2026-11-20T10:00Z\n---\n", "---\ntags: [x]\n---\n"]
)
NAMES = st.sampled_from(["day", "beans", "Of the ferry", "2026-10-11 list", "caf\u00e9"])
FOLDERS = st.sampled_from(["", "trips", "trips/far"])
PICK = st.integers(0, 1000)


class OneVault(RuleBasedStateMachine):
    """A person and the store write in one vault, in any order; all sums hold after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="machine-"))
        self.root = self.top / "vault"
        self.clock, self.suffix, self.serial = Clock(), suffixes(), itertools.count()
        new_vault(self.root)
        self.memory = opened(self.root, self.clock, self.suffix)

    @initialize(notes=st.integers(0, 9), grown=st.booleans())
    def begin(self, notes: int, grown: bool) -> None:  # noqa: FBT001
        for number in range(notes):
            self.memory.record(f"Said at the beginning: {number}.", [MODELS[number % 4 == 3]])
        if grown:
            self.memory.advance()

    def teardown(self) -> None:
        try:
            before = bytes_of(note_paths(self.root))
            grow_out(self.memory, self.clock)
            agree(self.root, self.memory)
            assert bytes_of(note_paths(self.root)) == before
        finally:
            self.memory.close()
            shutil.rmtree(self.top)

    def _notes(self) -> list[Path]:
        return [path for path in note_paths(self.root) if path.stem != path.relative_to(self.root).parts[1]]

    def _write(self, path: Path, text: str) -> None:
        """Write a file as a person does at this moment."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        set_time(path, self.clock.now)

    # The store

    @rule(text=TEXTS, models=st.sampled_from([["alice"], ["harbour"], ["alice", "harbour"]]), again=st.booleans())
    def record(self, text: str, models: list[str], again: bool) -> None:  # noqa: FBT001
        before = bytes_of(note_paths(self.root))
        made = self.memory.record(text if again else f"{text} ({next(self.serial)})", models)
        assert set(models) <= set(made.models)
        assert before.items() <= bytes_of(note_paths(self.root)).items()

    @rule(limit=st.sampled_from([None, 1, 2]))
    def advance(self, limit: int | None) -> None:
        before = bytes_of(note_paths(self.root))
        done = self.memory.advance(limit=limit)
        assert (done.failed, done.held, done.retired) == ((), (), ())
        assert bytes_of(note_paths(self.root)) == before

    @rule(keep=st.booleans())
    def open_again(self, keep: bool) -> None:  # noqa: FBT001
        self.memory.close()
        if not keep:
            shutil.rmtree(self.top / "cache")
        self.memory = opened(self.root, self.clock, self.suffix)

    @rule(hours=st.sampled_from([-30, -1, 1, 25, 500]))
    def time_jumps(self, hours: int) -> None:
        self.clock.now += timedelta(hours=hours)

    # A person

    @rule(model=st.sampled_from(MODELS), folder=FOLDERS, name=NAMES, head=HEADS, text=TEXTS)
    def person_writes(self, model: str, folder: str, name: str, head: str, text: str) -> None:
        self._write(self.root / "models" / model / folder / f"{name}.md", f"{head}{text}\n")

    @precondition(lambda self: self._notes())
    @rule(pick=PICK, text=TEXTS)
    def person_edits(self, pick: int, text: str) -> None:
        path = self._pick(pick)
        head, mark, body = path.read_text().rpartition("---\n")
        self._write(path, f"{head}{mark}{body.rstrip()} {text}\n" if pick % 2 else f"{head}{mark}{text}\n")

    @precondition(lambda self: self._notes())
    @rule(pick=PICK)
    def person_formats(self, pick: int) -> None:
        path = self._pick(pick)
        self._write(path, path.read_text().replace("\n", "  \n").replace("---  \n", "---\n") + "\n\n")

    @precondition(lambda self: self._notes())
    @rule(pick=PICK, model=st.sampled_from(MODELS), folder=FOLDERS)
    def person_moves(self, pick: int, model: str, folder: str) -> None:
        path = self._pick(pick)
        self._rename(path, self.root / "models" / model / folder / path.name)

    @precondition(lambda self: self._notes())
    @rule(pick=PICK, name=NAMES)
    def person_renames(self, pick: int, name: str) -> None:
        path = self._pick(pick)
        self._rename(path, path.with_name(f"{name} {next(self.serial)}.md"))

    @precondition(lambda self: self._notes())
    @rule(pick=PICK)
    def person_deletes(self, pick: int) -> None:
        self._pick(pick).unlink()

    @precondition(lambda self: self._notes())
    @rule(pick=PICK)
    def person_empties(self, pick: int) -> None:
        self._write(self._pick(pick), " \n\n")

    @precondition(lambda self: self._notes())
    @rule(pick=PICK)
    def person_spoils(self, pick: int) -> None:
        self._write(self._pick(pick), "---\ncreated: someday\n---\nIt was warm.\n")

    def _pick(self, number: int) -> Path:
        notes = self._notes()
        return notes[number % len(notes)]

    def _rename(self, path: Path, to: Path) -> None:
        if not to.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            path.rename(to)

    @invariant()
    def all_sums_hold(self) -> None:
        agree(self.root, self.memory)


TestOneVault = tried(OneVault, 4)


# Copies that merge


@dataclass
class Copy:
    """One copy of the vault, on a machine of its own."""

    root: Path
    clock: Clock
    memory: Memory

    def files(self) -> dict[str, Path]:
        """Give every markdown file by its path in the vault."""
        return {path.relative_to(self.root).as_posix(): path for path in (self.root / "models").rglob("*.md")}


def in_retired(path: str) -> str:
    """Give the place in `retired/` of a summary's file."""
    parts = path.split("/")
    return "/".join([*parts[:2], "retired", parts[-1]])


def merge(source: Copy, to: Copy, wanted: Callable[[str], bool] = lambda _: True) -> None:
    """Bring what one copy has into another, file by file: of a note that both have, the version written last stays."""
    for name, path in sorted(source.files().items()):
        there = to.root / name
        is_later = there.exists() and path.stat().st_mtime_ns > there.stat().st_mtime_ns
        if wanted(name) and (is_later or not there.exists()):
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, there)


class Copies(RuleBasedStateMachine):
    """Copies of a vault grow apart and merge in any order; in the end all hold each note once, and no text is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="copies-"))
        self.suffix, self.serial = suffixes(), itertools.count()
        self.copies: list[Copy] = []
        self.written: dict[str, str] = {}
        self.changed: Copy | None = None

    @initialize(count=st.integers(2, 3), notes=st.integers(0, 8), grown=st.booleans())
    def copy_the_vault(self, count: int, notes: int, grown: bool) -> None:  # noqa: FBT001
        first = self.top / "first" / "vault"
        new_vault(first)
        with opened(first, Clock(), self.suffix) as memory:
            for number in range(notes):
                made = memory.record(f"Known to all: {number}.", [MODELS[number % 2]])
                set_time(first / made.path, START)
            if grown:
                memory.advance()
        for number in range(count):
            root = self.top / str(number) / "vault"
            shutil.copytree(first, root)
            clock = Clock(START + timedelta(hours=(0, -2, 5)[number]))
            self.copies.append(Copy(root, clock, opened(root, clock, self.suffix)))
        for name, path in self.copies[0].files().items():
            if path in set(note_paths(self.copies[0].root)):
                self.written[name] = path.read_text()

    def teardown(self) -> None:
        try:
            if self.copies:
                self._become_one()
        finally:
            for copy in self.copies:
                copy.memory.close()
            shutil.rmtree(self.top)

    def _become_one(self) -> None:
        self._merge_all()
        for _ in range(2):  # all grow at once, and get in each other's way
            for copy in self.copies:
                self._grow(copy, limit=2)
            self._merge_all()
        while any(self._grow(copy) for copy in self.copies):  # one after the other
            self._merge_all()
        for copy in self.copies:
            grow_out(copy.memory, copy.clock)
            agree(copy.root, copy.memory)
            for name, text in self.written.items():
                assert (copy.root / name).read_text() == text

    def _grow(self, copy: Copy, limit: int | None = None) -> bool:
        """Advance one copy as if it were alone; say whether anything was done."""
        copy.clock.now += timedelta(days=2)
        done = copy.memory.advance(limit=limit)
        assert (done.failed, done.held) == ((), ())
        return bool(done.written or done.retired)

    def _merge_all(self) -> None:
        """Bring everything everywhere; then all copies are one, whatever each had retired."""
        for _ in range(2):
            for source, to in itertools.permutations(self.copies, 2):
                merge(source, to)
        shared = [{name: path.read_bytes() for name, path in copy.files().items()} for copy in self.copies]
        assert all(files == shared[0] for files in shared)
        found = [states(copy.memory) for copy in self.copies]
        active = [{model: list(state.active) for model, state in one.items()} for one in found]
        tails = [{model: [n.path for n in state.tail] for model, state in one.items()} for one in found]
        assert all(one == active[0] for one in active)
        assert all(one == tails[0] for one in tails)

    # Steps

    @rule(which=PICK, model=st.sampled_from(MODELS), count=st.integers(1, 4))
    def record(self, which: int, model: str, count: int) -> None:
        copy = self._copy(which)
        for _ in range(count):
            made = copy.memory.record(f"Said on one machine: {next(self.serial)}.", [model])
            set_time(copy.root / made.path, copy.clock.now)
            self.written[made.path] = (copy.root / made.path).read_text()

    @rule(which=PICK, limit=st.sampled_from([None, 1]))
    def advance(self, which: int, limit: int | None) -> None:
        copy = self._copy(which)
        before = bytes_of(note_paths(copy.root))
        done = copy.memory.advance(limit=limit)
        assert done.failed == ()
        assert bytes_of(note_paths(copy.root)) == before

    @rule(which=PICK, pick=PICK)
    def person_edits(self, which: int, pick: int) -> None:
        copy = self._copy(which)
        names = sorted(name for name in self.written if (copy.root / name).exists() and name.count("/") > 2)
        if not names:
            return
        name, number = names[pick % len(names)], next(self.serial)
        text = f"{(copy.root / name).read_text()}More: {number}.\n"
        (copy.root / name).write_text(text)
        # a later edit is later on every machine's clock
        set_time(copy.root / name, START + timedelta(days=1, minutes=number))
        self.written[name] = text

    @rule(which=PICK, other=PICK, part=st.sampled_from([1, 2, 3]), random=st.randoms(use_true_random=False))
    def merge(self, which: int, other: int, part: int, random: Random) -> None:
        source, to = self._copy(which), self._copy(other)
        if source is not to:
            merge(source, to, lambda _: random.randrange(part) == 0)

    @rule(which=PICK, other=PICK)
    def merge_moves(self, which: int, other: int) -> None:
        """Bring moves too: what one copy has retired leaves its tier in the other."""
        source, to = self._copy(which), self._copy(other)
        gone = {name for name in to.files() if in_retired(name) in source.files() and in_retired(name) != name}
        for name in gone:
            (to.root / name).unlink()
        merge(source, to, lambda name: in_retired(name) not in source.files() or name == in_retired(name))

    @rule(which=PICK, hours=st.sampled_from([-5, 1, 30]))
    def time_jumps(self, which: int, hours: int) -> None:
        self._copy(which).clock.now += timedelta(hours=hours)

    def _copy(self, number: int) -> Copy:
        self.changed = self.copies[number % len(self.copies)]
        return self.changed

    @invariant()
    def all_sums_hold(self) -> None:
        """The copy that the last step changed is sound."""
        if self.changed:
            agree(self.changed.root, self.changed.memory)


TestCopies = tried(Copies, 6)


# A kill between any two operations on files

TEXTS_TO_RECORD = (
    "The morning train leaves at seven.",
    "The last ferry leaves at ten.",
    "The harbour is closed on Sundays.",
)


def prepare(root: Path) -> None:
    """Make a vault in which much is to be done: notes, losers of a merge, summaries that are nearly due."""
    clock = Clock()
    new_vault(root)
    with opened(root, clock, suffixes()) as memory:
        for number in range(4):
            memory.record(f"It was said before: {number}.", ["alice"])
    twin = root.with_name("twin")
    shutil.copytree(root, twin)
    for folder, first in ((root, 1000), (twin, 2000)):
        with opened(folder, clock, suffixes(first)) as memory:
            memory.advance()
    shutil.copytree(twin, root, dirs_exist_ok=True)
    shutil.rmtree(twin)
    shutil.rmtree(root.with_name("cache"))


def work(root: Path, hour: int) -> None:
    """Do what a kill is to interrupt; done again an hour later, it ends with the same notes."""
    with opened(root, Clock(START + timedelta(hours=hour)), suffixes(3000 * hour)) as memory:
        memory.map()
        for text in TEXTS_TO_RECORD:
            memory.record(text, MODELS)
        memory.advance()


def killed_at(number: int, todo: Callable[[], None]) -> None:
    """Do something, and die by SIGKILL before the operation on files of that number."""
    operations = itertools.count(1)

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        is_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        is_change = event in {"os.link", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.rmdir"}
        if (is_write or is_change) and next(operations) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    todo()


def main(top: Path, first: int, step: int) -> NoReturn:
    """Work on a fresh copy of the vault in a process of its own, killed at each step-th operation, to the last."""
    for number in itertools.count(first, step):
        root = top / str(number) / "vault"
        shutil.copytree(top / "template" / "vault", root)
        child = os.fork()
        if not child:
            killed_at(number, lambda: work(root, 1))  # noqa: B023  (the child has a loop of its own)
            os._exit(0)
        if os.WIFEXITED(os.waitpid(child, 0)[1]):
            sys.exit(0)
    raise AssertionError


def interrupted(top: Path, first: int, step: int) -> Iterator[Path]:
    """Yield the vaults that kills left; the last one was not interrupted."""
    prepare(top / "template" / "vault")
    subprocess.run([sys.executable, __file__, str(top), str(first), str(step)], check=True, timeout=600)
    numbers = sorted(int(path.name) for path in top.iterdir() if path.name.isdigit())
    yield from (top / str(number) / "vault" for number in numbers)


def whole_files(root: Path) -> set[tuple[str, bytes]]:
    """Give every file that anybody reads, with what it holds."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.name.startswith(".pyramid-"))
    return {(path.relative_to(root).as_posix(), path.read_bytes()) for path in found}


def sums(root: Path) -> list[tuple[str, int, int, int, dict[str, int]]]:
    return [(m.name, m.notes, m.covered, m.tail, m.summaries) for m in checked(root).models]


def survives(top: Path, first: int, step: int) -> int:
    """Hold every interrupted vault against the one that was not; count them."""
    *cut, done = interrupted(top, first, step)
    known = whole_files(top / "template" / "vault") | whole_files(done)
    for root in cut:
        checked(root)
        assert whole_files(root) <= known
        work(root, 2)
        assert sums(root) == sums(done)
        assert texts(root) == texts(done)
        with opened(root, Clock(START + timedelta(hours=3)), suffixes(7000)) as memory:
            assert memory.verify().balances
            assert memory.due() == []
    return len(cut)


def texts(root: Path) -> list[str]:
    """List the texts of all notes but those of embeds and cards, which have none."""
    bodies = (path.read_text().rpartition("---\n")[2].strip() for path in note_paths(root))
    return sorted(body for body in bodies if body and not body.startswith("![["))


@pytest.mark.slow
def test_a_kill_between_operations_leaves_a_vault_that_is_whole_and_goes_on(tmp_path: Path) -> None:
    assert survives(tmp_path, 1, 4) > 10


@pytest.mark.slow
def test_a_kill_between_any_two_operations_leaves_a_vault_that_is_whole_and_goes_on(tmp_path: Path) -> None:
    assert survives(tmp_path, 1, 1) > 40


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

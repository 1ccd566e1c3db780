"""Clones of one bare remote, with real git: they commit, merge, rebase and push in any order, and must become one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from checker import digest_of, split

from pyramid_fs import layout
from simulation import checks, world
from simulation.world import Machine, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

QUICK = ("-c", "gc.auto=0", "-c", "core.fsync=none", "-c", "commit.gpgsign=false", "-c", "core.quotePath=false")
TRIES = 6
"""So often a push is tried again after a pull."""
ROUNDS = 40
"""So many rounds all clones may need in the end until none has anything new."""
STRENGTH = {"pending": 0, "pruned": 1, "confirmed": 2}
OWN = {"commit": 12, "pull": 8, "push": 10, "rebase": 1, "grow": 0, "rename": 0.05}
"""How often a clone commits, pulls, pushes or rebases, grows between a pull and a push, and a model is renamed."""
_CONFLICT = re.compile(r"CONFLICT \(([^)]*)\)")
_SHOWN = re.compile(r"`git cat-file blob (\w+)` shows all")
_KEPT = re.compile(r"what was added to it is in ([^;]+);")
_TIER = re.compile(r"/retired/([^/]+-t(\d+)-\d+-\w+\.md)$")
UNASKED = frozenset({"modify/delete", "rename/rename", "rename/delete", "directory rename split"})
"""One side deleted or moved what the other changed or moved: git asks no driver then, and waits for `doctor --mend`."""


@dataclass(frozen=True)
class Plan:
    """How large a run is, and what may happen in it."""

    clones: int = 20
    steps: int = 3000
    seed: int = 7
    phones: int = 0
    """So many clones have no merge driver; `doctor --mend` settles what stops there."""
    often: Mapping[str, float] = field(default_factory=dict)
    """Steps that happen more or less often than they would; 0 is never."""
    stop_at: int = 10
    """A run ends once it has found so many faults."""


@dataclass
class Clone(Machine):
    """A machine whose copy of the vault is a clone."""

    is_phone: bool = False

    def git(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Have git do something in this clone, at the time of its clock."""
        self.world.counts["git calls"] += 1
        at = f"{self.clock().timestamp():.0f} +0000"
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        return run(["git", *QUICK, "-C", str(self.root), *words], {**environment(self), **dates}, check=check)

    def out(self, *words: str) -> str:
        """Give what git prints."""
        return self.git(*words).stdout.strip()

    def pyramid(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command line on this clone."""
        command = [sys.executable, "-P", "-m", "pyramid_fs", "--vault", str(self.root), *words]
        return run(command, environment(self), check=False)


def environment(machine: Machine) -> dict[str, str]:
    """Give the environment of a machine's programs: nobody's settings, one name, its own cache."""
    beside = machine.root.parent / f"{machine.root.name}-cache"
    return {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": machine.name,
        "GIT_AUTHOR_EMAIL": f"{machine.name}@example.org",
        "GIT_COMMITTER_NAME": machine.name,
        "GIT_COMMITTER_EMAIL": f"{machine.name}@example.org",
        "PYRAMID_CACHE_DIR": str(beside),
        "PYRAMID_CONFIG": str(beside / "none.toml"),
    }


def run(words: list[str], env: dict[str, str], *, check: bool) -> subprocess.CompletedProcess[str]:
    """Run a program; one that must not fail says why it did."""
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=300)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


# One merge, judged


@dataclass(frozen=True)
class Sides:
    """A file that both sides of a merge changed: each text, and what stands there after the merge."""

    path: str
    base: str
    ours: str
    theirs: str
    result: str
    beside: tuple[str, ...]
    """The texts of its conflict copies."""


def judged(sides: Sides) -> Iterator[str]:
    """Yield what a merge of one file did wrong, whatever made it."""
    if sides.ours == sides.theirs:
        return
    parts = sides.path.split("/")
    if parts[0] in {"entities", "procedures"}:
        strongest = max((status(sides.ours), status(sides.theirs)), key=STRENGTH.__getitem__)
        if status(sides.base) not in {status(sides.ours), status(sides.theirs)} and status(sides.result) != strongest:
            yield f"{sides.path}: {status(sides.ours)} and {status(sides.theirs)} became {status(sides.result)}"
    if parts[0] == "models" and len(parts) > 3 and (parts[2].startswith("tier-") or parts[2] == "retired"):
        yield from _judged_summary(sides)
        return
    lines, stand = set(sides.result.splitlines()), {line for text in sides.beside for line in text.splitlines()}
    for side, text in (("ours", sides.ours), ("theirs", sides.theirs)):
        added = _said(text) - _said(sides.base)
        if side == "ours" and (gone := added - lines):
            yield f"{sides.path}: of ours, {sorted(gone)} is not in place"
        elif gone := added - lines - stand:
            yield f"{sides.path}: of theirs, {sorted(gone)} is neither in place nor in a conflict copy"
        elif (added - lines) and not any(_said(text) <= set(copy.splitlines()) for copy in sides.beside):
            yield f"{sides.path}: theirs does not stand whole in a conflict copy"


def _judged_summary(sides: Sides) -> Iterator[str]:
    texts = {digest_of(split(text)[1]): text for text in (sides.ours, sides.theirs)}
    if digest_of(split(sides.base)[1]) in texts or len(texts) < 2:
        return
    wins = min(texts, key=lambda digest: (counted(texts[digest]), sources(texts[digest]), digest))
    if (stands := digest_of(split(sides.result)[1])) != wins:
        yield f"{sides.path}: of two redone texts {sorted(texts)}, {stands} stands, and not {wins}"


def counted(text: str) -> int:
    """Give the notes that a summary counts: a roll-up above a forgotten one names as many summaries as before."""
    said = str(split(text)[0].get("note_count", ""))
    return int(said) if said.isdigit() else 0


def sources(text: str) -> int:
    """Count the sources that a summary names."""
    found = split(text)[0].get("provenance")
    return len(found) if isinstance(found, list) else 0


def status(text: str) -> str:
    """Give where a record stands."""
    said = split(text)[0].get("status")
    return said if isinstance(said, str) and said in STRENGTH else "pending"


def _said(text: str) -> set[str]:
    """Give the lines of a text that somebody wrote: all below the front matter."""
    return {line for line in split(text)[1].splitlines() if line.strip()}


# The run


@dataclass
class Run:
    """One simulation."""

    plan: Plan
    top: Path
    world: World = field(init=False)
    clones: list[Clone] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.world = World(Random(self.plan.seed))
        remote, first = self.top / "remote.git", self.top / "c00"
        self.top.mkdir(parents=True, exist_ok=True)
        world.new_vault(first)
        clone = self._machine(0)
        run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], environment(clone), check=True)
        clone.git("init", "-q", "-b", "main")
        clone.git("remote", "add", "origin", str(remote))
        self._set_up(clone)
        clone.git("add", "-A")
        clone.git("commit", "-qm", "A vault")
        clone.git("push", "-q", "-u", "origin", "main")
        for number in range(1, self.plan.clones):
            made = self._machine(number)
            run(["git", "clone", "-q", str(remote), str(made.root)], environment(made), check=True)
            self._set_up(made)
            if made.out("status", "--porcelain"):
                self.commit(made)

    def _machine(self, number: int) -> Clone:
        skew = timedelta(hours=self.world.random.choice((0, 0, -3, -1, 2, 5, 26)), seconds=number)
        is_phone = number >= self.plan.clones - self.plan.phones
        self.clones.append(Clone(self.world, f"c{number:02}", self.top / f"c{number:02}", skew, is_phone=is_phone))
        return self.clones[-1]

    def _set_up(self, clone: Clone) -> None:
        if clone.is_phone:
            return
        done = clone.pyramid("setup", "git", "--write")
        assert done.returncode == 0, done.stderr

    # Steps

    def steps(self) -> Iterator[str]:
        """Do one step after the other, each on a machine of its own; yield its name."""
        often = {**{name: weight for name, (weight, _) in world.STEPS.items()}, **OWN, **self.plan.often}
        names, weights = list(often), list(often.values())
        for number in range(self.plan.steps):
            self.world.now += timedelta(minutes=self.world.random.choice((1, 5, 20, 60)))
            name = self.world.random.choices(names, weights)[0]
            clone = self.world.random.choice(self.clones)
            try:
                if name in OWN:
                    getattr(self, name)(clone)
                else:
                    world.STEPS[name][1](self.world, clone)
            except Exception as error:
                raise AssertionError(f"step {number}, {name} on {clone.name}, seed {self.plan.seed}") from error
            yield name
            if len(self.faults) >= self.plan.stop_at:
                return

    def commit(self, clone: Clone) -> bool:
        """Commit what is there; whether there was anything."""
        clone.git("add", "-A")
        if not clone.git("diff", "--cached", "--quiet", check=False).returncode:
            return False
        clone.git("commit", "-qm", f"By {clone.name}")
        self.world.counts["commits"] += 1
        return True

    def pull(self, clone: Clone) -> bool:
        """Commit, and merge what others pushed; whether anything came."""
        self.commit(clone)
        return self._bring_in(clone, self._merge)

    def rebase(self, clone: Clone) -> None:
        """Commit, and put what was committed here upon what others pushed."""
        self.commit(clone)
        self._bring_in(clone, self._rebase)

    def _bring_in(self, clone: Clone, how: Callable[[Clone, str, str, str], None]) -> bool:
        clone.git("fetch", "-q", "origin", "main")
        ours, theirs = clone.out("rev-parse", "HEAD", "FETCH_HEAD").split()
        base = clone.out("merge-base", ours, theirs)
        if base == theirs:
            return False
        how(clone, base, ours, theirs)
        self._date(clone, ours)
        return True

    def _merge(self, clone: Clone, base: str, ours: str, theirs: str) -> None:
        done = clone.git("merge", "-q", "--no-edit", "FETCH_HEAD", check=False)
        if done.returncode:
            self._stopped(clone, f"{done.stdout}{done.stderr}", ("commit", "-q", "--no-edit"))
        if base != ours:
            self.world.counts["merges"] += 1
            self._judge(clone, base, ours, theirs)

    def _rebase(self, clone: Clone, base: str, ours: str, theirs: str) -> None:
        done = clone.git("rebase", "-q", "FETCH_HEAD", check=False)
        for _ in range(50):
            if not done.returncode:
                break
            self._stopped(clone, f"{done.stdout}{done.stderr}", None)
            done = clone.git("-c", "core.editor=true", "rebase", "--continue", check=False)
        self.world.counts["rebases"] += base != ours

    def _stopped(self, clone: Clone, said: str, finish: tuple[str, ...] | None) -> None:
        """Have `doctor --mend` settle a merge that stopped: a fault, unless git had no driver to ask."""
        where = clone.out("status", "--porcelain")
        unmerged = [line for line in where.splitlines() if line[:2] in {"DD", "AU", "UD", "UA", "DU", "AA", "UU"}]
        kinds, on = set(_CONFLICT.findall(said)), " on phones" if clone.is_phone else ""
        self.world.counts.update(f"stops at {kind}{on}" for kind in kinds)
        if not clone.is_phone and not (kinds and kinds <= UNASKED):
            why = [line for line in said.splitlines() if "CONFLICT" in line] or said.splitlines()[-4:]
            unstaged = [line for line in where.splitlines() if line[1:2].strip()]
            self.faults.append(f"a merge stopped in {clone.name}: {why[:3]}, {unmerged[:5]}, {unstaged[:5]}")
        mended = clone.pyramid("doctor", "--mend")
        for kept in _KEPT.findall(mended.stdout):  # what was added to a forgotten note is one of its own now
            for line in world.lines_of(clone.root / kept):
                self.world.move(line, Path(kept).stem)
        for blob in _SHOWN.findall(mended.stdout):
            lines = clone.out("cat-file", "blob", blob).splitlines()
            self.world.take_back([line for line in lines if line in self.world.instead])
        left = clone.out("diff", "--name-only", "--diff-filter=U")
        if left:
            self.faults.append(f"`doctor --mend` left {left} unmerged in {clone.name}: {mended.stdout}{mended.stderr}")
            clone.git("add", "-A")
        if finish:
            clone.git(*finish)

    def _date(self, clone: Clone, before: str) -> None:
        """Give what came the time at which it came, so that a run is the same each time."""
        for name in clone.out("diff", "--name-only", "-z", before, "HEAD").split("\0"):
            if name and (path := clone.root / name).is_file():
                clone.date(path)

    def _judge(self, clone: Clone, base: str, ours: str, theirs: str) -> None:
        changed = [
            set(clone.out("diff", "--name-only", "-z", "--no-renames", "--diff-filter=AM", base, side).split("\0"))
            for side in (ours, theirs)
        ]
        for path in sorted((changed[0] & changed[1]) - {""}):
            if not path.endswith(".md"):
                continue
            before = self._text(clone, base, path)
            if "/retired/" in path:  # both sides retired it: what they began from lies in its tier
                before = before or self._text(clone, base, _TIER.sub(r"/tier-\2/\1", path))
            mine, other = self._text(clone, ours, path), self._text(clone, theirs, path)
            if mine != other:
                self.world.counts["files that both sides changed"] += 1
                result, beside = _stands(clone.root / path)
                self.faults += judged(Sides(path, before, mine, other, result, beside))

    def _text(self, clone: Clone, commit: str, path: str) -> str:
        return clone.git("show", f"{commit}:{path}", check=False).stdout

    def push(self, clone: Clone) -> bool:
        """Commit and push; a push that is rejected is tried again after a pull. Whether it got through."""
        self.commit(clone)
        for _ in range(TRIES):
            done = clone.git("push", "-q", "--no-verify", "origin", "HEAD:main", check=False)  # the hook only warns
            if not done.returncode:
                return True
            self.world.counts["pushes rejected"] += 1
            self.pull(clone)
        return False

    def grow(self, clone: Clone) -> None:
        """Pull, grow and push at once, as a clone does that wants few summaries written twice."""
        self.pull(clone)
        world.advance(self.world, clone)
        self.push(clone)

    def rename(self, clone: Clone) -> None:
        """Have a person rename a model, when all clones are alike: what others do meanwhile would not all go along."""
        for each in (*self.clones, *self.clones):
            self.push(each)
            self.pull(each)
        world.rename_model(self.world, clone)
        self.push(clone)
        for each in self.clones:
            self.pull(each)

    # The end

    def settle(self) -> None:
        """Have all clones pull, grow, and push until none has anything new."""
        self.world.now += timedelta(days=40)
        for number in range(ROUNDS):
            self.world.now += timedelta(days=3)
            is_new = False
            for clone in self.clones:
                came = self.pull(clone)
                done = clone.memory.advance()
                self.world.counts["losers retired"] += len(done.retired)
                made = self.commit(clone)
                self.push(clone)
                is_new = is_new or came or made
            if not is_new:
                self.world.counts["settling rounds"] = number
                return
        self.faults.append(f"after {ROUNDS} rounds there is still something new")

    def end(self) -> None:
        """Settle, and judge what came of it."""
        self.settle()
        heads = {clone.out("rev-parse", "HEAD^{tree}") for clone in self.clones}
        if len(heads) != 1:
            self.faults.append(f"the clones have {len(heads)} trees")
        self.faults += [
            f"{clone.name}: git says {said}" for clone in self.clones if (said := clone.out("status", "--porcelain"))
        ]
        self.faults += checks.ended(self.world, self.clones)
        self._figures()

    def _figures(self) -> None:
        root, counts = self.clones[0].root, self.world.counts
        census = self.clones[0].memory.census
        final = sum(len(census.now(model).state.active) for model in census.models())
        counts["texts written"] = len(self.world.said)
        counts["texts taken back"] = len(self.world.taken_back)
        counts["texts that stand"] = len(self.world.said) - len(self.world.taken_back) - len(self.world.lost(root))
        counts.update(
            f"conflict copies of {path.relative_to(root).parts[0]} in the end" for path in world.conflict_copies(root)
        )
        counts["summaries in the final active set"] = final
        counts["notes in the end"] = sum(len(census.now(model).state.notes) for model in census.models())
        counts["retired in the end"] = sum(
            1 for path in world.markdown(root, "models") if "/retired/" in path.as_posix()
        )

    def close(self) -> None:
        """Let go of all clones."""
        for clone in self.clones:
            clone.close()

    def report(self) -> str:
        """Say what happened, and what it cost."""
        plan = self.plan
        what = f"{plan.clones} clones ({plan.phones} without the driver), {plan.steps} steps"
        return checks.report(self.world, f"seed {plan.seed}: {what}", time.monotonic() - self.begun, self.faults)


def _stands(path: Path) -> tuple[str, tuple[str, ...]]:
    """Give what stands at a path after a merge, and in the conflict copies beside it."""
    text = world.read(path) if path.exists() else ""
    copies = (
        [other for other in sorted(path.parent.glob("*.md")) if layout.is_conflict_copy(other.name)]
        if path.parent.is_dir()
        else []
    )
    return text, tuple(world.read(other) for other in copies if other.name.startswith(path.stem))


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

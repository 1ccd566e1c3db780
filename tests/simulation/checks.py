"""What must hold: of one vault at any moment, and of all of them in the end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker import check, digest_of, sha, split

from pyramid_fs import layout
from simulation.world import BATCH_NOTES, FAN_IN, conflict_copies, is_made, lines_of, markdown, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simulation.world import Machine, World

MARKERS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")


@dataclass(frozen=True)
class Sums:
    """What all copies of a vault must agree on."""

    active: tuple[tuple[str, ...], ...]
    cover: tuple[tuple[str, ...], ...]
    tail: tuple[tuple[str, ...], ...]


def sums(machine: Machine) -> Sums:
    """Give the active set, the cover and the tail of each model as the store computes them."""
    census = machine.memory.census
    census.refresh()
    states = [census.now(model).state for model in census.models()]
    return Sums(
        tuple((state.model, *state.active) for state in states),
        tuple((state.model, *(summary.handle for summary in state.cover)) for state in states),
        # in no order: a note that only its file dates is as old as the clone got it
        tuple((state.model, *sorted(note.path for note in state.tail)) for state in states),
    )


def sound(machine: Machine, *, is_whole: bool = True) -> Iterator[str]:
    """Yield what is wrong with one vault now: the store, its proof and the checker must count the same.

    Where files are still cut off (not `is_whole`) it need not balance, but they must count the same even then.
    """
    report, proof = check(machine.root), machine.memory.verify()
    if is_whole:
        yield from (f"checker: {fault.path}: {fault.reason}" for fault in report.faults)
        yield from (f"verify: {fault.path}: {fault.reason}" for fault in proof.faults)
        if not (report.balances and proof.balances):
            yield f"it balances: the checker says {report.balances}, the proof {proof.balances}"
    counted = [(m.name, m.notes, m.covered, m.tail) for m in report.models]
    if (found := [(m.name, m.notes, m.covered, m.tail) for m in proof.models]) != counted:
        yield f"verify counts {found}, the checker {counted}"
    census = machine.memory.census
    census.refresh()
    for model in report.models:
        state = census.now(model.name).state
        machine.world.counts["losers seen"] += len(state.losers)
        machine.world.counts["waiting summaries seen"] += len(state.waiting)
        pairs = {
            "active": (
                sorted(state.active),
                sorted(handle for handles in model.active.values() for handle in handles),
            ),
            "cover": (sorted(s.handle for s in state.cover), model.cover),
            "losers": (sorted(s.handle for s in state.losers), model.other["loser"]),
            "waiting": (sorted(state.waiting), model.other["waiting"]),
            "notes": (
                [len(state.notes), len(state.covered), len(state.tail)],
                [model.notes, model.covered, model.tail],
            ),
        }
        yield from (
            f"{model.name}: {what}: the store says {one}, the checker {other}"
            for what, (one, other) in pairs.items()
            if one != other
        )


def at_rest(machine: Machine) -> Iterator[str]:
    """Yield what is still to be done in a vault where nothing should be."""
    census = machine.memory.census
    for model in census.models():
        now = census.now(model)
        if now.held:
            yield f"{model} is held: {now.held}"
        if now.state.losers:
            yield f"{model} has losers: {[summary.handle for summary in now.state.losers]}"
        ready = sum(1 for note in now.state.tail if not note.problem)
        tiers = Counter(summary.tier for summary in now.state.cover)
        if ready >= BATCH_NOTES or any(count >= FAN_IN for count in tiers.values()):
            yield f"{model} has a batch that is due: {ready} notes in the tail, {dict(tiers)}"


def ended(world: World, machines: Sequence[Machine]) -> Iterator[str]:
    """Yield what is wrong in the end, when everything has come everywhere."""
    first = machines[0]
    for machine in machines:
        yield from (f"{machine.name}: {fault}" for fault in (*sound(machine), *at_rest(machine)))
    yield from differences(machines)
    if lost := world.lost(first.root):
        yield f"{len(lost)} texts are lost: {[(line, world.said[line]) for line in lost[:5]]}"
    yield from (
        f"{line!r} was written in {world.home[line]}, and stands in {stem}" for line, stem in world.strayed(first.root)
    )
    yield from come_back(world, first.root)
    if marked := [
        path.name
        for path in markdown(first.root, "")
        if read(path).startswith(MARKERS) or any(line.startswith(MARKERS) for line in lines_of(path))
    ]:
        yield f"git's markers stand in {marked[:5]}"
    yield from unnamed(first)
    yield from twice(first)


def come_back(world: World, root: Path) -> Iterator[str]:
    """Yield what still tells of forgotten lines that stand in no other version of a note either."""
    # what the store wrote itself and a sync tool laid aside is for `doctor`, and no verb goes through it
    every = {path: read(path) for path in markdown(root, "") if not is_aside(path, root)}
    tombs = tombstones(root)
    for line in sorted(world.forgotten - world.touched):
        found = [path for path, text in every.items() if line in text]
        if all(is_made(path, root) or version(path) in tombs for path in found):
            yield from (f"{line!r} was forgotten, and stands in {path.relative_to(root)}" for path in found)


def tombstones(root: Path) -> set[tuple[str, str]]:
    """Read the tombstones of all machines."""
    lines = [json.loads(line) for path in sorted((root / "ledger").glob("*.jsonl")) for line in lines_of(path)]
    return {(line["forgot"], line["digest"]) for line in lines if "forgot" in line}


def version(path: Path) -> tuple[str, str]:
    """Give what a tombstone knows a note by."""
    return sha(path.stem), digest_of(split(read(path))[1])


def is_aside(path: Path, root: Path) -> bool:
    """Whether a file is a conflict copy of a summary."""
    return is_made(path, root) and layout.is_conflict_copy(path.name)


def differences(machines: Sequence[Machine]) -> Iterator[str]:
    """Yield how the copies differ: in files, or in what the store makes of them."""
    files, counted = tree(machines[0].root), sums(machines[0])
    for machine in machines[1:]:
        if (theirs := tree(machine.root)) != files:
            odd = sorted(path for path in files.keys() | theirs.keys() if files.get(path) != theirs.get(path))
            yield f"{machine.name} has other files than {machines[0].name}: {odd[:5]} ({len(odd)})"
        elif sums(machine) != counted:
            yield f"{machine.name} has the files of {machines[0].name}, and another active set, cover or tail"


def tree(root: Path) -> dict[str, bytes]:
    """Give what every file holds, git's own left out."""
    found = (path for path in root.rglob("*") if path.is_file())
    relative = ((path.relative_to(root), path) for path in found)
    return {inner.as_posix(): path.read_bytes() for inner, path in relative if inner.parts[0] != ".git"}


def unnamed(machine: Machine) -> Iterator[str]:
    """Yield the conflict copies that `doctor` does not name."""
    named = {problem.path for problem in machine.memory.doctor()}
    copies = [path.relative_to(machine.root).as_posix() for path in conflict_copies(machine.root)]
    yield from (f"doctor does not name {path}" for path in copies if path not in named)


def twice(machine: Machine) -> Iterator[str]:
    """Yield the versions of notes that two active summaries of tier 0 name, read from the files alone."""
    for model in check(machine.root).models:
        names: Counter[tuple[object, object]] = Counter()
        for handle in model.active.get("0", []):
            keys = front(machine.root / "models" / model.name / "tier-0" / f"{handle}.md")
            links, digests = keys["provenance"], keys["digests"]
            names.update(
                zip(links, digests, strict=True) if isinstance(links, list) and isinstance(digests, list) else ()
            )
        more = ((version, count) for version, count in names.items() if count > 1)
        yield from (f"{model.name}: {version} is summarized {count} times" for version, count in more)


def front(path: Path) -> dict[str, object]:
    """Give the front matter of a file."""
    return split(read(path))[0]


def report(world: World, what: str, seconds: float, faults: Sequence[str]) -> str:
    """Say what happened in a run, what it cost in summaries, and what is wrong."""
    counts = world.counts
    written, final = (
        counts["summaries written"] - counts["summaries redone"],
        counts["summaries in the final active set"],
    )
    lines = [
        f"{what}, {seconds:.0f} s",
        *(f"  {name}: {count:,}" for name, count in sorted(counts.items())),
        f"  for {final:,} summaries that stand {written:,} were written: {1 - final / max(written, 1):.1%} in vain",
        f"  {len(faults)} faults",
        *(f"- {fault}" for fault in faults),
    ]
    return "\n".join(lines)

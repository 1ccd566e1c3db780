"""Clones that commit, merge and push in any order become one: no text is lost, each note is summarized once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulation import git, world

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", [1])
def test_three_clones(tmp_path: Path, seed: int) -> None:
    done = git.simulate(git.Plan(clones=3, steps=40, seed=seed), tmp_path)
    assert done.faults == [], done.report()
    assert done.world.counts["merges"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4])
def test_clones_some_of_which_have_no_driver(tmp_path: Path, seed: int) -> None:
    done = git.simulate(git.Plan(clones=5, steps=500, seed=seed, phones=2), tmp_path)
    assert done.faults == [], done.report()


@pytest.mark.slow
def test_twenty_clones_over_thousands_of_steps(tmp_path: Path) -> None:
    done = git.simulate(git.Plan(clones=20, steps=3000, seed=7), tmp_path)
    assert done.faults == [], done.report()
    assert len(done.world.said) > 3000


# What the simulation would find

BASE = "---\ncreated: 2027-03-01\n---\nThe ferry was late again (1).\n"


def _both(ours: str, theirs: str, result: str, *beside: str) -> list[str]:
    return list(git.judged(git.Sides("models/alice/a.md", BASE, ours, theirs, result, beside)))


def test_a_text_that_is_merged_away_is_a_fault() -> None:
    ours, theirs = f"{BASE}Lime went on the third bed (2).\n", f"{BASE}Beans need two cups of water (3).\n"
    assert _both(ours, theirs, ours, theirs) == []
    assert _both(ours, theirs, f"{ours}Beans need two cups of water (3).\n") == []
    assert _both(ours, theirs, ours) != []
    assert _both(ours, theirs, theirs, theirs) != []


def test_a_weaker_status_that_wins_is_a_fault() -> None:
    base, yes, no = (f"---\nstatus: {said}\n---\nIt is so.\n" for said in ("pending", "confirmed", "pruned"))
    assert list(git.judged(git.Sides("entities/a.md", base, yes, no, yes, ()))) == []
    assert list(git.judged(git.Sides("entities/a.md", base, yes, no, no, ()))) != []


def test_a_line_that_stands_nowhere_is_lost(tmp_path: Path) -> None:
    run = git.Run(git.Plan(clones=1, steps=12, seed=1, often={"delete": 0, "forget": 0}), tmp_path)
    for _ in run.steps():
        pass
    assert run.world.lost(run.clones[0].root) == []
    path = next(path for path in world.notes_of(run.clones[0].root) if world.lines_of(path))
    path.unlink()
    assert run.world.lost(run.clones[0].root) != []
    run.close()

"""A team of agents, each a process with a clone of its own, pushes to one bare remote at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checker import check
from simulation import agent, checks, world
from simulation.git import Clone, environment, run

from pyramid_fs import vault

NOTES = 20
ROUNDS = 6
"""Of pulling, settling and pushing, after which all clones must be alike."""
HERE = Path(__file__).parent


def _cloned(top: Path, count: int) -> list[Clone]:
    """Make a vault, a bare remote, and so many clones of it that are set up."""
    first, remote = agent.agent(top / "a00", "a00"), top / "remote.git"
    first.root.mkdir()
    vault.make_vault(first.root, models={"work": "What the team sees."})
    run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], environment(first), check=True)
    first.git("init", "-q", "-b", "main")
    first.git("remote", "add", "origin", str(remote))
    clones = [first, *(agent.agent(top / f"a{number:02}", f"a{number:02}") for number in range(1, count))]
    for clone in clones:
        if clone is not first:
            run(["git", "clone", "-q", str(remote), str(clone.root)], environment(clone), check=True)
        done = clone.pyramid("setup", "git", "--write")
        assert done.returncode == 0, done.stderr
        if clone is first:
            agent.bring_first(clone)
    return clones


def _team(top: Path, count: int, notes: int) -> None:
    clones = _cloned(top, count)
    words = [sys.executable, "-m", "simulation.agent"]
    started = [
        subprocess.Popen(
            [*words, str(clone.root), clone.name, str(notes)],
            cwd=HERE,
            env={**os.environ, "PYTHONPATH": str(HERE)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for clone in clones
    ]
    for process in started:
        out, err = process.communicate(timeout=900)
        assert process.returncode == 0, f"{out}{err}"
    _become_one(clones)
    wanted = {agent.said(clone.name, number) for clone in clones for number in range(notes)}
    for clone in clones:
        stand = {line for path in world.notes_of(clone.root) for line in world.lines_of(path)}
        assert wanted <= stand
        report = check(clone.root)
        assert report.balances, report.faults
        assert [model.notes for model in report.models] == [count * notes]
        assert clone.memory.verify().balances
    assert list(checks.differences(clones)) == []
    for clone in clones:
        clone.close()


def _become_one(clones: list[Clone]) -> None:
    for _ in range(ROUNDS):  # what one settles goes to all others in the next round
        for clone in clones:
            clone.memory.advance()
            agent.bring(clone)
        if not any(checks.differences(clones)):
            return


def test_two_agents_that_write_at_once(tmp_path: Path) -> None:
    _team(tmp_path, 2, 6)


@pytest.mark.slow
def test_twenty_agents_that_write_at_once(tmp_path: Path) -> None:
    _team(tmp_path, 20, NOTES)

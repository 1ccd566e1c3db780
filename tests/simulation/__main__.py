"""Runs a simulation and prints its report: `python -m tests.simulation git|sync --seed N …`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from simulation import git, sync

MEMORY = "/dev/shm"
"""A disk in memory, where there is one: the simulation is of files, not of disks."""


def main() -> int:
    """Run what was asked for; the exit code is 1 where a fault was found."""
    asked = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="simulation-", dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        top, often = asked.folder or Path(folder), dict(asked.often)
        done: git.Run | sync.Run
        if asked.what == "git":
            plan = git.Plan(asked.clones or 20, asked.steps, asked.seed, asked.phones, often, asked.stop_at)
            done = git.simulate(plan, top, _tell)
        else:
            count, tool, look = asked.clones or 4, asked.tool, asked.look
            folders = sync.Plan(count, asked.steps, asked.seed, tool, often, look, asked.stop_at)
            done = sync.simulate(folders, top, _tell)
    sys.stdout.write(f"{done.report()}\n")
    return 1 if done.faults else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("what", choices=["git", "sync"])
    parser.add_argument("--clones", "--folders", type=int, help="how many machines: 20 with git, 4 with a sync tool")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--phones", type=int, default=0, help="so many clones have no merge driver")
    parser.add_argument("--tool", choices=sorted(sync.TEMPS), default="syncthing")
    parser.add_argument(
        "--often", action="append", default=[], type=_weight, help="redo=10: a step's weight; 0 is never"
    )
    parser.add_argument(
        "--look", type=int, default=8, help="with a sync tool: hold a folder against the checker so often"
    )
    parser.add_argument("--stop-at", type=int, default=10, help="end after so many faults")
    parser.add_argument("--folder", type=Path, help="where to make the machines, which are kept then")
    return parser


def _weight(text: str) -> tuple[str, float]:
    name, _, weight = text.partition("=")
    return name, float(weight)


def _tell(number: int, faults: list[str]) -> None:
    if number % 100 == 0:
        sys.stderr.write(f"{number} steps, {len(faults)} faults\n")


if __name__ == "__main__":
    sys.exit(main())

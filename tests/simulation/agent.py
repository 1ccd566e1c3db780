"""One agent of a team, a process of its own: it writes notes in its clone, grows it, and gets all to the remote.

python -m simulation.agent CLONE NAME NOTES
"""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from pathlib import Path
from random import Random

from pyramid_fs.memory import Memory
from pyramid_fs.summarizers import Extractive
from simulation.git import Clone, environment
from simulation.world import World

AT_ONCE = 5
"""So many notes are written between two pushes."""
TRIES = 200
"""So often a push may be rejected: each time somebody else has got through."""


def agent(root: Path, name: str) -> Clone:
    """Give the clone that an agent works in."""
    return Clone(World(Random(name)), name, root, timedelta(0))


def said(name: str, number: int) -> str:
    """Give the text of an agent's note."""
    return f"Agent {name} saw ship {number} of {name} come in, and the pilot of {name} went out at {number + 3}."


def work(clone: Clone, notes: int) -> int:
    """Write the notes, and get all of them to the remote; count the pushes that were rejected."""
    rejected = 0
    for first in range(0, notes, AT_ONCE):
        with Memory(clone.root, environ=environment(clone), summarizer=Extractive()) as memory:
            for number in range(first, min(first + AT_ONCE, notes)):
                memory.record(said(clone.name, number), ["work"], source=clone.name)
            memory.advance(limit=2)
        rejected += bring(clone)
    return rejected


def bring(clone: Clone) -> int:
    """Commit, pull and push until the push gets through; count those that did not."""
    clone.git("add", "-A")
    clone.git("commit", "-qm", f"By {clone.name}", check=False)
    for rejected in range(TRIES):
        if rejected:
            time.sleep(clone.world.random.uniform(0, min(rejected, 5)))  # somebody else was quicker
        if clone.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main", check=False).returncode:
            clone.pyramid("doctor", "--mend")  # git stops where one side deleted or renamed what the other changed
            clone.git("add", "-A")
            clone.git("commit", "-qm", "A merge", check=False)
        if not clone.git("push", "-q", "--no-verify", "origin", "HEAD:main", check=False).returncode:
            return rejected
    raise AssertionError(f"{clone.name} never got through")


def bring_first(clone: Clone) -> None:
    """Commit a new vault and push it."""
    clone.git("add", "-A")
    clone.git("commit", "-qm", "A vault")
    clone.git("push", "-q", "--no-verify", "-u", "origin", "main")


if __name__ == "__main__":
    work(agent(Path(sys.argv[1]), sys.argv[2]), int(sys.argv[3]))

"""Folders that a sync tool keeps alike become one, whatever arrives cut off, late, or twice: no text is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulation import sync

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("tool", "seed"), [("syncthing", 1), ("dropbox", 2)])
def test_three_folders(tmp_path: Path, tool: str, seed: int) -> None:
    done = sync.simulate(sync.Plan(folders=3, steps=80, seed=seed, tool=tool, look=15), tmp_path)
    assert done.faults == [], done.report()


@pytest.mark.slow
@pytest.mark.parametrize("tool", sorted(sync.TEMPS))
@pytest.mark.parametrize("seed", range(20, 22))
def test_folders_over_many_steps(tmp_path: Path, tool: str, seed: int) -> None:
    done = sync.simulate(sync.Plan(folders=4, steps=400, seed=seed, tool=tool), tmp_path)
    assert done.faults == [], done.report()
    assert done.world.counts["conflict copies made"]
    assert done.world.counts["files cut off for a while"]

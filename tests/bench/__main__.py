"""Runs the benchmarks and prints one table: `python -m tests.bench [--full] [FIGURE…]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .figures import ALL, Bench

if TYPE_CHECKING:
    from .rows import Row

TURNS = 9


def main() -> int:
    """Measure what was asked for; the exit code is 1 where a figure misses its limit."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("figures", nargs="*", choices=[*ALL, []], help="all, where none is named")
    parser.add_argument("--full", action="store_true", help="with 100,000 notes: some minutes more")
    parser.add_argument("--turns", type=int, default=TURNS, help="how often figure and baseline take turns")
    parser.add_argument("--folder", type=Path, help="where to make the vaults: the disk that is measured")
    asked = parser.parse_args()
    start, missed = time.monotonic(), 0
    print("| what | figure | baseline | ratio | limit | |\n|---|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory(dir=asked.folder, prefix="pyramid-bench-") as folder:
        bench = Bench(Path(folder), asked.turns, asked.full)
        for name in asked.figures or ALL:
            for row in ALL[name](bench):
                print(_line(row), flush=True)
                missed += row.holds is False
    print(f"\n{missed} missed; {time.monotonic() - start:.0f} s", file=sys.stderr)
    return 1 if missed else 0


def _line(row: Row) -> str:
    mark = {True: "✓", False: "missed", None: ""}[row.holds]
    return f"| {row.what} | {row.figure} | {row.baseline} | {row.ratio} | {row.limit} | {mark} |"


if __name__ == "__main__":
    sys.exit(main())

"""Measuring in pairs: figure and baseline take turns, so that a machine which slows down slows both."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


UNIT = 1 << 20 if sys.platform == "darwin" else 1 << 10
"""What the system counts peak memory in, for a MiB."""


@dataclass(frozen=True)
class Pair:
    """Medians in seconds, and the median of the ratios of each turn."""

    figure: float
    baseline: float
    ratio: float


@dataclass(frozen=True)
class Run:
    """One process: wall seconds, and its peak memory in MiB."""

    seconds: float
    peak: float


def turns(figure: Callable[[], float], baseline: Callable[[], float], count: int, per: float = 1.0) -> Pair:
    """Let two measurements take turns; `per` divides the figure (files made, say)."""
    found = [(figure() / per, baseline()) for _ in range(count)]
    return Pair(
        statistics.median(a for a, _ in found),
        statistics.median(b for _, b in found),
        statistics.median(a / b for a, b in found),
    )


def timed(work: Callable[[], object]) -> float:
    """Give the seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def environment(cache: Path) -> dict[str, str]:
    """Give an environment with its own cache and settings, and modules compiled as an installed program has them."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    own = {"PYRAMID_CACHE_DIR": str(cache), "PYRAMID_CONFIG": str(cache / "none.toml")}
    return {**kept, **own, "PYTHONPYCACHEPREFIX": str(cache.parent / "compiled")}


def process(words: Sequence[str], environ: Mapping[str, str]) -> Run:
    """Run a process to its end, its answer thrown away; a small one starts it, so that its peak is its own."""
    call = [sys.executable, "-S", "-c", _LAUNCH, *words]
    done = subprocess.run(call, env=environ, stdout=subprocess.PIPE, check=True)
    seconds, peak, code = done.stdout.split()
    if int(code):
        raise RuntimeError(f"{' '.join(words)} gave exit code {int(code)}")
    return Run(float(seconds), int(peak) / UNIT)


_LAUNCH = """
import os, sys, time
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
start = time.perf_counter()
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def processes(figure: Sequence[str], baseline: Sequence[str], environ: Mapping[str, str], count: int) -> Pair:
    """Let two processes take turns, after one of each that is not counted."""
    process(figure, environ)
    process(baseline, environ)
    return turns(lambda: process(figure, environ).seconds, lambda: process(baseline, environ).seconds, count)


def python(code: str, *words: str) -> list[str]:
    """Give the call of a piece of Python."""
    return [sys.executable, "-c", code, *words]


def pyramid(*words: str) -> list[str]:
    """Give the call of the command, through its console script where there is one."""
    script = Path(sys.executable).with_name("pyramid")
    return [str(script), *words] if script.exists() else [sys.executable, "-m", "pyramid_fs", *words]

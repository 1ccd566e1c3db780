"""Growth in bulk with a model that takes its time: `python -m tests.bench.bulk [--notes N] [--profile]`."""

from __future__ import annotations

import argparse
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import made
from .rows import Row, ms
from .timing import environment, process, pyramid, python

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTES, MODELS, CALL = 2102, 20, 0.34
"""Notes, the models that they lie in, each in two, and the seconds that a call takes."""
AT_ONCE = 8
RATIO = 6
"""So many times faster it is at the least with so many calls at once."""
OVERHEAD = 0.05
"""The store's own share of the time at the most, beyond a bare loop of the SDK's, where one call follows the other."""
PROFILED = """
import cProfile, sys
from pyramid_fs import cli
profile = cProfile.Profile()
profile.runcall(cli.run, sys.argv[2:])
profile.dump_stats(sys.argv[1])
"""
BARE = """
import sys, openai
client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
for number in range(int(sys.argv[2])):
    asked = [("system", "Be brief."), ("user", f"[{number}]\\n> {'beans ' * 400}")]
    said = [{"role": role, "content": text} for role, text in asked]
    client.chat.completions.create(model="small", messages=said, max_tokens=900)
"""
"""What the same calls take with the vendor's SDK and nothing else."""
SERVER = Path(__file__).parent.parent / "models.py"


@dataclass(frozen=True)
class Grown:
    """One run of `advance`."""

    calls: int
    seconds: float
    at_once: int
    processor: float
    """Seconds of the processor, which say the same however busy the machine is."""

    @property
    def overhead(self) -> float:
        """What was not the model's, as a share of the whole."""
        return (self.seconds - self.calls * CALL / self.at_once) / self.seconds


def vault(root: Path, notes: int) -> Path:
    """Write the notes into the models, and an embed of each into the next one."""
    names = [f"m{number:02}" for number in range(MODELS)]
    made.build(root, dict.fromkeys(names, -(-notes // MODELS)))
    paths = [sorted((root / "models" / name).rglob("2*.md"))[: notes // MODELS + (at < notes % MODELS)]
             for at, name in enumerate(names)]  # fmt: skip
    for name, found in zip(names, [*paths[1:], paths[0]], strict=True):
        for path in found:
            created = path.read_text().split("\n", 2)[1]
            twin = root / "models" / name / f"also-{path.name}"
            twin.write_text(f"---\n{created}\n---\n![[{path.stem}]]\n")
    for name, found in zip(names, paths, strict=True):
        for path in set((root / "models" / name).rglob("2*.md")) - set(found):
            path.unlink()
    return root


@contextmanager
def model(calls: list[int]) -> Iterator[str]:
    """Serve a model from a process of its own; gives its base URL, and says how often it was called."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, str(SERVER), str(CALL)], stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin
        assert server.stdout
        yield server.stdout.readline().strip()
        server.stdin.close()
        calls.append(int(server.stdout.readline()))


def grown(folder: Path, notes: int, at_once: int, profile: Path | None = None) -> Grown:
    """Have `pyramid advance` write all that is due in a fresh vault."""
    root, calls = vault(folder / f"vault{at_once}", notes), list[int]()
    environ = environment(folder / f"cache{at_once}")
    config = folder / f"config{at_once}.toml"
    with model(calls) as url:
        said = {"kind": "openai", "model": "small", "base_url": url, "concurrency": at_once, "timeout": 60.0}
        config.write_text("\n".join(["[summarizer]", *(f"{name} = {json.dumps(each)}" for name, each in said.items())]))
        words = pyramid("--vault", str(root), "advance")
        if profile:
            words = python(PROFILED, str(profile), *words[1:])
        process(python("import openai, pyramid_fs.cli.growth"), environ)  # compiled, as an installed program is
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        null = subprocess.DEVNULL
        subprocess.run(words, env={**environ, "PYRAMID_CONFIG": str(config)}, stdout=null, check=True)
        seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # the server's processor time is counted when it is waited for, which is after this
    return Grown(calls[0], seconds, at_once, used)


def bare(folder: Path, calls: int) -> float:
    """Give the seconds of a process that does nothing but make so many calls, one after the other."""
    environ = environment(folder / "bare")
    process(python("import openai"), environ)
    with model([]) as url:
        return process(python(BARE, url, str(calls)), environ).seconds


def rows(folder: Path, notes: int = NOTES) -> Iterator[Row]:
    """Measure one call after the other, beside the same calls without a store, and several at once."""
    one = grown(folder, notes, 1)
    base, many = bare(folder, one.calls), grown(folder, notes, AT_ONCE)
    share = (one.seconds - base) / one.seconds
    what = f"`advance` of {notes:,} notes in {MODELS} models, {CALL:g} s a call"
    yield Row(
        f"{what}, one after the other",
        f"{one.seconds:.1f} s",
        f"the SDK alone, {one.calls} calls: {base:.1f} s",
        f"{share:.1%} the store's",
        f"≤ {OVERHEAD:.0%}",
        share <= OVERHEAD,
    )
    yield Row("what of it is not the model's, the SDK and the start counted in", f"{one.overhead:.1%}")
    yield Row(
        "processor time of it, a summary",
        ms(one.processor / one.calls),
        f"{one.processor / one.seconds:.1%} of the time",
    )
    ratio = one.seconds / many.seconds
    yield Row(
        f"the same, {AT_ONCE} at once",
        f"{many.seconds:.1f} s",
        f"{many.overhead:.1%} not the model's",
        f"{ratio:.1f} times faster",
        f"≥ {RATIO}",
        ratio >= RATIO,
    )


def profiled(folder: Path, notes: int) -> None:
    """Show what the process does besides waiting for the model, by the time in each function."""
    found = folder / "profile"
    run = grown(folder, notes, 1, found)
    print(f"{run.calls} calls, {run.seconds:.1f} s, {run.overhead:.1%} not the model's, load {os.getloadavg()[0]:.1f}")
    pstats.Stats(str(found)).sort_stats("tottime").print_stats(25)
    pstats.Stats(str(found)).sort_stats("cumtime").print_stats(r"pyramid_fs|fsync", 40)


def main() -> int:
    """Print the rows; the exit code is 1 where one misses its limit."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bulk", description=__doc__)
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--profile", action="store_true", help="say where the time goes instead")
    parser.add_argument("--folder", type=Path, help="where to make the vaults: the disk that is measured")
    asked, missed = parser.parse_args(), 0
    with tempfile.TemporaryDirectory(dir=asked.folder, prefix="pyramid-bulk-") as folder:
        if asked.profile:
            profiled(Path(folder), asked.notes)
            return 0
        for row in rows(Path(folder), asked.notes):
            mark = {True: "✓", False: "missed", None: ""}[row.holds]
            print(f"| {row.what} | {row.figure} | {row.baseline} | {row.ratio} | {row.limit} | {mark} |", flush=True)
            missed += row.holds is False
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

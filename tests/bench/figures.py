"""The figures: each measures one thing against its baseline, and gives the rows that the table shows."""

from __future__ import annotations

import os
import re
import secrets
import statistics
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from unittest import mock

from pyramid_fs import render
from pyramid_fs.memory import Memory

from . import bulk, made, search, served, stat_walk
from .rows import Row, ms
from .timing import environment, process, processes, pyramid, python, timed, turns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.summarizers import Request

    from .timing import Pair

VIEW_CHARS = 24_000
MOST_CHARS = 32_000
"""What `load` prints at the most: of up to 10,000 notes, and of any number."""
COVER = 4
"""So many summaries of a tier stand in a cover at the most."""
RATE = 300
"""So many summaries a second that cost nothing to write are stored at the least, but for what the disk takes."""


@dataclass(frozen=True)
class Bench:
    """Where it is measured, and how often."""

    folder: Path
    turns: int
    full: bool

    @property
    def environ(self) -> dict[str, str]:
        """The environment of the processes."""
        return environment(self.folder / "cache")

    def vault(self, name: str, models: dict[str, int]) -> Path:
        """Make a vault, or take the one that an earlier figure made."""
        root = self.folder / name
        return root if root.exists() else made.build(root, models)

    def open(self, root: Path, **more: object) -> Memory:
        """Open a vault as its processes do."""
        return Memory(root, environ=self.environ, **more)  # type: ignore[arg-type]


class AtOnce:
    """A summarizer that costs nothing: what is left is the store's own work."""

    name, draft, takes, slow = "bench", False, 0, False

    def summarize(self, request: Request) -> str:
        """Give the beginning of the first source."""
        return f"{request.items[0].text[: request.target // 2]}\nWhat stood in {len(request.items)} sources."


def _row(what: str, pair: Pair, baseline: str, limit: float) -> Row:
    holds = pair.ratio <= limit
    return Row(what, ms(pair.figure), f"{baseline}: {ms(pair.baseline)}", f"{pair.ratio:.2f}", f"≤ {limit:g}", holds)


# Recording


def record(bench: Bench) -> Iterator[Row]:
    """Hold `Memory.record` against the bare way to bring a new file safely to disk."""
    root = bench.vault("record", {f"m{number}": 100 for number in range(4)})
    folder = bench.folder / "bare"
    folder.mkdir()
    texts = made.texts(77)
    with bench.open(root) as memory:
        memory.map()
        for what, models in (("one model", ["m0"]), ("two models, a file", ["m1", "m2"])):
            write = partial(_record, memory, texts, models)
            pair = turns(
                lambda: timed(write),  # noqa: B023  (it runs before the next turn of this loop)
                lambda: timed(lambda: _bare_write(folder, next(texts).encode())),
                bench.turns * 10,
                len(models),
            )
            yield _row(f"`record` into {what}", pair, "bare durable write", 3)


def _record(memory: Memory, texts: Iterator[str], models: list[str]) -> None:
    memory.record(next(texts), models)


def _bare_write(folder: Path, data: bytes) -> None:
    temp, path = folder / f".{secrets.token_hex(6)}.tmp", folder / f"{secrets.token_hex(8)}.md"
    handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)
    os.link(temp, path)
    temp.unlink()
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


# Cold starts


def start(bench: Bench) -> Iterator[Row]:
    """Measure what a command costs before it does anything."""
    click = python("import click")
    pair = processes(pyramid("--version"), click, bench.environ, bench.turns)
    yield _row("cold `pyramid --version`", pair, "`import click`", 1.5)
    pair = processes(python("import pyramid_fs.memory"), click, bench.environ, bench.turns)
    yield Row(
        "cold `import pyramid_fs.memory`",
        ms(pair.figure),
        f"`import click`: {ms(pair.baseline)}",
        f"{pair.ratio:.2f}",
    )


def verbs(bench: Bench) -> Iterator[Row]:
    """Measure each verb's cold start on a vault of 30 notes."""
    root = bench.vault("tiny", {"user": 30})
    calls = (["map"], ["load", "user"], ["recall", "train"], ["status"], ["verify"], ["doctor"], ["advance"],
             ["record", "-m", "user", "--no-advance"])  # fmt: skip
    texts = made.texts(5)
    for call in calls:
        runs = []
        for _ in range(bench.turns):
            words = [*call, next(texts)] if call[0] == "record" else call
            runs.append(process(pyramid("--vault", str(root), *words), bench.environ).seconds)
        yield Row(f"cold `{call[0]}`, 30 notes", ms(statistics.median(runs)))


def cold_map(bench: Bench) -> Iterator[Row]:
    """Hold a cold `map` of 10,000 notes against a process that only walks them."""
    for what, name, models in (
        ("20 models of 500 notes", "twenty", {f"m{number:02d}": 500 for number in range(20)}),
        ("1 model of 10,000 notes", "one", {"big": 10_000}),
    ):
        root = bench.vault(name, models)
        call = pyramid("--vault", str(root), "map")
        process(call, bench.environ)
        pair = processes(call, [sys.executable, stat_walk.__file__, str(root / "models")], bench.environ, bench.turns)
        yield _row(f"cold `map`, {what}", pair, "stat walk", 3)


# Loading


def load_alone(bench: Bench) -> Iterator[Row]:
    """Hold the load of one model beside many notes against the same beside few."""
    others = 50_000 if bench.full else 5_000
    few = bench.vault("few", {"mine": 500, "other": 1_000})
    many = bench.vault("many", {"mine": 500, **{f"other{number}": others // 10 for number in range(10)}})
    for root in (few, many):
        process(pyramid("--vault", str(root), "map"), bench.environ)
    call = [pyramid("--vault", str(root), "load", "mine", "--no-advance") for root in (many, few)]
    pair = processes(call[0], call[1], bench.environ, bench.turns)
    yield _row(f"cold `load` of 500 notes beside {others:,}", pair, "beside 1,000", 1.25)
    with bench.open(many) as big, bench.open(few) as small:
        big.load(["mine"])
        small.load(["mine"])
        one, other = (partial(memory.load, ["mine"]) for memory in (big, small))
        pair = turns(lambda: timed(one), lambda: timed(other), bench.turns * 5)
    yield _row(f"warm `load` of 500 notes beside {others:,}", pair, "beside 1,000", 1.25)


def warm_load(bench: Bench) -> Iterator[Row]:
    """Hold a load in process against a stat of the model's files and a read of those that it prints."""
    root = bench.vault("one", {"big": 10_000})
    with bench.open(root, summarizer=AtOnce()) as memory, _no_sync():
        memory.advance(["big"])
        time.sleep(made.DOUBT)
        memory.load(["big"])
        paths = [text.path for model in memory.load(["big"]).models for text in (*model.summaries, *model.recent)]

        def bare() -> None:
            stat_walk.walk(str(root / "models" / "big"))
            for path in paths:
                (root / path).read_bytes()

        pair = turns(lambda: timed(lambda: memory.load(["big"])), lambda: timed(bare), bench.turns * 3)
    yield _row(f"warm `load` of 10,000 notes, {len(paths)} texts", pair, "stat walk and reads", 2)


# Growth


@contextmanager
def _no_sync() -> Iterator[list[int]]:
    """Count what would be brought to disk, instead of bringing it there."""
    calls: list[int] = []
    with mock.patch("os.fsync", calls.append):
        yield calls


def growth(bench: Bench) -> Iterator[Row]:
    """Measure how many summaries a second are stored, with the disk's share and without."""
    rates = {}
    for synced in (True, False):
        root = bench.vault(f"grown-{synced}", {"a": 1_500, "b": 1_500})
        with bench.open(root, summarizer=AtOnce()) as memory:
            memory.map()
            if synced:
                seconds, count = _grown(memory)
            else:
                with _no_sync() as calls:
                    seconds, count = _grown(memory)
                    syncs = len(calls)
        rates[synced] = count / seconds
    share = 1 - rates[True] / rates[False]
    yield Row(f"`advance`, summaries that cost nothing, {syncs / count:.1f} syncs each", f"{rates[True]:,.0f}/s",
              ratio=f"fsync: {share:.0%}")  # fmt: skip
    yield Row("the same, fsync left out", f"{rates[False]:,.0f}/s", "", "", f"≥ {RATE}/s", rates[False] >= RATE)


def _grown(memory: Memory) -> tuple[float, int]:
    start = time.perf_counter()
    written = memory.advance().written
    return time.perf_counter() - start, len(written)


def large(bench: Bench) -> Iterator[Row]:
    """Grow models of 10,000 (and 100,000) notes to the end; show what it takes, and what `load` prints then."""
    per_thousand = []
    for count in (10_000, 100_000) if bench.full else (10_000,):
        root = bench.vault(f"large-{count}", {"big": count})
        first = process(pyramid("--vault", str(root), "map"), bench.environ)
        yield Row(f"first `map` of {count:,} notes, nothing known", ms(first.seconds), f"peak {first.peak:,.0f} MiB")
        grown = process(python(_ADVANCE, str(root)), bench.environ)
        per_thousand.append(grown.seconds / count * 1000)
        yield Row(f"`advance` of {count:,} notes to the end", f"{grown.seconds:,.1f} s", f"peak {grown.peak:,.0f} MiB",
                  f"{per_thousand[-1]:.2f} s a 1,000")  # fmt: skip
        time.sleep(made.DOUBT)
        yield from _shown(bench, root, count, VIEW_CHARS if count <= 10_000 else MOST_CHARS)
        yield from _proof(bench, root, count)
        _replace_everywhere(root / "models" / "big")
        yield from _revised(bench, root, count)
    if len(per_thousand) > 1:
        ratio = per_thousand[1] / per_thousand[0]
        yield Row("`advance`, a note, 100,000 against 10,000", f"{per_thousand[1]:.2f} ms", f"{per_thousand[0]:.2f} ms",
                  f"{ratio:.2f}", "≤ 1.5", ratio <= 1.5)  # fmt: skip


_ADVANCE = """
import os, sys
from pathlib import Path
from tests.bench.figures import AtOnce, _no_sync
from pyramid_fs.memory import Memory
with Memory(Path(sys.argv[1]), summarizer=AtOnce()) as memory, _no_sync():
    memory.advance()
"""


def _shown(bench: Bench, root: Path, count: int, most: int) -> Iterator[Row]:
    process(pyramid("--vault", str(root), "map"), bench.environ)
    call = pyramid("--vault", str(root), "load", "big", "--no-advance")
    loaded = process(call, bench.environ)
    with bench.open(root) as memory:
        found = memory.load(["big"])
        state = memory.census.now("big").state
    tiers = [summary.tier for summary in state.cover]
    widest = max(tiers.count(tier) for tier in set(tiers))
    chars = len(render.loaded_text(found))
    what = f"cover of {count:,} notes, widest tier of {len(set(tiers))}"
    yield Row(what, f"{widest} summaries", "", "", f"≤ {COVER}", widest <= COVER)
    yield Row(f"what `load` prints of {count:,} notes", f"{chars:,} characters", "", "", f"≤ {most:,}", chars <= most)
    yield Row(f"cold `load` of {count:,} notes", ms(loaded.seconds), f"peak {loaded.peak:,.0f} MiB")


def _proof(bench: Bench, root: Path, count: int) -> Iterator[Row]:
    for verb in (["verify"], ["recall", "piano", "station"]):
        run = process(pyramid("--vault", str(root), *verb), bench.environ)
        yield Row(f"cold `{verb[0]}` of {count:,} notes", ms(run.seconds), f"peak {run.peak:,.0f} MiB")


def _replace_everywhere(folder: Path) -> None:
    """Do what an editor's find-and-replace over a whole folder does."""
    for path in folder.rglob("*.md"):
        if not path.parent.name.startswith("tier-"):
            text = path.read_text()
            path.write_text(re.sub(r"\bNumber (\d+)", r"Item \1", text))


def _revised(bench: Bench, root: Path, count: int) -> Iterator[Row]:
    time.sleep(made.DOUBT)
    run = process(pyramid("--vault", str(root), "load", "big", "--no-advance"), bench.environ)
    with bench.open(root) as memory:
        found = memory.load(["big"])
    text, left = render.loaded_text(found), found.models[0].left
    says = bool(left) and all(f"Left out: {item.count} " in text for item in left)
    fits = len(text) <= MOST_CHARS
    out = f"left out: {sum(item.count for item in left):,}, {'said' if says else 'NOT SAID'}"
    what = f"the same after a find-and-replace over all {count:,}"
    yield Row(what, f"{len(text):,} characters", out, "", f"≤ {MOST_CHARS:,}", fits and says)
    yield Row("first `load` after it, all read again", ms(run.seconds), f"peak {run.peak:,.0f} MiB")


def in_bulk(bench: Bench) -> Iterator[Row]:
    """Have real notes summarized over HTTP, one call after the other and eight at once."""
    yield from bulk.rows(bench.folder)


ALL = {"start": start, "verbs": verbs, "record": record, "map": cold_map, "load": load_alone, "warm": warm_load,
       "growth": growth, "large": large, "recall": search.recall,
       "served": served.served, "bulk": in_bulk}  # fmt: skip

"""What an agent waits for: the MCP server over stdio with the SDK's own client, beside a server that does nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import mcp
from mcp.client.stdio import stdio_client

from .rows import Row, ms
from .timing import process, pyramid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path

    from .figures import Bench

CALLS = 60
"""So often each tool is called; the first calls, which read the vault and make the index, are told apart."""
NOTHING = """
from mcp.server import MCPServer
server = MCPServer("nothing")
@server.tool()
def nothing(text: str) -> str:
    "Give the text back."
    return text
server.run()
"""
QUERIES = ("kitchen plan", "invoice before lunch", "the vet", "who fixed the garden fence", "piano")
START = 3
"""So many times a start may take that of the bare server."""


@dataclass(frozen=True)
class Waited:
    """Seconds of the calls of one tool."""

    seconds: list[float]

    def __str__(self) -> str:
        """Spell the median, and what 95 of 100 stay below."""
        return f"{ms(statistics.median(self.seconds))} ({ms(statistics.quantiles(self.seconds, n=20)[-1])})"


def served(bench: Bench) -> Iterator[Row]:
    """Measure the start, and four tools, with 1,000 and 10,000 notes in twenty models, summarized as far as is due."""
    roots = {count: bench.vault(f"served-{count}", _models(count)) for count in (1_000, 10_000)}
    bare = (sys.executable, "-c", NOTHING)
    for count, root in roots.items():
        ours = pyramid("--vault", str(root), "mcp")
        process(pyramid("--vault", str(root), "advance"), bench.environ)
        starts = [(anyio.run(_start, bare, bench.environ), anyio.run(_start, ours, bench.environ)) for _ in range(7)]
        base, figure = (statistics.median(seconds) for seconds in zip(*starts, strict=True))
        ratio = statistics.median(mine / its for its, mine in starts)
        yield Row(f"from the start to the handshake, {count:,} notes", ms(figure), f"the SDK alone: {ms(base)}",
                    f"{ratio:.2f}", f"≤ {START}", ratio <= START)  # fmt: skip
        yield from _rows(count, *anyio.run(_session, root, ours, bare, bench.environ))


def _models(count: int) -> dict[str, int]:
    return {f"m{number:02d}": count // 20 for number in range(20)}


def _rows(count: int, waited: Mapping[str, Waited], first: Mapping[str, float], memory: float) -> Iterator[Row]:
    nothing = f"a tool that does nothing: {waited['nothing']}"
    for name in ("load_memory", "load_model", "record", "recall"):
        what = f"`{name}`, {count:,} notes: median (95 % stay below)"
        yield Row(what, str(waited[name]), nothing, f"the first: {ms(first[name])}")
    yield Row(f"the server's memory then, {count:,} notes", f"{memory:.0f} MB")


async def _start(words: tuple[str, ...] | list[str], environ: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    async with _client(words, environ):
        return time.perf_counter() - begun


@asynccontextmanager
async def _client(words: tuple[str, ...] | list[str], environ: Mapping[str, str]) -> AsyncIterator[mcp.Client]:
    asked = mcp.StdioServerParameters(command=words[0], args=list(words[1:]), env=dict(environ))
    async with mcp.Client(stdio_client(asked)) as client:
        yield client


async def _session(
    root: Path, ours: list[str], bare: tuple[str, ...], environ: Mapping[str, str]
) -> tuple[dict[str, Waited], dict[str, float], float]:
    """Call the tools in turn, as a session does, with a call of the bare server between them."""
    waited: dict[str, list[float]] = {name: [] for name in ("nothing", "load_memory", "load_model", "record", "recall")}
    async with _client(ours, environ) as client, _client(bare, environ) as nothing:
        for turn in range(CALLS + 1):
            calls: dict[str, dict[str, Any]] = {
                "load_memory": {},
                "load_model": {"names": [f"m{turn % 20:02d}"]},
                "record": {"text": f"The fence post {turn} was set in the rain.", "models": [f"m{turn % 20:02d}"]},
                "recall": {"query": QUERIES[turn % len(QUERIES)]},
            }
            for name, arguments in calls.items():
                waited[name].append(await _call(client, name, arguments))
            waited["nothing"].append(await _call(nothing, "nothing", {"text": "Beans."}))
        memory = _memory(str(root))
    first = {name: seconds[0] for name, seconds in waited.items()}
    return {name: Waited(seconds[1:]) for name, seconds in waited.items()}, first, memory


async def _call(client: mcp.Client, name: str, arguments: dict[str, Any]) -> float:
    begun = time.perf_counter()
    answer = await client.call_tool(name, arguments)
    if answer.is_error:
        raise RuntimeError(f"{name}: {answer.content}")
    return time.perf_counter() - begun


def _memory(mark: str) -> float:
    """Give the resident memory of the server whose command line holds `mark`, in MB."""
    listed = subprocess.run(["ps", "-eo", "rss=,args="], stdout=subprocess.PIPE, text=True, check=True).stdout
    return max(int(line.split()[0]) for line in listed.splitlines() if mark in line and " mcp" in line) / 1024

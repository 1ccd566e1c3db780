"""What the tests of the MCP server share: an agent that holds each answer against its schema and its bound."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import mcp
from mcp.types import Implementation

from pyramid_fs.desk import Desk
from pyramid_fs.mcp_server import answers
from pyramid_fs.mcp_server.growth import Growth
from pyramid_fs.mcp_server.server import Server
from pyramid_fs.mcp_server.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
    from pathlib import Path

    import hard

MOST = 25_000
"""Tokens at which clients cut a tool's answer."""
BOUND = 60.0
"""Seconds within which a busy machine must have done anything."""
ERAS = ("auto", "legacy")
SMALL = "format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n[settle]\nseconds = 0\n"
"""Settings under which two notes make a batch, two summaries a roll-up, and nothing waits to settle."""


def crude(text: str) -> float:
    """Count tokens, more crudely than the product does: a quarter of one for ASCII, one for any other character."""
    plain = sum(letter.isascii() for letter in text)
    return plain / 4 + len(text) - plain


@dataclass(frozen=True)
class Answer:
    """A tool's answer."""

    text: str
    data: Any
    is_error: bool


class Agent:
    """A client whose every call is checked."""

    def __init__(self, client: mcp.Client) -> None:
        self.client = client
        self.schemas: dict[str, Mapping[str, Any]] = {}
        self.inputs: dict[str, Mapping[str, Any]] = {}

    async def look(self) -> None:
        """Read the list of tools."""
        for tool in (await self.client.list_tools()).tools:
            assert tool.output_schema
            self.schemas[tool.name], self.inputs[tool.name] = tool.output_schema, tool.input_schema

    async def ask(self, name: str, /, **given: Any) -> Answer:
        """Call a tool, whatever comes of it."""
        found = await self.client.call_tool(name, given)
        (content,) = found.content
        text, data = getattr(content, "text", ""), found.structured_content
        assert text
        if not found.is_error:
            jsonschema.validate(data, self.schemas[name])
        assert crude(text) < MOST
        assert crude(json.dumps(data, ensure_ascii=False)) < MOST
        return Answer(text, data, bool(found.is_error))

    async def call(self, name: str, /, **given: Any) -> Answer:
        """Call a tool that must answer."""
        found = await self.ask(name, **given)
        assert not found.is_error, found.text
        return found

    async def fail(self, name: str, /, **given: Any) -> str:
        """Call a tool that must refuse; give its one sentence."""
        found = await self.ask(name, **given)
        assert found.is_error, found.text
        assert "\n" not in found.text
        assert "Traceback" not in found.text
        return found.text

    async def follow(self, name: str, /, **given: Any) -> list[Answer]:
        """Make a call, and every call that its answers name, each once."""
        made, due, found = set[str](), [(name, given)], list[Answer]()
        while due:
            tool, words = due.pop(0)
            found.append(await self.call(tool, **words))
            for call in calls_in(found[-1].data):
                assert call in found[-1].text, "text and data name the same calls"
                if call not in made:
                    made.add(call)
                    due.append(read(call))
        return found


def read(call: str) -> tuple[str, dict[str, Any]]:
    """Read a call back: its tool and its arguments."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return node.func.id, {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}


def calls_in(data: Any) -> Iterator[str]:
    """Give the calls that an answer names for what it left out."""
    if isinstance(data, list):
        for item in data:
            yield from calls_in(item)
    elif isinstance(data, dict):
        if data.get("next"):
            yield data["next"]
        for left in data.get("left_out", ()):
            call = left if isinstance(left, str) else left["call"]
            if call:
                yield call
        yield from calls_in([value for key, value in data.items() if key not in {"left_out", "next"}])


def handles(found: list[Answer], *keys: str) -> list[str]:
    """Give the handles of the texts under some keys of answers, and of the models in them."""
    parts = [part for answer in found for part in (answer.data, *answer.data.get("models", ()))]
    return [text["handle"] for part in parts if isinstance(part, dict) for key in keys for text in part.get(key, ())]


@contextlib.contextmanager
def served(root: Path, *, with_rollups: bool = False) -> Iterator[tuple[Server, Growth, Toolbox]]:
    """Make a server in this process, and end its growth."""
    desk = Desk(root, answers.FACE)
    growth = Growth(desk)
    box = Toolbox(desk, growth)
    try:
        yield Server(box, with_rollups=with_rollups), growth, box
    finally:
        growth.end(BOUND)
        while not desk._free.empty():
            desk._free.get()[1].close()


def talk(vault: hard.Vault, script: Callable[[Agent], Awaitable[None]], mode: Any = "auto", **more: Any) -> None:
    """Run a script of an agent's with a server in this process."""

    async def main() -> None:
        async with mcp.Client(server, mode=mode, client_info=Implementation(name="spade", version="1")) as client:
            agent = Agent(client)
            await agent.look()
            await script(agent)

    with served(vault.root, **more) as (server, _, _):
        anyio.run(main)


@contextlib.asynccontextmanager
async def connected(where: Any, mode: Any) -> AsyncIterator[Agent]:
    """Connect to a server elsewhere."""
    async with mcp.Client(where, mode=mode, client_info=Implementation(name="spade", version="1")) as client:
        agent = Agent(client)
        await agent.look()
        yield agent


def stdio(vault: hard.Vault, *words: str, **env: str) -> mcp.StdioServerParameters:
    """Say how a client starts the server on a vault."""
    command, *args = vault.words("mcp", *words)
    kept = {key: value for key, value in vault.environ(**env).items() if key.startswith(("PYRAMID_", "PYTHON", "LC_"))}
    more = {key: os.environ[key] for key in ("PATH", "COVERAGE_PROCESS_START") if key in os.environ}
    return mcp.StdioServerParameters(command=command, args=args, env={**more, **kept, **env})


async def until_true(check: Callable[[], Awaitable[bool]], what: str) -> None:
    """Ask again and again until it is so."""
    end = time.monotonic() + BOUND
    while not await check():
        assert time.monotonic() < end, what
        await anyio.sleep(0.02)


def until(check: Callable[[], object], what: str, bound: float = BOUND) -> float:
    """Look again and again until it is so; give the seconds it took."""
    begun = time.monotonic()
    while not check():
        assert time.monotonic() < begun + bound, what
        time.sleep(0.02)
    return time.monotonic() - begun

"""Runs the server on one vault: over standard input and output, or over HTTP."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server

from pyramid_fs.desk import Desk
from pyramid_fs.mcp_server import answers, lines, logs, wire
from pyramid_fs.mcp_server.growth import Growth
from pyramid_fs.mcp_server.server import Server
from pyramid_fs.mcp_server.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyramid_fs.mcp_server.http import Place
    from pyramid_fs.mcp_server.wire import Wire

ENDING = 0.5
"""Seconds that a summary which is being stored has when the server ends."""


def over_stdio(root: Path, ends: Wire, parent: int, *, with_rollups: bool) -> None:
    """Serve until the input ends, the parent is gone or a signal comes; it does not return."""
    growth, server = _made(root, with_rollups=with_rollups)

    def end() -> None:
        growth.end(ENDING)
        os._exit(0)

    ends.hear_by(lines.heard)
    ends.on_end(growth.stop)
    ends.on_loss(end)
    wire.on_signals(end)
    wire.end_with(parent, end)
    anyio.run(_serve, server, ends)
    end()


async def _serve(server: Server, ends: Wire) -> None:
    incoming_file: Any = ends.input
    outgoing_file: Any = ends.output  # the SDK reads lines from the one, and writes lines to the other
    streams = anyio.wrap_file(incoming_file), anyio.wrap_file(outgoing_file)
    async with stdio_server(*streams) as (incoming, outgoing):
        low = server._lowlevel_server  # noqa: SLF001  (the SDK's own runner takes no streams)
        await low.run(incoming, outgoing, low.create_initialization_options())


def over_http(root: Path, place: Place, token: str, ready: Callable[[], None], *, with_rollups: bool) -> None:
    """Serve until a signal comes; it does not return, but for a UsageError where the port is taken."""
    from pyramid_fs.mcp_server import http

    growth, server = _made(root, with_rollups=with_rollups)

    def end() -> None:
        growth.end(ENDING)
        os._exit(0)

    wire.on_signals(end)  # uvicorn takes them for itself while it serves, and raises them again when it has ended
    http.serve(http.app(server, place, token), place, ready)
    end()


def _made(root: Path, *, with_rollups: bool) -> tuple[Growth, Server]:
    logs.set_plain()  # before the SDK sets up its own
    desk = Desk(root, answers.FACE)
    growth = Growth(desk)
    return growth, Server(Toolbox(desk, growth), with_rollups=with_rollups)

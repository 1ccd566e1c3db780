"""The verbs that agents' programs start: mcp, hook."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs import boot, calls, files, growing
from pyramid_fs.cli.common import harmless, opened, verb
from pyramid_fs.errors import PyramidError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyramid_fs.memory import Memory

PORT = 8931
TOKEN = "mcp-token"  # noqa: S105  (a file's name)
TOKEN_VARIABLE = "PYRAMID_MCP_TOKEN"  # noqa: S105  (a variable's name)
PATIENCE = 0.3
"""Seconds that a harness has to say on standard input what it starts."""
REST = 3.0
"""Seconds that it has for the rest, once it has begun."""
MOST_INPUT, PIECE = 16 << 20, 1 << 16
MARGIN = 64
"""So many bytes at either end tell whether there may be a whole object of JSON."""
BLANK = b"\xef\xbb\xbf \t\r\n"
"""What may stand before it."""
MOST_SHOWN = 120


@click.command()
@click.option("--http", is_flag=True, help="Streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address for --http.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True)
@click.option("--allow-remote", is_flag=True, help="Let --host be an address that other machines reach.")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A further name that clients call the host by.")
@verb(answers=False)
def mcp(memory: Memory, http: bool, host: str, port: int, allow_remote: bool, names: tuple[str, ...]) -> None:
    """Serve the memory to agents by the Model Context Protocol.

    Over HTTP each request must bring the bearer token that is kept beside your config.toml, or the one in
    $PYRAMID_MCP_TOKEN.
    """
    parent = os.getppid()
    root, with_rollups = memory.vault.root, memory.summarizer is None
    memory.close()
    if importlib.util.find_spec("mcp") is None:
        raise UsageError("the MCP server needs the extra `mcp`: pip install 'pyramid-fs[mcp]'")
    if http:
        _serve_http(root, (host, port, names), with_rollups=with_rollups, allow_remote=allow_remote)
        return
    # the wire is taken before anything else is imported: whatever a library prints goes to stderr
    from pyramid_fs.mcp_server import wire

    ends = wire.Wire()
    from pyramid_fs.mcp_server import running

    running.over_stdio(root, ends, parent, with_rollups=with_rollups)


def _serve_http(root: Path, where: tuple[str, int, tuple[str, ...]], *, with_rollups: bool, allow_remote: bool) -> None:
    from pyramid_fs import loopback
    from pyramid_fs.mcp_server import http, running

    place = http.Place(*where)
    loopback.check(place.host, allow_remote=allow_remote)
    path = files.config_file(os.environ).with_name(TOKEN)
    given = os.environ.get(TOKEN_VARIABLE, "")
    token = http.token(path, given)
    said = f"${TOKEN_VARIABLE}" if given else str(path)

    def ready() -> None:
        click.echo(f"pyramid: serving {root} at {place.url}; the bearer token is in {said}", err=True)

    running.over_http(root, place, token, ready, with_rollups=with_rollups)


# Hooks: called at a session's start, and never in its way


@click.group()
def hook() -> None:
    """Answer the hooks of agents' programs."""


@hook.command("session-start")
@click.option("--plain", is_flag=True, help="Plain text, whatever standard input says.")
@click.option("--vault", metavar="DIR", help="The vault, if not the one at hand.")
@click.pass_context
def session_start(ctx: click.Context, plain: bool, vault: str | None) -> None:
    """Print what a session begins with: the map in short. An error is an empty answer and a line on stderr."""
    if growing.is_inside():  # a program that writes a summary is no session
        return
    asked = {} if plain else _asked()
    try:
        memory = opened(ctx, vault)
        text = boot.bundle_text(memory.context(), memory.vault.settings.boot_chars, calls.TOOLS)
    except (PyramidError, OSError) as error:
        click.echo(f"pyramid: {error}", err=True)
        return
    if asked.get("hook_event_name") == "SessionStart":
        text = json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})
    click.echo(text)


@hook.command("session-end")
@click.option("--vault", metavar="DIR", help="The vault, if not the one at hand.")
@click.pass_context
def session_end(ctx: click.Context, vault: str | None) -> None:
    """Save a digest of the session whose transcript the harness names on standard input. Never in its way."""
    _save(ctx, vault)


@hook.command("pre-compact")
@click.option("--vault", metavar="DIR", help="The vault, if not the one at hand.")
@click.pass_context
def pre_compact(ctx: click.Context, vault: str | None) -> None:
    """Do the same before the harness shortens a session: one digest a session, written again as it goes on."""
    _save(ctx, vault)


def _save(ctx: click.Context, vault: str | None) -> None:
    """Have a transcript made a digest: here where that is quick, else in a process that outlives this one."""
    if growing.is_inside():
        return
    try:
        path = _transcript(_asked())
        memory = opened(ctx, vault)
        if not memory.config.background:
            return
        if memory.summarizer and memory.summarizer.slow:
            growing.detach(memory.name, ("import", "claude-code", "--", str(path)))
            return
        for line in memory.import_sessions("claude-code", path).bad:
            _tell(line)
    except (PyramidError, OSError) as error:
        _tell(error)


def _tell(what: object) -> None:
    """Say something on one line of standard error, whatever stands in a path."""
    click.echo(f"pyramid: {harmless(' '.join(str(what).split()))}", err=True)


def _transcript(asked: Mapping[str, object]) -> Path:
    """Give the file that a harness names; raise UsageError for what is none: a folder, a pipe, a device."""
    named = asked.get("transcript_path")
    if not isinstance(named, str) or not named:
        raise UsageError("standard input names no transcript_path: this is a hook for a harness")
    shown = f"the transcript {named[:MOST_SHOWN]!r}"
    try:
        path = Path(named).expanduser()
        if path.is_file():
            return path
    except OSError as error:
        raise UsageError(f"{shown} can't be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RuntimeError):  # no path at all, or below the home of somebody who has none
        pass
    raise UsageError(f"{shown} is no file")


def _asked() -> Mapping[str, object]:
    """Read what a harness says on standard input, if it says anything soon: some leave it open, and wait."""
    try:
        return {} if sys.stdin is None or sys.stdin.isatty() else _said(sys.stdin.fileno())
    except (OSError, ValueError):  # a stream that can't be waited for
        return {}


def _said(source: int) -> Mapping[str, object]:
    """Read an object of JSON: to where it is whole, to the end of the input, or for as long as there is time."""
    data, end = bytearray(), time.monotonic() + PATIENCE
    while len(data) < MOST_INPUT and select.select([source], [], [], max(0.0, end - time.monotonic()))[0]:
        end = end if data else time.monotonic() + REST
        piece = os.read(source, PIECE)
        data += piece
        begins = data[:MARGIN].lstrip(BLANK)
        if not piece or (begins and not begins.startswith(b"{")):
            break
        if data[-MARGIN:].rstrip().endswith(b"}") and (found := _whole(data)) is not None:
            return found
    return _whole(data) or {}


def _whole(data: bytearray) -> Mapping[str, object] | None:
    """Give the object that stands in the input; None for anything else."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


COMMANDS = {"mcp": mcp, "hook": hook}

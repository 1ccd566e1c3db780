"""The verbs that agents' programs start: mcp, hook."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs import boot, calls, files, growing
from pyramid_fs.cli.common import opened, verb
from pyramid_fs.errors import PyramidError, UsageError

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory

PORT = 8931
TOKEN = "mcp-token"  # noqa: S105  (a file's name)
TOKEN_VARIABLE = "PYRAMID_MCP_TOKEN"  # noqa: S105  (a variable's name)
PATIENCE = 0.3
"""Seconds that a harness has to say on standard input what it starts."""
MOST_INPUT = 1 << 20


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
    path = str(_asked().get("transcript_path") or "")
    try:
        if not path:
            raise UsageError("standard input names no transcript_path: this is a hook for a harness")
        memory = opened(ctx, vault)
        if not memory.config.background:
            return
        if memory.summarizer and memory.summarizer.slow:
            growing.detach(memory.name, ("import", "claude-code", "--", str(Path(path).expanduser())))
            return
        for line in memory.import_sessions("claude-code", Path(path).expanduser()).bad:
            click.echo(f"pyramid: {line}", err=True)
    except (PyramidError, OSError) as error:
        click.echo(f"pyramid: {error}", err=True)


def _asked() -> dict[str, object]:
    """Read what a harness says on standard input, if it says anything soon: some leave it open, and wait."""
    try:
        if sys.stdin is None or sys.stdin.isatty() or not select.select([sys.stdin], [], [], PATIENCE)[0]:
            return {}
        found = json.loads(os.read(sys.stdin.fileno(), MOST_INPUT))
    except (OSError, ValueError, RecursionError):  # no JSON, or a stream that can't be waited for
        return {}
    return found if isinstance(found, dict) else {}


COMMANDS = {"mcp": mcp, "hook": hook}

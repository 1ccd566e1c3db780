"""The verbs that set up what works beside the vault: setup claude-code, cursor and others, service, summarizer."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from pyramid_fs import clients, files, layout
from pyramid_fs.cli.clones import set_up_git
from pyramid_fs.cli.common import verb
from pyramid_fs.cli.summarizer import set_up_summarizer
from pyramid_fs.cli.watch import CARRIED, service
from pyramid_fs.errors import DiskError, ExistsAlready, RefusedWrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyramid_fs.clients import Place, Setup
    from pyramid_fs.memory import Memory

FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA", "XDG_CONFIG_HOME")
"""Variables that say where clients keep their configuration."""
HELP = {
    "claude-code": "Claude Code: the server, hooks at a session's start and end, the skill, CLAUDE.md.",
    "claude-desktop": "Claude Desktop: the server.",
    "cursor": "Cursor: the server, and a project's AGENTS.md.",
    "vscode": "VS Code: the server, and a project's AGENTS.md.",
    "codex": "Codex: the server, AGENTS.md.",
}
NEXT = {
    "claude-code": "start Claude Code anew; `claude mcp list` shows the server (a project's one asks for your consent)",
    "claude-desktop": "quit Claude Desktop and start it again",
    "cursor": "start Cursor anew, or switch the server on in its MCP settings",
    "vscode": "start VS Code anew; its command `MCP: List Servers` shows the server, and asks for your trust",
    "codex": "start Codex anew; `codex mcp list` shows the server (a project's one only if you trust the project)",
}
"""What a person does after each."""


class Change(NamedTuple):
    """A file that becomes another; None stands for no file."""

    path: Path
    """Where it is in truth: links are followed, as into a folder of dotfiles."""
    before: bytes | None
    after: bytes | None


# The verbs


@click.group()
def setup() -> None:
    """Set up what works beside the vault: AI clients, and a service that watches it."""


def _verb(client: str) -> click.Command:
    @click.option("--name", default=clients.NAME, show_default=True, help="What the server is called there.")
    @click.option("--remove", is_flag=True, help="Take out again what was set up.")
    @click.option("--write", is_flag=True, help="Make the changes instead of showing them only.")
    @verb(answers=False)
    def run(memory: Memory, name: str, remove: bool, write: bool, project: str | None = None) -> None:
        _set_up(client, memory.vault.root, project, name, remove=remove, write=write)

    folder = click.Path(exists=True, file_okay=False)
    for_project = click.option("--project", metavar="DIR", type=folder, help="For the project in DIR, not for you.")
    return click.command(client, help=HELP[client])(run if client == "claude-desktop" else for_project(run))


for _client in clients.CLIENTS:
    setup.add_command(_verb(_client))
setup.add_command(service)
setup.add_command(set_up_git)
setup.add_command(set_up_summarizer)


def _set_up(client: str, root: Path, project: str | None, name: str, *, remove: bool, write: bool) -> None:
    """Plan all changes, show them, and make them where that is asked for."""
    meant = _meant(root, name)
    clients.check_setup(meant)
    folder = str(files.absolute(Path(project))) if project else ""
    found = clients.places(client, str(Path.home()), sys.platform, _folders(), name, folder)
    changes = [change for change in _planned(client, found, meant, remove=remove) if change.before != change.after]
    if not changes:
        click.echo(f"{client} is {'not set up' if remove else 'set up already'}: `{name}`, {root}")
        return
    for path, before, after in changes:
        click.echo(clients.shown(str(path), _text(path, before), _text(path, after)))
    if not write:
        click.echo(f"pyramid: nothing was written yet; --write makes {_count(changes)}", err=True)
        return
    for change in changes:
        _make(change)
    then = "start the client anew" if remove else NEXT[client]
    click.echo(f"\nDone ({_count(changes)}). Next: {then}")


def _count(changes: Sequence[Change]) -> str:
    return "1 change" if len(changes) == 1 else f"{len(changes)} changes"


# What is meant


def _meant(root: Path, name: str) -> Setup:
    guide = resources.files("pyramid_fs").joinpath("guide")
    return clients.Setup(
        root=str(root),
        words=(sys.executable, "-P", "-m", "pyramid_fs", "--vault", str(root)),
        env=_absolute(CARRIED),
        shell=shell_line,
        skill=guide.joinpath("SKILL.md").read_text("utf-8"),
        agents=guide.joinpath("agents.md").read_text("utf-8"),
        name=name,
    )


def shell_line(words: Sequence[str]) -> str:
    """Spell words as one line for the system's shell."""
    if sys.platform != "win32":
        return shlex.join(words)
    # hooks run in Git's bash there, which drops a backslash outside quotes; Windows takes either slash
    return subprocess.list2cmdline([word.replace("\\", "/") for word in words])


def _absolute(names: Sequence[str]) -> dict[str, str]:
    """Give the paths that variables hold, empty where they are not set."""
    return {name: str(files.absolute(Path(value))) if (value := os.environ.get(name)) else "" for name in names}


def _folders() -> dict[str, str]:
    return _absolute(FOLDERS)


# Plan, then make


def _planned(client: str, found: Sequence[Place], meant: Setup, *, remove: bool) -> list[Change]:
    paths = [_real(Path(place.path)) for place in found]
    read = [_read(path) for path in paths]
    texts = [_text(path, before) for path, before in zip(paths, read, strict=True)]
    known = [clients.occupant(place, text or "", meant.name) for place, text in zip(found, texts, strict=True)]
    meant = replace(meant, former=_former(client, next(filter(None, known), ""), meant))
    planned = [_after(place, text, meant, remove=remove) for place, text in zip(found, texts, strict=True)]
    return [
        Change(path, before, None if after is None else after.encode())
        for path, before, after in zip(paths, read, planned, strict=True)
    ]


def _after(place: Place, text: str | None, meant: Setup, *, remove: bool) -> str | None:
    if not remove:
        return clients.merged(place, text, meant)
    return None if text is None else clients.cleared(place, text, meant)


def _former(client: str, known: str, meant: Setup) -> str:
    """Give the vault that had this name and is gone; raise ExistsAlready where it is still there."""
    if not known or Path(known).resolve() == Path(meant.root).resolve():
        return known
    if (Path(known) / layout.SETTINGS).is_file():
        raise ExistsAlready(
            f"`{meant.name}` is the vault {known} in {client} by now: take another name (--name notes), or take that "
            f"one out first: pyramid --vault {shell_line([known])} setup {client} --name {meant.name} --remove --write"
        )
    return known


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a link to itself
        raise DiskError(f"{path} is a link that leads nowhere: remove it first") from None


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path)
    except FileNotFoundError:
        return None


def _text(path: Path, data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        raise RefusedWrite(f"{path} is not UTF-8 text: nothing was written; save it as UTF-8 first") from None


def _make(change: Change) -> None:
    path, before, after = change
    if after is None:
        _remove(path, before)
    elif before is None:
        files.create(path, after)
    else:
        files.replace(path, after, before)


def _remove(path: Path, before: bytes | None) -> None:
    """Remove a file that holds nothing any more, and the folder of a skill."""
    if _read(path) != before:
        raise RefusedWrite(f"{path} changed since it was read: it stays; try again")
    path.unlink()
    if path.name == clients.SKILL:
        with contextlib.suppress(OSError):  # it holds more
            path.parent.rmdir()
    files.sync_folder(path.parent)


COMMANDS = {"setup": setup}

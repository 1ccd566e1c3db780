"""The verb for conflict copies: shows what differs, and takes one side or both."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pyramid_fs import conflicts
from pyramid_fs.cli.common import answer, verb
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from pyramid_fs.conflicts import Conflict
    from pyramid_fs.memory import Memory

SIDES = [str(side) for side in conflicts.Side]


@click.command()
@click.argument("copy", required=False)
@click.option("--take", type=click.Choice(SIDES), help="The file as it is, the copy in its place, or both as files.")
@click.option("--same", is_flag=True, help="Put away all copies that say just what the file beside them says.")
@verb()
def resolve(memory: Memory, copy: str | None, take: str | None, same: bool, as_json: bool) -> int:
    """Show how COPY, a conflict copy of a sync tool or of git, differs from its file, or --take a side.

    Nothing is deleted: what is not taken is moved to the vault's `.trash` folder. Without COPY it lists them.
    """
    if same:
        if copy or take:
            raise UsageError("--same is for all copies: name none, and take no side")
        return _same(memory, as_json=as_json)
    if copy is None:
        if take:
            raise UsageError("name the copy: pyramid resolve COPY --take SIDE")
        return _list(memory, as_json=as_json)
    found = memory.conflict(copy)
    if take:
        done = memory.resolve(found, take)
        answer({"vault": memory.name, "done": done}, "\n".join(done), as_json=as_json)
        return 0
    lines = conflicts.differences(memory.vault.root, found)
    said = [*(lines or ["Both say the same."]), "", *_ways(found)]
    answer({"vault": memory.name, **asdict(found), "diff": lines}, "\n".join(said), as_json=as_json)
    return 0


def _ways(found: Conflict) -> list[str]:
    """Name the calls that go on from here."""
    word = f"pyramid resolve {shlex.quote(found.copy)} --take"
    if found.is_alone:
        return [f"{found.original} is gone.", f"{word} copy       # it comes back as the copy has it"]
    return [
        f"{word} original   # keep {found.original}",
        f"{word} copy       # the copy takes its place",
        f"{word} both       # the copy becomes a file of its own",
    ]


def _list(memory: Memory, *, as_json: bool) -> int:
    found = memory.conflict_copies()
    lines = [f"{each.copy}{' (the same text)' if each.is_same else ''}" for each in found]
    text = "\n".join(lines) or "There is no conflict copy."
    answer({"vault": memory.name, "copies": found}, text, as_json=as_json)
    return 1 if found else 0


def _same(memory: Memory, *, as_json: bool) -> int:
    found = [each for each in memory.conflict_copies() if each.is_same]
    done = [line for each in found for line in memory.resolve(each, conflicts.Side.ORIGINAL)]
    text = "\n".join(done) or "No conflict copy says just what its file says."
    answer({"vault": memory.name, "done": done}, text, as_json=as_json)
    return 0


COMMANDS = {"resolve": resolve}

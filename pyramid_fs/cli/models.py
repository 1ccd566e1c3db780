"""The verb on models: made, renamed, folded, archived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pyramid_fs import render
from pyramid_fs.cli.common import answer, json_option, text_argument, verb

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def model(ctx: click.Context, as_json: bool) -> None:
    """Make, rename, fold and archive models; without a word it lists them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, as_json=as_json)
    elif as_json:
        raise click.UsageError("--json comes after the word: `pyramid model list --json`.")


@model.command("list")
@verb()
def list_(memory: Memory, as_json: bool) -> None:
    """List the models, archived ones too."""
    found = memory.map()
    lines = [render.model_line(line) for line in found.models] + [f"- {name} [archived]" for name in found.archived]
    value = {"vault": memory.name, "models": found.models, "archived": found.archived}
    answer(value, "\n".join(lines) or "There is no model yet; `pyramid model new NAME` makes one.", as_json=as_json)


@model.command()
@click.argument("name")
@click.option("--description", "-d", default="", help="What the model is about: agents choose by it.")
@verb()
def new(memory: Memory, name: str, description: str, as_json: bool) -> None:
    """Make a model."""
    made = memory.create_model(name, description)
    answer({"vault": memory.name, "name": made}, made, as_json=as_json)


@model.command()
@click.argument("name")
@click.argument("text")
@verb()
def describe(memory: Memory, name: str, text: str, as_json: bool) -> None:
    """Change what a model is said to be about."""
    known = memory.describe_model(name, text)
    answer({"vault": memory.name, "name": known}, known, as_json=as_json)


@model.command()
@click.argument("name")
@click.argument("to")
@verb()
def rename(memory: Memory, name: str, to: str, as_json: bool) -> None:
    """Rename a model; no link changes and nothing is summarized again."""
    made = memory.rename_model(name, to)
    answer({"vault": memory.name, "name": made}, made, as_json=as_json)


@model.command()
@click.argument("name")
@click.argument("into")
@click.option("--text", default="", help="What the other model should know of it; `-` reads standard input.")
@verb()
def fold(memory: Memory, name: str, into: str, text: str, as_json: bool) -> None:
    """Write one note into another model that says what this one held, and archive this one."""
    made = memory.fold_model(name, into, text_argument((text,)) if text else "")
    answer(made, made.handle, as_json=as_json)


@model.command()
@click.argument("name")
@verb()
def archive(memory: Memory, name: str, as_json: bool) -> None:
    """Put a model away: off the map, its notes kept and found by recall."""
    known = memory.archive_model(name)
    answer({"vault": memory.name, "name": known, "archived": True}, known, as_json=as_json)


@model.command()
@click.argument("name")
@verb()
def unarchive(memory: Memory, name: str, as_json: bool) -> None:
    """Bring an archived model back."""
    known = memory.archive_model(name, archived=False)
    answer({"vault": memory.name, "name": known, "archived": False}, known, as_json=as_json)


COMMANDS = {"model": model}

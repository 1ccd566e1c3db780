"""The main job end to end on notes that ship with the package, told step by step."""

from __future__ import annotations

import os
import shlex
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs import files, render, vault
from pyramid_fs.errors import ExistsAlready
from pyramid_fs.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyramid_fs.context import Advanced
    from pyramid_fs.notes import Summary

MODELS = {
    "allotment": "A vegetable plot through half a year: what was sown, what it gave, what went wrong and why.",
    "print-server": "A small label-printing service: bugs, decisions, commands that work, mistakes not to repeat.",
    "self": "What the agent learned about how the owner likes to work.",
}
QUESTION = "usable Charlotte potatoes"
LOADED = "allotment"


@click.command()
@click.argument("folder", default="pyramid-demo")
@click.pass_context
def demo(ctx: click.Context, folder: str) -> None:
    """Make a vault of FOLDER from bundled notes, let the pyramid grow, and show what an agent reads of it."""
    root = files.absolute(Path(folder))
    if root.exists() and any(root.iterdir()) and not (root / "pyramid.toml").exists():
        raise ExistsAlready(f"{root} holds other files: name a new folder for the demo")
    vault.make_vault(root, models=MODELS)
    with Memory(root) as memory:
        _tell(memory, _short(root), click.style if sys.stdout.isatty() else _plain)
    del ctx


def _plain(text: str, **_: object) -> str:
    return text


def _short(root: Path) -> str:
    try:
        return str(root.relative_to(Path.cwd()))
    except ValueError:
        return str(root)


NOTES_GO_IN = """\
{notes} notes lie in {folder}/models/, one markdown file each.
They are never edited, merged or deleted: open the folder in Obsidian or any editor."""
IT_GROWS = """\
Every 10 notes are compressed once into a tier-0 summary, every 5 of those into a tier-1.
Here whole sentences are picked without a model; a model of yours can write them instead."""
THE_MAP = "What an agent sees first: names, and no contents. It chooses; the store never guesses."
LOADED_MODEL = """\
`pyramid load {name}` answers {notes} notes in {shown:,} characters: {covered} through summaries,
{tail} as they are, nothing left out. Its first summary:"""
RECALL = "A name, a number, a date: ask for it. `pyramid recall '{question}'`"
PROOF = "Recomputed from the files alone, by code that shares nothing with what wrote them:"


def _tell(memory: Memory, folder: str, style: Callable[..., str]) -> None:
    def step(number: int, title: str, text: str) -> None:
        click.echo(f"\n{style(f'{number}. {title}', bold=True)}\n{text}\n")

    with resources.as_file(resources.files("pyramid_fs").joinpath("demo.jsonl")) as notes:
        found = memory.import_jsonl(notes)
    step(1, "Notes go in", NOTES_GO_IN.format(notes=found.notes or found.known, folder=folder))
    step(2, "The pyramid grows", IT_GROWS)
    click.echo(render.advanced_text(_advance(memory)))
    step(3, "The map", THE_MAP)
    click.echo("\n".join(render.model_line(line) for line in memory.map().models))
    model = memory.load([LOADED]).models[0]
    shown = sum(len(text.text) for text in (*model.summaries, *model.recent))
    counts = {"name": model.name, "notes": model.notes, "covered": model.covered, "tail": model.tail}
    step(4, "A model, loaded", LOADED_MODEL.format(shown=shown, **counts))
    click.echo("\n\n".join(f"{render.header(text)}\n{render.quote(text.text)}" for text in model.summaries[:1]))
    step(5, "Recall", RECALL.format(question=QUESTION))
    click.echo("\n".join(render.hits_text(memory.recall(QUESTION, limit=2)).splitlines()[4:]))
    proof = memory.verify()
    step(6, "The proof", PROOF)
    for line in proof.models:
        click.echo(f"{line.name}: {line.notes} notes = {line.covered} in summaries + {line.tail} not yet")
    click.echo("It balances: every note is counted exactly once." if proof.balances else "It does not balance!")
    step(7, "Now you", _next(folder))


def _advance(memory: Memory) -> Advanced:
    due = len(memory.due())
    if not due or not sys.stderr.isatty():
        return memory.advance()
    with click.progressbar(length=due, label="Summaries", show_pos=True, file=sys.stderr) as bar:

        def step(_: Summary) -> None:
            bar.update(1)

        return memory.advance(step=step)


def _next(folder: str) -> str:
    named = shlex.quote(folder) if os.name != "nt" else f'"{folder}"'
    return f"""\
  cd {named}
  pyramid record -m allotment 'The leeks went in today, 40 plants, 15 cm apart.'
  pyramid load print-server self
  pyramid recall 'cups timeout'
  pyramid status
And a memory of your own:
  pyramid init ~/Memory --default"""


COMMANDS = {"demo": demo}

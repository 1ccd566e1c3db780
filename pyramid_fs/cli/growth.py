"""The verbs that write summaries: advance, redo, rollup."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pyramid_fs import render, times
from pyramid_fs.cli.common import answer, text_argument, verb
from pyramid_fs.context import Advanced
from pyramid_fs.notes import Summary

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory
    from pyramid_fs.pyramid import Batch

FAILED = 30
LOCKED = 12


@click.command()
@click.argument("models", nargs=-1)
@click.option("--limit", type=click.IntRange(min=1), help="Write so many summaries at most.")
@click.option("--dry-run", is_flag=True, help="Say what is due and write nothing.")
@click.option("--background", is_flag=True, hidden=True)
@verb()
def advance(
    memory: Memory,
    models: tuple[str, ...],
    limit: int | None,
    dry_run: bool,
    background: bool,
    as_json: bool,
) -> int:
    """Write the summaries that are due, of all models or of some. Safe to interrupt at any moment."""
    if background:
        memory.grow_some(models)
        return 0
    due = memory.due(models)
    asked = due if limit is None else due[:limit]
    if dry_run:
        found = Advanced(memory.name, (), len(due), batches=tuple(_shown(memory, batch) for batch in asked))
        answer(found, render.advanced_text(found) if due else "Nothing is due.", as_json=as_json)
        return 0
    found = replace(_with_progress(memory, models, limit, len(asked)), planned=len(due))
    answer(found, render.advanced_text(found), as_json=as_json)
    for line in (*found.failed, *found.held):
        click.echo(f"pyramid: {line}", err=True)
    for model in found.busy:
        click.echo(f"pyramid: {model} is being advanced by another process", err=True)
    if found.failed:
        return found.exit_code or FAILED
    return LOCKED if found.busy else 0


def _shown(memory: Memory, batch: Batch) -> dict[str, object]:
    start, end = (times.day(time, memory.vault.settings.zone) for time in batch.span)
    count = len(batch.sources)
    sources = (
        f"{count} summaries" if isinstance(batch.sources[0], Summary) else f"{count} note{'s' if count > 1 else ''}"
    )
    return {
        "model": batch.model,
        "tier": batch.tier,
        "sources": sources,
        "notes": batch.note_count,
        "from": start,
        "to": end,
    }


def _with_progress(memory: Memory, models: tuple[str, ...], limit: int | None, due: int) -> Advanced:
    """Advance under a progress bar on a terminal: how many of how many, the rate, the time left."""
    if not due or not sys.stderr.isatty():
        return memory.advance(models, limit=limit)
    template = "%(label)s  [%(bar)s]  %(info)s"
    with click.progressbar(
        length=due, label="Summaries", show_pos=True, file=sys.stderr, item_show_func=str, bar_template=template
    ) as bar:

        def step(summary: Summary) -> None:
            rate = (bar.pos + 1) / max(bar.time_per_iteration * (bar.pos + 1), 1e-6) if bar.pos else 0
            bar.update(1, f"{rate:.0f}/s {summary.handle}" if rate else summary.handle)

        return memory.advance(models, limit=limit, step=step)


@click.command()
@click.argument("handle")
@verb()
def redo(memory: Memory, handle: str, as_json: bool) -> None:
    """Write a summary again over the same batch, in the same file, and then those above it."""
    written = [summary.handle for summary in memory.redo(handle)]
    answer({"vault": memory.name, "written": written}, "\n".join(written), as_json=as_json)


@click.group()
def rollup() -> None:
    """Write summaries yourself, or have an agent write them: no model is called."""


@rollup.command("next")
@click.argument("models", nargs=-1)
@verb()
def next_(memory: Memory, models: tuple[str, ...], as_json: bool) -> None:
    """Hand out a batch that is due, with its sources, the rules, the target length and a ticket."""
    due = memory.next_rollup(models)
    answer({"vault": memory.name, "rollup": due}, render.rollup_text(due, memory.name), as_json=as_json)


@rollup.command()
@click.argument("ticket")
@click.argument("text", nargs=-1, required=True)
@click.option("--by", default="", metavar="NAME", help="Who wrote it; the summary says so.")
@verb()
def write(memory: Memory, ticket: str, text: tuple[str, ...], by: str, as_json: bool) -> None:
    """Store the text of a batch that was handed out, once; TEXT `-` reads standard input."""
    made = memory.write_rollup(ticket, text_argument(text), by=by)
    answer(made, made.handle, as_json=as_json)
    if made.more:
        click.echo(f"pyramid: {made.more} more due: pyramid rollup next", err=True)


COMMANDS = {"advance": advance, "redo": redo, "rollup": rollup}

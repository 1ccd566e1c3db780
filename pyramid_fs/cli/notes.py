"""The verbs that write and read notes: record, map, load, expand, recall."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pyramid_fs import bounds, context, growing, render
from pyramid_fs.cli.common import answer, indexing_shown, say_future, text_argument, verb
from pyramid_fs.errors import PyramidError, UsageError

if TYPE_CHECKING:
    from pyramid_fs.context import Loaded, Map
    from pyramid_fs.memory import Memory

MODEL = click.option("-m", "--model", "models", multiple=True, metavar="MODEL", help="Repeat it for several models.")
AS_OF = click.option("--as-of", metavar="DATE", help="As it was at the end of that day, or at that time.")
FROM_DATES = click.option("--from-dates", is_flag=True, help="With --as-of: by the dates in the files, not from git.")
NO_ADVANCE = click.option("--no-advance", is_flag=True, help="Write no summaries that have come due.")


def _grow(memory: Memory, models: tuple[str, ...]) -> None:
    """Write a few summaries that came due: at once where it is quick, else in a process of its own."""
    summarizer = memory.summarizer
    if summarizer is None or not memory.config.background or growing.is_inside():
        return
    if not summarizer.slow:
        grown = memory.grow_some(models)
        for model, reason in grown.failed.items():
            click.echo(f"pyramid: {model}: {reason}", err=True)
        return
    if memory.due_soon(models):
        growing.detach(memory.name, growing.growth(models))  # it outlives the command, which doesn't wait for a model


@click.command()
@click.argument("text", nargs=-1, required=True)
@MODEL
@click.option("--source", default="", help="Where the text comes from, as in claude-code:SESSION.")
@click.option("--created", metavar="TIME", help="When it was observed, if not now: 2026-11-29 or 2026-11-29T20:15Z.")
@click.option("--create", is_flag=True, help="Make a model that is not there yet.")
@NO_ADVANCE
@verb()
def record(
    memory: Memory,
    text: tuple[str, ...],
    models: tuple[str, ...],
    source: str,
    created: str | None,
    create: bool,
    no_advance: bool,
    as_json: bool,
) -> None:
    """Write one note into one or several models and print its handle; TEXT `-` reads standard input."""
    made = memory.record(
        text_argument(text), models, source=source, created=memory.time(created) if created else None, create=create
    )
    answer(made, made.handle, as_json=as_json)
    if made.repeat:
        click.echo(f"pyramid: recorded within the last day already; it is in: {', '.join(made.models)}", err=True)
    for warning in made.warnings:
        click.echo(f"pyramid: {warning}: {made.path}", err=True)
    if not no_advance:
        try:
            _grow(memory, made.models)
        except PyramidError as error:  # the note is safe; growth is tried again by whoever comes next
            click.echo(f"pyramid: {error}", err=True)


def _dates_alone(as_of: str | None, *, from_dates: bool) -> None:
    if from_dates and as_of is None:
        raise UsageError("--from-dates says how to look back: name the date, --as-of DATE")


def _is_past(memory: Memory, found: Map | Loaded, *, as_json: bool) -> bool:
    """Print an answer of days gone by under the lines that say what it goes by; say whether it is one."""
    from pyramid_fs import snapshots  # it starts processes, which who asks for the present need not wait for

    if isinstance(found, (snapshots.PastMap, snapshots.PastLoaded)):
        answer(found, snapshots.as_text(found), as_json=as_json)
        say_future(memory, found.as_of.asked)
        return True
    return False


def _say_tiers(memory: Memory, found: Loaded, tier: str | None) -> None:
    """Say of models that lack a tier which they have."""
    if tier is None or not tier.isdigit():
        return
    for model in found.models:
        there = context.by_tier(memory.census.now(model.name).state)
        if (tier.lstrip("0") or "0") not in there:
            has = f"it has {', '.join(sorted(there, key=int))}" if there else "it has none yet, only notes"
            click.echo(f"pyramid: {model.name} has no tier {tier}: {has}", err=True)


@click.command("map")
@AS_OF
@FROM_DATES
@verb()
def map_(memory: Memory, as_of: str | None, from_dates: bool, as_json: bool) -> None:
    """Show the index of models and the newest notes. Nothing is loaded by it."""
    _dates_alone(as_of, from_dates=from_dates)
    found = memory.map(as_of=as_of, from_dates=from_dates)
    if as_of is not None and _is_past(memory, found, as_json=as_json):
        return
    text = render.map_with_costs(found, memory.boot_tokens(found), bounds.TOOLS)
    answer(found, text, as_json=as_json)


@click.command()
@click.argument("models", nargs=-1, required=True)
@click.option("--chars", type=int, help="Characters for each model's view.")
@click.option("--tier", metavar="N", help="A whole tier in pages: its number, `notes` or `tail`.")
@click.option("--page", type=int, default=1, help="Which page of the tier.")
@AS_OF
@FROM_DATES
@NO_ADVANCE
@verb()
def load(
    memory: Memory,
    models: tuple[str, ...],
    chars: int | None,
    tier: str | None,
    page: int,
    as_of: str | None,
    from_dates: bool,
    no_advance: bool,
    as_json: bool,
) -> None:
    """Show models: summaries that cover all notes, the newest notes, and what a budget left out."""
    _dates_alone(as_of, from_dates=from_dates)
    found = memory.load(models, chars=chars, tier=tier, page=page, as_of=as_of, from_dates=from_dates)
    if as_of is not None and _is_past(memory, found, as_json=as_json):  # who looks back has nothing grow
        if tier is not None and tier.isdigit() and not any(model.summaries or model.left for model in found.models):
            click.echo(f"pyramid: there was no tier {tier} then", err=True)
        return
    answer(found, render.loaded_text(found), as_json=as_json)
    sys.stdout.flush()
    _say_tiers(memory, found, tier)
    if not no_advance:
        try:
            _grow(memory, tuple(model.name for model in found.models))
        except PyramidError as error:  # the answer is given already
            click.echo(f"pyramid: {error}", err=True)


@click.command()
@click.argument("handle")
@click.option("--depth", type=click.IntRange(min=1), default=1, help="So many tiers down.")
@verb()
def expand(memory: Memory, handle: str, depth: int, as_json: bool) -> None:
    """Show the sources of a summary, or a note with the summaries made from it."""
    found = memory.expand(handle, depth=depth)
    answer(found, render.expanded_text(found), as_json=as_json)


@click.command()
@click.argument("query", nargs=-1, required=True)
@MODEL
@click.option("--kind", "kinds", multiple=True, help="note, summary, card, topic, session, entity or procedure.")
@click.option("--tier", type=int, help="Summaries of one tier.")
@click.option("--since", default="", metavar="DATE")
@click.option("--until", default="", metavar="DATE", help="Both ends are included.")
@click.option("-n", "limit", type=int, default=10, show_default=True, help="So many hits.")
@click.option("--start", type=int, default=0, metavar="N", help="Leave out the first N hits: the rest of an answer.")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@verb()
def recall(memory: Memory, query: tuple[str, ...], limit: int, explain: bool, as_json: bool, **filters: object) -> None:
    """Find texts: more of the words ranks higher; a "quoted phrase" must be there, a -word must not.

    QUERY `-` reads standard input.
    """
    with indexing_shown(memory) as progress:
        found = memory.recall(text_argument(query), limit=limit, progress=progress, **filters)
    answer(found, render.hits_text(found, explain=explain), as_json=as_json)


@click.command()
@click.argument("handle")
@click.argument("query", nargs=-1, required=True)
@MODEL
@click.option("--kind", "kinds", multiple=True, help="As for recall, like the options below.")
@click.option("--tier", type=int)
@click.option("--since", default="", metavar="DATE")
@click.option("--until", default="", metavar="DATE")
@verb()
def why(memory: Memory, handle: str, query: tuple[str, ...], as_json: bool, **filters: object) -> None:
    """Say why a file comes up for a query, and where, or why it does not."""
    with indexing_shown(memory) as progress:
        found = memory.why(handle, text_argument(query), progress=progress, **filters)
    answer(found, render.why_text(found), as_json=as_json)


COMMANDS = {"record": record, "map": map_, "load": load, "expand": expand, "recall": recall, "why": why}

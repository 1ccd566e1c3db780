"""The verbs that write summaries: advance, redo, rollup."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pyramid_fs import context, render, times, trust
from pyramid_fs.cli.common import answer, harmless, text_argument, verb
from pyramid_fs.notes import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyramid_fs.context import RedoPlan
    from pyramid_fs.memory import Memory
    from pyramid_fs.pyramid import Batch
    from pyramid_fs.summarizers import Call

FAILED = 30
LOCKED = 12
MANY = 10
"""More summaries than this are not written again on a terminal without a yes."""

_Done = TypeVar("_Done")


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
        with _ends_in_order():
            memory.grow_some(models)
        return 0
    due = memory.due(models)
    asked = due if limit is None else due[:limit]
    if dry_run:
        found = context.Advanced(memory.name, (), len(due), batches=tuple(_shown(memory, batch) for batch in asked))
        answer(found, render.advanced_text(found) if due else "Nothing is due.", as_json=as_json)
        return 0
    say(trust.warnings(memory.prompts))
    done = with_progress(len(asked), lambda step, told: memory.advance(models, limit=limit, step=step, told=told))
    found = replace(done, planned=len(due))
    answer(found, render.advanced_text(found), as_json=as_json)
    summarizer = memory.summarizer
    if summarizer and not summarizer.draft:
        say(context.drafts_line(memory.drafts(models)))
    say((*found.failed, *found.held))
    say(f"{model} is being advanced by another process" for model in found.busy)
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


def say(lines: Iterable[str]) -> None:
    """Print lines on stderr."""
    for line in lines:
        click.echo(f"pyramid: {harmless(line)}", err=True)


def with_progress(due: int, run: Callable[[Callable[[Summary], None], Callable[[Call], None]], _Done]) -> _Done:
    """Have summaries written under a progress bar on a terminal: how many, the rate, what was spent, the time left."""
    if not due or not sys.stderr.isatty():
        with _ends_in_order():
            return run(lambda _: None, lambda _: None)
    begun, calls = time.monotonic(), list[Any]()
    with (
        _ends_in_order(),
        click.progressbar(
            length=due,
            label="Summaries",
            show_pos=True,
            show_eta=False,
            file=sys.stderr,
            item_show_func=lambda line: line,
            width=0,  # as wide as what stands beside it leaves room for
            bar_template="%(label)s  [%(bar)s]  %(info)s",
        ) as bar,
    ):

        def step(summary: Summary) -> None:
            tokens = sum((call.tokens_in or 0) + (call.tokens_out or 0) for call in calls)
            said = render.progress_line(bar.pos + 1, due, time.monotonic() - begun, len(calls), tokens)
            bar.update(1, said if calls else f"{said} {summary.handle}")

        return run(step, calls.append)


@contextlib.contextmanager
def _ends_in_order() -> Iterator[None]:
    """Take a request to end, and a terminal that closes, as Ctrl-C: the programs that write summaries end with us."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()
    # one that is ignored, as under nohup, stays so
    ours = [number for number in numbers if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@click.command()
@click.argument("handles", nargs=-1)
@click.option("--tier", type=click.IntRange(min=0), help="All summaries of a tier.")
@click.option("-m", "--model", "models", multiple=True, help="All summaries of a model.")
@click.option("--drafts", is_flag=True, help="All that were written without a model.")
@click.option("--dry-run", is_flag=True, help="Say what would be written and what it costs, and write nothing.")
@click.option("--yes", is_flag=True, help=f"Do not ask, also where it is more than {MANY}.")
@verb()
def redo(
    memory: Memory,
    handles: tuple[str, ...],
    tier: int | None,
    models: tuple[str, ...],
    drafts: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Write summaries again over the same batches, in the same files, and then those above them.

    Name them, or say which; -m narrows the other two. Safe to interrupt at any moment.
    """
    if len(handles) == 1 and not (models or drafts or dry_run) and tier is None:
        with _ends_in_order():
            written = [summary.handle for summary in memory.redo(handles[0])]
        answer({"vault": memory.name, "written": written}, "\n".join(written), as_json=as_json)
        return 0
    plan = memory.redo_plan(handles, tier=tier, models=models, drafts=drafts)
    if dry_run:
        plan = _measured(memory, plan, lambda: memory.redo_plan(handles, tier=tier, models=models, drafts=drafts))
        answer(plan, render.redo_plan_text(plan), as_json=as_json)
        return 0
    say(trust.warnings(memory.prompts))
    if len(plan.summaries) > MANY and not yes and not _is_wanted(plan):
        return 0
    found = with_progress(
        len(plan.summaries),
        lambda step, told: memory.redo_many(handles, tier=tier, models=models, drafts=drafts, step=step, told=told),
    )
    text = render.redone_text(found) if plan.summaries else render.redo_plan_text(plan)
    answer(found, text, as_json=as_json)
    say(f"{handle}: {reason}" for handle, reason in found.failed.items())
    return found.exit_code


def _measured(memory: Memory, plan: RedoPlan, again: Callable[[], RedoPlan]) -> RedoPlan:
    """Give the plan with an estimate: where none can be told yet, one batch is written on trial."""
    summarizer = memory.summarizer
    if plan.estimate or not plan.summaries or not (summarizer and summarizer.slow):
        return plan
    say([f"{summarizer.name} was not called yet: one batch is tried, and nothing stored"])
    tried = memory.try_summarizer(next(iter(plan.models)))
    say([f"what it would cost can't be told: {tried.reason}"] if tried.reason else [])
    return again()


def _is_wanted(plan: RedoPlan) -> bool:
    if not sys.stdin.isatty():
        return True
    click.echo(render.redo_plan_text(plan), err=True)
    is_wanted = click.confirm("Write them again?", err=True)
    say([] if is_wanted else ["nothing was written"])
    return is_wanted


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

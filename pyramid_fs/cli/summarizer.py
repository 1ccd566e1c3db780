"""The verbs around who writes the summaries: summarizer test, setup summarizer, trust."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs import choosing, clients, files, render, trust
from pyramid_fs.cli.common import answer, verb
from pyramid_fs.errors import RefusedWrite, SummarizerFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyramid_fs.memory import Memory
    from pyramid_fs.settings import SummarizerSettings
    from pyramid_fs.summarizers import Summarizer
    from pyramid_fs.summarizers.presets import Choice

FAILED = 30


# Trying


@click.group("summarizer")
def summarizer_() -> None:
    """See how the summarizer that is set up does; `pyramid setup summarizer` sets one up."""


@summarizer_.command("test")
@click.argument("model", required=False)
@verb()
def test(memory: Memory, model: str | None, as_json: bool) -> int:
    """Have one batch summarized (of MODEL, if named) and show what came; nothing is stored.

    It is the next batch that is due, else that of the newest summary, else bundled notes.
    """
    _warn(memory)
    found = memory.try_summarizer(model)
    answer(found, render.tried_text(found), as_json=as_json)
    if found.reason:
        click.echo(f"pyramid: {' '.join(found.reason.split())}", err=True)
    return FAILED if found.reason else 0


def _warn(memory: Memory) -> None:
    for line in trust.warnings(memory.prompts):
        click.echo(f"pyramid: {line}", err=True)


# Trusting


@click.command("trust")
@click.option("--yes", is_flag=True, help="Trust them without a question.")
@verb()
def trust_(memory: Memory, yes: bool, as_json: bool) -> None:
    """Show the vault's own prompts, prompts/notes.md and prompts/rollups.md, and have them used on this machine.

    A prompt says what is asked of a model that reads your notes. One that changes later is not used until it is trusted
    anew.
    """
    found = memory.prompts
    new = [prompt for prompt in found if not prompt.is_trusted and not prompt.problem]
    if not as_json:
        click.echo("\n".join(_prompt_lines(found)) or f"{memory.name} has no prompts of its own; ours are used.")
    if new and (yes or (not as_json and _is_terminal() and click.confirm("Use them on this machine?", err=True))):
        memory.trust(new)
        click.echo(f"pyramid: trusted: {', '.join(prompt.path for prompt in new)}", err=True)
    elif new:
        click.echo("pyramid: nothing was trusted; --yes trusts what is shown", err=True)
    if as_json:
        answer({"vault": memory.name, "prompts": memory.prompts}, "", as_json=True)


def _prompt_lines(found: Sequence[trust.Prompt]) -> list[str]:
    lines = []
    for prompt in found:
        state = prompt.problem or ("trusted on this machine" if prompt.is_trusted else "not trusted: it is not used")
        # what a terminal acts on could hide a part of it from the eyes that decide
        lines += [f"# {prompt.path} ({state})", "", render.quote(render.in_plain_sight(prompt.text.rstrip("\n"))), ""]
    return lines


def _is_terminal() -> bool:
    return sys.stdin.isatty()


# Setting up


@click.command("summarizer")
@click.argument("name", metavar="[CHOICE]", required=False)
@click.option("--write", is_flag=True, help="Write the choice into config.toml.")
@click.option("--yes", is_flag=True, help="Send the batch without a question.")
@verb(answers=False)
def set_up_summarizer(memory: Memory, name: str | None, write: bool, yes: bool) -> None:
    """Choose who writes the summaries: lists what this machine has, tries one on a real batch, writes config.toml.

    Nothing is sent anywhere before you say yes, or name a CHOICE with --yes.
    """
    found = choosing.choices(os.environ, shutil.which)
    choice = choosing.named(name, found) if name else None
    asks = _is_terminal() and not yes
    if choice is None:
        click.echo("\n".join(_choice_lines(found, memory.config.summarizer)))
        choice = found[0] if asks and found[0] is not choosing.AGENT else None
    if choice is None:
        return
    if choice is not choosing.AGENT and not _tried(memory, choice, yes=yes, asks=asks):
        if write:
            raise UsageError("nothing was sent, and nothing written: --yes says yes to a try where nobody is asked")
        click.echo("pyramid: nothing was sent, and nothing written", err=True)
        return
    _written(memory, choice, write=write, yes=yes, asks=asks)


def _choice_lines(found: Sequence[Choice], now: SummarizerSettings) -> list[str]:
    lines = ["Who can write the summaries on this machine:"]
    for choice in found:
        mark = "*" if choosing.is_configured(choice, now) else " "
        costs = "may cost money" if choice.costs else "costs nothing"
        lines.append(f"{mark} {choice.name:<11} {choice.line} ({costs})")
    if any(choosing.is_configured(choice, now) for choice in found):
        lines.append("* is set up now.")
    else:
        lines.append(f"Set up now: {now.kind}{f', {now.model or now.command[0]}' if now.model or now.command else ''}.")
    if found[0] is choosing.AGENT:
        lines.append(
            "No model was found: install Claude Code, Ollama or llm, or set ANTHROPIC_API_KEY or OPENAI_API_KEY."
        )
    return [*lines, "Try one and set it up: pyramid setup summarizer NAME"]


def _tried(memory: Memory, choice: Choice, *, yes: bool, asks: bool) -> bool:
    """Try a choice on a batch, once that is allowed; False where it is not. Raise SummarizerFailed where it fails."""
    from pyramid_fs.summarizers import configured

    writer = configured(choosing.chosen(choice, memory.config.summarizer))
    if writer is None or not _may_try(memory, choice, yes=yes, asks=asks):
        return False
    _warn(memory)
    found = memory.try_summarizer(summarizer=writer)
    click.echo(render.tried_text(found))
    if found.reason:
        raise SummarizerFailed(f"{found.reason}; nothing was written")
    for line in _estimates(memory, writer):
        click.echo(line)
    return True


def _may_try(memory: Memory, choice: Choice, *, yes: bool, asks: bool) -> bool:
    is_sent = choosing.sends(choice, os.environ)
    where = f"go to {choice.name}" if is_sent else f"are read by {choice.name} on this machine"
    trial = memory.trial()
    click.echo(f"This tries one batch: {trial.request.chars:,} characters {where}.", err=True)
    click.echo(f"It is {trial.what}. {choice.name}: {choice.line}.", err=True)
    if yes or choice is choosing.EXTRACTIVE:
        return True
    if asks:
        return click.confirm("Go on?", err=True)
    if is_sent:
        click.echo("pyramid: --yes sends it", err=True)
    return not is_sent


def _estimates(memory: Memory, writer: Summarizer) -> list[str]:
    if not writer.slow:
        return []
    counts = {"Due now": len(memory.due()), "Drafts to write again": memory.drafts(summarizer=writer)}
    found = {what: memory.estimate(count, writer) for what, count in counts.items() if count}
    return [f"{what}: {render.estimate_line(cost)}" for what, cost in found.items() if cost]


def _written(memory: Memory, choice: Choice, *, write: bool, yes: bool, asks: bool) -> None:
    """Show what changes in config.toml, and change it once that is said."""
    path = files.config_file(os.environ).resolve()  # it may be a link into a folder of dotfiles
    before, text = _read(path)
    after = _changed(memory, text, choice, path)
    if after == text:
        click.echo(f"{choice.name} is set up already: {path}")
        return
    click.echo(clients.shown(str(path), text if before is not None else None, after))
    if not write and not (asks and click.confirm(f"Write this into {path}?", err=True)):
        click.echo("pyramid: nothing was written; --write writes it", err=True)
        return
    if not yes and not asks:
        raise UsageError("nothing was written: --write --yes writes it without a question")
    if choice.costs and asks:
        limit = memory.config.summarizer.calls_per_day
        question = f"May this machine write summaries on its own, in the background, up to {limit:,} calls a day?"
        after = _changed(memory, text, choice, path, background=click.confirm(question, err=True))
    if before is None:
        files.create(path, after.encode())
    else:
        files.replace(path, after.encode(), before)
    click.echo(f"Written: {path}. Next: {'start your agent' if choice is choosing.AGENT else 'pyramid advance'}")
    if choice.costs and not asks and memory.config.background:
        click.echo("pyramid: this machine advances on its own; `[advance] background = false` ends that", err=True)


def _read(path: Path) -> tuple[bytes | None, str]:
    try:
        data = files.read(path)
    except FileNotFoundError:
        return None, ""
    try:
        return data, data.decode()
    except UnicodeDecodeError:
        raise RefusedWrite(f"{path} is not UTF-8 text: nothing was written; save it as UTF-8 first") from None


def _changed(memory: Memory, text: str, choice: Choice, path: Path, *, background: bool | None = None) -> str:
    after = choosing.with_choice(text, choice, background=background)
    choosing.check(after, choice, str(path), memory.name, str(Path.home()))
    return after


COMMANDS = {"summarizer": summarizer_, "trust": trust_}

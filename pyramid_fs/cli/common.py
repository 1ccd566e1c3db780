"""What the verbs share: opening the vault, the options that all take, and the two ways to answer."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pyramid_fs.errors import UsageError
from pyramid_fs.memory import Memory, read_config
from pyramid_fs.vault import find_vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_Command = TypeVar("_Command", bound="Callable[..., Any]")


def opened(ctx: click.Context, vault: str | None) -> Memory:
    """Open the vault that is meant, and say what is odd in its settings."""
    named = vault or ctx.find_root().obj["vault"]
    default = read_config(os.environ, None).default_vault
    memory = Memory(find_vault(named, os.environ, _here(), default))
    for warning in memory.warnings:
        click.echo(f"pyramid: {warning}", err=True)
    ctx.call_on_close(memory.close)
    return memory


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:  # the folder was removed under the shell
        return Path("/")


def verb(*, answers: bool = True) -> Callable[[_Command], _Command]:
    """Give a command `--vault` (before or after the verb), and `--json` where it answers; it gets an open Memory."""

    def decorate(command: _Command) -> _Command:
        @wraps(command)
        @click.pass_context
        def run(ctx: click.Context, /, *args: Any, vault: str | None, **options: Any) -> Any:
            return command(opened(ctx, vault), *args, **options)

        run = click.option("--vault", metavar="DIR", help="The vault, if not the one at hand.")(run)
        return json_option(run) if answers else run  # type: ignore[return-value]

    return decorate


def json_option(command: Any) -> Any:
    """Give a command `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Answer in JSON, for programs.")(command)


def answer(value: object, text: str, *, as_json: bool) -> None:
    """Print an answer: the value's JSON, or the text."""
    click.echo(json.dumps(plain(value), ensure_ascii=False, indent=2) if as_json else harmless(text))


def harmless(text: str) -> str:
    """Show what a terminal would act on by its number: a note may come from anywhere; `--json` gives it as it is."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def plain(value: Any) -> Any:
    """Turn a value into what JSON holds; fields in their order, times as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: plain(item) for key, item in asdict(value).items()}
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def say_future(memory: Memory, *asked: str | None) -> None:
    """Say of dates that are yet to come what is shown for them, on stderr."""
    for one in dict.fromkeys(asked):
        if one is not None and memory.is_future(one):
            click.echo(f"pyramid: {one.strip()} is in the future: this is the memory as it is now", err=True)


MUCH = 500
"""Texts to take into the index from which on a person is shown how it goes."""


@contextmanager
def indexing_shown(memory: Memory) -> Iterator[Callable[[int, int], None]]:
    """Show how the index is coming on where that takes long, and say what is to be said of it, on stderr."""
    bar: Any = None

    def progress(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and total >= MUCH and sys.stderr.isatty():
            bar = click.progressbar(length=total, label="Indexing", show_pos=True, file=sys.stderr)
            bar.__enter__()
        if bar is not None:
            bar.update(done - bar.pos)

    try:
        yield progress
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)
        for line in memory.news:
            click.echo(f"pyramid: {line}", err=True)


def text_argument(words: tuple[str, ...]) -> str:
    """Give the text of an argument list; `-` alone reads standard input as UTF-8."""
    if words != ("-",):
        return " ".join(words)
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8 text") from None

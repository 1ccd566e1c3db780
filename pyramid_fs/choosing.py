"""Who is to write the summaries: the choices that a machine has, and `config.toml` with one of them written in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyramid_fs import settings
from pyramid_fs.errors import RefusedWrite, UsageError
from pyramid_fs.summarizers.presets import Choice, detect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyramid_fs.settings import SummarizerSettings

AGENT = Choice(
    "agent",
    "the agent itself, as it works: it asks for what is due (next_rollup) and hands in the text (write_rollup)",
    costs=False,
    table={"kind": "none"},
)
EXTRACTIVE = Choice(
    "extractive",
    "no model: whole sentences are picked from the notes, at once; a model may write them again later",
    costs=False,
    table={"kind": "extractive"},
)
WHO = ("kind", "command", "model", "base_url", "key_command")
"""Settings that say who is asked; an address or a key of one is never left to another."""


def choices(environ: Mapping[str, str], which: Callable[[str], str | None]) -> list[Choice]:
    """List who can write summaries on this machine: models first, the best known of them first."""
    return [*detect(environ, which), AGENT, EXTRACTIVE]


def named(name: str, found: Sequence[Choice]) -> Choice:
    """Find a choice by its name; UsageError lists those that there are."""
    for choice in found:
        if choice.name == name:
            return choice
    known = ", ".join(choice.name for choice in found)
    raise UsageError(
        f"{name!r} is not on this machine; there are: {known}. Any other program or server is named in config.toml"
    )


def chosen(choice: Choice, now: SummarizerSettings) -> SummarizerSettings:
    """Give the settings with a choice in place of who is asked now; how it is asked stays."""
    table = {"command": (), "model": "", "base_url": "", "key_command": (), **choice.table}
    return replace(now, **{**table, "command": tuple(table["command"])})


def is_configured(choice: Choice, now: SummarizerSettings) -> bool:
    """Whether a choice is what the settings name, perhaps with another model."""
    if choice.table["kind"] != now.kind:
        return False
    return now.kind != "command" or now.command[0].replace("\\", "/").rpartition("/")[2] == choice.name


def sends(choice: Choice, environ: Mapping[str, str]) -> bool:
    """Whether notes leave this machine by a choice."""
    return choice.costs or (choice.name == "ollama" and bool(environ.get("OLLAMA_HOST")))


def with_choice(text: str, choice: Choice, *, background: bool | None = None) -> str:
    """Write a choice into the text of `config.toml`; all else of it stays as it is. RefusedWrite where that can't be.

    `background` says whether this machine advances on its own; None leaves that as it is.
    """
    import tomlkit  # 60 ms to import, for setting up alone
    from tomlkit.exceptions import TOMLKitError

    try:
        file = tomlkit.parse(text)
        table = _table(file, "summarizer")
        for key in WHO:
            if key not in choice.table and key in table:
                del table[key]
        for key, value in choice.table.items():
            table[key] = value
        if background is not None:
            _table(file, "advance")["background"] = background
        return tomlkit.dumps(file)
    except (TOMLKitError, TypeError, KeyError, ValueError) as error:
        raise RefusedWrite(f"config.toml can't be changed ({error}): write into it {choice.toml}") from None


def _table(file: Any, name: str) -> Any:
    import tomlkit

    if name not in file:
        if file.as_string().strip():
            file.add(tomlkit.nl())
        file[name] = tomlkit.table()
    return file[name]


def check(text: str, choice: Choice, where: str, vault: str, home: str) -> None:
    """Raise RefusedWrite where a changed `config.toml` would not do for this vault what was chosen."""
    found = settings.read_person(text, where, vault, home).summarizer
    if found != chosen(choice, found):
        raise RefusedWrite(
            f'{where} says something else for this vault (`[vaults."…".summarizer]`), which goes before '
            "`[summarizer]`: nothing was written; change it there"
        )

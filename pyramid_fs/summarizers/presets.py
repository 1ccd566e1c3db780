"""Summarizers that a machine may have already: the programs and keys to look for, and the settings for each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Only defaults: small models that were current when this was written. `model` in config.toml names any other.
CLAUDE_MODEL = "haiku"
OLLAMA_MODEL = "gemma3"
OPENAI_MODEL = "gpt-5.4-mini"
ANTHROPIC_MODEL = "claude-haiku-5-5"


@dataclass(frozen=True, slots=True)
class Choice:
    """One way in which this machine can write summaries."""

    name: str
    line: str
    """What it is, for somebody who chooses."""
    costs: bool
    """Whether it may cost money."""
    table: Mapping[str, Any]
    """The `[summarizer]` table of config.toml."""

    @property
    def toml(self) -> str:
        """The table as it stands in config.toml."""
        # a text or a list of texts reads the same in JSON and in TOML
        return "\n".join(["[summarizer]", *(f"{key} = {json.dumps(value)}" for key, value in self.table.items()), ""])


def preset(name: str, model: str = "") -> tuple[str, ...]:
    """Give the argument list by which a known program summarizes what it reads."""
    if name == "claude":
        # no hooks, servers, tools or session of its own: it would otherwise read, and grow, the memory it works for
        bare = ("--no-session-persistence", "--strict-mcp-config", "--setting-sources", "", "--tools", "")
        return ("claude", "-p", "--model", model or CLAUDE_MODEL, "--output-format", "text", *bare)
    if name == "llm":
        return ("llm", *(("-m", model) if model else ()), "--no-stream", "-n")
    if name == "ollama":
        return ("ollama", "run", model or OLLAMA_MODEL)
    raise UsageError(f"there is no preset {name!r}: take claude, llm or ollama, or name the program and its words")


def detect(environ: Mapping[str, str], which: Callable[[str], str | None]) -> list[Choice]:
    """List what on this machine can write summaries, best known first."""
    found = [choice for choice in _programs() if which(choice.name)]
    return found + [choice for variable, choice in _keys() if environ.get(variable, "").strip()]


def _programs() -> list[Choice]:
    return [
        Choice(
            "claude",
            "Claude Code, with your own plan or key; the notes go to Anthropic",
            costs=True,
            table=_run("claude"),
        ),
        Choice(
            "ollama",
            f"Ollama, on this machine; needs `ollama pull {OLLAMA_MODEL}` once",
            costs=False,
            table=_run("ollama"),
        ),
        Choice(
            "llm",
            "llm, with the model that is its default; the notes go where that model is",
            costs=True,
            table=_run("llm"),
        ),
    ]


def _run(name: str) -> dict[str, Any]:
    return {"kind": "command", "command": list(preset(name))}


def _keys() -> list[tuple[str, Choice]]:
    return [
        (f"{name.upper()}_API_KEY", Choice(name, line, costs=True, table={"kind": name, "model": model}))
        for name, line, model in (
            ("anthropic", f"Anthropic's API, {ANTHROPIC_MODEL}, paid by use; the notes go there", ANTHROPIC_MODEL),
            ("openai", f"OpenAI's API, {OPENAI_MODEL}, paid by use; the notes go there", OPENAI_MODEL),
        )
    ]

"""What a machine has that can write summaries, and the settings for it."""

from __future__ import annotations

import re
import tomllib

import pytest

from pyramid_fs.errors import UsageError
from pyramid_fs.settings import SummarizerSettings, read_person
from pyramid_fs.summarizers import presets
from pyramid_fs.summarizers.presets import detect, preset

KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}


def found(name: str) -> str | None:
    return f"/usr/bin/{name}"


def nothing(_: str) -> str | None:
    return None


def test_a_preset_is_a_list_of_words() -> None:
    claude = preset("claude")
    assert claude[:4] == ("claude", "-p", "--model", presets.CLAUDE_MODEL)
    assert claude[claude.index("--setting-sources") + 1] == ""
    assert claude[claude.index("--tools") + 1] == ""
    assert {"--strict-mcp-config", "--no-session-persistence"} <= set(claude)
    assert preset("claude", "opus")[3] == "opus"
    assert preset("llm") == ("llm", "--no-stream", "-n")
    assert preset("llm", "small") == ("llm", "-m", "small", "--no-stream", "-n")
    assert preset("ollama") == ("ollama", "run", presets.OLLAMA_MODEL)
    assert preset("ollama", "small") == ("ollama", "run", "small")
    with pytest.raises(UsageError, match="take claude, llm or ollama"):
        preset("magic")


def test_what_is_there_is_found() -> None:
    assert detect({}, nothing) == []
    assert [choice.name for choice in detect(KEYS, found)] == ["claude", "ollama", "llm", "anthropic", "openai"]
    assert [choice.name for choice in detect({"OPENAI_API_KEY": "k"}, nothing)] == ["openai"]
    assert detect({"OPENAI_API_KEY": " "}, nothing) == []
    assert [choice.name for choice in detect({}, lambda name: found(name) if name == "llm" else None)] == ["llm"]
    assert [choice.name for choice in detect(KEYS, found) if not choice.costs] == ["ollama"]


def test_each_choice_is_a_table_that_the_settings_take_as_it_stands() -> None:
    for choice in detect(KEYS, found):
        assert tomllib.loads(choice.toml) == {"summarizer": dict(choice.table)}
        settings = read_person(choice.toml, "config.toml", "/v", "/home/ada").summarizer
        words = tuple(choice.table.get("command", ()))
        assert settings == SummarizerSettings(choice.table["kind"], words, choice.table.get("model", ""))
        assert "\n" not in choice.line
        assert not re.search(r"\bk\b", choice.toml), "no key is written down"

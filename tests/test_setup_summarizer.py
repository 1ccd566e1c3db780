"""Choosing who writes the summaries: what is found, that nothing is sent unasked, and what becomes of config.toml."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, choosing, cli, settings, vault
from pyramid_fs.errors import RefusedWrite, UsageError
from pyramid_fs.summarizers.presets import Choice, preset

if TYPE_CHECKING:
    from pathlib import Path

SAYS = "Alice and Bob met at the harbour in May and agreed on the price of the boat."
TRY = r"Go on\? \[y/N\]: "
WRITE = r"Write this into .*config\.toml\? \[y/N\]: "
ALONE = r"May this machine write summaries on its own, .* 500 calls a day\? \[y/N\]: "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with 22 notes at hand, and a PATH and settings of its own."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYRAMID_CONFIG", str(tmp_path / "config.toml"))
    for name in ("PYRAMID_VAULT", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "vault"
    vault.make_vault(root, models={"alice": "A friend."})
    for day in range(1, 23):
        (root / f"models/alice/n{day:02}.md").write_text(
            f"---\ncreated: 2026-05-{day:02}\n---\nOn {day} May 2026 Alice and Bob met at the harbour, number {day}.\n"
        )
    with Memory(root) as memory:
        memory.advance(limit=1)
    monkeypatch.chdir(root)
    return tmp_path


def program(folder: Path, name: str, says: str = SAYS, code: int = 0) -> None:
    """Put a program on the PATH that writes summaries, and keeps how it was called and what it was given."""
    path = folder / "bin" / name
    path.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >> {folder}/called\ncat >> {folder}/given\necho "{says}"\nexit {code}\n'
    )
    path.chmod(0o755)


def calls(folder: Path) -> int:
    path = folder / "called"
    return len(path.read_text().splitlines()) if path.exists() else 0


def run(*words: str) -> int:
    return cli.run(["setup", "summarizer", *words])


def config(folder: Path) -> dict[str, Any]:
    path = folder / "config.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


# Without a terminal


def test_it_lists_what_is_there_with_what_it_costs_and_which_is_set_up(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run() == 0
    out = capsys.readouterr().out
    assert "* extractive  no model: " in out
    assert "  agent " in out
    assert "No model was found" in out
    program(folder, "claude")
    program(folder, "ollama")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-invented")
    (folder / "config.toml").write_text('[summarizer]\nkind = "command"\ncommand = ["/opt/bin/ollama", "run", "big"]\n')
    assert run() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["claude", "*", "openai", "agent", "extractive"]
    assert lines[1].endswith("(may cost money)")
    assert lines[2].startswith("* ollama ")
    assert lines[2].endswith("(costs nothing)")
    (folder / "config.toml").write_text('[summarizer]\nkind = "command"\ncommand = ["mine"]\n')
    run()
    assert "Set up now: command, mine." in capsys.readouterr().out
    assert calls(folder) == 0


def test_nothing_is_sent_before_a_yes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(folder, "claude")
    for words in (["claude"], ["--write", "--yes"], ["--yes"]):
        assert run(*words) == 0
    assert run("claude", "--write") == 2
    assert calls(folder) == 0
    assert config(folder) == {}
    err = capsys.readouterr().err
    assert "This tries one batch: 590 characters go to claude." in err
    assert "pyramid: nothing was sent, and nothing written" in err


def test_ollama_is_on_this_machine_and_tried_at_once_unless_it_is_elsewhere(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program(folder, "ollama")
    assert run("ollama") == 0
    out, err = capsys.readouterr()
    assert f"> {SAYS}" in out
    assert "are read by ollama on this machine" in err
    assert calls(folder) == 1
    monkeypatch.setenv("OLLAMA_HOST", "gpu.example.org")
    assert run("ollama") == 0
    assert calls(folder) == 1


def test_a_choice_with_a_yes_is_tried_and_shown_with_estimates(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(folder, "claude")
    assert run("claude", "--yes") == 0
    out, err = capsys.readouterr()
    assert f"> {SAYS}" in out
    assert f"Length: {len(SAYS)} characters; 600 were asked for" in out
    assert "Due now: 1 summary: some " in out
    assert "Drafts to write again: 1 summary: some " in out
    assert '+[summarizer]\n+kind = "command"\n+command = ["claude", "-p"' in out
    assert "nothing was written; --write writes it" in err
    assert config(folder) == {}
    assert (folder / "called").read_text() == f"{' '.join(preset('claude')[1:])}\n"
    assert "number 12." in (folder / "given").read_text()


def test_write_and_yes_write_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(folder, "claude")
    assert run("claude", "--write", "--yes") == 0
    assert config(folder) == {"summarizer": {"kind": "command", "command": list(preset("claude"))}}
    assert "[advance] background = false" in capsys.readouterr().err
    with Memory(folder / "vault") as memory:
        assert memory.summarizer is not None
        assert memory.summarizer.name == "command:claude"
        assert len(memory.advance().written) == 1
    assert run("claude", "--write", "--yes") == 0
    assert "claude is set up already" in capsys.readouterr().out


def test_what_fails_the_trial_is_not_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(folder, "claude", says="", code=1)
    assert run("claude", "--write", "--yes") == 30
    assert "claude ended with 1; nothing was written" in capsys.readouterr().err
    assert config(folder) == {}


@pytest.mark.parametrize(("name", "kind"), [("agent", "none"), ("extractive", "extractive")])
def test_an_agent_and_the_embedded_one_are_choices(folder: Path, name: str, kind: str) -> None:
    assert run(name, "--write", "--yes") == 0
    assert config(folder) == {"summarizer": {"kind": kind}}


def test_a_choice_that_is_not_there_is_named_with_those_that_are(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(folder, "llm")
    assert run("claude", "--yes") == 2
    assert "there are: llm, agent, extractive" in capsys.readouterr().err


# On a terminal


@pytest.mark.slow
def test_on_a_terminal_it_asks_before_it_sends_and_before_it_writes(folder: Path) -> None:
    from terminal import typed

    program(folder, "claude")
    command = ["setup", "summarizer"]
    code, shown = typed(command, [(TRY, "n")], os.environ)
    assert (code, calls(folder), config(folder)) == (0, 0, {})
    assert "590 characters go to claude" in shown
    code, shown = typed(command, [(TRY, "y"), (WRITE, "n")], os.environ)
    assert (code, calls(folder), config(folder)) == (0, 1, {})
    code, shown = typed([*command, "claude"], [(TRY, "y"), (WRITE, "y"), (ALONE, "n")], os.environ)
    assert (code, calls(folder)) == (0, 2)
    assert config(folder)["advance"] == {"background": False}
    assert config(folder)["summarizer"]["command"] == list(preset("claude"))


def test_what_costs_nothing_is_not_asked_to_work_alone(folder: Path) -> None:
    from terminal import typed

    program(folder, "ollama")
    code, _ = typed(["setup", "summarizer", "ollama", "--write"], [(TRY, "y")], os.environ)
    assert (code, config(folder)) == (0, {"summarizer": {"kind": "command", "command": list(preset("ollama"))}})
    code, _ = typed(["setup", "summarizer", "agent"], [(WRITE, "y")], os.environ)
    assert (code, config(folder)) == (0, {"summarizer": {"kind": "none"}})


def test_an_end_of_input_is_no_yes(folder: Path) -> None:
    from terminal import typed

    program(folder, "claude")
    code, _ = typed(["setup", "summarizer"], [(TRY, "\x04")], os.environ)
    assert (code, calls(folder), config(folder)) == (130, 0, {})


# config.toml

CLAUDE = Choice("claude", "", costs=True, table={"kind": "command", "command": ["claude", "-p"]})
MINE = """\
# mine
default_vault = "~/Memory"   # the only one

[summarizer]
kind = "openai"  # for now
model = "small"
base_url = "http://localhost:11434/v1"
key_command = ["pass", "show", "key"]
timeout = 300      # it is slow
attempts = 5

[advance]
background = false

[vaults."/elsewhere".summarizer]
kind = "none"
"""


def test_all_else_of_the_file_stays_and_no_address_or_key_is_left_to_another() -> None:
    text = choosing.with_choice(MINE, CLAUDE)
    gone = {'model = "small"', 'base_url = "http://localhost:11434/v1"', 'key_command = ["pass", "show", "key"]'}
    kept = [line for line in MINE.splitlines() if line not in gone and not line.startswith('kind = "openai"')]
    assert [line for line in text.splitlines() if not line.startswith(('kind = "command"', "command"))] == kept
    found = settings.read_person(text, "config.toml", "/v", "/home/someone")
    assert found.summarizer.kind == "command"
    assert (found.summarizer.command, found.summarizer.timeout) == (("claude", "-p"), 300.0)
    assert (found.summarizer.base_url, found.summarizer.key_command, found.background) == ("", (), False)
    assert choosing.with_choice(text, CLAUDE) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a word\n",
        'default_vault = "x"',
        'summarizer = { kind = "openai", model = "m" }\n',
        'summarizer.kind = "openai"\nsummarizer.model = "m"\n',
        '[vaults."/e".summarizer]\nkind = "none"\n',
        "[advance]\nbackground = true\n",
        'default_vault = "x"\r\n[advance]\r\nbackground = true\r\n',
    ],
)
@pytest.mark.parametrize("background", [None, True, False])
def test_however_the_file_is_written_it_says_then_what_was_chosen(text: str, *, background: bool | None) -> None:
    after = choosing.with_choice(text, CLAUDE, background=background)
    choosing.check(after, CLAUDE, "config.toml", "/v", "/home/someone")
    before, found = tomllib.loads(text), tomllib.loads(after)
    assert found.pop("summarizer") == {"kind": "command", "command": ["claude", "-p"]}
    before.pop("summarizer", None)
    if background is not None:
        before["advance"] = {"background": background}
    assert found == before


def test_settings_for_this_vault_alone_go_before_and_are_left_to_the_person(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'[vaults."{folder}/vault".summarizer]\nkind = "none"\n'
    (folder / "config.toml").write_text(text)
    program(folder, "ollama")
    assert run("ollama", "--write", "--yes") == 24
    assert "says something else for this vault" in capsys.readouterr().err
    assert (folder / "config.toml").read_text() == text


def test_a_link_into_dotfiles_is_followed(folder: Path) -> None:
    (folder / "dots").mkdir()
    (folder / "dots/pyramid.toml").write_text("# mine\n")
    (folder / "config.toml").symlink_to(folder / "dots/pyramid.toml")
    assert run("extractive", "--write", "--yes") == 0
    assert (folder / "config.toml").is_symlink()
    assert (folder / "dots/pyramid.toml").read_text() == '# mine\n\n[summarizer]\nkind = "extractive"\n'


def test_what_is_no_choice_or_no_toml() -> None:
    with pytest.raises(UsageError, match="there are: agent, extractive"):
        choosing.named("gpt", [choosing.AGENT, choosing.EXTRACTIVE])
    with pytest.raises(RefusedWrite, match="can't be changed"):
        choosing.with_choice("[summarizer", CLAUDE)
    with pytest.raises(RefusedWrite, match="can't be changed"):
        choosing.with_choice("summarizer = 7", CLAUDE)

"""The hook at a session's start: the map in short on standard output, and never in the session's way."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING

import hard
import pytest

from pyramid_fs import calls, growing

if TYPE_CHECKING:
    from pathlib import Path

MOST = 8_000
PROMPT = 6.0
"""Seconds in which it answers on a busy machine, start-up included; alone it takes a fraction of one."""
ASKED = {"session_id": "a1", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/nowhere"}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    """A vault with one model, `plot`."""
    return hard.make(tmp_path, monkeypatch)


def context(ran: hard.Ran) -> str:
    """Take the text out of what a harness is given."""
    assert (ran.code, ran.err) == (0, "")
    assert set(ran.json) == {"hookSpecificOutput"}
    assert set(ran.json["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert ran.json["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    return str(ran.json["hookSpecificOutput"]["additionalContext"])


def models(vault: hard.Vault, count: int, description: str) -> list[str]:
    names = [f"bed-{number:03}-北" for number in range(count)]
    for name in names:
        vault.put(f"models/{name}/{name}.md", f"---\ntype: model\ndescription: {description}\n---\n")
    return names


def test_a_harness_that_asks_in_json_is_answered_in_json(vault: hard.Vault) -> None:
    vault.fill(3)
    ran = vault.process("hook", "session-start", given=json.dumps(ASKED).encode())
    text = context(ran)
    assert calls.TOOLS.load_models in text
    assert "- plot — An allotment by the canal. [3 notes" in text
    assert "Row 3 was hoed" in text
    assert ran.out.isascii()


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ([], b""),
        (["--plain"], json.dumps(ASKED).encode()),
        ([], b"hello"),
        ([], b"[1]"),
        ([], b'{"hook_event_name": "Stop"}'),
        ([], b"\xff\xfe"),
        ([], b"[" * 100_000),
    ],
)
def test_all_else_is_answered_in_plain_text(vault: hard.Vault, words: list[str], given: bytes) -> None:
    ran = vault.process("hook", "session-start", *words, given=given)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Memory of earlier sessions (")
    assert "- plot" in ran.out


def test_standard_input_that_stays_open_is_not_waited_for(vault: hard.Vault) -> None:
    begun = time.monotonic()
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        vault.words("hook", "session-start"), env=vault.environ(), stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    assert process.wait(hard.BOUND) == 0
    assert time.monotonic() - begun < PROMPT
    with process.stdin, process.stdout, process.stderr:
        assert process.stdout.read().startswith(b"Memory of earlier sessions")


def test_without_a_standard_input_it_answers(vault: hard.Vault) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *vault.words("hook", "session-start")],
        capture_output=True,
        env=vault.environ(),
        timeout=hard.BOUND,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Memory of earlier sessions")


@pytest.mark.parametrize("what", ["no vault", "settings that can't be parsed", "a newer configuration"])
def test_an_error_is_an_empty_answer_and_a_line_on_standard_error(vault: hard.Vault, what: str) -> None:
    if what == "no vault":
        (vault.root / "pyramid.toml").unlink()
    elif what == "settings that can't be parsed":
        vault.put("pyramid.toml", "format = [")
    else:
        vault.config.write_text("[summarizer]\nkind = 7\n")
    ran = vault.process("hook", "session-start", given=json.dumps(ASKED).encode())
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("pyramid: ")
    assert ran.err.count("\n") == 1


def test_a_vault_that_may_not_be_read_is_an_error_too(vault: hard.Vault) -> None:
    (vault.root / "models").chmod(0)
    try:
        ran = vault.as_plain_user("hook", "session-start", "--plain")
    finally:
        (vault.root / "models").chmod(0o755)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.count("\n") == 1


def test_inside_a_summarizer_it_says_nothing(vault: hard.Vault) -> None:
    ran = vault.process(
        "hook", "session-start", given=json.dumps(ASKED).encode(), env=vault.environ(**{growing.INSIDE: "1"})
    )
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_an_empty_vault_says_how_to_begin(vault: hard.Vault) -> None:
    (vault.root / "models/plot/plot.md").unlink()
    (vault.root / "models/plot").rmdir()
    ran = vault.run("hook", "session-start", "--plain")
    assert calls.TOOLS.make_model in ran.out


def test_every_model_is_named_where_the_names_fit(vault: hard.Vault) -> None:
    names = models(vault, 60, "Beans, late.")
    vault.fill(9, chars=3_000)
    ran = vault.run("hook", "session-start", "--plain")
    assert len(ran.out) <= MOST + 1
    assert all(name in ran.out for name in [*names, "plot"])


def test_of_five_hundred_models_as_many_as_fit_are_named_and_the_others_counted(vault: hard.Vault) -> None:
    names = models(vault, 500, "Beans and what the frost left of them.")
    ran = vault.run("hook", "session-start", "--plain")
    assert len(ran.out) <= MOST + 1
    lacking = [name for name in names if name not in ran.out]
    said = f" and {len(lacking)} more. All of them: {calls.TOOLS.map}"
    assert said in ran.out if lacking else " more. All of them" not in ran.out


def test_what_a_session_starts_with_is_as_long_as_the_settings_say(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 1\n[view]\nboot_chars = 1500\n")
    models(vault, 60, "Beans and what the frost left of them.")
    ran = vault.run("hook", "session-start", "--plain")
    assert len(ran.out) <= 1501
    assert f"All of them: {calls.TOOLS.map}" in ran.out


def test_a_session_booted_by_the_hook_alone_names_what_another_recorded(vault: hard.Vault) -> None:
    assert vault.run("model", "new", "河 river", "--description", "The river and its boats").code == 0
    assert vault.run("record", "The ferry was painted green.", "-m", "河 river").code == 0
    text = context(vault.process("hook", "session-start", given=json.dumps(ASKED).encode()))
    for said in ("- plot", "- 河 river — The river and its boats [1 note", "The ferry was painted green."):
        assert said in text

"""The hooks: the map in short at a session's start, a digest at its end, and never in the session's way."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import hard
import pytest

from pyramid_fs import Memory, calls, growing

if TYPE_CHECKING:
    from collections.abc import Callable
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


LONG = json.dumps(ASKED | {"prompt": "The hedge was cut. 北 " * 20_000}).encode()
NESTED = json.dumps({"list": [{"a": {}}, "}", {"b": 1}] * 2_000} | ASKED).encode()


def in_pieces(vault: hard.Vault, asked: bytes) -> tuple[hard.Ran, float]:
    """Start the hook, hand it what is said through a pipe that holds a page at a time, and leave its input open."""
    pipe = subprocess.PIPE
    words = vault.words("hook", "session-start")
    with subprocess.Popen(words, env=vault.environ(), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        fcntl.fcntl(process.stdin.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        begun = time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it has heard enough
            for at in range(0, len(asked), 4096):
                process.stdin.write(asked[at : at + 4096])
        out, err = process.stdout.read(), process.stderr.read()
        return hard.Ran(process.wait(hard.BOUND), out.decode(), err.decode()), time.monotonic() - begun


@pytest.mark.parametrize("asked", [LONG, NESTED, b"\xef\xbb\xbf \n" + json.dumps(ASKED).encode() + b"\n" * 300_000])
def test_what_a_harness_says_is_read_to_its_end(vault: hard.Vault, asked: bytes) -> None:
    assert "- plot" in context(vault.process("hook", "session-start", given=asked))


@pytest.mark.parametrize("asked", [LONG, NESTED, json.dumps(ASKED).encode()])
def test_whole_json_is_taken_at_once_from_an_input_that_stays_open(vault: hard.Vault, asked: bytes) -> None:
    ran, took = in_pieces(vault, asked)
    assert "- plot" in context(ran)
    assert took < PROMPT


@pytest.mark.parametrize("asked", [LONG[:90_000], b'{"hook_event_name": ', b"[" + NESTED])
def test_json_that_is_never_whole_is_not_waited_for_long(vault: hard.Vault, asked: bytes) -> None:
    ran, took = in_pieces(vault, asked)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Memory of earlier sessions (")
    assert took < PROMPT + 3


def test_an_input_without_end_is_not_read_for_ever(vault: hard.Vault) -> None:
    for given in ("/dev/zero", "yes '{'"):
        source = f"cat {given}" if given.startswith("/") else given
        command = f'{source} | timeout 20 "$@"'
        words = ["bash", "-c", command, "sh", *vault.words("hook", "session-start")]
        done = subprocess.run(words, capture_output=True, env=vault.environ(), timeout=hard.BOUND, check=False)
        assert done.returncode == 0
        assert done.stdout.startswith(b"Memory of earlier sessions")


# The transcript that a harness names


def fifo(folder: Path) -> str:
    with contextlib.suppress(FileExistsError):
        os.mkfifo(folder / "fifo.jsonl")
    return str(folder / "fifo.jsonl")


def link_to_fifo(folder: Path) -> str:
    (folder / "link.jsonl").symlink_to(fifo(folder))
    return str(folder / "link.jsonl")


def link_to_itself(folder: Path) -> str:
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    return str(folder / "loop.jsonl")


def end_of_a_socket(folder: Path) -> str:
    with socket.socket(socket.AF_UNIX) as end:
        here = os.open(folder, os.O_RDONLY)
        end.bind(f"/proc/self/fd/{here}/s.jsonl")
        os.close(here)
    return str(folder / "s.jsonl")


ODD: dict[str, Callable[[Path], object]] = {
    "a NUL byte": lambda _: "\0",
    "half of a letter": lambda _: "\ud800",
    "a byte that is no UTF-8": lambda folder: f"{folder}/\udcff.jsonl",
    "a name too long": lambda folder: f"{folder}/{'t' * 5000}",
    "two lines": lambda folder: f"{folder}/one\ntwo",
    "the home of nobody": lambda _: "~nobody-of-that-name/t.jsonl",
    "a folder": lambda folder: str(folder / "vault"),
    "all that is temporary": lambda _: "/tmp",
    "a pipe": fifo,
    "a link to a pipe": link_to_fifo,
    "a link to itself": link_to_itself,
    "a socket": end_of_a_socket,
    "a device without end": lambda _: "/dev/zero",
    "a terminal": lambda _: "/dev/tty",
    "a number": lambda _: 7,
    "a list": lambda _: ["t.jsonl"],
    "true": lambda _: True,
}


HOOKS = """
import contextlib, io, json, os, signal, sys
from pyramid_fs import cli

for named in json.loads(sys.argv[2]):
    for hook in ("session-end", "pre-compact"):
        signal.alarm(60)
        given, into = os.pipe()
        os.write(into, json.dumps({"hook_event_name": "SessionEnd", "transcript_path": named}).encode())
        os.close(into), os.dup2(given, 0), os.close(given)
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = cli.run(["--vault", sys.argv[1], "hook", hook])
        print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""
IMPORTS = """
import json, signal, sys
from pathlib import Path
from pyramid_fs import Memory
from pyramid_fs.errors import UsageError

with Memory(sys.argv[1]) as memory:
    for named in json.loads(sys.argv[2]):
        signal.alarm(60)
        try:
            memory.import_sessions("claude-code", Path(named))
        except UsageError as error:
            print(json.dumps(str(error)), flush=True)
"""


def each_odd(vault: hard.Vault, program: str, named: list[object]) -> list[Any]:
    """Try every path in one process, which ends where any of them takes a minute."""
    words = [sys.executable, "-c", program, str(vault.root), json.dumps(named)]
    done = subprocess.run(words, capture_output=True, env=vault.environ(), timeout=hard.BOUND, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_an_odd_transcript_is_a_line_on_standard_error_and_no_more(vault: hard.Vault, tmp_path: Path) -> None:
    named = [make(tmp_path) for make in ODD.values()]
    found = each_odd(vault, HOOKS, named)
    for what, (code, out, err) in zip([what for what in ODD for _ in range(2)], found, strict=True):
        assert (code, out) == (0, ""), what
        assert err.startswith("pyramid: "), what
        assert err.count("\n") == 1, what
        assert err.endswith("\n"), what
    assert not (vault.root / "sessions").exists()


def test_an_import_says_of_an_odd_transcript_what_is_wrong(vault: hard.Vault, tmp_path: Path) -> None:
    named = [path for make in ODD.values() if isinstance(path := make(tmp_path), str)]
    named.remove("/tmp")  # whatever lies there
    assert len(each_odd(vault, IMPORTS, [*named])) == len(named)


def test_a_pipe_among_transcripts_is_named_and_not_waited_for(vault: hard.Vault, tmp_path: Path) -> None:
    talks = tmp_path / "talks"
    talks.mkdir()
    fifo(talks)
    said = {"type": "user", "sessionId": "s1", "timestamp": "2026-03-14T09:00:00Z"}
    (talks / "real.jsonl").write_text(
        json.dumps(said | {"message": {"content": "The pump in the cellar leaks at the flange again."}}) + "\n"
    )
    ran = vault.process("import", "claude-code", str(talks), "--json", prefix=["timeout", "30"])
    assert "fifo.jsonl" in ran.out
    assert "no regular file" in ran.out
    with Memory(vault.root) as memory:
        assert len(memory.sessions()) == 1


def test_a_link_to_a_transcript_is_followed(vault: hard.Vault, tmp_path: Path) -> None:
    said = {"type": "user", "sessionId": "s1", "timestamp": "2026-03-14T09:00:00Z"}
    (tmp_path / "real.jsonl").write_text(
        json.dumps(said | {"message": {"content": "The pump in the cellar leaks at the flange again."}}) + "\n"
    )
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    asked = {"hook_event_name": "SessionEnd", "transcript_path": str(tmp_path / "link.jsonl"), "more": "x" * 90_000}
    ran = vault.process("hook", "session-end", given=json.dumps(asked).encode())
    assert (ran.code, ran.err) == (0, "")
    with Memory(vault.root) as memory:
        assert len(memory.sessions()) == 1


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

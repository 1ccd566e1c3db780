"""Growth as people run it: processes of `pyramid`, a model behind real HTTP, and faults, limits and kills."""

from __future__ import annotations

import json
import random
import signal
import socket
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import hard
import models
import pytest
from agents import until
from models import Server, Step
from test_mcp_processes import started, tool

from pyramid_fs.files import cache_folder
from pyramid_fs.meter import Meter, Metered
from pyramid_fs.summarizers import in_sentences

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

KEY = "sk-invented-k3f9x7q2p0ds"
SMALL = "format = 1\n[pyramid]\nbatch_notes = 3\nfan_in = 2\ntarget_chars = [150, 150, 150]\n[settle]\nseconds = 0\n"
"""Settings under which three notes make a batch, two summaries a roll-up, and nothing waits to settle."""
TIMEOUT = 1.5
"""Seconds that a summary may take where something hangs: an answer of this server takes a hundredth of it."""
SOON = replace(models.THROTTLED, headers={"retry-after": "0.2"})
FAULTS = (
    (SOON, "is busy (429)"),
    (models.FAILED, "failed (500): the model fell over"),
    (models.HANG, "gave no answer within"),
    (models.CUT, "broke off before its answer was whole"),
    (models.DROPPED, "broke off before its answer was whole"),
    (models.GARBAGE, "answered with what is no JSON"),
    (models.REFUSAL, "refused to summarize these notes"),
    (models.SORRY, "it refused: "),
    (models.LONG, "characters where about 150 were asked for"),
    (models.ECHO, "it gave the notes back"),
    (models.WRONG_LANGUAGE, "it wrote in Han script where the notes are in Latin"),
)
"""Each way in which a call fails, and what is said of it."""


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    found = hard.make(tmp_path, monkeypatch)
    found.put("pyramid.toml", SMALL)
    return found


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture(params=["openai", pytest.param("anthropic", marks=pytest.mark.slow)])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def fill(vault: hard.Vault, count: int, model: str = "plot") -> None:
    for number in range(1, count + 1):
        text = (
            f"On day {number} the pump{number} of the {model} was mended for {number * 7} euros, and butt {number} "
            f"held {number + 40} litres by evening"
        )
        vault.note(f"{model}{number}", text, created=f"2026-02-01T{number // 60:02}:{number % 60:02}:00Z", model=model)


def use(vault: hard.Vault, kind: str, server: Server | str, **more: object) -> None:
    url = server if isinstance(server, str) else server.url
    vault.config.write_text(models.settings(kind, url, **more))


def ended(process: subprocess.Popen[bytes]) -> hard.Ran:
    """Wait for a process; whatever it says, it is no traceback."""
    out, err = (said.decode() for said in process.communicate(timeout=hard.BOUND))
    assert "Traceback" not in err
    return hard.Ran(process.returncode, out, err)


def advance(vault: hard.Vault, *words: str) -> hard.Ran:
    return ended(vault.start("advance", *words))


def meter(vault: hard.Vault) -> list[Metered]:
    return list(Meter(cache_folder(vault.root, vault.environ())).all())


def stored(vault: hard.Vault) -> list[str]:
    """List the texts of all summaries."""
    found = vault.root.glob("models/*/tier-*/[!.]*.md")
    return [path.read_text().split("\n---\n", 1)[1].strip() for path in found]


def waiting(vault: hard.Vault) -> list[str]:
    return [reason for model in vault.status()["models"] for reason in model["waiting"]]


def is_what_was_answered(vault: hard.Vault, server: Server) -> None:
    """Hold every summary against the server's record: each is a sound answer to a call, and none stands twice."""
    texts = Counter(stored(vault))
    assert not texts - Counter(in_sentences(told.text or "") for told in server.good)
    assert set(texts.values()) <= {1}


# Faults


def test_whatever_goes_wrong_on_the_way_growth_ends_complete_and_nothing_bad_is_stored(
    vault: hard.Vault, server: Server, kind: str
) -> None:
    fill(vault, 24)
    fill(vault, 24, "pond")
    use(vault, kind, server, timeout=TIMEOUT, concurrency=4, attempts=3)
    reasons = [reason for _, reason in FAULTS]
    script = [*(step for step, _ in FAULTS * 2), models.EMPTY, models.NO_CHOICES, *[models.OK] * 14]
    random.Random(kind).shuffle(script)
    server.script(script)
    codes, seen = list[int](), set[str]()
    while codes[-1:] != [0]:
        ran = advance(vault)
        codes.append(ran.code)
        seen |= set(waiting(vault))
        assert (ran.code, len(ran.err.splitlines())) in {(0, 0), (30, 1), (30, 2)}
        assert len(codes) < 40
    vault.is_sound()
    assert vault.counts() == vault.counts("pond") == (24, 0, {"0": 8, "1": 4, "2": 2, "3": 1})
    is_what_was_answered(vault, server)

    calls = meter(vault)
    assert len(calls) == server.calls
    assert [call.failed for call in calls].count("") == len(stored(vault)) == 30
    said = {call.failed for call in calls}
    assert [reason for reason in reasons if not any(reason in each for each in said)] == []
    assert seen
    assert all(any(reason in each for reason in [*reasons, "without a text", "nothing"]) for each in seen)
    assert waiting(vault) == []


@pytest.mark.slow
def test_the_time_that_a_summary_may_take_is_the_servers_alone(vault: hard.Vault, server: Server, kind: str) -> None:
    fill(vault, 3)
    # half of the vendor's package is imported after this time on the fastest machine
    use(vault, kind, server, timeout=0.3, attempts=1)
    ran = advance(vault)
    assert (ran.code, ran.err, server.calls) == (0, "", 1)


@pytest.mark.slow
def test_a_server_that_limits_the_rate_is_kept_to(vault: hard.Vault) -> None:
    fill(vault, 30)
    fill(vault, 30, "pond")
    with Server(per_second=10) as server:
        use(vault, "openai", server, concurrency=8)
        begun = time.monotonic()
        ran = advance(vault)
        assert (ran.code, ran.err) == (0, "")
        assert time.monotonic() - begun > 2
        assert 0 < server.turned_away <= 8 * 5
        assert server.calls == server.turned_away + len(stored(vault)) == server.turned_away + 36
        assert sum("is busy (429)" in call.failed for call in meter(vault)) == server.turned_away
    assert waiting(vault) == []
    vault.is_sound()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "fault", "reason"),
    [
        ("openai", models.FAILED, "failed (500): the model fell over"),
        ("anthropic", models.EMPTY, "without a text"),
        ("openai", models.BLANK, "openai:small was not stored: it wrote nothing"),
        ("anthropic", models.ECHO, "anthropic:small was not stored: it gave the notes back"),
        ("openai", Step(text='{"error":"cannot help with that!"}'), "openai:small was not stored: it wrote only 34"),
        ("anthropic", models.HANG, "gave no answer within 1.5 seconds"),
    ],
)
def test_a_model_that_always_fails_leaves_the_notes_as_they_are(
    vault: hard.Vault, server: Server, kind: str, fault: Step, reason: str
) -> None:
    for number in range(1, 11):
        text = f"plot {number}: marram{number} on the dune. " + "The sand has moved since then. " * 3
        vault.note(f"n{number}", text.strip())
    vault.put("pyramid.toml", "format = 1\n")
    before = vault.bytes()
    use(vault, kind, server, timeout=TIMEOUT, attempts=2)
    server.script([fault] * 100)
    begun = time.monotonic()
    ran = vault.process("advance")  # one line on stderr, and no traceback
    assert (ran.code, time.monotonic() - begun < 60) == (30, True)
    assert ran.err.startswith("pyramid: plot: ")
    assert reason in ran.err
    assert vault.bytes() == before
    assert vault.counts() == (10, 10, {})
    assert reason in waiting(vault)[0]
    assert vault.finds("marram7") == ["models/plot/n7.md"]

    server.stop_scripting()
    assert vault.run("advance").code == 0
    (summary,) = vault.summaries()
    assert len(vault.sources()) == 10
    assert summary.is_file()
    is_what_was_answered(vault, server)
    vault.is_sound()
    assert {path: data for path, data in vault.bytes().items() if path in before} == before


@pytest.mark.slow
def test_a_server_that_is_not_there_is_named_at_once_and_left_alone_for_a_while(vault: hard.Vault, kind: str) -> None:
    fill(vault, 3)
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port, and nothing answers
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        use(vault, kind, url)
        ran = vault.process("advance")
        assert (ran.code, ran.err) == (30, f"pyramid: plot: nothing answers at {url}: is it running?\n")
        tried = len(meter(vault))
        assert tried > 0
        for words in (("advance", "--background", "plot"), ("watch", "--once")):
            assert vault.process(*words).code == 0
        assert len(meter(vault)) == tried
    assert f"nothing answers at {url}" in waiting(vault)[0]


@pytest.mark.slow
def test_growth_that_nobody_asked_for_tries_once_and_not_again_within_the_minute(
    vault: hard.Vault, server: Server
) -> None:
    fill(vault, 3)
    use(vault, "openai", server)
    server.script([models.FAILED] * 9)
    assert ended(vault.start("watch", "--once")).code == 30
    assert server.calls == 1
    assert vault.run("advance", "--background", "plot").code == 0
    assert vault.process("watch", "--once").code == 0
    assert server.calls == 1


# Keys


@pytest.mark.slow
@pytest.mark.parametrize("given", ["variable", "command"])
def test_a_key_is_nowhere_to_be_read_whatever_the_server_does_with_it(
    vault: hard.Vault, server: Server, kind: str, given: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fill(vault, 6)
    elsewhere, env = tmp_path_factory.mktemp("elsewhere") / "key", {}
    elsewhere.write_text(KEY)
    use(vault, kind, server, attempts=2, **({"key_command": ["cat", str(elsewhere)]} if given == "command" else {}))
    if given == "variable":
        env = {f"{kind.upper()}_API_KEY": KEY}
    script = [
        models.Step(500, message="your key {key} is fine, I am not"),
        models.Step(401, message="the key {key} is wrong"),
        models.Step(404, message="no model for {key}"),
        models.Step(429, message="{key} is over its quota", headers={"retry-after": "9999"}),
        models.Step(302, headers={"location": f"http://{KEY}:{KEY}@{KEY}.example/"}),
        models.Step(400, body=f"<p>{KEY}</p>".encode()),
        models.Step(text='{"key": "{key}"}'),
        models.Step(text="{key}"),
    ]
    said = ""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        server.script([script[0]] * 9)
        with pytest.MonkeyPatch.context() as loud:  # somebody wants to see all that the vendor's package does
            loud.setenv("OPENAI_LOG", "debug")
            loud.setenv("ANTHROPIC_LOG", "debug")
            ran = advance(vault)
        assert (ran.code, "HTTP Request" in ran.err) == (30, True)
        said += ran.out + ran.err
        for step in script[1:]:  # in this process: the others take the same way
            server.stop_scripting()
            server.script([step] * 9)
            ran = vault.run("advance")
            assert (ran.code, bool(ran.err)) == (30, True)
            said += ran.out + ran.err + vault.run("status").out + vault.run("stats").out + vault.run("map").out
        assert {asked.key for asked in server.asked} == {KEY}
        server.stop_scripting()
        text = "They mended the pumps, and somebody noted {key} in the shed, where it hangs."
        server.script([Step(text=text, escapes=True), Step(text=text)])
        assert vault.run("advance").code == 0
        said += vault.run("load", "plot").out
    assert "[key]" in said
    assert KEY not in said
    written = [path for path in vault.root.parent.rglob("*") if path.is_file()]
    assert {path.name for path in written} > {"catalog.sqlite3", "config.toml"}
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


# Several at once


def test_four_at_once_make_one_summary(vault: hard.Vault, kind: str) -> None:
    fill(vault, 3)
    with Server(delay=0.5) as server:
        use(vault, kind, server)
        ran = [ended(each) for each in [vault.start("advance") for _ in range(4)]]
        assert [(each.code, each.err) for each in ran] == [(0, "")] * 4
        assert server.calls == len(stored(vault)) == len(meter(vault)) == 1
    assert vault.run("advance", "--dry-run").out == "Nothing is due.\n"
    vault.is_sound()


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["asked", "half answered", "answered", "stored"])
def test_a_kill_at_any_moment_leaves_a_vault_that_goes_on(vault: hard.Vault, server: Server, moment: str) -> None:
    fill(vault, 3)
    use(vault, "openai", server)
    server.script([{"asked": models.HANG, "half answered": models.DRIP}.get(moment, models.OK)])
    reached = {"asked": lambda: server.asked, "half answered": lambda: server.asked, "answered": lambda: server.told}
    process = vault.start("advance")
    until(reached.get(moment, vault.summaries), moment)
    process.kill()
    assert ended(process).code in {-signal.SIGKILL, 0}
    assert vault.run("advance").code == 0
    assert vault.counts() == (3, 0, {"0": 1})
    is_what_was_answered(vault, server)
    assert [path.name for path in (vault.root / "models/plot/tier-0").iterdir()] == [vault.summaries()[0].name]
    assert server.calls == {"asked": 2, "half answered": 2, "stored": 1}.get(moment, len(server.good))
    assert server.calls - len(meter(vault)) in {0, 1}  # what was with the server when the process was killed
    vault.is_sound()


@pytest.mark.slow
def test_a_watcher_a_server_and_a_person_at_once_have_each_batch_written_once(vault: hard.Vault, kind: str) -> None:
    fill(vault, 12)
    fill(vault, 12, "pond")
    with Server(delay=0.1) as server:
        use(vault, kind, server, timeout=hard.BOUND)
        watcher = vault.start("watch")
        try:
            with started(vault) as mcp:
                mcp.send(tool(1, "load_model", names=["plot", "pond"]))
                typed = vault.start("advance")
                assert "plot" in json.dumps(mcp.answer(1))
                assert ended(typed).code == 0
                until(
                    lambda: sum(path.exists() for path in vault.summaries(2) + vault.summaries(2, "pond")) == 2, "all"
                )
        finally:
            watcher.terminate()
            assert ended(watcher).code == 0
        assert len(stored(vault)) == 2 * (4 + 2 + 1)
        assert server.calls == len({asked.prompt for asked in server.asked}) == len(stored(vault))
    is_what_was_answered(vault, server)
    assert waiting(vault) == []
    vault.is_sound()


# Limits


@pytest.mark.slow
def test_the_calls_of_a_day_bound_what_nobody_asked_for_and_no_typed_advance(vault: hard.Vault, server: Server) -> None:
    fill(vault, 15)
    use(vault, "openai", server, calls_per_day=2, concurrency=1)
    with started(vault) as mcp:
        mcp.send(tool(1, "load_model", names=["plot"]))
        mcp.answer(1)
        until(lambda: len(stored(vault)) == 2, "two summaries")
    assert vault.process("record", "-m", "plot", "The pump was painted green, which nobody had asked for.").code == 0
    assert ended(vault.start("watch", "--once")).code == 0
    assert ended(vault.start("advance", "--background", "plot")).code == 0
    assert server.calls == len(stored(vault)) == 2
    assert "calls_per_day" in waiting(vault)[0]
    assert advance(vault).code == 0
    assert vault.counts()[2] == {"0": 5, "1": 2, "2": 1}
    assert [call.is_asked for call in meter(vault)] == [False] * 2 + [True] * 6
    vault.is_sound()


@pytest.mark.slow
def test_second_tries_count_among_the_calls_of_a_day(vault: hard.Vault, server: Server) -> None:
    for model in ("plot", "pond", "shed", "lane", "well"):
        fill(vault, 3, model)
    use(vault, "openai", server, calls_per_day=4, concurrency=1)
    server.script([models.ECHO] * 30)
    assert ended(vault.start("watch", "--once")).code == 30
    assert server.calls == len(meter(vault)) == 4


# Being told to end


COMMAND = """
import os, subprocess, sys
text = sys.stdin.read()
if "day 3 " not in text:
    child = subprocess.Popen(["sleep", "1000"])
    print(os.getpid(), child.pid, file=open(os.path.join(sys.argv[1], str(os.getpid())), "w"))
    child.wait()
print("The pumps were mended, and the keeper wrote down what that had cost, butt by butt.")
"""
"""A summarizer that writes the first batch and hangs over all others, with a child of its own."""


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks for processes in /proc")
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.slow), 4])
@pytest.mark.parametrize("words", [("advance",), ("advance", "--background", "plot")])
def test_what_is_told_to_end_takes_its_programs_with_it(
    vault: hard.Vault, tmp_path: Path, number: signal.Signals, at_once: int, words: tuple[str, ...]
) -> None:
    fill(vault, 15)
    pids = tmp_path / "pids"
    pids.mkdir()
    command = [sys.executable, "-c", COMMAND, str(pids)]
    vault.config.write_text(
        f'[summarizer]\nkind = "command"\ncommand = {json.dumps(command)}\nconcurrency = {at_once}\n'
    )
    process = vault.start(*words)
    flying = 1 if at_once == 1 else 3 if words[1:] else 4  # of the four that growth in the background begins
    until(lambda: len(list(pids.iterdir())) >= flying and len(stored(vault)) == 1, "all are at it")
    found = [int(word) for path in pids.iterdir() for word in path.read_text().split()]
    assert len(found) == 2 * flying
    process.send_signal(number)
    ran = ended(process)
    assert (ran.code, ran.err.strip()) == (130, "pyramid: interrupted; what was written stands")
    until(lambda: not any(map(is_alive, found)), "none lives on", 5.0)
    assert len(stored(vault)) == 1
    vault.is_sound()
    vault.config.unlink()
    assert vault.run("advance").code == 0  # whoever ended let go of its locks
    assert vault.counts()[:2] == (15, 0)
    vault.is_sound()

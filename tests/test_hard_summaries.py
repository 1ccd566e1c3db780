"""Summarizers that fail in every way, and growth that is doubled, interrupted and killed: nothing wrong is stored."""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import hard
import pytest

from pyramid_fs import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

GOOD = "The plot was hoed and watered all through February, and the east wind kept drying the beds again."


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    made = hard.make(tmp_path, monkeypatch)
    made.fill(10, chars=560)
    return made


READ = "cat > /dev/null; "
FAILURES = {
    "exit-1": (READ + "echo 'quota used up' >&2; exit 1", "quota used up"),
    "exit-after-text": (READ + f"echo '{GOOD}'; exit 3", "ended with 3"),
    "exit-255": (READ + "exit 255", "255"),
    "killed": (READ + "kill -9 $$", "-9"),
    "aborted": (READ + f"echo '{GOOD}'; kill -ABRT $$", "-6"),
    "without-reading": ("exit 1", "ended with 1"),
    "silent": (READ, "nothing"),
    "silent-without-reading": ("exit 0", "nothing"),
    "stderr-only": (READ + f"echo '{GOOD}' >&2", "nothing"),
    "blanks": (READ + r"printf ' \n\t\n\r\n'", "nothing"),
    "short": (READ + "echo 'Weather.'", "only"),
    "dots": (READ + "echo '...'", "only"),
    "null": (READ + "echo null", "only"),
    "bom": (READ + r"printf '\357\273\277\n'", "nothing"),
    "echo": ("cat", "characters where"),
    "head": ("head -c 700", "notes back"),
    "tail": ("tail -c 500", "notes back"),
    "first-notes": ("grep '^> ' | head -c 1300", "notes back"),
    "runaway": (READ + f"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo '{GOOD}'; done", "characters where"),
    "json": (
        READ + """echo '{"error": {"message": "Rate limit reached, try again in 20 seconds", "code": 429}}'""",
        "JSON",
    ),
    "json-list": (READ + """echo '["The plot was hoed", "the beds were watered", "all through February"]'""", "JSON"),
    "json-fenced": (
        READ + """printf '```json\\n{"summary": "The plot was hoed all through February."}\\n```'""",
        "JSON",
    ),
    "json-cut": (READ + """echo '{"summary": "The plot was hoed and watered all through Febr'""", "prose"),
    "html": (READ + "echo '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>'", "error page"),
    "http": (READ + "echo 'HTTP/1.1 503 Service Unavailable; retry after a while, thank you'", "error page"),
    "traceback": (READ + "echo 'Traceback (most recent call last): KeyError: choices, in main'", "error page"),
    "latin-1": (READ + r"printf 'The plot was hoed all through f\351vrier, and the beds were watered.'", "UTF-8"),
    "half-letter": (READ + r"printf 'The plot was hoed all through February, and watered \360\237\232'", "UTF-8"),
    "utf-16": (READ + f"echo '{GOOD}' | iconv -t UTF-16", "UTF-8"),
    "nul": (READ + r"printf 'The plot was hoed all through\0 February, and the beds were watered.'", "NUL"),
    "bell": (READ + r"printf 'The plot was hoed \007all through February, and the beds were watered.'", "control"),
    "colour": (READ + r"printf '\033[31mThe plot was hoed all through February, and watered.\033[0m'", "control"),
    "front-matter": (READ + f"printf -- '---\\ntier: 4\\n---\\n{GOOD}\\n'", "front matter"),
    "rule": (READ + f"printf '{GOOD}\\n\\n---\\n\\nprovenance: none\\n'", "front matter"),
    "conflict": (READ + f"printf '<<<<<<< HEAD\\n{GOOD}\\n=======\\nother\\n>>>>>>> theirs\\n'", "conflict"),
    "shell": ("cat > /dev/null; no-such-program-anywhere --summarize", "127"),
}


def nothing_was_stored(vault: hard.Vault, before: dict[str, bytes], reason: str, ran: hard.Ran) -> None:
    assert ran.code == 30, ran
    assert ran.err.startswith("pyramid: plot: ")
    assert reason in ran.err, ran.err
    assert ran.err.count("\n") == 1
    assert vault.bytes() == before
    assert not list(vault.root.rglob(".*"))
    assert vault.counts() == (10, 10, {})
    (model,) = vault.status()["models"]
    assert any("failed" in line for line in model["waiting"])


@pytest.mark.parametrize("kind", FAILURES)
def test_a_summarizer_that_fails_stores_nothing(vault: hard.Vault, kind: str) -> None:
    script, reason = FAILURES[kind]
    vault.summarizer(script)
    before = vault.bytes()
    nothing_was_stored(vault, before, reason, vault.run("advance"))
    assert "models/plot/row3.md" in vault.finds("hand3")
    vault.is_sound()
    vault.summarizer(READ + f"echo '{GOOD}'")  # what a person types does not wait for the backoff
    assert vault.run("advance").code == 0
    assert vault.counts() == (10, 0, {"0": 1})
    assert len(vault.sources()) == 10
    assert before.items() <= vault.bytes().items()
    vault.is_sound()
    assert vault.status()["models"][0]["waiting"] == []


@pytest.mark.parametrize("kind", ["missing", "folder", "not-executable", "no-program-inside", "empty-word", "nul"])
def test_a_summarizer_that_cannot_be_started_is_named(vault: hard.Vault, kind: str, tmp_path: Path) -> None:
    script = tmp_path / "summarizer"
    script.write_text("#!/nowhere/interpreter\n")
    script.chmod(0o644 if kind == "not-executable" else 0o755)
    command = {"missing": "/nowhere/llm", "folder": str(tmp_path), "empty-word": "no such program here"}.get(
        kind, str(script)
    )
    vault.summarizer("", command=[command, "a\0b"] if kind == "nul" else [command])
    before = vault.bytes()
    nothing_was_stored(vault, before, "can't be started", vault.run("advance"))


@pytest.mark.parametrize(
    "script",
    [
        f"printf '{GOOD}'",
        f"echo '{GOOD}'; head -c 1 > /dev/null",
        f"exec < /dev/null; echo '{GOOD}'",
        READ + f"printf '\\357\\273\\277{GOOD}\\r\\n'",
        READ + f"printf '\\n\\n  {GOOD}  \\n\\n\\n'",
        READ + f"echo '{GOOD}'; echo 'a warning' >&2",
        READ + f"head -c 300000 /dev/zero | tr '\\0' x >&2; echo '{GOOD}'",
        READ + f"(sleep 1000 &) ; echo '{GOOD}'",
        READ + f"sleep 1000 < /dev/null > /dev/null 2>&1 & echo '{GOOD}'",
        READ + f"echo '{GOOD} In 二月 the butt was full; 『雨水』 stood on it.'",
        READ + f"echo '{GOOD}' '[[row3]] and \"quotes\", # hashes: colons --- dashes'",
    ],
)
def test_a_summarizer_with_odd_ways_is_heard(vault: hard.Vault, script: str) -> None:
    vault.summarizer(script)
    ran = vault.run("advance")
    assert (ran.code, ran.err) == (0, "")
    text = vault.summaries()[0].read_text()
    assert "\r" not in text
    assert "\ufeff" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert vault.counts() == (10, 0, {"0": 1})
    vault.is_sound()


def test_what_left_its_group_and_holds_the_answer_open_is_not_waited_for(vault: hard.Vault, tmp_path: Path) -> None:
    stray = f"setsid sh -c 'echo $$ > {tmp_path}/stray; exec sleep 1000' & while [ ! -s {tmp_path}/stray ]; do :; done"
    vault.summarizer(f"{READ}{stray}; echo '{GOOD}'")
    try:
        assert vault.run("advance").code == 0
    finally:
        os.kill(int((tmp_path / "stray").read_text()), signal.SIGKILL)
    assert GOOD in vault.summaries()[0].read_text()


@pytest.mark.parametrize(
    "script",
    [
        "exec sleep 1000",
        "cat > /dev/null; sleep 1000",
        f"echo '{GOOD}'; exec sleep 1000",
        "trap '' TERM INT HUP; while :; do sleep 1000; done",
        "(sleep 1000 &) ; cat; sleep 1000",
    ],
)
def test_a_summarizer_that_hangs_is_ended_with_all_it_started(vault: hard.Vault, script: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    vault.summarizer(f"exec 9> {tmp_path}/alive; {script}", timeout=0.7)
    before = vault.bytes()
    nothing_was_stored(vault, before, "gave no answer within 0.7 seconds", vault.run("advance"))
    assert select.select([alive], [], [], 20)[0]
    assert os.read(alive, 1) == b"", "the pipe's end comes when the last of them has gone"
    os.close(alive)


@pytest.mark.parametrize("stream", ["", ">&2"])
def test_a_summarizer_that_writes_on_and_on_is_ended(vault: hard.Vault, stream: str) -> None:
    vault.summarizer(f"exec yes 'and so on, and so on, and so on' {stream}", timeout=60)
    before = vault.bytes()
    limited = ["/bin/sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh"]
    nothing_was_stored(vault, before, "on and on", vault.process("advance", prefix=limited))


def test_a_huge_answer_is_refused(vault: hard.Vault) -> None:
    vault.summarizer(READ + "head -c 100000000 /dev/zero | tr '\\0' 'a'", timeout=60)
    before = vault.bytes()
    nothing_was_stored(vault, before, "on and on", vault.run("advance"))


def test_one_failing_model_holds_up_no_other(vault: hard.Vault) -> None:
    vault.fill(10, "yard", chars=560)
    vault.fill(10, "attic", chars=560)
    vault.summarizer(f"if grep -q 'memory named \"plot\"'; then exit 1; fi; echo '{GOOD}'")
    ran = vault.run("advance")
    assert ran.code == 30
    assert ran.err.startswith("pyramid: plot: ")
    assert [vault.counts(model)[2] for model in ("attic", "plot", "yard")] == [{"0": 1}, {}, {"0": 1}]
    vault.is_sound()


@pytest.mark.parametrize("kind", ["plain", "json"])
def test_a_redo_that_fails_keeps_the_old_text(vault: hard.Vault, kind: str) -> None:
    vault.summarizer(READ + f"echo '{GOOD}'")
    assert vault.run("advance").code == 0
    before = vault.bytes()
    vault.summarizer(READ + ("exit 1" if kind == "plain" else "echo '{}'"))
    ran = vault.run("redo", vault.summaries()[0].stem)
    assert (ran.code, ran.err.count("\n")) == (30, 1)
    assert vault.bytes() == before


@pytest.mark.slow
def test_failures_don_t_stop_record_and_load(vault: hard.Vault) -> None:
    vault.summarizer("exit 1")
    assert vault.run("advance").code == 30
    for words in (["record", "-m", "plot", "one more row"], ["load", "plot"], ["map"]):
        ran = vault.process(*words)
        assert (ran.code, ran.err) == (0, ""), words


@pytest.mark.parametrize(
    "text",
    [
        "---\n",
        "<<<<<<< HEAD\na\n",
        "a\n",
        "{}\n",
        "\x07\n",
        "> \n",
        "#\n",
        "|---|\n",
        "```\n",
        "...\n",
        "\u200b\n",
        "-\n",
        "🚜\n",
        "[[x]]\n",
        "a" * 3000 + " ",
        "- [ ] \n",
        "\u2028",
        "1. \n",
        "http://example.org/\n",
    ],
)
def test_the_embedded_summarizer_copes_with_any_notes(vault: hard.Vault, text: str) -> None:
    for number in range(1, 11):
        vault.note(f"row{number}", f"{text * 40}{number}", created=f"2026-02-{number:02}T09:00:00Z")
    ran = vault.run("advance")
    assert ran.code == 0, ran
    notes, tail, made = vault.counts()
    assert (notes, tail < 10, "0" in made) == (10, True, True)
    vault.is_sound()


# Two at once


class Gate:
    """A summarizer that says that it has begun and waits for a word before it answers."""

    def __init__(self, vault: hard.Vault, folder: Path) -> None:
        for name in ("begun", "go"):
            os.mkfifo(folder / name)
        script = f"echo x >> {folder}/calls; echo begun > {folder}/begun; read word < {folder}/go; echo '{GOOD}'"
        vault.summarizer(READ + script, timeout=90)
        # both ends are open here, so that neither side waits for the other to open its own
        self._begun, self._go = (os.open(folder / name, os.O_RDWR) for name in ("begun", "go"))

    def wait(self) -> None:
        assert select.select([self._begun], [], [], 60)[0], "nobody has begun"
        os.read(self._begun, 100)

    def open(self) -> None:
        os.write(self._go, b"go\n" * 20)

    def close(self) -> None:
        os.close(self._begun)
        os.close(self._go)


@pytest.fixture
def gate(vault: hard.Vault, tmp_path: Path) -> Iterator[Gate]:
    made = Gate(vault, tmp_path)
    yield made
    made.close()


def ends(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    _, complaint = process.communicate(timeout=hard.BOUND)
    assert b"Traceback" not in complaint
    return process.returncode, complaint


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_several_at_once_make_each_summary_once(vault: hard.Vault, gate: Gate, count: int, tmp_path: Path) -> None:
    all_of_them = [vault.start("advance") for _ in range(count)]
    gate.wait()
    assert vault.run("status", "--json").json["models"][0]["summaries"] == {}
    assert vault.process("record", "-m", "plot", "--no-advance", "written meanwhile").code == 0
    gate.open()
    for process in all_of_them:
        assert ends(process)[0] == 0
    assert (tmp_path / "calls").read_text() == "x\n"
    assert vault.counts() == (11, 1, {"0": 1})
    assert len(vault.sources()) == 10
    assert "Nothing was due" in vault.run("advance").out
    found = vault.run("recall", "--json", "--kind", "summary", "February").hits
    assert found == [path.relative_to(vault.root).as_posix() for path in vault.summaries()]
    vault.is_sound()


@pytest.mark.slow
def test_several_models_are_shared_among_processes(vault: hard.Vault, tmp_path: Path) -> None:
    for model in ("attic", "yard", "shed"):
        vault.fill(12, model, chars=560)
    vault.summarizer(READ + f"echo x >> {tmp_path}/calls; echo '{GOOD}'")
    processes = [vault.start("advance") for _ in range(4)]
    assert {ends(process)[0] for process in processes} == {0}
    assert (tmp_path / "calls").read_text().count("x") == 4
    assert all(vault.counts(model)[2] == {"0": 1} for model in ("plot", "attic", "yard", "shed"))
    vault.is_sound()


def test_an_interrupt_ends_the_summarizer_too(vault: hard.Vault, gate: Gate) -> None:
    before = vault.bytes()
    process = vault.start("advance")
    gate.wait()
    process.send_signal(signal.SIGINT)
    code, complaint = ends(process)
    assert (code, len(complaint.strip().splitlines())) == (130, 1)
    assert vault.bytes() == before
    vault.summarizer(READ + f"echo '{GOOD}'")
    assert vault.run("advance").code == 0
    vault.is_sound()


def test_a_note_that_changes_under_a_summarizer_is_a_revision(vault: hard.Vault, gate: Gate) -> None:
    process = vault.start("advance")
    gate.wait()
    vault.note("row4", "An entirely different row of sorrel.", created="2026-02-04T09:00:00Z")
    (vault.root / "models/plot/row5.md").unlink()
    gate.open()
    code, _ = ends(process)
    assert code in {0, 30}
    assert "models/plot/row4.md" in vault.finds("sorrel")
    assert vault.run("verify").code == 0
    assert hard.checker().check(vault.root).balances


# Kills


def killed(process: subprocess.Popen[bytes], after: float) -> None:
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()


def grows_to_the_end(vault: hard.Vault, count: int) -> None:
    assert vault.run("advance").code == 0
    vault.is_sound()
    notes, tail, made = vault.counts()
    assert (notes, tail, made.get("0", 0)) == (count, count % 10, count // 10)
    links = vault.sources()
    assert len(set(links)) == len(links) == count // 10 * 10
    assert "Nothing was due" in vault.run("advance").out


@pytest.mark.parametrize("seed", range(4))
def test_advance_killed_at_any_moment_goes_on_where_it_was(vault: hard.Vault, seed: int) -> None:
    for number in range(11, 91):
        vault.note(
            f"row{number}",
            f"Row {number} was hoed by hand{number}.",
            created=f"2026-02-10T{number % 24:02}:{number % 60:02}:00Z",
        )
    chance = random.Random(seed)
    for _ in range(4):
        killed(vault.start("advance"), chance.uniform(0.1, 0.8))
        assert vault.run("verify").code == 0
        assert hard.checker().check(vault.root).balances
    grows_to_the_end(vault, 90)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_advance_killed_at_many_moments(vault: hard.Vault, seed: int) -> None:
    test_advance_killed_at_any_moment_goes_on_where_it_was(vault, seed)


def test_record_killed_at_any_moment_leaves_whole_notes(vault: hard.Vault) -> None:
    chance, told = random.Random(7), 0
    for number in range(14):
        process = vault.start(
            "record",
            "-m",
            "plot",
            "-m",
            "plot",
            f"kept{number} " + "and the whole of it " * 400 + f"to the end{number}",
        )
        try:
            process.wait(chance.uniform(0.1, 0.45))
        except subprocess.TimeoutExpired:
            process.kill()
        out, _ = process.communicate()
        told += process.returncode == 0
        if out:
            assert len(vault.finds(f"kept{number}")) >= 1
        assert vault.run("verify").code == 0
    whole = [path for path in (vault.root / "models/plot").glob("2*/*.md") if "to the end" in path.read_text()]
    assert len(whole) == len(list((vault.root / "models/plot").glob("2*/*.md"))) >= told
    vault.is_sound()


def test_a_summarizer_that_outlives_a_killed_advance_stores_nothing(vault: hard.Vault, gate: Gate) -> None:
    before = vault.bytes()
    process = vault.start("advance")
    gate.wait()
    process.kill()
    process.communicate()
    gate.open()
    assert vault.bytes() == before
    shutil.rmtree(vault.cache)
    vault.summarizer(READ + f"echo '{GOOD}'")
    assert vault.run("advance").code == 0
    assert vault.counts() == (10, 0, {"0": 1})
    vault.is_sound()


def test_what_a_kill_left_half_written_is_never_read(vault: hard.Vault) -> None:
    for folder in ("models/plot", "models/plot/tier-0", "models/plot/2026-02", "topics"):
        vault.put(f"{folder}/.pyramid-0123456789ab.tmp", hard.page("marzipan half")[:40])
    assert vault.finds("marzipan") == []
    assert vault.counts() == (10, 10, {})
    assert vault.doctor() == {}
    grows_to_the_end(vault, 10)


def test_a_closed_pipe_is_no_error(vault: hard.Vault) -> None:
    shell = 'exec 3>&1; "$@" 2>&3 | head -c 1 > /dev/null'
    done = subprocess.run(
        ["/bin/sh", "-c", shell, "sh", *vault.words("load", "plot")],
        env=vault.environ(),
        capture_output=True,
        timeout=hard.BOUND,
        check=False,
    )
    assert done.stdout == b""


def test_a_day_s_summaries_that_nobody_asks_for_are_counted_and_end(vault: hard.Vault) -> None:
    for number in range(11, 41):
        vault.note(
            f"later{number}", f"Row {number} was watered {number} times.", created=f"2026-03-01T{number % 24:02}:00:00Z"
        )
    vault.summarizer(f"{READ}echo '{GOOD}'")
    with vault.config.open("a") as config:
        config.write("calls_per_day = 2\n")
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    with Memory(vault.root, clock=lambda: now) as memory:
        memory.census.refresh()
        assert [len(memory.grow_some(["plot"]).written) for _ in range(3)] == [2, 0, 0]
        assert "calls_per_day" in memory.prospect("plot").waits
        assert any("calls_per_day" in reason for reason in memory.status().models[0].waiting)
        now = datetime(2026, 12, 1, 12, tzinfo=UTC)
        assert memory.prospect("plot").waits == ""
        assert len(memory.grow_some(["plot"], 1).written) == 1
        assert len(memory.advance().written) == 1  # what a person types is not counted
        (memory.cache / "calls/2026-12-01.jsonl").write_text("no JSON")
        assert memory.status().models[0].waiting == ()

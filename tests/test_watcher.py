from __future__ import annotations

import logging
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import hard
import pytest

from pyramid_fs import watcher
from pyramid_fs.cli.watch import service_for
from pyramid_fs.errors import Locked, UsageError
from pyramid_fs.watcher import Ears, Marks
from pyramid_fs.watching import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    return hard.make(tmp_path, monkeypatch)


@pytest.fixture
def marks() -> Marks:
    return Marks()


@pytest.fixture
def ears(vault: hard.Vault, marks: Marks) -> Iterator[Ears]:
    made = Ears(vault.root, vault.cache / "watch-probe", marks)
    yield made
    made.close()


def heard(marks: Marks) -> set[str]:
    """Wait for the next marks."""
    assert marks.woken.wait(20), "nothing was heard"
    return marks.gather()


# Marks


def test_marks_are_given_once(marks: Marks) -> None:
    assert marks.gather() == set()
    marks.add("models/a")
    marks.add("models/a")
    marks.add("topics")
    assert marks.woken.is_set()
    assert marks.gather() == {"models/a", "topics"}
    assert marks.gather() == set()
    assert not marks.woken.is_set()


def test_marks_that_come_on_and_on_are_given_within_a_second(marks: Marks) -> None:
    is_over = threading.Event()

    def write_on() -> None:
        while not is_over.wait(0.01):
            marks.add("models/a")

    thread = threading.Thread(target=write_on)
    marks.add("models/b")
    thread.start()
    began = time.monotonic()
    assert marks.gather() == {"models/a", "models/b"}
    assert time.monotonic() - began < 2 * watcher.STEADY
    is_over.set()
    thread.join()


# Hearing


def test_what_is_written_is_heard_and_what_is_read_is_not(vault: hard.Vault, ears: Ears, marks: Marks) -> None:
    note = vault.note("beans", "dwarf beans")
    assert ears.open() == ""
    marks.take()
    vault.note("peas", "sugar peas")
    assert heard(marks) == {"models/plot"}
    for path in (note, *vault.root.rglob("*")):
        if path.is_file():
            path.read_bytes()
    list(note.parent.iterdir())
    vault.put("models/plot/.pyramid-00ff.tmp", "x").unlink()
    vault.put("models/plot/picture.png", "x")
    vault.put("models/yard/n.md", "the last thing to be heard")
    assert heard(marks) <= {"models/yard"}


def test_an_ear_that_hears_proves_it(vault: hard.Vault, ears: Ears) -> None:
    assert "ended" in ears._check()
    assert ears.prove() == ""
    assert ears.prove() == ""
    assert not list((vault.cache / "watch-probe").iterdir())


def test_a_thread_that_ended_is_noticed(vault: hard.Vault, ears: Ears) -> None:
    ears.open()
    emitter = next(iter(ears._observer.emitters))
    emitter.stop()
    emitter.join(20)
    assert "ended" in ears._check()
    assert ears.prove() == ""


def test_probes_that_arrive_no_more_are_noticed(vault: hard.Vault, ears: Ears, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "PROBE", 0.2)
    ears.open()
    (vault.cache / "watch-probe").rename(vault.cache / "elsewhere")
    (vault.cache / "watch-probe").mkdir()
    assert "no file events" in ears._check()
    assert ears.prove() == ""


def test_a_top_folder_that_appears_is_listened_at(vault: hard.Vault, ears: Ears, marks: Marks) -> None:
    ears.open()
    vault.put("topics/hedges.md", "Hedges")
    assert WHOLE in heard(marks)
    assert ears.is_doubtful
    assert ears.prove() == ""
    marks.gather()
    vault.put("topics/walls.md", "Walls")
    assert heard(marks) == {"topics"}


def test_a_complaint_of_watchdogs_is_a_reason_to_look(ears: Ears, marks: Marks) -> None:
    ears.open()
    marks.take()
    logging.getLogger("watchdog.observers.inotify").warning("Inotify queue overflowed")
    assert marks.gather() == {WHOLE}
    assert ears.is_doubtful


# One watcher a vault


def test_one_at_a_time(tmp_path: Path) -> None:
    with watcher.alone(tmp_path), pytest.raises(Locked, match=f"process {os.getpid()} on"), watcher.alone(tmp_path):
        pass
    with watcher.alone(tmp_path):
        pass


# Git


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge"])
def test_git_at_work(tmp_path: Path, name: str) -> None:
    vault = tmp_path / "repository/notes/vault"
    vault.mkdir(parents=True)
    assert not watcher._git_is_at_work(vault)
    git = tmp_path / "repository/.git"
    git.mkdir()
    assert not watcher._git_is_at_work(vault)
    (git / name).write_text("")
    assert watcher._git_is_at_work(vault)
    os.utime(git / name, (0, 0))
    assert not watcher._git_is_at_work(vault)


# The service


def test_a_systemd_unit(tmp_path: Path) -> None:
    root = tmp_path / 'My "50%" $notes'
    made = service_for("linux", root, tmp_path, {"PYRAMID_CACHE_DIR": "/c d"})
    assert made.path.parent == tmp_path / ".config/systemd/user"
    assert made.path.name in made.start
    line = next(line for line in made.text.splitlines() if line.startswith("ExecStart="))
    words = shlex.split(line.partition("=")[2].replace("$$", "$").replace("%%", "%"))
    assert words[1:] == ["-P", "-m", "pyramid_fs", "--vault", str(root), "watch"]
    assert 'Environment="PYRAMID_CACHE_DIR=/c d"' in made.text
    other = service_for("linux", tmp_path / "other" / root.name, tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "x")})
    assert other.path.parent == tmp_path / "x/systemd/user"
    assert other.path.name != made.path.name
    if shutil.which("systemd-analyze"):
        made.path.parent.mkdir(parents=True)
        made.path.write_text(made.text)
        done = subprocess.run(["systemd-analyze", "verify", str(made.path)], capture_output=True, check=False)
        assert made.path.name.encode() not in done.stderr, done.stderr


def test_a_launchd_agent(tmp_path: Path) -> None:
    made = service_for("darwin", tmp_path / "My <notes>", tmp_path, {})
    values = plistlib.loads(made.text.encode())
    assert values["ProgramArguments"][-3:] == ["--vault", str(tmp_path / "My <notes>"), "watch"]
    assert values["KeepAlive"] == {"SuccessfulExit": False}
    assert made.path.name == f"{values['Label']}.plist"


def test_a_system_without_services(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at log-in"):
        service_for("win32", tmp_path, tmp_path, {})


def test_setup_service(vault: hard.Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(vault.root.parent / "config"))
    monkeypatch.setattr("sys.platform", "linux")
    shown = vault.run("setup", "service")
    assert shown.code == 0
    assert "systemctl --user" in shown.err
    assert not (vault.root.parent / "config").exists()
    for _ in range(2):
        assert vault.run("setup", "service", "--write").code == 0
    (path,) = (vault.root.parent / "config").rglob("*.service")
    assert path.read_text().rstrip() == shown.out.rstrip()
    path.write_text("mine\n")
    refused = vault.run("setup", "service", "--write")
    assert (refused.code, path.read_text()) == (22, "mine\n")


class Dying:
    """Raises where Python prints what is raised, and goes on."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __del__(self) -> None:
        raise self.error


@pytest.mark.parametrize("error", [watcher.Stopped(), KeyboardInterrupt()])
def test_a_signal_that_comes_while_an_object_is_taken_apart_ends_it_all_the_same(
    vault: hard.Vault, error: BaseException, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    following = watcher.Watcher(vault.root, lambda _: None)
    turns: list[int] = []

    def turn() -> None:
        turns.append(1)
        Dying(error)

    monkeypatch.setattr(following, "_turn", turn)
    before = sys.unraisablehook
    with pytest.raises(type(error)):
        following.run()
    assert (turns, sys.unraisablehook) == ([1], before)
    assert "Traceback" not in capsys.readouterr().err

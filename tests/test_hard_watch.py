"""A watcher at work: real processes on a real disk; editors, sync tools, git, floods, freezes and kills around it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hard
import pytest

from pyramid_fs import format as pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytestmark = pytest.mark.slow

BOUND = 60.0
"""Seconds within which the watcher must have done its work on a busy machine."""
SETTLE = 0.4
TEN = tuple(range(10))


class Follower:
    """A `pyramid watch` in a process of its own."""

    def __init__(self, vault: hard.Vault, *words: str, prefix: Sequence[str] = ()) -> None:
        self.vault = vault
        self._err = vault.root.parent / "watch.err"
        with self._err.open("ab") as err:
            self.process = subprocess.Popen(
                [*prefix, *vault.words("watch", *words)],
                env=vault.environ(),
                stdin=subprocess.DEVNULL,
                stdout=err,
                stderr=err,
            )
        until(lambda: self.beat.get("pid") == self.process.pid or self.process.poll() is not None, "it begins")

    @property
    def err(self) -> str:
        return self._err.read_text()

    @property
    def log(self) -> str:
        return "".join(path.read_text() for path in self.vault.cache.glob("*/watch.log"))

    @property
    def beat(self) -> dict[str, Any]:
        for path in self.vault.cache.glob("*/watch.json"):
            return dict(json.loads(path.read_text()))
        return {}

    @property
    def cpu(self) -> float:
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def freeze(self) -> None:
        self.send(signal.SIGSTOP)
        until(lambda: Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T", "frozen")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """End it by a signal; give its exit code and how long it took."""
        began = time.monotonic()
        if self.process.poll() is None:
            self.send(number)
        return self.process.wait(BOUND), time.monotonic() - began


def until(holds: Callable[[], object], what: str, bound: float = BOUND) -> None:
    """Wait for something that another process brings about."""
    end = time.monotonic() + bound
    while not holds():
        assert time.monotonic() < end, f"this did not come about: {what}"
        time.sleep(0.03)


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    made = hard.make(tmp_path, monkeypatch)
    made.put("pyramid.toml", f"format = 1\n[settle]\nseconds = {SETTLE}\n")
    return made


@pytest.fixture
def started(vault: hard.Vault) -> Iterator[Callable[..., Follower]]:
    """Start watchers that are ended with the test."""
    running: list[Follower] = []

    def start(*words: str, prefix: Sequence[str] = ()) -> Follower:
        running.append(Follower(vault, *words, prefix=prefix))
        return running[-1]

    yield start
    for follower in running:
        if follower.process.poll() is None:
            follower.send(signal.SIGCONT)
            follower.process.kill()
        follower.process.wait()


def save(path: Path, text: str) -> None:
    """Save as many editors do: a temp file, then a rename over the old one."""
    temp = path.with_name(f".{path.name}.k2j")
    temp.write_text(text)
    temp.rename(path)


def is_indexed(vault: hard.Vault) -> bool:
    """Whether all that is on disk is in the index; to ask puts nothing into it."""
    index = vault.status()["index"]
    return bool(index["files"] == index["indexed"])


def has_summaries(vault: hard.Vault, count: int, model: str = "plot") -> Callable[[], bool]:
    return lambda: len(vault.summaries(0, model)) == count


# What editors and tools do


def test_saves_of_every_kind_are_found_and_the_tenth_note_is_summarized(
    vault: hard.Vault, started: Callable[..., Follower], tmp_path: Path
) -> None:
    vault.fill(8)
    beans = vault.note("beans", "dwarf beans by the path")
    follower = started()

    def finds(word: str, old: str) -> None:
        until(lambda: is_indexed(vault) and vault.finds(word) == ["models/plot/beans.md"], word)
        assert vault.finds(old) == []

    save(beans, beans.read_text().replace("dwarf", "runner"))
    finds("runner", "dwarf")
    subprocess.run(["sed", "-i", "s/runner/broad/", str(beans)], check=True)
    finds("broad", "runner")
    (tmp_path / "outside").write_text(beans.read_text().replace("broad", "edamame"))
    (tmp_path / "outside").rename(beans)
    finds("edamame", "broad")
    with beans.open("r+") as opened:
        opened.write(beans.read_text().replace("edamame", "lablab "))
    finds("lablab", "edamame")
    assert vault.counts() == (9, 9, {})
    save(vault.root / "models/plot/new.md", hard.page("samphire is no bean"))
    until(has_summaries(vault, 1), "a summary of ten")
    assert vault.counts() == (10, 0, {"0": 1})
    assert follower.err == ""
    assert follower.process.poll() is None
    vault.is_sound()


@pytest.mark.slow
def test_a_note_that_is_only_renamed_moved_or_deleted(
    vault: hard.Vault, started: Callable[..., Follower], tmp_path: Path
) -> None:
    note = vault.note("beans", "dwarf beans")
    vault.put("models/yard/yard.md", "")
    started()
    until(lambda: is_indexed(vault), "indexed")
    note = note.rename(note.with_name("Beans.md"))
    until(lambda: is_indexed(vault) and vault.finds("dwarf") == ["models/plot/Beans.md"], "the case of a name")
    note = note.rename(vault.root / "models/yard/beans.md")
    until(lambda: is_indexed(vault) and vault.finds("dwarf") == ["models/yard/beans.md"], "another model")
    note = note.rename(tmp_path / "beans.md")
    until(lambda: is_indexed(vault) and vault.finds("dwarf") == [], "gone")
    note.rename(vault.root / "models/plot/beans.md")
    until(lambda: is_indexed(vault) and vault.finds("dwarf") == ["models/plot/beans.md"], "back")
    (vault.root / "models/yard").rename(vault.root / "models/court")
    until(lambda: "court" in Path(next(vault.cache.glob("*/watch.log"))).read_text(), "a model renamed")


def test_conflict_copies_are_no_notes(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.fill(8)
    follower = started()
    vault.note("beans.sync-conflict-20260314-101500-ABCDEF7", "haricot, flageolet")
    vault.note("beans (laptop's conflicted copy 2026-03-14)", "haricot, flageolet")
    vault.note("beans", "haricot")
    vault.note("beans 2", "mangetout")
    before = {path: data for path, data in vault.bytes().items() if "conflict" in path}
    until(has_summaries(vault, 1), "a summary of ten")
    assert {"beans", "beans 2"} < set(vault.sources())
    assert len(vault.sources()) == 10
    assert vault.finds("flageolet") == []
    assert {path: data for path, data in vault.bytes().items() if "conflict" in path} == before
    assert follower.err == ""


def test_what_happens_in_tools_folders_is_no_work(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.note("real", "hollyhock")
    follower = started()
    until(lambda: follower.beat["changed"], "the first look")
    changed = follower.beat["changed"]
    for folder in (".obsidian/x", ".trash", ".git", "models/.stversions/plot", "models/plot/.trash"):
        vault.put(f"{folder}/old.md", "hollyhock in a tool's folder")
        vault.put(f"{folder}/new.md", "hollyhock in a tool's folder")
    vault.put("models/plot/picture.png", b"\0")
    vault.note("last", "foxglove")
    until(lambda: follower.beat["changed"] > changed, "the note after them")
    assert vault.finds("hollyhock") == ["models/plot/real.md"]
    assert follower.log.count("changed: ") == 2
    assert follower.err == ""


def test_new_folders_that_are_filled_at_once(
    vault: hard.Vault, started: Callable[..., Follower], tmp_path: Path
) -> None:
    follower = started()
    folder = vault.root / "models/wall/deep/er"
    folder.mkdir(parents=True)
    for at in TEN:
        (folder / f"{at}.md").write_text(f"The wisteria{at} wants cutting back.\n")
    (tmp_path / "moved").mkdir()
    for at in TEN:
        (tmp_path / f"moved/{at}.md").write_text(f"The clematis{at} wants cutting back.\n")
    (tmp_path / "moved").rename(vault.root / "models/moved")
    for at in range(50):
        (vault.root / f"models/m{at}").mkdir()
        (vault.root / f"models/m{at}/a.md").write_text(f"ivy{at} on the fence\n")
    until(has_summaries(vault, 1, "wall"), "a summary of `wall`")
    until(has_summaries(vault, 1, "moved"), "a summary of `moved`")
    until(lambda: is_indexed(vault), "all of them are found")
    assert vault.finds("wisteria9") == ["models/wall/deep/er/9.md"]
    assert vault.finds("ivy49") == ["models/m49/a.md"]
    assert sum(model["tail"] for model in vault.status()["models"]) == 50
    (folder / "later.md").write_text("medlar\n")
    until(lambda: is_indexed(vault) and vault.finds("medlar"), "the new folder is listened at")
    assert follower.err == ""


@pytest.mark.slow
def test_what_it_writes_itself_is_no_work(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.fill(9)
    follower = started()
    edited = vault.root / "models/plot/row1.md"
    with edited.open("a") as opened:
        opened.write("one more line\n")
    text = edited.read_bytes()
    vault.note("row10", "the tenth row")
    until(has_summaries(vault, 1), "a summary of ten")
    until(lambda: "row1" in "".join(vault.finds("line")), "found")
    until(lambda: follower.beat["changed"] < time.time() - 2.6, "no change any more")
    before, cpu, beat, last = vault.bytes(), follower.cpu, follower.beat, time.time()
    until(lambda: time.time() > last + 2, "a while")
    assert vault.bytes() == before
    assert follower.beat["changed"] == beat["changed"]
    assert follower.cpu - cpu < 0.25
    assert edited.read_bytes() == text
    assert vault.counts() == (10, 0, {"0": 1})


def test_a_file_that_is_none_ends_nothing(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.fill(9)
    follower = started()
    vault.put("models/plot/odd.md", b"the gardener\x92s rue\n")
    vault.put("models/plot/gone.md", "").unlink()
    os.mkfifo(vault.root / "models/plot/pipe.md")
    (vault.root / "models/plot/loop.md").symlink_to("loop.md")
    os.close(os.open(os.fsencode(vault.root / "models/plot") + b"/\xff.md", os.O_CREAT | os.O_WRONLY))
    vault.note("good", "foxglove in the half shade")
    until(has_summaries(vault, 1), "a summary of the ten good ones")
    assert "odd" not in vault.sources()
    assert vault.finds("foxglove") == ["models/plot/good.md"]
    assert vault.finds("rue") == ["models/plot/odd.md"]
    assert "models/plot/odd.md" in vault.problems()
    assert follower.process.poll() is None
    assert follower.err == ""


def test_a_change_that_keeps_time_and_size(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    note = vault.note("a", "poppy bed")
    os.utime(note, (1_700_000_000, 1_700_000_000))
    started()
    until(lambda: is_indexed(vault) and vault.finds("poppy"), "found")
    with note.open("r+b") as opened:
        opened.seek(note.read_bytes().index(b"poppy"))
        opened.write(b"daisy")
    os.utime(note, (1_700_000_000, 1_700_000_000))
    until(lambda: is_indexed(vault) and vault.finds("daisy") and not vault.finds("poppy"), "the new text")
    swapped = vault.root / "models/plot/.swap"
    swapped.write_text(note.read_text().replace("daisy", "tulip"))
    os.utime(swapped, (1_700_000_000, 1_700_000_000))
    swapped.rename(note)
    until(lambda: is_indexed(vault) and vault.finds("tulip") and not vault.finds("daisy"), "the text after it")


def test_what_is_being_typed_is_found_at_once_and_in_no_batch(
    vault: hard.Vault, started: Callable[..., Follower]
) -> None:
    vault.put("pyramid.toml", "format = 1\n[settle]\nseconds = 2.0\n")
    vault.fill(9)
    started()
    note = vault.note("typed", "half a sent")
    until(lambda: is_indexed(vault) and vault.finds("sent"), "half a text is found")
    for word in ("ence", " and", " more.\n"):
        with note.open("a") as opened:
            opened.write(word)
        last = time.time()
        until(lambda: time.time() > last + 0.8, "a person types slowly")  # noqa: B023
        assert vault.summaries() == []
    until(has_summaries(vault, 1), "the whole text is summarized")
    made = vault.summaries()[0].stat().st_mtime
    assert made >= note.stat().st_mtime + 2.0
    assert vault.counts() == (10, 0, {"0": 1})


def test_a_note_that_record_wrote_need_not_settle(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.put("pyramid.toml", "format = 1\n[settle]\nseconds = 3600\n")
    for at in TEN:
        assert vault.run("record", "-m", "plot", "--no-advance", f"whole note {at}").code == 0
    started()
    until(has_summaries(vault, 1), "a summary of ten")


def test_settings_that_change_count_at_once(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.put("pyramid.toml", "format = 1\n[settle]\nseconds = 3600\n")
    vault.fill(10)
    follower = started()
    until(lambda: is_indexed(vault), "indexed")
    assert vault.summaries() == []
    vault.put("pyramid.toml", "format = 'x'\n")
    until(lambda: "going on as before" in follower.err, "a line that says so")
    vault.put("pyramid.toml", f"format = 1\n[settle]\nseconds = {SETTLE}\n")
    until(has_summaries(vault, 1), "a summary of ten")
    assert follower.err.count("\n") == 1


# Events that do not come


def flood(vault: hard.Vault) -> None:
    """Make more events than the kernel keeps, of two notes that end as they were."""
    queue = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    one, other = vault.note("one", "left"), vault.note("other", "right")
    for at in range(queue // 2 + 1000):  # of equal events in a row the kernel keeps one
        os.utime(one, (at, at))
        os.utime(other, (at, at))


@pytest.mark.skipif(sys.platform != "linux", reason="the size of the queue is Linux's")
def test_a_queue_that_overflows_loses_nothing(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.put("models/shed/shed.md", "Tools and pots.\n")
    follower = started()
    until(lambda: is_indexed(vault), "indexed")
    follower.freeze()
    flood(vault)
    for at in TEN:
        vault.put(f"models/shed/s{at}.md", f"The pot marked shed{at} stands on the shelf.\n")
        vault.put(f"models/new{at}/a.md", f"gnome{at} stands here\n")
    follower.send(signal.SIGCONT)
    until(has_summaries(vault, 1, "shed"), "a summary of what nobody was told of")
    until(lambda: is_indexed(vault), "indexed")
    assert vault.finds("gnome9") == ["models/new9/a.md"]
    vault.put("models/new9/b.md", "later words\n")
    until(lambda: is_indexed(vault) and vault.finds("later"), "events arrive again")
    assert follower.process.poll() is None
    assert follower.err == ""


def limited(name: str, count: int) -> list[str]:
    """Give the words that start a program under a limit of the kernel's, in a namespace of its own."""
    script = f'echo {count} > /proc/sys/user/{name} && exec "$@"'
    words = ["unshare", "-Ur", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    return words


@pytest.mark.parametrize("before", [60, 20])
def test_too_few_watches_are_said_once_and_made_up_for(
    vault: hard.Vault, started: Callable[..., Follower], before: int
) -> None:
    """Whether they are too few at the start, or come to be while it runs."""
    for at in range(before):
        vault.put(f"models/m{at}/m{at}.md", "A corner.\n")
    follower = started(prefix=limited("max_inotify_watches", 40))
    assert follower.beat["mode"] == ("polling" if before > 40 else "events")
    for at in range(60):
        vault.put(f"models/m{at}/a.md", f"gnome{at} stands here\n")
    until(lambda: follower.beat["mode"] == "polling", "it notices")
    for at in TEN:
        vault.put(f"models/m59/n{at}.md", f"note {at} of the last corner\n")
    until(has_summaries(vault, 1, "m59"), "a summary in a folder that is not listened at")
    until(lambda: is_indexed(vault), "every folder is looked at")
    assert vault.finds("gnome58") == ["models/m58/a.md"]
    assert follower.err.count("\n") == 1
    assert "max_user_watches" in follower.err
    assert "looks every few seconds" in vault.status()["watcher"]


def test_no_instance_of_inotify_is_said_once_and_made_up_for(
    vault: hard.Vault, started: Callable[..., Follower]
) -> None:
    follower = started(prefix=limited("max_inotify_instances", 0))
    vault.fill(10)
    until(has_summaries(vault, 1), "a summary of ten")
    assert follower.err.count("\n") == 1
    assert "max_user_instances" in follower.err
    assert follower.end()[0] == 0


def test_a_polled_folder(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    follower = started("--poll")
    vault.fill(10)
    until(has_summaries(vault, 1), "a summary of ten")
    until(lambda: is_indexed(vault), "indexed")
    assert follower.beat["mode"] == "polling"
    assert follower.err == ""


def test_a_folder_that_is_replaced_is_listened_at(
    vault: hard.Vault, started: Callable[..., Follower], tmp_path: Path
) -> None:
    vault.fill(3)
    follower = started()
    until(lambda: is_indexed(vault), "indexed")
    models = vault.root / "models"
    shutil.copytree(models, tmp_path / "other")
    models.rename(tmp_path / "old")
    (tmp_path / "other").rename(models)
    until(lambda: follower.log.count("changed") >= 1 and is_indexed(vault), "looked at")
    vault.note("late", "medlar")
    until(lambda: is_indexed(vault) and vault.finds("medlar"), "the new folder is listened at")
    vault.put("topics/hedges.md", "---\ntitle: Hedges\n---\n")
    until(lambda: is_indexed(vault) and vault.finds("Hedges"), "a top folder that was not there")
    vault.put("topics/walls.md", "---\ntitle: Ramparts\n---\n")
    until(lambda: is_indexed(vault) and vault.finds("Ramparts"), "it is listened at")
    assert follower.err == ""


# The vault away


def test_a_vault_that_goes_away_is_waited_for(
    vault: hard.Vault, started: Callable[..., Follower], tmp_path: Path
) -> None:
    vault.fill(10)
    follower = started()
    until(has_summaries(vault, 1), "a summary of ten")
    vault.root.rename(tmp_path / "elsewhere")
    until(lambda: follower.beat["mode"] == "away", "it notices")
    assert follower.err.count("\n") == 1
    for at in range(9):
        (tmp_path / f"elsewhere/models/plot/n{at}.md").write_text(f"written elsewhere {at}\n")
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "copy")  # other folders, under the same names
    (tmp_path / "copy").rename(vault.root)
    until(lambda: follower.beat["mode"] == "events", "it notices that it is back")
    until(lambda: is_indexed(vault) and len(vault.finds("elsewhere")) == 9, "what was written meanwhile")
    vault.note("last", "the last one")
    until(has_summaries(vault, 2), "a summary of the next ten")
    assert follower.err.count("\n") == 2
    vault.is_sound()


def test_a_right_that_is_taken_away_is_no_deletion(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.fill(10)
    user = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if user and not shutil.which(user[0]):
        pytest.skip("root may read anything")
    follower = started(prefix=user)
    until(has_summaries(vault, 1), "a summary of ten")
    before = vault.bytes()
    (vault.root / "models").chmod(0)
    until(lambda: follower.beat["mode"] == "away", "it notices")
    (vault.root / "models").chmod(0o755)
    until(lambda: follower.beat["mode"] == "events", "it notices that it is back")
    assert vault.bytes() == before
    assert follower.err.count("\n") == 2
    vault.is_sound()


def test_a_settings_file_that_is_being_saved_is_no_vault_away(
    vault: hard.Vault, started: Callable[..., Follower]
) -> None:
    follower = started()
    toml = vault.root / "pyramid.toml"
    text = toml.read_text()
    toml.unlink()
    time.sleep(0.3)  # as git's checkout of many files does
    toml.write_text(text)
    vault.fill(10)
    until(has_summaries(vault, 1), "a summary of ten")
    assert follower.err == ""


# Beginning and ending


def test_what_changed_meanwhile_is_found_at_the_start(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.fill(9)
    follower = started()
    until(lambda: is_indexed(vault), "indexed")
    assert follower.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert vault.status()["watcher"].startswith("not running since")
    vault.note("row10", "samphire")
    (vault.root / "models/plot/row1.md").write_text("wholly new words\n")
    started()
    until(has_summaries(vault, 1), "a summary of ten")
    until(lambda: is_indexed(vault) and vault.finds("wholly"), "found")
    assert vault.finds("hand1") == []
    vault.is_sound()


def test_one_watcher_a_vault(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    first = started()
    assert vault.status()["watcher"].startswith(f"running (pid {first.process.pid})")
    ran = vault.process("watch")
    assert (ran.code, ran.out) == (12, "")
    assert f"process {first.process.pid} " in ran.err
    assert vault.process("watch", "--once").code == 12
    first.end()
    vault.fill(10)
    second = started()
    until(has_summaries(vault, 1), "the next one takes over")
    assert second.process.poll() is None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_within_a_second(
    vault: hard.Vault, started: Callable[..., Follower], number: int, code: int
) -> None:
    """Also while a slow summarizer is at it: that is ended too, and what it was writing does not exist."""
    mark = vault.root.parent / "asked"
    vault.summarizer(f"echo $$ > {mark}.new; mv {mark}.new {mark}; sleep 60; echo late", timeout=100)
    vault.fill(10)
    follower = started()
    until(mark.exists, "the summarizer is asked")
    vault.note("more", "medlar")
    until(lambda: is_indexed(vault) and vault.finds("medlar"), "it follows while a summary is being made")
    found, took = follower.end(number)
    assert found == code
    assert took < 1.5, "a second, on a machine that does other things"
    assert not any("tier-0" in path for path in vault.bytes())
    asked = mark.read_text().strip()
    until(lambda: not Path(f"/proc/{asked}").exists(), "the summarizer is gone")
    assert "Traceback" not in follower.err


def test_a_slow_summarizer_that_works(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    vault.summarizer("cat > /dev/null; echo 'Rows were hoed by hand, and the butt was full.'")
    vault.fill(20)
    follower = started()
    until(has_summaries(vault, 2), "two summaries")
    until(lambda: is_indexed(vault), "indexed")
    assert follower.err == ""
    vault.is_sound()


@pytest.mark.slow
def test_a_failing_model_holds_up_no_other_and_is_left_alone_for_a_while(
    vault: hard.Vault, started: Callable[..., Follower]
) -> None:
    tries = vault.root.parent / "tries"
    text = "Rows were hoed by hand, and the butt was full."
    vault.summarizer(f"cat > {tries}.in; grep -q brass {tries}.in && echo x >> {tries} && exit 3; echo '{text}'")
    vault.fill(10)
    for at in TEN:
        vault.note(f"b{at}", f"brass {at}", model="brass")
    follower = started()
    until(has_summaries(vault, 1), "the other model's summary")
    until(lambda: "brass" in follower.beat["failure"], "the failure is told")
    until(lambda: is_indexed(vault), "indexed")
    vault.note("b10", "brass again", model="brass")
    until(lambda: is_indexed(vault) and vault.finds("again"), "found")
    assert tries.read_text() == "x\n"
    assert "failed last: brass" in vault.status()["watcher"]


def test_once(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 1\n[settle]\nseconds = 0\n")
    vault.fill(25)
    vault.fill(25, "yard")
    ran = vault.process("watch", "--once")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert vault.counts() == (25, 5, {"0": 2})
    assert vault.counts("yard") == (25, 5, {"0": 2})
    assert is_indexed(vault)
    assert vault.process("watch", "--once").code == 0
    vault.summarizer("exit 3")
    vault.fill(9, "yard2")
    vault.note("tenth", "x", model="yard2")
    ran = vault.process("watch", "--once")
    assert ran.code == 30
    assert "yard2" in ran.err


def test_once_leaves_what_is_being_typed(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 1\n[settle]\nseconds = 3600\n")
    vault.fill(10)
    assert vault.process("watch", "--once").code == 0
    assert vault.counts() == (10, 10, {})


def test_a_vault_of_a_newer_format_is_refused(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 2\n")
    assert vault.process("watch").code == 11


def test_git_in_the_middle_of_something_is_waited_for(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    lock = vault.put(".git/index.lock", "")
    vault.fill(10)
    started()
    until(lambda: is_indexed(vault), "found at once")
    last = time.time()
    until(lambda: time.time() > last + 2 * SETTLE, "settled")
    assert vault.summaries() == []
    lock.unlink()
    until(has_summaries(vault, 1), "a summary of ten")


# The soak


class Editors:
    """People and tools that work on a vault, at random; they know which texts were finished."""

    def __init__(self, vault: hard.Vault, seed: int) -> None:
        self._random, self._vault = random.Random(seed), vault
        self._count = 0
        self.half: set[str] = set()
        """Digests of texts that were being typed."""
        self.whole: set[str] = set()
        for name in ("plot", "yard", "shed"):
            vault.put(f"models/{name}/{name}.md", "A corner.\n")
        self._git("init", "-q")
        self._branches()

    def _git(self, *words: str) -> None:
        program = ["git", "-C", str(self._vault.root / "models/tree"), "-c", "user.name=x", "-c", "user.email=x@x"]
        Path(program[2]).mkdir(exist_ok=True)
        subprocess.run([*program, *words], check=True, capture_output=True)

    def _branches(self) -> None:
        for branch in ("one", "two"):
            self._git("checkout", "-q", "-b", branch)
            for at in range(60 if branch == "one" else 40):
                self._vault.put(f"models/tree/leaf{at}.md", self._said(f"leaf {at} of branch {branch}\n"))
            self._git("add", "-A")
            self._git("commit", "-q", "-m", branch)

    def _said(self, text: str) -> str:
        self.whole.add(digest(text))
        return text

    def _words(self) -> str:
        self._count += 1
        return (
            f"word{self._count} stands here, and {self._random.choice(('oak', 'elm', 'ash'))}{self._count} beside it."
        )

    def _notes(self) -> list[Path]:
        found = (path for path in (self._vault.root / "models").glob("*/n*.md") if path.parent.name != "tree")
        return sorted(found)

    def work(self) -> None:
        """Do one thing."""
        todo = self._random.choice((self.write, self.write, self.write, self.save, self.type, self.move, self.rewrite))
        todo()
        if self._random.random() < 0.05:
            self._git("checkout", "-q", self._random.choice(("one", "two")))
        if self._random.random() < 0.05:
            self._folder()

    def _place(self) -> Path:
        return self._vault.root / "models" / self._random.choice(("plot", "yard", "shed")) / f"n{self._count}.md"

    def write(self) -> None:
        text = self._said(self._words() + "\n")
        self._place().write_text(text)

    def save(self) -> None:
        text = self._said(self._words() + "\n")
        save(self._place(), text)

    def type(self) -> None:
        """Type a text in three goes; where the machine held the typist up for long, it may count as finished."""
        self._count += 1
        text, path, last = "", self._place(), time.monotonic()
        for last_go in (False, False, True):
            with path.open("a") as opened:
                opened.write(more := self._words() + "\n")
            text += more
            if not last_go:
                half, last = digest(text), time.monotonic()
                time.sleep(self._random.uniform(0.05, 0.3))
                if time.monotonic() - last < SOAK_SETTLE - 1:
                    self.half.add(half)
        self._said(text)

    def move(self) -> None:
        if notes := self._notes():
            note = self._random.choice(notes)
            note.rename(note.parent.parent / self._random.choice(("plot", "yard", "shed")) / note.name)

    def rewrite(self) -> None:
        if notes := self._notes():
            self._random.choice(notes).write_text(self._said(self._words() + "\n"))

    def _folder(self) -> None:
        folder = self._vault.root / "models/plot" / f"f{self._count}/deep"
        folder.mkdir(parents=True)
        for at in range(5):
            (folder / f"x{self._count}-{at}.md").write_text(self._said(self._words() + "\n"))


SOAK = float(os.environ.get("PYRAMID_SOAK", "300"))
"""Seconds that the soak takes."""
SEED = int(os.environ.get("PYRAMID_SEED", time.time()))
SOAK_SETTLE = 3.0


def digest(text: str) -> str:
    return pages.digest(pages.read(text.encode()).body)


@pytest.mark.slow
def test_an_hour_in_minutes(vault: hard.Vault, started: Callable[..., Follower]) -> None:
    """Mixed edits while the watcher is stopped, frozen and killed: all is found, and every note is batched once."""
    vault.put("pyramid.toml", f"format = 1\n[settle]\nseconds = {SOAK_SETTLE}\n")
    print(f"PYRAMID_SEED={SEED}")  # noqa: T201
    editors, chance = Editors(vault, SEED), random.Random(SEED)
    follower, end, edits = started(), time.monotonic() + SOAK, 0
    while time.monotonic() < end:
        for _ in range(chance.randint(5, 60)):
            editors.work()
            edits += 1
            time.sleep(chance.choice((0.0, 0.0, 0.02, 0.2)))
        fate = chance.choice(("freeze", "kill", "end", "none", "none"))
        if fate == "freeze":
            follower.freeze()
            for _ in range(chance.randint(5, 60)):
                editors.work()
            follower.send(signal.SIGCONT)
        elif fate == "kill":
            assert follower.end(signal.SIGKILL)[0] == -signal.SIGKILL
        elif fate == "end":
            assert follower.end()[0] == 0
        assert fate == "kill" or "Traceback" not in follower.err, follower.err
        if fate in {"kill", "end"}:
            for _ in range(chance.randint(0, 20)):
                editors.work()
            follower = started()
    until(lambda: not any(model["due"] for model in vault.status()["models"]), "nothing is due", 120)
    until(lambda: is_indexed(vault), "all is in the index", 120)
    beat = follower.beat["changed"]
    until(lambda: time.time() > beat + SOAK_SETTLE + 3, "it rests")
    assert follower.end()[0] == 0
    assert follower.err == ""
    vault.is_sound()
    made = {
        found
        for path in vault.root.glob("models/*/tier-0/*.md")
        for found in re.findall(r'^  - "([0-9a-f]{16})"$', path.read_text(), re.MULTILINE)
    }
    assert not made & (editors.half - editors.whole), "a note was summarized while it was being typed"
    assert made <= editors.whole | {digest("")}
    asked = ["oak", "elm", "leaf", *(f"word{chance.randint(1, edits)}" for _ in range(30))]
    before = [vault.run("recall", "--json", "-n", "50", word).json["hits"] for word in asked]
    assert vault.run("reindex").code == 0
    assert [vault.run("recall", "--json", "-n", "50", word).json["hits"] for word in asked] == before
    models = vault.status()["models"]
    print(f"{edits} edits, {sum(m['notes'] for m in models)} notes, {len(made)} batched")  # noqa: T201

"""Backfill goes through each session once, whatever happens meanwhile; pruning marks, in place, and loses nothing."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hard
import pytest

from pyramid_fs import Memory, vault
from pyramid_fs.errors import DiskError, UsageError
from pyramid_fs.extractors import Candidate, ExtractorFailed
from pyramid_fs.notes import Kind
from pyramid_fs.watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@dataclass
class Reader:
    """An extractor of the tests: each line `name Ada 0.9` or `rule Oil it. 0.6` of a digest is a candidate."""

    name: str = "reader"
    slow: bool = False
    read: list[str] = field(default_factory=list)
    fails: str = "fails"

    def extract(self, text: str) -> list[Candidate]:
        self.read.append(text)
        if self.fails and self.fails in text:
            raise ExtractorFailed("the model did not answer")
        found = []
        for line in text.splitlines():
            what, _, rest = line.partition(" ")
            said, _, number = rest.rpartition(" ")
            if what in {"name", "rule"}:
                kind = Kind.ENTITY if what == "name" else Kind.PROCEDURE
                label = "person" if what == "name" else ""
                found.append(Candidate(kind, said, label, float(number), line))
        return found


def environ(folder: Path, cache: str = "cache") -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(folder / cache), "PYRAMID_CONFIG": str(folder / "config.toml")}


def opened(root: Path, reader: Reader | None = None, now: datetime = NOW, cache: str = "cache") -> Memory:
    return Memory(root, environ=environ(root.parent, cache), clock=lambda: now, extractor=reader or Reader())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={})
    return tmp_path / "vault"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


def session(root: Path, number: int, *lines: str, name: str = "") -> str:
    """Put a digest as an older version left it; give its handle."""
    handle = f"2026-03-{number:02}-walk-{number:04}"
    keys = [f"started: 2026-03-{number:02}T09:00:00Z", *([f"session: {name}"] if name else [])]
    (root / f"sessions/{handle}.md").write_text("\n".join(["---", *keys, "---", *lines, ""]))
    return handle


def records(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for top in ("entities", "procedures")
        for path in sorted((root / top).rglob("*.md"))
    }


def ledger(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted((root / "ledger").iterdir()) for line in path.read_text().splitlines()]


def counts(memory: Memory, **how: Any) -> tuple[int, int, int, int, int]:
    found = memory.backfill(**how)
    return found.qualifying, found.done_before, found.processed, found.entities, found.procedures


# Each session once


def test_a_vault_that_is_older_than_the_shapes_is_gone_through_once(root: Path, memory: Memory) -> None:
    for number in range(1, 31):
        session(root, number, f"name Person{number}word 0.9", f"rule Do thing number {number} {'x' * number}. 0.6")
    assert counts(memory) == (30, 0, 30, 30, 30)
    before = records(root)
    assert len(before) == 60
    assert counts(memory) == (0, 30, 0, 0, 0)
    with opened(root, cache="other") as other:
        assert counts(other) == (0, 30, 0, 0, 0)
    shutil.rmtree(root.parent / "cache")
    with opened(root) as fresh:
        assert counts(fresh) == (0, 30, 0, 0, 0)
    assert records(root) == before
    made = [entry for entry in ledger(root) if "made" in entry]
    assert sorted(entry["source"] for entry in made) == [f"session:2026-03-{n:02}-walk-{n:04}" for n in range(1, 31)]
    assert {entry["made"] for entry in made} == {2}


def test_what_is_found_is_pending_and_says_where_it_comes_from(root: Path, memory: Memory) -> None:
    session(root, 1, "name Ada Lovelace 0.9", "rule Oil the hinges. 0.6", name="s1")
    memory.backfill()
    entity, rule = (root / path for path in sorted(records(root)))
    assert entity.read_text() == (
        '---\nname: "Ada Lovelace"\nkind: person\nstatus: pending\nconfidence: 0.9\nsource: "session:s1"\n'
        "created: 2026-03-01T09:00:00Z\n---\n> name Ada Lovelace 0.9\n"
    )
    assert rule.read_text().endswith("created: 2026-03-01T09:00:00Z\n---\nOil the hinges.\n")
    assert {line.name or line.text: line.due for line in memory.pending()} == {
        "Ada Lovelace": "",
        "Oil the hinges.": "2026-12-29",
    }


def test_a_session_that_yields_nothing_is_not_gone_through_again(root: Path) -> None:
    reader = Reader()
    session(root, 1, "Nothing of note.")
    session(root, 2, "name Ada 0.4999")
    with opened(root, reader) as memory:
        assert counts(memory) == (2, 0, 2, 0, 0)
        assert counts(memory) == (0, 2, 0, 0, 0)
    assert len(reader.read) == 2
    assert records(root) == {}


def test_a_session_that_has_gone_on_is_gone_through_again_and_nothing_is_made_twice(root: Path) -> None:
    reader = Reader()
    handle = session(root, 1, "name Ada 0.9", "rule Oil it. 0.6")
    with opened(root, reader) as memory:
        assert counts(memory) == (1, 0, 1, 1, 1)
        before = records(root)
        for path in before:
            (root / path).write_text((root / path).read_text().replace("pending", "pruned"))
        session(root, 1, "name Ada 0.9", "rule Oil it. 0.6", "name Kim 0.9")
        assert counts(memory) == (1, 0, 1, 1, 0)
        assert len(records(root)) == 3
        assert counts(memory) == (0, 1, 0, 0, 0)
        # a shorter text has nothing that was not read, and a line without a size is one of an older version
        session(root, 1, "name Lin 0.9")
        assert counts(memory) == (0, 1, 0, 0, 0)
        session(root, 1, *["name Lin 0.9"] * 9)
        (root / "ledger/old.jsonl").write_text(f'{{"source": "session:{handle}", "made": 0, "at": "2026-11-29"}}\n')
        assert counts(memory) == (0, 1, 0, 0, 0)


def test_the_gate_is_exact_and_what_it_keeps_out_is_counted(root: Path, memory: Memory) -> None:
    session(root, 1, "name Ada 0.5", "name Kim 0.4999999999", "name Una 0.49", "rule Oil it. 0.5000001")
    found = memory.backfill()
    assert (found.entities, found.procedures, found.below) == (1, 1, 2)


def test_a_vaults_own_gate_is_kept_to(root: Path) -> None:
    (root / "pyramid.toml").write_text("format = 1\n[curation]\nadmit = 0.8\n")
    session(root, 1, "name Ada 0.8", "name Kim 0.79")
    with opened(root) as memory:
        assert memory.backfill().entities == 1


def test_secrets_are_never_proposed(root: Path, memory: Memory) -> None:
    session(root, 1, f"rule Log in with {SECRET} first. 0.9", f"name Ada {SECRET} 0.9", "name Kim 0.9")
    memory.backfill()
    assert [path.split("/")[1][:3] for path in records(root)] == ["kim"]


def test_a_dry_run_counts_and_writes_nothing(root: Path) -> None:
    reader = Reader()
    session(root, 1, "name Ada 0.9")
    before = hard.Vault(root, root, root).bytes()
    with opened(root, reader) as memory:
        assert counts(memory, dry=True) == (1, 0, 0, 0, 0)
    assert hard.Vault(root, root, root).bytes() == before
    assert reader.read == []


def test_only_what_is_older_than_a_date(root: Path, memory: Memory) -> None:
    for number in (1, 2, 3):
        session(root, number, f"name Person{number}word 0.9")
    day = datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert counts(memory, before=day, dry=True)[:2] == (1, 0)
    assert counts(memory, before=day) == (1, 0, 1, 1, 0)
    assert counts(memory, before=day + timedelta(microseconds=1)) == (1, 1, 1, 1, 0)
    assert counts(memory) == (1, 2, 1, 1, 0)


def test_sessions_that_hold_no_text_or_can_not_be_read_do_not_qualify(root: Path, memory: Memory) -> None:
    session(root, 1)
    (root / "sessions/broken.md").write_text("---\nstarted: [\n---\nname Ada 0.9\n")
    assert counts(memory) == (0, 0, 0, 0, 0)


def test_one_failing_session_never_stops_the_rest_and_is_tried_again(root: Path) -> None:
    session(root, 1, "name Ada 0.9", "it fails")
    session(root, 2, "name Kim 0.9")
    reader = Reader()
    with opened(root, reader) as memory:
        found = memory.backfill()
        assert (found.qualifying, found.processed, found.entities) == (2, 1, 1)
        assert found.errors == ["2026-03-01-walk-0001: the model did not answer"]
        assert counts(memory) == (1, 1, 0, 0, 0)
        reader.fails = ""
        assert counts(memory) == (1, 1, 1, 1, 0)
        assert counts(memory) == (0, 2, 0, 0, 0)
    assert len(records(root)) == 2


def test_a_record_of_an_agents_for_a_session_counts_as_done(root: Path, memory: Memory) -> None:
    session(root, 1, "name Ada 0.9", name="s1")
    memory.propose("entity", "Kim", confidence=0.6, source="session:s1")
    assert counts(memory) == (0, 1, 0, 0, 0)


def test_a_few_at_a_time(root: Path, memory: Memory) -> None:
    for number in range(1, 6):
        session(root, number, f"name Person{number}word 0.9")
    assert counts(memory, limit=2) == (5, 0, 2, 2, 0)
    assert counts(memory, limit=2) == (3, 2, 2, 2, 0)
    assert counts(memory, limit=2) == (1, 4, 1, 1, 0)


@pytest.mark.parametrize("what", ["reject", "confirm", "prune", "delete"])
def test_whatever_becomes_of_the_records_the_sessions_stay_done(root: Path, memory: Memory, what: str) -> None:
    session(root, 1, "rule Oil the hinges. 0.6", name="s1")
    memory.backfill()
    (path,) = records(root)
    handle = path.rsplit("/", 1)[1][:-3]
    with opened(root, now=NOW + timedelta(days=31)) as later:
        if what == "reject":
            later.reject([handle])
        elif what == "confirm":
            later.confirm([handle])
        elif what == "prune":
            assert [day for _, day in later.prune()] == ["2026-12-29"]
        else:
            (root / path).unlink()
        kept = records(root)
        assert counts(later) == (0, 1, 0, 0, 0)
        assert records(root) == kept


def test_a_ledger_that_was_damaged_is_read_as_far_as_it_can_be(root: Path, memory: Memory) -> None:
    session(root, 1, "name Ada 0.9")
    memory.backfill()
    (path,) = (root / "ledger").iterdir()
    path.write_bytes(b"\xff\xfe\n[1]\n{\n" + path.read_bytes() + b'{"source": 3, "made": "x"}\n{"begun": null}\n{"so')
    assert counts(memory) == (0, 1, 0, 0, 0)
    session(root, 2, "name Kim 0.9")
    assert counts(memory) == (1, 1, 1, 1, 0)
    assert counts(memory) == (0, 2, 0, 0, 0)


# Two machines


def test_two_copies_that_were_both_gone_through_are_one_after_a_merge(root: Path, tmp_path: Path) -> None:
    for number in range(1, 6):
        session(root, number, f"name Person{number}word 0.9", "rule Oil the hinges. 0.6")
    copy = tmp_path / "copy/vault"
    shutil.copytree(root, copy)
    with opened(root) as one, opened(copy, now=NOW + timedelta(days=3)) as two:
        assert counts(one) == counts(two) == (5, 0, 5, 5, 5)
    assert records(root) == records(copy)
    mine, theirs = ({path.name for path in (each / "ledger").iterdir()} for each in (root, copy))
    assert len(mine | theirs) == 2
    shutil.copytree(copy, root, dirs_exist_ok=True)
    for now in (NOW, NOW + timedelta(days=33)):
        with opened(root, now=now, cache=f"cache-{now:%d}") as merged:
            assert counts(merged) == (0, 5, 0, 0, 0)
    with opened(root, now=NOW + timedelta(days=33)) as one, opened(copy, now=NOW + timedelta(days=50)) as two:
        shutil.copytree(root / "ledger", copy / "ledger", dirs_exist_ok=True)
        assert len(one.prune()) == len(two.prune()) == 5
    assert records(root) == records(copy)


def test_half_of_the_sessions_gone_through_elsewhere_are_done_after_a_merge(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy/vault"
    for number in range(1, 5):
        session(root, number, f"name Person{number}word 0.9")
    shutil.copytree(root, copy)
    with opened(copy) as two:
        two.backfill(limit=2)
    shutil.copytree(copy, root, dirs_exist_ok=True)
    with opened(root) as one:
        assert counts(one) == (2, 2, 2, 2, 0)


# Kills, and two at once

RUN = """
import sys, time
sys.path.insert(0, {tests!r})
from test_backfill import Reader, opened
from pathlib import Path

class Slow(Reader):
    def extract(self, text):
        found = super().extract(text)
        print("reads", flush=True)
        time.sleep({pause})
        return found

with opened(Path(sys.argv[1]), Slow()) as memory:
    report = memory.backfill()
    print("made", report.processed, report.entities, report.errors, flush=True)
"""


def start(root: Path, pause: float) -> subprocess.Popen[str]:
    script = textwrap.dedent(RUN.format(tests=str(Path(__file__).parent), pause=pause))
    return subprocess.Popen(
        [sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("reads", [1, 2, 4])
def test_a_kill_in_the_middle_loses_nothing_and_doubles_nothing(root: Path, reads: int) -> None:
    for number in range(1, 6):
        session(root, number, f"name Person{number}word 0.9", f"name Other{number}word 0.9")
    process = start(root, 0.05)
    assert process.stdout
    for _ in range(reads):
        assert process.stdout.readline() == "reads\n"
    process.kill()
    process.communicate(timeout=hard.BOUND)
    assert process.returncode == -signal.SIGKILL
    with opened(root) as memory:
        qualifying, done, *_ = counts(memory)
        assert (qualifying, done) == (5, 0)
        assert counts(memory) == (0, 5, 0, 0, 0)
    assert len(records(root)) == 10
    assert all(b"Person" in data or b"Other" in data for data in records(root).values())


def test_what_a_cut_off_session_lacked_is_added(root: Path) -> None:
    lines = [f"name Word{letter * 6} 0.9" for letter in "abcd"]
    session(root, 1, *lines)
    whole = root.parent / "whole/vault"
    shutil.copytree(root, whole)
    with opened(whole) as memory:
        memory.backfill()
    expected = records(whole)
    assert len(expected) == 4
    # a kill can come after any file
    for kept in range(4):
        cut = root.parent / f"cut-{kept}/vault"
        shutil.copytree(root, cut)
        for path in list(expected)[:kept]:
            (cut / path).write_bytes(expected[path])
        (cut / "ledger/abc123.jsonl").write_text('{"begun": "session:2026-03-01-walk-0001", "at": "2026-11-29"}\n')
        with opened(cut) as memory:
            assert counts(memory) == (1, 0, 1, 4 - kept, 0)
        assert records(cut).keys() == expected.keys()


def test_a_cut_off_session_leaves_alone_what_a_person_made_of_its_records(root: Path, memory: Memory) -> None:
    session(root, 1, "name Ada 0.9", "rule Oil the hinges. 0.6", "it fails")
    reader = Reader(fails="")
    with opened(root, reader) as first:
        first.backfill()
    (path,) = (root / "ledger").iterdir()
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "begun" in line))
    entity, rule = (root / each for each in sorted(records(root)))
    entity.write_text(entity.read_text().replace("pending", "confirmed").replace("> name", "Keeps bees.\n> name"))
    rule.write_text(rule.read_text().replace("pending", "pruned"))
    before = records(root)
    with opened(root, reader) as again:
        assert counts(again) == (1, 0, 1, 0, 0)
    assert records(root) == before


def test_two_processes_at_once_share_the_work(root: Path) -> None:
    for number in range(1, 9):
        session(root, number, f"name Person{number}word 0.9")
    both = [start(root, 0.01), start(root, 0.01)]
    said = [process.communicate(timeout=hard.BOUND) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    ends = [out.splitlines()[-1].split() for out, _ in said]
    assert sum(int(end[1]) for end in ends) == 8
    assert len(records(root)) == 8
    assert sum("made" in entry for entry in ledger(root)) == 8


# Pruning


def pending(root: Path, name: str, *keys: str) -> Path:
    path = root / f"entities/{name}.md"
    given = keys or ("confidence: 0.6", "created: 2026-10-01")
    path.write_text("\n".join(["---", f"name: {name}", "status: Pending  # mine", *given, "---", "Bees.", ""]))
    return path


def test_pruning_marks_in_place_with_the_day_when_it_fell_due(root: Path, memory: Memory) -> None:
    path = pending(root, "ada")
    before = path.read_text()
    assert [(line.handle, day) for line, day in memory.prune(dry=True)] == [("ada", "2026-10-31")]
    assert path.read_text() == before
    assert [(line.handle, day) for line, day in memory.prune()] == [("ada", "2026-10-31")]
    assert memory.prune() == []
    after = path.read_text()
    assert 'pruned: "2026-10-31"\n' in after
    assert "status: pruned" in after
    assert after.endswith("---\nBees.\n")
    assert memory.context().entities == ()
    assert memory.pending() == []
    assert [line.handle for line in memory.entities(pruned=True)] == ["ada"]


def test_machines_that_prune_on_different_days_write_the_same_bytes(root: Path, tmp_path: Path) -> None:
    pending(root, "ada")
    copy = tmp_path / "copy/vault"
    shutil.copytree(root, copy)
    with opened(root) as one, opened(copy, now=NOW + timedelta(days=200)) as two:
        one.prune()
        two.prune()
    assert records(root) == records(copy)


def test_confirmed_records_and_those_that_lack_something_are_never_pruned(root: Path) -> None:
    kept = [
        pending(root, "confirmed"),
        pending(root, "sure", "confidence: 0.85", "created: 2026-10-01"),
        pending(root, "new", "confidence: 0.6", "created: 2026-11-28"),
        pending(root, "garbled", "confidence: high", "created: 2026-10-01"),
        pending(root, "blank", "created: 2026-10-01"),
        pending(root, "undated", "confidence: 0.6"),
        pending(root, "misdated", "confidence: 0.6", "created: soon"),
    ]
    kept[0].write_text(kept[0].read_text().replace("Pending", "Confirmed"))
    before = records(root)
    with opened(root) as memory:
        memory.prune()
        assert records(root) == before
    with opened(root, now=NOW + timedelta(days=9999)) as later:
        assert [line.handle for line, _ in later.prune()] == ["new"]


def test_doctor_lists_what_would_wait_for_ever_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hard.make(tmp_path, monkeypatch)
    (found.root / "entities").mkdir()
    pending(found.root, "fine")
    pending(found.root, "garbled", "confidence: high", "created: 2026-10-01")
    pending(found.root, "blank", "created: 2026-10-01")
    pending(found.root, "undated", "confidence: 0.6")
    pending(found.root, "misdated", "confidence: 0.6", "created: soon")
    reasons = found.doctor()
    assert set(reasons) == {f"entities/{name}.md" for name in ("garbled", "blank", "undated", "misdated")}
    assert "no number from 0 to 1" in reasons["entities/garbled.md"]
    assert "`confidence` is missing" in reasons["entities/blank.md"]
    assert "`created` is missing" in reasons["entities/undated.md"]
    assert "`created` can't be read" in reasons["entities/misdated.md"]
    for name in ("garbled", "blank", "undated"):
        assert found.run("confirm", name).code == 0
    assert set(found.doctor()) == {"entities/misdated.md"}


def test_a_record_that_can_not_be_written_holds_up_no_other(root: Path, memory: Memory) -> None:
    folder = root / "entities/a"
    folder.mkdir()
    pending(root, "a/ada")
    pending(root, "kim")
    (root / "entities/b").mkdir()
    pending(root, "b/una")
    with hard.as_plain_user():
        folder.chmod(0o500)
        try:
            with pytest.raises(DiskError):
                memory.prune()
        finally:
            folder.chmod(0o700)
    assert all(b"status: pruned" in records(root)[f"entities/{name}.md"] for name in ("kim", "b/una"))
    assert [line.handle for line, _ in memory.prune()] == ["ada"]


def test_a_week_ahead_status_and_bundle_say_how_many_will_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hard.make(tmp_path, monkeypatch)
    (found.root / "entities").mkdir()
    day = datetime.now(UTC)
    for name, ago in (("ada", 29), ("kim", 24), ("una", 1)):
        pending(found.root, name, "confidence: 0.6", f"created: {day - timedelta(days=ago):%Y-%m-%dT%H:%M:%SZ}")
    line = "3 records wait for a person: pyramid pending (2 of them will be pruned within a week)"
    for verb in ("status", "context"):
        assert line in found.run(verb).out
    assert (found.status()["pending"], found.status()["soon"]) == (3, 2)
    found.run("confirm", "kim", "ada", "una")
    assert "pyramid pending" not in found.run("status").out


# The watcher


def test_the_watcher_prunes_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hard.make(tmp_path, monkeypatch)
    (found.root / "entities").mkdir()
    now = [NOW]
    watcher = Watcher(found.root, lambda _: None, clock=lambda: now[0])

    def look() -> list[str]:
        watcher._look(None)
        return [path.name for path in (found.root / "entities").iterdir() if "status: pruned" in path.read_text()]

    pending(found.root, "ada", "confidence: 0.6", "created: 2026-10-30T22:00:00Z")
    try:
        assert look() == []
        now[0] = NOW + timedelta(hours=2)
        assert look() == [], "no day has passed"
        now[0] = NOW + timedelta(days=1)
        assert look() == ["ada.md"]
        found.config.write_text("[advance]\nbackground = false\n")
        pending(found.root, "kim")
        watcher._follow_settings()
        now[0] = NOW + timedelta(days=2)
        assert look() == ["ada.md"]
    finally:
        watcher._memory.close()


def test_a_watching_process_prunes_and_goes_through_new_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hard.make(tmp_path, monkeypatch)
    found.put("pyramid.toml", "format = 1\n[settle]\nseconds = 0\n")
    (found.root / "entities").mkdir()
    path = pending(found.root, "ada")
    process = found.start("watch")
    try:
        until(lambda: "status: pruned" in path.read_text())
        saved = "Person: Always run the small tests before you push.\nAgent: Ada Lovelace of Hull said the same.\n"
        found.put("sessions/2026-11-01-x.md", saved)
        until(lambda: "session:2026-11-01-x" in "".join(p.read_text() for p in (found.root / "ledger").glob("*")))
    finally:
        process.terminate()
        process.communicate(timeout=hard.BOUND)


def until(check: Any, bound: float = 60.0) -> None:
    end = time.monotonic() + bound
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_extractor_that_is_not_installed_is_one_sentence(root: Path, memory: Memory) -> None:
    session(root, 1, "name Ada 0.9")
    (root.parent / "config.toml").write_text('[extractor]\nkind = "command"\ncommand = []\n')
    with pytest.raises(UsageError, match=r"\w"), Memory(root, environ=environ(root.parent)) as other:
        other.backfill()

"""Forgetting: nothing of a note is left in the work tree, whatever kills it or comes back, and the sum balances."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, files, issue, vault
from pyramid_fs import format as pages
from pyramid_fs.browser import pages as drawn
from pyramid_fs.browser.addresses import Served
from pyramid_fs.browser.reading import Reader
from pyramid_fs.cli import run
from pyramid_fs.errors import NoSuchHandle, RefusedWrite, SummarizerFailed, UsageError
from pyramid_fs.forget import TAKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.summarizers import Request, Summarizer

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
SMALL = "format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n"
SECRET = "Marguerite hid the Zanzibar ledger beneath the quince tree at 4711 Thornapple Lane."
PARTS = ("tier-0", "tier-1", "tier-2", "retired")
RARE = ("marguerite", "zanzibar", "quince", "4711", "thornapple")


@dataclass
class Teller:
    """Tells all that it was given, in words of its own."""

    name: str = "teller"
    during: Callable[[Request], object] = lambda _: None
    draft: bool = False
    takes: int = 0
    slow: bool = True
    asked: list[Request] = field(default_factory=list)

    def summarize(self, request: Request) -> str:
        self.asked.append(request)
        self.during(request)
        told = " and ".join(item.text.replace("\n", " ").strip(".") for item in request.items)
        return f"At tier {request.tier} this was told: {told}."


def environ(root: Path) -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}


def opened(root: Path, teller: Summarizer | None = None) -> Memory:
    return Memory(root, environ=environ(root), clock=lambda: NOW, summarizer=teller or Teller())


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def fill(root: Path, model: str, numbers: range) -> None:
    for number in numbers:
        date = NOW - timedelta(days=60 - number)
        text = f"Number {number} was a day at the harbour, and the soup was warm."
        write(root, f"models/{model}/{model}-{number}.md", f"---\ncreated: {date:%Y-%m-%d}\n---\n{text}\n")


@pytest.fixture(scope="session")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a vault of two models, three tiers each, that share one note."""
    root = tmp_path_factory.mktemp("forget") / "vault"
    vault.make_vault(root, models={"alice": "A friend.", "bob": ""})
    (root / "pyramid.toml").write_text(SMALL)
    fill(root, "alice", range(7))
    fill(root, "bob", range(7))
    with opened(root) as memory:
        memory.record(SECRET, ["alice", "bob"], created=NOW - timedelta(days=57.9))
        memory.advance()
        assert memory.verify().balances
        first = sorted(root.glob("models/alice/tier-0/*.md"))[1].stem
        list(memory.redo(first))  # old texts lie in retired/
    assert [len(list(root.glob(f"models/{m}/tier-2/*.md"))) for m in ("alice", "bob")] == [1, 1]
    assert len(list(root.glob("models/alice/retired/*.md"))) == 3
    return root


@pytest.fixture
def root(grown: Path, tmp_path: Path) -> Path:
    shutil.copytree(grown.parent, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("cache"))
    return tmp_path / "vault"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


def secret(root: Path) -> Path:
    """Find the note that is to be forgotten."""
    return next(root.glob("models/alice/2026-*/*-marguerite-*.md"))


def embed(root: Path) -> Path:
    """Find the file by which the other model holds it."""
    return next(root.glob("models/bob/2026-*/*-marguerite-*.md"))


def holding(root: Path, words: tuple[str, ...] = RARE) -> list[str]:
    """List the files, of any name, that hold one of some words, in their text or in their path."""
    found = [path for path in sorted(root.rglob("*")) if path.is_file() and ".git/" not in str(path)]
    texts = {p.relative_to(root).as_posix(): f"{p.name}\n{p.read_bytes().decode('utf-8', 'replace')}" for p in found}
    return [path for path, text in texts.items() if any(word in text.lower() for word in words)]


def contents(root: Path) -> dict[str, bytes]:
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and ".git/" not in str(path))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def summaries(root: Path, model: str = "alice", tier: str = "*") -> list[Path]:
    return sorted(root.glob(f"models/{model}/tier-{tier}/*.md"))


def page(path: Path) -> pages.Page:
    return pages.read(path.read_bytes())


def clean(memory: Memory) -> None:
    """Check that nothing of the note is left, that the sum balances, and that nothing is to be said of it."""
    root = memory.vault.root
    assert holding(root) == []
    report = memory.verify()
    assert report.balances, report.faults
    assert report.remarks == ()
    assert sum(each.forgotten for each in report.models) == 0
    assert [hit.handle for hit in memory.recall("Zanzibar quince").hits] == []


# What forget does


def test_nothing_of_a_note_is_left_in_three_tiers_of_two_models(memory: Memory, root: Path) -> None:
    assert len(holding(root)) == 11  # two notes, three tiers twice, and three retired texts
    before, files_of_it = contents(root), [embed(root), secret(root)]
    found = memory.forget(secret(root).stem)
    clean(memory)
    assert (list(found.removed), found.git_paths, found.failed) == (
        [path.relative_to(root).as_posix() for path in files_of_it], (), {},
    )  # fmt: skip
    after = contents(root)
    assert set(before) - set(after) == set(found.removed)
    assert {path for path in set(after) - set(before) if not path.startswith("ledger/")} == set()
    for path in (path for path in after if "/tier-" in path and before[path] != after[path]):
        old, new = pages.read(before[path]), pages.read(after[path])
        for key in ("tier", "batch", "created"):
            assert new.text(key) == old.text(key)
        assert int(new.text("note_count")) == int(old.text("note_count")) - 1
    assert [model.notes for model in memory.verify().models] == [7, 7]
    assert memory.advance().written == ()


def test_the_model_writes_again_what_was_drafted(root: Path) -> None:
    teller = Teller("second")
    with opened(root, teller) as memory:
        found = memory.forget(secret(root).stem)
    assert (len(found.written), found.drafts) == (6, ())
    assert sorted(request.tier for request in teller.asked) == [0, 0, 1, 1, 2, 2]
    assert not any(word in item.text.lower() for asked in teller.asked for item in asked.items for word in RARE)
    assert {page(root / path).text("summarizer") for path in _written(root, found.written)} == {"second"}
    assert len(list(root.glob("models/*/retired/*.md"))) == 3  # the drafts are not kept


def _written(root: Path, handles: tuple[str, ...]) -> list[str]:
    return [p.relative_to(root).as_posix() for p in sorted(root.glob("models/*/tier-*/*.md")) if p.stem in handles]


def test_a_summarizer_that_fails_keeps_no_text_that_was_to_go(root: Path) -> None:
    def fail(_: Request) -> None:
        raise SummarizerFailed("no net")

    with opened(root, Teller(during=fail)) as memory:
        found = memory.forget(secret(root).stem)
        clean(memory)
        assert len(found.drafts) == 6
        assert set(found.failed.values()) == {"no net"}
        assert found.exit_code == 0
    assert all(page(path).text("draft") == "true" for path in summaries(root, tier="2"))


def test_where_an_agent_writes_the_summaries_drafts_stand(root: Path) -> None:
    (root.parent / "config.toml").write_text('[summarizer]\nkind = "none"\n')
    with Memory(root, environ=environ(root), clock=lambda: NOW) as memory:
        found = memory.forget(secret(root).stem)
        clean(memory)
        assert (len(found.drafts), found.failed) == (6, {})


def test_a_retired_text_keeps_what_it_was_made_from_but_for_the_note(memory: Memory, root: Path) -> None:
    memory.forget(secret(root).stem)
    lowest, above = sorted(root.glob("models/alice/retired/*.md"))[:2]
    assert (page(lowest).text("note_count"), page(lowest).keys["provenance"]) == ("1", ["[[alice-2]]"])
    assert page(above).text("note_count") == "3"
    assert page(lowest).body == page(above).body == "The text that stood here was made from a note that was forgotten."


def test_a_person_s_own_lines_stay(memory: Memory, root: Path) -> None:
    path = summaries(root, tier="0")[1]
    path.write_text(path.read_text().replace("batch: 2\n", "batch: 2  # the second\ntags: [soup, 'b']\n"))
    memory.forget(secret(root).stem)
    assert "\nbatch: 2  # the second\ntags: [soup, 'b']\n" in path.read_text()
    clean(memory)


def test_the_cache_holds_no_word_of_it(memory: Memory, root: Path) -> None:
    assert memory.recall("Zanzibar").hits
    assert holding(root.parent / "cache")
    memory.forget(secret(root).stem)
    assert holding(root.parent / "cache") == []
    assert memory.recall("soup").hits


def test_the_tombstones_say_no_word_of_it(memory: Memory, root: Path) -> None:
    names, digest = (secret(root).stem, embed(root).stem), pages.digest(SECRET)
    memory.forget(names[0])
    (ledger,) = root.glob("ledger/*.jsonl")
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    marks = {hashlib.sha256(name.encode()).hexdigest() for name in names}
    assert {(line["forgot"], line["digest"], line["at"]) for line in lines} == {
        (mark, digest, "2026-11-29T20:15:30Z") for mark in marks
    }


def test_a_note_of_the_tail_is_simply_gone(memory: Memory, root: Path) -> None:
    made = memory.record("The lighthouse keeper sold his accordion.", ["alice"], created=NOW)
    found = memory.forget(made.handle)
    assert (found.written, found.retired, found.tombstones) == ((), (), 1)
    assert holding(root, ("accordion",)) == []
    assert memory.verify().balances


def test_the_same_text_under_another_name_is_a_note(memory: Memory, root: Path) -> None:
    write(root, "models/alice/other.md", SECRET)
    found = memory.forget(secret(root).stem)
    assert [trace.path for trace in found.traces] == ["models/alice/other.md"]
    assert {"Zanzibar", "4711"} <= set(found.traces[0].words)
    assert [n.handle for n in memory.census.fresh("alice").state.tail] == ["other"]
    assert memory.verify().balances
    again = memory.record(SECRET, ["alice"])
    assert again.handle in {hit.handle for hit in memory.recall("Zanzibar").hits} | {"other"}


# What is left without sources


def test_what_has_no_other_source_is_retired_and_emptied(root: Path) -> None:
    write(root, "pyramid.toml", SMALL.replace("batch_notes = 2", "batch_notes = 1"))
    for number in range(4):
        write(root, f"models/carol/c{number}.md", f"---\ncreated: 2026-10-0{number + 1}\n---\nvelvet{number} soup.\n")
    with opened(root, Teller(draft=True)) as memory:
        memory.advance(["carol"])
        for number, left in enumerate([[3, 2, 1], [2, 1, 1], [1, 1, 1], [0, 0, 0]]):
            memory.forget(f"c{number}")
            report = memory.verify()
            assert (report.balances, report.remarks) == (True, ())
            assert [len(summaries(root, "carol", str(tier))) for tier in range(3)] == left
            assert holding(root, (f"velvet{number}",)) == []
            assert len(memory.census.fresh("carol").state.notes) == 3 - number
        assert memory.advance(["carol"]).written == ()


# What a person has done before


def test_what_a_person_deleted_is_known_by_what_names_it(memory: Memory, root: Path) -> None:
    handle = secret(root).stem
    secret(root).unlink()
    found = memory.forget(handle)
    assert [path.split("/")[1] for path in found.removed] == ["bob"]
    clean(memory)


def test_what_was_deleted_is_known_also_where_its_text_stands_under_another_name(memory: Memory, root: Path) -> None:
    write(root, "models/alice/other.md", SECRET)
    secret(root).unlink()
    found = memory.forget(embed_target(root))
    assert len(found.written) == 6
    assert holding(root) == ["models/alice/other.md"]
    assert memory.verify().remarks == ()


def embed_target(root: Path) -> str:
    """Give the handle of the note that the other model's file shows."""
    return embed(root).read_text().strip()[3:-2]


def test_a_note_that_was_renamed_by_hand_is_forgotten_under_both_names(memory: Memory, root: Path) -> None:
    secret(root).rename(root / "models/alice/better-name.md")
    embed(root).write_text("![[better-name]]\n")
    before = secret_copy(root)
    memory.forget("better-name")
    clean(memory)
    write(root, before[0], before[1])
    assert len(memory.census.fresh("alice").state.notes) == 7


def secret_copy(root: Path) -> tuple[str, str]:
    """Give path and text of the note as it was called when it was summarized."""
    named = [link for path in summaries(root, tier="0") for link in pages.links_of(page(path), "provenance")]
    (link,) = [link for link in named if "marguerite" in link]
    return f"models/alice/{link}.md", f"{SECRET}\n"


def test_a_note_that_was_moved_to_another_model_is_taken_out_of_both(memory: Memory, root: Path) -> None:
    embed(root).unlink()
    secret(root).rename(root / "models/bob" / secret(root).name)
    found = memory.forget(moved(root))
    assert len(found.written) == 6
    clean(memory)


def moved(root: Path) -> str:
    """Give the handle of the note where it lies now."""
    return next(root.glob("models/bob/*-marguerite-*.md")).stem


def test_a_folder_that_can_not_be_read_is_named(memory: Memory, root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (root / "models/bob/tier-1").chmod(0)
    found = memory.forget(secret(root).stem)
    (root / "models/bob/tier-1").chmod(0o755)
    assert found.exit_code == 40
    assert "models/bob/tier-1" in found.failed


def test_naming_an_embed_forgets_the_note_it_shows(memory: Memory, root: Path) -> None:
    handle = secret(root).stem
    assert memory.forget(embed(root).stem).handle == handle
    clean(memory)


def test_every_version_that_a_summary_names_is_kept_out(memory: Memory, root: Path) -> None:
    path = secret(root)
    before = path.read_bytes()
    path.write_bytes(before.replace(b"4711", b"4712"))
    found = memory.forget(path.stem)
    assert found.tombstones == 4  # two names, two versions
    clean(memory)
    path.write_bytes(before)
    assert not any(note.path.endswith(path.name) for note in memory.census.fresh("alice").state.notes)


def test_people_s_own_names_repeat(memory: Memory, root: Path) -> None:
    for place, text in (("a/plan", "A violin for Pavel."), ("b/plan", "A cello for Oksana.")):
        write(root, f"models/alice/{place}.md", f"---\ncreated: 2026-10-10\n---\n{text}\n")
    memory.advance()
    list(memory.redo(summaries(root, tier="0")[-1].stem))  # a retired text names both by their name alone
    with pytest.raises(NoSuchHandle, match="several"):
        memory.forget("plan")
    assert memory.forget("a/plan").removed == ("models/alice/a/plan.md",)
    assert holding(root, ("violin", "pavel")) == []
    assert "models/alice/b/plan.md" in holding(root, ("oksana",))
    assert memory.verify().balances
    assert len(memory.census.fresh("alice").state.notes) == 9


def test_a_copy_of_one_name_and_text_goes_with_it(memory: Memory, root: Path) -> None:
    for model in ("alice", "bob"):
        write(root, f"models/{model}/daily.md", "A falcon over the pier.\n")
    with pytest.raises(NoSuchHandle, match="several"):
        memory.forget("daily")
    assert memory.forget("bob/daily").removed == ("models/alice/daily.md", "models/bob/daily.md")
    assert holding(root, ("falcon",)) == []


def test_notes_of_one_name_that_are_gone_are_told_apart_by_their_model(memory: Memory, root: Path) -> None:
    for model, word in (("alice", "violin"), ("bob", "cello")):
        for name in ("daily", "later"):
            text = f"---\ncreated: 2026-11-1{len(name) % 2}\n---\nThe {word} {name}.\n"
            write(root, f"models/{model}/{name}.md", text)
    memory.advance()
    for model in ("alice", "bob"):
        (root / f"models/{model}/daily.md").unlink()
    with pytest.raises(NoSuchHandle, match="alice/daily, bob/daily"):
        memory.forget("daily")
    found = memory.forget("alice/daily")
    assert all(handle.startswith("alice-") for handle in found.written)
    assert found.written
    assert memory.verify().balances


def test_what_is_no_note_is_not_forgotten(memory: Memory, root: Path) -> None:
    with pytest.raises(UsageError, match="is a summary"):
        memory.forget(summaries(root)[0].stem)
    write(root, "sessions/s.md", "Talked.")
    with pytest.raises(UsageError, match="no note"):
        memory.forget("s")
    with pytest.raises(NoSuchHandle, match="no summary names it"):
        memory.forget("nobody")
    before = contents(root)
    with pytest.raises(NoSuchHandle):
        memory.forget("")
    assert contents(root) == before


def test_forgetting_twice_says_so_and_changes_nothing(memory: Memory, root: Path) -> None:
    handle = secret(root).stem
    memory.forget(handle)
    before = contents(root)
    assert memory.forget(handle).removed == ()
    assert contents(root) == before


# What comes back


def merge(old: Path, root: Path) -> None:
    """Copy an older copy of a vault over it, as a careless restore or sync does."""
    shutil.copytree(old, root, dirs_exist_ok=True)


@pytest.mark.parametrize("summarizer", [Teller(draft=True), Teller()])
def test_an_old_copy_that_is_merged_in_does_not_bring_it_back(grown: Path, root: Path, summarizer: Teller) -> None:
    with opened(root, summarizer) as memory:
        handle, names = secret(root).stem, {secret(root), embed(root)}
        memory.forget(handle)
        merge(grown, root)
        assert len(holding(root)) == 11
        report = memory.verify()
        assert report.balances
        assert [model.forgotten for model in report.models] == [1, 1]
        assert [model.notes for model in report.models] == [7, 7]
        told = {problem.path for problem in memory.doctor()}
        assert set(holding(root)) == told
        done = memory.advance()
        assert (done.written, done.failed) == ((), ())
        assert {root / path for path in holding(root)} == names  # they are no notes, and forget takes them away
        assert [hit.handle for hit in memory.recall("Zanzibar").hits] == []
        assert memory.verify().remarks == ()
        (fix,) = {problem.fix for problem in memory.doctor() if problem.path.endswith(f"{handle}.md")}
        assert fix == f"`pyramid forget {handle}` removes it again"
        memory.forget(handle)
        clean(memory)


@pytest.mark.parametrize(
    "part", ["tier-1", *(pytest.param(part, marks=pytest.mark.slow) for part in PARTS if part != "tier-1")]
)
def test_a_part_of_an_old_copy_is_seen_through(grown: Path, root: Path, part: str) -> None:
    with opened(root) as memory:
        memory.forget(secret(root).stem)
        for model in ("alice", "bob"):
            if (grown / f"models/{model}/{part}").is_dir():
                merge(grown / f"models/{model}/{part}", root / f"models/{model}/{part}")
        assert holding(root)
        assert memory.verify().balances
        memory.advance()
        clean(memory)


def test_an_old_copy_of_what_was_retired_is_taken_apart_again(root: Path) -> None:
    write(root, "pyramid.toml", SMALL.replace("batch_notes = 2", "batch_notes = 1"))
    for number in range(8):
        write(root, f"models/carol/c{number}.md", f"---\ncreated: 2026-10-0{number + 1}\n---\nvelvet{number} soup.\n")
    with opened(root) as memory:
        memory.advance(["carol"])
        shutil.copytree(root, root.parent / "old")
        memory.forget("c2")
        after = {path.name for path in summaries(root, "carol")}
        merge(root.parent / "old", root)
        memory.advance(["carol"])
        assert holding(root, ("velvet2",)) == ["models/carol/c2.md"]
        assert memory.verify().balances
        assert {path.name for path in summaries(root, "carol")} == after


def test_redo_takes_it_out_before_it_writes(grown: Path, root: Path) -> None:
    commit(root)
    with opened(root) as memory:
        memory.forget(secret(root).stem)
        merge(grown, root)
        lowest = summaries(root, tier="0")[1].stem
        teller = Teller("third")
        with opened(root, teller) as other:
            list(other.redo(lowest))
        assert not any(word in item.text.lower() for asked in teller.asked for item in asked.items for word in RARE)
        assert not set(holding(root)) & {p.relative_to(root).as_posix() for p in summaries(root)}


# Kills, locks, trouble on the disk


KILLED = textwrap.dedent("""
    import os, signal, sys
    from datetime import UTC, datetime
    from pyramid_fs import Memory, files
    from pyramid_fs.summarizers import Extractive
    left = int(sys.argv[3])
    def counted(handle, real=os.fsync):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        real(handle)
    with Memory(sys.argv[1], summarizer=Extractive()) as memory:
        os.fsync = counted
        memory.forget(sys.argv[2])
""")


def killed(root: Path, handle: str, steps: int) -> bool:
    """Forget in a process that is killed before its n-th write to disk; whether it was."""
    command = [sys.executable, "-c", KILLED, str(root), handle, str(steps)]
    done = subprocess.run(command, env={**os.environ, **environ(root)}, check=False, capture_output=True, text=True)
    assert done.returncode in {0, -9}, done.stderr
    return done.returncode == -9


def completed(root: Path, handle: str, steps: int) -> bool:
    is_cut = killed(root, handle, steps)
    with opened(root) as memory:
        notes = {
            secret_path for pattern in ("alice", "bob") for secret_path in root.glob(f"models/{pattern}/2026-*/*marg*")
        }
        assert memory.verify().balances
        memory.advance()
        assert memory.verify().balances
        if (root / "ledger").exists() and list((root / "ledger").iterdir()):
            assert {root / path for path in holding(root) if "/.pyramid-" not in path} <= notes
            assert memory.recall("Zanzibar").hits == ()
            memory.forget(handle)
            assert [path for path in holding(root) if "/.pyramid-" not in path] == []
            assert memory.verify().remarks == ()
    return is_cut


@pytest.mark.parametrize("steps", [1, 12])
def test_what_a_kill_left_the_next_advance_does(root: Path, steps: int) -> None:
    assert completed(root, secret(root).stem, steps)


@pytest.mark.slow
def test_what_a_kill_left_at_any_write_the_next_advance_does(grown: Path, tmp_path: Path) -> None:
    for steps in range(200):
        there = tmp_path / str(steps)
        shutil.copytree(grown.parent, there, ignore=shutil.ignore_patterns("cache"))
        if not completed(there / "vault", secret(there / "vault").stem, steps):
            return
    pytest.fail("it never came to its end")


def test_another_process_that_grows_the_model_is_waited_for_or_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyramid_fs.changing.GROW_WAIT", 0.0)
    handle = secret(root).stem
    with opened(root) as memory, files.locked(memory.cache / issue.grow_lock("bob"), 0.0):
        found = memory.forget(handle)
        assert found.exit_code == 12
        assert found.failed == {"bob": "another process is advancing it; `pyramid advance bob` does what is left"}
        assert all(path.startswith("models/bob/") for path in holding(root))
        assert memory.verify().balances
    with opened(root) as memory:
        memory.advance(["bob"])
        clean(memory)


SLOW = textwrap.dedent("""
    import pathlib, sys, time
    started, go = map(pathlib.Path, sys.argv[1:3])
    text = sys.stdin.read()
    started.touch()
    while not go.exists():
        time.sleep(0.02)
    print("A slow program tells of this: " + " ".join(text.split()[-40:]) + ".")
""")


def test_growth_in_another_process_that_read_it_already_does_not_keep_it(root: Path) -> None:
    write(root, "models/alice/z.md", "---\ncreated: 2026-11-01\n---\nThe falconer lost a mandolin.\n")
    write(root, "models/alice/y.md", "---\ncreated: 2026-11-02\n---\nA day of rain.\n")
    started, go, script = root.parent / "started", root.parent / "go", root.parent / "slow.py"
    script.write_text(SLOW)
    command = json.dumps([sys.executable, str(script), str(started), str(go)])
    (root.parent / "config.toml").write_text(f'[summarizer]\nkind = "command"\ncommand = {command}\nconcurrency = 1\n')
    words = [sys.executable, "-m", "pyramid_fs", "--vault", str(root)]
    environment = {**os.environ, **environ(root)}
    growing = subprocess.Popen([*words, "advance", "alice"], env=environment, stdout=subprocess.DEVNULL)
    try:
        _wait_until(started.exists)
        forgetting = subprocess.Popen([*words, "forget", "z", "--yes"], env=environment, stdout=subprocess.DEVNULL)
        _wait_until(lambda: not (root / "models/alice/z.md").exists())
        go.touch()
        assert growing.wait(30) == 0
        assert forgetting.wait(30) == 0
    finally:
        go.touch()
        growing.kill()
    assert holding(root, ("falconer", "mandolin")) == []
    with opened(root) as memory:
        assert [problem.reason for problem in memory.verify().remarks] == []
        assert memory.verify().balances


def _wait_until(is_so: Callable[[], bool]) -> None:
    never = threading.Event()
    for _ in range(1500):
        if is_so():
            return
        never.wait(0.02)
    pytest.fail("it never came to be so")


def test_a_summary_that_can_not_be_changed_is_named_and_done_later(memory: Memory, root: Path) -> None:
    path, handle = summaries(root, tier="1")[0], secret(root).stem
    path.chmod(0o444)
    found = memory.forget(handle)
    assert found.exit_code == 24
    assert "read-only" in found.failed["alice"]
    assert set(holding(root)) == {p.relative_to(root).as_posix() for p in (path, *summaries(root, tier="2"))}
    assert memory.verify().balances
    path.chmod(0o644)
    memory.advance()
    clean(memory)


def test_a_summary_that_waits_keeps_no_text_of_it(memory: Memory, root: Path) -> None:
    other = summaries(root, tier="0")[0]
    kept = other.read_bytes()
    other.unlink()
    memory.forget(secret(root).stem)
    assert holding(root) == []
    assert memory.census.fresh("alice").state.waiting
    other.write_bytes(kept)
    memory.advance()
    clean(memory)
    assert "Number 2 was a day" in summaries(root, tier="1")[0].read_text()


def test_a_note_that_changes_meanwhile_stays(memory: Memory, root: Path) -> None:
    path, real = secret(root), vault.Vault.add_to_ledger

    def edits(self: vault.Vault, machine: str, entries: list[dict[str, object]]) -> None:
        path.write_text("All new.")
        real(self, machine, entries)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vault.Vault, "add_to_ledger", edits)
        with pytest.raises(RefusedWrite, match="changed since"):
            memory.forget(path.stem)
    assert path.read_text() == "All new."


# What is said of it


def commit(root: Path) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
        subprocess.run(["git", *who, "-C", str(root), *words], check=True, capture_output=True)


def cli(root: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        for key, value in environ(root).items():
            patch.setenv(key, value)
        code = run(["--vault", str(root), *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_dry_run_says_what_would_be_done_and_changes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, handle = contents(root), secret(root).stem
    code, out, _ = cli(root, "forget", handle, "--dry-run", capsys=capsys)
    assert code == 0
    assert f"Would remove: models/alice/2026-10/{handle}.md" in out
    assert "Would write again without it: alice-t0-0002-" in out
    assert contents(root) == before
    code, out, _ = cli(root, "forget", handle, "--dry-run", "--json", capsys=capsys)
    said = json.loads(out)
    assert (len(said["written"]), len(said["emptied"]), len(said["removed"]), said["is_dry"]) == (6, 3, 2, True)
    # what is retired is known by what lies below it: so the highest tier is emptied first
    assert [path.partition("/retired/alice-t")[2][0] for path in said["emptied"]] == ["2", "1", "0"]


def test_without_a_terminal_it_must_be_said_twice(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, handle = contents(root), secret(root).stem
    code, _, err = cli(root, "forget", handle, capsys=capsys)
    assert (code, contents(root)) == (2, before)
    assert "--dry-run shows" in err
    code, out, err = cli(root, "forget", handle, "--yes", capsys=capsys)
    assert (code, holding(root)) == (0, [])
    assert "drafts" in out
    code, out, _ = cli(root, "forget", handle, "--yes", capsys=capsys)
    assert (code, "forgotten before" in out) == (0, True)


def test_what_git_history_holds_is_said_and_left_alone(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(root)
    handle, embed_path = secret(root).stem, embed(root).relative_to(root).as_posix()
    head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True).stdout
    _, out, _ = cli(root, "forget", handle, "--yes", capsys=capsys)
    ours, other = f"models/alice/2026-10/{handle}.md", embed_path
    assert f"`git filter-repo --path {other} --path {ours} --invert-paths`" in out
    assert f"in {other}, {ours}, and in older versions of the summaries made from it." in out
    assert subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True).stdout == head
    with opened(root) as memory:
        clean(memory)


def test_where_its_rare_words_still_stand_is_listed(memory: Memory, root: Path) -> None:
    write(root, "sessions/s.md", "We spoke of Marguerite and of Thornapple Lane.")
    write(root, "entities/marguerite-x7q2.md", "---\nname: Marguerite\n---\n")
    write(root, ".trash/old.md", "the quince tree")
    write(root, "procedures/p.md", "Soup is warm at the harbour.")
    write(root, "topics/t.md", f"See [[{secret(root).stem}|that]].")
    link = f"[[{secret(root).stem}]]"
    write(root, "models/alice/alice-1.sync-conflict-20261129-201530-ABCDEFG.md", "Zanzibar!")
    found = {trace.path: trace.words for trace in memory.forget(secret(root).stem).traces}
    assert found == {
        "sessions/s.md": ("Lane", "Marguerite", "Thornapple"),
        "entities/marguerite-x7q2.md": ("marguerite",),
        ".trash/old.md": ("quince",),
        "topics/t.md": (link, *found["topics/t.md"][1:]),
        "models/alice/alice-1.sync-conflict-20261129-201530-ABCDEFG.md": ("Zanzibar",),
    }


# What the proof says


def test_a_count_that_no_forgotten_note_explains_is_a_fault(memory: Memory, root: Path) -> None:
    memory.forget(secret(root).stem)
    path = summaries(root, tier="1")[0]
    data = path.read_text()
    assert "note_count: 3" in data
    path.write_text(data.replace("note_count: 3", "note_count: 2"))
    assert [fault.path for fault in memory.verify().faults] == [path.relative_to(root).as_posix()]
    path.write_text(data.replace("note_count: 3", "note_count: 4"))
    report = memory.verify()
    assert report.balances
    (remark,) = [remark for remark in report.remarks if "tier-1" in remark.path]
    assert remark.reason == (
        "it counts 4 versions, and 3 lie below it: a note was forgotten, so it is due to be written without it"
    )
    memory.advance()
    clean(memory)


# What answers show before it is taken out


def everything_said(memory: Memory, root: Path) -> str:
    """Ask every verb that shows a summary, without letting a model grow."""
    said = [repr(memory.load(["alice", "bob"])), repr(memory.map())]
    said += [repr(memory.load(["alice"], tier=str(tier))) for tier in range(3)]
    said += [repr(memory.expand(path.stem, depth=3)) for path in sorted(root.glob("models/*/tier-*/*.md"))]
    said += [repr(memory.expand(path.relative_to(root).as_posix()[:-3])) for path in root.glob("models/*/retired/*.md")]
    said += [repr(memory.recall(query, kinds=kinds).hits) for query in RARE for kinds in ((), ("summary", "retired"))]
    lines = io.BytesIO()
    memory.export_jsonl(lines, everything=True)
    reader = Reader(memory, Served())
    paths = [path for path in contents(root) if path.startswith("models/")]
    said += [reader.text(path) for path in paths if "/tier-" in path or "/retired/" in path]
    said += [repr(drawn.file(reader, path, 1)) for path in paths if "/tier-" in path or "/retired/" in path]
    return "\n".join([*said, lines.getvalue().decode()])


@pytest.mark.parametrize("part", [*(pytest.param(part, marks=pytest.mark.slow) for part in PARTS), ""])
def test_no_answer_shows_what_an_old_copy_brought_back(grown: Path, root: Path, part: str) -> None:
    with opened(root) as memory:
        memory.load(["alice"])
        memory.forget(secret(root).stem)
        for folder in [f"models/{model}/{part}" for model in ("alice", "bob")] if part else ["models"]:
            if (grown / folder).is_dir():
                merge(grown / folder, root / folder)
        told = [path for path in holding(root) if "/tier-" in path or "/retired/" in path]
        assert told
        said = everything_said(memory, root)
        assert not [word for word in RARE if word in said.lower()]
        assert TAKEN in said
        memory.advance()
        assert TAKEN not in everything_said(memory, root)


def test_a_note_is_not_found_by_what_a_summary_still_tells(grown: Path, root: Path) -> None:
    with opened(root) as memory:
        memory.forget(secret(root).stem)
        merge(grown / "models/alice/tier-0", root / "models/alice/tier-0")
        assert memory.recall('"Zanzibar ledger"').hits == ()
        assert [memory.recall(word, kinds=kinds).hits for word in RARE for kinds in ((), ("summary",))] == [()] * 10
        assert memory.recall("soup -Zanzibar").hits
        (why,) = memory.why(summaries(root, tier="0")[1].stem, "Zanzibar").reasons[-1:]
        assert why


def test_a_batch_for_an_agent_holds_nothing_that_was_forgotten(grown: Path, root: Path) -> None:
    write(root, "pyramid.toml", SMALL.replace("fan_in = 2", "fan_in = 3"))
    with opened(root) as memory:
        memory.forget(secret(root).stem)
        shutil.rmtree(root / "models/alice")
        merge(grown / "models/alice", root / "models/alice")
        for tier in (1, 2):
            shutil.rmtree(root / f"models/alice/tier-{tier}")
        due = memory.next_rollup(["alice"])
        assert due
        assert due.tier == 1
        assert not [word for item in due.items for word in RARE if word in f"{item}".lower()]


def test_without_tombstones_nothing_is_worked_out(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        pytest.fail("it was worked out")

    monkeypatch.setattr("pyramid_fs.forget.planned", fail)
    assert memory.load(["alice"]).models
    assert memory.recall("Zanzibar").hits


# What is left elsewhere


def test_an_interrupted_import_does_not_write_it_again(root: Path) -> None:
    path = root.parent / "in.jsonl"
    lines = [
        {"models": ["dora", "ella"], "text": text, "created": "2026-03-01T10:00:00Z"} for text in (SECRET, "Soup.")
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with opened(root) as memory:
        assert memory.import_jsonl(path).notes == 2
        made = next(root.glob("models/dora/2026-03/*-marguerite-*.md")).stem
        for ledger in root.glob("ledger/*.jsonl"):
            ledger.unlink()  # a kill came before it was written
        memory.forget(made)
        again = memory.import_jsonl(path)
        assert (again.notes, again.left_out) == (0, {"notes that were forgotten here": 1})
    assert [file for file in holding(root) if "dora" in file or "ella" in file] == []


def test_the_second_time_git_is_looked_through_for_its_paths(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(root)
    ours, other = (path(root).relative_to(root).as_posix() for path in (secret, embed))
    handle = secret(root).stem
    cli(root, "forget", handle, "--yes", capsys=capsys)
    _, out, _ = cli(root, "forget", handle, "--yes", capsys=capsys)
    assert "forgotten before" in out
    assert f"`git filter-repo --path {ours} --path {other} --invert-paths`" in out
    assert "older versions of the summaries made from it" in out


def test_of_a_note_that_no_summary_has_git_holds_the_note_alone(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, "models/alice/falcon pier.md", "A falcon over the pier.\n")
    commit(root)
    for _ in range(2):
        _, out, _ = cli(root, "forget", "falcon pier", "--yes", capsys=capsys)
        assert "`git filter-repo --path 'models/alice/falcon pier.md' --invert-paths`" in out
        assert "summaries" not in out


def test_a_vault_that_is_a_folder_of_a_repository_has_its_paths_from_there(root: Path) -> None:
    write(root, "models/alice/z.md", "A falcon over the pier.\n")
    commit(root.parent)
    with opened(root) as memory:
        assert memory.forget("z").git_paths == ("vault/models/alice/z.md",)


def test_where_git_knows_no_path_nothing_is_said_of_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(root)
    write(root, "models/alice/z.md", "A falcon over the pier.\n")
    _, out, _ = cli(root, "forget", "z", "--yes", capsys=capsys)
    assert "Git" not in out


def test_what_a_kill_left_half_written_goes_with_it(memory: Memory, root: Path) -> None:
    old, young, other = (root / f"models/bob/.pyramid-{name}.tmp" for name in ("00ab12", "00cd34", "00ef56"))
    for path in (old, young):
        path.write_text(SECRET)
    other.write_text("Number 2 was a day at the harbour.")
    for path in (old, other):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    plan = memory.forget_plan(secret(root).stem)
    assert old.exists()
    found = memory.forget(secret(root).stem)
    assert plan.removed == found.removed
    assert "models/bob/.pyramid-00ab12.tmp" in found.removed
    assert [trace.path for trace in found.traces] == ["models/bob/.pyramid-00cd34.tmp"]
    assert (old.exists(), young.exists(), other.exists()) == (False, True, True)


@pytest.mark.parametrize("verb", ["create", "replace"])
def test_ctrl_c_in_the_middle_of_a_write_leaves_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "model/note.md"
    if verb == "replace":
        write(tmp_path, "model/note.md", "old")
    before = contents(tmp_path)
    monkeypatch.setattr(os, "fsync", interrupted)
    monkeypatch.setattr(files, "sync_folder", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        files.create(path, SECRET.encode()) if verb == "create" else files.replace(path, SECRET.encode(), b"old")
    assert contents(tmp_path) == before
    assert path.parent.exists() == (verb == "replace")


def test_words_of_any_text_are_no_trace(memory: Memory, root: Path) -> None:
    made = memory.record("Because everyone would have thought about the Kestrel-house, nicht wahr?", ["alice"])
    write(root, "sessions/s.md", "Everyone thought that this would have been because of her. Nicht immer.")
    write(root, "sessions/t.md", "The kestrel flew.")
    assert [(t.path, t.words) for t in memory.forget(made.handle).traces] == [("sessions/t.md", ("kestrel",))]


def test_what_goes_because_its_name_and_text_are_the_same_is_said(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for model in ("alice", "bob"):
        write(root, f"models/{model}/daily.md", "A falcon over the pier.\n")
    write(root, "models/bob/shown.md", "![[alice/daily]]\n")
    for option in ("--dry-run", "--yes"):
        _, out, _ = cli(root, "forget", "bob/daily", option, capsys=capsys)
        assert "models/alice/daily.md (of the same name and text" in out
        assert "models/bob/shown.md (of the same name and text" in out
        assert "models/bob/daily.md\n" in out
    with opened(root) as memory:
        assert memory.doctor() == []


def test_the_text_under_another_name_is_a_hint_of_doctor(memory: Memory, root: Path) -> None:
    memory.forget(secret(root).stem)
    assert memory.doctor() == []
    write(root, "models/alice/my copy.md", f"{SECRET}\n")
    assert memory.doctor() == []
    (found,) = memory.hints()
    assert (found.path, found.fix) == ("models/alice/my copy.md", "`pyramid forget 'my copy'`, if that is meant")
    assert found.reason == "it has the text of a note that was forgotten"
    memory.forget("my copy")
    assert (memory.doctor(), memory.hints()) == ([], [])


@pytest.mark.parametrize(
    ("text", "other"),
    [("The balance is -5 euros.", "The balance is 5 euros."), ("Vote: 👎", "Vote: 👍"), ("दिन", "दीन")],
)
def test_a_note_that_differs_in_a_sign_is_not_forgotten_with_another(root: Path, text: str, other: str) -> None:
    write(root, "models/alice/b.md", f"{text}\n")
    write(root, "models/bob/b.md", f"{other}\n")
    with opened(root) as memory:
        with pytest.raises(UsageError, match=r"rename one of them first"):
            memory.forget("models/alice/b")
        assert (root / "models/bob/b.md").read_text() == f"{other}\n"
        (root / "models/bob/b.md").rename(root / "models/bob/c.md")
        memory.forget("models/alice/b")
        assert memory.load(["bob"]).models[0].recent[-1].text == other


def test_a_copy_that_a_formatter_set_otherwise_is_forgotten_too(root: Path) -> None:
    write(root, "models/alice/b.md", "- The key is under the **mat**.\n- It is old.\n")
    write(root, "models/bob/b.md", "* The key is under the\n  mat.\n* It is old.\n")
    with opened(root) as memory:
        assert memory.forget("models/alice/b").alike == ("models/bob/b.md",)


@pytest.mark.parametrize("name", [" lead", "back\\slash", "trail ", "a]b", "x|y", "#tag", "[[z]]"])
def test_a_note_of_any_name_is_shown_and_forgotten_by_the_handle_that_views_show(root: Path, name: str) -> None:
    write(root, f"models/alice/{name}.md", "Under the mat.\n")
    with opened(root) as memory:
        (handle,) = [text.handle for text in memory.load(["alice"]).models[0].recent if text.text == "Under the mat."]
        assert memory.expand(handle).text.text == "Under the mat."
        assert memory.why(handle, "mat")
        memory.forget(handle)
    assert not (root / f"models/alice/{name}.md").exists()

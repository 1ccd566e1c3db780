"""Many summaries written again: each once, those below first, several at a time, and resumable after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import models
import pytest

from pyramid_fs import Memory, cli, files, issue, vault
from pyramid_fs import format as pages
from pyramid_fs import memory as memories
from pyramid_fs.errors import NoSuchHandle, SummarizerFailed, UsageError
from pyramid_fs.meter import Meter
from pyramid_fs.redo import GIVE_UP
from pyramid_fs.summarizers import Throttled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.notes import Summary
    from pyramid_fs.summarizers import Call, Request

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
BOUND = 20.0
"""Seconds that a thread waits for the others, at most."""


class Teller:
    """Tells what it was given; is called from several threads, and `during` may raise."""

    takes, slow = 0, True

    def __init__(self, name: str = "second", *, draft: bool = False) -> None:
        self.name, self.draft = name, draft
        self.during: Callable[[Request], object] = lambda _: None
        self.asked: list[Request] = []

    def summarize(self, request: Request) -> str:
        self.asked.append(request)
        self.during(request)
        told = ", ".join(item.text[:30].strip(".").replace("\n", " ") for item in request.items)
        return f"{self.name} at tier {request.tier} tells: {told}."


def opened(root: Path, teller: Teller | None) -> Memory:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    return Memory(root, environ=environ, clock=lambda: NOW, summarizer=teller)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two models with eight notes each: four summaries of tier 0, two of tier 1, one of tier 2; all of them drafts."""
    root = tmp_path / "vault"
    vault.make_vault(root, models={"alice": "A friend.", "bob": ""})
    (root / "pyramid.toml").write_text("format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n")
    for model in ("alice", "bob"):
        for number in range(8):
            date = NOW - timedelta(days=30 - number)
            (root / f"models/{model}/{model}{number}.md").write_text(
                f"---\ncreated: {date:%Y-%m-%d}\n---\nNumber {number} of {model} costs {number * 7} at the harbour.\n"
            )
    with opened(root, Teller("first", draft=True)) as memory:
        memory.advance()
    return root


@pytest.fixture
def second() -> Teller:
    return Teller()


@pytest.fixture
def memory(root: Path, second: Teller) -> Iterator[Memory]:
    with opened(root, second) as memory:
        yield memory


def tier(root: Path, number: int, model: str = "alice") -> list[str]:
    return sorted(path.stem for path in root.glob(f"models/{model}/tier-{number}/*.md"))


def page(root: Path, handle: str) -> pages.Page:
    return pages.read(next(root.glob(f"models/*/tier-*/{handle}.md")).read_bytes())


def drafts(root: Path) -> set[str]:
    return {p.stem for p in root.glob("models/*/tier-*/*.md") if pages.read(p.read_bytes()).text("draft") == "true"}


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", str(folder), *words], check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")


# What is written


def test_all_drafts_are_written_once_those_below_first_and_only_text_and_writer_change(
    memory: Memory, root: Path, second: Teller
) -> None:
    before = {path: path.read_bytes() for path in root.glob("models/*/tier-*/*.md")}
    stepped: list[Summary] = []
    done = memory.redo_many(drafts=True, step=stepped.append)
    assert (len(done.written), done.failed, done.left, done.exit_code) == (14, {}, 0, 0)
    assert [summary.handle for summary in stepped] == list(done.written)
    assert len(second.asked) == len(set(done.written)) == 14
    for model in ("alice", "bob"):
        of_model = [summary.tier for summary in stepped if summary.path.startswith(f"models/{model}/")]
        assert of_model == sorted(of_model)
    assert set(root.glob("models/*/tier-*/*.md")) == set(before)
    for path, data in before.items():
        old, new = pages.read(data), pages.read(path.read_bytes())
        told = {"summarizer", "draft"} | ({"digests"} if old.text("tier") != "0" else set())
        left = {key: value for key, value in old.keys.items() if key not in told}
        assert {key: value for key, value in new.keys.items() if key not in told} == left
        assert new.text("summarizer") == "second"
    above = next(request for request in second.asked if request.tier == 1)
    assert all(item.text.startswith("second at tier 0") for item in above.items)
    assert memory.verify().balances
    assert memory.advance().written == ()
    assert memory.redo_many(drafts=True).written == ()


def test_several_are_written_at_a_time(memory: Memory, second: Teller) -> None:
    together = threading.Barrier(4)
    second.during = lambda request: request.tier or together.wait(BOUND)
    assert len(memory.redo_many(tier=0, models=["alice"]).written) == 7


def test_what_stands_above_is_written_once_not_once_for_each_source(memory: Memory, root: Path) -> None:
    low, middle, top = tier(root, 0), tier(root, 1), tier(root, 2)
    done = memory.redo_many([low[1], low[0], low[1]])
    assert sorted(done.written[:2]) == low[:2]
    assert done.written[2:] == (middle[0], top[0])


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"tier": 2}, 2),
        ({"tier": 1}, 6),
        ({"tier": 1, "models": ["bob"]}, 3),
        ({"models": ["bob"]}, 7),
        ({"drafts": True, "tier": 2, "models": ["alice"]}, 1),
        ({"tier": 7}, 0),
    ],
)
def test_which_are_meant(memory: Memory, root: Path, asked: dict[str, Any], count: int) -> None:
    plan = memory.redo_plan(**asked)
    assert len(plan.summaries) == count
    assert set(memory.redo_many(**asked).written) == set(plan.summaries)


def test_what_makes_no_request(memory: Memory, root: Path) -> None:
    handle = tier(root, 0)[0]
    with pytest.raises(UsageError, match="--tier N, -m MODEL or --drafts"):
        memory.redo_many()
    with pytest.raises(UsageError, match="not both"):
        memory.redo_many([handle], drafts=True)
    with pytest.raises(UsageError, match="alice0 is no summary"):
        memory.redo_many([handle, "alice0"])
    with pytest.raises(NoSuchHandle):
        memory.redo_many([handle, "alice-t0-0009-zzzz"])
    assert len(drafts(root)) == 14
    with opened(root, None) as plain, pytest.raises(UsageError, match="pyramid setup summarizer"):
        plain.redo_many(drafts=True)
    (root.parent / "config.toml").write_text('[summarizer]\nkind = "none"\n')
    with opened(root, None) as plain, pytest.raises(UsageError, match="summaries wait for an agent"):
        plain.redo_plan(tier=0)


# What fails


def test_one_that_fails_is_named_and_the_others_go_on(memory: Memory, root: Path, second: Teller) -> None:
    bad, beside, lone = tier(root, 0)[0], tier(root, 0)[1], tier(root, 0)[2]

    def during(request: Request) -> None:
        if any(item.handle in {"alice0", "alice4"} for item in request.items):
            raise SummarizerFailed("no net")

    second.during = during
    old = page(root, bad).body
    done = memory.redo_many([bad, beside, lone])
    assert set(done.failed) == {bad, lone}
    assert (done.failed[bad], done.exit_code) == ("no net", 30)
    # the first stands above one that was written, the other above one that was not
    assert done.written == (beside, tier(root, 1)[0], tier(root, 2)[0])
    assert page(root, bad).body == old
    assert page(root, tier(root, 1)[1]).text("summarizer") == "first"
    assert sum(request.items[0].handle == "alice0" for request in second.asked) == 2


def test_a_hiccup_is_tried_again(memory: Memory, second: Teller) -> None:
    failing = iter([True])

    def during(_: Request) -> None:
        if next(failing, False):
            raise SummarizerFailed("no net")

    second.during = during
    done = memory.redo_many(drafts=True)
    assert (len(done.written), done.failed) == (14, {})


def test_a_source_that_can_t_be_read_any_more_is_named(memory: Memory, root: Path, second: Teller) -> None:
    (root / "models/alice/alice0.md").write_text("---\ncreated: 2026-10-30\n---\nOther.\n")
    done = memory.redo_many(drafts=True)
    assert list(done.failed) == [tier(root, 0)[0]]
    assert "alice0 was revised since" in done.failed[tier(root, 0)[0]]
    assert (len(done.written), done.exit_code) == (13, 24)
    assert memory.verify().balances


def test_where_nothing_succeeds_it_ends_and_says_how_many_are_left(memory: Memory, root: Path, second: Teller) -> None:
    def during(_: Request) -> None:
        raise SummarizerFailed("the key was not accepted")

    second.during = during
    done = memory.redo_many(drafts=True)
    assert done.written == ()
    assert set(done.failed.values()) == {"the key was not accepted"}
    assert len(done.failed) + done.left == 14
    assert GIVE_UP <= len(second.asked) < GIVE_UP + 4
    assert len(drafts(root)) == 14


def test_a_pause_that_is_asked_for_is_kept(memory: Memory, second: Teller) -> None:
    asked = iter([True, True])

    def during(_: Request) -> None:
        if next(asked, False):
            raise Throttled("busy", 0.01)

    second.during = during
    assert len(memory.redo_many(drafts=True).written) == 14


def test_a_summary_that_a_person_changes_meanwhile_is_left_as_it_is(memory: Memory, root: Path, second: Teller) -> None:
    path = root / f"models/alice/tier-0/{tier(root, 0)[0]}.md"
    edited = path.read_text().replace("first at tier", "a person at tier")
    second.during = lambda request: request.tier or path.write_text(edited)
    done = memory.redo_many([path.stem])
    assert "changed since it was read" in done.failed[path.stem]
    assert done.written == ()
    assert path.read_text() == edited


def test_a_model_that_another_process_grows_is_named_and_the_others_are_written(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "GROW_WAIT", 0.0)
    with files.locked(memory.cache / issue.grow_lock("alice"), 0.0):
        done = memory.redo_many(tier=2)
    assert done.failed == {tier(root, 2)[0]: "alice is being advanced by another process"}
    assert (done.written, done.exit_code) == ((tier(root, 2, "bob")[0],), 12)


# What is kept


def test_what_stands_above_is_a_draft_until_it_is_written_too(memory: Memory, root: Path, second: Teller) -> None:
    memory.redo_many(drafts=True)

    def during(request: Request) -> None:
        if request.tier:
            raise SummarizerFailed("no net")

    second.during = during
    done = memory.redo_many([tier(root, 0)[0]])
    assert list(done.failed) == [tier(root, 1)[0]]
    assert drafts(root) == {tier(root, 1)[0]}
    assert memory.drafts() == 1
    second.during = lambda _: None
    assert memory.redo_many(drafts=True).written == (tier(root, 1)[0], tier(root, 2)[0])
    assert drafts(root) == set()


def test_git_keeps_the_old_texts_and_else_retired_does(memory: Memory, root: Path) -> None:
    old = {path.read_bytes() for path in root.glob("models/alice/tier-*/*.md")}
    memory.redo_many(models=["alice"])
    assert {path.read_bytes() for path in root.glob("models/alice/retired/*.md")} == old
    commit(root)
    memory.redo_many(models=["bob"])
    memory.redo_many([tier(root, 0)[0]])  # of a model's: those above are made drafts first
    assert not (root / "models/bob/retired").exists()
    assert len(list(root.glob("models/alice/retired/*.md"))) == 7
    assert memory.verify().balances


def test_every_call_is_metered_and_told(memory: Memory, root: Path) -> None:
    told: list[Call] = []
    memory.redo_many(models=["alice"], told=told.append)
    metered = [call for call in Meter(memory.cache).all() if call.by == "second"]
    assert len(told) == len(metered) == 7
    assert {(call.model, call.by, call.is_asked) for call in metered} == {("alice", "second", True)}
    assert sorted(call.tier for call in metered) == [0, 0, 0, 0, 1, 1, 2]
    list(memory.redo(tier(root, 2)[0]))
    assert sum(call.by == "second" for call in Meter(memory.cache).all()) == 8


def test_a_plan_counts_and_estimates_from_the_calls_so_far(memory: Memory, root: Path) -> None:
    plan = memory.redo_plan([tier(root, 0)[0]])
    assert plan.summaries == (tier(root, 0)[0], tier(root, 1)[0], tier(root, 2)[0])
    assert (plan.chosen, plan.models, plan.estimate) == (1, {"alice": {"0": 1, "1": 1, "2": 1}}, None)
    memory.redo_many([tier(root, 0)[0]])
    again = memory.redo_plan(drafts=True)
    assert (again.chosen, len(again.summaries)) == (11, 13)  # two of those that were written stand above drafts
    assert again.estimate is not None
    assert (again.estimate.summaries, again.estimate.measured, again.estimate.tokens_in) == (13, 3, None)
    texts = [len(page(root, handle).body) for handle in tier(root, 1, "bob")]
    assert memory.redo_plan(tier=2, models=["bob"]).chars == sum(texts)


# The command line, with real programs and a real server


@pytest.fixture
def env(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The vault, ready for the command line, and a program that writes the summaries, one at a time."""
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYRAMID_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.delenv("PYRAMID_VAULT", raising=False)
    program(tmp_path)
    (tmp_path / "config.toml").write_text(
        f'[summarizer]\nkind = "command"\ncommand = ["{tmp_path}/teller"]\nconcurrency = 1\n'
    )
    monkeypatch.chdir(root)
    return root


def program(folder: Path, kills_at: int = 0) -> None:
    """Write a program that tells how often it was called, and kills who called it at one of the calls."""
    path = folder / "teller"
    path.write_text(
        f"#!/bin/sh\ncat > /dev/null\necho x >> {folder}/calls\nn=$(wc -l < {folder}/calls)\n"
        f"[ $n -eq {kills_at} ] && kill -9 $PPID\necho 'They met at the harbour and talked of what it costs.'\n"
    )
    path.chmod(0o755)


def test_a_redo_that_is_killed_goes_on_with_what_is_left(env: Path, tmp_path: Path) -> None:
    program(tmp_path, kills_at=4)
    command = [sys.executable, "-m", "pyramid_fs", "redo", "--drafts"]
    killed = subprocess.run(command, cwd=env, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(drafts(env)) == 11
    program(tmp_path)
    done = subprocess.run(command, cwd=env, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (0, "11 summaries written again.\n")
    assert drafts(env) == set()
    assert len((tmp_path / "calls").read_text().split()) == 4 + 11
    with opened(env, None) as memory:
        assert memory.verify().balances


def test_a_dry_run_tries_one_batch_where_no_call_was_measured(
    env: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in env.rglob("*.md")}
    assert cli.run(["redo", "--drafts", "-m", "alice", "--dry-run", "--json"]) == 0
    out, err = capsys.readouterr()
    plan = json.loads(out)
    assert (len(plan["summaries"]), plan["models"]) == (7, {"alice": {"0": 4, "1": 2, "2": 1}})
    assert (plan["estimate"]["measured"], plan["estimate"]["summaries"]) == (1, 7)
    assert "one batch is tried, and nothing stored" in err
    assert cli.run(["redo", "--drafts", "-m", "alice", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("7 summaries to write again by command:teller: ")
    assert "7 summaries: some 0 s, going by 1 so far." in out
    assert err == ""
    assert len((tmp_path / "calls").read_text().split()) == 1
    assert {path: path.read_bytes() for path in env.rglob("*.md")} == before


def test_a_failure_is_told_with_its_handle_and_the_exit_code(
    env: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "teller").write_text("#!/bin/sh\ncat > /dev/null\necho out of luck >&2\nexit 3\n")
    low = tier(env, 0)
    assert cli.run(["redo", low[0], low[1]]) == 30
    out, err = capsys.readouterr()
    assert out == "0 summaries written again.\n2 summaries could not be: the old text stands.\n"
    for handle in low[:2]:
        assert f"pyramid: {handle}: " in err
    assert "ended with 3: out of luck" in err


def test_drafts_are_offered_where_a_model_is_set_up(
    env: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    offer = "14 summaries are drafts that the model set up here could write again: pyramid redo --drafts"
    assert cli.run(["status"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == offer
    assert cli.run(["advance"]) == 0
    assert capsys.readouterr() == ("Nothing was due.\n", f"pyramid: {offer}\n")
    (tmp_path / "config.toml").unlink()
    assert cli.run(["status"]) == 0
    assert cli.run(["advance"]) == 0
    assert "redo --drafts" not in "".join(capsys.readouterr())


@pytest.mark.slow
def test_on_a_terminal_more_than_a_few_are_asked_for_and_progress_is_shown(env: Path, tmp_path: Path) -> None:
    from terminal import typed

    command = ["redo", "--drafts"]
    code, shown = typed(command, [(r"Write them again\? \[y/N\]: ", "n")], os.environ)
    assert (code, len(drafts(env))) == (0, 14)
    assert "14 summaries to write again by command:teller: " in shown
    assert "nothing was written" in shown
    code, shown = typed(command, [(r"Write them again\?", "y")], os.environ)
    assert (code, drafts(env)) == (0, set())
    assert "14/14" in shown
    assert "14 calls" in shown
    assert "left" in shown
    assert "14 summaries written again." in shown
    assert typed(["redo", "-m", "alice", "-m", "bob", "--yes"], [], os.environ)[0] == 0


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_real_server_that_is_busy_at_first_writes_them_all(
    env: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    busy = replace(models.THROTTLED, headers={"retry-after-ms": "20"})
    with models.Server() as server:
        server.script([busy, busy, models.FAILED])
        (tmp_path / "config.toml").write_text(
            f'[summarizer]\nkind = "{kind}"\nmodel = "small"\nbase_url = "{server.url}"\n'
        )
        with opened(env, None) as memory:
            done = memory.redo_many(drafts=True)
            estimate = memory.estimate(14)
    assert (len(done.written), done.failed) == (14, {})
    assert {page(env, handle).text("summarizer") for handle in done.written} == {f"{kind}:small"}
    assert estimate is not None
    assert estimate.tokens_in
    assert estimate.tokens_out

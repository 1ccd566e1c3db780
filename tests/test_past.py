"""The memory as it was: by dates alone and from git, held against copies of the vault that were made at the time."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from pyramid_fs import Memory, context, render, snapshots, times
from pyramid_fs import cli as command_line
from pyramid_fs.cli import common as cli_common
from pyramid_fs.errors import DiskError, NoSuchModel, UsageError
from pyramid_fs.layout import ALPHABET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.pyramid import State
    from pyramid_fs.summarizers import Request

START = datetime(2026, 10, 31, 9, 30, 0, 250_000, UTC)
LATE = datetime(2030, 1, 1, tzinfo=UTC)
SMALL = 'format = 1\ntimezone = "Europe/Berlin"\n\n[pyramid]\nbatch_notes = 3\nfan_in = 2\n\n[view]\nchars = 1500\n'
GIT = {
    "GIT_AUTHOR_NAME": "Nobody",
    "GIT_AUTHOR_EMAIL": "nobody@example.org",
    "GIT_COMMITTER_NAME": "Nobody",
    "GIT_COMMITTER_EMAIL": "nobody@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def on(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now


class Numbered:
    """A summarizer that is quick, and never writes the same text twice."""

    name, draft, takes, slow = "numbered", False, 0, False

    def __init__(self) -> None:
        self.count = itertools.count(1)

    def summarize(self, request: Request) -> str:
        named = ", ".join(item.handle for item in request.items)
        return f"Try {next(self.count)} of tier {request.tier} in {request.model}.\nIt was made of these: {named}."


def suffixes() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: "".join(ALPHABET[next_ // 36**place % 36] for next_ in [next(numbers)] for place in range(4))


@pytest.fixture
def clock() -> Clock:
    return Clock()


def new_vault(root: Path) -> Path:
    for model in ("alice", "harbour"):
        (root / "models" / model).mkdir(parents=True)
        (root / "models" / model / f"{model}.md").write_text(f"---\ntype: model\ndescription: About {model}.\n---\n")
    (root / "pyramid.toml").write_text(SMALL)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_vault(tmp_path / "repository" / "vault")


def opened(root: Path, clock: Clock, cache: Path) -> Memory:
    environ = {"PYRAMID_CACHE_DIR": str(cache), "PYRAMID_CONFIG": str(cache / "config.toml")}
    return Memory(root, environ=environ, clock=clock, suffix=suffixes(), summarizer=Numbered())


@pytest.fixture
def memory(root: Path, clock: Clock, tmp_path: Path) -> Iterator[Memory]:
    with opened(root, clock, tmp_path / "cache") as memory:
        yield memory


def git(where: Path, *words: str, at: datetime = START) -> str:
    environ = {**os.environ, **GIT, "GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()}
    done = subprocess.run(["git", *words], cwd=where, env=environ, check=True, capture_output=True, text=True)
    return done.stdout


def commit(root: Path, at: datetime) -> str:
    """Commit all there is, in a repository one folder above the vault."""
    if not (root.parent / ".git").exists():
        git(root.parent, "init", "-q")
    git(root.parent, "add", "-A")
    git(root.parent, "commit", "-q", "--allow-empty", "-m", "as it stands", at=at)
    return git(root.parent, "rev-parse", "HEAD").strip()


# A vault that stopped then


def plain(text: str, name: str) -> str:
    """Leave out the vault's path, and what a map says that depends on how long it is."""
    return re.sub(r"some \d+ tokens", "some tokens", text.replace(name, "VAULT"))


def shown(found: context.Map | context.Loaded, *, name: str) -> str:
    """Give an answer of the present as text."""
    text = render.map_text(found) if isinstance(found, context.Map) else render.loaded_text(found)
    return plain(text, name)


def past_text(found: context.Map | context.Loaded, *, name: str) -> str:
    """Give an answer of the past as text, without the lines that say what it goes by, and its calls as of now."""
    assert isinstance(found, snapshots.PastMap | snapshots.PastLoaded)
    text = snapshots.as_text(found).removeprefix("\n".join(found.as_of.said) + "\n")
    return plain(text.replace(f" --as-of {found.as_of.asked}", "").replace(" --from-dates", ""), name)


def untouched(state: State) -> State:
    """Leave out modification times, which git does not keep."""
    return replace(state, notes=tuple(replace(n, touched=START) for n in state.notes),
                   tail=tuple(replace(n, touched=START) for n in state.tail))  # fmt: skip


@dataclass
class Copy:
    """The vault as it was at a moment, and the moment."""

    root: Path
    at: datetime

    @property
    def asked(self) -> str:
        return f"{self.at.isoformat().removesuffix('+00:00')}Z"


def held_against(memory: Memory, copy: Copy, cache: Path, *, from_dates: bool) -> None:
    past, as_of = snapshots.look_back(memory.census, copy.asked, LATE, from_dates=from_dates)
    assert bool(as_of.commit) is not from_dates
    with opened(copy.root, Clock(copy.at), cache) as then:
        then.census.refresh()
        past.refresh()
        names = then.census.models()
        assert names == past.models()
        for name in names:
            assert untouched(past.now(name).state) == untouched(then.census.now(name).state), (name, copy.asked)
        for chars, tier in ((None, None), (400, None), (None, "notes"), (None, "tail"), (None, "0")):
            back = memory.load(names, as_of=copy.asked, from_dates=from_dates, chars=chars, tier=tier)
            there = then.load(names, chars=chars, tier=tier)
            assert past_text(back, name=memory.name) == shown(there, name=then.name)
        kept = [name for name in names if not from_dates or then.census.now(name).state.notes]
        expected = then.map()
        expected = replace(expected, models=tuple(line for line in expected.models if line.name in kept))
        map_back = memory.map(as_of=copy.asked, from_dates=from_dates)
        assert past_text(map_back, name=memory.name) == shown(expected, name=then.name)


def grow(memory: Memory, chance: random.Random) -> None:
    """Do one thing that growth does."""
    if chance.random() < 0.75:
        models = chance.choice([["alice"], ["harbour"], ["alice", "harbour"], ["harbour", "alice"]])
        known = memory.census.models()
        text = f"Thing {chance.randrange(10**9)} happened.\nIt took {chance.randrange(90)} minutes."
        memory.record(text, [name for name in models if name in known] or known[:1], source=chance.choice(["", "chat"]))
    else:
        memory.advance(limit=chance.choice([1, 2, None]))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_by_dates_alone_the_past_is_what_a_vault_that_had_stopped_then_shows(
    memory: Memory, root: Path, clock: Clock, tmp_path: Path, seed: int
) -> None:
    chance, copies = random.Random(seed), list[Copy]()
    moments = chance.sample(range(45), 5)
    for step in range(45):
        grow(memory, chance)
        if step % 9 == 0:  # a person's own note, dated by its file alone
            path = root / "models/alice" / f"thought {step}.md"
            path.write_text(f"A thought, number {step}.\n")
            os.utime(path, ns=(times.micros(clock.now) * 1000,) * 2)
        clock.on(seconds=chance.choice([1.5, 0.750001, 4000.000003]))
        if step in moments:
            copies.append(Copy(tmp_path / f"copy-{step}", clock.on(seconds=0.000001)))
            shutil.copytree(root, copies[-1].root)
            clock.on(seconds=0.000001)
    memory.advance()
    assert memory.verify().balances
    for copy in copies:
        held_against(memory, copy, tmp_path / "cache", from_dates=True)


def change(memory: Memory, root: Path, chance: random.Random) -> None:
    """Do one thing that no date tells of: an edit, a deletion, a redo, another name, a model put away."""
    notes = sorted(path for path in root.glob("models/*/*/*.md") if path.parent.name.startswith("2026"))
    what = chance.randrange(5)
    if what == 0:
        path = chance.choice(notes)
        path.write_text(path.read_text() + f"Later it turned out to be {chance.randrange(100)}.\n")
    elif what == 1:
        chance.choice(notes).unlink()
    elif what == 2:
        active = [h for name in memory.census.models() for h in memory.census.fresh(name).state.active]
        if active:
            memory.redo_many([chance.choice(active)])
    elif what == 3:
        name = chance.choice(memory.census.models())
        memory.rename_model(name, chance.choice([f"{name}-2", name.removesuffix("-2") + "-3"]))
    else:
        memory.describe_model(chance.choice(memory.census.models()), f"Said anew {chance.randrange(100)}.")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_from_git_edits_deletions_redos_and_renames_are_as_they_were(
    memory: Memory, root: Path, clock: Clock, tmp_path: Path, seed: int
) -> None:
    chance, copies = random.Random(seed), list[Copy]()
    for _ in range(4):
        grow(memory, chance)
        clock.on(seconds=2)
    moments = chance.sample(range(30), 5)
    for step in range(30):
        (grow if chance.random() < 0.65 else lambda m, c: change(m, root, c))(memory, chance)
        commit(root, clock.on(seconds=chance.choice([3, 90.5, 40_000])))
        if step in moments:
            copies.append(Copy(tmp_path / f"copy-{step}", clock.on(seconds=0.5)))
            shutil.copytree(root, copies[-1].root)
    for copy in copies:
        held_against(memory, copy, tmp_path / "cache", from_dates=False)


# What a date means


def test_a_date_means_the_end_of_that_day_in_the_vaults_zone(memory: Memory) -> None:
    for at in ("2026-11-01T22:59:59.999999Z", "2026-11-01T23:00:00Z"):
        memory.record(f"Written at {at}.", ["alice"], created=memory.time(at))
    counts = {
        asked: memory.load(["alice"], as_of=asked).models[0].notes
        for asked in ("2026-10-31", "2026-11-01", "2026-11-02", "2026-11-01T23:59:59", "2026-11-02T00:00:00+01:00")
    }
    assert list(counts.values()) == [0, 1, 2, 0, 2]
    assert memory.load(["alice"], as_of=memory.time("2026-11-01T22:59:59.999999Z")).models[0].notes == 1


@pytest.mark.parametrize(
    "asked", ["", "yesterday", "2026-13-01", "2026-11-01T99", "2026-11-01 or so", "v2026-11-01", "-x"]
)
def test_what_is_no_date_is_said_to_be_none(memory: Memory, asked: str) -> None:
    with pytest.raises(UsageError, match=r"no date"):
        memory.map(as_of=asked)
    with pytest.raises(UsageError):
        memory.load(["alice"], as_of=asked)


def test_it_says_which_way_it_was_made(memory: Memory, root: Path, clock: Clock) -> None:
    memory.record("The harbour froze.", ["harbour"], created=START)
    memory.record("Alice came later.", ["alice"], created=START + timedelta(days=9))
    clock.on(days=9)
    found = memory.map(as_of="2026-11-02")
    assert isinstance(found, snapshots.PastMap)
    assert [line.name for line in found.models] == ["harbour"]
    first, second, third = found.as_of.said
    assert first == "As of 2026-11-02, from the dates alone. Nothing of it is the present."
    assert "are shown as they are now" in second
    assert third == "Left off, as nothing of them is as old as that: alice."
    made = commit(root, datetime(2026, 11, 2, 12, tzinfo=UTC))
    found = memory.map(as_of="2026-11-02")
    assert isinstance(found, snapshots.PastMap)
    assert found.as_of.said[0].startswith(f"As of 2026-11-02, from the commit {made[:10]} of 2026-11-02T12:00:00Z;")
    assert [line.name for line in found.models] == ["alice", "harbour"]
    older = memory.load(["harbour"], as_of="2026-11-01")
    assert isinstance(older, snapshots.PastLoaded)
    assert "as git holds nothing of this vault that is as old" in older.as_of.said[0]
    assert older.models[0].notes == 1
    forced = memory.load(["harbour"], as_of="2026-11-02", from_dates=True)
    assert isinstance(forced, snapshots.PastLoaded)
    assert forced.as_of.said[0] == first


def test_what_was_forgotten_since_is_said_to_stand_in_git(memory: Memory, root: Path, clock: Clock) -> None:
    handle = memory.record("The code of the gate is 4711.", ["alice"]).handle
    commit(root, clock.on(seconds=2))
    path = next(root.rglob(f"{handle}.md"))
    digest = memory.census.fresh("alice").state.notes[0].digest
    mark = {
        "forgot": hashlib.sha256(handle.encode()).hexdigest(),
        "digest": digest,
        "at": times.spell(clock.on(days=1)),
    }
    memory.vault.add_to_ledger("k3f9m2", [mark])
    path.unlink()
    found = memory.load(["alice"], as_of=clock.now - timedelta(hours=2))
    assert isinstance(found, snapshots.PastLoaded)
    assert found.as_of.said[1] == "1 note in it was forgotten since: git still holds the text."
    assert [text.text for text in found.models[0].recent] == ["The code of the gate is 4711."]
    clock.on(days=1)
    commit(root, clock.now)
    since = memory.diff("HEAD~1", "HEAD")
    assert [[change.handle for change in model.forgotten] for model in since.models] == [[handle]]
    assert memory.map(as_of="2026-11-03").models[0].notes == 0
    by_dates = snapshots.compared(memory.census, "2020-01-01", None, LATE)  # git does not reach back so far
    assert (by_dates.models, by_dates.forgotten_unseen) == ((), 1)


def test_models_of_that_time_are_named_where_one_is_not_known(memory: Memory, root: Path, clock: Clock) -> None:
    memory.record("A thing.", ["alice"])
    commit(root, clock.on(seconds=2))
    memory.rename_model("alice", "alicia")
    assert memory.load(["alice"], as_of=clock.now).models[0].notes == 1
    with pytest.raises(NoSuchModel, match="the closest: alice"):
        memory.load(["alicia"], as_of=clock.now)


def test_the_settings_of_that_time_hold_unless_they_cannot_be_read(memory: Memory, root: Path, clock: Clock) -> None:
    memory.record("Late in the evening.", ["alice"], created=memory.time("2026-11-01T23:30:00Z"))
    commit(root, clock.on(seconds=2))
    (root / "pyramid.toml").write_text("format = 1\n")
    commit(root, clock.on(seconds=2))
    (root / "pyramid.toml").write_text("format = [")
    commit(root, clock.on(seconds=2))
    spans = [memory.load(["alice"], as_of=clock.now - timedelta(seconds=by)).models[0].span_to for by in (4, 2, 0)]
    assert spans == ["2026-11-02", "2026-11-01", "2026-11-02"]


def test_links_and_tools_folders_in_a_commit_are_no_notes(memory: Memory, root: Path, clock: Clock) -> None:
    folder = root / "models" / "alice"
    (folder / ".trash").mkdir()
    (folder / ".trash" / "old.md").write_text("Thrown away.")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "readme.md").write_text("A tool's.")
    (folder / "link.md").symlink_to(root.parent / "secret.md")
    (folder / "n.md").write_text("A note.")
    (folder / "bad\nname \u00e9.md").write_text("Another.")
    commit(root, clock.on(seconds=2))
    assert memory.load(["alice"], as_of=clock.now).models[0].notes == memory.load(["alice"]).models[0].notes == 2
    assert memory.diff("HEAD").models == ()


# What changed


def summed(memory: Memory, since: str, until: str | None = None) -> dict[str, dict[str, int]]:
    found = memory.diff(since, until)
    lists = ("added", "revised", "moved", "gone", "forgotten", "written", "redone", "retired", "lost")
    return {
        model.name: {which: len(getattr(model, which)) for which in lists if getattr(model, which)}
        for model in found.models
    }


def test_a_diff_of_commits_and_of_the_files_as_they_lie(memory: Memory, root: Path, clock: Clock) -> None:
    for number in range(4):
        memory.record(f"Thing {number} happened.", ["alice"])
    first = commit(root, clock.on(seconds=2))
    (made,) = memory.advance().written
    memory.record("In both.", ["alice", "harbour"])
    commit(root, clock.on(days=1))
    notes = sorted((root / "models/alice/2026-10").glob("*-thing-*.md"))
    notes[0].write_text(notes[0].read_text().replace("happened", "did not happen"))
    notes[1].unlink()
    memory.redo_many([made])
    memory.rename_model("harbour", "port")
    now = {"alice": {"added": 1, "revised": 1, "gone": 1, "written": 1}, "port": {"added": 1}}
    assert summed(memory, first) == summed(memory, "2026-10-31") == now
    assert summed(memory, "HEAD") == {"alice": {"revised": 1, "gone": 1, "redone": 1}, "port": {}}
    assert summed(memory, "HEAD~1", "HEAD") == summed(memory, first[:8], "2026-11-01")
    assert summed(memory, "HEAD~1", "HEAD") == {"alice": {"added": 1, "written": 1}, "harbour": {"added": 1}}
    assert summed(memory, "HEAD", "HEAD~1") == {"alice": {"gone": 1, "lost": 1}, "harbour": {"gone": 1}}
    (redone,) = next(model for model in memory.diff("HEAD").models if model.redone).redone
    assert (redone.removed, redone.added) == (("Try 1 of tier 0 in alice.",), ("Try 2 of tier 0 in alice.",))
    assert summed(memory, "now") == {}


def test_a_diff_by_dates_says_what_it_cannot_know(memory: Memory, root: Path, clock: Clock) -> None:
    for number in range(4):
        memory.record(f"Thing {number} happened.", ["alice"])
        clock.on(days=1)
    memory.advance()
    found = memory.diff("2026-11-01", "2026-11-03")
    assert found.said == (snapshots.UNKNOWN,)
    assert summed(memory, "2026-10-31", "2026-11-02") == {"alice": {"added": 2}}
    assert summed(memory, "2026-11-02") == {"alice": {"added": 1, "written": 1}}
    with pytest.raises(UsageError, match="2026-11-02 comes after 2026-11-01"):
        memory.diff("2026-11-02", "2026-11-01")
    with pytest.raises(UsageError, match="no commits in git"):
        memory.diff("HEAD")


@pytest.mark.parametrize(
    "ref", ["nope", "-x", "--all", "--output=x", "", "HEAD:vault", "HEAD..HEAD", "x\0y", "2026-02-30", "@{u}"]
)
def test_what_git_does_not_know_is_one_sentence(memory: Memory, root: Path, clock: Clock, ref: str) -> None:
    commit(root, clock.now)
    before = sorted(root.parent.iterdir())
    with pytest.raises(UsageError, match=r"no commit|is no date"):
        memory.diff(ref)
    assert sorted(root.parent.iterdir()) == before


def test_a_vault_that_is_gone_has_lost_nothing(memory: Memory, root: Path, clock: Clock) -> None:
    commit(root, clock.now)
    root.rename(root.with_name("elsewhere"))
    for ask in (lambda: memory.diff("2020-01-01"), lambda: memory.diff("HEAD"), lambda: memory.map(as_of="2026-11-30")):
        with pytest.raises(DiskError, match="nothing was taken as deleted"):
            ask()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_not_compared(memory: Memory, root: Path, clock: Clock) -> None:
    memory.record("A thing.", ["alice", "harbour"])
    commit(root, clock.now)
    shut = root / "models" / "alice"
    shut.chmod(0)
    try:
        found = memory.diff("HEAD")
    finally:
        shut.chmod(0o755)
    assert (found.models, found.said) == ((), ("models/alice can't be read, and what lies in it is not compared.",))


def test_a_repository_that_does_not_hold_the_vault_is_none(memory: Memory, root: Path, clock: Clock) -> None:
    (root.parent / ".gitignore").write_text("vault/\n")
    memory.record("A thing.", ["alice"])
    commit(root, clock.on(seconds=2))
    found = memory.map(as_of=clock.now)
    assert isinstance(found, snapshots.PastMap)
    assert found.as_of.commit == ""
    assert [line.notes for line in found.models] == [1, 0]


# The command line


@pytest.fixture
def run(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(tmp_path / "cli-cache"))
    monkeypatch.setenv("PYRAMID_CONFIG", str(tmp_path / "config.toml"))

    def call(*words: str) -> tuple[int, str, str]:
        capture = CliRunner()
        with capture.isolation() as (out, err, _):
            code = command_line.run([*words, "--vault", str(root)])
            return code, out.getvalue().decode(), err.getvalue().decode()

    return call


def test_looking_back_on_the_command_line(
    run: Callable[..., tuple[int, str, str]], memory: Memory, root: Path, clock: Clock
) -> None:
    for number in range(4):
        memory.record(f"Thing {number} happened.", ["alice"])
        clock.on(hours=1)
    for path in root.rglob("*thing*.md"):
        os.utime(path, (START.timestamp(), START.timestamp()))  # it has been left alone
    code, out, err = run("load", "alice", "--as-of", "2026-10-31T11:00Z")
    assert (code, err) == (0, "")
    assert out.startswith("As of 2026-10-31T11:00Z, from the dates alone. Nothing of it is the present.\n")
    assert "Thing 1" in out
    assert "Thing 2" not in out
    code, out, _ = run("load", "alice", "--as-of", "2026-10-31", "--chars", "60")
    assert "Shown by: pyramid load alice --tier tail --as-of 2026-10-31\n" in f"{out}\n"
    code, out, _ = run("map", "--as-of", "2026-10-31", "--json")
    assert json.loads(out)["as_of"] | {"said": []} == {
        "asked": "2026-10-31", "until": "2026-10-31T22:59:59.999999+00:00", "commit": "", "committed": None,
        "from_dates": False, "said": [],
    }  # fmt: skip
    assert list(root.rglob("tier-0")) == []  # a look back has nothing grow, other than this:
    assert run("load", "alice")[0] == 0
    assert len(list(root.rglob("tier-0/*.md"))) == 1
    code, out, _ = run("diff", "2026-10-30")
    assert (code, "# alice [1 summary written · 4 notes added]" in out) == (0, True)
    code, out, _ = run("diff", "2026-10-30", "now", "--json")
    assert len(json.loads(out)["models"][0]["added"]) == 4
    assert out.count('"vault"') == 1


@pytest.mark.parametrize(
    "words",
    [
        ("load", "alice", "--from-dates"),
        ("map", "--from-dates"),
        ("map", "--as-of", "soon"),
        ("diff", "soon"),
        ("diff", "-x"),
    ],
)
def test_a_mistake_is_one_line(run: Callable[..., tuple[int, str, str]], words: tuple[str, ...]) -> None:
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("asked", ["2026-11-01", "9999-12-31", "2026-10-31T12:00Z", "2026-10-31T23:00+01:00"])
def test_the_future_is_as_it_is_now_and_said_to_be(
    memory: Memory, root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    asked: str,
) -> None:  # fmt: skip
    memory.record("It was committed.", ["alice"])
    commit(root, clock.on(seconds=1))
    memory.record("It was not.", ["alice"])
    for found in (memory.map(as_of=asked), memory.load(["alice"], as_of=asked)):
        assert isinstance(found, (snapshots.PastMap, snapshots.PastLoaded))
        assert found.as_of.said == (f"As of {asked}, which is in the future: the memory as it is now.",)
        assert found.models[0].notes == 2
    assert summed(memory, "HEAD", asked) == summed(memory, "HEAD", "now") == {"alice": {"added": 1}}
    with pytest.raises(UsageError, match=re.escape(f"{asked} comes after 2026-10-30")):
        memory.diff(asked, "2026-10-30")
    monkeypatch.setattr(cli_common, "opened", lambda *_: memory)
    for words in (
        ["map", "--as-of", asked],
        ["load", "alice", "--as-of", asked],
        ["diff", asked],
        ["diff", "HEAD", asked],
    ):
        assert command_line.run(words) == 0
        err = capsys.readouterr().err
        assert err == f"pyramid: {asked} is in the future: this is the memory as it is now\n"


@pytest.mark.parametrize("asked", ["2026-10-31", "2026-10-31T09:30Z", "HEAD", "now", "2026-13-01", "soon"])
def test_today_and_what_is_no_date_are_not_the_future(memory: Memory, asked: str) -> None:
    assert not memory.is_future(asked)


def test_a_zone_that_is_none_is_one_plain_sentence(run: Callable[..., tuple[int, str, str]]) -> None:
    for zone in ("+25:00", "-99:00", "+10:60"):
        code, out, err = run("map", "--as-of", f"2026-10-31T10:00{zone}")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"the zone {zone} is none: they go from -15:59 to +15:59" in err


def test_a_tier_that_a_model_lacks_is_said_to_be_missing(
    run: Callable[..., tuple[int, str, str]], memory: Memory
) -> None:
    code, out, err = run("load", "alice", "harbour", "--tier", "99", "--no-advance")
    assert (code, "# alice" in out) == (0, True)
    assert "pyramid: alice has no tier 99: it has none yet, only notes\n" in err
    for number in range(7):
        memory.record(f"Thing {number} happened.", ["alice"])
    memory.advance()
    code, out, err = run("load", "alice", "--tier", "99", "--no-advance", "--json")
    assert (code, err, json.loads(out)["models"][0]["summaries"]) == (
        0,
        "pyramid: alice has no tier 99: it has 0, 1\n",
        [],
    )
    for tier in ("0", "01", "notes", "tail"):
        assert run("load", "alice", "--tier", tier, "--no-advance")[::2] == (0, "")
    assert run("load", "alice", "--tier", "99", "--as-of", "2026-10-31")[::2] == (
        0,
        "pyramid: there was no tier 99 then\n",
    )

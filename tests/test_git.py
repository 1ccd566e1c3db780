"""Real git: what a clone that was set up merges, what one without the driver mends, and what a remote refuses."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pyramid_fs import Memory, cli, marks, merging, vault
from pyramid_fs import format as pages

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIG = """\
[user]
name = Ada
email = ada@example.org
[init]
defaultBranch = main
[commit]
gpgsign = false
[advice]
detachedHead = false
"""
README = Path(__file__).parent.parent / "README.md"
NOTE, RECORD = "models/alice/beans.md", "entities/ada-k3f9.md"
SUMMARY = "models/alice/tier-0/alice-t0-0001-k3f9.md"


def summary(*sources: str, text: str) -> str:
    return (
        "---\ntier: 0\nbatch: 1\ncreated: 2026-11-29T20:00:00Z\nspan_from: 2026-11-20T09:00:00Z\n"
        f"span_to: 2026-11-20T09:00:00Z\nnote_count: {len(sources)}\nprovenance:\n"
        + "".join(f'  - "[[{source}]]"\n' for source in sources)
        + "digests:\n"
        + "".join('  - "9f86d081884c7d65"\n' for _ in sources)
        + "dates:\n"
        + "".join("  - 2026-11-20T09:00:00Z\n" for _ in sources)
        + f'summarizer: "extractive"\n---\n{text}\n'
    )


def record(status: str, *more: str) -> str:
    return "\n".join(["---", 'name: "Ada"', f"status: {status}", *more, "confidence: 0.6", "---", ""])


class Clone(NamedTuple):
    top: Path
    below: str = ""

    @property
    def root(self) -> Path:
        return self.top / self.below

    def git(self, *words: str, code: int | None = 0) -> str:
        done = subprocess.run(["git", *words], cwd=self.top, capture_output=True, text=True, check=False)
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def write(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, "utf-8")

    def commit(self, files: Mapping[str, str] | None = None) -> None:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "work")

    def pull(self, *words: str, code: int | None = 0) -> str:
        return self.git("pull", "-q", *(words or ("--no-rebase", "--no-edit")), code=code)

    def push(self, *, code: int = 0, hooks: bool = False) -> str:
        return self.git("push", "-q", *([] if hooks else ["--no-verify"]), "origin", "HEAD:main", code=code)

    def texts(self) -> dict[str, str]:
        """Give every file that is not git's."""
        found = (path for path in self.root.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {path.relative_to(self.root).as_posix(): path.read_text("utf-8") for path in found}

    def copies(self) -> dict[str, str]:
        return {path: text for path, text in self.texts().items() if merging.original_of(path)}

    def unmerged(self) -> str:
        return self.git("ls-files", "-u")

    def pyramid(self, *words: str, code: int | None = 0) -> None:
        ended = cli.run(["--vault", str(self.root), *words])
        assert code is None or ended == code

    def set_up(self) -> None:
        self.pyramid("setup", "git", "--write")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "gitconfig").write_text(CONFIG)
    for name, place in {
        "HOME": "home",
        "GIT_CONFIG_GLOBAL": "gitconfig",
        "PYRAMID_CACHE_DIR": "cache",
        "PYRAMID_CONFIG": "config.toml",
    }.items():
        monkeypatch.setenv(name, str(tmp_path / place))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return tmp_path


def two(home: Path, base: Mapping[str, str], *, below: str = "", driver: bool = True) -> tuple[Clone, Clone]:
    """Make two clones of one vault on a bare remote."""
    (home / "remote").mkdir()
    one, other = Clone(home / "one clone", below), Clone(home / "zweiter Klön", below)
    subprocess.run(["git", "init", "-q", "--bare", str(home / "remote")], check=True)
    subprocess.run(["git", "clone", "-q", str(home / "remote"), str(one.top)], check=True, capture_output=True)
    vault.make_vault(one.root, models={"alice": "A friend."})
    one.commit(base)
    one.push()
    subprocess.run(["git", "clone", "-q", str(home / "remote"), str(other.top)], check=True)
    if driver:
        one.set_up()
        other.set_up()
    return one, other


def meet(one: Clone, other: Clone, *, code: int | None = 0) -> None:
    """Have the second clone merge what the first one has pushed."""
    one.push()
    other.pull(code=code)


BASE = {
    NOTE: "Beans need sun.\n",
    "models/alice/Äpfel & Birnen.md": "Apples.\n",
    RECORD: record("pending"),
    SUMMARY: summary("a", "b", text="Old."),
    "ledger/aaaaaa.jsonl": '{"source": "a", "made": 1, "at": "2026-11-29T20:00:00Z"}\n',
}
ONE = {
    NOTE: "Beans need water.\n",
    "models/alice/Äpfel & Birnen.md": "Apples, red.\n",
    RECORD: record("confirmed", 'aliases:\n  - "A."'),
    SUMMARY: summary("a", "b", text="Redone here."),
    "ledger/aaaaaa.jsonl": BASE["ledger/aaaaaa.jsonl"] + '{"source": "b", "made": 1}\n',
    "models/alice/new one.md": "New here.\n",
}
OTHER = {
    NOTE: "Beans need warmth.\n",
    "models/alice/Äpfel & Birnen.md": "Apples, green.\n",
    RECORD: record("pruned", 'aliases:\n  - "Countess"', 'pruned: "2026-11-28"'),
    SUMMARY: summary("a", text="Forgotten there."),
    "ledger/aaaaaa.jsonl": BASE["ledger/aaaaaa.jsonl"] + '{"source": "c", "made": 1}\n',
    "models/alice/new other.md": "New there.\n",
}
TEXTS = {NOTE, "models/alice/Äpfel & Birnen.md"}


def settled(mine: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Say what a clone holds after it merged `theirs`."""
    copies = {merging.copy_path(path, theirs[path].encode()): theirs[path] for path in TEXTS}
    return {
        **{path: mine[path] for path in TEXTS},
        **copies,
        SUMMARY: OTHER[SUMMARY],
        "models/alice/new one.md": "New here.\n",
        "models/alice/new other.md": "New there.\n",
    }


def assert_settled(clone: Clone, mine: Mapping[str, str], theirs: Mapping[str, str]) -> None:
    found, expected = clone.texts(), settled(mine, theirs)
    assert {path: found.get(path) for path in expected} == expected
    assert set(clone.copies()) == {path for path in expected if merging.original_of(path)}
    assert sorted(found["ledger/aaaaaa.jsonl"].splitlines()) == sorted(
        {*ONE["ledger/aaaaaa.jsonl"].splitlines(), *OTHER["ledger/aaaaaa.jsonl"].splitlines()}
    )
    assert clone.unmerged() == ""
    assert not any(marks.sides(text) for text in found.values())


# With the driver


def test_every_conflict_settles_itself_and_both_clones_end_alike(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit(ONE)
    other.commit(OTHER)
    meet(one, other)
    assert_settled(other, OTHER, ONE)
    assert other.git("log", "-1", "--format=%p").split()[1:]  # merged without a question
    other.commit()  # the copies, as the loop does
    meet(other, one)  # a fast forward
    assert one.texts() == other.texts()


def test_the_other_way_round_records_and_summaries_come_to_the_same_bytes(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit(ONE)
    other.commit(OTHER)
    for clone, source in ((one, other), (other, one)):
        clone.git("fetch", "-q", str(source.top), "HEAD:refs/heads/theirs")
    for clone in (one, other):
        clone.git("merge", "-q", "--no-edit", "theirs")
    assert_settled(one, ONE, OTHER)
    assert_settled(other, OTHER, ONE)
    assert one.texts()[RECORD] == other.texts()[RECORD]
    assert "status: confirmed" in one.texts()[RECORD]
    assert {'  - "A."', '  - "Countess"'} <= set(one.texts()[RECORD].splitlines())
    assert "pruned" not in one.texts()[RECORD]


def test_a_copy_is_taken_by_the_next_commit_whatever_it_is_of(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit({NOTE: ONE[NOTE]})
    other.commit({NOTE: OTHER[NOTE]})
    meet(one, other)
    assert "pyramid: conflict copies are not committed yet" in other.push(hooks=True)
    other.write({"models/alice/later.md": "Later.\n"})
    other.git("commit", "-q", "-m", "one named file", "models/alice/later.md", code=None)
    other.git("add", "models/alice/later.md")
    other.git("commit", "-q", "-m", "more", code=None)
    (copy,) = other.copies()
    assert copy in other.git("ls-tree", "-r", "--name-only", "HEAD")
    assert "not committed" not in other.push(hooks=True)


def test_a_rebase_goes_through_it_too(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit(ONE)
    one.push()
    other.commit({NOTE: OTHER[NOTE]})
    other.commit({SUMMARY: OTHER[SUMMARY], RECORD: OTHER[RECORD]})
    other.pull("--rebase")
    assert other.unmerged() == ""
    assert other.texts()[NOTE] == ONE[NOTE]  # a rebase has it that what was pulled is ours
    assert list(other.copies().values()) == [OTHER[NOTE]]
    assert other.texts()[SUMMARY] == OTHER[SUMMARY]
    assert "status: confirmed" in other.texts()[RECORD]


@pytest.mark.slow
def test_a_stash_and_a_cherry_pick_go_through_it_too(home: Path) -> None:
    one, other = two(home, BASE)
    other.write({NOTE: OTHER[NOTE]})
    other.git("stash", "-q")
    other.commit({NOTE: ONE[NOTE]})
    other.git("stash", "pop", "-q")
    assert (other.texts()[NOTE], list(other.copies().values())) == (ONE[NOTE], [OTHER[NOTE]])
    other.commit()
    one.commit({NOTE: "A third.\n"})
    other.git("fetch", "-q", str(one.top), "HEAD")
    other.git("cherry-pick", "FETCH_HEAD", code=None)
    assert other.texts()[NOTE] == ONE[NOTE]
    assert sorted(other.copies().values()) == sorted([OTHER[NOTE], "A third.\n"])


def test_a_copy_that_the_merge_takes_away_is_laid_again(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit({NOTE: ONE[NOTE]})
    other.commit({NOTE: OTHER[NOTE]})
    meet(one, other)
    other.commit()
    meet(other, one)
    ((copy, text),) = one.copies().items()
    (one.root / copy).unlink()  # one side takes the text of the copy,
    one.commit({NOTE: text})
    other.commit({NOTE: "Beans need all of it.\n"})  # the other goes on with the one in place
    meet(one, other)
    assert other.texts()[NOTE] == "Beans need all of it.\n"
    assert list(other.copies().values()) == [text]


def test_a_copy_that_the_merge_brings_is_not_in_its_way(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit({NOTE: ONE[NOTE], merging.copy_path(NOTE, ONE[NOTE].encode()): ONE[NOTE]})
    other.commit({NOTE: OTHER[NOTE]})
    meet(one, other)
    assert other.texts()[NOTE] == OTHER[NOTE]
    assert list(other.copies().values()) == [ONE[NOTE]]


def test_histories_that_cross_lay_no_copies_of_what_is_past(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit({NOTE: ONE[NOTE]})
    other.commit({NOTE: OTHER[NOTE]})
    for clone, source in ((one, other), (other, one)):
        clone.git("fetch", "-q", str(source.top), "HEAD:refs/heads/theirs")
    for clone in (one, other):
        clone.git("merge", "-q", "--no-edit", "theirs")
        for copy in clone.copies():
            (clone.root / copy).unlink()
        clone.commit({NOTE: "Beans need what both said.\n", f"models/alice/{clone.top.name}.md": "Some.\n"})
    meet(one, other)
    assert (other.texts()[NOTE], other.copies()) == ("Beans need what both said.\n", {})


def test_a_vault_in_a_subfolder_of_a_repository(home: Path) -> None:
    one, other = two(home, BASE, below="my notes/Gedächtnis")
    one.commit(ONE)
    other.commit(OTHER)
    meet(one, other)
    assert_settled(other, OTHER, ONE)


@pytest.mark.parametrize("driver", [True, False])
def test_a_renamed_model_takes_what_was_written_meanwhile_along(home: Path, *, driver: bool) -> None:
    one, other = two(home, BASE, driver=driver)
    one.git("mv", "models/alice", "models/ally")
    one.commit()
    other.commit({"models/alice/new.md": "Written meanwhile.\n"})
    meet(one, other, code=int(not driver))
    if not driver:
        other.pyramid("doctor", "--mend", code=1)
    assert other.texts()["models/ally/new.md"] == "Written meanwhile.\n"
    assert other.unmerged() == ""


SMALL = "format = 1\n[pyramid]\nbatch_notes = 3\nfan_in = 2\n"


def days(model: str, month: int, count: int, who: str) -> dict[str, str]:
    """Make notes that lie in a folder of their month."""
    made = f"2026-{month:02}"
    return {
        f"models/{model}/{made}/{day}-{who}.md": f"---\ncreated: {made}-{day:02}\n---\n{who} fed {day} hens.\n"
        for day in range(1, count + 1)
    }


def lies(clone: Clone) -> dict[str, set[str]]:
    """Give the folders of each model that hold something."""
    found: dict[str, set[str]] = {}
    for path in clone.texts():
        if path.startswith("models/"):
            _, model, *folders = path.split("/")[:-1]
            found.setdefault(model, set()).update(folders)
    return found


def loop(clone: Clone, *, code: int | None = 0) -> None:
    """Do once what the README's loop does."""
    clone.git("add", "-A")
    clone.git("commit", "-q", "-m", "work", code=None)
    if "CONFLICT" in clone.pull(code=None):
        clone.pyramid("doctor", "--mend", code=1)
    clone.pyramid("advance")
    clone.git("add", "-A")
    clone.git("commit", "-q", "-m", "work", code=None)
    clone.pyramid("verify")
    clone.push()


@pytest.mark.parametrize(
    ("new", "is_first"),
    [("cuisine", True), pytest.param("zuppa", False, marks=pytest.mark.slow)],
)
def test_what_was_added_in_new_folders_under_an_old_name_follows_the_model(
    home: Path, new: str, *, is_first: bool
) -> None:
    base = {"pyramid.toml": SMALL, "models/kitchen/kitchen.md": "---\ntype: model\n---\n"}
    one, other = two(home, {**base, **days("kitchen", 3, 4, "ada")})
    one.pyramid("advance")
    loop(one)
    loop(other)
    one.pyramid("model", "rename", "kitchen", new)
    one.write(days(new, 4, 4, "one"))
    one.pyramid("advance")
    other.write({**days("kitchen", 5, 9, "ben"), **days("kitchen/ben", 6, 3, "ben")})
    other.pyramid("advance")
    assert (other.root / "models/kitchen/tier-2").is_dir()
    for clone in (one, other, one, other) if is_first else (other, one, other, one):
        loop(clone)
    assert one.texts() == other.texts()
    assert set(lies(one)) == {"alice", new}
    assert {"2026-05", "ben", "2026-06", "tier-2"} <= lies(one)[new]
    for clone in (one, other):
        clone.pyramid("doctor")
        assert not (clone.root / "models/kitchen").exists()


def test_a_mend_moves_what_came_under_an_old_name(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = two(home, {NOTE: BASE[NOTE]})
    one.pyramid("model", "rename", "alice", "ally")
    one.commit()
    other.commit({"models/alice/2026-12/new.md": "Written meanwhile.\n"})
    meet(one, other)
    other.pyramid("doctor", code=1)
    said = capsys.readouterr().out
    assert "it is what came under the old name of ally" in said
    assert "`pyramid advance ally` moves it there" in said
    other.pyramid("doctor", "--mend")
    assert "Mended: models/ally/2026-12/new.md" in capsys.readouterr().out
    assert sorted(lies(other)) == ["ally"]


def test_what_the_driver_cant_settle_is_left_with_markers(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"base": "Old.\n", "ours": "Mine.\n", "theirs": "Theirs.\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "models").write_text("no folder, so no copy can be laid beside")
    words = ["git", "merge-driver", *(str(tmp_path / name) for name in texts), "models/alice/n.md"]
    assert cli.run(words) == 1
    assert marks.sides((tmp_path / "ours").read_text()) == marks.Sides("Mine.\n", None, "Theirs.\n")
    assert cli.run(["git", "merge-driver", "gone", "gone", "gone", "n.md"]) == 1


# Without the driver


@pytest.mark.parametrize("style", ["merge", pytest.param("diff3", marks=pytest.mark.slow)])
def test_without_the_driver_what_stopped_is_mended_to_the_same_bytes(home: Path, style: str) -> None:
    one, other = two(home, BASE, driver=False)
    other.git("config", "merge.conflictStyle", style)
    one.commit(ONE)
    other.commit(OTHER)
    meet(one, other, code=1)
    assert other.unmerged()
    other.pyramid("doctor", "--mend", code=1)
    assert_settled(other, OTHER, ONE)
    assert "status: confirmed" in other.texts()[RECORD]
    other.git("commit", "-q", "--no-edit")
    assert other.git("status", "--porcelain") == ""  # the copies are in it
    with_driver = Clone(home / "third")
    subprocess.run(["git", "clone", "-q", str(home / "remote"), str(with_driver.top)], check=True)
    with_driver.git("reset", "-q", "--hard", "HEAD^")
    with_driver.set_up()
    with_driver.commit(OTHER)
    with_driver.pull()
    assert with_driver.texts() == other.texts()


def test_markers_that_were_committed_are_a_problem_and_are_mended(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = two(home, BASE, driver=False)
    one.commit(ONE)
    other.commit(OTHER)
    meet(one, other, code=1)
    other.commit()  # as a phone's program does
    other.pyramid("doctor", code=1)
    said = capsys.readouterr().out
    for path in (*TEXTS, RECORD, SUMMARY):
        assert path in said
    assert marks.REASON in said
    other.pyramid("doctor", "--mend", code=1)
    found = capsys.readouterr().out
    assert f"Mended: {NOTE}" in found
    assert marks.REASON not in found
    assert_settled(other, OTHER, ONE)


def test_what_a_person_began_to_settle_keeps_their_words(home: Path) -> None:
    one, other = two(home, BASE, driver=False)
    one.commit({NOTE: ONE[NOTE], RECORD: ONE[RECORD]})
    other.commit({NOTE: OTHER[NOTE], RECORD: OTHER[RECORD]})
    meet(one, other, code=1)
    other.write({NOTE: f"My own remark.\n{other.texts()[NOTE]}", RECORD: record("pending", 'note: "by hand"')})
    other.pyramid("doctor", "--mend", code=1)
    assert other.texts()[NOTE] == f"My own remark.\n{OTHER[NOTE]}"
    assert list(other.copies().values()) == [f"My own remark.\n{ONE[NOTE]}"]
    assert other.texts()[RECORD] == record("pending", 'note: "by hand"')
    assert other.unmerged() == ""


def test_a_text_that_one_side_deleted_and_the_other_changed_stays_but_for_a_tombstone(home: Path) -> None:
    forgotten = "models/alice/secret.md"
    one, other = two(home, {**BASE, forgotten: "A secret.\n"}, driver=False)
    (one.root / NOTE).unlink()
    (one.root / forgotten).unlink()
    named = {"forgot": hashlib.sha256(b"secret").hexdigest(), "digest": pages.digest("A secret!")}
    one.commit({"ledger/bbbbbb.jsonl": f"{json.dumps(named)}\n"})
    other.commit({NOTE: "Beans, again.\n", forgotten: "A secret!\n"})
    meet(one, other, code=1)
    other.pyramid("doctor", "--mend", code=1)
    assert other.texts()[NOTE] == "Beans, again.\n"
    assert forgotten not in other.texts()
    assert other.unmerged() == ""


def test_an_edited_copy_of_a_note_that_was_forgotten_does_not_come_back(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forgotten, text = "models/alice/secret.md", "A secret of hers.\n"
    one, other = two(home, {**BASE, forgotten: text})
    one.pyramid("forget", "secret", "--yes")
    one.commit()
    other.commit({NOTE: "Beans, again.\n", forgotten: f"{text}And more of it.\n"})
    meet(one, other, code=1)
    capsys.readouterr()
    other.pyramid("doctor", "--mend", code=1)
    (said,) = [line for line in capsys.readouterr().out.splitlines() if forgotten in line]
    assert said.startswith(f"Mended: {forgotten} (removed: it is an edited copy of a note that was forgotten")
    (blob,) = re.findall(r"`git cat-file blob (\w+)`", said)
    assert other.git("cat-file", "blob", blob) == f"{text}And more of it.\n"
    assert (forgotten in other.texts(), other.unmerged()) == (False, "")
    (kept,) = re.findall(r"what was added to it is in (models/alice/and-more-of-it-\w{4}\.md);", said)
    assert other.texts()[kept] == "And more of it.\n"
    other.git("commit", "-q", "--no-edit")
    assert other.git("status", "--porcelain") == ""  # the new tombstone is in it
    other.write({forgotten: f"{text}And more of it.\n"})
    other.pyramid("doctor", code=1)
    assert "it was forgotten, and an old copy brought it back" in capsys.readouterr().out


def edited_elsewhere(home: Path) -> tuple[Clone, str]:
    """Forget a note in one clone, add a line to it in the other, and have git stop there; give the other."""
    forgotten, text = "models/alice/secret.md", "A secret of hers.\n"
    one, other = two(home, {**BASE, forgotten: text})
    one.pyramid("forget", "secret", "--yes")
    one.commit()
    other.commit({forgotten: f"{text}And more of it.\n"})
    meet(one, other, code=1)
    return other, forgotten


def test_a_kill_before_the_tombstone_of_an_edited_copy_loses_nothing_that_was_added(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, forgotten = edited_elsewhere(home)
    for verb in ("files.create", "files.remove"):
        with monkeypatch.context() as patch:
            patch.setattr(f"pyramid_fs.mending.{verb}", killed)
            with pytest.raises(KeyboardInterrupt), Memory(other.root) as memory:
                memory.mend()
    other.pyramid("doctor", "--mend", code=None)
    assert forgotten not in other.texts()
    assert "And more of it.\n" in other.texts().values()
    assert other.unmerged() == ""


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_somebody_wrote_on_after_another_clone_had_mended_it_stays(home: Path) -> None:
    other, _ = edited_elsewhere(home)
    base, text = b"A secret of hers.\n", b"A secret of hers.\nAnd more of it.\n"
    kept, data = merging.apart("models/alice/secret.md", text, merging.added(base, text), UTC)
    other.write({kept: f"{data.decode()}A person went on.\n"})
    other.pyramid("doctor", "--mend", code=1)
    assert other.texts()[kept] == "And more of it.\nA person went on.\n"


def test_a_rebase_goes_on_after_what_came_under_an_old_name_was_moved(home: Path) -> None:
    forgotten, text = "models/alice/secret.md", "A secret of hers.\n"
    one, other = two(home, {**BASE, forgotten: text})
    one.pyramid("forget", "secret", "--yes")
    one.pyramid("model", "rename", "alice", "anna")
    one.commit()
    one.push()
    other.commit({forgotten: f"{text}And more of it.\n", "models/alice/new.md": "Late.\n"})
    other.pull("--rebase", code=1)
    other.pyramid("doctor", "--mend", code=None)
    other.git("-c", "core.editor=true", "rebase", "--continue")
    assert other.texts()["models/anna/new.md"] == "Late.\n"
    assert other.git("status", "--porcelain") == ""


def test_a_note_of_a_forgotten_ones_name_is_named_unless_git_knows_it_as_another(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forgotten, text = "models/alice/secret.md", "A secret of hers.\n"
    one, _ = two(home, {NOTE: BASE[NOTE], forgotten: text, "models/bob/secret.md": "Where the key lies.\n"})
    one.pyramid("forget", "alice/secret", "--yes")
    one.write({forgotten: f"{text}And more of it.\n"})
    capsys.readouterr()
    one.pyramid("doctor", code=1)
    said = capsys.readouterr().out
    assert f"{forgotten}: it is an edited copy of a note that was forgotten" in said
    assert "`pyramid forget secret`" in said
    assert "models/bob" not in said


def test_one_note_that_was_moved_to_two_places_is_one_again(home: Path) -> None:
    text = "Beans need sun, and some more words, so that git knows the file again.\nAnd again.\n"
    one, other = two(home, {**BASE, NOTE: text}, driver=False)
    for clone, place in ((one, "a"), (other, "b")):
        (clone.root / f"models/alice/{place}").mkdir()
        clone.git("mv", NOTE, f"models/alice/{place}/beans.md")
        clone.commit()
    meet(one, other, code=1)
    other.pyramid("doctor", "--mend", code=1)
    found = other.texts()
    assert (found.get("models/alice/a/beans.md"), found.get("models/alice/b/beans.md")) == (text, None)
    assert other.unmerged() == ""


def test_what_both_sides_added_under_one_name_is_kept(home: Path) -> None:
    one, other = two(home, BASE, driver=False)
    one.commit({"models/alice/day.md": "Rain.\n", "other.txt": "1\n"})
    other.commit({"models/alice/day.md": "Sun.\n", "other.txt": "2\n"})
    meet(one, other, code=1)
    other.pyramid("doctor", "--mend", code=1)
    assert (other.texts()["models/alice/day.md"], list(other.copies().values())) == ("Sun.\n", ["Rain.\n"])
    assert "other.txt" in other.unmerged()  # no file of the store's
    assert "models" not in other.unmerged()


# Setting up


def test_it_is_shown_written_once_and_taken_out_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = two(home, BASE, driver=False)
    before = ((one.top / ".git/config").read_text(), one.git("status", "--porcelain"))
    capsys.readouterr()
    one.pyramid("setup", "git")
    shown = capsys.readouterr()
    assert "merge.pyramid.driver" in shown.out
    assert "pre-push" in shown.out
    assert "nothing was written yet" in shown.err
    assert ((one.top / ".git/config").read_text(), one.git("status", "--porcelain")) == before
    one.set_up()
    assert "Done" in capsys.readouterr().out
    held = (one.top / ".git/config").read_text(), (one.top / ".git/hooks/pre-push").read_text()
    one.set_up()
    assert "set up already" in capsys.readouterr().out
    assert ((one.top / ".git/config").read_text(), (one.top / ".git/hooks/pre-push").read_text()) == held
    one.pyramid("setup", "git", "--remove", "--write")
    assert not (one.top / ".git/hooks/pre-push").exists()
    assert "pyramid" not in one.git("config", "--local", "-l").replace(str(home), "")
    assert one.git("status", "--porcelain") == ""


def test_a_hook_of_a_persons_is_kept_and_still_runs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = two(home, BASE, driver=False)
    hooks = one.top / ".git/hooks"
    mine = '#!/usr/bin/env bash\nread -r _ new _\necho "mine saw $new" >&2\nexit 0\n'
    (hooks / "pre-push").write_text(mine)
    (hooks / "pre-push").chmod(0o755)
    (hooks / "pre-commit").write_text("#!/usr/bin/env python3\n")
    (hooks / "pre-commit").chmod(0o755)
    one.set_up()
    assert "pre-commit stays as it is: it is no shell script" in capsys.readouterr().err
    (hooks / "pre-commit").unlink()
    one.commit({"models/alice/new.md": "New.\n"})
    head = one.git("rev-parse", "HEAD").strip()
    assert f"mine saw {head}" in one.push(hooks=True)
    one.pyramid("setup", "git", "--remove", "--write")
    assert (hooks / "pre-push").read_text() == mine


def test_hooks_that_lie_elsewhere_are_left_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = two(home, BASE, driver=False)
    one.git("config", "core.hooksPath", str(home / "hooks"))
    one.set_up()
    assert "core.hooksPath" in capsys.readouterr().err
    assert not (home / "hooks").exists()
    assert one.git("config", "merge.pyramid.driver")


def test_a_push_of_what_does_not_balance_is_warned_of_and_goes_through(home: Path) -> None:
    one, _ = two(home, BASE)
    one.commit({SUMMARY: "no summary\n"})
    assert "does not balance (this is pushed all the same)" in one.push(hooks=True)
    assert one.git("rev-parse", "HEAD") == one.git("rev-parse", "origin/main")


def test_attributes_of_a_persons_stay() -> None:
    made = vault.with_attributes("")
    assert made == vault.GITATTRIBUTES
    assert vault.with_attributes(made) == made
    old = "*.md text eol=lf diff=markdown\n*.png filter=lfs\n"
    assert vault.with_attributes(old) == (
        "*.md text eol=lf diff=markdown merge=pyramid\n*.png filter=lfs\nledger/*.jsonl text eol=lf merge=union\n"
    )
    mine = "# mine\n*.md -text merge=mine\n\nledger/*.jsonl !merge\n"
    assert vault.with_attributes(mine) == (
        "# mine\n*.md -text merge=mine eol=lf diff=markdown\n\nledger/*.jsonl !merge text eol=lf\n"
    )


def test_a_vault_outside_git_is_told_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vault.make_vault(home / "vault", models={})
    assert cli.run(["--vault", str(home / "vault"), "setup", "git"]) == 2
    assert "`git init " in capsys.readouterr().err
    assert cli.run(["--vault", str(home / "vault"), "doctor", "--mend"]) == 0


def test_a_clone_without_the_driver_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = two(home, {}, driver=False)
    one.pyramid("doctor", code=1)
    said = capsys.readouterr().out
    assert ".gitattributes" in said
    assert "pyramid setup git --write" in said
    one.set_up()
    one.pyramid("doctor")
    one.git("config", "merge.pyramid.driver", "'/gone/py thon' -m pyramid_fs git merge-driver %O %A %B %P")
    one.pyramid("doctor", code=1)
    assert "merge driver is gone: /gone/py thon" in capsys.readouterr().out


@pytest.mark.slow
def test_a_second_work_tree_shares_the_driver(home: Path) -> None:
    one, other = two(home, BASE)
    one.commit({NOTE: ONE[NOTE]})
    one.push()
    other.git("worktree", "add", "-q", "-b", "side", str(home / "side tree"))
    side = Clone(home / "side tree")
    side.commit({NOTE: OTHER[NOTE]})
    side.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert (side.texts()[NOTE], list(side.copies().values())) == (OTHER[NOTE], [ONE[NOTE]])


def test_a_diff_shows_a_summary_by_sentence(home: Path) -> None:
    one, _ = two(home, BASE)
    one.write({SUMMARY: summary("a", "c", text="Old.\nAnd new.").replace("9f86", "0000")})
    shown = one.git("diff").splitlines()
    changed = [line for line in shown if line[0] in "+-" and line[:3] not in {"+++", "---"}]
    assert changed == ['-  - "[[b]]"', '+  - "[[c]]"', "+And new."]


# The loop of the README, and the remote


def test_the_loop_of_the_readme_brings_clones_together(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = two(home, BASE)
    (home / "bin").mkdir()
    (home / "bin/pyramid").write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m pyramid_fs "$@"\n')
    (home / "bin/pyramid").chmod(0o755)
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (loop,) = re.findall(r"^```sh\n(for try .*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    one.write(ONE)
    other.write({**OTHER, "models/alice/Äpfel & Birnen.md": ""})
    (other.root / "models/alice/Äpfel & Birnen.md").unlink()
    running = [subprocess.Popen(["bash", "-c", loop], cwd=clone.root) for clone in (one, other)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    for clone in (one, other):
        clone.pull("--ff-only")
        clone.pyramid("verify")
        assert clone.git("status", "--porcelain") == ""
    assert one.texts() == other.texts()
    assert one.texts()["models/alice/Äpfel & Birnen.md"] == ONE["models/alice/Äpfel & Birnen.md"]
    assert {ONE[NOTE], OTHER[NOTE]} == {one.texts()[NOTE], *(text for text in one.copies().values() if "Beans" in text)}


def test_a_remote_refuses_what_does_not_balance(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = two(home, {NOTE: BASE[NOTE]}, below="my notes", driver=False)
    capsys.readouterr()
    one.pyramid("setup", "git", "--remote-hook")
    hook = home / "remote/hooks/pre-receive"
    hook.write_text(capsys.readouterr().out)
    hook.chmod(0o755)
    one.commit({"models/alice/good.md": "Good.\n"})
    one.push()
    good = one.git("rev-parse", "HEAD")
    one.commit({SUMMARY: "no summary\n"})
    assert "is refused" in one.push(code=1)
    assert subprocess.check_output(["git", "-C", str(home / "remote"), "rev-parse", "main"], text=True) == good
    one.git("push", "-q", "origin", "HEAD^:refs/heads/side")
    one.git("push", "-q", "origin", ":refs/heads/side")

"""Writing a summary again: the same file, all but its text as it was; nothing where a source can't be read any more."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import NoSuchHandle, RefusedWrite, SummarizerFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.summarizers import Request

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)


@dataclass
class Teller:
    """Tells what it was given, in words of its own."""

    name: str
    during: Callable[[Request], object] = lambda _: None
    draft: bool = False
    takes: int = 0
    slow: bool = True
    asked: list[Request] = field(default_factory=list)

    def summarize(self, request: Request) -> str:
        self.asked.append(request)
        self.during(request)
        return (
            f"{self.name} at tier {request.tier} tells: "
            + ", ".join(item.text[:20].strip(".") for item in request.items)
            + "."
        )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    vault.make_vault(root, models={"alice": "A friend."})
    (root / "pyramid.toml").write_text("format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n")
    for number in range(8):
        date = NOW - timedelta(days=30 - number)
        (root / f"models/alice/n{number}.md").write_text(
            f"---\ncreated: {date:%Y-%m-%d}\n---\nNumber {number} costs 7.\n"
        )
    with opened(root, Teller("first", draft=True)) as memory:
        memory.advance()
    return root


def opened(root: Path, teller: Teller) -> Memory:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    return Memory(root, environ=environ, clock=lambda: NOW, summarizer=teller)


@pytest.fixture
def second() -> Teller:
    return Teller("second")


@pytest.fixture
def memory(root: Path, second: Teller) -> Iterator[Memory]:
    with opened(root, second) as memory:
        yield memory


def tier(root: Path, number: int) -> list[Path]:
    return sorted(root.glob(f"models/alice/tier-{number}/*.md"))


def contents(root: Path) -> dict[str, bytes]:
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and ".git/" not in str(path))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", str(folder), *words], check=True, capture_output=True)


def commit(root: Path) -> None:
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")


def test_all_but_text_and_summarizer_stays_and_those_above_are_written_too(
    memory: Memory, root: Path, second: Teller
) -> None:
    path, beside = tier(root, 0)[1], tier(root, 0)[0]
    before = contents(root)
    written = [summary.handle for summary in memory.redo(path.stem)]
    assert written == [path.stem, tier(root, 1)[0].stem, tier(root, 2)[0].stem]
    after = contents(root)
    changed = [name for name, data in before.items() if after[name] != data]
    assert sorted(name.rpartition("/")[2][:-3] for name in changed) == sorted(written)
    for name in changed:
        old, new = pages.read(before[name]), pages.read(after[name])
        told = {"summarizer", "draft"} | ({"digests"} if "/tier-0/" not in name else set())
        left = {key: value for key, value in old.keys.items() if key not in told}
        assert {key: value for key, value in new.keys.items() if key not in told} == left
        assert (new.text("summarizer"), new.text("draft")) == ("second", "")
        assert new.body.startswith("second at tier")
    assert [request.tier for request in second.asked] == [0, 1, 2]
    assert [item.text for item in second.asked[0].items] == ["Number 2 costs 7.", "Number 3 costs 7."]
    assert second.asked[1].items[1].text.startswith("second at tier 0")
    assert second.asked[1].items[0].text == pages.read(beside.read_bytes()).body
    assert memory.verify().balances
    assert memory.advance().written == ()


def test_without_git_each_old_text_is_kept_under_a_new_handle(memory: Memory, root: Path) -> None:
    path = tier(root, 0)[0]
    old = {each.read_bytes() for each in (path, tier(root, 1)[0], tier(root, 2)[0])}
    list(memory.redo(path.stem))
    retired = list((root / "models/alice/retired").iterdir())
    assert {each.read_bytes() for each in retired} == old
    assert not {each.stem for each in retired} & {each.stem for each in root.glob("models/alice/tier-*/*.md")}
    assert memory.verify().balances
    assert memory.census.fresh("alice").state.losers == ()


def test_with_git_what_is_committed_is_kept_there_alone(memory: Memory, root: Path) -> None:
    commit(root)
    path = tier(root, 0)[0]
    list(memory.redo(path.stem))
    assert not (root / "models/alice/retired").exists()
    list(memory.redo(tier(root, 2)[0].stem))  # its text is in no commit yet
    assert len(list((root / "models/alice/retired").iterdir())) == 1


def test_a_person_s_keys_comments_and_order_stay(memory: Memory, root: Path) -> None:
    path = tier(root, 2)[0]
    data = path.read_text().replace("batch: 1\n", "batch: 1  # the first\ntags: [a, 'b']\nrating: 5\n")
    path.write_text(data)
    list(memory.redo(path.stem))
    front, _, body = path.read_text().partition("\n---\n")
    old = data.partition("\n---\n")[0]
    assert front == old.replace('"first"', '"second"').replace("\ndraft: true", "")
    assert body.startswith("second at tier 2 tells")
    assert body.endswith(".\n")


@pytest.mark.parametrize("what", ["revised", "gone"])
@pytest.mark.parametrize("kept", [True, False])
def test_a_source_is_read_as_it_was_summarized_from_git_or_nothing_is_written(
    memory: Memory, root: Path, second: Teller, what: str, *, kept: bool
) -> None:
    if kept:
        commit(root)
    note = root / "models/alice/n1.md"
    if what == "gone":
        note.unlink()
    else:
        note.write_text("---\ncreated: 2026-10-31\n---\nOther.\n")
    if kept:
        commit(root)
    path, before = tier(root, 0)[0], contents(root)
    if kept:
        assert len(list(memory.redo(path.stem))) == 3
        assert [item.text for item in second.asked[0].items] == ["Number 0 costs 7.", "Number 1 costs 7."]
        assert [item.date for item in second.asked[0].items] == ["2026-10-30", "2026-10-31"]
        assert list(second.asked[0].notes()) == ["Number 0 costs 7.", "Number 1 costs 7."]
        return
    with pytest.raises(RefusedWrite, match=f"n1 was .*{what}.*git has no such version: nothing was written"):
        list(memory.redo(path.stem))
    assert contents(root) == before
    assert second.asked == []


def test_a_note_that_was_moved_is_read_where_it_lies(memory: Memory, root: Path, second: Teller) -> None:
    (root / "models/alice/sub").mkdir()
    (root / "models/alice/n0.md").rename(root / "models/alice/sub/renamed.md")
    list(memory.redo(tier(root, 0)[0].stem))
    assert second.asked[0].items[0].text == "Number 0 costs 7."


def test_a_summarizer_that_fails_leaves_what_it_did_not_write(memory: Memory, root: Path, second: Teller) -> None:
    def during(request: Request) -> None:
        if request.tier == 1:
            raise SummarizerFailed("no net")

    second.during = during
    path, above = tier(root, 0)[0], tier(root, 1)[0].read_bytes()
    with pytest.raises(SummarizerFailed, match="no net"):
        list(memory.redo(path.stem))
    assert b"second at tier 0" in path.read_bytes()
    assert tier(root, 1)[0].read_bytes() == above
    assert memory.verify().balances


def test_a_summary_that_changes_meanwhile_is_left_as_it_is(memory: Memory, root: Path, second: Teller) -> None:
    path = tier(root, 0)[0]
    edited = path.read_text().replace("first at tier", "a person at tier")
    second.during = lambda _: path.write_text(edited)
    with pytest.raises(RefusedWrite, match="changed since it was read"):
        list(memory.redo(path.stem))
    assert path.read_text() == edited
    assert not (root / "models/alice/retired").exists()


def test_only_an_active_summary_is_written_again(memory: Memory, root: Path) -> None:
    with pytest.raises(UsageError, match="n0 is no summary"):
        list(memory.redo("n0"))
    with pytest.raises(NoSuchHandle):
        list(memory.redo("alice-t0-0009-zzzz"))
    path = tier(root, 0)[0]
    (root / "away").write_bytes(path.read_bytes())
    path.unlink()
    before = contents(root)
    with pytest.raises(RefusedWrite, match="is not active"):
        list(memory.redo(tier(root, 1)[0].stem))
    assert contents(root) == before


def test_a_read_only_summary_keeps_its_text(memory: Memory, root: Path) -> None:
    path = tier(root, 2)[0]
    old = path.read_bytes()
    path.chmod(0o444)
    with pytest.raises(RefusedWrite, match="read-only"):
        list(memory.redo(path.stem))
    assert path.read_bytes() == old


def test_what_stands_above_a_redone_summary_is_in_order_once_it_is_redone_too(memory: Memory, root: Path) -> None:
    lowest = tier(root, 0)[0].stem
    assert len(list(memory.redo(lowest))) > 1
    report = memory.verify()
    assert report.balances
    assert [problem.reason for problem in report.remarks if "redo" in problem.reason] == []

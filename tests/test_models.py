"""Models as wholes: renamed by the store or by hand, folded, archived, given up in part; the proof holds throughout."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, changing, importers, vault
from pyramid_fs import format as pages
from pyramid_fs.cli import run
from pyramid_fs.errors import ExistsAlready, NoSuchHandle, NoSuchModel, RefusedWrite, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
SMALL = "format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    vault.make_vault(root, models={"alice": "A friend.", "bob": "Another."})
    (root / "pyramid.toml").write_text(SMALL)
    for number in range(9):
        date = NOW - timedelta(days=60 - number)
        folder = ("", "trips/", "plans/")[number % 3]
        write(
            root,
            f"models/alice/{folder}n{number}.md",
            f"---\ncreated: {date:%Y-%m-%d}\n---\nDay {number} by the sea.\n",
        )
    return root


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    with Memory(root, environ=environ, clock=lambda: NOW) as memory:
        memory.record("Both know the way.", ["alice", "bob"], created=NOW - timedelta(days=70))
        memory.advance()
        yield memory


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def sums(memory: Memory) -> dict[str, tuple[int, int, int]]:
    """Give notes, covered and tail of each model, where all balances and nothing is amiss."""
    report = memory.verify()
    assert report.balances, report.faults
    assert report.remarks == ()
    assert memory.doctor() == []
    return {model.name: (model.notes, model.covered, model.tail) for model in report.models}


def texts(root: Path, model: str) -> dict[str, bytes]:
    top = root / "models" / model
    return {p.relative_to(top).as_posix(): p.read_bytes() for p in sorted(top.rglob("*.md")) if p.parent != top}


def summaries(root: Path, model: str = "alice", tier: str = "*") -> list[Path]:
    return sorted(root.glob(f"models/{model}/tier-{tier}/*.md"))


# Renaming


def test_a_renamed_model_keeps_every_file_and_grows_on(memory: Memory, root: Path) -> None:
    before = texts(root, "alice")
    assert sums(memory) == {"alice": (10, 10, 0), "bob": (1, 0, 1)}
    assert memory.rename_model("alice", "anna") == "anna"
    assert texts(root, "anna") == before
    assert (root / "models/anna/anna.md").is_file()
    assert sums(memory) == {"anna": (10, 10, 0), "bob": (1, 0, 1)}
    assert memory.advance().written == ()
    memory.record("Further on.", ["anna"], created=NOW)
    memory.record("And on.", ["anna"], created=NOW)
    (made,) = [h for h in memory.advance().written if "-t0-" in h]
    assert made.startswith("anna-t0-0006-")
    with pytest.raises(NoSuchModel):
        memory.load(["alice"])


def test_only_the_case_of_a_name_changes(memory: Memory, root: Path) -> None:
    assert memory.rename_model("alice", "Alice") == "Alice"
    assert sorted(p.name for p in (root / "models").iterdir()) == ["Alice", "bob"]
    assert (root / "models/Alice/Alice.md").is_file()
    assert sums(memory)["Alice"] == (10, 10, 0)


def test_a_disk_that_folds_case_takes_a_new_spelling(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There both names are one file: a link from one to the other can't be made, and a rename can."""
    (root / "models/alice/alice.md").rename(root / "models/alice/ALICE.md")
    (root / "models/alice/alice.md").hardlink_to(root / "models/alice/ALICE.md")
    changing._rename_card(root / "models/alice/ALICE.md", root / "models/alice/alice.md")
    assert (root / "models/alice/alice.md").read_text().startswith("---\ntype: model")


def test_a_name_that_another_model_has_but_for_case_is_taken(memory: Memory, root: Path) -> None:
    write(root, "models/Bob/x.md", "A note of a like model.")
    for known, to in (("alice", "BOB"), ("Bob", "bob"), ("bob", "Bob")):
        with pytest.raises(ExistsAlready):
            memory.rename_model(known, to)
    assert (root / "models/Bob/x.md").is_file()


def test_a_person_s_own_file_is_not_overwritten_by_the_card(memory: Memory, root: Path) -> None:
    write(root, "models/alice/anna.md", "A note on Anna.")
    memory.rename_model("alice", "anna")
    assert (root / "models/anna/anna.md").read_text() == "A note on Anna."
    assert "A friend." in (root / "models/anna/alice.md").read_text()
    assert memory.verify().balances


def by_path(link: str) -> str:
    return f"models/anna/{link}"


def by_path_and_alias(link: str) -> str:
    return f"models/anna/{link}|{link.rpartition('/')[2]}"


def by_alias(link: str) -> str:
    return f"{link.rpartition('/')[2]}|the day"


def by_file(link: str) -> str:
    return f"./models/anna/{link}.md"


def as_it_was(link: str) -> str:
    return link


@pytest.mark.parametrize("spelled", [as_it_was, by_path, by_path_and_alias, by_alias, by_file])
def test_a_folder_renamed_in_a_file_manager_with_links_rewritten_as_obsidian_does(
    memory: Memory, root: Path, spelled: Callable[[str], str]
) -> None:
    (root / "models/alice").rename(root / "models/anna")
    (root / "models/anna/alice.md").rename(root / "models/anna/anna.md")
    at = {p.stem: p.relative_to(root / "models/anna").as_posix()[:-3] for p in root.glob("models/anna/**/*.md")}
    for path in [*summaries(root, "anna"), *root.glob("models/bob/2026-*/*.md")]:
        rewritten = re.sub(r"\[\[([^\]]+)\]\]", lambda found: f"[[{spelled(at[found[1]])}]]", path.read_text())
        path.write_text(rewritten)
    assert sums(memory) == {"anna": (10, 10, 0), "bob": (1, 0, 1)}
    assert memory.advance().written == ()
    (hit,) = memory.recall("way", kinds=("note",)).hits
    assert sorted(hit.models) == ["anna", "bob"]


def test_a_folder_renamed_with_its_card_left_behind(memory: Memory, root: Path) -> None:
    (root / "models/alice").rename(root / "models/anna")
    report = memory.verify()
    assert (report.balances, report.remarks) == (True, ())
    assert {m.name: m.notes for m in report.models} == {"anna": 10, "bob": 1}
    assert [problem.fix for problem in memory.doctor()] == ["rename it to anna.md"]
    assert memory.advance().written == ()
    assert memory.rename_model("anna", "alice") == "alice"
    assert sums(memory)["alice"] == (10, 10, 0)


# Folding and archiving


def test_a_fold_writes_one_note_and_changes_no_file_of_the_model(memory: Memory, root: Path) -> None:
    before = texts(root, "alice")
    made = memory.fold_model("alice", "bob")
    assert texts(root, "alice") == before
    assert pages.read((root / made.path).read_bytes()).body == (
        "alice (A friend.) was folded in here. Its 10 notes from 2026-09-20 to 2026-10-08 stay in its own folder."
    )
    assert sums(memory) == {"alice": (10, 10, 0), "bob": (2, 0, 2)}
    assert memory.map().archived == ("alice",)
    assert {hit.models for hit in memory.recall("sea").hits} == {("alice",)}


def test_what_was_folded_into_a_model_follows_its_name(memory: Memory, root: Path) -> None:
    memory.fold_model("alice", "bob")
    memory.rename_model("bob", "robert")
    with pytest.raises(RefusedWrite, match="its memory goes on in robert"):
        memory.record("New.", ["alice"])
    assert sums(memory)["robert"] == (2, 0, 2)


def test_nothing_is_folded_into_an_archived_model(memory: Memory, root: Path) -> None:
    memory.archive_model("bob")
    before = texts(root, "bob")
    with pytest.raises(RefusedWrite, match="`pyramid model unarchive bob`"):
        memory.fold_model("alice", "bob")
    assert texts(root, "bob") == before
    assert memory.map().archived == ("bob",)
    with pytest.raises(UsageError, match="into itself"):
        memory.fold_model("alice", "alice")


def test_every_way_to_a_note_is_closed_while_a_model_is_archived(memory: Memory, root: Path, tmp_path: Path) -> None:
    repeated = memory.record("Said before.", ["alice"])
    memory.archive_model("bob")
    before = texts(root, "bob")
    lines = tmp_path / "in.jsonl"
    lines.write_text(json.dumps({"text": "From elsewhere.", "models": ["bob"]}) + "\n")
    notes = tmp_path / "notes"
    write(notes, "day.md", "From a folder.")
    again = "`pyramid model unarchive bob` brings it back"
    for models in (["bob"], ["alice", "bob"]):
        with pytest.raises(RefusedWrite, match=again):
            memory.record("New.", models)
    with pytest.raises(RefusedWrite, match=again):  # a repeat would only get an embed there
        memory.record("Said before.", ["alice", "bob"])
    for report in (memory.import_jsonl(lines), memory.import_markdown(notes, model="bob")):
        assert isinstance(report, importers.Imported)
        assert (report.notes, again in report.bad[0]) == (0, True)
    assert texts(root, "bob") == before
    assert len(list(root.glob("models/alice/2026-11/*.md"))) == 1
    assert memory.archive_model("bob", archived=False) == "bob"
    assert memory.record("Said before.", ["alice", "bob"]).handle == repeated.handle
    memory.advance()
    assert sums(memory)["bob"] == (2, 2, 0)


def test_an_archived_model_whose_folder_was_renamed_stays_closed(memory: Memory, root: Path) -> None:
    memory.archive_model("alice")
    (root / "models/alice").rename(root / "models/anna")
    with pytest.raises(RefusedWrite, match="unarchive anna"):
        memory.record("New.", ["anna"])


# Giving up what waits


def cli(root: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYRAMID_CACHE_DIR", str(root.parent / "cache"))
        patch.setenv("PYRAMID_CONFIG", str(root.parent / "config.toml"))
        code = run(["--vault", str(root), *words])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("named", ["missing", "waiting", "broken"])
def test_what_stands_on_a_missing_summary_is_given_up_and_the_model_grows_again(
    memory: Memory, root: Path, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lowest, above, top = (summaries(root, tier=tier)[0] for tier in ("0", "1", "2"))
    if named == "broken":
        lowest.write_text("---\ntier: [\n---\nNot whole.\n")
    else:
        lowest.unlink()
    memory.record("New.", ["alice"])
    assert memory.advance(["alice"]).held
    handle = above.stem if named == "waiting" else lowest.stem
    code, out = cli(root, "doctor", "--retire", handle, "--json", capsys=capsys)
    moved = [above.stem, top.stem]
    assert json.loads(out)["retired"] == ([lowest.stem, *moved] if named == "broken" else moved)
    assert code == 0
    assert {path.stem for path in root.glob("models/alice/retired/*.md")} == set(json.loads(out)["retired"])
    done = memory.advance(["alice"])
    assert done.held == ()
    assert done.written
    notes, covered, tail = sums(memory)["alice"]
    assert notes == covered + tail == 11


def test_a_summary_that_nothing_is_amiss_with_is_not_retired(memory: Memory, root: Path) -> None:
    for path in summaries(root):
        with pytest.raises(UsageError, match="neither waits nor is broken"):
            memory.retire(path.stem)
    with pytest.raises(UsageError, match="neither waits nor is broken"):
        memory.retire("n1")
    with pytest.raises(NoSuchHandle):
        memory.retire("nothing")
    assert not (root / "models/alice/retired").exists()

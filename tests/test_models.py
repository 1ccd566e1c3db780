"""Models as wholes: renamed by the store or by hand, folded, archived, given up in part; the proof holds throughout."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, changing, files, importers, issue, renaming, vault
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
    write(root, "models/Bob/Bob.md", "---\ntype: model\n---\n")
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


# What comes under an old name


def renames(memory: Memory) -> dict[str, str]:
    return renaming.followed(memory.vault.ledger())


@pytest.mark.parametrize(
    ("steps", "now"),
    [
        (["a b"], {"a": "b"}),
        (["a b", "b c"], {"a": "c", "b": "c"}),
        (["a b", "b a"], {"b": "a"}),
        (["a b", "a c"], {"a": "c"}),  # there was a new model of that name in between
        (["a b", "b c", "d b"], {"a": "c", "d": "b"}),
        (["a b", "b c", "c a"], {"b": "a", "c": "a"}),
        (["a A"], {"a": "A"}),
        (["é e"], {"é": "e"}),
    ],
)
def test_a_name_is_followed_to_where_its_model_is_now(steps: list[str], now: dict[str, str]) -> None:
    said: list[dict[str, str]] = []
    for step in steps:
        old, new = step.split()
        said.append(renaming.line(old, new, NOW - timedelta(hours=len(said)), said))  # the clocks of machines differ
    assert renaming.followed(reversed(said)) == now
    bad: list[dict[str, object]] = [
        {"renamed": "a", "to": 1, "at": "2026-11-29"},
        {"renamed": "b", "to": "x"},
        {"renamed": "c", "at": "2026"},
    ]
    assert renaming.followed([*bad, *said]) == now


def test_what_comes_under_an_old_name_follows_it_through_all_names(memory: Memory, root: Path) -> None:
    memory.rename_model("alice", "anna")
    memory.rename_model("anna", "Anna")
    for name in ("alice", "anna"):
        write(root, f"models/{name}/2026-12/late.md", "Said under an old name.")
        write(root, f"models/{name}/.DS_Store", "of a file manager")
    write(root, "models/alice/2026-12/map.png", "a picture")
    assert [(p.path, p.fix) for p in memory.doctor()] == [
        ("models/alice", "`pyramid advance Anna` moves it there"),
        ("models/anna", "`pyramid advance Anna` moves it there"),
    ]
    memory.archive_model("Anna")
    memory.advance(["Anna"])
    assert sorted(p.name for p in (root / "models").iterdir()) == ["Anna", "bob"]
    assert sorted(p.name for p in (root / "models/Anna/2026-12").iterdir()) == ["late.md", "map.png"]
    assert sums(memory)["Anna"] == (11, 10, 1)


def test_a_new_model_of_an_old_name_is_one_of_its_own(memory: Memory, root: Path) -> None:
    memory.rename_model("alice", "anna")
    memory.create_model("alice")
    write(root, "models/alice/new.md", "Of another Alice.")
    memory.advance()
    assert {name: notes for name, (notes, _, _) in sums(memory).items()} == {"alice": 1, "anna": 10, "bob": 1}
    memory.rename_model("alice", "alina")
    write(root, "models/alice/late.md", "Of that one, too.")
    memory.advance()
    assert (root / "models/alina/late.md").is_file()


def test_a_line_that_says_the_last_of_all_times_keeps_no_model_from_a_new_name() -> None:
    last = {"renamed": "a", "to": "b", "at": "9999-12-31T23:59:59.999999Z"}
    assert renaming.line("b", "c", NOW, [last]) == {**last, "renamed": "b", "to": "c"}


def test_a_model_that_was_renamed_back_is_left_alone(memory: Memory, root: Path) -> None:
    memory.rename_model("alice", "anna")
    memory.rename_model("anna", "alice")
    write(root, "models/anna/x.md", "Said in between.")
    assert renames(memory) == {"anna": "alice"}
    memory.advance()
    assert sums(memory) == {"alice": (11, 10, 1), "bob": (1, 0, 1)}


def test_another_text_of_a_name_that_is_taken_stays_and_is_named(memory: Memory, root: Path) -> None:
    memory.rename_model("alice", "anna")
    same = (root / "models/anna/n0.md").read_bytes()
    write(root, "models/alice/n0.md", same.decode())
    for name in ("n3", "anna", "n6"):
        write(root, f"models/alice/{name}.md", f"Another {name}, which a person wrote.")
    before = (root / "models/anna/n3.md").read_bytes()
    for _ in range(2):
        done = memory.advance()
        assert done.written == ()
        assert [line.split(":")[0] for line in done.held] == ["alice"]
        assert (root / "models/anna/n3.md").read_bytes() == before
        named = {problem.path: problem for problem in memory.doctor()}
        assert sorted(named) == [f"models/alice/{name}.md" for name in ("anna", "n3", "n6")]
        assert "models/anna/n3.md says something else" in named["models/alice/n3.md"].reason
        assert "under another name" in named["models/alice/n3.md"].fix
    for number, path in enumerate(sorted(root.glob("models/alice/*.md"))):
        path.rename(root / f"models/anna/moved-{number}.md")
    memory.advance()
    assert memory.doctor() == []
    assert not (root / "models/alice").exists()


def test_a_growing_model_of_the_new_name_makes_the_old_one_wait(memory: Memory, root: Path) -> None:
    memory.rename_model("alice", "anna")
    write(root, "models/alice/late.md", "Late.")
    with files.locked(memory.cache / issue.grow_lock("anna"), 0), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyramid_fs.memory.GROW_WAIT", 0.0)
        assert memory.advance(["alice"]).busy == ("alice",)
    assert (root / "models/alice/late.md").is_file()
    memory.advance(["alice"])
    assert (root / "models/anna/late.md").is_file()


@pytest.mark.parametrize("rest", ["notes", "summaries"])
def test_the_rest_of_a_rename_by_hand_is_named_and_moved_after(memory: Memory, root: Path, rest: str) -> None:
    (root / "models/alice").rename(root / "models/anna")
    (root / "models/anna/alice.md").rename(root / "models/anna/anna.md")
    for folder in ["trips", "plans"] if rest == "notes" else ["tier-2"]:
        (root / "models/alice").mkdir(exist_ok=True)
        (root / "models/anna" / folder).rename(root / "models/alice" / folder)
    write(root, "models/carl/x.md", "A folder of its own.")
    found = {problem.path: problem.fix for problem in memory.doctor()}
    assert found["models/alice"] == "`pyramid model rename alice anna` moves it there"
    assert "models/carl" not in found
    with pytest.raises(ExistsAlready):
        memory.rename_model("anna", "bob")
    assert memory.rename_model("alice", "anna") == "anna"
    assert renames(memory) == {"alice": "anna"}
    assert sums(memory) == {"anna": (10, 10, 0), "bob": (1, 0, 1), "carl": (1, 0, 1)}


@pytest.mark.parametrize("moved", [1, 3])
def test_notes_that_a_person_moved_to_another_model_do_not_make_the_two_one(
    memory: Memory, root: Path, moved: int
) -> None:
    for model in ("work", "private"):
        for number in range(8):
            write(root, f"models/{model}/{model}{number}.md", f"Something of {model}, number {number}.")
    memory.advance()
    write(root, "models/new/other.md", "Something else.")
    for number in range(moved):
        (root / f"models/private/private{number}.md").rename(root / f"models/work/private{number}.md")
    (root / "models/private/private7.md").rename(root / "models/new/private7.md")
    assert memory.doctor() == []


def test_a_rest_that_can_not_all_be_moved_says_what_stays(memory: Memory, root: Path) -> None:
    write(root, "models/carl/n0.md", "Another text.")
    write(root, "models/carl/n10.md", "One more.")
    with pytest.raises(RefusedWrite, match=r"so they stay: models/carl/n0\.md"):
        memory.rename_model("carl", "alice")
    assert [p.name for p in (root / "models/carl").iterdir()] == ["n0.md"]
    assert (root / "models/alice/n10.md").is_file()


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


@pytest.mark.parametrize(
    ("old", "new"), [(r"note_count: \d+", "note_count: 77"), (r'  - "[0-9a-f]{16}"', '  - "zzzz"')]
)
def test_a_summary_that_the_proof_finds_wrong_can_be_given_up(memory: Memory, root: Path, old: str, new: str) -> None:
    (path,) = root.glob("models/alice/tier-0/alice-t0-0001-*.md")
    path.write_text(re.sub(old, new, path.read_text(), count=1))
    assert not memory.verify().balances
    assert path.stem in memory.retire(path.stem)
    memory.advance()
    assert memory.verify().balances

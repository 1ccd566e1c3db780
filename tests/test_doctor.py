"""Files that a person should look at: each once, with the reason and what to do."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, doctor, vault
from pyramid_fs.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": ""})
    return tmp_path / "vault"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    with Memory(root, environ=environ, clock=lambda: NOW) as memory:
        yield memory


def write(root: Path, path: str, data: bytes = b"Text.") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)


A = "models/alice"
BROKEN: dict[str, tuple[bytes, str, str]] = {
    f"{A}/yaml.md": (b"---\na: [\n---\nText.", "front matter can't be parsed", "mend the lines"),
    f"{A}/open.md": (b"---\ntitle: a\nText without an end", "never closes", "mend the lines"),
    f"{A}/twice.md": (b"---\na: 1\na: 2\n---\n", "`a` stands in it twice", "keep one"),
    f"{A}/date.md": (b"---\ncreated: soon\n---\nText.", "its `created` can't be read", "write a date"),
    f"{A}/latin.md": (b"caf\xe9", "its encoding is not UTF-8", "save it as UTF-8"),
    f"{A}/nul.md": (b"a\0b", "NUL bytes", "restore it"),
    f"{A}/embed.md": (b"![[gone]]", "the note it embeds is gone: gone", "correct the link"),
    f"{A}/tier-0/alice-t0-0001-k3f9.md": (b"no", "broken summary", "restore it from git"),
    f"{A}/tier-0/mine.md": (b"Text.", "it lies among summaries and is none", "move it"),
    f"{A}/retired/mine.md": (b"Text.", "it lies among summaries and is none", "move it"),
    f"{A}/x.sync-conflict-20261129-201530-ABCDEFG.md": (b"Text.", "conflict copy", "`pyramid resolve "),
    f"{A}/sub/x (conflicted copy 2026-11-29).md": (b"Text.", "conflict copy", "`pyramid resolve "),
    f"{A}/.cloudy.md.icloud": (b"", "a cloud placeholder", "download it"),
    "topics/x (Ada's conflicted copy 2026-11-29).md": (b"Text.", "conflict copy", "`pyramid resolve "),
    "models/loose.md": (b"Text.", "it lies in no model's folder", "move it into a model's folder"),
    "models/bob/bob.md": (b"---\na: [\n---\n", "front matter can't be parsed", "mend the lines"),
    "entities/ada-k3f9.md": (b"---\nname: [\n---\n", "front matter can't be parsed", "mend the lines"),
    "topics/moving.md": (b"\xff", "its encoding is not UTF-8", "save it as UTF-8"),
}


@pytest.mark.parametrize("path", BROKEN)
def test_each_kind_of_trouble_is_named_once_with_its_fix(memory: Memory, root: Path, path: str) -> None:
    data, reason, fix = BROKEN[path]
    write(root, path, data)
    (found,) = memory.doctor()
    assert (found.path, reason in found.reason, found.fix.startswith(fix) or fix in found.fix) == (path, True, True), (
        found
    )


def test_all_of_them_together_are_named_once_each_in_their_order(memory: Memory, root: Path) -> None:
    for path, (data, _, _) in BROKEN.items():
        write(root, path, data)
    found = memory.doctor()
    assert [problem.path for problem in found] == sorted(BROKEN)
    assert all(problem.reason and problem.fix for problem in found)


def test_status_names_what_can_not_be_used_and_leaves_the_rest_to_doctor(memory: Memory, root: Path) -> None:
    for path, (data, _, _) in BROKEN.items():
        write(root, path, data)
    named = {problem.path for problem in memory.status().problems}
    left = ("mine.md", "loose.md", "icloud")
    assert named == {path for path in BROKEN if not path.endswith(left) and "conflict" not in path}


@pytest.mark.parametrize(
    "path",
    [f"{A}/beans 2.md", f"{A}/beans (1).md", f"{A}/conflict.md", f"{A}/my conflicted copy.md", f"{A}/.hidden.md",
     f"{A}/.obsidian/x.md", f"{A}/picture.png", f"{A}/tier-9.md", "readme.md", "other/x.md", f"{A}/empty.md"],
)  # fmt: skip
def test_what_is_in_order_is_not_named(memory: Memory, root: Path, path: str) -> None:
    write(root, path, b"" if "empty" in path else b"Text.")
    assert memory.doctor() == []


def test_a_summary_that_waits_is_named_with_what_it_waits_for(memory: Memory, root: Path) -> None:
    (root / "pyramid.toml").write_text("format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n")
    for number in range(4):
        write(
            root,
            f"{A}/n{number}.md",
            f"---\ncreated: 2026-01-0{number + 1}\n---\nNumber {number} costs 7 euros.".encode(),
        )
    with Memory(root, environ={"PYRAMID_CACHE_DIR": str(root.parent / "c2"), "PYRAMID_CONFIG": "/nowhere"}) as grown:
        grown.advance()
    source = min((root / A / "tier-0").iterdir())
    source.unlink()
    (top,) = (root / A / "tier-1").iterdir()
    assert memory.doctor() == [
        Problem(
            f"{A}/tier-1/{top.name}",
            f"it waits: its source {source.stem} is not here, or can't be read",
            f"let the sync finish, or restore the file; `pyramid doctor --retire {top.stem}` gives it up",
        )
    ]


def test_a_reason_that_nobody_foresaw_still_has_a_fix() -> None:
    assert doctor.fix_for("something else") == "look at it in an editor"


def test_a_note_that_lies_where_the_card_does_is_hinted_at(memory: Memory, root: Path) -> None:
    write(root, "models/kitchen/kitchen.md", b"# Kitchen\n\nThe budget is 14,000 euros.\n")
    write(root, "models/garden/garden.md", b"---\ntype: model\n---\n# Garden\n\nBeds and paths.\n")
    write(root, "models/attic/attic.md", b"What is stored there.\n")
    (hint,) = memory.hints()
    assert hint.path == "models/kitchen/kitchen.md"
    assert "in no summary" in hint.reason
    assert "a name of its own" in hint.fix


@pytest.mark.parametrize("name", ["tier-0", "tier-12", "retired"])
def test_a_file_where_the_store_keeps_a_folder_is_named(memory: Memory, root: Path, name: str) -> None:
    write(root, f"models/alice/{name}", b"Some file.")
    assert [problem.path for problem in memory.doctor() if "a file where the store keeps" in problem.reason] == [
        f"models/alice/{name}"
    ]


def test_models_that_one_disk_takes_for_one_are_named(memory: Memory, root: Path) -> None:
    write(root, "models/Carol/x.md")
    write(root, "models/carol/y.md", b"Another text.")
    if sorted(path.name for path in (root / "models").iterdir() if path.name.lower() == "carol") != ["Carol", "carol"]:
        pytest.skip("this disk folds case")
    (found,) = memory.doctor()
    assert found.path == "models/carol"
    assert "for that of Carol" in found.reason


def test_the_way_out_of_a_broken_summary_is_one_that_holds_with_a_roll_up_above_it(memory: Memory, root: Path) -> None:
    for number in range(50):
        write(root, f"models/alice/n{number:02}.md", f"Note {number} tells of pump {number}.".encode())
        os.utime(root / f"models/alice/n{number:02}.md", (10**9 + number,) * 2)
    memory.advance()
    lowest = min(root.glob("models/alice/tier-0/*.md"))
    lowest.write_bytes(b"")
    fixes = {problem.path: problem.fix for problem in memory.doctor()}
    assert "`pyramid doctor --retire`" in fixes[lowest.relative_to(root).as_posix()]
    assert len(memory.retire(lowest.stem)) == 2
    memory.advance()
    assert (memory.doctor(), memory.verify().balances) == ([], True)

"""Which folder is meant, what making a vault adds, and what is read of it."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import files, layout, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import NotAVault, UnknownFormat, UsageError
from pyramid_fs.notes import Card, Note, Shaped, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_unreadable: set[str] = set()


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if _unreadable and event == "open" and str(args[0]) in _unreadable:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), args[0])


sys.addaudithook(_refuse)


@pytest.fixture
def unreadable() -> Iterator[set[str]]:
    """Files that the system opens for nobody, root included."""
    yield _unreadable
    _unreadable.clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend."})
    return tmp_path / "vault"


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def seen(root: Path, path: str) -> files.Seen:
    sig = files.look(root / path)
    assert sig
    return files.Seen(path, sig)


def write(root: Path, path: str, text: str | bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


# Making


def test_a_vault_is_made_once_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "notes" / "memory"
    made = vault.make_vault(root, models=vault.STARTERS)
    assert set(made) == set(contents(root))
    assert {"pyramid.toml", ".gitignore", ".gitattributes", "pyramid.base", "models/user/user.md"} <= set(made)
    assert all((root / folder).is_dir() for folder in layout.FOLDERS)
    before = contents(root)
    assert vault.make_vault(root, models=vault.STARTERS) == []
    assert contents(root) == before


def test_a_vault_in_an_obsidian_vault_leaves_all_that_is_there(tmp_path: Path) -> None:
    write(tmp_path, ".obsidian/app.json", "{}")
    write(tmp_path, ".gitignore", "mine\n")
    write(tmp_path, "topics/Mine.md", "A person's own note.")
    before = contents(tmp_path)
    vault.make_vault(tmp_path, models={})
    assert before.items() <= contents(tmp_path).items()
    assert vault.open_vault(tmp_path).settings.shape.batch_notes == 10


def test_a_new_vault_is_read_without_a_warning(root: Path) -> None:
    assert vault.open_vault(root).settings.warnings == ()


# Finding and opening


def test_the_vault_is_the_named_one_then_the_environment_s_then_the_nearest_above_then_the_default(root: Path) -> None:
    deep = root / "models" / "alice" / "2026-11"
    deep.mkdir()
    environ = {"PYRAMID_VAULT": "/from/environment"}
    assert vault.find_vault("/named", environ, deep, "/default").as_posix() == "/named"
    assert vault.find_vault(None, environ, deep, "/default").as_posix() == "/from/environment"
    assert vault.find_vault(None, {}, deep, "/default") == root
    assert vault.find_vault(None, {}, root.parent, "/default").as_posix() == "/default"
    with pytest.raises(NotAVault, match="pyramid init"):
        vault.find_vault(None, {}, root.parent, "")


def test_the_nearer_of_two_nested_vaults_is_meant(root: Path) -> None:
    inner = root / "topics" / "inner"
    vault.make_vault(inner, models={})
    assert vault.find_vault(None, {}, inner / "models", "") == inner


@pytest.mark.parametrize(("name", "hint"), [("gone", "there is no such folder"), ("empty", "it holds no pyramid.toml")])
def test_a_folder_that_is_no_vault_says_how_to_make_one(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotAVault, match=f"{hint}; `pyramid init"):
        vault.open_vault(tmp_path / name)


def test_settings_are_read_with_a_byte_order_mark_and_any_line_end(root: Path) -> None:
    write(root, "pyramid.toml", b'\xef\xbb\xbfformat = 1\r\ntimezone = "Asia/Tokyo"\r\n')
    assert vault.open_vault(root).settings.zone_name == "Asia/Tokyo"


def test_wrong_settings_name_file_and_key(root: Path) -> None:
    write(root, "pyramid.toml", 'format = 1\ntimezone = "Mars/Olympus"\n')
    with pytest.raises(UsageError, match=r"pyramid\.toml: `timezone`: there is no time zone 'Mars/Olympus'"):
        vault.open_vault(root)
    write(root, "pyramid.toml", "format = ")
    with pytest.raises(UsageError, match=r"pyramid\.toml can't be parsed"):
        vault.open_vault(root)


def test_a_vault_of_a_newer_format_opens_and_is_not_written(root: Path) -> None:
    write(root, "pyramid.toml", "format = 2\n[pyramid]\nbatch_notes = 'many'\n")
    opened = vault.open_vault(root)
    assert opened.page("models/alice/alice.md").text("description") == "A friend."
    with pytest.raises(UnknownFormat, match="newer version"):
        opened.write_allowed()


# Reading a file


def test_a_file_s_value_is_said_by_where_it_lies(root: Path) -> None:
    text = "---\ntype: model\ntitle: Beans\n---\nBeans.\n"
    kinds = {
        "models/alice/alice.md": Card,
        "models/alice/beans.md": Note,
        "models/alice/tier-0/alice-t0-0001-k3f9.md": Summary,
        "models/alice/tier-0/beans.md": Shaped,
        "models/alice/retired/alice-t0-0001-x7q2.md": Shaped,
        "topics/beans.md": Shaped,
    }
    opened = vault.open_vault(root)
    for path, kind in kinds.items():
        write(root, path, text)
        assert type(opened.value(seen(root, path))[0]) is kind, path
    for path in ("models/loose.md", "readme.md", "other/a.md"):
        write(root, path, text)
        assert opened.value(seen(root, path))[0] is None, path


def test_a_blank_note_is_none_yet_and_a_gone_one_is_told(root: Path) -> None:
    write(root, "models/alice/a.md", " \n\t\n")
    opened = vault.open_vault(root)
    there = seen(root, "models/alice/a.md")
    assert opened.value(there)[0] is None
    (root / "models/alice/a.md").unlink()
    with pytest.raises(FileNotFoundError):
        opened.value(there)


def test_a_file_that_may_not_be_read_is_a_problem_with_a_reason_and_a_date(root: Path, unreadable: set[str]) -> None:
    paths = ["models/alice/2026-11-02 walk.md", "models/alice/tier-0/alice-t0-0001-k3f9.md", "models/alice/alice.md"]
    for path in paths:
        write(root, path, "---\ntier: 0\n---\ntext")
        unreadable.add(str(root / path))
    opened = vault.open_vault(root)
    note, summary, card = (opened.value(seen(root, path))[0] for path in paths)
    assert isinstance(note, Note)
    assert (note.problem, note.digest, note.created.day) == ("it can't be read: permission denied", "", 2)
    assert isinstance(summary, Summary)
    assert isinstance(card, Card)
    assert summary.problem == card.problem == "it can't be read: permission denied"


def test_a_name_that_is_no_utf_8_is_a_problem(root: Path) -> None:
    path = os.fsdecode(b"models/alice/caf\xe9.md")
    write(root, path, "Coffee.")
    note, _ = vault.open_vault(root).value(seen(root, path))
    assert isinstance(note, Note)
    assert note.problem == "its name is not UTF-8: rename it"


# The ledger


def test_the_ledger_is_the_union_of_all_its_files_and_no_line_stops_the_others(
    root: Path, unreadable: set[str]
) -> None:
    opened = vault.open_vault(root)
    opened.add_to_ledger("k3f9m2", [{"source": "a#1", "made": 1}, {"source": "ä#2", "made": 0}])
    opened.add_to_ledger("k3f9m2", [])
    write(root, "ledger/x7q2p0.sync-conflict-20261129-201530-ABCDEFG.jsonl", '{"forgot": "9f"}\n{"half": ')
    write(root, "ledger/p2m7aa.jsonl", b'\xff\xfe\n[1, 2]\n"text"\n\n{"source": "b#3"}\n' + b"[" * 100_000)
    write(root, "ledger/.hidden.jsonl", '{"source": "no"}\n')
    write(root, "ledger/readme.md", '{"source": "no"}\n')
    write(root, "ledger/shut.jsonl", '{"source": "no"}\n')
    (root / "ledger" / "folder.jsonl").mkdir()
    unreadable.add(str(root / "ledger" / "shut.jsonl"))
    found = [entry.get("source") or entry.get("forgot") for entry in opened.ledger()]
    assert sorted(str(each) for each in found) == ["9f", "a#1", "b#3", "ä#2"]


def test_the_ledger_s_mark_changes_with_each_of_its_files(root: Path) -> None:
    opened = vault.open_vault(root)
    marks = [opened.ledger_mark()]
    opened.add_to_ledger("k3f9m2", [{"source": "a#1", "made": 1}])
    marks.append(opened.ledger_mark())
    write(root, "ledger/x7q2p0.jsonl", "{}\n")
    marks.append(opened.ledger_mark())
    (root / "ledger" / "k3f9m2.jsonl").unlink()
    marks.append(opened.ledger_mark())
    assert len(set(marks)) == 4


def test_a_page_is_what_its_bytes_say(root: Path) -> None:
    write(root, "models/alice/a.md", "---\nsource: x\n---\nText.\n")
    assert vault.open_vault(root).page("models/alice/a.md") == pages.read(b"---\nsource: x\n---\nText.\n")

"""What the vault holds now: embeds, cards, twins, tombstones, handles, and folders that can't be read."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, NoSuchHandle
from pyramid_fs.notes import Dated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.notes import Note

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
_shut: set[str] = set()


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if _shut and event in {"os.scandir", "os.listdir", "open"} and str(args[0]) in _shut:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), args[0])


sys.addaudithook(_refuse)


@pytest.fixture
def shut() -> Iterator[set[str]]:
    """Folders and files that the system opens for nobody, root included."""
    yield _shut
    _shut.clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": "", "carol": ""})
    return tmp_path / "vault"


def opened(root: Path, cache: str = "cache") -> Memory:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / cache), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    return Memory(root, environ=environ, clock=lambda: NOW)


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


def write(root: Path, path: str, text: str) -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    return root / path


def forget(root: Path, handle: str, text: str, file: str = "k3f9m2.jsonl") -> None:
    mark = hashlib.sha256(handle.encode()).hexdigest()
    with (root / "ledger" / file).open("a") as ledger:
        ledger.write(json.dumps({"forgot": mark, "digest": pages.digest(text), "at": "2026-11-29T00:00:00Z"}) + "\n")


def note(memory: Memory, model: str, handle: str) -> Note:
    (found,) = [note for note in memory.census.fresh(model).state.notes if note.handle == handle]
    return found


# Embeds


@pytest.mark.parametrize("link", ["x", "x.md", "x|the beans", "alice/x", "models/alice/x.md", "./x"])
def test_an_embed_has_text_digest_and_date_of_its_target(memory: Memory, root: Path, link: str) -> None:
    write(root, "models/alice/x.md", "---\ncreated: 2026-11-02\nsource: chat\ntitle: Beans\n---\nBeans cost 7 euros.\n")
    write(root, "models/bob/e.md", f"\n![[{link}]]\n")
    found = note(memory, "bob", "e")
    assert (found.digest, found.created.day, found.dated) == (pages.digest("Beans cost 7 euros."), 2, Dated.KEY)
    assert (found.text_path, found.source, found.problem) == ("models/alice/x.md", "chat", "")
    assert memory.load(["bob"]).models[0].recent[0].text == "Beans cost 7 euros."


@pytest.mark.parametrize("body", ["![[x#part]]", "![[x.png]]", "See ![[x]]", "![[x]] ![[x]]", "[[x]]"])
def test_what_is_more_or_less_than_one_embed_is_text(memory: Memory, root: Path, body: str) -> None:
    write(root, "models/alice/x.md", "Beans.")
    write(root, "models/bob/e.md", body)
    assert (note(memory, "bob", "e").digest, note(memory, "bob", "e").text_path) == (pages.digest(body), "")


def test_a_chain_of_embeds_ends_at_its_text(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "Beans.")
    for number, (model, target) in enumerate([("bob", "x"), ("carol", "e0"), ("bob", "e1"), ("carol", "e2")]):
        write(root, f"models/{model}/e{number}.md", f"![[{target}]]")
    assert {note(memory, model, f"e{n}").digest for n, model in enumerate(["bob", "carol"] * 2)} == {
        pages.digest("Beans.")
    }
    assert memory.expand("x").models == ("alice", "bob", "carol")
    assert memory.recall("beans").hits[0].models == ("alice", "bob", "carol")


@pytest.mark.parametrize("ring", [["e0"], ["e1", "e0"], ["e1", "e2", "e0"], [f"e{(n + 1) % 12}" for n in range(12)]])
def test_a_ring_of_embeds_is_a_problem_of_each(memory: Memory, root: Path, ring: list[str]) -> None:
    for number, target in enumerate(ring):
        write(root, f"models/bob/e{number}.md", f"![[{target}]]")
    state = memory.census.fresh("bob").state
    assert {note.problem for note in state.notes} == {"the embeds lead round in a ring"}
    assert len(memory.doctor()) == len(ring)


def test_an_embed_whose_target_is_gone_is_a_problem_until_it_comes(memory: Memory, root: Path) -> None:
    write(root, "models/bob/e.md", "![[x]]")
    assert note(memory, "bob", "e").problem == "the note it embeds is gone: x"
    write(root, "models/alice/deep/er/x.md", "Beans.")
    assert note(memory, "bob", "e").digest == pages.digest("Beans.")


def test_an_embed_of_one_of_several_is_a_problem_that_names_them(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "Beans.")
    write(root, "models/alice/sub/x.md", "Bears.")
    write(root, "models/bob/e.md", "![[x]]")
    write(root, "models/bob/f.md", "![[sub/x]]")
    memory.census.refresh()
    expected = "the note it embeds, x, is one of several: models/alice/sub/x, models/alice/x"
    assert note(memory, "bob", "e").problem == expected
    assert note(memory, "bob", "f").digest == pages.digest("Bears.")


def test_an_embed_means_the_note_of_its_own_model_first(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "Beans.")
    write(root, "models/bob/sub/x.md", "Bears.")
    write(root, "models/bob/e.md", "![[x]]")
    assert note(memory, "bob", "e").digest == pages.digest("Bears.")


def test_what_is_no_note_is_no_target(memory: Memory, root: Path) -> None:
    write(root, "topics/x.md", "A topic.")
    write(root, "models/alice/tier-0/alice-t0-0001-k3f9.md", "A summary.")
    write(root, "models/bob/e.md", "![[x]]")
    write(root, "models/bob/f.md", "![[alice-t0-0001-k3f9]]")
    write(root, "models/bob/g.md", "![[alice]]")
    assert all("is gone" in note(memory, "bob", handle).problem for handle in "efg")


def test_a_target_in_another_model_that_is_edited_broken_moved_or_gone_is_seen_at_once(
    memory: Memory, root: Path
) -> None:
    path = write(root, "models/alice/x.md", "Beans.")
    write(root, "models/bob/e.md", "![[x]]")
    assert note(memory, "bob", "e").digest == pages.digest("Beans.")
    path.write_text("Bears.")
    assert note(memory, "bob", "e").digest == pages.digest("Bears.")
    path.write_text("---\na: [\n---\nBears.")
    assert "can't be used" in note(memory, "bob", "e").problem
    path.write_text("Bears.")
    path.rename(write(root, "models/carol/sub/other.md", "").with_name("x.md"))
    assert note(memory, "bob", "e").text_path == "models/carol/sub/x.md"
    (root / "models/carol/sub/x.md").unlink()
    assert note(memory, "bob", "e").problem == "the note it embeds is gone: x"


def test_a_target_that_was_forgotten_is_gone(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "Beans.")
    write(root, "models/bob/e.md", "![[x]]")
    forget(root, "x", "Beans.")
    assert note(memory, "bob", "e").problem == "the note it embeds was forgotten: x"
    assert memory.verify().models[1].tail == 1


def test_an_embed_in_a_ring_with_a_broken_target_says_whose_fault_it_is(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "---\ncreated: never\n---\nBeans.")
    write(root, "models/bob/e.md", "![[x]]")
    assert note(memory, "bob", "e").problem.startswith("the note it embeds can't be used: its `created`")


def test_each_embed_of_a_chain_is_looked_up_in_its_own_model_first(memory: Memory, root: Path) -> None:
    for model in ("alice", "bob", "carol"):
        write(root, f"models/{model}/x.md", f"Of {model}.")
    write(root, "models/bob/e.md", "![[x]]")
    write(root, "models/carol/f.md", "![[e]]")
    assert note(memory, "carol", "f").digest == pages.digest("Of bob.")


def test_an_embed_that_was_forgotten_itself_is_no_note(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "Beans.")
    write(root, "models/bob/e.md", "![[x]]")
    forget(root, "e", "Beans.")
    forget(root, "x", "Beans.")
    assert memory.census.fresh("bob").state.notes == ()
    assert [line.notes for line in memory.verify().models] == [0, 0, 0]


# Tombstones


def test_a_tombstone_takes_the_file_of_that_handle_and_text_alone(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "Beans.")
    write(root, "models/alice/y.md", "Beans.")
    forget(root, "x", "Beans.")
    assert [n.handle for n in memory.census.fresh("alice").state.notes] == ["y"]
    assert [hit.handle for hit in memory.recall("beans").hits] == ["y"]
    assert [(p.path, p.fix) for p in memory.doctor()] == [("models/alice/x.md", "`pyramid forget x` removes it again")]
    with pytest.raises(NoSuchHandle, match="was forgotten"):
        memory.expand("x")
    write(root, "models/alice/x.md", "Other beans.")
    assert [n.handle for n in memory.census.fresh("alice").state.notes] == ["x", "y"]


def test_a_tombstone_that_arrives_by_sync_works_at_once(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "BEANS!")
    assert memory.map().models[0].notes == 1
    forget(root, "x", "beans", "k3f9m2.sync-conflict-20261129-201530-ABCDEFG.jsonl")
    assert memory.map().models[0].notes == 0
    assert memory.map().recent == ()
    assert memory.status().models[0].tail == 0


# Cards


def test_a_card_that_a_renamed_folder_stranded_is_the_model_s_card_and_no_note(memory: Memory, root: Path) -> None:
    write(root, "models/alice/x.md", "Beans.")
    (root / "models/alice").rename(root / "models/anna")
    now = memory.census.fresh("anna")
    assert now.card
    assert now.card.description == "A friend."
    assert [note.handle for note in now.state.notes] == ["x"]
    assert memory.map().models[0].description == "A friend."
    assert [(p.path, p.fix) for p in memory.doctor()] == [("models/anna/alice.md", "rename it to anna.md")]
    assert memory.verify().models[0].notes == 1


def test_a_card_of_its_own_name_wins_and_of_two_stranded_ones_neither_is_a_note(memory: Memory, root: Path) -> None:
    write(root, "models/alice/old.md", "---\ntype: model\ndescription: Old.\n---\n")
    now = memory.census.fresh("alice")
    assert now.card
    assert (now.card.description, len(now.state.notes)) == ("A friend.", memory.verify().models[0].notes)
    (root / "models/alice").rename(root / "models/anna")
    now = memory.census.fresh("anna")
    assert now.card
    assert (now.card.handle, now.state.notes) == ("alice", ())


def test_a_folder_without_a_card_is_a_model(memory: Memory, root: Path) -> None:
    write(root, "models/dora/x.md", "Beans.")
    assert memory.census.models() == ["alice", "bob", "carol", "dora"]
    assert memory.load(["dora"]).models[0].notes == 1


# Twins


def test_names_that_equal_but_for_composition_leave_one_note_and_one_problem(memory: Memory, root: Path) -> None:
    one, two = (unicodedata.normalize(form, "Näh") for form in ("NFC", "NFD"))
    write(root, f"models/alice/{one}.md", "Beans.")
    write(root, f"models/alice/{two}.md", "Bears.")
    found = {note.path: note.problem.split(" but")[0] for note in memory.census.fresh("alice").state.notes}
    assert found == {
        f"models/alice/{one}.md": "",
        f"models/alice/{two}.md": f"its name equals that of models/alice/{one}.md",
    }
    assert memory.doctor()[0].fix == "rename one of them"


# Handles


def test_a_handle_is_taken_in_any_spelling(memory: Memory, root: Path) -> None:
    write(root, "models/alice/sub/Näh.md", "Beans.")
    write(root, "models/bob/other.md", "Bears.")
    for spelled in (
        "Näh",
        unicodedata.normalize("NFD", "Näh"),
        "[[Näh|alias]]",
        "Näh.md",
        "sub/Näh",
        "models/alice/sub/Näh.md",
    ):
        assert memory.expand(spelled).text.text == "Beans."


def test_an_ambiguous_handle_lists_the_candidates_and_a_path_decides(memory: Memory, root: Path) -> None:
    for path in ("alice/x", "alice/sub/x", "bob/sub/x"):
        write(root, f"models/{path}.md", path)
    with pytest.raises(NoSuchHandle) as caught:
        memory.expand("x")
    assert str(caught.value) == (
        "'x' means several files; give more of the path: models/alice/sub/x, models/alice/x, models/bob/sub/x"
    )
    with pytest.raises(NoSuchHandle, match="means several files"):
        memory.expand("sub/x")
    assert memory.expand("bob/sub/x").text.text == "bob/sub/x"
    with pytest.raises(NoSuchHandle, match="no file 'y'"):
        memory.expand("y")
    with pytest.raises(NoSuchHandle, match="no file 'ub/x'"):
        memory.expand("ub/x")


# What can't be read is not gone


def _grown(root: Path, memory: Memory) -> None:
    for number in range(12):
        write(
            root,
            f"models/alice/sub/n{number:02d}.md",
            f"---\ncreated: 2026-11-{number + 1:02d}\n---\nNumber {number} costs 7 euros.",
        )
    memory.advance()


@pytest.mark.parametrize("cached", [True, False])
def test_a_model_with_a_folder_that_can_not_be_read_holds_still(
    memory: Memory, root: Path, shut: set[str], *, cached: bool
) -> None:
    _grown(root, memory)
    before = sorted(path for path in root.rglob("*"))
    shut.add(f"{root}/models/alice/sub")
    with memory if cached else opened(root, "other") as asked:
        for number in range(10):
            write(root, f"models/alice/m{number}.md", f"Number {number} costs 9 euros.")
        assert asked.advance().held == ("alice: models/alice/sub: the folder can't be read: permission denied",)
        status = asked.status()
        assert status.models[0].waiting[0] == "models/alice/sub: the folder can't be read: permission denied"
        assert status.models[0].due == 0
        assert [(p.path, p.fix) for p in status.problems] == [
            ("models/alice/sub", "give yourself the right to read it")
        ]
        assert asked.map().models[0].waiting == status.models[0].waiting
        shut.clear()
        assert sorted(path for path in root.rglob("*") if path.parent.name != "alice") == [
            path for path in before if path.parent.name != "alice"
        ]
        assert asked.map().models[0].waiting == ()
        assert asked.map().models[0].notes == 22
        assert len(asked.advance().written) == 1


def test_a_model_s_own_folder_that_can_not_be_read_is_an_error_for_load_and_no_trouble_for_others(
    memory: Memory, root: Path, shut: set[str]
) -> None:
    write(root, "models/bob/x.md", "Beans.")
    shut.add(f"{root}/models/alice")
    with pytest.raises(DiskError, match="models/alice can't be read"):
        memory.load(["alice"])
    assert memory.load(["bob"]).models[0].notes == 1
    assert [line.notes for line in memory.map().models] == [0, 1, 0]


@pytest.mark.parametrize("cached", [True, False])
def test_an_embed_whose_target_lies_in_a_shut_folder_answers_the_same_with_and_without_a_cache(
    memory: Memory, root: Path, shut: set[str], *, cached: bool
) -> None:
    write(root, "models/alice/sub/x.md", "Beans.")
    write(root, "models/bob/e.md", "![[x]]")
    assert memory.map().models[1].waiting == ()
    shut.add(f"{root}/models/alice/sub")
    with memory if cached else opened(root, "other") as asked:
        assert asked.map().models[1].waiting == ("e needs a person: pyramid doctor",)
        assert asked.status().models[1].waiting == ("e needs a person: pyramid doctor",)
        shut.clear()
        assert asked.map().models[1].waiting == ()


def test_a_vault_that_is_not_there_any_more_is_an_error_and_nothing_is_taken_as_deleted(
    memory: Memory, root: Path
) -> None:
    write(root, "models/alice/x.md", "Beans.")
    assert memory.map().models[0].notes == 1
    root.rename(root.with_name("elsewhere"))
    for ask in (memory.map, memory.status, lambda: memory.load(["alice"]), memory.advance):
        with pytest.raises(DiskError):
            ask()
    root.mkdir()
    for again in (memory.map, memory.status, memory.doctor):
        with pytest.raises(DiskError, match="not mounted"):
            again()
    root.rmdir()
    root.with_name("elsewhere").rename(root)
    assert memory.map().models[0].notes == 1


def test_a_note_that_may_not_be_read_is_a_problem_and_stays_covered(memory: Memory, root: Path, shut: set[str]) -> None:
    _grown(root, memory)
    path = root / "models/alice/sub/n03.md"
    shut.add(str(path))
    os.utime(path)  # so that it is looked at again
    state = memory.census.fresh("alice").state
    assert [n.problem for n in state.notes if n.handle == "n03"] == ["it can't be read: permission denied"]
    assert (len(state.covered), len(state.tail)) == (10, 2)

"""Notes from elsewhere: streamed, dated as they were, in their order, as they are, and never twice."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, layout, vault
from pyramid_fs.errors import IllegalName, UnknownFormat, UsageError
from pyramid_fs.importers import jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.importers import Imported

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
OLD = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC).timestamp()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend."})
    return tmp_path / "vault"


def environ(root: Path, cache: str = "cache") -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(root.parent / cache), "PYRAMID_CONFIG": str(root.parent / "config.toml")}


def opened(root: Path, cache: str = "cache", now: datetime = NOW) -> Memory:
    return Memory(root, environ=environ(root, cache), clock=lambda: now)


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


def contents(root: Path, below: str = "models") -> dict[str, bytes]:
    files = (path for path in sorted((root / below).rglob("*")) if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def lines(path: Path, *entries: dict[str, Any] | str | bytes) -> Path:
    spelled = (e if isinstance(e, bytes) else (e if isinstance(e, str) else json.dumps(e)).encode() for e in entries)
    path.write_bytes(b"\n".join(spelled) + b"\n")
    os.utime(path, (OLD, OLD))
    return path


def many(path: Path, count: int) -> Path:
    entries: list[dict[str, Any] | str | bytes] = []
    for number in range(count):
        models = ["alice", "bob"] if number % 5 == 0 else ["alice"]
        entry = {"models": models, "text": f"Number {number} costs {number} euros.", "source": "chat:5f0c"}
        if number % 3:
            entry["created"] = f"2026-01-{number % 9 + 1:02d}"
        entries.append(entry)
    return lines(path, *entries)


def ordered(memory: Memory, model: str) -> list[str]:
    found = sorted(memory.census.fresh(model).state.notes, key=lambda note: (note.created, note.handle))
    return [memory.vault.page(note.text_path or note.path).body for note in found]


# Lines of JSON


def test_a_line_is_a_note_of_its_models_date_and_source(memory: Memory, tmp_path: Path) -> None:
    text = '  {"as": "it was"}\r\n日本語\u2028'
    entry = {
        "models": ["alice", "dora", "alice"],
        "text": text,
        "created": "2025-03-04T05:06:07+02:00",
        "source": "chat:1",
    }
    found = memory.import_jsonl(lines(tmp_path / "in.jsonl", entry))
    assert (found.read, found.notes, found.files, found.known, found.models, found.bad) == (1, 1, 2, 0, ["dora"], [])
    (note,) = memory.census.fresh("alice").state.notes
    assert (note.created, note.source) == (datetime(2025, 3, 4, 3, 6, 7, tzinfo=UTC), "chat:1")
    assert note.handle.startswith("2025-03-04-030607-")
    assert ordered(memory, "alice") == ordered(memory, "dora") == ['  {"as": "it was"}\n日本語']
    assert memory.map().models[1].name == "dora"
    assert memory.verify().balances


def test_a_bad_line_is_named_and_passed_over(memory: Memory, root: Path, tmp_path: Path) -> None:
    good = {"model": "alice", "text": "Good."}
    path = lines(
        tmp_path / "in.jsonl", good, "not json", "", "[1]", '"text"', b'{"text": "caf\xe9"}', "[" * 100_000,
        {"text": "No model."}, {"model": 3, "text": "x"}, {"model": "", "text": "x"}, {"models": [], "text": "x"},
        {"model": "alice"}, {"model": "alice", "text": " \n"}, {"model": "alice", "text": 5},
        {"model": "alice", "text": "nul\0"}, {"model": "alice", "text": "half \ud800"},
        {"model": "alice", "text": "x", "created": "yesterday"}, {"model": "alice", "text": "x", "created": 17},
        {"model": "alice", "text": "x", "created": "2026-02-30"}, {"model": "alice", "text": "x", "source": ["a"]},
        {"model": "../bob", "text": "x"}, {"model": "CON", "text": "x"}, {"model": ".git", "text": "x"},
        {**good, "text": "Last."},
    )  # fmt: skip
    found = memory.import_jsonl(path)
    assert found.notes == 2
    assert [line.split(":")[0] for line in found.bad] == [f"line {n}" for n in (2, *range(4, 24))]
    assert found.bad[0] == "line 2: it is not JSON"
    assert found.bad[4].startswith("line 7: it is not JSON")
    assert "'yesterday'" in found.bad[14]
    assert ordered(memory, "alice") == ["Good.", "Last."]
    assert [path.name for path in (root / "models").iterdir()] == ["alice"]


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"model": "alice", "text": "One."}\r\n\r\n{"model": "alice", "text": "Two."}')
    assert (memory.import_jsonl(path).notes, ordered(memory, "alice")) == (2, ["One.", "Two."])


def test_the_order_of_the_input_is_kept_for_equal_and_missing_dates(memory: Memory, tmp_path: Path) -> None:
    texts = [f"Number {number} of many." for number in (5, 3, 9, 1, 7, 2)]
    path = lines(tmp_path / "in.jsonl", *({"model": "alice", "text": text, "created": "2026-01-02"} for text in texts))
    memory.import_jsonl(path)
    assert ordered(memory, "alice") == texts
    memory.import_jsonl(lines(tmp_path / "in2.jsonl", *({"model": "bob", "text": text} for text in texts)))
    assert ordered(memory, "bob") == texts
    assert {note.created.year for note in memory.census.now("bob").state.notes} == {2024}


def test_a_time_without_a_zone_is_taken_in_the_vault_s(root: Path, tmp_path: Path) -> None:
    (root / "pyramid.toml").write_text('format = 1\ntimezone = "Asia/Tokyo"\n')
    with opened(root) as memory:
        memory.import_jsonl(
            lines(tmp_path / "in.jsonl", {"model": "alice", "text": "x", "created": "2026-01-02 03:04"})
        )
        assert memory.census.fresh("alice").state.notes[0].created == datetime(2026, 1, 1, 18, 4, tzinfo=UTC)


def test_a_default_model_is_for_the_lines_that_name_none(memory: Memory, tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", {"text": "One."}, {"model": "bob", "text": "Two."})
    assert memory.import_jsonl(path, model="dora").models == ["dora", "bob"]
    assert (ordered(memory, "dora"), ordered(memory, "bob")) == (["One."], ["Two."])


def test_a_model_that_is_there_but_for_case_and_composition_is_meant(
    memory: Memory, root: Path, tmp_path: Path
) -> None:
    memory.create_model("Zo\u00eb")
    path = lines(
        tmp_path / "in.jsonl",
        {"model": "ALICE", "text": "One."},
        {"models": ["zoe\u0308", "Dora"], "text": "Two."},
        {"model": "dora", "text": "Three."},
    )
    assert memory.import_jsonl(path).models == ["Dora"]
    assert sorted(path.name for path in (root / "models").iterdir()) == ["Dora", "Zo\u00eb", "alice"]
    assert ordered(memory, "Dora") == ["Two.", "Three."]


def test_a_model_that_was_archived_takes_no_imported_note(memory: Memory, root: Path, tmp_path: Path) -> None:
    memory.archive_model("alice")
    path = lines(tmp_path / "in.jsonl", {"model": "alice", "text": "One."}, {"model": "bob", "text": "Two."})
    found = memory.import_jsonl(path)
    assert found.bad == ["line 1: model 'alice' is archived; `pyramid model unarchive alice` brings it back"]
    assert (found.notes, found.models) == (1, ["bob"])
    found = memory.import_markdown(write(tmp_path / "in", {"alice/x.md": b"One."}))
    assert found.bad == ["alice/x.md: model 'alice' is archived; `pyramid model unarchive alice` brings it back"]
    assert sorted(contents(root, "models/alice")) == ["models/alice/alice.md"]


def test_lines_are_read_one_by_one_and_each_is_written_before_the_next_is_read(memory: Memory, root: Path) -> None:
    seen: list[int] = []

    def given() -> Iterator[bytes]:
        for number in range(5):
            seen.append(len(list((root / "models" / "alice").rglob("2026-*.md"))))
            yield json.dumps({"model": "alice", "text": f"Number {number}.", "created": "2026-01-02"}).encode()

    told: list[int] = []
    jsonl.bring_in(memory._tools(), given(), "", NOW, dry=False, step=told.append)
    assert seen == [0, 1, 2, 3, 4]
    assert len(told) == 5


def test_a_dry_run_says_the_same_and_writes_nothing(memory: Memory, root: Path, tmp_path: Path) -> None:
    path, before = many(tmp_path / "in.jsonl", 12), contents(root, ".")
    dry = memory.import_jsonl(path, dry=True)
    assert contents(root, ".") == before
    assert dry == memory.import_jsonl(path)
    assert (dry.notes, dry.files, dry.models) == (12, 15, ["bob"])


def test_a_second_run_adds_nothing(memory: Memory, root: Path, tmp_path: Path) -> None:
    path = many(tmp_path / "in.jsonl", 12)
    memory.import_jsonl(path)
    before = contents(root, ".")
    found = memory.import_jsonl(path)
    assert (found.notes, found.files, found.known) == (0, 0, 12)
    assert contents(root, ".") == before
    shutil.rmtree(root / "ledger")
    found = memory.import_jsonl(path)
    assert (found.notes, found.files, found.known) == (0, 0, 12)
    assert contents(root) == {name: data for name, data in before.items() if name.startswith("models")}
    assert memory.import_jsonl(lines(tmp_path / "twice.jsonl", *[{"model": "alice", "text": "x"}] * 3)).notes == 1


def test_a_note_that_was_deleted_edited_or_moved_is_not_brought_back(
    memory: Memory, root: Path, tmp_path: Path
) -> None:
    sources = ["plain", "odd\u2028\x85\u2029", "#"]
    entries = [{"model": "alice", "text": f"From {n}.", "source": s} for n, s in enumerate(sources)]
    path = lines(tmp_path / "in.jsonl", *entries)
    memory.import_jsonl(path)
    gone, edited, moved = sorted((root / "models" / "alice").rglob("*from-*.md"))
    gone.unlink()
    edited.write_text("Edited.")
    moved.rename(root / "models" / "alice" / "mine.md")
    before = contents(root)
    assert memory.import_jsonl(path).known == 3
    assert contents(root) == before


def test_more_lines_at_the_end_add_only_those(memory: Memory, tmp_path: Path) -> None:
    memory.import_jsonl(many(tmp_path / "in.jsonl", 5))
    found = memory.import_jsonl(many(tmp_path / "in.jsonl", 9))
    assert (found.notes, found.known) == (4, 5)
    assert memory.verify().models[0].notes == 9


def test_another_machine_with_another_clock_makes_the_same_files_byte_for_byte(root: Path, tmp_path: Path) -> None:
    path = many(tmp_path / "in.jsonl", 12)
    shutil.copytree(root, tmp_path / "copy")
    with opened(root) as here, opened(tmp_path / "copy", "other", NOW + timedelta(days=99)) as there:
        here.import_jsonl(path)
        there.import_jsonl(path)
        assert contents(root) == contents(tmp_path / "copy")
        shutil.copytree(tmp_path / "copy" / "ledger", root / "ledger", dirs_exist_ok=True)
        assert len(contents(root, "ledger")) == 2
        assert here.import_jsonl(path).known == 12


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from pyramid_fs import Memory
    from pyramid_fs.importers import jsonl
    seen = 0
    def step(_):
        global seen
        seen += 1
        if seen > int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
    jsonl.LINES = 4
    with Memory(sys.argv[1]) as memory:
        getattr(memory, sys.argv[4])(Path(sys.argv[2]), step=step)
"""


@pytest.mark.parametrize("after", [0, 1, 7, 11])
def test_an_import_that_was_killed_goes_on_where_it_stopped(root: Path, tmp_path: Path, after: int) -> None:
    path = many(tmp_path / "in.jsonl", 12)
    shutil.copytree(root, tmp_path / "copy")
    words = [sys.executable, "-c", textwrap.dedent(KILLED), str(root), str(path), str(after), "import_jsonl"]
    assert subprocess.run(words, env={**os.environ, **environ(root)}, check=False).returncode == -signal.SIGKILL
    with opened(root) as memory, opened(tmp_path / "copy", "other") as whole:
        found = memory.import_jsonl(path)
        whole.import_jsonl(path)
        assert found.notes + found.known == 12
        assert found.notes == 12 - after
        assert contents(root) == contents(tmp_path / "copy")
        assert memory.import_jsonl(path).known == 12


def test_what_is_no_file_and_a_newer_vault_are_refused(memory: Memory, root: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "gone.jsonl", tmp_path):
        with pytest.raises(UsageError, match="is no file"):
            memory.import_jsonl(path)
    with pytest.raises(UsageError, match="is no folder"):
        memory.import_markdown(tmp_path / "gone")
    (root / "pyramid.toml").write_text("format = 2\n")
    with opened(root) as newer:
        for run in (newer.import_jsonl, newer.import_markdown):
            with pytest.raises(UnknownFormat):
                run(tmp_path)


# Markdown

NOTES = {
    "Kitchen.md": b"---\ntitle: Kitchen\n---\r\nThe sink drips.\r\n",
    "alice/Näh & co.md": b"Sewing on Mondays.\n",
    "alice/deep/er/walk.md": b"Walks.",
    "alice/broken.md": b"---\na: [\n---\nStill text.",
    "alice/latin.md": b"caf\xe9",
    "alice/tier-0/alice-t0-0001-k3f9.md": b"Another tool's tier.",
    "alice/retired/old.md": b"Another tool's old note.",
    "alice/alice.md": b"A note that is named like its folder.",
    "alice/blank.md": b" \n\t\n",
    "Bücher/Dune.MD": b"Sand.",
}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for number, (name, data) in enumerate(files.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        os.utime(folder / name, ns=(10**18, 1_600_000_000_123_456_789 + number * 10**12))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = write(tmp_path / "Old Notes", NOTES)
    write(folder, {".obsidian/x.md": b"x", "alice/.trash/y.md": b"y", "alice/picture.png": b"z", "a.txt": b"no"})
    (folder / "alice" / "linked.md").symlink_to(folder / "Kitchen.md")
    return folder


def test_files_are_copied_as_they_are_with_their_names_and_times_and_folders_become_models(
    memory: Memory, root: Path, folder: Path
) -> None:
    card = (root / "models/alice/alice.md").read_bytes()
    found = memory.import_markdown(folder)
    assert (found.read, found.notes, found.skipped, found.bad) == (10, 9, 1, [])
    assert found.models == ["Bücher", "old-notes"]
    places = {name: name for name in NOTES if name.startswith("alice/")} | {
        "Kitchen.md": "old-notes/Kitchen.md",
        "Bücher/Dune.MD": "Bücher/Dune.MD",
        "alice/tier-0/alice-t0-0001-k3f9.md": "alice/tier-0-notes/alice-t0-0001-k3f9.md",
        "alice/retired/old.md": "alice/retired-notes/old.md",
    }
    del places["alice/blank.md"], places["alice/alice.md"]
    for name, place in places.items():
        assert (root / "models" / place).read_bytes() == NOTES[name], name
        assert (root / "models" / place).stat().st_mtime_ns == (folder / name).stat().st_mtime_ns, name
    assert (root / "models/alice/alice.md").read_bytes() == card
    (renamed,) = (root / "models/alice").glob("alice-????.md")
    assert renamed.read_bytes() == NOTES["alice/alice.md"]
    assert not (root / "models/alice/linked.md").exists()
    assert [line.notes for line in memory.map().models] == [1, 7, 1]
    assert memory.verify().balances


def test_all_go_to_one_model_that_is_named_and_keep_their_folders(memory: Memory, root: Path, folder: Path) -> None:
    found = memory.import_markdown(folder, model="dora")
    assert found.models == ["dora"]
    assert (root / "models/dora/Kitchen.md").is_file()
    assert (root / "models/dora/alice/deep/er/walk.md").is_file()
    assert memory.map().models[1].notes == 9
    with pytest.raises(IllegalName):
        memory.import_markdown(folder, model="a/b")


def test_a_name_that_not_every_system_holds_is_made_anew_and_said(memory: Memory, root: Path, tmp_path: Path) -> None:
    odd = {
        "alice/CON.md": b"Said of no console.",
        'alice/\xdc "q".md': b"---\ntitle: Mine\nx: [ 1 ]\n---\nQuoted.\r\n",
        "alice/ird: x/deep/a.md": b"In a folder.",
        "alice/ird: x/a|b.md": b"In it.",
        "alice/---.md": b"---\ntitle: 'Lamps: lit'\n---\nOil.",
        "alice/--.md": b"Green tea for two.",
        "alice/-.md": b"...",
    }
    fine = {"alice/\U0001f41f fish.md": b"A.", "alice/Cafe\u0301.md": b"B.", f"alice/{'x' * 252}.md": b"C."}
    folder = write(tmp_path / "in", odd | fine)
    dry = memory.import_markdown(folder, dry=True)
    found = memory.import_markdown(folder)
    assert found == dry
    assert (found.read, found.notes, found.bad, set(found.renamed)) == (10, 10, [], set(odd))
    for old, new in found.renamed.items():
        assert (root / "models" / new).read_bytes() == odd[old]
        assert all(layout.legal(part) for part in new.removesuffix(".md").split("/"))
    for name, data in fine.items():
        assert (root / "models" / name).read_bytes() == data
    shown = {old: re.sub(r"-[0-9a-z]{4}(?=[./])", "-????", new) for old, new in found.renamed.items()}
    assert shown == {
        "alice/CON.md": "alice/con-????.md",
        'alice/\xdc "q".md': "alice/\xfc-q-????.md",
        "alice/ird: x/deep/a.md": "alice/ird-x-????/deep/a.md",
        "alice/ird: x/a|b.md": "alice/ird-x-????/a-b-????.md",
        "alice/---.md": "alice/lamps-lit-????.md",
        "alice/--.md": "alice/green-tea-for-two-????.md",
        "alice/-.md": "alice/note-????.md",
    }
    before = contents(root)
    shutil.rmtree(root / "ledger")
    assert memory.import_markdown(folder).known == 10
    assert contents(root) == before


def test_a_second_run_copies_nothing_whatever_became_of_the_copies(memory: Memory, root: Path, folder: Path) -> None:
    memory.import_markdown(folder)
    (root / "models/alice/deep/er/walk.md").write_text("Edited here.")
    (root / "models/Bücher/Dune.MD").unlink()
    (root / "models/old-notes/Kitchen.md").rename(root / "models/old-notes/Sink.md")
    before = contents(root, ".")
    found = memory.import_markdown(folder)
    assert (found.notes, found.known) == (0, 9)
    assert contents(root, ".") == before


def test_nor_does_one_without_the_ledger_while_the_copies_are_as_they_were(
    memory: Memory, root: Path, folder: Path
) -> None:
    memory.import_markdown(folder)
    before = contents(root)
    shutil.rmtree(root / "ledger")
    assert memory.import_markdown(folder).known == 9
    assert contents(root) == before


def test_a_file_that_changed_where_it_came_from_comes_beside_the_copy(memory: Memory, root: Path, folder: Path) -> None:
    memory.import_markdown(folder)
    write(folder, {"Kitchen.md": b"The sink is mended."})
    assert memory.import_markdown(folder).notes == 1
    assert (root / "models/old-notes/Kitchen.md").read_bytes() == NOTES["Kitchen.md"]
    (beside,) = (root / "models/old-notes").glob("Kitchen-????.md")
    assert beside.read_bytes() == b"The sink is mended."


def test_a_name_that_another_text_has_here_gets_a_suffix_that_two_machines_agree_on(root: Path, tmp_path: Path) -> None:
    (root / "models/alice/walk.md").write_text("Mine.")
    shutil.copytree(root, tmp_path / "copy")
    folder = write(tmp_path / "in", {"walk.md": b"Theirs."})
    with opened(root) as here, opened(tmp_path / "copy", "other", NOW + timedelta(days=3)) as there:
        here.import_markdown(folder, model="alice")
        there.import_markdown(folder, model="alice")
    assert (root / "models/alice/walk.md").read_text() == "Mine."
    assert len(contents(root)) == 3
    assert contents(root) == contents(tmp_path / "copy")


def test_a_dry_run_of_files_says_the_same_and_copies_nothing(memory: Memory, root: Path, folder: Path) -> None:
    before = contents(root, ".")
    dry = memory.import_markdown(folder, dry=True)
    assert contents(root, ".") == before
    assert dry == memory.import_markdown(folder)


def test_folders_that_equal_a_model_but_for_case_go_there_and_illegal_ones_are_named(
    memory: Memory, root: Path, tmp_path: Path
) -> None:
    folder = write(tmp_path / "in", {"ALICE/x.md": b"One.", "con/y.md": b"Two.", "ok/z.md": b"Three."})
    found = memory.import_markdown(folder)
    assert (found.notes, found.models) == (2, ["ok"])
    assert [line.split(":")[0] for line in found.bad] == ["con/y.md"]
    assert (root / "models/alice/x.md").is_file()


@pytest.mark.parametrize("after", [1, 4])
def test_a_copy_that_was_killed_goes_on_and_every_note_has_its_own_time(root: Path, folder: Path, after: int) -> None:
    words = [sys.executable, "-c", textwrap.dedent(KILLED), str(root), str(folder), str(after), "import_markdown"]
    assert subprocess.run(words, env={**os.environ, **environ(root)}, check=False).returncode == -signal.SIGKILL
    half = [path for path in (root / "models").rglob("*") if path.is_file() and path.name != "alice.md"]
    for path in half:
        os.utime(path)  # killed between the bytes and the times
    with opened(root) as memory:
        found = memory.import_markdown(folder)
        assert found.notes + found.known == 9
        dates = {
            note.created.year for model in memory.census.models() for note in memory.census.fresh(model).state.notes
        }
        assert dates == {2020}


def test_whatever_was_imported_grows_like_any_other_note(memory: Memory, tmp_path: Path) -> None:
    run: Callable[..., Imported] = memory.import_jsonl
    run(many(tmp_path / "in.jsonl", 25))
    assert len(memory.advance().written) == 2
    assert memory.verify().balances
    assert memory.verify().models[0].covered == 20


def test_a_folder_whose_import_was_cut_off_brings_back_nothing_that_was_forgotten_since(
    root: Path, memory: Memory, tmp_path: Path
) -> None:
    folder = tmp_path / "garden"
    folder.mkdir()
    (folder / "beans.md").write_text("The key lies under the third stone.\n")
    (folder / "peas.md").write_text("Sown in March.\n")
    assert memory.import_markdown(folder, model="alice").notes == 2
    for path in (root / "ledger").iterdir():  # as a kill before its first write of the ledger leaves it
        path.unlink()
    memory.forget("beans")
    found = memory.import_markdown(folder, model="alice")
    assert (found.read, found.notes, found.known) == (2, 0, 2)
    assert not (root / "models/alice/beans.md").exists()
    assert memory.doctor() == []

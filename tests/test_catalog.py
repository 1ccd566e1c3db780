"""The catalog remembers and never knows better: nothing is read twice, no change missed, no damage changes answers."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, catalog, files, kinds, layout, rows, tables, vault
from pyramid_fs import format as pages
from pyramid_fs.catalog import Catalog
from pyramid_fs.cli.common import plain
from pyramid_fs.files import Seen, Sig
from pyramid_fs.notes import Card, Dated, Kind, Note, Shaped, Source, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.notes import File

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
LONG_AGO = 1_700_000_000_000_000_000


class Folder:
    """Files as values: a path's signature and text, and a count of how often each was read."""

    def __init__(self, *paths: str) -> None:
        self.files = {
            path: (Sig(10, LONG_AGO, LONG_AGO, number), f"Text of {path.encode('utf-8', 'replace').decode()}")
            for number, path in enumerate(paths)
        }
        self.reads: list[str] = []

    def walk(self, scope: str = "") -> list[Seen]:
        return [Seen(path, sig) for path, (sig, _) in self.files.items() if path.startswith(scope)]

    def change(self, path: str, text: str = "Other text", **sig: int) -> None:
        self.files[path] = (Sig(**{**self.files[path][0]._asdict(), **sig}), text)

    def read(self, seen: Seen) -> tuple[File | None, str]:
        self.reads.append(seen.path)
        if seen.path not in self.files:
            raise FileNotFoundError(seen.path)
        place = layout.place(seen.path)
        assert place
        data = self.files[seen.path][1].encode()
        return kinds.read(seen.path, place, pages.read(data), NOW, UTC), rows.mark(data)

    def update(self, known: Catalog, *scopes: str) -> list[str]:
        """Bring a catalog up to date and give what was read for it."""
        self.reads.clear()
        seen = [found for scope in scopes or ("",) for found in self.walk(f"{scope}/" if scope else "")]
        known.update(scopes, seen, [], self.read)
        return self.reads[:]


A, B, C = "models/alice/a.md", "models/alice/2026-11/b.md", "models/bob/c.md"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "catalog.sqlite3"


@pytest.fixture
def open_catalog(base: Path) -> Iterator[Callable[..., Catalog]]:
    opened: list[Catalog] = []

    def make(key: str = "UTC", path: Path | None = base) -> Catalog:
        opened.append(Catalog(path, key))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def digest(known: Catalog, path: str) -> str:
    row = known.row(path)
    assert row
    assert isinstance(row.file, Note)
    return row.file.digest


# Nothing is read twice


def test_a_file_is_read_once_and_never_again_also_by_the_next_process(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A, B, C, "topics/t.md"), open_catalog()
    assert folder.update(known) == [A, B, C, "topics/t.md"]
    assert folder.update(known) == []
    assert folder.update(open_catalog()) == []
    assert folder.update(open_catalog(), "models/alice") == []
    assert digest(open_catalog(), A) == pages.digest(f"Text of {A}")


@pytest.mark.parametrize("part", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_a_change_of_any_part_of_a_signature_is_read_and_that_file_alone(
    open_catalog: Callable[..., Catalog], part: str
) -> None:
    folder, known = Folder(A, B, C), open_catalog()
    folder.update(known)
    folder.change(B, "Other text", **{part: 77})
    other = open_catalog()
    assert folder.update(known) == [B]
    assert digest(known, B) == pages.digest("Other text")
    assert folder.update(other, "models/alice") == []  # the first has kept it for all
    assert digest(other, B) == pages.digest("Other text")


def test_only_what_was_asked_for_is_read(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A, C), open_catalog()
    assert folder.update(known, "models/bob") == [C]
    assert not known.walked
    assert folder.update(known) == [A]
    assert known.walked
    assert open_catalog().walked


def test_a_file_that_changed_a_moment_ago_is_read_again_until_its_clock_has_moved_on(
    open_catalog: Callable[..., Catalog],
) -> None:
    folder, now = Folder(A, B, C), time.time_ns()
    folder.change(A, "one", mtime_ns=now - 1_000_000_000, ctime_ns=now - 1_000_000_000)
    folder.change(B, "one", ctime_ns=now - 1_900_000_000)  # somebody set its time back
    folder.change(C, "one", mtime_ns=now - 2_100_000_000, ctime_ns=now - 2_100_000_000)
    known = open_catalog()
    folder.update(known)
    folder.change(A, "two")  # the same signature, as within one tick of a clock
    assert folder.update(known) == [A, B]
    assert digest(known, A) == pages.digest("two")
    assert folder.update(open_catalog()) == [A, B]
    assert catalog.DOUBT_NS == 2_000_000_000


def test_a_file_that_was_just_written_is_known_and_in_doubt(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A), open_catalog()
    folder.update(known)
    folder.files[B] = (Sig(1, LONG_AGO, LONG_AGO, 9), "Written.")
    note, mark = folder.read(Seen(B, folder.files[B][0]))
    assert note
    known.put(B, folder.files[B][0], note, mark)
    assert digest(known, B) == pages.digest("Written.")
    assert folder.update(known) == [B]
    assert folder.update(known) == []


# What is new, changed and gone


def test_a_change_names_files_and_models(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A, B, C), open_catalog()
    folder.update(known)
    folder.change(A, inode=99)
    del folder.files[C]
    folder.files["topics/t.md"] = (Sig(1, LONG_AGO, LONG_AGO, 5), "A topic.")
    change = known.update([], folder.walk(), [], folder.read)
    assert (sorted(change.paths), change.models) == (sorted([A, C, "topics/t.md"]), {"alice", "bob"})
    again = known.update([], folder.walk(), [], folder.read)
    assert (again.paths, again.models) == ([], set())


def test_a_file_that_was_touched_and_says_the_same_is_no_change(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A), open_catalog()
    folder.update(known)
    folder.change(A, f"Text of {A}", inode=99)
    assert known.update([], folder.walk(), [], folder.read).paths == []


def test_what_lies_in_a_folder_that_is_shut_is_not_gone(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A, B, C), open_catalog()
    folder.update(known)
    open_files = [seen for seen in folder.walk() if seen.path == A]
    change = known.update([], open_files, ["models/alice/2026-11", "models/bob"], folder.read)
    assert change.paths == []
    assert known.row(B)
    assert known.update([], open_files, [], folder.read).paths == [B, C]
    assert open_catalog().row(B) is None


def test_a_file_that_goes_while_it_is_looked_at_is_gone(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A, B), open_catalog()
    folder.update(known)
    seen = [*(Seen(path, sig._replace(inode=99)) for path, (sig, _) in folder.files.items()), *Folder(C).walk()]
    del folder.files[A]
    known.update([], seen, [], folder.read)
    assert (known.row(A), known.row(C)) == (None, None)
    assert known.row(B)


def test_single_files_are_brought_up_to_date_by_their_stat(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A, B, C), open_catalog()
    folder.update(known)
    folder.change(A, inode=99)
    folder.reads.clear()
    later = open_catalog()
    change = later.refresh(
        [(A, folder.files[A][0]), (B, folder.files[B][0]), (C, None), ("models/x/y.md", None)], folder.read
    )
    assert (folder.reads, change.paths, change.models) == ([A], [A, C], {"alice", "bob"})


@pytest.mark.parametrize("stored", [True, False])
def test_whoever_embeds_a_changed_note_changes_too_through_any_number_of_embeds(
    open_catalog: Callable[..., Catalog], base: Path, *, stored: bool
) -> None:
    folder = Folder(A, B, C)
    folder.change(C, "![[models/alice/a.md|the first]]")
    folder.files["models/carol/d.md"] = (Sig(1, LONG_AGO, LONG_AGO, 11), "![[c]]")
    folder.files["models/dora/e.md"] = (Sig(1, LONG_AGO, LONG_AGO, 12), "![[d]]")
    known = open_catalog(path=base if stored else None)
    folder.update(known)
    folder.change(A, inode=99)
    asked = open_catalog() if stored else known
    change = asked.refresh([(A, folder.files[A][0])], folder.read)
    assert change.models == {"alice", "bob", "carol", "dora"}


def test_files_are_found_by_handle_and_digest_before_and_after_all_is_loaded(
    open_catalog: Callable[..., Catalog],
) -> None:
    folder = Folder(A, C, "models/bob/a.md", "models/carol/Ä.md")
    folder.change(C, f"text OF {A}")
    folder.update(open_catalog())
    for known in (open_catalog(), open_catalog(path=None)):
        if not known.walked:
            folder.update(known)
        assert known.paths_of("a") == [A, "models/bob/a.md"]
        assert known.paths_of("Ä") == ["models/carol/Ä.md"]
        assert known.paths_of("none") == []
        assert known.with_digest(pages.digest(f"Text of {A}")) == [A, C]
        folder.update(known)
        assert known.paths_of("a") == [A, "models/bob/a.md"]
        assert known.with_digest(pages.digest(f"Text of {A}")) == [A, C]


def test_a_name_that_is_no_utf_8_is_remembered_for_the_moment_and_breaks_nothing(
    open_catalog: Callable[..., Catalog],
) -> None:
    odd = os.fsdecode(b"models/alice/caf\xe9.md")
    folder, known = Folder(A, odd), open_catalog()
    assert sorted(folder.update(known)) == sorted([A, odd])
    assert known.row(odd)
    assert folder.update(open_catalog()) == [odd]
    del folder.files[odd]
    folder.update(known)
    assert known.row(odd) is None
    assert folder.update(open_catalog()) == []


def test_another_key_reads_all_again_and_the_older_process_no_longer_writes_for_the_newer(
    open_catalog: Callable[..., Catalog],
) -> None:
    folder, old = Folder(A, B), open_catalog("UTC")
    folder.update(old)
    new = open_catalog("Asia/Tokyo")
    assert folder.update(new) == [A, B]
    folder.change(A, "as UTC reads it", inode=99)
    assert folder.update(old) == [A]
    folder.change(A, "as Tokyo reads it")
    assert folder.update(open_catalog("Asia/Tokyo")) == [A]
    assert folder.update(old, "models/alice") == []


FILES: list[File] = [
    Note(A, "a", NOW, Dated.NAME, "9f86d081884c7d65", 5, 1, NOW, "s", "", "t", "p", is_card=True),
    Summary(A, "a", 1, 2, NOW, NOW, NOW, 3, (Source("x", "d", NOW),), "d", 4, 5, "extractive", draft=True, problem="p"),
    Card(A, "a", "About „x“\u2028", archived=True, folded_into="b", problem="p"),
    Shaped(A, "a", Kind.ENTITY, NOW, "n", "s", 4, "p"),
]


@pytest.mark.parametrize("file", FILES)
def test_a_value_comes_back_as_it_went_in(file: File) -> None:
    assert rows.decode(rows.encode(file)) == file
    assert rows.encode(None) == "null"


def test_one_thread_at_a_time_is_at_it(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A), open_catalog()
    answered = threading.Event()

    def ask() -> None:
        known.paths_of("a")
        answered.set()

    asks = threading.Thread(target=ask)

    def read(seen: Seen) -> tuple[File | None, str]:
        asks.start()
        assert not answered.wait(0.1)
        return folder.read(seen)

    known.update([], folder.walk(), [], read)
    asks.join()
    assert answered.is_set()


# What is computed of a model's files stands as long as they do


def test_what_was_derived_is_dropped_with_the_next_change(open_catalog: Callable[..., Catalog]) -> None:
    folder, known = Folder(A, C), open_catalog()
    folder.update(known)
    known.keep_derived({"alice": "of alice", "bob": "of bob"})
    assert [open_catalog().derived(name) for name in ("alice", "bob", "carol")] == ["of alice", "of bob", ""]
    folder.change(A, inode=99)
    folder.update(open_catalog())
    assert [known.derived(name) for name in ("alice", "bob")] == ["", "of bob"]


def test_what_was_derived_of_older_files_is_not_kept(open_catalog: Callable[..., Catalog]) -> None:
    folder, slow, quick = Folder(A), open_catalog(), open_catalog()
    folder.update(slow)
    folder.update(quick)
    folder.change(A, inode=99)
    folder.update(quick)
    slow.keep_derived({"alice": "of the old files"})
    assert quick.derived("alice") == ""


def test_trouble_is_counted_until_a_summary_is_made(open_catalog: Callable[..., Catalog]) -> None:
    known = open_catalog()
    known.note_trouble("alice", "no net")
    known.note_trouble("alice", "no money")
    known.note_trouble("bob", "no net")
    known = open_catalog("another key")
    tries, at, reason = known.trouble()["alice"]
    assert (tries, reason) == (2, "no money")
    assert abs(at - time.time()) < 60
    known.note_trouble("alice", None)
    assert set(known.trouble()) == {"bob"}
    assert Catalog(None, "").trouble() == {}


# Damage


def _zero(base: Path) -> None:
    base.write_bytes(bytes(base.stat().st_size))


def _truncate(base: Path) -> None:
    base.write_bytes(base.read_bytes()[: base.stat().st_size // 2])


def _garble(base: Path) -> None:
    data = bytearray(base.read_bytes())
    data[4096:] = random.Random(1).randbytes(len(data) - 4096)
    base.write_bytes(data)


def _folder(base: Path) -> None:
    base.unlink()
    (base / "inside").mkdir(parents=True)


def _file_for_the_folder(base: Path) -> None:
    shutil.rmtree(base.parent)
    base.parent.write_text("a file")


def _another_s(base: Path) -> None:
    base.unlink()
    with sqlite3.connect(base) as other:
        other.execute("CREATE TABLE files (path TEXT)")
        other.execute("CREATE TABLE trouble (path TEXT)")
    other.close()


def _old_journal(base: Path) -> None:
    base.with_name(f"{base.name}-wal").write_bytes(random.Random(2).randbytes(9000))
    base.with_name(f"{base.name}-shm").write_bytes(random.Random(3).randbytes(9000))


def _gone(base: Path) -> None:
    shutil.rmtree(base.parent)


DAMAGE = [_gone, _zero, _truncate, _garble, _folder, _file_for_the_folder, _another_s, _old_journal]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": "", "carol": ""})
    return tmp_path / "vault"


def environ(root: Path, cache: str = "caches") -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(root.parent / cache), "PYRAMID_CONFIG": str(root.parent / "config.toml")}


def opened(root: Path, cache: str = "caches") -> Memory:
    return Memory(root, environ=environ(root, cache), clock=lambda: NOW + timedelta(days=2))


def write(root: Path, path: str, text: str) -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    return root / path


def fill(root: Path, model: str, count: int) -> None:
    for number in range(count):
        created = NOW + timedelta(minutes=number)
        text = f"The {model} line {number} costs {number * 7} euros in Lyon."
        path = layout.note_path(model, created, text, f"{number:02d}{model[:2]}")
        write(root, path, kinds.spell_note(text, created).decode())


def answers(memory: Memory) -> str:
    found: list[object] = [memory.load(memory.census.models()) if memory.census.models() else None]
    found += [memory.map(), replace(memory.status(), index={}), memory.recall("euros OR beans", limit=50)]
    return json.dumps(plain(found), ensure_ascii=False, indent=1)


@pytest.mark.parametrize("damage", DAMAGE)
def test_no_damage_to_the_catalog_changes_an_answer(root: Path, damage: Callable[[Path], None]) -> None:
    fill(root, "alice", 12)
    with opened(root) as memory:
        memory.advance()
        expected = answers(memory)
        assert answers(memory) == expected
    base = next((root.parent / "caches").rglob("catalog.sqlite3"))
    damage(base)
    with opened(root) as memory:
        assert answers(memory) == expected
        assert answers(memory) == expected
        memory.record("Beans.", ["alice"])
        assert memory.verify().models[0].tail == 3


@pytest.mark.parametrize("damage", [_gone, _zero, _truncate, _garble, _old_journal])
def test_nor_does_damage_while_it_is_open(root: Path, damage: Callable[[Path], None]) -> None:
    fill(root, "alice", 12)
    with opened(root) as memory:
        expected = answers(memory)
        damage(next((root.parent / "caches").rglob("catalog.sqlite3")))
        assert answers(memory) == expected
        write(root, "models/bob/x.md", "Beans.")
        changed = answers(memory)
    with opened(root) as memory, opened(root, "fresh") as fresh:
        assert answers(memory) == answers(fresh) == changed


@pytest.mark.parametrize("cache", ["/proc/none", "file/deeper"])
def test_a_cache_folder_that_can_not_be_made_costs_time_and_no_answer(root: Path, cache: str) -> None:
    (root.parent / "file").write_text("a file")
    fill(root, "alice", 12)
    with opened(root) as memory, opened(root, cache) as without:
        expected = answers(memory)
        assert answers(without) == expected
        assert answers(without) == expected


HOLDS = """
    import sqlite3, sys, threading
    base = sqlite3.connect(sys.argv[1], isolation_level=None)
    base.execute(sys.argv[2])
    print("held", flush=True)
    threading.Event().wait()
"""


@contextmanager
def holding(base: Path, how: str) -> Iterator[None]:
    """Have another process hold the catalog."""
    words = [sys.executable, "-c", textwrap.dedent(HOLDS), str(base), how]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout
            assert child.stdout.readline() == "held\n"
            yield
        finally:
            child.kill()


@pytest.mark.parametrize("how", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
@pytest.mark.parametrize("when", ["before it is opened", "while it is open", "before it is made"])
def test_another_process_that_holds_the_catalog_costs_time_and_no_answer(
    root: Path, monkeypatch: pytest.MonkeyPatch, how: str, when: str
) -> None:
    monkeypatch.setattr(tables, "BUSY", 0.05)
    fill(root, "alice", 12)
    with opened(root, "fresh") as fresh:
        expected = answers(fresh)
    base = files.cache_folder(root, environ(root)) / "catalog.sqlite3"
    base.parent.mkdir(parents=True)
    if when != "before it is made":
        with opened(root) as memory:
            memory.census.refresh(["alice"])
    early = opened(root) if when == "while it is open" else None
    with holding(base, how), early or opened(root) as memory:
        assert answers(memory) == expected
        assert answers(memory) == expected
    with opened(root) as memory:
        assert answers(memory) == expected


# Changes on a real disk


def _in_place(path: Path) -> None:
    with path.open("r+") as file:
        file.write("Bears.")


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_text("Bears.\n")
    other.replace(path)


@pytest.mark.parametrize("edit", [_in_place, _replaced])
def test_an_edit_that_keeps_time_and_size_is_found(root: Path, edit: Callable[[Path], None]) -> None:
    path = write(root, "models/alice/x.md", "Beans.\n")
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    before = path.stat()
    with opened(root) as memory:
        answers(memory)
        edit(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        assert memory.load(["alice"]).models[0].recent[0].text == "Bears."
        assert memory.recall("bears").hits[0].text == "Bears."
        assert memory.census.now("alice").state.tail[0].digest == pages.digest("bears")


def test_two_memories_see_each_other_s_writes_at_once(root: Path) -> None:
    with opened(root) as one, opened(root) as two:
        for number in range(3):
            for writer, reader in ((one, two), (two, one)):
                handle = writer.record(f"Number {number} of {id(writer)}.", ["alice", "bob"]).handle
                assert reader.load(["alice"]).models[0].recent[-1].handle == handle
                assert reader.load(["bob"]).models[0].recent[-1].text.startswith(f"Number {number}")
                assert reader.map().recent[0].handle == handle
                assert reader.recall(f"{id(writer)}").hits
        assert [line.notes for line in one.map().models] == [line.notes for line in two.map().models] == [6, 6, 0]


def test_two_processes_see_each_other_s_writes_at_once(root: Path) -> None:
    words = [sys.executable, "-m", "pyramid_fs", "--vault", str(root)]
    with opened(root) as memory:
        memory.map()
        handle = subprocess.check_output(
            [*words, "record", "-m", "alice", "Beans."], text=True, env={**os.environ, **environ(root)}
        ).strip()
        assert memory.map().recent[0].handle == handle
        mine = memory.record("Bears.", ["bob"]).handle
        shown = subprocess.check_output([*words, "map", "--json"], env={**os.environ, **environ(root)})
        assert {text["handle"] for text in json.loads(shown)["recent"]} == {handle, mine}


# What the map keeps of a model


def changes() -> dict[str, Callable[[Path], object]]:
    return {
        "a note is edited": lambda root: write(
            root, "models/alice/x.md", "---\ncreated: 2026-11-02\n---\nOther, longer beans."
        ),
        "a note's date is edited": lambda root: write(
            root, "models/alice/x.md", "---\ncreated: 2025-01-02\n---\nBeans."
        ),
        "a note comes": lambda root: write(root, "models/alice/y.md", "More."),
        "a note goes": lambda root: (root / "models/alice/x.md").unlink(),
        "a note is moved": lambda root: (root / "models/alice/x.md").rename(root / "models/carol/x.md"),
        "a note is moved within": lambda root: (root / "models/alice/x.md").rename(root / "models/alice/2026-11/x.md"),
        "an embed's target grows": lambda root: write(
            root, "models/alice/x.md", "---\ncreated: 2026-11-02\n---\n" + "w " * 99
        ),
        "an embed's target breaks": lambda root: write(root, "models/alice/x.md", "---\ncreated: [\n---\nBeans."),
        "the card is edited": lambda root: write(root, "models/alice/alice.md", "---\ndescription: A foe.\n---\n"),
        "the card archives": lambda root: write(root, "models/alice/alice.md", "---\narchived: true\n---\n"),
        "a note is forgotten": lambda root: write(root, "ledger/k3f9m2.jsonl", forgotten("x", "Beans.")),
        "the zone changes": lambda root: write(root, "pyramid.toml", 'format = 1\ntimezone = "Pacific/Auckland"\n'),
        "the budget changes": lambda root: write(root, "pyramid.toml", "format = 1\n[view]\nchars = 20\n"),
        "a model comes": lambda root: write(root, "models/dora/z.md", "Z."),
        "a model goes": lambda root: shutil.rmtree(root / "models/alice"),
        "a model is renamed": lambda root: (root / "models/alice").rename(root / "models/anna"),
    }


def forgotten(handle: str, text: str) -> str:
    mark = hashlib.sha256(handle.encode()).hexdigest()
    return json.dumps({"forgot": mark, "digest": pages.digest(text), "at": "2026-11-29T00:00:00Z"}) + "\n"


@pytest.mark.parametrize("what", changes())
def test_a_line_of_the_map_stands_as_long_as_what_it_was_computed_from(root: Path, what: str) -> None:
    write(root, "models/alice/x.md", "---\ncreated: 2026-11-02T23:30:00Z\n---\nBeans.")
    write(root, "models/alice/2026-11/w.md", "Walks.")
    write(root, "models/bob/e.md", "![[x]]")
    write(root, "models/carol/f.md", "![[e]]")
    with opened(root) as kept:
        before = answers(kept)
        changes()[what](root)
        with opened(root, "fresh") as fresh, opened(root) as warm:
            expected = answers(fresh)
            assert expected != before
            assert answers(warm) == expected
            if not what.startswith(("the zone", "the budget")):  # settings are read when a vault is opened
                assert answers(kept) == expected


def test_a_kept_line_is_what_answers(root: Path) -> None:
    """So that the tests above show something: a line that nothing has changed is not computed again."""
    write(root, "models/alice/x.md", "Beans.")
    with opened(root) as memory:
        memory.map()
        line = json.loads(memory.census.catalog.derived("alice"))
        line["line"]["description"] = "kept"
        memory.census.catalog.keep_derived({"alice": json.dumps(line)})
        assert memory.map().models[0].description == "kept"


# The same answers with and without it


class Person:
    """Does to a vault what people, tools and sync programs do, at random but reproducibly."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.draw = root, random.Random(seed)
        self.number = 0

    def notes(self) -> list[Path]:
        found = sorted(self.root.glob("models/*/**/*.md"))
        return [path for path in found if path.stem != path.parent.name and "tier-" not in str(path)]

    def act(self, memory: Memory) -> None:
        self.number += 1
        acts = [
            self.add,
            self.add,
            self.edit,
            self.remove,
            self.move,
            self.embed,
            self.forget,
            self.card,
            self.break_,
            self.drop,
        ]
        if self.number % 4 == 0:
            memory.advance()
        elif self.number % 4 == 1:
            memory.record(
                f"Beans number {self.number} cost {self.draw.random()} euros.",
                self.draw.sample(["alice", "bob", "carol"], 2),
            )
        else:
            self.draw.choice(acts)()

    def model(self) -> str:
        return self.draw.choice(["alice", "bob", "carol"])

    def add(self) -> None:
        for _ in range(self.draw.randint(1, 8)):
            self.number += 1
            write(
                self.root,
                f"models/{self.model()}/n{self.number}.md",
                f"Note {self.number} of {self.draw.randint(1, 99)} euros.",
            )

    def edit(self) -> None:
        for path in self.notes()[:: self.draw.randint(2, 5)]:
            path.write_text(
                self.draw.choice([f"Beans at {self.draw.random()} euros.", path.read_text(errors="replace") + "\n", ""])
            )

    def remove(self) -> None:
        for path in self.draw.sample(self.notes(), min(2, len(self.notes()))):
            path.unlink()

    def move(self) -> None:
        for path in self.draw.sample(self.notes(), min(2, len(self.notes()))):
            to = self.root / f"models/{self.model()}/{self.draw.choice(['', 'sub/'])}{path.name}"
            if not to.exists():
                to.parent.mkdir(exist_ok=True)
                path.rename(to)

    def embed(self) -> None:
        if self.notes():
            self.number += 1
            write(self.root, f"models/{self.model()}/e{self.number}.md", f"![[{self.draw.choice(self.notes()).stem}]]")

    def forget(self) -> None:
        if self.notes():
            path = self.draw.choice(self.notes())
            body = pages.read(path.read_bytes()).body
            with (self.root / "ledger" / "x.jsonl").open("a") as ledger:
                ledger.write(forgotten(path.stem, body))

    def card(self) -> None:
        model = self.model()
        write(self.root, f"models/{model}/{model}.md", f"---\ndescription: About {self.number}\n---\n")

    def break_(self) -> None:
        if self.notes():
            self.draw.choice(self.notes()).write_bytes(b"---\na: [\n---\n\xff")

    def drop(self) -> None:
        for path in sorted(self.root.glob("models/*/tier-*/*.md"))[: self.draw.randint(0, 1)]:
            path.unlink()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_answers_are_the_same_with_an_old_a_shared_and_no_catalog_whatever_was_done(root: Path, seed: int) -> None:
    (root / "pyramid.toml").write_text("format = 1\n[pyramid]\nbatch_notes = 3\nfan_in = 2\n")
    person = Person(root, seed)
    with opened(root) as kept:
        for number in range(8):
            person.act(kept)
            with opened(root, f"fresh-{number}") as fresh, opened(root) as warm:
                expected = answers(fresh)
                assert answers(warm) == expected
                assert answers(kept) == expected
                assert answers(fresh) == expected

"""Recall by real processes: kills, crowds, damaged caches, edits under a reader's eyes, and queries of every kind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import hard
import pytest

from pyramid_fs import Memory, catalog, files, index, layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Answers: TypeAlias = "list[list[list[Any]]]"
"""By query: path, score, models and the summaries above of each hit, in order."""

WORDS = [
    *("beans", "lupin", "quinoa", "saffron", "canal", "hedge", "trowel", "gravel", "otter", "marrow", "thistle"),
    *("barrow", "plum", "kiln", "sorrel", "heron", "copper", "mallet", "walnut", "ferry"),
]
QUERIES = [
    "beans",
    "lupin canal",
    "otter thistle walnut",
    '"plum kiln"',
    "heron -copper",
    "ferry hedge gravel",
    "keeper",
]
SPOILS: dict[str, Callable[[Path], object]] = {
    "removed": Path.unlink,
    "halved": lambda path: os.truncate(path, path.stat().st_size // 2),
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:unclosed file .*toc:ResourceWarning")]
AFRESH = "pyramid: the index did not fit what is on disk, and was built afresh\n"


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    return hard.make(tmp_path, monkeypatch)


@pytest.fixture
def small(vault: hard.Vault, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    """A vault of a few notes, indexed in two steps; nobody else commits, so no look is worth a pause."""
    monkeypatch.setattr(index, "PAUSE", 0.0)
    vault.fill(6)
    assert vault.finds("hand3") == ["models/plot/row3.md"]
    vault.note("late", "saffron bulbs")
    assert vault.finds("saffron") == ["models/plot/late.md"]
    return vault


def text(draw: random.Random, number: int) -> str:
    return f"mark{number} " + " ".join(draw.choices(WORDS, k=draw.randint(3, 12)))


def keeper(vault: hard.Vault) -> None:
    """Keep a note that has every word, so that none is looked for in another spelling."""
    vault.note("keeper", f"keeper {' '.join(WORDS)}", created="2025-01-01", model="stay")


def fill(vault: hard.Vault, count: int, seed: int = 0) -> None:
    draw = random.Random(seed)
    keeper(vault)
    for number in range(count):
        day = f"2026-01-{number % 28 + 1:02}T{number % 24:02}:00:00Z"
        vault.note(f"n{number}", text(draw, number), created=day, model=draw.choice(["plot", "yard", "pond"]))


def answers(memory: Memory, queries: Sequence[str] = QUERIES) -> Answers:
    return [
        [[hit.path, hit.score, list(hit.models), list(hit.above)] for hit in memory.recall(query, limit=50).hits]
        for query in queries
    ]


@contextlib.contextmanager
def anew(vault: hard.Vault) -> Iterator[Memory]:
    """Open the vault with an empty cache folder."""
    cache = vault.cache.with_name(f"anew-{os.urandom(4).hex()}")
    with Memory(vault.root, environ=vault.environ(PYRAMID_CACHE_DIR=str(cache))) as memory:
        yield memory
    shutil.rmtree(cache)


def fresh(vault: hard.Vault, queries: Sequence[str] = QUERIES) -> Answers:
    with anew(vault) as memory:
        return answers(memory, queries)


def mine(vault: hard.Vault) -> Path:
    """Give the cache folder of the vault."""
    (found,) = vault.cache.iterdir()
    return found


def cached(vault: hard.Vault) -> list[Path]:
    return sorted(path for path in vault.cache.rglob("*") if path.is_file())


# Kills


def killed(vault: hard.Vault, delay: float, *words: str) -> bool:
    """Kill a command after a while; say whether it was still at it."""
    process = vault.start(*words)
    try:
        process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    assert process.returncode == 0
    return False


def kill_rounds(vault: hard.Vault, rounds: int, seed: int) -> int:
    """Kill again and again in the middle of indexing, and hold each answer after that against a fresh cache."""
    draw, kills = random.Random(seed), 0
    fill(vault, 400, seed)
    expected = fresh(vault)
    began = time.monotonic()
    assert vault.process("reindex").code == 0
    whole = time.monotonic() - began
    for number in range(rounds):
        if number % 2:
            for path in draw.sample(sorted(vault.root.glob("models/*/n*.md")), 60):
                path.write_text(hard.page(text(draw, number), created=f"2026-02-{draw.randint(1, 28):02}"))
            for path in draw.sample(sorted(vault.root.glob("models/*/n*.md")), 3):
                path.unlink()
            expected = fresh(vault)
            kills += killed(vault, draw.uniform(0.2, 0.8) * whole, "recall", "--json", "beans")
        else:
            kills += killed(vault, draw.uniform(0.2, 1.0) * whole, "reindex")
        for query, wanted in zip(QUERIES, expected, strict=True):
            ran = vault.run("recall", "--json", "-n", "50", "--", query)
            assert ran.code == 0, ran
            assert ran.err in {"", AFRESH}
            found = [[hit["path"], hit["score"], hit["models"]] for hit in ran.json["hits"]]
            assert found == [hit[:3] for hit in wanted], (number, query)
    assert vault.run("reindex").code == 0
    with Memory(vault.root) as memory:
        assert answers(memory) == expected
    return kills


@pytest.mark.slow
def test_a_kill_in_the_middle_of_indexing_changes_no_answer(vault: hard.Vault) -> None:
    assert kill_rounds(vault, 4, 7) > 0


@pytest.mark.slow
def test_fifty_kills_in_the_middle_of_indexing_change_no_answer(vault: hard.Vault) -> None:
    assert kill_rounds(vault, 50, 11) > 10


# A crowd

CROWD = """
import json, sys, time
from pyramid_fs import Memory, catalog, files, index, layout

root, name, notes, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
end, made, missed = time.monotonic() + seconds, [], []
keeps = Memory(root) if int(name[1:]) % 2 else None
while len(made) < notes and time.monotonic() < end:
    word = f"q{name}{len(made)}k".translate({48 + digit: 97 + digit for digit in range(10)})
    memory = keeps or Memory(root)
    recorded = memory.record(f"The {word} was weighed with beans.", ["plot" if len(made) % 2 else "yard"])
    made.append([word, recorded.handle])
    for word, handle in {tuple(made[-1]), tuple(made[len(made) // 2])}:
        if [hit.handle for hit in memory.recall(word).hits] != [handle]:
            missed.append([word, handle, [hit.path for hit in memory.recall(word).hits]])
    if not keeps:
        memory.close()
print(json.dumps([made, missed]))
"""


def crowd(vault: hard.Vault, processes: int, notes: int, seconds: float) -> int:
    """Let processes record and recall at once; give how many notes were made, none of them lost."""
    vault.put("models/yard/yard.md", "The yard.\n")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CROWD, str(vault.root), f"w{number}", str(notes), str(seconds)],
            env=vault.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(processes)
    ]
    made: list[list[str]] = []
    for process, (out, err) in [(process, process.communicate(timeout=hard.BOUND)) for process in started]:
        assert (process.returncode, err) == (0, b"")
        more, missed = json.loads(out)
        assert missed == []
        made += more
    with Memory(vault.root) as warm, anew(vault) as cold:
        for memory in (warm, cold):
            for word, handle in made:
                assert [hit.handle for hit in memory.recall(word).hits] == [handle]
    assert len([path for path in vault.root.glob("models/*/**/*.md") if path.stem not in {"plot", "yard"}]) == len(made)
    vault.is_sound()
    return len(made)


@pytest.mark.slow
def test_processes_that_record_and_recall_at_once_each_find_their_own_note_at_once(vault: hard.Vault) -> None:
    assert crowd(vault, 3, 6, 60.0) == 18


@pytest.mark.slow
def test_eight_processes_record_and_recall_for_a_minute_and_lose_nothing(vault: hard.Vault) -> None:
    assert crowd(vault, 8, 100_000, 60.0) > 80


def walked(memory: Memory) -> list[files.Folder | files.Seen]:
    return [found for top in ("models", *layout.SHAPES) for found in files.walk_folders(memory.vault.root, top, [])]


def test_a_note_is_found_though_another_process_walked_before_it_was_there(
    vault: hard.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.fill(4)
    with Memory(vault.root) as slow, Memory(vault.root) as quick:
        made: list[str] = []

        def walk() -> Iterator[Any]:
            listing = walked(slow)
            made.append(quick.record("zucchini", ["plot"]).handle)
            yield from listing

        bring_up = quick._search[0].bring_up

        def meanwhile(*args: Any) -> bool:
            if not made:
                slow.census.catalog.update((), walk(), [], slow.vault.value)
            return bring_up(*args)

        monkeypatch.setattr(quick._search[0], "bring_up", meanwhile)
        assert [hit.handle for hit in quick.recall("zucchini").hits] == made


def test_a_note_that_was_found_is_found_again_though_another_process_walked_before_it_was_there(
    vault: hard.Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "DOUBT_NS", 0)
    vault.fill(4)
    with Memory(vault.root) as slow, Memory(vault.root) as quick:
        listing = walked(slow)
        handle = quick.record("zucchini", ["plot"]).handle
        assert [hit.handle for hit in quick.recall("zucchini").hits] == [handle]
        slow.census.catalog.update((), listing, [], slow.vault.value)
        for _ in range(2):
            assert [hit.handle for hit in quick.recall("zucchini").hits] == [handle]


# A damaged cache


def holds(vault: hard.Vault, errors: set[str]) -> None:
    """Recall finds both notes, and so it does after a reindex."""
    ran = vault.run("recall", "--json", "saffron")
    assert (ran.code, ran.hits) == (0, ["models/plot/late.md"])
    assert ran.err in errors
    assert vault.finds("hand3") == ["models/plot/row3.md"], "the second recall has nothing to say any more"
    ran = vault.run("reindex")
    assert ran.code == 0, ran
    assert vault.finds("saffron") == ["models/plot/late.md"]
    assert vault.finds("hand3") == ["models/plot/row3.md"]


def each_damage(vault: hard.Vault, spoil: Callable[[Path], object]) -> Iterator[Path]:
    """Damage each file of the cache folder by itself; the others are as they were."""
    good = vault.cache.with_name("good")
    shutil.copytree(vault.cache, good)
    for name in [path.relative_to(vault.cache) for path in cached(vault)]:
        shutil.rmtree(vault.cache)
        shutil.copytree(good, vault.cache)
        spoil(vault.cache / name)
        yield name


@pytest.mark.parametrize("spoil", SPOILS)
def test_no_damage_to_a_file_of_the_cache_keeps_recall_from_finding(small: hard.Vault, spoil: str) -> None:
    told = 0
    for name in each_damage(small, SPOILS[spoil]):
        ran = small.run("recall", "--json", "saffron")
        assert (ran.code, ran.hits) == (0, ["models/plot/late.md"]), name
        assert ran.err in {"", AFRESH}, name
        told += ran.err == AFRESH
        assert small.finds("hand3") == ["models/plot/row3.md"], "the second recall has nothing to say any more"
    assert told > 0


def test_reindex_mends_each_damage_without_a_recall_before_it(small: hard.Vault) -> None:
    for name in each_damage(small, SPOILS["halved"]):
        ran = small.run("reindex")
        assert ran.code == 0, (name, ran)
        assert small.finds("saffron") == ["models/plot/late.md"]
        assert small.status()["index"] == {"files": 8, "indexed": 8}


def test_a_cache_folder_that_is_gone_is_made_again(small: hard.Vault) -> None:
    shutil.rmtree(small.cache)
    holds(small, {""})


def test_an_index_folder_that_is_gone_is_made_again(small: hard.Vault) -> None:
    shutil.rmtree(mine(small) / "index")
    holds(small, {""})


def test_a_file_in_place_of_the_vaults_cache_folder_keeps_no_note_from_being_found(small: hard.Vault) -> None:
    folder = mine(small)
    shutil.rmtree(folder)
    folder.write_text("in the way")
    holds(small, {"", AFRESH})


def test_recall_finds_with_a_file_in_place_of_the_index_folder(small: hard.Vault) -> None:
    shutil.rmtree(mine(small) / "index")
    (mine(small) / "index").write_text("in the way")
    for _ in range(2):
        ran = small.run("recall", "--json", "saffron")
        assert (ran.code, ran.hits) == (0, ["models/plot/late.md"])
        assert ran.err in {"", AFRESH} or "the index can't be written" in ran.err


def test_a_file_in_place_of_the_index_folder_gives_way(small: hard.Vault) -> None:
    shutil.rmtree(mine(small) / "index")
    (mine(small) / "index").write_text("in the way")
    holds(small, {"", AFRESH})
    assert small.status()["index"] == {"files": 8, "indexed": 8}


@pytest.mark.parametrize(
    "said",
    [
        lambda meta: {**meta, "key": "0:UTC"},
        lambda meta: {**meta, "birth": "of another"},
        lambda meta: {**meta, "folder": "i-nowhere"},
        lambda meta: {**meta, "folder": ".."},
        lambda meta: {**meta, "folder": 3},
        lambda meta: {**meta, "generation": "three"},
        lambda meta: {**meta, "rev": None},
        lambda meta: {**meta, "rev": "many"},
        lambda meta: {**meta, "files": {"nothing": [1, 2, 3]}},
        lambda meta: {**meta, "files": [1]},
        lambda meta: {**meta, "more": 1},
        lambda meta: {},
        lambda meta: [],
        lambda meta: "\ud800",
    ],
)
def test_an_index_that_says_something_odd_of_itself_is_built_afresh(
    small: hard.Vault, said: Callable[[Any], Any]
) -> None:
    meta = mine(small) / "index" / "meta.json"
    meta.write_text(json.dumps(said(json.loads(meta.read_bytes()))))
    holds(small, {"", AFRESH})


@pytest.mark.parametrize("data", [b"", b"\x00" * 40, b"\xff\xfe{", b"{" * 5_000, b"[" * 200_000, b"null", b"9" * 9_000])
def test_garbage_in_place_of_what_the_index_says_of_itself_has_it_built_afresh(small: hard.Vault, data: bytes) -> None:
    (mine(small) / "index" / "meta.json").write_bytes(data)
    holds(small, {AFRESH})


def test_the_index_of_another_vault_is_none_of_this_one(small: hard.Vault, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = hard.Vault(tmp_path / "other" / "vault", tmp_path / "other" / "cache", small.config)
    other.put("pyramid.toml", "format = 1\n")
    for number in range(8):
        other.note(f"x{number}", "saffron of another vault")
    with Memory(other.root, environ=other.environ()) as memory:
        assert len(memory.recall("saffron").hits) == 8
    shutil.rmtree(mine(small) / "index")
    shutil.copytree(mine(other) / "index", mine(small) / "index")
    holds(small, {AFRESH})


def test_an_index_as_it_was_some_changes_ago_is_brought_up_to_date(small: hard.Vault) -> None:
    folder, before = mine(small) / "index", small.cache.with_name("before")
    shutil.copytree(folder, before)
    (small.root / "models/plot/row3.md").unlink()
    small.note("row4", "quinoa now")
    small.note("row9", "amaranth")
    assert small.finds("amaranth") == ["models/plot/row9.md"]
    shutil.rmtree(folder)
    shutil.copytree(before, folder)
    assert small.finds("quinoa") == ["models/plot/row4.md"]
    assert small.finds("hand3") == small.finds("hand4") == []
    assert small.finds("amaranth") == ["models/plot/row9.md"]


def catalog_put_back(vault: hard.Vault) -> None:
    """Leave the catalog as it was before a note was taken in: what a power cut may do, the index being on disk."""
    base = mine(vault) / "catalog.sqlite3"
    before = base.read_bytes()
    vault.note("tulip", "tulip")
    assert vault.finds("tulip") == ["models/plot/tulip.md"]
    (vault.root / "models/plot/tulip.md").unlink()
    for name in ("-wal", "-shm"):
        base.with_name(base.name + name).unlink(missing_ok=True)
    base.write_bytes(before)


def test_a_catalog_that_lost_its_last_moments_hides_no_note(small: hard.Vault) -> None:
    catalog_put_back(small)
    small.note("lupin", "lupin")
    ran = small.run("recall", "--json", "lupin")
    assert ran.hits == ["models/plot/lupin.md"]
    assert "built afresh" in ran.err
    assert small.finds("tulip") == []


def test_two_processes_agree_on_one_index_after_the_cache_folder_was_removed(small: hard.Vault) -> None:
    with Memory(small.root) as old:
        assert answers(old, ["saffron"])
        shutil.rmtree(small.cache)
        with Memory(small.root) as new:
            for memory in (new, old, new, old):
                memory.recall("saffron")
            assert old.news + new.news == []


def test_answers_are_right_for_all_after_the_cache_folder_was_removed(small: hard.Vault) -> None:
    with Memory(small.root) as old:
        assert answers(old, ["saffron"])
        shutil.rmtree(small.cache)
        with Memory(small.root) as new:
            for number in range(3):
                small.note(f"more{number}", f"saffron more{number}")
                expected = fresh(small, ["saffron", f"more{number}", "hand2"])
                for memory in (old, new):
                    assert answers(memory, ["saffron", f"more{number}", "hand2"]) == expected


# Ghosts and doubles


def test_each_word_is_found_exactly_where_it_stands_after_edits_moves_deletions_and_reindexing(
    small: hard.Vault,
) -> None:
    def standing() -> None:
        for path in small.root.glob("models/plot/**/*.md"):
            for word in set(path.read_text().split()) & {f"hand{n}," for n in range(1, 7)} | {"hand3"}:
                name = path.relative_to(small.root).as_posix()
                assert (name in small.finds(word.strip(","))) == (word.strip(",") in path.read_text())

    for _ in range(3):
        assert small.run("reindex").code == 0
        assert small.finds("hand3") == ["models/plot/row3.md"]
        assert small.status()["index"] == {"files": 8, "indexed": 8}
    small.note("row3", "quinoa instead")
    assert (small.finds("hand3"), small.finds("quinoa")) == ([], ["models/plot/row3.md"])
    (small.root / "models/plot/sub").mkdir()
    (small.root / "models/plot/row2.md").rename(small.root / "models/plot/sub/row2.md")
    assert small.finds("hand2") == ["models/plot/sub/row2.md"]
    (small.root / "models/plot/row1.md").unlink()
    assert small.finds("hand1") == []
    standing()
    assert small.status()["index"] == {"files": 7, "indexed": 7}
    small.note("row1", "back by hand1")
    assert small.status()["index"] == {"files": 8, "indexed": 7}
    assert small.finds("hand1") == ["models/plot/row1.md"]
    assert small.status()["index"] == {"files": 8, "indexed": 8}
    assert small.run("reindex").code == 0
    assert small.finds("hand1") == ["models/plot/row1.md"]
    standing()


def test_a_word_of_a_deleted_note_takes_no_word_in_another_spelling_away(small: hard.Vault) -> None:
    small.note("one", "garnetfruit")
    small.note("two", "garnex")
    for number in range(5):
        small.note(f"beside{number}", "so that one of these segments is not merged away")
    assert small.finds("garnet") == ["models/plot/one.md"]
    (small.root / "models/plot/one.md").unlink()
    assert [small.finds("garnet")] == [[hit[0] for hit in hits] for hits in fresh(small, ["garnet"])]


# Fresh under a reader's eyes

READER = """
import json, sys
from pyramid_fs import Memory, catalog, files, index, layout

with Memory(sys.argv[1]) as memory:
    for line in sys.stdin:
        found = [
            [[hit.path, hit.score, list(hit.models), list(hit.above)] for hit in memory.recall(query, limit=50).hits]
            for query in json.loads(line)
        ]
        print(json.dumps(found), flush=True)
"""


class Reader:
    """A process that has the vault open for long, and answers."""

    def __init__(self, vault: hard.Vault) -> None:
        words = [sys.executable, "-c", READER, str(vault.root)]
        self.process = subprocess.Popen(
            words, env=vault.environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, queries: Sequence[str] = QUERIES) -> Answers:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(queries) + "\n")
        self.process.stdin.flush()
        found: Answers = json.loads(self.process.stdout.readline())
        return found

    def close(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


@pytest.fixture
def reader(vault: hard.Vault) -> Iterator[Reader]:
    fill(vault, 16)
    made = Reader(vault)
    yield made
    made.close()


class Person:
    """Edits a vault as people and their tools do, at random but reproducibly."""

    def __init__(self, vault: hard.Vault, seed: int) -> None:
        self.vault, self.draw, self.number = vault, random.Random(seed), 1000

    def notes(self) -> list[Path]:
        return sorted(path for path in self.vault.root.glob("models/*/**/n*.md") if path.stem != path.parent.name)

    def one(self) -> Path:
        return self.draw.choice(self.notes())

    def words(self) -> str:
        return text(self.draw, self.number)

    def act(self) -> None:
        self.number += 1
        acts = [self.write, self.write, self.append, self.replace, self.move, self.delete, self.rename, self.same,
                self.embed, self.break_, self.card]  # fmt: skip
        self.draw.choice(acts if len(self.notes()) > 6 else [self.write])()

    def write(self) -> None:
        self.vault.note(f"n{self.number}", self.words(), model=self.draw.choice(["plot", "shed"]))

    def append(self) -> None:
        with self.one().open("a") as file:
            file.write(self.words())

    def replace(self) -> None:
        path = self.one()
        beside = path.with_name(".saving")
        beside.write_text(hard.page(self.words()))
        beside.replace(path)

    def move(self) -> None:
        path = self.one()
        to = path.parent / self.draw.choice(["sub", "2026-01"]) / path.name
        to.parent.mkdir(exist_ok=True)
        path.rename(to)

    def delete(self) -> None:
        self.one().unlink()

    def rename(self) -> None:
        folders = [path for path in (self.vault.root / "models").iterdir() if path.name != "stay"]
        path = self.draw.choice(sorted(folders))
        path.rename(path.with_name(f"model{self.number}"))

    def same(self) -> None:
        """Put other words into a note, so that its size and its modification time stay."""
        path = self.one()
        stat, old = path.stat(), path.read_bytes()
        words = {word for word in WORDS if word.encode() in old}
        for word in self.draw.sample(sorted(words), min(1, len(words))):
            other = self.draw.choice([each for each in WORDS if len(each) == len(word)])
            path.write_bytes(old.replace(word.encode(), other.encode()))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert path.stat().st_size == stat.st_size

    def embed(self) -> None:
        self.vault.note(f"n{self.number}", f"![[{self.one().stem}]]", model=self.draw.choice(["plot", "shed"]))

    def break_(self) -> None:
        self.one().write_bytes(b"---\na: [\n---\nbeans \xff lupin")

    def card(self) -> None:
        self.vault.put("models/stay/stay.md", f"---\ndescription: ferry {self.number}\n---\n")


def edits(vault: hard.Vault, reader: Reader, count: int, seed: int) -> None:
    person = Person(vault, seed)
    for number in range(count):
        person.act()
        assert reader.ask() == fresh(vault), number


@pytest.mark.slow
def test_a_reader_of_long_standing_answers_after_each_edit_as_one_that_knows_nothing(
    vault: hard.Vault, reader: Reader
) -> None:
    edits(vault, reader, 25, 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 16))
def test_a_reader_of_long_standing_keeps_up_with_hundreds_of_edits(
    vault: hard.Vault, reader: Reader, seed: int
) -> None:
    edits(vault, reader, 120, seed)


def test_each_of_two_saves_within_a_tick_is_seen(vault: hard.Vault, reader: Reader) -> None:
    for number in range(5):
        for word in ("otter", "heron", "ferry"):
            path = vault.note("twice", f"{word} number{number}")
            os.utime(path, ns=(10**18, 10**18))
            asked = ["otter", "heron", "ferry"]
            has = [any(hit[0] == "models/plot/twice.md" for hit in hits) for hits in reader.ask(asked)]
            assert has == [word == one for one in asked]


def test_a_folder_of_notes_that_is_renamed_is_found_under_its_new_name(vault: hard.Vault, reader: Reader) -> None:
    before = reader.ask(["beans"])[0]
    (vault.root / "models/pond").rename(vault.root / "models/lake")
    after = reader.ask(["beans"])[0]
    assert sorted(hit[0].replace("/pond/", "/lake/") for hit in before) == sorted(hit[0] for hit in after)
    assert any("/lake/" in hit[0] for hit in after)
    assert [after] == fresh(vault, ["beans"])


# Queries


SAID = {
    "sign": "Plan C of 3 parts, to be or not to be",
    "city": "東京の天気 and กรุงเทพ at noon",
    "cafe": "The café in Zürich, Straße 5",
    "smile": "deployed it 🎉 today",
    "code": "run src/user_session.py --all with C++",
}
QUERIED = [
    *(
        '"',
        '"unbalanced',
        'un"balanced',
        "(",
        "((",
        ")",
        "[a",
        "{b",
        ":",
        "title:plan",
        "kind:note plan",
        "*",
        "pl*",
        "?",
    ),
    *("AND", "OR", "NOT", "plan AND", "NOT plan", "plan AND OR NOT part", "a OR (b AND", "^2", "~", "plan~2", "\\"),
    *("[a TO b]", "'", "''", "%s", "{}", "$(ls)", "`ls`", "../..", "<b>", "\u200b", "\u0301", "--", "- -", '""', '" "'),
    *('"" plan', "-plan part", "x" * 10_000, "plan " * 3_000, " ".join(f"word{n}" for n in range(3_000)), '"' * 1_000),
    *("🎉", "👩\u200d👩\u200d👧", "東", "東京", "กร", "กรุงเทพ", "天気 plan", "K", "C", "3", "to be or not"),
]


@pytest.fixture
def spoken(vault: hard.Vault) -> hard.Vault:
    for name, body in SAID.items():
        vault.note(name, body)
    return vault


@pytest.mark.parametrize("query", QUERIED, ids=range(len(QUERIED)))
def test_a_query_of_any_kind_is_an_answer_and_no_error(spoken: hard.Vault, query: str) -> None:
    ran = spoken.run("recall", "--json", "--", query)
    assert (ran.code, ran.err) == (0, ""), query[:50]
    with anew(spoken) as memory:
        assert ran.hits == [hit.path for hit in memory.recall(query).hits]


@pytest.mark.parametrize(
    "query", [b"\xff\xfe", b"plan \xff", "\ud800 plan".encode("utf-8", "surrogatepass"), b"-- plan"]
)
def test_a_query_that_is_no_text_is_an_answer_and_no_error(spoken: hard.Vault, query: bytes) -> None:
    words = [os.fsencode(word) for word in spoken.words("recall", "--json", "--")]
    done = subprocess.run([*words, query], env=spoken.environ(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["hits"] if b"plan" in query else True


@pytest.mark.parametrize("query", ["", " ", "\t\n", "\u3000"])
def test_an_empty_query_is_an_error_of_one_line(spoken: hard.Vault, query: str) -> None:
    ran = spoken.process("recall", "--", query)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("query", "name"),
    [("C", "sign"), ("3", "sign"), ("to be or not", "sign"), ("東", "city"), ("東京", "city"), ("天", "city"),
     ("กรุงเทพ", "city"), ("ก", "city"), ("cafe", "cafe"), ("CAFÉ", "cafe"), ("zurich", "cafe"), ("strasse", "cafe"),
     ("🎉", "smile"), ("C++", "code"), ("session", "code"), ("src/user_session.py", "code")],
)  # fmt: skip
def test_a_query_finds_what_a_person_means(spoken: hard.Vault, query: str, name: str) -> None:
    assert spoken.finds(query)[:1] == [f"models/plot/{name}.md"]


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_composed_and_decomposed_letters_find_each_other(spoken: hard.Vault, form: Any) -> None:
    for word in ("café", "Zürich", "ñandú", "Łódź", "がっこう", "한글"):
        spoken.note("there", unicodedata.normalize(form, f"so {word} it is"))
        for other in ("NFC", "NFD"):
            assert "models/plot/there.md" in spoken.finds(unicodedata.normalize(other, word)), (word, form, other)


def test_a_single_kana_in_two_code_points_is_found(spoken: hard.Vault) -> None:
    spoken.note("there", "ga が it is")
    assert spoken.finds("が") == ["models/plot/there.md"]
    assert spoken.finds(unicodedata.normalize("NFD", "が")) == ["models/plot/there.md"]


@pytest.mark.parametrize("query", ["K", "zebrafish", "K.", "(K)", '"K"'])
def test_a_word_that_stands_nowhere_finds_nothing(spoken: hard.Vault, query: str) -> None:
    assert spoken.finds(query) == []


def test_a_note_with_signs_that_no_file_can_hold_is_found_and_spoils_no_index(vault: hard.Vault) -> None:
    vault.note("odd", "peony", 'source: "\\ud800"', 'mood: "\\ud800 happy"')
    vault.note("plain", "dahlia")
    assert (vault.finds("peony"), vault.finds("dahlia")) == (["models/plot/odd.md"], ["models/plot/plain.md"])
    assert vault.run("reindex").code == 0
    assert vault.finds("happy") == ["models/plot/odd.md"]


@pytest.mark.parametrize("top", ["topics", "sessions", "entities", "procedures"])
def test_what_lies_beside_the_models_is_found_though_another_process_walked_before_it_was_there(
    vault: hard.Vault, top: str
) -> None:
    with Memory(vault.root) as slow, Memory(vault.root) as quick:
        quick.recall("x")

        def walk() -> Iterator[Any]:
            listing = walked(slow)
            vault.put(f"{top}/aubergine.md", "Aubergine.")
            assert [hit.path for hit in quick.recall("aubergine").hits] == [f"{top}/aubergine.md"]
            yield from listing

        slow.census.catalog.update((), walk(), [], slow.vault.value)
        assert [hit.path for hit in quick.recall("aubergine").hits] == [f"{top}/aubergine.md"]
        assert [hit.path for hit in slow.recall("aubergine").hits] == [f"{top}/aubergine.md"]

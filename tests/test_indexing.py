"""The index follows the catalog, and what it lacks is read for each search: together they are as a fresh index."""

from __future__ import annotations

import gc
import random
import shutil
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, files, indexing
from pyramid_fs import vault as vaults
from pyramid_fs.errors import DiskError, Locked
from pyramid_fs.index import LENGTHS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.indexing import Sources

WORDS = ["beans", "lupin", "quinoa", "canal", "hedge", "otter", "plum", "kiln", "heron", "ferry"]
TERMS = ["bean", "lupin", "quinoa", "canal", "hedg", "otter", "plum", "kiln", "heron", "ferri", "march", "never"]
FACETS = ["kind:note", "kind:card", "model:alice", "model:bob", "day:2026-03-02", "who:alic"]
AFRESH = "the index did not fit what is on disk, and was built afresh"


@dataclass
class Garden:
    """A vault with a person's notes, and what is known of it."""

    root: Path
    environ: dict[str, str]

    def open(self, cache: str = "cache") -> Memory:
        environ = {**self.environ, "PYRAMID_CACHE_DIR": str(self.root.parent / cache)}
        return Memory(self.root, environ=environ)

    def write(self, name: str, text: str, model: str = "alice", day: int = 1) -> Path:
        path = self.root / f"models/{model}/{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"---\ncreated: 2026-03-{day:02}T09:00:00Z\n---\n{text}\n")
        return path

    def fill(self, count: int, seed: int = 0) -> None:
        draw = random.Random(seed)
        for number in range(count):
            text = " ".join(draw.choices(WORDS, k=draw.randint(1, 9)))
            self.write(f"n{number}", text, draw.choice(["alice", "bob"]), number % 28 + 1)

    def edit(self, seed: int) -> None:
        """Change, delete, move and add some notes."""
        draw = random.Random(seed)
        notes = sorted(self.root.glob("models/*/**/n*.md"))
        changed, gone, moved, *_ = (draw.sample(notes[at::3], min(3, len(notes[at::3]))) for at in range(3))
        for path in changed:
            path.write_text(f"---\ncreated: 2026-03-02\n---\n{' '.join(draw.choices(WORDS, k=4))}")
        for path in gone:
            path.unlink()
        for path in moved:
            (path.parent / f"sub{seed}").mkdir(exist_ok=True)
            path.rename(path.parent / f"sub{seed}" / path.name)
        for number in range(3):
            self.write(f"n{seed}x{number}", " ".join(draw.choices(WORDS, k=5)), "bob", 2)


@pytest.fixture
def garden(tmp_path: Path) -> Garden:
    vaults.make_vault(tmp_path / "vault", models={"alice": "Who grows beans.", "bob": "Of the canal."})
    return Garden(tmp_path / "vault", {"PYRAMID_CONFIG": str(tmp_path / "config.toml")})


@pytest.fixture
def memory(garden: Garden) -> Iterator[Memory]:
    with garden.open() as memory:
        yield memory


def found(memory: Memory, *queries: str) -> list[list[Any]]:
    queries = queries or ("beans", "lupin canal", "otter plum kiln", '"heron ferry"', "hedge -beans", "sub1")
    return [[(hit.path, hit.score) for hit in memory.recall(query, limit=99).hits] for query in queries]


def all_of(memory: Memory, sources: Sources) -> dict[str, Any]:
    """Give all that sources answer, with paths for numbers."""
    paths = dict(memory.census.catalog.ask("SELECT id, path FROM files"))
    paths |= {-at: path for at, path in enumerate(memory.census.catalog.odd, 1)}
    norms = [0.3 + length / sources.mean for length in LENGTHS]
    columns = {term: {paths[n]: f for n, f in sources.column(term, norms, 2.0).items()} for term in TERMS}
    assert {term: len(column) for term, column in columns.items()} == {term: sources.having(term) for term in TERMS}
    facets = {facet: {paths[n] for n in sources.facet(facet)} for facet in FACETS}
    return {"columns": columns, "facets": facets, "count": sources.count, "mean": sources.mean}


def fresh(garden: Garden) -> dict[str, Any]:
    """Give what an index that was built a moment ago answers."""
    with garden.open("fresh") as memory:
        assert memory.reindex() > 0
        made = memory._search[0].sources(TERMS)
        assert made.view
        assert (made.stale, made.loose.count) == (frozenset(), 0)
        answers = all_of(memory, made)
    shutil.rmtree(garden.root.parent / "fresh")
    return answers


# What is searched: the index, and what it lacks


def test_the_index_alone_answers_as_texts_that_no_index_holds(garden: Garden, memory: Memory) -> None:
    garden.fill(20)
    memory.census.refresh()
    loose = memory._search[0].sources(TERMS)
    assert loose.view is None
    assert all_of(memory, loose) == fresh(garden)


@pytest.mark.parametrize("seed", range(1, 6))
def test_an_index_with_stale_and_loose_texts_answers_as_a_fresh_one(garden: Garden, memory: Memory, seed: int) -> None:
    garden.fill(30, seed)
    found(memory)
    garden.edit(seed)
    memory.census.refresh()
    made = memory._search[0].sources(TERMS)
    assert made.view
    assert len(made.stale) >= 9
    assert made.loose.count >= 9
    expected = fresh(garden)
    assert all_of(memory, made) == expected
    assert memory._search[0].bring_up()
    after = memory._search[0].sources(TERMS)
    assert (after.stale, after.loose.count) == (frozenset(), 0)
    assert all_of(memory, after) == expected


def test_words_begin_alike_in_the_index_and_in_what_it_lacks(garden: Garden, memory: Memory) -> None:
    garden.write("one", "beanstalk beam")
    found(memory)
    garden.write("two", "beanbag bear zebra")
    memory.census.refresh()
    made = memory._search[0].sources(["beanx"])
    assert made.begins("bean", 8) == ["bean", "beanbag", "beanstalk"]
    assert made.begins("be", 3) == ["beam", "bean", "beanbag"]
    assert made.begins("zeb", 3) == [], "of what no index holds, only what the search may ask for is kept"


def test_a_word_that_only_a_stale_text_had_begins_nothing(garden: Garden, memory: Memory) -> None:
    garden.fill(12)
    garden.write("one", "garnetfruit")
    found(memory)
    garden.write("one", "nothing of the kind")
    memory.census.refresh()
    assert memory._search[0].sources(["garnet"]).begins("garnet", 8) == []


def test_a_name_that_is_no_text_is_searched_though_no_row_holds_it(garden: Garden, memory: Memory) -> None:
    garden.fill(3)
    garden.write("odd\udce9", "saffron")
    for _ in range(2):
        assert [hit.path for hit in memory.recall("saffron").hits] == ["models/alice/odd\udce9.md"]
    made = memory._search[0].sources(["saffron"])
    assert made.having("saffron") == 1
    assert made.loose.count == 1


def test_nothing_at_all_is_searched_without_an_error(memory: Memory, garden: Garden) -> None:
    for card in garden.root.glob("models/*/*.md"):
        card.unlink()
    assert found(memory, "beans") == [[]]
    made = memory._search[0].sources(TERMS)
    assert (made.count, made.mean) == (0, 1.0)


# How it follows


def test_only_what_changed_is_taken_in(garden: Garden, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    garden.fill(10)
    found(memory)
    taken: list[str] = []
    entries = indexing.entries

    def telling(vault: Any, lacking: Any) -> Any:
        lacking = list(lacking)
        taken.extend(one.path for one in lacking)
        return entries(vault, lacking)

    monkeypatch.setattr(indexing, "entries", telling)
    found(memory)
    assert taken == []
    garden.write("fresh", "beans")
    found(memory)
    assert taken == ["models/alice/fresh.md"]


def test_a_busy_lock_holds_up_no_answer(garden: Garden, memory: Memory) -> None:
    garden.fill(20)
    found(memory)
    index = memory._search[0].index
    rev = index.meta()
    with files.locked(index.lock, 0.0):
        for seed in range(1, 4):
            garden.edit(seed)
            answer = found(memory)
            with garden.open(f"cold{seed}") as cold:
                assert answer == found(cold)
        assert index.meta() == rev
        assert not memory._search[0].bring_up()
        with pytest.raises(Locked):
            memory._search[0].bring_up(afresh=True)
    assert found(memory) == answer
    assert index.meta() != rev
    assert memory.news == []


def test_a_busy_lock_holds_up_no_first_answer(garden: Garden, memory: Memory) -> None:
    garden.fill(5)
    with files.locked(memory._search[0].index.lock, 0.0):
        answer = found(memory)
        assert memory._search[0].index.view() is None
    assert found(memory) == answer


def test_progress_is_told_of_what_takes_long(garden: Garden, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "STEP", 4)
    garden.fill(10)
    told: list[tuple[int, int]] = []
    memory.recall("beans", progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 12), (8, 12), (12, 12)]


def test_an_index_of_a_catalog_begun_anew_is_built_afresh(garden: Garden, memory: Memory) -> None:
    garden.fill(8)
    before = found(memory)
    memory.close()
    (memory._cache / "catalog.sqlite3").unlink()
    with garden.open() as again:
        assert found(again) == before
        assert again.news == [AFRESH]
        assert again.news == [], "it is said once"


# Work shared among processes


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes share the work already where there are a few texts."""
    monkeypatch.setattr(indexing, "SHARED", 5)


def litter(memory: Memory) -> list[str]:
    return [path.name for path in memory._search[0].index.folder.rglob("share-*")]


def test_processes_that_share_the_work_make_the_same_index(garden: Garden, memory: Memory, shared: None) -> None:
    garden.fill(14)
    garden.write("broken", "---\na: [\n").write_bytes(b"---\na: [\n---\nplum \xff")
    expected = fresh(garden)
    told: list[tuple[int, int]] = []
    memory.recall("beans", progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 17)
    assert told[-1] == (17, 17)
    assert told == sorted(told)
    made = memory._search[0].sources(TERMS)
    assert (made.stale, made.loose.count) == (frozenset(), 0)
    assert all_of(memory, made) == expected
    assert litter(memory) == []


@pytest.mark.slow
def test_what_was_changed_since_is_shared_too(garden: Garden, memory: Memory, shared: None) -> None:
    garden.fill(12)
    found(memory)
    for seed in (1, 2):
        garden.edit(seed)
        expected = fresh(garden)
        found(memory)
        made = memory._search[0].sources(TERMS)
        assert (made.stale, made.loose.count) == (frozenset(), 0)
        assert all_of(memory, made) == expected
    assert memory.news == []


@pytest.mark.slow
def test_small_shares_are_taken_in_one_after_the_other(
    garden: Garden, memory: Memory, shared: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "SHARE", 4)
    garden.fill(10)
    expected = fresh(garden)
    assert memory.reindex() == 12
    made = memory._search[0].sources(TERMS)
    assert made.view
    assert len(made.view.segments) == 3
    assert all_of(memory, made) == expected


def failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, when: str) -> None:
    """Let processes that index a share fail."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{when} && {{ echo 'it is full' >&2; exit 3; }}\nexec {sys.executable} \"$@\"\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_process_that_fails_costs_no_answer(
    garden: Garden, memory: Memory, shared: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    garden.fill(10)
    with garden.open("cold") as cold:
        expected = found(cold)
    with monkeypatch.context() as patched:
        failing(patched, tmp_path, "true")
        assert found(memory) == expected
        with pytest.raises(DiskError, match="a process that indexes ended early: it is full"):
            memory.reindex()
        assert litter(memory) == []
        assert found(memory) == expected
    memory.news.clear()
    assert memory.reindex() == 12
    assert found(memory) == expected


@pytest.mark.filterwarnings("default")
def test_processes_that_failed_leave_no_pipe_open(
    garden: Garden, memory: Memory, shared: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    garden.fill(10)
    failing(monkeypatch, tmp_path, "true")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            found(memory, "beans")
        gc.collect()
    assert [warning.category for warning in told] == []


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_process_that_fails_leaves_the_index_that_was_there(
    garden: Garden, memory: Memory, shared: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    garden.fill(12)
    found(memory)
    before = memory._search[0].index.meta()
    garden.edit(1)
    failing(monkeypatch, tmp_path, "true")
    found(memory)
    assert memory._search[0].index.meta() == before
    (line,) = memory.news
    assert line.startswith("the index can't be written, so every file is read: a process that indexes ended early")


def test_no_file_of_the_current_folder_is_run(
    garden: Garden, memory: Memory, shared: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "pickle.py").write_text(f"open({str(here / 'ran')!r}, 'w').close()\nfrom _pickle import *\n")
    monkeypatch.chdir(here)
    garden.fill(10)
    found(memory)
    assert not (here / "ran").exists()


def test_a_note_that_goes_between_two_looks_is_left_out(garden: Garden, memory: Memory) -> None:
    garden.fill(6)
    memory.census.refresh()
    gone = min(garden.root.glob("models/*/n*.md"))
    gone.unlink()
    assert memory._search[0].bring_up()
    made = memory._search[0].sources(TERMS)
    assert made.count == 7
    memory.census.refresh()
    assert memory._search[0].bring_up()
    assert all_of(memory, memory._search[0].sources(TERMS)) == fresh(garden)


def test_a_cache_that_can_not_be_written_is_told_by_reindex(tmp_path: Path) -> None:
    vaults.make_vault(tmp_path / "vault", models={"alice": ""})
    (tmp_path / "file").write_text("No folder.")
    environ = {"PYRAMID_CACHE_DIR": str(tmp_path / "file"), "PYRAMID_CONFIG": str(tmp_path / "none.toml")}
    with Memory(tmp_path / "vault", environ=environ) as memory, pytest.raises(DiskError, match="PYRAMID_CACHE_DIR"):
        memory.reindex()

"""The index gives what was put into it, in however many segments; a damaged one is none."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import shutil
import threading
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import index as whole
from pyramid_fs import indexed
from pyramid_fs.index import LENGTHS, Index, length_byte
from pyramid_fs.texts import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.index import View
    from pyramid_fs.indexed import Meta

KEY = indexed.key("UTC")
VOCABULARY = ["bean", "beanstalk", "beet", "be", "été", "東", "東京", "x", "user_session.py", "zz" * 30, "🎉", "hedg"]
PREFIXES = ["be", "bean", "é", "東", "zz", "q", "hedg"]
FACETS = ["kind:note", "kind:retired", "model:alice", "day:2026", "day:2026-01", "who:anna"]
TOCS = pytest.mark.filterwarnings("ignore:unclosed file .*toc:ResourceWarning")
pytestmark = TOCS


def norms(mean: float, k1: float = 1.2, b: float = 0.75) -> list[float]:
    return [k1 * (1 - b + b * length / mean) for length in LENGTHS]


@dataclass
class Plain:
    """What an index should hold, as a plain dictionary, beside the index."""

    index: Index
    draw: random.Random
    meta: Meta
    texts: dict[int, Entry] = field(default_factory=dict)
    number: int = 0

    def entry(self, number: int) -> Entry:
        draw = self.draw
        terms = {term: draw.choice([1, 1, 1, 2, 3, 40]) for term in draw.sample(VOCABULARY, draw.randint(0, 6))}
        if draw.random() < 0.1:
            terms["long"] = draw.randint(100, 9_000)
        return Entry(number, terms, tuple(draw.sample(FACETS, draw.randint(0, 4))))

    def step(self, most: int = 8) -> None:
        """Add, change and delete a few texts at random, as one commit."""
        gone = set(self.draw.sample(sorted(self.texts), min(len(self.texts), self.draw.randint(0, most // 2))))
        changed = set(self.draw.sample(sorted(gone), len(gone) // 2))
        count = self.draw.randint(0, most)
        fresh = [*changed, *range(self.number + 1, self.number + 1 + count)]
        self.number += count
        entries = [self.entry(number) for number in fresh]
        self.texts = {n: one for n, one in self.texts.items() if n not in gone} | {one.id: one for one in entries}
        self.meta = self.index.apply(self.meta, gone, entries, self.number)

    def holds(self, view: View | None) -> None:
        """Hold a view against the texts."""
        assert view
        lengths = {n: LENGTHS[length_byte(sum(one.terms.values()))] for n, one in self.texts.items()}
        assert view.count == len(self.texts)
        assert view.words == pytest.approx(sum(lengths.values()), abs=1e-9)
        assert {n for n in range(1, self.number + 1) if view.has(n)} == set(self.texts)
        some = self.draw.sample(range(1, self.number + 2), min(5, self.number))
        assert view.words_of(some) == sum(lengths.get(n, 0.0) for n in some)
        mean = max(1.0, view.words / max(1, view.count))
        for term in [*VOCABULARY, "long", "never", ""]:
            has = {n: one.terms[term] for n, one in self.texts.items() if term in one.terms}
            expected = {n: f * 3.5 / (f + 1.2 * (0.25 + 0.75 * lengths[n] / mean)) for n, f in has.items()}
            assert view.column(term, norms(mean), 3.5) == pytest.approx(expected)
            assert view.having(term) == len(has)
        for facet in [*FACETS, "kind:never", "day:202"]:
            for _ in range(2):
                assert view.facet(facet) == {n for n, one in self.texts.items() if facet in one.facets}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(tmp_path / "index", KEY)
    yield made
    made.close()


def begin(index: Index, seed: int) -> Plain:
    return Plain(index, random.Random(seed), index.begin("birth"))


def reading(index: Index) -> Index:
    """Open the same index as another process would."""
    return Index(index.folder, KEY)


@contextlib.contextmanager
def looked(index: Index) -> Iterator[View | None]:
    """Look at the index as another process would."""
    other = reading(index)
    yield other.view()
    other.close()


def segments(view: View | None) -> int:
    assert view
    return len(view.segments)


# What was put in


def test_an_empty_index_answers_with_nothing(index: Index) -> None:
    assert index.view() is None
    assert index.meta() is None
    assert not index.exists()
    plain = begin(index, 0)
    plain.holds(index.view())
    assert index.exists()
    assert index.meta() == plain.meta


def test_a_column_is_the_formula_computed_by_hand_over_many_segments(index: Index) -> None:
    meta = index.begin("birth")
    for number in range(1, 11):
        meta = index.apply(meta, set(), [Entry(number, {"bean": number, "rest": 2 * number}, ())], number)
    view = index.view()
    assert segments(view) == 10
    assert view
    k1, b, mean, most = 1.2, 0.75, 16.5, 2.0
    for number, given in view.column("bean", norms(mean), most).items():
        length = LENGTHS[length_byte(3 * number)]
        assert given == pytest.approx(number * most / (number + k1 * (1 - b + b * length / mean)))
    assert view.column("bean", norms(mean), most).keys() == set(range(1, 11))


def test_a_length_is_kept_to_within_an_eighth() -> None:
    for count in (*range(300), 1_000, 5_555, 80_000):
        assert LENGTHS[length_byte(count)] == pytest.approx(count, rel=0.13, abs=1)


def test_a_term_of_more_texts_than_one_block_is_given_whole(index: Index) -> None:
    meta = index.begin("birth")
    entries = [Entry(number, {"bean": 1, "beet": number % 3 + 1}, ("kind:note",)) for number in range(1, 701)]
    index.apply(meta, set(range(5)), entries, 700)
    view = index.view()
    assert view
    assert view.facet("kind:note") == view.column("bean", norms(3), 1.0).keys() == set(range(1, 701))
    column = view.column("beet", [0.5] * 256, 1.0)
    assert column == pytest.approx({n: (n % 3 + 1) / (n % 3 + 1.5) for n in range(1, 701)})
    assert (view.having("bean"), view.having("beet")) == (700, 700)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("many", [3, whole.MANY])
def test_random_changes_give_what_a_plain_dictionary_gives(
    index: Index, seed: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "MANY", many)
    monkeypatch.setattr(whole, "MERGED", min(many, whole.MERGED))
    plain = begin(index, seed)
    for number in range(16):
        plain.step()
        if number % 3 == 0:
            plain.holds(index.view())
    plain.holds(index.view())
    again = reading(index)
    plain.holds(again.view())
    again.close()
    assert segments(index.view()) <= many + 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_random_changes_give_what_a_plain_dictionary_gives(index: Index, seed: int) -> None:
    plain = begin(index, seed)
    for _ in range(150):
        plain.step(20)
        plain.holds(index.view())


def test_merging_bounds_the_segments_and_changes_no_answer(index: Index) -> None:
    plain = begin(index, 5)
    for _ in range(60):
        plain.number += 1
        plain.texts[plain.number] = plain.entry(plain.number)
        plain.meta = index.apply(plain.meta, set(), [plain.texts[plain.number]], plain.number)
    assert segments(index.view()) <= whole.MANY + 1
    plain.holds(index.view())


def test_a_large_segment_is_merged_only_where_there_are_too_many(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "SMALL", 3)
    monkeypatch.setattr(whole, "MANY", 2)
    monkeypatch.setattr(whole, "MERGED", 2)
    monkeypatch.setattr(whole, "MOST", 6)
    plain, most = begin(index, 1), 0
    for number in range(1, 41, 4):
        added = {n: plain.entry(n) for n in range(number, number + 4)}
        plain.texts |= added
        plain.number = number + 3
        plain.meta = index.apply(plain.meta, set(), added.values(), plain.number)
        most = max(most, segments(index.view()))
    assert 3 < most <= 7
    plain.holds(index.view())


def test_a_segment_whose_texts_are_all_gone_goes(index: Index) -> None:
    plain = begin(index, 2)
    plain.step(20)
    plain.meta = index.apply(plain.meta, set(plain.texts), [], 99)
    plain.texts.clear()
    plain.holds(index.view())
    assert segments(index.view()) == 0
    assert [path.suffix for path in (index.folder / plain.meta.folder).glob("MAIN_*.*")] == []


def test_a_text_that_was_taken_in_twice_is_there_once(index: Index) -> None:
    meta = index.begin("birth")
    meta = index.apply(meta, set(), [Entry(1, {"bean": 1}, ("kind:note",)), Entry(2, {"beet": 1}, ())], 2)
    for words in ({"bean": 2}, {"beet": 5}):
        meta = index.apply(meta, {1}, [Entry(1, words, ("kind:note",))], 3)
    view = index.view()
    assert view
    assert (view.count, view.having("bean"), view.having("beet")) == (2, 0, 2)


def test_beginning_afresh_leaves_nothing_of_the_index_before(index: Index) -> None:
    plain = begin(index, 3)
    plain.step(20)
    meta = index.begin("another")
    assert [path.name for path in index.folder.iterdir() if path.is_dir()] == [meta.folder]
    view = index.view()
    assert view
    assert (view.count, view.meta.birth, view.meta.rev) == (0, "another", 0)


def test_segments_written_elsewhere_are_adopted_as_if_written_here(index: Index, tmp_path: Path) -> None:
    plain = begin(index, 4)
    plain.step(12)
    draw = plain.draw
    for number in range(4):
        gone = set(draw.sample(sorted(plain.texts), 2))
        part = [plain.entry(n) for n in range(plain.number + 1, plain.number + 7)]
        plain.number += 6
        segment = reading(index).write_segment(tmp_path / f"own{number}", part)
        plain.holds(index.view())
        plain.texts = {n: one for n, one in plain.texts.items() if n not in gone} | {one.id: one for one in part}
        plain.meta = index.adopt(plain.meta, segment, tmp_path / f"own{number}", gone, plain.number)
        plain.holds(index.view())
        with looked(index) as view:
            plain.holds(view)
    plain.step()
    plain.holds(index.view())


# The first terms of a beginning


def begins_as_told(plain: Plain, view: View | None) -> None:
    assert view
    held = {term for one in plain.texts.values() for term in one.terms}
    for prefix in PREFIXES:
        assert view.begins(prefix, 50) == sorted(term for term in held if term.startswith(prefix))


def test_terms_that_begin_alike_are_listed_over_all_segments(index: Index) -> None:
    plain = begin(index, 6)
    for _ in range(6):
        fresh = {plain.number + at: plain.entry(plain.number + at) for at in range(1, 4)}
        plain.number += 3
        plain.texts |= fresh
        plain.meta = index.apply(plain.meta, set(), fresh.values(), plain.number)
        begins_as_told(plain, index.view())


def test_the_first_terms_that_begin_alike_are_the_first_of_all_segments(index: Index) -> None:
    meta = index.begin("birth")
    meta = index.apply(meta, set(), [Entry(1, {f"kb{n:02}": 1 for n in range(20)}, ())], 1)
    index.apply(meta, set(), [Entry(2, {f"ka{n:02}": 1 for n in range(20)}, ())], 2)
    view = index.view()
    assert segments(view) == 2
    assert view
    assert view.begins("k", 8) == [f"ka{n:02}" for n in range(8)]


def test_a_term_that_only_deleted_texts_have_begins_nothing(index: Index) -> None:
    meta = index.begin("birth")
    meta = index.apply(meta, set(), [Entry(n, {"bean": 1, f"beans{n}": 1}, ()) for n in range(1, 11)], 10)
    index.apply(meta, {4}, [], 11)
    view = index.view()
    assert view
    assert view.begins("beans4", 8) == []


# Readers and writers


@pytest.mark.parametrize("seed", range(3))
def test_a_view_that_stays_open_goes_on_as_it_was_while_others_commit_and_merge(index: Index, seed: int) -> None:
    plain = begin(index, seed)
    plain.step(20)
    reader = reading(index)
    kept = reader.view()
    assert kept
    before = {term: kept.column(term, norms(9), 2.0) for term in VOCABULARY}
    facets = {facet: set(kept.facet(facet)) for facet in FACETS}
    for _ in range(30):
        plain.step(3)
    assert {term: kept.column(term, norms(9), 2.0) for term in VOCABULARY} == before
    assert {facet: kept.facet(facet) for facet in FACETS} == facets
    plain.holds(reader.view())
    index.begin("another")
    plain_again = reader.view()
    assert plain_again
    assert plain_again.count == 0
    reader.close()


def test_a_view_is_the_same_for_as_long_as_nothing_was_committed(index: Index) -> None:
    plain = begin(index, 7)
    plain.step()
    view = index.view()
    assert index.view() is view
    plain.step()
    assert index.view() is not view


def test_segments_that_stand_are_read_once(index: Index) -> None:
    meta = index.begin("birth")
    meta = index.apply(meta, set(), [Entry(n, {"bean": 1}, ()) for n in range(1, 31)], 30)
    first = index.view()
    index.apply(meta, set(), [Entry(31, {"bean": 1}, ())], 31)
    second = index.view()
    assert first
    assert second
    assert first.segments.items() <= second.segments.items()
    assert (first.having("bean"), second.having("bean")) == (30, 31), (
        "the view before is good for as long as it is kept"
    )


def test_threads_that_search_one_view_at_once_get_the_same(index: Index) -> None:
    plain = begin(index, 8)
    for _ in range(5):
        plain.step(20)
    view = index.view()
    assert view
    expected = {term: view.column(term, norms(9), 2.0) for term in VOCABULARY}
    wrong: list[str] = []

    def search() -> None:
        for _ in range(20):
            wrong.extend(term for term in VOCABULARY if view.column(term, norms(9), 2.0) != expected[term])

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_commit_that_fails_in_the_middle_changes_nothing_and_holds_nobody_up(index: Index) -> None:
    plain = begin(index, 9)
    plain.step(10)

    def failing() -> Iterator[Entry]:
        yield plain.entry(500)
        raise RuntimeError("in the middle")

    for number in range(2):
        with pytest.raises(RuntimeError, match="in the middle"):
            index.apply(plain.meta, set(plain.texts), failing(), 500)
        with pytest.raises(RuntimeError, match="in the middle"):
            index.write_segment(index.folder / f"own{number}", failing())
    with looked(index) as view:
        plain.holds(view)
    plain.step()
    plain.holds(index.view())


def test_a_commit_that_a_kill_left_unsaid_is_read_with_what_it_holds(index: Index, tmp_path: Path) -> None:
    plain = begin(index, 10)
    plain.step(10)
    shutil.copy2(index.folder / indexed.META, tmp_path / "before")
    said = plain.meta
    assert index.is_said(said)
    plain.step(10)
    (tmp_path / "before").replace(index.folder / indexed.META)
    assert not index.is_said(said)
    with looked(index) as view:
        plain.holds(view)
        assert view
        assert view.meta.rev == said.rev


# Damage


def spoiled(index: Index, draw: random.Random) -> Iterator[str]:
    """Damage each file that the index says something of, in each way; the rest is as it was."""
    meta = index.meta()
    assert meta
    folder = index.folder / meta.folder
    for name in sorted(meta.files):
        good = (folder / name).read_bytes()
        at = draw.randrange(len(good))
        for bad in (None, b"", good[: len(good) // 2], bytes(len(good)), draw.randbytes(len(good)), good + b"\0",
                    good[:at] + bytes([good[at] ^ 1 << draw.randrange(8)]) + good[at + 1 :]):  # fmt: skip
            if bad is None:
                (folder / name).unlink()
            else:
                (folder / name).write_bytes(bad)
            if bad != good:
                yield name
            (folder / name).write_bytes(good)


def test_damage_to_any_file_makes_the_index_none(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "PAUSE", 0.0)
    plain, seen = begin(index, 11), 0
    plain.step(20)
    plain.step(4)
    index.close()
    for name in spoiled(index, plain.draw):
        with looked(index) as view:
            assert view is None, name
        seen += 1
    assert seen > 50
    with looked(index) as view:
        plain.holds(view)


@pytest.mark.parametrize(
    "suffix",
    [".id.col", ".pst", "._text_len.col"],
)
@pytest.mark.parametrize("damage", ["zeroed", "removed"])
def test_a_commit_on_top_of_a_damaged_segment_does_not_make_it_good(
    index: Index, suffix: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has read the index goes on with it; what it says of the files others believe."""
    monkeypatch.setattr(whole, "PAUSE", 0.0)
    meta = index.begin("birth")
    texts = [Entry(n, {"bean": 1, "beet": n % 3 + 1}, ()) for n in range(1, 301)]
    meta = index.apply(meta, set(), texts, 300)
    assert index.view()
    (segment,) = (path for path in (index.folder / meta.folder).iterdir() if path.name.endswith(suffix))
    if damage == "zeroed":
        segment.write_bytes(bytes(segment.stat().st_size))
    else:
        segment.unlink()
    with contextlib.suppress(OSError, ValueError):
        index.apply(meta, set(), [Entry(301, {"bean": 1}, ())], 301)
    with looked(index) as view:
        assert view is None


def test_a_power_cut_that_left_zeros_in_a_file_makes_the_index_none(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "PAUSE", 0.0)
    plain = begin(index, 12)
    plain.step(20)
    meta = indexed.read(index.folder, KEY)
    assert meta
    monkeypatch.setattr(indexed, "boot", lambda: "after another start")
    for name in meta.files:
        path = index.folder / meta.folder / name
        good, stat = path.read_bytes(), path.stat()
        for data, none in ((bytes(len(good)), True), (good, False)):
            path.write_bytes(data)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            with looked(index) as view:
                assert (view is None) == none, name


@pytest.mark.filterwarnings("default")
def test_a_damaged_list_of_segments_is_not_left_open(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "PAUSE", 0.0)
    meta = index.begin("birth")
    toc = next((index.folder / meta.folder).glob("*.toc"))
    toc.write_bytes(bytes(toc.stat().st_size))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with looked(index) as view:
            assert view is None
        gc.collect()
    assert [warning.category for warning in told] == []


def test_what_is_in_the_way_of_an_index_gives_way_to_it(index: Index) -> None:
    index.folder.write_text("in the way")
    assert index.exists()
    assert index.view() is None
    index.clear_way()
    plain = begin(index, 13)
    plain.step()
    plain.holds(index.view())


def test_a_lock_alone_is_no_index(index: Index) -> None:
    index.folder.mkdir()
    index.lock.touch()
    assert not index.exists()
    (index.folder / "i-half").mkdir()
    assert index.exists()
    assert index.view() is None

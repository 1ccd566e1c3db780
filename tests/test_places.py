"""Places: the notes beside a note in each of its models, and its batches, the same for a large model as for a small."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, places, ranking
from pyramid_fs import vault as vaults
from pyramid_fs.places import CHARS, Places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
SETTINGS = "format = 1\n[pyramid]\nbatch_notes = 3\nfan_in = 2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vaults.make_vault(tmp_path / "vault", models={"alice": "", "bob": ""})
    return tmp_path / "vault"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    with Memory(root, environ=environ, clock=lambda: NOW) as memory:
        yield memory


def write(root: Path, name: str, day: int, text: str = "", model: str = "alice") -> None:
    path = root / f"models/{model}/{name}.md"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(f"---\ncreated: 2026-01-{day:02}T09:00:00Z\n---\n{text or f'Note {name}'}\n")


def fill(root: Path, count: int, model: str = "alice") -> None:
    for number in range(1, count + 1):
        write(root, f"{model[0]}{number:02}", number, model=model)


class Seen:
    """Places with names for numbers."""

    def __init__(self, memory: Memory) -> None:
        memory.census.refresh()
        self.ask = memory.census.catalog.ask
        self.places = Places(memory.census.catalog)
        self.places.fresh()

    def number(self, handle: str) -> int:
        return int(self.ask("SELECT id FROM files WHERE handle = ? ORDER BY path", handle)[0][0])

    def name(self, number: Any) -> str:
        found = self.ask("SELECT handle FROM files WHERE id = ?", number)
        return str(found[0][0]) if found else ""

    def beside(self, handle: str) -> list[tuple[list[str], list[str]]]:
        found = self.places.of(self.number(handle))
        return [([self.name(n) for n in place.before], [self.name(n) for n in place.after]) for place in found]

    def groups(self, handle: str) -> list[list[str]]:
        found = self.places.of(self.number(handle))
        return [[self.name(group.summary) for group in place.groups] for place in found]

    def all(self) -> dict[str, Any]:
        handles = [handle for (handle,) in self.ask("SELECT handle FROM files WHERE at IS NOT NULL ORDER BY path")]
        return {handle: (self.beside(handle), self.groups(handle)) for handle in handles}


def test_the_two_notes_each_way_are_beside_a_note_the_nearest_first(root: Path, memory: Memory) -> None:
    fill(root, 6)
    seen = Seen(memory)
    assert seen.beside("a03") == [(["a02", "a01"], ["a04", "a05"])]
    assert seen.beside("a01") == [([], ["a02", "a03"])]
    assert seen.beside("a02") == [(["a01"], ["a03", "a04"])]
    assert seen.beside("a06") == [(["a05", "a04"], [])]


def test_notes_of_one_moment_stand_in_the_order_of_their_paths(root: Path, memory: Memory) -> None:
    for name in ("c", "a", "b"):
        write(root, name, 5)
    assert Seen(memory).beside("b") == [(["a"], ["c"])]


def test_notes_of_another_model_are_not_beside_it(root: Path, memory: Memory) -> None:
    fill(root, 3)
    fill(root, 3, "bob")
    seen = Seen(memory)
    assert seen.beside("a02") == [(["a01"], ["a03"])]
    assert seen.beside("b02") == [(["b01"], ["b03"])]


def test_what_is_no_note_has_no_place(root: Path, memory: Memory) -> None:
    fill(root, 2)
    (root / "topics/hedges.md").write_text("---\ntitle: Hedges\n---\n")
    seen = Seen(memory)
    assert seen.places.of(seen.number("hedges")) == ()
    assert seen.places.of(seen.number("alice")) == ()
    assert seen.places.of(99_999) == seen.places.of(-1) == ()


def test_a_text_stands_in_each_model_that_embeds_it(root: Path, memory: Memory) -> None:
    fill(root, 3)
    fill(root, 4, "bob")
    write(root, "shown", 2, "![[a02]]", "bob")
    write(root, "again", 4, "![[shown]]", "carol")
    write(root, "after", 5, model="carol")
    seen = Seen(memory)
    assert seen.beside("a02") == [
        (["a01"], ["a03"]),
        (["b02", "b01"], ["b03", "b04"]),
        ([], ["after"]),
    ]
    assert seen.beside("b03") == [(["a02", "b02"], ["b04"])], "an embed beside a note stands for the text that it shows"
    assert seen.beside("after") == [(["a02"], [])]


def test_embeds_in_a_circle_end(root: Path, memory: Memory) -> None:
    write(root, "one", 1, "![[two]]")
    write(root, "two", 2, "![[one]]")
    write(root, "itself", 3, "![[itself]]")
    write(root, "lost", 4, "![[nowhere]]")
    seen = Seen(memory)
    for name in ("one", "two", "itself", "lost"):
        assert seen.places.of(seen.number(name))
    assert seen.places.shown("one") == seen.places.shown("itself") == seen.places.shown("nowhere") == 0


def test_length_is_the_mean_of_the_models_own_texts(root: Path, memory: Memory) -> None:
    write(root, "one", 1, "x" * 53)
    write(root, "two", 2, "x" * 159)
    write(root, "three", 3, "![[one]]")
    seen = Seen(memory)
    (place, _) = seen.places.of(seen.number("one"))
    assert place.length == pytest.approx(106 / CHARS)


def grown(root: Path, memory: Memory, count: int) -> None:
    (root / "pyramid.toml").write_text(SETTINGS)
    fill(root, count)
    with Memory(root, environ={"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root / "none")},
                clock=lambda: NOW) as growing:  # fmt: skip
        assert growing.advance().exit_code == 0


def test_groups_are_the_summary_of_a_note_and_those_above_it(root: Path, memory: Memory) -> None:
    grown(root, memory, 14)
    seen = Seen(memory)
    for name in ("a01", "a03", "a04", "a07", "a12"):
        wanted, at = list[str](), name
        while True:
            above = seen.ask("SELECT summary FROM sources WHERE name = ?", at)
            if not above:
                break
            (at,) = seen.ask("SELECT handle FROM files WHERE path = ?", above[0][0])[0]
            wanted.append(at)
        assert len(wanted) >= 2
        assert seen.groups(name) == [wanted[: ranking.TIERS]]
        place = seen.places.of(seen.number(name))[0]
        assert [group.name for group in place.groups] == [
            seen.ask("SELECT path FROM files WHERE handle = ?", one)[0][0] for one in wanted[: ranking.TIERS]
        ]
    assert seen.groups("a01") == seen.groups("a03") != seen.groups("a04")
    assert seen.groups("a01")[0][1:] == seen.groups("a04")[0][1:], "two batches are one of the tier above"


def test_notes_that_no_summary_has_are_grouped_by_their_order(root: Path, memory: Memory) -> None:
    fill(root, 25)
    seen = Seen(memory)
    names = [[group.name for group in seen.places.of(seen.number(f"a{n:02}"))[0].groups] for n in range(1, 26)]
    summaries = [group.summary for n in range(1, 26) for group in seen.places.of(seen.number(f"a{n:02}"))[0].groups]
    assert set(summaries) == {None}
    assert names[0] == names[9] != names[10]
    assert names[0][1] == names[10][1] == names[24][1]
    assert {name[0] for name in names} & {name[1] for name in names} == set()


def test_the_tail_after_summaries_is_counted_by_itself(root: Path, memory: Memory) -> None:
    grown(root, memory, 8)
    seen = Seen(memory)
    with_none = [
        n for n in range(1, 9) if {g.summary for g in seen.places.of(seen.number(f"a{n:02}"))[0].groups} == {None}
    ]
    assert with_none == [7, 8]
    (one,), (two,) = (seen.places.of(seen.number(name)) for name in ("a07", "a08"))
    assert one.groups == two.groups


def test_a_large_model_gives_the_same_as_one_that_is_read_into_memory(
    root: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "shown", 4, "![[a02]]", "bob")
    fill(root, 5, "bob")
    grown(root, memory, 15)
    write(root, "sub/a16", 16)
    write(root, "aaa", 9)
    write(root, "late", 20, "![[b01]]")
    listed = Seen(memory).all()
    monkeypatch.setattr(places, "LISTED", 0)
    seen = Seen(memory)
    assert seen.places._read("alice") is None
    sought = seen.all()
    assert len(sought) > 20
    for handle, (beside, groups) in listed.items():
        assert sought[handle][0] == beside, handle
        if all(any(stand) for stand in groups):
            assert sought[handle][1] == groups, handle
    assert sum(all(any(stand) for stand in groups) for _, groups in listed.values()) >= 12


def test_at_the_bound_a_model_is_still_read_into_memory(
    root: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(root, 4)
    for bound, listed in ((4, True), (3, False)):
        monkeypatch.setattr(places, "LISTED", bound)
        assert (Seen(memory).places._read("alice") is not None) == listed


def test_a_change_is_seen_once_it_is_asked_for_afresh(root: Path, memory: Memory) -> None:
    fill(root, 4)
    seen = Seen(memory)
    assert seen.beside("a02") == [(["a01"], ["a03", "a04"])]
    (root / "models/alice/a03.md").unlink()
    write(root, "between", 2)
    memory.census.refresh()
    seen.places.fresh()
    assert seen.beside("a02") == [(["a01"], ["between", "a04"])]


def test_rows_in_memory_alone_give_the_same_places(root: Path, memory: Memory) -> None:
    fill(root, 6)
    write(root, "shown", 3, "![[a02]]", "bob")
    expected = Seen(memory).all()
    (root.parent / "in-the-way").write_text("no folder")
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "in-the-way"), "PYRAMID_CONFIG": str(root / "none")}
    with Memory(root, environ=environ) as bare:
        assert bare.census.catalog.birth == ""
        assert Seen(bare).all() == expected
        write(root, "a02b", 2)
        seen = Seen(bare)
        assert seen.beside("a02")[0] == (["a01"], ["a02b", "a03"])


def test_places_that_are_remembered_are_those_that_a_new_look_finds(root: Path, memory: Memory) -> None:
    fill(root, 9)
    fill(root, 9, "bob")
    kept = Seen(memory)

    def agree() -> dict[str, Any]:
        memory.census.refresh()
        kept.places.fresh()
        assert kept.all() == Seen(memory).all()
        return kept.all()

    found = [agree()]
    for change in (
        lambda: write(root, "between", 4),
        lambda: write(root, "a05", 1, "It was earlier."),
        lambda: memory.advance(["alice"]),
        lambda: write(root, "shown", 2, "![[a02]]", "bob"),
        (root / "models/alice/a03.md").unlink,
        lambda: (root / "models/alice/a04.md").rename(root / "models/bob/a04.md"),
        memory.advance,
        lambda: memory.forget("b02"),
    ):
        change()
        found.append(agree())
        assert found[-1] != found[-2], "each of these changes a place"


def test_a_change_reads_the_model_it_is_in_again_and_no_other(root: Path, memory: Memory) -> None:
    fill(root, 9)
    fill(root, 9, "bob")
    seen = Seen(memory)
    seen.all()
    kept = dict(seen.places._models)
    write(root, "between", 4, model="bob")
    memory.census.refresh()
    seen.places.fresh()
    seen.all()
    assert [seen.places._models[model] is kept[model] for model in ("alice", "bob")] == [True, False]

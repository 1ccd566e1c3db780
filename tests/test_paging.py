"""What of an answer fits: every page whole, every item once, what is left out named with the call that shows it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import paging
from pyramid_fs.calls import TOOLS
from pyramid_fs.context import Expanded, Hit, Hits, Map, ModelLine, Rollup, RollupSource, Text
from pyramid_fs.errors import UsageError
from pyramid_fs.paging import Face
from pyramid_fs.views import NAMED, Left

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = st.lists(st.integers(0, 60), max_size=25)
LINE, ITEM = 40, 20
"""What a test's answer pays for a line of the map or a named rest, and for an item beside its text."""


def line(number: int, size: int = 0) -> ModelLine:
    return ModelLine(f"model{number}", "d" * size, 1, 0, {}, "", "", (), 0, 0)


def text(number: int, size: int = 0, **more: Any) -> Text:
    given_: dict[str, Any] = {"tier": -1, "notes": 1, "created": "", "span_from": "", "span_to": "", **more}
    return Text(f"note{number}", f"models/a/note{number}.md", ("a",), text="t" * size, **given_)


def cost(found: Any) -> int:
    """Count characters, much cruder than a real answer's cost."""
    if isinstance(found, Map):
        texts = [*(model.description for model in found.models), *(note.text for note in found.recent)]
        return sum(LINE + len(each) for each in texts) + LINE * len(found.left) + sum(map(len, found.archived))
    if isinstance(found, Expanded):
        texts = [note.text for note in found.below]
        named = sum(ITEM + len(left.call) // 10 for left in found.left)
        return len(found.text.text) + sum(ITEM + len(each) for each in texts) + named
    if isinstance(found, Hits):
        return sum(ITEM + len(hit.text) for hit in found.hits)
    assert isinstance(found, Rollup)
    return sum(ITEM + len(item.text) for item in found.items) + ITEM * len(found.left)


def face(room: int) -> Face:
    return Face(TOOLS, 100, lambda found: cost(found) <= room)


def arguments(call: str) -> dict[str, Any]:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    return {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}


# A long text in parts


@given(st.text(alphabet="ab .\n。渡", max_size=3000), st.integers(400, 900))
def test_a_text_shown_in_parts_is_whole_when_they_are_joined(long: str, room: int) -> None:
    parts = list(paging.text_parts(long, lambda part: len(part) <= room))
    assert "".join(parts) == long
    assert all(len(part) <= room for part in parts)
    assert all(parts) or not long
    assert len(parts) <= len(long) // (room // 3) + 1


@pytest.mark.parametrize("mark", ["\n\n", "\n", "。", ". ", " "])
def test_a_text_breaks_where_something_ends(mark: str) -> None:
    long = mark.join("x" * 90 for _ in range(40))
    *parts, _ = paging.text_parts(long, lambda part: len(part) <= 1000)
    assert len(parts) > 2
    assert all(part.endswith(mark) for part in parts)


def test_a_text_without_ends_breaks_where_it_must() -> None:
    assert [len(part) for part in paging.text_parts("x" * 2500, lambda part: len(part) <= 1000)] == [1000, 1000, 500]


def test_a_part_is_never_too_short_for_a_call() -> None:
    parts = list(paging.text_parts("x" * 1000, lambda _: False))
    assert "".join(parts) == "x" * 1000
    assert all(len(part) >= 400 for part in parts[:-1])
    assert list(paging.text_parts("short", lambda _: False)) == ["short"]


# The map


def map_of(sizes: list[int], notes: list[int], archived: tuple[str, ...] = (), left: tuple[Left, ...] = ()) -> Map:
    models = tuple(line(number, size) for number, size in enumerate(sizes))
    return Map("v", models, archived, tuple(text(number, size) for number, size in enumerate(notes)), left)


def pages_of_map(whole: Map, room: int) -> Iterator[Map]:
    page = 1
    while True:
        found = paging.map_page(whole, page, face(room))
        yield found
        going_on = [left for left in found.left if left.what == "models"]
        if not going_on:
            return
        page = int(arguments(going_on[0].call)["page"])


@given(SIZES, SIZES, st.integers(LINE * 2 + 60, 500))
def test_the_pages_of_a_map_hold_every_model_once_in_order(sizes: list[int], notes: list[int], room: int) -> None:
    whole = map_of(sizes, notes)
    pages = list(pages_of_map(whole, room))
    assert tuple(model for page in pages for model in page.models) == whole.models
    assert all(
        cost(page) <= room + LINE for page in pages
    )  # the line that names the notes left out has no model's room
    assert not any(page.recent for page in pages[1:])
    shown = len(pages[0].recent)
    assert pages[0].recent == whole.recent[:shown]
    missed = [left for left in pages[0].left if left.what != "models"]
    assert sum(left.count for left in missed) == len(notes) - shown
    with pytest.raises(UsageError, match=f"no page {len(pages) + 1}: its last is {len(pages)}"):
        paging.map_page(whole, len(pages) + 1, face(room))


def test_a_map_that_fits_is_what_it_is() -> None:
    left = (Left("too long", 1, 9, ("n",), "call"),)
    whole = map_of([1, 2, 3], [4, 5], ("old",), left)
    assert paging.map_page(whole, 1, face(10_000)) is whole
    assert paging.map_page(whole, 1, Face()) is whole


def test_a_map_names_what_is_left_out_with_the_next_page() -> None:
    found = paging.map_page(map_of([0] * 30, [0] * 3), 1, face(LINE * 4))
    models, notes = found.left
    assert (models.count, models.handles) == (30 - len(found.models), tuple(f"model{n}" for n in range(3, 3 + NAMED)))
    assert models.call == "load_memory(page=2)"
    assert (notes.count, notes.call) == (3, 'load_model(names=["a"])')


def test_archived_names_stand_on_the_first_page_and_give_way_to_models() -> None:
    pages = list(pages_of_map(map_of([0] * 9, [], ("old",)), LINE * 4))
    assert [page.archived for page in pages] == [("old",), (), ()]
    crowded = list(pages_of_map(map_of([0] * 9, [], tuple("o" * 50 for _ in range(9))), LINE * 4))
    assert not any(page.archived for page in crowded)
    assert sum(len(page.models) for page in crowded) == 9


# Hits


@given(SIZES, st.integers(0, 600), st.none() | st.just("the next ten"))
def test_hits_that_do_not_fit_are_shown_by_the_next_call(sizes: list[int], room: int, more: str | None) -> None:
    hits = tuple(Hit(f"h{n}", "", "note", ("a",), None, "", "t" * size, 1.0) for n, size in enumerate(sizes))
    whole = Hits("v", "q", hits, more)
    found = paging.hits_page(whole, lambda at: f"from {at}", face(room))
    assert found.hits == hits[: len(found.hits)]
    assert found.hits or not hits
    assert cost(found) <= room or len(found.hits) == 1
    assert found.next == (more if len(found.hits) == len(hits) else f"from {len(found.hits)}")


# What a handle leads to


def expanded(size: int, sizes: list[int], left: tuple[Left, ...] = ()) -> Expanded:
    below = tuple(text(number, each) for number, each in enumerate(sizes))
    own = "".join(f"{number:09}\n" for number in range(size // 10))
    return Expanded("v", "h", "summary", ("a",), Text("h", "", ("a",), 0, 9, "", "", "", own), (), below, (), left)


def pages_of_expanded(whole: Expanded, room: int) -> Iterator[Expanded]:
    page = 1
    while True:
        found = paging.expanded_page(whole, 2, page, face(room))
        yield found
        on = [arguments(left.call) for left in found.left if left.call and arguments(left.call).get("page", 1) > 1]
        if not on:
            return
        assert [each["depth"] for each in on] == [2]
        assert on[0]["page"] == page + 1
        page += 1


@given(st.integers(0, 4000), st.lists(st.integers(0, 900), max_size=12), st.integers(500, 1200))
def test_the_pages_of_a_handle_hold_its_text_whole_and_every_item_once(size: int, sizes: list[int], room: int) -> None:
    whole = expanded(size, sizes)
    pages = list(pages_of_expanded(whole, room))
    assert "".join(page.text.text for page in pages) == whole.text.text
    huge = tuple(note for note in whole.below if cost(expanded(0, [len(note.text)])) > room)
    assert [note for page in pages for note in page.below] == [note for note in whole.below if note not in huge]
    named = [left.handles[0] for page in pages for left in page.left if left.what == paging.TOO_LONG]
    assert named == [note.handle for note in huge]
    assert all(page.text.text or page.below or page.left for page in pages) or len(pages) == 1
    with pytest.raises(UsageError, match=f"h has no page {len(pages) + 1}: its last is {len(pages)}"):
        paging.expanded_page(whole, 2, len(pages) + 1, face(room))


def test_what_fits_is_one_page_and_says_nothing_of_more() -> None:
    whole = expanded(100, [1, 2, 3])
    assert paging.expanded_page(whole, 1, 1, face(5000)) is whole
    with pytest.raises(UsageError, match="no page 2"):
        paging.expanded_page(whole, 1, 2, face(5000))


def test_what_was_left_out_before_is_still_named() -> None:
    before = (Left("too long", 1, 90_000, ("n",), TOOLS.expand("n")),)
    pages = list(pages_of_expanded(expanded(2000, [300] * 4, before), 700))
    assert sum(left in page.left for page in pages for left in before) == 1


# A batch that is due


@given(SIZES, st.integers(ITEM * 25, 900))
def test_a_batch_holds_every_source_or_names_it_with_its_call(sizes: list[int], room: int) -> None:
    items = tuple(RollupSource(f"s{number}", "", "t" * size) for number, size in enumerate(sizes))
    found = paging.rollup_page(Rollup("t", "a", 0, 600, "rules", items, 0), face(room))
    named = {left.handles[0]: arguments(left.call)["handle"] for left in found.left}
    assert all(handle == shown for handle, shown in named.items())
    assert sorted([*(item.handle for item in found.items), *named]) == sorted(item.handle for item in items)
    assert list(found.items) == [item for item in items if item.handle not in named]
    assert cost(found) <= room
    longest = max((len(item.text) for item in found.items), default=0)
    assert all(left.chars >= longest for left in found.left)

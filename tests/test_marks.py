"""Git's conflict markers in a text: found where git wrote them, taken apart, left alone where they are talked of."""

from __future__ import annotations

import pytest

from pyramid_fs import format as pages
from pyramid_fs import marks

CONFLICT = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> origin/main\n"


def test_a_text_of_two_sides_is_two_texts() -> None:
    found = marks.sides(f"before\n{CONFLICT}between\n{CONFLICT}after\n")
    assert found == marks.Sides(
        "before\nmine\nbetween\nmine\nafter\n", None, "before\ntheirs\nbetween\ntheirs\nafter\n"
    )


def test_what_both_began_from_is_known_where_the_markers_say_it() -> None:
    found = marks.sides("a\n<<<<<<< ours\nb\n||||||| 1f2e\nwas\n=======\n>>>>>>> theirs\nc\n")
    assert found == marks.Sides("a\nb\nc\n", "a\nwas\nc\n", "a\nc\n")


def test_line_ends_of_windows_stay() -> None:
    found = marks.sides(CONFLICT.replace("\n", "\r\n"))
    assert found == marks.Sides("mine\r\n", None, "theirs\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "No marks.\n",
        "<<<<<<< HEAD\nmine\n",
        "<<<<<<< HEAD\nmine\n=======\ntheirs\n",
        "<<<<<<< HEAD\nmine\n>>>>>>> theirs\n",
        "Git writes <<<<<<< HEAD at a line's start.\n=======\n>>>>>>> x\n",
        f"    {CONFLICT}".replace("\n", "\n    "),
        f"So it looks:\n```\n{CONFLICT}```\n",
        f"~~~~text\n{CONFLICT}~~~\n~~~~\n",
        "A heading\n=======\nText.\n",
        ">>>>>>> x\n=======\n<<<<<<< y\n",
    ],
)
def test_a_text_that_only_tells_of_them_holds_none(text: str) -> None:
    assert marks.sides(text) is None
    assert not pages.read(text.encode()).problem


def test_a_fence_that_was_closed_hides_nothing() -> None:
    assert marks.sides(f"```\ncode\n```\n{CONFLICT}") is not None


def test_in_code_they_count_where_git_says_that_it_waits() -> None:
    text = f"```\n{CONFLICT}```\n"
    assert marks.sides(text, in_code=True) == marks.Sides("```\nmine\n```\n", None, "```\ntheirs\n```\n")


@pytest.mark.parametrize(
    "text",
    [
        f"Text.\n{CONFLICT}",
        f"---\ntitle: a\n{CONFLICT}---\nText.\n",
        f"---\n{CONFLICT.replace('mine', 'a: 1').replace('theirs', 'a: 2')}---\nText.\n",
        "---\n<<<<<<< HEAD\na: 1\n---\nmine\n=======\na: 2\n---\ntheirs\n>>>>>>> x\n",
    ],
)
def test_a_file_that_holds_them_is_a_problem(text: str) -> None:
    assert pages.read(text.encode()).problem == marks.REASON

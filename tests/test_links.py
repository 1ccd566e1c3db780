"""Links are read with whatever people and Obsidian put around a handle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import links

NAMES = st.text(
    st.characters(exclude_characters="[]|\\/\n", exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1
)


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("[[Beans]]", "Beans"),
        ("[[Beans|the long ones]]", "Beans"),
        (r"[[Beans\|in a table]]", "Beans"),
        ("[[Beans.md]]", "Beans"),
        ("[[Beans.MD|the long ones]]", "Beans"),
        ("[[notes/Beans.md]]", "notes/Beans"),
        ("[[./notes/Beans]]", "notes/Beans"),
        ("[[/notes/Beans/]]", "notes/Beans"),
        (r"[[notes\Beans]]", "notes/Beans"),
        ("[[ Beans ]]", "Beans"),
        ("  [[Beans]]\n", "Beans"),
        ("![[Beans]]", "Beans"),
        ("see [[Beans]] there", "Beans"),
        ("[[Beans]] and [[Peas]]", "Beans"),
        ("Beans", "Beans"),
        ("Beans.md", "Beans"),
        ("notes/Beans.md", "notes/Beans"),
        (" ./Beans ", "Beans"),
        ("[[Beans 2.0]]", "Beans 2.0"),
        ("[[Beans.mdx]]", "Beans.mdx"),
        ("[[C# tips]]", "C# tips"),
        ("C# tips", "C# tips"),
        ("this | that", "this | that"),
        ("[[a [1]]]", "a [1]"),
        ("a [1]", "a [1]"),
        ("[[Lo\u0308wenzahn]]", "L\u00f6wenzahn"),
        ("[[]]", ""),
        ("", ""),
    ],
)
def test_a_link_means_the_handle_in_it(text: str, handle: str) -> None:
    assert links.target(text) == handle


@given(NAMES.filter(lambda name: not name.lower().endswith(".md")))
def test_a_handle_reads_back_from_its_link_alone_with_an_alias_or_with_md(name: str) -> None:
    handle = links.target(name)
    assert links.target(links.spell(handle)) == handle
    assert links.target(f"[[{handle}|an alias]]") == handle
    assert links.target(f"[[{handle}.md]]") == handle


@pytest.mark.parametrize(
    ("body", "handle"),
    [
        ("![[Beans]]", "Beans"),
        ("\n ![[Beans]]  \n\n", "Beans"),
        ("![[notes/Beans.md|the long ones]]", "notes/Beans"),
        ("![[v1.25]]", "v1.25"),
        ("![[Lunch with St.John]]", "Lunch with St.John"),
        ("![[Beans.md]]", "Beans"),
        ("![[Beans#In the garden]]", ""),
        ("![[Beans#^block]]", ""),
        ("![[harvest.png]]", ""),
        ("![[harvest.JPEG|300]]", ""),
        ("![[plan.canvas]]", ""),
        ("![[scan.pdf ]]", ""),
        ("[[Beans]]", ""),
        ("![[Beans]] and more", ""),
        ("![[Beans]]\n![[Peas]]", ""),
        ("![Beans](beans.md)", ""),
        (f"![[{'x' * 1000}]]", ""),
        ("", ""),
    ],
)
def test_an_embed_is_a_body_of_one_embedded_note_and_nothing_else(body: str, handle: str) -> None:
    assert links.embed(body) == handle


@pytest.mark.parametrize(("handle", "name"), [("Beans", "Beans"), ("garden/notes/Beans", "Beans"), ("", "")])
def test_a_handles_name_is_its_last_part(handle: str, name: str) -> None:
    assert links.name(handle) == name

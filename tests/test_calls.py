"""Calls that go on from an answer: as commands a shell takes, as tool calls that can be read back."""

from __future__ import annotations

import ast
import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import calls
from pyramid_fs.calls import SHELL, TOOLS

NAMES = ["garden", "Öl und Essig", "it's", 'a "b"', "会议", "-x", "$HOME", "a\\b", "a,b]", "tab\tname"]


def read(call: str) -> tuple[str, dict[str, Any]]:
    """Read a tool call back: its name and its arguments."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    assert not node.args
    return node.func.id, {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}


@pytest.mark.parametrize("name", NAMES)
def test_a_command_is_taken_apart_by_a_shell_as_it_was_meant(name: str) -> None:
    assert shlex.split(SHELL.load([name, "b"])) == ["pyramid", "load", name, "b"]
    assert shlex.split(SHELL.tier(name, "notes", 1)) == ["pyramid", "load", name, "--tier", "notes"]
    assert shlex.split(SHELL.tier(name, "0", 3)) == ["pyramid", "load", name, "--tier", "0", "--page", "3"]
    assert shlex.split(SHELL.expand(name)) == ["pyramid", "expand", name]
    assert shlex.split(SHELL.expand(name, 7, 2)) == ["pyramid", "expand", name, "--depth", "2"]
    assert shlex.split(SHELL.record(name)) == ["pyramid", "record", "-m", name, "TEXT"]
    assert shlex.split(SHELL.write_rollup(f"{name} t0 abc-def"))[3] == f"{name} t0 abc-def"


@pytest.mark.parametrize("query", [*NAMES, "two words", "-without", '"a phrase" it\'s'])
def test_a_search_is_spelled_for_a_shell_with_its_filters(query: str) -> None:
    plain = shlex.split(SHELL.recall(query, (), (), None, "", "", 10, 10))
    assert plain == ["pyramid", "recall", "-n", "10", "--start", "10", "--", query]
    filtered = shlex.split(SHELL.recall(query, ["a b", "c"], ["note", "summary"], 0, "2026-01-01", "2026-02-01", 5, 20))
    assert filtered == [
        *["pyramid", "recall", "-m", "a b", "-m", "c", "--kind", "note", "--kind", "summary", "--tier", "0"],
        *["--since", "2026-01-01", "--until", "2026-02-01", "-n", "5", "--start", "20", "--", query],
    ]


def test_a_command_has_one_map_page() -> None:
    assert SHELL.map_page(2) == SHELL.map == "pyramid map"


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("garden", "garden"),
        ("v1.2_a-b", "v1.2_a-b"),
        ("会议", "会议"),
        ("öl", "öl"),
        ("a b", "'a b'"),
        ("a;b", "'a;b'"),
    ],
)
def test_a_word_is_quoted_where_it_must_be(name: str, spelled: str) -> None:
    assert calls.word(name) == spelled


@given(st.text().filter(lambda text: "\0" not in text and text))
def test_any_name_is_one_word_of_a_shell(name: str) -> None:
    assert shlex.split(calls.word(name)) == [name]


@given(st.text(), st.text(), st.integers(1, 99), st.integers(1, 9))
def test_a_tool_call_reads_back_as_it_was_meant(one: str, other: str, page: int, depth: int) -> None:
    more = {} if page == 1 else {"page": page}
    assert read(TOOLS.map_page(page)) == ("load_memory", {"page": page})
    assert read(TOOLS.load([one, other])) == ("load_model", {"names": [one, other]})
    assert read(TOOLS.tier(one, "notes", page)) == ("load_model", {"names": [one], "tier": "notes", **more})
    deep = {} if depth == 1 else {"depth": depth}
    assert read(TOOLS.expand(one, page, depth)) == ("expand", {"handle": one, **deep, **more})


@given(st.text(), st.lists(st.text()), st.none() | st.integers(0, 5), st.sampled_from(["", "2026-01-01"]))
def test_a_search_reads_back_with_its_filters(query: str, models: list[str], tier: int | None, since: str) -> None:
    name, given_ = read(TOOLS.recall(query, models, ["note"], tier, since, "", 7, 14))
    meant: dict[str, Any] = {"query": query, "models": models, "kinds": ["note"], "tier": tier, "since": since}
    meant |= {"until": "", "limit": 7, "start": 14}
    assert name == "recall"
    assert given_ == {key: value for key, value in meant.items() if key == "query" or value not in ([], "", None)}


def test_tier_0_is_a_filter() -> None:
    assert "tier=0" in TOOLS.recall("a", [], [], 0, "", "", 1, 1)


def test_a_very_long_query_is_not_spelled_again() -> None:
    long = "word " * 300
    assert len(TOOLS.recall(long, [], [], None, "", "", 10, 10)) < 100
    assert "the same query" in TOOLS.recall(long, [], [], None, "", "", 10, 10)
    assert len(SHELL.recall(long, [], [], None, "", "", 10, 10)) < 150
    edge = "a" * calls.LONG_QUERY
    assert edge in TOOLS.recall(edge, [], [], None, "", "", 10, 10)
    assert edge in SHELL.recall(edge, [], [], None, "", "", 10, 10)


def test_what_is_left_to_whoever_calls_is_an_ellipsis() -> None:
    assert TOOLS.record("会议") == 'record(text=…, models=["会议"])'
    assert TOOLS.write_rollup('a "b" t0 1-2') == 'write_rollup(ticket="a \\"b\\" t0 1-2", text=…)'
    assert (TOOLS.map, TOOLS.make_model) == ("load_memory()", "create_model(name=…, description=…)")

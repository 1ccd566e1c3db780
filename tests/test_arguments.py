"""Arguments as they were meant: what is plain is taken, a text stays what it is, all else gets one sentence."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs.mcp_server.arguments import SHOWN, meant

SCHEMA: dict[str, Any] = {
    "properties": {
        "text": {"type": "string"},
        "names": {"type": "array", "items": {"type": "string"}},
        "more": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        "limit": {"type": "integer"},
        "tier": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "share": {"type": "number"},
        "any": {},
    },
    "required": ["text"],
}


def taken(name: str, value: Any) -> Any:
    return meant(SCHEMA, {"text": "x", name: value})[name]


def refused(name: str, value: Any) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        meant(SCHEMA, {"text": "x", name: value})
    said = str(caught.value)
    assert f"`{name}`" in said
    assert "\n" not in said
    return said


@pytest.mark.parametrize("text", ['{"a": 1}', "2026", '["a"]', "null", "true", "", "  ", '"quoted"', "\u2028", "名"])
def test_a_text_stays_the_text_that_was_sent(text: str) -> None:
    assert taken("text", text) == text
    assert taken("any", text) == text


@given(st.text())
def test_every_text_stays_itself(text: str) -> None:
    assert taken("text", text) == text


@pytest.mark.parametrize(("value", "text"), [(2026, "2026"), (True, "true"), (1.5, "1.5"), (-0.0, "-0.0")])
def test_a_number_for_a_text_is_its_digits(value: Any, text: str) -> None:
    assert taken("text", value) == text


@pytest.mark.parametrize("value", [{"a": 1}, [1], {}, []])
def test_an_object_for_a_text_is_refused_with_what_to_send(value: Any) -> None:
    assert "JSON string" in refused("text", value)


@pytest.mark.parametrize(
    ("value", "number"), [("5", 5), (" 5 ", 5), (5.0, 5), (5, 5), ("-2", -2), ("٥", 5), (1e15, 10**15), ("0", 0)]
)
def test_a_whole_number_in_any_form_is_taken(value: Any, number: int) -> None:
    assert taken("limit", value) == number
    assert taken("tier", value) == number
    assert type(taken("limit", value)) is int


@pytest.mark.parametrize(
    "value", ["many", "", "5.5", 5.5, True, False, [5], {"limit": 5}, "0x10", "9" * 5000, math.inf, -math.inf, math.nan]
)
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    said = refused("limit", value)
    assert "must be a whole number" in said
    assert len(said) < SHOWN + 80


@pytest.mark.parametrize(("value", "number"), [("0.5", 0.5), (0.5, 0.5), (1, 1.0), (" 2 ", 2.0)])
def test_a_number_in_any_form_is_taken(value: Any, number: float) -> None:
    assert taken("share", value) == number


@pytest.mark.parametrize("value", ["half", "", True, [1], {}])
def test_what_is_no_number_is_refused(value: Any) -> None:
    assert "must be a number" in refused("share", value)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (["a", "b"], ["a", "b"]),
        ("a", ["a"]),
        ('["a", "b"]', ["a", "b"]),
        (' ["a"] ', ["a"]),
        ("[]", []),
        ([], []),
        ("", []),
        ("  ", []),
        ("a, b", ["a, b"]),
        ("[draft", ["[draft"]),
        ("[" * 100_000, ["[" * 100_000]),
        ('{"a": 1}', ['{"a": 1}']),
        (7, ["7"]),
        ([7, "a", 1.5, True], ["7", "a", "1.5", "true"]),
        ('["a", 2]', ["a", "2"]),
        ("null", ["null"]),
        (True, ["true"]),
    ],
)
def test_a_list_in_any_form_is_taken(value: Any, names: list[str]) -> None:
    assert taken("names", value) == names
    assert taken("more", value) == names


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]], [None], ["a", {"b": 1}], '[["a"]]', '[{"a": 1}]', "[null]"])
def test_what_is_no_list_of_texts_is_refused(value: Any) -> None:
    assert "must be a list of texts" in refused("names", value)


@given(st.lists(st.text()))
def test_a_list_and_its_json_mean_the_same(names: list[str]) -> None:
    assert taken("names", names) == taken("names", json.dumps(names)) == names


@pytest.mark.parametrize("name", SCHEMA["properties"])
def test_null_is_as_if_it_were_not_there(name: str) -> None:
    if name != "text":
        assert meant(SCHEMA, {"text": "x", name: None}) == {"text": "x"}


def test_what_is_required_is_named_with_what_it_is() -> None:
    for kind, what in [("array", "a list of texts"), ("integer", "a whole number"), ("number", "a number")]:
        schema = {"properties": {"it": {"type": kind}}, "required": ["it"]}
        with pytest.raises(ValueError, match=rf"^`it` is missing: send {what}$"):
            meant(schema, {})
    with pytest.raises(ValueError, match=r"^`text` is missing: send a text$"):
        meant(SCHEMA, {"text": None})


def test_an_unknown_argument_is_named_with_the_nearest() -> None:
    assert "did you mean `limit`?" in refused("limitt", 5)
    assert "there are: text, names" in refused("zzzz", 5)
    with pytest.raises(ValueError, match=r"^`a{60}` is no argument of this tool; it takes none$"):
        meant({}, {"a" * 9000: 1})


def test_nothing_asked_is_nothing_taken() -> None:
    assert meant({}, {}) == {}


@pytest.mark.parametrize("value", [{"a": {1, 2}}, {"a": "x" * 5000}, {"名": "値"}])
def test_a_wrong_value_is_shown_in_short(value: Any) -> None:
    assert len(refused("names", value)) < SHOWN + 80


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.sampled_from(sorted(SCHEMA["properties"])), _JSON)
def test_whatever_comes_is_taken_in_the_right_type_or_refused_in_one_line(name: str, value: Any) -> None:
    try:
        found = meant(SCHEMA, {"text": "x", name: value})
    except ValueError as error:
        said = str(error)
    else:
        kinds = {"text": str, "any": str, "names": list, "more": list, "limit": int, "tier": int, "share": float}
        assert name not in found or isinstance(found[name], kinds[name])
        return
    assert f"`{name}`" in said

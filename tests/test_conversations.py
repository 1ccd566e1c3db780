"""What the readers of conversations share: clean texts, times, branches, and records cut out of a huge array."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs.errors import UsageError
from pyramid_fs.importers import conversations
from pyramid_fs.importers.conversations import Bad, Conversation, Turn, clean, cut, made, recognized, records, when

if TYPE_CHECKING:
    from collections.abc import Iterator

MAY = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
JUNE = datetime(2026, 6, 6, tzinfo=UTC)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@given(st.lists(VALUES, max_size=6), st.integers(1, 40), st.booleans(), st.sampled_from([None, 1]))
def test_records_are_cut_as_json_reads_them(values: list[Any], size: int, ascii_only: bool, indent: int | None) -> None:  # noqa: FBT001
    data = json.dumps(values, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    found = [json.loads(each.decode("utf-8", "surrogatepass")) for each in cut(chunks(data, size), 1 << 20) if each]
    assert found == json.loads(data.decode("utf-8", "surrogatepass"))


@given(st.binary(max_size=200), st.integers(1, 9))
def test_cutting_takes_any_bytes(data: bytes, size: int) -> None:
    list(cut(chunks(b"[" + data, size), 50))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"[]", []),
        (b" [ ] ", []),
        (b"\xef\xbb\xbf[1]", [1]),
        (b'[1, {"a": [2, "]"]}]', [1, {"a": [2, "]"]}]),
        (b'[1,{"a":2}', [1, None]),
        (b"[1,", [1, None]),
        (b"[1,,2]", [1, None, 2]),
        (b'[1,{"a":tru},"\xff",2]', [1, None, "\ufffd", 2]),
        (
            b'["a\x01b", 123456789012345678901234567890, 1e999]',
            ["a\x01b", 123456789012345678901234567890, float("inf")],
        ),
        (b'["' + b"\\" * 7 + b'"", 3]', ["\\" * 3 + '"', 3]),
        (b"[" + b"[" * 100_000 + b"]" * 100_000 + b",4]", [None, 4]),
        (b'{"conversations": [1, 2]}', [1, 2]),
        (b'{"mapping": {}}', [{"mapping": {}}]),
        (b'{"mapping": ', [None]),
        (b"", [None]),
        (b"<html>", [None]),
    ],
)
def test_a_bad_record_ends_nothing(data: bytes, found: list[Any]) -> None:
    assert [None if isinstance(one, Bad) else one for _, one in records(io.BytesIO(data), "x.json")] == found


def test_a_record_that_is_too_long_is_passed_over() -> None:
    data = json.dumps([1, "x" * 5000, 2]).encode()
    assert list(cut(chunks(data, 100), 1000)) == [b"1", None, b" 2"]


def test_where_a_record_stands() -> None:
    found = dict(records(io.BytesIO(b"[1, oops]"), "x.json"))
    assert found == {"x.json, record 1": 1, "x.json, record 2": Bad("x.json, record 2", "it is not JSON")}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" a\r\nb\rc ", "a\nb\nc"),
        ("a\x00b\x07", "ab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("half \ud83d of one", "half \ufffd of one"),
        ("\ud83d\ude00", "\U0001f600"),
        ("早上好\tあ", "早上好\tあ"),
    ],
)
def test_texts_are_as_a_note_may_hold_them(text: str, kept: str) -> None:
    assert clean(text) == kept
    clean(text).encode()


@given(st.text(st.characters()))
def test_any_text_can_be_kept(text: str) -> None:
    kept = clean(text)
    kept.encode()
    assert "\0" not in kept
    assert clean(kept) == kept


NO_TIMES: list[Any] = [None, 0, -1, True, "", "soon", float("nan"), float("inf"), 10**400, [], {}, "2026-99-99"]


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (MAY.timestamp(), MAY),
        (int(MAY.timestamp() * 1000), MAY),
        ("2026-05-06T07:08:09.000Z", MAY),
        ("2026-05-06T09:08:09+02:00", MAY),
        ("2026-05-06T07:08:09.000000+00:00", MAY),
        *((none, None) for none in NO_TIMES),
    ],
)
def test_times(value: Any, time: datetime | None) -> None:
    assert when(value) == time


def test_a_conversation_spans_its_turns_and_else_what_it_says_of_itself() -> None:
    turns = [Turn("person", "a", JUNE), Turn("agent", "b", None), Turn("person", "c", MAY)]
    assert made("x:1", turns, started=JUNE, ended=JUNE).started == MAY
    assert made("x:1", turns).ended == JUNE
    undated = made("chatgpt:a:b", turns[1:2], ended=MAY, title="A\n title", place=7)
    assert (undated.started, undated.ended, undated.session) == (MAY, MAY, "a:b")
    assert (undated.title, undated.place) == ("A title", "")


def test_a_branch_goes_up_to_the_first_and_no_circle_holds_it() -> None:
    assert conversations.branch("c", {"a": None, "b": "a", "c": "b", "x": "a"}) == ["a", "b", "c"]
    assert conversations.branch("c", {"b": "c", "c": "b"}) == ["b", "c"]
    assert conversations.branch("b", {"b": "gone"}) == ["b"]


def test_the_newest_leaf() -> None:
    parents = {"a": None, "b": "a", "c": "a"}
    assert conversations.newest_leaf(parents, {"b": JUNE, "c": MAY}) == "b"
    assert conversations.newest_leaf(parents, {}) == "c"
    assert conversations.newest_leaf({"a": "b", "b": "a"}, {}) == "a"
    assert conversations.newest_leaf({}, {}) == ""


def test_a_file_is_of_another_kind_where_nothing_of_it_is_a_conversation() -> None:
    bad, good = Bad("x", "it is no object"), made("x:1", [])
    assert list(recognized(iter([]), "x is no export")) == []
    assert list(recognized(iter([bad, good, bad]), "x is no export")) == [bad, good, bad]
    with pytest.raises(UsageError, match="x is no export: it is no object; give"):
        recognized(iter([bad, bad]), "x is no export")
    assert isinstance(good, Conversation)

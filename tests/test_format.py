"""Text is read however people and editors write it, spelled in one way, and changed in the one line that is meant."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import unicodedata
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pyramid_fs import format as pages
from pyramid_fs import scalars
from pyramid_fs.errors import RefusedWrite, UsageError
from pyramid_fs.format import Page

NIGHT = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
YAML_WORDS = ["no", "yes", "on", "NULL", "~", "1e3", "12:30", "0123", "1.10", "0x1f", ".inf", "2026-11-29", "=", "<<"]
YAML_MARKS = [
    "---",
    "...",
    "- a",
    "a: b",
    "a #b",
    "#b",
    "'a'",
    '"a"',
    "[a]",
    "[[a]]",
    "{a}",
    "*a",
    "&a",
    "!a",
    "%a",
    "`a`",
]
ODD_LETTERS = [
    "\\",
    "\\n",
    "\0",
    "\x85",
    "\u2028",
    "\ufeff",
    "\uffff",
    "\x1b[0m",
    "\r\n",
    " a ",
    "😀",
    "👨‍👩‍👧",
    "e\u0301",
]
NASTY = st.sampled_from([*YAML_WORDS, *YAML_MARKS, *ODD_LETTERS]) | TEXTS


def block(front: str, body: str = "Body.\n") -> bytes:
    return f"---\n{front}\n---\n{body}".encode()


# Reading


@pytest.mark.parametrize("data", [b"", b" \n\t\n", b"\xef\xbb\xbf"])
def test_a_file_of_white_space_is_blank(data: bytes) -> None:
    assert pages.read(data).is_blank


@pytest.mark.parametrize("data", [b"a", b"---\ntitle: a\n---\n", b"---\n# a remark\n---\n", b"---\na: [\n---\n", b"\0"])
def test_a_file_that_holds_anything_is_not_blank(data: bytes) -> None:
    assert not pages.read(data).is_blank


@pytest.mark.parametrize(
    "data",
    [
        b"---\ntitle: Beans\n---\nIn row one.\n",
        b"\xef\xbb\xbf---\ntitle: Beans\n---\nIn row one.\n",
        b"---\r\ntitle: Beans\r\n---\r\nIn row one.\r\n",
        b"\xef\xbb\xbf---\r\ntitle: Beans\r\n---\r\n\r\nIn row one.",
        b"---\rtitle: Beans\r---\rIn row one.\r",
        b"---\ntitle: Beans\n---\r\nIn row one.\r\n",
        b"---  \ntitle: Beans\n---\t\n\n \t\nIn row one.  \n\n\n",
    ],
)
def test_front_matter_is_found_whatever_the_editor_did_to_marks_line_ends_and_blanks(data: bytes) -> None:
    page = pages.read(data)
    assert (page.keys, page.body, page.problem) == ({"title": "Beans"}, "In row one.", "")


def test_a_block_that_the_file_ends_with_is_closed() -> None:
    assert pages.read(b"---\ntitle: Lovage\n---") == Page({"title": "Lovage"}, "title: Lovage\n", "", fenced=True)
    assert pages.read(b"---\n---") == Page(fenced=True)


def test_an_empty_block_is_more_than_white_space() -> None:
    assert not pages.read(b"---\n---\n").is_blank
    assert pages.read(b" \n\t\n").is_blank


@pytest.mark.parametrize(
    "text",
    [
        "Just text.",
        "----\ntitle: four dashes\n----",
        "-- \ntitle: two dashes\n--",
        " ---\ntitle: an indented rule\n---",
        "Text.\n\n---\ntitle: a rule further down\n---",
        "---\nThe text between two rules.\n---\nThe text after them.",
        "---\n- a list\n- between rules\n---\nText.",
        "---",
        "---\n",
        "---\n\nA rule, then a text that closes nothing.",
        "---\n# A heading: with a colon",
        "---\u00a0\ntitle: the blank after the dashes is none\n---",
    ],
)
def test_a_text_without_front_matter_is_all_body(text: str) -> None:
    page = pages.read(text.encode())
    assert (page.keys, page.block, page.body, page.problem) == ({}, "", text.rstrip(), "")


def test_the_first_line_of_a_body_keeps_its_indent() -> None:
    assert pages.read(b"---\na: b\n---\n\n \n    code\ntext  \n").body == "    code\ntext"
    assert pages.read(b"\n\n    code\n").body == "    code"


def test_three_dashes_in_a_value_or_in_the_body_end_nothing() -> None:
    body = "first\n\n---\n\nHead\n---\n\n| a |\n|---|\n\n```\n---\ntier: 3\n---\n```\n\nlast"
    page = pages.read(block('title: before --- after\nnote: "--- x"\ntext: |\n  ---\n  more', body))
    assert page.keys == {"title": "before --- after", "note": "--- x", "text": "---\nmore\n"}
    assert page.body == body


@pytest.mark.parametrize(
    ("front", "key", "value"),
    [
        ("a: no", "a", "no"),
        ("a: 1.10", "a", "1.10"),
        ("a: 2024-11-02", "a", "2024-11-02"),
        ("a: 2024-11-02T10:00:00Z", "a", "2024-11-02T10:00:00Z"),
        ("a: 0000-00-00", "a", "0000-00-00"),
        ("a: 12:30:45", "a", "12:30:45"),
        ("a: 0123", "a", "0123"),
        ("a: 1e3", "a", "1e3"),
        ("a: ~", "a", "~"),
        ("a:", "a", ""),
        ("a: !!int 3", "a", "3"),
        ("a: !!python/object:os.system x", "a", "x"),
        ("1: one", "1", "one"),
        ("on: off", "on", "off"),
        ("content: x\nhandler: y", "handler", "y"),
        ("a: [x, 1, no]", "a", ["x", "1", "no"]),
        ("a: {b: {c: no}}", "a", {"b": {"c": "no"}}),
        ("a: &x [p]\nb: *x", "b", ["p"]),
        ("a: &x {y: z}\nb:\n  <<: *x", "b", {"<<": {"y": "z"}}),
        ('a: "\\u263a \\x41"', "a", "☺ A"),
        ("a: pot #3 on the sill", "a", "pot"),
        ("a: >\n  one\n  two", "a", "one two\n"),
    ],
)
def test_a_value_stays_the_text_that_was_typed(front: str, key: str, value: object) -> None:
    page = pages.read(block(front))
    assert page.problem == ""
    assert page.keys[key] == value


def test_what_yaml_drops_is_still_there_to_be_searched() -> None:
    assert "pot #3" in pages.read(block("title: pot #3 on the sill")).block


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("a: b\na: c", "`a` stands in it twice (line 3)"),
        ("a:\n  b: 1\n  b: 2", "`b` stands in it twice (line 4)"),
        ("a:\n\tb: c", "(line 3)"),
        ("Beds: north: side", "(line 2)"),
        ('a: "never closed', "can't be parsed: "),
        ("a: [[Raw]] and text", "(line 2)"),
        ("a: {{date}}", "(line 2)"),
        ("? [a, b]\n: c", "(line 2)"),
        ("a: *nowhere", "(line 2)"),
        ("a: &x [*x]", "(line 2)"),
        ("a: b\n...\nc: d", "(line 4)"),
        ("a: b\n--- c\nd: e", "(line 3)"),
        ("a: \x07", "control characters are not allowed"),
        ("a: \0", "it holds NUL bytes"),
        ("[" * 200_000, "brackets nest too deep"),
        ("a: " + "{a: " * 65 + "}" * 65, "brackets nest too deep"),
        ("- " * 100_000, "brackets nest too deep"),
        ("? " * 100_000, "brackets nest too deep"),
        ("a:\n" + "".join(f"{' ' * depth}a:\n" for depth in range(1, 700)), "it nests too deep"),
        ("a: 1\n" * 60_000, "too long to be one: is a closing `---` missing?"),
        (
            "a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)),
            "its aliases unfold to too much",
        ),
    ],
)
def test_front_matter_that_can_not_be_parsed_is_a_problem_and_keeps_its_words(front: str, reason: str) -> None:
    page = pages.read(block(front))
    assert reason in page.problem
    assert "\n" not in page.problem
    assert (page.keys, page.block, page.body) == ({}, f"{front}\n", "Body.")


def test_brackets_in_texts_and_moderate_nesting_are_no_problem() -> None:
    assert pages.read(block("a: " + "[" * 64 + "]" * 64)).problem == ""
    assert pages.read(block("\n".join(f"a{number}: '[x]'" for number in range(100)))).problem == ""


def test_many_keys_are_read_in_one_pass() -> None:
    keys = {f"key{number}": "v" for number in range(18_000)}
    assert pages.read(block("\n".join(f"{key}: v" for key in keys))).keys == keys


def test_front_matter_that_never_closes_is_a_problem_whose_text_is_shown() -> None:
    page = pages.read(b"---\ntitle: Beans\n\nIn row one.\n")
    assert page.problem == "its front matter opens with `---` and never closes"
    assert page.body == "title: Beans\n\nIn row one."


@pytest.mark.parametrize(
    ("data", "reason", "body"),
    [
        ("---\na: b\n---\nGrün\n".encode("utf-16"), "its encoding is UTF-16, not UTF-8: save it as UTF-8", "Grün"),
        (b"\xfe\xff" + "Grün".encode("utf-16-be"), "its encoding is UTF-16, not UTF-8: save it as UTF-8", "Grün"),
        (b"\xff\xfea", "its encoding is UTF-16, not UTF-8: save it as UTF-8", "\ufffd"),
        ("Grün“".encode("cp1252"), "not UTF-8 (byte 0xfc at position 2): save it as UTF-8", "Grün“"),
        (b"---\na: b\n---\nGr\xfcn \x81", "not UTF-8 (byte 0xfc at position 15)", "Grün \ufffd"),
        (b"Beans\0Peas", "it holds NUL bytes: not a text, or damaged", "Beans\0Peas"),
        (b"Beans \xed\xa0\x80", "not UTF-8 (byte 0xed at position 6)", "Beans í\xa0€"),
    ],
)
def test_other_encodings_are_a_problem_and_what_can_be_read_is_shown(data: bytes, reason: str, body: str) -> None:
    page = pages.read(data)
    assert reason in page.problem
    assert page.body == body


def _lines(end: str) -> st.SearchStrategy[str]:
    return st.lists(
        st.sampled_from(
            ["---", "--- ", "----", "a: b", "a: [", "b: 'x'", "- c", "# d", "", "  ", "Text: and more", "..."]
        )
        | TEXTS
    ).map(end.join)


@given(st.binary() | st.sampled_from(["\n", "\r\n", "\r"]).flatmap(_lines).map(lambda text: text.encode()))
@example(b"---\nfoo")
@example(b"---\n\n---\n---")
@example(b"\xef\xbb\xbf\xef\xbb\xbf---\na: b\n---\n")
def test_any_bytes_are_read_and_no_word_is_lost(data: bytes) -> None:
    page = pages.read(data)
    text, reason = pages.decode(data)
    assert page.problem.startswith(reason)
    assert "\r" not in text
    shown = re.findall(r"\w+", page.block) + re.findall(r"\w+", page.body)
    assert shown == re.findall(r"\w+", text)
    assert isinstance(pages.digest(page.body), str)


# Values


@pytest.mark.parametrize(
    ("front", "text"),
    [
        ("a: [[Raw 12]]", "[[Raw 12]]"),
        ('a: "[[Raw 12]]"', "[[Raw 12]]"),
        ("a: [[Raw 12|alias]]", "[[Raw 12|alias]]"),
        ("a: x", "x"),
        ("a: [x, y]", "x, y"),
        ("a: [x]", "x"),
        ("a: []", ""),
        ("a:\n  - [[One]]\n  - [[Two]]", "[[One]], [[Two]]"),
        ("a: {b: ö}", '{"b": "ö"}'),
        ("a:", ""),
        ("b: x", ""),
    ],
)
def test_a_value_is_given_as_text(front: str, text: str) -> None:
    assert pages.read(block(front)).text("a") == text


@pytest.mark.parametrize(
    ("front", "items"),
    [
        ("a: [[Raw 12]]", ["[[Raw 12]]"]),
        ("a: x", ["x"]),
        ("a: [x, y]", ["x", "y"]),
        ("a:\n- x\n- y", ["x", "y"]),
        ("a:\n  - [[One]]\n  - [[Two]]", ["[[One]]", "[[Two]]"]),
        ("a:\n  - - - One", ["[[One]]"]),
        ("a: []", []),
        ("a:", []),
        ("b: x", []),
    ],
)
def test_a_value_is_given_as_a_list(front: str, items: list[str]) -> None:
    assert pages.as_list(pages.read(block(front)).keys.get("a")) == items


def test_the_links_of_a_key_are_handles_however_they_are_written() -> None:
    front = 'a:\n  - "[[notes/One.md|first]]"\n  - [[Two]]\n  - Three\n  - "[[C# tips]]"'
    assert pages.links_of(pages.read(block(front)), "a") == ["notes/One", "Two", "Three", "C# tips"]


# Digests


def direct(body: str) -> str:
    words = re.findall(r"\w+", unicodedata.normalize("NFC", body).casefold())
    return hashlib.sha256((" ".join(words) or body.strip()).encode()).hexdigest()[:16]


def test_the_digest_of_a_plain_body_is_known() -> None:
    assert pages.digest("Alice prefers the morning train.") == "5f1c83578d1e3cb4"
    assert pages.digest("Alice prefers the morning train.") == direct("alice prefers the morning train")


@given(TEXTS)
@example("---")
@example("  !!!  ")
@example("")
@example("ŉ ΐ ß İ")
def test_a_digest_is_the_hash_of_the_folded_words(body: str) -> None:
    assert pages.digest(body) == direct(body)


@pytest.mark.parametrize(
    "body",
    [
        "Word grün 1.10 " * 100_000,
        "x" * (3 << 20),
        "😀 " * (1 << 20),
        ("word " * ((1 << 20) // 16)) * 4,
        "one " + "!" * (1 << 20),
    ],
    ids=["mixed", "one word", "no word", "full runs", "two runs"],
)
def test_the_digest_of_a_huge_body_is_the_same_sum(body: str) -> None:
    assert pages.digest(body) == direct(body)


@given(st.lists(st.from_regex(r"['ß]?[abcABCäöéÄжЯ漢字ก0189]+'?", fullmatch=True), min_size=1))
def test_a_formatter_makes_no_new_version(words: list[str]) -> None:
    other = "**\r\n\r\n> - `".join(unicodedata.normalize("NFD", word).swapcase() for word in words)
    assert pages.digest(" ".join(words)) == pages.digest(f"# {other}`~~\n")


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=2), st.data())
def test_a_changed_word_makes_a_new_version(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:at], f"{words[at]}x", *words[at + 1 :]]
    assert pages.digest(" ".join(words)) != pages.digest(" ".join(changed))
    assert pages.digest(" ".join(words)) != pages.digest(" ".join(words[:at] + words[at + 1 :]))


# Writing


def test_a_file_has_one_spelling() -> None:
    keys = {
        "type": "model",
        "kind": "no",
        "status": "in two words",
        "tier": 0,
        "draft": True,
        "open": False,
        "created": NIGHT,
        "source": "a:b",
        "absent": None,
        "provenance": ["[[One]]", "[[Two]]"],
        "dates": (NIGHT,),
        "empty": [],
    }
    assert pages.spell(keys, "\n\n  One.\r\nTwo.\rThree.\n\n").decode() == (
        "---\n"
        "type: model\n"
        'kind: "no"\n'
        'status: "in two words"\n'
        "tier: 0\n"
        "draft: true\n"
        "open: false\n"
        "created: 2026-11-29T20:15:30Z\n"
        'source: "a:b"\n'
        "provenance:\n"
        '  - "[[One]]"\n'
        '  - "[[Two]]"\n'
        "dates:\n"
        "  - 2026-11-29T20:15:30Z\n"
        "---\n"
        "  One.\nTwo.\nThree.\n"
    )


def test_a_file_without_keys_is_its_text_and_one_without_text_its_keys() -> None:
    assert pages.spell({}, "![[Beans]]") == b"![[Beans]]\n"
    assert pages.spell({"tier": 1}, "") == b"---\ntier: 1\n---\n"
    assert pages.spell({}, "") == b"\n"


@given(st.dictionaries(st.sampled_from(["type", "status", "kind", "title", "source"]), NASTY), NASTY)
@example({}, "---\ntitle: no front matter\n---\nText.")
@example({}, "---")
@example({}, "\ufeffText.")
def test_what_is_spelled_reads_back_the_same(keys: dict[str, str], body: str) -> None:
    assume("\0" not in body)
    data = pages.spell(keys, body)
    page = pages.read(data)
    unix = body.replace("\r\n", "\n").replace("\r", "\n")
    assert (page.keys, page.problem) == (keys, "")
    assert page.body == re.sub(r"\A([ \t]*\n)+", "", unix).rstrip()
    assert pages.spell(page.keys, page.body) == data
    assert data.endswith(b"\n")
    assert b"\r" not in data


@given(st.lists(NASTY, min_size=1))
def test_a_list_that_is_spelled_reads_back_the_same(items: list[str]) -> None:
    assert pages.read(pages.spell({"a": items}, "")).keys == {"a": items}


@given(NASTY)
def test_the_pure_parser_reads_a_spelled_value_as_the_same_text(value: str) -> None:
    front = pages.read(pages.spell({"status": value, "title": value}, "")).block
    assert yaml.load(front, yaml.SafeLoader) == {"status": value, "title": value}


def test_half_a_letter_is_refused_wherever_it_would_be_written() -> None:
    with pytest.raises(UsageError, match="the text is not UTF-8"):
        pages.spell({}, "\ud800")
    with pytest.raises(UsageError, match="the text is not UTF-8"):
        pages.spell({"title": "\udcff"}, "")
    with pytest.raises(UsageError, match="the text is not UTF-8"):
        pages.set_key(block("title: a"), "title", "\ud800")
    with pytest.raises(UsageError, match="the text is not UTF-8"):
        pages.set_body(block("title: a"), "\ud800")


# Setting one key


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("status: pending\n", "status: confirmed\n"),
        ("status: pending  \n", "status: confirmed  \n"),
        ("status: pending # by hand\n", "status: confirmed # by hand\n"),
        ("status:   pending\n", "status:   confirmed\n"),
        ("status : pending\n", "status : confirmed\n"),
        ("'status': 'pending'\n", "'status': 'confirmed'\n"),
        ('"status": "pending" # a: b\n', '"status": "confirmed" # a: b\n'),
        ("status: 'it''s' # open\n", "status: 'confirmed' # open\n"),
        ('status: "a \\" b" # open\n', 'status: "confirmed" # open\n'),
        ("status: a#b # open\n", "status: confirmed # open\n"),
        ("status: [a, b] # open\n", "status: confirmed # open\n"),
        ("status: {a: b}\n", "status: confirmed\n"),
        ("status:\n", "status: confirmed\n"),
        ("status: # none yet\n", "status: confirmed # none yet\n"),
        ("status: pending\n  # why\nb: c\n", "status: confirmed\n  # why\nb: c\n"),
        ("status:\n  - a\n\n  - b\n  # after\n\nb: c\n", "status: confirmed\n  # after\n\nb: c\n"),
        ("status:\n- a\n-\n  b\nb: c\n", "status: confirmed\nb: c\n"),
        ("status: |\n  a\n\n  # b\n\nb: c\n", "status: confirmed\n\nb: c\n"),
        ("status: a\n  b\n\n  c\n# d\n", "status: confirmed\n# d\n"),
        ("# status: old\nstatus: pending\n", "# status: old\nstatus: confirmed\n"),
        ("substatus: a\nstatus: b\n", "substatus: a\nstatus: confirmed\n"),
        ("status of: a\n", "status of: a\nstatus: confirmed\n"),
        ("a: b # c\n", "a: b # c\nstatus: confirmed\n"),
        ("", "status: confirmed\n"),
        ("# only a remark\n", "# only a remark\nstatus: confirmed\n"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_one_key_is_set_and_all_around_it_stays(before: str, after: str, end: str, mark: str) -> None:
    old, new = (
        f"{mark}---  \n{front}--- \n\nBody: status: x\n---".replace("\n", end).encode() for front in (before, after)
    )
    assert pages.set_key(old, "status", "confirmed") == new


def test_setting_works_on_a_file_that_ends_with_its_block() -> None:
    assert pages.set_key(b"---\r\na: b\r\n---", "c", "d") == b'---\r\na: b\r\nc: "d"\r\n---'


def test_a_changed_line_keeps_its_own_line_end_in_a_file_that_mixes_them() -> None:
    assert pages.set_key(b"---\na: b\r\nc: d\n---\n", "a", 1) == b"---\na: 1\r\nc: d\n---\n"


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        ("new", b"a: 'new'"),
        ("it's", b'a: "it\'s"'),
        ('"so"', b'a: "\\"so\\""'),
        (True, b"a: 'true'"),
        (NIGHT, b"a: '2026-11-29T20:15:30Z'"),
        (["x"], b'a:\n  - "x"'),
    ],
)
def test_quotes_stay_as_they_were_where_the_value_allows(value: object, spelled: bytes) -> None:
    assert pages.set_key(b"---\na: 'old'\n---\n", "a", value) == b"---\n" + spelled + b"\n---\n"


def test_none_takes_the_key_away_with_all_its_lines() -> None:
    data = b"---\na: 1\nb:\n  - x\n  - y\nc: 2\n---\nBody.\n"
    assert pages.set_key(data, "b", None) == b"---\na: 1\nc: 2\n---\nBody.\n"
    assert pages.set_key(data, "b", []) == b"---\na: 1\nc: 2\n---\nBody.\n"
    assert pages.set_key(b"---\na: 1\n---\nBody.\n", "a", None) == b"---\n---\nBody.\n"
    assert pages.set_key(data, "d", None) == data


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Text.\n",
        "Text without an end",
        "\n\n  Text.\r\n",
        "---",
        "---\n\nA rule first.\n",
        "---\nTwo rules.\n---\nText.\n",
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_without_front_matter_gets_some_before_its_text(text: str, mark: str) -> None:
    end = "\r\n" if "\r" in text.split("\n", 1)[0] else "\n"
    made = pages.set_key((mark + text).encode(), "tier", 1)
    assert made == f"{mark}---{end}tier: 1{end}---{end}{text}".encode()
    assert pages.set_key((mark + text).encode(), "tier", None) == (mark + text).encode()


def test_front_matter_takes_the_line_end_of_the_text_below_it() -> None:
    assert pages.set_key(b"One.\r\nTwo.\r\n", "tier", 1) == b"---\r\ntier: 1\r\n---\r\nOne.\r\nTwo.\r\n"


@pytest.mark.parametrize(
    "data",
    [
        block("status: a\nstatus: b"),
        block("a: ["),
        b"---\nstatus: a\n",
        b"---\na: b\n---\n\xff",
        b"---\na: b\n---\n\0",
        block("{status: a}"),
        block("  status: a"),
        block("? status\n: a"),
        block('a: "x\nstatus: y"'),
        block("status: &x a\nb: *x"),
        block("a: b\u2028status: c"),
        block("status:\n  - a\n# in between\n  - b"),
    ],
)
def test_a_change_that_would_touch_more_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedWrite):
        pages.set_key(data, "status", "confirmed")


def test_a_refusal_says_what_to_do() -> None:
    with pytest.raises(RefusedWrite, match=r"`status` can't be changed .* without touching more: edit it by hand"):
        pages.set_key(block("{status: a}"), "status", "confirmed")


KEYS = st.sampled_from(["a", "status", "Über", "two words", '"quoted"', "'single'", "x-y", "1", "<<", "on"])
PLAIN = ["plain", "two words", "a#b", "1e3", "2026-11-29", "~", "", "pot #3", "émigré 😀"]
QUOTED = ["'single'", '"double"', "'it''s'", '"a \\" b"', '"# no remark"']
OTHER = ["[[Link]]", "[a, b]", "[]", "{x: y}", "&n anchored", "!tag x"]
SCALARS = st.sampled_from([*PLAIN, *QUOTED, *OTHER])
ENTRIES = st.one_of(
    st.tuples(
        KEYS,
        st.sampled_from([":", ": ", ":   ", " : "]),
        SCALARS,
        st.sampled_from(["", " ", "  # remark", " # a: b", "\t"]),
    ).map("".join),
    st.tuples(
        KEYS, st.sampled_from(["\n  - a\n  - b: c", "\n- a\n-  b", "\n  -\n    - x\n\n  - y", "\n  # why\n  - a"])
    ).map(":".join),
    st.tuples(KEYS, st.sampled_from(["|\n  one\n\n  # two", ">-\n  one\n  two", "one\n  two\n\n  three"])).map(
        ": ".join
    ),
    st.sampled_from(["", "# a remark", "  # an indented remark", "   ", "#", "- stray", "\ttab", "{a: b}"]),
)
FRONTS = st.builds(
    lambda mark, dashes, entries, end, body: "".join(
        [
            mark,
            end.join([f"---{dashes[0]}", *"\n".join(entries).split("\n"), f"---{dashes[1]}"]),
            *(end + line for line in body),
        ]
    ),
    st.sampled_from(["", "\ufeff"]),
    st.tuples(st.sampled_from(["", " ", "\t "]), st.sampled_from(["", "  "])),
    st.lists(ENTRIES, min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.sampled_from(["Text.", "", "---", "status: body", "  "]), max_size=4),
)


def split_lines(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def common_start(one: list[str], other: list[str]) -> int:
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), min(len(one), len(other))
    )


def lines_that_went(old: list[str], new: list[str]) -> list[str]:
    """Give, for each line that is not in the new text, the line of the key that it stands under."""
    start = common_start(old, new)
    after = common_start(old[start:][::-1], new[start:][::-1])
    return [next(line for line in old[at::-1] if line[0] not in " \t-\r\n#") for at in range(start, len(old) - after)]


@given(
    FRONTS,
    st.sampled_from(["status", "a", "new"]),
    st.none() | st.sampled_from(["confirmed", "no", True, 3, ["x", "y"]]),
)
def test_setting_a_key_changes_lines_of_that_key_alone_or_is_refused(front: str, key: str, value: object) -> None:
    data = front.encode()
    page = pages.read(data)
    try:
        made = pages.set_key(data, key, value)
    except RefusedWrite:
        return
    after = pages.read(made)
    others = {name: kept for name, kept in page.keys.items() if name != key}
    assert {name: kept for name, kept in after.keys.items() if name != key} == others
    assert (after.body, after.problem, after.text(key)) == (page.body, "", pages.as_text(_typed(value)))
    mark = "\ufeff" if front.startswith("\ufeff") else ""
    assert made.decode().startswith(mark)
    gone = lines_that_went(*(split_lines(text.removeprefix(mark)) for text in (front, made.decode())))
    assert not gone or key in page.keys
    assert all(re.match(rf"['\"]?{key}['\"]?\s*:", owner) for owner in gone)
    assert made == pages.set_key(made, key, value)


def _typed(value: object) -> object:
    if value is None or isinstance(value, list):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


# Another body


def test_another_body_leaves_the_front_matter_its_bytes() -> None:
    assert pages.set_body(b"---\na: b # c\n---\nOld.\n", "\nNew.\nMore.\n\n") == b"---\na: b # c\n---\nNew.\nMore.\n"
    assert pages.set_body(b"\xef\xbb\xbf---\r\na: b\r\n---\r\nOld.\r\n", "New.\nMore.") == (
        b"\xef\xbb\xbf---\r\na: b\r\n---\r\nNew.\r\nMore.\r\n"
    )
    assert pages.set_body(b"---\na: b\n---", "New.") == b"---\na: b\n---\nNew.\n"


# Without the C parser


def test_a_yaml_without_its_c_parser_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CBaseLoader")
    spec = importlib.util.spec_from_file_location("slow_scalars", scalars.__file__)
    assert spec is not None
    assert spec.loader is not None
    slow = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(slow)
    for front in ("a: no\nb: [[x]]\nc: 'd' # e", "", "# a remark", "text", "a: {b: c}"):
        assert slow.load(front) == scalars.load(front)
    for wrong in ("a: b\na: c", "a:\n\tb", "a: [", "a: \x07", "a: {{b}}", "[" * 1_000):
        with pytest.raises(slow.ScalarError) as caught:
            slow.load(wrong)
        assert "\n" not in str(caught.value)


# The short way past YAML

KEYS = st.sampled_from(
    ["created", "source", "tier", "note_count", "provenance", "draft", "y", "no", "a_b", "Key", "x-y"]
)
SCALARS = st.one_of(
    st.sampled_from(YAML_WORDS),
    st.sampled_from(['"[[a]]"', '"a: b"', "12", "-3", "true", "2026-11-29T20:15:30Z", "pending", "a b", "''", '""']),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(lambda text: f'"{text}"'),
)
LINES = st.builds("{}: {}".format, KEYS, SCALARS) | st.builds(
    lambda key, items: "\n".join([f"{key}:", *(f"  - {item}" for item in items)]), KEYS, st.lists(SCALARS, max_size=3)
)


@given(st.lists(LINES, max_size=4))
def test_a_block_that_is_read_without_yaml_is_read_as_yaml_reads_it(lines: list[str]) -> None:
    block = "".join(f"{line}\n" for line in lines)
    short = pages._plain(block)
    if short is not None:
        assert short == scalars.load(block)


@given(st.dictionaries(st.sampled_from(["created", "source", "tier", "title"]), st.text(max_size=20) | st.integers()))
def test_what_the_store_spells_is_read_alike_on_both_ways(keys: dict[str, object]) -> None:
    block = pages.spell(keys, "Body.").decode("utf-8", "surrogatepass").split("---\n")[1] if keys else ""
    short = pages._plain(block)
    assert short is None or short == scalars.load(block)

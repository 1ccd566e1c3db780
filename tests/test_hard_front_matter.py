"""Front matter as people, editors and other tools leave it: nothing is lost, and a bad block stops nothing else."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import hard
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyramid_fs import format as pages
from pyramid_fs.errors import RefusedWrite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    return hard.make(tmp_path, monkeypatch)


def is_one_sound_note(vault: hard.Vault, *words: str, path: str = "models/plot/a.md") -> None:
    before = vault.bytes()
    for word in words:
        assert vault.finds(word) == [path], word
    assert vault.counts() == (1, 1, {})
    assert vault.problems() == []
    assert vault.doctor() == {}
    assert vault.bytes() == before


def is_one_problem(vault: hard.Vault, *words: str, path: str = "models/plot/a.md", reason: str = "") -> None:
    """The file is found and counted, named once with its reason, in no batch; the ten good notes go on."""
    before = vault.bytes()
    for word in words:
        assert vault.finds(word) == [path], word
    assert vault.counts() == (11, 11, {})
    assert vault.problems() == [path]
    assert reason in vault.doctor()[path]
    assert vault.run("advance").code == 0
    assert vault.counts() == (11, 1, {"0": 1})
    assert sorted(vault.sources()) == sorted(f"row{number}" for number in range(1, 11))
    vault.is_sound()
    assert {path: data for path, data in vault.bytes().items() if path in before} == before


# Values keep the letters typed


@pytest.mark.parametrize(
    "typed",
    [
        "2024-11-02",
        "2024-11-02T10:00:00Z",
        "10:30",
        "12:30:45",
        "no",
        "Yes",
        "on",
        "y",
        "NULL",
        "true",
        "1.10",
        "007",
        "0x1F",
        "0o17",
        "1_000",
        "1e3",
        "1:30",
        "+41",
        "99999999999999999999",
        "190:20:30",
        "v1.0",
        "2026-W12",
    ],
)
def test_no_value_is_retyped(vault: hard.Vault, typed: str) -> None:
    keys = (f"title: {typed}", f"source: {typed}", f"edition: {typed}", f"seen: {typed}", f"{typed}: {typed}")
    vault.note("a", "shallots went in", *keys)
    is_one_sound_note(vault, "shallots", typed)
    (text,) = vault.run("load", "plot", "--json").json["models"][0]["recent"]
    assert text["source"] == typed
    (hit,) = vault.run("recall", "--json", "shallots").json["hits"]
    assert hit["created"] == "2026-03-14"


@pytest.mark.parametrize("typed", ["~", ".inf", ".NaN", "=", "''", '""'])
def test_values_of_marks_alone_do_no_harm(vault: hard.Vault, typed: str) -> None:
    vault.note("a", "shallots went in", f"title: {typed}", f"source: {typed}")
    is_one_sound_note(vault, "shallots")


def test_a_title_alone_is_a_note(vault: hard.Vault) -> None:
    vault.put("models/plot/a.md", "---\ntitle: 1.10\n---\n")
    is_one_sound_note(vault, "1.10")
    assert "1.10" in vault.run("load", "plot").out


# Bytes before, between and after the lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("fence", ["---", "---  ", "---\t"])
def test_line_ends_marks_and_blanks_do_no_harm(vault: hard.Vault, end: str, mark: bytes, fence: str) -> None:
    text = f"{fence}\ncreated: {hard.NOW}\ntitle: Kohlrabi\n{fence}\nsown under glass\nand thinned\n"
    vault.put("models/plot/a.md", mark + text.replace("\n", end).encode())
    is_one_sound_note(vault, "Kohlrabi", "glass", "thinned")
    (text_,) = vault.run("load", "plot", "--json").json["models"][0]["recent"]
    assert text_["text"] == "sown under glass\nand thinned"


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("---\ntitle: Kohlrabi\n---", "Kohlrabi"),
        ("---\ntitle: Kohlrabi\n---  ", "Kohlrabi"),
        ("---\r\ntitle: Kohlrabi\r\n---", "Kohlrabi"),
        ("---\n---\nKohlrabi\n", "Kohlrabi"),
        ("---\n# only a remark\n---\nKohlrabi\n", "Kohlrabi"),
        ("---\n\n\n---\nKohlrabi", "Kohlrabi"),
        ("---\ntitle: a\n---\n\n\n\nKohlrabi   \n\n\n", "Kohlrabi"),
        ("---\ntitle: 'one\u2028Kohlrabi'\n---\n", "Kohlrabi"),
        ("Kohlrabi\u2028and leeks\u2029and chard\x0band kale\x0cand", "leeks"),
        ("---\ntitle: x\n---\n\ufeffKohlrabi\n", "Kohlrabi"),
        ("Kohlrabi\n---\ntitle: not at the top\n---\n", "Kohlrabi"),
        (" ---\nkey: v\n---\nKohlrabi", "Kohlrabi"),
        ("\n---\nkey: v\n---\nKohlrabi", "Kohlrabi"),
    ],
)
def test_odd_shapes_of_a_file_are_sound(vault: hard.Vault, data: str, word: str) -> None:
    vault.put("models/plot/a.md", data)
    is_one_sound_note(vault, word)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("die Kohlrabi für später\n".encode("latin-1"), "UTF-8"),
        ("Kohlrabi – später".encode("cp1252"), "UTF-8"),
        (codecs.BOM_UTF16_LE + "Kohlrabi\n".encode("utf-16-le"), "UTF-16"),
        (codecs.BOM_UTF16_BE + "Kohlrabi\n".encode("utf-16-be"), "UTF-16"),
        (b"---\ntitle: x\n---\nKohlrabi \xed\xa0\x80 lone surrogate\n", "UTF-8"),
        (b"Kohlrabi \xff\xfe\xfd", "UTF-8"),
        (b"Kohlrabi \xf0\x9f\x9a", "UTF-8"),
        (b"Kohlrabi\n\0\0\0\0", "NUL"),
        (b"---\ntitle: \0\n---\nKohlrabi\n", "NUL"),
        (b"\x89PNG\r\n\x1a\n\0\0Kohlrabi \xde\xad\xbe\xef", "UTF-8"),
    ],
)
def test_bytes_that_are_no_text_are_a_problem_and_found(vault: hard.Vault, data: bytes, reason: str) -> None:
    vault.fill(10)
    vault.put("models/plot/a.md", data)
    is_one_problem(vault, "Kohlrabi", reason=reason)


# Dashes


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: fore---aft\n---\nsalsify first\n\n---\n\nskirret last",
        "---\ntitle: '--- salsify'\n---\nskirret",
        "---\nremark: --- salsify\n---\nskirret",
        "---\nremark: |\n  salsify\n  ---\n  more\n---\nskirret",
        "---\nremark: >-\n  salsify\n\n  ---\n---\nskirret",
        "---\nremark: # ---\n  salsify\n---\nskirret",
        "---\ntitle: salsify\n---\n---\nskirret\n---",
        "---\n\nsalsify after a rule\n\n---\n\nskirret",
        "---\nsalsify, a text between rules\n---\nskirret",
        "---\n- salsify\n- a list\n---\nskirret",
        "---\n[salsify, skirret]\n---\nbody",
        '---\n"salsify"\n---\nskirret',
        "----\nsalsify: x\n----\nskirret",
        "--- salsify\nkey: v\n---\nskirret",
        "---salsify\n---\nskirret",
        "\u2014\nsalsify: x\n\u2014\nskirret",
        "***\nsalsify\n***\nskirret",
        "salsify\n---\nheading above\n---\nskirret",
        "salsify\n\n| a | b |\n|---|---|\n| c | skirret |",
        "salsify\n```yaml\n---\ntier: 0\nprovenance:\n  - x\n---\n```\nskirret",
        "---\ntitle: salsify\n---\n```\n---\ntier: 3\n---\n```\nskirret",
        "---\ntitle: salsify\n ---\n---\nskirret",
        "+++\ntitle = 'salsify'\n+++\nskirret",
        "<!--\nsalsify: ---\n-->\nskirret",
        "---\n" * 40 + "salsify skirret",
        "-\n--\n---\nsalsify\nskirret",
        "---\n---\n---\nsalsify skirret",
    ],
)
def test_dashes_in_values_and_bodies_end_nothing(vault: hard.Vault, text: str) -> None:
    vault.put("models/plot/a.md", text)
    is_one_sound_note(vault, "salsify", "skirret")
    body = pages.read(text.encode()).body
    shown = [line.removeprefix(">").removeprefix(" ") for line in vault.run("load", "plot").out.splitlines()]
    assert body in "\n".join(shown)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: salsify\nskirret without an end\n",
        "---\ntitle: salsify\n...\nskirret\n",
        "---\ntitle: salsify\n----\nskirret\n",
        "---\ntitle: salsify\n  ---\nskirret\n",
    ],
)
def test_a_block_that_never_closes_is_a_problem(vault: hard.Vault, text: str) -> None:
    vault.fill(10)
    vault.put("models/plot/a.md", text)
    is_one_problem(vault, "salsify", "skirret", reason="never closes")


# What YAML has no answer to


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        (["created: 2026-02-01", "created: 2026-02-02"], "romanesco"),
        (["created: 2026-02-01", "source: a", 'source: "b"'], "romanesco"),
        (["title: one", "'title': two"], "two"),
        (["meta:", "  a: one", "  a: two"], "two"),
        (["meta: {a: one, a: two}"], "two"),
        (["list:", "  - {a: one, a: two}"], "two"),
        (["tags: [a]", "created: 2026-02-01", "tags: [romanesco]"], "romanesco"),
    ],
)
def test_a_key_that_stands_twice_is_a_problem(vault: hard.Vault, lines: list[str], word: str) -> None:
    vault.fill(10)
    vault.put("models/plot/a.md", "\n".join(["---", *lines, "---", "romanesco", ""]))
    is_one_problem(vault, "romanesco", word, reason="twice")
    assert "twice" in vault.run("doctor").out


@pytest.mark.parametrize(
    "lines",
    [
        ["created: 2026-02-01", "Created: 2026-02-02"],
        ["a: {title: x}", "b: {title: y}"],
        ["list: [{a: one}, {a: two}]"],
        ["base: &base {a: one}", "other:", "  <<: *base", "  a: two"],
    ],
)
def test_like_keys_in_other_places_are_none(vault: hard.Vault, lines: list[str]) -> None:
    vault.put("models/plot/a.md", "\n".join(["---", *lines, "---", "romanesco", ""]))
    is_one_sound_note(vault, "romanesco")


NOT_YAML = {
    "tab": ["tags:", "\t- bed"],
    "tab-first": ["\ttitle: a"],
    "colon": ["title: Beds: north"],
    "colon-end": ["title: Beds:", "  north: a: b"],
    "quote": ['title: "late flowers', "other: x"],
    "single-quote": ["title: 'til spring", "other: x"],
    "after-quote": ['title: "late" flowers'],
    "bracket": ["tags: [bed, frame"],
    "brace": ["tags: {bed"],
    "closing": ["tags: bed]", "more: ]"],
    "at": ["owner: @neighbour"],
    "backtick": ["code: `x`"],
    "percent": ["share: %50"],
    "star": ["title: *starred*"],
    "star-list": ["- one", "title: x"],
    "template": ["title: {{title}}"],
    "bang": ["title: !! a"],
    "no-colon": ["title: a", "just a line", "more: b"],
    "indent": ["title: a", "   more: b", " less: c"],
    "conflict": ["<<<<<<< HEAD", "title: a", "=======", "title: b", ">>>>>>> theirs"],
    "link-text": ["related:", "  - [[Plan 7]] second half"],
    "link-two": ["related: [[Plan 7]], [[Plan 8]]"],
    "link-hash": ["related: [[Plan #7]]"],
    "escape": ['path: "C:\\users\\q"'],
    "control": ["title: a\x07b"],
    "pipe": ["text: |x", "  y"],
    "alias": ["title: *nobody"],
    "deep": ["title: " + "[" * 5000],
    "deep-dashes": ["- " * 3000 + "x"],
    "ring": ["title: &ring [*ring]"],
    "ring-map": ["title: &ring {a: *ring}"],
    "bomb": ["l0: &l0 [x, x, x, x, x, x, x, x, x]"]
    + [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    + ["title: *l11"],
    "many-lines": [f"- line {number}" for number in range(20_000)] + ["key: x"],
    "key-list": ["? [a, b]", ": c"],
    "key-map": ["{a: b}: c"],
    "second": ["title: a", "--- !b", "title: c"],
}


@pytest.mark.parametrize("kind", NOT_YAML)
def test_what_is_not_yaml_is_a_problem_of_that_file_alone(vault: hard.Vault, kind: str) -> None:
    vault.fill(10)
    vault.put("models/plot/a.md", "\n".join(["---", *NOT_YAML[kind], "---", "romanesco", ""]))
    reason = "it holds git's conflict markers" if kind == "conflict" else "its front matter can't be parsed: "
    is_one_problem(vault, "romanesco", reason=reason)


@pytest.mark.slow
def test_all_bad_blocks_at_once_hold_up_nothing(vault: hard.Vault) -> None:
    vault.fill(10)
    for kind, lines in NOT_YAML.items():
        vault.put(f"models/plot/{kind}.md", "\n".join(["---", *lines, "---", f"romanesco {kind}", ""]))
    before = vault.bytes()
    bad = sorted(f"models/plot/{kind}.md" for kind in NOT_YAML)
    assert vault.problems() == bad
    assert sorted(vault.doctor()) == bad
    ran = vault.process("recall", "--json", "-n", "99", "romanesco")
    assert (ran.code, ran.err, len(ran.hits)) == (0, "", len(NOT_YAML))
    ran = vault.process("advance")
    assert (ran.code, ran.err) == (0, "")
    assert sorted(vault.sources()) == sorted(f"row{number}" for number in range(1, 11))
    vault.is_sound()
    assert before.items() <= vault.bytes().items()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("title: pot #3 on the sill", ["pot #3", "sill"]),
        ("title: 'it''s late'", ["late"]),
        ('title: "a \\u00fcber b"', ["romanesco"]),
        ("title: http://example.org/x#y", ["example.org"]),
        ("title: a, b & c", ["romanesco"]),
        ("title: C#", ["C#"]),
        ("title: 50% off", ["50%"]),
        ("title: <% tp.file.title %>", ["romanesco"]),
        ("title: -1", ["-1 romanesco"]),
        ("title: 🚜 tractor", ["tractor", "🚜"]),
        ("title: |\n  several\n  lines", ["several", "lines"]),
        ("title: >\n  folded\n  lines", ["folded"]),
        ("tags: [a, b, 'c d']", ["romanesco"]),
        ("tags: a b", ["romanesco"]),
        ("aliases:\n- Zaubergarten", ["Zaubergarten"]),
        ("cssclasses:", ["romanesco"]),
        ("nested:\n  deeper:\n    deepest: Zaubergarten", ["Zaubergarten"]),
        ("tier: 3\nbatch: 1\nprovenance: [x]", ["romanesco"]),
        ("type: summary", ["romanesco"]),
    ],
)
def test_what_people_write_that_is_yaml_is_found(vault: hard.Vault, line: str, words: list[str]) -> None:
    vault.note("a", "romanesco", line)
    for word in words:
        assert vault.finds(word.removeprefix("-1 ")) == ["models/plot/a.md"]
    is_one_sound_note(vault)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("[[Plan 7]]", "[[Plan 7]]"),
        ("[[Plan 7|the long one]]", "[[Plan 7|the long one]]"),
        ("[[Plan 7#Beds]]", "[[Plan 7#Beds]]"),
        ("[[plans/Plan 7]]", "[[plans/Plan 7]]"),
        ('"[[Plan 7]]"', "[[Plan 7]]"),
        ("'[[Plan 7]] of spring'", "[[Plan 7]] of spring"),
        ("[[Plan 7, beds]]", "[[Plan 7, beds]]"),
        ("[[Plan: beds]]", "[[Plan: beds]]"),
        ("[[2026-03-14]]", "[[2026-03-14]]"),
        ("\n  - [[Plan 7]]", "[[Plan 7]]"),
        ("\n  - [[Plan 7]]\n  - [[Plan 8|eight]]", "[[Plan 7]], [[Plan 8|eight]]"),
        ("\n  - [[Plan 7]]\n  - a book", "[[Plan 7]], a book"),
        ("[a, b]", "a, b"),
    ],
)
def test_links_in_front_matter_stay_links(vault: hard.Vault, typed: str, shown: str) -> None:
    vault.note("a", "romanesco", f"source: {typed}", f"related: {typed}")
    is_one_sound_note(vault, "romanesco")
    (text,) = vault.run("load", "plot", "--json").json["models"][0]["recent"]
    assert text["source"] == shown
    assert f"source: {shown}" in vault.run("load", "plot").out


# Dates


@pytest.mark.parametrize(
    "typed",
    [
        "0000-00-00",
        "2026-02-30",
        "2026-13-01",
        "2026-00-10",
        "2026-03-14T25:00",
        "2026-03-14T09:61:00Z",
        "yesterday",
        "14/03/2026",
        "1773475200",
        "2026-03",
        "{{date}}",
        "'{{date:YYYY-MM-DD}}'",
        "<% tp.date.now() %>",
        "true",
        "[a]",
        "{a: b}",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        "2026-03-14T09:00:00+99:00",
    ],
)
def test_an_unusable_created_is_a_problem_that_names_it(vault: hard.Vault, typed: str) -> None:
    vault.fill(10)
    vault.put("models/plot/a.md", f"---\ncreated: {typed}\n---\nromanesco\n")
    is_one_problem(vault, "romanesco")
    if not typed.startswith("{{"):  # which is no YAML
        reason = vault.doctor()["models/plot/a.md"]
        assert "created" in reason
        assert typed.strip("[]'") in reason or typed == "{a: b}" or typed[:10] in reason


@pytest.mark.parametrize(
    ("keys", "day"),
    [
        (["created: 2026-03-14"], "2026-03-14"),
        (["created: '2026-03-14'"], "2026-03-14"),
        (["created: 2026-03-14 09:30"], "2026-03-14"),
        (["created: 2026-03-14T23:30:00-05:00"], "2026-03-15"),
        (["created: [[2026-03-14]]"], "2026-03-14"),
        (['created: "[[2026-03-14|Saturday]]"'], "2026-03-14"),
        (["created: Saturday 2026-03-14, late"], "2026-03-14"),
        (["created: [2026-03-14]"], "2026-03-14"),
        (["created: 2026-03-14T09:00:00.123456789Z"], "2026-03-14"),
        (["date: 2026-03-14"], "2026-03-14"),
        (["created:", "date: 2026-03-14"], "2026-03-14"),
        (["created: 2026-03-14", "date: sometime"], "2026-03-14"),
        (["date: sometime"], ""),
        (["date: 2026-02-30"], ""),
        (["created:"], ""),
        (["created: ''"], ""),
    ],
)
def test_dates_are_read_as_people_write_them(vault: hard.Vault, keys: list[str], day: str) -> None:
    vault.put("models/plot/a.md", "\n".join(["---", *keys, "---", "romanesco", ""]))
    is_one_sound_note(vault, "romanesco")
    (hit,) = vault.run("recall", "--json", "romanesco").json["hits"]
    assert hit["created"] == day


# One key is changed, or nothing

STYLES = {
    "plain": ("status: pending", "status: confirmed"),
    "double": ('status: "pending"', 'status: "confirmed"'),
    "single": ("status: 'pending'", "status: 'confirmed'"),
    "comment": ("status: pending   # since spring", "status: confirmed   # since spring"),
    "quoted-comment": ("status: 'pending' # it's so", "status: 'confirmed' # it's so"),
    "wide": ("status:      pending", "status:      confirmed"),
    "before-colon": ("status : pending", "status : confirmed"),
    "quoted-key": ('"status": pending', '"status": confirmed'),
    "trailing": ("status: pending   ", "status: confirmed   "),
    "empty": ("status:", "status: confirmed"),
    "other-word": ("status: Pending?", "status: confirmed"),
}


def rule(status: str, end: str = "\n", mark: str = "") -> bytes:
    lines = [
        "---",
        "# by hand",
        "zeta: 'single'",
        'alpha: "Žluť"  # last year',
        status,
        f"created: {hard.NOW}",
        "",
        "tags: [a, b]",
        "long: " + "word " * 40 + "end",
        "---",
        "Net the currants, no newline here",
    ]
    return (mark + end.join(lines)).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("style", STYLES)
def test_confirm_changes_one_line(vault: hard.Vault, style: str, end: str, mark: str) -> None:
    old, new = STYLES[style]
    path = vault.put("procedures/currants-x7q2.md", rule(old, end, mark))
    ran = vault.run("confirm", "currants-x7q2")
    assert (ran.code, ran.err) == (0, "")
    assert path.read_bytes() == rule(new, end, mark)
    assert vault.run("confirm", "currants-x7q2").code == 0
    assert path.read_bytes() == rule(new, end, mark)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "---\nmeta:\n  status: pending\n---\nNet them",
            "---\nmeta:\n  status: pending\nstatus: confirmed\n---\nNet them",
        ),
        ("---\ntext: |\n  status: pending\n---\nNet", "---\ntext: |\n  status: pending\nstatus: confirmed\n---\nNet"),
        ("---\nstatus: pending\n---\nstatus: pending\n", "---\nstatus: confirmed\n---\nstatus: pending\n"),
        ("---\nstatus:\n  - pending\nz: 1\n---\nNet\n", "---\nstatus: confirmed\nz: 1\n---\nNet\n"),
        ("---\nstatus: >\n  pending\nz: 1\n---\nNet\n", "---\nstatus: confirmed\nz: 1\n---\nNet\n"),
        ("---\n---\nNet\n", "---\nstatus: confirmed\n---\nNet\n"),
        ("Net the currants\n", "---\nstatus: confirmed\n---\nNet the currants\n"),
        ("---\nx: 1\nmystatus: pending\n---\nNet\n", "---\nx: 1\nmystatus: pending\nstatus: confirmed\n---\nNet\n"),
        ("---\n#status: pending\n---\nNet\n", "---\n#status: pending\nstatus: confirmed\n---\nNet\n"),
        ("---\nstatus: pending\n---", "---\nstatus: confirmed\n---"),
    ],
)
def test_confirm_finds_the_right_key(vault: hard.Vault, before: str, after: str) -> None:
    path = vault.put("procedures/currants-x7q2.md", before)
    assert vault.run("confirm", "currants-x7q2").code == 0
    assert path.read_text() == after


@pytest.mark.parametrize(
    "block",
    [
        *("\n".join(["status: pending", *NOT_YAML[kind]]) for kind in NOT_YAML),
        "status: pending\nstatus: pending",
        "{status: pending}",
        "{status: pending,\n other: x}",
        "status: &s pending\nother: *s",
        "status: {a: b,\nc: d}",
    ],
)
def test_a_block_that_cannot_be_changed_safely_is_left_alone(vault: hard.Vault, block: str) -> None:
    vault.put("procedures/currants-x7q2.md", f"---\n{block}\n---\nNet the currants\n")
    vault.note("a", "romanesco")
    before = vault.bytes()
    ran = vault.run("confirm", "currants-x7q2")
    assert ran.code == 24
    assert "currants-x7q2.md" in ran.err
    assert vault.bytes() == before


def test_a_file_that_is_no_utf8_is_left_alone(vault: hard.Vault) -> None:
    vault.put("procedures/currants-x7q2.md", b"---\nstatus: pending\n---\nNet them f\xfcr now\n")
    before = vault.bytes()
    assert vault.run("confirm", "currants-x7q2").code == 24
    assert vault.bytes() == before


@pytest.mark.parametrize("block", ["description: a: b", 'description: "x', "type: model\ntype: model"])
def test_a_card_that_cannot_be_parsed_is_left_alone(vault: hard.Vault, block: str) -> None:
    vault.fill(10)
    card = vault.put("models/plot/plot.md", f"---\n{block}\n---\nromanesco\n")
    old = card.read_bytes()
    assert vault.problems() == ["models/plot/plot.md"]
    assert vault.finds("romanesco") == ["models/plot/plot.md"]
    assert vault.run("model", "archive", "plot").code == 24
    assert vault.run("model", "describe", "plot", "another").code == 24
    assert card.read_bytes() == old
    assert vault.run("advance").code == 0
    assert vault.counts() == (10, 0, {"0": 1})
    vault.is_sound()


# Any block at all


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(st.sampled_from("abk:-\"'[]{}#&*!|>%@`, \t\n\r0129\x00\x85\u2028\ufeffé"), max_size=60),
    st.text(max_size=30),
)
def test_no_text_makes_reading_fail(block: str, body: str) -> None:
    for data in (f"---\n{block}\n---\n{body}".encode("utf-8", "replace"), f"{block}{body}".encode("utf-8", "replace")):
        page = pages.read(data)
        for key in page.keys:
            page.text(str(key))
        assert page.problem or page.is_blank or page.body or page.block or page.keys


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("abk:-\"'[]{}#&*!|> \n\r09é"), max_size=60), st.text(max_size=30))
def test_changing_a_key_changes_it_alone_or_refuses(block: str, body: str) -> None:
    data = f"---\n{block}\n---\n{body}".encode("utf-8", "replace")
    try:
        after = pages.set_key(data, "status", "confirmed")
    except RefusedWrite:
        return
    before, now = pages.read(data), pages.read(after)
    assert now.text("status") == "confirmed"
    assert now.body == before.body
    assert {k: v for k, v in now.keys.items() if k != "status"} == {
        k: v for k, v in before.keys.items() if k != "status"
    }

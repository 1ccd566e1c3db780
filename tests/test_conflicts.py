"""Conflict copies of sync tools: which file each is of, what differs, and that taking a side loses nothing."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Literal

import hard
import pytest

from pyramid_fs import layout

if TYPE_CHECKING:
    from pathlib import Path

COPIES = [
    "beans.sync-conflict-20260314-101500-ABCDEF7.md",
    "beans (laptop's conflicted copy 2026-03-14).md",
    "beans (Ada's MacBook (2)'s conflicted copy 2026-03-14).md",
    "beans (conflicted copy 2026-03-14 101500).md",
    "beans (Conflicted copy phone 202603141015).md",
    "beans_conflict-20260314-101500.md",
    "beans_mar-14-2026-1015_conflict.md",
    "beans (Case Conflict 1).md",
    "beans (SFConflict ada@example.org 2026-03-14-10-15-00).md",
]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    return hard.make(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", COPIES)
def test_each_tools_copy_is_known_with_its_file(name: str) -> None:
    assert layout.is_conflict_copy(name)
    assert layout.original_of(name) == "beans.md"


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("beans 2", "beans"), ("beans (1)", "beans"), ("beans(3)", "beans"), ("beans copy", "beans"),
        ("beans copy 2", "beans"), ("beans - Kopie (2)", "beans"), ("beans-DESKTOP-1A2B3C", "beans"),
        ("beans-ADAS-LAPTOP-2", "beans"), ("2026-03-14-101500-beans-k3f9 2", "2026-03-14-101500-beans-k3f9"),
        ("beans and peas", ""), ("beans-soup", ""), ("2026-03-14-2", ""), ("beans", ""), ("2", ""), ("beans.2", ""),
        ("original_of", ""), ("beans 2026", ""),
    ],
)  # fmt: skip
def test_what_a_name_may_be_a_copy_of(name: str, of: str) -> None:
    assert layout.copied_from(name) == of


def put(vault: hard.Vault, name: str = COPIES[0]) -> str:
    """Put a note and a copy of it that says more; give the copy's path."""
    vault.note("beans", "haricot in row one")
    vault.note(name.removesuffix(".md"), "haricot in row one\nflageolet in row two")
    return f"models/plot/{name}"


def test_doctor_names_the_copy_and_the_way_out_and_resolve_shows_what_differs(vault: hard.Vault) -> None:
    copy = put(vault)
    vault.note("beans_conflict-20260314-101500", "haricot in row one")
    before = vault.bytes()
    (first, second) = vault.run("doctor", "--json").json["problems"]
    assert first["path"] == copy
    assert first["reason"] == "a conflict copy of models/plot/beans.md: it is not read as a note"
    assert first["fix"].startswith(f"`pyramid resolve {copy}`")
    assert second["reason"] == "a conflict copy of models/plot/beans.md: the same text"
    for named in (copy, COPIES[0], COPIES[0].removesuffix(".md")):
        ran = vault.run("resolve", named)
        assert (ran.code, ran.err) == (0, "")
        assert "+flageolet in row two" in ran.out.splitlines()
        assert f"pyramid resolve {copy} --take copy" in ran.out
    assert vault.run("resolve").out.splitlines() == [copy, second["path"] + " (the same text)"]
    assert vault.run("resolve").code == 1
    assert vault.bytes() == before


def test_taking_the_file_moves_the_copy_to_the_trash(vault: hard.Vault) -> None:
    copy = put(vault)
    data = vault.bytes()
    assert vault.run("resolve", copy, "--take", "original").code == 0
    trashed = f".trash/{copy.replace('/', '-')}"
    assert vault.bytes() == {trashed: data.pop(copy), **data}
    assert vault.finds("flageolet") == []
    assert vault.doctor() == {}


def test_taking_the_copy_puts_it_in_the_files_place_and_keeps_the_old_text(vault: hard.Vault) -> None:
    copy = put(vault)
    data = vault.bytes()
    (vault.root / ".trash").mkdir()
    (vault.root / ".trash/models-plot-beans.md").write_text("of another day")
    assert vault.run("resolve", copy, "--take", "copy").code == 0
    after = vault.bytes()
    assert after["models/plot/beans.md"] == data[copy]
    assert after[".trash/models-plot-beans 2.md"] == data["models/plot/beans.md"]
    assert after[".trash/models-plot-beans.md"] == b"of another day"
    assert copy not in after
    assert vault.finds("flageolet") == ["models/plot/beans.md"]


def test_taking_both_makes_the_copy_a_note_of_its_own(vault: hard.Vault) -> None:
    vault.fill(9)
    copy = put(vault)
    assert vault.counts()[0] == 10
    assert vault.run("resolve", copy, "--take", "both").code == 0
    assert vault.counts()[0] == 11
    (found,) = vault.finds("flageolet")
    assert found.startswith("models/plot/beans-")
    assert vault.run("advance").code == 0
    vault.is_sound()


def test_of_cards_and_summaries_there_can_be_only_one(vault: hard.Vault) -> None:
    vault.fill(10)
    assert vault.run("advance").code == 0
    (summary,) = vault.summaries()
    copy = vault.put(f"models/plot/tier-0/{summary.stem}.sync-conflict-20260314-101500-ABCDEF7.md", "x")
    card = vault.put("models/plot/plot (conflicted copy 2026-03-14).md", "---\ntype: model\n---\n")
    vault.put("models/plot/plot.md", "---\ntype: model\ndescription: beds\n---\n")
    for path in (copy, card):
        ran = vault.run("resolve", str(path.relative_to(vault.root)), "--take", "both")
        assert (ran.code, "there can be only one" in ran.err) == (24, True)
        assert path.exists()
    assert vault.run("resolve", card.name, "--take", "original").code == 0
    vault.is_sound()


def test_a_copy_whose_file_is_gone_comes_back_under_its_name(vault: hard.Vault) -> None:
    copy = put(vault)
    (vault.root / "models/plot/beans.md").unlink()
    assert vault.doctor() == {copy: "a conflict copy of models/plot/beans.md, which is gone: it is not read as a note"}
    assert vault.run("resolve", copy, "--take", "original").code == 24
    assert "models/plot/beans.md is gone." in vault.run("resolve", copy).out
    assert vault.run("resolve", copy, "--take", "copy").code == 0
    assert vault.finds("flageolet") == ["models/plot/beans.md"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "name", ["Käse.sync-conflict-20260314-101500-ABCDEF7", "Käse (git conflicted copy 80123456789012)"]
)
def test_a_copy_is_of_its_file_however_a_tool_composes_the_letters(
    vault: hard.Vault, form: Literal["NFC", "NFD"], name: str
) -> None:
    other: Literal["NFC", "NFD"] = "NFD" if form == "NFC" else "NFC"
    original = vault.put(f"models/plot/{unicodedata.normalize(form, 'Käse')}.md", "haricot in row one")
    copy = vault.put(f"models/plot/{unicodedata.normalize(other, name)}.md", "flageolet in row two")
    ((path, reason),) = vault.doctor().items()
    assert path == f"models/plot/{copy.name}"
    assert (" is gone" in reason, original.name in reason) == (False, True)
    assert vault.run("resolve", name, "--take", "copy").code == 0
    assert [p.name for p in original.parent.glob("*se*")] == [original.name]
    assert original.read_text() == "flageolet in row two"


def test_hundreds_that_say_the_same_are_put_away_at_once(vault: hard.Vault) -> None:
    copy = put(vault)
    for number in range(20):
        vault.put(
            f"models/plot/beans.sync-conflict-20260314-1015{number:02}-ABCDEF7.md",
            (vault.root / "models/plot/beans.md").read_bytes().replace(b"\n", b"\r\n"),
        )
    vault.note(COPIES[0].removesuffix(".md"), "haricot in row one\nflageolet in row two")
    assert vault.run("resolve", "--same").code == 0
    assert sorted(vault.doctor()) == [copy]
    assert len(list((vault.root / ".trash").iterdir())) == 19
    assert "No conflict copy" in vault.run("resolve", "--same").out


def test_the_settings_copy_is_named_too(vault: hard.Vault) -> None:
    name = "pyramid.sync-conflict-20260314-101500-ABCDEF7.toml"
    vault.put(name, 'format = 1\ntimezone = "Europe/Berlin"\n')
    assert vault.doctor() == {name: "a conflict copy of pyramid.toml: it is not read as a note"}
    assert vault.run("resolve", name, "--take", "copy").code == 0
    assert "Berlin" in (vault.root / "pyramid.toml").read_text()
    assert vault.doctor() == {}


@pytest.mark.parametrize("alike", ["text", "date"])
def test_a_numbered_name_is_a_note_and_named_where_text_or_date_is_that_of_the_other(
    vault: hard.Vault, alike: str
) -> None:
    vault.note("beans", "haricot in row one")
    body = "Haricot, in row *one*" if alike == "text" else "mangetout in row three"
    vault.note("beans 2", body, created="2026-03-14T09:00:00Z" if alike == "date" else "2026-03-15")
    vault.note("beans (1)", "chickpea in row four", created="2026-03-16")
    vault.note("peas 2", "haricot in row one")
    same = f"models/plot/beans.md, with the same {alike}"
    ran = vault.run("doctor", "--json")
    assert (ran.code, ran.json["problems"]) == (0, [])
    (hint,) = ran.json["hints"]
    assert (hint["path"], hint["reason"]) == (
        "models/plot/beans 2.md", f"it looks like a copy of {same}: both count as notes",
    )  # fmt: skip
    assert "Perhaps not meant so:" in vault.run("doctor").out
    assert vault.counts()[0] == 4
    assert "models/plot/beans.md" in vault.run("resolve", "beans 2").out
    assert vault.run("resolve", "beans (1)").code == 21
    assert vault.run("resolve", "beans 2", "--take", "original").code == 0
    assert (vault.counts()[0], vault.run("doctor", "--json").json["hints"]) == (3, [])


@pytest.mark.parametrize(
    ("words", "code"),
    [(["nothing"], 21), (["--take", "copy"], 2), (["x", "--same"], 2), (["x", "--take", "mine"], 2)],
)
def test_what_can_not_be_meant_is_one_sentence(vault: hard.Vault, words: list[str], code: int) -> None:
    ran = vault.run("resolve", *words)
    assert (ran.code, ran.err.startswith("pyramid: "), ran.err.count("\n")) == (code, True, 1)


def test_a_name_that_several_copies_have_is_asked_back(vault: hard.Vault) -> None:
    put(vault)
    vault.note("beans", "dwarf", model="yard")
    vault.note(COPIES[0].removesuffix(".md"), "runner", model="yard")
    ran = vault.run("resolve", COPIES[0])
    assert (ran.code, "models/yard/" in ran.err, "models/plot/" in ran.err) == (21, True, True)

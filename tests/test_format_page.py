"""FORMAT.md's examples are what the code reads and writes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

import pytest

from pyramid_fs import format as pages
from pyramid_fs import kinds, layout, settings
from pyramid_fs.notes import Card, Note, Summary
from pyramid_fs.vault import find_zone

PAGE = resources.files("pyramid_fs").joinpath("FORMAT.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```markdown (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
NOW = datetime(2026, 11, 29, tzinfo=UTC)


def _read(path: str, text: str) -> object:
    place = layout.place(path)
    assert place is not None
    return kinds.read(path, place, pages.read(text.encode()), NOW, UTC)


def test_the_page_holds_examples_of_each_kind_that_the_pyramid_is_made_of() -> None:
    read = [type(_read(path, text)) for path, text in EXAMPLES]
    assert set(read) == {Note, Card, Summary}
    assert len(read) == 5


@pytest.mark.parametrize(("path", "text"), EXAMPLES)
def test_every_example_is_read_without_a_problem(path: str, text: str) -> None:
    value = _read(path, text)
    assert isinstance(value, (Note, Card, Summary))
    assert value.problem == ""


def test_the_note_is_spelled_as_the_store_spells_it() -> None:
    path, text = EXAMPLES[0]
    note = _read(path, text)
    assert isinstance(note, Note)
    assert kinds.spell_note("Alice prefers the morning train.", note.created, note.source) == text.encode()
    assert layout.note_path("alice", note.created, "Prefers the morning train", "k3f9") == path


def test_the_summary_is_spelled_as_the_store_spells_it_and_names_the_note_by_link_digest_and_date() -> None:
    note = _read(*EXAMPLES[0])
    (path, text) = next(example for example in EXAMPLES if "/tier-0/" in example[0])
    summary = _read(path, text)
    assert isinstance(summary, Summary)
    assert isinstance(note, Note)
    assert kinds.spell_summary(summary, "Alice prefers the morning train.") == text.encode()
    (source,) = summary.sources
    assert (source.link, source.digest, source.date) == (note.handle, note.digest, note.created)


def test_the_embed_is_spelled_as_the_store_spells_it() -> None:
    note, embed = _read(*EXAMPLES[0]), _read(*EXAMPLES[1])
    assert isinstance(note, Note)
    assert isinstance(embed, Note)
    assert embed.embed == note.handle


def test_the_settings_shown_are_the_defaults_but_for_the_zone() -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shown, plain = (settings.read_vault(each, "pyramid.toml", find_zone) for each in (text, "format = 1\n"))
    assert (shown.shape, shown.view_chars, shown.boot_chars) == (plain.shape, plain.view_chars, plain.boot_chars)
    assert shown.zone_name == "Europe/Berlin"
    assert shown.warnings == ()


def test_the_projects_own_vault_balances() -> None:
    from pyramid_fs.verify import verify

    vault = Path(__file__).parent.parent / "vault"
    report = verify(vault, UTC)
    assert report.balances, report.faults
    assert sum(model.notes for model in report.models) >= 130
    assert len(report.models) >= 3
    assert any((vault / "models").glob("*/tier-1/*.md"))

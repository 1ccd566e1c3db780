"""FORMAT.md's examples are what the code reads and writes."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

import pytest

from pyramid_fs import Memory, curation, kinds, layout, renaming, settings
from pyramid_fs import format as pages
from pyramid_fs.notes import Card, Curated, Entity, Kind, Note, Session, Shaped, Summary
from pyramid_fs.vault import find_zone, make_vault

PAGE = resources.files("pyramid_fs").joinpath("FORMAT.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```markdown (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
NOW = datetime(2026, 11, 29, tzinfo=UTC)


def _read(path: str, text: str) -> object:
    place = layout.place(path)
    assert place is not None
    return kinds.read(path, place, pages.read(text.encode()), NOW, UTC)


def test_the_page_holds_examples_of_each_kind() -> None:
    read = [type(_read(path, text)) for path, text in EXAMPLES]
    assert set(read) == {Note, Card, Summary, Session, Shaped, Entity, Curated}
    assert len(read) == 10


@pytest.mark.parametrize(("path", "text"), EXAMPLES)
def test_every_example_is_read_without_a_problem(path: str, text: str) -> None:
    value = _read(path, text)
    assert isinstance(value, (Note, Card, Summary, Shaped))
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


def test_the_session_is_spelled_as_the_store_spells_it_and_named_by_its_title() -> None:
    path, text = next(example for example in EXAMPLES if example[0].startswith("sessions/"))
    session = _read(path, text)
    assert isinstance(session, Session)
    body = pages.read(text.encode()).body
    assert kinds.spell_session(session, body) == text.encode()
    assert layout.shape_path(Kind.SESSION, session.name, "x7q2", "2026-11-20") == path
    assert (session.session, session.topics, session.created.hour) == ("5f0c1a", ("moving-house",), 9)


def test_the_topics_card_is_spelled_as_the_store_spells_it() -> None:
    path, text = next(example for example in EXAMPLES if example[0].startswith("topics/"))
    card = _read(path, text)
    assert isinstance(card, Shaped)
    assert kinds.spell_topic(card.name, card.created) == text.encode()
    assert path == f"topics/{layout.topic_slug(card.name)}.md"


def test_the_records_are_spelled_as_the_store_spells_them() -> None:
    records = [
        (path, text, _read(path, text)) for path, text in EXAMPLES if path.startswith(("entities", "procedures"))
    ]
    assert [curation.status(record) for *_, record in records if isinstance(record, Curated)] == [
        "pending", "confirmed", "pruned",
    ]  # fmt: skip
    for path, text, record in records:
        body = pages.read(text.encode()).body
        assert isinstance(record, Curated)
        if isinstance(record, Entity):
            assert kinds.spell_entity(record, body) == text.encode()
            assert layout.shape_path(Kind.ENTITY, record.name, "x7q2") == path
            assert (record.aliases, record.duplicates, record.contradicts) == (
                ("Countess of Lovelace",), ("ada-p2m7",), ("ada-of-ockham-k3f9",),
            )  # fmt: skip
        elif record.pruned:
            plain = kinds.spell_procedure(replace(record, status="pending"), body)
            pruned = pages.set_key(pages.set_key(plain, "status", "pruned"), "pruned", record.pruned)
            assert pruned == text.encode()
            assert record.pruned == curation.due_day(record, {}, settings.Curation(), UTC)
        else:
            assert kinds.spell_procedure(record, body) == text.encode()


def test_the_ledgers_lines_are_what_backfill_and_import_read(tmp_path: Path) -> None:
    ((name, lines),) = re.findall(r"^```json (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    make_vault(tmp_path / "vault", models={})
    for path, text in EXAMPLES:
        if path.startswith("sessions/"):
            (tmp_path / "vault" / path).write_text(text)
    (tmp_path / "vault" / name).write_text(lines)
    environ = {"PYRAMID_CACHE_DIR": str(tmp_path / "cache"), "PYRAMID_CONFIG": str(tmp_path / "config.toml")}
    with Memory(tmp_path / "vault", environ=environ) as memory:
        done = memory.backfill(dry=True)
        assert (done.qualifying, done.done_before) == (0, 1)
        ledger = list(memory.vault.ledger())
        memory.vault.add_to_ledger("other", ledger)
    assert (tmp_path / "vault/ledger/other.jsonl").read_text() == lines
    assert renaming.followed(ledger) == {"kitchen": "cuisine"}
    assert renaming.line("kitchen", "cuisine", datetime(2026, 11, 29, 20, 17, tzinfo=UTC), []) == ledger[-1]
    assert [sorted(entry) for entry in ledger] == [
        ["at", "digest", "made", "source", "turns"], ["at", "begun"], ["at", "chars", "made", "source"],
        ["at", "renamed", "to"],
    ]  # fmt: skip


def test_the_settings_shown_are_the_defaults_but_for_the_zone() -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shown, plain = (settings.read_vault(each, "pyramid.toml", find_zone) for each in (text, "format = 1\n"))
    assert (shown.shape, shown.view_chars, shown.boot_chars) == (plain.shape, plain.view_chars, plain.boot_chars)
    assert (shown.shown, shown.curation) == (plain.shown, plain.curation)
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

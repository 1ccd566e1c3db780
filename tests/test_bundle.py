"""What a session starts with: which of each, in what order, and what happens where one section fails."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import hard
import pytest

from pyramid_fs import Memory, boot, bundle, files, vault
from pyramid_fs.errors import DiskError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.context import Hits

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"plot": "An allotment."})
    return tmp_path / "vault"


def opened(root: Path) -> Memory:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    return Memory(root, environ=environ, clock=lambda: NOW)


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


def entity(root: Path, name: str, day: int, *keys: str, status: str = "pending", body: str = "") -> None:
    lines = ["---", f"name: {name}", f"status: {status}", f"created: 2026-10-{day:02}", *keys, "---", body, ""]
    (root / f"entities/{name.lower().replace(' ', '-')}.md").write_text("\n".join(lines))


def rule(root: Path, number: int, text: str, status: str = "confirmed", *keys: str) -> None:
    day = (datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)).date()
    lines = ["---", f"status: {status}", f"created: {day}", *keys, "---", text, ""]
    (root / f"procedures/rule-{number:03}.md").write_text("\n".join(lines))


def session(root: Path, number: int, text: str, *topics: str) -> None:
    links = ", ".join(f'"[[{topic}]]"' for topic in topics)
    text = f"---\nstarted: 2026-10-{number:02}\ntopics: [{links}]\n---\n{text}\n"
    (root / f"sessions/2026-10-{number:02}-s.md").write_text(text)


def note(root: Path, number: int, text: str) -> None:
    folder = root / "models/plot/2026-10"
    folder.mkdir(exist_ok=True)
    (folder / f"2026-10-{number:02}-120000-n{number:02}.md").write_text(text)


def fill(root: Path) -> None:
    for number in range(1, 13):
        note(root, number, f"Bed {number} was weeded.")
        session(root, number, f"Walked round bed {number}.", f"topic-{number}")
        entity(root, f"Person {number}", number, status="confirmed" if number in {2, 4} else "pending")
        rule(root, number, f"Rule number {number}.", "confirmed" if number % 2 else "pending")


# Without a query


def test_the_default_numbers_the_newest_and_the_confirmed_first(root: Path, memory: Memory) -> None:
    fill(root)
    found = memory.context()
    assert [topic.slug for topic in found.topics] == ["topic-12", "topic-11", "topic-10"]
    assert [each.name for each in found.entities] == ["Person 4", "Person 2", "Person 12", "Person 11", "Person 10"]
    assert [each.status for each in found.entities] == ["confirmed"] * 2 + ["pending"] * 3
    assert [each.text for each in found.procedures] == [f"Rule number {number}." for number in (11, 9, 7, 5, 3, 1)]
    assert [each.text for each in found.recent] == [f"Bed {number} was weeded." for number in range(12, 2, -1)]
    assert (found.pending, found.soon, found.notes) == (10 + 6, 0, ())
    assert [line.name for line in found.models] == ["plot"]


def test_a_vaults_own_numbers(root: Path) -> None:
    fill(root)
    (root / "pyramid.toml").write_text("format = 1\n[context]\ntopics = 1\nentities = 2\nnotes = 3\n")
    with opened(root) as memory:
        found = memory.context()
    assert [len(part) for part in (found.topics, found.entities, found.procedures, found.recent)] == [1, 2, 6, 3]


def test_blanks_are_no_query(root: Path, memory: Memory) -> None:
    fill(root)
    for query in ("", "  \n", '" "', "--", '"'):
        found = memory.context(query)
        assert (len(found.topics), len(found.entities), len(found.procedures), found.notes) == (3, 5, 6, ())


def test_what_is_superseded_or_pruned_is_out_and_what_is_contradicted_is_in_and_marked(
    root: Path, memory: Memory
) -> None:
    entity(root, "Old", 9, 'superseded_by: "[[new]]"', status="confirmed")
    entity(root, "New", 2, status="confirmed")
    entity(root, "Gone", 9, status="pruned")
    entity(root, "Says", 3, 'contradicts: ["[[entities/New|New]]"]')
    rule(root, 1, "Oil it.", "confirmed", 'superseded_by: "[[rule-002]]"')
    rule(root, 2, "Grease it.")
    rule(root, 3, "Never oil it.", "pruned")
    found = memory.context()
    assert [(each.name, each.is_contradicted) for each in found.entities] == [("New", True), ("Says", False)]
    assert [each.text for each in found.procedures] == ["Grease it."]
    text = boot.bundle_text(found, 8_000)
    assert "contradicted by another" in text
    assert "contradicts [[New]]" in text


def test_past_the_budget_the_newest_procedures_and_how_many_more(root: Path, memory: Memory) -> None:
    for number in range(500):
        rule(root, number, f"Rule {number:03}: oil the hinges of gate {number} before the winter comes.")
    found = memory.context()
    assert len(found.procedures) == 500
    text = boot.bundle_text(found, memory.vault.settings.boot_chars)
    shown = [number for number in range(500) if f"Rule {number:03}:" in text]
    assert shown == list(range(500 - len(shown), 500))
    assert f"{500 - len(shown)} more: pyramid procedure list" in text
    assert len(text) <= memory.vault.settings.boot_chars


def test_an_empty_vault_answers_with_empty_lists_and_what_to_do_next(tmp_path: Path) -> None:
    vault.make_vault(tmp_path / "vault", models={})
    with opened(tmp_path / "vault") as memory:
        for query in ("", "What did we do about the pump?"):
            found = memory.context(query)
            parts = (found.models, found.topics, found.entities, found.procedures, found.recent, found.notes)
            assert parts == ((),) * 6
            assert found.pending == found.soon == 0
            assert "pyramid model new" in boot.bundle_text(found, 8_000)


def test_a_record_without_front_matter_waits_for_a_person(root: Path, memory: Memory) -> None:
    (root / "procedures/hinges.md").write_text("Oil the hinges.\n")
    (root / "entities/Kim.md").write_text("---\ncreated: soon\n---\nKeeps bees.\n")
    (root / "entities/broken.md").write_text("---\nname: [\n---\nKeeps bees.\n")
    found = memory.context()
    assert (found.pending, [each.name for each in found.entities]) == (2, ["Kim"])


# With a query


def pump(root: Path) -> None:
    fill(root)
    session(root, 13, "The pump in the cellar was mended with a new gasket.", "cellar")
    (root / "topics/cellar.md").write_text("---\ntitle: The cellar\n---\n")
    session(root, 14, "Painted the fence.", "fence")
    entity(root, "Pump Works", 1, body="Sells gaskets for the pump.")
    entity(root, "Pump Thief", 1, status="pruned")
    rule(root, 30, "Drain the pump before frost.")
    rule(root, 31, "Kick the pump.", "pending")
    note(root, 20, "The pump leaks where the gasket sits.")


@pytest.mark.parametrize(
    "query",
    [
        "pump",
        "Good morning! Could you remind me what we decided last time about the pump and its gasket? Thanks a lot.",
        'I said "mend it" - and then -v the pump --quietly, didn\'t I?',
        "-pump",
        '"the pump nobody knows of" gasket',
    ],
)
def test_a_query_may_be_a_whole_sentence(root: Path, memory: Memory, query: str) -> None:
    pump(root)
    found = memory.context(query)
    assert found.topics[0].slug == "cellar"
    assert found.entities[0].name == "Pump Works"
    assert found.procedures[0].text == "Drain the pump before frost."
    assert "pump leaks" in found.recent[0].text
    assert "Pump Thief" not in {each.name for each in found.entities}
    assert "Kick the pump." not in {each.text for each in found.procedures}
    assert found.query == query
    assert (len(found.topics) <= 3, len(found.entities) <= 5, len(found.recent) <= 10) == (True, True, True)


@pytest.mark.parametrize("query", ["", "who weeded bed seven"])
def test_one_answer_looks_at_the_disk_once_and_the_next_one_again(
    root: Path, memory: Memory, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(root)
    memory.context(query)
    walked, walk = list[str](), files.walk_folders

    def counted(root: Path, below: str, shut: list[Problem]) -> Iterator[files.Folder]:
        walked.append(below)
        return walk(root, below, shut)

    monkeypatch.setattr(files, "walk_folders", counted)
    memory.context(query)
    assert sorted(walked) == ["entities", "models", "procedures", "sessions", "topics"]
    note(root, 25, "Bed seven was weeded, and sown.")
    assert memory.context(query).recent[0].handle == "2026-10-25-120000-n25"


def test_measuring_all_models_lists_them_no_oftener_than_measuring_two(
    root: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, list_ = list[str](), files.subfolders

    def counted(root: Path, below: str) -> list[str]:
        listed.append(below)
        return list_(root, below)

    monkeypatch.setattr(files, "subfolders", counted)
    counts = []
    for models in (2, 20):
        for number in range(models):
            (root / f"models/m{number}").mkdir(exist_ok=True)
            (root / f"models/m{number}/n.md").write_text(f"Note {number}.\n")
        memory.map()
        listed.clear()
        assert len(memory.stats(survival=False).models) >= models
        counts.append(len(listed))
    assert counts[0] == counts[1]


def test_a_section_that_finds_nothing_falls_back_and_says_so(root: Path, memory: Memory) -> None:
    fill(root)
    found = memory.context("zyzzyva")
    assert (len(found.topics), len(found.entities), len(found.procedures), len(found.recent)) == (3, 5, 6, 10)
    assert [line.split(":")[0] for line in found.notes] == ["Topics", "Entities", "Procedures", "Notes", "Sessions"]
    assert found.fell_back == ("Topics", "Entities", "Procedures", "Notes", "Sessions")
    assert all("nothing fits the query" in line for line in found.notes)
    text = boot.bundle_text(found, 8_000)
    assert all(line in text for line in found.notes)


def test_a_topic_is_found_by_what_its_sessions_say_and_stands_there_once(root: Path, memory: Memory) -> None:
    for number in range(1, 9):
        session(root, number, f"Gasket number {number} was fitted.", "cellar")
    assert [topic.slug for topic in memory.context("gasket").topics] == ["cellar"]


def test_a_very_long_opening_message_is_taken(root: Path, memory: Memory) -> None:
    pump(root)
    words = " ".join(f"word{number}" for number in range(5_000))
    found = memory.context(f"gasket {words}")
    assert found.topics[0].slug == "cellar"
    assert len(boot.bundle_text(found, 8_000)) <= 8_000


# Sections by themselves


def gathered(memory: Memory, query: str, fails: str) -> boot.Bundle:
    settings = memory.vault.settings

    def recall(text: str, kinds: tuple[str, ...]) -> Hits:
        if fails in kinds:
            raise DiskError("the index can't be read: pyramid reindex")
        return memory.recall(text, kinds=kinds)

    return bundle.gather(memory._tools(), memory.map(), settings.shown, settings.curation, query, recall)


@pytest.mark.parametrize(
    ("fails", "name", "part"),
    [
        ("topic", "Topics", "topics"),
        ("entity", "Entities", "entities"),
        ("procedure", "Procedures", "procedures"),
        ("note", "Notes", "recent"),
    ],
)
def test_one_section_that_fails_is_named_and_the_others_answer(
    root: Path, memory: Memory, fails: str, name: str, part: str
) -> None:
    pump(root)
    found = gathered(memory, "pump gasket", fails)
    parts = {each: len(getattr(found, each)) for each in ("topics", "entities", "procedures", "recent")}
    assert parts.pop(part) == 0
    assert all(parts.values())
    assert found.notes == (f"{name} could not be had: the index can't be read: pyramid reindex",)
    assert found.pending > 0


def test_a_session_that_can_not_be_read_costs_no_other_its_answer(root: Path, memory: Memory) -> None:
    session(root, 1, "Dug.", "ditch")
    session(root, 2, "Filled.", "ditch")
    with hard.as_plain_user():
        path = root / "sessions/2026-10-02-s.md"
        path.chmod(0)
        found = memory.topic_history("ditch")
        path.chmod(0o600)
    assert [each.text for each in found.sessions] in (["Dug."], ["", "Dug."])


# The JSON that others build on

KEYS: dict[str, set[str]] = {
    "": {
        "vault", "query", "models", "topics", "entities", "procedures", "recent", "sessions", "pending", "soon", "left",
        "fell_back", "notes", "loaded",
    },
    "topics": {"slug", "title", "sessions", "active", "status"},
    "entities": {
        "handle", "path", "kind", "name", "text", "status", "created", "label", "confidence", "source", "aliases",
        "duplicates", "superseded_by", "contradicts", "is_contradicted", "due",
    },
    "recent": {
        "handle", "path", "models", "tier", "notes", "created", "span_from", "span_to", "text", "again", "revised",
        "draft", "source", "problem", "under",
    },
    "models": {
        "name", "description", "notes", "tail", "summaries", "span_from", "span_to", "waiting", "view_chars",
        "view_tokens", "archived",
    },
}  # fmt: skip


@pytest.mark.parametrize("query", ["", "weeded rule person topic walked"])
def test_the_keys_of_the_json_are_stable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    found = hard.make(tmp_path, monkeypatch)
    for folder in ("sessions", "entities", "procedures", "topics"):
        (found.root / folder).mkdir()
    fill(found.root)
    data: dict[str, Any] = json.loads(found.run("context", "--json", *query.split()).out)
    assert set(data) == KEYS[""]
    for part in ("topics", "entities", "procedures", "recent", "models"):
        assert data[part]
        assert all(set(each) == KEYS["entities" if part == "procedures" else part] for each in data[part])
    assert data["loaded"] is False

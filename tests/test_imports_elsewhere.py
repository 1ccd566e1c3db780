"""Memories of other tools: the MCP reference server's, a basic-memory project, a folder of daily notes."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, cli, vault
from pyramid_fs.errors import RefusedWrite, UsageError
from pyramid_fs.importers import LONGEST, basic_memory, daily, records
from pyramid_fs.importers.daily import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.importers import Imported

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
OLD = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend."})
    return tmp_path / "vault"


def environ(root: Path, cache: str = "cache") -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(root.parent / cache), "PYRAMID_CONFIG": str(root.parent / "config.toml")}


def opened(root: Path, cache: str = "cache", now: datetime = NOW) -> Memory:
    return Memory(root, environ=environ(root, cache), clock=lambda: now)


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


def contents(root: Path, below: str = ".") -> dict[str, bytes]:
    found = (path for path in sorted((root / below).rglob("*")) if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def notes(memory: Memory, model: str) -> list[tuple[datetime, str]]:
    found = sorted(memory.census.fresh(model).state.notes, key=lambda note: (note.created, note.handle))
    return [(note.created, memory.vault.page(note.text_path or note.path).body) for note in found]


def texts(memory: Memory, model: str) -> list[str]:
    return [text for _, text in notes(memory, model)]


def is_summed(found: Imported) -> bool:
    kept = found.notes + found.records + found.relations + found.known
    return found.read == kept + found.skipped + len(found.bad) and found.skipped == sum(found.left_out.values())


def aged(path: Path) -> Path:
    os.utime(path, (OLD.timestamp(), OLD.timestamp()))
    return path


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        aged(folder / name)
    return folder


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from pyramid_fs import Memory
    from pyramid_fs.importers import jsonl
    seen = 0
    def step(_):
        global seen
        seen += 1
        if seen > int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
    jsonl.LINES = 2
    with Memory(sys.argv[1]) as memory:
        getattr(memory, sys.argv[4])(Path(sys.argv[2]), step=step)
"""


def killed(root: Path, given: Path, after: int, verb: str) -> None:
    words = [sys.executable, "-c", textwrap.dedent(KILLED), str(root), str(given), str(after), verb]
    done = subprocess.run(words, env={**os.environ, **environ(root)}, check=False)
    assert done.returncode == -signal.SIGKILL


# The MCP reference server's memory: an entity or a relation a line, entities first, no dates


def entity(name: str, kind: str, *observations: Any) -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}


def relation(of: str, kind: str, to: str) -> dict[str, Any]:
    return {"type": "relation", "from": of, "to": to, "relationType": kind}


GRAPH = [
    entity("Mira_Vesely", "person", "Speaks fluent Danish", "Mira_Vesely sings in a choir", "Graduated in 2019"),
    entity("Lantern_Works", "organization", "Makes lamps in Odense"),
    entity("Odense", "place"),
    relation("Mira_Vesely", "works_at", "Lantern_Works"),
    relation("Mira_Vesely", "lives_in", "Odense"),
    relation("Lantern_Works", "is_based_in", "Odense"),
]


def graph(path: Path, *items: Any, end: bytes = b"\n") -> Path:
    lines = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in items]
    path.write_bytes(b"\n".join(lines) + end)
    return aged(path)


def test_observations_become_notes_entities_records_and_relations_links(memory: Memory, tmp_path: Path) -> None:
    found = memory.import_mcp_memory(graph(tmp_path / "memory.jsonl", *GRAPH))
    assert (found.read, found.notes, found.records, found.relations, found.bad) == (10, 4, 3, 3, [])
    assert is_summed(found)
    assert found.models == ["memory"]
    assert texts(memory, "memory") == [
        "Mira_Vesely: Speaks fluent Danish",
        "Mira_Vesely sings in a choir",
        "Mira_Vesely: Graduated in 2019",
        "Lantern_Works: Makes lamps in Odense",
    ]
    times = [created for created, _ in notes(memory, "memory")]
    assert [at.replace(microsecond=0) for at in times] == [OLD] * 4
    assert len(set(times)) == 4
    assert {line.name: (line.label, line.status) for line in memory.entities()} == {
        "Mira_Vesely": ("person", "pending"),
        "Lantern_Works": ("organization", "pending"),
        "Odense": ("place", "pending"),
    }
    assert {line.name for line in memory.related("Mira_Vesely")} == {"Lantern_Works", "Odense"}
    assert {line.name for line in memory.related("Odense")} == {"Lantern_Works", "Mira_Vesely"}
    kinds = [line.split()[1] for line in memory.entity("Mira_Vesely").text.split("\n")]
    assert kinds == ["works_at", "lives_in"]
    assert "works_at [[lantern-works-" in memory.entity("Mira_Vesely").text
    assert memory.verify().balances
    assert memory.prune() == []


def test_who_imports_knowingly_may_confirm_and_name_the_model(memory: Memory, tmp_path: Path) -> None:
    found = memory.import_mcp_memory(graph(tmp_path / "memory.jsonl", *GRAPH), model="ALICE", confirm=True)
    assert found.models == []
    assert len(texts(memory, "alice")) == 4
    assert {line.status for line in memory.entities()} == {"confirmed"}
    memory.archive_model("alice")
    with pytest.raises(RefusedWrite, match="archived"):
        memory.import_mcp_memory(tmp_path / "memory.jsonl", model="alice")


def test_a_second_run_adds_nothing_and_a_grown_file_what_is_new(memory: Memory, root: Path, tmp_path: Path) -> None:
    path = graph(tmp_path / "memory.jsonl", *GRAPH)
    memory.import_mcp_memory(path)
    before = contents(root)
    again = memory.import_mcp_memory(path)
    assert (again.read, again.known) == (10, 10)
    assert is_summed(again)
    assert contents(root) == before
    shutil.rmtree(root / "ledger")
    assert memory.import_mcp_memory(path).known == 10
    assert contents(root, "models") | contents(root, "entities") == {
        name: data for name, data in before.items() if name.startswith(("models", "entities"))
    }
    more = [entity("Mira_Vesely", "person", "Speaks fluent Danish", "Rows on Sundays"), *GRAPH[1:],
            entity("Choir", "group"), relation("Mira_Vesely", "sings_in", "Choir")]  # fmt: skip
    grown = memory.import_mcp_memory(graph(path, *more))
    assert (grown.notes, grown.records, grown.relations) == (1, 1, 1)
    assert is_summed(grown)
    assert {line.name for line in memory.related("Mira_Vesely")} == {"Choir", "Lantern_Works", "Odense"}


def test_what_a_person_made_of_a_record_stays(memory: Memory, root: Path, tmp_path: Path) -> None:
    path = graph(tmp_path / "memory.jsonl", *GRAPH)
    memory.import_mcp_memory(path)
    (mira,) = (root / "entities").glob("mira*.md")
    mira.write_text(
        mira.read_text().replace("status: pending", "status: confirmed # I know her") + "\nPlays the cello.\n"
    )
    mira.rename(root / "entities" / "Mira.md")
    (odense,) = (root / "entities").glob("odense*.md")
    odense.unlink()
    more = [*GRAPH, relation("Mira_Vesely", "hums", "Odense"), relation("Odense", "lies_on", "Lantern_Works")]
    found = memory.import_mcp_memory(graph(path, *more))
    assert (found.records, found.relations, found.notes) == (0, 1, 1)
    assert is_summed(found)
    text = (root / "entities" / "Mira.md").read_text()
    assert "# I know her" in text
    assert "Plays the cello.\n- hums [[odense-" in text
    assert not list((root / "entities").glob("odense*.md"))
    assert texts(memory, "memory")[-1] == "Odense lies_on Lantern_Works"


def test_odd_entities_and_relations_lose_nothing(memory: Memory, tmp_path: Path) -> None:
    path = graph(
        tmp_path / "memory.jsonl",
        entity("Ane", "person", "Knits", "Knits"),
        entity("Ane", "person", "Bakes"),
        entity("Ane", "boat", "Floats"),
        entity("ane", "person"),
        {"type": "entity", "name": "Bare"},
        {"type": "entity", "name": "Null", "entityType": None, "observations": None},
        {"type": "entity", "name": "Solo", "entityType": "thing", "observations": "One text alone"},
        entity("A [b] | c # d\n e", "odd", "Holds marks"),
        relation("Ane", "knows", "Nobody"),
        relation("Nobody", "knows", "Ane"),
        relation("Ane", "", "Bare"),
        relation("Ane", "knows", "Nobody"),
        relation("Ane", "likes", "A [b] | c # d\n e"),
    )
    found = memory.import_mcp_memory(path)
    assert found.bad == []
    assert is_summed(found)
    assert (found.records, found.relations) == (7, 3)
    assert texts(memory, "memory") == [
        "Ane: Knits", "Ane: Bakes", "Ane: Floats", "Solo: One text alone", "A [b] | c # d e: Holds marks",
        "Nobody knows Ane",
    ]  # fmt: skip
    assert sorted((line.name, line.label) for line in memory.entities())[:3] == [
        ("A [b] | c # d e", "odd"), ("Ane", "boat"), ("Ane", "person"),
    ]  # fmt: skip
    assert {line.name for line in memory.related("Bare")} == {"Ane"}
    assert {line.name for line in memory.related("A [b] | c # d e")} == {"Ane"}
    assert any(line.duplicates for line in memory.entities() if line.name == "ane")
    assert memory.import_mcp_memory(path).known == found.read


def test_bad_parts_are_named_and_passed_over(memory: Memory, tmp_path: Path) -> None:
    path = graph(
        tmp_path / "memory.jsonl",
        b"\xef\xbb\xbf" + json.dumps(entity("First", "x", "Good")).encode() + b"\r",
        b"not json", b"", b"[1]", b'"text"', b"\x00\x00\x00", b"caf\xe9", b"[" * 100_000, b'{"a":' * 50_000,
        {"type": "entity"}, {"type": "entity", "name": " "}, {"type": "entity", "name": 5},
        {"type": "entity", "name": "\ud800x"},
        entity("Mixed", "x", "Good", 7, None, {}, "nul\0", "half \ud800", " ", ["a"]),
        {"type": "relation", "from": "First"}, {"type": "relation", "from": 1, "to": "First", "relationType": "x"},
        {"type": "map", "domains": {}}, {"no": "type"},
        b'{"type":"entity","name":"Run","entityType":"x","observations":[]}'
        b'{"type":"relation","from":"Run","to":"First","relationType":"meets"}'
        b'{"type":"relation","from":"Run","to":"First","relationType":"passes"}',
        b'{"type":"entity","name":"Cut off","entityTy',
        end=b"",
    )  # fmt: skip
    found = memory.import_mcp_memory(path)
    assert is_summed(found)
    assert texts(memory, "memory") == ["First: Good", "Mixed: Good"]
    assert (found.records, found.relations, found.notes, found.known) == (3, 2, 2, 0)
    assert found.left_out == {"objects that are no entity and no relation": 2, "observations without a text": 1}
    assert [line.split(":")[0] for line in found.bad] == [
        *(f"line {n}" for n in (2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)),
        *(f"line 14, observation {n}" for n in (2, 3, 4, 5, 6, 8)),
        "line 15", "line 16", "line 20",
    ]  # fmt: skip
    assert found.bad[-1] == "line 20: it is not JSON: it breaks off"


def test_a_server_that_says_when_dates_its_observations(memory: Memory, tmp_path: Path) -> None:
    path = graph(
        tmp_path / "memory.jsonl",
        entity("Ane", "person", {"content": "Knits", "timestamp": "2025-02-03T04:05:06Z", "durability": "long-term"}),
        entity("Bo", "person", {"text": "Rows", "createdAt": "soon"}),
    )
    assert memory.import_mcp_memory(path).bad == []
    found = notes(memory, "memory")
    assert [text for _, text in found] == ["Bo: Rows", "Ane: Knits (durability: long-term)"]
    assert found[1][0].replace(microsecond=0) == datetime(2025, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_an_entity_of_a_person_s_is_flagged_and_never_touched(memory: Memory, root: Path, tmp_path: Path) -> None:
    memory.add_entity("Mira Vesely", "person", "My sister.")
    (own,) = (root / "entities").iterdir()
    before = own.read_bytes()
    memory.import_mcp_memory(graph(tmp_path / "memory.jsonl", *GRAPH))
    assert own.read_bytes() == before
    (made,) = (line for line in memory.entities() if line.name == "Mira_Vesely")
    assert made.duplicates == (own.stem,)


def test_a_record_that_is_full_leaves_the_rest_to_notes(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "FULL", 1500)
    others = [entity(f"Station {number:04d} on the long line", "stop") for number in range(40)]
    lines = [relation("Hub", "leads to the place", other["name"]) for other in others]
    found = memory.import_mcp_memory(graph(tmp_path / "memory.jsonl", entity("Hub", "stop"), *others, *lines))
    assert is_summed(found)
    assert found.bad == []
    assert found.relations + found.notes == 40
    assert found.notes > 0
    assert len(memory.related("Hub")) == found.relations
    assert memory.import_mcp_memory(tmp_path / "memory.jsonl").known == found.read


def test_a_dry_run_of_a_graph_says_the_same_and_writes_nothing(memory: Memory, root: Path, tmp_path: Path) -> None:
    path, before = graph(tmp_path / "memory.jsonl", *GRAPH, entity("Odense", "city")), contents(root)
    dry = memory.import_mcp_memory(path, dry=True)
    assert contents(root) == before
    assert dry == memory.import_mcp_memory(path)


@pytest.mark.parametrize("after", [1, 3, 5])
def test_an_import_of_a_graph_that_was_killed_goes_on(root: Path, tmp_path: Path, after: int) -> None:
    path = graph(tmp_path / "memory.jsonl", *GRAPH)
    shutil.copytree(root, tmp_path / "copy")
    killed(root, path, after, "import_mcp_memory")
    with opened(root) as memory, opened(tmp_path / "copy", "other", NOW + timedelta(days=9)) as whole:
        found = memory.import_mcp_memory(path)
        assert is_summed(found)
        whole.import_mcp_memory(path)
        for below in ("models", "entities"):
            assert contents(root, below) == contents(tmp_path / "copy", below)
        assert memory.import_mcp_memory(path).known == 10


def test_one_value_over_many_lines_and_what_is_no_file_are_refused(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(GRAPH, indent=2))
    with pytest.raises(UsageError, match="jq -c"):
        memory.import_mcp_memory(path)
    for odd in (tmp_path, tmp_path / "gone"):
        with pytest.raises(UsageError, match="is no file"):
            memory.import_mcp_memory(odd)
    path.write_bytes(b"")
    assert memory.import_mcp_memory(path).read == 0


def test_a_line_that_is_too_long_is_named_and_the_next_is_read(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pyramid_fs.importers", "pyramid_fs.importers.mcp_memory", "pyramid_fs.importers.jsonl"):
        monkeypatch.setattr(f"{module}.LONGEST", 1 << 20)
    long = entity("Long", "x", "word " * (1 << 19))
    path = graph(tmp_path / "memory.jsonl", long, entity("Short", "x", "Good"))
    found = memory.import_mcp_memory(path)
    assert found.bad == ["line 1: it has more than 1 MB"]
    assert is_summed(found)
    lines = graph(
        tmp_path / "in.jsonl", {"model": "bob", "text": "word " * (1 << 19)}, {"model": "bob", "text": "Good"}
    )
    assert memory.import_jsonl(lines).bad == ["line 1: it has more than 1 MB"]
    assert texts(memory, "bob") == ["Good"]


WEIGHED = """
    import sys, resource
    from pathlib import Path
    from pyramid_fs import Memory
    with Memory(sys.argv[1]) as memory:
        found = memory.import_mcp_memory(Path(sys.argv[2]))
    print(found.read, found.notes, len(found.bad), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_a_file_of_200_mb_is_never_held(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    with path.open("w") as out:
        for number in range(2000):
            out.write(json.dumps(entity(f"Thing {number}", "thing", f"Number {number}. " + "word " * 20_000)) + "\n")
        for number in range(2000):
            out.write(json.dumps(relation(f"Thing {number}", "precedes", f"Thing {(number + 1) % 2000}")) + "\n")
        out.write(json.dumps(entity("Huge", "thing", "word " * 10_000_000)) + "\n")
    assert path.stat().st_size > 200 << 20
    words = [sys.executable, "-c", textwrap.dedent(WEIGHED), str(root), str(path)]
    out_text = subprocess.run(words, env={**os.environ, **environ(root)}, check=True, capture_output=True).stdout
    read, made, bad, most = (int(word) for word in out_text.split())
    assert (read, made, bad) == (2001 * 2 + 2000, 2001, 0)
    assert most < (700 << 10)  # a line of 50 MB is held, several times over while it is parsed; the file is not


# A basic-memory project

PROJECT: dict[str, str | bytes] = {
    "people/Mira Vesely.md": """\
---
title: Mira Vesely
type: person
permalink: people/mira-vesely
tags:
- choir
- '#lamps'
created: 2025-01-10T14:30:00Z
updated: 2025-01-15T09:15:00Z
---

# Mira Vesely

Met at [[Lantern Works]] in spring.

## Observations
- [fact] Speaks fluent Danish #language (said so herself)
- [preference] Tea, never coffee
- [ ] ask about the choir
- [x] returned the book
- plain point

## Relations
- works_at [[Lantern Works]] (since 2019)
- "sings with" [[places/Odense|the choir of Odense]]
- [[Harbour]]

```
- not_a_relation [[Code]]
```
""",
    "people/Bo.md": "---\ntitle: Bo\ntype: Person\n---\nKnows [[Mira Vesely]].\n",
    "places/Odense.md": "---\ntitle: Odense\ntype: note\n---\nA town.\n",
    "Lantern Works.md": "---\ntitle: Lantern Works\ntype: note\n---\nMakes lamps.\n",
    "lamps/card.md": "---\ntitle: The lamp model\ntype: model\n---\nA model of a lamp.\n",
    "people/bare.md": "No front matter at all.",
    "people/broken.md": "---\ntitle: [\n---\nStill text.",
    "people/latin.md": b"caf\xe9",
    "people/blank.md": " \n",
    "picture.png": b"\x89PNG",
    "board.canvas": "{}",
    ".obsidian/app.json": "{}",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = write(tmp_path / "project", PROJECT)
    write(tmp_path, {"outside/secret.md": "Not of the project."})
    (folder / "people" / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (folder / "far").symlink_to(tmp_path / "outside")
    return folder


def test_a_file_is_a_note_as_it_stands_dated_by_its_front_matter_or_its_time(
    memory: Memory, root: Path, project: Path
) -> None:
    found = memory.import_basic_memory(project)
    assert (found.read, found.notes, found.skipped, found.records, found.bad) == (9, 8, 1, 0, [])
    assert found.others == 3
    assert is_summed(found)
    assert found.models == ["project", "lamps", "people", "places"]
    assert (root / "models/people/Mira Vesely.md").read_bytes() == str(PROJECT["people/Mira Vesely.md"]).encode()
    dated = {note.handle: note.created for note in memory.census.fresh("people").state.notes}
    assert dated["Mira Vesely"] == datetime(2025, 1, 10, 14, 30, tzinfo=UTC)
    assert dated["Bo"] == OLD
    assert [note.handle for note in memory.census.fresh("lamps").state.notes] == ["card"]
    assert not memory.entities()
    assert not any("secret" in name for name in contents(root))
    assert memory.verify().balances


def test_a_file_that_says_it_is_a_model_is_no_card_of_one(memory: Memory, root: Path, project: Path) -> None:
    write(root, {"models/lamps/own.md": "A folder that a person made, without a card."})
    memory.import_basic_memory(project)
    assert [note.handle for note in memory.census.fresh("lamps").state.notes] == ["card", "own"]
    assert not memory.census.now("lamps").card


def test_files_of_a_type_become_records_that_lead_to_each_other(memory: Memory, project: Path) -> None:
    found = memory.import_basic_memory(project, types=["person"])
    assert is_summed(found)
    assert (found.records, found.relations) == (2, 4)
    assert {line.name for line in memory.related("Mira Vesely")} == {"Bo"}
    assert memory.entity("Mira Vesely").text.split("\n") == [
        "- works_at [[Lantern Works]]",
        "- sings with [[places/Odense|the choir of Odense]]",
        "- relates_to [[Harbour]]",
    ]
    again = memory.import_basic_memory(project, types=["person"])
    assert (again.notes, again.records, again.relations) == (0, 0, 0)
    assert is_summed(again)
    path = project / "people" / "Bo.md"
    path.write_text(path.read_text() + "\n- met_at [[Harbour]]\n")
    grown = memory.import_basic_memory(project, types=["person"])
    assert (grown.notes, grown.records, grown.relations) == (1, 0, 1)
    assert is_summed(grown)


def test_relations_are_told_from_observations_tasks_and_code() -> None:
    assert basic_memory.relations(str(PROJECT["people/Mira Vesely.md"])) == [
        "- works_at [[Lantern Works]]",
        "- sings with [[places/Odense|the choir of Odense]]",
        "- relates_to [[Harbour]]",
    ]
    assert basic_memory.relations("- [fact] see [[Odense]]\n- [ ] call [[Bo]]\nand [[Odense]] again") == [
        "- links_to [[Odense]]",
        "- links_to [[Bo]]",
    ]
    for code in ("````\n```\n- knows [[Bo]]\n````", "~~~\n```\n- knows [[Bo]]\n~~~", "```\n- knows [[Bo]]"):
        assert basic_memory.relations(f"- knows [[Odense]]\n{code}") == ["- knows [[Odense]]"]


def test_a_project_that_was_moved_about_adds_nothing_where_it_has_permalinks(
    memory: Memory, root: Path, project: Path
) -> None:
    memory.import_basic_memory(project, model="dora")
    before = contents(root)
    (project / "people" / "Mira Vesely.md").rename(project / "Mira V.md")
    again = memory.import_basic_memory(project, model="dora")
    assert (again.notes, again.known) == (0, 8)
    assert contents(root) == before


def test_the_vault_itself_is_refused_and_a_folder_beside_its_own_is_not(
    memory: Memory, root: Path, tmp_path: Path
) -> None:
    write(root, {"Daily Notes/2026-11-29.md": "Rain."})
    (tmp_path / "alias").symlink_to(root)
    for folder in (root, tmp_path, tmp_path / "alias", root / "models", root / "models" / "alice"):
        for run in (memory.import_basic_memory, memory.import_daily, memory.import_markdown):
            with pytest.raises(UsageError, match="the vault"):
                run(folder)
    for run in (memory.import_basic_memory, memory.import_daily):
        with pytest.raises(UsageError, match="is no folder"):
            run(tmp_path / "gone")
    assert memory.import_daily(root / "Daily Notes").notes == 1


def test_a_name_that_is_not_utf_8_is_named_and_the_others_come_in(memory: Memory, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", {"2026-11-29.md": "Rain."})
    try:
        (folder / os.fsdecode(b"2026-11-28 caf\xe9.md")).write_text("Sun.")
    except OSError:
        pytest.skip("this disk holds no such name")
    for run in (memory.import_basic_memory, memory.import_daily, memory.import_markdown):
        found = run(folder, model=run.__name__)
        assert found.notes == 1
        assert ["its name is not UTF-8" in line for line in found.bad] == [True]
        assert is_summed(found)


def test_a_deep_project_of_a_type_is_dry_first(memory: Memory, root: Path, project: Path) -> None:
    before = contents(root)
    dry = memory.import_basic_memory(project, types=["person"], dry=True)
    assert contents(root) == before
    assert dry == memory.import_basic_memory(project, types=["person"])


@pytest.mark.parametrize("after", [2, 5])
def test_a_project_that_was_killed_goes_on(root: Path, tmp_path: Path, project: Path, after: int) -> None:
    shutil.copytree(root, tmp_path / "copy")
    killed(root, project, after, "import_basic_memory")
    with opened(root) as memory, opened(tmp_path / "copy", "other") as whole:
        assert is_summed(memory.import_basic_memory(project))
        whole.import_basic_memory(project)
        assert contents(root, "models") == contents(tmp_path / "copy", "models")


# Daily notes


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2026-11-29.md", "2026-11-29"),
        ("2026_11_29.md", "2026-11-29"),
        ("20261129.md", "2026-11-29"),
        ("2026.11.29.md", "2026-11-29"),
        ("2026/11/29.md", "2026-11-29"),
        ("2026/11-November/29 Sunday.md", "2026-11-29"),
        ("2026-11/29.md", "2026-11-29"),
        ("Daily Notes/2026-11-29 Sunday.md", "2026-11-29"),
        ("2026/2026-W48/2026-11-29.md", "2026-11-29"),
        ("journal 2026-11-29 2026-11-29.md", "2026-11-29"),
        ("2026-11-29 W48.md", "2026-11-29"),
        ("2026-W48.md", ""),
        ("2026-11.md", ""),
        ("2026.md", ""),
        ("2026-Q4.md", ""),
        ("Week of 2026-11-23.md", ""),
        ("2026-11-23 to 2026-11-29.md", ""),
        ("2026-13-40.md", ""),
        ("202611291530.md", ""),
        ("Index.md", ""),
    ],
)
def test_the_day_is_read_from_the_name_or_the_folders(path: str, day: str) -> None:
    assert str(daily.day_in(path) or "") == day


def test_a_day_is_split_by_sections_and_by_times() -> None:
    body = textwrap.dedent("""\
        # Sunday, 29 November 2026

        Woke early.

        ## Log
        - 09:15 Called the harbour
          - They open at ten
        - 2:30 pm **Walked** home
        - [ ] 18:00 buy bread
        - no time here

        ### Aside
        Deeper text.

        ## Mood
        ## Tasks
        - [ ]
        -

        ## 21:05 Evening
        Read a book.

        ```
        ## not a heading
        ```
        ## 25:99
        No time at all.
        """)
    found = daily.split(body, "2026-11-29")
    assert found.empty == 2
    assert found.entries == [
        Entry("Woke early."),
        Entry("- no time here\n\n### Aside\nDeeper text.", "## Log"),
        Entry("- 09:15 Called the harbour\n  - They open at ten", "## Log", time(9, 15)),
        Entry("- 2:30 pm **Walked** home", "## Log", time(14, 30)),
        Entry("- [ ] 18:00 buy bread", "## Log", time(18, 0)),
        Entry("Read a book.\n\n```\n## not a heading\n```", "## 21:05 Evening", time(21, 5)),
        Entry("No time at all.", "## 25:99"),
    ]


@pytest.mark.parametrize(
    ("body", "entries"),
    [
        ("", []),
        ("# 2026-11-29\n", []),
        ("Only text.\n\nAnd more.", [Entry("Only text.\n\nAnd more.")]),
        ("- a block\n  - below it\n- another", [Entry("- a block\n  - below it\n- another")]),
        ("# Work\n## One\ntext\n## Two\ntext", [Entry("## One\ntext\n## Two\ntext", "# Work")]),
        ("- 09:15\n- 10:00 Tea", [Entry("- 10:00 Tea", "", time(10, 0))]),
        ("## Log\n### 09:15\nTea.\n#### More\nMilk.\n### Rest\nSleep.",
         [Entry("### Rest\nSleep.", "## Log"), Entry("### 09:15\nTea.\n#### More\nMilk.", "## Log", time(9, 15))]),
        ("## 12:00 am", []),
        ("## 12:05 am\nStars.", [Entry("Stars.", "## 12:05 am", time(0, 5))]),
        ("## 13:05 pm\nStars.", [Entry("Stars.", "## 13:05 pm")]),
        ("## 09:15 Standup", [Entry("", "## 09:15 Standup", time(9, 15))]),
        ("- **09:15** - Tea\n- `10:00`: Milk\n- 09:15-10:00 Bath",
         [Entry("- **09:15** - Tea", "", time(9, 15)), Entry("- `10:00`: Milk", "", time(10, 0)),
          Entry("- 09:15-10:00 Bath", "", time(9, 15))]),
        ("mood::\nmeal:: soup", [Entry("mood::\nmeal:: soup")]),
    ],
)  # fmt: skip
def test_odd_days(body: str, entries: list[Entry]) -> None:
    assert daily.split(body, "2026-11-29").entries == entries


CODE = "- 08:00 start pump\n# 09:00 Not a heading\n  ## Nor this\n* **10:00** stop\n\nend of it"
"""What would be entries, were it not code."""


@pytest.mark.parametrize("indent", ["", " ", "   "])
@pytest.mark.parametrize(
    ("opens", "closes"),
    [
        ("```", "```"),
        ("~~~", "~~~  \nSo far."),
        ("```sh", "`````"),
        ("````", "````"),
        ("````", "```\n~~~~\n````"),
        ("~~~ `x`", "```\n~~~"),
        ("```", "``` sh\n    ```\n```"),
    ],
)
def test_what_stands_in_code_is_no_entry(opens: str, closes: str, indent: str) -> None:
    code = f"{indent}{opens}\n{CODE}\n{indent}{closes}"
    assert daily.split(f"# Log\nsteps:\n{code}\n- 11:00 tea", "").entries == [
        Entry(f"steps:\n{code}", "# Log"),
        Entry("- 11:00 tea", "# Log", time(11)),
    ]
    assert daily.split(f"## 07:00 Log\n{code}\n## Rest\nSleep.", "").entries == [
        Entry(code, "## 07:00 Log", time(7)),
        Entry("Sleep.", "## Rest"),
    ]
    assert daily.split(f"{code}\n# 2026-11-29\nText.", "2026-11-29").entries[0] == Entry(code)


@pytest.mark.parametrize("opens", ["```", "~~~~ text", "  ````"])
def test_code_that_is_never_closed_goes_to_the_end(opens: str) -> None:
    code = f"{opens}\n{CODE}\n```x\n~~~\n{CODE}"
    assert daily.split(f"- 07:00 up\n\nThen:\n{code}", "").entries == [
        Entry(f"Then:\n{code}"),
        Entry("- 07:00 up", "", time(7)),
    ]


@pytest.mark.parametrize(
    ("point", "closes"),
    [
        ("- 07:00 ran:\n  ```", "  ```"),
        ("- 07:00 ran:\n ~~~", "~~~"),
        ("- 07:00\n  - ```sh", "    ```"),
        ("- 07:00\n    1. ~~~", "       ~~~"),
    ],
)
def test_code_in_a_point_stays_in_it_whole(point: str, closes: str) -> None:
    text = f"{point}\n{CODE}\n{closes}"
    assert daily.split(f"{text}\n  - more\n- 11:00 tea", "").entries == [
        Entry(f"{text}\n  - more", "", time(7)),
        Entry("- 11:00 tea", "", time(11)),
    ]


@pytest.mark.parametrize("line", ["```- 08:00``` is code", "``", "~~", "    ```", "text ```"])
def test_what_only_looks_like_a_fence_hides_no_entry(line: str) -> None:
    assert Entry("- 11:00 tea", "", time(11)) in daily.split(f"{line}\n- 11:00 tea", "").entries


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "Pacific/Kiritimati"])
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_day_at_either_end_of_the_calendar_is_imported(root: Path, tmp_path: Path, day: str, zone: str) -> None:
    (root / "pyramid.toml").write_text(f'format = 1\ntimezone = "{zone}"\n')
    entries = "A day.\n- 00:00 up\n- 23:59 slept\n"
    days = write(tmp_path / "days", {f"{day}.md": entries, "said.md": f"---\ndate: {day}T12:00Z\n---\n{entries}"})
    with opened(root) as memory:
        found = memory.import_daily(days)
        assert (found.bad, found.notes + found.known + found.skipped) == ([], found.read)
        assert {at.year for at, _ in notes(memory, "days")} == {int(day[:4])}


def test_a_day_with_code_is_imported_with_it(memory: Memory, tmp_path: Path) -> None:
    day = "# Log\n```\nsteps:\n- 08:00 start pump\n```\nend\n"
    found = memory.import_daily(write(tmp_path / "days", {"2026-11-29.md": day}))
    assert (found.read, found.notes) == (1, 1)
    assert texts(memory, "days") == ["# Log\n\n```\nsteps:\n- 08:00 start pump\n```\nend"]


DAYS: dict[str, str | bytes] = {
    "2026-11-27.md": "---\ntags: [harbour]\nmood: calm\n---\n# 2026-11-27\n\n## Morning\nRain.\n\n## Evening\n\n",
    "journals/2026_11_28.md": "- one block\n  - below\n- another\n",
    "2026/11/29.md": b"\xef\xbb\xbf- 09:15 First\r\n- 09:15 Second\r\n- 07:00 Earlier\r\n",
    "2026-11-26 moved.md": "---\ndate: 2026-10-01\n---\nDated by its front matter.",
    "2026-11-25.md": "---\ndate: someday\n---\nDated by its name.",
    "2026-W48.md": "A week.",
    "Index.md": "Links.",
    "2026-11-24.md": "",
    "2026-11-23.md": b"caf\xe9",
    "2026-11-22.md": b"nul\x00",
    "2026-11-21.md": "---\na: [\n---\nText.",
    "2026-11-20.md": "---\nweather: sun\n---\n",
    "photo.png": b"\x89PNG",
}


@pytest.fixture
def days(tmp_path: Path) -> Path:
    folder = write(tmp_path / "Daily Notes", DAYS)
    (folder / "2026-11-19.md").symlink_to(folder / "2026-11-27.md")
    return folder


def test_days_become_notes_of_their_day(memory: Memory, root: Path, days: Path) -> None:
    (root / "pyramid.toml").write_text('format = 1\ntimezone = "Asia/Tokyo"\n')
    with opened(root) as memory_there:
        found = memory_there.import_daily(days)
        assert is_summed(found)
        assert found.models == ["daily-notes"]
        assert found.left_out == {
            "headings with nothing below them": 1, "weekly, monthly and yearly pages": 1,
            "files whose name says no day": 1, "files without a text": 2,
        }  # fmt: skip
        assert [line.split(":")[0] for line in found.bad] == ["2026-11-21.md", "2026-11-22.md", "2026-11-23.md"]
        assert found.others == 2

        def at(day: int, hour: int, minute: int = 0, month: int = 11) -> datetime:
            return datetime(2026, month, day, hour, minute, tzinfo=UTC)

        got = [(created.replace(microsecond=0), text) for created, text in notes(memory_there, "daily-notes")]
        assert got == [
            (at(30, 15, month=9), "Dated by its front matter."),
            (at(24, 15), "Dated by its name."),
            (at(26, 15), "## Morning\n\nRain."),
            (at(27, 15), "- one block\n  - below\n- another"),
            (at(28, 22), "- 07:00 Earlier"),
            (at(29, 0, 15), "- 09:15 First"),
            (at(29, 0, 15), "- 09:15 Second"),
        ]
        (morning,) = (root / "models" / "daily-notes").rglob("*morning*.md")
        assert 'tags:\n  - "harbour"\nmood: "calm"\n' in morning.read_text()
        assert 'source: "daily:2026-11-27.md"' in morning.read_text()
        assert memory_there.verify().balances


def test_of_a_day_that_has_grown_only_what_is_new_comes_in(memory: Memory, root: Path, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "days", {"2026-11-29.md": "## Log\n- 09:15 Tea\n\n## Notes\nOne.\n", "2026-11-28.md": "- a\n"}
    )
    assert memory.import_daily(folder).notes == 3
    before = contents(root)
    assert memory.import_daily(folder).known == 3
    assert contents(root) == before
    write(folder, {"2026-11-29.md": "## Log\n- 09:15 Tea\n- 10:00 Milk\n\n## Notes\nOne.\nTwo.\n\n## New\nThree.\n",
                   "2026-11-28.md": "- a\n- b\n"})  # fmt: skip
    found = memory.import_daily(folder)
    assert (found.notes, found.known) == (4, 1)
    assert is_summed(found)
    assert texts(memory, "days") == [
        "- a", "- b", "## Notes\n\nOne.", "## Notes\n\nTwo.", "## New\n\nThree.", "## Log\n\n- 09:15 Tea",
        "## Log\n\n- 10:00 Milk",
    ]  # fmt: skip
    write(folder, {"2026-11-28.md": "- a\n- b\n- c\n"})
    assert memory.import_daily(folder).notes == 1
    assert texts(memory, "days")[2] == "- c"
    assert memory.import_daily(folder).notes == 0
    write(folder, {"2026-11-28.md": "- changed at its beginning\n- b\n- c\n"})
    assert memory.import_daily(folder).notes == 1


def test_the_same_days_elsewhere_add_nothing(memory: Memory, root: Path, days: Path) -> None:
    memory.import_daily(days, model="alice")
    days.rename(days.parent / "Journal")
    (days.parent / "Journal" / "2026-11-27.md").rename(days.parent / "Journal" / "20261127.md")
    before = contents(root)
    assert memory.import_daily(days.parent / "Journal", model="alice").notes == 0
    assert contents(root) == before


def test_a_dry_run_of_days_says_the_same_and_writes_nothing(memory: Memory, root: Path, days: Path) -> None:
    before = contents(root)
    dry = memory.import_daily(days, dry=True)
    assert contents(root) == before
    assert dry == memory.import_daily(days)


@pytest.mark.parametrize("after", [3, 7])
def test_days_that_were_killed_go_on(root: Path, tmp_path: Path, days: Path, after: int) -> None:
    shutil.copytree(root, tmp_path / "copy")
    killed(root, days, after, "import_daily")
    with opened(root) as memory, opened(tmp_path / "copy", "other") as whole:
        assert is_summed(memory.import_daily(days))
        whole.import_daily(days)
        assert contents(root, "models") == contents(tmp_path / "copy", "models")


def test_the_ledger_holds_no_words_of_what_came_in(memory: Memory, root: Path, tmp_path: Path) -> None:
    memory.import_daily(write(tmp_path / "days", {"2026-11-29.md": "## Zanzibar\nClove market.\n"}))
    memory.import_mcp_memory(graph(tmp_path / "memory.jsonl", entity("Quillon", "person", "Fears herons")))
    memory.import_basic_memory(write(tmp_path / "p", {"Ostrava.md": "Coal."}), types=["note"])
    ledger = b"".join(contents(root, "ledger").values()).lower()
    for word in (b"zanzibar", b"clove", b"quillon", b"herons", b"ostrava"):
        assert word not in ledger


# All of them, from the command line


def run(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.run(["--vault", str(root), *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def shell(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environ(root).items():
        monkeypatch.setenv(name, value)
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "in", {"a.md": "A.", "CON.md": "B.", "c.md": " "})


def test_the_verbs_report_a_sum(
    shell: Path, tmp_path: Path, days: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(shell, capsys, "import", "mcp-memory", str(graph(tmp_path / "memory.jsonl", *GRAPH, b"oops")))
    assert (code, err) == (1, "pyramid: line 7: it is not JSON\n")
    assert "Read 11 = 4 notes + 3 records + 3 relations + 0 known + 0 skipped + 1 bad" in out
    assert "Next: pyramid pending" in out
    code, out, _ = run(shell, capsys, "import", "daily", str(days), "--json", "--dry-run")
    found = json.loads(out)
    assert code == 1
    assert found["read"] == found["notes"] + found["known"] + found["skipped"] + len(found["bad"])
    code, out, _ = run(shell, capsys, "import", "basic-memory", str(project), "--entity", "person", "--confirm")
    assert code == 0
    assert "8 notes made" in out
    code, _, err = run(shell, capsys, "import", "daily", str(tmp_path / "gone"))
    assert code == 2
    assert "is no folder" in err


def test_what_was_imported_waits_for_a_person_and_is_no_trouble(
    shell: Path, tmp_path: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, capsys, "import", "mcp-memory", str(graph(tmp_path / "memory.jsonl", *GRAPH)))
    run(shell, capsys, "import", "basic-memory", str(project), "--entity", "person")
    with opened(shell, now=NOW + timedelta(days=4000)) as memory:
        waiting = memory.pending()
        assert {record.source.split(":")[0] for record in waiting} == {"mcp-memory", "basic-memory"}
        assert {record.due for record in waiting} == {""}
        assert [found for found in memory.doctor() if found.path.startswith("entities/")] == []
        assert memory.prune() == []
        path = waiting[0].path
    write(shell, {path: (shell / path).read_text().replace("status:", "confidence: high\nstatus:")})
    with opened(shell) as memory:  # a person's slip is one
        assert [found.path for found in memory.doctor() if found.path.startswith("entities/")] == [path]


def test_every_import_prints_its_sum(
    shell: Path, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = graph(
        tmp_path / "in.jsonl", {"model": "bob", "text": "One"}, {"model": "bob", "text": "One"}, b"", b"no",
        {"kind": "summary", "handle": "x", "text": "S"}, {"model": "bob", "text": "Two"},
    )  # fmt: skip
    code, out, _ = run(shell, capsys, "import", "jsonl", str(path))
    assert (code, out.splitlines()[2]) == (
        1, "Read 5 = 2 notes + 0 records + 0 relations + 1 known + 1 skipped + 1 bad",
    )  # fmt: skip
    code, out, _ = run(shell, capsys, "import", "markdown", str(folder), "-m", "bob")
    assert (code, out.splitlines()[1]) == (
        0, "Read 3 = 2 notes + 0 records + 0 relations + 0 known + 1 skipped + 0 bad",
    )  # fmt: skip
    assert "names that not every system or link holds were changed:\n  CON.md -> bob/con-" in out
    for sum_of in ("1 made + 0 written again + 0 known", "0 made + 0 written again + 1 known"):
        code, out, _ = run(shell, capsys, "import", "chatgpt", str(chat(tmp_path)))
        assert (code, f"\nRead 2 = {sum_of} + 0 edited + 0 skipped + 0 failed + 1 bad\n" in out) == (1, True)


def test_after_an_interrupt_the_sum_holds_too(memory: Memory, tmp_path: Path) -> None:
    path = graph(tmp_path / "in.jsonl", *({"model": "bob", "text": f"Text {number}."} for number in range(9)), b"no")
    folder = write(tmp_path / "in", {"CON.md": "A.", "b.md": "B.", "c.md": " ", "d.md": "D."})
    for run, given, good in ((memory.import_jsonl, path, 9), (memory.import_markdown, folder, 3)):
        steps: list[int] = []

        def stop(_: int, steps: list[int] = steps) -> None:
            steps.append(1)
            if len(steps) == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(given, step=stop)
        found = run(given)
        assert is_summed(found)
        assert (found.notes + found.known, found.known) == (good, 2)


def chat(tmp_path: Path) -> Path:
    """Write an export with one conversation, and one that is none."""
    told = {
        "u": ("user", "The pump in the cellar leaks again, what is there to do?"),
        "a": ("assistant", "Fit a gasket."),
    }
    nodes = {
        name: {
            "parent": "u" if name == "a" else None,
            "message": {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}},
        }
        for name, (role, text) in told.items()
    }
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"id": "c1", "mapping": nodes, "current_node": "a"}, {"id": "c2"}]))
    return path


def talk(kind: str, number: int) -> dict[str, Any]:
    """Make one conversation of an export, or one line of a transcript."""
    text = f"The pump in cellar {number} leaks again, what is there to do?"
    if kind == "chatgpt":
        message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
        return {"id": f"c{number}", "mapping": {"u": {"parent": None, "message": message}}}
    if kind == "claude":
        return {"uuid": f"c{number}", "chat_messages": [{"uuid": "u", "sender": "human", "text": text}]}
    return {"type": "user", "sessionId": f"c{number}", "uuid": f"u{number}", "message": {"content": text}}


@pytest.mark.parametrize("kind", ["chatgpt", "claude", "claude-code"])
def test_the_sum_of_conversations_holds_what_is_bad_and_what_came_again(
    shell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    records: list[Any] = [talk(kind, number) for number in range(12)]
    if kind == "claude-code":  # a line that comes again is the same turn
        records += [7, None, "no", {**records[0], "message": 5}]
        data = "".join(json.dumps(record) + "\n" for record in records)
    else:
        records[5:5] = [7, {"id": "bad"}, records[3], {**records[0], "mapping": 5, "chat_messages": 5}]
        data = json.dumps(records)
    path = tmp_path / ("t.jsonl" if kind == "claude-code" else "conversations.json")
    path.write_text(data)
    for what, words in (("made", ("--dry-run",)), ("made", ()), ("known", ())):
        ran = run(shell, capsys, "import", kind, str(path), "--json", *words)
        found = json.loads(ran[1])
        parts = ("made", "grown", "known", "edited", "skipped", "failed", "unusable")
        assert (ran[0], found["read"], found[what], found["unusable"], len(found["bad"])) == (1, 16, 12, 4, 4)
        assert found["read"] == sum(found[part] for part in parts)
    code, out, err = run(shell, capsys, "import", kind, str(path))
    assert (code, err.count("\n")) == (1, 4)
    assert "\nRead 16 = 0 made + 0 written again + 12 known + 0 edited + 0 skipped + 0 failed + 4 bad\n" in out


def test_conversations_that_the_disk_does_not_take_are_one_line(
    shell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(shell / "sessions", ignore_errors=True)
    (shell / "sessions").write_text("No folder.")
    code, out, err = run(shell, capsys, "import", "chatgpt", str(chat(tmp_path)))
    assert (code, out, err.count("\n")) == (40, "", 1)


def test_lines_are_read_from_standard_input(
    shell: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.TextIOWrapper(io.BytesIO(b'{"text": "From a pipe."}\n{"model": "bob", "text": "Another."}\nno'))
    monkeypatch.setattr(sys, "stdin", given)
    code, out, err = run(shell, capsys, "import", "jsonl", "-", "-m", "alice")
    assert code == 1
    assert "2 notes made" in out
    assert "line 3" in err
    with opened(shell) as memory:
        assert texts(memory, "alice") == ["From a pipe."]


def test_the_older_importers_add_up_too(memory: Memory, tmp_path: Path) -> None:
    path = graph(
        tmp_path / "in.jsonl", {"model": "bob", "text": "One"}, {"model": "bob", "text": "One"}, b"", b"no",
        {"model": "bob", "text": "half", "source": "\ud800"}, {"model": "bob", "text": "nul", "source": "\0"},
    )  # fmt: skip
    for found in (memory.import_jsonl(path), memory.import_jsonl(path)):
        assert is_summed(found)
        assert len(found.bad) == 3
    folder = write(
        tmp_path / "in", {"a.md": "A.", "b.md": " ", "con/c.md": "C.", "model.md": "---\ntype: model\n---\nM."}
    )
    for found in (memory.import_markdown(folder), memory.import_markdown(folder)):
        assert is_summed(found)
    assert len(texts(memory, "in")) == 2


def test_a_line_of_50_mb_is_no_line_that_is_too_long() -> None:
    assert LONGEST > 50_000_000

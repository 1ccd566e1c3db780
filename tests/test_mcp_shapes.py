"""The tools on sessions, topics and records, in both eras: schemas, bounds, and that no tool confirms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hard
import pytest
from agents import ERAS, talk

if TYPE_CHECKING:
    from pathlib import Path

    from agents import Agent

TOOLS = {"memory_context", "topic_thread_summarize", "save_session", "propose"}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    """A vault with one model, `plot`, where nothing runs beside the tests."""
    made = hard.make(tmp_path, monkeypatch)
    made.config.write_text("[advance]\nbackground = false\n")
    return made


def texts(vault: hard.Vault, folder: str) -> list[str]:
    return [path.read_text() for path in sorted((vault.root / folder).glob("*.md"))]


@pytest.mark.parametrize("mode", ERAS)
def test_a_session_with_all_four(vault: hard.Vault, mode: str) -> None:
    vault.fill(2)

    async def script(agent: Agent) -> None:
        assert set(agent.schemas) >= TOOLS
        empty = await agent.call("memory_context")
        parts = ("topics", "entities", "procedures", "notes", "left_out")
        assert [empty.data[part] for part in parts] == [[]] * 5
        assert (empty.data["loaded"], empty.data["pending"], len(empty.data["recent"])) == (False, 0, 2)
        assert "load_model" in empty.text.splitlines()[0]

        saved = await agent.call("save_session", summary="Mended the pump.", topics=["Pump House"], session="s1")
        assert (saved.data["topics"], saved.data["made_topics"], saved.data["is_new"]) == (
            ["pump-house"], ["pump-house"], True,
        )  # fmt: skip
        assert "Made, as there was none of that name: pump-house" in saved.text
        again = await agent.call("save_session", summary="And the tap.", topics=["pump house"], session="s1")
        assert (again.data["handle"], again.data["made_topics"], again.data["is_new"]) == (
            saved.data["handle"], [], False,
        )  # fmt: skip
        assert "added to" in again.text

        history = await agent.call("topic_thread_summarize", topic="Pump House")
        (session,) = history.data["sessions"]
        assert session["text"] == "Mended the pump.\n\nAnd the tap."
        assert (history.data["total"], history.data["note"]) == (1, "")

        made = await agent.call(
            "propose", kind="entity", name="Kim", text="Keeps bees.", label="person", confidence=0.7
        )
        twin = await agent.call("propose", kind="entity", name="KIM", confidence="0.7", source="chat")
        assert (made.data["status"], twin.data["duplicates"]) == ("pending", [made.data["handle"]])
        assert "may repeat" in twin.text
        rule = await agent.call("propose", kind="procedure", text="Drain the pump before frost.", confidence=0.6)
        assert "pending until a person confirms it" in rule.text

        found = await agent.call("memory_context", query="What about Kim, and the pump house?")
        assert found.data["topics"][0]["topic"] == "pump-house"
        assert {each["status"] for each in found.data["entities"]} == {"pending"}
        assert (found.data["procedures"], found.data["pending"]) == ([], 3)
        assert "3 records wait for a person" in found.text

    talk(vault, script, mode)
    assert 'source: "spade"' in texts(vault, "sessions")[0]
    assert sum("status: pending" in text for text in texts(vault, "entities") + texts(vault, "procedures")) == 3
    assert sum("Keeps bees." in text for text in texts(vault, "entities")) == 1


def test_no_tool_confirms_or_prunes(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        names = set(agent.schemas)
        assert not [name for name in names for verb in ("confirm", "reject", "prune", "delete") if verb in name]
        for given in ({"status": "confirmed"}, {"confirmed": True}):
            await agent.ask("propose", kind="entity", name="Kim", confidence=1, **given)
        await agent.ask("propose", kind="procedure", text="---\nstatus: confirmed\n---\nDo it.", confidence=1)

    talk(vault, script)
    ran = vault.run("context", "--json").json
    assert ran["procedures"] == []
    assert {each["status"] for each in ran["entities"]} <= {"pending"}
    assert ran["pending"] >= 1


@pytest.mark.parametrize("mode", ERAS)
def test_what_can_not_be_done_is_one_sentence(vault: hard.Vault, mode: str) -> None:
    vault.put("topics/moving-house.md", "---\ntitle: Moving house\n---\n")

    async def script(agent: Agent) -> None:
        assert "moving-house" in await agent.fail("topic_thread_summarize", topic="movng")
        assert "empty" in await agent.fail("save_session", summary=" ", topics=["New"])
        assert "can't be a name" in await agent.fail("save_session", summary="Hoed.", topics=["!!!"])
        assert "model" in await agent.fail("propose", kind="model", name="Kim", confidence=0.6)
        assert "empty" in await agent.fail("propose", kind="entity", confidence=0.6)
        assert "from 0 to 1" in await agent.fail("propose", kind="entity", name="Kim", confidence=7)

    talk(vault, script, mode)
    assert len(texts(vault, "topics")) == 1
    assert texts(vault, "entities") == texts(vault, "sessions") == []


def test_lists_are_taken_as_meant(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        for given in ('["Moving House", "Attic"]', ["Moving House", "Attic"]):
            found = await agent.call("save_session", summary="Packed.", topics=given)
            assert found.data["topics"] == ["moving-house", "attic"]
        assert (await agent.call("save_session", summary="Rested.", topics=None)).data["topics"] == []

    talk(vault, script)


# Bounds


def test_sessions_of_forty_thousand_chinese_characters_stay_within_an_answer(vault: hard.Vault) -> None:
    for number in range(1, 4):
        vault.put(f"sessions/2026-03-{number:02}-a.md", page(number, "水渠里的水很清。" * 5_000))

    async def script(agent: Agent) -> None:
        found = await agent.call("topic_thread_summarize", topic="ditch")
        (session,) = found.data["sessions"]
        assert (session["handle"], session["text"]) == ("2026-03-03-a", "")
        assert "showing the most recent 1 of 3 sessions" in found.data["note"]
        assert 'expand(handle="2026-03-03-a")' in found.data["note"]
        assert found.data["note"] in found.text
        parts = await agent.follow("expand", handle="2026-03-03-a")
        assert "".join(part.data["item"]["text"] for part in parts).endswith("水渠里的水很清。" * 5_000)
        await agent.call("memory_context")
        await agent.call("memory_context", query="水渠")

    talk(vault, script)


def page(number: int, text: str) -> str:
    return f'---\nstarted: 2026-03-{number:02}\ntopics: ["[[ditch]]"]\n---\n{text}\n'


def test_many_long_sessions_come_as_far_as_they_fit(vault: hard.Vault) -> None:
    for number in range(1, 21):
        vault.put(f"sessions/2026-03-{number:02}-a.md", page(number, "水渠里的水很清。" * 250))

    async def script(agent: Agent) -> None:
        found = await agent.call("topic_thread_summarize", topic="ditch")
        shown = found.data["sessions"]
        assert 3 < len(shown) < 20
        assert all(len(session["text"]) == 2_000 for session in shown)
        assert found.data["note"] == f"showing the most recent {len(shown)} of 20 sessions"

    talk(vault, script)


@pytest.mark.parametrize(
    "text", ["Oil the hinges of the long gate before winter. " * 4, "入冬之前给长门的铰链上油。" * 12]
)
def test_five_hundred_procedures_are_shown_as_far_as_they_fit(vault: hard.Vault, text: str) -> None:
    for number in range(500):
        keys = f"---\nstatus: confirmed\ncreated: 2026-01-01T00:{number // 60:02}:{number % 60:02}Z\n---\n"
        vault.put(f"procedures/rule-{number:03}.md", f"{keys}{number:03} {text}\n")
    vault.fill(3)

    async def script(agent: Agent) -> None:
        found = await agent.call("memory_context")
        shown = [each["handle"] for each in found.data["procedures"]]
        assert 10 < len(shown) < 500
        assert shown == [f"rule-{number:03}" for number in range(499, 499 - len(shown), -1)]
        assert any(line.startswith(f"{500 - len(shown)} procedures") for line in found.data["left_out"])
        assert "more: pyramid procedure list" in found.text

    talk(vault, script)


def test_records_that_are_huge_are_named_and_hide_no_others(vault: hard.Vault) -> None:
    def put(path: str, *keys: str, body: str) -> None:
        vault.put(path, "\n".join(["---", "status: confirmed", *keys, "---", body, ""]))

    long = "铰链要上油。" * 7_000
    put("procedures/huge.md", "created: 2026-03-02", body=long)
    put("procedures/small.md", "created: 2026-03-01", body="Oil it.")
    for number in range(5):
        put(f"entities/huge-{number}.md", f"name: Huge {number}", f"created: 2026-03-0{number + 1}", body=long)
    put("entities/small.md", "name: Small", "created: 2026-03-09", body="Bees.")
    vault.put("topics/ditch.md", f"---\ntitle: {'水' * 50_000}\n---\n")
    vault.note("long", long)

    async def script(agent: Agent) -> None:
        found = await agent.call("memory_context")
        assert [each["handle"] for each in found.data["procedures"]] == ["small"]
        assert "small" in [each["handle"] for each in found.data["entities"]]
        named: list[Any] = [line for line in found.data["left_out"] if "huge" in line]
        assert 'expand(handle="huge")' in named

    talk(vault, script)

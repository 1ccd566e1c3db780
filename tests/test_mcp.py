"""The MCP server in this process, in both eras: tools, arguments, bounds, growth, summaries by the agent."""

from __future__ import annotations

import contextlib
import json
import logging
import re
from typing import TYPE_CHECKING, Any

import agents
import anyio
import hard
import mcp
import pytest
from agents import ERAS, SMALL, talk
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from pyramid_fs import calls, desk, growing
from pyramid_fs.mcp_server import lines, logs, wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from agents import Agent

    from pyramid_fs.mcp_server.server import Server
    from pyramid_fs.mcp_server.tools import Toolbox

SIX = ["load_memory", "load_model", "expand", "recall", "record", "create_model"]
GOOD = "The rows were hoed in the morning, and the water butt stood lower by the evening than it did before."


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    """A vault with one model, `plot`."""
    return hard.make(tmp_path, monkeypatch)


def on_disk(vault: hard.Vault) -> list[str]:
    return [path.read_text() for path in sorted((vault.root / "models").rglob("20*.md"))]


# What is listed


def test_the_tools_for_summaries_are_listed_where_an_agent_writes_them(vault: hard.Vault) -> None:
    listed: list[list[str]] = []

    async def script(agent: Agent) -> None:
        listed.append(list(agent.schemas))

    talk(vault, script)
    talk(vault, script, with_rollups=True)
    assert set(SIX) <= set(listed[0])
    assert [name for name in listed[1] if name not in listed[0]] == ["next_rollup", "write_rollup"]
    assert len(listed[1]) <= 12


def test_each_tool_says_what_it_does_and_that_it_destroys_nothing(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        tools = (await agent.client.list_tools()).tools
        reads = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
        assert {"load_memory", "load_model", "expand", "recall", "next_rollup"} <= reads
        assert not reads & {"record", "create_model", "write_rollup", "save_session", "propose"}
        for tool in tools:
            assert tool.description
            assert tool.title
            assert tool.annotations
            assert tool.annotations.destructive_hint is False
            assert "ctx" not in json.dumps(tool.input_schema)

    talk(vault, script, with_rollups=True)


# A whole session


@pytest.mark.parametrize("mode", ERAS)
def test_a_session_from_an_empty_vault_to_a_roll_up(vault: hard.Vault, mode: str) -> None:
    (vault.root / "models/plot/plot.md").unlink()
    (vault.root / "models/plot").rmdir()
    vault.put("pyramid.toml", SMALL)
    talk(vault, session, mode)
    vault.is_sound()
    assert all('source: "spade"' in text for text in on_disk(vault) if "butt" in text)


async def session(agent: Agent) -> None:
    """Go through all that an agent does with a memory; in both eras and over every transport."""
    empty = await agent.call("load_memory")
    assert calls.TOOLS.make_model in empty.text
    assert (empty.data["loaded"], empty.data["models"]) == (False, [])
    assert (await agent.call("create_model", name="Küche 会", description="Was gekocht wird")).data["alike"] == []
    assert "Küche 会" in await agent.fail("create_model", name="küche 会")
    handles = []
    for number in range(4):
        text = f"On day {number} cook{number} served soup to {number * 7} guests, 汤很好, and the butt was full."
        handles.append((await agent.call("record", text=text, models=["Küche 会"])).data["handle"])

    async def is_grown() -> bool:
        found = (await agent.call("load_model", names=["Küche 会"])).data["models"][0]
        return bool(found["tail"] == 0 and found["summaries"] and found["summaries"][0]["tier"] == 1)

    await agents.until_true(is_grown, "two batches and their roll-up are written")
    loaded = (await agent.call("load_model", names=["Küche 会"])).data["models"][0]
    assert (loaded["notes"], loaded["covered"], loaded["tail"]) == (4, 4, 0)
    top = loaded["summaries"][0]["handle"]
    down = (await agent.call("expand", handle=f"[[{top}]]", depth=2)).data
    assert down["kind"] == "summary"
    assert {note["handle"] for note in down["below"] if "tier" not in note} == set(handles)
    up = (await agent.call("expand", handle=handles[0])).data
    assert (up["kind"], up["above"][-1]) == ("note", top)
    hits = (await agent.call("recall", query="cook2 soup", models=["Küche 会"], kinds=["note"])).data
    assert hits["hits"][0]["handle"] == handles[2]
    for tier, key, count in (("0", "summaries", 2), (1, "summaries", 1), ("notes", "recent", 4), ("tail", "recent", 0)):
        page = await agent.call("load_model", names="Küche 会", tier=tier)
        assert len(page.data["models"][0][key]) == count
    assert (await agent.call("record", text="On day 9 it rained.", models=["Küche 会"], source="radio")).data["handle"]
    await refusals(agent)
    await resources(agent)


async def refusals(agent: Agent) -> None:
    said = await agent.fail("load_model", names=["Küche 会", "Kuche 会"])
    assert "no model 'Kuche 会'; the closest: Küche 会" in said
    assert "Küche 会" in await agent.fail("record", text="x", models=["Kueche 会"])
    assert "the closest" in await agent.fail("recall", query="soup", models=["Kueche 会"])
    assert "there is no file" in await agent.fail("expand", handle="nowhere")
    assert "did you mean recall?" in await agent.fail("recal", query="soup")


async def resources(agent: Agent) -> None:
    listed = (await agent.client.list_resources()).resources
    assert [str(each.uri) for each in listed] == ["pyramid://map", "pyramid://models/K%C3%BCche%20%E4%BC%9A"]
    for each in listed:
        found = (await agent.client.read_resource(str(each.uri))).contents
        assert "Küche 会" in str(found)
    with pytest.raises(MCPError, match="no model 'nobody'"):
        await agent.client.read_resource("pyramid://models/nobody")
    (prompt,) = (await agent.client.list_prompts()).prompts
    said = str((await agent.client.get_prompt(prompt.name)).messages)
    assert "Küche 会" in said
    assert calls.TOOLS.load_models in said


# Arguments as they are meant

WRONG: dict[str, list[Any]] = {
    "array": [{"a": 1}, [["a"]], [{"a": 1}], [None], '[["a"]]'],
    "integer": ["many", "5.5", 5.5, True, [5], {"a": 5}, ""],
    "number": ["much", True, [0.5], {"a": 1}, ""],
    "string": [{"a": 1}, [1, 2], [], {}],
}


def type_of(schema: Any) -> str:
    return str(schema.get("type") or next(each["type"] for each in schema["anyOf"] if each["type"] != "null"))


def test_every_argument_of_every_tool_refuses_what_it_can_not_mean_in_a_sentence_that_names_it(
    vault: hard.Vault,
) -> None:
    async def script(agent: Agent) -> None:
        before, tried = vault.bytes(), 0
        for tool, schema in agent.inputs.items():
            required = dict.fromkeys(schema.get("required", ()), "plot")
            for name, wanted in schema["properties"].items():
                for value in WRONG[type_of(wanted)]:
                    said = await agent.fail(tool, **{**required, name: value})
                    assert said.startswith(f"{tool}: `{name}` must be ")
                    tried += 1
        assert tried > 100
        assert vault.bytes() == before
        assert (await agent.call("load_memory")).data["models"][0]["notes"] == 0

    talk(vault, script, with_rollups=True)


def test_every_tool_names_what_is_missing_and_what_it_does_not_know(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        for tool, schema in agent.inputs.items():
            assert "`zzz` is no argument" in await agent.fail(tool, zzz=1)
            for name in schema.get("required", ()):
                some = {other: "plot" for other in schema["required"] if other != name}
                assert f"`{name}` is missing" in await agent.fail(tool, **some, **{name: None})

    talk(vault, script, with_rollups=True)


@pytest.mark.parametrize("mode", ERAS)
def test_what_is_plain_is_taken_and_null_is_as_if_it_were_absent(vault: hard.Vault, mode: str) -> None:
    vault.fill(8)

    async def script(agent: Agent) -> None:
        for given in ({"limit": "3"}, {"limit": 3.0}, {"limit": " 3 ", "models": "plot"}, {"limit": 3, "tier": None}):
            found = await agent.call("recall", query="hoed", **given)
            assert len(found.data["hits"]) == 3
        for names in ("plot", ["plot"], '["plot"]'):
            assert (await agent.call("load_model", names=names, tier=None, max_chars=None)).data["models"]
        for tool, schema in agent.inputs.items():
            nulls = {name: None for name in schema["properties"] if name not in schema.get("required", ())}
            if tool == "load_memory":
                await agent.call(tool, **nulls)
            if tool == "recall":
                await agent.call(tool, query="hoed", **nulls)

    talk(vault, script, mode)


@pytest.mark.parametrize("mode", ERAS)
def test_a_note_is_the_text_that_was_sent_whatever_it_looks_like(vault: hard.Vault, mode: str) -> None:
    texts = ['{"beds": [1, 2]}', "2031", '["rake"]', "null", "true", "- [ ] dig", "जल", "صفحة", "\N{SNOWMAN}"]

    async def script(agent: Agent) -> None:
        for text in texts:
            await agent.call("record", text=text, models='["plot"]')
        await agent.call("record", text=1066, models="plot")

    talk(vault, script, mode)
    assert sorted(page.split("---\n")[2].strip() for page in on_disk(vault)) == sorted([*texts, "1066"])


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("load_model", {"names": []}, "name the models"),
        ("load_model", {"names": ["plot"], "tier": "two"}, "a tier is a number"),
        ("load_model", {"names": ["plot"], "page": 0}, "count from 1"),
        ("load_model", {"names": ["plot"], "max_chars": -5}, "count from 1"),
        ("load_memory", {"page": 0}, "count from 1"),
        ("load_memory", {"page": 9}, "no page 9"),
        ("expand", {"handle": ""}, ""),
        ("expand", {"handle": "row1", "page": 2}, "row1 has no page 2"),
        ("expand", {"handle": "row1", "depth": 0}, "count from 1"),
        ("recall", {"query": "hoed", "limit": 0}, "at least 1"),
        ("recall", {"query": "hoed", "since": "soon"}, "dates like"),
        ("recall", {"query": "hoed", "kinds": ["poem"]}, "poem"),
        ("record", {"text": " ", "models": ["plot"]}, ""),
        ("record", {"text": "x", "models": []}, "model"),
        ("record", {"text": "a\0b", "models": ["plot"]}, ""),
        ("create_model", {"name": "a/b"}, ""),
        ("create_model", {"name": ""}, ""),
        ("create_model", {"name": "plot"}, "exists"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_the_server_lives_on(
    vault: hard.Vault, tool: str, given: dict[str, Any], says: str
) -> None:
    vault.fill(1)

    async def script(agent: Agent) -> None:
        before = vault.bytes()
        assert says in await agent.fail(tool, **given)
        assert vault.bytes() == before
        await agent.call("load_memory")

    talk(vault, script)


def test_no_refusal_repeats_a_long_argument(vault: hard.Vault) -> None:
    vault.fill(1)
    long, valid = "a" * 70_000, {"names": ["plot"], "models": ["plot"], "handle": "row1", "kind": "entity"}

    async def script(agent: Agent) -> None:
        refused = []
        for tool, schema in agent.inputs.items():
            given = {name: valid.get(name, "hoed") for name in schema.get("required", ())}
            for name in schema["properties"]:
                found = await agent.ask(tool, **{**given, name: long})
                if found.is_error:
                    assert len(found.text) < 600, (tool, name)
                    refused.append((tool, name))
        assert {("load_model", "tier"), ("recall", "kinds"), ("recall", "since"), ("write_rollup", "ticket")} <= {
            *refused
        }
        assert len(await agent.fail(long)) < 600
        with pytest.raises(MCPError) as said:
            await agent.client.read_resource(f"pyramid://{long}")
        assert len(said.value.error.message) < 600
        with pytest.raises(MCPError) as said:
            await agent.client.get_prompt(long)
        assert len(said.value.error.message) < 600

    talk(vault, script, with_rollups=True)


def test_an_agent_is_sent_to_tools_and_not_to_a_shell_alone(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        said = await agent.fail("topic_thread_summarize", topic="zz")
        assert ("memory_context()" in said, "pyramid topic" in said) == (True, False)

    talk(vault, script)


def test_a_summarizer_that_is_taken_away_while_the_server_runs_is_told_of(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        for name in ("next_rollup", "write_rollup"):
            assert "a model writes the summaries" in await agent.fail(name)
        vault.config.write_text('[summarizer]\nkind = "none"\n')
        for name in ("next_rollup", "write_rollup"):
            assert "started again" in await agent.fail(name)
        vault.root.rename(vault.root.with_name("moved"))
        assert "it was moved" in await agent.fail("next_rollup")

    talk(vault, script)


# Resources and the prompt


@pytest.mark.parametrize("mode", ERAS)
def test_resources_and_the_prompt_say_what_is_wrong_as_tools_do(vault: hard.Vault, mode: str) -> None:
    vault.fill(1)

    async def script(agent: Agent) -> None:
        client = agent.client

        async def said(ask: Callable[[], Awaitable[object]]) -> tuple[int, str]:
            with pytest.raises(MCPError) as found:
                await ask()
            return found.value.error.code, found.value.error.message

        asked: list[Callable[[], Awaitable[object]]] = [
            lambda: client.read_resource("pyramid://map"),
            lambda: client.read_resource("pyramid://models/plot"),
            lambda: client.get_prompt("boot"),
            client.list_resources,
        ]
        for ask in asked:
            await ask()
        code, text = await said(lambda: client.get_prompt("boot", {"who": "Ada"}))
        assert (code, text) == (INVALID_PARAMS, "`who` is no argument of boot; it takes none")
        code, text = await said(lambda: client.read_resource("pyramid://nothing"))
        assert code == INVALID_PARAMS
        assert "there are pyramid://map" in text
        code, text = await said(lambda: client.read_resource("pyramid://models/plott"))
        assert (code, "the closest: plot" in text) == (INVALID_PARAMS, True)
        vault.put("pyramid.toml", "format = [")
        for ask in asked:
            code, text = await said(ask)
            assert (code, "pyramid.toml" in text) == (INTERNAL_ERROR, True)
        vault.root.rename(vault.root.with_name("moved"))
        for ask in asked:
            assert await said(ask) == (INTERNAL_ERROR, await agent.fail("load_memory"))

    talk(vault, script, mode)


def test_the_list_of_resources_waits_for_busy_calls_and_holds_up_none(vault: hard.Vault) -> None:
    async def script(server: Server, box: Toolbox) -> None:
        with contextlib.ExitStack() as held:
            for _ in range(desk.MOST):
                held.enter_context(box._desk.borrow())
            async with anyio.create_task_group() as group:
                group.start_soon(server.list_resources)
                await anyio.wait_all_tasks_blocked()  # the list waits, and this loop goes on
                held.close()

    with agents.served(vault.root) as (server, _, box):
        anyio.run(script, server, box)


# Lines of the protocol


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ('{"jsonrpc": "2.0", "id": 7, "params": [[[', 7),
        ('{"params": {"id": 1, "a": "\\"id\\": 2"}, "id" : "sev\\"en", ', 'sev"en'),
        ('{"id": true, "id": 1.5, "id": null, "id": -7}', -7),
        ('{"id": ' + "9" * 5_000 + "}", None),
        ('[{"id": 7}]', None),
        ('{"a": "id"', None),
        ("not json", None),
    ],
)
def test_the_id_of_a_line_that_can_not_be_read_is_found_at_its_top(line: str, number: str | int | None) -> None:
    assert lines.id_in(line) == number


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping"}', wire.Heard(asks="7")),
        ('{"jsonrpc": "2.0", "id": 7, "result": {}}', wire.Heard()),
        ('{"jsonrpc": "2.0", "method": "notifications/initialized", "params": {"id": 7}}', wire.Heard()),
        ('{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}', wire.Heard(drops="7")),
        (" \n", wire.Heard()),
    ],
)
def test_a_line_is_heard_as_the_protocol_means_it(line: str, meant: wire.Heard) -> None:
    assert lines.heard(line) == meant


# What is logged


def test_whatever_is_logged_is_one_short_line_that_says_what_came_up_first_and_where() -> None:
    def logged(message: str, error: BaseException | None = None) -> str:
        info = (type(error), error, None) if error else None
        return logs.Plain().format(logging.LogRecord("x", logging.ERROR, "f", 1, message, None, info))

    def caught(text: str) -> Exception:
        try:
            int(text)
        except ValueError as error:
            return error
        raise AssertionError(text)

    late = RuntimeError("the tool failed")
    late.__cause__ = caught("one\ntwo")
    assert logged("two\nlines") == "two lines"
    for error in (late, ExceptionGroup("some failed", [late, KeyError("b")])):
        assert re.fullmatch(r"no: ValueError: invalid literal .* \(test_mcp\.py:\d+\)", logged("no", error))
    assert len(logged("a" * 9_000, ValueError("b" * 9_000))) <= logs.MOST


# Bounds: every answer fits, and what it leaves out is shown by the calls that it names


def test_a_map_of_many_models_comes_in_pages_that_hold_each_once(vault: hard.Vault) -> None:
    many_models(vault, 400)


@pytest.mark.slow
def test_a_map_of_three_thousand_models_comes_in_pages_that_hold_each_once(vault: hard.Vault) -> None:
    many_models(vault, 3000)


def many_models(vault: hard.Vault, count: int) -> None:
    for number in range(count):
        what = f"The {number}th bed of the long border, with what grows in it, who tends it, 和它的土壤 and its water."
        name = f"bed-{number:04}"
        vault.put(f"models/{name}/{name}.md", f"---\ntype: model\ndescription: {what}{' And so on.' * 20}\n---\n")
    vault.fill(9)

    async def script(agent: Agent) -> None:
        found = [answer for answer in await agent.follow("load_memory") if "loaded" in answer.data]
        names = [model["name"] for answer in found for model in answer.data["models"]]
        assert names == sorted([*(f"bed-{number:04}" for number in range(count)), "plot"])
        assert len(found) > 1
        first = found[0].data
        recent = sum(left["count"] for left in first["left_out"] if "notes" in left["what"])
        assert len(first["recent"]) + recent == 9

    talk(vault, script)


@pytest.mark.slow
def test_a_model_of_many_short_notes_is_shown_whole_by_the_calls_of_its_view(vault: hard.Vault) -> None:
    many_notes(vault, 700)


@pytest.mark.slow
def test_a_model_of_five_thousand_short_notes_is_shown_whole_by_the_calls_of_its_view(vault: hard.Vault) -> None:
    many_notes(vault, 5000)


def many_notes(vault: hard.Vault, count: int) -> None:
    vault.config.write_text("[advance]\nbackground = false\n")
    for number in range(count):
        vault.note(f"n{number:05}", f"Line {number}: 雨, {number} mm.", created=f"2025-01-{number % 28 + 1:02}")

    async def script(agent: Agent) -> None:
        found = await agent.follow("load_model", names=["plot"])
        assert set(agents.handles(found, "recent")) == {f"n{number:05}" for number in range(count)}
        whole = await agent.follow("load_model", names=["plot"], tier="notes")
        assert sorted(agents.handles(whole, "recent")) == [f"n{number:05}" for number in range(count)]

    talk(vault, script)


@pytest.mark.parametrize("max_chars", [1, 300, 3_000, 1_000_000])
def test_long_notes_of_another_script_are_shown_whole_by_the_calls_of_their_view(
    vault: hard.Vault, max_chars: int
) -> None:
    vault.config.write_text("[advance]\nbackground = false\n")
    text = "渡轮九点出发，玛拉把船票放在厨房门边的蓝色铁盒里。" * 770
    for number in range(3):
        vault.note(f"ferry{number}", f"{number}：{text}", created=f"2026-01-0{number + 1}")
    vault.put("models/shed/shed.md", "A shed.\n")

    async def script(agent: Agent) -> None:
        found = await agent.follow("load_model", names=["plot", "shed"], max_chars=max_chars)
        texts = {text["handle"]: text["text"] for a in found for m in a.data.get("models", ()) for text in m["recent"]}
        for answer in found:
            if "item" in answer.data:
                item = answer.data["item"]
                texts[item["handle"]] = texts.get(item["handle"], "") + item["text"]
        assert texts == {f"ferry{number}": f"{number}：{text}" for number in range(3)}
        assert {model["name"] for answer in found for model in answer.data.get("models", ())} == {"plot", "shed"}

    talk(vault, script)


def test_a_long_note_is_whole_when_the_pages_of_expand_are_joined(vault: hard.Vault) -> None:
    long_note(vault, 2_500)


@pytest.mark.slow
def test_a_note_of_a_megabyte_is_whole_when_the_pages_of_expand_are_joined(vault: hard.Vault) -> None:
    long_note(vault, 20_000)


def long_note(vault: hard.Vault, lines: int) -> None:
    long = "".join(f"{number}. The lock keeper wrote {number * 3} boats down, 船很多。\n" for number in range(lines))
    vault.note("ledger", long)

    async def script(agent: Agent) -> None:
        found = await agent.follow("expand", handle="ledger")
        assert "".join(answer.data["item"]["text"] for answer in found) == long.strip()
        assert len(found) > 2
        recalled = await agent.call("recall", query="lock keeper 777")
        assert recalled.data["hits"]

    talk(vault, script)


def test_the_sources_of_a_summary_come_in_pages_that_hold_each_once(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 1\n[pyramid]\nbatch_chars = 10000000\n[settle]\nseconds = 0\n")
    for number in range(10):
        vault.note(f"tale{number}", f"Tale {number}. " + "苍鹭站在芦苇丛中等着鱼来。" * 615)
    assert vault.run("advance").code == 0
    (summary,) = vault.summaries(0)

    async def script(agent: Agent) -> None:
        found = await agent.follow("expand", handle=summary.stem)
        assert agents.handles(found, "below") == [f"tale{number}" for number in range(10)]
        assert len(found) > 1
        own = [answer.data["item"]["text"] for answer in found if answer.data["item"]["handle"] == summary.stem]
        assert "".join(own) == summary.read_text().split("---\n")[2].strip()

    talk(vault, script)


def test_hits_of_long_texts_come_in_pages_that_hold_each_once(vault: hard.Vault) -> None:
    for number in range(60):
        vault.note(f"reed{number:02}", f"Reed {number}. " + "The reeds by the weir are cut in spring 芦苇. " * 60)

    async def script(agent: Agent) -> None:
        found = await agent.follow("recall", query="reeds weir", limit=100, models=["plot"], kinds=["note"])
        assert sorted(agents.handles(found, "hits")) == [f"reed{number:02}" for number in range(60)]

    talk(vault, script)


def test_many_models_at_once_are_loaded_as_far_as_they_fit_and_the_others_named(vault: hard.Vault) -> None:
    vault.config.write_text("[advance]\nbackground = false\n")
    names = [f"bed{number:02}" for number in range(12)]
    for name in names:
        vault.fill(3, name, chars=7_000)

    async def script(agent: Agent) -> None:
        found = await agent.follow("load_model", names=names)
        shown = [model["name"] for answer in found for model in answer.data["models"] if answer.data["models"]]
        assert list(dict.fromkeys(shown)) == names
        assert len(found) > 2
        whole = [(m["name"], note["handle"]) for a in found for m in a.data["models"] for note in m["recent"]]
        assert set(whole) == {(name, f"row{number}") for name in names for number in (1, 2, 3)}

    talk(vault, script)


# Growth behind the answers


def test_a_failing_summarizer_is_told_by_the_map_and_by_status_and_never_by_record(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", SMALL)
    vault.summarizer("echo 'the attic is locked' >&2; exit 3")

    async def script(agent: Agent) -> None:
        for number in range(2):
            found = await agent.call("record", text=f"Row {number} was hoed by hand.", models=["plot"])
            assert "attic" not in found.text

        async def is_told() -> bool:
            return "attic" in str((await agent.call("load_memory")).data["models"][0].get("waiting"))

        await agents.until_true(is_told, "the map tells of the failure")
        again = await agent.call("record", text="Row 7 was hoed by hand.", models=["plot"])
        assert "attic" not in again.text
        assert again.data["warnings"] == []
        assert "attic" in str(vault.status()["models"][0]["waiting"])

    talk(vault, script)
    assert vault.counts() == (3, 3, {})


def test_one_model_is_never_grown_twice_at_once(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", SMALL)
    seen = vault.root.parent / "seen"
    seen.mkdir()
    busy = f"mkdir {seen}/busy || touch {seen}/twice"
    said = "echo 'The rows were hoed in the morning, and the butt was low by evening.'"
    vault.summarizer(f"cat >/dev/null; {busy}; sleep 0.05; rmdir {seen}/busy; touch {seen}/$$; {said}")
    vault.config.write_text(vault.config.read_text() + "concurrency = 1\n")

    async def script(agent: Agent) -> None:
        for number in range(8):
            await agent.call("record", text=f"Row {number} was hoed by hand{number}.", models=["plot"])
            await agent.call("load_model", names=["plot"])

        async def is_grown() -> bool:
            await agent.call("load_model", names=["plot"])
            return vault.counts()[1] == 0

        await agents.until_true(is_grown, "all is summarized")

    talk(vault, script)
    assert not (seen / "twice").exists()
    vault.is_sound()


def test_inside_a_summarizer_nothing_grows(vault: hard.Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.put("pyramid.toml", SMALL)
    vault.fill(4)
    monkeypatch.setenv(growing.INSIDE, "1")
    with agents.served(vault.root) as (server, growth, _):

        async def main() -> None:
            async with mcp.Client(server) as client:
                await client.call_tool("record", {"text": "Row 9 was hoed.", "models": ["plot"]})
                await client.call_tool("load_model", {"names": ["plot"]})

        anyio.run(main)
        assert growth._thread.ident is None
        assert growth._due == {}


def test_where_growth_is_off_nothing_grows(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", SMALL)
    vault.fill(4)
    vault.config.write_text("[advance]\nbackground = false\n")

    async def script(agent: Agent) -> None:
        await agent.call("record", text="Row 9 was hoed.", models=["plot"])
        await agent.call("load_model", names=["plot"])

    talk(vault, script)
    assert vault.counts() == (5, 5, {})


def test_a_fault_in_one_model_does_not_end_growth(vault: hard.Vault, caplog: pytest.LogCaptureFixture) -> None:
    vault.put("pyramid.toml", SMALL)
    vault.fill(2)
    caplog.set_level(logging.CRITICAL)
    with agents.served(vault.root) as (_, growth, _):
        growth.trigger(["gone", "\0", "plot"])
        agents.until(lambda: vault.counts() == (2, 0, {"0": 1}), "the good model is grown")


def test_settings_that_change_while_the_server_runs_are_taken_in(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", SMALL.replace("batch_notes = 2", "batch_notes = 50"))
    vault.fill(4)

    async def script(agent: Agent) -> None:
        await agent.call("load_model", names=["plot"])
        vault.put("pyramid.toml", SMALL)

        async def is_grown() -> bool:
            return bool((await agent.call("load_model", names=["plot"])).data["models"][0]["tail"] == 0)

        await agents.until_true(is_grown, "the new batch size is taken in")
        vault.put("pyramid.toml", "format = [")
        assert "pyramid.toml" in await agent.fail("load_memory")
        vault.put("pyramid.toml", SMALL)
        await agent.call("load_memory")

    talk(vault, script)


def test_the_source_of_a_note_is_the_client_where_none_is_named(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        for given in ({}, {"source": ""}, {"source": None}, {"source": "radio"}):
            await agent.call("record", text=f"Rain: {given}", models=["plot"], **given)

    talk(vault, script)
    assert sorted(page.split("source: ")[1].split("\n")[0] for page in on_disk(vault)) == ['"radio"', *3 * ['"spade"']]


def test_an_exact_repeat_and_a_secret_are_told_of(vault: hard.Vault) -> None:
    async def script(agent: Agent) -> None:
        first = await agent.call("record", text="The gate code is on the tin.", models=["plot"])
        again = await agent.call("record", text="The gate code is on the tin.", models=["plot"])
        assert (again.data["repeat"], again.data["handle"]) == (True, first.data["handle"])
        key = "AKIA" + "Z7QX4M2NPL5RTW3K"
        beware = await agent.call("record", text=f"The key is {key}.", models=["plot"])
        assert beware.data["warnings"]
        assert "Beware" in beware.text

    talk(vault, script)


# Summaries that the agent writes


@pytest.mark.parametrize("mode", ERAS)
def test_the_agent_writes_every_summary_that_is_due(vault: hard.Vault, mode: str) -> None:
    vault.put("pyramid.toml", SMALL)
    vault.config.write_text('[summarizer]\nkind = "none"\n')
    vault.fill(5)

    async def script(agent: Agent) -> None:
        tiers, number = [], 0
        while (due := (await agent.call("next_rollup")).data)["due"]:
            number += 1
            text = f"Part {number}. {GOOD}"
            made = (await agent.call("write_rollup", ticket=due["ticket"], text=text)).data
            said = await agent.fail("write_rollup", ticket=due["ticket"], text=text)
            assert f"written meanwhile: {made['handle']}" in said
            tiers.append(made["tier"])
        assert tiers == [0, 0, 1]
        assert "is no ticket" in await agent.fail("write_rollup", ticket="plot", text=GOOD)
        assert (await agent.call("next_rollup", models="plot")).text.startswith("Nothing is due.")

    talk(vault, script, mode, with_rollups=True)
    assert vault.counts() == (5, 1, {"0": 2, "1": 1})
    assert all('summarizer: "agent:spade"' in path.read_text() for path in vault.summaries(0))
    vault.is_sound()


def test_a_source_too_long_for_an_answer_is_named_with_the_call_that_shows_it(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", SMALL)
    vault.config.write_text('[summarizer]\nkind = "none"\n')
    long = "".join(f"{number}. The keeper counted {number} boats, 船很多。\n" for number in range(2_500)).strip()
    vault.note("ledger", long, created="2026-01-01")

    async def script(agent: Agent) -> None:
        due = await agent.call("next_rollup")
        assert due.data["sources"] == []
        (left,) = due.data["left_out"]
        tool, given = agents.read(left["call"])
        shown = await agent.follow(tool, **given)
        assert "".join(answer.data["item"]["text"] for answer in shown) == long
        text = "The keeper counted the boats one by one, up to twenty-five hundred of them, and wrote down many."
        assert (await agent.call("write_rollup", ticket=due.data["ticket"], text=text)).data["tier"] == 0

    talk(vault, script, with_rollups=True)
    vault.is_sound()

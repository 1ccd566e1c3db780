"""Claude Code's transcripts become conversations: what both sides said, once each, whatever else stands there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs.errors import UsageError
from pyramid_fs.importers import claude_code
from pyramid_fs.importers.conversations import Bad, Conversation, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

FIRST = datetime(2026, 3, 14, 9, 0, 0, tzinfo=UTC)


def at(minute: int) -> datetime:
    return FIRST.replace(minute=minute)


def entry(kind: str, content: Any, minute: int | None = None, **more: Any) -> dict[str, Any]:
    role = {"message": {"role": kind, "content": content}} if kind in ("user", "assistant") else {}
    time = {} if minute is None else {"timestamp": f"2026-03-14T09:{minute:02d}:00.000Z", "uuid": f"u{minute}"}
    base = {"type": kind, "sessionId": "s1", "isSidechain": False, "cwd": "/home/kim/garden", "version": "2.1.12"}
    return {**base, **role, **time, **more}


def person(text: Any, minute: int | None = None, **more: Any) -> dict[str, Any]:
    return entry("user", text, minute, **more)


def agent(text: Any, minute: int | None = None, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text}] if isinstance(text, str) else text
    return entry("assistant", blocks, minute, **more)


def write(path: Path, lines: Iterable[Any], end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    path.write_bytes(("\n".join(texts) + end).encode("utf-8", "surrogatepass"))
    return path


def talks(path: Path, left_out: Counter[str] | None = None) -> list[Conversation]:
    return [one for one in claude_code.read(path, left_out) if isinstance(one, Conversation)]


def texts(path: Path) -> list[str]:
    return [turn.text for talk in talks(path) for turn in talk.turns]


def test_a_transcript_is_a_conversation(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s1.jsonl",
        [
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
            person("Plant the beans?", 1),
            agent([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "After the frost."}], 2),
            {"type": "summary", "summary": "Beans and frost", "leafUuid": "u2"},
        ],
    )
    assert list(claude_code.read(path)) == [
        Conversation(
            source="claude-code:s1",
            session="s1",
            title="Beans and frost",
            started=at(1),
            ended=at(2),
            turns=(Turn("person", "Plant the beans?", at(1)), Turn("agent", "After the frost.", at(2))),
            place="/home/kim/garden",
        )
    ]


def test_what_is_no_turn_is_left_out_and_counted(tmp_path: Path) -> None:
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    output = [{"type": "tool_result", "tool_use_id": "t", "content": "beans.txt"}]
    path = write(
        tmp_path / "s1.jsonl",
        [
            person("Look at the list.", 1),
            agent([{"type": "text", "text": "I look."}, tool], 2),
            person(output, 3, toolUseResult={"stdout": "beans.txt"}),
            person(output, 4),
            person("The file was changed.", 15, toolUseResult="changed"),
            person("Find beans.", 5, isSidechain=True, agentId="a1"),
            agent("Found by a sub-agent.", 6, isSidechain=True),
            person("<session-start-hook>on</session-start-hook>", 7, isMeta=True),
            person("This is what was said so far.", 8, isCompactSummary=True),
            agent("API Error: 529", 9, isApiErrorMessage=True),
            {**agent("No response requested.", 10), "message": {"model": "<synthetic>", "content": "No response."}},
            person("A task is done.", 11, origin={"kind": "task-notification"}),
            entry("system", "", 12, subtype="compact_boundary"),
            entry("progress", "", 13, data={"type": "hook_progress"}),
            {"type": "queue-operation", "operation": "enqueue", "content": "hello", "sessionId": "s1"},
            agent([{"type": "text", "text": "It holds beans."}], 14),
        ],
    )
    left_out: Counter[str] = Counter()
    (talk,) = talks(path, left_out)
    assert [turn.text for turn in talk.turns] == ["Look at the list.", "I look.", "It holds beans."]
    assert left_out == {
        "tool calls": 1,
        "tool output": 3,
        "lines of sub-agents": 2,
        "lines of the harness": 5,
        "other lines": 3,
    }


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<system-reminder>\nBe brief.\n</system-reminder>", ""),
        ("Hi.\n<system-reminder>x</system-reminder>\nAnd you?<system-reminder>y</system-reminder>", "Hi.\n\nAnd you?"),
        ("<system-reminder>it has no end", ""),
        ("What does <system-reminder> mean?", "What does <system-reminder> mean?"),
        ("[Request interrupted by user]", ""),
        ("[Request interrupted by user for tool use]", ""),
        ("<local-command-stdout>Bye!</local-command-stdout>", ""),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", ""),
        ("<command-name>/fix</command-name>\n<command-args>the gate</command-args>", "/fix the gate"),
        ("What is <command-name>/fix</command-name>?", "What is <command-name>/fix</command-name>?"),
        ("<bash-input>ls</bash-input>", ""),
        ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", ""),
        ("<user-memory-input>Beans like sun.</user-memory-input>", "Beans like sun."),
        ("<user-prompt-submit-hook>ok</user-prompt-submit-hook>", ""),
        ("<ide_opened_file>The user opened x.</ide_opened_file>Shorten it.", "Shorten it."),
        ("Caveat: The messages below were generated by the user while running local commands. No.", ""),
        ("This session is being continued from a previous conversation that ran out of context.", ""),
        ([{"type": "text", "text": "One."}, "Two.", {"type": "image"}, {"type": "text"}, 5], "One.\n\nTwo."),
        ("half \ud83d", "half \ufffd"),
        ("   ", ""),
    ],
)  # fmt: skip
def test_what_a_person_said_of_a_line(tmp_path: Path, text: Any, kept: str) -> None:
    path = write(tmp_path / "s1.jsonl", [person(text, 1), agent("Yes.", 2)])
    assert texts(path) == [*([kept] if kept else []), "Yes."]


def test_what_was_said_while_the_agent_worked_stands_in_an_attachment(tmp_path: Path) -> None:
    def queued(minute: int, **held: Any) -> dict[str, Any]:
        return entry("attachment", "", minute, attachment={"type": "queued_command", **held})

    path = write(
        tmp_path / "s1.jsonl",
        [
            agent("I dig.", 1),
            queued(2, prompt="Not the roses!", commandMode="prompt"),
            queued(3, prompt=[{"type": "text", "text": "Nor the mint."}]),
            queued(4, prompt="A task ended.", commandMode="task-notification"),
            queued(5, prompt="By another program.", origin={"kind": "channel"}),
            entry("attachment", "", 6, attachment={"type": "todo", "content": []}),
            entry("attachment", "", 7),
        ],
    )
    assert texts(path) == ["I dig.", "Not the roses!", "Nor the mint."]


def test_a_session_runs_through_several_files_and_a_file_holds_several_sessions(tmp_path: Path) -> None:
    write(
        tmp_path / "-home-kim" / "a.jsonl",
        [person("Third.", 3), person("Elsewhere.", 9, sessionId="s2"), agent("Fourth.", 4)],
    )
    write(tmp_path / "-home-kim" / "b.jsonl", [person("First.", 1), agent("Second.", 2), person("Third.", 3)])
    write(tmp_path / "-home-kim" / "s1" / "subagents" / "agent-7.jsonl", [person("Dig.", 2, isSidechain=True)])
    first, second = talks(tmp_path)
    assert [turn.text for turn in first.turns] == ["First.", "Second.", "Third.", "Fourth."]
    assert (first.source, second.source) == ("claude-code:s1", "claude-code:s2")
    assert talks(tmp_path) == talks(tmp_path / "-home-kim")


def test_the_same_line_again_is_one_turn_with_and_without_a_uuid(tmp_path: Path) -> None:
    bare = {**person("Twice.", 1), "uuid": None}
    path = write(tmp_path / "s1.jsonl", [bare, bare, agent("Yes.", 2), agent("Yes.", 2), agent("Yes.", 3)])
    assert texts(path) == ["Twice.", "Yes.", "Yes."]


def test_a_turn_without_a_time_stays_where_it_was_said(tmp_path: Path) -> None:
    path = write(tmp_path / "s1.jsonl", [person("0."), person("1.", 1), agent("2."), agent("4.", 4), agent("3.", 3)])
    (talk,) = talks(path)
    assert [turn.text for turn in talk.turns] == ["0.", "1.", "2.", "3.", "4."]
    assert (talk.started, talk.ended) == (at(1), at(4))
    undated = write(tmp_path / "old.jsonl", [{"type": "user", "message": {"content": "Hi."}}])
    (talk,) = talks(undated)
    assert (talk.session, talk.started, talk.ended) == ("old", None, None)


def test_the_title_that_a_person_gave_comes_first(tmp_path: Path) -> None:
    turn = person("Hello.", 1)
    made_up = {"type": "ai-title", "aiTitle": "A greeting", "sessionId": "s1"}
    given_one = {"type": "custom-title", "customTitle": "Morning", "sessionId": "s1"}
    summed = {"type": "summary", "summary": "Greetings", "leafUuid": "u1"}
    for number, (lines, title) in enumerate(
        [([turn], ""), ([summed, turn], "Greetings"), ([turn, made_up, summed], "A greeting"),
         ([given_one, turn, made_up], "Morning")]
    ):  # fmt: skip
        assert talks(write(tmp_path / f"{number}.jsonl", lines))[0].title == title


def test_a_bad_line_is_named_and_all_else_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    write(
        path,
        [
            person("One.", 1),
            "{oops",
            "[1]",
            "",
            {"type": "user", "message": "no object", "sessionId": "s1"},
            {"type": "assistant", "message": {"content": None}, "sessionId": "s1"},
            "[" * 50_000,
            person("Two.", 2),
        ],
    )
    with path.open("ab") as opened:
        opened.write(b'{"type": "user", "text": "\xff"}\n')
        opened.write(json.dumps(agent("Cut", 3)).encode()[:-9])
    found = list(claude_code.read(path))
    bad = {one.where.removeprefix("s1.jsonl, line "): one.reason for one in found if isinstance(one, Bad)}
    assert list(bad) == ["2", "3", "5", "6", "7", "9", "10"]
    assert bad["3"] == "it is no JSON object"
    assert "breaks off" in bad["10"]
    assert texts(path) == ["One.", "Two."]


def test_a_line_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_code, "LONGEST", 1000)
    path = write(tmp_path / "s1.jsonl", [person("One.", 1), person("x" * 5000, 2), person("Two.", 3)])
    found = list(claude_code.read(path))
    assert [one.where for one in found if isinstance(one, Bad)] == ["s1.jsonl, line 2"]
    assert texts(path) == ["One.", "Two."]


def test_a_file_that_grew_is_the_same_conversation_with_more_turns(tmp_path: Path) -> None:
    lines = [person("One.", 1), agent("Two.", 2)]
    (before,) = talks(write(tmp_path / "s1.jsonl", lines))
    (after,) = talks(write(tmp_path / "s1.jsonl", [*lines, person("Three.", 3)]))
    assert (after.source, after.started) == (before.source, before.started)
    assert after.turns[:2] == before.turns
    assert len(after.turns) == 3


@pytest.mark.parametrize("text", ['{"model": "a", "text": "b"}\n', '[{"mapping": {}}]', "PK\3\4", "Dear diary,\n"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(UsageError, match="is no transcript of Claude Code"):
        claude_code.read(tmp_path / "x.jsonl")


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        claude_code.read(tmp_path / "gone.jsonl")
    with pytest.raises(UsageError, match=r"holds no \*\.jsonl"):
        claude_code.read(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    assert list(claude_code.read(tmp_path / "empty.jsonl")) == []
    assert list(claude_code.read(tmp_path)) == []


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
BLOCKS = ANY | st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use", "x"]), "text": ANY}))
LIKELY = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "summary", "attachment", "custom-title"]) | ANY},
    optional={
        "message": ANY | st.fixed_dictionaries({"content": BLOCKS}, optional={"model": ANY}),
        "uuid": ANY, "timestamp": ANY, "sessionId": ANY | st.sampled_from(["a", "b"]), "isSidechain": ANY,
        "isMeta": ANY, "origin": ANY, "cwd": ANY, "attachment": ANY, "leafUuid": ANY, "summary": ANY,
        "customTitle": ANY, "toolUseResult": ANY,
    },
)  # fmt: skip
GOOD = [person("Here from the first.", 1, sessionId="good"), agent("And to the last.", 2, sessionId="good")]


@given(st.lists(ANY | LIKELY, max_size=8))
def test_any_json_lines_are_read_and_the_good_ones_with_them(lines: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "x.jsonl", [GOOD[0], *map(json.dumps, lines), GOOD[1]])
        found = list(claude_code.read(path))
        assert list(claude_code.read(path)) == found
    good = next(one for one in found if isinstance(one, Conversation) and one.session == "good")
    assert [turn.text for turn in good.turns] == ["Here from the first.", "And to the last."]
    bad = [one.where for one in found if isinstance(one, Bad)]
    assert len(set(bad)) == len(bad)
    assert sum(not isinstance(each, dict) for each in lines) <= len(bad) <= len(lines)


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_are_read(lines: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "x.jsonl", [GOOD[0]])
        with path.open("ab") as opened:
            opened.write(b"\n".join([*lines, b"", json.dumps(GOOD[1]).encode()]))
        assert [turn.text for talk in talks(path) for turn in talk.turns] == [
            "Here from the first.",
            "And to the last.",
        ]


MEASURE = """
import sys
from pathlib import Path
from pyramid_fs.importers import claude_code
found = sum(len(one.turns) for one in claude_code.read(Path(sys.argv[1])))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(found, peak.split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from there")
@pytest.mark.slow
def test_two_hundred_megabytes_are_read_in_bounded_memory(tmp_path: Path) -> None:
    path, count, output = tmp_path / "big.jsonl", 0, [{"type": "tool_result", "content": "bean " * 2000}]
    with path.open("w") as opened:
        while opened.tell() < 200 << 20:
            session = f"s{count % 200}"
            opened.write(
                json.dumps(person(f"{count}. " + "words " * 100, 1, sessionId=session, uuid=f"p{count}")) + "\n"
            )
            opened.write(json.dumps(person(output, 2, sessionId=session, uuid=f"o{count}", toolUseResult={})) + "\n")
            count += 1
    said = subprocess.check_output([sys.executable, "-c", MEASURE, str(path)], text=True).split()
    assert int(said[0]) == count
    assert int(said[1]) < 80_000, said  # KB, with the interpreter's own 30,000

"""The exports of Claude and ChatGPT become conversations: the branch that was shown, without tools and hidden nodes."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs.errors import UsageError
from pyramid_fs.importers import chatgpt, claude_export
from pyramid_fs.importers.conversations import Bad, Conversation, Turn

if TYPE_CHECKING:
    from types import ModuleType

ROOT = "00000000-0000-4000-8000-000000000000"
FIRST = datetime(2026, 3, 14, 9, 0, 0, tzinfo=UTC)


def at(minute: int) -> datetime:
    return FIRST.replace(minute=minute)


def export(folder: Path, records: Any, name: str = "conversations.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records))
    return path


def talks(reader: ModuleType, path: Path, left_out: Counter[str] | None = None) -> list[Conversation]:
    return [one for one in reader.read(path, left_out) if isinstance(one, Conversation)]


def bad(reader: ModuleType, path: Path) -> list[str]:
    return [f"{one.where}: {one.reason}" for one in reader.read(path) if isinstance(one, Bad)]


# ChatGPT


def node(name: str, parent: str | None, role: str = "user", text: Any = None, minute: int = 0, **more: Any) -> Any:
    message = {
        "id": name,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at(minute).timestamp() if minute else None,
        "content": {"content_type": "text", "parts": [name if text is None else text]},
        "metadata": {},
        "recipient": "all",
        **more,
    }
    return name, {"id": name, "parent": parent, "children": [], "message": message}


def chat(*nodes: Any, **more: Any) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": []}, **dict(nodes)}
    for name, each in mapping.items():
        if each["parent"] in mapping:
            mapping[each["parent"]]["children"].append(name)
    return {"conversation_id": "c1", "title": "Beans", "create_time": at(1).timestamp(), "mapping": mapping, **more}


def said(path: Path) -> list[str]:
    return [turn.text for talk in talks(chatgpt, path) for turn in talk.turns]


def test_a_chat_is_a_conversation(tmp_path: Path) -> None:
    asked = node("q", "root", "user", "Plant the beans?", 1)
    told = node("a", "q", "assistant", "After the frost.", 2)
    path = export(tmp_path, [chat(asked, told, current_node="a", gizmo_id="g-p-garden")])
    assert list(chatgpt.read(path)) == [
        Conversation(
            source="chatgpt:c1",
            session="c1",
            title="Beans",
            started=at(1),
            ended=at(2),
            turns=(Turn("person", "Plant the beans?", at(1)), Turn("agent", "After the frost.", at(2))),
            place="g-p-garden",
        )
    ]


def test_only_the_branch_that_is_shown(tmp_path: Path) -> None:
    nodes = [
        node("q", "root", minute=1),
        node("old", "q", "assistant", minute=2),
        node("new", "q", "assistant", minute=3),
        node("more", "old", minute=4),
        node("late", "more", "assistant", minute=5),
    ]
    assert said(export(tmp_path, [chat(*nodes, current_node="new")])) == ["q", "new"]
    for missing in ({}, {"current_node": None}, {"current_node": "gone"}, {"current_node": ["q"]}):
        assert said(export(tmp_path, [chat(*nodes, **missing)])) == ["q", "old", "more", "late"]


@pytest.mark.parametrize("lost", ["children", "parent", "message"])
def test_shapes_that_leave_out_half_of_the_tree(tmp_path: Path, lost: str) -> None:
    record = chat(node("q", "root", minute=1), node("a", "q", "assistant", minute=2), current_node="a")
    for each in record["mapping"].values():
        if lost != "message" or each["message"] is None:
            del each[lost]
    assert said(export(tmp_path, [record])) == ["q", "a"]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    assert said(export(tmp_path, [chat(node("a", "b"), node("b", "a"), current_node="a")])) == ["b", "a"]


def test_what_is_no_word_of_either_side_is_left_out(tmp_path: Path) -> None:
    hidden: dict[str, Any] = {"metadata": {"is_visually_hidden_from_conversation": True}}
    nodes = [
        node("s", "root", "system", ""),
        node("h", "s", "user", "My profile.", **hidden),
        node("c", "h", "user", content={"content_type": "user_editable_context", "user_profile": "Kim."}),
        node("q", "c", "user", "Draw a bean."),
        node("t", "q", "assistant", content={"content_type": "thoughts", "thoughts": []}),
        node("call", "t", "assistant", '{"prompt": "bean"}', recipient="dalle.text2im"),
        node("code", "call", "assistant", content={"content_type": "code", "text": "print(1)"}),
        node("out", "code", "tool", "1"),
        node("final", "out", "assistant", "Here it is \ue200cite\ue202turn0search1\ue201.【4†L1-L3】", metadata="none"),
        node("none", "final", "assistant", ""),
    ]
    left_out: Counter[str] = Counter()
    (talk,) = talks(chatgpt, export(tmp_path, [chat(*nodes, current_node="none")]), left_out)
    assert [turn.text for turn in talk.turns] == ["Draw a bean.", "Here it is ."]
    assert left_out == {
        "messages of the system": 1,
        "hidden messages": 1,
        "thoughts, contexts and other contents": 2,
        "tool calls": 2,
        "tool output": 1,
        "messages without a text": 1,
    }


def test_parts_that_are_text_are_kept(tmp_path: Path) -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        "What is this?",
        {"content_type": "audio_transcription", "text": "It is green.", "direction": "in"},
        None,
        7,
    ]
    shown = node(
        "q", "root", content={"content_type": "multimodal_text", "parts": parts}, author={"role": "user", "name": "Kim"}
    )
    (talk,) = talks(chatgpt, export(tmp_path, [chat(shown)]))
    assert talk.turns == (Turn("person", "What is this?\n\nIt is green.", None, "Kim"),)


def test_times_that_are_missing(tmp_path: Path) -> None:
    record = chat(node("q", "root"), node("a", "q", "assistant"))
    for key in ("create_time", "update_time"):
        (talk,) = talks(chatgpt, export(tmp_path, [{**record, "create_time": None, key: at(7).timestamp()}]))
        assert (talk.started, talk.ended) == (at(7), at(7))
    (talk,) = talks(chatgpt, export(tmp_path, [{**record, "create_time": None}]))
    assert (talk.started, talk.ended) == (None, None)


# Claude


def message(uuid: str, sender: str, text: Any, minute: int, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text}] if isinstance(text, str) else text
    base = {"uuid": uuid, "sender": sender, "text": "", "content": blocks, "attachments": [], "files": []}
    return {**base, "created_at": f"2026-03-14T09:{minute:02d}:00.000000Z", **more}


def claude(*messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "uuid": "k1",
        "name": "Beans",
        "created_at": "2026-03-14T09:00:00Z",
        "chat_messages": list(messages),
        **more,
    }


def told(path: Path) -> list[str]:
    return [turn.text for talk in talks(claude_export, path) for turn in talk.turns]


def test_a_conversation_with_claude(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        [
            claude(
                message("1", "human", "Plant the beans?", 1),
                message("2", "assistant", "After the frost.", 2),
                project={"uuid": "p", "name": "Garden"},
            )
        ],
    )
    assert list(claude_export.read(path)) == [
        Conversation(
            source="claude:k1",
            session="k1",
            title="Beans",
            started=at(1),
            ended=at(2),
            turns=(Turn("person", "Plant the beans?", at(1)), Turn("agent", "After the frost.", at(2))),
            place="Garden",
        )
    ]


def test_tools_thoughts_and_files_are_left_out_and_pasted_texts_are_not(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "name": "web_search", "input": {}},
        {"type": "tool_result", "content": []},
        {"type": "text", "text": "It is May."},
        "odd",
    ]
    pasted = [
        {"file_name": "", "extracted_content": "A long text."},
        {"file_name": "paste.txt", "extracted_content": "Another."},
        {"file_name": "report.pdf", "extracted_content": "By somebody else."},
        None,
    ]
    old = "Before.\n```\nThis block is not supported on your current device yet.\n```\nAfter."
    path = export(
        tmp_path,
        [
            claude(
                message("1", "human", "", 1, attachments=pasted),
                {**message("2", "assistant", blocks, 2), "text": "not this"},
                {**message("3", "assistant", [], 3), "text": old},
                message("4", "system", "Be brief.", 4),
                message("5", "human", "", 5, files=[{"file_name": "bean.png"}]),
            )
        ],
    )
    left_out: Counter[str] = Counter()
    (talk,) = talks(claude_export, path, left_out)
    assert [turn.text for turn in talk.turns] == [
        "A long text.\n\nAnother.",
        "I look.\n\nIt is May.",
        "Before.\n\nAfter.",
    ]
    assert left_out["tool calls"] == left_out["tool output"] == left_out["thoughts"] == 1
    assert (left_out["attachments"], left_out["messages without a text"]) == (2, 2)


def test_the_branch_of_claude(tmp_path: Path) -> None:
    messages = [
        message("1", "human", "Ask.", 1, parent_message_uuid=ROOT),
        message("2", "assistant", "Old.", 2, parent_message_uuid="1"),
        message("3", "assistant", "New.", 3, parent_message_uuid="1"),
        message("4", "human", "Other ask.", 4, parent_message_uuid=ROOT),
    ]
    assert told(export(tmp_path, [claude(*messages[:3])])) == ["Ask.", "New."]
    assert told(export(tmp_path, [claude(*messages)])) == ["Other ask."]
    assert told(export(tmp_path, [claude(*messages, current_leaf_message_uuid="2")])) == ["Ask.", "Old."]
    strays = [messages[0], message("5", "assistant", "Stray.", 5, parent_message_uuid="gone")]
    assert told(export(tmp_path, [claude(*strays)])) == ["Ask.", "Stray."]
    twice = [messages[0], messages[0], messages[2], messages[2]]
    assert told(export(tmp_path, [claude(*twice)])) == ["Ask.", "New."]
    unnamed = [{**one, "uuid": None} for one in messages]
    assert told(export(tmp_path, [claude(*unnamed)])) == ["Ask.", "Old.", "New.", "Other ask."]


# Both


GOOD: list[tuple[ModuleType, dict[str, Any]]] = [
    (chatgpt, chat(node("q", "root", text="Here.", minute=1))),
    (claude_export, claude(message("1", "human", "Here.", 1))),
]
KEYS = {chatgpt: "mapping", claude_export: "chat_messages"}
both = pytest.mark.parametrize(("reader", "good"), GOOD, ids=["chatgpt", "claude"])


def named(good: dict[str, Any], name: str) -> dict[str, Any]:
    return {**good, "conversation_id": name, "uuid": name}


@both
def test_a_bad_record_in_the_middle_ends_nothing(tmp_path: Path, reader: ModuleType, good: dict[str, Any]) -> None:
    key = KEYS[reader]
    others: list[Any] = [7, None, {"title": "no key"}, {key: "no tree"}, {key: {}}, {key: []}]
    path = export(tmp_path, [named(good, "a"), *others, named(good, "b")])
    assert [talk.session for talk in talks(reader, path)] == ["a", "b"]
    assert len(bad(reader, path)) == len(others)
    text = path.read_text()
    path.write_text(text.replace("7, null", "7, nul"))
    assert [talk.session for talk in talks(reader, path)] == ["a", "b"]
    path.write_text(text[:-30])
    assert [talk.session for talk in talks(reader, path)] == ["a"]
    assert "breaks off" in bad(reader, path)[-1]


@both
def test_an_id_that_comes_again_is_taken_once_and_told(
    tmp_path: Path, reader: ModuleType, good: dict[str, Any]
) -> None:
    path = export(tmp_path, [good, good])
    assert len(talks(reader, path)) == 1
    assert "this id comes again" in bad(reader, path)[0]


@both
def test_without_an_id_the_first_message_names_it(tmp_path: Path, reader: ModuleType, good: dict[str, Any]) -> None:
    path = export(tmp_path, [{key: value for key, value in good.items() if key not in ("uuid", "conversation_id")}])
    assert [talk.session for talk in talks(reader, path)] == ["q" if reader is chatgpt else "1"]


@both
def test_file_folder_and_zip_and_numbered_parts(tmp_path: Path, reader: ModuleType, good: dict[str, Any]) -> None:
    folder = tmp_path / "export"
    export(folder, [named(good, "b")], "data/conversations-001.json")
    export(folder, [named(good, "a")], "data/conversations-000.json")
    export(folder, {"email": "kim@example.org"}, "user.json")
    export(folder, [named(good, "x")], "data/shared_conversations.json")
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in folder.rglob("*.json"):
            packed.write(path, path.relative_to(tmp_path))
        packed.writestr("__MACOSX/export/conversations.json", "junk")
    assert [talk.session for talk in talks(reader, folder)] == ["a", "b"]
    assert talks(reader, folder) == list(reader.read(tmp_path / "export.zip"))
    assert talks(reader, folder / "data" / "conversations-001.json") == talks(reader, folder)[1:]


@both
def test_a_zip_that_is_spoilt_is_read_as_far_as_it_goes(
    tmp_path: Path, reader: ModuleType, good: dict[str, Any]
) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("conversations-000.json", json.dumps([named(good, "a")]))
        packed.writestr("conversations-001.json", json.dumps([named(good, "b")]))
    data = path.read_bytes()
    where = data.rindex(b"Here.")
    path.write_bytes(data[:where] + b"There" + data[where + 5 :])
    assert next(talk.session for talk in talks(reader, path)) == "a"
    assert "conversations-001.json: it can't be read on: bad crc-32" in bad(reader, path)[-1]


@both
def test_a_file_of_another_kind_is_refused(tmp_path: Path, reader: ModuleType, good: dict[str, Any]) -> None:
    other = next(each for which, each in GOOD if which is not reader)
    for number, records in enumerate([[other], {"a": 1}, [1, 2], "text"]):
        with pytest.raises(UsageError, match="is no export of"):
            reader.read(export(tmp_path, records, f"{number}.json"))
    with pytest.raises(UsageError, match="can't be read"):
        reader.read(tmp_path / "gone.json")
    with pytest.raises(UsageError, match=r"holds no conversations\.json"):
        reader.read(tmp_path)
    (tmp_path / "half.zip").write_bytes(b"PK\3\4 no zip")
    with pytest.raises(UsageError, match="is no export of"):
        reader.read(tmp_path / "half.zip")
    assert list(reader.read(export(tmp_path, []))) == []


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["a", "b", "c"])
CONTENT = st.fixed_dictionaries({}, optional={"content_type": ANY | st.just("text"), "parts": ANY, "text": ANY})
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "author": ANY | st.fixed_dictionaries({"role": ANY | st.just("user")}),
        "content": ANY | CONTENT | st.lists(CONTENT | ANY, max_size=2),
        "metadata": ANY, "create_time": ANY, "recipient": ANY, "channel": ANY, "uuid": ANY | NAMES, "text": ANY,
        "sender": ANY | st.just("human"), "attachments": ANY, "parent_message_uuid": ANY | NAMES, "created_at": ANY,
    },
)  # fmt: skip
NODE = st.fixed_dictionaries(
    {}, optional={"parent": ANY | NAMES, "children": ANY | st.lists(NAMES), "message": ANY | MESSAGE}
)
RECORD = st.fixed_dictionaries(
    {},
    optional={
        "mapping": ANY | st.dictionaries(NAMES, NODE | ANY), "chat_messages": ANY | st.lists(MESSAGE | ANY, max_size=4),
        "current_node": ANY | NAMES, "title": ANY, "name": ANY, "conversation_id": ANY, "uuid": ANY, "project": ANY,
        "gizmo_id": ANY, "create_time": ANY, "created_at": ANY,
    },
)  # fmt: skip


@both
@given(records=st.lists(RECORD | ANY, max_size=5))
def test_any_records_are_read_and_the_good_one_with_them(
    reader: ModuleType, good: dict[str, Any], records: list[Any]
) -> None:
    with TemporaryDirectory() as folder:
        path = export(Path(folder), [*records, named(good, "the good one")])
        found = list(reader.read(path))
        assert list(reader.read(path)) == found
    assert [one.turns[0].text for one in found if isinstance(one, Conversation) and one.session == "the good one"]
    for one in found:
        json.dumps(str(one), ensure_ascii=False).encode()


@both
def test_an_export_that_grew_gives_the_same_conversation(
    tmp_path: Path, reader: ModuleType, good: dict[str, Any]
) -> None:
    more: dict[str, Any] = (
        {"mapping": {**good["mapping"], **dict([node("more", "q", "assistant", minute=2)])}}
        if reader is chatgpt
        else {"chat_messages": [*good["chat_messages"], message("2", "assistant", "more", 2)]}
    )
    (before,), (after,) = (talks(reader, export(tmp_path, [each])) for each in (good, {**good, **more}))
    assert (after.source, after.started, after.turns[:1]) == (before.source, before.started, before.turns)
    assert [turn.text for turn in after.turns] == ["Here.", "more"]


MEASURE = """
import sys
from pathlib import Path
from pyramid_fs.importers import chatgpt
found = sum(len(one.turns) for one in chatgpt.read(Path(sys.argv[1])))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(found, peak.split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from there")
@pytest.mark.slow
def test_two_hundred_megabytes_are_read_in_bounded_memory(tmp_path: Path) -> None:
    path, count = tmp_path / "conversations.json", 0
    with path.open("w") as opened:
        opened.write("[")
        while opened.tell() < 200 << 20:
            nodes = [node(f"n{each}", f"n{each - 1}" if each else "root", text="bean " * 200) for each in range(100)]
            opened.write(("," if count else "") + json.dumps(chat(*nodes, conversation_id=f"c{count}")))
            count += 1
        opened.write("]")
    said = subprocess.check_output([sys.executable, "-c", MEASURE, str(path)], text=True).split()
    assert int(said[0]) == count * 100
    assert int(said[1]) < 80_000, said  # KB, with the interpreter's own 30,000

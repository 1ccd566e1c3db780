"""Reads Claude's data export: what the person and Claude said to each other, on the branch that is shown."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from pyramid_fs.importers import conversations
from pyramid_fs.importers.conversations import (
    AGENT,
    PERSON,
    Bad,
    Conversation,
    Turn,
    branch,
    clean,
    line,
    made,
    newest_leaf,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ROLES = {"human": PERSON, "user": PERSON, "assistant": AGENT}
_KINDS = {"tool_use": "tool calls", "tool_result": "tool output", "thinking": "thoughts"}
_ROOT = re.compile(r"0{8}-0{4}-\w{4}-\w{4}-0{12}")
"""The parent of a first message: nobody."""
_UNSUPPORTED = re.compile(r"```\s*This block is not supported on your current device yet\.?\s*```")
"""What stands in a message's plain text where a tool was called."""
_PASTED = re.compile(r"(paste[\w -]*(\.txt)?)?", re.IGNORECASE)
"""Names of attachments that are no files: a long text that was pasted becomes one."""


def read(path: Path, left_out: Counter[str] | None = None) -> Iterator[Conversation | Bad]:
    """Read the export: its `conversations.json`, the zip, or the folder.

    `left_out` counts what is no turn, by kind. Raise UsageError for a file of another kind.
    """
    counts: Counter[str] = Counter() if left_out is None else left_out
    return conversations.read_export(
        path, "Claude", "chat_messages", lambda record, where: _turned(record, where, counts)
    )


def _turned(record: dict[str, Any], where: str, left_out: Counter[str]) -> Iterator[Conversation | Bad]:
    given = record["chat_messages"]
    if not isinstance(given, list):
        yield Bad(where, "`chat_messages` is no list")
        return
    messages = [one for one in given if isinstance(one, dict)]
    for number, one in enumerate(given, 1):
        if not isinstance(one, dict):
            yield Bad(f"{where}, message {number}", "it is no JSON object")
    session = line(record.get("uuid")) or line(messages[0].get("uuid") if messages else "")
    if not session:
        yield Bad(where, "it has no id")
        return
    project = record.get("project")
    yield made(
        f"claude:{session}",
        [turn for one in _shown(messages, record) if (turn := _turn(one, left_out))],
        title=record.get("name"),
        place=project.get("name") if isinstance(project, dict) else project,
        started=when(record.get("created_at")),
        ended=when(record.get("updated_at")),
    )


def _shown(messages: list[dict[str, Any]], record: dict[str, Any]) -> list[dict[str, Any]]:
    """List the messages of the current branch, the first of each id; all of them where they name no parents."""
    unique: dict[Any, dict[str, Any]] = {}
    for count, one in enumerate(messages):
        unique.setdefault(line(one.get("uuid")) or count, one)
    if not all(isinstance(key, str) for key in unique) or not any(one.get("parent_message_uuid") for one in messages):
        return list(unique.values())
    parents = _parents(unique)
    leaf = line(record.get("current_leaf_message_uuid"))
    if leaf not in parents:
        leaf = newest_leaf(parents, {key: when(one.get("created_at")) for key, one in unique.items()})
    return [unique[key] for key in branch(leaf, parents)]


def _parents(messages: dict[str, dict[str, Any]]) -> dict[str, str | None]:
    """Name each message's parent: where it names one that is not there, the message before it."""
    parents: dict[str, str | None] = {}
    before = None
    for key, one in messages.items():
        named = line(one.get("parent_message_uuid"))
        parents[key] = named if named in messages else None if _ROOT.fullmatch(named) else before
        before = key
    return parents


def _turn(message: dict[str, Any], left_out: Counter[str]) -> Turn | None:
    role = _ROLES.get(line(message.get("sender")))
    text = clean("\n\n".join([*_texts(message, left_out), *_pasted(message, left_out)]))
    if role and text:
        return Turn(role, text, when(message.get("created_at")))
    left_out["messages without a text"] += 1
    return None


def _texts(message: dict[str, Any], left_out: Counter[str]) -> list[str]:
    """Give what a message says, from its blocks; from its plain text where it has none, as in older exports."""
    blocks = message.get("content")
    texts, is_split = [], isinstance(blocks, list) and bool(blocks)
    for block in blocks if isinstance(blocks, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        else:
            left_out[_KINDS.get(kind if isinstance(kind, str) else "", "other blocks")] += 1
    plain = message.get("text")
    if is_split or not isinstance(plain, str):
        return [text for text in texts if text.strip()]
    return [_UNSUPPORTED.sub("", plain)]


def _pasted(message: dict[str, Any], left_out: Counter[str]) -> Iterator[str]:
    """Yield the long texts that were pasted into a message; what was attached as a file is no word of the person's."""
    held = message.get("attachments")
    for one in held if isinstance(held, list) else []:
        text = one.get("extracted_content") if isinstance(one, dict) else None
        if isinstance(text, str) and _PASTED.fullmatch(line(one.get("file_name"))):
            yield text
        else:
            left_out["attachments"] += 1

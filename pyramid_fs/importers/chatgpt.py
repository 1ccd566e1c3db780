"""Reads ChatGPT's export: what the person and the model said to each other, on the branch that is shown."""

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

_ROLES = {"user": PERSON, "assistant": AGENT}
_TEXTS = frozenset({"text", "multimodal_text"})
_HIDDEN = ("is_visually_hidden_from_conversation", "is_user_system_message", "is_contextual_answers_system_message")
_PROJECT = "g-p-"
"""How the id of a project begins; another `gizmo_id` is a model that somebody set up."""
_CITATION = re.compile("\ue200[^\ue200\ue201]{0,400}\ue201|[\ue200-\ue206]|【[^【】\n]{0,80}†[^【】\n]{0,80}】")
"""A mark of the page's own that points to a source."""


def read(path: Path, left_out: Counter[str] | None = None) -> Iterator[Conversation | Bad]:
    """Read the export: its `conversations.json` or the numbered parts of it, the zip, or the folder.

    `left_out` counts what is no turn, by kind. Raise UsageError for a file of another kind.
    """
    counts: Counter[str] = Counter() if left_out is None else left_out
    return conversations.read_export(path, "ChatGPT", "mapping", lambda record, where: _turned(record, where, counts))


def _turned(record: dict[str, Any], where: str, left_out: Counter[str]) -> Iterator[Conversation | Bad]:
    given = record["mapping"]
    if not isinstance(given, dict):
        yield Bad(where, "`mapping` is no object")
        return
    nodes = {name: node for name, node in given.items() if isinstance(node, dict)}
    yield from (Bad(f"{where}, node {line(name)}", "it is no JSON object") for name in given if name not in nodes)
    shown = _shown(nodes, record)
    first = next((line(message.get("id")) for node in shown if (message := _message(node))), "")
    session = line(record.get("conversation_id")) or line(record.get("id")) or first
    if not session:
        yield Bad(where, "it has no id")
        return
    project = line(record.get("gizmo_id"))
    yield made(
        f"chatgpt:{session}",
        [turn for node in shown if (turn := _turn(node, left_out))],
        title=record.get("title"),
        place=project if project.startswith(_PROJECT) else "",
        started=when(record.get("create_time")),
        ended=when(record.get("update_time")),
    )


def _shown(nodes: dict[str, dict[str, Any]], record: dict[str, Any]) -> list[dict[str, Any]]:
    """List the nodes of the current branch, from the first to the current node or else to the newest leaf."""
    parents = _parents(nodes)
    leaf = record.get("current_node")
    if not isinstance(leaf, str) or leaf not in nodes:
        leaf = newest_leaf(parents, {name: when(_message(node).get("create_time")) for name, node in nodes.items()})
    return [nodes[name] for name in branch(leaf, parents)]


def _parents(nodes: dict[str, dict[str, Any]]) -> dict[str, str | None]:
    """Name each node's parent, by its own word or else by the children that others name: either may be missing."""
    above = {
        child: name
        for name, node in nodes.items()
        if isinstance(node.get("children"), list)
        for child in node["children"]
        if isinstance(child, str)
    }
    named = {name: node.get("parent") for name, node in nodes.items()}
    return {
        name: parent if isinstance(parent, str) and parent in nodes else above.get(name)
        for name, parent in named.items()
    }


def _message(node: dict[str, Any]) -> dict[str, Any]:
    found = node.get("message")
    return found if isinstance(found, dict) else {}


def _turn(node: dict[str, Any], left_out: Counter[str]) -> Turn | None:
    message = _message(node)
    if not message:
        return None
    if kind := _is_none_of_both(message):
        left_out[kind] += 1
        return None
    author = message["author"]
    text = clean(_CITATION.sub("", "\n\n".join(_texts(message["content"], left_out))))
    if not text:
        left_out["messages without a text"] += 1
        return None
    return Turn(_ROLES[author["role"]], text, when(message.get("create_time")), line(author.get("name")))


def _is_none_of_both(message: dict[str, Any]) -> str:
    """Say what kind of message is no word of either side; nothing for one that is."""
    author, content, about = message.get("author"), message.get("content"), message.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    if role == "tool":
        return "tool output"
    if not isinstance(role, str) or role not in _ROLES:
        return "messages of the system"
    if isinstance(about, dict) and any(about.get(mark) for mark in _HIDDEN):
        return "hidden messages"
    kind = content.get("content_type", "text") if isinstance(content, dict) else None
    if message.get("recipient") not in (None, "", "all") or kind == "code":
        return "tool calls"
    if message.get("channel") == "analysis" or not isinstance(kind, str) or kind not in _TEXTS:
        return "thoughts, contexts and other contents"
    return ""


def _texts(content: dict[str, Any], left_out: Counter[str]) -> Iterator[str]:
    """Yield the parts that are text: a voice message has one, a picture has none."""
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else [content.get("text")]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text
        elif part is not None:
            left_out["pictures and other parts"] += 1

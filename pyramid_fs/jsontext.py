"""Changes one value in a JSON file's text: what is not touched keeps its bytes; pure."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, TypeAlias

Steps: TypeAlias = "tuple[str | int, ...]"
"""The way to a value in a JSON file: keys, and numbers in lists."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} stands there twice")
        found[key] = value
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")


JSON = json.JSONDecoder(object_pairs_hook=_once, parse_int=str, parse_float=str, parse_constant=_no_number)
"""Numbers are not read: they may be longer than Python takes, and nobody here counts with them."""
_BLANK = re.compile(r"[ \t\r\n]*")


class _Member(NamedTuple):
    """A member of an object, or an item of a list: where it begins, where its value does, where it ends."""

    step: str | int
    start: int
    value: int
    end: int


def _members(text: str, at: int) -> list[_Member]:
    """List what the object or list at a place in a sound text holds."""
    is_object, found = text[at] == "{", list[_Member]()
    at = _past(text, at + 1)
    while text[at] not in "}]":
        start, step = at, len(found)
        if is_object:
            step, at = JSON.raw_decode(text, at)
            at = _past(text, _past(text, at) + 1)
        _, end = JSON.raw_decode(text, at)
        found.append(_Member(step, start, at, end))
        at = _past(text, end)
        at = _past(text, at + 1) if text[at] == "," else at
    return found


def _past(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _find(text: str, steps: Steps) -> _Member | None:
    start = _past(text, 0)
    found: _Member | None = _Member("", start, start, len(text.rstrip()))
    for step in steps:
        found = next((each for each in _members(text, found.value) if each.step == step), None) if found else None
    return found


def put(text: str, steps: Steps, value: Any) -> str:
    """Set a value, with the tables that lead to it."""
    text = text if text.strip() else "{}\n"
    if known := _find(text, steps):
        unit = _unit(text) if "\n" in text[known.value : known.end] else ""
        return text[: known.value] + _spelled(text, value, _indent(text, known.value), unit) + text[known.end :]
    *above, last = steps
    box = _find(text, tuple(above))
    if box is None:
        return put(text, tuple(above), [value] if isinstance(last, int) else {last: value})
    return _insert(text, box, last, value)


def _insert(text: str, box: _Member, step: str | int, value: Any) -> str:
    """Add a member at the end of an object or list, laid out as those before it."""
    inner, line, unit = _members(text, box.value), _indent(text, box.value), _unit(text)
    gap = text[box.value + 1 : inner[0].start] if inner else ""
    if "\n" in gap:
        indent = gap.rpartition("\n")[2]
        lead, close = line_end(text) + indent, ""
    elif inner or not unit:
        indent, unit, close = "", "", ""
        lead = " " if inner and _spaces(text) else ""
    else:
        indent, close = line + unit, line_end(text) + line
        lead = line_end(text) + indent
    key = "" if isinstance(step, int) else json.dumps(step) + (": " if unit or _spaces(text) else ":")
    member = lead + key + _spelled(text, value, indent, unit)
    if inner:
        return text[: inner[-1].end] + "," + member + text[inner[-1].end :]
    return text[: box.value + 1] + member + close + text[box.end - 1 :]


def _spelled(text: str, value: Any, indent: str, unit: str) -> str:
    if not unit:
        return json.dumps(value, ensure_ascii=False, separators=(", ", ": ") if _spaces(text) else (",", ":"))
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", line_end(text) + indent)


def drop(text: str, steps: Steps) -> str:
    """Take a value out, and the tables that are empty without it."""
    *above, last = steps
    box = _find(text, tuple(above))
    inner = _members(text, box.value) if box else []
    at = next(number for number, each in enumerate(inner) if each.step == last)
    if box and len(inner) == 1:
        return drop(text, tuple(above)) if above else text[: box.value + 1] + text[box.end - 1 :]
    start, end = (inner[at].start, inner[at + 1].start) if at + 1 < len(inner) else (inner[at - 1].end, inner[at].end)
    return text[:start] + text[end:]


def _indent(text: str, at: int) -> str:
    """Give the blanks that begin the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Give what a line of the text is indented by; empty for a text on one line."""
    body = text.strip()
    if "\n" not in body and body != "{}":
        return ""
    found = re.search(r"\n([ \t]+)\S", body)
    return found[1] if found else "  "


def _spaces(text: str) -> bool:
    return re.search(r'"\s*:\S', text) is None


def line_end(text: str) -> str:
    """Give the line end of a text: that of its first line."""
    end = text.find("\n")
    return "\r\n" if (end > 0 and text[end - 1] == "\r") or (end < 0 and text.endswith("\r")) else "\n"

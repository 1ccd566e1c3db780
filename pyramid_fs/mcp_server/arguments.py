"""Takes a tool's arguments as they were meant: a number in a text, one name for a list, null for absent; pure.

Clients send lists and numbers as texts, and a note that looks like JSON as what it looks like. What is plain is taken;
anything else gets one sentence that says what to send. A text that was sent as a text stays what it is.
"""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOWN = 60
"""Characters of a wrong value that are shown."""


def meant(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Give the arguments that a tool's JSON schema asks for; raise ValueError with the sentence for whoever called."""
    known: Mapping[str, Any] = schema.get("properties", {})
    found = {}
    for name, value in given.items():
        if name not in known:
            raise ValueError(_unknown(name, known))
        if value is not None:
            found[name] = _as(name, value, known[name])
    lacking = [name for name in schema.get("required", ()) if name not in found]
    if lacking:
        raise ValueError(f"`{lacking[0]}` is missing: send {_what(known[lacking[0]])}")
    return found


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean `{close[0]}`?" if close else f"there are: {', '.join(known)}" if known else "it takes none"
    return f"`{name[:SHOWN]}` is no argument of this tool; {hint}"


def _type(wanted: Mapping[str, Any]) -> str:
    found = wanted.get("type")
    return next((each["type"] for each in wanted.get("anyOf", ()) if each.get("type") != "null"), found or "string")


def _as(name: str, value: Any, wanted: Mapping[str, Any]) -> Any:
    kind = _type(wanted)
    if kind == "array":
        return _list(name, value)
    if kind == "integer":
        return _whole(name, value)
    if kind == "number":
        return _number(name, value)
    return _text(name, value)


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # a text that was cut
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise ValueError(f"`{name}` must be a text; a text that is JSON itself must be sent as a JSON string")


def _whole(name: str, value: Any) -> int:
    if isinstance(value, str):
        try:
            return int(value.strip())
        except ValueError:
            pass
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ValueError(f"`{name}` must be a whole number, not {_shown(value)}")


def _number(name: str, value: Any) -> float:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    raise ValueError(f"`{name}` must be a number, not {_shown(value)}")


def _list(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        value = _listed(value)
    if isinstance(value, (bool, int, float)):
        value = [value]
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
        return [_text(name, item) for item in value]
    raise ValueError(f"`{name}` must be a list of texts, not {_shown(value)}")


def _listed(text: str) -> list[Any]:
    """Read a list out of a text: JSON where it is a list, else one name; none where it is blank."""
    if text.strip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return [text]
        return found if isinstance(found, list) else [text]
    return [text] if text.strip() else []


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = "that"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _what(wanted: Mapping[str, Any]) -> str:
    return {"array": "a list of texts", "integer": "a whole number", "number": "a number"}.get(_type(wanted), "a text")

"""What a line of the protocol means to the SDK, and the answer to one that it would drop without a word; pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from pyramid_fs.mcp_server.wire import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator

CANCELLED = "notifications/cancelled"
LISTENS = "subscriptions/listen"
"""A request that is open for as long as the client listens."""
SHOWN = 160
"""Characters of what is said of a line."""
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def heard(line: str) -> Heard:
    """Say what a line means; what is neither a request nor another message is refused in a sentence."""
    if not line.strip():
        return Heard()
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        return Heard(refusal=_refusal(line, error))
    if isinstance(message, JSONRPCRequest):
        return Heard(asks="" if message.method == LISTENS else str(message.id))
    if not isinstance(message, JSONRPCNotification):
        return Heard()
    if '"id"' in line and any(True for _ in _ids(line)):
        return Heard(refusal=_answer(None, INVALID_REQUEST, "its `id` must be a text or a whole number"))
    return Heard(drops=str((message.params or {}).get("requestId", "")) if message.method == CANCELLED else "")


def id_in(line: str) -> str | int | None:
    """Find the id of a message that can't be read: a text or a whole number; None where there is none."""
    for spelled in _ids(line):
        try:
            found = json.loads(spelled)
        except ValueError:
            continue
        if isinstance(found, (str, int)) and not isinstance(found, bool):
            return found
    return None


def _ids(line: str) -> Iterator[str]:
    """Give what stands behind the key `id` of the outermost object, however deep or broken the rest is."""
    depth, before = 0, ("", "")
    for found in _TOKEN.finditer(line):
        token = found[0]
        if depth == 1 and before == ('"id"', ":"):
            yield token
        depth += (token in {"{", "["}) - (token in {"}", "]"})
        before = before[1], token


def _refusal(line: str, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return _answer(id_in(line), PARSE_ERROR, f"it can't be read: {first['msg']}")
    where = ".".join(str(part) for part in first["loc"][1:])
    return _answer(id_in(line), INVALID_REQUEST, f"it is no message of this protocol: {where}: {first['msg']}")


def _answer(number: str | int | None, code: int, why: str) -> str:
    said = {"code": code, "message": f"nothing was done with this line: {why[:SHOWN]}"}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": said}) + "\n"

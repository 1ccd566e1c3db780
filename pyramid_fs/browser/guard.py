"""Who may ask the browser's server for what: this machine, by its own names, and a form only from its own pages."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONFIRM = "/confirm"
"""The one route that writes."""
MOST_ADDRESS = 8_000
"""Bytes of an address that are read."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # `no-referrer` would have browsers send `Origin: null` with our own form
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    why: str


@dataclass(frozen=True, slots=True)
class Rules:
    """What requests are let through."""

    hosts: frozenset[str]
    """Every spelling of our own address, the port with it."""

    def refusal(self, method: str, path: str, headers: Mapping[str, list[str]]) -> Refusal | None:
        """Say why a request is not answered; None for one that is."""
        if len(headers.get("host", [])) != 1 or headers["host"][0].lower() not in self.hosts:
            return Refusal(421, "This server answers to its own address alone: open the one that it printed.")
        if method not in {"GET", "HEAD"} and (method, path) != ("POST", CONFIRM):
            return Refusal(405, "Pages can be looked at; nothing else can be done here.")
        origins = headers.get("origin", [])
        if method == "POST" and len(origins) != 1:
            return Refusal(403, "The form did not come from a page of this server.")
        if any(origin.lower() not in self._origins for origin in origins):
            return Refusal(403, "Another site asked for this.")
        if method == "POST" and any(site != "same-origin" for site in headers.get("sec-fetch-site", [])):
            return Refusal(403, "Another site asked for this.")
        return None

    @property
    def _origins(self) -> frozenset[str]:
        return frozenset(f"http://{host}" for host in self.hosts)


def rules(host: str, port: int, names: Iterable[str] = ()) -> Rules:
    """Make the rules of a server: its own names with its port; `names` are further ones, taken as they are, too."""
    bare = host.strip("[]")
    own = {"127.0.0.1", "localhost", "[::1]", f"[{bare}]" if ":" in bare else bare, *names}
    with_port = {f"{name}:{port}".lower() for name in own}
    return Rules(frozenset(with_port | {name.lower() for name in names} | (own if port == 80 else set())))  # noqa: PLR2004


def same(given: str, expected: str) -> bool:
    """Compare two tokens in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


class Guarded:
    """Lets a request through where the rules do, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, rules: Rules, refused: Refused) -> None:
        self._app, self._rules, self._refused = app, rules, refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; a web socket is closed before it opens."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_ENCODED]
            await send(message)

        refusal = self._refusal(scope)
        app = self._refused(refusal) if refusal else self._app
        await app(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Refusal | None:
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string", b"")) > MOST_ADDRESS:
            return Refusal(414, "The address is too long.")
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        return self._rules.refusal(scope["method"], scope["path"], headers)


if TYPE_CHECKING:
    from collections.abc import Callable

    Refused = Callable[[Refusal], ASGIApp]

_ENCODED = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

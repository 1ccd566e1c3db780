"""The server over HTTP: streamable, on loopback, behind a bearer token, with Host and Origin checked."""

from __future__ import annotations

import contextlib
import hmac
import logging
import os
import secrets
from typing import TYPE_CHECKING, NamedTuple

import uvicorn
from mcp.server import streamable_http
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse

from pyramid_fs import files, loopback
from pyramid_fs.errors import ExistsAlready, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from pyramid_fs.mcp_server.server import Server

PATH = "/mcp"
LAST_ANSWERS = 1
"""Seconds that open connections have when the server is told to end."""
TOKEN_BYTES = 32


class Place(NamedTuple):
    """Where the server listens."""

    host: str = "127.0.0.1"
    port: int = 8931
    names: tuple[str, ...] = ()
    """Further names that clients call the host by."""

    @property
    def url(self) -> str:
        """What clients are given."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{PATH}"


def token(path: Path, given: str) -> str:
    """Give the token that clients must send: the one given, else the one kept in a file of the user's, made once."""
    if given:
        return given
    try:
        kept = files.read(path).decode("ascii", "replace").strip()
    except FileNotFoundError:
        made = secrets.token_urlsafe(TOKEN_BYTES)
        before = os.umask(0o077)  # nobody else reads it, not even for a moment
        try:
            files.create(path, f"{made}\n".encode())
        except ExistsAlready:  # another server has just made one
            return token(path, given)
        finally:
            os.umask(before)
        path.chmod(0o600)
        return made
    if not kept:
        raise UsageError(f"{path} is empty: remove it, and a new token is made")
    return kept


class Guarded:
    """Lets through what brings the token; answers 401 to all else."""

    def __init__(self, app: ASGIApp, expected: str) -> None:
        self._app, self._expected = app, f"Bearer {expected}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or self._is_allowed(scope):
            with contextlib.suppress(ClientDisconnect):  # nobody is there to be told
                await self._app(scope, receive, send)
            return
        refused = PlainTextResponse("a bearer token is needed\n", 401, {"WWW-Authenticate": "Bearer"})
        await refused(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def _is_told(record: logging.LogRecord) -> bool:
    """Whether a record of the SDK's is worth a line: that a client went in the middle of a request is not."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


def app(server: Server, place: Place, expected: str) -> ASGIApp:
    """Make the application: it answers to the names of its place alone, so that no web page can reach it by another."""
    hosts = {place.host, "127.0.0.1", "localhost", "[::1]", *place.names}
    allowed = [f"{host}:{place.port}" for host in sorted(hosts)] + sorted(place.names)
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=allowed,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in allowed],
    )
    inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=place.host)
    return Guarded(inner, expected)


def serve(made: ASGIApp, place: Place, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; raise UsageError where the port is taken."""
    listening = loopback.listen(place.host, place.port)
    logging.getLogger(streamable_http.__name__).addFilter(_is_told)
    config = uvicorn.Config(
        made, log_config=None, log_level="warning", access_log=False, timeout_graceful_shutdown=LAST_ANSWERS
    )
    ready()
    uvicorn.Server(config).run(sockets=[listening])

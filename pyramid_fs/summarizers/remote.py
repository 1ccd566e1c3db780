"""A call to a model over the network: its key, the time it may take, and a plain name for each way it can fail."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.settings import check_url, is_near
from pyramid_fs.summarizers import Throttled
from pyramid_fs.summarizers.command import run

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine, Mapping

    from pyramid_fs.settings import SummarizerSettings
    from pyramid_fs.summarizers import Request

_C = TypeVar("_C")

TAKES = 60_000
"""Characters given at once: some 15,000 tokens, which every current model takes."""
TOKENS, LEAST_TOKENS = 4, 4096
"""The most that a model may write: so many tokens a character of the target, and no fewer. In the tightest script a
letter is about two tokens, so no summary that could be stored is ever cut."""
SHOWN = 200
"""Characters of a server's complaint that are passed on."""
KEY_SECONDS = 20.0
"""Time for a program that prints the key."""
GRACE = 5.0
"""Seconds that ending a call may take once its time is up."""
LONGEST_WAIT = 86_400.0
"""Seconds: a server that says to wait longer means tomorrow."""
HERE = frozenset({"localhost", "::1"})
"""This machine by name; so is whatever begins with `127.`."""
NO_KEY = "no-key-needed"
"""Sent to a server of one's own, since the SDKs insist on a key."""


_STARTING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Vendor:
    """What differs between vendors."""

    name: str
    variable: str
    """The environment variable that the SDK reads its key from."""
    address: str
    """Variable that the SDK reads its base URL from."""
    home: str
    """The base URL where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back; status 0 where nothing did."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    """Why nothing came."""


LATE = Reply(0, trouble="late")
REFUSED = Reply(0, trouble="refused")
BROKEN = Reply(0, trouble="broken")


def unreached(cause: BaseException | None) -> Reply:
    """Tell why no reply came from what the SDK was told."""
    import httpx2

    return REFUSED if isinstance(cause, httpx2.ConnectError) else BROKEN


@cache
def tls() -> ssl.SSLContext:
    """Make what connections are checked by, once: reading the authorities takes 70 ms a client."""
    import httpx2

    return httpx2.create_ssl_context()


class Endpoint:
    """Where a vendor's models are asked, with which key; any number of threads may ask at once."""

    def __init__(self, vendor: Vendor, chosen: SummarizerSettings) -> None:
        self.vendor, self.model, self.timeout = vendor, chosen.model, chosen.timeout
        self.base = chosen.base_url or os.environ.get(vendor.address, "").strip() or vendor.home
        self._named = "summarizer.base_url" if chosen.base_url else vendor.address
        self._key_command = chosen.key_command
        self._printed, self._lock = "", threading.Lock()

    @property
    def shown(self) -> str:
        """The address, without what might be secret in it."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path.rstrip('/')}"

    @property
    def _is_here(self) -> bool:
        """Whether it is a server on this machine: no proxy reaches that."""
        host = (urlsplit(self.base).hostname or "").rstrip(".")
        return host in HERE or host.startswith("127.")

    @property
    def by_way(self) -> str:
        """Say by which way it is asked, where that is not the straight one."""
        scheme = urlsplit(self.base).scheme
        named = "" if self._is_here else dict(_proxies()).get(scheme) or dict(_proxies()).get("all", "")
        return f", asked through the proxy that the environment names ({urlsplit(named).hostname})" if named else ""

    def client(self, make: Callable[..., _C], key: str) -> _C:
        """Make the SDK's client for a call: over connections that are kept, and with no retry of its own."""
        http = _connections(self.vendor.name, os.getpid(), () if self._is_here else _proxies())
        return make(api_key=key, base_url=self.base, max_retries=0, timeout=self.timeout, http_client=http)

    def ask(self, send: Callable[[str], Coroutine[Any, Any, Reply]]) -> bytes:
        """Send a request with the key and give the body of the answer; SummarizerFailed says what went wrong."""
        check_url(self.base, self._named)
        key = self._key()
        reply = self._reply(send, key)
        if reply.status == 200:  # noqa: PLR2004
            return _without(reply.body, key)
        if reply.status == 401:  # noqa: PLR2004
            self._printed = ""  # it may have been replaced: the next call has it printed again
        raise _failure(reply, self, key)

    def _reply(self, send: Callable[[str], Coroutine[Any, Any, Reply]], key: str) -> Reply:
        try:
            # some seconds on a busy machine, which are not the server's: they would use up a short timeout
            importlib.import_module(self.vendor.name)
            waiting = asyncio.run_coroutine_threadsafe(_bounded(send(key), self.timeout), _loop())
            try:
                return waiting.result(self.timeout + GRACE)
            finally:
                waiting.cancel()
        except (TimeoutError, CancelledError):
            return LATE
        except (OSError, ValueError, ImportError) as error:  # a certificate file or a proxy that is named and not there
            kind = type(error).__name__
        raise SummarizerFailed(f"{self.shown} can't be asked ({kind}): check the proxy and certificate variables")

    def _key(self) -> str:
        key = os.environ.get(self.vendor.variable, "").strip() or self._from_command()
        if not key and is_near(self.base):
            return NO_KEY
        remedy = f"set {self.vendor.variable}, or `summarizer.key_command` in config.toml"
        if not key:
            raise SummarizerFailed(f"there is no key for {self.shown}: {remedy}")
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise SummarizerFailed(f"what is given as the key for {self.shown} is no key (one word): {remedy}")
        return key

    def _from_command(self) -> str:
        if not self._key_command:
            return ""
        with self._lock:
            if not self._printed:
                self._printed = _print_key(self._key_command)
            return self._printed


def _print_key(command: tuple[str, ...]) -> str:
    """Have a program print the key; what it says beside that is not passed on, since the key may stand in it."""
    code, said, _ = run(command, b"", KEY_SECONDS)
    key = said.decode("utf-8", "replace").strip()
    if code or not key:
        raise SummarizerFailed(
            f"`summarizer.key_command` ({command[0]}) printed no key (it ended with {code}): run it in a terminal"
        )
    return key


# One thread runs all calls of a process: a call whose time is up is ended there at any point, its connection with it


async def _bounded(call: Coroutine[Any, Any, Reply], seconds: float) -> Reply:
    try:
        async with asyncio.timeout(seconds):
            return await call
    except TimeoutError:
        return LATE


def _proxies() -> tuple[tuple[str, str], ...]:
    from urllib.request import getproxies  # the SDK has imported it by now

    return tuple(sorted(getproxies().items()))


@cache
def _connections(sdk: str, _: int, proxies: tuple[tuple[str, str], ...]) -> Any:
    """Keep the connections of a process open between calls, as each costs a handshake; others for other proxies."""
    make = importlib.import_module(sdk).DefaultAsyncHttpxClient
    return make(follow_redirects=False, verify=tls(), trust_env=bool(proxies))


def _loop() -> asyncio.AbstractEventLoop:
    with _STARTING:  # a cache alone lets two threads that come at once start two
        return _started(os.getpid())


@lru_cache(maxsize=1)
def _started(_: int) -> asyncio.AbstractEventLoop:
    """Start the thread, once a process (a forked one has no threads of its parent)."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="pyramid-calls", daemon=True).start()
    return loop


# Failing


def _failure(reply: Reply, end: Endpoint, key: str) -> SummarizerFailed:
    at, status, said = end.shown, reply.status, _said(reply.body, key)
    if not status:
        return SummarizerFailed(_no_reply(reply, end))
    if status in {429, 503, 529}:
        return Throttled(f"{at} is busy ({status}){said}", retry_after(reply.headers, datetime.now(UTC)))
    if status in {401, 403}:  # what it says may hold half the key
        remedy = f"set {end.vendor.variable}, or `summarizer.key_command` in config.toml"
        return SummarizerFailed(f"{at} did not accept the key ({status}): {remedy}")
    if status == 404:  # noqa: PLR2004
        return SummarizerFailed(f"{at} has no model {end.model!r} (404){said}: check summarizer.model and base_url")
    if 300 <= status < 400:  # noqa: PLR2004
        to = _clean(urlsplit(reply.headers.get("location", "")).netloc.rpartition("@")[2] or "elsewhere", key)
        return SummarizerFailed(f"{at} points to {to} ({status}), where no key is sent: set summarizer.base_url")
    return SummarizerFailed(f"{at} {'failed' if status >= 500 else 'refused'} ({status}){said}")  # noqa: PLR2004


def _no_reply(reply: Reply, end: Endpoint) -> str:
    if reply.trouble == "late":
        return f"{end.shown} gave no answer within {end.timeout:g} seconds"
    if reply.trouble == "refused":
        return f"nothing answers at {end.shown}{end.by_way}: is it running?"
    return f"{end.shown} broke off before its answer was whole"


def _said(body: bytes, key: str) -> str:
    """Give what a server says of a failure, if that is a message and no page."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = found.get("error", found) if isinstance(found, dict) else found
    told = error.get("message") if isinstance(error, dict) else error
    return f": {_clean(told, key)}" if isinstance(told, str) and told.strip() else ""


def _clean(text: str, key: str) -> str:
    plain = "".join(sign if sign.isprintable() else " " for sign in text.replace(key, "[key]"))
    return " ".join(plain.split())[:SHOWN]


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read how many seconds to wait, from seconds or a date; None where it is not said or makes no sense."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return min(max(seconds, 0.0), LONGEST_WAIT) if isfinite(seconds) else None
    return _until(headers.get("retry-after", ""), now)


def _until(said: str, now: datetime) -> float | None:
    from email.utils import parsedate_to_datetime  # for the servers that name a date alone

    try:
        at = parsedate_to_datetime(said)
        seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT)


# Reading an answer


def _without(body: bytes, key: str) -> bytes:
    """Take the key out of an answer, also where JSON's escapes hide it."""
    if key == NO_KEY:
        return body
    with suppress(ValueError, RecursionError):
        body = json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return body.replace(key.encode(), b"[key]").replace(json.dumps(key)[1:-1].encode(), b"[key]")


def most_tokens(request: Request) -> int:
    """Give the most tokens that a model may write."""
    return max(LEAST_TOKENS, TOKENS * request.target)


def table(body: bytes, at: str) -> dict[str, Any]:
    """Read the body of an answer."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SummarizerFailed(f"{at} answered with what is no JSON: check summarizer.base_url")
    if found.get("error"):
        raise SummarizerFailed(f"{at} failed{_said(body, NO_KEY)}")
    return found


def joined(content: Any) -> str:
    """Give the text of an answer, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        part["text"]
        for part in parts
        if isinstance(part, dict) and part.get("type", "text") == "text" and isinstance(part.get("text"), str)
    )


def count(usage: Any, name: str) -> int | None:
    """Give a number of tokens; None where it is not said."""
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None

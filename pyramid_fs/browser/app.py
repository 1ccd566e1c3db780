"""The browser's server: routes to pages, made beside each other, none of them waited for long."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import parse_qs, unquote

import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from pyramid_fs.browser import guard, pages, writing
from pyramid_fs.browser.addresses import Served
from pyramid_fs.browser.reading import Reader, Shown, digest
from pyramid_fs.desk import MOST, Desk
from pyramid_fs.errors import DiskError, NoSuchHandle, NoSuchModel, PyramidError, RefusedWrite, UsageError
from pyramid_fs.notes import Curated
from pyramid_fs.paging import Face

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp

    Make: TypeAlias = Callable[[Reader], Shown]

PATIENCE = 2.5
"""Seconds that a page is waited for; one that takes longer (an index that is built) says so, and comes by itself."""
AGAIN = 2
"""Seconds after which a browser asks again for such a page."""
FRESH = 30.0
"""Seconds for which a page that nobody waited for is kept; after that it is made again, as the vault is then."""
KEPT = 16
"""So many pages are being made at once, at the most; others are told to ask again."""
MOST_FORM = 64 * 1024
LAST_ANSWERS = 1
"""Seconds that open connections have when the server is told to end."""
STATUS = {NoSuchHandle: 404, NoSuchModel: 404, UsageError: 400, RefusedWrite: 409, DiskError: 503}


class Asked(NamedTuple):
    """One page that is asked for."""

    key: str
    """Its address."""
    here: str
    make: Make


class Made(NamedTuple):
    """A page, and when it was made."""

    response: Response
    at: float


class Browser:
    """The pages of one vault; at most one thread makes a page that several ask for."""

    def __init__(self, root: Path, *, patience: float = PATIENCE) -> None:
        self.token = secrets.token_urlsafe(32)
        """What the forms of this process carry."""
        self._desk, self._patience, self._at = Desk(root, Face()), patience, Served()
        self._threads = ThreadPoolExecutor(MOST, thread_name_prefix="page")
        self._making: dict[str, Future[Made]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Make no further page; one that is being made is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._desk.close()

    # Making pages

    async def answer(self, asked: Asked) -> Response:
        """Give a page, or one that says that it is being made."""
        future = self._begun(asked)
        if future is None:
            return self._waiting(503, "Many pages are being made.")
        done, _ = await asyncio.wait([asyncio.wrap_future(future)], timeout=self._patience)
        if not done:
            return self._waiting(202, "This takes a while: the vault is large, or its index is being built.")
        with self._lock:
            self._making.pop(asked.key, None)
        return future.result().response

    def _begun(self, asked: Asked) -> Future[Made] | None:
        """Begin a page, or find it begun; None where too many are."""
        with self._lock:
            for key in [key for key, future in self._making.items() if _is_stale(future)]:
                del self._making[key]
            if asked.key in self._making:
                return self._making[asked.key]
            if len(self._making) >= KEPT:
                return None
            self._making[asked.key] = future = self._threads.submit(self._made, asked)
            return future

    def _made(self, asked: Asked) -> Made:
        return Made(self._response(asked), time.monotonic())

    def _response(self, asked: Asked) -> Response:
        try:
            with self._desk.borrow() as memory:
                reader = Reader(memory, self._at)
                try:
                    shown = asked.make(reader)
                except PyramidError as error:
                    shown = trouble(error)
                except FileNotFoundError:
                    shown = trouble(NoSuchHandle("the file is gone"))
                return HTMLResponse(writing.write(shown, memory, self._at, asked.here), shown.status)
        except (PyramidError, OSError) as error:  # the vault itself can't be opened
            return bare(503, str(error))

    def _waiting(self, status: int, why: str) -> Response:
        return bare(status, f"{why} This page asks again by itself.", {"Refresh": str(AGAIN)})

    # Confirming

    async def confirm(self, request: Request) -> Response:
        """Confirm a record as it was shown: the one thing that is written here."""
        body = await _body(request)
        if body is None:
            return bare(413, "The form is too long.")
        form = {key: values[0] for key, values in parse_qs(body.decode("utf-8", "replace")).items()}
        if not guard.same(form.get("token", ""), self.token):
            return bare(403, "The form is of another run of this server: load the page again, and look once more.")
        path, shown = unquote(form.get("file", "")), form.get("digest", "")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._confirmed, path, shown)

    def _confirmed(self, path: str, shown: str) -> Response:
        with self._desk.borrow() as memory:
            try:
                confirm(Reader(memory, self._at), path, shown)
            except PyramidError as error:
                return HTMLResponse(writing.write(trouble(error), memory, self._at), trouble(error).status)
            return RedirectResponse(self._at.file(path), 303)


def _is_stale(future: Future[Made]) -> bool:
    """Whether a page was made a while ago, and nobody came for it; one that broke is made again, too."""
    return future.done() and (future.exception() is not None or time.monotonic() - future.result().at > FRESH)


def confirm(reader: Reader, path: str, shown: str) -> None:
    """Confirm the record at a path; raise RefusedWrite where the file is not as it was shown."""
    memory = reader.memory
    memory.census.refresh()
    known = reader.known(path)
    if not isinstance(known, Curated):
        raise NoSuchHandle(f"{path[:200]!r} is no record that can be confirmed")
    if not shown or not guard.same(shown, digest(memory, path)):
        raise RefusedWrite(f"{known.handle} changed since it was shown: nothing was written; look at it again")
    memory.confirm([path.removesuffix(".md")], shown=shown)  # it looks once more, at the bytes that it changes


def trouble(error: PyramidError) -> Shown:
    """Make an error a page that says it."""
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    title = {404: "Not found", 400: "Not understood", 409: "Nothing was written"}.get(status, "That did not work")
    return Shown(
        "said.html", {"title": title, "said": f"{error}", "is_alert": True, "next": ("/", "To the map")}, status
    )


def bare(status: int, why: str, headers: dict[str, str] | None = None) -> HTMLResponse:
    """Make a page that needs no vault."""
    said = writing.bare(why)
    return HTMLResponse(said, status, headers)


async def _body(request: Request) -> bytes | None:
    """Read a form; None for one that is too long."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_FORM:
            return None
    return body


# Routes


def _page(request: Request) -> int:
    """Read the number of a page; 0, which no list has, for what is no number."""
    given = request.query_params.get("page", "1")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 8 else 0  # noqa: PLR2004


def asked_for(request: Request, token: str) -> Asked:
    """Say which page a request asks for."""
    path, page, query = request.url.path, _page(request), dict(request.query_params)
    words = {key: str(value) for key, value in request.path_params.items()}
    here = path.strip("/") or "map"
    makers: dict[str, Make] = {
        "map": pages.vault_map,
        "recall": lambda reader: pages.recall(reader, query, page),
        "topics": lambda reader: pages.topics(reader, page),
        "sessions": lambda reader: pages.sessions(reader, page),
        "entities": lambda reader: pages.records(reader, "entities", page),
        "procedures": lambda reader: pages.records(reader, "procedures", page),
        "pending": lambda reader: pages.pending(reader, page, token),
        "status": pages.status,
        "verify": pages.verify,
        "doctor": pages.doctor,
        "/model": lambda reader: pages.model(reader, words["name"]),
        "/part": lambda reader: pages.part(reader, words["name"], words["part"], page),
        "/file": lambda reader: pages.file(reader, words["path"], page, token),
        "/topic": lambda reader: pages.topic(reader, words["slug"]),
    }
    kind = next((kind for kind, key in _KINDS.items() if key <= words.keys()), here)
    return Asked(f"{path}?{request.url.query}", here, makers[kind])


_KINDS = {"/part": {"name", "part"}, "/model": {"name"}, "/file": {"path"}, "/topic": {"slug"}}


def app(browser: Browser, rules: guard.Rules) -> ASGIApp:
    """Make the application: every page by GET, Confirm by POST, and nothing else."""

    async def page(request: Request) -> Response:
        return await browser.answer(asked_for(request, browser.token))

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in writing.STATIC:
            return await lost(request)
        return Response(writing.static(name), media_type=writing.STATIC[name])

    async def lost(request: Request, _: Exception | None = None) -> Response:
        return await browser.answer(Asked(f"{request.url.path}?lost", "", _lost))

    async def broken(_: Request, __: Exception) -> Response:
        return bare(500, "This page can't be made: a fault of the program. Its log says more.")

    routes = [
        *(Route(f"/{'' if name == 'map' else name}", page) for name, _ in writing.MENU),
        Route("/model/{name}", page),
        Route("/model/{name}/{part}", page),
        Route("/file/{path:path}", page),
        Route("/topic/{slug:path}", page),
        Route("/static/{name}", static),
        Route(guard.CONFIRM, browser.confirm, methods=["POST"]),
    ]
    inner = Starlette(routes=routes, exception_handlers={404: lost, 405: _only_pages, 500: broken})
    inner.router.redirect_slashes = False
    return guard.Guarded(inner, rules, lambda refusal: bare(refusal.status, refusal.why, _allow(refusal)))


def _lost(_: Reader) -> Shown:
    return trouble(NoSuchHandle("there is no such page; the map shows the models, and Recall finds texts"))


async def _only_pages(_: Request, __: Exception) -> Response:
    return bare(405, "A form goes here, and only by its button.", {"Allow": "POST"})


def _allow(refusal: guard.Refusal) -> dict[str, str]:
    return {"Allow": "GET, HEAD"} if refusal.status == 405 else {}  # noqa: PLR2004


def serve(made: ASGIApp, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    config = uvicorn.Config(
        made, log_level="warning", access_log=False, timeout_graceful_shutdown=LAST_ANSWERS, server_header=False
    )
    ready()
    uvicorn.Server(config).run(sockets=[listening])

"""Where each page is: by its path on the server, by its file in an exported site; pure."""

from __future__ import annotations

import hashlib
import re
from typing import Protocol
from urllib.parse import quote, urlencode

MODEL, FILE, TOPIC, STATIC = "model", "file", "topic", "static"
_PLAIN = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:$|-))[a-z0-9][a-z0-9-]{0,99}")


class Addresses(Protocol):
    """Gives the addresses that pages link to."""

    is_live: bool
    """Whether a server answers: it searches, confirms, and opens files."""

    def page(self, name: str, page: int = 1, **asked: object) -> str:
        """Give a page of the vault as a whole: `map`, `topics`, `status`."""
        ...

    def model(self, name: str, part: str = "", page: int = 1) -> str:
        """Give a model's page, or a page of a whole part of it: a tier's number, `notes`, `tail`."""
        ...

    def file(self, path: str, part: int = 1) -> str:
        """Give a file's page; empty for a name that no address can hold."""
        ...

    def topic(self, slug: str) -> str:
        """Give a topic's page."""
        ...

    def static(self, name: str) -> str:
        """Give a file that comes with the pages."""
        ...


class Served:
    """Addresses on the server."""

    is_live = True

    def page(self, name: str, page: int = 1, **asked: object) -> str:
        """Give a page of the vault as a whole."""
        return f"/{'' if name == 'map' else name}{_asked(page, asked)}"

    def model(self, name: str, part: str = "", page: int = 1) -> str:
        """Give a model's page, or a page of a whole part of it."""
        return f"/{MODEL}/{_quoted(name)}{f'/{part}' if part else ''}{_asked(page, {})}"

    def file(self, path: str, part: int = 1) -> str:
        """Give a file's page."""
        return f"/{FILE}/{found}{_asked(part, {})}" if (found := _quoted(path, "/")) else ""

    def topic(self, slug: str) -> str:
        """Give a topic's page."""
        return f"/{TOPIC}/{_quoted(slug)}"

    def static(self, name: str) -> str:
        """Give a file that comes with the pages."""
        return f"/{STATIC}/{name}"


def _asked(page: int, asked: dict[str, object]) -> str:
    given = {**asked, **({"page": page} if page > 1 else {})}
    words = urlencode({key: value for key, value in given.items() if value not in ("", None)}, errors="replace")
    return f"?{words}" if words else ""


def _quoted(text: str, safe: str = "") -> str:
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:  # bytes that are not UTF-8: such a file is found on disk alone
        return ""


class Exported:
    """Addresses in an exported site, relative to a page that lies `depth` folders down."""

    is_live = False

    def __init__(self, depth: int = 0) -> None:
        self._up = "../" * depth

    def page(self, name: str, page: int = 1, **_: object) -> str:
        """Give a page of the vault as a whole."""
        return f"{self._up}{'index' if name == 'map' else name}{_number(page)}.html"

    def model(self, name: str, part: str = "", page: int = 1) -> str:
        """Give a model's page, or a page of a whole part of it."""
        return f"{self._up}{MODEL}/{file_name(name)}/{part or 'index'}{_number(page)}.html"

    def file(self, path: str, part: int = 1) -> str:
        """Give a file's page: named by its handle, told apart from its namesakes by its path."""
        handle = path.rsplit("/", 1)[-1].removesuffix(".md")
        return f"{self._up}{FILE}/{file_name(handle, path)}{_number(part)}.html"

    def topic(self, slug: str) -> str:
        """Give a topic's page."""
        return f"{self._up}{TOPIC}/{file_name(slug)}.html"

    def static(self, name: str) -> str:
        """Give a file that comes with the pages."""
        return f"{self._up}{STATIC}/{name}"


def _number(page: int) -> str:
    return f".{page}" if page > 1 else ""


def file_name(name: str, path: str = "") -> str:
    """Spell a name as a file's on every system; with a path, so that no two files share one.

    >>> file_name("moving-house"), file_name("C# tips")
    ('moving-house', 'x.e0f9e7b2f1')
    """
    mark = hashlib.sha256((path or name).encode("utf-8", "surrogatepass")).hexdigest()[:10]
    if _PLAIN.fullmatch(name):
        return f"{name}.{mark}" if path else name
    return f"x.{mark}"

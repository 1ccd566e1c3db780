"""Wikilinks: the text between the brackets, and what handle it means."""

from __future__ import annotations

import re
import unicodedata

_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_EMBED = re.compile(r"\s*!\[\[([^\[\]\n#]+)\]\]\s*")
_MEDIA = re.compile(r"\.(?!md$)[a-z0-9]{2,5}$", re.IGNORECASE)


def spell(handle: str) -> str:
    """Write a handle as a wikilink."""
    return f"[[{handle}]]"


def target(text: str) -> str:
    """Read a link with or without brackets, alias, heading, path and `.md`: the handle it means, NFC, with its path.

    >>> target("[[notes/Beans.md|the long one]]")
    'notes/Beans'
    """
    found = _LINK.search(text)
    inner = (found[1] if found else text).split("|")[0].split("#")[0].strip().strip("/")
    inner = inner.replace("\\", "/").removeprefix("./")
    return unicodedata.normalize("NFC", re.sub(r"\.md$", "", inner, flags=re.IGNORECASE))


def targets(text: str) -> list[str]:
    """List the handles of all links in a text, in their order, each once."""
    return list(dict.fromkeys(target(found[0]) for found in _LINK.finditer(text)))


def embed(body: str) -> str:
    """Give the link of a body that is exactly one embed of a note; empty for a body of any other form.

    A heading's or an image's embed is text like any other.
    """
    found = _EMBED.fullmatch(body) if len(body) < 1000 else None  # noqa: PLR2004  (no path is longer)
    if not found or _MEDIA.search(found[1].split("|")[0].strip()):
        return ""
    return target(found[0])


def name(handle: str) -> str:
    """Give a handle's last part: the file's name without `.md`."""
    return handle.rsplit("/", 1)[-1]

"""Wikilinks: the text between the brackets, and what handle it means."""

from __future__ import annotations

import re
import unicodedata

_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_EMBED = re.compile(r"\s*!\[\[([^\[\]\n#]+)\]\]\s*")
_MEDIA = re.compile(  # what Obsidian shows in place and is no note; `v1.25` and `St.John` are names
    r"\.(avif|bmp|gif|heic|jpe?g|png|svg|tiff?|webp|3gp|flac|m4a|mp3|ogg|opus|wav|mkv|mov|mp4|ogv|webm|pdf|base|canvas)$",
    re.IGNORECASE,
)


def spell(handle: str) -> str:
    """Write a handle as a wikilink."""
    return f"[[{handle}]]"


def target(text: str) -> str:
    """Read a link with or without brackets, alias, path and `.md`: the handle it means, NFC, with its path.

    A `#` is a part of the name: none of the store's links goes to a heading, and a person may call a note `C# tips`.

    >>> target("[[notes/Beans.md|the long one]]")
    'notes/Beans'
    """
    inner = _between(text)
    inner = (text if inner is None else inner.split("|")[0]).strip()
    # in a table Obsidian writes the alias behind `\|`
    inner = inner.replace("\\", "/").strip("/").removeprefix("./")
    return unicodedata.normalize("NFC", re.sub(r"\.md$", "", inner, flags=re.IGNORECASE))


def as_named(text: str) -> tuple[str, ...]:
    r"""Read a handle as it stands, without its brackets and with: a name may begin with a blank, or hold a `\`.

    >>> as_named("[[ lead]]")
    (' lead', '[[ lead]]')
    """
    inner = _between(text)
    return tuple(unicodedata.normalize("NFC", one.removesuffix(".md")) for one in (inner, text) if one is not None)


def all_of(text: str) -> list[str]:
    """Give the handles of all links in a text, in their order."""
    return [target(f"[[{inner}]]") for inner in _LINK.findall(text)]


def _between(text: str) -> str | None:
    """Give what stands between the brackets of a text's first link; a name may hold brackets of its own."""
    whole = text.strip()
    if whole.startswith("[[") and whole.endswith("]]") and "[[" not in whole[2:]:
        return whole[2:-2]
    found = _LINK.search(text)
    return found[1] if found else None


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

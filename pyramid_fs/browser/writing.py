"""Pages as text: the templates, and what every page says around its own."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

from pyramid_fs.browser.markup import seen

if TYPE_CHECKING:
    from pyramid_fs.browser.addresses import Addresses
    from pyramid_fs.browser.reading import Shown
    from pyramid_fs.memory import Memory

MENU = (
    ("map", "Map"),
    ("recall", "Recall"),
    ("topics", "Topics"),
    ("sessions", "Sessions"),
    ("entities", "Entities"),
    ("procedures", "Procedures"),
    ("pending", "Pending"),
    ("status", "Status"),
    ("verify", "Verify"),
    ("doctor", "Doctor"),
)
"""The pages of a vault as a whole, in the order in which every page lists them."""
LIVE_ALONE = frozenset({"recall"})
"""Those that need a server."""
STATIC = {"style.css": "text/css", "browse.js": "text/javascript", "icon.svg": "image/svg+xml"}
"""Files that come with the pages, and their types."""


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("pyramid_fs.browser"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        finalize=_seen,
    )
    made.filters["coded"] = _coded
    return made


def _coded(text: str) -> Markup:
    """Show what stands between backticks as code."""
    parts = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(p) if at % 2 else escape(p) for at, p in enumerate(parts))


def _seen(value: object) -> object:
    """Show the signs that hide in any text of the vault, wherever a template prints it."""
    return seen(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def write(shown: Shown, memory: Memory, at: Addresses, here: str = "", made: str = "") -> str:
    """Make a page; `here` is its name in the menu, `made` the day of an export."""
    root = memory.vault.root
    return (
        _templates()
        .get_template(shown.template)
        .render(
            shown.values,
            at=at,
            here=here,
            made=made,
            menu=[(name, label) for name, label in MENU if at.is_live or name not in LIVE_ALONE],
            vault_name=root.name or "vault",
            vault_path=str(root) if at.is_live else root.name,
        )
    )


def static(name: str) -> bytes:
    """Read a file that comes with the pages; `name` is one of STATIC."""
    return resources.files("pyramid_fs.browser").joinpath("static", name).read_bytes()


def bare(said: str) -> str:
    """Make a page of one sentence, which needs no vault."""
    return _templates().get_template("bare.html").render(said=said)

"""What a model is asked: the rules, the length, and the sources quoted as data."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyramid_fs.summarizers import Item, Request

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def text(request: Request, template: str | None = None) -> str:
    """Write the whole of what a model reads for one summary."""
    return f"{rules(request, template)}\n{sources(request)}"


def rules(request: Request, template: str | None = None) -> str:
    """Write what stands above the sources, from a vault's own template (its owner's, trusted elsewhere) or ours.

    `{model}`, `{description}`, `{about}`, `{target}`, `{count}`, `{what}` and `{tier}` are set in; other braces stay.
    """
    values = _values(request)
    kept = template or request.template or _ours("notes" if request.tier == 0 else "rollups")
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), kept).rstrip() + "\n"


def sources(request: Request) -> str:
    """Quote the sources, and say that they are over and what was wrong with an answer before."""
    return "\n".join([*(_item(item) for item in request.items), closing(request), *_complaint(request)])


def closing(request: Request) -> str:
    """Say that the sources are over, and what to do now."""
    what = _values(request)["what"]
    return f"That was the last of the {what}. Write the summary now: about {request.target} characters.\n"


def _complaint(request: Request) -> list[str]:
    if not request.complaint:
        return []
    reason = _line(request.complaint)
    return [f"Your answer before could not be stored: {reason}. Write the summary again, and mend that.\n"]


def _values(request: Request) -> dict[str, str]:
    about = _line(request.description)
    return {
        "model": _line(request.model),
        "description": about,
        "about": f" ({about})" if about else "",
        "target": str(request.target),
        "count": str(len(request.items)),
        "what": "notes" if request.tier == 0 else "summaries",
        "tier": str(request.tier),
    }


@cache
def _ours(name: str) -> str:
    from importlib import resources  # for a model's prompt alone

    return resources.files("pyramid_fs.summarizers").joinpath("prompts", f"{name}.md").read_text("utf-8")


def _item(item: Item) -> str:
    """Quote one source; what a model may take for the end of a line is one, so that nothing slips out of its quote."""
    head = " · ".join(part for part in (_line(item.date), _line(item.source)) if part)
    body = "\n".join(f"> {line}" for line in item.text.splitlines() or [""])
    return f"[{head or _line(item.handle)}]\n{body}\n"


def _line(text: str) -> str:
    """Set a text on one line: a head is no place to begin a new one."""
    return " ".join(text.split())

"""Git's conflict markers in a text: found where git wrote them, and taken apart; pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REASON = "it holds git's conflict markers: a merge was not finished in it"
"""The problem of such a file; what mends it is found by these words."""
START, BASE, MIDDLE, END = "<<<<<<< ", "|||||||", "=======", ">>>>>>> "
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Sides(NamedTuple):
    """The texts that a merge laid into one file."""

    ours: str
    base: str | None
    """None where the markers do not say it: git's usual style leaves it out."""
    theirs: str


class _Hunk(NamedTuple):
    parts: tuple[Sequence[str], Sequence[str] | None, Sequence[str]]
    end: int


def sides(text: str, *, in_code: bool = False) -> Sides | None:
    """Take apart a text that holds whole conflicts; None where it holds none.

    A text that tells of conflicts shows them in a fence of code: markers in one count only with `in_code`.
    """
    if START not in text:
        return None
    found = list(_pieces(re.findall(r"[^\n]*\n|[^\n]+", text), in_code=in_code))
    if not any(isinstance(piece, _Hunk) for piece in found):
        return None
    wanted = [tuple(p.parts if isinstance(p, _Hunk) else ((p,), (p,), (p,))) for p in found]
    ours, base, theirs = zip(*wanted, strict=True)
    known = None if any(part is None for part in base) else "".join("".join(part) for part in base if part)
    return Sides("".join("".join(part) for part in ours), known, "".join("".join(part) for part in theirs))


def _pieces(lines: Sequence[str], *, in_code: bool) -> Iterator[str | _Hunk]:
    at, fence = 0, ""
    while at < len(lines):
        hunk = _hunk(lines, at) if in_code or not fence else None
        if hunk:
            yield hunk
            at = hunk.end
            continue
        fence = _fence_after(fence, lines[at])
        yield lines[at]
        at += 1


def _fence_after(fence: str, line: str) -> str:
    """Say which fence of code is open after a line, empty for none."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found[1]
    closes = found[1].startswith(fence) and not line[found.end() :].strip()
    return "" if closes else fence


def _hunk(lines: Sequence[str], start: int) -> _Hunk | None:
    """Read the conflict that begins at a line; None where it is not one as git writes it, whole and in order."""
    if not lines[start].startswith(START):
        return None
    base = middle = 0
    for at in range(start + 1, len(lines)):
        line = lines[at].rstrip("\r\n")
        if line.startswith(START):
            return None
        if not middle and not base and line.startswith(BASE):
            base = at
        elif not middle and line == MIDDLE:
            middle = at
        elif line.startswith(END):
            if not middle:
                return None
            between = lines[base + 1 : middle] if base else None
            return _Hunk((lines[start + 1 : base or middle], between, lines[middle + 1 : at]), at + 1)
    return None

"""Where a forgotten text still stands: its rare words in other files, and what git keeps of it."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyramid_fs import files, history, layout, links, words
from pyramid_fs.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

FEW = 3
"""A word is rare that stands in so many other files at most."""
SHORT = 4
"""A word of fewer letters is rare by chance, …"""
SHORT_NUMBER = 3
"""… a number of fewer digits, too …"""
PAIR = 2
"""… and of a script without spaces, a pair of signs is a word."""
BINS = (".trash", ".stversions")
"""Where Obsidian and Syncthing keep what was deleted or replaced."""
BIG = 4_000_000
"""Bytes of a file that is too large to be a text of this kind."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A file in which rare words of a forgotten note still stand."""

    path: str
    words: tuple[str, ...]
    """As an index spells them; first the links to it."""


def rare(texts: Iterable[str]) -> frozenset[str]:
    """Give the words of some texts that may be rare, as an index spells them."""
    return frozenset(term for text in texts for term in words.terms(text) if _tells(term))


def _tells(term: str) -> bool:
    if not term.isascii():
        return len(term) >= PAIR
    return len(term) >= (SHORT_NUMBER if term.isdigit() else SHORT)


def find(root: Path, wanted: frozenset[str], names: Collection[str] = (), without: Collection[str] = ()) -> list[Trace]:
    """List the files that hold words which few files hold, or link to one of some `names`; those with the most first.

    The paths in `without` are left out.
    """
    held: dict[str, frozenset[str]] = {}
    linked: dict[str, tuple[str, ...]] = {}
    counts, rares = Counter[str](), set(wanted)
    for path in (path for path in _paths(root) if path not in without):
        text = _text(root / path)
        if _may_hold(text, rares) and (found := rares.intersection(words.terms(text))):
            held[path] = frozenset(found)
            counts.update(found)
            rares -= {term for term in found if counts[term] > FEW}
        if names and "[[" in text and (named := set(map(links.name, links.all_of(text))).intersection(names)):
            linked[path] = tuple(sorted(map(links.spell, named)))
    traces = [Trace(path, (*linked.get(path, ()), *sorted(rares & held.get(path, set())))) for path in {*held, *linked}]
    return sorted((t for t in traces if t.words), key=lambda trace: (-len(trace.words), trace.path))


def _may_hold(text: str, wanted: Collection[str]) -> bool:
    """Whether a text may hold one of some words: their first letters stand in it, as an ending may change the last."""
    folded = words.fold(text)
    return any(term[: max(1, len(term) - 1)] in folded for term in wanted)


def _paths(root: Path) -> Iterator[str]:
    """Yield every file of the vault that may hold a text, what sync tools and bins keep included."""
    for top in (layout.MODELS, *layout.SHAPES, *BINS):
        yield from files.everything(root, top)
    yield from (name for name in files.names(root, ".") if layout.is_markdown(name))


def _text(path: Path) -> str:
    seen = files.look(path)
    if seen is None or seen.size > BIG:
        return ""
    with contextlib.suppress(DiskError, FileNotFoundError):
        return f"{path.name}\n{files.read(path).decode('utf-8', 'replace')}"
    return ""


def in_git(root: Path, paths: Sequence[str], name: str) -> bool:
    """Whether a commit, of any branch, holds one of some files, or one of a name where these are gone."""
    if paths:
        return any(next(history.versions(root, path), None) is not None for path in paths)
    return next(history.versions_named(root, f"{name}.md"), None) is not None

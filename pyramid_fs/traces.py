"""Where a forgotten text still stands: its rare words in other files, and what git keeps of it."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pyramid_fs import files, history, layout, links, words
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError
from pyramid_fs.notes import Kind
from pyramid_fs.summarizers import vocabulary

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
LONG = 40
"""Letters up to which what has no space in it is shown whole."""
_PIECE = re.compile(r"[^\W_]+")
BINS = (".trash", ".stversions")
"""Where Obsidian and Syncthing keep what was deleted or replaced."""
BIG = 4_000_000
"""Bytes of a file that is too large to be a text of this kind."""
LEFT = 30.0
"""Seconds after which nobody is writing a file any more that is there half-written."""
COMMON = """
able across against already although among another anything area become began behind below better between beyond book
call called case change child children city close common company country course different early easy else enough every
everyone everything example face family far father find first five follow form four friend friends full gave girl given
group half hand hard head hear heard high home hour house however idea important inside instead issue keep kept kind
knew large later learn least leave left less letter life light line little live long made main many matter might mind
minute money more morning mother move much name near never next night note notes number often once open order others
outside page paper part past people perhaps person place plan play point possible problem question quite rather read
ready real right room said school second seem self service several short show side since small someone sometimes soon
start state still story street such system talk team than though thought three today together told took toward town tree
trip true turn until used using usually wait walk wanted watch water week went whether white whole within without woman
word words work worked working world write written wrong wrote year young
"""
"""Words of any text, beside those that carry no fact."""


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    """Give the terms that tell nothing of a text, in the main languages."""
    known = (*COMMON.split(), *vocabulary.EMPTY, *vocabulary.TIMES, *vocabulary.DECISIONS)
    return frozenset(term for word in known for term in words.terms(word))


@dataclass(frozen=True, slots=True)
class Trace:
    """A file in which rare words of a forgotten note still stand."""

    path: str
    words: tuple[str, ...]
    """As they are written there; first the links to the note."""


def rare(texts: Iterable[str]) -> frozenset[str]:
    """Give the words of some texts that may be rare, as an index spells them."""
    return frozenset(term for text in texts for term in words.terms(text) if _tells(term))


def _tells(term: str) -> bool:
    if term in _common():
        return False
    if not term.isascii():
        return len(term) >= PAIR
    return len(term) >= (SHORT_NUMBER if term.isdigit() else SHORT)


def find(root: Path, wanted: frozenset[str], names: Collection[str] = (), without: Collection[str] = ()) -> list[Trace]:
    """List the files that hold words which few files hold, or link to one of some `names`; those with the most first.

    The paths in `without` are left out. What is there half-written makes no word less rare.
    """
    held: dict[str, dict[str, str]] = {}
    linked: dict[str, tuple[str, ...]] = {}
    counts, rares = Counter[str](), set(wanted)
    for path in sorted((path for path in _paths(root) if path not in without), key=_is_left):
        text = _text(root / path)
        if _may_hold(text, rares) and (found := _held(text, rares)):
            held[path] = found
            counts.update(() if _is_left(path) else found.keys())
            rares -= {term for term in found if counts[term] > FEW}
        if names and "[[" in text and (named := set(map(links.name, links.all_of(text))).intersection(names)):
            linked[path] = tuple(sorted(map(links.spell, named)))
    traces = [Trace(path, (*linked.get(path, ()), *_shown(held.get(path, {}), rares))) for path in {*held, *linked}]
    return sorted((t for t in traces if t.words), key=lambda trace: (-len(trace.words), trace.path))


def _held(text: str, wanted: Collection[str]) -> dict[str, str]:
    """Give each wanted term that stands in a text, and the first word there that it stands for."""
    found: dict[str, str] = {}
    for start, end, terms in words.spans(text):
        for term in terms:
            if term in wanted and term not in found:
                found[term] = _written(text[start:end], term)
    return found


def _written(chunk: str, term: str) -> str:
    """Give the word that a term stands for as it is written in what has no space in it: a path, say."""
    if not term.isascii() and term in chunk:
        return term
    pieces = (piece for piece in _PIECE.findall(chunk) if term in words.terms(piece))
    return next(pieces, chunk if len(chunk) <= LONG else term)


def _shown(found: dict[str, str], rares: Collection[str]) -> list[str]:
    """List words as they are written, each once, whatever their case."""
    once = {word.casefold(): word for term, word in sorted(found.items(), reverse=True) if term in rares}
    return [once[word] for word in sorted(once)]


def _is_left(path: str) -> bool:
    return files.is_temp(path.rsplit("/", 1)[-1])


def left(root: Path, traces: Iterable[Trace]) -> list[str]:
    """List those of some traces that a kill left half-written: nobody writes them any more, and nobody reads them."""
    now = time.time_ns()
    found = ((trace.path, files.look(root / trace.path)) for trace in traces if _is_left(trace.path))
    return [path for path, seen in found if seen and now - seen.mtime_ns > LEFT * 1e9]


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


# What git keeps


def in_git(root: Path, paths: Sequence[str], names: Collection[str], digests: Collection[str]) -> list[str]:
    """List the files of a note that some commit holds: its text, under whatever path, and its embeds."""
    found = {path: None for path in paths if next(history.versions(root, path), None) is not None}
    for name in sorted(names):
        for path, data in history.versions_named(root, f"{name}.md"):
            if path not in found and path not in paths and _is_of(data, names, digests):
                found[path] = None
    return list(found)


def _is_of(data: bytes, names: Collection[str], digests: Collection[str]) -> bool:
    body = pages.read(data).body
    return links.name(links.embed(body)) in names or pages.digest(body) in digests


def naming_in_git(root: Path, names: Collection[str]) -> tuple[list[str], list[str]]:
    """List the embeds of a note that is gone, and the summaries made from it, that some commit holds."""
    found = sorted({path for name in names for path in history.naming(root, links.spell(name), layout.MODELS)})
    places = {path: layout.place(path) for path in found}
    summaries = [path for path, place in places.items() if place and place.kind in {Kind.SUMMARY, Kind.RETIRED}]
    others = [path for path in found if path not in summaries and _embeds(root, path, names)]
    return others, summaries


def _embeds(root: Path, path: str, names: Collection[str]) -> bool:
    return any(links.name(links.embed(pages.read(data).body)) in names for data in history.versions(root, path))

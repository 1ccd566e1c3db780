"""Recall by reading every file: complete and always fresh, and slow in a large vault."""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FRAGMENT = 300
"""Characters of a text that a hit shows, around the first word found; a text up to twice as long is shown whole."""
WORDS = 200
"""So many different words of a query are looked for; a required one is never dropped."""
PARTIAL = 0.4
"""What a word counts that was only found as the beginning of another."""

_QUERY = re.compile(r'(-?)"([^"]+)"|(-?)(\S+)')
_NO_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    words: tuple[str, ...]
    """More of them ranks higher, none is required."""
    phrases: tuple[str, ...]
    """Each must be there."""
    without: tuple[str, ...]
    """None may be there."""
    cut: int = 0
    """Words that were too many to look for."""


def fold(text: str) -> str:
    """Fold case, composition and width, so that one spelling finds another."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())


def parse(text: str) -> Query:
    """Read a query: words, "quoted phrases" that must be there, -words that must not; any text is one."""
    words: list[str] = []
    phrases: list[str] = []
    without: list[str] = []
    for minus_phrase, phrase, minus, word in _QUERY.findall(text):
        if phrase:
            (without if minus_phrase else phrases).append(" ".join(fold(phrase).split()))
        elif minus and re.search(r"\w", word):
            without.append(fold(word))
        else:
            words += _words_of(f"{minus}{word}")
    unique = [word for word in dict.fromkeys(words) if word not in phrases]
    return Query(tuple(unique[:WORDS]), tuple(filter(None, phrases)), tuple(without), max(0, len(unique) - WORDS))


def _words_of(text: str) -> list[str]:
    """Give the words of a run without blanks: itself, and its parts where marks join them."""
    folded = fold(text).strip("\"'`.,;:!?()[]{}<>*")
    parts = [part for part in re.split(r"[^\w]+", folded) if part and part != folded]
    return [word for word in (folded or fold(text), *parts) if word]


@dataclass(frozen=True, slots=True)
class Found:
    """How well a text answers a query, and where the first word stands."""

    score: float
    at: int
    """In the folded text."""
    words: tuple[float, ...] = ()
    """How well each word of the query was found: 1 whole, less as a beginning, 0 not at all."""


def match(query: Query, text: str, extra: str = "") -> Found | None:
    """Hold a text (and what else a person wrote about it) against a query; None where it is no answer."""
    body = fold(text)
    also = fold(extra)
    spaced = " ".join(body.split()) if query.phrases or query.without else ""
    if any(not (phrase in spaced or phrase in also) for phrase in query.phrases):
        return None
    if any(_place(word, body) is not None or _place(word, also) is not None for word in query.without):
        return None
    places = [(word, _place(word, body), _place(word, also)) for word in query.words]
    words = [_best(inside, beside) for _, inside, beside in places]
    found = [(weight, at) for weight, at in words if weight]
    if not found and not query.phrases:
        return None
    score = (sum(weight for weight, _ in found) + len(query.phrases)) / (len(query.words) + len(query.phrases))
    starts = [*(at for _, at in found), *(body.find(phrase) for phrase in query.phrases)]
    first = min((at for at in starts if at >= 0), default=0)
    return Found(round(score, 4), first, tuple(weight for weight, _ in words))


def _best(inside: tuple[float, int] | None, beside: tuple[float, int] | None) -> tuple[float, int]:
    if inside and (not beside or inside[0] >= beside[0]):
        return inside
    return (beside[0], -1) if beside else (0.0, -1)


def _place(word: str, text: str) -> tuple[float, int] | None:
    """Find a word in a folded text: whole, or as a beginning; within a run where a script writes no spaces."""
    at = text.find(word)
    if at < 0:
        return None
    if _NO_SPACES.search(word) or not re.search(r"\w", word):
        return 1.0, at
    first = None
    while at >= 0:
        starts = at == 0 or not _joins(text[at - 1]) or not _joins(word[0])
        end = at + len(word)
        ends = end == len(text) or not _joins(text[end]) or not _joins(word[-1])
        if starts and ends:
            return 1.0, at
        if starts and first is None and len(word) > 2:  # noqa: PLR2004
            first = at
        at = text.find(word, at + 1)
    return None if first is None else (PARTIAL, first)


def _joins(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def fragment(text: str, at: int) -> str:
    """Give the part of a text around a place in its folded form: whole words, an ellipsis where the text goes on."""
    if len(text) <= 2 * FRAGMENT:
        return text
    at = _unfolded(text, at)
    start = max(0, min(at - FRAGMENT // 3, len(text) - FRAGMENT))
    end = start + FRAGMENT
    if start:
        start = _next_blank(text, start, end)
    stop = text.rfind(" ", start + FRAGMENT // 2, end) if end < len(text) else end
    end = stop if stop > 0 else end
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}"


def _unfolded(text: str, at: int) -> int:
    """Find the place in a text that is at `at` when it is folded, which may be longer or shorter."""
    if text.isascii():
        return at
    return bisect_right(range(len(text)), at, key=lambda end: len(fold(text[:end]))) - 1


def _next_blank(text: str, start: int, end: int) -> int:
    found = text.find(" ", start, start + (end - start) // 4)
    return found + 1 if found > 0 else start


def weighed(found: Mapping[str, Found], searched: int) -> dict[str, Found]:
    """Weigh each word by how rare it is among the `searched` texts, so that the rare ones of a sentence decide."""
    rare = [_rarity(column, searched) for column in zip(*(hit.words for hit in found.values()), strict=True)]
    whole = sum(rare) or 1.0
    return {
        path: replace(hit, score=round(sum(w * r for w, r in zip(hit.words, rare, strict=True)) / whole, 4))
        if hit.words
        else hit
        for path, hit in found.items()
    }


def _rarity(column: tuple[float, ...], searched: int) -> float:
    return math.log(1 + searched / (1 + sum(weight > 0 for weight in column)))


def best(found: Iterable[tuple[Found, str, str]], count: int) -> list[tuple[Found, str, str]]:
    """Rank (how well, date, path): the best first, the newer of equals first."""
    ranked = sorted(found, key=lambda item: (item[1], item[2]), reverse=True)
    return sorted(ranked, key=lambda item: -item[0].score)[:count]

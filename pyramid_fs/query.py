"""What a person asks for: words, quoted phrases, -words; and the part of a text that answers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pyramid_fs import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FRAGMENT = 300
"""Characters of a text that a hit shows, where most of what was found stands; up to twice as long is shown whole."""
WORDS = 400
"""So many different words of a query are read; what is quoted or has a minus is never dropped."""
SOUGHT = 200_000
"""Characters of a text that are looked through for the best fragment; beyond, the beginning is as good."""

_SHOWN = FRAGMENT * 2 // 3
"""Of a fragment, what stands from its first word found on."""
_QUERY = re.compile(r'(-?)"([^"]+)"|(-?)(\S+)')


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    words: tuple[tuple[str, ...], ...]
    """The terms of each word, the whole first; more of them found ranks higher, none is required."""
    phrases: tuple[str, ...] = ()
    """Folded; each must be there."""
    without: tuple[str, ...] = ()
    """Terms of which none may be there."""
    without_phrases: tuple[str, ...] = ()
    cut: int = 0
    """Words that were too many to look for."""

    @property
    def is_strict(self) -> bool:
        """Whether a phrase must be there, or must not, which only a text itself can tell."""
        return bool(self.phrases or self.without_phrases)

    @property
    def is_blank(self) -> bool:
        """Whether it asks for nothing, or only for what must not be there."""
        return not (self.words or self.phrases)


@lru_cache(maxsize=16)
def parse(text: str) -> Query:
    """Read a query: words, "quoted phrases" that must be there, -words that must not; any text is one.

    One that is as long as a book takes seconds, and one answer asks it several times.
    """
    free: list[str] = []
    phrases: list[str] = []
    without: list[str] = []
    without_phrases: list[str] = []
    for minus_phrase, phrase, minus, word in _QUERY.findall(text):
        if phrase:
            (without_phrases if minus_phrase else phrases).append(squeezed(phrase))
        elif minus and (terms := next(iter(words.asked(word)), None)):
            without.append(terms[0])
        else:
            free.append(f"{minus}{word}")
    unique = list(dict.fromkeys(words.asked(" ".join(free))))
    return Query(
        tuple(unique[:WORDS]),
        tuple(filter(None, dict.fromkeys(phrases))),
        tuple(dict.fromkeys(without)),
        tuple(filter(None, dict.fromkeys(without_phrases))),
        max(0, len(unique) - WORDS),
    )


def squeezed(text: str) -> str:
    """Fold a text, and make one blank of all white space: so a phrase is found over the end of a line."""
    return " ".join(words.fold(text).split())


def holds(query: Query, texts: Iterable[str]) -> bool:
    """Whether the phrases that must be there are in some of a file's texts, and those that must not in none."""
    if not query.is_strict:
        return True
    folded = [squeezed(text) for text in texts]
    if any(phrase in text for phrase in query.without_phrases for text in folded):
        return False
    return all(any(phrase in text for text in folded) for phrase in query.phrases)


def fragment(text: str, terms: Mapping[str, float], phrases: Iterable[str] = ()) -> str:
    """Give the part of a text where most of what was found stands: whole words, an ellipsis where the text goes on."""
    if len(text) <= 2 * FRAGMENT:
        return text
    return _cut(text, _best_place(text, terms, phrases))


def _best_place(text: str, terms: Mapping[str, float], phrases: Iterable[str]) -> int:
    for phrase in phrases:
        words_of = [re.escape(word) for word in phrase.split()]
        if found := re.search(r"\s+".join(words_of), text, re.IGNORECASE):
            return found.start()
    terms_at = [(at, term) for at, _, made in words.spans(text[:SOUGHT]) for term in made if term in terms]
    return _densest(terms_at, terms)


def _densest(found: list[tuple[int, str]], worth: Mapping[str, float]) -> int:
    """Give the place from which a fragment shows the most of the terms found, each counted once."""
    shown = Counter[str]()
    best, place, end = 0.0, 0, 0
    for start, first in found:
        while end < len(found) and found[end][0] < start + _SHOWN:
            shown[found[end][1]] += 1
            end += 1
        if (sum_ := sum(worth[term] for term in shown)) > best:
            best, place = sum_, start
        shown[first] -= 1
        if not shown[first]:
            del shown[first]
    return place


def _cut(text: str, at: int) -> str:
    start = max(0, min(at - FRAGMENT // 3, len(text) - FRAGMENT))
    end = start + FRAGMENT
    if start:
        start = _next_blank(text, start, end)
    stop = text.rfind(" ", start + FRAGMENT // 2, end) if end < len(text) else end
    end = stop if stop > 0 else end
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}"


def _next_blank(text: str, start: int, end: int) -> int:
    found = text.find(" ", start, start + (end - start) // 4)
    return found + 1 if found > 0 else start

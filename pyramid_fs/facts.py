"""The facts of a text, its names, numbers and dates, and which of them another text still holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs.summarizers import claims

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from pyramid_fs.summarizers.claims import Day, Said

KINDS = ("names", "numbers", "dates")
OFTEN = 2
"""So many sentences begin with a word that is taken for a name."""


class Fact(NamedTuple):
    """One fact in one spelling.

    Names are told by their capital and counted a word each: a script without case, and German, which writes every
    noun with one, have numbers and dates only.
    """

    kind: str
    """One of KINDS."""
    value: str | tuple[Day, ...]
    """Of a date: what it may mean."""


@dataclass(frozen=True, slots=True)
class Told:
    """The facts of a text."""

    sure: frozenset[Fact]
    openings: frozenset[Fact]
    """Words that begin a sentence with a capital: some are names, see `Names`."""

    def with_names(self, known: AbstractSet[Fact]) -> frozenset[Fact]:
        """Give the facts, where it is known what is a name."""
        return self.sure | (self.openings & known)


def told(text: str) -> Told:
    """Find the facts of a text."""
    return _told(claims.said(text))


def _told(said: Said) -> Told:
    names, openings = _facts("names", said.names), _facts("names", said.openings)
    return Told(names | _facts("numbers", said.numbers) | _facts("dates", said.dates), openings - names)


def _facts(kind: str, values: Iterable[str | tuple[Day, ...]]) -> frozenset[Fact]:
    return frozenset(Fact(kind, value) for value in values)


def held(facts: AbstractSet[Fact], text: str) -> frozenset[Fact]:
    """Give the facts that a text holds.

    A name may be written small or declined, a number grouped otherwise; a date may leave out its year and be spelled
    otherwise, but says the day if the fact does.
    """
    said = claims.said(text)
    days = {day for dates in said.dates for day in dates}
    numbers = {*said.numbers, *(str(day.year) for day in days)}
    return frozenset(fact for fact in facts if _is_held(fact, said, numbers, days))


def _is_held(fact: Fact, said: Said, numbers: AbstractSet[str], days: AbstractSet[Day]) -> bool:
    if isinstance(fact.value, str):
        return fact.value in (said.words if fact.kind == "names" else numbers)
    return any(claims.tells(one, day) for day in fact.value for one in days)


def by_kind(facts: Iterable[Fact]) -> dict[str, int]:
    """Count facts by their kind."""
    found = Counter(fact.kind for fact in facts)
    return {kind: found[kind] for kind in KINDS}


class Names:
    """Learns from texts which words are names, as a sentence may begin with any word.

    A name stands with its capital inside a sentence somewhere; or begins several, and is never written small.
    """

    def __init__(self) -> None:
        self._inner: set[str] = set()
        self._openings: Counter[str] = Counter()
        self._small: set[str] = set()

    def told(self, text: str) -> Told:
        """Find the facts of a text, and learn from it."""
        said = claims.said(text)
        self._inner |= said.names
        self._openings.update(said.openings)
        self._small |= said.small
        return _told(said)

    @property
    def known(self) -> frozenset[Fact]:
        """The names in the texts so far."""
        often = {word for word, count in self._openings.items() if count >= OFTEN and word not in self._small}
        return _facts("names", self._inner | often)

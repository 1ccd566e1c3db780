"""The order of what a query finds: how rare its words are, and what a pyramid knows of the texts around each."""

from __future__ import annotations

import heapq
import math
import re
from calendar import month_abbr, month_name
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import words

if TYPE_CHECKING:
    from datetime import date

Doc = Hashable
"""The opaque name of a text: a note, a summary, any other file."""

WORDS = 32
"""So many words of a query are looked for."""
SEEDS = 100
"""So many of the texts that answer best by their own words pass score on to the texts around them."""
EXACT = 6
"""Digits of a score: sums of the same numbers in another order come out the same."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each thing that is known of a text counts beside the words of the text itself (1)."""

    k1: float = 1.0
    """How soon a word that a text repeats adds nothing more."""
    b: float = 0.75
    """How much a long text must say a word more often; below this, long notes beside short ones rank too high."""
    part: float = 0.5
    """A part of a word (`buffer` of `buffer_writer`), beside the whole word (1)."""
    near: float = 2.0
    """The note read together with the notes around it, each word counted once for all of them."""
    steps: tuple[float, ...] = (1.0, 0.6)
    """What a word counts in the note next to this one, and in the one after that."""
    group: float = 0.3
    """The whole batch of a note read as one text."""
    summary: float = 0.3
    """The words of the summaries above a note."""
    tiers: tuple[float, ...] = (1.0, 1.0)
    """What a batch counts, and a batch of batches; any above counts nothing."""
    name: float = 0.25
    """A note of a speaker or model that the query names, as a share of the best score: soft, for the name may mislead."""
    date: float = 0.1
    """A note of a day that the query names, as a share of the best score."""


WEIGHTS = Weights()


# The words of a query

_CORE = frozenset(
    "a an the and or of to in on at by for with from as if but so than that this is are was were be been it its s".split()
)
_STOPS = _CORE | frozenset(
    """about am any been being both can could did do does doing done each had has have having he her here hers him his
    how i into just many me might mine much must my no nor not off onto only our ours out over own she should some such
    them their theirs then there these they those too under up very we were what when where which who whom whose why
    would you your yours again again also shall d m re ve ll t""".split()
)
_SETS = tuple(kept | {words.stem(word) for word in kept} for kept in (_STOPS, _CORE, frozenset[str]()))


@dataclass(frozen=True, slots=True)
class Sought:
    """One word of a query with its alternatives."""

    terms: tuple[tuple[str, float], ...]
    """Each term with what it counts: the whole word 1, its parts less; a text that has several gets the sum."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for."""

    sought: tuple[Sought, ...]
    cut: int = 0
    """Words that were too many to look for."""


def sought(
    asked: Iterable[tuple[str, ...]],
    having: Callable[[str], int] | None = None,
    weights: Weights = WEIGHTS,
    most: int = WORDS,
) -> Asked:
    """Choose what to look for among the words of a query (see `words.asked`): each once, stop words only for want of others.

    Of more than `most` words the rarest are kept where `having` tells how many texts have a term, else the first.
    """
    unique = list(dict.fromkeys(asked))
    kept = next((left for stops in _SETS if (left := [word for word in unique if word[0] not in stops])), unique)
    chosen = _rarest(kept, having, most)
    whole = {word[0] for word in chosen}
    return Asked(tuple(_sought(word, whole, weights.part) for word in chosen), len(kept) - len(chosen))


def _sought(word: tuple[str, ...], whole: Container[str], part: float) -> Sought:
    return Sought(((word[0], 1.0), *((term, part) for term in word[1:] if term not in whole)))


def _rarest(asked: list[tuple[str, ...]], having: Callable[[str], int] | None, most: int) -> list[tuple[str, ...]]:
    if len(asked) <= most:
        return asked
    if having is None:
        return asked[:most]
    counts = {word: min((count for term in word if (count := having(term))), default=math.inf) for word in asked}
    chosen = set(sorted(asked, key=counts.__getitem__)[:most])
    return [word for word in asked if word in chosen]


# What one word gives

def idf(total: int, having: int) -> float:
    """Tell how much a word tells that `having` of `total` texts have."""
    return math.log(1 + max(0.0, total - having + 0.5) / (having + 0.5))


def saturate(frequency: float, length: float, mean: float, weights: Weights = WEIGHTS) -> float:
    """Tell how much of a word's weight a text of `length` terms earns that has it `frequency` times: 0 to 1."""
    return frequency / (frequency + weights.k1 * (1 - weights.b + weights.b * length / mean))


@dataclass(slots=True)
class Column:
    """What one word gives to each text that has it."""

    found: dict[Doc, float] = field(default_factory=dict)
    most: float = 0.0
    """What it would give to a text that says nothing else."""


def column(
    postings: Iterable[tuple[float, Mapping[Doc, float]]],
    lengths: Callable[[Doc], float],
    mean: float,
    total: int,
    weights: Weights = WEIGHTS,
) -> Column:
    """Score one sought word (BM25): for each of its terms its weight, and how often each text has it."""
    made = Column()
    for weight, frequencies in postings:
        worth = weight * idf(total, len(frequencies))
        made.most += worth
        for doc, frequency in frequencies.items():
            made.found[doc] = made.found.get(doc, 0.0) + worth * saturate(frequency, lengths(doc), mean, weights)
    return made


# What the texts around it give

@dataclass(frozen=True, slots=True)
class Group:
    """A batch that a note belongs to, of any tier, summarized or still to be."""

    name: Hashable
    summary: Doc | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands in one model."""

    before: tuple[Doc, ...] = ()
    """The nearest first."""
    after: tuple[Doc, ...] = ()
    groups: tuple[Group, ...] = ()
    """Its batch, the batch of that batch, and so on."""


class Ranked(NamedTuple):
    """A text with its score, and the parts that add up to it."""

    doc: Doc
    score: float
    own: float
    near: float
    group: float
    summary: float
    name: float
    date: float


def rank(
    columns: Sequence[Column],
    places: Callable[[Doc], Sequence[Place]],
    aside: Container[Doc] = (),
    named: Sequence[Container[Doc]] = (),
    dated: Callable[[Doc], float] | None = None,
    weights: Weights = WEIGHTS,
    seeds: int = SEEDS,
) -> list[Ranked]:
    """Rank the texts that have a word of the query and the notes next to the best of them, the best first.

    `aside` holds the texts (summaries) that give score and take no rank; `named` the notes of each name in the query;
    `dated` tells how well a note's date answers the query's, 0 to 1.
    """
    totals = _totals(columns)
    chosen = heapq.nlargest(seeds, (item for item in totals.items() if item[0] not in aside), key=_score)
    stand = {doc: places(doc) or _NOWHERE for doc, _ in chosen}
    beside = {doc: None for at in stand.values() for place in at for doc in (*place.before, *place.after)}
    around = {doc: places(doc) or _NOWHERE for doc in beside if doc not in stand and doc not in aside}
    look = _Look(columns, totals, weights)
    batches = _batches(stand, look)
    flows = [_flow(doc, at, look, batches) for doc, at in (*stand.items(), *around.items())]
    best = max((sum(flow[1:]) for flow in flows), default=0.0)
    return sorted((_whole(flow, best, named, dated, weights) for flow in flows), key=lambda ranked: -ranked.score)


_NOWHERE = (Place(),)


def _score(item: tuple[Doc, float]) -> float:
    return item[1]


def _totals(columns: Sequence[Column]) -> dict[Doc, float]:
    if not columns:
        return {}
    totals = dict(columns[0].found)
    have = totals.get
    for column in columns[1:]:
        for doc, given in column.found.items():
            totals[doc] = have(doc, 0.0) + given
    return totals


class _Look:
    """What each text says of each word, as a frequency that can be added up over texts."""

    def __init__(self, columns: Sequence[Column], totals: Mapping[Doc, float], weights: Weights) -> None:
        self.totals, self.weights = totals, weights
        self.most = [column.most for column in columns]
        self._found = [(column.found.get, column.most) for column in columns]
        self._known: dict[Doc, list[float]] = {}

    def said(self, doc: Doc) -> list[float] | None:
        """Give the frequency of each word in a text, in units of its length; None where it has no word."""
        if doc not in self.totals:
            return None
        known = self._known.get(doc)
        if known is None:
            known = self._known[doc] = [given / (most * 1.000001 - given) if (given := get(doc)) else 0.0
                                        for get, most in self._found]
        return known

    def worth(self, said: Iterable[float]) -> float:
        """Score words said so often, each saturated."""
        return sum([most * count / (count + 1.0) for most, count in zip(self.most, said) if count])


def _batches(stand: Mapping[Doc, Sequence[Place]], look: _Look) -> dict[Hashable, float]:
    tiers = len(look.weights.tiers)
    members: dict[Hashable, dict[Doc, None]] = {}
    for doc, at in stand.items():
        for place in at:
            for group in place.groups[:tiers]:
                members.setdefault(group.name, {})[doc] = None
    return {name: look.worth(map(sum, zip(*[look.said(doc) for doc in docs]))) for name, docs in members.items()}


def _flow(doc, at, look, batches):
    weights = look.weights
    near = max(_near(doc, place, look) for place in at) * weights.near
    group = summary = 0.0
    for tier, worth in enumerate(weights.tiers):
        up = [place.groups[tier] for place in at if tier < len(place.groups)]
        group += worth * max((batches.get(one.name, 0.0) for one in up), default=0.0)
        summary += worth * max((look.totals.get(one.summary, 0.0) for one in up), default=0.0)
    return doc, look.totals.get(doc, 0.0), near, group * weights.group, summary * weights.summary


def _near(doc, place, look):
    own = look.said(doc)
    parts = [(1.0, own)] if own else []
    for side in (place.before, place.after):
        parts += [(step, said) for step, other in zip(look.weights.steps, side) if (said := look.said(other))]
    if len(parts) == 1 and parts[0][0] == 1.0:
        return look.worth(parts[0][1])
    return look.worth([sum(x) for x in zip(*[[step * s for s in said] for step, said in parts])])


def _whole(flow, best, named, dated, weights):
    doc, *parts = flow
    name = weights.name * best if any(doc in docs for docs in named) else 0.0
    date = weights.date * best * dated(doc) if dated else 0.0
    rounded = [round(part, EXACT) for part in (*parts, name, date)]
    return Ranked(doc, round(sum(rounded), EXACT), *rounded)

"""The order of what a query finds: how rare its words are, and what a pyramid knows of the texts around each."""

from __future__ import annotations

import heapq
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pyramid_fs import words

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
    from datetime import date

Doc: TypeAlias = Any
"""The opaque name of a text: a note, a summary, any other file."""

WORDS = 32
"""So many words of a query are looked for."""
SEEDS = 40
"""So many of the texts that answer best by their own words pass score on to the texts around them: 400 find no more."""
TIERS = 2
"""A note's batch gives it score, and the batch of that batch; what is above says something of everything."""
EXACT = 6
"""Digits of a score: sums of the same numbers in another order come out the same."""
_FULL = 1 + 1e-6
"""Keeps a text that says nothing but the word sought from saying it infinitely often."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each thing known of a text counts beside its own words (1).

    Chosen by hand on a third of LoCoMo's questions, with two other collections (long texts; short technical notes) as
    guards; by two thirds or half of most of them recall changes by a point or less.
    """

    k1: float = 1.0
    """How soon a word that a text repeats adds nothing more."""
    b: float = 0.75
    """How much more often a long text must say a word; below this, long notes beside short ones suffer."""
    part: float = 0.5
    """A part of a word (`buffer` of `buffer_writer`); the whole word is 1."""
    near: float = 0.9
    """What a note gains when it is read together with the notes around it, each word counted once for all of them."""
    steps: tuple[float, ...] = (1.0, 0.6)
    """What a word counts in the note next to this one, and in the one after that."""
    group: float = 0.1
    """The batch of a note, what its best notes say read as one text."""
    summary: float = 0.15
    """The summary of that batch, by its own words."""
    reach: float = 100.0
    """Length of notes, in terms, at which near, group and summary count half: long notes say what they are about."""
    name: float = 0.25
    """A note of a speaker or model that the query names, as a share of the best score: soft, for a name may mislead."""
    every: float = 1.5
    """A text that has every word of the query that any text has, as a share of the best score: it comes first."""
    date: float = 0.1
    """A note of a day that the query names, as a share of the best score."""


WEIGHTS = Weights()


# The words of a query

_ARTICLES = (
    """a an the and or of to in on at by for with from as if but so than that this is are was were be been it its"""
)
"""Words of every sentence."""
_QUESTION = """
    about again also am any being both can could did do does doing done each had has have having he her here
    hers him his how i into just many me might mine much must my no nor not off onto only our ours out over
    own shall she should some such their theirs them then there these they those too under up very we what
    when where which who whom whose why would you your yours cant couldnt didnt doesnt dont hadnt hasnt havent
    im isnt ive theyre theyve wasnt werent wont wouldnt youre youve
"""
"""Words of most questions, which no answer has to have; `may`, `will` and `us` are names and dates too."""
_STOPS = tuple(
    frozenset(stop for word in stops.split() for stop in (word, words.stem(word)))
    for stops in (f"{_ARTICLES} {_QUESTION}", _ARTICLES, "")
)


@dataclass(frozen=True, slots=True)
class Sought:
    """One word of a query with its alternatives."""

    terms: tuple[tuple[str, float], ...]
    """What stands for it by itself, with what it counts: the whole word 1, another spelling or a part of many less."""
    parts: tuple[tuple[str, float], ...] = ()
    """What stands for it together: `weld` and `12` for `weld12`; a text that has one of them says another word."""

    @property
    def whole(self) -> str:
        """The word itself."""
        return self.terms[0][0]


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
    """Choose what to look for among the words of a query (see `words.asked`): each once, stop words if nothing else.

    Of more than `most` words the rarest are kept where `having` tells how many texts have a term, else the first.
    """
    unique = list(dict.fromkeys(asked))
    kept = next((left for stops in _STOPS if (left := [word for word in unique if word[0] not in stops])), unique)
    chosen = _rarest(kept, having, most)
    return Asked(tuple(_sought(word, weights.part) for word in chosen), len(kept) - len(chosen))


def _sought(word: tuple[str, ...], part: float) -> Sought:
    alone, parts = words.split(word)
    return Sought(((word[0], 1.0), *((term, part) for term in alone)), tuple((term, part) for term in parts))


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


@dataclass(slots=True)
class Column:
    """What one word gives to each text that has it."""

    found: dict[Doc, float] = field(default_factory=dict)
    most: float = 0.0
    """What it would give to a text that says nothing else."""


def united(
    alone: Sequence[tuple[float, Mapping[Doc, float]]], parts: Sequence[tuple[float, Mapping[Doc, float]]]
) -> Column:
    """Add up what the terms of one sought word give, each with the most it could.

    What stands for the word by itself counts wherever it is, its parts only in a text that has them all, or the word.
    """
    made = Column(dict(alone[0][1]) if alone else {}, sum(most for most, _ in (*alone, *parts)))
    had = made.found.get
    for _, given in alone[1:]:
        for doc, worth in given.items():
            made.found[doc] = had(doc, 0.0) + worth
    if parts:
        together = set.intersection(*(set(given) for _, given in parts)) | made.found.keys()
        for _, given in parts:
            for doc in together & given.keys():
                made.found[doc] = had(doc, 0.0) + given[doc]
    return made


# What the texts around it give


@dataclass(frozen=True, slots=True)
class Group:
    """A batch of any tier that a note belongs to, summarized or still to be."""

    name: Hashable
    summary: Doc | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands in one model."""

    before: tuple[Doc, ...] = ()
    """The notes before it, the nearest first."""
    after: tuple[Doc, ...] = ()
    groups: tuple[Group, ...] = ()
    """Its batch, the batch of that batch, and so on."""
    length: float = 0.0
    """Mean length of the model's notes, in terms."""


class Ranked(NamedTuple):
    """A text with its score and the parts that add up to it."""

    doc: Doc
    score: float
    own: float
    near: float
    group: float
    summary: float
    name: float
    date: float
    every: float = 0.0


def rank(
    columns: Sequence[Column],
    places: Callable[[Doc], Sequence[Place]],
    aside: Container[Doc] = (),
    named: Sequence[Container[Doc]] = (),
    dated: Callable[[Doc], float] | None = None,
    weights: Weights = WEIGHTS,
    seeds: int = SEEDS,
    sums: Mapping[Doc, float] | None = None,
) -> list[Ranked]:
    """Rank the best of the texts that have a word of the query, and those of them that stand next to these: best first.

    `aside` holds the texts (summaries) that give score and take no rank, `named` the notes of each name in the query;
    `dated` tells how well a note's date answers the query's, 0 to 1; `sums` are the columns' `totals`, where known.
    """
    look = _Look(columns, totals(columns) if sums is None else sums, weights)
    stand = {doc: places(doc) for doc in _best(look.totals, aside, seeds)}
    beside = [doc for at in stand.values() for one in at for doc in (*one.before[:1], *one.after[:1])]
    reached = {
        doc: places(doc)
        for doc in dict.fromkeys(beside)
        if doc in look.totals and doc not in stand and doc not in aside
    }
    batches = _batches(stand, look)
    given = {doc: _given(doc, at, look, batches) for doc, at in (stand | reached).items()}
    best = max(map(sum, given.values()), default=0.0)
    every = _with_every(columns)
    ranked = [
        _ranked(doc, (*parts, *_soft(doc, best, named, dated, weights), weights.every * best * (doc in every)))
        for doc, parts in given.items()
    ]
    return sorted(ranked, key=lambda one: -one.score)


def _with_every(columns: Sequence[Column]) -> Container[Doc]:
    """Find the texts that have every word, of those words that any text has; nothing to tell apart for a single one."""
    given = sorted((column.found for column in columns if column.found), key=len)
    return set(given[0]).intersection(*given[1:]) if len(given) > 1 else ()


def _best(totals: Mapping[Doc, float], aside: Container[Doc], seeds: int) -> list[Doc]:
    """Choose the best by their own words, and all that equal the last of them, whatever order they came in."""
    taking_part = [doc for doc in totals if doc not in aside]
    if len(taking_part) <= seeds:
        return taking_part
    least = round(heapq.nlargest(seeds, map(totals.__getitem__, taking_part))[-1], EXACT) - 0.1**EXACT
    return [doc for doc in taking_part if totals[doc] >= least]


class _Look:
    """What each text says of each word sought."""

    def __init__(self, columns: Sequence[Column], sums: Mapping[Doc, float], weights: Weights) -> None:
        self.weights = weights
        self.totals = sums
        self._most = [column.most for column in columns]
        self._given = [(column.found.get, column.most * _FULL) for column in columns]
        self._said: dict[Doc, list[float]] = {}

    def said(self, doc: Doc) -> list[float]:
        """Tell how often a text says each word, so that texts add up to one."""
        if doc not in self._said:
            self._said[doc] = [given / (most - given) if (given := get(doc, 0.0)) else 0.0 for get, most in self._given]
        return self._said[doc]

    def worth(self, said: Iterable[float]) -> float:
        """Score a text that says each word so often."""
        return sum([most * often / (often + 1) for most, often in zip(self._most, said, strict=True) if often])


def totals(columns: Sequence[Column]) -> dict[Doc, float]:
    """Add up what the words sought give to each text."""
    if not columns:
        return {}
    added = dict(columns[0].found)
    had = added.get
    for column in columns[1:]:
        for doc, given in column.found.items():
            added[doc] = had(doc, 0.0) + given
    return added


def _batches(stand: Mapping[Doc, Sequence[Place]], look: _Look) -> dict[Hashable, float]:
    members: dict[Hashable, dict[Doc, None]] = {}
    for doc, at in stand.items():
        for place in at:
            for group in place.groups[:TIERS]:
                members.setdefault(group.name, {})[doc] = None
    return {name: _together(docs, look) for name, docs in members.items()}


def _together(docs: Mapping[Doc, None], look: _Look) -> float:
    """Score texts as one."""
    if len(docs) == 1:
        return look.totals[next(iter(docs))]
    return look.worth(map(sum, zip(*map(look.said, docs), strict=True)))


def _given(
    doc: Doc, at: Sequence[Place], look: _Look, batches: Mapping[Hashable, float]
) -> tuple[float, float, float, float]:
    """Score a text by its own words, and by what the places around it give: of each kind the most that one gives."""
    own, weights = look.totals.get(doc, 0.0), look.weights
    near = group = summary = 0.0
    for place in at:
        share = weights.reach / (weights.reach + place.length)
        near = max(near, share * _gain(doc, place, own, look))
        group = max(group, share * sum([batches.get(one.name, 0.0) for one in place.groups[:TIERS]]))
        summary = max(summary, share * sum([look.totals.get(one.summary, 0.0) for one in place.groups[:TIERS]]))
    return own, weights.near * near, weights.group * group, weights.summary * summary


def _gain(doc: Doc, place: Place, own: float, look: _Look) -> float:
    """Tell what a text gains when it is read together with those around it: little by words that it has itself."""
    totals, steps = look.totals, look.weights.steps
    heard = [(step, other) for step, other in zip(steps, place.before, strict=False) if other in totals]
    heard += [(step, other) for step, other in zip(steps, place.after, strict=False) if other in totals]
    if not heard:
        return 0.0
    together = look.said(doc)
    for step, other in heard:
        together = [sofar + step * often for sofar, often in zip(together, look.said(other), strict=True)]
    return max(0.0, look.worth(together) - own)


def _soft(
    doc: Doc,
    best: float,
    named: Sequence[Container[Doc]],
    dated: Callable[[Doc], float] | None,
    weights: Weights,
) -> tuple[float, float]:
    name = weights.name * best if any(doc in notes for notes in named) else 0.0
    return name, weights.date * best * dated(doc) if dated else 0.0


def _ranked(doc: Doc, parts: tuple[float, ...]) -> Ranked:
    return Ranked(doc, round(sum(parts), EXACT), *parts)


# A day in a query


@dataclass(frozen=True, slots=True)
class Day:
    """A day, a month or a year that a query names; what it leaves open is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def matches(self, date: date) -> bool:
        """Tell whether a date is one that this names."""
        asked = ((self.year, date.year), (self.month, date.month), (self.day, date.day))
        return all(one is None or one == other for one, other in asked)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<{}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<{}>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<{}>(?:19|20)\d\d)\b(?!-\d)"
_WHEN = r"(?:in|of|during|since|last|this|next|from|by|early|mid|late|until|till|before|after|around)\b[ -]+(?:the )?"
_DATE = re.compile(
    r"(?<![\w-])(?:"
    r"(?P<y1>\d{4})-(?P<m1>0[1-9]|1[0-2])(?:-(?P<d1>0[1-9]|[12]\d|3[01]))?(?![\w-])"
    rf"|{_DAY.format('d2')} +(?:of +)?{_MONTH.format('m2')}(?:,? *{_YEAR.format('y2')})?"
    rf"|{_MONTH.format('m3')} +(?:the +)?{_DAY.format('d3')}(?:,? *{_YEAR.format('y3')})?"
    rf"|{_MONTH.format('m4')},? +(?:of +)?{_YEAR.format('y4')}"
    rf"|{_WHEN}(?:{_MONTH.format('m5')}(?:,? +(?:of +)?{_YEAR.format('y5')})?|{_YEAR.format('y6')})"
    r")",
    re.IGNORECASE,
)


def days(query: str) -> tuple[Day, ...]:
    """List the dates that a query names: `2023-05-08`, `8 May`, `May 8th, 2023`, `in May`, `since 2023`."""
    found = (_day({name[0]: text for name, text in at.groupdict().items() if text}) for at in _DATE.finditer(query))
    return tuple(dict.fromkeys(found))


def _day(parts: Mapping[str, str]) -> Day:
    year, month, day = (parts.get(name, "") for name in "ymd")
    number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1 if month else None
    return Day(int(year) if year else None, number, int(day) if day else None)

"""Proposes names and rules of conduct by what stands around them: no model, the same digest, the same candidates."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyramid_fs.extractors import conduct, marked, names, signs, uncased
from pyramid_fs.extractors.candidates import Candidate, fold
from pyramid_fs.extractors.sentences import sentences
from pyramid_fs.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyramid_fs.extractors.marked import Mention
    from pyramid_fs.extractors.signs import Sign

LONGEST = 120
"""Characters of a name; what is longer is none."""


@dataclass(slots=True)
class _Thing:
    """What is known of one name, over all its mentions."""

    forms: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    """What it may be, each with the weight of its evidence."""
    signs: set[Sign] = field(default_factory=set)
    places: list[int] = field(default_factory=list)
    """The sentences that mention it, once for each mention."""
    strongest: tuple[float, int] = (0.0, 0)
    """Of the sentence to show: its evidence, and its place counted from the end."""

    @property
    def label(self) -> str:
        """What it most likely is."""
        return min(self.labels, key=lambda label: (-self.labels[label], label)) if self.labels else ""

    def take(self, other: _Thing) -> None:
        """Add what is known of another name of the same thing, but for its forms."""
        self.labels += other.labels
        self.signs |= other.signs
        self.places += other.places
        self.strongest = max(self.strongest, other.strongest)


def propose(text: str) -> list[Candidate]:
    """List the names and the rules of conduct of a digest, the surest first; what leaks a secret is the caller's."""
    told = list(sentences(text))
    found = [*_entities(told), *_procedures(told)]
    return sorted(found, key=lambda each: (-each.confidence, each.kind, each.text))


# Entities


def _entities(told: list[str]) -> Iterator[Candidate]:
    things = _joined(_gathered(told))
    for thing in things.values():
        name = names.best(thing.forms)
        sure = signs.confidence(thing.signs, len(thing.places))
        yield Candidate(Kind.ENTITY, name, thing.label, sure, told[-thing.strongest[1]])


def _gathered(told: list[str]) -> dict[str, _Thing]:
    plain = [marked.prose(sentence) for sentence in told]
    bare = [marked.without_titles(text) for text, _ in plain]
    known = names.habits(bare)
    things: defaultdict[str, _Thing] = defaultdict(_Thing)
    for at, (text, mentions) in enumerate(plain):
        found = [
            *mentions,
            *marked.titles(text),
            *marked.dates(text),
            *uncased.names(bare[at]),
            *names.names(bare[at], known),
        ]
        _note(things, found, at)
    return things


def _note(things: defaultdict[str, _Thing], found: Iterable[Mention], at: int) -> None:
    by_name: defaultdict[str, list[Mention]] = defaultdict(list)
    for mention in found:
        if len(mention.name) <= LONGEST and marked.BLANK not in mention.name:
            by_name[mention.name].append(mention)
    for name, mentions in by_name.items():
        thing = things[names.stem(fold(name))]
        thing.forms[name] += 1
        thing.places.append(at)
        thing.signs |= {mention.sign for mention in mentions}
        for mention in mentions:
            if mention.label:
                thing.labels[mention.label] += round(100 * mention.sign.weight)
        weight = max(mention.sign.weight for mention in mentions)
        # of two sentences that say as much, the first is shown
        thing.strongest = max(thing.strongest, (weight, -at))


def _joined(things: dict[str, _Thing]) -> dict[str, _Thing]:
    """Join `Ada` with `Ada Lovelace` where that is the only one, and `Annas` with `Anna`."""
    ends: defaultdict[str, set[str]] = defaultdict(set)
    for key in things:
        words = key.split()
        if len(words) > 1:
            for word in {words[0], words[-1]}:
                ends[word].add(key)
    kept = dict(things)
    for key in sorted(things, key=len, reverse=True):  # `Annas` into `Anna` before `Anna` into `Anna Berg`
        whole = _whole(key, things, ends)
        if whole in kept:
            kept[whole].take(things[key])
            del kept[key]
    return kept


def _whole(key: str, things: dict[str, _Thing], ends: dict[str, set[str]]) -> str:
    if key.endswith("s") and key[:-1] in things and " " not in key:
        return key[:-1]
    longer = ends.get(key, set())
    if len(longer) != 1:
        return ""
    (whole,) = longer
    labels = {things[key].label, things[whole].label}
    return whole if len(labels) == 1 or labels <= {"person", ""} else ""


# Procedures


def _procedures(told: list[str]) -> Iterator[Candidate]:
    found: dict[str, tuple[str, str, set[Sign], int]] = {}
    for sentence in told:
        for rule, sign in conduct.rules(sentence):
            text, first, kinds, count = found.get(fold(rule), (rule, sentence, set[signs.Sign](), 0))
            found[fold(rule)] = (text, first, kinds | {sign}, count + 1)
    for text, sentence, kinds, count in found.values():
        yield Candidate(Kind.PROCEDURE, text, "", signs.confidence(kinds, count), sentence)

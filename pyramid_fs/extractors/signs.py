"""The kinds of evidence for a name or a rule, and how sure each makes it: a table, and the sum of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Sign(NamedTuple):
    """One kind of evidence: the share of what it shows alone that a reader would confirm, and why."""

    weight: float
    reason: str


# Of names
LINK = Sign(0.92, "somebody made it a link: they think of it as a thing with a page")
ADDRESS = Sign(0.9, "its form says it; hardly anything else has an @ or a scheme")
TITLED = Sign(0.85, "a title or an honorific stands with nothing but a person's name")
RELATED = Sign(0.8, "`my sister Anna`: told as somebody near; now and then the next word is no name")
FOUNDED = Sign(0.8, "the legal form or the word for what it is, as in GmbH or University, is part of the name")
LOCATED = Sign(0.75, "the word for what it is, as in Street or Lake, is part of the name")
PROJECT = Sign(0.7, "`project X`: named so, though at times described so")
ACTING = Sign(0.6, "it says, plans or buys something, as people do")
NAMED = Sign(0.55, "a capital inside a sentence, where the script tells names so")
PLACED = Sign(0.5, "after `in` or `near`: a place, or a time, or anything")
QUOTED = Sign(0.5, "a title in quotes after a word such as book: a work, or something that was said")
GIVEN = Sign(0.5, "a common first name; a few are words as well")
JOINED = Sign(0.45, "`Anna and X`: beside a name stands another")
DATED = Sign(0.55, "a date beside a word such as deadline: often over by the time it is confirmed")
HANDLE = Sign(0.55, "an @ before a word: a person, or a decorator of some code")
SHAPED = Sign(0.4, "capitals inside a word, or digits: a product, or a variable of some code")
SEVERAL = Sign(0.42, "two words with capitals in a row, more than chance")
BEING = Sign(0.3, "it is, has or can: things do that too")
GERMAN = Sign(0.15, "a capital in German, where each noun has one")
FIRST = Sign(0.15, "a capital at the beginning of a sentence, where each word has one")
ACRONYM = Sign(0.3, "nothing but capitals: an organization, or a word such as API")
AGAIN = Sign(0.12, "said once more: what a text comes back to is mostly a thing of its own")

# Of rules of conduct
ORDERED = Sign(0.85, "`Always …`, `Never …`, `Don't …` at the beginning: hardly ever a story")
FROM_NOW = Sign(0.85, "`From now on`: it is said to hold")
ASSURED = Sign(0.75, "`Make sure to …`, `Remember to …`: an order, at times for one day alone")
CONDITIONED = Sign(0.75, "`Before X, do Y`: an order with its occasion")
WANTED = Sign(0.7, "somebody wants it done; at times just once")
BOUND = Sign(0.65, "`must`: a rule, or what happened to be necessary")
PREFERRED = Sign(0.6, "a taste of somebody's: a rule for who works for them")

AGAINS = 4
"""Mentions after the first that still add something."""
MOST = 0.97
"""Nothing that no person has confirmed is certain."""


def confidence(signs: Iterable[Sign], mentions: int) -> float:
    """Join evidence of different kinds as if independent; each further mention adds a little."""
    doubt = 1.0
    for sign in sorted(set(signs)):
        doubt *= 1 - sign.weight
    doubt *= (1 - AGAIN.weight) ** min(AGAINS, max(0, mentions - 1))
    return round(min(MOST, 1 - doubt), 3)

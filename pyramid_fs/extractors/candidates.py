"""What an extractor proposes: names and rules of conduct, each with the sentence that it was found in."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyramid_fs.notes import Kind


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that a person may confirm."""

    kind: Kind
    """ENTITY or PROCEDURE."""
    text: str
    """An entity's name, or a procedure's one sentence."""
    label: str
    """What an entity is: person, place, organization, project, product, work, date, address; empty where unknown."""
    confidence: float
    """0 to 1."""
    evidence: str
    """The sentence it was found in, as it stands."""


def fold(text: str) -> str:
    """Give a text as it is compared: case, composition and white space folded."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def clean(candidates: Iterable[Candidate], find: Callable[[str], list[str]]) -> list[Candidate]:
    """Leave out what holds a secret, by a function that lists the secrets of a text (`leaks.find`)."""
    return [each for each in candidates if not find(f"{each.text}\n{each.evidence}")]


def merged(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Give each thing once, with the highest confidence that it was proposed with."""
    found: dict[tuple[Kind, str], Candidate] = {}
    for each in candidates:
        key = (each.kind, fold(each.text))
        first = found.setdefault(key, each)
        if each.confidence > first.confidence:
            found[key] = replace(first, confidence=each.confidence, label=first.label or each.label)
    return list(found.values())


def standing(quote: str, text: str) -> str:
    """Give a quote as it stands in a text, where only white space may differ; empty where it does not stand there."""
    if quote in text:
        return quote.strip()
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return found[0] if found else ""

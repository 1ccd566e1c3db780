"""Reads candidates out of JSON that a program or a model wrote: what does not stand in the digest is dropped."""

from __future__ import annotations

import json
import logging
from math import isfinite
from typing import TYPE_CHECKING, Any

from pyramid_fs.extractors import ExtractorFailed
from pyramid_fs.extractors.candidates import Candidate, fold, merged, standing
from pyramid_fs.extractors.sentences import sentences
from pyramid_fs.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 400
"""Characters of a name or a rule."""
LABEL = 40
"""Characters of a label."""
SURE = 0.5
"""The confidence of what was proposed without one."""
_KINDS = {"entity": Kind.ENTITY, "procedure": Kind.PROCEDURE}
_LOG = logging.getLogger(__name__)


def parsed(text: str, who: str) -> list[Any]:
    """Read the list that an answer is, alone or under `candidates`; ExtractorFailed where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise ExtractorFailed(f"{who} wrote what is no JSON ({why}): it must print one list of objects") from None
    found = found.get("candidates") if isinstance(found, dict) else found
    if not isinstance(found, list):
        raise ExtractorFailed(f'{who} wrote JSON that is no list: it must print [{{"kind": …, "text": …}}, …]')
    return found


def candidates(items: list[Any], text: str, who: str) -> list[Candidate]:
    """Take the items that hold, and log how many did not; ExtractorFailed where none of them does."""
    found: list[Candidate] = []
    faults: list[str] = []
    for item in items:
        made = candidate(item, text)
        if isinstance(made, Candidate):
            found.append(made)
        else:
            faults.append(made)
    if faults and not found:
        raise ExtractorFailed(f"none of the {len(items)} items by {who} can be used: {faults[0]}")
    if faults:
        _LOG.warning("%d of %d items by %s were dropped: %s", len(faults), len(items), who, faults[0])
    return merged(found)


def candidate(item: Any, text: str) -> Candidate | str:
    """Read one item; where it does not hold, say why."""
    if not isinstance(item, dict):
        return "an item is no object"
    kind = _KINDS.get(str(item.get("kind", "")).strip().lower())
    name = " ".join(_text(item, "text", "name").split())
    if kind is None:
        return "its kind is neither entity nor procedure"
    if not name or len(name) > LONGEST:
        return f"its text is empty or longer than {LONGEST} characters"
    sure = _confidence(item.get("confidence"))
    if sure is None:
        return "its confidence is no number from 0 to 1"
    if kind is Kind.ENTITY and fold(name) not in fold(text):
        return "its name does not stand in the digest"
    evidence = _evidence(item, name, text)
    if not evidence:
        return "its evidence does not stand in the digest"
    label = "" if kind is Kind.PROCEDURE else " ".join(_text(item, "label").split())[:LABEL].lower()
    return Candidate(kind, name, label, sure, evidence)


def _text(item: Mapping[str, Any], *names: str) -> str:
    return next((item[name] for name in names if isinstance(item.get(name), str)), "")


def _confidence(given: Any) -> float | None:
    if given is None:
        return SURE
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given) or not 0 <= given <= 1:
        return None
    return float(given)


def _evidence(item: Mapping[str, Any], name: str, text: str) -> str:
    """Give the evidence as it stands; where none was given, the first sentence with the name in it."""
    given = _text(item, "evidence")
    if given.strip():
        return standing(given, text)
    return next((sentence for sentence in sentences(text) if fold(name) in fold(sentence)), "")

"""Recall and precision of an extractor against a gold file: `python -m tests.bench.extraction GOLD.jsonl [--misses]`.

A line of the file is a digest with what a reader finds in it; the spellings that count as one name stand between bars:

    {"set": "Latin", "text": "…", "entities": ["Ada|Ada Lovelace"], "others": ["Dune"], "procedures": ["Always …"]}

`entities` must be proposed; `others` are real too, and nobody misses them.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pyramid_fs.extractors import Rules
from pyramid_fs.extractors.candidates import fold
from pyramid_fs.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyramid_fs.extractors import Candidate, Extractor

ADMIT = 0.5
"""What is less sure is not proposed: the `curation.admit` of a vault that says nothing."""


@dataclass(frozen=True)
class Digest:
    """A text, and what a reader finds in it."""

    set: str
    text: str
    entities: tuple[str, ...]
    others: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()


@dataclass
class Score:
    """What was found and what was not, over some digests."""

    gold: int = 0
    found: int = 0
    proposed: int = 0
    right: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share of the gold that was proposed."""
        return self.found / self.gold if self.gold else 1.0

    @property
    def precision(self) -> float:
        """The share of what was proposed that is real."""
        return self.right / self.proposed if self.proposed else 1.0

    def add(self, gold: Iterable[str], others: Iterable[str], proposed: Iterable[str]) -> None:
        """Count one digest; a second spelling of the same thing is wrong."""
        wanted, more = [_spellings(each) for each in gold], [_spellings(each) for each in others]
        said = [fold(each) for each in proposed]
        self.gold, self.proposed = self.gold + len(wanted), self.proposed + len(said)
        hit = [each for each in wanted if any(one in each for one in said)]
        self.found += len(hit)
        self.right += len(hit) + sum(any(one in each for one in said) for each in more)
        self.missed += ["|".join(sorted(each)) for each in wanted if each not in hit]
        self.wrong += [one for one in said if not any(one in each for each in wanted + more)]


def _spellings(name: str) -> set[str]:
    return {fold(each) for each in name.split("|")}


def read(path: Path) -> list[Digest]:
    """Read a gold file."""
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return [
        Digest(
            line.get("set", ""),
            line["text"],
            *(tuple(line.get(key, ())) for key in ("entities", "others", "procedures")),
        )
        for line in lines
    ]


def scores(digests: Iterable[Digest], extractor: Extractor, admit: float = ADMIT) -> tuple[Score, Score]:
    """Score an extractor: its entities, then its procedures. Dates and addresses are checked by their form alone."""
    entities, procedures = Score(), Score()
    for digest in digests:
        sure = [each for each in extractor.extract(digest.text) if each.confidence >= admit]
        entities.add(digest.entities, digest.others, _texts(sure, Kind.ENTITY))
        procedures.add(digest.procedures, (), _texts(sure, Kind.PROCEDURE))
    return entities, procedures


def _texts(candidates: Iterable[Candidate], kind: Kind) -> list[str]:
    return [each.text for each in candidates if each.kind is kind]


def main() -> int:
    """Print a table, one row for each set and kind."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.extraction", description=__doc__)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--admit", type=float, default=ADMIT, help="propose nothing that is less sure")
    parser.add_argument("--misses", action="store_true", help="list what was missed, and what is wrong")
    asked = parser.parse_args()
    digests = read(asked.gold)
    print("| set | what | gold | recall | proposed | precision |\n|---|---|--:|--:|--:|--:|")
    for name in dict.fromkeys(digest.set for digest in digests):
        ours = [digest for digest in digests if digest.set == name]
        for what, score in zip(("entities", "procedures"), scores(ours, Rules(), asked.admit), strict=True):
            figures = f"{score.gold} | {score.recall:.0%} | {score.proposed} | {score.precision:.0%}"
            print(f"| {name} | {what} | {figures} |")
            if asked.misses:
                print(f"  missed: {score.missed}\n  wrong: {score.wrong}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What of the facts of LoCoMo's notes survives at each tier: `python -m tests.bench.loss FOLDER`, two to five minutes.

FOLDER holds the data set as JSON lines, which is never part of this repository: `turns.jsonl` (`conv`, `id`, `date`,
`speaker`, `text`) and `questions.jsonl` (`answer`, `gold`: ids of the turns that answer it).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyramid_fs import Memory, facts, kinds, pyramid, vault
from pyramid_fs.summarizers import in_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyramid_fs.facts import Fact
    from pyramid_fs.notes import Note

ALL = "all"
"""The model that has every turn: the only one that is large enough for a tier 3."""


@dataclass(frozen=True)
class Turn:
    """A note, its facts, and those of them that answer a question."""

    text: str
    sentences: tuple[str, ...]
    facts: frozenset[Fact]
    gold: frozenset[Fact]


@dataclass
class Score:
    """How many facts there were, and how many each text held."""

    texts: int = 0
    known: int = 0
    held: int = 0
    gold: int = 0
    ours: int = 0
    lead: int = 0
    drawn: int = 0

    def add(self, turns: Sequence[Turn], text: str, draw: random.Random) -> None:
        """Score a text beside the first sentences of the same notes, and random ones, up to the same length."""
        known = frozenset().union(*(turn.facts for turn in turns))
        gold = frozenset().union(*(turn.gold for turn in turns))
        lines = [line for turn in turns for line in turn.sentences]
        self.texts += 1
        self.known += len(known)
        self.gold += len(gold)
        self.held += len(facts.held(known, text))
        self.ours += len(facts.held(gold, text))
        self.lead += len(facts.held(gold, _first(lines, len(text))))
        self.drawn += len(facts.held(gold, _first(draw.sample(lines, len(lines)), len(text))))


def _first(lines: Iterable[str], length: int) -> str:
    """Take sentences until they are as long as a text, to within half of the last."""
    taken, used = [], 0
    for line in lines:
        if used + len(line) / 2 > length:
            break
        taken.append(line)
        used += len(line) + 1
    return "\n".join(taken)


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _turns(folder: Path) -> dict[str, Turn]:
    """Read the turns, each with the facts of the answers that it gives: those that stand in it."""
    said = {each["id"]: f"{each['speaker']}: {each['text']}" for each in _lines(folder / "turns.jsonl")}
    learned = facts.Names()
    told = {name: learned.told(text) for name, text in said.items()}
    names = learned.known
    gold: dict[str, set[Fact]] = {name: set() for name in said}
    for question in _lines(folder / "questions.jsonl"):
        answer = facts.told(str(question["answer"])).with_names(names)
        for name in question["gold"]:
            if name in said:
                gold[name] |= facts.held(answer, said[name])
    return {
        name: Turn(text, tuple(in_sentences(text).splitlines()), told[name].with_names(names), frozenset(gold[name]))
        for name, text in said.items()
    }


def _fill(memory: Memory, folder: Path, work: Path) -> None:
    path = work / "import.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for each in _lines(folder / "turns.jsonl"):
            text, created = f"{each['speaker']}: {each['text']}", f"{each['date']}Z"
            line = {"models": [each["conv"], ALL], "text": text, "created": created, "source": each["id"]}
            out.write(json.dumps(line) + "\n")
    memory.import_jsonl(path)
    done = memory.advance()
    print(f"{len(done.written)} summaries", file=sys.stderr)


def _score(memory: Memory, models: Sequence[str], turns: dict[str, Turn]) -> Iterator[tuple[str, Score]]:
    draw = random.Random(1)
    tiers: dict[int, Score] = {}
    view = Score()
    for model in models:
        state = memory.census.fresh(model).state
        notes = {note.path: turns[note.source] for note in state.notes}
        for handle, summary in state.active.items():
            below = [notes[path] for _, path, _ in pyramid.leaves(state, [handle])]
            text = kinds.note_text(memory.vault.page(summary.path))
            tiers.setdefault(summary.tier, Score()).add(below, text, draw)
        (shown,) = memory.load([model]).models
        texts = [text.text for text in (*shown.summaries, *shown.recent)]
        view.add([notes[note.path] for note in sorted(state.notes, key=_by_age)], "\n".join(texts), draw)
    yield from ((f"tier {tier}", tiers[tier]) for tier in sorted(tiers))
    yield "the view alone", view


def _by_age(note: Note) -> tuple[object, str]:
    return (note.created, note.handle)


def _row(what: str, score: Score) -> str:
    kept = f"{score.held / score.known:.1%} of {score.known:,}"
    gold = [f"{part / score.gold:.1%}" for part in (score.ours, score.lead, score.drawn)]
    return f"| {what} ({score.texts:,}) | {kept} | {gold[0]} of {score.gold:,} | {gold[1]} | {gold[2]} |"


def main() -> None:
    """Make the vault, summarize it without a model, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.loss", description=__doc__)
    parser.add_argument("folder", type=Path, help="where LoCoMo lies")
    folder = parser.parse_args().folder
    turns = _turns(folder)
    convs = list(dict.fromkeys(name.partition("/")[0] for name in turns))
    with tempfile.TemporaryDirectory(prefix="pyramid-loss-") as made:
        work = Path(made)
        vault.make_vault(work / "vault", models=dict.fromkeys([*convs, ALL], ""))
        environ = {"PYRAMID_CACHE_DIR": str(work / "cache"), "PYRAMID_CONFIG": str(work / "none.toml")}
        with Memory(work / "vault", environ=environ) as memory:
            _fill(memory, folder, work)
            print("| where | facts of the notes kept | of the answers | lead | random |\n|---|--:|--:|--:|--:|")
            for title, models in ((f"{len(convs)} models, one a conversation", convs), ("one model of all", [ALL])):
                print(f"| **{title}** | | | | |")
                for what, score in _score(memory, models, turns):
                    print(_row(what, score), flush=True)


if __name__ == "__main__":
    main()

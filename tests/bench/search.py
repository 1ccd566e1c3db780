"""Figures of recall: whole answers against SQLite's FTS5 fed the same terms, and against a search through the files."""

from __future__ import annotations

import bisect
import itertools
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest import mock

from pyramid_fs import kinds, layout, vault, words
from pyramid_fs import recall as searching
from pyramid_fs.indexing import quiet

from . import made, stat_walk
from .rows import Row, ms
from .timing import Pair, process, processes, pyramid, python, timed, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.memory import Memory

    from .figures import Bench

VOCABULARY = 40_000
"""Different words; the n-th is as frequent as 1 / (n + 3), as in a person's notes (Zipf and Mandelbrot)."""
LENGTH = 90
"""Words of a note, on average: some 550 characters."""
QUERIES = 30
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]


class Language:
    """Words that look like words, drawn as often as a language draws its own."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        made_of = itertools.product(SYLLABLES, SYLLABLES, SYLLABLES)
        self.words = ["".join(word) for word in itertools.islice(made_of, VOCABULARY)]
        random.Random(1).shuffle(self.words)
        self._sums = list(itertools.accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))

    def text(self, length: int) -> str:
        """Draw a text of so many words."""
        found = (self.words[bisect.bisect(self._sums, self.draw.random() * self._sums[-1])] for _ in range(length))
        return " ".join(found)

    def query(self, count: int, first: int, last: int) -> str:
        """Draw a query from the words of some ranks."""
        return " ".join(self.draw.sample(self.words[first:last], count))


def build(bench: Bench, count: int) -> Path:
    """Make a vault of so many notes in models of 500."""
    root = bench.folder / f"search-{count}"
    if root.exists():
        return root
    models = [f"m{number:03d}" for number in range(max(1, count // 500))]
    vault.make_vault(root, models=dict.fromkeys(models, "A model to measure on."))
    language = Language(count)
    for number in range(count):
        text = language.text(language.draw.randint(LENGTH // 2, LENGTH * 3 // 2))
        created = made.FIRST + number // len(models) * made.STEP
        suffix = "".join(language.draw.choice(layout.ALPHABET) for _ in range(layout.SUFFIX))
        path = root / layout.note_path(models[number % len(models)], created, text, suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(kinds.spell_note(text, created, ""))
    time.sleep(made.DOUBT)
    return root


def recall(bench: Bench) -> Iterator[Row]:
    """Measure what recall costs: to build, to keep fresh, to ask; of 1,000, 10,000 and (`--full`) 100,000 notes."""
    for count in (1_000, 10_000, *([100_000] if bench.full else [])):
        root = build(bench, count)
        with bench.open(root) as memory:
            memory.map()
            yield from _built(memory, count)
            yield from _asked(memory, root, count, bench.turns)
            yield from _appears(memory, root, count, bench.turns)
        yield from _cold(bench, root, count)


def _built(memory: Memory, count: int) -> Iterator[Row]:
    seconds = timed(partial(memory.reindex))
    cache = memory._cache / "index"
    size = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    text = sum(len(memory.vault.page(path).body.encode()) for path in _paths(memory))
    yield Row(f"index of {count:,} notes, built afresh", f"{count / seconds:,.0f} notes/s", ratio=f"{seconds:,.1f} s")
    yield Row(f"its size beside that of the texts, {count:,} notes", f"{size / 1e6:,.1f} MB",
                f"texts: {text / 1e6:,.1f} MB", f"{size / text:.2f}")  # fmt: skip


def _paths(memory: Memory) -> list[str]:
    return [file.path for file in memory.census.values() if layout.place(file.path)]


def _asked(memory: Memory, root: Path, count: int, rounds: int) -> Iterator[Row]:
    language = Language(7)
    with closing(_fts(memory)) as base, mock.patch.object(memory.census, "refresh"):
        memory.recall("x")
        ranked = partial(_ranked, memory)
        short = [language.query(language.draw.randint(1, 3), 50, 5_000) for _ in range(QUERIES)]
        sentences = [language.query(8, 5, 2_000) for _ in range(QUERIES)]
        for what, queries in (("one to three words", short), ("a sentence of eight", sentences)):
            pair = _turns(queries, ranked, _fts_search(base), max(3, rounds // 3))
            limit = _limit(pair.ratio, 5, of=count >= 10_000)
            yield Row(f"the ten best, warm, {what}, {count:,} notes", ms(pair.figure), f"FTS5: {ms(pair.baseline)}",
                      f"{pair.ratio:.2f}", *limit)  # fmt: skip
            whole = _turns(queries, memory.recall, ranked, 1)
            yield Row("the same with fragments, as `recall` answers", ms(whole.figure),
                        f"without: {ms(whole.baseline)}", f"{whole.ratio:.2f}")  # fmt: skip
        tool = "rg" if shutil.which("rg") else "grep"
        pair = _turns(short[:5], ranked, lambda query: _through_files(tool, query, root), 1)
        holds = 1 / pair.ratio >= 100 if count >= 100_000 else None
        yield Row(f"the ten best, one to three words, {count:,} notes", ms(pair.figure), f"{tool}: {ms(pair.baseline)}",
                    f"1/{1 / pair.ratio:,.0f}", "≤ 1/100" if holds is not None else "", holds)  # fmt: skip


def _ranked(memory: Memory, query: str) -> list[Any]:
    """Rank, and name the ten best, as the other engine does: no file is opened for it."""
    census, (index, places) = memory.census, memory._search
    return list(itertools.islice(searching.Search(census, index, places, query, searching.Asked(), quiet).ranked(), 10))


def _turns(queries: list[str], one: Callable[[str], object], other: Callable[[str], object], rounds: int) -> Pair:
    """Ask both each query, first once uncounted; give the medians over all queries of the best of some rounds."""
    for query in queries:
        one(query)
        other(query)
    best = [
        (min(timed(lambda: one(q)) for _ in range(rounds)), min(timed(lambda: other(q)) for _ in range(rounds)))  # noqa: B023
        for q in queries
    ]
    ratio = statistics.median(a / b for a, b in best)
    return Pair(statistics.median(a for a, _ in best), statistics.median(b for _, b in best), ratio)


def _fts(memory: Memory) -> sqlite3.Connection:
    base = sqlite3.connect(memory._cache / "bench-fts.sqlite3")
    base.execute("DROP TABLE IF EXISTS t")
    base.execute("CREATE VIRTUAL TABLE t USING fts5 (text)")
    texts = (" ".join(words.terms(memory.vault.page(path).body)) for path in _paths(memory))
    base.executemany("INSERT INTO t VALUES (?)", ((text,) for text in texts))
    base.commit()
    return base


def _fts_search(base: sqlite3.Connection) -> Callable[[str], object]:
    def search(query: str) -> list[Any]:
        asked = " OR ".join(f'"{term}"' for term in words.terms(query))
        return base.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (asked,)).fetchall()

    return search


def _through_files(tool: str, query: str, root: Path) -> None:
    call = {"rg": ["rg", "-il", "--no-messages", "-e"], "grep": ["grep", "-rilE"]}[tool]
    subprocess.run([*call, query.replace(" ", "|"), str(root / "models")], stdout=subprocess.DEVNULL, check=False)


def _appears(memory: Memory, root: Path, count: int, rounds: int) -> Iterator[Row]:
    """Measure from a file's appearing to its being found, in a process that has the vault open and walks it."""
    numbers = itertools.count()
    folder = root / "models" / "m000"

    def appear() -> float:
        number = next(numbers)
        (folder / f"appears {number}.md").write_text(f"Quixotic{number} came.")
        seconds = timed(lambda: memory.recall(f"Quixotic{number}").hits[0])
        (folder / f"appears {number}.md").unlink()
        return seconds

    appear()
    pair = turns(appear, lambda: timed(lambda: stat_walk.walk(str(root / "models"))), rounds)
    yield Row(f"a file appears and is found, {count:,} notes, warm", ms(pair.figure),
                f"stat walk: {ms(pair.baseline)}", f"{pair.ratio:.2f}")  # fmt: skip


def _cold(bench: Bench, root: Path, count: int) -> Iterator[Row]:
    time.sleep(made.DOUBT)
    query = Language(9).query(2, 50, 5_000)
    call = pyramid("--vault", str(root), "recall", query)
    process(call, bench.environ)
    if count == 1_000:
        pair = processes(call, python("import whoosh.index"), bench.environ, bench.turns)
        yield Row(f"cold `recall`, {count:,} notes", ms(pair.figure), f"`import whoosh.index`: {ms(pair.baseline)}",
                    f"{pair.ratio:.2f}", "≤ 4", pair.ratio <= 4)  # fmt: skip
        return
    small = bench.folder / "search-1000"
    above = _above(call, pyramid("--vault", str(small), "recall", query), bench)
    walk = [[sys.executable, stat_walk.__file__, str(folder / "models")] for folder in (root, small)]
    bare = _above(walk[0], walk[1], bench)
    yield Row(f"cold `recall`, {count:,} notes, above that of 1,000", ms(above), f"stat walk, likewise: {ms(bare)}",
                f"{above / bare:.2f}", *_limit(above / bare, 2, of=count >= 100_000))  # fmt: skip


def _limit(ratio: float, limit: float, *, of: bool) -> tuple[str, bool | None]:
    """Give the limit as it is shown, and whether the ratio keeps within it; nothing where there is none `of` it."""
    return (f"≤ {limit:g}", ratio <= limit) if of else ("", None)


def _above(one: list[str], other: list[str], bench: Bench) -> float:
    """Give what a process takes more than another, as the median over some turns."""
    more = [process(one, bench.environ).seconds - process(other, bench.environ).seconds for _ in range(bench.turns)]
    return statistics.median(more)

"""The summarizers: one small interface, the checks that a text must pass before it is stored, and who is configured."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from pyramid_fs.errors import SummarizerFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyramid_fs.settings import SummarizerSettings

MIN_CHARS = 40
"""A shorter text is a failure, unless the sources are no longer than that."""
RUNAWAY = 2.5
"""A text longer than this many targets is a failure (the ceiling that the first system gave its model)."""
NO_TEXT = "The notes of this batch hold no text."
"""What is said of notes that are all front matter: they count, and there is nothing to pick."""
ECHO = 0.8
"""A text that gives this share of the sources' words back is no summary, where they exceed its target by half."""


_BREAKS = re.compile(r"^(-{3,}\s*$|<{7} |>{7} ).*\n?", re.MULTILINE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OUTPUT = re.compile(
    r"\s*(<!doctype\b|<html\b|<\?xml\b|traceback \(most recent|http/\d\S* \d{3}\b|\{\s*\"\w+\"\s*:)", re.IGNORECASE
)
_DRESSING = re.compile(r"^(\[[^\[\]\n]*\]|.*\bfor the memory named \".*|)$\n?|^> ?", re.MULTILINE)
"""What a model reads around the notes: the line above each, and the marks that quote it."""
CUT_OFF = 25
"""Words in a row: a text of so many that stands word for word in the sources is a piece of them."""


@dataclass(frozen=True, slots=True)
class Item:
    """One source as a summarizer reads it."""

    handle: str
    date: str
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be summarized, from whose point of view, and how long the summary should be."""

    model: str
    description: str
    tier: int
    target: int
    """Characters."""
    items: tuple[Item, ...]
    """Oldest first: notes at tier 0, summaries above it."""
    notes: Callable[[], Iterable[str]]
    """The texts of all the notes below, oldest first."""

    @property
    def chars(self) -> int:
        """Size of the sources."""
        return sum(len(item.text) for item in self.items)


class Summarizer(Protocol):
    """Writes one summary; raises SummarizerFailed with the reason where it can't."""

    name: str
    """What the summary's `summarizer` says: provider and model."""
    draft: bool
    """Whether a model is to write its summaries again."""
    takes: int
    """Characters of sources that it reads at once; 0 for any number."""
    slow: bool
    """Whether somebody who waits for an answer should not wait for it."""

    def summarize(self, request: Request) -> str:
        """Write the summary."""
        ...


def write(summarizer: Summarizer, request: Request) -> str:
    """Have a summary written and checked; sources too long for one call are read in parts, none of them skipped."""
    if summarizer.takes and request.chars > summarizer.takes:
        parts = [_one(summarizer, replace(request, items=part)) for part in _parts(request.items, summarizer.takes)]
        items = tuple(Item(f"part {number}", "", text) for number, text in enumerate(parts, 1))
        return write(summarizer, replace(request, items=items))
    return _one(summarizer, request)


def _one(summarizer: Summarizer, request: Request) -> str:
    text = in_sentences(summarizer.summarize(request)) if summarizer.slow else _unbroken(summarizer.summarize(request))
    if reason := fault(text, request, extract=not summarizer.slow):
        raise SummarizerFailed(f"the summary by {summarizer.name} was not stored: {reason}")
    return text


def _unbroken(text: str) -> str:
    """Leave out of an extract the lines of a note that would be marks of the file's own in a summary."""
    return _BREAKS.sub("", text).strip()


def _parts(items: Iterable[Item], most: int) -> Iterator[tuple[Item, ...]]:
    part: list[Item] = []
    for piece in (piece for item in items for piece in _pieces(item, most)):
        if part and sum(len(item.text) for item in part) + len(piece.text) > most:
            yield tuple(part)
            part = []
        part.append(piece)
    yield tuple(part)


def _pieces(item: Item, most: int) -> Iterator[Item]:
    """Break a source that is too long for one call where a line, a sentence or a word ends."""
    text = item.text
    while len(text) > most:
        ends = (text.rfind(mark, most // 2, most) for mark in ("\n", ". ", " "))
        cut = next((end + 1 for end in ends if end > 0), most)
        yield replace(item, text=text[:cut])
        text = text[cut:]
    yield replace(item, text=text)


def in_sentences(text: str) -> str:
    """Set a text one sentence a line, so that git diffs a sentence."""
    import sentencex

    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return "\n".join(s.strip() for line in lines for s in sentencex.segment("en", line) if s.strip())


def fault(text: str, request: Request, *, extract: bool = False) -> str:
    """Say why a text may not be stored as the summary; empty where it may."""
    if not text.strip():
        return "it wrote nothing"
    if not extract and len(text) < MIN_CHARS < request.chars:  # an extract is short where the notes hold little
        return f"it wrote only {len(text)} characters: {text[:MIN_CHARS]!r}"
    if len(text) > RUNAWAY * request.target:
        return f"it wrote {len(text):,} characters where about {request.target} were asked for"
    if "\0" in text or _BREAKS.search(text):
        return "it wrote what would break the file: NUL bytes, front matter or conflict marks"
    if _is_json(text):
        return "it wrote JSON, not prose"
    return "" if extract else _fault_of_a_program(text, request)


def _fault_of_a_program(text: str, request: Request) -> str:
    if _CONTROLS.search(text):
        return "it wrote control characters, not prose"
    if _OUTPUT.match(text):
        return "it wrote an error page or a traceback, not prose"
    if _is_echo(text, request):
        return "it gave the notes back instead of a summary"
    return ""


def _is_json(text: str) -> bool:
    stripped = re.sub(r"^```\w*\s*|\s*```$", "", text.strip())
    if stripped[:1] not in "{[":
        return False
    try:
        json.loads(stripped)
    except ValueError:
        return False
    return True


def _is_echo(text: str, request: Request) -> bool:
    if request.chars <= 1.5 * request.target:
        return False
    given = [word for item in request.items for word in re.findall(r"\w+", item.text.casefold())]
    words, back = Counter(given), re.findall(r"\w+", _DRESSING.sub("", text).casefold())
    if sum((words & Counter(back)).values()) >= ECHO * sum(words.values()):
        return True
    from pyramid_fs.summarizers.prompt import rules

    # a piece of what the program read, cut off anywhere
    asked = re.findall(r"\w+", _DRESSING.sub("", rules(request)).casefold())
    return len(back) >= CUT_OFF and f" {' '.join(back[1:-1])} " in f" {' '.join([*asked, *given])} "


def configured(chosen: SummarizerSettings) -> Summarizer | None:
    """Make the summarizer that a person configured; None where an agent writes the summaries."""
    if chosen.kind == "none":
        return None
    if chosen.kind == "command":
        from pyramid_fs.summarizers.command import Command

        return Command(chosen.command, chosen.timeout, chosen.model)
    return Extractive()


class Extractive:
    """The embedded default: whole sentences of the notes below, picked without a model."""

    name = "extractive"
    draft = True
    takes = 0
    slow = False

    def summarize(self, request: Request) -> str:
        """Pick the sentences, from the notes below at every tier."""
        from pyramid_fs.summarizers.extractive import extract

        text = extract(request.notes(), request.target)
        if text and not len(text) < MIN_CHARS < request.chars:
            return text
        # ten times the same remark, or no words at all: what stands there is short, and still all there is to say
        return _first_lines((item.text for item in request.items), request.target)


def _first_lines(texts: Iterable[str], target: int) -> str:
    """Take lines as they stand until a summary is long enough to be stored."""
    lines: list[str] = []
    for line in (line.strip() for text in texts for line in text.splitlines()):
        if sum(len(each) + 1 for each in lines) > MIN_CHARS:
            break
        if line.strip("-") and len(line) <= target:
            lines.append(line)
    return "\n".join(lines) or NO_TEXT

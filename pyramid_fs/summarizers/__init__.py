"""The summarizers: one small interface, a call with its checks before a text is stored, and who is configured."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pyramid_fs.errors import SummarizerFailed, UsageError
from pyramid_fs.summarizers.checks import MIN_CHARS, fault, tidy, unbroken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyramid_fs.settings import SummarizerSettings

__all__ = [
    "Answer", "Call", "Extractive", "Item", "Request", "Summarizer", "Throttled", "Unusable",
    "configured", "fault", "in_sentences", "tidy", "write",
]  # fmt: skip

NO_TEXT = "The notes of this batch hold no text."
"""What is said of notes that are all front matter: they count, and there is nothing to pick."""


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
    complaint: str = ""
    """What was wrong with the answer before, where it is asked again."""
    template: str = ""
    """Rules of the vault's own, which its owner trusts on this machine; empty for ours."""

    @property
    def chars(self) -> int:
        """Size of the sources."""
        return sum(len(item.text) for item in self.items)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered, and what it counted."""

    text: str
    tokens_in: int | None = None
    """None where it was not said."""
    tokens_out: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a summarizer, whatever came of it."""

    summarizer: str
    chars_in: int
    """Of the sources."""
    chars_out: int
    """Of the answer as it came."""
    tokens_in: int | None
    tokens_out: int | None
    seconds: float
    reason: str = ""
    """Why nothing of it was stored; empty where it was good."""


class Throttled(SummarizerFailed):
    """The other side is busy, or a budget there is used up; it may say how long to wait."""

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        """Seconds; None where it was not said."""


class Unusable(SummarizerFailed):
    """A model's answer that holds no whole text; it may have been paid for all the same."""

    def __init__(self, text: str, answer: Answer) -> None:
        super().__init__(text)
        self.answer = answer
        """What it cost."""


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


@runtime_checkable
class Answering(Protocol):
    """A summarizer that tells what its calls cost."""

    def answer(self, request: Request) -> Answer:
        """Write the summary."""
        ...


def write(summarizer: Summarizer, request: Request, spent: Callable[[Call], None] | None = None) -> str:
    """Have a summary written and checked; sources too long for one call are read in parts, none of them skipped.

    `spent` is told of every single call, failed ones too, in the thread that called.
    """
    if summarizer.takes and request.chars > summarizer.takes:
        parts = [
            _one(summarizer, replace(request, items=part), spent) for part in _parts(request.items, summarizer.takes)
        ]
        items = tuple(Item(f"part {number}", "", text) for number, text in enumerate(parts, 1))
        return write(summarizer, replace(request, items=items), spent)
    return _one(summarizer, request, spent)


def _one(summarizer: Summarizer, request: Request, spent: Callable[[Call], None] | None) -> str:
    text, reason = _call(summarizer, request, spent)
    if reason and summarizer.slow:  # a model told what was wrong mostly mends it; what is embedded says the same again
        text, reason = _call(summarizer, replace(request, complaint=reason), spent)
    if reason:
        raise SummarizerFailed(f"the summary by {summarizer.name} was not stored: {reason}")
    return text


def _call(summarizer: Summarizer, request: Request, spent: Callable[[Call], None] | None) -> tuple[str, str]:
    """Call a summarizer once; give its text, and what is wrong with it."""
    begun, answer, reason = time.monotonic(), Answer(""), "it was interrupted"
    try:
        answer = _answer(summarizer, request)
        text = in_sentences(tidy(answer.text)) if summarizer.slow else unbroken(answer.text)
        reason = fault(text, request, extract=not summarizer.slow)
    except SummarizerFailed as error:
        reason = str(error)
        answer = error.answer if isinstance(error, Unusable) else answer
        raise
    finally:
        if spent:
            seconds = time.monotonic() - begun
            size = len(answer.text)
            spent(Call(summarizer.name, request.chars, size, answer.tokens_in, answer.tokens_out, seconds, reason))
    return text, reason


def _answer(summarizer: Summarizer, request: Request) -> Answer:
    return summarizer.answer(request) if isinstance(summarizer, Answering) else Answer(summarizer.summarize(request))


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


def configured(chosen: SummarizerSettings) -> Summarizer | None:
    """Make the summarizer that a person configured; None where an agent writes the summaries.

    UsageError where the vendor's package that it needs is not installed.
    """
    if chosen.kind == "none":
        return None
    if chosen.kind == "command":
        from pyramid_fs.summarizers.command import Command

        return Command(chosen.command, chosen.timeout, chosen.model)
    if chosen.kind == "openai":
        from pyramid_fs.summarizers.openai import OpenAI

        return OpenAI(_with_extra(chosen))
    if chosen.kind == "anthropic":
        from pyramid_fs.summarizers.anthropic import Anthropic

        return Anthropic(_with_extra(chosen))
    return Extractive()


def _with_extra(chosen: SummarizerSettings) -> SummarizerSettings:
    import importlib.util  # for these alone

    # looked for here and imported by the first call: it takes a second or two, and `status` calls nobody
    if importlib.util.find_spec(chosen.kind) is None:
        raise UsageError(
            f"summarizer.kind {chosen.kind!r} needs a package that is not installed: "
            f"pip install 'pyramid-fs[{chosen.kind}]'"
        )
    return chosen


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

"""The extractors: who proposes names and rules of conduct from a digest, one small interface, and who is configured.

What holds a secret is the caller's to leave out: `clean(candidates, leaks.find)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pyramid_fs.errors import SummarizerFailed, UsageError
from pyramid_fs.extractors.candidates import Candidate, clean

if TYPE_CHECKING:
    from pyramid_fs.settings import ExtractorSettings

__all__ = ["Candidate", "Extractor", "ExtractorFailed", "Rules", "clean", "configured"]


class ExtractorFailed(SummarizerFailed):
    """An extractor gave nothing that may be proposed; the text says why."""


class Extractor(Protocol):
    """Proposes candidates; raises ExtractorFailed, or another SummarizerFailed, with the reason where it can't."""

    name: str
    """`rules`, or the program or the vendor with the model."""
    slow: bool
    """Whether somebody who waits for an answer should not wait for it."""

    def extract(self, text: str) -> list[Candidate]:
        """Propose what a digest names and what it says to do."""
        ...


class Rules:
    """The embedded default: names and rules by what stands around them, without a model."""

    name = "rules"
    slow = False

    def extract(self, text: str) -> list[Candidate]:
        """Propose by rules."""
        from pyramid_fs.extractors.rules import propose  # its tables take time to compile

        return propose(text)


def configured(chosen: ExtractorSettings) -> Extractor:
    """Make the extractor that a person configured.

    UsageError where the vendor's package that it needs is not installed.
    """
    if chosen.kind == "command":
        from pyramid_fs.extractors.command import Command

        return Command(chosen.command, chosen.timeout, chosen.model)
    if chosen.kind in {"openai", "anthropic"}:
        return _model(chosen)
    return Rules()


def _model(chosen: ExtractorSettings) -> Extractor:
    import importlib.util  # for these alone

    from pyramid_fs.extractors.model import Model

    # looked for here and imported by the first call, which takes a second or two
    if importlib.util.find_spec(chosen.kind) is None:
        raise UsageError(
            f"extractor.kind {chosen.kind!r} needs a package that is not installed: "
            f"pip install 'pyramid-fs[{chosen.kind}]'"
        )
    return Model(chosen)

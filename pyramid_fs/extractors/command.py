"""A program of the user's as extractor: the digest on its standard input, a JSON list on its standard output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyramid_fs.extractors import ExtractorFailed, answers
from pyramid_fs.summarizers.command import SHOWN, run

if TYPE_CHECKING:
    from pyramid_fs.extractors import Candidate


class Command:
    """An argument list, run without a shell, bounded in time and in what it writes."""

    slow = True

    def __init__(self, command: tuple[str, ...], timeout: float, model: str = "") -> None:
        self._command, self._timeout = command, timeout
        self.name = f"command:{model or Path(command[0]).name}"

    def extract(self, text: str) -> list[Candidate]:
        """Run the program once; it need not run for a digest without words."""
        if not text.strip():
            return []
        code, said, complained = run(self._command, text.encode("utf-8", "replace"), self._timeout)
        if code:
            why = " ".join(complained.decode("utf-8", "replace").split())[:SHOWN]
            raise ExtractorFailed(f"{self._command[0]} ended with {code}{f': {why}' if why else ''}")
        try:
            written = said.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ExtractorFailed(f"{self._command[0]} wrote what is not UTF-8 (at byte {error.start})") from None
        return answers.candidates(answers.parsed(written, self._command[0]), text, self._command[0])

"""A program of the user's as summarizer: the batch on its standard input, the summary on its standard output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.summarizers import prompt

if TYPE_CHECKING:
    from pyramid_fs.summarizers import Request

TAKES = 60_000
"""Characters given at once: some 15,000 tokens, which every current model takes."""
SHOWN = 200
"""Characters of a program's complaint that are passed on."""
INSIDE = "PYRAMID_IN_SUMMARIZER"
"""Set for the program: an agent started as summarizer must not start growth of its own."""


class Command:
    """An argument list, run without a shell, in a group of its own that ends with it."""

    draft = False
    takes = TAKES
    slow = True

    def __init__(self, command: tuple[str, ...], timeout: float, model: str = "") -> None:
        self._command, self._timeout = command, timeout
        self.name = f"command:{model or Path(command[0]).name}"

    def summarize(self, request: Request) -> str:
        """Run the program once."""
        try:
            child = subprocess.Popen(  # noqa: S603  (the user's own configuration names it; never a vault)
                [_at_home(word) for word in self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, INSIDE: "1"},
            )
        except (OSError, ValueError) as error:
            raise SummarizerFailed(f"{self._command[0]} can't be started: {error}") from error
        try:
            out, complaint = child.communicate(prompt.text(request).encode(), timeout=self._timeout)
        except subprocess.TimeoutExpired:
            raise SummarizerFailed(f"{self._command[0]} gave no answer within {self._timeout:g} seconds") from None
        finally:
            _end(child)
        if child.returncode:
            said = " ".join(complaint.decode("utf-8", "replace").split())[:SHOWN]
            raise SummarizerFailed(f"{self._command[0]} ended with {child.returncode}{f': {said}' if said else ''}")
        return out.decode("utf-8", "replace")


def _at_home(word: str) -> str:
    """Set the home folder in for `~`, which no shell does here."""
    with contextlib.suppress(RuntimeError):  # `~name`, and nobody has that name
        return str(Path(word).expanduser()) if word.startswith("~") else word
    return word


def _end(child: subprocess.Popen[bytes]) -> None:
    """End what the program left running, and take in its exit status."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    elif child.poll() is None:
        child.kill()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream:
            with contextlib.suppress(OSError):
                stream.close()
    child.wait()

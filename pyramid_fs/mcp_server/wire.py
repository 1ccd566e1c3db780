"""The process around the server: its two ends of the protocol, and its end with whoever started it; without mcp."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PARENT = 0.5
"""Seconds between two looks whether the process that started this one is still there."""
LAST_ANSWERS = 10.0
"""Seconds that calls still running when the input ends have for their answers: `pyramid mcp < calls` gets them all."""


class Wire:
    """The two ends of the protocol, taken away from the process's own standard streams before anything is written.

    From then on the process's standard output is its standard error, for libraries and for programs that it starts.
    """

    def __init__(self) -> None:
        wire_in, wire_out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        sys.stdout = sys.stderr
        asked = _Asked()
        self.input = _Input(wire_in, asked)
        self.output = _Output(wire_out, asked)

    def on_end(self, told: Callable[[], None]) -> None:
        """Say whom to tell when the input has ended."""
        self.input.told = told


class _Asked:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._changed = threading.Condition()

    def read(self, line: str) -> None:
        """Take in a line that came."""
        self._note(line, is_asked=True)

    def written(self, line: str) -> None:
        """Take in a line that went out."""
        self._note(line, is_asked=False)

    def _note(self, line: str, *, is_asked: bool) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict) or "id" not in message or ("method" in message) != is_asked:
            return
        with self._changed:
            (self._open.add if is_asked else self._open.discard)(repr(message["id"]))
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until all are answered, or for so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open, seconds)


class _Input:
    """Lines that come in. Its end is only told once what was asked before is answered."""

    def __init__(self, number: int, asked: _Asked) -> None:
        self._file = open(number, encoding="utf-8", errors="replace", newline="\n", closefd=False)  # noqa: SIM115  (for as long as the process runs)
        self._asked = asked
        self.told: Callable[[], None] = lambda: None

    def readline(self) -> str:
        """Read a line; empty at the end."""
        line = self._file.readline()
        if line:
            self._asked.read(line)
            return line
        self.told()
        self._asked.wait(LAST_ANSWERS)
        return ""


class _Output:
    """Lines that go out."""

    def __init__(self, number: int, asked: _Asked) -> None:
        self._file = open(number, "w", encoding="utf-8", newline="\n", closefd=False)  # noqa: SIM115  (the same)
        self._asked, self._line = asked, ""

    def write(self, line: str) -> int:
        """Write a line."""
        self._line = line
        return self._file.write(line)

    def flush(self) -> None:
        """Send it."""
        self._file.flush()
        self._asked.written(self._line)


def end_with(parent: int, end: Callable[[], None]) -> None:
    """End this process, on the side, when the one that started it is gone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT)
        end()

    threading.Thread(target=watch, daemon=True).start()


def on_signals(end: Callable[[], None]) -> None:
    """End at once when the system or a person asks for it."""
    for number in (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])):
        signal.signal(number, lambda *_: end())

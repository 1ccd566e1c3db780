"""The process around the server: its two ends of the protocol, and its end with whoever started it; without mcp."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

PARENT = 0.5
"""Seconds between two looks whether the process that started this one is still there."""
LAST_ANSWERS = 10.0
"""Seconds that calls still running when the input ends have for their answers: `pyramid mcp < calls` gets them all."""
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in JSON: a whole pair of surrogates, a half, or any other."""


class Heard(NamedTuple):
    """What a line that came means."""

    asks: str = ""
    """The id of a request that will be answered."""
    drops: str = ""
    """The id of a request whose answer nobody wants any more."""
    refusal: str = ""
    """The line that answers it, where it can't be taken in."""


def mended(line: str) -> str:
    """Put the sign for what can't be read in place of each half of a surrogate pair: a text that was cut has one."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPE.sub(lambda found: r"\ufffd" if found[1] else found[0], line)


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
        self.output = _Output(wire_out, asked)
        self.input = _Input(wire_in, asked, self.output)

    def on_end(self, told: Callable[[], None]) -> None:
        """Say whom to tell when the input has ended."""
        self.input.told = told

    def on_loss(self, lost: Callable[[], None]) -> None:
        """Say whom to tell when nobody reads the answers any more."""
        self.output.lost = lost

    def hear_by(self, heard: Callable[[str], Heard]) -> None:
        """Say who knows what a line means."""
        self.input.heard = heard


class _Asked:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._changed = threading.Condition()

    def read(self, heard: Heard) -> None:
        """Take in what came."""
        with self._changed:
            if heard.asks:
                self._open.add(heard.asks)
            self._settle(heard.drops)

    def written(self, line: str) -> None:
        """Take in a line that went out."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if "method" not in message:
            with self._changed:
                self._settle(str(message.get("id")))

    def _settle(self, number: str) -> None:
        self._open.discard(number)
        self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until all are answered, or for so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open, seconds)


class _Input:
    """Lines that come in, each answered at once where it can't be taken in.

    Its end is only told once what was asked before is answered.
    """

    def __init__(self, number: int, asked: _Asked, answers: _Output) -> None:
        self._file = open(number, encoding="utf-8", errors="replace", newline="\n", closefd=False)  # noqa: SIM115  (for as long as the process runs)
        self._asked, self._answers = asked, answers
        self.told: Callable[[], None] = lambda: None
        self.heard: Callable[[str], Heard] = lambda _: Heard()

    def readline(self) -> str:
        """Read a line; empty at the end."""
        while line := mended(self._file.readline()):
            heard = self.heard(line)
            if not heard.refusal:
                self._asked.read(heard)
                return line
            self._answers.write(heard.refusal)
        self.told()
        self._asked.wait(LAST_ANSWERS)
        return ""


class _Output:
    """Lines that go out."""

    def __init__(self, number: int, asked: _Asked) -> None:
        self._file = open(number, "w", encoding="utf-8", newline="\n", closefd=False)  # noqa: SIM115  (the same)
        self._asked, self._lock = asked, threading.Lock()
        self.lost: Callable[[], None] = lambda: None

    def write(self, line: str) -> int:
        """Send a line, whole, whichever thread it comes from."""
        try:
            with self._lock:
                self._file.write(line)
                self._file.flush()
        except OSError as error:
            if not isinstance(error, ConnectionError):  # else the client went, which is no fault
                print(f"pyramid: answers can't be written: {error}", file=sys.stderr)  # noqa: T201  (its own end)
            self.lost()
        self._asked.written(line)
        return len(line)

    def flush(self) -> None:
        """Do nothing: a line that was written was sent."""


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

"""A program of the user's as summarizer: the batch on its standard input, the summary on its standard output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.growing import INSIDE
from pyramid_fs.summarizers import prompt

if TYPE_CHECKING:
    from typing import IO

    from pyramid_fs.summarizers import Request

TAKES = 60_000
"""Characters given at once: some 15,000 tokens, which every current model takes."""
SHOWN = 200
"""Characters of a program's complaint that are passed on."""
MOST = 1 << 20
"""Bytes of an answer that are read: a program that writes on and on is ended there."""
LAST_WORDS = 1.0
"""Seconds to wait for what is still in a pipe once the program has ended."""


class Command:
    """An argument list, run without a shell, in a group of its own that ends with it."""

    draft = False
    takes = TAKES
    slow = True

    def __init__(self, command: tuple[str, ...], timeout: float, model: str = "") -> None:
        self._command, self._timeout = command, timeout
        self._running: set[subprocess.Popen[bytes]] = set()
        self.name = f"command:{model or Path(command[0]).name}"

    def summarize(self, request: Request) -> str:
        """Run the program once."""
        data = prompt.text(request).encode("utf-8", "replace")
        code, said, complained = run(self._command, data, self._timeout, self._running)
        if code:
            why = " ".join(complained.decode("utf-8", "replace").split())[:SHOWN]
            raise SummarizerFailed(f"{self._command[0]} ended with {code}{f': {why}' if why else ''}")
        try:
            return said.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SummarizerFailed(f"{self._command[0]} wrote what is not UTF-8 (at byte {error.start})") from None

    def stop(self) -> None:
        """End the programs that are at it: nobody waits for them any more."""
        for child in list(self._running):
            _kill(child)


def run(
    command: tuple[str, ...], data: bytes, timeout: float, running: set[subprocess.Popen[bytes]] | None = None
) -> tuple[int, bytes, bytes]:
    """Run a program on some input; give its exit status, its output and its complaint.

    It stands in `running` for as long as it runs, for whoever wants to end it.

    SummarizerFailed where it can't be started, takes longer than `timeout` seconds or writes on and on. Nothing that
    it started in its group outlives it.
    """
    try:
        child = subprocess.Popen(  # noqa: S603  (the user's own configuration names it; never a vault)
            [_at_home(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, INSIDE: "1"},
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        raise SummarizerFailed(f"{command[0]} can't be started: {error}") from error
    at_it = set[subprocess.Popen[bytes]]() if running is None else running
    at_it.add(child)
    out, complaint = _Reading(child, child.stdout), _Reading(child, child.stderr)
    _feed(child, data)
    try:
        child.wait(timeout)
    except subprocess.TimeoutExpired:
        raise SummarizerFailed(f"{command[0]} gave no answer within {timeout:g} seconds") from None
    finally:
        at_it.discard(child)
        _end(child)
        said, complained = out.take(), complaint.take()
    if out.is_too_much or complaint.is_too_much:
        raise SummarizerFailed(f"{command[0]} wrote on and on: it was ended after {MOST:,} bytes")
    return child.returncode, said, complained


class _Reading:
    """Reads one stream of a program on the side, up to a bound."""

    def __init__(self, child: subprocess.Popen[bytes], stream: IO[bytes] | None) -> None:
        self._child, self._stream = child, stream
        self._parts: list[bytes] = []
        self._is_over = False
        self.is_too_much = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        size = 0
        while self._stream and not self._is_over:
            try:
                part = self._stream.read(1 << 16)
            except (OSError, ValueError):
                return
            if not part:
                return
            size += len(part)
            if size > MOST:
                self.is_too_much = True
                _kill(self._child)
                return
            self._parts.append(part)

    def take(self) -> bytes:
        """Give what was written. Something that the program left running may hold the stream open: it gets no say."""
        self._thread.join(LAST_WORDS)
        self._is_over = True
        if self._stream:
            with contextlib.suppress(OSError):
                self._stream.close()
        return b"".join(self._parts)


def _feed(child: subprocess.Popen[bytes], data: bytes) -> None:
    """Write a program's input on the side: it may read none of it, or answer before it has read all."""

    def write() -> None:
        with contextlib.suppress(OSError, ValueError):
            left = memoryview(data)
            while left and child.stdin:
                left = left[child.stdin.write(left) or 0 :]
        with contextlib.suppress(OSError, ValueError):
            if child.stdin:
                child.stdin.close()

    threading.Thread(target=write, daemon=True).start()


def _at_home(word: str) -> str:
    """Set the home folder in for `~`, which no shell does here."""
    with contextlib.suppress(RuntimeError):  # `~name`, and nobody has that name
        return str(Path(word).expanduser()) if word.startswith("~") else word
    return word


def _end(child: subprocess.Popen[bytes]) -> None:
    """End what the program left running, and take in its exit status."""
    _kill(child)
    if child.stdin:
        with contextlib.suppress(OSError):
            child.stdin.close()
    child.wait()


def _kill(child: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    elif child.poll() is None:
        child.kill()

"""A terminal for the command line: a real one, whose questions are answered as they come."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")

BOUND = 30.0
"""Seconds that a command may take."""


def typed(words: Sequence[str], answers: Sequence[tuple[str, str]], env: Mapping[str, str]) -> tuple[int, str]:
    """Run the command line on a terminal; each answer is typed once its question stands there.

    Give the exit code and all that was shown.
    """
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pyramid_fs", *words]
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(env), close_fds=True)
    os.close(theirs)
    shown, left, seen, end = "", list(answers), 0, time.monotonic() + BOUND
    try:
        while part := _part(ours, end):
            shown += part
            while left and (found := re.search(left[0][0], shown[seen:])):
                seen += found.end()
                os.write(ours, f"{left.pop(0)[1]}\n".encode())
        code = child.wait(max(0.1, end - time.monotonic()))
    finally:
        child.kill()
        child.wait()
        os.close(ours)
    assert not left, f"never asked: {left}; shown was:\n{shown}"
    return code, shown.replace("\r\n", "\n")


def _part(ours: int, end: float) -> str:
    """Read what is shown next; empty at the end."""
    if not select.select([ours], [], [], max(0.0, end - time.monotonic()))[0]:
        raise AssertionError(f"nothing came for {BOUND} seconds")
    try:
        return os.read(ours, 1 << 16).decode("utf-8", "replace")
    except OSError:  # the last of the other side is closed
        return ""

"""A process of this program that grows a model, or goes through sessions, while nobody waits for it."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

# subprocess and what belongs to it are imported when a process is started: to commands that start none they would
# cost as much as reading the vault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

INSIDE = "PYRAMID_IN_SUMMARIZER"
"""Set for a program that writes a summary: what it starts of ours must not start growth of its own."""
ENDING = 0.4
"""Seconds to wait for a process to end in good order."""


def is_inside() -> bool:
    """Whether this process was started by a program that is writing a summary."""
    return bool(os.environ.get(INSIDE))


EXTRACTION = ("backfill",)
"""The verb that goes through session digests."""


def growth(models: Sequence[str]) -> tuple[str, ...]:
    """Give the verb that grows models in the background."""
    return ("advance", "--background", "--", *models)


def words(root: Path | str, verb: Sequence[str]) -> list[str]:
    """Give the command that does something to a vault."""
    return [sys.executable, "-P", "-m", "pyramid_fs", "--vault", str(root), *verb]


def detach(root: Path | str, verb: Sequence[str]) -> None:
    """Start a process that outlives this one."""
    import subprocess

    null, command = subprocess.DEVNULL, words(root, verb)
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)  # noqa: S603  (this program)


class Child:
    """A process that ends with this one."""

    def __init__(self, root: Path, model: str, ended: Callable[[], None], verb: Sequence[str] = ()) -> None:
        import subprocess
        import threading

        self.model, null = model, subprocess.DEVNULL
        self._process = subprocess.Popen(words(root, verb or growth([model])), stdin=null, stdout=null, stderr=null)  # noqa: S603  (the same)
        threading.Thread(target=self._tell_of_end, args=(ended,), daemon=True).start()

    def _tell_of_end(self, ended: Callable[[], None]) -> None:
        self._process.wait()
        ended()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it as Ctrl-C does, its summarizer with it; what it was writing does not exist."""
        import signal
        import subprocess

        if self.is_running:
            self._process.send_signal(getattr(signal, "SIGINT", signal.SIGTERM))
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING)
            if self.is_running:
                self._process.kill()

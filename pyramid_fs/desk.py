"""Memories on one vault for calls that come at the same time: each call has one to itself while it runs."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyramid_fs import files, layout
from pyramid_fs.errors import DiskError, NotAVault
from pyramid_fs.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.paging import Face

MOST = 4
"""So many at once; a further call waits for one of them."""


class Desk:
    """Lends memories out; the one that was used last goes first, as it knows the files best."""

    def __init__(self, root: Path, face: Face) -> None:
        self.root, self._face = root, face
        self._free: queue.LifoQueue[tuple[object, Memory]] = queue.LifoQueue()
        self._slots = threading.BoundedSemaphore(MOST)

    @contextmanager
    def borrow(self) -> Iterator[Memory]:
        """Lend a memory for the length of a `with` block; raise a PyramidError where the vault can't be opened."""
        with self._slots:
            mark, memory = self._taken()
            try:
                yield memory
            finally:
                self._free.put((mark, memory))

    def close(self) -> None:
        """Close the memories that nobody has borrowed at the moment."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._free.get_nowait()[1].close()

    def _taken(self) -> tuple[object, Memory]:
        mark = self._settings_mark()
        try:
            while True:
                held, memory = self._free.get_nowait()
                if held == mark:
                    return mark, memory
                memory.close()  # a person changed the settings
        except queue.Empty:
            return mark, self._opened()

    def _opened(self) -> Memory:
        try:
            return Memory(self.root, face=self._face)
        except NotAVault:  # there was one when this began: nobody should make another in its place
            raise DiskError(f"{self.root} is not there now: it was moved, or its disk is not mounted") from None

    def _settings_mark(self) -> object:
        return files.look(self.root / layout.SETTINGS), files.look(files.config_file(os.environ))

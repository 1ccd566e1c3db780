"""Growth in the background of a server: a few summaries of each model that was recorded to or loaded."""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyramid_fs import growing
from pyramid_fs.errors import PyramidError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyramid_fs.desk import Desk

log = logging.getLogger(__name__)

SESSIONS = "/sessions"
"""Stands among the models for the session digests: no model has such a name."""
EXTRACTED = 20
"""So many session digests are gone through at a time."""


class Growth:
    """One thread that grows one model after the other; whoever triggers it does not wait.

    What fails is kept with the model, and shown by `status` and on the map.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._due: dict[str, float] = {}
        """Each model that is to be looked at, and when, by the monotonic clock."""
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._is_over = False
        self._child: growing.Child | None = None
        self._thread = threading.Thread(target=self._run, name="growth", daemon=True)
        self._is_off = growing.is_inside()

    def trigger(self, models: Iterable[str]) -> None:
        """Have models looked at soon."""
        if self._is_off or self._is_over:
            return
        with self._lock:
            self._due |= dict.fromkeys(models, 0.0)
            if not self._thread.ident:
                self._thread.start()
        self._woken.set()

    def extract(self) -> None:
        """Have sessions that were not gone through looked at soon."""
        self.trigger([SESSIONS])

    def stop(self) -> None:
        """Begin nothing more; what a slow summarizer is writing does not exist."""
        self._is_over = True
        self._woken.set()
        child = self._child
        if child:
            child.end()

    def end(self, wait: float) -> None:
        """Stop, and wait for so many seconds: a summary that is being stored is stored."""
        self.stop()
        if self._thread.ident:
            self._thread.join(wait)

    def _run(self) -> None:
        while not self._is_over:
            self._woken.clear()
            model, wait = self._next()
            if model is None:
                self._woken.wait(wait)
                continue
            try:
                self._grow(model)
            except PyramidError as error:
                log.warning("%s: %s", model, error)
            except Exception:  # the loop goes on, whatever one model brings up
                log.exception("%s could not be grown", model)

    def _next(self) -> tuple[str | None, float | None]:
        """Take the model that is due first; else say for how long there is nothing to do."""
        with self._lock:
            if not self._due:
                return None, None
            model = min(self._due, key=self._due.__getitem__)
            wait = self._due[model] - time.monotonic()
            if wait > 0:
                return None, wait
            del self._due[model]
            return model, None

    def _extract(self) -> None:
        """Go through a few session digests, where that is quick; where it is not, the watcher or `backfill` does."""
        with self._desk.borrow() as memory:
            if memory.config.background and not memory.vault.settings.read_only and not memory.extractor.slow:
                for line in memory.backfill(limit=EXTRACTED).errors:
                    log.warning("%s", line)

    def _grow(self, model: str) -> None:
        if model == SESSIONS:
            self._extract()
            return
        with self._desk.borrow() as memory:
            summarizer = memory.summarizer
            if summarizer and not summarizer.slow:
                memory.grow_some([model])
            asks = summarizer is not None and summarizer.slow and memory.due_soon([model])
        if asks:
            self._ask(model)
        with self._desk.borrow() as memory:
            memory.census.refresh([model])
            prospect = memory.prospect(model)
        if prospect.at:
            again = time.monotonic() + (prospect.at - datetime.now(UTC)).total_seconds()
            with self._lock:
                self._due.setdefault(model, again)

    def _ask(self, model: str) -> None:
        """Have a slow summarizer write, in a process of its own, and wait for it."""
        ended = threading.Event()
        self._child = growing.Child(self._desk.root, model, ended.set)
        if self._is_over:  # it was told to end while the process was started
            self._child.end()
        ended.wait()
        self._child = None

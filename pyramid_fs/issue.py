"""What recording and growth work with, the locks of a model, and the times that they issue in it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pyramid_fs import files, layout, times
from pyramid_fs.notes import Dated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyramid_fs.census import Census
    from pyramid_fs.summarizers import Summarizer

SKEW = timedelta(hours=48)
"""A time further ahead than this was set by hand or by a broken clock: the store's own times don't follow it."""
LOCK_WAIT = 20.0
"""Seconds to wait for the moment in which another process takes the time for a note."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What growth works with; the clock and the names come from outside, so that a test can hold them."""

    census: Census
    summarizer: Summarizer
    cache: Path
    """The folder of the locks."""
    clock: Callable[[], datetime]
    suffix: Callable[[], str]
    settled: bool = False
    """Whether new files must have been quiet for a while: growth in the background."""
    templates: tuple[str, str] = ("", "")
    """The vault's own prompts for notes and for roll-ups, where its owner trusts them here; empty for ours."""

    def template(self, tier: int) -> str:
        """Give the vault's own prompt for a tier; empty where ours is used."""
        return self.templates[min(tier, 1)]


def random_suffix() -> str:
    """Draw the suffix of a new name."""
    return "".join(secrets.choice(layout.ALPHABET) for _ in range(layout.SUFFIX))


def grow_lock(model: str) -> str:
    """Name the lock of whoever writes a model's summaries."""
    return f"grow-{_lock_name(model)}"


def _lock_name(model: str) -> str:
    return f"{layout.digest_suffix(model)}-{layout.shorten(layout.slug(model), 60)}.lock"


def issue_time(tools: Tools, model: str, at_least: datetime | None = None) -> datetime:
    """Give the time for something new in a model: now, but later than all that the store issued there before.

    A summary of notes from the far future is as late as they are (`at_least`); what comes after it is not.
    """
    with files.locked(tools.cache / f"time-{_lock_name(model)}", LOCK_WAIT) as handle:
        kept = files.read_handle(handle)
        last = times.from_micros(int(kept)) if kept.isdigit() else _latest(tools, model)
        time = tools.clock()
        if last and time <= last:
            time = times.after(last)
        if at_least and time < at_least:
            time = at_least
            if time > tools.clock() + SKEW:
                return time
        files.write_handle(handle, str(times.micros(time)))
    return time


def keep_time(tools: Tools, model: str, time: datetime) -> None:
    """Note that something was issued in a model at a time that another model asked for."""
    with files.locked(tools.cache / f"time-{_lock_name(model)}", LOCK_WAIT) as handle:
        kept = files.read_handle(handle)
        if not kept.isdigit() or int(kept) < times.micros(time):
            files.write_handle(handle, str(times.micros(time)))


def _latest(tools: Tools, model: str) -> datetime | None:
    """Find the last time in a model where nobody kept it: the cache folder is new."""
    limit = tools.clock() + SKEW
    state = tools.census.fresh(model).state
    found = [note.created for note in state.notes if note.dated is Dated.KEY]
    found += [summary.created for summary in state.active.values()]
    return max((time for time in found if time <= limit), default=None)

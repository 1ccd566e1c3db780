"""The part of `Memory` that looks back: the memory as it was, and what changed since."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyramid_fs.answers import Answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from pyramid_fs.census import Census
    from pyramid_fs.comparing import Diff
    from pyramid_fs.paging import Face
    from pyramid_fs.snapshots import PastLoaded, PastMap
    from pyramid_fs.vault import Vault


class Past:
    """What `Memory` says of days gone by."""

    vault: Vault
    census: Census
    _face: Face
    _clock: Callable[[], datetime]

    def _map_as_of(self, as_of: str | datetime, page: int, *, from_dates: bool) -> PastMap:
        from pyramid_fs import snapshots  # starts processes: other verbs need not wait for it

        past, found = snapshots.look_back(self.census, as_of, self._clock(), from_dates=from_dates)
        shown = Answers(past, self._past_face(found.asked, from_dates=from_dates)).map(page)
        return snapshots.past_map(*snapshots.without_later(past, shown, found))

    def _load_as_of(self, names: Sequence[str], as_of: str | datetime, *, from_dates: bool, **asked: Any) -> PastLoaded:
        from pyramid_fs import snapshots

        past, found = snapshots.look_back(self.census, as_of, self._clock(), from_dates=from_dates)
        answers = Answers(past, self._past_face(found.asked, from_dates=from_dates))
        return snapshots.past_loaded(answers.load(names, **asked), found)

    def _past_face(self, asked: str, *, from_dates: bool) -> Face:
        from pyramid_fs import snapshots

        return replace(self._face, calls=snapshots.PastShell(asked, from_dates=from_dates))

    def diff(self, since: str | datetime, until: str | datetime | None = None) -> Diff:
        """Say what changed between two dates, times or commits, or from one to now.

        Raise UsageError for what is neither a date nor a commit that git knows.
        """
        from pyramid_fs import snapshots

        return snapshots.compared(self.census, since, until, self._clock())

    def is_future(self, asked: str | datetime) -> bool:
        """Whether a date or time is yet to come, so that who looks back to it sees the memory as it is now."""
        from pyramid_fs import snapshots

        return snapshots.is_future(asked, self.census, self._clock())

"""Topic threads: which sessions belong to one, and how many of them fit an answer; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyramid_fs import layout
from pyramid_fs.notes import Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from pyramid_fs.notes import Shaped

SESSIONS = 50
CHARS = 40_000
"""A thread's history in one answer: so many sessions or so many characters of digests, whichever comes first."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A topic with its sessions, newest first."""

    slug: str
    title: str
    status: str
    created: datetime | None
    """Of its card; None where sessions name a topic that has none."""
    sessions: tuple[Session, ...]

    @property
    def active(self) -> datetime | None:
        """When it was active last: by its sessions' own times, not by when they were linked."""
        return self.sessions[0].created if self.sessions else None


def threads(cards: Iterable[Shaped], sessions: Iterable[Session]) -> list[Thread]:
    """Gather the threads, those active last first; one without sessions comes after those that have some."""
    of: dict[str, list[Session]] = {}
    for session in sorted(sessions, key=lambda s: (s.created, s.handle), reverse=True):
        for slug in dict.fromkeys(layout.folded(topic) for topic in session.topics):
            of.setdefault(slug, []).append(session)
    found = [
        Thread(
            card.handle,
            card.name or card.handle,
            card.status,
            card.created,
            tuple(of.pop(layout.folded(card.handle), ())),
        )
        for card in sorted(cards, key=lambda c: c.handle)
    ]
    found += [Thread(_spelled(slug, listed), slug, "", None, tuple(listed)) for slug, listed in sorted(of.items())]
    return sorted(found, key=_recency, reverse=True)


def _spelled(slug: str, sessions: Sequence[Session]) -> str:
    return next(topic for topic in sessions[0].topics if layout.folded(topic) == slug)


def _recency(thread: Thread) -> tuple[bool, float, str]:
    time = thread.active or thread.created
    return thread.active is not None, time.timestamp() if time else 0.0, thread.slug


def fitting(sessions: Sequence[Session], most: int = SESSIONS, chars: int = CHARS) -> tuple[Session, ...]:
    """Give the newest sessions that fit, and always at least one; they come newest first."""
    used, shown = 0, list[Session]()
    for session in sessions[:most]:
        used += session.chars
        if shown and used > chars:
            break
        shown.append(session)
    return tuple(shown)


def cap_note(shown: int, total: int) -> str:
    """Say that not all sessions are shown; empty where they are."""
    return f"showing the most recent {shown} of {total} sessions" if shown < total else ""

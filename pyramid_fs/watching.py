"""What the watcher decides, as plain values: where to look, when to wake, what a model may grow, what to show."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from pyramid_fs import layout, pyramid, times

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyramid_fs.pyramid import Shape, State

WHOLE = ""
"""The scope that means the whole vault: it is not known what changed."""
STALE = 90.0
"""Seconds without a heartbeat after which a watcher is stuck."""
REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "drvfs", "vboxsf", "fuse.sshfs"})
"""Kinds of disk that other machines write to, of which the kernel here hears nothing."""

Agenda: TypeAlias = "dict[tuple[str, str], float]"
"""What is to be done when: (what, with which model) → seconds of a clock."""


# Which folder an event is about


def scope_of(path: str, *, is_folder: bool) -> str | None:
    """Give the folder to look at for a path in the vault: `models/alice`, `topics`; None for what no note can be.

    WHOLE stands for what may concern every model: the settings, a top folder itself.
    """
    parts = path.strip("/").split("/")
    if path == layout.SETTINGS or (parts[0] in layout.FOLDERS and len(parts) == 1):
        return WHOLE
    folders = parts if is_folder else parts[:-1]
    if any(layout.is_tool_folder(name) for name in folders):
        return None
    if not is_folder and not layout.is_markdown(parts[-1]):
        return None
    if parts[0] in layout.SHAPES:
        return parts[0]
    if parts[0] != layout.MODELS or len(folders) < 2:  # noqa: PLR2004
        return None
    return f"{layout.MODELS}/{parts[1]}"


def models_of(scopes: Iterable[str]) -> list[str] | None:
    """Name the models of some scopes; None where the whole vault must be looked at."""
    found = sorted(scopes)
    if not all(scope.startswith(f"{layout.MODELS}/") for scope in found):
        return None
    return [scope.split("/", 1)[1] for scope in found]


# When to wake


def take_due(agenda: Agenda, now: float) -> list[tuple[str, str]]:
    """Take what is due off the agenda."""
    due = sorted(what for what, at in agenda.items() if at <= now)
    for what in due:
        del agenda[what]
    return due


def pause(agenda: Agenda, now: float) -> float:
    """Give the seconds until something is due."""
    return max(0.0, min(agenda.values(), default=now) - now)


# What a model may grow


@dataclass(frozen=True, slots=True)
class Prospect:
    """Whether growth in the background would find anything to do in a model, and when it may."""

    due: bool = False
    at: datetime | None = None
    """When the next note of it will have settled; None where none is unsettled."""
    waits: str = ""
    """Why it is left alone for now, after a failure."""


def prospect(state: State, shape: Shape, now: datetime) -> Prospect:
    """Say what growth in the background would find in a model."""
    if state.is_held:
        return Prospect()
    due = next(pyramid.plan(state, shape, now, settled=True), None) is not None
    settled = {note.path for note in pyramid.ready(state, shape, now, settled=True)}
    quiet = (
        times.after(note.touched, shape.revised if note.path in state.revised else shape.settle)
        for note in state.tail
        if note.path not in settled and not note.problem
    )
    # to the next whole second: a thousand notes that were saved one after the other wake it a few times only
    return Prospect(due, min((_next_second(at) for at in quiet if at > now), default=None))


def _next_second(at: datetime) -> datetime:
    return times.after(at.replace(microsecond=0), timedelta(seconds=1))


# The heartbeat


@dataclass(frozen=True, slots=True)
class Beat:
    """What a watcher says of itself; times are seconds since 1970."""

    pid: int
    started: float
    at: float
    mode: str
    """`events`, `polling`, `away` (the vault is not there) or `ended`."""
    changed: float = 0.0
    """When it last found a change; 0 where it has found none."""
    failure: str = ""
    """What failed last."""


def spell_beat(beat: Beat) -> str:
    """Spell a heartbeat as JSON."""
    return json.dumps(asdict(beat))


def read_beat(text: str) -> Beat | None:
    """Read a heartbeat; None for anything else."""
    try:
        kept = json.loads(text)
        return Beat(
            int(kept["pid"]),
            float(kept["started"]),
            float(kept["at"]),
            str(kept["mode"]),
            float(kept["changed"]),
            str(kept["failure"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


_MODES = {
    "events": "told of changes by the system",
    "polling": "looks every few seconds",
    "away": "waits for the vault to come back",
}


def said(beat: Beat, now: float, *, is_held: bool) -> str:
    """Say in one line how the watcher is; `is_held` says whether a process holds the watcher's lock."""
    last = f"; failed last: {beat.failure}" if beat.failure else ""
    if not is_held:
        return f"not running since {times.spell(datetime.fromtimestamp(int(beat.at), UTC))}: pyramid watch"
    silent = now - beat.at
    if silent > STALE:
        return f"stuck (pid {beat.pid}): not heard of for {ago(silent)}; end it and start it again{last}"
    changed = f", last change {ago(now - beat.changed)} ago" if beat.changed else ""
    return f"running (pid {beat.pid}), {_MODES.get(beat.mode, beat.mode)}{changed}{last}"


def ago(seconds: float) -> str:
    """Spell a span of time in its largest unit."""
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {name}"
    return f"{max(0, int(seconds))} s"


# Hearing


def disk_kind(mounts: str, path: str) -> str:
    """Give the kind of disk that a path lies on, from the text of `/proc/mounts`; empty where it is not said."""
    best, kind = "", ""
    for line in mounts.splitlines():
        words = line.split(" ")
        if len(words) < 3:  # noqa: PLR2004
            continue
        at = words[1].replace("\\040", " ").rstrip("/")
        if (path == at or path.startswith(f"{at}/")) and len(at) >= len(best):
            best, kind = at, words[2]
    return kind


def deaf_text(unheard: int, folders: int, limit: str) -> str:
    """Say that the system lets the watcher listen at too few folders, and the remedy."""
    return (
        f"{unheard} of {folders} folders can't be listened at: this system allows {limit or 'too few'} watches; "
        "raise fs.inotify.max_user_watches (sudo sysctl fs.inotify.max_user_watches=524288)"
    )


def numbers_heard(texts: Iterable[str]) -> set[int]:
    """Read from `/proc/self/fdinfo` the inode numbers of the folders that are listened at."""
    words = (line.split() for text in texts for line in text.splitlines() if line.startswith("inotify "))
    return {int(word[4:], 16) for line in words for word in line if word.startswith("ino:")}


def unheard(folders: Mapping[str, int], heard: set[int]) -> list[str]:
    """List the folders (with their inode numbers) that are not listened at."""
    return sorted(path for path, number in folders.items() if number not in heard)

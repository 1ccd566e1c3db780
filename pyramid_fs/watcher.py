"""Follows a vault's folder: takes file events as hints, looks, and has grown what is due; the only home of watchdog."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
import sys
import threading
import time
import warnings
from collections import deque
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchdog import events
from watchdog.observers import Observer

from pyramid_fs import files, growing, layout, watching
from pyramid_fs.errors import DiskError, Locked, PyramidError
from pyramid_fs.memory import BEAT, WATCH_LOCK, Memory, utc_now
from pyramid_fs.watching import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyramid_fs.census import ModelNow
    from pyramid_fs.watching import Agenda

QUIET = 0.1
"""Seconds without an event after which those that came are acted on …"""
STEADY = 1.0
"""… but never later than this."""
BACKSTOP = 300.0
"""Seconds between two looks at the whole vault, and two proofs that events arrive."""
POLL = 2.0
"""Seconds between two looks at the whole vault where events do not arrive, at least …"""
POLL_COST = 20.0
"""… and so many times as long as one look takes."""
PROBE = 2.0
"""Seconds within which the event of a probe file must arrive."""
AWAY = 2.0
"""Seconds between two looks for a vault that is not there."""
BEATS = 30.0
"""Seconds between two heartbeats."""
AGAIN = 2.5
"""Seconds after which a model that changed is looked at once more: a file may change twice in one tick of its clock."""
RETRY = 60.0
"""Seconds after which a model that failed, or that somebody else grows, is asked again."""
LATE = 5.0
"""Woken this many seconds too late, the watcher was frozen or asleep, and may have missed anything."""
TURN = 20
"""Summaries of one model in a row, so that no other waits long."""
GIT_WAIT = 600.0
"""Seconds that growth waits for git to be done, at most: a lock may be left over from a crash."""
ENDING = 0.4
"""Seconds that whatever still runs is given to end."""

_NAMES = ("Modified", "Created", "Deleted", "Moved", "Closed", "Attrib")
HEARD: list[type[events.FileSystemEvent]] = [
    kind
    for name in _NAMES
    for what in ("File", "Dir")
    if f"{what}{name}" != "DirModified" and (kind := getattr(events, f"{what}{name}Event", None)) is not None
]
"""The events that say that something changed. To be read or opened is no change, and what changes a folder has an
event of its own."""

_APPEARS = frozenset({"created", "moved"})
_TOPS = (layout.MODELS, *layout.SHAPES)
log = logging.getLogger("pyramid_fs.watcher")


class Stopped(BaseException):
    """Raised by SIGTERM wherever the watcher is: it ends within a second."""


class Marks:
    """What may have changed since it was last asked; filled by one thread and emptied by another."""

    def __init__(self) -> None:
        self.woken = threading.Event()
        self._lock = threading.Lock()
        self._scopes: set[str] = set()

    def add(self, scope: str) -> None:
        """Mark a folder, and wake whoever waits."""
        with self._lock:
            self._scopes.add(scope)
        self.woken.set()

    def take(self) -> set[str]:
        """Give the marks, and begin anew."""
        self.woken.clear()
        with self._lock:
            taken, self._scopes = self._scopes, set()
        return taken

    def gather(self) -> set[str]:
        """Give the marks once nothing more came for a moment."""
        end, found = time.monotonic() + STEADY, self.take()
        while found and time.monotonic() < end and self.woken.wait(QUIET):
            found |= self.take()
        return found


# Hearing


class _Ear(events.FileSystemEventHandler):
    """Marks the folders that events are about; it does no work, for an error in it would end watchdog's thread."""

    def __init__(self, hears: Callable[[str, events.FileSystemEvent], None]) -> None:
        self._hears = hears

    def on_any_event(self, event: events.FileSystemEvent) -> None:
        """Mark both ends of an event: a save by rename shows the note's name at the far end only."""
        for path in (event.src_path, event.dest_path):
            if path:
                self._hears(os.fsdecode(path), event)


class _Overflow(logging.Handler):
    """Hears what watchdog complains of: events that the system dropped are told nowhere else."""

    def __init__(self, doubts: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._doubts = doubts

    def emit(self, record: logging.LogRecord) -> None:
        """Take any complaint as a sign that something was missed."""
        log.debug("watchdog: %s", record.getMessage())
        self._doubts()


class Ears:
    """The file events of one vault, as far as this system gives them, and the proof that it does."""

    def __init__(self, root: Path, probes: Path, marks: Marks) -> None:
        self._root, self._probes, self._marks = Path(os.path.realpath(root)), probes, marks
        self._observer: Any = None
        self._heard, self._count = threading.Event(), 0
        self._complaints = _Overflow(self._doubt)
        self._is_doubtful = False
        self.has_grown = False
        """Whether folders have appeared since it was proved that all are listened at."""

    def open(self) -> str:
        """Begin to listen; say what keeps it from hearing everything, empty where nothing does."""
        self.close()
        self._is_doubtful = False
        logging.getLogger("watchdog").addHandler(self._complaints)
        logging.getLogger("watchdog").propagate = False
        try:
            self._probes.mkdir(parents=True, exist_ok=True)
            for left in self._probes.iterdir():  # by one that was killed
                left.unlink()
            self._observer = Observer()
            self._observer.daemon = True
            self._observer.schedule(_Ear(self._probed), str(self._probes), event_filter=HEARD)
            self._observer.schedule(_Ear(self._hear_top), str(self._root), event_filter=HEARD)
            ear = _Ear(self._hear)
            for top in self._tops():
                self._observer.schedule(ear, str(self._root / top), recursive=True, event_filter=HEARD)
            self._observer.start()
        except OSError as error:
            self.close()
            return _refusal(error, sum(1 for _ in _folders(self._root, self._tops())))
        except RuntimeError as error:  # no thread can be started
            self.close()
            return f"this system gives no file events: {error}"
        return self._check()

    def _tops(self) -> list[str]:
        return [top for top in _TOPS if files.is_own_folder(self._root / top)]

    def close(self) -> None:
        """Listen no more."""
        logging.getLogger("watchdog").removeHandler(self._complaints)
        observer, self._observer = self._observer, None
        if observer is not None and observer.is_alive():
            observer.stop()
            observer.join(ENDING)

    def prove(self) -> str:
        """Prove that events arrive, or else begin anew; say what keeps it from hearing everything."""
        self.has_grown = False
        return self.open() if self._is_doubtful or self._check() else ""

    @property
    def is_doubtful(self) -> bool:
        """Whether something happened after which it must be proved again that events arrive."""
        return self._is_doubtful

    def _check(self) -> str:
        """Prove that events arrive; say what keeps them, empty where nothing does."""
        if self._observer is None or not all(t.is_alive() for t in (self._observer, *self._observer.emitters)):
            return "the thread that takes file events has ended"
        if kind := _remote(self._root):
            return f"it lies on a network drive ({kind}), where changes made elsewhere cause no events"
        if not self._probe():
            return "no file events arrive here"
        return self._lacking()

    @property
    def _probe_name(self) -> str:
        # another one each time: an event of the last one may come late
        return f"probe-{os.getpid()}-{self._count}"

    def _probe(self) -> bool:
        """Write a file, and wait for its event."""
        self._count += 1
        self._heard.clear()
        probe = self._probes / self._probe_name
        try:
            probe.write_bytes(b"")
            return self._heard.wait(PROBE)
        except OSError:
            return True  # the cache folder can't be written: nothing is proved, and nothing is wrong
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()

    def _lacking(self) -> str:
        """Count the folders that the system did not let watchdog listen at, which it passes over in silence."""
        heard = _numbers_heard()
        if heard is None:
            return ""
        folders = dict(_folders(self._root, self._tops()))
        if self._root.stat().st_ino in heard:
            missed = len(watching.unheard(folders, heard))
        else:  # the kernel knows the folders of such a disk by other numbers (overlayfs)
            missed = len(folders) + 2 - len(heard)
        return watching.deaf_text(missed, len(folders), _limit()) if missed > 0 else ""

    # What is heard, in watchdog's thread

    def _probed(self, path: str, _: events.FileSystemEvent) -> None:
        if path.endswith(self._probe_name):
            self._heard.set()

    def _hear(self, path: str, event: events.FileSystemEvent) -> None:
        try:
            inside = os.path.relpath(path, self._root).replace(os.sep, "/")
            scope = watching.scope_of(inside, is_folder=event.is_directory)
        except Exception:  # noqa: BLE001  (an error here would make the watcher deaf)
            scope = WHOLE
        if event.is_directory and event.event_type in _APPEARS:
            self.has_grown = True
        if scope is not None:
            self._marks.add(scope)

    def _hear_top(self, path: str, event: events.FileSystemEvent) -> None:
        folder, name = os.path.split(path)
        if folder != str(self._root):
            return
        if event.is_directory and name in _TOPS and event.event_type in {*_APPEARS, "deleted"}:
            self._doubt()  # another folder may lie there now, which nobody listens at
        self._hear(path, event)

    def _doubt(self) -> None:
        self._is_doubtful = True
        self._marks.add(WHOLE)


def _refusal(error: OSError, folders: int) -> str:
    if error.errno == errno.EMFILE:
        return (
            "this system allows no more programs that listen for file events; "
            "raise fs.inotify.max_user_instances (sudo sysctl fs.inotify.max_user_instances=512)"
        )
    if error.errno == errno.ENOSPC:
        return watching.deaf_text(folders, folders, _limit())
    return f"this system gives no file events: {(error.strerror or str(error)).lower()}"


def _limit() -> str:
    limits = []
    for name in ("fs/inotify/max_user_watches", "user/max_inotify_watches"):
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(Path("/proc/sys", name).read_text()))
    return str(min(limits, default=""))


def _remote(root: Path) -> str:
    try:
        kind = watching.disk_kind(Path("/proc/mounts").read_text("utf-8", "replace"), str(root))
    except OSError:
        return ""
    return kind if kind in watching.REMOTE else ""


def _numbers_heard() -> set[int] | None:
    """Give the inode numbers that this process listens at; None where the system does not tell."""
    texts = []
    try:
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                if "inotify" in os.readlink(f"/proc/self/fd/{name}"):  # noqa: PTH115
                    texts.append(Path("/proc/self/fdinfo", name).read_text())
    except OSError:
        return None
    found = watching.numbers_heard(texts)
    return found or None


def _folders(root: Path, tops: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the folders that may hold notes and can be read, with their inode numbers."""
    waiting = [str(root / top) for top in tops]
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError):
            with os.scandir(folder) as entries:
                waiting += [
                    e.path for e in entries if e.is_dir(follow_symlinks=False) and not layout.is_tool_folder(e.name)
                ]
            yield folder, os.stat(folder).st_ino  # noqa: PTH116  (a path a folder costs more than the call)


# One watcher a vault


@contextlib.contextmanager
def alone(cache: Path) -> Iterator[None]:
    """Be the only watcher of a vault; raise Locked that says who else is."""
    with contextlib.ExitStack() as held:
        try:
            handle = held.enter_context(files.locked(cache / WATCH_LOCK, ENDING))
        except Locked:
            raise Locked(f"this vault is watched already, by process {_holder(cache)}: end that one first") from None
        files.write_handle(handle, f"{os.getpid()} on {socket.gethostname().encode('ascii', 'replace').decode()}"[:32])
        yield


def _holder(cache: Path) -> str:
    with contextlib.suppress(FileNotFoundError, DiskError):
        return files.read(cache / WATCH_LOCK).decode("ascii", "replace").strip() or "unknown"
    return "unknown"


# The loop


class Watcher:
    """One vault, followed until a signal comes."""

    def __init__(
        self,
        root: Path,
        say: Callable[[str], None],
        *,
        environ: Mapping[str, str] = os.environ,
        polls: bool = False,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """`say` tells a person one line; with `polls` it looks every few seconds and waits for no events."""
        self._environ, self._say_line, self._polls, self._clock = environ, say, polls, clock
        self._memory = Memory(root, environ=environ, clock=clock)
        self._root, self._cache = self._memory.vault.root, self._memory.cache
        self._marks = Marks()
        self._agenda: Agenda = {}
        self._ears = Ears(self._root, self._cache / "watch-probe", self._marks)
        self._settings = self._settings_mark()
        self._models: dict[str, ModelNow] = {}
        self._ready: deque[str] = deque()
        self._child: growing.Child | None = None
        self._reader: growing.Child | None = None
        self._sessions: set[str] = set()
        self._pruned: date | None = None
        self._started = self._changed = 0.0
        self._mode, self._failure = "events", ""
        self._deaf = ""
        self._said: set[str] = set()
        self._is_over = False
        self._lost: BaseException | None = None

    def run(self) -> None:
        """Follow the vault; ends by `Stopped` or KeyboardInterrupt only."""
        self._started = time.time()
        warnings.filterwarnings(
            "ignore", module=r"watchdog\."
        )  # of its own bookkeeping; a person can do nothing about it
        with contextlib.ExitStack() as ending:
            ending.callback(setattr, sys, "unraisablehook", sys.unraisablehook)
            sys.unraisablehook = self._swallowed
            ending.callback(self._end)
            log.info("watching %s", self._root)
            self._listen(self._ears.open)
            self._agenda |= {("scan", ""): 0.0, ("beat", ""): 0.0}
            while not self._is_over:
                self._wait()
                if not self._safely("a turn", self._turn):
                    self._begin_anew()
        raise self._lost or Stopped

    def _swallowed(self, lost: Any) -> None:
        """Take in what Python would only print: a signal that came while an object was taken apart."""
        if isinstance(lost.exc_value, (Stopped, KeyboardInterrupt)):
            self._lost, self._is_over = lost.exc_value, True
        else:
            log.error("%s: %s", type(lost.exc_value).__name__, lost.exc_value)

    def stop(self, *_: object) -> None:
        """End soon: the handler of SIGTERM."""
        self._is_over = True  # should the exception get lost in a place where Python swallows it
        raise Stopped

    def once(self) -> dict[str, str]:
        """Do all that is due once; give model → reason for what failed."""
        self._memory.look()
        due = [model for model in self._memory.census.models() if self._memory.prospect(model).due]
        grown = self._memory.grow_some(due, sys.maxsize)
        log.info("looked once: %d summaries written", len(grown.written))
        self._memory.look()
        return grown.failed

    def _end(self) -> None:
        for child in (self._child, self._reader):
            if child:
                child.end()
        self._mode = "ended"
        self._beat()
        self._ears.close()
        self._memory.close()
        log.info("ended")

    # Waiting

    def _wait(self) -> None:
        """Wait for an event, or until something is due; notice when it took far longer than it should."""
        is_busy = bool(self._ready) and not self._child and self._mode != "away"
        planned = 0.0 if is_busy else min(watching.pause(self._agenda, time.monotonic()), BACKSTOP)
        began = time.time()
        self._marks.woken.wait(planned)
        if not -LATE <= time.time() - began <= planned + LATE:
            log.info("woken late: looking at everything")
            self._marks.add(WHOLE)

    def _turn(self) -> None:
        scopes = self._marks.gather()
        if not self._is_here():
            return
        due = watching.take_due(self._agenda, time.monotonic())
        whats = {what for what, _ in due}
        self._follow_settings()
        if self._ears.has_grown:
            soon = time.monotonic() + AGAIN
            self._agenda["ears", ""] = min(soon, self._agenda.get(("ears", ""), soon))
        if "ears" in whats or self._ears.is_doubtful:
            self._listen(self._ears.prove)
        again = {f"{layout.MODELS}/{model}" for what, model in due if what == "again"}
        models = watching.models_of(scopes | again)
        if "scan" in whats or models is None:
            self._look(None)
        elif models:
            self._look(models, is_event=bool(scopes))
        if self._mode == "away":
            return
        self._act(due)

    def _act(self, due: Sequence[tuple[str, str]]) -> None:
        """Do what the agenda says besides looking."""
        for what, model in due:
            if what == "model":
                self._ask(model)
            elif what == "extract":
                self._safely("extraction", self._extract)
        self._grow()
        if ("beat", "") in due:
            self._beat()

    def _safely(self, what: str, step: Callable[[], object]) -> bool:
        """Do something whose failure must not end the watcher; say whether it was done."""
        try:
            step()
        except DiskError as error:
            self._leave(str(error))
        except PyramidError as error:
            self._fail(f"{what}: {error}")
        except Exception as error:
            self._fail(f"{what}: {type(error).__name__}: {error}")
            log.debug("this went wrong", exc_info=True)
        else:
            return True
        return False

    def _fail(self, line: str) -> None:
        self._failure = " ".join(line.split())[:300]
        if line not in self._said:
            self._said.add(line)
            log.error("%s", line)
        self._beat()

    def _begin_anew(self) -> None:
        """Forget what was planned after a failure that nothing else took care of, and look at everything soon."""
        now = time.monotonic()
        self._models.clear()
        self._agenda = {key: at for key, at in self._agenda.items() if key[0] == "beat"}
        self._agenda |= {("scan", ""): now + AWAY, ("ears", ""): now + BACKSTOP}

    def _say(self, line: str) -> None:
        log.warning("%s", line)
        self._say_line(line)

    # The vault being there

    def _is_here(self) -> bool:
        """Whether the vault is there; a settings file that is just being saved may be missing for a moment."""
        end = time.monotonic() + (0.0 if self._mode == "away" else STEADY)
        while files.look(self._root / layout.SETTINGS) is None:
            if time.monotonic() >= end:
                self._leave(f"{self._root} is not there any more (not mounted?): nothing was taken as deleted")
                return False
            time.sleep(QUIET)
        if self._mode == "away":
            self._come_back()
        return self._mode != "away"

    def _leave(self, reason: str) -> None:
        """Wait for a vault that can't be read."""
        if self._mode != "away":
            self._mode = "away"
            self._ready.clear()
            self._say(f"{reason}; waiting for it")
            self._beat()
        now = time.monotonic()
        beat = self._agenda.get(("beat", ""), now)
        self._agenda.clear()
        self._agenda |= {("scan", ""): now + AWAY, ("beat", ""): beat}
        if beat <= now:
            self._beat()

    def _come_back(self) -> None:
        """Begin anew once all of it can be read: other folders may lie there now, under the same names."""
        try:
            with contextlib.ExitStack() as unless_read:
                fresh = Memory(self._root, environ=self._environ, clock=self._clock)
                unless_read.callback(fresh.close)
                fresh.look()
                fresh.census.models()
                unless_read.pop_all()
        except PyramidError as error:
            self._leave(str(error))
            return
        self._memory.close()
        self._memory = fresh
        self._models.clear()
        self._settings, self._mode = self._settings_mark(), "events"
        self._say("the vault is back")
        self._listen(self._ears.open)

    def _settings_mark(self) -> tuple[object, ...]:
        # with the folder itself: another one of the same name may have taken its place
        folder = self._root.stat().st_ino if self._root.is_dir() else 0
        return folder, files.look(self._root / layout.SETTINGS), files.look(files.config_file(self._environ))

    def _follow_settings(self) -> None:
        """Take in settings that were changed; those that can't be read change nothing."""
        mark = self._settings_mark()
        if mark == self._settings:
            return
        self._settings = mark
        try:
            fresh = Memory(self._root, environ=self._environ, clock=self._clock)
        except PyramidError as error:
            self._say(f"{error}; going on as before")
            return
        self._memory.close()
        self._memory = fresh
        self._models.clear()
        log.info("took in new settings")
        self._listen(self._ears.open)

    # Hearing

    def _listen(self, prove: Callable[[], str]) -> None:
        """Prove that events arrive, or begin to listen afresh; where they don't, say so once and look often."""
        deaf = "" if self._polls else prove()
        if deaf and deaf != self._deaf:
            self._say(f"{deaf}; until then the folder is looked at every few seconds")
        if self._deaf and not deaf:
            log.info("file events arrive again")
        self._deaf = deaf
        self._mode = "polling" if deaf or self._polls else "events"
        self._agenda["ears", ""] = time.monotonic() + BACKSTOP
        self._beat()
        self._marks.add(WHOLE)  # what changed before it listened

    # Looking

    def _look(self, models: list[str] | None, *, is_event: bool = False) -> None:
        """Look at some models (None: at the whole vault), and ask those that changed what they may grow."""
        began = time.monotonic()
        if not self._refreshed(models):
            return
        found = self._memory.census.models()
        if models is None:
            took = time.monotonic() - began
            wait = max(POLL, took * POLL_COST) if self._mode == "polling" else BACKSTOP
            self._agenda["scan", ""] = time.monotonic() + wait
        for model in self._models.keys() - set(found):
            del self._models[model]
        if models is None:
            self._safely("curation", self._curate)
        changed = [model for model in found if self._note(model)]
        if is_event:
            again = time.monotonic() + AGAIN
            self._agenda |= {("again", model): again for model in models or ()}
        if changed:
            self._changed = time.time()
            self._beat()
            log.info(
                "changed: %s", ", ".join(changed[:10]) + (f" and {len(changed) - 10} more" if changed[10:] else "")
            )

    def _refreshed(self, models: list[str] | None) -> bool:
        """Bring catalog and index up to date; where that fails for all together, for each model by itself."""
        if self._safely("looking", lambda: self._memory.look(models)) or self._mode == "away":
            return self._mode != "away"
        for model in self._memory.census.models() if models is None else models:
            self._safely(model, lambda model=model: self._memory.census.refresh([model]))  # type: ignore[misc]
        return True

    def _note(self, model: str) -> bool:
        """Take in a model as it was found; say whether it changed."""
        try:
            now = self._memory.census.now(model)
        except Exception as error:  # noqa: BLE001  (one model must not hold up the others)
            self._fail(f"{model}: {type(error).__name__}: {error}")
            return False
        if self._models.get(model) is now:
            return False
        self._models[model] = now
        self._ask(model)
        return True

    # Sessions and records

    def _curate(self) -> None:
        """Once a day prune what nobody confirmed in time; have new digests gone through once they are settled."""
        memory = self._memory
        if not memory.config.background or memory.vault.settings.read_only:
            return
        today = self._clock().astimezone(memory.vault.settings.zone).date()
        if today != self._pruned:
            self._pruned = today
            self._safely("pruning", self._prune)
        sessions = {file.handle for file in memory.census.values("sessions")}
        if sessions - self._sessions:
            self._agenda["extract", ""] = time.monotonic() + memory.vault.settings.shape.settle.total_seconds()
        self._sessions = sessions

    def _prune(self) -> None:
        if pruned := self._memory.prune():
            log.info("pruned %d records that nobody confirmed", len(pruned))

    def _extract(self) -> None:
        """Go through session digests: a few here, or all in a process of its own where that is slow."""
        if self._memory.extractor.slow:
            if not (self._reader and self._reader.is_running):
                self._reader = growing.Child(self._root, "", self._marks.woken.set, growing.EXTRACTION)
            return
        found = self._memory.backfill(limit=TURN)
        if found.processed:
            log.info("went through %d sessions: %d records", found.processed, found.entities + found.procedures)
        for line in found.errors:
            self._fail(f"extraction: {line}")
        if found.processed == TURN:
            self._agenda["extract", ""] = time.monotonic()

    # Growing

    def _ask(self, model: str) -> None:
        """Ask what a model may grow, now or later."""
        self._safely(model, lambda: self._asked(model))

    def _asked(self, model: str) -> None:
        found = self._memory.prospect(model)
        self._agenda.pop(("model", model), None)
        if found.due and model not in self._ready:
            self._ready.append(model)
        if found.waits:
            self._agenda["model", model] = time.monotonic() + RETRY
        elif found.at:
            self._agenda["model", model] = time.monotonic() + (found.at - datetime.now(UTC)).total_seconds()

    def _grow(self) -> None:
        """Have a few summaries of one model written, and let the next one wait for its turn."""
        if self._child and self._child.is_running:
            return
        if self._child:
            model, self._child = self._child.model, None
            self._after(model)
        if not self._ready:
            return
        if _git_is_at_work(self._root):
            self._agenda |= {("model", model): time.monotonic() + AWAY for model in self._ready}
            self._ready.clear()
            return
        model = self._ready.popleft()
        summarizer = self._memory.summarizer
        if summarizer and summarizer.slow:
            self._child = growing.Child(self._root, model, self._marks.woken.set)
            return
        self._safely(model, lambda: self._grow_here(model))

    def _grow_here(self, model: str) -> None:
        grown = self._memory.grow_some([model], TURN)
        if grown.written:
            log.info("%s: wrote %s", model, ", ".join(grown.written))
            self._failure = "" if self._failure.startswith(f"{model}: ") else self._failure
        for name, reason in grown.failed.items():
            self._fail(f"{name}: {reason}")
        if grown.busy or not grown.written:
            # somebody else grows it, or it is held: what comes of that is seen when it changes
            self._agenda["model", model] = time.monotonic() + RETRY
            return
        self._after(model)

    def _after(self, model: str) -> None:
        """Look at what was written, and ask the model again."""
        before = self._models.get(model)
        self._look([model])
        if self._models.get(model) is not before:
            return
        # nothing came of it: a failure, which is waited out
        reason = self._memory.prospect(model).waits
        if reason:
            self._fail(f"{model}: {reason}")
        self._agenda["model", model] = time.monotonic() + RETRY

    # The heartbeat

    def _beat(self) -> None:
        """Write the heartbeat."""
        self._agenda["beat", ""] = time.monotonic() + BEATS
        beat = watching.Beat(os.getpid(), self._started, time.time(), self._mode, self._changed, self._failure)
        with contextlib.suppress(OSError):
            self._cache.mkdir(parents=True, exist_ok=True)
            files.keep(self._cache / BEAT, watching.spell_beat(beat).encode())


def _git_is_at_work(root: Path) -> bool:
    """Whether git is in the middle of something in the vault's repository: half of the notes may be missing."""
    for folder in (root, *root.parents):
        git = folder / ".git"
        if not git.is_dir():
            continue
        for name in ("index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"):
            with contextlib.suppress(OSError):
                if time.time() - (git / name).stat().st_mtime < GIT_WAIT:
                    return True
        return False
    return False

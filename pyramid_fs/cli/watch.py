"""The verbs that keep a vault watched: watch, and service, which stands under setup."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import plistlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from pyramid_fs import files, layout
from pyramid_fs.cli.common import verb
from pyramid_fs.errors import ExistsAlready, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyramid_fs.memory import Memory

LOG = "watch.log"
LOG_BYTES = 1_000_000
LOG_OLD = 2
"""The log: so many bytes, and so many older files of that size."""
FAILED = 30
CARRIED = ("PYRAMID_CACHE_DIR", "PYRAMID_CONFIG")
"""Variables that a service must share with the shell: else it would work with another cache, or other settings."""


@click.command()
@click.option("--once", is_flag=True, help="Do all that is due once, and end: for cron and CI.")
@click.option("--poll", is_flag=True, help="Look every few seconds and wait for no events: for network drives.")
@click.option("--verbose", is_flag=True, help="Show the log on stderr, too.")
@verb(answers=False)
def watch(memory: Memory, once: bool, poll: bool, verbose: bool) -> int:
    """Follow the folder: find what changes, however it came there, and summarize what is due. Ends with Ctrl-C."""
    # watchdog takes 100 ms to import: for the verb that listens alone
    from pyramid_fs import watcher

    memory.vault.write_allowed()
    with contextlib.ExitStack() as held:
        held.enter_context(watcher.alone(memory.cache))
        _log_to(memory.cache, verbose=verbose)
        follower = watcher.Watcher(memory.vault.root, _say, polls=poll)
        signal.signal(signal.SIGTERM, follower.stop)
        try:
            if once:
                return _done(follower.once())
            follower.run()
        except watcher.Stopped:
            pass
    return 0


def _say(line: str) -> None:
    # a terminal that was closed must not end the watcher
    with contextlib.suppress(OSError, ValueError):
        click.echo(f"pyramid: {' '.join(line.split())}", err=True)


def _done(failed: Mapping[str, str]) -> int:
    for model, reason in failed.items():
        _say(f"{model}: {reason}")
    return FAILED if failed else 0


def _log_to(cache: Path, *, verbose: bool) -> None:
    """Log to a file in the cache folder, which is begun anew before it grows large."""
    log = logging.getLogger("pyramid_fs.watcher")
    log.setLevel(logging.DEBUG if verbose else logging.INFO)
    log.propagate = False
    logging.raiseExceptions = False  # a full disk loses lines of the log, and nothing else
    form = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handlers: list[logging.Handler] = [logging.StreamHandler()] if verbose else []
    with contextlib.suppress(OSError):
        kept = logging.handlers.RotatingFileHandler(
            cache / LOG, maxBytes=LOG_BYTES, backupCount=LOG_OLD, encoding="utf-8", errors="backslashreplace"
        )
        handlers.append(kept)
    for handler in handlers:
        handler.setFormatter(form)
        log.addHandler(handler)


# The service


class Service(NamedTuple):
    """A file that a system starts a watcher by."""

    path: Path
    text: str
    start: str
    """What a person types to start it."""


@click.command()
@click.option("--write", is_flag=True, help="Write the file instead of showing it.")
@verb(answers=False)
def service(memory: Memory, write: bool) -> None:
    """Show, or write, the file that has this system watch the vault: a systemd user unit, a launchd agent."""
    found = service_for(sys.platform, memory.vault.root, Path.home(), os.environ)
    if not write:
        click.echo(found.text.rstrip())
        click.echo(f"pyramid: to be written to {found.path} (--write does), then: {found.start}", err=True)
        return
    try:
        known = files.read(found.path) == found.text.encode()
    except FileNotFoundError:
        files.create(found.path, found.text.encode())
    else:
        if not known:
            raise ExistsAlready(f"{found.path} exists already and differs: remove it first")
    click.echo(f"{found.path}\nStart it: {found.start}")


def service_for(platform: str, root: Path, home: Path, environ: Mapping[str, str]) -> Service:
    """Make the service of a vault for a system; raise UsageError where there is no such thing."""
    words = [sys.executable, "-P", "-m", "pyramid_fs", "--vault", str(root), "watch"]
    carried = {name: environ[name] for name in CARRIED if environ.get(name)}
    name = f"pyramid-{layout.slug(root.name) or 'vault'}-{layout.digest_suffix(str(root))}"
    if platform == "darwin":
        label = f"org.pyramid-fs.{name}"
        path = home / "Library/LaunchAgents" / f"{label}.plist"
        return Service(path, _agent(label, words, carried), f"launchctl bootstrap gui/$(id -u) {_quoted(str(path))}")
    if platform == "linux":
        folder = files.absolute(Path(environ.get("XDG_CONFIG_HOME") or home / ".config")) / "systemd/user"
        start = f"systemctl --user daemon-reload && systemctl --user enable --now {name}.service"
        return Service(folder / f"{name}.service", _unit(root, words, carried), start)
    raise UsageError("this system has no service that can be set up from here: have it run `pyramid watch` at log-in")


def _unit(root: Path, words: list[str], carried: Mapping[str, str]) -> str:
    lines = [
        "[Unit]",
        f"Description=Watch the pyramid_fs vault {_plain(str(root))}",
        "",
        "[Service]",
        f"ExecStart={' '.join(_word(word) for word in words)}",
        *(f"Environment={_word(f'{name}={value}')}" for name, value in carried.items()),
        "Restart=on-failure",
        "RestartSec=30",
        "RestartPreventExitStatus=2 10 11 12",
        "Nice=10",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    return "\n".join(lines)


def _word(text: str) -> str:
    """Spell a word for systemd, which sets values in for `%` and `$`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    if "\n" in text:
        raise UsageError(f"{text!r} holds a line break: a service can't name it")
    return f'"{escaped}"'


def _plain(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    import shlex  # for a Mac alone

    return shlex.quote(text)


def _agent(label: str, words: list[str], carried: Mapping[str, str]) -> str:
    values = {
        "Label": label,
        "ProgramArguments": words,
        "EnvironmentVariables": dict(carried),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 30,
        "ProcessType": "Background",
    }
    return plistlib.dumps(values).decode()


COMMANDS = {"watch": watch}

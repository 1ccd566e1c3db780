"""Older versions of a file, where the vault lies in git; without git there are none."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEEP = 500
"""So many commits of a file are looked through."""
TIMEOUT = 30.0
"""Seconds that git may take for one answer."""


def _git(root: Path, *words: str) -> bytes | None:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(root), *words],  # noqa: S607
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def is_committed(root: Path, path: str) -> bool:
    """Whether git holds the file just as it is."""
    if not (root / ".git").exists() and _git(root, "rev-parse", "--is-inside-work-tree") is None:
        return False
    tracked = _git(root, "ls-files", "--error-unmatch", "--", path) is not None
    return tracked and _git(root, "diff", "--quiet", "HEAD", "--", path) is not None


def versions_named(root: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path, committed version) of all files that had a name, wherever they lay, newest first."""
    literal = re.sub(r"([*?\[\]\\])", r"\\\1", name)
    paths = ("--name-only", "--relative", "--", f":(glob)**/{literal}")
    found = _git(root, "-c", "core.quotePath=false", "log", f"-{DEEP}", "--format=commit %H", "--all", *paths)
    commit = ""
    for line in (found or b"").decode("utf-8", "surrogateescape").splitlines():
        if line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif line and (data := _git(root, "show", f"{commit}:./{line}")) is not None:
            yield line, data


def versions(root: Path, path: str) -> Iterator[bytes]:
    """Yield the committed versions of a file, newest first."""
    found = _git(root, "log", f"-{DEEP}", "--format=%H", "--all", "--", path)
    for commit in (found or b"").decode().split():
        data = _git(root, "show", f"{commit}:./{path}")
        if data is not None:
            yield data

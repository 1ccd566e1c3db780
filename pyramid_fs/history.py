"""Older versions of a file and of the whole vault, where it lies in git; without git there are none."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import times
from pyramid_fs.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime
    from pathlib import Path

DEEP = 500
"""So many commits of a file are looked through."""
TIMEOUT = 30.0
"""Seconds that git may take for one answer."""
LONG = 600.0
"""Seconds that it may take to give many files."""
_FILES = (b"100644", b"100755")
"""Modes of regular files: a link is never followed, in git as on disk."""


class Commit(NamedTuple):
    """A commit: its id, and when it was made by the clock of whoever made it."""

    id: str
    at: datetime


def _git(root: Path, *words: str, given: bytes | None = None, timeout: float = TIMEOUT) -> bytes | None:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(root), *words],  # noqa: S607
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            timeout=timeout,
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


def naming(root: Path, text: str, below: str) -> list[str]:
    """List the files under a folder in which some commit wrote a text, or took it out."""
    found = _git(
        root, "-c", "core.quotePath=false", "log", f"-{DEEP}", "--format=", "--all", f"-S{text}", "--name-only",
        "--relative", "--", below,
    )  # fmt: skip
    return sorted(set((found or b"").decode("utf-8", "surrogateescape").splitlines()) - {""})


def prefix(root: Path) -> str:
    """Give the path of a folder within its repository, with `/` at its end; empty for its top, and without git."""
    return (_git(root, "rev-parse", "--show-prefix") or b"").decode("utf-8", "surrogateescape").strip("\n")


# The whole vault, as a commit holds it


def is_inside(root: Path) -> bool:
    """Whether the folder lies in the work tree of a repository that has a commit."""
    return _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is not None


def commit_at(root: Path, moment: datetime) -> Commit | None:
    """Find the newest commit that HEAD comes from and that was made at or before a time; None where there is none.

    Of two lines that were merged it may be on either. Its time is the committer's, in whole seconds.
    """
    seconds = int(moment.timestamp() // 1)
    if seconds < 0:
        return None
    return _commit(_git(root, "rev-list", "-1", "--timestamp", f"--min-age={seconds}", "HEAD", "--"))


def commit_named(root: Path, ref: str) -> Commit | None:
    """Find the commit that an id, a branch, a tag or `HEAD~3` means; None where git knows none."""
    if not ref or ref.startswith("-") or "\0" in ref:  # an option is no name of anything
        return None
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return _commit(_git(root, "rev-list", "-1", "--timestamp", found.decode().strip(), "--")) if found else None


def _commit(line: bytes | None) -> Commit | None:
    seconds, _, name = (line or b"").decode().strip().partition(" ")
    return Commit(name, times.from_ns(int(seconds) * 10**9)) if name else None


def holds(root: Path, commit: str, names: Collection[str]) -> bool:
    """Whether a commit holds one of some names in this folder."""
    return bool(_git(root, "ls-tree", "-z", commit, "--", *names))


def tree(root: Path, commit: str) -> dict[str, str]:
    """Give path → blob of the regular files that a commit holds in this folder, paths relative to it."""
    listing = _git(root, "ls-tree", "-r", "-z", commit, timeout=LONG)
    if listing is None:
        raise DiskError(f"git can't list what commit {commit[:10]} holds: `git fsck` says what is wrong")
    found = {}
    for line in listing.split(b"\0"):
        facts, _, path = line.partition(b"\t")
        if facts.startswith(_FILES):
            found[os.fsdecode(path)] = facts.split()[2].decode()
    return found


def blobs(root: Path, ids: Collection[str]) -> dict[str, bytes]:
    """Give the bytes of blobs, read by one process however many there are; raise DiskError where git lacks one."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    stream = _git(root, "cat-file", "--batch", "--buffer", given="\n".join([*wanted, ""]).encode(), timeout=LONG)
    found, at = dict[str, bytes](), 0
    while stream and (end := stream.find(b"\n", at)) > 0:
        name, kind, *size = stream[at:end].split()
        at = end + 1
        if kind == b"blob":
            found[name.decode()] = stream[at : at + int(size[0])]
            at += int(size[0]) + 1
    if len(found) < len(wanted):
        raise DiskError(f"git lacks {len(wanted) - len(found)} of the files asked for: `git fsck` says what is wrong")
    return found


def blob_id(data: bytes, like: str) -> str:
    """Give the id that git has for a file of these bytes, in a repository whose ids look `like` this one."""
    algorithm = hashlib.sha1 if len(like) == 40 else hashlib.sha256  # noqa: PLR2004
    return algorithm(b"blob %d\0" % len(data) + data).hexdigest()

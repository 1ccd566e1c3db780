"""Settles in a git work tree what merging decides: for git itself as its driver, and after a merge that stopped."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import files, layout, marks, merging
from pyramid_fs.errors import DiskError, ExistsAlready, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyramid_fs.vault import Vault

TIMEOUT = 60.0
"""Seconds that git may take for one answer."""
TURNS = 100
"""So many names are tried for a conflict copy."""
MERGES = 50
"""So many merges of a file are looked through for the one that left its markers."""
UNDER_WAY = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD")
"""What lies in git's folder while it is in the middle of something."""
ATTRIBUTE = "merge=pyramid"
DRIVER = "merge.pyramid.driver"
SET_UP = "pyramid setup git --write"
MEND = "pyramid doctor --mend"
OURS, THEIRS = 2, 3
"""Git's numbers for the two sides of a merge that stopped; 1 is what they began from."""


class Git(NamedTuple):
    """A work tree, asked from one folder of it; paths are relative to that folder."""

    folder: Path

    def __call__(self, *words: str, data: bytes | None = None) -> bytes | None:
        """Give what git answers; None where it fails or there is none."""
        try:
            done = subprocess.run(  # noqa: S603
                ["git", "-C", str(self.folder), "--literal-pathspecs", *words],  # noqa: S607
                input=data,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired, ValueError):
            return None
        return done.stdout if done.returncode == 0 else None

    def line(self, *words: str) -> str:
        """Give the one line that git answers; empty where it fails."""
        return os.fsdecode(self(*words) or b"").rstrip("\r\n")

    def has(self, commit: str, path: str) -> bool:
        """Whether a commit holds a file."""
        return bool(commit) and self("cat-file", "-e", f"{commit}:./{path}") is not None


def in_git(root: Path) -> bool:
    """Whether git says that a folder lies in a work tree; it is not asked where nothing looks like it."""
    return looks_in_git(root) and Git(root).line("rev-parse", "--is-inside-work-tree") == "true"


def looks_in_git(root: Path) -> bool:
    """Whether a folder or one above it is the top of a git work tree, whatever git says of it."""
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def join(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge three texts line by line, as git does; None where lines collide."""
    done = _merged_file(base, ours, theirs)
    return done.stdout if done and done.returncode == 0 else None


def with_markers(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Merge three texts and leave git's markers where lines collide."""
    done = _merged_file(base, ours, theirs)
    return done.stdout if done and 0 <= done.returncode < 128 else ours  # noqa: PLR2004  (git's own failures)


def _merged_file(base: bytes, ours: bytes, theirs: bytes) -> subprocess.CompletedProcess[bytes] | None:
    with tempfile.TemporaryDirectory(prefix="pyramid-") as folder:
        names = {"ours": ours, "base": base, "theirs": theirs}
        for name, data in names.items():
            (Path(folder) / name).write_bytes(data)
        try:
            return subprocess.run(  # noqa: S603
                ["git", "merge-file", "-p", "-q", *names],  # noqa: S607
                cwd=folder,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None


# As git's driver


def drive(top: Path, path: str, base: Path, ours: Path, theirs: Path, environ: Mapping[str, str]) -> str:
    """Settle one file in the middle of a merge: into `ours`, as git wants it; give the conflict copy's path, or empty.

    `path` is relative to `top`, where the work tree begins. Raise DiskError or OSError; then nothing was changed.
    """
    texts = [files.read(where) for where in (base, ours, theirs)]
    known = texts[0] or None  # git gives an empty file where both sides added it
    settled = merging.settle(_in_vault(top, path), known, texts[1], texts[2], join)
    laid = _lay(top, path, settled.beside, _Coming(Git(top), environ).brings) if settled.beside is not None else ""
    ours.write_bytes(settled.data)
    return laid


def _in_vault(top: Path, path: str) -> str:
    """Give a path relative to the vault that holds it, the innermost."""
    parts = path.split("/")
    for depth in range(len(parts) - 1, 0, -1):
        if (top.joinpath(*parts[:depth]) / layout.SETTINGS).is_file():
            return "/".join(parts[depth:])
    return path


class _Coming:
    """What a merge that is under way will make of a name: git holds the index, and the work tree is still as it was."""

    def __init__(self, git: Git, environ: Mapping[str, str]) -> None:
        self._git = git
        self._environ = environ
        self._known: list[tuple[str, str]] | None = None

    def brings(self, path: str) -> bool | None:
        """Say whether a file will be there (True), will not be (False), or is none of this merge's business (None)."""
        is_ours = bool(self._git("ls-files", "-z", "--", path))
        for theirs, base in self._commits():
            is_theirs, was = self._git.has(theirs, path), self._git.has(base, path)
            if is_ours or is_theirs:
                return (is_ours and is_theirs) or not was
        return False if is_ours else None

    def _commits(self) -> list[tuple[str, str]]:
        if self._known is None:
            self._known = list(self._found())
        return self._known

    def _found(self) -> Iterator[tuple[str, str]]:
        """Yield (what is merged in, what both began from): git names it in the environment, a rebase in a file."""
        for name in self._environ:
            if found := re.fullmatch(r"GITHEAD_([0-9a-f]{40,64})", name):
                yield found[1], self._git.line("merge-base", "HEAD", found[1])
        done = self._git.line("rev-parse", "--git-path", "rebase-merge/done")
        with contextlib.suppress(FileNotFoundError, DiskError):
            words = files.read(self._git.folder / done).decode("utf-8", "replace").rstrip().rpartition("\n")[2].split()
            if len(words) > 1:
                yield words[1], f"{words[1]}^"


def _lay(top: Path, path: str, data: bytes, brings: Callable[[str], bool | None]) -> str:
    """Lay a text beside its file, once, under a name that the merge leaves alone; give its path."""
    for turn in range(TURNS):
        copy = merging.copy_path(path, data, turn)
        coming = brings(copy)
        if coming:
            return copy
        if coming is None and _is_laid(top / copy, data):
            return copy
    raise DiskError(f"{path}: no name is free for a conflict copy")


def _is_laid(where: Path, data: bytes) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return files.read(where) == data
    try:
        files.create(where, data)
    except ExistsAlready:
        return False
    return True


# After a merge that stopped


class Unmerged(NamedTuple):
    """A file that git could not settle: the blob of each side that has one."""

    path: str
    blobs: Mapping[int, str]


def unmerged(root: Path) -> list[Unmerged]:
    """List what a stopped merge left of a vault; nothing where the vault is not in git."""
    if not in_git(root):
        return []
    found: dict[str, dict[int, str]] = {}
    for line in (Git(root)("ls-files", "-u", "-z", "--", ".") or b"").split(b"\0"):
        if line:
            head, path = line.split(b"\t", 1)
            _, blob, stage = head.decode().split(" ")
            found.setdefault(os.fsdecode(path), {})[int(stage)] = blob
    return [Unmerged(path, blobs) for path, blobs in sorted(found.items())]


def problems(root: Path) -> list[Problem]:
    """List what git is to be told or asked about a vault: files it could not settle, a clone without the driver."""
    if not in_git(root):
        return []
    left = [
        Problem(path, "a merge stopped at it, and git waits", MEND if _is_mendable(path) else "settle it, then git add")
        for path, _ in unmerged(root)
    ]
    return [*left, *_without_driver(root)]


def _without_driver(root: Path) -> Iterator[Problem]:
    try:
        asked = ATTRIBUTE in files.read(root / ".gitattributes").decode("utf-8", "replace")
    except (FileNotFoundError, DiskError):
        return
    if not asked:
        return
    driver = Git(root).line("config", "--get", DRIVER)
    if not driver:
        reason = "this clone has no merge driver: git stops where two machines changed one file"
        yield Problem(".gitattributes", reason, SET_UP)
    elif not shutil.which(program := _program(driver)):
        yield Problem(".gitattributes", f"this clone's merge driver is gone: {program}", SET_UP)


def _program(driver: str) -> str:
    """Give the program that git runs as the driver; `%%` is its spelling of `%`."""
    with contextlib.suppress(ValueError, IndexError):
        return shlex.split(driver.replace("%%", "%"))[0]
    return driver


def _is_mendable(path: str) -> bool:
    return layout.place(path) is not None or merging.original_of(path) != "" or _is_ledger(path)


def _is_ledger(path: str) -> bool:
    return path.startswith(f"{layout.LEDGER}/") and path.endswith(".jsonl")


def mend(vault: Vault, marked: Iterable[str], machine: str, at: str) -> list[str]:
    """Settle what a stopped merge left, and the files in `marked`, which hold markers; give the paths that changed.

    Git is told of the paths that it waits for, and of the conflict copies laid beside them; nothing is committed.
    A tombstone that an edited copy of a forgotten note needs goes to the ledger of `machine`.
    """
    vault.write_allowed()
    left = [file for file in unmerged(vault.root) if _is_mendable(file.path)]
    mender = _Mender(vault, machine, at)
    moved = _moved_twice(left)
    for one, other, base in moved:
        mender.reunite(one, other, base)
    done = {path for one, other, _ in moved for path in (one.path, other.path)}
    for file in left:
        if file.path not in done:
            mender.settle(file)
    for path in marked:
        if path not in mender.told:
            mender.take_apart(path)
    mender.tell()
    return sorted(mender.changed)


def tell_on_the_way(root: Path, paths: Sequence[str]) -> None:
    """Tell git of paths that changed in the middle of a merge or rebase, which would not go on else."""
    if not (paths and in_git(root)):
        return
    git = Git(root)
    marks = (git.line("rev-parse", "--git-path", name) for name in UNDER_WAY)
    if any((root / mark).exists() for mark in marks if mark):
        _tell(git, root, paths)


def _tell(git: Git, root: Path, paths: Iterable[str]) -> None:
    here = {path: (root / path).is_file() for path in paths}
    if there := [path for path, is_here in here.items() if is_here]:
        git("add", "--", *there)
    if gone := [path for path, is_here in here.items() if not is_here]:
        git("rm", "-q", "--cached", "--ignore-unmatch", "--", *gone)


def _moved_twice(left: Sequence[Unmerged]) -> list[tuple[Unmerged, Unmerged, str]]:
    """Pair what one side moved here and the other there: one file of one handle, with the blob that both began from."""
    sides = [{layout.handle(f.path): f for f in left if set(f.blobs) == {stage}} for stage in (1, OURS, THEIRS)]
    return [
        (ours, sides[2][handle], sides[0][handle].blobs[1])
        for handle, ours in sides[1].items()
        if handle in sides[2] and handle in sides[0]
    ]


class _Mender:
    """Carries out what is decided, and holds what git is to be told."""

    def __init__(self, vault: Vault, machine: str, at: str) -> None:
        self._vault, self._machine, self._at = vault, machine, at
        self._git = Git(vault.root)
        self.told: list[str] = []
        self.changed: set[str] = set()

    def settle(self, file: Unmerged) -> None:
        """Settle one file by what its sides hold."""
        self.told.append(file.path)
        self.changed.add(file.path)
        texts = {stage: self._blob(blob) for stage, blob in file.blobs.items()}
        ours, theirs = texts.get(OURS), texts.get(THEIRS)
        if ours is not None and theirs is not None:
            self._both(file.path, texts.get(1), ours, theirs)
        elif (text := ours if theirs is None else theirs) is not None:
            self._one(file.path, texts.get(1), text, file.blobs[THEIRS if ours is None else OURS])

    def _both(self, path: str, base: bytes | None, ours: bytes, theirs: bytes) -> None:
        now = self._read(path)
        if _is_ledger(path):
            lines = dict.fromkeys([*ours.splitlines(), *theirs.splitlines()])
            self._put(path, now, b"".join(line + b"\n" for line in lines))
        elif now is None or now == ours or _holds_only(now, ours, theirs, base or b""):
            self._settled(path, now, merging.settle(path, base, ours, theirs, join))
        elif found := _sides(now, in_code=True):  # a person has begun to settle it: their words stay
            self._settled(path, now, merging.settle(path, *found, join))

    def _one(self, path: str, base: bytes | None, text: bytes, blob: str) -> None:
        """Keep a text that one side deleted and the other changed, unless it, or what it was made of, was forgotten."""
        now, forgotten = self._read(path), self._forgotten()
        is_named = merging.is_tombstoned(path, text, forgotten)
        if is_named or (base is not None and merging.is_tombstoned(path, base, forgotten)):
            if not is_named and base is not None:
                self._forget(path, base, text, blob)
            if now == text:
                files.remove(self._vault.root / path, text)
        elif now is None:
            self._put(path, None, text)

    def _forget(self, path: str, base: bytes, text: bytes, blob: str) -> None:
        """Keep an edited copy of a forgotten note away, too, but for what was added: that becomes a note of its own."""
        how = f"`git cat-file blob {blob[:12]}` shows all that it said"
        # first: after a kill in between the tombstone would have the copy removed with what was added
        if body := merging.added(base, text):
            kept, data = merging.apart(path, text, body, self._vault.settings.zone)
            with contextlib.suppress(ExistsAlready):  # another clone made it, and somebody may have gone on there
                files.create(self._vault.root / kept, data)
            self.told.append(kept)
            how = f"what was added to it is in {kept}; {how}"
        self._vault.add_to_ledger(self._machine, [{**merging.tombstone(path, text), "at": self._at}])
        self.told.append(f"{layout.LEDGER}/{self._machine}.jsonl")
        self.changed.discard(path)
        self.changed.add(f"{path} (removed: it is an edited copy of a note that was forgotten; {how})")

    def reunite(self, one: Unmerged, other: Unmerged, base: str) -> None:
        """Make one file again of a note that was moved to two places, at the place that sorts first."""
        stays, goes = sorted((one.path, other.path))
        self.told += [stays, goes]
        self.changed |= {stays, goes}
        settled = merging.settle(
            stays, self._blob(base), self._blob(one.blobs[OURS]), self._blob(other.blobs[THEIRS]), join
        )
        self._settled(stays, self._read(stays), settled)
        (self._vault.root / goes).unlink(missing_ok=True)

    def take_apart(self, path: str) -> None:
        """Settle a file whose markers were kept or committed."""
        now = self._read(path)
        if now is None:
            return
        if found := self._merged_from(path, now) or _sides(now, in_code=False):
            self.changed.add(path)
            self._settled(path, now, merging.settle(path, *found, join))

    def _merged_from(self, path: str, now: bytes) -> tuple[bytes | None, bytes, bytes] | None:
        """Find what was merged into a file that was committed with its markers, as (base, ours, theirs)."""
        for line in self._git.line("log", f"-{MERGES}", "--merges", "--format=%H %P", "--", path).splitlines():
            made, *parents = line.split()
            if len(parents) == 2 and self._version(made, path) == now:  # noqa: PLR2004  (ours and theirs)
                ours, theirs = (self._version(parent, path) for parent in parents)
                base = self._version(self._git.line("merge-base", *parents), path)
                return None if ours is None or theirs is None else (base, ours, theirs)
        return None

    def _version(self, commit: str, path: str) -> bytes | None:
        return self._git("cat-file", "blob", f"{commit}:./{path}") if commit else None

    def tell(self) -> None:
        """Tell git what became of the paths that it waits for."""
        _tell(self._git, self._vault.root, self.told)

    def _settled(self, path: str, now: bytes | None, settled: merging.Settled) -> None:
        if settled.beside is not None:
            copy = _lay(self._vault.root, path, settled.beside, lambda _: None)
            self.changed.add(copy)
            if path in self.told:
                self.told.append(copy)
        self._put(path, now, settled.data)

    def _put(self, path: str, now: bytes | None, data: bytes) -> None:
        if now is None:
            files.create(self._vault.root / path, data)
        elif now != data:
            files.replace(self._vault.root / path, data, now)

    def _read(self, path: str) -> bytes | None:
        try:
            return files.read(self._vault.root / path)
        except FileNotFoundError:
            return None

    def _blob(self, blob: str) -> bytes:
        found = self._git("cat-file", "blob", blob)
        if found is None:
            raise DiskError(f"git can't give {blob[:12]}: `git fsck` says what it lacks")
        return found

    def _forgotten(self) -> frozenset[tuple[str, str]]:
        lines = self._vault.ledger()
        return frozenset((str(line["forgot"]), str(line.get("digest", ""))) for line in lines if "forgot" in line)


def _sides(data: bytes, *, in_code: bool) -> tuple[bytes | None, bytes, bytes] | None:
    """Take the sides out of a file's markers, as (base, ours, theirs)."""
    found = marks.sides(data.decode("utf-8", "surrogateescape"), in_code=in_code)
    if not found:
        return None
    base, ours, theirs = (
        None if text is None else text.encode("utf-8", "surrogateescape")
        for text in (found.base, found.ours, found.theirs)
    )
    return (base, ours, theirs) if ours is not None and theirs is not None else None


def _holds_only(now: bytes, *texts: bytes) -> bool:
    """Whether a file with markers holds no line but of the sides: nobody has begun to settle it by hand."""
    if not _sides(now, in_code=True):
        return False
    known = {line.rstrip() for text in texts for line in text.splitlines()}
    is_mark = tuple(mark.encode() for mark in (marks.START, marks.BASE, marks.MIDDLE, marks.END))
    return all(line.rstrip() in known or line.startswith(is_mark) for line in now.splitlines())

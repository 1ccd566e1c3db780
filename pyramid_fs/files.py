"""The only place that opens, writes, syncs to disk, renames and locks."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import time
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import layout
from pyramid_fs.errors import DiskError, ExistsAlready, Locked, Problem, RefusedWrite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TEMP = ".pyramid-"
"""How a file begins that is being written; a dot file, so nobody reads it as a note."""
DEPTH = 12
"""A vault is looked for in so many folders above a file."""
_TEMP_AGE = 3600.0
"""Seconds after which such a file is what a kill left behind."""
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EACCES, errno.EINVAL})
"""What systems answer on disks that know no hard links (FAT, exFAT, Android's shared storage)."""
_AT_ONCE = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""How a file is opened for reading: a pipe that somebody called a note must not be waited for."""
_KEPT = 32
"""So many bytes a lock's file keeps for its holder."""
_POLL = 0.02
"""Seconds between two tries for a lock."""


class Sig(NamedTuple):
    """What a stat says of a file: equal signatures mean an unchanged file, but for the first moments after a change."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Seen(NamedTuple):
    """A file found by a walk."""

    path: str
    sig: Sig


class Folder(NamedTuple):
    """The markdown files of one folder, as a walk found them; without an object a file, which makes it fast."""

    path: str
    names: list[str]
    numbers: list[int]
    """The signatures, one after the other."""

    def files(self) -> Iterator[Seen]:
        """Yield the files one by one."""
        numbers = iter(self.numbers)
        for name, *sig in zip(self.names, numbers, numbers, numbers, numbers, strict=True):
            yield Seen(f"{self.path}/{name}", Sig(*sig))


_numbers = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")


def signature(found: os.stat_result) -> Sig:
    """Give the signature of a stat."""
    return Sig(*_numbers(found))


# Looking


def walk(root: Path, below: str, shut: list[Problem]) -> Iterator[Seen]:
    """Yield the markdown files under `root/below`, one by one; see `walk_folders`."""
    for folder in walk_folders(root, below, shut):
        yield from folder.files()


def walk_folders(root: Path, below: str, shut: list[Problem]) -> Iterator[Folder]:
    """Yield the markdown files under `root/below`, with paths relative to `root`; links are never followed.

    A folder that can't be read is added to `shut`, and what lies in it is unknown, not gone.
    """
    folders = [] if (root / below).is_symlink() else [below]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                listing = list(entries)
        except FileNotFoundError:
            continue
        except OSError as error:
            shut.append(
                Problem(folder, f"the folder can't be read: {_words(error)}", "give yourself the right to read it")
            )
            continue
        notes = [e for e in listing if e.is_file(follow_symlinks=False) and layout.is_markdown(e.name)]
        if len(notes) < len(listing):
            folders += [f"{folder}/{e.name}" for e in listing if _is_folder(e) and not layout.is_tool_folder(e.name)]
        seen, numbers = list[str](), list[int]()
        for entry in notes:
            try:
                numbers += _numbers(entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue
            seen.append(entry.name)
        yield Folder(folder, seen, numbers)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def everything(root: Path, below: str) -> Iterator[str]:
    """Yield the path of every file under `root/below` that lies in no tool's folder, whatever it is."""
    for folder, folders, names in os.walk(root / below):
        folders[:] = sorted(name for name in folders if not layout.is_tool_folder(name))
        for name in sorted(names):
            yield (Path(folder) / name).relative_to(root).as_posix()


def subfolders(root: Path, below: str) -> list[str]:
    """List the names of the folders in a folder, tools' own left out; raise DiskError where it can't be read."""
    if (root / below).is_symlink():
        return []
    try:
        with os.scandir(root / below) as entries:
            return sorted(e.name for e in entries if _is_folder(e) and not layout.is_tool_folder(e.name))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DiskError(f"{root / below} can't be read: {_words(error)}") from error


def is_own_folder(path: Path) -> bool:
    """Whether there is a folder of that name, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def names(root: Path, below: str) -> list[str]:
    """List the names in a folder; none where there is no such folder."""
    try:
        return sorted(os.listdir(root / below))  # noqa: PTH208  (a path a name costs ten times as much)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DiskError(f"{root / below} can't be read: {_words(error)}") from error


def look(path: Path) -> Sig | None:
    """Give a file's signature; None where there is no regular file of that name."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    return signature(found) if stat.S_ISREG(found.st_mode) else None


def folder_mark(path: Path) -> int:
    """Give a number that changes when a name appears in the folder or goes; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def read(path: Path) -> bytes:
    """Read a file whole. Raise FileNotFoundError where it is gone, DiskError where it may not be read."""
    try:
        handle = os.open(path, _AT_ONCE)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FileNotFoundError(path)
            return _read_all(handle)
        finally:
            os.close(handle)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise DiskError(f"{path} can't be read: {_words(error)}") from error


def _read_all(handle: int) -> bytes:
    with open(handle, "rb", closefd=False) as opened:
        return opened.read()


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


# Writing


def create(path: Path, data: bytes, *, settle_folder: bool = True) -> None:
    """Make a file, whole and only if there is none of that name, and on disk when this returns.

    Raise ExistsAlready or DiskError; then there is no trace of it. With `settle_folder` false the caller syncs the
    folder itself, once for many files.
    """
    _refuse_links(path)
    made = make_folder(path.parent)
    try:
        temp = _write_temp(path, data)
        try:
            _link(temp, path)
        finally:
            with contextlib.suppress(OSError):
                temp.unlink()
    except BaseException:
        # an empty folder would be a model, say
        with contextlib.suppress(OSError):
            for folder in reversed(made):
                folder.rmdir()
        raise
    if settle_folder:
        sync_folder(path.parent)


def _refuse_links(path: Path) -> None:
    """Raise RefusedWrite where a folder between the vault and a new file is a link: it may lead anywhere."""
    linked = ""
    for folder in path.parents[:DEPTH]:
        if (folder / layout.SETTINGS).is_file():
            if linked:
                raise RefusedWrite(
                    f"{linked} is a link, which the store neither follows nor fills: nothing was written"
                )
            return
        linked = str(folder) if folder.is_symlink() else linked


def _write_temp(path: Path, data: bytes, mode: int = 0o644) -> Path:
    temp = path.parent / f"{_TEMP}{os.urandom(6).hex()}.tmp"
    try:
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException as error:  # Ctrl-C, too, leaves no text behind
        with contextlib.suppress(OSError):
            temp.unlink()
        if isinstance(error, OSError):
            raise DiskError(f"{path} can't be written: {_words(error)}") from error
        raise
    return temp


def _link(temp: Path, path: Path) -> None:
    try:
        os.link(temp, path)
    except FileExistsError:
        raise ExistsAlready(f"{path} exists already") from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise DiskError(f"{path} can't be written: {_words(error)}") from error
        _rename_new(temp, path)


def _rename_new(temp: Path, path: Path) -> None:
    """Stand in for a link on disks that have none; names end in a random suffix, so the gap is only theoretical."""
    if path.exists():
        raise ExistsAlready(f"{path} exists already")
    try:
        temp.rename(path)
    except OSError as error:
        raise DiskError(f"{path} can't be written: {_words(error)}") from error


def replace(path: Path, data: bytes, expected: bytes) -> None:
    """Put new bytes in a file's place, whole or not at all.

    Raise RefusedWrite where the file is read-only or no longer holds `expected`.
    """
    _refuse_read_only(path)
    mode = stat.S_IMODE(path.stat().st_mode)
    temp = _write_temp(path, data, mode)
    try:
        temp.chmod(mode)  # the umask took bits away
        if read(path) != expected:
            raise RefusedWrite(f"{path} changed since it was read: nothing was written; try again")
        temp.replace(path)
    except FileNotFoundError:
        raise RefusedWrite(f"{path} is gone: nothing was written") from None
    except OSError as error:
        raise DiskError(f"{path} can't be written: {_words(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temp.unlink()
    sync_folder(path.parent)


def keep(path: Path, data: bytes) -> None:
    """Write a file of the cache, whole or not at all, but not synced: it can be made again. Raise OSError."""
    temp = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temp.write_bytes(data)
        temp.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temp.unlink()


def jot(path: Path, line: str) -> None:
    """Add a line to a file of the cache, in one piece; a disk that takes none loses it."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        try:
            os.write(handle, f"{line}\n".encode("utf-8", "replace"))
        finally:
            os.close(handle)


def _refuse_read_only(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise RefusedWrite(f"{path} can't be changed: {_words(error)}") from error
    # root may write anything, but a person who took the right away meant it
    if not mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise RefusedWrite(f"{path} is read-only: nothing was written")


def move(path: Path, to: Path) -> None:
    """Move a file to a name that is free, never over another; both folders are on disk when this returns.

    A file that is gone needs no move.
    """
    _refuse_links(to)
    make_folder(to.parent)
    try:
        _link(path, to)
    except DiskError:
        if look(path):
            raise
        return  # somebody else has moved it
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    sync_folder(to.parent)
    sync_folder(path.parent)


def remove(path: Path, expected: bytes | None = None) -> None:
    """Delete a file, for good when this returns; one that is gone need not be deleted.

    With `expected`, raise RefusedWrite where it holds other bytes by now: somebody has just saved it.
    """
    with contextlib.suppress(FileNotFoundError):
        if expected is not None and read(path) != expected:
            raise RefusedWrite(f"{path} changed since it was read: it is still there; try again")
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(f"{path} can't be deleted: {_words(error)}") from error
    sync_folder(path.parent)


def rename_folder(path: Path, to: Path) -> None:
    """Rename a folder."""
    try:
        path.rename(to)
    except OSError as error:
        raise DiskError(f"{path} can't be renamed: {_words(error)}") from error
    sync_folder(to.parent)


def copy_times(path: Path, like: os.stat_result) -> None:
    """Give a file the times of another: a note without a date of its own is dated by them."""
    with contextlib.suppress(OSError):
        os.utime(path, ns=(like.st_atime_ns, like.st_mtime_ns))


def append(path: Path, text: str) -> None:
    """Add lines to a file that only ever grows, on disk when this returns."""
    make_folder(path.parent)
    is_new = look(path) is None
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        try:
            view = memoryview(_line_end(handle) + text.encode())
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise DiskError(f"{path} can't be written: {_words(error)}") from error
    if is_new:
        sync_folder(path.parent)


def _line_end(handle: int) -> bytes:
    """Give the line end that a file lacks after a line that a kill or a full disk cut off."""
    size = os.fstat(handle).st_size
    if not size:
        return b""
    os.lseek(handle, size - 1, os.SEEK_SET)
    return b"" if os.read(handle, 1) == b"\n" else b"\n"


def make_folder(path: Path) -> list[Path]:
    """Make a folder and those above it, on disk when this returns; give those that were made, the upper ones first."""
    try:
        if path.is_dir():
            return []
        made = make_folder(path.parent)
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise DiskError(f"{path} can't be made: {_words(error)}") from error
    sync_folder(path.parent)
    return [*made, path]


def sync_folder(path: Path) -> None:
    """Bring a folder's names to disk; a system that can't (Windows) does so by itself."""
    if os.name == "nt":
        return
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def is_temp(name: str) -> bool:
    """Whether a file of this name is being written, or was when a kill came."""
    return name.startswith(_TEMP) and name.endswith(".tmp")


def sweep(root: Path, folders: list[str]) -> None:
    """Remove what a kill left half-written in these folders, once nobody can still be writing it."""
    now = time.time()
    for folder in folders:
        for name in names(root, folder):
            path = root / folder / name
            if is_temp(name):
                with contextlib.suppress(OSError):
                    if now - path.stat().st_mtime > _TEMP_AGE:
                        path.unlink()


# Locks, and the folders of a person


@contextlib.contextmanager
def locked(path: Path, wait: float) -> Iterator[int]:
    """Hold a lock that dies with the process; yields a handle on its file, which keeps a few bytes for its holder.

    Waits at most `wait` seconds, then raises Locked. (filelock does the same and costs 90 ms to import.)
    """
    make_folder(path.parent)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise DiskError(f"{path} can't be written: {_words(error)}") from error
    try:
        end = time.monotonic() + wait
        while not _try_lock(handle):
            if time.monotonic() >= end:
                raise Locked(f"another process is at it ({path.name})")
            time.sleep(_POLL)
        yield handle
    finally:
        os.close(handle)


if os.name == "nt":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            os.lseek(handle, 1 << 20, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def read_handle(handle: int) -> str:
    """Read what a lock's file keeps."""
    os.lseek(handle, 0, os.SEEK_SET)
    return os.read(handle, _KEPT).decode("ascii", "replace").strip()


def write_handle(handle: int, text: str) -> None:
    """Write what a lock's file keeps."""
    with contextlib.suppress(OSError):  # lost with a full disk: the files themselves say the same, more slowly
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, text.ljust(_KEPT).encode())  # over the whole of it: to truncate first costs as much as a sync


def absolute(path: Path) -> Path:
    """Give the absolute path that a person means; `~` is the home folder, and `~name` a name where nobody has it."""
    with contextlib.suppress(RuntimeError):
        path = path.expanduser()
    return path.absolute()


def cache_folder(vault: Path, environ: Mapping[str, str]) -> Path:
    """Give the folder for what is derived from a vault: the user's own, never inside the vault."""
    mark = hashlib.sha256(str(vault).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache_root(environ) / mark


def cache_root(environ: Mapping[str, str]) -> Path:
    """Give the folder that `$PYRAMID_CACHE_DIR` names, or the user's cache folder."""
    if named := environ.get("PYRAMID_CACHE_DIR"):
        return absolute(Path(named))
    from platformdirs import user_cache_path

    return user_cache_path("pyramid-fs", appauthor=False)


def config_file(environ: Mapping[str, str]) -> Path:
    """Give the path of the user's `config.toml`; `$PYRAMID_CONFIG` names another file, or its folder."""
    if named := environ.get("PYRAMID_CONFIG"):
        path = absolute(Path(named))
        return path / "config.toml" if path.is_dir() else path
    from platformdirs import user_config_path

    return user_config_path("pyramid-fs", appauthor=False) / "config.toml"


def machine(cache: Path) -> str:
    """Give the name of this machine's ledger file: drawn once, and kept in the cache folder.

    A lost cache draws a new one, which is harmless: all ledger files are read as one.
    """
    path = cache / "machine"
    try:
        found = path.read_text().strip()
        if found.isalnum() and len(found) == 6:  # noqa: PLR2004
            return found
    except OSError:
        pass
    import secrets  # for the first time alone

    drawn = "".join(secrets.choice(layout.ALPHABET) for _ in range(6))
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(f"{drawn}\n")
    return drawn

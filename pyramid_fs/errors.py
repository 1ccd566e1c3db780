"""What can go wrong: the exception tree with its exit codes, and `Problem`, the value for a file that can't be used.

    PyramidError            1   the root; never raised itself
    ├── UsageError          2   the call's words are off
    ├── NotAVault          10   no `pyramid.toml` where a vault was meant
    ├── UnknownFormat      11   a vault written by a newer version
    ├── Locked             12   somebody else is at it, and still is after a bounded wait
    ├── NoSuchModel        20   with the closest names
    ├── NoSuchHandle       21   none, or several: then with the candidates
    ├── ExistsAlready      22   the name is taken
    ├── IllegalName        23   a name that some system or Obsidian could not hold
    ├── RefusedWrite       24   the file changed, can't be parsed or is read-only: nothing was written
    ├── SummarizerFailed   30   nothing was stored
    └── DiskError          40   full disk, no permission, a root that can't be read

Trouble in one file of a person's is a `Problem`, not an exception: it never holds up the others.
"""

from __future__ import annotations

from typing import NamedTuple


class PyramidError(Exception):
    """The root of all errors that a person or an agent can cause; its text is one plain sentence with the next step."""

    exit_code = 1


class UsageError(PyramidError):
    """The arguments don't make a request."""

    exit_code = 2


class NotAVault(PyramidError):  # noqa: N818  (the contract's word; an exit code's name)
    """The folder holds no `pyramid.toml`."""

    exit_code = 10


class UnknownFormat(PyramidError):  # noqa: N818
    """The vault's `format` is newer than this version writes."""

    exit_code = 11


class Locked(PyramidError):  # noqa: N818
    """Another process holds the lock after the bounded wait."""

    exit_code = 12


class NoSuchModel(PyramidError):  # noqa: N818
    """The name is no model; the text lists the closest names."""

    exit_code = 20


class NoSuchHandle(PyramidError):  # noqa: N818
    """The handle names nothing, or several files; the text lists the candidates."""

    exit_code = 21


class ExistsAlready(PyramidError):  # noqa: N818
    """A model or topic of that name is there, equal but for case and composition."""

    exit_code = 22


class IllegalName(PyramidError):  # noqa: N818
    """The name can't be a file name on every system, or no link could hold it."""

    exit_code = 23


class RefusedWrite(PyramidError):  # noqa: N818
    """The file keeps its bytes: it changed since it was read, can't be parsed, or may not be written."""

    exit_code = 24


class SummarizerFailed(PyramidError):  # noqa: N818
    """A summarizer gave nothing that may be stored; the text says why."""

    exit_code = 30


class DiskError(PyramidError):
    """The disk is full, or a folder may not be read or written."""

    exit_code = 40


class Problem(NamedTuple):
    """A file that can't be used as it is: where it lies in the vault, why, and what a person can do."""

    path: str
    reason: str
    fix: str = ""

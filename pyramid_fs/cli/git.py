"""The verb that git calls, a file at a time: git merge-driver. It imports little, and never fails with a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pyramid_fs import files, mending
from pyramid_fs.errors import PyramidError


@click.group()
def git() -> None:
    """Answer git, in a clone that `pyramid setup git --write` has set up."""


@git.command("merge-driver")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("path")
def merge_driver(base: Path, ours: Path, theirs: Path, path: str) -> int:
    """Settle the file PATH, whose versions are BASE, OURS and THEIRS, in OURS; exit 1 where it is left to a person."""
    try:
        laid = mending.drive(Path.cwd(), path, base, ours, theirs, os.environ)
    except (PyramidError, OSError, ValueError, RecursionError) as error:
        _say(f"{path} is left to you: {error}")
        return _left_to_a_person(base, ours, theirs)
    if laid:
        _say(f"{path} was changed on both sides: yours stays, the other text stands whole in {laid}")
    return 0


def _left_to_a_person(base: Path, ours: Path, theirs: Path) -> int:
    """Leave git's markers, as git would without a driver."""
    try:
        ours.write_bytes(mending.with_markers(*(files.read(where) for where in (base, ours, theirs))))
    except (PyramidError, OSError) as error:
        _say(str(error))
    return 1


def _say(text: str) -> None:
    click.echo(f"pyramid: {' '.join(text.split())}", err=True)


COMMANDS = {"git": git}

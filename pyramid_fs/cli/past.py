"""The verb that looks back over what changed: diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pyramid_fs import comparing
from pyramid_fs.calls import word
from pyramid_fs.cli.common import answer, say_future, verb

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory


@click.command()
@click.argument("since")
@click.argument("until", required=False)
@click.option("--all", "whole", is_flag=True, help="Show every change, however many there are.")
@verb()
def diff(memory: Memory, since: str, until: str | None, whole: bool, as_json: bool) -> None:
    """Say what changed from SINCE to UNTIL, which is now if it is not given: notes, summaries, models, records.

    Each is a date (the end of that day), a time, `now`, or a commit, branch or tag of the git repository that the vault
    lies in. Without git, dates in the files tell what is new, and not what was revised, written again or deleted.
    """
    found = memory.diff(since, until)
    rest = f"pyramid diff {' '.join(word(one) for one in (since, until) if one)} --all"
    answer(found, comparing.as_text(found, rest, whole=whole), as_json=as_json)
    say_future(memory, since, until)


COMMANDS = {"diff": diff}

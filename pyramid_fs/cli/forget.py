"""The verb that takes a note out of the vault for good: forget."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from pyramid_fs import trust
from pyramid_fs.cli.common import answer, verb
from pyramid_fs.cli.growth import say, with_progress
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyramid_fs.changing import Forgotten
    from pyramid_fs.memory import Memory

SHOWN = 20
"""So many files in which words still stand are listed; `--json` lists all."""
ALIKE = " (of the same name and text: the line that keeps a note forgotten can't tell the two apart)"
SHOWN_WORDS = 8
"""So many words of each."""


@click.command()
@click.argument("handle")
@click.option("--dry-run", is_flag=True, help="Say what would be removed and written again, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@verb()
def forget(memory: Memory, handle: str, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Remove a note, or what is left of one you deleted, and write every summary made from it again without it.

    The summaries keep their files and names. A line in the ledger keeps the note from coming back with an old copy.
    """
    plan = memory.forget_plan(handle)
    if dry_run:
        answer(plan, _text(plan), as_json=as_json)
        return 0
    if not yes and not _is_wanted(plan):
        return 0
    say(trust.warnings(memory.prompts))
    writer = memory.summarizer
    count = len(plan.written) if writer and not writer.draft else 0
    found = with_progress(count, lambda step, told: memory.forget(handle, step=step, told=told))
    answer(found, _text(found), as_json=as_json)
    say(f"{name}: {reason}" for name, reason in found.failed.items())
    return found.exit_code


def _is_wanted(plan: Forgotten) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("forget takes a text away for good: --dry-run shows what it would do, --yes does it")
    click.echo(_text(plan), err=True)
    is_wanted = click.confirm("Forget it?", err=True)
    say([] if is_wanted else ["nothing was changed"])
    return is_wanted


def _text(found: Forgotten) -> str:
    return "\n".join([*_done(found), *_traces(found), *_git(found)])


def _done(found: Forgotten) -> Iterator[str]:
    would = "Would remove" if found.is_dry else "Removed"
    if not (found.removed or found.written or found.retired or found.emptied or found.tombstones):
        yield f"{found.handle} was forgotten before, and nothing is left to do."
        return
    for path in found.removed:
        yield f"{would}: {path}{ALIKE if path in found.alike else ''}"
    if not found.removed:
        yield f"{found.handle} was deleted before; what is left of it is taken out."
    yield from _listed("Would write again without it" if found.is_dry else "Written again without it", found.written)
    yield from _listed("Would retire, as nothing else is in it" if found.is_dry else "Retired, empty", found.retired)
    yield from _listed("Would empty" if found.is_dry else "Emptied", found.emptied)
    if found.drafts:
        yield (
            f"{len(found.drafts):,} of the summaries are drafts of whole sentences, so that its text was gone at once; "
            "`pyramid redo --drafts` has a model write them"
        )


def _listed(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{what}: {', '.join(names)}"


def _traces(found: Forgotten) -> Iterator[str]:
    if not found.traces:
        return
    yield "Rare words of it stand elsewhere, which is yours to judge:"
    for trace in found.traces[:SHOWN]:
        more = ", …" if len(trace.words) > SHOWN_WORDS else ""
        yield f"- {trace.path}: {', '.join(trace.words[:SHOWN_WORDS])}{more}"
    if len(found.traces) > SHOWN:
        yield f"- and {len(found.traces) - SHOWN:,} files more: --json lists them"


def _git(found: Forgotten) -> Iterator[str]:
    if not found.git_paths:
        return
    more = ", and in older versions of the summaries made from it" if found.is_summary_in_git else ""
    command = " ".join(f"--path {shlex.quote(path)}" for path in found.git_paths)
    yield (
        f"Git history still holds its text: in {', '.join(found.git_paths)}{more}. "
        f"The store never changes history; `git filter-repo {command} --invert-paths` would take "
        f"{'that file' if len(found.git_paths) == 1 else 'those files'} out, here and in every clone"
        f"{'; the summaries stay in it' if more else ''}."
    )


COMMANDS = {"forget": forget}

"""The verbs that bring notes in and carry them out: import, export."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs.cli.browse import check_extra
from pyramid_fs.cli.common import answer, verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyramid_fs.importers import Imported
    from pyramid_fs.memory import Memory

SHOWN_BAD = 20
"""So many bad lines of an import are shown one by one."""
SOME = 20
"""Pages between two words about how an export is coming on."""


@click.group("import")
def import_() -> None:
    """Bring in notes that were written elsewhere: dated as they were, and never twice."""


DRY_RUN = click.option("--dry-run", is_flag=True, help="Say what would be made and make nothing.")
INTO = click.option("-m", "--model", default="", help="The model that the notes go to.")


@import_.command()
@click.argument("path", type=click.Path(path_type=Path))
@INTO
@DRY_RUN
@verb()
def jsonl(memory: Memory, path: Path, model: str, dry_run: bool, as_json: bool) -> int:
    """Import {"model" | "models", "text", "created", "source"}, one JSON object a line."""
    size = path.stat().st_size if path.is_file() else 0
    found = _with_progress(size, lambda step: memory.import_jsonl(path, model=model, dry=dry_run, step=step))
    return _report(memory, found, dry_run=dry_run, as_json=as_json)


@import_.command()
@click.argument("folder", type=click.Path(path_type=Path))
@INTO
@DRY_RUN
@verb()
def markdown(memory: Memory, folder: Path, model: str, dry_run: bool, as_json: bool) -> int:
    """Import a folder of markdown notes as they are; without -m each of its folders becomes a model."""
    count = sum(1 for _ in folder.rglob("*.md")) if folder.is_dir() else 0
    found = _with_progress(count, lambda step: memory.import_markdown(folder, model=model, dry=dry_run, step=step))
    return _report(memory, found, dry_run=dry_run, as_json=as_json)


def _conversations(kind: str, what: str) -> click.Command:
    """Make the verb that imports one kind of conversations."""

    @import_.command(kind, help=f"Import {what} as session digests: each once, and again where it has gone on since.")
    @click.argument("path", type=click.Path(path_type=Path))
    @click.option("--topic", "-t", "topics", multiple=True, help="A topic that all of them belong to.")
    @DRY_RUN
    @verb()
    def conversations(memory: Memory, path: Path, topics: tuple[str, ...], dry_run: bool, as_json: bool) -> int:
        count = 0

        def step() -> None:
            nonlocal count
            count += 1
            if sys.stderr.isatty():
                click.echo(f"\r{count} conversations", err=True, nl=False)

        found = memory.import_sessions(kind, path, topics=topics, dry=dry_run, step=step)
        if count and sys.stderr.isatty():
            click.echo("", err=True)
        would = "would be " if dry_run else ""
        lines = [f"{found.made} session digests {would}made, {found.grown} {would}written again, {found.known} known."]
        lines += [f"{found.skipped} hold nothing to keep."] if found.skipped else []
        lines += [f"{found.edited} have gone on and were edited by hand: left as they are."] if found.edited else []
        lines += ["Next: pyramid backfill"] if found.made and not dry_run else []
        answer({"vault": memory.name, "dry_run": dry_run, **asdict(found)}, "\n".join(lines), as_json=as_json)
        return _complain(found.bad)

    return conversations


CONVERSATIONS = [
    _conversations("claude-code", "Claude Code's transcripts (a file, or ~/.claude/projects)"),
    _conversations("claude", "the conversations of a Claude export"),
    _conversations("chatgpt", "the conversations of a ChatGPT export"),
]


def _complain(bad: list[str]) -> int:
    for line in bad[:SHOWN_BAD]:
        click.echo(f"pyramid: {line}", err=True)
    if len(bad) > SHOWN_BAD:
        click.echo(f"pyramid: and {len(bad) - SHOWN_BAD} more that can't be used", err=True)
    return 1 if bad else 0


def _with_progress(size: int, run: Callable[[Callable[[int], None]], Imported]) -> Imported:
    if not sys.stderr.isatty() or not size:
        return run(lambda _: None)
    with click.progressbar(length=size, label="Importing", file=sys.stderr) as bar:
        return run(bar.update)


def _report(memory: Memory, found: Imported, *, dry_run: bool, as_json: bool) -> int:
    what = "would be made" if dry_run else "made"
    lines = [f"{found.notes} notes {what} ({found.files} files), {found.known} were there already."]
    lines += [f"Models {what}: {', '.join(found.models)}"] if found.models else []
    lines += [f"{found.skipped} files hold no text."] if found.skipped else []
    lines += ["Next: pyramid advance"] if found.notes and not dry_run else []
    answer({"vault": memory.name, "dry_run": dry_run, **_counts(found)}, "\n".join(lines), as_json=as_json)
    return _complain(found.bad)


def _counts(found: Imported) -> dict[str, object]:
    return {
        "read": found.read,
        "notes": found.notes,
        "files": found.files,
        "known": found.known,
        "skipped": found.skipped,
        "models": found.models,
        "bad": found.bad,
    }


@click.group()
def export() -> None:
    """Write the vault in another form."""


@export.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@verb(answers=False)
def site(memory: Memory, folder: Path) -> None:
    """Write the pages of `browse` as files that need no server; what is private in the vault is so in the site."""
    check_extra()
    from pyramid_fs.browser import site as writer  # templates and markdown, for this verb alone

    def step(done: int, total: int) -> None:
        if sys.stderr.isatty() and (done % SOME == 0 or done == total):
            click.echo(f"\r{done:,} of {total:,} pages", err=True, nl=done == total)

    count = writer.export(memory, folder, step)
    click.echo(f"{count:,} pages are in {folder}: open {folder / 'index.html'}")


COMMANDS = {"import": import_, "export": export}

"""The verbs around a vault: init, import, format."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs import files, vault
from pyramid_fs.cli.common import answer, json_option, verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyramid_fs.importers import Imported
    from pyramid_fs.memory import Memory

SHOWN_BAD = 20
"""So many bad lines of an import are shown one by one."""


@click.command()
@click.argument("folder", required=False)
@click.option("--bare", is_flag=True, help="No starter models.")
@click.option("--default", is_flag=True, help="Make it the vault that is used where none is named or near.")
@json_option
@click.pass_context
def init(ctx: click.Context, folder: str | None, bare: bool, default: bool, as_json: bool) -> None:
    """Make a vault of FOLDER (this one if not named); it may lie in an Obsidian vault. Nothing there is changed."""
    root = files.absolute(Path(folder or ctx.find_root().obj["vault"] or "."))
    made = vault.make_vault(root, models={} if bare else vault.STARTERS)
    opened = vault.open_vault(root)
    said = []
    if default:
        _set_default(root)
        said = ["It is your default vault from now on."]
    lines = [f"{'A vault was made' if made else 'This is a vault already'}: {opened.root}"]
    lines += [*(f"  {path}" for path in made), *said]
    lines += ["Next: pyramid record -m user 'TEXT'" if not bare else "Next: pyramid model new NAME"]
    answer({"vault": str(opened.root), "made": made}, "\n".join(lines), as_json=as_json)


def _set_default(root: Path) -> None:
    """Set `default_vault` in the user's configuration; every other line of it stays."""
    path = files.config_file(os.environ).resolve()  # it may be a link into a folder of dotfiles
    line = f'default_vault = "{str(root).replace(chr(92), chr(92) * 2)}"\n'
    try:
        old = files.read(path)
    except FileNotFoundError:
        files.create(path, line.encode())
        return
    lines = old.decode().splitlines(keepends=True)
    kept = [text for text in lines if not text.startswith("default_vault")]
    files.replace(path, (line + "".join(kept)).encode(), old)


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


@click.command("format")
def format_() -> None:
    """Print the page that describes the vault on disk."""
    click.echo(resources.files("pyramid_fs").joinpath("FORMAT.md").read_text("utf-8"))


COMMANDS = {"init": init, "import": import_, "format": format_}

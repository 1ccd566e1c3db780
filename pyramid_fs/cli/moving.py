"""The verbs that bring notes in and carry them out: import, export."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs.cli.browse import check_extra
from pyramid_fs.cli.common import answer, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyramid_fs.importers import Imported
    from pyramid_fs.importers.sessions import Sessions
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
@click.argument("path", metavar="FILE|-", type=click.Path(path_type=Path))
@INTO
@DRY_RUN
@verb()
def jsonl(memory: Memory, path: Path, model: str, dry_run: bool, as_json: bool) -> int:
    """Import {"model" | "models", "text", "created", "source"}, one JSON object a line; - reads standard input.

    What `export jsonl` wrote is taken back: the notes, with their dates, names, sources and models.
    """
    given = sys.stdin.buffer if str(path) == "-" else path
    found = _with_progress(_size(path), lambda step: memory.import_jsonl(given, model=model, dry=dry_run, step=step))
    return _report(memory, found, dry_run=dry_run, as_json=as_json)


@import_.command()
@click.argument("folder", type=click.Path(path_type=Path))
@INTO
@DRY_RUN
@verb()
def markdown(memory: Memory, folder: Path, model: str, dry_run: bool, as_json: bool) -> int:
    """Import a folder of markdown notes as they are; without -m each of its folders becomes a model."""
    found = _with_progress(
        _count(folder), lambda step: memory.import_markdown(folder, model=model, dry=dry_run, step=step)
    )
    return _report(memory, found, dry_run=dry_run, as_json=as_json)


CONFIRM = click.option("--confirm", is_flag=True, help="Confirm the entities that are made; else they are pending.")


@import_.command("mcp-memory")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@INTO
@CONFIRM
@DRY_RUN
@verb()
def mcp_memory(memory: Memory, path: Path, model: str, confirm: bool, dry_run: bool, as_json: bool) -> int:
    """Import the memory of the MCP reference server (memory.jsonl).

    Each observation becomes a note, each entity a record with its relations as links. Without -m the notes go to a
    model that is called like the file. The file says no dates: its own time dates all, in its order.
    """
    found = _with_progress(
        _size(path),
        lambda step: memory.import_mcp_memory(path, model=model, confirm=confirm, dry=dry_run, step=step),
    )
    return _report(memory, found, dry_run=dry_run, as_json=as_json)


@import_.command("basic-memory")
@click.argument("folder", type=click.Path(path_type=Path))
@INTO
@click.option("--entity", "types", metavar="TYPE", multiple=True, help="Files of this `type` become entities too.")
@CONFIRM
@DRY_RUN
@verb()
def basic_memory(
    memory: Memory, folder: Path, model: str, types: tuple[str, ...], confirm: bool, dry_run: bool, as_json: bool
) -> int:
    """Import a basic-memory project: each file is a note as it stands; without -m each folder becomes a model.

    With --entity person, say, files of that type become entity records as well, with their relations as links.
    """
    found = _with_progress(
        _count(folder),
        lambda step: memory.import_basic_memory(
            folder, model=model, types=types, confirm=confirm, dry=dry_run, step=step
        ),
    )
    return _report(memory, found, dry_run=dry_run, as_json=as_json)


@import_.command()
@click.argument("folder", type=click.Path(path_type=Path))
@INTO
@DRY_RUN
@verb()
def daily(memory: Memory, folder: Path, model: str, dry_run: bool, as_json: bool) -> int:
    """Import a folder of daily notes: 2026-11-29.md, 2026_11_29.md, 20261129.md, 2026/11/29.md.

    Each section, and each point or heading that begins with a time, becomes a note of that day; a day with neither is
    one note. Of a day that has grown since, what is new comes in. Without -m all goes to a model that is called like
    the folder.
    """
    found = _with_progress(
        _count(folder), lambda step: memory.import_daily(folder, model=model, dry=dry_run, step=step)
    )
    return _report(memory, found, dry_run=dry_run, as_json=as_json)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _count(folder: Path) -> int:
    return sum(1 for _ in folder.rglob("*.md")) if folder.is_dir() else 0


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
        lines += [_sum_of(found)]
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


def _sum_of(found: Sessions) -> str:
    """Say what became of all that was read, as a sum; each part that is bad is named on stderr."""
    parts = {
        "made": found.made,
        "written again": found.grown,
        "known": found.known,
        "edited": found.edited,
        "skipped": found.skipped,
        "failed": found.failed,
        "bad": found.unusable,
    }
    return f"Read {found.read} = " + " + ".join(f"{count} {name}" for name, count in parts.items())


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
    lines += _summed(found)
    lines += _renamed(found)
    lines += ["Next: pyramid advance"] if found.notes and not dry_run else []
    answer({"vault": memory.name, "dry_run": dry_run, **_counts(found)}, "\n".join(lines), as_json=as_json)
    return _complain(found.bad)


def _summed(found: Imported) -> list[str]:
    """Say what became of all that was read, as a sum."""
    parts = {
        "notes": found.notes,
        "records": found.records,
        "relations": found.relations,
        "known": found.known,
        "skipped": found.skipped,
        "bad": len(found.bad),
    }
    lines = [f"Read {found.read} = " + " + ".join(f"{count} {name}" for name, count in parts.items())]
    lines += (
        [f"Skipped: {', '.join(f'{count} {what}' for what, count in found.left_out.items())}."] if found.skipped else []
    )
    lines += [f"{found.others} other files were left where they are."] if found.others else []
    return lines + (["Next: pyramid pending"] if found.records else [])


def _renamed(found: Imported) -> list[str]:
    """Say which names were changed, some one by one."""
    if not found.renamed:
        return []
    lines = [f"{len(found.renamed)} names that not every system or link holds were changed:"]
    lines += [f"  {old} -> {new}" for old, new in list(found.renamed.items())[:SHOWN_BAD]]
    return [*lines, *([f"  and {len(found.renamed) - SHOWN_BAD} more"] if len(found.renamed) > SHOWN_BAD else [])]


def _counts(found: Imported) -> dict[str, object]:
    return {
        "read": found.read,
        "notes": found.notes,
        "files": found.files,
        "known": found.known,
        "records": found.records,
        "relations": found.relations,
        "skipped": found.skipped,
        "left_out": found.left_out,
        "others": found.others,
        "models": found.models,
        "renamed": found.renamed,
        "bad": found.bad,
    }


@click.group()
def export() -> None:
    """Write the vault in another form."""


@export.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@verb()
def site(memory: Memory, folder: Path, as_json: bool) -> None:
    """Write the pages of `browse` as files that need no server; what is private in the vault is so in the site."""
    check_extra()
    from pyramid_fs.browser import site as writer  # templates and markdown, for this verb alone

    def step(done: int, total: int) -> None:
        if sys.stderr.isatty() and (done % SOME == 0 or done == total):
            click.echo(f"\r{done:,} of {total:,} pages", err=True, nl=done == total)

    count = writer.export(memory, folder, step)
    text = f"{count:,} pages are in {folder}: open {folder / 'index.html'}"
    _say_written(memory, folder, {"pages": count}, text, as_json=as_json)


FORCE = click.option("--force", is_flag=True, help="Write over a file that is there.")


@export.command("jsonl")
@click.argument("path", metavar="FILE|-", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Models, summaries, topics, sessions and records too.")
@FORCE
@verb()
def export_jsonl(memory: Memory, path: Path, everything: bool, force: bool, as_json: bool) -> None:
    """Write every note as one JSON object a line, oldest first; - means standard output. `import jsonl` reads them."""
    out = sys.stdout.buffer if str(path) == "-" else path
    with _steps("lines") as step:
        found = memory.export_jsonl(out, everything=everything, force=force, step=step)
    for problem in found.problems[:SHOWN_BAD]:
        click.echo(f"pyramid: {problem}", err=True)
    if len(found.problems) > SHOWN_BAD:
        click.echo(f"pyramid: and {len(found.problems) - SHOWN_BAD} more that `pyramid doctor` lists", err=True)
    others = f" and {found.others:,} other files" if everything else ""
    if str(path) == "-":  # the answer is the lines, with --json too
        click.echo(f"{found.notes:,} notes{others} were written.", err=True)
        return
    counts = {"notes": found.notes, "others": found.others, "problems": len(found.problems)}
    _say_written(memory, path, counts, f"{found.notes:,} notes{others} are in {path}.", as_json=as_json)


@export.command("archive")
@click.argument("path", metavar="FILE.tar.gz|FILE.zip", type=click.Path(path_type=Path))
@click.option("--with-git", is_flag=True, help="The repository too: the folder .git.")
@FORCE
@verb()
def export_archive(memory: Memory, path: Path, with_git: bool, force: bool, as_json: bool) -> None:
    """Write all files of the vault into one archive, and read it back; the same vault gives the same bytes."""
    with _steps("files") as step:
        found = memory.export_archive(path, with_git=with_git, force=force, step=step)
    for link in found.left[:SHOWN_BAD]:
        click.echo(f"pyramid: {link} is a link or no file: it is not in the archive", err=True)
    if len(found.left) > SHOWN_BAD:
        click.echo(f"pyramid: and {len(found.left) - SHOWN_BAD} more", err=True)
    gone = f"; {found.gone} were deleted meanwhile" if found.gone else ""
    counts = {"files": found.files, "bytes": found.bytes, "gone": found.gone, "left": len(found.left)}
    text = f"{found.files:,} files, {found.bytes:,} bytes, are in {path}, and were read back{gone}."
    _say_written(memory, path, counts, text, as_json=as_json)


def _say_written(memory: Memory, path: Path, counts: dict[str, int], text: str, *, as_json: bool) -> None:
    answer({"vault": memory.name, "path": str(path), "written": counts}, text, as_json=as_json)


@contextmanager
def _steps(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how an export is coming on."""
    last = 0

    def step(done: int, total: int) -> None:
        nonlocal last
        if sys.stderr.isatty() and (done % (SOME * 10) == 0 or done == total):
            last = done
            click.echo(f"\r{done:,} of {total:,} {what}", err=True, nl=False)

    yield step
    if last:
        click.echo("", err=True)


COMMANDS = {"import": import_, "export": export}

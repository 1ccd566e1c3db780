"""The verbs on topics, sessions and records, on what waits for a person, and the bundle that a session starts with."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pyramid_fs import boot, render
from pyramid_fs.cli.common import answer, text_argument, verb

if TYPE_CHECKING:
    from datetime import datetime

    from pyramid_fs.backfill import Backfilled
    from pyramid_fs.boot import RecordLine
    from pyramid_fs.memory import Memory

FAILED = 30
SHOWN = 20
"""So many failures are shown one by one."""


# Topics and sessions


@click.group()
def topic() -> None:
    """Topic threads: make them, list them, read a thread's history."""


@topic.command("add")
@click.argument("title", nargs=-1, required=True)
@verb()
def add_topic(memory: Memory, title: tuple[str, ...], as_json: bool) -> None:
    """Make a topic's card and print its slug."""
    slug = memory.add_topic(" ".join(title))
    answer({"vault": memory.name, "topic": slug}, slug, as_json=as_json)


@topic.command("list")
@verb()
def list_topics(memory: Memory, as_json: bool) -> None:
    """List the topics, those active last first."""
    found = memory.topics()
    lines = [boot.topic_line(each) for each in found] or ["There is no topic yet; `pyramid topic add TITLE` makes one."]
    answer({"vault": memory.name, "topics": found}, "\n".join(lines), as_json=as_json)


def _summarize(memory: Memory, name: tuple[str, ...], as_json: bool) -> None:
    found = memory.topic_history(" ".join(name))
    answer(found, boot.history_text(found), as_json=as_json)


@topic.command("summarize")
@click.argument("name", metavar="TOPIC", nargs=-1, required=True)
@verb()
def summarize(memory: Memory, name: tuple[str, ...], as_json: bool) -> None:
    """Give a thread's history: its newest sessions, up to 50 or 40,000 characters. No model is called."""
    _summarize(memory, name, as_json)


@topic.command("show")
@click.argument("name", metavar="TOPIC", nargs=-1, required=True)
@verb()
def show_topic(memory: Memory, name: tuple[str, ...], as_json: bool) -> None:
    """Show a thread; the same as `summarize`."""
    _summarize(memory, name, as_json)


@click.group()
def session() -> None:
    """Session digests: add, list, show."""


@session.command("add")
@click.argument("text", nargs=-1, required=True)
@click.option("--topic", "-t", "topics", multiple=True, help="A topic it belongs to; repeat it for several.")
@click.option("--session", "name", default="", metavar="ID", help="The harness's own name for the session.")
@click.option("--title", default="")
@click.option("--source", default="", help="Where it comes from.")
@click.option("--started", metavar="TIME", help="When it began, if not now.")
@verb()
def add_session(
    memory: Memory,
    text: tuple[str, ...],
    topics: tuple[str, ...],
    name: str,
    title: str,
    source: str,
    started: str | None,
    as_json: bool,
) -> None:
    """Save a session digest and print its handle; TEXT `-` reads standard input."""
    made = memory.save_session(
        text_argument(text),
        topics,
        session=name,
        title=title,
        source=source,
        started=memory.time(started) if started else None,
    )
    answer(made, made.handle, as_json=as_json)
    for slug in made.made_topics:
        click.echo(f"pyramid: made topic {slug}", err=True)


@session.command("list")
@click.option("-n", "most", type=click.IntRange(min=1), default=20, show_default=True)
@verb()
def list_sessions(memory: Memory, most: int, as_json: bool) -> None:
    """List the newest sessions."""
    found = memory.sessions()
    shown = [(each.started, f"[[{each.handle}]]", each.title, ", ".join(each.topics)) for each in found[:most]]
    lines = ["  ".join(part for part in parts if part) for parts in shown]
    lines += [f"{len(found) - most} more: -n {len(found)}"] if len(found) > most else []
    lines = lines or ["There is no session yet; agents save them, `pyramid session add TEXT` adds one."]
    answer({"vault": memory.name, "sessions": found}, "\n".join(lines), as_json=as_json)


@session.command("show")
@click.argument("handle")
@verb()
def show_session(memory: Memory, handle: str, as_json: bool) -> None:
    """Show a session digest, by its handle or the harness's own name for the session."""
    found = memory.expand(memory.path_of("sessions", handle))
    answer(found, render.expanded_text(found), as_json=as_json)


# Records


def _list(memory: Memory, found: list[RecordLine], nothing: str, *, as_json: bool) -> None:
    lines = [boot.record_line(record) for record in found] or [nothing]
    answer({"vault": memory.name, "records": found}, "\n".join(lines), as_json=as_json)


ALL = click.option("--all", "pruned", is_flag=True, help="Pruned ones, too.")


@click.group()
def entity() -> None:
    """Entities: people, places, projects and whatever else has a name."""


@entity.command("add")
@click.argument("name", nargs=-1, required=True)
@click.option("--kind", default="", help="person, project, place, …")
@click.option("--text", default="", help="What else is known; [[links]] to other entities; `-` reads standard input.")
@verb()
def add_entity(memory: Memory, name: tuple[str, ...], kind: str, text: str, as_json: bool) -> None:
    """Add an entity and print its handle; one of a like name is flagged, never skipped."""
    handle = memory.add_entity(" ".join(name), kind, text_argument((text,)) if text else "")
    answer({"vault": memory.name, "handle": handle}, handle, as_json=as_json)


@entity.command("list")
@ALL
@verb()
def list_entities(memory: Memory, pruned: bool, as_json: bool) -> None:
    """List the entities: confirmed before pending, the newest first."""
    _list(memory, memory.entities(pruned=pruned), "There is no entity yet.", as_json=as_json)


@entity.command("show")
@click.argument("name", nargs=-1, required=True)
@verb()
def show_entity(memory: Memory, name: tuple[str, ...], as_json: bool) -> None:
    """Show an entity, by its handle, name or alias, with what it is linked to."""
    found, linked = memory.entity(" ".join(name)), memory.related(" ".join(name))
    lines = [boot.record_line(found), *([render.quote(found.text)] if found.text else [])]
    lines += ["", "Linked with:", *(boot.record_line(record) for record in linked)] if linked else []
    answer({"vault": memory.name, "entity": found, "related": linked}, "\n".join(lines), as_json=as_json)


@entity.command("related")
@click.argument("name", nargs=-1, required=True)
@verb()
def related(memory: Memory, name: tuple[str, ...], as_json: bool) -> None:
    """List the entities that one links to, and those that link to it."""
    _list(memory, memory.related(" ".join(name)), "It is linked with no entity.", as_json=as_json)


@entity.command("supersede")
@click.argument("handle")
@click.argument("by")
@verb()
def supersede(memory: Memory, handle: str, by: str, as_json: bool) -> None:
    """Say that BY takes the place of HANDLE, which stays as a file and leaves the bundle."""
    done = memory.supersede(handle, by)
    answer(
        {"vault": memory.name, "superseded": done[0], "by": done[1]}, " is superseded by ".join(done), as_json=as_json
    )


@entity.command("contradict")
@click.argument("handle")
@click.argument("other")
@verb()
def contradict(memory: Memory, handle: str, other: str, as_json: bool) -> None:
    """Say that HANDLE contradicts OTHER: both stay, and both are marked."""
    done = memory.contradict(handle, other)
    answer({"vault": memory.name, "contradicts": done}, " contradicts ".join(done), as_json=as_json)


@click.group()
def procedure() -> None:
    """Procedural notes: how to go about things."""


@procedure.command("add")
@click.argument("text", nargs=-1, required=True)
@verb()
def add_procedure(memory: Memory, text: tuple[str, ...], as_json: bool) -> None:
    """Add a procedural note, confirmed, and print its handle; TEXT `-` reads standard input."""
    handle = memory.add_procedure(text_argument(text))
    answer({"vault": memory.name, "handle": handle}, handle, as_json=as_json)


@procedure.command("list")
@ALL
@verb()
def list_procedures(memory: Memory, pruned: bool, as_json: bool) -> None:
    """List the procedural notes: confirmed before pending, the newest first."""
    _list(memory, memory.procedures(pruned=pruned), "There is no procedural note yet.", as_json=as_json)


@procedure.command("show")
@click.argument("handle")
@verb()
def show_procedure(memory: Memory, handle: str, as_json: bool) -> None:
    """Show a procedural note."""
    found = memory.expand(memory.path_of("procedures", handle))
    answer(found, render.expanded_text(found), as_json=as_json)


# The queue


@click.command()
@verb()
def pending(memory: Memory, as_json: bool) -> None:
    """List what waits for a person, with the sentence it comes from: `confirm` or `reject` it."""
    found = memory.pending()
    lines = [_waiting(record) for record in found]
    lines += ["", f"{len(found)} pending. Say yes: pyramid confirm HANDLE…   Say no: pyramid reject HANDLE…"]
    answer({"vault": memory.name, "pending": found}, "\n".join(lines) if found else "Nothing waits.", as_json=as_json)


def _waiting(record: RecordLine) -> str:
    lines = [boot.record_line(record)]
    lines += [f"  {record.text}"] if record.name and record.text else []
    lines += [f"  from {record.source}"] if record.source else []
    lines += [f"  pruned on {record.due} if nobody confirms it"] if record.due else []
    return "\n".join(lines)


@click.command()
@click.argument("handles", nargs=-1, required=True)
@verb()
def confirm(memory: Memory, handles: tuple[str, ...], as_json: bool) -> None:
    """Confirm pending entities and procedures; one line of each file changes."""
    changed = memory.confirm(handles)
    answer({"vault": memory.name, "confirmed": changed}, "\n".join(changed) or "Confirmed already.", as_json=as_json)


@click.command()
@click.argument("handles", nargs=-1, required=True)
@verb()
def reject(memory: Memory, handles: tuple[str, ...], as_json: bool) -> None:
    """Prune entities and procedures by hand; the files stay, and are shown nowhere."""
    changed = memory.reject(handles)
    answer({"vault": memory.name, "rejected": changed}, "\n".join(changed) or "Pruned already.", as_json=as_json)


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be pruned and change nothing.")
@verb()
def prune(memory: Memory, dry_run: bool, as_json: bool) -> None:
    """Prune what nobody confirmed in time; the files stay."""
    found = memory.prune(dry=dry_run)
    what = "would be pruned" if dry_run else "pruned"
    lines = [f"{boot.record_line(record)}: due on {day}" for record, day in found] + [f"{len(found)} {what}."]
    value = {"vault": memory.name, "dry_run": dry_run, "pruned": [{"record": r, "due": day} for r, day in found]}
    answer(value, "\n".join(lines), as_json=as_json)


@click.command()
@click.option("--dry-run", is_flag=True, help="Say how many sessions there are to go through, and go through none.")
@click.option("--before", metavar="DATE", help="Sessions older than this alone.")
@verb()
def backfill(memory: Memory, dry_run: bool, before: str | None, as_json: bool) -> int:
    """Go through session digests for entities and procedures, each session once; what is found is pending."""
    time = memory.time(before) if before else None
    found = _with_progress(memory, time) if not dry_run else memory.backfill(before=time, dry=True)
    lines = [f"Sessions to go through: {found.qualifying}; done before: {found.done_before}."]
    if not dry_run:
        lines.append(f"Gone through: {found.processed}; too unsure to be proposed: {found.below}.")
        lines.append(f"New, and waiting for a person: entities {found.entities}, procedures {found.procedures}.")
    lines += ["Next: pyramid pending"] if found.entities or found.procedures else []
    answer({"vault": memory.name, "dry_run": dry_run, **asdict(found)}, "\n".join(lines), as_json=as_json)
    for line in found.errors[:SHOWN]:
        click.echo(f"pyramid: {line}", err=True)
    if len(found.errors) > SHOWN:
        click.echo(f"pyramid: and {len(found.errors) - SHOWN} more that could not be gone through", err=True)
    return FAILED if found.errors else 0


def _with_progress(memory: Memory, before: datetime | None) -> Backfilled:
    count = memory.backfill(before=before, dry=True).qualifying
    if not count or not sys.stderr.isatty():
        return memory.backfill(before=before)
    with click.progressbar(length=count, label="Sessions", show_pos=True, file=sys.stderr) as bar:
        return memory.backfill(before=before, step=lambda _: bar.update(1))


@click.command()
@click.argument("query", nargs=-1)
@verb()
def context(memory: Memory, query: tuple[str, ...], as_json: bool) -> None:
    """Show what a session starts with: the map in short, topics, entities, procedures and the newest notes.

    With a QUERY, which may be a whole sentence, the best of each.
    """
    found = memory.context(" ".join(query))
    answer(found, boot.bundle_text(found, memory.vault.settings.boot_chars), as_json=as_json)


COMMANDS = {
    "topic": topic, "session": session, "entity": entity, "procedure": procedure, "pending": pending,
    "confirm": confirm, "reject": reject, "prune": prune, "backfill": backfill, "context": context,
}  # fmt: skip

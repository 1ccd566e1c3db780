"""What a session starts with, in one answer; and a topic thread's history: as values, and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyramid_fs import render
from pyramid_fs.calls import SHELL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyramid_fs.calls import Calls
    from pyramid_fs.context import ModelLine, Text
    from pyramid_fs.views import Left


@dataclass(frozen=True, slots=True)
class TopicLine:
    """One topic thread."""

    slug: str
    title: str
    sessions: int
    active: str
    """Day of its newest session; empty where it has none."""
    status: str = ""


@dataclass(frozen=True, slots=True)
class RecordLine:
    """One entity or procedure."""

    handle: str
    path: str
    kind: str
    name: str
    """Of an entity."""
    text: str
    """A procedure's note; what else is known of an entity."""
    status: str
    created: str
    label: str = ""
    confidence: float | None = None
    source: str = ""
    aliases: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    superseded_by: str = ""
    contradicts: tuple[str, ...] = ()
    is_contradicted: bool = False
    """Whether another record says otherwise."""
    due: str = ""
    """Of a pending one: the day when it will be pruned; empty where it never is."""


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One session digest, in short."""

    handle: str
    started: str
    """The day."""
    title: str
    topics: tuple[str, ...]
    text: str
    """What of it fits the query, or how it begins."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What one call answers at a session's start; a section that holds nothing is empty."""

    vault: str
    query: str
    models: tuple[ModelLine, ...]
    topics: tuple[TopicLine, ...]
    entities: tuple[RecordLine, ...]
    procedures: tuple[RecordLine, ...]
    recent: tuple[Text, ...]
    sessions: tuple[SessionLine, ...]
    """Digests, whatever topics they belong to."""
    pending: int
    """Records that wait for a person."""
    soon: int
    """So many of them will be pruned within a week."""
    left: tuple[Left, ...] = ()
    """Newest notes that are too long to stand here."""
    fell_back: tuple[str, ...] = ()
    """Sections that found nothing for the query, and show what they show without one."""
    notes: tuple[str, ...] = ()
    """Sections that failed, and those that found nothing for the query and show what they show without one."""
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class SessionText:
    """A session digest with its text."""

    handle: str
    path: str
    session: str
    title: str
    started: str
    """The day."""
    topics: tuple[str, ...]
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """A thread's history: its newest sessions, and how many there are."""

    vault: str
    topic: str
    title: str
    total: int
    sessions: tuple[SessionText, ...]
    note: str = ""
    """Says so where not all are shown."""


# As text

_SHARE_OF_MODELS = 0.45
"""Of the room, for names of models: a memory whose models can't be seen can't be loaded."""
_SHARE_OF_LISTS = 0.2
"""The same for topics, and for entities."""
_MARGIN = 500
"""Characters kept free for the lines that say what was left out, and what waits."""
_DESCRIPTION = 200
"""Characters of a description in its line; the map has all of it."""


def bundle_text(found: Bundle, chars: int, calls: Calls = SHELL) -> str:
    """Show a bundle within so many characters: whole lines and whole texts only, and what was left out."""
    head = [
        f"Memory of earlier sessions ({found.vault}). {render.nothing_loaded(calls)}",
        f"Write down what later sessions need as you learn it: {calls.record('NAME')}",
    ]
    if not found.models:
        head.append(render.no_models(calls))
    tail = _waiting(found)
    room = chars - sum(len(line) + 1 for line in (*head, *tail)) - _MARGIN
    parts: list[str] = []
    for lines in (
        _models(found, int(room * _SHARE_OF_MODELS), calls),
        _topics(found, int(room * _SHARE_OF_LISTS), calls),
        _entities(found, int(room * _SHARE_OF_LISTS)),
        _sessions(found, int(room * _SHARE_OF_LISTS)),
    ):
        parts += lines
        room -= sum(len(line) + 1 for line in lines)
    procedures = _procedures(found, room)
    room -= sum(len(line) + 1 for line in procedures)
    return "\n".join([*head, *parts, *procedures, *_recent(found, room), *tail]).rstrip()


def _waiting(found: Bundle) -> list[str]:
    lines = ["", *found.notes] if found.notes else []
    lines += ["", *render.left_lines(found.left)] if found.left else []
    return [*lines, "", render.pending_line(found.pending, found.soon)] if found.pending else lines


def _models(found: Bundle, room: int, calls: Calls) -> list[str]:
    ordered = sorted(found.models, key=lambda line: (line.span_to, line.name), reverse=True)
    shown, names_left = list[str](), sum(len(line.name) + 2 for line in ordered)
    for line in ordered:  # a whole line only as long as the names of all others still fit
        text, names_left = _model_line(line), names_left - len(line.name) - 2
        if len(text) + 1 + names_left > room:
            break
        shown.append(text)
        room -= len(text) + 1
    missed = [line.name for line in ordered[len(shown) :]]
    names, _ = _while_room((f"{name}," for name in missed), room)
    rest = len(missed) - len(names)
    also = f"Also: {' '.join(names).rstrip(',')}{f' and {rest} more' if rest else ''}. All of them: {calls.map}"
    return [*(["", "Models:", *shown] if shown else []), *([also] if missed else [])]


def _model_line(line: ModelLine) -> str:
    what = " ".join(line.description.split())
    if len(what) > _DESCRIPTION:
        what = f"{what[:_DESCRIPTION].rsplit(' ', 1)[0]} …"
    facts = [f"{line.notes:,} notes" if line.notes != 1 else "1 note"]
    facts += [f"to {line.span_to}"] if line.span_to else []
    return f"- {line.name}{f' — {what}' if what else ''} [{' · '.join([*facts, *line.waiting])}]"


def _topics(found: Bundle, room: int, calls: Calls) -> list[str]:
    if not found.topics:
        return []
    head = f"Topics active last (history of one: {calls.history(found.topics[0].slug)}):"
    shown, _ = _while_room([topic_line(topic) for topic in found.topics], room - len(head))
    return ["", *([head, *shown] if shown else []), *_more(len(found.topics) - len(shown), "topic")]


def topic_line(topic: TopicLine) -> str:
    """Show one topic."""
    title = f" — {topic.title}" if topic.title and topic.title != topic.slug else ""
    count = f"{topic.sessions} sessions" if topic.sessions != 1 else "1 session"
    facts = [count, *([f"last {topic.active}"] if topic.active else []), *([topic.status] if topic.status else [])]
    return f"- {topic.slug}{title} [{' · '.join(facts)}]"


def _entities(found: Bundle, room: int) -> list[str]:
    if not found.entities:
        return []
    shown, _ = _while_room([record_line(entity) for entity in found.entities], room)
    return ["", "Entities:", *shown, *_more(len(found.entities) - len(shown), "entity")]


def _more(count: int, verb: str) -> list[str]:
    return [f"{count} more: pyramid {verb} list"] if count else []


def record_line(record: RecordLine) -> str:
    """Show one record: what it is, and how sure that is."""
    facts = [record.label] if record.label else []
    sure = f" {record.confidence:g}" if record.status == "pending" and record.confidence is not None else ""
    facts += [f"{record.status}{sure}", record.created]
    facts += [f"also: {', '.join(record.aliases)}"] if record.aliases else []
    facts += ["contradicted by another"] if record.is_contradicted else []
    facts += [f"contradicts {_handles(record.contradicts)}"] if record.contradicts else []
    facts += [f"superseded by [[{record.superseded_by}]]"] if record.superseded_by else []
    facts += [f"may repeat {_handles(record.duplicates)}"] if record.duplicates else []
    said = record.name or " ".join(record.text.split())
    return f"- {said} [[{record.handle}]] [{' · '.join(fact for fact in facts if fact)}]"


def _handles(handles: Sequence[str]) -> str:
    return ", ".join(f"[[{handle}]]" for handle in handles)


def _sessions(found: Bundle, room: int) -> list[str]:
    shown, _ = _while_room([_session_line(session) for session in found.sessions], room)
    return ["", "Sessions (expand a handle for the whole digest):", *shown] if shown else []


def _session_line(session: SessionLine) -> str:
    topics = f" ({', '.join(session.topics)})" if session.topics else ""
    said = " ".join(session.text.split())
    return f"- {session.started} [[{session.handle}]]{topics}: {said}"


def _procedures(found: Bundle, room: int) -> list[str]:
    if not found.procedures:
        return []
    shown, _ = _while_room([record_line(record) for record in found.procedures], room)
    more = _more(len(found.procedures) - len(shown), "procedure")
    return ["", f"How to go about things (confirmed by a person). {render.QUOTED}", *shown, *more]


def _recent(found: Bundle, room: int) -> list[str]:
    shown, _ = _while_room([f"{render.header(text)}\n{render.quote(text.text)}\n" for text in found.recent], room)
    head = "Notes that fit." if found.query and "Notes" not in found.fell_back else "Newest notes."
    return ["", f"{head} {render.QUOTED}", *shown] if shown else []


def _while_room(lines: Iterable[str], room: int) -> tuple[list[str], int]:
    """Take lines as long as they fit; give them and the room that is left."""
    taken = []
    for line in lines:
        if len(line) + 1 > room:
            break
        taken.append(line)
        room -= len(line) + 1
    return taken, room


def history_text(found: History) -> str:
    """Show a thread's history."""
    title = f" — {found.title}" if found.title != found.topic else ""
    lines = [
        f"Vault: {found.vault}",
        f"# {found.topic}{title}",
        f"[{'1 session' if found.total == 1 else f'{found.total} sessions'}, newest first]",
    ]
    lines += [found.note] if found.note else []
    lines += [render.QUOTED, ""] if found.sessions else ["No session lists it yet."]
    return "\n".join([*lines, *(session_text(session) for session in found.sessions)]).rstrip()


def session_text(session: SessionText) -> str:
    """Show one session digest."""
    facts = [f"[[{session.handle}]]", session.started, session.title, session.source]
    return f"{' · '.join(fact for fact in facts if fact)}\n{render.quote(session.text)}\n"

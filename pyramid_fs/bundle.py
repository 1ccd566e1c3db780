"""Assembles the boot bundle, threads and records: one pass over what each needs, each section by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from pyramid_fs import backfill, curation, layout, shapes, threads, times
from pyramid_fs.boot import Bundle, History, RecordLine, SessionLine, SessionText, TopicLine
from pyramid_fs.context import Text
from pyramid_fs.errors import NoSuchHandle, PyramidError
from pyramid_fs.notes import Curated, Entity, Kind, Session, Shaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyramid_fs.calls import Calls
    from pyramid_fs.context import Hits, Map
    from pyramid_fs.issue import Tools
    from pyramid_fs.settings import Curation, Shown
    from pyramid_fs.threads import Thread

_Item = TypeVar("_Item")
SESSIONS = 3
"""So many sessions stand in a bundle."""
BEGINNING = 600
"""Characters of a session's line, at most."""
LOOKED_AT = 40
"""Hits of a query that are looked at for each section."""


class Records:
    """The records of a vault as its last refresh found them."""

    def __init__(self, tools: Tools, rules: Curation) -> None:
        self._tools, self._rules = tools, rules
        self._zone = tools.census.vault.settings.zone
        found = [r for top in ("entities", "procedures") for r in tools.census.values(top) if isinstance(r, Curated)]
        self.all = [record for record in found if not record.problem or record.status]
        self._against = curation.contradicted(self.all)
        self._extracted = backfill.extracted_at(tools)

    def of(self, kind: Kind) -> list[Curated]:
        """List the records of one kind: confirmed before pending, the newest first."""
        return curation.ordered(record for record in self.all if record.kind is kind)

    @property
    def shown(self) -> list[Curated]:
        """List what belongs in a bundle, in the same order."""
        return curation.ordered(curation.shown(self.all))

    @property
    def pending(self) -> list[Curated]:
        """List what waits for a person."""
        return [r for r in curation.ordered(self.all) if curation.status(r) == curation.PENDING]

    @property
    def soon(self) -> int:
        """Count what will be pruned within a week."""
        return curation.soon(self.all, self._extracted, self._rules, self._tools.clock())

    def line(self, record: Curated) -> RecordLine:
        """Make a record what is shown of it."""
        status = curation.status(record)
        is_low = record.confidence is not None and record.confidence < self._rules.prune_below
        falls = status == curation.PENDING and not curation.unclear(record) and is_low
        return RecordLine(
            handle=record.handle,
            path=record.path,
            kind=str(record.kind),
            name=record.name if isinstance(record, Entity) else "",
            text=shapes.text_of(self._tools, record),
            status=status,
            created=times.day(record.created, self._zone),
            label=record.label if isinstance(record, Entity) else "",
            confidence=record.confidence,
            source=record.source,
            aliases=record.aliases if isinstance(record, Entity) else (),
            duplicates=record.duplicates,
            superseded_by=record.superseded_by,
            contradicts=record.contradicts,
            is_contradicted=layout.folded(record.handle) in self._against,
            due=curation.due_day(record, self._extracted, self._rules, self._zone) if falls else "",
        )


def gather(
    tools: Tools,
    found: Map,
    wanted: Shown,
    rules: Curation,
    query: str,
    recall: Callable[[str, tuple[str, ...]], Hits],
) -> Bundle:
    """Make the bundle; `recall` finds the best of some kinds for a query."""
    records = Records(tools, rules)
    made = _Sections(tools, found, wanted, records, as_words(query), recall)
    return Bundle(
        vault=found.vault,
        query=query,
        models=found.models,
        topics=made.section("Topics", made.topics),
        entities=made.section("Entities", made.entities),
        procedures=made.section("Procedures", made.procedures),
        recent=made.section("Notes", made.recent),
        sessions=made.section("Sessions", made.sessions),
        pending=len(records.pending),
        soon=records.soon,
        left=() if made.asked and "Notes" not in made.fell else found.left,
        fell_back=tuple(made.fell),
        notes=tuple(made.notes),
    )


class _Sections:
    """The sections of one bundle: each by itself, and what is to be said of them."""

    def __init__(
        self,
        tools: Tools,
        found: Map,
        wanted: Shown,
        records: Records,
        asked: str,
        recall: Callable[[str, tuple[str, ...]], Hits],
    ) -> None:
        self._tools, self._found, self._wanted, self._records = tools, found, wanted, records
        self.asked, self._recall = asked, recall
        self.notes: list[str] = []
        self.fell: list[str] = []

    def section(self, name: str, make: Callable[[], Sequence[_Item]]) -> tuple[_Item, ...]:
        """Make a section; one that fails is reported in its place, and the others answer."""
        try:
            return tuple(make())
        except PyramidError as error:
            self.notes.append(f"{name} could not be had: {error}")
            return ()

    def _best(
        self,
        name: str,
        kinds: tuple[str, ...],
        pick: Callable[[Hits], Sequence[_Item]],
        plain: Callable[[], Sequence[_Item]],
    ) -> Sequence[_Item]:
        """Give the best for the query; without one, or where nothing fits it, what is shown without one."""
        if not self.asked:
            return plain()
        picked = pick(self._recall(self.asked, kinds))
        if not picked and (fallen := plain()):
            self.notes.append(f"{name}: nothing fits the query; what is shown without one")
            self.fell.append(name)
            return fallen
        return picked

    def topics(self) -> Sequence[TopicLine]:
        """Give the topics active last, or those whose sessions fit."""
        every, most = list_threads(self._tools), self._wanted.topics
        return self._best(
            "Topics",
            ("topic", "session"),
            lambda hits: _topics_of(self._tools, hits, every, most),
            lambda: [topic_line(self._tools, thread) for thread in every[:most]],
        )

    def entities(self) -> Sequence[RecordLine]:
        """Give entities: confirmed before pending, the newest first."""
        shown, most = [r for r in self._records.shown if r.kind is Kind.ENTITY], self._wanted.entities
        return self._best(
            "Entities",
            ("entity",),
            lambda hits: [self._records.line(record) for record in _among(hits, shown)[:most]],
            lambda: [self._records.line(record) for record in shown[:most]],
        )

    def procedures(self) -> Sequence[RecordLine]:
        """Give every procedural note that a person confirmed, or those that fit."""
        known = (record for record in self._records.shown if record.kind is Kind.PROCEDURE)
        sure = [record for record in known if curation.status(record) == curation.CONFIRMED]
        return self._best(
            "Procedures",
            ("procedure",),
            lambda hits: [self._records.line(record) for record in _among(hits, sure)],
            lambda: [self._records.line(record) for record in sure],
        )

    def sessions(self) -> Sequence[SessionLine]:
        """Give the newest session digests, or those that fit, whatever topics they belong to."""
        found = (s for s in self._tools.census.values("sessions") if isinstance(s, Session))
        sound = (session for session in found if session.chars and not session.problem)
        every = sorted(sound, key=lambda s: (s.created, s.handle), reverse=True)
        return self._best(
            "Sessions",
            ("session",),
            lambda hits: _sessions_of(self._tools, hits, every),
            lambda: [_session_line(self._tools, session) for session in every[:SESSIONS]],
        )

    def recent(self) -> Sequence[Text]:
        """Give the newest notes, or those that fit."""
        most = self._wanted.notes
        return self._best("Notes", ("note",), lambda hits: _texts_of(hits, most), lambda: self._found.recent[:most])


def as_words(query: str) -> str:
    """Make a sentence a query of words: what quotes and minuses ask for in a search is only punctuation in it."""
    return " ".join(re.sub(r'"|(?<!\S)-+', " ", query).split())


def _among(hits: Hits, records: Sequence[Curated]) -> list[Curated]:
    by_handle = {record.handle: record for record in records}
    return [by_handle[hit.handle] for hit in hits.hits if hit.handle in by_handle]


def _topics_of(tools: Tools, hits: Hits, every: Sequence[Thread], most: int) -> list[TopicLine]:
    of_session = {session.handle: thread for thread in every for session in reversed(thread.sessions)}
    by_slug = {thread.slug: thread for thread in every}
    found = (by_slug.get(hit.handle) or of_session.get(hit.handle) for hit in hits.hits)
    return [topic_line(tools, thread) for thread in list(dict.fromkeys(thread for thread in found if thread))[:most]]


def _sessions_of(tools: Tools, hits: Hits, every: Sequence[Session]) -> list[SessionLine]:
    by_handle = {session.handle: session for session in every}
    found = [(by_handle[hit.handle], hit.text) for hit in hits.hits if hit.handle in by_handle]
    return [_session_line(tools, session, text) for session, text in found[:SESSIONS]]


def _session_line(tools: Tools, session: Session, text: str = "") -> SessionLine:
    """Make a session what is shown of it: what fits a query, else its title or how it begins."""
    day = times.day(session.created, tools.census.vault.settings.zone)
    said = text or session.name or shapes.text_of(tools, session).strip().split("\n")[0]
    short = said if len(said) <= BEGINNING else f"{said[:BEGINNING].rsplit(' ', 1)[0]} …"
    return SessionLine(session.handle, day, session.name, session.topics, short)


def _texts_of(hits: Hits, most: int) -> list[Text]:
    return [
        Text(
            hit.handle, hit.path, hit.models, -1, 1, hit.created, hit.created, hit.created, hit.text, source=hit.source
        )
        for hit in hits.hits[:most]
    ]


# Threads


def list_threads(tools: Tools) -> list[Thread]:
    """List the topic threads, those active last first."""
    cards = [card for card in tools.census.values("topics") if isinstance(card, Shaped)]
    return threads.threads(cards, (s for s in tools.census.values("sessions") if isinstance(s, Session)))


def topic_line(tools: Tools, thread: Thread) -> TopicLine:
    """Make a thread what is shown of it."""
    zone = tools.census.vault.settings.zone
    active = times.day(thread.active, zone) if thread.active else ""
    return TopicLine(thread.slug, thread.title, len(thread.sessions), active, thread.status)


def find_thread(tools: Tools, name: str, calls: Calls) -> Thread:
    """Find a thread by slug or title; raise NoSuchHandle with the closest names, or the call that shows all."""
    every = list_threads(tools)
    plain = name.strip().removeprefix("[[").removesuffix("]]")
    found = [t for t in every if layout.same_name(t.slug, plain)] or [
        t for t in every if layout.same_name(t.title, plain)
    ]
    if found:
        return found[0]
    import difflib  # for a mistyped name alone

    names = {layout.folded(name): t.slug for t in every for name in (t.title, t.slug)}
    close = dict.fromkeys(names[near] for near in difflib.get_close_matches(layout.folded(plain), names, 5, 0.4))
    hint = f"the closest: {', '.join(close)}" if close else f"`{calls.topics}` shows the topics"
    raise NoSuchHandle(f"no topic {plain[:80]!r}; {hint}")


def history(tools: Tools, vault: str, name: str, calls: Calls) -> History:
    """Give a thread's history: its newest sessions as far as they fit, at least one; no model is called."""
    thread = find_thread(tools, name, calls)
    shown = threads.fitting(thread.sessions)
    texts = tuple(session_text(tools, session) for session in shown)
    total = len(thread.sessions)
    return History(vault, thread.slug, thread.title, total, texts, threads.cap_note(len(shown), total))


def session_text(tools: Tools, session: Session) -> SessionText:
    """Give a session with its text."""
    day = times.day(session.created, tools.census.vault.settings.zone)
    text = shapes.text_of(tools, session)
    return SessionText(
        session.handle, session.path, session.session, session.name, day, session.topics, text, session.source
    )


# Links between entities


def related(entity: Entity, every: Iterable[Curated]) -> list[Curated]:
    """List the entities that one links to, and those that link to it; pruned ones are left out."""
    handles = {layout.folded(entity.handle), *(layout.folded(name) for name in (entity.name, *entity.aliases))}
    to = {layout.folded(link.rsplit("/", 1)[-1]) for link in entity.links}
    found: list[Curated] = []
    for record in every:
        if not isinstance(record, Entity) or record.path == entity.path or curation.status(record) == curation.PRUNED:
            continue
        names = {layout.folded(record.handle), *(layout.folded(name) for name in (record.name, *record.aliases))}
        links = {layout.folded(link.rsplit("/", 1)[-1]) for link in record.links}
        if names & to or handles & links:
            found.append(record)
    return found

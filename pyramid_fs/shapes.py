"""Writing what is no note: session digests, and records of entities and procedures; each is added, never merged."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyramid_fs import curation, files, kinds, layout, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, RefusedWrite, UsageError
from pyramid_fs.notes import Curated, Entity, Kind, Session, Shaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from pyramid_fs.issue import Tools

PROPOSABLE = (Kind.ENTITY, Kind.PROCEDURE)
_MOST_CHARS = 20_000
"""Of a procedure's or an entity's text: longer is a note, or a session."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What came of saving a session digest."""

    handle: str
    path: str
    topics: tuple[str, ...]
    made_topics: tuple[str, ...]
    """Topics that had no card yet."""
    is_new: bool
    """False where the session had a digest, which this one was added to, or took the place of."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What came of proposing a record."""

    handle: str
    path: str
    kind: str
    status: str
    duplicates: tuple[str, ...]
    """Handles of records that it may repeat."""
    is_new: bool = True
    """False where the very same record was there, by the same source."""


# Sessions


def save_session(
    tools: Tools,
    text: str,
    topics: Sequence[str],
    *,
    session: str = "",
    title: str = "",
    source: str = "",
    started: datetime | None = None,
    replaces: bool = False,
) -> Saved:
    """Save a session digest; topics are named by slug or title, and one without a card gets one.

    A session has one digest: a further text under the same id is added to it, or, with `replaces`, takes its place if
    it still is as the store wrote it. Raise RefusedWrite where a person has edited it.
    """
    clean = _clean(text)
    named = _topics(tools, topics)
    slugs, session = list(named), session.strip()
    first = _session(tools, session) if session else None
    if first:
        _go_on(tools, first, clean, slugs, replaces=replaces)
        made = _make_topics(tools, named)
        return Saved(first.handle, first.path, tuple(_with(first.topics, slugs)), made, is_new=False)
    time = started or tools.clock()
    day = times.day(time, tools.census.vault.settings.zone)
    words = title or (slugs[0] if slugs else clean)
    new = Session("", "", Kind.SESSION, time, title, session=session, topics=tuple(slugs), source=source)
    for suffix in _suffixes(tools, "session", session, ""):
        path = layout.shape_path(Kind.SESSION, words, suffix, day)
        try:
            files.create(tools.census.vault.root / path, kinds.spell_session(new, clean))
        except ExistsAlready:
            continue
        return Saved(layout.handle(path), path, tuple(slugs), _make_topics(tools, named), is_new=True)
    raise ExistsAlready(f"{path} and the names after it are taken")


def _clean(text: str) -> str:
    if not text.strip():
        raise UsageError("the text is empty")
    if "\0" in text:
        raise UsageError("the text holds NUL bytes: files hold plain text")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _topics(tools: Tools, topics: Sequence[str]) -> dict[str, str]:
    """Give the slugs of topics that are named by slug or title; those without a card come with the title it gets."""
    known = [card for card in tools.census.values("topics") if isinstance(card, Shaped)]
    found: dict[str, str] = {}
    for topic in topics:
        title = " ".join(topic.strip().removeprefix("[[").removesuffix("]]").split())
        if not title:
            continue
        there = next((card.handle for card in known if is_called(card, title)), "")
        slug = there or layout.topic_slug(title)
        there = there or next((card.handle for card in known if layout.same_name(card.handle, slug)), "")
        if there:
            found.setdefault(there, "")
        elif not any(layout.same_name(slug, other) for other in found):
            found[slug] = title
    return found


def _make_topics(tools: Tools, named: Mapping[str, str]) -> tuple[str, ...]:
    """Make the cards that are missing; give their slugs."""
    made = []
    for slug, title in named.items():
        with suppress(ExistsAlready):  # another process was faster
            if title:
                files.create(tools.census.vault.root / f"topics/{slug}.md", kinds.spell_topic(title, tools.clock()))
                made.append(slug)
    return tuple(made)


def _with(topics: Sequence[str], more: Sequence[str]) -> list[str]:
    known = {layout.folded(topic) for topic in topics}
    return [*topics, *(slug for slug in more if layout.folded(slug) not in known)]


def is_called(card: Shaped, name: str) -> bool:
    """Whether a topic goes by a name: its slug or its title, with or without brackets."""
    plain = name.removeprefix("[[").removesuffix("]]").strip()
    return layout.same_name(card.handle, plain) or (bool(card.name) and layout.same_name(card.name, plain))


def _session(tools: Tools, session: str) -> Session | None:
    found = (s for s in tools.census.values("sessions") if isinstance(s, Session) and s.session == session)
    return min(found, key=lambda s: (s.created, s.handle), default=None)


def _go_on(tools: Tools, first: Session, text: str, slugs: Sequence[str], *, replaces: bool) -> None:
    """Add to the digest of a session that goes on."""
    path = tools.census.vault.root / first.path
    old = data = files.read(path)
    page = pages.read(data)
    if page.problem:
        raise RefusedWrite(f"{first.path}: {page.problem}")
    if replaces:
        if text != page.body:
            data = pages.set_body(data, text)
    elif f"\n\n{text}\n\n" not in f"\n\n{page.body}\n\n":  # the same again adds nothing
        data = pages.set_body(data, f"{page.body}\n\n{text}")
    topics = _with(first.topics, slugs)
    if topics != list(first.topics):
        data = pages.set_key(data, "topics", [f"[[{slug}]]" for slug in topics])
    if data != old:
        files.replace(path, data, old)


# Records


def entity(name: str, label: str, confidence: float | None, source: str, time: datetime) -> Entity:
    """Make the value of a new entity, pending."""
    if not name.strip():
        raise UsageError("the name is empty")
    if "\0" in name:
        raise UsageError("the name holds NUL bytes: files hold plain text")
    return Entity(
        "", "", Kind.ENTITY, time, name, curation.PENDING,
        confidence=_checked(confidence), source=source, label=label.strip(),
    )  # fmt: skip


def procedure(confidence: float | None, source: str, time: datetime) -> Curated:
    """Make the value of a new procedural note, pending."""
    return Curated("", "", Kind.PROCEDURE, time, "", curation.PENDING, confidence=_checked(confidence), source=source)


def _checked(confidence: float | None) -> float | None:
    if confidence is not None and not 0 <= confidence <= 1:
        raise UsageError(f"a confidence is a number from 0 to 1, not {confidence:g}")
    return confidence


def add(
    tools: Tools, record: Curated, text: str, *, seed: str = "", others: list[tuple[Curated, str]] | None = None
) -> Proposed:
    """Write a new record; one that it may repeat is flagged on it, never merged, and the write is never skipped.

    With a `seed` its name is made from it, so that two machines make the same file, and a second time makes none.
    `others` are the records that are known, each with its text; it grows by the new one.
    """
    clean = _clean(text) if text.strip() or not isinstance(record, Entity) else ""
    if len(clean) > _MOST_CHARS:
        raise UsageError(f"the text has {len(clean):,} characters: that is a note, or a session")
    known = records(tools) if others is None else others
    flagged = replace(record, duplicates=tuple(curation.duplicates(record, clean, known)))
    spelled = (
        kinds.spell_entity(flagged, clean) if isinstance(flagged, Entity) else kinds.spell_procedure(flagged, clean)
    )
    words = flagged.name if isinstance(flagged, Entity) else clean
    kind = str(flagged.kind)
    for suffix in _suffixes(tools, kind, seed, words if seed else ""):
        path = layout.shape_path(flagged.kind, words, suffix)
        where = tools.census.vault.root / path
        try:
            files.create(where, spelled)
        except ExistsAlready:
            if seed and _is_same(where, record, clean):
                return Proposed(layout.handle(path), path, kind, record.status, (), is_new=False)
            continue
        known.append((replace(flagged, path=path, handle=layout.handle(path)), clean))
        return Proposed(layout.handle(path), path, kind, record.status, flagged.duplicates)
    raise ExistsAlready(f"{path} and the names after it are taken")


def _is_same(path: object, record: Curated, text: str) -> bool:
    """Whether a file is the record that was to be written, whatever a person has made of it since."""
    try:
        page = pages.read(files.read(path))  # type: ignore[arg-type]
    except (DiskError, FileNotFoundError):
        return False
    is_it = (
        page.text("name") == record.name
        if isinstance(record, Entity)
        else pages.digest(page.body) == pages.digest(text)
    )
    return page.text("source") == record.source and is_it


def _suffixes(tools: Tools, kind: str, seed: str, text: str) -> Iterator[str]:
    """Yield suffixes to try: made from what identifies a thing, where something does."""
    for number in range(8):
        yield layout.digest_suffix(kind, seed, text, str(number)) if seed else tools.suffix()


def records(tools: Tools) -> list[tuple[Curated, str]]:
    """Give all records that are known, a procedure with its text."""
    found = [r for top in ("entities", "procedures") for r in tools.census.values(top) if isinstance(r, Curated)]
    return [(record, text_of(tools, record) if record.kind is Kind.PROCEDURE else "") for record in found]


def text_of(tools: Tools, file: Shaped) -> str:
    """Read a file's text; empty where it can't be read."""
    try:
        return tools.census.vault.page(file.path).body
    except (FileNotFoundError, DiskError):
        return ""


def machine(tools: Tools) -> str:
    """Give this machine's name in the ledger."""
    return files.machine(tools.cache.parent)

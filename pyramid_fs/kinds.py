"""What a file says, by what it is: a page and its place become a value, and a value becomes the file's bytes."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any

from pyramid_fs import format as pages
from pyramid_fs import layout, links, times
from pyramid_fs.notes import Card, Curated, Dated, Entity, File, Kind, Note, Session, Shaped, Source, Summary

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from pyramid_fs.format import Page
    from pyramid_fs.layout import Place

TRUE = frozenset({"true", "yes", "on", "1"})
"""What a person may write for a switch that is on."""


def read(path: str, place: Place, page: Page, touched: datetime, zone: tzinfo) -> File | None:
    """Read the value that a file stands for; None for a note that holds nothing but white space."""
    if place.kind is Kind.NOTE:
        return None if page.is_blank else read_note(path, page, touched, zone)
    if place.kind is Kind.SUMMARY:
        return read_summary(path, place.tier, page, zone)
    if place.kind is Kind.CARD:
        return read_card(path, page)
    return read_shaped(path, place.kind, page, touched, zone)


def read_note(path: str, page: Page, touched: datetime, zone: tzinfo) -> Note:
    """Read a note; one that can't be used as it is says why in `problem`."""
    handle = layout.handle(path)
    created, dated, problem = _date(page, handle, touched, zone)
    text = note_text(page)
    return Note(
        path=path,
        handle=handle,
        created=created,
        dated=dated,
        digest=pages.digest(page.body),
        chars=len(text),
        lines=text.count("\n") + 1,
        touched=touched,
        source=page.text("source"),
        embed="" if page.problem else links.embed(page.body),
        title=page.text("title"),
        problem=page.problem or problem,
        is_card=page.text("type") == "model",
    )


def note_text(page: Page) -> str:
    """Give the text to summarize: the body, or the title where there is no body."""
    return page.body or page.text("title")


def unreadable_note(path: str, touched: datetime, zone: tzinfo, reason: str) -> Note:
    """Make the value of a note whose bytes can't be read: it counts, and says why it can't be used."""
    handle = layout.handle(path)
    named = times.in_name(handle, zone)
    return Note(
        path=path,
        handle=handle,
        created=named or touched,
        dated=Dated.NAME if named else Dated.FILE,
        digest="",
        chars=0,
        lines=1,
        touched=touched,
        problem=reason,
    )


def _date(
    page: Page, handle: str, touched: datetime, zone: tzinfo, *, first: str = "created"
) -> tuple[datetime, Dated, str]:
    problem = ""
    if key := next((key for key in dict.fromkeys((first, "created")) if _flat(page, key)), ""):
        typed = _flat(page, key)
        try:
            return times.parse(typed, zone), Dated.KEY, ""
        except ValueError as error:
            problem = f"its `{key}` can't be read: {error}"
    elif typed := _flat(page, "date"):
        try:
            return times.parse(typed, zone), Dated.KEY, ""
        except ValueError:  # a `date` may be about anything; the next way of dating applies
            pass
    named = times.in_name(handle, zone)
    return (named, Dated.NAME, problem) if named else (touched, Dated.FILE, problem)


def _flat(page: Page, key: str) -> str:
    return page.text(key).strip()


def read_summary(path: str, tier: int, page: Page, zone: tzinfo) -> Summary:
    """Read a summary; a broken one says why in `problem`, and has no sources then."""
    found = Summary(
        path=path,
        handle=layout.handle(path),
        tier=tier,
        batch=layout.batch_of(path),
        created=times.EPOCH,
        span_from=times.EPOCH,
        span_to=times.EPOCH,
        note_count=0,
        sources=(),
        digest=pages.digest(page.body),
        chars=len(page.body),
        lines=page.body.count("\n") + 1,
        summarizer=page.text("summarizer"),
        draft=page.text("draft").lower() in TRUE,
        problem=page.problem,
    )
    if found.problem:
        return found
    try:
        return replace(found, **_sums(page, tier, zone))  # type: ignore[arg-type]
    except ValueError as error:
        return replace(found, problem=f"broken summary: {error}")


def _sums(page: Page, tier: int, zone: tzinfo) -> dict[str, object]:
    if not page.body.strip():
        raise ValueError("it has no text")
    if page.text("tier").strip() != str(tier):
        raise ValueError(f"it lies in tier-{tier} and says tier {page.text('tier') or 'nothing'}")
    return {
        "created": _time(page, "created", zone),
        "span_from": _time(page, "span_from", zone),
        "span_to": _time(page, "span_to", zone),
        "note_count": _count(page.text("note_count")),
        "sources": _sources(page, zone),
    }


def _time(page: Page, key: str, zone: tzinfo) -> datetime:
    try:
        return times.parse(page.text(key), zone)
    except ValueError as error:
        raise ValueError(f"`{key}`: {error}") from error


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:  # noqa: PLR2004  (a billion notes)
        raise ValueError(f"`note_count` is no number: {text[:20]!r}")
    return int(text)


def _sources(page: Page, zone: tzinfo) -> tuple[Source, ...]:
    named, digests = pages.links_of(page, "provenance"), pages.as_list(page.keys.get("digests"))
    dates = pages.as_list(page.keys.get("dates"))
    if not named:
        raise ValueError("it names no source")
    if not len(named) == len(digests) == len(dates):
        raise ValueError(f"it names {len(named)} sources, {len(digests)} digests and {len(dates)} dates")
    sources = tuple(
        Source(link, digest.lower(), times.parse(date, zone))
        for link, digest, date in zip(named, digests, dates, strict=True)
    )
    if len({(source.link, source.digest) for source in sources}) < len(sources):
        raise ValueError("it names a source twice")
    return sources


def read_card(path: str, page: Page) -> Card:
    """Read a model's card."""
    first = next((line.strip() for line in page.body.splitlines() if line.strip(" #\t")), "")
    return Card(
        path=path,
        handle=layout.handle(path),
        description=page.text("description") or first.lstrip("# "),
        archived=page.text("archived").lower() in TRUE,
        folded_into=links.target(page.text("folded_into")),
        problem=page.problem,
    )


def read_shaped(path: str, kind: Kind, page: Page, touched: datetime, zone: tzinfo) -> Shaped:
    """Read a topic, session, entity, procedure, retired summary or a person's file among the summaries."""
    handle = layout.handle(path)
    created, dated, problem = _date(page, handle, touched, zone, first="started" if kind is Kind.SESSION else "created")
    shared: dict[str, Any] = {
        "path": path,
        "handle": handle,
        "kind": kind,
        "created": created,
        "name": (page.text("name").strip() or handle) if kind is Kind.ENTITY else page.text("title"),
        "status": page.text("status").strip().lower(),
        "chars": len(page.body),
        "problem": page.problem or problem,
    }
    if kind is Kind.SESSION:
        topics = tuple(dict.fromkeys(links.name(topic) for topic in pages.links_of(page, "topics")))
        return Session(**shared, session=page.text("session").strip(), topics=topics, source=page.text("source"))
    if kind not in {Kind.ENTITY, Kind.PROCEDURE}:
        return Shaped(**shared)
    shared |= _curated(page) | {"is_dated": dated is not Dated.FILE}
    if not page.problem:  # else nothing is known of it
        shared["status"] = shared["status"] or "pending"
    if kind is Kind.PROCEDURE:
        return Curated(**shared)
    return Entity(
        **shared,
        label=page.text("kind").strip(),
        aliases=tuple(alias for alias in pages.as_list(page.keys.get("aliases")) if alias.strip()),
        links=tuple(dict.fromkeys(links.all_of(page.body))),
    )


def _curated(page: Page) -> dict[str, Any]:
    typed = page.text("confidence").strip()
    return {
        "confidence": confidence(typed),
        "says_confidence": bool(typed),
        "source": page.text("source"),
        "duplicates": _named(page, "possible_duplicates"),
        "superseded_by": next(iter(_named(page, "superseded_by")), ""),
        "contradicts": _named(page, "contradicts"),
        "pruned": page.text("pruned").strip(),
    }


def _named(page: Page, key: str) -> tuple[str, ...]:
    """Give the handles that a key links to, whatever path a person wrote before them."""
    return tuple(dict.fromkeys(links.name(link) for link in pages.links_of(page, key)))


def confidence(text: str) -> float | None:
    """Read a confidence, as it stands and never rounded; None for what is no number from 0 to 1."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found <= 1 else None


# Writing


def spell_note(text: str, created: datetime | None, source: str = "") -> bytes:
    """Spell a note as the store writes it."""
    return pages.spell({"created": created, "source": source or None}, text)


def spell_summary(summary: Summary, text: str) -> bytes:
    """Spell a summary: front matter in the order of the format page, one sentence a line."""
    return pages.spell(
        {
            "tier": summary.tier,
            "batch": summary.batch,
            "created": summary.created,
            "span_from": summary.span_from,
            "span_to": summary.span_to,
            "note_count": summary.note_count,
            "provenance": [links.spell(source.link) for source in summary.sources],
            "digests": [source.digest for source in summary.sources],
            "dates": [source.date for source in summary.sources],
            "summarizer": summary.summarizer,
            "draft": summary.draft or None,
        },
        text,
    )


def spell_card(description: str) -> bytes:
    """Spell a model's card."""
    return pages.spell({"type": "model", "description": description}, "")


def spell_topic(title: str, created: datetime) -> bytes:
    """Spell a topic's card."""
    return pages.spell({"title": title, "status": "open", "created": created}, "")


def spell_session(session: Session, text: str) -> bytes:
    """Spell a session digest."""
    return pages.spell(
        {
            "title": session.name or None,
            "session": session.session or None,
            "started": session.created,
            "topics": [links.spell(slug) for slug in session.topics],
            "source": session.source or None,
        },
        text,
    )


def spell_entity(entity: Entity, text: str = "") -> bytes:
    """Spell an entity; its text may say what else is known of it."""
    return pages.spell(
        {
            "name": entity.name,
            "kind": entity.label or None,
            "aliases": list(entity.aliases) or None,
            **_spelled(entity),
            "superseded_by": links.spell(entity.superseded_by) if entity.superseded_by else None,
            "contradicts": [links.spell(handle) for handle in entity.contradicts] or None,
        },
        text,
    )


def spell_procedure(procedure: Curated, text: str) -> bytes:
    """Spell a procedural note: its text is the note."""
    return pages.spell(_spelled(procedure), text)


def _spelled(record: Curated) -> dict[str, Any]:
    return {
        "status": record.status,
        "confidence": None if record.confidence is None else _six_digits(record.confidence),
        "source": record.source or None,
        "created": record.created,
        "possible_duplicates": [links.spell(handle) for handle in record.duplicates],
    }


def _six_digits(number: float) -> float:
    """Cut a number to the digits that front matter holds: rounded up, 0.8499999 would pass for 0.85."""
    return float(Decimal(repr(number)).quantize(Decimal("0.000001"), ROUND_DOWN))

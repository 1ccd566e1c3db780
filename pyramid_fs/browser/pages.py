"""Each page of the browser: what a verb answers, made the values that a template shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from pyramid_fs import context, curation, forget, layout, pyramid, texts, views
from pyramid_fs.browser import drawing, markup
from pyramid_fs.browser.reading import Item, Pages, Reader, Shown, between, counted, cut, digest, entries, entry
from pyramid_fs.errors import NoSuchHandle, NoSuchModel, PyramidError, UsageError
from pyramid_fs.notes import Card, Curated, Kind, Note, Session, Shaped, Summary
from pyramid_fs.recall import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyramid_fs.boot import RecordLine
    from pyramid_fs.census import ModelNow
    from pyramid_fs.pyramid import State

NEWEST = 5
CUT_RECORD = 4_000
"""Characters of a record's text that a list shows."""
HITS = 10
MOST_QUERY = 2_000
"""Characters of a query that are taken from an address."""


def pages(number: int, last: int, address: Callable[[int], str]) -> Pages:
    """Say where a list stands; raise NoSuchHandle for a page that it does not have."""
    if not 1 <= number <= last:
        raise NoSuchHandle(f"there is no page {number}: the last is {last}")
    return Pages(number, last, address(number - 1) if number > 1 else "", address(number + 1) if number < last else "")


def vault_map(reader: Reader) -> Shown:
    """Show the models, the newest notes, and what waits for a person."""
    memory = reader.memory
    found = memory.map()
    health = [(line.name, reason) for line in found.models for reason in line.waiting]
    values = {
        "title": "Map",
        "models": found.models,
        "archived": found.archived,
        "recent": [reader.text_item(text) for text in found.recent],
        "pending": reader.pending(),
        "health": health,
        "problems": len(memory.census.shut),
    }
    return Shown("map.html", values)


# Models


def model(reader: Reader, name: str) -> Shown:
    """Show a model as a drawn pyramid, with its cover and its newest notes."""
    now = _now(reader, name)
    state, at, zone = now.state, reader.at, reader.memory.vault.settings.zone
    retired = reader.retired(now.name)
    drawn = drawing.draw(state, zone, [(file.path, file.handle) for file in retired])
    pages_of_tier = _pages_of_tier(state)
    made = drawing.svg(
        drawn,
        markup.seen(now.name),
        at.file,
        lambda path: at.model(now.name, *pages_of_tier[path]),
        lambda path: markup.seen(reader.text(path)),
        at.model(now.name, "tail"),
    )
    newest = sorted(state.notes, key=pyramid.by_age)[-NEWEST:]
    span = context.span(state)
    values = {
        "title": now.name,
        "name": now.name,
        "description": now.card.description if now.card else "",
        "card": at.file(now.card.path) if now.card else "",
        "archived": bool(now.card and now.card.archived),
        "folded_into": now.card.folded_into if now.card else "",
        "counts": (
            counted(len(state.notes), "note"),
            f"{len(state.covered):,} covered",
            f"{len(state.tail):,} in the tail",
        ),
        "span": between(reader.day(span[0]), reader.day(span[1])) if span else "",
        "waiting": context.waiting(now.held, state, now.card),
        "drawn": drawn if drawn.total or drawn.aside else None,
        "svg": Markup(made),  # noqa: S704  (`drawing` escapes what it is given)
        "what": drawing.words(drawn),
        "parts": _parts(reader, now, len(retired)),
        "cover": [reader.item(views.of_summary(summary), now.name) for summary in reversed(state.cover)],
        "newest": [reader.item(views.of_note(note, state), now.name) for note in reversed(newest)],
    }
    return Shown("model.html", values)


def _now(reader: Reader, name: str) -> ModelNow:
    census = reader.memory.census
    known = context.check_models([name], census.models())[0]
    return census.fresh(known)


def _pages_of_tier(state: State) -> dict[str, tuple[str, int]]:
    """Say for each active summary on which page of its tier it stands."""
    found: dict[str, tuple[str, int]] = {}
    for tier in range(1 + max((s.tier for s in state.active.values()), default=-1)):
        listed, page, last = entries(state, str(tier)), 1, 1
        while page <= last:
            shown, last = cut(listed, page)
            found |= {summary.path: (str(tier), page) for summary in shown}
            page += 1
    return found


def _parts(reader: Reader, now: ModelNow, retired: int) -> list[tuple[str, str]]:
    counts = context.by_tier(now.state)
    named = [
        ("notes", f"all {counted(len(now.state.notes), 'note')}", len(now.state.notes)),
        ("tail", f"the tail: {counted(len(now.state.tail), 'note')}", len(now.state.tail)),
        *((tier, f"tier {tier}: {count:,}", count) for tier, count in counts.items()),
        ("retired", f"retired: {retired:,}", retired),
    ]
    return [(reader.at.model(now.name, part), label) for part, label, count in named if count]


def part(reader: Reader, name: str, which: str, page: int) -> Shown:
    """Show a page of a whole part of a model: a tier's number, `notes`, `tail`, `retired`."""
    if which not in {"notes", "tail", "retired"} and not (which.isascii() and which.isdigit() and len(which) < 4):  # noqa: PLR2004
        raise NoSuchHandle(f"a model has no part {which[:40]!r}: there are its tiers by number, notes, tail, retired")
    now = _now(reader, name)
    found = entries(now.state, which, reader.retired(now.name))
    shown, last = cut(found, page)
    items = [
        reader.shaped_item(file) if isinstance(file, Shaped) else reader.item(entry(file, now.state), now.name)
        for file in shown
    ]
    label = f"tier {which}" if which.isdigit() else which
    values = {
        "title": f"{now.name}: {label}",
        "crumbs": [(reader.at.model(now.name), now.name)],
        "items": items,
        "total": len(found),
        "pages": pages(page, last, lambda number: reader.at.model(now.name, which, number)),
        "empty": "There is nothing in this part of the model.",
    }
    return Shown("list.html", values)


# Files


def file(reader: Reader, path: str, number: int, token: str = "") -> Shown:
    """Show a file by its path as the catalog knows it, or by a link; raise NoSuchHandle for anything else."""
    memory = reader.memory
    memory.census.refresh()
    known = reader.known(path)
    if known is None:
        return _meant(reader, path, number, token)
    shown_digest = digest(memory, path)  # before the text is read: what changes in between is refused, never confirmed
    memory.census.look_at([path])
    known = reader.known(path)
    if known is None:
        raise NoSuchHandle(f"{path[:200]} is gone")
    page = reader.page_of(path)
    body = page.body or page.text("title")
    parts = reader.parts(body)
    home = path.split("/")[1] if path.startswith(f"{layout.MODELS}/") else ""
    values = {
        "title": known.handle,
        "path": path,
        "block": page.block.strip("\n"),
        "problem": page.problem or getattr(known, "problem", ""),
        "opened": reader.opened(path),
        "crumbs": [(reader.at.model(home), home)] if home else [],
        "pages": pages(number, len(parts), lambda at: reader.at.file(path, at)),
        "text": reader.html(parts[number - 1], home, 2),
        "kind": texts.kind_of(known),
        "facts": [],
        "above": [],
        "below": [],
        "missing": [],
        "links": [],
        "record": None,
        "related": [],
    }
    return Shown("file.html", values | _beside(reader, known, home, (shown_digest, token)))


def _meant(reader: Reader, link: str, number: int, token: str) -> Shown:
    """Show the one file that a link means, or list those that it may mean."""
    found = reader.meant(link)
    if not found:
        raise NoSuchHandle(f"there is no file {link[:120]!r} in this vault")
    if len(found) == 1:
        return file(reader, found[0], number, token)
    values = {"title": f"{counted(len(found), 'file')} of this name", "named": link,
              "found": [(reader.at.file(path), path) for path in found]}  # fmt: skip
    return Shown("several.html", values)


def _beside(reader: Reader, known: object, home: str, proof: tuple[str, str]) -> dict[str, Any]:
    """Say what is to be known of a file beside its text, by its kind."""
    if isinstance(known, Note):
        return _of_note(reader, known, home)
    if isinstance(known, Summary):
        return _of_summary(reader, known, home)
    if isinstance(known, Card):
        return {"kind": "card of a model", "links": [(reader.at.model(home), f"the model {home}")]}
    if isinstance(known, Curated):
        return _of_record(reader, known, proof)
    if isinstance(known, Session):
        topics = [(reader.at.topic(topic), f"topic {topic}") for topic in known.topics]
        return {
            "title": known.name or known.handle,
            "facts": [reader.day(known.created), known.source],
            "links": topics,
        }
    if isinstance(known, Shaped) and known.kind is Kind.TOPIC:
        return {"title": known.name or known.handle, "links": [(reader.at.topic(known.handle), "its sessions")]}
    if isinstance(known, Shaped) and known.kind is Kind.RETIRED:
        return {"kind": "retired summary", "facts": ["it counts in no sum: its text stands elsewhere again"]}
    return {}


def _of_note(reader: Reader, note: Note, home: str) -> dict[str, Any]:
    state = reader.memory.census.now(home).state
    note = next((other for other in state.notes if other.path == note.path), note)
    shown = entry(note, state)
    above = state.covered.get(note.path, "")
    facts = [
        reader.day(note.created) if shown.dated else "undated",
        *(["revised since it was summarized: the text as it is now waits for a summary"] if shown.revised else []),
        *([f"source: {note.source}"] if note.source else []),
        *([] if above or shown.revised else ["in the tail: no summary has it yet"]),
    ]
    links: list[tuple[str, str]] = [
        (reader.at.file(path), f"also in {path.split('/')[1]}") for path in reader.embedding(note.path)
    ]
    if note.embed and note.text_path:
        links.append((reader.at.file(note.text_path), f"shows the text of {note.embed}"))
    older = [handle for handle, paths in state.sources.items() if note.path in paths and handle != above]
    links += [(reader.at.file(state.active[h].path), f"an older version of it is in {h}") for h in older]
    return {"facts": facts, "above": _above(reader, state, above), "links": links, "problem": note.problem}


def _above(reader: Reader, state: State, first: str) -> list[Item]:
    """List the summaries above a file, from the nearest up."""
    handles = [first, *pyramid.ancestors(state, first)] if first else []
    return [reader.item(views.of_summary(state.active[handle]), state.model) for handle in handles]


def _of_summary(reader: Reader, summary: Summary, home: str) -> dict[str, Any]:
    state = reader.memory.census.now(home).state
    zone_day = reader.day
    facts = [
        f"tier {summary.tier}",
        counted(summary.note_count, "note"),
        between(zone_day(summary.span_from), zone_day(summary.span_to)),
        f"written {zone_day(summary.created)}{f' by {summary.summarizer}' if summary.summarizer else ''}",
        *(["a draft"] if summary.draft else []),
    ]
    if summary.handle not in state.active:
        reason = state.waiting.get(summary.handle) or summary.problem or "it lost a merge: its sources count elsewhere"
        links = [(reader.at.file(path), path) for source in summary.sources for path in reader.meant(source.link, home)]
        return {"kind": "summary that is not active", "facts": [*facts, reason], "links": links}
    by_path = {note.path: note for note in state.notes}
    places = state.sources[summary.handle]
    sources: list[Any] = [state.active[p] if summary.tier else by_path[p] for p in places if not p.startswith("?")]
    return {
        "facts": facts,
        "above": _above(reader, state, state.parents.get(summary.handle, "")),
        "below": [reader.item(entry(source, state), home) for source in sources],
        "missing": [
            place.removeprefix("?")
            for place, source in zip(places, summary.sources, strict=True)
            if place.startswith("?") and forget.is_named(reader.memory.census, source)
        ],
    }


# Records that a person confirms


@dataclass(frozen=True, slots=True)
class Record:
    """An entity or a procedure, with what its Confirm button sends."""

    line: RecordLine
    href: str
    text: Markup
    facts: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    digest: str = ""
    token: str = ""
    """Empty where there is no button."""


def _record(reader: Reader, line: RecordLine, proof: tuple[str, str] = ("", "")) -> Record:
    sure = [f"confidence {line.confidence:g}"] if line.confidence is not None else []
    facts = [line.label, line.status, line.created, *sure]
    facts += [f"source: {line.source}"] if line.source else []
    facts += [f"also: {', '.join(line.aliases)}"] if line.aliases else []
    facts += ["contradicted by another"] if line.is_contradicted else []
    facts += [f"pruned on {line.due} if nobody confirms it"] if line.due else []
    links = [("may repeat", handle) for handle in line.duplicates]
    links += [("contradicts", handle) for handle in line.contradicts]
    links += [("superseded by", line.superseded_by)] if line.superseded_by else []
    led = tuple((reader.target(handle).href, f"{what} {handle}") for what, handle in links)
    is_open = line.status == curation.PENDING and reader.at.is_live and all(proof)
    text = reader.html(line.text if len(line.text) < CUT_RECORD else f"{line.text[:CUT_RECORD]} …", heading=3)
    return Record(
        line,
        reader.at.file(line.path),
        text,
        tuple(fact for fact in facts if fact),
        led,
        *(proof if is_open else ("", "")),
    )


def _of_record(reader: Reader, known: Curated, proof: tuple[str, str]) -> dict[str, Any]:
    memory, is_entity = reader.memory, known.kind is Kind.ENTITY
    lines = memory.entities(pruned=True) if is_entity else memory.procedures(pruned=True)
    line = next((line for line in lines if line.path == known.path), None)
    related: list[RecordLine] = []
    if is_entity:
        try:
            related = memory.related(known.handle)
        except PyramidError:  # a name that several records go by
            related = []
    return {
        "title": known.name or known.handle,
        "record": _record(reader, line, proof) if line else None,
        "related": [(reader.at.file(other.path), other.name or other.handle) for other in related],
    }


def records(reader: Reader, which: str, page: int) -> Shown:
    """Show the entities, or the procedures: confirmed before pending, the newest first."""
    memory = reader.memory
    lines = memory.entities() if which == "entities" else memory.procedures()
    shown, last = cut(lines, page)
    empty = (
        "No entity is known yet. Agents propose them, `pyramid backfill` finds them in session digests, and "
        "`pyramid entity add NAME` adds one."
        if which == "entities"
        else "No procedure is known yet. Agents propose them, and `pyramid procedure add TEXT` adds one."
    )
    values = {
        "title": which.capitalize(),
        "records": [_record(reader, line) for line in shown],
        "total": len(lines),
        "pages": pages(page, last, lambda number: reader.at.page(which, number)),
        "empty": empty,
        "is_queue": False,
    }
    return Shown("records.html", values)


def pending(reader: Reader, page: int, token: str) -> Shown:
    """Show what waits for a person, each with its button."""
    memory = reader.memory
    shown, _ = cut(memory.pending(), page)
    digests = {line.path: digest(memory, line.path) for line in shown}  # before the texts that are shown are read
    lines = memory.pending()
    again, last = cut(lines, page)
    values = {
        "title": "Pending",
        "records": [_record(reader, line, (digests.get(line.path, ""), token)) for line in again],
        "total": len(lines),
        "pages": pages(page, last, lambda number: reader.at.page("pending", number)),
        "empty": "Nothing waits for a person. What agents propose, and what `pyramid backfill` finds, comes here.",
        "is_queue": True,
    }
    return Shown("records.html", values)


# Topics and sessions


def topics(reader: Reader, page: int) -> Shown:
    """Show the topic threads, those active last first."""
    lines = reader.memory.topics()
    shown, last = cut(lines, page)
    values = {"title": "Topics", "topics": shown, "total": len(lines),
              "pages": pages(page, last, lambda number: reader.at.page("topics", number))}  # fmt: skip
    return Shown("topics.html", values)


def topic(reader: Reader, slug: str) -> Shown:
    """Show a topic's history: its newest sessions."""
    found = reader.memory.topic_history(slug)
    items = [
        Item(text.title or text.handle, reader.at.file(text.path), (text.started, text.handle),
             reader.html(text.text), source=text.source)
        for text in found.sessions
    ]  # fmt: skip
    cards = [path for path in reader.meant(found.topic) if path.startswith("topics/")]
    values = {
        "title": found.title,
        "crumbs": [(reader.at.page("topics"), "Topics")],
        "items": items,
        "total": found.total,
        "note": found.note,
        "card": reader.at.file(cards[0]) if cards else "",
        "empty": "No session lists this topic yet: `pyramid session add` and agents' `save_session` name topics.",
    }
    return Shown("list.html", values)


def sessions(reader: Reader, page: int) -> Shown:
    """Show the session digests, newest first."""
    census = reader.memory.census
    census.refresh()
    found = [value for value in census.values("sessions") if isinstance(value, Session)]
    shown, last = cut(sorted(found, key=lambda s: (s.created, s.handle), reverse=True), page)
    values = {
        "title": "Sessions",
        "items": [reader.shaped_item(session) for session in shown],
        "total": len(found),
        "pages": pages(page, last, lambda number: reader.at.page("sessions", number)),
        "empty": "No session is saved yet. Agents save them; `pyramid import claude-code` brings in old ones.",
    }
    return Shown("list.html", values)


# Recall


def recall(reader: Reader, asked: Mapping[str, str], page: int) -> Shown:
    """Show the form, and what was found for what it asks."""
    query = asked.get("q", "")[:MOST_QUERY]
    given = {key: asked.get(key, "").strip() for key in ("model", "kind", "tier", "since", "until")}
    values: dict[str, Any] = {
        "title": "Recall",
        "query": query,
        "given": given,
        "models": reader.memory.census.models(),
        "kinds": KINDS,
        "hits": [],
        "error": "",
        "notes": (),
        "pages": None,
    }
    if not query.strip():
        return Shown("recall.html", values)
    try:
        return Shown("recall.html", values | _found(reader, query, given, page))
    except (UsageError, NoSuchModel) as error:
        return Shown("recall.html", values | {"error": str(error)}, 400)


def _found(reader: Reader, query: str, given: Mapping[str, str], page: int) -> dict[str, Any]:
    if not 1 <= page <= 1_000:  # noqa: PLR2004  (each page is looked for from the best hit on)
        raise UsageError("a search has pages from 1 to 1,000")
    if given["tier"] and not (given["tier"].isascii() and given["tier"].isdigit() and len(given["tier"]) < 4):  # noqa: PLR2004
        raise UsageError(f"a tier is a number, not {given['tier'][:20]!r}")
    found = reader.memory.recall(
        query,
        models=(given["model"],) if given["model"] else (),
        kinds=(given["kind"],) if given["kind"] else (),
        tier=int(given["tier"]) if given["tier"] else None,
        since=given["since"],
        until=given["until"],
        limit=HITS,
        start=(page - 1) * HITS,
    )

    def address(number: int) -> str:
        return reader.at.page("recall", number, q=query, **given)

    hits = [_hit(reader, hit, query) for hit in found.hits]
    last = page + (1 if found.next else 0)
    return {"hits": hits, "notes": found.notes, "pages": pages(page, last, address), "first": (page - 1) * HITS + 1}


def _hit(reader: Reader, hit: context.Hit, query: str) -> Item:
    what = f"summary, tier {hit.tier}" if hit.tier is not None else hit.kind
    facts = (what, hit.created or "undated", *hit.models)
    return Item(hit.handle, reader.at.file(hit.path), facts, markup.marked(hit.text, query), source=hit.source)


# How things are


def status(reader: Reader) -> Shown:
    """Show what waits and why."""
    found = reader.memory.status()
    values = {"title": "Status", "found": found, "problems": _problems(reader, found.problems),
              "pending": reader.pending()}  # fmt: skip
    return Shown("status.html", values)


def verify(reader: Reader) -> Shown:
    """Show the proof."""
    found = reader.memory.verify()
    reader.memory.census.refresh()
    values = {
        "title": "Verify",
        "found": found,
        "faults": _problems(reader, found.faults),
        "remarks": _problems(reader, found.remarks),
    }
    return Shown("verify.html", values)


def doctor(reader: Reader) -> Shown:
    """Show the files that a person should look at."""
    values = {"title": "Doctor", "problems": _problems(reader, reader.memory.doctor())}
    return Shown("doctor.html", values)


def _problems(reader: Reader, problems: Sequence[Any]) -> list[tuple[str, Any]]:
    """Give each problem with the page of its file, where there is one."""
    return [(reader.at.file(p.path) if reader.known(p.path) else "", p) for p in problems]

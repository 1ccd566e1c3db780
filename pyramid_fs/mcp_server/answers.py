"""An answer's two forms: the text that a model reads, and the same as data for programs; and what of it fits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NotRequired

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from pyramid_fs import boot, bounds, render, threads
from pyramid_fs.boot import TopicLine
from pyramid_fs.calls import TOOLS
from pyramid_fs.context import Expanded, Hits, Loaded, Map, Rollup
from pyramid_fs.paging import Face

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyramid_fs.boot import Bundle, History, RecordLine, SessionLine, SessionText
    from pyramid_fs.context import Hit, LoadedModel, ModelLine, RollupSource, Text, Written
    from pyramid_fs.record import Recorded
    from pyramid_fs.shapes import Proposed, Saved
    from pyramid_fs.views import Left

PAGE_CHARS = 12_000
"""A page of a whole tier: half of a shell's, so that it fits in any script with its data beside it."""
FRAGMENTS = "These are fragments; the models they come from are not loaded: call load_model."


class Quoted(TypedDict):
    """A note or a summary: text that somebody wrote down."""

    handle: str
    text: str
    date: NotRequired[str]
    tier: NotRequired[int]
    notes: NotRequired[int]
    models: NotRequired[list[str]]
    source: NotRequired[str]
    marks: NotRequired[list[str]]
    under: NotRequired[str]


class LeftOut(TypedDict):
    """What did not fit."""

    what: str
    count: int
    call: str


class ModelFacts(TypedDict):
    """One model on the map."""

    name: str
    notes: int
    description: NotRequired[str]
    span: NotRequired[list[str]]
    tail: NotRequired[int]
    waiting: NotRequired[list[str]]
    view_chars: NotRequired[int]
    view_tokens: NotRequired[int]


class MapAnswer(TypedDict):
    """What load_memory answers."""

    loaded: bool
    notice: str
    vault: str
    models: list[ModelFacts]
    archived: list[str]
    recent: list[Quoted]
    left_out: list[LeftOut]


class LoadedFacts(TypedDict):
    """One loaded model."""

    name: str
    notes: int
    covered: int
    tail: int
    description: NotRequired[str]
    span: NotRequired[list[str]]
    waiting: NotRequired[list[str]]
    summaries: list[Quoted]
    recent: list[Quoted]
    left_out: list[LeftOut]


class LoadedAnswer(TypedDict):
    """What load_model answers."""

    notice: str
    vault: str
    models: list[LoadedFacts]
    left_out: list[str]


class ExpandedAnswer(TypedDict):
    """What expand answers."""

    notice: str
    vault: str
    kind: str
    item: Quoted
    above: list[str]
    below: list[Quoted]
    missing: list[str]
    left_out: list[LeftOut]


class Fragment(TypedDict):
    """One hit."""

    handle: str
    kind: str
    models: list[str]
    text: str
    date: NotRequired[str]
    tier: NotRequired[int]
    source: NotRequired[str]
    above: NotRequired[list[str]]


class HitsAnswer(TypedDict):
    """What recall answers."""

    notice: str
    vault: str
    hits: list[Fragment]
    next: str | None
    notes: list[str]


class RecordedAnswer(TypedDict):
    """What record answers."""

    handle: str
    models: list[str]
    repeat: bool
    warnings: list[str]
    vault: str


class CreatedAnswer(TypedDict):
    """What create_model answers."""

    name: str
    alike: list[str]
    vault: str


class RollupAnswer(TypedDict):
    """What next_rollup answers."""

    due: bool
    vault: str
    ticket: NotRequired[str]
    model: NotRequired[str]
    tier: NotRequired[int]
    target_chars: NotRequired[int]
    rules: NotRequired[str]
    sources: NotRequired[list[Quoted]]
    left_out: NotRequired[list[LeftOut]]
    more: NotRequired[int]


class WrittenAnswer(TypedDict):
    """What write_rollup answers."""

    handle: str
    model: str
    tier: int
    chars: int
    more: int
    vault: str


class TopicFacts(TypedDict):
    """One topic thread."""

    topic: str
    title: str
    sessions: int
    active: str
    status: NotRequired[str]


class RecordFacts(TypedDict):
    """One entity or procedure."""

    handle: str
    status: str
    created: str
    name: NotRequired[str]
    text: NotRequired[str]
    label: NotRequired[str]
    confidence: NotRequired[float]
    source: NotRequired[str]
    aliases: NotRequired[list[str]]
    duplicates: NotRequired[list[str]]
    superseded_by: NotRequired[str]
    contradicts: NotRequired[list[str]]
    contradicted: NotRequired[bool]


class SessionBrief(TypedDict):
    """One session digest, in short."""

    handle: str
    started: str
    text: str
    title: NotRequired[str]
    topics: NotRequired[list[str]]


class BundleAnswer(TypedDict):
    """What memory_context answers."""

    loaded: bool
    notice: str
    vault: str
    models: list[ModelFacts]
    topics: list[TopicFacts]
    entities: list[RecordFacts]
    procedures: list[RecordFacts]
    recent: list[Quoted]
    sessions: list[SessionBrief]
    pending: int
    pruned_soon: int
    notes: list[str]
    left_out: list[str]


class SessionFacts(TypedDict):
    """One session digest."""

    handle: str
    started: str
    text: str
    session: NotRequired[str]
    title: NotRequired[str]
    topics: NotRequired[list[str]]
    source: NotRequired[str]


class HistoryAnswer(TypedDict):
    """What topic_thread_summarize answers."""

    notice: str
    vault: str
    topic: str
    title: str
    total: int
    note: str
    sessions: list[SessionFacts]


class SavedAnswer(TypedDict):
    """What save_session answers."""

    handle: str
    topics: list[str]
    made_topics: list[str]
    is_new: bool
    vault: str


class ProposedAnswer(TypedDict):
    """What propose answers."""

    handle: str
    kind: str
    status: str
    duplicates: list[str]
    vault: str


# From values to data: what is empty is left out, as each word is paid for


def _full(**values: Any) -> Any:
    return {name: value for name, value in values.items() if value not in ("", None, [], ())}


def _quoted(text: Text) -> Quoted:
    date = text.span_from if text.span_from == text.span_to else f"{text.span_from} to {text.span_to}"
    more = _full(
        date=date,
        tier=text.tier if text.tier >= 0 else None,
        notes=text.notes if text.tier >= 0 else None,
        models=list(text.models),
        source=text.source,
        marks=render.marks(text),
        under=text.under,
    )
    found: Any = {"handle": text.handle, **more, "text": text.text}
    return found  # type: ignore[no-any-return]


def _quoted_all(texts: Iterable[Text]) -> list[Quoted]:
    return [_quoted(text) for text in texts]


def _left(lefts: Iterable[Left]) -> list[LeftOut]:
    return [
        {"what": f"{left.what}: {', '.join(left.handles)}", "count": left.count, "call": left.call} for left in lefts
    ]


def _span(first: str, last: str) -> list[str]:
    return [first, last] if first else []


def _line(line: ModelLine) -> ModelFacts:
    more = _full(
        description=line.description,
        span=_span(line.span_from, line.span_to),
        tail=line.tail or None,
        waiting=list(line.waiting),
        view_chars=line.view_chars or None,
        view_tokens=line.view_tokens if line.notes else None,
    )
    found: Any = {"name": line.name, "notes": line.notes, **more}
    return found  # type: ignore[no-any-return]


def map_data(found: Map) -> MapAnswer:
    """Give the map as data."""
    return {
        "loaded": False,
        "notice": f"{render.nothing_loaded(TOOLS)} {render.QUOTED}",
        "vault": found.vault,
        "models": [_line(line) for line in found.models],
        "archived": list(found.archived),
        "recent": _quoted_all(found.recent),
        "left_out": _left(found.left),
    }


def _model(model: LoadedModel) -> LoadedFacts:
    more = _full(
        description=model.description,
        span=_span(model.span_from, model.span_to),
        waiting=[*model.waiting, *(["archived"] if model.archived else [])],
    )
    found: Any = {
        "name": model.name,
        **more,
        "notes": model.notes,
        "covered": model.covered,
        "tail": model.tail,
        "summaries": _quoted_all(model.summaries),
        "recent": _quoted_all(model.recent),
        "left_out": _left(model.left),
    }
    return found  # type: ignore[no-any-return]


def loaded_data(found: Loaded) -> LoadedAnswer:
    """Give loaded models as data."""
    models = [_model(model) for model in found.models]
    return {"notice": render.QUOTED, "vault": found.vault, "models": models, "left_out": list(found.left)}


def expanded_data(found: Expanded) -> ExpandedAnswer:
    """Give what a handle leads to as data."""
    return {
        "notice": render.QUOTED,
        "vault": found.vault,
        "kind": found.kind,
        "item": _quoted(found.text),
        "above": list(found.above),
        "below": _quoted_all(found.below),
        "missing": list(found.missing),
        "left_out": _left(found.left),
    }


def _fragment(hit: Hit) -> Fragment:
    more = _full(date=hit.created, tier=hit.tier, source=hit.source, above=list(hit.above))
    found: Any = {"handle": hit.handle, "kind": hit.kind, "models": list(hit.models), **more, "text": hit.text}
    return found  # type: ignore[no-any-return]


def hits_data(found: Hits) -> HitsAnswer:
    """Give hits as data."""
    return {
        "notice": f"{FRAGMENTS} {render.QUOTED}",
        "vault": found.vault,
        "hits": [_fragment(hit) for hit in found.hits],
        "next": found.next,
        "notes": list(found.notes),
    }


def _record(record: RecordLine) -> RecordFacts:
    more = _full(
        name=record.name,
        text=record.text,
        label=record.label,
        confidence=record.confidence,
        source=record.source,
        aliases=list(record.aliases),
        duplicates=list(record.duplicates),
        superseded_by=record.superseded_by,
        contradicts=list(record.contradicts),
        contradicted=record.is_contradicted or None,
    )
    found: Any = {"handle": record.handle, "status": record.status, "created": record.created, **more}
    return found  # type: ignore[no-any-return]


def _topic(topic: TopicLine) -> TopicFacts:
    found: Any = {
        "topic": topic.slug,
        "title": topic.title,
        "sessions": topic.sessions,
        "active": topic.active,
        **_full(status=topic.status),
    }
    return found  # type: ignore[no-any-return]


SECTIONS = {
    "models": f"models: {TOOLS.map}",
    "topics": "topics",
    "entities": "entities",
    "procedures": "procedures: memory_context(query=…) shows those that fit a query",
    "recent": f"notes: {TOOLS.map}",
}
"""The parts of the bundle in the order in which they are given room, and how what is left out of each is named."""
NAMED = 20
"""So many items that are too long are named one by one."""


def _brief(session: SessionLine) -> SessionBrief:
    more = _full(title=session.title, topics=list(session.topics))
    found: Any = {"handle": session.handle, "started": session.started, **more, "text": session.text}
    return found  # type: ignore[no-any-return]


def bundle_data(found: Bundle, left: Sequence[str] = ()) -> BundleAnswer:
    """Give the boot bundle as data."""
    return {
        "loaded": False,
        "notice": f"{render.nothing_loaded(TOOLS)} {render.QUOTED}",
        "vault": found.vault,
        "models": [_line(line) for line in found.models],
        "topics": [_topic(topic) for topic in found.topics],
        "entities": [_record(record) for record in found.entities],
        "procedures": [_record(record) for record in found.procedures],
        "recent": _quoted_all(found.recent),
        "sessions": [_brief(session) for session in found.sessions],
        "pending": found.pending,
        "pruned_soon": found.soon,
        "notes": list(found.notes),
        "left_out": list(left),
    }


def bundle_page(found: Bundle) -> BundleAnswer:
    """Give as much of the bundle as fits, whole items only, and name the rest.

    Models come first, then topics, entities, procedures and notes; one that takes more than its share is named alone.
    """
    small, huge = _apart(found)
    sections = [len(getattr(small, name)) for name in SECTIONS]

    def build(count: int) -> BundleAnswer:
        left, cut = list(huge), {}
        for name, total in zip(SECTIONS, sections, strict=True):
            shown = min(max(count, 0), total)
            count -= total
            cut[name] = getattr(small, name)[:shown]
            left += [f"{total - shown} {SECTIONS[name]}"] if shown < total else []
        return bundle_data(replace(small, **cut), left)

    def fits(data: BundleAnswer) -> bool:
        return bounds.tokens(json.dumps(data, ensure_ascii=False)) <= bounds.TOKENS

    return bounds.most(0, sum(sections), build, fits)


def _apart(found: Bundle) -> tuple[Bundle, list[str]]:
    """Take out the items that alone would fill much of an answer; each is named with the call that shows it."""
    huge: list[str] = []

    def kept(items: Sequence[Any], data: Callable[[Any], Mapping[str, Any]]) -> tuple[Any, ...]:
        small = []
        for item in items:
            if bounds.tokens(json.dumps(data(item), ensure_ascii=False)) <= bounds.TOKENS // 4:
                small.append(item)
            else:
                huge.append(TOOLS.history(item.slug) if isinstance(item, TopicLine) else TOOLS.expand(item.handle))
        return tuple(small)

    topics, entities = kept(found.topics, _topic), kept(found.entities, _record)
    procedures, recent = kept(found.procedures, _record), kept(found.recent, _quoted)
    return replace(found, topics=topics, entities=entities, procedures=procedures, recent=recent), huge[:NAMED]


def _session(session: SessionText) -> SessionFacts:
    more = _full(session=session.session, title=session.title, topics=list(session.topics), source=session.source)
    found: Any = {"handle": session.handle, "started": session.started, **more, "text": session.text}
    return found  # type: ignore[no-any-return]


def history_data(found: History) -> HistoryAnswer:
    """Give a thread's history as data."""
    return {
        "notice": render.QUOTED,
        "vault": found.vault,
        "topic": found.topic,
        "title": found.title,
        "total": found.total,
        "note": found.note,
        "sessions": [_session(session) for session in found.sessions],
    }


def history_page(found: History) -> History:
    """Give as many of a thread's sessions as fit, and at least one; the note says so.

    Of one that alone is too long the text is left out, and the note names the call that shows it in parts.
    """

    def build(count: int) -> History:
        shown = found.sessions[:count]
        return replace(found, sessions=shown, note=threads.cap_note(len(shown), found.total))

    def fits(part: History) -> bool:
        data = json.dumps(history_data(part), ensure_ascii=False)
        return max(bounds.tokens(data), bounds.tokens(boot.history_text(part))) <= bounds.TOKENS

    page = bounds.most(1, len(found.sessions), build, fits)
    if fits(page) or not page.sessions:
        return page
    (first,) = page.sessions
    note = f"the newest session is too long for an answer, {len(first.text):,} characters: {TOOLS.expand(first.handle)}"
    notes = "; ".join(text for text in (page.note, note) if text)
    return replace(page, sessions=(replace(first, text=""),), note=notes)


def saved_data(made: Saved, vault: str) -> SavedAnswer:
    """Give what came of saving a session as data."""
    return {
        "handle": made.handle,
        "topics": list(made.topics),
        "made_topics": list(made.made_topics),
        "is_new": made.is_new,
        "vault": vault,
    }


def saved_text(made: Saved, vault: str) -> str:
    """Say what came of saving a session."""
    what = "Saved as" if made.is_new else "The session has a digest already; this was added to"
    lines = [f"{what} [[{made.handle}]]"]
    lines += [f"Topics: {', '.join(made.topics)}"] if made.topics else []
    lines += [f"Made, as there was none of that name: {', '.join(made.made_topics)}"] if made.made_topics else []
    return "\n".join([*lines, f"Vault: {vault}"])


def proposed_data(made: Proposed, vault: str) -> ProposedAnswer:
    """Give what came of proposing a record as data."""
    return {
        "handle": made.handle,
        "kind": made.kind,
        "status": made.status,
        "duplicates": list(made.duplicates),
        "vault": vault,
    }


def proposed_text(made: Proposed, vault: str) -> str:
    """Say what came of proposing a record."""
    lines = [f"Proposed [[{made.handle}]]: pending until a person confirms it."]
    lines += [f"It may repeat {', '.join(f'[[{each}]]' for each in made.duplicates)}."] if made.duplicates else []
    return "\n".join([*lines, f"Vault: {vault}"])


def recorded_data(made: Recorded, vault: str) -> RecordedAnswer:
    """Give what came of a note as data."""
    return {
        "handle": made.handle,
        "models": list(made.models),
        "repeat": made.repeat,
        "warnings": list(made.warnings),
        "vault": vault,
    }


def recorded_text(made: Recorded, vault: str) -> str:
    """Say what came of a note."""
    what = "Recorded already within the last day; it is" if made.repeat else "Recorded"
    lines = [f"{what} in {', '.join(made.models)}: [[{made.handle}]]", f"Vault: {vault}"]
    return "\n".join([*lines, *(f"Beware: {warning}" for warning in made.warnings)])


def rollup_data(due: Rollup | None, vault: str) -> RollupAnswer:
    """Give a batch that is due as data."""
    if due is None:
        return {"due": False, "vault": vault}
    return {
        "due": True,
        "vault": vault,
        "ticket": due.ticket,
        "model": due.model,
        "tier": due.tier,
        "target_chars": due.target,
        "rules": due.rules,
        "sources": [_source(item) for item in due.items],
        "left_out": _left(due.left),
        "more": due.more,
    }


def _source(item: RollupSource) -> Quoted:
    found: Any = {"handle": item.handle, **_full(date=item.date, source=item.source), "text": item.text}
    return found  # type: ignore[no-any-return]


def written_data(made: Written, vault: str) -> WrittenAnswer:
    """Give what was stored as data."""
    return {
        "handle": made.handle,
        "model": made.model,
        "tier": made.tier,
        "chars": made.chars,
        "more": made.more,
        "vault": vault,
    }


def written_text(made: Written, vault: str) -> str:
    """Say what was stored."""
    more = f"{made.more} more due: next_rollup()" if made.more else "Nothing more is due there."
    return f"Stored as [[{made.handle}]], {made.chars} characters.\n{more}\nVault: {vault}"


# What fits


def _cost(found: object) -> int:
    if isinstance(found, Map):
        text, data = render.map_text(found, TOOLS), json.dumps(map_data(found), ensure_ascii=False)
    elif isinstance(found, Loaded):
        text, data = render.loaded_text(found, TOOLS), json.dumps(loaded_data(found), ensure_ascii=False)
    elif isinstance(found, Expanded):
        text, data = render.expanded_text(found), json.dumps(expanded_data(found), ensure_ascii=False)
    elif isinstance(found, Hits):
        text, data = render.hits_text(found, calls=TOOLS), json.dumps(hits_data(found), ensure_ascii=False)
    elif isinstance(found, Rollup):
        text, data = render.rollup_text(found, "", TOOLS), json.dumps(rollup_data(found, ""), ensure_ascii=False)
    else:
        raise TypeError(found)
    return max(bounds.tokens(text), bounds.tokens(data))


FACE = Face(TOOLS, PAGE_CHARS, lambda found: _cost(found) <= bounds.TOKENS)
"""An agent's: calls are tools, and an answer is as long as clients take it."""

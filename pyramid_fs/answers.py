"""Assembles what the reading verbs answer: the map, loaded models, what a handle leads to."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyramid_fs import bounds, context, forget, kinds, layout, paging, pyramid, render, times, views
from pyramid_fs.errors import DiskError, NoSuchHandle, UsageError
from pyramid_fs.notes import Kind, Note, Shaped, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyramid_fs.census import Census, ModelNow
    from pyramid_fs.context import Text
    from pyramid_fs.paging import Face
    from pyramid_fs.views import Entry, View

NAMES = 20
"""So many models that did not fit are named with the call."""
DESCRIPTION = 1_000
"""Characters of a model's description that are shown; its card has all of it."""
LINE = "2"
"""Changes with what a line of the map is made of, so that no older one is shown."""


class Answers:
    """The reading verbs over one census; each brings what it needs up to date first."""

    def __init__(self, census: Census, face: Face) -> None:
        self._census, self._face = census, face
        self._settings = census.vault.settings
        self._name = str(census.vault.root)
        self._views: dict[str, tuple[ModelNow, int, View]] = {}

    def map(self, page: int = 1) -> context.Map:
        """Give the map: models and the newest notes. It loads nothing."""
        if page < 1:
            raise UsageError("pages count from 1")
        return paging.map_page(self.whole_map(), page, self._face)

    def whole_map(self) -> context.Map:
        """Give the map, however large it is."""
        self._census.refresh()
        lines: list[context.ModelLine] = []
        archived: list[context.ModelLine] = []
        states: list[dict[str, Any]] = []
        kept: dict[str, str] = {}
        for model in self._census.models():
            line, recent = self._map_line(model, kept)
            (archived if line.archived else lines).append(line)
            states += [] if line.archived else recent
        if kept:
            self._census.catalog.keep_derived(kept)
        lines = self._with_failures(lines)
        ordered = _newest_once(states)
        huge = [entry for entry in ordered if entry["chars"] > views.PAGE_CHARS]
        recent_texts = self._recent_texts([entry for entry in ordered if entry not in huge])
        return context.Map(
            self._name, tuple(lines), tuple(line.name for line in archived), tuple(recent_texts), self._too_long(huge)
        )

    def _with_failures(self, lines: list[context.ModelLine]) -> list[context.ModelLine]:
        """Say of each model whose last summary failed that it did: nobody else may have been told."""
        trouble = self._census.catalog.trouble()
        failed = {name: context.failure(tries, reason) for name, (tries, _, reason) in trouble.items()}
        return [
            replace(line, waiting=(*line.waiting, failed[line.name])) if line.name in failed else line for line in lines
        ]

    def _map_line(self, model: str, kept: dict[str, str]) -> tuple[context.ModelLine, list[dict[str, Any]]]:
        """Give a model's line and its newest notes: from the catalog while its files stand, else computed."""
        key = f"{LINE}:{self._settings.view_chars}:{self._settings.zone_name}:{self._census.ledger_key}"
        held = self._census.shut  # a line shows embeds of notes elsewhere, too
        derived = self._census.catalog.derived(model) if not held else ""
        if derived:
            found = json.loads(derived)
            if found["key"] == key:
                line = found["line"]
                return context.ModelLine(**{**line, "waiting": tuple(line["waiting"])}), found["recent"]
        now = self._census.now(model)
        line_now = self._line_of(now)
        recent = [
            {"path": e.path, "handle": e.handle, "micros": times.micros(e.span_to), "model": model, "dated": e.dated,
             "chars": e.chars, "source": e.source, "revised": e.revised, "again": e.again, "problem": e.problem}
            for e in context.newest([now.state])
        ]  # fmt: skip
        if not held:
            kept[model] = json.dumps({"key": key, "line": asdict(line_now), "recent": recent}, ensure_ascii=False)
        return line_now, recent

    def _line_of(self, now: ModelNow) -> context.ModelLine:
        span, zone = context.span(now.state), self._settings.zone
        view = views.plan(now.state, self._settings.view_chars, self._size)
        shown = render.loaded_text(context.Loaded(self._name, (self._loaded(now, view),)))
        return context.ModelLine(
            name=now.name,
            description=_description(now),
            notes=len(now.state.notes),
            tail=len(now.state.tail),
            summaries=context.by_tier(now.state),
            span_from=times.day(span[0], zone) if span else "",
            span_to=times.day(span[1], zone) if span else "",
            waiting=context.waiting(now.held, now.state, now.card),
            view_chars=view.chars,
            view_tokens=bounds.tokens(shown),
            archived=bool(now.card and now.card.archived),
        )

    def _recent_texts(self, recent: list[dict[str, Any]]) -> Iterator[Text]:
        used = 0
        for number, entry in enumerate(recent):
            used += entry["chars"]
            if number and used > context.RECENT_CHARS:
                return
            day = times.day(times.from_micros(entry["micros"]), self._settings.zone) if entry["dated"] else ""
            yield context.Text(
                handle=entry["handle"],
                path=entry["path"],
                models=tuple(entry["models"]),
                tier=-1,
                notes=1,
                created=day,
                span_from=day,
                span_to=day,
                text=self._text(entry["path"]),
                revised=entry["revised"],
                source=entry["source"],
                problem=entry["problem"],
            )

    def load(
        self,
        names: Sequence[str],
        *,
        chars: int | None = None,
        tier: str | None = None,
        page: int = 1,
        total: int | None = None,
    ) -> context.Loaded:
        """Give the views of models within a budget each, or a page of a whole `tier` (its number, `notes`, `tail`).

        `total` bounds the characters of the whole answer: models that don't fit are named with the call.
        """
        calls = self._face.calls
        if not names:
            raise UsageError(f"name the models to load; `{calls.map}` shows them")
        if tier is not None and tier not in {"notes", "tail"} and not (tier.isascii() and tier.isdigit()):
            raise UsageError(f"a tier is a number, `notes` or `tail`, not {tier[:80]!r}")
        budget = self._settings.view_chars if chars is None else chars
        if budget < 1 or page < 1 or (total is not None and total < 1):
            raise UsageError("characters and pages count from 1")
        known = context.check_models(names, self._census.models(), calls)
        self._census.refresh(known)
        loaded: list[context.LoadedModel] = []
        left: list[str] = []
        for model in known:
            now = self._readable(model)
            if left:
                left.append(model)
                continue
            view = self._tier(now, tier, page) if tier else self._view(now, budget)
            one = self._loaded(now, view)
            if loaded and not self._fits(total, *loaded, one):
                left.append(model)  # and those after it: the order was the caller's
            elif loaded or self._fits(total, one):
                loaded.append(one)
            elif tier:
                loaded.append(self._short_page(now, view, total))
            else:
                loaded.append(self._short_view(now, budget, total))
        shown_by = (
            [calls.tier(model, tier, page) for model in left] if tier else [calls.load(left[:NAMES])] if left else []
        )
        more = [f"and {len(left) - NAMES} more of the names given"] if len(left) > NAMES else []
        return context.Loaded(self._name, tuple(loaded), (*shown_by[:NAMES], *more))

    def _readable(self, model: str) -> ModelNow:
        now = self._census.now(model)
        if any(problem.path == f"{layout.MODELS}/{model}" for problem in now.shut):
            raise DiskError(f"{layout.MODELS}/{model} can't be read: give yourself the right to read the folder")
        return now

    def _fits(self, total: int | None, *models: context.LoadedModel) -> bool:
        found = context.Loaded(self._name, models)
        if total is not None and len(render.loaded_text(found, self._face.calls)) > total:
            return False
        return self._face.fits(found)

    def _short_view(self, now: ModelNow, budget: int, total: int | None) -> context.LoadedModel:
        """Give as much of a view as fits."""
        read = lru_cache(maxsize=None)(self._text)

        def build(chars: int) -> context.LoadedModel:
            return self._loaded(now, self._plan(now, chars, is_strict=True), read)

        return bounds.most(0, budget, build, lambda one: self._fits(total, one))

    def _short_page(self, now: ModelNow, view: View, total: int | None) -> context.LoadedModel:
        """Give as much of a page as fits, the shortest texts first."""
        read, by_size = lru_cache(maxsize=None)(self._text), sorted(view.entries, key=lambda entry: entry.chars)

        def build(count: int) -> context.LoadedModel:
            rest = by_size[count:]
            huge = [{"handle": entry.handle, "chars": entry.chars} for entry in rest]
            entries = tuple(entry for entry in view.entries if entry not in rest)
            return self._loaded(now, replace(view, entries=entries, left=(*self._too_long(huge), *view.left)), read)

        return bounds.most(0, len(by_size), build, lambda one: self._fits(total, one))

    def _view(self, now: ModelNow, budget: int) -> View:
        """Plan a view once for as long as the model stays as it is."""
        held = self._views.get(now.name)
        if held is None or held[0] is not now or held[1] != budget:
            self._views[now.name] = held = (now, budget, self._plan(now, budget))
        return held[2]

    def _plan(self, now: ModelNow, budget: int, *, is_strict: bool = False) -> View:
        face = self._face
        return views.plan(
            now.state, budget, self._size, calls=face.calls, page_chars=face.page_chars, is_strict=is_strict
        )

    def _tier(self, now: ModelNow, tier: str, page: int) -> View:
        found = views.tier(now.state, tier, page, self._size, self._face.page_chars, calls=self._face.calls)
        if page > 1 and not found.entries:
            raise UsageError(f"{now.name} has no page {page} of tier {tier}: it has fewer")
        return found

    def _size(self, entry: Entry) -> int:
        return render.size(entry, self._settings.zone)

    def _loaded(self, now: ModelNow, view: View, read: Callable[[str], str] | None = None) -> context.LoadedModel:
        span, zone = context.span(now.state), self._settings.zone
        texts = [self._text_of(entry, (now.name,), read) for entry in view.entries]
        return context.LoadedModel(
            name=now.name,
            description=_description(now),
            notes=len(now.state.notes),
            covered=len(now.state.covered),
            tail=len(now.state.tail),
            span_from=times.day(span[0], zone) if span else "",
            span_to=times.day(span[1], zone) if span else "",
            summaries=tuple(text for text in texts if text.tier >= 0),
            recent=tuple(text for text in texts if text.tier < 0),
            left=view.left,
            waiting=context.waiting(now.held, now.state, now.card),
            archived=bool(now.card and now.card.archived),
        )

    def _text_of(
        self, entry: Entry, models: tuple[str, ...], read: Callable[[str], str] | None = None, under: str = ""
    ) -> Text:
        zone = self._settings.zone
        first, last = (times.day(entry.span_from, zone), times.day(entry.span_to, zone)) if entry.dated else ("", "")
        return context.Text(
            handle=entry.handle,
            path=entry.path,
            models=models,
            tier=entry.tier,
            notes=entry.notes,
            created=last,
            span_from=first,
            span_to=last,
            text=(read or self._text)(entry.path),
            again=entry.again,
            revised=entry.revised,
            draft=entry.draft,
            source=entry.source,
            problem=entry.problem,
            under=under,
        )

    def _text(self, path: str) -> str:
        try:
            return kinds.note_text(forget.page(self._census, path))
        except (FileNotFoundError, DiskError):
            return ""

    def expand(self, handle: str, depth: int = 1, page: int = 1) -> context.Expanded:
        """Give what a handle leads to: a summary's sources, `depth` tiers down, or a note and the summaries of it."""
        if depth < 1 or page < 1:
            raise UsageError("depth and pages count from 1")
        return paging.expanded_page(self._expanded(handle, depth), depth, page, self._face)

    def _expanded(self, handle: str, depth: int) -> context.Expanded:
        self._census.refresh()
        file = self._census.find(handle)
        parts = file.path.split("/")
        if not isinstance(file, (Note, Summary)):
            kind = file.kind if isinstance(file, Shaped) else Kind.CARD
            text = self._plain_text(file.path, file.handle)
            return context.Expanded(self._name, file.handle, str(kind), (), text, (), (), ())
        now = self._census.now(parts[1])
        if isinstance(file, Note):
            return self._expanded_note(now, file)
        return self._expanded_summary(now, file, depth)

    def _expanded_note(self, now: ModelNow, file: Note) -> context.Expanded:
        note = next((note for note in now.state.notes if note.path == file.path), None)
        if note is None:
            raise NoSuchHandle(f"{file.handle!r} was forgotten")
        first = now.state.covered.get(note.path)
        above = (first, *pyramid.ancestors(now.state, first)) if first else ()
        models = self._models_of(note)
        return context.Expanded(
            self._name,
            note.handle,
            "note",
            models,
            self._text_of(views.of_note(note, now.state), models),
            above,
            (),
            (),
        )

    def _models_of(self, note: Note) -> tuple[str, ...]:
        """List the models that hold a note's text."""
        holding, fresh = set[str](), {note.text_path or note.path}
        while fresh:  # embeds of it, embeds of those
            holding |= fresh
            fresh = {
                other.path
                for other in self._census.values()
                if isinstance(other, Note) and other.embed and any(pyramid.path_fits(p, other.embed) for p in fresh)
            } - holding
        return tuple(sorted({path.split("/")[1] for path in holding}))

    def _expanded_summary(self, now: ModelNow, file: Summary, depth: int) -> context.Expanded:
        state, models = now.state, (now.name,)
        if file.handle not in state.active:
            reason = (
                state.waiting.get(file.handle)
                or file.problem
                or "it is a loser of a merge: its sources count elsewhere"
            )
            text = self._text_of(views.of_summary(file), models)
            return context.Expanded(
                self._name, file.handle, f"summary that is not active: {reason}", models, text, (), (), ()
            )
        below = list(_below(state, file, depth, {note.path: note for note in state.notes}))
        named = zip(state.sources[file.handle], file.sources, strict=True)
        gone = tuple(p.removeprefix("?") for p, s in named if p.startswith("?") and forget.is_named(self._census, s))
        huge = [{"handle": e.handle, "chars": e.chars} for _, e in below if e.chars > views.PAGE_CHARS]
        return context.Expanded(
            vault=self._name,
            handle=file.handle,
            kind="summary",
            models=models,
            text=self._text_of(views.of_summary(file), models),
            above=tuple(pyramid.ancestors(state, file.handle)),
            below=tuple(self._text_of(e, models, None, under) for under, e in below if e.chars <= views.PAGE_CHARS),
            missing=gone,
            left=self._too_long(huge),
        )

    def _too_long(self, huge: Sequence[dict[str, Any]]) -> tuple[views.Left, ...]:
        """Name the texts that are too long to be shown among others."""
        return tuple(
            views.Left(paging.TOO_LONG, 1, entry["chars"], (entry["handle"],), self._face.calls.expand(entry["handle"]))
            for entry in huge
        )

    def _plain_text(self, path: str, handle: str) -> Text:
        page = forget.page(self._census, path)
        body = "\n".join(part for part in (page.block.strip(), page.body) if part)
        return context.Text(handle, path, (), -1, 1, "", "", "", body, problem=page.problem)


def _description(now: ModelNow) -> str:
    text = now.card.description if now.card else ""
    return text if len(text) <= DESCRIPTION else f"{text[:DESCRIPTION].rsplit(' ', 1)[0]} … [[{now.name}]]"


def _below(state: pyramid.State, file: Summary, depth: int, notes: dict[str, Note]) -> Iterator[tuple[str, Entry]]:
    """Yield what is below a summary, tier by tier, each with the summary that it is a source of."""
    places, lower = state.sources[file.handle], list[Summary]()
    for place in places:
        if file.tier:
            lower.append(state.active[place])
            yield file.handle, views.of_summary(state.active[place])
        elif place in notes:
            yield file.handle, views.of_note(notes[place], state)
    for summary in lower if depth > 1 else ():
        yield from _below(state, summary, depth - 1, notes)


def _newest_once(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the newest notes of several models, newest first, a text in several once under its own handle."""
    found: dict[str, dict[str, Any]] = {}
    for entry in sorted(entries, key=lambda e: layout.handle(e["path"]) != e["handle"]):
        first = found.setdefault(entry["path"], {**entry, "models": []})
        first["models"].append(entry["model"])
    return sorted(found.values(), key=lambda e: (e["micros"], e["handle"]), reverse=True)[: context.RECENT_NOTES]

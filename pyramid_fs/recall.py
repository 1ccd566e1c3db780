"""Finds texts in all kinds of file, each file once, each text with all its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyramid_fs import kinds, layout, scan, times, views
from pyramid_fs.context import Hit, Hits
from pyramid_fs.errors import DiskError, UsageError
from pyramid_fs.notes import Card, Dated, File, Kind, Note, Shaped, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from pyramid_fs.census import Census
    from pyramid_fs.scan import Found

KINDS = ("note", *(str(kind) for kind in Kind if kind is not Kind.NOTE))
"""What a search can be narrowed to."""
LIMIT = 10
"""Hits that are given where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What narrows a search, and how much of the answer is wanted."""

    models: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tier: int | None = None
    since: str = ""
    """A date (the whole day, in the vault's zone) or a time."""
    until: str = ""
    """The same, its end included."""
    limit: int = LIMIT
    start: int = 0


def recall(census: Census, name: str, query: str, asked: Asked) -> Hits:
    """Search every file; raise UsageError for a query without anything to look for."""
    parsed = scan.parse(query)
    if not (parsed.words or parsed.phrases):
        raise UsageError("the query is empty: give the words to look for")
    if unknown := [kind for kind in asked.kinds if kind not in KINDS]:
        raise UsageError(f"there is no kind {unknown[0]!r}; there are: {', '.join(KINDS)}")
    if asked.limit < 1 or asked.start < 0:
        raise UsageError("the number of hits must be at least 1")
    census.refresh()
    wanted = _Filter(asked, census.vault.settings.zone)
    found: dict[str, Found] = {}
    files: dict[str, File] = {}
    embeds: dict[str, list[str]] = {}
    for file in _candidates(census):
        if isinstance(file, Note) and file.text_path:
            embeds.setdefault(file.text_path, []).append(file.path.split("/")[1])
            continue
        files[file.path] = file
    for path, file in files.items():
        if wanted.takes(file, _models(path, embeds)) and (hit := _match(census, parsed, file)):
            found[path] = hit
    weighed = scan.weighed(found, len(files))
    dated = ((hit, _sort_date(files[path]), path) for path, hit in weighed.items())
    ranked = scan.best(dated, asked.start + asked.limit)
    hits = [_hit(census, files[path], hit, _models(path, embeds)) for hit, _, path in ranked[asked.start :]]
    more = len(found) > asked.start + asked.limit
    notes = (f"The query has {parsed.cut} words more than are looked for.",) if parsed.cut else ()
    return Hits(name, query, tuple(hits), _next(query, asked) if more else None, notes)


def _candidates(census: Census) -> Iterator[File]:
    for model in census.models():
        yield from census.now(model).state.notes
    for top in (layout.MODELS, *layout.SHAPES):
        for file in census.values(top):
            if not isinstance(file, Note):  # those of the models above, tombstones heeded
                yield file


def _models(path: str, embeds: dict[str, list[str]]) -> tuple[str, ...]:
    parts = path.split("/")
    own = [parts[1]] if parts[0] == layout.MODELS else []
    return tuple(sorted({*own, *embeds.get(path, [])}))


class _Filter:
    def __init__(self, asked: Asked, zone: tzinfo) -> None:
        self._asked = asked
        try:
            self._since = times.parse(asked.since, zone) if asked.since else None
            self._until = times.day_end(asked.until, zone) if asked.until else None
        except ValueError as error:
            raise UsageError(f"--since and --until take dates like 2026-11-29: {error}") from None

    def takes(self, file: File, models: tuple[str, ...]) -> bool:
        asked = self._asked
        if asked.models and not set(asked.models) & set(models):
            return False
        kind = kind_of(file)
        if kind not in asked.kinds and (asked.kinds or kind == Kind.RETIRED):  # a retired text stands elsewhere again
            return False
        if asked.tier is not None and not (isinstance(file, Summary) and file.tier == asked.tier):
            return False
        first, last = _dates(file)
        if self._since and not (last and last >= self._since):
            return False
        return not (self._until and not (first and first <= self._until))


def kind_of(file: File) -> str:
    """Name the kind of a file, as `--kind` takes it."""
    if isinstance(file, Note):
        return "note"
    if isinstance(file, Summary):
        return "summary"
    return "card" if isinstance(file, Card) else str(file.kind)


def _dates(file: File) -> tuple[datetime | None, datetime | None]:
    if isinstance(file, Summary):
        return file.span_from, file.span_to
    if isinstance(file, (Note, Shaped)):
        return file.created, file.created
    return None, None


def _sort_date(file: File) -> str:
    last = _dates(file)[1]
    return times.spell(last) if last else ""


def _match(census: Census, query: scan.Query, file: File) -> Found | None:
    try:
        page = census.vault.page(file.path)
    except (FileNotFoundError, DiskError):
        return None
    # what a person wrote in front matter is found; the sums in a summary's are no text
    extra = "" if isinstance(file, Summary) and not file.problem else page.block
    return scan.match(query, page.body, extra)


def _hit(census: Census, file: File, found: Found, models: tuple[str, ...]) -> Hit:
    page = census.vault.page(file.path)
    text = kinds.note_text(page) or page.block.strip()
    last = _dates(file)[1]
    undated = isinstance(file, Note) and file.dated is Dated.FILE
    return Hit(
        handle=file.handle,
        path=file.path,
        kind=kind_of(file),
        models=models,
        tier=file.tier if isinstance(file, Summary) else None,
        created=times.day(last, census.vault.settings.zone) if last and not undated else "",
        text=scan.fragment(text, found.at),
        score=found.score,
    )


def _next(query: str, asked: Asked) -> str:
    words = query if len(query) <= 200 else f"{query[:200]}…"  # noqa: PLR2004
    filters = [f"-m {views.shell(model)}" for model in asked.models] + [f"--kind {kind}" for kind in asked.kinds]
    filters += [f"--tier {asked.tier}"] if asked.tier is not None else []
    filters += [f"--since {asked.since}"] if asked.since else []
    filters += [f"--until {asked.until}"] if asked.until else []
    quoted = "'" + words.replace("'", "'\\''") + "'"
    return " ".join(["pyramid recall", *filters, f"-n {asked.limit} --start {asked.start + asked.limit} --", quoted])

"""Finds texts in all kinds of file, each text once with all its models, the best first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import forget, indexing, kinds, layout, links, query, ranking, texts, times, words
from pyramid_fs.calls import SHELL
from pyramid_fs.context import Hit, Hits, Why
from pyramid_fs.errors import DiskError, UsageError
from pyramid_fs.format import Page
from pyramid_fs.index import LENGTHS
from pyramid_fs.notes import Dated, File, Kind, Note, Summary
from pyramid_fs.ranking import WEIGHTS, Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

    from pyramid_fs.calls import Calls
    from pyramid_fs.census import Census
    from pyramid_fs.indexing import Indexing
    from pyramid_fs.places import Places
    from pyramid_fs.query import Query
    from pyramid_fs.ranking import Ranked, Sought

KINDS = ("note", *(str(kind) for kind in Kind if kind is not Kind.NOTE))
"""What a search can be narrowed to."""
LIMIT = 10
"""Hits that are given where nobody says how many."""
BEGUN = 0.4
"""What a word counts that no text has, found as the beginning of another."""
SPELLED = 0.3
"""The same, found with one letter changed, left out, put in or swapped."""
ALIKE = 8
"""So many words are taken in the place of one that no text has."""
LONG = 5
"""Letters of a word that may be misspelled."""
TOGETHER = 400
"""Files that are asked for at once."""


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


class _Hit(NamedTuple):
    """A text that answers, before its words are shown."""

    file: File
    page: Page
    ranked: Ranked


class Search:
    """One search: what is asked, and all that is known of it at this moment."""

    def __init__(
        self,
        census: Census,
        indexing: Indexing,
        places: Places,
        text: str,
        asked: Asked,
        progress: Callable[[int, int], None],
    ) -> None:
        self.text = text
        self.query = _checked(query.parse(text), asked)
        self.asked, self._census, self._places = asked, census, places
        self.when = _When(asked, census.vault.settings.zone)
        census.refresh()
        for problem in census.shut:
            if problem.path == layout.MODELS:  # a vault that can't be read is no empty one
                raise DiskError(f"{census.vault.root / layout.MODELS} can't be read: {problem.reason}")
        indexing.bring_up(progress)
        places.fresh()
        units = chain(self.query.words, *(words.asked(phrase) for phrase in self.query.phrases))
        self.sources = indexing.sources([*chain.from_iterable(units), *self.query.without])
        self.mean, self.count = self.sources.mean, self.sources.count
        self.norms = _norms(self.mean)
        self.sought, self.cut = self._choose()
        self.terms: dict[str, float] = {}
        """What each term that was looked for counts."""
        self.columns = self._without_due([self._column(one) for one in self.sought])
        self.totals = ranking.totals(self.columns)
        self.barred = self._barred()
        self.allowed = self._allowed()

    # What is looked for

    def _choose(self) -> tuple[tuple[Sought, ...], int]:
        """Choose the words to look for: the query's, and those of each phrase by itself."""
        groups = [list(self.query.words), *(list(words.asked(phrase)) for phrase in self.query.phrases)]
        chosen = [ranking.sought(group, self.sources.having) for group in groups if group]
        unique = dict.fromkeys(one for asked in chosen for one in asked.sought)
        return tuple(unique), sum(asked.cut for asked in chosen) + self.query.cut

    def _column(self, sought: Sought) -> Column:
        """Score one word in every text that has it; where none has, the words that it may have meant."""
        made = ranking.united(list(map(self._given, sought.terms)), list(map(self._given, sought.parts)))
        if not made.found:
            made = ranking.united([self._given(one) for one in self._alike(sought.whole)], ())
        return made

    def _given(self, sought: tuple[str, float]) -> tuple[float, dict[int, float]]:
        """Give the most that a term is worth, and its worth in every text that has it."""
        term, weight = sought
        worth = weight * ranking.idf(self.count, self.sources.having(term))
        self.terms[term] = max(worth, self.terms.get(term, 0.0))
        return worth, self.sources.column(term, self.norms, worth)

    def _without_due(self, columns: list[Column]) -> list[Column]:
        """Leave out the words of summaries that still tell of what was forgotten: they answer nothing."""
        if not self._census.forgotten:
            return columns
        summaries = self.sources.facet(f"kind:{Kind.SUMMARY}") | self.sources.facet(f"kind:{Kind.RETIRED}")
        having = [number for number in summaries if any(number in column.found for column in columns)]
        due = {number for number, path in self._paths(having) if forget.is_due(self._census, path)}
        if not due:
            return columns
        return [
            replace(column, found={number: given for number, given in column.found.items() if number not in due})
            for column in columns
        ]

    def _paths(self, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield texts with their paths."""
        yield from ((number, self._census.catalog.odd[-1 - number]) for number in numbers if number < 0)
        for at in range(0, len(numbers), TOGETHER):
            some = numbers[at : at + TOGETHER]
            ask = f"SELECT id, path FROM files WHERE id IN ({','.join('?' * len(some))})"  # noqa: S608  (marks alone)
            yield from ((number, path) for number, path in self._census.catalog.ask(ask, *some))

    def _alike(self, term: str) -> Iterator[tuple[str, float]]:
        """Yield words that begin with one that no text has, else words that are spelled almost like it."""
        if len(term) < 3 or not term.isalpha():  # noqa: PLR2004
            return
        if begun := self.sources.begins(term, ALIKE):
            yield from ((other, BEGUN / len(begun) ** 0.5) for other in begun)
        elif len(term) >= LONG:
            near = [other for other in self.sources.begins(term[:2], 5_000) if _one_off(term, other)][:ALIKE]
            yield from ((other, SPELLED) for other in near)

    @property
    def looked_for(self) -> Iterator[tuple[Sought, Column]]:
        """Yield each word that is looked for, with what it gives."""
        return zip(self.sought, self.columns, strict=True)

    # What may answer

    def _barred(self) -> set[int]:
        """Give the texts that can't answer: a word is in them that must not be, or they are retired."""
        barred = set[int]()
        for term in self.query.without:
            barred |= self.sources.column(term, LENGTHS, 1.0).keys()
        if str(Kind.RETIRED) not in self.asked.kinds:  # a retired text stands elsewhere again
            barred |= self.sources.facet(f"kind:{Kind.RETIRED}")
        return barred

    def _allowed(self) -> set[int] | None:
        """Give the texts that the filters leave; None where there is no filter. Times of day are looked at later."""
        asked, facet = self.asked, self.sources.facet
        narrowed = []
        if asked.models:
            narrowed.append(set().union(*(facet(f"model:{m}") | self._embedded(m) for m in asked.models)))
        if asked.kinds:
            narrowed.append(set().union(*(facet(f"kind:{kind}") for kind in asked.kinds)))
        if asked.tier is not None:
            narrowed.append(facet(f"tier:{asked.tier}"))
        if self.when.narrows:
            undated = set().union(*(facet(f"kind:{kind}") for kind in KINDS[1:]))
            narrowed.append(undated | self._notes_of_time())
        return set.intersection(*narrowed) if narrowed else None

    def _embedded(self, model: str) -> set[int]:
        ask = "SELECT embed FROM files WHERE model = ? AND at IS NOT NULL AND embed != ''"
        return {self._places.shown(handle) for (handle,) in self._census.catalog.ask(ask, model)}

    def _notes_of_time(self) -> set[int]:
        ask = "SELECT id FROM files WHERE at IS NOT NULL AND at >= ? AND at <= ?"
        return {number for (number,) in self._census.catalog.ask(ask, *self.when.micros)}

    # The order

    def ranked(self) -> Iterator[Ranked]:
        """Yield what may answer, the best first: what the pyramid ranks, then the rest by its own words alone."""
        summaries = set[int]() if self._wants_summaries else self.sources.facet("kind:summary")
        aside = _Aside(self.barred, self.allowed, summaries)
        first = ranking.rank(self.columns, self._places.of, aside, self._named(), self._dated(), sums=self.totals)
        yield from self._settled([*first, *self._of_summaries(summaries, first)])
        shown = {one.doc for one in first}  # the rest is looked at only when somebody pages that far
        left = [number for number in self.totals if number not in shown and number not in aside]
        yield from self._settled([_by_words(number, self.totals[number]) for number in left])
        if self.query.phrases and not self.sought:
            yield from (_by_words(number, 0.0) for number in self._everything() if number not in aside)

    @property
    def _wants_summaries(self) -> bool:
        return self.asked.tier is not None or bool(self.asked.kinds)

    def _everything(self) -> list[int]:
        """List all texts, newest first: a phrase of signs alone is looked for in each."""
        return [number for (number,) in self._census.catalog.ask("SELECT id FROM files ORDER BY at DESC, path DESC")]

    def _of_summaries(self, summaries: set[int], notes: Sequence[Ranked]) -> list[Ranked]:
        """Give the summaries that say a word of the query which no note below them says.

        Any other is shown with its notes, as the place to read on, and is no rival to them.
        """
        said: dict[int, set[int]] = {}
        for one in notes if not self.query.is_strict else filter(self._answer, notes):
            has = {at for at, column in enumerate(self.columns) if one.doc in column.found}
            for place in self._places.of(one.doc):
                for group in place.groups:
                    if group.summary is not None:
                        said.setdefault(group.summary, set()).update(has)
        return [
            _by_words(number, self.totals[number])
            for number in summaries & self.totals.keys()
            if number not in self.barred
            and (self.allowed is None or number in self.allowed)
            and not {at for at, column in enumerate(self.columns) if number in column.found} <= said.get(number, set())
        ]

    def _named(self) -> list[set[int]]:
        found = [self.sources.facet(f"who:{one.whole}") for one in self.sought]
        return [notes for notes in found if notes]

    def _dated(self) -> Callable[[Any], float] | None:
        days = ranking.days(self.text)
        if not days:
            return None
        zone = self._census.vault.settings.zone

        def matches(number: Any) -> float:
            ask = "SELECT at FROM files WHERE id = ? AND at IS NOT NULL"
            found = self._census.catalog.ask(ask, number)
            date = times.into(times.from_micros(found[0][0]), zone).date() if found else None
            return float(date is not None and any(day.matches(date) for day in days))

        return matches

    def _settled(self, ranked: list[Ranked]) -> Iterator[Ranked]:
        """Yield in order of score, the newer of equals first."""
        ranked.sort(key=lambda one: -one.score)
        at = 0
        while at < len(ranked):
            end = at + 1
            while end < len(ranked) and ranked[end].score == ranked[at].score:
                end += 1
            yield from self._newest(ranked[at:end]) if end - at > 1 else ranked[at:end]
            at = end

    def _newest(self, ranked: list[Ranked]) -> list[Ranked]:
        rows: dict[Any, tuple[int, str]] = {}
        for at in range(0, len(ranked), TOGETHER):
            numbers = [one.doc for one in ranked[at : at + TOGETHER]]
            marks = ",".join("?" * len(numbers))
            ask = f"SELECT id, at, path FROM files WHERE id IN ({marks})"  # noqa: S608  (marks for values alone)
            rows |= {number: (when or 0, path) for number, when, path in self._census.catalog.ask(ask, *numbers)}
        return sorted(ranked, key=lambda one: rows.get(one.doc, (0, "")), reverse=True)

    # The answers

    def hits(self) -> Iterator[_Hit]:
        """Yield what answers, each text once."""
        shown = set[str]()
        for one in self.ranked():
            hit = self._answer(one)
            if hit and hit.file.path not in shown:
                shown.add(hit.file.path)
                yield hit

    def _answer(self, ranked: Ranked) -> _Hit | None:
        """Give a text that has its rank as a hit; None where a date, a phrase or a tombstone says that it is none."""
        file = self.file(ranked.doc)
        if file is None or not self.when.takes(file):
            return None
        try:
            page = forget.page(self._census, file.path)
        except (FileNotFoundError, DiskError):
            page = Page()
        holds = query.holds(self.query, (page.body, *texts.beside(file, page), *texts.typed(file, page)))
        return _Hit(file, page, ranked) if holds else None

    def file(self, number: Any) -> File | None:
        """Give the file that a number stands for: of an embed the note that it shows; None for one that is no text."""
        found = self._census.catalog.ask("SELECT value, path FROM files WHERE id = ?", number)
        if number < 0:
            odd = self._census.catalog.row(self._census.catalog.odd[-1 - number])
            found = [(odd.value, "")] if odd else []
        if not found or found[0][0] == "null" or self._census.is_shut(found[0][1]):
            return None
        file = indexing.decode_file(found[0][0])
        if isinstance(file, Note) and file.embed and (shown := self._places.shown(links.name(file.embed))):
            return self.file(shown)
        return None if isinstance(file, Note) and self._census.is_forgotten(file) else file

    def number(self, path: str) -> int:
        """Give a text's number; 0 where it has none."""
        found = self._census.catalog.ask("SELECT id FROM files WHERE path = ?", path)
        odd = self._census.catalog.odd
        return found[0][0] if found else -1 - odd.index(path) if path in odd else 0

    def reasons(self, asked_for: File, file: File, place: int | None) -> Iterator[str]:
        """Say what keeps a file from being a hit, or from being seen."""
        number = self.number(file.path)
        if asked_for.path != file.path:
            yield f"{asked_for.path} shows the text of {file.path}, which comes up once, with all its models."
        if place is not None:
            if place > self.asked.limit:
                yield f"Only the first {self.asked.limit} are shown unless -n says otherwise."
            return
        if self.query.is_blank:
            yield "The query has no word to look for."
        elif not any(number in column.found for column in self.columns) and self.sought:
            yield "No word that was looked for is in it."
        yield from self._left_out(file, number)
        yield from self._of_texts(file)

    def _left_out(self, file: File, number: int) -> Iterator[str]:
        if isinstance(file, Note) and self._census.is_forgotten(file):
            yield "It was forgotten: a tombstone in the ledger says so."
        if forget.is_due(self._census, file.path):
            yield "A note below it was forgotten: `pyramid advance` writes it again without that."
        if number in self.sources.facet(f"kind:{Kind.RETIRED}") and str(Kind.RETIRED) not in self.asked.kinds:
            yield "It is retired: its text stands elsewhere again. --kind retired finds it."
        elif number in self.barred:
            yield "A word is in it that must not be."
        if self.allowed is not None and number not in self.allowed:
            yield "The filters leave it out: model, kind, tier or dates."
        elif not self.when.takes(file):
            yield "It is not of the time that is asked for."

    def _of_texts(self, file: File) -> Iterator[str]:
        try:
            page = forget.page(self._census, file.path)
        except (FileNotFoundError, DiskError):
            yield "It can't be read."
            return
        if not query.holds(self.query, (page.body, *texts.beside(file, page), *texts.typed(file, page))):
            yield "A quoted phrase is not in it, or one that must not be is."
        elif isinstance(file, Summary) and not self._wants_summaries:
            yield "The notes below it say every word that it says, and are shown in its place. --kind summary finds it."

    def hit(self, found: _Hit) -> Hit:
        """Show a text that answers."""
        file, page, ranked = found
        last = texts.dates(file)[1]
        undated = isinstance(file, Note) and file.dated is Dated.FILE
        text = kinds.note_text(page) or page.block.strip()
        return Hit(
            handle=file.handle,
            path=file.path,
            kind=texts.kind_of(file),
            models=self.models(file),
            tier=file.tier if isinstance(file, Summary) else None,
            created=times.day(last, self._census.vault.settings.zone) if last and not undated else "",
            text=query.fragment(text, self.terms, self.query.phrases),
            score=ranked.score,
            source=file.source if isinstance(file, Note) else "",
            above=self._above(ranked.doc),
            parts=parts_of(ranked),
        )

    def models(self, file: File) -> tuple[str, ...]:
        """List the models that a text is in."""
        parts = file.path.split("/")
        own = [parts[1]] if parts[0] == layout.MODELS else []
        if not isinstance(file, Note):
            return tuple(own)
        return tuple(sorted({*own, *(model for _, model in self._places.embeds(links.name(file.handle)))}))

    def _above(self, number: Any) -> tuple[str, ...]:
        batches = [next(iter(place.groups), None) for place in self._places.of(number)]
        return tuple(layout.handle(str(batch.name)) for batch in batches if batch and batch.summary is not None)


class _Aside:
    """The texts that give score and take no rank."""

    def __init__(self, barred: set[int], allowed: set[int] | None, summaries: set[int]) -> None:
        self._barred, self._allowed, self._summaries = barred, allowed, summaries

    def __contains__(self, number: Any) -> bool:
        if number in self._summaries or number in self._barred:
            return True
        return self._allowed is not None and number not in self._allowed


class _When:
    """The dates that a search is narrowed to."""

    def __init__(self, asked: Asked, zone: tzinfo) -> None:
        try:
            self._since = times.parse(asked.since, zone) if asked.since else None
            self._until = times.day_end(asked.until, zone) if asked.until else None
        except ValueError as error:
            raise UsageError(f"since and until take dates like 2026-11-29: {error}") from None
        self.narrows = bool(self._since or self._until)

    @property
    def micros(self) -> tuple[int, int]:
        """The first and the last time, in microseconds."""
        first = times.micros(self._since) if self._since else -(2**62)
        return first, times.micros(self._until) if self._until else 2**62

    def takes(self, file: File) -> bool:
        """Whether a file is of that time; a summary is where its span touches it."""
        first, last = texts.dates(file)
        if self._since and not (last and last >= self._since):
            return False
        return not (self._until and not (first and first <= self._until))


@lru_cache(maxsize=4)
def _norms(mean: float) -> list[float]:
    """Give what BM25 adds to a frequency, by the byte of a text's length."""
    return [WEIGHTS.k1 * (1 - WEIGHTS.b + WEIGHTS.b * length / mean) for length in LENGTHS]


def _checked(parsed: Query, asked: Asked) -> Query:
    if unknown := [kind for kind in asked.kinds if kind not in KINDS]:
        raise UsageError(f"there is no kind {unknown[0][:80]!r}; there are: {', '.join(KINDS)}")
    if parsed.is_blank and (parsed.without or parsed.without_phrases):
        raise UsageError("the query says only what must not be there: give a word to look for")
    if asked.limit < 1 or asked.start < 0:
        raise UsageError("the number of hits must be at least 1, and the place to start at least 0")
    return parsed


def _one_off(word: str, other: str) -> bool:
    """Whether one letter was changed, left out, put in, or two were swapped."""
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    same = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    left, right = word[same:], other[same:]
    if len(word) == len(other):
        return left[1:] == right[1:] or (left[2:] == right[2:] and left[:2] == right[1::-1])
    return left[1:] == right or left == right[1:]


def _by_words(number: int, given: float) -> Ranked:
    own = round(given, ranking.EXACT)
    return ranking.Ranked(number, own, own, 0.0, 0.0, 0.0, 0.0, 0.0)


def parts_of(ranked: Ranked) -> dict[str, float]:
    """Name the parts of a score that are not nothing."""
    parts = ((name, round(part, ranking.EXACT)) for name, part in ranked._asdict().items())
    return {name: part for name, part in parts if name not in {"doc", "score"} and part}


def recall(
    census: Census,
    indexing: Indexing,
    places: Places,
    name: str,
    text: str,
    asked: Asked,
    progress: Callable[[int, int], None] = indexing.quiet,
    calls: Calls = SHELL,
) -> Hits:
    """Search every file; raise UsageError for a query without anything to look for."""
    if not text.strip():
        raise UsageError("the query is empty: give the words to look for")
    with census.lock:
        search = Search(census, indexing, places, text, asked, progress)
        found: list[_Hit] = []
        for hit in search.hits():
            found.append(hit)
            if len(found) > asked.start + asked.limit:
                break
        shown = tuple(search.hit(hit) for hit in found[asked.start : asked.start + asked.limit])
    more = len(found) > asked.start + asked.limit
    return Hits(
        name, text, shown, rest(text, asked, asked.start + asked.limit, calls) if more else None, tuple(_notes(search))
    )


def why(
    census: Census,
    indexing: Indexing,
    places: Places,
    name: str,
    handle: str,
    text: str,
    asked: Asked,
    progress: Callable[[int, int], None] = indexing.quiet,
) -> Why:
    """Say why a file comes up for a query, or why not; raise NoSuchHandle where there is no such file."""
    if not text.strip():
        raise UsageError("the query is empty: give the words to look for")
    with census.lock:
        search = Search(census, indexing, places, text, asked, progress)
        asked_for = census.find(handle)
        number = search.number(asked_for.path)
        file = search.file(number) or asked_for
        place, hit = next(
            ((at, hit) for at, hit in enumerate(search.hits(), 1) if hit.file.path == file.path), (None, None)
        )
        number = search.number(file.path)
        typed = {terms[0]: text[start:end] for start, end, terms in words.spans(text)}
        has = {typed.get(one.whole, one.whole): number in column.found for one, column in search.looked_for}
        return Why(
            vault=name,
            handle=file.handle,
            path=file.path,
            query=text,
            place=place,
            reasons=tuple(search.reasons(asked_for, file, place)),
            found=tuple(word for word, is_in in has.items() if is_in),
            lacking=tuple(word for word, is_in in has.items() if not is_in),
            parts=parts_of(hit.ranked) if hit else {},
            score=hit.ranked.score if hit else 0.0,
        )


def _notes(search: Search) -> Iterator[str]:
    if search.cut:
        yield f"The query has {search.cut} words more than are looked for."
    if search.query.is_blank:
        yield "Nothing was looked for: the query has no word, and no quoted phrase."


def rest(text: str, asked: Asked, start: int, calls: Calls) -> str:
    """Spell the call that shows the hits from the `start`-th on, counted from 0."""
    models, kinds, tier = asked.models, asked.kinds, asked.tier
    return calls.recall(text, models, kinds, tier, asked.since, asked.until, asked.limit, start)

"""`Memory`: one vault, one method a verb; the public API that the command line and the MCP server call."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

# what only some verbs use (advance, doctor, record, recall, the summarizers) is imported when they are called:
# together they cost as much as the rest of a short command
from pyramid_fs import census, context, files, given, layout, paging, pyramid, settings, times, trust, vault, watching
from pyramid_fs import format as pages
from pyramid_fs.answers import Answers
from pyramid_fs.catalog import Catalog
from pyramid_fs.changing import GROW_WAIT, Changing
from pyramid_fs.errors import DiskError, Locked, Problem, RefusedWrite, UsageError
from pyramid_fs.moving import Moving
from pyramid_fs.notes import Note, Summary
from pyramid_fs.paging import Face
from pyramid_fs.past import Past
from pyramid_fs.shaping import Shaping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyramid_fs import conflicts
    from pyramid_fs import recall as recalling
    from pyramid_fs import record as recording
    from pyramid_fs.advance import Effort, Grown
    from pyramid_fs.extractors import Extractor
    from pyramid_fs.indexing import Indexing
    from pyramid_fs.issue import Tools
    from pyramid_fs.meter import Meter, Metered
    from pyramid_fs.places import Places
    from pyramid_fs.summarizers import Call, Summarizer
    from pyramid_fs.trying import Trial
    from pyramid_fs.verify import Report

Progress: TypeAlias = "Callable[[int, int], None]"
FACE = Face()
"""The command line's."""
NOBODY = 'no summarizer is configured (kind = "none"): summaries wait for an agent to write them'
SPENT = "the calls of today that nobody asks for are used up (calls_per_day)"
NAMELESS = "note"
"""Stands in the name of a note whose first words must not: names go into links, listings and logs."""
SOME = 4
"""So many summaries a trigger, for growth that nobody asked for."""
BEAT, WATCH_LOCK = "watch.json", "watch.lock"
"""What a watcher keeps in the cache folder: its heartbeat, and the lock that it holds while it runs."""


def quiet(done: int, total: int) -> None:
    """Show no progress."""


def utc_now() -> datetime:
    """Give the time."""
    return datetime.now(UTC)


def random_suffix() -> str:
    """Draw the suffix of a new name."""
    from pyramid_fs import issue

    return issue.random_suffix()


@given.by_hints
class Memory(Shaping, Changing, Moving, Past):
    """One vault, open for reading and writing.

    Every answer is what the files say at that moment. Times are aware datetimes, names are models' folder names, and
    what goes wrong is a PyramidError whose text names the next step. Where a list of names is taken, one name will do;
    where a time is, a date or a text like 2026-11-29, in the vault's zone.

    >>> memory = Memory("~/Memory")                              # doctest: +SKIP
    >>> memory.record("Prefers the morning train.", ["user"])    # doctest: +SKIP
    """

    def __init__(
        self,
        root: str | Path,
        *,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], datetime] = utc_now,
        suffix: Callable[[], str] = random_suffix,
        summarizer: Summarizer | None = None,
        extractor: Extractor | None = None,
        face: Face = FACE,
    ) -> None:
        """Open the vault at `root`; raise NotAVault where there is none.

        `summarizer` and `extractor` go before the configured ones.

        `face` says how answers name the calls that go on from them, and how much one answer holds.
        """
        self.vault = vault.open_vault(given.path("root", root))
        self.config = read_config(environ, self.vault.root)
        self._clock, self._suffix = clock, suffix
        self._summarizer, self._extractor = summarizer, extractor
        self._cache = files.cache_folder(self.vault.root, environ)
        self._config_file = files.config_file(environ)
        self.census = census.Census(self.vault, Catalog(self._cache / "catalog.sqlite3", self.vault.settings.zone_name))
        self._face = face
        self._answers = Answers(self.census, face)
        self._searching: tuple[Indexing, Places] | None = None

    def close(self) -> None:
        """Let go of the catalog and the index."""
        self.census.catalog.close()
        if self._searching:
            self._searching[0].index.close()

    def __enter__(self) -> Self:
        """Open for a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close at the end of a `with` block."""
        self.close()

    @property
    def name(self) -> str:
        """The vault's path, as every answer names it."""
        return str(self.vault.root)

    @property
    def cache(self) -> Path:
        """The folder of all that is derived from the vault, and of the locks."""
        return self._cache

    @property
    def summarizer(self) -> Summarizer | None:
        """Who writes the summaries; None where an agent does."""
        from pyramid_fs.summarizers import configured

        return self._summarizer or configured(self.config.summarizer)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd in the settings."""
        return (*self.vault.settings.warnings, *self.config.warnings)

    def _tools(self, *, settled: bool = False, writes: bool = True) -> Tools:
        """Give what growth works with; where nothing is summarized, without summarizers, which take time to import."""
        from pyramid_fs import issue

        summarizer = self.summarizer if writes else None
        own = trust.templates(self.prompts) if writes else ("", "")
        tools = (self.census, summarizer or _NobodyWrites(), self._cache, self._clock, self._suffix)
        return issue.Tools(*tools, settled, own)

    @property
    def prompts(self) -> list[trust.Prompt]:
        """The vault's own prompts, each with whether it is trusted on this machine."""
        return trust.prompts(self.vault.root, self._config_file.with_name(trust.KEPT))

    def trust(self, shown: Sequence[trust.Prompt]) -> None:
        """Trust prompts of the vault on this machine, as a person has read them; a changed one is not trusted."""
        trust.trust(self.vault.root, self._config_file.with_name(trust.KEPT), shown)

    # Notes

    def record(
        self,
        text: str,
        models: Sequence[str],
        *,
        source: str = "",
        created: datetime | None = None,
        create: bool = False,
    ) -> recording.Recorded:
        """Write one note into one or several models; give its handle.

        An unknown model is an error that lists the closest names, and nothing is written, unless `create` is set.
        """
        from pyramid_fs import leaks
        from pyramid_fs import record as recording

        self.vault.write_allowed()
        recording.clean(text)
        if not models:
            raise UsageError(f"name the model that the note belongs to: {self._face.calls.record('NAME')}")
        names = self._known(models, create=create)
        found = leaks.find(text)
        made = recording.record(self._tools(), text, names, source, created, named=NAMELESS if found else "")
        warnings = tuple(
            f"this looks like a secret ({kind}), and notes are plain text: take it out of the file, and change it"
            for kind in found
        )
        return recording.Recorded(made.handle, made.path, made.models, made.repeat, (*made.warnings, *warnings))

    def _known(self, models: Sequence[str], *, create: bool = False) -> list[str]:
        wanted = list(dict.fromkeys(models))
        folder = self.vault.root / layout.MODELS
        if all(_is_plain(name) and _is_there(folder / name) for name in wanted):
            return wanted
        known = self.census.models()
        if create:
            for name in wanted:
                if not any(layout.same_name(name, other) for other in known):
                    self.create_model(name)
            known = self.census.models()
        return context.check_models(wanted, known, self._face.calls)

    def _named(self, models: Sequence[str]) -> list[str]:
        """Give the models' own spelling of names; raise NoSuchModel."""
        return context.check_models(models, self.census.models(), self._face.calls)

    # Reading

    def map(self, *, page: int = 1, as_of: str | datetime | None = None, from_dates: bool = False) -> context.Map:
        """Give the map: models and the newest notes. It loads nothing.

        `as_of` gives it as it was then, see `load`.
        """
        if as_of is not None:
            return self._map_as_of(as_of, page, from_dates=from_dates)
        return self._answers.map(page)

    def load(
        self,
        names: Sequence[str],
        *,
        chars: int | None = None,
        tier: str | None = None,
        page: int = 1,
        total: int | None = None,
        as_of: str | datetime | None = None,
        from_dates: bool = False,
    ) -> context.Loaded:
        """Give the views of models within a budget each, or a page of a whole `tier` (its number, `notes`, `tail`).

        `total` bounds the characters of the whole answer: models that don't fit are named with the call.

        `as_of` gives models as they were at a time or, for a date, at the end of that day in the vault's zone: from the
        newest commit of that time where the vault lies in git, else (or if `from_dates`) from the dates in its files
        alone. `as_of` of the answer says which. Raise UsageError for what is no date.
        """
        if as_of is not None:
            asked = {"chars": chars, "tier": tier, "page": page, "total": total}
            return self._load_as_of(names, as_of, from_dates=from_dates, **asked)
        return self._answers.load(names, chars=chars, tier=tier, page=page, total=total)

    def expand(self, handle: str, *, depth: int = 1, page: int = 1) -> context.Expanded:
        """Give what a handle leads to: a summary's sources, `depth` tiers down, or a note and the summaries of it."""
        return self._answers.expand(handle, depth, page)

    def recall(self, query: str, *, progress: Progress = quiet, **asked: Any) -> context.Hits:
        """Find texts, the best first; see `recall.Asked` for the filters.

        Brings the index up to date first; `progress` is told (texts taken in, of how many) where that takes long.
        """
        from pyramid_fs import recall

        wanted = self._asked(asked)
        calls = self._face.calls
        found = recall.recall(self.census, *self._search, self.name, query, wanted, progress, calls)
        return paging.hits_page(found, lambda at: recall.rest(query, wanted, wanted.start + at, calls), self._face)

    def why(self, handle: str, query: str, *, progress: Progress = quiet, **asked: Any) -> context.Why:
        """Say why a file comes up for a query, and where, or why it does not. Raise NoSuchHandle."""
        from pyramid_fs import recall

        return recall.why(self.census, *self._search, self.name, handle, query, self._asked(asked), progress)

    def _asked(self, asked: dict[str, Any]) -> recalling.Asked:
        from pyramid_fs import recall

        hints = recall.Asked.__annotations__ | {"since": "str | datetime", "until": "str | datetime"}
        held = given.held(hints, asked, self.vault.settings.zone)
        models = tuple(self._named(held["models"])) if held.get("models") else ()
        times_of = {name: times.spell(value) for name, value in held.items() if isinstance(value, datetime)}
        return recall.Asked(**{**held, **times_of, "models": models})

    def reindex(self, *, progress: Progress = quiet) -> int:
        """Build the index afresh from the files; give how many texts it holds. Raise Locked or DiskError."""
        from pyramid_fs import indexing

        self.census.refresh()
        index, _ = self._search
        if not index.bring_up(progress, indexing.LONG, afresh=True):
            where = self._cache
            raise DiskError(f"{where} can't be written, so there is no index: PYRAMID_CACHE_DIR names another folder")
        return self._index_counts()["indexed"] or 0

    @property
    def news(self) -> list[str]:
        """Give what a person should know of the index, once."""
        if not self._searching:
            return []
        news = self._searching[0].news[:]
        self._searching[0].news.clear()
        return news

    @property
    def _search(self) -> tuple[Indexing, Places]:
        if not self._searching:
            from pyramid_fs import indexing, places

            self._searching = indexing.Indexing(self.census, self._cache), places.Places(self.census.catalog)
        return self._searching

    # Growth

    def advance(
        self,
        models: Sequence[str] = (),
        *,
        limit: int | None = None,
        step: Callable[[Summary], None] = lambda _: None,
        told: Callable[[Call], None] = lambda _: None,
    ) -> context.Advanced:
        """Write the summaries that are due, now; `step` is told of each once it is on disk, `told` of slow calls.

        Raise SummarizerFailed only through `failed` in the answer: what was written stands.
        """
        self.vault.write_allowed()
        names = self._named(models) if models else self.census.models()
        grown = self._grow(names, self._tools(), self._effort(limit=limit, is_asked=True, told=told), step)
        return context.Advanced(
            vault=self.name,
            written=tuple(grown.written),
            planned=len(grown.written),
            retired=tuple(grown.retired),
            rewritten=tuple(grown.rewritten),
            failed=tuple(f"{model}: {reason}" for model, reason in grown.failed.items()),
            exit_code=grown.exit_code,
            held=tuple(f"{model}: {'; '.join(reasons)}" for model, reasons in grown.held.items()),
            busy=tuple(grown.busy),
        )

    def _grow(
        self, names: list[str], tools: Tools, effort: Effort, step: Callable[[Summary], None] = lambda _: None
    ) -> Grown:
        from pyramid_fs import advance

        grown = advance.Grown()
        if effort.limit is not None and effort.limit < 1:
            return grown
        for summary in advance.grow_all(tools, names, grown, effort):
            step(summary)
        return grown

    def _effort(self, *, limit: int | None, is_asked: bool, told: Callable[[Call], None] = lambda _: None) -> Effort:
        """Say how growth goes about it: a slow summarizer is called several times at once, and its calls are counted.

        Growth that somebody waits for tries again what failed; growth that nobody asked for comes back to it later,
        and has the fallback write what failed too often.
        """
        from pyramid_fs import advance
        from pyramid_fs.summarizers import Extractive

        chosen, summarizer = self.config.summarizer, self.summarizer
        if summarizer is None or not summarizer.slow:
            return advance.Effort(GROW_WAIT if is_asked else 0.0, limit)
        falls = not is_asked and chosen.fallback == "extractive"

        def spent(model: str, tier: int, call: Call) -> None:
            self._meter_call(model, tier, call, is_asked=is_asked)
            told(call)

        return advance.Effort(
            wait=GROW_WAIT if is_asked else 0.0,
            limit=limit,
            at_once=chosen.concurrency,
            tries=chosen.attempts if is_asked else 1,
            fallback=Extractive() if falls else None,
            fall_after=chosen.attempts,
            spent=spent,
            is_spent=(lambda: False) if is_asked else self._is_spent,
        )

    def _meter_call(self, model: str, tier: int, call: Call, *, is_asked: bool) -> None:
        self._meter.note(self._today(), model, tier, call, is_asked=is_asked)

    @property
    def _meter(self) -> Meter:
        from pyramid_fs.meter import Meter

        return Meter(self.cache)

    def grow_some(self, models: Sequence[str], limit: int = SOME) -> Grown:
        """Write a few summaries that nobody asked for: of settled notes, and not where one failed a moment ago."""
        from pyramid_fs import advance

        summarizer = self.summarizer
        if self.vault.settings.read_only or not self.config.background or not summarizer:
            return advance.Grown()
        tools = self._tools(settled=True)
        ready = [model for model in models if not advance.waits(tools, model)]
        if summarizer.slow:
            limit = min(limit, self.config.summarizer.calls_per_day - self._calls_today())
        return self._grow(ready, tools, self._effort(limit=limit, is_asked=False))

    def _today(self) -> str:
        return times.day(self._clock(), self.vault.settings.zone)

    def _calls_today(self) -> int:
        """Count today's calls of a slow summarizer that nobody asked for."""
        return sum(1 for call in self._meter.of(self._today()) if not call.is_asked)

    def _is_spent(self) -> bool:
        """Whether today's calls that nobody asks for are used up."""
        summarizer = self.summarizer
        return bool(summarizer and summarizer.slow) and self._calls_today() >= self.config.summarizer.calls_per_day

    def due_soon(self, models: Sequence[str]) -> bool:
        """Whether growth in the background would find anything to do."""
        from pyramid_fs import advance, forget

        tools = self._tools(settled=True)
        shape, now = self.vault.settings.shape, self._clock()
        found = [self.census.fresh(model) for model in models if not advance.waits(tools, model)]
        return any(
            next(pyramid.plan(m.state, shape, now, settled=True), None) or forget.planned(self.census, m)
            for m in found
            if not m.held
        )

    def look(self, models: Sequence[str] | None = None) -> None:
        """Bring catalog and index up to date with the disk, for some models (None: the whole vault)."""
        self.census.refresh(models)
        self._search[0].bring_up()

    def prospect(self, model: str) -> watching.Prospect:
        """Say whether `grow_some` would find anything to do in a model, as it was last looked at, and when it may."""
        from pyramid_fs import advance

        if self.vault.settings.read_only or not self.config.background or not self.summarizer:
            return watching.Prospect()
        if reason := advance.waits(self._tools(), model) or (SPENT if self._is_spent() else ""):
            return watching.Prospect(waits=reason)
        now = self.census.now(model)
        return (
            watching.Prospect() if now.held else watching.prospect(now.state, self.vault.settings.shape, self._clock())
        )

    def time(self, text: str) -> datetime:
        """Read a time or a date as the vault's time zone takes it; raise UsageError for anything else."""
        try:
            return times.parse(text, self.vault.settings.zone)
        except ValueError as error:
            raise UsageError(str(error)) from None

    def due(self, models: Sequence[str] = ()) -> list[pyramid.Batch]:
        """List the batches that `advance` would have summarized, roll-ups of planned summaries included."""
        names = self._named(models) if models else self.census.models()
        self.census.refresh(names)
        shape, now = self.vault.settings.shape, self._clock()
        found = [self.census.now(name) for name in names]
        return [batch for model in found if not model.held for batch in pyramid.plan(model.state, shape, now)]

    def next_rollup(self, models: Sequence[str] = ()) -> context.Rollup | None:
        """Hand out a batch that is due, for an agent that writes the summary itself; None where nothing is due."""
        from pyramid_fs import rollups

        self.vault.write_allowed()
        names = self._named(models) if models else self.census.models()
        self.census.refresh(names)
        due = rollups.next_due(self._tools(), names)
        return paging.rollup_page(due, self._face) if due else None

    def write_rollup(self, ticket: str, text: str, *, by: str = "") -> context.Written:
        """Store the summary of a batch that was handed out, once; `by` names the agent.

        Raise RefusedWrite where the batch was written or a source changed meanwhile, SummarizerFailed where the text
        is no summary; nothing is stored then.
        """
        from pyramid_fs import rollups

        self.vault.write_allowed()
        return rollups.hand_in(self._tools(), self.census.models(), ticket, text, by)

    def redo(self, handle: str) -> Iterator[Summary]:
        """Write a summary again, and those above it; yields each once it is on disk."""
        from pyramid_fs import issue, redo

        self.vault.write_allowed()
        self.census.refresh()
        model, known = self._active(handle)
        spent = self._effort(limit=None, is_asked=True).spent
        with files.locked(self._cache / issue.grow_lock(model), GROW_WAIT):
            yield from redo.redo(self._tools(), self.census.now(model), known, spent)

    def _active(self, handle: str) -> tuple[str, str]:
        """Find an active summary; give its model and its handle."""
        file = self.census.find(handle)
        if not isinstance(file, Summary):
            raise UsageError(f"{file.handle} is no summary; only summaries are written again")
        model = file.path.split("/")[1]
        if file.handle not in self.census.now(model).state.active:
            raise RefusedWrite(f"{file.handle} is not active: it is in no cover, and nothing was written")
        return model, file.handle

    def redo_many(
        self,
        handles: Sequence[str] = (),
        *,
        tier: int | None = None,
        models: Sequence[str] = (),
        drafts: bool = False,
        step: Callable[[Summary], None] = lambda _: None,
        told: Callable[[Call], None] = lambda _: None,
    ) -> context.Redone:
        """Write summaries again, and those above them: those named, or all of some models, of one tier, all drafts.

        `step` is told of each once it is on disk, `told` of slow calls. What failed is in the answer; the rest stands.
        """
        from pyramid_fs import redo

        self.vault.write_allowed()
        chosen, done = self._to_redo(handles, tier, models, drafts=drafts), redo.Redone()
        for summary in redo.redo_many(self._tools(), chosen, done, self._effort(limit=None, is_asked=True, told=told)):
            step(summary)
        return context.Redone(
            self.name, tuple(done.written), done.failed, done.left, exit_code=max(done.codes, default=0)
        )

    def redo_plan(
        self,
        handles: Sequence[str] = (),
        *,
        tier: int | None = None,
        models: Sequence[str] = (),
        drafts: bool = False,
    ) -> context.RedoPlan:
        """Say what `redo_many` would write, and what that would cost, going by this summarizer's calls so far."""
        from pyramid_fs import redo

        chosen = self._to_redo(handles, tier, models, drafts=drafts)
        states = {model: self.census.now(model).state for model in chosen}
        found = {model: redo.planned(states[model], chosen[model]) for model in chosen}
        every = [(states[model], handle) for model in found for handle in found[model]]
        writer = self.summarizer or _NobodyWrites()
        return context.RedoPlan(
            vault=self.name,
            summarizer=writer.name,
            summaries=tuple(handle for _, handle in every),
            chosen=sum(map(len, chosen.values())),
            chars=sum(redo.chars_of(state, handle) for state, handle in every),
            models={model: context.tiers_of(states[model], found[model]) for model in found},
            estimate=self.estimate(len(every)) if every and writer.slow else None,
        )

    def _to_redo(
        self, handles: Sequence[str], tier: int | None, models: Sequence[str], *, drafts: bool
    ) -> dict[str, list[str]]:
        """List the active summaries that are meant, by model."""
        if handles and (tier is not None or models or drafts):
            raise UsageError("name summaries, or say which by tier, model or drafts: not both")
        if not (handles or tier is not None or models or drafts):
            raise UsageError("name the summaries to write again, or say which: --tier N, -m MODEL or --drafts")
        writer = self.summarizer
        if writer is None:
            raise UsageError(f"{NOBODY}; `pyramid setup summarizer` sets up a model")
        if drafts and writer.draft:
            raise UsageError("no model is set up, and drafts wait for one: pyramid setup summarizer")
        names = self._named(models) if models else self.census.models()
        self.census.refresh(names if models else None)
        chosen: dict[str, list[str]] = {}
        for model, known in map(self._active, handles):
            chosen.setdefault(model, []).extend([] if known in chosen.get(model, ()) else [known])
        for model in () if handles else names:
            active = self.census.now(model).state.active.values()
            found = [s.handle for s in active if tier in {None, s.tier} and (s.draft or not drafts)]
            chosen |= {model: found} if found else {}
        return chosen

    def drafts(self, models: Sequence[str] = (), *, summarizer: Summarizer | None = None) -> int:
        """Count the summaries that a model, the configured one if none is given, could write again."""
        names = self._named(models) if models else self.census.models()
        self.census.refresh(names)
        return self._drafts(names, summarizer or self.summarizer)

    def _drafts(self, names: Sequence[str], writer: Summarizer | None) -> int:
        if writer is None or writer.draft:
            return 0
        return sum(summary.draft for name in names for summary in self.census.now(name).state.active.values())

    # Trying a summarizer

    def trial(self, model: str | None = None) -> Trial:
        """Give the batch that `try_summarizer` would take: the next due, else the newest summary's, else a sample."""
        from pyramid_fs import trying

        names = self._named([model]) if model else self.census.models()
        self.census.refresh(names)
        return trying.find(self._tools(), names)

    def try_summarizer(self, model: str | None = None, *, summarizer: Summarizer | None = None) -> context.Tried:
        """Have a summarizer, the configured one if none is given, write one batch, and store nothing of it.

        What fails is `reason` in the answer. A slow one's calls are metered, as they may have been paid for.
        """
        from pyramid_fs import trying

        writer = summarizer or self.summarizer
        if writer is None:
            raise UsageError(f"{NOBODY}; `pyramid setup summarizer` sets up a model")
        trial = self.trial(model)
        request = trial.request

        def spent(call: Call) -> None:
            if writer.slow:
                self._meter_call(request.model, request.tier, call, is_asked=True)

        return trying.tried(self.name, writer, trial, spent)

    def estimate(self, summaries: int, summarizer: Summarizer | None = None) -> context.Estimate | None:
        """Say what so many summaries would cost, going by a summarizer's calls so far; None where there are none."""
        from pyramid_fs import trying

        writer = summarizer or self.summarizer
        calls = [call for call in self._meter.all() if writer and call.by == writer.name]
        return trying.estimate(summaries, calls, self.config.summarizer.concurrency)

    # The state of things

    def status(self) -> context.Status:
        """Say what waits and why."""
        from pyramid_fs import doctor

        self.census.refresh()
        shape, clock = self.vault.settings.shape, self._clock()
        trouble = self.census.catalog.trouble()
        models = []
        spent = (f"{SPENT}: pyramid advance",) if self._is_spent() else ()
        for name in self.census.models():
            now = self.census.now(name)
            due = 0 if now.held else sum(1 for _ in pyramid.plan(now.state, shape, clock))
            failed = (context.failure(trouble[name][0], trouble[name][2]),) if name in trouble else ()
            reasons = (*context.waiting(now.held, now.state, now.card), *failed, *(spent if due else ()))
            counts = context.by_tier(now.state)
            models.append(
                context.ModelStatus(
                    name, len(now.state.notes), len(now.state.tail), counts, due, len(now.state.revised), reasons
                )
            )
        problems = tuple(doctor.problems(self.census))
        said = (
            *self.warnings,
            *trust.warnings(self.prompts),
            *context.drafts_line(self._drafts(self.census.models(), self.summarizer)),
        )
        records = self.records()
        return context.Status(
            self.name, tuple(models), problems, self._index_counts(), self._watcher(), said,
            len(records.pending), records.soon,
        )  # fmt: skip

    def stats(self, models: Sequence[str] = (), *, survival: bool = True) -> context.Stats:
        """Measure models (none named: all): lengths, calls, tokens, and what of the notes' facts survives.

        `survival` reads every note and summary. The calls are those made on this machine.
        """
        from pyramid_fs import bounds, stats

        names = self._named(models) if models else self.census.models()
        self.census.refresh(names)
        shape, config = self.vault.settings.shape, self.config.summarizer
        made = [call for call in self._meter.all() if not models or call.model in names]
        calls: dict[str, list[Metered]] = {}
        for call in made:
            calls.setdefault(call.model, []).append(call)
        with self.census.still(is_fresh=True):  # one look at the disk for all of them
            found = [self._stats_of(name, calls.get(name, []), survival=survival) for name in names]
        lengths, spent = stats.tiers([self.census.now(name).state for name in names], shape), stats.calls(made)
        survives = stats.in_sum([each.survival for each in found if each.survival]) if survival else None
        today = self._calls_today()
        is_spent = config.kind not in stats.WRITTEN_WITHOUT and today >= config.calls_per_day
        return context.Stats(
            vault=self.name,
            models=tuple(found),
            tiers=lengths,
            calls=spent,
            survival=survives,
            calls_today=today,
            calls_per_day=config.calls_per_day,
            tool_tokens=bounds.TOOLS,
            boot_tokens=self.boot_tokens(self._answers.whole_map()),
            advice=tuple(stats.advice(lengths, spent, survives, config.kind, is_spent=is_spent)),
        )

    def _stats_of(self, name: str, made: Sequence[Metered], *, survival: bool) -> context.ModelStats:
        from pyramid_fs import bounds, render, stats

        shown = self._answers.load([name])
        text, now = render.loaded_text(shown), self.census.now(name)
        return context.ModelStats(
            name=name,
            notes=len(now.state.notes),
            tail=len(now.state.tail),
            tiers=stats.tiers([now.state], self.vault.settings.shape),
            calls=stats.calls(made),
            view_chars=len(text),
            view_tokens=bounds.tokens(text),
            survival=stats.survival(self.census, now, shown.models[0]) if survival else None,
        )

    def _watcher(self) -> str | None:
        """Say how the watcher is; None where none has ever run."""
        try:
            beat = watching.read_beat(files.read(self.cache / BEAT).decode("utf-8", "replace"))
        except (FileNotFoundError, DiskError):
            return None
        try:
            with files.locked(self.cache / WATCH_LOCK, 0.0):
                is_held = False
        except (Locked, DiskError) as error:
            is_held = isinstance(error, Locked)
        return watching.said(beat, self._clock().timestamp(), is_held=is_held) if beat else None

    def _index_counts(self) -> dict[str, int | None]:
        """Count the files that hold a text, on disk and in the index (None: there is no index)."""
        from pyramid_fs import indexed

        ask = self.census.catalog.ask
        known = ask("SELECT count(*) FROM files WHERE value != 'null'")[0][0] + len(self.census.catalog.odd)
        meta = indexed.read(self._cache / "index", indexed.key(self.vault.settings.zone_name))
        token = ask("SELECT token FROM revs WHERE rev = ?", meta.rev) if meta else []
        if meta is None or meta.birth != self.census.catalog.birth or meta.token != (token[0][0] if token else ""):
            return {"files": known, "indexed": None}
        lacking = ask("SELECT count(*) FROM files WHERE value != 'null' AND rev > ?", meta.rev)[0][0]
        return {"files": known, "indexed": known - lacking - len(self.census.catalog.odd)}

    def verify(self) -> Report:
        """Prove from the files alone that each note is counted exactly once."""
        from pyramid_fs import verify

        return verify.verify(self.vault.root, self.vault.settings.zone)

    def doctor(self) -> list[Problem]:
        """List the files that a person should look at, with the fix for each."""
        from pyramid_fs import doctor

        self.census.refresh()
        return doctor.examine(self.census)

    def hints(self) -> list[Problem]:
        """List what is no problem and may not be meant as it is: notes that look like copies of others."""
        from pyramid_fs import doctor

        self.census.refresh()
        return doctor.hints(self.census)

    def conflict(self, copy: str) -> conflicts.Conflict:
        """Find a conflict copy by its path or name; raise NoSuchHandle for what is none."""
        from pyramid_fs import conflicts

        self.census.refresh()
        return conflicts.find(self.vault.root, copy, self._all_notes())

    def conflict_copies(self) -> list[conflicts.Conflict]:
        """List the copies that sync tools and git left beside files."""
        from pyramid_fs import conflicts

        return list(conflicts.listing(self.vault.root))

    def resolve(self, copy: conflicts.Conflict, side: str) -> list[str]:
        """Take a side of a conflict copy (`original`, `copy` or `both`); say what was done. The other is in the trash.

        Raise RefusedWrite where both can't stand, or a file changed meanwhile.
        """
        from pyramid_fs import conflicts

        self.vault.write_allowed()
        sides = {str(each): each for each in conflicts.Side}
        if side not in sides:
            raise UsageError(f"{side[:40]!r} is no side of a conflict; there are: {', '.join(sides)}")
        return conflicts.take(self.vault.root, copy, sides[side], self._suffix)

    def _all_notes(self) -> list[Note]:
        return [note for model in self.census.models() for note in self.census.now(model).state.notes]


class _NobodyWrites:
    """Stands where an agent writes the summaries; asked for one, it says so."""

    name, draft, takes, slow = "none", False, 0, False

    def summarize(self, _: object) -> str:
        raise UsageError(NOBODY)


def read_config(environ: Mapping[str, str], root: Path | None) -> settings.Config:
    """Read the user's `config.toml`; the defaults where there is none."""
    path = files.config_file(environ)
    try:
        text, _ = pages.decode(files.read(path))
    except FileNotFoundError:
        return settings.Config()
    return settings.read_person(text, str(path), str(root or ""), str(Path.home()))


def _is_plain(name: str) -> bool:
    return bool(name) and "/" not in name and "\\" not in name and not layout.is_tool_folder(name)


def _is_there(folder: Path) -> bool:
    try:
        return files.is_own_folder(folder)
    except OSError:  # longer than any name can be
        return False

"""What each answer contains: the map, a loaded model, what a handle leads to, the state of things; as plain values."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyramid_fs import pyramid, views
from pyramid_fs.calls import SHELL
from pyramid_fs.errors import NoSuchModel, Problem
from pyramid_fs.notes import Dated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from pyramid_fs.calls import Calls
    from pyramid_fs.notes import Card
    from pyramid_fs.pyramid import State
    from pyramid_fs.views import Entry, Left

RECENT_NOTES = 30
RECENT_CHARS = 6_000
"""The map's newest notes over all models: so many, or so many characters, and at least one."""
CLOSEST = 5
"""So many names are offered for one that is not there."""


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One model on the map."""

    name: str
    description: str
    notes: int
    tail: int
    summaries: dict[str, int]
    """Active summaries by tier; the keys are text, as in JSON."""
    span_from: str
    span_to: str
    """First and last day; empty for a model without notes."""
    waiting: tuple[str, ...]
    """Why it does not grow, or what needs a person."""
    view_chars: int
    """Size of what `load` shows of it."""
    view_tokens: int
    """What that costs a model to read, about."""
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """An entry with its text."""

    handle: str
    path: str
    models: tuple[str, ...]
    tier: int
    notes: int
    created: str
    """The last day of a summary's span, the date of a note; empty where only the file's time is known."""
    span_from: str
    span_to: str
    text: str
    again: bool = False
    revised: bool = False
    draft: bool = False
    source: str = ""
    problem: str = ""
    under: str = ""
    """Below a summary that was expanded: the summary that it is a source of."""


@dataclass(frozen=True, slots=True)
class Map:
    """The index of models and the newest notes; it loads nothing."""

    vault: str
    models: tuple[ModelLine, ...]
    archived: tuple[str, ...]
    recent: tuple[Text, ...]
    left: tuple[Left, ...] = ()
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model's view with its texts."""

    name: str
    description: str
    notes: int
    covered: int
    tail: int
    span_from: str
    span_to: str
    summaries: tuple[Text, ...]
    recent: tuple[Text, ...]
    left: tuple[Left, ...]
    waiting: tuple[str, ...] = ()
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """What `load` answers."""

    vault: str
    models: tuple[LoadedModel, ...]
    left: tuple[str, ...] = ()
    """Whole models that did not fit, each as the call that shows it."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """What a handle leads to: sources below a summary, summaries above a note."""

    vault: str
    handle: str
    kind: str
    models: tuple[str, ...]
    text: Text
    above: tuple[str, ...]
    """Active summaries that hold it, lowest first."""
    below: tuple[Text, ...]
    missing: tuple[str, ...]
    """Sources that are gone."""
    left: tuple[Left, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model in `status`."""

    name: str
    notes: int
    tail: int
    summaries: dict[str, int]
    due: int
    """Summaries that `advance` would write now."""
    revised: int
    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """What waits and why."""

    vault: str
    models: tuple[ModelStatus, ...]
    problems: tuple[Problem, ...]
    index: dict[str, int | None]
    watcher: str | None = None
    warnings: tuple[str, ...] = ()
    pending: int = 0
    """Records that wait for a person."""
    soon: int = 0
    """So many of them will be pruned within a week."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One file that recall found."""

    handle: str
    path: str
    kind: str
    models: tuple[str, ...]
    tier: int | None
    created: str
    text: str
    score: float
    source: str = ""
    """Where a note says that it comes from."""
    above: tuple[str, ...] = ()
    """The summary that holds it in each model: what to expand for what stands around it."""
    parts: dict[str, float] = field(default_factory=dict)
    """What the score is made of."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a file came up for a query, or why not."""

    vault: str
    handle: str
    path: str
    query: str
    place: int | None
    """Its place among the hits, from 1; None where it is none."""
    reasons: tuple[str, ...]
    found: tuple[str, ...]
    """Words of the query that stand in it."""
    lacking: tuple[str, ...]
    parts: dict[str, float] = field(default_factory=dict)
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hits:
    """What recall answers: fragments."""

    vault: str
    query: str
    hits: tuple[Hit, ...]
    next: str | None
    """The call for more; None where there are none."""
    notes: tuple[str, ...] = ()
    """What was cut from the query, or could not be searched."""


@dataclass(frozen=True, slots=True)
class Advanced:
    """What `advance` did."""

    vault: str
    written: tuple[str, ...]
    """Handles of the summaries, in their order."""
    planned: int
    """So many were due when it began."""
    retired: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    """Models and reasons: `alice: …`."""
    rewritten: tuple[str, ...] = ()
    """Handles of summaries from which a forgotten note was taken out."""
    exit_code: int = 0
    """Of the gravest failure."""
    held: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()
    """Models that another process was growing all the time."""
    batches: tuple[dict[str, object], ...] = ()
    """With `--dry-run`: what would be written."""


@dataclass(frozen=True, slots=True)
class RollupSource:
    """One source of a summary that is to be written."""

    handle: str
    date: str
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Rollup:
    """A batch that is due: what to write, from what, and the ticket to hand it in with."""

    ticket: str
    model: str
    tier: int
    target: int
    """Characters."""
    rules: str
    items: tuple[RollupSource, ...]
    """Oldest first: notes at tier 0, summaries above it."""
    more: int
    """So many batches are due after this one, as far as can be told now."""
    left: tuple[Left, ...] = ()
    """Sources too long to stand here, with the call that shows each: they belong to the batch."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of handing in the text of a batch."""

    handle: str
    path: str
    model: str
    tier: int
    chars: int
    more: int


def by_tier(state: State) -> dict[str, int]:
    """Count the active summaries by tier."""
    counts: dict[str, int] = {}
    for summary in state.active.values():
        counts[str(summary.tier)] = counts.get(str(summary.tier), 0) + 1
    return dict(sorted(counts.items(), key=lambda item: int(item[0])))


def span(state: State) -> tuple[datetime, datetime] | None:
    """Give the first and the last date that the vault keeps of a model's notes; None where there is none.

    A modification time is none: git does not keep it, and a clone must give the same answer.
    """
    cover = state.cover
    kept = (n.created for n in state.tail if n.dated is not Dated.FILE or n.path in state.revised)
    dates = [*(s.span_from for s in cover), *(s.span_to for s in cover), *kept]
    return (min(dates), max(dates)) if dates else None


def newest(states: Iterable[State], count: int = RECENT_NOTES) -> list[Entry]:
    """Give the newest notes over several models, newest first, one entry for a text in several."""
    found: dict[str, Entry] = {}
    for state in states:
        for note in sorted(state.notes, key=pyramid.by_age)[-count:]:
            entry = views.of_note(note, state)
            found.setdefault(entry.path, entry)
    return sorted(found.values(), key=lambda e: (e.span_to, e.handle), reverse=True)[:count]


def waiting(held: Sequence[str], state: State, card: Card | None) -> tuple[str, ...]:
    """Say why a model does not grow and what in it needs a person."""
    problems = [note for note in state.notes if note.problem]
    lines = [*held]
    if problems:
        lines.append(
            f"{len(problems)} files need a person: pyramid doctor" if len(problems) > 1 else _one(problems[0].handle)
        )
    if card and card.problem:
        lines.append(f"its card can't be read: {card.problem}")
    return tuple(lines)


def failure(tries: int, reason: str) -> str:
    """Say that the last summary of a model failed."""
    return f"the last summary failed: {reason} (tried {tries} times)"


def _one(handle: str) -> str:
    return f"{handle} needs a person: pyramid doctor"


def check_models(wanted: Sequence[str], known: Sequence[str], calls: Calls = SHELL) -> list[str]:
    """Give the models' own spelling of the names, or raise NoSuchModel that lists the closest."""
    spelled = {unicodedata.normalize("NFC", name): name for name in known}
    unknown = [name for name in wanted if unicodedata.normalize("NFC", name) not in spelled]
    if not unknown:
        return list(dict.fromkeys(spelled[unicodedata.normalize("NFC", name)] for name in wanted))
    what = ", ".join(repr(name[:80]) for name in unknown[:CLOSEST])
    close = list(dict.fromkeys(near for name in unknown for near in closest(name, known)))
    if close:
        hint = f"the closest: {', '.join(close[:CLOSEST])}"
    elif known:
        hint = f"there are: {', '.join(list(known)[:CLOSEST])}" + (
            f" and more, see `{calls.map}`" if len(known) > CLOSEST else ""
        )
    else:
        hint = f"there is none yet; `{calls.make_model}` makes one"
    raise NoSuchModel(f"no model {what}; {hint}")


def closest(name: str, known: Sequence[str]) -> list[str]:
    """List the names that a mistyped one may have meant."""
    folded = {other.casefold(): other for other in known}
    import difflib  # for a mistyped name alone

    near = difflib.get_close_matches(name.casefold()[:80], folded, CLOSEST, 0.5)
    part = [low for low in folded if len(name) > 2 and (name.casefold() in low or low in name.casefold())]  # noqa: PLR2004
    return [folded[low] for low in dict.fromkeys([*near, *part])][:CLOSEST]


@dataclass(frozen=True, slots=True)
class TierStats:
    """The active summaries of one tier: their lengths in characters, and who wrote them."""

    summaries: int
    target: int
    """What the vault's settings ask for now."""
    median: int
    shortest: int
    longest: int
    drafts: int
    below: int
    """Characters of the notes below them, of the versions that are still there."""
    by: dict[str, int]
    """Summaries by summarizer; empty text where none is named."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of one summarizer on this machine, failed ones included."""

    calls: int
    failed: int
    chars_in: int
    chars_out: int
    tokens_in: int | None
    """None where no call told."""
    tokens_out: int | None
    seconds: float
    seconds_a_call: float


@dataclass(frozen=True, slots=True)
class Kept:
    """How many facts there are and how many of them a text holds, summed over texts."""

    facts: int
    held: int
    share: float | None
    """Of the facts; None where there are none."""
    kinds: dict[str, tuple[int, int]]
    """(facts, held) of `names`, `numbers` and `dates`."""


@dataclass(frozen=True, slots=True)
class Survival:
    """What of the notes' names, numbers and dates is left."""

    tiers: dict[str, Kept]
    """Of the notes below each summary, in that summary."""
    view: Kept
    """Of all the notes, in what `load` shows."""
    unread: int
    """Versions that were summarized and can't be read any more: they are left out."""


@dataclass(frozen=True, slots=True)
class ModelStats:
    """One model in `stats`; tiers by their number as text, as in JSON."""

    name: str
    notes: int
    tail: int
    tiers: dict[str, TierStats]
    calls: dict[str, Spent]
    """By summarizer."""
    view_chars: int
    """Of what `load` prints."""
    view_tokens: int
    survival: Survival | None
    """None where it was not asked for."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Lengths, costs, and what survives at each tier."""

    vault: str
    models: tuple[ModelStats, ...]
    tiers: dict[str, TierStats]
    """In sum, like the next two."""
    calls: dict[str, Spent]
    survival: Survival | None
    calls_today: int
    """Those that nobody asked for, of all models."""
    calls_per_day: int
    """The most of them that the settings allow."""
    tool_tokens: int
    """What the server's list of tools costs, estimated like all tokens here."""
    boot_tokens: int
    """What a session's start costs."""
    advice: tuple[str, ...] = ()
    """What to do about it, a line each."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying a summarizer on one batch; nothing was stored."""

    vault: str
    summarizer: str
    what: str
    """Which batch it was."""
    model: str
    tier: int
    sources: int
    target: int
    """Characters."""
    text: str
    """As it would be stored; as it came where it would not be."""
    chars: int
    calls: int
    chars_in: int
    """Of the sources, of all calls."""
    chars_out: int
    tokens_in: int | None
    """None where it was not said."""
    tokens_out: int | None
    seconds: float
    passed: tuple[str, ...]
    """The checks that the text passed."""
    reason: str = ""
    """Why it would not be stored; empty where it would."""
    unsupported: tuple[str, ...] = ()
    """Numbers, dates and names in it that stand in no source."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a number of summaries would cost, going by summaries that were written."""

    summaries: int
    seconds: float
    """From the first to the last, so many at once."""
    at_once: int
    tokens_in: int | None
    """None where the summarizer does not count them."""
    tokens_out: int | None
    measured: int
    """Summaries that it goes by."""


@dataclass(frozen=True, slots=True)
class RedoPlan:
    """What a redo of many would write."""

    vault: str
    summarizer: str
    summaries: tuple[str, ...]
    """Handles, lowest tier first in each model: those that were chosen, and those above them."""
    chosen: int
    chars: int
    """Of the sources."""
    models: dict[str, dict[str, int]]
    """Summaries by model and tier."""
    estimate: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Redone:
    """What a redo of many did."""

    vault: str
    written: tuple[str, ...]
    """Handles, in their order."""
    failed: dict[str, str]
    """Handles and reasons; the old text of each stands."""
    left: int = 0
    """So many were not begun, as too many failed in a row."""
    exit_code: int = 0
    """Of the gravest failure."""


def tiers_of(state: State, handles: Iterable[str]) -> dict[str, int]:
    """Count active summaries by tier."""
    counts: dict[str, int] = {}
    for handle in handles:
        tier = str(state.active[handle].tier)
        counts[tier] = counts.get(tier, 0) + 1
    return counts


def drafts_line(count: int) -> tuple[str, ...]:
    """Offer to have drafts written by the model that is set up; nothing where there are none."""
    drafts = "1 summary is a draft" if count == 1 else f"{count:,} summaries are drafts"
    return (f"{drafts} that the model set up here could write again: pyramid redo --drafts",) if count else ()

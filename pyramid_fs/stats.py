"""Measures a pyramid: lengths and writers by tier, calls, and what of the notes' facts survives in the summaries."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from pyramid_fs import facts, kinds
from pyramid_fs import format as pages
from pyramid_fs.context import Kept, Spent, Survival, TierStats
from pyramid_fs.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyramid_fs.census import Census, ModelNow
    from pyramid_fs.context import LoadedModel
    from pyramid_fs.facts import Fact, Names, Told
    from pyramid_fs.meter import Metered
    from pyramid_fs.notes import Note, Summary
    from pyramid_fs.pyramid import Shape, State

WRITTEN_WITHOUT = frozenset({"extractive", "none"})
"""Kinds of summarizer that call no model."""
_BETWEEN = "\n—\n"
"""Between texts, so that no date or number runs from one into the next."""


# Lengths


def tiers(states: Sequence[State], shape: Shape) -> dict[str, TierStats]:
    """Measure the active summaries of some models by tier."""
    found: dict[int, list[tuple[State, Summary]]] = {}
    for state in states:
        for summary in state.active.values():
            found.setdefault(summary.tier, []).append((state, summary))
    below = {state.model: _below(state) for state in states}
    return {
        str(tier): _tier(
            [summary for _, summary in found[tier]],
            shape.target(tier),
            sum(below[state.model][summary.handle] for state, summary in found[tier]),
        )
        for tier in sorted(found)
    }


def _tier(summaries: Sequence[Summary], target: int, below: int) -> TierStats:
    lengths = [summary.chars for summary in summaries]
    return TierStats(
        summaries=len(summaries),
        target=target,
        median=round(median(lengths)),
        shortest=min(lengths),
        longest=max(lengths),
        drafts=sum(summary.draft for summary in summaries),
        below=below,
        by=dict(Counter(summary.summarizer for summary in summaries).most_common()),
    )


def _below(state: State) -> dict[str, int]:
    """Count the characters of the notes below each summary, of the versions that are still there."""
    notes = {note.path: note for note in state.notes}
    found: dict[str, int] = {}
    for summary in state.active.values():  # from tier 0 upwards
        if summary.tier:
            found[summary.handle] = sum(found[handle] for handle in state.sources[summary.handle])
        else:
            found[summary.handle] = sum(note.chars for note in _versions(state, summary, notes) if note)
    return found


def _versions(state: State, summary: Summary, notes: Mapping[str, Note]) -> Iterator[Note | None]:
    """Yield the note of each source of a tier-0 summary; None where it is not what was summarized any more."""
    for path, source in zip(state.sources[summary.handle], summary.sources, strict=True):
        note = notes.get(path)
        yield note if note and note.digest == source.digest else None


# Calls


def calls(made: Iterable[Metered]) -> dict[str, Spent]:
    """Add up calls by summarizer."""
    found: dict[str, list[Metered]] = {}
    for call in made:
        found.setdefault(call.by, []).append(call)
    return {by: _spent(found[by]) for by in sorted(found)}


def _spent(made: Sequence[Metered]) -> Spent:
    seconds = sum(call.seconds for call in made)
    return Spent(
        calls=len(made),
        failed=sum(bool(call.failed) for call in made),
        chars_in=sum(call.chars_in for call in made),
        chars_out=sum(call.chars_out for call in made),
        tokens_in=_sum([call.tokens_in for call in made]),
        tokens_out=_sum([call.tokens_out for call in made]),
        seconds=round(seconds, 1),
        seconds_a_call=round(seconds / len(made), 2),
    )


def _sum(tokens: Sequence[int | None]) -> int | None:
    known = [count for count in tokens if count is not None]
    return sum(known) if known else None


# Facts


def survival(census: Census, now: ModelNow, shown: LoadedModel) -> Survival:
    """Measure what of a model's facts its summaries hold, and what `load` shows of it, headers left aside.

    A summary is measured against the versions of notes that it was made from, as far as they can be read.
    """
    state, names = now.state, facts.Names()
    told, unread = _told_below(census, state, names)
    tail = [names.told(_text(census, note) or "") for note in state.tail]
    known = names.known
    below = _facts_below(state, {handle: each.with_names(known) for handle, each in told.items()})
    everything = frozenset().union(*(below[handle] for handle in told), *(each.with_names(known) for each in tail))
    view = facts.held(everything, _BETWEEN.join(text.text for text in (*shown.summaries, *shown.recent)))
    return Survival(_kept_by_tier(census, state, below), _kept([(everything, view)]), unread)


def _told_below(census: Census, state: State, names: Names) -> tuple[dict[str, Told], int]:
    """Read what the notes of each tier-0 summary tell; count the versions that can't be read."""
    notes = {note.path: note for note in state.notes}
    told: dict[str, Told] = {}
    unread = 0
    for summary in (each for each in state.active.values() if not each.tier):
        texts = [_text(census, note) for note in _versions(state, summary, notes)]
        told[summary.handle] = names.told(_BETWEEN.join(text for text in texts if text is not None))
        unread += texts.count(None)
    return told, unread


def _kept_by_tier(census: Census, state: State, below: Mapping[str, frozenset[Fact]]) -> dict[str, Kept]:
    pairs: dict[str, list[tuple[frozenset[Fact], frozenset[Fact]]]] = {}
    for handle, summary in state.active.items():
        text = _page_text(census, summary.path, summary.digest)
        if text is not None:  # a person may have changed it since it was listed
            pairs.setdefault(str(summary.tier), []).append((below[handle], facts.held(below[handle], text)))
    return {tier: _kept(each) for tier, each in pairs.items()}


def _facts_below(state: State, lowest: Mapping[str, frozenset[Fact]]) -> dict[str, frozenset[Fact]]:
    found = dict(lowest)
    for summary in state.active.values():  # from tier 0 upwards
        if summary.tier:
            found[summary.handle] = frozenset().union(*(found[handle] for handle in state.sources[summary.handle]))
    return found


def _text(census: Census, note: Note | None) -> str | None:
    return _page_text(census, note.text_path or note.path, note.digest) if note else None


def _page_text(census: Census, path: str, digest: str) -> str | None:
    """Read the text of a file; None where it is not the version that is meant."""
    try:
        page = census.vault.page(path)
    except (FileNotFoundError, DiskError):
        return None
    return kinds.note_text(page) if pages.digest(page.body) == digest else None


def _kept(pairs: Sequence[tuple[frozenset[Fact], frozenset[Fact]]]) -> Kept:
    total = Counter(fact.kind for known, _ in pairs for fact in known)
    held = Counter(fact.kind for _, kept in pairs for fact in kept)
    return _share({kind: (total[kind], held[kind]) for kind in facts.KINDS})


def _share(counts: dict[str, tuple[int, int]]) -> Kept:
    known, held = (sum(count[at] for count in counts.values()) for at in (0, 1))
    return Kept(known, held, round(held / known, 4) if known else None, counts)


def in_sum(found: Sequence[Survival]) -> Survival:
    """Add up what survives in several models."""
    names = sorted({tier for each in found for tier in each.tiers}, key=int)
    per_tier = {tier: _added([each.tiers[tier] for each in found if tier in each.tiers]) for tier in names}
    return Survival(per_tier, _added([each.view for each in found]), sum(each.unread for each in found))


def _added(parts: Sequence[Kept]) -> Kept:
    kinds_of = {
        kind: (sum(part.kinds[kind][0] for part in parts), sum(part.kinds[kind][1] for part in parts))
        for kind in facts.KINDS
    }
    return _share(kinds_of)


# What to do


def advice(
    lengths: Mapping[str, TierStats],
    spent: Mapping[str, Spent],
    survives: Survival | None,
    kind: str,
    *,
    is_spent: bool,
) -> Iterator[str]:
    """Say what a person may do about the figures; `kind` is that of the summarizer in the settings."""
    drafts = sum(tier.drafts for tier in lengths.values())
    if drafts:
        when = " once a model is set up" if kind in WRITTEN_WITHOUT else ""
        yield f"{_count(drafts, 'draft')}: `pyramid redo --drafts` writes {_them(drafts)} again{when}"
    failed, made = (sum(getattr(each, name) for each in spent.values()) for name in ("failed", "calls"))
    if failed:
        yield f"{failed} of {_count(made, 'call')} failed: `pyramid status` says what waits and why"
    if is_spent:
        yield "the calls of today are used up: `pyramid advance` makes more all the same, or raise calls_per_day"
    if survives and survives.unread:
        count = survives.unread
        changed = "is gone or has changed since it was" if count == 1 else "are gone or have changed since they were"
        yield f"{_count(count, 'note')} {changed} summarized: left out of what survives"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _them(number: int) -> str:
    return "it" if number == 1 else "them"

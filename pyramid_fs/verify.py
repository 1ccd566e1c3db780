"""The proof: recomputes every sum from the files alone, with nothing of what grows the pyramid, and names what is off."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pyramid_fs import files, layout, links, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, NotAVault, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo
    from pathlib import Path

_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_DIGEST = re.compile(rf"[0-9a-f]{{{pages.DIGEST_CHARS}}}")
_SUMMARY_NAME = re.compile(r"models/[^/]+/(tier-\d{1,3})/[^/]+-t(\d{1,3})-\d{1,9}-[0-9a-z]{4}\.md")


class ModelSum(NamedTuple):
    """One model's sum: notes = covered + tail in current versions; then what else active tier-0 summaries name.

    `revised` are notes of the tail of which an older version is covered, `history` all older versions, `absent` sources
    that a cloud placeholder stands for or a folder that can't be read may hold, `forgotten` versions with a tombstone.
    """

    name: str
    notes: int
    covered: int
    tail: int
    missing: int = 0
    revised: int = 0
    history: int = 0
    absent: int = 0
    forgotten: int = 0


class Report(NamedTuple):
    """The proof's answer. A fault breaks it; a remark is named and balances all the same."""

    balances: bool
    models: tuple[ModelSum, ...]
    faults: tuple[Problem, ...]
    remarks: tuple[Problem, ...]


class Source(NamedTuple):
    """One line of provenance, with digest and date."""

    link: str
    digest: str
    date: datetime


@dataclass(frozen=True, slots=True)
class Note:
    """A note's file without its text; `digest` is empty where that can't be known, `dated` None where only mtime is."""

    path: str
    handle: str
    digest: str
    dated: datetime | None
    touched: datetime
    embed: str
    problem: str
    is_card: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary's file without its text; it is broken where something is `wrong` with it."""

    path: str
    handle: str
    tier: int
    digest: str
    created: datetime
    span_from: datetime
    span_to: datetime
    note_count: int
    sources: tuple[Source, ...]
    wrong: tuple[str, ...]
    has_conflict: bool


class Model(NamedTuple):
    """What one model's folder holds; `retired` and `placeholders` are handles."""

    name: str
    notes: tuple[Note, ...]
    summaries: tuple[Summary, ...]
    retired: frozenset[str]
    strays: tuple[str, ...]
    placeholders: frozenset[str]
    shut: tuple[Problem, ...]


class Claim(NamedTuple):
    """That an active tier-0 summary names a version, where that was found, and its fate: a field of ModelSum."""

    summary: Summary
    source: Source
    note: Note | None
    fate: str


class Below(NamedTuple):
    """What lies below a summary, all tiers down."""

    versions: int
    first: datetime
    last: datetime


class Pyramid(NamedTuple):
    """One model with all that follows from its files; mappings are by path, but `everywhere` by handle."""

    model: Model
    found: Mapping[str, Sequence[Note | Summary | None]]
    """What each source of a summary is, in its order."""
    standing: Mapping[str, str]
    """By rule 4: active, loser, waiting or broken."""
    active: Sequence[Summary]
    parents: Mapping[str, Sequence[str]]
    below: Mapping[str, Below]
    claims: Sequence[Claim]
    homes: Mapping[str, Sequence[str]]
    """Of each covered note: the active tier-0 summaries that name its current version."""
    everywhere: Mapping[str, Sequence[str]]
    tombstones: frozenset[tuple[str, str]]


_File = TypeVar("_File", bound="Note | Summary")


# Reading


def _read_model(root: Path, name: str, zone: tzinfo) -> Model:
    top, shut, of_kind = f"{layout.MODELS}/{name}", list[Problem](), defaultdict[str, list[files.Seen]](list)
    for seen in files.walk(root, top, shut):
        if place := layout.place(seen.path):
            of_kind[str(place.kind)].append(seen)
    retired = frozenset(layout.handle(seen.path) for seen in of_kind["retired"])
    notes = [note for seen in of_kind["note"] if (note := _read_note(root, seen, zone))]
    summaries = [_read_summary(root, seen.path, zone) for seen in of_kind["summary"]]
    held = (layout.placeholder_of(path.rsplit("/", 1)[-1]) for path in files.everything(root, top))
    return Model(
        name=name,
        notes=tuple(note for note in notes if of_kind["card"] or not note.is_card),
        summaries=tuple(sorted((s for s in summaries if s and s.handle not in retired), key=_order)),
        retired=retired,
        strays=tuple(seen.path for seen in of_kind["stray"]),
        placeholders=frozenset(layout.handle(name) for name in held if name),
        shut=tuple(shut),
    )


def _order(summary: Summary) -> tuple[int, datetime, str, str]:
    return (summary.tier, summary.created, summary.handle, summary.path)


def _read_page(root: Path, path: str) -> pages.Page | str:
    """Give a file's page, or why it can't be read; a file that is gone meanwhile is a blank one."""
    try:
        path.encode()  # a name that is not UTF-8 can't be linked
        return pages.read(files.read(root / path))
    except FileNotFoundError:
        return pages.Page()
    except (DiskError, UnicodeEncodeError) as error:
        return f"it can't be read: {str(error).rpartition(': ')[2]}"


def _read_note(root: Path, seen: files.Seen, zone: tzinfo) -> Note | None:
    page, handle, touched = _read_page(root, seen.path), layout.handle(seen.path), times.from_ns(seen.sig.mtime_ns)
    if isinstance(page, str):
        return Note(seen.path, handle, "", times.in_name(handle, zone), touched, "", page, is_card=False)
    if page.is_blank:
        return None
    dated, problem = _own_date(page, handle, zone)
    embed = "" if page.problem else links.embed(page.body)
    is_card = seen.path.count("/") == layout.card_path("").count("/") and page.text("type") == "model"
    return Note(seen.path, handle, pages.digest(page.body), dated, touched, embed, page.problem or problem, is_card)


def _own_date(page: pages.Page, handle: str, zone: tzinfo) -> tuple[datetime | None, str]:
    created, wrong = page.text("created").strip(), list[str]()
    if typed := created or page.text("date").strip():
        dated = _time(typed, zone, wrong)
        return (times.in_name(handle, zone), f"its `created`: {wrong[0]}" if created else "") if wrong else (dated, "")
    return times.in_name(handle, zone), ""


def _time(text: str, zone: tzinfo, wrong: list[str]) -> datetime:
    try:
        return times.parse(text, zone)
    except ValueError as error:
        wrong.append(str(error))
        return times.EPOCH


def _read_summary(root: Path, path: str, zone: tzinfo) -> Summary | None:
    page, place, wrong = _read_page(root, path), layout.place(path), list[str]()
    if place is None or page == pages.Page():
        return None
    if isinstance(page, str):
        page = pages.Page(problem=page)
    tier, said, count = place.tier, page.text("tier").strip(), page.text("note_count")
    sources = tuple(_sources(page, zone, wrong))
    created, start, end = (_time(page.text(key), zone, wrong) for key in ("created", "span_from", "span_to"))
    wrong += [] if page.body.strip() else ["it has no text"]
    wrong += [] if said == str(tier) else [f"it lies in tier-{tier} and says tier {said or 'nothing'}"]
    wrong += [] if re.fullmatch("[0-9]{1,9}", count) else [f"its note_count is no number: {count[:20]!r}"]
    reasons = (page.problem,) if page.problem else tuple(wrong)
    has_conflict = bool(_CONFLICT.search(page.block) or _CONFLICT.search(page.body))
    return Summary(
        path=path,
        handle=layout.handle(path),
        tier=tier,
        digest=pages.digest(page.body),
        created=created,
        span_from=start,
        span_to=end,
        note_count=0 if reasons else int(count),
        sources=sources,
        wrong=reasons,
        has_conflict=has_conflict,
    )

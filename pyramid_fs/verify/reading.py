"""What the proof reads: each file once, as values of its own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import files, layout, links, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo
    from pathlib import Path

CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
DIGEST = re.compile(rf"[0-9a-f]{{{pages.DIGEST_CHARS}}}")
SUMMARY_NAME = re.compile(r"models/[^/]+/(tier-\d{1,3})/[^/]+-t(\d{1,3})-\d{1,9}-[0-9a-z]{4}\.md")


@dataclass(frozen=True, slots=True)
class Note:
    """A note without its text; `digest` is empty where that can't be known, `dated` None where only mtime dates it."""

    path: str
    handle: str
    digest: str
    dated: datetime | None
    touched: datetime
    embed: str
    problem: str
    is_card: bool


class Source(NamedTuple):
    """One line of provenance, the file that it means, and what became of the version: a count of ModelSum."""

    link: str
    digest: str
    date: datetime
    file: Note | Summary | None = None
    fate: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary without its text; it is broken where something is `wrong` with it."""

    path: str
    handle: str
    tier: int
    digest: str
    created: datetime
    span: tuple[datetime, datetime]
    note_count: int
    sources: tuple[Source, ...]
    wrong: tuple[str, ...]
    has_conflict: bool


@dataclass(frozen=True, slots=True)
class Model:
    """What one model's folder holds; summaries by tier and age, `retired` and `placeholders` as handles."""

    name: str
    notes: tuple[Note, ...]
    summaries: tuple[Summary, ...]
    retired: frozenset[str]
    strays: tuple[str, ...]
    placeholders: frozenset[str]
    shut: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Vault:
    """What the proof of one model must know of all: paths by handle, and (SHA-256 of handle, digest) of tombstones."""

    paths: Mapping[str, Sequence[str]]
    tombstones: frozenset[tuple[str, str]]

    def forgot(self, handle: str, digest: str) -> bool:
        """Whether a tombstone names this version."""
        if not self.tombstones:
            return False
        return (hashlib.sha256(handle.encode("utf-8", "replace")).hexdigest(), digest) in self.tombstones


def read_model(root: Path, name: str, zone: tzinfo) -> Model:
    """Read what one model's folder holds."""
    top, shut, of_kind = f"{layout.MODELS}/{name}", list[Problem](), defaultdict[str, list[files.Seen]](list)
    for seen in files.walk(root, top, shut):
        if place := layout.place(seen.path):
            of_kind[str(place.kind)].append(seen)
    retired = frozenset(layout.handle(seen.path) for seen in of_kind["retired"])
    notes = (_read_note(root, seen, zone) for seen in of_kind["note"])
    summaries = (_read_summary(root, seen.path, zone) for seen in of_kind["summary"])
    held = (layout.placeholder_of(path.rsplit("/", 1)[-1]) for path in files.everything(root, top))
    return Model(
        name=name,
        notes=tuple(note for note in notes if note and (of_kind["card"] or not note.is_card)),
        summaries=tuple(sorted((s for s in summaries if s and s.handle not in retired), key=order)),
        retired=retired,
        strays=tuple(seen.path for seen in of_kind["stray"]),
        placeholders=frozenset(layout.handle(name) for name in held if name),
        shut=tuple(shut),
    )


def order(summary: Summary) -> tuple[int, datetime, str, str]:
    """Order tier by tier, by age."""
    return (summary.tier, summary.created, summary.handle, summary.path)


def _read_page(root: Path, path: str) -> tuple[pages.Page, bool] | None:
    """Take a file apart, and say whether its text could be read; None for one that is gone meanwhile."""
    try:
        path.encode()  # no link can hold a name that is not UTF-8
        return pages.read(files.read(root / path)), True
    except FileNotFoundError:
        return None
    except (DiskError, UnicodeEncodeError) as error:
        return pages.Page(problem=f"it can't be read: {str(error).rpartition(': ')[2]}"), False


def _read_note(root: Path, seen: files.Seen, zone: tzinfo) -> Note | None:
    page, is_known = _read_page(root, seen.path) or (pages.Page(), False)
    if page.is_blank:
        return None
    handle, wrong = layout.handle(seen.path), list[str]()
    return Note(
        path=seen.path,
        handle=handle,
        digest=pages.digest(page.body) if is_known else "",
        dated=_own_date(page, handle, zone, wrong),
        touched=times.from_ns(seen.sig.mtime_ns),
        embed="" if page.problem else links.embed(page.body),
        problem=page.problem or "".join(wrong),
        is_card=len(seen.path.split("/")) == len((layout.MODELS, "name", "file")) and page.text("type") == "model",
    )


def _own_date(page: pages.Page, handle: str, zone: tzinfo, wrong: list[str]) -> datetime | None:
    created = page.text("created").strip()
    try:
        return times.parse(created or page.text("date"), zone)
    except ValueError as error:
        wrong += [f"its created can't be read: {error}"] if created else []
        return times.in_name(handle, zone)


def _read_summary(root: Path, path: str, zone: tzinfo) -> Summary | None:
    read, place, wrong = _read_page(root, path), layout.place(path), list[str]()
    if read is None or place is None:
        return None
    page, said, count = read[0], read[0].text("tier").strip(), read[0].text("note_count")
    sources = tuple(_sources(page, zone, wrong))
    created, start, end = (_time(page.text(key), key, zone, wrong) for key in ("created", "span_from", "span_to"))
    wrong += [] if page.body.strip() else ["it has no text"]
    wrong += [] if said == str(place.tier) else [f"it lies in tier-{place.tier} and says tier {said or 'nothing'}"]
    wrong += [] if re.fullmatch("[0-9]{1,9}", count) else [f"its note_count is no number: {count[:20]!r}"]
    return Summary(
        path=path,
        handle=layout.handle(path),
        tier=place.tier,
        digest=pages.digest(page.body),
        created=created,
        span=(start, end),
        note_count=0 if wrong else int(count),
        sources=sources,
        wrong=(page.problem,) if page.problem else tuple(wrong),
        has_conflict=bool(CONFLICT.search(f"{page.block}\n{page.body}")),
    )


def _time(text: str, key: str, zone: tzinfo, wrong: list[str]) -> datetime:
    try:
        return times.parse(text, zone)
    except ValueError as error:
        wrong.append(f"its {key} can't be read: {error}")
        return times.EPOCH


def _sources(page: pages.Page, zone: tzinfo, wrong: list[str]) -> list[Source]:
    named, digests = pages.links_of(page, "provenance"), pages.as_list(page.keys.get("digests"))
    dates = [_time(text, "dates", zone, wrong) for text in pages.as_list(page.keys.get("dates"))]
    if not named:
        wrong.append("its provenance is empty")
    if not len(named) == len(digests) == len(dates):
        wrong.append(f"it names {len(named)} sources, {len(digests)} digests and {len(dates)} dates")
    sources = [Source(link, digest.lower(), date) for link, digest, date in zip(named, digests, dates, strict=False)]
    if len({source[:2] for source in sources}) < len(sources):
        wrong.append("it names a source twice")
    return sources


def tombstones(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (SHA-256 of the handle, digest) of what was forgotten."""
    for name in files.names(root, layout.LEDGER):
        if ".jsonl" in name and not name.startswith("."):
            with contextlib.suppress(FileNotFoundError):
                yield from _tombstones_of(files.read(root / layout.LEDGER / name).decode("utf-8", "replace"))


def _tombstones_of(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError):
            entry = json.loads(line)
            yield str(entry["forgot"]).lower(), str(entry["digest"]).lower()

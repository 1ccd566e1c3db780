"""The proof: recomputes every sum from the files alone, with nothing of what grows the pyramid, and names what is off."""

from __future__ import annotations

import contextlib
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


@dataclass(frozen=True, slots=True)
class ModelSum:
    """One model's sum, notes = covered + tail, in current versions; then what else its active tier-0 summaries name.

    `history` counts older versions, `revised` the notes of the tail that have one, `absent` what a cloud placeholder
    stands for or a folder that can't be read may hold, `forgotten` what has a tombstone.
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


@dataclass(frozen=True, slots=True)
class Report:
    """The proof's answer: a fault breaks it, a remark is named and balances all the same."""

    balances: bool
    models: tuple[ModelSum, ...] = ()
    faults: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()


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
    """What the proof of one model must know of all: paths by handle, and (SHA-256 of handle, digest) of the forgotten."""

    paths: Mapping[str, Sequence[str]]
    tombstones: frozenset[tuple[str, str]]

    def forgot(self, handle: str, digest: str) -> bool:
        """Whether a tombstone names this version."""
        if not self.tombstones:
            return False
        return (hashlib.sha256(handle.encode("utf-8", "replace")).hexdigest(), digest) in self.tombstones


@dataclass(frozen=True, slots=True)
class Pyramid:
    """One model with what follows from its files; mappings are by path."""

    vault: Vault
    model: Model
    standing: Mapping[str, str]
    """By rule 4: active, loser, waiting or broken."""
    active: Sequence[Summary]
    parents: Mapping[str, Sequence[str]]
    cover: Sequence[Summary]
    homes: Mapping[str, Sequence[str]]
    """Of each covered note: the tier-0 summaries below the cover that name its current version."""


_File = TypeVar("_File", bound="Note | Summary")


# Reading


def _read_model(root: Path, name: str, zone: tzinfo) -> Model:
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
        summaries=tuple(sorted((s for s in summaries if s and s.handle not in retired), key=_order)),
        retired=retired,
        strays=tuple(seen.path for seen in of_kind["stray"]),
        placeholders=frozenset(layout.handle(name) for name in held if name),
        shut=tuple(shut),
    )


def _order(summary: Summary) -> tuple[int, datetime, str, str]:
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
        has_conflict=bool(_CONFLICT.search(f"{page.block}\n{page.body}")),
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


def _tombstones(root: Path) -> Iterator[tuple[str, str]]:
    for name in files.names(root, layout.LEDGER):
        if ".jsonl" in name and not name.startswith("."):
            for line in files.read(root / layout.LEDGER / name).decode("utf-8", "replace").splitlines():
                with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError):
                    entry = json.loads(line)
                    yield str(entry["forgot"]).lower(), str(entry["digest"]).lower()


# Links


def _by_handle(found: Iterable[_File]) -> dict[str, list[_File]]:
    named: dict[str, list[_File]] = defaultdict(list)
    for file in sorted(found, key=lambda file: file.path):
        named[file.handle].append(file)
    return named


def _meant(link: str, named: Mapping[str, Sequence[_File]]) -> list[_File]:
    """List the files that a link may mean, smallest path first."""
    found = named.get(links.name(link), ())
    return [file for file in found if "/" not in link or f"/{_nfc(file.path)[:-3]}".endswith(f"/{link}")]


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _shown(note: Note, named: Mapping[str, Sequence[Note]]) -> Note | str:
    """Follow an embed to the note whose text it shows, or say why there is none."""
    way = [note]
    while link := way[-1].embed:
        found = _meant(link, named)
        own = "/".join(way[-1].path.split("/")[:2]) + "/"
        found = [other for other in found if other.path.startswith(own)] or found
        if len(found) != 1 or found[0] in way:
            reason = "is gone" if not found else "is one of several" if len(found) > 1 else "leads round in a ring"
            return f"the note it embeds {reason}: {link}"
        way.append(found[0])
    return way[-1]


def _settled(note: Note, named: Mapping[str, Sequence[Note]], vault: Vault) -> Note | None:
    """Give an embed digest and date of the note it shows; None for what was forgotten."""
    shown = _shown(note, named)
    if isinstance(shown, str):
        return replace(note, digest="", problem=shown)
    if vault.forgot(note.handle, shown.digest):
        return None
    if vault.forgot(shown.handle, shown.digest):
        return replace(note, digest="", problem=f"the note it embeds was forgotten: {note.embed}")
    return replace(note, digest=shown.digest, dated=shown.dated, touched=shown.touched, problem=shown.problem)


# What follows from the files


def _prove(model: Model, vault: Vault) -> Pyramid:
    model = _linked(model)
    standing = _standings(model)
    model = replace(model, summaries=tuple(_with_fates(model, standing, vault)))
    active = [summary for summary in model.summaries if standing[summary.path] == "active"]
    parents: dict[str, list[str]] = defaultdict(list)
    for summary in active:
        for source in summary.sources if summary.tier else ():
            parents[source.file.path if source.file else ""].append(summary.path)
    cover = [summary for summary in active if summary.path not in parents]
    return Pyramid(vault, model, standing, active, parents, cover, _homes(cover, active))


def _linked(model: Model) -> Model:
    """Look up every link: in the notes for tier 0, in the tier below for a roll-up; of several by digest."""
    levels: dict[int, list[Note | Summary]] = defaultdict(list, {-1: list(model.notes)})
    for summary in model.summaries:
        levels[summary.tier].append(summary)
    named = {level: _by_handle(held) for level, held in levels.items()}
    return replace(model, summaries=tuple(_link(s, named.get(s.tier - 1, {})) for s in model.summaries))


def _link(summary: Summary, named: Mapping[str, Sequence[Note | Summary]]) -> Summary:
    return replace(summary, sources=tuple(source._replace(file=_one(source, named)) for source in summary.sources))


def _one(source: Source, named: Mapping[str, Sequence[Note | Summary]]) -> Note | Summary | None:
    return min(_meant(source.link, named), key=lambda file: file.digest != source.digest, default=None)


def _standings(model: Model) -> dict[str, str]:
    """Decide rule 4: of all that claim a source, the first that comes to be active has it."""
    standing = {summary.path: "broken" for summary in model.summaries if summary.wrong}
    sound = [summary for summary in model.summaries if not summary.wrong]
    claimants: dict[tuple[str, str], list[str]] = defaultdict(list)
    for summary in sound:
        for source in summary.sources:
            claimants[_key(summary, source)].append(summary.path)
    for summary in sound:
        rivals = (claimants[_key(summary, source)] for source in summary.sources)
        firsts = {next(p for p in paths if p == summary.path or standing.get(p) == "active") for paths in rivals}
        under = {_under(source, standing, model) for source in summary.sources} if summary.tier else {"active"}
        lost = "loser" in under or firsts != {summary.path}
        standing[summary.path] = "loser" if lost else "active" if under == {"active"} else "waiting"
    return standing


def _key(summary: Summary, source: Source) -> tuple[str, str]:
    """Give what a summary takes by naming a source: a version of a note, or a summary."""
    return (source.file.path if source.file else f"?{links.name(source.link)}", "" if summary.tier else source.digest)


def _under(source: Source, standing: Mapping[str, str], model: Model) -> str:
    if links.name(source.link) in model.retired:
        return "loser"
    return standing[source.file.path] if source.file else "absent"


def _with_fates(model: Model, standing: Mapping[str, str], vault: Vault) -> Iterator[Summary]:
    """Say of each version that active tier-0 summaries name what became of it; the first to name an unreadable note has it."""
    batches = [s for s in model.summaries if not s.tier and standing[s.path] == "active"]
    free, unread = _unnamed(model, batches), set[str]()
    for summary in model.summaries:
        if summary in batches:
            pass
    yield from model.summaries

"""The proof: recomputes every sum from the files alone, with nothing of what grows the pyramid."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import unicodedata
from collections import Counter, defaultdict
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
    """What the proof of one model must know of all: paths by handle, and (SHA-256 of handle, digest) of tombstones."""

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
            with contextlib.suppress(FileNotFoundError):
                yield from _tombstones_of(files.read(root / layout.LEDGER / name).decode("utf-8", "replace"))


def _tombstones_of(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
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
    """Look up every link: in the notes for tier 0, in the tier below for a roll-up."""
    levels: dict[int, list[Note | Summary]] = defaultdict(list, {-1: list(model.notes)})
    for summary in model.summaries:
        levels[summary.tier].append(summary)
    named = {level: _by_handle(held) for level, held in levels.items()}
    return replace(model, summaries=tuple(_link(s, named.get(s.tier - 1, {})) for s in model.summaries))


def _link(summary: Summary, named: Mapping[str, Sequence[Note | Summary]]) -> Summary:
    return replace(summary, sources=tuple(source._replace(file=_one(source, named)) for source in summary.sources))


def _one(source: Source, named: Mapping[str, Sequence[Note | Summary]]) -> Note | Summary | None:
    """Find the file that a source means; of several, one whose text is the same or whose path in the model it gives."""
    found = _meant(source.link, named)
    if len(found) > 1:
        found = [f for f in found if f.digest == source.digest or _nfc(f.path).split("/", 2)[2][:-3] == source.link]
    return min(found, key=lambda file: file.digest != source.digest, default=None)


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
    return (source.file.path if source.file else f"?{source.link}", "" if summary.tier else source.digest)


def _under(source: Source, standing: Mapping[str, str], model: Model) -> str:
    if links.name(source.link) in model.retired:
        return "loser"
    return standing[source.file.path] if source.file else "absent"


def _with_fates(model: Model, standing: Mapping[str, str], vault: Vault) -> Iterator[Summary]:
    """Say of each version that active tier-0 summaries name what became of it."""
    is_batch = {s.path for s in model.summaries if s.tier == 0 and standing[s.path] == "active"}
    free = _unnamed(model, [source for s in model.summaries if s.path in is_batch for source in s.sources])
    unread = {note.path for note in model.notes if not note.digest}
    for summary in model.summaries:
        if summary.path not in is_batch:
            yield summary
            continue
        found = (s._replace(file=s.file or next(free[s.digest], None)) for s in summary.sources)
        yield replace(summary, sources=tuple(s._replace(fate=_fate(s, model, vault, unread)) for s in found))


def _unnamed(model: Model, sources: Iterable[Source]) -> Mapping[str, Iterator[Note]]:
    """Give, by digest, the notes that no link names: what a link that leads nowhere is matched to (rule 9)."""
    named = {(source.file.path, source.digest) for source in sources if source.file}
    free: dict[str, list[Note]] = defaultdict(list)
    for note in sorted(model.notes, key=lambda note: (note.dated or note.touched, note.handle, note.path)):
        if note.digest and (note.path, note.digest) not in named:
            free[note.digest].append(note)
    return defaultdict(lambda: iter(()), {digest: iter(notes) for digest, notes in free.items()})


def _fate(source: Source, model: Model, vault: Vault, unread: set[str]) -> str:
    handle, file = links.name(source.link), source.file
    if file and file.path in unread:
        # what can't be read is not known to have changed, so the first version that is named stays covered
        unread.discard(file.path)
        return "covered"
    if file:
        return "covered" if file.digest == source.digest else "history"
    if vault.forgot(handle, source.digest):
        return "forgotten"
    return "absent" if handle in model.placeholders or model.shut else "missing"


def _homes(cover: Sequence[Summary], active: Sequence[Summary]) -> dict[str, list[str]]:
    """Walk down from the cover to the notes whose current version lies below it."""
    homes, by_path, way = defaultdict[str, list[str]](list), {summary.path: summary for summary in active}, list(cover)
    while way:
        summary = way.pop()
        for source in summary.sources:
            if source.file and summary.tier:
                way.append(by_path[source.file.path])
            elif source.file and source.fate == "covered":
                homes[source.file.path].append(summary.path)
    return homes


def _sum(pyramid: Pyramid) -> ModelSum:
    """Count the notes one by one, and the versions by their fate."""
    notes, homes = pyramid.model.notes, pyramid.homes
    sources = [source for summary in pyramid.active for source in summary.sources if summary.tier == 0]
    fates = Counter(source.fate for source in sources)
    older = {source.file.path for source in sources if source.file and source.fate == "history"}
    return ModelSum(
        name=pyramid.model.name,
        notes=len(notes),
        covered=sum(len(found) == 1 for found in homes.values()),
        tail=sum(note.path not in homes for note in notes),
        revised=len(older - homes.keys()),
        **{fate: fates[fate] for fate in ("missing", "history", "absent", "forgotten")},
    )


# Faults


def _folders(pyramid: Pyramid) -> Iterator[Problem]:
    for path, reason, fix in pyramid.model.shut:
        yield Problem(path, f"{reason}: nothing is taken as deleted", fix)
    for path in pyramid.model.strays:
        if named := _SUMMARY_NAME.fullmatch(_nfc(path)):
            yield Problem(path, f"it lies in {named[1]}, and its name says tier {int(named[2])}")


def _texts(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.model.summaries:
        yield from (Problem(summary.path, f"broken summary: {reason}") for reason in summary.wrong)
        if summary.has_conflict:
            yield Problem(summary.path, "the conflict markers of a merge stand in it")
        for source in summary.sources:
            if not _DIGEST.fullmatch(source.digest):
                yield Problem(summary.path, f"the digest of {source.link} is no digest: {source.digest[:20]!r}")


def _sources_elsewhere(pyramid: Pyramid) -> Iterator[Problem]:
    """Find sources that are there, but not where this tier's lie; a note that moved away is missing, and no fault."""
    for summary in pyramid.model.summaries:
        below = f"a summary of tier {summary.tier - 1}" if summary.tier else "a note"
        off = [s for s in summary.sources if not s.file or s.file.handle != links.name(s.link)]
        for source, path in ((s, path) for s in off for path in pyramid.vault.paths.get(links.name(s.link), ())):
            if pyramid.standing[summary.path] != "loser" and (summary.tier or not _is_note(path)):
                yield Problem(summary.path, f"its source {source.link} is {path}, not {below} of this model")


def _is_note(path: str) -> bool:
    place = layout.place(path)
    return place is not None and place.tier < 0


def _sources_twice(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.active:
        for (path, _), count in Counter(_key(summary, source) for source in summary.sources if source.file).items():
            if count > 1:
                yield Problem(summary.path, f"it names one source {count} times: {path}")


def _digests_swapped(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.active:
        off = _revised(pyramid, summary)
        read, current = {source.digest for source, _ in off}, {file.digest for _, file in off}
        for source, file in off:
            if source.digest in current and file.digest in read:
                yield Problem(summary.path, f"the digest of {source.link} is that of another of its sources")


def _revised(pyramid: Pyramid, summary: Summary) -> list[tuple[Source, Note | Summary]]:
    """List the sources whose text is another by now, and that in no summary yet."""
    found = ((source, source.file) for source in summary.sources if source.file)
    return [(s, file) for s, file in found if file.digest not in {"", s.digest} and file.path not in pyramid.homes]


def _sums_below(pyramid: Pyramid) -> Iterator[Problem]:
    """Recount each summary from all that lies below it, by the dates that were recorded."""
    below: dict[str, tuple[int, datetime, datetime]] = {}
    for summary in pyramid.active:
        parts = [below[s.file.path] if s.file and summary.tier else (1, s.date, s.date) for s in summary.sources]
        counts, firsts, lasts = zip(*parts, strict=True)
        count, *span = below[summary.path] = (sum(counts), min(firsts), max(lasts))
        # of a roll-up and what lies below it, only one may have been written again without a forgotten note
        slack = len(pyramid.vault.tombstones) if summary.tier else 0
        if abs(summary.note_count - count) > slack:
            yield Problem(summary.path, f"its note_count is {summary.note_count}, and {count} versions lie below it")
        if [*summary.span] != span and not slack:
            yield Problem(summary.path, f"its span is {_spell(summary.span)}, and its sources say {_spell(span)}")
        if summary.created <= max([span[1], *(s.file.created for s in summary.sources if isinstance(s.file, Summary))]):
            yield Problem(summary.path, "its created is not later than that of every source")


def _spell(span: Iterable[datetime]) -> str:
    return " to ".join(times.spell(date) for date in span)


def _counted_twice(pyramid: Pyramid) -> Iterator[Problem]:
    for path, homes in pyramid.homes.items():
        if len(homes) > 1:
            yield Problem(path, f"its current version is counted {len(homes)} times: in {', '.join(homes)}")
    for path, parents in pyramid.parents.items():
        if len(parents) > 1:
            yield Problem(path, f"it is rolled up {len(parents)} times: in {', '.join(parents)}")


def _sums(pyramid: Pyramid) -> Iterator[Problem]:
    path, found = f"{layout.MODELS}/{pyramid.model.name}", _sum(pyramid)
    if found.notes != found.covered + found.tail:
        yield Problem(path, f"{found.notes} notes are not {found.covered} covered + {found.tail} in the tail")
    total = sum(summary.note_count for summary in pyramid.cover)
    sources = [source for summary in pyramid.active for source in summary.sources if summary.tier == 0]
    versions = {(source.file.path if source.file else source.link, source.digest) for source in sources}
    if abs(total - len(versions)) > len(pyramid.vault.tombstones):
        yield Problem(path, f"its cover counts {total} versions of notes, and its tier 0 names {len(versions)}")


# Remarks


def _notes_off(pyramid: Pyramid) -> Iterator[Problem]:
    paths = {note.path for note in pyramid.model.notes}
    for note in pyramid.model.notes:
        if note.problem:
            yield Problem(note.path, f"no batch takes it: {note.problem}")
        elif (twin := _nfc(note.path)) != note.path and twin in paths:
            yield Problem(note.path, "no batch takes it: its name equals another but for composition")


def _summaries_off(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.model.summaries:
        if pyramid.standing[summary.path] == "loser":
            yield Problem(summary.path, "it lost a merge, covers nothing and is to be retired")
        if pyramid.standing[summary.path] == "waiting":
            off = (s.link for s in summary.sources if not s.file or pyramid.standing[s.file.path] != "active")
            yield Problem(summary.path, f"it waits, and covers nothing, until its sources are here: {', '.join(off)}")


def _sources_off(pyramid: Pyramid) -> Iterator[Problem]:
    for summary in pyramid.active:
        for source, _ in _revised(pyramid, summary):
            later = "so it is due for redo" if summary.tier else "so its text as it is now is tail"
            yield Problem(summary.path, f"its source {source.link} was revised since, {later}")
        for source in summary.sources if summary.tier == 0 else ():
            if reason := _gone(source, pyramid) or _redated(source):
                yield Problem(summary.path, f"its source {source.link} {reason}")


def _gone(source: Source, pyramid: Pyramid) -> str:
    if source.fate == "missing" and (moved := pyramid.vault.paths.get(links.name(source.link))):
        return f"is missing: moved to {', '.join(moved)}"
    if source.fate == "absent":
        return "is absent: not here yet, or in a folder that can't be read"
    return {"missing": "is missing", "forgotten": "was forgotten"}.get(source.fate, "")


def _redated(source: Source) -> str:
    dated = source.file.dated if isinstance(source.file, Note) else None
    return f"says {times.spell(dated)} now; {times.spell(source.date)} binds" if dated and dated != source.date else ""


# The answer


FAULTS = (_folders, _texts, _sources_elsewhere, _sources_twice, _digests_swapped, _sums_below, _counted_twice, _sums)
REMARKS = (_notes_off, _summaries_off, _sources_off)


def verify(root: Path, zone: tzinfo) -> Report:
    """Prove the vault at `root` from its files alone; times without a zone are taken in `zone`.

    Raise NotAVault where there is no vault (or it is not mounted), DiskError where its top folders can't be read.
    """
    if layout.SETTINGS not in files.names(root, "."):
        raise NotAVault(f"{root} holds no {layout.SETTINGS} (not mounted?): nothing is taken as deleted")
    vault = Vault({}, frozenset(_tombstones(root)))
    models = _all_settled([_read_model(root, name, zone) for name in files.subfolders(root, layout.MODELS)], vault)
    vault = replace(vault, paths=_paths(models))
    pyramids = [_prove(model, vault) for model in models]
    faults = _run(FAULTS, pyramids)
    return Report(not faults, tuple(_sum(pyramid) for pyramid in pyramids), faults, _run(REMARKS, pyramids))


def _all_settled(models: Sequence[Model], vault: Vault) -> list[Model]:
    named = _by_handle(note for model in models for note in model.notes)
    settled = ((model, (_settled(note, named, vault) for note in model.notes)) for model in models)
    return [replace(model, notes=tuple(note for note in notes if note)) for model, notes in settled]


def _paths(models: Sequence[Model]) -> dict[str, list[str]]:
    paths: dict[str, list[str]] = defaultdict(list)
    for model in models:
        held: tuple[Note | Summary, ...] = (*model.notes, *model.summaries)
        for file in held:
            paths[file.handle].append(file.path)
    return paths


def _run(checks: Iterable[Callable[[Pyramid], Iterator[Problem]]], pyramids: Sequence[Pyramid]) -> tuple[Problem, ...]:
    return tuple(sorted({problem for check in checks for pyramid in pyramids for problem in check(pyramid)}))


def as_text(report: Report, vault: str) -> str:
    """Write the sums, one line a model, then faults and remarks; the last line says whether the vault balances."""
    lines = [_line(found, report.faults) for found in report.models]
    lines += [f"{path}: {reason}" for path, reason, _ in (*report.faults, *report.remarks)]
    count = len(report.faults)
    answer = "balances" if report.balances else f"does not balance: {count} {'fault' if count == 1 else 'faults'}"
    return "\n".join([*lines, f"{vault} {answer}"]) + "\n"


def _line(found: ModelSum, faults: Sequence[Problem]) -> str:
    top = f"{layout.MODELS}/{found.name}"
    mark = "✗" if any(f"{fault.path}/".startswith(f"{top}/") for fault in faults) else "✓"
    counts = [(getattr(found, key), key) for key in ("missing", "revised", "history", "absent", "forgotten")]
    beside = "".join(f", {count:,} {key}" for count, key in counts if count)
    return f"{found.name}: {found.notes:,} notes = {found.covered:,} covered + {found.tail:,} tail {mark}{beside}"

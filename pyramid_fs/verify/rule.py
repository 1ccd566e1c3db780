"""What follows from the files: where links lead, which summaries are active, and each model's sum."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pyramid_fs import links

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyramid_fs.verify.reading import Model, Note, Source, Summary, Vault


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


def by_handle(found: Iterable[_File]) -> dict[str, list[_File]]:
    """Group files by handle, each group by path."""
    named: dict[str, list[_File]] = defaultdict(list)
    for file in sorted(found, key=lambda file: file.path):
        named[file.handle].append(file)
    return named


def meant(link: str, named: Mapping[str, Sequence[_File]]) -> list[_File]:
    """List the files that a link may mean, smallest path first."""
    found = named.get(links.name(link), ())
    return [file for file in found if "/" not in link or f"/{nfc(file.path)[:-3]}".endswith(f"/{link}")]


def nfc(text: str) -> str:
    """Compose a text."""
    return unicodedata.normalize("NFC", text)


def _shown(note: Note, named: Mapping[str, Sequence[Note]]) -> Note | str:
    """Follow an embed to the note whose text it shows, or say why there is none."""
    way = [note]
    while link := way[-1].embed:
        found = meant(link, named)
        own = "/".join(way[-1].path.split("/")[:2]) + "/"
        found = [other for other in found if other.path.startswith(own)] or found
        if len(found) != 1 or found[0] in way:
            reason = "is gone" if not found else "is one of several" if len(found) > 1 else "leads round in a ring"
            return f"the note it embeds {reason}: {link}"
        way.append(found[0])
    return way[-1]


def settled(note: Note, named: Mapping[str, Sequence[Note]], vault: Vault) -> Note | None:
    """Give an embed digest and date of the note it shows; None for what was forgotten."""
    shown = _shown(note, named)
    if isinstance(shown, str):
        return replace(note, digest="", problem=shown)
    if vault.forgot(note.handle, shown.digest):
        return None
    if vault.forgot(shown.handle, shown.digest):
        return replace(note, digest="", problem=f"the note it embeds was forgotten: {note.embed}")
    return replace(note, digest=shown.digest, dated=shown.dated, touched=shown.touched, problem=shown.problem)


def prove(model: Model, vault: Vault) -> Pyramid:
    """Work out what follows from one model's files."""
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
    named = {level: by_handle(held) for level, held in levels.items()}
    return replace(model, summaries=tuple(_link(s, named.get(s.tier - 1, {})) for s in model.summaries))


def _link(summary: Summary, named: Mapping[str, Sequence[Note | Summary]]) -> Summary:
    return replace(summary, sources=tuple(source._replace(file=_one(source, named)) for source in summary.sources))


def _one(source: Source, named: Mapping[str, Sequence[Note | Summary]]) -> Note | Summary | None:
    """Find the file that a source means; of several, one whose text is the same or whose path in the model it gives."""
    found = meant(source.link, named)
    if len(found) > 1:
        found = [f for f in found if f.digest == source.digest or nfc(f.path).split("/", 2)[2][:-3] == source.link]
    return min(found, key=lambda file: file.digest != source.digest, default=None)


def _standings(model: Model) -> dict[str, str]:
    """Decide rule 4: of all that claim a source, the first that comes to be active has it."""
    standing = {summary.path: "broken" for summary in model.summaries if summary.wrong}
    sound = [summary for summary in model.summaries if not summary.wrong]
    claimants: dict[tuple[str, str], list[str]] = defaultdict(list)
    for summary in sound:
        for source in summary.sources:
            claimants[key(summary, source)].append(summary.path)
    for summary in sound:
        rivals = (claimants[key(summary, source)] for source in summary.sources)
        firsts = {next(p for p in paths if p == summary.path or standing.get(p) == "active") for paths in rivals}
        under = {_under(source, standing, model) for source in summary.sources} if summary.tier else {"active"}
        lost = "loser" in under or firsts != {summary.path}
        standing[summary.path] = "loser" if lost else "active" if under == {"active"} else "waiting"
    return standing


def key(summary: Summary, source: Source) -> tuple[str, str]:
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


def sum_of(pyramid: Pyramid) -> ModelSum:
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

"""What the vault holds now: walks it, brings the catalog up to date, and assembles each model's files."""

from __future__ import annotations

import contextlib
import hashlib
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyramid_fs import files, layout, links, pyramid
from pyramid_fs.catalog import one_at_a_time
from pyramid_fs.errors import DiskError, NoSuchHandle, Problem
from pyramid_fs.notes import Card, File, Kind, Note, Shaped, Summary
from pyramid_fs.pyramid import Files, Index, State
from pyramid_fs.rows import mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyramid_fs.catalog import Catalog, Change
    from pyramid_fs.vault import Vault

CHAIN = 8
"""An embed of an embed is followed this far; a ring of them ends here."""


@dataclass(frozen=True, slots=True)
class ModelNow:
    """One model as the disk holds it."""

    name: str
    card: Card | None
    state: State
    shut: tuple[Problem, ...] = ()
    """Its folders that can't be read."""
    told: dict[str, frozenset[str]] = field(default_factory=dict, compare=False, repr=False)
    """What floors above have worked out of it, for as long as it stands."""

    @property
    def held(self) -> list[str]:
        """Why the model does not grow; empty where it may."""
        return [*(f"{problem.path}: {problem.reason}" for problem in self.shut), *self.state.is_held]


class Census:
    """The vault's files as values, fresh at each question; what did not change is not read again."""

    def __init__(self, vault: Vault, catalog: Catalog) -> None:
        self.vault, self.catalog = vault, catalog
        self.lock = catalog.lock
        self.shut: list[Problem] = []
        self._models: dict[str, ModelNow] = {}
        self._is_still = False
        self._listed: list[str] | None = None
        self._ledger_mark: object = None
        self._forgotten: frozenset[tuple[str, str]] = frozenset()
        self._renames: tuple[dict[str, Any], ...] = ()

    # Bringing up to date

    def models(self) -> list[str]:
        """List the models: every folder in `models/`; raise DiskError where the vault can't be read."""
        if self._is_still and self._listed is not None:
            return self._listed[:]
        self._be_there()
        self._listed = files.subfolders(self.vault.root, layout.MODELS)
        return self._listed[:]

    @one_at_a_time
    def refresh(self, models: Iterable[str] | None = None) -> None:
        """Bring what is known of some models (None: of the whole vault) up to date with the disk."""
        if self._is_still:
            return
        self._be_there()
        self._read_tombstones()
        before, shut = set(self.shut), list[Problem]()
        if models is None:
            scopes: list[str] = []
            seen = (
                found
                for top in (layout.MODELS, *layout.SHAPES)
                for found in files.walk_folders(self.vault.root, top, shut)
            )
            self.shut = shut
        else:
            scopes = [f"{layout.MODELS}/{model}" for model in models]
            seen = (found for scope in scopes for found in files.walk_folders(self.vault.root, scope, shut))
        self._forget(self.catalog.update(scopes, seen, _Folders(shut), self.vault.value))
        if models is not None:
            self.shut = [
                p for p in self.shut if not any(p.path == s or p.path.startswith(f"{s}/") for s in scopes)
            ] + shut
            self._refresh_targets(scopes)
        if before != set(self.shut):
            # what lies in a folder that was shut or opened changed for the answers, embeds elsewhere included
            self._models.clear()

    @contextlib.contextmanager
    def still(self, *, is_fresh: bool = False) -> Iterator[None]:
        """Take the whole vault as it is now for one answer that asks several questions: one look at the disk.

        `is_fresh` spares that one, where it was just taken.
        """
        if not is_fresh:
            self.refresh()
        self._is_still, self._listed = True, None
        try:
            yield
        finally:
            self._is_still = False

    def _be_there(self) -> None:
        if not (self.vault.root / layout.SETTINGS).is_file():
            raise DiskError(f"{self.vault.root} is not there any more (not mounted?): nothing was taken as deleted")

    def _refresh_targets(self, scopes: list[str]) -> None:
        """Bring the notes that these models embed up to date, wherever they lie."""
        wanted: dict[str, None] = {}
        for scope in scopes:
            for handle in sorted(self.catalog.embedded(scope)):
                found = self.catalog.paths_of(handle)
                if not found:
                    self.refresh()
                    return
                wanted.update(dict.fromkeys(found))
        if wanted:
            self.look_at(wanted)
            if any(self.catalog.row(path) is None for path in wanted):
                self.refresh()  # it may lie elsewhere now

    @one_at_a_time
    def look_at(self, paths: Iterable[str]) -> None:
        """Bring what is known of single files up to date with the disk."""
        self._read_tombstones()
        root = self.vault.root
        self._forget(self.catalog.refresh(((path, files.look(root / path)) for path in paths), self.vault.value))

    @one_at_a_time
    def taken(self, path: str, sig: files.Sig, file: File, data: bytes) -> None:
        """Take in a file that was just written."""
        self._forget(self.catalog.put(path, sig, file, mark(data)))

    def _forget(self, change: Change) -> None:
        for model in change.models:
            self._models.pop(model, None)

    def _read_tombstones(self) -> None:
        mark = self.vault.ledger_mark()
        if mark == self._ledger_mark:
            return
        self._ledger_mark = mark
        said = [entry for entry in self.vault.ledger() if "forgot" in entry or "renamed" in entry]
        self._renames = tuple(entry for entry in said if "renamed" in entry)
        forgotten = frozenset(
            (str(entry["forgot"]), str(entry.get("digest", ""))) for entry in said if "forgot" in entry
        )
        if forgotten != self._forgotten:
            self._forgotten = forgotten
            self._models.clear()

    # Answers, from what the last refresh found

    @one_at_a_time
    def now(self, model: str) -> ModelNow:
        """Give a model as the last refresh found it."""
        if model not in self._models:
            self._models[model] = self._assemble(model)
        return self._models[model]

    @one_at_a_time
    def fresh(self, model: str) -> ModelNow:
        """Give a model as the disk holds it at this moment."""
        self.refresh([model])
        return self.now(model)

    @property
    def ledger_key(self) -> str:
        """Give a text that changes when a note is forgotten."""
        return hashlib.sha256(repr(sorted(self._forgotten)).encode()).hexdigest()[:8] if self._forgotten else ""

    @property
    def forgotten(self) -> frozenset[tuple[str, str]]:
        """(SHA-256 of the handle, digest) of each tombstone."""
        return self._forgotten

    @property
    def renames(self) -> tuple[dict[str, Any], ...]:
        """The ledger lines that tell of a renamed model."""
        return self._renames

    def values(self, top: str = layout.MODELS) -> Iterator[File]:
        """Yield every value that is known under a top folder."""
        for scope, rows in self.catalog.all_rows().items():
            if scope == top or scope.startswith(f"{top}/"):
                for path, row in list(rows.items()):  # another thread may take in a file meanwhile
                    if row.file is not None and not self.is_shut(path):
                        yield row.file

    def is_shut(self, path: str) -> bool:
        """Whether a file lies in a folder that can't be read now."""
        return any(path.startswith(f"{problem.path}/") for problem in self.shut)

    def is_forgotten(self, note: Note) -> bool:
        """Whether a tombstone says that this file is no note any more."""
        if not self._forgotten:
            return False
        return (hashlib.sha256(note.handle.encode("utf-8", "replace")).hexdigest(), note.digest) in self._forgotten

    def find(self, handle: str) -> File:
        """Find the one file that a handle or link means; raise NoSuchHandle with the candidates."""
        rows = [self.catalog.row(path) for path in self.meant(handle) if not self.is_shut(path)]
        found = [row.file for row in rows if row and row.file]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NoSuchHandle(f"there is no file {handle[:120]!r}; recall finds texts, views show handles")
        listing = ", ".join(sorted(file.path[:-3] for file in found)[:12])
        raise NoSuchHandle(f"{handle!r} means several files; give more of the path: {listing}")

    def meant(self, handle: str) -> list[str]:
        """List the paths that a handle or link fits; a name that no link can hold is taken as it stands."""
        link = links.target(handle)
        if found := [path for path in self.catalog.paths_of(links.name(link)) if pyramid.path_fits(path, link)]:
            return found
        for named in links.as_named(handle):
            paths = self.catalog.paths_of(links.target(f"{links.name(named)}.md"))
            if found := [path for path in paths if pyramid.path_fits(path, named)]:
                return found
        return []

    # Assembling

    def _assemble(self, model: str) -> ModelNow:
        scope = f"{layout.MODELS}/{model}"
        found = [
            row.file
            for path, row in self.catalog.rows(scope).items()
            if row.file is not None and not self.is_shut(path)
        ]
        notes = [file for file in found if isinstance(file, Note)]
        card = next((file for file in found if isinstance(file, Card)), None)
        if card is None and (stranded := _stranded_cards(notes)):
            notes = [note for note in notes if note not in stranded]
            card = self._card_of(stranded[0])
        index = Index(notes)
        resolved = [self._embed_of(note, index) if note.embed else note for note in _twins_marked(notes)]
        held = Files(
            model=model,
            notes=tuple(sorted((n for n in resolved if not self.is_forgotten(n)), key=lambda note: note.path)),
            summaries=tuple(file for file in found if isinstance(file, Summary)),
            retired=frozenset(f.handle for f in found if isinstance(f, Shaped) and f.kind is Kind.RETIRED),
        )
        shut = tuple(p for p in self.shut if p.path == scope or p.path.startswith(f"{scope}/"))
        return ModelNow(model, card, pyramid.derive(held), shut)

    def _card_of(self, note: Note) -> Card:
        try:
            page = self.vault.page(note.path)
        except (FileNotFoundError, DiskError):
            return Card(note.path, note.handle, problem="it can't be read")
        from pyramid_fs import kinds

        return kinds.read_card(note.path, page)

    def _embed_of(self, note: Note, own: Index[Note]) -> Note:
        """Give an embed the text, digest and date of the note it shows."""
        target: Note | None = note
        for _ in range(CHAIN):
            found = self._targets(target, note, own) if target else []
            if len(found) > 1:
                listing = ", ".join(sorted(f.path[:-3] for f in found)[:5])
                return replace(
                    note, digest="", problem=f"the note it embeds, {note.embed}, is one of several: {listing}"
                )
            target = found[0] if found else None
            if target is None:
                return replace(note, digest="", problem=f"the note it embeds is gone: {note.embed}")
            if not target.embed:
                shown = replace(
                    note,
                    text_path=target.path,
                    created=target.created,
                    dated=target.dated,
                    digest=target.digest,
                    chars=target.chars,
                    lines=target.lines,
                    touched=target.touched,
                    source=note.source or target.source,
                    title=target.title,
                    problem=f"the note it embeds can't be used: {target.problem}" if target.problem else "",
                )
                if self.is_forgotten(target) and not self.is_forgotten(shown):
                    return replace(note, digest="", problem=f"the note it embeds was forgotten: {note.embed}")
                return shown
        return replace(note, digest="", problem="the embeds lead round in a ring")

    def _targets(self, embed: Note, first: Note, own: Index[Note]) -> list[Note]:
        """List the notes that an embed may mean: in its own model (`own` is that of the first one), else in any."""
        link, home = embed.embed, _model(embed)
        if home == _model(first) and (found := own.find(link)):
            return found
        paths = self.catalog.paths_of(links.name(link))
        rows = [self.catalog.row(path) for path in paths if pyramid.path_fits(path, link) and not self.is_shut(path)]
        found = [row.file for row in rows if row and isinstance(row.file, Note)]
        return [note for note in found if _model(note) == home] or found


class _Folders(list[str]):
    """The paths of a list of problems that still grows while a walk goes on."""

    def __init__(self, shut: list[Problem]) -> None:
        super().__init__()
        self._shut = shut

    def __iter__(self) -> Iterator[str]:
        return iter([problem.path for problem in self._shut])


def _model(note: Note) -> str:
    return note.path.split("/")[1]


def _stranded_cards(notes: list[Note]) -> list[Note]:
    return sorted((n for n in notes if n.is_card and n.path.count("/") == 2), key=lambda n: n.path)  # noqa: PLR2004


def _twins_marked(notes: list[Note]) -> list[Note]:
    """Mark notes whose names are equal but for composition: links can mean only one of them."""
    first: dict[str, Note] = {}
    for note in sorted(
        notes, key=lambda note: (not unicodedata.is_normalized("NFC", note.path), note.path[-3:] != ".md", note.path)
    ):
        first.setdefault(_without_ending(note), note)
    if len(first) == len(notes):
        return notes
    return [_twin(note, first[_without_ending(note)]) for note in notes]


def _without_ending(note: Note) -> str:
    return unicodedata.normalize("NFC", note.path)[:-3]


def _twin(note: Note, first: Note) -> Note:
    if note is first or note.problem:
        return note
    return replace(
        note,
        problem=f"its name equals that of {first.path} but for composition or the case of `.md`: rename one of them",
    )

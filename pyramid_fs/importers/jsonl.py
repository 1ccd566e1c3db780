"""Imports `{"model" | "models", "text", "created", "source"}`, an object a line, and what `export jsonl` wrote."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import files as disk
from pyramid_fs import format as pages
from pyramid_fs import kinds, layout, links, record, times
from pyramid_fs.errors import ExistsAlready, PyramidError, UsageError
from pyramid_fs.importers import LINES, LONGEST, Imported, Models, done, is_spellable, raw_lines, suffixes, tag
from pyramid_fs.notes import Dated, Kind, Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime, tzinfo
    from pathlib import Path
    from typing import BinaryIO

    from pyramid_fs.census import Census
    from pyramid_fs.issue import Tools

NO_NOTES = frozenset({"model", *(str(kind) for kind in Kind if kind is not Kind.NOTE)})
"""What a line of our own export says it is, where it is no note."""
_NAME_BYTES = 240
"""A note's own name is kept up to here: some disks hold 255 bytes with the ending."""


class Line(NamedTuple):
    """One note to import."""

    models: tuple[str, ...]
    text: str
    created: datetime | None
    source: str
    handle: str = ""
    """The name it had in the vault that it was exported from; empty for a note from elsewhere."""
    front: str | None = None
    """Its front matter as it stood there, where the store alone would not write it so."""
    keys: Mapping[str, object] = {}
    """What else is to stand in its front matter."""


def lines(path: Path) -> Iterator[bytes | None]:
    """Yield the lines of a file, one at a time, however large it is; None for one that is too long."""
    try:
        with path.open("rb") as opened:
            yield from lines_of(opened)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from error


def lines_of(opened: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines of an open file, standard input say."""
    return (data for _, data in raw_lines(opened))


def load(data: bytes | None) -> dict[str, Any]:
    """Read one line; raise ValueError with the reason."""
    if data is None:
        raise ValueError(f"it has more than {LONGEST >> 20} MB")
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def parse(found: Mapping[str, Any], zone: Any, default: str = "") -> Line:
    """Read the object of one line; raise ValueError with the reason."""
    models = found.get("models", found.get("model", default))
    names = [models] if isinstance(models, str) else models
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError("`model` (a text) or `models` (a list of texts) is missing")
    text, front = found.get("text"), found.get("front")
    if not isinstance(text, str) or not (text.strip() or front is not None):  # a note may be front matter alone
        raise ValueError("`text` is missing or empty")
    source, created, handle = found.get("source") or "", found.get("created"), found.get("handle") or ""
    if not isinstance(source, str) or not isinstance(created, str | None):
        raise ValueError("`source` and `created` must be texts")
    if not isinstance(handle, str) or not isinstance(front, str | None):
        raise ValueError("`handle` and `front` must be texts")
    if not all(is_spellable(each) for each in (source, handle, front or "")):
        raise ValueError("it holds NUL bytes or half a character")
    unique = tuple(dict.fromkeys(layout.legal(name) for name in names))
    text = record.clean(text) if text.strip() else ""
    return Line(unique, text, times.parse(created, zone) if created else None, source, handle, front)


def bring_in(
    tools: Tools,
    given: Iterable[bytes | None],
    default: str,
    undated: datetime,
    *,
    dry: bool,
    step: Callable[[int], None],
) -> Imported:
    """Import every line that is a note and was not imported before; a bad line is named and passed over.

    `step` is told the bytes that were read. A line without a date gets `undated` (the input file's own time); lines of
    one time keep their order by microseconds. A second run, or one after a kill, adds only what is missing.
    """
    same: Counter[int] = Counter()
    report, known, pending = Imported(), done(tools.census), Pending(tools, dry=dry)
    models, there = Models(tools), _There(tools)
    forgot = Forgot(tools.census)
    zone = tools.census.vault.settings.zone
    for number, data in enumerate(given, 1):
        step(LONGEST if data is None else len(data))
        if data is not None and not data.strip():
            continue
        report.read += 1
        try:
            found = load(data)
            if found.get("kind") in NO_NOTES and "handle" in found:
                report.skip(f"lines of the kind {found['kind']}")
                continue
            line = parse(found, zone, default)
        except (ValueError, PyramidError) as error:
            report.bad.append(f"line {number}: {error}")
            continue
        mark, time = _mark(line), line.created or undated
        if forgot.knows(line._replace(created=time), mark):
            report.skip("notes that were forgotten here")
            same[times.micros(time)] += 1
            continue
        if mark in known or there.holds(line):
            report.known += 1
            same[times.micros(time)] += 1
            continue
        try:
            into = tuple(dict.fromkeys(models.meant(name) for name in line.models))
            apart = 0 if line.handle else same[times.micros(time)]
            line = line._replace(created=time + apart * times.TICK, models=into)
            check(line)
        except (PyramidError, OverflowError) as error:
            report.bad.append(f"line {number}: {error}")
            continue
        same[times.micros(time)] += 1
        known.add(mark)
        take(report, models, pending, line, mark)
    pending.flush()
    return report


def take(report: Imported, models: Models, pending: Pending, line: Line, mark: str, **more: object) -> None:
    """Write a note, with the models that it is in, and count it."""
    for model in line.models:
        if models.is_new(model):
            report.models.append(model)
            pending.make_model(model)
    made = pending.add(line, mark, **more)
    report.files += made
    report.notes += made > 0
    report.known += made == 0


def _mark(line: Line) -> str:
    """Make the tag of a line; a name of its own tells two notes apart that say the same at the same time."""
    created = times.spell(line.created) if line.created else ""
    named = (f"handle {line.handle}",) if line.handle else ()
    return tag(line.source or "jsonl", line.text, created, *line.models, *named)


def check(line: Line) -> None:
    """Raise UsageError for front matter that is none."""
    if line.front is not None and pages.read(_with_front(line)).body != line.text:
        raise UsageError("`front` is no front matter")


def spell(line: Line, zone: tzinfo) -> bytes:
    """Spell the file of a note; front matter of its own stays as it was, and says the date where it did not."""
    created = line.created or times.EPOCH
    if line.front is None:
        return pages.spell({"created": created, "source": line.source or None, **line.keys}, line.text)
    data = _with_front(line)
    note = kinds.read_note("", pages.read(data), created, zone)
    is_said = note.problem or (note.dated is Dated.KEY and note.created == created)
    return data if is_said else pages.set_key(data, "created", created)


def _with_front(line: Line) -> bytes:
    front = line.front or ""
    return f"---\n{front}{'' if not front or front.endswith(chr(10)) else chr(10)}---\n{line.text}\n".encode()


class Forgot:
    """Which notes were forgotten here: no import brings them back."""

    def __init__(self, census: Census) -> None:
        census.look_at(())  # the tombstones that others wrote since
        self._marks = census.forgotten
        self._digests = {digest for _, digest in census.forgotten}

    def knows(self, line: Line, mark: str) -> bool:
        """Whether a person had a note of this text forgotten under its own name, or one that an import gives it."""
        digest = pages.digest(line.text)
        return digest in self._digests and any((_hash(name), digest) in self._marks for name in _names(line, mark))


def _names(line: Line, mark: str) -> Iterator[str]:
    """Yield the handles that a note may have here."""
    if line.handle:
        yield line.handle
    made = (layout.note_path("", line.created or times.EPOCH, line.text, suffix) for suffix in suffixes(mark))
    yield from map(layout.handle, made)


def _hash(handle: str) -> str:
    return hashlib.sha256(handle.encode("utf-8", "replace")).hexdigest()


class _There:
    """Which notes of an export are in this vault already, because they were exported from it."""

    def __init__(self, tools: Tools) -> None:
        self._census = tools.census
        self._embeds: set[tuple[str, str]] | None = None

    def holds(self, line: Line) -> bool:
        """Whether the vault has a note of this name and text; one that this import began may lack its embeds yet."""
        if not line.handle:
            return False
        if self._embeds is None:
            self._embeds = self._embedded()
        digest, catalog = pages.digest(line.text), self._census.catalog
        rows = {path: catalog.row(path) for path in catalog.paths_of(line.handle)}
        found = [path for path, row in rows.items() if row and isinstance(row.file, Note) and row.file.digest == digest]
        is_whole = all((model, line.handle) in self._embeds for model in line.models[1:])
        return any(is_whole or path != _own_path(line.models[0], line) for path in found)

    def _embedded(self) -> set[tuple[str, str]]:
        """Give each model's embeds, by the names of the notes that they show."""
        self._census.refresh()
        found = (file for file in self._census.values() if isinstance(file, Note) and file.embed)
        return {(note.path.split("/")[1], links.name(note.embed)) for note in found}


def _own_path(model: str, line: Line) -> str:
    """Make the path of a note that keeps its name; empty where the name is none for every system."""
    try:
        name = layout.legal(line.handle, _NAME_BYTES)
    except PyramidError:
        return ""
    if not layout.is_markdown(f"{name}.md"):
        return ""
    return f"{layout.MODELS}/{model}/{times.stamp(line.created or times.EPOCH)[:7]}/{name}.md"


class Pending:
    """Notes that are written but whose folders and ledger lines are not on disk yet."""

    def __init__(self, tools: Tools, *, dry: bool) -> None:
        self._tools, self._dry = tools, dry
        self._entries: list[dict[str, Any]] = []
        self._folders: set[Path] = set()
        self._forgot = Forgot(tools.census)

    def make_model(self, model: str) -> None:
        """Make the card of a new model."""
        if not self._dry:
            path = self._tools.census.vault.root / layout.card_path(model)
            if not path.parent.exists():
                disk.create(path, kinds.spell_card(""))

    def add(self, line: Line, mark: str, **more: object) -> int:
        """Write a note and its embeds; give how many files were new. `more` is noted with its tag.

        A note that was forgotten here is not written: an import that was cut short does not know it by its tag.
        """
        if self._forgot.knows(line, mark):
            return 0
        if self._dry:
            return len(line.models)
        created = line.created or times.EPOCH
        made, path = self._create(line.models[0], created, line.text, mark, self._spelled(line), self._own(line))
        embed = pages.spell({}, f"!{links.spell(layout.handle(path))}")
        for model in line.models[1:]:
            made += self._create(model, created, line.text, f"{mark}:{model}", embed)[0]
        self.noted(mark, made=len(line.models), **more)
        return made

    def noted(self, mark: str, *, made: int = 1, **more: object) -> None:
        """Remember that something was made, for the ledger."""
        if self._dry:
            return
        self._entries.append({"source": mark, "made": made, "at": times.spell(self._tools.clock()), **more})
        if len(self._entries) >= LINES:
            self.flush()

    def _spelled(self, line: Line) -> bytes:
        return spell(line, self._tools.census.vault.settings.zone)

    def _own(self, line: Line) -> list[str]:
        """Give the path by which a note keeps its name, if the name is free."""
        path = _own_path(line.models[0], line) if line.handle else ""
        others = [other for other in self._tools.census.catalog.paths_of(line.handle) if other != path] if path else []
        return [path] if path and not others else []

    def _create(
        self, model: str, created: datetime, text: str, mark: str, data: bytes, first: Iterable[str] = ()
    ) -> tuple[int, str]:
        """Create a file under the first of its names that is free; the same file there already is this very note."""
        root = self._tools.census.vault.root
        made = (layout.note_path(model, created, text, suffix) for suffix in suffixes(mark))
        for path in (*first, *made):
            try:
                disk.create(root / path, data, settle_folder=False)
            except ExistsAlready:
                if disk.read(root / path) == data:
                    return 0, path
                continue
            self._folders.add((root / path).parent)
            return 1, path
        raise ExistsAlready(f"{path} and the names after it are taken")

    def flush(self) -> None:
        """Bring the folders to disk, then the ledger: a line there means that its files are safe."""
        for folder in self._folders:
            disk.sync_folder(folder)
        self._folders.clear()
        if self._entries:
            vault = self._tools.census.vault
            vault.add_to_ledger(disk.machine(self._tools.cache.parent), self._entries)
            self._entries.clear()

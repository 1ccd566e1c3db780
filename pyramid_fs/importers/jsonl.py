"""Imports `{"model" | "models", "text", "created", "source"}`, one JSON object a line."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import files as disk
from pyramid_fs import format as pages
from pyramid_fs import kinds, layout, links, record, times
from pyramid_fs.errors import ExistsAlready, PyramidError, UsageError
from pyramid_fs.importers import LINES, Imported, Models, done, suffixes, tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from pyramid_fs.issue import Tools


class Line(NamedTuple):
    """One note to import."""

    models: tuple[str, ...]
    text: str
    created: datetime | None
    source: str


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, one at a time, however large it is."""
    try:
        with path.open("rb") as opened:
            yield from opened
    except OSError as error:
        raise UsageError(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from error


def parse(data: bytes, zone: Any, default: str = "") -> Line:
    """Read one line; raise ValueError with the reason."""
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    models = found.get("models", found.get("model", default))
    names = [models] if isinstance(models, str) else models
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError("`model` (a text) or `models` (a list of texts) is missing")
    text = found.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("`text` is missing or empty")
    source, created = found.get("source") or "", found.get("created")
    if not isinstance(source, str) or not isinstance(created, str | None):
        raise ValueError("`source` and `created` must be texts")
    unique = tuple(dict.fromkeys(layout.legal(name) for name in names))
    return Line(unique, record.clean(text), times.parse(created, zone) if created else None, source)


def bring_in(
    tools: Tools, given: Iterable[bytes], default: str, undated: datetime, *, dry: bool, step: Callable[[int], None]
) -> Imported:
    """Import every line that is a note and was not imported before; a bad line is named and passed over.

    `step` is told the bytes that were read. A line without a date gets `undated` (the input file's own time); lines of
    one time keep their order by microseconds. A second run, or one after a kill, adds only what is missing.
    """
    same: Counter[datetime] = Counter()
    report, known, pending = Imported(), done(tools.census), _Pending(tools, dry)
    models = Models(tools)
    zone = tools.census.vault.settings.zone
    for number, data in enumerate(given, 1):
        step(len(data))
        if not data.strip():
            continue
        report.read += 1
        try:
            line = parse(data, zone, default)
        except (ValueError, PyramidError) as error:
            report.bad.append(f"line {number}: {error}")
            continue
        mark = tag(line.source or "jsonl", line.text, times.spell(line.created) if line.created else "", *line.models)
        if mark in known or mark in pending.tags:
            report.known += 1
            same[line.created or undated] += 1
            continue
        try:
            into = tuple(dict.fromkeys(models.meant(name) for name in line.models))
        except PyramidError as error:
            report.bad.append(f"line {number}: {error}")
            continue
        time = line.created or undated
        line = line._replace(created=time + same[time] * times.TICK, models=into)
        same[time] += 1
        for model in into:
            if models.is_new(model):
                report.models.append(model)
                pending.make_model(model)
        made = pending.add(line, mark)
        report.files += made
        report.notes += made > 0
        report.known += made == 0
    pending.flush()
    return report


class _Pending:
    """Notes that are written but whose folders and ledger lines are not on disk yet."""

    def __init__(self, tools: Tools, dry: bool) -> None:  # noqa: FBT001
        self._tools, self._dry = tools, dry
        self._entries: list[dict[str, Any]] = []
        self._folders: set[Path] = set()
        self.tags: set[str] = set()

    def make_model(self, model: str) -> None:
        if not self._dry:
            path = self._tools.census.vault.root / layout.card_path(model)
            if not path.parent.exists():
                disk.create(path, kinds.spell_card(""))

    def add(self, line: Line, mark: str) -> int:
        """Write a note and its embeds; give how many files were new."""
        self.tags.add(mark)
        if self._dry:
            return len(line.models)
        created = line.created or times.EPOCH
        made, path = self._create(
            line.models[0], created, line.text, mark, kinds.spell_note(line.text, created, line.source)
        )
        embed = pages.spell({}, f"!{links.spell(layout.handle(path))}")
        for model in line.models[1:]:
            made += self._create(model, created, line.text, f"{mark}:{model}", embed)[0]
        at = self._tools.clock()
        self._entries.append({"source": mark, "made": len(line.models), "at": times.spell(at)})
        if len(self._entries) >= LINES:
            self.flush()
        return made

    def _create(self, model: str, created: datetime, text: str, mark: str, data: bytes) -> tuple[int, str]:
        """Create a file under the first of its names that is free; the same file there already is this very note."""
        root = self._tools.census.vault.root
        for suffix in suffixes(mark):
            path = layout.note_path(model, created, text, suffix)
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

"""Imports a folder of markdown notes: each file is copied as it is, under its own name, with its own times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyramid_fs import files as disk
from pyramid_fs import format as pages
from pyramid_fs import kinds, layout, times
from pyramid_fs.errors import DiskError, ExistsAlready, IllegalName, RefusedWrite, UsageError
from pyramid_fs.importers import LINES, Imported, Models, done, suffixes, tag
from pyramid_fs.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyramid_fs.issue import Tools


def listing(folder: Path) -> list[str]:
    """List the markdown files in a folder and those below it, tools' folders and leftovers left out."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    shut: list[object] = []
    found = sorted(seen.path for seen in disk.walk(folder, ".", shut))  # type: ignore[arg-type]
    if shut:
        raise DiskError(f"{folder} can't be read whole: {shut[0]}")
    return [path.removeprefix("./") for path in found]


def bring_in(
    tools: Tools, folder: Path, paths: list[str], model: str, *, dry: bool, step: Callable[[int], None]
) -> Imported:
    """Copy the files that were not imported before.

    With a `model` all go there and keep their subfolders; without one each first folder becomes a model, and files
    at the top go to the model named like the folder itself.
    """
    report, known = Imported(), done(tools.census)
    models, entries = Models(tools), []
    root = tools.census.vault.root
    for path in paths:
        step(1)
        report.read += 1
        try:
            data = disk.read(folder / path)
            name, inside = _target(path, model, folder.name)
            name = models.meant(name)
        except (DiskError, FileNotFoundError, IllegalName, RefusedWrite) as error:
            report.bad.append(f"{path}: {error}")
            continue
        page = pages.read(data)
        if page.is_blank:
            report.skipped += 1
            continue
        mark = tag(f"markdown:{path}", pages.digest(page.body), name)
        if mark in known:
            report.known += 1
            continue
        if models.is_new(name):
            report.models.append(name)
            if not dry:
                disk.create(root / layout.card_path(name), kinds.spell_card(""))
        made = 1 if dry else _copy(root, f"{layout.MODELS}/{name}/{inside}", data, mark, folder / path)
        report.files += made
        report.notes += made
        report.known += not made
        entries.append({"source": mark, "made": 1, "at": times.spell(tools.clock())})
        if len(entries) >= LINES and not dry:
            tools.census.vault.add_to_ledger(disk.machine(tools.cache.parent), entries)
            entries.clear()
    if not dry:
        tools.census.vault.add_to_ledger(disk.machine(tools.cache.parent), entries)
    return report


def _target(path: str, model: str, top: str) -> tuple[str, str]:
    parts = path.split("/")
    if model:
        return model, _plain("/".join(parts))
    if len(parts) == 1:
        return layout.legal(layout.slug(top) or "notes"), _plain(parts[0])
    return layout.legal(parts[0]), _plain("/".join(parts[1:]))


def _plain(inside: str) -> str:
    """Keep a note out of the folders that mean something here: `tier-0/` of another tool's holds no summaries."""
    first, _, rest = inside.partition("/")
    if rest and (first.startswith("tier-") or first == layout.RETIRED):
        return f"{first}-notes/{rest}"
    return inside


def _copy(root: Path, path: str, data: bytes, mark: str, original: Path) -> int:
    """Copy one file under its own name, or with a suffix where another text has that name; 0 if it is there."""
    card = layout.place(path)
    names = [] if card and card.kind is Kind.CARD else [path]
    for name in [*names, *(f"{path[:-3]}-{suffix}.md" for suffix in suffixes(mark))]:
        try:
            disk.create(root / name, data)
        except ExistsAlready:
            if disk.read(root / name) == data:
                disk.copy_times(root / name, original.stat())  # a kill may have come between the bytes and the times
                return 0
            continue
        disk.copy_times(root / name, original.stat())
        return 1
    raise ExistsAlready(f"{path} and the names after it are taken")

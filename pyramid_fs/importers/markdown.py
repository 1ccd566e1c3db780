"""Imports a folder of markdown notes: each file is copied as it is, under its own name, with its own times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyramid_fs import files as disk
from pyramid_fs import forget, kinds, layout, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, ExistsAlready, IllegalName, RefusedWrite
from pyramid_fs.importers import LINES, Imported, Models, done, is_spellable, listing, suffixes, tag
from pyramid_fs.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyramid_fs.format import Page
    from pyramid_fs.issue import Tools

__all__ = ["bring_in", "listing"]

CARDS = "notes"
"""Where a note goes that says `type: model` of itself: beside the card it would be taken for one."""
_NAME_BYTES = 255
"""What disks hold."""


def path_mark(path: str, page: Page, model: str) -> str:
    """Make the tag of a file: where it lay, and what it says."""
    return tag(f"markdown:{path}", pages.digest(page.body), model)


def bring_in(
    tools: Tools,
    folder: Path,
    paths: list[str],
    model: str,
    *,
    mark_of: Callable[[str, Page, str], str] = path_mark,
    beside: Callable[[Imported, str, Page], None] = lambda *_: None,
    dry: bool,
    step: Callable[[int], None],
) -> Imported:
    """Copy the files that were not imported before; `beside` is told each file that was taken in, now or before.

    With a `model` all go there and keep their subfolders; without one each first folder becomes a model, and files
    at the top go to the model named like the folder itself.
    """
    report, known, forgotten = Imported(), done(tools.census), tools.census.forgotten
    models, entries = Models(tools), list[dict[str, Any]]()
    root = tools.census.vault.root

    def settle(least: int) -> None:
        if not dry and len(entries) >= least:
            tools.census.vault.add_to_ledger(disk.machine(tools.cache.parent), entries)
            entries.clear()

    for path in paths:
        step(1)
        report.read += 1
        try:
            data = _read(folder, path)
            page = pages.read(data)
            name, inside = _target(path, page, model, folder.name)
            name = models.meant(name)
        except (DiskError, FileNotFoundError, IllegalName, RefusedWrite) as error:
            report.bad.append(f"{path.encode('utf-8', 'replace').decode()}: {error}")
            continue
        if page.is_blank:
            report.skip("files without a text")
            continue
        mark = mark_of(path, page, name)
        if mark in known:
            report.known += 1
            beside(report, path, page)
            continue
        _make(root, models, name, report, dry=dry)
        *folders, own = inside.split("/")
        within = "/".join([layout.MODELS, name, *(_legal_folder(each) for each in folders)])
        names = _names(within, own, page, mark)
        if any((forget.hashed(layout.handle(each)), pages.digest(page.body)) in forgotten for each in names):
            report.known += 1  # an earlier run was cut off before it could note it, and it was forgotten since
            continue
        made, place = (1, names[0]) if dry else _copy(root, names, data, folder / path)
        if within.split("/")[2:] != folders or not _is_legal(own[:-3]):
            report.renamed[path] = place.removeprefix(f"{layout.MODELS}/")
        report.files += made
        report.notes += made
        report.known += not made
        known.add(mark)
        entries.append({"source": mark, "made": 1, "at": times.spell(tools.clock())})
        beside(report, path, page)
        settle(LINES)
    settle(1)
    return report


def _make(root: Path, models: Models, name: str, report: Imported, *, dry: bool) -> None:
    """Make a model, where there is none of that name."""
    if models.is_new(name):
        report.models.append(name)
        if not dry:
            disk.create(root / layout.card_path(name), kinds.spell_card(""))


def _read(folder: Path, path: str) -> bytes:
    if not is_spellable(path):
        raise IllegalName("its name is not UTF-8: rename it")
    return disk.read(folder / path)


def _target(path: str, page: Page, model: str, top: str) -> tuple[str, str]:
    """Give the model that a file goes to, and the path there."""
    parts = path.split("/")
    inside = parts if model or len(parts) == 1 else parts[1:]
    if len(inside) == 1 and page.text("type") == "model":
        inside = [CARDS, *inside]
    if model:
        return model, _plain("/".join(inside))
    name = parts[0] if len(parts) > 1 else layout.slug(top) or "notes"
    return layout.legal(name), _plain("/".join(inside))


def _plain(inside: str) -> str:
    """Keep a note out of the folders that mean something here: `tier-0/` of another tool's holds no summaries."""
    first, _, rest = inside.partition("/")
    if rest and (first.startswith("tier-") or first == layout.RETIRED):
        return f"{first}-notes/{rest}"
    return inside


def _is_legal(name: str) -> bool:
    """Whether every system and every link can hold a name."""
    try:
        layout.legal(name, _NAME_BYTES)
    except IllegalName:
        return False
    return True


def _legal_folder(name: str) -> str:
    return name if _is_legal(name) else f"{layout.slug(name) or 'folder'}-{layout.digest_suffix(name)}"


def _names(folder: str, own: str, page: Page, mark: str) -> list[str]:
    """List the paths to try for a file: its own name if it is legal and no card's, then names with a suffix.

    A name that is not legal is made anew, from what it says, or else from the title or the first words.
    """
    stem, path = own[:-3], f"{folder}/{own}"
    card = layout.place(path)
    is_legal, is_card = _is_legal(stem), card is not None and card.kind is Kind.CARD
    if not is_legal:
        given = (stem, page.text("title"), " ".join(page.body[:400].split()[: layout.WORDS]))
        stem = next(filter(None, map(layout.slug, given)), "note")
    first = [path] if is_legal and not is_card else []
    beside = (f"{layout.shorten(stem, _NAME_BYTES - len(end) - 4)}-{end}.md" for end in suffixes(mark))
    return [*first, *(f"{folder}/{name}" for name in beside)]


def _copy(root: Path, names: Sequence[str], data: bytes, original: Path) -> tuple[int, str]:
    """Copy one file under the first of its names that no other text has; say whether it was there, and its name."""
    for name in names:
        try:
            disk.create(root / name, data)
        except ExistsAlready:
            if disk.read(root / name) == data:
                disk.copy_times(root / name, original.stat())  # a kill may have come between the bytes and the times
                return 0, name
            continue
        disk.copy_times(root / name, original.stat())
        return 1, name
    raise ExistsAlready(f"{names[0]} and the names after it are taken")

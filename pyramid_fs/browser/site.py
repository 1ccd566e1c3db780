"""The same pages as files: a site that needs no server, every summary with links to its sources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pyramid_fs import context, files, layout
from pyramid_fs.browser import pages, writing
from pyramid_fs.browser.addresses import Exported
from pyramid_fs.browser.reading import Reader, Shown
from pyramid_fs.errors import RefusedWrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.memory import Memory

    Make: TypeAlias = Callable[[Reader], Shown]

MARK = ".pyramid-site.json"
"""Lies in a folder that an export made, and lists its files: only those are ever replaced."""


class Sheet(NamedTuple):
    """One file of a site."""

    path: str
    here: str
    make: Make


def export(memory: Memory, folder: Path, step: Callable[[int, int], None] = lambda _, __: None) -> int:
    """Write a vault's pages into a folder; give how many. Raise RefusedWrite for a folder that holds anything else.

    `step` is told (pages written, of how many).
    """
    where = files.absolute(folder)
    old = _made_before(where, memory.vault.root)
    memory.census.refresh()
    sheets = {sheet.path: sheet for sheet in _sheets(memory)}
    written = {*sheets, *(f"static/{name}" for name in writing.STATIC), MARK}
    _write(where, MARK, json.dumps(sorted(written | old)).encode())  # first: an export that is cut short can go on
    for number, sheet in enumerate(sheets.values(), 1):
        _write(where, sheet.path, _text(memory, sheet).encode("utf-8", "replace"))
        step(number, len(sheets))
    for name in writing.STATIC:
        _write(where, f"static/{name}", writing.static(name))
    for gone in old - written:
        (where / gone).unlink(missing_ok=True)
    _write(where, MARK, json.dumps(sorted(written)).encode())
    return len(sheets)


def _made_before(where: Path, vault: Path) -> set[str]:
    """List what an earlier export left in the folder; raise RefusedWrite where it holds what no export made."""
    if where == vault or vault in where.parents or where in vault.parents:
        raise RefusedWrite(f"{where} and the vault lie in each other: name a folder beside it")
    if where.is_symlink() or (where.exists() and not where.is_dir()):
        raise RefusedWrite(f"{where} is no folder: name another")
    if not where.exists() or not any(where.iterdir()):
        return set()
    try:
        listed = json.loads(files.read(where / MARK))
        names = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    except (FileNotFoundError, ValueError):
        raise RefusedWrite(
            f"{where} is not empty, and no site was exported there: name an empty or a new folder"
        ) from None
    found = {path.relative_to(where).as_posix() for path in where.rglob("*") if not path.is_dir() or path.is_symlink()}
    if others := sorted(found - names):
        raise RefusedWrite(f"{where} holds {others[0]!r}, which no export made: move it away, or name another folder")
    return found


def _write(where: Path, name: str, data: bytes) -> None:
    path = where / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _text(memory: Memory, sheet: Sheet) -> str:
    at = Exported(sheet.path.count("/"))
    return writing.write(sheet.make(Reader(memory, at)), memory, at, sheet.here)


# What there is to write


def _sheets(memory: Memory) -> Iterator[Sheet]:
    """Yield every page: a list's first names how many it has."""
    at = Exported()
    reader = Reader(memory, at)
    yield Sheet(at.page("map"), "map", pages.vault_map)
    for name, make in (("status", pages.status), ("verify", pages.verify), ("doctor", pages.doctor)):
        yield Sheet(at.page(name), name, make)
    for name, many in _LISTS.items():
        yield from _listed(lambda page, name=name: at.page(name, page), name, reader, many)  # type: ignore[misc]
    for line in memory.topics():
        yield Sheet(at.topic(line.slug), "", lambda r, slug=line.slug: pages.topic(r, slug))  # type: ignore[misc]
    for model in memory.census.models():
        yield from _of_model(reader, at, model)
    for top in (layout.MODELS, *layout.SHAPES):
        for value in memory.census.values(top):
            yield from _of_file(reader, at, value.path)


_LISTS: dict[str, Callable[[Reader, int], Shown]] = {
    "topics": pages.topics,
    "sessions": pages.sessions,
    "entities": lambda reader, page: pages.records(reader, "entities", page),
    "procedures": lambda reader, page: pages.records(reader, "procedures", page),
    "pending": lambda reader, page: pages.pending(reader, page, ""),
}


def _listed(
    address: Callable[[int], str], here: str, reader: Reader, make: Callable[[Reader, int], Shown]
) -> Iterator[Sheet]:
    last = make(reader, 1).values["pages"].last
    for page in range(1, last + 1):
        yield Sheet(address(page), here, lambda r, page=page: make(r, page))  # type: ignore[misc]


def _of_model(reader: Reader, at: Exported, model: str) -> Iterator[Sheet]:
    yield Sheet(at.model(model), "", lambda r: pages.model(r, model))
    now = reader.memory.census.now(model)
    for part in ("notes", "tail", "retired", *context.by_tier(now.state)):
        yield from _listed(
            lambda page, part=part: at.model(model, part, page),  # type: ignore[misc]
            "",
            reader,
            lambda r, page, part=part: pages.part(r, model, part, page),  # type: ignore[misc]
        )


def _of_file(reader: Reader, at: Exported, path: str) -> Iterator[Sheet]:
    yield from _listed(lambda part: at.file(path, part), "", reader, lambda r, part: pages.file(r, path, part))

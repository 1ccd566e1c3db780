"""Keeps what an import calls by name as entity records, each with its relations as links: added to, never merged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import files, layout, shapes
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, RefusedWrite
from pyramid_fs.notes import Entity, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyramid_fs.issue import Tools

FULL = 18_000
"""Characters of relations that one record takes; more than that is told in notes."""
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"[\[\]|#^\s]+")
"""What can't stand in a link."""


class Kept(NamedTuple):
    """What came of keeping one record."""

    is_new: bool
    added: tuple[str, ...]
    """Relations that the record took in."""
    there: tuple[str, ...]
    """Relations that stood in it."""
    rest: tuple[str, ...]
    """Relations that it could not take: it is full, gone, or a person made it unreadable."""


class Records:
    """The entity records that an import adds to; those that were there are flagged where a new one may repeat them."""

    def __init__(self, tools: Tools, *, dry: bool) -> None:
        self._tools, self._dry = tools, dry
        tools.census.refresh()
        self._by_name: dict[str, list[Entity]] = {}
        self._by_source: dict[str, list[Entity]] = {}
        for found in tools.census.values("entities"):
            if isinstance(found, Entity):
                self._know(found)

    def _know(self, entity: Entity) -> None:
        for name in (entity.name, *entity.aliases):
            self._by_name.setdefault(_plain(name), []).append(entity)
        if entity.source:
            self._by_source.setdefault(entity.source, []).append(entity)

    def keep(self, entity: Entity, seed: str, relations: Sequence[str], *, is_known: bool) -> Kept:
        """Make the record, or give the one that an earlier import made the relations that it lacks.

        `is_known`: an import made it before, so one that is gone was deleted by a person, and stays so.
        """
        there = self._by_source.get(entity.source, [])
        found = next((each for each in there if each.label == entity.label), next(iter(there), None))
        if found is not None:
            return self._add(found.path, relations)
        if is_known:
            return Kept(is_new=False, added=(), there=(), rest=tuple(relations))
        lines, rest = _fitting(relations, FULL)
        if self._dry:
            return Kept(is_new=True, added=lines, there=(), rest=rest)
        like = {other.path: other for name in _names(entity) for other in self._by_name.get(name, [])}
        made = shapes.add(
            self._tools, entity, "\n".join(lines), seed=seed, others=[(other, "") for other in like.values()]
        )
        if not made.is_new:
            return self._add(made.path, relations)
        bare = Entity(made.path, made.handle, Kind.ENTITY, entity.created, entity.name, label=entity.label)
        self._by_name.setdefault(_plain(entity.name), []).append(bare)
        return Kept(is_new=True, added=lines, there=(), rest=rest)

    def _add(self, path: str, relations: Sequence[str]) -> Kept:
        """Write the relations that a record lacks below its text, which stays as it is."""
        where = self._tools.census.vault.root / path
        try:
            old = files.read(where)
            page = _open(old)
            held = set(page.body.split("\n"))
            there = tuple(line for line in relations if line in held)
            new, rest = _fitting([line for line in relations if line not in held], FULL - len(page.body))
            if new and not self._dry:
                body = "\n".join([*([page.body] if page.body else []), *new])
                files.replace(where, pages.set_body(old, body), old)
        except (RefusedWrite, DiskError, FileNotFoundError):
            return Kept(is_new=False, added=(), there=(), rest=tuple(relations))
        return Kept(is_new=False, added=new, there=there, rest=rest)


def _open(data: bytes) -> pages.Page:
    """Take a record apart that is to be added to; raise RefusedWrite where that can't be done."""
    page = pages.read(data)
    if page.problem or not page.fenced:
        raise RefusedWrite(page.problem or "it has no front matter")
    return page


def handle_of(name: str, seed: str) -> str:
    """Give the handle that a record gets, which another one may link to before it is there."""
    return layout.handle(layout.shape_path(Kind.ENTITY, name, layout.digest_suffix(str(Kind.ENTITY), seed, name, "0")))


def link(name: str, handle: str = "") -> str:
    """Spell a link to what is called so, by its handle where that is known; a name of marks alone gets none."""
    shown = " ".join(_MARKS.sub(" ", name).split())
    if handle:
        return f"[[{handle}|{shown}]]" if shown else f"[[{handle}]]"
    return f"[[{shown}]]" if shown else name


def _names(entity: Entity) -> list[str]:
    return [_plain(name) for name in (entity.name, *entity.aliases)]


def _plain(name: str) -> str:
    """Leave of a name its words, so that `Ann_Lee` and `Ann Lee` are one."""
    from pyramid_fs import words  # with a stemmer, for an import of records alone

    return " ".join(_WORD.findall(words.fold(name))) or name


def _fitting(lines: Sequence[str], room: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part lines into those that fit and the rest."""
    used = 0
    for number, line in enumerate(lines):
        used += len(line) + 1
        if used > room:
            return tuple(lines[:number]), tuple(lines[number:])
    return tuple(lines), ()

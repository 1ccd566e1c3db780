"""Where a text stands in its models: the notes before and after it, its batch, and the batch of batches."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs import layout, links, ranking
from pyramid_fs.pyramid import Shape
from pyramid_fs.ranking import Group, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyramid_fs.catalog import Catalog

LISTED = 20_000
"""A model of more notes than this is not read into memory for a search; each place in it is looked up."""
AROUND = 2
"""Notes each way."""
SAMPLE = 1_000
"""Notes of a model whose length is looked at."""
CHANGES = 1_000
"""More changed files than this are not gone through: every model is read again."""
CHARS = 5.3
"""Characters of a term, with what stands between them; measured on English chat."""

_NOTES = "SELECT at, path, id, embed FROM files WHERE model = ? AND at IS NOT NULL"


class _Row(NamedTuple):
    at: int
    path: str
    id: int
    embed: str


@dataclass(frozen=True, slots=True)
class _Model:
    """The notes of one model, oldest first, and what has summarized each name."""

    rows: list[_Row]
    above: Mapping[str, str]
    tail: Mapping[str, int]
    """Path of a note that no summary has → how many such notes come before it."""


class Places:
    """Looks places up in the catalog, and remembers them until a file has changed."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._seen = ("", "")
        """The catalog that was asked last, and the number of the last change in it then."""
        self._models: dict[str, _Model | None] = {}
        self._lengths: dict[str, float] = {}
        self._ids: dict[str, int] = {}
        self._found: dict[int, tuple[Place, ...]] = {}

    def fresh(self) -> None:
        """Forget what may have changed since the last time: of the models those that hold a changed file."""
        meta = dict(self._catalog.ask("SELECT key, value FROM meta"))
        before, self._seen = self._seen, (meta.get("birth", ""), meta.get("rev", ""))
        if self._seen == before and all(before):  # rows in memory have no birth, and are not numbered on
            return
        for remembered in (self._lengths, self._ids, self._found):
            remembered.clear()
        is_same = all(before) and self._seen[0] == before[0]
        changed = self._changed(before[1]) if is_same else None
        for model in list(self._models) if changed is None else changed:
            self._models.pop(model, None)

    def _changed(self, rev: str) -> set[str] | None:
        """Give the models in which files came or changed since a change; None where one went, or too many came."""
        if self._catalog.ask("SELECT 1 FROM gone WHERE rev > ? LIMIT 1", rev):
            return None
        paths = self._catalog.ask("SELECT path FROM files WHERE rev > ? LIMIT ?", rev, CHANGES + 1)
        return {path.partition("/")[2].partition("/")[0] for (path,) in paths} if len(paths) <= CHANGES else None

    def of(self, number: int) -> tuple[Place, ...]:
        """Give the places of a text: that of its own file, and those of the files that embed it."""
        if number not in self._found:
            self._found[number] = tuple(self._look(number))
        return self._found[number]

    def _look(self, number: int) -> list[Place]:
        ask = self._catalog.ask
        found = ask("SELECT at, path, id, embed, model, handle FROM files WHERE id = ?", number)
        if not found or found[0][0] is None:
            return []
        *row, model, handle = found[0]
        length = self._length(model)
        stands = [(_Row(*row), model), *self.embeds(handle)]
        return [self._place(row, model, length) for row, model in stands]

    def _length(self, model: str) -> float:
        """Give the terms that a note of a model has, on average over the first of them."""
        if model not in self._lengths:
            notes = "SELECT chars FROM files WHERE model = ? AND at IS NOT NULL AND embed = '' LIMIT ?"
            found = self._catalog.ask(f"SELECT avg(chars) FROM ({notes})", model, SAMPLE)  # noqa: S608  (no user's text)
            self._lengths[model] = (found[0][0] or 0.0) / CHARS
        return self._lengths[model]

    def embeds(self, handle: str) -> list[tuple[_Row, str]]:
        """List the files, with their models, that show the text of a note, and those that show these."""
        found, names, known = list[tuple[_Row, str]](), [handle], {handle}
        for name in names:
            ask = "SELECT at, path, id, embed, model FROM files WHERE embed = ? AND embed != ''"
            rows = [(_Row(*row), model) for *row, model in self._catalog.ask(ask, name)]
            found += rows
            fresh = [one for row, _ in rows if (one := _name(row.path)) not in known]
            names += fresh
            known.update(fresh)
        return found

    def _place(self, row: _Row, model: str, length: float) -> Place:
        if model not in self._models:
            self._models[model] = self._read(model)
        known = self._models[model]
        before, after = _listed(known.rows, row) if known else self._sought(row, model)
        return Place(self._texts(before), self._texts(after), tuple(self._groups(row, model, known)), length)

    def _read(self, model: str) -> _Model | None:
        rows = [_Row(*row) for row in self._catalog.ask(f"{_NOTES} ORDER BY at, path LIMIT {LISTED + 1}", model)]
        if len(rows) > LISTED:
            return None
        scope = f"{layout.MODELS}/{model}"
        named = self._catalog.ask(
            "SELECT name, summary FROM sources WHERE summary > ? AND summary < ? ORDER BY summary DESC",
            f"{scope}/",
            f"{scope}0",
        )
        above = dict(named)
        tail = (row.path for row in rows if _name(row.path) not in above)
        return _Model(rows, above, {path: at for at, path in enumerate(tail)})

    def _sought(self, row: _Row, model: str) -> tuple[list[_Row], list[_Row]]:
        ask = self._catalog.ask
        before = ask(
            f"{_NOTES} AND (at, path) < (?, ?) ORDER BY at DESC, path DESC LIMIT {AROUND}", model, row.at, row.path
        )
        after = ask(f"{_NOTES} AND (at, path) > (?, ?) ORDER BY at, path LIMIT {AROUND}", model, row.at, row.path)
        return [_Row(*row) for row in before], [_Row(*row) for row in after]

    def _texts(self, rows: list[_Row]) -> tuple[int, ...]:
        """Give the numbers of the texts that notes show: an embed shows that of another file."""
        return tuple(self.shown(row.embed) or row.id if row.embed else row.id for row in rows)

    def shown(self, handle: str) -> int:
        """Give the number of the text that an embed of a handle shows; 0 where there is none."""
        if handle not in self._ids:
            self._ids[handle] = 0
            found = self._catalog.ask("SELECT id, embed FROM files WHERE handle = ? ORDER BY path LIMIT 1", handle)
            for number, embed in found:
                self._ids[handle] = self.shown(embed) if embed else number
        return self._ids[handle]

    def _groups(self, row: _Row, model: str, known: _Model | None) -> list[Group]:
        if known and row.path in known.tail:
            shape, at = Shape(), known.tail[row.path]
            sizes = (shape.batch_notes, shape.batch_notes * shape.fan_in)
            return [Group((model, size, at // size)) for size in sizes]
        groups, name = list[Group](), _name(row.path)
        for _ in range(ranking.TIERS):
            path = known.above.get(name) if known else self._above(name, model)
            if not path:
                break
            groups.append(Group(path, self._number(path)))
            name = _name(path)
        return groups

    def _above(self, name: str, model: str) -> str:
        found = self._catalog.ask("SELECT summary FROM sources WHERE name = ?", name)
        return min((path for (path,) in found if path.startswith(f"{layout.MODELS}/{model}/")), default="")

    def _number(self, path: str) -> int | None:
        if path not in self._ids:
            found = self._catalog.ask("SELECT id FROM files WHERE path = ?", path)
            self._ids[path] = found[0][0] if found else 0
        return self._ids[path] or None


def _name(path: str) -> str:
    return links.target(path.rsplit("/", 1)[-1])


def _listed(rows: list[_Row], row: _Row) -> tuple[list[_Row], list[_Row]]:
    at = bisect_left(rows, row)
    return rows[max(0, at - AROUND) : at][::-1], rows[at + 1 : at + 1 + AROUND]

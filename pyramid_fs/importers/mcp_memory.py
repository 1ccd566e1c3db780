"""Imports the memory of the MCP reference server: observations as notes, entities as records, relations as links.

The file holds an object a line, `{"type": "entity", "name", "entityType", "observations"}` or `{"type": "relation",
"from", "to", "relationType"}`; it says no dates, so the file's own time dates all, in the order of the input.
"""

from __future__ import annotations

import json
import re
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import curation, record, shapes, times
from pyramid_fs.errors import DiskError, PyramidError, UsageError
from pyramid_fs.importers import LONGEST, Imported, Models, done, is_spellable, later, raw_lines, tag
from pyramid_fs.importers.jsonl import Line, Pending, take
from pyramid_fs.importers.records import Records, handle_of, link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

    from pyramid_fs.issue import Tools
    from pyramid_fs.notes import Entity

SOURCE = "mcp-memory"
LOOKED = 2000
"""Characters at the beginning of an observation in which it may say whom it is about."""
_DECODER = json.JSONDecoder()
_NONE = -1
_DATES = ("timestamp", "createdAt", "created_at", "created", "date")
"""Where servers that grew out of the reference one say when an observation was made."""


class _Relation(NamedTuple):
    """One relation, as the file says it."""

    of: str
    to: str
    kind: str

    @property
    def mark(self) -> str:
        return tag(SOURCE, "relation", self.of, self.to, self.kind)

    @property
    def sentence(self) -> str:
        return f"{_line(self.of)} {self.words} {_line(self.to)}"

    @property
    def words(self) -> str:
        return _line(self.kind) or "is related to"


@dataclass(slots=True)
class _Graph:
    """Where things stand in the file: numbers for each name and relation, not their texts."""

    names: dict[int, int] = field(default_factory=dict)
    """The hash of an entity's name → that of its first type."""
    last: dict[int, int] = field(default_factory=dict)
    """The hash of a relation's first end → the number of its last line."""
    before: array[int] = field(default_factory=lambda: array("q"))
    """For each such line, the number of the one before it that begins at the same end."""
    offsets: array[int] = field(default_factory=lambda: array("q"))

    def note(self, item: Mapping[str, Any], at: int) -> None:
        """Note an entity's name, or where a relation stands."""
        if name := _name(item):
            self.names.setdefault(hash(name), hash(_label(item)))
        elif (relation := _relation(item)) and self._is_new(hash(relation.of), at):
            self.before.append(self.last.get(hash(relation.of), _NONE))
            self.last[hash(relation.of)] = len(self.offsets)
            self.offsets.append(at)

    def _is_new(self, end: int, at: int) -> bool:
        """Two objects of one line are found by one look at it."""
        return end not in self.last or self.offsets[self.last[end]] != at

    def take(self, name: str) -> list[int]:
        """Give where the relations of a name stand, in their order; a second time none."""
        found, at = [], self.last.pop(hash(name), _NONE)
        while at != _NONE:
            found.append(self.offsets[at])
            at = self.before[at]
        return found[::-1]


def bring_in(
    tools: Tools, path: Path, model: str, undated: datetime, *, confirm: bool, dry: bool, step: Callable[[int], None]
) -> Imported:
    """Import what was not imported before; a part that can't be used is named and passed over.

    The file is read twice: relations stand at its end, and belong in the records at its beginning.
    """
    try:
        with path.open("rb") as opened, path.open("rb") as beside:
            _refuse_other(opened, path)
            opened.seek(0)
            graph = _survey(opened)
            opened.seek(0)
            return _Run(tools, graph, beside, model, undated, confirm=confirm, dry=dry).through(opened, step)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from error


def _survey(opened: BinaryIO) -> _Graph:
    graph, at = _Graph(), 0
    for size, data in raw_lines(opened):
        for item in _items(data):
            if isinstance(item, dict):
                graph.note(item, at)
        at += size
    return graph


def _refuse_other(opened: BinaryIO, path: Path) -> None:
    """Raise UsageError for one JSON value over several lines: every line of it would be a bad one."""
    first = opened.readline(LONGEST).removeprefix(b"\xef\xbb\xbf").strip()
    if first in {b"[", b"{"}:
        raise UsageError(
            f"{path} holds one JSON value over many lines, not an object a line: `jq -c '.[]'` makes it so"
        )


def _items(data: bytes | None) -> Iterator[Any]:
    """Yield the values of one line: more than one where an end of line was lost; a text says what is wrong."""
    if data is None:
        yield f"it has more than {LONGEST >> 20} MB"
        return
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        yield "it is not UTF-8"
        return
    at = 0
    while at < len(text):
        try:
            found, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield "it is not JSON" if data.endswith(b"\n") else "it is not JSON: it breaks off"
            return
        yield found if isinstance(found, dict) else "it is no JSON object"
        at += len(text[at:]) - len(text[at:].lstrip()) if at < len(text) else 0


def _name(item: Mapping[str, Any]) -> str:
    """Give an entity's name; empty for what is no entity, or one without a name."""
    name = item.get("name")
    return str(name) if item.get("type") == "entity" and _is_name(name) else ""


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip()) and is_spellable(name)


def _label(item: Mapping[str, Any]) -> str:
    label = item.get("entityType")
    return _line(label) if isinstance(label, str) and is_spellable(label) else ""


def _relation(item: Mapping[str, Any]) -> _Relation | None:
    ends, kind = (item.get("from"), item.get("to")), item.get("relationType")
    if item.get("type") != "relation" or not all(_is_name(end) for end in ends):
        return None
    return _Relation(str(ends[0]), str(ends[1]), kind if isinstance(kind, str) and is_spellable(kind) else "")


def _line(text: str) -> str:
    return " ".join(text.split())


class _Run:
    """One way through the file."""

    def __init__(
        self,
        tools: Tools,
        graph: _Graph,
        beside: BinaryIO,
        model: str,
        undated: datetime,
        *,
        confirm: bool,
        dry: bool,
    ) -> None:
        self._tools, self._graph, self._beside, self._undated = tools, graph, beside, undated
        self._status = curation.CONFIRMED if confirm else curation.PENDING
        self._models, self._known = Models(tools), done(tools.census)
        self._model = self._models.meant(model)
        self._pending, self._records = Pending(tools, dry=dry), Records(tools, dry=dry)
        self._report, self._where, self._count = Imported(), "", 0

    def through(self, opened: BinaryIO, step: Callable[[int], None]) -> Imported:
        """Take in line after line."""
        for number, (size, data) in enumerate(raw_lines(opened), 1):
            step(size)
            self._where = f"line {number}"
            for item in _items(data):
                self._item(item)
        self._pending.flush()
        return self._report

    def _item(self, item: Any) -> None:
        if isinstance(item, str):
            self._bad(item)
        elif item.get("type") == "entity":
            self._entity(item)
        elif item.get("type") == "relation":
            self._alone(item)
        else:
            self._report.read += 1
            self._report.skip("objects that are no entity and no relation")

    def _bad(self, reason: object) -> None:
        self._report.read += 1
        self._report.bad.append(f"{self._where}: {reason}")

    def _is_known(self, mark: str) -> bool:
        """Whether something was taken in before; from now on it was."""
        if mark in self._known:
            self._report.known += 1
            return True
        self._known.add(mark)
        return False

    # Entities

    def _entity(self, item: Mapping[str, Any]) -> None:
        name = _name(item)
        if not name:
            self._bad("the entity has no `name`")
            return
        self._report.read += 1
        try:
            self._keep(name, _label(item))
        except DiskError:
            raise
        except PyramidError as error:
            self._report.bad.append(f"{self._where}: {error}")
        given = item.get("observations")
        for number, each in enumerate(given if isinstance(given, list) else [given], 1):
            if each is not None or isinstance(given, list):
                self._observation(name, number, each)

    def _keep(self, name: str, label: str) -> None:
        """Keep the record of an entity with its relations."""
        is_first = self._graph.names.get(hash(name)) == hash(label)
        seed = _seed(name) if is_first else tag(SOURCE, "entity", name, label)
        is_known = self._is_known(seed)
        lines: dict[str, _Relation] = {}
        for relation in self._fresh(name):
            if lines.setdefault(self._spelled(relation), relation) is not relation:
                self._report.known += 1  # two names that differ by blanks and brackets alone
        if is_known and not lines:
            return
        try:
            kept = self._records.keep(self._made(name, label), seed, list(lines), is_known=is_known)
        except PyramidError:
            self._tell(lines.values())
            raise
        if not is_known:
            self._report.records += kept.is_new
            self._report.known += not kept.is_new
            self._pending.noted(seed)
        self._report.relations += len(kept.added)
        self._report.known += len(kept.there)
        for line in (*kept.added, *kept.there):
            self._pending.noted(lines[line].mark)
        self._tell([lines[line] for line in kept.rest])

    def _made(self, name: str, label: str) -> Entity:
        from dataclasses import replace

        entity = shapes.entity(_line(name), label, None, f"{SOURCE}:{_line(name)}", self._undated)
        return replace(entity, status=self._status)

    def _fresh(self, name: str) -> Iterator[_Relation]:
        """Read the relations of a name that were not taken in before."""
        for offset in self._graph.take(name):
            self._beside.seek(offset)
            for item in _items(self._beside.readline(LONGEST)):
                relation = _relation(item) if isinstance(item, dict) else None
                if relation and relation.of == name:
                    self._report.read += 1
                    if not self._is_known(relation.mark):
                        yield relation

    def _spelled(self, relation: _Relation) -> str:
        there = hash(relation.to) in self._graph.names
        handle = handle_of(_line(relation.to), _seed(relation.to)) if there else ""
        return f"- {relation.words} {link(relation.to, handle)}"

    # Notes

    def _alone(self, item: Mapping[str, Any]) -> None:
        """Take in a relation whose first end is no entity of the file; any other is kept with its entity."""
        relation = _relation(item)
        if relation is None:
            self._bad("the relation lacks `from` or `to`")
        elif hash(relation.of) not in self._graph.names:
            self._report.read += 1
            if not self._is_known(relation.mark):
                self._tell([relation])

    def _tell(self, relations: Any) -> None:
        """Keep relations as notes that no record can take."""
        for relation in relations:
            self._note(relation.sentence, relation.of, relation.mark, self._undated)

    def _observation(self, name: str, number: int, given: Any) -> None:
        self._report.read += 1
        self._count += 1
        try:
            text, time = _said(given, self._tools.census.vault.settings.zone)
            if not text.strip():
                self._report.skip("observations without a text")
                return
            text = record.clean(text)
        except (ValueError, PyramidError) as error:
            self._report.bad.append(f"{self._where}, observation {number}: {error}")
            return
        mark = tag(SOURCE, name, text, self._model)
        if not self._is_known(mark):
            self._note(_about(name, text), name, mark, time or self._undated)

    def _note(self, text: str, name: str, mark: str, time: datetime) -> None:
        source = f"{SOURCE}:{_line(name)}"
        line = Line((self._model,), text, later(time, self._count), source)
        take(self._report, self._models, self._pending, line, mark)


def _seed(name: str) -> str:
    return tag(SOURCE, "entity", name)


def _about(name: str, text: str) -> str:
    """Say whom an observation is about, where it does not say so itself: alone it would be about nobody."""
    plain = _line(name)
    return text if _says(_words(text[:LOOKED]), _words(plain)) else f"{plain}: {text}"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _says(text: list[str], name: list[str]) -> bool:
    """Whether the words of a name stand in a text one after the other; a name of marks alone is said nowhere."""
    return bool(name) and any(text[at : at + len(name)] == name for at in range(len(text)))


def _said(given: Any, zone: Any) -> tuple[str, datetime | None]:
    """Give the text of an observation and its date: a text, or an object of a server that adds more to it."""
    if isinstance(given, str):
        return given, None
    if not isinstance(given, dict) or not isinstance(given.get("content", given.get("text")), str):
        raise ValueError("it is no text")
    text = str(given.get("content", given.get("text")))
    more = {key: value for key, value in given.items() if key not in {"content", "text", *_DATES}}
    said = ", ".join(f"{key}: {value}" for key, value in more.items() if isinstance(value, (str, int, float)))
    for key in _DATES:
        try:
            return (f"{text} ({said})" if said else text), times.parse(str(given[key]), zone)
        except (KeyError, ValueError):
            continue
    return (f"{text} ({said})" if said else text), None

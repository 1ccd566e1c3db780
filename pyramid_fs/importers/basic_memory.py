"""Imports a basic-memory project: each file is a note with its text as it is; files of named types are records too.

What is there an observation (`- [category] text #tag (context)`) or a relation (`- kind [[Target]] (context)`) stays in
the note's text. A file is dated by its `created`, else by its time, as the vault dates any note.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pyramid_fs import curation, files, links, shapes, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, PyramidError
from pyramid_fs.importers import Imported, code_lines, done, is_spellable, markdown, tag
from pyramid_fs.importers.jsonl import Pending
from pyramid_fs.importers.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyramid_fs.format import Page
    from pyramid_fs.issue import Tools

SOURCE = "basic-memory"
_RELATION = re.compile(r"^\s*[-*+]\s+(?!\[[^\[\]]*\]\s)([^\[\]]*)(\[\[[^\[\]\n]+\]\])")
"""A line of a list that says a kind and a target; one that begins with `[category]` is an observation."""


def bring_in(
    tools: Tools,
    folder: Path,
    paths: list[str],
    model: str,
    *,
    types: Sequence[str],
    confirm: bool,
    dry: bool,
    step: Callable[[int], None],
) -> Imported:
    """Copy the files that were not imported before; those whose `type` is one of `types` get a record beside the note.

    A record says the relations of its file as links, and gets those that were added to the file since.
    """
    records = _Things(tools, folder, types, confirm=confirm, dry=dry) if types else None
    beside = records.take if records else _nothing
    report = markdown.bring_in(tools, folder, paths, model, mark_of=_mark, beside=beside, dry=dry, step=step)
    if records:
        records.flush()
    return report


def _nothing(*_: object) -> None:
    """Keep no record."""


def _identity(path: str, page: Page) -> str:
    """Give what stays with a file when it is moved within its project: its permalink, or else its path."""
    permalink = page.text("permalink").strip()
    return permalink if permalink and is_spellable(permalink) else path


def _mark(path: str, page: Page, model: str) -> str:
    return tag(SOURCE, _identity(path, page), pages.digest(page.body), model)


def relations(body: str) -> list[str]:
    """List a text's relations, each a line that ends in its link: those of lists with their kinds, then other links."""
    kinds: dict[str, str] = {}
    for line in _plain_lines(body):
        if found := _RELATION.match(line):
            kind = " ".join(found[1].strip().strip("\"'").split()) or "relates_to"
            kinds.setdefault(f"- {kind} {found[2]}", found[2])
    told = {links.target(link) for link in kinds.values()}
    other = dict.fromkeys(name for line in _plain_lines(body) for name in links.all_of(line) if name not in told)
    return [*kinds, *(f"- links_to {links.spell(name)}" for name in other)]


def _plain_lines(body: str) -> Iterator[str]:
    """Yield the lines that are no code."""
    lines = body.split("\n")
    code = code_lines(lines)
    yield from (line for at, line in enumerate(lines) if at not in code)


class _Things:
    """The records that are kept beside the notes."""

    def __init__(self, tools: Tools, folder: Path, types: Sequence[str], *, confirm: bool, dry: bool) -> None:
        self._tools, self._folder = tools, folder
        self._types = {each.strip().casefold() for each in types}
        self._status = curation.CONFIRMED if confirm else curation.PENDING
        self._known, self._pending = done(tools.census), Pending(tools, dry=dry)
        self._records = Records(tools, dry=dry)

    def take(self, report: Imported, path: str, page: Page) -> None:
        """Keep a record of a file, if it is of a type that is asked for."""
        label = page.text("type").strip()
        if label.casefold() not in self._types:
            return
        identity = _identity(path, page)
        seed = tag(SOURCE, "entity", identity)
        is_known = seed in self._known
        report.read += 1
        try:
            self._keep(report, path, page, seed, label, is_known=is_known)
        except DiskError:
            raise
        except PyramidError as error:
            report.bad.append(f"{path}: {error}")

    def _keep(self, report: Imported, path: str, page: Page, seed: str, label: str, *, is_known: bool) -> None:
        name = " ".join(page.text("title").split()) or path.rpartition("/")[2][:-3]
        made = shapes.entity(name, label, None, f"{SOURCE}:{_identity(path, page)}", self._created(path, page))
        lines = relations(page.body)
        fresh = {line: tag(SOURCE, "relation", seed, line) for line in lines}
        fresh = {line: mark for line, mark in fresh.items() if mark not in self._known}
        kept = self._records.keep(replace(made, status=self._status), seed, list(fresh), is_known=is_known)
        report.records += kept.is_new
        report.known += (not kept.is_new) + len(lines) - len(fresh) + len(kept.there)
        report.relations += len(kept.added)
        report.read += len(lines)
        report.skip("relations that stand in a note alone", len(kept.rest))
        if not is_known:
            self._pending.noted(seed)
        for line in (*kept.added, *kept.there, *kept.rest):
            self._pending.noted(fresh[line])

    def _created(self, path: str, page: Page) -> datetime:
        zone = self._tools.census.vault.settings.zone
        for key in ("created", "date"):
            try:
                return times.parse(page.text(key), zone)
            except ValueError:
                continue
        sig = files.look(self._folder / path)
        return times.from_ns(sig.mtime_ns) if sig else self._tools.clock()

    def flush(self) -> None:
        """Bring the ledger to disk."""
        self._pending.flush()

"""What pages read of a vault beside a verb's answer: the text of a file, what a link means, a part of a long list."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from pyramid_fs import curation, files, forget, kinds, layout, links, paging, pyramid, times, views
from pyramid_fs import format as formats
from pyramid_fs.browser import markup
from pyramid_fs.errors import DiskError
from pyramid_fs.notes import Curated, File, Kind, Shaped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from markupsafe import Markup

    from pyramid_fs.browser.addresses import Addresses
    from pyramid_fs.context import Text
    from pyramid_fs.format import Page
    from pyramid_fs.memory import Memory
    from pyramid_fs.pyramid import State
    from pyramid_fs.views import Entry

PER_PAGE = 50
"""Entries on one page of a list."""
CUT = 1_500
"""Characters of a text that a list shows; the file's own page has all of it."""
PART = 20_000
"""Characters of a text on one page."""
EMBEDDED = 4_000
"""Characters of an embedded note that are shown in its place."""


class Shown(NamedTuple):
    """A page that is to be made: its template, and what it says."""

    template: str
    values: dict[str, Any]
    status: int = 200


@dataclass(frozen=True, slots=True)
class Item:
    """A file in a list."""

    name: str
    href: str
    facts: tuple[str, ...]
    text: Markup
    is_cut: bool = False
    source: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Pages:
    """Where a list that has several pages stands."""

    number: int
    last: int
    before: str = ""
    after: str = ""


class Reader:
    """One vault, read for pages; `at` gives the addresses that they link to."""

    def __init__(self, memory: Memory, at: Addresses) -> None:
        self.memory, self.at = memory, at

    # Files and texts

    def page_of(self, path: str) -> Page:
        """Read a file of the vault by the path that the catalog knows; an empty page where it is gone."""
        try:
            return forget.page(self.memory.census, path)
        except FileNotFoundError:
            return formats.Page()
        except DiskError as error:
            return formats.Page(problem=str(error))

    def text(self, path: str) -> str:
        """Read a file's text."""
        return kinds.note_text(self.page_of(path))

    def known(self, path: str) -> File | None:
        """Give the file that lies at a path; None for what the catalog does not know, whatever lies there."""
        if layout.place(path) is None or self.memory.census.is_shut(path):
            return None
        row = self.memory.census.catalog.row(path)
        return row.file if row else None

    def meant(self, link: str, home: str = "") -> list[str]:
        """List the paths that a link may mean: in its own model, where there is one there, else in the whole vault."""
        name = links.target(link)
        found = [
            path
            for path in self.memory.census.catalog.paths_of(links.name(name))
            if pyramid.path_fits(path, name) and self.known(path)
        ]
        own = [path for path in found if home and path.startswith(f"{layout.MODELS}/{home}/")]
        return own or found

    def target(self, link: str, home: str = "") -> markup.Target:
        """Say where a link of a text leads."""
        found = self.meant(link, home)
        if len(found) == 1:
            return markup.Target(self.at.file(found[0]), text=lambda: self.text(found[0])[:EMBEDDED])
        if found:
            return markup.Target(self.at.file(link) if self.at.is_live else "", f"means {len(found)} files")
        return markup.Target(why="there is no file of this name")

    def html(self, text: str, home: str = "", heading: int = markup.HEADING) -> Markup:
        """Render a text of a model's file; its headings begin at a level."""
        return markup.html(text, lambda link: self.target(link, home), heading)

    def parts(self, text: str) -> list[str]:
        """Break a long text into what one page shows."""
        return list(paging.text_parts(text, lambda part: len(part) <= PART))

    def opened(self, path: str) -> dict[str, str]:
        """Give the links that open a file on this machine."""
        if not self.at.is_live:
            return {}
        try:
            whole = quote(str(self.memory.vault.root / path))
        except UnicodeEncodeError:
            return {}
        return {"obsidian": f"obsidian://open?path={quote(whole, safe='%')}", "file": f"file://{whole}"}

    # Entries of lists

    def item(self, entry: Entry, home: str) -> Item:
        """Make an entry of a model what a list shows of it."""
        zone = self.memory.vault.settings.zone
        days = between(times.day(entry.span_from, zone), times.day(entry.span_to, zone)) if entry.dated else "undated"
        what = (f"tier {entry.tier}", counted(entry.notes, "note")) if entry.tier >= 0 else ()
        marks = [*(["revised since it was summarized"] if entry.revised else []), *(["a draft"] if entry.draft else [])]
        return self._item(entry.handle, entry.path, (*what, days, *marks), home, entry.source, entry.problem)

    def text_item(self, text: Text) -> Item:
        """Make an entry of an answer what a list shows of it."""
        home = text.models[0] if text.models else ""
        facts = (text.created or "undated", *text.models)
        return self._item(text.handle, text.path, facts, home, text.source, text.problem)

    def shaped_item(self, file: Shaped) -> Item:
        """Make a session or a retired summary what a list shows of it."""
        home = file.path.split("/")[1] if file.path.startswith(f"{layout.MODELS}/") else ""
        facts = (str(file.kind), self.day(file.created), file.name)
        return self._item(file.handle, file.path, tuple(fact for fact in facts if fact), home, "", file.problem)

    def _item(self, handle: str, path: str, facts: tuple[str, ...], home: str, source: str, problem: str) -> Item:
        text = self.text(path)
        cut = text if len(text) <= CUT else f"{text[:CUT].rsplit(' ', 1)[0]} …"
        return Item(handle, self.at.file(path), facts, self.html(cut, home), len(text) > CUT, source, problem)

    def day(self, time: datetime) -> str:
        """Spell a day in the vault's zone."""
        return times.day(time, self.memory.vault.settings.zone)

    # What pages need of the vault as a whole

    def pending(self) -> int:
        """Count what waits for a person."""
        values = (file for top in ("entities", "procedures") for file in self.memory.census.values(top))
        found = (file for file in values if isinstance(file, Curated) and (file.status or not file.problem))
        return sum(curation.status(file) == curation.PENDING for file in found)

    def retired(self, model: str) -> list[Shaped]:
        """List the retired summaries of a model, oldest first."""
        rows = self.memory.census.catalog.rows(f"{layout.MODELS}/{model}")
        found = [r.file for r in rows.values() if isinstance(r.file, Shaped) and r.file.kind is Kind.RETIRED]
        return sorted(found, key=lambda file: (file.created, file.handle))

    def embedding(self, path: str) -> list[str]:
        """List the paths of the notes that show the text of one in another model."""
        ask = "SELECT path, embed FROM files WHERE embed != '' AND embed IS NOT NULL"
        found = self.memory.census.catalog.ask(ask)
        return sorted(other for other, embed in found if pyramid.path_fits(path, embed))


def digest(memory: Memory, path: str) -> str:
    """Give the digest of a file's bytes; empty, which no form confirms, where it can't be read."""
    try:
        return hashlib.sha256(files.read(memory.vault.root / path)).hexdigest()
    except (FileNotFoundError, DiskError):
        return ""


def entries(state: State, part: str, retired: Sequence[Shaped] = ()) -> list[Any]:
    """List a whole part of a model: notes and the tail newest first, the summaries of a tier oldest first."""
    if part == "retired":
        return list(retired)
    if part == "notes":
        return sorted(state.notes, key=pyramid.by_age, reverse=True)
    if part == "tail":
        return list(reversed(state.tail))
    return sorted((s for s in state.active.values() if s.tier == int(part)), key=pyramid.by_span)


def entry(file: Any, state: State) -> Entry:
    """Make a note or a summary an entry."""
    return views.of_summary(file) if hasattr(file, "tier") else views.of_note(file, state)


def cut(items: Sequence[Any], page: int, per: int = PER_PAGE) -> tuple[Sequence[Any], int]:
    """Give one page of a list, and how many pages there are."""
    return items[(page - 1) * per : page * per], max(1, -(-len(items) // per))


def between(first: str, last: str) -> str:
    """Say from when to when."""
    return first if first == last else f"{first} to {last}"


def counted(number: int, what: str) -> str:
    """Say how many of something there are."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"

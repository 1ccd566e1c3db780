"""Imports a folder of daily notes: each section and each entry with a time of its own is a note of that day.

The day is said by the file's front matter (`date`, `created`), else by its name or its folders: `2026-11-29.md`,
`2026_11_29.md`, `20261129.md`, `2026/11/29.md`, each with any words around it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramid_fs import files, record, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, RefusedWrite
from pyramid_fs.importers import Imported, Models, code_lines, done, is_spellable, later, tag
from pyramid_fs.importers.jsonl import Line, Pending, take

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pyramid_fs.format import Page
    from pyramid_fs.issue import Tools

SOURCE = "daily"
PERIOD = "weekly, monthly and yearly pages"
NO_DAY = "files whose name says no day"
BLANK = "files without a text"
EMPTY = "headings with nothing below them"

_DAY = re.compile(r"(?<!\d)(\d{4})([-_.]?)(\d\d)\2(\d\d)(?!\d)")
_FOLDERS = re.compile(r"(?:^|/)(\d{4})(?:/|[-_.])(\d\d)(?!\d)[^/]*/(\d\d)(?!\d)[^/]*$")
_PERIOD = re.compile(r"\b\d{4}[-_ ]?[WQ]\d{1,2}\b|^\d{4}([-_.]\d\d)?$|\bweek", re.IGNORECASE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t#]*$")
_BULLET = re.compile(r"^[-*+](?:[ \t]+|$)(?:\[.\](?:[ \t]+|$))?")
_CLOCK = re.compile(
    r"(?:\*\*|__|`)?(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\d:])[ \t]?([AaPp]\.?[Mm]\b\.?)?(?:\*\*|__|`)?[ \t:–-]*"
)
_NOTHING = re.compile(
    r"^\s*(?:(?:[-*+]|\d+[.)])?\s*(?:\[.\])?|#{1,6}(?:\s.*)?|([-*_]\s*){3,}|[\w \t-]{1,40}::|<!--.*-->|%%.*%%)\s*$"
)
"""A line of a template that nobody filled in."""
_KEY = re.compile(r"[A-Za-z][\w-]{0,40}")
_OWN = frozenset({"created", "date", "source", "type", "aliases", "alias", "cssclasses"})
"""Keys of a file that are not carried over to its entries."""


class Entry(NamedTuple):
    """One entry of a day."""

    text: str
    head: str = ""
    """The heading above it, as it stands."""
    clock: time | None = None

    @property
    def whole(self) -> str:
        """The entry with its heading."""
        return f"{self.head}\n\n{self.text}" if self.head and self.text else self.head or self.text


class Split(NamedTuple):
    """A day taken apart."""

    entries: list[Entry]
    empty: int
    """Headings with nothing below them."""


# Which day


def day_in(path: str) -> date | None:
    """Read the day that a path says; None where it says none, or a longer time."""
    stem = path.rpartition("/")[2][:-3]
    found = {_day(*each.group(1, 3, 4)) for each in _DAY.finditer(stem)} - {None}
    if len(found) > 1 or re.match(r"week", stem, re.IGNORECASE):
        return None
    if found:
        return found.pop()
    folders = _FOLDERS.search(path[:-3])
    return _day(*folders.groups()) if folders else None


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def is_period(path: str) -> bool:
    """Whether a name is that of a week, a month, a quarter, a year, or from one day to another."""
    stem = path.rpartition("/")[2][:-3]
    return bool(_PERIOD.search(stem)) or len(_DAY.findall(stem)) > 1


def start_of(path: str, page: Page, zone: Any) -> datetime | None:
    """Give the time at which a file's day begins: what its front matter says, or the start of the day in its name."""
    named = day_in(path)
    if named is None and is_period(path):
        return None
    for key in ("date", "created") if named else ("date",):
        try:
            return times.parse(page.text(key), zone)
        except ValueError:
            continue
    return times.into(datetime(named.year, named.month, named.day, tzinfo=zone), UTC) if named else None


# What it says


def split(body: str, stem: str = "") -> Split:
    """Take a day apart: a section of the highest headings is an entry, and so is what begins with a time of its own."""
    lines = body.split("\n")
    levels = _levels(lines)
    if levels and _is_title(lines, levels, stem):
        at = min(levels)
        del lines[: at + 1]
        levels = _levels(lines)
    top = min(levels.values(), default=0)
    cuts = [at for at, level in levels.items() if level == top]
    sections = [(lines[at], lines[at + 1 : end]) for at, end in pairwise([*cuts, len(lines)])]
    found, empty = list(_parts("", lines[: cuts[0]] if cuts else lines)), 0
    for head, below in sections:
        parts = list(_parts(head, below))
        found += parts
        empty += not parts
    return Split(found, empty)


def _levels(lines: Sequence[str]) -> dict[int, int]:
    """Give the lines that are headings, each with its level; what stands in code is none."""
    code = code_lines(lines)
    headings = ((at, _HEADING.match(line)) for at, line in enumerate(lines) if at not in code)
    return {at: len(heading[1]) for at, heading in headings if heading}


def _is_title(lines: Sequence[str], levels: dict[int, int], stem: str) -> bool:
    """Whether the first line names the day for all that follows, so that it is no section."""
    first = next(at for at, line in enumerate(lines) if line.strip())
    heading = _HEADING.match(lines[first])
    if first not in levels or not heading or _clock_of(heading[2] or ""):
        return False
    if any(level <= levels[first] for at, level in levels.items() if at != first):
        return False
    return heading[2] == stem or bool(re.search(r"(?<!\d)\d{4}(?!\d)", heading[2] or ""))


def _parts(head: str, lines: Sequence[str]) -> Iterator[Entry]:
    """Yield the entries of one section: what has no time of its own, then each that has one."""
    heading = _HEADING.match(head)
    clock = _clock_of((heading[2] or "") if heading else "")
    rest, timed = _apart(lines)
    if not _is_nothing(rest):
        yield Entry(_trim(rest), head, clock)
    elif clock and heading and _CLOCK.sub("", heading[2] or "", count=1).strip():
        yield Entry("", head, clock)
    for at, text in timed:
        yield Entry(text, "" if clock else head, at)


def _apart(lines: Sequence[str]) -> tuple[list[str], list[tuple[time, str]]]:
    """Part the lines of a section into those without a time and the entries that begin with one."""
    rest, timed = list[str](), list[tuple[time, list[str]]]()
    into, level, levels, code = rest, 0, _levels(lines), code_lines(lines)
    for at, line in enumerate(lines):
        if code.get(at, at) < at:  # code stays whole, where its first line is
            into.append(line)
            continue
        clock = _begins(line, is_heading=at in levels)
        if clock:
            into = [line]
            level = levels.get(at, 0)
            timed.append((clock, into))
            continue
        if into is not rest and _ends(line, level, levels.get(at, 0)):
            into = rest
        into.append(line)
    return rest, [(clock, _trim(text)) for clock, text in timed if not _is_nothing([_said(text[0]), *text[1:]])]


def _begins(line: str, *, is_heading: bool) -> time | None:
    """Give the time with which a heading or a point of a list begins."""
    if is_heading:
        heading = _HEADING.match(line)
        return _clock_of((heading[2] or "") if heading else "")
    bullet = _BULLET.match(line)
    return _clock_of(line[bullet.end() :]) if bullet else None


def _ends(line: str, level: int, heading: int) -> bool:
    """Whether a line ends an entry: under a heading the next one of its height, in a list what is not indented."""
    if level:
        return 0 < heading <= level
    return bool(heading) or (bool(line.strip()) and not line[0].isspace())


def _said(line: str) -> str:
    """Give what a line says behind its time."""
    bare = re.sub(r"^ {0,3}#{1,6}[ \t]+", "", _BULLET.sub("", line, count=1))
    return _CLOCK.sub("", bare, count=1)


def _clock_of(text: str) -> time | None:
    found = _CLOCK.match(text)
    if not found:
        return None
    hour, half = int(found[1]), (found[4] or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0) if 0 < hour <= 12 else 24  # noqa: PLR2004  (a clock's hours)
    return time(hour, int(found[2]), int(found[3] or 0)) if hour < 24 else None  # noqa: PLR2004


def _is_nothing(lines: Sequence[str]) -> bool:
    return all(_NOTHING.match(line) for line in lines)


def _trim(lines: Sequence[str]) -> str:
    return re.sub(r"\A(?:[ \t]*\n)+", "", "\n".join(lines)).rstrip()


# Bringing them in


def bring_in(
    tools: Tools, folder: Path, paths: list[str], model: str, *, dry: bool, step: Callable[[int], None]
) -> Imported:
    """Import the entries that were not imported before; of one that has grown at its end, what is new."""
    run = _Run(tools, model, dry=dry)
    for path in paths:
        step(1)
        run.file(folder, path)
    run.pending.flush()
    return run.report


class _Run:
    """One way through the folder."""

    def __init__(self, tools: Tools, model: str, *, dry: bool) -> None:
        self._zone = tools.census.vault.settings.zone
        self._models, self._known = Models(tools), done(tools.census)
        self._model = self._models.meant(model)
        self._sizes = _sizes(tools)
        self.pending, self.report = Pending(tools, dry=dry), Imported()

    def file(self, folder: Path, path: str) -> None:
        """Take in one day."""
        page = self._page(folder, path)
        if page is None:
            return
        start = start_of(path, page, self._zone)
        found = split(page.body, path.rpartition("/")[2][:-3])
        if start is None or not (found.entries or found.empty):
            self.report.read += 1
            self.report.skip(BLANK if start else PERIOD if is_period(path) else NO_DAY)
            return
        self.report.read += found.empty
        self.report.skip(EMPTY, found.empty)
        self._entries(path, found.entries, start, _carried(page))

    def _page(self, folder: Path, path: str) -> Page | None:
        try:
            return _read(folder, path)
        except (DiskError, RefusedWrite, FileNotFoundError) as error:
            self.report.read += 1
            self.report.bad.append(f"{path.encode('utf-8', 'replace').decode()}: {error}")
            return None

    def _entries(self, path: str, entries: Sequence[Entry], start: datetime, keys: dict[str, object]) -> None:
        day, same = times.into(start, self._zone).date(), Counter[datetime]()
        for entry in entries:
            self.report.read += 1
            at = _at(day, entry.clock, self._zone) if entry.clock else start
            created = later(at, same[at])
            same[at] += 1
            mark = self._mark(day, entry)
            if mark in self._known:
                self.report.known += 1
                continue
            self._known.add(mark)
            new = self._grown(day, entry)
            line = Line((self._model,), record.clean(new.whole), created, f"{SOURCE}:{path}", keys=keys)
            take(self.report, self._models, self.pending, line, mark, chars=len(entry.text))

    def _mark(self, day: date, entry: Entry) -> str:
        return tag(f"{SOURCE}:{day}", entry.head, entry.text, self._model)

    def _grown(self, day: date, entry: Entry) -> Entry:
        """Give what is new of an entry: what stands below a text that was imported before."""
        for size in sorted(self._sizes[str(day)], reverse=True):
            before, after = entry.text[:size], entry.text[size:]
            if size > 0 and after.startswith("\n") and self._mark(day, entry._replace(text=before)) in self._known:
                return entry._replace(text=after.strip("\n"))
        return entry


def _read(folder: Path, path: str) -> Page:
    """Read a day; raise RefusedWrite for one that can't be used as it is."""
    if not is_spellable(path):
        raise RefusedWrite("its name is not UTF-8: rename it")
    page = pages.read(files.read(folder / path))
    if page.problem:
        raise RefusedWrite(page.problem)
    return page


def _sizes(tools: Tools) -> dict[str, set[int]]:
    """Read how long the entries were that were imported, by their day."""
    found: dict[str, set[int]] = defaultdict(set)
    for entry in tools.census.vault.ledger():
        source, size = str(entry.get("source", "")), entry.get("chars")
        if source.startswith(f"{SOURCE}:") and isinstance(size, int):
            found[source.removeprefix(f"{SOURCE}:").partition("#")[0]].add(size)
    return found


def _at(day: date, clock: time, zone: Any) -> datetime:
    return times.into(datetime.combine(day, clock, tzinfo=zone), UTC)


def _carried(page: Page) -> dict[str, object]:
    """Give the keys that each entry of a file keeps: tags, say."""
    return {
        key: pages.as_list(value) if isinstance(value, list) else pages.as_text(value)
        for key, value in page.keys.items()
        if _KEY.fullmatch(key) and key not in _OWN and value
    }

"""The folder: finding it, reading a file of it as a value or a page, and the few things written there beside notes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyramid_fs import files, kinds, layout, settings, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, NotAVault, RefusedWrite, UnknownFormat
from pyramid_fs.notes import File, Kind
from pyramid_fs.rows import mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyramid_fs.files import Seen
    from pyramid_fs.format import Page

NEW_SETTINGS = """\
# A pyramid_fs vault: plain-text memory for AI agents. `pyramid format` describes what lies here.
format = 1

# The zone of times that are written without one, and of the days that views show.
# timezone = "Europe/Berlin"
"""
GITIGNORE = """\
.obsidian/workspace*.json
.trash/
.pyramid-*.tmp
"""
GITATTRIBUTES = """\
*.md text eol=lf diff=markdown merge=pyramid
ledger/*.jsonl text eol=lf merge=union
"""
"""Where no driver of the name `pyramid` is set up, git merges a text as it merges any."""
BASE = """\
# Obsidian Bases: every summary of the pyramid, by tier; the cover is what no other summary links to.
filters:
  and:
    - 'note.tier >= 0'
formulas:
  sources: 'note.provenance.length'
  parents: 'file.backlinks.filter(value.properties.tier > note.tier).length'
views:
  - type: table
    name: Cover
    filters: 'formula.parents == 0'
    groupBy:
      property: file.folder
      direction: ASC
    order: [file.name, note.tier, note.span_from, note.span_to, note.note_count, note.summarizer]
  - type: table
    name: By tier
    groupBy:
      property: note.tier
      direction: DESC
    order: [file.name, note.span_from, note.span_to, note.note_count, formula.sources]
  - type: list
    name: What is built on this note
    filters: 'file.hasLink(this.file)'
    order: [file.name, note.tier]
"""
STARTERS = {
    "user": "The person whose memory this is: habits, preferences, plans, people around them.",
    "self": "The agent itself: how it works, what it was told about its work, mistakes not to repeat.",
    "work": "Projects and tasks that have no model of their own yet.",
}


@dataclass(frozen=True, slots=True)
class Vault:
    """One vault on disk."""

    root: Path
    settings: settings.Settings

    def page(self, path: str) -> Page:
        """Read and take apart the file at `path`; raise FileNotFoundError where it is gone."""
        return pages.read(files.read(self.root / path))

    def value(self, seen: Seen) -> tuple[File | None, str]:
        """Read the value of a file that a walk has seen, and the mark of its bytes.

        A file that may not be read is a problem, not an error, and has no mark.
        """
        place = layout.place(seen.path)
        if place is None:
            return None, ""
        touched, zone = times.from_ns(seen.sig.mtime_ns), self.settings.zone
        if place.kind is Kind.NOTE and not _is_utf8(seen.path):
            return kinds.unreadable_note(seen.path, touched, zone, "its name is not UTF-8: rename it"), ""
        try:
            data = files.read(self.root / seen.path)
        except DiskError as error:
            reason = str(error).replace(str(self.root / seen.path), "it", 1)
            if place.kind is Kind.NOTE:
                return kinds.unreadable_note(seen.path, touched, zone, reason), ""
            return kinds.read(seen.path, place, pages.Page(problem=reason), touched, zone), ""
        return kinds.read(seen.path, place, pages.read(data), touched, zone), mark(data)

    def write_allowed(self) -> None:
        """Raise UnknownFormat for a vault that a newer version wrote."""
        if self.settings.read_only:
            raise UnknownFormat(f"{self.root} was written by a newer version: it can be read here, not written")

    def ledger(self) -> Iterator[dict[str, Any]]:
        """Yield every line of every ledger file, conflict copies included; a line that can't be read is passed over."""
        for name in files.names(self.root, layout.LEDGER):
            if ".jsonl" not in name or name.startswith(".") or not files.look(self.root / layout.LEDGER / name):
                continue
            try:
                text = files.read(self.root / layout.LEDGER / name).decode("utf-8", "replace")
            except (DiskError, FileNotFoundError):
                continue
            for line in text.split("\n"):  # other marks of Unicode stand within a line
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(entry, dict):
                    yield entry

    def set_keys(self, path: str, values: Mapping[str, object], *, shown: str = "") -> None:
        """Change keys of a person's file, each its own line alone; raise RefusedWrite where that can't be done.

        `shown` is the SHA-256 of the bytes that a person has seen: where the file is another by now, it is refused.
        """
        where = self.root / path
        old = data = files.read(where)
        if shown and hashlib.sha256(old).hexdigest() != shown:
            raise RefusedWrite(f"{path} changed since it was shown: nothing was written; look at it again")
        try:
            for key, value in values.items():
                data = pages.set_key(data, key, value)
        except RefusedWrite as error:
            raise RefusedWrite(f"{where}: {error}") from None
        if data != old:
            files.replace(where, data, old)

    def ledger_mark(self) -> tuple[tuple[str, files.Sig | None], ...]:
        """Give a value that changes when a ledger file does."""
        folder = self.root / layout.LEDGER
        return tuple((name, files.look(folder / name)) for name in files.names(self.root, layout.LEDGER))

    def add_to_ledger(self, machine: str, entries: list[dict[str, Any]]) -> None:
        """Append lines to this machine's ledger file."""
        lines = "".join(json.dumps(entry, ensure_ascii=False, sort_keys=True) + "\n" for entry in entries)
        if lines:
            files.append(self.root / layout.LEDGER / f"{machine}.jsonl", lines)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def find_zone(name: str) -> tzinfo:
    """Find a time zone by its name; raise KeyError or ValueError where there is none."""
    if name == "UTC":
        return UTC
    import zoneinfo  # a vault in UTC need not wait for it

    return zoneinfo.ZoneInfo(name)


def open_vault(root: Path) -> Vault:
    """Open the vault at `root`. Raise NotAVault, UsageError for its settings, DiskError where it can't be read."""
    root = files.absolute(root)
    path = root / layout.SETTINGS
    try:
        text, _ = pages.decode(files.read(path))
    except FileNotFoundError:
        if root.is_file():
            raise NotAVault(f"{root} is a file: a vault is the folder that holds {layout.SETTINGS}") from None
        hint = "there is no such folder" if not root.exists() else f"it holds no {layout.SETTINGS}"
        raise NotAVault(f"{root} is no vault: {hint}; `pyramid init {root}` makes one") from None
    return Vault(root, settings.read_vault(text, str(path), find_zone))


def find_vault(named: str | None, environ: Mapping[str, str], start: Path, default: str) -> Path:
    """Find the vault that is meant: named, `$PYRAMID_VAULT`, the nearest folder above, the user's default."""
    if named:
        return Path(named)
    if environ.get("PYRAMID_VAULT"):
        return Path(environ["PYRAMID_VAULT"])
    for folder in (start, *start.parents):
        if (folder / layout.SETTINGS).is_file():
            return folder
    if default:
        return Path(default)
    raise NotAVault("no vault here: `pyramid init` makes one in this folder, `--vault DIR` names another")


def make_vault(root: Path, *, models: Mapping[str, str]) -> list[str]:
    """Make a vault of a folder, adding only what is not there; give the paths that were made."""
    root = files.absolute(root)
    made = []
    for folder in layout.FOLDERS:
        files.make_folder(root / folder)
    wanted = {
        layout.SETTINGS: NEW_SETTINGS.encode(),
        ".gitignore": GITIGNORE.encode(),
        ".gitattributes": GITATTRIBUTES.encode(),
        "pyramid.base": BASE.encode(),
        **{layout.card_path(model): kinds.spell_card(description) for model, description in models.items()},
    }
    for path, data in wanted.items():
        if not (root / path).exists():
            files.create(root / path, data)
            made.append(path)
    return made


def with_attributes(text: str) -> str:
    """Give a `.gitattributes` what GITATTRIBUTES says; what a person has set there, and all other lines, stay."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    for wanted in GITATTRIBUTES.splitlines():
        pattern, *attributes = wanted.split()
        at = next((at for at, line in enumerate(lines) if line.split()[:1] == [pattern]), None)
        if at is None:
            lines.append(wanted)
            continue
        known = {_attribute(word) for word in lines[at].split()[1:]}
        lines[at] = " ".join([lines[at].rstrip(), *(word for word in attributes if _attribute(word) not in known)])
    return "".join(f"{line}{end}" for line in lines)


def _attribute(word: str) -> str:
    """Give the name of what `text`, `-text`, `!text` and `text=auto` set."""
    return word.lstrip("-!").partition("=")[0]


def created_of(path: Path) -> datetime:
    """Give a file's modification time."""
    return times.from_ns(path.stat().st_mtime_ns)

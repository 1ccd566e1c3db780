"""What stays where two copies of one file meet, and what is laid beside it; pure.

The texts of persons are never chosen between: ours stays, theirs is laid beside it whole. Of what the store wrote one
side wins, by an order that does not know which of them is ours, so that every clone takes the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, tzinfo
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from pyramid_fs import curation, kinds, layout, times, words
from pyramid_fs import format as pages
from pyramid_fs.errors import RefusedWrite
from pyramid_fs.notes import Dated, Kind

Join = Callable[[bytes, bytes, bytes], bytes | None]
"""Merges (base, ours, theirs) line by line, as git does; None where lines collide."""
TYPED = "a person's own word"
STRENGTH = (curation.CONFIRMED, TYPED, curation.PRUNED, curation.PENDING)
"""A person's yes is stronger than a word of theirs that is no status, that than a no, and a no than no word at all."""
LISTS = frozenset({"aliases", "tags", "topics", "possible_duplicates", "superseded_by", "contradicts"})
"""Keys whose values are kept of both sides."""
FIRSTS = frozenset({"created", "started"})
"""Keys of which the earlier counts where two machines made the same file."""
_DIGITS = 10
"""More are no count of notes."""
RECORDS = frozenset({Kind.ENTITY, Kind.PROCEDURE})
STORED = frozenset({Kind.SUMMARY, Kind.RETIRED})
"""What the store writes whole: one side wins whole."""
DIGITS = 14
"""So many digits of its bytes stand in the name of a conflict copy."""
NAME_BYTES = 240
"""The longest name of one: disks hold 255, and tools append to it."""
_MADE = re.compile(rf"(.+) \(git conflicted copy \d{{{DIGITS}}}\)\.md", re.IGNORECASE)
_NUMBER = re.compile(r"0|[1-9]\d{0,8}|0\.\d{0,5}[1-9]")


class Settled(NamedTuple):
    """What becomes of a file that both sides changed."""

    data: bytes
    """What stays in place."""
    beside: bytes | None = None
    """Theirs, whole, where a text of a person's would be lost else."""


class _Keys(NamedTuple):
    values: dict[str, Any]
    lost: bool
    """Whether a value of one side is in none of the lists and was not chosen."""


def settle(path: str, base: bytes | None, ours: bytes, theirs: bytes, join: Join) -> Settled:
    """Settle the file at `path` (relative to the vault); base is None where nothing is known of it."""
    if theirs in {ours, base}:
        return Settled(ours)
    if ours == base:
        return Settled(theirs)
    place = layout.place(path)
    kind = place.kind if place else None
    if kind in STORED:
        return _stored(ours, theirs)
    joined = None if base is None else join(base, ours, theirs)
    if joined is not None and not pages.read(joined).problem:
        return Settled(joined)
    try:
        return _by_keys(base, ours, theirs, join, is_record=kind in RECORDS)
    except RefusedWrite:  # a front matter that can't be read, or changed without touching more
        return Settled(ours, theirs)


# What the store wrote


def _stored(ours: bytes, theirs: bytes) -> Settled:
    mine, other = pages.read(ours), pages.read(theirs)
    if mine.problem and other.problem:
        return Settled(ours, theirs)
    if mine.problem or other.problem:
        return Settled(theirs if mine.problem else ours)
    return Settled(min(ours, theirs, key=_stored_rank))


def _stored_rank(data: bytes) -> tuple[int, int, bool, str, bytes]:
    """Order two writings of one summary: what was forgotten stays so, then whatever all clones agree on.

    A roll-up from below which a note was forgotten names as many summaries as before, and counts fewer notes.
    """
    page = pages.read(data)
    said = page.text("note_count").strip()
    count = int(said) if said.isascii() and said.isdigit() and len(said) < _DIGITS else 0
    return count, len(pages.links_of(page, "provenance")), bool(page.body), pages.digest(page.body), data


# What persons write, and what they decide on


def _by_keys(base: bytes | None, ours: bytes, theirs: bytes, join: Join, *, is_record: bool) -> Settled:
    """Merge front matter key by key and the body as a text of its own; raise RefusedWrite where that can't be done."""
    first, second = sorted((ours, theirs), key=_record_rank if is_record else _text_rank)
    known = _known(base)
    body = _body(known.body, first, second, join)
    keys = _keys(known.keys, first, second, is_record=is_record)
    if body is not None and not keys.lost:
        return Settled(_made(first, keys.values, body))
    # two clones differ in whose text stays, so each begins with its own
    keys = keys if is_record else _keys(known.keys, ours, theirs, is_record=False)
    return Settled(_made(ours, keys.values, pages.read(ours).body if body is None else body), theirs)


def _known(base: bytes | None) -> pages.Page:
    page = pages.read(base or b"")
    return pages.Page() if page.problem else page


def _sound(data: bytes) -> pages.Page:
    page = pages.read(data)
    if page.problem:
        raise RefusedWrite(page.problem)
    return page


def _text_rank(data: bytes) -> tuple[str, bytes]:
    return pages.digest(pages.read(data).body), data


def _record_rank(data: bytes) -> tuple[int, str, bytes]:
    status = pages.read(data).text("status").strip().lower() or curation.PENDING
    return STRENGTH.index(status if status in curation.KNOWN else TYPED), *_text_rank(data)


def _body(base: str, first: bytes, second: bytes, join: Join) -> str | None:
    """Merge two bodies; None where they collide. Two that say the same words agree: the first one's stays."""
    one, other = _sound(first).body, _sound(second).body
    if pages.digest(one) == pages.digest(other) or other == base:
        return one
    if one == base:
        return other
    joined = join(_lines(base), _lines(one), _lines(other)) if base else None
    return None if joined is None else joined.decode("utf-8", "replace").rstrip()


def _lines(body: str) -> bytes:
    return f"{body}\n".encode("utf-8", "surrogatepass")


def _keys(base: Mapping[str, Any], first: bytes, second: bytes, *, is_record: bool) -> _Keys:
    """Merge front matter: what one side alone changed is taken, lists are joined, else the first side's stays."""
    one, other = _sound(first).keys, _sound(second).keys
    values, lost = dict[str, Any](), False
    for key in dict.fromkeys((*one, *other, *base)):
        mine, theirs, was = one.get(key), other.get(key), base.get(key)
        if theirs in (mine, was):
            values[key] = mine
        elif mine == was:
            values[key] = theirs
        elif key in FIRSTS and was is None:
            values[key] = min(mine, theirs, key=str)  # two machines made it, and it is as old as the first says
        elif key in LISTS or (isinstance(mine, list) and isinstance(theirs, list)):
            values[key] = _joined(was, mine, theirs)
        else:
            values[key] = mine
            lost = lost or not is_record
    if is_record and "pruned" in values and str(values.get("status", "")).lower() != curation.PRUNED:
        values["pruned"] = None  # the day of a pruning that was overruled
    return _Keys(values, lost)


def _joined(base: Any, first: Any, second: Any) -> list[str] | None:
    was, one, other = (pages.as_list(value) for value in (base, first, second))
    both = [item for item in dict.fromkeys((*one, *other)) if item not in was or (item in one and item in other)]
    return both or None


def _made(start: bytes, values: Mapping[str, Any], body: str) -> bytes:
    """Spell a merged file with as few changes of one side's bytes as can be; raise RefusedWrite."""
    page, data = _sound(start), start
    for key, value in values.items():
        if page.keys.get(key) != value:
            data = pages.set_key(data, key, _typed(key, value))
    if body != page.body:
        fenced = pages.read(data).fenced
        data = pages.set_body(data, body) if fenced else _lines(body)
    if _sound(data).body != body.rstrip():
        raise RefusedWrite("the merged text would be read as something else")
    return data


def _typed(key: str, value: Any) -> object:
    """Give a value as the store would spell it: texts in quotes, numbers, times and switches without."""
    if isinstance(value, list):
        items = pages.as_list(value)
        return items[0] if key == "superseded_by" and len(items) == 1 else items
    if not isinstance(value, str):
        if value is None:
            return None
        raise RefusedWrite(f"`{key}` is neither a text nor a list of texts")
    if value in {"true", "false"}:
        return value == "true"
    if _NUMBER.fullmatch(value):
        return float(value)
    with suppress(ValueError):
        if times.spell(found := times.parse(value, UTC)) == value:
            return found
    return value


# What was added to a text that was forgotten


def added(base: bytes, text: bytes) -> str:
    """Give the lines of an edited copy that are its own: put in, or in place of others and mostly of other words."""
    was, now = (pages.read(data).body.splitlines() for data in (base, text))
    known = set(words.terms("\n".join(was)))
    lines: list[str] = []
    for tag, _, _, start, end in SequenceMatcher(None, was, now).get_opcodes():
        share = {"insert": 1.0, "replace": 0.5}.get(tag, 0.0)
        lines += [line for line in now[start:end] if not line.strip() or _is_own(words.terms(line), known, share)]
    return re.sub(r"\n\s*\n", "\n\n", "\n".join(lines)).strip()


def _is_own(terms: Sequence[str], known: Collection[str], share: float) -> bool:
    """Whether less than a share of the words were known: those of a forgotten text are not to come back."""
    return sum(term in known for term in terms) < share * len(terms)


def apart(path: str, text: bytes, body: str, zone: tzinfo) -> tuple[str, bytes]:
    """Make a note of its own of what was added to another: its path, the same on every clone, and its bytes.

    It keeps the other's date where that stands in the file or its name, and nothing else of the two.
    """
    known = kinds.read_note(path, pages.read(text), times.EPOCH, zone)
    suffix = layout.digest_suffix(pages.digest(body))
    name = layout.note_path("", known.created, body, suffix).rpartition("/")[2]
    created = None if known.dated is Dated.FILE else known.created
    if created is None:
        name = name.removeprefix(f"{times.stamp(known.created)}-")
    return f"{path.rpartition('/')[0]}/{name}", pages.spell({"created": created}, body)


# The names of conflict copies


def copy_path(path: str, data: bytes, turn: int = 0) -> str:
    """Name the conflict copy of a text by its bytes, so that every clone that meets it makes the same file.

    Each `turn` gives another name, for one that is taken.
    """
    mark = hashlib.sha256(data + b"\n" * turn).digest()
    ending = f" (git conflicted copy {int.from_bytes(mark[:8]) % 10**DIGITS:0{DIGITS}d}).md"
    folder, slash, name = path.rpartition("/")
    stem = layout.shorten(name[:-3], NAME_BYTES - len(ending)).rstrip(" .")
    return f"{folder}{slash}{stem}{ending}"


def original_of(path: str) -> str:
    """Give the path of the file that a conflict copy of git's was laid beside; empty for any other file."""
    folder, slash, name = path.rpartition("/")
    found = _MADE.fullmatch(name)
    return f"{folder}{slash}{found[1]}.md" if found else ""


def tombstone(path: str, data: bytes) -> dict[str, str]:
    """Spell the ledger line that keeps a text forgotten: the digest of its handle, and its own."""
    handle = hashlib.sha256(layout.handle(path).encode("utf-8", "replace")).hexdigest()
    return {"forgot": handle, "digest": pages.digest(pages.read(data).body)}


def is_tombstoned(path: str, data: bytes, forgotten: Sequence[tuple[str, str]] | frozenset[tuple[str, str]]) -> bool:
    """Whether a tombstone names the text."""
    named = tombstone(path, data)
    return (named["forgot"], named["digest"]) in forgotten

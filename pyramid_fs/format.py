"""Text ⇄ values: reads whatever a person or an editor writes, and writes one canonical spelling.

The only home of python-frontmatter, whose YAML handler reads a block once this module has found where it ends.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyramid_fs import links, marks, times
from pyramid_fs.errors import RefusedWrite, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DIGEST_CHARS = 16
"""Hex digits of SHA-256 kept: 64 bits, so that a million versions collide with a chance of one in 10^7."""
BLOCK_CHARS = 256 * 1024
"""A front matter block longer than this is a problem, not parsed: nobody types one, and YAML is slow."""
NESTING = 64
"""Brackets nested deeper than this are not parsed: the C parser recurses."""

_BARE = frozenset({"type", "status", "kind"})
"""Keys whose values are words of the format itself, written without quotes."""
_YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
"""What some YAML reader takes for something other than a text."""
_FENCE = re.compile(r"---[ \t]*(?:\n|\Z)")
_CLOSE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_KEY_LINE = re.compile(r"[^\s#\"'\[\]{}&*!|>%@`,?-][^:\n]*:(?:[ \t]|$)", re.MULTILINE)
_WORDS = re.compile(r"\w+")
_PLAIN = (
    r'"[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]*"'
    r"|[0-9A-Za-z](?:[0-9A-Za-z.:+_-]*[0-9A-Za-z])?"
)
"""A scalar that all of YAML, JSON and this reader take for the same text."""
_PLAIN_KEY = re.compile(rf"([a-z][a-z_]{{0,40}}):(?: ({_PLAIN})|((?:\n  - (?:{_PLAIN}))+))\n")
_PLAIN_ITEM = re.compile(rf"\n  - ({_PLAIN})")


@dataclass(frozen=True, slots=True)
class Page:
    """One file's text, taken apart."""

    keys: Mapping[str, Any] = field(default_factory=dict)
    """Front matter; every scalar is the text that was typed."""
    block: str = ""
    """The front matter as it stands, without its fences: what recall searches."""
    body: str = ""
    problem: str = ""
    """Why the file can't be used as it is; then `body` holds what can be read of it."""
    fenced: bool = False
    """Whether a block of front matter is there, if only an empty one."""

    @property
    def is_blank(self) -> bool:
        """Whether the file holds nothing but white space."""
        return not (self.problem or self.fenced or self.keys or self.body.strip())

    def text(self, key: str) -> str:
        """Give the value of a key as text, as typed where it was one scalar or one link; empty where absent."""
        return as_text(self.keys.get(key))


def as_text(value: object) -> str:
    """Spell a value of front matter as text: an unquoted link, a list in a list to YAML, is a link again."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if _is_open_link(value):
        return _open_link(value)
    if isinstance(value, list):
        return ", ".join(as_text(item) for item in value)
    return json.dumps(value, ensure_ascii=False)


def as_list(value: object) -> list[str]:
    """Give a value of front matter as a list of texts: a lone scalar is a list of one."""
    if value is None or value == "":
        return []
    if isinstance(value, list) and not (len(value) == 1 and isinstance(value[0], list)):
        return [as_text(item) for item in value]
    return [as_text(value)]


def _is_open_link(item: object) -> bool:
    return isinstance(item, list) and len(item) == 1 and isinstance(item[0], list)


def _open_link(item: Any) -> str:
    """Spell a link that YAML took for a list in a list; a comma or a colon in it made more of it."""
    parts = (part.items() if isinstance(part, dict) else [(part,)] for part in item[0])
    return f"[[{', '.join(': '.join(as_text(word) for word in pair) for part in parts for pair in part)}]]"


# Reading


def decode(data: bytes) -> tuple[str, str]:
    """Turn a file's bytes into text with LF line ends, and say what is wrong with them (empty: nothing)."""
    reason = ""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text, reason = _other_encoding(data, error)
    if not reason and "\0" in text:
        reason = "it holds NUL bytes: not a text, or damaged"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, reason


def _other_encoding(data: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", errors="replace"), "its encoding is UTF-16, not UTF-8: save it as UTF-8"
    byte = data[error.start]
    reason = f"its encoding is not UTF-8 (byte 0x{byte:02x} at position {error.start}): save it as UTF-8"
    return data.decode("cp1252", errors="replace"), reason


def read(data: bytes) -> Page:
    """Take a file apart; what can't be parsed becomes the page's `problem`, never an exception."""
    text, reason = decode(data)
    page = _split(text)
    if marks.START in text and marks.sides(text):
        reason = reason or marks.REASON
    return Page(page.keys, page.block, page.body, reason or page.problem) if reason else page


def _split(text: str) -> Page:
    opening = _FENCE.match(text)
    if not opening:
        return Page(body=_trim(text))
    closing = _CLOSE.search(text, opening.end())
    if not closing:
        return _never_closed(text, opening.end())
    block, body = text[opening.end() : closing.start()], _trim(text[closing.end() :])
    if len(block) > BLOCK_CHARS:
        return Page({}, block, body, "its front matter is too long to be one: is a closing `---` missing?")
    try:
        keys = _load(block)
    except ValueError as error:
        return Page({}, block, body, str(error))
    if keys is None:
        return Page(body=_trim(text))
    return Page(keys, block, body, fenced=True)


def _never_closed(text: str, start: int) -> Page:
    """Tell front matter that was never closed from a text that begins with a rule: by the line after the dashes."""
    if not _KEY_LINE.match(text, start):
        return Page(body=_trim(text))
    return Page({}, "", _trim(text[start:]), "its front matter opens with `---` and never closes")


def _trim(body: str) -> str:
    """Drop blank lines around a body and white space after it; the first line keeps its indent."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", body).rstrip()


def _load(block: str) -> dict[str, Any] | None:
    """Parse a block: a mapping of texts, empty for a block of comments, None for what is no mapping."""
    if _nests_deeper(block, NESTING):
        raise ValueError("its front matter can't be parsed: brackets nest too deep")
    if (keys := _plain(block)) is not None:
        return keys
    # yaml costs 50 ms to import, more than the rest of a warm command; what the store spelled doesn't need it
    from pyramid_fs.scalars import ScalarError, load

    try:
        return load(block)
    except ScalarError as error:
        raise ValueError(f"its front matter can't be parsed: {error}") from error


def _plain(block: str) -> dict[str, Any] | None:
    """Read a block that holds nothing but what `spell` writes without an escape, as YAML would; None for any other."""
    keys: dict[str, Any] = {}
    at = 0
    while at < len(block):
        line = _PLAIN_KEY.match(block, at)
        if line is None or line[1] in keys:
            return None
        keys[line[1]] = _bare(line[2]) if line[2] else [_bare(item) for item in _PLAIN_ITEM.findall(line[3])]
        at = line.end()
    return keys


def _bare(scalar: str) -> str:
    return scalar[1:-1] if scalar[0] == '"' else scalar


def _nests_deeper(block: str, limit: int) -> bool:
    depth = deepest = 0
    for mark in re.findall(r"[\[{\]}]", block):
        depth = depth + 1 if mark in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest > limit or bool(re.search(r"^(?:[ \t]*[-?][ \t]){64}", block, re.MULTILINE))


def digest(body: str) -> str:
    """Give the digest of a version: of the words of its body, so that a formatter makes no new version."""
    text = unicodedata.normalize("NFC", body).casefold()
    known = hashlib.sha256()
    first = True
    for words in _runs(text):
        known.update(words.encode("utf-8", "surrogatepass") if first else b" " + words.encode("utf-8", "surrogatepass"))
        first = False
    if first:
        known.update(body.strip().encode("utf-8", "surrogatepass"))
    return known.hexdigest()[:DIGEST_CHARS]


def _runs(text: str, size: int = 1 << 20) -> Iterator[str]:
    """Yield the words of a text joined by blanks, some at a time, so that a huge text needs no huge list."""
    if len(text) <= size:
        if words := _WORDS.findall(text):
            yield " ".join(words)
        return
    some: list[str] = []
    for found in _WORDS.finditer(text):
        some.append(found[0])
        if len(some) == size // 16:
            yield " ".join(some)
            some = []
    if some:
        yield " ".join(some)


# Writing


def spell(keys: Mapping[str, object], body: str) -> bytes:
    """Write a file of the store's: front matter in the order given, one spelling for each value, LF, one final newline.

    Values: str, int, float, bool, datetime, and lists of them; None and empty lists are left out.
    """
    lines = [line for key, value in keys.items() for line in _spell_key(key, value)]
    text = _trim(body.replace("\r\n", "\n").replace("\r", "\n"))
    # a text without keys that begins like front matter would be taken for some
    front = ["---", *lines, "---"] if lines or text.startswith(("---", "\ufeff")) else []
    return _encoded("\n".join([*front, *([text] if text else [])]) + "\n")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise UsageError("the text is not UTF-8: files hold plain text") from None


def _spell_key(key: str, value: object) -> list[str]:
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [f"{key}:", *(f"  - {_spell_scalar(key, item)}" for item in value)] if value else []
    return [f"{key}: {_spell_scalar(key, value)}"]


def _spell_scalar(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return times.spell(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    text = str(value)
    return text if key in _BARE and text.isalpha() and text.lower() not in _YAML_WORDS else _quoted(text)


def _quoted(text: str) -> str:
    """Quote a text so that YAML 1.1, YAML 1.2 and JSON read the same letters."""
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]",
        lambda found: f"\\u{ord(found[0]):04x}",
        json.dumps(text, ensure_ascii=False),
    )


def set_key(data: bytes, key: str, value: object) -> bytes:
    """Change one key of a person's file: that key's line alone, or a new line at the end of the block.

    None takes the key away. Byte order mark, line ends, comments, order and quoting of all else stay. Raise
    RefusedWrite where the block can't be parsed, or where the change would touch more than that key.
    """
    page = read(data)
    if page.problem:
        raise RefusedWrite(page.problem)
    mark, text = (b"\xef\xbb\xbf", data[3:]) if data.startswith(b"\xef\xbb\xbf") else (b"", data)
    lines = _in_unix_lines(text.decode())
    is_bare = page.body == _trim(decode(data)[0])
    made = _with_front(lines, key, value) if is_bare else _with_key(lines, key, value)
    changed = mark + _encoded("".join(made))
    after = read(changed)
    others = {name: kept for name, kept in page.keys.items() if name != key}
    wanted = {**others, **read(spell({key: value}, "")).keys}
    if after.problem or after.body != page.body or after.keys != wanted:
        raise RefusedWrite(f"`{key}` can't be changed in its front matter without touching more: edit it by hand")
    return changed


def set_body(data: bytes, body: str) -> bytes:
    """Put another body below a file's front matter, which keeps its bytes; the file must have one."""
    lines = _in_unix_lines(data.decode())
    front, end = lines[: _closing(lines) + 1], _line_end(lines[0])
    front[-1] = front[-1].rstrip("\r\n") + end
    return _encoded("".join(front) + (_trim(body) + "\n").replace("\n", end))


def _in_unix_lines(text: str) -> list[str]:
    """Split a text at CR LF, LF and CR alone, as editors do; other marks of Unicode end no line of YAML."""
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z", text)


def _closing(lines: Sequence[str]) -> int:
    return next(at for at, line in enumerate(lines) if at and re.fullmatch(r"---[ \t]*", line.rstrip("\r\n")))


def _with_front(lines: Sequence[str], key: str, value: object) -> list[str]:
    """Put front matter before a text that has none."""
    end, spelled = _line_end(lines[0] if lines else ""), _spell_key(key, value)
    return [f"{line}{end}" for line in ("---", *spelled, "---") if spelled] + list(lines)


def _with_key(lines: Sequence[str], key: str, value: object) -> list[str]:
    close = _closing(lines)
    start = next((at for at in range(1, close) if _starts_key(lines[at], key)), close)
    stop = _value_end(lines, start, close) if start < close else start
    end = _line_end(lines[start] if start < close else lines[0])
    spelled = _spell_key(key, value)
    if stop == start + 1 and len(spelled) == 1:
        spelled = [_in_style_of(lines[start], spelled[0])]
    return [*lines[:start], *(f"{line}{end}" for line in spelled), *lines[stop:]]


def _value_end(lines: Sequence[str], start: int, close: int) -> int:
    """Find the line after a key's value: blank lines and comments that follow it are not of it."""
    is_text = re.search(r":[ \t]+[|>][-+\d]*[ \t]*(?:#.*)?$", lines[start].rstrip("\r\n"))
    stop = at = start + 1
    while at < close and re.match(r"[ \t]+\S|-[ \t\r\n]|[ \t]*[\r\n]", lines[at]):
        at += 1
        if re.match(r"\s*\S" if is_text else r"\s*[^\s#]", lines[at - 1]):
            stop = at
    return stop


def _line_end(line: str) -> str:
    found = re.search(r"\r\n|\n|\r", line)
    return found[0] if found else "\n"


def _starts_key(line: str, key: str) -> bool:
    name = re.escape(key)
    return re.match(rf"(?:{name}|\"{name}\"|'{name}')[ \t]*:(?=[ \t\r\n]|$)", line) is not None


def _in_style_of(old: str, new: str) -> str:
    """Keep what stands around the value in the old line: the key's spelling, quotes, a comment."""
    found = re.match(
        r"([^:]*:)([ \t]*)"
        r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|\[[^\[\]\"'#]*\]|[^\s\"'#\[{&*!|>](?:[^#\r\n]|(?<=\S)#)*?|)"
        r"([ \t]+#[^\r\n]*|[ \t]*)[\r\n]*$",
        old,
    )
    if not found:
        return new
    name, blank, before, rest = found.groups()
    value = new.split(": ", 1)[1]
    inner = value[1:-1] if value.startswith('"') else value
    if before.startswith("'") and not {"'", "\\"} & set(inner):
        value = f"'{inner}'"
    elif before.startswith('"'):
        value = value if value.startswith('"') else f'"{inner}"'
    return f"{name}{blank or ' '}{value}{rest}"


def links_of(page: Page, key: str) -> list[str]:
    """Give the links in a key's value: each item's link, or the item as it stands where it holds none."""
    return [links.target(item) for item in as_list(page.keys.get(key))]

"""The words of a text, as the index holds them and a query asks for them: one spelling finds another, in any script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from whoosh.lang.porter import stem as porter

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 2
"""Raised when a text gives other words than before: then an index is built afresh."""
LONGEST = 64
"""Letters kept of a word: enough to tell any two apart, and no index of base64."""
MEMO = 60_000
"""Words whose terms are remembered: most words of a text were in the one before it."""

_RUN = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that set no space between words: Thai, Lao, Burmese, Khmer, Han, kana; and Hangul, whose endings stick."""
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39"
    "\u0f71-\u0f84\u0f86-\u0fbc\u135d-\u135f\u1712-\u1734\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe20-\ufe2f"
)
"""Vowel signs and accents, which belong to the letter before them and are no letters to `re`."""
_LETTER = rf"[^\W{_RUN}]|[{_MARKS}]"
_LETTERS_ON = rf"[^\W{_RUN}]++|[{_MARKS}]++"
_CHUNK = re.compile(
    rf"(?P<run>[{_RUN}]+)"
    rf"|(?P<word>(?:{_LETTERS_ON})(?:{_LETTERS_ON}|[._\-/\\+#@:'\u2019&~=](?={_LETTER}))*+(?:\+\+|[+#](?![\w{_MARKS}]))?)"
    rf"|(?P<sign>[^\x00-\x7f\s])"
)
_ACCENTS = re.compile("[\u0300-\u036f]")
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th", "ħ": "h",
                          "ŋ": "n", "ß": "ss", "\u2019": "'", "\u200c": None, "\u200d": None})  # fmt: skip
_SPLITS = (re.compile(r"[/\\:@#=&~+]+"), re.compile(r"\.+"), re.compile(r"[-_']+"))
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
"""Where `BufferedWriter`, `HTTPServer` and `v2` come apart; any other script has no humps."""
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_SHORTENED = re.compile(r"(.+)'(s|t|d|m|re|ve|ll)")
_JOINT = re.compile(r"[._\-/\\+#@:'&~=]")
_PLAIN = re.compile(r"[a-z]+")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_]){1,7}")
_HYPHENED = re.compile(r"[^\W\d_]+-[^\W\d_]+")
_FORMS = """
be am is are was were been being; become became; begin began begun; blow blew blown; break broke broken;
bring brought; build built; buy bought; catch caught; choose chose chosen; come came; deal dealt; dig dug;
draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt;
fight fought; find found; fly flew flown; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
get got gotten; give gave given; go went gone goes; grow grew grown; hang hung; hear heard; hide hid hidden;
hold held; keep kept; know knew known; lend lent; lose lost; make made; mean meant; meet met; pay paid;
ride rode ridden; ring rang rung; run ran running; say said; see saw seen; seek sought; sell sold; send sent;
shake shook shaken; shoot shot; sing sang sung; sink sank sunk; sit sat; sleep slept; speak spoke spoken; spend spent;
stand stood; steal stole stolen; stick stuck; strike struck; swear swore sworn; sweep swept; swim swam swum swimming;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown; understand understood;
wake woke woken; wear wore worn; win won winning; write wrote written;
child children; foot feet; goose geese; knife knives; man men; mouse mice; tooth teeth;
wife wives; wolf wolves; woman women; half halves; shelf shelves; index indices; matrix matrices; vertex vertices
"""
"""English words with the forms that no ending tells: the first stands for all."""


def fold(text: str) -> str:
    """Fold case, composition, width, ligatures and accents that people leave out; other scripts keep their signs."""
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", letters)).translate(_LETTERS)


def spans(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield (start, end, terms) of each word of a text, in code points."""
    for found in _CHUNK.finditer(text):
        terms = _terms(found.lastgroup or "", found.group())
        if terms:
            yield found.start(), found.end(), terms


def terms(text: str) -> list[str]:
    """List the terms of a text, each as often as it stands there."""
    return [term for found in _CHUNK.finditer(text) for term in _terms(found.lastgroup or "", found.group())]


def asked(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the terms of each word of a query: the whole first, then its parts."""
    for found in _CHUNK.finditer(text):
        chunk = found.group()
        if found.lastgroup == "run" and len(folded := fold(chunk)) > 1:
            yield from ((pair,) for pair in _pairs(folded))
        elif found.lastgroup == "run":
            yield (folded,)
        elif terms := _terms(found.lastgroup or "", chunk):
            yield terms


def split(terms: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell apart what stands for a word besides its whole: by itself (another spelling, a part of parts), or together.

    >>> split(("src/user_session.py", "src", "user_session.py", "user_session", "user", "session", "py"))
    (('user_session.py', 'user_session'), ('src', 'user', 'session', 'py'))
    """
    whole, rest = terms[0], terms[1:]
    plain = {whole.replace(mark, "") for mark in "'.-"} | {stem(re.sub(r"[.'-]", "", whole))}
    single = len(rest) == 1 and not _JOINT.search(whole)  # the `they` of theyre
    alone = tuple(term for term in rest if _JOINT.search(term) or term in plain or single)
    parts = tuple(term for term in rest if term not in alone)
    if "'" in whole and any(len(part) > 1 for part in parts):  # l'amour is amour
        parts = tuple(part for part in parts if len(part) > 1)
    if _VERSION.fullmatch(whole) or len(rest) == 1:  # 2.3 is not 2, nor C++ C
        parts = ()
    return alone, parts


def _terms(kind: str, chunk: str) -> tuple[str, ...]:
    return _remembered(kind, chunk) if len(chunk) <= LONGEST else _made(kind, chunk)


def _made(kind: str, chunk: str) -> tuple[str, ...]:
    if kind == "run":
        folded = fold(chunk)
        return (*folded, *_pairs(folded))
    if kind == "sign":
        return (chunk,) if unicodedata.category(chunk) in {"Sm", "Sc", "So", "Co"} else ()
    if not chunk.isascii():
        plain = unicodedata.normalize("NFKC", chunk).replace("\u2019", "'")
        if plain != chunk and re.search(f"[{_RUN}]", plain):  # half-width kana, Hangul in parts
            return tuple(terms(plain))
        chunk = plain
    return tuple(filter(None, _of_word(chunk)))


_remembered = lru_cache(maxsize=MEMO)(_made)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _of_word(word: str) -> tuple[str, ...]:
    whole = fold(word)
    if shortened := _SHORTENED.fullmatch(whole):
        return _of_shortened(shortened[1], shortened[2], word)
    if len(whole) <= LONGEST and (version := _VERSION.fullmatch(whole)):
        numbers = version[1].split(".")
        shorter = (".".join(numbers[:count]) for count in range(len(numbers), 0, -1))
        return tuple(dict.fromkeys([whole, *shorter]))
    found: dict[str, None] = {}
    _take_apart(word, 0, found)
    if _INITIALS.fullmatch(whole) or _HYPHENED.fullmatch(whole):  # U.S.A. is also written USA, and e-mail email
        found[stem(re.sub(r"[.-]", "", whole))] = None
    return tuple(found) or (whole[:LONGEST],)


def _of_shortened(base: str, tail: str, word: str) -> tuple[str, ...]:
    """Read `Anna's`, `don't`, `they're`: the word before the mark, and all as people write it in haste."""
    found: dict[str, None] = {}
    if tail != "s":
        found[f"{base}{tail}".replace("'", "")[:LONGEST]] = None
    if tail != "t":
        _take_apart(word[: len(word) - len(tail) - 1] if len(fold(word)) == len(word) else base, 0, found)
    return tuple(found)


def _take_apart(piece: str, depth: int, found: dict[str, None]) -> None:
    """Collect a piece and what it is made of: paths, then names with dots, then `_` and `-`, then humps."""
    parts = (
        [part for part in dict.fromkeys(_SPLITS[depth].split(piece)) if part] if depth < len(_SPLITS) else _humps(piece)
    )
    if depth == len(_SPLITS):
        _take_humps(piece, parts, found)
        return
    if (len(parts) > 1 or (parts and parts[0] != piece)) and piece.strip("_"):
        found[fold(piece)[:LONGEST]] = None
        if "'" in piece:
            found[fold(piece).replace("'", "")[:LONGEST]] = None
    for part in parts:
        _take_apart(part, depth + 1, found)


def _take_humps(piece: str, parts: list[str], found: dict[str, None]) -> None:
    found[stem(fold(piece))] = None
    if len(parts) > 1:
        found.update(dict.fromkeys(stem(fold(part)) for part in parts))


def _humps(piece: str) -> list[str]:
    return _HUMPS.split(piece) if len(piece) <= LONGEST else [piece]


def stem(folded: str) -> str:
    """Give the stem of a folded word; one that English does not write is its own."""
    if folded in _BASES:
        return _BASES[folded]
    if len(folded) > 3 and len(folded) <= LONGEST and _PLAIN.fullmatch(folded):  # noqa: PLR2004
        return str(porter(folded))
    return folded[:LONGEST]


_BASES: dict[str, str] = {}
_BASES.update({form: stem(base) for base, *forms in map(str.split, _FORMS.split(";")) for form in forms})

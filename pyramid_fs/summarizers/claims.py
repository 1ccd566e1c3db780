"""What a summary claims and no source says: numbers, dates and names that stand nowhere in what it was made from."""

from __future__ import annotations

import itertools
import re
import unicodedata
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs.summarizers.vocabulary import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyramid_fs.summarizers import Request

_MONTHS = """
january jan januar january janvier enero janeiro gennaio januari январь января जनवरी يناير
february feb februar février fevrier febrero fevereiro febbraio februari февраль февраля फरवरी फ़रवरी فبراير
march mar märz maerz mars marzo março maart март марта मार्च مارس
april apr avril abril aprile апрель апреля अप्रैल أبريل ابريل
may mai mayo maio maggio mei май мая मई مايو
june jun juni juin junio junho giugno июнь июня जून يونيو
july jul juli juillet julio julho luglio июль июля जुलाई يوليو
august aug août aout agosto augustus август августа अगस्त أغسطس
september sep sept septembre septiembre setembro settembre сентябрь сентября सितंबर सितम्बर سبتمبر
october oct okt oktober octobre octubre outubro ottobre октябрь октября अक्टूबर أكتوبر
november nov novembre noviembre novembro ноябрь ноября नवंबर नवम्बर نوفمبر
december dec dez dezember décembre decembre diciembre dezembro dicembre декабрь декабря दिसंबर दिसम्बर ديسمبر
"""
_MONTH_OF = {
    unicodedata.normalize("NFC", name): number
    for number, line in enumerate(_MONTHS.strip().splitlines(), 1)
    for name in line.split()
}
_NAME = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_OF = r"(?:\s+de|\s+of)?"
_DATE = re.compile(
    rf"(?<!\d)(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)"
    rf"|(?<!\d)(?P<d1>\d{{1,2}})[./](?P<m1>\d{{1,2}})[./](?P<y1>\d{{4}}|\d{{2}})(?!\d)"
    rf"|(?<!\d)(?P<d2>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?{_OF}\s+(?P<n2>{_NAME})(?!\w)\.?(?:{_OF},?\s+(?P<y2>\d{{4}})\b)?"
    rf"|(?<!\w)(?P<n3>{_NAME})(?!\w)\.?\s+(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y3>\d{{4}})\b)?"
    rf"|(?<!\w)(?P<n4>{_NAME})(?!\w)\.?{_OF},?\s+(?P<y4>\d{{4}})\b"
    rf"|(?:(?<!\d)(?P<y5>\d{{4}})年)?(?P<m5>\d{{1,2}})月(?P<d5>\d{{1,2}})[日号號]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:'’\u00a0\u202f ]\d+)*")
_GROUPS = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f ])\d{3})(?:\1\d{3})*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_START = re.compile(r"(?:^|[.!?…:;\n]|[-*•–—])[\s\"'“„«(\[*_>#-]*$")
_POSSESSIVE = re.compile(r"['’]s?$")
_CYRILLIC = re.compile("[а-яё]")
_STARTS = """
however meanwhile afterwards later earlier then next finally eventually instead both another several many early late
between during within throughout before after since until although though despite besides also together because
once twice initially subsequently overall further others someone everyone everything everybody nobody nothing two
three four five six seven eight nine ten upon among along without with if when while whether what where who how
danach dabei daher deshalb zuerst später dann außerdem inzwischen schließlich zwischen während nachdem beide
ensuite puis après avant pendant entre enfin cependant lors depuis luego después antes durante entre finalmente
depois antes durante dopo prima durante infine daarna later tussen tijdens
затем потом позже после между также однако наконец сначала оба обе поэтому
monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag
"""
_STARTERS = frozenset(_STARTS.split())
"""Words that begin a sentence with a capital and are no names, beside those of the vocabulary."""
_ADDED = 25
"""Numbers of which sums are looked for."""
_GERMAN = frozenset({"der", "die", "das", "den", "dem", "und", "ein", "eine", "mit", "von", "für", "nicht", "wurde"})
_NOT_GERMAN = frozenset({"the", "and", "of", "to", "was", "with"})
"""German writes every noun with a capital: there, one tells no name."""


class Day(NamedTuple):
    """A date as it was said; 0 for what was left out."""

    year: int
    month: int
    day: int


def unsupported(text: str, request: Request) -> tuple[str, ...]:
    """List the numbers, dates and names in a summary that no source says, as they are spelled in it.

    A date may be spelled otherwise, a number grouped otherwise; a sum of numbers that are there, a count of what is
    told and a number in words are not listed. A list for a reader to check, no proof.
    """
    asked = [part for item in request.items for part in (item.text, item.date, item.source, item.handle)]
    given = _western("\n".join([request.model, request.description, *asked]))
    text = _western(text)
    rest, dates = _without_dates(text)
    found = [*_unknown_dates(dates, given), *_unknown_numbers(rest, given, len(request.items))]
    found += _unknown_names(text, given)
    return tuple(said for _, said in sorted(dict.fromkeys(found)))


# What a text says, for whoever compares two texts


class Said(NamedTuple):
    """What a text says that another can be asked for, each in one spelling."""

    names: frozenset[str]
    """Stems of the words with a capital inside a sentence; none where the text is German."""
    openings: tuple[str, ...]
    """The same of words that begin a sentence, each time they do: as likely plain words as names."""
    small: frozenset[str]
    """Stems of the words without a capital."""
    numbers: frozenset[str]
    """Those outside its dates."""
    dates: frozenset[tuple[Day, ...]]
    """What each may mean."""
    words: frozenset[str]
    """Stems of all its words, whatever their case."""


def said(text: str) -> Said:
    """Read what a text says: what `unsupported` looks up, and what it is looked up in."""
    text = _western(text)
    rest, dates = _without_dates(text) if any(map(str.isdigit, text)) else (text, [])
    within = {place for at, spelled, _ in dates for place in range(at, at + len(spelled))}
    inner, openings, small, words = set[str](), list[str](), set[str](), set[str]()
    for found in _WORD.finditer(text):
        stems = _stems(found[0])
        words.update(stems)
        if found[0][0].islower():
            small.update(stems)
    for at, word, starts in () if _is_german(text) else _capitals(text):
        if at in within or not _is_telling(word):
            continue
        if not starts:
            inner.update(_stems(word))
        elif not _is_plain(word):
            openings += _stems(word)
    return Said(
        names=frozenset(inner),
        openings=tuple(openings),
        small=frozenset(small),
        numbers=frozenset(_value(number) for _, number in _numbers(rest)),
        dates=frozenset(days for _, _, days in dates),
        words=frozenset(words),
    )


def tells(one: Day, day: Day) -> bool:
    """Whether a date says at least the month and the day of another, and no other year."""
    told = (not day.month or one.month) and (not day.day or one.day)
    return bool(told) and _is_same(one, day)


def _is_telling(word: str) -> bool:
    plain = EMPTY | _STARTERS
    return word.casefold().replace("’", "'") not in plain and not all(_fold(part) in plain for part in _parts(word))


def _stems(word: str) -> list[str]:
    return [_stem(_fold(part)) for part in _parts(word)]


def _western(text: str) -> str:
    """Write every digit as 0 to 9, so that ٣ and ३ are 3."""
    text = unicodedata.normalize("NFC", text)
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)


# Dates


def _dates(text: str) -> Iterator[tuple[int, str, tuple[Day, ...]]]:
    """Yield where each date stands, as it is spelled, and what it may mean: 3/4/2026 is of March or of April."""
    for found in _DATE.finditer(text):
        parts = {name: value for name, value in found.groupdict().items() if value}
        year, month, day, name = (next((parts[key] for key in parts if key[0] == sign), "") for sign in "ymdn")
        number = int(month or _MONTH_OF.get(name.casefold(), 0))
        of = int(year or 0) + (2000 if len(year) == 2 else 0)  # noqa: PLR2004  (of this century)
        one = Day(of, number, int(day or 0))
        turned = (Day(of, one.day, one.month),) if "d1" in parts else ()
        yield found.start(), found[0], (one, *turned)


def _without_dates(text: str) -> tuple[str, list[tuple[int, str, tuple[Day, ...]]]]:
    found = list(_dates(text))
    for at, said, _ in found:
        text = text[:at] + "#" * len(said) + text[at + len(said) :]
    return text, found


def _unknown_dates(dates: Iterable[tuple[int, str, tuple[Day, ...]]], given: str) -> Iterator[tuple[int, str]]:
    known = {day for _, _, days in _dates(given) for each in days for day in _around(each)}
    for at, said, days in dates:
        if not any(_is_same(one, other) for one in days for other in known):
            yield at, said


def _around(day: Day) -> Iterator[Day]:
    """Yield a date with the days before and after it: `yesterday` in a note is told by its date."""
    yield day
    try:
        at = date(*day)
        near = [at - timedelta(days=1), at + timedelta(days=1)]
    except (ValueError, OverflowError):
        return
    yield from (Day(each.year, each.month, each.day) for each in near)


def _is_same(one: Day, other: Day) -> bool:
    return all(not ours or not theirs or ours == theirs for ours, theirs in zip(one, other, strict=True))


# Numbers


def _numbers(text: str) -> Iterator[tuple[int, str]]:
    for found in _NUMBER.finditer(text):
        if " " in found[0] and not _GROUPS.fullmatch(found[0]):
            yield from ((found.start() + part.start(), part[0]) for part in re.finditer(r"[^ ]+", found[0]))
        else:
            yield found.start(), found[0]


def _value(said: str) -> str:
    """Give a number in one spelling: 1,000 and 1 000 are 1000, 3,50 is 3.5."""
    if _GROUPS.fullmatch(said):
        return re.sub(r"\D", "", said).lstrip("0") or "0"
    plain = said.replace(",", ".").lstrip("0")
    if plain.count(".") == 1 and ":" not in plain:
        plain = plain.rstrip("0").rstrip(".")
    return f"0{plain}" if plain[:1] in {"", ".", ":"} else plain


def _unknown_numbers(text: str, given: str, sources: int) -> Iterator[tuple[int, str]]:
    known = {_value(said) for _, said in _numbers(given)}
    known |= {part.lstrip("0") or "0" for part in re.findall(r"\d+", given)}
    known |= {str(count) for count in range(sources + 1)} | _sums(known)
    yield from ((at, said) for at, said in _numbers(text) if _value(said) not in known)


def _sums(known: Iterable[str]) -> set[str]:
    """Add up what a summary may have added up: any two numbers, or all; of too many, any number would be a sum."""
    counts = [int(said) for said in known if said.isdecimal() and len(said) < 16]  # noqa: PLR2004
    if len(counts) > _ADDED:
        return set()
    return {str(sum(counts)), *(str(one + other) for one, other in itertools.combinations(counts, 2))}


# Names


def _unknown_names(text: str, given: str) -> Iterator[tuple[int, str]]:
    known = {_fold(part) for found in _WORD.finditer(given) for part in _parts(found[0])}
    known |= {_stem(word) for word in known} | EMPTY | _STARTERS
    months = {day.month for _, _, days in _dates(given) for day in days}
    said = list(_capitals(text))
    inner = {word for _, word, starts in said if not starts}
    if _is_german(text, given):
        return
    for at, word, starts in said:
        if _MONTH_OF.get(word.casefold()) in months or (starts and word not in inner and _is_plain(word)):
            continue
        if not all(part in known or _stem(part) in known for part in map(_fold, _parts(word))):
            yield at, word


def _is_german(*texts: str) -> bool:
    words = {found[0] for text in texts for found in _WORD.finditer(text)}
    return len(words & _GERMAN) > max(1, len(words & _NOT_GERMAN))


def _capitals(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield where each word with a capital stands, itself, and whether it begins a sentence."""
    for found in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", found[0])
        if word[0].isupper() and len(word) > 1:
            yield found.start(), word, bool(_START.search(text[max(0, found.start() - 12) : found.start()]))


def _is_plain(word: str) -> bool:
    """Whether a word that begins a sentence is hardly a name: `Walking`, `Surprised`, `Recently`."""
    return word.endswith(("ing", "ed", "ly")) and len(word) > 5  # noqa: PLR2004


def _parts(word: str) -> list[str]:
    """Take a joined name apart, so that each half may stand alone in a source."""
    return [part for part in re.split(r"[-'’_]", _POSSESSIVE.sub("", word)) if len(part) > 1]


def _fold(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _stem(word: str) -> str:
    """Give what stays of a name as it is declined or put in the plural; Latin names keep all but a last s."""
    if _CYRILLIC.search(word):
        return word[: max(3, len(word) - 2)]
    return word.removesuffix("s")

"""What its form tells in any script: wikilinks, addresses, handles, quoted titles, and dates that something is due."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs.extractors import signs
from pyramid_fs.extractors.vocabulary import MONTHS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyramid_fs.extractors.signs import Sign

BLANK = "\ufffc"
"""Stands for each character that is no prose, so that what was found stays where it is."""


class Mention(NamedTuple):
    """A name as one place in a sentence shows it."""

    name: str
    label: str
    sign: Sign


_LINK = re.compile(r"!?\[\[([^\[\]|#\n]{1,100})(?:#[^\[\]|\n]{0,100})?(?:\|([^\[\]\n]{1,100}))?\]\]")
_OWN = re.compile(r"(?:.*/)?(?:\d{4}-\d\d-\d\d.*|.*-t\d+-\d+-\w{4}|[^\sA-Z]+-(?=[a-z]*\d)[a-z0-9]{4})(?:\.md)?")
"""A handle that the store made: what it links to is known."""
_CODE = re.compile(r"`[^`\n]{1,200}`")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]{}\"'“”«»「」『』`，。、；]{1,300}")
_MAIL = re.compile(r"(?<![\w.+-])[\w][\w.+-]{0,63}@(?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-])")
_HANDLE = re.compile(r"(?<![\w@./`])@[^\W\d_][\w-]{1,38}(?![\w@.(/])")
_WORKS = (
    "book novel film movie album song article paper series show episode play podcast game poem read reading watched"
    " watching recommended recommends recommending titled buch roman lied spiel artikel serie livre roman"
    " chanson libro novela película canción книга книгу роман фильм песня песню статью статья игра"
)
_QUOTES = r"[\"“„«]([^\W\d_][^\"“”„«»\n]{0,60}[^\s\"“”„«»,.!?:;])[\"”“»]"
_TITLE = re.compile(_QUOTES)
_WORK_WORD = re.compile(rf"(?<!\w)(?:{'|'.join(_WORKS.split())})(?!\w)[^.!?\"“„«]{{0,40}}$", re.IGNORECASE)
_GROUPS = (
    "company organization foundation band club firm startup firma verein stiftung unternehmen ооо оао зао"
    " компани\\w+ фонд\\w* фирм\\w+ завод\\w* банк\\w* клуб\\w* музе\\w+ театр\\w* издательств\\w+ гостиниц\\w+"
    " отел\\w+ магазин\\w* ресторан\\w* кафе школ\\w+ студи\\w+ агентств\\w+ hotel restaurant"
    " شركة جمعية مؤسسة कंपनी"
)
_PROJECTS = "project projekt projet proyecto проект проекта проекте проекту проектом مشروع परियोजना"
_KNOWN = (
    (re.compile(rf"(?<!\w)(?:{'|'.join(_GROUPS.split())})\s{_QUOTES}", re.IGNORECASE), "organization", signs.FOUNDED),
    (re.compile(rf"(?<!\w)(?:{'|'.join(_PROJECTS.split())})\s{_QUOTES}", re.IGNORECASE), "project", signs.PROJECT),
    (
        re.compile(rf"{_QUOTES}\s?(?:project|projekt|项目|計画|プロジェクト|计划)", re.IGNORECASE),
        "project",
        signs.PROJECT,
    ),
    (re.compile(r"[「『]([^「」『』\n]{1,30})[」』](?:项目|計画|プロジェクト|计划)"), "project", signs.PROJECT),
)
"""Names in quotes beside the word for what they are of."""
_BY = re.compile(r"\s(?:by|von|de|par)\s[^\W\d_a-zäöüа-я]")
_SPAN = re.compile(r"《([^《》\n]{1,40})》|『([^『』\n]{1,40})』")
_NAME = "|".join(sorted(set(MONTHS.split()), key=len, reverse=True))
_DATE = re.compile(
    r"(?<![\d.-])(?:\d{4}-\d\d?-\d\d?|\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})?|\d{1,2}/\d{1,2}/\d{4})(?![\d-])"
    rf"|(?<!\d)\d{{1,2}}(?:st|nd|rd|th|\.|º|er)?\s(?:de\s|of\s)?(?:{_NAME})(?!\w)(?:,?\s(?:de\s)?\d{{4}})?"
    rf"|(?<!\w)(?:{_NAME})\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?![\d:])(?:,?\s\d{{4}})?"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]",
    re.IGNORECASE,
)
_DUE = re.compile(
    r"(?<!\w)(?:due|deadlines?|appointments?|no later|expires?|by|until|termin|frist|bis(?: zum)?|fällig|spätestens"
    r"|échéance|rendez-vous|avant le|au plus tard|plazo|cita|antes del?|vence|срок|до|не позднее|дедлайн|приём)(?!\w)"
    r"|截止|期限|预约|之前|以前|交付|締め切り|締切|まで|予約|موعد|قبل|حتى|अंतिम तिथि|तक|समय सीमा",
    re.IGNORECASE,
)
BEFORE, AFTER = 32, 10
"""Characters around a date in which a word says that something is due."""


def prose(text: str) -> tuple[str, list[Mention]]:
    """Give a sentence with links, code and addresses blanked, and what those name."""
    found: list[Mention] = []
    for pattern, read in ((_LINK, _link), (_CODE, _nothing), (_URL, _url), (_MAIL, _mail), (_HANDLE, _handle)):
        found += [mention for match in pattern.finditer(text) for mention in read(match)]
        text = pattern.sub(lambda match: BLANK * len(match[0]), text)
    return text, found


def _link(match: re.Match[str]) -> Iterator[Mention]:
    target, alias = match[1].strip(), (match[2] or "").strip()
    if match[0].startswith("!") or (_OWN.fullmatch(target) and not alias) or re.match(r"\d{4}-\d\d-\d\d", target):
        return
    name = alias or target.removesuffix(".md").rpartition("/")[2]
    if any(sign.isalpha() for sign in name):
        yield Mention(name, "", signs.LINK)


def _nothing(_: re.Match[str]) -> Iterator[Mention]:
    yield from ()


def _url(match: re.Match[str]) -> Iterator[Mention]:
    yield Mention(match[0].rstrip(".,:;!?*_…。"), "address", signs.ADDRESS)


def _mail(match: re.Match[str]) -> Iterator[Mention]:
    yield Mention(match[0], "address", signs.ADDRESS)


def _handle(match: re.Match[str]) -> Iterator[Mention]:
    yield Mention(match[0], "person", signs.HANDLE)


def titles(text: str) -> Iterator[Mention]:
    """Yield the works that a sentence names in quotes."""
    for match in _TITLE.finditer(text):
        is_title = match[1][0].isupper() or not match[1][0].islower()
        told = _WORK_WORD.search(text[max(0, match.start() - 60) : match.start()]) or _BY.match(text, match.end())
        if is_title and told:
            yield Mention(match[1], "work", signs.QUOTED)
            yield Mention(match[1], "work", signs.SEVERAL)
    for pattern, label, sign in _KNOWN:
        yield from (Mention(match[1], label, sign) for match in pattern.finditer(text))
    for match in _SPAN.finditer(text):
        if name := (match[1] or match[2]).strip():
            yield Mention(name, "work", signs.FOUNDED)


def without_titles(text: str) -> str:
    """Blank what stands in quotes: its capitals are those of a title, or of a sentence of its own."""
    for pattern in (_TITLE, _SPAN):
        text = pattern.sub(lambda match: BLANK * len(match[0]), text)
    return text


def dates(text: str) -> Iterator[Mention]:
    """Yield the dates by which something is due, or somebody is expected."""
    for match in _DATE.finditer(text):
        near = f"{text[max(0, match.start() - BEFORE) : match.start()]} {text[match.end() : match.end() + AFTER]}"
        if _DUE.search(near):
            yield Mention(match[0].rstrip(".") if match[0].count(".") < 2 else match[0], "date", signs.DATED)  # noqa: PLR2004

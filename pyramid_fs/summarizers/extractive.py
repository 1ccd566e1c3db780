"""Summarize notes by picking their most telling sentences as they stand: no model, same input, same output."""

from __future__ import annotations

import heapq
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import sentencex

from pyramid_fs.summarizers import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Weights and factors were chosen on the conversations of LoCoMo, most of them on half of these and then held against
# the other half; the weights of names and numbers on all of them, by what is left at every tier.
# What a term is worth the first time a summary says it, then factors on what a sentence is worth.
NUMBER, NAME, TIME, PLAIN, PAIR, SPEAKER = 3.0, 4.0, 1.8, 1.0, 0.5, 0.8
QUESTION, INTRODUCTION, REPLY, POOR, LEAD, DECIDED = 0.5, 0.5, 0.75, 0.05, 1.15, 1.2
REPEATED = 0.1  # share of a term's worth that is left once a picked sentence has said it
CROWDED = 0.5  # factor for each sentence already picked from the same stretch of time
LENGTH_POWER = 0.8  # 1.0 would be worth per character, which favours scraps
OVER = 1.15  # no summary exceeds its target by more, a single grapheme that is longer aside
SHORT, NEAR = 0.92, 1.07  # shares of the target: only from below SHORT does picking go beyond NEAR, or take small talk
STRETCH = 60  # code points of target that each stretch of time gets
SLICE, KEEP = 512, 64  # long input: of this many sentences in a row, so many stay candidates
ROLL_CALL = 3  # so many names and nothing else still say something
VOCABULARY = 200_000  # terms counted before those seen once are forgotten
WINDOW = 1024  # sentencex is quadratic beyond ASCII (2.7 s for 100,000 Han characters), so it gets windows
WRAPPED = range(50, 125)  # widths of a line that a hard wrap may have broken
WORDY_LINES = 1500  # code points a sentence may average before wrapped lines are taken one by one


_DECISION_MARKS = re.compile(
    "决定|決定|选择|必须|因为|同意|购买|买了|开始|完成|決め|必ず|買っ|始め|終わ|결정|샀|시작|때문"
)
_EASTERN_TIME = (
    "[一二三四五六七八九十百千万亿两半]+[年月日号天岁个點点円元人]|今天|明天|昨天|去年|明年|今年|上周|下周|星期[一二三四五六日天]"
    "|周[一二三四五六末]|昨日|今日|明日|来週|先週|[月火水木金土日]曜日?|어제|오늘|내일|[월화수목금토일]요일"
)
_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u3400-\u9fff\uf900-\ufaff"
_KATAKANA = "\u30a1-\u30ff"
_JOINER, _VIRAMA = "\u200d", 9  # a zero width joiner; the combining class of what binds the next consonant
# Marks inside words, which \w lacks.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0981-\u0dff\u200c\u200d"
_TERM = re.compile(
    rf"\[\[(?P<link>[^\[\]|]{{1,80}})|`(?P<code>[^`\n]{{1,80}})`|https?://(?P<host>[^\s/)\]>\"]{{1,80}})[^\s)\]>]*"
    rf"|(?P<time>{_EASTERN_TIME})|(?P<handle>(?<!\w)[@#]\w{{2,40}})|(?P<number>[$€£¥₽₹]?\d[\d.,:/-]{{0,30}}[%€$£¥]?)"
    rf"|(?P<kana>[{_KATAKANA}]{{2,40}})|(?P<run>[{_UNSPACED}]{{1,80}})"
    rf"|(?P<word>[^\W\d_{_UNSPACED}{_KATAKANA}](?:[\w{_MARKS}'’-](?<![{_UNSPACED}{_KATAKANA}])){{0,60}})"
)
_IDENTIFIER = re.compile(r"\w_\w|[a-z][A-Z]|[A-Za-z]\d")
_SPEAKER = re.compile(r"([^\W\d][^\s:：]{0,20}(?: [^\W\d][^\s:：]{0,20})?)[:：] ?(?=[^\s/])")
_WORTH = {"link": NAME, "code": NAME, "host": NAME, "handle": NAME, "kana": NAME, "time": TIME, "number": NUMBER}
_PHRASES = re.compile("你好|谢谢|哈哈|好的|没问题|大家|高兴|天气|大変|สวัสดี|ขอบคุณ|สบายดี|ครับ|ค่ะ")
_FILLER = re.compile(
    "[ 的了是在我你他她它们們和也就都不这那有吗呢吧啊哦很好谢謝什么么\u3041-\u309f]"
)  # a pair says nothing

_MONTHS = "(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)"
_QUOTE = re.compile(r"^\s*(?:>\s*){0,9}")
_LIST_MARKS = re.compile(rf"^(?:(?:[-*+•]|\d{{1,3}}[.)](?!\s+{_MONTHS})|\#{{1,6}})\s+){{1,9}}")
_OWN_UNIT = re.compile(r"[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||\[?\d{2,4}[-/:.]\d\d")  # the last: a time stamp
_ODD_SPACE = re.compile(r"\s{2,}|[^\S ]")
_CLOSED_UNIT = re.compile(r"#{1,6}\s|\|")
_FENCE = re.compile(r"```+(?!.*`)|~~~+")
_TELLING = re.compile(r"[^\W_]|[\u2190-\u2fff\U0001f000-\U0010ffff]")  # a letter, a digit, a sign or an emoji
_SENTENCE_END = re.compile(r"[.!?…][)\"'\]]*(?:\s|$)|[。！？।۔]")
_QUESTION_END = re.compile(r"[?？؟;][)\"'”」』\W]*$")
# sentencex knows abbreviations of one language at a time, and its lists for French and German miss these.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(«\"'])(?:M|MM|Mme|Mlle|Dr|Mr|Mrs|Ms|Prof|Sr|Sra|St|Ste|Nr|Mio|Mrd|Abb|Bd|vol|cf|Tsd|ca|bzw|z\. ?B|d\. ?h"
    r"|u\. ?a|av|pp?|[Aa]pprox|Sig|ул|тыс|млн|шт)\.\s*$"
)
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.\s*$")
_SHORT_TAIL = re.compile(r"(?:^|[\s(])[^\W\d]{1,4}\.\s*$")
_GERMAN_MONTH = re.compile(_MONTHS)
_SPACE_BETWEEN_CLAUSES = re.compile("(?<=[\u0e01-\u0eff]) +(?=[\u0e01-\u0eff])")  # Thai and Lao have no full stop
_CLAUSE = 24  # code points below which such a clause stays with the next
# Full stops of every script are known to the library's English rules; only these need rules of their own.
_THAI, _CYRILLIC = re.compile("[\u0e01-\u0eff]"), re.compile("[\u0400-\u04ff]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A candidate: where it stands, what it says and what that is worth before the batch is known."""

    order: int
    note: int
    text: str
    terms: dict[str, float]
    factor: float

    @property
    def promise(self) -> float:
        return self.factor * sum(self.terms.values()) / math.pow(len(self.text), LENGTH_POWER)


@dataclass(slots=True)
class _Reading:
    """What is kept of the notes while they stream by, bounded however long they are."""

    candidates: list[_Sentence] = field(default_factory=list)
    fresh: list[_Sentence] = field(default_factory=list)
    overlong: str = ""
    sentences: int = 0
    notes: int = 0
    length: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    capitals: Counter[str] = field(default_factory=Counter)  # capitalised inside a sentence, less lower-case uses
    speakers: set[str] = field(default_factory=set)


def extract(texts: Iterable[str], target: int) -> str:
    """Return the summary of `texts` (markdown bodies, oldest first): picked whole sentences in order, one a line.

    Its length is as near to `target` (code points) as whole sentences allow and at most `OVER` times it. Texts that
    are no longer than `target` together come back whole. One sentence is shortened, and ends in an ellipsis, only
    where no other says anything. Texts without content give "".
    """
    reading = _read(texts, target)
    if reading.length <= target and not reading.overlong:
        return "\n".join(sentence.text for sentence in reading.candidates)
    if reading.overlong and all(sentence.factor <= POOR for sentence in reading.candidates):
        return shorten(reading.overlong, target)
    picked = _pick(reading, target)
    return "\n".join(sentence.text for sentence in sorted(picked, key=lambda s: s.order))


def shorten(sentence: str, target: int) -> str:
    """Return the head of `sentence` in at most `target` code points with an ellipsis, cut at a word if it has any."""
    if len(sentence) <= target:
        return sentence
    room = max(target - 1, 1)
    word_end = max(sentence.rfind(" ", 0, room + 1), 0)
    if word_end >= room // 2:
        return sentence[:word_end].rstrip() + "…"
    return sentence[: _grapheme_end(sentence, room)].rstrip() + "…"


def _grapheme_end(text: str, end: int) -> int:
    """Return the last place at or before `end` that is not inside a grapheme, or `end` where there is none."""
    return next((place for place in range(end, 0, -1) if not _joined(text[place - 1], text[place])), end)


def _joined(before: str, after: str) -> bool:
    if unicodedata.category(after)[0] == "M" or after == _JOINER or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    return before == _JOINER or unicodedata.combining(before) == _VIRAMA or (_is_flag(before) and _is_flag(after))


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _read(texts: Iterable[str], target: int) -> _Reading:
    reading, limit = _Reading(), int(target * OVER)
    for text in texts:
        lead = LEAD
        for line, factor in _lines(text, limit):
            sentence = _sentence(line, factor, lead, reading)
            if len(line) > limit:
                reading.overlong = reading.overlong or line[: limit * 2]
                continue
            lead = lead if sentence.factor <= POOR else 1.0
            _keep(sentence, reading, target)
        reading.notes += 1
    reading.candidates += reading.fresh if not reading.candidates else _most_promising(reading.fresh)
    return reading


def _keep(sentence: _Sentence, reading: _Reading, target: int) -> None:
    reading.fresh.append(sentence)
    reading.length += len(sentence.text) + (reading.sentences > 0)
    reading.sentences += 1
    reading.seen.update(sentence.terms.keys())
    if reading.length > target and len(reading.fresh) >= SLICE:
        reading.candidates += _most_promising(reading.fresh)
        reading.fresh.clear()
    if len(reading.seen) > VOCABULARY:
        reading.seen = Counter({term: count for term, count in reading.seen.items() if count > 1})
        reading.capitals = Counter({term: count for term, count in reading.capitals.items() if term in reading.seen})


def _most_promising(sentences: list[_Sentence]) -> list[_Sentence]:
    return heapq.nlargest(KEEP, sentences, key=lambda sentence: (sentence.promise, -sentence.order))


def _lines(text: str, limit: int) -> Iterator[tuple[str, float]]:
    """Yield each sentence of a note on one line, with the factor that its place earns it."""
    for unit, factor in _units(text):
        for sentence in _sentences(unit, limit):
            line = sentence.strip()
            if _TELLING.search(line):
                yield line, factor


def _units(text: str) -> Iterator[tuple[str, float]]:
    """Yield what a sentence cannot cross the border of: paragraphs, headings, list items, table rows, code lines."""
    wrapped: list[str] = []
    fence = ""
    for raw in text.splitlines():
        line = _QUOTE.sub("", raw, count=1)
        if fence:
            if line.startswith(fence) and not line.strip(fence[0] + " "):
                fence = ""
            else:
                yield line, POOR
            continue
        opening = _FENCE.match(line)
        if opening or not line or _OWN_UNIT.match(line):
            yield from _joined_lines(wrapped)
            wrapped = []
        fence = opening[0] if opening else ""
        if line and not opening:
            wrapped.append(_LIST_MARKS.sub("", line, count=1))
            if len(line) not in WRAPPED or _CLOSED_UNIT.match(line):
                yield from _joined_lines(wrapped)
                wrapped = []
    yield from _joined_lines(wrapped)


def _joined_lines(lines: list[str]) -> list[tuple[str, float]]:
    """Join lines that a hard wrap broke; long lines without a sentence end (a log) stay apart."""
    joined = " ".join(lines)
    if len(joined) > WORDY_LINES * (1 + len(_SENTENCE_END.findall(joined))):
        return [(line, 1.0) for line in lines]
    return [(joined, 1.0)] if lines else []


def _sentences(unit: str, limit: int) -> Iterator[str]:
    """Split `unit`; one that grows beyond `limit` comes as a head of more than `limit`, its rest is passed over."""
    unit = _ODD_SPACE.sub(" ", unit)
    language = _language(unit)
    carry, torn = "", False
    for start in range(0, len(unit), WINDOW):
        *pieces, carry = _split(carry + unit[start : start + WINDOW], language)
        if torn and not pieces:
            carry = ""
            continue
        yield from pieces[torn:]
        torn = len(carry) > limit
        if torn:
            yield carry
            carry = ""
    yield carry


def _split(text: str, language: str) -> list[str]:
    try:
        pieces = sentencex.segment(language, text) or [text]
    except UnicodeEncodeError:  # a lone surrogate, which the library cannot take
        return [text]
    whole = [pieces[0]]
    for piece in pieces[1:]:
        if _belongs(whole[-1], piece):
            whole[-1] += piece
        else:
            whole.append(piece)
    return whole if language != "th" else [clause for piece in whole for clause in _clauses(piece)]


def _belongs(before: str, after: str) -> bool:
    """Tell whether the library has split too early: behind an abbreviation, an ordinal, a quotation."""
    if before[-1] in "」』”»" or (before[-1] == "!" and after[0] == "["):
        return True
    tail = before[-16:]
    if _ABBREVIATION.search(tail) or (_ORDINAL.search(tail) and _GERMAN_MONTH.match(after)):
        return True
    if not after[0].islower() or before[0].islower() or _IDENTIFIER.search(after.split(maxsplit=1)[0]):
        return False  # a name of code may begin a sentence
    return _SHORT_TAIL.search(tail) is not None


def _clauses(text: str) -> list[str]:
    clauses = [""]
    for clause in _SPACE_BETWEEN_CLAUSES.split(text):
        if len(clauses[-1]) < _CLAUSE:
            clauses[-1] = f"{clauses[-1]} {clause}"
        else:
            clauses.append(clause)
    return clauses


def _language(text: str) -> str:
    head = text[:WINDOW]
    return "th" if _THAI.search(head) else "ru" if _CYRILLIC.search(head) else "en"


def _sentence(line: str, factor: float, lead: float, reading: _Reading) -> _Sentence:
    """Weigh one sentence by what it says alone; the batch has its say in `_weights`."""
    head = line[:WINDOW]
    speaker = _SPEAKER.match(head)
    start = speaker.end() if speaker else 0
    terms, solid = _terms(head, start, reading.capitals)
    if speaker:
        terms[speaker[1].casefold()] = SPEAKER
        reading.speakers.add(speaker[1].casefold())
    said = len(terms) - bool(speaker)
    if factor <= POOR or said < (2 if solid else ROLL_CALL):
        return _Sentence(reading.sentences, reading.notes, line, terms, POOR)
    if line.endswith((":", "：")):
        factor *= INTRODUCTION
    if not vocabulary.YOU.isdisjoint(head.casefold().split()):
        factor *= REPLY
    if _QUESTION_END.search(line[-8:]):
        factor *= QUESTION
    if not vocabulary.DECISIONS.isdisjoint(terms) or _DECISION_MARKS.search(head):
        factor *= DECIDED
    return _Sentence(reading.sentences, reading.notes, line, terms, factor * lead)


def _terms(text: str, start: int, capitals: Counter[str]) -> tuple[dict[str, float], bool]:
    """Return each term of `text` from `start` on with its worth, and whether one of them is more than a name."""
    terms: dict[str, float] = {}
    solid = False
    for place, match in enumerate(_TERM.finditer(text, start)):
        kind = match.lastgroup or ""
        if kind == "run":
            pairs = [pair for pair in map("".join, pairwise(_PHRASES.sub(" ", match[0]))) if not _FILLER.search(pair)]
            terms.update(dict.fromkeys(pairs, PAIR))
            solid = solid or bool(pairs)
        elif kind != "word":
            terms[match[kind].casefold()] = _WORTH[kind]
            solid = True
        else:
            term = match[0].casefold().replace("’", "'").removesuffix("'s").rstrip("'-")
            if term not in vocabulary.EMPTY:
                worth = _word_worth(match[0], term, capitals, opens=place == 0)
                terms[term] = max(worth, terms.get(term, 0.0))
                solid = solid or not match[0][0].isupper()
    return terms, solid


def _word_worth(word: str, term: str, capitals: Counter[str], *, opens: bool) -> float:
    if term in vocabulary.TIMES:
        return TIME
    if _IDENTIFIER.search(word):
        return NAME
    if not word[0].isupper():
        capitals[term] -= 1
        return PLAIN
    if opens:
        return PLAIN
    capitals[term] += 1
    return NAME


def _weights(reading: _Reading) -> dict[str, float]:
    """Return how much each term counts in this batch: most where it recurs, but not everywhere (tf-idf)."""
    total, scale = reading.sentences, math.log1p(reading.sentences)
    return {term: (1 + math.log(count)) * math.log1p(total / count) / scale for term, count in reading.seen.items()}


def _pick(reading: _Reading, target: int) -> list[_Sentence]:
    """Return what is picked, best first: greedily the most that isn't said yet for its length.

    Gains only shrink as more gets picked, so a heap of gains that may be stale finds the best without trying all.
    """
    weights = _weights(reading)
    names = {term for term, count in reading.capitals.items() if count > 0} - reading.speakers
    said: set[str] = set()
    lines: set[str] = set()
    crowd: Counter[int] = Counter()
    picked: list[_Sentence] = []
    used = -1
    stretches = max(1, target // STRETCH)

    def gain(sentence: _Sentence) -> float:
        worth = 0.0
        for term, alone in sentence.terms.items():
            fact = max(alone, NAME) if term in names else alone
            worth += weights.get(term, 1.0) * fact * (REPEATED if term in said else 1.0)
        crowded = math.pow(CROWDED, crowd[_stretch(sentence, reading, stretches)])
        return worth * sentence.factor * crowded / math.pow(len(sentence.text), LENGTH_POWER)

    heap = [(-gain(sentence), sentence.order, sentence) for sentence in reading.candidates]
    heapq.heapify(heap)
    while heap:
        _, order, best = heapq.heappop(heap)
        now = (-gain(best), order, best)
        if heap and now > heap[0]:
            heapq.heappush(heap, now)
        elif _comes_nearer(used, best, target) and best.text not in lines:
            picked.append(best)
            lines.add(best.text)
            used += 1 + len(best.text)
            said.update(best.terms)
            crowd[_stretch(best, reading, stretches)] += 1
    return picked


def _comes_nearer(before: int, sentence: _Sentence, target: int) -> bool:
    after = before + 1 + len(sentence.text)
    if abs(after - target) >= abs(before - target):
        return False
    if before >= target * SHORT:
        return after <= target * NEAR and sentence.factor > POOR
    return after <= target * OVER


def _stretch(sentence: _Sentence, reading: _Reading, stretches: int) -> int:
    if reading.notes * 2 > stretches >= reading.notes:
        return sentence.note
    return sentence.order * stretches // reading.sentences

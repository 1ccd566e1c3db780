"""Names in scripts with capitals: runs of them, and what stands before, in and after a run."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs.extractors import signs, vocabulary
from pyramid_fs.extractors.marked import BLANK, Mention

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyramid_fs.extractors.signs import Sign

_CASED = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u052f\u0531-\u0587\u1e00-\u1fff"
_LETTER = rf"[{_CASED}\u0300-\u036f]"
_WORD = re.compile(rf"(?<![\w@#/\\])[{_CASED}](?:{_LETTER}|\d)*(?:(?:['’‑.&](?=[{_CASED}])|-)(?:{_LETTER}|\d)+)*")
_OWNED = re.compile(r"['’]s?$")
_OPENS = re.compile(r"[.!?:;…\"“”„«»—–|•]")
"""Between two words: the next begins a sentence, and its capital says nothing."""
_AND = re.compile(r"\s?,?\s(?:and|und|et|y|e|en|и|i|&)\s|,\s")
_BY = re.compile(rf"{BLANK}\s(?:by|von|de|par)\s$")
"""Who made the work that was named just before, in quotes."""
_ABBREVIATED = re.compile(r"\.\s?")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_CASES = re.compile(
    "(?:иями|ями|ами|ией|его|ого|ему|ому|еем|ием|ия|ии|ию|ие|ея|ею|ее|ей|ой|ём|ем|ом|ым|им|ых|их|ую|юю|ая|яя|ое|ее|ые|ие|ах|ях|ам|ям"
    "|[аяуюыиеоьй])$"
)
_HUMP = re.compile(r"[a-zа-я][A-ZА-Я]|[A-ZА-Я][A-Za-zа-я]*\d")
_MAC = re.compile(r"(?:Mc|Mac|De|Di|La|Le|Van|Fitz|O)[A-Z][a-z]+(?:[-'’][A-Z][a-z]+)?")
_DETERMINED = re.compile(
    r"(?:d(?:er|ie|as|en|em|es)|(?:k?ein|mein|dein|sein|ihr|unser|eur|dies|jed|all|viel|welch|manch|solch)(?:e[nrms]?)?|zum|zur|im|am|vom"
    r"|beim|ins|ans|aufs|fürs|übers|[\wäöüß]{3,}(?:e|en|er|es|em))"
)
_SMALL_GERMAN = frozenset(
    {
        "zwischen",
        "neben",
        "gegen",
        "wegen",
        "ohne",
        "über",
        "unter",
        "hinter",
        "außer",
        "wie",
        "aber",
        "oder",
        "sondern",
    }
    | {"wenn", "dass", "weil", "bitte", "ist", "danke", "gerne", "heute", "eben", "wieder", "immer", "her"}
)
_NO_ARTICLE = (
    vocabulary.VERBS | vocabulary.RELATIONS | vocabulary.TITLES | vocabulary.INTO | vocabulary.KEYWORDS | _SMALL_GERMAN
)
"""What looks like an article or an adjective before a German noun, and is neither."""
_GERMAN_PARTICLES = frozenset(["von", "van", "zu", "de", "la", "di", "el", "al", "bin", "ibn", "für", "&"])
_DOTTED = vocabulary.TITLES | vocabulary.SAINTS
_PEOPLE = vocabulary.TITLES | vocabulary.RELATIONS
_GENERIC = vocabulary.PLACES | vocabulary.ORGANIZATIONS
_CALLED = frozenset({"named", "called", "namens", "по"})
_LEADS = (
    (vocabulary.TITLES - vocabulary.RELATIONS, signs.TITLED, "person"),
    (vocabulary.RELATIONS, signs.RELATED, "person"),
    (vocabulary.PROJECTS, signs.PROJECT, "project"),
    (vocabulary.PLACES, signs.LOCATED, "place"),
    (vocabulary.ORGANIZATIONS, signs.FOUNDED, "organization"),
    (vocabulary.INTO, signs.PLACED, "place"),
    (vocabulary.FROM, signs.FIRST, "place"),
)
"""What the word before a name shows of it; the first that fits."""
_ALWAYS = frozenset({"i", "i'm", "i'd", "i'll", "i've"}) | vocabulary.DATES | vocabulary.PEOPLES
_TITLE_CASE = 0.75
"""Share of capitals in a line from which on they say nothing."""
_ACRONYM = 6
_STREETS = ("straße", "strasse", "gasse", "allee", "brücke", "see")
_DID = re.compile(r"\w{2,}(?:ed|ал|ала|ил|ила|ел|ела|ул|ула|ял|яла|лся|лась|ает|яет|ует)")
"""What looks like a verb that somebody, or something, is the subject of."""


class Word(NamedTuple):
    """A word, and where it stands."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """The word as it is looked up."""
        return _OWNED.sub("", self.text).lower()

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital."""
        return self.text[0].isupper()


@dataclass(slots=True)
class Run:
    """Words with capitals in a row: where the first and the last stand among the words, and what they show."""

    first: int
    last: int
    opens: bool
    """Whether it begins a sentence, or stands in a line of capitals."""
    is_shouted: bool
    """Whether it stands in a line of capitals."""
    found: list[tuple[Sign, str]]
    name: str = ""


class Habits(NamedTuple):
    """How a whole text writes its words."""

    small: Counter[str]
    """Words written small, each as often as that."""
    inner: Counter[str]
    """Words with a capital inside a sentence."""
    is_german: bool


def habits(sentences: Iterable[str]) -> Habits:
    """Count how the words of a text are written."""
    small, inner = Counter[str](), Counter[str]()
    for text in sentences:
        words = _words(text)
        for at, word in enumerate(words):
            if not word.is_capital:
                small[word.low] += 1
            elif not _opens(text, words, at):
                inner[word.low] += 1
    german, other = (sum(small[word] for word in kept) for kept in (vocabulary.GERMAN, vocabulary.NOT_GERMAN))
    return Habits(small, inner, german > max(1, other))


def names(text: str, known: Habits) -> Iterator[Mention]:
    """Yield what a sentence names, once for each kind of evidence."""
    words = _words(text)
    runs = [run for run in _runs(text, words, known) if _trim(run, words, known)]
    for run in runs:
        _weigh(run, text, words, known)
    _join(runs, text, words, known)
    for run in runs:
        if run.name and run.found:
            yield from (Mention(run.name, label, sign) for sign, label in run.found)


def _words(text: str) -> list[Word]:
    return [Word(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def _opens(text: str, words: list[Word], at: int) -> bool:
    return at == 0 or bool(
        _OPENS.search(text, words[at - 1].end, words[at].start) and not _initial(text, words, at - 1)
    )


def _initial(text: str, words: list[Word], at: int) -> bool:
    """Whether a word is an initial or a title with its dot: what follows goes on."""
    word = words[at]
    is_short = len(word.text) == 1 or word.low in _DOTTED
    return is_short and word.is_capital and bool(_ABBREVIATED.match(text, word.end))


# Runs


def _runs(text: str, words: list[Word], known: Habits) -> Iterator[Run]:
    at = 0
    is_shouted = _is_title_case(words, known)
    while at < len(words):
        if not words[at].is_capital:
            at += 1
            continue
        last = _last(text, words, at, known)
        yield Run(at, last, is_shouted or _opens(text, words, at), is_shouted, [])
        at = last + 1


def _is_title_case(words: list[Word], known: Habits) -> bool:
    long = [word for word in words[1:] if len(word.text) > 3]  # noqa: PLR2004
    capitals = sum(word.is_capital for word in long)
    return len(long) > 3 and not known.is_german and capitals >= _TITLE_CASE * len(long)  # noqa: PLR2004


def _last(text: str, words: list[Word], at: int, known: Habits) -> int:
    """Find the last word of the run that begins at a word; `Annas Schwester Eva` is two."""
    last = at
    while (following := _following(text, words, at, last, known)) is not None:
        is_person = words[following].low in _PEOPLE and not words[following].text.isupper()
        if is_person and text[words[following - 1].end : words[following].start].isspace():
            return last
        last = following
    return last


def _following(text: str, words: list[Word], first: int, last: int, known: Habits) -> int | None:
    if _OWNED.search(words[last].text) or (known.is_german and words[last].low in vocabulary.DATES):
        return None
    for steps in (1, 2, 3):
        at = last + steps
        if at >= len(words) or not _is_near(text, words, at):
            return None
        if words[at].is_capital:
            return at
        if not _links(words, first, at, known, is_first=steps == 1):
            return None
    return None


def _is_near(text: str, words: list[Word], at: int) -> bool:
    gap = text[words[at - 1].end : words[at].start]
    return gap.isspace() or gap == " & " or (_initial(text, words, at - 1) and bool(_ABBREVIATED.fullmatch(gap)))


def _links(words: list[Word], first: int, at: int, known: Habits, *, is_first: bool) -> bool:
    """Whether a small word may stand inside the name: `de la`, or the `of` of University of Oslo."""
    word = words[at].low
    if known.is_german and is_first and word not in _GERMAN_PARTICLES:
        return False
    if (
        known.is_german
        and is_first
        and (_is_noun(words[first].low) or (first and _is_determined(words[first - 1].low)))
    ):
        return False
    if known.is_german and at + 2 < len(words) and words[at + 1].is_capital and words[at + 2].is_capital:
        return False  # `Angebot von Anna Berg` is two; a surname after `von` is one word
    if words[first].low in _GENERIC and word in vocabulary.LINKING:
        return True
    if word == "of" or (word == "the" and not is_first and words[at - 1].low == "of"):
        return True
    return word in vocabulary.PARTICLES and (word not in {"den", "dem", "zu", "zum", "zur", "des"} or not is_first)


def _trim(run: Run, words: list[Word], known: Habits) -> bool:
    """Take off titles and plain words at both ends, and say whether a name is left."""
    while run.first <= run.last and (sign := _lead(run, words, known)) is not None:
        run.found = (
            [(sign, "organization" if sign is signs.FOUNDED else "person")] if sign is not signs.FIRST else run.found
        )
        run.opens = run.opens and sign is signs.FIRST
        run.first += 1
    while run.first <= run.last and words[run.last].low in _ALWAYS:
        run.last -= 1
    if run.first > run.last:
        return False
    low = words[run.first].low
    if run.first < run.last or signs.TITLED in dict(run.found) or signs.RELATED in dict(run.found):
        return low not in vocabulary.KEYWORDS or run.first < run.last
    return low not in vocabulary.PLAIN and len(low) > 1 and not _is_common(run, words, known)


def _lead(run: Run, words: list[Word], known: Habits) -> Sign | None:
    """Say what the first word of a run is, where it is no part of the name."""
    word = words[run.first].low
    if run.first < run.last and word in vocabulary.TITLES:
        return signs.TITLED
    if run.first < run.last and word in vocabulary.RELATIONS:
        return signs.RELATED
    if run.first < run.last and word in vocabulary.COMPANIES:
        return signs.FOUNDED
    if (
        run.first < run.last
        and word not in vocabulary.GIVEN
        and words[run.first + 1].low in vocabulary.GIVEN
        and run.opens
    ):
        return signs.FIRST  # `Installateur Bernd Lohse`
    if _is_described(run, words, known):
        return signs.RELATED
    if word in _ALWAYS or (run.opens and (word in vocabulary.PLAIN or _is_adverb(word, known))):
        return signs.FIRST
    return signs.FIRST if run.opens and run.first < run.last and known.small[word] > known.inner[word] else None


def _is_described(run: Run, words: list[Word], known: Habits) -> bool:
    """Whether three words are a calling and a name: `die Beraterin Cornelia Weiß`, `Бухгалтер Инга Соловьёва`."""
    if run.last - run.first != 2 or words[run.first].low in vocabulary.GIVEN | _GENERIC:  # noqa: PLR2004
        return False
    if {words[run.first + 1].low, words[run.last].low} & (_GENERIC | vocabulary.LEGAL | vocabulary.LINKING):
        return False
    if not all(word.is_capital for word in words[run.first : run.last + 1]):
        return False
    before = words[run.first - 1].low if run.first else ""
    is_german = known.is_german and bool(_DETERMINED.fullmatch(before))
    return is_german or (run.opens and bool(_CYRILLIC.match(words[run.first].text)))


def _is_adverb(word: str, known: Habits) -> bool:
    return len(word) > 5 and word.endswith(("ing", "ed", "ly")) and not known.inner[word]  # noqa: PLR2004


def _is_common(run: Run, words: list[Word], known: Habits) -> bool:
    """Whether a single word is one that the text, or the language, writes small."""
    word = words[run.first].low
    if known.small[word] > known.inner[word] or word in vocabulary.KEYWORDS:
        return True
    if not known.is_german or run.found:
        return False
    if word.endswith(_STREETS):
        return False
    if _is_noun(word):
        return True
    before = words[run.first - 1] if run.first else None
    is_near = bool(before and words[run.first].start - before.end == 1)
    return bool(before and is_near and word not in vocabulary.GIVEN and _is_determined(before.low))


def _is_noun(word: str) -> bool:
    """Whether a German word is hardly a name."""
    return word in vocabulary.GERMAN_NOUNS or (len(word) > 5 and word.endswith(vocabulary.GERMAN_ENDS))  # noqa: PLR2004


def _is_determined(before: str) -> bool:
    """Whether a German noun after this word is a thing: it has an article or an adjective."""
    return before not in _NO_ARTICLE and bool(_DETERMINED.fullmatch(before))


# Evidence


def _weigh(run: Run, text: str, words: list[Word], known: Habits) -> None:
    tokens = words[run.first : run.last + 1]
    end = tokens[-1].end
    is_owned = bool(_OWNED.search(tokens[-1].text))
    run.name = _OWNED.sub("", text[tokens[0].start : end])
    run.is_shouted = run.is_shouted or (run.opens and text[end : end + 1] == ":")  # `Next Steps:` is a heading
    run.found += _shape(run, tokens, known)
    run.found += _inside(tokens)
    is_code = bool({signs.ACRONYM, signs.SHAPED} & set(dict(run.found)))
    run.found += [
        found for found in _from_before(_before(run, text, words)) if not (is_code and found[0] is signs.PLACED)
    ]
    if _BY.search(text[max(0, tokens[0].start - 8) : tokens[0].start]):
        run.found.append((signs.ACTING, "person"))
    after = _after(run, text, words)
    if is_owned:
        run.found.append((signs.BEING, ""))
        if after and after[0] in vocabulary.PLACES:
            run.name, run.found = text[tokens[0].start : end], [*run.found, (signs.LOCATED, "place")]
        return
    run.found += _from_after(after)
    if after and _CYRILLIC.match(after[0]) and after[0] in _GENERIC:
        run.name = f"{run.name} {after[0]}"  # `Заречный университет`: the small word is part of the name
    if text[end : end + 1] == ":" and run.first == run.last == 0:
        run.found.append((signs.BEING, "person"))


def _shape(run: Run, tokens: list[Word], known: Habits) -> Iterator[tuple[Sign, str]]:
    word = tokens[0].text
    if len(tokens) > 1 and not run.is_shouted:
        yield signs.SEVERAL, ""
    elif len(tokens) == 1 and _HUMP.search(word) and not _MAC.fullmatch(word):
        yield signs.SHAPED, "product"
    if tokens[0].low in vocabulary.GIVEN:
        yield signs.GIVEN, "person"
    is_acronym = len(tokens) == 1 and word.isupper() and len(word) <= _ACRONYM
    if run.opens:
        yield signs.FIRST, ""
    elif is_acronym:
        yield signs.ACRONYM, ""
    else:
        yield (signs.GERMAN if known.is_german else signs.NAMED), ""


def _inside(tokens: list[Word]) -> Iterator[tuple[Sign, str]]:
    ends = {tokens[0].low, tokens[-1].low}
    if any(token.low in vocabulary.LEGAL for token in tokens) or ends & vocabulary.ORGANIZATIONS:
        yield signs.FOUNDED, "organization"
    elif ends & vocabulary.PLACES or tokens[-1].low.endswith(_STREETS):
        yield signs.LOCATED, "place"
    elif ends & vocabulary.PROJECTS:
        yield signs.PROJECT, "project"


def _before(run: Run, text: str, words: list[Word]) -> list[str]:
    """Give the two words before a run, the nearest first; none where a sentence ends between."""
    found: list[str] = []
    for at in range(run.first, max(0, run.first - 2), -1):
        gap = text[words[at - 1].end : words[at].start]
        if not (gap.isspace() or gap in {", ", " (", ' "', ". "}):
            break
        found.append(words[at - 1].low)
    return found


def _from_before(before: list[str]) -> Iterator[tuple[Sign, str]]:
    word = before[0] if before else ""
    further = before[1] if len(before) > 1 else ""
    if word in _CALLED or (word in {"of", "von"} and further in vocabulary.PLACES):
        word = further
    for kept, sign, label in _LEADS:
        if word in kept:
            yield sign, label
            return
    if word in vocabulary.TO_PEOPLE:
        yield signs.BEING, "person"
        if word not in vocabulary.WEAK:
            yield signs.ACTING, "person"


def _after(run: Run, text: str, words: list[Word]) -> list[str]:
    """Give the two words after a run, where nothing but space stands between."""
    found: list[str] = []
    for at in range(run.last, min(len(words) - 1, run.last + 2)):
        if not text[words[at].end : words[at + 1].start].isspace() or words[at + 1].is_capital:
            break
        found.append(words[at + 1].low)
    return found


def _from_after(after: list[str]) -> Iterator[tuple[Sign, str]]:
    word = after[0] if after else ""
    if len(after) > 1 and (word.endswith("ly") or word in vocabulary.ADVERBS):
        word = after[1]
    if word in vocabulary.WEAK or (word not in vocabulary.VERBS and _DID.fullmatch(word)):
        yield signs.BEING, ""
    elif word in vocabulary.VERBS:
        yield signs.ACTING, "person"
    elif word in vocabulary.PROJECTS:
        yield signs.PROJECT, "project"
    elif word in vocabulary.PLACES:
        yield signs.LOCATED, "place"
    elif word in vocabulary.ORGANIZATIONS:
        yield signs.FOUNDED, "organization"


def _join(runs: list[Run], text: str, words: list[Word], known: Habits) -> None:
    """Let what stands in one list share its evidence: `Anna, Ben and Carla met`."""
    for listed in _lists(runs, text, words):
        last = listed[-1]
        shared = [found for found in last.found if found[0] in {signs.ACTING, signs.BEING} and found[1] != "place"]
        shared = [] if _OWNED.search(words[last.last].text) else shared
        label = _common([label for run in listed for _, label in run.found if label])
        for run in listed:
            run.found += shared if run is not last else []
            run.found += [] if known.is_german else [(signs.JOINED, label)]


def _lists(runs: list[Run], text: str, words: list[Word]) -> list[list[Run]]:
    """Give the runs that stand in one list, two or more."""
    found: list[list[Run]] = []
    for at, run in enumerate(runs):
        if at and _AND.fullmatch(text, words[runs[at - 1].last].end, words[run.first].start):
            found[-1].append(run)
        else:
            found.append([run])
    return [listed for listed in found if len(listed) > 1]


def _common(labels: list[str]) -> str:
    """Give the label that all agree on."""
    return labels[0] if len(set(labels)) == 1 else ""


# One name in several spellings


def stem(name: str) -> str:
    """Give what the forms of a name share: Russian ones are declined, Latin ones take an s."""
    low = name.casefold()
    if not _CYRILLIC.search(low):
        return low
    return " ".join(_stem(word) for word in low.split())


def _stem(word: str) -> str:
    bare = _CASES.sub("", word)
    return bare if len(bare) > 2 else word  # noqa: PLR2004


def best(forms: Counter[str]) -> str:
    """Choose the form that stands for all: the most frequent, of declined ones the one that looks like a nominative."""
    return min(forms, key=lambda form: (-forms[form], _rank(form), -len(form), form))


def _rank(form: str) -> int:
    if not _CYRILLIC.search(form):
        return 0
    if re.search(
        "(?<![оеыи])[бвгджзйклмнпрстфхцчшщь]$|[оеи]в$|[иы]н$|[еи]й$|[аеоиу][лнрсвкмгдтпбхзш]$", form
    ) and not re.search("(?:ой|ом|ем|ым|им|ей)$", form):
        return 0
    return 1 if form.endswith(("а", "я")) else 2

"""What may be stored as a summary: a text is tidied, then refused with the reason where it is none."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyramid_fs.summarizers import Request

MIN_CHARS = 40
"""A shorter text is a failure, unless the sources are no longer than that."""
RUNAWAY = 2.5
"""A text longer than this many targets is a failure (the ceiling that the first system gave its model)."""
ECHO = 0.8
"""A text that gives this share of the sources' words back is no summary, where they exceed its target by half."""
REPEATED = 5
"""Words of a sentence of the prompt that stands in a text: so many are no chance."""
BEGINS = 9
"""So many words tell quickly that a text is no piece of another."""
CUT_OFF = 25
"""Words in a row: a text of so many that stands word for word in the sources is a piece of them."""
MAIN, LEFT = 0.7, 0.25
"""A script that has this share of the sources is theirs; a summary keeps at least that share of it."""
LETTERS = 20
"""So many letters tell which script a text is written in."""
OPENS = 200
"""Characters in which a refusal is looked for: the opening of a text, or the whole of a short one."""

_BREAKS = re.compile(r"^(-{3,}\s*$|<{7} |>{7} ).*\n?", re.MULTILINE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_OUTPUT = re.compile(
    r"\s*(<!doctype\b|<html\b|<\?xml\b|traceback \(most recent|http/\d\S* \d{3}\b|\{\s*\"\w+\"\s*:)", re.IGNORECASE
)
_DRESSING = re.compile(r"^(\[[^\[\]\n]*\]|.*\bmemory named \".*|)$\n?|^> ?", re.MULTILINE)
"""What a model reads around the notes: the line above each, and the marks that quote it."""
_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)
_THOUGHTS = re.compile(
    r"\s*(?:<think(?:ing)?>.*?</think(?:ing)?>|Thinking\.\.\.\n.*?\.\.\.done thinking\.)\s*", re.DOTALL
)
"""What reasoning models say to themselves first, as local servers and programs pass it on."""
_SUMMARY = (
    r"(?:summary|zusammenfassung|résumé|resumen|resumo|riassunto|samenvatting|резюме|сводка|краткое (?:изложение"
    r"|содержание)|摘要|总结|總結|概要|要約|まとめ|요약|ملخص|الملخص|सारांश)(?![a-zа-яé])"
)
_ASSENT = (
    r"(?:(?:sure(?: thing)?|certainly|of course|okay|ok|absolutely|gerne|natürlich|bien sûr|claro|конечно|好的|当然"
    r"|بالتأكيد|ज़रूर)[!,.，。！، ]+\s*)"
)
_HERE = (
    r"(?:here(?:['’]s| is| are)|below is|hier (?:ist|kommt|is)|nachfolgend|voici|aquí (?:está|tienes)|aqui está|ecco"
    r"|вот|以下|下面|다음은|إليك|यहाँ|यहां)"
)
_PREAMBLE = (
    rf"{_ASSENT}?{_HERE}[^\n:：]{{0,100}}?{_SUMMARY}[^\n:：]{{0,60}}[:：]"  # announced, on the same line or its own
    rf"|{_ASSENT}?{_HERE}[^\n:：]{{0,100}}[:：]\s*\n"
    rf"|[#*_ ]*{_SUMMARY}[^\n:：.]{{0,40}}?(?:[*_ ]*[:：][*_ ]*|[*_ ]*\n)"  # a heading
    rf"|{_ASSENT}\n"
)
# these two are compiled when a model has answered: it takes longer than the rest of the module
_REFUSALS = (
    # what a note may say of somebody else is no refusal: the speaker is the model itself, or these are its first words
    r"(?:^|\bi['’]m |\bi am )(?:so |very |really )?sorry\b[^.\n]{0,40}"
    r"(?:\bi (?:can(?:['’]t|not| not)|am (?:unable|not able)|won['’]t)|\bi['’]m (?:unable|not able))"
    r"|^(?:unfortunately, )?i(?: can(?:['’]t|not)|(?: am|['’]m) (?:unable|not able) to)"
    r" (?:help|assist|comply|summari[sz]e|fulfil|process th|provide a summary|create a summary)"
    r"|^as an ai\b[^.\n]{0,30}\bi\b"
    r"|(?:^|[.!?] )please (?:provide|share|paste|send)\b[^.\n]{0,30}\b(?:notes|text|content)\b"
    r"|^(?:es )?tut mir leid[^.\n]{0,60}\b(?:kann ich|ich kann)\b[^.\n]{0,60}\b(?:nicht|kein)"
    r"|^als ki\b[^.\n]{0,30}\b(?:kann|darf|bin|habe) ich\b|^entschuldigung\b[^.\n]{0,40}\bich kann\b"
    r"|^(?:je suis )?(?:désolée?)\b[^.\n]{0,60}(?:je ne peux pas|je ne suis pas en mesure)"
    r"|^en tant qu['’](?:ia\b|intelligence artificielle)|^lo siento\b[^.\n]{0,60}\bno puedo"
    r"|^como (?:una )?(?:ia\b|inteligencia artificial|modelo de lenguaje)"
    r"|^(?:desculpe|sinto muito|lamento)\b[^.\n]{0,60}\bnão posso|^mi dispiace\b[^.\n]{0,60}\bnon posso"
    r"|^(?:het spijt me|sorry)\b[^.\n]{0,60}\b(?:kan ik|ik kan)\b[^.\n]{0,30}\b(?:niet|geen)"
    r"|^(?:извините|простите|к сожалению|сожалею)\b[^.\n]{0,60}\bне могу"
    r"|^как (?:ии\b|искусственный интеллект|языковая модель)"
    r"|^(?:我)?(?:很|非常)?(?:抱歉|对不起|對不起)[^。\n]{0,20}(?:无法|無法|不能)"
    r"|^作[为為](?:一[个個名])?(?:ai|人工智[能慧])|^申し訳[^。\n]{0,40}(?:できません|いたしかねます)"
    r"|^죄송(?:합니다|하지만)[^.\n]{0,40}(?:수 없|없습니다)"
    r"|^(?:عذر|آسف|أعتذر)[^.\n]{0,40}(?:لا أستطيع|لا يمكنني|غير قادر)|^بصفتي (?:نموذج|ذكاء)"
    r"|^(?:मुझे )?(?:क्षमा|माफ़|माफ|खेद)[^।\n]{0,60}(?:नहीं|असमर्थ)|^(?:एक )?(?:एआई|ai) [^।\n]{0,30}के रूप में"
)
_ENDS = frozenset(".!?…。！？．｡।॥؟۔։።፧")
_CLOSERS = "\"'”’»›)]}）】」』＂*_` \n"
_UNMARKED = ("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
"""Scripts in which a sentence ends without a mark."""
_EASTERN = {"CJK": "HAN", "HIRAGANA": "HAN", "KATAKANA": "HAN", "HANGUL": "HANGUL"}
_DENSE = 2.5
"""A letter of theirs says as much as this many of an alphabet's."""


# Mending


def tidy(text: str) -> str:
    """Take off what a model puts around a summary: its thoughts, a code fence, a line that announces it."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half a letter can't be stored
    text = _THOUGHTS.sub("", text, count=1) if _THOUGHTS.match(text) else text
    # twice: a preamble may stand before a fence, or in it
    return _unannounced(_unfenced(_unannounced(_unfenced(text.strip()))))


def _unfenced(text: str) -> str:
    found = _FENCE.fullmatch(text)
    return found[1].strip() if found else text


def _unannounced(text: str) -> str:
    found = re.match(_PREAMBLE, text, re.IGNORECASE)
    return text[found.end() :].strip() if found else text


def unbroken(text: str) -> str:
    """Leave out of an extract the lines of a note that would be marks of the file's own in a summary."""
    return _BREAKS.sub("", text).strip()


# Refusing


def fault(text: str, request: Request, *, extract: bool = False) -> str:
    """Say why a text may not be stored as the summary; empty where it may."""
    if not text.strip():
        return "it wrote nothing"
    if not extract and len(text) < MIN_CHARS < request.chars:  # an extract is short where the notes hold little
        return f"it wrote only {len(text)} characters: {text[:MIN_CHARS]!r}"
    if len(text) > RUNAWAY * request.target:
        return f"it wrote {len(text):,} characters where about {request.target} were asked for"
    if "\0" in text or _BREAKS.search(text):
        return "it wrote what would break the file: NUL bytes, front matter or conflict marks"
    if _is_json(text):
        return "it wrote JSON, not prose"
    return "" if extract else _fault_of_a_model(text, request)


def _fault_of_a_model(text: str, request: Request) -> str:
    if _CONTROLS.search(text):
        return "it wrote control characters, not prose"
    if _OUTPUT.match(text):
        return "it wrote an error page or a traceback, not prose"
    if _is_echo(text, request):
        return "it gave the notes back instead of a summary"
    if said := _repeated(text, request):
        return f"it repeats what it was asked: {said!r}"
    if said := _refusal(text, request):
        return f"it refused: {said!r}"
    if text.startswith("<think"):
        return "it wrote its thoughts and no summary"
    if wrong := _other_script(text, request):
        return wrong
    return "it ends in the middle of a sentence" if _is_cut(text, request) else ""


def _is_json(text: str) -> bool:
    stripped = re.sub(r"^```\w*\s*|\s*```$", "", text.strip())
    if stripped[:1] not in "{[":
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True


def _is_echo(text: str, request: Request) -> bool:
    if request.chars <= 1.5 * request.target:
        return False
    words = Counter(word for item in request.items for word in _words(item.text))
    back = _words(_DRESSING.sub("", text))
    if sum((words & Counter(back)).values()) >= ECHO * sum(words.values()):
        return True
    from pyramid_fs.summarizers import prompt  # for a text of a model's

    # a piece of what it read, cut off anywhere
    asked = prompt.text(request)
    return _is_piece(back, _DRESSING.sub("", asked)) or _is_piece(_words(text), asked)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _is_piece(back: list[str], asked: str) -> bool:
    if len(back) < CUT_OFF or not re.search(r"\W+".join(back[1:BEGINS]), asked.casefold()):
        return False
    return f" {' '.join(back[1:-1])} " in f" {' '.join(_words(asked))} "


@lru_cache(maxsize=8)
def _run(text: str) -> str:
    """Give the words of a text in a row; the rules are the same for many texts."""
    return f" {' '.join(_words(text))} "


def _repeated(text: str, request: Request) -> str:
    """Give a sentence of the prompt that stands in a text; nothing where a note says it."""
    from pyramid_fs.summarizers import prompt  # for a text of a model's

    asked = _run(f"{prompt.rules(request)} {prompt.closing(request)}")
    for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
        words = _words(sentence)
        said = f" {' '.join(words)} "
        if (
            len(words) >= REPEATED
            and said in asked
            and not any(said in f" {' '.join(_words(i.text))} " for i in request.items)
        ):
            return sentence.strip()
    return ""


def _refusal(text: str, request: Request) -> str:
    """Give what a model said instead of a summary; nothing where a note says it."""
    found = re.search(_REFUSALS, text[:OPENS].lstrip("\"'“ "), re.IGNORECASE)
    if not found:
        return ""
    told = found[0].casefold()
    return "" if any(told in item.text.casefold() for item in request.items) else " ".join(found[0].split())


def _is_cut(text: str, request: Request) -> bool:
    """Whether a text of some length stops without ending: short ones, and lists without marks, may."""
    said = text.rstrip(_CLOSERS)
    if not said or said[-1] in _ENDS or len(text) < request.target / 2 or _script(said[-1]) in _UNMARKED:
        return False
    return len(text) >= request.target or any(mark in text for mark in _ENDS)


def unsupported(text: str, request: Request) -> tuple[str, ...]:
    """List the numbers, dates and names in a summary that no source says, see `claims`."""
    from pyramid_fs.summarizers import claims  # its months take 12 ms to compile

    return claims.unsupported(text, request)


# Language, by script


def _other_script(text: str, request: Request) -> str:
    """Say that a summary is written in another script than its sources."""
    theirs = _scripts("\n".join(item.text for item in request.items))
    main, share = max(theirs.items(), key=lambda found: found[1], default=("", 0.0))
    ours = _scripts(text)
    if share < MAIN or not ours or ours.get(main, 0.0) >= LEFT:
        return ""
    wrote = max(ours, key=lambda name: ours[name])
    return f"it wrote in {wrote.capitalize()} script where the notes are in {main.capitalize()}"


def _scripts(text: str) -> dict[str, float]:
    """Give the share of each script in what a text says; empty where it says too little to tell."""
    sizes: Counter[str] = Counter()
    for letter, count in Counter(text).items():
        if letter.isalpha() or unicodedata.category(letter).startswith("M"):  # vowel signs are letters of theirs
            sizes[_script(letter)] += count
    if sum(sizes.values()) < LETTERS:
        return {}
    weights = {name: size * (_DENSE if name in _EASTERN.values() else 1.0) for name, size in sizes.items()}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _script(letter: str) -> str:
    first = unicodedata.name(letter, "").split(" ")[0].split("-")[0]
    return _EASTERN.get(first, first)

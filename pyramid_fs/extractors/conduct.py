"""Rules of conduct: what a sentence orders, forbids or prefers, told apart from a story, a question and a might-be."""

# ruff: noqa: E501  (a pattern is read as one line)

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pyramid_fs.extractors import signs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyramid_fs.extractors.signs import Sign

LEAST = 8
"""Characters of a rule in a script with letters; `Never.` says nothing."""
LEAST_HAN = 4
MOST = 400
"""Characters of a rule: what is longer is a story that holds one."""

_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_QUESTION = re.compile(r"[?？؟][)\"'”’»」』*_]*$")
_EDGES = re.compile(r"^[\s*_>\"“„«]+|[\s*_\"”»]+$")


class _Rule(NamedTuple):
    """What a rule of conduct looks like, and what says that it is none."""

    pattern: re.Pattern[str]
    sign: Sign


def _any(words: str) -> str:
    return "(?:" + "|".join(words.split()) + ")"


def _rules(*table: tuple[str, Sign]) -> tuple[_Rule, ...]:
    return tuple(_Rule(re.compile(pattern, re.IGNORECASE), sign) for pattern, sign in table)


# English. After `always` a rule has the bare verb: these begin a story or a remark instead.
_NO_VERB = (
    r"(?!(?:had|has|was|were|did|is|are|am|been|mind|again|before|a|an|the|in|on|at|more|once|one|so|as|my|his|her|their|our|have\s+i|"
    r"i|we|he|she|they|you|it|really|quite|ever|mine|that|this|there|good|great|nice|happy|up|excited|eager|curious)\b"
    r"|\w+(?:ed|ing)\b(?<!need)(?<!feed)(?<!embed)(?<!seed)(?<!speed)(?<!proceed)(?<!bring)(?<!ping)(?<!string))"
)
_ORDER = _any(
    "run use ask check write read make keep add commit push test review verify confirm send call tell put set open close save store back "
    "update install build deploy start stop restart delete remove rename move copy log note mark tag link cite quote show list give get correct keep "
    "take wait try do say speak reply answer respond format lint sign merge rebase pull fetch document explain summarize translate mention "
    "include avoid prefer ensure validate measure water feed lock turn switch wash clean book pay bring buy order cook leave never always "
    "do\\s+not don['’]t create pin bump record consult look search discuss offer propose let be only first please inform notify email"
)
_WHO = r"(?:you|we|i|me|us|the\s+(?:agent|assistant|bot|model|team)|claude|everyone|everybody|nobody|no\s+one|agents?)"
_ENGLISH = _rules(
    (rf"^(?:always|never)\s+{_NO_VERB}[\w'’-]+", signs.ORDERED),
    (r"^(?:do\s+not|don['’]t)\s+(?!know\b|think\b|mind\b|worry\b|have\b|remember\b|get\s+me\b)\w+", signs.ORDERED),
    (r"^avoid\s+\w+", signs.ASSURED),
    (r"^(?:in\s+future|going\s+forward|from\s+now\s+on|henceforth|from\s+today\s+on)\b.{5}", signs.FROM_NOW),
    (r"\bfrom\s+now\s+on\b(?!.{0,60}\bwould\b)", signs.FROM_NOW),
    (r"^(?:please\s+)?(?:make\s+sure|be\s+sure|take\s+care|remember|don['’]t\s+forget|be\s+careful)\s+(?:to|that|not|you|the|every|all|each)\b", signs.ASSURED),
    (rf"^please\s+(?:always\s+|never\s+)?{_ORDER}\s", signs.ASSURED),
    (rf"^(?:before|after|when|whenever|while|if|unless|once|for|in|on|at|with|as\s+soon\s+as|every\s+time)\s[^,]{{3,120}},\s(?:please\s|then\s|first\s)?{_ORDER}\s(?!of\b)", signs.CONDITIONED),
    (rf"^(?:only|first)\s{_ORDER}\s", signs.ASSURED),
    (r"^(?:keep|use|stick\s+to|treat|prefer)\s(?!to\b|of\b|cases?\b)\w+", signs.PREFERRED),
    (rf"^{_ORDER}\s[^,.]{{3,120}}\s(?:before|after|when|whenever|unless|every\s+time|each\s+time|instead\s+of|rather\s+than)\s", signs.CONDITIONED),
    (r"\bmust(?:\s+(?:not|never|always))?\s+(?!have\b|admit\b|say\b|confess\b|be\s+(?:the|a|an|so|nice|hard|great|tired)\b)\w+", signs.BOUND),
    (r"\b(?:should|shall)\s+(?:always|never)\s+(?!have\b)\w+", signs.BOUND),
    (r"\bprefers?\s+(?!not\s+to\s+say)\w+", signs.PREFERRED),
    (rf"\b(?:wants?|would\s+like|expects?|asks?|likes)\s+{_WHO}\s+(?:not\s+|never\s+|always\s+)?to\s+\w+", signs.WANTED),
    (rf"\b(?:wanted|asked|told|reminded|instructed)\s+{_WHO}\s+(?:to\s+(?:always|never)|(?:always|never|not)\s+to|to\s+\w+\s.{{0,80}}\b(?:every\s+time|from\s+now\s+on|in\s+future|before\s+each|before\s+every|whenever))\b", signs.WANTED),
    (r"\b(?:has|have|is|are)\s+to\s+be\s+\w+ed\s+(?:before|after|every|whenever|by)\b", signs.BOUND),
    (r"\b(?:is|are)\s+(?:never|always)\s+to\s+be\s+\w+", signs.BOUND),
)  # fmt: skip
_GERMAN = _rules(
    (r"^(?:immer|niemals|nie|stets)\s+(?!mehr|wieder|noch|war|hatte|hat|wurde|ist)[\wäöüß ,-]{0,120}\w+en\b", signs.ORDERED),
    (r"^(?:ab\s+(?:jetzt|sofort|heute)|von\s+(?:jetzt|nun)\s+an|künftig|in\s+zukunft)\b", signs.FROM_NOW),
    (r"^(?:bitte|denk(?:e|t)?\s+daran|achte(?:t)?\s+darauf|stell(?:e|t)?\s+sicher|vergiss\s+nicht|vergesst\s+nicht|achten\s+sie)\b.{5}", signs.ASSURED),
    (r"^(?:vor|nach|bevor|nachdem|wenn|bei|falls|sobald|für|mit|ohne|auf|in|im|am|zu|zum)\s[^.]{3,120}\s(?:immer|erst|zuerst|stets|niemals|nie|nicht|bitte)\s[^.]{0,80}\w+(?:en|ern|eln)\b[.!]?$", signs.CONDITIONED),
    (r"\bbitte\b(?!.{0,60}\bum\b)[^.]{3,100}\w+(?:en|ern|eln)[.!]?$", signs.ASSURED),
    (r"^(?:keine?n?)\s[\wäöüß ,-]{2,100}\w+(?:en|ern|eln)[.!]?$", signs.ORDERED),
    (r"\b(?:muss|müssen|musst|darf|dürfen|darfst)\b(?!.{0,100}\b(?:haben|sein)\s*[.!]$)(?=.{0,160}\b(?:immer|niemals|nie|nicht|kein\w*|vor\s+(?:jedem|jeder)|nur|stets|erst|zuerst|bevor|spätestens|werden)\b)", signs.BOUND),
    (r"\b(?:bevorzugt|bevorzuge|zieht\s.{1,60}\svor)\b", signs.PREFERRED),
    (r"\b(?:will|möchte|wünscht|verlangt|erwartet)(?:\s\w+){0,2}?,\sdass\s(?:wir|du|ich|man|ihr|sie|der\s+(?:agent|assistent)|alle|jede\w*|niemand)\b", signs.WANTED),
)  # fmt: skip
_FRENCH = _rules(
    (r"^(?:toujours|ne\s+jamais|ne\s+pas)\s+\w+(?:er|ir|re|oir)\b", signs.ORDERED),
    (r"^(?:à\s+partir\s+de\s+maintenant|désormais|dorénavant)\b", signs.FROM_NOW),
    (r"^(?:assure-toi|assurez-vous|veille[rz]?\s+à|pense[rz]?\s+à|n['’]oublie[rz]?\s+pas|évite[rz]?|merci\s+de)\b", signs.ASSURED),
    (r"^(?:avant|après)\s[^,]{3,120},\s(?:toujours\s)?\w+(?:er|ir|re|ez)\b", signs.CONDITIONED),
    (r"\b(?:doit|doivent|dois|devez|il\s+faut|il\s+ne\s+faut)\s+(?:toujours\s+|jamais\s+|pas\s+)?(?!avoir|être\s+(?:un|une|le|la))\w+", signs.BOUND),
    (r"\bpréf(?:ère|èrent|érez)\s+(?:que\s+)?\w+", signs.PREFERRED),
    (r"\b(?:veut|souhaite|voudrait|demande)\s+(?:que|qu['’])\s*(?:tu|nous|vous|on|je|l['’](?:agent|assistant))", signs.WANTED),
)  # fmt: skip
_SPANISH = _rules(
    (r"^(?:siempre|nunca|no)\s+(?:hay\s+que\s+)?\w+(?:ar|er|ir|es|as|e|a)\b(?<!\bera)(?<!\bes)(?<!\bfue)(?<!\bhay)(?<!aba)(?<!\bha)", signs.ORDERED),
    (r"^(?:a\s+partir\s+de\s+ahora|de\s+ahora\s+en\s+adelante|en\s+adelante)\b", signs.FROM_NOW),
    (r"^(?:asegúrate|asegúrese|recuerda|recuerde|no\s+olvides?|evita[r]?|procura)\b", signs.ASSURED),
    (r"^(?:antes\s+de|después\s+de|cuando)\s[^,]{3,120},\s(?:siempre\s|nunca\s)?\w+(?:ar|er|ir|a|e)\b", signs.CONDITIONED),
    (r"\b(?:debe|deben|debes|hay\s+que|tiene\s+que|tienen\s+que)\s+(?!haber)\w+", signs.BOUND),
    (r"\bprefieren?\s+\w+", signs.PREFERRED),
    (r"\b(?:quiere|pide|desea)\s+que\s+(?:siempre\s+|nunca\s+|no\s+)?(?:\w+amos|\w+emos|\w+[ea]s|\w+[ea]n?)\b", signs.WANTED),
)  # fmt: skip
_RUSSIAN = _rules(
    (r"^(?:всегда|никогда\s+не)\s+(?!был|была|было)(?:\w+\s){0,3}?\w+(?:ть|ться|ти|й|йте|йся|и|ите|ь|ьте)\b", signs.ORDERED),
    (r"^\w+(?:[аяуео]й(?:те)?|ите|ьте|ись|итесь|йтесь)\s.{0,120}\b(?:если|когда|всегда|сразу|перед|каждый|каждую|каждое)\b", signs.CONDITIONED),
    (r"\bвсегда\s(?:\w+\s)?\w+(?:йте|ите|ьте|[аяу]й)\b", signs.ORDERED),
    (r"^не\s+(?:\w+(?:ть|ти|й|йте|ите|и|ь)|надо|нужно)\b", signs.ORDERED),
    (r"^(?:отныне|с\s+этого\s+(?:момента|дня)|впредь|с\s+сегодняшнего\s+дня|теперь\s+всегда)\b", signs.FROM_NOW),
    (r"^(?:убедись|убедитесь|не\s+забудь\w*|не\s+забывай\w*|обязательно|пожалуйста,?|следи\w*\s+за)\s", signs.ASSURED),
    (r"^(?:перед|прежде\s+чем|после|если|когда)\s[^.]{3,120}(?:,|\s)\s?(?:всегда\s|сначала\s|обязательно\s|нужно\s|надо\s|не\s)+\w+(?:ть|ти|й|йте|и|ите|ь)\b", signs.CONDITIONED),
    (r"\b(?:нужно|надо|необходимо|следует|нельзя|должен|должна|должны|должно)\s+(?:всегда\s+|сначала\s+|обязательно\s+)?(?:не\s+)?\w+(?:ть|ться|ти)\b", signs.BOUND),
    (r"\bпредпочита(?:ет|ют|ю)\b", signs.PREFERRED),
    (r"\b(?:хочет|просит|требует)(?:\s\w+)?,\sчтобы\b", signs.WANTED),
    (r"\bпросит\s+(?:\w+\s+)?(?:всегда|никогда|не)\s", signs.WANTED),
)  # fmt: skip
_EASTERN = _rules(
    (r"^(?:请|務必|务必)?(?:总是|永远|始终|一定要|务必|切勿|请勿|不要|别|千万不要|千万别|禁止|严禁|必须|不得|不许|记得|注意)", signs.ORDERED),
    (r"^(?:从现在起|从今以后|今后|以后|从现在开始|从今天起)", signs.FROM_NOW),
    (r"(?:之前|(?<!以)前|时|后|之后)，?(?:请)?(?:必须|一定要|务必|先|要先|都要|不要|总是|不得|别)", signs.CONDITIONED),
    (r"(?:必须|不要(?!紧)|切勿|请勿|严禁|不得|不能|不可以|不允许|应该始终|一律|绝不能|都要)(?!说)", signs.BOUND),
    (r"(?:偏好|更喜欢|喜欢用|习惯用|倾向于)", signs.PREFERRED),
    (r"(?:希望|要求|让)(?:我们|我|你|大家|助手)(?:每次|总是|不要|始终|先|都|以后|一律|必须|在)", signs.WANTED),
    (r"^請?(?:總是|一定要|務必|請勿|不要|別|必須|不得|記得)", signs.ORDERED),
    (r"(?:必ず|絶対に|常に|決して|いつも).{1,80}(?:こと|ください|下さい|る|す|く|ない|べき(?:だ|である|です)?)[。]?$", signs.ORDERED),
    (r"(?:ないでください|しないこと|てはいけない|てはならない|てはいけません|禁止(?:です)?)[。]?$", signs.ORDERED),
    (r"^(?:今後は?|これからは?|以後)", signs.FROM_NOW),
    (r"(?:前に|際は|ときは|場合は|後は?)、?.{2,80}(?:してください|すること|て下さい|てください)[。]?$", signs.CONDITIONED),
    (r"(?:なければならない|なければなりません|べきである|べきだ|べきです)[。]?$", signs.BOUND),
    (r"(?:を|の方が|ほうが|方が)(?:好む|好き|好みます|いい|望む|好んでいる)(?:です)?[。]?$", signs.PREFERRED),
    (r"(?:てほしい|てもらいたい|て欲しい)(?:と(?:言|頼|望|希望).{0,20}|です)?[。]?$", signs.WANTED),
    (r"^(?:항상|절대로?|반드시|언제나)\s.{2,100}(?:세요|시오|것|라|다|자)[.]?$", signs.ORDERED),
    (r"(?:하지\s?마세요|하지\s?말\s?것|면\s?안\s?됩니다|해야\s?합니다|해야\s?한다)[.]?$", signs.BOUND),
    (r"^(?:앞으로는?|지금부터는?)\s", signs.FROM_NOW),
)  # fmt: skip
_OTHERS = _rules(
    (r"^(?:دائما|دائماً|دائمًا|أبدا|أبداً|لا\s+(?=ت)\S+|تجنب|إياك)(?:\s|$)", signs.ORDERED),
    (r"^(?:من\s+الآن\s+فصاعدا\S*|منذ\s+الآن|ابتداء\S*\s+من\s+اليوم)", signs.FROM_NOW),
    (r"^(?:تأكد|تأكدي|تأكدوا|احرص|احرصي|تذكر|تذكري|لا\s+تنس\S*|يرجى|الرجاء)\s", signs.ASSURED),
    (r"^(?:قبل|بعد|عند)\s[^،.]{3,120}،\s*(?:يجب|لا\s|تأكد|راجع|اسأل|شغل|احفظ|أرسل|اكتب|دائم\S*\s)", signs.CONDITIONED),
    (r"(?:^|\s)(?:يجب|ينبغي|لا\s+يجوز|يمنع|لا\s+بد)\s+\S+\s", signs.BOUND),
    (r"(?:^|\s)[يت]فضل\s", signs.PREFERRED),
    (r"(?:^|\s)[يت](?:ريد|طلب)\s(?:\S+\s){0,2}?(?:أن|ألا|منا|مني|منك)(?:\s|$)", signs.WANTED),
    (r"^(?:हमेशा|सदैव|सदा)\s.{2,120}(?:ें|ो|ना|िए|िये|ाएँ|ाएं|ए|ओ|ना है|ना चाहिए)\s*[।.!]?$", signs.ORDERED),
    (r"(?:^|\s)(?:कभी\s(?:भी\s)?.{0,100}?(?:मत|न|नहीं)\s)", signs.ORDERED),
    (r"(?:^|\s)(?:तुरंत|ज़रूर|जरूर|अवश्य|हमेशा|सदा)\s.{0,60}(?:ें|ो|ना|िए|ाएँ|ाएं)\s*[।.!]?$", signs.ORDERED),
    (r"\sमत\s(?:\S+)\s*[।.!]?$", signs.ORDERED),
    (r"^(?:अब\sसे|आगे\sसे|आज\sसे)\s", signs.FROM_NOW),
    (r"^(?:ध्यान\sर(?:खें|खना|हे)|याद\sरखें|सुनिश्चित\sकरें|कृपया)\s", signs.ASSURED),
    (r"\sसे\sपहले\s.{2,120}(?:ें|ो|ना|िए|ाएँ|ाएं)\s*[।.!]?$", signs.CONDITIONED),
    (r"\S+(?:ना|ने|नी)\s(?:चाहिए|ज़रूरी\sहै|जरूरी\sहै|अनिवार्य\sहै|होगा|होगी)\s*[।.!]?$", signs.BOUND),
    (r"\sपसंद\sकर(?:ते|ती|ता)\sहै", signs.PREFERRED),
    (r"(?:चाहते|चाहती|चाहता)\s(?:है|हैं)\sकि\s", signs.WANTED),
)  # fmt: skip

_TABLES = (
    (re.compile("[a-z]", re.IGNORECASE), _ENGLISH + _GERMAN + _FRENCH + _SPANISH),
    (re.compile("[а-я]", re.IGNORECASE), _RUSSIAN),
    (re.compile("[\u3040-\u30ff\u3400-\u9fff가-힣]"), _EASTERN),
    (re.compile("[\u0620-\u064a\u0904-\u0939]"), _OTHERS),
)
_MIGHT = re.compile(
    r"\b(?:would(?!\s+like)|could|might|wouldn['’]t|couldn['’]t|wish(?:es|ed)?|as\s+if|had\s+to|used\s+to|(?:do|does|did)(?:\s+not|n['’]t)\s+(?:have|need|mean|think|want|say)"
    r"|no\s+longer|not\s+(?:that|because)|würden?|hätten?|wären?|könnten?|musste[nt]?|durfte[nt]?|sollte\s+nicht\s+heißen|aurait|serait|faudrait"
    r"|fallait|devait|habría|debía|tenía\s+que|sería|пришлось|было\s+бы|бы|приходилось)\b"
    r"|以前总|以前都|以前常|从前|小时候|如果当时|本来应该|本该|要是.{0,20}就好|不必|不用|曾经|لو\s|كان\s+يجب|كان\s+ينبغي|लेना\sपड़ा|ना\sपड़ा|नी\sपड़ी|होता\sतो|ほうがよかった|べきだった|必要はない",
    re.IGNORECASE,
)
"""What might be or had to be once is no rule."""
_STORY = re.compile(
    r"^(?:\S+\s){0,6}?(?:preferred|must\s+have|said\s+(?:that\s+)?(?:he|she|they|it)|thought|realized|wondered|hoped|dreamed)\b",
    re.IGNORECASE,
)


def rules(sentence: str) -> Iterator[tuple[str, Sign]]:
    """Yield the rule of conduct that a sentence states, once for each sign of it."""
    text = _bare(sentence)
    least = LEAST_HAN if _HAN.search(text) else LEAST
    if not least <= len(text) <= MOST or _QUESTION.search(text) or _MIGHT.search(text) or _STORY.search(text):
        return
    for script, table in _TABLES:
        if script.search(text):
            yield from (
                (text, sign) for sign in dict.fromkeys(rule.sign for rule in table if rule.pattern.search(text))
            )


def _bare(text: str) -> str:
    """Take off emphasis and the word that announces a rule, and set the rest on one line."""
    plain = " ".join(_EDGES.sub("", text.replace("**", "").replace("__", "")).split())
    return re.sub(
        r"^(?:rule|note|reminder|important|regel|wichtig|règle|regla|важно|правило|规则|注意|重要|قاعدة|नियम)\s?[:：]\s*",
        "",
        plain,
        flags=re.IGNORECASE,
    )

"""What may be stored as a summary, and how sources that are too long for one call are read whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import summarizers
from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.settings import SummarizerSettings
from pyramid_fs.summarizers import Call, Extractive, Item, Request, fault, in_sentences, tidy, write
from pyramid_fs.summarizers.checks import unsupported

WORDS = "Alice met Bob at the harbour on 3 May and they agreed to sell the boat before the autumn storms begin"
LONG = "\n".join(f"{WORDS}, number {number}." for number in range(20))
GOOD = "Between May and June Alice and Bob talked about the boat and decided to sell it."


def request(*texts: str, target: int = 600, tier: int = 0) -> Request:
    items = tuple(Item(f"note-{number}", "2026-11-29", text) for number, text in enumerate(texts))
    return Request("alice", "A friend.", tier, target, items, lambda: texts)


@dataclass
class Teller:
    """Answers each call with the next of some texts (the last one for ever), and keeps what it was asked."""

    answers: list[str]
    takes: int = 0
    slow: bool = True
    draft: bool = False
    name: str = "teller"
    asked: list[Request] = field(default_factory=list)

    def summarize(self, request: Request) -> str:
        self.asked.append(request)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def test_a_good_text_is_given_one_sentence_a_line() -> None:
    said = "Dr. Weber met Ann on 3 May. They sold the boat to Mr. Jones!  It was  dear."
    assert write(Teller([f"\n{said}\n"]), request(LONG)) == (
        "Dr. Weber met Ann on 3 May.\nThey sold the boat to Mr. Jones!\nIt was  dear."
    )
    assert in_sentences("One.\n\n\nTwo. Three.\n") == "One.\nTwo.\nThree."


def test_a_program_that_is_part_of_the_store_keeps_its_own_lines() -> None:
    said = "First the boat was sold. Then the house was.\nNothing else was sold that year."
    assert write(Teller([said], slow=False), request(LONG)) == said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it wrote nothing"),
        (" \n\t", "it wrote nothing"),
        ("Too short.", "it wrote only 10 characters: 'Too short.'"),
        ("word " * 301, "it wrote 1,505 characters where about 600 were asked for"),
        (f"{GOOD}\n---\nmore", "it wrote what would break the file: NUL bytes, front matter or conflict marks"),
        (f"---\n{GOOD}", "it wrote what would break the file: NUL bytes, front matter or conflict marks"),
        (f"{GOOD}\0", "it wrote what would break the file: NUL bytes, front matter or conflict marks"),
        (f"<<<<<<< HEAD\n{GOOD}", "it wrote what would break the file: NUL bytes, front matter or conflict marks"),
        ('{"summary": "Alice and Bob decided to sell the boat."}', "it wrote JSON, not prose"),
        ('```json\n["Alice and Bob decided to sell the boat."]\n```', "it wrote JSON, not prose"),
        (LONG[:1400], "it gave the notes back instead of a summary"),
    ],
)
def test_what_is_no_summary_is_refused_with_the_reason(text: str, reason: str) -> None:
    asked = request(LONG[:1400])
    assert fault(text, asked) == reason
    # an exception where it would be stored
    if text.strip() and "\n" not in text:
        with pytest.raises(SummarizerFailed, match=r"it (wrote|gave)"):
            write(Teller([text]), asked)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (GOOD, request(LONG)),
        ("x" * 1499 + ".", request(LONG)),
        ("x" * 40, request(LONG)),
        ("[1] Alice sold the boat and bought a house by the sea.", request(LONG)),
        ("Alice sold it.", request("Alice sold the boat.")),  # no longer than the least length themselves
        (f"{WORDS}.", request(f"{WORDS}.")),  # shorter than the target: there is nothing to compress
    ],
)
def test_what_is_a_summary_is_taken(text: str, asked: Request) -> None:
    assert fault(text, asked) == ""


def test_ten_tiny_notes_may_have_a_tiny_summary() -> None:
    asked = request(*(f"n{number}" for number in range(10)))
    assert write(Teller(["n0 to n9."]), asked) == "n0 to n9."


def test_picked_sentences_are_no_echo() -> None:
    assert fault(LONG[:1400], request(LONG[:1400]), extract=True) == ""


def test_sources_too_long_for_one_call_are_read_in_parts_and_none_is_skipped() -> None:
    texts = [f"{WORDS}, number {number}." for number in range(40)]
    teller = Teller([GOOD], takes=500)
    assert write(teller, request(*texts)) == GOOD
    *parts, last = teller.asked
    assert all(part.chars <= 500 for part in parts)
    read = [item.text for part in parts for item in part.items if item.handle.startswith("note-")]
    assert read == texts
    assert {item.text for item in last.items} == {GOOD}
    assert all(item.handle.startswith("part ") for item in last.items)


@pytest.mark.parametrize("text", [LONG, "x" * 3000, "word " * 700, "日本語の文章。" * 500])
def test_one_source_too_long_for_one_call_is_broken_where_something_ends_and_read_whole(text: str) -> None:
    teller = Teller(["日本語で書いた短いまとめの文章です。" * 3 if "日" in text else GOOD], takes=700)
    write(teller, request(text))
    read = [item.text for part in teller.asked for item in part.items if item.handle == "note-0"]
    assert "".join(read) == text
    assert all(len(part) <= 700 for part in read)
    if "\n" in text:
        assert all(part.endswith("\n") for part in read[:-1])
    elif " " in text:  # not within a word
        assert all(part.endswith(" ") for part in read[:-1])


def test_a_part_that_fails_fails_the_whole() -> None:
    teller = Teller([GOOD, "", "", GOOD], takes=500)
    with pytest.raises(SummarizerFailed, match="it wrote nothing"):
        write(teller, request(LONG))
    assert len(teller.asked) == 3


def test_a_slow_one_is_told_once_what_was_wrong_and_asked_again() -> None:
    teller = Teller(["", GOOD])
    assert write(teller, request(LONG)) == GOOD
    assert [each.complaint for each in teller.asked] == ["", "it wrote nothing"]
    with pytest.raises(SummarizerFailed, match="the summary by teller was not stored: it wrote only 4 characters"):
        write(Teller(["", "Two.", GOOD]), request(LONG))
    embedded = Teller(["", GOOD], slow=False)
    with pytest.raises(SummarizerFailed, match="it wrote nothing"):
        write(embedded, request(LONG))
    assert len(embedded.asked) == 1


def test_every_call_is_told_also_of_one_that_counts_no_tokens() -> None:
    told: list[Call] = []
    write(Teller(["", GOOD], takes=5000), request(LONG), told.append)
    assert [(call.summarizer, call.chars_in, call.chars_out, call.tokens_in, call.reason) for call in told] == [
        ("teller", len(LONG), 0, None, "it wrote nothing"),
        ("teller", len(LONG), len(GOOD), None, ""),
    ]
    told.clear()
    write(Teller([GOOD], takes=500), request(LONG), told.append)
    assert len(told) > 2
    assert sum(call.chars_in for call in told[:-1]) == len(LONG)


def test_who_writes_is_what_was_configured() -> None:
    assert summarizers.configured(SummarizerSettings(kind="none")) is None
    assert isinstance(summarizers.configured(SummarizerSettings()), Extractive)
    made = summarizers.configured(SummarizerSettings(kind="command", command=("llm", "-m", "small"), model="small-1"))
    assert made is not None
    assert (made.name, made.slow, made.draft) == ("command:small-1", True, False)


def test_the_embedded_one_reads_notes_also_above_tier_0() -> None:
    notes = ("Carla bought a red bicycle for 240 euros on 3 May 2026.", "The shop is in Lyon and closes at noon.")
    asked = request("What the summary below says is not read.", tier=1)
    asked = Request(asked.model, "", 1, 600, asked.items, lambda: notes)
    assert write(Extractive(), asked).splitlines() == list(notes)
    assert write(Extractive(), request(*notes)).splitlines() == list(notes)


# What a model puts around a summary


@pytest.mark.parametrize(
    "said",
    [
        "{}",
        "  {}\n\n",
        "Here is a summary of the notes:\n{}",
        "Here's the summary: {}",
        "Sure! Here is the summary you asked for:\n\n{}",
        "Certainly!\n{}",
        "Okay, here are the main points:\n{}",
        "Summary:\n{}",
        "**Summary:** {}",
        "**Summary**\n\n{}",
        "## Summary of May\n{}",
        "Hier ist die Zusammenfassung der Notizen:\n{}",
        "Zusammenfassung: {}",
        "Voici le résumé : {}",
        "Aquí está el resumen:\n{}",
        "Вот краткое изложение заметок:\n{}",
        "以下是摘要：\n{}",
        "摘要：{}",
        "以下は要約です：\n{}",
        "إليك الملخص:\n{}",
        "यहाँ सारांश है:\n{}",
        "```\n{}\n```",
        "```markdown\nSummary:\n{}\n```",
        "Here is a summary:\n```text\n{}\n```",
        "<think>\nShort.\n\nHere is more.</think>\n\n{}",
        "Thinking...\nThey sold it.\n...done thinking.\n\n{}",
    ],
)
def test_what_stands_around_a_summary_is_taken_off(said: str) -> None:
    assert tidy(said.replace("{}", GOOD)) == GOOD


@pytest.mark.parametrize(
    "text",
    [
        "Here is what Ann bought on 3 May: apples, pears and a boat.",
        "Summary writing was hard for Ann. She asked Bob.",
        "Sure, Ann sold the boat. Bob did not.",
        "Ann ran `ship.sh`:\n```\nship.sh\n```\nThen she left.",
        "これはアンの船の話です。",
        "Thinking of the boat, Ann sold it.",
    ],
)
def test_what_belongs_to_a_summary_stays(text: str) -> None:
    assert tidy(text) == text


# Refusals

FILLER = " The notes tell of a boat, of a house by the sea and of the storms that came in the autumn of that year."
REFUSALS = [
    "I'm sorry, but I can't help with that request at all.",
    "I am really sorry, but I am unable to summarize these private notes.",
    "Sorry, I won't be able to write a summary of this text.",
    "I’m sorry — as a model I’m not able to process notes like these.",
    "I cannot assist with summarizing private conversations.",
    "Unfortunately, I'm unable to provide a summary of these notes.",
    "As an AI language model, I do not have access to notes.",
    "There is nothing here. Please provide the notes that I am to summarize.",
    "Es tut mir leid, aber dabei kann ich Ihnen leider nicht helfen.",
    "Als KI-Modell kann ich keine privaten Notizen zusammenfassen.",
    "Je suis désolé, mais je ne peux pas résumer ces notes privées.",
    "En tant qu'intelligence artificielle, je n'ai pas accès aux notes.",
    "Lo siento, pero no puedo ayudar con el resumen de estas notas.",
    "Desculpe, mas não posso ajudar com o resumo destas notas.",
    "Mi dispiace, ma non posso riassumere queste note private.",
    "Het spijt me, maar daar kan ik je helaas niet mee helpen.",
    "Извините, но я не могу составить краткое изложение этих заметок.",
    "К сожалению, я не могу помочь с этой просьбой о заметках.",
    "Как языковая модель, я не имею доступа к вашим заметкам.",
    "抱歉，我无法总结这些私人笔记，请您提供其他的内容，谢谢您的理解与支持，祝您一切顺利，再见，再见。",
    "作为一个人工智能，我没有访问这些笔记的权限，请您提供其他的内容，谢谢您的理解与支持，祝您一切顺利。",
    "申し訳ありませんが、この内容を要約することはできません。別の文章をお送りいただけますでしょうか。よろしくお願いします。",
    "죄송하지만 이 메모를 요약할 수 없습니다. 다른 글을 보내 주시면 도와드리겠습니다. 감사합니다.",
    "عذراً، لا أستطيع المساعدة في تلخيص هذه الملاحظات الخاصة.",
    "क्षमा करें, मैं इन निजी नोट्स का सारांश नहीं बना सकता।",
]


@pytest.mark.parametrize("text", REFUSALS)
@pytest.mark.parametrize("more", ["", FILLER * 2])
def test_a_refusal_is_no_summary(text: str, more: str) -> None:
    assert fault(text + more, request(f"{text[-4:]} " * 200)).startswith("it refused: ")


@pytest.mark.parametrize(
    "text",
    [
        "Ann was sorry that she couldn't help Bob with the move to Lyon.",
        "As an AI engineer at the harbour office, Bob built a tide table.",
        "Bob asked Ann to please send the notes of the meeting on 3 May.",
        "I can't sleep since the move, and the new house is cold at night.",
        "他很遗憾不能参加五月三日的会议，安娜代替他去了港口，并且把那条旧船卖给了鲍里斯，价格是四百元。",
        FILLER * 2 + " Ann said: I'm sorry, but I can't help.",
    ],
)
def test_what_reads_like_a_refusal_and_is_told_of_somebody_is_a_summary(text: str) -> None:
    assert fault(text, request(f"{text[-4:]} " * 200)) == ""


def test_a_refusal_that_a_note_tells_of_is_a_summary() -> None:
    said = "I'm sorry, but I can't come on 3 May"
    asked = request(f"Ann wrote: {said}, the boat is being painted then.", LONG)
    assert fault(f"{said}, Ann wrote, for the boat was being painted.", asked) == ""
    assert fault(f"{said}, Ann wrote, for the boat was being painted.", request(LONG)).startswith("it refused")


# Cut off, and other faults

SENTENCE = "Alice sold the old boat to Bob before the storms. "


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        (SENTENCE * 8 + "Then Bob wen", True),
        ("Alice sold the old boat, and " * 22, True),  # as long as was asked for, and no end in sight
        (SENTENCE * 8, False),
        (SENTENCE * 8 + "He said: “We leave.”", False),
        (SENTENCE * 8 + "(So it was told.)", False),
        (SENTENCE + "Then Bob wen", False),  # short: a remark without a dot
        ("Alice sold the old boat\n" * 15, False),  # no line of it has a mark
        ("他们在五月卖掉了船。" * 40 + "后来他们搬到了海边", True),
        ("他们在五月卖掉了船。" * 40, False),
        ("उन्होंने मई में नाव बेच दी। " * 12 + "फिर वे समुद्र", True),
        ("उन्होंने मई में नाव बेच दी। " * 12, False),
        ("هل باعوا القارب في مايو؟ " * 15, False),
        ("บริษัทจะย้ายไปเชียงใหม่ในเดือนมกราคมเพราะค่าเช่าถูกกว่า ทุกคนดีใจมาก " * 8 + "3.5 ล้านบาท", False),
    ],
)
def test_a_text_that_stops_in_the_middle_of_a_sentence_is_cut(text: str, is_cut: bool) -> None:  # noqa: FBT001
    asked = request(f"{text[:3]} {text[3:40]} " * 3)
    assert fault(text, asked) == ("it ends in the middle of a sentence" if is_cut else "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The notes tell of \x07 a boat that was sold in May.", "it wrote control characters, not prose"),
        ("The notes tell of \ud800 a boat that was sold in May.", "it wrote control characters, not prose"),
        ("<!DOCTYPE html><html>" + "x" * 40, "it wrote an error page or a traceback, not prose"),
        ("<think>The notes tell of a boat that was sold", "it wrote its thoughts and no summary"),
        ("[" * 50_000, "it wrote 50,000 characters where about 600 were asked for"),
        ("[not JSON, but a remark in brackets about the boat]", ""),
        ("「」“”…" * 12, ""),  # marks alone: short of sense, and not cut
    ],
)
def test_other_faults_of_a_model(text: str, reason: str) -> None:
    assert fault(text, request(LONG)) == reason


def test_brackets_in_brackets_are_no_traceback() -> None:
    assert fault("[" * 30_000, request("x" * 100_000, target=20_000)) in {"", "it ends in the middle of a sentence"}


def test_a_piece_of_the_prompt_is_an_echo() -> None:
    from pyramid_fs.summarizers import prompt

    asked = request(*(f"{WORDS}, number {number}." for number in range(20)))
    whole = prompt.text(asked)
    for piece in (whole[:700], whole[-700:], whole[1000:1700], whole[2500:3300]):
        assert fault(piece, asked) == "it gave the notes back instead of a summary"


# Language, by script

ENGLISH = "Alice and Bob met at the harbour on 3 May and agreed what to ask for the boat."
BATCHES = {
    "en": [ENGLISH] * 3,
    "en with names": ["Alice met Иван Петров and Ольга at the harbour on 3 May, and they sold the boat."] * 3,
    "de": ["Anna traf Bruno am Hafen und sprach mit ihm über den Preis des alten Bootes."] * 3,
    "ru": ["Анна встретила Бориса в гавани, и они договорились о цене старой лодки на май."] * 3,
    "zh": ["安娜和鲍里斯在港口见面，商量旧船的价格，决定在秋天之前把 Seagull II 这条船卖掉。"] * 3,
    "ja": ["アンナはボリスと港で会い、古い船の値段を相談して、秋までに売ることに決めた。"] * 3,
    "ko": ["안나는 항구에서 보리스를 만나 낡은 배의 값을 의논하고 가을 전에 팔기로 했다."] * 3,
    "ar": ["التقت فاطمة وكريم في الميناء واتفقا على ثمن القارب القديم قبل الخريف."] * 3,
    "hi": ["प्रिया और रवि बंदरगाह पर मिले और पुरानी नाव का दाम तय किया।"] * 3,
}
SCRIPT = {"en": 0, "en with names": 0, "de": 0, "ru": 1, "zh": 2, "ja": 2, "ko": 3, "ar": 4, "hi": 5}


@pytest.mark.parametrize("ours", BATCHES)
@pytest.mark.parametrize("theirs", BATCHES)
def test_a_summary_is_written_in_the_script_of_its_notes(theirs: str, ours: str) -> None:
    found = fault(BATCHES[ours][0] * 2, request(*BATCHES[theirs], "x" * 40))
    assert found.startswith("it wrote in ") == (SCRIPT[theirs] != SCRIPT[ours]), found


@pytest.mark.parametrize(
    ("notes", "text"),
    [
        ([ENGLISH, BATCHES["ru"][0]], BATCHES["ru"][0]),  # two languages: either will do
        ([ENGLISH, BATCHES["ru"][0]], ENGLISH),
        (BATCHES["zh"], "12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5."),  # no letters to tell by
        (["12.5 13.5 14.5 15.5 16.5 17.5 18.5 19.5 20.5 21.5"], ENGLISH),
    ],
)
def test_where_a_script_can_not_be_told_none_is_asked_for(notes: list[str], text: str) -> None:
    assert fault(text, request(*notes)) == ""


def test_an_extract_is_in_whatever_its_notes_are_in() -> None:
    assert fault(BATCHES["zh"][0], request(ENGLISH), extract=True) == ""


# What no source says


@pytest.mark.parametrize(
    ("text", "notes", "expected"),
    [
        ("Alice paid 1000 euros.", "Alice paid 1,000 euros.", ()),
        ("Alice paid 1 000 euros, 1.000 of them late.", "Alice paid 1000 euros.", ()),
        ("Alice paid 3,50 and 0.5 for 007.", "Alice paid 3.5 and 0,50 for 7.", ()),
        ("Alice paid 0 and 000.", "Alice paid 0.", ()),
        ("Alice paid 1,100 euros.", "Alice paid 1,000 euros.", ("1,100",)),
        ("They have 12 boats, 19 in all.", "Alice has 12 boats. Bob has 7.", ()),  # a sum
        ("They met three times, 1 of them late.", "They met.", ()),  # counts
        ("They met at 12:30 in room 7.", "They met at 12:30.", ("7",)),
        ("Rooms 12 7 and 34.", "Rooms 12 34.", ("7",)),
        ("They have 99 boats.", "\n".join(f"{number}00 boats" for number in range(1, 40)), ("99",)),
        ("It has " + "9" * 5000 + " parts.", "It has parts.", ("9" * 5000,)),
        # dates
        ("On 4 March 2026 they met.", "2026-03-04: they met.", ()),
        ("On March 4, 2026 they met, on 4th of March.", "They met on 4 March 2026.", ()),
        ("Am 4. März 2026 trafen sie sich.", "04.03.2026 trafen sie sich.", ()),
        ("On 3/4/26 they met.", "They met on 4 March 2026.", ()),
        ("4 марта 2026 года они встретились.", "Они встретились 2026-03-04.", ()),
        ("2026年3月4日他们见面了，3月5日又见面。", "他们2026/3/4见面了。", ()),
        ("El 4 de marzo de 2026 se vieron.", "Se vieron el 2026-03-04.", ()),
        ("في 4 مارس 2026 التقيا.", "التقيا 2026-03-04.", ()),
        ("4 मार्च 2026 को वे मिले।", "वे ४ मार्च 2026 को मिले।", ()),
        ("In March 2026 they met.", "They met on 2026-03-04.", ()),
        ("In March they met, in April not.", "They met on 2026-03-04.", ("April",)),
        ("On 3 March they met.", "On 4 March 2026 they met, and yesterday too.", ()),
        ("On 9 March 2026 they met.", "They met on 4 March 2026.", ("9 March 2026",)),
        ("On 4 March 2025 they met.", "They met on 4 March 2026.", ("4 March 2025",)),
        ("On 2026-02-31 and 0001-01-01 they met.", "They met on 2026-02-31 and on 0001-01-01.", ()),
        ("On 3 auguſt 2026 they met.", "They met on 3 August 2026.", ()),
        # names
        ("Alice met Zoltan in Paris.", "Alice was in Paris.", ("Zoltan",)),
        ("Maria sold it. The boat was Maria's.", "The boat was sold.", ("Maria", "Maria")),
        ("However, Alice left. Walking home, she sang.", "Alice left home and sang.", ()),
        ("Alice met Jose Garcia's sisters.", "Alice met the sisters of José García.", ()),
        ("Jean-Luc met the Alices.", "Jean met Luc and Alice.", ()),
        ("A Boat was sold.", "a boat", ()),
        ("“Zoltan” was sold.", "It was sold.", ("Zoltan",)),
        ("Потом Виктор увидел Анну.", "Анна ушла.", ("Виктор",)),
        ("Das Boot gehört Zoltan und die Braut ist mit dem Wagen da.", "Das Boot ist da.", ()),  # every noun has one
        ("安娜卖了7条船。", "安娜卖了船。", ("7",)),
    ],
)
def test_what_no_source_says_is_listed(text: str, notes: str, expected: tuple[str, ...]) -> None:
    asked = Request("alice", "", 0, 600, (Item("n", "", notes),), list)
    assert unsupported(text, asked) == expected


def test_what_stands_beside_a_note_is_said_too() -> None:
    item = Item("met-at-the-harbour-p2m7", "2026-11-20", "They met.", "claude-code:5f0c")
    asked = Request("zoltan", "A friend from Riga.", 0, 600, (item,), list)
    assert unsupported("Zoltan met them in Riga on 20 November 2026, by Claude and at the Harbour.", asked) == ()


ANY = st.text(
    st.sampled_from("aB. ,:;'-\n\r\u2028#*>`[]{}()!?0123年月日三3४٣ſİäßЖ文あقहि\ud83d\U0001f69c\u0301\u00a0")
    | st.characters(exclude_categories=[])
)


@given(ANY, ANY)
def test_any_text_is_tidied_and_judged(text: str, note: str) -> None:
    asked = request(note * 20, target=30)
    tidied = tidy(text)
    assert tidied.encode().decode() == tidied
    for each in (text, tidied, "Here is a summary: " + text, "I'm sorry, but " + text):
        assert isinstance(fault(each, asked), str)
        # what is listed stands in the text, but for how it is composed
        assert all(isinstance(said, str) and said for said in unsupported(each, asked))
    assert unsupported(note, request(note)) == ()


def test_a_sentence_of_the_prompt_is_no_summary_of_the_notes() -> None:
    told = "The ferry left late and the crossing took an hour."
    asked = request(told * 20)
    text = f"{told} Write the summary now: about {asked.target} characters."
    assert "repeats what it was asked" in fault(text, asked)
    assert fault(f"{told} They were asked to invent nothing, and wrote it down.", asked) == ""
    quoted = request(f"{told} Write the summary now: about {asked.target} characters. " * 20)
    assert "repeats" not in fault(text, quoted)

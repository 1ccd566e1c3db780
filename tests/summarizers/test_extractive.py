"""What a reader may rely on in an extractive summary: whole sentences, in order, the facts first."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyramid_fs.summarizers import extractive
from pyramid_fs.summarizers.extractive import extract, shorten

MARKS = re.compile(r"^(?:\s|>|[-*+•](?=\s)|\d{1,3}[.)](?=\s)|#{1,6}(?=\s))+", re.MULTILINE)
CHAT = [
    "Ann: Hey Bea! How are you? I moved to Lisbon on 3 May 2024.",
    "Bea: Wow, that's so cool! I am happy for you.",
    "Ann: Thanks! The flat costs 950 euros a month and Carlos Silva owns it.",
    "Bea: Really? I bought a used Yamaha piano last Friday because lessons start in June.",
    "Ann: Sounds great! Love it.",
    "Bea: We decided to call the project Heron, and it must ship before 1 October.",
    "Ann: Nice. Talk to you soon! Bye!",
    "Bea: My sister Dora works at the observatory in Porto and studies variable stars.",
    "Ann: Cool! The deploy script is `ship.sh`, see https://docs.example.org/heron for more.",
    "Bea: Okay, thank you so much! Good night!",
]
SCRIPTS = {
    "de": [
        "Hallo! Wie geht's dir?",
        "Am 3. Mai 2024 traf Dr. Weber z.B. Frau Lang in Leipzig. Es war schön.",
        "Danke dir!",
    ],
    "fr": [
        "Bonjour ! Ça va ?",
        "Mme. Curie et M. Dupont ont signé le bail à Lyon. Il faisait beau.",
        "Merci beaucoup !",
    ],
    "zh": ["你好！最近怎么样？", "公司买了三台服务器，一共花了45000元。天气很好。", "谢谢你！哈哈。"],
    "ja": ["こんにちは！", "田中さんは金曜日までにサーバーを移行すると決めました。そうですね。", "ありがとう！"],
    "ko": [
        "안녕하세요! 잘 지내요?",
        "우리는 2024년 5월에 부산으로 이사하기로 결정했습니다. 날씨가 좋았어요.",
        "감사합니다!",
    ],
    "ru": [
        "Привет! Как дела?",
        "Анна начала работать в г. Казани 5 марта 2024 г. и купила дом. Я рад.",
        "Спасибо, круто!",
    ],
    "th": ["สวัสดีครับ", "บริษัทจะย้ายไปเชียงใหม่ในเดือนมกราคม 2567 เพราะค่าเช่าถูกกว่า ทุกคนดีใจมาก", "ขอบคุณมาก"],
    "hi": ["नमस्ते! आप कैसे हैं?", "प्रिया 5 मार्च 2024 से टाटा में काम करेगी। यह अच्छी खबर है।", "धन्यवाद!"],
    "ar": ["مرحبا! كيف حالك؟", "ستبدأ فاطمة العمل في شركة أرامكو يوم 5 مارس 2024. هذا خبر جيد.", "شكرا جزيلا!"],
}
FACTS = {
    "de": "Am 3. Mai 2024 traf Dr. Weber z.B. Frau Lang in Leipzig.",
    "fr": "Mme. Curie et M. Dupont ont signé le bail à Lyon.",
    "zh": "公司买了三台服务器，一共花了45000元。",
    "ja": "田中さんは金曜日までにサーバーを移行すると決めました。",
    "ko": "우리는 2024년 5월에 부산으로 이사하기로 결정했습니다.",
    "ru": "Анна начала работать в г. Казани 5 марта 2024 г. и купила дом.",
    "th": "บริษัทจะย้ายไปเชียงใหม่ในเดือนมกราคม 2567 เพราะค่าเช่าถูกกว่า",
    "hi": "प्रिया 5 मार्च 2024 से टाटा में काम करेगी।",
    "ar": "ستبدأ فاطمة العمل في شركة أرامكو يوم 5 مارس 2024.",
}
NAMES = ("Ada", "Boris", "Chen", "Dilara", "Emil", "Farah", "Goran", "Hana")
PLACES = ("Oslo", "Quito", "Riga", "Seoul", "Tunis", "Utrecht", "Varna")


def fold(text: str) -> str:
    return " ".join(text.split())


def story(note: int) -> str:
    """Return a note of three to six sentences that no other note repeats."""
    name, place = NAMES[note % len(NAMES)], PLACES[note * 3 % len(PLACES)]
    return " ".join(
        f"{name} took part {note * 7 + part} in the {place} meeting about subject{note}x{part}"
        f"{' and asked for a longer report' * (part % 3)}."
        for part in range(3 + note % 4)
    )


def assert_whole_lines(summary: str, texts: list[str]) -> None:
    source = fold(" ".join(MARKS.sub("", text) for text in texts)) + " " + fold(" ".join(texts))
    for line in summary.splitlines():
        assert line == line.strip()
        assert line
        assert line != "---"
        assert fold(line) in source or fold(line.removesuffix("…")) in source


def test_picks_facts_and_passes_over_chit_chat() -> None:
    summary = extract(CHAT, 420)
    for fact in ("Lisbon", "3 May 2024", "950", "Yamaha", "Heron", "1 October", "`ship.sh`"):
        assert fact in summary
    for chatter in ("How are you", "so cool", "Love it", "Talk to you", "Good night"):
        assert chatter not in summary


def test_whole_sentences_in_the_order_in_which_they_stand() -> None:
    texts = [story(note) for note in range(10)]
    summary = extract(texts, 600)
    assert_whole_lines(summary, texts)
    assert all(line.endswith(".") for line in summary.splitlines())
    places = [" ".join(texts).index(line) for line in summary.splitlines()]
    assert places == sorted(places)


@pytest.mark.parametrize(("notes", "target"), [(10, 400), (10, 600), (50, 800), (250, 1000), (1250, 1200)])
def test_length_is_near_the_target(notes: int, target: int) -> None:
    assert abs(len(extract((story(note) for note in range(notes)), target)) - target) <= 0.08 * target


def test_every_note_contributes_to_a_batch_of_ten() -> None:
    texts = [story(note) for note in range(10)]
    lines = extract(texts, 900).splitlines()
    assert all(any(line in text for line in lines) for text in texts)


def test_long_input_is_covered_from_start_to_end() -> None:
    texts = [story(note) for note in range(600)]
    found = [int(number) for number in re.findall(r"subject(\d+)x", extract(texts, 1000))]
    assert {number // 150 for number in found} == {0, 1, 2, 3}


def test_short_input_comes_back_whole() -> None:
    assert extract(["Hey! How are you?", "# Title\n\n- one\n- two"], 100) == "Hey!\nHow are you?\nTitle\none\ntwo"


@pytest.mark.parametrize("texts", [[], [""], [" \n\t", "\n\n"], ["---\n***\n| --- | --- |"]])
def test_nothing_to_say_is_empty(texts: list[str]) -> None:
    assert extract(texts, 100) == ""


def test_texts_may_be_read_once() -> None:
    assert extract(iter(CHAT), 300) == extract(CHAT, 300)


def test_same_text_is_said_once() -> None:
    assert extract(["The Heron ships in May 2024."] * 40, 100) == "The Heron ships in May 2024."


@pytest.mark.parametrize("language", sorted(SCRIPTS))
def test_every_script(language: str) -> None:
    fact = FACTS[language]
    summary = extract(SCRIPTS[language], len(fact))
    assert summary == fact


def test_markdown_units() -> None:
    text = (
        "# Moving the Heron server\n\nThe server `kiel-02` was moved\n to Frankfurt.\n\n"
        "- [[Dora Lang]] pays 40 euros\n1. Restart it every Monday\n> Emil wrote this rule,\n\n"
        "| host | port |\n| --- | --- |\n| kiel-02 | 8080 |\n\n```sh\necho nothing\n```\n"
    )
    lines = extract([text], 1000).splitlines()
    assert lines[0] == "Moving the Heron server"
    assert {"[[Dora Lang]] pays 40 euros", "Restart it every Monday", "Emil wrote this rule,"} <= set(lines)
    assert "| kiel-02 | 8080 |" in lines
    assert "echo nothing" in lines
    assert not any("```" in line or "---" in line for line in lines)


def test_hard_wrapped_paragraph_is_joined() -> None:
    text = "The committee met in Oslo for the second time this year, and it agreed that\nHana leads the work. Done."
    whole = "The committee met in Oslo for the second time this year, and it agreed that Hana leads the work."
    assert extract([text], 98) == whole


@pytest.mark.parametrize("name", ["pump_two", "kiel2", "iHeron"])
def test_a_name_of_code_may_begin_a_sentence(name: str) -> None:
    texts = [f"The tank was full in a day. {name} calls for no repair. The mast costs approx. forty euros."]
    assert extract(texts, 1000).splitlines() == [
        "The tank was full in a day.",
        f"{name} calls for no repair.",
        "The mast costs approx. forty euros.",
    ]


def test_fenced_code_is_the_last_resort() -> None:
    code = "```python\nfrom heron import Ship\nShip(port=8080).start()\n```"
    summary = extract([f"{code}\nGoran starts the ship on port 8080 every Tuesday.", "Hana repaired the mast."], 75)
    assert summary == "Goran starts the ship on port 8080 every Tuesday.\nHana repaired the mast."


def test_one_overlong_sentence_is_cut_at_a_word() -> None:
    sentence = "the committee " * 30
    summary = extract([sentence, "Ok."], 100)
    assert summary.endswith((" committee…", " the…"))
    assert len(summary) <= 100


def test_overlong_sentence_gives_way_to_one_that_fits() -> None:
    assert extract(["the committee " * 30 + ".", "Hana moved to Oslo in 2021."], 60) == "Hana moved to Oslo in 2021."


@pytest.mark.parametrize("grapheme", ["👨‍👩‍👧", "e\u0301", "👍🏽", "🇩🇪"])
def test_cut_never_breaks_a_grapheme(grapheme: str) -> None:
    for target in range(6, 16):
        kept = shorten("京" + grapheme * 40, target).removesuffix("…").removeprefix("京")
        assert kept.replace(grapheme, "") == ""


def test_huge_single_line() -> None:
    summary = extract(["x1y2" * 250_000], 600)
    assert len(summary) == 600
    assert summary.endswith("y2x1y…")


def test_long_paragraph_without_spaces_is_sampled() -> None:
    text = "".join(f"服务器第{number}号在上海买了。" for number in range(32_000))
    summary = extract([text], 600)
    assert_whole_lines(summary, [text])
    assert abs(len(summary) - 600) <= 0.08 * 600


def test_many_log_lines() -> None:
    line = "2024-05-01 12:{:02}:07 worker {} served request number {} in the second queue"
    lines = [line.format(n % 60, n, n * 7) for n in range(3000)]
    summary = extract(["\n".join(lines)], 600)
    assert set(summary.splitlines()) <= set(lines)
    assert abs(len(summary) - 600) <= 0.15 * 600


def test_a_lone_surrogate_is_kept() -> None:
    assert extract(["Ada met \ud800 there. Fine."], 100) == "Ada met \ud800 there. Fine."


def test_same_bytes_in_every_process() -> None:
    code = (
        "import sys; from pyramid_fs.summarizers.extractive import extract;"
        "sys.stdout.buffer.write(extract(sys.stdin.buffer.read().decode().split('\\0'), 300).encode())"
    )
    given_texts = "\0".join([*CHAT, *(note for notes in SCRIPTS.values() for note in notes)]).encode()
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=given_texts,
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(answers) == 1
    assert answers.pop()


PROSE = st.text(alphabet=st.sampled_from("aB é.!?。我ก\u0301\n#->`[]|:1 \u2028👍\u200d"), max_size=200)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.one_of(PROSE, st.text(max_size=200)), max_size=6), target=st.integers(1, 120))
def test_any_text(texts: list[str], target: int) -> None:
    summary = extract(texts, target)
    assert_whole_lines(summary, texts)
    assert len(summary) <= max(target * extractive.OVER, 2)
    if re.search(r"[^\W\d_]", "".join(re.sub(r"(?m)^[\s>]*(?:`{3}|~{3}).*", "", text) for text in texts)):
        assert summary

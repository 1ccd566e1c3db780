"""Rules of conduct are told from questions, stories and might-bes, in eight languages and more."""

from __future__ import annotations

import pytest

from pyramid_fs.extractors.rules import propose
from pyramid_fs.notes import Kind


def rules(text: str) -> list[str]:
    return [each.text for each in propose(text) if each.kind is Kind.PROCEDURE and each.confidence >= 0.5]


@pytest.mark.parametrize(
    "text",
    [
        "Always run the tests before a commit.",
        "Never merge on a Friday.",
        "Don't share the price with anyone.",
        "Do not delete old files.",
        "Before each release, run the whole test suite.",
        "When a test fails, read its message first.",
        "Make sure to name the file.",
        "Remember to feed the cat.",
        "From now on, commit messages are in English.",
        "Secrets must never be stored in the repository.",
        "Names should always be checked twice.",
        "Omar prefers short answers.",
        "Sana wants you to ask before deleting anything.",
        "Ada asked me to always use metric units.",
        "Please run the linter before each commit.",
        "Run the linter before every commit.",
        "Avoid long sentences in the summary.",
        "Niemals Passwörter in die Datei schreiben.",
        "Vor jedem Commit immer die Tests laufen lassen.",
        "Bitte die Quelle immer nennen.",
        "Ab jetzt werden Änderungen vermerkt.",
        "Keine Kundendaten an Dritte weitergeben.",
        "Rechnungen müssen immer geprüft werden.",
        "Frau Yilmaz möchte, dass wir jede Woche berichten.",
        "Sophie bevorzugt kurze Antworten.",
        "Toujours lancer les tests avant un commit.",
        "Ne jamais publier le vendredi.",
        "Désormais, les messages sont en anglais.",
        "Il faut toujours vérifier la facture.",
        "Claire préfère les réponses courtes.",
        "Siempre ejecutar las pruebas antes de publicar.",
        "Nunca borres los archivos viejos.",
        "A partir de ahora, los mensajes van en inglés.",
        "Las facturas deben revisarse dos veces.",
        "Lucía prefiere respuestas cortas.",
        "Всегда проверяй счёт перед оплатой.",
        "Никогда не удаляй старые файлы.",
        "Перед каждым релизом нужно запускать тесты.",
        "Пароли нельзя хранить в репозитории.",
        "Егор хочет, чтобы ты спрашивал перед удалением.",
        "付款之前必须核对发票。",
        "不要在周五合并代码。",
        "从现在起，所有改动都要写进日志。",
        "李思雨喜欢用简短的回答。",
        "コミットする前に、テストを実行してください。",
        "必ず出典を書くこと。",
        "古いファイルを削除しないでください。",
        "今後は英語で書く。",
        "항상 테스트를 먼저 실행하세요.",
        "دائما شغل الاختبارات قبل كل تغيير.",
        "لا تحذف الملفات القديمة.",
        "يجب أن نراجع الفاتورة قبل الدفع.",
        "तीनों बार हमेशा परीक्षण चलाने चाहिए।",
        "हमेशा परीक्षण चलाएँ।",
        "पुरानी फ़ाइलें कभी मत हटाओ।",
        "अब से सभी बदलाव डायरी में लिखे जाएँगे।",
    ],
)
def test_a_rule_of_conduct_is_one_sentence_as_it_stands(text: str) -> None:
    assert rules(f"{text}") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Should we always run the tests?",
        "Never had they seen such rain.",
        "Always a joy to hear from her.",
        "Never been so happy.",
        "She always walked to the clinic.",
        "He never told anyone.",
        "Before she left, she locked the door.",
        "After lunch, Ada ran home.",
        "If we had booked, we would never have to wait.",
        "They had to be there before noon.",
        "It must have been the rain.",
        "I thought that you must always pay twice.",
        "He dreamed that one should never leave.",
        "She said it doesn't mean you must leave.",
        "He used to prefer tea, and preferred it always.",
        "Muss man das immer so machen?",
        "Wir hätten nie so lange warten müssen.",
        "Früher haben wir immer Karten gespielt.",
        "Er musste nie lange warten.",
        "Elle aurait toujours dû attendre.",
        "Siempre era tarde.",
        "Можно ли всегда так делать?",
        "Раньше они всегда ездили к морю.",
        "Если бы мы успели, не пришлось бы ждать.",
        "为什么总是这么慢？",
        "他们以前总是坐火车。",
        "いつも遅いですか？",
        "هل يجب أن ننتظر دائما؟",
        "كان يجب أن يبدأ مبكرا.",
        "क्या हमेशा ऐसा करना चाहिए?",
        "हमें इंतज़ार करना पड़ा।",
        "Never.",
    ],
)
def test_a_question_a_story_and_a_might_be_are_no_rules(text: str) -> None:
    assert rules(text) == []


def test_a_list_mark_emphasis_and_an_announcement_are_no_part_of_a_rule() -> None:
    (found,) = propose("- **Always** run\n")
    assert (found.text, found.evidence) == ("Always run", "**Always** run")
    assert rules("Rule: never merge on a Friday.") == ["never merge on a Friday."]
    assert rules("1. Never merge on a Friday.\n2. Always ask first.") == [
        "Always ask first.",
        "Never merge on a Friday.",
    ]


def test_a_rule_said_twice_is_one_and_surer() -> None:
    once = propose("Never merge on a Friday.")
    twice = propose("Never merge on a Friday. It rained. Never merge on a FRIDAY.")
    assert len(twice) == len(once) == 1
    assert once[0].confidence < twice[0].confidence


def test_a_rule_broken_over_two_lines_is_one_sentence() -> None:
    text = "Before each release, run the whole test suite and then\nlook at the log of the night before.\n"
    (found,) = (each for each in propose(text) if each.kind is Kind.PROCEDURE)
    assert found.text == text.replace("\n", " ").strip()
    assert found.evidence == text.strip()

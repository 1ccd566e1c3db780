"""The digest of a conversation: both sides in their order, the person first, and no secret in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import digests, leaks
from pyramid_fs.digests import SECRET, digest, masked, redacted, secrets, stays_out, title_of, transcript
from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.importers.conversations import Conversation, Turn, made
from pyramid_fs.summarizers import Call, Extractive, Request, prompt

MAY = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
# no real keys: each is put together here, so that no scanner finds one in this file
AWS = "AKIA" + "IOSFODNN7EXAMPLQ"
PASSWORD = "hunter2" + "hunter2"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nq2+abcdefghij\n-----END RSA " + "PRIVATE KEY-----"


def talk(*texts: str, title: str = "") -> Conversation:
    """Make a conversation in which both sides speak in turn, the person first."""
    turns = [Turn(("person", "agent")[count % 2], text, MAY) for count, text in enumerate(texts)]
    return made("x:1", turns, title=title)


def long_talk() -> Conversation:
    asked = "We moved the beans to bed {n} on {n} May because snails ate {n} of them, so we bought copper tape."
    told = "Copper tape keeps snails off bed {n} for about {n} weeks, and crushed shells cost {n} euros in Ulm."
    return talk(*(text.format(n=number) for number in range(2, 40) for text in (asked, told)))


@dataclass
class Model:
    """A model that answers with the next of some texts, and keeps what it was asked."""

    answers: list[str]
    takes: int = 0
    slow: bool = True
    draft: bool = False
    name: str = "model"
    asked: list[Request] = field(default_factory=list)

    def summarize(self, request: Request) -> str:
        self.asked.append(request)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


GOOD = "Kim moved the beans to another bed in May because of the snails. Copper tape was bought and helps for weeks."


# Digests


def test_a_short_conversation_is_kept_as_it_is() -> None:
    model = Model([GOOD])
    assert digest(talk("Plant the beans?", "After the frost.\nNot before."), model) == (
        "Person: Plant the beans?\nAgent: After the frost.\nNot before."
    )
    assert not model.asked
    assert digest(talk(), model) == ""


def test_sentences_of_both_sides_are_picked_in_their_order_and_more_of_the_persons() -> None:
    told = long_talk()
    text = digest(told, Extractive())
    assert digests.TARGET * 0.8 < len(text) < digests.TARGET * 1.2
    assert digest(told, Extractive()) == text
    before, by = -1, {"Person": 0, "Agent": 0}
    speaker = ""
    for line in text.splitlines():
        label, _, said = line.partition(": ")
        speaker, said = (label, said) if label in by else (speaker, line)
        place = next(n for n, turn in enumerate(told.turns) if said in turn.text)
        assert place >= before
        assert told.turns[place].role == speaker.casefold()
        by[speaker] += len(said)
        before = place
    assert by["Person"] > by["Agent"] > 0


def test_one_side_alone_and_texts_without_words() -> None:
    only = made("x:1", [turn for turn in long_talk().turns if turn.role == "person"])
    text = digest(only, Extractive(), 400)
    assert text.startswith("Person: ")
    assert "Agent" not in text
    assert digest(talk("?" * 3000, "-" * 3000), Extractive(), 100) == f"Person: {'?' * 91}…"
    data = '{"bean": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}'
    told = "\n".join(turn.text for turn in long_talk().turns if turn.role == "agent")
    assert digest(talk(data, told), Extractive(), 600).startswith("Agent: Copper tape")


def test_a_turn_in_markdown_and_in_another_script_finds_its_speaker() -> None:
    told = talk(
        "# Der Garten\n\n- Die **Bohnen** stehen seit dem 3. Mai in Beet 4, weil die Schnecken kamen.\n" * 1,
        "我们在五月三日把豆子搬到四号床，因为蜗牛来了。\n\n我们买了铜带，花了二十欧元。" * 9,
        "Das Kupferband kostet 20 Euro in Ulm und hält 9 Wochen, sagt Frau Weber vom Markt.",
    )
    lines = digest(told, Extractive(), 320).splitlines()
    assert any(line.startswith("Person: ") and "Garten" not in line for line in lines)
    assert any(line.startswith("Agent: ") for line in lines)


def test_a_model_is_asked_with_rules_for_conversations_and_reads_both_sides() -> None:
    model, calls = Model([GOOD]), list[Call]()
    assert digest(long_talk(), model, 600, calls.append) == GOOD.replace(". Copper", ".\nCopper")
    (request,) = model.asked
    text = prompt.text(request)
    assert "what a conversation between a person and an agent came to" in text
    assert "about 600 characters" in text
    assert "> Person: We moved the beans to bed 2" in text
    assert "> Agent: Copper tape keeps" in text
    assert "[2026-05-06]" in text
    assert "{" not in prompt.rules(request)
    assert max(len(item.text) for item in request.items) <= digests.ITEM * 1.1
    assert len(request.items) < len(long_talk().turns)
    assert len(calls) == 1


def test_a_long_conversation_goes_in_parts() -> None:
    model = Model([GOOD], takes=3000)
    assert digest(long_talk(), model, 600) == GOOD.replace(". Copper", ".\nCopper")
    assert len(model.asked) > 2
    assert all(request.chars <= 3000 for request in model.asked)


def test_what_no_summary_may_be_is_no_digest() -> None:
    with pytest.raises(SummarizerFailed, match="it wrote nothing"):
        digest(long_talk(), Model([""]), 600)
    with pytest.raises(SummarizerFailed, match="it refused"):
        digest(long_talk(), Model(["I'm sorry, but I can't help with summarizing this conversation."]), 600)
    mended = Model(["", GOOD])
    assert digest(long_talk(), mended, 600)
    assert mended.asked[1].complaint


def test_a_digest_holds_no_marks_that_break_its_file() -> None:
    text = digest(talk("One.\n---\nTwo.\n<<<<<<< ours\nThree."), Extractive())
    assert text == "Person: One.\nTwo.\nThree."


# Secrets


@pytest.mark.parametrize(
    ("text", "kept", "count"),
    [
        (f"Use {AWS} now.", f"Use {SECRET} now.", 1),
        (f"password: {PASSWORD} and the train", f"password: {SECRET} and the train", 1),
        (f"my password: {PASSWORD}, her password: {PASSWORD}", f"my password: {SECRET} her password: {SECRET}", 2),
        (f"a\npostgres://kim:{PASSWORD}@db.example.org/main\n\nb {AWS}", f"a\n{SECRET}\n\nb {SECRET}", 2),
        (f"This is it:\n{KEY}\nKeep it.", f"This is it:\n{SECRET}\nKeep it.", 1),
        (KEY[:50], SECRET, 1),
        (f"password: {SECRET}", f"password: {SECRET}", 0),
        ("The password manager is the one that Kim uses.", "The password manager is the one that Kim uses.", 0),
    ],
)  # fmt: skip
def test_secrets_are_masked_and_counted(text: str, kept: str, count: int) -> None:
    assert masked(text) == (kept, count)
    assert leaks.find(kept) == []


@given(
    st.lists(st.sampled_from([AWS, f"token = '{PASSWORD}'", "password:", PASSWORD, "\n", "ok", " ", '"', f"x{AWS}"]))
)
def test_nothing_that_is_flagged_is_left(words: list[str]) -> None:
    assert leaks.find(masked(" ".join(words)).text) == []


def test_no_secret_gets_into_a_digest_or_to_a_model_or_into_a_title() -> None:
    said = f"The server in Ulm takes {AWS} as its key since 3 May, because Kim changed it."
    short = digest(talk(said, "I see."), Extractive())
    assert AWS not in short
    assert secrets(short) == 1
    picked = digest(talk(said, *(turn.text for turn in long_talk().turns[1:])), Extractive(), 900)
    assert AWS not in picked
    model = Model([f"{GOOD} The key is {AWS}."])
    assert secrets(digest(talk(said, *(turn.text for turn in long_talk().turns[1:])), model, 600)) == 1
    assert all(AWS not in item.text for request in model.asked for item in request.items)
    assert all(AWS not in text for request in model.asked for text in request.notes())
    known = redacted(talk(said, title=f"The key {AWS}"))
    assert AWS not in f"{known.title}{transcript(known.turns)}"
    assert AWS not in title_of(talk(f"{'x ' * 28}{AWS} is the key"))
    assert title_of(talk("Hi.", title=f"The key {AWS}")) == f"The key {SECRET}"


# Titles, and what stays out


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (talk("Hello."), "Hello."),
        (talk("\n## **Plan** the beds\nmore"), "Plan the beds"),
        (talk("...", "No.", "豆子什么时候种？"), "豆子什么时候种？"),
        (talk("Hello.", title="Beans"), "Beans"),
        (talk("word " * 40), f"{'word ' * 13}word…"),
        (talk("早" * 100), f"{'早' * 69}…"),
        (talk(), ""),
    ],
)
def test_titles(given: Conversation, title: str) -> None:
    assert title_of(given) == title
    assert len(title) <= digests.TITLE


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (talk(), "nothing is said"),
        (made("x:1", [Turn("agent", "Hello.", None)]), "no person"),
        (talk("Warmup", "I am ready."), "warms"),
        (talk("quota", "q"), "warms"),
        (talk(digests.PROMPT, GOOD), "summarizer"),
        (talk('You keep the memory named "alice" (a friend).\nBelow are 3 notes.', GOOD), "summarizer"),
        (talk("Warmup", "Yes?", "How do I warm up before a run?"), ""),
        (talk("Hello."), ""),
    ],
)
def test_what_stays_out(given: Conversation, reason: str) -> None:
    assert reason in stays_out(given)
    assert bool(stays_out(given)) == bool(reason)

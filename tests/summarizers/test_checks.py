"""What may be stored as a summary, and how sources that are too long for one call are read whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from pyramid_fs import summarizers
from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.settings import SummarizerSettings
from pyramid_fs.summarizers import Extractive, Item, Request, fault, in_sentences, write

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
        ("x" * 1500, request(LONG)),
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
    teller = Teller([GOOD], takes=700)
    write(teller, request(text))
    read = [item.text for part in teller.asked for item in part.items if item.handle == "note-0"]
    assert "".join(read) == text
    assert all(len(part) <= 700 for part in read)
    if "\n" in text:
        assert all(part.endswith("\n") for part in read[:-1])
    elif " " in text:  # not within a word
        assert all(part.endswith(" ") for part in read[:-1])


def test_a_part_that_fails_fails_the_whole() -> None:
    teller = Teller([GOOD, "", GOOD], takes=500)
    with pytest.raises(SummarizerFailed, match="it wrote nothing"):
        write(teller, request(LONG))
    assert len(teller.asked) == 2


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

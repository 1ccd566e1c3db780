"""A program of the user's as extractor: what it reads, and what of its list is taken."""

from __future__ import annotations

import json
import logging
import sys
import textwrap
import time
from typing import Any

import pytest

from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.extractors import Candidate, Extractor, ExtractorFailed, configured
from pyramid_fs.notes import Kind
from pyramid_fs.settings import ExtractorSettings

TEXT = "Ada met Bruno at the harbour.\nAlways ask Ada first, and then\nask Bruno."


def program(script: str, *words: str, timeout: float = 20.0, model: str = "") -> Extractor:
    command = (sys.executable, "-c", textwrap.dedent(script), *words)
    return configured(ExtractorSettings("command", command, model, timeout))


def says(answer: Any) -> Extractor:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return program("import sys; sys.stdin.read(); sys.stdout.write(sys.argv[1])", text)


def item(**more: Any) -> dict[str, Any]:
    base = {"kind": "entity", "text": "Ada", "label": "person", "confidence": 0.8}
    return {**base, "evidence": "Ada met Bruno at the harbour.", **more}


def test_a_program_reads_the_digest_as_it_stands() -> None:
    script = """
        import json, sys
        text = sys.stdin.buffer.read().decode("utf-8")
        print(json.dumps([{"kind": "entity", "text": text, "evidence": text}]))
    """
    (found,) = program(script).extract("静海 and Ada")
    assert found.text == found.evidence == "静海 and Ada"


def test_its_name_is_the_program_or_the_model_and_nobody_waits_for_it() -> None:
    assert program("", model="small").name == "command:small"
    assert configured(ExtractorSettings("command", ("/usr/bin/finder",))).name == "command:finder"
    assert program("").slow


def test_a_list_is_taken_alone_or_under_its_name() -> None:
    expected = [
        Candidate(Kind.ENTITY, "Ada", "person", 0.8, "Ada met Bruno at the harbour."),
        Candidate(Kind.PROCEDURE, "Always ask Ada first.", "", 0.9, "Always ask Ada first, and then\nask Bruno."),
    ]
    items = [
        item(),
        item(
            kind="Procedure",
            text="Always ask Ada first.",
            label="rule",
            confidence=0.9,
            evidence="Always ask Ada first, and then ask Bruno.",
        ),
    ]
    assert says(items).extract(TEXT) == expected
    assert says({"candidates": items}).extract(TEXT) == expected
    assert says("\ufeff" + json.dumps(items)).extract(TEXT) == expected
    assert says([]).extract(TEXT) == []


def test_a_name_may_be_called_name_and_what_is_missing_has_a_default() -> None:
    assert says([{"kind": "entity", "name": " Bruno "}]).extract(TEXT) == [
        Candidate(Kind.ENTITY, "Bruno", "", 0.5, "Ada met Bruno at the harbour.")
    ]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (3, "an item is no object"),
        (item(kind="person"), "its kind is neither entity nor procedure"),
        (item(kind=None), "its kind is neither entity nor procedure"),
        (item(text=""), "its text is empty"),
        (item(text=["Ada"]), "its text is empty"),
        (item(text="Ada " * 200), "its text is empty or longer than"),
        (item(confidence=1.5), "its confidence is no number from 0 to 1"),
        (item(confidence="high"), "its confidence is no number from 0 to 1"),
        (item(confidence=True), "its confidence is no number from 0 to 1"),
        (item(confidence=float("nan")), "its confidence is no number from 0 to 1"),
        (item(text="Carla"), "its name does not stand in the digest"),
        (item(evidence="Ada married Bruno."), "its evidence does not stand in the digest"),
        ({"kind": "procedure", "text": "Never lie."}, "its evidence does not stand in the digest"),
    ],
)
def test_wrong_items_are_dropped_with_their_number_and_all_wrong_is_a_failure(
    wrong: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert [each.text for each in says([wrong, item(), wrong]).extract(TEXT)] == ["Ada"]
    assert f"2 of 3 items by {sys.executable} were dropped: {reason}" in caplog.text
    with pytest.raises(ExtractorFailed, match=f"none of the 1 items by .* can be used: {reason}"):
        says([wrong]).extract(TEXT)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "wrote what is no JSON"),
        ("Ada, Bruno", "wrote what is no JSON"),
        ("[" * 100_000, "wrote what is no JSON"),
        ("3", "wrote JSON that is no list"),
        ('{"entities": []}', "wrote JSON that is no list"),
        ("null", "wrote JSON that is no list"),
    ],
)
def test_what_is_no_list_is_a_failure_that_says_so(answer: str, reason: str) -> None:
    script = "import sys; sys.stdin.read(); print('[' * 100_000 if sys.argv[1] == 'deep' else sys.argv[1])"
    with pytest.raises(ExtractorFailed, match=reason):
        program(script, "deep" if answer.startswith("[[") else answer).extract(TEXT)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('quota  used\\nup')", " ended with 1: quota used up"),
        ("import sys; sys.stdout.buffer.write(b'[\\xff]')", "wrote what is not UTF-8 (at byte 1)"),
        ("while True: print('a' * 65536)", "wrote on and on"),
    ],
)
def test_a_program_that_fails_says_why(script: str, reason: str) -> None:
    with pytest.raises(SummarizerFailed) as caught:
        program(script).extract(TEXT)
    assert reason in str(caught.value)


def test_a_program_that_hangs_is_ended() -> None:
    begun = time.monotonic()
    with pytest.raises(SummarizerFailed, match="gave no answer within"):
        program("import time; time.sleep(600)", timeout=0.3).extract(TEXT)
    assert time.monotonic() - begun < 20


def test_a_program_that_is_not_there_says_so_and_a_digest_without_words_asks_nobody() -> None:
    gone = configured(ExtractorSettings("command", ("/nowhere/finder",)))
    with pytest.raises(SummarizerFailed, match="can't be started"):
        gone.extract(TEXT)
    assert gone.extract(" \n") == []

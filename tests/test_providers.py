"""Real models over the network, against a local server that speaks both protocols and fails in every way."""

from __future__ import annotations

import logging
import os
import socket
import stat
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import models
import pytest
from models import Server, Step

from pyramid_fs.errors import SummarizerFailed, UsageError
from pyramid_fs.settings import SummarizerSettings
from pyramid_fs.summarizers import Call, Item, Request, Throttled, configured, remote, write
from pyramid_fs.summarizers.remote import retry_after

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.summarizers import Summarizer

KEY = "sk-invented-k3f9x7q2p0ds"
VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
NOTE = "On {day} May 2026 Alice and Bob met at the harbour, number {day}, and agreed what to ask for the old boat."
NOTES = tuple(NOTE.format(day=day) for day in range(1, 11))


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES.values(), "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["openai", "anthropic"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def asked(*notes: str, target: int = 600, tier: int = 0) -> Request:
    items = tuple(Item(f"n{at}", "2026-05-01", text) for at, text in enumerate(notes or NOTES))
    return Request("alice", "A friend.", tier, target, items, list)


def made(kind: str, url: str, timeout: float = 20.0, **more: Any) -> Summarizer:
    found = configured(SummarizerSettings(kind, model="small", timeout=timeout, base_url=url, **more))
    assert found is not None
    return found


def failure(summarizer: Summarizer, request: Request | None = None) -> SummarizerFailed:
    with pytest.raises(SummarizerFailed) as caught:
        write(summarizer, request or asked())
    return caught.value


@pytest.mark.slow
def test_a_model_is_asked_with_the_rules_and_the_quoted_notes_and_its_answer_is_stored(
    kind: str, server: Server
) -> None:
    summarizer = made(kind, server.url)
    assert (summarizer.name, summarizer.draft, summarizer.slow) == (f"{kind}:small", False, True)
    text = write(summarizer, asked())
    assert text == models.sound(server.asked[0].prompt)
    assert text.splitlines()[0].startswith("On 1 May 2026 Alice and Bob met")
    assert 300 < len(text) < 800
    assert server.calls == 1
    (call,) = server.asked
    assert call.path.endswith("/chat/completions" if kind == "openai" else "/messages")
    assert call.body["model"] == "small"
    assert call.body["max_tokens"] >= 4 * 600
    assert "temperature" not in call.body
    assert 'memory named "alice" (A friend.)' in call.prompt
    assert models.sources(call.prompt) == list(NOTES)


@pytest.mark.parametrize(
    "notes",
    [
        ["Am {day}. Mai 2026 trafen sich Anna und Bruno am Hafen und sprachen über den Preis des alten Bootes."],
        ["{day} мая 2026 года Анна и Борис встретились в гавани и договорились о цене старой лодки."],
        ["2026年5月{day}日，安娜和鲍里斯在港口见面，商量旧船的价格，决定在秋天之前把它卖掉。"],
        ["في {day} مايو 2026 التقت فاطمة وكريم في الميناء واتفقا على ثمن القارب القديم."],
        ["{day} मई 2026 को प्रिया और रवि बंदरगाह पर मिले और पुरानी नाव का दाम तय किया।"],
    ],
)
def test_a_sound_summary_in_any_script_is_stored(kind: str, server: Server, notes: list[str]) -> None:
    text = write(made(kind, server.url), asked(*(notes[0].format(day=day) for day in range(1, 31)), target=500))
    assert 200 < len(text) < 1000
    assert server.calls == 1


def test_one_call_alone_gives_the_text_as_it_came(kind: str, server: Server) -> None:
    server.script([Step(text="Too short.")])
    assert made(kind, server.url).summarize(asked()) == "Too short."


def test_every_call_is_told_with_what_it_cost(kind: str, server: Server) -> None:
    server.script([models.JSON, models.OK, models.FAILED])
    told: list[Call] = []
    summarizer = made(kind, server.url)
    text = write(summarizer, asked(), told.append)
    with pytest.raises(SummarizerFailed):
        write(summarizer, asked(), told.append)
    assert [call.reason.split(":")[0] for call in told[:2]] == ["it wrote JSON, not prose", ""]
    assert "failed (500)" in told[2].reason
    assert [call.chars_out for call in told] == [len(models.JSON.text or ""), len(text), 0]
    assert {call.chars_in for call in told} == {asked().chars}
    assert told[1].tokens_in == len(server.asked[1].prompt) // 4
    assert told[1].tokens_out == len(text) // 4
    assert (told[2].tokens_in, told[2].tokens_out) == (None, None)
    assert all(0 < call.seconds < 20 and call.summarizer == f"{kind}:small" for call in told)


@pytest.mark.parametrize("step", [models.LENGTH, models.REFUSAL])
def test_an_answer_that_can_not_be_used_is_paid_for(kind: str, server: Server, step: Step) -> None:
    server.script([step])
    told: list[Call] = []
    with pytest.raises(SummarizerFailed):
        write(made(kind, server.url), asked(), told.append)
    (call,) = told
    assert call.tokens_in == len(server.asked[0].prompt) // 4
    assert call.tokens_out is not None
    assert call.reason


# Ways to fail


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (models.FAILED, "failed (500): the model fell over"),
        (Step(502, body=b"<html>Bad Gateway</html>"), "failed (502)"),
        (Step(400, message="too long\nfor\x07 this model"), "refused (400): too long for this model"),
        (Step(401, message="no"), "did not accept the key (401): set "),
        (Step(403, message="no"), "did not accept the key (403): set "),
        (Step(404, message="not found"), "has no model 'small' (404): not found"),
        (models.CUT, "broke off before its answer was whole"),
        (models.DROPPED, "broke off before its answer was whole"),
        (models.GARBAGE, "answered with what is no JSON"),
        (models.HALF_JSON, "answered with what is no JSON"),
        (Step(body=b"[" * 100_000), "answered with what is no JSON"),
        (Step(body=b"[1]"), "answered with what is no JSON"),
        (Step(body=b""), "answered with what is no JSON"),
        (Step(body=b'{"error": {"message": "no credit"}}'), "failed: no credit"),
        (Step(body=b'{"error": "no credit"}'), "failed: no credit"),
        (models.NO_CHOICES, "answered without a text"),
        (Step(body=b'{"choices": [{"message": 3}]}'), "answered without a text"),
        (models.LENGTH, "cut the summary off at the most that it may write"),
        (models.FILTERED, "refused to summarize these notes"),
        (models.REFUSAL, "refused to summarize these notes"),
    ],
)
def test_a_call_that_fails_says_why_and_is_made_once(kind: str, server: Server, step: Step, reason: str) -> None:
    server.script([step])
    error = failure(made(kind, server.url))
    assert reason in str(error)
    assert str(error).startswith(server.url)
    assert not isinstance(error, Throttled)
    assert error.__cause__ is None
    assert server.calls == 1


def test_a_refused_key_names_its_variable(kind: str, server: Server) -> None:
    server.script([Step(401)])
    assert VARIABLES[kind] in str(failure(made(kind, server.url)))


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {"retry-after": "7"}, 7.0),
        (503, {"retry-after": "1.5"}, 1.5),
        (529, {"retry-after": "999999999"}, 86_400.0),
        (429, {"retry-after": "soon"}, None),
        (429, {"retry-after": "nan"}, None),
        (429, {"retry-after": "-3"}, 0.0),
        (429, {"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        (429, {}, None),
    ],
)
def test_a_busy_server_says_how_long_to_wait(
    kind: str, server: Server, status: int, headers: dict[str, str], wait: float | None
) -> None:
    server.script([Step(status, message="slow down", headers=headers)])
    error = failure(made(kind, server.url))
    assert isinstance(error, Throttled)
    assert error.retry_after == wait
    assert f"is busy ({status}): slow down" in str(error)
    assert server.calls == 1


def test_a_wait_may_be_said_as_a_date() -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert retry_after({"retry-after": "Mon, 30 Nov 2026 12:01:30 GMT"}, now) == 90.0
    assert retry_after({"retry-after": "Mon, 30 Nov 2026 12:01:30 -0000"}, now) == 90.0
    assert retry_after({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, now) == 0.0
    assert retry_after({"retry-after": "Mon, 99 Nov 2026 11:00:00 GMT"}, now) is None


@pytest.mark.parametrize("step", [models.HANG, models.DRIP, models.DRIP_HEAD])
def test_the_time_is_for_the_whole_call(kind: str, server: Server, step: Step) -> None:
    write(made(kind, server.url), asked())  # what is imported once is
    server.script([step])
    begun = time.monotonic()
    assert "gave no answer within 0.6 seconds" in str(failure(made(kind, server.url, timeout=0.6)))
    assert time.monotonic() - begun < 4


def test_a_call_whose_time_is_up_leaves_no_connection(server: Server) -> None:
    summarizer = made("openai", server.url)
    write(summarizer, asked())  # what is imported once is
    server.script([models.DRIP] * 3)
    for _ in range(3):
        failure(made("openai", server.url, timeout=0.3))
    write(summarizer, asked())
    assert sum(thread.name == "pyramid-calls" for thread in threading.enumerate()) == 1
    deadline = time.monotonic() + 10
    while server._inside and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    assert server._inside == 0, "the server is still talking to somebody"


def test_calls_one_after_the_other_use_one_connection_and_a_new_one_where_it_was_closed(
    kind: str, server: Server
) -> None:
    summarizer = made(kind, server.url)
    for step in (models.OK, models.OK, models.DROPPED):
        server.script([step])
        if step is models.DROPPED:
            failure(summarizer)
        else:
            write(summarizer, asked())
    write(made(kind, server.url), asked())
    first, second, dropped, last = (each.caller for each in server.asked)
    assert first == second == dropped != last


def test_a_server_that_came_up_again_is_asked_over_a_new_connection(kind: str) -> None:
    with Server() as before:
        summarizer, port = made(kind, before.url), before.port
        write(summarizer, asked())
    with Server(port=port):
        assert write(summarizer, asked())


def test_threads_that_ask_first_at_the_same_time_share_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    remote._started.cache_clear()
    begun, wait = [], threading.Barrier(8)
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "pyramid-calls":
            begun.append(thread)
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", start)

    def ask(_: int) -> object:
        wait.wait()
        return remote._loop()

    with ThreadPoolExecutor(8) as pool:
        loops = set(pool.map(ask, range(8)))
    assert (len(loops), len(begun)) == (1, 1)


def test_nobody_there_is_told_by_the_address(kind: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        assert str(failure(made(kind, url))) == f"nothing answers at {url}: is it running?"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(kind: str, server: Server, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[kind], KEY)
    with Server() as other:
        server.script([Step(status, body=b"{}", headers={"location": f"{other.url}/chat/completions"})])
        error = failure(made(kind, server.url))
        assert other.calls == 0
        assert f"points to {other.url.split('/')[2]} ({status})" in str(error)


def test_a_redirect_to_the_key_is_not_told(kind: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[kind], KEY)
    server.script([Step(302, body=b"{}", headers={"location": f"https://ada:{KEY}@{KEY}.example.org/{KEY}"})])
    assert "points to [key].example.org (302)" in str(failure(made(kind, server.url)))


# What is stored


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (models.SORRY, "it refused: \"I'm sorry, but I can't\""),
        (models.BLANK, "it wrote nothing"),
        (models.JSON, "it wrote JSON, not prose"),
        (models.WRONG_LANGUAGE, "it wrote in Han script where the notes are in Latin"),
        (models.LONG, "characters where about 600 were asked for"),
        (models.ECHO, "it gave the notes back instead of a summary"),
        (Step(text="They sold the boat \a before the autumn storms began."), "control characters"),
    ],
)
def test_what_is_no_summary_is_asked_for_once_more_with_the_reason(
    kind: str, server: Server, step: Step, reason: str
) -> None:
    if step is models.BLANK and kind == "anthropic":
        reason = "answered without a text"
    notes = tuple(f"{note} Nothing else was said on that day." for note in NOTES)
    server.script([step, step])
    assert reason in str(failure(made(kind, server.url), asked(*notes)))
    if "without a text" in reason:
        return
    assert server.calls == 2
    assert reason not in server.asked[0].prompt
    assert reason in server.asked[1].prompt.rsplit("That was the last of the notes.", 1)[1]
    server.script([step])
    assert write(made(kind, server.url), asked(*notes))
    assert server.calls == 4


def test_what_stands_around_a_summary_is_taken_off(kind: str, server: Server) -> None:
    said = "They sold the boat before the autumn storms.\nNobody bought another."
    server.script(
        [Step(text=f"```\nHere is a summary of the notes:\n\n{said}\n```"), Step(text=f"<think>Hm.</think>{said}")]
    )
    summarizer = made(kind, server.url)
    assert [write(summarizer, asked()) for _ in range(2)] == [said, said]


def test_half_a_letter_is_no_reason_to_fail(kind: str, server: Server) -> None:
    server.script([Step(text="They sold the boat \ud83d before the autumn storms began.")])
    assert write(made(kind, server.url), asked()) == "They sold the boat \ufffd before the autumn storms began."


def test_text_in_parts_is_one_text(server: Server) -> None:
    said = (
        b'[{"type": "text", "text": "They sold the boat before "}, {"type": "image"}, {"text": "the autumn storms."}]'
    )
    server.script([Step(body=b'{"choices": [{"message": {"content": ' + said + b"}}]}")])
    assert write(made("openai", server.url), asked()) == "They sold the boat before the autumn storms."


# Keys


def test_the_key_is_the_variable_s_then_the_program_s(
    kind: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "key"
    script.write_text(f"#!/bin/sh\necho x >> {tmp_path}/runs\nprintf '  {KEY}\\n\\n'\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    summarizer = made(kind, server.url, key_command=(str(script),))
    for _ in range(2):
        write(summarizer, asked())
    monkeypatch.setenv(VARIABLES[kind], f" {KEY}-2 ")
    write(summarizer, asked())
    assert [call.key for call in server.asked] == [KEY, KEY, f"{KEY}-2"]
    assert (tmp_path / "runs").read_text() == "x\n"
    monkeypatch.delenv(VARIABLES[kind])
    server.script([Step(401), models.OK])
    failure(summarizer)
    write(summarizer, asked())
    # after a refusal it is printed anew
    assert (tmp_path / "runs").read_text() == "x\nx\n"


def test_a_server_of_one_s_own_needs_no_key(kind: str, server: Server) -> None:
    write(made(kind, server.url), asked())
    assert server.asked[0].key == remote.NO_KEY


def test_another_s_server_is_not_asked_without_a_key(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = failure(made(kind, "https://models.example.org/v1"))
    assert str(error).startswith("there is no key for https://models.example.org/v1: set ")
    assert VARIABLES[kind] in str(error)
    assert "there is no key for https://api." in str(failure(made(kind, "")))
    monkeypatch.setenv(f"{kind.upper()}_BASE_URL", "http://models.example.org")
    with pytest.raises(UsageError, match="_BASE_URL: http is for this machine"):
        write(made(kind, ""), asked())


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (f"print('{KEY}'); raise SystemExit(3)", "printed no key (it ended with 3)"),
        (f"import sys; sys.stderr.write('{KEY}')", "printed no key (it ended with 0)"),
        (f"print('{KEY}'); print('user: ada')", "is no key (one word)"),
        (f"print('{KEY}é')", "is no key (one word)"),
    ],
)
def test_a_program_that_prints_no_key_is_named_and_its_words_are_not(
    kind: str, server: Server, script: str, reason: str
) -> None:
    error = failure(made(kind, server.url, key_command=(sys.executable, "-c", script)))
    assert reason in str(error)
    assert KEY not in str(error)
    assert server.calls == 0


def test_a_program_that_hangs_over_the_key_is_ended(kind: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "KEY_SECONDS", 0.3)
    begun = time.monotonic()
    assert "no answer within 0.3 seconds" in str(
        failure(made(kind, server.url, key_command=("sh", "-c", "sleep 60; :")))
    )
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "step",
    [
        Step(500, message="bad key {key}, the key is {key}"),
        Step(400, message="x" * 190 + "{key}"),
        Step(401, message="Incorrect API key provided: {key}"),
        Step(403, message="{key}"),
        Step(404, message="{key}"),
        Step(429, message="{key} is over its limit"),
        Step(200, body=b'{"error": {"message": "' + KEY.encode() + b'"}}'),
        Step(200, body=b'{"choices": "' + KEY.encode() + b'"}'),
        Step(200, text=f'{{"key": "{KEY}"}}'),
        models.HANG,
        models.DROPPED,
    ],
)
def test_the_key_is_in_no_error_no_repr_and_no_log(
    kind: str, server: Server, step: Step, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLES[kind], KEY)
    caplog.set_level(logging.DEBUG)
    server.script([step, step])
    summarizer = made(kind, server.url, timeout=0.5 if step is models.HANG else 20.0)
    told: list[Call] = []
    with pytest.raises(SummarizerFailed) as caught:
        write(summarizer, asked(), told.append)
    error: BaseException | None = caught.value
    while error:
        assert KEY not in f"{error!r}{error}"
        error = error.__cause__ or error.__context__
    assert server.asked[0].key == KEY
    # the transport's own trace, which nobody switches on by chance, shows what a server sends
    logged = [record.getMessage() for record in caplog.records if not record.name.startswith("httpcore")]
    assert KEY not in f"{summarizer!r}{told!r}{logged}"


# Many at once


def test_many_threads_may_use_one_summarizer(kind: str) -> None:
    with Server(delay=0.05) as server:
        summarizer = made(kind, server.url)
        told: list[Call] = []
        requests = [asked(*(f"{note} Row {number}." for note in NOTES)) for number in range(24)]
        with ThreadPoolExecutor(8) as threads:
            texts = list(threads.map(lambda request: write(summarizer, request, told.append), requests))
        assert [f"{text[-4:]}" != "" for text in texts] == [True] * 24
        by_prompt = {models.sound(call.prompt) for call in server.asked}
        assert set(texts) == by_prompt
        assert (server.calls, len(told)) == (24, 24)
        assert server.most_at_once > 1


def test_the_server_holds_its_limits() -> None:
    with Server(per_second=3) as server:
        summarizer = made("openai", server.url)
        found = [isinstance(error, Throttled) and error.retry_after == 1.0 for error in _tries(summarizer, 5)]
        assert server.turned_away == sum(found) >= 1
    with Server(key=KEY, model="large") as server:
        assert "did not accept the key" in str(failure(made("openai", server.url)))
        os.environ["OPENAI_API_KEY"] = KEY
        assert "has no model 'small'" in str(failure(made("openai", server.url)))
        del os.environ["OPENAI_API_KEY"]


def _tries(summarizer: Summarizer, count: int) -> Iterator[SummarizerFailed | None]:
    for _ in range(count):
        try:
            write(summarizer, asked())
        except SummarizerFailed as error:
            yield error
        else:
            yield None


# The extra


def test_a_package_that_is_missing_is_named_with_its_extra(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(UsageError) as caught:
        made(kind, "")
    assert f"pip install 'pyramid-fs[{kind}]'" in str(caught.value)


def test_a_proxy_that_makes_no_sense_is_no_traceback(
    kind: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "gopher://nowhere")
    monkeypatch.setenv("no_proxy", "")
    assert "can't be asked" in str(failure(made(kind, "http://models.internal/v1")))


def test_a_server_on_this_machine_is_asked_without_a_proxy(
    kind: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    assert write(made(kind, server.url), asked())


def test_a_proxy_that_is_not_there_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    said = str(failure(made(kind, "http://models.internal/v1")))
    assert "through the proxy that the environment names (127.0.0.1)" in said

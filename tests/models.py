"""A local server that speaks OpenAI's chat completions and Anthropic's messages, and fails as it is told to.

    with Server() as server:
        server.script([THROTTLED, HANG, OK])     # then sound summaries, for ever
        ... SummarizerSettings(kind="openai", model="small", base_url=server.url) ...
        assert server.calls == 3
        assert [told.text for told in server.told] == [None, ...]

One thread a connection, loopback only, nothing outlives the `with`. As a process of its own, `python models.py SECONDS`
prints the base URL, answers soundly after so many seconds, and prints how often once its standard input ends.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType

ENDLESS = 3600.0
EASTERN = "\u3040-\u30ff\u3400-\u9fff"


@dataclass(frozen=True, slots=True)
class Step:
    """How one call is answered; the default is a sound summary at once."""

    status: int = 200
    text: str | None = None
    """What the model says, `{key}` being the key that was sent; None for a sound summary."""
    ended: str = ""
    """`length`, `filter` or `refusal`; empty for a text that came to its end."""
    body: bytes | None = None
    """The whole body instead."""
    escapes: bool = False
    """Every letter of what the model says is spelled as JSON's `\\u0041`."""
    message: str = ""
    """An error's message; `{key}` is the key that was sent."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before anything is sent."""
    drip: float = 0.0
    """Seconds between one byte and the next."""
    drips_head: bool = False
    keep: float = 1.0
    """Share of the body that is sent before the connection is cut."""
    drops: bool = False
    """The connection is closed instead of an answer."""


OK = Step()
EMPTY = Step(text="")
HANG = Step(delay=ENDLESS)
DRIP = Step(drip=0.05)
DRIP_HEAD = Step(drip=0.05, drips_head=True)
CUT = Step(keep=0.5)
DROPPED = Step(drops=True)
GARBAGE = Step(body=b"<html><body>502 Bad Gateway</body></html>")
HALF_JSON = Step(body=b'{"choices": [{"message": {"content": "On 3 May')
NO_CHOICES = Step(body=b'{"choices": [], "content": []}')
FAILED = Step(500, message="the model fell over")
THROTTLED = Step(429, message="too many requests", headers={"retry-after": "7"})
OVERLOADED = Step(529, message="overloaded")
LENGTH = Step(ended="length")
FILTERED = Step(ended="filter")
REFUSAL = Step(ended="refusal")
SORRY = Step(text="I'm sorry, but I can't help with summarizing these notes for you.")
BLANK = Step(text=" \n")
JSON = Step(text='{"summary": "They sold the boat before the autumn storms began."}')
WRONG_LANGUAGE = Step(text="他们在五月卖掉了船。秋天的风暴还没有开始，大家都很高兴。后来他们搬到了海边的小镇。")
LONG = Step(text="They sold the boat and talked about it at length. " * 80)
ECHO = Step(text="\0echo")
"""Every note as it was given."""


def slow(seconds: float) -> Step:
    """Answer soundly after a while."""
    return replace(OK, delay=seconds)


@dataclass(frozen=True, slots=True)
class Asked:
    """One call as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float
    caller: int = 0
    """The port that it came from: one connection has one."""

    @property
    def prompt(self) -> str:
        """All that the model reads."""
        parts = [self.body.get("system", ""), *(message["content"] for message in self.body["messages"])]
        return "\n".join(parts)

    @property
    def key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True, slots=True)
class Told:
    """One call, and what was sent for it to the last byte."""

    asked: Asked
    step: Step
    text: str | None
    """What the model said, None in an error."""


class Server:
    """The server; `per_second` and `at_once` are limits that it holds with 429, `key` and `model` what it accepts."""

    def __init__(
        self,
        *,
        key: str = "",
        model: str = "",
        per_second: int = 0,
        at_once: int = 0,
        delay: float = 0.0,
        port: int = 0,
    ) -> None:
        self._port = port
        self.key, self.model, self.per_second, self.at_once, self.delay = key, model, per_second, at_once, delay
        self.asked: list[Asked] = []
        self.told: list[Told] = []
        """Those that were answered; the others hang, were cut off, or the caller went away."""
        self.turned_away = 0
        """Calls beyond a limit."""
        self.most_at_once = 0
        self.open: set[socket.socket] = set()
        self._steps: deque[Step] = deque()
        self._recent: deque[float] = deque()
        self._inside = 0
        self._lock = threading.Lock()
        self.over = threading.Event()

    def __enter__(self) -> Self:
        self._http = _Listener(("127.0.0.1", self._port), type("Bound", (_Connection,), {"models": self}))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        for connection in list(self.open):  # as the system does for a process that ends
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def url(self) -> str:
        """The base URL, for either protocol."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def calls(self) -> int:
        return len(self.asked)

    @property
    def good(self) -> list[Told]:
        """The sound answers."""
        return [told for told in list(self.told) if told.text == sound(told.asked.prompt)]

    def script(self, steps: Iterable[Step]) -> None:
        """Say how the next calls are answered."""
        with self._lock:
            self._steps.extend(steps)

    def stop_scripting(self) -> None:
        """Answer soundly from now on."""
        with self._lock:
            self._steps.clear()

    def enter(self, asked: Asked) -> Step:
        with self._lock:
            self.asked.append(asked)
            self._inside += 1
            self.most_at_once = max(self.most_at_once, self._inside)
            if self._is_too_much(asked.at):
                self.turned_away += 1
                return THROTTLED if not self.per_second else replace(THROTTLED, headers={"retry-after": "1"})
            step = self._steps.popleft() if self._steps else slow(self.delay) if self.delay else OK
        if self.key and asked.key != self.key:
            return Step(401, message="Incorrect API key provided: {key}")
        if self.model and asked.body.get("model") != self.model:
            return Step(404, message=f"the model {asked.body.get('model')!r} does not exist")
        return step

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1

    def _is_too_much(self, now: float) -> bool:
        while self._recent and now - self._recent[0] >= 1.0:
            self._recent.popleft()
        if (self.per_second and len(self._recent) >= self.per_second) or (self.at_once and self._inside > self.at_once):
            return True
        self._recent.append(now)
        return False


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is what most of these tests are about."""


class _Connection(BaseHTTPRequestHandler):
    models: ClassVar[Server]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are sent apart, and the body would wait for an acknowledgement

    def setup(self) -> None:
        super().setup()
        self.models.open.add(self.connection)

    def finish(self) -> None:
        self.models.open.discard(self.connection)
        super().finish()

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, json.loads(data), time.monotonic(), self.client_address[1])
        step = self.models.enter(asked)
        try:
            if not self.models.over.wait(step.delay) and not step.drops:
                self._answer(asked, step)
        finally:
            self.models.leave()
            self.close_connection = self.close_connection or step.drops or step.keep < 1

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet."""

    def _answer(self, asked: Asked, step: Step) -> None:
        text = _said(asked, step)
        body = _body(asked, step, text)
        head = {"content-type": "application/json", "content-length": str(len(body)), **step.headers}
        lines = [f"HTTP/1.1 {step.status} Told", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        with suppress(OSError):
            self._send("\r\n".join(lines).encode(), step.drip if step.drips_head else 0.0)
            self._send(body[: int(len(body) * step.keep)], step.drip)
            if step.keep == 1:
                self.models.told.append(Told(asked, step, text))

    def _send(self, data: bytes, pause: float) -> None:
        for part in (data[at : at + 1] for at in range(len(data))) if pause else (data,):
            self.wfile.write(part)
            if pause and self.models.over.wait(pause):
                raise ConnectionAbortedError


def _said(asked: Asked, step: Step) -> str | None:
    """Give what the model says; None where it gets no say."""
    if step.body is not None or step.status != 200:
        return None
    text = sound(asked.prompt) if step.text is None else step.text.replace("{key}", asked.key)
    text = "\n".join(sources(asked.prompt)) if text == "\0echo" else text
    return text[: len(text) // 2] if step.ended == "length" else text


def _body(asked: Asked, step: Step, text: str | None) -> bytes:
    is_chat = asked.path.endswith("/chat/completions")
    if step.body is not None:
        return step.body
    if step.status != 200:
        error = {"type": "error", "message": step.message.replace("{key}", asked.key)}
        return json.dumps({"error": error} if is_chat else {"type": "error", "error": error}).encode()
    said = json.dumps((_chat if is_chat else _message)(asked, step.ended, text or "")).encode()
    if not step.escapes or not text:
        return said
    return said.replace(
        json.dumps(text).encode(), f'"{"".join(f"{chr(92)}u{ord(sign):04x}" for sign in text)}"'.encode()
    )


def _chat(asked: Asked, ended: str, text: str) -> dict[str, Any]:
    reason = {"length": "length", "filter": "content_filter"}.get(ended, "stop")
    refusal = "I won't." if ended == "refusal" else None
    message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
    return {
        "id": "told",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": len(asked.prompt) // 4, "completion_tokens": len(text) // 4, "total_tokens": 0},
    }


def _message(asked: Asked, ended: str, text: str) -> dict[str, Any]:
    reason = {"length": "max_tokens", "filter": "refusal", "refusal": "refusal"}.get(ended, "end_turn")
    return {
        "id": "told",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": [] if reason == "refusal" else [{"type": "text", "text": text}],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": len(asked.prompt) // 4, "output_tokens": len(text) // 4},
    }


# Settings


def settings(kind: str, url: str, **more: object) -> str:
    """Spell the `config.toml` of somebody whose summaries this server writes."""
    said = {"kind": kind, "model": "small", "base_url": url, "timeout": 20.0, **more}
    return "\n".join(["[summarizer]", *(f"{name} = {json.dumps(value)}" for name, value in said.items()), ""])


# A sound summary


def sources(prompt: str) -> list[str]:
    """Read the quoted notes of a prompt."""
    found: list[list[str]] = []
    for line in prompt.split("\n"):
        if line.startswith("["):
            found.append([])
        elif line.startswith(">") and found:
            found[-1].append(line[2:])
    return ["\n".join(lines) for lines in found if lines]


def sound(prompt: str) -> str:
    """Summarize the notes of a prompt in their own words: the same prompt, the same text, near the length asked for."""
    notes, targets = sources(prompt), re.findall(r"about ([\d,]+) characters", prompt)
    target = int(targets[-1].replace(",", "")) if targets else 600
    is_rich = sum(map(len, notes)) > target
    lines = [_sentence(note, target // max(1, len(notes)), skips=is_rich) for note in notes]
    return "\n".join(line for line in lines if line)


def _sentence(note: str, size: int, *, skips: bool) -> str:
    words = re.findall(rf"[{EASTERN}]|[^\s{EASTERN}]+", note)
    # every second stretch of a long note: what stands there word for word would be an echo
    told = [word for at, word in enumerate(words) if not skips or at // 8 % 2 == 0]
    return _joined(told, size)


def _joined(words: Sequence[str], size: int) -> str:
    said = ""
    for word in words:
        space = "" if not said or re.match(rf"[{EASTERN}]", word) else " "
        if said and len(said) + len(space) + len(word) >= size:
            break
        said += space + word
    said = said.strip(" .。।,;:，、!?！？")
    end = "。" if re.search(rf"[{EASTERN}]", said) else "।" if re.search("[\u0900-\u097f]", said) else "."
    return f"{said}{end}" if said else ""


def main(delay: float) -> None:
    """Serve until the input ends."""
    with Server(delay=delay) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()
        sys.stdout.write(f"{server.calls}\n")


if __name__ == "__main__":
    main(float(sys.argv[1]))

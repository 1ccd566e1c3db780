"""Anthropic's messages as summarizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyramid_fs.summarizers import Answer, Unusable, prompt, remote

if TYPE_CHECKING:
    from pyramid_fs.settings import SummarizerSettings
    from pyramid_fs.summarizers import Request

VENDOR = remote.Vendor("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com")


class Anthropic:
    """Asks a model for one message a summary."""

    draft = False
    takes = remote.TAKES
    slow = True

    def __init__(self, chosen: SummarizerSettings) -> None:
        self.name = f"anthropic:{chosen.model}"
        self._end = remote.Endpoint(VENDOR, chosen)

    def summarize(self, request: Request) -> str:
        """Ask once, and give the text."""
        return self.answer(request).text

    def answer(self, request: Request) -> Answer:
        """Ask once."""
        return read(self._end.ask(lambda key: self._send(key, request)), self._end.shown)

    async def _send(self, key: str, request: Request) -> remote.Reply:
        # imported by the first call: it takes two seconds
        import anthropic

        try:
            client = self._end.client(anthropic.AsyncAnthropic, key)
            raw = await client.messages.with_raw_response.create(
                model=self._end.model,
                system=prompt.rules(request),
                messages=[{"role": "user", "content": prompt.sources(request)}],
                max_tokens=remote.most_tokens(request),
            )
            return remote.Reply(raw.status_code, await raw.read())
        except anthropic.APIStatusError as error:
            return remote.Reply(error.status_code, error.response.content, error.response.headers)
        except anthropic.APITimeoutError:
            return remote.LATE
        except anthropic.APIConnectionError as error:
            return remote.unreached(error.__cause__)


def read(body: bytes, at: str) -> Answer:
    """Read an answer; SummarizerFailed where it holds no whole text."""
    found = remote.table(body, at)
    cost = Answer("", *(remote.count(found.get("usage"), name) for name in ("input_tokens", "output_tokens")))
    text, ended = remote.joined(found.get("content")), found.get("stop_reason")
    if ended in {"max_tokens", "model_context_window_exceeded"}:
        raise Unusable(f"{at} cut the summary off at the most that it may write", cost)
    if ended == "refusal":
        raise Unusable(f"{at} refused to summarize these notes", cost)
    if not text.strip() or ended in {"tool_use", "pause_turn"}:
        raise Unusable(f"{at} answered without a text", cost)
    return replace(cost, text=text)

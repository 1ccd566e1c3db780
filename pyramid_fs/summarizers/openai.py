"""OpenAI's chat completions as summarizer, and every server that speaks them: Ollama, LM Studio, vLLM, hosted ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyramid_fs.summarizers import Answer, Unusable, prompt, remote

if TYPE_CHECKING:
    from pyramid_fs.settings import SummarizerSettings
    from pyramid_fs.summarizers import Request

VENDOR = remote.Vendor("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1")
THINKING = 4
"""Its own models count what they think as written: so many times the tokens."""


class OpenAI:
    """Asks a model for one completion a summary."""

    draft = False
    takes = remote.TAKES
    slow = True

    def __init__(self, chosen: SummarizerSettings) -> None:
        self.name = f"openai:{chosen.model}"
        self._end = remote.Endpoint(VENDOR, chosen)

    def summarize(self, request: Request) -> str:
        """Ask once, and give the text."""
        return self.answer(request).text

    def answer(self, request: Request) -> Answer:
        """Ask once."""
        return read(self._end.ask(lambda key: self._send(key, request)), self._end.shown)

    async def _send(self, key: str, request: Request) -> remote.Reply:
        # imported by the first call: it takes a second
        import openai

        most, ours = remote.most_tokens(request), self._end.base.startswith("https://api.openai.com/")
        try:
            client = self._end.client(openai.AsyncOpenAI, key)
            raw = await client.chat.completions.with_raw_response.create(
                model=self._end.model,
                messages=[
                    {"role": "system", "content": prompt.rules(request)},
                    {"role": "user", "content": prompt.sources(request)},
                ],
                # the older name is what compatible servers know, and what newer models of its own refuse
                max_completion_tokens=THINKING * most if ours else openai.omit,
                max_tokens=openai.omit if ours else most,
            )
            return remote.Reply(raw.status_code, raw.content)
        except openai.APIStatusError as error:
            return remote.Reply(error.status_code, error.response.content, error.response.headers)
        except openai.APITimeoutError:
            return remote.LATE
        except openai.APIConnectionError as error:
            return remote.unreached(error.__cause__)


def read(body: bytes, at: str) -> Answer:
    """Read an answer; SummarizerFailed where it holds no whole text."""
    found = remote.table(body, at)
    cost = Answer("", *(remote.count(found.get("usage"), name) for name in ("prompt_tokens", "completion_tokens")))
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Unusable(f"{at} answered without a text", cost)
    ended = choice.get("finish_reason")
    if ended == "length":
        raise Unusable(f"{at} cut the summary off at the most that it may write", cost)
    if ended == "content_filter" or message.get("refusal"):
        raise Unusable(f"{at} refused to summarize these notes", cost)
    return replace(cost, text=remote.joined(message.get("content")))

"""What calls of a summarizer cost on this machine: one line a call, in the cache folder, a file a day."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pyramid_fs import files
from pyramid_fs.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.summarizers import Call

FOLDER = "calls"


@dataclass(frozen=True, slots=True)
class Metered:
    """One call, whatever came of it."""

    model: str
    tier: int
    by: str
    is_asked: bool
    """Whether somebody typed a command and waited, rather than growth in the background."""
    chars_in: int
    chars_out: int
    tokens_in: int | None
    tokens_out: int | None
    seconds: float
    failed: str = ""
    """Why nothing of it was stored; empty where it was good."""


class Meter:
    """The calls made on this machine for one vault."""

    def __init__(self, cache: Path) -> None:
        self._folder = cache / FOLDER

    def note(self, day: str, model: str, tier: int, call: Call, *, is_asked: bool) -> None:
        """Note a call; what can't be noted is not, as the summary counts and not its price."""
        made = Metered(
            model=model,
            tier=tier,
            by=call.summarizer,
            is_asked=is_asked,
            chars_in=call.chars_in,
            chars_out=call.chars_out,
            tokens_in=call.tokens_in,
            tokens_out=call.tokens_out,
            seconds=round(call.seconds, 3),
            failed=call.reason[:300],
        )
        files.jot(self._folder / f"{day}.jsonl", json.dumps(asdict(made), ensure_ascii=False))

    def of(self, day: str) -> Iterator[Metered]:
        """Yield the calls of a day."""
        try:
            data = files.read(self._folder / f"{day}.jsonl")
        except (FileNotFoundError, DiskError):
            return
        for line in data.splitlines():
            try:
                yield Metered(**json.loads(line))
            except (ValueError, TypeError):  # a line that a full disk cut off
                continue

    def all(self) -> Iterator[Metered]:
        """Yield all calls, the oldest day first."""
        for name in sorted(files.names(self._folder.parent, FOLDER)):
            yield from self.of(name.removesuffix(".jsonl"))

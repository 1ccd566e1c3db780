"""Makes whatever is logged one plain line on standard error, with the place where an exception came up."""

from __future__ import annotations

import logging
import traceback
from pathlib import PurePath

MOST = 400
"""Characters of a line."""


class Plain(logging.Formatter):
    """Spells a record as one line: a traceback is long, slow to draw, and nobody reads it where servers are started."""

    def format(self, record: logging.LogRecord) -> str:
        """Spell a record."""
        error = record.exc_info[1] if record.exc_info else None
        text = f"{record.getMessage()}: {said(error)}" if error else record.getMessage()
        return " ".join(text.split())[:MOST]


def said(error: BaseException) -> str:
    """Say what came up first, and where."""
    first = _first(error)
    frames = traceback.extract_tb(first.__traceback__)
    where = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = f": {first}" if str(first) else ""
    return f"{type(first).__name__}{text[: MOST // 2]}{where}"


def _first(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):
        return _first(error.exceptions[0])
    return _first(error.__cause__) if error.__cause__ else error


def set_plain() -> None:
    """Log so from now on; whoever sets up logging later leaves it."""
    shown = logging.StreamHandler()
    shown.setFormatter(Plain())
    logging.basicConfig(level=logging.WARNING, handlers=[shown])

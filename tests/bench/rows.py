"""The lines of the table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    figure: str
    baseline: str = ""
    ratio: str = ""
    limit: str = ""
    holds: bool | None = None
    """Whether it keeps within its limit; None where there is none."""


def ms(seconds: float) -> str:
    """Spell a time."""
    return f"{seconds * 1000:,.1f} ms" if seconds < 1 else f"{seconds:,.2f} s"

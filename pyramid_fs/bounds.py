"""How much of an answer a client takes: what a text costs in tokens, and the most whole items that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")

TOKENS = 20_000
"""The most that one answer may cost: clients cut a tool's result at 25,000 tokens, and this is an estimate."""

PER_LETTER, PER_MARK, PER_BYTE = 0.23, 0.55, 0.42
"""Tokens for a letter or space of ASCII, for a digit or mark of it, and for a byte of any other script.

Measured against the vocabularies cl100k and o200k on maps, views and their JSON, and on prose in Chinese, Russian,
Hindi, Arabic and Thai: within a tenth for English, up to two fifths too many for other scripts, so that what is said to
fit does fit.
"""
TOOLS = 1_471
"""What the server's list of tools costs whoever is given it; a test holds it to the list itself."""
_LETTERS = bytes([*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), ord(" ")])


def tokens(text: str) -> int:
    """Estimate what a text costs a model to read."""
    plain = text.encode("ascii", "ignore")
    letters = len(plain) - len(plain.translate(None, _LETTERS))
    other = len(text.encode("utf-8", "surrogatepass")) - len(plain)
    return round(letters * PER_LETTER + (len(plain) - letters) * PER_MARK + other * PER_BYTE)


def most(least: int, greatest: int, build: Callable[[int], Answer], fits: Callable[[Answer], bool]) -> Answer:
    """Build the largest answer that fits, by a number between two that it grows with; the least where none does."""
    answer = build(greatest)
    if greatest <= least or fits(answer):
        return answer
    best = build(least)
    low, high = least, greatest
    while high - low > 1:
        middle = (low + high) // 2
        answer = build(middle)
        if fits(answer):
            low, best = middle, answer
        else:
            high = middle
    return best

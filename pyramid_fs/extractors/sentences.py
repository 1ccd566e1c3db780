"""The sentences of a digest, each as it stands; what is code or a heading is no sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyramid_fs.extractors.vocabulary import MONTHS

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 1000
"""Characters of a sentence: what goes on longer is taken in pieces, so that no pattern looks far."""
WRAPPED = 50
"""Characters of a line that a hard wrap may have broken."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARK = re.compile(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)]|\[[ xX]\])\s+)+")
"""What begins an item of a list, or a quote."""
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\||={3,}|-{3,})")
_END = re.compile(r"[.!?…]+[\"'”’»)\]*_]*(?=\s|$)|[。！？।۔؟]+[」』”’）)]*")
_SHORTENED = re.compile(
    r"(?:^|[\s(\"'„“«])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|Dr|Mr|Mrs|Ms|Prof|St|Sr|Sra|Jr|Nr|No|vs|etc|ca|bzw|usw|z\.\s?B|d\.\s?h"
    r"|u\.\s?a|i\.\s?d|e\.g|i\.e|Inc|Ltd|Co|Corp|Abt|Hr|Fr|Mme|M|approx|ул|г|им|т\.\s?е|д|डॉ|प्रो)\.$"
)
_ORDINAL = re.compile(r"(?:^|\s)(?:am|der|dem|den|des|die|das|vom|zum|im|bis|ab|seit)\s\d{1,2}\.$", re.IGNORECASE)
_MONTH = re.compile(rf"\s*(?:{'|'.join(MONTHS.split())})(?!\w)", re.IGNORECASE)
_LOWER = re.compile(r"\s*[^\W\d_]")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a markdown text, in order, each without the white space and the marks before it."""
    for block in _blocks(text):
        mark = _MARK.match(block)
        yield from _pieces(block[mark.end() if mark else 0 :])


def _blocks(text: str) -> Iterator[str]:
    """Yield stretches that no sentence goes beyond: lines, and lines that a hard wrap broke together."""
    held: list[str] = []
    is_code = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            is_code = not is_code
        opens = bool(_FENCE.match(line) or _MARK.match(line) or _HEADING.match(line) or not line.strip())
        if held and (opens or is_code or not _goes_on(held[-1])):
            yield "".join(held)
            held = []
        if not is_code and not _FENCE.match(line) and not _HEADING.match(line) and line.strip():
            held.append(line)
    if held:
        yield "".join(held)


def _goes_on(line: str) -> bool:
    bare = line.rstrip()
    return len(bare) >= WRAPPED and bare[-1] not in ".!?…。！？।۔؟:："


def _pieces(block: str) -> Iterator[str]:
    begin = 0
    for found in _END.finditer(block):
        if _is_end(block, found):
            yield from _bounded(block[begin : found.end()])
            begin = found.end()
    yield from _bounded(block[begin:])


def _is_end(block: str, found: re.Match[str]) -> bool:
    if found[0] != ".":
        return True
    before = block[max(0, found.start() - 12) : found.end()]
    if _SHORTENED.search(before):
        return False
    if _ORDINAL.search(before) or (block[found.start() - 1].isdigit() and _MONTH.match(block, found.end())):
        return False
    after = _LOWER.match(block, found.end())
    return not (after and after[0][-1].islower())


def _bounded(piece: str) -> Iterator[str]:
    piece = piece.strip()
    while len(piece) > LONGEST:
        cut = piece.rfind(" ", LONGEST // 2, LONGEST)
        cut = cut if cut > 0 else LONGEST
        yield piece[:cut].strip()
        piece = piece[cut:].lstrip()
    if piece:
        yield piece

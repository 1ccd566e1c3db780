"""A model as a drawn pyramid: one block a summary, tier by tier over a line of time, its width its notes; pure."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from pyramid_fs import pyramid, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from pyramid_fs.notes import Note, Summary
    from pyramid_fs.pyramid import State

MOST = 300
"""Blocks a tier: where there are more, neighbours are drawn as one, which says so."""
EXCERPT = 2, 130
"""Lines of a summary's text that hover and focus show, and characters of each."""

WIDTH, ROW, GAP, MARGIN = 1000, 30, 4, 8
"""Of the drawing, in its own units: whole width, height of a tier, room between tiers, room at the edges."""
LEAST = 0.4
"""A block is drawn at least so wide."""
TICKS = 5
_TEXT_ROW = 18
HINT = "Point at a block, or step to it with the Tab key, to read it here."
_STRIPES = (
    '<defs><pattern id="many" width="3" height="3" patternUnits="userSpaceOnUse">'
    '<rect class="stripe" width="3" height="2"/></pattern></defs>'
)

Address: TypeAlias = "Callable[[str], str]"
"""Gives the page of a file by its path; empty where it has none."""


@dataclass(frozen=True, slots=True)
class Block:
    """One summary, or neighbours of one tier that are drawn as one."""

    path: str
    """Of the first summary in it."""
    tier: int
    start: float
    """Where it begins, counted in notes from the left."""
    width: float
    """Notes below it."""
    first: str
    last: str
    """Days of its span."""
    marks: tuple[str, ...] = ()
    """`revised` and `draft`."""
    count: int = 1
    """Summaries in it."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A summary that counts in no sum: retired, lost in a merge, waiting or broken."""

    path: str
    handle: str
    why: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn of a model."""

    tiers: tuple[tuple[Block, ...], ...]
    """From tier 0 up, each from the left."""
    covered: float
    """Width of what summaries hold; the tail begins there."""
    tail: int
    revised: int
    """Notes of the tail of which an older version is summarized."""
    ticks: tuple[tuple[float, str], ...]
    """Days along the line of time, each with its place."""
    aside: tuple[Aside, ...] = ()
    left: int = 0
    """So many more of those are not drawn."""

    @property
    def total(self) -> float:
        """The whole width, in notes."""
        return self.covered + self.tail


def draw(state: State, zone: tzinfo, retired: Sequence[tuple[str, str]] = (), most: int = MOST) -> Drawing:
    """Lay a model out: summaries above their sources, and the tail at the right. `retired` is (path, handle)."""
    places, covered = _places(state)
    blocks = [_block(state, summary, places[handle], zone) for handle, summary in state.active.items()]
    height = 1 + max((block.tier for block in blocks), default=-1)
    tiers = [sorted((b for b in blocks if b.tier == tier), key=lambda b: b.start) for tier in range(height)]
    aside = list(_aside(state, retired))
    return Drawing(
        tiers=tuple(tuple(_gathered(tier, most)) for tier in tiers),
        covered=covered,
        tail=len(state.tail),
        revised=len(state.revised),
        ticks=tuple(_ticks(tiers[0] if tiers else [], state.tail, covered, zone)),
        aside=tuple(aside[:most]),
        left=max(0, len(aside) - most),
    )


def _places(state: State) -> tuple[dict[str, tuple[float, float]], float]:
    """Give each active summary its start and width: those of the cover side by side, each above what it is made of."""
    places: dict[str, tuple[float, float]] = {}
    at = 0.0
    for summary in state.cover:
        at += _place(state, summary, at, places)
    return places, at


def _place(state: State, summary: Summary, at: float, places: dict[str, tuple[float, float]]) -> float:
    width = 0.0
    if summary.tier == 0:
        width = float(max(1, len(summary.sources)))
    else:
        for handle in state.sources[summary.handle]:
            width += _place(state, state.active[handle], at + width, places)
    places[summary.handle] = at, width
    return width


def _block(state: State, summary: Summary, place: tuple[float, float], zone: tzinfo) -> Block:
    is_revised = summary.tier == 0 and any(path in state.revised for path in state.sources[summary.handle])
    marks = (*(["revised"] if is_revised else []), *(["draft"] if summary.draft else []))
    first, last = times.day(summary.span_from, zone), times.day(summary.span_to, zone)
    return Block(summary.path, summary.tier, *place, first, last, marks)


def _gathered(blocks: Sequence[Block], most: int) -> Iterator[Block]:
    """Yield blocks, neighbours as one where there are too many; none reaches over a gap."""
    size, run = -(-len(blocks) // most) if blocks else 1, list[Block]()
    for block in blocks:
        if run and (len(run) >= size or block.start > run[-1].start + run[-1].width):
            yield _joined(run)
            run = []
        run.append(block)
    if run:
        yield _joined(run)


def _joined(run: Sequence[Block]) -> Block:
    if len(run) == 1:
        return run[0]
    return replace(
        run[0],
        width=run[-1].start + run[-1].width - run[0].start,
        first=min(block.first for block in run),
        last=max(block.last for block in run),
        marks=tuple(dict.fromkeys(mark for block in run for mark in block.marks)),
        count=len(run),
    )


def _aside(state: State, retired: Sequence[tuple[str, str]]) -> Iterator[Aside]:
    yield from (Aside(path, handle, "retired") for path, handle in retired)
    yield from (Aside(s.path, s.handle, "lost a merge: its sources count elsewhere") for s in state.losers)
    yield from (Aside("", handle, f"waits: {reason}") for handle, reason in state.waiting.items())
    yield from (Aside(s.path, s.handle, f"broken: {s.problem}") for s in state.broken)


def _ticks(leaves: Sequence[Block], tail: Sequence[Note], covered: float, zone: tzinfo) -> Iterator[tuple[float, str]]:
    """Yield places along the bottom, each with the day of what stands there; a day is not said twice in a row."""
    total, starts, said = covered + len(tail), [leaf.start for leaf in leaves], ""
    for number in range(TICKS + 1 if total else 0):
        at = total * number / TICKS
        if at < covered:
            day = leaves[bisect_right(starts, at) - 1].first
        elif tail:
            day = times.day(sorted(tail, key=pyramid.by_age)[min(int(at - covered), len(tail) - 1)].created, zone)
        else:
            day = leaves[-1].last
        if day != said:
            yield at, day
        said = day


# As SVG


def svg(drawing: Drawing, name: str, address: Address, group: Address, text: Callable[[str], str], tail: str) -> str:
    """Spell a drawing as SVG that a style sheet colours.

    `address` gives a summary's page, `group` the page where the neighbours of one begin, `text` what a summary says;
    `tail` is the page of the tail.
    """
    height = len(drawing.tiers)
    base = MARGIN + height * (ROW + GAP)
    foot = base + 2 * (ROW + GAP) + (ROW + GAP if drawing.aside else 0)
    whole = foot + EXCERPT[0] * _TEXT_ROW + _TEXT_ROW + MARGIN
    scale = (WIDTH - 2 * MARGIN) / (drawing.total or 1)
    size = f'viewBox="0 0 {WIDTH} {whole}" xmlns="http://www.w3.org/2000/svg"'
    parts = [f'<svg class="pyramid" role="group" aria-label="{_safe(name)}, drawn" {size}>']
    if any(block.count > 1 for tier in drawing.tiers for block in tier):
        parts.append(_STRIPES)
    parts.append(f'<text class="hint" x="{MARGIN}" y="{foot + _TEXT_ROW}">{HINT}</text>')
    for tier in reversed(range(height)):
        y = MARGIN + (height - 1 - tier) * (ROW + GAP)
        parts += [_drawn(block, y, scale, foot, (address, group), text) for block in drawing.tiers[tier]]
    parts += _notes_row(drawing, base, scale, tail, foot)
    parts += _axis(drawing, base + ROW + GAP, scale)
    parts += _aside_row(drawing, base + 2 * (ROW + GAP), address, foot)
    return "".join([*parts, "</svg>"])


def _drawn(
    block: Block, y: int, scale: float, foot: int, addresses: tuple[Address, Address], text: Callable[[str], str]
) -> str:
    href = addresses[block.count > 1](block.path)
    x, width = MARGIN + block.start * scale, max(LEAST, block.width * scale - (1 if block.width * scale > 4 else 0.2))  # noqa: PLR2004
    box = f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}"{_class(block)}/>'
    mark = f'<circle cx="{x + width / 2:.1f}" cy="{y + 6}" r="3"/>' if "revised" in block.marks else ""
    return _linked(href, _facts(block), box + mark, _lines(text(block.path)) if block.count == 1 else [], foot)


def _class(block: Block) -> str:
    names = [*block.marks, *(["many"] if block.count > 1 else [])]
    fill = ' fill="url(#many)"' if block.count > 1 else ""
    return f' class="{" ".join(names)}"{fill}' if names else ""


def _facts(block: Block) -> str:
    days = block.first if block.first == block.last else f"{block.first} to {block.last}"
    what = f"tier {block.tier}" if block.count == 1 else f"{block.count} summaries of tier {block.tier}"
    marks = {"revised": "a note of it was revised", "draft": "a draft"}
    return " · ".join([what, f"{block.width:,.0f} notes", days, *(marks[mark] for mark in block.marks)])


def _linked(href: str, facts: str, drawn: str, lines: Sequence[str], foot: int) -> str:
    shown = "".join(f'<tspan x="{MARGIN}" dy="{_TEXT_ROW}">{_safe(line)}</tspan>' for line in lines)
    said = f'<text x="{MARGIN}" y="{foot + _TEXT_ROW}">{_safe(facts)}{shown}</text>'
    if not href:
        return f"<g><title>{_safe(facts)}</title>{drawn}</g>"
    return f'<a href="{_safe(href)}"><title>{_safe(facts)}</title>{drawn}{said}</a>'


def _lines(text: str) -> list[str]:
    """Break the beginning of a text into the lines that are shown of it."""
    count, width = EXCERPT
    lines, line = list[str](), ""
    for word in text[: count * width * 2].split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        if len(lines) == count:
            return [*lines[:-1], f"{lines[-1]} …"]
        line = f"{line} {word}"[:width].strip()
    return [*lines, line] if line else lines


def _notes_row(drawing: Drawing, y: int, scale: float, tail: str, foot: int) -> Iterator[str]:
    if drawing.covered:
        width = drawing.covered * scale
        yield f'<rect class="notes" x="{MARGIN}" y="{y}" width="{width:.1f}" height="{ROW}"/>'
    if drawing.tail:
        x, width = MARGIN + drawing.covered * scale, max(LEAST, drawing.tail * scale)
        facts = f"tail · {drawing.tail:,} {'note' if drawing.tail == 1 else 'notes'} that no summary has yet"
        facts += f" · {drawing.revised:,} of them revised" if drawing.revised else ""
        box = f'<rect class="tail" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}"/>'
        yield _linked(tail, facts, box, [], foot)


def _axis(drawing: Drawing, y: int, scale: float) -> Iterator[str]:
    places = [(MARGIN + at * scale, day) for at, day in drawing.ticks]
    close = {right for left, right in pairwise(places) if right[0] - left[0] < WIDTH / (TICKS * 2)}
    for x, day in places:
        anchor = "start" if x < WIDTH / 10 else "end" if x > WIDTH * 9 / 10 else "middle"
        if (x, day) not in close:
            yield f'<path d="M{x:.1f} {y}v5"/>'
            yield f'<text class="day" x="{x:.1f}" y="{y + 18}" text-anchor="{anchor}">{day}</text>'


def _aside_row(drawing: Drawing, y: int, address: Address, foot: int) -> Iterator[str]:
    step = (WIDTH - 2 * MARGIN) / max(20, len(drawing.aside))
    for number, found in enumerate(drawing.aside):
        box = (
            f'<rect class="aside" x="{MARGIN + number * step:.1f}" y="{y}" width="{max(LEAST, step - 2):.1f}" '
            f'height="{ROW - 8}"/>'
        )
        yield _linked(address(found.path) if found.path else "", f"{found.handle} · {found.why}", box, [], foot)


def _safe(text: str) -> str:
    return escape(text, quote=True)


def words(drawing: Drawing) -> Mapping[str, int]:
    """Count what is drawn, for the words beside it."""
    return {
        "blocks": sum(len(tier) for tier in drawing.tiers),
        "summaries": sum(block.count for tier in drawing.tiers for block in tier),
        "revised": sum("revised" in block.marks for tier in drawing.tiers for block in tier),
        "drafts": sum("draft" in block.marks for tier in drawing.tiers for block in tier),
    }

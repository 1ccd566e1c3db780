"""Several summaries at once: in their order where one needs the other, each once, and sound whatever comes between."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import Memory, advance, pyramid, vault
from pyramid_fs.errors import SummarizerFailed
from pyramid_fs.notes import Dated, Note, Summary
from pyramid_fs.pyramid import Ahead, Files, Frontier, Shape
from pyramid_fs.summarizers import Call, Throttled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.pyramid import Batch
    from pyramid_fs.summarizers import Request

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
BOUND = 20.0
"""Seconds that a thread waits for the others, at most."""


# The plan


def _note(number: int, day: int) -> Note:
    time = NOW + timedelta(days=day)
    return Note(f"models/m/n{number:03}.md", f"n{number:03}", time, Dated.KEY, f"{number:016x}", 50, 1, time)


@given(
    days=st.lists(st.integers(0, 20), min_size=1, max_size=60),
    shape=st.builds(Shape, batch_notes=st.integers(1, 4), fan_in=st.integers(2, 3)),
    at_once=st.integers(1, 8),
    seed=st.integers(0, 1000),
)
def test_whatever_finishes_first_the_batches_are_those_of_one_after_the_other(
    days: list[int], shape: Shape, at_once: int, seed: int
) -> None:
    notes = tuple(_note(number, day) for number, day in enumerate(days))
    state, chance = pyramid.derive(Files("m", notes, (), frozenset())), random.Random(seed)
    in_order, numbers = [], {0: 0}

    def name(batch: Batch) -> str:
        numbers[batch.tier] = numbers.get(batch.tier, 0) + 1
        return f"models/m/tier-{batch.tier}/m-t{batch.tier}-{numbers[batch.tier]:04}-aaaa.md"

    one = Ahead(Frontier(state, shape, state.tail), name)
    while found := one.next():
        in_order.append(_keys(found[0]))
        one.take(found[1], _made(*found))
    numbers.clear()
    many, begun, written = Ahead(Frontier(state, shape, state.tail), name), [], set()
    flying: list[tuple[Batch, Summary]] = []
    while True:
        while len(flying) < at_once and (found := many.next()):
            assert all(s.handle in written for s in found[0].sources if isinstance(s, Summary))
            begun.append(_keys(found[0]))
            flying.append(found)
        if not flying:
            break
        batch, planned = flying.pop(chance.randrange(len(flying)))
        written.add(planned.handle)
        many.take(planned, _made(batch, planned))
    assert sorted(begun) == sorted(in_order)


def _keys(batch: Batch) -> tuple[int, tuple[str, ...]]:
    return batch.tier, tuple(source.handle for source in batch.sources)


def _made(batch: Batch, planned: Summary) -> Summary:
    return replace(planned, created=NOW, note_count=batch.note_count, chars=600)


# In a vault


class Many:
    """Is called from several threads; `during` is done first, and may raise."""

    name, draft, takes, slow = "many", False, 0, True

    def __init__(self, during: Callable[[Request], object] = lambda _: None) -> None:
        self.during = during
        self.asked: list[Request] = []
        self.most = self._now = 0
        self._lock = threading.Lock()

    def summarize(self, request: Request) -> str:
        with self._lock:
            self.asked.append(request)
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            self.during(request)
        finally:
            with self._lock:
                self._now -= 1
        told = ", ".join(item.text[:12].replace("\n", " ").strip(".,") for item in request.items)
        return f"Of {request.model} at tier {request.tier} this was told: {told}."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": ""})
    (tmp_path / "vault/pyramid.toml").write_text("format = 1\n[pyramid]\nbatch_notes = 3\nfan_in = 2\n")
    return tmp_path / "vault"


@pytest.fixture
def open_memory(root: Path) -> Iterator[Callable[..., Memory]]:
    opened: list[Memory] = []

    def make(many: Many, *settings: str) -> Memory:
        config = root.parent / "config.toml"
        config.write_text("\n".join(["[summarizer]", *settings]))
        environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(config)}
        opened.append(Memory(root, environ=environ, summarizer=many))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def fill(root: Path, model: str, count: int) -> None:
    for number in range(count):
        day = NOW - timedelta(days=100 - number)
        text = f"On day {number} the ferry left at {number % 12}.40 and the crossing took {number + 31} minutes."
        path = root / f"models/{model}/n{number:03}.md"
        path.write_text(f"---\ncreated: {day:%Y-%m-%dT%H:%M:%SZ}\n---\n{text}\n")


def sums(memory: Memory, model: str = "alice") -> tuple[int, int, int]:
    report = memory.verify()
    assert report.balances, report.faults
    found = next(each for each in report.models if each.name == model)
    return found.notes, found.covered, found.tail


def test_so_many_as_are_set_are_written_at_once(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 12)
    fill(root, "bob", 12)
    together = threading.Barrier(4)

    def during(request: Request) -> None:
        if request.tier == 0:
            together.wait(BOUND)  # breaks, and fails the call, where fewer than four are at it

    many = Many(during)
    memory = open_memory(many, "concurrency = 4")
    assert memory.advance().failed == ()
    assert many.most == 4
    assert sums(memory) == sums(memory, "bob") == (12, 12, 0)


def test_a_roll_up_waits_for_its_sources_and_nothing_else_does(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 12)
    others = threading.Event()

    def during(request: Request) -> None:
        names = [item.handle for item in request.items]
        if request.tier:
            assert all(list(root.glob(f"models/alice/tier-{request.tier - 1}/{name}.md")) for name in names)
        if names[0] == "n000":
            assert others.wait(BOUND)  # the first batch is the last to end: all other notes are summarized meanwhile
        if names[0] == "n009":
            others.set()

    memory = open_memory(Many(during), "concurrency = 2")
    found = memory.advance()
    assert (found.failed, len(found.written)) == ((), 7)
    assert sums(memory) == (12, 12, 0)


def test_a_pause_that_was_asked_for_is_no_failure(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 12)
    refused: list[str] = []

    def during(request: Request) -> None:
        first = request.items[0].handle
        if first not in refused:
            refused.append(first)
            raise Throttled("slow down", 0.01)

    many = Many(during)
    memory = open_memory(many, "concurrency = 3")
    assert (memory.advance().failed, sums(memory)) == ((), (12, 12, 0))
    assert len(many.asked) == 7 + len(refused)
    assert memory.status().models[0].waiting == ()


def test_a_pause_of_an_hour_is_one(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 3)

    def during(_: Request) -> None:
        raise Throttled("the day's tokens are used up", 3600)

    many = Many(during)
    memory = open_memory(many)
    assert memory.advance().failed == ("alice: the day's tokens are used up",)
    assert len(many.asked) == 1


def test_pauses_without_end_are_one(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 3)

    def during(_: Request) -> None:
        raise Throttled("slow down", 0.001)

    many = Many(during)
    assert open_memory(many).advance().failed == ("alice: slow down",)
    assert len(many.asked) == advance.PAUSES + 1


def test_what_failed_is_tried_again_as_long_as_others_succeed(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 12)
    fill(root, "bob", 12)
    failed: list[str] = []

    def during(request: Request) -> None:
        first = f"{request.model} {request.items[0].handle}"
        if request.tier == 0 and first not in failed and len(failed) < 4:
            failed.append(first)
            raise SummarizerFailed("a hiccup")

    memory = open_memory(Many(during), "concurrency = 2")
    found = memory.advance()
    assert (found.failed, found.exit_code) == ((), 0)
    assert sums(memory) == sums(memory, "bob") == (12, 12, 0)


def test_what_fails_always_is_not_tried_for_ever(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 6)
    fill(root, "bob", 12)

    def during(request: Request) -> None:
        if request.items[0].handle == "n003" and request.model == "alice":
            raise SummarizerFailed("it can't read that")

    many = Many(during)
    memory = open_memory(many, "concurrency = 2", "attempts = 3")
    found = memory.advance()
    assert (found.failed, found.exit_code) == (("alice: it can't read that",), 30)
    assert sum(r.model == "alice" and r.items[0].handle == "n003" for r in many.asked) <= 3
    assert (sums(memory), sums(memory, "bob")) == ((6, 3, 3), (12, 12, 0))
    assert "it can't read that" in memory.map().models[0].waiting[0]


def test_a_batch_that_failed_too_often_is_written_by_the_fallback_where_nobody_waits(
    root: Path, open_memory: Callable[..., Memory]
) -> None:
    fill(root, "alice", 6)

    def during(request: Request) -> None:
        if request.items[0].handle == "n000":
            raise SummarizerFailed("no")

    memory = open_memory(Many(during), "attempts = 2", "concurrency = 1")
    clock = _Clock()
    memory._clock = clock
    for _ in range(2):
        assert memory.grow_some(["alice"]).failed == {"alice": "no"}
        clock.later()
    assert memory.grow_some(["alice"]).failed == {}
    memory.census.refresh()
    by = {file.summarizer: file.draft for file in memory.census.values() if isinstance(file, Summary)}
    assert by == {"extractive": True, "many": False}
    assert sums(memory) == (6, 6, 0)


def test_without_a_fallback_it_waits(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 3)

    def during(_: Request) -> None:
        raise SummarizerFailed("no")

    memory = open_memory(Many(during), "attempts = 1", 'fallback = "none"')
    clock = _Clock()
    memory._clock = clock
    for _ in range(3):
        assert memory.grow_some(["alice"]).failed == {"alice": "no"}
        clock.later()
    assert sums(memory) == (3, 0, 3)


class _Clock:
    def __init__(self) -> None:
        self._now = datetime.now(UTC) + timedelta(hours=1)

    def __call__(self) -> datetime:
        return self._now

    def later(self) -> None:
        self._now += timedelta(hours=7)


def test_no_more_calls_are_begun_than_a_limit_says(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 30)
    many = Many()
    assert len(open_memory(many, "concurrency = 8").advance(limit=3).written) == 3
    assert len(many.asked) == 3


def test_what_is_still_being_written_when_a_run_is_stopped_is_not_stored(
    root: Path, open_memory: Callable[..., Memory]
) -> None:
    fill(root, "alice", 6)
    go_on, stopped = threading.Event(), threading.Event()

    def during(request: Request) -> None:
        if request.items[0].handle == "n003":
            go_on.wait(BOUND)

    many = Many(during)
    many.stop = stopped.set  # type: ignore[attr-defined]
    memory = open_memory(many, "concurrency = 2")

    def step(_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.advance(step=step)
    assert stopped.is_set()
    go_on.set()
    assert sums(memory) == (6, 3, 3)
    assert memory.advance().busy == ()


def test_a_summary_that_comes_by_sync_while_several_are_written_is_counted_once(
    root: Path, open_memory: Callable[..., Memory]
) -> None:
    fill(root, "alice", 12)
    lines = [
        "---", "tier: 0", "batch: 9", "created: 2026-11-29T00:00:00Z", "span_from: 2026-08-21T20:15:30Z",
        "span_to: 2026-08-21T20:15:30Z", "note_count: 1", "provenance:", '  - "[[n000]]"', "digests:", '  - "{}"',
        "dates:", "  - 2026-08-21T20:15:30Z", 'summarizer: "other"', "---", "One note, as it was read elsewhere.", "",
    ]  # fmt: skip
    come = threading.Lock()

    def during(_: Request) -> None:
        with come:
            path = root / "models/alice/tier-0/alice-t0-0009-zzzz.md"
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                path.write_text("\n".join(lines).format(digest))

    many = Many(during)
    memory = open_memory(many, "concurrency = 4")
    memory.census.refresh()
    digest = next(note.digest for note in memory.census.now("alice").state.notes if note.handle == "n000")
    memory.advance()
    assert sums(memory) == (12, 10, 2)
    assert not (root / "models/alice/retired").exists()


def test_an_error_of_the_program_itself_comes_up_where_it_is_waited_for(
    root: Path, open_memory: Callable[..., Memory]
) -> None:
    fill(root, "alice", 6)

    def during(_: Request) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        open_memory(Many(during), "concurrency = 2").advance()


def test_each_call_is_metered(root: Path, open_memory: Callable[..., Memory]) -> None:
    fill(root, "alice", 6)
    memory = open_memory(Many(), "concurrency = 2")
    memory.advance()
    found = list(memory._meter.all())
    assert [(call.model, call.tier, call.by, call.is_asked, call.failed) for call in found] == [
        ("alice", 0, "many", True, ""),
        ("alice", 0, "many", True, ""),
        ("alice", 1, "many", True, ""),
    ]
    assert all(call.chars_in > call.chars_out > 40 for call in found[:2])
    assert Call("x", 1, 1, None, None, 0.0).reason == ""

"""Growth: every note once, whatever fails, changes or arrives while summaries are written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, advance, files, issue, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import NoSuchModel, SummarizerFailed, UnknownFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyramid_fs.summarizers import Request, Summarizer

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
DAY = timedelta(days=1)
ONE = '[summarizer]\nconcurrency = 1\nattempts = 1\nfallback = "none"\n'
"""One call after the other, and none of them twice."""
SMALL = "format = 1\n[pyramid]\nbatch_notes = 3\nfan_in = 2\n"


@dataclass
class Clock:
    """A clock that a test sets."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Teller:
    """Tells what it was given; does `during` first, and fails where that raises."""

    during: Callable[[Request], object] = lambda _: None
    name: str = "teller"
    draft: bool = False
    takes: int = 0
    slow: bool = True
    asked: list[Request] = field(default_factory=list)

    def summarize(self, request: Request) -> str:
        self.asked.append(request)
        self.during(request)
        told = ", ".join(item.text[:12].replace("\n", " ").strip(".,") for item in request.items)
        return f"Of {request.model} at tier {request.tier} this was told: {told}."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": ""})
    (tmp_path / "vault" / "pyramid.toml").write_text(SMALL)
    (tmp_path / "config.toml").write_text(ONE)
    return tmp_path / "vault"


@pytest.fixture
def clock() -> Clock:
    return Clock()


def environ(root: Path, cache: str = "cache") -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(root.parent / cache), "PYRAMID_CONFIG": str(root.parent / "config.toml")}


@pytest.fixture
def open_memory(root: Path, clock: Clock) -> Iterator[Callable[..., Memory]]:
    opened: list[Memory] = []

    def make(summarizer: Summarizer | None = None, at: Path = root, cache: str = "cache") -> Memory:
        opened.append(Memory(at, environ=environ(root, cache), clock=clock, summarizer=summarizer or Teller()))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def write(root: Path, path: str, text: str, at: datetime = NOW - DAY) -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    os.utime(root / path, (at.timestamp(),) * 2)
    return root / path


def text(number: int) -> str:
    return f"Number {number} costs {number * 7} euros."


def fill(root: Path, model: str, numbers: range, *, dated: bool = True) -> None:
    for number in numbers:
        date = NOW - 100 * DAY + number * DAY
        front = f"---\ncreated: {date:%Y-%m-%dT%H:%M:%SZ}\n---\n" if dated else ""
        write(root, f"models/{model}/n{number:02d}.md", f"{front}{text(number)}\n", date)


def summaries(root: Path, model: str = "alice", tier: str = "*") -> list[Path]:
    return sorted(root.glob(f"models/{model}/tier-{tier}/*.md"))


def page(path: Path) -> pages.Page:
    return pages.read(path.read_bytes())


def links(path: Path) -> list[str]:
    return pages.links_of(page(path), "provenance")


def contents(root: Path) -> dict[str, bytes]:
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and ".git/" not in str(path))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def sums(memory: Memory, model: str = "alice") -> tuple[int, int, int]:
    report = memory.verify()
    assert report.balances, report.faults
    (line,) = [line for line in report.models if line.name == model]
    return line.notes, line.covered, line.tail


# What is written


def test_a_summary_says_what_it_was_made_of(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(3))
    memory = open_memory()
    (handle,) = memory.advance().written
    assert re.fullmatch(r"alice-t0-0001-[0-9a-z]{4}", handle)
    digests = [pages.digest(text(number)) for number in range(3)]
    dates = [f"2026-08-{21 + number}T20:15:30Z" for number in range(3)]
    assert (root / f"models/alice/tier-0/{handle}.md").read_text() == "\n".join(
        [
            "---", "tier: 0", "batch: 1", "created: 2026-11-29T20:15:30Z",
            f"span_from: {dates[0]}", f"span_to: {dates[2]}", "note_count: 3",
            "provenance:", *(f'  - "[[n{n:02d}]]"' for n in range(3)),
            "digests:", *(f'  - "{digest}"' for digest in digests), "dates:", *(f"  - {date}" for date in dates),
            'summarizer: "teller"', "---",
            "Of alice at tier 0 this was told: Number 0 cos, Number 1 cos, Number 2 cos.", "",
        ]
    )  # fmt: skip
    assert sums(memory) == (3, 3, 0)


def test_numbers_dates_and_counts_go_on_through_all_tiers(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(25))
    memory = open_memory()
    written = memory.advance().written
    assert [handle[:-5] for handle in written] == [
        f"alice-t{tier}-{number:04d}"
        for tier, number in (
            (0, 1), (0, 2), (1, 1), (0, 3), (0, 4), (1, 2), (2, 1),
            (0, 5), (0, 6), (1, 3), (0, 7), (0, 8), (1, 4), (2, 2), (3, 1),
        )
    ]  # fmt: skip
    found = [page(next(root.glob(f"models/alice/*/{handle}.md"))) for handle in written]
    assert [int(each.text("note_count")) for each in found] == [3 * 2 ** int(each.text("tier")) for each in found]
    created = [memory.time(each.text("created")) for each in found]
    assert created == sorted(set(created))
    assert (found[-1].text("span_from"), found[-1].text("span_to")) == ("2026-08-21T20:15:30Z", "2026-09-13T20:15:30Z")
    assert found[-1].text("batch") == "1"
    assert sums(memory) == (25, 24, 1)
    fill(root, "alice", range(25, 30))
    assert [handle[:-5] for handle in memory.advance().written] == ["alice-t0-0009", "alice-t0-0010", "alice-t1-0005"]


def test_nothing_is_written_twice_and_nothing_where_nothing_is_due(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(7))
    assert len(open_memory().advance().written) == 3
    before = contents(root)
    for cache in ("cache", "other"):
        assert open_memory(cache=cache).advance().written == ()
    assert contents(root) == before


def test_a_summary_is_later_than_its_sources_also_with_a_clock_that_went_back(
    open_memory: Callable[..., Memory], root: Path, clock: Clock
) -> None:
    fill(root, "alice", range(6))
    clock.now = NOW - 3000 * DAY
    memory = open_memory()
    memory.advance()
    created = [memory.time(page(path).text("created")) for path in summaries(root)]
    assert min(created) > memory.time("2026-08-26T20:15:30Z") - timedelta(days=3)
    assert sums(memory) == (6, 6, 0)


@pytest.mark.parametrize("created", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
def test_notes_at_either_end_of_the_calendar_grow_like_all_others(
    open_memory: Callable[..., Memory], root: Path, created: str, zone: str
) -> None:
    (root / "pyramid.toml").write_text(SMALL.replace("\n", f'\ntimezone = "{zone}"\n', 1))
    for number in range(7):
        write(root, f"models/alice/n{number}.md", f"---\ncreated: {created}\n---\n{text(number)}\n")
    fill(root, "bob", range(3))
    memory = open_memory()
    assert [handle[:-5] for handle in memory.advance().written if handle.startswith("bob")] == ["bob-t0-0001"]
    assert sums(memory) == (7, 6, 1)
    assert len(summaries(root, tier="1")) == 1
    memory.record("At the end.", ["alice"], created=memory.time(created))
    assert memory.record("Of today.", ["alice"]).handle.startswith("2026-11-29-2015")
    assert len(memory.advance().written) == 1
    assert len(memory.load(["alice"]).models[0].summaries) == 4
    assert sums(memory) == (9, 9, 0)


def test_an_embed_is_named_by_its_own_handle_with_the_digest_of_what_it_shows(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    memory = open_memory()
    handles = [memory.record(text(number), ["bob", "alice"]).handle for number in range(3)]
    memory.advance()
    (summary,) = summaries(root, "alice")
    (other,) = summaries(root, "bob")
    assert links(other) == handles
    assert not set(links(summary)) & set(handles)
    assert page(summary).keys["digests"] == page(other).keys["digests"] == [pages.digest(text(n)) for n in range(3)]
    assert sums(memory, "alice") == sums(memory, "bob") == (3, 3, 0)


def test_notes_of_one_name_are_named_by_as_much_of_the_path_as_tells_them_apart(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    for number, path in enumerate(["x", "sub/x", "deep/sub/x"]):
        write(root, f"models/alice/{path}.md", f"---\ncreated: 2026-01-0{number + 1}\n---\n{text(number)}")
    memory = open_memory()
    memory.advance()
    assert links(summaries(root)[0]) == ["alice/x", "alice/sub/x", "deep/sub/x"]
    assert sums(memory) == (3, 3, 0)


def test_only_the_models_that_are_named_grow(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(3))
    fill(root, "bob", range(3))
    memory = open_memory()
    assert [handle[:3] for handle in memory.advance(["bob"]).written] == ["bob"]
    assert summaries(root) == []
    with pytest.raises(NoSuchModel):
        memory.advance(["bib"])
    (root / "pyramid.toml").write_text("format = 2\n")
    with pytest.raises(UnknownFormat):
        open_memory().advance()


# What is due


def test_a_dry_run_names_what_is_then_written(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(20))
    fill(root, "bob", range(5))
    memory, before = open_memory(), contents(root)
    due = memory.due()
    assert contents(root) == before
    planned = [(batch.model, batch.tier, batch.note_count, batch.span) for batch in due]
    made = []
    memory.advance(step=lambda s: made.append((s.path.split("/")[1], s.tier, s.note_count, (s.span_from, s.span_to))))
    assert made == planned
    assert len(made) == 11
    assert memory.due() == []


def test_a_limit_stops_in_the_middle_and_the_next_run_goes_on(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(9))
    fill(root, "bob", range(9))
    memory, all_due = open_memory(), 8
    written: list[str] = []
    while len(written) < all_due:
        some = memory.advance(limit=3).written
        assert 0 < len(some) <= 3
        written += some
        sums(memory)
    assert memory.advance().written == ()
    assert len(set(written)) == all_due


def test_an_interrupt_at_any_moment_leaves_what_was_written(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(20))
    for _ in range(9):
        seen: list[object] = []

        def step(summary: object, seen: list[object] = seen) -> None:
            seen.append(summary)
            if len(seen) == 2:
                raise KeyboardInterrupt

        memory = open_memory()
        try:
            memory.advance(step=step)
        except KeyboardInterrupt:
            pass
        else:
            break
        assert sums(memory)[0] == 20
    whole = open_memory()
    assert whole.advance().written == ()
    assert sums(whole) == (20, 18, 2)
    assert len(summaries(root)) == 10


def test_a_late_note_waits_like_all_others_and_nothing_is_batched_again(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(10, 16))
    memory = open_memory()
    memory.advance()
    before = contents(root)
    fill(root, "alice", range(2))
    assert memory.advance().written == ()
    fill(root, "alice", range(3))
    assert len(memory.advance().written) == 1
    assert before.items() <= contents(root).items()
    assert links(summaries(root, tier="0")[-1]) == ["n00", "n01", "n02"]
    assert sums(memory) == (9, 9, 0)


# Failure


def fail(reason: str) -> Callable[[Request], object]:
    def during(request: Request) -> object:
        if request.model == "alice":
            raise SummarizerFailed(reason)
        return None

    return during


def test_a_summarizer_that_fails_stores_nothing_and_the_other_models_go_on(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(3))
    fill(root, "bob", range(3))
    memory = open_memory(Teller(fail("no net")))
    found = memory.advance()
    assert found.failed == ("alice: no net",)
    assert [handle[:3] for handle in found.written] == ["bob"]
    assert summaries(root) == []
    assert memory.status().models[0].waiting == ("the last summary failed: no net (tried 1 times)",)
    assert memory.status().models[0].due == 1
    assert sums(memory) == (3, 0, 3)


def test_what_failed_is_forgotten_in_every_model_that_has_grown_since(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    def nobody(_: Request) -> object:
        raise SummarizerFailed("no net")

    for model in ("alice", "bob"):
        fill(root, model, range(3))
    assert len(open_memory(Teller(nobody)).advance().failed) == 2
    memory = open_memory()
    assert len(memory.advance().written) == 2
    assert [model.waiting for model in memory.status().models] == [(), ()]


def test_a_summarizer_can_read_the_notes_below_at_every_tier(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(6))
    read: list[tuple[int, list[str]]] = []
    open_memory(Teller(lambda request: read.append((request.tier, list(request.notes()))))).advance()
    texts = [text(number) for number in range(6)]
    assert read == [(0, texts[:3]), (0, texts[3:]), (1, texts)]


def test_a_summary_below_that_goes_away_fails_its_own_model_alone(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    for model in ("alice", "bob"):
        fill(root, model, range(6))
    open_memory().advance(["alice"], limit=2)
    (root / "models/alice/n00.md").unlink()  # so that its summary must speak for it
    lost = summaries(root, tier="0")[0]

    def during(request: Request) -> object:
        if request.tier:
            lost.unlink(missing_ok=True)
        return list(request.notes())

    found = open_memory(Teller(during)).advance()
    assert [line.split(":")[0] for line in found.failed] == ["alice"]
    assert "went away" in found.failed[0]
    assert len(summaries(root, "bob")) == 3


@pytest.mark.parametrize("said", ["", "Too short.", "x" * 2000, '{"a": "' + "b" * 60 + '"}', "---\n" + "x" * 60])
def test_nothing_that_is_no_summary_is_ever_stored(open_memory: Callable[..., Memory], root: Path, said: str) -> None:
    fill(root, "alice", range(3))

    class Odd(Teller):
        def summarize(self, request: Request) -> str:
            return said

    memory, before = open_memory(Odd()), contents(root)
    (reason,) = memory.advance().failed
    assert reason.startswith("alice: ")
    assert "it wrote" in reason
    assert contents(root) == before


def test_what_was_written_before_a_failure_stands(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(9))
    calls = iter([None, None, SummarizerFailed("no money")])

    def during(_: Request) -> None:
        if error := next(calls):
            raise error

    memory = open_memory(Teller(during))
    found = memory.advance()
    assert (len(found.written), found.failed) == (2, ("alice: no money",))
    assert sums(memory) == (9, 6, 3)
    assert len(open_memory().advance().written) == 2


def test_growth_that_nobody_asked_for_waits_longer_after_each_failure_and_a_person_does_not(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(3))
    teller, now = Teller(fail("no net")), datetime.now(UTC)
    asked = 0
    clock = Clock(now)
    memory = Memory(root, environ=environ(root), clock=clock, summarizer=teller)
    for tries in range(1, 13):
        memory.grow_some(["alice"])
        asked += 1
        assert len(teller.asked) == asked
        pause = min(timedelta(minutes=2 ** (tries - 1)), timedelta(hours=6))
        clock.now = now + pause - timedelta(seconds=30)
        memory.grow_some(["alice"])
        assert not memory.due_soon(["alice"])
        assert len(teller.asked) == asked
        clock.now = now + pause + timedelta(seconds=60)
    memory.grow_some(["bob"])
    memory.advance()
    memory.advance()
    assert len(teller.asked) == asked + 2
    teller.during = lambda _: None
    assert len(memory.advance().written) == 1
    assert advance.waits(memory._tools(), "alice") == ""
    assert memory.status().models[0].waiting == ()
    memory.close()


def test_a_summarizer_that_takes_little_at_once_reads_all_in_parts(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    long = ". ".join(f"Sentence {number} of a long note" for number in range(100))
    write(root, "models/alice/x.md", f"---\ncreated: 2026-01-01\n---\n{long * 3}")
    teller = Teller(takes=2000)
    memory = open_memory(teller)
    assert len(memory.advance().written) == 1
    read = "".join(item.text for request in teller.asked for item in request.items if item.handle == "x")
    assert read == long * 3


# Merges


def _merged(root: Path, open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    """Two copies that grow apart and are put into one folder."""
    fill(root, "alice", range(2))
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    fill(root, "alice", range(2, 12))
    fill(copy, "alice", range(20, 32))
    open_memory().advance()
    open_memory(Teller(name="other"), at=copy, cache="other").advance()
    for path in copy.rglob("*.md"):
        to = root / path.relative_to(copy)
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists():
            shutil.copy2(path, to)


def test_losers_of_a_merge_are_retired_and_what_they_alone_covered_is_summarized_again(
    open_memory: Callable[..., Memory], root: Path, tmp_path: Path
) -> None:
    _merged(root, open_memory, tmp_path)
    memory, before = open_memory(), contents(root)
    sums(memory)
    found = memory.advance()
    assert found.retired
    assert sums(memory)[:2] == (24, 24)
    for handle in found.retired:
        (kept,) = root.glob(f"models/alice/retired/{handle}.md")
        assert kept.read_bytes() in before.values()
    assert not memory.census.now("alice").state.losers
    assert memory.advance().retired == ()
    assert [hit for hit in memory.recall("told", limit=99).hits if hit.kind == "retired"] == []


def test_what_is_retired_already_is_retired_beside_it(
    open_memory: Callable[..., Memory], root: Path, tmp_path: Path
) -> None:
    _merged(root, open_memory, tmp_path)
    loser = open_memory().census.fresh("alice").state.losers[0]
    retired = write(root, f"models/alice/retired/{loser.handle}.md", "Another text of that name.")
    memory = open_memory(cache="third")
    memory.advance()
    assert retired.read_text() == "Another text of that name."
    assert sums(memory)[0] == 24


def test_a_model_whose_summaries_wait_for_a_source_holds_still_and_says_so(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(6))
    fill(root, "bob", range(3))
    memory = open_memory()
    memory.advance(["alice"])
    source, top = summaries(root, tier="0")[0], summaries(root, tier="1")[0]
    away = source.rename(root / "away")
    fill(root, "alice", range(10, 16))
    before = contents(root)
    found = memory.advance()
    reason = f"{top.stem} waits: its source {source.stem} is not here, or can't be read"
    assert found.held == (f"alice: {reason}",)
    assert [handle[:3] for handle in found.written] == ["bob"]
    assert before.items() <= contents(root).items()
    assert len(contents(root)) == len(before) + 1
    assert memory.status().models[0].waiting == (reason,)
    assert memory.status().models[0].due == 0
    assert memory.due() == []
    away.rename(source)
    assert len(memory.advance().written) == 4
    assert sums(memory) == (12, 12, 0)


@pytest.mark.parametrize(
    "data", [b"", b"no front matter", b"---\ntier: 0\n---\ntext", b"---\n: [\n---\n", b"\xff\xfe\0"]
)
def test_a_broken_summary_holds_its_model_until_it_is_mended(
    open_memory: Callable[..., Memory], root: Path, data: bytes
) -> None:
    fill(root, "alice", range(3))
    memory = open_memory()
    memory.advance()
    (path,) = summaries(root)
    sound = path.read_bytes()
    path.write_bytes(data)
    fill(root, "alice", range(3, 6))
    found = memory.advance()
    assert found.written == ()
    assert found.held[0].startswith(f"alice: {path.stem} is broken: ")
    assert path.read_bytes() == data
    assert [problem.path for problem in memory.doctor()] == [f"models/alice/tier-0/{path.name}"]
    path.write_bytes(sound)
    assert len(memory.advance().written) == 2
    assert sums(memory) == (6, 6, 0)


def test_a_broken_note_is_passed_over_until_it_is_mended(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(4))
    bad = write(root, "models/alice/n00.md", "---\na: [\n---\nBroken.")
    memory = open_memory()
    assert len(memory.advance().written) == 1
    assert links(summaries(root)[0]) == ["n01", "n02", "n03"]
    assert sums(memory) == (4, 3, 1)
    bad.write_text("Mended.")
    assert sums(memory) == (4, 3, 1)


# While a summarizer is at work


def test_a_source_that_is_edited_meanwhile_is_covered_as_it_was_read(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(3))
    memory = open_memory(Teller(lambda _: write(root, "models/alice/n01.md", "Edited meanwhile.")))
    assert len(memory.advance().written) == 1
    assert page(summaries(root)[0]).keys["digests"][1] == pages.digest(text(1))
    assert sums(memory) == (3, 2, 1)
    assert memory.status().models[0].revised == 1
    assert [text.text for text in memory.load(["alice"]).models[0].recent if text.revised] == ["Edited meanwhile."]


def test_a_source_that_goes_meanwhile_is_missing_and_all_balances(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(3))
    memory = open_memory(Teller(lambda _: (root / "models/alice/n01.md").unlink(missing_ok=True)))
    assert len(memory.advance().written) == 1
    assert sums(memory) == (2, 2, 0)
    assert memory.verify().models[0].missing == 1


def test_a_source_that_breaks_before_it_is_read_fails_that_batch_alone(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(6))
    fill(root, "bob", range(3))
    memory = open_memory(Teller(lambda _: write(root, "models/alice/n04.md", "---\na: [\n---\n")))
    found = memory.advance()
    assert found.failed == ("alice: models/alice/n04.md changed while its batch was read; try again",)
    assert len(found.written) == 2
    assert sums(memory) == (6, 3, 3)


def test_notes_that_arrive_meanwhile_wait_for_the_next_batch(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(10, 13))
    memory = open_memory(Teller(lambda _: fill(root, "alice", range(2))))
    memory.advance()
    assert links(summaries(root)[0]) == ["n10", "n11", "n12"]
    assert sums(memory) == (5, 3, 2)


def test_a_summary_that_arrives_by_sync_meanwhile_wins_and_nothing_is_counted_twice(
    open_memory: Callable[..., Memory], root: Path, tmp_path: Path
) -> None:
    fill(root, "alice", range(7))
    shutil.copytree(root, tmp_path / "copy")
    open_memory(Teller(name="other"), at=tmp_path / "copy", cache="other").advance()

    def sync(_: Request) -> None:
        shutil.copytree(tmp_path / "copy" / "models", root / "models", dirs_exist_ok=True)

    memory = open_memory(Teller(sync))
    assert memory.advance().written == ()
    assert {page(path).text("summarizer") for path in summaries(root)} == {"other"}
    assert len(summaries(root)) == 3
    assert sums(memory) == (7, 6, 1)


def test_a_summary_of_another_batch_that_arrives_meanwhile_does_not_cost_what_was_just_written(
    open_memory: Callable[..., Memory], root: Path, tmp_path: Path
) -> None:
    fill(root, "alice", range(6))
    shutil.copytree(root, tmp_path / "copy")
    other = open_memory(Teller(name="other"), at=tmp_path / "copy", cache="other")
    other.advance()
    second = summaries(tmp_path / "copy", tier="0")[1]

    def sync(_: Request) -> None:
        (root / "models/alice/tier-0").mkdir(exist_ok=True)
        shutil.copy2(second, root / "models/alice/tier-0")

    teller = Teller(sync)
    memory = open_memory(teller)
    assert len(memory.advance().written) == 2
    assert [request.tier for request in teller.asked] == [0, 1]
    assert sums(memory) == (6, 6, 0)


def test_a_source_summary_that_goes_meanwhile_is_made_again_before_it_is_rolled_up(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(6))
    gone: list[Path] = []

    def during(request: Request) -> None:
        if request.tier == 1 and not gone:
            gone.append(summaries(root, tier="0")[0])
            gone[0].unlink()

    memory = open_memory(Teller(during))
    assert len(memory.advance().written) == 4
    assert sums(memory) == (6, 6, 0)
    assert gone[0].stem not in links(summaries(root, tier="1")[0])


PROCESS = """
    import sys
    from pyramid_fs import Memory
    with Memory(sys.argv[1]) as memory:
        found = memory.advance()
        print(len(found.written), len(found.busy), len(found.failed))
"""


def test_processes_that_advance_at_once_share_the_work(open_memory: Callable[..., Memory], root: Path) -> None:
    for model in ("alice", "bob"):
        fill(root, model, range(12))
    words = [sys.executable, "-c", textwrap.dedent(PROCESS), str(root)]
    env = {**os.environ, **environ(root)}
    children = [subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = [child.communicate()[0].split() for child in children]
    assert sum(int(written) for written, _, _ in told) == 14
    assert {(busy, failed) for _, busy, failed in told} == {("0", "0")}
    memory = open_memory()
    assert sums(memory, "alice") == sums(memory, "bob") == (12, 12, 0)
    assert not (root / "models/alice/retired").exists()


def test_a_model_that_another_grows_is_left_to_it_and_named(open_memory: Callable[..., Memory], root: Path) -> None:
    for model in ("alice", "bob"):
        fill(root, model, range(3))
    memory, cache = open_memory(), files.cache_folder(root, environ(root))
    with files.locked(cache / issue.grow_lock("alice"), 0.0):
        grown = memory._grow(["alice", "bob"], memory._tools(), advance.Effort())
    assert (grown.busy, [handle[:3] for handle in grown.written]) == (["alice"], ["bob"])


def test_what_a_kill_left_half_written_goes_with_the_next_growth(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(3))
    memory = open_memory()
    memory.advance()
    half = [
        write(root, f"models/alice/{f}.pyramid-0123456789ab.tmp", "half", datetime.now(UTC) - DAY)
        for f in ("", "tier-0/")
    ]
    assert sums(memory) == (3, 3, 0)
    assert [hit.path for hit in memory.recall("half").hits] == []
    memory.advance()
    assert [path.exists() for path in half] == [False, False]


# In the background


def test_growth_in_the_background_leaves_a_file_that_a_person_may_still_be_writing(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    for number in range(3):
        write(root, f"models/alice/n{number}.md", text(number), NOW - timedelta(seconds=29 if number == 2 else 31))
    memory = open_memory()
    assert memory.grow_some(["alice"]).written == []
    assert not memory.due_soon(["alice"])
    os.utime(root / "models/alice/n2.md", ((NOW - timedelta(seconds=30)).timestamp(),) * 2)
    assert memory.due_soon(["alice"])
    assert len(memory.grow_some(["alice"]).written) == 1


def test_it_writes_a_few_at_a_time_and_nothing_where_a_person_said_no(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(30))
    (root.parent / "config.toml").write_text("[advance]\nbackground = false\n")
    assert open_memory().grow_some(["alice"]).written == []
    (root.parent / "config.toml").unlink()
    assert len(open_memory().grow_some(["alice"]).written) == 4


def test_where_an_agent_writes_the_summaries_nobody_else_does(root: Path) -> None:
    fill(root, "alice", range(3))
    (root.parent / "config.toml").write_text('[summarizer]\nkind = "none"\n')
    with Memory(root, environ=environ(root)) as memory:
        assert memory.grow_some(["alice"]).written == []
        assert memory.advance().failed == (
            'alice: no summarizer is configured (kind = "none"): summaries wait for an agent to write them',
        )
        assert summaries(root) == []


# Notes that change


def test_a_note_edited_daily_is_a_new_observation_once_it_has_been_quiet_for_a_day(
    open_memory: Callable[..., Memory], root: Path, clock: Clock
) -> None:
    fill(root, "alice", range(3))
    memory = open_memory()
    memory.advance()
    before = contents(root)
    for day in range(5):
        clock.now = NOW + day * DAY
        write(root, "models/alice/n01.md", f"Edited on day {day}.", clock.now - timedelta(hours=1))
        fill(root, "alice", range(3, 5))
        assert memory.advance().written == ()
        assert sums(memory) == (5, 2, 3)
        assert memory.status().models[0].revised == 1
    clock.now += DAY
    assert [handle[:-5] for handle in memory.advance().written] == ["alice-t0-0002", "alice-t1-0001"]
    second = summaries(root, tier="0")[1]
    assert links(second) == ["n01", "n03", "n04"]
    assert page(second).keys["digests"][0] == pages.digest("Edited on day 4.")
    assert sums(memory) == (5, 5, 0)
    changed = {name for name, data in before.items() if contents(root)[name] != data}
    assert changed == {"models/alice/n01.md"}


def test_a_formatter_over_all_notes_changes_nothing(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(9))
    memory = open_memory()
    memory.advance()
    shown = memory.load(["alice"])
    for path in root.glob("models/alice/n*.md"):
        body = (
            path.read_text().replace("costs", "**costs**").replace("\n", "\r\n").replace("euros.", "euros.  \r\n\r\n")
        )
        path.write_bytes(b"\xef\xbb\xbf" + body.encode())
    assert memory.advance().written == ()
    assert sums(memory) == (9, 9, 0)
    assert [text.text for text in memory.load(["alice"]).models[0].summaries] == [
        s.text for s in shown.models[0].summaries
    ]
    assert memory.verify().models[0].revised == 0


def test_a_note_taken_back_to_what_it_was_is_covered_again(open_memory: Callable[..., Memory], root: Path) -> None:
    fill(root, "alice", range(3))
    memory = open_memory()
    memory.advance()
    write(root, "models/alice/n01.md", "Other.")
    assert sums(memory) == (3, 2, 1)
    write(root, "models/alice/n01.md", text(1))
    assert sums(memory) == (3, 3, 0)


def test_a_renamed_note_stays_covered_and_one_moved_to_another_model_is_tail_there(
    open_memory: Callable[..., Memory], root: Path
) -> None:
    fill(root, "alice", range(3))
    memory = open_memory()
    memory.advance()
    (root / "models/alice/n00.md").rename(root / "models/alice/other name.md")
    assert sums(memory) == (3, 3, 0)
    (root / "models/alice/n01.md").rename(root / "models/bob/n01.md")
    assert (sums(memory), sums(memory, "bob")) == ((2, 2, 0), (1, 0, 1))


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", str(folder), *words], check=True, capture_output=True)


def test_undated_notes_are_the_same_after_a_clone_that_gives_all_files_new_times(
    open_memory: Callable[..., Memory], root: Path, tmp_path: Path
) -> None:
    fill(root, "alice", range(7), dated=False)
    memory = open_memory()
    memory.advance()
    shown, plan = memory.load(["alice"]).models[0], sums(memory)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")
    git(tmp_path, "clone", "-q", str(root), str(tmp_path / "clone"))
    for number, path in enumerate(sorted((tmp_path / "clone").glob("models/alice/n*.md"), reverse=True)):
        os.utime(path, ((NOW + number * DAY).timestamp(),) * 2)  # as late as a clone, and in another order
    clone = open_memory(at=tmp_path / "clone", cache="other")
    assert sums(clone) == plan == (7, 6, 1)
    assert clone.advance().written == ()
    assert clone.due() == []
    there = clone.load(["alice"]).models[0]
    assert there.summaries == shown.summaries
    assert [text for text in there.recent if text.again] == [text for text in shown.recent if text.again]
    assert [path.read_bytes() for path in summaries(tmp_path / "clone")] == [
        path.read_bytes() for path in summaries(root)
    ]


# Renamed models


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_renamed_model_batches_nothing_again_and_changes_no_link(
    open_memory: Callable[..., Memory], root: Path, *, by_hand: bool
) -> None:
    fill(root, "alice", range(7))
    write(root, "models/bob/e.md", "![[n00]]")
    memory = open_memory()
    memory.advance()
    before = {path.name: path.read_bytes() for path in root.glob("models/alice/**/*.md")}
    if by_hand:
        (root / "models/alice").rename(root / "models/anna")
    else:
        memory.rename_model("alice", "anna")
        before["anna.md"] = before.pop("alice.md")
    assert {path.name: path.read_bytes() for path in root.glob("models/anna/**/*.md")} == before
    assert memory.advance().written == ()
    assert sums(memory, "anna") == (7, 6, 1)
    assert memory.load(["bob"]).models[0].recent[0].text == text(0)
    assert memory.map().models[0].description == "A friend."
    fill(root, "anna", range(7, 9))
    assert [handle[:-5] for handle in memory.advance().written] == ["anna-t0-0003"]
    assert sums(memory, "anna") == (9, 9, 0)

"""Whatever is done to records on two copies that merge: no file is lost, nothing confirmed is pruned or vanishes."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from test_backfill import Reader

from pyramid_fs import Memory, vault
from pyramid_fs.errors import UsageError

START = datetime(2026, 3, 14, 9, tzinfo=UTC)
NAMES = st.sampled_from(["Ada Lovelace", "ada lovelace", "Kim", "王小明", "Una Ödegård"])
RULES = st.sampled_from(["Oil the hinges.", "Run the small tests first.", "oil the hinges"])
NUMBERS = st.sampled_from([0.5, 0.7, 0.8499, 0.85, 0.95])
COPY = st.integers(0, 1)
PICK = st.integers(0, 99)


@dataclass
class Copy:
    """One machine's copy of the vault."""

    memory: Memory
    root: Path


class Records(RuleBasedStateMachine):
    """Two machines with one clock."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.now = START
        self.sessions = 0
        self.files: list[set[str]] = [set(), set()]
        vault.make_vault(self.folder / "0/vault", models={"plot": ""})
        shutil.copytree(self.folder / "0", self.folder / "1")
        self.copies = [self._open(number) for number in range(2)]

    def _open(self, number: int) -> Copy:
        root = self.folder / f"{number}/vault"
        environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
        return Copy(Memory(root, environ=environ, clock=lambda: self.now, extractor=Reader(fails="")), root)

    def teardown(self) -> None:
        for copy in self.copies:
            copy.memory.close()
        shutil.rmtree(self.folder)

    def handles(self, copy: Copy) -> list[str]:
        lines = (*copy.memory.entities(pruned=True), *copy.memory.procedures(pruned=True))
        return sorted(line.handle for line in lines)

    def some(self, copy: Copy, pick: int) -> str:
        known = self.handles(copy)
        return known[pick % len(known)]

    def has_records(self) -> bool:
        return all(self.handles(copy) for copy in self.copies)

    # What is done

    @rule(at=COPY, name=NAMES, number=NUMBERS)
    def propose_an_entity(self, at: int, name: str, number: float) -> None:
        made = self.copies[at].memory.propose("entity", name, confidence=number)
        assert made.is_new

    @rule(at=COPY, text=RULES, number=NUMBERS)
    def propose_a_procedure(self, at: int, text: str, number: float) -> None:
        assert self.copies[at].memory.propose("procedure", text, confidence=number).status == "pending"

    @rule(at=COPY, name=NAMES, text=RULES, number=NUMBERS)
    def save_a_session(self, at: int, name: str, text: str, number: float) -> None:
        self.sessions += 1
        digest = f"name {name} {number}\nrule {text} 0.6"
        self.copies[at].memory.save_session(digest, ["walks"], session=f"s{self.sessions}", started=self.now)

    @rule(at=COPY)
    def backfill(self, at: int) -> None:
        memory = self.copies[at].memory
        found = memory.backfill()
        assert found.errors == []
        assert found.processed == found.qualifying
        again = memory.backfill()
        assert (again.qualifying, again.done_before) == (0, found.qualifying + found.done_before)

    @rule(days=st.sampled_from([1, 6, 24, 29, 30, 400]))
    def time_passes(self, days: int) -> None:
        self.now += timedelta(days=days)

    @precondition(has_records)
    @rule(at=COPY, pick=PICK)
    def confirm(self, at: int, pick: int) -> None:
        copy = self.copies[at]
        handle = self.some(copy, pick)
        copy.memory.confirm([handle])
        assert self.status(copy, handle) == "confirmed"

    @precondition(has_records)
    @rule(at=COPY, pick=PICK)
    def reject(self, at: int, pick: int) -> None:
        copy = self.copies[at]
        handle = self.some(copy, pick)
        copy.memory.reject([handle])
        assert self.status(copy, handle) == "pruned"

    @precondition(has_records)
    @rule(at=COPY, one=PICK, other=PICK)
    def supersede(self, at: int, one: int, other: int) -> None:
        copy = self.copies[at]
        before = len(self.current(copy))
        with suppress(UsageError):  # of itself, or of one that it took the place of
            copy.memory.supersede(self.some(copy, one), self.some(copy, other))
        assert self.current(copy) or not before, "somebody is left"

    @precondition(has_records)
    @rule(at=COPY, one=PICK, other=PICK)
    def contradict(self, at: int, one: int, other: int) -> None:
        copy = self.copies[at]
        mine, theirs = self.some(copy, one), self.some(copy, other)
        if mine != theirs:
            copy.memory.contradict(mine, theirs)

    @rule(at=COPY)
    def prune(self, at: int) -> None:
        memory = self.copies[at].memory
        before = {line.handle: line for line in (*memory.entities(), *memory.procedures())}
        pruned = {line.handle: day for line, day in memory.prune()}
        for handle, day in pruned.items():
            assert before[handle].status == "pending"
            assert (before[handle].confidence or 0) < 0.85
            assert day == before[handle].due <= self.now.date().isoformat()
        assert memory.prune() == []
        assert memory.records().soon <= len(memory.pending())

    @rule(at=COPY, text=RULES, number=NUMBERS, verdict=st.sampled_from(["confirm", "reject", "nothing"]))
    def a_record_grows_old(self, at: int, text: str, number: float, verdict: str) -> None:
        """Go the whole way with one record, which chance alone seldom does."""
        copy = self.copies[at]
        handle = copy.memory.propose("procedure", text, confidence=number).handle
        if verdict != "nothing":
            getattr(copy.memory, verdict)([handle])
        self.now += timedelta(days=31)
        self.prune(at)
        falls = verdict == "reject" or (verdict == "nothing" and number < 0.85)
        assert self.status(copy, handle) == ("pruned" if falls else "confirmed" if verdict == "confirm" else "pending")

    @rule(of=COPY)
    def merge(self, of: int) -> None:
        """Take all files of one copy over to the other: where both changed one, the first one's stands."""
        one, other = self.copies[of].root, self.copies[1 - of].root
        for top in ("entities", "procedures", "sessions", "topics", "ledger"):
            for path in (one / top).iterdir():
                shutil.copy2(path, other / top / path.name)
        self.files[1 - of] |= self.files[of]

    @rule(at=COPY)
    def lose_the_cache(self, at: int) -> None:
        self.copies[at].memory.close()
        shutil.rmtree(self.copies[at].root.parent / "cache")
        self.copies[at] = self._open(at)

    # What always holds

    def current(self, copy: Copy) -> list[str]:
        return [record.handle for record in copy.memory.records().shown]

    def status(self, copy: Copy, handle: str) -> str:
        lines = (*copy.memory.entities(pruned=True), *copy.memory.procedures(pruned=True))
        return next(line.status for line in lines if line.handle == handle)

    @invariant()
    def no_file_is_lost(self) -> None:
        for known, copy in zip(self.files, self.copies, strict=True):
            found = {path.relative_to(copy.root).as_posix() for path in copy.root.rglob("*.md")}
            assert known <= found
            known.update(found)

    @invariant()
    def the_bundle_shows_what_holds_and_nothing_else(self) -> None:
        for copy in self.copies:
            memory = copy.memory
            every = {line.handle: line for line in (*memory.entities(pruned=True), *memory.procedures(pruned=True))}
            found = memory.context()
            shown = {line.handle: line for line in (*found.entities, *found.procedures)}
            gone = {handle for handle, line in every.items() if line.status == "pruned"}
            assert not gone & shown.keys()
            assert all(line.status == "confirmed" for line in found.procedures)
            assert found.pending == sum(line.status == "pending" for line in every.values()) == len(memory.pending())
            against = {to for line in every.values() if line.status != "pruned" for to in line.contradicts}
            assert all(line.is_contradicted is (handle in against) for handle, line in every.items())
            kept = {handle for handle, line in every.items() if line.status == "confirmed" and not line.superseded_by}
            for handle, line in every.items():
                at, seen = handle, [handle]
                while at in every and every[at].superseded_by and every[at].superseded_by not in (*gone, *seen):
                    at = every[at].superseded_by
                    seen.append(at)
                assert line.status == "pruned" or at in self.current(copy), "what took its place is there"
            rules = {line.handle for line in memory.procedures()}
            assert kept & rules <= shown.keys(), "contradicted ones stay"
            sure = {handle for handle in self.current(copy) if every[handle].status == "confirmed"} - rules
            assert len(sure & shown.keys()) == min(5, len(sure))


Records.TestCase.settings = settings(
    max_examples=max(3, settings().max_examples // 8), stateful_step_count=18, deadline=None
)
TestRecords = Records.TestCase

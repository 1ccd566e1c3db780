"""The project's own memory, `vault/`: it balances, and its summaries are what the embedded summarizer writes today."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, kinds, leaks, links, pyramid
from pyramid_fs.redo import Sources
from pyramid_fs.summarizers import Extractive, write

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
VAULT = ROOT / "vault"
LEAST = {0: 25, 1: 5}
"""Summaries of each tier that a newcomer finds."""
AGAIN = "the extractor writes other texts now: if they are better, `pyramid --vault vault redo --tier 0 --yes`, once"
A_MACHINES = re.compile(r"(?<![\w./<`-])(?:/(?:home|mnt|opt|root|srv|tmp|usr|var|work|Users|Volumes)/|[A-Z]:\\)\S*")
"""A path of somebody's machine."""
AN_ADDRESS = re.compile(r"\b[\w.+-]+@[\w-]+\.[a-z]{2,}\b")

pytestmark = pytest.mark.skipif(not VAULT.is_dir(), reason="the source distribution comes without it")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The vault where it lies, its cache elsewhere."""
    work = tmp_path_factory.mktemp("own")
    environ = {"PYRAMID_CACHE_DIR": str(work / "cache"), "PYRAMID_CONFIG": str(work / "none.toml")}
    with Memory(VAULT, environ=environ) as found:
        yield found


@pytest.fixture(scope="module")
def states(memory: Memory) -> dict[str, pyramid.State]:
    """Give each model as it stands."""
    return {name: memory.census.fresh(name).state for name in memory.census.models()}


def texts() -> dict[str, str]:
    """Read every text file of the vault."""
    found = (path for path in sorted(VAULT.rglob("*")) if path.is_file() and ".obsidian" not in path.parts)
    return {path.relative_to(VAULT).as_posix(): path.read_text(encoding="utf-8") for path in found}


def test_it_balances_and_nothing_waits_for_a_person(memory: Memory) -> None:
    report = memory.verify()
    assert report.balances, report.faults
    assert not memory.doctor()


def test_it_has_grown(states: dict[str, pyramid.State]) -> None:
    active = [summary for state in states.values() for summary in state.active.values()]
    for tier, least in LEAST.items():
        assert sum(summary.tier == tier for summary in active) >= least


def test_it_keeps_no_summary_that_counts_nowhere(states: dict[str, pyramid.State]) -> None:
    active = {summary.path for state in states.values() for summary in state.active.values()}
    assert {path for path in texts() if "/tier-" in path or "/retired/" in path} == active


@pytest.mark.parametrize("tier", LEAST)
def test_every_summary_is_what_the_extractor_writes(memory: Memory, tier: int) -> None:
    """They are golden files: a changed extractor shows here, sentence by sentence."""
    stored, written = {}, {}
    for name in memory.census.models():
        now = memory.census.fresh(name)
        sources = Sources(memory._tools(), now)  # what `redo` reads them with
        for summary in now.state.active.values():
            if summary.tier == tier:
                assert summary.summarizer == Extractive.name
                stored[summary.path] = kinds.note_text(memory.vault.page(summary.path))
                written[summary.path] = write(Extractive(), sources.request(summary))
    assert written == stored, AGAIN


def test_every_link_leads_to_a_file(memory: Memory) -> None:
    found = {path: links.all_of(text) for path, text in texts().items() if path.endswith(".md")}
    assert sum(map(len, found.values())) > sum(LEAST.values())
    for linked in found.values():
        for handle in linked:
            assert memory.census.find(handle).path


def test_it_holds_nothing_of_a_machine_or_a_person() -> None:
    own = {str(ROOT), str(Path.home())}
    for path, text in texts().items():
        assert not A_MACHINES.findall(text), path
        assert not AN_ADDRESS.findall(text), path
        assert not [name for name in own if len(name) > 1 and name in text], path
        assert not leaks.find(text), path

"""What is measured of a vault: lengths and writers, calls, tokens, and which facts survive."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, bounds, cli, context, render, stats, vault
from pyramid_fs.desk import Desk
from pyramid_fs.errors import NoSuchModel
from pyramid_fs.mcp_server.growth import Growth
from pyramid_fs.mcp_server.tools import Toolbox, listed
from pyramid_fs.memory import FACE
from pyramid_fs.meter import Meter
from pyramid_fs.summarizers import Call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyramid_fs.summarizers import Request

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
FIRST = datetime(2026, 11, 1, 9, tzinfo=UTC)
SETTINGS = "[pyramid]\nbatch_notes = 2\nfan_in = 2\n"
TEXTS = [
    "it was Mara who paid 40 euros to Otto",
    "then Otto moved to Lisbon on 5 May 2026",
    "so Mara bought 12 chairs in Porto",
    "and Nils sold 7 of them on 3 June 2026",
]


class Says:
    """A summarizer that writes what it is told to, at each tier."""

    name, draft, takes, slow = "says", True, 0, False

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def summarize(self, request: Request) -> str:
        """Write the text of the tier."""
        return self.texts[min(request.tier, len(self.texts) - 1)].ljust(60, ".")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": ""})
    (tmp_path / "vault" / "pyramid.toml").write_text(f'format = 1\ntimezone = "UTC"\n{SETTINGS}')
    return tmp_path / "vault"


@pytest.fixture
def open_memory(root: Path, tmp_path: Path) -> Callable[..., Memory]:
    opened: list[Memory] = []

    def open_it(summarizer: Any = None) -> Memory:
        environ = {"PYRAMID_CACHE_DIR": str(tmp_path / "cache"), "PYRAMID_CONFIG": str(tmp_path / "config.toml")}
        opened.append(Memory(root, environ=environ, clock=lambda: NOW, summarizer=summarizer))
        return opened[-1]

    return open_it


def grown(memory: Memory, texts: list[str] = TEXTS, model: str = "alice") -> Memory:
    for number, text in enumerate(texts):
        memory.record(text, [model], created=FIRST + number * timedelta(days=1))
    memory.advance()
    return memory


# Lengths


def test_an_empty_vault_has_nothing_to_measure(open_memory: Callable[..., Memory]) -> None:
    found = open_memory().stats()
    assert (found.tiers, found.calls, found.advice) == ({}, {}, ())
    assert [(model.name, model.notes) for model in found.models] == [("alice", 0), ("bob", 0)]
    assert found.survival
    assert (found.survival.tiers, found.survival.view.share) == ({}, None)


def test_each_tier_has_its_lengths_and_who_wrote_it(open_memory: Callable[..., Memory]) -> None:
    found = grown(open_memory(Says("x" * 80, "y" * 61)), [*TEXTS, "one more"]).stats(["alice"])
    below = sum(map(len, TEXTS))
    assert found.tiers == {
        "0": context.TierStats(2, 600, 80, 80, 80, 2, below, {"says": 2}),
        "1": context.TierStats(1, 800, 61, 61, 61, 1, below, {"says": 1}),
    }
    (alice,) = found.models
    assert (alice.tiers, alice.notes, alice.tail) == (found.tiers, 5, 1)
    assert found.advice == ("3 drafts: `pyramid redo --drafts` writes them again once a model is set up",)


def test_models_are_added_up(open_memory: Callable[..., Memory]) -> None:
    memory = open_memory(Says("x" * 80, "y" * 60))
    grown(memory, TEXTS, "alice")
    grown(memory, TEXTS[:2], "bob")
    found = memory.stats()
    assert {tier: each.summaries for tier, each in found.tiers.items()} == {"0": 3, "1": 1}
    assert [model.tiers["0"].summaries for model in found.models] == [2, 1]
    with pytest.raises(NoSuchModel):
        memory.stats(["carol"])


# Facts


def test_a_summary_is_measured_by_the_facts_of_all_notes_below_it(open_memory: Callable[..., Memory]) -> None:
    memory = grown(open_memory(Says("Mara and Otto, 40 euros, and 12 chairs", "only Nils is named here")))
    found = memory.stats(["alice"]).survival
    assert found
    # the first batch holds Mara, Otto, Lisbon, 40 and a date, the second Mara, Porto, Nils, 12, 7 and a date
    assert found.tiers["0"].kinds == {"names": (6, 3), "numbers": (3, 2), "dates": (2, 0)}
    assert (found.tiers["0"].facts, found.tiers["0"].held, found.tiers["0"].share) == (11, 5, 0.4545)
    assert found.tiers["1"].kinds == {"names": (5, 1), "numbers": (3, 0), "dates": (2, 0)}
    assert found.unread == 0


def test_the_view_holds_the_facts_of_the_notes_and_summaries_that_it_shows(open_memory: Callable[..., Memory]) -> None:
    said = "a text without a fact, whatever the notes said".ljust(70, ".")
    memory = grown(
        open_memory(Says(said)), [*TEXTS, "then Ida came", "she paid 40 euros", "so", "and on", "to the end"]
    )
    found = memory.stats(["alice"]).survival
    assert found
    # the five newest notes are shown: Ida, and 40 again
    assert found.view.kinds == {"names": (6, 1), "numbers": (3, 1), "dates": (2, 0)}


def test_a_version_that_is_gone_is_left_out_and_counted(open_memory: Callable[..., Memory], root: Path) -> None:
    memory = grown(open_memory(Says("Mara and Otto, 40 euros, and 12 chairs", "only Nils is named here")))
    first, second = sorted((root / "models" / "alice").rglob("2026-11-0[12]*.md"))
    first.unlink()
    second.write_text(second.read_text().replace("Otto", "Ida"))
    found = memory.stats(["alice"])
    assert found.survival
    assert found.survival.unread == 2
    assert found.survival.tiers["0"].kinds == {"names": (3, 1), "numbers": (2, 1), "dates": (1, 0)}
    assert found.tiers["0"].below == sum(map(len, TEXTS[2:]))
    assert found.survival.view.kinds["names"][0] == 5  # of the second batch, and of the new version
    assert "2 notes are gone or have changed" in found.advice[-1]


def test_the_reading_may_be_left_out(open_memory: Callable[..., Memory]) -> None:
    found = grown(open_memory()).stats(survival=False)
    assert (found.survival, found.models[0].survival) == (None, None)
    assert "kept" not in render.stats_text(found)


# Costs


def test_calls_are_added_up_by_summarizer(open_memory: Callable[..., Memory]) -> None:
    memory = open_memory()
    meter = Meter(memory.cache)
    meter.note("2026-11-28", "alice", 0, Call("big", 900, 100, 200, 30, 1.5), is_asked=True)
    meter.note("2026-11-29", "alice", 0, Call("big", 100, 0, None, None, 0.5, "busy"), is_asked=False)
    meter.note("2026-11-29", "bob", 0, Call("small", 50, 40, None, None, 1.0), is_asked=False)
    found = memory.stats()
    assert found.calls == {
        "big": context.Spent(2, 1, 1000, 100, 200, 30, 2.0, 1.0),
        "small": context.Spent(1, 0, 50, 40, None, None, 1.0, 1.0),
    }
    assert (found.calls_today, found.calls_per_day) == (2, 500)
    assert [list(model.calls) for model in found.models] == [["big"], ["small"]]
    assert list(memory.stats(["bob"]).calls) == ["small"]
    assert found.advice == ("1 of 3 calls failed: `pyramid status` says what waits and why",)


def test_what_the_settings_allow_is_said_where_it_is_used_up() -> None:
    assert "calls_per_day" in next(stats.advice({}, {}, None, "openai", is_spent=True))
    assert list(stats.advice({}, {}, None, "openai", is_spent=False)) == []
    drafts = {"0": context.TierStats(1, 600, 600, 600, 600, 1, 900, {"extractive": 1})}
    assert list(stats.advice(drafts, {}, None, "openai", is_spent=False)) == [
        "1 draft: `pyramid redo --drafts` writes it again"
    ]


def test_tokens_are_those_of_what_is_shown(open_memory: Callable[..., Memory]) -> None:
    memory = grown(open_memory())
    found = memory.stats()
    text = render.loaded_text(memory.load(["alice"]))
    assert (found.models[0].view_chars, found.models[0].view_tokens) == (len(text), bounds.tokens(text))
    assert found.models[0].view_tokens == memory.map().models[0].view_tokens
    assert found.boot_tokens > 100


def test_the_list_of_tools_costs_what_is_said(root: Path) -> None:
    desk = Desk(root, FACE)
    box = Toolbox(desk, Growth(desk))
    listed(box, with_rollups=False)
    assert box.list_tokens == pytest.approx(bounds.TOOLS, rel=0.03)


# What is printed


def test_the_figures_are_printed_as_tables_and_as_json(
    open_memory: Callable[..., Memory], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYRAMID_CONFIG", str(tmp_path / "config.toml"))
    memory = grown(open_memory(Says("Mara and Otto, 40 euros, and 12 chairs", "only Nils is named here")))
    Meter(memory.cache).note("2026-11-29", "alice", 0, Call("big", 9000, 100, 200, None, 1.5), is_asked=True)
    assert cli.run(["--vault", str(root), "stats", "alice"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert ["0", "2", "600", "60", "60", "60", "2", "147", "says", "2"] in [line.split() for line in out]
    assert ["tier", "0", "11", "45%", "50%", "67%", "0%"] in [line.split() for line in out]
    assert ["big", "1", "0", "9,000", "100", "200", "-", "1.5", "1.50"] in [line.split() for line in out]
    assert out[-1].startswith("3 drafts: ")
    assert cli.run(["--vault", str(root), "stats", "--no-survival", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["tiers"]["0"]["by"] == {"says": 2}
    assert value["tool_tokens"] == bounds.TOOLS
    assert value["survival"] is None
    assert cli.run(["--vault", str(root), "stats", "carol"]) == 20


def test_a_table_keeps_its_columns(open_memory: Callable[..., Memory]) -> None:
    lines = render.stats_text(grown(open_memory()).stats()).splitlines()
    head = next(line for line in lines if line.startswith("model "))
    rows = lines[lines.index(head) + 1 :][:2]
    assert [row.split()[0] for row in rows] == ["alice", "bob"]
    assert all(len(row) == len(head) for row in rows)

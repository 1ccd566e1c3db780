"""Trying the summarizer on a real batch: what is shown of it, and that nothing is stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import models
import pytest

from pyramid_fs import Memory, cli, render, vault
from pyramid_fs.errors import NoSuchModel
from pyramid_fs.meter import Meter, Metered
from pyramid_fs.trying import CHECKED, CHECKED_MODEL, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.context import Tried

NOTE = "On {day} May 2026 Alice and Bob met at the harbour, number {day}, and agreed what to ask for the old boat."


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYRAMID_CONFIG", str(tmp_path / "config.toml"))
    for name in ("PYRAMID_VAULT", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": ""})
    monkeypatch.chdir(tmp_path / "vault")
    return tmp_path / "vault"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[models.Server]:
    """A model that is set up."""
    with models.Server() as made:
        (tmp_path / "config.toml").write_text(
            f'[summarizer]\nkind = "openai"\nmodel = "small"\nbase_url = "{made.url}"\nconcurrency = 1\n'
        )
        yield made


def write_notes(root: Path, model: str, count: int, first: int = 1) -> None:
    for day in range(first, first + count):
        path = root / f"models/{model}/{model}{day:02}.md"
        path.write_text(f"---\ncreated: 2026-05-{day:02}\n---\n{NOTE.format(day=day)}\n")


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def tried(root: Path, model: str | None = None) -> Tried:
    with Memory(root) as memory:
        return memory.try_summarizer(model)


# Which batch


def test_the_next_batch_that_is_due_is_tried_and_nothing_is_stored(root: Path, server: models.Server) -> None:
    write_notes(root, "bob", 12)
    before = contents(root)
    found = tried(root)
    assert (found.model, found.tier, found.sources, found.target) == ("bob", 0, 10, 600)
    assert found.what.startswith("the next batch of bob (10 notes, ")
    assert (found.summarizer, found.calls, found.reason) == ("openai:small", 1, "")
    assert found.text == models.sound(server.asked[0].prompt)
    assert found.chars == len(found.text)
    assert found.chars_in == sum(len(NOTE.format(day=day)) for day in range(1, 11))
    assert found.tokens_in == len(server.asked[0].prompt) // 4
    assert found.passed == (*CHECKED, *CHECKED_MODEL)
    assert contents(root) == before
    with Memory(root) as memory:
        assert len(memory.due()) == 1
        assert [(call.model, call.by, call.is_asked) for call in Meter(memory.cache).all()] == [
            ("bob", "openai:small", True)
        ]


def test_else_that_of_the_newest_summary(root: Path, server: models.Server) -> None:
    write_notes(root, "alice", 20)
    with Memory(root) as memory:
        made = memory.advance().written
    found = tried(root, "alice")
    assert found.what.startswith(f"the batch of {made[-1]} (10 notes, ")
    assert [item for item in models.sources(server.asked[-1].prompt) if "number 11," in item]
    (root / "models/alice/alice11.md").write_text("---\ncreated: 2026-05-11\n---\nRevised, so it can't be read.\n")
    assert tried(root).what.startswith(f"the batch of {made[0]} (")


def test_else_bundled_notes(root: Path, server: models.Server) -> None:
    found = tried(root)
    assert found.what.startswith("bundled notes, as there are none yet (10 notes, ")
    assert found.reason == ""
    assert "potatoes" in server.asked[0].prompt
    write_notes(root, "alice", 10)
    assert tried(root, "bob").what.startswith("bundled notes")


def test_of_a_model_that_is_named(root: Path) -> None:
    write_notes(root, "alice", 10)
    write_notes(root, "bob", 10)
    assert tried(root, "bob").model == "bob"
    with pytest.raises(NoSuchModel, match="alice"):
        tried(root, "alcie")


# What is said


def test_the_embedded_summarizer_is_tried_like_any_other(root: Path) -> None:
    write_notes(root, "alice", 10)
    found = tried(root)
    assert (found.summarizer, found.passed, found.unsupported) == ("extractive", CHECKED, ())
    with Memory(root) as memory:
        assert list(Meter(memory.cache).all()) == []


def test_what_stands_in_no_source_is_listed(root: Path, server: models.Server) -> None:
    write_notes(root, "alice", 10)
    server.script([models.Step(text="Alice and Bob met Charlotte in Lisbon and agreed on 4711 euros for the boat.")])
    assert tried(root).unsupported == ("Charlotte", "Lisbon", "4711")


@pytest.mark.parametrize(
    ("step", "reason", "text"),
    [
        (models.SORRY, "it refused: ", models.SORRY.text),
        (models.LONG, "characters where about 600 were asked for", None),
        (models.JSON, "it wrote JSON, not prose", models.JSON.text),
        (models.BLANK, "it wrote nothing", ""),
        (models.FAILED, "the model fell over", ""),
        (models.LENGTH, "cut the summary off", ""),
    ],
)
def test_what_would_not_be_stored_is_shown_with_the_reason(
    root: Path,
    server: models.Server,
    step: models.Step,
    reason: str,
    text: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_notes(root, "alice", 10)
    server.script([step, step])
    assert cli.run(["summarizer", "test", "--json"]) == 30
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert reason in found["reason"]
    assert reason in err
    assert found["passed"] == []
    assert text is None or found["text"] == text


def test_the_verb_shows_all_of_it(root: Path, server: models.Server, capsys: pytest.CaptureFixture[str]) -> None:
    write_notes(root, "alice", 10)
    assert cli.run(["summarizer", "test", "alice"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Tried: openai:small, on the next batch of alice (10 notes, " in out
    assert "> On 1 May 2026 Alice and Bob met" in out
    assert "; 600 were asked for\n" in out
    assert " tokens in, " in out
    assert "Checks passed: there is a text, " in out
    assert "Every number, date and name in it stands in a source." in out
    server.script([models.SORRY, models.SORRY])
    assert cli.run(["summarizer", "test"]) == 30
    out, err = capsys.readouterr()
    assert "in 2 calls" in out
    assert "Would not be stored: the summary by openai:small was not stored: it refused" in out
    assert err.count("\n") == 1


def test_where_an_agent_writes_there_is_nobody_to_try(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").write_text('[summarizer]\nkind = "none"\n')
    assert cli.run(["summarizer", "test"]) == 2
    assert "pyramid setup summarizer" in capsys.readouterr().err


def test_what_a_terminal_would_act_on_is_shown_by_its_number(root: Path, server: models.Server) -> None:
    server.script([models.Step(text="They sold the boat\x1b[2J and met at the harbour in May.")] * 2)
    shown = render.tried_text(tried(root))
    assert "\x1b" not in shown
    assert "\\u001b[2J" in shown


# What many would cost


def call(**more: Any) -> Metered:
    told = {"tokens_in": 300, "tokens_out": 50, "seconds": 2.0, **more}
    return Metered("alice", 0, "small", is_asked=True, chars_in=1000, chars_out=100, **told)


def test_an_estimate_goes_by_the_calls_so_far_failed_ones_included() -> None:
    found = estimate(10, [call(), call(), call(failed="late", tokens_out=None)], 4)
    assert found is not None
    assert (found.tokens_in, found.tokens_out, found.seconds, found.measured) == (4500, 500, 7.5, 2)
    assert estimate(10, [call(failed="late")], 4) is None
    assert estimate(10, [], 4) is None
    one = estimate(1, [call(tokens_in=None, tokens_out=None)], 4)
    assert one is not None
    assert (one.tokens_in, one.seconds) == (None, 2.0)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (7260, "2 h 1 min"), (5400, "1 h 30 min")]
)
def test_how_long_something_takes(seconds: float, said: str) -> None:
    assert render.duration(seconds) == said


def test_progress_of_a_slow_summarizer() -> None:
    assert render.progress_line(0, 10, 0.0, 0, 0) == ""
    assert render.progress_line(5, 20, 300.0, 6, 12_000) == "1.0/min · 6 calls · 12,000 tokens · 15 min left"
    assert render.progress_line(20, 20, 2.0, 0, 0) == "10/s"

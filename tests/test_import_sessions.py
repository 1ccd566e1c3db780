"""Conversations become digests once, and again where they go on: by `import`, and by the hooks of a harness."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import hard
import pytest

from pyramid_fs import Memory
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

FIRST = datetime(2026, 3, 14, 9, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    return hard.make(tmp_path, monkeypatch)


def transcript(path: Path, *said: str, session: str = "s1") -> Path:
    """Write a transcript as Claude Code keeps it: the person and the agent by turns, a minute apart."""
    lines: list[dict[str, Any]] = []
    for at, text in enumerate(said):
        role = "assistant" if at % 2 else "user"
        content: Any = [{"type": "text", "text": text}] if at % 2 else text
        time = (FIRST + timedelta(minutes=at)).isoformat().replace("+00:00", "Z")
        lines.append(
            {
                "type": role, "sessionId": session, "uuid": f"{session}-{at}", "timestamp": time, "isSidechain": False,
                "cwd": "/home/kim/garden", "version": "2.1.12", "message": {"role": role, "content": content},
            }
        )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


PUMP = ("The pump in the cellar leaks again, what shall I do?", "Fit a new gasket and drain it before frost.")
MORE = ("The gasket of 40 mm fits.", "Then note that the pump takes a gasket of 40 mm.")


def digests(vault: hard.Vault) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((vault.root / "sessions").glob("*.md"))}


def run(vault: hard.Vault, path: Path, *words: str) -> dict[str, Any]:
    """Import; the counts add up."""
    ran = vault.run("import", "claude-code", "--json", *words, "--", str(path))
    found = dict(ran.json)
    parts = ("made", "grown", "known", "edited", "skipped", "failed", "unusable")
    assert found["read"] == sum(found[part] for part in parts)
    assert len(found["bad"]) == found["failed"] + found["unusable"]
    assert ran.code == (30 if found["bad"] else 0) or found["bad"]
    return {part: found[part] for part in parts if found[part]}


def hook(vault: hard.Vault, path: object, verb: str = "session-end", **env: str) -> hard.Ran:
    asked = {"session_id": "s1", "transcript_path": str(path), "hook_event_name": "SessionEnd", "reason": "exit"}
    ran = vault.process("hook", verb, given=json.dumps(asked).encode(), env=vault.environ(**env))
    assert (ran.code, ran.out) == (0, "")
    return ran


# import


def test_each_conversation_is_imported_once(vault: hard.Vault, tmp_path: Path) -> None:
    talks = tmp_path / "talks"
    for number in range(1, 4):
        transcript(talks / f"{number}.jsonl", *PUMP, session=f"s{number}")
    transcript(talks / "warm.jsonl", "Warmup", "Ready.", session="w")
    before = vault.bytes()
    assert run(vault, talks, "--dry-run") == {"made": 3, "skipped": 1}
    assert vault.bytes() == before
    assert run(vault, talks, "--topic", "Pumps") == {"made": 3, "skipped": 1}
    before = vault.bytes()
    assert run(vault, talks) == {"known": 3, "skipped": 1}
    shutil.rmtree(vault.cache)
    assert run(vault, talks) == {"known": 3, "skipped": 1}
    assert vault.bytes() == before
    texts = digests(vault)
    assert all(name.startswith("2026-03-14-the-pump-in-the-cellar") for name in texts)
    text = next(text for text in texts.values() if 'session: "s2"' in text)
    assert "started: 2026-03-14T09:00:00Z" in text
    assert 'source: "claude-code:s2"' in text
    assert '"[[pumps]]"' in text
    assert "Person: The pump in the cellar leaks" in text


def test_one_that_has_gone_on_is_written_again_in_the_same_file(vault: hard.Vault, tmp_path: Path) -> None:
    path = transcript(tmp_path / "t.jsonl", *PUMP)
    assert run(vault, path) == {"made": 1}
    (name,) = digests(vault)
    transcript(path, *PUMP, *MORE)
    assert run(vault, path, "--dry-run") == {"grown": 1}
    assert "40 mm" not in digests(vault)[name]
    assert run(vault, path) == {"grown": 1}
    assert list(digests(vault)) == [name]
    assert "40 mm" in digests(vault)[name]
    assert run(vault, path) == {"known": 1}
    transcript(path, *PUMP)
    assert run(vault, path) == {"known": 1}, "an older export changes nothing"
    assert "40 mm" in digests(vault)[name]


def test_one_that_a_person_edited_or_deleted_is_left_as_it_is(vault: hard.Vault, tmp_path: Path) -> None:
    path = transcript(tmp_path / "t.jsonl", *PUMP)
    run(vault, path)
    (name,) = digests(vault)
    file = vault.root / "sessions" / name
    file.write_text(file.read_text().replace("started:", "mood: good\nstarted:"))
    transcript(path, *PUMP, *MORE[:1])
    assert run(vault, path) == {"grown": 1}, "a key is no text"
    file.write_text(file.read_text().replace("cellar", "shed"))
    kept = file.read_bytes()
    transcript(path, *PUMP, *MORE)
    assert run(vault, path) == {"edited": 1}
    assert file.read_bytes() == kept
    file.unlink()
    assert run(vault, path) == {"known": 1}
    assert digests(vault) == {}


def test_a_digest_that_the_agent_saved_stands(vault: hard.Vault, tmp_path: Path) -> None:
    with Memory(vault.root) as memory:
        memory.save_session("The gasket was changed.", session="s1")
    before = digests(vault)
    assert run(vault, transcript(tmp_path / "t.jsonl", *PUMP)) == {"known": 1}
    assert digests(vault) == before


def test_the_ledgers_of_two_machines_are_read_together_whatever_their_order(vault: hard.Vault, tmp_path: Path) -> None:
    path = transcript(tmp_path / "t.jsonl", *PUMP)
    run(vault, path)
    (ledger,) = (vault.root / "ledger").iterdir()
    early = ledger.read_text()
    transcript(path, *PUMP, *MORE[:1])
    run(vault, path)
    for name in ("000000.jsonl", "zzzzzz.jsonl"):  # another machine's, which saw less of it
        vault.put(f"ledger/{name}", early + '{"source": "claude-code:s1", "turns": "many"}\n{"turns": null}\n')
        assert run(vault, path) == {"known": 1}
    transcript(path, *PUMP, *MORE)
    assert run(vault, path) == {"grown": 1}
    assert len(digests(vault)) == 1


def test_one_failing_conversation_ends_nothing_and_is_tried_again(vault: hard.Vault, tmp_path: Path) -> None:
    long = "The pump in the cellar leaks and the gasket of 40 mm is worn out. " * 60
    talks = tmp_path / "talks"
    transcript(talks / "1.jsonl", long, "I see.", session="s1")
    transcript(talks / "2.jsonl", *PUMP, session="s2")
    with (talks / "2.jsonl").open("a") as opened:
        opened.write('{"type": "us')
    vault.summarizer("exit 3")
    with Memory(vault.root, environ=vault.environ()) as memory:
        found = memory.import_sessions("claude-code", talks)
    assert (found.read, found.made, found.failed, found.unusable, len(found.bad)) == (3, 1, 1, 1, 2)
    vault.config.unlink()
    assert run(vault, talks) == {"made": 1, "known": 1, "unusable": 1}


def test_what_is_no_transcript_is_one_sentence(vault: hard.Vault, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"a": 1}\n')
    with Memory(vault.root) as memory, pytest.raises(UsageError, match="no kind of conversation"):
        memory.import_sessions("mail", other)
    for path in (other, tmp_path / "nowhere", tmp_path / "vault/models"):
        assert vault.run("import", "claude-code", "--", str(path)).code == 2


# The hooks


def test_a_session_has_one_digest_through_both_hooks(vault: hard.Vault, tmp_path: Path) -> None:
    path = transcript(tmp_path / "t.jsonl", *PUMP)
    assert hook(vault, path, "pre-compact").err == ""
    (name,) = digests(vault)
    assert "40 mm" not in digests(vault)[name]
    transcript(path, *PUMP, *MORE)
    for _ in range(2):
        assert hook(vault, path).err == ""
        assert list(digests(vault)) == [name]
        assert digests(vault)[name].count("gasket of 40 mm fits") == 1
    file = vault.root / "sessions" / name
    file.write_text(file.read_text() + "\nMy own line.\n")
    transcript(path, *PUMP, *MORE, "One more thing.")
    assert hook(vault, path).err == ""
    assert digests(vault) == {name: file.read_text()}
    assert "My own line." in file.read_text()


def test_a_path_below_home_is_found(vault: hard.Vault, tmp_path: Path) -> None:
    transcript(tmp_path / "home/t.jsonl", *PUMP)
    assert hook(vault, "~/t.jsonl", HOME=str(tmp_path / "home")).err == ""
    assert len(digests(vault)) == 1


@pytest.mark.parametrize("what", ["missing", "empty name", "folder", "binary", "no json", "nothing"])
def test_whatever_goes_wrong_the_hook_ends_well_with_a_line(vault: hard.Vault, tmp_path: Path, what: str) -> None:
    given = b""
    path: object = tmp_path / "t.jsonl"
    if what == "empty name":
        path = ""
    elif what == "folder":
        path = tmp_path
    elif what == "binary":
        (tmp_path / "t.jsonl").write_bytes(os.urandom(2000))
    if what in {"no json", "nothing"}:
        given = b"{" if what == "no json" else b""
        ran = vault.process("hook", "pre-compact", given=given)
        assert (ran.code, ran.out) == (0, "")
    else:
        ran = hook(vault, path)
    assert ran.err.startswith("pyramid: ")
    assert digests(vault) == {}


def test_without_a_vault_the_hook_ends_well_with_a_line(vault: hard.Vault, tmp_path: Path) -> None:
    path = transcript(tmp_path / "t.jsonl", *PUMP)
    (vault.root / "pyramid.toml").unlink()
    assert "no vault" in hook(vault, path).err


def test_where_nothing_runs_in_the_background_the_hook_leaves_all_as_it_is(vault: hard.Vault, tmp_path: Path) -> None:
    vault.config.write_text("[advance]\nbackground = false\n")
    assert hook(vault, transcript(tmp_path / "t.jsonl", *PUMP)).err == ""
    assert digests(vault) == {}


def test_a_session_of_a_summarizer_is_none(vault: hard.Vault, tmp_path: Path) -> None:
    assert hook(vault, transcript(tmp_path / "t.jsonl", *PUMP), PYRAMID_IN_SUMMARIZER="1").err == ""
    assert digests(vault) == {}

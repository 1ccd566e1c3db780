"""The verbs on topics, sessions, records and the queue: what they print, their JSON, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hard
import pytest

from pyramid_fs.extractors import Rules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    return hard.make(tmp_path, monkeypatch)


def good(ran: hard.Ran) -> str:
    assert ran.code == 0, ran
    return ran.out.strip()


def rule(vault: hard.Vault, name: str, *keys: str, text: str = "Oil the hinges.") -> str:
    given = keys or ("confidence: 0.6", "created: 2026-01-01")
    vault.put(f"procedures/{name}.md", "\n".join(["---", "status: pending", *given, "---", text, ""]))
    return name


def test_topics(vault: hard.Vault) -> None:
    assert "There is no topic yet" in good(vault.run("topic", "list"))
    assert good(vault.run("topic", "add", "Moving", "House")) == "moving-house"
    assert vault.run("topic", "add", "moving house").code == 22
    assert vault.run("topic", "add", "!!!").code == 23
    handle = good(vault.run("session", "add", "Packed.", "-t", "Moving House", "--started", "2026-03-01"))
    assert good(vault.run("topic", "list")) == "- moving-house — Moving House [1 session · last 2026-03-01 · open]"
    assert vault.run("topic", "list", "--json").json["topics"][0]["sessions"] == 1
    for verb in ("summarize", "show"):
        out = good(vault.run("topic", verb, "moving", "house"))
        assert f"[[{handle}]] · 2026-03-01" in out
        assert "> Packed." in out
    ran = vault.run("topic", "show", "movin-house")
    assert ran.code == 21
    assert "the closest: moving-house" in ran.err


def test_sessions(vault: hard.Vault) -> None:
    assert "There is no session yet" in good(vault.run("session", "list"))
    ran = vault.run("session", "add", "Packed", "boxes.", "-t", "Attic", "--session", "s1", "--title", "Packing")
    handle = good(ran)
    assert ran.err == "pyramid: made topic attic\n"
    again = vault.run("session", "add", "Moved them.", "--session", "s1")
    assert (good(again), again.err) == (handle, "")
    assert "> Packed boxes.\n>\n> Moved them." in good(vault.run("session", "show", handle))
    good(vault.run("session", "add", "Rested."))
    lines = good(vault.run("session", "list", "-n", "1")).splitlines()
    assert lines[-1] == "1 more: -n 2"
    assert len(vault.run("session", "list", "--json").json["sessions"]) == 2
    assert vault.run("session", "add", " ").code == 2
    assert vault.run("session", "add", "x", "--started", "soon").code == 2
    for shape, name in (("session", "nobody"), ("session", "moving-house"), ("procedure", handle)):
        ran = vault.run(shape, "show", name)
        assert (ran.code, f"pyramid {shape} list" in ran.err) == (21, True)


def test_text_from_standard_input(vault: hard.Vault) -> None:
    ran = vault.process("session", "add", "-", given="Gepackt – 搬家。\n".encode())
    assert ran.code == 0
    assert "搬家" in good(vault.run("session", "show", ran.out.strip()))
    ran = vault.process("procedure", "add", "-", given=b"Oil it.\n")
    assert "> Oil it." in good(vault.run("procedure", "show", ran.out.strip()))


def test_entities(vault: hard.Vault) -> None:
    assert "There is no entity yet" in good(vault.run("entity", "list"))
    kim = good(vault.run("entity", "add", "Kim", "Ödegård", "--kind", "person"))
    ada = good(vault.run("entity", "add", "Ada", "--text", f"Works with [[{kim}]]."))
    assert good(vault.run("entity", "list")).count("confirmed") == 2
    out = good(vault.run("entity", "show", "ada"))
    assert f"> Works with [[{kim}]]." in out
    assert "Linked with:\n- Kim Ödegård" in out
    assert f"[[{ada}]]" in good(vault.run("entity", "related", "kim", "ödegård"))
    assert vault.run("entity", "show", "nobody").code == 21
    assert vault.run("entity", "add", " ").code == 2
    assert good(vault.run("entity", "contradict", ada, kim)) == f"{ada} contradicts {kim}"
    assert "contradicted by another" in good(vault.run("entity", "list"))
    assert good(vault.run("entity", "supersede", ada, kim)) == f"{ada} is superseded by {kim}"
    assert vault.run("entity", "supersede", kim, ada).code == 2
    assert "Ada" not in good(vault.run("context"))


def test_the_queue(vault: hard.Vault) -> None:
    assert good(vault.run("pending")) == "Nothing waits."
    for name in ("one", "two", "three"):
        rule(vault, name)
    rule(vault, "sure", "confidence: 0.9", "created: 2026-01-01", "source: session:s1")
    out = good(vault.run("pending"))
    assert "4 pending. Say yes: pyramid confirm HANDLE…" in out
    assert "  pruned on 2026-01-31 if nobody confirms it" in out
    assert "  from session:s1" in out
    assert good(vault.run("confirm", "one", "[[two]]")) == "one\ntwo"
    assert good(vault.run("confirm", "one")) == "Confirmed already."
    assert good(vault.run("reject", "three")) == "three"
    assert good(vault.run("reject", "three")) == "Pruned already."
    assert vault.run("confirm", "nobody").code == 21
    assert vault.run("confirm", "plot").code == 2
    assert vault.run("confirm").code == 2
    assert [each["handle"] for each in vault.run("pending", "--json").json["pending"]] == ["sure"]
    listed = good(vault.run("procedure", "list"))
    assert "three" not in listed
    assert "three" in good(vault.run("procedure", "list", "--all"))


def test_prune(vault: hard.Vault) -> None:
    rule(vault, "old")
    dry = vault.run("prune", "--dry-run")
    assert "due on 2026-01-31" in good(dry)
    assert "1 would be pruned." in dry.out
    assert len(vault.run("pending", "--json").json["pending"]) == 1
    found = vault.run("prune", "--json").json
    assert (found["dry_run"], [each["due"] for each in found["pruned"]]) == (False, ["2026-01-31"])
    assert good(vault.run("prune")) == "0 pruned."


def test_backfill(vault: hard.Vault) -> None:
    text = "Always run the small tests before you push. Ada Lovelace of Hull keeps bees."
    wanted = [each for each in Rules().extract(text) if each.confidence >= 0.5]
    assert wanted
    vault.put("sessions/2026-03-01-a.md", text + "\n")
    vault.put("sessions/2026-05-01-b.md", "Rested.\n")
    assert "Sessions to go through: 2; done before: 0." in good(vault.run("backfill", "--dry-run"))
    ran = vault.run("backfill", "--json", "--before", "2026-04-01")
    assert (ran.json["qualifying"], ran.json["processed"]) == (1, 1)
    assert ran.json["entities"] + ran.json["procedures"] == len(wanted)
    assert "Sessions to go through: 1; done before: 1." in good(vault.run("backfill"))
    assert "Sessions to go through: 0; done before: 2." in good(vault.run("backfill"))
    assert len(vault.run("pending", "--json").json["pending"]) == len(wanted)
    assert vault.run("backfill", "--before", "soon").code == 2


def test_a_session_that_fails_is_named_and_ends_in_its_own_code(vault: hard.Vault) -> None:
    vault.put("sessions/2026-03-01-a.md", "Walked.\n")
    vault.config.write_text('[extractor]\nkind = "command"\ncommand = ["/bin/sh", "-c", "exit 3"]\n')
    ran = vault.run("backfill")
    assert ran.code == 30
    assert "2026-03-01-a" in ran.err


def test_context(vault: hard.Vault) -> None:
    assert "plot" in good(vault.run("context"))
    good(vault.run("procedure", "add", "Drain the pump before frost."))
    assert "Drain the pump" in good(vault.run("context", "what", "about", "the", "pump?"))
    out = good(vault.run("context", "--", "-zyzzyva", '"qq"'))
    assert "nothing fits the query" in out


@pytest.mark.parametrize("verb", ["topic", "session", "entity", "procedure"])
def test_a_shape_without_a_word_shows_its_help(vault: hard.Vault, verb: str) -> None:
    ran = vault.run(verb, "--help")
    assert ran.code == 0
    assert "Commands:" in ran.out

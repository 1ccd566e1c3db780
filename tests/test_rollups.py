"""Summaries that an agent writes: a batch is handed out with a ticket, and its text is taken once, or refused."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import hard
import pytest

from pyramid_fs import Memory
from pyramid_fs.errors import NoSuchModel, PyramidError, RefusedWrite, SummarizerFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = "format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n"
GOOD = "Row 1 and row 2 were hoed, and the butt stood between seven and fourteen litres by the evening."


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    """A vault where a batch is two notes, a roll-up two summaries, and an agent writes."""
    made = hard.make(tmp_path, monkeypatch)
    made.put("pyramid.toml", SETTINGS)
    made.config.write_text('[summarizer]\nkind = "none"\n')
    made.fill(5)
    return made


@pytest.fixture
def memory(vault: hard.Vault) -> Iterator[Memory]:
    with Memory(vault.root) as opened:
        yield opened


def good(number: int) -> str:
    return f"Batch {number}: the rows were hoed, and the water butt stood lower by the evening than in the morning."


def refused(memory: Memory, ticket: str, text: str, kind: type[PyramidError], says: str) -> None:
    before = sorted(path.name for path in (memory.vault.root / "models").rglob("*.md"))
    with pytest.raises(kind, match=says):
        memory.write_rollup(ticket, text)
    assert sorted(path.name for path in (memory.vault.root / "models").rglob("*.md")) == before


# The main job


def test_an_agent_writes_all_that_is_due_and_the_pyramid_balances(vault: hard.Vault, memory: Memory) -> None:
    written, tiers = 0, []
    while due := memory.next_rollup():
        assert due.ticket.startswith(f"plot t{due.tier} ")
        assert (due.model, due.left, len(due.items)) == ("plot", (), 2)
        assert due.target == (600 if due.tier == 0 else 800)
        tiers.append(due.tier)
        made = memory.write_rollup(due.ticket, good(written), by="spade")
        assert made.more == due.more
        assert good(written).split(": ")[1] in (vault.root / made.path).read_text()
        written += 1
    assert tiers == [0, 0, 1]
    assert vault.counts() == (5, 1, {"0": 2, "1": 1})
    assert all('summarizer: "agent:spade"' in path.read_text() for path in vault.summaries(0))
    vault.is_sound()


def test_a_batch_is_handed_out_whole_with_its_rules(memory: Memory) -> None:
    due = memory.next_rollup(["plot"])
    assert due
    assert [item.handle for item in due.items] == ["row1", "row2"]
    assert [item.date[:10] for item in due.items] == ["2026-02-01", "2026-02-02"]
    assert "hand2" in due.items[1].text
    assert str(due.target) in due.rules
    assert due.more == 2


def test_nothing_due_is_nothing(vault: hard.Vault, memory: Memory) -> None:
    vault.put("models/shed/shed.md", "A shed.\n")
    assert memory.next_rollup(["shed"]) is None
    with pytest.raises(NoSuchModel, match="plot"):
        memory.next_rollup(["plots"])


def test_asking_twice_hands_out_the_same_and_writes_nothing(vault: hard.Vault, memory: Memory) -> None:
    before = vault.bytes()
    assert memory.next_rollup() == memory.next_rollup()
    assert vault.bytes() == before


def test_another_summarizer_does_not_keep_an_agent_from_writing(vault: hard.Vault) -> None:
    vault.config.write_text("")
    with Memory(vault.root) as memory:
        due = memory.next_rollup()
        assert due
        memory.write_rollup(due.ticket, GOOD)
    assert 'summarizer: "agent"' in vault.summaries(0)[0].read_text()


# Refused, and nothing stored


def test_a_ticket_is_good_once(vault: hard.Vault, memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    made = memory.write_rollup(due.ticket, GOOD)
    refused(memory, due.ticket, GOOD, RefusedWrite, f"written meanwhile: {made.handle}.*ask for the next")
    vault.is_sound()


def test_what_somebody_else_wrote_meanwhile_stands(vault: hard.Vault, memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    vault.config.write_text("")
    assert vault.run("advance", "--limit", "1").code == 0
    (handle,) = (path.stem for path in vault.summaries(0))
    refused(memory, due.ticket, GOOD, RefusedWrite, f"written meanwhile: {handle}")


def test_a_source_that_changed_is_read_again_first(vault: hard.Vault, memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    vault.note("row2", "Row 2 was never hoed at all, and the water butt was empty.", created="2026-02-02T09:00:00Z")
    refused(memory, due.ticket, GOOD, RefusedWrite, "a source changed.*ask for it again")
    again = memory.next_rollup()
    assert again
    assert again.ticket != due.ticket
    assert "never hoed" in again.items[1].text
    memory.write_rollup(again.ticket, GOOD)
    vault.is_sound()


def test_a_change_that_leaves_the_words_as_they_are_is_none(vault: hard.Vault, memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    path = vault.root / "models/plot/row2.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert memory.write_rollup(due.ticket, GOOD).tier == 0


def test_an_older_note_that_comes_between_makes_another_batch_due(vault: hard.Vault, memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    vault.note("row0", "Row 0 was dug over before the frost.", created="2026-01-01T09:00:00Z")
    refused(memory, due.ticket, GOOD, RefusedWrite, "not due any more")


def test_a_note_that_is_gone_makes_another_batch_due(vault: hard.Vault, memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    (vault.root / "models/plot/row1.md").unlink()
    refused(memory, due.ticket, GOOD, RefusedWrite, "not due any more")


LONG_NOTE = " ".join(f"On walk {number} gate {number * 7} stood open and heron {number} flew." for number in range(40))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "wrote nothing"),
        (" \n ", "wrote nothing"),
        ("Hoed.", "wrote only 5 characters"),
        ("The rows were hoed. " * 200, "wrote 3,999 characters where about 600"),
        ('{"summary": "The rows were hoed and the butt stood lower by the evening."}', "JSON, not prose"),
        ('["The rows were hoed and the butt stood lower by the evening."]', "JSON, not prose"),
        ("The rows were hoed.\n---\nThe butt stood lower by the evening.", "break the file"),
        ("The rows were hoed.\n<<<<<<< mine\nThe butt stood lower in the evening.", "break the file"),
        ("The rows were hoed \0 and the butt stood lower by the evening.", "break the file"),
    ],
)
def test_a_text_that_is_no_summary_is_refused_with_the_reason(memory: Memory, text: str, says: str) -> None:
    due = memory.next_rollup()
    assert due
    refused(memory, due.ticket, text, SummarizerFailed, f"not stored: .*{says}.*same ticket")
    assert memory.write_rollup(due.ticket, GOOD).tier == 0


def test_an_echo_of_the_sources_is_refused(vault: hard.Vault, memory: Memory) -> None:
    vault.note("row1", LONG_NOTE[:1200], created="2026-02-01T09:00:00Z")
    due = memory.next_rollup()
    assert due
    refused(memory, due.ticket, "\n".join(item.text for item in due.items), SummarizerFailed, "gave the notes back")


@pytest.mark.parametrize(
    "ticket",
    [
        "plot t² 0123456789ab-0123456789ab",
        "",
        " ",
        "plot",
        "plot t0",
        "plot t0 ",
        "plot t0 abc",
        "plot tx 0123456789ab-0123456789ab",
        "t0 a-b",
        "名",
        "\0",
        "0123456789ab-0123456789ab",
        " t0 0123456789ab-0123456789ab",
        "plot t0 " + "a" * 9000,
        '{"ticket": 1}',
    ],
)
def test_what_is_no_ticket_is_refused(memory: Memory, ticket: str) -> None:
    refused(memory, ticket, GOOD, UsageError, "is no ticket: hand in the one that came with the batch")


def test_a_made_up_ticket_of_the_right_form_is_refused(memory: Memory) -> None:
    refused(memory, "plot t0 0123456789ab-0123456789ab", GOOD, RefusedWrite, "not due any more")
    refused(memory, "plot t7 0123456789ab-0123456789ab", GOOD, RefusedWrite, "not due any more")
    refused(memory, "../plot t0 0123456789ab-0123456789ab", GOOD, UsageError, "not there any more")


def test_the_ticket_of_another_tier_is_refused(memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    refused(memory, due.ticket.replace(" t0 ", " t1 "), GOOD, RefusedWrite, "not due any more")


def test_the_ticket_of_a_model_that_is_gone_is_refused(vault: hard.Vault, memory: Memory) -> None:
    due = memory.next_rollup()
    assert due
    assert vault.run("model", "rename", "plot", "allotment").code == 0
    with pytest.raises(UsageError, match="'plot', which is not there any more; ask for the next batch"):
        memory.write_rollup(due.ticket, GOOD)
    again = memory.next_rollup()
    assert again
    assert again.model == "allotment"
    memory.write_rollup(again.ticket, GOOD)
    vault.is_sound()


def test_a_model_of_several_words_has_tickets_too(vault: hard.Vault, memory: Memory) -> None:
    vault.fill(2, "at t0 sea 海")
    due = memory.next_rollup(["at t0 sea 海"])
    assert due
    assert memory.write_rollup(due.ticket, GOOD).model == "at t0 sea 海"
    vault.is_sound()


def test_of_two_agents_that_hand_in_at_once_one_is_stored(vault: hard.Vault) -> None:
    with Memory(vault.root) as memory:
        due = memory.next_rollup()
    assert due
    ticket, start, outcomes = due.ticket, threading.Barrier(2), list[str]()

    def agent(number: int) -> None:
        with Memory(vault.root) as mine:
            start.wait()
            try:
                outcomes.append(mine.write_rollup(ticket, good(number), by=f"agent{number}").handle)
            except RefusedWrite as error:
                outcomes.append(f"refused: {error}")

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = [outcome for outcome in outcomes if outcome.startswith("refused")]
    (won,) = (outcome for outcome in outcomes if outcome not in lost)
    assert len(lost) == 1
    assert won in lost[0]
    assert [path.stem for path in vault.summaries(0)] == [won]
    vault.is_sound()


def test_a_vault_of_a_newer_format_hands_out_nothing(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 99\n")
    with Memory(vault.root) as memory, pytest.raises(PyramidError, match="format"):
        memory.next_rollup()


def test_a_summary_that_an_agent_wrote_ends_the_trouble_of_its_model(vault: hard.Vault) -> None:
    vault.summarizer("echo cross >&2; exit 3")
    assert vault.run("advance").code == 30
    assert "failed" in str(vault.status()["models"][0]["waiting"])
    with Memory(vault.root) as memory:
        due = memory.next_rollup()
        assert due
        memory.write_rollup(due.ticket, GOOD)
    assert vault.status()["models"][0]["waiting"] == []


# The command line


def test_on_the_command_line_a_batch_goes_out_and_its_text_comes_in(vault: hard.Vault) -> None:
    shown = vault.run("rollup", "next")
    assert shown.code == 0
    data: dict[str, Any] = vault.run("rollup", "next", "plot", "--json").json["rollup"]
    assert f"pyramid rollup write '{data['ticket']}' 'TEXT'" in shown.out
    assert "> Row 1 was hoed" in shown.out
    assert "After this one 2 more are due." in shown.out
    made = vault.run("rollup", "write", data["ticket"], GOOD, "--by", "me", "--json")
    assert (made.code, made.json["tier"], made.json["more"]) == (0, 0, 2)
    assert made.err == "pyramid: 2 more due: pyramid rollup next\n"
    assert vault.run("rollup", "write", data["ticket"], GOOD).code == 24
    assert vault.run("rollup", "write", "nonsense", GOOD).code == 2
    assert vault.run("rollup", "next", "plto").code == 20


def test_on_the_command_line_a_bad_text_is_refused_and_a_good_one_read_from_standard_input(vault: hard.Vault) -> None:
    ticket = vault.run("rollup", "next", "--json").json["rollup"]["ticket"]
    assert vault.run("rollup", "write", ticket, "short").code == 30
    ran = vault.process("rollup", "write", ticket, "-", given=GOOD.encode())
    assert ran.code == 0
    assert ran.out.strip() == vault.summaries(0)[0].stem


def test_when_nothing_is_due_the_command_line_says_so(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", "format = 1\n")
    assert vault.run("rollup", "next").out.startswith("Nothing is due.")
    assert json.loads(vault.run("rollup", "next", "--json").out)["rollup"] is None


def test_a_huge_source_stands_in_the_batch_of_a_shell(vault: hard.Vault, memory: Memory) -> None:
    """A shell takes an answer of any size; an agent is given the call instead."""
    vault.note("row1", "Row 1. " + LONG_NOTE * 200, created="2026-02-01T09:00:00Z")
    due = memory.next_rollup()
    assert due
    assert [item.handle for item in due.items] == ["row1"]
    assert due.left == ()

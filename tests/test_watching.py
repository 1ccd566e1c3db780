from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pyramid_fs import times, watching
from pyramid_fs.notes import Dated, Note
from pyramid_fs.pyramid import Files, Shape, State, derive
from pyramid_fs.watching import WHOLE, Beat, Prospect

NOW = datetime(2026, 3, 14, 9, tzinfo=UTC)
SHAPE = Shape(batch_notes=2, settle=timedelta(seconds=30))


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("models/alice/n.md", "models/alice"),
        ("models/alice/2026-03/n.MD", "models/alice"),
        ("models/alice/tier-0/alice-t0-0001-ab12.md", "models/alice"),
        ("models/v1.2/n.md", "models/v1.2"),
        ("topics/hedges.md", "topics"),
        ("sessions/old/day.md", "sessions"),
        ("pyramid.toml", WHOLE),
        ("models/n.md", None),
        ("n.md", None),
        (".obsidian/plugins/x/README.md", None),
        (".trash/old.md", None),
        (".git/notes.md", None),
        ("models/.stversions/garden/old.md", None),
        ("models/alice/.trash/n.md", None),
        ("models/alice/node_modules/x.md", None),
        ("models/alice/.pyramid-0a1b.tmp", None),
        ("models/alice/.n.md.swp", None),
        ("models/alice/n.md~", None),
        ("models/alice/picture.png", None),
        ("models/alice/n.sync-conflict-20260314-101500-ABCDEF7.md", None),
        ("ledger/x7q2aa.jsonl", None),
        ("projects/plan.md", None),
    ],
)
def test_the_folder_that_a_file_is_about(path: str, scope: str | None) -> None:
    assert watching.scope_of(path, is_folder=False) == scope


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("models", WHOLE),
        ("topics", WHOLE),
        ("models/alice", "models/alice"),
        ("models/alice/2026-03", "models/alice"),
        ("models/alice/name.md", "models/alice"),
        ("models/.stversions", None),
        ("models/alice/.obsidian", None),
        (".git", None),
        ("projects", None),
    ],
)
def test_the_folder_that_a_folder_is_about(path: str, scope: str | None) -> None:
    assert watching.scope_of(path, is_folder=True) == scope


def test_models_of_scopes() -> None:
    assert watching.models_of([]) == []
    assert watching.models_of({"models/b", "models/a"}) == ["a", "b"]
    assert watching.models_of({"models/a", "topics"}) is None
    assert watching.models_of({"models/a", WHOLE}) is None


def test_the_agenda_gives_what_is_due_once() -> None:
    agenda = {("scan", ""): 5.0, ("model", "b"): 2.0, ("model", "a"): 2.0}
    assert watching.pause(agenda, 1.5) == 0.5
    assert watching.pause(agenda, 9.0) == 0.0
    assert watching.take_due(agenda, 2.0) == [("model", "a"), ("model", "b")]
    assert agenda == {("scan", ""): 5.0}
    assert watching.take_due(agenda, 2.0) == []
    assert watching.pause({}, 3.0) == 0.0


def state(*ages: float) -> State:
    """Make a model whose notes were saved so many seconds ago."""
    notes = [
        Note(
            path=f"models/plot/n{at}.md",
            handle=f"n{at}",
            created=NOW - timedelta(seconds=age),
            dated=Dated.FILE,
            digest=f"{at:032}",
            chars=50,
            lines=1,
            touched=NOW - timedelta(seconds=age),
        )
        for at, age in enumerate(ages)
    ]
    return derive(Files(model="plot", notes=tuple(notes), summaries=(), retired=frozenset()))


def test_a_batch_of_settled_notes_is_due() -> None:
    assert watching.prospect(state(90, 60), SHAPE, NOW) == Prospect(due=True)
    assert watching.prospect(state(90, 30), SHAPE, NOW) == Prospect(due=True)
    assert watching.prospect(state(90), SHAPE, NOW) == Prospect()
    assert watching.prospect(state(), SHAPE, NOW) == Prospect()


def test_what_is_being_typed_is_asked_about_again_when_it_will_have_settled() -> None:
    found = watching.prospect(state(90, 10, 4), SHAPE, NOW)
    assert found == Prospect(due=False, at=NOW + timedelta(seconds=21))
    at = found.at
    assert at
    assert watching.prospect(state(90, 10, 4), SHAPE, at).due


def test_a_settled_batch_does_not_wait_for_a_note_that_is_being_typed() -> None:
    assert watching.prospect(state(90, 60, 4), SHAPE, NOW) == Prospect(due=True, at=NOW + timedelta(seconds=27))


@pytest.mark.parametrize("now", [NOW, times.LAST - timedelta(seconds=9)])
def test_a_file_time_at_the_end_of_the_calendar_is_none_that_nobody_can_wait_for(now: datetime) -> None:
    notes = tuple(replace(note, touched=times.LAST) for note in state(1, 1).notes)
    found = derive(Files(model="plot", notes=notes, summaries=(), retired=frozenset()))
    assert watching.prospect(found, SHAPE, now).at in {None, times.LAST}


def test_a_note_that_a_person_must_look_at_wakes_nobody() -> None:
    notes = tuple(replace(note, problem="it holds NUL bytes", digest="") for note in state(1, 1).notes)
    found = derive(Files(model="plot", notes=notes, summaries=(), retired=frozenset()))
    assert watching.prospect(found, SHAPE, NOW) == Prospect()


def test_a_heartbeat_is_read_as_it_was_spelled() -> None:
    beat = Beat(12, 1.5, 2.5, "events", 2.25, "plot: no answer, “ä” \udcff")
    assert watching.read_beat(watching.spell_beat(beat)) == beat
    for text in ("", "{}", "[]", "null", "\0", '{"pid": "x", "started": 1}'):
        assert watching.read_beat(text) is None


def test_what_is_said_of_a_watcher() -> None:
    beat = Beat(12, 0.0, 1000.0, "events", 980.0)
    assert watching.said(beat, 1003.0, is_held=True) == (
        "running (pid 12), told of changes by the system, last change 23 s ago"
    )
    assert watching.said(replace(beat, changed=0.0, mode="polling"), 1003.0, is_held=True) == (
        "running (pid 12), looks every few seconds"
    )
    assert watching.said(replace(beat, failure="plot: no answer"), 1300.0, is_held=True) == (
        "stuck (pid 12): not heard of for 5 min; end it and start it again; failed last: plot: no answer"
    )
    assert watching.said(beat, 1003.0, is_held=False) == "not running since 1970-01-01T00:16:40Z: pyramid watch"


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 min"), (7200, "2 h"), (200_000, "2 d")]
)
def test_spans_of_time(seconds: float, text: str) -> None:
    assert watching.ago(seconds) == text


def test_the_kind_of_the_disk_that_a_folder_lies_on() -> None:
    mounts = "/dev/a / ext4 rw 0 0\nhost:/x /home/me/My\\040Notes nfs4 rw 0 0\nbroken\n/dev/b /home ext4 rw 0 0\n"
    assert watching.disk_kind(mounts, "/home/me/My Notes/vault") == "nfs4"
    assert watching.disk_kind(mounts, "/home/me/My Notes") == "nfs4"
    assert watching.disk_kind(mounts, "/home/me/My Notes too") == "ext4"
    assert watching.disk_kind(mounts, "/x") == "ext4"
    assert watching.disk_kind("", "/x") == ""


def test_folders_that_the_kernel_does_not_listen_at() -> None:
    text = "pos:\t0\ninotify wd:2 ino:1a2b sdev:800013 mask:fce ignored_mask:0\ninotify wd:1 ino:ff sdev:8 mask:2\n"
    heard = watching.numbers_heard([text, "pos:\t0\n"])
    assert heard == {0x1A2B, 0xFF}
    assert watching.unheard({"/v/a": 0x1A2B, "/v/c": 3, "/v/b": 2}, heard) == ["/v/b", "/v/c"]
    assert "2 of 3 folders" in watching.deaf_text(2, 3, "100")
    assert "100 watches" in watching.deaf_text(2, 3, "100")

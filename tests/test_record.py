"""Recording one note: never lost, never changed, never twice, and later than all before it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, cli, record, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import NoSuchModel, RefusedWrite, UnknownFormat, UsageError
from pyramid_fs.mcp_server import answers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyramid_fs.notes import Note

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
MODELS = {"alice": "A friend.", "bob": "", "carol": ""}


@dataclass
class Clock:
    """A clock that a test sets."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models=MODELS)
    return tmp_path / "vault"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@contextmanager
def opened(root: Path, clock: Clock) -> Iterator[Memory]:
    with Memory(root, environ=environ(root), clock=clock) as memory:
        yield memory


def environ(root: Path) -> dict[str, str]:
    return {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}


@pytest.fixture
def memory(root: Path, clock: Clock) -> Iterator[Memory]:
    with opened(root, clock) as memory:
        yield memory


def files_of(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def notes(memory: Memory, model: str) -> list[Note]:
    return sorted(memory.census.fresh(model).state.notes, key=lambda note: note.created)


def texts(memory: Memory, model: str) -> list[str]:
    return [memory.vault.page(note.text_path or note.path).body for note in notes(memory, model)]


# What lies on disk then


def test_a_note_is_one_file_named_by_time_and_words_with_its_source(memory: Memory, root: Path) -> None:
    made = memory.record("Alice prefers the morning train.", ["alice"], source="claude-code:5f0c")
    assert re.fullmatch(r"2026-11-29-201530-alice-prefers-the-morning-train-[0-9a-z]{4}", made.handle)
    assert made.path == f"models/alice/2026-11/{made.handle}.md"
    assert made.models == ("alice",)
    assert (root / made.path).read_text() == (
        '---\ncreated: 2026-11-29T20:15:30Z\nsource: "claude-code:5f0c"\n---\nAlice prefers the morning train.\n'
    )


def test_a_note_in_several_models_has_its_text_once_and_counts_in_each(memory: Memory, root: Path) -> None:
    made = memory.record("Beans.", ["bob", "alice", "bob"])
    assert made.models == ("bob", "alice")
    (embed,) = [path for path in files_of(root) if path.startswith("models/alice/2026")]
    assert (root / embed).read_text() == f"![[{made.handle}]]\n"
    assert embed.rpartition("/")[2] != f"{made.handle}.md"
    assert texts(memory, "alice") == texts(memory, "bob") == ["Beans."]
    assert {note.created for note in (*notes(memory, "alice"), *notes(memory, "bob"))} == {NOW}


TEXTS = [
    "    an indented line\nand one more",
    "\tcode()\n",
    '{"text": "as it was sent", "n": [1, 2]}',
    "[1, 2, 3]",
    "# Heading\n\n- [ ] task\n\n```python\nx = 1\n```\n\n> quoted",
    "---\nlooks: like front matter\n---\ntext",
    "---",
    "--- \na rule above",
    "👩‍👩‍👧‍👦 e\u0301 🇩🇪 \u200bzero width",
    "日本語のメモ。明日は雨。",
    "שלום עולם",
    "a\u2028b\u2029c\x0bd\x85e",
    "null",
    "true",
    "#tag #another [[link|alias]] ![[embed#part]]",
    "trailing backslash \\",
    "x" * 20_000,
    "\ufeffbegins with a mark",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_kept_as_it_was_sent(memory: Memory, text: str) -> None:
    made = memory.record(text, ["alice"])
    assert memory.vault.page(made.path).body == text.rstrip()
    assert memory.expand(made.handle).text.text == text.rstrip()
    assert not memory.doctor()


def test_line_ends_become_one_kind_and_blank_ends_go(memory: Memory, root: Path) -> None:
    made = memory.record("one\r\ntwo\rthree\n\n  \n", ["alice"])
    assert (root / made.path).read_bytes().endswith(b"---\none\ntwo\nthree\n")


@pytest.mark.parametrize("text", ["", " \n\t ", "a\0b", "caf\udce9"])
def test_what_is_no_text_is_refused_and_nothing_is_written(memory: Memory, root: Path, text: str) -> None:
    before = files_of(root)
    with pytest.raises(UsageError):
        memory.record(text, ["alice"], create=True)
    with pytest.raises(UsageError):
        memory.record(text, ["dora"], create=True)
    assert files_of(root) == before


# Models


def test_an_unknown_model_writes_nothing_and_lists_the_closest(memory: Memory, root: Path) -> None:
    before = files_of(root)
    with pytest.raises(NoSuchModel, match="no model 'alise'; the closest: alice"):
        memory.record("Beans.", ["bob", "alise"])
    for name in ("../bob", "bob/2026-11", "", ".", "BOB", "models/bob"):
        with pytest.raises(NoSuchModel):
            memory.record("Beans.", [name])
    with pytest.raises(UsageError, match="record -m NAME"):
        memory.record("Beans.", [])
    assert files_of(root) == before


def test_a_model_may_be_made_with_its_first_note(memory: Memory) -> None:
    assert memory.record("Beans.", ["dora", "alice"], create=True).models == ("dora", "alice")
    assert texts(memory, "dora") == ["Beans."]
    with pytest.raises(NoSuchModel):
        memory.record("Bears.", ["DORA"], create=True)  # one to some disks, so no second model


def test_an_archived_model_takes_no_note_and_says_how_to_bring_it_back(memory: Memory, root: Path) -> None:
    memory.archive_model("bob")
    memory.fold_model("carol", "alice")
    before = files_of(root)
    with pytest.raises(RefusedWrite, match="'bob' is archived; `pyramid model unarchive bob` brings it back"):
        memory.record("Beans.", ["alice", "bob"])
    with pytest.raises(RefusedWrite, match="its memory goes on in alice"):
        memory.record("Beans.", ["carol"])
    assert files_of(root) == before
    memory.archive_model("bob", archived=False)
    assert memory.record("Beans.", ["alice", "bob"]).models == ("alice", "bob")


def test_a_model_that_a_person_archives_by_hand_takes_none_either(memory: Memory, root: Path) -> None:
    memory.record("Beans.", ["alice"])
    (root / "models/alice/alice.md").write_text("---\ntype: model\narchived: yes\n---\n")
    with pytest.raises(RefusedWrite, match="is archived"):
        memory.record("More beans.", ["alice"])


def test_an_archived_model_stays_archived_when_its_folder_is_renamed(memory: Memory, root: Path) -> None:
    memory.archive_model("bob")
    (root / "models/bob").rename(root / "models/robert")
    with pytest.raises(RefusedWrite, match="'robert' is archived"):
        memory.record("Beans.", ["robert"])


def test_a_vault_of_a_newer_version_takes_no_note(root: Path, clock: Clock) -> None:
    (root / "pyramid.toml").write_text("format = 2\n")
    before = files_of(root)
    with opened(root, clock) as memory, pytest.raises(UnknownFormat, match="newer version"):
        memory.record("Beans.", ["alice"])
    assert files_of(root) == before


# Times


def test_times_increase_in_each_model_with_a_clock_that_stands_still_or_goes_back(memory: Memory, clock: Clock) -> None:
    for minutes in (0, 0, -10, -5000, 0, 0, 5, 5, -1):
        clock.now = NOW + timedelta(minutes=minutes)
        memory.record(f"At {minutes}, {random.random()}.", ["alice"])
    found = [note.created for note in notes(memory, "alice")]
    assert len(set(found)) == 9
    assert found[0] == NOW
    assert found[6] == NOW + timedelta(minutes=5)
    assert [text.split(",")[0] for text in texts(memory, "alice")] == [
        f"At {minutes}" for minutes in (0, 0, -10, -5000, 0, 0, 5, 5, -1)
    ]


def test_so_do_they_when_the_cache_is_deleted_in_between(root: Path, clock: Clock) -> None:
    for number in range(4):
        with opened(root, clock) as memory:
            memory.record(f"Number {number}.", ["alice", "bob"])
            assert texts(memory, "alice") == texts(memory, "bob") == [f"Number {n}." for n in range(number + 1)]
        shutil.rmtree(root.parent / "cache")
        clock.now -= timedelta(hours=1)


def test_so_do_they_over_several_models(memory: Memory) -> None:
    draw, order = random.Random(3), dict[str, list[str]]()
    for number in range(20):
        models = draw.sample(list(MODELS), draw.randint(1, 3))
        for model in models:
            order.setdefault(model, []).append(f"Number {number}.")
        memory.record(f"Number {number}.", models)
    for model, expected in order.items():
        assert texts(memory, model) == expected
        found = [note.created for note in notes(memory, model)]
        assert len(set(found)) == len(found)


def test_a_note_dated_in_the_far_future_by_hand_does_not_drag_the_others_along(memory: Memory, root: Path) -> None:
    (root / "models/alice/odd.md").write_text("---\ncreated: 2099-01-01\n---\nFrom the future.\n")
    made = memory.record("Beans.", ["alice"])
    assert made.handle.startswith("2026-11-29-201530-")


def test_nor_does_it_once_it_was_summarized(memory: Memory, root: Path) -> None:
    for number in range(9):
        memory.record(f"Number {number}.", ["alice"])
    odd = root / "models/alice/odd.md"
    odd.write_text("---\ncreated: 2099-01-01\n---\nFrom the future.\n")
    os.utime(odd, (0, 0))
    assert memory.advance().written
    assert memory.verify().balances
    assert memory.record("Beans.", ["alice", "bob"]).handle.startswith("2026-11-29-2015")
    assert memory.record("Peas.", ["bob"]).handle.startswith("2026-11-29-2015")


def test_a_date_that_is_given_is_taken(memory: Memory) -> None:
    memory.record("Now.", ["alice"])
    made = memory.record("Then.", ["alice"], created=memory.time("2020-02-03"))
    assert made.handle.startswith("2020-02-03-000000-then-")
    assert texts(memory, "alice") == ["Then.", "Now."]


# Repeats


def test_an_exact_repeat_within_a_day_adds_the_missing_models_and_no_second_text(memory: Memory, clock: Clock) -> None:
    first = memory.record("Beans.", ["alice"])
    clock.now += timedelta(hours=23, minutes=59)
    again = memory.record("Beans.", ["bob", "alice"])
    assert (again.handle, again.path, again.models, again.repeat) == (first.handle, first.path, ("alice", "bob"), True)
    third = memory.record("Beans.", ["carol"])
    assert (third.handle, third.models) == (first.handle, ("alice", "bob", "carol"))
    assert [len(notes(memory, model)) for model in MODELS] == [1, 1, 1]
    assert memory.recall("beans").hits[0].models == ("alice", "bob", "carol")


def test_a_repeat_of_a_note_that_a_summary_has_adds_no_second_note_either(memory: Memory) -> None:
    first = [memory.record(f"Number {number} costs 7 euros.", ["alice"]).handle for number in range(10)]
    memory.advance()
    assert memory.record("Number 3 costs 7 euros.", ["alice", "bob"]).handle == first[3]
    assert [len(notes(memory, model)) for model in ("alice", "bob")] == [10, 1]


def test_a_repeat_after_a_day_is_a_new_observation(memory: Memory, clock: Clock) -> None:
    first = memory.record("Beans.", ["alice"])
    clock.now += timedelta(hours=24)
    second = memory.record("Beans.", ["alice"])
    assert (second.handle != first.handle, second.repeat) == (True, False)
    assert texts(memory, "alice") == ["Beans.", "Beans."]


@pytest.mark.parametrize("other", ["beans.", "Beans!", "Beans", "Beans.\n\nBeans.", "  Beans."])
def test_a_text_that_differs_by_anything_is_another_note(memory: Memory, other: str) -> None:
    first = memory.record("Beans.", ["alice"])
    assert memory.record(other, ["alice"]).handle != first.handle
    assert texts(memory, "alice") == ["Beans.", other]


def test_two_notes_that_begin_with_the_same_80_characters_both_stay(memory: Memory) -> None:
    begin = "The meeting about the harbour, the boat, the house, the garden and the train was moved to "
    assert len(begin) > 80
    handles = {memory.record(begin + day, ["alice"]).handle for day in ("Monday.", "Tuesday.")}
    assert len(handles) == 2
    assert texts(memory, "alice") == [begin + "Monday.", begin + "Tuesday."]


def test_a_repeat_is_known_with_the_cache_deleted_and_in_another_process(root: Path, clock: Clock) -> None:
    with opened(root, clock) as memory:
        first = memory.record("Beans.", ["alice"])
    shutil.rmtree(root.parent / "cache")
    with opened(root, clock) as memory, opened(root, clock) as other:
        assert memory.record("Beans.", ["bob"]).handle == first.handle
        assert other.record("Beans.", ["carol"]).models == ("alice", "bob", "carol")


def test_a_note_that_was_edited_or_deleted_since_is_no_first_note(memory: Memory, root: Path) -> None:
    one, two = (memory.record(text, ["alice"]) for text in ("Beans.", "Bears."))
    (root / one.path).write_text("---\ncreated: 2026-11-29T20:15:30Z\n---\nPeas.\n")
    (root / two.path).unlink()
    assert memory.record("Beans.", ["bob"]).path.startswith("models/bob/")
    assert memory.record("Bears.", ["bob"]).path.startswith("models/bob/")
    assert texts(memory, "bob") == ["Beans.", "Bears."]


def test_a_note_that_was_forgotten_may_be_recorded_again(memory: Memory, root: Path) -> None:
    import hashlib

    first = memory.record("Beans.", ["alice"])
    entry = {"forgot": hashlib.sha256(first.handle.encode()).hexdigest(), "digest": pages.digest("Beans."), "at": "x"}
    (root / "ledger" / "x.jsonl").write_text(json.dumps(entry) + "\n")
    again = memory.record("Beans.", ["alice"])
    assert (again.handle != first.handle, again.repeat) == (True, False)
    assert texts(memory, "alice") == ["Beans."]


def test_a_repeat_in_a_model_that_was_archived_since_is_not_lost(memory: Memory) -> None:
    first = memory.record("Beans.", ["alice"])
    memory.archive_model("alice")
    again = memory.record("Beans.", ["bob"])
    assert (again.handle, again.models) == (first.handle, ("alice", "bob"))
    assert texts(memory, "bob") == ["Beans."]


# Secrets


def test_a_secret_is_warned_of_and_kept(memory: Memory) -> None:
    text = "password: " + "correct-horse-battery\nhttps://admin:" + "hunter2hunter2@example.org/"
    made = memory.record(text, ["alice"])
    assert (
        made.warnings
        == (
            "this looks like a secret (Secret Keyword), and notes are plain text",
            "this looks like a secret (Basic Auth Credentials), and notes are plain text",
        )
        or len(made.warnings) == 2
    )
    assert texts(memory, "alice") == [text]
    assert memory.record("Beans.", ["alice"]).warnings == ()


# Texts that no summary takes in

CONFLICT = "The pump:\n<<<<<<< HEAD\nleaks\n=======\nruns\n>>>>>>> origin/main\nSo far."
MARKED = (
    "it holds git's conflict markers: a merge was not finished in it; no summary takes it in until the file holds one "
    "version, or shows the markers in a fence of code"
)


def gone(name: str) -> str:
    return f"the note it embeds is gone: {name}; no summary takes it in until the link in the file is right"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (CONFLICT, MARKED),
        (CONFLICT.replace("\n", "\r\n"), MARKED),
        (CONFLICT.replace("=======", "||||||| 1f2e\nleaked\n======="), MARKED),
        (f"```\ncode\n```\n{CONFLICT}", MARKED),
        ("![[nowhere]]", gone("nowhere")),
        (" \n![[notes/No where.md|Look]]\n\n", gone("notes/No where")),
    ],
)
def test_a_text_that_no_summary_takes_in_is_kept_and_the_problem_is_named(
    root: Path, clock: Clock, text: str, warning: str
) -> None:
    with opened(root, clock) as memory:
        made = memory.record(text, ["alice", "bob"])
        assert made.warnings == (warning,)
        assert memory.vault.page(made.path).body == record.clean(text).lstrip()
        assert {problem.path for problem in memory.doctor()} >= {made.path}
    with opened(root, clock) as memory:
        again = memory.record(text, ["carol"], created=NOW)
        assert again.warnings == (warning,)


@pytest.mark.parametrize(
    "text",
    [
        f"So git writes it:\n```\n{CONFLICT}\n```",
        "<<<<<<< HEAD\nno end",
        "A heading\n=======\nText.",
        "![[photo.png]]",
        "![[nowhere#part]]",
        "See ![[nowhere]] there.",
        "[[nowhere]]",
    ],
)
def test_what_a_summary_takes_in_is_not_warned_of(memory: Memory, text: str) -> None:
    assert memory.record(text, ["alice"]).warnings == ()
    assert not memory.doctor()


def test_an_embed_is_warned_of_by_what_it_leads_to(memory: Memory, root: Path) -> None:
    first = memory.record("Beans.", ["bob"])
    assert memory.record(f"![[{first.handle}]]", ["alice"]).warnings == ()
    for model in ("alice", "bob"):
        (root / f"models/{model}/Tea.md").write_text("Green tea.")
    assert memory.record("![[Tea]]", ["alice"]).warnings == ()
    (warning,) = memory.record("![[Tea|one]]", ["carol"]).warnings
    assert warning.startswith("the note it embeds, Tea, is one of several: models/alice/Tea, models/bob/Tea; no ")
    broken = memory.record(CONFLICT, ["bob"])
    (warning,) = memory.record(f"![[{broken.handle}]]", ["alice"]).warnings
    assert warning.startswith("the note it embeds can't be used: it holds git's conflict markers")
    assert warning.endswith("until that note is mended")


def test_a_secret_in_such_a_text_is_named_too(memory: Memory) -> None:
    made = memory.record(f"{CONFLICT}\npassword: " + "correct-horse-battery", ["alice"])
    assert [MARKED in made.warnings, len(made.warnings)] == [True, 2]


def test_the_warning_is_said_in_the_shell_in_json_and_to_an_agent(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environ(root).items():
        monkeypatch.setenv(name, value)
    for text, warning in ((CONFLICT, MARKED), ("![[nowhere]]", gone("nowhere"))):
        assert cli.run(["--vault", str(root), "record", "-m", "alice", "--no-advance", text]) == 0
        out, err = capsys.readouterr()
        (path,) = root.rglob(f"{out.strip()}.md")
        assert err == f"pyramid: {warning}: {path.relative_to(root).as_posix()}\n"
        assert cli.run(["--vault", str(root), "record", "-m", "bob", "--no-advance", "--json", text]) == 0
        assert json.loads(capsys.readouterr().out)["warnings"] == [warning]
    made = memory.record(CONFLICT, ["carol"])
    assert answers.recorded_data(made, "v")["warnings"] == [MARKED]
    assert f"Beware: {MARKED}" in answers.recorded_text(made, "v")


# Many at once


def test_threads_that_record_at_once_lose_nothing(memory: Memory, root: Path, clock: Clock) -> None:
    failed: list[BaseException] = []

    def write(name: str, memory: Memory) -> None:
        try:
            for number in range(15):
                memory.record(f"Number {number} of {name}.", ["alice", "bob"])
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    with opened(root, clock) as other:
        threads = [threading.Thread(target=write, args=(str(n), m)) for n, m in enumerate((memory, memory, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        expected = {f"Number {number} of {name}." for number in range(15) for name in range(3)}
        for model in ("alice", "bob"):
            found = [note.created for note in notes(other, model)]
            assert len(set(found)) == len(found) == 45
            assert set(texts(other, model)) == set(texts(memory, model)) == expected


def test_processes_that_record_at_once_lose_nothing(memory: Memory, root: Path) -> None:
    script = """
        import sys
        from pyramid_fs import Memory
        with Memory(sys.argv[1]) as memory:
            for number in range(10):
                memory.record(f"Number {number} of {sys.argv[2]}.", ["alice", "bob"])
    """
    words = [sys.executable, "-c", textwrap.dedent(script), str(root)]
    children = [subprocess.Popen([*words, str(n)], env={**os.environ, **environ(root)}) for n in range(4)]
    assert [child.wait() for child in children] == [0, 0, 0, 0]
    for model in ("alice", "bob"):
        assert sorted(texts(memory, model)) == sorted(f"Number {n} of {m}." for n in range(10) for m in range(4))
        found = [note.created for note in notes(memory, model)]
        assert len(set(found)) == 40
    assert memory.verify().balances

"""The proof, on a vault built by hand: it balances, each seeded fault is named, and what is no fault is not."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import Memory, files, times, vault, verify
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, NotAVault, Problem
from pyramid_fs.verify import checks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

START = datetime(2026, 11, 1, 9, tzinfo=UTC)
ALICE = "models/alice"
ROLLUP = f"{ALICE}/tier-1/alice-t1-0001-x7q2.md"
BATCHES = [f"{ALICE}/tier-0/alice-t0-{number:04d}-x7q2.md" for number in range(1, 6)]


@dataclass(frozen=True)
class Made:
    """A summary to write: its front matter as values, so that a test can put one of them wrong."""

    tier: int = 0
    created: datetime = START
    span: tuple[datetime, datetime] = (START, START)
    count: int = 0
    links: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    dates: list[datetime] = field(default_factory=list)
    text: str = "What these notes say, in short."


def write(root: Path, path: str, data: bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)


def note(number: int) -> str:
    return f"note-{number:02d}"


def text(number: int) -> str:
    return f"Observation {number}: the train was on time."


def date(number: int) -> datetime:
    return START + timedelta(hours=number)


def write_note(root: Path, number: int, body: str = "", model: str = "alice") -> None:
    write(root, f"models/{model}/{note(number)}.md", pages.spell({"created": date(number)}, body or text(number)))


def write_summary(root: Path, path: str, made: Made) -> None:
    keys = {
        "tier": made.tier,
        "batch": 1,
        "created": made.created,
        "span_from": made.span[0],
        "span_to": made.span[1],
        "note_count": made.count,
        "provenance": [f"[[{link}]]" for link in made.links],
        "digests": made.digests,
        "dates": made.dates,
        "summarizer": "extractive",
    }
    write(root, path, pages.spell(keys, made.text))


def batch(numbers: range) -> Made:
    return Made(
        created=date(numbers[-1]) + timedelta(minutes=1),
        span=(date(numbers[0]), date(numbers[-1])),
        count=len(numbers),
        links=[note(number) for number in numbers],
        digests=[pages.digest(text(number)) for number in numbers],
        dates=[date(number) for number in numbers],
        text=f"Notes {numbers[0]} to {numbers[-1]} are about trains.",
    )


GOOD = {path: batch(range(at * 10, at * 10 + 10)) for at, path in enumerate(BATCHES)}
GOOD[ROLLUP] = Made(
    tier=1,
    created=date(49) + timedelta(minutes=2),
    span=(date(0), date(49)),
    count=50,
    links=[path.rsplit("/", 1)[-1][:-3] for path in BATCHES],
    digests=[pages.digest(GOOD[path].text) for path in BATCHES],
    dates=[GOOD[path].created for path in BATCHES],
    text="Trains, all in all.",
)


def build(root: Path) -> None:
    write(root, "pyramid.toml", b"format = 1\n")
    write(root, f"{ALICE}/alice.md", pages.spell({"type": "model", "description": "Alice"}, ""))
    for number in range(53):
        write_note(root, number)
    for path, made in GOOD.items():
        write_summary(root, path, made)
    write_note(root, 90, model="bob")


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("good")
    build(root)
    return root


@pytest.fixture
def root(good: Path, tmp_path: Path) -> Path:
    return shutil.copytree(good, tmp_path / "vault")


def prove(root: Path) -> verify.Report:
    return verify.verify(root, UTC)


def reasons(found: tuple[Problem, ...], path: str) -> str:
    return "\n".join(problem.reason for problem in found if problem.path == path)


def alice(report: verify.Report) -> verify.ModelSum:
    return next(found for found in report.models if found.name == "alice")


def edit(root: Path, path: str, old: str, new: str) -> None:
    data = (root / path).read_text()
    assert old in data
    (root / path).write_text(data.replace(old, new, 1))


# The good vault


def test_good_vault_balances_without_a_word(root: Path) -> None:
    report = prove(root)
    assert report == verify.Report(
        balances=True,
        models=(verify.ModelSum("alice", 53, 50, 3), verify.ModelSum("bob", 1, 0, 1)),
    )


def test_text_shows_a_sum_a_model_and_the_answer(root: Path) -> None:
    assert verify.as_text(prove(root), "~/Memory") == (
        "alice: 53 notes = 50 covered + 3 tail ✓\nbob: 1 notes = 0 covered + 1 tail ✓\n~/Memory balances\n"
    )


def test_text_names_faults_then_remarks() -> None:
    found = verify.ModelSum("al", 249, 240, 9, missing=1, revised=2, history=2)
    models = (found, replace(found, name="a"))
    fault, remark = Problem("models/al/tier-0/s.md", "it is off"), Problem("models/al/n.md", "it is old")
    assert verify.as_text(verify.Report(balances=False, models=models, faults=(fault,), remarks=(remark,)), "V") == (
        "al: 249 notes = 240 covered + 9 tail ✗, 1 missing, 2 revised, 2 history\n"
        "a: 249 notes = 240 covered + 9 tail ✓, 1 missing, 2 revised, 2 history\n"
        "models/al/tier-0/s.md: it is off\nmodels/al/n.md: it is old\n"
        "Next: git or a backup holds such a file as it was written; `pyramid doctor --retire HANDLE` gives a summary "
        "up, and what it covered is read again.\n"
        "V does not balance: 1 fault\n"
    )


def test_no_vault_is_an_error_and_never_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(NotAVault, match=r"nothing is taken as deleted"):
        verify.verify(tmp_path / "unmounted", UTC)
    with pytest.raises(NotAVault, match=r"pyramid\.toml"):
        verify.verify(tmp_path, UTC)


def test_root_that_is_a_file_is_a_disk_error(tmp_path: Path) -> None:
    (tmp_path / "vault").write_text("")
    with pytest.raises(DiskError):
        verify.verify(tmp_path / "vault", UTC)


# Faults, each alone in the good vault


def summary(path: str, **changed: object) -> Callable[[Path], None]:
    return lambda root: write_summary(root, path, replace(GOOD[path], **changed))  # type: ignore[arg-type]


def replaced(path: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda root: edit(root, path, old, new)


def swapped(values: list[str]) -> list[str]:
    return [values[1], values[0], *values[2:]]


def stranger(root: Path) -> None:
    """Put a sound summary into another model and name it in alice's roll-up."""
    path = "models/bob/tier-0/bob-t0-0001-p0ds.md"
    made = replace(batch(range(90, 91)), text="Bob, in short.")
    write_summary(root, path, made)
    good = GOOD[ROLLUP]
    write_summary(root, ROLLUP, replace(good, links=["bob-t0-0001-p0ds", *good.links[1:]]))


def moved_to_wrong_tier(root: Path) -> None:
    (root / ALICE / "tier-2").mkdir()
    (root / ROLLUP).rename(root / ALICE / "tier-2/alice-t1-0001-x7q2.md")


def cyclic(root: Path) -> None:
    digests = GOOD[BATCHES[0]].digests
    write_summary(root, BATCHES[0], replace(GOOD[BATCHES[0]], digests=[*digests[1:3], digests[0], *digests[3:]]))


FIRST, LAST = GOOD[BATCHES[0]], GOOD[BATCHES[4]]
FAULTS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "note_count of a batch": (summary(BATCHES[0], count=11), BATCHES[0], "note_count is 11, and 10 versions"),
    "note_count of a roll-up": (summary(ROLLUP, count=49), ROLLUP, "note_count is 49, and 50 versions"),
    "the cover's total": (
        summary(ROLLUP, count=49),
        ALICE,
        "cover counts 49 versions of notes, and its tier 0 names 50",
    ),
    "span_from": (summary(BATCHES[0], span=(date(1), date(9))), BATCHES[0], "span is 2026-11-01T10:00:00Z to"),
    "span_to": (
        summary(BATCHES[0], span=(date(0), date(10))),
        BATCHES[0],
        "its sources say 2026-11-01T09:00:00Z to 20",
    ),
    "span of a roll-up": (summary(ROLLUP, span=(date(0), date(48))), ROLLUP, "span is"),
    "tier and folder": (summary(BATCHES[1], tier=1), BATCHES[1], "lies in tier-0 and says tier 1"),
    "name and folder": (moved_to_wrong_tier, f"{ALICE}/tier-2/alice-t1-0001-x7q2.md", "its name says tier 1"),
    "digests swapped": (
        summary(BATCHES[0], digests=swapped(FIRST.digests)),
        BATCHES[0],
        "digest of note-00 is that of",
    ),
    "digests in a circle": (cyclic, BATCHES[0], "digest of note-02 is that of another"),
    "digests of a roll-up swapped": (
        summary(ROLLUP, digests=swapped(GOOD[ROLLUP].digests)),
        ROLLUP,
        "digest of alice-t0-0001-x7q2 is that of another",
    ),
    "a digest that is none": (summary(BATCHES[0], digests=["9f86", *FIRST.digests[1:]]), BATCHES[0], "is no digest"),
    "fewer digests": (summary(BATCHES[0], digests=FIRST.digests[1:]), BATCHES[0], "10 sources, 9 digests and 10 dates"),
    "fewer dates": (summary(BATCHES[0], dates=FIRST.dates[1:]), BATCHES[0], "10 sources, 10 digests and 9 dates"),
    "no provenance": (summary(BATCHES[0], links=[], digests=[], dates=[]), BATCHES[0], "provenance is empty"),
    "a source twice": (
        summary(BATCHES[0], links=[note(1), *FIRST.links[1:]], digests=[FIRST.digests[1], *FIRST.digests[1:]]),
        BATCHES[0],
        "names a source twice",
    ),
    "a source twice, spelled two ways": (
        summary(BATCHES[0], links=["alice/note-01", *FIRST.links[1:]], digests=[FIRST.digests[1], *FIRST.digests[1:]]),
        BATCHES[0],
        f"names one source 2 times: {ALICE}/note-01.md",
    ),
    "a source of another model": (
        stranger,
        ROLLUP,
        "is models/bob/tier-0/bob-t0-0001-p0ds.md, not a summary of tier 0",
    ),
    "a source of the wrong tier": (
        summary(ROLLUP, links=[note(51), *GOOD[ROLLUP].links[1:]]),
        ROLLUP,
        f"is {ALICE}/note-51.md, not a summary of tier 0",
    ),
    "a summary among the notes": (
        summary(BATCHES[0], links=[GOOD[ROLLUP].links[1], *FIRST.links[1:]]),
        BATCHES[0],
        f"is {BATCHES[1]}, not a note",
    ),
    "created before a note": (summary(BATCHES[4], created=date(49)), BATCHES[4], "created is not later"),
    "created before a summary": (summary(ROLLUP, created=LAST.created), ROLLUP, "created is not later"),
    "no text": (summary(BATCHES[2], text=""), BATCHES[2], "has no text"),
    "an empty file": (lambda root: write(root, BATCHES[2], b""), BATCHES[2], "has no text"),
    "unparsable": (replaced(BATCHES[2], "tier: 0", 'tier: "0'), BATCHES[2], "front matter can't be parsed"),
    "a key twice": (replaced(BATCHES[2], "tier: 0", "tier: 0\ntier: 0"), BATCHES[2], "`tier` stands in it twice"),
    "an unusable date": (
        replaced(BATCHES[2], "created: 2026-11-", "created: 2026-13-"),
        BATCHES[2],
        "created can't be",
    ),
    "an unusable date of a source": (
        replaced(BATCHES[2], "dates:\n  - 2026-11-", "dates:\n  - 2026-13-"),
        BATCHES[2],
        "dates can't be read",
    ),
    "note_count in words": (
        replaced(BATCHES[2], "note_count: 10", "note_count: ten"),
        BATCHES[2],
        "is no number: 'ten'",
    ),
    "conflict markers in the text": (
        replaced(BATCHES[2], "Notes 20", "<<<<<<< HEAD\nNotes 20"),
        BATCHES[2],
        "conflict markers",
    ),
    "conflict markers in the front matter": (
        replaced(BATCHES[2], "tier: 0", "<<<<<<< HEAD\ntier: 0"),
        BATCHES[2],
        "conflict markers",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_seeded_fault_is_named_with_its_file(root: Path, name: str) -> None:
    seed, path, reason = FAULTS[name]
    seed(root)
    report = prove(root)
    assert reason in reasons(report.faults, path)
    assert not report.balances
    assert f"{path}: " in verify.as_text(report, "vault")


def test_a_fault_is_named_where_it_is_and_not_above(root: Path) -> None:
    summary(BATCHES[0], count=11)(root)
    assert {problem.path for problem in prove(root).faults} == {BATCHES[0]}


def test_what_a_broken_batch_covered_is_tail_and_what_stands_on_it_waits(root: Path) -> None:
    summary(BATCHES[2], text="")(root)
    report = prove(root)
    assert alice(report) == verify.ModelSum("alice", 53, 40, 13)
    assert "it waits" in reasons(report.remarks, ROLLUP)


# What the rule makes impossible is counted all the same


def pyramid(**changed: object) -> verify.Pyramid:
    made = verify.Summary("models/a/tier-0/s.md", "s", 0, "d", START, (START, START), 1, (), (), has_conflict=False)
    held = verify.Model("a", (), (made,), frozenset(), (), frozenset(), ())
    values = {"vault": verify.Vault({}, frozenset()), "model": held, "standing": {made.path: "active"}}
    values |= {"active": [made], "parents": {}, "cover": [made], "homes": {}}
    return verify.Pyramid(**(values | changed))  # type: ignore[arg-type]


def test_a_version_in_two_active_summaries_is_a_fault() -> None:
    found = list(checks._counted_twice(pyramid(homes={"models/a/n.md": ["one.md", "two.md"]})))
    assert found == [Problem("models/a/n.md", "its current version is counted 2 times: in one.md, two.md")]


def test_a_summary_with_two_active_parents_is_a_fault() -> None:
    found = list(checks._counted_twice(pyramid(parents={"s.md": ["one.md", "two.md"]})))
    assert found == [Problem("s.md", "it is rolled up 2 times: in one.md, two.md")]


def test_a_sum_that_does_not_come_out_is_a_fault() -> None:
    lone = verify.Note("models/a/n.md", "n", "d", START, START, "", "", is_card=False)
    held = replace(pyramid().model, notes=(lone,))
    found = list(checks._sums(pyramid(model=held, cover=[], homes={lone.path: ["one.md", "two.md"]})))
    assert found == [Problem("models/a", "1 notes are not 0 covered + 0 in the tail")]


def test_a_folder_that_cannot_be_read_is_a_fault_and_deletes_nothing() -> None:
    shut = Problem("models/a/old", "the folder can't be read: permission denied")
    (found,) = checks._folders(pyramid(model=replace(pyramid().model, shut=(shut,))))
    assert (found.path, found.reason) == (shut.path, f"{shut.reason}: nothing is taken as deleted")


def test_a_folder_that_fails_to_list_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir
    (root / ALICE / "2026-11").mkdir()
    (root / ALICE / "note-01.md").rename(root / ALICE / "2026-11/note-01.md")

    def scandir(path: str) -> object:
        if str(path).endswith("2026-11"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr("pyramid_fs.files.os.scandir", scandir)
    report = prove(root)
    assert "nothing is taken as deleted" in reasons(report.faults, f"{ALICE}/2026-11")
    assert (alice(report).missing, alice(report).absent) == (0, 1)


# What is no fault


def balanced(root: Path) -> tuple[verify.ModelSum, str]:
    """Prove a vault that must balance; give alice's sum and all remarks."""
    report = prove(root)
    assert report.faults == ()
    assert report.balances
    return alice(report), "\n".join(f"{path}: {reason}" for path, reason, _ in report.remarks)


def test_revised_note_is_tail_again(root: Path) -> None:
    write_note(root, 7, "The train was late after all.")
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 53, 49, 4, revised=1, history=1)
    assert remarks == f"{BATCHES[0]}: its source note-07 was revised since, so its text as it is now is tail"


def test_formatted_note_is_the_same_version(root: Path) -> None:
    write(root, f"{ALICE}/{note(7)}.md", f"---\r\ncreated: {date(7)}\r\n---\r\n**{text(7)}**\r\n".encode())
    assert balanced(root) == (verify.ModelSum("alice", 53, 50, 3), "")


def test_revised_note_in_a_later_batch_is_covered_once(root: Path) -> None:
    write_note(root, 7, "The train was late after all.")
    made = replace(batch(range(7, 8)), created=date(60), digests=[pages.digest("The train was late after all.")])
    write_summary(root, f"{ALICE}/tier-0/alice-t0-0006-x7q2.md", replace(made, text="Late."))
    assert balanced(root) == (verify.ModelSum("alice", 53, 50, 3, history=1), "")


@pytest.mark.parametrize("dated", [True, False])
def test_notes_whose_names_changed_places_are_revised_and_no_fault(tmp_path: Path, dated: bool) -> None:  # noqa: FBT001
    root = tmp_path / "vault"
    vault.make_vault(root, models={"alice": ""})
    paths = [root / f"models/alice/ch{number}.md" for number in range(10)]
    for number, path in enumerate(paths):
        head = f"---\ncreated: 2026-01-{number + 1:02}\n---\n" if dated else ""
        path.write_text(f"{head}Chapter {number} tells of {number + 20} ships.\n")
        os.utime(path, (10**9 + number, 10**9 + number))
    environ = {"PYRAMID_CACHE_DIR": str(tmp_path / "cache"), "PYRAMID_CONFIG": str(tmp_path / "none.toml")}
    with Memory(root, environ=environ) as memory:
        assert memory.advance().written
        paths[3].rename(root / "aside")
        for path, to in zip(paths[4:], paths[3:], strict=False):
            path.rename(to)
        (root / "aside").rename(paths[9])
        assert memory.verify().faults == ()


def test_texts_that_changed_places_are_told_from_swapped_digests_once_summarized(root: Path) -> None:
    write_note(root, 0, text(1))
    write_note(root, 1, text(0))
    made = batch(range(2))
    later = replace(made, created=date(60), digests=swapped(made.digests))
    write_summary(root, f"{ALICE}/tier-0/alice-t0-0006-x7q2.md", later)
    assert balanced(root)[0] == verify.ModelSum("alice", 53, 50, 3, history=2)


def test_missing_note_is_counted_apart(root: Path) -> None:
    (root / ALICE / f"{note(7)}.md").unlink()
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 52, 49, 3, missing=1)
    assert remarks == f"{BATCHES[0]}: its source note-07 is missing"


def test_note_that_moved_to_another_model_is_missing_here_and_tail_there(root: Path) -> None:
    (root / ALICE / f"{note(7)}.md").rename(root / f"models/bob/{note(7)}.md")
    found, remarks = balanced(root)
    assert found.missing == 1
    assert "is missing: moved to models/bob/note-07.md" in remarks
    assert prove(root).models[1] == verify.ModelSum("bob", 2, 0, 2)


def test_evicted_note_is_absent(root: Path) -> None:
    (root / ALICE / f"{note(7)}.md").rename(root / ALICE / f".{note(7)}.md.icloud")
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 52, 49, 3, absent=1)
    assert "note-07 is absent" in remarks


def test_renamed_note_is_matched_by_digest(root: Path) -> None:
    (root / ALICE / f"{note(7)}.md").rename(root / ALICE / "the train.md")
    assert balanced(root) == (verify.ModelSum("alice", 53, 50, 3), "")


def test_one_note_answers_one_link(root: Path) -> None:
    for number in (7, 8):
        write_note(root, number, text(7))
    digests = [pages.digest(text(min(number, 7) if number < 9 else number)) for number in range(10)]
    write_summary(root, BATCHES[0], replace(FIRST, digests=digests))
    (root / ALICE / f"{note(7)}.md").rename(root / ALICE / "again.md")
    (root / ALICE / f"{note(8)}.md").unlink()
    assert balanced(root)[0] == verify.ModelSum("alice", 52, 49, 3, missing=1)


def test_links_in_the_spellings_of_obsidian(root: Path) -> None:
    links = ["alice/note-00", "note-01.md", "note-02|the second", "models/alice/note-03", *FIRST.links[4:]]
    write_summary(root, BATCHES[0], replace(FIRST, links=links))
    assert balanced(root) == (verify.ModelSum("alice", 53, 50, 3), "")


def test_path_in_a_link_tells_notes_of_one_name_and_text_apart(root: Path) -> None:
    for folder in "ab":
        write(root, f"{ALICE}/{folder}/same.md", pages.spell({"created": date(7)}, text(7)))
    made = replace(batch(range(7, 8)), links=["a/same", "b/same"], digests=[pages.digest(text(7)).upper()] * 2, count=2)
    write_summary(root, f"{ALICE}/tier-0/alice-t0-0006-x7q2.md", replace(made, dates=[date(7)] * 2))
    assert balanced(root) == (verify.ModelSum("alice", 55, 52, 3), "")


def test_of_two_notes_of_one_name_the_digest_decides(root: Path) -> None:
    write(root, f"{ALICE}/a/{note(7)}.md", pages.spell({"created": date(70)}, "A namesake."))
    assert balanced(root) == (verify.ModelSum("alice", 54, 50, 4), "")


def test_loser_that_is_not_retired_yet_covers_nothing(root: Path) -> None:
    path = f"{ALICE}/tier-0/alice-t0-0005-zzzz.md"
    write_summary(root, path, replace(batch(range(48, 53)), text="The other machine's batch."))
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 53, 50, 3)
    assert remarks == f"{path}: it lost a merge, covers nothing and is to be retired"


def test_what_was_begun_on_a_loser_loses_too(root: Path) -> None:
    late = f"{ALICE}/tier-0/alice-t0-0005-zzzz.md"
    above = f"{ALICE}/tier-1/alice-t1-0001-zzzz.md"
    write_summary(root, late, replace(batch(range(48, 53)), text="The other machine's batch."))
    changed = {"links": [*GOOD[ROLLUP].links[:4], "alice-t0-0005-zzzz"], "created": date(40)}
    write_summary(root, above, replace(GOOD[ROLLUP], **changed))  # type: ignore[arg-type]
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 53, 50, 3)
    assert f"{above}: it lost" in remarks


def test_earlier_of_two_roll_ups_keeps_the_sources_whatever_its_name(root: Path) -> None:
    later = f"{ALICE}/tier-1/alice-t1-0000-aaaa.md"
    write_summary(root, later, replace(GOOD[ROLLUP], created=date(60)))
    found, remarks = balanced(root)
    assert found.covered == 50
    assert remarks == f"{later}: it lost a merge, covers nothing and is to be retired"


def test_what_a_loser_says_is_no_fault(root: Path) -> None:
    stranger(root)
    links = GOOD[ROLLUP].links
    write_summary(root, ROLLUP, GOOD[ROLLUP])
    made = replace(GOOD[ROLLUP], created=date(60), links=[*links[:4], "bob-t0-0001-p0ds"], count=1)
    write_summary(root, f"{ALICE}/tier-1/alice-t1-0002-zzzz.md", made)
    assert balanced(root)[0].covered == 50


def test_retired_summary_covers_nothing_and_what_names_it_loses(root: Path) -> None:
    (root / ALICE / "retired").mkdir()
    (root / BATCHES[0]).rename(root / ALICE / "retired" / BATCHES[0].rsplit("/", 1)[1])
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 53, 40, 13)
    assert f"{ROLLUP}: it lost" in remarks


def test_handle_in_both_places_is_retired(root: Path) -> None:
    (root / ALICE / "retired").mkdir()
    shutil.copy(root / BATCHES[0], root / ALICE / "retired")
    assert balanced(root)[0].covered == 40


def test_roll_up_waits_for_a_source_that_is_not_synced_yet(root: Path) -> None:
    (root / BATCHES[0]).unlink()
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 53, 40, 13)
    assert "it waits, and covers nothing, until its sources are here: alice-t0-0001-x7q2" in remarks


def test_summary_that_was_written_again_is_due_above(root: Path) -> None:
    summary(BATCHES[0], text="Said in other words.")(root)
    found, remarks = balanced(root)
    assert found.covered == 50
    assert remarks == f"{ROLLUP}: its source alice-t0-0001-x7q2 was revised since, so it is due for redo"


def forget(root: Path, number: int) -> None:
    hashed = hashlib.sha256(note(number).encode()).hexdigest()
    line = json.dumps({"forgot": hashed, "digest": pages.digest(text(number)), "at": "2026-12-01T00:00:00Z"})
    write(root, "ledger/k3f9.sync-conflict.jsonl", f"no json\n[]\n{line}\n".encode())


def test_forgotten_note_that_comes_back_is_no_note(root: Path) -> None:
    forget(root, 51)
    assert balanced(root) == (verify.ModelSum("alice", 52, 50, 2), "")


def test_folder_in_the_ledger_says_nothing(root: Path) -> None:
    (root / "ledger/odd.jsonl").mkdir(parents=True)
    assert balanced(root) == (verify.ModelSum("alice", 53, 50, 3), "")


def test_forgotten_text_under_another_name_is_a_note(root: Path) -> None:
    forget(root, 51)
    (root / ALICE / f"{note(51)}.md").rename(root / ALICE / "other.md")
    assert balanced(root)[0] == verify.ModelSum("alice", 53, 50, 3)


def test_summary_that_still_names_a_forgotten_note_balances(root: Path) -> None:
    forget(root, 0)
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 52, 49, 3, forgotten=1)
    assert remarks == f"{BATCHES[0]}: its source note-00 was forgotten"


def test_count_above_a_forgotten_note_may_differ(root: Path) -> None:
    forget(root, 0)
    (root / ALICE / f"{note(0)}.md").unlink()
    write_summary(root, BATCHES[0], batch(range(1, 10)))
    assert balanced(root)[0] == verify.ModelSum("alice", 52, 49, 3)
    write_summary(root, BATCHES[0], replace(batch(range(1, 10)), count=10))
    assert "note_count is 10, and 9 versions" in reasons(prove(root).faults, BATCHES[0])


def test_dates_of_files_are_no_fault(root: Path) -> None:
    for number in range(10):
        write(root, f"{ALICE}/{note(number)}.md", text(number).encode())
        os.utime(root / f"{ALICE}/{note(number)}.md", (0, number))
    assert balanced(root) == (verify.ModelSum("alice", 53, 50, 3), "")


def test_date_that_changed_is_named_and_the_recorded_one_binds(root: Path) -> None:
    write(root, f"{ALICE}/{note(7)}.md", pages.spell({"date": date(700)}, text(7)))
    found, remarks = balanced(root)
    assert found.covered == 50
    says = f"says {times.spell(date(700))} now; {times.spell(date(7))} binds"
    assert remarks == f"{BATCHES[0]}: its source note-07 {says}"


def test_embed_is_a_note_with_the_text_of_its_target(root: Path) -> None:
    write(root, "models/bob/shows-it.md", b"![[note-07]]\n")
    write(root, "models/bob/shows-that.md", b"![[shows-it]]\n")
    made = replace(batch(range(7, 8)), links=["shows-it"])
    write_summary(root, "models/bob/tier-0/bob-t0-0001-x7q2.md", made)
    assert balanced(root)[1] == ""
    assert prove(root).models[1] == verify.ModelSum("bob", 3, 1, 2)


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ({"bob/e.md": "![[nobody]]"}, "is gone: nobody"),
        ({"bob/e.md": "![[f]]", "bob/f.md": "![[e]]"}, "leads round in a ring"),
        ({"bob/e.md": "![[same]]", "alice/a/same.md": "One.", "alice/b/same.md": "Two."}, "is one of several: same"),
    ],
)
def test_embed_without_a_text_is_a_note_and_named(root: Path, held: dict[str, str], reason: str) -> None:
    for path, body in held.items():
        write(root, f"models/{path}", body.encode())
    assert reason in balanced(root)[1]
    assert prove(root).models[1].tail == 1 + sum(path.startswith("bob") for path in held)


def test_embed_keeps_covered_what_its_lost_target_said(root: Path) -> None:
    write(root, "models/bob/shows-it.md", b"![[nobody]]\n")
    made = replace(batch(range(7, 8)), links=["shows-it"])
    write_summary(root, "models/bob/tier-0/bob-t0-0001-x7q2.md", made)
    balanced(root)
    assert prove(root).models[1] == verify.ModelSum("bob", 2, 1, 1)


def test_forgotten_target_takes_its_forgotten_embed_with_it(root: Path) -> None:
    forget(root, 51)
    hashed = hashlib.sha256(b"shows-it").hexdigest()
    with (root / "ledger/m.jsonl").open("w") as ledger:
        ledger.write(json.dumps({"forgot": hashed, "digest": pages.digest(text(51))}) + "\n")
    write(root, "models/bob/shows-it.md", b"![[note-51]]\n")
    write(root, "models/bob/shows-too.md", b"![[note-51]]\n")
    assert "shows-too.md: no batch takes it: the note it embeds was forgotten: note-51" in balanced(root)[1]
    assert prove(root).models[1] == verify.ModelSum("bob", 2, 0, 2)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"---\ncreated: someday\n---\nText.\n", "created can't be read"),
        (b"---\na: [\n---\nText.\n", "front matter can't be parsed"),
        (b"---\ncreated: 2026-01-01\nText.\n", "never closes"),
        ("Größe".encode("latin-1"), "not UTF-8"),
        (b"a\0b", "NUL bytes"),
    ],
)
def test_problem_note_is_tail_and_named(root: Path, data: bytes, reason: str) -> None:
    write(root, f"{ALICE}/odd.md", data)
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 54, 50, 4)
    assert reason in remarks
    assert remarks.startswith(f"{ALICE}/odd.md: ")


def test_note_that_cannot_be_read_stays_covered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = files.read

    def refuse(path: Path) -> bytes:
        if path.stem in {note(7), note(51)}:
            raise DiskError(f"{path} can't be read: permission denied")
        return read(path)

    monkeypatch.setattr(files, "read", refuse)
    found, remarks = balanced(root)
    assert found == verify.ModelSum("alice", 53, 50, 3)
    assert f"{ALICE}/note-07.md: no batch takes it: it can't be read: permission denied" in remarks


def test_names_equal_but_for_composition_are_two_notes_and_one_problem(root: Path) -> None:
    for name in ("caf\u00e9", "cafe\u0301"):
        write(root, f"{ALICE}/{name}.md", f"Seen in {len(name)}.".encode())
    if len(list((root / ALICE).glob("caf*.md"))) == 2:
        found, remarks = balanced(root)
        assert found == verify.ModelSum("alice", 55, 50, 5)
        assert remarks.startswith(f"{ALICE}/cafe\u0301.md: ")


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("blank.md", b"\xef\xbb\xbf \n\n"),
        (".hidden.md", b"text"),
        (".obsidian/plugin.md", b"text"),
        ("note-01.sync-conflict-20261101-120000-ABCDEFG.md", b"text"),
        ("tier-0/my thoughts.md", b"text"),
        ("tier-0/deep/alice-t0-0099-x7q2.md", b"text"),
        ("retired/old.md", b"text"),
        ("picture.png", b"text"),
    ],
)
def test_what_is_no_note_is_in_no_sum(root: Path, path: str, data: bytes) -> None:
    write(root, f"{ALICE}/{path}", data)
    assert balanced(root) == (verify.ModelSum("alice", 53, 50, 3), "")


def test_stranded_card_is_no_note_and_beside_a_card_it_is_one(root: Path) -> None:
    card = pages.spell({"type": "model", "description": "As it was called before."}, "")
    write(root, "models/bob/robert.md", card)
    assert prove(root).models[1].notes == 1
    write(root, "models/bob/bob.md", card)
    assert prove(root).models[1].notes == 2


def test_tier_in_a_note_means_nothing(root: Path) -> None:
    write(root, f"{ALICE}/odd.md", b"---\ntier: 0\n---\nText.\n")
    assert balanced(root) == (verify.ModelSum("alice", 54, 50, 4), "")


def test_same_files_give_the_same_report_wherever_they_lie(root: Path, good: Path) -> None:
    summary(BATCHES[0], count=11)(root)
    again = shutil.copytree(root, root.parent / "again")
    assert prove(again) == prove(root) != prove(good)

"""Sessions, topics and records as `Memory` writes them: what the files say, and what a second time does."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, vault
from pyramid_fs.errors import IllegalName, NoSuchHandle, RefusedWrite, UnknownFormat, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"plot": "An allotment."})
    return tmp_path / "vault"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(root: Path, clock: Clock) -> Iterator[Memory]:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    with Memory(root, environ=environ, clock=clock) as memory:
        yield memory


def put(root: Path, path: str, *lines: str) -> Path:
    where = root / path
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text("\n".join([*lines, ""]))
    return where


def record(root: Path, name: str, *keys: str, body: str = "") -> Path:
    return put(root, f"entities/{name}.md", "---", f"name: {name}", "status: pending", *keys, "---", body)


def names(root: Path, folder: str) -> list[str]:
    return sorted(path.name for path in (root / folder).iterdir())


# Sessions


def test_a_digest_is_written_as_the_format_page_shows_it(memory: Memory, root: Path) -> None:
    made = memory.save_session("The pump was mended.", ["Pump House"], session="s1", title="The pump", source="spade")
    assert made.path.startswith("sessions/2026-11-29-the-pump-")
    assert (root / made.path).read_text() == (
        '---\ntitle: "The pump"\nsession: "s1"\nstarted: 2026-11-29T20:15:30Z\ntopics:\n  - "[[pump-house]]"\n'
        'source: "spade"\n---\nThe pump was mended.\n'
    )
    assert (root / "topics/pump-house.md").read_text() == (
        '---\ntitle: "Pump House"\nstatus: open\ncreated: 2026-11-29T20:15:30Z\n---\n'
    )
    assert (made.topics, made.made_topics, made.is_new) == (("pump-house",), ("pump-house",), True)


def test_the_same_session_again_adds_to_its_digest(memory: Memory, root: Path) -> None:
    first = memory.save_session("The pump was not mended.", ["pumps"], session="s1")
    second = memory.save_session("mended", ["walls", "Pumps"], session=" s1 ")
    assert (second.handle, second.is_new, second.topics) == (first.handle, False, ("pumps", "walls"))
    (found,) = memory.sessions()
    assert found.text == "The pump was not mended.\n\nmended"
    assert found.topics == ("pumps", "walls")
    before = (root / first.path).read_bytes()
    memory.save_session("mended", ["pumps"], session="s1")
    assert (root / first.path).read_bytes() == before


def test_sessions_without_a_name_are_each_their_own(memory: Memory) -> None:
    one, two = memory.save_session("Hoed."), memory.save_session("Hoed.")
    assert one.handle != two.handle
    assert len(memory.sessions()) == 2


@pytest.mark.parametrize("text", ["", "  \n", "a\0b"])
def test_a_digest_without_text_or_with_nul_bytes_is_refused(memory: Memory, root: Path, text: str) -> None:
    with pytest.raises(UsageError):
        memory.save_session(text, ["pumps"])
    assert names(root, "topics") == names(root, "sessions") == []


def test_one_topic_that_can_be_no_name_leaves_nothing_behind(memory: Memory, root: Path) -> None:
    with pytest.raises(IllegalName):
        memory.save_session("Hoed.", ["pumps", "!!!"])
    assert names(root, "topics") == names(root, "sessions") == []


def test_a_digest_whose_front_matter_is_broken_is_left_as_it_is(memory: Memory, root: Path) -> None:
    made = memory.save_session("Hoed.", session="s1")
    broken = (root / made.path).read_text().replace("started:", "a: [\nstarted:")
    (root / made.path).write_text(broken)
    again = memory.save_session("Raked.", session="s1")
    assert again.is_new
    assert (root / made.path).read_text() == broken


def test_a_digest_that_no_one_may_write_to_is_refused(memory: Memory, root: Path) -> None:
    settings = root / "pyramid.toml"
    settings.write_text("format = 99\n")
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "other"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    with Memory(root, environ=environ) as newer:
        for write in (
            lambda: newer.save_session("x"),
            lambda: newer.propose("entity", "x"),
            lambda: newer.confirm(["x"]),
            newer.backfill,
            newer.prune,
        ):
            with pytest.raises(UnknownFormat):
                write()


@pytest.mark.parametrize(
    ("card", "title", "asked"),
    [
        ("kitchen", "The Kitchen", "the kitchen"),
        ("kitchen", "The Kitchen", "Kitchen"),
        ("kitchen", "", "[[kitchen]]"),
        ("café", "Café", unicodedata.normalize("NFD", "CAFÉ")),
        ("переезд", "Переезд в Осло", "переезд В ОСЛО"),
        ("搬家", "搬家计划", "搬家计划"),
    ],
)
def test_a_topic_is_named_by_slug_or_title(memory: Memory, root: Path, card: str, title: str, asked: str) -> None:
    put(root, f"topics/{card}.md", "---", f"title: {title}", "---")
    made = memory.save_session("Hoed.", [asked])
    assert (made.topics, made.made_topics) == ((card,), ())
    assert memory.topic_history(asked).topic == card
    assert names(root, "topics") == [f"{card}.md"]


def test_new_topics_of_any_script_get_a_card_with_their_title(memory: Memory) -> None:
    made = memory.save_session("Hoed.", ["Переезд в Осло", "搬家 计划", "[[Moving House]]", "moving house", " "])
    assert made.topics == ("переезд-в-осло", "搬家-计划", "moving-house")
    assert {topic.title for topic in memory.topics()} == {"Переезд в Осло", "搬家 计划", "Moving House"}


def test_an_unknown_topic_is_an_error_with_the_closest(memory: Memory) -> None:
    memory.save_session("Hoed.", ["Moving House", "Гараж", "搬家计划"])
    for asked, near in (("movng house", "moving-house"), ("Гаражи", "гараж"), ("搬家", "搬家计划")):
        with pytest.raises(NoSuchHandle, match=f"the closest: .*{near}"):
            memory.topic_history(asked)
    with pytest.raises(NoSuchHandle, match="pyramid topic list"):
        memory.topic_history("zzzz")


def test_the_topics_active_last_are_known_by_their_sessions_times(memory: Memory, root: Path) -> None:
    memory.save_session("New.", ["walls"], started=NOW - timedelta(days=1))
    old = memory.save_session("Old.", ["hedges"], started=NOW - timedelta(days=9))
    older = memory.save_session("Older.", [], started=NOW - timedelta(days=400))
    path = root / older.path
    path.write_text(path.read_text().replace("---\nOlder", 'topics: ["[[hedges]]"]\n---\nOlder'))
    assert [(topic.slug, topic.active) for topic in memory.topics()] == [
        ("walls", "2026-11-28"),
        ("hedges", "2026-11-20"),
    ]
    found = memory.topic_history("hedges")
    assert [session.handle for session in found.sessions] == [old.handle, older.handle]


def test_a_history_is_cut_at_fifty_sessions_and_says_so(memory: Memory, root: Path) -> None:
    for number in range(51):
        day = (NOW - timedelta(days=number)).date()
        put(root, f"sessions/{day}-{number}.md", "---", f"started: {day}", 'topics: ["[[Ditch]]"]', "---", "Dug.")
    found = memory.topic_history("ditch")
    assert (found.total, len(found.sessions), found.note) == (51, 50, "showing the most recent 50 of 51 sessions")
    assert [s.started for s in found.sessions] == sorted((s.started for s in found.sessions), reverse=True)


@pytest.mark.parametrize(("chars", "shown"), [(40_000, 1), (40_001, 1), (39_000, 2)])
def test_the_newest_session_is_shown_whatever_its_length(memory: Memory, chars: int, shown: int) -> None:
    memory.save_session("x" * 1000, ["ditch"], started=NOW - timedelta(days=1))
    memory.save_session("水" * chars, ["ditch"])
    found = memory.topic_history("ditch")
    assert [len(session.text) for session in found.sessions] == [chars, 1000][:shown]
    assert bool(found.note) is (shown == 1)


# Records


def test_a_proposal_is_pending_and_written_as_the_format_page_shows_it(memory: Memory, root: Path) -> None:
    made = memory.propose("entity", "Ada Lovelace", label="person", about="Keeps bees.", confidence=0.7, source="spade")
    assert (root / made.path).read_text() == (
        '---\nname: "Ada Lovelace"\nkind: person\nstatus: pending\nconfidence: 0.7\nsource: "spade"\n'
        "created: 2026-11-29T20:15:30Z\n---\nKeeps bees.\n"
    )
    rule = memory.propose("procedure", "Oil the hinges in March.", confidence=0.6)
    assert (root / rule.path).read_text() == (
        "---\nstatus: pending\nconfidence: 0.6\ncreated: 2026-11-29T20:15:30Z\n---\nOil the hinges in March.\n"
    )


def test_a_likely_duplicate_is_flagged_and_never_skipped(memory: Memory, root: Path) -> None:
    first = memory.propose("entity", "José Álvarez", confidence=0.6)
    second = memory.propose("entity", "jose alvarez", confidence=0.6)
    third = memory.propose("entity", "José Álvarez", confidence=0.6)
    assert second.duplicates == (first.handle,)
    assert set(third.duplicates) == {first.handle, second.handle}
    assert len(names(root, "entities")) == 3
    rules = [memory.propose("procedure", "Oil the hinges in March.", confidence=0.6) for _ in range(2)]
    assert rules[1].duplicates == (rules[0].handle,)


def test_a_rejected_record_is_still_a_likely_duplicate(memory: Memory) -> None:
    first = memory.propose("entity", "Ada Lovelace", confidence=0.6)
    memory.reject([first.handle])
    assert memory.propose("entity", "Ada Lovelace", confidence=0.6).duplicates == (first.handle,)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "model", "text": "x"},
        {"kind": "", "text": "x"},
        {"kind": "entity", "text": " "},
        {"kind": "entity", "text": "two\nlines"},
        {"kind": "entity", "text": "a\0b"},
        {"kind": "entity", "text": "x", "about": "a\0b"},
        {"kind": "procedure", "text": ""},
        {"kind": "procedure", "text": "a\0b"},
        {"kind": "procedure", "text": "x" * 20_001},
        {"kind": "entity", "text": "x", "confidence": 1.5},
        {"kind": "entity", "text": "x", "confidence": float("nan")},
    ],
)
def test_what_can_be_no_record_is_refused_in_a_sentence(memory: Memory, root: Path, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"\S+ \S+"):
        memory.propose(**given)
    assert names(root, "entities") == names(root, "procedures") == []


def test_confirming_changes_one_line_and_reads_any_spelling(memory: Memory, root: Path) -> None:
    path = record(root, "ada", "confidence: 0.6   # a guess", "created: 2026-11-01", "my-key: kept", body="Bees.")
    before = path.read_text()
    assert memory.confirm(["ada"]) == ["ada"]
    assert path.read_text().splitlines()[2].split() == ["status:", "confirmed"]
    assert [line for line in path.read_text().splitlines() if not line.startswith("status")] == [
        line for line in before.splitlines() if not line.startswith("status")
    ]
    assert memory.confirm(["[[ada]]"]) == []
    path.write_text(before.replace("status: pending", "status: CONFIRMED"))
    assert memory.confirm(["ada"]) == []
    assert memory.pending() == []


def test_a_persons_edit_of_the_status_is_the_same_as_confirm(memory: Memory, root: Path, clock: Clock) -> None:
    made = memory.propose("procedure", "Oil the hinges.", confidence=0.6)
    path = root / made.path
    path.write_text(path.read_text().replace("status: pending", "status: Confirmed"))
    assert [line.status for line in memory.procedures()] == ["confirmed"]
    clock.turn(days=99)
    assert memory.prune() == []
    assert [line.handle for line in memory.context().procedures] == [made.handle]


@pytest.mark.parametrize("typed", ["confirm", "accepted", "Yes", "[confirmed, no]"])
@pytest.mark.parametrize("folder", ["entities", "procedures"])
def test_a_status_that_is_none_is_left_as_a_person_typed_it_and_named(
    memory: Memory, root: Path, clock: Clock, typed: str, folder: str
) -> None:
    keys = ("---", f"status: {typed}   # mine", "confidence: 0.1", "created: 2026-01-01", "---", "Oil the hinges.")
    path, other = put(root, f"{folder}/hinges.md", *keys), record(root, "gate")
    before = path.read_bytes()
    clock.turn(days=99)
    assert memory.prune(dry=True) == memory.prune() == []
    memory.supersede("gate", "hinges")
    memory.contradict("gate", "hinges")
    memory.mend()
    memory.backfill()
    assert path.read_bytes() == before
    assert "superseded_by" in other.read_text()
    (line,) = [line for line in memory.pending() if line.handle == "hinges"]
    assert (line.status, line.due) == ("pending", "")
    (found,) = [each for each in memory.doctor() if each.path == f"{folder}/hinges.md"]
    assert f"`{typed.lower().strip('[]')}`" in found.reason
    for known in ("pending", "confirmed", "pruned"):
        assert known in found.fix
    memory.contradict("hinges", "gate")
    assert f"status: {typed}   # mine\n" in path.read_text()


def test_a_persons_word_settles_a_status_that_is_none(memory: Memory, root: Path) -> None:
    path = put(root, "procedures/hinges.md", "---", "status: confirm", "---", "Oil the hinges.")
    assert memory.confirm(["hinges"]) == ["hinges"]
    assert path.read_text() == "---\nstatus: confirmed\n---\nOil the hinges.\n"
    path.write_text(path.read_text().replace("confirmed", "no"))
    assert memory.reject(["hinges"]) == ["hinges"]
    assert "status: pruned\n" in path.read_text()
    assert memory.doctor() == []


def test_rejecting_prunes_today_and_confirming_brings_back(memory: Memory, root: Path) -> None:
    made = memory.propose("entity", "Ada", confidence=0.6)
    original = (root / made.path).read_text()
    assert memory.reject([made.handle, made.handle]) == [made.handle]
    assert "status: pruned\n" in (root / made.path).read_text()
    assert 'pruned: "2026-11-29"\n' in (root / made.path).read_text()
    assert memory.reject([made.handle]) == []
    assert (memory.entities(), len(memory.entities(pruned=True))) == ([], 1)
    assert memory.confirm([made.handle]) == [made.handle]
    assert (root / made.path).read_text() == original.replace("pending", "confirmed")


def test_what_is_no_record_can_not_be_confirmed(memory: Memory) -> None:
    saved = memory.save_session("Hoed.")
    with pytest.raises(UsageError, match="no entity and no procedure"):
        memory.confirm([saved.handle])
    with pytest.raises(NoSuchHandle):
        memory.reject(["nobody"])


def test_a_record_that_can_not_be_parsed_is_refused_and_left(memory: Memory, root: Path) -> None:
    path = put(root, "entities/ada.md", "---", "name: [", "---", "Bees.")
    before = path.read_bytes()
    with pytest.raises(RefusedWrite):
        memory.confirm(["ada"])
    assert path.read_bytes() == before


def test_superseding_keeps_the_file_and_two_never_supersede_each_other(memory: Memory, root: Path) -> None:
    one, two = record(root, "one"), record(root, "two")
    three = record(root, "three")
    memory.supersede("one", "two")
    memory.supersede("two", "three")
    assert 'superseded_by: "[[two]]"' in one.read_text()
    for by in ("one", "two", "three"):
        with pytest.raises(UsageError):
            memory.supersede("three", by)
    assert "superseded_by" not in three.read_text()
    assert two.exists()
    assert [entity.handle for entity in memory.context().entities] == ["three"]


def test_contradicting_marks_both_and_hides_neither(memory: Memory, root: Path) -> None:
    record(root, "one")
    record(root, "two")
    record(root, "three")
    memory.contradict("one", "two")
    memory.contradict("one", "two")
    memory.contradict("one", "three")
    found = {entity.handle: entity for entity in memory.context().entities}
    assert found["one"].contradicts == ("two", "three")
    assert [found[handle].is_contradicted for handle in ("one", "two", "three")] == [False, True, True]
    with pytest.raises(UsageError):
        memory.contradict("one", "one")


# Entities by name, and what they are linked with


def test_an_entity_is_found_by_handle_name_or_alias(memory: Memory, root: Path) -> None:
    put(root, "entities/a-1.md", "---", "name: Augusta King", "aliases: [Ada Lovelace, Ада]", "---", "Bees.")
    put(root, "entities/people/Kim Ödegård.md", "Has no front matter.")
    for asked in ("a-1", "[[a-1]]", "augusta king", "ADA LOVELACE", "ада"):
        assert memory.entity(asked).handle == "a-1"
    assert memory.entity(unicodedata.normalize("NFD", "kim ödegård")).name == "Kim Ödegård"
    with pytest.raises(NoSuchHandle):
        memory.entity("Nobody")
    saved = memory.save_session("Hoed.")
    with pytest.raises(UsageError, match="is no entity"):
        memory.entity(saved.handle)


def test_a_name_means_the_one_that_is_confirmed_and_never_one_that_was_pruned(memory: Memory) -> None:
    first = memory.add_entity("Ada")
    second = memory.propose("entity", "Ada", confidence=0.6)
    assert memory.entity("Ada").handle == first
    memory.reject([first])
    assert memory.entity("Ada").handle == second.handle
    assert memory.entity(first).status == "pruned"


def test_links_lead_both_ways_by_handle_name_and_alias(memory: Memory, root: Path) -> None:
    record(root, "ada", "aliases: [The Countess]", body="Works with [[entities/Kim|Kim]] on the [[engine]].")
    record(root, "kim")
    record(root, "engine", body="Made by [[nobody]].")
    record(root, "tom", body="Likes [[the countess]].")
    record(root, "una", body="Knows nobody.")
    record(root, "gone", body="Knew [[ada]].")
    memory.reject(["gone"])
    assert sorted(line.handle for line in memory.related("ada")) == ["engine", "kim", "tom"]
    for asked in ("kim", "engine", "tom"):
        assert [line.handle for line in memory.related(asked)] == ["ada"]
    assert memory.related("una") == []

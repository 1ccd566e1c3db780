"""What stays where two copies of one file meet, and what is laid beside it."""

from __future__ import annotations

import re
from datetime import UTC
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import format as pages
from pyramid_fs import layout, merging
from pyramid_fs.merging import Settled

NOTE, CARD, TOPIC = "models/alice/n.md", "models/alice/alice.md", "topics/moving.md"
SUMMARY, RETIRED = "models/alice/tier-0/alice-t0-0001-k3f9.md", "models/alice/retired/alice-t0-0001-k3f9.md"
ENTITY, PROCEDURE = "entities/ada-k3f9.md", "procedures/test-first-k3f9.md"


def collides(*_: bytes) -> None:
    """Stand for git where lines collide."""


def by_lines(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge texts of equally many lines; git would see more collisions, and lines that were put in."""
    rows = [text.splitlines(keepends=True) for text in (base, ours, theirs)]
    if len({len(row) for row in rows}) > 1:
        return None
    merged = [one if two == was else two if one in (was, two) else b"" for was, one, two in zip(*rows, strict=True)]
    return b"".join(merged) if all(merged) else None


def both(path: str, base: bytes | None, one: bytes, other: bytes, join: merging.Join = collides) -> Settled:
    """Settle a file in both clones, which must come to the same bytes."""
    first, second = merging.settle(path, base, one, other, join), merging.settle(path, base, other, one, join)
    assert first == second
    return first


def summary(*sources: str, text: str, more: str = "") -> bytes:
    named = "".join(f'  - "[[{source}]]"\n' for source in sources)
    return f"---\ntier: 0\nnote_count: {len(sources)}\nprovenance:\n{named}{more}---\n{text}\n".encode()


def record(*lines: str, text: str = "") -> bytes:
    return "\n".join(["---", *lines, "---", *([text] if text else []), ""]).encode()


# What one side alone changed


@pytest.mark.parametrize("path", [NOTE, CARD, SUMMARY, ENTITY, "elsewhere.md"])
def test_what_one_side_alone_changed_is_taken(path: str) -> None:
    assert merging.settle(path, b"a", b"a", b"b", collides) == Settled(b"b")
    assert merging.settle(path, b"a", b"b", b"a", collides) == Settled(b"b")
    assert merging.settle(path, b"a", b"b", b"b", collides) == Settled(b"b")
    assert merging.settle(path, None, b"b", b"b", collides) == Settled(b"b")


# Summaries


def test_of_two_summaries_the_one_from_which_a_note_was_forgotten_stays() -> None:
    base = summary("a", "b", text="Old.")
    for word in "abcdef":
        forgot, redone = summary("a", text=f"Without {word}."), summary("a", "b", text=f"Anew {word}.")
        assert both(SUMMARY, base, forgot, redone) == Settled(forgot)
        assert both(RETIRED, base, forgot, redone) == Settled(forgot)


def test_of_two_roll_ups_the_one_that_counts_fewer_notes_stays() -> None:
    for told in "abcdef":  # whatever its words are, and so its digest
        forgot = summary("t0-1", "t0-2", text=f"Rain, said {told}.").replace(b"note_count: 2", b"note_count: 5")
        redone = summary("t0-1", "t0-2", text="The key lies under the stone.").replace(
            b"note_count: 2", b"note_count: 6"
        )
        assert both("models/alice/tier-1/alice-t1-0001-k3f9.md", b"base", forgot, redone) == Settled(forgot)


def test_a_summary_is_never_mixed_of_two() -> None:
    base = summary("a", text="One.\nTwo.\nThree.")
    one, other = summary("a", text="One, anew.\nTwo.\nThree."), summary("a", text="One.\nTwo.\nThree, anew.")
    assert by_lines(base, one, other) is not None
    assert both(SUMMARY, base, one, other, by_lines).data in {one, other}


def test_of_two_redone_summaries_the_smaller_digest_stays() -> None:
    base = summary("a", text="Old.")
    one, other = summary("a", text="Anew."), summary("a", text="Once more.", more="draft: true\n")
    expected = min(one, other, key=lambda data: pages.digest(pages.read(data).body))
    assert both(SUMMARY, base, one, other) == Settled(expected)
    assert both(SUMMARY, None, one, other) == Settled(expected)


def test_of_equal_words_the_smaller_bytes_stay() -> None:
    one, other = summary("a", text="Anew."), summary("a", text="Anew!")
    assert both(SUMMARY, summary("a", text="Old."), one, other) == Settled(min(one, other))


def test_a_sound_summary_wins_over_a_broken_one() -> None:
    sound, broken = summary("a", text="Anew."), b"---\ntier: [\n---\nText.\n"
    assert both(SUMMARY, summary("a", text="Old."), sound, broken) == Settled(sound)


def test_a_text_that_was_emptied_stays_empty() -> None:
    base, emptied, touched = (summary("a", text=text) for text in ("Old.", "", "Touched."))
    assert both(RETIRED, base, emptied, touched) == Settled(emptied)


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["a", "A", "b", "b!", ""])), min_size=3, max_size=3))
def test_three_writings_of_a_summary_meet_in_any_order(made: list[tuple[int, str]]) -> None:
    texts = [summary(*(f"n{at}" for at in range(count)), text=text) for count, text in made]
    ends = {
        merging.settle(SUMMARY, None, merging.settle(SUMMARY, None, one, two, collides).data, three, collides).data
        for one, two, three in permutations(texts)
    }
    assert len(ends) == 1


# Records


@pytest.mark.parametrize(
    ("one", "other", "stays"),
    [
        ("confirmed", "pruned", "confirmed"),
        ("confirmed", "unsure", "confirmed"),
        ("pruned", "unsure", "unsure"),
        ("Confirmed", "pruned", "Confirmed"),
    ],
)
@pytest.mark.parametrize("path", [ENTITY, PROCEDURE])
def test_the_stronger_status_stays(path: str, one: str, other: str, stays: str) -> None:
    base = record("status: pending", "created: 2026-11-29")
    first, second = (record(f"status: {said}", "created: 2026-11-29") for said in (one, other))
    settled = both(path, base, first, second)
    assert settled == Settled(record(f"status: {stays}", "created: 2026-11-29"))


def test_a_status_that_one_side_alone_changed_is_taken() -> None:
    base = record("name: Ada", "status: confirmed")
    settled = both(ENTITY, base, record("name: Ada", "status: pruned"), record("name: Ada L.", "status: confirmed"))
    assert settled == Settled(record("name: Ada L.", "status: pruned"))


def test_the_day_of_a_pruning_goes_with_it() -> None:
    base = record("name: Ada", "status: pending")
    pruned = record("name: Ada", "status: pruned", 'pruned: "2026-11-29"')
    confirmed = record("name: Ada", "status: confirmed")
    assert both(ENTITY, base, pruned, confirmed) == Settled(confirmed)


def test_lists_and_links_are_kept_of_both() -> None:
    base = record("name: Ada", "aliases:", '  - "A"', '  - "Old"', "status: pending")
    one = record("name: Ada", "aliases:", '  - "A"', '  - "One"', "status: confirmed", 'superseded_by: "[[x-aaaa]]"')
    two = record("name: Ada", "aliases:", '  - "A"', '  - "Old"', '  - "Two"', "status: pruned")
    two = two.replace(b"---\n", b'---\ncontradicts:\n  - "[[y-bbbb]]"\n', 1)
    settled = both(ENTITY, base, one, two)
    page = pages.read(settled.data)
    assert (page.keys["aliases"], page.text("status")) == (["A", "One", "Two"], "confirmed")
    assert pages.links_of(page, "superseded_by") == ["x-aaaa"]
    assert pages.links_of(page, "contradicts") == ["y-bbbb"]
    assert settled.beside is None


def test_two_successors_are_both_named() -> None:
    base = record("name: Ada", "status: pending")
    settled = both(
        ENTITY,
        base,
        record("name: Ada", "status: pending", 'superseded_by: "[[x-aaaa]]"'),
        record("name: Ada", "status: pending", 'superseded_by: "[[y-bbbb]]"'),
    )
    assert sorted(pages.links_of(pages.read(settled.data), "superseded_by")) == ["x-aaaa", "y-bbbb"]


def test_a_number_and_a_time_keep_their_spelling() -> None:
    base = record("status: pending", "confidence: 0.6", "created: 2026-11-29T20:15:30Z")
    one = record("status: confirmed", "confidence: 0.6", "created: 2026-11-29T20:15:30Z")
    two = record("status: pruned", "confidence: 0.7", "created: 2026-11-28T20:15:30Z", "seen: true")
    settled = both(PROCEDURE, base, one, two)
    expected = record("status: confirmed", "confidence: 0.7", "created: 2026-11-28T20:15:30Z", "seen: true")
    assert settled == Settled(expected)


def test_two_texts_of_a_record_are_both_kept_under_the_stronger_status() -> None:
    base = record("status: pending", text="Run the tests.")
    ours, theirs = record("status: pruned", text="Never."), record("status: confirmed", text="Run them first.")
    settled = merging.settle(PROCEDURE, base, ours, theirs, collides)
    assert settled == Settled(record("status: confirmed", text="Never."), theirs)


# Texts of persons


@pytest.mark.parametrize("path", [NOTE, CARD, TOPIC, "sessions/s-k3f9.md", "models/alice/tier-0/mine.md"])
@pytest.mark.parametrize("base", [b"Old.\n", None])
def test_of_two_texts_ours_stays_and_theirs_stands_beside(path: str, base: bytes | None) -> None:
    assert merging.settle(path, base, b"Mine.\n", b"Theirs.\n", collides) == Settled(b"Mine.\n", b"Theirs.\n")
    assert merging.settle(path, base, b"Theirs.\n", b"Mine.\n", collides) == Settled(b"Theirs.\n", b"Mine.\n")


def test_what_git_can_join_is_joined() -> None:
    settled = both(NOTE, b"One.\nTwo.\n", b"One!\nTwo.\n", b"One.\nTwo!\n", by_lines)
    assert settled == Settled(b"One!\nTwo!\n")


@pytest.mark.parametrize("theirs", [b"---\na: [\n---\nTheirs.\n", b"Caf\xe9\n", b"---\nnever closed: x\n"])
def test_what_cant_be_parsed_is_kept_whole(theirs: bytes) -> None:
    assert merging.settle(NOTE, b"Old.\n", b"Mine.\n", theirs, collides) == Settled(b"Mine.\n", theirs)
    assert merging.settle(NOTE, b"Old.\n", theirs, b"Mine.\n", collides) == Settled(theirs, b"Mine.\n")


def test_keys_of_a_card_are_joined_and_a_description_is_not_chosen() -> None:
    base = record("type: model", "description: A friend.")
    ours, theirs = (
        record("type: model", "description: A friend.", "archived: true"),
        record("type: model", "description: A dear friend."),
    )
    expected = record("type: model", "description: A dear friend.", "archived: true")
    assert both(CARD, base, ours, theirs) == Settled(expected)
    other = record("type: model", "description: A colleague.")
    assert merging.settle(CARD, base, other, theirs, collides) == Settled(other, theirs)


@pytest.mark.parametrize(("path", "key"), [(TOPIC, "created"), ("sessions/2026-11-01-a-k3f9.md", "started")])
def test_what_two_machines_made_is_as_old_as_the_first_says(path: str, key: str) -> None:
    one, other = (record("title: Moving", f"{key}: 2026-11-0{day}T09:00:00Z") for day in (1, 2))
    assert both(path, None, one, other) == Settled(one)


def test_a_key_beside_a_text_that_both_changed_comes_along() -> None:
    base, ours = record('title: "A"', text="Old."), record('title: "A"', text="Mine.")
    theirs = record('title: "B"', text="Theirs.")
    assert merging.settle(NOTE, base, ours, theirs, collides) == Settled(record('title: "B"', text="Mine."), theirs)


def test_equal_words_are_one_text() -> None:
    one, other = record("a: 1", "b: 1", text="Some *words*."), record("a: 1", "b: 2", text="Some words.")
    settled = both(NOTE, record("a: 1", "b: 1", text="Old."), one, other)
    assert settled.beside is None
    assert (pages.read(settled.data).text("b"), pages.digest(pages.read(settled.data).body)) == (
        "2",
        pages.digest("Some words."),
    )


_LINES = st.lists(st.sampled_from(["a: 1", "b: x", "status: pending", "status: confirmed", 'c: "[[d]]"']), max_size=3)
_FILES = st.builds(
    lambda front, body: ("\n".join(["---", *front, "---", ""]) if front is not None else "") + body,
    st.none() | _LINES,
    st.sampled_from(["", "One.\n", "Two.\nThree.\n", "---\n", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"]),
).map(str.encode)


@given(st.sampled_from([NOTE, CARD, TOPIC, ENTITY, PROCEDURE]), st.none() | _FILES, _FILES, _FILES)
def test_no_text_is_ever_lost(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> None:
    settled = merging.settle(path, base, ours, theirs, collides)
    kept = [pages.digest(pages.read(data).body) for data in settled if data is not None]
    for data in (ours, theirs):
        text = pages.read(data).body
        replaced = base is not None and text == pages.read(base).body
        assert pages.digest(text) in kept or replaced or not text


# The names of conflict copies


@pytest.mark.parametrize(
    "name", ["beans", "Bohnen und Öl", "豆" * 80, "x" * 250, "a (git conflicted copy 00000000000001)"]
)
def test_a_conflict_copy_has_a_name_that_no_reader_counts(name: str) -> None:
    path = f"models/alice/2026-11/{name}.md"
    copy = merging.copy_path(path, b"Text.")
    assert layout.is_conflict_copy(copy.rsplit("/", 1)[-1])
    assert layout.place(copy) is None
    assert len(copy.rsplit("/", 1)[-1].encode()) <= merging.NAME_BYTES
    assert copy == merging.copy_path(path, b"Text.")
    assert copy != merging.copy_path(path, b"Text!")
    assert copy != merging.copy_path(path, b"Text.", 1)
    if len(name.encode()) < 200:
        assert merging.original_of(copy) == path


def test_a_file_of_another_name_is_no_copy_of_gits() -> None:
    assert merging.original_of("models/alice/beans (conflicted copy 2026-11-29).md") == ""


# What was added to a text that was forgotten


@pytest.mark.parametrize(
    ("base", "text", "own"),
    [
        ("The key is under the mat.\n", "The key is under the mat.\nBeans need sun.\n", "Beans need sun."),
        ("The key is under the mat.\n", "Under the mat\nis the key.\n", ""),
        ("The key is under the mat.\n", "The key is under the old mat.\n", ""),
        ("One.\nTwo.\n", "Beans.\n\nOne.\nTwo.\n\nPeas and leeks.\n", "Beans.\n\nPeas and leeks."),
        ("鍵はマットの下。\n", "鍵はマットの下。\n豆には太陽が要る。\n", "豆には太陽が要る。"),
        ("The train left at 7.\n", "The train left at 7.\nThe train left at 9.\n", "The train left at 9."),
        ("The PIN is 4711.\n", "The PIN is 4711.\n\nThe PIN is 4711!\n", ""),
        ("---\ntitle: Key\n---\nThe key.\n", "---\ntitle: A safe place\n---\nThe key.\n", ""),
        ("The key.\n", "The key.\n---\n", ""),
    ],
)
def test_what_was_added_to_a_text_is_told_from_the_text(base: str, text: str, own: str) -> None:
    assert merging.added(base.encode(), text.encode()) == own


def test_what_was_added_becomes_a_note_that_every_clone_makes_alike_and_that_says_nothing_of_the_other() -> None:
    dated = b'---\ntitle: "The key"\ncreated: 2026-11-20T09:00:00Z\n---\nThe key.\nBeans need sun.\n'
    path, data = merging.apart("models/alice/2026-11/2026-11-20-090000-the-key-k3f9.md", dated, "Beans need sun.", UTC)
    assert re.fullmatch(r"models/alice/2026-11/2026-11-20-090000-beans-need-sun-\w{4}\.md", path)
    assert data == b"---\ncreated: 2026-11-20T09:00:00Z\n---\nBeans need sun.\n"
    path, data = merging.apart("models/alice/key.md", b"The key.\nBeans need sun.\n", "Beans need sun.", UTC)
    assert re.fullmatch(r"models/alice/beans-need-sun-\w{4}\.md", path)
    assert data == b"Beans need sun.\n"
    _, data = merging.apart("models/alice/2026-11-20.md", b"The key.\nBeans need sun.\n", "Beans need sun.", UTC)
    assert data == b"---\ncreated: 2026-11-20T00:00:00Z\n---\nBeans need sun.\n"

"""A file becomes the value that its place says, and a value becomes the file's bytes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import format as pages
from pyramid_fs import kinds, layout
from pyramid_fs.format import Page
from pyramid_fs.layout import Place
from pyramid_fs.notes import Card, Dated, Entity, Kind, Note, Session, Shaped, Source, Summary

BERLIN = ZoneInfo("Europe/Berlin")
TOUCHED = datetime(2026, 12, 24, 18, tzinfo=UTC)
NIGHT = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
NAMED = "models/alice/2026-11-20-080000-harbour-k3f9.md"
PLAIN = "models/alice/harbour.md"
BATCH = "models/alice/tier-0/alice-t0-0012-x7q2.md"

SUMMARY = Summary(
    path=BATCH,
    handle="alice-t0-0012-x7q2",
    tier=0,
    batch=12,
    created=NIGHT,
    span_from=NIGHT - timedelta(days=9),
    span_to=NIGHT - timedelta(hours=1),
    note_count=2,
    sources=(
        Source("2026-11-20-090000-met-p2m7", "9f86d081884c7d65", NIGHT - timedelta(days=9)),
        Source("notes/C# tips", "0123456789abcdef", NIGHT - timedelta(hours=1)),
    ),
    digest=pages.digest("One.\nTwo."),
    chars=9,
    lines=2,
    summarizer="extractive",
    draft=True,
)


def read(path: str, text: str | bytes) -> object:
    place = layout.place(path)
    assert place is not None
    data = text if isinstance(text, bytes) else text.encode()
    return kinds.read(path, place, pages.read(data), TOUCHED, BERLIN)


def note(text: str | bytes, path: str = PLAIN) -> Note:
    found = read(path, text)
    assert isinstance(found, Note)
    return found


def summary(text: str | bytes, path: str = BATCH) -> Summary:
    found = read(path, text)
    assert isinstance(found, Summary)
    return found


def shaped(path: str, text: str) -> Shaped:
    found = read(path, text)
    assert isinstance(found, Shaped)
    return found


def test_what_is_read_is_said_by_the_place() -> None:
    text = "---\ntier: 3\ntype: model\n---\nText.\n"
    assert isinstance(read(PLAIN, text), Note)
    assert isinstance(read(BATCH, text), Summary)
    assert isinstance(read("models/alice/alice.md", text), Card)
    assert isinstance(read("topics/house.md", text), Shaped)


# Notes


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_a_file_of_white_space_is_no_note(text: str) -> None:
    assert read(PLAIN, text) is None


def test_a_note_is_read_with_all_that_its_front_matter_says() -> None:
    text = '---\ncreated: 2026-11-29T20:15:30Z\nsource: [[Raw 12]]\ntitle: "Train"\ntype: model\n---\n\nOne.\nTwo ü.\n'
    assert note(text) == Note(
        path=PLAIN,
        handle="harbour",
        created=NIGHT,
        dated=Dated.KEY,
        digest=pages.digest("One.\nTwo ü."),
        chars=11,
        lines=2,
        touched=TOUCHED,
        source="[[Raw 12]]",
        title="Train",
        is_card=True,
    )


def test_the_title_is_the_text_of_a_note_without_a_body() -> None:
    found = note("---\ntitle: 2024-11-02\n---\n")
    assert (found.title, found.chars, found.lines, found.digest) == ("2024-11-02", 10, 1, pages.digest(""))
    assert kinds.note_text(Page({"title": "Head"}, body="Body")) == "Body"


@pytest.mark.parametrize(
    ("path", "front", "created", "dated"),
    [
        (PLAIN, "created: 2026-11-29T20:15:30Z", NIGHT, Dated.KEY),
        (PLAIN, "created: 2026-11-29 21:15:30", NIGHT, Dated.KEY),
        (PLAIN, "created: '[[2026-11-29]]'", datetime(2026, 11, 28, 23, tzinfo=UTC), Dated.KEY),
        (PLAIN, "created: [[2026-11-29]]", datetime(2026, 11, 28, 23, tzinfo=UTC), Dated.KEY),
        (PLAIN, "date: 2026-11-29T20:15:30Z", NIGHT, Dated.KEY),
        (PLAIN, "created: 2026-11-29T20:15:30Z\ndate: 2020-01-01", NIGHT, Dated.KEY),
        (PLAIN, "created:\ndate: 2026-11-29T20:15:30Z", NIGHT, Dated.KEY),
        (NAMED, "created: 2026-11-29T20:15:30Z", NIGHT, Dated.KEY),
        (NAMED, "title: x", datetime(2026, 11, 20, 8, tzinfo=UTC), Dated.NAME),
        (NAMED, "date: soon", datetime(2026, 11, 20, 8, tzinfo=UTC), Dated.NAME),
        (PLAIN, "date: 2026-02-30", TOUCHED, Dated.FILE),
        (PLAIN, "title: x", TOUCHED, Dated.FILE),
    ],
)
def test_a_note_is_dated_by_its_keys_then_its_name_then_its_file(
    path: str, front: str, created: datetime, dated: Dated
) -> None:
    found = note(f"---\n{front}\n---\nText.\n", path)
    assert (found.created, found.dated, found.problem) == (created, dated, "")


@pytest.mark.parametrize("path", [PLAIN, NAMED])
@pytest.mark.parametrize("value", ["0000-00-00", "2026-02-30", "yesterday"])
def test_an_unusable_created_is_a_problem_and_the_next_way_of_dating_applies(path: str, value: str) -> None:
    found = note(f"---\ncreated: {value}\ndate: 2020-01-01\n---\nText.\n", path)
    assert found.problem.startswith("its `created` can't be read: ")
    assert value in found.problem
    assert found.dated is (Dated.NAME if path == NAMED else Dated.FILE)


def test_an_embed_is_a_note_that_shows_anothers_text() -> None:
    assert note("![[other|alias]]\n").embed == "other"
    assert note("---\ncreated: 2026-11-29\n---\n![[notes/other.md]]\n").embed == "notes/other"
    assert note("![[photo.png]]\n").embed == ""


@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"---\na: [\n---\n![[other]]\n", "can't be parsed"), (b"Text \xff", "not UTF-8"), (b"Text \0", "NUL bytes")],
)
def test_a_problem_counts_with_what_can_be_read_and_embeds_nothing(data: bytes, problem: str) -> None:
    found = note(data)
    assert problem in found.problem
    assert found.embed == ""
    assert found.chars > 0


@pytest.mark.parametrize(
    ("path", "created", "dated"),
    [(NAMED, datetime(2026, 11, 20, 8, tzinfo=UTC), Dated.NAME), (PLAIN, TOUCHED, Dated.FILE)],
)
def test_a_note_whose_bytes_can_not_be_read_counts_and_says_why(path: str, created: datetime, dated: Dated) -> None:
    found = kinds.unreadable_note(path, TOUCHED, BERLIN, "permission denied")
    assert (found.created, found.dated, found.problem) == (created, dated, "permission denied")
    assert (found.digest, found.chars, found.lines) == ("", 0, 1)


def test_a_note_is_spelled_as_the_format_page_shows_it() -> None:
    assert kinds.spell_note("Alice.\n", NIGHT, "a:b") == (
        b'---\ncreated: 2026-11-29T20:15:30Z\nsource: "a:b"\n---\nAlice.\n'
    )
    assert kinds.spell_note("Alice.", None) == b"Alice.\n"


@given(
    st.text("aä \n#-:[]'\"0漢", min_size=1).filter(str.strip),
    st.datetimes(timezones=st.just(UTC)),
    st.text("a:'é\u2028"),
)
def test_a_note_that_is_spelled_reads_back_the_same(text: str, created: datetime, source: str) -> None:
    found = note(kinds.spell_note(text, created, source))
    assert (found.created, found.source, found.problem) == (created, source, "")
    assert found.digest == pages.digest(text)


# Summaries


def test_a_summary_is_spelled_as_the_format_page_shows_it() -> None:
    assert kinds.spell_summary(SUMMARY, "One.\nTwo.").decode() == (
        "---\n"
        "tier: 0\n"
        "batch: 12\n"
        "created: 2026-11-29T20:15:30Z\n"
        "span_from: 2026-11-20T20:15:30Z\n"
        "span_to: 2026-11-29T19:15:30Z\n"
        "note_count: 2\n"
        "provenance:\n"
        '  - "[[2026-11-20-090000-met-p2m7]]"\n'
        '  - "[[notes/C# tips]]"\n'
        "digests:\n"
        '  - "9f86d081884c7d65"\n'
        '  - "0123456789abcdef"\n'
        "dates:\n"
        "  - 2026-11-20T20:15:30Z\n"
        "  - 2026-11-29T19:15:30Z\n"
        'summarizer: "extractive"\n'
        "draft: true\n"
        "---\n"
        "One.\n"
        "Two.\n"
    )


@pytest.mark.parametrize("draft", [True, False])
def test_a_summary_that_is_spelled_reads_back_the_same(draft: bool) -> None:  # noqa: FBT001  (a table's column)
    made = replace(SUMMARY, draft=draft)
    data = kinds.spell_summary(made, "One.\nTwo.")
    assert summary(data) == made
    assert (b"draft" in data) is draft


def test_a_summary_is_read_as_obsidian_rewrites_it() -> None:
    text = kinds.spell_summary(SUMMARY, "One.\nTwo.").decode()
    text = text.replace('"[[2026-11-20-090000-met-p2m7]]"', "[[notes/2026-11-20-090000-met-p2m7.md|met]]")
    text = text.replace("9f86", "9F86").replace("tier: 0", 'tier: "0"').replace("true", "Yes").replace("\n", "\r\n")
    first, second = SUMMARY.sources
    moved = replace(
        SUMMARY,
        sources=(
            first._replace(link="notes/" + first.link) if False else replace(first, link=f"notes/{first.link}"),
            second,
        ),
    )
    assert summary(text) == moved


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("One.\nTwo.\n", "\n", "it has no text"),
        ("tier: 0", "tier: 1", "it lies in tier-0 and says tier 1"),
        ("tier: 0\n", "", "it lies in tier-0 and says tier nothing"),
        ("created: 2026-11-29T20:15:30Z\n", "", "`created`: no date"),
        ("span_from: 2026-11-20", "span_from: 2026-02-30", "`span_from`: '2026-02-30T20:15:30Z' is no date"),
        ("span_to: 2026", "span_to: x", "`span_to`: no date"),
        ("note_count: 2", "note_count: two", "`note_count` is no number: 'two'"),
        ("note_count: 2", "note_count: -2", "`note_count` is no number: '-2'"),
        ("note_count: 2", "note_count: ²", "`note_count` is no number: '²'"),
        ("note_count: 2", "note_count: ٣", "`note_count` is no number: '٣'"),
        ("note_count: 2", f"note_count: {'9' * 5000}", f"`note_count` is no number: '{'9' * 20}'"),
        ("note_count: 2\n", "", "`note_count` is no number: ''"),
        ('  - "0123456789abcdef"\n', "", "it names 2 sources, 1 digests and 2 dates"),
        ("  - 2026-11-20T20:15:30Z\n", "", "it names 2 sources, 2 digests and 1 dates"),
        ("  - 2026-11-20T20:15:30Z", "  - soon", "no date like 2026-11-29 in 'soon'"),
        ('  - "[[notes/C# tips]]"\n', "", "it names 1 sources, 2 digests and 2 dates"),
        ("provenance:", "sources:", "it names no source"),
    ],
)
def test_a_summary_that_can_not_be_read_as_one_is_broken_and_has_no_sources(old: str, new: str, reason: str) -> None:
    text = kinds.spell_summary(SUMMARY, "One.\nTwo.").decode()
    assert old in text
    found = summary(text.replace(old, new, 1))
    assert found.problem.startswith(f"broken summary: {reason}")
    assert (found.sources, found.note_count, found.batch) == ((), 0, 12)


def test_a_summary_may_name_two_versions_of_a_note_but_none_twice() -> None:
    first, _ = SUMMARY.sources
    versions = replace(SUMMARY, sources=(first, replace(first, digest="0123456789abcdef")))
    assert summary(kinds.spell_summary(versions, "One.\nTwo.")) == versions
    twice = replace(SUMMARY, sources=(first, first))
    assert summary(kinds.spell_summary(twice, "One.\nTwo.")).problem == "broken summary: it names a source twice"


def test_a_summary_whose_front_matter_can_not_be_parsed_is_a_problem() -> None:
    assert "can't be parsed" in summary("---\ntier: [\n---\nText.\n").problem
    assert summary("").problem == "broken summary: it has no text"


# The other kinds


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("---\ntype: model\ndescription: The person.\n---\nMore.\n", "The person."),
        ("---\ntype: model\n---\n\n# The person\n\nMore.\n", "The person"),
        ("The person.\n", "The person."),
        ("#\n## \n  The person.\n", "The person."),
        ("", ""),
        ("#\n", ""),
    ],
)
def test_a_card_describes_its_model_by_its_key_or_its_first_line(text: str, description: str) -> None:
    assert read("models/alice/alice.md", text) == Card("models/alice/alice.md", "alice", description)


@pytest.mark.parametrize("word", ["true", "True", "yes", "on", "1", '"true"'])
def test_a_card_says_that_its_model_is_archived_and_folded(word: str) -> None:
    card = read("models/alice/alice.md", f'---\narchived: {word}\nfolded_into: "[[bob]]"\n---\n')
    assert isinstance(card, Card)
    assert (card.archived, card.folded_into) == (True, "bob")


@pytest.mark.parametrize("word", ["false", "no", "", "maybe"])
def test_any_other_word_is_off(word: str) -> None:
    card = read("models/alice/alice.md", f"---\narchived: {word}\n---\n")
    assert isinstance(card, Card)
    assert not card.archived


def test_a_card_that_can_not_be_parsed_is_a_problem() -> None:
    card = read("models/alice/alice.md", "---\na: [\n---\nThe person.\n")
    assert isinstance(card, Card)
    assert "can't be parsed" in card.problem
    assert card.description == "The person."


def test_cards_topics_and_entities_are_spelled_for_people() -> None:
    assert kinds.spell_card("The person.") == b'---\ntype: model\ndescription: "The person."\n---\n'
    assert kinds.spell_topic("Moving: house", NIGHT) == (
        b'---\ntitle: "Moving: house"\nstatus: open\ncreated: 2026-11-29T20:15:30Z\n---\n'
    )
    assert kinds.spell_entity(ada(label="no", duplicates=("ada-x7q2",))) == (
        b'---\nname: "Ada"\nkind: "no"\nstatus: confirmed\ncreated: 2026-11-29T20:15:30Z\n'
        b'possible_duplicates:\n  - "[[ada-x7q2]]"\n---\n'
    )
    assert b"possible_duplicates" not in kinds.spell_entity(ada(label="person"))


def ada(**more: Any) -> Entity:
    made = Entity("entities/ada-x7q2.md", "ada-x7q2", Kind.ENTITY, NIGHT, "Ada", "confirmed")
    return replace(made, **more)


def test_what_is_spelled_reads_back_as_its_kind() -> None:
    topic = shaped("topics/moving.md", kinds.spell_topic("Moving: house", NIGHT).decode())
    assert topic == Shaped("topics/moving.md", "moving", Kind.TOPIC, NIGHT, "Moving: house", "open")
    entity = shaped("entities/ada-x7q2.md", kinds.spell_entity(ada(label="person")).decode())
    assert entity == ada(label="person")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("sessions/2026-11-20-kitchen-x7q2.md", Kind.SESSION),
        ("procedures/2026-11-20-tests-x7q2.md", Kind.PROCEDURE),
        ("models/alice/retired/2026-11-20-t0-0001-x7q2.md", Kind.RETIRED),
        ("models/alice/tier-0/2026-11-20.md", Kind.STRAY),
    ],
)
def test_other_files_carry_title_status_size_and_a_date_from_their_name(path: str, kind: Kind) -> None:
    found = shaped(path, "---\ntitle: T\nname: N\nstatus: pending\n---\nText.\n")
    assert (found.kind, found.name, found.status, found.chars, found.problem) == (kind, "T", "pending", 5, "")
    assert found.created == datetime(2026, 11, 19, 23, tzinfo=UTC)


def test_other_files_say_what_is_wrong_with_them() -> None:
    assert shaped("topics/a.md", "---\ncreated: never\n---\n").problem.startswith("its `created` can't be read")
    assert "can't be parsed" in shaped("topics/a.md", "---\na: [\n---\n").problem


@given(st.binary(), st.sampled_from([PLAIN, NAMED, BATCH, "models/alice/alice.md", "topics/a.md", "entities/a.md"]))
def test_any_bytes_are_read_as_a_value_in_any_place(data: bytes, path: str) -> None:
    place = layout.place(path)
    assert isinstance(place, Place)
    found = kinds.read(path, place, pages.read(data), TOUCHED, BERLIN)
    assert found is None or (found.path, found.handle) == (path, layout.handle(path))


def test_a_session_is_spelled_with_its_topics_and_reads_back() -> None:
    made = Session("", "", Kind.SESSION, NIGHT, "Kitchen", session="s1", topics=("kitchen", "house"), source="agent")
    data = kinds.spell_session(made, "We chose oak.")
    assert data == (
        b'---\ntitle: "Kitchen"\nsession: "s1"\nstarted: 2026-11-29T20:15:30Z\ntopics:\n  - "[[kitchen]]"\n'
        b'  - "[[house]]"\nsource: "agent"\n---\nWe chose oak.\n'
    )
    found = shaped("sessions/2026-11-29-kitchen-x7q2.md", data.decode())
    assert isinstance(found, Session)
    assert (found.session, found.topics, found.source, found.created) == ("s1", ("kitchen", "house"), "agent", NIGHT)

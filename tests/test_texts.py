"""What is searched of each kind of file, and what it can be narrowed down by."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from pyramid_fs import Memory, kinds, layout, texts, vault, words
from pyramid_fs import format as pages

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from pyramid_fs.format import Page
    from pyramid_fs.notes import File
    from pyramid_fs.texts import Entry

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
SUMMARY = """---
tier: 0
batch: 1
created: 2026-03-01
span_from: 2026-01-10T00:00:00Z
span_to: 2026-01-20T00:00:00Z
note_count: 1
provenance:
  - "[[zebra]]"
digests:
  - "9f86d081884c7d65"
dates:
  - 2026-01-10T00:00:00Z
summarizer: "extractive"
---
Beans were sown.
"""


def parsed(path: str, text: str | bytes) -> tuple[File, Page]:
    place = layout.place(path)
    assert place
    page = pages.read(text if isinstance(text, bytes) else text.encode())
    file = kinds.read(path, place, page, NOW, UTC)
    assert file
    return file, page


def entry(path: str, text: str | bytes, zone: tzinfo = UTC) -> Entry:
    made = texts.entry(7, *parsed(path, text), zone)
    assert made
    return made


def note(text: str | bytes, name: str = "2026-03-14-beans-x7q2", model: str = "alice") -> Entry:
    return entry(f"models/{model}/{name}.md", text)


def found(entry: Entry, *terms: str) -> list[int]:
    return [entry.terms.get(term, 0) for term in terms]


# Words


def test_the_words_of_a_note_are_counted_under_its_number() -> None:
    made = note("---\ncreated: 2026-03-14\n---\nBeans and more beans, a bean.\n")
    assert made.id == 7
    assert found(made, "bean", "more", "lupin") == [3, 1, 0]


def test_what_a_person_wrote_in_front_matter_is_searched_and_the_stores_own_keys_are_not() -> None:
    made = note(
        "---\ncreated: 2026-03-14\nsource: chat:otter\nmood: cheerful\n"
        "tags: [lupin, heron]\nnested:\n  deep: canal\n---\nBeans\n"
    )
    assert found(made, "cheer", "lupin", "heron", "canal") == [1, 1, 1, 1]
    assert found(made, "mood", "creat", "otter") == [0, 0, 0]
    assert found(made, "chat:otter") == [1], "a note is found by its source as a whole"


def test_a_comment_in_front_matter_is_searched_once() -> None:
    made = note("---\nmood: cheerful # or so the walrus said\n---\nBeans\n")
    assert found(made, "walru", "cheer") == [1, 1]


def test_a_note_is_found_by_the_month_it_is_of_in_the_zone_of_the_vault() -> None:
    text = "---\ncreated: 2026-02-28T23:30:00Z\n---\nBeans\n"
    assert found(entry("models/alice/a.md", text), "februari", "march", "2026") == [1, 0, 1]
    berlin = entry("models/alice/a.md", text, ZoneInfo("Europe/Berlin"))
    assert found(berlin, "februari", "march", "2026") == [0, 1, 1]


def test_a_note_dated_by_its_file_alone_has_no_month() -> None:
    assert found(note("Beans", "beans"), "novemb", "2026") == [0, 0]


def test_a_name_that_a_person_gave_is_searched_and_one_that_the_store_made_is_found_as_a_whole() -> None:
    assert found(note("Lupins", "watering plan"), "water", "plan", "watering plan") == [1, 1, 1]
    made = note("Lupins", "2026-11-29-201530-beans-and-peas-x7q2")
    assert found(made, "pea") == [0]
    assert found(made, "2026-11-29-201530-beans-and-peas-x7q2") == [1]


def test_a_long_name_is_kept_to_its_first_letters() -> None:
    made = note("Beans", "q" * 100)
    assert max(map(len, made.terms)) == 64
    assert made.terms["q" * 64] >= 1


def test_a_card_is_found_by_its_description_and_its_name() -> None:
    made = entry("models/alice/alice.md", "---\ndescription: Who grows beans\n---\nLupins too.\n")
    assert found(made, "grow", "bean", "lupin", "alice") == [1, 1, 1, 1]


def test_a_topic_an_entity_and_a_session_are_found_by_name_and_text() -> None:
    topic = entry("topics/hedges.md", "---\ntitle: Hedges and walls\n---\nOf beech.\n")
    assert found(topic, "wall", "beech") == [1, 1]
    assert topic.terms["hedg"] >= 1
    assert found(entry("entities/mara-x7q2.md", "---\nname: Mara Lind\nstatus: pending\n---\n"), "lind", "pend") == [
        1,
        0,
    ]
    assert found(entry("sessions/day-x7q2.md", "A day by the canal"), "canal") == [1]


def test_of_a_summary_its_text_is_searched_and_none_of_its_sums() -> None:
    made = entry("models/alice/tier-0/alice-t0-0001-x7q2.md", SUMMARY)
    assert found(made, "bean", "sown") == [1, 1]
    assert found(made, "zebra", "extract", "9f86d081884c7d65", "2026-01-10t00:00:00z") == [0, 0, 0, 0]


def test_all_of_a_broken_front_matter_is_searched() -> None:
    made = note("---\nmood: [cheerful\nwhere: canal\n---\nBeans\n")
    assert found(made, "cheer", "canal", "bean") == [1, 1, 1]


def test_of_a_file_that_is_no_text_its_name_is_found() -> None:
    made = note(b"\xff\xfe\x00\x01 beans", "odd one")
    assert found(made, "odd", "odd one") == [1, 1]


def test_an_embed_is_no_text_of_its_own_unless_a_person_wrote_beside_it() -> None:
    bare = parsed("models/bob/e.md", "---\ncreated: 2026-03-14\n---\n![[beans]]\n")
    assert texts.is_embed(bare[0])
    assert texts.entry(7, *bare, UTC) is None
    made = note("---\nmood: cheerful\n---\n![[lupins]]\n", "e")
    assert found(made, "cheer", "lupin") == [1, 0]


# Facets


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("models/alice/a.md", "Beans", "note"),
        ("models/alice/sub/a.md", "Beans", "note"),
        ("models/alice/alice.md", "Beans", "card"),
        ("models/alice/tier-0/alice-t0-0001-x7q2.md", SUMMARY, "summary"),
        ("models/alice/retired/alice-t0-0001-x7q2.md", SUMMARY, "retired"),
        ("models/alice/retired/a.md", "A person's", "stray"),
        ("topics/a.md", "Beans", "topic"),
        ("sessions/a.md", "Beans", "session"),
        ("entities/a.md", "Beans", "entity"),
        ("procedures/a.md", "Beans", "procedure"),
    ],
)
def test_a_kind_is_named_as_it_is_asked_for(path: str, text: str, kind: str) -> None:
    made = entry(path, text)
    assert [facet for facet in made.facets if facet.startswith("kind:")] == [f"kind:{kind}"]
    assert ("model:alice" in made.facets) == path.startswith("models/")
    assert ("tier:0" in made.facets) == (kind == "summary")


def test_a_day_is_narrowed_down_to_year_month_and_day_of_the_vaults_zone() -> None:
    text = "---\ncreated: 2026-02-28T23:30:00Z\n---\nBeans\n"
    days = [facet for facet in entry("models/alice/a.md", text).facets if facet.startswith("day:")]
    assert days == ["day:2026", "day:2026-02", "day:2026-02-28"]
    berlin = entry("models/alice/a.md", text, ZoneInfo("Europe/Berlin")).facets
    assert [facet for facet in berlin if facet.startswith("day:")] == ["day:2026", "day:2026-03", "day:2026-03-01"]


@pytest.mark.parametrize("zone", ["America/New_York", "Etc/GMT+12", "Pacific/Kiritimati"])
@pytest.mark.parametrize(
    ("created", "month"),
    [("0001-01-01T00:00:00Z", "january"), ("9999-12-31T23:59:59.999999Z", "december")],
)
def test_a_note_at_either_end_of_the_calendar_is_of_a_month(created: str, month: str, zone: str) -> None:
    made = entry("models/alice/a.md", f"---\ncreated: {created}\n---\nBeans\n", ZoneInfo(zone))
    assert words.terms(month)[0] in made.terms
    assert f"day:{created[:10]}" in made.facets


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
def test_such_notes_keep_nobody_from_finding_anything(tmp_path: Path, zone: str) -> None:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend."})
    (tmp_path / "vault/pyramid.toml").write_text(f'format = 1\ntimezone = "{zone}"\n')
    for name, created in (("a", "0001-01-01T00:00:00Z"), ("b", "9999-12-31T23:59:59.999999Z")):
        text = f"---\ncreated: {created}\n---\nBeans of {name}.\n"
        (tmp_path / f"vault/models/alice/{name}.md").write_text(text)
    environ = {"PYRAMID_CACHE_DIR": str(tmp_path / "cache"), "PYRAMID_CONFIG": str(tmp_path / "config.toml")}
    with Memory(tmp_path / "vault", environ=environ, clock=lambda: NOW) as memory:
        memory.reindex()
        for query in ("beans", "beans in January", "beans 9999-12-31"):
            assert len(memory.recall(query).hits) == 2, query
            assert memory.why("b", query)
            assert len(memory.context(query).recent) == 2


def test_a_summary_of_many_days_is_of_no_day() -> None:
    made = entry("models/alice/tier-0/alice-t0-0001-x7q2.md", SUMMARY)
    assert [facet for facet in made.facets if facet.startswith("day:")] == []
    one = entry("models/alice/tier-0/alice-t0-0001-x7q2.md", SUMMARY.replace("01-20", "01-10"))
    assert "day:2026-01-10" in one.facets
    assert texts.dates(parsed("models/alice/alice.md", "A card")[0]) == (None, None)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Anna: the beans are sown.", ["anna"]),
        ("**Anna:** the beans are sown.", ["anna"]),
        ("Anna Lind: the beans", ["anna", "lind"]),
        ("The beans are sown.", []),
        ("https://beans.example is down", []),
    ],
)
def test_a_note_is_by_its_speaker_and_about_its_model(text: str, who: list[str]) -> None:
    made = note(text, model="garden-2026")
    names = [facet.removeprefix("who:") for facet in made.facets if facet.startswith("who:")]
    assert names[: len(who)] == who
    assert "garden" in names
    assert "2026" not in names
    assert len(names) == len(set(names))


def test_only_a_note_is_by_or_about_somebody() -> None:
    made = entry("topics/a.md", "Anna: the beans")
    assert [facet for facet in made.facets if facet.startswith("who:")] == []

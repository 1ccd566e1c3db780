"""What a path is, what is no note, and that every name the store makes can be held anywhere."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyramid_fs import layout
from pyramid_fs.errors import IllegalName
from pyramid_fs.layout import Place
from pyramid_fs.notes import Kind

NIGHT = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)
FAMILY = "👨‍👩‍👧"
TITLES = st.one_of(
    st.text(),
    st.text(st.sampled_from('aÄß漢字กิ́ж👩‍🌾🇩🇪 -_.#[]|^%:\\/*?"<>\t\n0²½'), max_size=200),
    st.sampled_from(
        ["CON", "aux.md", "..", ".", "", " ", "!!!", "../x", FAMILY * 70, "x" * 300, "漢" * 100, "\ud800" * 90]
    ),
)


def is_held_anywhere(name: str) -> bool:
    """Whether Windows, macOS, Android and an Obsidian link can hold a name, as the letter of their rules says."""
    stem = name.partition(".")[0].rstrip(" ").upper()
    devices = {
        "CON",
        "PRN",
        "AUX",
        "NUL",
        *(f"{port}{number}" for port in ("COM", "LPT") for number in "0123456789¹²³"),
    }
    return (
        bool(name)
        and not re.search(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]]|%%', name)
        and name[0] not in ". -"
        and name[-1] not in ". "
        and stem not in devices
        and unicodedata.normalize("NFC", name) == name
        and not any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for letter in name)
    )


# Paths


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("models/alice/alice.md", Place(Kind.CARD, "alice")),
        ("models/alice/Alice.md", Place(Kind.CARD, "alice")),
        ("models/Lo\u0308we/L\u00f6we.md", Place(Kind.CARD, "Lo\u0308we")),
        ("models/v1.2/v1.2.md", Place(Kind.CARD, "v1.2")),
        ("models/alice/bob.md", Place(Kind.NOTE, "alice")),
        ("models/alice/bob.MD", Place(Kind.NOTE, "alice")),
        ("models/alice/2026-11/2026-11-29-201530-train-k3f9.md", Place(Kind.NOTE, "alice")),
        ("models/alice/deep/er/alice.md", Place(Kind.NOTE, "alice")),
        ("models/alice/alice-t0-0001-x7q2.md", Place(Kind.NOTE, "alice")),
        ("models/alice/notes/tier-0/alice-t0-0001-x7q2.md", Place(Kind.NOTE, "alice")),
        ("models/alice/tier-0.md", Place(Kind.NOTE, "alice")),
        ("models/alice/retired.md", Place(Kind.NOTE, "alice")),
        ("models/alice/tier-x/a.md", Place(Kind.NOTE, "alice")),
        ("models/alice/tier-0/alice-t0-0012-x7q2.md", Place(Kind.SUMMARY, "alice", 0)),
        ("models/alice/tier-0/old name-t0-0012-x7q2.md", Place(Kind.SUMMARY, "alice", 0)),
        ("models/alice/tier-12/alice-t12-0003-p0ds.md", Place(Kind.SUMMARY, "alice", 12)),
        ("models/alice/tier-1/alice-t0-0012-x7q2.md", Place(Kind.STRAY, "alice", 1)),
        ("models/alice/tier-0/mine.md", Place(Kind.STRAY, "alice", 0)),
        ("models/alice/tier-0/alice.md", Place(Kind.STRAY, "alice", 0)),
        ("models/alice/tier-0/alice-t0-0012-X7Q2.md", Place(Kind.STRAY, "alice", 0)),
        ("models/alice/tier-0/sub/alice-t0-0012-x7q2.md", Place(Kind.STRAY, "alice", 0)),
        ("models/alice/retired/alice-t0-0012-x7q2.md", Place(Kind.RETIRED, "alice")),
        ("models/alice/retired/mine.md", Place(Kind.STRAY, "alice")),
        ("topics/moving-house.md", Place(Kind.TOPIC)),
        ("topics/old/moving-house.md", Place(Kind.TOPIC)),
        ("sessions/2026-11-20-kitchen-x7q2.md", Place(Kind.SESSION)),
        ("entities/ada-lovelace-x7q2.md", Place(Kind.ENTITY)),
        ("procedures/run-the-tests-first-x7q2.md", Place(Kind.PROCEDURE)),
        ("alice.md", None),
        ("models/alice.md", None),
        ("ledger/k3f9m2.jsonl", None),
        ("ledger/k3f9m2.md", None),
        ("pyramid.toml", None),
        ("other/alice/alice.md", None),
        ("models/alice/photo.png", None),
        ("models/alice/.md", None),
        ("models/alice/.hidden.md", None),
        ("models/alice/~$bob.md", None),
        ("models/alice/~syncthing~bob.md", None),
        ("models/alice/bob.md~", None),
        ("models/alice/bob.md.tmp", None),
        ("models/alice/#bob.md#", None),
        ("models/alice/.bob.md.swp", None),
        ("models/alice/bob.md.icloud", None),
        ("models/alice/bob.sync-conflict-20260314-101500-ABCDEF7.md", None),
        ("topics/.moving.md", None),
    ],
)
def test_what_a_file_is_is_said_by_where_it_lies(path: str, place: Place | None) -> None:
    assert layout.place(path) == place


@pytest.mark.parametrize(
    ("path", "handle"),
    [("models/alice/bob.md", "bob"), ("bob.MD", "bob"), ("a/v1.2.md", "v1.2"), ("a/Lo\u0308we.md", "L\u00f6we")],
)
def test_a_handle_is_the_composed_name_without_md(path: str, handle: str) -> None:
    assert layout.handle(path) == handle


def test_names_are_the_same_but_for_case_and_composition() -> None:
    assert layout.same_name("L\u00d6WE", "lo\u0308we")
    assert layout.same_name("STRASSE", "straße")
    assert not layout.same_name("lowe", "löwe")


@pytest.mark.parametrize(
    "name",
    [
        "beans.sync-conflict-20260314-101500-ABCDEF7.md",
        "beans.sync-conflict-20260314-101500.md",
        "beans.sync-conflict-20260314-101500-ABCDEF7.sync-conflict-20260315-101500-GHIJKL7.md",
        "beans (laptop's conflicted copy 2026-03-14).md",
        "beans (Ada's laptop's conflicted copy 2026-03-14 (2)).md",
        "beans (conflicted copy 2026-03-14 101500).md",
        "beans (conflicted copy 2026-03-14 101500) (1).md",
        "beans (conflicted copy ada 2026-03-14 101500).md",
        "beans (Conflicted copy phone 202603141015).md",
        "beans (Conflicted copy Pixel (8) 202603141015).MD",
        "beans (Adas in Konflikt stehende Kopie 2026-03-14).md",
        "beans (Copie en conflit de Ada 2026-03-14).md",
        "beans (Copia en conflicto de Ada 2026-03-14).md",
        "beans (Case Conflict).md",
        "beans (Case Conflict 1).md",
        "beans (Selective Sync Conflict).md",
        "beans (Unicode Encoding Conflict 2).md",
        "beans_conflict-20260314-101500.md",
        "beans (SFConflict ada@example.org 2026-03-14-10-15-00).md",
        "beans_Andy-PC_Jan-03-0901-2026_Conflict.md",
        "beans_Andy-PC_Jan-03-0901-2026_CaseConflict_1.md",
    ],
)
def test_a_conflict_copy_is_known_by_the_form_its_tool_gives_it(name: str) -> None:
    assert layout.is_conflict_copy(name)
    assert not layout.is_markdown(name)


@pytest.mark.parametrize(
    "name",
    [
        "sync-conflict thoughts.md",
        "beans.sync-conflict.md",
        "beans.sync-conflict-2026.md",
        "on beans.sync-conflict-20260314-101500-ABCDEF7 and others.md",
        "beans 2.md",
        "beans (1).md",
        "beans copy.md",
        "beans (copy).md",
        "my conflicted copy habit.md",
        "conflicted copy.md",
        "my habit (conflicted copy).md",
        "the (conflicted copy 2026-03-14) I kept.md",
        "conflict-20260314.md",
        "the case conflict.md",
        "beans (a case conflict).md",
        "beans_Conflict.md",
        "beans-LAPTOP.md",
        "2026-03-14 Conflict (war).md",
    ],
)
def test_an_honest_name_that_looks_like_a_copy_is_a_note(name: str) -> None:
    assert layout.is_markdown(name)
    assert not layout.is_conflict_copy(name)


def test_only_markdown_is_a_conflict_copy_of_ours() -> None:
    assert not layout.is_conflict_copy("photo (Ada's conflicted copy 2026-03-14).png")
    assert not layout.is_conflict_copy("photo_conflict-20260314-101500")


@pytest.mark.parametrize(
    ("name", "stands_for"),
    [
        (".beans.md.icloud", "beans.md"),
        (".Beans.MD.iCloud", "Beans.MD"),
        ("beans.md.icloud", ""),
        (".b.png.icloud", ""),
        ("b.md", ""),
    ],
)
def test_a_cloud_placeholder_stands_for_a_file(name: str, stands_for: str) -> None:
    assert layout.placeholder_of(name) == stands_for


@pytest.mark.parametrize(
    ("name", "is_tools"),
    [(".obsidian", True), (".git", True), (".trash", True), ("node_modules", True), ("@eaDir", True), ("v1.2", False)],
)
def test_a_tools_folder_is_no_ones_notes(name: str, is_tools: bool) -> None:  # noqa: FBT001  (a table's column)
    assert layout.is_tool_folder(name) is is_tools


# Names of a person's


@pytest.mark.parametrize(
    "name",
    [
        "alice",
        "Alice B.C",
        "v1.2",
        "löwe",
        "日本語",
        "ไทย",
        "🌱",
        "R&D (2026)",
        "it's",
        "-x",
        "console",
        "con1",
        "x" * 60,
        "漢" * 20,
    ],
)
def test_a_legal_name_is_taken_as_it_is(name: str) -> None:
    assert layout.legal(name) == name
    assert is_held_anywhere(name.lstrip("-"))


def test_a_legal_name_is_composed() -> None:
    assert layout.legal("lo\u0308we") == "l\u00f6we"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../outside", "'/' is not allowed"),
        ("/tmp/outside", "'/' is not allowed"),
        ("..\\..\\outside", r"'\\\\' is not allowed"),
        ("a/../../../b", "'/' is not allowed"),
        ("garden/../../x", "'/' is not allowed"),
        ("C:\\pyramid", "':' is not allowed"),
        ("../secret", "'/' is not allowed"),
        ("in/out ratio", "'/' is not allowed"),
        ("Why? Because: CON", r"'\?' is not allowed"),
        (".hidden", "begins or ends with a dot or a blank"),
        ("ends with dot.", "begins or ends with a dot or a blank"),
        (" blank", "begins or ends with a dot or a blank"),
        ("blank ", "begins or ends with a dot or a blank"),
        ("CON", "Windows keeps that name for itself"),
        ("aux.txt", "Windows keeps that name for itself"),
        ("nul .x", "Windows keeps that name for itself"),
        ("Com1", "Windows keeps that name for itself"),
        ("lpt²", "Windows keeps that name for itself"),
        ("CONIN$", "Windows keeps that name for itself"),
        ("", "no letter or digit"),
        ("..", "no letter or digit"),
        ("!!!", "no letter or digit"),
        (" ", "no letter or digit"),
        ("a\nb", r"'\\n' is not allowed"),
        ("a\0b", r"'\\x00' is not allowed"),
        ("C#", "'#' is not allowed"),
        ("a|b", r"'\|' is not allowed"),
        ("a^b", r"'\^' is not allowed"),
        ("a[1]", r"'\[' is not allowed"),
        ("50%%", "'%%' is not allowed"),
        (FAMILY, "an invisible character"),
        ("a\u202eb", "an invisible character"),
        ("a\ufeff", "an invisible character"),
        ("a\ud800", "an invisible character"),
        ("a\ue000", "an invisible character"),
        ("a\u2028b", "an invisible character"),
        ("node_modules", "tools use that name"),
        ("x" * 61, "it is 61 bytes long, and 60 is the most"),
        ("漢" * 21, "it is 63 bytes long, and 60 is the most"),
    ],
)
def test_an_illegal_name_is_refused_with_what_is_wrong(name: str, reason: str) -> None:
    with pytest.raises(IllegalName, match=f"can't be a name: .*{reason}"):
        layout.legal(name)


def test_a_refusal_shows_no_more_of_a_long_name_than_a_line_holds() -> None:
    with pytest.raises(IllegalName, match=r"^'x{60}…' can't be a name"):
        layout.legal("x" * 5000)


@given(TITLES)
def test_a_name_is_legal_everywhere_or_refused(name: str) -> None:
    try:
        found = layout.legal(name)
    except IllegalName:
        return
    assert is_held_anywhere(found.lstrip("-") or "x")
    assert len(found.encode()) <= layout.SLUG_BYTES
    assert layout.legal(found) == found


# Names of the store's


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Moving house", "moving-house"),
        ("  Moving -- house!  ", "moving-house"),
        ("in/out ratio", "in-out-ratio"),
        ("Why? Because: CON", "why-because-con"),
        ("../../outside", "outside"),
        ("C:\\pyramid", "c-pyramid"),
        ("snake_case", "snake-case"),
        ("LÖWE", "löwe"),
        ("lo\u0308we", "l\u00f6we"),
        ("Список дел", "список-дел"),
        ("買い物リスト", "買い物リスト"),
        ("ที่บ้าน", "ที่บ้าน"),
        ("हिन्दी", "हिन्दी"),
        ("🌱 Beans", "🌱-beans"),
        ("❤\ufe0f", "❤"),
        (FAMILY, "👨-👩-👧"),
        ("50% of ½", "50-of-½"),
        ("\u0301\u0301-\u0302 a\u0301", "\u00e1"),
        ("\u0e34", ""),
        ("!!!", ""),
        ("..", ""),
        ("", ""),
        (" ", ""),
    ],
)
def test_a_slug_keeps_letters_digits_and_symbols_of_any_script(title: str, slug: str) -> None:
    assert layout.slug(title) == slug


@given(TITLES)
@example("a" + "\u0301" * 200)
def test_a_slug_is_legal_everywhere_short_and_stays_itself(title: str) -> None:
    slug = layout.slug(title)
    assert len(slug.encode()) <= layout.SLUG_BYTES
    assert not slug or is_held_anywhere(f"{slug}-k3f9")
    assert layout.slug(slug) == slug
    assert slug or not any(unicodedata.category(letter)[0] in "LN" for letter in title)


def test_two_long_titles_that_differ_at_the_end_are_two_slugs() -> None:
    one, other = layout.slug("x" * 299 + "a"), layout.slug("x" * 299 + "b")
    assert one != other
    assert one[:55] == other[:55] == "x" * 55


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("beans", 5, "beans"),
        ("beans", 4, "bean"),
        ("漢字", 5, "漢"),
        ("漢字", 2, ""),
        ("ae\u0301\u0302", 4, "a"),
        ("कि", 3, ""),
        ("ที่", 6, ""),
        ("😀😀", 7, "😀"),
    ],
)
def test_a_text_is_cut_at_a_whole_letter_with_its_marks(text: str, limit: int, short: str) -> None:
    assert layout.shorten(text, limit) == short


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 40))
def test_a_shortened_text_is_a_beginning_that_fits(text: str, limit: int) -> None:
    short = layout.shorten(text, limit)
    assert text.startswith(short)
    assert len(short.encode()) <= limit
    rest = text[len(short) :]
    assert not rest or not short or unicodedata.category(rest[0])[0] != "M"


def test_a_topics_slug_is_its_identity_and_must_be_legal() -> None:
    assert layout.topic_slug("in/out ratio") == "in-out-ratio"
    for title in ("CON", "!!!", ""):
        with pytest.raises(IllegalName):
            layout.topic_slug(title)


def test_topics_whose_titles_read_like_paths_stay_apart() -> None:
    slugs = {layout.topic_slug(title) for title in ("secret", "../secret", "/secret", "..\\secret")}
    assert len(slugs) == 4
    assert all(slug.startswith("secret") and is_held_anywhere(slug) for slug in slugs)
    assert len(layout.topic_slug(f"../{'x' * 300}").encode()) <= layout.SLUG_BYTES


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Alice prefers the morning train.", "alice-prefers-the-morning-train"),
        ("one two three four five six seven eight nine", "one-two-three-four-five-six-seven-eight"),
        ("See https://example.org/a?b=c for more", "see-for-more"),
        ("https://example.org", "note"),
        ("!!!", "note"),
        ("", "note"),
        ("# A heading\n\n- an item", "a-heading-an-item"),
        ("漢" * 100, "漢" * 20),
        (f"{'x' * 59} y", "x" * 59),
    ],
)
def test_a_notes_name_carries_month_time_and_first_words(text: str, words: str) -> None:
    assert layout.note_path("alice", NIGHT, text, "k3f9") == f"models/alice/2026-11/2026-11-29-201530-{words}-k3f9.md"
    assert layout.words_of(f"2026-11-29-201530-{words}-k3f9") == words


@given(TITLES, st.datetimes(timezones=st.just(UTC)))
def test_a_notes_name_is_held_anywhere(text: str, created: datetime) -> None:
    path = layout.note_path("alice", created, text, "k3f9")
    name = path.rsplit("/", 1)[-1]
    assert is_held_anywhere(name)
    assert len(name.encode()) <= layout.NAME_BYTES
    assert layout.place(path) == Place(Kind.NOTE, "alice")
    assert re.fullmatch(r"models/alice/(\d{4}-\d\d)/\1-\d\d-\d{6}-.+-k3f9\.md", path)


@given(TITLES, st.integers(0, 40), st.integers(0, 10**9 - 1))
@example("C#", 0, 1)
@example(".", 0, 1)
@example("My: notes", 12, 3)
@example("Lo\u0308we", 0, 1)
@example("y" * 240, 0, 1)
def test_a_summarys_name_is_held_anywhere_whatever_a_person_calls_the_folder(model: str, tier: int, batch: int) -> None:
    path = layout.summary_path(model, tier, batch, "x7q2")
    name = path.rsplit("/", 1)[-1]
    assert is_held_anywhere(name.lstrip("-"))
    assert len(name.encode()) <= layout.NAME_BYTES
    assert layout.batch_of(path) == batch
    if "/" not in model:
        assert layout.place(path) == Place(Kind.SUMMARY, model, tier)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("alice", "models/alice/tier-1/alice-t1-0012-x7q2.md"),
        ("Alice B", "models/Alice B/tier-1/Alice B-t1-0012-x7q2.md"),
        ("C# & F#", "models/C# & F#/tier-1/c-f-t1-0012-x7q2.md"),
        ("---", "models/---/tier-1/model-t1-0012-x7q2.md"),
    ],
)
def test_a_summary_is_named_after_its_model_as_far_as_a_link_can_hold_that(model: str, path: str) -> None:
    assert layout.summary_path(model, 1, 12, "x7q2") == path


@pytest.mark.parametrize(
    ("path", "batch"), [("a/x-t0-0012-x7q2.md", 12), ("a/x-t2-123456789-x7q2.md", 123456789), ("a/x.md", 0)]
)
def test_the_number_of_a_batch_stands_in_the_name(path: str, batch: int) -> None:
    assert layout.batch_of(path) == batch


@given(TITLES, st.sampled_from([Kind.TOPIC, Kind.SESSION, Kind.ENTITY, Kind.PROCEDURE]))
def test_the_name_of_a_session_entity_or_procedure_is_held_anywhere(title: str, kind: Kind) -> None:
    path = layout.shape_path(kind, title, "x7q2", "2026-11-20")
    name = path.rsplit("/", 1)[-1]
    assert is_held_anywhere(name)
    assert len(name.encode()) <= layout.NAME_BYTES
    assert layout.place(path) == Place(kind)
    assert is_held_anywhere(layout.shape_path(kind, title, "x7q2").rsplit("/", 1)[-1])


def test_a_thing_without_a_usable_letter_is_named_by_its_kind() -> None:
    assert layout.shape_path(Kind.ENTITY, "Ada Lovelace", "x7q2") == "entities/ada-lovelace-x7q2.md"
    assert layout.shape_path(Kind.ENTITY, "!!!", "x7q2") == "entities/entity-x7q2.md"
    assert layout.shape_path(Kind.SESSION, "Kitchen", "x7q2", "2026-11-20") == "sessions/2026-11-20-kitchen-x7q2.md"


def test_a_models_card_bears_the_models_name() -> None:
    assert layout.place(layout.card_path("alice")) == Place(Kind.CARD, "alice")


@given(TITLES, TITLES)
def test_a_suffix_follows_from_what_identifies_a_thing(one: str, other: str) -> None:
    suffix = layout.digest_suffix(one, other)
    assert re.fullmatch("[0-9a-z]{4}", suffix)
    assert suffix == layout.digest_suffix(one, other)


def test_suffixes_are_the_same_on_every_machine_and_spread() -> None:
    assert layout.digest_suffix("claude-code:5f0c", "9f86d081884c7d65") == "mtvm"
    assert len({layout.digest_suffix(str(number)) for number in range(500)}) > 490

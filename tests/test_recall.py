"""Finding texts in a vault: all kinds, each once with all its models, filtered as asked, with the call for more."""

from __future__ import annotations

import hashlib
import json
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pyramid_fs import Memory, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import NoSuchModel, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "Beans and their keeper.", "bob": "", "carol": ""})
    return tmp_path / "vault"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / "cache"), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    with Memory(root, environ=environ, clock=lambda: NOW) as memory:
        yield memory


def write(root: Path, path: str, text: str | bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def found(memory: Memory, query: str, **asked: Any) -> list[str]:
    return [hit.handle for hit in memory.recall(query, **asked).hits]


SUMMARY = """---
tier: 0
batch: 1
created: 2026-03-01
span_from: 2026-01-10T00:00:00Z
span_to: 2026-01-20T00:00:00Z
note_count: 1
provenance:
  - "[[gone]]"
digests:
  - "9f86d081884c7d65"
dates:
  - 2026-01-10T00:00:00Z
summarizer: "extractive"
---
The beans were sold.
"""


def test_all_kinds_are_found_and_say_what_they_are(memory: Memory, root: Path) -> None:
    write(root, "models/bob/note.md", "Beans.")
    write(root, "models/bob/tier-0/bob-t0-0001-k3f9.md", SUMMARY)
    write(root, "models/bob/tier-0/stray.md", "Beans.")
    write(root, "models/bob/retired/bob-t0-0001-x7q2.md", SUMMARY)
    write(root, "topics/beans.md", "---\ntitle: Beans\n---\n")
    write(root, "sessions/s-k3f9.md", "About beans.")
    write(root, "entities/e-k3f9.md", "---\nname: Ada\naliases: [beans]\n---\n")
    write(root, "procedures/p-k3f9.md", "Soak the beans.")
    kinds = {hit.handle: (hit.kind, hit.models, hit.tier) for hit in memory.recall("beans", limit=20).hits}
    assert kinds == {
        "note": ("note", ("bob",), None), "bob-t0-0001-k3f9": ("summary", ("bob",), 0),
        "stray": ("stray", ("bob",), None),
        "alice": ("card", ("alice",), None), "beans": ("topic", (), None), "s-k3f9": ("session", (), None),
        "e-k3f9": ("entity", (), None), "p-k3f9": ("procedure", (), None),
    }  # fmt: skip
    for kind in ("note", "summary", "card", "topic", "session", "entity", "procedure"):
        assert {hit.kind for hit in memory.recall("beans", kinds=(kind,)).hits} == {kind}
    assert found(memory, "beans", kinds=("retired",)) == ["bob-t0-0001-x7q2"]
    assert found(memory, "beans", tier=0) == ["bob-t0-0001-k3f9"]
    assert found(memory, "beans", tier=1) == []


def test_a_text_in_several_models_comes_once_and_is_found_through_each(memory: Memory) -> None:
    handle = memory.record("Beans.", ["carol", "bob"]).handle
    for models in ((), ("bob",), ("carol",), ("alice", "bob")):
        (hit,) = memory.recall("beans", models=models, kinds=("note",)).hits
        assert (hit.handle, hit.models) == (handle, ("bob", "carol"))
    assert found(memory, "beans", models=("alice",), kinds=("note",)) == []
    with pytest.raises(NoSuchModel, match="bob"):
        memory.recall("beans", models=("bop",))


def test_more_and_rarer_words_rank_higher_and_the_newer_of_equals_first(memory: Memory, root: Path) -> None:
    for day, text in enumerate(["saffron", "beans and peas", "beans", "beans, peas and saffron", "beans"], 1):
        write(root, f"models/bob/n{day}.md", f"---\ncreated: 2026-01-{day:02d}\n---\n{text}")
    hits = found(memory, "beans peas saffron", kinds=("note",))
    assert hits[0] == "n4"
    assert set(hits) == {"n1", "n2", "n3", "n4", "n5"}
    for name, text in (
        ("apart", "saffron"),
        ("old", "turmeric"),
        ("new", "turmeric"),
        ("last", "turmeric and saffron"),
    ):
        write(root, f"models/{name}/{name}.md", f"---\ncreated: 2026-0{len(name)}-01\n---\n{text}")
    assert found(memory, "turmeric saffron", models=("apart", "old", "new", "last")) == ["last", "old", "new", "apart"]


def test_a_phrase_must_and_a_minus_word_may_not_be_there(memory: Memory, root: Path) -> None:
    for name, text in (("one", "The old red boat."), ("two", "The red old boat."), ("three", "The old red boat sank.")):
        write(root, f"models/bob/{name}.md", text)
    assert sorted(found(memory, '"old red"')) == ["one", "three"]
    assert found(memory, '"old red" -sank') == ["one"]
    for query in ("", "  ", "\n"):
        with pytest.raises(UsageError, match="the query is empty"):
            memory.recall(query)
    for query in ("-sank", '-"old red" -boat'):
        with pytest.raises(UsageError, match="only what must not be there"):
            memory.recall(query)
    assert memory.recall("*").hits == memory.recall("? !").hits == ()
    assert memory.recall("* ?").notes == ("Nothing was looked for: the query has no word, and no quoted phrase.",)


@pytest.mark.parametrize(
    ("since", "until", "days"),
    [
        ("2026-01-02", "", [2, 3]),
        ("", "2026-01-02", [1, 2]),
        ("2026-01-02", "2026-01-02", [2]),
        ("2026-01-02T12:00", "", [3]),
        ("", "2026-01-02T12:00", [1, 2]),
        ("2026-01-04", "", []),
    ],
)
def test_dates_are_whole_days_in_the_vault_s_zone_both_ends_included(
    root: Path, since: str, until: str, days: list[int]
) -> None:
    write(root, "pyramid.toml", 'format = 1\ntimezone = "Asia/Tokyo"\n')
    for day, time in ((1, "2025-12-31T15:00:00Z"), (2, "2026-01-01T15:00:00Z"), (3, "2026-01-03T14:59:59Z")):
        write(root, f"models/bob/n{day}.md", f"---\ncreated: {time}\n---\nBeans.")
    with Memory(root, environ={"PYRAMID_CACHE_DIR": str(root.parent / "c"), "PYRAMID_CONFIG": "/nowhere"}) as memory:
        hits = memory.recall("beans", since=since, until=until, kinds=("note",)).hits
        assert sorted(hit.handle for hit in hits) == [f"n{day}" for day in days]
        assert all(hit.created == f"2026-01-0{hit.handle[1]}" for hit in hits)


def test_a_summary_is_in_a_range_that_its_span_touches(memory: Memory, root: Path) -> None:
    write(root, "models/bob/tier-0/bob-t0-0001-k3f9.md", SUMMARY)
    for since, until, is_in in (
        ("2026-01-20", "", True), ("2026-01-21", "", False), ("", "2026-01-10", True), ("", "2026-01-09", False),
        ("2026-01-12", "2026-01-14", True),
    ):  # fmt: skip
        assert bool(found(memory, "beans", kinds=("summary",), since=since, until=until)) is is_in
    with pytest.raises(UsageError, match="since and until take dates"):
        memory.recall("beans", since="yesterday")


def test_the_call_for_more_shows_the_rest_and_then_there_is_none(memory: Memory, root: Path) -> None:
    for number in range(7):
        write(root, f"models/bob/n{number}.md", f"Bob's beans, number {number}.")
    first = memory.recall("Bob's beans", limit=3, models=("bob",), kinds=("note",))
    assert first.next
    words = shlex.split(first.next)
    assert words == ["pyramid", "recall", "-m", "bob", "--kind", "note", "-n", "3", "--start", "3", "--", "Bob's beans"]
    handles = [hit.handle for hit in first.hits]
    for start in (3, 6):
        page = memory.recall("Bob's beans", limit=3, start=start, models=("bob",), kinds=("note",))
        handles += [hit.handle for hit in page.hits]
    assert page.next is None
    assert sorted(handles) == [f"n{number}" for number in range(7)]
    with pytest.raises(UsageError):
        memory.recall("beans", limit=0)


def test_what_a_person_wrote_in_front_matter_is_found_and_a_summary_s_sums_are_not(memory: Memory, root: Path) -> None:
    write(root, "models/bob/note.md", "---\ntags: [legumes]\ntitle: Supper\n---\nText.")
    write(root, "models/bob/only title.md", "---\ntitle: Breakfast\n---\n")
    write(root, "models/bob/tier-0/bob-t0-0001-k3f9.md", SUMMARY)
    assert found(memory, "legumes") == ["note"]
    assert memory.recall("breakfast").hits[0].text == "Breakfast"
    assert found(memory, "extractive") == found(memory, "9f86d081884c7d65") == []


def test_a_broken_file_is_found_and_a_forgotten_one_is_not(memory: Memory, root: Path) -> None:
    write(root, "models/bob/broken.md", "---\na: [\n---\nBeans.")
    write(root, "models/bob/latin.md", b"Beans and caf\xe9.")
    write(root, "models/bob/forgotten.md", "Beans.")
    write(root, "models/bob/tier-0/bob-t0-0001-k3f9.md", "Beans, and no summary.")
    line = {"forgot": hashlib.sha256(b"forgotten").hexdigest(), "digest": pages.digest("Beans.")}
    write(root, "ledger/k3f9m2.jsonl", json.dumps(line))
    assert sorted(found(memory, "beans", models=("bob",))) == ["bob-t0-0001-k3f9", "broken", "latin"]
    assert found(memory, "café", models=("bob",)) == ["latin"]


def test_a_long_text_is_shown_around_what_was_found(memory: Memory, root: Path) -> None:
    write(root, "models/bob/long.md", "word " * 500 + "saffron " + "word " * 500)
    (hit,) = memory.recall("saffron").hits
    assert "saffron" in hit.text
    assert len(hit.text) < 400
    assert hit.text.startswith("… ")
    assert hit.text.endswith(" …")


def test_an_edit_is_found_at_once_and_what_is_gone_is_not(memory: Memory, root: Path) -> None:
    write(root, "models/bob/x.md", "Beans.")
    assert found(memory, "beans", models=("bob",)) == ["x"]
    write(root, "models/bob/x.md", "Bears.")
    assert (found(memory, "beans", models=("bob",)), found(memory, "bears")) == ([], ["x"])
    (root / "models/bob/x.md").unlink()
    assert found(memory, "bears") == []


def test_a_model_whose_folder_holds_odd_names_gives_a_call_that_a_shell_reads(memory: Memory) -> None:
    memory.create_model("my trip's plan")
    for number in range(2):
        memory.record(f"Beans {number}.", ["my trip's plan"])
    call = memory.recall("beans", limit=1, models=("my trip's plan",)).next
    assert call
    assert shlex.split(call)[2:4] == ["-m", "my trip's plan"]


def test_a_query_of_very_many_words_says_what_was_cut(memory: Memory) -> None:
    memory.record("Beans.", ["bob"])
    hits = memory.recall("beans " + " ".join(f"w{number}" for number in range(300)))
    assert hits.notes == ("The query has 269 words more than are looked for.",)
    assert hits.hits


# Why, and what a score is made of


def test_why_names_the_place_of_a_hit_and_the_words_as_they_were_typed(memory: Memory, root: Path) -> None:
    write(root, "models/bob/one.md", "Saffron grows on the terraces.")
    write(root, "models/bob/two.md", "Saffron.")
    why = memory.why("one", "Terrace saffron ferry")
    assert (why.place, why.found, why.lacking, why.reasons) == (1, ("Terrace", "saffron"), ("ferry",), ())
    assert why.score == pytest.approx(sum(why.parts.values()))
    (hit, _) = memory.recall("Terrace saffron ferry").hits
    assert (hit.score, hit.parts) == (why.score, why.parts)
    assert memory.why("two", "Terrace saffron", limit=1).reasons == (
        "Only the first 1 are shown unless -n says otherwise.",
    )


def test_why_says_what_keeps_a_file_from_coming_up(memory: Memory, root: Path) -> None:
    write(root, "models/bob/note.md", "---\ncreated: 2026-01-05\n---\nBeans in the old red pot.")
    write(root, "models/carol/embed.md", "![[note]]")
    write(root, "models/bob/retired/bob-t0-0001-x7q2.md", SUMMARY)
    write(root, "models/bob/gone.md", "Beans.")
    line = {"forgot": hashlib.sha256(b"gone").hexdigest(), "digest": pages.digest("Beans.")}
    write(root, "ledger/k3f9m2.jsonl", json.dumps(line))

    def reason(handle: str, query: str, **asked: Any) -> str:
        found = memory.why(handle, query, **asked)
        assert found.place is None
        return " ".join(found.reasons)

    assert "No word that was looked for" in reason("note", "ferry")
    assert "has no word to look for" in reason("note", "?!")
    assert "word is in it that must not be" in reason("note", "beans -pot")
    assert "quoted phrase" in reason("note", 'beans "red old"')
    assert "filters leave it out" in reason("note", "beans", kinds=("card",))
    assert "filters leave it out" in reason("note", "beans", until="2026-01-04")
    assert "retired" in reason("bob-t0-0001-x7q2", "beans")
    assert "forgotten" in reason("gone", "beans")
    assert "shows the text of models/bob/note.md" in " ".join(memory.why("embed", "beans").reasons)
    with pytest.raises(UsageError, match="the query is empty"):
        memory.why("note", " ")


def test_a_summary_whose_notes_say_all_is_shown_with_them(memory: Memory, root: Path) -> None:
    for number in range(10):
        write(
            root,
            f"models/bob/n{number}.md",
            f"---\ncreated: 2026-01-0{number or 1}\n---\nBeans of row {number} were sold.",
        )
    memory.advance(["bob"])
    (summary,) = memory.recall("beans", kinds=("summary",)).hits
    hits = memory.recall("beans", limit=20).hits
    assert {hit.kind for hit in hits} == {"note", "card"}
    assert all(hit.above == (summary.handle,) for hit in hits if hit.kind == "note")
    assert "The notes below it say every word" in memory.why(summary.handle, "beans").reasons[0]


def test_a_word_that_no_text_has_finds_those_that_begin_like_it_or_are_spelled_almost_like_it(
    memory: Memory, root: Path
) -> None:
    write(root, "models/bob/one.md", "Saffron.")
    write(root, "models/bob/two.md", "Cardamom.")
    assert found(memory, "saff") == ["one"]
    assert found(memory, "safron") == ["one"]
    assert found(memory, "saffrno") == ["one"]
    assert found(memory, "sa") == []
    assert found(memory, "saxxron") == []


def test_a_date_and_a_name_in_the_query_lift_the_notes_that_they_fit(memory: Memory, root: Path) -> None:
    for name, day in (("a", 3), ("b", 8), ("c", 20)):
        write(root, f"models/m{name}/{name}.md", f"---\ncreated: 2023-05-{day:02d}\n---\nAnna: tea was served.")
    write(root, "models/md/d.md", "---\ncreated: 2023-05-08\n---\nBob: tea was served.")
    hits = memory.recall("tea on 8 May 2023").hits
    assert {hits[0].handle, hits[1].handle} == {"b", "d"}
    assert hits[0].parts["date"] > 0
    assert memory.recall("tea with Bob").hits[0].handle == "d"
    assert memory.recall("Anna's tea").hits[-1].handle == "d"


def test_a_phrase_of_a_summary_is_found_though_notes_below_say_its_words_apart(memory: Memory, root: Path) -> None:
    for number in range(10):
        write(
            root,
            f"models/bob/n{number}.md",
            f"---\ncreated: 2026-01-0{number or 1}\n---\nRed beans in the old pot {number}.",
        )
    memory.advance(["bob"])
    (path,) = (root / "models/bob/tier-0").glob("*.md")
    path.write_text(f"{path.read_text()}The old red pot broke.\n")
    assert found(memory, '"old red pot"') == [path.stem]
    assert path.stem not in found(memory, "old red pot", limit=50)


def test_every_summary_that_says_a_word_alone_is_a_hit_however_many_there_are(memory: Memory, root: Path) -> None:
    for number in range(130):
        write(root, f"models/bob/tier-0/bob-t0-{number:04d}-k3f9.md", SUMMARY)
    assert len(found(memory, "beans", models=("bob",), limit=500)) == 130

"""The public API, as a program uses it: one vault, one method a verb, and what each keeps and refuses."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, date, datetime, timedelta, timezone
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

import pyramid_fs
from pyramid_fs import Memory, cli, vault
from pyramid_fs import format as pages
from pyramid_fs.errors import (
    DiskError,
    ExistsAlready,
    IllegalName,
    NoSuchHandle,
    NoSuchModel,
    NotAVault,
    PyramidError,
    RefusedWrite,
    UnknownFormat,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 29, 20, 15, 30, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault.make_vault(tmp_path / "vault", models={"alice": "A friend.", "bob": ""})
    return tmp_path / "vault"


def opened(root: Path, cache: str = "cache") -> Memory:
    environ = {"PYRAMID_CACHE_DIR": str(root.parent / cache), "PYRAMID_CONFIG": str(root.parent / "config.toml")}
    return Memory(root, environ=environ, clock=lambda: NOW)


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with opened(root) as memory:
        yield memory


def write(root: Path, path: str, text: str) -> Path:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    return root / path


def text(number: int) -> str:
    return f"On day {number} Alice paid {number * 7} euros in Lyon for the boat."


def fill(root: Path, model: str, count: int) -> None:
    for number in range(count):
        date = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=number)
        write(root, f"models/{model}/n{number:03d}.md", f"---\ncreated: {date:%Y-%m-%d}\n---\n{text(number)}\n")


def files_of(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


# The main job, from end to end


def test_notes_go_in_grow_and_come_out_by_map_load_expand_and_recall(memory: Memory, root: Path) -> None:
    for number in range(12):
        memory.record(text(number), ["alice"], source="chat")
    assert [len(memory.due()), len(memory.advance().written), len(memory.due())] == [1, 1, 0]
    (line,) = [line for line in memory.map().models if line.name == "alice"]
    assert (line.description, line.notes, line.tail, line.summaries) == ("A friend.", 12, 2, {"0": 1})
    (loaded,) = memory.load(["alice"]).models
    assert (loaded.notes, loaded.covered, loaded.tail) == (12, 10, 2)
    (summary,) = loaded.summaries
    assert [note.text for note in loaded.recent] == [text(number) for number in range(7, 12)]
    assert [note.again for note in loaded.recent] == [True] * 3 + [False] * 2
    below = memory.expand(summary.handle)
    assert (below.kind, [note.text for note in below.below]) == ("summary", [text(number) for number in range(10)])
    note = memory.expand(below.below[0].handle)
    assert (note.kind, note.models, note.above, note.text.source) == ("note", ("alice",), (summary.handle,), "chat")
    assert text(3) in memory.recall("day 3 boat").hits[0].text
    proof = memory.verify()
    assert (proof.balances, [(m.notes, m.covered, m.tail) for m in proof.models]) == (True, [(12, 10, 2), (0, 0, 0)])
    assert memory.map().vault == memory.load(["bob"]).vault == memory.recall("x").vault == memory.name == str(root)


def test_the_package_gives_the_class_and_nothing_it_has_not() -> None:
    assert pyramid_fs.Memory is Memory
    with pytest.raises(AttributeError, match="no attribute 'Memmory'"):
        _ = pyramid_fs.Memmory


def test_where_there_is_no_vault_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(NotAVault):
        Memory(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_reading_writes_nothing_in_the_vault(memory: Memory, root: Path) -> None:
    fill(root, "alice", 12)
    before = files_of(root)
    memory.map(), memory.load(["alice"]), memory.expand("n003"), memory.recall("boat"), memory.status(), memory.doctor()
    memory.verify(), memory.due()
    assert files_of(root) == before


# Views


def test_the_cover_is_whole_whatever_the_budget_and_what_is_left_out_is_named_with_its_call(
    memory: Memory, root: Path
) -> None:
    fill(root, "alice", 137)
    memory.advance()
    (whole,) = memory.load(["alice"]).models
    assert (whole.covered, whole.tail, len(whole.recent)) == (130, 7, 7)
    for chars in (1, 3000, 5000, 8000):
        (small,) = memory.load(["alice"], chars=chars).models
        cover = [text.handle for text in small.summaries if not text.again]
        assert cover == [text.handle for text in whole.summaries if not text.again]
        assert sum(text.notes for text in small.summaries if not text.again) == 130
        shown = {text.handle for text in (*small.summaries, *small.recent)}
        assert len(shown) + sum(left.count for left in small.left) == len(whole.summaries) + len(whole.recent)
        assert all(left.call.startswith("pyramid load alice --tier ") for left in small.left)
    assert small.left == ()


def test_a_backlog_is_shown_whole_as_far_as_the_budget_reaches(memory: Memory, root: Path) -> None:
    fill(root, "alice", 120)
    (loaded,) = memory.load(["alice"], chars=100_000).models
    assert [note.text for note in loaded.recent] == [text(number) for number in range(120)]
    assert loaded.left == ()


def test_a_whole_tier_comes_in_pages(memory: Memory, root: Path) -> None:
    fill(root, "alice", 60)
    memory.advance()
    (tier,) = memory.load(["alice"], tier="0").models
    assert [entry.tier for entry in tier.summaries] == [0] * 6
    assert len(memory.load(["alice"], tier="notes").models[0].recent) == 60
    assert memory.load(["alice"], tier="tail").models[0].recent == ()
    assert memory.load(["alice"], tier="7").models[0].summaries == ()
    for bad in ({"tier": "x"}, {"tier": "-1"}, {"tier": "¹"}, {"chars": 0}, {"page": 0}):
        with pytest.raises(UsageError):
            memory.load(["alice"], **bad)
    with pytest.raises(UsageError):
        memory.load([])


def test_several_models_are_loaded_in_the_order_asked_each_once(memory: Memory) -> None:
    assert [model.name for model in memory.load(["bob", "alice", "bob"]).models] == ["bob", "alice"]
    with pytest.raises(NoSuchModel, match="no model 'alic'; the closest: alice"):
        memory.load(["bob", "alic"])


def test_the_map_shows_a_text_in_several_models_once_and_the_newest_first(memory: Memory) -> None:
    memory.record("First.", ["alice"])
    second = memory.record("Second.", ["bob", "alice"])
    recent = memory.map().recent
    assert [(note.text, note.models) for note in recent] == [("Second.", ("bob", "alice")), ("First.", ("alice",))]
    assert recent[0].handle == second.handle


def test_the_map_s_newest_notes_are_bounded_and_whole(memory: Memory, root: Path) -> None:
    fill(root, "alice", 40)
    assert len(memory.map().recent) == 30
    write(root, "models/bob/long.md", "---\ncreated: 2026-01-01\n---\n" + "w " * 4000)
    assert [note.handle for note in memory.map().recent] == ["long"]


def test_expand_of_what_is_no_note_shows_the_file(memory: Memory, root: Path) -> None:
    write(root, "topics/boat.md", "---\ntitle: The boat\n---\nSold.\n")
    assert memory.expand("boat").kind == "topic"
    assert memory.expand("alice").text.text == 'type: model\ndescription: "A friend."'


def test_expand_names_what_is_gone_and_what_is_not_active(memory: Memory, root: Path) -> None:
    fill(root, "alice", 10)
    (handle,) = memory.advance().written
    (root / "models/alice/n004.md").unlink()
    expanded = memory.expand(handle)
    assert (len(expanded.below), expanded.missing) == (9, ("n004",))
    path = root / f"models/alice/tier-0/{handle}.md"
    twin = path.with_name(f"{handle[:-4]}zzzz.md")
    twin.write_bytes(path.read_bytes().replace(b"created: 2026", b"created: 2027", 1))
    assert "loser of a merge" in memory.expand(twin.stem).kind


# Models


def test_a_model_is_made_once_by_any_spelling_a_disk_takes_for_the_same(memory: Memory, root: Path) -> None:
    assert memory.create_model("Zo\u00eb", "A cat.") == "Zo\u00eb"
    for name in ("Zo\u00eb", "zoe\u0308", "ZO\u00cb", "ALICE"):
        with pytest.raises(ExistsAlready, match="exists already"):
            memory.create_model(name)
    for name in ("", " ", "a/b", "..", ".git", "CON", "a:b", "x" * 61, "a\nb", "a.", "node_modules", "[[a]]", "a#b"):
        with pytest.raises(IllegalName):
            memory.create_model(name)
    assert memory.census.models() == ["Zo\u00eb", "alice", "bob"]
    assert pages.read((root / "models/Zo\u00eb/Zo\u00eb.md").read_bytes()).text("description") == "A cat."


def test_a_description_changes_its_line_alone(memory: Memory, root: Path) -> None:
    card = write(
        root, "models/alice/alice.md", "---\n# mine\ntype: model\ndescription: old # why\ntags: [a,b]\n---\nMore.\n"
    )
    memory.describe_model("alice", "New: better")
    assert card.read_text() == '---\n# mine\ntype: model\ndescription: "New: better" # why\ntags: [a,b]\n---\nMore.\n'
    card.write_text("---\na: [\n---\n")
    with pytest.raises(RefusedWrite, match="front matter can't be parsed"):
        memory.describe_model("alice", "x")
    assert card.read_text() == "---\na: [\n---\n"


def test_a_model_without_a_card_gets_one_when_it_must_say_something(memory: Memory, root: Path) -> None:
    write(root, "models/dora/x.md", "Text.")
    memory.describe_model("dora", "A dog.")
    assert memory.map().models[2].description == "A dog."


def test_an_archived_model_leaves_the_map_and_stays_readable(memory: Memory) -> None:
    memory.record("Beans.", ["bob"])
    memory.archive_model("bob")
    found = memory.map()
    assert ([line.name for line in found.models], found.archived, found.recent) == (["alice"], ("bob",), ())
    assert memory.recall("beans").hits[0].models == ("bob",)
    assert memory.load(["bob"]).models[0].archived
    memory.archive_model("bob", archived=False)
    assert [line.name for line in memory.map().models] == ["alice", "bob"]


def test_a_folded_model_leaves_one_note_in_the_other_and_all_its_own_where_they_are(memory: Memory, root: Path) -> None:
    fill(root, "alice", 3)
    before = files_of(root)
    made = memory.fold_model("alice", "bob")
    assert memory.expand(made.handle).text.text == (
        "alice (A friend.) was folded in here. Its 3 notes from 2025-01-01 to 2025-01-03 stay in its own folder."
    )
    assert memory.expand(made.handle).text.source == "fold:alice"
    assert all(files_of(root)[name] == data for name, data in before.items() if name != "models/alice/alice.md")
    card = pages.read((root / "models/alice/alice.md").read_bytes())
    assert (card.text("archived"), card.text("folded_into")) == ("true", "[[bob]]")
    assert memory.archive_model("alice", archived=False) == "alice"
    card = pages.read((root / "models/alice/alice.md").read_bytes())
    assert (card.text("archived"), card.text("folded_into")) == ("", "")
    assert memory.fold_model("alice", "bob", "All about boats.").models == ("bob",)
    with pytest.raises(UsageError, match="into itself"):
        memory.fold_model("bob", "bob")
    with pytest.raises(RefusedWrite, match="archived"):
        memory.fold_model("bob", "alice")


def test_a_model_is_renamed_with_its_card_and_never_onto_another(memory: Memory, root: Path) -> None:
    assert memory.rename_model("alice", "anna") == "anna"
    assert (root / "models/anna/anna.md").is_file()
    assert not (root / "models/alice").exists()
    assert memory.rename_model("anna", "Anna") == "Anna"
    assert (root / "models/Anna/Anna.md").is_file()
    with pytest.raises(ExistsAlready):
        memory.rename_model("Anna", "BOB")
    with pytest.raises(IllegalName):
        memory.rename_model("Anna", "a/b")
    with pytest.raises(NoSuchModel):
        memory.rename_model("alice", "x")
    assert [line.name for line in memory.map().models] == ["Anna", "bob"]


def test_times_go_on_in_a_model_that_was_renamed(memory: Memory) -> None:
    first = memory.record("First.", ["alice"])
    memory.rename_model("alice", "anna")
    second = memory.record("Second.", ["anna"])
    texts = [note.handle for note in memory.load(["anna"]).models[0].recent]
    assert texts == [first.handle, second.handle]


def test_a_model_with_a_new_name_of_an_old_one_starts_afresh(memory: Memory) -> None:
    memory.record("First.", ["alice"])
    memory.rename_model("alice", "anna")
    memory.create_model("alice")
    memory.record("Of the new one.", ["alice"])
    assert [line.notes for line in memory.map().models] == [1, 1, 0]


# Other shapes


def test_entities_are_confirmed_by_one_line_and_likely_twins_flagged(memory: Memory, root: Path) -> None:
    first = memory.add_entity("Ada Lovelace", "person")
    second = memory.add_entity("ada lovelace")
    assert re.fullmatch(r"ada-lovelace-[0-9a-z]{4}", first)
    assert pages.read((root / f"entities/{second}.md").read_bytes()).keys["possible_duplicates"] == [f"[[{first}]]"]
    path = write(root, "entities/bob-k3f9.md", "---\nname: Bob  # mine\nstatus: pending\n---\nText.\n")
    assert memory.confirm(["bob-k3f9", first]) == ["bob-k3f9"]
    assert path.read_text() == "---\nname: Bob  # mine\nstatus: confirmed\n---\nText.\n"
    fill(root, "alice", 1)
    with pytest.raises(UsageError, match="nothing to confirm"):
        memory.confirm(["n000"])
    with pytest.raises(NoSuchHandle):
        memory.confirm(["nobody"])
    with pytest.raises(UsageError, match="empty"):
        memory.add_entity("  ")


def test_a_topic_is_made_once(memory: Memory, root: Path) -> None:
    assert memory.add_topic("Moving House!") == "moving-house"
    assert pages.read((root / "topics/moving-house.md").read_bytes()).text("title") == "Moving House!"
    with pytest.raises(ExistsAlready):
        memory.add_topic("moving house")
    with pytest.raises(IllegalName):
        memory.add_topic("!!!")


# The state of things


def test_status_counts_what_is_there_due_and_revised(memory: Memory, root: Path) -> None:
    fill(root, "alice", 25)
    assert [(m.name, m.notes, m.tail, m.due) for m in memory.status().models] == [
        ("alice", 25, 25, 2),
        ("bob", 0, 0, 0),
    ]
    memory.advance()
    write(root, "models/alice/n003.md", "Other.")
    (alice, _) = memory.status().models
    assert (alice.tail, alice.summaries, alice.revised, alice.due, alice.waiting) == (6, {"0": 2}, 1, 0, ())
    assert memory.status().index["files"] == 29
    write(root, "models/alice/bad.md", "---\na: [\n---\n")
    status = memory.status()
    assert status.models[0].waiting == ("bad needs a person: pyramid doctor",)
    assert [problem.path for problem in status.problems] == ["models/alice/bad.md"]


def test_what_is_odd_in_the_settings_is_a_warning_and_what_is_wrong_an_error(root: Path) -> None:
    write(root, "pyramid.toml", "format = 1\ntimezon = 'UTC'\n")
    with opened(root) as memory:
        assert memory.warnings == (f"{root}/pyramid.toml: `timezon` is no setting; did you mean `timezone`?",)
        assert memory.status().warnings == memory.warnings
    write(root, "pyramid.toml", "format = 1\n")
    write(root.parent, "config.toml", "[summarizer]\nkind = 'magic'\n")
    with pytest.raises(UsageError, match=r"config\.toml: `summarizer\.kind`"):
        opened(root)


def test_a_vault_can_start_no_program(root: Path) -> None:
    write(root, "pyramid.toml", "format = 1\n[summarizer]\nkind = 'command'\ncommand = ['touch', 'x']\n")
    with opened(root) as memory:
        assert memory.summarizer
        assert memory.summarizer.name == "extractive"
        assert "`summarizer` is no setting" in memory.warnings[0]


def test_a_person_s_settings_for_one_vault_go_before_those_for_all(root: Path) -> None:
    config = (
        f'[summarizer]\nkind = "none"\n[vaults."{root}".summarizer]\nkind = "command"\ncommand = ["llm"]\nmodel = "m"\n'
    )
    write(root.parent, "config.toml", config)
    with opened(root) as memory:
        assert memory.summarizer
        assert memory.summarizer.name == "command:m"
    vault.make_vault(root.parent / "other", models={})
    with opened(root.parent / "other") as memory:
        assert memory.summarizer is None


# What a caller hands in


class Odd:
    """Nothing that any verb takes."""


LAST = datetime.max.replace(tzinfo=timezone(timedelta(hours=-9)))
"""A time that UTC does not have."""
NEVER: tuple[object, ...] = (Odd(), object, b"alice", 1 + 2j)
WRONG: dict[str, tuple[object, ...]] = {
    "str": (None, 5, ["alice"], *NEVER),
    "Sequence[str]": (None, 5, [5], ["alice", None], [["alice"]], range(3), {1: "alice"}, *NEVER),
    "int": ("5", 1.5, [1], *NEVER),
    "float": ("0.5", "high", [0.5], 10**400, *NEVER),
    "datetime": (5, "soon", "", "2026-13-45", ["2026-11-29"], date.min, LAST, *NEVER),
    "str | datetime": (5, ["2026-11-29"], LAST, *NEVER),
    "Path": (None, 5, "", ["x"], *NEVER),
    "Path | BinaryIO": (None, 5, "", ["x"], *NEVER),
}
"""By hint, what is none of it; None is wrong, too, where the hint does not say it."""
RIGHT: dict[str, object] = {
    "str": "alice",
    "Sequence[str]": ["alice"],
    "int": 1,
    "float": 0.5,
    "datetime": NOW,
    "str | datetime": "2026-11-29",
    "Path": "nowhere",
    "Path | BinaryIO": "nowhere",
}


def public() -> dict[str, dict[str, inspect.Parameter]]:
    """Give every public verb with its parameters."""
    found = {name: getattr(Memory, name) for name in dir(Memory) if not name.startswith("_")}
    verbs = {name: verb for name, verb in found.items() if isinstance(verb, FunctionType)}
    return {name: dict(list(inspect.signature(verb).parameters.items())[1:]) for name, verb in verbs.items()}


def hint(parameter: inspect.Parameter) -> str:
    return str(parameter.annotation).removesuffix(" | None")


def needed(parameters: dict[str, inspect.Parameter]) -> dict[str, object]:
    """Fill in what a verb can't go without."""
    bare = [each for each in parameters.values() if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    return {each.name: RIGHT.get(hint(each)) for each in bare}


@pytest.mark.parametrize(
    "verb", [name for name, given in public().items() if any(hint(p) in WRONG for p in given.values())]
)
def test_what_a_verb_can_not_take_is_an_error_in_a_sentence(root: Path, verb: str) -> None:
    write(root, "pyramid.toml", 'format = 1\ntimezone = "Asia/Tokyo"\n')
    parameters = public()[verb]
    before = files_of(root)
    with opened(root) as memory:
        for name, parameter in parameters.items():
            wrong = WRONG.get(hint(parameter), ())
            if hint(parameter) == parameter.annotation and None not in wrong:
                wrong = (*wrong, *([None] if wrong else []))
            for value in wrong:
                if value is None and hint(parameter) != parameter.annotation:
                    continue
                if verb == "time" and isinstance(value, str):
                    continue
                with pytest.raises(UsageError, match=rf"`{name}`.* .*"):
                    getattr(memory, verb)(**needed(parameters) | {name: value})
    assert files_of(root) == before


def test_no_hint_of_a_verb_is_passed_over() -> None:
    hints = {hint(each) for parameters in public().values() for each in parameters.values()}
    plain = {each for each in hints if re.search(r"\b(str|int|float|date|datetime|Path)\b", each)}
    assert {each for each in plain if not each.startswith("Callable")} == set(WRONG)


def test_what_is_handed_in_by_place_is_held_to_the_same(memory: Memory) -> None:
    for call in (
        lambda: memory.record(None, ["alice"]),  # type: ignore[arg-type]
        lambda: memory.record("x", 5),  # type: ignore[arg-type]
        lambda: memory.propose("entity", 5),  # type: ignore[arg-type]
        lambda: memory.recall(5),  # type: ignore[arg-type]
        lambda: memory.recall("x", limit="5"),
        lambda: memory.recall("x", kinds=5),
        lambda: memory.recall("x", since=5),
        lambda: memory.why("x", "x", models=[5]),
        lambda: memory.save_session("x", [None]),  # type: ignore[list-item]
        lambda: memory.path_of("models", "x"),
        lambda: memory.resolve(None, "neither"),  # type: ignore[arg-type]
        lambda: Memory(None),  # type: ignore[arg-type]
        lambda: Memory(""),
    ):
        with pytest.raises(UsageError, match=r"\S+ \S+"):
            call()
    with pytest.raises(TypeError):
        memory.record("x", ["alice"], "spade")  # type: ignore[call-arg]


ONE: dict[str, Callable[[], Any]] = {
    "a text": lambda: "alice",
    "a list": lambda: ["alice"],
    "a tuple": lambda: ("alice",),
    "a set": lambda: {"alice"},
    "a mapping": lambda: {"alice": 5},
    "a generator": lambda: (name for name in ["alice"]),
    "what map gives": lambda: map(str, ["alice"]),
}


@pytest.mark.parametrize("what", ONE)
def test_one_name_is_a_list_of_one_and_whatever_yields_names_is_a_list(memory: Memory, root: Path, what: str) -> None:
    one = ONE[what]
    fill(root, "alice", 12)
    assert memory.record("Beans.", one()).models == ("alice",)
    assert memory.save_session("Hoed.", one()).topics == ("alice",)
    assert [model.name for model in memory.load(one()).models] == ["alice"]
    assert [model.name for model in memory.load(one(), as_of="2026-11-29").models] == ["alice"]
    assert {hit.models for hit in memory.recall("beans", models=one()).hits} == {("alice",)}
    assert len(memory.due(one())) == 1
    assert [model.name for model in memory.stats(one()).models] == ["alice"]
    assert memory.redo_plan(models=one()).models.keys() <= {"alice"}
    assert len(memory.advance(one()).written) == 1
    memory.look(one())
    path = write(root, "entities/alice-x7q2.md", "---\nstatus: pending\n---\nBees.\n")
    assert memory.confirm(f"{name}-x7q2" for name in one()) == ["alice-x7q2"] if what != "a text" else True  # type: ignore[arg-type]
    assert memory.reject("alice-x7q2") == ["alice-x7q2"]
    assert "pruned" in path.read_text()
    assert memory.recall("boat", kinds="note").hits


TIMES: list[tuple[Any, datetime]] = [
    (datetime(2026, 3, 14, 9, tzinfo=UTC), datetime(2026, 3, 14, 9, tzinfo=UTC)),
    (datetime(2026, 3, 14, 9), datetime(2026, 3, 14, 8, tzinfo=UTC)),  # noqa: DTZ001
    (date(2026, 3, 14), datetime(2026, 3, 13, 23, tzinfo=UTC)),
    ("2026-03-14", datetime(2026, 3, 13, 23, tzinfo=UTC)),
    ("2026-03-14 09:00", datetime(2026, 3, 14, 8, tzinfo=UTC)),
    ("2026-03-14T09:00:00Z", datetime(2026, 3, 14, 9, tzinfo=UTC)),
]


@pytest.mark.parametrize(("given", "time"), TIMES)
def test_a_time_may_be_a_date_or_a_text_in_the_vaults_zone(root: Path, given: Any, time: datetime) -> None:
    write(root, "pyramid.toml", 'format = 1\ntimezone = "Europe/Berlin"\n')
    with opened(root) as memory:
        made = memory.record("Beans.", ["alice"], created=given)
        saved = memory.save_session("Hoed.", started=given)
        assert made.path.startswith(f"models/alice/{time:%Y-%m}/{time:%Y-%m-%d-%H%M%S}-")
        assert f"created: {time:%Y-%m-%dT%H:%M:%SZ}\n" in (root / made.path).read_text()
        assert f"started: {time:%Y-%m-%dT%H:%M:%SZ}\n" in (root / saved.path).read_text()
        assert memory.backfill(before=given, dry=True)
        assert len(memory.recall("beans", since=given, until=given).hits) == 1
        assert memory.load(["alice"], as_of=given).models[0].notes == 1
        assert memory.map(as_of=given).models[0].notes == 1
        assert not memory.is_future(given)
        assert memory.diff(given)


def test_a_path_may_be_a_text(memory: Memory, root: Path) -> None:
    write(root.parent, "daily/2026-03-14.md", "Beans.")
    assert memory.import_markdown(str(root.parent / "daily"), model="bob").notes == 1  # type: ignore[arg-type]
    memory.export_jsonl(str(root.parent / "out.jsonl"))  # type: ignore[arg-type]
    assert "Beans." in (root.parent / "out.jsonl").read_text()


@pytest.mark.parametrize("name", ["m" * 300, "m" * 5000, "м" * 200, "a\0b", "\ud800", "../alice", "", "a/" * 3000])
def test_a_name_that_no_disk_holds_is_no_model(memory: Memory, root: Path, name: str) -> None:
    before = files_of(root)
    for call in (
        lambda: memory.record("x", [name]),
        lambda: memory.record("x", ["alice", name]),
        lambda: memory.load([name]),
        lambda: memory.recall("x", models=[name]),
        lambda: memory.advance([name]),
        lambda: memory.rename_model(name, "x"),
        lambda: memory.archive_model(name),
        lambda: memory.fold_model("alice", name),
    ):
        with pytest.raises(NoSuchModel):
            call()
    for call in (
        lambda: memory.record("x", [name], create=True),
        lambda: memory.create_model(name),
        lambda: memory.rename_model("alice", name),
    ):
        with pytest.raises(IllegalName):
            call()
    for each in ("expand", "forget", "retire", "entity", "topic_history", "redo"):
        with pytest.raises(PyramidError):
            list(getattr(memory, each)(name))
    assert files_of(root) == before


def test_a_name_that_no_disk_holds_is_no_model_on_the_command_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(root.parent / "cache"))
    monkeypatch.setenv("PYRAMID_CONFIG", str(root.parent / "config.toml"))
    assert cli.run(["--vault", str(root), "record", "x", "-m", "m" * 300]) == 20
    assert "no model" in capsys.readouterr().err


def test_a_folder_with_the_longest_name_is_a_model_without_a_card(memory: Memory, root: Path) -> None:
    name = "m" * 254
    write(root, f"models/{name}/a.md", "Beans.")
    assert memory.record("Peas.", [name]).models == (name,)
    assert memory.load([name]).models[0].notes == 2


def verbs() -> dict[str, Callable[[Memory], object]]:
    return {
        "record": lambda memory: memory.record("x", ["alice"]),
        "advance": lambda memory: memory.advance(),
        "redo": lambda memory: list(memory.redo("x")),
        "create": lambda memory: memory.create_model("x"),
        "rename": lambda memory: memory.rename_model("alice", "x"),
        "archive": lambda memory: memory.archive_model("alice"),
        "fold": lambda memory: memory.fold_model("alice", "bob"),
        "describe": lambda memory: memory.describe_model("alice", "x"),
        "topic": lambda memory: memory.add_topic("x"),
        "entity": lambda memory: memory.add_entity("x"),
        "confirm": lambda memory: memory.confirm(["x"]),
    }


@pytest.mark.parametrize("verb", verbs())
def test_a_vault_of_a_newer_version_is_read_and_never_written(root: Path, verb: str) -> None:
    fill(root, "alice", 12)
    write(root, "pyramid.toml", "format = 2\n")
    before = files_of(root)
    with opened(root) as memory:
        assert memory.map().models[0].notes == 12
        with pytest.raises(UnknownFormat):
            verbs()[verb](memory)
        assert memory.grow_some(["alice"]).written == []
    assert files_of(root) == before


def test_a_cache_folder_that_can_not_be_made_stops_a_write_before_it_begins(root: Path) -> None:
    before = files_of(root)
    (root.parent / "file").write_text("")
    with opened(root, "file/deeper") as memory, pytest.raises(DiskError, match="can't be made"):
        memory.record("Beans.", ["alice"])
    assert files_of(root) == before


def test_a_time_is_read_as_the_vault_s_zone_takes_it(root: Path) -> None:
    write(root, "pyramid.toml", 'format = 1\ntimezone = "Europe/Berlin"\n')
    with opened(root) as memory:
        assert memory.time("2026-07-01") == datetime(2026, 6, 30, 22, tzinfo=UTC)
        with pytest.raises(UsageError, match="no date like"):
            memory.time("soon")

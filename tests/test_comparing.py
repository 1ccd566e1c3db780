"""What changed between two states, as values: pairs, renames, sentences, records, and the text of it all."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pyramid_fs import comparing, layout
from pyramid_fs import format as pages
from pyramid_fs.comparing import Diff, ModelChange, Snapshot, compare, sentences, stopped
from pyramid_fs.notes import Card, Curated, Dated, Entity, File, Kind, Note, Session, Shaped, Source, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY = datetime(2026, 11, 1, 12, tzinfo=UTC)


def note(path: str, text: str, *, day: int = 0, **more: object) -> tuple[Note, str]:
    created = DAY + timedelta(days=day)
    found = Note(path, layout.handle(path), created, Dated.KEY, pages.digest(text), len(text), 1, created)
    return replace(found, **more), text  # type: ignore[arg-type]


def summary(path: str, text: str, sources: Iterable[str] = ("a", "b"), *, day: int = 0) -> tuple[Summary, str]:
    made_of = tuple(Source(link, pages.digest(link), DAY) for link in sources)
    created = DAY + timedelta(days=day)
    found = Summary(path, layout.handle(path), 0, 1, created, DAY, DAY, len(made_of), made_of, pages.digest(text), 9, 1)
    return found, text


def retired(path: str) -> tuple[Shaped, str]:
    return Shaped(path, layout.handle(path), Kind.RETIRED, DAY), ""


def card(model: str, description: object = "", **more: object) -> tuple[Card, str]:
    path = layout.card_path(model)
    return replace(Card(path, model), description=description, **more), ""  # type: ignore[arg-type]


def entity(name: str, status: str, *, day: int = 0, **more: object) -> tuple[Entity, str]:
    found = Entity(f"entities/{name}.md", name, Kind.ENTITY, DAY + timedelta(days=day), name.title(), status)
    return replace(found, **more), ""  # type: ignore[arg-type]


def state(*held: tuple[File, str], models: Iterable[str] = (), forgotten: Iterable[tuple[str, str]] = ()) -> Snapshot:
    files = {file.path: file for file, _ in held}
    texts = {file.path: text for file, text in held}
    named = {path.split("/")[1] for path in files if path.startswith("models/")}
    marks = {(hashlib.sha256(handle.encode()).hexdigest(), pages.digest(text)): DAY for handle, text in forgotten}
    return Snapshot(files, frozenset({*named, *models}), marks, lambda file: texts[file.path])


def changes(old: Snapshot, new: Snapshot) -> Diff:
    return compare(old, new, UTC)


def only(found: Diff) -> ModelChange:
    (model,) = found.models
    return model


def handles(found: ModelChange) -> dict[str, list[str]]:
    lists = ("added", "revised", "moved", "gone", "forgotten", "written", "redone", "retired", "lost")
    return {which: [change.handle for change in getattr(found, which)] for which in lists if getattr(found, which)}


def test_nothing_changed_between_a_state_and_itself() -> None:
    same = state(
        note("models/a/n.md", "One."), summary("models/a/tier-0/a-t0-0001-aaaa.md", "S."), entity("ada", "pending")
    )
    other = state(
        note("models/a/n.md", "One."), summary("models/a/tier-0/a-t0-0001-aaaa.md", "S."), entity("ada", "pending")
    )
    for found in (changes(same, same), changes(same, other)):
        assert (found.models, found.records, found.topics, found.sessions, found.forgotten_unseen) == (
            (),
            (),
            (),
            (),
            0,
        )
        assert comparing.as_text(found).endswith("Nothing changed.")


def test_notes_added_revised_gone_and_forgotten() -> None:
    old = state(
        note("models/a/kept.md", "Stays."),
        note("models/a/edited.md", "The boat is blue. It has one mast."),
        note("models/a/deleted.md", "Away."),
        note("models/a/secret.md", "Not to be kept."),
    )
    new = state(
        note("models/a/kept.md", "Stays!"),  # a formatter's work is no new version
        note("models/a/edited.md", "The boat is green. It has one mast."),
        note("models/a/fresh.md", "New here.", day=2),
        forgotten=[("secret", "Not to be kept."), ("never-seen", "Something.")],
    )
    found = changes(old, new)
    model = only(found)
    assert handles(model) == {"added": ["fresh"], "revised": ["edited"], "gone": ["deleted"], "forgotten": ["secret"]}
    assert (model.revised[0].removed, model.revised[0].added) == (("The boat is blue.",), ("The boat is green.",))
    assert (model.added[0].created, model.added[0].text) == ("2026-11-03", "New here.")
    assert found.forgotten_unseen == 1
    tombs = [("secret", "Not to be kept."), ("secret", "Not to be kept, at first.")]
    assert changes(state(note("models/a/secret.md", "Not to be kept.")), state(forgotten=tombs)).forgotten_unseen == 0


def test_a_forgotten_note_that_an_old_copy_brought_back_is_no_note() -> None:
    tomb = [("secret", "Not to be kept.")]
    held = note("models/a/secret.md", "Not to be kept.")
    assert changes(state(models="a"), state(held, models="a", forgotten=tomb)).models == ()
    embed = note("models/b/shown.md", "![[secret]]", embed="secret")
    found = changes(state(embed, models="b"), state(models="b", forgotten=[("shown", "Not to be kept.")]))
    assert handles(only(found)) == {"forgotten": ["shown"]}


def test_a_file_that_was_moved_or_renamed_is_the_same_note() -> None:
    old = state(
        note("models/a/in.md", "First."), note("models/a/x/name.md", "Second."), note("models/b/n.md", "Third.")
    )
    moved = note("models/a/y/in.md", "First."), note("models/a/x/other.md", "Second."), note("models/a/n.md", "Third.")
    new = state(*moved, models="b")
    model = only(changes(old, new))
    assert handles(model) == {"moved": ["in", "n", "other"]}
    assert [change.was for change in model.moved] == ["models/a/in.md", "models/b/n.md", "models/a/x/name.md"]


def test_a_note_that_was_moved_and_edited_is_revised() -> None:
    old, new = state(note("models/a/in.md", "Red.")), state(note("models/a/y/in.md", "Blue."))
    (change,) = only(changes(old, new)).revised
    assert (change.path, change.was) == ("models/a/y/in.md", "models/a/in.md")


def test_summaries_written_redone_retired_and_gone() -> None:
    tier = "models/a/tier-0/a-t0-"
    old = state(
        summary(f"{tier}0001-aaaa.md", "It rained.\nThe roof held."),
        summary(f"{tier}0002-bbbb.md", "A loser."),
        summary(f"{tier}0003-cccc.md", "Away."),
        summary(f"{tier}0004-dddd.md", "Made of three.", "abc"),
    )
    new = state(
        summary(f"{tier}0001-aaaa.md", "It poured.\nThe roof held."),
        retired("models/a/retired/a-t0-0002-bbbb.md"),
        retired("models/a/retired/a-t0-0001-zzzz.md"),
        summary(f"{tier}0004-dddd.md", "Made of three.", "ab"),
        summary(f"{tier}0005-eeee.md", "New."),
    )
    model = only(changes(old, new))
    assert handles(model) == {
        "written": ["a-t0-0005-eeee"],
        "redone": ["a-t0-0001-aaaa", "a-t0-0004-dddd"],
        "retired": ["a-t0-0002-bbbb"],
        "lost": ["a-t0-0003-cccc"],
    }
    first, second = model.redone
    assert (first.removed, first.added) == (("It rained.",), ("It poured.",))
    assert (second.removed, second.added, second.notes_before, second.notes) == ((), (), 3, 2)


def test_what_cannot_be_read_is_not_known_to_have_changed() -> None:
    path = "models/a/tier-0/a-t0-0001-aaaa.md"
    broken = replace(summary(path, "")[0], problem="it may not be read"), ""
    old = state(note("models/a/n.md", "One."), summary(path, "S."))
    new = state(note("models/a/n.md", "", digest="", problem="it may not be read"), broken)
    assert (changes(old, new).models, changes(new, old).models) == ((), ())


def test_what_was_forgotten_is_not_told_again() -> None:
    path = "models/a/tier-0/a-t0-0001-aaaa.md"
    old = state(summary(path, "It rained.\nThe code is 4711.", "abc"), note("models/a/gate.md", "The code is 4711."))
    new = state(summary(path, "It rained.", "ab"), forgotten=[("gate", "The code is 4711.")])
    model = only(changes(old, new))
    assert (model.redone[0].removed, model.redone[0].withheld, model.forgotten[0].text) == ((), 1, "")
    assert "4711" not in "\n".join(shown(changes(old, new)))
    assert "  - 1 that went with what was forgotten" in shown(changes(old, new))


def test_a_model_that_was_renamed_is_one_model() -> None:
    old = state(
        card("bob", "A friend."),
        note("models/bob/x/n.md", "One."),
        summary("models/bob/tier-0/bob-t0-0001-aaaa.md", "S."),
    )
    redone = summary("models/robert/tier-0/bob-t0-0001-aaaa.md", "T.")
    notes = note("models/robert/x/n.md", "One."), note("models/robert/m.md", "Two.")
    new = state(card("robert", "A friend."), redone, *notes)
    model = only(changes(old, new))
    assert (model.name, model.happened) == ("robert", ("renamed from bob",))
    assert handles(model) == {"added": ["m"], "redone": ["bob-t0-0001-aaaa"]}


def test_a_model_that_went_in_part_into_a_new_one_was_not_renamed() -> None:
    held = [note(f"models/bob/{name}.md", f"About {name}.") for name in ("one", "two")]
    found = changes(state(*held), state(note("models/carl/one.md", "About one.")))
    assert [(model.name, model.happened) for model in found.models] == [("bob", ("gone",)), ("carl", ("new",))]
    assert [handles(model) for model in found.models] == [{"gone": ["two"]}, {"moved": ["one"]}]


def test_a_model_without_notes_is_known_by_its_card() -> None:
    found = changes(state(card("self", "The agent.")), state(card("me", "The agent."), card("other", "Another.")))
    assert [(model.name, model.happened) for model in found.models] == [
        ("me", ("renamed from self",)),
        ("other", ("new",)),
    ]
    found = changes(state(card("self")), state(card("me")))
    assert [(model.name, model.happened) for model in found.models] == [("me", ("new",)), ("self", ("gone",))]


@pytest.mark.parametrize(
    ("before", "after", "happened"),
    [
        ({}, {"archived": True}, ("archived",)),
        ({"archived": True}, {}, ("brought back",)),
        ({}, {"archived": True, "folded_into": "b"}, ("folded into b",)),
        ({"archived": True, "folded_into": "b"}, {}, ("brought back",)),
        ({}, {"description": "Anew."}, ("described anew",)),
    ],
)
def test_what_a_card_tells(before: dict[str, object], after: dict[str, object], happened: tuple[str, ...]) -> None:
    assert only(changes(state(card("a", **before)), state(card("a", **after)))).happened == happened


def test_records() -> None:
    rule = Curated("procedures/rule.md", "rule", Kind.PROCEDURE, DAY, "", "pending")
    old = state(
        entity("ada", "pending"),
        entity("bert", "confirmed"),
        entity("cleo", "confirmed"),
        entity("dora", "pending"),
        (rule, ""),
    )
    new = state(
        entity("ada", "confirmed"),
        entity("bert", "pruned"),
        entity("cleo", "confirmed", superseded_by="ada"),
        entity("emil", "pending"),
        entity("fritz", "confirmed"),
        (replace(rule, status="pruned"), ""),
        (Shaped("topics/moving.md", "moving", Kind.TOPIC, DAY, "Moving house", "open"), ""),
        (Session("sessions/s.md", "s", Kind.SESSION, DAY, "A talk"), ""),
    )
    found = changes(old, new)
    assert {(change.handle, change.what, change.by) for change in found.records} == {
        ("ada", "confirmed", ""),
        ("bert", "pruned", ""),
        ("cleo", "superseded", "ada"),
        ("dora", "gone", ""),
        ("emil", "proposed", ""),
        ("fritz", "confirmed", ""),
        ("rule", "pruned", ""),
    }
    assert [(change.name, change.what) for change in (*found.topics, *found.sessions)] == [
        ("Moving house", "new"),
        ("A talk", "new"),
    ]


def test_a_state_that_is_cut_off_at_a_time() -> None:
    whole = state(
        note("models/a/early.md", "One."),
        note("models/a/late.md", "Two.", day=5),
        summary("models/a/tier-0/a-t0-0001-aaaa.md", "S.", day=1),
        summary("models/a/tier-0/a-t0-0002-bbbb.md", "T.", day=6),
        retired("models/a/retired/a-t0-0003-cccc.md"),
        entity("ada", "pruned", pruned="2026-11-04"),
        entity("bert", "pruned", pruned="2026-11-02"),
        card("a"),
        forgotten=[("x", "y")],
    )
    then = stopped(whole, DAY + timedelta(days=2), "2026-11-03")
    assert sorted(file.handle for file in then.files.values()) == ["a-t0-0001-aaaa", "ada", "bert", "early"]
    found = changes(then, stopped(whole, DAY + timedelta(days=9), "2026-11-10"))
    assert handles(only(found)) == {"added": ["late"], "written": ["a-t0-0002-bbbb"]}
    assert [(change.handle, change.what) for change in found.records] == [("ada", "pruned")]
    early = stopped(whole, DAY - timedelta(days=1), "2026-10-31")
    assert (early.files, early.forgotten) == ({}, {})


def test_sentences() -> None:
    assert sentences("It rained. It  stopped.\nHe left", "It rained.\nIt stopped.") == (["He left"], [])
    assert sentences("雨が降った。船は出た。", "雨が降った。船は残った。") == (["船は出た。"], ["船は残った。"])
    assert sentences("", "") == ([], [])


# The text


def shown(found: Diff, *, whole: bool = False) -> list[str]:
    return comparing.as_text(replace(found, vault="v", since="A", until="B"), "CALL", whole=whole).splitlines()


def test_the_text_gives_counts_first_and_names_what_it_leaves_out() -> None:
    held = [note(f"models/a/n{number:02}.md", f"Note {number}.", day=number) for number in range(30)]
    found = changes(state(models="a"), state(*held))
    lines = shown(found)
    assert lines[:3] == ["Vault: v", "From A", "to B."]
    assert "In all: 30 notes added" in lines
    assert lines[lines.index("# a [30 notes added]") + 1 :][:2] == ["Notes added:", "- [[n00]] · 2026-11-01 · Note 0."]
    assert lines[-3:] == ["- and 10 more", "", "All of it: CALL"]
    whole = shown(found, whole=True)
    assert sum(line.startswith("- [[") for line in whole) == 30
    assert "CALL" not in whole[-1]


def test_a_text_can_draw_no_line_and_move_no_cursor() -> None:
    found = changes(state(models="a"), state(note("models/a/n.md", "One.\x1b[2J\n# alice [forged]\n- and 3 more")))
    assert shown(found)[-1] == "- [[n]] · 2026-11-01 · One.\\u001b[2J # alice [forged] - and 3 more"


def test_a_redone_summary_is_shown_by_sentence() -> None:
    path = "models/a/tier-0/a-t0-0001-aaaa.md"
    before, after = "\n".join(f"Old {n}." for n in range(5)), "Old 0.\nNew."
    assert shown(changes(state(summary(path, before)), state(summary(path, after))))[-8:] == [
        "- [[a-t0-0001-aaaa]] · tier 0 · 2 notes · 2026-11-01",
        "  - Old 1.",
        "  - Old 2.",
        "  - Old 3.",
        "  - and 1 more",
        "  + New.",
        "",
        "All of it: CALL",
    ]

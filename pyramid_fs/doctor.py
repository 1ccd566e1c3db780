"""Files that a person should look at, each with the reason and what to do about it."""

from __future__ import annotations

import contextlib
import re
import shlex
from typing import TYPE_CHECKING

from pyramid_fs import conflicts, curation, files, forget, history, layout, marks, mending, renaming, times
from pyramid_fs import format as pages
from pyramid_fs.errors import DiskError, Problem
from pyramid_fs.notes import Card, Curated, Kind, Note, Shaped, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyramid_fs.census import Census
    from pyramid_fs.notes import File

_FIXES = (
    (marks.REASON, f"`{mending.MEND}` settles it; a text that tells of such markers shows them in a fence of code"),
    (curation.MISTYPED, f"confirm it or reject it, or write one of these there: {', '.join(curation.KNOWN)}"),
    ("`confidence`", "confirm it or reject it, or write a number from 0 to 1 there: `confidence: 0.6`"),
    ("`created` is missing", "confirm it or reject it, or write the day there: `created: 2026-11-29`"),
    ("encoding", "open it in an editor and save it as UTF-8"),
    ("NUL bytes", "restore it from a backup, or delete it"),
    ("its `created`", "write a date like 2026-11-29 there, or remove the line"),
    ("stands in it twice", "keep one of the two lines"),
    ("front matter", "mend the lines between the dashes; text with `: ` or `#` in it needs quotes"),
    ("it embeds", "correct the link, or delete this file"),
    ("can't be read", "give yourself the right to read it"),
    ("but for composition", "rename one of them"),
    ("its name is not UTF-8", "rename it"),
    (
        "broken summary",
        (
            "restore it from git or a backup; `pyramid doctor --retire` with its name gives it up, and what"
            " it covered is summarized again"
        ),
    ),
)
_STORES_OWN = re.compile(rf"tier-\d+|{layout.RETIRED}")


def fix_for(reason: str) -> str:
    """Say what a person can do about a file that can't be used."""
    return next((fix for mark, fix in _FIXES if mark in reason), "look at it in an editor")


def problems(census: Census) -> list[Problem]:
    """List the files that can't be used as they are, each once: what `status` shows."""
    found = [Problem(p.path, p.reason, p.fix) for p in census.shut]
    for model in census.models():
        now = census.now(model)
        listed: list[Note | Summary] = [*(note for note in now.state.notes if note.problem), *now.state.broken]
        found += [Problem(file.path, file.problem) for file in listed]
        if now.card and now.card.problem:
            found.append(Problem(now.card.path, now.card.problem))
    for top in layout.SHAPES:
        found += [Problem(v.path, v.problem) for v in census.values(top) if isinstance(v, Shaped) and v.problem]
    return [Problem(p.path, p.reason, p.fix or fix_for(p.reason)) for p in sorted(set(found))]


def examine(census: Census) -> list[Problem]:
    """List all that a person should look at, sorted by path."""
    known = problems(census)
    named = {problem.path for problem in known}
    more = [
        *_copies(census),
        *_leftovers(census),
        *_strays(census),
        *_cards(census),
        *_cases(census),
        *renaming.problems(census),
        *_forgotten(census),
        *_edited(census),
        *_to_forget(census),
        *_held(census),
        *_unclear(census),
        *mending.problems(census.vault.root),
    ]
    return sorted([*known, *(problem for problem in more if problem.path not in named)])


def _copies(census: Census) -> Iterator[Problem]:
    """Yield the conflict copies of sync tools and of git."""
    for found in conflicts.listing(census.vault.root):
        where = f"of {found.original}, which is gone" if found.is_alone else f"of {found.original}"
        what = "the same text" if found.is_same else "it is not read as a note"
        yield Problem(found.copy, f"a conflict copy {where}: {what}", _resolve(found.copy))


def hints(census: Census) -> list[Problem]:
    """List what may be meant as it is, and may not: notes that look like copies, or say again what was forgotten."""
    return sorted([*_alike(census), *_told_again(census), *_folder_notes(census)])


def _folder_notes(census: Census) -> Iterator[Problem]:
    """Yield the notes that lie where a model's card does: some editors call a folder's own note as the folder."""
    for model in census.models():
        card = census.now(model).card
        page = _page(census, card.path) if card and not card.problem else None
        if card and page and page.text("type") != "model" and len(page.body.split("\n")) > 1:
            reason = f"it lies where the card of {model} does, so its text is in no summary and no view"
            yield Problem(
                card.path, reason, "give it a name of its own to make it a note, or `type: model` in its head"
            )


def _page(census: Census, path: str) -> pages.Page | None:
    with contextlib.suppress(FileNotFoundError, DiskError):  # it went meanwhile
        return census.vault.page(path)
    return None


def _alike(census: Census) -> Iterator[Problem]:
    notes = [note for model in census.models() for note in census.now(model).state.notes]
    for note, other in conflicts.alike(notes):
        same = "text" if note.digest == other.digest else "date"
        reason = f"it looks like a copy of {other.path}, with the same {same}: both count as notes"
        yield Problem(note.path, reason, f"{_resolve(note.path)}; or give it a name of its own")


def _resolve(path: str) -> str:
    return f"`pyramid resolve {shlex.quote(path)}` shows what differs and takes either side, or both"


def _leftovers(census: Census) -> Iterator[Problem]:
    """Yield what lies where it is not read."""
    for top in (layout.MODELS, *layout.SHAPES):
        for path in files.everything(census.vault.root, top):
            name = path.rsplit("/", 1)[-1]
            if layout.placeholder_of(name):
                yield Problem(
                    path, "a cloud placeholder: its text is not on this disk yet", "open it once, or download it"
                )
            elif top == layout.MODELS and path.count("/") == 2 and _STORES_OWN.fullmatch(name):  # noqa: PLR2004
                yield Problem(path, "it is a file where the store keeps a folder", "rename it, or move it elsewhere")
            elif top == layout.MODELS and path.count("/") == 1 and layout.is_markdown(name):
                yield Problem(path, "it lies in no model's folder, so it is no note", "move it into a model's folder")


def _strays(census: Census) -> Iterator[Problem]:
    for file in census.values():
        if isinstance(file, Shaped) and file.kind is Kind.STRAY:
            yield Problem(
                file.path, "it lies among summaries and is none", "move it into the model's folder to make it a note"
            )


def _cards(census: Census) -> Iterator[Problem]:
    for model in census.models():
        card = census.now(model).card
        if isinstance(card, Card) and not layout.same_name(card.handle, model):
            fix = f"rename it to {model}.md"
            yield Problem(card.path, "it is the card of a folder that was renamed", fix)


def _cases(census: Census) -> Iterator[Problem]:
    """Yield the models whose names are one to a disk that folds case: a clone there would put both into one folder."""
    known, moving = dict[str, str](), renaming.left(census)
    for model in (model for model in census.models() if model not in moving):
        first = known.setdefault(layout.folded(model), model)
        if first != model:
            reason = f"macOS and Windows take its name for that of {first}, and put both into one folder"
            fix = f"`pyramid model rename {shlex.quote(model)} NAME`, or `pyramid model fold` one into the other"
            yield Problem(f"{layout.MODELS}/{model}", reason, fix)


def _forgotten(census: Census) -> Iterator[Problem]:
    shown = {note.path for model in census.models() for note in census.now(model).state.notes}
    for file in census.values():
        if isinstance(file, Note) and (census.is_forgotten(file) or (file.embed and file.path not in shown)):
            reason = "it was forgotten, and an old copy brought it back: it is no note"
            yield Problem(file.path, reason, f"`pyramid forget {file.handle}` removes it again")


def _edited(census: Census) -> Iterator[Problem]:
    """Yield the notes of which another version was forgotten: an old copy that was edited elsewhere came back."""
    marks_of = {mark for mark, _ in census.forgotten}
    for file in census.values() if marks_of else ():
        if not isinstance(file, Note) or file.embed or not file.digest or census.is_forgotten(file):
            continue
        if forget.hashed(file.handle) in marks_of and _is_same_note(census, file):
            reason = "it is an edited copy of a note that was forgotten, or another one of its name"
            yield Problem(file.path, reason, f"`pyramid forget {shlex.quote(file.handle)}`, or give it another name")


def _is_same_note(census: Census, note: Note) -> bool:
    """Whether nothing says that it is another note: git knows its file, and no version of it was forgotten."""
    if note.handle.startswith(times.stamp(note.created)):
        return True  # the store drew the name, and no other note has it
    old = list(history.versions(census.vault.root, note.path))
    mark = forget.hashed(note.handle)
    return not old or any((mark, pages.digest(pages.read(data).body)) in census.forgotten for data in old)


def _told_again(census: Census) -> Iterator[Problem]:
    """Yield the notes that say under another name what was forgotten: a person may have meant that."""
    digests = {digest for _, digest in census.forgotten}
    for model in census.models() if digests else ():
        for note in census.now(model).state.notes:
            if not note.text_path and note.digest in digests:
                fix = f"`pyramid forget {shlex.quote(note.handle)}`, if that is meant"
                yield Problem(note.path, "it has the text of a note that was forgotten", fix)


def _to_forget(census: Census) -> Iterator[Problem]:
    """Yield the summaries that still tell of what was forgotten: a kill or an old copy left them so."""
    for model in census.models():
        found = forget.planned(census, census.now(model))
        for cut in (*found.emptied, *found.blanked, *found.written, *found.bare):
            yield Problem(
                cut.before.path, "it was made from a note that is forgotten", f"`pyramid advance {model}` takes it out"
            )


def _unclear(census: Census) -> Iterator[Problem]:
    """Yield the records that wait for a person and would wait for ever."""
    for top in ("entities", "procedures"):
        for record in census.values(top):
            reason = curation.unclear(record) if isinstance(record, Curated) else ""
            if reason and _is_weighed(census, record):
                yield Problem(record.path, reason, fix_for(reason))


def _is_weighed(census: Census, record: File) -> bool:
    """Whether a record says where it stands or comes from: one that says nothing is a person's own."""
    try:
        page = census.vault.page(record.path)
    except (FileNotFoundError, DiskError):
        return False
    return any(page.text(key).strip() for key in ("status", "confidence", "source"))


def _held(census: Census) -> Iterator[Problem]:
    """Summaries that wait: their model does not grow until what they stand on arrives."""
    for model in census.models():
        state = census.now(model).state
        held = {s.handle: s.path for s in census.values() if isinstance(s, Summary)} if state.waiting else {}
        for handle, reason in state.waiting.items():
            fix = f"let the sync finish, or restore the file; `pyramid doctor --retire {handle}` gives it up"
            yield Problem(held[handle], f"it waits: {reason}", fix)

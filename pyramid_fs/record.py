"""Writing one note: its time, its name, its file in the first model and an embed in each further one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pyramid_fs import files, issue, kinds, layout, links, marks, times
from pyramid_fs import format as pages
from pyramid_fs.errors import ExistsAlready, RefusedWrite, UsageError
from pyramid_fs.notes import Card, Dated, Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyramid_fs.issue import Tools

REPEAT = timedelta(hours=24)
"""An exact repeat within this time is the same observation, not a new one."""


LIKE = 50
"""So many of the newest notes of like names are looked at again for a repeat that the catalog has not seen."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of recording a note."""

    handle: str
    path: str
    models: tuple[str, ...]
    """All models that the note is in now."""
    repeat: bool = False
    """The same text was recorded within the last day: it got the models it was not in yet, and no second file."""
    warnings: tuple[str, ...] = field(default=())
    """What a person should know of it, each with what to do."""


def clean(text: str) -> str:
    """Give a note's text as it is kept, or raise UsageError where it is none."""
    if not text.strip():
        raise UsageError("the note is empty: give its text")
    if "\0" in text:
        raise UsageError("the text holds NUL bytes: a note is plain text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError("the text is not UTF-8: a note is plain text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def refuse_archived(tools: Tools, models: Sequence[str]) -> None:
    """Raise RefusedWrite for a model that has been put away: a note there would not be seen."""
    for model in models:
        path = layout.card_path(model)
        tools.census.look_at([path])
        row = tools.census.catalog.row(path)
        card = row.file if row else tools.census.fresh(model).card  # one that a renamed folder stranded
        if isinstance(card, Card) and card.archived:
            into = f"; its memory goes on in {card.folded_into}" if card.folded_into else ""
            raise RefusedWrite(f"model {model!r} is archived{into}; `pyramid model unarchive {model}` brings it back")


def record(
    tools: Tools, text: str, models: Sequence[str], source: str, created: datetime | None, *, named: str = ""
) -> Recorded:
    """Write a note into models that exist; a repeat of the last day only gets the models that it lacks.

    Its name is made of its first words, or of `named` where these must not stand in a name.
    """
    text = clean(text)
    refuse_archived(tools, models)
    if created is None and (first := _repeated(tools, text, models, named or text)):
        return replace(_add_models(tools, first, models), warnings=_warnings(tools, first))
    time = created or _issue(tools, models)
    note = write_note(tools, text, models[0], source, time, tools.suffix, named=named)
    for model in models[1:]:
        write_embed(tools, note, model, tools.suffix)
    return Recorded(note.handle, note.path, tuple(models), warnings=_warnings(tools, note))


def _warnings(tools: Tools, note: Note) -> tuple[str, ...]:
    """Say why no summary takes a note in that is kept as it was given, and what to do; nothing where one does."""
    problem, fix = note.problem, "until its file is mended"
    if note.embed:  # what it leads to is another file's matter
        tools.census.refresh()
        shown = tools.census.now(note.path.split("/")[1]).state.notes
        problem = next((each.problem for each in shown if each.path == note.path), "")
        fix = "until that note is mended" if "can't be used" in problem else "until the link in the file is right"
    if problem == marks.REASON:
        fix = "until the file holds one version, or shows the markers in a fence of code"
    return (f"{problem}; no summary takes it in {fix}",) if problem else ()


def _issue(tools: Tools, models: Sequence[str]) -> datetime:
    """Give one time that is new in all models."""
    time = None
    for model in sorted(models):
        time = issue.issue_time(tools, model, time)
    if len(models) > 1 and time:  # a later model may have pushed it: tell the earlier ones
        for model in sorted(models)[:-1]:
            issue.keep_time(tools, model, time)
    return time or tools.clock()


def _repeated(tools: Tools, text: str, models: Sequence[str], named: str) -> Note | None:
    census = tools.census
    if not census.catalog.walked:
        census.refresh()
    census.look_at([path for model in models for path in _of_like_name(tools, named, model)])
    known = census.catalog.with_digest(pages.digest(text))
    census.look_at(known)
    now = tools.clock()
    for path in known:
        row = census.catalog.row(path)
        note = row.file if row else None
        # a clock that went back, or stands still, dates the first note ahead of now
        if not isinstance(note, Note) or note.problem or abs(now - note.created) >= REPEAT or census.is_forgotten(note):
            continue
        if note.dated is Dated.KEY and census.vault.page(path).body == text.strip("\n"):
            return note
    return None


def _of_like_name(tools: Tools, text: str, model: str) -> list[str]:
    """List the notes of the last days whose names begin with this text's first words: one may not be known yet.

    A process that was killed right after the file was there, or another machine, has made it.
    """
    now, found = tools.clock(), []
    words = layout.words_of(layout.handle(layout.note_path(model, now, text, "0000")))
    folders = {layout.note_path(model, time, text, "0000").rsplit("/", 1)[0] for time in (now, now - REPEAT)}
    for folder in sorted(folders):
        names = files.names(tools.census.vault.root, folder)
        found += [f"{folder}/{name}" for name in names if words in name and layout.is_markdown(name)]
    return found[-LIKE:]


def _add_models(tools: Tools, first: Note, models: Sequence[str]) -> Recorded:
    census = tools.census
    census.refresh()
    has = {first.path.split("/")[1]}
    has |= {
        file.path.split("/")[1]
        for file in census.values()
        if isinstance(file, Note) and file.embed and links.name(file.embed) == first.handle
    }
    for model in models:
        if model not in has:
            write_embed(tools, first, model, tools.suffix)
            has.add(model)
    return Recorded(first.handle, first.path, tuple(sorted(has)), repeat=True)


def write_note(
    tools: Tools,
    text: str,
    model: str,
    source: str,
    created: datetime,
    suffix: Callable[[], str],
    *,
    named: str = "",
) -> Note:
    """Create a note's file under a new name: of its first words, or of `named`."""
    data = kinds.spell_note(text, created, source)
    path = _create(tools, model, created, named or text, data, suffix)
    held = pages.read(data)
    page = pages.Page({"created": times.spell(created), "source": source}, "", held.body, held.problem)
    sig = files.look(tools.census.vault.root / path)
    note = kinds.read_note(path, page, times.from_ns(sig.mtime_ns if sig else 0), tools.census.vault.settings.zone)
    if sig:
        tools.census.taken(path, sig, note, data)
    return note


def write_embed(tools: Tools, note: Note, model: str, suffix: Callable[[], str]) -> str:
    """Create the file by which a further model holds a note; give its path."""
    data = pages.spell({}, f"!{links.spell(note.handle)}")
    path = _create(tools, model, note.created, layout.words_of(note.handle), data, suffix)
    sig = files.look(tools.census.vault.root / path)
    if sig:
        page = pages.Page(body=f"!{links.spell(note.handle)}")
        embed = kinds.read_note(path, page, times.from_ns(sig.mtime_ns), tools.census.vault.settings.zone)
        tools.census.taken(path, sig, embed, data)
    return path


def _create(tools: Tools, model: str, created: datetime, text: str, data: bytes, suffix: Callable[[], str]) -> str:
    while True:
        path = layout.note_path(model, created, text, suffix())
        try:
            files.create(tools.census.vault.root / path, data)
        except ExistsAlready:
            continue
        return path

"""Writes a summary again over the same batch, in the same file, and then those above it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from pyramid_fs import files, history, kinds, layout, links, pyramid, summarizers
from pyramid_fs import format as pages
from pyramid_fs.batches import item_of, notes_below
from pyramid_fs.errors import DiskError, RefusedWrite
from pyramid_fs.summarizers import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyramid_fs.census import ModelNow
    from pyramid_fs.issue import Tools
    from pyramid_fs.notes import Note, Source, Summary


def redo(tools: Tools, now: ModelNow, handle: str) -> Iterator[Summary]:
    """Yield the summary, then each above it, once its new text is on disk.

    Handle, batch, dates and provenance stay; only the text and who wrote it change. Raise RefusedWrite, naming the
    source, where the version that was summarized can't be read any more.
    """
    chain = [handle, *pyramid.ancestors(now.state, handle)]
    first = _request(tools, now, now.state.active[chain[0]])
    for number, each in enumerate(chain):
        summary = now.state.active[each]
        request = first if number == 0 else _request(tools, now, summary)
        text = summarizers.write(tools.summarizer, request)
        _rewrite(tools, now, summary, text)
        yield summary


def _request(tools: Tools, now: ModelNow, summary: Summary) -> Request:
    sources = tuple(zip(now.state.sources[summary.handle], summary.sources, strict=True))
    if summary.tier == 0:
        items = [item_of(tools, *_version(tools, now, path, source)) for path, source in sources]
    else:
        below = [now.state.active[path] for path, _ in sources]
        items = [item_of(tools, each, kinds.note_text(tools.census.vault.page(each.path))) for each in below]
    return Request(
        model=now.name,
        description=now.card.description if now.card else "",
        tier=summary.tier,
        target=tools.census.vault.settings.shape.target(summary.tier),
        items=tuple(items),
        notes=lambda: notes_below(tools, now, summary.handle) if summary.tier else (item.text for item in items),
    )


def _version(tools: Tools, now: ModelNow, path: str, source: Source) -> tuple[Note, str]:
    """Find the text of a note as it was summarized: the file, or the version of it that git keeps."""
    note = next((note for note in now.state.notes if note.path == path), None)
    if note is None:
        return _gone(tools, source)
    where = note.text_path or note.path
    for data in _texts(tools, where):
        page = pages.read(data)
        if pages.digest(page.body) == source.digest:
            return note, kinds.note_text(page)
    raise RefusedWrite(f"{source.link} was revised since, and git has no such version: nothing was written")


def _gone(tools: Tools, source: Source) -> tuple[Note, str]:
    """Find the text of a note that is gone in what git keeps of files of its name."""
    vault = tools.census.vault
    for path, data in history.versions_named(vault.root, f"{links.name(source.link)}.md"):
        page = pages.read(data)
        if pages.digest(page.body) == source.digest:
            note = kinds.read_note(path, page, source.date, vault.settings.zone)
            return replace(note, created=source.date), kinds.note_text(page)
    raise RefusedWrite(f"{source.link} was summarized and is gone, and git has no such version: nothing was written")


def _texts(tools: Tools, path: str) -> Iterator[bytes]:
    root = tools.census.vault.root
    with contextlib.suppress(DiskError, FileNotFoundError):
        yield files.read(root / path)
    yield from history.versions(root, path)


def _rewrite(tools: Tools, now: ModelNow, summary: Summary, text: str) -> None:
    root = tools.census.vault.root
    old = files.read(root / summary.path)
    if pages.digest(pages.read(old).body) != summary.digest:
        raise RefusedWrite(f"{summary.path} changed since it was read: nothing was written; try again")
    if not history.is_committed(root, summary.path):
        kept = f"{summary.handle[: -layout.SUFFIX]}{tools.suffix()}"
        files.create(root / layout.MODELS / now.name / layout.RETIRED / f"{kept}.md", old)
    made = pages.set_body(pages.set_key(old, "summarizer", tools.summarizer.name), text)
    files.replace(root / summary.path, pages.set_key(made, "draft", tools.summarizer.draft or None), old)

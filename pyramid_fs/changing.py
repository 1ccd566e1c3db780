"""The part of `Memory` that changes what is there: models are made, renamed, folded, archived, and notes forgotten."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyramid_fs import context, files, kinds, layout, links, times
from pyramid_fs.errors import ExistsAlready, Locked, PyramidError, RefusedWrite, UsageError
from pyramid_fs.notes import Card, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyramid_fs import record as recording
    from pyramid_fs.advance import Effort
    from pyramid_fs.census import Census
    from pyramid_fs.forget import Plan, Target
    from pyramid_fs.issue import Tools
    from pyramid_fs.pyramid import State
    from pyramid_fs.summarizers import Call, Summarizer
    from pyramid_fs.traces import Trace
    from pyramid_fs.vault import Vault

GROW_WAIT = 150.0
"""Seconds to wait for another process that grows the same model."""
DERIVED = ("catalog.sqlite3", "catalog.sqlite3-wal", "catalog.sqlite3-shm", "index")
"""What of the cache may hold words of a note; it is made again when it is asked for."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What came of forgetting a note, or would."""

    vault: str
    handle: str
    is_dry: bool
    """Whether nothing was changed."""
    removed: tuple[str, ...]
    """Paths of its files, in all models."""
    tombstones: int
    """Lines that were added to the ledger: one for each handle and version."""
    written: tuple[str, ...]
    """Handles of the summaries that were written again without it, lowest tier first in each model."""
    drafts: tuple[str, ...]
    """Those of them that are whole sentences of the notes left, as no model has written them yet."""
    retired: tuple[str, ...]
    """Handles of summaries that had no other source."""
    emptied: tuple[str, ...]
    """Paths of retired summaries whose text was taken out."""
    failed: dict[str, str]
    """Models, or summaries that a model was to write, with the reason."""
    traces: tuple[Trace, ...]
    """Files in which its rare words still stand, those with the most first."""
    alike: tuple[str, ...] = ()
    """Those of the paths that are another note's, of the same name and text: no tombstone can tell them apart."""
    git_paths: tuple[str, ...] = ()
    """Files of it that the history of the vault's repository still holds, by their paths in the repository."""
    is_summary_in_git: bool = False
    """Whether older versions of summaries that were made from it stand there as well."""
    exit_code: int = 0


@dataclass(slots=True)
class _Forgetting:
    """What has come of it so far."""

    written: dict[str, list[str]] = field(default_factory=dict)
    """By model."""
    drafts: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    exit_code: int = 0


class Changing:
    """What `Memory` does to whole models, and to a note that is to be forgotten."""

    vault: Vault
    census: Census
    _cache: Path
    _clock: Callable[[], datetime]

    if TYPE_CHECKING:  # Memory has them

        def _named(self, models: Sequence[str]) -> list[str]: ...

        def _tools(self, *, settled: bool = False, writes: bool = True) -> Tools: ...

        def _effort(self, *, limit: int | None, is_asked: bool, told: Callable[[Call], None] = ...) -> Effort: ...

        @property
        def summarizer(self) -> Summarizer | None:
            """Who writes the summaries."""

        def record(self, text: str, models: Sequence[str], *, source: str = "") -> recording.Recorded:
            """Write one note."""

    def create_model(self, name: str, description: str = "") -> str:
        """Make a model; give its name. Raise IllegalName or ExistsAlready."""
        self.vault.write_allowed()
        legal = layout.legal(name)
        taken = next((other for other in self.census.models() if layout.same_name(legal, other)), None)
        if taken:
            raise ExistsAlready(f"model {taken!r} exists already")
        files.create(self.vault.root / layout.card_path(legal), kinds.spell_card(description))
        return legal

    def rename_model(self, name: str, to: str) -> str:
        """Rename a model: its folder and its card. No link changes, and nothing is summarized again.

        A folder without a card, as a rename by hand leaves one, joins the model of that name, file by file. The ledger
        keeps the name, so that what another clone adds under the old one follows.
        """
        from pyramid_fs import issue, renaming

        self.vault.write_allowed()
        (known,), legal = self._named([name]), layout.legal(to)
        self.census.refresh()
        others = [other for other in self.census.models() if other != known]
        if taken := next((other for other in others if layout.same_name(legal, other)), None):
            if renaming.has_card(self.census, known):
                raise ExistsAlready(f"model {taken!r} exists already")
            return self._join(known, taken)
        if legal == known:
            return legal
        folder, card = self.vault.root / layout.MODELS, self.census.now(known).card
        self._note_rename(known, legal)
        with files.locked(self._cache / issue.grow_lock(known), GROW_WAIT):
            files.rename_folder(folder / known, folder / legal)
        if card and layout.same_name(card.handle, known):
            _rename_card(folder / legal / card.path.rpartition("/")[2], folder / legal / f"{legal}.md")
        self._point_to(legal, known)
        return legal

    def _note_rename(self, known: str, to: str) -> None:
        from pyramid_fs import renaming

        entry = renaming.line(known, to, self._clock(), self.census.renames)
        self.vault.add_to_ledger(files.machine(self._cache.parent), [entry])

    def _join(self, known: str, to: str) -> str:
        """Move the rest of a model after it; raise RefusedWrite for what can't be moved."""
        from pyramid_fs import renaming

        self._note_rename(known, to)
        if stays := renaming.carry_locked(self.census, self._cache, known, to, GROW_WAIT).stays:
            listing = ", ".join(stays[:12])
            raise RefusedWrite(f"{to} holds other texts under these names, so they stay: {listing}; rename them")
        return to

    def mend(self) -> list[str]:
        """Settle what git left, and move what came under the old name of a model; give a line for each file."""
        from pyramid_fs import doctor, marks, mending, renaming

        self.census.refresh()
        marked = [problem.path for problem in doctor.examine(self.census) if problem.reason == marks.REASON]
        machine = files.machine(self._cache.parent)
        done = mending.mend(self.vault, marked, machine, times.spell(self._clock()))
        self.census.refresh()
        carried = renaming.settle_all(self.census, self._cache, GROW_WAIT)
        mending.tell_on_the_way(self.vault.root, [*carried.moved, *carried.left])
        return [*done, *carried.moved]

    def _point_to(self, model: str, before: str) -> None:
        """Have the cards of models that were folded into one name it as it is called now."""
        for card in [file for file in self.census.values() if isinstance(file, Card)]:
            if card.folded_into == before and card.path.split("/")[1] != before:
                with contextlib.suppress(PyramidError, FileNotFoundError):  # a card that says the old name is no harm
                    self.vault.set_keys(card.path, {"folded_into": links.spell(model)})

    def archive_model(self, name: str, *, archived: bool = True) -> str:
        """Put a model away, or bring it back. Its notes stay where they are, and are found by recall."""
        (known,) = self._named([name])
        self._set_on_card(
            known, {"archived": True if archived else None, **({} if archived else {"folded_into": None})}
        )
        return known

    def fold_model(self, name: str, into: str, text: str = "") -> recording.Recorded:
        """Write one note into another model that says what this one held, and put this one away."""
        source, target = self._named([name]), self._named([into])
        if source == target:
            raise UsageError("a model can't be folded into itself")
        now = self.census.fresh(source[0])
        what = f" ({now.card.description})" if now.card and now.card.description else ""
        span = context.span(now.state)
        zone = self.vault.settings.zone
        dates = f" from {times.day(span[0], zone)} to {times.day(span[1], zone)}" if span else ""
        count = len(now.state.notes)
        said = text or f"{source[0]}{what} was folded in here. Its {count} notes{dates} stay in its own folder."
        made = self.record(said, target, source=f"fold:{source[0]}")
        self._set_on_card(source[0], {"archived": True, "folded_into": f"[[{target[0]}]]"})
        return made

    def _set_on_card(self, model: str, values: Mapping[str, object]) -> None:
        self.vault.write_allowed()
        path = self.vault.root / layout.card_path(model)
        now = self.census.fresh(model)
        if now.card:
            path = self.vault.root / now.card.path
        else:
            files.create(path, kinds.spell_card(""))
        self.vault.set_keys(path.relative_to(self.vault.root).as_posix(), values)

    def describe_model(self, name: str, description: str) -> str:
        """Change a model's description."""
        (known,) = self._named([name])
        self._set_on_card(known, {"description": description})
        return known

    # Forgetting

    def forget_plan(self, handle: str) -> Forgotten:
        """Say what `forget` would do."""
        from pyramid_fs import forget

        self.census.refresh()
        target = forget.find(self.census, handle)
        found = self._due_to_forget(target)
        cuts = [cut for plan in found.values() for cut in (*plan.emptied, *plan.blanked, *plan.written, *plan.bare)]
        changed = {*target.paths, *(cut.before.path for cut in cuts)}
        found_in, left = self._traces(target, changed)
        git_paths, has_summaries = self._in_git(target)
        return Forgotten(
            vault=str(self.vault.root),
            handle=target.handle,
            is_dry=True,
            removed=(*target.paths, *left),
            tombstones=len(forget.tombstones(target, self.census.forgotten, "")),
            written=tuple(cut.before.handle for plan in found.values() for cut in plan.written),
            drafts=(),
            retired=tuple(cut.before.handle for plan in found.values() for cut in plan.bare),
            emptied=tuple(cut.before.path for plan in found.values() for cut in plan.emptied),
            failed={},
            traces=found_in,
            alike=target.alike,
            git_paths=git_paths,
            is_summary_in_git=has_summaries or bool(git_paths and cuts),
        )

    def forget(
        self,
        handle: str,
        *,
        step: Callable[[Summary], None] = lambda _: None,
        told: Callable[[Call], None] = lambda _: None,
    ) -> Forgotten:
        """Remove a note, and write again without it, in the same files, every summary made from it, all tiers up.

        Its tombstone is written first: what a kill leaves undone the next writing verb does. Its text is taken out at
        once, by whole sentences of the notes left; then the summarizer writes those drafts, of which `step` is told.
        """
        from pyramid_fs import forget

        self.vault.write_allowed()
        self.census.refresh()
        target, done = forget.find(self.census, handle), _Forgetting()
        git_paths, has_summaries = self._in_git(target)
        lines = forget.tombstones(target, self.census.forgotten, times.spell(self._clock()))
        self.vault.add_to_ledger(files.machine(self._cache.parent), lines)
        forget.remove(self.vault.root, target)
        self.census.refresh()
        for model in self._due_to_forget(target):
            self._settle(model, done)
        for shut in self.census.shut:
            done.failed[shut.path], done.exit_code = f"{shut.reason}: what lies there was not looked at", 40
        self._write_drafts(done, step, told)
        self._drop_derived()
        found_in, left = self._traces(target)
        for path in left:
            files.remove(self.vault.root / path)
        return Forgotten(
            vault=str(self.vault.root),
            handle=target.handle,
            is_dry=False,
            removed=(*target.paths, *left),
            tombstones=len(lines),
            written=tuple(each for written in done.written.values() for each in written),
            drafts=tuple(done.drafts),
            retired=tuple(done.retired),
            emptied=tuple(done.emptied),
            failed=done.failed,
            traces=found_in,
            alike=target.alike,
            git_paths=git_paths,
            is_summary_in_git=has_summaries or bool(git_paths and (done.written or done.retired or done.emptied)),
            exit_code=done.exit_code,
        )

    def _traces(self, target: Target, without: Collection[str] = ()) -> tuple[tuple[Trace, ...], list[str]]:
        """Find where words of a note still stand, and which of that a kill left half-written."""
        from pyramid_fs import traces

        found = traces.find(self.vault.root, traces.rare(_said(target)), _names(target), without)
        left = traces.left(self.vault.root, found)
        return tuple(trace for trace in found if trace.path not in left), left

    def _in_git(self, target: Target) -> tuple[tuple[str, ...], bool]:
        """List the files of a note that git holds; of one that is gone say, too, whether summaries there tell of it."""
        from pyramid_fs import history, traces

        root, names = self.vault.root, _names(target)
        found = traces.in_git(root, target.paths, names, {version.digest for version in target.versions})
        others, summaries = ([], []) if target.paths or not found else traces.naming_in_git(root, names)
        top = history.prefix(root) if found else ""
        return tuple(f"{top}{path}" for path in dict.fromkeys((*found, *others))), bool(summaries)

    def _due_to_forget(self, target: Target) -> dict[str, Plan]:
        from pyramid_fs import forget

        found = {m: forget.planned(self.census, self.census.now(m), target.versions) for m in self.census.models()}
        return {model: plan for model, plan in found.items() if plan}

    def _settle(self, model: str, done: _Forgetting) -> None:
        """Take what was forgotten out of one model; what can't be done now is noted, and due for the next verb."""
        from pyramid_fs import forget, issue

        settled = forget.Settled()
        try:
            with files.locked(self._cache / issue.grow_lock(model), GROW_WAIT):
                forget.settle(self._tools(writes=False), self.census.fresh(model), settled)
        except PyramidError as error:
            reason = "another process is advancing it" if isinstance(error, Locked) else str(error)
            done.failed[model] = f"{reason}; `pyramid advance {model}` does what is left"
            done.exit_code = max(done.exit_code, error.exit_code)
        if settled.written:
            done.written[model] = settled.written
        done.retired += settled.retired
        done.emptied += settled.emptied

    def _write_drafts(self, done: _Forgetting, step: Callable[[Summary], None], told: Callable[[Call], None]) -> None:
        """Have a model write what was taken out of its summaries; a draft stays where it can't."""
        from pyramid_fs import redo

        every, written = [each for found in done.written.values() for each in found], redo.Redone()
        try:
            writer = self.summarizer
            if every and writer and not writer.draft:
                effort = self._effort(limit=None, is_asked=True, told=told)
                for summary in redo.redo_many(self._tools(), done.written, written, effort, keeps=False):
                    step(summary)
        except PyramidError as error:
            done.failed |= {model: str(error) for model in done.written}
        done.failed |= written.failed
        done.drafts = [handle for handle in every if handle not in written.written]

    def _drop_derived(self) -> None:
        """Take away what in the cache may hold words of a note: deleted rows stay on the disk for a while."""
        for name in DERIVED:
            path = self._cache / name
            with contextlib.suppress(OSError):  # open in another process, on a system that then keeps it
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    # Retiring what waits

    def retire(self, handle: str) -> list[str]:
        """Move a summary that waits or is broken, and those above it, to `retired/`, so that its model grows again.

        The handle of the missing source means all that waits for it. Gives what was moved, lowest tier first. Raise
        UsageError for a summary that nothing is amiss with, NoSuchHandle where none is meant.
        """
        from pyramid_fs import batches, issue

        self.vault.write_allowed()
        self.census.refresh()
        name, moved = links.name(links.target(handle)), list[str]()
        wrong, models = set[str](), self._with(name, set())
        if not models:  # the proof reads every file
            wrong = self._found_wrong(name)
            models = self._with(name, wrong)
        for model in models:
            with files.locked(self._cache / issue.grow_lock(model), GROW_WAIT):
                found = _stands_on(self.census.fresh(model).state, self._summaries(model), name, wrong)
                for summary in found:
                    batches.retire(self._tools(writes=False), model, summary)
                    moved.append(summary.handle)
        if not moved:
            found_file = self.census.find(handle)
            raise UsageError(
                f"{found_file.handle} neither waits nor is broken, and the proof finds no fault in it: "
                "nothing was retired"
            )
        self.census.refresh()
        return moved

    def _with(self, name: str, wrong: set[str]) -> list[str]:
        """List the models in which something is to be retired."""
        models = self.census.models()
        return [m for m in models if _stands_on(self.census.now(m).state, self._summaries(m), name, wrong)]

    def _found_wrong(self, name: str) -> set[str]:
        """Give the summary of that name if the proof finds a fault in it."""
        from pyramid_fs.verify import verify

        faults = verify(self.vault.root, self.vault.settings.zone).faults
        return {name} & {layout.handle(fault.path) for fault in faults if layout.is_markdown(fault.path)}

    def _summaries(self, model: str) -> list[Summary]:
        return [file for file in self.census.values(f"{layout.MODELS}/{model}") if isinstance(file, Summary)]


def _said(target: Target) -> list[str]:
    """Give the words of a note: its texts, and the first words that stand in its names."""
    return [*target.texts, *map(layout.words_of, sorted(_names(target)))]


def _names(target: Target) -> set[str]:
    return {target.handle, *(version.handle for version in target.versions)}


def _stands_on(state: State, summaries: Sequence[Summary], name: str, wrong: set[str]) -> list[Summary]:
    """List what is retired with a summary that waits, is broken or wrong, or with one that is missing: all above it."""
    held = {*state.waiting, *(summary.handle for summary in state.broken), *wrong}
    over = {name} if name in held else _naming(summaries, {name}) & held
    while more := _naming(summaries, over) - over:
        over |= more
    return sorted((s for s in summaries if s.handle in over), key=lambda summary: (summary.tier, summary.path))


def _naming(summaries: Sequence[Summary], names: Collection[str]) -> set[str]:
    """Give the handles of the roll-ups that name one of these."""
    named = ((s.handle, {links.name(source.link) for source in s.sources}) for s in summaries if s.tier)
    return {handle for handle, sources in named if not sources.isdisjoint(names)}


def _rename_card(path: Path, to: Path) -> None:
    """Give a card its new name, also where that differs only in case and the disk takes both for one."""
    if not path.is_file():
        return
    if to.exists() and not to.samefile(path):
        return  # a person has put one there
    files.rename_folder(path, to)

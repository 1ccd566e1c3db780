"""The part of `Memory` about the other shapes: sessions, topics, and records that a person confirms."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from pyramid_fs import curation, layout, links, pyramid
from pyramid_fs.errors import ExistsAlready, NoSuchHandle, UsageError
from pyramid_fs.notes import Curated, Entity, Kind, Session, Shaped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyramid_fs.answers import Answers
    from pyramid_fs.backfill import Backfilled
    from pyramid_fs.boot import Bundle, History, RecordLine, SessionText, TopicLine
    from pyramid_fs.bundle import Records
    from pyramid_fs.census import Census
    from pyramid_fs.context import Hits, Map
    from pyramid_fs.extractors import Extractor
    from pyramid_fs.importers.conversations import Bad, Conversation
    from pyramid_fs.importers.sessions import Sessions
    from pyramid_fs.issue import Tools
    from pyramid_fs.paging import Face
    from pyramid_fs.settings import Config
    from pyramid_fs.shapes import Proposed, Saved
    from pyramid_fs.summarizers import Summarizer
    from pyramid_fs.vault import Vault


CONVERSATIONS = {"claude-code": "claude_code", "claude": "claude_export", "chatgpt": "chatgpt"}
"""Kinds of conversations, and the modules that read them."""
SESSIONS_LOCK = "sessions.lock"
SAVE_LOCK = "save-session.lock"
SAVE_WAIT = 20.0
"""Seconds to wait for the moment in which another process saves a digest: a session has one."""
BACKFILL_LOCK = "backfill.lock"
BACKFILL_WAIT = 150.0
"""Seconds that `backfill` waits for another process that is at it."""


UNSURE = 0.5
"""The confidence of a proposal that says none."""


class Shaping:
    """What `Memory` does with the other shapes; each method brings what it needs up to date first."""

    vault: Vault
    census: Census
    config: Config
    _cache: Path
    _answers: Answers
    _clock: Callable[[], datetime]
    _extractor: Extractor | None
    _face: Face

    if TYPE_CHECKING:  # Memory has them

        def _tools(self, *, settled: bool = False, writes: bool = True) -> Tools: ...

        @property
        def summarizer(self) -> Summarizer | None:
            """Who writes the summaries."""

        def recall(self, query: str, **asked: Any) -> Hits:
            """Find texts."""

    # The boot bundle

    def context(self, query: str = "", *, found: Map | None = None) -> Bundle:
        """Give what a session starts with: the map in short, topics, entities, procedures and the newest notes.

        With a query, which may be a whole sentence, the best of each section. A section that fails is named in `notes`,
        and the others answer. `found` is the map, where it was made just now.
        """
        from pyramid_fs import bundle

        settings = self.vault.settings

        def best(text: str, kinds: tuple[str, ...]) -> Hits:
            return self.recall(text, kinds=kinds, limit=bundle.LOOKED_AT)

        with self.census.still(is_fresh=found is not None):
            whole = found or self._answers.whole_map()
            return bundle.gather(self._tools(writes=False), whole, settings.shown, settings.curation, query, best)

    def boot_tokens(self, found: Map) -> int:
        """Say what a session's start costs, in tokens, as estimated."""
        from pyramid_fs import boot, bounds
        from pyramid_fs.calls import TOOLS

        return bounds.tokens(boot.bundle_text(self.context(found=found), self.vault.settings.boot_chars, TOOLS))

    # Topics and sessions

    def add_topic(self, title: str) -> str:
        """Make a topic's card; give its slug."""
        from pyramid_fs import files, kinds

        self.vault.write_allowed()
        slug = layout.topic_slug(title)
        taken = files.names(self.vault.root, "topics")
        if any(layout.same_name(f"{slug}.md", name) for name in taken):
            raise ExistsAlready(f"topic {slug!r} exists already")
        files.create(self.vault.root / "topics" / f"{slug}.md", kinds.spell_topic(title, self._clock()))
        return slug

    def topics(self) -> list[TopicLine]:
        """List the topic threads, those active last first."""
        from pyramid_fs import bundle

        self.census.refresh()
        tools = self._tools(writes=False)
        return [bundle.topic_line(tools, thread) for thread in bundle.list_threads(tools)]

    def topic_history(self, topic: str) -> History:
        """Give a thread's sessions, newest first, as far as they fit; raise NoSuchHandle with the closest names."""
        from pyramid_fs import bundle

        self.census.refresh()
        return bundle.history(self._tools(writes=False), str(self.vault.root), topic, self._face.calls)

    def save_session(
        self,
        text: str,
        topics: Sequence[str] = (),
        *,
        session: str = "",
        title: str = "",
        source: str = "",
        started: datetime | None = None,
        replaces: bool = False,
    ) -> Saved:
        """Save a session digest; topics are named by slug or title, and one without a card gets one.

        A session has one digest: a further text under the same id is added to it (or takes its place: `replaces`).
        """
        from pyramid_fs import files, shapes

        self.vault.write_allowed()
        with files.locked(self._cache / SAVE_LOCK, SAVE_WAIT):
            self.census.refresh()
            return shapes.save_session(
                self._tools(writes=False),
                text,
                topics,
                session=session,
                title=title,
                source=source,
                started=started,
                replaces=replaces,
            )

    def sessions(self) -> list[SessionText]:
        """List the session digests, newest first."""
        from pyramid_fs import bundle

        self.census.refresh()
        found = [s for s in self.census.values("sessions") if isinstance(s, Session)]
        ordered = sorted(found, key=lambda s: (s.created, s.handle), reverse=True)
        return [bundle.session_text(self._tools(writes=False), session) for session in ordered]

    # Entities and procedures

    def records(self) -> Records:
        """Give the entities and procedures as the last refresh found them."""
        from pyramid_fs import bundle

        return bundle.Records(self._tools(writes=False), self.vault.settings.curation)

    def _records(self) -> Records:
        self.census.refresh()
        return self.records()

    def propose(
        self,
        kind: str,
        text: str,
        *,
        label: str = "",
        about: str = "",
        confidence: float | None = UNSURE,
        source: str = "",
    ) -> Proposed:
        """Add a pending entity (`text` is its name, `about` what else is known) or procedure.

        Likely duplicates are flagged, never skipped.
        """
        from pyramid_fs import shapes

        self.vault.write_allowed()
        if kind not in {str(each) for each in shapes.PROPOSABLE}:
            raise UsageError(f"what is proposed is an `entity` or a `procedure`, not {kind[:40]!r}")
        self.census.refresh()
        if kind == Kind.ENTITY:
            if len(text.strip().splitlines()) > 1:
                raise UsageError("the name of an entity is one line of text")
            made = shapes.entity(text.strip(), label, confidence, source, self._clock())
            return shapes.add(self._tools(writes=False), made, about)
        return shapes.add(self._tools(writes=False), shapes.procedure(confidence, source, self._clock()), text)

    def add_entity(self, name: str, kind: str = "", text: str = "") -> str:
        """Add an entity as a person does: confirmed; one of a like name is flagged, never skipped. Give its handle."""
        from dataclasses import replace

        from pyramid_fs import shapes

        self.vault.write_allowed()
        self.census.refresh()
        made = replace(shapes.entity(name, kind, None, "", self._clock()), status=curation.CONFIRMED)
        return shapes.add(self._tools(writes=False), made, text).handle

    def add_procedure(self, text: str) -> str:
        """Add a procedural note as a person does: confirmed. Give its handle."""
        from dataclasses import replace

        from pyramid_fs import shapes

        self.vault.write_allowed()
        self.census.refresh()
        made = replace(shapes.procedure(None, "", self._clock()), status=curation.CONFIRMED)
        return shapes.add(self._tools(writes=False), made, text).handle

    def entities(self, *, pruned: bool = False) -> list[RecordLine]:
        """List the entities: confirmed before pending, the newest first."""
        return self._lines(Kind.ENTITY, pruned=pruned)

    def procedures(self, *, pruned: bool = False) -> list[RecordLine]:
        """List the procedural notes, in the same order."""
        return self._lines(Kind.PROCEDURE, pruned=pruned)

    def _lines(self, kind: Kind, *, pruned: bool) -> list[RecordLine]:
        records = self._records()
        return [records.line(r) for r in records.of(kind) if pruned or curation.status(r) != curation.PRUNED]

    def entity(self, name: str) -> RecordLine:
        """Give an entity by its handle, its name or an alias; raise NoSuchHandle."""
        records = self._records()
        return records.line(self._entity(name, records))

    def related(self, name: str) -> list[RecordLine]:
        """List the entities that one links to, and those that link to it; raise NoSuchHandle."""
        from pyramid_fs import bundle

        records = self._records()
        entity = self._entity(name, records)
        return [records.line(record) for record in bundle.related(entity, records.of(Kind.ENTITY))]

    def _entity(self, name: str, records: Records) -> Entity:
        """Find an entity by its handle, its name or an alias."""
        plain = name.strip().removeprefix("[[").removesuffix("]]")
        every = [entity for entity in records.of(Kind.ENTITY) if isinstance(entity, Entity)]
        kept = [entity for entity in every if curation.status(entity) != curation.PRUNED]
        called = [
            *(entity for entity in every if layout.same_name(plain, entity.handle)),
            *(entity for entity in kept if layout.same_name(plain, entity.name)),
            *(entity for entity in kept if any(layout.same_name(plain, alias) for alias in entity.aliases)),
        ]
        if called:
            return called[0]
        file = self.census.find(name)
        if isinstance(file, Entity):
            return file
        raise UsageError(f"{file.handle} is no entity")

    def pending(self) -> list[RecordLine]:
        """List what waits for a person: confirm it, or reject it."""
        records = self._records()
        return [records.line(record) for record in records.pending]

    def confirm(self, handles: Sequence[str], *, shown: str = "") -> list[str]:
        """Confirm pending entities and procedures: a person's yes. Give the handles that changed.

        `shown` is the SHA-256 of the file as the person has seen it; raise RefusedWrite where it is another by now.
        """
        return self._set_status(handles, {"status": curation.CONFIRMED, "pruned": None}, shown)

    def reject(self, handles: Sequence[str]) -> list[str]:
        """Prune entities and procedures: a person's no. The files stay. Give the handles that changed."""
        from pyramid_fs import times

        day = times.day(self._clock(), self.vault.settings.zone)
        return self._set_status(handles, {"status": curation.PRUNED, "pruned": day})

    def _set_status(self, handles: Sequence[str], values: Mapping[str, object], shown: str = "") -> list[str]:
        self.vault.write_allowed()
        self.census.refresh()
        found = [self._curated(handle) for handle in handles]
        changed = [file for file in dict.fromkeys(found) if curation.status(file) != values["status"]]
        for file in changed:
            self.vault.set_keys(file.path, values, shown=shown)
        return [file.handle for file in changed]

    def _curated(self, handle: str) -> Curated:
        file = self.census.find(handle)
        if not isinstance(file, Curated):
            raise UsageError(f"{file.handle} is no entity and no procedure: there is nothing to confirm")
        return file

    def supersede(self, handle: str, by: str) -> list[str]:
        """Say that one record takes the place of another, which stays and leaves the bundle. Give the handles."""
        self.vault.write_allowed()
        self.census.refresh()
        old, new = self._curated(handle), self._curated(by)
        if old.handle == new.handle:
            raise UsageError("a record can't supersede itself")
        if curation.leads_to(new, old, self.records().all):
            raise UsageError(f"{old.handle} takes the place of {new.handle} already: both would be gone")
        self.vault.set_keys(old.path, {"superseded_by": links.spell(new.handle)})
        return [old.handle, new.handle]

    def contradict(self, handle: str, other: str) -> list[str]:
        """Say that one record contradicts another: both stay, and both are marked. Give the handles."""
        self.vault.write_allowed()
        self.census.refresh()
        one, two = self._curated(handle), self._curated(other)
        if one.handle == two.handle:
            raise UsageError("a record can't contradict itself")
        if two.handle not in one.contradicts:
            self.vault.set_keys(one.path, {"contradicts": [links.spell(to) for to in (*one.contradicts, two.handle)]})
        return [one.handle, two.handle]

    # Extraction

    @property
    def extractor(self) -> Extractor:
        """Who goes through session digests for entities and procedures."""
        from pyramid_fs import extractors

        return self._extractor or extractors.configured(self.config.extractor)

    def path_of(self, top: str, name: str) -> str:
        """Give the path, without `.md`, of the file of one shape that a handle or a session's own name means.

        `top` is the shape's folder. Raise NoSuchHandle, also where it means a file of another shape.
        """
        if top not in layout.SHAPES:
            raise UsageError(f"{top[:40]!r} is the folder of no shape; there are: {', '.join(layout.SHAPES)}")
        self.census.refresh()
        wanted = links.target(name)
        found = [
            each.path.removesuffix(".md")
            for each in self.census.values(top)
            if isinstance(each, Shaped)
            and (pyramid.path_fits(each.path, wanted) or (isinstance(each, Session) and name == each.session))
        ]
        if not found:
            raise NoSuchHandle(f"there is no {layout.SHAPES[top]} {name[:120]!r}: `pyramid {layout.SHAPES[top]} list`")
        return found[0]

    def backfill(
        self,
        *,
        before: datetime | None = None,
        limit: int | None = None,
        dry: bool = False,
        step: Callable[[Session], None] = lambda _: None,
    ) -> Backfilled:
        """Go through the session digests that were not gone through; what is found is pending. Twice adds nothing."""
        from pyramid_fs import backfill, files

        if not dry:
            self.vault.write_allowed()
        admit, tools = self.vault.settings.curation.admit, self._tools(writes=False)
        with nullcontext() if dry else files.locked(self._cache / BACKFILL_LOCK, BACKFILL_WAIT):
            self.census.refresh()
            return backfill.backfill(tools, self.extractor, admit, before=before, limit=limit, dry=dry, step=step)

    def import_sessions(
        self,
        kind: str,
        path: Path,
        *,
        topics: Sequence[str] = (),
        dry: bool = False,
        step: Callable[[], None] = lambda: None,
    ) -> Sessions:
        """Import conversations as session digests: of `claude-code`, or an export of `claude` or `chatgpt`.

        Each becomes a digest once, written by the configured summarizer, and again where it has gone on since.
        """
        import importlib
        from dataclasses import replace

        from pyramid_fs import digests, files
        from pyramid_fs.importers import sessions
        from pyramid_fs.importers.conversations import Conversation

        def titled(each: Conversation | Bad) -> Conversation | Bad:
            return replace(each, title=digests.title_of(each)) if isinstance(each, Conversation) else each

        if not dry:
            self.vault.write_allowed()
        if kind not in CONVERSATIONS:
            raise UsageError(f"{kind[:40]!r} is no kind of conversation; there are: {', '.join(CONVERSATIONS)}")
        reader = importlib.import_module(f"pyramid_fs.importers.{CONVERSATIONS[kind]}")
        with nullcontext() if dry else files.locked(self._cache / SESSIONS_LOCK, BACKFILL_WAIT):
            self.census.refresh()
            found = (titled(each) for each in reader.read(path))
            return sessions.bring_in(
                self._tools(writes=False), found, self._digest, digests.stays_out, topics=topics, dry=dry, step=step
            )

    def _digest(self, talk: Conversation) -> str:
        from pyramid_fs import digests
        from pyramid_fs.summarizers import Extractive

        return digests.digest(talk, self.summarizer or Extractive())

    def prune(self, *, dry: bool = False) -> list[tuple[RecordLine, str]]:
        """Mark as pruned what nobody confirmed in time; give each with the day when it fell due."""
        from pyramid_fs import backfill

        if not dry:
            self.vault.write_allowed()
        records = self._records()
        found = backfill.prune(self._tools(writes=False), self.vault.settings.curation, dry=dry)
        return [(records.line(record), day) for record, day in found]

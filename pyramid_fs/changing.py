"""The part of `Memory` that changes models: made, renamed, folded, archived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyramid_fs import context, files, kinds, layout, times
from pyramid_fs.errors import ExistsAlready, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pyramid_fs import record as recording
    from pyramid_fs.census import Census
    from pyramid_fs.vault import Vault

GROW_WAIT = 150.0
"""Seconds to wait for another process that grows the same model."""


class Changing:
    """What `Memory` does to whole models."""

    vault: Vault
    census: Census
    _cache: Path

    def _named(self, models: Sequence[str]) -> list[str]:
        raise NotImplementedError

    def record(
        self,
        text: str,
        models: Sequence[str],
        *,
        source: str = "",
        created: datetime | None = None,
        create: bool = False,
    ) -> recording.Recorded:
        """Write one note; see `Memory.record`."""
        raise NotImplementedError

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
        """Rename a model: its folder and its card. No link changes, and nothing is summarized again."""
        from pyramid_fs import issue

        self.vault.write_allowed()
        (known,), legal = self._named([name]), layout.legal(to)
        taken = next((other for other in self.census.models() if layout.same_name(legal, other)), None)
        if taken and taken != known:
            raise ExistsAlready(f"model {taken!r} exists already")
        folder = self.vault.root / layout.MODELS
        self.census.refresh([known])
        card = self.census.now(known).card
        with files.locked(self._cache / issue.grow_lock(known), GROW_WAIT):
            files.rename_folder(folder / known, folder / legal)
        if card and (folder / legal / f"{known}.md").is_file():
            files.move(folder / legal / f"{known}.md", folder / legal / f"{legal}.md")
        return legal

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

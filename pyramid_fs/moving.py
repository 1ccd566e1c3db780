"""The part of `Memory` that brings notes in from elsewhere, and writes them in another form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyramid_fs import layout, vault
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyramid_fs.importers import Imported
    from pyramid_fs.issue import Tools


class Moving:
    """What `Memory` imports and exports."""

    vault: vault.Vault

    def _tools(self, *, settled: bool = False, writes: bool = True) -> Tools:
        raise NotImplementedError

    def import_jsonl(
        self, path: Path, *, model: str = "", dry: bool = False, step: Callable[[int], None] = lambda _: None
    ) -> Imported:
        """Import notes from a file of JSON lines."""
        from pyramid_fs.importers import jsonl

        self.vault.write_allowed()
        if not path.is_file():
            raise UsageError(f"{path} is no file")
        undated = vault.created_of(path)
        return jsonl.bring_in(self._tools(), jsonl.lines(path), model, undated, dry=dry, step=step)

    def import_markdown(
        self, folder: Path, *, model: str = "", dry: bool = False, step: Callable[[int], None] = lambda _: None
    ) -> Imported:
        """Import a folder of markdown notes."""
        from pyramid_fs.importers import markdown

        self.vault.write_allowed()
        name = layout.legal(model) if model else ""
        return markdown.bring_in(self._tools(), folder, markdown.listing(folder), name, dry=dry, step=step)

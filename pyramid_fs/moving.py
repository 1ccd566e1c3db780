"""The part of `Memory` that brings notes in from elsewhere, and writes them in another form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyramid_fs import layout, vault
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from typing import BinaryIO

    from pyramid_fs.census import Census
    from pyramid_fs.exporting import Archived, Lines
    from pyramid_fs.importers import Imported
    from pyramid_fs.issue import Tools


def _ignore(_: int) -> None:
    """Tell nobody how an import is coming on."""


class Moving:
    """What `Memory` imports and exports."""

    vault: vault.Vault
    census: Census
    _clock: Callable[[], datetime]

    if TYPE_CHECKING:  # Memory has it

        def _tools(self, *, settled: bool = False, writes: bool = True) -> Tools: ...

    # In

    def import_jsonl(
        self, path: Path | BinaryIO, *, model: str = "", dry: bool = False, step: Callable[[int], None] = _ignore
    ) -> Imported:
        """Import notes from JSON lines: of a file, or of what is open; of what `export_jsonl` wrote, the notes.

        A line without a date gets the file's time, or the present one.
        """
        from pyramid_fs.importers import jsonl

        self.vault.write_allowed()
        if isinstance(path, Path):
            given, undated = jsonl.lines(_file(path)), vault.created_of(path)
        else:
            given, undated = jsonl.lines_of(path), self._clock()
        return jsonl.bring_in(self._tools(), given, model, undated, dry=dry, step=step)

    def import_markdown(
        self, folder: Path, *, model: str = "", dry: bool = False, step: Callable[[int], None] = _ignore
    ) -> Imported:
        """Import a folder of markdown notes."""
        from pyramid_fs.importers import markdown

        self.vault.write_allowed()
        name = layout.legal(model) if model else ""
        return markdown.bring_in(self._tools(), folder, self._listing(folder), name, dry=dry, step=step)

    def import_mcp_memory(
        self,
        path: Path,
        *,
        model: str = "",
        confirm: bool = False,
        dry: bool = False,
        step: Callable[[int], None] = _ignore,
    ) -> Imported:
        """Import the memory of the MCP reference server; without a `model`, into one that is called like the file.

        Its entities are pending, as a machine wrote them, unless `confirm` is set.
        """
        from pyramid_fs.importers import mcp_memory, model_named

        self.vault.write_allowed()
        name, undated = model_named(model, _file(path).stem), vault.created_of(path)
        return mcp_memory.bring_in(self._tools(), path, name, undated, confirm=confirm, dry=dry, step=step)

    def import_basic_memory(
        self,
        folder: Path,
        *,
        model: str = "",
        types: Sequence[str] = (),
        confirm: bool = False,
        dry: bool = False,
        step: Callable[[int], None] = _ignore,
    ) -> Imported:
        """Import a basic-memory project as markdown; files whose `type` is one of `types` become records too."""
        from pyramid_fs.importers import basic_memory

        self.vault.write_allowed()
        name, paths = layout.legal(model) if model else "", self._listing(folder)
        found = basic_memory.bring_in(
            self._tools(), folder, paths, name, types=types, confirm=confirm, dry=dry, step=step
        )
        found.others = _others(folder, paths)
        return found

    def import_daily(
        self, folder: Path, *, model: str = "", dry: bool = False, step: Callable[[int], None] = _ignore
    ) -> Imported:
        """Import a folder of daily notes; without a `model` they go to one that is called like the folder."""
        from pyramid_fs.importers import daily, model_named

        self.vault.write_allowed()
        paths = self._listing(folder)
        name = model_named(model, folder.resolve().name)
        found = daily.bring_in(self._tools(), folder, paths, name, dry=dry, step=step)
        found.others = _others(folder, paths)
        return found

    def _listing(self, folder: Path) -> list[str]:
        from pyramid_fs.importers import listing, refuse_vault

        paths = listing(folder)
        refuse_vault(folder, self.vault.root)
        return paths

    # Out

    def export_jsonl(
        self,
        out: Path | BinaryIO,
        *,
        everything: bool = False,
        force: bool = False,
        step: Callable[[int, int], None] = lambda *_: None,
    ) -> Lines:
        """Write every note as a line of JSON, into a new file or into what is open."""
        from pyramid_fs import exporting

        if not isinstance(out, Path):
            return exporting.write_lines(self.census, out, everything=everything, step=step)
        with exporting.placed(out, self.vault.root, force=force) as temp, temp.open("wb") as opened:
            return exporting.write_lines(self.census, opened, everything=everything, step=step)

    def export_archive(
        self,
        path: Path,
        *,
        with_git: bool = False,
        force: bool = False,
        step: Callable[[int, int], None] = lambda *_: None,
    ) -> Archived:
        """Write the vault's files into one archive, `.tar.gz` or `.zip`, and read it back."""
        from pyramid_fs import exporting

        if not exporting.is_archive(path):
            raise UsageError(f"{path.name} is no name of an archive: let it end in .tar.gz or .zip")
        as_zip = path.name.lower().endswith(exporting.ZIP)
        with exporting.placed(path, self.vault.root, force=force) as temp:
            return exporting.write_archive(self.vault.root, temp, as_zip=as_zip, with_git=with_git, step=step)


def _file(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is no file")
    return path


def _others(folder: Path, paths: Sequence[str]) -> int:
    """Count the files that were not read: pictures, what another tool keeps, links."""
    from pyramid_fs import files

    return max(0, sum(1 for _ in files.everything(folder, ".")) - len(paths))

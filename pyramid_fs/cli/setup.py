"""The verbs around a vault: init, format."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import click

from pyramid_fs import files, vault
from pyramid_fs.cli.common import answer, json_option


@click.command()
@click.argument("folder", required=False)
@click.option("--bare", is_flag=True, help="No starter models.")
@click.option("--default", is_flag=True, help="Make it the vault that is used where none is named or near.")
@json_option
@click.pass_context
def init(ctx: click.Context, folder: str | None, bare: bool, default: bool, as_json: bool) -> None:
    """Make a vault of FOLDER (this one if not named); it may lie in an Obsidian vault. Nothing there is changed."""
    root = files.absolute(Path(folder or ctx.find_root().obj["vault"] or "."))
    made = vault.make_vault(root, models={} if bare else vault.STARTERS)
    opened = vault.open_vault(root)
    said = []
    if default:
        _set_default(root)
        said = ["It is your default vault from now on."]
    lines = [f"{'A vault was made' if made else 'This is a vault already'}: {opened.root}"]
    lines += [*(f"  {path}" for path in made), *said]
    lines += ["Next: pyramid record -m user 'TEXT'" if not bare else "Next: pyramid model new NAME"]
    answer({"vault": str(opened.root), "made": made}, "\n".join(lines), as_json=as_json)


def _set_default(root: Path) -> None:
    """Set `default_vault` in the user's configuration; every other line of it stays."""
    path = files.config_file(os.environ).resolve()  # it may be a link into a folder of dotfiles
    line = f'default_vault = "{str(root).replace(chr(92), chr(92) * 2)}"\n'
    try:
        old = files.read(path)
    except FileNotFoundError:
        files.create(path, line.encode())
        return
    lines = old.decode().splitlines(keepends=True)
    kept = [text for text in lines if not text.startswith("default_vault")]
    files.replace(path, (line + "".join(kept)).encode(), old)


@click.command("format")
def format_() -> None:
    """Print the page that describes the vault on disk."""
    click.echo(resources.files("pyramid_fs").joinpath("FORMAT.md").read_text("utf-8"))


COMMANDS = {"init": init, "format": format_}

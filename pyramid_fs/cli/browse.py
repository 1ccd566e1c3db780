"""The verbs that show a vault to a person's eyes: browse, and export, with the site of the same pages."""

from __future__ import annotations

import importlib.util
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_fs import loopback
from pyramid_fs.cli.common import verb
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory

PORT = 8932
SOME = 20
"""Pages between two words about how an export is coming on."""
NEEDS = ("starlette", "uvicorn", "jinja2", "markdown_it", "nh3")


def _check_extra() -> None:
    """Raise UsageError where what draws the pages is not installed."""
    if any(importlib.util.find_spec(name) is None for name in NEEDS):
        raise UsageError("the pages need the extra `browser`: pip install 'pyramid-fs[browser]'")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to serve at.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@click.option("--allow-remote", is_flag=True, help="Let --host be an address that other machines reach.")
@click.option("--name", "names", multiple=True, metavar="HOST", help="A further name that browsers call the host by.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the web browser.")
@verb(answers=False)
def browse(memory: Memory, host: str, port: int, allow_remote: bool, names: tuple[str, ...], opens: bool) -> None:
    """Show the vault in a web browser: read-only, on this machine alone; its one button confirms what waits."""
    _check_extra()
    loopback.check(host, allow_remote=allow_remote)
    root = memory.vault.root
    memory.close()
    from pyramid_fs.browser import app, guard  # a web server, for this verb alone

    listening = loopback.listen(host, port)
    taken = int(listening.getsockname()[1])
    url = f"http://{f'[{host}]' if ':' in host else host}:{taken}/"

    def ready() -> None:
        click.echo(f"pyramid: {root} can be looked at: {url} (Ctrl-C ends it)", err=True)
        if opens:
            webbrowser.open(url)

    browser = app.Browser(root)
    try:
        app.serve(app.app(browser, guard.rules(host, taken, names)), listening, ready)
    finally:
        browser.close()


@click.group()
def export() -> None:
    """Write the vault in another form."""


@export.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@verb(answers=False)
def site(memory: Memory, folder: Path) -> None:
    """Write the pages of `browse` as files that need no server; what is private in the vault is so in the site."""
    _check_extra()
    from pyramid_fs.browser import site as writer  # templates and markdown, for this verb alone

    def step(done: int, total: int) -> None:
        if sys.stderr.isatty() and (done % SOME == 0 or done == total):
            click.echo(f"\r{done:,} of {total:,} pages", err=True, nl=done == total)

    count = writer.export(memory, folder, step)
    click.echo(f"{count:,} pages are in {folder}: open {folder / 'index.html'}")


COMMANDS = {"browse": browse, "export": export}

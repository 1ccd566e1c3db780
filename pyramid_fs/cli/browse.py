"""The verb that shows a vault to a person's eyes: browse."""

from __future__ import annotations

import importlib.util
import webbrowser
from typing import TYPE_CHECKING

import click

from pyramid_fs import loopback
from pyramid_fs.cli.common import verb
from pyramid_fs.errors import UsageError

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory

PORT = 8932
NEEDS = ("starlette", "uvicorn", "jinja2", "markdown_it", "nh3")


def check_extra() -> None:
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
    check_extra()
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


COMMANDS = {"browse": browse}

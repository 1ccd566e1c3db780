"""The command line: `pyramid`. A verb's module is imported when the verb is called."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING

import click

from pyramid_fs import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS = {
    "init": "setup",
    "demo": "demo",
    "record": "notes",
    "map": "notes",
    "load": "notes",
    "expand": "notes",
    "recall": "notes",
    "why": "notes",
    "diff": "past",
    "advance": "growth",
    "redo": "growth",
    "forget": "forget",
    "rollup": "growth",
    "summarizer": "summarizer",
    "trust": "summarizer",
    "watch": "watch",
    "status": "state",
    "stats": "state",
    "verify": "state",
    "doctor": "state",
    "resolve": "resolve",
    "reindex": "state",
    "model": "models",
    "topic": "shapes",
    "session": "shapes",
    "entity": "shapes",
    "procedure": "shapes",
    "context": "shapes",
    "pending": "shapes",
    "confirm": "shapes",
    "reject": "shapes",
    "prune": "shapes",
    "backfill": "shapes",
    "import": "moving",
    "export": "moving",
    "browse": "browse",
    "mcp": "mcp",
    "hook": "mcp",
    "setup": "clients",
    "git": "git",
    "format": "setup",
}
"""Each verb and the module that holds it, in the order in which `--help` lists them."""

ALLOCATIONS = 100_000
"""So many new objects before a collection: Python's own 700 would cost a short command a tenth of its time."""

HELP = {
    "init": "Make a vault: a folder of markdown that holds the memory.",
    "demo": "Show the main job end to end on bundled notes.",
    "record": "Write one note.",
    "map": "Show the index of models and the newest notes; loads nothing.",
    "load": "Show models: their summaries and newest notes, within a budget.",
    "expand": "Show what a handle leads to: a summary's sources, a note's summaries.",
    "recall": "Find texts.",
    "why": "Say why a file comes up for a query, or why it does not.",
    "diff": "Say what changed between two dates or commits.",
    "advance": "Write the summaries that are due.",
    "redo": "Write summaries and those above them again: some, a tier, a model, all drafts.",
    "forget": "Take a note out of the vault, and out of every summary made from it.",
    "rollup": "Write summaries yourself: next hands out a batch, write takes its text.",
    "summarizer": "Try the summarizer on a real batch; nothing is stored.",
    "trust": "Show the vault's own prompts, and have them used on this machine.",
    "watch": "Follow the folder: what changes is found, what is due is summarized.",
    "status": "Show what waits and why.",
    "stats": "Measure lengths, calls, tokens, and which facts survive in the summaries.",
    "verify": "Prove that every note is counted exactly once.",
    "doctor": "List files that a person should look at, with the fix for each.",
    "resolve": "Show how a conflict copy differs, and take one side or both.",
    "reindex": "Build the index afresh.",
    "model": "Make, rename, fold and archive models.",
    "topic": "Topic threads: make them, list them, read a thread's history.",
    "session": "Session digests: add, list, show.",
    "entity": "Entities: people, places, projects and whatever else has a name.",
    "procedure": "Procedural notes: how to go about things.",
    "context": "Show what a session starts with, in one answer.",
    "pending": "List what waits for a person.",
    "confirm": "Confirm pending entities and procedures.",
    "reject": "Prune entities and procedures by hand.",
    "prune": "Prune what nobody confirmed in time.",
    "backfill": "Go through session digests for entities and procedures.",
    "import": "Bring in notes that were written elsewhere.",
    "export": "Write the vault in another form: jsonl, archive, or site, as pages that need no server.",
    "browse": "Show the vault in a web browser.",
    "mcp": "Serve the memory to agents by the Model Context Protocol.",
    "hook": "Answer the hooks of agents' programs: session-start prints the map in short.",
    "setup": "Set up an AI client, a service that watches the vault, or who writes the summaries.",
    "git": "Answer git: what a clone that `setup git` set up asks when two sides changed one file.",
    "format": "Print the page that describes the vault on disk.",
}


class Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module that holds a verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"pyramid_fs.cli.{VERBS[cmd_name]}")
        found = module.COMMANDS[cmd_name]
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the verbs with their help, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb, HELP[verb]) for verb in VERBS])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or name the closest."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], VERBS, 1)
            hint = f"; did you mean `{close[0]}`?" if close else "; `pyramid --help` lists the verbs"
            raise click.UsageError(f"there is no verb {args[0][:60]!r}{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--vault", metavar="DIR", help="The vault; else $PYRAMID_VAULT, the nearest one above, or your default.")
@click.version_option(__version__, "-V", "--version", message="pyramid %(version)s")
@click.pass_context
def pyramid(ctx: click.Context, vault: str | None) -> None:
    """Plain-text memory for AI agents: notes kept for ever, summaries that name their sources."""
    ctx.obj = {"vault": vault}


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; every error a person can make is one line on stderr and an exit code."""
    gc.set_threshold(ALLOCATIONS)
    code = _flushed(run(args))
    if args is None and sys.gettrace() is None:
        # taking apart every module that was imported would cost a short command a tenth of its time
        os._exit(code)
    sys.exit(code)


def _flushed(code: int) -> int:
    """Write out what was answered; give the exit code, another one where that failed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except (OSError, ValueError):
            code = code or 40
    return code


def run(args: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    from pyramid_fs.errors import PyramidError

    _utf8()
    try:
        done = pyramid.main(args=list(args) if args is not None else None, prog_name="pyramid", standalone_mode=False)
    except PyramidError as error:
        _complain(str(error))
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else error.message, err=True)
        return error.exit_code
    except click.NoSuchOption as error:
        _complain(f"{error.format_message()} A text that begins with a dash comes after `--`.")
        return error.exit_code
    except click.ClickException as error:
        _complain(error.format_message())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted; what was written stands")
        return 130
    except (BrokenPipeError, SystemExit):  # click makes the second of the first
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except UnicodeEncodeError as error:
        _complain(f"this system's file names can't hold {error.object[error.start : error.end]!r}: set PYTHONUTF8=1")
        return 40
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _complain(f"{where}{(error.strerror or str(error)).lower()}")
        return 40
    return done if isinstance(done, int) else 0


def _complain(text: str) -> None:
    from .common import harmless  # where there is something to complain of

    line = " ".join(text.split())
    click.echo(f"pyramid: {harmless(line)}", err=True)


def _utf8() -> None:
    """Write UTF-8 whatever the code page, and never fail over a name that is none."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")

"""The verbs that say how things are: status, stats, verify, doctor, reindex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pyramid_fs import render
from pyramid_fs.cli.common import answer, indexing_shown, verb

if TYPE_CHECKING:
    from pyramid_fs.memory import Memory


@click.command()
@verb()
def status(memory: Memory, as_json: bool) -> None:
    """Show each model's notes and summaries, what is due, what waits and why."""
    found = memory.status()
    answer(found, render.status_text(found), as_json=as_json)


@click.command()
@click.argument("models", nargs=-1)
@click.option("--no-survival", is_flag=True, help="Leave out what survives, and read no note: quick in a large vault.")
@verb()
def stats(memory: Memory, models: tuple[str, ...], no_survival: bool, as_json: bool) -> None:
    """Measure models, or all: lengths, who wrote what, calls, tokens, and which facts survive at each tier.

    Facts are names, numbers and dates. Names are words with a capital: of languages without capitals, and of German,
    only numbers and dates are counted.
    """
    found = memory.stats(models, survival=not no_survival)
    answer(found, render.stats_text(found), as_json=as_json)


@click.command()
@verb()
def verify(memory: Memory, as_json: bool) -> int:
    """Prove from the files alone that every note is counted exactly once; exit 1 where the sum does not balance."""
    from pyramid_fs.verify import as_text

    found = memory.verify()
    answer(found, as_text(found, memory.name).rstrip(), as_json=as_json)
    return 0 if found.balances else 1


@click.command()
@click.option("--mend", is_flag=True, help="First settle what git left: conflict markers, and files it waits for.")
@click.option(
    "--retire",
    metavar="HANDLE",
    help="First give up a summary that waits or is broken, or a missing one, and all above it: the model grows again.",
)
@verb()
def doctor(memory: Memory, mend: bool, retire: str | None, as_json: bool) -> int:
    """List files that a person should look at, each with the reason and the fix; exit 1 where there are any.

    With --mend, a merge that git could not finish is settled first, by the rule of the merge driver: no text of a
    person's is lost, and nothing is committed. What came under the old name of a renamed model goes to its new one.
    """
    retired = memory.retire(retire) if retire else []
    mended = memory.mend() if mend else []
    found, hints = memory.doctor(), memory.hints()
    value = {
        "vault": memory.name,
        "problems": found,
        "hints": hints,
        **({"mended": mended} if mend else {}),
        **({"retired": retired} if retire else {}),
    }
    lines = [*(f"Retired: {handle}" for handle in retired), *(f"Mended: {path}" for path in mended)]
    lines += [*(render.problems_lines(found) or ["Nothing to look at."])]
    lines += ["", "Perhaps not meant so:", *render.problems_lines(hints)] if hints else []
    text = "\n".join(lines)
    answer(value, text, as_json=as_json)
    return 1 if found else 0


@click.command()
@verb()
def reindex(memory: Memory, as_json: bool) -> None:
    """Build the index afresh from the files. Never needed: recall heals it by itself."""
    with indexing_shown(memory) as progress:
        count = memory.reindex(progress=progress)
    answer(
        {"vault": memory.name, "indexed": count},
        f"{count} {'text is' if count == 1 else 'texts are'} in the index.",
        as_json=as_json,
    )


COMMANDS = {"status": status, "stats": stats, "verify": verify, "doctor": doctor, "reindex": reindex}

"""How an answer names the call that goes on from it: as a command for a shell, as a tool for an agent."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG_QUERY = 1_000
"""Characters of a query that is spelled again in a call; a longer one is left to whoever has it."""


class Calls(Protocol):
    """Spells calls; every answer that leaves something out holds one that shows the rest."""

    map: str
    """What shows the names of models."""
    make_model: str
    topics: str
    """What shows the topics."""
    load_models: str
    """What loads models, with a place for their names."""

    def map_page(self, page: int) -> str:
        """Show a further page of the map."""
        ...

    def load(self, names: Sequence[str]) -> str:
        """Show the views of models."""
        ...

    def tier(self, model: str, tier: str, page: int) -> str:
        """Show a page of a whole tier of a model: its number, `notes` or `tail`."""
        ...

    def expand(self, handle: str, page: int = 1, depth: int = 1) -> str:
        """Show what a handle leads to."""
        ...

    def recall(
        self,
        query: str,
        models: Sequence[str],
        kinds: Sequence[str],
        tier: int | None,
        since: str,
        until: str,
        limit: int,
        start: int,
    ) -> str:
        """Show further hits of a search."""
        ...

    def record(self, model: str) -> str:
        """Write a note into a model."""
        ...

    def write_rollup(self, ticket: str) -> str:
        """Hand in a summary."""
        ...

    def history(self, topic: str) -> str:
        """Show a thread's history."""
        ...


class Shell:
    """Commands, each word quoted for a shell."""

    map = "pyramid map"
    make_model = "pyramid model new NAME --description '…'"
    topics = "pyramid topic list"
    load_models = "pyramid load NAME…"

    def map_page(self, page: int) -> str:  # noqa: ARG002
        """Spell `map`, which has one page."""
        return self.map

    def load(self, names: Sequence[str]) -> str:
        """Spell `load`."""
        return f"pyramid load {' '.join(word(name) for name in names)}"

    def tier(self, model: str, tier: str, page: int) -> str:
        """Spell `load --tier`."""
        return f"pyramid load {word(model)} --tier {tier}{f' --page {page}' if page > 1 else ''}"

    def expand(self, handle: str, page: int = 1, depth: int = 1) -> str:  # noqa: ARG002
        """Spell `expand`, which has one page."""
        return f"pyramid expand {word(handle)}{f' --depth {depth}' if depth > 1 else ''}"

    def recall(
        self,
        query: str,
        models: Sequence[str],
        kinds: Sequence[str],
        tier: int | None,
        since: str,
        until: str,
        limit: int,
        start: int,
    ) -> str:
        """Spell `recall --start`."""
        filters = [f"-m {word(model)}" for model in models] + [f"--kind {kind}" for kind in kinds]
        filters += [f"--tier {tier}"] if tier is not None else []
        filters += [f"--since {since}"] if since else []
        filters += [f"--until {until}"] if until else []
        is_long = len(query) > LONG_QUERY
        quoted = "-  (and the same words on standard input)" if is_long else "'" + query.replace("'", "'\\''") + "'"
        return " ".join(["pyramid recall", *filters, f"-n {limit} --start {start} --", quoted])

    def record(self, model: str) -> str:
        """Spell `record`."""
        return f"pyramid record -m {word(model)} 'TEXT'"

    def write_rollup(self, ticket: str) -> str:
        """Spell `rollup write`."""
        return f"pyramid rollup write {word(ticket)} 'TEXT'"

    def history(self, topic: str) -> str:
        """Spell `topic summarize`."""
        return f"pyramid topic summarize {word(topic)}"


class Tools:
    """Tools and their arguments, as an agent calls them."""

    map = "load_memory()"
    make_model = "create_model(name=…, description=…)"
    topics = "memory_context()"
    load_models = "load_model(names=[…])"

    def map_page(self, page: int) -> str:
        """Spell `load_memory` with a page."""
        return f"load_memory(page={page})"

    def load(self, names: Sequence[str]) -> str:
        """Spell `load_model`."""
        return f"load_model(names={_json(list(names))})"

    def tier(self, model: str, tier: str, page: int) -> str:
        """Spell `load_model` with a tier."""
        return f"load_model(names={_json([model])}, tier={_json(tier)}{f', page={page}' if page > 1 else ''})"

    def expand(self, handle: str, page: int = 1, depth: int = 1) -> str:
        """Spell `expand`."""
        deep = f", depth={depth}" if depth > 1 else ""
        return f"expand(handle={_json(handle)}{deep}{f', page={page}' if page > 1 else ''})"

    def recall(
        self,
        query: str,
        models: Sequence[str],
        kinds: Sequence[str],
        tier: int | None,
        since: str,
        until: str,
        limit: int,
        start: int,
    ) -> str:
        """Spell `recall` with a start."""
        given = {"models": list(models), "kinds": list(kinds), "tier": tier, "since": since, "until": until}
        filters = [f"{name}={_json(value)}" for name, value in given.items() if value not in ([], "", None)]
        what = _json(query) if len(query) <= LONG_QUERY else "(the same query)"
        return f"recall({', '.join([f'query={what}', *filters, f'limit={limit}', f'start={start}'])})"

    def record(self, model: str) -> str:
        """Spell `record`."""
        return f"record(text=…, models={_json([model])})"

    def write_rollup(self, ticket: str) -> str:
        """Spell `write_rollup`."""
        return f"write_rollup(ticket={_json(ticket)}, text=…)"

    def history(self, topic: str) -> str:
        """Spell `topic_thread_summarize`."""
        return f"topic_thread_summarize(topic={_json(topic)})"


SHELL: Calls = Shell()
TOOLS: Calls = Tools()


def word(name: str) -> str:
    """Spell a name as one word of a command; a word of any script needs no quotes."""
    return name if all(letter.isalnum() or letter in "-_." for letter in name) else shlex.quote(name)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

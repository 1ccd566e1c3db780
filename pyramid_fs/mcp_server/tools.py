"""The tools: plain functions over one vault, each a method of Memory with its answer as text and as data."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import anyio.from_thread
from mcp.server.mcpserver import Context  # noqa: TC002  (the SDK reads the annotations)
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations

from pyramid_fs import boot, bounds, context, render
from pyramid_fs.calls import TOOLS
from pyramid_fs.mcp_server import answers
from pyramid_fs.shaping import UNSURE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyramid_fs.desk import Desk
    from pyramid_fs.mcp_server.growth import Growth

MAX_RESULT = {"anthropic/maxResultSizeChars": 120_000}
"""A client's own bound on characters, above which it puts an answer into a file; ours never come to so many."""
HITS = 10
MOST_HITS = 100
"""Hits that one call of recall gives: where nobody says how many, and at most."""
PROGRESS = 0.5
"""Seconds between two notes of progress."""


class Toolbox:
    """The tools over one vault; each call borrows a memory from the desk."""

    def __init__(self, desk: Desk, growth: Growth) -> None:
        self._desk, self._growth = desk, growth
        self.list_tokens = 0
        """What the list of tools costs whoever is given it."""

    def load_memory(self, page: int = 1) -> Annotated[CallToolResult, answers.MapAnswer]:
        """Show the map."""
        with self._desk.borrow() as memory:
            found = memory.map(page=page)
            text = render.map_with_costs(found, memory.boot_tokens(found), self.list_tokens, TOOLS)
        return _answer(text, answers.map_data(found))

    def load_model(
        self, names: list[str], tier: str = "", page: int = 1, max_chars: int | None = None
    ) -> Annotated[CallToolResult, answers.LoadedAnswer]:
        """Load models, or a whole tier of one."""
        with self._desk.borrow() as memory:
            found = memory.load(names, tier=tier or None, page=page, total=max_chars)
        self._growth.trigger(model.name for model in found.models)
        return _answer(render.loaded_text(found, TOOLS), answers.loaded_data(found))

    def expand(self, handle: str, depth: int = 1, page: int = 1) -> Annotated[CallToolResult, answers.ExpandedAnswer]:
        """Show what a handle leads to."""
        with self._desk.borrow() as memory:
            found = memory.expand(handle.strip().removeprefix("[[").removesuffix("]]"), depth=depth, page=page)
        return _answer(render.expanded_text(found), answers.expanded_data(found))

    def recall(
        self,
        query: str,
        ctx: Context[Any, Any],
        models: list[str] | None = None,
        kinds: list[str] | None = None,
        tier: int | None = None,
        since: str = "",
        until: str = "",
        limit: int = HITS,
        start: int = 0,
    ) -> Annotated[CallToolResult, answers.HitsAnswer]:
        """Search all texts."""
        with self._desk.borrow() as memory:
            found = memory.recall(
                query,
                progress=_progress(ctx),
                models=tuple(models or ()),
                kinds=tuple(kinds or ()),
                tier=tier,
                since=since,
                until=until,
                limit=min(limit, MOST_HITS),
                start=start,
            )
        return _answer(render.hits_text(found, calls=TOOLS), answers.hits_data(found))

    def record(
        self, text: str, models: list[str], ctx: Context[Any, Any], source: str = ""
    ) -> Annotated[CallToolResult, answers.RecordedAnswer]:
        """Write one note."""
        with self._desk.borrow() as memory:
            made, vault = memory.record(text, models, source=source or client_of(ctx)), memory.name
        self._growth.trigger(made.models)
        return _answer(answers.recorded_text(made, vault), answers.recorded_data(made, vault))

    def create_model(self, name: str, description: str = "") -> Annotated[CallToolResult, answers.CreatedAnswer]:
        """Make a model."""
        with self._desk.borrow() as memory:
            alike = context.closest(name, memory.census.models())
            made, vault = memory.create_model(name, description), memory.name
        lines = [f"Made model {made}. Write into it: {TOOLS.record(made)}", f"Vault: {vault}"]
        lines += [f"There are models of like names: {', '.join(alike)}. Is it one of those?"] if alike else []
        return _answer("\n".join(lines), {"name": made, "alike": alike, "vault": vault})

    def memory_context(self, query: str = "") -> Annotated[CallToolResult, answers.BundleAnswer]:
        """Show what a session starts with."""
        with self._desk.borrow() as memory:
            found, chars = memory.context(query), memory.vault.settings.boot_chars
        return _answer(boot.bundle_text(found, chars, TOOLS), answers.bundle_page(found))

    def topic_thread_summarize(self, topic: str) -> Annotated[CallToolResult, answers.HistoryAnswer]:
        """Give a thread's history."""
        with self._desk.borrow() as memory:
            found = answers.history_page(memory.topic_history(topic))
        return _answer(boot.history_text(found), answers.history_data(found))

    def save_session(
        self, summary: str, ctx: Context[Any, Any], topics: list[str] | None = None, session: str = ""
    ) -> Annotated[CallToolResult, answers.SavedAnswer]:
        """Save a session digest."""
        with self._desk.borrow() as memory:
            made, vault = (
                memory.save_session(summary, topics or (), session=session, source=client_of(ctx)),
                memory.name,
            )
        self._growth.extract()
        return _answer(answers.saved_text(made, vault), answers.saved_data(made, vault))

    def propose(
        self,
        kind: str,
        ctx: Context[Any, Any],
        text: str = "",
        name: str = "",
        confidence: float = UNSURE,
        source: str = "",
        label: str = "",
    ) -> Annotated[CallToolResult, answers.ProposedAnswer]:
        """Add a pending record."""
        with self._desk.borrow() as memory:
            said = (name or text) if kind == "entity" else (text or name)
            by, vault = source or client_of(ctx), memory.name
            about = text if kind == "entity" and name else ""
            made = memory.propose(kind, said, label=label, about=about, confidence=confidence, source=by)
        return _answer(answers.proposed_text(made, vault), answers.proposed_data(made, vault))

    def next_rollup(self, models: list[str] | None = None) -> Annotated[CallToolResult, answers.RollupAnswer]:
        """Hand out a summary that is due."""
        with self._desk.borrow() as memory:
            due, vault = memory.next_rollup(models or ()), memory.name
        return _answer(render.rollup_text(due, vault, TOOLS), answers.rollup_data(due, vault))

    def write_rollup(
        self, ticket: str, text: str, ctx: Context[Any, Any]
    ) -> Annotated[CallToolResult, answers.WrittenAnswer]:
        """Take in the text of a summary."""
        with self._desk.borrow() as memory:
            made, vault = memory.write_rollup(ticket, text, by=client_of(ctx)), memory.name
        return _answer(answers.written_text(made, vault), answers.written_data(made, vault))

    def writes_none(self) -> bool:
        """Whether no model writes the summaries, as the settings are now."""
        with self._desk.borrow() as memory:
            return memory.summarizer is None

    def boot(self) -> str:
        """Give what a session starts with."""
        with self._desk.borrow() as memory:
            return boot.bundle_text(memory.context(), memory.vault.settings.boot_chars, TOOLS)

    def map_text(self) -> str:
        """Give the map."""
        with self._desk.borrow() as memory:
            found = memory.map()
            return render.map_with_costs(found, memory.boot_tokens(found), self.list_tokens, TOOLS)

    def model_text(self, name: str) -> str:
        """Give a model's view; raise NoSuchModel."""
        with self._desk.borrow() as memory:
            return render.loaded_text(memory.load([name]), TOOLS)

    def models(self) -> dict[str, str]:
        """Give the models with their descriptions."""
        with self._desk.borrow() as memory:
            return {line.name: line.description for line in memory.map().models}


def _answer(text: str, data: Mapping[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(data))


def client_of(ctx: Context[Any, Any]) -> str:
    """Name the program at the other end, as it names itself; empty where it does not."""
    params = ctx.session.client_params
    name = params.client_info.name if params else ""
    return " ".join(name.split())[:60]


def _progress(ctx: Context[Any, Any]) -> Callable[[int, int], None]:
    """Tell a client how far the index is, now and then; it hears of it only if it asked to."""
    last = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS:
            last = time.monotonic()
            anyio.from_thread.run(ctx.report_progress, float(done), float(total), "texts indexed")

    return progress


class _Kind(NamedTuple):
    title: str
    description: str
    reads: bool = False
    repeats: bool = False


_KINDS = {
    "load_memory": _Kind(
        "Load the map",
        "Show the map of the memory: every model (a person, a project, oneself) with description, size and "
        "dates, and the newest notes. It loads nothing: choose by it, then call load_model.",
        reads=True,
        repeats=True,
    ),
    "load_model": _Kind(
        "Load models",
        "Load models by their names on the map: summaries that cover every note, then the newest notes. tier "
        'shows a whole tier in pages instead: "0", "1", … or "notes" or "tail". max_chars bounds the whole '
        "answer; what does not fit is named with the call that shows it. An unknown name is an error that "
        "lists the closest.",
        reads=True,
        repeats=True,
    ),
    "expand": _Kind(
        "Expand a handle",
        "Show what a handle (as in [[handle]]) leads to: the sources of a summary, depth tiers down; for a "
        "note its whole text and the summaries made from it.",
        reads=True,
        repeats=True,
    ),
    "recall": _Kind(
        "Recall texts",
        'Search all texts for words, names, numbers or a whole question; best first. "Quoted phrases" must be'
        " there, -words must not. Use it to check a name, date or number before stating it. The hits are "
        "fragments: load the models they come from for the whole. kinds: note, summary, session, topic, "
        "entity, procedure, card. since and until are dates (2026-03-14), both included. limit is 100 at "
        "most.",
        reads=True,
        repeats=True,
    ),
    "record": _Kind(
        "Record a note",
        "Write one note into one or several models of the map: one observation, whole and understandable by "
        "itself (who, what, when, why). Kept for ever. source says where it comes from. An unknown model is "
        "an error, and nothing is written: choose one of the map or make one with create_model.",
        repeats=True,
    ),
    "create_model": _Kind(
        "Make a model",
        "Make a model: a memory of its own for a person, a project or another lasting subject. Look for a "
        "near name on the map first. The description says in one line what belongs there.",
    ),
    "memory_context": _Kind(
        "Start with memory",
        "One call to start a session with: the map in short (it loads nothing), the topics active last, people and "
        "things, confirmed ways of working, the newest notes, and how much waits for a person. With query, which may "
        "be the whole opening message, the best of each.",
        reads=True,
        repeats=True,
    ),
    "topic_thread_summarize": _Kind(
        "Read a topic's history",
        "The history of a topic thread: its sessions' digests, newest first, up to 50 or 40,000 characters. topic is "
        "a slug or title of memory_context.",
        reads=True,
        repeats=True,
    ),
    "save_session": _Kind(
        "Save a session digest",
        "Save what a session came to, in a few hundred words: what was done, decided and left open. topics are slugs "
        "or titles of the threads it belongs to (a new one is made); session is your own id of the session.",
    ),
    "propose": _Kind(
        "Propose an entity or a procedure",
        "Add a record that a person confirms later. kind is entity (name; label says person, project, place, …) or "
        "procedure (text: one rule on how to go about things). confidence is from 0 to 1, source says where it comes "
        "from. Likely duplicates are flagged.",
    ),
    "next_rollup": _Kind(
        "Take a summary to write",
        "Hand out a summary that is due, for you to write: its sources, the rules, the target length and a "
        "ticket. Write it by the rules and hand it in with write_rollup; go on until nothing is due.",
        reads=True,
    ),
    "write_rollup": _Kind(
        "Hand in a summary",
        "Hand in the text of a summary with its ticket, once. It is refused, and nothing is stored, if the "
        "batch was written or a source changed meanwhile, or the text is too short, too long, cut or an echo "
        "of its sources.",
    ),
}
ROLLUPS = ("next_rollup", "write_rollup")
"""Shown only where no model writes the summaries."""


def listed(box: Toolbox, *, with_rollups: bool) -> list[Tool]:
    """Make the list of tools."""
    names = [name for name in _KINDS if with_rollups or name not in ROLLUPS]
    tools = [_tool(getattr(box, name), name) for name in names]
    shown = [tool.model_dump_json(include={"name", "description", "parameters"}) for tool in tools]
    box.list_tokens = sum(bounds.tokens(text) for text in shown)
    return tools


def _tool(function: Callable[..., Any], name: str) -> Tool:
    kind = _KINDS[name]
    made = Tool.from_function(
        function,
        name=name,
        title=kind.title,
        description=kind.description,
        annotations=ToolAnnotations(
            title=kind.title,
            read_only_hint=kind.reads,
            destructive_hint=False,
            idempotent_hint=kind.repeats,
            open_world_hint=False,
        ),
        meta=MAX_RESULT,
    )
    made.parameters = _lean(made.parameters)
    made.fn_metadata.output_schema = _lean(made.fn_metadata.output_schema)
    return made


def _lean(schema: Any) -> Any:
    """Leave out of a schema the titles, which only repeat names: each word is paid for."""
    if isinstance(schema, list):
        return [_lean(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _lean(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}

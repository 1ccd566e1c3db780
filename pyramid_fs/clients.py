"""What the configuration of each AI client gains by `pyramid setup`: text in, text out, all else in it to the byte."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeGuard

from pyramid_fs import jsontext
from pyramid_fs.errors import RefusedWrite, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyramid_fs.jsontext import Steps

NAME = "pyramid"
"""What the server is called where nothing else is said."""
LONGEST_NAME = 48
"""A skill's name has 64 characters at most, and begins with `pyramid-memory-`."""
SKILL = "SKILL.md"
"""The file of a skill, alone in its folder."""
CONTEXT = 2
"""So many lines around a change are shown."""
WINDOW = 100
"""So many lines around are looked at, to know what is a secret."""
LONG_LINE = 400
"""A file with a longer line is shown laid out afresh: the line may be the whole of it."""
SERVER = ("-m", "pyramid_fs")
"""The words by which an entry is known as one of ours."""
HOOKS = {
    "SessionStart": ("hook", "session-start"),
    "SessionEnd": ("hook", "session-end"),
    "PreCompact": ("hook", "pre-compact"),
}
"""The events of Claude Code that a vault hears of: one that shows the map, and two that save what a session came to."""

Kind: TypeAlias = Literal["server", "hook", "skill", "block", "table"]


@dataclass(frozen=True, slots=True)
class Setup:
    """What is to be set up: one vault, under one name."""

    root: str
    words: tuple[str, ...]
    """The command, up to and with `--vault ROOT`."""
    env: Mapping[str, str]
    """Variables that the command needs; an empty one must not be set."""
    shell: Callable[[Sequence[str]], str]
    """Spells words as one line for the system's shell."""
    skill: str
    agents: str
    """The two texts of the guide."""
    name: str = NAME
    former: str = ""
    """The vault that had this name before, and is gone."""

    @property
    def carried(self) -> dict[str, str]:
        """The variables that are set."""
        return {key: value for key, value in self.env.items() if value}


class Place(NamedTuple):
    """A file of a client's, and what it gains."""

    path: str
    kind: Kind
    key: str = ""
    """The table that lists servers."""
    type: str = ""
    always: bool = False
    """Whether the client is told not to put off loading the tools."""


def check_setup(setup: Setup) -> None:
    """Raise UsageError for a name or a path that some client's file can't hold, or would set a variable into."""
    if len(setup.name) > LONGEST_NAME or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", setup.name):
        raise UsageError(f"{setup.name!r} can't name a server: take letters, digits, - and _ (--name notes)")
    for text in (*setup.words, *setup.env.values()):
        if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]|\$\{", text):
            raise UsageError(f"{text!r} can't stand in a client's configuration: give the folder a plain name")


# Where each client keeps what


def places(
    client: str, home: str, platform: str, environ: Mapping[str, str], name: str = NAME, project: str = ""
) -> list[Place]:
    """List the files of a client: the user's, or a project's. `environ` names folders by absolute paths."""
    return _PLACES[client](project, _Homes(home, platform, environ), name)


class _Homes(NamedTuple):
    home: str
    platform: str
    environ: Mapping[str, str]

    def config(self) -> str:
        """Give the folder where programs keep a user's configuration."""
        if self.platform == "darwin":
            return f"{self.home}/Library/Application Support"
        if self.platform == "win32":
            return self.environ.get("APPDATA") or f"{self.home}/AppData/Roaming"
        return self.environ.get("XDG_CONFIG_HOME") or f"{self.home}/.config"


def _claude_code(project: str, homes: _Homes, name: str) -> list[Place]:
    moved = homes.environ.get("CLAUDE_CONFIG_DIR")
    folder = f"{project}/.claude" if project else moved or f"{homes.home}/.claude"
    servers = f"{project}/.mcp.json" if project else f"{moved or homes.home}/.claude.json"
    return [
        Place(servers, "server", "mcpServers", "stdio", always=True),
        Place(f"{folder}/settings.json", "hook"),
        Place(f"{folder}/skills/{skill_name(name)}/{SKILL}", "skill"),
        Place(f"{project or folder}/CLAUDE.md", "block"),
    ]


def _claude_desktop(_: str, homes: _Homes, __: str) -> list[Place]:
    return [Place(f"{homes.config()}/Claude/claude_desktop_config.json", "server", "mcpServers")]


def _cursor(project: str, homes: _Homes, _: str) -> list[Place]:
    servers = Place(f"{project or homes.home}/.cursor/mcp.json", "server", "mcpServers")
    return [servers, *_agents(project)]


def _vscode(project: str, homes: _Homes, _: str) -> list[Place]:
    folder = f"{project}/.vscode" if project else f"{homes.config()}/Code/User"
    return [Place(f"{folder}/mcp.json", "server", "servers", "stdio"), *_agents(project)]


def _codex(project: str, homes: _Homes, _: str) -> list[Place]:
    folder = homes.environ.get("CODEX_HOME") or f"{homes.home}/.codex"
    table = Place(f"{project}/.codex/config.toml" if project else f"{folder}/config.toml", "table", "mcp_servers")
    return [table, *_agents(project or folder)]


def _agents(folder: str) -> list[Place]:
    return [Place(f"{folder}/AGENTS.md", "block")] if folder else []


_PLACES: dict[str, Callable[[str, _Homes, str], list[Place]]] = {
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "cursor": _cursor,
    "vscode": _vscode,
    "codex": _codex,
}
CLIENTS = tuple(_PLACES)


def skill_name(name: str) -> str:
    """Give the name of the skill that belongs to a server."""
    return "pyramid-memory" if name == NAME else f"pyramid-memory-{name.lower().replace('_', '-')}"


# What a file gains and loses


def merged(place: Place, text: str | None, setup: Setup) -> str:
    """Give a file's text with our entry in it, in the place of the old one; raise RefusedWrite where it can't be."""
    head, body = _without_mark(text or "")
    return head + _MERGED[place.kind](place, body, setup)


def cleared(place: Place, text: str, setup: Setup) -> str | None:
    """Give a file's text without our entry; None where nothing is left.

    A table that held nothing but our entry goes with it.
    """
    head, body = _without_mark(text)
    rest = _CLEARED[place.kind](place, body, setup)
    is_bare = rest.strip() == "{}" if place.kind in {"server", "hook"} else rest == ""
    return None if is_bare and rest != body else head + rest


def occupant(place: Place, text: str, name: str) -> str:
    """Give the vault that a server of this name serves by now; empty where there is none, or it isn't said."""
    _, body = _without_mark(text)
    if place.kind not in {"server", "table"}:
        return ""
    try:
        data = _toml(body, place, "") if place.kind == "table" else _parsed(body, place, "")
    except RefusedWrite:
        return ""  # it is refused, with the remedy, by whoever wants to change it
    servers = data.get(place.key)
    known = servers.get(name) if isinstance(servers, dict) else None
    if not _is_ours(known) or "--vault" not in known["args"][:-1]:
        return ""
    return str(known["args"][known["args"].index("--vault") + 1])


def _without_mark(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _is_ours(entry: Any) -> TypeGuard[dict[str, Any]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("args"), list):
        return False
    program = re.split(r"[/\\]", str(entry.get("command")))[-1]
    return "mcp" in entry["args"] and (SERVER[1] in entry["args"] or program.removesuffix(".exe") == NAME)


def _foreign(place: Place, setup: Setup) -> RefusedWrite:
    return RefusedWrite(
        f"{place.path}: `{place.key}.{setup.name}` is another server: nothing was written; choose a name with --name"
    )


def _wrong(place: Place, steps: Iterable[object], what: str) -> RefusedWrite:
    return RefusedWrite(
        f"{place.path}: `{'.'.join(str(step) for step in steps)}` must be {what}: nothing was written; mend it first"
    )


# Servers, in JSON


def _server(place: Place, setup: Setup) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": place.type} if place.type else {}
    entry |= {"command": setup.words[0], "args": [*setup.words[1:], "mcp"], "env": setup.carried}
    return entry | ({"alwaysLoad": True} if place.always else {})


def _merge_server(place: Place, text: str, setup: Setup) -> str:
    entry = _server(place, setup)
    by_hand = f'add this to "{place.key}" by hand: {json.dumps({setup.name: entry}, ensure_ascii=False)[1:-1]}'
    servers = _need(_parsed(text, place, by_hand), (place.key,), dict, place)
    at: Steps = (place.key, setup.name)
    if setup.name not in servers:
        return jsontext.put(text, at, entry)
    known = servers[setup.name]
    if not _is_ours(known):
        raise _foreign(place, setup)
    own = _need(known, ("env",), dict, place)
    for key in ("command", "args"):
        text = text if known.get(key) == entry[key] else jsontext.put(text, (*at, key), entry[key])
    for key, value in setup.env.items():
        if value and own.get(key) != value:
            text = jsontext.put(text, (*at, "env", key), value)
        elif not value and key in own:
            text = jsontext.drop(text, (*at, "env", key))
    return text


def _clear_server(place: Place, text: str, setup: Setup) -> str:
    servers = _need(_parsed(text, place, "take it out by hand"), (place.key,), dict, place)
    if setup.name not in servers:
        return text
    if not _is_ours(servers[setup.name]):
        raise _foreign(place, setup)
    return jsontext.drop(text, (place.key, setup.name))


# The hooks, in JSON


def _merge_hook(place: Place, text: str, setup: Setup) -> str:
    for event, verb in HOOKS.items():
        text = _merge_event(place, text, setup, event, verb)
    return text


def _merge_event(place: Place, text: str, setup: Setup, event: str, verb: tuple[str, ...]) -> str:
    given = [f"{key}={value}" for key, value in setup.carried.items()]
    command = setup.shell([*(["env", *given] if given else []), *setup.words, *verb])
    entry = {"matcher": "", "hooks": [{"type": "command", "command": command}]}
    data = _parsed(text, place, f'add this to "hooks.{event}" by hand: {json.dumps(entry, ensure_ascii=False)}')
    groups = _need(data, ("hooks", event), list, place)
    known = list(_our_hooks(groups, setup, verb))
    for at, number in known:
        text = jsontext.put(text, ("hooks", event, at, "hooks", number, "command"), command)
    return text if known else jsontext.put(text, ("hooks", event, len(groups)), entry)


def _clear_hook(place: Place, text: str, setup: Setup) -> str:
    for event, verb in HOOKS.items():
        text = _clear_event(place, text, setup, event, verb)
    return text


def _clear_event(place: Place, text: str, setup: Setup, event: str, verb: tuple[str, ...]) -> str:
    groups = _need(_parsed(text, place, "take it out by hand"), ("hooks", event), list, place)
    known = list(_our_hooks(groups, setup, verb))
    # from the last one on: those before it keep their numbers
    for at, number in reversed(known):
        left = sum(1 for group, hook in known if group == at and hook < number)
        alone = left == 0 and len(groups[at]["hooks"]) == sum(1 for group, _ in known if group == at)
        text = jsontext.drop(text, ("hooks", event, at, *(() if alone else ("hooks", number))))
    return text


def _our_hooks(groups: list[Any], setup: Setup, verb: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield where hooks for this vault, or the one that had its name, stand: number of the group, of the hook."""
    marks = [f" {setup.shell(['--vault', root, *verb])}" for root in (setup.root, setup.former) if root]
    for at, group in enumerate(groups):
        hooks = group.get("hooks") if isinstance(group, dict) else None
        for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            command = str(hook.get("command")) if isinstance(hook, dict) else ""
            if " ".join(SERVER) in command and any(mark in command for mark in marks):
                yield at, number


# A JSON file


def _parsed(text: str, place: Place, by_hand: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        data = jsontext.JSON.decode(text)
    except (ValueError, RecursionError) as error:
        why = str(error) or "it is nested too deep"
        raise RefusedWrite(f"{place.path} is not plain JSON ({why}): nothing was written; {by_hand}") from None
    if not isinstance(data, dict):
        raise RefusedWrite(f"{place.path} holds no JSON object: nothing was written; {by_hand}")
    return data


def _need(data: Any, steps: tuple[str, ...], kind: type, place: Place) -> Any:
    """Give the table or list at the end of some keys, an empty one where it is missing; raise where it is not one."""
    for number, step in enumerate(steps, 1):
        wanted = kind if number == len(steps) else dict
        data = data.get(step, wanted())
        if not isinstance(data, wanted):
            raise _wrong(place, steps[:number], "a table" if wanted is dict else "a list")
    return data


# Texts for agents, between two marks


def _filled(guide: str, setup: Setup) -> str:
    """Say in a text of the guide what this server is called, and the command that does the same."""
    named = guide.replace("pyramid-memory", skill_name(setup.name)).replace("`pyramid`", f"`{setup.name}`")
    return named.replace("pyramid --vault VAULT", setup.shell(setup.words)).rstrip("\n")


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- pyramid_fs:{name} -->", f"<!-- /pyramid_fs:{name} -->"


def _merge_block(place: Place, text: str, setup: Setup) -> str:
    return _set_block(place, text, _filled(setup.agents, setup), setup.name)


def _merge_skill(place: Place, text: str, setup: Setup) -> str:
    """Keep the front matter, which a person may have changed, and all that stands beside the block."""
    front, body = _skill_parts(setup)
    if not text:
        begin, end = _marks(setup.name)
        return f"{front}{begin}\n{body}\n{end}\n"
    if _block_span(place, text, setup.name) is None:
        raise RefusedWrite(f"{place.path} is a skill of another origin: nothing was written; move it away first")
    return _set_block(place, text, body, setup.name)


def _skill_parts(setup: Setup) -> tuple[str, str]:
    begin, front, body = _filled(setup.skill, setup).split("---\n", 2)
    return f"{begin}---\n{front}---\n", body


def _set_block(place: Place, text: str, body: str, name: str) -> str:
    begin, end = _marks(name)
    eol, span = jsontext.line_end(text), _block_span(place, text, name)
    block = f"{begin}\n{body}\n{end}".replace("\n", eol)
    if span:
        return text[: span[0]] + block + text[span[1] :]
    return _appended(text, block, eol)


def _appended(text: str, block: str, eol: str) -> str:
    """Add a block after a blank line; the text ends in a line end if it did before."""
    if not text:
        return block + eol
    return f"{text}{eol}{block}{eol}" if text.endswith("\n") else f"{text}{eol}{eol}{block}"


def _lifted(before: str, after: str, eol: str) -> str:
    """Join what stood before and after a block, without the lines that `_appended` put in."""
    if not after:
        return before.removesuffix(eol * 2)
    short = before.removesuffix(eol)
    return (short if short.endswith("\n") else before) + after.removeprefix(eol)


def _block_span(place: Place, text: str, name: str) -> tuple[int, int] | None:
    begin, end = _marks(name)
    counts = text.count(begin), text.count(end)
    if counts == (0, 0):
        return None
    at, stop = text.find(begin), text.find(end)
    if counts != (1, 1) or stop < at:
        raise RefusedWrite(
            f"{place.path}: {begin} and {end} must stand there once, in this order: nothing was written; mend it first"
        )
    return at, stop + len(end)


def _clear_block(place: Place, text: str, setup: Setup) -> str:
    span = _block_span(place, text, setup.name)
    return _lifted(text[: span[0]], text[span[1] :], jsontext.line_end(text)) if span else text


def _clear_skill(place: Place, text: str, setup: Setup) -> str:
    rest = _clear_block(place, text, setup)
    return "" if rest == _skill_parts(setup)[0] else rest


# Codex's TOML


def _toml(text: str, place: Place, by_hand: str) -> dict[str, Any]:
    import tomllib  # for one client alone

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedWrite(f"{place.path} can't be parsed ({error}): nothing was written; {by_hand}") from None


def _merge_table(place: Place, text: str, setup: Setup) -> str:
    table = _toml_table(place, setup)
    by_hand = f"add this to it by hand: {' ⏎ '.join(table.splitlines())}"
    known = _need(_toml(text, place, by_hand), (place.key,), dict, place).get(setup.name)
    if known is None:
        new = _appended(text, table.replace("\n", jsontext.line_end(text)), jsontext.line_end(text))
    elif _is_ours(known):
        new = _updated(place, text, setup, known, by_hand)
    else:
        raise _foreign(place, setup)
    rest, _ = _parted(text, place, setup)
    return _proved(new, (rest, True), place, setup, by_hand)


def _toml_table(place: Place, setup: Setup) -> str:
    import tomlkit  # 60 ms to import, for one client alone

    entry, env = tomlkit.table(), tomlkit.inline_table()
    env.update(setup.carried)
    entry.update({"command": setup.words[0], "args": [*setup.words[1:], "mcp"]})
    if setup.carried:
        entry["env"] = env
    return f"[{place.key}.{setup.name}]\n{tomlkit.dumps(entry)}".rstrip("\n")


def _updated(place: Place, text: str, setup: Setup, known: dict[str, Any], by_hand: str) -> str:
    """Set what is not up to date in our table; what a person added to it stays."""
    import tomlkit

    own = _need(known, ("env",), dict, place)
    entry = {"command": setup.words[0], "args": [*setup.words[1:], "mcp"]}
    stale = [key for key, value in entry.items() if known.get(key) != value]
    odd = [key for key, value in setup.env.items() if own.get(key, "") != value]
    if not stale and not odd:
        return text

    def change(servers: Any) -> None:
        table = servers[setup.name]
        for key in stale:
            table[key] = entry[key]
        for key in odd:
            if setup.env[key]:
                table.setdefault("env", tomlkit.inline_table())[key] = setup.env[key]
            else:
                del table["env"][key]

    return _edited(text, place, by_hand, change)


def _clear_table(place: Place, text: str, setup: Setup) -> str:
    by_hand = f"take `{place.key}.{setup.name}` out by hand"
    known = _need(_toml(text, place, by_hand), (place.key,), dict, place).get(setup.name)
    if known is None:
        return text
    if not _is_ours(known):
        raise _foreign(place, setup)
    rest, _ = _parted(text, place, setup)
    new = _cut(text, place.key, setup.name)
    if _parted(new, place, setup) != (rest, False):
        new = _edited(text, place, by_hand, lambda servers: servers.pop(setup.name))
    return _proved(new, (rest, False), place, setup, by_hand)


def _cut(text: str, key: str, name: str) -> str:
    """Take the lines of a table out, and of those below it; remarks before the next one stay."""
    heads = [found.start() for found in re.finditer(r"^[ \t]*\[", text, re.MULTILINE)]
    ours = re.compile(rf"""[ \t]*\[[ \t]*["']?{key}["']?[ \t]*\.[ \t]*["']?{name}["']?[ \t]*[.\]]""")
    for start, end in reversed(list(zip(heads, [*heads[1:], len(text)], strict=False))):
        if ours.match(text, start):
            body = re.sub(r"(?:\r?\n[ \t]*(?:#[^\n]*)?)*\Z", "", text[start:end])
            text = _lifted(text[:start], text[start + len(body) :], jsontext.line_end(text))
    return text


def _edited(text: str, place: Place, by_hand: str, change: Callable[[Any], object]) -> str:
    """Change the table of servers; raise RefusedWrite where that can't be done, or all else not be written as it is."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        file = tomlkit.parse(text)
        if tomlkit.dumps(file) == text:
            change(file[place.key])
            return tomlkit.dumps(file)
    except TOMLKitError:  # it does not know every layout of tables
        pass
    raise _unsafe(place, by_hand)


def _unsafe(place: Place, by_hand: str) -> RefusedWrite:
    return RefusedWrite(f"{place.path} is laid out so that all else might not stay: nothing was written; {by_hand}")


def _proved(new: str, wanted: tuple[str, bool], place: Place, setup: Setup, by_hand: str) -> str:
    if _parted(new, place, setup) != wanted:
        raise _unsafe(place, by_hand)
    return new


def _parted(text: str, place: Place, setup: Setup) -> tuple[str, bool]:
    """Give what a text says beside our table (an empty table of servers says nothing), and whether that is there."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except ValueError:
        return "", False
    servers = data.pop(place.key, {})
    ours = servers.pop(setup.name, None)
    # by their spelling: a number that is none equals nothing, not even itself
    return repr((data, servers)), ours is not None


_Edit: TypeAlias = "Callable[[Place, str, Setup], str]"
_MERGED: dict[Kind, _Edit] = {
    "server": _merge_server,
    "hook": _merge_hook,
    "skill": _merge_skill,
    "block": _merge_block,
    "table": _merge_table,
}
_CLEARED: dict[Kind, _Edit] = {
    "server": _clear_server,
    "hook": _clear_hook,
    "skill": _clear_skill,
    "block": _clear_block,
    "table": _clear_table,
}


# What is shown


def shown(path: str, before: str | None, after: str | None) -> str:
    """Give a change as a unified diff, with what looks like a secret left out."""
    old, new = (_laid_out(text or "").splitlines() for text in (before, after))
    start, end = _around(old, new)
    one, other = (_masked("\n".join(lines[start : len(lines) - end])).splitlines() for lines in (old, new))
    names = (path if before is not None else "/dev/null"), (path if after is not None else "/dev/null")
    lines = difflib.unified_diff(one, other, *names, n=CONTEXT, lineterm="")
    return "\n".join(_placed(line, start) if line.startswith("@@") else _shortened(line) for line in lines)


def _around(old: list[str], new: list[str]) -> tuple[int, int]:
    """Count the lines before and after what is to be compared: to compare all of a large file takes minutes."""
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    rest = zip(reversed(old[start:]), reversed(new[start:]), strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
    return max(0, start - WINDOW), max(0, end - WINDOW)


def _placed(line: str, start: int) -> str:
    return re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + start}", line)


def _shortened(line: str) -> str:
    return f"{line[:LONG_LINE]}…" if line.startswith(" ") and len(line) > LONG_LINE else line


def _laid_out(text: str) -> str:
    if max(map(len, text.splitlines()), default=0) <= LONG_LINE:
        return text
    try:
        data = json.loads(text.removeprefix("\ufeff"), parse_int=str, parse_float=str)
    except ValueError:
        return text
    return json.dumps(data, ensure_ascii=False, indent=2)


_WORD = r"(?:key|token|secret|passw|passphrase|credential|authorization|cookie)[\w.-]{0,40}"
_VALUE = r"""(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\[[^\]]*\]|[^\s,\[{}"'][^\s,}"']*)"""
_SECRETS = (
    re.compile(rf"""({_WORD}["']?\s*[:=]\s*){_VALUE}""", re.IGNORECASE | re.DOTALL),
    re.compile(rf"""(["']-[\w-]{{0,40}}{_WORD}["']\s*,\s*){_VALUE}""", re.IGNORECASE | re.DOTALL),
    re.compile(r"(\b(?:bearer|basic)\s+)[\w.~+/=-]+", re.IGNORECASE),
)
"""What a variable, or an option, of such a name is set to; what a header holds."""


def _masked(text: str) -> str:
    for secret in _SECRETS:
        text = secret.sub(r'\1"…"', text)
    return text

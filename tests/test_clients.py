from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import resources
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import frontmatter
import hard
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs import clients
from pyramid_fs.cli.clients import HELP, NEXT, shell_line
from pyramid_fs.clients import Place, Setup
from pyramid_fs.errors import RefusedWrite, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOT = "/home/mira/My notes"
GUIDE = resources.files("pyramid_fs").joinpath("guide")
SETUP = Setup(
    root=ROOT,
    words=("/opt/py/bin/python", "-P", "-m", "pyramid_fs", "--vault", ROOT),
    env={"PYRAMID_CACHE_DIR": "", "PYRAMID_CONFIG": ""},
    shell=shlex.join,
    skill=GUIDE.joinpath("SKILL.md").read_text("utf-8"),
    agents=GUIDE.joinpath("agents.md").read_text("utf-8"),
)
ENV = {"PYRAMID_CACHE_DIR": "/c d", "PYRAMID_CONFIG": ""}
ARGS = ["-P", "-m", "pyramid_fs", "--vault", ROOT, "mcp"]
SERVER = Place("/h/.claude.json", "server", "mcpServers", "stdio", always=True)
PLAIN = Place("/h/mcp.json", "server", "mcpServers")
HOOK = Place("/h/settings.json", "hook")
BLOCK = Place("/h/CLAUDE.md", "block")
SKILL = Place("/h/skills/pyramid-memory/SKILL.md", "skill")
TABLE = Place("/h/config.toml", "table", "mcp_servers")
ALL = (SERVER, HOOK, BLOCK, SKILL, TABLE)
COMMAND = "/opt/py/bin/python -P -m pyramid_fs --vault '/home/mira/My notes' hook session-start"


def back(place: Place, text: str, setup: Setup = SETUP) -> str | None:
    return clients.cleared(place, clients.merged(place, text, setup), setup)


# Where each client keeps what


@pytest.mark.parametrize(
    ("client", "platform", "environ", "found"),
    [
        (
            "claude-code",
            "linux",
            {},
            [
                "/h/.claude.json",
                "/h/.claude/settings.json",
                "/h/.claude/skills/pyramid-memory/SKILL.md",
                "/h/.claude/CLAUDE.md",
            ],
        ),
        (
            "claude-code",
            "darwin",
            {"CLAUDE_CONFIG_DIR": "/x"},
            ["/x/.claude.json", "/x/settings.json", "/x/skills/pyramid-memory/SKILL.md", "/x/CLAUDE.md"],
        ),
        ("claude-desktop", "darwin", {}, ["/h/Library/Application Support/Claude/claude_desktop_config.json"]),
        ("claude-desktop", "linux", {}, ["/h/.config/Claude/claude_desktop_config.json"]),
        ("claude-desktop", "win32", {"APPDATA": r"C:\A"}, [r"C:\A/Claude/claude_desktop_config.json"]),
        ("claude-desktop", "win32", {}, ["/h/AppData/Roaming/Claude/claude_desktop_config.json"]),
        ("cursor", "linux", {}, ["/h/.cursor/mcp.json"]),
        ("vscode", "linux", {}, ["/h/.config/Code/User/mcp.json"]),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/x"}, ["/x/Code/User/mcp.json"]),
        ("vscode", "darwin", {}, ["/h/Library/Application Support/Code/User/mcp.json"]),
        ("vscode", "win32", {"APPDATA": r"C:\A"}, [r"C:\A/Code/User/mcp.json"]),
        ("codex", "linux", {}, ["/h/.codex/config.toml", "/h/.codex/AGENTS.md"]),
        ("codex", "win32", {"CODEX_HOME": "/x"}, ["/x/config.toml", "/x/AGENTS.md"]),
    ],
)
def test_the_files_of_a_client(client: str, platform: str, environ: dict[str, str], found: list[str]) -> None:
    assert [place.path for place in clients.places(client, "/h", platform, environ)] == found


@pytest.mark.parametrize(
    ("client", "found"),
    [
        ("claude-code", [".mcp.json", ".claude/settings.json", ".claude/skills/pyramid-memory/SKILL.md", "CLAUDE.md"]),
        ("cursor", [".cursor/mcp.json", "AGENTS.md"]),
        ("vscode", [".vscode/mcp.json", "AGENTS.md"]),
        ("codex", [".codex/config.toml", "AGENTS.md"]),
    ],
)
def test_the_files_of_a_project(client: str, found: list[str]) -> None:
    moved = {"CLAUDE_CONFIG_DIR": "/x", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/x"}
    for platform in ("linux", "darwin", "win32"):
        places = clients.places(client, "/h", platform, moved, project="/p")
        assert [place.path for place in places] == [f"/p/{path}" for path in found]


def test_every_client_has_its_help_and_its_next_step() -> None:
    assert set(clients.CLIENTS) == set(HELP) == set(NEXT)


@pytest.mark.parametrize("name", ["", "a b", "-a", "a/b", "a--><", "é", "a" * 49, "a\n"])
def test_names_that_no_file_could_hold(name: str) -> None:
    with pytest.raises(UsageError, match="--name"):
        clients.check_setup(replace(SETUP, name=name))


@pytest.mark.parametrize("root", ["/a\nb", "/a\udcff", "/a/${HOME}"])
def test_paths_that_no_file_could_hold(root: str) -> None:
    with pytest.raises(UsageError, match="plain name"):
        clients.check_setup(replace(SETUP, words=(*SETUP.words[:-1], root)))
    clients.check_setup(replace(SETUP, name="notes-2_b", env=ENV))


# Servers, in JSON


def test_a_file_that_is_not_there_yet() -> None:
    made = clients.merged(SERVER, None, replace(SETUP, env=ENV))
    assert made.startswith('{\n  "mcpServers": {\n    "pyramid": {\n      "type": "stdio",\n')
    assert made.endswith("}\n")
    entry = {"type": "stdio", "command": "/opt/py/bin/python", "args": ARGS}
    assert json.loads(made) == {
        "mcpServers": {"pyramid": entry | {"env": {"PYRAMID_CACHE_DIR": "/c d"}, "alwaysLoad": True}}
    }
    assert json.loads(clients.merged(PLAIN, "\n", SETUP)) == {
        "mcpServers": {"pyramid": {"command": "/opt/py/bin/python", "args": ARGS, "env": {}}}
    }
    assert clients.cleared(SERVER, made, SETUP) is None


CLAUDE_JSON = """{
\t"numStartups": 412,
\t"tipsHistory": {"a": 1, "b": 12345678901234567890123},
\t"name": "Zoë \\ud83d \\u00e9 🌱",
\t"cost": 1.10E+2,
\t"mcpServers": {
\t\t"garden": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx", "args": ["-y", "@garden/mcp"],
\t\t\t"env": {"GARDEN_TOKEN": "tok-sunflower"}
\t\t}
\t},
\t"projects": { "/home/mira/site" : {"allowedTools": [ ] } }
}"""


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_what_a_person_has_keeps_its_bytes(eol: str, mark: str, end: str) -> None:
    old = mark + (CLAUDE_JSON + end).replace("\n", eol)
    new = clients.merged(SERVER, old, SETUP)
    start = new.index("," + eol + '\t\t"pyramid": {' + eol + '\t\t\t"type": "stdio",')
    stop = new.index("\t\t}", new.index("alwaysLoad")) + 3
    assert new[:start] + new[stop:] == old
    assert new.count("\n") == new.count(eol)
    assert clients.merged(SERVER, new, SETUP) == new
    assert clients.cleared(SERVER, new, SETUP) == old
    assert clients.cleared(SERVER, old, SETUP) == old


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"a":1}', '{"a":1,"mcpServers":{"pyramid":{'),
        ('{"a": 1}', '{"a": 1, "mcpServers": {"pyramid": {'),
        ('{"mcpServers":{}}', '{"mcpServers":{"pyramid":{"command":'),
        ("{ }", '{"mcpServers": {"pyramid": {"command": '),
        ('{\n "a": 1,\n "mcpServers": {}\n}', '{\n "a": 1,\n "mcpServers": {\n  "pyramid": {\n   "command"'),
        ('{\n    "mcpServers": {"x": {"y": 1}}\n}', '{\n    "mcpServers": {"x": {"y": 1}, "pyramid": {"command": '),
        ('{\n"a": 1}', '{\n"a": 1,\n"mcpServers": {\n  "pyramid": {\n'),
    ],
)
def test_the_layout_that_is_there_is_kept(old: str, new: str) -> None:
    made = clients.merged(PLAIN, old, SETUP)
    assert made.startswith(new)
    assert json.loads(made)["mcpServers"]["pyramid"]["args"] == ARGS
    assert clients.merged(PLAIN, made, SETUP) == made


def test_our_entry_is_brought_up_to_date_and_keeps_what_was_added_to_it() -> None:
    old = clients.merged(SERVER, CLAUDE_JSON, replace(SETUP, env={"PYRAMID_CACHE_DIR": "/c", "PYRAMID_CONFIG": "/f"}))
    old = old.replace('"alwaysLoad": true', '"alwaysLoad": false, "timeout": 9e1').replace(
        '": "/c"', '": "/c", "A": "b"'
    )
    later = replace(SETUP, words=("/new/python", *SETUP.words[1:-1], "/moved"), root="/moved", env=ENV)
    new = clients.merged(SERVER, old, later)
    assert '"timeout": 9e1' in new
    assert json.loads(new)["mcpServers"]["pyramid"] == {
        "type": "stdio",
        "command": "/new/python",
        "args": [*ARGS[:-2], "/moved", "mcp"],
        "env": {"PYRAMID_CACHE_DIR": "/c d", "A": "b"},
        "alwaysLoad": False,
        "timeout": 90.0,
    }
    assert '\n\t\t\t\t"/moved",\n' in new
    assert clients.cleared(SERVER, new, later) == CLAUDE_JSON


def test_variables_come_into_an_entry_that_has_none() -> None:
    old = '{"mcpServers": {"pyramid": {"command": "pyramid.exe", "args": ["mcp"]}}}'
    new = clients.merged(PLAIN, old, replace(SETUP, env=ENV))
    assert json.loads(new)["mcpServers"]["pyramid"]["env"] == {"PYRAMID_CACHE_DIR": "/c d"}
    assert '"args": ["-P", "-m"' in new


@pytest.mark.parametrize("place", [SERVER, PLAIN])
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, // mine\n "b": 2}',
        '{"a": 1,}',
        '{"a": 1, "a": 2}',
        '{"x": {"mcpServers": 1, "mcpServers": 2}}',
        '{"a": NaN}',
        "[]",
        '"x"',
        "{",
        "{'a': 1}",
        "[" * 200_000,
    ],
)
def test_what_is_no_plain_json_is_not_written(place: Place, text: str) -> None:
    with pytest.raises(RefusedWrite, match=r'mcp|claude.*add this to "mcpServers" by hand: "pyramid": \{"') as caught:
        clients.merged(place, text, SETUP)
    assert str(caught.value).startswith(place.path)
    with pytest.raises(RefusedWrite, match="by hand"):
        clients.cleared(place, text, SETUP)
    assert clients.occupant(place, text, "pyramid") == ""


@pytest.mark.parametrize(
    ("place", "text", "key"),
    [
        (SERVER, '{"mcpServers": []}', "mcpServers"),
        (SERVER, '{"mcpServers": null}', "mcpServers"),
        (SERVER, '{"mcpServers": {"pyramid": {"args": ["pyramid_fs", "mcp"], "env": []}}}', "env"),
        (HOOK, '{"hooks": []}', "hooks"),
        (HOOK, '{"hooks": {"SessionStart": {}}}', "hooks.SessionStart"),
        (TABLE, "mcp_servers = 1", "mcp_servers"),
        (TABLE, '[mcp_servers.pyramid]\nargs = ["pyramid_fs", "mcp"]\nenv = 1', "env"),
    ],
)
def test_another_type_than_expected_is_not_written(place: Place, text: str, key: str) -> None:
    with pytest.raises(RefusedWrite, match=f"^{place.path}: `{key}` must be a"):
        clients.merged(place, text, SETUP)


@pytest.mark.parametrize("entry", ['{"command": "other", "args": ["mcp"]}', '{"url": "https://x.example"}', "1"])
def test_another_server_of_that_name_is_left_alone(entry: str) -> None:
    text = f'{{"mcpServers": {{"pyramid": {entry}}}}}'
    for change in (clients.merged, clients.cleared):
        with pytest.raises(RefusedWrite, match=r"another server.*--name"):
            change(SERVER, text, SETUP)
    table = '[mcp_servers]\npyramid = { command = "other" }\n'
    for change in (clients.merged, clients.cleared):
        with pytest.raises(RefusedWrite, match=r"another server.*--name"):
            change(TABLE, table, SETUP)


def test_the_vault_that_has_a_name() -> None:
    for place in (SERVER, TABLE):
        made = clients.merged(place, "", SETUP)
        assert clients.occupant(place, made, "pyramid") == ROOT
        assert clients.occupant(place, made, "other") == ""
        assert clients.occupant(place, "", "pyramid") == ""
    assert clients.occupant(HOOK, "{}", "pyramid") == ""
    assert clients.occupant(TABLE, "= 1", "pyramid") == ""
    assert clients.occupant(SERVER, '{"mcpServers": []}', "pyramid") == ""
    assert (
        clients.occupant(SERVER, '{"mcpServers": {"pyramid": {"command": "pyramid", "args": ["mcp"]}}}', "pyramid")
        == ""
    )


# Any JSON


BLANK = st.text(" \t\n\r", max_size=3)
NUMBERS = st.sampled_from(["0", "-0", "1.0", "1E400", "12345678901234567890123", "-1.50e+07", "9" * 5000])
KEYS = st.sampled_from(["a", "mcpServers", "hooks", "SessionStart", "pyramid", "é", "", "🌱", '"', "\\", "\ud83d"])


@st.composite
def spelled(draw: st.DrawFn, depth: int = 3) -> str:
    """Spell any JSON value, in any layout."""
    kind = draw(st.sampled_from(["leaf", "object", "list"])) if depth else "leaf"
    if kind == "leaf":
        text = st.text(st.characters(exclude_categories=())).map(json.dumps) | st.text().map(
            lambda text: json.dumps(text, ensure_ascii=False)
        )
        return draw(text | NUMBERS | st.sampled_from(["true", "false", "null"]))
    size = draw(st.integers(0, 3))
    if kind == "list":
        items = [draw(BLANK) + draw(spelled(depth - 1)) + draw(BLANK) for _ in range(size)]
        return f"[{','.join(items) or draw(BLANK)}]"
    return draw(tables(depth))


@st.composite
def tables(draw: st.DrawFn, depth: int = 3) -> str:
    members = []
    for key in draw(st.lists(KEYS, max_size=4, unique=True)):
        name = json.dumps(key, ensure_ascii=draw(st.booleans()) or key == "\ud83d")
        members.append(f"{draw(BLANK)}{name}{draw(BLANK)}:{draw(BLANK)}{draw(spelled(depth - 1))}{draw(BLANK)}")
    return f"{{{','.join(members) or draw(BLANK)}}}"


def literal(text: str) -> Any:
    """Read JSON with every number as it is spelled."""
    return json.loads(text, parse_int=lambda digits: ("number", digits), parse_float=lambda digits: ("number", digits))


def alike(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def without(data: Any, *steps: str | int) -> Any:
    """Take our entry out of what was read, and the tables that are empty without it."""
    for count in range(len(steps), 0, -1):
        box = data
        for step in steps[: count - 1]:
            box = box[step]
        if count == len(steps) or not box[steps[count - 1]]:
            del box[steps[count - 1]]
    return data


@given(text=tables(), around=st.tuples(BLANK, BLANK), place=st.sampled_from([SERVER, PLAIN, HOOK]))
def test_of_any_json_all_else_is_kept(text: str, around: tuple[str, str], place: Place) -> None:
    old = around[0] + text + around[1]
    try:
        new = clients.merged(place, old, replace(SETUP, env=ENV))
    except RefusedWrite:
        data = literal(old)
        servers = data.get("mcpServers", {})
        hooks = data.get("hooks", {})
        odd = not isinstance(servers, dict) or "pyramid" in servers
        odd_hooks = not isinstance(hooks, dict) or any(
            not isinstance(hooks.get(event, []), list) for event in clients.HOOKS
        )
        assert odd_hooks if place is HOOK else odd
        return
    if place is not HOOK:  # which comes in several places
        same = alike(old, new)
        tail = alike(old[same:][::-1], new[same:][::-1])
        assert old[same : len(old) - tail].strip() == ""  # but for blanks in a table that was empty
    assert clients.merged(place, new, replace(SETUP, env=ENV)) == new
    rest = clients.cleared(place, new, SETUP)
    data, after = literal(old), literal(new)
    if place is HOOK:
        for event in clients.HOOKS:
            after = without(after, "hooks", event, len(after["hooks"][event]) - 1)
        kept = data.get("hooks", {})
        was_empty = data == {} or data.get("hooks") == {} or any(kept.get(event) == [] for event in clients.HOOKS)
        if was_empty:
            return
    else:
        after = without(after, "mcpServers", "pyramid")
        was_empty = data == {} or data.get("mcpServers") == {}
    if was_empty:
        assert literal(rest or "{}") == after
    else:
        assert after == data
        assert rest == old


# The hook


SETTINGS = """{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "SessionStart": [
            {
                "matcher": "startup",
                "hooks": [
                    {"type": "command", "command": "echo hi"}
                ]
            }
        ]
    }
}
"""


def hooks(text: str) -> list[str]:
    return [each["command"] for group in json.loads(text)["hooks"]["SessionStart"] for each in group["hooks"]]


def test_the_hook_comes_beside_others() -> None:
    new = clients.merged(HOOK, SETTINGS, SETUP)
    assert json.loads(new)["hooks"]["SessionStart"][1] == {
        "matcher": "",
        "hooks": [{"type": "command", "command": COMMAND}],
    }
    assert new.startswith(SETTINGS[: SETTINGS.index("\n        ]")])
    assert clients.merged(HOOK, new, SETUP) == new
    assert clients.cleared(HOOK, new, SETUP) == SETTINGS
    assert clients.cleared(HOOK, clients.merged(HOOK, None, SETUP), SETUP) is None


def test_the_hook_carries_the_variables() -> None:
    (command,) = hooks(clients.merged(HOOK, None, replace(SETUP, env=ENV)))
    assert shlex.split(command) == ["env", "PYRAMID_CACHE_DIR=/c d", *SETUP.words, "hook", "session-start"]


def test_an_earlier_hook_of_the_vault_is_replaced_where_it_stands() -> None:
    old = clients.merged(HOOK, SETTINGS, replace(SETUP, words=("/old/python", *SETUP.words[1:])))
    old = old.replace('"matcher": ""', '"matcher": "resume", "timeout": 5')
    new = clients.merged(HOOK, old, SETUP)
    assert new == old.replace("/old/python", "/opt/py/bin/python")
    assert hooks(new) == ["echo hi", COMMAND]


def test_the_hook_of_a_vault_that_moved_is_replaced() -> None:
    old = clients.merged(HOOK, SETTINGS, SETUP)
    moved = replace(SETUP, root="/m", words=(*SETUP.words[:-1], "/m"), former=ROOT)
    assert len(hooks(clients.merged(HOOK, old, moved))) == 2
    assert len(hooks(clients.merged(HOOK, old, replace(moved, former="")))) == 3


def test_a_hook_of_ours_among_others_in_its_group_leaves_alone() -> None:
    ours = {"type": "command", "command": COMMAND}
    other = {"type": "command", "command": "echo hi"}
    odd: list[Any] = [1, {"hooks": 2}, {"hooks": [3, {}]}]
    groups = [{"hooks": [ours, other, ours]}, {"matcher": "x", "hooks": [ours, ours]}, *odd]
    text = json.dumps({"hooks": {"SessionStart": groups}})
    new = clients.merged(HOOK, text, SETUP)
    assert json.loads(new)["hooks"]["SessionStart"] == groups
    assert clients.merged(HOOK, new, SETUP) == new
    left = clients.cleared(HOOK, text, SETUP)
    assert left is not None
    assert json.loads(left) == {"hooks": {"SessionStart": [{"hooks": [other]}, *odd]}}


def test_a_session_s_end_is_heard_of_too() -> None:
    found = json.loads(clients.merged(HOOK, None, SETUP))["hooks"]
    verbs = {event: group[0]["hooks"][0]["command"].rpartition("hook ")[2] for event, group in found.items()}
    assert verbs == {"SessionStart": "session-start", "SessionEnd": "session-end", "PreCompact": "pre-compact"}
    assert clients.cleared(HOOK, clients.merged(HOOK, None, SETUP), SETUP) is None


# Texts for agents


@given(text=st.text(st.sampled_from("ab{}# \t\r\n🌱")) | st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_kept_and_comes_back(text: str) -> None:
    new = clients.merged(BLOCK, text, SETUP)
    assert new.startswith(text)
    assert clients.merged(BLOCK, new, SETUP) == new
    assert clients.cleared(BLOCK, new, SETUP) == (text if text.removeprefix("\ufeff") else None)


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_a_block_is_replaced_where_it_stands(eol: str) -> None:
    mine = "<!-- pyramid_fs:pyramid -->\nOld.\n<!-- /pyramid_fs:pyramid -->"
    text = f"# Mine\n\n{mine}\n\nLast words, no line end".replace("\n", eol)
    new = clients.merged(BLOCK, text, SETUP)
    assert new.startswith(f"# Mine{eol}{eol}<!-- pyramid_fs:pyramid -->{eol}## Memory")
    assert new.endswith(f"<!-- /pyramid_fs:pyramid -->{eol}{eol}Last words, no line end")
    assert new.count("\n") == new.count(eol)
    assert "Old." not in new
    assert clients.cleared(BLOCK, new, SETUP) == f"# Mine{eol}{eol}Last words, no line end"


@pytest.mark.parametrize(
    "text",
    [
        "<!-- pyramid_fs:pyramid -->\n",
        "<!-- /pyramid_fs:pyramid -->\n<!-- pyramid_fs:pyramid -->",
        "<!-- pyramid_fs:pyramid -->" * 2 + "<!-- /pyramid_fs:pyramid -->",
    ],
)
def test_a_block_whose_marks_are_broken_is_not_written(text: str) -> None:
    for change in (clients.merged, clients.cleared):
        with pytest.raises(RefusedWrite, match="once, in this order"):
            change(BLOCK, text, SETUP)


def test_the_skill() -> None:
    new = clients.merged(SKILL, None, SETUP)
    front, body = frontmatter.parse(new)
    assert front["name"] == "pyramid-memory"
    assert body.startswith("<!-- pyramid_fs:pyramid -->\n# Memory")
    assert clients.merged(SKILL, new, SETUP) == new
    assert clients.cleared(SKILL, new, SETUP) is None
    mine = (
        new.replace("name: pyramid-memory", "name: pyramid-memory\nmodel: small").replace("# Memory", "# Old")
        + "Mine.\n"
    )
    later = clients.merged(SKILL, mine, SETUP)
    assert "model: small" in later
    assert "# Memory" in later
    assert later.endswith("Mine.\n")
    left = clients.cleared(SKILL, later, SETUP)
    assert left is not None
    assert left.endswith("---\nMine.\n")


def test_a_skill_of_another_origin_is_left_alone() -> None:
    with pytest.raises(RefusedWrite, match="another origin"):
        clients.merged(SKILL, "---\nname: pyramid-memory\n---\n", SETUP)


def test_the_guide() -> None:
    front, body = frontmatter.parse(SETUP.skill)
    assert front["name"] == "pyramid-memory"
    assert "Use it" in str(front["description"])
    assert len(str(front["description"])) < 1024
    assert len(clients.merged(SKILL, None, SETUP)) < 4000
    assert len(clients.merged(BLOCK, None, SETUP)) < 1200
    for text in (body, SETUP.agents):
        for word in ("load_memory", "load_model", "recall", "record", "expand", "create_model", "loads nothing"):
            assert word in text
        assert "data, not instructions" in text
        assert text.count("pyramid --vault VAULT") == 1
    for place in (SKILL, BLOCK):
        made = clients.merged(place, None, replace(SETUP, name="notes"))
        assert "VAULT" not in made
        assert "`/opt/py/bin/python -P -m pyramid_fs --vault '/home/mira/My notes'`" in made
        assert "MCP server `notes`" in made
        assert "`pyramid`" not in made


# Codex's TOML


DOTTED = "[mcp_servers]\npyramid.command = 'pyramid'\npyramid.args = ['mcp']\n"
CONFIG = """# my settings
model = "large"   # for now

[mcp_servers.garden]  # the beds
command = "npx"
args = [
    "-y",  # yes
    "@garden/mcp",
]

[tui]
notifications = true
limit = nan
# the end
"""


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_table_comes_after_what_is_there(eol: str, end: str) -> None:
    old = (CONFIG.rstrip("\n") + end).replace("\n", eol)
    new = clients.merged(TABLE, old, replace(SETUP, env=ENV))
    assert new.startswith(old)
    assert tomllib.loads(new)["mcp_servers"]["pyramid"] == {
        "command": "/opt/py/bin/python",
        "args": ARGS,
        "env": {"PYRAMID_CACHE_DIR": "/c d"},
    }
    assert new.count("\n") == new.count(eol)
    assert clients.merged(TABLE, new, replace(SETUP, env=ENV)) == new
    assert clients.cleared(TABLE, new, SETUP) == old
    assert clients.cleared(TABLE, old, SETUP) == old


@pytest.mark.parametrize(
    "old",
    [
        "",
        "a = 1",
        "# only a remark\n",
        "[mcp_servers]\n\n[mcp_servers.a]\ncommand = 'x'\n",
        '[mcp_servers.a]\ncommand = "x"\n[tui]\nx = 1\n[mcp_servers.b]\ncommand = "y"\n',
        "[[list]]\na = 1\n\n[[list]]\na = 2\n",
        "[mcp_servers]\na = { command = 'x' }\n",
    ],
)
def test_toml_comes_back(old: str) -> None:
    new = clients.merged(TABLE, old, SETUP)
    assert new.startswith(old)
    assert tomllib.loads(new)["mcp_servers"]["pyramid"]["args"] == ARGS
    assert (clients.cleared(TABLE, new, SETUP) or "") == old


def test_a_table_is_brought_up_to_date_where_it_stands() -> None:
    old = (
        '[mcp_servers.pyramid] # ours\ncommand = "/old"  # why\nargs = ["-m", "pyramid_fs", "mcp"]\n'
        'startup_timeout_sec = 20\n[mcp_servers.pyramid.env]\nPYRAMID_CONFIG = "/f"\nA = "b" # mine\n\n[z]\na = 1\n'
    )
    new = clients.merged(TABLE, old, replace(SETUP, env=ENV))
    assert tomllib.loads(new)["mcp_servers"]["pyramid"] == {
        "command": "/opt/py/bin/python",
        "args": ARGS,
        "startup_timeout_sec": 20,
        "env": {"PYRAMID_CACHE_DIR": "/c d", "A": "b"},
    }
    assert "# ours" in new
    assert "# why" in new
    assert 'A = "b" # mine' in new
    assert clients.cleared(TABLE, new, SETUP) == "\n[z]\na = 1\n"
    bare = '[mcp_servers.pyramid]\ncommand = "pyramid"\nargs = ["mcp"]\n'
    made = clients.merged(TABLE, bare, replace(SETUP, env=ENV))
    assert tomllib.loads(made)["mcp_servers"]["pyramid"]["env"] == {"PYRAMID_CACHE_DIR": "/c d"}


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "a = 1\na = 2\n",
        'mcp_servers = { a = { command = "x" } }\n',
        "x = " + "[" * 100_000,
        '[[l]]\nx = 1\n[t]\n[[l]]\nx = 2\n[mcp_servers.pyramid]\ncommand = "pyramid"\nargs = ["mcp"]\n',
        f"{DOTTED}[t]\n[mcp_servers.pyramid.env]\nA = 'b'\n",
    ],
)
def test_toml_that_can_t_take_a_table_is_not_written(text: str) -> None:
    with pytest.raises(RefusedWrite, match=r"config.toml.*add this to it by hand: \[mcp_servers.pyramid\]"):
        clients.merged(TABLE, text, SETUP)


def test_a_table_on_one_line_is_taken_out_of_it() -> None:
    old = "[mcp_servers]\na = { command = 'x' } # mine\npyramid = { command = 'pyramid', args = ['mcp'] }\n"
    assert clients.cleared(TABLE, old, SETUP) == "[mcp_servers]\na = { command = 'x' } # mine\n"
    assert clients.cleared(TABLE, DOTTED, SETUP) == "[mcp_servers]\n"
    with pytest.raises(RefusedWrite, match=r"take `mcp_servers.pyramid` out by hand"):
        clients.cleared(TABLE, f"{DOTTED}[t]\n[mcp_servers.pyramid.env]\nA = 'b'\n", SETUP)


def test_remarks_and_tables_after_ours_stay() -> None:
    ours = '[mcp_servers."pyramid"]\ncommand = "pyramid"\nargs = [\n  "mcp",\n]\n\n[mcp_servers.pyramid.env]\nA = "b"\n'
    text = f"# one\n[a]\nx = 1\n\n{ours}\n# two\n[b]\ny = 2\n"
    assert clients.cleared(TABLE, text, SETUP) == "# one\n[a]\nx = 1\n\n# two\n[b]\ny = 2\n"


# What is shown


def test_a_new_file_and_a_removed_one_are_shown() -> None:
    assert clients.shown("/h/a", None, "x\n").splitlines() == ["--- /dev/null", "+++ /h/a", "@@ -0,0 +1 @@", "+x"]
    assert clients.shown("/h/a", "x\n", None).splitlines() == ["--- /h/a", "+++ /dev/null", "@@ -1 +0,0 @@", "-x"]


SECRETS = [
    ('"API_KEY": "sk-sunflower"', "API_KEY"),
    ('"githubToken" : "sk-sunflower"', "githubToken"),
    ('"password": ["sk-sunflower"]', "password"),
    ('"secret": 77777', "secret"),
    ('"args": ["--api-key", "sk-sunflower"]', "--api-key"),
    ('"args": ["--token=sk-sunflower"]', "--token"),
    ('"url": "https://x.example/?token=sk-sunflower"', "x.example"),
    ('"headers": {"X": "Bearer sk-sunflower"}', "Bearer"),
    ('"secret": "sk-\\"sunflower"', "secret"),
]


@pytest.mark.parametrize(("line", "kept"), SECRETS)
def test_what_looks_like_a_secret_is_not_shown(line: str, kept: str) -> None:
    old = f'{{\n  "mcpServers": {{\n    "a": {{\n      {line}\n    }}\n  }}\n}}\n'
    diff = clients.shown(PLAIN.path, old, clients.merged(PLAIN, old, SETUP))
    assert kept in diff
    assert "sunflower" not in diff
    assert "77777" not in diff
    assert "…" in diff
    assert '+        "/home/mira/My notes",\n' in diff


@pytest.mark.parametrize(
    "line", ['GARDEN_TOKEN = "sunflower"', "env = { 'my.key' = 'sunflower' }", 'secret = """\nsunflower"""']
)
def test_secrets_of_toml_are_not_shown(line: str) -> None:
    old = f"[mcp_servers.a]\n{line}"
    diff = clients.shown(TABLE.path, old, clients.merged(TABLE, old, SETUP))
    assert "sunflower" not in diff
    assert "+[mcp_servers.pyramid]" in diff


def test_only_the_lines_around_a_change_are_shown() -> None:
    old = "".join(f"line {number}\n" for number in range(50))
    diff = clients.shown(BLOCK.path, old, clients.merged(BLOCK, old, SETUP))
    assert "line 48" in diff
    assert "line 47" not in diff


def test_of_a_long_line_only_what_changed_is_shown() -> None:
    old = json.dumps({"history": ["Zoë " * 200], "a": 10**30, "b": 1, "c": 2, "mcpServers": {}}, ensure_ascii=False)
    for mark in ("", "\ufeff"):
        diff = clients.shown(PLAIN.path, mark + old, clients.merged(PLAIN, mark + old, SETUP))
        assert "Zoë" not in diff
        assert '+    "pyramid": {' in diff
    text = "x" * 900 + "\n"
    diff = clients.shown(BLOCK.path, text, clients.merged(BLOCK, text, SETUP))
    assert f"\n {'x' * 399}…\n" in diff


# On the command line


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[hard.Vault]:
    made = hard.make(tmp_path, monkeypatch)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    yield made
    assert not list(tmp_path.rglob(".pyramid-*"))


@pytest.fixture
def home(vault: hard.Vault) -> Path:
    return vault.root.parent / "home"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_shown_then_written_then_known_then_removed(client: str, vault: hard.Vault, home: Path) -> None:
    shown = vault.run("setup", client)
    assert shown.code == 0
    assert shown.err.startswith("pyramid: nothing was written yet; --write makes ")
    assert everything(home) == {}
    written = vault.run("setup", client, "--write")
    assert written.out.startswith(shown.out)
    assert "Next: " in written.out
    files = everything(home)
    assert f"makes {len(files)} change" in shown.err
    for path in files:
        assert f"+++ {home / path}\n" in shown.out
    again = vault.run("setup", client, "--write")
    assert again.out == f"{client} is set up already: `pyramid`, {vault.root}\n"
    assert vault.run("setup", client).out == again.out
    assert everything(home) == files
    removal = vault.run("setup", client, "--remove")
    assert everything(home) == files
    assert "+++ /dev/null" in removal.out
    assert vault.run("setup", client, "--remove", "--write").out.startswith(removal.out)
    assert everything(home) == {}
    assert vault.run("setup", client, "--remove").out == f"{client} is not set up: `pyramid`, {vault.root}\n"


@pytest.mark.parametrize("client", ["claude-code", "cursor", "vscode", "codex"])
def test_a_project_of_its_own(client: str, vault: hard.Vault, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "site"
    project.mkdir()
    (project / "AGENTS.md").write_text("# Site\n")
    assert vault.run("setup", client, "--project", str(project), "--write").code == 0
    assert everything(home) == {}
    places = clients.places(client, "/h", "linux", {}, project=str(project))
    written = {str(project / path): data for path, data in everything(project).items()}
    assert all(str(vault.root).encode() in written[place.path] for place in places)
    assert vault.run("setup", client, "--project", str(project), "--remove", "--write").code == 0
    assert everything(project) == {"AGENTS.md": b"# Site\n"}


def test_a_project_that_is_not_there(vault: hard.Vault, tmp_path: Path) -> None:
    assert vault.run("setup", "cursor", "--project", str(tmp_path / "none")).code == 2
    assert vault.run("setup", "claude-desktop", "--project", str(tmp_path)).code == 2
    assert vault.run("setup", "emacs").code == 2
    assert vault.run("setup", "cursor", "--name", "a b").code == 2


def test_what_is_written_runs(vault: hard.Vault, home: Path) -> None:
    vault.run("setup", "claude-code", "--write")
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["pyramid"]
    assert entry["env"] == {"PYRAMID_CACHE_DIR": str(vault.cache), "PYRAMID_CONFIG": str(vault.config)}
    assert entry["args"][-1] == "mcp"
    words = [entry["command"], *entry["args"][:-1], "map"]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYRAMID_")}
    done = subprocess.run(words, env=kept | entry["env"], capture_output=True, text=True, check=True)
    assert "plot" in done.stdout
    (command,) = hooks((home / ".claude/settings.json").read_text())
    assert command.endswith(" hook session-start")
    shell = command.removesuffix("hook session-start") + "map"
    done = subprocess.run(["/bin/sh", "-c", shell], env=kept, capture_output=True, text=True, check=True)
    assert "plot" in done.stdout
    text = (home / ".claude/CLAUDE.md").read_text()
    shell = text[text.index(f"`{sys.executable}") + 1 :].split("`")[0] + " map"
    done = subprocess.run(["/bin/sh", "-c", shell], env=vault.environ(), capture_output=True, text=True, check=True)
    assert "plot" in done.stdout


def test_all_that_a_person_has_stays(vault: hard.Vault, home: Path) -> None:
    old = {
        ".claude.json": CLAUDE_JSON,
        ".claude/settings.json": SETTINGS,
        ".claude/CLAUDE.md": "# How I work\r\n\r\nShort answers. 🌱",
        ".claude/skills/other/SKILL.md": "---\nname: other\n---\n",
        ".codex/config.toml": CONFIG,
        ".cursor/mcp.json": '{"mcpServers":{"garden":{"url":"https://x.example"}}}',
    }
    for path, text in old.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode())
    (home / ".claude.json").chmod(0o600)
    before = everything(home)
    for client in ("claude-code", "codex", "cursor"):
        done = vault.run("setup", client, "--write")
        assert done.code == 0
        assert "sunflower" not in done.out
    assert stat.S_IMODE((home / ".claude.json").stat().st_mode) == 0o600
    assert (home / ".claude/CLAUDE.md").read_bytes().startswith(old[".claude/CLAUDE.md"].encode())
    assert set(before) < set(everything(home))
    assert all(everything(home)[path] != before[path] for path in before if "other" not in path)
    for client in ("claude-code", "codex", "cursor"):
        assert vault.run("setup", client, "--remove", "--write").code == 0
    assert everything(home) == before


def test_one_file_that_is_refused_and_none_is_written(vault: hard.Vault, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"a": 1, // mine\n}')
    before = everything(home)
    for words in (["--write"], []):
        done = vault.run("setup", "claude-code", *words)
        assert done.code == 24
        assert str(home / ".claude/settings.json") in done.err
        assert "hook session-start" in done.err
        assert done.out == ""
    assert everything(home) == before
    (home / ".claude/settings.json").write_bytes(b'{"a": "\xe9"}')
    assert "UTF-8" in vault.run("setup", "claude-code").err


def test_a_link_into_a_folder_of_dotfiles_stays_one(vault: hard.Vault, home: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles/mcp.json").write_text('{"a": 1}\n')
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(tmp_path / "dotfiles/mcp.json")
    assert vault.run("setup", "cursor", "--write").code == 0
    assert (home / ".cursor/mcp.json").is_symlink()
    assert "pyramid_fs" in (tmp_path / "dotfiles/mcp.json").read_text()
    assert vault.run("setup", "cursor", "--remove", "--write").code == 0
    assert (tmp_path / "dotfiles/mcp.json").read_text() == '{"a": 1}\n'
    (home / ".cursor/mcp.json").unlink()
    (home / ".cursor/mcp.json").symlink_to(home / ".cursor/mcp.json")
    assert vault.run("setup", "cursor", "--write").code == 40


def test_two_vaults_side_by_side(vault: hard.Vault, home: Path) -> None:
    other = replace(vault, root=vault.root.parent / "vault 2")
    other.put("pyramid.toml", "format = 1\n")
    for client in ("claude-code", "codex"):
        vault.run("setup", client, "--write")
    before = everything(home)
    for client in ("claude-code", "codex"):
        for words in (["--write"], ["--remove", "--write"]):
            refused = other.run("setup", client, *words)
            assert refused.code == 22
            assert str(vault.root) in refused.err
            assert "--name" in refused.err
    assert everything(home) == before
    for client in ("claude-code", "codex"):
        assert other.run("setup", client, "--name", "notes", "--write").code == 0
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert [entry["args"][4] for entry in servers.values()] == [str(vault.root), str(other.root)]
    assert list(servers) == list(tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"])
    assert len(hooks((home / ".claude/settings.json").read_text())) == 2
    assert {path.name for path in (home / ".claude/skills").iterdir()} == {"pyramid-memory", "pyramid-memory-notes"}
    assert (home / ".claude/CLAUDE.md").read_text().count("## Memory: `") == 2
    for client in ("claude-code", "codex"):
        assert "already" in vault.run("setup", client, "--write").out
        assert other.run("setup", client, "--name", "notes", "--remove", "--write").code == 0
    assert everything(home) == before


def test_a_vault_that_moved_takes_its_own_place(vault: hard.Vault, home: Path) -> None:
    vault.run("setup", "claude-code", "--write")
    moved = replace(vault, root=vault.root.rename(vault.root.with_name("moved")))
    assert moved.run("setup", "claude-code", "--write").code == 0
    assert len(hooks((home / ".claude/settings.json").read_text())) == 1
    assert all(str(vault.root) not in text.decode() for text in everything(home).values())


def test_a_file_that_changes_meanwhile_stays(vault: hard.Vault, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.run("setup", "cursor", "--write")
    shown = clients.shown

    def edited(path: str, before: str | None, after: str | None) -> str:
        (home / ".cursor/mcp.json").write_text('{"a": 1}')
        return shown(path, before, after)

    monkeypatch.setattr("pyramid_fs.clients.shown", edited)
    assert vault.run("setup", "cursor", "--remove", "--write").code == 24
    assert everything(home) == {".cursor/mcp.json": b'{"a": 1}'}


def test_the_same_vault_by_another_path(vault: hard.Vault, home: Path) -> None:
    vault.run("setup", "claude-code", "--write")
    (vault.root.parent / "link").symlink_to(vault.root)
    linked = replace(vault, root=vault.root.parent / "link")
    assert linked.run("setup", "claude-code", "--write").code == 0
    assert len(hooks((home / ".claude/settings.json").read_text())) == 1


def test_folders_that_variables_name(vault: hard.Vault, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "~/claude")
    vault.run("setup", "claude-code", "--write")
    assert {path.split("/")[0] for path in everything(home)} == {"claude"}
    assert (home / "claude/.claude.json").is_file()


def test_a_shell_line_for_each_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell_line(["/a b", "c"]) == "'/a b' c"
    monkeypatch.setattr("sys.platform", "win32")
    assert shell_line([r"C:\My py\python.exe", "-m", r"C:\v"]) == '"C:/My py/python.exe" -m C:/v'


def test_a_name_of_windows_letters_is_found_again() -> None:
    def shell(words: Any) -> str:
        return subprocess.list2cmdline([word.replace("\\", "/") for word in words])

    root = r"C:\Users\Mira Lund\notes"
    setup = replace(SETUP, root=root, words=(r"C:\py.exe", "-P", "-m", "pyramid_fs", "--vault", root), shell=shell)
    new = clients.merged(HOOK, SETTINGS, setup)
    assert hooks(new)[1] == 'C:/py.exe -P -m pyramid_fs --vault "C:/Users/Mira Lund/notes" hook session-start'
    assert clients.cleared(HOOK, new, setup) == SETTINGS
    assert json.loads(clients.merged(PLAIN, None, setup))["mcpServers"]["pyramid"]["args"][4] == root

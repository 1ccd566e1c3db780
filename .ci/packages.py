"""Builds what strangers install: the wheel, a bundle for desktop clients, and the entry for the registry of servers.

What each says of the tools, the version and the requirements comes from the server and from pyproject.toml. Building
needs no network; checking needs uv, which installs the bundle's requirements as a client would.
"""
# ruff: noqa: INP001, T201  (a script, no package; it prints a line a check)

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from pyramid_fs import __version__
from pyramid_fs.desk import Desk
from pyramid_fs.mcp_server import answers
from pyramid_fs.mcp_server.growth import Growth
from pyramid_fs.mcp_server.server import Server
from pyramid_fs.mcp_server.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcp.types import Tool

ROOT = Path(__file__).parent.parent
NAME = "io.github.pyramid-fs/pyramid-fs"
"""The server's name in the registry; README.md says it too, which is how the registry knows that the package agrees."""
SOURCE = "https://github.com/pyramid-fs/pyramid-fs"
PYTHON = "3.13"
"""What the bundle runs on. The newest one on a stranger's machine may be one that compiled requirements lack yet."""
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
FOLDER = "The folder that holds the memory. If it is no vault yet it becomes one; what lies there is not changed."
VAULT = "The vault: the folder that holds the memory. `pyramid init DIR` makes one."
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""A zip's earliest date: the same content gives the same bytes, and the registry's entry names their digest."""

ENTRY = '''\
"""Serves the memory in the folder that was chosen in the client; makes a vault of it first where it is none."""

import sys
from pathlib import Path

from pyramid_fs import cli, layout, vault
from pyramid_fs.errors import PyramidError

folder = Path(sys.argv[1])
try:
    if not (folder / layout.SETTINGS).exists():
        vault.make_vault(folder, models=vault.STARTERS)
except (PyramidError, OSError) as error:
    sys.exit(f"pyramid: no vault can be made of {folder}: {error}")
cli.main(["--vault", str(folder), "mcp"])
'''


# Building: pure, from values to values


def project(root: Path = ROOT) -> dict[str, Any]:
    """Read what pyproject.toml says of the project."""
    found: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def server_tools() -> list[Tool]:
    """Ask the server for its tools; no vault is opened."""
    desk = Desk(ROOT, answers.FACE)
    server = Server(Toolbox(desk, Growth(desk)), with_rollups=False)
    return asyncio.run(server.list_tools())


def manifest(about: Mapping[str, Any], tools: list[Tool]) -> dict[str, Any]:
    """Make a bundle's manifest.

    The type is `uv`: the client brings uv, and uv brings Python and the requirements for whatever system it is. The
    other choice, `python`, would carry compiled requirements (pydantic-core, cryptography, sentencex) for one system
    and one Python, and run on whatever `python` a stranger has, if any. uv needs the network once, when the bundle is
    installed; so the type is declared in version 0.4 of the manifest.
    """
    return {
        "manifest_version": "0.4",
        "name": about["name"],
        "display_name": "Pyramid memory",
        "version": __version__,
        "description": about["description"],
        "author": {"name": "the pyramid_fs authors", "url": SOURCE},
        "repository": {"type": "git", "url": f"{SOURCE}.git"},
        "homepage": SOURCE,
        "support": f"{SOURCE}/issues",
        "license": about["license"],
        "keywords": about["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py", "${user_config.vault}"],
            },
        },
        "tools": [{"name": tool.name, "description": tool.description} for tool in tools],
        # where no model writes the summaries there are two tools more; the prompt's text depends on the vault
        "tools_generated": True,
        "prompts_generated": True,
        # clients read these as npm's ranges: parts are joined by spaces, and commas mean nothing
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": about["requires-python"].replace(",", " ")},
        },
        "user_config": {
            "vault": {"type": "directory", "title": "Vault", "description": FOLDER, "required": True},
        },
    }


def bundle_project(about: Mapping[str, Any], wheel: str) -> str:
    """Make the bundle's own pyproject.toml: what uv is to install, and that the wheel lies beside it."""
    return f"""\
[project]
name = "{about["name"]}-bundle"
version = "{__version__}"
requires-python = "{about["requires-python"]}"
dependencies = ["{about["name"]}[mcp]"]

[tool.uv]
package = false

[tool.uv.sources]
{about["name"]} = {{ path = "{wheel}" }}
"""


def bundle(about: Mapping[str, Any], tools: list[Tool], wheel: Path, licence: bytes) -> bytes:
    """Make the bundle: a zip with the manifest, the wheel, and what starts it."""
    contents = {
        "manifest.json": _bytes(manifest(about, tools)),
        "pyproject.toml": bundle_project(about, wheel.name).encode(),
        ".python-version": f"{PYTHON}\n".encode(),
        "server.py": ENTRY.encode(),
        wheel.name: wheel.read_bytes(),
        "LICENSE": licence,
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, FIRST_DAY)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            zipped.writestr(entry, data)
    return made.getvalue()


def registry_entry(about: Mapping[str, Any], bundled: bytes) -> dict[str, Any]:
    """Make the registry's server.json: the package on PyPI, and the bundle among a release's files."""
    folder = {"description": VAULT, "format": "filepath", "isRequired": True}
    stdio = {"type": "stdio"}
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": NAME,
        "title": "Pyramid memory",
        "description": about["description"],
        "version": __version__,
        "repository": {"url": SOURCE, "source": "github"},
        "websiteUrl": SOURCE,
        "packages": [
            {
                "registryType": "pypi",
                "registryBaseUrl": "https://pypi.org",
                "identifier": about["name"],
                "version": __version__,
                "runtimeHint": "uvx",
                # an extra has no place in an entry: what it holds is named
                "runtimeArguments": [
                    {"type": "named", "name": "--with", "value": needed}
                    for needed in about["optional-dependencies"]["mcp"]
                ],
                "packageArguments": [
                    {"type": "named", "name": "--vault", **folder},
                    {"type": "positional", "value": "mcp"},
                ],
                "transport": stdio,
            },
            {
                "registryType": "mcpb",
                "identifier": f"{SOURCE}/releases/download/v{__version__}/{about['name']}.mcpb",
                "fileSha256": hashlib.sha256(bundled).hexdigest(),
                "transport": stdio,
            },
        ],
    }


def filled(config: Mapping[str, Any], unpacked: Path, chosen: Mapping[str, str]) -> list[str]:
    """Give the command that a client makes of a manifest's configuration and what its user chose."""
    values = {"__dirname": str(unpacked), **{f"user_config.{name}": value for name, value in chosen.items()}}
    return [re.sub(r"\$\{([^}]+)\}", lambda found: values[found[1]], part) for part in _command(config)]


def _command(config: Mapping[str, Any]) -> list[str]:
    return [config["command"], *config["args"]]


def _bytes(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


# Checking


_RANGE = re.compile(r"[\^~<>=*]|(^|\.)x($|\.)|^latest$")


def entry_problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """Hold an entry against the registry's rules of 2025-12-11, as far as an entry like ours can break them.

    No package ships the schema itself, so its rules are said here once more.
    """
    if not re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"]):
        yield f"name {entry['name']!r} is not a reverse domain, a slash and a name"
    for key in ("description", "title"):
        if not 1 <= len(entry[key]) <= 100:  # noqa: PLR2004  (the schema's own number)
            yield f"{key} has {len(entry[key])} characters; 100 are allowed"
    if _RANGE.search(entry["version"]):
        yield f"version {entry['version']!r} is a range"
    if set(entry["repository"]) < {"url", "source"}:
        yield "repository lacks its url or its source"
    for package in entry["packages"]:
        yield from _package_problems(package)


def _package_problems(package: Mapping[str, Any]) -> Iterator[str]:
    lacking = {"registryType", "identifier", "transport"} - set(package)
    if lacking:
        yield f"a package lacks {', '.join(sorted(lacking))}"
        return
    kind, identifier = package["registryType"], package["identifier"]
    if package["transport"] != {"type": "stdio"}:
        yield f"{identifier}: the transport is not stdio"
    if kind == "pypi" and (_RANGE.search(package.get("version", "latest")) or "runtimeHint" not in package):
        yield f"{identifier}: one version, and what runs it, must be named"
    if kind == "mcpb" and not re.fullmatch(r"https://github\.com/\S+/releases/download/\S*mcp\S*", identifier):
        yield f"{identifier}: a bundle must be among a release's files on GitHub, with mcp in its address"
    if kind == "mcpb" and not re.fullmatch(r"[a-f0-9]{64}", package.get("fileSha256", "")):
        yield f"{identifier}: the digest is missing"
    for argument in (*package.get("runtimeArguments", ()), *package.get("packageArguments", ())):
        if "name" not in argument if argument["type"] == "named" else not {"value", "valueHint"} & set(argument):
            yield f"{identifier}: an argument says neither its name nor its value"


def bundle_problems(bundled: bytes) -> Iterator[str]:
    """Say what the manifest names and the bundle lacks."""
    with zipfile.ZipFile(io.BytesIO(bundled)) as zipped:
        there = set(zipped.namelist())
        made = json.loads(zipped.read("manifest.json"))
        sources = tomllib.loads(zipped.read("pyproject.toml").decode())["tool"]["uv"]["sources"]
    named = {made["server"]["entry_point"], *(source["path"] for source in sources.values())}
    named |= {part for part in made["server"]["mcp_config"]["args"] if re.fullmatch(r"[\w.-]+\.\w+", part)}
    yield from (f"{name} is not in the bundle" for name in sorted(named - there))
    chosen = set(re.findall(r"\$\{user_config\.(\w+)\}", " ".join(made["server"]["mcp_config"]["args"])))
    yield from (f"nobody is asked for {name}" for name in sorted(chosen ^ set(made["user_config"])))


async def served(command: list[str], environ: Mapping[str, str], cwd: Path) -> tuple[list[str], str]:
    """Start a server by a command; give the names of its tools, and what load_memory says."""
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(environ), cwd=cwd)
    async with Client(parameters, mode="legacy") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("load_memory", {})
    return names, "\n".join(part.text for part in answer.content if part.type == "text")


# What the command does


class Checks:
    """Counts what passed and what failed, a line each."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def note(self, what: str, problems: list[str]) -> None:
        """Count a check, and print it."""
        self.passed, self.failed = self.passed + (not problems), self.failed + bool(problems)
        print("ok     " if not problems else "FAILED ", what, *(f"\n        {each}" for each in problems), flush=True)


def build(out: Path, work: Path) -> tuple[Path, bytes, dict[str, Any]]:
    """Build all three into a folder, over what is there of the same name; give the bundle, its bytes and the entry."""
    fresh = work / "wheel"
    command: list[str | Path] = [sys.executable, "-m", "build", "--wheel", "--outdir", fresh, ROOT]
    subprocess.run(command, check=True, stdout=sys.stderr)  # noqa: S603
    about, wheel = project(), next(fresh.glob("*.whl"))
    bundled = bundle(about, server_tools(), wheel, (ROOT / "LICENSE").read_bytes())
    entry = registry_entry(about, bundled)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{about['name']}.mcpb"
    for each, data in ((out / wheel.name, wheel.read_bytes()), (path, bundled), (out / "server.json", _bytes(entry))):
        each.write_bytes(data)
        print(f"built   {each.name}, {len(data):,} bytes", flush=True)
    return path, bundled, entry


def check(path: Path, bundled: bytes, entry: dict[str, Any], work: Path) -> Checks:
    """Check all three: the bundle and the wheel by running them as a client would."""
    checks = Checks()
    unpacked = work / "unpacked"
    with zipfile.ZipFile(io.BytesIO(bundled)) as zipped:
        zipped.extractall(unpacked)
    checks.note("the bundle holds what its manifest names", list(bundle_problems(bundled)))
    checks.note("server.json keeps the registry's rules of 2025-12-11", list(entry_problems(entry)))
    marked = f"<!-- mcp-name: {NAME} -->" in (ROOT / "README.md").read_text("utf-8")
    checks.note("README.md says the registry's name", [] if marked else [f"it lacks <!-- mcp-name: {NAME} -->"])
    for words in (["validate", unpacked], ["unpack", path, work / "again"], ["pack", unpacked]):
        _by_mcpb(checks, [str(word) for word in words], work)
    made = json.loads((unpacked / "manifest.json").read_text("utf-8"))
    vault = work / "my memory é"
    vault.mkdir()
    start = filled(made["server"]["mcp_config"], unpacked, {"vault": str(vault)})
    expected = [tool["name"] for tool in made["tools"]]
    checks.note("the bundle runs, and makes a vault of an empty folder", _run(start, expected, work, {}))
    # what uv made when the bundle was installed is there: from then on nothing is fetched
    checks.note("the bundle runs again without the network", _run(start, expected, work, {"UV_OFFLINE": "1"}))
    uvx = registry_command(entry["packages"][0], str(vault))
    found = {"UV_FIND_LINKS": str(path.parent)}
    checks.note("the package runs as the registry's entry says", _run(uvx, expected, work, found))
    return checks


def registry_command(package: Mapping[str, Any], vault: str) -> list[str]:
    """Give the command that a client makes of a package in the registry."""
    before = [text for argument in package["runtimeArguments"] for text in _said(argument, vault)]
    after = [text for argument in package["packageArguments"] for text in _said(argument, vault)]
    return [package["runtimeHint"], *before, f"{package['identifier']}=={package['version']}", *after]


def _said(argument: Mapping[str, Any], chosen: str) -> list[str]:
    value = argument.get("value", chosen)
    return [argument["name"], value] if argument["type"] == "named" else [value]


def _by_mcpb(checks: Checks, words: list[str], work: Path) -> None:
    """Have the format's own tool look at the bundle, where it is installed."""
    tool = shutil.which("mcpb")
    if tool is None:
        print("left out: mcpb", words[0], "(npm install @anthropic-ai/mcpb brings it)", flush=True)
        return
    done = subprocess.run([tool, *words], cwd=work, capture_output=True, text=True, check=False)  # noqa: S603
    checks.note(f"mcpb {words[0]}", [] if done.returncode == 0 else [done.stdout + done.stderr])


def _run(command: list[str], expected: list[str], work: Path, more: Mapping[str, str]) -> list[str]:
    environ = {**os.environ, "PYRAMID_CACHE_DIR": str(work / "cache"), "PYRAMID_CONFIG": str(work / "config.toml")}
    # no other Python is fetched for the check than the one at hand
    environ |= {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never", **more}
    environ.pop("VIRTUAL_ENV", None)
    failed: list[str] = []
    names, said = expected, ""
    try:
        names, said = asyncio.run(asyncio.wait_for(served(command, environ, work), 300))
    except* (OSError, TimeoutError, MCPError) as errors:
        failed = [f"{' '.join(command)}: {error!r}" for error in errors.exceptions]
    if failed:
        return failed
    problems = [] if names == expected else [f"the tools are {names}, the manifest says {expected}"]
    return problems + ([] if "Nothing is loaded" in said else [f"load_memory says {said[:200]!r}"])


def main(arguments: list[str]) -> int:
    """Build into a folder, `dist` where none is named; check what was built; give the exit code."""
    out = Path(arguments[0]) if arguments else ROOT / "dist"
    with tempfile.TemporaryDirectory() as work:
        path, bundled, entry = build(out, Path(work))
        checks = check(path, bundled, entry, Path(work))
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

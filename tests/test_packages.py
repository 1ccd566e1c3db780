from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import pyramid_fs
from pyramid_fs import layout

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / ".ci" / "packages.py"
if not SCRIPT.exists():
    pytest.skip("packages are built from the repository", allow_module_level=True)


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("packages", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


packages = loaded()
ABOUT = packages.project()
TOOLS = packages.server_tools()


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "pyramid_fs-0.1.0-py3-none-any.whl"
    path.write_bytes(b"a wheel")
    return path


@pytest.fixture
def bundled(wheel: Path) -> bytes:
    made: bytes = packages.bundle(ABOUT, TOOLS, wheel, b"a licence")
    return made


def opened(bundled: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(bundled))


def changed(bundled: bytes, **files: bytes | None) -> bytes:
    made = io.BytesIO()
    with opened(bundled) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            data = files.get(re.split(r"[.-]", name)[0], old.read(name))
            if data is not None:
                new.writestr(name, data)
    return made.getvalue()


def test_a_manifest_says_of_the_tools_what_the_server_says() -> None:
    made = packages.manifest(ABOUT, TOOLS)
    assert [tool["name"] for tool in made["tools"]] == [tool.name for tool in TOOLS]
    assert {tool["name"] for tool in made["tools"]} > {"load_memory", "load_model", "record", "recall", "expand"}
    assert all(tool["description"] for tool in made["tools"])
    assert made["version"] == pyramid_fs.__version__


def test_a_manifest_asks_for_the_folder_and_hands_it_on() -> None:
    made = packages.manifest(ABOUT, TOOLS)
    asked = made["user_config"]["vault"]
    assert (asked["type"], asked["required"]) == ("directory", True)
    command = packages.filled(made["server"]["mcp_config"], Path("/b"), {"vault": "/my memory"})
    assert command == ["uv", "run", "--directory", "/b", "server.py", "/my memory"]


def test_a_range_of_pythons_is_one_that_a_client_reads() -> None:
    made = packages.manifest({**ABOUT, "requires-python": ">=3.11,<4"}, TOOLS)
    assert made["compatibility"]["runtimes"] == {"python": ">=3.11 <4"}


def test_a_bundle_holds_all_that_it_names(bundled: bytes, wheel: Path) -> None:
    assert list(packages.bundle_problems(bundled)) == []
    with opened(bundled) as zipped:
        assert zipped.testzip() is None
        assert zipped.read(wheel.name) == b"a wheel"
        made = tomllib.loads(zipped.read("pyproject.toml").decode())
    assert made["project"]["dependencies"] == ["pyramid-fs[mcp]"]
    assert made["project"]["requires-python"] == ABOUT["requires-python"]


def test_a_bundle_that_lacks_something_is_found(bundled: bytes) -> None:
    lacking = changed(bundled, server=None, pyramid_fs=None)
    assert list(packages.bundle_problems(lacking)) == [
        "pyramid_fs-0.1.0-py3-none-any.whl is not in the bundle",
        "server.py is not in the bundle",
    ]


def test_a_bundle_that_uses_what_nobody_is_asked_for_is_found(bundled: bytes) -> None:
    with opened(bundled) as zipped:
        made = json.loads(zipped.read("manifest.json"))
    made["user_config"] = {"folder": made["user_config"]["vault"]}
    broken = changed(bundled, manifest=json.dumps(made).encode())
    assert list(packages.bundle_problems(broken)) == ["nobody is asked for folder", "nobody is asked for vault"]


def test_the_same_content_gives_the_same_bytes(bundled: bytes, wheel: Path) -> None:
    assert packages.bundle(ABOUT, TOOLS, wheel, b"a licence") == bundled


@pytest.mark.slow
def test_what_starts_the_bundle_makes_a_vault_of_an_empty_folder(bundled: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "my memory"
    folder.mkdir()
    said = started(bundled, tmp_path, folder)
    assert said["result"]["serverInfo"]["version"] == pyramid_fs.__version__
    assert (folder / layout.SETTINGS).is_file()


@pytest.mark.slow
def test_what_starts_the_bundle_leaves_a_vault_as_it_is(bundled: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / layout.SETTINGS).write_text("# mine\n")
    started(bundled, tmp_path, folder)
    assert (folder / layout.SETTINGS).read_text() == "# mine\n"
    assert not (folder / "pyramid.base").exists()


def started(bundled: bytes, tmp_path: Path, folder: Path) -> Any:
    with opened(bundled) as zipped:
        entry = Path(zipped.extract("server.py", tmp_path / "bundle"))
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    done = subprocess.run(
        [sys.executable, "-P", str(entry), str(folder)],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYRAMID_CACHE_DIR": str(tmp_path / "cache"), "PYRAMID_CONFIG": str(tmp_path / "none.toml")},
    )
    return json.loads(done.stdout)


def test_a_registry_entry_keeps_the_rules(bundled: bytes) -> None:
    made = packages.registry_entry(ABOUT, bundled)
    assert list(packages.entry_problems(made)) == []
    assert {package["registryType"] for package in made["packages"]} == {"pypi", "mcpb"}


def test_a_registry_entry_runs_the_package_with_what_the_server_needs(bundled: bytes) -> None:
    package = packages.registry_entry(ABOUT, bundled)["packages"][0]
    command = packages.registry_command(package, "/my memory")
    assert command[0] == "uvx"
    assert command[1:3] == ["--with", ABOUT["optional-dependencies"]["mcp"][0]]
    assert command[-4:] == [f"pyramid-fs=={pyramid_fs.__version__}", "--vault", "/my memory", "mcp"]


@pytest.mark.parametrize(
    ("where", "key", "value", "said"),
    [
        ((), "name", "pyramid", "reverse domain"),
        ((), "description", "x" * 101, "101 characters"),
        ((), "title", "", "0 characters"),
        ((), "version", "^0.1", "range"),
        ((), "repository", {"url": "https://example.org"}, "repository lacks"),
        (("packages", 0), "version", "latest", "one version"),
        (("packages", 0), "transport", {"type": "sse"}, "not stdio"),
        (("packages", 0), "packageArguments", [{"type": "positional"}], "neither its name nor its value"),
        (("packages", 0), "packageArguments", [{"type": "named", "value": "x"}], "neither its name nor its value"),
        (("packages", 1), "identifier", "https://example.org/pyramid-fs.mcpb", "among a release's files"),
        (("packages", 1), "fileSha256", "abc", "digest"),
    ],
)
def test_a_registry_entry_that_breaks_a_rule_is_found(
    bundled: bytes, where: tuple[str | int, ...], key: str, value: object, said: str
) -> None:
    made = packages.registry_entry(ABOUT, bundled)
    inner = made
    for step in where:
        inner = inner[step]
    inner[key] = value
    problems = list(packages.entry_problems(made))
    assert len(problems) == 1
    assert said in problems[0]


def test_a_package_that_lacks_its_transport_is_found(bundled: bytes) -> None:
    made = packages.registry_entry(ABOUT, bundled)
    del made["packages"][1]["transport"]
    assert list(packages.entry_problems(made)) == ["a package lacks transport"]


def test_a_token_is_added_to_a_request_and_the_rest_kept() -> None:
    spec = importlib.util.spec_from_file_location("bearer", SCRIPT.with_name("bearer.py"))
    assert spec
    assert spec.loader
    bearer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bearer)
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost:1\r\nConnection: keep-alive\r\nAccept: a, b\r\n\r\n"
    lines = bearer.with_token(head, "t").split(b"\r\n")
    assert lines[:3] == [b"POST /mcp HTTP/1.1", b"Host: localhost:1", b"Accept: a, b"]
    assert lines[3:] == [b"Authorization: Bearer t", b"Connection: close", b"", b""]


def test_every_expected_failure_has_its_reason() -> None:
    lines = SCRIPT.with_name("expected-failures.yml").read_text().splitlines()
    assert [line for line in lines if re.match(r"  - ", line)]
    for line, before in zip(lines[1:], lines, strict=False):
        if line.startswith("  - "):
            assert before.startswith(("  # ", "  - "))

"""The MCP server as clients start it: real processes over stdio and HTTP, what they print, and how they end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agents
import anyio
import hard
import httpx2
import mcp
import pytest
from agents import ERAS, SMALL, until
from mcp.client.streamable_http import streamable_http_client
from test_mcp import session

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDS = 2.0
"""Seconds within which the server ends with its client."""
INITIALIZE = {
    "protocolVersion": "2025-03-26",
    "capabilities": {},
    "clientInfo": {"name": "rake", "version": "0"},
}
TEXTS = [
    "Ascii only.",
    "Œuvres à côté",
    "Паром отходит",
    "渡轮九点出发",
    "नाव नौ बजे",
    "تغادر العبّارة",
    "🛶 and\u2028lines\u0085on",
]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    """A vault with one model, `plot`."""
    return hard.make(tmp_path, monkeypatch)


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def tool(number: int, name: str, /, **given: Any) -> dict[str, Any]:
    return request(number, "tools/call", name=name, arguments=given)


def lines(*requests: dict[str, Any]) -> bytes:
    """Spell a session: the handshake, then the requests."""
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    return b"".join(
        json.dumps(each).encode() + b"\n" for each in (request(0, "initialize", **INITIALIZE), ready, *requests)
    )


@dataclass
class Server:
    """A `pyramid mcp` with its pipes in our hands."""

    process: subprocess.Popen[bytes]

    def send(self, *requests: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(
            lines(*requests) if requests[0]["id"] == 1 else json.dumps(requests[0]).encode() + b"\n"
        )
        self.process.stdin.flush()

    def answer(self, number: int) -> Any:
        """Read answers up to the one with a number."""
        assert self.process.stdout
        for line in self.process.stdout:
            found = json.loads(line)
            if found.get("id") == number:
                return found
        raise AssertionError(number)

    def ends(self) -> float:
        begun = time.monotonic()
        assert self.process.wait(agents.BOUND) == 0
        return time.monotonic() - begun


@contextlib.contextmanager
def started(vault: hard.Vault, **env: str) -> Iterator[Server]:
    err = (vault.root.parent / "mcp.err").open("ab")
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        vault.words("mcp"), env=vault.environ(**env), stdin=pipe, stdout=pipe, stderr=err, start_new_session=True
    )
    try:
        yield Server(process)
    finally:
        err.close()
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream
            with contextlib.suppress(OSError):
                stream.close()


def answered(out: bytes) -> dict[int, Any]:
    """Hold every byte of an output against the protocol; give the answers by their numbers."""
    assert out.endswith(b"\n") or not out
    found = [json.loads(line) for line in out.decode("utf-8").split("\n")[:-1]]
    assert all(each["jsonrpc"] == "2.0" for each in found)
    assert len({each["id"] for each in found if "id" in each}) == len([each for each in found if "id" in each])
    return {each["id"]: each for each in found if "id" in each}


def piped(vault: hard.Vault, *requests: dict[str, Any], **env: str) -> tuple[dict[int, Any], str]:
    """Run `pyramid mcp < requests`; give the answers and what was said on the side."""
    done = subprocess.run(
        vault.words("mcp"),
        input=lines(*requests),
        capture_output=True,
        env=vault.environ(**env),
        timeout=agents.BOUND,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return answered(done.stdout), done.stderr.decode()


def text_of(found: Any) -> str:
    return str(found["result"]["content"][0]["text"])


# Nothing but the protocol on standard output


def damage(vault: hard.Vault) -> None:
    """Give the server every reason to say something."""
    vault.note("good", "The lamplighter of the old harbour.")
    vault.put("models/plot/bom.md", b"\xef\xbb\xbf" + hard.page("With a mark.").encode())
    vault.put("models/plot/block.md", "---\na: b: c\n---\nx\n")
    vault.put("models/plot/bytes.md", bytes(range(255, -1, -1)))
    vault.put("models/plot/nul.md", "a\0b")
    vault.put("models/plot/good.sync-conflict-20260101-000000-ABCDEFG.md", hard.page("Twice."))
    vault.put("models/plot/tier-0/plot-t0-0001-aaaa.md", "no summary\n")
    for number, text in enumerate(TEXTS):
        vault.note(f"text{number}", text)


NOISE = """
import atexit, os, sys
print("a library says hello")
os.write(1, b"straight to one\\n")
sys.stderr.write("a library warns\\n")
atexit.register(print, "a library says goodbye")
"""


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({}, marks=pytest.mark.slow),
        {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONWARNINGS": "always"},
    ],
)
def test_every_byte_on_standard_output_is_the_protocol_s(vault: hard.Vault, env: dict[str, str]) -> None:
    damage(vault)
    vault.summarizer("echo to out; echo to err >&2; cat >/dev/null; exit 3")
    asked = [
        tool(1, "recall", query="lamplighter"),
        tool(2, "load_model", names=["plot"]),
        *(tool(10 + number, "record", text=text, models=["plot"]) for number, text in enumerate(TEXTS)),
        tool(3, "recall", query="nothingofthekind"),
        tool(4, "no_such_tool"),
        request(5, "no/such/method"),
        tool(6, "load_memory"),
    ]
    assert vault.run("recall", "lamplighter").code == 0
    for path in vault.cache.rglob("*"):
        if path.is_file():
            path.write_bytes(bytes(path.stat().st_size))
    vault.put("pyramid.toml", SMALL + 'tiemzone = "x"\n[odd]\nkey = 1\n')
    found, _ = piped(vault, *asked, **env)
    assert set(found) == {0, *(each["id"] for each in asked)}
    assert "good" in text_of(found[1])
    for number, text in enumerate(TEXTS):
        assert found[10 + number]["result"].get("isError") in {None, False}, text
    assert text_of(found[3]).startswith("Nothing found")
    assert found[4].get("error") or found[4]["result"]["isError"]
    assert found[5]["error"]
    assert text_of(found[6])
    for text in TEXTS:
        assert any(text in page.read_text() for page in vault.root.rglob("20*/*.md")), text


@pytest.mark.slow
def test_a_library_that_prints_at_its_import_and_at_the_end_prints_on_standard_error(vault: hard.Vault) -> None:
    """A package of that name shadows one that the server imports."""
    noisy = vault.root.parent / "noisy"
    (noisy / "sse_starlette").mkdir(parents=True)
    lure = "import sys, importlib.util as u\nfrom importlib.machinery import PathFinder\n"
    find = "paths = [p for p in sys.path if not p.endswith('noisy')]\nspec = PathFinder.find_spec(__name__, paths)\n"
    load = "module = u.module_from_spec(spec)\nsys.modules[__name__] = module\nspec.loader.exec_module(module)\n"
    (noisy / "anyio.py").write_text(NOISE + lure + find + load)
    found, err = piped(vault, tool(1, "load_memory"), PYTHONPATH=str(noisy))
    assert set(found) == {0, 1}
    assert "a library says hello" in err
    assert "straight to one" in err


@pytest.mark.slow
def test_what_is_no_protocol_on_standard_input_does_not_end_the_server(vault: hard.Vault) -> None:
    bad = b'\nnot json\n{"jsonrpc": "2.0"}\n[]\n\xff\xfe\n{"id": {}}\n' + b"[" * 5000 + b"\n"
    given = lines(tool(1, "load_memory")) + bad + json.dumps(tool(2, "load_memory")).encode() + b"\n"
    done = subprocess.run(
        vault.words("mcp"), input=given, capture_output=True, env=vault.environ(), timeout=agents.BOUND, check=False
    )
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert {1, 2} <= {each.get("id") for each in found if isinstance(each.get("id"), int)}


CUT = ["cut emoji \ud83d", "\ude00 was cut", "a \ud83d\ud83d b", "kept \\ud83d", "whole \U0001f6f6 \\"]
LEFT = ["cut emoji \ufffd", "\ufffd was cut", "a \ufffd\ufffd b", "kept \\ud83d", "whole \U0001f6f6 \\"]
"""Texts with halves of surrogate pairs, and what stays of them."""


def test_a_line_that_can_not_be_taken_in_is_answered_at_once_and_holds_up_no_end(vault: hard.Vault) -> None:
    long, deep = "9" * 5_000, "[" * 3_000 + "]" * 3_000
    bad: dict[Any, str] = {
        90: json.dumps(tool(90, "recall", query="hoed", limit=0)).replace("0}", f"{long}}}"),
        91: f'{{"jsonrpc":"2.0","params":{{"id":1,"arguments":{deep}}},"method":"tools/call","id":91}}',
        "9\\2": '{"jsonrpc":"2.0","id":"9\\\\2","method":"tools/call","params":[1]}',
        93: '{"id":93,"method":"ping"}',
        None: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    }
    with started(vault) as server:
        server.send(tool(1, "load_memory"))
        server.answer(1)
        for number, text in enumerate(CUT, 2):
            server.send(tool(number, "record", text=text, models=["plot"]))
            assert not server.answer(number)["result"].get("isError")
        assert server.process.stdin
        for number, line in bad.items():
            server.process.stdin.write(line.encode() + b"\n")
            server.process.stdin.flush()
            found = server.answer(number)["error"]
            assert found["code"] in {-32700, -32600}
            assert found["message"].startswith("nothing was done with this line: ")
            assert len(found["message"]) < 300
        server.process.stdin.close()
        assert server.ends() < ENDS
    assert (vault.root.parent / "mcp.err").read_text() == ""
    assert sorted(path.read_text().split("---\n")[2].strip() for path in vault.root.rglob("20*/*.md")) == sorted(LEFT)


def test_a_call_that_was_cancelled_holds_up_no_end(vault: hard.Vault) -> None:
    with started(vault) as server:
        server.send(tool(1, "load_memory"))
        server.answer(1)
        call = json.dumps(tool(2, "recall", query="hoed"))
        drop = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "2"}})
        assert server.process.stdin
        server.process.stdin.write(f"{call}\n{drop}\n".encode())
        server.process.stdin.close()
        assert server.ends() < ENDS


@pytest.mark.slow
def test_a_request_that_listens_for_as_long_as_it_is_open_holds_up_no_end(vault: hard.Vault) -> None:
    client = {"protocolVersion": "2026-07-28", "clientInfo": {"name": "rake", "version": "0"}, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in client.items()}
    with started(vault) as server:
        assert server.process.stdin
        for each in (
            request(2, "subscriptions/listen", notifications={"toolsListChanged": True}, _meta=meta),
            request(3, "tools/call", name="load_memory", arguments={}, _meta=meta),
        ):
            server.process.stdin.write(json.dumps(each).encode() + b"\n")
            server.process.stdin.flush()
        assert text_of(server.answer(3))
        server.process.stdin.close()
        assert server.ends() < ENDS


def test_requests_from_a_file_are_all_answered_before_the_end(vault: hard.Vault) -> None:
    vault.fill(9)
    asked = [tool(number, "recall", query=f"hoed {number}") for number in range(1, 25)]
    found, err = piped(vault, *asked)
    assert set(found) == set(range(25))
    assert all("hoed" in text_of(found[number]) for number in range(1, 25))
    assert err == ""


# A whole session


@pytest.mark.parametrize("mode", ERAS)
def test_a_whole_session_over_stdio(vault: hard.Vault, mode: str) -> None:
    (vault.root / "models/plot/plot.md").unlink()
    (vault.root / "models/plot").rmdir()
    vault.put("pyramid.toml", SMALL)

    async def main() -> None:
        async with agents.connected(agents.stdio(vault), mode) as agent:
            await session(agent)

    anyio.run(main)
    vault.is_sound()


# The handshake comes first


@pytest.mark.slow
def test_the_handshake_is_answered_before_anything_is_indexed(vault: hard.Vault) -> None:
    def handshake(cache: str) -> float:
        with started(vault, PYRAMID_CACHE_DIR=str(vault.root.parent / cache)) as server:
            begun = time.monotonic()
            server.send(tool(1, "load_memory"))
            server.answer(0)
            return time.monotonic() - begun

    empty = min(handshake(f"empty{number}") for number in range(2))
    for number in range(2_000):
        vault.note(f"n{number}", f"Line {number}: rain, {number} mm.", model=f"bed{number % 5}")
    full = min(handshake(f"full{number}") for number in range(2))
    assert full < 1.6 * empty + 0.3


# Ends


def children_of(session_id: int) -> list[int]:
    """List the living processes whose session began in a process, or whose ancestor it is."""
    found = []
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            if words[0] != "Z":
                parents[int(path.parent.name)] = int(words[1])
    for pid in parents:
        above = pid
        while above in parents and above != session_id:
            above = parents[above]
        if above == session_id and pid != session_id:
            found.append(pid)
    return found


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_it_ends_when_its_input_is_closed(vault: hard.Vault) -> None:
    with started(vault) as server:
        server.send(tool(1, "load_memory"))
        server.answer(1)
        assert server.process.stdin
        server.process.stdin.close()
        assert server.ends() < ENDS


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_it_ends_by_a_signal(vault: hard.Vault, number: int) -> None:
    with started(vault) as server:
        server.send(tool(1, "load_memory"))
        server.answer(1)
        server.process.send_signal(number)
        assert server.ends() < ENDS


@pytest.mark.parametrize("by", ["input", "output", pytest.param("signal", marks=pytest.mark.slow)])
def test_in_the_middle_of_a_batch_it_ends_with_its_summarizer_and_leaves_no_process(vault: hard.Vault, by: str) -> None:
    vault.put("pyramid.toml", SMALL)
    mark = vault.root.parent / "writing"
    vault.summarizer(f"cat >/dev/null; echo $$ > {mark}; sleep 3; echo late")
    vault.fill(2)
    with started(vault) as server:
        server.send(tool(1, "load_model", names=["plot"]))
        server.answer(1)
        until(lambda: mark.exists() and mark.read_text().strip(), "the summarizer writes")
        family = [*children_of(server.process.pid), int(mark.read_text())]
        assert len(family) >= 2
        if by == "input":
            assert server.process.stdin
            server.process.stdin.close()
        elif by == "output":
            assert server.process.stdout
            server.process.stdout.close()
            server.send(tool(2, "load_memory"))
        else:
            server.process.terminate()
        assert server.ends() < ENDS
        until(lambda: not any(is_alive(pid) for pid in family), "no child lives", ENDS)
    assert (vault.root.parent / "mcp.err").read_text() == ""
    assert vault.summaries(0) == []
    vault.is_sound()


@pytest.mark.slow
def test_it_ends_when_its_parent_is_killed_while_the_pipe_stays_open(vault: hard.Vault) -> None:
    reading, writing = os.pipe()
    pid_file = vault.root.parent / "pid"
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[2:], stdin=0, stdout=subprocess.DEVNULL)\n"
        "open(sys.argv[1], 'w').write(str(child.pid))\n"
        "time.sleep(300)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(pid_file), *vault.words("mcp")], stdin=reading, env=vault.environ()
    )
    os.close(reading)
    try:
        os.write(writing, lines(tool(1, "record", text="The gate is shut.", models=["plot"])))
        until(lambda: list(vault.root.rglob("20*/*.md")), "it serves")
        child = int(pid_file.read_text())
        parent.kill()
        parent.wait()
        until(lambda: not is_alive(child), "it ends", ENDS)
    finally:
        os.close(writing)
        parent.kill()
        parent.wait()


# HTTP


@dataclass
class Http:
    """A `pyramid mcp --http`."""

    port: int
    token: str
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def post(self, **headers: str) -> int:
        """Send a handshake with some headers; give the status of the answer."""
        given = {"accept": "application/json, text/event-stream", "content-type": "application/json", **headers}
        given = {name.replace("_", "-"): value for name, value in given.items() if value}
        body = request(0, "initialize", **INITIALIZE)
        return httpx2.post(self.url, json=body, headers=given, timeout=agents.BOUND).status_code


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def http(vault: hard.Vault, *words: str, **env: str) -> Iterator[Http]:
    port, err = free_port(), vault.root.parent / "http.err"
    with err.open("wb") as side:
        process = subprocess.Popen(
            vault.words("mcp", "--http", "--port", str(port), *words),
            env=vault.environ(**env),
            stdin=subprocess.DEVNULL,
            stdout=side,
            stderr=side,
        )
    try:
        until(lambda: b"serving" in err.read_bytes() or process.poll() is not None, "it serves")
        token = env.get("PYRAMID_MCP_TOKEN") or vault.config.with_name("mcp-token").read_text().strip()
        yield Http(port, token, process)
    finally:
        process.terminate()
        assert process.wait(agents.BOUND) == 0
        assert "Traceback" not in err.read_text()


@pytest.mark.parametrize("mode", [ERAS[0], *(pytest.param(era, marks=pytest.mark.slow) for era in ERAS[1:])])
def test_a_whole_session_over_http(vault: hard.Vault, mode: str) -> None:
    (vault.root / "models/plot/plot.md").unlink()
    (vault.root / "models/plot").rmdir()
    vault.put("pyramid.toml", SMALL)

    async def main(server: Http) -> None:
        headers = {"Authorization": f"Bearer {server.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=agents.BOUND) as client:
            transport = streamable_http_client(server.url, http_client=client)
            async with agents.connected(transport, mode) as agent:
                await session(agent)

    with http(vault) as server:
        anyio.run(main, server)
    vault.is_sound()


@pytest.mark.slow
def test_only_who_brings_the_token_by_a_known_name_is_let_in(vault: hard.Vault) -> None:
    with http(vault, "--name", "memory.example") as server:
        good = f"Bearer {server.token}"
        assert server.post() == 401
        for wrong in ("Bearer nonsense", server.token, f"bearer {server.token}x", f"Basic {server.token}", "Bearer x"):
            assert server.post(authorization=wrong) == 401, wrong
        assert server.post(authorization=good) == 200
        assert server.post(authorization=good, host=f"localhost:{server.port}") == 200
        assert server.post(authorization=good, host="memory.example") == 200
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1:1", "localhost.evil.example"):
            assert server.post(authorization=good, host=host) == 421, host
        for origin in ("https://evil.example", "null", f"http://localhost.evil.example:{server.port}"):
            assert server.post(authorization=good, origin=origin) == 403, origin
        assert server.post(authorization=good, origin=f"http://localhost:{server.port}") == 200
        assert server.post(host="evil.example", origin="https://evil.example") == 401
        assert httpx2.get(f"http://127.0.0.1:{server.port}/").status_code == 401
        begun = time.monotonic()
        server.process.terminate()
        assert server.process.wait(agents.BOUND) == 0
        assert time.monotonic() - begun < 2 * ENDS


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_posts_that_are_cut_off_cost_no_line_and_no_time(vault: hard.Vault, version: str) -> None:
    with http(vault) as server:
        head = {
            "Host": f"127.0.0.1:{server.port}",
            "Authorization": f"Bearer {server.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": version,
            "Content-Length": "1000",
        }
        spelled = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        for _ in range(100):
            with socket.create_connection(("127.0.0.1", server.port)) as cut:
                cut.sendall(f"POST /mcp HTTP/1.1\r\n{spelled}\r\n{{".encode())
        begun = time.monotonic()
        assert server.post(authorization=f"Bearer {server.token}") == 200
        assert time.monotonic() - begun < ENDS
    assert (vault.root.parent / "http.err").read_text().count("\n") == 1


@pytest.mark.slow
def test_over_http_too_a_signal_ends_the_summarizer_with_the_server(vault: hard.Vault) -> None:
    vault.put("pyramid.toml", SMALL)
    mark = vault.root.parent / "writing"
    vault.summarizer(f"cat >/dev/null; echo $$ > {mark}; sleep 3; echo late")
    vault.fill(2)

    async def load(server: Http) -> None:
        headers = {"Authorization": f"Bearer {server.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=agents.BOUND) as client,
            mcp.Client(streamable_http_client(server.url, http_client=client)) as agent,
        ):
            await agent.call_tool("load_model", {"names": ["plot"]})

    with http(vault) as server:
        anyio.run(load, server)
        until(lambda: mark.exists() and mark.read_text().strip(), "the summarizer writes")
        family = [*children_of(server.process.pid), int(mark.read_text())]
    until(lambda: not any(is_alive(pid) for pid in family), "no child lives", ENDS)
    assert vault.summaries(0) == []


@pytest.mark.slow
def test_the_token_is_the_owner_s_alone_and_stays_over_a_restart(vault: hard.Vault) -> None:
    path = vault.config.with_name("mcp-token")
    with http(vault) as server:
        first = server.token
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(first) >= 32
        said = (vault.root.parent / "http.err").read_text()
        assert first not in said
        assert str(path) in said
        assert said.count("\n") == 1
        taken = vault.process("mcp", "--http", "--port", str(server.port))
        assert (taken.code, taken.out) == (2, "")
        assert "can't be served" in taken.err
        assert "--port" in taken.err
    with http(vault) as server:
        assert server.token == first
    with http(vault, PYRAMID_MCP_TOKEN="rake-and-hoe") as server:
        assert server.post(authorization="Bearer rake-and-hoe") == 200
        assert server.post(authorization=f"Bearer {first}") == 401
    assert path.read_text().strip() == first


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "memory.example"])
def test_an_address_that_others_reach_is_refused(vault: hard.Vault, host: str) -> None:
    refused = vault.run("mcp", "--http", "--host", host)
    assert refused.code == 2
    assert "--allow-remote" in refused.err


def test_an_empty_token_file_lets_nobody_in(vault: hard.Vault) -> None:
    vault.config.with_name("mcp-token").write_text("\n")
    refused = vault.process("mcp", "--http", "--port", str(free_port()))
    assert refused.code == 2
    assert "is empty" in refused.err


# Several at once


def test_two_servers_and_a_watcher_keep_every_note(vault: hard.Vault) -> None:
    together(vault, 60)


@pytest.mark.slow
def test_two_servers_and_a_watcher_keep_every_note_of_thousands(vault: hard.Vault) -> None:
    together(vault, 1000)


def together(vault: hard.Vault, count: int) -> None:
    vault.put("pyramid.toml", "format = 1\n[settle]\nseconds = 0\n")
    watcher = vault.start("watch")
    failures: list[str] = []

    def client(name: str) -> None:
        async def main() -> None:
            async with mcp.Client(agents.stdio(vault)) as agent:
                for number in range(count):
                    text = f"{name} saw heron {number} at weir {number * 3}."
                    found = await agent.call_tool("record", {"text": text, "models": ["plot"]})
                    if found.is_error:
                        failures.append(str(found.content))

        anyio.run(main)

    threads = [threading.Thread(target=client, args=(name,)) for name in ("Ada", "Bo")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watcher.send_signal(signal.SIGTERM)
    watcher.communicate(timeout=agents.BOUND)
    assert failures == []
    assert vault.run("advance").code == 0
    assert vault.counts()[:2] == (2 * count, 2 * count % 10)
    vault.is_sound()

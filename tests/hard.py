"""What the hard-case tests share: vaults built by hand, and `pyramid` run in this process or in one of its own."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyramid_fs import cli

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pytest

NOW = "2026-03-14T09:00:00Z"
BOUND = 300.0
"""Seconds that any one process may take on a busy machine; 20 MB of one-letter lines take `advance` minutes."""
CAPABILITIES = 0x20080522
"""The version of Linux's call."""
ANY_FILE = 0b110
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: what lets root read and write any file."""


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def hits(self) -> list[str]:
        return [hit["path"] for hit in self.json["hits"]]


@dataclass(frozen=True)
class Vault:
    """A vault in a scratch folder, with a cache and a configuration of its own."""

    root: Path
    cache: Path
    config: Path

    # Building

    def put(self, path: str, data: str | bytes) -> Path:
        found = self.root / path
        found.parent.mkdir(parents=True, exist_ok=True)
        found.write_bytes(data if isinstance(data, bytes) else data.encode())
        return found

    def note(self, name: str, body: str, *keys: str, created: str = NOW, model: str = "plot") -> Path:
        return self.put(f"models/{model}/{name}.md", page(body, *keys, created=created))

    def fill(self, count: int, model: str = "plot", chars: int = 0) -> None:
        """Add good notes that are older than the others; ten notes make a batch."""
        for number in range(1, count + 1):
            text = f"Row {number} was hoed by hand{number}, and the water butt stood at {number * 7} litres by evening."
            more = " The east wind dried the beds again." * (chars // 36)
            self.note(f"row{number}", text + more, created=f"2026-02-{number:02}T09:00:00Z", model=model)

    def summarizer(self, script: str, *, timeout: float = 20.0, command: Sequence[str] | None = None) -> None:
        """Configure a program as summarizer: a shell script, or the command that is given."""
        path = self.config.with_name("summarizer.sh")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        words = json.dumps(list(command) if command is not None else ["/bin/sh", str(path)])
        self.config.write_text(f'[summarizer]\nkind = "command"\ncommand = {words}\ntimeout = {timeout}\n')

    # Running

    def environ(self, **more: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYRAMID_")}
        return {**kept, "PYRAMID_CACHE_DIR": str(self.cache), "PYRAMID_CONFIG": str(self.config), **more}

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "pyramid_fs", "--vault", str(self.root), *words]

    def run(self, *words: str) -> Ran:
        """Run a command in this process."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run(["--vault", str(self.root), *words])
        return _tame(Ran(code, _text(out), _text(err)), words)

    def process(
        self, *words: str, given: bytes = b"", prefix: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run a command in a process of its own."""
        done = subprocess.run(
            [*prefix, *self.words(*words)],
            input=given,
            capture_output=True,
            env=dict(env or self.environ()),
            cwd=self.root.parent,
            timeout=BOUND,
            check=False,
        )
        return _tame(Ran(done.returncode, done.stdout.decode(), done.stderr.decode()), words)

    def as_plain_user(self, *words: str) -> Ran:
        """Run a command that file modes bind, also where the tests run as root."""
        with as_plain_user():
            return self.run(*words)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command and don't wait for it."""
        return subprocess.Popen(
            self.words(*words),
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    # Looking

    def bytes(self) -> dict[str, bytes]:
        """Give every regular file in the vault with its bytes."""
        found = (path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    def finds(self, query: str) -> list[str]:
        """Give the paths that recall finds, its exit code 0."""
        ran = self.run("recall", "--json", "-n", "100", "--", query)
        assert ran.code == 0, ran
        assert ran.err == ""
        return ran.hits

    def status(self) -> dict[str, Any]:
        ran = self.run("status", "--json")
        assert ran.code == 0, ran
        return dict(ran.json)

    def counts(self, model: str = "plot") -> tuple[int, int, dict[str, int]]:
        """Give a model's notes, tail and summaries by tier."""
        found = next(each for each in self.status()["models"] if each["name"] == model)
        return found["notes"], found["tail"], found["summaries"]

    def problems(self) -> list[str]:
        return sorted(problem["path"] for problem in self.status()["problems"])

    def doctor(self) -> dict[str, str]:
        """Give path → reason of what doctor lists; its exit code fits."""
        ran = self.run("doctor", "--json")
        found = {each["path"]: each["reason"] for each in ran.json["problems"]}
        assert len(found) == len(ran.json["problems"]), "one entry a file"
        assert ran.code == (1 if found else 0)
        assert all(each["fix"] for each in ran.json["problems"])
        return found

    def summaries(self, tier: int = 0, model: str = "plot") -> list[Path]:
        return sorted((self.root / "models" / model).glob(f"tier-{tier}/[!.]*.md"))

    def sources(self, model: str = "plot") -> list[str]:
        """List the links in the provenance of all tier-0 summaries of a model."""
        texts = (path.read_text() for path in self.summaries(0, model))
        return [link for text in texts for link in re.findall(r'^  - "\[\[(.+)\]\]"$', text, re.MULTILINE)]

    def is_sound(self) -> None:
        """Hold `verify` and the independent checker against the vault: both say that it balances."""
        ran = self.run("verify", "--json")
        assert ran.code == 0, ran.out
        report = checker().check(self.root)
        assert report.balances, report.faults
        mine = [(m["name"], m["notes"], m["covered"], m["tail"]) for m in ran.json["models"]]
        assert sorted(mine) == sorted((m.name, m.notes, m.covered, m.tail) for m in report.models)


@contextlib.contextmanager
def as_plain_user() -> Iterator[None]:
    """Let go of root's right to any file, in this thread and what it starts, for a while."""
    if os.geteuid() != 0:
        yield
        return
    kernel = ctypes.CDLL(None, use_errno=True)
    header, held = (ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
    assert kernel.capget(header, held) == 0
    less = (ctypes.c_uint32 * 6)(*held)
    less[0] &= ~ANY_FILE
    assert kernel.capset(header, less) == 0
    try:
        yield
    finally:
        assert kernel.capset(header, held) == 0


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def _tame(ran: Ran, words: Iterable[str]) -> Ran:
    """Hold what every command keeps to: no traceback, and one line on stderr."""
    assert "Traceback" not in ran.err, (words, ran.err)
    assert ran.err.count("\n") <= 1, (words, ran.err)
    assert ran.err == "" or ran.err.startswith("pyramid: "), (words, ran.err)
    return ran


def page(body: str, *keys: str, created: str = NOW) -> str:
    return "\n".join(["---", f"created: {created}", *keys, "---", body, ""])


def make(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """Make a vault with one model, `plot`."""
    vault = Vault(folder / "vault", folder / "cache", folder / "config.toml")
    for key in [key for key in os.environ if key.startswith("PYRAMID_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(vault.cache))
    monkeypatch.setenv("PYRAMID_CONFIG", str(vault.config))
    vault.put("pyramid.toml", "format = 1\n")
    vault.put("models/plot/plot.md", "An allotment by the canal.\n")
    return vault


def checker() -> Any:
    """Load tests/checker.py, which shares no code with the store."""
    name = "pyramid_hard_checker"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("checker.py"))
        assert spec
        assert spec.loader
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]

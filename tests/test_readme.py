"""What the README shows runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from models import Server

from pyramid_fs import Memory, vault
from pyramid_fs.cli import VERBS

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_the_bot_remembers(tmp_path: Path) -> None:
    found = re.search(r"<!-- bot -->\n```python\n(.*?)```", README, re.DOTALL)
    assert found
    program = found[1]
    assert len([line for line in program.splitlines() if line.strip()]) <= 18
    (tmp_path / "bot.py").write_text(program)
    vault.make_vault(tmp_path / "Memory", models={"user": "The person."})
    with Server() as server:
        environ = {
            **os.environ,
            "HOME": str(tmp_path),
            "PYRAMID_CACHE_DIR": str(tmp_path / "cache"),
            "PYRAMID_CONFIG": str(tmp_path / "config.toml"),
            "OPENAI_BASE_URL": f"{server.url}/v1" if not server.url.endswith("/v1") else server.url,
            "OPENAI_API_KEY": "none",
        }
        done = subprocess.run(
            [sys.executable, "-P", str(tmp_path / "bot.py")],
            input="The oak worktop is 40 mm thick.\nHow thick is the worktop?\n\n",
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    environ_of = {key: environ[key] for key in ("PYRAMID_CACHE_DIR", "PYRAMID_CONFIG")}
    with Memory(tmp_path / "Memory", environ=environ_of) as memory:
        texts = [text.text for text in memory.load(["user"], tier="notes").models[0].recent]
    assert texts[0] == "The person said: The oak worktop is 40 mm thick."
    assert [text.split(":")[0] for text in texts] == ["The person said", "I answered"] * 2


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_stands_in_it(verb: str) -> None:
    assert re.search(rf"`(pyramid )?{re.escape(verb)}\b", README), verb

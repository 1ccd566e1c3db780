"""The proof names what a broken rule writes: one line of a copy of the package is broken, and the copy grows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import pyramid_fs
from pyramid_fs import kinds
from pyramid_fs.verify import verify

PACKAGE = Path(pyramid_fs.__file__).parent
START = datetime(2026, 3, 1, 9, tzinfo=UTC)

BREAKS = [
    (
        "pyramid.py",
        "s.span_from if isinstance(s, Summary) else s.created for s in self.sources),",
        "s.created for s in self.sources),",
        "span",
    ),
    ("pyramid.py", "return sum(source.note_count if", "return 1 + sum(source.note_count if", "note_count"),
    ("kinds.py", '"tier": summary.tier,', '"tier": summary.tier + 1,', "tier"),
    (
        "batches.py",
        "return tuple(sources), request",
        "sources = [replace(s, digest=o.digest) for s, o in zip(sources, sources[::-1])]; return (*sources,), request",
        "digest",
    ),
    ("batches.py", "issue_time(tools, batch.model, latest + times.TICK)", "start - times.TICK", "created"),
    ("batches.py", "sources=sources,", "sources=(*sources[1:], sources[1]),", "twice"),
]
"""Module, the line as it is, the line broken, and a word of the reason that the proof must give."""


def _vault(folder: Path) -> Path:
    root = folder / "vault"
    (root / "models/garden").mkdir(parents=True)
    (root / "pyramid.toml").write_text("format = 1\n[pyramid]\nbatch_notes = 2\nfan_in = 2\n")
    for number in range(8):
        text = f"Bed {number} was dug over and limed before noon, and {number + 3} barrows of compost went in."
        data = kinds.spell_note(text, START + timedelta(days=number), "hand")
        (root / f"models/garden/bed-{number}.md").write_bytes(data)
    return root


def _grow(package: Path, root: Path, folder: Path) -> None:
    env = {
        **os.environ,
        "PYTHONPATH": str(package),
        "PYRAMID_CACHE_DIR": str(folder / "cache"),
        "PYRAMID_CONFIG": str(folder / "none.toml"),
    }
    words = [sys.executable, "-P", "-m", "pyramid_fs", "--vault", str(root), "advance"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr


def test_the_rule_as_it_is_writes_what_balances(tmp_path: Path) -> None:
    root = _vault(tmp_path)
    _grow(PACKAGE.parent, root, tmp_path)
    report = verify(root, UTC)
    assert report.balances, report.faults
    assert (root / "models/garden/tier-2").is_dir()


@pytest.mark.parametrize(
    ("module", "old", "new", "reason"),
    [*BREAKS[:2], *(pytest.param(*rule, marks=pytest.mark.slow) for rule in BREAKS[2:])],
)
def test_what_a_broken_rule_writes_is_named(tmp_path: Path, module: str, old: str, new: str, reason: str) -> None:
    root, copy = _vault(tmp_path), tmp_path / "copy"
    shutil.copytree(PACKAGE, copy / "pyramid_fs", ignore=shutil.ignore_patterns("__pycache__"))
    source = (copy / "pyramid_fs" / module).read_text()
    assert source.count(old) == 1, "the rule is spelled otherwise now: break it where it stands"
    (copy / "pyramid_fs" / module).write_text(source.replace(old, new))
    _grow(copy, root, tmp_path)
    report = verify(root, UTC)
    assert not report.balances
    named = [fault.reason for fault in report.faults if fault.path.startswith("models/garden/tier-")]
    assert any(reason in each for each in named), report.faults

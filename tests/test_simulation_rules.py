"""Each rule of a merge is needed: with any one of them dropped, the simulation finds a fault that names it.

A copy of the package has one line of it broken, and the simulation runs on that copy, git's driver included.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import pyramid_fs

PACKAGE = Path(pyramid_fs.__file__).parent
HERE = Path(__file__).parent


class Dropped(NamedTuple):
    """A rule that is dropped: module, the line as it is and broken, the simulation, and words of what it then finds."""

    module: str
    old: str
    new: str
    words: str
    reason: str


GIT = "git --clones 4 --steps 160 --seed 3 --often advance=12"
SYNC = (
    "sync --folders 3 --steps 220 --seed 7 --look 1"
    " --often record=60 --often advance=30 --often arrive=60 --often meet=30"
)
RULES = {
    "losers are retired": Dropped("advance.py", "if not now.state.losers:", "if True:", GIT, "has losers"),
    "the first in time stays active": Dropped(
        "pyramid.py",
        "return (file.created, file.handle, file.path)",
        "return (file.handle[::-1], file.created, file.path)",
        SYNC,
        "active: the store says",
    ),
    "a roll-up waits for a source that is absent": Dropped(
        "pyramid.py",
        "if source is None or source.handle not in rule.active:",
        "if source is not None and source.handle not in rule.active:",
        SYNC,
        "waiting: the store says",
    ),
    "what was retired stays so": Dropped(
        "pyramid.py",
        "(s for s in files.summaries if not s.problem and s.handle not in files.retired)",
        "(s for s in files.summaries if not s.problem)",
        SYNC + " --often redo=12",
        ": the store says",
    ),
    "what stands on a retired summary is a loser": Dropped(
        "pyramid.py", "if links.name(link) in retired:", "if False:", SYNC, "losers: the store says"
    ),
    "a tombstone keeps a note from coming back": Dropped(
        "census.py",
        "if not self._forgotten:",
        "if True:",
        SYNC + " --often forget=6 --often restore=10",
        "notes: the store says",
    ),
    "every machine's ledger is read": Dropped(
        "vault.py",
        "for name in files.names(self.root, layout.LEDGER):",
        "for name in files.names(self.root, layout.LEDGER)[:1]:",
        SYNC + " --often forget=6 --often restore=10",
        "notes: the store says",
    ),
    "the stronger status wins": Dropped(
        "merging.py",
        "STRENGTH = (curation.CONFIRMED, TYPED, curation.PRUNED, curation.PENDING)",
        "STRENGTH = (curation.PENDING, curation.PRUNED, TYPED, curation.CONFIRMED)",
        "git --clones 4 --steps 240 --seed 3 --often record=4 --often edit=0 --often write=0 --often save_session=0"
        " --often redo=0 --often propose=15 --often confirm=60 --often reject=60 --often push=25",
        " became ",
    ),
    "of two redone texts the smaller digest wins": Dropped(
        "merging.py",
        "min(ours, theirs, key=_stored_rank)",
        "max(ours, theirs, key=_stored_rank)",
        GIT + " --often redo=14",
        "of two redone texts",
    ),
    "of two writings of a summary that with fewer sources wins": Dropped(
        "merging.py",
        'return count, len(pages.links_of(page, "provenance")), bool(page.body),',
        "return 0, 0, bool(page.body),",
        GIT + " --often redo=14 --often forget=14",
        "of two redone texts",
    ),
    "theirs stands whole in a conflict copy": Dropped(
        "mending.py",
        'if settled.beside is not None else ""\n    ours.write',
        'if False else ""\n    ours.write',
        GIT + " --often edit=30",
        "neither in place nor in a conflict copy",
    ),
    "without a driver the same rule mends": Dropped(
        "mending.py",
        "        if settled.beside is not None:",
        "        if False:",
        GIT + " --often edit=30 --phones 4",
        "neither in place nor in a conflict copy",
    ),
}


def _run(package: Path, words: str) -> tuple[int, str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(package), str(HERE)))}
    command = [sys.executable, "-P", "-m", "simulation", *words.split(), "--stop-at", "3"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=900)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", sorted({rule.words for rule in RULES.values()}))
def test_with_all_rules_there_is_no_fault(words: str) -> None:
    code, said = _run(PACKAGE.parent, words)
    assert code == 0, said


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_without_a_rule_the_simulation_is_red(tmp_path: Path, name: str) -> None:
    rule, copy = RULES[name], tmp_path / "copy"
    shutil.copytree(PACKAGE, copy / "pyramid_fs", ignore=shutil.ignore_patterns("__pycache__"))
    source = (copy / "pyramid_fs" / rule.module).read_text()
    assert source.count(rule.old) == 1, "the rule is spelled otherwise now: break it where it stands"
    (copy / "pyramid_fs" / rule.module).write_text(source.replace(rule.old, rule.new))
    code, said = _run(copy, rule.words)
    assert code == 1, said
    assert rule.reason in said, said

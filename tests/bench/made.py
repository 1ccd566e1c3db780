"""Vaults to measure on: the same notes at every run, written quickly and without a sync to disk."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pyramid_fs import kinds, layout, vault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST = datetime(2020, 1, 1, 6, tzinfo=UTC)
"""The date of each model's first note."""
STEP = timedelta(minutes=29)
DOUBT = 2.1
"""Seconds after which a file that was just written is no longer read again at each question."""
WHO = ("Alice", "Bob", "Carla", "the neighbour", "the plumber", "Dr. Weiss", "my sister", "the landlord")
DOES = ("prefers", "asked about", "cancelled", "moved", "praised", "forgot", "paid for", "wrote about", "fixed")
WHAT = ("the morning train", "the kitchen plan", "the second invoice", "the harbour walk", "the piano lesson",
        "the vet appointment", "the garden fence", "the tax letter", "the old bicycle", "the reading list")  # fmt: skip
WHEN = ("on Monday", "before lunch", "last spring", "at the station", "by phone", "in the rain", "without a reason")


def texts(seed: int) -> Iterator[str]:
    """Give notes without end: two to four sentences, some 200 characters."""
    draw = random.Random(seed)
    number = 0
    while True:
        said = (
            f"{draw.choice(WHO).capitalize()} {draw.choice(DOES)} {draw.choice(WHAT)} {draw.choice(WHEN)}, "
            f"for {draw.randint(2, 900)} euros"
            for _ in range(draw.randint(2, 4))
        )
        number += 1
        yield ". ".join([*said, f"Number {number} of {seed}."])


def fill(root: Path, model: str, count: int, seed: int) -> None:
    """Write a model's notes as the store spells them."""
    draw = random.Random(seed)
    known: set[str] = set()
    for number, text in zip(range(count), texts(seed), strict=False):
        created = FIRST + number * STEP
        suffix = "".join(draw.choice(layout.ALPHABET) for _ in range(layout.SUFFIX))
        path = layout.note_path(model, created, text, suffix)
        folder = path.rpartition("/")[0]
        if folder not in known:
            known.add(folder)
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(kinds.spell_note(text, created, "bench"))


def build(root: Path, models: dict[str, int]) -> Path:
    """Make a vault whose models hold so many notes, old enough that no file is in doubt."""
    vault.make_vault(root, models=dict.fromkeys(models, "A model to measure on."))
    for seed, (model, count) in enumerate(models.items()):
        fill(root, model, count, seed)
    time.sleep(DOUBT)
    return root

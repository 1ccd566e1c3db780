"""Times of the browser's pages at 1,000 and 100,000 notes beside each other: `python -m tests.bench.pages [COUNT…]`."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.testclient import TestClient

from pyramid_fs.browser import app, guard
from pyramid_fs.memory import Memory

from . import made
from .rows import ms

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTS = (1_000, 100_000)
TURNS = 5
PAGES = ("/", "/model/work", "/model/work/notes", "/model/work/0", "/file/{note}", "/file/{summary}", "/recall?q=train",
         "/topics", "/pending", "/status")  # fmt: skip
SLOW = ("/verify", "/doctor")
"""Those that read every file; their server answers meanwhile that they are being made."""


def grown(root: Path, count: int) -> Path:
    """Make a vault of so many notes in one model, all summaries written."""
    made.build(root, {"work": count})
    with Memory(root) as memory:
        memory.advance()
    return root


def times(root: Path) -> Iterator[tuple[str, float, int]]:
    """Yield (page, seconds, bytes) of each page once it has been shown before."""
    browser = app.Browser(root, patience=3600.0)
    client = TestClient(app.app(browser, guard.rules("127.0.0.1", 1)), base_url="http://127.0.0.1:1")
    folder = root / "models/work"
    note = next(path for path in sorted(folder.rglob("*.md")) if not path.parent.name.startswith("tier-"))
    summary = next(iter(sorted((folder / "tier-1").glob("*.md"))), note)
    names = {"note": note.relative_to(root).as_posix(), "summary": summary.relative_to(root).as_posix()}
    with client:
        for page in (*PAGES, *SLOW):
            address = page.format(**names)
            first = client.get(address)
            turns = 1 if page in SLOW else TURNS
            yield page, statistics.median(_timed(client, address) for _ in range(turns)), len(first.content)
    browser.close()


def _timed(client: TestClient, address: str) -> float:
    start = time.perf_counter()
    if client.get(address).status_code != 200:
        raise RuntimeError(f"{address} is no page")
    return time.perf_counter() - start


def main() -> None:
    """Print one row a page."""
    counts = [int(word) for word in sys.argv[1:]] or list(COUNTS)
    found: dict[str, list[str]] = {}
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="pyramid-pages-") as folder:
            os.environ["PYRAMID_CACHE_DIR"] = str(Path(folder) / "cache")
            os.environ["PYRAMID_CONFIG"] = str(Path(folder) / "none.toml")
            for page, seconds, size in times(grown(Path(folder) / "vault", count)):
                found.setdefault(page, []).append(f"{ms(seconds)} | {size / 1000:,.0f} kB")
    print("| page | " + " | ".join(f"{count:,} notes | its size" for count in counts) + " |")
    print("|---|" + "--:|--:|" * len(counts))
    for page, cells in found.items():
        print(f"| `{page}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

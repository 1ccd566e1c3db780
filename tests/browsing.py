"""What the tests of the browser share: a vault with something on every page, and one whose texts mean harm."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from starlette.testclient import TestClient

from pyramid_fs import vault as vaults
from pyramid_fs.browser import app, guard
from pyramid_fs.memory import Memory

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SMALL = 'format = 1\ntimezone = "Europe/Berlin"\n[pyramid]\nbatch_notes = 3\nfan_in = 2\n[settle]\nseconds = 0\n'
HOST = "127.0.0.1:8932"
START = datetime(2026, 3, 1, 8, tzinfo=UTC)
LAST = START + timedelta(days=40)
PROOF = "window.fired"
"""What each payload sets where it runs."""
BEACON = "http://beacon.test:9/pixel"
"""Where payloads would phone."""

HOSTILE = {
    "script": f"<script>{PROOF} = 'script'</script>",
    "onerror": f'<img src="data:," onerror="{PROOF} = \'onerror\'">',
    "onload": f"<svg onload=\"{PROOF} = 'onload'\"></svg>",
    "svg-script": f"<svg><script>{PROOF} = 'svg-script'</script></svg>",
    "javascript-link": f"[press here](javascript:void({PROOF}='javascript-link'))",
    "javascript-spaced": f"[press here]( java&#x0A;script:{PROOF}='javascript-spaced' )",
    "javascript-auto": f"<javascript:void({PROOF}='javascript-auto')>",
    "data-link": f"[press here](data:text/html,<script>opener.{PROOF}=1</script>)",
    "beacon-image": f"![a picture]({BEACON}?image)",
    "beacon-html": f'<img src="{BEACON}?html" alt="">',
    "beacon-style": f'<link rel="stylesheet" href="{BEACON}?style">',
    "beacon-css": f"<style>body {{ background: url({BEACON}?css) }}</style>",
    "beacon-attribute": f'<p style="background: url({BEACON}?attribute)">Styled.</p>',
    "frame": f"<iframe srcdoc=\"<script>parent.{PROOF} = 'frame'</script>\"></iframe>",
    "form": '<form action="/confirm" method="post"><button>Press here</button></form>',
    "refresh": f'<meta http-equiv="refresh" content="0; url={BEACON}?refresh">',
    "base": f'<base href="{BEACON}?base/">',
    "breakout": f"</div></article></main><script>{PROOF} = 'breakout'</script>",
    "wikilink": f"[[\"><script>{PROOF} = 'wikilink'</script>|\"><img src=x onerror=\"{PROOF} = 'wikilink'\">]]",
    "embed": f"![[\"><script>{PROOF} = 'embed'</script>]]",
    "title": f'[x](http://example.test/ "\\"><script>{PROOF} = \'title\'</script>")',
    "code": f"```\"><script>{PROOF} = 'code'</script>\n<script>{PROOF} = 'code'</script>\n```",
    "template": "{{ 7 * 7 }} {% include '/etc/passwd' %} ${7*7}",
    "override": "An invoice \u202egnp.exe\u202c and \u2066isolated, \u0007bell, \u200bhidden, \U000e0041tagged.",
    "long-line": "a" * 1_000_000,
    "nested": "> " * 3_000 + "deep",
    "brackets": "[" * 20_000 + "![[" * 5_000,
}
"""Texts of notes that mean harm, by what they try."""
NAMES = (
    f"\"><script>{PROOF} = 'name'<",
    "a'b\"c & d <e>",
    "up..\u202edm.exe",
    "per%2e%2ecent%00",
    "ends;}body{display:none",
    "a#b?c=d",
)
"""Names of files that mean harm; a slash can stand in none."""


OPEN: list[app.Browser] = []
"""Those that a module's tests have made; they are closed together at its end."""


@dataclass(frozen=True)
class Place:
    """A vault with the environment that it is opened in."""

    root: Path

    def open(self, now: datetime = LAST) -> Memory:
        return Memory(self.root, clock=lambda: now)


def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str = SMALL) -> Place:
    """Make an empty vault with a cache and settings of its own."""
    monkeypatch.setenv("PYRAMID_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYRAMID_CONFIG", str(tmp_path / "config.toml"))
    root = tmp_path / "Märchen vault"
    vaults.make_vault(root, models={})
    (root / "pyramid.toml").write_text(settings)
    return Place(root)


def fill(place: Place) -> None:
    """Put something on every page: two models, revised and retired texts, topics, entities, what waits."""
    root = place.root
    with place.open() as memory:
        memory.create_model("garden", "Beds, seeds and what the *weather* did.")
        memory.create_model("empty")
        for number in range(16):
            text = f"Bed {number} was dug over. See [[missing-{number}]] and the almanac <b>bold</b>."
            memory.record(text, ["garden"], created=START + timedelta(days=number), source="diary")
        memory.record("The shared note.", ["garden"], created=START + timedelta(days=17))
        memory.advance()
        shared = next(n for n in memory.census.fresh("garden").state.notes if "shared" in n.handle)
        (root / "models/empty/borrowed.md").write_text(f"![[{shared.handle}]]\n")
        first = memory.census.fresh("garden").state
        handle = next(h for h, s in first.active.items() if s.tier == 0)
        list(memory.redo(handle))
        revised = sorted(first.notes, key=lambda note: note.created)[4]
        (root / revised.path).write_text("A bed was dug over, and then sown with beans.\n")
        memory.save_session(
            "# Digest\n\nWe planned the pergola and moved the [[ada-lovelace]] rose.",
            ["Pergola"], session="s-1", title="Pergola plans", started=START,
        )  # fmt: skip
        ada = memory.propose("entity", "Ada Lovelace", label="person", confidence=0.6, source="diary")
        memory.propose("procedure", "Water the *seedlings* before noon.", confidence=0.7)
        memory.add_entity("Old Mill", "place", f"By the river, see [[{ada.handle}]].")
        memory.add_procedure("Sharpen the spade first.")
    (root / "models/garden/linking.md").write_text(
        "---\ntitle: Links\n---\n# A heading\n\n### A deeper one\n\n"
        f"To [[{handle}|the first summary]], [the same]({handle}.md), <https://example.test/a>, "
        f"[mail](mailto:a@example.test) and [[twin]].\n\n![[{shared.handle}]]\n\n![a drawing](sketch.png)\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    for folder in ("one", "two"):
        (root / f"models/garden/{folder}").mkdir()
        (root / f"models/garden/{folder}/twin.md").write_text(f"A twin in {folder}.\n")
    (root / "models/garden/broken.md").write_text("---\ncreated: [\n---\nCan't be read.\n")


def fill_hostile(place: Place) -> None:
    """Fill a vault with every payload, as a note, an entity, a procedure and a session, and with names that harm."""
    root = place.root
    for folder in ("models/harm", "models/<b onclick=x>", "entities", "procedures", "sessions", "topics"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "models/harm/harm.md").write_text(
        f"---\ntype: model\ndescription: '{HOSTILE['onerror'].replace(chr(39), '`')}'\n---\n"
    )
    for name, text in HOSTILE.items():
        (root / f"models/harm/{name}.md").write_text(f"---\nsource: '<script>{PROOF}=1</script>'\n---\n{text}\n")
        if len(text) < 10_000:
            (root / f"entities/e-{name}.md").write_text(
                f"---\nname: |-\n  {text.splitlines()[0]}\nstatus: pending\n---\n{text}\n"
            )
            (root / f"procedures/p-{name}.md").write_text(f"---\nstatus: pending\nconfidence: 0.6\n---\n{text}\n")
            (root / f"sessions/s-{name}.md").write_text(
                f'---\nsession: "{name}"\ntopics: ["[[t-{name}]]"]\n---\n{text}\n'
            )
    for name in NAMES:
        (root / f"models/harm/{name}.md").write_text(f"Named to harm: {name!a}.\n")
        (root / f"models/<b onclick=x>/{name} too.md").write_text("Named to harm, too.\n")
        (root / f"topics/{name}.md").write_text("---\ntitle: '\"><script>window.fired=1</script>'\n---\n")
    with place.open() as memory:
        memory.advance()


def client(place: Place, patience: float = 120.0, browser: app.Browser | None = None) -> TestClient:
    """Ask the application in this process, as a browser at its address does."""
    chosen = browser or app.Browser(place.root, patience=patience)
    OPEN.append(chosen)
    made: Any = app.app(chosen, guard.rules("127.0.0.1", 8932))
    return TestClient(made, base_url=f"http://{HOST}", follow_redirects=False)


def close_all() -> None:
    """Close what `client` has opened."""
    while OPEN:
        OPEN.pop().close()


def environment(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a process of the tests."""
    own = {"PYRAMID_CACHE_DIR": str(tmp_path / "cache"), "PYRAMID_CONFIG": str(tmp_path / "config.toml")}
    return {**os.environ, **own}

"""The pages in a real Chromium: every link, every payload, the Confirm button, the keyboard, and axe's eyes."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import browsing
import pytest
from markdown_it import MarkdownIt
from test_drawing import grown, spelled

from pyramid_fs.browser import drawing, writing
from pyramid_fs.pyramid import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
if not CHROMIUM:
    pytest.skip("no Chromium here: apt-get install chromium, or name one in $CHROMIUM", allow_module_level=True)
AXE = os.environ.get("AXE_CORE", "")
"""The file axe.min.js of the npm package axe-core."""
OWN = Path(__file__).parent.parent / "vault"
PHONE, DESK = {"width": 375, "height": 800}, {"width": 1200, "height": 900}
pytestmark = [pytest.mark.xdist_group("chromium"), pytest.mark.slow]  # minutes long: a job of its own runs them

BY_CLICK = {"javascript-link", "javascript-auto"}
FIRES = (
    "script", "onerror", "onload", "svg-script", "javascript-link", "javascript-auto", "beacon-image", "beacon-html",
    "beacon-style",
    "beacon-css", "beacon-attribute", "frame", "form", "refresh", "base", "breakout", "wikilink", "embed", "override",
)  # fmt: skip
"""Payloads that do something on a page without defences."""
EFFECTS = """() => [
  window.fired && `ran: ${window.fired}`,
  document.baseURI.includes('beacon.test') && 'base',
  document.querySelector('main form[action="/confirm"]:not(.confirm)') && 'form',
  /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText) && 'override',
  document.querySelector('iframe, object, embed, main script, main style, main img') && 'tag',
].filter(Boolean)"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        args = ["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=args)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, with all that went wrong on it."""

    page: Any
    url: str
    wrong: list[str] = field(default_factory=list)
    beacons: list[str] = field(default_factory=list)

    def go(self, address: str) -> int:
        """Open a page; one that is being made is waited for."""
        for _ in range(60):
            answer = self.page.goto(f"{self.url}{address}", wait_until="load")
            if answer.status != 202:
                return int(answer.status)
            self.page.wait_for_timeout(500)
        raise AssertionError(f"{address} is never made")

    def links(self) -> list[str]:
        """List the addresses that this page links to on this server."""
        found = self.page.eval_on_selector_all("a[href]", "all => all.map(a => a.getAttribute('href'))")
        return [href for href in found if href.startswith("/")]


@contextmanager
def watched(chromium: Any, url: str, **options: Any) -> Iterator[Watched]:
    context = chromium.new_context(**{"viewport": DESK, **options})
    page = context.new_page()
    found = Watched(page, url)

    def block(route: Any) -> None:
        found.beacons.append(route.request.url)
        route.abort()

    context.route(
        lambda address: urlsplit(address).hostname not in {"127.0.0.1", "localhost", "evil.test", None}, block
    )
    page.on("console", lambda said: found.wrong.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: found.wrong.append(str(error)))
    yield found
    context.close()


@contextmanager
def served(root: Path, tmp_path: Path) -> Iterator[str]:
    """Run `pyramid browse` as a person does; give its address."""
    words = [sys.executable, "-m", "pyramid_fs", "--vault", str(root), "browse", "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=browsing.environment(tmp_path))
    assert process.stderr
    line = next(line for line in process.stderr if "looked at: " in line)
    drain = threading.Thread(target=process.stderr.read, daemon=True)
    drain.start()
    try:
        yield line.split("looked at: ")[1].split("/ ")[0]
    finally:
        process.terminate()
        process.wait(20)
        drain.join(20)
        process.stderr.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[browsing.Place, str]]:
    folder = tmp_path_factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patch:
        place = browsing.made(folder, patch)
        browsing.fill(place)
        with served(place.root, folder) as url:
            yield place, url


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        place = browsing.made(folder, patch)
        browsing.fill_hostile(place)
        with served(place.root, folder) as url:
            yield url


# Every link


def named(href: str) -> str:
    """Say what must stand on the page behind a link."""
    parts = unquote(urlsplit(href).path).strip("/").split("/", 1)
    if parts[0] in {"file", "model"}:
        return parts[1].split("/")[0] if parts[0] == "model" else parts[1]
    return dict(writing.MENU).get(parts[0] or "map", "")


def walk(found: Watched, most: int) -> int:
    """Click every link once, from a page that has it; hold each page against what its link names."""
    done, waiting = {"/"}, [("/", href) for href in found_links(found, "/")]
    at = ""
    while waiting and len(done) < most:
        home, href = waiting.pop()
        bare = href.split("#")[0]
        if bare in done:
            continue
        done.add(bare)
        if at != home:
            found.go(home)
        found.page.locator(f'a[href="{href}"]').last.click(timeout=10_000)
        found.page.wait_for_load_state()
        if "asks again by itself" in found.page.inner_text("body"):
            found.go(bare)
        assert found.page.evaluate("location.pathname + location.search") == bare
        assert browsing_seen(named(href)) in found.page.inner_text("body"), href
        assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            f"{href} is wider than the window"
        )
        at = bare
        waiting += [(bare, link) for link in found.links()]
    return len(done)


def browsing_seen(text: str) -> str:
    from pyramid_fs.browser import markup

    return markup.seen(text)


def found_links(found: Watched, address: str) -> list[str]:
    found.go(address)
    return found.links()


def seen_by_axe(page: Any, axe: str) -> list[str]:
    page.evaluate(axe)
    faults = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {fault['nodes'][0]['html'][:200]}"
        for fault in faults
        if fault["impact"] in {"serious", "critical"}
    ]


def axe_source() -> str:
    if not AXE:
        pytest.skip("no axe-core here: npm install axe-core, and name its axe.min.js in $AXE_CORE")
    return Path(AXE).read_text()


def test_every_link_of_a_full_vault_leads_where_it_says(chromium: Any, plain: tuple[browsing.Place, str]) -> None:
    with watched(chromium, plain[1]) as found:
        assert walk(found, 400) > 60
        assert (found.wrong, found.beacons) == ([], [])


@pytest.mark.skipif(not OWN.exists(), reason="the project's own vault is in the repository alone")
def test_every_link_of_the_project_s_own_vault(chromium: Any, tmp_path: Path) -> None:
    with served(OWN, tmp_path) as url, watched(chromium, url) as found:
        assert walk(found, 60) > 20
        assert (found.wrong, found.beacons) == ([], [])


def test_every_link_of_a_hostile_vault(chromium: Any, hostile: str) -> None:
    with watched(chromium, hostile) as found:
        assert walk(found, 90) == 90
        assert found.page.evaluate(EFFECTS) == []
        assert (found.wrong, found.beacons) == ([], [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_serious(
    chromium: Any, plain: tuple[browsing.Place, str], hostile: str, scheme: str, viewport: dict[str, int]
) -> None:
    axe, grave = axe_source(), list[str]()
    words = "model/garden model/garden/notes model/empty file/models/garden/linking.md file/twin recall?q=bed"
    more = "recall?q=zzzz recall?q=-x topics sessions entities procedures pending status verify doctor nope confirm"
    addresses = ["/", *(f"/{word}" for word in f"{words} {more}".split())]
    for url, listed in ((plain[1], addresses), (hostile, ["/", "/model/harm", "/pending", "/entities", "/doctor"])):
        with watched(chromium, url, color_scheme=scheme, viewport=viewport) as found:
            for address in listed:
                found.go(address)
                assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
                grave += [f"{address}: {fault}" for fault in seen_by_axe(found.page, axe)]
    assert grave == []


# Texts that mean harm


@pytest.fixture(scope="module")
def undefended() -> Iterator[str]:
    """Serve each payload as a page does that trusts its texts."""

    class Naive(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = unquote(self.path.strip("/"))
            text = browsing.HOSTILE.get(name, name)
            made = MarkdownIt("commonmark", {"html": True})
            made.validateLink = lambda _: True  # type: ignore[method-assign,assignment]
            body = text if text.startswith(("[[", "![[")) else made.render(text)
            linked = body.replace("[[", '<a href="').replace("]]", '">link</a>')
            whole = f"<!doctype html><meta charset=utf-8><main><div class=undefended>{linked}</div></main>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(whole.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Naive)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def effects(found: Watched, name: str) -> list[str]:
    """Say what a payload did on the page that is open."""
    if name in BY_CLICK:
        for link in found.page.locator(".undefended a, .body .text a").all():
            link.click(timeout=5_000, no_wait_after=True)
    found.page.wait_for_timeout(150)
    return found.beacons or list(found.page.evaluate(EFFECTS))


@pytest.mark.parametrize("name", FIRES)
def test_a_payload_that_fires_without_defences_does_nothing_here(
    chromium: Any, hostile: str, undefended: str, name: str
) -> None:
    with watched(chromium, undefended) as found:
        found.go(f"/{name}")
        assert effects(found, name), "the payload is a dud: it shows nothing"
    for address in (
        f"/file/models/harm/{name}.md",
        f"/file/entities/e-{name}.md",
        f"/file/sessions/s-{name}.md",
        f"/recall?q={name}",
    ):
        with watched(chromium, hostile) as found:
            assert found.go(address) == 200
            if address.startswith("/file"):
                assert effects(found, name) == []
            assert (found.wrong, found.beacons) == ([], [])


def test_every_other_hostile_text_is_shown_and_does_nothing(chromium: Any, hostile: str) -> None:
    with watched(chromium, hostile) as found:
        for name in browsing.HOSTILE.keys() - set(FIRES):
            assert found.go(f"/file/models/harm/{name}.md") == 200
            assert effects(found, name) == []
        assert (found.wrong, found.beacons) == ([], [])


def test_a_page_of_another_origin_can_t_confirm(
    chromium: Any, undefended: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = browsing.made(tmp_path, monkeypatch)
    browsing.fill(place)
    before = {path: path.read_bytes() for path in place.root.rglob("*.md")}
    with served(place.root, tmp_path) as url, watched(chromium, url) as found:
        found.go("/pending")
        fields = found.page.eval_on_selector_all(
            "form.confirm:first-of-type input", "all => all.map(i => [i.name, i.value])"
        )[:3]
        assert len(fields) == 3
        inputs = "".join(f"<input name={name} value='{value}'>" for name, value in fields)
        found.url = undefended
        found.go(
            f"/<form method=post action={url}/confirm>{inputs}</form>".replace("/confirm", "%2Fconfirm").replace(
                "http://", "http:%2F%2F"
            )
        )
        with found.page.expect_navigation():
            found.page.evaluate("document.forms[0].submit()")
        assert "did not come from" in found.page.inner_text("body") or "Another site" in found.page.inner_text("body")
        assert before == {path: path.read_bytes() for path in place.root.rglob("*.md")}
        found.url = url.replace("127.0.0.1", "evil.test")
        assert found.go("/") == 421


# The one button


@pytest.mark.parametrize("scripts", ["with", "without"])
def test_confirm_changes_one_line_and_a_stale_one_nothing(
    chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: str
) -> None:
    place = browsing.made(tmp_path, monkeypatch)
    browsing.fill(place)
    with served(place.root, tmp_path) as url, watched(chromium, url, java_script_enabled=scripts == "with") as found:
        before = {path: path.read_bytes() for path in place.root.rglob("*.md")}
        found.go("/pending")
        found.page.locator("form.confirm button").first.click()
        found.page.wait_for_selector("h1:not(:has-text('Pending'))")
        assert "confirmed" in found.page.inner_text("main")
        changed = [path for path in before if path.read_bytes() != before[path]]
        assert len(changed) == 1
        assert changed[0].read_bytes().replace(b"status: confirmed", b"status: pending") == before[changed[0]]
        found.go("/pending")
        stale = next(path for path in before if b"status: pending" in path.read_bytes())
        stale.write_bytes(stale.read_bytes() + b"Not seen by anybody.\n")
        kept = stale.read_bytes()
        found.page.locator("form.confirm button").first.click()
        found.page.wait_for_selector("h1:has-text('Nothing was written')")
        assert stale.read_bytes() == kept
        assert "changed since it was shown" in found.page.inner_text("main")


# Keyboard, drawing


def test_the_keyboard_reaches_everything_and_the_focus_is_seen(
    chromium: Any, plain: tuple[browsing.Place, str]
) -> None:
    with watched(chromium, plain[1]) as found:
        found.go("/model/garden")
        page = found.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
        shown = "getComputedStyle(document.querySelectorAll('.pyramid a > text')[{}]).display"
        assert page.evaluate(shown.format(0)) == "none"
        page.locator(".pyramid a").first.focus()
        assert page.evaluate(shown.format(0)) != "none"
        page.keyboard.press("ArrowRight")
        assert (page.evaluate(shown.format(0)), page.evaluate(shown.format(1))) == ("none", "block")
        page.locator(".pyramid a").nth(2).hover()
        assert (page.evaluate(shown.format(1)), page.evaluate(shown.format(2))) == ("none", "block")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.name") == "q"
        assert found.wrong == []


def test_a_block_opens_its_summary(chromium: Any, plain: tuple[browsing.Place, str]) -> None:
    with watched(chromium, plain[1]) as found:
        found.go("/model/garden")
        block = found.page.locator(".pyramid a").first
        address = block.get_attribute("href")
        block.click()
        found.page.wait_for_url(f"{plain[1]}{address}")
        assert "Made from" in found.page.inner_text("main")


def test_ten_thousand_notes_render_in_less_than_a_second(chromium: Any, tmp_path: Path) -> None:
    text = "Alice asked about the morning train, and Bob paid for the piano lesson. " * 8
    made = spelled(drawing.draw(grown(10_000, Shape()), browsing.START.tzinfo), text)  # type: ignore[arg-type]
    (tmp_path / "style.css").write_bytes(writing.static("style.css"))
    (tmp_path / "page.html").write_text(
        f'<!doctype html><meta charset=utf-8><link rel=stylesheet href=style.css><div class="drawing">{made}</div>'
    )
    context = chromium.new_context(viewport=DESK)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(f"file://{tmp_path / 'page.html'}")
    page.screenshot(path=tmp_path / "page.png")
    spent = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    assert spent["LayoutDuration"] + spent["RecalcStyleDuration"] + spent["ScriptDuration"] < 1.0

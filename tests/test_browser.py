from __future__ import annotations

import re
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urljoin, urlsplit

import browsing
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyramid_fs.browser import app, guard, pages, writing
from pyramid_fs.browser.addresses import Served
from pyramid_fs.browser.reading import Reader
from pyramid_fs.errors import NoSuchHandle, RefusedWrite, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

ORIGIN = {"origin": f"http://{browsing.HOST}"}
MENU = ["/", *(f"/{name}" for name, _ in writing.MENU[1:])]


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    yield
    browsing.close_all()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A full vault that no test changes."""
    with pytest.MonkeyPatch.context() as patch:
        place = browsing.made(tmp_path_factory.mktemp("shared"), patch)
        browsing.fill(place)
        yield place


@pytest.fixture(scope="module")
def client(shared: browsing.Place) -> TestClient:
    return browsing.client(shared)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> browsing.Place:
    return browsing.made(tmp_path, monkeypatch)


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in {"href", "src", "action"} and value]


def links(text: str) -> list[str]:
    parser = Links()
    parser.feed(text)
    return parser.found


def walk(client: TestClient, start: str = "/", most: int = 2_000) -> dict[str, Any]:
    """Follow every link of our own from a page on; give the answers by address."""
    seen: dict[str, Any] = {}
    waiting = [start]
    while waiting and len(seen) < most:
        address = waiting.pop()
        if address in seen:
            continue
        answer = seen[address] = client.get(address)
        if answer.headers["content-type"].startswith("text/html"):
            whole = (urlsplit(urljoin(f"http://{browsing.HOST}{address}", link)) for link in links(answer.text))
            waiting += [
                p._replace(scheme="", netloc="", fragment="").geturl()
                for p in whole
                if p.netloc == browsing.HOST and p.path != "/confirm"
            ]
    return seen


# Pages


def test_every_link_leads_to_a_page(client: TestClient) -> None:
    seen = walk(client)
    assert len(seen) > 60
    assert {address: answer.status_code for address, answer in seen.items() if answer.status_code != 200} == {}
    assert all("<h1>" in answer.text for answer in seen.values() if "text/html" in answer.headers["content-type"])


def test_the_map_names_models_with_what_waits(client: TestClient) -> None:
    text = client.get("/").text
    assert "2 records wait for a person" in text
    assert "21 notes" in text
    assert "broken needs a person" in text
    assert "Beds, seeds and what the *weather* did." in text


def test_a_summary_stands_between_its_sources_and_its_parents(shared: browsing.Place, client: TestClient) -> None:
    with shared.open() as memory:
        state = memory.census.fresh("garden").state
    handle, summary = next((h, s) for h, s in state.active.items() if s.tier == 1)
    text = client.get(Served().file(summary.path)).text
    for other in (*state.sources[handle], state.parents[handle]):
        assert other in text
    below = client.get(Served().file(state.active[state.sources[handle][0]].path)).text
    assert "Made from" in below
    assert handle in below
    note = client.get(Served().file(summary_note(state))).text
    assert "Summaries above it" in note


def summary_note(state: Any) -> str:
    return str(next(path for path in state.covered if "bed-0" in path))


def test_a_revised_note_leads_to_the_summary_of_its_older_version(shared: browsing.Place, client: TestClient) -> None:
    with shared.open() as memory:
        path = next(iter(memory.census.fresh("garden").state.revised))
    text = client.get(Served().file(path)).text
    assert "revised since it was summarized" in text
    assert "an older version of it is in garden-t0-" in text


def test_wikilinks_embeds_and_links_out(client: TestClient) -> None:
    text = client.get("/file/models/garden/linking.md").text
    assert '<a href="/file/models/garden/tier-0/garden-t0-' in text
    assert "The shared note." in text
    assert 'title="means 2 files"' in text
    assert 'href="https://example.test/a"' in text
    assert "obsidian://open?path=%2F" in text
    assert 'href="file:///' in text
    several = client.get("/file/twin")
    assert "models/garden/one/twin.md" in several.text
    assert "models/garden/two/twin.md" in several.text
    assert "A twin in one" in client.get("/file/one/twin").text
    borrowed = client.get("/file/models/empty/borrowed.md").text
    assert "shows the text of" in borrowed


def test_entities_lead_to_each_other_and_topics_to_their_sessions(client: TestClient) -> None:
    listed = client.get("/entities").text
    ada = re.findall(r'href="(/file/entities/ada-lovelace-[^"]+)"', listed)[0]
    text = client.get(ada).text
    assert "Old Mill" in text.split('id="links"')[1]
    assert "pruned on 2026-05-10 if nobody confirms it" in text
    topic = client.get("/topic/pergola").text
    assert "Pergola plans" in topic
    assert "We planned the pergola" in topic
    assert "/topic/pergola" in client.get("/topics").text


def test_recall_marks_what_it_found_and_narrows(client: TestClient) -> None:
    text = client.get("/recall", params={"q": "beans"}).text
    assert "<mark>beans</mark>" in text
    assert "Nothing was found" in client.get("/recall", params={"q": "beans", "model": "empty"}).text
    assert "Nothing was found" in client.get("/recall", params={"q": "beans", "until": "2026-03-01"}).text
    tiers = client.get("/recall", params={"q": "bed", "tier": "1"}).text
    assert "summary, tier 1" in tiers
    second = client.get("/recall", params={"q": "bed", "page": "2"}).text
    assert 'start="11"' in second


@pytest.mark.parametrize(
    "asked",
    [
        "q=bed&since=never",
        "q=bed&model=nobody",
        "q=bed&kind=x",
        "q=bed&tier=x",
        "q=bed&page=0",
        "q=-bed",
        "q=bed&page=9999999",
    ],
)
def test_what_can_t_be_looked_for_is_said(client: TestClient, asked: str) -> None:
    answer = client.get(f"/recall?{asked}")
    assert answer.status_code in {400, 404}
    assert "Traceback" not in answer.text


def test_days_are_those_of_the_vault_s_zone(place: browsing.Place) -> None:
    with place.open() as memory:
        memory.create_model("night")
        memory.record("Written late.", ["night"], created=memory.time("2026-03-01T23:30:00Z"))
    text = browsing.client(place).get("/").text
    assert "2026-03-02" in text
    assert "2026-03-01 ·" not in text


def test_an_empty_vault_says_what_to_do_next(place: browsing.Place) -> None:
    client = browsing.client(place)
    assert "pyramid model new" in client.get("/").text
    for path in MENU:
        answer = client.get(path)
        assert answer.status_code == 200
        assert 'class="empty"' in answer.text, path
    with place.open() as memory:
        memory.create_model("new")
    assert "pyramid record" in client.get("/model/new").text


def test_a_change_on_disk_shows_at_the_next_load(place: browsing.Place) -> None:
    client = browsing.client(place)
    with place.open() as memory:
        memory.create_model("live")
    path = place.root / "models/live/today.md"
    for text in ("First words.", "Other words."):
        path.write_text(text)
        assert text in client.get("/model/live").text
        assert text in client.get("/file/models/live/today.md").text
    path.unlink()
    assert client.get("/file/models/live/today.md").status_code == 404


def test_long_lists_and_long_texts_have_pages(place: browsing.Place) -> None:
    folder = place.root / "models/many"
    folder.mkdir(parents=True)
    for number in range(120):
        (folder / f"n{number:03}.md").write_text(
            f"---\ncreated: 2026-01-01T00:{number // 60:02}:{number % 60:02}Z\n---\nNote {number}.\n"
        )
    (folder / "book.md").write_text("A sentence of a long book. " * 2_000)
    client = browsing.client(place)
    first = client.get("/model/many/notes").text
    assert "Page 1 of 3" in first
    assert first.count("<article>") == 50
    assert client.get("/model/many/notes?page=3").status_code == 200
    for wrong in ("4", "0", "-1", "x", "9" * 30):
        assert client.get(f"/model/many/notes?page={wrong}").status_code == 404
    book = client.get("/file/models/many/book.md")
    assert "Page 1 of 3" in book.text
    assert len(book.text) < 30_000


def test_a_page_that_takes_long_says_so_and_comes_by_itself(shared: browsing.Place) -> None:
    client = browsing.client(shared, patience=0.0)
    answer = client.get("/verify")
    assert answer.status_code == 202
    assert answer.headers["refresh"] == "2"
    assert "This page asks again by itself" in answer.text


def test_pages_are_made_beside_each_other(shared: browsing.Place) -> None:
    client, answers = browsing.client(shared), list[int]()
    wanted = MENU * 2
    with client:
        threads = [threading.Thread(target=lambda p=p: answers.append(client.get(p).status_code)) for p in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert answers == [200] * len(wanted)


# Confirm


def waiting(client: TestClient) -> list[dict[str, str]]:
    text = client.get("/pending").text
    return [
        dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        for form in re.findall(r"<form class=\"confirm\".*?</form>", text, re.DOTALL)
    ]


def test_confirm_changes_the_one_line_of_the_one_file(place: browsing.Place) -> None:
    browsing.fill(place)
    client = browsing.client(place)
    before = {path: path.read_bytes() for path in place.root.rglob("*") if path.is_file()}
    forms = waiting(client)
    assert len(forms) == 2
    answer = client.post("/confirm", data=forms[0], headers=ORIGIN)
    assert answer.status_code == 303
    assert "confirmed" in client.get(answer.headers["location"]).text
    after = {path: path.read_bytes() for path in place.root.rglob("*") if path.is_file()}
    assert before.keys() == after.keys()
    changed = [path for path in before if before[path] != after[path]]
    assert len(changed) == 1
    lines = set(before[changed[0]].splitlines()) ^ set(after[changed[0]].splitlines())
    assert lines == {b"status: pending", b"status: confirmed"}
    assert len(waiting(client)) == 1


def test_a_stale_confirm_changes_nothing_and_says_so(place: browsing.Place) -> None:
    browsing.fill(place)
    client = browsing.client(place)
    form = waiting(client)[0]
    path = place.root / unquote(form["file"])
    path.write_text(path.read_text() + "And something that nobody has seen.\n")
    before = path.read_bytes()
    answer = client.post("/confirm", data=form, headers=ORIGIN)
    assert answer.status_code == 409
    assert "changed since it was shown" in answer.text
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("headers", "change", "status"),
    [
        ({}, {}, 403),
        ({"origin": "null"}, {}, 403),
        ({"origin": "http://evil.test"}, {}, 403),
        ({"origin": "http://127.0.0.1:9999"}, {}, 403),
        ({"origin": "https://127.0.0.1:8932"}, {}, 403),
        ({**ORIGIN, "sec-fetch-site": "cross-site"}, {}, 403),
        (ORIGIN, {"token": ""}, 403),
        (ORIGIN, {"token": "é" * 43}, 403),
        (ORIGIN, {"digest": ""}, 409),
        (ORIGIN, {"digest": "0" * 64}, 409),
        (ORIGIN, {"file": ""}, 404),
        (ORIGIN, {"file": "models/garden/linking.md"}, 404),
        (ORIGIN, {"file": "../outside.md"}, 404),
        (ORIGIN, {"file": "entities/../entities/x.md"}, 404),
        (ORIGIN, {"file": "pyramid.toml"}, 404),
        (ORIGIN, {"file": "a\x00b"}, 404),
        (ORIGIN, {"file": "x" * 100_000}, 413),
    ],
)
def test_any_other_form_is_refused(
    client: TestClient, shared: browsing.Place, headers: dict[str, str], change: dict[str, str], status: int
) -> None:
    form = waiting(client)[0] | change
    before = {path: path.read_bytes() for path in shared.root.rglob("*.md")}
    assert client.post("/confirm", data=form, headers=headers).status_code == status
    assert before == {path: path.read_bytes() for path in shared.root.rglob("*.md")}


def test_a_vault_of_a_newer_format_confirms_nothing(place: browsing.Place) -> None:
    browsing.fill(place)
    (place.root / "pyramid.toml").write_text("format = 99\n")
    client = browsing.client(place)
    forms = waiting(client)
    if forms:
        assert client.post("/confirm", data=forms[0], headers=ORIGIN).status_code >= 400


def test_the_page_that_is_shown_is_the_one_that_is_confirmed(place: browsing.Place) -> None:
    browsing.fill(place)
    with place.open() as memory:
        reader = Reader(memory, Served())
        shown = pages.pending(reader, 1, "token").values["records"][0]
        app.confirm(reader, shown.line.path, shown.digest)
        with pytest.raises(RefusedWrite):
            app.confirm(reader, shown.line.path, shown.digest)
        with pytest.raises(NoSuchHandle):
            app.confirm(reader, "models/garden/linking.md", shown.digest)


# Who may ask


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "BREW"])
@pytest.mark.parametrize(
    "path",
    [*MENU, "/model/garden", "/file/twin", "/topic/pergola", "/static/style.css", "/nope", "/confirm/", "//confirm"],
)
def test_nothing_but_looking_is_let_through(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, f"http://{browsing.HOST}{path}", headers=ORIGIN)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_confirm_can_t_be_looked_at(client: TestClient) -> None:
    answer = client.get("/confirm")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "host",
    ["evil.test", "evil.test:8932", "127.0.0.1", "127.0.0.1:80", "localhost:9999", "", "127.0.0.1:8932.evil.test"],
)
def test_another_name_is_not_answered(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "garden" not in answer.text


def test_another_site_s_script_gets_no_answer(client: TestClient) -> None:
    assert client.get("/", headers={"origin": "http://evil.test"}).status_code == 403
    assert client.get("/", headers={"host": "localhost:8932"}).status_code == 200
    assert client.get("/", headers={"host": "[::1]:8932"}).status_code == 200


def test_further_names_are_taken_as_they_are() -> None:
    rules = guard.rules("0.0.0.0", 8932, ["box.local"])
    assert {"box.local", "box.local:8932", "127.0.0.1:8932"} <= rules.hosts
    assert guard.rules("::1", 1).refusal("GET", "/", {"host": ["[::1]:1"]}) is None


@pytest.mark.parametrize("path", ["/", "/nope", "/static/style.css", "/verify", "/file/nothing"])
def test_every_answer_carries_the_headers(client: TestClient, path: str) -> None:
    for answer in (client.get(path), client.head(path), client.post(path), client.get(path, headers={"host": "x"})):
        for name, value in guard.HEADERS.items():
            assert answer.headers[name] == value
        assert answer.headers.get_list("content-security-policy") == [guard.HEADERS["Content-Security-Policy"]]


def test_no_page_has_a_script_or_a_style_in_it(client: TestClient) -> None:
    for path in [*MENU, "/model/garden", "/file/models/garden/linking.md"]:
        text = client.get(path).text
        assert re.findall(r"<script[^>]*>", text) == ['<script src="/static/browse.js" defer>']
        assert not re.search(r"<style|\sstyle=|\son\w+=", text)


@pytest.mark.parametrize(
    "path",
    [
        "/file/../../../../etc/passwd", "/file/%2e%2e/%2e%2e/etc/passwd", "/file/..%2f..%2fetc%2fpasswd",
        "/file//etc/passwd",
        "/file/models/garden/../../pyramid.toml", "/file/pyramid.toml", "/file/.gitignore", "/static/../app.py",
        "/static/..%2fapp.py", "/static/%2e%2e%2fapp.py", "/file/models/garden/%00", "/model/%2e%2e%2f",
        "/model/garden/..%2f..", "/model/garden/99999", "/topic/..%2f..%2fetc", "/file/models/garden/secret.md",
        "/file/models%5Cgarden%5Clinking.md%00", "/file/models/garden/hidden/.secret.md", "/nope", "/file/", "/model/",
    ],
)  # fmt: skip
def test_nothing_beside_the_vault_is_shown(place: browsing.Place, path: str) -> None:
    browsing.fill(place)
    outside = place.root.parent / "outside.md"
    outside.write_text("A secret outside.\n")
    (place.root / "models/garden/secret.md").symlink_to(outside)
    (place.root / "models/garden/hidden").symlink_to(place.root.parent)
    answer = browsing.client(place).get(f"http://{browsing.HOST}{path}")
    assert answer.status_code in {404, 400}
    assert "secret outside" not in answer.text
    assert "root:" not in answer.text
    assert "format = 1" not in answer.text
    assert "/" in answer.text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=80)
@given(
    start=st.sampled_from(
        [
            "/",
            "/file/",
            "/model/",
            "/model/garden/",
            "/topic/",
            "/static/",
            "/recall?q=",
            "/recall?q=x&since=",
            "/recall?q=x&tier=",
            "/sessions?page=",
            "/pending?page=",
        ]
    ),
    rest=st.text(
        alphabet=st.one_of(
            st.sampled_from("./\\%00?#&=:;|[]<>\"'~$ \x00\u202e\ud800é"), st.characters(max_codepoint=0x2FFFF)
        ),
        max_size=30,
    ),
    kept=st.sampled_from(["", "/.?&=%:;"]),
)
def test_no_address_breaks_the_server(client: TestClient, start: str, rest: str, kept: str) -> None:
    spelled = quote(rest.encode("utf-8", "surrogatepass"), safe=kept)
    answer = client.get(f"http://{browsing.HOST}{start}{spelled}")
    assert answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text


def test_an_address_without_end_is_not_read(client: TestClient) -> None:
    assert client.get(f"/recall?q={'a' * 20_000}").status_code == 414


# Texts that mean harm


@pytest.mark.slow
def test_no_page_of_a_hostile_vault_holds_a_tag_of_it(place: browsing.Place) -> None:
    browsing.fill_hostile(place)
    seen = walk(browsing.client(place), most=400)
    assert len(seen) > 150
    for address, answer in seen.items():
        if "text/html" not in answer.headers["content-type"] or "%25" in address:  # this client reads those twice
            continue
        assert answer.status_code == 200, address
        assert re.findall(r"<script[^>]*>", answer.text) == ['<script src="/static/browse.js" defer>'], address
        assert not re.search(
            r"<(?:img|iframe|base|style|object|embed|link rel=\"stylesheet\" href=\"http)", answer.text
        ), address
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08]", answer.text), address
        assert len(answer.text) < 1_000_000, address
        for link in links(answer.text):
            assert urlsplit(link).scheme in {"", "http", "https", "mailto", "obsidian", "file"}, (address, link)


# Starting


def test_another_machine_s_address_must_be_asked_for(place: browsing.Place, capsys: pytest.CaptureFixture[str]) -> None:
    from pyramid_fs import cli, loopback

    assert cli.run(["--vault", str(place.root), "browse", "--host", "0.0.0.0"]) == 2
    assert "--allow-remote" in capsys.readouterr().err
    loopback.check("0.0.0.0", allow_remote=True)
    loopback.check("::1", allow_remote=False)
    taken = loopback.listen("127.0.0.1", 0)
    with taken, pytest.raises(UsageError, match="name another --port"):
        loopback.listen("127.0.0.1", int(taken.getsockname()[1]))


def test_without_the_extra_one_line_says_what_to_install(place: browsing.Place, tmp_path: Path) -> None:
    hide = (
        "import importlib.util as u, sys; find = u.find_spec; "
        "u.find_spec = lambda name, *a: None if name == 'nh3' else find(name, *a); "
        "from pyramid_fs.cli import main; main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", hide, "--vault", str(place.root), "browse"],
        capture_output=True, text=True, check=False, env=browsing.environment(tmp_path), timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "pyramid: the pages need the extra `browser`: pip install 'pyramid-fs[browser]'"
    ]


def test_no_other_verb_imports_what_draws_the_pages(place: browsing.Place, tmp_path: Path) -> None:
    code = (
        "import sys; from pyramid_fs.cli import run; run(['--vault', sys.argv[1], 'map']); run(['--help']); "
        "print([n for n in ('starlette', 'jinja2', 'markdown_it', 'nh3', 'uvicorn') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(place.root)],
        capture_output=True, text=True, check=True, env=browsing.environment(tmp_path), timeout=60,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_file_whose_name_is_no_utf8_has_no_page_and_breaks_none(place: browsing.Place) -> None:
    folder = place.root / "models/odd"
    folder.mkdir(parents=True)
    try:
        (Path(str(folder)) / "b\udce9b\udce9.md").write_text("Oddly named.\n")
    except (OSError, UnicodeError):
        pytest.skip("this disk holds no such name")
    client = browsing.client(place)
    for path in ("/", "/model/odd", "/model/odd/notes", "/doctor", "/status"):
        assert client.get(path).status_code == 200


def test_a_page_that_nobody_came_for_is_made_again(place: browsing.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    browsing.fill(place)
    monkeypatch.setattr(app, "FRESH", -1.0)
    browser = app.Browser(place.root, patience=0.0)
    client = browsing.client(place, 0.0, browser)
    assert client.get("/model/empty").status_code == 202
    made = next(iter(browser._making.values()))
    assert b"21 notes" not in bytes(made.result(60).response.body)
    assert client.get("/model/empty").status_code in {200, 202}  # on a busy machine it is there before it is asked for
    assert made not in browser._making.values()


def test_where_many_pages_are_being_made_a_further_one_waits(
    shared: browsing.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "KEPT", 0)
    answer = browsing.client(shared).get("/")
    assert (answer.status_code, answer.headers["refresh"]) == (503, "2")

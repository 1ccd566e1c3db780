from __future__ import annotations

import hashlib
import os
import posixpath
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import browsing
import pytest
from test_browser import links

from pyramid_fs import cli
from pyramid_fs.browser import site
from pyramid_fs.browser.addresses import Exported, Served, file_name
from pyramid_fs.errors import RefusedWrite

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        place = browsing.made(tmp_path_factory.mktemp("full"), patch)
        browsing.fill(place)
        yield place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> browsing.Place:
    return browsing.made(tmp_path, monkeypatch)


def exported(place: browsing.Place, folder: Path) -> dict[str, str]:
    """Export a site; give its pages by their paths."""
    with place.open() as memory:
        site.export(memory, folder)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.html")}


def broken(pages: dict[str, str], folder: Path) -> list[tuple[str, str]]:
    found = []
    for name, text in pages.items():
        for link in links(text):
            parts = urlsplit(link)
            if parts.scheme in {"http", "https", "mailto"} or not parts.path:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            if parts.scheme or target.startswith("..") or not (folder / target).is_file():
                found.append((name, link))
    return found


def test_every_link_of_a_site_leads_to_a_file_of_it(full: browsing.Place, tmp_path: Path) -> None:
    pages = exported(full, tmp_path / "site")
    assert len(pages) > 50
    assert broken(pages, tmp_path / "site") == []


def test_every_summary_links_to_its_sources(full: browsing.Place, tmp_path: Path) -> None:
    pages = exported(full, tmp_path / "site")
    with full.open() as memory:
        state = memory.census.fresh("garden").state
    at = Exported(1)
    for handle, summary in state.active.items():
        text = pages[Exported().file(summary.path)]
        for place in state.sources[handle]:
            path = state.active[place].path if summary.tier else place
            assert f'href="{at.file(path)}"' in text


def test_a_site_needs_no_server_and_names_no_folder_of_this_machine(full: browsing.Place, tmp_path: Path) -> None:
    for text in exported(full, tmp_path / "site").values():
        assert not re.search(r"<script|<form|obsidian:|file:|href=\"/", text)
        assert str(full.root) not in text


@pytest.mark.slow
def test_a_hostile_vault_s_site_holds_no_tag_of_it(place: browsing.Place, tmp_path: Path) -> None:
    browsing.fill_hostile(place)
    pages = exported(place, tmp_path / "site")
    assert broken(pages, tmp_path / "site") == []
    for name, text in pages.items():
        assert not re.search(r"<(?:script|img|iframe|base|style)\b", text), name
        assert re.fullmatch(r"[a-z0-9./-]+", name)
    assert not (tmp_path / "dm.exe").exists()


def test_exported_again_a_site_is_the_vault_as_it_is_now(place: browsing.Place, tmp_path: Path) -> None:
    folder = place.root / "models/notes"
    folder.mkdir(parents=True)
    (folder / "one.md").write_text("One.\n")
    (folder / "two.md").write_text("Two.\n")
    before = exported(place, tmp_path / "site")
    (folder / "two.md").unlink()
    after = exported(place, tmp_path / "site")
    assert before.keys() - after.keys() == {Exported().file("models/notes/two.md")}


@pytest.mark.slow
def test_the_same_vault_gives_the_same_site(full: browsing.Place, tmp_path: Path) -> None:
    assert exported(full, tmp_path / "a") == exported(full, tmp_path / "b")


def test_a_folder_that_it_did_not_make_is_refused(full: browsing.Place, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "index.html").write_text("Mine.")
    with full.open() as memory:
        for folder, why in (
            (mine, "not empty"),
            (mine / "index.html", "is no folder"),
            (full.root, "lie in each other"),
            (full.root / "models/site", "lie in each other"),
            (full.root.parent, "lie in each other"),
        ):
            with pytest.raises(RefusedWrite, match=why):
                site.export(memory, folder)
        site.export(memory, tmp_path / "site")
        (tmp_path / "site/file/mine.txt").write_text("Mine.")
        with pytest.raises(RefusedWrite, match=r"mine\.txt"):
            site.export(memory, tmp_path / "site")
    assert (mine / "index.html").read_text() == "Mine."
    assert list(mine.iterdir()) == [mine / "index.html"]


def test_the_verb_says_where_the_pages_are(
    full: browsing.Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["--vault", str(full.root), "export", "site", str(tmp_path / "site")]) == 0
    assert "index.html" in capsys.readouterr().out
    assert (tmp_path / "site/index.html").is_file()


@pytest.mark.parametrize(
    "name", ["con", "CON", "nul-x", "..", "", "a/b", "Ünïcode", "x" * 300, "a.b", "-a", "<script>"]
)
def test_names_of_files_are_legal_everywhere(name: str) -> None:
    assert re.fullmatch(r"x\.[0-9a-f]{10}", file_name(name))
    mark = hashlib.sha256(b"models/a/beans.md").hexdigest()[:10]
    assert Exported().file("models/a/beans.md") == f"file/beans.{mark}.html"


def test_addresses_on_the_server_hold_any_name() -> None:
    at = Served()
    assert at.file('models/a/x?#%".md') == "/file/models/a/x%3F%23%25%22.md"
    assert at.file("models/a/\udce9.md") == ""
    assert at.model("a/b", "tail", 2) == "/model/a%2Fb/tail?page=2"
    assert at.page("recall", q="a b", kind="") == "/recall?q=a+b"
    assert os.sep

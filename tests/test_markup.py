from __future__ import annotations

import re
from html.parser import HTMLParser

import browsing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_fs.browser import markup
from pyramid_fs.browser.markup import Target

SAFE = re.compile(r"(https?://|mailto:|/file/)")
ALLOWED = {"a", "bdi", "blockquote", "br", "code", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
           "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}  # fmt: skip


class Tags(HTMLParser):
    """Holds every tag of a page against what a text may come to."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED
        for name, value in attrs:
            assert name in {"href", "class", "title", "rel", "dir", "start"}, name
            assert name != "href" or SAFE.match(value or ""), value


def resolve(link: str) -> Target:
    return Target(f"/file/{link.encode().hex()}", text=lambda: f"Text of {link}")


def shown(text: str, heading: int = 4) -> str:
    made = str(markup.html(text, resolve, heading))
    Tags().feed(made)
    return made


@pytest.mark.parametrize("name", [name for name in browsing.HOSTILE if name != "long-line"])
def test_no_payload_comes_through(name: str) -> None:
    made = shown(browsing.HOSTILE[name][:20_000])
    assert "<script" not in made
    assert "<img" not in made
    assert "\u202e" not in made


@given(st.text(alphabet=st.sampled_from("<>[]()!\"'`*_#|-:/&;\\ \n\tabjs\u202e\x00"), max_size=80))
def test_whatever_is_written_only_allowed_tags_and_links_come_out(text: str) -> None:
    shown(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[beans]]", ">beans</a>"),
        ("[[beans|the long ones]]", ">the long ones</a>"),
        ("[x](notes/beans.md)", f'href="/file/{b"notes/beans.md".hex()}"'),
        ("[x](../my%20beans.md#top)", f'href="/file/{b"my beans.md".hex()}"'),
        ("[x](https://example.test/)", 'href="https://example.test/"'),
        ("[x](mailto:a@example.test)", 'href="mailto:a@example.test"'),
        ("~~gone~~", "<s>gone</s>"),
    ],
)
def test_links_lead_to_the_web_and_to_the_vault(text: str, expected: str) -> None:
    assert expected in shown(text)


@pytest.mark.parametrize(
    "href",
    [
        "javascript:x",
        "file:///etc/passwd",
        "data:text/html,x",
        "vbscript:x",
        "//host/x",
        "/etc/passwd",
        "ftp://a/b",
        "obsidian://open",
    ],
)
def test_other_links_lead_nowhere_and_say_so(href: str) -> None:
    made = shown(f"[x](<{href}>)")
    assert "href" not in made
    assert 'class="nowhere"' in made
    assert "leads nowhere" in made


def test_a_link_that_means_nothing_says_why() -> None:
    made = str(markup.html("[[gone]]", lambda _: Target(why="there is no file of this name")))
    assert '<a class="nowhere" title="there is no file of this name"' in made


def test_an_image_is_a_link_and_an_embed_shows_the_note() -> None:
    assert 'href="https://example.test/a.png"' in shown("![a drawing](https://example.test/a.png)")
    assert "Text of beans" in shown("![[beans]]")
    assert "Text of beans" not in shown("As ![[beans]] says.")


def test_headings_begin_below_the_page_s_own() -> None:
    assert re.findall(r"<(h\d)", shown("# a\n\n### b\n\n# c\n")) == ["h4", "h5", "h4"]
    assert re.findall(r"<(h\d)", shown("# a\n\n###### b\n", 2)) == ["h2", "h3"]


def test_signs_that_hide_are_shown_and_flags_are_left() -> None:
    assert markup.seen("a\u202eb\x07\u200bc") == "a⟨U+202E⟩b⟨U+0007⟩⟨U+200B⟩c"
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    assert markup.seen(flag) == flag
    assert markup.seen("\U000e0041") == "⟨U+E0041⟩"
    assert 'dir="auto"' in shown("שלום")


def test_words_of_a_query_are_marked_and_nothing_else() -> None:
    made = str(markup.marked("Beds were <b>dug</b>, and a bed was sown.", "bed"))
    assert made == "<mark>Beds</mark> were &lt;b&gt;dug&lt;/b&gt;, and a <mark>bed</mark> was sown."

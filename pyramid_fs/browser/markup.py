"""The vault's texts as HTML that can do nothing: no raw HTML, few kinds of link, signs that hide made seen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from pyramid_fs import links, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping, Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

SCHEMES = frozenset({"http", "https", "mailto"})
"""Where a link of a text may lead, besides the vault."""
HEADING = 4
"""The highest heading of a text in a list: those of the page and the entry stand above it."""
DEEPEST = 40
"""Nesting of quotes and lists that is followed; markdown of a hostile hand nests deeper than any reader."""

_HIDDEN = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)"  # a region's flag is spelled with letters that are not seen
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_UP = re.compile(r"^(\.{1,2}/)+")
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]{1,1000})\]\]")
_TAGS = {"a", "bdi", "blockquote", "br", "code", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
         "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}  # fmt: skip
_KEPT = {"a": {"href", "class", "title"}, "span": {"class"}, "blockquote": {"class"}, "ol": {"start"}, "p": {"dir"}}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link between files leads."""

    href: str = ""
    """Empty where it leads nowhere."""
    why: str = ""
    """Said of a link that leads nowhere, or to several."""
    text: Callable[[], str] = str
    """Reads the note, for an embed."""


Resolve: TypeAlias = "Callable[[str], Target]"
"""Finds what a link between files means."""


def seen(text: str) -> str:
    r"""Show the signs of a text that no reader sees: control characters, overrides of direction, hidden letters.

    >>> seen("ab\u202ecd")
    'ab⟨U+202E⟩cd'
    """
    return _HIDDEN.sub(lambda found: found[1] or f"⟨U+{ord(found[0]):04X}⟩", text)


def html(text: str, resolve: Resolve, heading: int = HEADING) -> Markup:
    """Render a text of the vault; whatever it holds, what comes out can load and run nothing."""
    made = _markdown().render(seen(text.replace("\r\n", "\n")), {"resolve": resolve, "heading": heading})
    clean = nh3.clean(made, tags=_TAGS, attributes=_KEPT, url_schemes=set(SCHEMES), link_rel="noopener noreferrer")
    return Markup(clean)  # noqa: S704  (cleaned above, of an allowlist)


def plain(text: str) -> Markup:
    """Show a text as it is typed, without its markdown."""
    return Markup('<pre dir="auto">{}</pre>').format(seen(text))


def marked(text: str, query: str) -> Markup:
    """Show a fragment with the words of a query marked in it."""
    wanted = {term for terms in words.asked(query) for term in terms[:1]}
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if is_hit else escape(piece)
        for piece, is_hit in _pieces(seen(text), wanted)
    )


def _pieces(text: str, wanted: set[str]) -> Iterator[tuple[str, bool]]:
    at = 0
    for start, end, terms in words.spans(text):
        if wanted.isdisjoint(terms):
            continue
        yield text[at:start], False
        yield text[start:end], True
        at = end
    yield text[at:], False


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    made.inline.ruler.before("link", "wikilink", _read_wikilink)
    made.core.ruler.push("lowered", _lower_headings)
    made.core.ruler.push("embedded", _open_embeds)
    for name, rule in (("link_open", _link_open), ("image", _image), ("wikilink", _wikilink), ("embed", _embed),
                       ("paragraph_open", _directed), ("fence", _fence)):  # fmt: skip
        made.add_render_rule(name, rule)
    made.validateLink = lambda _: True  # type: ignore[method-assign,assignment]  # every link is made; `_link_open` says where it leads
    return made


def _read_wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  (markdown-it's own signature)
    found = _WIKI.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content, token.markup = found[2], found[1]
    state.pos = found.end()
    return True


def _lower_headings(state: StateCore) -> None:
    """Give a text's headings the levels below the page's own, without a gap."""
    top = state.env["heading"]
    levels = sorted({token.tag for token in state.tokens if token.type == "heading_open"})
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, top + levels.index(token.tag))}"


def _open_embeds(state: StateCore) -> None:
    """Let a paragraph that is one embed, and nothing else, show the note's text."""
    tokens = state.tokens
    for at, token in enumerate(tokens):
        children = token.children or []
        if token.type == "inline" and len(children) == 1 and children[0].type == "wikilink" and children[0].markup:
            children[0].type = "embed"
            tokens[at - 1].hidden = tokens[at + 1].hidden = True


def _link_open(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    token = tokens[at]
    href = str(token.attrGet("href") or "")
    target = _lead(href, env["resolve"])
    token.attrs = {"href": target.href} if target.href else {}
    token.attrSet("class", "out" if target.href and _scheme(href) else "wiki" if target.href else "nowhere")
    if target.why:
        token.attrSet("title", target.why)
    return str(renderer.renderToken(tokens, at, options, env))


def _scheme(href: str) -> str:
    try:
        return urlsplit(href.strip()).scheme.lower()
    except ValueError:
        return "?"


def _lead(href: str, resolve: Resolve) -> Target:
    """Say where a link of markdown leads: out by a scheme that is allowed, or to a file of the vault."""
    scheme = _scheme(href)
    if scheme in SCHEMES:
        return Target(href)
    if scheme or href.startswith(("/", "\\", "#", "?")):
        return Target(why=f"a link that leads nowhere from here: {href[:80]}")
    return resolve(_UP.sub("", unquote(href.split("#", maxsplit=1)[0])))


def _image(_: RendererHTML, tokens: Sequence[Token], at: int, __: Any, ___: MutableMapping[str, Any]) -> str:
    """Show an image as a link: nothing is loaded from anywhere."""
    token = tokens[at]
    src, alt = str(token.attrGet("src") or ""), token.content
    label = f"image: {alt or src[:80]}"
    target = Target(src) if _scheme(src) in SCHEMES else Target(why="images are not shown here")
    return _anchor(target, label, "out")


def _wikilink(_: RendererHTML, tokens: Sequence[Token], at: int, __: Any, env: MutableMapping[str, Any]) -> str:
    inner = tokens[at].content
    label = inner.rpartition("|")[2]
    return _anchor(env["resolve"](_target(inner)), f"↪ {label}" if tokens[at].markup else label, "wiki")


def _target(inner: str) -> str:
    return links.target(f"[[{inner}]]")


def _embed(_: RendererHTML, tokens: Sequence[Token], at: int, __: Any, env: MutableMapping[str, Any]) -> str:
    inner = tokens[at].content
    target: Target = env["resolve"](_target(inner))
    head = f"<p>{_anchor(target, f'↪ {inner}', 'wiki')}</p>"
    text = target.text()
    body = f'<p dir="auto">{escape(seen(text))}</p>' if text else ""
    return f'<blockquote class="embed">{head}{body}</blockquote>'


def _anchor(target: Target, label: str, kind: str) -> str:
    title = f' title="{escape(target.why)}"' if target.why else ""
    href = f' href="{escape(target.href)}"' if target.href else ""
    return f'<a class="{kind if target.href else "nowhere"}"{href}{title}>{escape(label)}</a>'


def _directed(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    """Let each paragraph run in its own direction, so that none turns another round."""
    tokens[at].attrSet("dir", "auto")
    return str(renderer.renderToken(tokens, at, options, env))


def _fence(_: RendererHTML, tokens: Sequence[Token], at: int, __: Any, ___: MutableMapping[str, Any]) -> str:
    return f"<pre><code>{escape(tokens[at].content)}</code></pre>\n"

"""Help pages from a fixed list of Markdown files, cached and split at their headings."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import nh3
from django.conf import settings
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from crux_site.help.former_anchors import FORMER_ANCHORS, former_anchor_of_link

INDEX = "index"
INTRODUCTION = "introduction"
OUTSIDE = {
    INTRODUCTION: "README.md",
    "measurements": "bench/README.md",
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
}
# Pages that list what is in a folder, in place of the folder itself.
LISTS = {"docs/papers": "Papers and their reproduction", "docs/decisions": "Decisions"}
IMAGES = "docs/images"
PICTURES = {".png": "image/png", ".gif": "image/gif"}

_MARKDOWN = MarkdownIt("commonmark").enable("table")
_ATTRIBUTES = {
    "*": {"id"},
    "a": {"href", "rel"},
    "img": {"src", "alt", "loading"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "pre": {"tabindex"},
    "ol": {"start"},
}


class Section(NamedTuple):
    """Heading of a doc with the HTML below it, and its plain text, a line for each block."""

    anchor: str
    title: str
    level: int
    html: SafeString
    text: str


@dataclass(frozen=True)
class Doc:
    name: str
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return self.sections[0].title

    @property
    def url(self) -> str:
        return _url(self.name)

    @property
    def contents(self) -> list[Section]:
        return [section for section in self.sections if section.level in (2, 3)]

    @cached_property
    def by_anchor(self) -> dict[str, Section]:
        return {section.anchor: section for section in self.sections}


@cache
def paths() -> dict[str, str]:
    """Return the path of each page, a file or a folder, by page name, in search order."""
    docs = settings.BASE_DIR / "docs"
    files = sorted(docs.glob("*.md"))
    for folder in ("files", "papers", "deploy", "decisions"):
        files += sorted((docs / folder).glob("*.md"))
    pages = {
        str(file.relative_to(docs).with_suffix("")): f"docs/{file.relative_to(docs)}"
        for file in files
    }
    pages = {INDEX if name == "README" else name: path for name, path in pages.items()}
    outside = {name: path for name, path in OUTSIDE.items() if (settings.BASE_DIR / path).is_file()}
    return pages | {Path(folder).name: folder for folder in LISTS} | outside


@cache
def _names() -> dict[str, str]:
    return {path: name for name, path in paths().items()}


def decision_of(name: str) -> str:
    """Return the page of the decision with this number; empty if there is none."""
    number = re.match(r"decisions/\d{4}-", name)
    return next((page for page in paths() if number and page.startswith(number[0])), "")


@cache
def images() -> dict[str, Path]:
    """Return the pictures of the docs by name, animated ones too."""
    paths = sorted((settings.BASE_DIR / IMAGES).iterdir())
    return {path.name: path for path in paths if path.suffix in PICTURES}


@cache
def doc(name: str) -> Doc:
    """Return the page of this name. Raises KeyError."""
    path = paths()[name]
    return Doc(name, tuple(_sections(_MARKDOWN.parse(_source(path)), path)))


def address(link: str, path: str) -> str:
    """Return the URL that a link in a file leads to; empty if it is no page, as with code."""
    if re.match(r"https?:", link):
        return link
    target, _, anchor = link.partition("#")
    target_path = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
    target_path = target_path if target else path
    anchor = anchor and f"#{anchor}"
    if posixpath.dirname(target_path) == IMAGES and posixpath.basename(target_path) in images():
        return reverse("help_image", args=[posixpath.basename(target_path)])
    return f"{_url(_names()[target_path])}{anchor}" if target_path in _names() else ""


def _url(name: str) -> str:
    return reverse("help") if name == INDEX else reverse("help_page", args=[name])


def _source(path: str) -> str:
    """Return the Markdown of a file, or the list of a folder."""
    if path not in LISTS:
        return (settings.BASE_DIR / path).read_text(encoding="utf-8")
    listed = [f"# {LISTS[path]}", ""]
    for file in sorted((settings.BASE_DIR / path).glob("*.md")):
        first = file.read_text(encoding="utf-8").partition("\n")[0]
        listed.append(f"- [{first.removeprefix('# ')}]({Path(path).name}/{file.name})")
    return "\n".join(listed)


def _sections(tokens: Sequence[Token], path: str) -> Iterator[Section]:
    heads = [
        n for n, token in enumerate(tokens) if token.type == "heading_open" and not token.level
    ]
    n_by_anchor: dict[str, int] = {}
    for begin, end in zip(heads, [*heads[1:], len(tokens)], strict=True):
        head, inline, _, *below = tokens[begin:end]
        title = _plain_text([inline])
        anchor = _anchor(inline.content, n_by_anchor)
        head.attrSet("id", anchor)
        rendered = [*tokens[begin : begin + 3], *_rendered(below, path, title)]
        _resolve_links(inline, path)
        if former := FORMER_ANCHORS.get(path, {}).get(anchor):
            mark = Token("html_inline", "", 0, content=f'<a id="{former}"></a>')
            inline.children = [mark, *(inline.children or ())]
        html = _MARKDOWN.renderer.render(rendered, _MARKDOWN.options, {})
        html = nh3.clean(html, attributes=_ATTRIBUTES, link_rel=None)
        yield Section(anchor, title, int(head.tag[1:]), mark_safe(html), _plain_text(below))  # noqa: S308 - cleaned


def _anchor(heading: str, n_by_anchor: dict[str, int]) -> str:
    """Return the anchor that GitHub gives a heading, so that a link works in both places."""
    anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
    n = n_by_anchor[anchor] = n_by_anchor.get(anchor, -1) + 1
    return f"{anchor}-{n}" if n else anchor


def _plain_text(tokens: Sequence[Token]) -> str:
    """Return the plain text of tokens, a line for each block, cell and list item."""
    blocks = []
    for token in tokens:
        if token.type == "inline":
            parts = (
                " " if part.type == "softbreak" else part.content for part in token.children or ()
            )
            blocks.append("".join(part for part in parts if not part.startswith("<")))
        elif token.type in ("code_block", "fence"):
            blocks.append(token.content)
    return "\n".join(blocks)


def _rendered(tokens: Sequence[Token], path: str, title: str) -> list[Token]:
    """Return the tokens to render: links resolved, wide blocks scrollable by keyboard."""
    rendered: list[Token] = []
    n_tables = 0
    for before, token in enumerate(tokens):
        if token.type == "table_open":
            n_tables += 1
            label = escape(f"{title}, table {n_tables}" if n_tables > 1 else f"{title}, table")
            rendered.append(
                _html(f'<div class="scroller" tabindex="0" role="region" aria-label="{label}">')
            )
        elif token.type == "th_open" and not tokens[before + 1].content:
            token.tag = tokens[before + 2].tag = "td"  # a head without words is none
        elif token.type == "code_block":
            token.attrSet("tabindex", "0")
        elif token.type == "inline":
            _resolve_links(token, path)
        rendered.append(token)
        if token.type == "table_close":
            rendered.append(_html("</div>"))
    return rendered


def _html(html: str) -> Token:
    return Token("html_block", "", 0, content=html)


def _resolve_links(inline: Token, path: str) -> None:
    """Resolve links and pictures to URLs of the site; a dead link keeps its text alone."""
    children: list[Token] = []
    is_link = False
    for token in inline.children or ():
        if token.type == "link_open":
            href = str(token.attrs["href"])
            link = address(href, path)
            is_link = bool(link)
            if anchor := former_anchor_of_link(path, href):
                token.attrSet("id", anchor)
            token.attrSet("href", link)
            if link.startswith("http"):
                token.attrSet("rel", "noopener noreferrer")
        elif token.type == "image":
            token.attrSet("src", address(str(token.attrs["src"]), path))
            token.attrSet("loading", "lazy")
        if is_link or token.type not in ("link_open", "link_close"):
            children.append(token)
    inline.children = children

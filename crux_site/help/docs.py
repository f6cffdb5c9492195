"""The docs as pages of the site: Markdown files of a fixed list, read once, cut at their headings."""

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

INDEX = "index"
INTRODUCTION = "introduction"
OUTSIDE = {
    INTRODUCTION: "README.md",
    "measurements": "bench/README.md",
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
}
# Pages that list what is in a folder, in place of the folder itself.
LISTS = {"docs/papers": "Papers, and what of them is reproduced", "docs/decisions": "Decisions"}
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
    """A heading and what is below it, as far as the next one. `words` are the latter, a line for each block."""

    anchor: str
    title: str
    level: int
    html: SafeString
    words: str


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
    """The file or folder of each page, from the root, by the name of the page; in the order of a search."""
    docs = settings.BASE_DIR / "docs"
    files = sorted(docs.glob("*.md"))
    for folder in ("papers", "deploy", "decisions"):
        files += sorted((docs / folder).glob("*.md"))
    named = {
        str(file.relative_to(docs).with_suffix("")): f"docs/{file.relative_to(docs)}"
        for file in files
    }
    named = {INDEX if name == "README" else name: path for name, path in named.items()}
    beside = {name: path for name, path in OUTSIDE.items() if (settings.BASE_DIR / path).is_file()}
    return named | {Path(folder).name: folder for folder in LISTS} | beside


@cache
def _names() -> dict[str, str]:
    return {path: name for name, path in paths().items()}


@cache
def images() -> dict[str, Path]:
    """The pictures of the docs, by name; those that move, too."""
    paths = sorted((settings.BASE_DIR / IMAGES).iterdir())
    return {path.name: path for path in paths if path.suffix in PICTURES}


@cache
def doc(name: str) -> Doc:
    """The page of this name. Raises KeyError where there is none."""
    path = paths()[name]
    return Doc(name, tuple(_sections(_MARKDOWN.parse(_source(path)), path)))


def address(link: str, path: str) -> str:
    """Where a link in a file leads on the site; nothing where it leads to no page, as to a file of code."""
    if re.match(r"https?:", link):
        return link
    target, _, anchor = link.partition("#")
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
    whole = whole if target else path
    anchor = anchor and f"#{anchor}"
    if posixpath.dirname(whole) == IMAGES and posixpath.basename(whole) in images():
        return reverse("help_image", args=[posixpath.basename(whole)])
    return f"{_url(_names()[whole])}{anchor}" if whole in _names() else ""


def _url(name: str) -> str:
    return reverse("help") if name == INDEX else reverse("help_page", args=[name])


def _source(path: str) -> str:
    """The Markdown of a file, or of the list of a folder."""
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
    taken: dict[str, int] = {}
    for begin, end in zip(heads, [*heads[1:], len(tokens)], strict=True):
        head, inline, _, *below = tokens[begin:end]
        title = _words([inline])
        anchor = _anchor(inline.content, taken)
        head.attrSet("id", anchor)
        shown = [*tokens[begin : begin + 3], *_shown(below, path, title)]
        _link(inline, path)
        html = _MARKDOWN.renderer.render(shown, _MARKDOWN.options, {})
        html = nh3.clean(html, attributes=_ATTRIBUTES, link_rel=None)
        yield Section(anchor, title, int(head.tag[1:]), mark_safe(html), _words(below))  # noqa: S308 - cleaned


def _anchor(heading: str, taken: dict[str, int]) -> str:
    """What GitHub calls a heading, so that one link holds in both places."""
    anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
    n = taken[anchor] = taken.get(anchor, -1) + 1
    return f"{anchor}-{n}" if n else anchor


def _words(tokens: Sequence[Token]) -> str:
    """What is read, a line for each block, a cell or an item being one."""
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


def _shown(tokens: Sequence[Token], path: str, title: str) -> list[Token]:
    """The tokens as the site prints them: with its links, and what is wide scrolls by keys too."""
    shown: list[Token] = []
    n_tables = 0
    for before, token in enumerate(tokens):
        if token.type == "table_open":
            n_tables += 1
            label = escape(f"{title}, table {n_tables}" if n_tables > 1 else f"{title}, table")
            shown.append(
                _html(f'<div class="scroller" tabindex="0" role="region" aria-label="{label}">')
            )
        elif token.type == "th_open" and not tokens[before + 1].content:
            token.tag = tokens[before + 2].tag = "td"  # a head without words is none
        elif token.type == "code_block":
            token.attrSet("tabindex", "0")
        elif token.type == "inline":
            _link(token, path)
        shown.append(token)
        if token.type == "table_close":
            shown.append(_html("</div>"))
    return shown


def _html(words: str) -> Token:
    return Token("html_block", "", 0, content=words)


def _link(inline: Token, path: str) -> None:
    """Let links and pictures lead to the site's own addresses; of what leads nowhere the words stay."""
    kept: list[Token] = []
    is_link = False
    for token in inline.children or ():
        if token.type == "link_open":
            link = address(str(token.attrs["href"]), path)
            is_link = bool(link)
            token.attrSet("href", link)
            if link.startswith("http"):
                token.attrSet("rel", "noopener noreferrer")
        elif token.type == "image":
            token.attrSet("src", address(str(token.attrs["src"]), path))
            token.attrSet("loading", "lazy")
        if is_link or token.type not in ("link_open", "link_close"):
            kept.append(token)
    inline.children = kept

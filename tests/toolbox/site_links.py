"""Links of pages, followed from page to page: a sample of each kind."""

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from django.test import Client
from django.urls import resolve

from tests.toolbox.samples import ALL_CASES

SAMPLE = 10 if ALL_CASES else 1  # links to one view, beside the first with each parameter


class Links(HTMLParser):
    """Parser of the targets of links, forms and fragments of a page; no images or assets."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.closed = 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "a":
            self.closed += "href" not in values
            self.found += [(tag, values["href"])] if "href" in values else []
        if tag == "form":
            self.found += [(values.get("method", "get").lower(), values.get("action", ""))]
        self.found += [(tag, values[name]) for name in ("hx-get", "formaction") if name in values]


@dataclass
class Crawl:
    """Result of a crawl: status by address, pages, number of closed links, posts."""

    codes: dict[str, int] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    closed: int = 0
    posts: set[tuple[str, str]] = field(default_factory=set)  # a page, and what it posts to


def kinds_of(address: str) -> list[tuple[str, str]]:
    """The view of an address, alone and with each of its parameters."""
    parts = urlsplit(address)
    view = resolve(parts.path).route
    return [(view, ""), *sorted({(view, name) for name, _ in parse_qsl(parts.query)})]


def crawl(client: Client, start: str) -> Crawl:
    """Follow the links of a page and of those that it leads to, a sample of each kind."""
    visited = Crawl()
    kinds: Counter[tuple[str, str]] = Counter()
    todo = [start]
    while todo:
        address = todo.pop(0)
        answer = client.get(address, follow=True)
        visited.codes[address] = answer.status_code
        if not answer.get("Content-Type", "").startswith("text/html"):
            continue
        page = visited.pages[address] = answer.content.decode()
        links = Links(page)
        visited.closed += links.closed
        for tag, value in links.found:
            leads_to = urldefrag(urljoin(address, value)).url
            if tag == "post":
                visited.posts.add((address, leads_to))
                continue
            if urlsplit(leads_to).netloc or leads_to.startswith(("/static/", "mailto:")):
                continue
            if leads_to in visited.codes:
                continue
            view, *parameters = kinds_of(leads_to)
            if kinds[view] < SAMPLE or not all(kinds[parameter] for parameter in parameters):
                kinds.update([view, *parameters])
                visited.codes[leads_to] = 0
                todo.append(leads_to)
    return visited

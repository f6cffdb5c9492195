"""Links on the pages of a reader by shared link lead to pages that they may open."""

from collections import Counter
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve

from annotation.models import Membership, SharedLink, User
from crux_site.projects.visitor_links import close_links
from tests.crux_site.projects.shared import DATASET, make_shared_world, share, visitor
from tests.crux_site.projects.site_addresses import World, client_of

MAKER = "zqmaker"
SAMPLE = 2  # links to one view that are followed, beside the first with each parameter


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    def make() -> World:
        world = make_shared_world()
        maker = User.objects.create_user(MAKER, role="researcher", first_name="Zqfirst")
        Membership.objects.create(project=world.dataset.project, user=maker, role="owner")
        return world

    return shared_world(make)


@pytest.fixture
def maker(_world, db) -> Client:
    return client_of(MAKER)


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


def kinds_of(address: str) -> list[tuple[str, str]]:
    """The view of an address, alone and with each of its parameters."""
    parts = urlsplit(address)
    view = resolve(parts.path).url_name or ""
    return [(view, ""), *sorted({(view, name) for name, _ in parse_qsl(parts.query)})]


def crawl(client: Client, start: str) -> tuple[dict[str, int], list[str], int]:
    """Return the status of each address followed, the pages, and the number of closed links."""
    codes: dict[str, int] = {}
    kinds: Counter[tuple[str, str]] = Counter()
    pages, closed, todo = [], 0, [start]
    while todo:
        address = todo.pop(0)
        answer = client.get(address, follow=True)
        codes[address] = answer.status_code
        if not answer.get("Content-Type", "").startswith("text/html"):
            continue
        page = answer.content.decode()
        pages.append(page)
        links = Links(page)
        closed += links.closed
        for tag, value in links.found:
            assert tag != "post", (address, value)
            leads_to = urldefrag(urljoin(address, value)).url
            if urlsplit(leads_to).netloc or leads_to.startswith("/static/") or leads_to in codes:
                continue
            view, *parameters = kinds_of(leads_to)
            if kinds[view] < SAMPLE or not all(kinds[parameter] for parameter in parameters):
                kinds.update([view, *parameters])
                codes[leads_to] = 0
                todo.append(leads_to)
    return codes, pages, closed


@pytest.mark.soak
@pytest.mark.parametrize("with_words", ["on", ""])
def test_visitor_links_resolve(maker, with_words):
    client = visitor(share(maker, **({"with_words": with_words} if with_words else {})))
    codes, pages, closed = crawl(client, DATASET)
    assert {address: code for address, code in codes.items() if code != 200} == {}
    assert len(pages) > 20
    assert closed > len(pages)
    assert [name for page in pages for name in (MAKER, "Zqfirst") if name in page] == []


def test_link_of_one_page_leaves_links_within_it_alone(maker):
    client = visitor(share(maker, f"{DATASET}agreement/?rubric=graded"))
    page = client.get(f"{DATASET}agreement/?rubric=graded").content.decode()
    open_links = {address for tag, address in Links(page).found if tag == "a"}
    assert {address for address in open_links if not address.startswith("#")} == set()
    assert "#main" in open_links
    second = share(maker, DATASET)
    client.get(second)
    page = client.get(f"{DATASET}agreement/?rubric=graded").content.decode()
    assert f'href="{DATASET}"' in page  # of two links, each leads to what the other shows


def test_members_keep_their_links(maker):
    page = maker.get(DATASET).content.decode()
    assert Links(page).closed == 0
    assert f'href="{DATASET}history/"' in page


@pytest.mark.parametrize(
    ("tag", "is_open"),
    [
        (f'<a href="{DATASET}retrieval/">', True),
        (f'<a class="x" href="{DATASET}retrieval/?at=5&amp;k=1#top">', True),
        ('<a href="?rubric=graded">', True),
        ('<a href="#main">', True),
        ('<a href="/static/icon.svg">', True),
        ('<a href="https://example.org/datasets/">', True),
        ('<a href="//example.org/">', True),
        ('<a href="mailto:rosa@example.org">', True),
        ('<a href="/login/?next=/datasets/">', True),
        ('<a href="/datasets/">', False),
        ("<a href='/datasets/'>", False),
        ('<a\n  title="a > b"\n  href="/judges/1/"\n>', False),
        (f'<a href="{DATASET}pairs/">', False),
        (f'<a href="{DATASET}history/">', False),
        ('<a href="/datasets/harbour/">', False),
        ('<a href="http://testserver/datasets/">', False),
        (f'<a href="http://testserver{DATASET}">', True),
        ('<a href="/nowhere/">', False),
        (f'<a href="{DATASET}%2e%2e/harbour/">', False),
        ('<a name="x">', True),
    ],
)
def test_address_of_a_link_stays_only_where_it_is_shown(maker, rf, tag, is_open):
    share(maker)
    response = HttpResponse(f"<p>{tag}words</a></p>")
    close_links(rf.get(f"{DATASET}agreement/"), response, list(SharedLink.objects.all()))
    page = response.content.decode()
    assert (page == f"<p>{tag}words</a></p>") is is_open
    if not is_open:
        assert ("href" in page, "words</a>" in page) == (False, True)

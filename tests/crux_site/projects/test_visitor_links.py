"""Links on the pages of a reader by shared link lead to pages that they may open."""

import pytest
from django.http import HttpResponse
from django.test import Client

from annotation.models import Membership, SharedLink, User
from crux_site.projects.visitor_links import close_links
from tests.crux_site.projects.shared import DATASET, make_shared_world, share, visitor
from tests.crux_site.projects.site_addresses import World, client_of
from tests.toolbox.site_links import Links, crawl

MAKER = "zqmaker"


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


@pytest.mark.soak
@pytest.mark.parametrize("with_words", ["on", ""])
def test_visitor_links_resolve(maker, with_words):
    client = visitor(share(maker, **({"with_words": with_words} if with_words else {})))
    visited = crawl(client, DATASET)
    assert {address: code for address, code in visited.codes.items() if code != 200} == {}
    assert visited.posts == set()
    pages = visited.pages.values()
    assert len(pages) > 20
    assert visited.closed > len(pages)
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
        (f'<a href="{DATASET}systems/">', True),
        (f'<a class="x" href="{DATASET}systems/?at=5&amp;k=1#top">', True),
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
        (f'<a href="{DATASET}disagreements/">', False),
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

"""/help/: the docs on the site, for whom each of them is, and searching them."""

import re
from copy import deepcopy
from html import unescape

import pytest

from annotation.models import User
from crux_site.help.docs import address, doc, images, paths
from crux_site.help.former_anchors import FORMER_ANCHORS
from crux_site.help.query import LONGEST
from tests.toolbox.responses import markup
from tests.toolbox.users import make_cast

OWN_LINK = re.compile(r'(?:href|src)="(/help/[^"#]*)(?:#([^"]*))?"')


@pytest.fixture(scope="module")
def _cast(shared_world):
    return shared_world(make_cast)


@pytest.fixture
def cast(db, _cast):
    return deepcopy(_cast)


def headings(response) -> list[str]:
    return re.findall(r"<h2[^>]*>(.*?)</h2>", response.content.decode())


@pytest.mark.parametrize(
    ("url", "admin", "researcher", "worker", "stranger"),
    [
        ("/help/", 200, 200, "/help/workers/", "/help/introduction/"),
        ("/help/?q=eta", 200, 200, "/help/workers/", "/help/introduction/"),
        ("/help/introduction/", 200, 200, 200, 200),
        ("/help/comparison/", 200, 200, 200, 200),
        ("/help/workers/", 200, 200, 200, "/login/?next=/help/workers/"),
        ("/help/metrics/", 200, 200, 403, "/login/?next=/help/metrics/"),
        ("/help/tour/", 200, 200, 403, "/login/?next=/help/tour/"),
        ("/help/papers/", 200, 200, 403, "/login/?next=/help/papers/"),
        ("/help/files/ratings/", 200, 200, 403, "/login/?next=/help/files/ratings/"),
        ("/help/decisions/0001-one-table-of-ratings/", 200, 200, 403, None),
        ("/help/images/agreement.png", 200, 200, 200, 200),
        ("/help/nowhere/", 404, 404, 404, 404),
        ("/help/index/", 404, 404, 404, 404),
        ("/help/images/nothing.png", 404, 404, 404, 404),
    ],
)
def test_help_pages_by_role(cast, url, admin, researcher, worker, stranger):
    expected_by_account = {
        "admin": admin,
        "researcher": researcher,
        "worker": worker,
        "stranger": stranger,
    }
    for account, expected in expected_by_account.items():
        response = cast.client(account).get(url)
        outcome = response.url if response.status_code == 302 else response.status_code
        assert outcome == expected or expected is None, account


def test_former_page_of_a_decision_redirects_by_its_number(cast):
    client = cast.client("researcher")
    former = "/help/decisions/0018-the-address-that-all-answers-go-to/"
    response = client.get(former)
    assert (response.status_code, response.url) == (
        301,
        "/help/decisions/0018-fast-path-for-answers/",
    )
    assert client.get("/help/decisions/9999-nothing/").status_code == 404


@pytest.mark.parametrize("url", ["/help/", "/help/metrics/", "/help/images/agreement.png"])
def test_help_refuses_other_methods(cast, url):
    assert cast.client("admin").post(url).status_code == 405


@pytest.mark.parametrize(
    "path",
    ["../settings", "%2e%2e/crux_site/settings", "images/../../manage.py", "images/..%2fREADME.md"],
)
def test_path_traversal_is_refused(cast, path):
    assert cast.client("admin").get(f"/help/{path}", follow=True).status_code == 404


def test_tour_is_for_everybody_in_the_demo_alone(cast, settings):
    settings.DEMO = True
    for account in ("worker", "stranger"):
        assert cast.client(account).get("/help/tour/").status_code == 200
    assert '<a href="/help/tour/">' not in markup(cast.client("stranger").get("/login/"))
    User.objects.create_user("researcher", password="crux-demo", role="researcher")
    assert '<a href="/help/tour/">' in markup(cast.client("stranger").get("/login/"))
    settings.DEMO = False
    assert "/help/tour/" not in markup(cast.client("stranger").get("/login/"))


def test_log_in_says_what_this_is_and_where_more_is(cast):
    page = markup(cast.client("stranger").get("/login/"))
    assert "how far people and models agree" in page
    assert '<a href="/help/introduction/" hreflang="en">More about this site</a>' in page


def test_index_begins_with_the_own_role_and_has_every_page(cast):
    admin = cast.client("admin").get("/help/")
    assert headings(admin)[:2] == ["For admins", "For researchers"]
    assert headings(cast.client("researcher").get("/help/"))[:2] == [
        "For researchers",
        "For admins",
    ]
    linked = {link for link, _ in OWN_LINK.findall(admin.content.decode())}
    top = {name for name, path in paths().items() if re.fullmatch(r"docs/\w+\.md", path)}
    assert {f"/help/{name}/" for name in top - {"index"}} <= linked
    assert {"/help/papers/", "/help/decisions/", "/help/measurements/"} <= linked


@pytest.mark.parametrize("name", paths())
def test_page_links_resolve(name):
    """As on GitHub, where the files link to each other: pages, headings and pictures."""
    html = "".join(section.html for section in doc(name).sections)
    for url, anchor in OWN_LINK.findall(html):
        target = url.removeprefix("/help/").rstrip("/") or "index"
        if target.startswith("images/"):
            assert target.removeprefix("images/") in images()
        else:
            assert not anchor or unescape(anchor).lower() in map(_quoted, doc(target).by_anchor)
    for attribute in ("id", "aria-label"):
        values = re.findall(rf'{attribute}="([^"]*)"', html)
        assert len(values) == len(set(values)), attribute
    assert not re.search(r'(?:href|src)=""|\.md["#]', html)


@pytest.mark.parametrize(
    "anchor",
    [
        *("rules-for-every-file", "topicsjsonl", "passagesjsonl-and-documents", "ratersjsonl-ours"),
        *("runsrunrun", "other-formats", "nuggets", "alce", "annotation-tools", "potato"),
        *("the-page-of-exports", "what-a-folder-does-not-carry", "the-export-of-a-campaign"),
        *("the-long-table", "what-an-export-of-a-whole-dataset-gives", "attempts-of-a-judge"),
    ],
)
def test_former_anchor_of_the_page_on_files_is_kept(anchor):
    html = "".join(section.html for section in doc("files").sections)
    assert html.count(f' id="{anchor}"') == 1


def test_former_anchor_of_a_heading_is_kept():
    section = doc("api").by_anchor["tokens"]
    assert section.html.startswith('<h2 id="tokens"><a id="a-token"></a>Tokens</h2>')
    assert section.title == "Tokens"
    for path, anchors in FORMER_ANCHORS.items():
        (name,) = (name for name, file in paths().items() if file == path)
        assert anchors.keys() <= doc(name).by_anchor.keys(), path


def _quoted(anchor: str) -> str:
    return anchor.replace("α", "%ce%b1").lower()


def test_links_become_those_of_the_site():
    assert address("metrics.md#agreement", "docs/researchers.md") == "/help/metrics/#agreement"
    assert address("#the-words", "docs/researchers.md") == "/help/researchers/#the-words"
    assert address("../README.md", "docs/admins.md") == "/help/introduction/"
    assert address("../nuggets.md", "docs/papers/crux.md") == ""
    assert address("README.md", "docs/admins.md") == "/help/"
    assert address("decisions/0006-a-changed-text-is-refused.md", "docs/admins.md") == (
        "/help/decisions/0006-a-changed-text-is-refused/"
    )
    assert address("docs/papers", "README.md") == "/help/papers/"
    assert address("images/t1.png", "docs/workers.md") == "/help/images/t1.png"
    assert (
        address("https://arxiv.org/abs/2506.20051", "README.md")
        == "https://arxiv.org/abs/2506.20051"
    )
    for elsewhere in ("crux_site/settings.py", "docs/images/../../manage.py", "../../etc/passwd"):
        assert address(elsewhere, "README.md") == ""


def test_page_has_its_contents_and_its_pictures(cast):
    page = markup(cast.client("researcher").get("/help/researchers/"))
    assert '<li class="level-2"><a href="#agreement">Agreement</a></li>' in page
    assert '<h2 id="agreement">Agreement</h2>' in page
    assert re.search(r'<img src="/help/images/agreement\.png" alt="[^"]+" loading="lazy">', page)
    picture = cast.client("stranger").get("/help/images/agreement.png")
    assert picture["Content-Type"] == "image/png"
    assert b"".join(picture.streaming_content).startswith(b"\x89PNG")


def test_animations_are_linked_with_still_image(cast):
    client = cast.client("researcher")
    page = markup(client.get("/help/tour/"))
    assert '<a href="/help/images/from-a-number-to-words.gif">A GIF</a>' in page
    assert all(not source.endswith(".gif") for source in re.findall(r'<img src="([^"]+)"', page))
    film = client.get("/help/images/from-a-number-to-words.gif")
    assert film["Content-Type"] == "image/gif"
    assert b"".join(film.streaming_content).startswith(b"GIF89a")


def test_worker_is_offered_no_search(cast):
    assert 'role="search"' not in markup(cast.client("worker").get("/help/workers/"))
    assert 'role="search"' in markup(cast.client("researcher").get("/help/workers/"))


def test_search_shows_the_words_around_and_leads_to_the_section(cast):
    page = markup(cast.client("researcher").get("/help/", {"q": "Invitation links signed"}))
    assert "1 section: Invitation links signed" in page
    assert '<a href="/help/faq/#invitation-links-do-not-work-any-more">' in page
    assert "They are <strong>signed</strong> with the secret key." in page


def test_search_that_finds_nothing_says_what_else_to_do(cast):
    page = markup(cast.client("researcher").get("/help/", {"q": "zebra <b>"}))
    assert "Nothing found: zebra &lt;b&gt;" in page
    assert "No section contains zebra &lt;b&gt;" in page
    assert 'value="zebra &lt;b&gt;"' in page


@pytest.mark.parametrize("query", ["", " ", "\t"])
def test_search_for_nothing_is_the_index(cast, query):
    assert "For researchers" in headings(cast.client("researcher").get("/help/", {"q": query}))


def test_search_that_is_too_long_is_refused(cast):
    assert cast.client("researcher").get("/help/", {"q": "a" * LONGEST}).status_code == 200
    response = cast.client("researcher").get("/help/", {"q": "a" * (LONGEST + 1)})
    assert response.status_code == 400
    assert "Enter at most 100 characters" in markup(response)


def test_many_sections_are_cut_and_counted(cast):
    page = markup(cast.client("researcher").get("/help/", {"q": "the"}))
    assert "These are the best 40." in page
    assert page.count('<p class="quiet">') == 40

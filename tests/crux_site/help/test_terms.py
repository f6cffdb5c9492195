"""Glossary links of pages, once a page, and the help link of each section of the site."""

import re
from copy import deepcopy

import pytest
from django.urls import URLResolver, get_resolver, resolve, reverse

from annotation.models import User
from annotation.pages import declared_pages, package_of, page_of
from crux_site.help.docs import doc
from crux_site.help.help_links import help_url_for
from crux_site.help.tags import term
from crux_site.help.terms import terms
from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.paths import TEMPLATES
from tests.toolbox.responses import markup
from tests.toolbox.scoring_study import make_study

USED = re.compile(r"""{% term ("[^"]*"|'[^']*')""")
LINK = re.compile(r'<a class="term" href="(/help/terms/#[^"]+)" title="([^"]+)">([^<]+)</a>')
# The log-in, the help itself, and buttons that lead back to the page that they are on.
WITHOUT_HELP = {
    *("crux_site.login", "crux_site.help", "crux_site.renamed_urls"),
    *("building.engine", "judging.engine"),
}


@pytest.fixture(scope="module")
def _study(shared_world):
    return shared_world(make_study)


@pytest.fixture
def study(db, _study):
    return deepcopy(_study)


def test_terms_in_templates_are_defined():
    used = {
        name[1:-1] for path in TEMPLATES.rglob("*.html") for name in USED.findall(path.read_text())
    }
    assert used
    assert used <= set(terms())


def test_definitions_are_short_sentences():
    for name, entry in terms().items():
        assert entry.definition.endswith("."), name
        assert len(entry.definition) <= 150, name
        assert entry.definition.count(". ") <= 2, name


def test_entries_name_pages_where_the_term_appears():
    titles = {page.title for page in declared_pages().values()}
    for entry in doc("terms").sections:
        if entry.level == 3:
            (names,) = re.findall(r"^Pages: (.+)\.$", entry.text, re.MULTILINE)
            assert set(names.split(", ")) <= titles, entry.title


def test_pages_link_at_most_25_terms():
    """A reader learns these; the rest of the glossary is for files and formulas."""
    used = {name for path in TEMPLATES.rglob("*.html") for name in USED.findall(path.read_text())}
    assert len(used) <= 25


def test_term_is_a_link_with_its_definition():
    assert term("eta", "η") == (
        '<a class="term" href="/help/terms/#eta" title="The grade from which a pair counts as answered, η: '
        '3 of 0 to 5 unless it is chosen otherwise.">η</a>'
    )
    assert ">eta</a>" in term("eta")
    with pytest.raises(KeyError):
        term("zeta")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "agreement/?rubric=graded",
            {
                "eta",
                "fleiss-kappa",
                "krippendorffs-alpha",
                "ac1",
                "prevalence",
                "item",
                "cohens-kappa",
            },
        ),
        ("systems/", {"coverage", "alpha-ndcg", "density", "answerable-question"}),
        (
            "matrix/{topic}/?run=dense",
            {"coverage", "alpha-ndcg", "density", "required-subset", "p", "z"},
        ),
        ("", {"filtered"}),
        ("texts/", {"sub-question", "filtered"}),
        ("pairs/{text}/{question}/", {"sub-question"}),
    ],
)
def test_page_links_each_of_its_terms_once(cast, study, page, expected):
    text = study.reports["annotated.oracle"].pk
    path = page.format(topic=study.topic.pk, text=text, question=study.questions[0].pk)
    response = cast.client("researcher").get(f"/datasets/ferry/{path}")
    assert response.status_code == 200
    anchors = [url.partition("#")[2] for url, _, _ in LINK.findall(markup(response))]
    assert len(anchors) == len(set(anchors))
    assert set(anchors) == expected


def views(patterns):
    """Yield the views of all pages of ours."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns)
        elif package_of(pattern.callback).split(".")[0] in OUR_APPS:
            yield pattern.callback


def test_pages_have_help_links_to_sections_of_the_docs():
    pages = {package_of(view): page_of(view) for view in views(get_resolver().url_patterns)}
    missing = {name for name, page in pages.items() if not page and not name.endswith(".api")}
    assert missing <= WITHOUT_HELP
    for page in filter(None, pages.values()):
        name, _, anchor = page.help.partition("#")
        assert not anchor or anchor in doc(name).by_anchor, page


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/datasets/ferry/agreement/", "/help/researchers/#agreement"),
        ("/datasets/ferry/systems/", "/help/researchers/#systems"),
        ("/people/", "/help/admins/#accounts-and-roles"),
        ("/judge-runs/", "/help/judging/#judge-runs"),
        ("/help/metrics/", "/help/"),
    ],
)
def test_help_with_a_page(path, url):
    assert help_url_for(resolve(path), User(role=User.Role.ADMIN)) == url


def test_unmatched_page_links_to_index():
    assert help_url_for(None, User(role=User.Role.ADMIN)) == reverse("help")
    assert package_of(resolve("/datasets/ferry/agreement/").func) == "evaluation.agreement"


def test_bar_leads_staff_to_the_help_with_the_page(cast, study):
    link = '<a href="/help/researchers/#agreement">Help</a>'
    assert link in markup(cast.client("researcher").get("/datasets/ferry/agreement/"))
    assert '<a href="/help/"aria-current="page">Help</a>' in re.sub(
        r'" +aria', '"aria', markup(cast.client("admin").get("/help/terms/"))
    )
    assert ">Help</a>" not in markup(cast.client("stranger").get("/help/introduction/"))


@pytest.mark.parametrize("path", ["/work/", "/account/", "/help/workers/"])
def test_help_of_a_worker_opens(cast, path):
    client = cast.client("worker")
    (url,) = re.findall(r'<a href="([^"]*)"[^>]*>Help</a>', markup(client.get(path)))
    response = client.get(url, follow=True)
    assert response.status_code == 200
    assert "For annotators" in markup(response)

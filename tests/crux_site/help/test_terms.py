"""Terms on pages lead to the glossary, once a page, and each room of the site to its section of the docs."""

import re
from copy import deepcopy

import pytest
from django.urls import ResolverMatch, URLResolver, get_resolver, resolve, reverse

from crux_site.help.docs import doc
from crux_site.help.places import PLACES, folder_of, help_with
from crux_site.help.tags import term
from crux_site.help.terms import terms
from tests.apps import OUR_APPS
from tests.crux_site.test_templates import TEMPLATES
from tests.evaluation.scoring.material import make_study
from tests.markup import markup

USED = re.compile(r"""{% term ("[^"]*"|'[^']*')""")
LINK = re.compile(r'<a class="term" href="(/help/terms/#[^"]+)" title="([^"]+)">([^<]+)</a>')
# The log-in, the help itself, and buttons that lead back to the page that they are on.
NO_ROOMS = {"crux_site.login", "crux_site.help", "building.engine", "judging.engine"}


@pytest.fixture(scope="module")
def made(kept):
    return kept(make_study)


@pytest.fixture
def study(db, made):
    return deepcopy(made)


def test_every_term_that_a_template_uses_is_defined():
    used = {
        name[1:-1] for path in TEMPLATES.rglob("*.html") for name in USED.findall(path.read_text())
    }
    assert used
    assert used <= set(terms())


def test_every_term_has_a_definition_of_one_sentence_or_two():
    for name, found in terms().items():
        assert found.definition.endswith("."), name
        assert len(found.definition) <= 150, name
        assert found.definition.count(". ") <= 2, name


def test_a_term_is_a_link_with_its_definition():
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
        ("retrieval/", {"coverage", "alpha-ndcg", "density", "answerable-question"}),
        (
            "matrix/{topic}/?run=dense",
            {"coverage", "alpha-ndcg", "density", "required-subset", "p", "z"},
        ),
        ("", {"sub-question", "filtered", "campaign", "rubric"}),
        ("pairs/{text}/{question}/", {"sub-question"}),
    ],
)
def test_a_page_links_each_of_its_terms_once(cast, study, page, expected):
    text = study.reports["annotated.oracle"].pk
    path = page.format(topic=study.topic.pk, text=text, question=study.questions[0].pk)
    response = cast.client("researcher").get(f"/datasets/ferry/{path}")
    assert response.status_code == 200
    anchors = [url.partition("#")[2] for url, _, _ in LINK.findall(markup(response))]
    assert len(anchors) == len(set(anchors))
    assert set(anchors) == expected


@pytest.mark.parametrize("place", sorted(set(PLACES.values())))
def test_every_section_that_a_room_leads_to_is_there(place):
    name, _, anchor = place.partition("#")
    assert not anchor or anchor in doc(name).by_anchor


def rooms(patterns) -> set[str]:
    """The folders of all pages of ours."""
    found = set()
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            found |= rooms(pattern.url_patterns)
        else:
            found.add(folder_of(ResolverMatch(pattern.callback, (), {})))
    return {folder for folder in found if folder.split(".")[0] in OUR_APPS}


def test_every_room_leads_somewhere():
    pages = {folder for folder in rooms(get_resolver().url_patterns) if not folder.endswith(".api")}
    assert pages - NO_ROOMS == set(PLACES) - {"crux_site.api"}


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/datasets/ferry/agreement/", "/help/researchers/#agreement"),
        ("/datasets/ferry/retrieval/", "/help/researchers/#retrieval"),
        ("/people/", "/help/admins/#accounts-and-roles"),
        ("/judge-runs/", "/help/judging/#a-run"),
        ("/help/metrics/", "/help/"),
    ],
)
def test_the_help_with_a_page(path, url):
    assert help_with(resolve(path)) == url


def test_who_is_nowhere_is_led_to_the_index():
    assert help_with(None) == reverse("help")
    assert folder_of(resolve("/datasets/ferry/agreement/")) == "evaluation.agreement"


def test_the_bar_leads_staff_to_the_help_with_the_page(cast, study):
    link = '<a href="/help/researchers/#agreement">Help</a>'
    assert link in markup(cast.client("researcher").get("/datasets/ferry/agreement/"))
    assert '<a href="/help/"aria-current="page">Help</a>' in re.sub(
        r'" +aria', '"aria', markup(cast.client("admin").get("/help/terms/"))
    )
    assert ">Help</a>" not in markup(cast.client("stranger").get("/help/introduction/"))

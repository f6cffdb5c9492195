"""Navigation bar and tabs of the result pages, and the parameters that links carry."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from lxml import html

from annotation.models import Rater, Rating, Text
from annotation.models.standard import NUGGET_SUPPORT, QUESTION_TYPE, add_standard
from annotation.text.versions import edit_wording
from tests.toolbox.form_data import as_query
from tests.toolbox.responses import markup, text_of_page

pytestmark = pytest.mark.any_database

TABS = re.compile(r'<nav class="tabs".*?</nav>', re.DOTALL)
LABELS = re.compile(r'<(?:label|span) class="field">([^<]+?)\s*<')
PAGES = ("agreement", "pairs", "matrix", "retrieval", "seen", "by-type", "mixed-model")
PAGES += ("calibration", "label-next", "paper")
BAR = ["Rubric", "Judge", "η, answerable from grade"]


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def tabs(response) -> dict[str, dict[str, str]]:
    """The parameters that each tab carries, by its page."""
    links = re.findall(r'href="([^"]+)"', TABS.search(markup(response))[0])
    parts = [urlsplit(link.replace("&amp;", "&")) for link in links]
    return {
        part.path.split("/")[3]: {
            name: values[0] for name, values in parse_qs(part.query, True).items()
        }
        for part in parts
    }


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_the_tabs_and_the_bar(rosa, study, page):
    response = rosa.get(f"/datasets/ferry/{page}/")
    assert response.status_code == 200
    row = TABS.search(markup(response))[0]
    assert list(tabs(response)) == [*PAGES]
    assert row.count("aria-current") == 1
    assert re.search(rf'/{page}/[^>]*aria-current="page"', row)
    form = re.search(r'<form class="row choose".*?</form>', markup(response), re.DOTALL)
    assert page == "by-type" or LABELS.findall(form[0])[:3] == BAR


def filled(page: str) -> dict[str, list[str]]:
    """Return the fields that a browser sends of the unchanged form of choices."""
    form = html.fromstring(page).xpath('//form[starts-with(@class, "row choose")]')[0]
    return as_query(form.form_values())


@pytest.mark.parametrize(
    "page", ["agreement", "pairs", "matrix", "retrieval", "mixed-model", "calibration", "paper"]
)
def test_unchanged_form_changes_nothing(rosa, study, page):
    query = "rubric=answerable&judge=judge&eta=4&carried=1"
    sent = filled(markup(rosa.get(f"/datasets/ferry/{page}/?{query}")))
    assert sent["eta"] == ["4"]
    assert filled(markup(rosa.get(f"/datasets/ferry/{page}/", sent))) == sent


@pytest.mark.parametrize("page", ["agreement", "pairs", "mixed-model", "calibration"])
def test_form_choice_is_displayed_without_a_campaign(rosa, study, page):
    sent = filled(markup(rosa.get(f"/datasets/ferry/{page}/")))
    assert sent["of_campaign"] == [""]
    assert "campaign" not in sent
    sent |= {"rubric": ["answerable"], "judge": ["judge"], "eta": ["5"]}
    if "raters" in sent:
        sent["raters"] = ["ann"]
    fields = filled(markup(rosa.get(f"/datasets/ferry/{page}/", sent)))
    assert {name: fields[name] for name in ("judge", "eta")} == {"judge": ["judge"], "eta": ["5"]}
    assert fields.get("raters") == sent.get("raters")


def test_grid_tab_needs_reports_and_references(rosa, study):
    Text.objects.create(
        dataset=study.dataset, topic=study.oracle.topic, kind="reference", name="r", body="None."
    )
    response = rosa.get("/datasets/ferry/grid/?rubric=answerable&judge=judge&eta=4&carried=1")
    assert response.status_code == 200
    tab_params = tabs(response)
    assert list(tab_params) == [*PAGES[:-1], "grid", "paper"]
    expected = {"rubric": "answerable", "judge": "judge", "eta": "4", "carried": "1"}
    assert tab_params["agreement"] == tab_params["grid"] == expected
    form = re.search(r'<form class="row choose".*?</form>', markup(response), re.DOTALL)[0]
    assert re.findall(r'name="(rubric|judge|eta)" value="(\w+)"', form) == [*expected.items()][:3]


def test_pair_has_the_tabs_of_its_list(rosa, study):
    pair = f"/datasets/ferry/pairs/{study.oracle.pk}/{study.questions[0].pk}/"
    response = rosa.get(f"{pair}?rubric=answerable&judge=judge&eta=4")
    assert tabs(response)["retrieval"] == {
        "rubric": "answerable",
        "source": "judge",
        "eta": "4",
        "carried": "1",
    }
    assert re.search(r'/pairs/[^>]*aria-current="page"', TABS.search(markup(response))[0])


def test_link_carries_what_is_shown_by_the_names_of_the_other_page(rosa, study):
    tab_params = tabs(
        rosa.get(study.url("agreement", "rubric=answerable&judge=judge&eta=4&raters=ann"))
    )
    assert tab_params["retrieval"] == {
        "rubric": "answerable",
        "source": "judge",
        "eta": "4",
        "carried": "1",
    }
    assert tab_params["seen"] == {
        "rubric": "answerable",
        "judge": "judge",
        "eta": "4",
        "carried": "1",
    }
    assert tab_params["pairs"] == {
        "rubric": "answerable",
        "raters": "ann",
        "judge": "judge",
        "eta": "4",
        "carried": "1",
        "kind": "differ",
    }


@pytest.mark.parametrize("page", PAGES)
def test_page_without_a_choice_keeps_it_for_the_next(rosa, study, page):
    query = {"rubric": "graded", "judge": "judge", "source": "judge", "eta": "5", "carried": "1"}
    tab_params = tabs(rosa.get(f"/datasets/ferry/{page}/", query))
    of_matrix = tab_params["matrix"]
    assert (of_matrix["source"], of_matrix["eta"]) == ("judge", "5")
    assert tab_params["agreement"]["rubric"] == "graded"
    assert tab_params["agreement"]["eta"] == "5"


@pytest.mark.parametrize("page", [*PAGES, "nuggets"])
def test_carried_unknown_parameter_is_dropped(rosa, study, page):
    foreign = "rubric=nobody&judge=stranger&source=stranger&eta=9&raters=zed&questions=none"
    response = rosa.get(f"/datasets/ferry/{page}/?{foreign}&carried=1")
    assert response.status_code == 200
    assert "stranger" not in str(tabs(response)["agreement"]) or page in ("by-type", "nuggets")


def test_own_unknown_parameter_is_refused(rosa, study):
    assert rosa.get(study.url("agreement", "judge=stranger")).status_code == 400
    assert rosa.get("/datasets/ferry/retrieval/?source=stranger").status_code == 400
    # Carried are parameters of the bar alone.
    assert rosa.get("/datasets/ferry/retrieval/?metric=beauty&carried=1").status_code == 400


def test_of_what_came_along_one_that_is_there_is_taken(rosa, study):
    response = rosa.get(study.url("agreement", "rubric=nobody&judge=judge&eta=4&carried=1"))
    selection = response.context["selection"]
    assert (selection.rubric.slug, selection.judge.name, selection.eta) == (
        "answerable",
        "judge",
        4,
    )


def test_eta_stays_with_the_scale_that_it_is_a_level_of(rosa, study):
    support = add_standard(NUGGET_SUPPORT)
    for name in ("ann", "ben"):
        Rating.objects.create(
            rater=Rater.objects.get(name=name),
            rubric=support,
            text=study.oracle,
            question=study.questions[0],
            grade=2,
        )
    judge = Rater.objects.get(name="judge")
    Rating.objects.create(
        rater=judge, rubric=support, text=study.oracle, question=study.questions[0], grade=1
    )
    tab_params = tabs(rosa.get(study.url("agreement", f"rubric={support.slug}&eta=1")))
    assert tab_params["pairs"]["eta"] == "1"
    assert "eta" not in tab_params["retrieval"]
    assert "nuggets" in tab_params


def test_rubric_of_names_is_dropped_where_systems_have_no_value(rosa, study):
    names = add_standard(QUESTION_TYPE)
    Rating.objects.create(
        rater=Rater.objects.get(name="ann"),
        rubric=names,
        text=study.oracle,
        question=study.questions[0],
        grade=1,
    )
    page = rosa.get(study.url("agreement", f"rubric={names.slug}"))
    response = rosa.get("/datasets/ferry/mixed-model/", tabs(page)["mixed-model"])
    assert response.status_code == 200
    assert response.context["selection"].rubric.slug == "answerable"


def test_superseded_grades_are_not_mentioned_without_any(rosa, study):
    assert "earlier version" not in markup(rosa.get("/datasets/ferry/agreement/"))


@pytest.mark.parametrize("page", [*PAGES, "nuggets"])
def test_pages_count_superseded_grades(rosa, study, page):
    n = study.oracle.ratings.count()
    assert n > 1
    edit_wording(study.oracle, "Other words than these.", by=None, reason="", counts=True)
    response = rosa.get(f"/datasets/ferry/{page}/")
    sentence = f"{n} grades that count in this dataset were given to an earlier version of 1 text."
    assert text_of_page(response).count(sentence) == 1
    assert '<a href="/datasets/ferry/versions/">Text history</a>' in markup(response)

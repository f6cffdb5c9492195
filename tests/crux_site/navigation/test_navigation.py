"""List of the pages of a dataset, and the parameters that its links carry."""

import re
from copy import deepcopy
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from lxml import html

from annotation.models import Rater, Rating, Text, User
from annotation.models.standard import NUGGET_SUPPORT, QUESTION_TYPE, add_standard
from annotation.text.versions import edit_wording
from tests.toolbox.agreement_study import Study, make_study
from tests.toolbox.form_data import as_query
from tests.toolbox.responses import markup, text_of_page

pytestmark = pytest.mark.any_database

LABELS = re.compile(r'<(?:label|span) class="field">([^<]+?)\s*<')
# First page of each section, and the others of it that the study has data for.
SECTIONS = {
    "agreement": ("mixed-model", "calibration"),
    "disagreements": (),
    "systems": ("compare", "judges", "discriminative", "evidence-recall"),
    "matrix": ("label-next",),
    "paper": ("exports",),
}
PAGES = (
    "agreement",
    "disagreements",
    "matrix",
    "systems",
    "evidence-recall",
    "question-types",
    "mixed-model",
)
PAGES += ("calibration", "label-next", "paper")
SYSTEMS = "/datasets/ferry/systems/"
BAR = ["Rubric", "Judge", "η, answerable from grade"]


@pytest.fixture(scope="module")
def small_study(shared_world) -> Study:
    return shared_world(make_study)


@pytest.fixture
def study(db, small_study) -> Study:
    return deepcopy(small_study)


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def rail(response) -> html.HtmlElement:
    """Return the list of pages of a dataset's page."""
    return html.fromstring(markup(response)).get_element_by_id("dataset-pages")


def current(response) -> list[tuple[str, str]]:
    """Return the marked links of the list: their text, and how they are marked."""
    return [
        (" ".join(link.text_content().split()), link.get("aria-current"))
        for link in rail(response).iter("a")
        if link.get("aria-current")
    ]


def links(response) -> dict[str, dict[str, str]]:
    """Return the parameters that each link of the list carries, by the end of its path."""
    parts = [urlsplit(link.get("href")) for link in rail(response).iter("a")]
    return {
        part.path.rstrip("/").split("/")[-1]: {
            name: values[0] for name, values in parse_qs(part.query, True).items()
        }
        for part in parts
    }


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_the_list_and_the_bar(rosa, study, page):
    response = rosa.get(f"/datasets/ferry/{page}/")
    assert response.status_code == 200
    section = next((head for head, below in SECTIONS.items() if page in (head, *below)), "systems")
    listed = links(response)
    assert {*SECTIONS, *SECTIONS[section], page} <= listed.keys()
    closed = {below for head, pages in SECTIONS.items() if head != section for below in pages}
    assert not closed - {"judges"} & listed.keys()
    assert [how for _, how in current(response)] == ["page"]
    form = re.search(r'<form class="row choose".*?</form>', markup(response), re.DOTALL)
    assert page == "question-types" or LABELS.findall(form[0])[:3] == BAR
    summary = html.fromstring(markup(response)).xpath('//details[@class="filter"]/summary')
    assert page == "question-types" or summary[0].text_content().endswith("ChangeClose")


def test_page_of_a_thing_marks_its_section(rosa, study):
    runs = re.search(r'/datasets/ferry/systems/runs/[^"?]+', markup(rosa.get(SYSTEMS)))
    response = rosa.get(runs[0])
    assert current(response) == [("Systems", "true")]
    assert [how for _, how in current(rosa.get("/datasets/ferry/"))] == ["page"]


def test_links_need_what_their_page_needs(rosa, study):
    listed = links(rosa.get(SYSTEMS))
    assert "nuggets" not in listed
    assert "reports-against-references" not in listed
    assert "question-types" not in listed
    for name in ("bm25", "dense"):
        study.dataset.runs.create(name=name)
    assert "question-types" in links(rosa.get(SYSTEMS))
    Rating.objects.filter(rater__kind="model").delete()
    Rating.objects.filter(rater__kind="baseline").delete()
    assert "calibration" not in links(rosa.get("/datasets/ferry/agreement/"))


def test_owners_alone_get_links_to_changes(cast, study):
    assert "import" not in links(cast.client("researcher").get("/datasets/ferry/building/"))
    listed = links(cast.client("admin").get("/datasets/ferry/building/"))
    assert listed["import"] == {"dataset": "ferry"}


def test_judge_is_marked_as_not_tested(rosa, study):
    page = html.fromstring(markup(rosa.get("/datasets/ferry/agreement/?judge=judge")))
    (badge,) = page.xpath('//details[@class="filter"]/summary//*[@class="badge"]')
    assert badge.text_content() == "not tested"
    page = html.fromstring(markup(rosa.get("/datasets/ferry/agreement/?judge=")))
    assert not page.xpath('//summary//*[@class="badge"]')


def filled(page: str) -> dict[str, list[str]]:
    """Return the fields that a browser sends of the unchanged form of choices."""
    form = html.fromstring(page).xpath('//form[starts-with(@class, "row choose")]')[0]
    return as_query(form.form_values())


@pytest.mark.parametrize(
    "page",
    ["agreement", "disagreements", "matrix", "systems", "mixed-model", "calibration", "paper"],
)
def test_unchanged_form_changes_nothing(rosa, study, page):
    query = "rubric=answerable&judge=judge&eta=4&carried=1"
    sent = filled(markup(rosa.get(f"/datasets/ferry/{page}/?{query}")))
    assert sent["eta"] == ["4"]
    assert filled(markup(rosa.get(f"/datasets/ferry/{page}/", sent))) == sent


@pytest.mark.parametrize("page", ["agreement", "disagreements", "mixed-model", "calibration"])
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


def test_grid_needs_reports_and_references(rosa, study):
    Text.objects.create(
        dataset=study.dataset, topic=study.oracle.topic, kind="reference", name="r", body="None."
    )
    response = rosa.get(
        "/datasets/ferry/reports-against-references/?rubric=answerable&judge=judge&eta=4&carried=1"
    )
    assert response.status_code == 200
    listed = links(response)
    expected = {"rubric": "answerable", "judge": "judge", "eta": "4", "carried": "1"}
    assert listed["agreement"] == listed["reports-against-references"] == expected
    form = re.search(r'<form class="row choose".*?</form>', markup(response), re.DOTALL)[0]
    assert re.findall(r'name="(rubric|judge|eta)" value="(\w+)"', form) == [*expected.items()][:3]


def test_pair_has_the_list_of_its_section(rosa, study):
    pair = f"/datasets/ferry/pairs/{study.oracle.pk}/{study.questions[0].pk}/"
    response = rosa.get(f"{pair}?rubric=answerable&judge=judge&eta=4")
    assert links(response)["systems"] == {
        "rubric": "answerable",
        "source": "judge",
        "eta": "4",
        "carried": "1",
    }
    assert current(response) == [("Disagreements", "true")]


def test_link_carries_what_is_shown_by_the_names_of_the_other_page(rosa, study):
    listed = links(
        rosa.get(study.url("agreement", "rubric=answerable&judge=judge&eta=4&raters=ann"))
    )
    assert listed["systems"] == {
        "rubric": "answerable",
        "source": "judge",
        "eta": "4",
        "carried": "1",
    }
    assert listed["disagreements"] == {
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
    listed = links(rosa.get(f"/datasets/ferry/{page}/", query))
    of_matrix = listed["matrix"]
    assert (of_matrix["source"], of_matrix["eta"]) == ("judge", "5")
    assert listed["agreement"]["rubric"] == "graded"
    assert listed["agreement"]["eta"] == "5"


@pytest.mark.parametrize("page", [*PAGES, "nuggets"])
def test_carried_unknown_parameter_is_dropped(rosa, study, page):
    foreign = "rubric=nobody&judge=stranger&source=stranger&eta=9&raters=zed&questions=none"
    response = rosa.get(f"/datasets/ferry/{page}/?{foreign}&carried=1")
    assert response.status_code == 200
    assert "stranger" not in str(links(response)["agreement"]) or page in (
        "question-types",
        "nuggets",
    )


def test_own_unknown_parameter_is_refused(rosa, study):
    assert rosa.get(study.url("agreement", "judge=stranger")).status_code == 400
    assert rosa.get("/datasets/ferry/systems/?source=stranger").status_code == 400
    # Carried are parameters of the bar alone.
    assert rosa.get("/datasets/ferry/systems/?metric=beauty&carried=1").status_code == 400


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
    listed = links(rosa.get(study.url("agreement", f"rubric={support.slug}&eta=1")))
    assert listed["disagreements"]["eta"] == "1"
    assert "eta" not in listed["systems"]
    assert "nuggets" in links(rosa.get(SYSTEMS))


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
    response = rosa.get("/datasets/ferry/mixed-model/", links(page)["mixed-model"])
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
    assert '<a href="/datasets/ferry/text-history/">Text history</a>' in markup(response)


def test_page_asks_for_new_ratings(rosa, cast, study):
    page = html.fromstring(markup(rosa.get(study.url("agreement"))))
    (notice,) = page.xpath("//*[@data-new-ratings]")
    assert "hidden" in notice.attrib
    url = notice.get("data-new-ratings")
    assert rosa.get(url).json() == {"n": 0}
    rating = study.oracle.ratings.first()
    late = Rater.objects.create(dataset=study.dataset, name="late", kind="baseline")
    fields = {name: getattr(rating, name) for name in ("rubric", "text", "question", "grade")}
    Rating.objects.create(rater=late, **fields)
    assert rosa.get(url).json() == {"n": 1}
    assert rosa.post(url).status_code == 405
    path = url.partition("?")[0]
    for since in ("", "-1", "x", "9" * 30):
        assert rosa.get(path, {"since": since}).status_code == 400
    assert [cast.client(name).get(url).status_code for name in ("worker", "stranger")] == [403, 302]
    outsider = Client()  # of no project
    outsider.force_login(User.objects.create_user("ida", role=User.Role.RESEARCHER))
    assert outsider.get(url).status_code == 404
    assert rosa.get(url.replace("/ferry/", "/none/")).status_code == 404
    assert not html.fromstring(markup(rosa.get("/datasets/ferry/history/"))).xpath(
        "//*[@data-new-ratings]"
    )

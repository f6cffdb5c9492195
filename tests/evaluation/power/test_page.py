"""campaigns/<slug>/power/"""

import pytest

from annotation.models import Rating, Rubric
from evaluation.stats.power import topics_needed
from tests.evaluation.mixed_model.material import make_duel
from tests.toolbox.campaign_builder import make_draft
from tests.toolbox.campaign_builder import url as step_url
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, text_of_page

pytestmark = pytest.mark.any_database

TITLE = "Topics needed by number of raters"


@pytest.fixture
def draft(cast):
    return make_draft(cast.client("admin"), make_duel(), rubric="answerable", raters_per_item=2)


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def page(draft, query=""):
    return f"/campaigns/{draft.slug}/power/{query}"


def test_topics_for_each_number_of_raters(rosa, draft):
    response = rosa.get(page(draft))
    report = response.context["report"]
    parts = report.model.components
    rows = tables(response)[TITLE]
    assert len(rows) == 5
    # By the formula on the page, from the variances on the page.
    varies = 2 * (parts["system and topic"] + (parts["rater"] + parts["residual"]) / 3)
    assert report.designs[2].variance.value == pytest.approx(varies)
    assert int(rows[2][1]) == topics_needed(0.05, varies, 0.8).value
    # Five topics with reports of three systems are drawn.
    assert (report.sample.topics, report.sample.systems) == (5, 3)
    assert report.designs[2].ratings == int(rows[2][1]) * 3 * 3
    # The systems differ by the same on almost every topic here.
    assert "The estimated variance of system × topic is 0." in text_of_page(response)
    larger = rosa.get(page(draft, "?difference=0.2")).context["report"]
    assert larger.designs[2].topics.n < report.designs[2].topics.n
    assert larger.designs[2].power.value > report.designs[2].power.value
    same = rosa.get(page(draft, "?readers=same")).context["report"]
    assert same.designs[0].variance.value <= report.designs[0].variance.value


def test_files(rosa, draft):
    lines = csv_rows(rosa.get(f"/campaigns/{draft.slug}/power.csv?difference=0.1"))
    content = rosa.get(f"/campaigns/{draft.slug}/power.json?difference=0.1").json()
    assert [line["raters"] for line in lines] == ["1", "2", "3", "4", "5"]
    assert content["designs"][0]["topics_needed"] == int(lines[0]["topics_needed"])
    assert (content["difference"], content["study"]) == (0.1, None)


def test_draft_that_asks_for_names_is_not_led_to_a_power_of_them(rosa, draft):
    draft.rubric = Rubric.objects.get(slug="graded")
    draft.save()
    Rubric.objects.filter(slug="graded").update(scale="nominal", eta=None)
    assert page(draft) not in rosa.get(step_url(draft, "review")).content.decode()
    refused = rosa.get(page(draft))
    assert refused.status_code == 400
    assert "systems have no value" in text_of_page(refused)


def test_page_with_too_few_values(rosa, draft):
    Rating.objects.filter(text__topic__position__gt=1).delete()
    page_text = text_of_page(rosa.get(page(draft)))
    assert (
        "The variances are undefined, because the spread over topics takes three of them"
        in page_text
    )
    Rating.objects.all().delete()
    assert "takes two systems with finished values" in text_of_page(rosa.get(page(draft)))
    assert rosa.get(f"/campaigns/{draft.slug}/power.json").json()["designs"] == []


def test_study_of_one_rater_is_confounded(rosa, draft):
    Rating.objects.filter(rater__name="ben").delete()
    response = rosa.get(page(draft))
    assert TITLE not in tables(response)
    assert "the study has one rater" in text_of_page(response)
    response = rosa.get(page(draft, "?readers=same"))
    rows = tables(response)[TITLE]
    assert int(rows[0][1]) > 1
    assert rows[1][1] == "– a"
    assert "no text of the study has two raters" in text_of_page(response)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("study=nope", "no campaign under answerable called “nope”"),
        ("outcome=grade", "There are: coverage"),
        ("difference=0", "The difference is a number from 0.001 to 100."),
        ("power=1", "The power is a number from 0.5 to 0.99."),
        ("readers=robots", "There are: different, same"),
    ],
)
def test_wrong_choices(rosa, draft, query, message):
    response = rosa.get(page(draft, f"?{query}"))
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_page_is_for_researchers_and_refuses_invalid_choices(cast, rosa, draft):
    assert cast.client("worker").get(page(draft)).status_code == 403
    assert cast.client("stranger").get(page(draft)).status_code == 302
    assert rosa.post(page(draft)).status_code == 405
    assert rosa.get("/campaigns/nowhere/power/").status_code == 404


def test_review_of_a_draft_links_to_the_power_page(rosa, draft):
    assert page(draft) in rosa.get(step_url(draft, "review")).content.decode()

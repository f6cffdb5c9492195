"""datasets/<slug>/calibration/: what a judge expected, beside what people said."""

import pytest
from django.urls import reverse

from annotation.models import Rater, Rating, Rubric
from annotation.models.rating import Exposure
from judging.models import Attempt
from tests.toolbox.html_tables import tables
from tests.toolbox.reply_study import make_reply_study
from tests.toolbox.responses import csv_rows, text_of_page

URL = "/datasets/ferry/calibration/"
QUERY = "?rubric=graded&judge={judge}"
# The judge's probabilities of 0 to 5 for the questions of the passage, and what ann and ben grade them.
PROBABILITIES = {
    1: (0, 0, 0, 0.1, 0.4, 0.4),
    2: (0.9, None, 0, 0, 0.1, 0),
    4: (0.5, 0.5, 0, 0, 0, 0),
}
GRADES = {"ann": {1: 5, 2: 0, 3: 1, 4: 0}, "ben": {1: 4, 2: 0, 4: 3}}


@pytest.fixture
def reply_study(db):
    study = make_reply_study()
    Attempt.objects.update(probabilities=None, expected_grade=None)
    attempts = Attempt.objects.filter(judge=study.first, counts=True, text=study.texts["passage"])
    for number, shares in PROBABILITIES.items():
        mass = sum(share or 0 for share in shares)
        expected = sum(grade * (share or 0) for grade, share in enumerate(shares)) / mass
        attempts.filter(question=study.questions[number - 1]).update(
            probabilities=shares, expected_grade=expected
        )
    graded = Rubric.objects.get(slug="graded")
    for name, grades in GRADES.items():
        rater = Rater.objects.create(dataset=study.dataset, name=name, kind="human")
        Rating.objects.bulk_create(
            Rating(
                rater=rater,
                rubric=graded,
                text=study.texts["passage"],
                question=study.questions[number - 1],
                grade=grade,
            )
            for number, grade in grades.items()
        )
    return study


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def url_for_judge(reply_study, page=URL):
    return page + QUERY.format(judge=reply_study.first.slug)


def test_curves_by_hand(rosa, reply_study):
    # P(answerable): question 1: 0.9 / 0.9 = 1; 2: 0.1; 4: 0. People, twice each: 1 1, 0 0, 0 1;
    # ann's question 3 has no told value. Bins: 0 to 0.1 (on the edge: in the bin below): 0.1 0.1 0 0
    # against 0 0 0 1, off by 0.2; 0.9 to 1: 1 1 against 1 1, off by 0. ECE = 4/6 x 0.2.
    response = rosa.get(url_for_judge(reply_study))
    result = response.context["made"]
    probability, grade = result.curves["probability"], result.curves["grade"]
    assert probability.error.value == pytest.approx(4 / 6 * 0.2)
    assert (probability.error.n, probability.error.missing) == (6, 1)
    assert probability.squared.value == pytest.approx((0.01 + 0.01 + 0 + 1) / 6)
    # Expected grades: (0.3 + 1.6 + 2) / 0.9 = 4.33, 0.4, 0.5; people 5 4, 0 0, 0 3. Bins round
    # to the nearest grade, 0.5 down: 0.4 0.4 0.5 0.5 against 0 0 0 3, off by 0.3; 4.33 twice
    # against 4.5, off by 1/6.
    assert grade.error.value == pytest.approx(4 / 6 * 0.3 + 2 / 6 / 6)
    assert tables(response)["Probability of answerable as a table"][0] == [
        *("0.00 to 0.10", "4", "0.05", "0.25")
    ]
    assert "No interval, because there are fewer than two clusters" in text_of_page(response)
    assert (
        "Calibration error, debiased undefined Because the spread over topics takes two of them"
        in text_of_page(response)
    )


@pytest.mark.parametrize(
    ("scale", "curves"), [("ordinal", ["grade"]), ("nominal", [])], ids=["no eta", "names"]
)
def test_curve_needs_matching_scale(rosa, reply_study, scale, curves):
    Rubric.objects.filter(slug="graded").update(scale=scale, eta=None)
    response = rosa.get(url_for_judge(reply_study))
    assert list(response.context["made"].curves) == curves
    assert ("this rubric has neither" in text_of_page(response)) is (not curves)
    statistics = rosa.get(url_for_judge(reply_study, "/datasets/ferry/calibration.json")).json()[
        "statistics"
    ]
    assert [line["of"] for line in statistics] == curves * 4


def test_probabilities_that_change_without_a_rating_change_the_page(rosa, reply_study):
    before = rosa.get(url_for_judge(reply_study)).context["made"]
    Attempt.objects.filter(judge=reply_study.first, question=reply_study.questions[0]).update(
        probabilities=None, expected_grade=None
    )
    updated = rosa.get(url_for_judge(reply_study)).context["made"]
    assert (before.n_told, updated.n_told) == (3, 2)


def test_files(rosa, reply_study):
    query = QUERY.format(judge=reply_study.first.slug)
    lines = csv_rows(rosa.get(f"{URL}statistics.csv{query}"))
    assert [line["measure"] for line in lines][:4] == [
        *(
            "expected_calibration_error",
            "expected_calibration_error_debiased",
            "brier_score",
            "bias",
        )
    ]
    assert float(lines[0]["value"]) == pytest.approx(4 / 6 * 0.2)
    assert [line["n"] for line in csv_rows(rosa.get(f"{URL}points.csv{query}"))][:2] == ["4", "0"]
    content = rosa.get(reverse("calibration_json", args=["ferry"]) + query).json()
    assert content["pairs_with_probabilities"] == 3
    assert content["statistics"][4]["of"] == "grade"


def test_other_scale_is_thresholded_at_eta(rosa, reply_study):
    answerable = Rubric.objects.get(slug="answerable")
    Rating.objects.filter(rater__kind="human").update(rubric=answerable, grade=1)
    response = rosa.get(f"{URL}?rubric=answerable&judge={reply_study.first.slug}&eta=5")
    curves = response.context["made"].curves
    assert list(curves) == ["probability"]
    # At eta 5: 0.4 / 0.9 and 0, twice each, against 1. Question 4 is filtered.
    assert curves["probability"].bias.value == pytest.approx(2 * (0.4 / 0.9) / 4 - 1)


def test_judge_that_told_nothing(rosa, reply_study):
    page = text_of_page(rosa.get(f"{URL}?rubric=graded&judge={reply_study.second.slug}"))
    assert "has no probabilities" in page
    assert "Choose a judge" in text_of_page(rosa.get(f"{URL}?rubric=graded&judge="))
    assert rosa.get(f"{URL}points.csv?rubric=graded&judge=").status_code == 400


def test_permissions_and_missing_tables(cast, rosa, reply_study):
    assert cast.client("worker").get(URL).status_code == 403
    assert cast.client("stranger").get(URL).status_code == 302
    assert rosa.post(URL).status_code == 405
    assert rosa.get("/datasets/nowhere/calibration/").status_code == 404
    assert rosa.get(f"{URL}nothing.csv").status_code == 404
    assert rosa.get(f"{URL}?judge=eve").status_code == 400


def test_agreement_page_leads_there(rosa, reply_study):
    agreement = rosa.get(url_for_judge(reply_study, "/datasets/ferry/agreement/")).content.decode()
    assert f'href="{URL}?rubric=graded&amp;judge={reply_study.first.slug}' in agreement


def test_figure_has_the_bins_of_the_page(rosa, reply_study):
    response = rosa.get(url_for_judge(reply_study, f"{URL}figure/"))
    curves = rosa.get(url_for_judge(reply_study)).context["made"].curves
    figure = response.context["explore"].figure
    for trace, curve in zip(figure["data"], curves.values(), strict=True):
        bins = [bucket for bucket in curve.bins if bucket.n]
        assert trace["x"] == [bucket.expected for bucket in bins]
        assert trace["y"] == [bucket.observed for bucket in bins]
        assert trace["text"] == [f"n = {bucket.n}" for bucket in bins]
    diagonals = [(line["x0"], line["y1"]) for line in figure["layout"]["shapes"]]
    assert diagonals == [(0, 1), (0, 5)]
    assert figure["layout"]["xaxis2"]["title"]["text"] == "expected grade of the judge (0 to 5)"
    assert tables(response)["Probability of answerable as a table"][0] == [
        *("0.00 to 0.10", "4", "0.05", "0.25")
    ]
    assert "expected calibration error 0.13, n = 6" in text_of_page(response)


def test_figure_without_probabilities_displays_the_reason(rosa, reply_study):
    Attempt.objects.update(probabilities=None, expected_grade=None)
    response = rosa.get(url_for_judge(reply_study, f"{URL}figure/"))
    assert "has no probabilities for these texts" in text_of_page(response)
    assert "plotly" not in response.content.decode()
    assert "Choose a judge" in text_of_page(rosa.get(f"{URL}figure/?rubric=graded&judge="))


def test_exposed_grades_count_only_where_they_are_included(rosa, reply_study):
    Rating.objects.filter(rater__name="ben").update(exposure=Exposure.FEEDBACK)
    url = f"/datasets/ferry/calibration.json{QUERY.format(judge=reply_study.first.rater.name)}"
    pages = [rosa.get(f"{url}&exposed={exposed}").json() for exposed in ("left-out", "included")]
    values = [{row["measure"]: row["value"] for row in page["statistics"]} for page in pages]
    assert values[0] != values[1]
    assert [page["exposed"] for page in pages] == ["left-out", "included"]

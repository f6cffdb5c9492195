"""datasets/<slug>/calibration/: what a judge expected, beside what people said."""

import pytest
from django.urls import reverse

from annotation.models import Rater, Rating, Rubric
from judging.models import Attempt
from tests.evaluation.agreement.test_page import words
from tests.evaluation.html_tables import tables
from tests.evaluation.retrieval.test_page import rows_of
from tests.judging.replies.material import make_looked

URL = "/datasets/ferry/calibration/"
ASKED = "?rubric=graded&judge={judge}"
# The judge's probabilities of 0 to 5 for the questions of the passage, and what ann and ben grade them.
TOLD = {1: (0, 0, 0, 0.1, 0.4, 0.4), 2: (0.9, None, 0, 0, 0.1, 0), 4: (0.5, 0.5, 0, 0, 0, 0)}
GRADES = {"ann": {1: 5, 2: 0, 3: 1, 4: 0}, "ben": {1: 4, 2: 0, 4: 3}}


@pytest.fixture
def looked(db):
    made = make_looked()
    Attempt.objects.update(probabilities=None, expected_grade=None)
    attempts = Attempt.objects.filter(judge=made.first, counts=True, text=made.texts["passage"])
    for number, shares in TOLD.items():
        mass = sum(share or 0 for share in shares)
        expected = sum(grade * (share or 0) for grade, share in enumerate(shares)) / mass
        attempts.filter(question=made.questions[number - 1]).update(
            probabilities=shares, expected_grade=expected
        )
    graded = Rubric.objects.get(slug="graded")
    for name, given in GRADES.items():
        rater = Rater.objects.create(dataset=made.dataset, name=name, kind="human")
        Rating.objects.bulk_create(
            Rating(
                rater=rater,
                rubric=graded,
                text=made.texts["passage"],
                question=made.questions[number - 1],
                grade=grade,
            )
            for number, grade in given.items()
        )
    return made


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def asked(looked, page=URL):
    return page + ASKED.format(judge=looked.first.slug)


def test_curves_by_hand(rosa, looked):
    # P(answerable): question 1: 0.9 / 0.9 = 1; 2: 0.1; 4: 0. People, twice each: 1 1, 0 0, 0 1;
    # ann's question 3 has no told value. Bins: 0 to 0.1 (on the edge: in the bin below): 0.1 0.1 0 0
    # against 0 0 0 1, off by 0.2; 0.9 to 1: 1 1 against 1 1, off by 0. ECE = 4/6 x 0.2.
    response = rosa.get(asked(looked))
    made = response.context["made"]
    probability, grade = made.curves["probability"], made.curves["grade"]
    assert probability.error.value == pytest.approx(4 / 6 * 0.2)
    assert (probability.error.n, probability.error.missing) == (6, 1)
    assert probability.squared.value == pytest.approx((0.01 + 0.01 + 0 + 1) / 6)
    # Expected grades: (0.3 + 1.6 + 2) / 0.9 = 4.33, 0.4, 0.5; people 5 4, 0 0, 0 3. Bins round
    # to the nearest grade, 0.5 down: 0.4 0.4 0.5 0.5 against 0 0 0 3, off by 0.3; 4.33 twice
    # against 4.5, off by 1/6.
    assert grade.error.value == pytest.approx(4 / 6 * 0.3 + 2 / 6 / 6)
    assert tables(response)["Probability of answerable, the points"][0] == [
        *("0.00 to 0.10", "4", "0.05", "0.25")
    ]
    assert "No interval, because there are fewer than two clusters" in words(response)
    assert "The same, debiased undefined Because the spread over topics takes two of them" in words(
        response
    )


@pytest.mark.parametrize(
    ("scale", "curves"), [("ordinal", ["grade"]), ("nominal", [])], ids=["no eta", "names"]
)
def test_what_the_grades_do_not_say_has_no_curve(rosa, looked, scale, curves):
    Rubric.objects.filter(slug="graded").update(scale=scale, eta=None)
    response = rosa.get(asked(looked))
    assert list(response.context["made"].curves) == curves
    assert ("there is no curve of them" in words(response)) is (not curves)
    statistics = rosa.get(asked(looked, "/datasets/ferry/calibration.json")).json()["statistics"]
    assert [line["of"] for line in statistics] == curves * 4


def test_probabilities_that_change_without_a_rating_change_the_page(rosa, looked):
    before = rosa.get(asked(looked)).context["made"]
    Attempt.objects.filter(judge=looked.first, question=looked.questions[0]).update(
        probabilities=None, expected_grade=None
    )
    after = rosa.get(asked(looked)).context["made"]
    assert (before.n_told, after.n_told) == (3, 2)


def test_files(rosa, looked):
    query = ASKED.format(judge=looked.first.slug)
    lines = rows_of(rosa.get(f"{URL}statistics.csv{query}"))
    assert [line["measure"] for line in lines][:4] == [
        *(
            "expected_calibration_error",
            "expected_calibration_error_debiased",
            "brier_score",
            "bias",
        )
    ]
    assert float(lines[0]["value"]) == pytest.approx(4 / 6 * 0.2)
    assert [line["n"] for line in rows_of(rosa.get(f"{URL}points.csv{query}"))][:2] == ["4", "0"]
    content = rosa.get(reverse("calibration_json", args=["ferry"]) + query).json()
    assert content["pairs_with_probabilities"] == 3
    assert content["statistics"][4]["of"] == "grade"


def test_another_scale_is_read_at_eta(rosa, looked):
    answerable = Rubric.objects.get(slug="answerable")
    Rating.objects.filter(rater__kind="human").update(rubric=answerable, grade=1)
    response = rosa.get(f"{URL}?rubric=answerable&judge={looked.first.slug}&eta=5")
    curves = response.context["made"].curves
    assert list(curves) == ["probability"]
    # At eta 5: 0.4 / 0.9 and 0, twice each, against 1. Question 4 is filtered.
    assert curves["probability"].bias.value == pytest.approx(2 * (0.4 / 0.9) / 4 - 1)


def test_a_judge_that_told_nothing(rosa, looked):
    seen = words(rosa.get(f"{URL}?rubric=graded&judge={looked.second.slug}"))
    assert "told no probabilities" in seen
    assert "No judge is chosen" in words(rosa.get(f"{URL}?rubric=graded&judge="))
    assert rosa.get(f"{URL}points.csv?rubric=graded&judge=").status_code == 400


def test_who_may_and_what_is_not_there(cast, rosa, looked):
    assert cast.client("worker").get(URL).status_code == 403
    assert cast.client("stranger").get(URL).status_code == 302
    assert rosa.post(URL).status_code == 405
    assert rosa.get("/datasets/nowhere/calibration/").status_code == 404
    assert rosa.get(f"{URL}nothing.csv").status_code == 404
    assert rosa.get(f"{URL}?judge=eve").status_code == 400


def test_the_agreement_page_leads_there(rosa, looked):
    agreement = rosa.get(asked(looked, "/datasets/ferry/agreement/")).content.decode()
    assert f'href="{URL}?rubric=graded&amp;judge={looked.first.slug}' in agreement

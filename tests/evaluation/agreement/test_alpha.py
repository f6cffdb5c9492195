"""datasets/<slug>/agreement/: Krippendorff's alpha and the bootstrap beside kappa."""

import pytest
from django.test import Client

from annotation.models import Rating, Rubric
from tests.toolbox.responses import text_of_page


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def test_page_displays_alpha_and_bootstrap_interval(rosa, study):
    # Coincidences of six items of two: 4 + 1 + 1 equal pairs. alpha = 1 - (2/12) / (2*7*5/(12*11)).
    response = rosa.get(study.url("agreement", "judge="))
    report = response.context["report"]
    assert report.alpha.value == pytest.approx(1 - (2 / 12) / (70 / 132))
    assert report.alpha_metric == "nominal"
    # One topic: nothing to draw from.
    assert report.bootstrap.interval_reason.endswith("fewer than two clusters")
    page_text = text_of_page(response)
    assert "Krippendorff α 0.69" in page_text
    assert "Nominal: two answers have no order." in page_text


def test_alpha_of_grades_weighs_their_distance(rosa, study):
    graded = Rubric.objects.get(slug="graded")
    for rater, grades in ((study.ann, (5, 1)), (study.ben, (4, 1))):
        Rating.objects.bulk_create(
            Rating(rater=rater, rubric=graded, text=study.oracle, question=question, grade=grade)
            for question, grade in zip(study.questions, grades, strict=False)
        )
    report = rosa.get(study.url("agreement", "rubric=graded&judge=")).context["report"]
    assert report.alpha_metric == "ordinal"
    # 1 1 4 5: the middles of the levels lie at 1, 2.5 and 3.5 ratings. Observed 2 * 1 / 4;
    # expected 2 * (2 * 1.5^2 + 2 * 2.5^2 + 1) / 12 = 3; 1 - 0.5 / 3.
    assert report.alpha.value == pytest.approx(1 - 0.5 / 3)

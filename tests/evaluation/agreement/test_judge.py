"""The judge on datasets/<slug>/agreement/: thresholds, single raters, and majorities."""

import pytest
from django.test import Client

from annotation.models import Rater, Rating, Rubric
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import text_of_page


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


@pytest.fixture
def third(study):
    """cat, who says: oracle 1 0 0, bm25 0 0 1."""
    cat = Rater.objects.create(dataset=study.dataset, name="cat", kind="human")
    for text, grades in ((study.oracle, (1, 0, 0)), (study.bm25, (0, 0, 1))):
        Rating.objects.bulk_create(
            Rating(
                rater=cat,
                rubric=Rubric.objects.get(slug="answerable"),
                text=text,
                question=question,
                grade=grade,
            )
            for question, grade in zip(study.questions, grades, strict=False)
        )
    return cat


def test_sweep_has_the_scores_at_every_eta(rosa, study):
    # The raters say 1 to oracle 1 (both), oracle 2 (ann) and bm25 1 (both), and 0 to the other five
    # ratings that have a judge; the judge gave them 5 5, 1, 2 2; and 1, 0 0, 4 4.
    judged = rosa.get(study.url("agreement")).context["report"].judge
    cells = [
        (threshold.confusion.tp, threshold.confusion.fp, threshold.confusion.fn)
        for threshold in judged.sweep
    ]
    assert cells == [(5, 3, 0), (4, 2, 1), (2, 2, 3), (2, 2, 3), (2, 0, 3)]
    at_five = judged.sweep[4]
    assert (at_five.eta, at_five.confusion.n, at_five.confusion.missing) == (5, 10, 2)
    assert at_five.precision_answerable.value == 1
    # tp 2, fn 3: F1 = 4/7 over the five that either found; tn 5, fn 3: 10/13 over eight.
    assert (at_five.f1_answerable.value, at_five.f1_answerable.n) == (pytest.approx(4 / 7), 5)
    assert (at_five.f1_unanswerable.value, at_five.f1_unanswerable.n) == (pytest.approx(10 / 13), 8)
    # Equal 7/10, by chance 0.5 * 0.2 + 0.5 * 0.8.
    assert at_five.cohen_binary.value == pytest.approx(0.4)
    assert (at_five.prevalence.value, at_five.judge_prevalence.value) == (0.5, 0.2)


def test_class_that_the_judge_never_gives_is_undefined(rosa, study):
    Rating.objects.filter(rater=study.judge, grade=5).delete()
    response = rosa.get(study.url("agreement"))
    at_five = response.context["report"].judge.sweep[4]
    assert at_five.precision_answerable.value is None
    assert at_five.precision_answerable.reason.endswith("the judge found no item answerable")
    assert "Undefined, because the judge found no item answerable" in text_of_page(response)


def test_confusion_and_the_sweep_follow_the_rater_in_the_url(rosa, study):
    # ben alone: oracle 1 0 0 against 5 1 0, bm25 1 0 against 2 4.
    response = rosa.get(study.url("agreement", "truth=ben"))
    judged = response.context["judged"]
    confusion = judged.confusion
    assert (confusion.tp, confusion.fp, confusion.fn, confusion.tn) == (1, 1, 1, 2)
    assert (judged.n, judged.n_without_judge) == (5, 1)
    page = response.content.decode()
    # Its numbers open pairs of ben's, and eta keeps ben.
    assert "raters=ben&amp;judge=judge&amp;eta=3&amp;cell=fp" in page
    assert "eta=2&amp;truth=ben#judge" in page
    page_tables = tables(response)
    assert page_tables["Grades by ben (rows) and by judge (columns)"] == [
        ["0", "2", "1", "3"],
        ["1", "1", "1", "2"],
    ]
    assert [row[-1] for row in page_tables["Every threshold as a table"]] == ["5"] * 5
    # The rest of the page stays that of all raters.
    assert response.context["report"].judge.n == 10


def test_rater_whom_the_judge_is_not_compared_with(rosa, study):
    response = rosa.get(study.url("agreement", "truth=eve"))
    assert response.status_code == 400
    assert "called “eve”. There are: ann, ben" in text_of_page(response)
    assert rosa.get(study.url("agreement", "truth=ben&raters=ann")).status_code == 400


def test_raters_against_the_majority_of_the_others(rosa, study, third):
    # ann 1 1 0 1 0 1, ben 1 0 0 1 0 1, cat 1 0 0 0 0 1, item by item.
    # For ann: ben and cat agree on all but bm25 1, so five items: 1 1, 1 0, 0 0, 0 0, 1 1.
    report = rosa.get(study.url("agreement", "judge=")).context["report"]
    ann, ben, cat = report.majority
    assert (ann.kappa.n, ann.n_dropped, ann.percent.value) == (5, 1, 0.8)
    # Shares of 1: 5/10, chance 1/2.
    assert ann.kappa.value == pytest.approx((0.8 - 0.5) / 0.5)
    assert ann.prevalence.value == 0.5
    # For ben: ann and cat differ on oracle 2 and bm25 1; equal on the other four.
    assert (ben.kappa.value, ben.kappa.n, ben.n_dropped) == (1, 4, 2)
    # For cat: ann and ben differ on oracle 2 alone; bm25 1 is where cat stands alone.
    assert (cat.percent.value, cat.kappa.n) == (0.8, 5)


def test_judge_against_the_majority_of_the_raters(rosa, study, third):
    # The majority says oracle 1 0 0, bm25 1 0 1; the judge at eta 3 says 1 0 0, 0 1, and nothing.
    response = rosa.get(study.url("agreement"))
    row = response.context["report"].majority[-1]
    assert (row.rater.name, row.kappa.n, row.percent.value) == ("judge", 5, pytest.approx(3 / 5))
    assert row.n_dropped == 0
    assert "judge with the grade that more than half of the raters gave (at η = 3)" in text_of_page(
        response
    )


def test_majority_of_two_raters_is_undefined(rosa, study):
    response = rosa.get(study.url("agreement"))
    assert response.context["report"].majority == ()
    assert "Against the majority" not in text_of_page(response)


def test_judge_with_yes_and_no_has_no_thresholds(rosa, study):
    Rating.objects.filter(rater=study.judge).delete()
    for text in (study.oracle, study.bm25):
        Rating.objects.bulk_create(
            Rating(
                rater=study.judge,
                rubric=Rubric.objects.get(slug="answerable"),
                text=text,
                question=question,
                grade=1,
            )
            for question in study.questions[:3]
        )
    response = rosa.get(study.url("agreement"))
    assert response.context["report"].judge.n == 12
    assert response.context["report"].judge.sweep == ()
    assert "at every threshold" not in text_of_page(response)

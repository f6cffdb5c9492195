"""Grades that are not independent: left out of agreement and counted, or included."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.models import Rater, Rating
from annotation.models.rating import EXPOSED, Exposure, IsExposed
from evaluation.agreement.judges import judge_scores, select_judge
from evaluation.agreement.report import agreement_report
from evaluation.data.selection import select
from tests.evaluation.agreement.command import as_object
from tests.toolbox.agreement_study import make_study
from tests.toolbox.responses import csv_rows, text_of_page

PAGE = "/datasets/ferry/agreement/"


@pytest.fixture
def study(db):
    """Two grades of ben were given after feedback: on the first he differs from ann."""
    ferry = make_study()
    Rating.objects.filter(
        rater__name="ben", text=ferry.oracle, question__in=ferry.questions[1:3]
    ).update(exposure=Exposure.FEEDBACK)
    return ferry


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def report(client, query=""):
    return client.get(f"/datasets/ferry/agreement.json?raters=ann,ben{query}").json()


def test_index_has_the_exposed_grades(study):
    assert Rating.objects.filter(IsExposed()).count() == 2
    raters = list(Rater.objects.values_list("pk", flat=True))
    exposed = Rating.objects.filter(IsExposed(), rater__in=raters)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # of a few rows it reads all
            cursor.execute("SET LOCAL enable_seqscan = off")
    assert "rating_exposed" in exposed.explain()


def test_exposed_grades_are_left_out_and_counted(rosa, study):
    left_out = report(rosa)
    assert left_out["exposed"]["n"] == 2
    assert left_out["exposed"]["grades"] == "left-out"
    included = report(rosa, "&exposed=included")
    assert (left_out["n_missing"], included["n_missing"]) == (2, 0)
    kappa = included["fleiss_kappa"]["value"]
    assert left_out["exposed"]["fleiss_kappa_with_exposed"]["value"] == kappa
    assert included["exposed"]["fleiss_kappa_with_exposed"]["value"] == kappa
    assert left_out["fleiss_kappa"]["value"] != kappa
    assert left_out["fleiss_kappa"]["n"] == included["fleiss_kappa"]["n"] - 2
    assert as_object("ferry", "--raters", "ann,ben", "--exposed", "included") == report(
        rosa, "&exposed=included&judge="
    )


def test_page_says_how_many_and_offers_both(rosa, study):
    page = rosa.get(f"{PAGE}?raters=ann,ben")
    assert "2 grades are not independent" in text_of_page(page)
    assert "They are left out. With them, κ is 0.66. Include them" in text_of_page(page)
    assert "exposed=included" in page.content.decode()
    page = text_of_page(rosa.get(f"{PAGE}?raters=ann,ben&exposed=included"))
    assert "They are included. Leave them out" in page
    assert "with grades that are not independent" in page


def test_files_have_the_count_and_both_kappas(rosa, study):
    rows = csv_rows(rosa.get(f"{PAGE}numbers.csv?raters=ann,ben"))
    numbers = {row["measure"]: row["value"] for row in rows if row["scope"] == "all"}
    assert numbers["exposed_ratings"] == "2"
    assert float(numbers["fleiss_kappa_with_exposed"]) == pytest.approx(23 / 35)


def test_disagreements_leave_them_out_too(rosa, study):
    rows = csv_rows(rosa.get("/datasets/ferry/pairs.csv?raters=ann,ben&kind=differ"))
    included = csv_rows(
        rosa.get("/datasets/ferry/pairs.csv?raters=ann,ben&kind=differ&exposed=included")
    )
    assert len(rows) == len(included) - 1


def test_page_without_exposed_grades(rosa, study):
    Rating.objects.update(exposure=Exposure.UNKNOWN)
    assert "exposed" not in report(rosa)
    assert "not independent" not in text_of_page(rosa.get(f"{PAGE}?raters=ann,ben"))


@pytest.mark.parametrize("exposure", Exposure)
def test_unknown_counts_as_independent(study, exposure):
    Rating.objects.update(exposure=exposure)
    selection = select(study.dataset, raters=["ann,ben"])
    assert (as_object("ferry")["n_items"] == 0) == (exposure in EXPOSED)
    assert selection.raters_to_check == [rater.pk for rater in selection.raters]


def test_adjudicators_and_judges_that_are_chosen_stay(study):
    Rater.objects.filter(name="ben").update(is_adjudicator=True)
    Rating.objects.filter(rater__name__in=["ben", "judge"]).update(exposure=Exposure.RATERS)
    chosen = as_object("ferry", "--raters", "ann,ben", "--judge", "judge")
    assert (chosen["n_missing"], "exposed" in chosen) == (0, False)


def test_other_values_are_refused_with_the_list(rosa, study):
    response = rosa.get(f"{PAGE}?exposed=all")
    assert response.status_code == 400
    assert "There are: left-out, included." in text_of_page(response)
    with pytest.raises(CommandError, match="There are: left-out, included"):
        call_command("agreement", "ferry", "--exposed", "all")


def test_copies_of_a_grade_are_one(rosa, study):
    exposed = study.rating(study.ben, study.oracle, 2)
    copy = study.rating(study.ben, study.bm25, 2)
    Rating.objects.filter(pk=copy.pk).update(
        grade=exposed.grade, copied_from=study.oracle, exposure=Exposure.FEEDBACK
    )
    assert report(rosa)["exposed"]["n"] == 2


def test_judges_are_compared_with_the_same_grades(study):
    selection = select(study.dataset, raters=["ann", "ben"], exposed="included")
    [(_, scores)] = judge_scores(selection)
    judge = selection.judges[0]
    expected = agreement_report(select_judge(selection, judge)).judge
    assert scores.cohen_kappa == expected.cohen_kappa
    [(_, left_out)] = judge_scores(select(study.dataset, raters=["ann", "ben"]))
    assert left_out.cohen_kappa != scores.cohen_kappa


@pytest.mark.parametrize("page", ["disagreements/", "agreement/", "mixed-model/"])
def test_forms_keep_the_choice(rosa, study, page):
    response = rosa.get(f"/datasets/ferry/{page}?raters=ann,ben&exposed=included")
    assert '<input type="hidden" name="exposed" value="included">' in response.content.decode()


def test_matrix_displays_exposed_grades(rosa, study):
    def cells():
        page = rosa.get("/datasets/ferry/matrix/under/answerable/?rater=ben").context["page"]
        return page.rows

    exposed = cells()
    Rating.objects.update(exposure=Exposure.UNKNOWN)
    assert exposed == cells()


def test_page_of_a_pair_marks_them(rosa, study):
    def text(number):
        pair = f"{study.oracle.pk}/{study.questions[number - 1].pk}/"
        return text_of_page(rosa.get(f"/datasets/ferry/pairs/{pair}?raters=ann,ben"))

    assert text(2).count("had seen the decisions of an expert on other pairs") == 1
    assert "had seen" not in text(1)

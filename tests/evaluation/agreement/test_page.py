"""datasets/<slug>/agreement/"""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Dataset, Rater, Rating, Rubric
from tests.toolbox.agreement_study import make_study
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import markup, text_of_page


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


@pytest.mark.parametrize("account", ["admin", "researcher"])
def test_researchers_and_admins_see_it(cast, study, account):
    response = cast.client(account).get(study.url("agreement"))
    assert response.status_code == 200
    assert "Fleiss κ" in text_of_page(response)


def test_worker_is_refused(cast, study):
    assert cast.client("worker").get(study.url("agreement")).status_code == 403


def test_stranger_is_sent_to_the_login(cast, study):
    response = cast.client("stranger").get(study.url("agreement"))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))


def test_page_refuses_post(rosa, study):
    assert rosa.post(study.url("agreement")).status_code == 405


def test_unknown_dataset_is_404(rosa, db):
    assert rosa.get("/datasets/nowhere/agreement/").status_code == 404


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("rubric=nope", "no rubric “nope”. There are: answerable, graded"),
        ("raters=ann,eve", "called “eve”. There are: ann, ben"),
        ("judge=eve", "“eve”. There are: judge"),
        ("eta=9", "no eta “9”. There are: 1, 2, 3, 4, 5"),
        ("eta=three", "no eta “three”"),
    ],
)
def test_unknown_choice_is_answered_with_the_list(rosa, study, query, message):
    response = rosa.get(study.url("agreement", query))
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_numbers_between_raters(rosa, study):
    # Six items, five equal: 5/6. ann says yes four times, ben three times.
    # Fleiss: shares 7/12 and 5/12, chance 74/144; (5/6 - 74/144) / (1 - 74/144) = 0.657.
    # AC1: chance 70/144; 0.676. Cohen: chance (4*3 + 2*3)/36 = 1/2; 0.667.
    report = rosa.get(study.url("agreement")).context["report"]
    assert report.n_items == 6
    assert report.n_missing == 0
    assert report.n_filtered == 2
    assert report.all.kappa.value == pytest.approx(0.657, abs=5e-4)
    assert report.all.ac1.value == pytest.approx(0.676, abs=5e-4)
    assert report.all.percent.value == pytest.approx(5 / 6)
    assert report.all.prevalence.value == pytest.approx(7 / 12)
    (pair,) = report.pairs
    assert pair.kappa.value == pytest.approx(2 / 3)
    assert (pair.kappa.n, pair.kappa.missing) == (6, 0)
    # Both answerable three times; on one of them ben's words are not in the text.
    assert (pair.spans_meet.value, pair.spans_meet.n, pair.spans_meet.missing) == (0.5, 2, 1)


def test_coverage_counts_the_questions_that_are_not_filtered(rosa, study):
    report = rosa.get(study.url("agreement")).context["report"]
    coverage = {row.system: [estimate.value for estimate in row.coverage] for row in report.reports}
    assert coverage["annotated.oracle"] == pytest.approx([2 / 3, 1 / 3])
    assert coverage["annotated.bm25"] == pytest.approx([2 / 3, 2 / 3])
    by_judge = {row.system: row.judge for row in report.reports}
    assert by_judge["annotated.oracle"].value == pytest.approx(1 / 3)
    assert by_judge["annotated.bm25"].missing == 1


def test_page_prints_what_the_report_holds(rosa, study):
    page_text = text_of_page(rosa.get(study.url("agreement")))
    assert "Fleiss κ 0.66" in page_text
    assert "Gwet AC1 0.68" in page_text
    assert "Percent agreement 0.83" in page_text
    assert "of 12 possible ratings of 2 raters" in page_text
    assert "n = 6" in page_text
    assert "2 more were filtered" in page_text


def test_undefined_value_displays_the_reason(rosa, study):
    page_text = text_of_page(rosa.get(study.url("agreement")))
    # Two reports are too few to correlate; one topic is no cluster to leave out.
    assert "because 2 complete pairs are fewer than three" in page_text
    assert "No interval, because there are fewer than two clusters" in page_text


def test_judge_of_another_scale_is_read_at_eta(rosa, study):
    # ann: tp, fn, tn, fn, fp; ben: tp, tn, tn, fn, fp; two ratings of bm25 3 have no judge.
    judged = rosa.get(study.url("agreement")).context["report"].judge
    confusion = judged.confusion
    assert (confusion.tp, confusion.fp, confusion.fn, confusion.tn) == (2, 2, 3, 3)
    assert (judged.n, judged.n_without_judge) == (10, 2)
    assert judged.precision_answerable.value == 0.5
    assert judged.recall_answerable.value == pytest.approx(2 / 5)
    assert judged.precision_unanswerable.value == 0.5
    assert judged.recall_unanswerable.value == pytest.approx(3 / 5)


def test_eta_moves_the_line(rosa, study):
    confusion = rosa.get(study.url("agreement", "eta=2")).context["report"].judge.confusion
    # The judge's 2 for bm25 1 now counts, and both raters said yes to it.
    assert (confusion.tp, confusion.fp, confusion.fn, confusion.tn) == (4, 2, 1, 3)


def test_missing_is_left_out_and_counted(rosa, study):
    study.rating(study.ben, study.oracle, 3).delete()
    report = rosa.get(study.url("agreement")).context["report"]
    assert (report.n_items, report.n_missing) == (6, 1)
    assert (report.all.kappa.n, report.all.kappa.missing) == (5, 1)
    oracle = next(row for row in report.reports if row.system == "annotated.oracle")
    assert (oracle.coverage[1].value, oracle.coverage[1].missing) == (pytest.approx(1 / 3), 1)


def test_report_that_a_rater_never_saw_has_no_coverage_by_them(rosa, study):
    Rating.objects.filter(rater=study.ben, text=study.oracle).delete()
    report = rosa.get(study.url("agreement")).context["report"]
    oracle = next(row for row in report.reports if row.system == "annotated.oracle")
    assert oracle.coverage[1].value is None
    assert oracle.coverage[1].reason == "undefined, because none of it is rated"


def test_rater_of_another_dataset_is_not_a_choice(rosa, study):
    train = make_dataset("train")
    Rating.objects.create(
        rater=Rater.objects.create(dataset=train, name="zoe", kind="human"),
        rubric=Rubric.objects.get(slug="answerable"),
        text=train.texts.first(),
        question=train.topics.first().questions.first(),
        grade=1,
    )
    report = rosa.get(study.url("agreement")).context["report"]
    assert [rater.name for rater in report.selection.everyone] == ["ann", "ben"]


def test_page_without_ratings(rosa, dataset):
    response = rosa.get(f"/datasets/{dataset.slug}/agreement/")
    assert response.status_code == 200
    assert "This dataset has no ratings under this rubric yet." in text_of_page(response)


def test_page_with_a_single_rater(rosa, study):
    response = rosa.get(study.url("agreement", "raters=ann"))
    assert "Agreement needs two raters; only one is chosen." in text_of_page(response)
    assert "because no item has two ratings" in text_of_page(response)


def test_page_without_a_judge(rosa, study):
    assert "No judge is chosen." in text_of_page(rosa.get(study.url("agreement", "judge=")))
    study.judge.ratings.all().delete()
    assert "No judge has rated these texts yet" in text_of_page(rosa.get(study.url("agreement")))


def test_baseline_is_called_one(rosa, db):
    study = make_study(judge_kind="baseline")
    page_text = text_of_page(rosa.get(study.url("agreement")))
    assert "judge (baseline)" in page_text
    assert "by judge (columns)" not in page_text


def test_grades_against_a_judge_of_the_same_scale(rosa, study):
    graded = Rubric.objects.get(slug="graded")
    Rating.objects.bulk_create(
        Rating(rater=study.ann, rubric=graded, text=study.oracle, question=question, grade=grade)
        for question, grade in zip(study.questions[:2], (4, 3), strict=True)
    )
    response = rosa.get(study.url("agreement", "rubric=graded"))
    judged = response.context["report"].judge
    # 4 against 5, and 3 against 1.
    assert judged.matrix.sum() == 2
    assert judged.matrix[4][5] == judged.matrix[3][1] == 1
    assert (judged.confusion.tp, judged.confusion.fn) == (1, 1)
    assert judged.mean_distance.value == 1.5
    assert "human_grade=3&amp;judge_grade=1" in response.content.decode()


def test_model_chosen_as_a_rater_makes_no_items_of_its_own(rosa, study):
    graded = Rubric.objects.get(slug="graded")
    Rating.objects.create(
        rater=study.ann,
        rubric=graded,
        text=study.oracle,
        question=study.questions[0],
        grade=4,
    )
    query = "rubric=graded&raters=ann&raters=judge"
    report = rosa.get(study.url("agreement", query)).context["report"]
    assert (report.n_items, report.n_missing) == (1, 0)
    assert report.pairs[0].percent.value == 0


def test_grades_of_filtered_questions_count_as_grades_and_not_as_coverage(rosa, study):
    for slug in ("answerable", "graded"):
        Rating.objects.create(
            rater=study.ann,
            rubric=Rubric.objects.get(slug=slug),
            text=study.oracle,
            question=study.questions[3],
            grade=1,
        )
    assert rosa.get(study.url("agreement")).context["report"].n_items == 6
    report = rosa.get(study.url("agreement", "rubric=graded")).context["report"]
    assert report.n_items == 1


def test_sections_are_in_order(rosa, study):
    page_text = text_of_page(rosa.get(study.url("agreement"))).partition("Download")[2]
    order = ("Coverage of each report", "By system", "By topic", "Pairs of raters")
    positions = [
        page_text.index(title) for title in (*order, "By rater", "The judge against the raters")
    ]
    assert positions == sorted(positions)
    assert page_text.index("judge at every threshold") < page_text.index("judge against each rater")


def test_names_are_separate_by_dataset(rosa, study):
    Dataset.objects.create(slug="empty", title="Empty")
    assert "This dataset has no ratings" in text_of_page(rosa.get("/datasets/empty/agreement/"))


@pytest.mark.parametrize("query", ["", "judge=", "rubric=graded&raters=judge"])
def test_contents_lead_to_what_is_on_the_page(rosa, study, query):
    page = markup(rosa.get(study.url("agreement", query)))
    contents = re.findall(r'<li><a href="#([^"]+)">', page)
    assert contents[0] == "tiles-title"
    assert [anchor for anchor in contents if page.count(f'id="{anchor}"') != 1] == []

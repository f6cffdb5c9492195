"""datasets/<slug>/agreement/with/<rater>/: a judge against people, for pages of others."""

import pytest
from django.core.cache import cache

from annotation.models import Rater, Rating, Rubric
from evaluation.agreement.judges import compare_with_people
from evaluation.data.selection import select
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import text_of_page

HTMX = {"HX-Request": "true"}


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def url(study, rater: Rater) -> str:
    return study.url(f"agreement/with/{rater.pk}")


def test_summary_is_for_researchers(cast, study):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        client = cast.client(account)
        assert client.get(url(study, study.judge), headers=HTMX).status_code == status
    response = cast.client("researcher").post(url(study, study.judge), headers=HTMX)
    assert response.status_code == 405


def test_missing_judge_is_404(rosa, study):
    foreign_judge = Rater.objects.create(dataset=make_dataset("train"), name="judge", kind="model")
    for path in (
        "/datasets/nowhere/agreement/with/1/",
        study.url("agreement/with/999999"),
        url(study, foreign_judge),  # of another dataset
        url(study, study.ann),  # a person
    ):
        assert rosa.get(path, headers=HTMX).status_code == 404, path


def test_numbers_are_those_of_the_agreement_page(rosa, study):
    # tp 2, fp 2, fn 3, tn 3 at eta 3: half are equal, and half would be by chance.
    response = rosa.get(url(study, study.judge), headers=HTMX)
    (judged,) = response.context["comparisons"]
    page = rosa.get(study.url("agreement", "judge=judge")).context["report"]
    assert judged.scores.cohen_binary == page.judge.cohen_binary
    assert judged.scores.cohen_binary.value == pytest.approx(0)
    page_text = text_of_page(response)
    assert (
        "κ at η = 3: 0.00 no interval ; n = 10 ratings by 2 people, 2 more without a grade of the judge."
        in page_text
    )
    assert "<html" not in response.content.decode()
    assert "HX-Request" in response["Vary"]


def test_summary_on_one_scale_has_a_weighted_kappa(rosa, study):
    graded = Rubric.objects.get(slug="graded")
    for question, grade in zip(study.questions, (5, 2, 0), strict=False):
        Rating.objects.create(
            rater=study.ann, rubric=graded, text=study.oracle, question=question, grade=grade
        )
    page_text = text_of_page(rosa.get(url(study, study.judge), headers=HTMX))
    assert "quadratic κ" in page_text
    assert "n = 3 ratings by 1 person." in page_text
    assert rosa.get(url(study, study.judge))["Location"].endswith(
        "?rubric=graded&judge=judge&eta=3#judge"
    )


def test_judge_without_common_pairs(rosa, study):
    Rating.objects.filter(rater__kind="human").delete()
    page_text = text_of_page(rosa.get(url(study, study.judge), headers=HTMX))
    assert "undefined because no person rated a text that the judge rated" in page_text
    assert rosa.get(url(study, study.judge))["Location"] == study.url("agreement")


def test_undefined_value_displays_the_reason(rosa, study):
    Rating.objects.filter(rater=study.judge).update(grade=5)
    Rating.objects.filter(rater__kind="human").update(grade=1)
    page_text = text_of_page(rosa.get(url(study, study.judge), headers=HTMX))
    assert "κ at η = 3: undefined because all ratings are in one category" in page_text


def test_without_htmx_it_leads_to_the_agreement_page(rosa, study):
    response = rosa.get(url(study, study.judge))
    assert response.status_code == 302
    assert response["Location"] == study.url(
        "agreement", "rubric=answerable&judge=judge&eta=3#judge"
    )
    assert rosa.get(response["Location"]).status_code == 200


def test_summary_is_cached_until_the_data_change(study, django_assert_max_num_queries):
    (before,) = compare_with_people(study.dataset, study.judge.pk)
    with django_assert_max_num_queries(5):  # the version alone
        (second,) = compare_with_people(study.dataset, study.judge.pk)
    assert second.scores.confusion == before.scores.confusion
    Rating.objects.filter(rater=study.judge, grade=5).update(grade=0)
    (updated,) = compare_with_people(study.dataset, study.judge.pk)
    assert updated.scores.confusion != before.scores.confusion


def test_judges_of_one_name_are_distinct(study):
    site = Rater.objects.create(name="judge", kind="model")
    Rating.objects.create(
        rater=site,
        rubric=Rubric.objects.get(slug="graded"),
        text=study.oracle,
        question=study.questions[0],
        grade=5,
    )
    cache.clear()
    assert [judge.name for judge in select(study.dataset).judges] == ["judge", "judge-site"]
    (judged,) = compare_with_people(study.dataset, site.pk)
    assert (judged.scores.n, judged.selection.judge.name) == (2, "judge-site")

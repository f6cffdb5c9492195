"""Certificate of a judge: tested on the page, stored, and void after a change."""

import pytest
from django.urls import reverse

from annotation.models import Campaign, Rater, Rating, Rubric
from annotation.models.rating import Exposure
from crux_site.versions.text_edits import edit_text
from evaluation.data.certificates import certificate_state
from evaluation.models import Certificate
from tests.toolbox.certificate_study import make_certificate_study
from tests.toolbox.responses import csv_rows, text_of_page


@pytest.fixture
def study(db):
    return make_certificate_study()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def run_test(client, study, judge="near", **fields):
    return client.post(study.url(judge), fields, follow=True)


def state(study, judge="near"):
    return str(certificate_state(study.dataset, study.raters[judge].pk, study.rubric.pk))


def test_page_before_a_test_displays_no_result(rosa, study):
    page = text_of_page(rosa.get(study.url("near")))
    assert "not tested" in page
    assert "40 pairs of 8 topics have grades of two people and of the judge." in page
    assert "Winning rate" not in page
    assert not Certificate.objects.exists()


def test_near_judge_holds(rosa, study):
    page = text_of_page(run_test(rosa, study))
    assert "near may stand in for a person on The bay under the rubric" in page
    certificate = Certificate.objects.get()
    assert certificate.is_certified
    assert certificate.created_by.username == "rosa"
    assert certificate.result["winning_rate"] == 1
    assert certificate.result["n_pairs"] == 40
    assert state(study) == "holds"


def test_far_judge_is_not_shown_and_says_what_is_missing(rosa, study):
    page = text_of_page(run_test(rosa, study, "far"))
    assert "far was not shown to be able to stand in for a person" in page
    assert "More labels will not help" in page
    assert state(study, "far") == "not shown"


def test_certificate_is_void_after_a_changed_grade_and_holds_again_after_undo(rosa, study):
    run_test(rosa, study)
    rating = study.rating("ben")
    grade = rating.grade
    Rating.objects.filter(pk=rating.pk).update(grade=0)
    assert state(study) == "void: 1 grade changed in bay-1"
    assert "void: 1 grade changed in bay-1" in text_of_page(rosa.get(study.url("near")))
    Rating.objects.filter(pk=rating.pk).update(grade=grade)
    assert state(study) == "holds"


def test_certificate_is_void_after_a_removed_grade_of_the_judge(rosa, study):
    run_test(rosa, study)
    study.rating("near").delete()
    # The pair has no grade of the judge now, so those of people are not compared either.
    assert state(study) == "void: 4 grades changed in bay-1"


def test_certificate_is_void_after_changed_words(rosa, study, cast):
    run_test(rosa, study)
    rating = study.rating("ann")
    edit_text(rating.text, "Other words.", by=cast.admin, why="", counts=True)
    assert state(study) == "void: words changed in bay-1"
    run_test(rosa, study)
    edit_text(rating.question, "What else?", by=cast.admin, why="", counts=True)
    assert state(study) == "void: words changed in bay-1"


def test_certificate_is_void_after_an_edit_that_ends_grades(rosa, study, cast):
    run_test(rosa, study)
    edit_text(study.rating("ann").text, "Other words.", by=cast.admin, why="", counts=False)
    assert state(study) == "void: 20 grades changed in bay-1"


def test_certificate_is_void_after_a_changed_rubric_or_guideline(rosa, study, cast):
    run_test(rosa, study)
    Rubric.objects.filter(pk=study.rubric.pk).update(guideline="Be strict.")
    assert state(study) == "void: rubric or guideline changed"


def test_guideline_of_a_campaign_counts(rosa, study, cast):
    fields = {"dataset": study.dataset, "rubric": study.rubric, "created_by": cast.admin}
    campaign = Campaign.objects.create(slug="bay-1", title="Bay", state="closed", **fields)
    run_test(rosa, study)
    Campaign.objects.filter(pk=campaign.pk).update(guideline="Other rules.")
    assert state(study) == "void: rubric or guideline changed"


def test_certificate_is_of_one_fingerprint(rosa, study):
    run_test(rosa, study)
    Certificate.objects.update(fingerprint="0" * 64)
    assert state(study) == "void: another judge"


def test_added_grades_leave_the_result_and_are_counted(rosa, study):
    removed = study.rating("cat")
    Rating.objects.filter(pk=removed.pk).delete()
    run_test(rosa, study)
    removed.pk = None
    removed.save()
    assert state(study) == "holds"
    assert "1 grade is newer than the last test" in text_of_page(rosa.get(study.url("near")))


def test_parameters_chosen_after_a_result_are_marked(rosa, study):
    page = text_of_page(run_test(rosa, study, epsilon="0.1"))
    assert "set before any result" in page
    page = text_of_page(run_test(rosa, study, epsilon="0.3"))
    assert "parameters chosen after a result was seen" in page
    assert "chosen after an earlier result" in page
    assert "It was test 2 of this judge on these data." in page
    page = text_of_page(run_test(rosa, study, epsilon="0.1"))
    assert "set before any result" in page
    assert Certificate.objects.count() == 3


def test_exposed_grades_are_not_compared(rosa, study):
    Rating.objects.filter(rater=study.raters["cat"]).update(exposure=Exposure.JUDGE)
    run_test(rosa, study)
    result = Certificate.objects.get().result
    assert [person["n_pairs"] for person in result["people"]] == [40, 40, 0]


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (["ann"], "The test needs 2 people, and 1 graded."),
        (["nobody"], "There is no"),
        (["ann", "near"], "near: a judge is compared with people alone."),
    ],
)
def test_people_that_do_not_allow_a_test_are_refused(rosa, study, people, message):
    assert message in text_of_page(run_test(rosa, study, people=people))
    assert not Certificate.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("epsilon", "2", "Margin ε: give a number from 0 to 1, not 2."),
        ("epsilon", "nan", "Margin ε: give a number"),
        ("epsilon", "many", "Margin ε: give a number from 0 to 1, not many."),
        ("agreement_margin", "0", "Margin of agreement: give a number from 0.001 to 1, not 0."),
        ("bias_margin", "-1", "Margin of bias: give a number"),
    ],
)
def test_number_out_of_its_limits_is_refused(rosa, study, field, value, message):
    response = rosa.post(study.url("near"), {field: value})
    assert response.status_code == 400
    assert message in text_of_page(response)
    assert not Certificate.objects.exists()


def test_few_topics_are_refused_with_the_numbers(rosa, db):
    study = make_certificate_study(n_topics=5)
    page = text_of_page(run_test(rosa, study))
    assert "25 pairs have grades of two people, 25 of them also of the judge, in 5 topics." in page
    assert "The test needs 6 topics" in page
    assert not Certificate.objects.exists()


def test_few_pairs_are_refused_with_the_numbers(rosa, study):
    ratings = Rating.objects.filter(rater=study.raters["ann"], question__position__gte=3)
    ratings.delete()
    page = text_of_page(run_test(rosa, study, people=["ann", "ben"]))
    assert (
        "24 pairs have grades of two people, 24 of them also of the judge, in 8 topics: ann 24, ben 24. "
        "The test needs 2 people with 30 of these pairs each." in page
    )
    assert not Certificate.objects.exists()


def test_files_have_the_state_and_the_evidence(rosa, study):
    run_test(rosa, study)
    arguments = ["bay", "graded", study.raters["near"].pk]
    assert reverse("certificate_json", args=arguments) == study.url("near", ".json")
    content = rosa.get(study.url("near", ".json")).json()
    assert (content["state"], content["void_because"]) == ("holds", "")
    assert content["parameters"]["people"] == ["ann", "ben", "cat"]
    assert content["result"]["people"][0]["passes"] is True
    rows = csv_rows(rosa.get(study.url("near", "/people.csv")))
    assert [row["person"] for row in rows] == ["ann", "ben", "cat"]
    slices = csv_rows(rosa.get(study.url("near", "/slices.csv")))
    assert [row["slice"] for row in slices] == [
        "shortest third of texts",
        "middle third of texts",
        "longest third of texts",
    ]
    assert {row["reason"] for row in slices} == {"fewer than 6 topics"}
    assert len(rosa.get(study.url("near", "/slices.json")).json()) == 3
    assert "Certificate: holds" in rosa.get(study.url("near", "/bias.tex")).content.decode()


def test_list_and_other_pages_display_the_state(rosa, study):
    run_test(rosa, study)
    run_test(rosa, study, "far")
    page = text_of_page(rosa.get("/datasets/bay/certificates/"))
    assert "near" in page
    assert "holds" in page
    assert "not shown" in page
    for url in (
        "agreement/?rubric=graded&judge=near",
        "judges/?rubric=graded",
        "disagreements/?judge=near",
    ):
        page = rosa.get(f"/datasets/bay/{url}", follow=True)
        assert f'href="{study.url("near")}"' in page.content.decode(), url
    Rating.objects.filter(pk=study.rating("ben").pk).update(grade=0)
    page = rosa.get("/datasets/bay/agreement/?rubric=graded&judge=near")
    assert "void: 1 grade changed in bay-1" in text_of_page(page)


def test_missing_certificate_has_no_files(rosa, study):
    assert rosa.get(study.url("near", ".json")).status_code == 404
    assert rosa.get(study.url("near", "/people.csv")).status_code == 404


def test_unknown_judge_rubric_and_table_are_not_found(rosa, study):
    run_test(rosa, study)
    assert rosa.get("/datasets/bay/certificates/graded/999999/").status_code == 404
    assert rosa.get("/datasets/bay/certificates/nothing/1/").status_code == 404
    assert rosa.get(study.url("ann")).status_code == 404
    assert rosa.get(study.url("near", "/nothing.csv")).status_code == 404


def test_annotator_and_other_methods_are_refused(cast, rosa, study):
    assert cast.client("worker").get(study.url("near")).status_code == 403
    assert cast.client("worker").post(study.url("near")).status_code == 403
    assert rosa.put(study.url("near")).status_code == 405
    assert rosa.post("/datasets/bay/certificates/").status_code == 405


def test_further_person_among_all_people_is_no_choice(rosa, study):
    run_test(rosa, study)
    dan = Rater.objects.create(dataset=study.dataset, name="dan", kind="human")
    for rating in Rating.objects.filter(rater=study.raters["ann"]):
        rating.pk, rating.rater = None, dan
        rating.save()
    assert "set before any result" in text_of_page(run_test(rosa, study))
    page = text_of_page(run_test(rosa, study, people=["ann", "ben"]))
    assert "parameters chosen after a result was seen" in page


def test_people_of_yes_and_no_are_compared_at_eta(rosa, study):
    answerable = Rubric.objects.get(slug="answerable")
    for rating in Rating.objects.filter(rater__kind="human"):
        Rating.objects.filter(pk=rating.pk).update(rubric=answerable, grade=int(rating.grade >= 3))
    url = study.url("near").replace("graded", "answerable")
    page = rosa.get(url)
    assert '<select name="eta">' in page.content.decode()
    rosa.post(url, {"eta": "3"})
    certificate = Certificate.objects.get()
    assert certificate.parameters["eta"] == 3
    assert certificate.result["scoring"] == "accuracy"
    assert certificate.result["n_pairs"] == 40
    key = (study.raters["near"].pk, answerable.pk)
    assert str(certificate_state(study.dataset, *key)) in ("holds", "not shown")


def test_list_takes_few_queries(rosa, study, django_assert_max_num_queries):
    run_test(rosa, study)
    rosa.get("/datasets/bay/certificates/")
    with django_assert_max_num_queries(30):
        rosa.get("/datasets/bay/certificates/")

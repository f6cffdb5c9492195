"""judges/<pk>/tests/: results of the tests of a judge, and the start of one."""

import json

import pytest

from annotation.models import Dataset, Project, Rater, Rating
from judging.models import JudgeRun
from tests.toolbox.judge_test_study import prompted_judge
from tests.toolbox.judging_study import make_study
from tests.toolbox.responses import csv_rows, text_of_page

START = {"test": "repeat", "pairs": 10, "repeats": 3, "seed": 0, "endpoint": "local", "start": 1}


@pytest.fixture
def ada(cast, settings):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    return cast.client("admin")


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_judge_page_links_to_its_tests(rosa, judge, dataset, page_of):
    assert f'href="{page_of}"' in rosa.get(f"/judges/{judge.pk}/").content.decode()


def test_page_has_a_row_for_each_test(rosa, run, page_of):
    text = text_of_page(rosa.get(page_of))
    assert "Repeat the same requests again finished 12 2 times each 1 of 24 0.35" in text
    assert "Order of questions the questions of a prompt in reverse not offered" in text
    assert "Injected instruction" in text
    assert "because no person has graded what this judge has graded" in text
    assert "Start a test" not in text


def test_result_has_the_differing_replies_and_the_noise_of_scores(rosa, run, page_of):
    response = rosa.get(f"/judge-runs/{run.pk}/test/")
    text = text_of_page(response)
    result = response.context["result"]
    assert (result.n_pairs, result.n_replies, result.n_failed) == (12, 24, 1)
    assert result.measures["changes"].value == pytest.approx(8 / 23)
    assert result.measures["changes"].missing == 1
    [score] = result.scores
    assert (score.group, score.n_pairs) == ("passages", 24)
    assert score.at_eta.value == 0  # 3 and 4 are both at eta
    assert len(response.context["replies"]) == 8
    assert "passages 24 ± 0." in text or "passages 24 0." in text
    rows = csv_rows(rosa.get(f"/judge-runs/{run.pk}/test/replies.csv"))
    assert len(rows) == 8
    assert {(row["grade"], row["new_grade"]) for row in rows} == {("3", "4")}


def test_results_are_files(rosa, run, judge, dataset, page_of):
    rows = csv_rows(rosa.get(f"/judges/{judge.pk}/tests.csv?dataset={dataset.slug}"))
    assert [row["measure"] for row in rows] == [
        *("changes", "unstable_pairs", "within_pair_sd", "length_bias")
    ]
    assert float(rows[0]["value"]) == pytest.approx(8 / 23)
    content = json.loads(rosa.get(f"/judges/{judge.pk}/tests.json?dataset={dataset.slug}").content)
    [test] = content["tests"]
    assert (test["pairs"], test["repeats"], test["failed"]) == (12, 2, 1)
    assert content["length_bias"]["value"] is None
    assert rosa.get(f"{page_of[:-1]}.tex?dataset={dataset.slug}").status_code == 200
    assert rosa.get(f"{page_of[:-1]}.csv").status_code == 404


def test_estimate_counts_the_requests_and_starts_nothing(ada, judge, dataset, page_of):
    typed = {name: value for name, value in START.items() if name != "start"}
    estimate = ada.post(page_of, {**typed, "dataset": dataset.slug, "count": 1})
    assert "30 requests: 10 pairs, 3 times each." in text_of_page(estimate)


def test_start_leads_to_the_run(ada, cast, judge, dataset, page_of):
    response = ada.post(page_of, {**START, "dataset": dataset.slug})
    run = JudgeRun.objects.exclude(test="").get()
    assert response.url == f"/judge-runs/{run.pk}/"
    assert (run.test, run.repeats, run.selection, run.endpoint, run.created_by) == (
        *("repeat", 3, {"limit": 10}, "local"),
        cast.admin,
    )
    text = text_of_page(ada.get(response.url))
    assert "grades a random sample of at most 10 pairs again, as the test “Repeat”" in text
    repeated = ada.post(page_of, {**START, "dataset": dataset.slug})
    assert repeated.status_code == 422
    assert "it is the test “Repeat”" in text_of_page(repeated)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pairs", 0),
        ("pairs", "many"),
        ("repeats", 1),
        ("repeats", 11),
        ("seed", -1),
        ("test", "question_order"),
        ("endpoint", ""),
        ("endpoint", "http://169.254.0.1/"),
    ],
)
def test_invalid_value_is_refused_at_its_field(ada, dataset, page_of, field, value):
    response = ada.post(page_of, {**START, "dataset": dataset.slug, field: value})
    assert response.status_code == 422
    assert [*response.context["form"].errors] == [field]
    assert not JudgeRun.objects.exclude(test="").exists()


def test_test_that_changes_nothing_is_refused_in_a_sentence(ada, dataset, page_of):
    response = ada.post(page_of, {**START, "dataset": dataset.slug, "test": "citations"})
    assert response.status_code == 422
    assert "changes the prompt of none of the 24 pairs" in text_of_page(response)


def test_run_page_of_a_test_is_that_of_any_run(ada, run):
    text = text_of_page(ada.get(f"/judge-runs/{run.pk}/"))
    assert "test “Repeat”" in text
    assert "result of the test" in text
    assert "Retry failed pairs" not in text
    assert "All attempts" not in text
    failures = text_of_page(ada.get(f"/judge-runs/{run.pk}/failures/all/"))
    assert "1 reply of tested" in failures
    assert ada.post(f"/judge-runs/{run.pk}/retry/", follow=True).status_code == 200
    assert JudgeRun.objects.exclude(test="").count() == 1
    assert "test: Repeat" in text_of_page(ada.get("/judge-runs/"))


def test_only_owners_start_and_only_members_read(cast, run, judge, dataset, page_of):
    typed = {**START, "dataset": dataset.slug}
    for role, read, post in (
        ("researcher", 200, 403),
        ("worker", 403, 403),
        ("stranger", 302, 302),
    ):
        client = cast.client(role)
        for path in (
            page_of,
            f"/judge-runs/{run.pk}/test/",
            f"/judge-runs/{run.pk}/test/replies.csv",
        ):
            assert client.get(path).status_code == read, (role, path)
        assert client.post(page_of, typed).status_code == post
    assert JudgeRun.objects.exclude(test="").count() == 1
    assert cast.client("admin").delete(page_of).status_code == 405
    for path in (f"/judge-runs/{run.pk}/test/", f"{page_of[:-1]}.csv", f"{page_of[:-1]}.json"):
        assert cast.client("admin").post(path).status_code == 405


def test_datasets_and_runs_of_other_projects_are_not_found(cast, rosa, run, judge, page_of):
    private = make_study(slug="private")
    Dataset.objects.filter(pk=private.pk).update(
        project=Project.objects.create(slug="other", title="Other")
    )
    assert rosa.get(f"{page_of}?dataset=private").status_code == 404
    assert rosa.post(page_of, {**START, "dataset": "private"}).status_code == 404
    assert rosa.get(f"{page_of[:-1]}.json?dataset=private").status_code == 404
    JudgeRun.objects.filter(pk=run.pk).update(dataset=private)
    assert rosa.get(f"/judge-runs/{run.pk}/test/").status_code == 404
    assert rosa.get("/judges/999999/tests/").status_code == 404
    ordinary = judge.runs.get(test="")
    assert rosa.get(f"/judge-runs/{ordinary.pk}/test/").status_code == 404
    assert rosa.get(f"{page_of}?dataset=%00").status_code in (400, 404)


def test_length_bias_is_that_of_the_ratings(rosa, judge, dataset, page_of):
    person = Rater.objects.create(name="ann", kind="human", dataset=dataset)
    texts = list(dataset.texts.order_by("topic", "pk"))
    for number, text in enumerate(texts):
        text.body = "w" * 2 ** (number % 3 + 2)
        text.save()
        Rating.objects.bulk_create(
            Rating(
                rater=person,
                rubric=judge.rubric,
                text=text,
                question=question,
                grade=3 - number % 3,
            )
            for question in text.topic.questions.all()
        )
    response = rosa.get(page_of)
    # The judge gives 3 to all; people one grade less for each doubling.
    estimate = response.context["tests"].length
    assert (estimate.value, estimate.n) == (pytest.approx(1), 6)


def test_judge_without_a_dataset_says_what_comes_first(cast, db):
    judge = prompted_judge("idle")
    text = text_of_page(cast.client("admin").get(f"/judges/{judge.pk}/tests/"))
    assert "Start a judge run first" in text

"""datasets/<slug>/judges/: judges ranked by their agreement with people on the same pairs."""

import pytest

from annotation.models import Rater, Rating, Rubric
from judging.models import Attempt, JudgeRun
from tests.toolbox.factories import make_dataset
from tests.toolbox.reply_study import make_reply_study
from tests.toolbox.responses import csv_rows, text_of_page

URL = "/datasets/ferry/judges/"


def rate(dataset, name: str, kind: str, grades: dict[int, int]) -> Rater:
    """Grades of the passage by the numbers of its questions."""
    rater = Rater.objects.create(dataset=dataset, name=name, kind=kind)
    passage = dataset.texts.get(name=f"{dataset.slug}-1:0#0")
    graded = Rubric.objects.get(slug="graded")
    questions = {question.number: question for question in passage.topic.questions.all()}
    Rating.objects.bulk_create(
        Rating(rater=rater, rubric=graded, text=passage, question=questions[number], grade=grade)
        for number, grade in grades.items()
    )
    return rater


@pytest.fixture
def dataset(db):
    study = make_dataset()
    rate(study, "ann", "human", {1: 5, 2: 0, 3: 3})
    rate(study, "alike", "model", {1: 5, 2: 0, 3: 2})
    rate(study, "unlike", "model", {1: 0, 2: 5, 3: 2})
    rate(study, "few", "model", {1: 5})
    return study


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_judges_are_ranked_on_the_pairs_that_all_of_them_graded(rosa, dataset):
    response = rosa.get(f"{URL}?rubric=graded")
    assert "2 judges against 1 rater on 3 pairs of 1 topic" in text_of_page(response)
    ranking = response.context["ranking"]
    assert [(row.column.name, row.rank) for row in ranking.judges] == [("alike", 1), ("unlike", 2)]
    # Squared distances of 5 0 3 and 5 0 2: observed (0 + 0 + 1) / 3; expected, over all nine combinations,
    # (0 + 25 + 9 + 25 + 0 + 4 + 4 + 9 + 1) / 9.
    assert ranking.judges[0].agreement.value == pytest.approx(1 - (1 / 3) / (77 / 9))
    assert 'name="judge"' not in response.content.decode()
    assert [(column.name, n) for column, n in ranking.left_out] == [("few", 1)]
    assert (
        "Left out, so that the other judges have more common pairs: few (1 pair)"
        in text_of_page(response)
    )


def test_owner_can_start_a_judge_run_from_the_page(cast, rosa, dataset):
    link = "/judge-runs/new/?dataset=ferry"
    assert link in cast.client("admin").get(f"{URL}?rubric=graded").content.decode()
    assert link not in rosa.get(f"{URL}?rubric=graded").content.decode()


def test_chosen_judges_narrow_the_pairs(rosa, dataset):
    response = rosa.get(f"{URL}?rubric=graded&of=alike&of=few")
    assert "on 1 pair of 1 topic" in text_of_page(response)
    assert {row.column.name for row in response.context["ranking"].judges} == {"alike", "few"}
    assert all(row.rank is None for row in response.context["ranking"].judges)  # of one pair
    refused = rosa.get(f"{URL}?rubric=graded&of=nobody")
    assert refused.status_code == 400
    assert "There is no judge “nobody”. There are: alike, few, unlike." in text_of_page(refused)


def test_rubrics_rank_their_own_judges(rosa, dataset):
    """The form still names the judges of the rubric that it was filled in for."""
    response = rosa.get(f"{URL}?rubric=answerable&of_rubric=graded&of_campaign=&of=few")
    assert response.status_code == 200
    assert "No person has graded under this rubric" in text_of_page(response)


def test_failures_tokens_and_money_are_those_of_the_dataset(cast, db):
    reply_study = make_reply_study()
    rate(reply_study.dataset, "ann", "human", {1: 5, 2: 0, 3: 3, 4: 1})
    JudgeRun.objects.filter(judge=reply_study.first).update(
        price_in=1000, price_out=0, currency="EUR"
    )
    client = cast.client("admin")
    response = client.get(f"{URL}?rubric=graded")
    rows = {row.column.name: (row, usage) for row, usage in response.context["rows"]}
    _, usage = rows[reply_study.first.slug]
    attempts = Attempt.objects.filter(judge=reply_study.first, counts=True)
    assert usage.n_replies == attempts.count()
    assert usage.n_failed == attempts.exclude(state="graded").count() > 0
    assert usage.failures[0][1] >= 1
    [(currency, money)] = usage.money
    batches = [
        batch
        for run in JudgeRun.objects.filter(judge=reply_study.first)
        for batch in run.batches.all()
    ]
    assert currency == "EUR"
    assert money == pytest.approx(sum(batch.prompt_tokens for batch in batches) / 1000)
    line = next(
        line
        for line in csv_rows(client.get("/datasets/ferry/judges.csv?rubric=graded"))
        if line["judge"] == reply_study.first.slug
    )
    assert line["fingerprint"] == reply_study.first.fingerprint
    assert int(line["n_without_grade"]) == usage.n_failed
    content = client.get("/datasets/ferry/judges.json?rubric=graded").json()
    judge = next(judge for judge in content["judges"] if judge["judge"] == reply_study.first.slug)
    assert judge["failures"] == dict(usage.failures)
    assert judge["money"] == {"EUR": pytest.approx(money)}
    assert judge["agreement"]["n"] == judge["n_ratings"]


def test_dataset_without_ratings_or_judges_says_so(rosa, db):
    study = make_dataset()
    assert "No person has graded under this rubric" in text_of_page(rosa.get(URL))
    assert rosa.get(URL.rstrip("/") + ".csv").status_code == 404
    rate(study, "ann", "human", {1: 5})
    response = rosa.get(f"{URL}?rubric=graded")
    assert "No judge has graded half of the 1 rated pair." in text_of_page(response)


def test_only_researchers_of_the_project_see_it(cast, dataset):
    for address in (URL, "/datasets/ferry/judges.csv", "/datasets/ferry/judges.json"):
        assert cast.client("worker").get(address).status_code in (403, 404)
        assert cast.client("researcher").post(address).status_code == 405
    assert cast.client("researcher").get("/datasets/none/judges/").status_code == 404

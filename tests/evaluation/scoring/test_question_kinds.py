"""Scores of questions of one kind, worked out by hand from material.py.

kim, under question-type: q0 is of the first kind, as asked of two passages; q1 and q2 are of the second,
q1 by two passages against one; of q3 two passages say one thing each.
"""

import json
from io import StringIO
from math import log2, sqrt

import pytest
from django.core.management import call_command

from annotation.models import Rater, Rating, Rubric
from annotation.models.standard import STANDARD, add_standard
from evaluation.data.question_kinds import question_kinds, questions_of
from evaluation.data.selection import SelectionError
from evaluation.scoring.pools import load_pools
from evaluation.scoring.score import score
from tests.evaluation.scoring.choosing import choose

N = None
KIM = {
    "ferry-1:0#0": (0, 1, N, 0),
    "ferry-1:2#2": (0, 1, 1, 1),
    "ferry-1:10#10": (N, 0, N, N),
}


@pytest.fixture
def typed_study(study):
    add_standard(STANDARD["question-type"])
    study.raters["kim"] = Rater.objects.create(dataset=study.dataset, name="kim", kind="human")
    for name, grades in KIM.items():
        study.rate("kim", study.passages[name], grades, "question-type")
    return study


def topic_score(study, kind, topic="ferry-1", **params):
    options = choose(study.dataset, source="judge", cutoff="size", questions=kind, **params)
    return score(study.dataset, options, ["dense"]).rows[0].topics[topic]


FIRST, SECOND = "question-type:kim:0", "question-type:kim:1"


def test_question_is_what_it_is_called_most_often_and_nothing_where_that_is_open(typed_study):
    study = typed_study
    first, second = question_kinds(study.dataset)
    assert (first.name, second.name) == (FIRST, SECOND)
    label = Rubric.objects.get(slug="question-type").names()[0]
    assert first.title == f"{label}, as kim says"
    q0, q1, q2, _ = (question.pk for question in study.questions)
    assert questions_of(study.dataset, first) == {q0}
    assert questions_of(study.dataset, second) == {q1, q2}


def test_raters_are_called_as_on_other_pages_whoever_else_told_questions_apart(typed_study):
    account = Rater.objects.create(name="kim", kind="human")
    Rating.objects.filter(rater=typed_study.raters["kim"]).update(rater=account)
    assert {kind.rater_name for kind in question_kinds(typed_study.dataset)} == {"kim-site"}


def test_scores_of_one_kind(typed_study):
    # q0 alone: 0#0 and 2#2 of P* answer it, and dense has 2#2 at rank 2. Z* = 0#0 of 14 words.
    topic = topic_score(typed_study, FIRST)
    assert (topic.n_answerable, topic.n_covered) == (1, 1)
    assert topic.required_subset == ("ferry-1:0#0",)
    assert topic.alpha_ndcg.value == pytest.approx((1 / log2(3)) / (1 + 0.5 / log2(3)))
    # Z has 8 + 6 words for one question, Z* has 14 for one.
    assert topic.density.value == pytest.approx(sqrt((1 / 14) / (1 / 14)))


def test_of_another_kind(typed_study):
    # Of q1 and q2 the passages of P* answer q1 alone; the visitor in dense answers it, too.
    topic = topic_score(typed_study, SECOND)
    assert (topic.n_answerable, topic.n_covered, topic.coverage.value) == (1, 1, 1)
    assert topic.required_subset == ("ferry-1:0#1",)
    assert topic_score(typed_study, SECOND, rules="authors").coverage.value == 0


def test_topic_without_such_questions_has_no_score(typed_study):
    topic = topic_score(typed_study, FIRST, topic="ferry-2")
    assert topic.coverage.value is None
    assert topic.coverage.reason.startswith("undefined, because")


def test_pools_have_the_questions_of_the_kind_alone(typed_study):
    study = typed_study
    pools = load_pools(study.dataset, choose(study.dataset, source="judge", questions=SECOND))
    pool = pools[study.topic.pk]
    assert [question.position for question in pool.questions] == [1, 2]
    assert pool.grades.shape == (4, 2)
    assert len(load_pools(study.dataset, choose(study.dataset))[study.topic.pk].questions) == 4


def test_command_says_of_which_kind_its_scores_are(typed_study):
    out = StringIO()
    call_command("score", "ferry", "--run", "dense", "--questions", FIRST, "--json", stdout=out)
    printed = json.loads(out.getvalue())
    assert printed["questions"] == FIRST
    assert printed["topics"]["ferry-1"]["n_answerable"] == 1


def test_kind_that_is_not_there_is_answered_with_those_that_are(typed_study):
    with pytest.raises(SelectionError, match=f"There are: all, {FIRST}, {SECOND}"):
        choose(typed_study.dataset, questions="question-type:kim:9")


def test_other_datasets_and_rubrics_that_say_answerable_tell_nothing_apart(study):
    assert question_kinds(study.dataset) == ()
    with pytest.raises(SelectionError, match="There are: all"):
        choose(study.dataset, questions="answerable:ann:1")


@pytest.mark.parametrize(
    "page", ["systems/", "systems/judges/", "systems/compare/", "matrix/{topic}/"]
)
def test_pages_offer_the_kinds_and_count_those_questions_alone(cast, typed_study, page):
    rosa = cast.client("researcher")
    address = f"/datasets/{typed_study.dataset.slug}/{page.format(topic=typed_study.topic.pk)}"
    html = rosa.get(address).content.decode()
    assert html.count('<select name="questions">') == 1
    assert f'value="{FIRST}"' in html
    chosen = rosa.get(address, {"questions": FIRST})
    of_kind = question_kinds(typed_study.dataset)[0]
    if page == "systems/":
        assert "Of the questions only those count that are" in chosen.content.decode()
        assert f"on the questions that are {of_kind.title}." in chosen.context["summary"]
    assert chosen.status_code == 200
    assert f'value="{FIRST}" selected' in " ".join(chosen.content.decode().split())
    assert rosa.get(address, {"questions": "nothing"}).status_code in (400, 404)

"""Failure policy "zero": the cell has a 0, and the reply stays a failure."""

import pytest

from annotation.models import Rating, Rubric
from judging.engine.judges import JudgeError, make_judge
from judging.engine.selection import Selection
from judging.engine.storing import store
from judging.grading.pairs import Pair, Reply, State
from judging.llm.errors import Failure
from judging.models import Attempt
from tests.judging.graders.material import spec
from tests.toolbox.judging_study import WORKER, a_judge, make_study, planned

FINGERPRINT = "9e1038afbc22d0f7f676e1b414d62315dd68af3ea0bff19b1052d9572a30a05a"


@pytest.fixture
def run(db):
    return planned(a_judge("paper", failure_policy="zero"), make_study(1, 1, 4))


def four_replies(run):
    """A grade, words, a refusal and an error, about the four questions of the one text."""
    text, questions = (
        run.dataset.texts.get(),
        run.dataset.topics.get().questions.order_by("position"),
    )
    outcomes = [
        {"state": State.GRADED, "grade": 4},
        {"state": State.UNPARSEABLE, "failure": Failure.NO_GRADE},
        {"state": State.REFUSED, "failure": Failure.REFUSAL},
        {"state": State.ERROR, "failure": Failure.TIMEOUT},
    ]
    return [
        Reply(Pair(text.pk, question.pk, text.body, question.body), **outcome)
        for question, outcome in zip(questions, outcomes, strict=True)
    ]


def grades(run):
    ratings = Rating.objects.filter(rater=run.judge.rater).order_by("question__position")
    return list(ratings.values_list("question__position", "grade"))


def test_reply_without_a_grade_is_0_and_an_error_is_missing(run):
    batch = store(run, None, WORKER, four_replies(run), {})
    assert grades(run) == [(0, 4), (1, 0), (2, 0)]
    assert (batch.n_attempts, batch.n_graded) == (4, 1)
    assert Attempt.objects.filter(state="graded").count() == 1


def test_asked_again_the_0_gives_way_to_the_grade(run):
    replies = four_replies(run)
    store(run, None, WORKER, replies, {})
    run.state = "finished"
    run.save(update_fields=["state"])
    retry = planned(run.judge, run.dataset, Selection(retry=True))
    better = [Reply(reply.pair, State.GRADED, grade=5) for reply in replies[1:3]]
    store(retry, None, WORKER, better, {})
    assert grades(run) == [(0, 4), (1, 5), (2, 5)]


def test_failure_policy_makes_a_new_judge_and_needs_a_grade_0(run):
    assert a_judge("plain", revision="paper").fingerprint != run.judge.fingerprint
    rubric = Rubric.objects.get(slug="graded")
    with pytest.raises(JudgeError, match="has no grade 0"):
        make_judge(
            "no-zero",
            rubric=rubric,
            levels=[[1, "low"], [2, "high"]],
            backend="openai",
            model="m",
            parser="integer-1",
            failure_policy="zero",
        )


def test_judge_keeps_the_fingerprint_that_it_had():
    """Written down before there was a choice of parsers: what a judge is must not drift."""
    assert spec().fingerprint == FINGERPRINT

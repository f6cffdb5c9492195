"""From a server to the database: log-probabilities are stored, no pair is asked twice."""

import pytest

from judging.engine.fill import pump
from judging.graders.chat import OpenAIGrader
from judging.models import Attempt
from tests.judging.engine.fill_material import fresh, is_whole
from tests.toolbox.judging_study import WORKER, a_judge, make_study, planned
from tests.toolbox.scripted_server import MODEL, logprobs_of, reply_with

ONE_GRADE = {"3": -0.125}
TWO_GRADES = {"3": -1.0, "4": -1.0}
NO_GRADE = {"The": -0.5}


@pytest.fixture
def run(db):
    """40 questions, one a text, in one shard."""
    prompt = "{question}\nText: {text}"
    judge = a_judge(model=MODEL, prompt=prompt, parser="integer-1")
    return planned(judge, make_study(topics=4, texts=1, questions=10))


def test_replies_that_tell_one_grade_are_stored_beside_others_and_none_is_asked_twice(server, run):
    questions = [f"Question {n} of {topic}?" for topic in range(4) for n in range(10)]
    for number, question in enumerate(questions):
        shares = (ONE_GRADE, TWO_GRADES, NO_GRADE)[number % 3]
        server.script(question, reply_with("3", logprobs=logprobs_of(shares)))
    grader = OpenAIGrader(run.judge.spec, server.url, key=None, concurrency=8)
    pump(run, grader, WORKER)
    assert fresh(run).state == "finished"
    assert is_whole(run)
    assert [server.asked[question] for question in questions] == [1] * len(questions)
    assert server.asked.total() == len(questions)
    expected_grades = dict(Attempt.objects.values_list("question__body", "expected_grade"))
    for number, question in enumerate(questions):
        assert expected_grades[question] == (3.0, 3.5, None)[number % 3]

"""From a server to the database: what servers tell of their tokens is stored, and nothing is asked twice."""

import pytest

from judging.engine.fill import pump
from judging.graders.openai_api import OpenAIGrader
from judging.models import Attempt
from tests.judging.engine.fill_material import fresh, is_whole
from tests.judging.engine.material import WORKER, a_judge, make_study, planned
from tests.judging.graders.scripted_server import MODEL, said, told

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
    asked = [f"Question {n} of {topic}?" for topic in range(4) for n in range(10)]
    for number, question in enumerate(asked):
        shares = (ONE_GRADE, TWO_GRADES, NO_GRADE)[number % 3]
        server.script(question, said("3", logprobs=told(shares)))
    grader = OpenAIGrader(run.judge.spec, server.url, key=None, concurrency=8)
    pump(run, grader, WORKER)
    assert fresh(run).state == "finished"
    assert is_whole(run)
    assert [server.asked[question] for question in asked] == [1] * len(asked)
    assert server.asked.total() == len(asked)
    known = dict(Attempt.objects.values_list("question__body", "expected_grade"))
    for number, question in enumerate(asked):
        assert known[question] == (3.0, 3.5, None)[number % 3]

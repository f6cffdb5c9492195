"""A judge that has graded a small study, for its tests."""

from judging.engine.fill import pump
from judging.engine.judge_tests import JudgeTestRequest, start_test
from judging.engine.planning import plan
from judging.grading.pairs import Pair, Reply
from judging.grading.prompt import render
from judging.llm.messages import prompt_hash
from judging.models import Judge, JudgeRun
from tests.toolbox.judging_study import WORKER, Scripted, a_judge, graded, make_study, planned

PROMPT = "{rubric}\n\nQuestion:\n{question}\n\nText:\n{text}\n\nEnd of the text."
RUBRIC_TEXT = "5: all of it\n4: nearly all\n3: half\n2: a part\n1: a hint\n0: nothing"


def prompted_judge(slug: str = "tested", **fields) -> Judge:
    return a_judge(slug, **{"prompt": PROMPT, "wording": RUBRIC_TEXT, **fields})


def as_sent(judge: Judge, grade: int):
    """Return an answer of a grade, with the hash of the judge's own prompt."""

    def answer(pair: Pair) -> Reply:
        return graded(pair, grade, prompt_hash=prompt_hash(render(judge.spec, pair)))

    return answer


def graded_study(judge: Judge, grade: int = 3, **sizes):
    """Return a dataset that the judge has graded, each pair with the same grade."""
    dataset = make_study(**sizes)
    pump(planned(judge, dataset), Scripted(as_sent(judge, grade)), WORKER)
    return dataset


def planned_test(judge: Judge, dataset, test: str = "repeat", **request) -> JudgeRun:
    """Return the run of a test, ready for workers."""
    run = start_test(judge, dataset, JudgeTestRequest(test, **request))
    plan(run, WORKER)
    return run

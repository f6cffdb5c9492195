"""Judges and pairs for the scripted server."""

from judging.grading.pairs import Pair
from judging.grading.spec import Spec
from judging.llm.sampling import Sampling
from tests.toolbox.scripted_server import MODEL

LEVELS = tuple((grade, f"level {grade}") for grade in range(6))


def spec(**changes):
    """A judge of one token; the question is the first line that it sends."""
    values = {
        "rubric": "answerability",
        "levels": LEVELS,
        "backend": "openai",
        "model": MODEL,
        "prompt": "{question}\nText: {text}",
        "parser": "integer-1",
        "sampling": Sampling(),
    }
    return Spec(**values | changes)


def pairs(*questions):
    return [
        Pair(number, number, "Some words.", question)
        for number, question in enumerate(questions, 1)
    ]


def graded(grader, *questions):
    """The replies by question. Each must come once."""
    replies = [reply for reply in grader.replies(iter(pairs(*questions))) if reply is not None]
    by_question = {reply.pair.question: reply for reply in replies}
    assert len(by_question) == len(replies)
    return by_question

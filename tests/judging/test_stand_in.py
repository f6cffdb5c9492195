"""Mock model: it answers our own prompts by words in common, and speaks the protocol."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from bench.ports import free_port
from judging.graders.chat import OpenAIGrader
from judging.grading import prompts
from judging.grading.pairs import Pair, State
from judging.grading.prompt import render, rubric_wording
from judging.grading.spec import Spec
from judging.llm.errors import Failure
from judging.llm.sampling import Sampling
from judging.mock_model import MODEL, answer
from tests.toolbox.clock import wait_for_server

ROOT = Path(__file__).parents[2]
LEVELS = tuple((grade, f"level {grade}") for grade in range(6))
PAIR = Pair(1, 1, "The ferry lost its steering gear in March.", "What did the ferry lose?")


def spec_of(name: str) -> Spec:
    file = prompts.load(name)
    return Spec(
        rubric="graded",
        levels=LEVELS,
        backend="openai",
        model=MODEL,
        system=file.system,
        prompt=file.prompt,
        wording=rubric_wording(LEVELS),
        sampling=Sampling(max_tokens=file.max_tokens),
        parser=file.parser,
    )


@pytest.mark.parametrize("name", ["question-first", "text-first"])
def test_question_and_text_are_found_in_our_own_prompts(name):
    # Both content terms of the question, ferry and lose, stand in the text but for the form "lost":
    # half of the idf is covered, and floor(6 / 2) is 3.
    content, logprobs = answer(render(spec_of(name), PAIR)[-1]["content"])
    assert content == "3"
    assert sum(map(math.exp, logprobs)) == pytest.approx(1)
    assert max(range(6), key=logprobs.__getitem__) in (2, 3)


def test_unknown_prompt_gets_text_and_no_grade():
    assert answer("How are you?") == ("I find no question and text here.", None)


def test_question_of_stop_words_gets_words_and_no_grade():
    prompt = render(spec_of("text-first"), Pair(1, 1, "A text.", "Who was it?"))[-1]["content"]
    assert answer(prompt) == ("The question has no content words.", None)


@pytest.fixture
def served():
    port = free_port()
    command = [sys.executable, "-m", "judging.mock_model", "--port", str(port), "--seconds", "0"]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        wait_for_server(f"http://127.0.0.1:{port}/v1/models")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.soak
def test_our_client_reads_its_grades_and_their_probabilities(served):
    pairs = [PAIR, Pair(2, 2, "A text.", "Who was it?")]
    grader = OpenAIGrader(spec_of("question-first"), served, key=None)
    by_text = {reply.pair.text_id: reply for reply in grader.replies(iter(pairs)) if reply}
    assert (by_text[1].state, by_text[1].grade) == (State.GRADED, 3)
    assert by_text[1].label_mass == pytest.approx(1)
    assert (by_text[2].state, by_text[2].failure) == (State.UNPARSEABLE, Failure.NO_GRADE)

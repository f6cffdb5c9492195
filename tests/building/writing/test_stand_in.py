"""Mock model server for writers: it parses our prompts and answers with their tags."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from bench.ports import free_port
from building.writing.mock_model import answer
from building.writing.outputs import Failure, Source
from building.writing.tasks import TASKS, render
from judging import mock_model
from judging.grading import prompts
from tests.toolbox.clock import HANGS, wait_for_server
from tests.toolbox.document_texts import DOCUMENT

ROOT = Path(__file__).parents[3]
SOURCES = {
    "passages": Source(document=f"End of the document.\n\n{DOCUMENT}", n=2, words=60),
    "request": Source(document=DOCUMENT),
    "questions": Source(
        document=DOCUMENT, n=4, existing=("What is said about ferry and Aurora?", "Why?")
    ),
    "nuggets": Source(
        document=DOCUMENT, request="Report on the ferry.", n=4, existing=("It sank.",)
    ),
    "report": Source(
        request="Report on the ferry.",
        passages=tuple(zip("ab", DOCUMENT.split("\n\n"), strict=True)),
        words=60,
    ),
    "statements": Source(document=DOCUMENT),
    "pairs": Source(document=DOCUMENT, kind="summary"),
}


def prompt_of(name: str, source: Source) -> str:
    task = TASKS[name]
    return render(task, task.system, task.prompt, source)[-1]["content"]


@pytest.mark.parametrize("name", SOURCES)
def test_mock_model_answers_our_prompts(name):
    source = SOURCES[name]
    reply, logprobs = answer(prompt_of(name, source))
    written = TASKS[name].read(reply, "stop", source)
    assert (written.failure, logprobs) == (None, None)
    n = {"passages": 2, "questions": 4, "nuggets": 4, "statements": 7}.get(name, 1)
    assert len(written.products) == n
    if name == "report":
        assert {
            label for statement in written.products[0].citations for label in statement.labels
        } == {
            "1",
            "2",
        }


def test_without_passages_it_refuses():
    source = Source(request="Report on the ferry.")
    reply, _ = answer(prompt_of("direct", source))
    assert TASKS["direct"].read(reply, "stop", source).failure is Failure.REFUSED


@pytest.mark.parametrize("prompt", ["How are you?", "", prompts.load("text-first").prompt])
def test_other_prompts_get_what_the_judge_says(prompt):
    assert answer(prompt) == mock_model.answer(prompt)


def test_mock_model_serves_chat_completions():
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "building.writing.mock_model",
        "--port",
        str(port),
        "--seconds",
        "0",
    ]
    process = subprocess.Popen(command, cwd=ROOT)
    body = {"messages": [{"role": "user", "content": prompt_of("questions", SOURCES["questions"])}]}
    request = Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        wait_for_server(f"http://127.0.0.1:{port}/v1/models")
        with urlopen(request, timeout=HANGS) as response:
            choice = json.load(response)["choices"][0]
    finally:
        process.terminate()
        process.wait(20)
    reply, finish_reason = choice["message"]["content"], choice["finish_reason"]
    written = TASKS["questions"].read(reply, finish_reason, SOURCES["questions"])
    assert (len(written.products), written.missing) == (4, 0)

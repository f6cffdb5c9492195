"""The stand-in for a model that writes: it finds the source in our own prompts and answers with their tags."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from building.writing.products import Failure, Source
from building.writing.stand_in import answer
from building.writing.tasks import TASKS, render
from judging import stand_in
from judging.grading import prompts
from tests.building.writing.texts import DOCUMENT
from tests.clock import HANGS, wait_for_server

ROOT = Path(__file__).parents[3]
SOURCES = {
    "passages": Source(document=f"End of the document.\n\n{DOCUMENT}", n=2, words=60),
    "request": Source(document=DOCUMENT),
    "questions": Source(
        document=DOCUMENT, n=4, have=("What is said about ferry and Aurora?", "Why?")
    ),
    "nuggets": Source(document=DOCUMENT, request="Report on the ferry.", n=4, have=("It sank.",)),
    "report": Source(
        request="Report on the ferry.",
        passages=tuple(zip("ab", DOCUMENT.split("\n\n"), strict=True)),
        words=60,
    ),
    "statements": Source(document=DOCUMENT),
    "pairs": Source(document=DOCUMENT, kind="summary"),
}


def asked(name: str, source: Source) -> str:
    task = TASKS[name]
    return render(task, task.system, task.prompt, source)[-1]["content"]


@pytest.mark.parametrize("name", SOURCES)
def test_it_answers_our_own_prompts_with_what_can_be_read(name):
    source = SOURCES[name]
    words, logprobs = answer(asked(name, source))
    written = TASKS[name].read(words, "stop", source)
    assert (written.failure, logprobs) == (None, None)
    n = {"passages": 2, "questions": 4, "nuggets": 4, "statements": 7}.get(name, 1)
    assert len(written.products) == n
    if name == "report":
        assert {label for each in written.products[0].citations for label in each.labels} == {
            "1",
            "2",
        }


def test_without_passages_it_refuses():
    source = Source(request="Report on the ferry.")
    words, _ = answer(asked("direct", source))
    assert TASKS["direct"].read(words, "stop", source).failure is Failure.REFUSED


@pytest.mark.parametrize("prompt", ["How are you?", "", prompts.load("text-first").prompt])
def test_other_prompts_get_what_the_judge_says(prompt):
    assert answer(prompt) == stand_in.answer(prompt)


def test_it_serves():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "building.writing.stand_in",
        "--port",
        str(port),
        "--seconds",
        "0",
    ]
    process = subprocess.Popen(command, cwd=ROOT)
    body = {"messages": [{"role": "user", "content": asked("questions", SOURCES["questions"])}]}
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
    words, finish_reason = choice["message"]["content"], choice["finish_reason"]
    written = TASKS["questions"].read(words, finish_reason, SOURCES["questions"])
    assert (len(written.products), written.missing) == (4, 0)

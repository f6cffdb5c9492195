"""Judge of critiques from the pages alone: a run on pairs of a qac file, and its ratings."""

import json

import pytest

from annotation.models import Rating
from crux_site.imports.importing import import_dataset
from judging.engine.foreground import fill
from judging.models import Attempt, Judge, JudgeRun
from tests.judging.judges.judge_form import judge_form_data
from tests.toolbox.foreign_files import write
from tests.toolbox.scripted_server import MODEL, ScriptedServer, reply_with

ANSWERS = {"Who mended the wheel?": "Ottilie Marsh", "When did it turn?": "In May", "Why?": ""}


@pytest.fixture
def server(settings, db):
    with ScriptedServer() as server:
        settings.JUDGE_ENDPOINTS = {"local": server.url}
        yield server


def judged(ada, server, rubric: str, prompt: str) -> JudgeRun:
    """A judge under the rubric, made on its page, and its run, started on the page of runs."""
    assert ada.post("/rubrics/add/", {"slug": rubric}).status_code == 302
    fields = judge_form_data(
        rubric=rubric, model=MODEL, system="", prompt=prompt, parser="rating-json-1"
    )
    del fields["logprobs"]
    response = ada.post("/judges/new/", fields | {"max_tokens": "300", "save": "1"})
    judge = Judge.objects.get()
    assert response.url == f"/judges/{judge.pk}/"
    started = {"dataset": "mill", "judge": str(judge.pk), "texts": "", "endpoint": "local"}
    numbers = {"concurrency": "1", "workers": "1", "price_in": "0", "price_out": "0", "start": "1"}
    ada.post("/judge-runs/new/", started | numbers)
    run = JudgeRun.objects.get()
    fill(run)
    run.refresh_from_db()
    assert run.state == "finished"
    return run


@pytest.fixture
def mill(db, tmp_path):
    lines = [
        {"context": "Marsh mended the wheel.", "question": question, "answer": answer}
        for question, answer in ANSWERS.items()
    ]
    import_dataset(write(tmp_path, {"pairs.jsonl": lines}), "mill", form="qac")


def test_critique_of_the_question_alone(ada, server, mill):
    valid = json.dumps({"evaluation": "It names nobody.", "rating": 2})
    server.script("Why?", reply_with(valid))
    server.script("When did it turn?", reply_with('{"evaluation": "good", "rating": "five"}'))
    server.script("Who mended the wheel?", reply_with(f"Here:\n{valid.replace('2', '5')}"))
    judged(ada, server, "critique-stand_alone", "{question}\n\nRate from 1 to 5, as JSON.")
    rated = Rating.objects.filter(rubric__slug="critique-stand_alone")
    assert dict(rated.values_list("question__body", "grade")) == {
        "Who mended the wheel?": 5,
        "Why?": 2,
    }
    # What is no rating is missing, and said to be.
    [failed] = Attempt.objects.exclude(state="graded")
    assert (failed.question.body, failed.state) == ("When did it turn?", "unparseable")


def test_critique_of_the_answer(ada, server, mill):
    for answer in ("Ottilie Marsh", "In May"):
        server.script(answer, reply_with('{"evaluation": "It is in the text.", "rating": 4}'))
    prompt = "{answer}\n\n{text}\n\nRate from 1 to 5, as JSON."
    judged(ada, server, "critique-a_to_c_groundedness", prompt)
    rated = Rating.objects.filter(rubric__slug="critique-a_to_c_groundedness")
    # A pair without an answer is not asked about.
    assert dict(rated.values_list("question__body", "grade")) == {
        "Who mended the wheel?": 4,
        "When did it turn?": 4,
    }
    assert server.asked.keys() == {"Ottilie Marsh", "In May"}

"""Judges that ask about all questions of a text, and about answers, without the database."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judging.engine.selection import Selection
from judging.grading.prompt import hashes
from judging.models import Attempt
from judging.offline import batch, cluster
from judging.offline.exchange import export_run, import_file
from judging.offline.job import ExchangeError
from judging.offline.parquet import read_pairs
from tests.judging.offline.conftest import judge_of
from tests.toolbox.scripted_server import MODEL, completion, reply_with

ALL_QUESTIONS = {
    "prompt": "{questions}\nText: {text}",
    "parser": "numbered-1",
    "sampling": {"max_tokens": 100, "logprobs": False},
}


@pytest.fixture
def exported(dataset, tmp_path):
    folder = tmp_path / "export"
    run, job = export_run(judge_of(**ALL_QUESTIONS), dataset, Selection(), folder)
    return run, job, folder


def test_pairs_carry_all_questions(exported):
    _, job, folder = exported
    _, rows = read_pairs(folder / "pairs-00001.parquet")
    assert len(rows) == job.pairs == 8
    assert {len(row.pair.questions) for row in rows} == {4}
    assert all(row.pair.questions[row.pair.number - 1] == row.pair.question for row in rows)


def test_cluster_asks_together_and_what_is_missing_alone(exported, server):
    run, job, folder = exported
    _, rows = read_pairs(folder / "pairs-00001.parquet")
    first, _, third, _ = rows[0].pair.questions
    server.script(f"1. {first}", reply_with("1: 4\n2: 0\n4: 5"))
    server.script(f"1. {third}", reply_with("2"))
    work = cluster.Work(folder, folder, (server.url,))
    list(cluster.run_here(job, work, cluster.to_do(job, work)))
    assert server.asked == {f"1. {first}": 2, f"1. {third}": 2}
    import_file(run.dataset, folder / "results-00001.parquet")
    assert {state for (state,) in Attempt.objects.values_list("state")} == {"graded"}
    grades = Attempt.objects.filter(copied=False).order_by("text", "question__position")
    assert list(grades.values_list("grade", flat=True)) == [4, 0, 2, 5] * 2
    message_hashes = {hashes(job.spec, row.pair) for row in rows}
    assert set(Attempt.objects.values_list("prompt_hash", flat=True)) <= {
        digest for both in message_hashes for digest in both
    }


def test_text_bodies_are_read_once(exported, server):
    run, job, folder = exported
    work = cluster.Work(folder, folder, (server.url,))
    list(cluster.run_here(job, work, cluster.to_do(job, work)))
    with CaptureQueriesContext(connection) as queries:
        import_file(run.dataset, folder / "results-00001.parquet")
    read = [query["sql"] for query in queries if '"annotation_text"."body"' in query["sql"]]
    assert len(read) == 1


def test_batch_file_has_a_request_for_each_text(exported):
    run, _job, folder = exported
    assert batch.write_requests(folder, "openai") == 2
    requests = [json.loads(line) for line in (folder / "requests-00001.jsonl").open()]
    assert requests[0]["body"]["messages"][0]["content"].startswith("1. ")
    lines = [
        {
            "custom_id": request["custom_id"],
            "response": {
                "status_code": 200,
                "body": {**completion("1: 4\n2: 0\n4: 5"), "model": MODEL},
            },
        }
        for request in requests
    ]
    replies = folder / "replies.jsonl"
    replies.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    results = batch.read_replies(folder, replies)
    done = import_file(run.dataset, results)
    assert (done.new, done.graded) == (8, 6)  # what is missing is a failure, to be asked again
    failed = Attempt.objects.exclude(state="graded")
    assert set(failed.values_list("failure", flat=True)) == {"no_grade"}
    assert {question.position for question in (row.question for row in failed)} == {2}


def test_failure_counts_for_all_questions_of_its_message(exported):
    _, _, folder = exported
    batch.write_requests(folder, "openai")
    request, *_ = [json.loads(line) for line in (folder / "requests-00001.jsonl").open()]
    line = {"custom_id": request["custom_id"], "response": None, "error": {"message": "no"}}
    (folder / "replies.jsonl").write_text(json.dumps(line))
    results = batch.read_replies(folder, folder / "replies.jsonl")
    done = import_file(exported[0].dataset, results)
    assert (done.new, done.graded) == (4, 0)


def test_service_without_samples_is_refused_a_judge_that_wants_some(dataset, tmp_path):
    judge = judge_of(sampling={"temperature": 1.0, "logprobs": False, "extra": {"n": 5}})
    folder = tmp_path / "export"
    export_run(judge, dataset, Selection(), folder)
    with pytest.raises(ExchangeError, match="this judge wants 5 samples"):
        batch.write_requests(folder, "anthropic")
    assert not list(folder.glob("*.jsonl"))
    assert batch.write_requests(folder, "openai") == 8
    [line, *_] = (folder / "requests-00001.jsonl").read_text().splitlines()
    assert json.loads(line)["body"]["n"] == 5

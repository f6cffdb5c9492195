"""Batch services: requests as JSON lines, and checks of each line of replies."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, Text
from judging.engine.selection import Selection
from judging.models import Attempt, Batch
from judging.offline import batch
from judging.offline.exchange import export_run
from tests.judging.offline.conftest import judge_of
from tests.toolbox.scripted_server import MODEL, completion


def exported(dataset, folder, service, **changes):
    """The requests of an export for a service, as objects."""
    judge = judge_of(**changes)
    run, job = export_run(judge, dataset, Selection(), folder)
    assert batch.write_requests(folder, service) == job.pairs == 8
    return run, lines_of(folder / "requests-00001.jsonl")


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of_openai(request, content="4", **changes):
    body = {**completion(content), "model": MODEL}
    response = {"status_code": 200, "request_id": "r", "body": body}
    line = {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}
    return line | changes


def of_anthropic(request, **result):
    message = {
        "model": MODEL,
        "content": [{"type": "thinking", "thinking": "A 3?"}, {"type": "text", "text": "4"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 50, "output_tokens": 7},
    }
    result = result or {"type": "succeeded", "message": message}
    return {"custom_id": request["custom_id"], "result": result}


def write(path, lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def imported(folder):
    out = StringIO()
    call_command("judge_import", "ferry", folder, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def out(dataset, tmp_path):
    """(folder, requests) of an export for OpenAI."""
    folder = tmp_path / "export"
    return folder, exported(dataset, folder, "openai")[1]


def test_round_trip_in_two_files_in_any_order_and_again(dataset, tmp_path):
    folder = tmp_path / "export"
    run, requests = exported(dataset, folder, "openai")
    write(folder / "first.jsonl", [of_openai(request) for request in requests[5:]])
    assert imported(folder)["new"] == 3
    run.refresh_from_db()
    assert run.is_running
    write(folder / "second.jsonl", [of_openai(request) for request in reversed(requests[:5])])
    counts = imported(folder)
    assert (counts["new"], counts["there_before"]) == (5, 3)
    run.refresh_from_db()
    assert run.state == "finished"
    assert Attempt.objects.count() == Rating.objects.count() == 12
    batches = Batch.objects.count()
    assert imported(folder)["new"] == 0
    assert Batch.objects.count() == batches


def test_requests_are_those_of_a_worker_in_the_form_of_each_service(dataset, tmp_path):
    system = {"system": "You grade.", "label_ids": [15, 16, 17, 18, 19, 20]}
    lines = {}
    for service in batch.SERVICES:
        fields = {**system, "revision": service}
        _, requests = exported(dataset, tmp_path / service, service, slug=f"j-{service}", **fields)
        lines[service] = requests[0]
        assert len({request["custom_id"] for request in requests}) == 8
        assert all(len(request["custom_id"]) <= 64 for request in requests)
    for service in ("openai", "vllm"):
        assert lines[service]["method"] == "POST"
        assert lines[service]["url"] == "/v1/chat/completions"
        body = lines[service]["body"]
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert (body["model"], body["max_tokens"], body["top_logprobs"]) == (MODEL, 1, 20)
    assert "logprob_token_ids" in lines["vllm"]["body"]
    assert "logprob_token_ids" not in lines["openai"]["body"]
    params = lines["anthropic"]["params"]
    assert set(params) == {"model", "temperature", "top_p", "max_tokens", "messages", "system"}
    assert params["system"] == "You grade."
    assert [message["role"] for message in params["messages"]] == ["user"]


def test_replies_of_anthropic(dataset, tmp_path):
    folder = tmp_path / "export"
    _, requests = exported(dataset, folder, "anthropic")
    cut = of_anthropic(requests[1])
    cut["result"]["message"]["stop_reason"] = "max_tokens"
    # Null beside a reply is nothing, and no word "None".
    cut["result"]["message"]["content"].append({"type": "text", "text": None, "thinking": None})
    invalid = {"type": "invalid_request_error", "message": "no such thing"}
    lines = [
        of_anthropic(requests[0]),
        cut,
        of_anthropic(requests[2], type="errored", error={"type": "error", "error": invalid}),
        of_anthropic(requests[3], type="expired"),
        of_anthropic(requests[4], type="canceled"),
    ]
    write(folder / "results.jsonl", lines)
    assert imported(folder)["new"] == 3  # what the service did not come to is still open
    graded = Attempt.objects.filter(state="graded", copied=False, raw="4")
    assert {attempt.reasoning for attempt in graded} == {"A 3?"}
    assert {(attempt.prompt_tokens, attempt.completion_tokens) for attempt in graded} == {(50, 7)}
    assert not Attempt.objects.filter(raw__contains="None").exists()
    assert "no such thing" in Attempt.objects.filter(failure="request")[0].detail


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("model_context_window_exceeded", "truncated"),
        ("refusal", "refused"),
        ("end_turn", "graded"),
    ],
)
def test_reason_of_anthropic_why_a_reply_ended_decides_its_state(dataset, tmp_path, reason, state):
    folder = tmp_path / "export"
    _, requests = exported(dataset, folder, "anthropic")
    line = of_anthropic(requests[0])
    line["result"]["message"]["stop_reason"] = reason
    write(folder / "results.jsonl", [line])
    assert imported(folder)["new"] == 1
    assert set(Attempt.objects.values_list("state", flat=True)) == {state}


def test_error_within_a_choice_is_no_reply(out):
    folder, requests = out
    failed, too_long = of_openai(requests[0]), of_openai(requests[1])
    failed["response"]["body"]["choices"][0]["finish_reason"] = "error"
    too_long["response"]["body"]["choices"][0]["error"] = {"message": "exceeds the context size"}
    write(folder / "output.jsonl", [failed, too_long])
    assert imported(folder)["new"] == 2
    failures = Attempt.objects.values_list("state", "failure", "grade")
    assert set(failures) == {("error", "malformed", None), ("error", "too_long", None)}


def test_errors_of_openai_are_failures_and_what_expired_is_open(out):
    folder, requests = out
    too_long = {
        "error": {"message": "maximum context length is 10", "code": "context_length_exceeded"}
    }
    refused = {"status_code": 400, "body": too_long}
    expired = {"code": "batch_expired", "message": "not in time"}
    filtered = {"error": {"message": "Filtered.", "code": "content_filter"}}
    write(
        folder / "replies.jsonl",
        [
            of_openai(requests[0], "no idea"),
            of_openai(requests[1], response=refused),
            of_openai(requests[2], response=None, error=expired),
            of_openai(requests[3], response=None, error={"code": "x", "message": "broken"}),
            of_openai(requests[4], response={"status_code": 400, "body": filtered}),
            of_openai(requests[5], response=None, error=filtered["error"]),
        ],
    )
    assert imported(folder)["new"] == 5
    outcomes = Attempt.objects.filter(copied=False).values_list("state", "failure")
    assert set(outcomes) == {
        ("unparseable", "no_grade"),
        ("error", "too_long"),
        ("error", "request"),
        ("refused", "refusal"),
    }


def test_import_of_expired_requests_says_that_they_are_open_and_what_to_do(out, capsys):
    folder, requests = out
    expired = {"code": "batch_expired", "message": "not in time"}
    write(folder / "errors.jsonl", [of_openai(r, response=None, error=expired) for r in requests])
    call_command("judge_import", "ferry", folder)
    output = capsys.readouterr().out
    assert "0 new" in output
    assert "1 of 1 shards are not whole yet" in output
    assert "cancel the run and export again" in output
    write(folder / "errors.jsonl", [of_openai(request) for request in requests])
    call_command("judge_import", "ferry", folder)
    assert "export again" not in capsys.readouterr().out


def with_model(line, model):
    line["response"]["body"]["model"] = model
    return line


def test_replies_of_another_model_are_refused_and_go_to_a_judge_that_names_it(dataset, tmp_path):
    folder = tmp_path / "export"
    _, requests = exported(dataset, folder, "openai")
    lines = [with_model(of_openai(request), "gpt-4o-2024-08-06") for request in requests]
    write(folder / "replies.jsonl", lines)
    message = (
        "line 1: the service answers as gpt-4o-2024-08-06, and was asked for tiny. If that is the"
    )
    with pytest.raises(CommandError, match=message):
        imported(folder)
    assert not Attempt.objects.exists()
    # The copy is exported, and takes the replies to the first one's requests.
    second_folder = tmp_path / "again"
    run, _ = exported(
        dataset, second_folder, "openai", slug="copy", reply_model="gpt-4o-2024-08-06"
    )
    write(second_folder / "replies.jsonl", lines)
    assert imported(second_folder)["new"] == 8
    assert set(Attempt.objects.values_list("judge", flat=True)) == {run.judge_id}


def test_replies_that_name_two_models_by_turns_are_refused(out):
    folder, requests = out
    lines = [with_model(of_openai(request), MODEL) for request in requests]
    with_model(lines[3], "another")
    write(folder / "replies.jsonl", lines)
    with pytest.raises(CommandError, match="line 4: the service answers as another"):
        imported(folder)
    assert not Attempt.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda line: line | {"custom_id": f"x{line['custom_id'][1:]}"},
            "is no request to the judge",
        ),
        (lambda line: line | {"custom_id": f"{line['custom_id'][:-1]}x"}, "another text, question"),
        (lambda line: {**line, "custom_id": None}, "there is no custom_id"),
        (lambda line: {"custom_id": line["custom_id"]}, "neither a response nor an error"),
        (lambda line: {"custom_id": line["custom_id"], "result": {"type": "odd"}}, "is 'odd', not"),
        (lambda line: {"custom_id": line["custom_id"], "result": 4}, "the result is None"),
        (lambda line: [line], "is no JSON object"),
    ],
)
def test_line_that_does_not_belong_is_named_and_nothing_is_imported(out, change, message):
    folder, requests = out
    lines = [of_openai(request) for request in requests]
    lines[1] = change(lines[1])
    write(folder / "replies.jsonl", lines)
    with pytest.raises(CommandError, match="line 2") as error:
        imported(folder)
    assert message in str(error.value)
    assert not Attempt.objects.exists()


def test_file_that_is_cut_or_holds_a_request_twice_is_named(out):
    folder, requests = out
    write(folder / "twice.jsonl", [of_openai(requests[0]), of_openai(requests[0], "2")])
    whole = json.dumps(of_openai(requests[1]))
    (folder / "cut.jsonl").write_text(f"{whole}\n{whole[:40]}", encoding="utf-8")
    with pytest.raises(CommandError) as error:
        imported(folder)
    assert "cut.jsonl, line 2 is not JSON" in str(error.value)
    assert "twice.jsonl, line 2: the same request as in line 1." in str(error.value)
    assert not Attempt.objects.exists()


def test_text_that_changed_since_is_refused(out):
    folder, requests = out
    write(folder / "replies.jsonl", [of_openai(request) for request in requests])
    Text.objects.exclude(body=None).update(sha256="0" * 64)
    with pytest.raises(CommandError, match="has other words now"):
        imported(folder)
    assert not Attempt.objects.exists()


def test_command_writes_requests_beside_the_pairs(dataset, tmp_path, capsys):
    judge_of("tiny-judge")
    folder = tmp_path / "export"
    call_command("judge_export", "ferry", judge="tiny-judge", out=folder, batch="vllm")
    assert "Send requests-*.jsonl to the service (vllm)" in capsys.readouterr().out
    assert len(lines_of(folder / "requests-00001.jsonl")) == 8
    with pytest.raises(CommandError, match=r"holds no results-\*\.parquet"):
        imported(folder)

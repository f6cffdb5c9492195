"""vLLM in its own process, without a server: the same grades, failures and texts."""

import dataclasses
import json
import os
import signal
import subprocess
import sysconfig
import time

import pytest

from judging.graders.chat import VllmGrader
from judging.grading import probabilities
from judging.grading.prompt import hashes
from judging.llm.errors import BackendUnavailableError, Failure
from tests.toolbox.empty_site import empty_site, manage
from tests.vllm.client_requests import (
    all_questions,
    graded,
    of_one_text,
    pair_of_length,
    sampled,
    sums_to_shares,
)
from tests.vllm.material import ORDERS, WRITTEN, WRITTEN_TOKENS, pairs, spec_of
from tests.vllm.server import ENVIRONMENT, MAX_MODEL_LEN, PYTHON, ROOT

ENGINE_ARGS = {
    "dtype": "float32",
    "max_model_len": MAX_MODEL_LEN,
    "max_num_seqs": 64,
    "enforce_eager": True,
}
TIMEOUT = 900  # seconds for a model to be loaded, and the rest
NEAR = 1e-4  # of a probability: two batches of other sizes add the same numbers in another order


def question(spec, tiny_model, batch):
    return {
        "spec": dataclasses.replace(spec, backend="vllm", model=str(tiny_model)).as_json(),
        "pairs": [
            dataclasses.asdict(pair) | {"text_id": n if not pair.questions else 0, "question_id": n}
            for n, pair in enumerate(batch)
        ],
        "engine_args": ENGINE_ARGS,
        "in_flight": 16,
    }


@pytest.fixture(scope="module")
def spec(server):
    """The judge that the server serves."""
    return spec_of(server.address)


@pytest.fixture(scope="module")
def odd_pairs(server, spec):
    """Return a pair that is too long, and one with half of a surrogate pair."""
    too_long = pair_of_length(server, spec, MAX_MODEL_LEN)
    return [too_long, dataclasses.replace(too_long, text="half \ud83d a pair")]


@pytest.fixture(scope="module")
def writing(tiny_model, tmp_path_factory):
    """Return a site with an open generation run of the tiny model: (environment, query)."""
    with empty_site(tmp_path_factory.mktemp("writing"), "sqlite") as (env, rows):
        code = f"from tests.vllm.material import *; begin_writing({str(tiny_model)!r})"
        manage(env, "shell", "-v0", "-c", code)
        yield env, rows


def killed_after(drafts, worker, rows):
    """Kill a worker, and the engine with it, as soon as it has stored so many drafts."""
    until = time.monotonic() + TIMEOUT
    while rows("select count(*) from building_draft")[0][0] < drafts:
        assert worker.poll() is None, "the worker ended by itself"
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait(20)


@pytest.fixture(scope="module")
def in_process(server, spec, odd_pairs, tiny_model, writing):
    """Return the output of vLLM in its own process: as the same judge, and as two others.

    Then it begins with the writing, and is killed; the model at the server writes the rest.
    """
    env, rows = writing
    engine_args = {
        "PYTHONPATH": str(ROOT),
        "OUR_PACKAGES": sysconfig.get_path("purelib"),
        "JUDGE_VLLM_ARGS": json.dumps(ENGINE_ARGS),
    }
    jobs = [
        (spec, [*pairs(50), *odd_pairs]),
        (dataclasses.replace(spec, label_ids=(1, 2, 3, 4, 5, 6)), pairs(1)),
        (dataclasses.replace(spec, template_hash=spec.template_hash[::-1]), pairs(1)),
        (all_questions(spec, "1: [0-5]\\n2: [0-5]\\n3: [0-5]"), of_one_text()),
        (all_questions(spec, "1: [0-5]\\n2: [0-5]"), of_one_text()),
        (sampled(spec), pairs(3)),
    ]
    request = json.dumps([question(judge, tiny_model, job_pairs) for judge, job_pairs in jobs])
    [(run,)] = rows("select id from building_writing")
    with subprocess.Popen(
        [PYTHON, ROOT / "tests" / "vllm" / "in_process.py"],
        env=env | ENVIRONMENT | engine_args,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as worker:
        try:
            worker.stdin.write(f"{request}\nwrite {WRITTEN} --join {run}\n")
            worker.stdin.close()
            replies = json.loads(worker.stdout.readline())
            killed_after(2, worker, rows)
        finally:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
    code = f"from tests.vllm.material import *; go_on_at({server.address!r})"
    manage(env, "shell", "-v0", "-c", code)
    return replies


def test_server_and_the_engine_in_process_give_the_same_replies(
    server, spec, in_process, monkeypatch
):
    monkeypatch.setattr(probabilities, "LEAST_MASS", 0.0)  # as in tests.vllm.in_process
    n_compared = 0
    served = graded(server, spec, pairs(50))
    *replies, refused, odd = in_process[0]
    assert (refused["state"], refused["failure"]) == ("error", Failure.TOO_LONG.value)
    assert odd["state"] in ("graded", "unparseable"), odd["detail"]
    assert len(replies) == len(served) == 50
    for engine_reply, server_reply in zip(replies, served, strict=True):
        assert engine_reply["prompt_hash"] == server_reply.prompt_hash
        assert engine_reply["prompt_tokens"] == server_reply.prompt_tokens
        if engine_reply["grade"] is None or server_reply.grade is None:
            continue
        n_compared += 1
        assert engine_reply["probabilities"] == pytest.approx(server_reply.probabilities, abs=NEAR)
        top, second = sorted(server_reply.probabilities, reverse=True)[:2]
        if top - second > NEAR:
            assert (engine_reply["state"], engine_reply["grade"]) == (
                server_reply.state.value,
                server_reply.grade,
            )
    assert n_compared > 5


def test_model_with_other_tokens_is_another_judge(in_process):
    assert in_process[1]["kind"] == "ModelMismatchError"
    assert "writes the grade 0 with the tokens" in in_process[1]["error"]


def test_model_with_another_template_is_another_judge(spec, in_process):
    assert spec.template_hash
    assert in_process[2]["kind"] == "ModelMismatchError"
    assert "is not the one of this judge" in in_process[2]["error"]


def test_in_process_too_one_message_asks_all_questions_of_a_text(spec, in_process):
    judge = all_questions(spec, "")
    batch = of_one_text()
    assert len({reply["raw"] for reply in in_process[3]}) == 1
    assert {reply["state"] for reply in in_process[3]} == {"graded"}
    assert {reply["prompt_hash"] for reply in in_process[3]} == {hashes(judge, batch[0])[0]}
    *two, missing = in_process[4]
    assert {reply["state"] for reply in two} == {"graded"}
    assert (missing["failure"], missing["prompt_hash"]) == ("several", hashes(judge, batch[2])[1])
    assert missing["prompt_tokens"] > two[0]["prompt_tokens"]  # its share, and what it took alone


def test_in_process_too_the_shares_of_samples_are_the_probabilities(in_process):
    assert len(in_process[5]) == 3
    for reply in in_process[5]:
        assert sums_to_shares(reply["probabilities"], reply["label_mass"])
        assert reply["raw"].startswith("[1 of 4]\n")


def test_in_process_it_writes_too_every_draft_once_whoever_is_killed(writing, in_process):
    _, rows = writing
    assert rows("select state from building_writing") == [("finished",)]
    # It cannot write tags: every order fails, is asked once more with another seed, and is done.
    drafts = rows(
        "select order_id, number, raw, finish_reason, failure, prompt_tokens, completion_tokens, counts"
        " from building_draft order by order_id, number"
    )
    assert [draft[:2] for draft in drafts] == [
        (order, number)
        for (order,) in rows("select id from building_order order by id")
        for number in (1, 2)
    ]
    assert len(drafts) == 2 * ORDERS
    assert len({raw for _, _, raw, *_ in drafts}) == 2 * ORDERS
    for *_, reason, failure, read, written, counts in drafts:
        assert (reason, failure) in (("length", "cut"), ("stop", "no_tags"))
        assert (written == WRITTEN_TOKENS) == (reason == "length")
        assert read > 100
        assert counts
    workers = rows("select count(distinct worker) from building_draft")
    assert workers == [(2,)]


def test_missing_vllm_is_reported(server):
    with pytest.raises(BackendUnavailableError, match="vLLM is not installed in this environment"):
        next(VllmGrader(spec_of(server.address)).replies(iter(pairs(1))))

"""vLLM in a process of its own, without a server: the same grades, the same failures."""

import dataclasses
import json
import os
import subprocess

import pytest

from judging.graders.base import Unavailable
from judging.graders.vllm_engine import VllmGrader
from judging.grading.pairs import Failure
from tests.vllm.material import pairs, spec_of
from tests.vllm.server import ENVIRONMENT, MAX_MODEL_LEN, PYTHON, ROOT
from tests.vllm.test_client import graded, pair_of_length

NEAR = 1e-4  # of a probability: two batches of other sizes add the same numbers in another order


def question(spec, tiny_model, asked):
    return {
        "spec": dataclasses.replace(spec, backend="vllm", model=str(tiny_model)).as_json(),
        "pairs": [(pair.text, pair.question) for pair in asked],
        "engine_args": {
            "dtype": "float32",
            "max_model_len": MAX_MODEL_LEN,
            "max_num_seqs": 64,
            "enforce_eager": True,
        },
        "in_flight": 16,
    }


@pytest.fixture(scope="module")
def spec(server):
    """The judge that the server serves."""
    return spec_of(server.address)


@pytest.fixture(scope="module")
def odd_pairs(server, spec):
    """One that is too long, and one with half of a surrogate pair."""
    too_long = pair_of_length(server, spec, MAX_MODEL_LEN)
    return [too_long, dataclasses.replace(too_long, text="half \ud83d a pair")]


@pytest.fixture(scope="module")
def in_process(spec, odd_pairs, tiny_model):
    """What vLLM says in a process of its own: as the same judge, and as two that it is not."""
    told = [
        (spec, [*pairs(50), *odd_pairs]),
        (dataclasses.replace(spec, label_ids=(1, 2, 3, 4, 5, 6)), pairs(1)),
        (dataclasses.replace(spec, template_hash=spec.template_hash[::-1]), pairs(1)),
    ]
    done = subprocess.run(
        [PYTHON, ROOT / "tests" / "vllm" / "in_process.py"],
        env=os.environ | ENVIRONMENT | {"PYTHONPATH": str(ROOT)},
        input=json.dumps([question(judge, tiny_model, asked) for judge, asked in told]),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return json.loads(done.stdout)


def test_a_server_and_the_engine_in_process_give_the_same_replies(server, spec, in_process):
    served = graded(server, spec, pairs(50))
    *own, refused, odd = in_process[0]
    assert (refused["state"], refused["failure"]) == ("error", Failure.TOO_LONG.value)
    assert odd["state"] in ("graded", "unparseable"), odd["detail"]
    assert len(own) == len(served) == 50
    for here, there in zip(own, served, strict=True):
        assert here["prompt_hash"] == there.prompt_hash
        assert here["prompt_tokens"] == there.prompt_tokens
        assert here["probabilities"] == pytest.approx(there.probabilities, abs=NEAR)
        top, second = sorted(there.probabilities, reverse=True)[:2]
        if top - second > NEAR:
            assert (here["state"], here["grade"]) == (there.state.value, there.grade)


def test_a_model_with_other_tokens_is_another_judge(in_process):
    assert in_process[1]["kind"] == "AnotherJudge"
    assert "writes the grade 0 with the tokens" in in_process[1]["error"]


def test_a_model_with_another_template_is_another_judge(spec, in_process):
    assert spec.template_hash
    assert in_process[2]["kind"] == "AnotherJudge"
    assert "is not the one of this judge" in in_process[2]["error"]


def test_where_vllm_is_not_installed_a_sentence_says_so(server):
    with pytest.raises(Unavailable, match="vLLM is not installed in this environment"):
        next(VllmGrader(spec_of(server.address)).replies(iter(pairs(1))))

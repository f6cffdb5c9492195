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


def in_process(spec, asked, *, in_flight=16):
    """What tests/vllm/in_process.py says, run by vLLM's own Python."""
    question = {
        "spec": spec.as_json(),
        "pairs": [(pair.text, pair.question) for pair in asked],
        "engine_args": {
            "dtype": "float32",
            "max_model_len": MAX_MODEL_LEN,
            "max_num_seqs": 64,
            "enforce_eager": True,
        },
        "in_flight": in_flight,
    }
    done = subprocess.run(
        [PYTHON, ROOT / "tests" / "vllm" / "in_process.py"],
        env=os.environ | ENVIRONMENT | {"PYTHONPATH": str(ROOT)},
        input=json.dumps(question),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return json.loads(done.stdout)


def test_a_server_and_the_engine_in_process_give_the_same_replies(server, tiny_model):
    spec = spec_of(server.address)
    too_long = pair_of_length(server, spec, MAX_MODEL_LEN)
    half = dataclasses.replace(too_long, text="half \ud83d a pair")
    served = graded(server, spec, pairs(50))
    *own, refused, odd = in_process(
        dataclasses.replace(spec, backend="vllm", model=str(tiny_model)),
        [*pairs(50), too_long, half],
    )
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


def test_a_model_with_other_tokens_is_another_judge(server, tiny_model):
    spec = dataclasses.replace(
        spec_of(server.address), backend="vllm", model=str(tiny_model), label_ids=(1, 2, 3, 4, 5, 6)
    )
    said = in_process(spec, pairs(1))
    assert said["kind"] == "AnotherJudge"
    assert "writes the grade 0 with the tokens" in said["error"]


def test_a_model_with_another_template_is_another_judge(server, tiny_model):
    spec = spec_of(server.address)
    assert spec.template_hash
    other = dataclasses.replace(
        spec, backend="vllm", model=str(tiny_model), template_hash=spec.template_hash[::-1]
    )
    said = in_process(other, pairs(1))
    assert said["kind"] == "AnotherJudge"
    assert "is not the one of this judge" in said["error"]


def test_where_vllm_is_not_installed_a_sentence_says_so(server):
    with pytest.raises(Unavailable, match="vLLM is not installed in this environment"):
        next(VllmGrader(spec_of(server.address)).replies(iter(pairs(1))))

"""What a machine may say about vLLM in process, and what is the judge's alone."""

import pytest

from judging.graders.base import GraderError, Unavailable
from judging.graders.vllm_engine import OF_THE_MODEL
from judging.graders.vllm_grader import VllmGrader
from tests.judging.graders import material


def first_of(**engine_args):
    grader = VllmGrader(material.spec(backend="vllm"), engine_args=engine_args)
    return next(grader.replies(iter(material.pairs("Q"))))


@pytest.mark.parametrize("name", sorted(OF_THE_MODEL))
def test_no_machine_makes_another_model_of_a_judge(name):
    with pytest.raises(GraderError, match=f"{name} cannot be an engine argument"):
        first_of(**{name: "other", "max_model_len": 64})


def test_what_the_machine_needs_is_its_own_to_say():
    with pytest.raises(Unavailable, match="vLLM is not installed"):
        first_of(tensor_parallel_size=2, gpu_memory_utilization=0.9, dtype="bfloat16")

"""Engine arguments of vLLM: the machine's own, and those that are the judge's."""

import pytest

from judging.graders.chat import VllmGrader
from judging.llm.errors import BackendError, BackendUnavailableError
from judging.llm.vllm_engine import OF_THE_MODEL
from tests.judging.graders import material


def first_of(**engine_args):
    grader = VllmGrader(material.spec(backend="vllm"), engine_args=engine_args)
    return next(grader.replies(iter(material.pairs("Q"))))


@pytest.mark.parametrize("name", sorted(OF_THE_MODEL))
def test_engine_argument_of_the_model_is_refused(name):
    with pytest.raises(BackendError, match=f"{name} cannot be an engine argument"):
        first_of(**{name: "other", "max_model_len": 64})


def test_engine_arguments_of_the_machine_are_passed_on():
    with pytest.raises(BackendUnavailableError, match="vLLM is not installed"):
        first_of(tensor_parallel_size=2, gpu_memory_utilization=0.9, dtype="bfloat16")

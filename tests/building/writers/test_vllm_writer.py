"""A writer with vLLM in this process, where there is none: tests/vllm lets a real one write."""

import pytest

from building.writers.vllm_writer import VllmWriter
from judging.graders.base import GraderError, Unavailable
from tests.building.writers.test_openai_writer import ask, spec


def written(*asks, **engine_args):
    writer = VllmWriter(spec(backend="vllm"), engine_args=engine_args)
    return list(writer.outcomes(iter(asks)))


def test_where_vllm_is_not_installed_a_sentence_says_so():
    with pytest.raises(Unavailable, match=r"not installed in this environment.* the writer ask a"):
        written(ask("Q1"))


def test_nothing_is_loaded_where_there_is_nothing_to_write():
    assert written() == []


def test_no_machine_makes_another_model_of_a_writer():
    with pytest.raises(GraderError, match="it would make another writer of this one"):
        written(ask("Q1"), quantization="fp8")

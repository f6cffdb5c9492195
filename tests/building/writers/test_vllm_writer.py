"""vLLM writer without vLLM; tests/vllm runs a real one."""

import pytest

from building.writers.vllm_writer import VllmWriter
from judging.llm.errors import BackendError, BackendUnavailableError
from tests.toolbox.writer_requests import ask, writer_spec


def written(*asks, **engine_args):
    writer = VllmWriter(writer_spec(backend="vllm"), engine_args=engine_args)
    return list(writer.outcomes(iter(asks)))


def test_missing_vllm_is_reported():
    with pytest.raises(
        BackendUnavailableError, match=r"not installed in this environment.* the writer ask a"
    ):
        written(ask("Q1"))


def test_model_is_not_loaded_without_orders():
    assert written() == []


def test_engine_arguments_cannot_change_the_model():
    with pytest.raises(BackendError, match="it would make another writer of this one"):
        written(ask("Q1"), quantization="fp8")

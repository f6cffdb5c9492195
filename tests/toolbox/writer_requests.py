"""Specs of writers, and requests to them."""

from building.writers.base import Ask
from building.writers.spec import WriterSpec
from building.writers.transformers_writer import TransformersWriter
from building.writing.tasks import TASKS, Source
from judging.llm.sampling import Sampling
from tests.toolbox.scripted_server import MODEL

SAMPLING = Sampling(0.7, 0.95, 600, seed=None, logprobs=False)


def writer_spec(**fields) -> WriterSpec:
    values = {"task": "questions", "backend": "openai", "model": MODEL, "sampling": SAMPLING}
    return WriterSpec(**values | fields)


def ask(text: str, number: int = 1, max_tokens: int = 0) -> Ask:
    messages = [{"role": "system", "content": "You write."}, {"role": "user", "content": text}]
    return Ask(number, 1, TASKS["questions"], Source(document=text), messages, max_tokens, 7)


TRANSFORMERS_SPEC = writer_spec(
    backend="transformers", adapter="/adapters/mill", adapter_hash="0" * 64
)


def transformers_outcomes(*asks, spec_=TRANSFORMERS_SPEC):
    return list(TransformersWriter(spec_).outcomes(iter(asks)))

"""Transformers writer without transformers; tests/finetune trains a real model."""

import sys
import threading
from types import SimpleNamespace

import pytest

from building.tuning.errors import InputTooLongError, TuningError
from building.writers import transformers_writer
from building.writers.transformers_writer import TransformersWriter, join_messages
from judging.llm.errors import BackendError, BackendUnavailableError
from tests.toolbox.clock import HANGS
from tests.toolbox.writer_requests import TRANSFORMERS_SPEC, ask, transformers_outcomes, writer_spec


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(transformers_writer, "_loaded", {})


def with_model(monkeypatch, write, loads=lambda *arguments: None):
    """A model that answers as `write` does."""

    class TunedModel:
        def __init__(self, *arguments):
            loads(*arguments)

        def write(self, *arguments):
            return write(*arguments)

    monkeypatch.setitem(
        sys.modules, "building.tuning.generating", SimpleNamespace(TunedModel=TunedModel)
    )


def wrote(text, *, is_cut=False):
    return SimpleNamespace(words=text, is_cut=is_cut, tokens=(9, 4))


def test_missing_package_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "building.tuning.generating", raising=False)
    with pytest.raises(
        BackendUnavailableError, match=r"is not installed in this environment: make env EXTRAS"
    ):
        transformers_outcomes(ask("Q1"))


def test_model_is_not_loaded_without_orders():
    assert transformers_outcomes() == []


def test_messages_are_joined_into_one_prompt(monkeypatch):
    calls, loaded_with = [], []

    def write(*arguments):
        calls.append(arguments)
        return wrote("What? \x00", is_cut=len(calls) == 2)

    with_model(monkeypatch, write, lambda *names: loaded_with.extend(names))
    first, second = transformers_outcomes(ask("Q1"), ask("Q2", max_tokens=40))
    assert loaded_with == [TRANSFORMERS_SPEC.model, "", "/adapters/mill", "0" * 64]
    parameters = {"temperature": 0.7, "top_p": 0.95}
    assert calls == [
        ("You write.\n\nQ1", 600, 7, parameters),
        ("You write.\n\nQ2", 40, 7, parameters),
    ]
    assert (first.raw, first.finish_reason, first.failure) == (
        "What? \N{REPLACEMENT CHARACTER}",
        "stop",
        "",
    )
    assert (second.finish_reason, second.prompt_tokens, second.completion_tokens) == (
        "length",
        9,
        4,
    )
    assert len(first.prompt_hash) == 16


def test_overlong_prompt_fails_that_order_only(monkeypatch):
    def write(prompt, *parameters):
        if "Q1" in prompt:
            raise InputTooLongError("It has 600 tokens, and the model reads 512.")
        return wrote("fine")

    with_model(monkeypatch, write)
    first, second = transformers_outcomes(ask("Q1"), ask("Q2"))
    assert (first.failure, first.detail[:10], second.raw) == ("too_long", "It has 600", "fine")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            ValueError("no `beans`"),
            BackendError,
            "does not take this writer's sampling: no `beans`",
        ),
        (
            RuntimeError("out of memory"),
            BackendUnavailableError,
            "transformers has stopped: out of memory",
        ),
    ],
)
def test_permanent_error_ends_the_work(error, kind, message, monkeypatch):
    def write(*arguments):
        raise error

    with_model(monkeypatch, write)
    with pytest.raises(kind, match=message):
        transformers_outcomes(ask("Q1"))


def test_adapter_that_is_not_the_writer_s_writes_nothing(monkeypatch):
    def loads(*arguments):
        raise TuningError("The adapter in /adapters/mill is not the one of this writer.")

    with_model(monkeypatch, lambda *_: wrote("never"), loads)
    with pytest.raises(BackendError, match="is not the one of this writer"):
        transformers_outcomes(ask("Q1"))


def test_while_a_text_takes_long_it_says_that_it_is_there(monkeypatch):
    monkeypatch.setattr(transformers_writer, "_SIGN_OF_LIFE", 0.01)
    go_on = threading.Event()

    def write(*arguments):
        assert go_on.wait(HANGS)
        return wrote("late")

    with_model(monkeypatch, write)
    outcomes = iter(TransformersWriter(TRANSFORMERS_SPEC).outcomes(iter([ask("Q1")])))
    assert next(outcomes) is None
    go_on.set()
    assert [outcome.raw for outcome in outcomes if outcome] == ["late"]


def test_adapter_changes_the_fingerprint_and_none_keeps_it():
    plain = writer_spec(backend="transformers")
    prints = {plain.fingerprint, TRANSFORMERS_SPEC.fingerprint}
    prints.add(
        writer_spec(
            backend="transformers", adapter=TRANSFORMERS_SPEC.adapter, adapter_hash="1" * 64
        ).fingerprint
    )
    assert len(prints) == 3
    # Made before there were adapters: nobody's fingerprint may change.
    assert (
        writer_spec().fingerprint
        == "3593962cc2500a28c8d7ed1abdf070aa08a588adb8b32e75e9bd3c2b061db0ec"
    )


def test_half_a_surrogate_pair_goes_in_as_a_question_mark():
    assert join_messages([{"role": "user", "content": "a \ud800 b"}]) == "a ? b"

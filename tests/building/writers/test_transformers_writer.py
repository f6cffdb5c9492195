"""A writer with transformers in this process, where there is none: tests/finetune trains a real one."""

import sys
import threading
from types import SimpleNamespace

import pytest

from building.tuning.refusals import TooLong, TuningRefused
from building.writers import transformers_writer
from building.writers.transformers_writer import TransformersWriter, one_string
from judging.graders.base import GraderError, Unavailable
from tests.building.writers.test_openai_writer import ask, spec
from tests.clock import HANGS

SPEC = spec(backend="transformers", adapter="/adapters/mill", adapter_hash="0" * 64)


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(transformers_writer, "_loaded", {})


def written(*asks, spec_=SPEC):
    return list(TransformersWriter(spec_).outcomes(iter(asks)))


def with_model(monkeypatch, write, loads=lambda *named: None):
    """A model that answers as `write` does."""

    class Tuned:
        def __init__(self, *named):
            loads(*named)

        def write(self, *asked):
            return write(*asked)

    monkeypatch.setitem(sys.modules, "building.tuning.generating", SimpleNamespace(Tuned=Tuned))


def wrote(words, *, is_cut=False):
    return SimpleNamespace(words=words, is_cut=is_cut, tokens=(9, 4))


def test_where_it_is_not_installed_a_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "building.tuning.generating", raising=False)
    with pytest.raises(Unavailable, match=r"is not installed in this environment: make env EXTRAS"):
        written(ask("Q1"))


def test_nothing_is_loaded_where_there_is_nothing_to_write():
    assert written() == []


def test_one_string_goes_in_and_one_comes_out(monkeypatch):
    asked, named = [], []

    def write(*what):
        asked.append(what)
        return wrote("What? \x00", is_cut=len(asked) == 2)

    with_model(monkeypatch, write, lambda *names: named.extend(names))
    first, second = written(ask("Q1"), ask("Q2", max_tokens=40))
    assert named == [SPEC.model, "", "/adapters/mill", "0" * 64]
    parameters = {"temperature": 0.7, "top_p": 0.95}
    assert asked == [
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


def test_what_a_model_cannot_read_is_that_order_s_failure(monkeypatch):
    def write(words, *rest):
        if "Q1" in words:
            raise TooLong("It has 600 tokens, and the model reads 512.")
        return wrote("fine")

    with_model(monkeypatch, write)
    first, second = written(ask("Q1"), ask("Q2"))
    assert (first.failure, first.detail[:10], second.raw) == ("too_long", "It has 600", "fine")


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (ValueError("no `beans`"), GraderError, "does not take this writer's sampling: no `beans`"),
        (RuntimeError("out of memory"), Unavailable, "transformers has stopped: out of memory"),
    ],
)
def test_what_is_everybody_s_failure_ends_the_work(error, kind, says, monkeypatch):
    def write(*what):
        raise error

    with_model(monkeypatch, write)
    with pytest.raises(kind, match=says):
        written(ask("Q1"))


def test_an_adapter_that_is_not_the_writer_s_writes_nothing(monkeypatch):
    def loads(*named):
        raise TuningRefused("The adapter in /adapters/mill is not the one of this writer.")

    with_model(monkeypatch, lambda *what: wrote("never"), loads)
    with pytest.raises(GraderError, match="is not the one of this writer"):
        written(ask("Q1"))


def test_while_a_text_takes_long_it_says_that_it_is_there(monkeypatch):
    monkeypatch.setattr(transformers_writer, "_SIGN_OF_LIFE", 0.01)
    go_on = threading.Event()

    def write(*what):
        assert go_on.wait(HANGS)
        return wrote("late")

    with_model(monkeypatch, write)
    outcomes = iter(TransformersWriter(SPEC).outcomes(iter([ask("Q1")])))
    assert next(outcomes) is None
    go_on.set()
    assert [each.raw for each in outcomes if each] == ["late"]


def test_another_adapter_is_another_writer_and_none_is_who_it_was():
    plain = spec(backend="transformers")
    prints = {plain.fingerprint, SPEC.fingerprint}
    prints.add(
        spec(backend="transformers", adapter=SPEC.adapter, adapter_hash="1" * 64).fingerprint
    )
    assert len(prints) == 3
    # Made before there were adapters: nobody's fingerprint may change.
    assert spec().fingerprint == "3593962cc2500a28c8d7ed1abdf070aa08a588adb8b32e75e9bd3c2b061db0ec"


def test_half_a_surrogate_pair_goes_in_as_a_question_mark():
    assert one_string([{"role": "user", "content": "a \ud800 b"}]) == "a ? b"

"""Client at a real vLLM server: pinned facts, and pairs that it cannot grade."""

import dataclasses

import pytest

from judging.graders.chat import OpenAIGrader
from judging.grading import probabilities
from judging.grading.pairs import State
from judging.grading.presets import constraint
from judging.grading.prompt import hashes
from judging.llm.errors import Failure, ModelMismatchError
from judging.llm.probe import probe
from judging.llm.server import Address
from tests.vllm.client_requests import (
    all_questions,
    graded,
    of_one_text,
    pair_of_length,
    sampled,
    sums_to_shares,
)
from tests.vllm.material import LEVELS, pairs, spec_of
from tests.vllm.server import MAX_MODEL_LEN, MODEL, VllmServer


def test_everything_about_the_judge_can_be_pinned(server):
    learnt = probe(f"{server.address}/v1", None, MODEL, labels=[str(grade) for grade, _ in LEVELS])
    assert learnt.models == (MODEL,)
    assert learnt.max_model_len == MAX_MODEL_LEN
    assert learnt.has_logprobs
    assert len(set(learnt.label_ids)) == len(LEVELS)
    assert len(learnt.template_hash) == 64


def test_reply_has_the_probability_of_every_grade_and_of_nothing_else(server, monkeypatch):
    # A random model leaves little to the grades: by the rule for judges, no distribution would be kept.
    monkeypatch.setattr(probabilities, "LEAST_MASS", 0.0)
    spec = spec_of(server.address)
    replies = graded(server, spec, pairs(30))
    assert {reply.state for reply in replies} <= {State.GRADED, State.UNPARSEABLE}
    assert len({reply.grade for reply in replies if reply.grade is not None}) > 2
    for reply in replies:
        if reply.grade is None:
            assert reply.probabilities is None
            continue
        assert None not in reply.probabilities
        assert sum(reply.probabilities) == pytest.approx(reply.label_mass)
        assert 0 < reply.label_mass < 1
        assert reply.completion_tokens == 1
        # Temperature 0: the likeliest of the grades.
        assert reply.probabilities[reply.grade] == max(reply.probabilities)


@pytest.mark.parametrize("tokens", [MAX_MODEL_LEN, MAX_MODEL_LEN + 1, 40 * MAX_MODEL_LEN])
def test_prompt_that_leaves_no_room_for_a_reply_is_too_long(server, tokens):
    spec = spec_of(server.address)
    [reply] = graded(server, spec, [pair_of_length(server, spec, tokens)])
    assert (reply.state, reply.failure) == (State.ERROR, Failure.TOO_LONG), reply.detail


def test_prompt_that_leaves_room_for_one_token_is_graded(server):
    spec = spec_of(server.address)
    [reply] = graded(server, spec, [pair_of_length(server, spec, MAX_MODEL_LEN - 1)])
    assert reply.prompt_tokens == MAX_MODEL_LEN - 1
    assert reply.state in (State.GRADED, State.UNPARSEABLE)


def test_half_a_surrogate_pair_in_a_text_is_no_failure(server):
    [pair] = pairs(1)
    broken = dataclasses.replace(pair, text=f"{pair.text} \ud83d.")
    [reply] = graded(server, spec_of(server.address), [broken])
    assert reply.state in (State.GRADED, State.UNPARSEABLE), reply.detail


def test_changed_chat_template_or_model_is_another_judge(server):
    spec = spec_of(server.address)
    for change in ({"template_hash": "0" * 64}, {"model": "large"}):
        with pytest.raises(ModelMismatchError):
            graded(server, dataclasses.replace(spec, **change), pairs(1))


def test_server_that_is_held_to_the_grades_replies_nothing_else(server):
    spec = spec_of(server.address)
    form = constraint("choice", [grade for grade, _ in LEVELS])
    spec = dataclasses.replace(spec, sampling=dataclasses.replace(spec.sampling, extra=form))
    replies = graded(server, spec, pairs(60))
    assert {(reply.state, reply.detail) for reply in replies} == {(State.GRADED, "")}
    assert {reply.raw for reply in replies} <= {str(grade) for grade, _ in LEVELS}


def test_message_asks_all_questions_of_a_text(server):
    batch = of_one_text()
    spec = all_questions(spec_of(server.address), "1: [0-5]\\n2: [0-5]\\n3: [0-5]")
    replies = graded(server, spec, batch)
    assert len(replies) == 3
    assert {(reply.state, reply.detail) for reply in replies} == {(State.GRADED, "")}
    assert len({reply.raw for reply in replies}) == 1
    assert {reply.prompt_hash for reply in replies} == {hashes(spec, batch[0])[0]}
    grades = {reply.pair.number: str(reply.grade) for reply in replies}
    assert replies[0].raw == "\n".join(f"{number}: {grades[number]}" for number in (1, 2, 3))


def test_question_that_the_reply_leaves_out_is_asked_alone(server):
    batch = of_one_text()
    spec = all_questions(spec_of(server.address), "1: [0-5]\\n2: [0-5]")
    replies = {reply.pair.question_id: reply for reply in graded(server, spec, batch)}
    assert (replies[0].state, replies[1].state) == (State.GRADED, State.GRADED)
    # Alone it is held to two lines, too, and the second is of no question.
    assert replies[2].failure is Failure.SEVERAL_INTEGERS
    assert replies[2].prompt_hash == hashes(spec, batch[2])[1]


def test_shares_of_several_samples_are_the_probabilities(server):
    replies = graded(server, sampled(spec_of(server.address)), pairs(20))
    assert {reply.state for reply in replies} == {State.GRADED}
    assert all(sums_to_shares(reply.probabilities, reply.label_mass) for reply in replies)
    assert any(len(set(filter(None, reply.probabilities))) > 1 for reply in replies)


def test_remaining_server_does_the_pairs_of_a_killed_one(server, tiny_model):
    spec, batch, aside, replied = spec_of(server.address), pairs(300), {}, []
    change = VllmServer(tiny_model, tiny_model.parent / "other.log")
    change.start()
    try:
        grader = OpenAIGrader(
            spec,
            f"{server.address}/v1",
            key=None,
            other_addresses=[Address(f"{change.address}/v1", None)],
            on_aside=aside.__setitem__,
            concurrency=16,
        )
        for reply in grader.replies(iter(batch)):
            if reply is not None:
                replied.append((reply.pair.text_id, reply.state))
                if len(replied) == 50:
                    change.kill()
    finally:
        change.kill()
    assert sorted(text for text, _ in replied) == list(range(300))
    assert {state for _, state in replied} <= {State.GRADED, State.UNPARSEABLE}
    assert list(aside) == [f"{change.address}/v1"]

"""Our client at a real vLLM server: what can be pinned of it, and pairs that it cannot grade."""

import dataclasses
import json
import urllib.request

import pytest

from judging.graders.base import AnotherJudge
from judging.graders.openai_api import OpenAIGrader, probe
from judging.graders.openai_server import Address
from judging.grading import probabilities, prompts
from judging.grading.pairs import Failure, Pair, Sampling, State
from judging.grading.presets import constraint
from judging.grading.prompt import hashes, render
from tests.vllm.material import LEVELS, pairs, spec_of
from tests.vllm.server import MAX_MODEL_LEN, MODEL, VllmServer


def graded(server, spec, asked):
    grader = OpenAIGrader(spec, f"{server.address}/v1", key=None, concurrency=16)
    replies = [reply for reply in grader.replies(iter(asked)) if reply is not None]
    return sorted(replies, key=lambda reply: reply.pair.text_id)


def pair_of_length(server, spec, tokens: int) -> Pair:
    """A pair whose prompt has exactly so many tokens: each digit of its text is one."""
    question = pairs(1)[0].question
    messages = render(spec, Pair(0, 0, "1", question))
    body = {"model": MODEL, "messages": messages, "add_generation_prompt": True}
    request = urllib.request.Request(
        f"{server.address}/tokenize",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        count = json.load(answer)["count"]
    return Pair(0, 0, "1" * (tokens - count + 1), question)


def test_everything_about_the_judge_can_be_pinned(server):
    learnt = probe(f"{server.address}/v1", None, MODEL, labels=[str(grade) for grade, _ in LEVELS])
    assert learnt.models == (MODEL,)
    assert learnt.max_model_len == MAX_MODEL_LEN
    assert learnt.has_logprobs
    assert len(set(learnt.label_ids)) == len(LEVELS)
    assert len(learnt.template_hash) == 64


def test_a_reply_has_the_probability_of_every_grade_and_of_nothing_else(server, monkeypatch):
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
def test_a_prompt_that_leaves_no_room_for_a_reply_is_too_long(server, tokens):
    spec = spec_of(server.address)
    [reply] = graded(server, spec, [pair_of_length(server, spec, tokens)])
    assert (reply.state, reply.failure) == (State.ERROR, Failure.TOO_LONG), reply.detail


def test_a_prompt_that_leaves_room_for_one_token_is_graded(server):
    spec = spec_of(server.address)
    [reply] = graded(server, spec, [pair_of_length(server, spec, MAX_MODEL_LEN - 1)])
    assert reply.prompt_tokens == MAX_MODEL_LEN - 1
    assert reply.state in (State.GRADED, State.UNPARSEABLE)


def test_half_a_surrogate_pair_in_a_text_is_no_failure(server):
    [pair] = pairs(1)
    broken = dataclasses.replace(pair, text=f"{pair.text} \ud83d.")
    [reply] = graded(server, spec_of(server.address), [broken])
    assert reply.state in (State.GRADED, State.UNPARSEABLE), reply.detail


def test_another_chat_template_or_model_is_another_judge(server):
    spec = spec_of(server.address)
    for other in ({"template_hash": "0" * 64}, {"model": "large"}):
        with pytest.raises(AnotherJudge):
            graded(server, dataclasses.replace(spec, **other), pairs(1))


def test_a_server_that_is_held_to_the_grades_replies_nothing_else(server):
    spec = spec_of(server.address)
    held = constraint("choice", [grade for grade, _ in LEVELS])
    spec = dataclasses.replace(spec, sampling=dataclasses.replace(spec.sampling, extra=held))
    replies = graded(server, spec, pairs(60))
    assert {(reply.state, reply.detail) for reply in replies} == {(State.GRADED, "")}
    assert {reply.raw for reply in replies} <= {str(grade) for grade, _ in LEVELS}


def all_questions(spec, regex: str):
    """The judge that asks all questions of a text at once, held to a form of reply."""
    told = prompts.load("all-questions")
    extra = {"structured_outputs": {"regex": regex}}
    return dataclasses.replace(
        spec,
        system=told.system,
        prompt=told.prompt,
        parser=told.parser,
        label_ids=(),
        sampling=Sampling(max_tokens=40, logprobs=False, extra=extra),
    )


def of_one_text() -> list[Pair]:
    """One text and three questions."""
    asked = tuple(dict.fromkeys(pair.question for pair in pairs(20)))[:3]
    text = pairs(1)[0].text
    return [Pair(0, n, text, question, "", "", asked, n + 1) for n, question in enumerate(asked)]


def sampled(spec):
    """The judge that takes four samples of one grade."""
    held = {**constraint("choice", [grade for grade, _ in LEVELS]), "n": 4}
    # Without a seed: vLLM 0.32 on a CPU ends when a request that has one is sampled in two steps.
    sampling = Sampling(temperature=1.0, max_tokens=1, seed=None, logprobs=False, extra=held)
    return dataclasses.replace(spec, label_ids=(), sampling=sampling)


def sums_to_shares(probabilities, mass) -> bool:
    quarters = all((4 * share).is_integer() for share in probabilities)
    return quarters and sum(probabilities) == mass == 1.0


def test_one_message_asks_all_questions_of_a_text(server):
    asked = of_one_text()
    spec = all_questions(spec_of(server.address), "1: [0-5]\\n2: [0-5]\\n3: [0-5]")
    replies = graded(server, spec, asked)
    assert len(replies) == 3
    assert {(reply.state, reply.detail) for reply in replies} == {(State.GRADED, "")}
    assert len({reply.raw for reply in replies}) == 1
    assert {reply.prompt_hash for reply in replies} == {hashes(spec, asked[0])[0]}
    grades = {reply.pair.number: str(reply.grade) for reply in replies}
    assert replies[0].raw == "\n".join(f"{number}: {grades[number]}" for number in (1, 2, 3))


def test_a_question_that_the_reply_leaves_out_is_asked_alone(server):
    asked = of_one_text()
    spec = all_questions(spec_of(server.address), "1: [0-5]\\n2: [0-5]")
    replies = {reply.pair.question_id: reply for reply in graded(server, spec, asked)}
    assert (replies[0].state, replies[1].state) == (State.GRADED, State.GRADED)
    # Alone it is held to two lines, too, and the second is of no question.
    assert replies[2].failure is Failure.SEVERAL
    assert replies[2].prompt_hash == hashes(spec, asked[2])[1]


def test_the_shares_of_several_samples_are_the_probabilities(server):
    replies = graded(server, sampled(spec_of(server.address)), pairs(20))
    assert {reply.state for reply in replies} == {State.GRADED}
    assert all(sums_to_shares(reply.probabilities, reply.label_mass) for reply in replies)
    assert any(len(set(filter(None, reply.probabilities))) > 1 for reply in replies)


def test_one_of_two_servers_is_killed_and_the_other_does_its_pairs(server, tiny_model):
    spec, asked, aside, replied = spec_of(server.address), pairs(300), {}, []
    other = VllmServer(tiny_model, tiny_model.parent / "other.log")
    other.start()
    try:
        grader = OpenAIGrader(
            spec,
            f"{server.address}/v1",
            key=None,
            others=[Address(f"{other.address}/v1", None)],
            on_aside=aside.__setitem__,
            concurrency=16,
        )
        for reply in grader.replies(iter(asked)):
            if reply is not None:
                replied.append((reply.pair.text_id, reply.state))
                if len(replied) == 50:
                    other.kill()
    finally:
        other.kill()
    assert sorted(text for text, _ in replied) == list(range(300))
    assert {state for _, state in replied} <= {State.GRADED, State.UNPARSEABLE}
    assert list(aside) == [f"{other.address}/v1"]

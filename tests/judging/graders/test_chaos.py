"""Presets at their kinds of servers, and error messages for other judges there."""

import pytest

from judging.grading.pairs import State
from judging.grading.presets import PRESETS
from judging.llm.errors import BackendUnavailableError, Failure, ReplyModelMismatchError
from judging.llm.probe import probe
from judging.llm.sampling import Sampling
from tests.judging.graders import chaos, material
from tests.toolbox.scripted_server import models

CHAT = "/v1/chat/completions"
FAMILIES = [
    ("openai-reasoning", "gpt-5", chaos.gpt_5),
    ("anthropic", "claude-sonnet-4-5", chaos.claude),
    ("vllm-think", "Qwen/Qwen3-8B", chaos.qwen("")),
    ("vllm-think", "Qwen/Qwen3-8B", chaos.qwen("reasoning_content")),
    ("vllm-think", "Qwen/Qwen3-8B", chaos.qwen("reasoning")),
    ("vllm-no-think", "Qwen/Qwen3-8B", chaos.qwen("")),
    ("tgi", "owner/real-name", chaos.tgi),
]


def judge(model, preset, **changes):
    chosen = PRESETS[preset]
    values = {
        "model": model,
        "parser": chosen.parser or "integer-1",
        "sampling": chosen.sampling(1),
    }
    return material.spec(**values | changes)


@pytest.mark.parametrize(("preset", "model", "family"), FAMILIES)
def test_preset_passes(server, ask, preset, model, family):
    server.answers |= {CHAT: family, "/v1/models": models(model)}
    reply = ask("Q", spec=judge(model, preset))["Q"]
    assert (reply.state, reply.grade, reply.detail) == (State.GRADED, 4, "")
    assert (reply.expected_grade is None) == (preset not in ("vllm-no-think", "tgi"))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_beside_the_reply_are_kept(server, ask, field):
    server.answers |= {CHAT: chaos.qwen(field), "/v1/models": models("q")}
    assert ask("Q", spec=judge("q", "vllm-think"))["Q"].reasoning == chaos.THOUGHT


@pytest.mark.parametrize(
    ("family", "sampling", "message"),
    [
        (chaos.gpt_5, Sampling(), "'max_tokens' is not supported"),
        (
            chaos.gpt_5,
            Sampling(extra={"max_tokens": None, "max_completion_tokens": 1}),
            "'temperature' does not support 0",
        ),
        (chaos.claude, Sampling(), "cannot both be specified"),
        (chaos.tgi, Sampling(), "`top_p` must be > 0.0"),
    ],
)
def test_parameter_that_a_server_does_not_take_is_named_before_200_pairs_fail(
    server, ask, family, sampling, message
):
    server.answers |= {CHAT: family, "/v1/models": models("m")}
    with pytest.raises(
        BackendUnavailableError, match="does not take a parameter of this judge"
    ) as error:
        ask("Q", spec=material.spec(model="m", sampling=sampling))
    assert message in str(error.value)
    assert "copy this one to a new judge" in str(error.value)


def test_probabilities_that_a_model_may_not_tell_are_left_out(server, ask):
    server.answers |= {CHAT: chaos.gpt_5, "/v1/models": models("gpt-5")}
    spec = judge("gpt-5", "openai-reasoning")
    sampling = Sampling(1, 1, 8_000, None, True, spec.sampling.extra)
    reply = ask("Q", spec=judge("gpt-5", "openai-reasoning", sampling=sampling))["Q"]
    assert (reply.grade, reply.probabilities) == (4, None)


def test_limit_that_reasoning_uses_up_is_a_cut_reply(server, ask):
    server.answers |= {CHAT: chaos.gpt_5, "/v1/models": models("gpt-5")}
    extra = {"temperature": None, "top_p": None, "max_tokens": None, "max_completion_tokens": 16}
    sampling = Sampling(max_tokens=16, logprobs=False, extra=extra)
    reply = ask("Q", spec=material.spec(model="gpt-5", sampling=sampling))["Q"]
    assert (reply.state, reply.failure) == (State.TRUNCATED, Failure.CUT)


def test_thought_that_does_not_end_is_a_cut_reply(server, ask):
    server.answers |= {CHAT: chaos.qwen(""), "/v1/models": models("q")}
    sampling = Sampling(max_tokens=50, logprobs=False)
    reply = ask("Q", spec=judge("q", "vllm-think", sampling=sampling))["Q"]
    assert (reply.state, reply.failure) == (State.TRUNCATED, Failure.CUT)


def test_name_that_a_server_only_answers_to_stops_the_work_and_tells_the_real_one(server, ask):
    server.answers |= {CHAT: chaos.tgi, "/v1/models": models("tgi")}
    with pytest.raises(
        ReplyModelMismatchError, match=r"answers as owner/real-name\. If that is the model"
    ):
        ask("Q", spec=judge("tgi", "tgi"))
    assert ask("Q", spec=judge("tgi", "tgi", reply_model="owner/real-name"))["Q"].grade == 4


def test_presets_have_titles_and_notes():
    for preset in PRESETS.values():
        assert preset.title
        assert preset.note.endswith(".")
        assert preset.sampling(300).max_tokens >= 300


def test_asking_such_a_server_says_what_it_refuses(server):
    server.answers |= {CHAT: chaos.gpt_5, "/v1/models": models("gpt-5")}
    facts = probe(server.url, None, "gpt-5", labels=["0", "1"])
    assert not facts.has_logprobs
    assert any("'max_tokens' is not supported with this model" in note for note in facts.notes)

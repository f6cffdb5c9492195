"""Probe of a server, and detection of another judge's model."""

import pytest
from aiohttp import web

from judging.llm.errors import BackendUnavailableError, ModelMismatchError
from judging.llm.probe import probe
from judging.llm.sampling import Sampling
from tests.judging.graders import material
from tests.toolbox.scripted_server import (
    MODEL,
    as_json,
    completion,
    logprobs_of,
    models,
    reply_with,
    reset,
    status,
    tokenized,
)

LABELS = tuple("012345")
QUESTION = "Does the text answer the question? Reply with a grade."
REVISION = "0123456789abcdef0123456789abcdef01234567"


def learn(server, model=MODEL, key=None, **options):
    return probe(server.url, key, model, labels=LABELS, **options)


def test_server_like_vllm_tells_everything(server):
    root = f"/models/hub/models--some--tiny/snapshots/{REVISION}"
    server.answers["/v1/models"] = models(MODEL, root=root)
    server.script(QUESTION, reply_with("4", logprobs=logprobs_of({"4": -0.1})))
    learnt = learn(server)
    assert learnt.models == (MODEL,)
    assert learnt.revision == REVISION
    assert learnt.max_model_len == 2048
    assert learnt.label_ids == (15, 16, 17, 18, 19, 20)
    assert len(learnt.template_hash) == 64
    assert learnt.has_logprobs
    assert learnt.notes == ()


def test_server_with_chat_alone_says_what_could_not_be_learnt(server):
    server.answers = {"/v1/models": status(404), "/tokenize": status(404)}
    learnt = learn(server)
    assert (learnt.models, learnt.revision, learnt.max_model_len) == ((), "", None)
    assert (learnt.label_ids, learnt.template_hash, learnt.has_logprobs) == ((), "", False)
    assert learnt.notes == (
        "The server does not list its models.",
        "The server does not tell the model's revision: write it down yourself.",
        "The server has no /tokenize as vLLM has it: probabilities are read from its likeliest tokens.",
        "The server has no /tokenize for chats: its template cannot be pinned.",
        "The server tells no log-probabilities: there will be no expected grades.",
    )


def test_refused_logprobs_are_noted_with_the_servers_words(server):
    server.script(QUESTION, status(400, "logprobs are not supported"))
    assert "(400 logprobs are not supported)" in learn(server).notes[-1]


def test_model_that_is_not_listed_is_noted_with_those_that_are_and_asked(server):
    server.answers["/v1/models"] = models(*(f"m{number}" for number in range(7)))
    server.script(QUESTION, reply_with("4", logprobs=logprobs_of({"4": -0.1})))
    learnt = learn(server)
    assert len(learnt.models) == 7
    assert learnt.notes[0] == (
        "The server lists m0, m1, m2, m3, m4 and 2 more, and not tiny. It is asked all the same."
    )
    assert learnt.has_logprobs


def test_model_name_of_replies_is_learnt(server):
    server.script(QUESTION, as_json({**completion("4"), "model": "owner/real-name"}))
    assert learn(server).named == "owner/real-name"


@pytest.mark.parametrize(
    "refusals",
    [
        [status(400, "UnsupportedParamsError: ['logprobs', 'top_logprobs']")],
        [status(400, "'logprobs' is not supported"), status(400, "use 'max_completion_tokens'")],
    ],
)
def test_model_name_of_replies_is_learnt_despite_refused_parameters(server, refusals):
    answer = as_json({**completion("4"), "model": "owner/real-name"})
    server.script(QUESTION, *refusals, answer)
    learnt = learn(server)
    assert (learnt.named, learnt.has_logprobs) == ("owner/real-name", False)
    assert "logprobs" in learnt.notes[-1]


def test_without_a_model_nothing_but_the_list_is_asked_for(server):
    learnt = learn(server, model="")
    assert (learnt.models, learnt.notes) == (
        (MODEL,),
        ("Write down which of its models is meant.",),
    )
    assert not server.asked


@pytest.mark.parametrize(
    ("tokens", "note"),
    [
        ([29871, 29900], "This model writes the grade 0 with 2 tokens, not with one."),
        (
            [],
            "The server has no /tokenize as vLLM has it: probabilities are read from its likeliest tokens.",
        ),
        ([3], "This model writes two grades with the same token."),
    ],
)
def test_label_ids_are_only_known_where_each_grade_is_one_token(server, tokens, note):
    server.answers["/tokenize"] = as_json({"tokens": tokens})
    learnt = learn(server)
    assert learnt.label_ids == ()
    assert note in learnt.notes


def test_template_hash_is_that_of_the_template(server):
    first = learn(server).template_hash
    assert learn(server).template_hash == first
    server.answers["/tokenize"] = shifted
    assert learn(server).template_hash != first


def test_template_arguments_are_part_of_its_hash(server):
    server.answers["/tokenize"] = dated
    template_kwargs = {"date": "1 May"}
    assert learn(server, template_kwargs=template_kwargs) == learn(
        server, template_kwargs=template_kwargs
    )
    assert learn(server, template_kwargs=template_kwargs) != learn(server)


def test_template_without_a_place_for_a_system_message_can_be_pinned(server):
    async def without_system(request, body):
        if len(body.get("messages", ())) > 1:
            return await status(400, "System role not supported")(request, body)
        return await tokenized(request, body)

    server.answers["/tokenize"] = without_system
    assert learn(server).template_hash


def test_judge_of_the_same_template_is_the_same_judge(server, ask):
    judge = material.spec(template_hash=learn(server).template_hash)
    assert ask("Q", spec=judge)["Q"].grade == 3


def test_judge_of_another_template_is_another_judge(server, ask):
    judge = material.spec(template_hash=learn(server).template_hash)
    server.answers["/tokenize"] = shifted
    with pytest.raises(ModelMismatchError, match=r"The chat template of tiny at .* is not the one"):
        ask("Q", spec=judge)
    assert not server.asked["Q"]


def test_template_of_a_judge_is_compared_under_what_the_judge_gives_it(server, ask):
    server.answers["/tokenize"] = dated
    template_kwargs = {"date": "1 May"}
    sampling = Sampling(extra={"chat_template_kwargs": template_kwargs})
    pinned = learn(server, template_kwargs=template_kwargs).template_hash
    judge = material.spec(template_hash=pinned, sampling=sampling)
    assert ask("Q", spec=judge)["Q"].grade == 3


def test_server_that_cannot_tell_its_template_is_taken_at_its_word(server, ask):
    server.answers["/tokenize"] = status(404)
    assert ask("Q", spec=material.spec(template_hash="0" * 64))["Q"].grade == 3


@pytest.mark.parametrize("trouble", [reset, status(503), status(502)])
def test_server_that_starts_up_is_waited_for_and_then_checked(server, ask, trouble):
    fails = iter([trouble, trouble])

    async def starting(request, body):
        return await next(fails, models("tiny"))(request, body)

    judge = material.spec(template_hash=learn(server).template_hash)
    server.answers |= {"/v1/models": starting, "/tokenize": shifted}
    with pytest.raises(ModelMismatchError):
        ask("Q", spec=judge)


def test_server_that_does_not_answer_is_unavailable(server):
    server.stop()
    with pytest.raises(BackendUnavailableError, match=r"does not answer: .*connect"):
        learn(server)
    server.start()


@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions"])
def test_refused_key_is_unavailable_and_not_named(server, path):
    server.answers[path] = status(401, "Wrong: sk-secret")
    with pytest.raises(BackendUnavailableError, match="refuses the key that it was sent") as caught:
        learn(server, key="sk-secret")
    assert "sk-secret" not in str(caught.value)


async def shifted(request, body):
    """The tokens of another template: a space in front."""
    if "messages" not in body:
        return await tokenized(request, body)
    return web.json_response({"tokens": [0, 1, 2]})


async def dated(request, body):
    """A template that writes the date that it is given."""
    if "messages" not in body:
        return await tokenized(request, body)
    date = body.get("chat_template_kwargs", {}).get("date", "today")
    return web.json_response({"tokens": [ord(letter) for letter in date]})

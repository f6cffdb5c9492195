"""Names of models in replies: aliases of the requested model, and other models."""

import csv
import json
from dataclasses import replace

import pytest

from judging.grading.spec import Spec
from judging.llm import server_client
from judging.llm.errors import ModelMismatchError, ReplyModelMismatchError
from judging.llm.model_names import names_model
from judging.llm.sampling import Sampling
from tests.judging.graders import material
from tests.toolbox.regression_cases import case
from tests.toolbox.scripted_server import as_json, completion, reply_with

QUESTIONS = [f"Q{number}" for number in range(300)]
FINGERPRINT = (
    "e776d172294fd903638683f384503f6bf83e045e263cf0e72ec81fa5143c5c3f"  # before there was the field
)


@pytest.mark.parametrize(
    ("model", "reply_name"),
    [
        ("tiny", "Tiny"),
        ("tiny", "owner/tiny"),
        ("owner/tiny", "tiny"),
        ("router/owner/tiny", "owner/tiny"),
        ("Owner/Tiny", "owner/tiny"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("openai/gpt-4o", "gpt-4o-2024-08-06"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5@20250929"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4-20250514"),
        ("gpt-4", "gpt-4-0613"),
        ("gemini-2.5-pro-preview", "gemini-2.5-pro-preview-05-06"),
        ("gpt-3.5-turbo", "gpt-3.5-turbo-0125"),
        ("command-r", "command-r-08-2024"),
        ("mistral-large-latest", "mistral-large-2411"),
        ("mistral-large-latest", "mistral-large"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("gemini-1.5-pro-latest", "gemini-1.5-pro-002"),
        ("x:free", "x"),
        ("meta-llama/llama-3.1:free", "meta-llama/llama-3.1"),
        ("owner/x:together", "x-2024-08-06"),
        ("llama3", "llama3:latest"),
        ("llama3:8b", "llama3:8b"),
    ],
)
def test_name_of_the_same_model_is_accepted(model, reply_name):
    assert names_model(model, reply_name)


@pytest.mark.parametrize(
    ("model", "reply_name"),
    [
        ("tiny", "large"),
        ("tiny", "tiny-2"),
        ("owner/tiny", "other/tiny"),
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("gpt-4", "gpt-4-32k-0613"),
        ("gpt-4", "gpt-4-9999"),
        ("phi-3", "phi-3-5-mini"),
        ("x-preview-05-06", "x-preview-05-20"),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("mistral-large-latest", "mistral-small-2411"),
        ("mistral-large-latest", "mistral-large-instruct"),
        ("gemini-1.5-pro", "gemini-1.5-pro-flash"),
        ("llama3:8b", "llama3:70b"),
        ("llama3", "llama3:70b"),
        ("ft:gpt-4o:org::a", "ft:gpt-4o:org::b"),
        ("judge-prod", "gpt-4o-2024-08-06"),
    ],
)
def test_name_of_another_model_is_not(model, reply_name):
    assert not names_model(model, reply_name)


@pytest.mark.parametrize(
    ("revision", "reply_name", "is_it"),
    [
        ("2024-08-06", "gpt-4o-2024-08-06", True),
        ("2024-08-06", "gpt-4o-2024-11-20", False),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", False),
        ("0613", "gpt-4o-0613", True),
        ("0613", "gpt-4o-1106", False),
        ("2023-06-13", "gpt-4o-0613", True),
        ("0123456789abcdef", "gpt-4o-1106", True),
        ("the-real-one", "the-real-one", True),
    ],
)
def test_revision_says_which_version_is_meant(revision, reply_name, is_it):
    assert names_model("gpt-4o", reply_name, revision) is is_it


def as_model(name, suffix=0.0):
    return as_json(completion("4") | {"model": name}, delay=suffix)


@pytest.fixture
def first_alone(monkeypatch, server):
    """As in a run: the first reply is waited for before others are asked beside it."""
    monkeypatch.setattr(server_client, "FIRST_REPLY_SECONDS", 10)


@pytest.mark.usefixtures("first_alone")
def test_services_of_the_case_are_asked_once_where_they_name_another_model(server, ask, subtests):
    path = case("reply-names-the-deployment") / "names.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t")
    assert len(rows) == 4
    for judge_spec, reply_name in rows:
        server.asked.clear()
        for question in QUESTIONS:
            server.script(question, as_model(reply_name))
        spec = material.spec(model=judge_spec)
        with subtests.test(judge_spec):
            if judge_spec != "judge-prod":
                replies = ask(*QUESTIONS[:20], spec=spec)
                assert {reply.grade for reply in replies.values()} == {4}
                continue
            message = rf"answers as {reply_name}\. If that is the model you mean, copy this judge to a new one"
            with pytest.raises(ReplyModelMismatchError, match=message) as caught:
                ask(*QUESTIONS, spec=spec)
            assert caught.value.named == reply_name
            assert server.asked.total() == 1
            replies = ask(*QUESTIONS[:20], spec=replace(spec, reply_model=reply_name))
            assert {reply.grade for reply in replies.values()} == {4}


@pytest.mark.usefixtures("first_alone")
def test_server_that_answers_by_turns_with_different_models_is_refused(server, ask):
    for number, question in enumerate(QUESTIONS):
        server.script(question, as_model(("gpt-4o", "llama3")[number % 2]))
    with pytest.raises(ModelMismatchError, match=r"by turns .* now as llama3, before as gpt-4o\."):
        ask(*QUESTIONS, spec=material.spec(model="gpt-4o"), concurrency=1)
    assert server.asked.total() == 2


@pytest.mark.usefixtures("first_alone")
def test_name_in_replies_is_the_only_one_that_counts_where_a_judge_has_it(server, ask):
    spec = material.spec(model="judge-prod", reply_model="gpt-4o")
    server.script("Q1", as_model("gpt-4o-2024-08-06"))
    server.script("Q2", as_model("judge-prod"))
    assert ask("Q1", spec=spec)["Q1"].grade == 4
    with pytest.raises(ReplyModelMismatchError):
        ask("Q2", spec=spec)


@pytest.mark.usefixtures("first_alone")
def test_first_reply_is_waited_for_before_other_messages(server, ask):
    out_beside_the_first = []

    async def first(request, body):
        answer = await reply_with("4", delay=0.2)(request, body)
        out_beside_the_first.append(server.most_at_once)
        return answer

    server.script("Q0", first)
    for question in QUESTIONS[1:60]:
        server.script(question, reply_with("4", delay=0.05))
    assert len(ask(*QUESTIONS[:60])) == 60
    assert (out_beside_the_first, server.most_at_once) == ([1], 8)


def test_judges_of_before_keep_their_fingerprints_and_their_json():
    spec = Spec("graded", ((0, "no"), (1, "yes")), "openai", "m", "r", sampling=Sampling())
    assert "reply_model" not in spec.as_json()
    assert spec.fingerprint == FINGERPRINT
    reply_name = replace(spec, reply_model="gpt-4o")
    assert reply_name.fingerprint != spec.fingerprint
    for old_spec in (spec, reply_name):
        assert Spec.from_json(json.loads(json.dumps(old_spec.as_json()))) == old_spec

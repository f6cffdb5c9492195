"""Messages about all questions of a text, and several samples of a reply."""

import asyncio
from dataclasses import replace

import pytest

from judging.graders.chat import OpenAIGrader
from judging.grading.pairs import Pair
from judging.grading.prompt import hashes
from judging.llm.errors import BackendUnavailableError, ModelMismatchError
from judging.llm.sampling import Sampling
from tests.judging.graders import material
from tests.toolbox.scripted_server import as_json, completion, reply_with, status

QUESTIONS = ("Q1", "Q2", "Q3")
ALL_QUESTIONS = material.spec(
    prompt="{questions}\nText: {text}",
    parser="numbered-1",
    sampling=Sampling(max_tokens=100, logprobs=False),
)


def pairs_of(text=1, numbers=(1, 2, 3)):
    return [
        Pair(text, number, "Some words.", QUESTIONS[number - 1], "", "", QUESTIONS, number)
        for number in numbers
    ]


def usage(answer, read, written):
    return answer | {"usage": {"prompt_tokens": read, "completion_tokens": written}}


@pytest.fixture
def ask_together(server):
    def ask(pairs, spec=ALL_QUESTIONS):
        grader = OpenAIGrader(spec, server.url, key=None, concurrency=4)
        replies = [reply for reply in grader.replies(iter(pairs)) if reply]
        by_pair = {(reply.pair.text_id, reply.pair.question_id): reply for reply in replies}
        assert len(by_pair) == len(replies) == len(pairs)
        return by_pair

    return ask


def test_message_brings_a_reply_to_each_question(server, ask_together):
    server.script("1. Q1", as_json(usage(completion("1: 4\n2: 0\n3: 5"), 100, 11)))
    replies = ask_together(pairs_of())
    assert [replies[1, number].grade for number in (1, 2, 3)] == [4, 0, 5]
    assert server.asked == {"1. Q1": 1}
    [body] = server.bodies["1. Q1"]
    assert body["messages"][0]["content"] == "1. Q1\n2. Q2\n3. Q3\nText: Some words."
    assert {reply.raw for reply in replies.values()} == {"1: 4\n2: 0\n3: 5"}
    assert {reply.prompt_hash for reply in replies.values()} == {
        hashes(ALL_QUESTIONS, pairs_of()[0])[0]
    }
    assert [replies[1, number].prompt_tokens for number in (1, 2, 3)] == [34, 33, 33]
    assert sum(reply.completion_tokens for reply in replies.values()) == 11


def test_missing_grade_is_asked_alone(server, ask_together):
    server.script("1. Q1", as_json(usage(completion("1: 4\n3: 5"), 90, 9)))
    server.script("1. Q2", as_json(usage(completion("2"), 20, 1)))
    replies = ask_together(pairs_of())
    assert [replies[1, number].grade for number in (1, 2, 3)] == [4, 2, 5]
    assert server.asked == {"1. Q1": 1, "1. Q2": 1}
    assert server.bodies["1. Q2"][0]["messages"][0]["content"] == "1. Q2\nText: Some words."
    repeated = replies[1, 2]
    assert (repeated.raw, repeated.prompt_tokens, repeated.completion_tokens) == (
        "2",
        30 + 20,
        3 + 1,
    )
    assert (
        repeated.prompt_hash == hashes(ALL_QUESTIONS, pairs_of()[1])[1] != replies[1, 1].prompt_hash
    )


def test_grade_missing_twice_is_a_failure(server, ask_together):
    server.script("1. Q1", reply_with("1: 4\n2: 1 or 2\n3: 5"))
    server.script("1. Q2", reply_with("1: 1 or 2"))
    replies = ask_together(pairs_of())
    assert [replies[1, number].grade for number in (1, 2, 3)] == [4, None, 5]
    assert (replies[1, 2].failure, replies[1, 2].raw) == ("several", "1: 1 or 2")
    assert server.asked["1. Q2"] == 1


def test_grades_of_a_message_are_kept_where_the_rest_cannot_be_asked_any_more(server):
    server.script("1. Q1", reply_with("1: 4\n3: 5"))
    server.script("1. Q2", status(401, "no such key"))
    replies = []
    grader = OpenAIGrader(ALL_QUESTIONS, server.url, key=None)
    with pytest.raises(BackendUnavailableError):
        replies.extend(grader.replies(iter(pairs_of())))
    assert [reply.grade for reply in replies if reply] == [4, 5]


def test_missing_grades_are_asked_concurrently(server, ask_together):
    async def answer_with_others(request, body):
        while server.most_at_once < 3:
            await asyncio.sleep(0.01)
        return await reply_with("4")(request, body)

    before = {"Q1": [reply_with("no grades")], "Q2": [], "Q3": []}
    for question in QUESTIONS:
        server.script(f"1. {question}", *before[question], answer_with_others)
    ask_together(pairs_of())
    assert server.most_at_once == 3


def test_of_a_reply_that_is_cut_the_whole_lines_count(server, ask_together):
    server.script("1. Q1", reply_with("1: 4\n2: 0\n3: 5", finish_reason="length"))
    server.script("1. Q3", reply_with("1: 5"))
    replies = ask_together(pairs_of())
    assert [replies[1, number].grade for number in (1, 2, 3)] == [4, 0, 5]
    assert server.asked == {"1. Q1": 1, "1. Q3": 1}


def test_message_that_is_too_long_is_asked_question_by_question(server, ask_together):
    too_long = status(400, "This model's maximum context length is 2048 tokens.")
    server.script("1. Q1", too_long, reply_with("1: 4"))
    server.script("1. Q2", reply_with("1: 1"))
    server.script("1. Q3", too_long)
    replies = ask_together(pairs_of())
    assert [replies[1, number].grade for number in (1, 2, 3)] == [4, 1, None]
    assert replies[1, 3].failure == "too_long"


def test_only_the_pairs_that_are_lacking_get_a_reply_and_each_text_has_a_message(
    server, ask_together
):
    server.script("1. Q1", reply_with("1: 4\n2: 0\n3: 5"))
    replies = ask_together([*pairs_of(1, (2, 3)), *pairs_of(2)])
    assert {key: reply.grade for key, reply in replies.items()} == {
        (1, 2): 0,
        (1, 3): 5,
        (2, 1): 4,
        (2, 2): 0,
        (2, 3): 5,
    }
    assert server.asked == {"1. Q1": 2}


def test_topics_with_the_same_questions_have_a_message_each(server, ask_together):
    spec = replace(ALL_QUESTIONS, prompt="{request}: {questions}")
    server.script("First: 1. Q1", reply_with("1: 4\n2: 0\n3: 5"))
    server.script("Second: 1. Q1", reply_with("1: 1\n2: 1\n3: 1"))
    of_first = [replace(pair, request="First") for pair in pairs_of()]
    of_second = [
        replace(pair, request="Second", question_id=pair.question_id + 3) for pair in pairs_of()
    ]
    replies = ask_together([*of_first, *of_second], spec)
    assert [replies[1, question].grade for question in range(1, 7)] == [4, 0, 5, 1, 1, 1]


SAMPLED = material.spec(
    sampling=Sampling(temperature=0.7, max_tokens=5, logprobs=False, extra={"n": 3})
)


def sampled(*samples):
    choices = [completion(sample)["choices"][0] | {"index": n} for n, sample in enumerate(samples)]
    return as_json(completion("") | {"choices": choices})


def test_shares_of_several_samples_are_the_probabilities(server, ask):
    server.script("Q", sampled("4", "2", "4"))
    reply = ask("Q", spec=SAMPLED)["Q"]
    assert (reply.grade, reply.expected_grade, reply.label_mass) == (4, pytest.approx(10 / 3), 1.0)
    assert reply.probabilities == pytest.approx((0, 0, 1 / 3, 0, 2 / 3, 0))
    assert reply.raw == "[1 of 3]\n4\n\n[2 of 3]\n2\n\n[3 of 3]\n4"
    assert server.bodies["Q"][0]["n"] == 3
    assert server.asked["Q"] == 1


def test_server_that_ignores_n_is_asked_for_each_sample_with_a_seed_of_its_own(server, ask):
    server.script("Q", reply_with("4"), reply_with("2"), reply_with("4"))
    server.script("R", reply_with("5"))
    replies = ask("Q", "R", spec=SAMPLED, concurrency=1)
    assert replies["Q"].probabilities == pytest.approx((0, 0, 1 / 3, 0, 2 / 3, 0))
    assert replies["Q"].raw == "[1 of 3]\n4\n\n[2 of 3]\n2\n\n[3 of 3]\n4"
    assert (replies["Q"].prompt_tokens, replies["Q"].completion_tokens) == (120, 3)
    # The first reply is a sample, too, and from then on it is known that `n` says nothing.
    assert [body.get("n") for body in server.bodies["Q"]] == [3, None, None]
    assert [body["seed"] for body in server.bodies["Q"]] == [0, 1, 2]
    assert [(body.get("n"), body["seed"]) for body in server.bodies["R"]] == [
        (None, 0),
        (None, 1),
        (None, 2),
    ]
    assert replies["R"].grade == 5


@pytest.mark.parametrize(
    "refusal",
    [
        status(400, "'n' : number must be at most 1"),
        status(400, "Only one completion choice is allowed"),
        status(422, "`n` is not supported by this model."),
    ],
)
def test_server_that_refuses_n_is_asked_for_each_sample(server, ask, refusal):
    async def answer(request, body):
        return await (refusal if "n" in body else reply_with("4"))(request, body)

    server.script("Q", answer)
    sampling = replace(SAMPLED.sampling, seed=None)
    reply = ask("Q", spec=replace(SAMPLED, sampling=sampling))["Q"]
    assert (reply.grade, server.asked["Q"]) == (4, 4)
    assert not any("seed" in body for body in server.bodies["Q"])


def test_sample_of_another_model_among_single_ones_is_seen(server, ask):
    of = {name: as_json(completion("4") | {"model": name}) for name in ("tiny", "large")}
    server.script("Q", of["tiny"], of["large"], of["tiny"])
    with pytest.raises(ModelMismatchError, match="answers as large"):
        ask("Q", spec=SAMPLED)


def test_sample_that_fails_is_the_failure_of_its_message(server, ask):
    server.script("Q", reply_with("4"), status(400, "Bad roles."))
    reply = ask("Q", spec=SAMPLED)["Q"]
    assert (reply.state, reply.failure) == ("error", "request")


def test_sample_without_a_message_is_no_reply(server, ask):
    server.script("Q", as_json({"choices": [completion("4")["choices"][0], {}, {}]}))
    assert ask("Q", spec=SAMPLED)["Q"].failure == "malformed"


def test_judge_that_wants_one_reply_takes_the_first(server, ask):
    server.script("Q", sampled("4", "2"))
    assert (ask("Q")["Q"].grade, ask("Q")["Q"].raw) == (4, "4")


def test_samples_of_a_message_about_all_questions_count_for_each(server, ask_together):
    spec = replace(ALL_QUESTIONS, sampling=SAMPLED.sampling)
    server.script("1. Q1", sampled("1: 4\n2: 0", "1: 3\n2: 0\n3: 5", "1: 4\n2: 1\n3: 5"))
    replies = ask_together(pairs_of(), spec)
    assert [replies[1, number].grade for number in (1, 2, 3)] == [4, 0, 5]
    assert replies[1, 3].label_mass == pytest.approx(2 / 3)
    assert server.asked == {"1. Q1": 1}

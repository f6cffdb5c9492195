"""Several samples of one reply: the grade that they come to, and their shares."""

from dataclasses import replace

import pytest

from judging.grading.completion import aggregate_samples, reply_of
from judging.grading.pairs import Pair, State, group_by_message, shares
from judging.grading.probabilities import Labels
from judging.grading.readers import Parsed
from judging.grading.spec import Spec
from judging.llm.completion import Completion
from judging.llm.errors import Failure
from judging.llm.sampling import Sampling
from tests.judging.grading.generated import Generated

SPEC = Spec(
    rubric="graded",
    levels=tuple((grade, f"level {grade}") for grade in range(6)),
    backend="openai",
    model="tiny",
    prompt="{question} {text}",
    parser="integer-1",
    sampling=Sampling(temperature=1, max_tokens=5, logprobs=False, extra={"n": 5}),
)
PAIR = Pair(1, 2, "The ferry sank.", "What sank?")
NONE = Parsed(State.UNPARSEABLE, failure=Failure.NO_GRADE)


def sampled(*grades: int | None) -> tuple[Parsed, Labels]:
    parsed = [NONE if grade is None else Parsed(State.GRADED, grade) for grade in grades]
    return aggregate_samples(parsed, range(6))


def test_most_frequent_grade_counts_and_the_shares_are_its_probabilities() -> None:
    parsed, labels = sampled(4, 4, 3, 4, 0)
    assert parsed.grade == 4
    assert labels.probabilities == (0.2, 0.0, 0.0, 0.2, 0.6, 0.0)
    assert (labels.expected_grade, labels.label_mass) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ((5, 5, 0, 0, 4), 5),  # of 0 and 5 the mean, 2.8, is nearer to 5
        ((5, 5, 0, 0, 1), 0),  # here it is 2.2
        ((0, 5), 0),  # as near to the one as to the other: the lower
        ((1, None, None), 1),
        ((2,), 2),
    ],
)
def test_of_equals_the_nearest_to_the_mean_counts_then_the_lowest(
    grades: tuple[int | None, ...], expected: int
) -> None:
    assert sampled(*grades)[0].grade == expected


def test_samples_without_a_grade_have_a_share_in_none() -> None:
    parsed, labels = sampled(3, None, 3, None)
    assert (parsed.grade, labels.expected_grade, labels.label_mass) == (3, 3.0, 0.5)
    assert labels.probabilities == (0.0, 0.0, 0.0, 0.5, 0.0, 0.0)
    parsed, labels = sampled(None, None)
    assert (parsed, labels.expected_grade, labels.label_mass) == (NONE, None, 0.0)


def test_all_samples_are_kept_in_one_reply() -> None:
    completions = [Completion("4", "so"), Completion("no idea"), Completion("4")]
    reply = reply_of(SPEC, PAIR, "hash", completions, None, (30, 6))
    assert (reply.grade, reply.state) == (4, "graded")
    assert reply.raw == "[1 of 3]\n4\n\n[2 of 3]\nno idea\n\n[3 of 3]\n4"
    assert reply.reasoning == "[1 of 3]\nso\n\n[2 of 3]\n\n\n[3 of 3]\n"
    assert (reply.prompt_tokens, reply.completion_tokens) == (30, 6)
    assert reply.label_mass == pytest.approx(2 / 3)


def test_single_reply_is_kept_with_the_probabilities_of_its_token() -> None:
    logprobs = Generated(("5", {"5": 0.9}))
    reply = reply_of(SPEC, PAIR, "hash", [Completion("5")], logprobs, (1, 1))
    assert (reply.raw, reply.reasoning, reply.expected_grade) == ("5", "", 5.0)
    joint_spec = replace(SPEC, parser="numbered-1")
    assert (
        reply_of(joint_spec, PAIR, "hash", [Completion("1: 5")], logprobs, (1, 1)).probabilities
        is None
    )


@pytest.mark.parametrize(
    ("texts", "shares", "because"),
    [
        ("5 or so", {"5": 0.9}, "there is no grade"),
        ("5", {"5": 0.45}, "the grades have less than a half"),
        ("5", {"5": 0.3, "4": 0.6}, "another grade is more probable"),
    ],
)
def test_probabilities_are_not_stored_without_a_grade_of_their_own(texts, shares, because) -> None:
    reply = reply_of(SPEC, PAIR, "hash", [Completion(texts)], Generated((texts, shares)), (1, 1))
    assert (reply.probabilities, reply.expected_grade, reply.label_mass) == (None, None, None), (
        because
    )


def test_shares_of_samples_under_a_half_are_no_probabilities() -> None:
    completions = [Completion("4"), Completion("no"), Completion("no")]
    reply = reply_of(SPEC, PAIR, "hash", completions, None, (1, 1))
    assert (reply.grade, reply.expected_grade) == (4, None)


def test_number_of_samples_is_that_of_the_request() -> None:
    assert SPEC.sampling.samples == 5
    assert SPEC.sampling.sent["n"] == 5
    for extra in ({}, {"n": 1}, {"n": None}, {"n": "5"}, {"n": 0}):
        assert Sampling(extra=extra).samples == 1


def test_pairs_of_one_text_that_follow_each_other_are_asked_together() -> None:
    def pair(text: int, number: int, questions: tuple[str, ...] = ("a", "b", "c")) -> Pair:
        return Pair(text, number, "", "", questions=questions, number=number)

    pairs = [pair(1, 1), pair(1, 2), pair(2, 1), pair(2, 3), pair(2, 2, ("a", "b"))]
    assert list(group_by_message(iter(pairs))) == [
        (pairs[0], pairs[1]),
        (pairs[2], pairs[3]),
        (pairs[4],),
    ]
    singles = [item.alone() for item in pairs]
    assert list(group_by_message(iter(singles))) == [(item,) for item in singles]


def test_pair_that_is_asked_by_itself_is_given_before_the_next_is_taken() -> None:
    n_taken = []

    def pairs():
        for number in range(3):
            n_taken.append(number)
            yield Pair(number, 1, "", "")

    messages = group_by_message(pairs())
    next(messages)
    assert n_taken == [0]


def test_tokens_are_shared_out_to_the_last() -> None:
    assert shares(10, 3) == [4, 3, 3]
    assert shares(0, 2) == [0, 0]
    assert sum(shares(101, 15)) == 101

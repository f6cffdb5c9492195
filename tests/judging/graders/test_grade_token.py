"""Replies of a server whose first token is not the grade: reasoning, a label, a reason."""

import json
import math

import pytest

from judging.llm.sampling import Sampling
from tests.judging.graders.material import spec
from tests.toolbox.regression_cases import case
from tests.toolbox.scripted_server import LABEL_IDS, as_json, completion, reply_with


def tokens(*generated):
    """Return log-probabilities as a server writes them.

    The tokens are (text, {alternative: probability}).
    """
    return {
        "content": [
            {
                "token": text,
                "logprob": math.log(shares.get(text, 1.0)),
                "top_logprobs": [
                    {"token": alternative, "logprob": math.log(share)}
                    for alternative, share in shares.items()
                ],
            }
            for text, shares in generated
        ]
    }


def judge(parser="integer-1", **more):
    return spec(parser=parser, sampling=Sampling(max_tokens=200), **more)


OF_5 = {"5": 0.9, "4": 0.1}


@pytest.mark.parametrize("name", ["reply.json", "reply_two.json"])
@pytest.mark.parametrize("parser", ["integer-1", "after-think-1", "reason-2"])
def test_case_of_a_server_that_gives_the_probabilities_of_the_reasoning(server, ask, name, parser):
    reply = json.loads((case("expected-grade-of-thoughts") / name).read_text(encoding="utf-8"))
    reply["model"] = spec().model
    server.script("Q", as_json(reply))
    graded = ask("Q", spec=judge(parser))["Q"]
    assert (graded.grade, round(graded.expected_grade, 2)) == (4, 3.95)
    assert graded.label_mass == pytest.approx(1.0, abs=0.005)


def test_label_before_the_grade_has_no_probability(server, ask):
    logprobs = tokens(
        ("Rating", {"Rating": 0.75, "2": 0.2}), (":", {}), (" 5", {" 5": 0.9, " 4": 0.1})
    )
    server.script("Q", reply_with("Rating: 5", logprobs=logprobs))
    assert ask("Q", spec=judge())["Q"].expected_grade == pytest.approx(4.9)


def test_ten_is_read_over_both_of_its_tokens(server, ask):
    levels = tuple((grade, f"level {grade}") for grade in range(11))
    logprobs = tokens(("1", {"1": 0.9, "9": 0.1}), ("0", {"0": 0.8, "<|end|>": 0.2}))
    server.script("Q", reply_with("10", logprobs=logprobs))
    graded = ask("Q", spec=judge(levels=levels))["Q"]
    assert graded.expected_grade == pytest.approx((10 * 0.72 + 9 * 0.1) / 0.82)


def test_reasoning_under_token_ids_is_certified_over(server, ask):
    grade = str(LABEL_IDS[4])
    shares = {grade: 0.8, str(LABEL_IDS[3]): 0.2}
    as_ids = [
        (
            f"token_id:{token}",
            {f"token_id:{alternative}": share for alternative, share in of.items()},
        )
        for token, of in [(grade, {grade: 0.01}), ("99", {}), (grade, shares), ("2", {})]
    ]
    reply = completion("4", logprobs=tokens(*as_ids))
    reply["choices"][0]["message"]["reasoning"] = "4 ships"
    server.script("Q", as_json(reply))
    graded = ask("Q", spec=judge(label_ids=LABEL_IDS))["Q"]
    assert graded.expected_grade == pytest.approx(3.8)


@pytest.mark.parametrize(
    ("content", "generated"),
    [
        ("5", [("5", {"5": 0.4, "Sure": 0.6})]),
        ("5", [("5", {"5": 0.3, "4": 0.7})]),
        ("5 or 4", [("5", OF_5), (" or", {}), (" 4", {})]),
        ("5", [("The", {"5": 0.9}), (" text", {"5": 0.9})]),
        ("5", []),
    ],
    ids=["mass under a half", "another is likelier", "no grade", "reasoning alone", "nothing"],
)
def test_probabilities_that_are_not_of_the_grade_are_not_kept(server, ask, content, generated):
    server.script("Q", reply_with(content, logprobs=tokens(*generated)))
    graded = ask("Q", spec=judge())["Q"]
    assert (graded.probabilities, graded.expected_grade, graded.label_mass) == (None, None, None)


@pytest.mark.parametrize(
    "content",
    [
        None,
        5,
        [],
        [None],
        [5],
        [{}],
        [{"token": 5}],
        [{"token": "5", "logprob": None, "top_logprobs": 5}],
    ],
)
def test_whatever_stands_there_the_grade_is_read(server, ask, content):
    server.script("Q", reply_with("5", logprobs={"content": content}))
    graded = ask("Q", spec=judge())["Q"]
    assert (graded.grade, graded.expected_grade) == (5, None)

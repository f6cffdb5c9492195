"""From a judge and a pair to messages: what is put in, what stays, and what a hash sees."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.grading.pairs import Pair
from judging.grading.prompt import (
    PLACEHOLDERS,
    check_template,
    hashes,
    placeholders_of,
    render,
    rubric_wording,
    unknown_placeholders,
)
from judging.grading.spec import Spec
from judging.llm.messages import prompt_hash
from tests.toolbox.text_strategies import any_text

LEVELS = ((0, "no"), (1, "partly"), (2, "yes"))
SPEC = Spec(
    rubric="graded",
    levels=LEVELS,
    backend="openai",
    model="tiny",
    prompt="Q: {question}\nT: {text}",
    wording=rubric_wording(LEVELS),
)
PAIR = Pair(1, 2, text="The ferry sank.", question="What sank?", request="All about ferries.")


def rendered(prompt: str, pair: Pair = PAIR, system: str = "") -> list[dict[str, str]]:
    return render(replace(SPEC, prompt=prompt, system=system), pair)


def test_prompt_without_a_system_part_is_one_message() -> None:
    assert render(SPEC, PAIR) == [{"role": "user", "content": "Q: What sank?\nT: The ferry sank."}]


def test_system_part_comes_first_and_may_hold_placeholders_too() -> None:
    assert rendered("{question}{text}", system="Grades:\n{rubric}") == [
        {"role": "system", "content": "Grades:\n2: yes\n1: partly\n0: no"},
        {"role": "user", "content": "What sank?The ferry sank."},
    ]


def test_placeholders_are_replaced_at_all_places() -> None:
    prompt = "{request}|{rubric}|{grades}|{question}|{text}|{question}"
    assert rendered(prompt)[0]["content"] == (
        "All about ferries.|2: yes\n1: partly\n0: no|0, 1 or 2|What sank?|The ferry sank.|What sank?"
    )


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (((0, "no"), (1, "yes")), "0 or 1"),
        (((3, "only"),), "3"),
        (tuple((grade, "") for grade in range(6)), "0, 1, 2, 3, 4 or 5"),
    ],
)
def test_grades_are_listed_in_words(levels: tuple[tuple[int, str], ...], expected: str) -> None:
    assert render(replace(SPEC, levels=levels, prompt="{grades}"), PAIR)[0]["content"] == expected


def test_placeholders_in_texts_are_not_replaced() -> None:
    pair = Pair(1, 2, text="{question} {rubric} {{text}}", question="{text}? {request}")
    assert rendered("{question} - {text}", pair)[0]["content"] == (
        "{text}? {request} - {question} {rubric} {{text}}"
    )


def test_other_braces_stay_as_they_are() -> None:
    prompt = '{question} {text} {"grade": 4} {} { } {1} {{ }} }{ {a b} \\1 \\g<0> %s'
    assert rendered(prompt)[0]["content"] == (
        'What sank? The ferry sank. {"grade": 4} {} { } {1} {{ }} }{ {a b} \\1 \\g<0> %s'
    )
    assert check_template("", prompt) == []


@given(text=any_text, question=any_text)
def test_any_words_come_through_whole(text: str, question: str) -> None:
    content = rendered("a{question}b{text}c", Pair(1, 2, text=text, question=question))[0][
        "content"
    ]
    assert content == f"a{question}b{text}c"


@given(st.text(alphabet="{}qtext question grades rubric", max_size=60), any_text)
def test_any_template_renders(template: str, text: str) -> None:
    rendered(template, replace(PAIR, text=text), system=template)


@pytest.mark.parametrize(
    ("system", "prompt", "problems"),
    [
        ("", "{question} {text}", []),
        ("{text}", "{question}", []),
        ("", "", ["The prompt is empty."]),
        ("{question} {text}", " \n", ["The prompt is empty."]),
        ("", "{text}", ["The prompt does not show the question: it needs {question}."]),
        (
            "",
            "Grade it.",
            [
                "The prompt does not show the question: it needs {question}.",
                "The prompt does not show the text: it needs {text}.",
            ],
        ),
    ],
)
def test_missing_placeholders_are_reported(system: str, prompt: str, problems: list[str]) -> None:
    assert check_template(system, prompt) == problems


def test_unknown_placeholders_are_named_once() -> None:
    problems = check_template("{context}", "{question} {text} {Text} { text } {context}")
    valid = "{question}, {questions}, {text}, {request}, {answer}, {rubric}, {grades}"
    assert problems == [
        f"{{context}} is not a placeholder. There are {valid}.",
        f"{{Text}} is not a placeholder. There are {valid}.",
        f"{{ text }} is not a placeholder. There are {valid}.",
    ]


def test_questions_are_numbered_and_each_stands_on_its_line() -> None:
    pair = replace(PAIR, questions=("What sank?", "Who\nsaw  it?"), number=2)
    assert rendered("{questions}", pair)[0]["content"] == "1. What sank?\n2. Who saw it?"
    assert rendered("{questions}", pair.alone())[0]["content"] == "1. What sank?"
    assert rendered("{questions}")[0]["content"] == "1. What sank?"


def test_answer_is_shown_beside_its_question() -> None:
    pair = replace(PAIR, answer="the ferry [...] in March")
    assert rendered("{question} {answer}", pair)[0]["content"] == (
        "What sank? the ferry [...] in March"
    )


def test_all_questions_stand_for_the_question_and_not_beside_it() -> None:
    assert check_template("", "{questions} {text}") == []
    assert check_template("", "{questions} {question} {text}") == [
        "{question} is one of {questions}: a prompt shows the one or the others."
    ]
    [problem] = check_template("", "{questions} {answer}", ("question", "answer"))
    assert "an answer of its own" in problem


def test_message_has_two_hashes_where_it_may_be_asked_alone() -> None:
    spec = replace(SPEC, prompt="{questions}\n{text}")
    joint_pair = replace(PAIR, questions=("Where?", "What sank?"), number=2)
    joint_hash, single_hash = hashes(spec, joint_pair)
    assert joint_hash == prompt_hash(render(spec, joint_pair))
    assert single_hash == prompt_hash(render(spec, joint_pair.alone())) != joint_hash
    assert hashes(SPEC, PAIR) == (prompt_hash(render(SPEC, PAIR)),)


def test_placeholders_of_a_judge_are_those_of_its_prompt() -> None:
    assert placeholders_of(replace(SPEC, system="{rubric}", prompt="{text:20} {x} {answer}")) == {
        *("rubric", "text", "answer")
    }


def test_known_placeholders_are_not_unknown() -> None:
    assert unknown_placeholders(" ".join(f"{{{name}}}" for name in PLACEHOLDERS)) == []


def test_hash_is_of_the_canonical_json() -> None:
    # Keys sorted, no spaces, all but ASCII escaped, written out by hand; the first 16 of 64 signs.
    canonical = '[{"content":"caf\\u00e9","role":"user"}]'
    expected = hashlib.sha256(canonical.encode()).hexdigest()[:16]
    assert prompt_hash([{"role": "user", "content": "café"}]) == expected
    assert prompt_hash([{"content": "café", "role": "user"}]) == expected


def test_hash_sees_roles_order_and_every_sign() -> None:
    system, user = {"role": "system", "content": "a"}, {"role": "user", "content": "b"}
    variants = [
        [system, user],
        [user, system],
        [system],
        [{**system, "role": "user"}, user],
        [system, {**user, "content": "b "}],
    ]
    assert len({prompt_hash(messages) for messages in variants}) == len(variants)


def test_half_a_surrogate_pair_has_a_hash() -> None:
    assert len(prompt_hash([{"role": "user", "content": "\ud800"}])) == 16


def test_rubric_is_shown_from_the_highest_grade_down() -> None:
    assert rubric_wording([(0, "no"), (2, "yes"), (1, "partly")]) == "2: yes\n1: partly\n0: no"
    assert rubric_wording([(2, "c"), (10, "d")]) == "10: d\n2: c"
    assert rubric_wording([]) == ""


def test_first_words_of_a_text_with_one_space_between_them() -> None:
    for text, expected in [
        (" one  two\n\nthree four {question}", "Q one two three"),
        ("one\ntwo", "Q one two"),
        ("", "Q "),
    ]:
        pair = replace(PAIR, question="Q", text=text)
        assert rendered("{question} {text:3}", pair)[0]["content"] == expected
    assert check_template("", "{question} {text:3}") == []
    assert check_template("", "{question} {text:0}") != []

"""The tasks: their prompts, what is put into them, and that any reply at all is read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from building.writing import prompt_files
from building.writing.outputs import FAILURES, Failure, Source
from building.writing.tasks import TASKS, check_prompt, render
from tests.toolbox.document_texts import DOCUMENT
from tests.toolbox.text_strategies import any_text

SOURCE = Source(
    request="Report on {document} and {n}.",
    document="A document with {request}, {have} and {{ n }}.",
    passages=(("a", "First\r\n  passage {n}."), ("b", "Second.")),
    existing=("What is {n}?", "Why?"),
    n=7,
    words=120,
)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_our_prompts_can_be_used_and_show_all_that_their_task_may(task):
    assert check_prompt(task, task.prompt, task.system) == []
    assert task.sampling.temperature == 0.7
    assert task.sampling.top_p == 0.95
    assert task.sampling.max_tokens >= task.n * task.words * 1.3
    system, user = render(task, task.system, task.prompt, SOURCE)
    assert (system["role"], user["role"]) == ("system", "user")


def test_placeholders_are_put_in_once_and_texts_stay_as_they_are():
    messages = render(TASKS["questions"], "", "{n}: {document} / {have}", SOURCE)
    assert messages == [
        {
            "role": "user",
            "content": "7: A document with {request}, {have} and {{ n }}. / 1. What is {n}?\n2. Why?",
        }
    ]
    (report,) = render(TASKS["report"], "", "{context}|{request}|{words}|{max_words}", SOURCE)
    assert report["content"] == (
        "[1] First passage {n}.\n\n[2] Second.|Report on {document} and {n}.|120|120"
    )


def test_source_gets_the_task_defaults():
    (message,) = render(TASKS["passages"], "", "{n} {words} {document}", Source(document="x"))
    assert message["content"] == "3 200 x"
    (message,) = render(TASKS["questions"], "", "{have} {document}", Source(document="x"))
    assert message["content"] == "(none so far) x"


def test_placeholder_of_another_task_is_words():
    (message,) = render(TASKS["direct"], "", "{context} {request}", Source(request="x"))
    assert message["content"] == "{context} x"


@pytest.mark.parametrize(
    ("name", "prompt", "problems"),
    [
        ("questions", " \n", ["The prompt is empty."]),
        (
            "questions",
            "Write {n}.",
            ["The prompt does not show the document: it needs {document}."],
        ),
        (
            "questions",
            "{document} {number} {context} {number}",
            [
                "{number} is not a placeholder of this task. There are {document}, {request}, {have}, {n}.",
                "{context} is not a placeholder of this task. There are {document}, {request}, {have}, {n}.",
            ],
        ),
        (
            "report",
            "{words}",
            [
                "The prompt does not show the request: it needs {request}.",
                "The prompt does not show the passages of the context: it needs {context}.",
            ],
        ),
        (
            "direct",
            "{ request }",
            [
                "{ request } is not a placeholder of this task. There are {request}, {words}, {max_words}.",
                "The prompt does not show the request: it needs {request}.",
            ],
        ),
        ("direct", 'As JSON, {"report": "..."}, {3}, {}: {request}', []),
    ],
)
def test_invalid_prompt_has_its_problems(name, prompt, problems):
    assert check_prompt(TASKS[name], prompt) == problems


def test_system_part_may_show_it():
    assert check_prompt(TASKS["direct"], "Write.", "You report on {request}.") == []


@pytest.mark.parametrize(
    ("text", "system", "prompt"),
    [
        (
            "--- system ---\nYou.\n--- user ---\n\nWrite {n}.\n\nNow.\n",
            "You.",
            "Write {n}.\n\nNow.",
        ),
        ("\ufeff\r\n--- user ---\r\nWrite.\r\nNow.\r\n", "", "Write.\nNow."),
        ("\nWrite.\n--- this is no heading\n", "", "Write.\n--- this is no heading"),
    ],
)
def test_files_of_prompts(text, system, prompt):
    assert prompt_files.read(text) == prompt_files.PromptText(system, prompt)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "There is nothing for the user to say"),
        ("--- system ---\nYou.", "There is nothing for the user to say"),
        ("--- user ---\nA\n--- user ---\nB", 'Line 3: the part "user" is there twice.'),
        ("Write.\n--- user ---\nB", 'Line 2: the part "user" is there twice.'),
        ("--- model ---\nA", 'Line 1: there is no part "model". There are system and user.'),
    ],
)
def test_broken_files_of_prompts(text, problem):
    with pytest.raises(prompt_files.PromptError, match=problem):
        prompt_files.read(text)


def test_failures_have_a_sentence_also_in_the_docs():
    docs = (Path(__file__).parents[3] / "docs" / "building.md").read_text()
    assert set(FAILURES) == set(Failure)
    for sentence in FAILURES.values():
        assert f"| {sentence} |" in docs
    for task in TASKS.values():
        assert f"| `{task.name}` |" in docs


tags = st.sampled_from(
    [
        "<q>",
        "</q>",
        "<p>",
        "</p>",
        "<r>",
        "</r>",
        "<think>",
        "</think>",
        "1. ",
        "\n2. ",
        "[1]",
        "?",
        "I cannot",
    ]
)
replies = st.lists(any_text | tags | tags, max_size=20).map("".join)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@given(
    reply=replies,
    finish_reason=st.sampled_from(["stop", "length", "content_filter", "", None]),
    n=st.integers(-1, 4),
    have=st.lists(any_text, max_size=3).map(tuple),
    passages=st.lists(st.tuples(any_text, any_text), max_size=3).map(tuple),
)
def test_any_reply_is_read(task, reply, finish_reason, n, have, passages):
    source = Source("r", DOCUMENT, passages, have, n)
    written = task.read(reply, finish_reason, source)
    assert written.failure is None or written.detail
    assert written.failure is not None or (written.products and written.missing == 0)
    assert (written.failure is None) == (written.missing == 0)
    for product in written.products:
        assert product.body == product.body.strip() != ""
        assert len(written.products) <= max(n, 1) if n else True
        assert all(
            0 <= statement.start < statement.end <= len(product.body)
            for statement in product.citations
        )
    assert task.read(reply, finish_reason, source) == written

"""Prompts that ship with the workbench, and messages about unreadable files."""

from pathlib import Path

import pytest

from annotation.models.standard import GRADED
from judging.grading.pairs import Pair
from judging.grading.parse import PARSERS
from judging.grading.prompt import check_template, render, rubric_wording
from judging.grading.prompts import PromptFileError, load, names, read
from judging.grading.spec import Spec
from tests.toolbox.factories import labels_of

STRUCTURES = ["crux-structure", "umbrela-structure"]
AS_JSON = ["label-json", "rating-json"]
OURS = [
    "all-questions",
    "evidence-question-first",
    "evidence-text-first",
    "question-first",
    "text-first",
]
GOOD = """title: A title: with a colon
parser: integer-1
max_tokens: 1

--- system ---
You grade.
--- user ---

{question}

--- a line of dashes stays
{text}

"""


def file_of(folder: Path, content: str) -> Path:
    path = folder / "mine.txt"
    path.write_text(content, encoding="utf-8")
    return path


def messages_of(name: str) -> list[dict[str, str]]:
    file = load(name)
    spec = Spec(
        rubric="graded",
        levels=tuple(sorted(labels_of(GRADED))),
        backend="openai",
        model="tiny",
        system=file.system,
        prompt=file.prompt,
        wording=rubric_wording(labels_of(GRADED)),
    )
    return render(spec, Pair(1, 2, text="THE TEXT", question="THE QUESTION", request="THE REQUEST"))


def test_there_are_nine() -> None:
    assert names() == sorted([*OURS, *STRUCTURES, *AS_JSON])


@pytest.mark.parametrize("name", AS_JSON)
def test_those_of_json_show_what_they_need_and_ask_for_what_is_read(name: str) -> None:
    [system, user] = messages_of(name)
    assert all(part in user["content"] for part in ("THE TEXT", "THE QUESTION", "5: "))
    assert "instructions" in system["content"]
    key = {"label-json": '"label_name"', "rating-json": '"rating"'}[name]
    assert key in user["content"]
    assert load(name).parser == f"{name}-2"


@pytest.mark.parametrize("name", STRUCTURES)
def test_structure_of_others_can_be_used_and_says_what_it_is(name: str) -> None:
    file = load(name)
    assert check_template(file.system, file.prompt) == []
    assert "in our words" in file.title
    assert "The words are ours." in file.note
    [user] = messages_of(name)
    for fragment in ("THE QUESTION", "THE TEXT", rubric_wording(labels_of(GRADED))):
        assert user["content"].count(fragment) == 1
    assert user["content"].index("THE QUESTION") < user["content"].index("THE TEXT")


def test_structure_of_the_paper() -> None:
    file = load("crux-structure")
    assert (file.parser, file.max_tokens, file.failures) == ("first-digit-1", 5, "zero")
    assert "{text:2048}" in file.prompt


@pytest.mark.parametrize("name", OURS)
def test_prompts_can_be_used(name: str) -> None:
    file = load(name)
    assert check_template(file.system, file.prompt) == []
    assert file.name == name
    assert file.title
    assert file.parser in PARSERS


@pytest.mark.parametrize("name", OURS)
def test_prompts_show_rubric_question_and_text_once(name: str) -> None:
    system, user = messages_of(name)
    assert (system["role"], user["role"]) == ("system", "user")
    everything = system["content"] + user["content"]
    assert "{" not in everything
    for fragment in (
        "THE QUESTION",
        "THE TEXT",
        rubric_wording(labels_of(GRADED)),
        "0, 1, 2, 3, 4 or 5",
    ):
        assert everything.count(fragment) == 1, fragment


@pytest.mark.parametrize("name", OURS)
def test_name_says_what_comes_first(name: str) -> None:
    content = messages_of(name)[-1]["content"]
    question_first = content.index("THE QUESTION") < content.index("THE TEXT")
    assert question_first == ("question-first" in name)


@pytest.mark.parametrize("name", ["text-first", "evidence-text-first"])
def test_questions_of_a_text_share_all_that_stands_before_them(name: str) -> None:
    # What a server's prefix cache can keep: the text, and nothing of the question before it.
    assert "THE QUESTION" not in messages_of(name)[-1]["content"].split("THE TEXT")[0]


@pytest.mark.parametrize(
    ("name", "parser", "max_tokens"),
    [
        ("question-first", "integer-1", 1),
        ("text-first", "integer-1", 1),
        ("evidence-question-first", "evidence-1", 300),
        ("evidence-text-first", "evidence-1", 300),
    ],
)
def test_prompts_name_parser_and_length(name: str, parser: str, max_tokens: int) -> None:
    file = load(name)
    assert (file.parser, file.max_tokens) == (parser, max_tokens)


def test_both_orders_say_the_same_but_for_the_order() -> None:
    assert load("text-first").system == load("question-first").system
    assert load("evidence-text-first").system == load("evidence-question-first").system


def test_file_is_read_as_it_stands(tmp_path: Path) -> None:
    file = read(file_of(tmp_path, GOOD))
    assert file.name == "mine"
    assert file.title == "A title: with a colon"
    assert file.system == "You grade."
    assert file.prompt == "{question}\n\n--- a line of dashes stays\n{text}"


def test_file_of_windows_is_the_same_prompt(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read(path) == read(file_of(tmp_path, GOOD))


def test_system_part_may_be_missing(tmp_path: Path) -> None:
    content = GOOD.replace("--- system ---\nYou grade.\n", "")
    assert read(file_of(tmp_path, content)).system == ""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("parser: integer-1\n", "", 'line 3: up to here the setting "parser" is missing.'),
        ("parser: integer-1", "parser:", 'line 2: "parser" has no value.'),
        (
            "integer-1",
            "integer-9",
            'line 2: there is no parser "integer-9". There are integer-1, evidence-1,',
        ),
        (
            "max_tokens: 1",
            "max_tokens: 0",
            'line 3: max_tokens must be a whole number from 1, not "0".',
        ),
        (
            "max_tokens: 1",
            "max_tokens: ٣",
            'line 3: max_tokens must be a whole number from 1, not "٣".',
        ),
        ("max_tokens: 1", "max_tokens: 1\ntitle: B", 'line 4: "title" is there twice.'),
        (
            "max_tokens: 1",
            "temperature: 1",
            'line 3: "temperature: 1" is no setting. There are title, parser, max_tokens, failures, note.',
        ),
        ("max_tokens: 1", "words", 'line 3: "words" is no setting.'),
        ("--- system ---", "--- assistant ---", 'line 5: there is no part "assistant".'),
        ("--- user ---", "--- system ---", 'line 7: the part "system" is there twice.'),
        ("You grade.", " ", 'line 5: the part "system" is empty.'),
        ("--- user ---", "", 'line 12: the part "--- user ---" is missing.'),
        ("You grade.", "By {guideline}.", "line 6: {guideline} is not a placeholder."),
        ("{text}", "{tekst}", "line 12: {tekst} is not a placeholder."),
        ("{text}", "", "line 11: The prompt does not show the text: it needs {text}."),
    ],
)
def test_error_names_the_file_and_the_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in GOOD
    with pytest.raises(PromptFileError) as error:
        read(file_of(tmp_path, GOOD.replace(old, new)))
    assert str(error.value).startswith(f"mine.txt, {expected}")


def test_empty_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PromptFileError, match=r"mine\.txt, line 1: "):
        read(file_of(tmp_path, ""))


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"title: A\nparser: \xff\n")
    with pytest.raises(PromptFileError, match=r"mine\.txt, line 2: these bytes are not UTF-8\."):
        read(path)


@pytest.mark.parametrize("name", ["", "nothing", "../prompts/text-first", "text-first.txt", "*"])
def test_name_that_is_none_is_answered_with_those_that_are(name: str) -> None:
    with pytest.raises(PromptFileError) as error:
        load(name)
    assert str(error.value) == (
        f'There is no prompt "{name}". There are all-questions, crux-structure, '
        "evidence-question-first, evidence-text-first, label-json, question-first, rating-json, text-first, "
        "umbrela-structure."
    )

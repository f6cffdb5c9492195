"""Rendering of prompts: from a judge and a pair to chat messages."""

import re
from collections.abc import Collection, Iterable

from judging.grading.pairs import Pair
from judging.grading.spec import Spec
from judging.llm.messages import Message, prompt_hash

PLACEHOLDERS = ("question", "questions", "text", "request", "answer", "rubric", "grades")
DEFAULT_PLACEHOLDERS = ("question", "text")  # what most rubrics show
_PLACEHOLDER = re.compile(r"\{(?:(" + "|".join(PLACEHOLDERS) + r")|text:([1-9][0-9]{0,5}))\}")
_LOOKS_LIKE_ONE = re.compile(r"\{\s*([^\W\d]\w*)\s*\}")


def render(spec: Spec, pair: Pair) -> list[Message]:
    """Return the chat messages that ask this judge about this pair.

    First a system message, where the judge has one, then the user's. All placeholders are put in
    at once, so that braces in a text, or the word "{question}", reach the model as they are.
    {text:2048} is the first 2,048 words of the text, with one space between them. {questions} are all
    questions that are asked together, numbered from 1.
    """
    values = {
        "question": pair.question,
        "questions": _numbered(pair.questions or (pair.question,)),
        "text": pair.text,
        "request": pair.request,
        "answer": pair.answer,
        "rubric": spec.wording,
        "grades": _listed(spec.grades),
    }

    def value(match: re.Match[str]) -> str:
        return values[match[1]] if match[1] else _first_words(pair.text, int(match[2]))

    def filled(template: str) -> str:
        return _PLACEHOLDER.sub(value, template)

    messages = [{"role": "user", "content": filled(spec.prompt)}]
    if spec.system:
        messages.insert(0, {"role": "system", "content": filled(spec.system)})
    return messages


def check_template(
    system: str, prompt: str, required: Collection[str] = DEFAULT_PLACEHOLDERS
) -> list[str]:
    """Return the problems of a prompt, a sentence each; none if it can be used.

    It must show what the rubric shows. A name in braces must be a placeholder. Other braces are words
    like any others.
    """
    if not prompt.strip():
        return ["The prompt is empty."]
    both = f"{system}\n{prompt}"
    valid = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    used = placeholders(system, prompt)
    problems = [
        f"{placeholder} is not a placeholder. There are {valid}."
        for placeholder in unknown_placeholders(both)
    ]
    problems += [
        f"The prompt does not show the {name}: it needs {{{name}}}."
        for name in PLACEHOLDERS
        if name in required
        and name not in used
        and not (name == "question" and "questions" in used)
    ]
    if {"question", "questions"} <= used:
        problems.append("{question} is one of {questions}: a prompt shows the one or the others.")
    if {"answer", "questions"} <= used:
        problems.append(
            "Each question has an answer of its own, so {questions} cannot be asked of {answer}."
        )
    return problems


def placeholders_of(spec: Spec) -> frozenset[str]:
    """Return the placeholders of a judge's prompt; none for a baseline."""
    return placeholders(spec.system, spec.prompt)


def placeholders(system: str, prompt: str) -> frozenset[str]:
    """Return the names of the placeholders in a prompt; {text:2048} is text."""
    matches = _PLACEHOLDER.finditer(f"{system}\n{prompt}")
    return frozenset(match[1] or "text" for match in matches)


def hashes(spec: Spec, pair: Pair) -> tuple[str, ...]:
    """Return the hashes of the messages that may ask about a pair.

    First with all questions of its text, then with its question alone.
    """
    variants = (pair, pair.alone()) if pair.has_several_questions else (pair,)
    return tuple(prompt_hash(render(spec, variant)) for variant in variants)


def unknown_placeholders(template: str) -> list[str]:
    """Return texts like "{answer}" that look like placeholders and are none, each once."""
    candidates = (match[0] for match in _LOOKS_LIKE_ONE.finditer(template))
    return [
        candidate
        for candidate in dict.fromkeys(candidates)
        if not _PLACEHOLDER.fullmatch(candidate)
    ]


def rubric_wording(levels: Iterable[tuple[int, str]]) -> str:
    """Return a rubric as a prompt shows it: a line a grade, such as "5: ...", highest first."""
    return "\n".join(f"{grade}: {label}" for grade, label in sorted(levels, reverse=True))


def _first_words(text: str, n: int) -> str:
    return " ".join(text.split(None, n)[:n])


def _numbered(questions: Iterable[str]) -> str:
    return "\n".join(
        f"{number}. {' '.join(question.split())}" for number, question in enumerate(questions, 1)
    )


def _listed(grades: tuple[int, ...]) -> str:
    *lower, last = map(str, grades)
    return f"{', '.join(lower)} or {last}" if lower else last

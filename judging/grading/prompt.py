"""From a judge and a pair to the messages that a model is sent."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable

from judging.grading.pairs import Pair
from judging.grading.spec import Spec

Message = dict[str, str]

PLACEHOLDERS = ("question", "questions", "text", "request", "answer", "rubric", "grades")
USUAL = ("question", "text")  # what most rubrics show
_PLACEHOLDER = re.compile(r"\{(?:(" + "|".join(PLACEHOLDERS) + r")|text:([1-9][0-9]{0,5}))\}")
_LOOKS_LIKE_ONE = re.compile(r"\{\s*([^\W\d]\w*)\s*\}")


def render(spec: Spec, pair: Pair) -> list[Message]:
    """The chat messages that ask this judge about this pair.

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


def prompt_hash(messages: list[Message]) -> str:
    """The first 16 hexadecimal signs of SHA-256 over the canonical JSON of the messages."""
    # Escaped to ASCII, so that half a surrogate pair in a text has a hash too.
    canonical = json.dumps(messages, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]


def check_template(system: str, prompt: str, shows: Collection[str] = USUAL) -> list[str]:
    """What is wrong with a prompt, a sentence for each problem; none if it can be used.

    It must show what the rubric shows. A name in braces must be a placeholder. Other braces are words
    like any others.
    """
    if not prompt.strip():
        return ["The prompt is empty."]
    both = f"{system}\n{prompt}"
    known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    shown = placeholders(system, prompt)
    problems = [
        f"{placeholder} is not a placeholder. There are {known}."
        for placeholder in unknown_placeholders(both)
    ]
    problems += [
        f"The prompt does not show the {name}: it needs {{{name}}}."
        for name in PLACEHOLDERS
        if name in shows and name not in shown and not (name == "question" and "questions" in shown)
    ]
    if {"question", "questions"} <= shown:
        problems.append("{question} is one of {questions}: a prompt shows the one or the others.")
    if {"answer", "questions"} <= shown:
        problems.append(
            "Each question has an answer of its own, so {questions} cannot be asked of {answer}."
        )
    return problems


def shown_by(spec: Spec) -> frozenset[str]:
    """The placeholders of a judge's prompt: what of a pair its messages show. None for a baseline."""
    return placeholders(spec.system, spec.prompt)


def placeholders(system: str, prompt: str) -> frozenset[str]:
    """The names of the placeholders in a prompt; {text:2048} is text."""
    found = _PLACEHOLDER.finditer(f"{system}\n{prompt}")
    return frozenset(match[1] or "text" for match in found)


def hashes(spec: Spec, pair: Pair) -> tuple[str, ...]:
    """The hashes of the messages that may ask about a pair: with all questions of its text, then alone."""
    ways = (pair, pair.alone()) if pair.is_of_several else (pair,)
    return tuple(prompt_hash(render(spec, way)) for way in ways)


def unknown_placeholders(template: str) -> list[str]:
    """What looks like a placeholder and is none, as it is written, each once: "{answer}"."""
    candidates = (match[0] for match in _LOOKS_LIKE_ONE.finditer(template))
    return [words for words in dict.fromkeys(candidates) if not _PLACEHOLDER.fullmatch(words)]


def wording_of(levels: Iterable[tuple[int, str]]) -> str:
    """A rubric as a prompt shows it: one line for each grade, such as "5: ...", highest first."""
    return "\n".join(f"{grade}: {label}" for grade, label in sorted(levels, reverse=True))


def _first_words(text: str, n: int) -> str:
    return " ".join(text.split(None, n)[:n])


def _numbered(questions: Iterable[str]) -> str:
    return "\n".join(
        f"{number}. {' '.join(words.split())}" for number, words in enumerate(questions, 1)
    )


def _listed(grades: tuple[int, ...]) -> str:
    *others, last = map(str, grades)
    return f"{', '.join(others)} or {last}" if others else last

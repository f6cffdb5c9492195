"""Questions of CRUD-RAG's RAGQuestEval, and the answers to them as ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotation.filtering import REPEATS
from annotation.formats.records import FilteredQuestion, RatingRow, SpanRow, SubQuestionsRow

RATER = "questeval"
RUBRIC = "answered"
CANNOT_TELL = "无法推断"  # is the answer where the text holds none

NO_ANSWER = "its file has no answer of the reference"
UNLIKE = "items of CRUD-RAG whose answers are more or fewer than their questions, kept"
REPEATED = "items of CRUD-RAG that ask the same twice: the second time kept without words"


def questions_row(
    topic: str, questions: Sequence[str], n_answers: int
) -> Iterator[SubQuestionsRow]:
    """Yield the questions by position; empty for a repeated question or a missing one.

    A question without an answer of the reference is filtered: no answer can be compared with it.
    """
    first_index: dict[str, int] = {}
    bodies: list[str] = []
    filtered: dict[str, FilteredQuestion] = {}
    for i, question in enumerate(questions):
        first = first_index.setdefault(question.strip(), i)
        bodies.append(question if first == i else "")
        if first != i and question.strip():
            because = f"{REPEATS}{first + 1}"
            filtered[str(i)] = FilteredQuestion(because=because)
    for i in range(n_answers, len(questions)):
        filtered[str(i)] = FilteredQuestion(because=NO_ANSWER)
    bodies += [""] * (n_answers - len(questions))
    if bodies:
        yield SubQuestionsRow.model_construct(id=topic, subquestions=bodies, filtered=filtered)


def has_repeated(questions: Sequence[str]) -> bool:
    stripped = [question.strip() for question in questions]
    return len(set(stripped)) < len(stripped)


def answer_rows(
    topic: str, answers: Sequence[str], kind: str, text: str, system: str = ""
) -> Iterator[RatingRow]:
    """Yield a rating for each answer: its text as the span, or "cannot be told"."""
    for i, answer in enumerate(answers):
        is_answered = answer != CANNOT_TELL
        yield RatingRow.model_construct(
            rater=RATER,
            rater_kind="model",
            rubric=RUBRIC,
            topic=topic,
            question_index=i,
            text_kind=kind,
            system=system,
            text=text,
            grade=int(is_answered),
            spans=[SpanRow.model_construct(quote=answer)] if is_answered and answer.strip() else [],
        )

"""Loading of pairs for a judge's prompts: from database keys to texts and questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from annotation.models import SubQuestion, Text
from annotation.text.answers import Answers, answers_in
from annotation.text.spans import ELISION
from judging.grading.pairs import Pair
from judging.grading.prompt import placeholders_of
from judging.grading.spec import Spec


class PairLoader:
    """Texts and questions, read at once, with all else that a judge's prompt shows.

    `texts` are the bodies of those that are there, by key; `questions` (words, request) of theirs.
    """

    def __init__(self, spec: Spec, texts: Collection[int], questions: Collection[int]) -> None:
        placeholders = placeholders_of(spec)
        bodies = Text.objects.filter(pk__in=texts).values_list("pk", "body").order_by()
        self.texts = {pk: body or "" for pk, body in bodies}
        self.questions: dict[int, tuple[str, str]] = {}
        self._topics: dict[int, int] = {}
        rows = SubQuestion.objects.filter(pk__in=questions).order_by()
        for pk, question, request, topic in rows.values_list(
            "pk", "body", "topic__request", "topic_id"
        ):
            self.questions[pk] = (question, request)
            self._topics[pk] = topic
        self._lists = _lists(self._topics.values()) if "questions" in placeholders else {}
        self._answers = answers_in(sorted(self.texts)) if "answer" in placeholders else {}

    def pair(self, text: int, question: int) -> Pair:
        """Return the pair of a loaded text and question, for the prompt. Raises KeyError."""
        body, request = self.questions[question]
        numbers, bodies = self._lists.get(self._topics[question], ({}, ()))
        return Pair(
            text,
            question,
            self.texts[text],
            body,
            request,
            ELISION.join(self._answers.get((text, question), ())),
            bodies if question in numbers else (),
            numbers.get(question, 1),
        )


def answers_in_prompt(spec: Spec, texts: Collection[int]) -> Answers | None:
    """Return the answers that a judge is shown of texts; None if its prompt shows none.

    A pair without one is not asked.
    """
    return answers_in(sorted(texts)) if "answer" in placeholders_of(spec) else None


def omits_text(spec: Spec) -> bool:
    """Return whether the prompt is the same for all texts of a topic.

    Never so of a baseline.
    """
    return bool(spec.prompt) and not {"text", "answer"} & placeholders_of(spec)


def _lists(topics: Collection[int]) -> dict[int, tuple[dict[int, int], tuple[str, ...]]]:
    """Return numbers by question key, from 1, and all question bodies in order, by topic."""
    sub_questions = (
        SubQuestion.objects.with_words().filter(topic__in=set(topics)).order_by("position")
    )
    of_topic: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for topic, pk, body in sub_questions.values_list("topic_id", "pk", "body"):
        of_topic[topic].append((pk, body))
    return {
        topic: (
            {pk: number for number, (pk, _) in enumerate(rows, 1)},
            tuple(body for _, body in rows),
        )
        for topic, rows in of_topic.items()
    }

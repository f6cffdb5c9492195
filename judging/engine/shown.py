"""What the messages of a judge show of texts and questions: from keys of the database to pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from annotation.models import SubQuestion, Text
from annotation.text.answers import Answers, answers_in
from annotation.text.spans import ELISION
from judging.grading.pairs import Pair
from judging.grading.prompt import shown_by
from judging.grading.spec import Spec


class Shown:
    """Some texts and questions, read at once, with what else the prompt of a judge shows of them.

    `texts` are the bodies of those that are there, by key; `questions` (words, request) of theirs.
    """

    def __init__(self, spec: Spec, texts: Collection[int], questions: Collection[int]) -> None:
        shown = shown_by(spec)
        bodies = Text.objects.filter(pk__in=texts).values_list("pk", "body").order_by()
        self.texts = {pk: body or "" for pk, body in bodies}
        self.questions: dict[int, tuple[str, str]] = {}
        self._topics: dict[int, int] = {}
        rows = SubQuestion.objects.filter(pk__in=questions).order_by()
        for pk, words, request, topic in rows.values_list(
            "pk", "body", "topic__request", "topic_id"
        ):
            self.questions[pk] = (words, request)
            self._topics[pk] = topic
        self._lists = _lists(self._topics.values()) if "questions" in shown else {}
        self._answers = answers_in(sorted(self.texts)) if "answer" in shown else {}

    def pair(self, text: int, question: int) -> Pair:
        """A text and a question that are there, with all that the prompt may show. Raises KeyError."""
        words, request = self.questions[question]
        numbers, all_words = self._lists.get(self._topics[question], ({}, ()))
        return Pair(
            text,
            question,
            self.texts[text],
            words,
            request,
            ELISION.join(self._answers.get((text, question), ())),
            all_words if question in numbers else (),
            numbers.get(question, 1),
        )


def answers_shown(spec: Spec, texts: Collection[int]) -> Answers | None:
    """The answers that a judge is shown of some texts; None where its prompt shows none.

    A pair without one is not asked.
    """
    return answers_in(sorted(texts)) if "answer" in shown_by(spec) else None


def shows_no_text(spec: Spec) -> bool:
    """Whether what a judge is asked is the same for all texts of a topic. Never so of a baseline."""
    return bool(spec.prompt) and not {"text", "answer"} & shown_by(spec)


def _lists(topics: Collection[int]) -> dict[int, tuple[dict[int, int], tuple[str, ...]]]:
    """Of each topic the numbers of its questions by key, from 1, and the words of all, in order."""
    asked = SubQuestion.objects.with_words().filter(topic__in=set(topics)).order_by("position")
    of_topic: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for topic, pk, words in asked.values_list("topic_id", "pk", "body"):
        of_topic[topic].append((pk, words))
    return {
        topic: (
            {pk: number for number, (pk, _) in enumerate(rows, 1)},
            tuple(words for _, words in rows),
        )
        for topic, rows in of_topic.items()
    }

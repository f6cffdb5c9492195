"""The matrix of a topic under any rubric: what one rater gave, without scores, which take an eta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.models import Dataset, Rating, Rubric, SubQuestion, Topic
from evaluation.data.columns import Column
from evaluation.data.held import COUNTED
from evaluation.data.ratings import TextRow, load
from evaluation.data.selection import Selection, SelectionError, one_of, select

SHADES = 5


@dataclass(frozen=True, slots=True)
class UnderCell:
    """A pair with its grade, which has a shade where grades have an order, else its name."""

    question: int
    number: int
    grade: int | None = None
    name: str = ""
    shade: int | None = None

    @property
    def says(self) -> str:
        if self.grade is None:
            return "unrated"
        return f"grade {self.grade}" if self.name == str(self.grade) else self.name


@dataclass(frozen=True)
class UnderPage:
    """The texts of a topic that the rater graded any of, down, and the topic's questions across."""

    selection: Selection
    rater: Column
    topic: Topic
    topics: tuple[str, ...]
    """Those with ratings by the rater, in the order of the dataset."""
    questions: tuple[SubQuestion, ...]
    rows: tuple[tuple[TextRow, tuple[UnderCell, ...]], ...]

    @property
    def pair_query(self) -> str:
        return self.selection.query()

    def beside(self, step: int) -> str | None:
        """The name of the topic before or after this one."""
        place = self.topics.index(self.topic.name) + step
        return self.topics[place] if 0 <= place < len(self.topics) else None


def used_rubrics(dataset: Dataset) -> list[Rubric]:
    """Those with ratings of the dataset."""
    used = Rating.objects.of_dataset(dataset).order_by().values("rubric")
    return COUNTED.while_unwritten(
        ("rubrics", dataset.pk), lambda: list(Rubric.objects.filter(pk__in=used))
    )


def under_page(dataset: Dataset, rubric: Rubric, asked: Mapping[str, str]) -> UnderPage | None:
    """The matrix of `asked` topic and rater; the first of both where it names none.

    None where nobody rated anything under the rubric. Raises SelectionError for a topic or rater that
    is not there.
    """
    everyone = select(dataset, rubric=rubric.slug).everyone
    if not everyone:
        return None
    selection = select(dataset, rubric=rubric.slug, raters=[asked.get("rater") or everyone[0].name])
    matrix, rater = load(selection), selection.raters[0]
    topics = tuple(matrix.topic_names.values())
    if not topics:
        raise SelectionError(f"{rater.title} rated nothing that counts under {rubric.title}.")
    name = one_of("topic", asked.get("topic") or topics[0], topics)
    topic = dataset.topics.get(name=name)
    questions = tuple(topic.questions.order_by("position"))
    names, levels = rubric.names(), rubric.grades()
    reach = max(levels[-1] - levels[0], 1)
    here = np.flatnonzero(matrix.topic == topic.pk)
    grades = {
        (int(matrix.text[item]), int(matrix.question[item])): int(matrix.grades[item, 0])
        for item in here.tolist()
    }

    def cell(text: int, question: SubQuestion) -> UnderCell:
        grade = grades.get((text, question.pk))
        if grade is None:
            return UnderCell(question.pk, question.position + 1)
        shade = round(SHADES * (grade - levels[0]) / reach) if rubric.has_order else None
        return UnderCell(question.pk, question.position + 1, grade, names[grade], shade)

    texts = dict.fromkeys(text for text, _ in grades)
    return UnderPage(
        selection=selection,
        rater=rater,
        topic=topic,
        topics=topics,
        questions=questions,
        rows=tuple(
            (matrix.texts[pk], tuple(cell(pk, question) for question in questions)) for pk in texts
        ),
    )

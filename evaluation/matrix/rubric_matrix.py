"""Matrix of a topic under any rubric: the grades of one rater, without scores or eta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.db.models import Exists, OuterRef, Q

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import Column
from evaluation.data.corpus import TextRow
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection, SelectionError, one_of, select

SHADES = 5


@dataclass(frozen=True, slots=True)
class RubricCell:
    """Pair with its grade, which has a shade where grades are ordered, else its name."""

    question: int
    number: int
    grade: int | None = None
    name: str = ""
    shade: int | None = None
    copied_from: str = ""
    """The name of the text of equal words that was read."""

    @property
    def description(self) -> str:
        if self.grade is None:
            return "unrated"
        label = f"grade {self.grade}" if self.name == str(self.grade) else self.name
        return f"{label}, copied from {self.copied_from}" if self.copied_from else label


@dataclass(frozen=True)
class RubricMatrix:
    """Matrix of one rater: the texts with a grade as rows, the topic's questions as columns."""

    selection: Selection
    rater: Column
    topic: Topic
    topics: tuple[str, ...]
    """Topics with ratings by the rater, in the order of the dataset."""
    questions: tuple[SubQuestion, ...]
    rows: tuple[tuple[TextRow, tuple[RubricCell, ...]], ...]

    @property
    def pair_query(self) -> str:
        return self.selection.query()

    def neighbouring_topic(self, step: int) -> str | None:
        """Return the name of the topic before or after this one; None past the ends."""
        index = self.topics.index(self.topic.name) + step
        return self.topics[index] if 0 <= index < len(self.topics) else None


def used_rubrics(dataset: Dataset) -> list[Rubric]:
    """Return the rubrics with ratings of the dataset, cached until the next write."""
    # By rater, as the index is: a list of the rubrics of all ratings would take a look at each.
    ratings = Rating.objects.of_dataset(dataset).filter(rubric=OuterRef(OuterRef("pk")))
    raters = Rater.objects.filter(Q(dataset=dataset) | Q(dataset=None), ratings.exist_for_rater())
    return SHARED_CACHE.until_db_write(
        (CacheKey.USED_RUBRICS, dataset.pk), lambda: list(Rubric.objects.filter(Exists(raters)))
    )


def rubric_matrix(
    dataset: Dataset, rubric: Rubric, params: Mapping[str, str]
) -> RubricMatrix | None:
    """Return the matrix of the topic and rater in `params`; by default the first of both.

    None where nobody rated anything under the rubric. Raises SelectionError for a topic or rater that
    does not exist.
    """
    everyone = select(dataset, rubric=rubric.slug).everyone
    if not everyone:
        return None
    rater_name = params.get("rater") or everyone[0].name
    selection = select(dataset, rubric=rubric.slug, raters=[rater_name], exposed="included")
    matrix, rater = load(selection, with_copies=True), selection.raters[0]
    topics = tuple(matrix.topic_names.values())
    if not topics:
        raise SelectionError(f"{rater.title} has no ratings under {rubric.title} that count.")
    name = one_of("topic", params.get("topic") or topics[0], topics)
    topic = dataset.topics.get(name=name)
    questions = tuple(topic.questions.order_by("position"))
    names, levels = rubric.names(), rubric.grades()
    reach = max(levels[-1] - levels[0], 1)
    topic_items = np.flatnonzero(matrix.topic == topic.pk)
    grades = {
        (int(matrix.text[item]), int(matrix.question[item])): int(matrix.grades[item, 0])
        for item in topic_items.tolist()
    }

    read_names = _names_of_read_texts(matrix)

    def cell(text: int, question: SubQuestion) -> RubricCell:
        grade = grades.get((text, question.pk))
        if grade is None:
            return RubricCell(question.pk, question.position + 1)
        shade = round(SHADES * (grade - levels[0]) / reach) if rubric.has_order else None
        copied_from = read_names.get((text, question.pk), "")
        return RubricCell(
            question.pk, question.position + 1, grade, names[grade], shade, copied_from
        )

    texts = dict.fromkeys(text for text, _ in grades)
    return RubricMatrix(
        selection=selection,
        rater=rater,
        topic=topic,
        topics=topics,
        questions=questions,
        rows=tuple(
            (matrix.texts[pk], tuple(cell(pk, question) for question in questions)) for pk in texts
        ),
    )


def _names_of_read_texts(matrix: RatingMatrix) -> dict[tuple[int, int], str]:
    """Return the text that was read for each copied grade, by the keys of text and question."""
    rows = matrix.rows[matrix.rows["text"] != matrix.rows["read_text"]]
    names = dict(Text.objects.filter(pk__in=rows["read_text"].tolist()).values_list("pk", "name"))
    return {(row.text, row.question): names[row.read_text] for row in rows.itertuples(index=False)}

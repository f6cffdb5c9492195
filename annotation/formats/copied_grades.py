"""Our own copied_grades.jsonl: grades that were copied from a text of equal words.

The grades themselves are in the files of labels; a line names one of them, and the text that was read.
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import CopiedGradeRow, TextKey
from annotation.formats.storing import new_ratings, text_ids
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Rater, Rating
from annotation.models.rating import raters_of
from annotation.plurals import n_of

_FIELDS = (
    *("rubric__slug", "question__topic__name", "question__position", "text__kind"),
    *("text__system", "text__name", "copied_from__system", "copied_from__name"),
)


def read(target: Target, source: Source) -> None:
    """Note the source of each grade; `store_sources` stores them."""
    for batch in batches(rows(target, source, CopiedGradeRow), LOOK_UP):
        keys = [key for _, row in batch for key in (row.text_key, row.read_text_key)]
        texts = text_ids(target.dataset, keys)
        for line, row in batch:
            _read_line(target, source, line, row, texts)


def _read_line(
    target: Target,
    source: Source,
    line: int,
    row: CopiedGradeRow,
    texts: dict[TextKey, int],
) -> None:
    text, read_text = texts.get(row.text_key), texts.get(row.read_text_key)
    rater, topic = target.rater_named(row.rater), target.topics.get(row.topic)
    rubric = target.rubric_called(source, line, row.rubric)
    for field, value, has_source in (
        ("text", row.text, text),
        ("copied_from", row.copied_from, read_text),
        ("rater", row.rater, rater),
        ("topic", row.topic, topic),
    ):
        if not has_source:
            message = f"{quoted_value(value)} is not in the dataset"
            target.problem(source, line, field, message)
            return
    if not (rubric and rater and topic and text and read_text):
        return
    if row.question_index >= len(topic.questions):
        message = f"{topic.name} has {n_of(len(topic.questions), 'question')}, counted from 0"
        target.problem(source, line, "question_index", message)
    elif text == read_text:
        target.problem(source, line, "copied_from", "is the text itself")
    else:
        question = topic.questions[row.question_index].pk
        target.copied_from[rater.pk, rubric.rubric.pk, text, question] = read_text


def store_sources(target: Target) -> None:
    """Mark the grades of an import that are copies. Grades that were there stay as they are."""
    for ratings in new_ratings(target, target.copied_from):
        for pair, rating in ratings.items():
            rating.copied_from_id = target.copied_from[pair]
        Rating.objects.mark_copies(ratings.values())


def lines(dataset: Dataset) -> Iterator[str]:
    """Yield a line for each copied grade, by rater, rubric, topic, text and question."""
    ratings = Rating.objects.of_dataset(dataset).filter(copied_from__isnull=False)
    ratings = ratings.exclude(rater__kind=Rater.Kind.AGGREGATE)
    for name, rater in sorted(raters_of(dataset).items()):
        copied = ratings.filter(rater=rater).order_by(
            by_code_point("rubric__slug"),
            "question__topic__position",
            by_code_point("question__topic__name"),
            "text__kind",
            by_code_point("text__system"),
            by_code_point("text__name"),
            "question__position",
        )
        for rubric, topic, position, kind, system, text, *read_text in copied.values_list(*_FIELDS):
            yield json_line(
                {
                    "rater": name,
                    "rubric": rubric,
                    "topic": topic,
                    "question_index": position,
                    "text_kind": kind,
                    "system": system,
                    "text": text,
                    "copied_from_system": read_text[0],
                    "copied_from": read_text[1],
                }
            )

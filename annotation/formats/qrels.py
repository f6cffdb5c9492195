"""annotations/<rater>.qrels.jsonl, T2: grades of a passage for each question.

{"id": topic, "document": passage, "relevances": {"0": -1..5}, "rationales": {"0": words}}
"""

from collections.abc import Iterator
from typing import Any

from annotation.formats.batches import batches
from annotation.formats.grades_by_text import grades_by_text
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import UNJUDGED, QrelsRow
from annotation.formats.slots import USUAL, qrels_texts
from annotation.formats.storing import HighlightCount, ImportedGrade, RatingWriter
from annotation.formats.summary import Conversion
from annotation.formats.target import KnownTopic, Target, topics_of
from annotation.formats.writing import json_line
from annotation.models import Dataset, Rater, Text
from annotation.models.standard import GRADED
from annotation.text.spans import SpanError

_BATCH = 200


def read(target: Target, source: Source) -> None:
    rater = target.rater(source, 0, source.rater, Rater.Kind.HUMAN)
    if rater:
        reader = _Reader(target, source, rater)
        for batch in batches(rows(target, source, QrelsRow), _BATCH):
            reader.batch(batch)


class _Reader:
    def __init__(self, target: Target, source: Source, rater: Rater) -> None:
        self.target = target
        self.source = source
        self.mapped = target.summary.mapped
        rubric = target.rubric(GRADED.slug)
        self.writer = RatingWriter(target, source, rater, rubric)
        self.highlights = HighlightCount(target, source, source.rater, rubric)

    def batch(self, batch: list[tuple[int, QrelsRow]]) -> None:
        names = {row.document for _, row in batch}
        if self.source.system == USUAL:
            self.target.passages(names)
        texts = {
            name: (pk, body)
            for pk, name, body in Text.objects.filter(
                qrels_texts(self.source.system), dataset=self.target.dataset, name__in=names
            ).values_list("pk", "name", "body")
        }
        labels = []
        for line, row in batch:
            topic = self.target.topic(self.source, line, "id", row.id)
            if row.document not in texts:
                self._problem(line, "document", f"{row.document} is not in the dataset")
            elif topic and self._fits(line, row, file_topic := topic.of(len(row.relevances))):
                labels += self._line(line, row, texts[row.document], file_topic)
        for label in labels:
            self.highlights.add(label)
        self.writer.write(labels)

    def _fits(self, line: int, row: QrelsRow, topic: KnownTopic) -> bool:
        """Return whether the row has a value for every question, and none for others."""
        expected = {str(question.position) for question in topic.questions}
        for name, keys, needed in (
            ("relevances", row.relevances.keys(), expected),
            ("rationales", row.rationales.keys(), set()),
            ("spans", row.spans.keys(), set()),
        ):
            if wrong := sorted((keys - expected) | (needed - keys)):
                message = f'expected the keys "0" to "{len(expected) - 1}", but for {wrong[:3]}'
                self._problem(line, name, message)
                return False
        return True

    def _line(
        self, line: int, row: QrelsRow, text: tuple[int, str | None], topic: KnownTopic
    ) -> list[ImportedGrade]:
        pk, body = text
        labels = []
        for question in topic.questions:
            index = str(question.position)
            grade, quote = row.relevances[index], row.rationales.get(index, "")
            if grade == UNJUDGED:
                self.mapped[Conversion.UNJUDGED] += 1
                self.mapped[Conversion.UNGRADED_WORDS] += bool(quote.strip())
                continue
            field = f"relevances.{index}"
            if not self.writer.allows(line, field, grade):
                continue
            self.mapped[Conversion.KEPT_FILTERED] += question.filtered
            label = ImportedGrade(line, field, pk, row.document, question, grade, quote)
            try:
                label.add_spans(body, row, index)
            except SpanError as error:
                self._problem(line, label.spans_field(row), str(error))
                continue
            labels.append(label)
        return labels

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)


def lines(dataset: Dataset, rater: Rater, slot: str = USUAL) -> Iterator[str]:
    """Yield a line for each pair of topic and passage with at least one grade of the rater.

    `slot`: "" for passages, else a system of reports, or "reference" for the reference summaries.
    """
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    for text in grades_by_text(dataset, rater, GRADED.slug, qrels_texts(slot)):
        topic = topics[text.topic_id]
        positions = [question.position for question in topic.questions]
        line: dict[str, Any] = {
            "id": topic.name,
            "document": text.name,
            "relevances": {
                str(position): text.grades.get(position, UNJUDGED) for position in positions
            },
            "rationales": {str(position): text.quote(position) for position in positions},
        }
        yield json_line(line | text.span_fields())

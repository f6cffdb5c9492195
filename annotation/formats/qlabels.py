"""annotations/<rater>.qlabels.jsonl, T1: answerable questions of a report, with spans.

{"id": report, "question_based_nugget": {question: highlight}, "answerability": [1, 0, -1, -2]}

The export differs from the authors' own files: `coverage` leaves filtered questions out (theirs
divides by all), several spans of one question are joined by an elision, and `offsets` gives the
position of a highlight whose quote occurs more than once.
"""

from collections.abc import Iterator
from typing import Any

from annotation.formats.batches import batches
from annotation.formats.grades_by_text import TextGrades, grades_by_text
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import FILTERED, NOT_APPLICABLE, UNJUDGED, QlabelsRow
from annotation.formats.slots import USUAL, ids_of_reports, qlabels_texts
from annotation.formats.storing import HighlightCount, ImportedGrade, RatingWriter
from annotation.formats.summary import Conversion, quoted_value
from annotation.formats.target import (
    SUPERSEDED_MESSAGE,
    KnownQuestion,
    KnownTopic,
    Target,
    find_question,
    topics_of,
)
from annotation.formats.writing import ExportError, json_line
from annotation.models import Dataset, Rater, Text
from annotation.models.standard import ANSWERABLE
from annotation.plurals import n_of
from annotation.text.spans import SpanError

_BATCH = 200


def read(target: Target, source: Source) -> None:
    rater = target.rater(source, 0, source.rater, Rater.Kind.HUMAN)
    if rater:
        reader = _Reader(target, source, rater)
        for batch in batches(rows(target, source, QlabelsRow), _BATCH):
            reader.batch(batch)


class _Reader:
    def __init__(self, target: Target, source: Source, rater: Rater) -> None:
        self.target = target
        self.source = source
        self.mapped = target.summary.mapped
        rubric = target.rubric(ANSWERABLE.slug)
        self.writer = RatingWriter(target, source, rater, rubric)
        self.highlights = HighlightCount(target, source, source.rater, rubric)
        self.ids = ids_of_reports(target.dataset, source.system)
        self.topics = {topic.pk: topic for topic in target.topics.values()}

    def batch(self, batch: list[tuple[int, QlabelsRow]]) -> None:
        keys = {row.id: self.ids[row.id] for _, row in batch if row.id in self.ids}
        reports = Text.objects.in_bulk(keys.values())
        labels = []
        for line, row in batch:
            report = reports.get(keys.get(row.id, 0))
            if report is None or report.topic_id is None:
                self._problem(line, "id", f"no report is called {row.id}, or several are")
                continue
            labels += self._line(line, row, report, self.topics[report.topic_id])
        for label in labels:
            self.highlights.add(label)
        self.writer.write(labels)

    def _line(
        self, line: int, row: QlabelsRow, text: Text, topic: KnownTopic
    ) -> list[ImportedGrade]:
        topic = topic.of(len(row.answerability))
        quotes = self._quotes(line, row, topic)
        if quotes is None:
            return []
        labels = []
        if unknown := row.spans.keys() - {str(question.position) for question in topic.questions}:
            self._problem(line, "spans", f"no question of {topic.name} is at {min(unknown)}")
        for question, grade in zip(topic.questions, row.answerability, strict=True):
            if not self._is_grade(line, question, grade, quotes[question.position]):
                continue
            field = f"answerability.{question.position}"
            if not self.writer.allows(line, field, grade):
                continue
            self.mapped[Conversion.KEPT_FILTERED] += question.filtered
            label = ImportedGrade(
                line, field, text.pk, text.name, question, grade, quotes[question.position]
            )
            try:
                label.add_spans(text.body, row, str(question.position))
            except SpanError as error:
                self._problem(line, label.spans_field(row), str(error))
                continue
            self.mapped[Conversion.NO_HIGHLIGHT] += grade == 1 and not label.spans
            labels.append(label)
        return labels

    def _is_grade(self, line: int, question: KnownQuestion, grade: int, quote: str) -> bool:
        """Return False for the two numbers that stand for no grade."""
        if grade == FILTERED and not question.filtered:
            message = f"{FILTERED} says filtered, but the question is asked: {quoted_value(question.body)}"
            self._problem(line, f"answerability.{question.position}", message)
        if grade == UNJUDGED:
            self.mapped[Conversion.UNJUDGED] += 1
        if grade == FILTERED:
            self.mapped[Conversion.MINUS_TWO] += 1
        if grade in (UNJUDGED, FILTERED) and quote.strip():
            self.mapped[Conversion.UNGRADED_WORDS] += 1
        return grade not in (UNJUDGED, FILTERED)

    def _quotes(self, line: int, row: QlabelsRow, topic: KnownTopic) -> list[str] | None:
        """Return the highlight of each question; None, with errors noted, if the row is invalid."""
        n = len(topic.questions)
        if len(row.answerability) != n:
            message = f"expected {n_of(n, 'value')}, one a question, not {len(row.answerability)}"
            self._problem(line, "answerability", message)
            return None
        bodies = {question.body: question.position for question in topic.questions}
        # Two empty questions may differ only in white space.
        written = {question.as_written: question.position for question in topic.questions}
        quotes: list[str | None] = [None] * n
        for body, highlight in row.question_based_nugget.items():
            position = written.get(body, bodies.get(body.strip()))
            if position is None and (question := find_question(topic.questions, body.strip())):
                if question.is_set_aside(body.strip()):
                    message = f"{quoted_value(body)}: {SUPERSEDED_MESSAGE}"
                    self._problem(line, "question_based_nugget", message)
                    return None
                position = question.position
                self.mapped[Conversion.EARLIER] += 1
            if body.strip() == NOT_APPLICABLE:
                self.mapped[Conversion.NA_KEYS] += 1
                self.mapped[Conversion.UNGRADED_WORDS] += bool(highlight.strip())
            elif position is None or quotes[position] is not None:
                message = f"{quoted_value(body)} is no question of {topic.name}, or stands twice"
                self._problem(line, "question_based_nugget", message)
                return None
            else:
                quotes[position] = highlight
        for question, highlight_or_none in zip(topic.questions, quotes, strict=True):
            is_unfiltered = row.answerability[question.position] != FILTERED
            if highlight_or_none is None and is_unfiltered and question.body:
                message = f"expected an entry for {quoted_value(question.body)}"
                self._problem(line, "question_based_nugget", message)
                return None
        return [highlight or "" for highlight in quotes]

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)


def lines(dataset: Dataset, rater: Rater, slot: str = USUAL) -> Iterator[str]:
    """Yield a line for each report of which the rater graded at least one question.

    `slot`: "" for annotated reports, else a system, or "reference" for the reference summaries.
    Raises ExportError for a topic with two equal questions, which are the keys here.
    """
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    ids = {pk: name for name, pk in ids_of_reports(dataset, slot).items()}
    for text in grades_by_text(dataset, rater, ANSWERABLE.slug, qlabels_texts(slot)):
        yield _line(ids[text.text_id], text, topics[text.topic_id])


def _line(name: str, text: TextGrades, topic: KnownTopic) -> str:
    nuggets: dict[str, str] = {}
    labels = []
    bodies: set[str] = set()
    for question in topic.questions:
        grade = text.grades.get(question.position)
        filtered = question.is_null and grade is None
        if grade is None:
            grade = FILTERED if filtered else UNJUDGED
        labels.append(grade)
        if question.body in bodies:
            raise ExportError(f"two questions of {topic.name} are {question.body!r}")
        bodies |= {question.body} - {""}
        key = NOT_APPLICABLE if filtered else question.as_written
        nuggets[key] = nuggets.get(key) or text.quote(question.position)
    line: dict[str, Any] = {
        "id": name,
        "question_based_nugget": nuggets,
        "answerability": labels,
        "coverage": _coverage(labels, topic),
    }
    return json_line(line | text.span_fields())


def _coverage(labels: list[int], topic: KnownTopic) -> float | None:
    """Return the share of unfiltered questions that the report answers; None without any."""
    unfiltered = [
        label
        for label, question in zip(labels, topic.questions, strict=True)
        if not question.filtered
    ]
    return unfiltered.count(1) / len(unfiltered) if unfiltered else None

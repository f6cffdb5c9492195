"""annotations/<rater>.qlabels.jsonl, T1: which questions a report answers, and with which words.

{"id": report, "question_based_nugget": {question: highlight}, "answerability": [1, 0, -1, -2]}

What is written is unlike the authors' own files in this: `coverage` leaves filtered questions out
(theirs divides by all), several spans of one question are joined by an elision, and `offsets` says
where a highlight stands if its words stand elsewhere too.
"""

from collections.abc import Iterator
from typing import Any

from annotation.formats.batches import batches
from annotation.formats.graded import Graded, graded
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import FILTERED, NOT_APPLICABLE, UNJUDGED, QlabelsRow
from annotation.formats.slots import USUAL, annotated_or, ids_of_reports
from annotation.formats.storing import Given, HighlightCount, RatingWriter
from annotation.formats.summary import Mapped, shown
from annotation.formats.target import SET_ASIDE, KnownQuestion, KnownTopic, Target, asked, topics_of
from annotation.formats.writing import ExportError, json_line
from annotation.models import Dataset, Rater, Text
from annotation.models.standard import ANSWERABLE
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

    def _line(self, line: int, row: QlabelsRow, text: Text, topic: KnownTopic) -> list[Given]:
        topic = topic.of(len(row.answerability))
        words = self._words(line, row, topic)
        if words is None:
            return []
        labels = []
        if unknown := row.spans.keys() - {str(question.position) for question in topic.questions}:
            self._problem(line, "spans", f"no question of {topic.name} is at {min(unknown)}")
        for question, grade in zip(topic.questions, row.answerability, strict=True):
            if not self._is_grade(line, question, grade, words[question.position]):
                continue
            place = f"answerability.{question.position}"
            if not self.writer.allows(line, place, grade):
                continue
            self.mapped[Mapped.KEPT_FILTERED] += question.filtered
            label = Given(
                line, place, text.pk, text.name, question, grade, words[question.position]
            )
            try:
                label.add_spans(text.body, row, str(question.position))
            except SpanError as error:
                self._problem(line, label.spans_field(row), str(error))
                continue
            self.mapped[Mapped.NO_HIGHLIGHT] += grade == 1 and not label.spans
            labels.append(label)
        return labels

    def _is_grade(self, line: int, question: KnownQuestion, grade: int, words: str) -> bool:
        """False for the two numbers that stand for no grade."""
        if grade == FILTERED and not question.filtered:
            message = f"{FILTERED} says filtered, but the question is asked: {shown(question.body)}"
            self._problem(line, f"answerability.{question.position}", message)
        if grade == UNJUDGED:
            self.mapped[Mapped.UNJUDGED] += 1
        if grade == FILTERED:
            self.mapped[Mapped.MINUS_TWO] += 1
        if grade in (UNJUDGED, FILTERED) and words.strip():
            self.mapped[Mapped.UNGRADED_WORDS] += 1
        return grade not in (UNJUDGED, FILTERED)

    def _words(self, line: int, row: QlabelsRow, topic: KnownTopic) -> list[str] | None:
        """The highlight of each question; None, and errors noted, where the row does not fit."""
        n = len(topic.questions)
        if len(row.answerability) != n:
            message = f"expected {n} values, one a question, not {len(row.answerability)}"
            self._problem(line, "answerability", message)
            return None
        bodies = {question.body: question.position for question in topic.questions}
        # Two places without words may differ in their white space alone.
        written = {question.as_written: question.position for question in topic.questions}
        words: list[str | None] = [None] * n
        for body, highlight in row.question_based_nugget.items():
            position = written.get(body, bodies.get(body.strip()))
            if position is None and (question := asked(topic.questions, body.strip())):
                if question.is_set_aside(body.strip()):
                    message = f"{shown(body)}: {SET_ASIDE}"
                    self._problem(line, "question_based_nugget", message)
                    return None
                position = question.position
                self.mapped[Mapped.EARLIER] += 1
            if body.strip() == NOT_APPLICABLE:
                self.mapped[Mapped.NA_KEYS] += 1
                self.mapped[Mapped.UNGRADED_WORDS] += bool(highlight.strip())
            elif position is None or words[position] is not None:
                message = f"{shown(body)} is no question of {topic.name}, or stands twice"
                self._problem(line, "question_based_nugget", message)
                return None
            else:
                words[position] = highlight
        for question, highlight_or_none in zip(topic.questions, words, strict=True):
            is_asked = row.answerability[question.position] != FILTERED
            if highlight_or_none is None and is_asked and question.body:
                message = f"expected an entry for {shown(question.body)}"
                self._problem(line, "question_based_nugget", message)
                return None
        return [highlight or "" for highlight in words]

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)


def lines(dataset: Dataset, rater: Rater, slot: str = USUAL) -> Iterator[str]:
    """A line for each report of which the rater graded at least one question.

    `slot`: "" for annotated reports, else a system, or "reference" for the reference summaries.
    Raises ExportError for a topic with two questions of the same words, which are the keys here.
    """
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    ids = {pk: name for name, pk in ids_of_reports(dataset, slot).items()}
    for text in graded(dataset, rater, ANSWERABLE.slug, annotated_or(slot)):
        yield _line(ids[text.text_id], text, topics[text.topic_id])


def _line(name: str, text: Graded, topic: KnownTopic) -> str:
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
        nuggets[key] = nuggets.get(key) or text.words(question.position)
    line: dict[str, Any] = {
        "id": name,
        "question_based_nugget": nuggets,
        "answerability": labels,
        "coverage": _coverage(labels, topic),
    }
    return json_line(line | text.beside_words())


def _coverage(labels: list[int], topic: KnownTopic) -> float | None:
    """The part of the questions asked that the report answers; None if none is asked."""
    asked = [
        label
        for label, question in zip(labels, topic.questions, strict=True)
        if not question.filtered
    ]
    return asked.count(1) / len(asked) if asked else None

"""Grades of a judge: {"example_id": topic, "pid": text, "rating": [0..5 or null, ...]}.

`rating` has a value for each question. A -1 is null: the authors' code writes it for a reply in
which it found no grade.

judgements/<judge>.judgements.jsonl grades passages, many of them of other topics and without a body
here; judgements/<judge>.reference.jsonl grades the reference summaries, "<topic>:report".
"""

from collections.abc import Iterable, Iterator
from typing import Any

from annotation.formats.batches import batches
from annotation.formats.grades_by_text import grades_by_text
from annotation.formats.highlights import span_row, spans_from_rows
from annotation.formats.layout import Kind, Source
from annotation.formats.reading import rows
from annotation.formats.records import UNJUDGED, JudgementRow
from annotation.formats.slots import REFERENCE, USUAL, qrels_texts
from annotation.formats.storing import ImportedGrade, RatingWriter
from annotation.formats.summary import Conversion, quoted_value
from annotation.formats.target import Target, topics_of
from annotation.formats.writing import json_line
from annotation.models import Dataset, Rater, Text
from annotation.models.standard import GRADED
from annotation.plurals import n_of
from annotation.text.spans import ELISION, SpanError

_BATCH = 1000


def read(target: Target, source: Source) -> None:
    rater = target.rater(source, 0, source.rater, Rater.Kind.MODEL)
    if not rater:
        return
    writer = RatingWriter(target, source, rater, target.rubric(GRADED.slug))
    slot = REFERENCE if source.kind is Kind.REFERENCE else source.system
    for batch in batches(rows(target, source, JudgementRow), _BATCH):
        texts = _texts(target, slot, {row.pid for _, row in batch})
        bodies = _bodies(texts[row.pid] for _, row in batch if row.spans and row.pid in texts)
        labels = []
        for line, row in batch:
            if row.pid not in texts:
                target.problem(source, line, "pid", f"{row.pid} is not in the dataset")
            else:
                new = _line(target, source, writer, line, row, texts[row.pid])
                if row.spans and new:
                    _add_spans(target, source, row, new, bodies.get(texts[row.pid]))
                labels += new
        writer.write(labels)


def _bodies(texts: Iterable[int]) -> dict[int, str | None]:
    keys = set(texts)
    return dict(Text.objects.filter(pk__in=keys).values_list("pk", "body")) if keys else {}


def _add_spans(
    target: Target, source: Source, row: JudgementRow, labels: list[ImportedGrade], body: str | None
) -> None:
    """Add the evidence that a line states to the grades of its questions."""
    by_position = {str(label.question.position): label for label in labels}
    for position, spans in row.spans.items():
        label = by_position.get(position)
        if label is None:
            message = f"no question at {quoted_value(position)} is graded here"
            target.problem(source, labels[0].line, "spans", message)
            continue
        try:
            label.spans = spans_from_rows(body, spans)
        except SpanError as error:
            target.problem(source, label.line, f"spans.{position}", str(error))
            continue
        label.quote = ELISION.join(span.file_quote or span.quote for span in label.spans)
        label.offsets = True


def _texts(target: Target, slot: str, names: set[str]) -> dict[str, int]:
    if slot == USUAL:
        return target.passages(names)
    if slot == REFERENCE:
        _create_references(target, names)
    texts = Text.objects.filter(qrels_texts(slot), dataset=target.dataset, name__in=names)
    return dict(texts.values_list("name", "pk"))


def _create_references(target: Target, names: set[str]) -> None:
    """Create reference summaries that are rated but that no file has brought, without body."""
    topics = {f"{topic.name}:report": topic.pk for topic in target.topics.values()}
    existing = Text.objects.filter(
        dataset=target.dataset, kind=Text.Kind.REFERENCE, name__in=names
    ).values_list("name", flat=True)
    created = Text.objects.bulk_create(
        Text(dataset=target.dataset, kind=Text.Kind.REFERENCE, name=name, topic_id=topics[name])
        for name in sorted((names & topics.keys()) - set(existing))
    )
    if created:
        target.summary.created["reference summaries, without their words"] += len(created)


def _line(
    target: Target, source: Source, writer: RatingWriter, line: int, row: JudgementRow, pk: int
) -> list[ImportedGrade]:
    topic = target.topic(source, line, "example_id", row.example_id)
    if not topic:
        return []
    topic = topic.of(len(row.rating))
    if len(row.rating) != len(topic.questions):
        n = len(topic.questions)
        message = f"expected {n_of(n, 'value')}, one a question, not {len(row.rating)}"
        target.problem(source, line, "rating", message)
        return []
    labels = []
    for question, grade in zip(topic.questions, row.rating, strict=True):
        field = f"rating.{question.position}"
        if grade in (None, UNJUDGED):
            reason = Conversion.NO_RATING if grade is None else Conversion.NO_GRADE
            target.summary.mapped[reason] += 1
        elif writer.allows(line, field, grade):
            target.summary.mapped[Conversion.KEPT_JUDGED] += question.filtered
            labels.append(ImportedGrade(line, field, pk, row.pid, question, grade))
    return labels


def lines(dataset: Dataset, rater: Rater, slot: str = USUAL) -> Iterator[str]:
    """Yield a line for each pair of topic and text. `slot` as for qrels."""
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    for text in grades_by_text(dataset, rater, GRADED.slug, qrels_texts(slot)):
        topic = topics[text.topic_id]
        rating = [text.grades.get(question.position) for question in topic.questions]
        line: dict[str, Any] = {"example_id": topic.name, "pid": text.name, "rating": rating}
        if text.spans:
            line["spans"] = {
                str(position): [span_row(span) for span in spans]
                for position, spans in text.spans.items()
            }
        yield json_line(line)

"""ratings*.jsonl: a rating a line, of any rater, rubric and text.

It is the long table as exported. Required keys are rater, rater_kind (or kind), rubric, text, grade
and the question, by its body or its index; and the topic, if the text has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from annotation.formats import long_table
from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.highlights import LocatedSpan, locate_highlight, spans_from_rows
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import RatingRow, SpanRow
from annotation.formats.repeated import one_answer_each
from annotation.formats.storing import ImportedGrade, RatingWriter
from annotation.formats.summary import Conversion, quoted_value
from annotation.formats.target import (
    SUPERSEDED_MESSAGE,
    KnownQuestion,
    KnownTopic,
    Target,
    find_question,
)
from annotation.formats.writing import json_line
from annotation.models import Dataset, NuggetSpan, Rater, Text
from annotation.models.rating import Exposure
from annotation.plurals import n_of
from annotation.text.spans import ELISION, SpanError, from_displayed, from_utf16, validated_span

_BATCH = 4000
_WITH_SPANS = 500  # of these the texts are looked into, and are in memory for as long
_KINDS = [kind for kind in Rater.Kind.values if kind != Rater.Kind.AGGREGATE]  # that is made here
# Of copied grades, copied_grades.jsonl names the texts that were read; exposures.jsonl has what was seen.
_LEFT_OUT = (
    *("dataset", "judge_version", "filtered", "created"),
    *("copied_from_system", "copied_from", "exposure"),
)
Line = tuple[int, RatingRow]
_Key = tuple[str, str, str]  # kind, system, name


@dataclass(slots=True)
class _KnownText:
    pk: int
    topic_id: int | None
    sha256: str


def read(target: Target, source: Source) -> None:
    reader = _Reader(target, source)
    lines = rows(target, source, RatingRow)
    if source.is_of_annotation_tool:
        lines = one_answer_each(target, source, lines)
    for batch in _batches(lines):
        reader.batch(batch)
    if source.is_of_annotation_tool:
        target.n_right += reader.n


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    with_spans = 0
    for line in lines:
        batch.append(line)
        with_spans += bool(line[1].spans)
        if len(batch) >= _BATCH or with_spans >= _WITH_SPANS:
            yield batch
            batch, with_spans = [], 0
    if batch:
        yield batch


class _Reader:
    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.writers: dict[tuple[str, str, str], RatingWriter | None] = {}
        self.topics = {topic.pk: topic for topic in target.topics.values()}
        self._bodies: dict[int, str | None] = {}
        self.n = 0
        """Lines that are no error."""

    def batch(self, batch: Sequence[Line]) -> None:
        batch = [(line, row) for line, row in batch if self._has_topic(line, row)]
        texts = self._texts(batch)
        by_writer: dict[RatingWriter, list[ImportedGrade]] = defaultdict(list)
        for line, row in batch:
            writer = self._writer(line, row)
            grade = row.grade
            if writer and isinstance(grade, tuple):
                grade = writer.grade_of_labels(line, grade)
                if grade is None:
                    continue
            if grade is None:
                self.target.summary.mapped[Conversion.NO_RATING] += 1
                self.n += 1
            elif writer and not isinstance(grade, tuple) and writer.allows(line, "grade", grade):
                label = self._label(line, row, int(grade), texts)
                if label is not None:
                    by_writer[writer].append(label)
                    self._note_source(line, row, writer, label, texts)
                    self.n += 1
        for writer, labels in by_writer.items():
            writer.write(labels)

    def _has_topic(self, line: int, row: RatingRow) -> bool:
        """Return True if the topic is here, or the file is all or nothing.

        An answer that is left out for its topic creates no text.
        """
        if not (self.source.leaves_out and row.topic) or row.topic in self.target.topics:
            return True
        return self.target.topic(self.source, line, "topic", row.topic) is not None

    def _texts(self, batch: Sequence[Line]) -> dict[_Key, _KnownText]:
        """Return the texts that the lines name; missing passages are created without a body.

        So are the reference summaries of topics that lines name.
        """
        names_by_kind: dict[tuple[str, str], set[str]] = defaultdict(set)
        for _, row in batch:
            names_by_kind[row.text_kind, row.system].add(row.text)
            if row.copied_from:
                names_by_kind[row.text_kind, row.copied_from_system].add(row.copied_from)
        texts: dict[_Key, _KnownText] = {}
        for kind, names in names_by_kind.items():
            self._look_up(*kind, names, texts)
            if kind == (Text.Kind.PASSAGE, ""):
                new = {name for name in names if (*kind, name) not in texts}
                self.target.passages(new)
                self._look_up(*kind, new, texts)
            elif kind == (Text.Kind.REFERENCE, ""):
                new = {name for name in names if (*kind, name) not in texts}
                self.target.references(name.removesuffix(":report") for name in new)
                self._look_up(*kind, new, texts)
        self._bodies = self._read_bodies(batch, texts)
        return texts

    def _look_up(
        self, kind: str, system: str, names: set[str], texts: dict[_Key, _KnownText]
    ) -> None:
        # Filter by kind and system, too: the index of names begins with them.
        of_kind = Text.objects.filter(dataset=self.target.dataset, kind=kind, system=system)
        for batch in batches(names, LOOK_UP):
            texts_of_batch = of_kind.filter(name__in=batch)
            for name, pk, topic, sha256 in texts_of_batch.values_list(
                "name", "pk", "topic_id", "sha256"
            ):
                texts[kind, system, name] = _KnownText(pk, topic, sha256)

    def _read_bodies(
        self, batch: Sequence[Line], texts: dict[_Key, _KnownText]
    ) -> dict[int, str | None]:
        """Return the bodies of the texts in which spans are searched for."""
        keys = [(row.text_kind, row.system, row.text) for _, row in batch if row.spans]
        text_ids = {texts[key].pk for key in keys if key in texts}
        return (
            dict(Text.objects.filter(pk__in=text_ids).values_list("pk", "body")) if text_ids else {}
        )

    def _writer(self, line: int, row: RatingRow) -> RatingWriter | None:
        """Return the writer for this rater and rubric; None, with an error noted, if invalid."""
        key = (row.rater, row.rater_kind, row.rubric)
        if key not in self.writers or (self.source.leaves_out and not self.writers[key]):
            # Each answer that is left out is listed with its reason.
            self.writers[key] = self._new_writer(line, row)
        return self.writers[key]

    def _new_writer(self, line: int, row: RatingRow) -> RatingWriter | None:
        rubric = self.target.rubric_called(self.source, line, row.rubric)
        if row.rater_kind not in _KINDS:
            self._problem(line, "rater_kind", _none_of(row.rater_kind, _KINDS))
            return None
        rater = self.target.rater(self.source, line, row.rater, Rater.Kind(row.rater_kind))
        if rater and rater.kind != row.rater_kind:
            message = f"{row.rater} is a {rater.get_kind_display()} already"
            self.target.problem(self.source, line, "rater_kind", message, refuses=True)
            return None
        if not rater or not rubric:
            return None
        return RatingWriter(self.target, self.source, rater, rubric)

    def _label(
        self, line: int, row: RatingRow, grade: int, texts: dict[_Key, _KnownText]
    ) -> ImportedGrade | None:
        """Return the rating of a line; None, with an error noted, for unknown names."""
        text = texts.get((row.text_kind, row.system, row.text))
        if text is None:
            self._no_text(line, row)
            return None
        if row.text_sha256 and text.sha256 and row.text_sha256 != text.sha256:
            self._problem(line, "text_sha256", f"{row.text} has other words in the dataset")
            return None
        topic = self._topic(line, row, text)
        question = topic and self._question(line, row, topic)
        if not question:
            return None
        label = ImportedGrade(line, "grade", text.pk, row.text, question, grade, offsets=True)
        label.exposure = Exposure.from_file_name(row.exposure)
        if row.spans:
            body = self._bodies.get(text.pk)
            try:
                label.spans = self._spans(body, row)
            except SpanError as error:
                self._problem(line, "spans", str(error))
                return None
            label.quote = ELISION.join(span.file_quote or span.quote for span in label.spans)
        return label

    def _note_source(
        self,
        line: int,
        row: RatingRow,
        writer: RatingWriter,
        label: ImportedGrade,
        texts: dict[_Key, _KnownText],
    ) -> None:
        """Note the text whose grade this is, where it was copied."""
        if not row.copied_from:
            return
        read_text = texts.get((row.text_kind, row.copied_from_system, row.copied_from))
        if read_text is None or read_text.pk == label.text_id:
            message = f"{quoted_value(row.copied_from)} is no other text of the dataset"
            self._problem(line, "copied_from", message)
            return
        pair = (writer.rater.pk, writer.rubric.rubric.pk, label.text_id, label.question.pk)
        self.target.copied_from[pair] = read_text.pk

    def _no_text(self, line: int, row: RatingRow) -> None:
        if row.text_kind not in Text.Kind.values:
            self._problem(line, "text_kind", _none_of(row.text_kind, Text.Kind.values))
            return
        of_system = f" of {row.system}" if row.system else ""
        self._problem(
            line, "text", f"the {row.text_kind} {row.text}{of_system} is not in the dataset"
        )

    def _topic(self, line: int, row: RatingRow, text: _KnownText) -> KnownTopic | None:
        if row.topic:
            return self.target.topic(self.source, line, "topic", row.topic)
        if text.topic_id is None:
            self._problem(line, "topic", f"is missing, and {row.text} is of none")
            return None
        return self.topics[text.topic_id]

    def _question(self, line: int, row: RatingRow, topic: KnownTopic) -> KnownQuestion | None:
        """Return the question with this body or index; if both are given they must agree.

        The body may be an earlier wording whose grades still count.
        """
        questions = topic.questions
        if row.question_index is not None:
            if not row.question_index < len(questions):
                message = f"{topic.name} has {n_of(len(questions), 'question')}, counted from 0"
                self._problem(line, "question_index", message)
                return None
            questions = [questions[row.question_index]]
        if row.question is not None:
            body = row.question.strip()
            question = find_question(questions, body)
            if question and question.is_set_aside(body):
                self._problem(line, "question", f"{quoted_value(body)}: {SUPERSEDED_MESSAGE}")
                return None
            self.target.summary.mapped[Conversion.EARLIER] += bool(
                question and question.body != body
            )
            questions = [question] if question else []
        elif row.question_index is None:
            self._problem(line, "question", "is missing, and question_index too")
            return None
        if not questions:
            message = f"{topic.name} does not ask {quoted_value(row.question)}"
            if row.question_index is not None:
                message += f" at {row.question_index}"
            self._problem(line, "question", message)
            return None
        return questions[0]

    def _spans(self, body: str | None, row: RatingRow) -> list[LocatedSpan]:
        if row.text_sha256 and any(span.located for span in row.spans):
            return spans_from_rows(body, row.spans)  # of an export that had the words of the text
        return [located for span in row.spans for located in self._locate(body, span)]

    def _locate(self, body: str | None, span: SpanRow) -> list[LocatedSpan]:
        if self.source.translation is None:
            return _find_stated(body, span)
        located, moved = _find_or_search(body, span, self.source.translation.displayed)
        self.target.summary.mapped[Conversion.MOVED] += moved
        self.target.summary.mapped[Conversion.NOWHERE] += any(
            part.start is None for part in located
        )
        return located

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)


def _find_stated(body: str | None, span: SpanRow) -> list[LocatedSpan]:
    """Return the spans at the stated offsets, else where the quote is found."""
    quote = span.source_quote or span.quote
    if body is None or span.start is None or span.end is None:
        return locate_highlight(body, quote)
    if not span.quote:
        raise SpanError("a span with its place needs its quote")
    checked_span = validated_span(body, span.start, span.end, span.quote)
    located = NuggetSpan.Located.NORMALISED if span.source_quote else NuggetSpan.Located.EXACT
    return [
        LocatedSpan(
            checked_span.start, checked_span.end, checked_span.quote, span.source_quote, located
        )
    ]


def _find_or_search(
    body: str | None, span: SpanRow, displayed_offsets: Callable[[str], Sequence[int]] | None
) -> tuple[list[LocatedSpan], bool]:
    """Locate a span of another tool; return also whether its offsets were wrong.

    Offsets count code points; or displayed characters or UTF-16 units, if the quote is only there.
    Offsets without a quote count displayed characters.
    """
    quote = span.source_quote or span.quote
    if body is None or span.start is None or span.end is None:
        return locate_highlight(body, quote), False
    at = span.start, span.end
    if quote.strip() and body[slice(*at)].split() == quote.split():
        return locate_highlight(body, quote, [at]), False
    displayed = displayed_offsets(body) if displayed_offsets else range(len(body))
    offsets = from_displayed(displayed, *at)
    if not quote.strip():
        return [_exact_span(body, offsets or at, quote)], False
    if offsets and "".join(body[offset] for offset in displayed[slice(*at)]) == quote:
        return [_exact_span(body, offsets)], False
    units = from_utf16(body, *at)
    if units and body[slice(*units)].split() == quote.split():
        return locate_highlight(body, quote, [units]), False
    return locate_highlight(body, quote), True


def _exact_span(body: str, offsets: tuple[int, int], quote: str = "") -> LocatedSpan:
    checked_span = validated_span(body, *offsets, quote or body[slice(*offsets)])
    return LocatedSpan(
        checked_span.start, checked_span.end, checked_span.quote, "", NuggetSpan.Located.EXACT
    )


def _none_of(value: str, values: Sequence[str]) -> str:
    return f"{quoted_value(value)} is none of {', '.join(values)}"


def lines(dataset: Dataset, ratings: Mapping[int, Q]) -> Iterator[str]:
    """Yield the long table of these ratings, by rater, without columns that no import reads."""
    for row in long_table.rows(dataset, ratings):
        yield json_line({name: value for name, value in row.items() if name not in _LEFT_OUT})

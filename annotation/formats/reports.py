"""reports_annotated.jsonl and reports_all.<system>.jsonl: reports and references.

Also filtered questions, which are null. The contexts (`docids`) are retrieval runs, and read by
evaluation.formats.contexts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from django.db.models import QuerySet

from annotation.formats.batches import batches
from annotation.formats.layout import Kind, Source
from annotation.formats.reading import rows
from annotation.formats.records import ReportRow
from annotation.formats.slots import ANNOTATED, HUMAN_EVAL, USUAL, qlabels_texts
from annotation.formats.storing import ImportedText, store_texts
from annotation.formats.summary import Conversion, quoted_value
from annotation.formats.target import KnownQuestion, KnownTopic, Target, topics_of
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, SubQuestion, Text
from annotation.plurals import n_of

NULL_REASON = "null in reports_annotated.jsonl"
NULL_AND_EMPTY = f"{SubQuestion.EMPTY_REASON}; {NULL_REASON}"
_BATCH = 200
SYSTEM = re.compile(r"[\w.+-]{1,120}", re.ASCII)


def read(target: Target, source: Source) -> None:
    reader = _Reader(target, source)
    for batch in batches(rows(target, source, ReportRow), _BATCH):
        reader.batch(batch)


def topic_and_system(
    target: Target, source: Source, line: int, row: ReportRow
) -> tuple[KnownTopic, str] | None:
    """Return the topic and system of a report; None, with an error noted, if unclear.

    An annotated report is named after its context, "bm25_" and the topic. Its `type` says "oracle"
    in every line of the authors' file, so it is used only where the name has no prefix.
    """
    prefix, name = _split(row.qid, target)
    topic = target.topics.get(name)
    if topic is None:
        message = f"{quoted_value(row.qid)} does not end with a topic of the dataset"
        target.problem(source, line, "qid", message)
        return None
    system = ANNOTATED + (prefix or row.type)
    if source.kind is Kind.REPORTS_ALL:
        system = HUMAN_EVAL + source.system
    if not SYSTEM.fullmatch(system) or system == ANNOTATED:
        message = f"{quoted_value(system)} is no name of a system: letters, digits and . _ + -"
        target.problem(source, line, "qid" if prefix else "type", message)
        return None
    return topic, system


def _split(qid: str, target: Target) -> tuple[str, str]:
    """Split an id into a prefix and the longest topic at its end."""
    if qid in target.topics:
        return "", qid
    cuts = [i for i, character in enumerate(qid) if character == "_"]
    cut = next((i for i in cuts if qid[i + 1 :] in target.topics), None)
    return (qid, "") if cut is None else (qid[:cut], qid[cut + 1 :])


class _Reader:
    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.annotated = source.kind is Kind.REPORTS_ANNOTATED

    def batch(self, batch: list[tuple[int, ReportRow]]) -> None:
        reports, references, nulls = [], [], []
        for line, row in batch:
            if not (origin := topic_and_system(self.target, self.source, line, row)):
                continue
            topic, system = origin[0].of(len(row.questions)), origin[1]
            if not self._fits(line, row, topic):
                continue
            if self.annotated:
                self.target.summary.mapped[Conversion.OTHER_TYPE] += (
                    bool(row.type) and system != ANNOTATED + row.type
                )
                nulls += self._new_nulls(line, row, topic)
            reports.append(ImportedText(line, "response", row.qid, row.response, topic.pk, system))
            if row.report is not None:
                name = f"{topic.name}:report"
                references.append(ImportedText(line, "report", name, row.report, topic.pk))
        for question in nulls:
            SubQuestion.objects.filter(pk=question.pk).update(
                filtered_because=question.filtered_because
            )
        self.target.summary.mapped[Conversion.FILTERED] += len(nulls)
        store_texts(self.target, self.source, Text.Kind.REPORT, reports)
        store_texts(self.target, self.source, Text.Kind.REFERENCE, references)

    def _fits(self, line: int, row: ReportRow, topic: KnownTopic) -> bool:
        """Return whether the report repeats its topic's request and questions, as it should."""
        if row.topic.strip() != topic.request.strip():
            self._problem(line, "topic", f"expected the request of {topic.name}")
            return False
        if len(row.questions) != len(topic.questions):
            message = f"expected the {n_of(len(topic.questions), 'question')} of {topic.name}"
            self._problem(line, "questions", f"{message}, not {len(row.questions)}")
            return False
        for i, (body, question) in enumerate(zip(row.questions, topic.questions, strict=True)):
            if body is not None and body.strip() not in (question.body, *question.earlier):
                message = f"expected {quoted_value(question.body)}, not {quoted_value(body)}"
                self._problem(line, f"questions.{i}", message)
                return False
            if body is None and not question.filtered and not self.annotated:
                self._problem(line, f"questions.{i}", "null, but the question is not filtered")
                return False
        return True

    @cached_property
    def _decided(self) -> set[int]:
        """Return the topics whose filtered questions are already known."""
        return set(
            Text.objects.filter(
                dataset=self.target.dataset, kind=Text.Kind.REPORT, system__startswith=ANNOTATED
            ).values_list("topic_id", flat=True)
        ) | {
            topic.pk
            for topic in self.target.topics.values()
            if any(question.is_null and not question.is_whole for question in topic.questions)
        }

    def _new_nulls(self, line: int, row: ReportRow, topic: KnownTopic) -> list[KnownQuestion]:
        """Return the questions that this report's nulls filter; other reports must agree."""
        decided = topic.pk in self._decided
        self._decided.add(topic.pk)
        new = []
        for body, question in zip(row.questions, topic.questions, strict=True):
            if (body is None) == question.is_null:
                continue
            if decided and (
                question.body or question.is_null
            ):  # else its place is empty here or there
                state = "asked" if body is None else "filtered"
                message = f"is {state} in the dataset or in an earlier report of {topic.name}"
                self._problem(line, f"questions.{question.position}", message)
                break
            question.filtered_because = NULL_REASON if question.body else NULL_AND_EMPTY
            new.append(question)
        return new

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)


# The passages that a report was written from: {(system, topic key): names by rank}
Contexts = Mapping[tuple[str, int], Sequence[str]]
_CHUNK = 500


def annotated(dataset: Dataset, contexts: Contexts) -> Iterator[str]:
    """Yield the annotated reports; filtered questions are null."""
    reports = Text.objects.filter(qlabels_texts(USUAL), dataset=dataset)
    return _lines(dataset, reports, contexts, nulls=True)


def of_system(dataset: Dataset, system: str, contexts: Contexts) -> Iterator[str]:
    """Yield the reports of one system human_eval.*; no question is null."""
    reports = Text.objects.filter(dataset=dataset, kind=Text.Kind.REPORT, system=system)
    return _lines(dataset, reports, contexts, nulls=False)


def _lines(
    dataset: Dataset, texts: QuerySet[Text], contexts: Contexts, *, nulls: bool
) -> Iterator[str]:
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    references = dict(
        Text.objects.filter(dataset=dataset, kind=Text.Kind.REFERENCE)
        .with_body()
        .values_list("name", "body")
    )
    reports = texts.filter(body__isnull=False, topic__isnull=False)
    ordered = reports.order_by(
        by_code_point("system"),
        "topic__position",
        by_code_point("topic__name"),
        by_code_point("name"),
    )
    for name, system, topic_id, body in ordered.values_list(
        "name", "system", "topic_id", "body"
    ).iterator(chunk_size=_CHUNK):
        topic = topics[topic_id]
        docids = list(contexts.get((system, topic_id), ()))
        yield json_line(
            {
                "qid": name,
                "topic": topic.request,
                "questions": [
                    None if nulls and question.is_null else question.as_written
                    for question in topic.questions
                ],
                "type": system.removeprefix(ANNOTATED).removeprefix(HUMAN_EVAL),
                "docids": docids,
                "report": references.get(f"{topic.name}:report"),
                "response": body,
                "k": len(docids),
            }
        )

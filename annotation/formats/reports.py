"""reports_annotated.jsonl and reports_all.<system>.jsonl: reports, references, filtered questions.

The contexts (`docids`) are retrieval runs, and read by evaluation.formats.contexts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from django.db.models import QuerySet

from annotation.formats.batches import batches
from annotation.formats.layout import Kind, Source
from annotation.formats.reading import rows
from annotation.formats.records import ReportRow
from annotation.formats.slots import ANNOTATED, HUMAN_EVAL, USUAL, annotated_or
from annotation.formats.storing import Incoming, store
from annotation.formats.summary import Mapped, shown
from annotation.formats.target import KnownQuestion, KnownTopic, Target, topics_of
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, SubQuestion, Text

NULL_REASON = "null in reports_annotated.jsonl"
NULL_AND_EMPTY = f"{SubQuestion.NO_WORDS}; {NULL_REASON}"
_BATCH = 200
SYSTEM = re.compile(r"[\w.+-]{1,120}", re.ASCII)


def read(target: Target, source: Source) -> None:
    reader = _Reader(target, source)
    for batch in batches(rows(target, source, ReportRow), _BATCH):
        reader.batch(batch)


def topic_and_system(
    target: Target, source: Source, line: int, row: ReportRow
) -> tuple[KnownTopic, str] | None:
    """Whose report it is and what wrote it; None, and an error noted, if that cannot be told.

    An annotated report is called after its context, "bm25_" and the topic. Its `type` says
    "oracle" in every line of the authors' file, so it counts only where the name says nothing.
    """
    prefix, name = _split(row.qid, target)
    topic = target.topics.get(name)
    if topic is None:
        message = f"{shown(row.qid)} does not end with a topic of the dataset"
        target.problem(source, line, "qid", message)
        return None
    system = ANNOTATED + (prefix or row.type)
    if source.kind is Kind.REPORTS_ALL:
        system = HUMAN_EVAL + source.system
    if not SYSTEM.fullmatch(system) or system == ANNOTATED:
        message = f"{shown(system)} is no name of a system: letters, digits and . _ + -"
        target.problem(source, line, "qid" if prefix else "type", message)
        return None
    return topic, system


def _split(qid: str, target: Target) -> tuple[str, str]:
    """What stands before the topic, and the longest topic at the end."""
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
                self.target.summary.mapped[Mapped.OTHER_TYPE] += (
                    bool(row.type) and system != ANNOTATED + row.type
                )
                nulls += self._new_nulls(line, row, topic)
            reports.append(Incoming(line, "response", row.qid, row.response, topic.pk, system))
            if row.report is not None:
                name = f"{topic.name}:report"
                references.append(Incoming(line, "report", name, row.report, topic.pk))
        for question in nulls:
            SubQuestion.objects.filter(pk=question.pk).update(
                filtered_because=question.filtered_because
            )
        self.target.summary.mapped[Mapped.FILTERED] += len(nulls)
        store(self.target, self.source, Text.Kind.REPORT, reports)
        store(self.target, self.source, Text.Kind.REFERENCE, references)

    def _fits(self, line: int, row: ReportRow, topic: KnownTopic) -> bool:
        """Whether the report repeats its topic's request and questions, as it should."""
        if row.topic.strip() != topic.request.strip():
            self._problem(line, "topic", f"expected the request of {topic.name}")
            return False
        if len(row.questions) != len(topic.questions):
            message = f"expected the {len(topic.questions)} questions of {topic.name}"
            self._problem(line, "questions", f"{message}, not {len(row.questions)}")
            return False
        for i, (body, known) in enumerate(zip(row.questions, topic.questions, strict=True)):
            if body is not None and body.strip() not in (known.body, *known.earlier):
                message = f"expected {shown(known.body)}, not {shown(body)}"
                self._problem(line, f"questions.{i}", message)
                return False
            if body is None and not known.filtered and not self.annotated:
                self._problem(line, f"questions.{i}", "null, but the question is not filtered")
                return False
        return True

    @cached_property
    def _decided(self) -> set[int]:
        """Topics of which it is known which questions are filtered."""
        return set(
            Text.objects.filter(
                dataset=self.target.dataset, kind=Text.Kind.REPORT, system__startswith=ANNOTATED
            ).values_list("topic_id", flat=True)
        ) | {
            topic.pk
            for topic in self.target.topics.values()
            if any(each.is_null and not each.is_whole for each in topic.questions)
        }

    def _new_nulls(self, line: int, row: ReportRow, topic: KnownTopic) -> list[KnownQuestion]:
        """The questions that this report's nulls filter; the topic's other reports must agree."""
        decided = topic.pk in self._decided
        self._decided.add(topic.pk)
        new = []
        for body, known in zip(row.questions, topic.questions, strict=True):
            if (body is None) == known.is_null:
                continue
            if decided and (known.body or known.is_null):  # else its place is empty here or there
                asked = "asked" if body is None else "filtered"
                message = f"is {asked} in the dataset or in an earlier report of {topic.name}"
                self._problem(line, f"questions.{known.position}", message)
                break
            known.filtered_because = NULL_REASON if known.body else NULL_AND_EMPTY
            new.append(known)
        return new

    def _problem(self, line: int, field: str, message: str) -> None:
        self.target.problem(self.source, line, field, message)


# The passages that a report was written from: {(system, topic key): names by rank}
Contexts = Mapping[tuple[str, int], Sequence[str]]
_CHUNK = 500


def annotated(dataset: Dataset, contexts: Contexts) -> Iterator[str]:
    """The reports that people annotated; filtered questions are null."""
    reports = Text.objects.filter(annotated_or(USUAL), dataset=dataset)
    return _lines(dataset, reports, contexts, nulls=True)


def of_system(dataset: Dataset, system: str, contexts: Contexts) -> Iterator[str]:
    """The reports of one system human_eval.*; no question is null."""
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

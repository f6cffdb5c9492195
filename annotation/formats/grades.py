"""Qrels: relevance grades of a text for a topic as a whole.

Here every rating is of a question. A topic without questions gets its own request as one. A topic
that has other questions gets its request as one more, filtered, so that no coverage counts it.
"""

from collections.abc import Mapping

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import FILTERED, UNJUDGED, GradeRow
from annotation.formats.storing import ImportedGrade, RatingWriter
from annotation.formats.summary import Conversion, ImportSummary
from annotation.formats.target import (
    SUPERSEDED_MESSAGE,
    KnownQuestion,
    KnownRubric,
    KnownTopic,
    Target,
    find_question,
)
from annotation.models import Rater, Rubric, RubricLevel, SubQuestion
from annotation.models.rubric_rules import store_rubric
from annotation.models.standard import UMBRELA

_BATCH = 4000
_QRELS_PREFIX = "qrels-"
_GUIDELINE = """Grades as a qrels file has them, which does not say what they mean.

0 is not relevant; the higher a grade, the more relevant the text is to the request. From 1 on a text
counts as relevant, as it does for trec_eval where that is not told otherwise."""


def read(target: Target, source: Source) -> None:
    is_model = source.rubric == UMBRELA.slug
    kind = Rater.Kind.MODEL if is_model else Rater.Kind.HUMAN
    rubric = _rubric(target, source)
    rater = target.rater(source, 0, source.rater, kind)
    if rubric and rater:
        writer = RatingWriter(target, source, rater, rubric)
        for batch in batches(rows(target, source, GradeRow), _BATCH):
            _write(target, source, writer, batch)


def _rubric(target: Target, source: Source) -> KnownRubric | None:
    if source.rubric.startswith(_QRELS_PREFIX):
        ensure_qrels_rubric(source.rubric, target.summary)
    return target.rubric_called(source, 0, source.rubric)


def ensure_qrels_rubric(slug: str, summary: ImportSummary) -> None:
    """Create the rubric of qrels if missing; `slug` ends in its largest grade, as qrels-1."""
    if not Rubric.objects.filter(slug=slug).exists():
        _create_rubric(slug)
        summary.created["rubrics"] += 1


def _create_rubric(slug: str) -> None:
    """Create the rubric of qrels whose largest grade is at the end of its name."""
    largest = int(slug.removeprefix(_QRELS_PREFIX))
    labels = {grade: f"Relevant, {grade} of {largest}" for grade in range(1, largest + 1)}
    if largest == 1:
        labels = {1: "Relevant"}
    rubric = Rubric(
        slug=slug,
        title=f"Relevance, 0 to {largest}, as in qrels",
        question="How relevant is the text to the request?",
        scale=Rubric.Scale.ORDINAL,
        shows=["text", "question"],
        eta=1,
        guideline=_GUIDELINE,
    )
    levels = {**labels, 0: "Not relevant"}
    store_rubric(rubric, [RubricLevel(grade=grade, label=label) for grade, label in levels.items()])


def _write(
    target: Target, source: Source, writer: RatingWriter, batch: list[tuple[int, GradeRow]]
) -> None:
    """Store the grades of sound lines, which alone create questions and texts."""
    sound = []
    topics: dict[str, KnownTopic] = {}
    for line, row in batch:
        if not (topic := _valid_topic(target, source, line, row.topic)):
            continue
        if row.grade in (UNJUDGED, FILTERED):
            reason = Conversion.UNJUDGED if row.grade == UNJUDGED else Conversion.MINUS_TWO
            target.summary.mapped[reason] += 1
        elif writer.allows(line, "grade", row.grade):
            sound.append((line, row))
        else:
            continue
        topics[topic.name] = topic
    questions = _questions(target, topics)
    texts = target.passages(row.text for _, row in sound)
    writer.write(
        [
            ImportedGrade(line, "grade", texts[row.text], row.text, questions[row.topic], row.grade)
            for line, row in sound
        ]
    )


def _questions(target: Target, topics: Mapping[str, KnownTopic]) -> dict[str, KnownQuestion]:
    """Return the whole-request question by topic name, created if missing."""
    _create_requests(target, [topic for topic in topics.values() if not _request_question(topic)])
    return {
        name: question for name, topic in topics.items() if (question := _request_question(topic))
    }


def _request_question(topic: KnownTopic) -> KnownQuestion | None:
    """Return the topic's question that is its request, or was before an edit."""
    return find_question(topic.questions, topic.request.strip())


def _valid_topic(target: Target, source: Source, line: int, name: str) -> KnownTopic | None:
    topic = target.topic(source, line, "topic", name)
    if topic is None:
        return None
    if not topic.request.strip():
        message = f"topic {name} has no request that its texts could be relevant to"
        target.problem(source, line, "topic", message)
        return None
    if (question := _request_question(topic)) and question.is_set_aside(topic.request.strip()):
        target.problem(source, line, "topic", f"{name}: {SUPERSEDED_MESSAGE}")
        return None
    return topic


def _create_requests(target: Target, topics: list[KnownTopic]) -> None:
    questions = SubQuestion.objects.bulk_create(
        SubQuestion(
            topic_id=topic.pk,
            position=len(topic.questions),
            body=topic.request.strip(),
            filtered_because=SubQuestion.WHOLE if topic.questions else "",
        )
        for topic in topics
    )
    for topic, question in zip(topics, questions, strict=True):
        topic.questions.append(
            KnownQuestion(question.pk, question.position, question.body, question.filtered_because)
        )
    if questions:
        target.summary.created["sub-questions"] += len(questions)

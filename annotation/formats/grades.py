"""Qrels: how relevant a text is to a topic as a whole.

Here every rating is of a question. A topic without any is asked its own request, and the grades are of that. A
topic that has other questions gets its request as one more, filtered, so that no coverage counts it.
"""

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import FILTERED, UNJUDGED, GradeRow
from annotation.formats.storing import Given, RatingWriter
from annotation.formats.summary import Mapped
from annotation.formats.target import (
    SET_ASIDE,
    KnownQuestion,
    KnownRubric,
    KnownTopic,
    Target,
    asked,
)
from annotation.models import Rater, Rubric, RubricLevel, SubQuestion
from annotation.models.rubric_rules import store
from annotation.models.standard import UMBRELA

_BATCH = 4000
_MADE = "qrels-"
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
    if source.rubric.startswith(_MADE) and not Rubric.objects.filter(slug=source.rubric).exists():
        _make(source.rubric)
        target.summary.created["rubrics"] += 1
    return target.rubric_called(source, 0, source.rubric)


def _make(slug: str) -> None:
    """The rubric of qrels whose largest grade is at the end of its name."""
    largest = int(slug.removeprefix(_MADE))
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
    store(rubric, [RubricLevel(grade=grade, label=label) for grade, label in levels.items()])


def _write(
    target: Target, source: Source, writer: RatingWriter, batch: list[tuple[int, GradeRow]]
) -> None:
    texts = target.passages(row.text for _, row in batch if row.grade >= 0)
    questions = _questions(target, source, batch)
    labels = []
    for line, row in batch:
        question = questions.get(row.topic)
        if row.grade in (UNJUDGED, FILTERED):
            which = Mapped.UNJUDGED if row.grade == UNJUDGED else Mapped.MINUS_TWO
            target.summary.mapped[which] += 1
        elif question and writer.allows(line, "grade", row.grade):
            labels.append(Given(line, "grade", texts[row.text], row.text, question, row.grade))
    writer.write(labels)


def _questions(
    target: Target, source: Source, batch: list[tuple[int, GradeRow]]
) -> dict[str, KnownQuestion]:
    """By the topic's name: the question which is its request. It is made where the topic has none."""
    first: dict[str, int] = {}
    for line, row in batch:
        first.setdefault(row.topic, line)
    topics = [
        topic for name, line in first.items() if (topic := _fitting(target, source, line, name))
    ]
    _ask(target, [topic for topic in topics if not _whole(topic)])
    return {topic.name: question for topic in topics if (question := _whole(topic))}


def _whole(topic: KnownTopic) -> KnownQuestion | None:
    """The question of a topic which is its request, or was before it got other words."""
    return asked(topic.questions, topic.request.strip())


def _fitting(target: Target, source: Source, line: int, name: str) -> KnownTopic | None:
    topic = target.topic(source, line, "topic", name)
    if topic is None:
        return None
    if not topic.request.strip():
        message = f"topic {name} has no request that its texts could be relevant to"
        target.problem(source, line, "topic", message)
        return None
    if (whole := _whole(topic)) and whole.is_set_aside(topic.request.strip()):
        target.problem(source, line, "topic", f"{name}: {SET_ASIDE}")
        return None
    return topic


def _ask(target: Target, topics: list[KnownTopic]) -> None:
    made = SubQuestion.objects.bulk_create(
        SubQuestion(
            topic_id=topic.pk,
            position=len(topic.questions),
            body=topic.request.strip(),
            filtered_because=SubQuestion.WHOLE if topic.questions else "",
        )
        for topic in topics
    )
    for topic, new in zip(topics, made, strict=True):
        topic.questions.append(KnownQuestion(new.pk, new.position, new.body, new.filtered_because))
    if made:
        target.summary.created["sub-questions"] += len(made)

"""subquestions.jsonl: {"id": topic, "subquestions": [text, ...]}."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import (
    MAX_QUESTIONS,
    NOT_APPLICABLE,
    AddedQuestionRow,
    SubQuestionsRow,
)
from annotation.formats.reports import NULL_AND_EMPTY, NULL_REASON
from annotation.formats.slots import ANNOTATED
from annotation.formats.summary import Conversion, quoted_value
from annotation.formats.tables.values import normal
from annotation.formats.target import KnownQuestion, KnownTopic, Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, SubQuestion, Text, Topic
from annotation.plurals import n_of
from annotation.text.versions import TextEditError

_BATCH = 200  # topics


def read(target: Target, source: Source) -> None:
    """Read the questions of each topic, stripping white space at their ends.

    Some files kept a line end where a list number was cut off. A question without a body is kept,
    since the positions of grades depend on it, and is filtered.
    """
    for batch in batches(rows(target, source, SubQuestionsRow), _BATCH):
        new: list[SubQuestion] = []
        for line, row in batch:
            topic = target.topic(source, line, "id", row.id)
            if topic and _is_valid(target, source, line, row):
                new += _questions(target, source, line, row, topic)
                target.asked_topics.add(topic.name)
        _store(target, source, new)


def append(target: Target, source: Source) -> None:
    """Add each question after those that its topic has."""
    for line, row in rows(target, source, AddedQuestionRow):
        topic = target.topic(source, line, "id", row.id)
        if topic and _is_new(target, source, line, row.question, topic):
            position = topic.questions[-1].position + 1 if topic.questions else 0
            created = SubQuestion.objects.create(
                topic_id=topic.pk, position=position, body=row.question
            )
            topic.questions.append(KnownQuestion(created.pk, position, row.question, ""))
            target.summary.file(source.name).created += 1
            target.summary.created["sub-questions"] += 1


def _is_new(target: Target, source: Source, line: int, body: str, topic: KnownTopic) -> bool:
    """Return whether a question can be added to the topic; an error is noted if not."""
    duplicate = next(
        (question for question in topic.questions if normal(question.body) == normal(body)), None
    )
    if duplicate:
        message = f"question {duplicate.position + 1} of {topic.name} is this one already"
    elif body == NOT_APPLICABLE:
        message = f"{quoted_value(body)} asks nothing"
    elif len(topic.questions) >= MAX_QUESTIONS:
        message = (
            f"{topic.name} has {MAX_QUESTIONS} questions already, the most that a topic may have"
        )
    else:
        return True
    target.problem(source, line, "question", message)
    return False


def _is_valid(target: Target, source: Source, line: int, row: SubQuestionsRow) -> bool:
    """Return whether a line is valid: distinct questions, known indexes, matching groups."""
    bodies = [body.strip() for body in row.subquestions]
    counts = Counter(filter(None, bodies))
    for i, body in enumerate(bodies):
        if body == NOT_APPLICABLE:
            target.problem(source, line, f"subquestions.{i}", f"{quoted_value(body)} asks nothing")
            return False
        if counts[body] > 1:
            message = f"two questions of the topic are {quoted_value(body)}"
            target.problem(source, line, f"subquestions.{i}", message)
            return False
    indexes = {str(i) for i in range(len(row.subquestions))}
    for index in sorted(row.filtered.keys() - indexes):
        target.problem(source, line, f"filtered.{index}", "no such question")
        return False
    if row.groups and len(row.groups) != len(bodies):
        message = f"one for each of the {len(bodies)} questions, not {len(row.groups)}"
        target.problem(source, line, "groups", message)
        return False
    return True


def _questions(
    target: Target, source: Source, line: int, row: SubQuestionsRow, topic: KnownTopic
) -> list[SubQuestion]:
    """Return the questions to create; none if the topic has them. Errors are noted."""
    bodies = [body.strip() for body in row.subquestions]
    target.summary.mapped[Conversion.STRIPPED] += sum(
        bool(body) and body != raw for body, raw in zip(bodies, row.subquestions, strict=True)
    )
    target.summary.mapped[Conversion.EMPTY_QUESTIONS] += bodies.count("")
    if not topic.questions:
        created = [_question(row, topic, i, body) for i, body in enumerate(bodies)]
        # Stored at once, so that a second line for this topic is checked against the first.
        topic.questions = [
            KnownQuestion(0, i, new.body, new.filtered_because, new.source_body, new.group)
            for i, new in enumerate(created)
        ]
        return created
    refuses = topic.name not in target.asked_topics
    questions = topic.of(len(bodies)).questions
    if len(questions) != len(bodies):
        message = (
            f"topic {row.id} has {n_of(len(questions), 'question')} already, not {len(bodies)}"
        )
        target.problem(source, line, "subquestions", message, refuses=refuses)
    for question, body in zip(questions, bodies, strict=False):
        is_new = question.body != body
        if is_new and target.new_words.may_be_earlier and question.earlier.get(body):
            target.summary.mapped[Conversion.BEFORE_CHANGE] += 1
            is_new = False
        if is_new and not _reword(target, source, line, question, body):
            continue
        target.new_words.tell(SubQuestion, question.pk)
        if str(question.position) in row.filtered and not question.filtered:
            field = f"filtered.{question.position}"
            message = "is there already as a question that is asked"
            target.problem(source, line, field, message, refuses=refuses)
        elif row.groups and question.group != row.groups[question.position]:
            message = f"is there already in the group {quoted_value(question.group)}"
            field = f"groups.{question.position}"
            target.problem(source, line, field, message, refuses=refuses)
        else:
            target.summary.file(source.name).unchanged += not is_new
    return []


def _reword(
    target: Target, source: Source, line: int, stored_question: KnownQuestion, body: str
) -> bool:
    """Edit the question; False, with an error noted, if that is refused."""
    message = f"is there already as {quoted_value(stored_question.body)}, not {quoted_value(body)}"
    # No key: created in this batch. No body: there is nothing to edit.
    if stored_question.pk and stored_question.body and body:
        stored = SubQuestion.objects.select_related("topic__dataset__project").get(
            pk=stored_question.pk
        )
        try:
            target.new_words.give(stored, body, f"{source.name}, line {line}")
        except TextEditError as refused:
            message = f"{message}: {refused}"
        else:
            stored_question.reword(body, counts=target.new_words.counts)
            return True
    field = f"subquestions.{stored_question.position}"
    refuses = not target.new_words.is_in_files(SubQuestion, stored_question.pk)
    target.problem(source, line, field, message, refuses=refuses)
    return False


def _question(row: SubQuestionsRow, topic: KnownTopic, index: int, body: str) -> SubQuestion:
    filtered = row.filtered.get(str(index))
    because = filtered.because if filtered else ""
    raw = row.subquestions[index]
    return SubQuestion(
        topic_id=topic.pk,
        position=index,
        body=body,
        source_body=raw if raw != body else "",
        filtered_because=because or ("" if body else SubQuestion.EMPTY_REASON),
        filtered_eta=filtered.eta if filtered else None,
        group=row.groups[index] if row.groups else "",
    )


def _store(target: Target, source: Source, new: list[SubQuestion]) -> None:
    if target.problems:
        return
    created = SubQuestion.objects.bulk_create(new)
    by_topic = {topic.pk: topic for topic in target.topics.values()}
    for question in created:
        by_topic[question.topic_id].questions[question.position].pk = question.pk
    target.summary.file(source.name).created += len(created)
    target.summary.created["sub-questions"] += len(created)


def lines(dataset: Dataset) -> Iterator[str]:
    """Yield the questions of each topic that has any.

    `filtered` states the reason of a filtered question, if it is more than the null that stands for
    it in the annotated reports of its topic, or than its empty body.
    """
    annotated = set(
        Text.objects.filter(
            dataset=dataset, kind=Text.Kind.REPORT, system__startswith=ANNOTATED
        ).values_list("topic_id", flat=True)
    )
    topics = Topic.objects.filter(dataset=dataset).order_by("position", by_code_point("name"))
    for topic in topics.prefetch_related("questions"):
        questions = sorted(topic.questions.all(), key=lambda question: question.position)
        if questions:
            line: dict[str, Any] = {
                "id": topic.name,
                "subquestions": [question.source_body or question.body for question in questions],
            }
            if filtered := _filtered(questions, topic.pk in annotated):
                line["filtered"] = filtered
            if any(question.group for question in questions):
                line["groups"] = [question.group for question in questions]
            yield json_line(line)


def _filtered(questions: list[SubQuestion], annotated: bool) -> dict[str, Any]:
    # An empty body needs no stated reason.
    filtered = [
        question
        for question in questions
        if question.filtered_because not in ("", SubQuestion.EMPTY_REASON)
    ]
    if annotated and all(
        question.filtered_because in (NULL_REASON, NULL_AND_EMPTY) and question.filtered_eta is None
        for question in filtered
    ):
        return {}
    return {
        str(question.position): {
            "because": question.filtered_because,
            **({"eta": question.filtered_eta} if question.filtered_eta is not None else {}),
        }
        for question in filtered
    }

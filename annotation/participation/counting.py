"""Which answers count, that is, become ratings: the newest of an item that its participant holds or handed in.

Answers are never changed or deleted; their `late` says why they do not count.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Item,
    ItemQuestion,
    Rating,
    Text,
)
from annotation.text.carrying import Worded, lock_wordings, says, spans_now
from annotation.text.versions import as_now

Pair = tuple[int, int, int, int]  # keys of rater, rubric, text and question


def count(answer: Answer, campaign: Campaign) -> None:
    """Let an answer that is given now be the rating of its pair, if there is to be one."""
    is_training = answer.assignment.item.purpose == Item.Purpose.TRAINING
    if not answer.question_id or campaign.is_pilot or is_training:
        return
    Rating.objects.record(
        rater=answer.assignment.participant.rater_id,
        rubric=answer.rubric_id or campaign.rubric_id,
        text=answer.assignment.item.text_id,
        question=answer.question_id,
        grade=answer.grade,
        spans=answer.spans,
    )


def _spans(answer: Answer) -> list[dict[str, Any]] | None:
    """The spans of an answer in the words of now; None where grades of the words it is to are set aside.

    That may be so in a campaign that is open, too: its words were others while it was closed, and are back.
    """
    asked = ItemQuestion.objects.select_related("item__text", "question")
    shown = asked.get(item=answer.assignment.item, question=answer.question_id)
    spans = as_now(shown, answer.spans, answer.created)
    if spans is None or answer.rated_spans is None:
        return spans
    return spans_now(shown.item.text, **answer.rated_spans)


def count_again(assignment: Assignment, because: Answer.Late | None = None) -> None:
    """Let the newest answers count that did not. In a transaction.

    With `because` those alone that counted until this reason came. What the same rater said later of the same
    pair in another study stays their rating.
    """
    answers = Answer.objects.filter(assignment=assignment)
    if because:
        answers = answers.filter(late=because)
    elif not answers.exclude(late=Answer.Late.NO).exists():
        return
    newest = {
        (answer.question_id, answer.check_asked_id, answer.rubric_id): answer
        for answer in answers.order_by("id")
    }
    late = Answer.objects.filter(pk__in=[answer.pk for answer in newest.values() if answer.late])
    _set_late(late, Answer.Late.NO)


def withdraw(assignments: Iterable[int], why: Answer.Late = Answer.Late.TAKEN_BACK) -> None:
    """Let no answer to these items count any more: others may take their places. In a transaction.

    Where the same rater said something of the same pair in another study, that counts again.
    """
    _set_late(Answer.objects.filter(assignment__in=assignments, late=Answer.Late.NO), why)


def _set_late(answers: QuerySet[Answer], late: Answer.Late) -> None:
    """Let answers count or count no more, and make the ratings of their pairs what the newest then say.

    A rating whose newest answer is the same as before stays as it is: a person may have placed its spans.
    """
    pairs = set(_pairs(_for_ratings(answers).filter(question__isnull=False)))
    lock_wordings({pair[2] for pair in pairs}, {pair[3] for pair in pairs})
    before = _newest_of(pairs)
    answers.update(late=late)
    after = _newest_of(pairs)
    for pair in pairs:
        answer = before.get(pair)
        if answer == after.get(pair):
            continue
        if answer:
            _keep_rated_spans(pair, answer)
        _bring_in_line(pair, after.get(pair))


def _newest_of(pairs: set[Pair]) -> dict[Pair, Answer]:
    """The newest answer of each of these pairs, of whichever study, of those that count."""
    if not pairs:
        return {}
    return _newest(
        Answer.objects.filter(
            assignment__participant__rater__in={pair[0] for pair in pairs},
            assignment__item__text__in={pair[2] for pair in pairs},
            question__isnull=False,
        )
    )


def _keep_rated_spans(pair: Pair, answer: Answer) -> None:
    """Note with an answer the spans that its rating has on an edited text.

    Made anew from the answer, the rating would have no position that a person gave to a span by hand.
    """
    rating = _rating(pair)
    if rating and says(rating, answer.grade, answer.spans) and rating.text.versions.exists():
        spans = [span.position_fields() for span in rating.spans.all()]
        kept = {"spans": spans, "text_sha256": rating.text.sha256}
        Answer.objects.filter(pk=answer.pk).update(rated_spans=kept)


def level(thing: Worded) -> None:
    """Let the ratings of a text, or under a question, be those that people's answers make. In a transaction.

    For after another choice about grades of earlier words: meanwhile, staff may have let somebody's answers
    count, or count no more, and people may have taken some back. A rating that says what it is to say stays
    as it is.
    """
    path = "assignment__item__text" if isinstance(thing, Text) else "question"
    answers = Answer.objects.filter(**{path: thing}, question__isnull=False)
    newest = _newest(answers)
    for pair in set(_pairs(_for_ratings(answers))):
        answer = newest.get(pair)
        if not (answer and _spans(answer) is not None and _is_rated(pair, answer)):
            _bring_in_line(pair, answer)


def _bring_in_line(pair: Pair, answer: Answer | None) -> None:
    """Make the rating of a pair what its newest answer says; none where there is none that counts."""
    spans = _spans(answer) if answer else None
    rater, rubric, text, question = pair
    Rating.objects.record(
        rater=rater,
        rubric=rubric,
        text=text,
        question=question,
        grade=answer.grade if answer and spans is not None else None,
        spans=spans or (),
        said=answer.created if answer else None,
    )


def _newest(answers: QuerySet[Answer]) -> dict[Pair, Answer]:
    """The newest answer of each pair, of those that count."""
    counted = _for_ratings(answers).filter(late=Answer.Late.NO).order_by("id")
    counted = counted.select_related("assignment__item", "assignment__participant__campaign")
    return dict(zip(_pairs(counted), counted, strict=True))


def _for_ratings(answers: QuerySet[Answer]) -> QuerySet[Answer]:
    """Those that become ratings, if they count: none of pilots, and none to practise on."""
    return answers.filter(assignment__participant__campaign__is_pilot=False).exclude(
        assignment__item__purpose=Item.Purpose.TRAINING
    )


def _is_rated(pair: Pair, answer: Answer) -> bool:
    return says(_rating(pair), answer.grade, answer.spans)


def _rating(pair: Pair) -> Rating | None:
    rater, rubric, text, question = pair
    return Rating.objects.filter(rater=rater, rubric=rubric, text=text, question=question).first()


def _pairs(answers: QuerySet[Answer]) -> list[Pair]:
    return list(
        answers.values_list(
            "assignment__participant__rater_id",
            Coalesce("rubric_id", "assignment__participant__campaign__rubric_id"),
            "assignment__item__text_id",
            "question_id",
        )
    )

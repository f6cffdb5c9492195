"""Which answers count, that is, become ratings: the newest of an item that its participant holds or handed in.

Answers are never changed or deleted; their `late` says why they do not count.
"""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from annotation.models import Answer, Assignment, Campaign, Item, Rating

Pair = tuple[int, int, int, int]  # keys of rater, rubric, text and question


def count(answer: Answer, campaign: Campaign) -> None:
    """Bring the rating of the answered pair in line with the newest answer, if there is to be one."""
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


def count_again(assignment: Assignment, because: Answer.Late | None = None) -> None:
    """Let the newest answers count that did not. In a transaction.

    With `because` those alone that counted until this reason came.
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
    late = [answer for answer in newest.values() if answer.late]
    for answer in late:
        answer.assignment = assignment  # with what is known of its item and campaign
        count(answer, assignment.participant.campaign)
    answers.filter(pk__in=[answer.pk for answer in late]).update(late=Answer.Late.NO)


def withdraw(assignments: Iterable[int], why: Answer.Late = Answer.Late.TAKEN_BACK) -> None:
    """Let no answer to these items count any more: others may take their places. In a transaction.

    Where the same rater said something of the same pair in another study, that counts again.
    """
    counted = Answer.objects.filter(assignment__in=assignments, late=Answer.Late.NO)
    pairs = set(_pairs(counted.filter(question__isnull=False)))
    counted.update(late=why)
    if not pairs:
        return
    elsewhere = Answer.objects.filter(
        late=Answer.Late.NO,
        assignment__participant__campaign__is_pilot=False,
        assignment__participant__rater__in={pair[0] for pair in pairs},
        assignment__item__text__in={pair[2] for pair in pairs},
        question__isnull=False,
    ).exclude(assignment__item__purpose=Item.Purpose.TRAINING)
    in_order = elsewhere.order_by("id")
    newest = dict(zip(_pairs(in_order), in_order, strict=True))
    for pair in pairs:
        answer = newest.get(pair)
        rater, rubric, text, question = pair
        Rating.objects.record(
            rater=rater,
            rubric=rubric,
            text=text,
            question=question,
            grade=answer.grade if answer else None,
            spans=answer.spans if answer else (),
        )


def _pairs(answers: QuerySet[Answer]) -> list[Pair]:
    return list(
        answers.values_list(
            "assignment__participant__rater_id",
            Coalesce("rubric_id", "assignment__participant__campaign__rubric_id"),
            "assignment__item__text_id",
            "question_id",
        )
    )

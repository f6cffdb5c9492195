"""Reasons for the correct answers of training and gold items, kept by later draws."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction

from annotation.models import Campaign, Item, ItemQuestion, Rubric

Reasons = dict[tuple[int, int, str], tuple[int, str]]  # grade and reason by `ExpectedAnswer.key`
LABELLED = (Item.Purpose.TRAINING, Item.Purpose.GOLD)


@dataclass(frozen=True)
class ExpectedAnswer:
    """Correct answer of a question of an item under one rubric, with its reason."""

    item_question: ItemQuestion
    rubric: Rubric
    is_further: bool
    grade: int
    reason: str

    @property
    def key(self) -> tuple[int, int, str]:
        """Text, question and rubric: the same when the draft is drawn again."""
        return self.item_question.item.text_id, self.item_question.question_id, self.rubric.slug


def expected_answers(campaign: Campaign, *purposes: Item.Purpose) -> Iterator[ExpectedAnswer]:
    """Yield the correct answers of the items of these purposes, in their order."""
    rows = ItemQuestion.objects.filter(item__campaign=campaign, item__purpose__in=purposes)
    rubrics = campaign.rubrics()
    for row in rows.select_related("item__text", "question").order_by("item__position", "position"):
        for rubric in rubrics:
            is_further = rubric is not rubrics[0]
            expected = row.further.get(rubric.slug, {})
            grade = expected.get("expected") if is_further else row.expected
            reason = expected.get("expected_reason", "") if is_further else row.expected_reason
            if grade is not None:
                yield ExpectedAnswer(row, rubric, is_further, grade, reason)


def stored_reasons(campaign: Campaign) -> Reasons:
    """Return the reasons of a campaign that are not empty."""
    answers = expected_answers(campaign, *LABELLED)
    return {answer.key: (answer.grade, answer.reason) for answer in answers if answer.reason}


def restore_reasons(campaign: Campaign, reasons: Reasons) -> None:
    """Store reasons again after a draw, where the correct answer is the same as before."""
    if reasons:
        save_reasons(
            {
                answer: reasons[answer.key][1]
                for answer in expected_answers(campaign, *LABELLED)
                if reasons.get(answer.key, (None,))[0] == answer.grade
            }
        )


def save_reasons(reasons: Mapping[ExpectedAnswer, str]) -> None:
    """Store the reasons of correct answers of a draft."""
    with transaction.atomic():
        locked = ItemQuestion.objects.select_for_update()
        rows = locked.in_bulk([answer.item_question.pk for answer in reasons])
        for answer, reason in reasons.items():
            row = rows[answer.item_question.pk]
            if answer.is_further:
                row.further[answer.rubric.slug]["expected_reason"] = reason
            else:
                row.expected_reason = reason
        ItemQuestion.objects.bulk_update(rows.values(), ["expected_reason", "further"])

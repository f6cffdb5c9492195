"""What a rater has in hand: an item's questions, the answers so far, and what is still missing."""

from dataclasses import dataclass, field
from typing import Any

from annotation.models import Answer, Assignment, Rubric, SubQuestion

MARKS = 8  # hues and line styles; the question's number, beside the mark, never repeats


@dataclass
class Asked:
    """A question of an item, with this rater's answer. Spans are dicts of start, end, quote."""

    number: int
    question: SubQuestion
    span_from: int
    grade: int | None = None
    spans: list[dict[str, Any]] = field(default_factory=list)

    @property
    def mark(self) -> int:
        return (self.number - 1) % MARKS + 1

    @property
    def state(self) -> str:
        """open, absent (no evidence asked for), needs-span, or answered."""
        if self.grade is None:
            return "open"
        if self.grade < self.span_from:
            return "absent"
        return "answered" if self.spans else "needs-span"

    @property
    def is_done(self) -> bool:
        return self.state in ("answered", "absent")


def asked_of(assignment: Assignment, rubric: Rubric) -> list[Asked]:
    """The frozen questions of an item in order, each with its newest answer.

    The answers are read, not the ratings: words that were marked before a grade was chosen are an
    answer already, and no rating yet.
    """
    newest = {
        answer.question_id: answer
        for answer in Answer.objects.filter(assignment=assignment).order_by("id")
    }
    asked = []
    for frozen in assignment.item.asked.select_related("question"):
        answer = newest.get(frozen.question_id)
        asked.append(
            Asked(
                number=frozen.position + 1,
                question=frozen.question,
                span_from=rubric.span_from,
                grade=answer.grade if answer else None,
                spans=answer.spans if answer else [],
            )
        )
    return asked

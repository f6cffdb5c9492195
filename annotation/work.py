"""What a rater has in hand: an item's questions with the answers so far, and what is still missing."""

from dataclasses import dataclass, field

from annotation.models import Assignment, NuggetSpan, Rating, Rubric, SubQuestion

MARKS = 8  # hues and line styles; the question's number, beside the mark, never repeats


@dataclass
class Asked:
    """A question of an item, with this rater's answer."""

    number: int
    question: SubQuestion
    span_from: int
    grade: int | None = None
    spans: list[NuggetSpan] = field(default_factory=list)

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

    @property
    def span_data(self) -> list[dict[str, object]]:
        return [{"start": s.start, "end": s.end, "quote": s.quote} for s in self.spans]


def asked_of(assignment: Assignment, rubric: Rubric) -> list[Asked]:
    """The frozen questions of an item in order, with the answers of the assignment's rater."""
    ratings = {
        rating.question_id: rating
        for rating in Rating.objects.filter(
            rater=assignment.participant.rater_id, rubric=rubric, text=assignment.item.text_id
        ).prefetch_related("spans")
    }
    asked = []
    for frozen in assignment.item.asked.select_related("question"):
        rating = ratings.get(frozen.question_id)
        asked.append(
            Asked(
                number=frozen.position + 1,
                question=frozen.question,
                span_from=rubric.span_from,
                grade=rating.grade if rating else None,
                spans=list(rating.spans.all()) if rating else [],
            )
        )
    return asked

"""Question card of the item page: a question under one rubric, with the rater's answer."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.urls import reverse

from annotation.models import Answer, AttentionCheck, Rubric, SubQuestion
from annotation.task.forms import selected_options
from annotation.text.spans import Span


class AnswerSummary(NamedTuple):
    """An answer as text, for comparison with another one."""

    grade: str
    quotes: tuple[str, ...]
    note: str
    confidence: str


class AnswerConflict(NamedTuple):
    """A sent answer beside a newer one that its page did not know."""

    sent: AnswerSummary
    stored: AnswerSummary
    stored_at: datetime


@dataclass(frozen=True)
class RefusedForm:
    """Values of a refused form of a page without scripts, and the reason.

    The page displays them again.
    """

    problem: str
    base: str
    grade: str
    ticked: tuple[Span, ...]
    quotes: str
    conflict: AnswerConflict | None = None


@dataclass
class QuestionCard:
    """Question card of an item under a rubric, with this rater's answer.

    Spans are dicts of start, end, quote. An attention check is among the questions of some items;
    it asks for no spans.
    """

    assignment_id: int
    number: str
    mark: int
    question: SubQuestion | AttentionCheck
    rubric: Rubric
    is_further: bool = False  # whether its rubric is a further one of the campaign
    repeats_question: bool = False  # whether a card above it shows the same question
    grade: int | None = None
    spans: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""
    confidence: str = ""
    key: str = ""  # of the newest answer, which the next one replaces knowingly
    answer: list[str] = field(default_factory=list)  # of the pair, where the rubric shows one
    expected: int | None = None
    expected_spans: list[dict[str, Any]] = field(default_factory=list)
    expected_reason: str = ""
    refused: RefusedForm | None = None
    # By own grade and number of another card of the question: its grades that are impossible then.
    impossible: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    contradicts: "list[QuestionCard]" = field(default_factory=list, compare=False, repr=False)
    explained_cards: "list[QuestionCard]" = field(default_factory=list, compare=False, repr=False)
    """Cards with an impossible grade: not explained, and explained in the note of this one."""

    @property
    def answer_key(self) -> tuple[int | None, int | None, int | None]:
        """Question, attention check and further rubric of its answers; the last two may be None."""
        question = (None, self.question.pk) if self.is_check else (self.question.pk, None)
        return (*question, self.rubric.pk if self.is_further else None)

    def excludes(self, other_card: "QuestionCard") -> list[int]:
        """Return grades of another card that are impossible beside the grade of this one."""
        if self.grade is None:
            return []
        return self.impossible.get(self.grade, {}).get(other_card.number, [])

    @property
    def chosen(self) -> str:
        """Grade that is selected in its form."""
        if self.refused:
            return self.refused.grade
        return "" if self.grade is None else str(self.grade)

    @property
    def chosen_options(self) -> set[str]:
        """Values of the options that are selected in its form; several of a multi-label rubric."""
        return selected_options(self.chosen, self.rubric)

    @property
    def base(self) -> str:
        """Key of the newest answer that its form knows; a refused one knows no newer than before."""
        return self.refused.base if self.refused else self.key

    @property
    def boxes(self) -> list[tuple[str, str, bool]]:
        """Quote and position of each span, and whether its checkbox is ticked.

        A refused form can have ticks of spans that are no longer stored.
        """
        stored = {(span["start"], span["end"]): span["quote"] for span in self.spans}
        ticked = stored
        if self.refused:
            ticked = {(span.start, span.end): span.quote for span in self.refused.ticked}
        return [
            (quote, f"{start}:{end}", (start, end) in ticked)
            for (start, end), quote in sorted((stored | ticked).items())
        ]

    @property
    def is_check(self) -> bool:
        return isinstance(self.question, AttentionCheck)

    @property
    def confidence_choices(self) -> list[tuple[str, Any]]:
        return Answer.Confidence.choices

    @property
    def takes_spans(self) -> bool:
        return self.rubric.span_from is not None and not self.is_check

    @property
    def shows_question(self) -> bool:
        """Return whether the card displays the question's own text, too.

        Else the question of the rubric is displayed alone.
        """
        return self.is_check or self.rubric.shows_question

    @property
    def url(self) -> str:
        """URL to which its answers are sent."""
        name = "check_answer" if self.is_check else "answer"
        return reverse(name, args=[self.assignment_id, *self.url_arguments])

    @property
    def url_arguments(self) -> list[Any]:
        """URL arguments of the card: its question, and the rubric's slug for a further rubric."""
        return [self.question.pk, *([self.rubric.slug] if self.is_further else [])]

    @property
    def state(self) -> str:
        """open, absent (no evidence asked for), needs-span, contradicts, or answered."""
        if self.grade is None:
            return "open"
        needs_spans = not self.is_check and self.rubric.needs_spans(self.grade)
        if needs_spans and not self.spans:
            return "needs-span"
        if self.contradicts:
            return "contradicts"
        return "answered" if needs_spans else "absent"

    @property
    def is_done(self) -> bool:
        return self.state in ("answered", "absent")

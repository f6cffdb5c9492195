"""The item page: its questions, the answers so far, and all that the page shows of it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Campaign,
    Rubric,
    SubQuestion,
    Text,
)
from annotation.models.wording import shown

MARKS = 8  # hues and line styles; the question's number, beside the mark, never repeats


@dataclass
class Asked:
    """A question of an item, with this rater's answer. Spans are dicts of start, end, quote.

    An attention check stands among the questions of some items; it asks for no spans.
    """

    assignment_id: int
    number: int
    question: SubQuestion | AttentionCheck
    rubric: Rubric
    grade: int | None = None
    spans: list[dict[str, Any]] = field(default_factory=list)
    key: str = ""  # of the newest answer, which the next one replaces knowingly
    expected: int | None = None
    expected_spans: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_check(self) -> bool:
        return isinstance(self.question, AttentionCheck)

    @property
    def url(self) -> str:
        """Where its answers are sent."""
        name = "check_answer" if self.is_check else "answer"
        return reverse(name, args=[self.assignment_id, self.question.pk])

    @property
    def mark(self) -> int:
        return (self.number - 1) % MARKS + 1

    @property
    def state(self) -> str:
        """open, absent (no evidence asked for), needs-span, or answered."""
        if self.grade is None:
            return "open"
        if self.is_check or not self.rubric.rests_on_words(self.grade):
            return "absent"
        return "answered" if self.spans else "needs-span"

    @property
    def is_done(self) -> bool:
        return self.state in ("answered", "absent")


def asked_of(assignment: Assignment, rubric: Rubric) -> list[Asked]:
    """The frozen questions of an item in order, each with its newest answer.

    The answers are read, not the ratings: words that were marked before a grade was chosen are an
    answer already, and no rating yet. An attention check takes a steady place of its own.
    """
    newest = {
        (answer.question_id, answer.check_asked_id): answer
        for answer in Answer.objects.filter(assignment=assignment).order_by("id")
    }
    rows: list[tuple[SubQuestion | AttentionCheck, int | None, list[dict[str, Any]]]] = [
        (frozen.question, frozen.expected, frozen.expected_spans)
        for frozen in assignment.item.asked.select_related("question")
    ]
    if check := assignment.check_asked:
        place = random.Random(assignment.pk)  # noqa: S311 - the same place at every visit
        rows.insert(place.randint(0, len(rows)), (check, None, []))
    asked = []
    for number, (question, expected, spans) in enumerate(rows, start=1):
        is_check = isinstance(question, AttentionCheck)
        answer = newest.get((None, question.pk) if is_check else (question.pk, None))
        asked.append(
            Asked(
                assignment_id=assignment.pk,
                number=number,
                question=question,
                rubric=rubric,
                grade=answer.grade if answer else None,
                spans=answer.spans if answer else [],
                key=str(answer.key) if answer else "",
                expected=expected,
                expected_spans=spans,
            )
        )
    return asked


@dataclass(frozen=True)
class Links:
    """Where the controls of the page lead. No previous item: an empty address."""

    home: str
    submit: str
    skip: str
    state: str
    previous: str = ""


def links_of(assignment: Assignment, previous: int | None) -> Links:
    """Those of an item that is in somebody's hand."""
    return Links(
        home=reverse("work_campaign", args=[assignment.participant.campaign.slug]),
        submit=reverse("submit", args=[assignment.pk]),
        skip=reverse("skip", args=[assignment.pk]),
        state=reverse("work_state", args=[assignment.pk]),
        previous=reverse("work", args=[previous]) if previous else "",
    )


def page_context(
    campaign: Campaign,
    text: Text,
    asked: Sequence[Asked],
    links: Links,
    *,
    place: int,
    of: int,
    is_practice: bool = False,
    missing: Sequence[Asked] = (),
) -> dict[str, Any]:
    """The context of templates/annotation/task/work.html for the item at a place (from 1) among others."""
    if text.body is None:
        raise Http404("The words of this text are not here.")
    words = shown(campaign, text.kind)
    return {
        "campaign": campaign,
        "rubric": campaign.rubric,
        "text": text,
        "text_label": _("Text of the %(kind)s") % {"kind": text.get_kind_display()},
        "asked": asked,
        "keys": {card.number: uuid4() for card in asked},
        "words": words,
        "is_binary": len(words.levels) == 2,
        "active": next((card.number for card in asked if not card.is_done), 1),
        "done": sum(card.is_done for card in asked),
        "missing": missing,
        "place": place,
        "of": of,
        "is_practice": is_practice,
        "links": links,
        "is_closed": not campaign.counts_answers(),
        "marks": [
            {"start": s["start"], "end": s["end"], "mark": card.mark, "label": card.number}
            for card in asked
            for s in card.spans
        ],
    }

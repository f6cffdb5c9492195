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
    ItemQuestion,
    Rubric,
    SubQuestion,
    Text,
)
from annotation.models.wording import Wording, shown

LETTERS = "abcd"  # of the rubrics of one question
MARKS = 8  # hues and line styles; the question's number, beside the mark, never repeats
Frozen = ItemQuestion | AttentionCheck


@dataclass(frozen=True)
class RefusedForm:
    """Values of a refused form of a page without scripts, and the reason; the page shows them again."""

    problem: str
    grade: str
    kept: tuple[str, ...]  # places of spans, "start:end"
    quotes: str


@dataclass
class Asked:
    """A question of an item under a rubric, with this rater's answer. Spans are dicts of start, end, quote.

    An attention check stands among the questions of some items; it asks for no spans.
    """

    assignment_id: int
    number: str
    mark: int
    question: SubQuestion | AttentionCheck
    rubric: Rubric
    is_further: bool = False  # whether its rubric is a further one of the campaign
    grade: int | None = None
    spans: list[dict[str, Any]] = field(default_factory=list)
    key: str = ""  # of the newest answer, which the next one replaces knowingly
    answer: list[str] = field(default_factory=list)  # of the pair, where the rubric shows one
    expected: int | None = None
    expected_spans: list[dict[str, Any]] = field(default_factory=list)
    refused: RefusedForm | None = None

    @property
    def chosen(self) -> str:
        """The grade that its form shows as chosen."""
        if self.refused:
            return self.refused.grade
        return "" if self.grade is None else str(self.grade)

    @property
    def boxes(self) -> list[tuple[dict[str, Any], str, bool]]:
        """Each span with its place, and whether it is to be kept."""
        places = [(span, f"{span['start']}:{span['end']}") for span in self.spans]
        return [
            (span, place, not self.refused or place in self.refused.kept) for span, place in places
        ]

    @property
    def is_check(self) -> bool:
        return isinstance(self.question, AttentionCheck)

    @property
    def takes_spans(self) -> bool:
        return self.rubric.span_from is not None and not self.is_check

    @property
    def shows_question(self) -> bool:
        """Whether its own words stand on its card; else what the rubric asks stands there alone."""
        return self.is_check or self.rubric.shows_question

    @property
    def url(self) -> str:
        """Where its answers are sent."""
        name = "check_answer" if self.is_check else "answer"
        return reverse(name, args=[self.assignment_id, *self.place])

    @property
    def place(self) -> list[Any]:
        """What names it in an address: its question, and the rubric where that is a further one."""
        return [self.question.pk, *([self.rubric.slug] if self.is_further else [])]

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


def asked_of(assignment: Assignment) -> list[Asked]:
    """The frozen questions of an item in order, each under each rubric, with its newest answer.

    The answers are read, not the ratings: words that were marked before a grade was chosen are an
    answer already, and no rating yet. An attention check takes a steady place of its own.
    """
    newest = {
        (answer.question_id, answer.check_asked_id, answer.rubric_id): answer
        for answer in Answer.objects.filter(assignment=assignment).order_by("id")
    }
    rows: list[Frozen] = list(assignment.item.asked.select_related("question"))
    if check := assignment.check_asked:
        place = random.Random(assignment.pk)  # noqa: S311 - the same place at every visit
        rows.insert(place.randint(0, len(rows)), check)
    rubrics = assignment.participant.campaign.rubrics()
    asked = [Asked(assignment.pk, **about) for about in cards(rows, rubrics)]
    for card in asked:
        question = (None, card.question.pk) if card.is_check else (card.question.pk, None)
        answer = newest.get((*question, card.rubric.pk if card.is_further else None))
        if answer:
            card.grade, card.spans, card.key = answer.grade, answer.spans, str(answer.key)
    return asked


def cards(rows: Sequence[Frozen], rubrics: Sequence[Rubric]) -> list[dict[str, Any]]:
    """What is known of each question of an item beside its answer, as the fields of an Asked.

    Under several rubrics a question has a card for each: 2a, 2b. The first rubric is the campaign's
    own, under which attention checks are asked.
    """
    made: list[dict[str, Any]] = []
    for number, row in enumerate(rows, start=1):
        is_check = isinstance(row, AttentionCheck)
        for letter, rubric in zip(LETTERS, rubrics[:1] if is_check else rubrics, strict=False):
            is_further = rubric is not rubrics[0]
            about = {
                "number": f"{number}{letter}" if len(rubrics) > 1 and not is_check else f"{number}",
                "mark": len(made) % MARKS + 1,
                "rubric": rubric,
                "is_further": is_further,
            }
            if isinstance(row, AttentionCheck):
                made.append({**about, "question": row})
                continue
            own = {"expected": row.expected, "expected_spans": row.expected_spans}
            expected = row.further.get(rubric.slug, {}) if is_further else own
            answer = row.answer if rubric.shows_answer else []
            made.append({**about, "question": row.as_shown(), "answer": answer, **expected})
    return made


@dataclass(frozen=True)
class Choice:
    """A level as it is chosen: its grade and its words, the key that is pressed for it, its hue."""

    grade: int
    label: str
    key: str
    colour: str

    @property
    def sent(self) -> str:
        """Its value in a form."""
        return str(self.grade)


@dataclass(frozen=True)
class Scale:
    """A rubric as its cards show it, in the words that raters read; levels from the highest grade down."""

    rubric: Rubric
    question: str
    levels: tuple[Choice, ...]

    @property
    def is_short(self) -> bool:
        """Whether its levels stand in a row; more of them are written out below each other."""
        return len(self.levels) == 2

    @property
    def is_named(self) -> bool:
        """Whether its grades are called by their words; yes and no are numbers, as their keys are."""
        return self.rubric.is_nominal and self.rubric.eta is None

    @property
    def without_words(self) -> list[Choice]:
        """The levels that rest on no words."""
        return [level for level in self.levels if not self.rubric.rests_on_words(level.grade)]

    @property
    def only_with_words(self) -> Choice | None:
        """The level that marked words mean, as it is the only one that rests on some."""
        levels = [level for level in self.levels if self.rubric.rests_on_words(level.grade)]
        return levels[0] if len(levels) == 1 else None


def scale_of(rubric: Rubric, words: Wording) -> Scale:
    made = {level.grade: level for level in rubric.levels.all()}
    return Scale(
        rubric,
        words.question,
        tuple(
            Choice(
                level.grade,
                level.label,
                # A level that is not there was shown by a campaign from before rubrics stayed as they are.
                made[level.grade].key.lower() if level.grade in made else "",
                made[level.grade].colour if level.grade in made else "",
            )
            for level in words.levels
        ),
    )


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
    rubrics = list({card.rubric.pk: card.rubric for card in asked}.values())
    scales = [scale_of(rubric, words.further.get(rubric.slug, words)) for rubric in rubrics]
    shows_text = any(rubric.shows_text for rubric in rubrics)
    shows_request = any(rubric.shows_request for rubric in rubrics)
    return {
        "campaign": campaign,
        "text": text,
        "text_label": _("Text of the %(kind)s") % {"kind": text.get_kind_display()},
        "thing": text.get_kind_display() if shows_text else _("task"),
        "shows_text": shows_text,
        "shows_request": shows_request and bool(text.topic),
        # A passage was written for nobody's request.
        "folds_request": shows_text
        and not shows_request
        and text.topic
        and text.kind != Text.Kind.PASSAGE,
        "takes_spans": any(card.takes_spans for card in asked),
        "asked": asked,
        "keys": {card.number: uuid4() for card in asked},
        "words": words,
        "scales": {scale.rubric.pk: scale for scale in scales},
        # What is asked stands on the cards themselves where it differs, or where they ask nothing else.
        "heading": words.question if len(rubrics) == 1 and rubrics[0].shows_question else "",
        "several": len(rubrics) > 1,
        "active": next(
            (card.number for card in asked if card.refused or not card.is_done), asked[0].number
        ),
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

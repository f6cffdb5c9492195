"""Context of the item page: its questions, the answers so far, and its links."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.http import Http404
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Campaign,
    ItemQuestion,
    Rubric,
    Text,
)
from annotation.models.rubric import grade_of_label
from annotation.models.rubric_rules import NO_LABEL_KEY, shortcut_key
from annotation.models.rubric_wording import RubricWording, campaign_wording
from annotation.prepared import PreparedObjects
from annotation.task.cards import QuestionCard
from annotation.task.contradictions import (
    contradiction_texts,
    declare_impossible,
    find_contradictions,
)

RUBRIC_LETTERS = "abcd"  # of the rubrics of one question
MARKS = 8  # hues and line styles; the question's number, beside the mark, never repeats
Frozen = ItemQuestion | AttentionCheck
EXPECTED_FIELDS = ("expected", "expected_spans", "expected_reason")
_ANSWERS = PreparedObjects(
    lambda assignment: Answer.objects.filter(assignment=assignment).order_by("id"), 1
)
_QUESTIONS = PreparedObjects(
    lambda item: ItemQuestion.objects.filter(item=item).select_related("question"), 1
)
_FURTHER_RUBRICS = PreparedObjects(
    lambda campaign: Campaign(pk=campaign).further_rubrics.get_queryset(), 1
)


def item_cards(assignment: Assignment) -> list[QuestionCard]:
    """Return the question cards of an item in order, for each rubric, with the newest answers.

    The answers are read, not the ratings: words that were marked before a grade was chosen are an
    answer already, and no rating yet. An attention check has a fixed place of its own.
    """
    answers: list[Answer] = _ANSWERS.objects(assignment.pk)
    newest = {
        (answer.question_id, answer.check_asked_id, answer.rubric_id): answer for answer in answers
    }
    rows: list[Frozen] = _QUESTIONS.objects(assignment.item_id)
    if check := assignment.check_asked:
        order = random.Random(assignment.pk)  # noqa: S311 - the same place at every visit
        rows.insert(order.randint(0, len(rows)), check)
    campaign = assignment.participant.campaign
    rubrics: list[Rubric] = [campaign.rubric, *_FURTHER_RUBRICS.objects(campaign.pk)]
    question_cards = [
        QuestionCard(assignment.pk, **about) for about in build_card_fields(rows, rubrics)
    ]
    declare_impossible(question_cards, rubrics)
    for card in question_cards:
        if answer := newest.get(card.answer_key):
            card.grade, card.spans, card.key = answer.grade, answer.spans, str(answer.key)
            card.note, card.confidence = answer.note, answer.confidence
    find_contradictions(question_cards, answers)
    return question_cards


def build_card_fields(rows: Sequence[Frozen], rubrics: Sequence[Rubric]) -> list[dict[str, Any]]:
    """Return the fields of the question cards of an item, without its answers.

    Under several rubrics a question has a card for each: 2a, 2b. The first rubric is the campaign's
    own, under which attention checks are asked.
    """
    card_fields: list[dict[str, Any]] = []
    for number, row in enumerate(rows, start=1):
        is_check = isinstance(row, AttentionCheck)
        has_question = False
        for letter, rubric in zip(
            RUBRIC_LETTERS, rubrics[:1] if is_check else rubrics, strict=False
        ):
            is_further = rubric is not rubrics[0]
            repeats_question = has_question and rubric.shows_question
            has_question |= rubric.shows_question
            common_fields = {
                "number": f"{number}{letter}" if len(rubrics) > 1 and not is_check else f"{number}",
                "mark": len(card_fields) % MARKS + 1,
                "rubric": rubric,
                "is_further": is_further,
                "repeats_question": repeats_question,
            }
            if isinstance(row, AttentionCheck):
                card_fields.append({**common_fields, "question": row})
                continue
            own_expected = {name: getattr(row, name) for name in EXPECTED_FIELDS}
            expected = row.further.get(rubric.slug, {}) if is_further else own_expected
            answer = row.answer if rubric.shows_answer else []
            card_fields.append(
                {**common_fields, "question": row.as_shown(), "answer": answer, **expected}
            )
    return card_fields


@dataclass(frozen=True)
class LevelChoice:
    """A level of a rubric as an option: its grade, label, shortcut key and colour.

    `number` is displayed beside its label: the grade, or the number of one of several labels.
    """

    grade: int
    label: str
    key: str
    colour: str
    number: int

    @property
    def sent(self) -> str:
        """Value of the option in a form."""
        return str(self.grade)


@dataclass(frozen=True)
class Scale:
    """A rubric as its cards display it; levels from the highest grade down."""

    rubric: Rubric
    question: str
    levels: tuple[LevelChoice, ...]

    @property
    def is_short(self) -> bool:
        """Return whether its levels fit in a row; more than two are listed below each other."""
        return len(self.levels) == 2

    @property
    def uses_labels(self) -> bool:
        """Return whether its grades are named by their labels; yes and no are numbers."""
        return self.rubric.is_nominal and self.rubric.eta is None

    @property
    def levels_without_evidence(self) -> list[LevelChoice]:
        """Levels that need no marked words as evidence."""
        return [level for level in self.levels if not self.rubric.needs_spans(level.grade)]

    @property
    def only_level_with_evidence(self) -> LevelChoice | None:
        """Level that marked words imply, where only one needs evidence; else None."""
        levels = [level for level in self.levels if self.rubric.needs_spans(level.grade)]
        return levels[0] if len(levels) == 1 else None


def scale_of(rubric: Rubric, rubric_wording: RubricWording) -> Scale:
    if rubric.is_multi_label:
        return Scale(rubric, rubric_wording.question, tuple(_label_choices(rubric, rubric_wording)))
    level_of_grade = {level.grade: level for level in rubric.levels.all()}
    return Scale(
        rubric,
        rubric_wording.question,
        tuple(
            LevelChoice(
                level.grade,
                level.label,
                # A level that is not there was shown by a campaign from before rubrics stayed as they are.
                level_of_grade[level.grade].key.lower() if level.grade in level_of_grade else "",
                level_of_grade[level.grade].colour if level.grade in level_of_grade else "",
                level.grade,
            )
            for level in rubric_wording.levels
        ),
    )


def _label_choices(rubric: Rubric, rubric_wording: RubricWording) -> Iterator[LevelChoice]:
    """Yield the labels of a multi-label rubric by number, and last that none of them applies."""
    level_of_grade = {grade_of_label(level.grade): level for level in rubric.levels.all()}
    for grade, label in rubric_wording.labels().items():
        if grade:
            level = level_of_grade[grade]
            yield LevelChoice(grade, label, shortcut_key(level), level.colour, level.grade)
        else:
            yield LevelChoice(grade, capfirst(label), NO_LABEL_KEY, "", grade)


def labels_of(
    rubrics: Iterable[Rubric], rubric_wording: RubricWording
) -> dict[int, dict[int, str]]:
    """Return the label of each grade in a campaign's wording, by the rubric's key."""
    return {
        rubric.pk: rubric_wording.further.get(rubric.slug, rubric_wording).labels()
        for rubric in rubrics
    }


@dataclass(frozen=True)
class Links:
    """URLs of the page's controls. No previous item: an empty URL."""

    home: str
    submit: str
    skip: str
    state: str
    previous: str = ""


def links_of(assignment: Assignment, previous: int | None) -> Links:
    """Return the URLs of the controls for an active item."""
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
    cards: Sequence[QuestionCard],
    links: Links,
    *,
    number: int,
    of: int,
    is_practice: bool = False,
    missing: Sequence[QuestionCard] = (),
) -> dict[str, Any]:
    """Return the context of templates/annotation/task/work.html for one item.

    `place` is the item's number, from 1, `of` so many.
    """
    if text.body is None:
        raise Http404("The words of this text are not here.")
    rubric_wording = campaign_wording(campaign, text.kind)
    rubrics = list({card.rubric.pk: card.rubric for card in cards}.values())
    labels = labels_of(rubrics, rubric_wording)
    scales = [
        scale_of(rubric, rubric_wording.further.get(rubric.slug, rubric_wording))
        for rubric in rubrics
    ]
    shows_text = any(rubric.shows_text for rubric in rubrics)
    questions = {(card.is_check, card.question.pk) for card in cards}
    unfinished = {(card.is_check, card.question.pk) for card in cards if not card.is_done}
    shows_request = any(rubric.shows_request for rubric in rubrics)
    return {
        "campaign": campaign,
        "text": text,
        "text_label": _("Text of the %(kind)s") % {"kind": text.get_kind_display()},
        "item_kind": text.get_kind_display() if shows_text else _("task"),
        "shows_text": shows_text,
        "shows_request": shows_request and bool(text.topic),
        # A passage was written for nobody's request.
        "folds_request": shows_text
        and not shows_request
        and text.topic
        and text.kind != Text.Kind.PASSAGE,
        "takes_spans": any(card.takes_spans for card in cards),
        "asked": cards,
        "keys": {card.number: uuid4() for card in cards},
        "words": rubric_wording,
        "scales": {scale.rubric.pk: scale for scale in scales},
        # What is asked stands on the cards themselves where it differs, or where they ask nothing else.
        "heading": rubric_wording.question
        if len(rubrics) == 1 and rubrics[0].shows_question
        else "",
        "several": len(rubrics) > 1,
        "active": next(
            (card.number for card in cards if card.refused or not card.is_done), cards[0].number
        ),
        "n_questions": len(questions),
        "done": len(questions - unfinished),
        "missing": missing,
        "labels": labels,
        "contradictions": contradiction_texts(missing, labels),
        "place": number,
        "of": of,
        "is_practice": is_practice,
        "links": links,
        "is_closed": not campaign.counts_answers(),
        "marks": [
            {"start": s["start"], "end": s["end"], "mark": card.mark, "label": card.number}
            for card in cards
            for s in card.spans
        ],
    }

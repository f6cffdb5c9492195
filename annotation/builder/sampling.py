"""Sampling the items of a draft, once and repeatably, and opening it."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.builder.expected_reasons import restore_reasons, stored_reasons
from annotation.builder.question_selection import (
    QuestionsByText,
    copies_grades,
    drawing_unit,
    select_questions,
)
from annotation.errors import UserError
from annotation.models import (
    Campaign,
    Dataset,
    EqualText,
    Item,
    ItemQuestion,
    NuggetSpan,
    Rater,
    Rating,
    SubQuestion,
    Text,
)
from annotation.models.corpus import TextQuerySet
from annotation.models.rubric_wording import campaign_wording
from annotation.plurals import n_of
from annotation.program_version import program_versions

AT_ONCE = 200  # texts that are asked for their labels
NO_BODY = "text not in the dataset"
NO_QUESTION = "no question"
NO_TOPIC = "passage of no topic, as its id does not begin with TOPIC:"
NO_ANSWER = "no answer"
SAME_QUESTIONS = "another text of the topic has the same question, and texts are not displayed"
WITH_QUESTION = Exists(SubQuestion.objects.filter(topic=OuterRef("topic"), filtered_because=""))

Labels = dict[int, dict[int, int]]  # by text, by question: the grade
Expected = dict[tuple[int, int], dict[str, Any]]  # by text and question: as an ItemQuestion has it


class SampleError(UserError):
    """The requested sample cannot be drawn; the message is for the person who asked."""


class MissingQuestionError(Exception):
    """A text lacks a question of a required kind; the message is the reason to leave it out."""


@dataclass
class Sample:
    """Result of a draw: items by purpose, and the texts left out by reason."""

    study: int = 0
    training: int = 0
    gold: int = 0
    equal: list[Text] = field(default_factory=list)
    """Texts with the words of an item's text, whose grades they get."""
    left_out: Counter[str] = field(default_factory=Counter)


def choose_texts(campaign: Campaign) -> list[Text]:
    """Return the texts of a draft's selection in a steady order: by topic, then as imported.

    selection: kind; systems and topics (names; none means all); sample (how many of them, drawn
    with the seed; None means all); pairs (keys of texts and questions, if these were chosen elsewhere).
    Texts that are drawn once are one of the sample, and all returned.
    """
    chosen = _selected(campaign.dataset, campaign.selection).with_body().filter(WITH_QUESTION)
    texts = list(chosen.select_related("topic").order_by("topic__position", "id"))
    sample = campaign.selection.get("sample")
    if not sample:
        return texts
    unit = drawing_unit(campaign) if copies_grades(campaign) else attrgetter("pk")
    by_unit: dict[Hashable, list[Text]] = {}
    for text in texts:
        by_unit.setdefault(unit(text), []).append(text)
    if sample >= len(by_unit):
        return texts
    sampled = set(_random(campaign.seed, "texts").sample(list(by_unit), sample))
    return [text for text in texts if unit(text) in sampled]


def resample(campaign: Campaign) -> Sample:
    """Draw a draft again from its own selection and seed: the same, if nothing else changed.

    Raises SampleError as `sample` does.
    """
    selection = campaign.selection
    if "kind" not in selection:
        raise SampleError("No texts are chosen yet.")
    texts = choose_texts(campaign)
    selected = _selected(campaign.dataset, selection)
    usable = selected.with_body().filter(WITH_QUESTION).count()
    left_out = {
        NO_BODY: selected.filter(body__isnull=True).count(),
        NO_TOPIC: selected.with_body().filter(topic=None).count(),
        NO_QUESTION: selected.with_body().exclude(topic=None).exclude(WITH_QUESTION).count(),
        "not in the random sample": usable - len(texts),
    }
    return sample(campaign, texts, left_out)


def _selected(dataset: Dataset, selection: dict[str, Any]) -> TextQuerySet:
    chosen: TextQuerySet = dataset.texts.filter(kind=selection["kind"])
    if topics := selection.get("topics"):
        chosen = chosen.filter(topic__name__in=topics)
    if systems := selection.get("systems"):
        chosen = chosen.filter(system__in=systems)
    if pairs := selection.get("pairs"):
        chosen = chosen.filter(pk__in={text for text, _ in pairs})
    return chosen


@transaction.atomic
def sample(
    campaign: Campaign, texts: Sequence[Text], left_out: Mapping[str, int] | None = None
) -> Sample:
    """Draw the items of a draft and their questions, in place of those it had.

    A filtered question is not asked, and a text without words, or without a question left to
    ask, makes no item; `annotation.builder.question_selection` has the other conditions. Where grades are
    copied, one text of equal words makes an item, and the others are its equal texts. Training and gold
    items come from texts that the gold source has rated, and are no study items. Training asks questions
    with a label. Hidden gold asks what the study asks, or it would tell itself; its questions with a label
    are scored. Texts left out are recorded in the selection, together with the texts that were left out
    before (`left_out`, counts by the reason). Reasons of expected answers are kept.

    Raises SampleError where nothing is left, or where too few texts have labels to train with.
    """
    if not campaign.is_draft:
        raise SampleError("Texts, questions and wording of an opened campaign cannot change.")
    result = Sample(left_out=Counter(left_out))
    if not texts:
        raise SampleError(f"No text can be assigned; {_reasons(result) or 'none was chosen'}.")
    reasons = stored_reasons(campaign)
    campaign.items.all().delete()
    labelled = _labelled(campaign, texts)
    training = labelled[: campaign.n_training]
    asked_of_gold = _gold_questions(campaign, labelled)
    gold = [text for text in labelled if text.pk in asked_of_gold]
    expected = _expected(campaign, [*training, *gold])
    questions = _questions(campaign, texts, training, gold, result)
    study = [text for text in texts if text.pk in questions]
    if not study:
        raise SampleError(
            "No text is left to be rated; " + (_reasons(result) or "none was chosen") + "."
        )
    questions |= _training_questions(campaign, training, expected) | asked_of_gold
    result.study, result.training, result.gold = len(study), len(training), len(gold)
    purposes = [
        *((text, Item.Purpose.STUDY) for text in study),
        *((text, Item.Purpose.TRAINING) for text in training),
        *((text, Item.Purpose.GOLD) for text in gold),
    ]
    items = Item.objects.bulk_create(
        Item(campaign=campaign, text=text, position=position, purpose=purpose)
        for position, (text, purpose) in enumerate(purposes)
    )
    _link_equal_texts(campaign, items, result.equal)
    answers = select_questions(campaign, [item.text for item in items]).answers
    ItemQuestion.objects.bulk_create(
        ItemQuestion(
            item=item,
            question=question,
            position=position,
            answer=answers.get((item.text_id, question.pk), []),
            **expected.get((item.text_id, question.pk), {}),
        )
        for item in items
        for position, question in enumerate(questions[item.text_id])
    )
    restore_reasons(campaign, reasons)
    result.left_out = +result.left_out
    campaign.selection["left_out"] = dict(result.left_out)
    campaign.save(update_fields=["selection"])
    return result


@transaction.atomic
def publish(campaign: Campaign) -> None:
    """Open a draft. From here on, its items and wording are fixed."""
    # Two people may open it at once: the state that counts is the one behind the lock.
    locked = Campaign.objects.select_for_update().filter(pk=campaign.pk)
    if locked.values_list("state", flat=True).get() != Campaign.State.DRAFT:
        raise SampleError("The campaign was opened before.")
    if not campaign.items.filter(purpose=Item.Purpose.STUDY).exists():
        raise SampleError("The campaign has no items yet.")
    rubric_wording = campaign_wording(campaign, campaign.kind_asked())
    program = program_versions(campaign.language)
    campaign.guideline, campaign.wording = (
        rubric_wording.guideline,
        rubric_wording.stored() | {"program": program},
    )
    if rubric_wording.further:
        campaign.wording["further"] = {
            slug: further.stored() | {"guideline": further.guideline}
            for slug, further in rubric_wording.further.items()
        }
    campaign.state = Campaign.State.OPEN
    campaign.opened_at = timezone.now()
    campaign.save(update_fields=["guideline", "wording", "state", "opened_at"])


def _random(seed: int, purpose: str) -> random.Random:
    """Return a random generator of its own for each purpose and text.

    More gold items thus change no other text's questions.
    """
    return random.Random(f"{seed}:{purpose}")  # noqa: S311 - a draw that can be repeated, no secret


def _questions(
    campaign: Campaign,
    texts: Sequence[Text],
    training: Sequence[Text],
    gold: Sequence[Text],
    result: Sample,
) -> QuestionsByText:
    """Return the questions asked about each text; count texts without any as left out.

    Texts of equal words are collected in `result` where they get the grades of another.
    """
    pairs = select_questions(campaign, texts)
    labels = _labels(campaign.question_source, campaign.question_rubric_id, texts)
    chosen: QuestionsByText = {}
    unit, copies = drawing_unit(campaign), copies_grades(campaign)
    # Grades of training are no ratings, so that nothing is copied from it.
    trained_on = {unit(text) for text in training} if copies else set()
    reserved = {*training, *gold}
    drawn_units = {unit(text) for text in reserved}
    undrawn: list[tuple[Text, str]] = []
    for index, text in enumerate(texts):
        questions = pairs.questions[text.pk]
        drawing = _random(campaign.seed, f"questions {index}")
        if text in reserved or unit(text) in trained_on:
            result.left_out["used for training and gold"] += 1
        elif text.body is None or not questions:
            reason = NO_ANSWER if text.pk in pairs.unanswered else NO_QUESTION
            result.left_out[reason if text.body else NO_BODY] += 1
        elif unit(text) in drawn_units:
            undrawn.append((text, SAME_QUESTIONS))
        else:
            try:
                chosen[text.pk] = _draw(campaign, questions, labels.get(text.pk, {}), drawing)
            except MissingQuestionError as error:
                undrawn.append((text, str(error)))
            else:
                drawn_units.add(unit(text))
    for text, reason in undrawn:
        if copies and unit(text) in drawn_units:
            result.equal.append(text)
        else:
            result.left_out[reason] += 1
    return chosen


def _link_equal_texts(campaign: Campaign, items: Sequence[Item], texts: Sequence[Text]) -> None:
    """Store the texts that get the grades of the item with their words."""
    unit = drawing_unit(campaign)
    item_of = {unit(item.text): item for item in items}
    EqualText.objects.bulk_create(EqualText(item=item_of[unit(text)], text=text) for text in texts)


def _draw(
    campaign: Campaign,
    questions: list[SubQuestion],
    grades: dict[int, int],
    drawing: random.Random,
    first: Collection[int] = (),
) -> list[SubQuestion]:
    """Draw the questions to ask about a text: all, some, or one answerable and one not.

    `grades` are the labels of the question source, by question. The keys in `first` go before others.

    Raises MissingQuestionError where the text has no answerable question, or no unanswerable one.
    """
    if campaign.question_source and campaign.question_rubric:
        answers = campaign.question_rubric.answers
        yes = [q for q in questions if q.pk in grades and answers(grades[q.pk])]
        no = [q for q in questions if q.pk in grades and not answers(grades[q.pk])]
        if not (yes and no):
            lacking = "answerable" if not yes else "unanswerable"
            raise MissingQuestionError(f"no {lacking} question by {campaign.question_source}")
        return _in_order(
            [drawing.choice([q for q in half if q.pk in first] or half) for half in (yes, no)]
        )
    if campaign.questions_per_item and campaign.questions_per_item < len(questions):
        preferred = [question for question in questions if question.pk in first]
        remaining = [question for question in questions if question.pk not in first]
        n = min(campaign.questions_per_item, len(preferred))
        sampled = drawing.sample(remaining, campaign.questions_per_item - n)
        return _in_order([*drawing.sample(preferred, n), *sampled])
    return questions


def _gold_questions(campaign: Campaign, labelled: Sequence[Text]) -> QuestionsByText:
    """Draw the questions of the gold items as in the study, those with a label first.

    Gold items are the first texts after those for training of which a question with a label is asked.
    Raises SampleError where these are too few.
    """
    chosen: QuestionsByText = {}
    candidates = list(enumerate(labelled))[campaign.n_training :]
    for start in range(0, len(candidates) if campaign.n_gold else 0, AT_ONCE):
        batch = candidates[start : start + AT_ONCE]
        texts = [text for _, text in batch]
        labels = _labels(campaign.question_source, campaign.question_rubric_id, texts)
        askable_questions = select_questions(campaign, texts).questions
        gold_labels = _labels(campaign.gold_source, campaign.rubric_id, texts)
        for index, text in batch:
            drawing = _random(campaign.seed, f"gold questions {index}")
            first = gold_labels[text.pk]
            with suppress(MissingQuestionError):
                questions = _draw(
                    campaign, askable_questions[text.pk], labels.get(text.pk, {}), drawing, first
                )
                if any(question.pk in first for question in questions):
                    chosen[text.pk] = questions
            if len(chosen) == campaign.n_gold:
                return chosen
    if len(chosen) < campaign.n_gold:
        raise SampleError(
            f"Of the texts that {campaign.gold_source} has rated {len(chosen)} can have the "
            f"questions of the study; {campaign.n_gold} gold items need {campaign.n_gold}."
        )
    return chosen


def _training_questions(
    campaign: Campaign, training: Sequence[Text], expected: Expected
) -> QuestionsByText:
    """Draw the questions of training items: as many as elsewhere, all with a label."""
    number = 2 if campaign.question_source else campaign.questions_per_item
    chosen: QuestionsByText = {}
    askable_questions = select_questions(campaign, training).questions
    for index, text in enumerate(training):
        labelled = [
            question
            for question in askable_questions[text.pk]
            if "expected" in expected.get((text.pk, question.pk), {})
        ]
        if number and number < len(labelled):
            drawing = _random(campaign.seed, f"gold questions {index}")
            labelled = _in_order(drawing.sample(labelled, number))
        chosen[text.pk] = labelled
    return chosen


def _in_order(questions: list[SubQuestion]) -> list[SubQuestion]:
    return sorted(questions, key=lambda question: question.position)


def _labels(source: Rater | None, rubric_id: int | None, texts: Sequence[Text]) -> Labels:
    """Return the grades of a source of labels, of the topics of the texts."""
    labels: Labels = defaultdict(dict)
    if source is None or rubric_id is None:
        return labels
    text_ids = {text.pk for text in texts}
    rows = Rating.objects.filter(
        rater=source, rubric=rubric_id, text__topic__in={text.topic_id for text in texts}
    )
    for text, question, grade in rows.values_list("text_id", "question_id", "grade"):
        if text in text_ids:
            labels[text][question] = grade
    return labels


def _labelled(campaign: Campaign, texts: Sequence[Text]) -> list[Text]:
    """Return the texts that the gold source rated, in the order of the draw.

    The first are for training, then come gold.
    """
    n_needed = campaign.n_training + campaign.n_gold
    if not n_needed:
        return []
    if campaign.gold_source is None:
        raise SampleError("Training and gold items need a source of labels.")
    rated = Rating.objects.filter(
        rater=campaign.gold_source, rubric=campaign.rubric, question__filtered_because=""
    )
    candidates = list(
        campaign.dataset.texts.with_body()
        .filter(kind=campaign.selection.get("kind") or texts[0].kind, pk__in=rated.values("text"))
        .order_by("id")
    )
    if not all(rubric.asks_of_every_pair for rubric in campaign.rubrics()):
        candidates = _with_labelled_question(campaign, candidates)
    unit = drawing_unit(campaign)
    candidates = list({unit(text): text for text in candidates}.values())
    if len(candidates) < n_needed:
        raise SampleError(
            f"{campaign.gold_source} has rated {n_of(len(candidates), 'text')} under this rubric; "
            f"{campaign.n_training} training and {campaign.n_gold} gold items need {n_needed}."
        )
    # Texts that were not chosen for the study come first: a sample of twenty stays one of twenty.
    chosen = {unit(text) for text in texts}
    order = _random(campaign.seed, "gold").sample(candidates, len(candidates))
    return sorted(order, key=lambda text: unit(text) in chosen)


def _with_labelled_question(campaign: Campaign, candidates: list[Text]) -> list[Text]:
    """Filter to texts of which a question with a label can be asked."""
    labels = _labels(campaign.gold_source, campaign.rubric_id, candidates)
    askable_questions = select_questions(campaign, candidates).questions
    return [
        text
        for text in candidates
        if any(question.pk in labels[text.pk] for question in askable_questions[text.pk])
    ]


def _expected(campaign: Campaign, labelled: Sequence[Text]) -> Expected:
    """Return the gold source's grades and spans by text and question, under each rubric."""
    if not labelled:
        return {}
    rubrics = {rubric.pk: rubric.slug for rubric in campaign.rubrics()}
    rated = Rating.objects.filter(rater=campaign.gold_source, rubric__in=rubrics, text__in=labelled)
    spans: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for span in NuggetSpan.objects.filter(rating__in=rated, start__isnull=False):
        spans[span.rating_id].append({"start": span.start, "end": span.end, "quote": span.quote})
    expected: Expected = defaultdict(dict)
    for rating in rated:
        label = {"expected": rating.grade, "expected_spans": spans[rating.pk]}
        of_pair = expected[rating.text_id, rating.question_id]
        if rating.rubric_id == campaign.rubric_id:
            of_pair |= label
        else:
            of_pair.setdefault("further", {})[rubrics[rating.rubric_id]] = label
    return expected


def _reasons(result: Sample) -> str:
    return ", ".join(
        f"{count} left out: {reason}" for reason, count in sorted(result.left_out.items()) if count
    )

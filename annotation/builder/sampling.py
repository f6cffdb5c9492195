"""Sampling the items of a draft, once and repeatably, and opening it."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.builder.askable import Asked, askable, asks_once_a_topic
from annotation.models import (
    Campaign,
    Dataset,
    Item,
    ItemQuestion,
    NuggetSpan,
    Rater,
    Rating,
    SubQuestion,
    Text,
)
from annotation.models.corpus import TextQuerySet
from annotation.models.wording import shown
from annotation.program import words_of_the_program

AT_ONCE = 200  # texts that are asked for their labels
NO_WORDS = "no words here"
NO_QUESTION = "no question to ask"
NO_ANSWER = "no answer to show"
SAME_QUESTIONS = "no text is shown, and another of the topic asks the same"
WITH_QUESTION = Exists(SubQuestion.objects.filter(topic=OuterRef("topic"), filtered_because=""))

Labels = dict[int, dict[int, int]]  # by text, by question: the grade
Expected = dict[tuple[int, int], dict[str, Any]]  # by text and question: as an ItemQuestion has it


class SampleError(Exception):
    """What was asked for cannot be drawn; the message is for the person who asked."""


class LackingError(Exception):
    """A text has no question of a kind that is to be asked; the message is the reason to leave it out."""


@dataclass
class Sample:
    """What came of a draw. Texts that make no item are counted by the reason."""

    study: int = 0
    training: int = 0
    gold: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def choose_texts(dataset: Dataset, selection: dict[str, Any], seed: int) -> list[Text]:
    """The texts of a selection in a steady order: by topic, then as they were imported.

    selection: kind; systems and topics (names; none means all); sample (how many of them, drawn
    with the seed; None means all).
    """
    chosen = _selected(dataset, selection).with_body().filter(WITH_QUESTION)
    texts = list(chosen.select_related("topic").order_by("topic__position", "id"))
    sample = selection.get("sample")
    if sample and sample < len(texts):
        kept = set(_random(seed, "texts").sample(range(len(texts)), sample))
        texts = [text for index, text in enumerate(texts) if index in kept]
    return texts


def resample(campaign: Campaign) -> Sample:
    """Draw a draft anew from its own selection and seed: the same again, if nothing else changed.

    Raises SampleError as `sample` does.
    """
    selection = campaign.selection
    if "kind" not in selection:
        raise SampleError("No texts are chosen yet.")
    texts = choose_texts(campaign.dataset, selection, campaign.seed)
    selected = _selected(campaign.dataset, selection)
    usable = selected.with_body().filter(WITH_QUESTION).count()
    left_out = {
        NO_WORDS: selected.filter(body__isnull=True).count(),
        NO_QUESTION: selected.with_body().exclude(WITH_QUESTION).count(),
        "not in the random sample": usable - len(texts),
    }
    return sample(campaign, texts, left_out)


def _selected(dataset: Dataset, selection: dict[str, Any]) -> TextQuerySet:
    chosen: TextQuerySet = dataset.texts.filter(kind=selection["kind"])
    if topics := selection.get("topics"):
        chosen = chosen.filter(topic__name__in=topics)
    if systems := selection.get("systems"):
        chosen = chosen.filter(system__in=systems)
    return chosen


@transaction.atomic
def sample(
    campaign: Campaign, texts: Sequence[Text], left_out: Mapping[str, int] | None = None
) -> Sample:
    """Draw the items of a draft and their questions, in place of those it had.

    A filtered question is not asked, and a text without words, or without a question left to
    ask, makes no item; `annotation.builder.askable` says what else is not asked. Training and gold items
    come from texts that the gold source has rated,
    and are no study items. Training asks what has a label. Hidden gold asks what the study asks, or it
    would tell itself; what of it has a label is scored. What is left out is recorded in the
    selection, together with the texts that were left out before (`left_out`, counts by the reason).

    Raises SampleError where nothing is left, or where too few texts have labels to train with.
    """
    if not campaign.is_draft:
        raise SampleError("What raters are shown stays as it is once a campaign has been opened.")
    if not texts:
        raise SampleError("No text was chosen.")
    made = Sample(left_out=Counter(left_out))
    campaign.items.all().delete()
    labelled = _labelled(campaign, texts)
    training = labelled[: campaign.n_training]
    asked_of_gold = _gold_questions(campaign, labelled)
    gold = [text for text in labelled if text.pk in asked_of_gold]
    expected = _expected(campaign, [*training, *gold])
    questions = _questions(campaign, texts, {*training, *gold}, made)
    study = [text for text in texts if text.pk in questions]
    if not study:
        raise SampleError(
            "No text is left to be rated; " + (_reasons(made) or "none was chosen") + "."
        )
    questions |= _training_questions(campaign, training, expected) | asked_of_gold
    made.study, made.training, made.gold = len(study), len(training), len(gold)
    purposes = [
        *((text, Item.Purpose.STUDY) for text in study),
        *((text, Item.Purpose.TRAINING) for text in training),
        *((text, Item.Purpose.GOLD) for text in gold),
    ]
    items = Item.objects.bulk_create(
        Item(campaign=campaign, text=text, position=position, purpose=purpose)
        for position, (text, purpose) in enumerate(purposes)
    )
    answers = askable(campaign, [item.text for item in items]).answers
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
    made.left_out = +made.left_out
    campaign.selection["left_out"] = dict(made.left_out)
    campaign.save(update_fields=["selection"])
    return made


@transaction.atomic
def publish(campaign: Campaign) -> None:
    """Open a draft. From here on, what raters are shown stays as it is."""
    # Two people may open it at once: the state that counts is the one behind the lock.
    locked = Campaign.objects.select_for_update().filter(pk=campaign.pk)
    if locked.values_list("state", flat=True).get() != Campaign.State.DRAFT:
        raise SampleError("It has been opened before.")
    if not campaign.items.filter(purpose=Item.Purpose.STUDY).exists():
        raise SampleError("It has no items yet.")
    words = shown(campaign, campaign.kind_asked())
    program = words_of_the_program(campaign.language)
    campaign.guideline, campaign.wording = words.guideline, words.stored() | {"program": program}
    if words.further:
        campaign.wording["further"] = {
            slug: further.stored() | {"guideline": further.guideline}
            for slug, further in words.further.items()
        }
    campaign.state = Campaign.State.OPEN
    campaign.opened_at = timezone.now()
    campaign.save(update_fields=["guideline", "wording", "state", "opened_at"])


def _random(seed: int, what: str) -> random.Random:
    """A draw of its own for each purpose and text: more gold items change no other text's questions."""
    return random.Random(f"{seed}:{what}")  # noqa: S311 - a draw that can be repeated, no secret


def _questions(campaign: Campaign, texts: Sequence[Text], taken: set[Text], made: Sample) -> Asked:
    """The questions that are asked about each text; a text that has none is counted and left out."""
    pairs = askable(campaign, texts)
    labels = _labels(campaign.question_source, campaign.question_rubric_id, texts)
    chosen: Asked = {}
    once_a_topic = asks_once_a_topic(campaign)
    # That are asked about, where a text stands for all of its topic.
    topics = {text.topic_id for text in taken} if once_a_topic else set()
    for place, text in enumerate(texts):
        questions = pairs.questions[text.pk]
        drawing = _random(campaign.seed, f"questions {place}")
        if text in taken:
            made.left_out["taken for training and gold"] += 1
        elif text.body is None or not questions:
            why = NO_ANSWER if text.pk in pairs.unanswered else NO_QUESTION
            made.left_out[why if text.body else NO_WORDS] += 1
        elif text.topic_id in topics:
            made.left_out[SAME_QUESTIONS] += 1
        else:
            try:
                chosen[text.pk] = _draw(campaign, questions, labels.get(text.pk, {}), drawing)
            except LackingError as error:
                made.left_out[str(error)] += 1
            else:
                topics |= {text.topic_id} if once_a_topic else set()
    return chosen


def _draw(
    campaign: Campaign,
    questions: list[SubQuestion],
    grades: dict[int, int],
    drawing: random.Random,
    first: Collection[int] = (),
) -> list[SubQuestion]:
    """What the campaign asks about a text: all its questions, some, or one answerable and one not.

    `grades` are the labels of the question source, by question. The keys in `first` go before others.

    Raises LackingError where the text has no answerable question, or no unanswerable one.
    """
    if campaign.question_source and campaign.question_rubric:
        answers = campaign.question_rubric.answers
        yes = [q for q in questions if q.pk in grades and answers(grades[q.pk])]
        no = [q for q in questions if q.pk in grades and not answers(grades[q.pk])]
        if not (yes and no):
            lacking = "answerable" if not yes else "unanswerable"
            raise LackingError(f"no {lacking} question by {campaign.question_source}")
        return _in_order(
            [drawing.choice([q for q in half if q.pk in first] or half) for half in (yes, no)]
        )
    if campaign.questions_per_item and campaign.questions_per_item < len(questions):
        before = [question for question in questions if question.pk in first]
        others = [question for question in questions if question.pk not in first]
        n = min(campaign.questions_per_item, len(before))
        more = drawing.sample(others, campaign.questions_per_item - n)
        return _in_order([*drawing.sample(before, n), *more])
    return questions


def _gold_questions(campaign: Campaign, labelled: Sequence[Text]) -> Asked:
    """What is asked in the gold items: drawn as in the study, of what has a label first.

    They are the first texts after those for training of which something with a label is asked.
    Raises SampleError where these are too few.
    """
    chosen: Asked = {}
    candidates = list(enumerate(labelled))[campaign.n_training :]
    for start in range(0, len(candidates) if campaign.n_gold else 0, AT_ONCE):
        batch = candidates[start : start + AT_ONCE]
        texts = [text for _, text in batch]
        labels = _labels(campaign.question_source, campaign.question_rubric_id, texts)
        asked = askable(campaign, texts).questions
        known = _labels(campaign.gold_source, campaign.rubric_id, texts)
        for place, text in batch:
            drawing = _random(campaign.seed, f"gold questions {place}")
            first = known[text.pk]
            with suppress(LackingError):
                drawn = _draw(campaign, asked[text.pk], labels.get(text.pk, {}), drawing, first)
                if any(question.pk in first for question in drawn):
                    chosen[text.pk] = drawn
            if len(chosen) == campaign.n_gold:
                return chosen
    if len(chosen) < campaign.n_gold:
        raise SampleError(
            f"Of the texts that {campaign.gold_source} has rated {len(chosen)} can be asked what "
            f"the study asks; {campaign.n_gold} gold items need {campaign.n_gold}."
        )
    return chosen


def _training_questions(campaign: Campaign, training: Sequence[Text], expected: Expected) -> Asked:
    """What is asked in training items: as many questions as elsewhere, all with a label."""
    number = 2 if campaign.question_source else campaign.questions_per_item
    chosen: Asked = {}
    asked = askable(campaign, training).questions
    for place, text in enumerate(training):
        known = [
            question
            for question in asked[text.pk]
            if "expected" in expected.get((text.pk, question.pk), {})
        ]
        if number and number < len(known):
            drawing = _random(campaign.seed, f"gold questions {place}")
            known = _in_order(drawing.sample(known, number))
        chosen[text.pk] = known
    return chosen


def _in_order(questions: list[SubQuestion]) -> list[SubQuestion]:
    return sorted(questions, key=lambda question: question.position)


def _labels(source: Rater | None, rubric_id: int | None, texts: Sequence[Text]) -> Labels:
    """The grades of a source of labels, of the topics of the texts."""
    labels: Labels = defaultdict(dict)
    if source is None or rubric_id is None:
        return labels
    wanted = {text.pk for text in texts}
    rows = Rating.objects.filter(
        rater=source, rubric=rubric_id, text__topic__in={text.topic_id for text in texts}
    )
    for text, question, grade in rows.values_list("text_id", "question_id", "grade"):
        if text in wanted:
            labels[text][question] = grade
    return labels


def _labelled(campaign: Campaign, texts: Sequence[Text]) -> list[Text]:
    """What the gold source rated in the order of the draw: the first are for training, then come gold."""
    wanted = campaign.n_training + campaign.n_gold
    if not wanted:
        return []
    if campaign.gold_source is None:
        raise SampleError("Training and gold items need a source of their labels.")
    rated = Rating.objects.filter(
        rater=campaign.gold_source, rubric=campaign.rubric, question__filtered_because=""
    )
    candidates = list(
        campaign.dataset.texts.with_body()
        .filter(kind=campaign.selection.get("kind") or texts[0].kind, pk__in=rated.values("text"))
        .order_by("id")
    )
    if not all(rubric.asks_of_every_pair for rubric in campaign.rubrics()):
        candidates = _can_be_asked(campaign, candidates)
    once_a_topic = asks_once_a_topic(campaign)

    def asked_about(text: Text) -> int | None:
        return text.topic_id if once_a_topic else text.pk

    candidates = list({asked_about(text): text for text in candidates}.values())
    if len(candidates) < wanted:
        raise SampleError(
            f"{campaign.gold_source} has rated {len(candidates)} texts under this rubric; "
            f"{campaign.n_training} training and {campaign.n_gold} gold items need {wanted}."
        )
    # Texts that were not chosen for the study come first: a sample of twenty stays one of twenty.
    chosen = {asked_about(text) for text in texts}
    order = _random(campaign.seed, "gold").sample(candidates, len(candidates))
    return sorted(order, key=lambda text: asked_about(text) in chosen)


def _can_be_asked(campaign: Campaign, candidates: list[Text]) -> list[Text]:
    """Those of which a question with a label can be asked."""
    labels = _labels(campaign.gold_source, campaign.rubric_id, candidates)
    asked = askable(campaign, candidates).questions
    return [
        text
        for text in candidates
        if any(question.pk in labels[text.pk] for question in asked[text.pk])
    ]


def _expected(campaign: Campaign, labelled: Sequence[Text]) -> Expected:
    """By text and question: the grade and the spans that the gold source gave, under each rubric."""
    if not labelled:
        return {}
    rubrics = {rubric.pk: rubric.slug for rubric in campaign.rubrics()}
    rated = Rating.objects.filter(rater=campaign.gold_source, rubric__in=rubrics, text__in=labelled)
    spans: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for span in NuggetSpan.objects.filter(rating__in=rated, start__isnull=False):
        spans[span.rating_id].append({"start": span.start, "end": span.end, "quote": span.quote})
    expected: Expected = defaultdict(dict)
    for rating in rated:
        given = {"expected": rating.grade, "expected_spans": spans[rating.pk]}
        of_pair = expected[rating.text_id, rating.question_id]
        if rating.rubric_id == campaign.rubric_id:
            of_pair |= given
        else:
            of_pair.setdefault("further", {})[rubrics[rating.rubric_id]] = given
    return expected


def _reasons(made: Sample) -> str:
    return ", ".join(
        f"{count} left out: {why}" for why, count in sorted(made.left_out.items()) if count
    )

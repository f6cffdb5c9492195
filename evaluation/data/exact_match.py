"""The baseline exact-match: a rater that knows the gold answers of questions, and looks for their words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import Grade, RatingQuerySet
from annotation.models.standard import (
    ANSWERABLE,
    ANSWERED,
    IMPORTANCE,
    NUGGET_SUPPORT,
    add_standard,
)
from evaluation.data.selection import SelectionError
from evaluation.metrics.exact_match import holds, is_among, normalised, predictions
from evaluation.models import RankedText

NAME = "exact-match"
GOLD = "gold"  # who gives answers in files of ALCE
AT_ONCE = 500  # texts whose words are held

Aliases = Mapping[int, Mapping[int, tuple[str, ...]]]  # by key of the topic, then of the question


@dataclass(frozen=True)
class Made:
    """What was graded: `n` pairs; `n_without` of the questions that are asked have no answer."""

    n: int
    is_list: bool
    n_without: int


def is_list(dataset: Dataset) -> bool:
    """Whether the questions of a dataset are gold answers themselves: nobody gave answers to them."""
    return not _gold(dataset).exists()


def aliases_of(dataset: Dataset) -> Aliases:
    """The gold answers of each question that is asked, normalised.

    Where the rater `gold` gave answers, they are the words of its spans under `answered`, of a question
    that was answered; else the lines of the question: it is then a gold answer with its aliases.
    """
    found = defaultdict[int, dict[int, tuple[str, ...]]](dict)
    asked = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    if is_list(dataset):
        for topic, pk, body in asked.values_list("topic_id", "pk", "body"):
            found[topic][pk] = _normalised(body.splitlines())
        return found
    words = defaultdict[int, list[str]](list)
    spans = NuggetSpan.objects.filter(rating__in=_gold(dataset)).order_by("rating_id", "position")
    for question, quote, source in spans.values_list(
        "rating__question_id", "quote", "source_quote"
    ):
        words[question].append(source or quote)
    for topic, pk in asked.filter(pk__in=words).values_list("topic_id", "pk"):
        found[topic][pk] = _normalised(words[pk])
    return found


def make_exact_match(dataset: Dataset) -> Made:
    """Grade the reports and passages of every topic, 1 or 0, under `answerable`; what is graded stays.

    A passage is one of the topic, or one that a run ranks for it. Where questions are gold answers, a
    report is a list parted by commas, and answers a question if one of its aliases is in the list;
    else, as a passage does, if one of the answers is in it. Texts without words are passed over.
    Raises SelectionError where somebody else has the name, or there is nothing to look for.
    """
    aliases, lists = aliases_of(dataset), is_list(dataset)
    if not aliases or (lists and _asks(dataset)):
        raise SelectionError(
            f"{dataset.slug} has no gold answers to look for: no spans of a rater {GOLD} under "
            f"{ANSWERED.slug}, and its sub-questions are none."
        )
    add_standard(ANSWERABLE)
    rubric = Rubric.objects.get(slug=ANSWERABLE.slug)
    with transaction.atomic():
        rater = _rater(dataset)
        graded = Rating.objects.filter(rater=rater, rubric=rubric)
        n = 0
        for topic, questions in aliases.items():
            of_topic = graded.filter(question__in=questions)
            there = set(of_topic.values_list("text_id", "question_id"))
            every = _grades(_texts(dataset, topic), questions, lists)
            grades = [grade for grade in every if grade[:2] not in there]
            Rating.objects.add_many(rater.pk, rubric.pk, grades)
            n += len(grades)
    asked = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="").count()
    return Made(n, lists, asked - sum(map(len, aliases.values())))


def _asks(dataset: Dataset) -> bool:
    """Whether the sub-questions are no answers: nuggets, or most end as questions do. (Titles may, too.)"""
    of_nuggets = (IMPORTANCE.slug, NUGGET_SUPPORT.slug)
    if Rating.objects.of_dataset(dataset).filter(rubric__slug__in=of_nuggets).exists():
        return True
    asked = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    return 2 * asked.filter(body__endswith="?").count() > asked.count()


def _rater(dataset: Dataset) -> Rater:
    rater, _ = Rater.objects.get_or_create(
        dataset=dataset, name=NAME, defaults={"kind": Rater.Kind.BASELINE}
    )
    if rater.kind != Rater.Kind.BASELINE:
        raise SelectionError(f"{NAME} is the name of a {rater.get_kind_display()} already.")
    return rater


def _texts(dataset: Dataset, topic: int) -> QuerySet[Text]:
    ranked = RankedText.objects.filter(run__dataset=dataset, topic=topic, text=OuterRef("pk"))
    kinds = [Text.Kind.PASSAGE, Text.Kind.REPORT]
    texts = Text.objects.with_body().filter(Q(topic=topic) | Exists(ranked), kind__in=kinds)
    return texts.filter(dataset=dataset)


def _grades(
    texts: QuerySet[Text], questions: Mapping[int, tuple[str, ...]], lists: bool
) -> Iterator[Grade]:
    rows = texts.values_list("pk", "kind", "body")
    for pk, kind, body in rows.iterator(chunk_size=AT_ONCE):
        words = body or ""
        listed = predictions(words) if lists and kind == Text.Kind.REPORT else None
        whole = normalised(words)
        for question, aliases in questions.items():
            is_in = holds(whole, aliases) if listed is None else is_among(listed, aliases)
            yield pk, question, int(is_in)


def _normalised(aliases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(normalised, aliases)))


def _gold(dataset: Dataset) -> RatingQuerySet:
    return Rating.objects.of_dataset(dataset).filter(
        rater__name=GOLD, rubric__slug=ANSWERED.slug, grade=1
    )

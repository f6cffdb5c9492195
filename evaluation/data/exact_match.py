"""Baseline rater exact-match: grades texts by searching for gold answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import Exposure, Grade, RatingQuerySet
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
BATCH_SIZE = 500  # texts whose words are held

Aliases = Mapping[int, Mapping[int, tuple[str, ...]]]  # by key of the topic, then of the question


@dataclass(frozen=True)
class ExactMatchResult:
    """Number `n` of graded pairs; `n_without` of the unfiltered questions have no answer."""

    n: int
    is_list: bool
    n_without: int


def is_list(dataset: Dataset) -> bool:
    """Return True if the questions of a dataset are gold answers, without answers of raters."""
    return not _gold(dataset).exists()


def aliases_of(dataset: Dataset) -> Aliases:
    """Return the normalised gold answers of each unfiltered question.

    Where the rater `gold` gave answers, they are the words of its spans under `answered`, of a question
    that was answered; else the lines of the question: it is then a gold answer with its aliases.
    """
    aliases = defaultdict[int, dict[int, tuple[str, ...]]](dict)
    questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    if is_list(dataset):
        for topic, pk, body in questions.values_list("topic_id", "pk", "body"):
            aliases[topic][pk] = _normalised(body.splitlines())
        return aliases
    quotes = defaultdict[int, list[str]](list)
    spans = NuggetSpan.objects.filter(rating__in=_gold(dataset)).order_by("rating_id", "position")
    for question, quote, source in spans.values_list(
        "rating__question_id", "quote", "source_quote"
    ):
        quotes[question].append(source or quote)
    for topic, pk in questions.filter(pk__in=quotes).values_list("topic_id", "pk"):
        aliases[topic][pk] = _normalised(quotes[pk])
    return aliases


def make_exact_match(dataset: Dataset) -> ExactMatchResult:
    """Grade the reports and passages of every topic, 1 or 0, under `answerable`.

    Existing grades are not changed.

    A passage is one of the topic, or one that a run ranks for it. Where questions are gold answers, a
    report is a list separated by commas, and answers a question if one of its aliases is in the list;
    else, as a passage does, if one of the answers is in it. Texts without words are passed over.
    Raises SelectionError where somebody else has the name, or there is nothing to look for.
    """
    aliases, lists = aliases_of(dataset), is_list(dataset)
    if not aliases or (lists and _has_no_answers(dataset)):
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
            graded_pairs = set(of_topic.values_list("text_id", "question_id"))
            all_grades = _grades(_texts(dataset, topic), questions, lists)
            grades = [grade for grade in all_grades if grade[:2] not in graded_pairs]
            Rating.objects.add_many(rater.pk, rubric.pk, grades, Exposure.NONE)
            n += len(grades)
    n_questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="").count()
    return ExactMatchResult(n, lists, n_questions - sum(map(len, aliases.values())))


def _has_no_answers(dataset: Dataset) -> bool:
    """Return True if the sub-questions are no answers: nuggets, or most end with "?".

    Titles may end like that, too.
    """
    of_nuggets = (IMPORTANCE.slug, NUGGET_SUPPORT.slug)
    if Rating.objects.of_dataset(dataset).filter(rubric__slug__in=of_nuggets).exists():
        return True
    questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    return 2 * questions.filter(body__endswith="?").count() > questions.count()


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
    for pk, kind, body in rows.iterator(chunk_size=BATCH_SIZE):
        content = body or ""
        listed = predictions(content) if lists and kind == Text.Kind.REPORT else None
        whole = normalised(content)
        for question, aliases in questions.items():
            is_in = holds(whole, aliases) if listed is None else is_among(listed, aliases)
            yield pk, question, int(is_in)


def _normalised(aliases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(normalised, aliases)))


def _gold(dataset: Dataset) -> RatingQuerySet:
    return Rating.objects.of_dataset(dataset).filter(
        rater__name=GOLD, rubric__slug=ANSWERED.slug, grade=1
    )

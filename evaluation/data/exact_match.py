"""The baseline exact-match: a rater that knows the gold answers of questions, and looks for their words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import Grade, RatingQuerySet
from annotation.models.standard import ANSWERABLE, ANSWERED, add_standard
from evaluation.data.selection import SelectionError
from evaluation.metrics.exact_match import holds, is_among, predictions
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
    """The gold answers of each question that is asked.

    Where the rater `gold` gave answers, they are the words of its spans under `answered`, of a question
    that was answered; else the lines of the question: it is then a gold answer with its aliases.
    """
    found = defaultdict[int, dict[int, tuple[str, ...]]](dict)
    asked = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    if is_list(dataset):
        for topic, pk, body in asked.values_list("topic_id", "pk", "body"):
            found[topic][pk] = tuple(body.splitlines())
        return found
    words = defaultdict[int, list[str]](list)
    spans = NuggetSpan.objects.filter(rating__in=_gold(dataset)).order_by("rating_id", "position")
    for question, quote, source in spans.values_list(
        "rating__question_id", "quote", "source_quote"
    ):
        words[question].append(source or quote)
    for topic, pk in asked.filter(pk__in=words).values_list("topic_id", "pk"):
        found[topic][pk] = tuple(words[pk])
    return found


def make_exact_match(dataset: Dataset) -> Made:
    """Grade the reports and passages of every topic, 1 or 0, under `answerable`; what is graded stays.

    A passage is one of the topic, or one that a run ranks for it. Where questions are gold answers, a
    report is a list parted by commas, and answers a question if one of its aliases is in the list;
    else, as a passage does, if one of the answers is in it. Texts without words are passed over.
    Raises SelectionError where somebody else has the name, or there is nothing to look for.
    """
    aliases, lists = aliases_of(dataset), is_list(dataset)
    if not aliases:
        raise SelectionError(f"{dataset.slug} has no question with an answer to look for.")
    add_standard(ANSWERABLE)
    rubric = Rubric.objects.get(slug=ANSWERABLE.slug)
    with transaction.atomic():
        rater, _ = Rater.objects.get_or_create(
            dataset=dataset, name=NAME, defaults={"kind": Rater.Kind.BASELINE}
        )
        if rater.kind != Rater.Kind.BASELINE:
            raise SelectionError(f"{NAME} is the name of a {rater.get_kind_display()} already.")
        there = set(
            Rating.objects.filter(rater=rater, rubric=rubric).values_list("text_id", "question_id")
        )
        grades = [grade for grade in _grades(dataset, aliases, lists) if grade[:2] not in there]
        Rating.objects.add_many(rater.pk, rubric.pk, grades)
    asked = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="").count()
    return Made(len(grades), lists, asked - sum(map(len, aliases.values())))


def _grades(dataset: Dataset, aliases: Aliases, lists: bool) -> Iterator[Grade]:
    for topic, questions in aliases.items():
        ranked = RankedText.objects.filter(run__dataset=dataset, topic=topic, text=OuterRef("pk"))
        texts = Text.objects.with_body().filter(Q(topic=topic) | Exists(ranked), dataset=dataset)
        graded = texts.filter(kind__in=[Text.Kind.PASSAGE, Text.Kind.REPORT])
        for pk, kind, body in graded.values_list("pk", "kind", "body").iterator(chunk_size=AT_ONCE):
            words_of = body or ""
            listed = predictions(words_of) if lists and kind == Text.Kind.REPORT else None
            for question, words in questions.items():
                is_in = holds(words_of, words) if listed is None else is_among(listed, words)
                yield pk, question, int(is_in)


def _gold(dataset: Dataset) -> RatingQuerySet:
    return Rating.objects.of_dataset(dataset).filter(
        rater__name=GOLD, rubric__slug=ANSWERED.slug, grade=1
    )

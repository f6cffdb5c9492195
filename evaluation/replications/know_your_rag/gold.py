"""Gold contexts of questions: passages of the question's own topic, or by a rater."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Dataset, Rating, Text, Topic
from annotation.models.rating import raters_of

OWN_TOPIC = "own"

Gold = dict[int, frozenset[int]]
"""The keys of the right passages, by the key of the question."""


def golds(dataset: Dataset) -> tuple[str, ...]:
    """Return the sources of gold contexts, `own` or RUBRIC:RATER, the likeliest first.

    `own` is the passage of a question's own topic: it is called TOPIC:..., or else like the topic. A rater says
    it by a grade of at least eta, of rubrics that have one.
    """
    rated = Rating.objects.of_dataset(dataset).filter(
        rubric__eta__isnull=False, text__kind=Text.Kind.PASSAGE
    )
    pairs = set(rated.order_by().values_list("rubric__slug", "rater").distinct())
    names = {rater.pk: name for name, rater in raters_of(dataset).items()}
    by_raters = sorted(f"{rubric}:{names[rater]}" for rubric, rater in pairs)
    return (OWN_TOPIC, *by_raters) if _own_passages(dataset)[:1] else (*by_raters, OWN_TOPIC)


def gold_of(dataset: Dataset, gold: str, questions: dict[int, int]) -> Gold:
    """Return the gold passages of these questions, given with their topics.

    Questions without any are left out.
    """
    passages: dict[int, set[int]] = defaultdict(set)
    if gold == OWN_TOPIC:
        of_topic: dict[int, list[int]] = defaultdict(list)
        for topic, text in _own_passages(dataset):
            of_topic[topic].append(text)
        for question, topic in questions.items():
            passages[question].update(of_topic[topic])
    else:
        rubric, _, rater = gold.partition(":")
        ratings = Rating.objects.of_dataset(dataset).filter(
            rubric__slug=rubric,
            rater=raters_of(dataset)[rater],
            text__kind=Text.Kind.PASSAGE,
            grade__gte=F("rubric__eta"),
        )
        for question, text in ratings.order_by().values_list("question", "text"):
            passages[question].add(text)
    return {question: frozenset(passages[question]) for question in questions if passages[question]}


def _own_passages(dataset: Dataset) -> QuerySet[Text, tuple[int, int]]:
    """Return pairs of a topic's key and the key of a passage that belongs to it.

    A passage named like a topic belongs to it if the topic has no other.
    """
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE).order_by()
    has_passage = Exists(passages.filter(topic=OuterRef("pk")))
    topics = Topic.objects.filter(~has_passage, dataset=dataset, name=OuterRef("name"))
    passages = passages.annotate(of=Coalesce("topic_id", Subquery(topics.values("pk")[:1])))
    return passages.exclude(of=None).values_list("of", "pk")

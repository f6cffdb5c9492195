"""The gold contexts of questions: which passage is the right one, by the topic's own, or by a rater."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Dataset, Rating, Text, Topic
from annotation.models.rating import raters_of

OWN = "own"

Gold = dict[int, frozenset[int]]
"""The keys of the right passages, by the key of the question."""


def golds(dataset: Dataset) -> tuple[str, ...]:
    """What can say which passage is the right one: `own`, or RUBRIC:RATER; first what is likely meant.

    `own` is the passage of a question's own topic: it is called TOPIC:..., or else like the topic. A rater says
    it by a grade of at least eta, of rubrics that have one.
    """
    rated = Rating.objects.of_dataset(dataset).filter(
        rubric__eta__isnull=False, text__kind=Text.Kind.PASSAGE
    )
    pairs = set(rated.order_by().values_list("rubric__slug", "rater").distinct())
    names = {rater.pk: name for name, rater in raters_of(dataset).items()}
    by_raters = sorted(f"{rubric}:{names[rater]}" for rubric, rater in pairs)
    return (OWN, *by_raters) if _own_passages(dataset)[:1] else (*by_raters, OWN)


def gold_of(dataset: Dataset, gold: str, questions: dict[int, int]) -> Gold:
    """The right passages of these questions, given with their topics; those without any are left out."""
    found: dict[int, set[int]] = defaultdict(set)
    if gold == OWN:
        of_topic: dict[int, list[int]] = defaultdict(list)
        for topic, text in _own_passages(dataset):
            of_topic[topic].append(text)
        for question, topic in questions.items():
            found[question].update(of_topic[topic])
    else:
        rubric, _, rater = gold.partition(":")
        ratings = Rating.objects.of_dataset(dataset).filter(
            rubric__slug=rubric,
            rater=raters_of(dataset)[rater],
            text__kind=Text.Kind.PASSAGE,
            grade__gte=F("rubric__eta"),
        )
        for question, text in ratings.order_by().values_list("question", "text"):
            found[question].add(text)
    return {question: frozenset(found[question]) for question in questions if found[question]}


def _own_passages(dataset: Dataset) -> QuerySet[Text, tuple[int, int]]:
    """The topics, by key, and the passages that are theirs; one called like a topic where that has no other."""
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE).order_by()
    own = Exists(passages.filter(topic=OuterRef("pk")))
    called_so = Topic.objects.filter(~own, dataset=dataset, name=OuterRef("name")).values("pk")[:1]
    passages = passages.annotate(of=Coalesce("topic_id", Subquery(called_so)))
    return passages.exclude(of=None).values_list("of", "pk")

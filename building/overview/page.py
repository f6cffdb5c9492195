"""Build steps from documents to reports, with counts, gaps and the tasks to fill them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Dataset, Rater, Rating, SubQuestion, Text, Topic
from building.models import Product, Writing
from evaluation.data.cache_keys import CacheKey
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.models import RetrievalRun

WRITES = {
    "passages": "passages",
    "requests": "request",
    "sub-questions": "questions",
    "reports": "report",
    "typed questions with answers": "pairs",
}


@dataclass(frozen=True)
class Step:
    """A build step; `missing` describes the gap, `task` is the writer's task that fills it."""

    name: str
    n: int
    missing: str = ""
    task: str = ""
    waiting: int = 0
    """Products that nobody has decided about."""


def steps(dataset: Dataset) -> list[Step]:
    waiting = dict(
        Product.objects.filter(
            draft__order__run__dataset=dataset, decision=Product.Decision.PROPOSED
        )
        .values_list("draft__order__writer__task")
        .annotate(Count("pk"))
        .order_by()
    )
    # A report without passages is one, too, and a nugget is a sub-question.
    waiting["report"] = waiting.get("report", 0) + waiting.pop("direct", 0)
    waiting["questions"] = waiting.get("questions", 0) + waiting.pop("nuggets", 0)
    return [
        Step(
            step.name,
            step.n,
            step.missing,
            task := WRITES.get(step.name, ""),
            waiting.get(task, 0) if task else 0,
        )
        for step in SHARED_CACHE.until_db_write(
            (CacheKey.CONSTRUCTION_STEPS, dataset.pk), lambda: [*_count_steps(dataset)]
        )
    ]


def _count_steps(dataset: Dataset) -> Iterator[Step]:
    documents = dataset.documents
    n_without = documents.filter(passages=None).count()
    yield Step("documents", documents.count())
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE).with_body()
    yield Step("passages", passages.count(), _gap(n_without, "document", "has", "passage"))
    topics = Topic.objects.filter(dataset=dataset)
    with_request = topics.exclude(request="")
    n_topics = topics.count()
    yield Step(
        "requests",
        with_request.count(),
        _gap(n_topics - with_request.count(), "topic", "has", "request"),
    )
    questions = SubQuestion.objects.with_words().filter(topic__dataset=dataset)
    asking = topics.filter(Exists(questions.filter(topic=OuterRef("pk")))).count()
    yield Step(
        "sub-questions", questions.count(), _gap(n_topics - asking, "topic", "has", "sub-question")
    )
    judges = Rater.objects.exclude(kind=Rater.Kind.HUMAN)
    of_passages = Q(text__dataset=dataset, text__kind=Text.Kind.PASSAGE)
    rated = Rating.objects.filter(of_passages, rater__in=judges)
    yield Step("grades of passages by judges", rated.count())
    yield Step("questions filtered", questions.exclude(filtered_because="").count())
    yield Step("retrieval runs", RetrievalRun.objects.filter(dataset=dataset).count())
    yield Step("reports", dataset.texts.filter(kind=Text.Kind.REPORT).with_body().count())
    typed = Product.objects.filter(
        draft__order__run__dataset=dataset, draft__order__writer__task="pairs"
    )
    accepted = typed.filter(decision__in=[Product.Decision.ACCEPTED, Product.Decision.EDITED])
    yield Step("typed questions with answers", accepted.count())


def _gap(n: int, noun: str, has: str, lacking: str) -> str:
    return (
        f"{n:,} {noun}{'' if n == 1 else 's'} {has if n == 1 else 'have'} no {lacking}" if n else ""
    )


def writings(dataset: Dataset) -> list[Writing]:
    """Return the newest generation runs, each with its number of outputs to review."""
    is_proposed = Q(orders__drafts__products__decision=Product.Decision.PROPOSED)
    runs = Writing.objects.filter(dataset=dataset).select_related("writer")
    return list(runs.annotate(waiting=Count("orders__drafts__products", filter=is_proposed))[:50])

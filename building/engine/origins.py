"""Origins of what this site makes: outputs of writers, and runs by their recipes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.models import Dataset, Rater
from annotation.models.rating import raters_of
from annotation.origins import RERANKED, RETRIEVED, Origin, origin
from building.models import Writer
from building.retrieval import origins
from evaluation.data.sources import PEOPLE_PREFIX
from evaluation.models import RetrievalRun
from judging.models import Judge


def origin_of_writer(writer: Writer, role: str, *, is_edited: bool = False) -> Origin:
    """Return the origin of a writer's output; of a baseline the writer's own name."""
    if writer.is_baseline:
        return origin(role, writer.slug, is_edited=is_edited)
    return origin(role, writer.model, writer.revision, is_edited=is_edited)


def origins_of_steps(dataset: Dataset, steps: Iterable[Mapping[str, Any]]) -> list[Origin]:
    """Return the models that retrieved and reranked, from the provenance of a run's steps.

    Grades rerank in the name of the judge's model; those of people and aggregates in nobody's. A run of
    unknown origin that a step reads is named itself: the models of the others are not all.
    """

    def of_run(name: str) -> list[Origin]:
        run = RetrievalRun.objects.filter(dataset=dataset, name=name).first()
        return (run and run.origins) or [origin(RETRIEVED, name)]

    def of_judge(name: str) -> list[Origin]:
        rater = raters_of(dataset).get(name.removeprefix(PEOPLE_PREFIX))
        if rater is None or rater.kind not in (Rater.Kind.MODEL, Rater.Kind.BASELINE):
            return []
        judge = Judge.objects.filter(rater=rater, rater__kind=Rater.Kind.MODEL).first()
        model = (judge.model, judge.revision) if judge else (rater.name,)
        return [origin(RERANKED, *model)]

    return origins.origins_of_steps(steps, of_run, of_judge)

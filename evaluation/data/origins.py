"""Origins of a system's reports, and the models of judges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count

from annotation.model_families import family_of
from annotation.models import Dataset, Rater, Text
from annotation.origins import JudgeModel, Origin, identity
from evaluation.data.columns import Column


@dataclass(frozen=True)
class ReportOrigins:
    """Origins of the reports of a system, each once, and the number of reports without one."""

    origins: list[Origin]
    n_reports: int
    n_unknown: int


def report_origins(dataset: Dataset, system: str) -> ReportOrigins:
    """Return the origins of a system's reports, counted in the database."""
    reports = dataset.texts.filter(kind=Text.Kind.REPORT, system=system).order_by()
    counts = list(reports.values_list("origins").annotate(n=Count("pk")))
    unique = {
        (*identity(entry), entry.get("edited", False)): entry
        for origins, _ in counts
        for entry in origins
    }
    return ReportOrigins(
        origins=[unique[key] for key in sorted(unique)],
        n_reports=sum(n for _, n in counts),
        n_unknown=sum(n for origins, n in counts if not origins),
    )


def judge_models(columns: Iterable[Column]) -> list[JudgeModel]:
    """Return the models among these raters. One from a file has the family of its name."""
    titles = {
        column.pk: column.title for column in columns if column.kind == Rater.Kind.MODEL.value
    }
    if not titles:
        return []
    raters = Rater.objects.filter(pk__in=titles).select_related("judge").order_by("pk")
    models = []
    for rater in raters:
        judge = getattr(rater, "judge", None)
        model, family = (
            (judge.model, judge.family) if judge else (rater.name, family_of(rater.name))
        )
        models.append(JudgeModel(titles[rater.pk], model, family))
    return models

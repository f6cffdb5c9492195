"""URL parameters of the comparison of two judges or runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.errors import UserError
from annotation.models import Dataset, User
from judging.compare.cells import CellFilter
from judging.compare.page import Comparison, Side
from judging.models import Judge, JudgeRun


class PageQueryError(UserError):
    """Invalid choice; the message can be shown to a person.

    `status` is 404 where something is missing.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ComparisonQuery:
    """A comparison and the filter of its listed cells."""

    comparison: Comparison
    cell_filter: CellFilter

    def params(self, **changes: Any) -> dict[str, Any]:
        """Return the whole query as URL parameters, with changes; None drops a parameter."""
        comparison = self.comparison
        sides: dict[str, Any] = {"a": comparison.a.judge.pk, "b": comparison.b.judge.pk}
        if comparison.a.run and comparison.b.run:
            sides = {"run_a": comparison.a.run.pk, "run_b": comparison.b.run.pk}
        else:
            sides["dataset"] = comparison.dataset.slug
        values = sides | {"eta": comparison.eta} | self.cell_filter.params() | changes
        return {key: value for key, value in values.items() if value is not None}


def comparison_query(params: Mapping[str, str], user: User) -> ComparisonQuery | None:
    """Parse the URL parameters, with access limited to what the user sees.

    Returns None while two sides are not chosen yet. Raises PageQueryError.
    """
    comparison = _comparison(params, user)
    return ComparisonQuery(comparison, _cell_filter(params, comparison)) if comparison else None


def shared_datasets(a: Judge, b: Judge, user: User) -> list[Dataset]:
    """Return the datasets that a user sees and on which both judges had a run."""
    visible = Dataset.objects.visible_to(user)
    return list(visible.filter(judge_runs__judge=a).filter(judge_runs__judge=b).distinct())


def _comparison(params: Mapping[str, str], user: User) -> Comparison | None:
    if params.get("run_a") and params.get("run_b"):
        a, b = (_run(params, name, user) for name in ("run_a", "run_b"))
        if a.pk == b.pk:
            raise PageQueryError("Both runs are the same: choose two different runs.")
        if a.dataset_id != b.dataset_id:
            raise PageQueryError(
                f"Run {a.pk} is about {a.dataset.slug} and run {b.pk} about {b.dataset.slug}: "
                "they have no pairs in common."
            )
        return _checked_comparison(params, a.dataset, Side(a.judge, a), Side(b.judge, b))
    if params.get("a") and params.get("b"):
        first, second = (_judge(params, name, user) for name in ("a", "b"))
        if first.pk == second.pk:
            raise PageQueryError(
                "Both judges are the same: choose two judges, or two runs of this judge."
            )
        return _checked_comparison(
            params, _dataset(params, first, second, user), Side(first), Side(second)
        )
    return None


def _checked_comparison(
    params: Mapping[str, str], dataset: Dataset, a: Side, b: Side
) -> Comparison:
    if a.judge.rubric_id != b.judge.rubric_id:
        raise PageQueryError(
            f"{a.title} grades by the rubric {a.judge.rubric.slug} and {b.title} by "
            f"{b.judge.rubric.slug}: their grades mean different things."
        )
    eta = _number(params, "eta")
    rubric = a.judge.rubric
    if eta is not None and not rubric.has_threshold:
        raise PageQueryError(f"No grade of {rubric.title} means answerable, so η cannot be chosen.")
    usual = rubric.eta if rubric.has_threshold else None
    comparison = Comparison(dataset, a, b, usual if eta is None else eta)
    if comparison.eta is not None and comparison.eta not in comparison.levels[1:]:
        etas = ", ".join(map(str, comparison.levels[1:]))
        raise PageQueryError(f"η is one of {etas}, not {eta}.")
    return comparison


def _judge(params: Mapping[str, str], name: str, user: User) -> Judge:
    pk = _number(params, name) or 0
    judges = Judge.objects.visible_to(user).select_related("rater__dataset", "rubric")
    judge = judges.filter(pk=pk).first()
    if judge is None:
        raise PageQueryError(f"There is no judge {pk}.", 404)
    return judge


def _run(params: Mapping[str, str], name: str, user: User) -> JudgeRun:
    pk = _number(params, name) or 0
    runs = JudgeRun.objects.visible_to(user).filter(test="")
    runs = runs.select_related("dataset", "judge__rater", "judge__rubric")
    run = runs.filter(pk=pk).first()
    if run is None:
        raise PageQueryError(f"There is no judge run {pk}.", 404)
    return run


def _dataset(params: Mapping[str, str], a: Judge, b: Judge, user: User) -> Dataset:
    if slug := params.get("dataset"):
        dataset = Dataset.objects.visible_to(user).filter(slug=slug).first()
        if dataset is None:
            raise PageQueryError(f"There is no dataset “{slug}”.", 404)
        return dataset
    shared = shared_datasets(a, b, user)
    if not shared:
        raise PageQueryError(f"{a} and {b} have had no run on the same dataset.")
    return shared[0]


def _cell_filter(params: Mapping[str, str], comparison: Comparison) -> CellFilter:
    show, kinds = params.get("show") or "changed", comparison.cell_kinds
    if show not in kinds:
        raise PageQueryError(f"There is no list “{show}”. There are: {', '.join(kinds)}.")
    return CellFilter(
        show=show,
        grade_a=_number(params, "grade_a"),
        grade_b=_number(params, "grade_b"),
        topic=_number(params, "topic"),
        part=params.get("part", "").replace("\x00", ""),
    )


def _number(params: Mapping[str, str], name: str) -> int | None:
    value = params.get(name, "")
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= 9):
        raise PageQueryError(f"“{value[:40]}” is not a number for {name}.")
    return int(value)

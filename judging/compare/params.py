"""Which two judges or runs are compared, as a URL says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import Dataset, User
from judging.compare.cells import Wanted
from judging.compare.page import Comparison, Side
from judging.models import Judge, JudgeRun


class ChoiceError(ValueError):
    """A choice that cannot be; the message can be shown to a person. 404 where something is missing."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Choice:
    """A comparison and the cells of it that are listed."""

    comparison: Comparison
    wanted: Wanted

    def params(self, **changes: Any) -> dict[str, Any]:
        """All of it as parameters of a URL, with changes; a value of None drops one."""
        comparison = self.comparison
        sides: dict[str, Any] = {"a": comparison.a.judge.pk, "b": comparison.b.judge.pk}
        if comparison.a.run and comparison.b.run:
            sides = {"run_a": comparison.a.run.pk, "run_b": comparison.b.run.pk}
        else:
            sides["dataset"] = comparison.dataset.slug
        every = sides | {"eta": comparison.eta} | self.wanted.params() | changes
        return {key: value for key, value in every.items() if value is not None}


def choice_of(asked: Mapping[str, str], user: User) -> Choice | None:
    """What somebody asks for, of what they see; None while two sides are not chosen yet.

    Raises ChoiceError.
    """
    comparison = _comparison(asked, user)
    return Choice(comparison, _wanted(asked, comparison)) if comparison else None


def shared_datasets(a: Judge, b: Judge, user: User) -> list[Dataset]:
    """Those that both judges have had a run on, and that somebody sees."""
    seen = Dataset.objects.seen_by(user)
    return list(seen.filter(judge_runs__judge=a).filter(judge_runs__judge=b).distinct())


def _comparison(asked: Mapping[str, str], user: User) -> Comparison | None:
    if asked.get("run_a") and asked.get("run_b"):
        a, b = (_run(asked, name, user) for name in ("run_a", "run_b"))
        if a.pk == b.pk:
            raise ChoiceError("These are the same run: choose two.")
        if a.dataset_id != b.dataset_id:
            raise ChoiceError(
                f"Run {a.pk} is about {a.dataset.slug} and run {b.pk} about {b.dataset.slug}: they "
                "have no cell in common."
            )
        return _made(asked, a.dataset, Side(a.judge, a), Side(b.judge, b))
    if asked.get("a") and asked.get("b"):
        first, second = (_judge(asked, name, user) for name in ("a", "b"))
        if first.pk == second.pk:
            raise ChoiceError("This is one judge: choose two, or two of its runs.")
        return _made(asked, _dataset(asked, first, second, user), Side(first), Side(second))
    return None


def _made(asked: Mapping[str, str], dataset: Dataset, a: Side, b: Side) -> Comparison:
    if a.judge.rubric_id != b.judge.rubric_id:
        raise ChoiceError(
            f"{a.title} grades by the rubric {a.judge.rubric.slug} and {b.title} by "
            f"{b.judge.rubric.slug}: their grades mean different things."
        )
    eta = _number(asked, "eta")
    rubric = a.judge.rubric
    if eta is not None and not rubric.has_threshold:
        raise ChoiceError(f"No grade of {rubric.title} says answerable: there is no η to choose.")
    usual = rubric.eta if rubric.has_threshold else None
    comparison = Comparison(dataset, a, b, usual if eta is None else eta)
    if comparison.eta is not None and comparison.eta not in comparison.levels[1:]:
        etas = ", ".join(map(str, comparison.levels[1:]))
        raise ChoiceError(f"η is one of {etas}, not {eta}.")
    return comparison


def _judge(asked: Mapping[str, str], name: str, user: User) -> Judge:
    pk = _number(asked, name) or 0
    judges = Judge.objects.seen_by(user).select_related("rater__dataset", "rubric")
    judge = judges.filter(pk=pk).first()
    if judge is None:
        raise ChoiceError(f"There is no judge {pk}.", 404)
    return judge


def _run(asked: Mapping[str, str], name: str, user: User) -> JudgeRun:
    pk = _number(asked, name) or 0
    runs = JudgeRun.objects.seen_by(user)
    runs = runs.select_related("dataset", "judge__rater", "judge__rubric")
    run = runs.filter(pk=pk).first()
    if run is None:
        raise ChoiceError(f"There is no judge run {pk}.", 404)
    return run


def _dataset(asked: Mapping[str, str], a: Judge, b: Judge, user: User) -> Dataset:
    if slug := asked.get("dataset"):
        dataset = Dataset.objects.seen_by(user).filter(slug=slug).first()
        if dataset is None:
            raise ChoiceError(f"There is no dataset “{slug}”.", 404)
        return dataset
    shared = shared_datasets(a, b, user)
    if not shared:
        raise ChoiceError(f"{a} and {b} have had no run on the same dataset.")
    return shared[0]


def _wanted(asked: Mapping[str, str], comparison: Comparison) -> Wanted:
    show, there = asked.get("show") or "changed", comparison.shows
    if show not in there:
        raise ChoiceError(f"Cells to show are {', '.join(there)}, not “{show}”.")
    return Wanted(
        show=show,
        grade_a=_number(asked, "grade_a"),
        grade_b=_number(asked, "grade_b"),
        topic=_number(asked, "topic"),
        part=asked.get("part", "").replace("\x00", ""),
    )


def _number(asked: Mapping[str, str], name: str) -> int | None:
    value = asked.get(name, "")
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= 9):
        raise ChoiceError(f"“{value[:40]}” is no number for {name}.")
    return int(value)

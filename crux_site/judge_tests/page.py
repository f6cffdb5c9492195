"""Results of the tests of a judge: shares, differences, and what its noise adds to scores.

Replies belong to judging, statistics to evaluation: only the site may import both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Length

from annotation.models import Dataset, Rubric, Text, User
from annotation.models.rating import rater_name_in
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.ratings import load
from evaluation.data.selection import SelectionError, select
from evaluation.result_tables import ResultTable, Row, Statistic, estimate_record
from evaluation.stats.estimate import Estimate
from evaluation.stats.judge_noise import (
    PairedGrades,
    half_width_of_mean,
    mean_change,
    share_of_changes,
    share_of_rises,
    share_of_unstable_pairs,
    within_pair_sd,
)
from evaluation.stats.length_bias import length_bias
from judging.engine.judge_test_pairs import tested_attempts
from judging.engine.judge_tests import offered_tests
from judging.grading.variants import SUMMARIES, TITLES, JudgeTest
from judging.models import Judge, JudgeRun, JudgeTestReply

CHANGES, UNSTABLE, SPREAD, MEAN, RISES, LENGTH = (
    *("changes", "unstable_pairs", "within_pair_sd"),
    *("mean_change", "rises", "length_bias"),
)
MEASURES: Mapping[str, str] = {
    CHANGES: "Grades that change",
    UNSTABLE: "Pairs with a change",
    SPREAD: "Standard deviation within a pair",
    MEAN: "Mean change of the grade",
    RISES: "Grades that rise",
    LENGTH: "Grades per doubling of the length",
}
NOT_RUN = "undefined, because the test has not run"
NO_DIRECTION = "undefined, because a repeat changes nothing that grades could follow"
NAMES = "undefined, because the grades of this rubric are names or sets of labels"
NO_PEOPLE = "undefined, because no person has graded what this judge has graded"


@dataclass(frozen=True)
class ScoreNoise:
    """Half-widths that the judge's noise gives the scores of a group of texts.

    `group` is a system, or the kind of texts that have none. `at_eta` is None without an eta.
    """

    group: str
    n_pairs: int
    mean_grade: Estimate
    at_eta: Estimate | None


@dataclass(frozen=True)
class JudgeTestResult:
    """Result of the run of a test; of one that has not ended, so far."""

    run: JudgeRun
    n_replies: int
    n_failed: int
    measures: Mapping[str, Estimate]
    scores: Sequence[ScoreNoise] = ()

    @property
    def title(self) -> str:
        return TITLES[JudgeTest(self.run.test)]

    @property
    def n_pairs(self) -> int:
        return self.run.n_planned // self.run.repeats

    @property
    def rows(self) -> list[tuple[str, Estimate]]:
        """Return the measures with their titles."""
        return [(MEASURES[name], estimate) for name, estimate in self.measures.items()]

    def as_json(self) -> dict[str, Any]:
        run = self.run
        return {
            "run": run.pk,
            "dataset": run.dataset.slug,
            "judge": run.judge.slug,
            "fingerprint": run.judge.fingerprint,
            "test": run.test,
            "state": run.state,
            "pairs": self.n_pairs,
            "repeats": run.repeats,
            "seed": run.selection.get("seed", 0),
            "unchanged": run.n_unchanged,
            "replies": self.n_replies,
            "failed": self.n_failed,
            "measures": {name: estimate_record(value) for name, value in self.measures.items()},
            "scores": [
                {
                    "group": score.group,
                    "pairs": score.n_pairs,
                    "half_width_of_mean_grade": score.mean_grade.value,
                    "half_width_of_share_at_eta": score.at_eta.value if score.at_eta else None,
                }
                for score in self.scores
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield the result in lines, for a terminal."""
        run = self.run
        yield (
            f"test “{self.title}” of {run.judge.slug} on {run.dataset.slug}: {self.n_pairs:,} pairs, "
            f"{run.repeats} × each, {self.n_replies:,} replies, {self.n_failed:,} without a grade"
        )
        for title, estimate in self.rows:
            yield f"{title}: {_format_estimate(estimate)}"
        for score in self.scores:
            share = f", of the share at eta ± {_value(score.at_eta)}" if score.at_eta else ""
            yield (
                f"Noise of the mean grade of {score.group} ({score.n_pairs:,} pairs): "
                f"± {_value(score.mean_grade)}{share}"
            )


def _value(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{estimate.value:.3f}"


def _format_estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return str(estimate.reason)
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f} ({estimate.interval_reason or 'no interval'}), n = {estimate.n:,}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}], n = {estimate.n:,}"


def result_of(run: JudgeRun) -> JudgeTestResult:
    """Compute the result of a test from its replies."""
    replies = JudgeTestReply.objects.filter(run=run).order_by()
    rows = list(
        replies.values_list(
            *("attempt_id", "attempt__grade", "attempt__question__topic_id", "repeat", "grade")
        )
    )
    numbers = {attempt: number for number, attempt in enumerate(sorted({row[0] for row in rows}))}
    original, topics = np.zeros(len(numbers)), np.zeros(len(numbers), np.int64)
    repeated = np.full((len(numbers), run.repeats), np.nan)
    for attempt, grade, topic, repeat, new in rows:
        number = numbers[attempt]
        original[number], topics[number] = grade, topic
        repeated[number, repeat - 1] = np.nan if new is None else new
    grades = PairedGrades(original, repeated, topics)
    has_numbers = _has_numbers(run.judge.rubric)
    measures = {CHANGES: share_of_changes(grades)}
    if run.test == JudgeTest.REPEAT:
        measures[UNSTABLE] = share_of_unstable_pairs(grades)
        measures[SPREAD] = within_pair_sd(grades) if has_numbers else Estimate(None, NAMES, 0)
    else:
        measures[MEAN] = mean_change(grades) if has_numbers else Estimate(None, NAMES, 0)
        if run.test == JudgeTest.INJECTION and has_numbers:
            measures[RISES] = share_of_rises(grades)
    scores = _scores(run, grades) if run.test == JudgeTest.REPEAT and has_numbers else ()
    n_failed = sum(row[-1] is None for row in rows)
    return JudgeTestResult(run, len(rows), n_failed, measures, scores)


def _has_numbers(rubric: Rubric) -> bool:
    return not rubric.is_nominal and not rubric.is_multi_label


def _scores(run: JudgeRun, grades: PairedGrades) -> list[ScoreNoise]:
    """Return the noise of the scores of each system, and of passages and references."""
    rubric = run.judge.rubric
    attempts = tested_attempts(run.judge).filter(text__dataset=run.dataset).order_by()
    groups = attempts.values_list("text__kind", "text__system").annotate(n=Count("pk"))
    binary = (
        grades.as_binary(rubric.eta) if rubric.has_threshold and rubric.eta is not None else None
    )
    labels = {Text.Kind.PASSAGE: "passages", Text.Kind.REFERENCE: "references"}
    return [
        ScoreNoise(
            group=system or labels.get(Text.Kind(kind), kind),
            n_pairs=n,
            mean_grade=half_width_of_mean(grades, n),
            at_eta=half_width_of_mean(binary, n) if binary else None,
        )
        for kind, system, n in sorted(groups)
    ]


def length_result(judge: Judge, dataset: Dataset) -> Estimate:
    """Return the length bias of a judge against people, per doubling of the length.

    From stored ratings: the judge is asked nothing. People's grades under the judge's rubric, without those
    that are not independent. Lengths are in characters.
    """
    if not _has_numbers(judge.rubric):
        return Estimate(None, NAMES, 0)
    return cached(dataset, (CacheKey.LENGTH_BIAS, judge.pk), lambda: _length_bias(judge, dataset))


def _length_bias(judge: Judge, dataset: Dataset) -> Estimate:
    name = rater_name_in(dataset, judge.rater)
    try:
        selection = select(dataset, rubric=judge.rubric.slug, judge=name)
    except SelectionError:
        return Estimate(None, NO_PEOPLE, 0)
    if not selection.one_scale or not any(rater.is_person for rater in selection.raters):
        return Estimate(None, NO_PEOPLE, 0)
    # Here, and not for each command that prints a test: it takes a third of a second.
    import pandas as pd  # noqa: PLC0415

    matrix = load(selection)
    pairs = pd.DataFrame(
        {
            "text": matrix.text,
            "topic": matrix.topic,
            "judge": matrix.judge,
            "people": pd.DataFrame(matrix.grades).mean(axis=1).to_numpy(),
        }
    ).dropna()
    texts = pairs.groupby(["topic", "text"], as_index=False).mean()
    lengths = dict(
        Text.objects.filter(pk__in=texts["text"].tolist())
        .order_by()
        .values_list("pk", Length("body"))
    )
    texts["length"] = [lengths.get(key) or np.nan for key in texts["text"]]
    texts = texts.dropna()
    if texts.empty:
        return Estimate(None, NO_PEOPLE, 0)
    return length_bias(texts["judge"], texts["people"], texts["length"], texts["topic"].to_numpy())


@dataclass(frozen=True)
class JudgeTestRow:
    """A test of a judge on a dataset: its newest run with the result, or why it cannot run."""

    test: JudgeTest
    refusal: str
    result: JudgeTestResult | None

    @property
    def title(self) -> str:
        return TITLES[self.test]

    @property
    def summary(self) -> str:
        return SUMMARIES[self.test]

    def estimate(self, measure: str) -> Estimate:
        """Return a measure of the result, or the reason why there is none."""
        if self.result is None:
            refusal = self.refusal[:1].lower() + self.refusal[1:].removesuffix(".")
            return Estimate(None, f"undefined, because {refusal}" if refusal else NOT_RUN, 0)
        return self.result.measures.get(measure, Estimate(None, NO_DIRECTION, 0))

    @property
    def changes(self) -> Estimate:
        return self.estimate(CHANGES)

    @property
    def mean_change(self) -> Estimate:
        return self.estimate(MEAN)


@dataclass(frozen=True)
class JudgeTestsPage:
    """All tests of a judge on a dataset."""

    judge: Judge
    dataset: Dataset
    user: User

    @cached_property
    def rows(self) -> list[JudgeTestRow]:
        runs = runs_of_tests(self.user).filter(judge=self.judge, dataset=self.dataset)
        newest = {run.test: run for run in runs.order_by("pk")}
        return [
            JudgeTestRow(test, refusal, result_of(newest[test]) if test in newest else None)
            for test, refusal in offered_tests(self.judge)
        ]

    @cached_property
    def results(self) -> list[JudgeTestResult]:
        return [row.result for row in self.rows if row.result]

    @cached_property
    def length(self) -> Estimate:
        return length_result(self.judge, self.dataset)

    def table(self) -> ResultTable:
        """Return a row for each measure of each test that has run, and for the length."""
        rows: list[Row] = [
            [result.run.pk, result.run.test, result.run.state, name, estimate]
            for result in self.results
            for name, estimate in result.measures.items()
        ]
        rows.append([None, "length", None, LENGTH, self.length])
        return ResultTable(["run", "test", "state", "measure", Statistic("")], rows)

    def as_json(self) -> dict[str, Any]:
        return {
            "judge": self.judge.slug,
            "fingerprint": self.judge.fingerprint,
            "dataset": self.dataset.slug,
            "tests": [result.as_json() for result in self.results],
            "length_bias": estimate_record(self.length),
        }


def runs_of_tests(user: User) -> QuerySet[JudgeRun]:
    """Return the runs of tests that a user sees."""
    runs = JudgeRun.objects.visible_to(user).exclude(test="")
    return runs.select_related("judge__rater", "judge__rubric", "dataset")


def changed_replies(run: JudgeRun) -> QuerySet[JudgeTestReply]:
    """Return the replies of a test with another grade than the original, by text and question."""
    replies = JudgeTestReply.objects.filter(run=run, state="graded")
    replies = replies.exclude(grade=F("attempt__grade"))
    replies = replies.select_related("attempt__text", "attempt__question__topic")
    return replies.defer("attempt__text__body").order_by(
        "attempt__text_id", "attempt__question__position", "repeat"
    )

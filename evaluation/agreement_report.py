"""Every number about the agreement of a dataset's raters, for the page and the command alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement import cohen, correlation, fleiss
from evaluation.agreement.correlation import Correlation
from evaluation.agreement.estimate import Estimate, FloatArray
from evaluation.agreement.jackknife import jackknife_interval
from evaluation.agreement.overlap import span_overlap
from evaluation.clusters import binary, kappa_over_topics, ratio, share, without_each_topic
from evaluation.coverage_report import (
    Correlations,
    ReportRow,
    correlations,
    mean_coverage,
    report_rows,
)
from evaluation.judge_report import AgainstJudge, judge_parts
from evaluation.matrices import RatingMatrix, Spans, load, load_spans
from evaluation.selection import Column, Selection


@dataclass(frozen=True, slots=True)
class Part:
    """Agreement on all items, or on those of one system or topic.

    `n_missing` counts the cells of items x raters without a rating. `prevalence` is the share of
    "answerable", each item counting once. Intervals: jackknife over topics.
    """

    name: str
    n_items: int
    n_missing: int
    kappa: Estimate
    ac1: Estimate
    percent: Estimate
    prevalence: Estimate


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters on the items that both rated.

    `spans_meet` is the share of the items that both call answerable, and both marked in the text,
    on which their highlights share a character; `overlap` is the mean intersection over union.
    """

    a: Column
    b: Column
    kappa: Estimate
    quadratic: Estimate
    binary: Estimate
    percent: Estimate
    spearman: Correlation
    spans_meet: Estimate
    overlap: Estimate

    @property
    def names(self) -> str:
        """Both, as a URL names them."""
        return f"{self.a.name},{self.b.name}"


@dataclass(frozen=True, slots=True)
class RaterRow:
    """What one rater did. `n_unmarked` counts answers that call for a highlight and have none."""

    rater: Column
    n: int
    n_missing: int
    n_answerable: int
    prevalence: Estimate
    n_unmarked: int
    n_exact: int
    n_normalised: int
    n_unlocated: int

    @property
    def n_located(self) -> int:
        return self.n_exact + self.n_normalised


@dataclass(frozen=True)
class AgreementReport:
    """All numbers of one selection."""

    selection: Selection
    n_items: int
    n_missing: int
    n_cells: int
    n_topics: int
    n_filtered: int
    all: Part
    unanimous: Estimate
    systems: tuple[Part, ...]
    topics: tuple[Part, ...]
    pairs: tuple[Pair, ...]
    n_pairs_apart: int
    """Pairs of raters that share no item, and so are not in `pairs`."""
    raters: tuple[RaterRow, ...]
    reports: tuple[ReportRow, ...]
    correlations: tuple[Correlations, ...]
    mean_coverage: Mapping[str, tuple[Estimate, ...]]
    """By system, each rater's and then the judge's mean over the reports that are finished."""
    judge: AgainstJudge | None
    judge_by_rater: tuple[AgainstJudge, ...]
    judge_by_system: tuple[AgainstJudge, ...]


def agreement_report(selection: Selection) -> AgreementReport:
    """All numbers of one selection, from one reading of its ratings."""
    matrix, spans = load(selection), load_spans(selection)
    every = np.ones(matrix.n_items, dtype=bool)
    pairs = [(a, b) for a, b in combinations(range(len(selection.raters)), 2)]
    shared = [(a, b) for a, b in pairs if _both(matrix.grades, a, b).any()]
    reports = report_rows(matrix)
    judge = judge_parts(matrix) if selection.judge else None
    return AgreementReport(
        selection=selection,
        n_items=matrix.n_items,
        n_missing=matrix.n_missing,
        n_cells=matrix.grades.size,
        n_topics=len(matrix.topic_names),
        n_filtered=_filtered(matrix),
        all=_part(matrix, "all", every),
        unanimous=_unanimous(matrix.grades),
        systems=tuple(_part(matrix, name, matrix.system == name) for name in matrix.systems),
        topics=tuple(
            _part(matrix, name, matrix.topic == pk) for pk, name in matrix.topic_names.items()
        ),
        pairs=tuple(_pair(matrix, spans, a, b) for a, b in shared),
        n_pairs_apart=len(pairs) - len(shared),
        raters=tuple(_rater(matrix, spans, at) for at in range(len(selection.raters))),
        reports=reports,
        correlations=correlations(selection, reports),
        mean_coverage=mean_coverage(selection, reports),
        judge=judge.all if judge else None,
        judge_by_rater=judge.by_rater if judge else (),
        judge_by_system=judge.by_system if judge else (),
    )


def _part(matrix: RatingMatrix, name: str, here: NDArray[np.bool_]) -> Part:
    selection, grades = matrix.selection, matrix.grades[here]
    levels = np.array(selection.levels)
    tallies = fleiss.counts(grades, levels)
    terms = fleiss.item_terms(tallies)
    deleted = without_each_topic(terms, matrix.topic[here])
    answers = np.flatnonzero(levels >= selection.threshold)
    # The terms of an item: share of agreeing pairs, has pairs, has ratings, share of each level.
    yes, rated = terms[:, 3 + answers].sum(axis=1), terms[:, 2]
    return Part(
        name=name,
        n_items=len(grades),
        n_missing=int(np.isnan(grades).sum()),
        kappa=jackknife_interval(fleiss.fleiss_kappa(tallies), fleiss.kappa_from_sums(deleted)),
        ac1=jackknife_interval(fleiss.gwet_ac1(tallies), fleiss.ac1_from_sums(deleted)),
        percent=jackknife_interval(
            fleiss.percent_agreement(tallies), ratio(deleted[:, 0], deleted[:, 1])
        ),
        prevalence=share(yes, rated, matrix.topic[here], "there are no ratings"),
    )


def _unanimous(grades: FloatArray) -> Estimate:
    """The share of the items rated by all raters on which all of them agree."""
    full = ~np.isnan(grades).any(axis=1)
    n, missing = int(full.sum()), int((~full).sum())
    if n == 0 or grades.shape[1] < 2:
        return Estimate(None, "undefined, because no item was rated by all", n, missing)
    return Estimate(float((np.ptp(grades[full], axis=1) == 0).mean()), None, n, missing)


def _both(grades: FloatArray, a: int, b: int) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(grades[:, a]) & ~np.isnan(grades[:, b]))


def _pair(matrix: RatingMatrix, spans: Spans, a: int, b: int) -> Pair:
    selection, topics = matrix.selection, matrix.topic
    first, second = matrix.grades[:, a], matrix.grades[:, b]
    says = [binary(side, selection.threshold) for side in (first, second)]
    both = _both(matrix.grades, a, b)
    same = np.where(both, first == second, 0.0)
    meet, overlap = _meeting(matrix, spans, a, b)
    return Pair(
        a=selection.raters[a],
        b=selection.raters[b],
        kappa=kappa_over_topics(first, second, selection.levels, topics),
        quadratic=kappa_over_topics(first, second, selection.levels, topics, "quadratic"),
        binary=kappa_over_topics(says[0], says[1], (0, 1), topics),
        percent=share(same, both, topics, cohen.NO_PAIR),
        spearman=correlation.spearman(first, second),
        spans_meet=meet,
        overlap=overlap,
    )


def _meeting(matrix: RatingMatrix, spans: Spans, a: int, b: int) -> tuple[Estimate, Estimate]:
    """How often, and how far, two raters who both say answerable mark the same words."""
    first, second = matrix.selection.raters[a].pk, matrix.selection.raters[b].pk
    both = np.flatnonzero((matrix.grades[:, [a, b]] >= matrix.selection.threshold).all(axis=1))
    meet, overlap = np.full(len(both), np.nan), np.full(len(both), np.nan)
    for at, item in enumerate(both.tolist()):
        cell = (int(matrix.text[item]), int(matrix.question[item]))
        marks = [spans.located.get((rater, *cell)) for rater in (first, second)]
        if marks[0] and marks[1]:
            found = span_overlap(marks[0], marks[1])
            meet[at], overlap[at] = bool(found.meet), found.iou.value or 0.0
    marked, topics = ~np.isnan(meet), matrix.topic[both]
    why = "there is no item that both mark"
    return share(meet, marked, topics, why), share(overlap, marked, topics, why)


def _rater(matrix: RatingMatrix, spans: Spans, at: int) -> RaterRow:
    rater, grades = matrix.selection.raters[at], matrix.grades[:, at]
    rated = ~np.isnan(grades)
    yes = grades >= matrix.selection.threshold
    needs_mark = np.flatnonzero(grades >= matrix.selection.rubric.span_from).tolist()
    unmarked = sum(
        (rater.pk, int(matrix.text[item]), int(matrix.question[item])) not in spans.marked
        for item in needs_mark
    )

    return RaterRow(
        rater=rater,
        n=int(rated.sum()),
        n_missing=int((~rated).sum()),
        n_answerable=int(yes.sum()),
        prevalence=share(yes, rated, matrix.topic, "there are no ratings"),
        n_unmarked=unmarked,
        n_exact=spans.tally.get((rater.pk, "exact"), 0),
        n_normalised=spans.tally.get((rater.pk, "normalised"), 0),
        n_unlocated=spans.tally.get((rater.pk, "unlocated"), 0),
    )


def _filtered(matrix: RatingMatrix) -> int:
    """The pairs left out because their question was filtered: of each rated text's topic."""
    if not matrix.selection.leaves_out_filtered:
        return 0
    filtered: dict[int, int] = {}
    for question in matrix.questions.values():
        filtered[question.topic] = filtered.get(question.topic, 0) + question.is_filtered
    topic_of = dict(zip(matrix.text.tolist(), matrix.topic.tolist(), strict=True))
    return sum(filtered[topic] for topic in topic_of.values())

"""Agreement statistics of a dataset's raters, for the page, the API and the command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.agreement.by_rater import Pair, RaterRow, rater_pairs, rater_rows
from evaluation.agreement.composition import GradesOf, grades_given
from evaluation.agreement.highlights import highlights_alpha
from evaluation.agreement.judge import AgainstJudge, judge_parts
from evaluation.agreement.judge_evidence import JudgeEvidence, judge_evidence
from evaluation.agreement.labels import LabelRow, label_rows
from evaluation.agreement.majority import MajorityRow, majority_rows
from evaluation.agreement.parts import (
    Part,
    parts_by,
    slice_parts,
    topic_parts,
    unanimous,
    whole_part,
)
from evaluation.data.cache import cached, cached_or_none
from evaluation.data.cache_keys import CacheKey, Key
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix, count_exposed, load
from evaluation.data.selection import Selection, one_of
from evaluation.data.spans import load_evidence
from evaluation.scoring.report_coverage import (
    Correlations,
    ReportRow,
    ReportRows,
    correlations,
    mean_coverage,
    mean_of_raters,
    no_report_rows,
    report_rows,
)
from evaluation.stats import fleiss
from evaluation.stats.bootstrap import Bootstrap, cluster_bootstrap
from evaluation.stats.clusters import leave_one_out_sums
from evaluation.stats.estimate import Estimate, IntArray
from evaluation.stats.intraclass import Intraclass, intraclass
from evaluation.stats.jackknife import jackknife, jackknife_interval
from evaluation.stats.krippendorff import (
    Metric,
    alpha_from_coincidences,
    alpha_of_counts,
    coincidences_of_counts,
)

SEED = 0  # of the resamples: the same data give the same interval everywhere


def kappa_bootstrap(matrix: RatingMatrix, kappa: Estimate) -> Bootstrap:
    """Return Fleiss' kappa with a cluster bootstrap interval: topics are resampled."""
    sums = matrix.level_columns.topic_terms
    return cluster_bootstrap(kappa, sums, fleiss.kappa_from_sums, seed=SEED)


def alphas(matrix: RatingMatrix, metrics: Iterable[Metric]) -> dict[Metric, Estimate]:
    """Return Krippendorff's alpha of all raters by each metric, with its interval over topics."""
    levels, tallies = matrix.levels, matrix.level_columns.tallies
    sums = coincidences_of_counts(tallies, matrix.topic)
    deleted = leave_one_out_sums(sums)
    return {
        metric: jackknife_interval(
            alpha_of_counts(tallies, sums.sum(axis=0), levels, metric),
            alpha_from_coincidences(deleted, levels, metric),
        ).within(-1, 1)
        for metric in metrics
    }


def icc(matrix: RatingMatrix) -> Intraclass:
    """Return intraclass correlations of all raters, with their intervals over topics."""

    def of(items: IntArray) -> Intraclass:
        return intraclass(matrix.grades[items])

    return Intraclass(
        jackknife(lambda items: of(items).single, matrix.topic).within(-1, 1),
        jackknife(lambda items: of(items).mean, matrix.topic).within(-np.inf, 1),
    )


@dataclass(frozen=True)
class AgreementReport:
    """All numbers of one selection."""

    selection: Selection
    levels: tuple[int, ...]
    """The grades in the order of the confusion matrices: see `RatingMatrix.levels`."""
    n_items: int
    n_missing: int
    n_cells: int
    n_topics: int
    n_filtered: int
    all: Part
    n_exposed: int
    """Grades that people gave after they had seen grades of others or decisions, left out or included."""
    kappa_with_exposed: Estimate | None
    """Fleiss' kappa of all grades; None where no grade is exposed."""
    bootstrap: Bootstrap
    """The kappa of `all` with the interval of a cluster bootstrap."""
    alphas: Mapping[Metric, Estimate]
    """Krippendorff's alpha by each metric that the grades allow, first by `alpha_metric`."""
    labels: tuple[LabelRow, ...]
    """Agreement on each label of a multi-label rubric; empty for others."""
    icc: Intraclass | None
    """Intraclass correlations, where grades are quantities."""
    unanimous: Estimate
    highlights: Estimate
    """Krippendorff's alpha of what all raters marked in the texts, character by character."""
    systems: tuple[Part, ...]
    topics: tuple[Part, ...]
    pairs: tuple[Pair, ...]
    n_pairs_without_common_items: int
    """Pairs of raters that share no item, and so are not in `pairs`."""
    raters: tuple[RaterRow, ...]
    majority: tuple[MajorityRow, ...]
    reports: ReportRows
    correlations: tuple[Correlations, ...]
    mean_coverage: Mapping[str, tuple[Estimate, ...]]
    """Means over finished reports by system, of each of the selection's columns."""
    graded: tuple[GradesOf, ...]
    """Counts of grades by rater and system; empty for a rubric of yes and no."""
    slices: tuple[Part, ...]
    """Agreement by the grade that the rater of `selection.by` gave."""
    judge: AgainstJudge | None
    judge_by_rater: tuple[AgainstJudge, ...]
    judge_by_system: tuple[AgainstJudge, ...]
    judge_words: JudgeEvidence | None
    """Overlap of the judge's quotes with the people's highlights, if it has quotes."""

    def coverage_of(self, report: ReportRow) -> list[tuple[Column, Estimate]]:
        """Return a report's coverage by each of the selection's columns."""
        shares = (*report.coverage, *filter(None, [report.judge]))
        return list(
            zip(self.selection.columns, shares, strict=False)
        )  # a judge among the raters: one share more

    @property
    def displayed_means(self) -> Mapping[str, Sequence[Estimate]]:
        """`mean_coverage`, of a crowd in one mean over its raters; then the judge."""
        if not self.selection.is_crowd:
            return self.mean_coverage
        judge = slice(len(self.selection.raters), None)
        return {
            system: (mean, *self.mean_coverage[system][judge])
            for system, mean in mean_of_raters(self.reports).items()
        }

    @property
    def alpha_metric(self) -> Metric:
        return self.selection.measures.metric

    @property
    def alpha(self) -> Estimate:
        return self.alphas[self.alpha_metric]

    def judged(self, rater: str = "") -> AgainstJudge | None:
        """Return the judge against one rater, or against all of them; None without a judge.

        Raises SelectionError for a rater whom the judge is not compared with.
        """
        if not rater:
            return self.judge
        one_of(
            "rater compared with the judge, called", rater, (p.name for p in self.judge_by_rater)
        )
        return next(part for part in self.judge_by_rater if part.name == rater)


def agreement_report(selection: Selection) -> AgreementReport:
    """Compute all numbers of one selection, loading its ratings once."""
    matrix = load(selection)
    evidence = load_evidence(matrix)
    pairs, n_pairs_apart = rater_pairs(matrix, evidence)
    measures = selection.measures
    raters = selection.raters
    reports = report_rows(matrix) if "coverage" in measures else no_report_rows(len(raters))
    judge = judge_parts(matrix) if selection.judge else None
    overall = whole_part(matrix)
    n_exposed = count_exposed(selection)
    return AgreementReport(
        selection=selection,
        levels=matrix.levels,
        n_items=matrix.n_items,
        n_missing=matrix.n_missing,
        n_cells=matrix.grades.size,
        n_topics=len(matrix.topic_names),
        n_filtered=_filtered(matrix),
        all=overall,
        n_exposed=n_exposed,
        kappa_with_exposed=_kappa_with_exposed(selection, overall) if n_exposed else None,
        bootstrap=kappa_bootstrap(matrix, overall.kappa),
        alphas=alphas(matrix, measures.metrics),
        labels=label_rows(matrix),
        icc=icc(matrix) if "icc_single" in measures else None,
        unanimous=unanimous(matrix.grades),
        highlights=highlights_alpha(matrix, evidence)
        if "krippendorff_alpha_highlights" in measures
        else measures.none("krippendorff_alpha_highlights"),
        systems=parts_by(matrix, matrix.system_index, matrix.systems),
        topics=topic_parts(matrix),
        pairs=pairs,
        n_pairs_without_common_items=n_pairs_apart,
        raters=rater_rows(matrix, evidence),
        majority=majority_rows(matrix),
        reports=reports,
        correlations=correlations(matrix, reports),
        mean_coverage=mean_coverage(reports, len(selection.columns)),
        graded=grades_given(matrix) if "composition" in measures else (),
        slices=slice_parts(matrix),
        judge=judge.all if judge else None,
        judge_by_rater=judge.by_rater if judge else (),
        judge_by_system=judge.by_system if judge else (),
        judge_words=judge_evidence(matrix, evidence),
    )


def _kappa_with_exposed(selection: Selection, overall: Part) -> Estimate:
    """Return Fleiss' kappa with the grades that are not independent."""
    if selection.exposed == "included":
        return overall.kappa
    matrix = load(replace(selection, exposed="included"))
    return whole_part(matrix).kappa


def cached_report(selection: Selection) -> AgreementReport:
    """Return `agreement_report` from the cache, which is invalidated when the data change."""
    key: Key = (CacheKey.AGREEMENT, *selection.key)
    report = cached(selection.dataset, key, lambda: agreement_report(selection))
    # The cached report may have outdated choices; this selection was just loaded.
    return replace(report, selection=selection)


def report_if_cached(selection: Selection) -> AgreementReport | None:
    """Return the report if it is cached; compute nothing."""
    report: AgreementReport | None = cached_or_none(
        selection.dataset, (CacheKey.AGREEMENT, *selection.key)
    )
    return replace(report, selection=selection) if report else None


def _filtered(matrix: RatingMatrix) -> int:
    """Return the number of pairs left out because their question was filtered.

    Each rated text counts the filtered questions of its topic.
    """
    if not matrix.selection.leaves_out_filtered:
        return 0
    filtered: dict[int, int] = {}
    for question in matrix.questions.values():
        filtered[question.topic] = filtered.get(question.topic, 0) + question.is_filtered
    topic_of = dict(zip(matrix.text.tolist(), matrix.topic.tolist(), strict=True))
    return sum(filtered[topic] for topic in topic_of.values())

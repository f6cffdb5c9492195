"""Every number about the agreement of a dataset's raters, for the page and the command alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evaluation.agreement.by_rater import Pair, RaterRow, rater_pairs, rater_rows
from evaluation.agreement.composition import GradesOf, grades_given
from evaluation.agreement.highlights import highlights_alpha
from evaluation.agreement.judge import AgainstJudge, judge_parts
from evaluation.agreement.judge_evidence import JudgeEvidence, judge_evidence
from evaluation.agreement.majority import MajorityRow, majority_rows
from evaluation.agreement.parts import Part, part, slice_parts, topic_parts, unanimous
from evaluation.data.cache import cached, if_kept
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection, one_of
from evaluation.data.spans import load_evidence
from evaluation.scoring.report_coverage import (
    Correlations,
    ReportRow,
    correlations,
    mean_coverage,
    report_rows,
)
from evaluation.stats import fleiss
from evaluation.stats.bootstrap import Bootstrap, cluster_bootstrap
from evaluation.stats.clusters import topic_sums, without_each_topic
from evaluation.stats.estimate import Estimate, IntArray
from evaluation.stats.intraclass import Intraclass, intraclass
from evaluation.stats.jackknife import jackknife, jackknife_interval
from evaluation.stats.krippendorff import (
    Metric,
    alpha_from_coincidences,
    coincidences,
    krippendorff_alpha,
)

SEED = 0  # of the resamples: the same data give the same interval everywhere


def kappa_bootstrap(matrix: RatingMatrix, kappa: Estimate) -> Bootstrap:
    """Fleiss' kappa with the interval from drawing topics anew, beside the jackknife's."""
    tallies = fleiss.counts(matrix.grades, np.array(matrix.selection.levels))
    sums = topic_sums(fleiss.item_terms(tallies), matrix.topic)
    return cluster_bootstrap(kappa, sums, fleiss.kappa_from_sums, seed=SEED)


def alpha(matrix: RatingMatrix) -> Estimate:
    """Krippendorff's alpha of all raters, with its interval over topics."""
    levels, metric = matrix.selection.levels, matrix.selection.measures.metric
    ratings = matrix.grades.T
    units = coincidences(ratings, levels).reshape(matrix.n_items, len(levels) ** 2)
    deleted = without_each_topic(units, matrix.topic).reshape(-1, len(levels), len(levels))
    return jackknife_interval(
        krippendorff_alpha(ratings, metric), alpha_from_coincidences(deleted, levels, metric)
    ).within(-1, 1)


def icc(matrix: RatingMatrix) -> Intraclass:
    """Intraclass correlations of all raters, with their intervals over topics."""

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
    n_items: int
    n_missing: int
    n_cells: int
    n_topics: int
    n_filtered: int
    all: Part
    bootstrap: Bootstrap
    """The kappa of `all` with the interval of a cluster bootstrap."""
    alpha: Estimate
    """Krippendorff's, by `alpha_metric`."""
    icc: Intraclass | None
    """Where grades are quantities."""
    unanimous: Estimate
    highlights: Estimate
    """Krippendorff's alpha of what all raters marked in the texts, character by character."""
    systems: tuple[Part, ...]
    topics: tuple[Part, ...]
    pairs: tuple[Pair, ...]
    n_pairs_apart: int
    """Pairs of raters that share no item, and so are not in `pairs`."""
    raters: tuple[RaterRow, ...]
    majority: tuple[MajorityRow, ...]
    reports: tuple[ReportRow, ...]
    correlations: tuple[Correlations, ...]
    mean_coverage: Mapping[str, tuple[Estimate, ...]]
    """By system, each rater's and then the judge's mean over the reports that are finished."""
    graded: tuple[GradesOf, ...]
    """By rater and system, how often each grade was given; none where a rubric asks for yes or no."""
    slices: tuple[Part, ...]
    """By the grade that the rater of `selection.by` gave."""
    judge: AgainstJudge | None
    judge_by_rater: tuple[AgainstJudge, ...]
    judge_by_system: tuple[AgainstJudge, ...]
    judge_words: JudgeEvidence | None
    """What the judge quotes as its evidence, where it quotes any."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The raters and then the judge, if there is one: whose coverage is told side by side."""
        return (*self.selection.raters, *filter(None, [self.selection.judge]))

    @property
    def alpha_metric(self) -> Metric:
        return self.selection.measures.metric

    def judged(self, rater: str = "") -> AgainstJudge | None:
        """The judge against one rater, or against all of them; None without a judge.

        Raises SelectionError for a rater whom the judge is not compared with.
        """
        if not rater:
            return self.judge
        one_of(
            "rater compared with the judge, called", rater, (p.name for p in self.judge_by_rater)
        )
        return next(part for part in self.judge_by_rater if part.name == rater)


def agreement_report(selection: Selection) -> AgreementReport:
    """All numbers of one selection, from one reading of its ratings."""
    matrix = load(selection)
    evidence = load_evidence(matrix)
    every = np.ones(matrix.n_items, dtype=bool)
    pairs, n_pairs_apart = rater_pairs(matrix, evidence)
    measures = selection.measures
    reports = report_rows(matrix) if "coverage" in measures else ()
    judge = judge_parts(matrix) if selection.judge else None
    overall = part(matrix, "all", every)
    return AgreementReport(
        selection=selection,
        n_items=matrix.n_items,
        n_missing=matrix.n_missing,
        n_cells=matrix.grades.size,
        n_topics=len(matrix.topic_names),
        n_filtered=_filtered(matrix),
        all=overall,
        bootstrap=kappa_bootstrap(matrix, overall.kappa),
        alpha=alpha(matrix),
        icc=icc(matrix) if "icc_single" in measures else None,
        unanimous=unanimous(matrix.grades),
        highlights=highlights_alpha(matrix, evidence)
        if "krippendorff_alpha_highlights" in measures
        else measures.none("krippendorff_alpha_highlights"),
        systems=tuple(part(matrix, name, matrix.system == name) for name in matrix.systems),
        topics=topic_parts(matrix),
        pairs=pairs,
        n_pairs_apart=n_pairs_apart,
        raters=rater_rows(matrix, evidence),
        majority=majority_rows(matrix),
        reports=reports,
        correlations=correlations(selection, reports),
        mean_coverage=mean_coverage(selection, reports),
        graded=grades_given(matrix) if "composition" in measures else (),
        slices=slice_parts(matrix),
        judge=judge.all if judge else None,
        judge_by_rater=judge.by_rater if judge else (),
        judge_by_system=judge.by_system if judge else (),
        judge_words=judge_evidence(matrix, evidence),
    )


def kept_report(selection: Selection) -> AgreementReport:
    """`agreement_report`, kept until the data change."""
    key = ("agreement", *selection.key)
    kept = cached(selection.dataset, key, lambda: agreement_report(selection))
    # What is kept may name choices that have changed since; this selection was just read.
    return replace(kept, selection=selection)


def report_if_kept(selection: Selection) -> AgreementReport | None:
    """The report where somebody has asked for it since the data changed; nothing is computed."""
    kept: AgreementReport | None = if_kept(selection.dataset, ("agreement", *selection.key))
    return replace(kept, selection=selection) if kept else None


def _filtered(matrix: RatingMatrix) -> int:
    """The pairs left out because their question was filtered: of each rated text's topic."""
    if not matrix.selection.leaves_out_filtered:
        return 0
    filtered: dict[int, int] = {}
    for question in matrix.questions.values():
        filtered[question.topic] = filtered.get(question.topic, 0) + question.is_filtered
    topic_of = dict(zip(matrix.text.tolist(), matrix.topic.tolist(), strict=True))
    return sum(filtered[topic] for topic in topic_of.values())

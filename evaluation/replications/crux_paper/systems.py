"""Systems of a dataset, a run with its reports, and the conditions of scoring."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.plurals import n_of
from evaluation.replications.crux_paper.names import Metric
from evaluation.scoring.options import ORACLE, Options
from evaluation.scoring.row_score import RowScore
from evaluation.scoring.rows import DIRECT_PROMPTING, ORACLE_RESULT, ORACLE_RETRIEVAL, is_oracle
from evaluation.scoring.same_topics import on_same_topics
from evaluation.scoring.score import Scores
from evaluation.stats.estimate import Estimate, FloatArray

NO_RETRIEVAL = "undefined, because nothing was retrieved for it"
NO_REPORT = "undefined, because there are no reports from it"

TITLES = {
    DIRECT_PROMPTING: "(#1) Direct prompting",
    ORACLE_RESULT: "(#2) Oracle result y*",
    ORACLE_RETRIEVAL: "(#3) Oracle retrieval Z*",
}


@dataclass(frozen=True)
class System:
    """System of a line of Table 1. It lacks its contexts or its reports, but never both.

    A reference is a bound, or a run of an oracle: systems are compared without it.
    """

    name: str
    is_reference: bool
    contexts: RowScore | None
    reports: RowScore | None

    def row(self, metric: Metric) -> RowScore | None:
        """Return the row with the metric: the contexts or the reports."""
        return self.reports if metric.of_report else self.contexts

    def mean(self, metric: Metric) -> Estimate:
        """Return the mean over topics; `n` of them, `missing` those where it is undefined."""
        row = self.row(metric)
        if row is None:
            return Estimate(None, NO_REPORT if metric.of_report else NO_RETRIEVAL, 0)
        return row.means[metric.score]


def systems(scores: Scores) -> tuple[System, ...]:
    """Return bounds, oracle runs, then all other runs and reports, in the order of the scores.

    A run and the reports of the system of its name are one. A name whose last part (behind a dot)
    is `oracle` is one of an oracle, as in the authors' files. Of several reports of a system for a
    topic the first counts.
    """
    reports: dict[str, RowScore] = {}
    for row in scores.rows:
        if row.row.kind == "reports" and row.row.bound is None:
            reports.setdefault(row.row.system, row)
    every_system: list[System] = []
    for row in scores.rows:
        name = row.row.system
        if row.row.bound is not None:
            every_system.append(_bound(row, row.row.bound))
        elif row.row.kind == "run":
            every_system.append(System(name, is_oracle(name), row, reports.pop(name, None)))
    every_system += (System(name, is_oracle(name), None, row) for name, row in reports.items())
    return tuple(sorted(every_system, key=lambda system: not system.is_reference))


def compared(scores: Scores) -> tuple[System, ...]:
    """Return the systems without the references: those that a correlation is over."""
    return tuple(system for system in systems(scores) if not system.is_reference)


def values(scores: Scores, metric: Metric) -> FloatArray:
    """Return a metric of the compared systems: topics x systems, NaN = undefined or absent.

    It is absent of systems that have not the topics of most: see `on_same_topics`.
    """
    columns = compared(scores)
    table = np.full((len(scores.topic_names), len(columns)), np.nan)
    rows = [system.row(metric) for system in columns]
    comparable = {row.name for row in on_same_topics([row for row in rows if row is not None])}
    for column, row in enumerate(rows):
        if row is not None and row.name in comparable:
            table[:, column] = row.of(metric.score)
    return table


def _bound(row: RowScore, bound: int) -> System:
    title = TITLES[bound]
    if bound == DIRECT_PROMPTING:
        title += f": {row.row.system}"
    if row.row.is_ranking:
        return System(title, True, row, None)
    return System(title, True, None, row)


def conditions(options: Options, *, eta: bool = True, cutoff: bool = True) -> str:
    """Return the conditions of scoring as sentences, from the judge to the tokenizer.

    Without `eta` or `cutoff` that part is left out, where the table itself has it.
    """
    parts = [f"Grades: {options.source.title}"]
    if options.questions:
        parts += [f"questions: {options.questions.title}"]
    parts += [f"η = {options.eta}"] * eta
    parts += [f"rules: {options.rules.name}"]
    parts += [f"ideal of α-nDCG: {options.ideal}, α = {options.alpha:g}"]
    parts += [f"Z: {_size(options)}"] * cutoff
    parts += [f"tokens: {options.tokenizer.name}"]
    verdicts = "" if options.source.kind == "rater" else " Each grade is taken as a verdict at η."
    return f"{'; '.join(parts)}.{verdicts}"


def n_scored(scores: Scores) -> int:
    """Return the number of topics with answerable questions: all that a mean can be over."""
    return sum(bool(pool.answerable) for pool in scores.pools.values())


def topics(scores: Scores) -> str:
    """Return the number of topics of the means, as a phrase.

    With the number of all topics, where some have no mean.
    """
    n, total = n_scored(scores), len(scores.pools)
    fraction = f"the {n} of {n_of(total, 'topic')} with answerable questions"
    return n_of(n, "topic") if n == total else fraction


def _size(options: Options) -> str:
    if options.cutoff is None:
        return "all passages of a run"
    if options.cutoff == ORACLE:
        return "as many passages of a run as Z* has"
    if options.cutoff == 1:
        return "the first passage of a run"
    return f"the first {options.cutoff} passages of a run"

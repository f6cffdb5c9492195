"""Answer lists scored as in ALCE, where questions are gold answers (QAMPARI)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from annotation.models import Dataset, Rater, Text
from evaluation.data.exact_match import NAME, aliases_of, is_list
from evaluation.metrics.exact_match import LIST_MEASURES, ListScore, list_score, predictions
from evaluation.replications.rel_recall.query import Options
from evaluation.stats.clusters import share
from evaluation.stats.estimate import Estimate

NO_REPORT = "undefined, because no report has a value"


@dataclass(frozen=True, slots=True)
class ListReport:
    """A report with its answers, normalised, in order and repeats kept."""

    topic: str
    topic_pk: int
    report: str
    predictions: tuple[str, ...]
    scores: ListScore


@dataclass(frozen=True)
class ListSystem:
    """A system; `macro` are means over its reports, with their intervals over topics."""

    system: str
    reports: tuple[ListReport, ...]
    macro: dict[str, Estimate]


def list_systems(dataset: Dataset, options: Options) -> tuple[ListSystem, ...]:
    """Return the systems by name, scored on answer lists by the baseline exact-match.

    Under the rules of ALCE's code only. None if another rater is chosen, or if the questions are no
    gold answers.
    """
    rater = options.rater.rater
    reads = rater and rater.kind == Rater.Kind.BASELINE and rater.name == NAME
    if not reads or options.rules != "authors" or not is_list(dataset):
        return ()
    aliases = aliases_of(dataset)
    by_system = defaultdict[str, list[ListReport]](list)
    texts = Text.objects.with_body().filter(dataset=dataset, kind=Text.Kind.REPORT)
    rows = texts.filter(topic__in=aliases).order_by("system", "topic__position", "pk")
    columns = ("system", "topic_id", "topic__name", "name", "body")
    for system, topic, topic_name, name, body in rows.values_list(*columns).iterator(2000):
        answers = predictions(body or "")
        scores = list_score(answers, list(aliases[topic].values()))
        by_system[system].append(ListReport(topic_name, topic, name, tuple(answers), scores))
    return tuple(_system(name, reports) for name, reports in by_system.items())


def _system(name: str, reports: list[ListReport]) -> ListSystem:
    topics = np.array([report.topic_pk for report in reports], dtype=np.int64)
    macro = {}
    for measure in LIST_MEASURES:
        values = [getattr(report.scores, measure).value for report in reports]
        numbers = np.array(values, dtype=np.float64)
        macro[measure] = share(numbers, ~np.isnan(numbers), topics, NO_REPORT)
    return ListSystem(name, tuple(reports), macro)

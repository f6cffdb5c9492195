"""Utility grades of whole reports, compared with the share of questions they answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from annotation.models import Dataset, Rater, Rating, SubQuestion, Text
from annotation.models.rating import rater_name_in
from annotation.models.standard import UTILITY
from evaluation.data.cells import load_cells
from evaluation.data.columns import JUDGE, Column
from evaluation.data.corpus import load_corpus
from evaluation.replications.rel_recall.query import Options
from evaluation.stats.clusters import mean_of_items, share
from evaluation.stats.correlation import Correlation, spearman
from evaluation.stats.estimate import Estimate

NO_GRADE = "undefined, because no report has a grade"
NOT_READ = "undefined, because nobody says which questions its reports answer"


@dataclass(frozen=True)
class UtilityRow:
    """A system by the grades of one rater under `utility`.

    `utility` is the mean over its graded reports, `grades` how many have each grade, `answered` the mean of
    the share of questions that a report answers by the chosen rater, over the same reports, and
    `spearman` how far the two rank the reports alike.
    """

    rater: str
    system: str
    utility: Estimate
    grades: dict[int, int]
    answered: Estimate
    spearman: Correlation


def utility_rows(dataset: Dataset, options: Options) -> tuple[UtilityRow, ...]:
    """Return a row by rater and system; none where utility was not graded.

    Of several grades of a report the mean counts.
    """
    rated = Rating.objects.of_dataset(dataset).filter(
        rubric__slug=UTILITY.slug, text__kind=Text.Kind.REPORT, text__topic__isnull=False
    )
    columns = ("rater_id", "text__system", "text__topic_id", "text_id", "grade")
    grades = defaultdict[tuple[int, str], dict[tuple[int, int], list[int]]](
        lambda: defaultdict(list)
    )
    for rater, system, topic, text, grade in rated.values_list(*columns):
        grades[rater, system][topic, text].append(grade)
    if not grades:
        return ()
    raters = Rater.objects.in_bulk({rater for rater, _ in grades})
    titles = {
        pk: Column(pk, rater_name_in(dataset, rater), rater.kind, JUDGE).title
        for pk, rater in raters.items()
    }
    shares = _answered(dataset, options)
    rows = [
        _row(titles[rater], system, reports, shares) for (rater, system), reports in grades.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.rater, row.system)))


def _row(
    rater: str,
    system: str,
    reports: dict[tuple[int, int], list[int]],
    shares: dict[int, float],
) -> UtilityRow:
    topics = np.array([topic for topic, _ in reports], dtype=np.int64)
    utility = np.array([np.mean(grades) for grades in reports.values()], dtype=np.float64)
    answered = np.array([shares.get(text, np.nan) for _, text in reports], dtype=np.float64)
    counts = Counter(grade for grades in reports.values() for grade in grades)
    return UtilityRow(
        rater,
        system,
        utility=mean_of_items(utility, np.ones(len(utility)), topics, NO_GRADE).within(
            UTILITY.levels[-1].grade, UTILITY.levels[0].grade
        ),
        grades={level.grade: counts[level.grade] for level in reversed(UTILITY.levels)},
        answered=share(answered, ~np.isnan(answered), topics, NOT_READ),
        spearman=spearman(utility, answered),
    )


def _answered(dataset: Dataset, options: Options) -> dict[int, float]:
    """Return for each report the share of its rated questions that it answers.

    Counted are unfiltered questions, and positions without words.
    """
    corpus = load_corpus(dataset)
    cells = load_cells(dataset, options.rater, options.eta, corpus)
    counted = defaultdict[int, list[int]](list)
    questions = SubQuestion.objects.filter(
        topic__dataset=dataset, filtered_because__in=["", SubQuestion.EMPTY_REASON]
    )
    for topic, position in questions.values_list("topic_id", "position"):
        counted[topic].append(position)
    shares = {}
    for topic in corpus.topics:
        rows = cells.of_topic(topic)
        grades = cells.grades[rows][:, counted[topic]]
        for text, of_text in zip(cells.text[rows].tolist(), grades, strict=True):
            rated = of_text[~np.isnan(of_text)]
            if len(rated):
                shares[text] = float((rated >= cells.scales["report"].eta).mean())
    return shares

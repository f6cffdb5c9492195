"""Nuggets of a dataset and nugget scores of its reports, computed from rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from annotation.models import Dataset, Rating, Rubric, SubQuestion, Text
from annotation.models.standard import IMPORTANCE, NUGGET_SUPPORT
from evaluation.data.columns import Column
from evaluation.data.ratings import frame
from evaluation.replications.nuggets.metrics import SCORES, Rules, nugget_scores
from evaluation.stats.clusters import share
from evaluation.stats.estimate import Estimate, FloatArray

NO_REPORT = "undefined, because no report has the score"
UNFINISHED = (
    "undefined, because every report that has the score lacks an assignment or a weight of a nugget"
)
LEVELS = {level.grade: level.name for level in NUGGET_SUPPORT.levels}
WEIGHTS = {level.grade: level.name for level in IMPORTANCE.levels}


@dataclass(frozen=True, slots=True)
class Nugget:
    """Unfiltered sub-question; `weight` as its rater said, NaN where it did not."""

    pk: int
    group: str
    weight: float


@dataclass(frozen=True)
class TopicNuggets:
    """The nuggets of a topic."""

    pk: int
    name: str
    nuggets: tuple[Nugget, ...] = field(repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of nuggets: all, by weight, without a weight; and the number of groups."""
        weights = [nugget.weight for nugget in self.nuggets]
        groups = {nugget.group for nugget in self.nuggets if nugget.group}
        return {
            "nuggets": len(weights),
            **{name: weights.count(grade) for grade, name in WEIGHTS.items()},
            "unweighed": int(np.isnan(weights).sum()),
            "groups": len(groups),
        }


@dataclass(frozen=True)
class ReportScore:
    """Four scores of one report, and the grades of its nuggets."""

    text: int
    name: str
    system: str
    topic: TopicNuggets
    grades: FloatArray = field(repr=False)
    scores: Mapping[str, Estimate]

    @property
    def assignment(self) -> dict[str, int]:
        counts = Counter(self.grades[~np.isnan(self.grades)].tolist())
        missing = int(np.isnan(self.grades).sum())
        return {**{name: counts[grade] for grade, name in LEVELS.items()}, "missing": missing}

    def finished(self, name: str) -> float:
        """The score, NaN where it is undefined or a nugget is missing."""
        score = self.scores[name]
        return np.nan if score.value is None or score.missing else score.value


@dataclass(frozen=True)
class SystemScore:
    """Mean scores of a system over its finished reports, with intervals over topics."""

    system: str
    reports: tuple[ReportScore, ...] = field(repr=False)
    means: Mapping[str, Estimate]

    def on(self, topics: Sequence[str], name: str) -> FloatArray:
        """A score by topic, the mean of its reports there; NaN where it has none."""
        values: dict[str, list[float]] = {topic: [] for topic in topics}
        for report in self.reports:
            if report.topic.name in values:
                values[report.topic.name].append(report.finished(name))
        return np.array([np.mean(of) if of else np.nan for of in values.values()])


def load_nuggets(dataset: Dataset, weigher: Column | None) -> tuple[TopicNuggets, ...]:
    """Load the topics with their nuggets, without filtered ones: two queries.

    Importance is of a nugget and not of a text: of several texts the newest rating counts.
    """
    weights: dict[int, int] = {}
    if weigher:
        rated = Rating.objects.of_dataset(dataset).filter(
            rater=weigher.pk, rubric__slug=IMPORTANCE.slug
        )
        weights = dict(rated.order_by("pk").values_list("question", "grade"))
    questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    rows = questions.order_by("topic__position", "topic_id", "position")
    topics: dict[tuple[int, str], list[Nugget]] = {}
    for pk, group, topic, name in rows.values_list("pk", "group", "topic", "topic__name"):
        nugget = Nugget(pk, group, weights.get(pk, np.nan))
        topics.setdefault((topic, name), []).append(nugget)
    return tuple(TopicNuggets(pk, name, tuple(nuggets)) for (pk, name), nuggets in topics.items())


def score_reports(
    dataset: Dataset, topics: Sequence[TopicNuggets], rater: Column | None, rules: Rules
) -> tuple[ReportScore, ...]:
    """The scores of all reports of these topics, by system, then in the order of topics."""
    of = {topic.pk: (index, topic) for index, topic in enumerate(topics)}
    reports = dataset.texts.filter(kind=Text.Kind.REPORT, topic__in=list(of))
    rows = sorted(
        reports.order_by("pk").values_list("system", "topic_id", "pk", "name"),
        key=lambda row: (row[0], of[row[1]][0]),
    )
    grades = _grades(dataset, rater)
    scored = []
    for system, key, text, name in rows:
        topic = of[key][1]
        support = np.array([grades.get((text, nugget.pk), np.nan) for nugget in topic.nuggets])
        weights = [nugget.weight for nugget in topic.nuggets]
        scores = nugget_scores(support, weights, rules)
        scored.append(ReportScore(text, name, system, topic, support, scores))
    return tuple(scored)


def _grades(dataset: Dataset, rater: Column | None) -> dict[tuple[int, int], float]:
    rubric = Rubric.objects.filter(slug=NUGGET_SUPPORT.slug).first()
    if rater is None or rubric is None:
        return {}
    rows = frame(dataset, [rater.pk], [rubric.pk])
    pairs = zip(rows["text"].tolist(), rows["question"].tolist(), strict=True)
    return dict(zip(pairs, rows["grade"].tolist(), strict=True))


def score_systems(reports: Sequence[ReportScore]) -> tuple[SystemScore, ...]:
    """Return the systems by name, with mean scores.

    Reports without a score, or with nuggets missing, are left out and counted.
    """
    by_system: dict[str, list[ReportScore]] = {}
    for report in reports:
        by_system.setdefault(report.system, []).append(report)
    return tuple(
        SystemScore(
            name, tuple(system_reports), {score: _mean(system_reports, score) for score in SCORES}
        )
        for name, system_reports in sorted(by_system.items())
    )


def _mean(reports: Sequence[ReportScore], name: str) -> Estimate:
    values = np.array([report.finished(name) for report in reports])
    topics = np.array([report.topic.pk for report in reports], dtype=np.int64)
    reasons = {report.scores[name].reason for report in reports}
    (only,) = reasons if len(reasons) == 1 else (NO_REPORT,)
    has_scores = any(report.scores[name].value is not None for report in reports)
    why_empty = UNFINISHED if has_scores else only or NO_REPORT
    return share(values, ~np.isnan(values), topics, why_empty)

"""Reports against reference texts: BLEU, ROUGE-L, RAGQuestEval, length, imported values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from annotation.models import Text
from evaluation.data.cache import cached, data_version
from evaluation.data.cache_keys import CacheKey
from evaluation.data.generations import Answers, AskedQuestion, Generations
from evaluation.metrics.grades import BoolArray
from evaluation.metrics.overlap import ORDERS, bleu, rouge_l
from evaluation.metrics.ragquesteval import AUTHORS, RagQuestEval, ragquesteval
from evaluation.metrics.tokenizers import Cut, Tokens
from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.jackknife import jackknife_interval

BLEU, BLEU_PENALISED, ROUGE, LENGTH = "bleu", "bleu_with_penalty", "rouge_l", "length"
PRECISION, RECALL, PRECISION_EQ2 = "qa_precision", "qa_recall", "qa_precision_eq2"
TITLES = {
    BLEU: "BLEU, no penalty",
    BLEU_PENALISED: "BLEU",
    ROUGE: "ROUGE-L",
    PRECISION: "RAGQuestEval precision",
    RECALL: "RAGQuestEval recall",
    PRECISION_EQ2: "Precision, eq. 2",
    LENGTH: "Characters",
}
BREVITY = "brevity_penalty"
# What BLEU is made of: in files alone.
PARTS = (BREVITY, *(f"bleu_{n}" for n in range(1, ORDERS + 1)))
OWN_MEASURES = (*TITLES, *PARTS)
RANGES = {name: (0.0, np.inf if name == LENGTH else 1.0) for name in OWN_MEASURES}
"""What our measures lie within; of those of others nobody knows."""
CRUD_PREFIX = "crud:"  # before the names of what CRUD-RAG's own code computed
NO_VALUE = "undefined, because no topic has a value"


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """Settings of report measures. `rater` is the key of who answered the questions, or None."""

    tokens: Tokens
    rules: str
    rater: int | None


@dataclass(frozen=True)
class SystemMeasures:
    """Values of a system: for each measure one number a topic, in their order; NaN if none.

    `undefined` tells the topics whose answers are all there and give no
    precision (or no recall) all the same; other topics without a value are missing.
    """

    values: Mapping[str, FloatArray]
    undefined: Mapping[str, BoolArray]
    has_report: BoolArray

    def mean(self, measure: str, topics: BoolArray) -> Estimate:
        """Return the mean over these topics, with its t interval.

        `missing` are those that lack a report or answers.
        """
        values = self.values[measure][topics]
        defined = values[~np.isnan(values)]
        n = len(defined)
        missing = len(values) - n - self.n_undefined(measure, topics)
        if not n:
            return Estimate(None, NO_VALUE, 0, missing)
        whole = Estimate(float(defined.mean()), None, n, missing)
        return jackknife_interval(whole, (defined.sum() - defined) / max(n - 1, 1)).within(
            *RANGES.get(measure, (-np.inf, np.inf))
        )

    def n_undefined(self, measure: str, topics: BoolArray) -> int:
        undefined = self.undefined.get(measure)
        return 0 if undefined is None else int(undefined[topics].sum())


@dataclass(frozen=True, slots=True)
class TopicAnswers:
    """RAGQuestEval of a report, and F1 by key of each question that its reference answers."""

    evaluated: RagQuestEval
    f1: Mapping[int, float | None]


@dataclass(frozen=True)
class Scorer:
    """Measures of the systems of a dataset, cached until the data change."""

    generations: Generations
    settings: MeasureSettings

    def measure(self, system: str) -> SystemMeasures:
        read = self.generations
        key = (
            CacheKey.GENERATION_MEASURES,
            system,
            self.settings,
            read.topic,
            read.report,
            read.version,
        )
        return cached(read.dataset, key, lambda: self._compute(system), self._version)

    @cached_property
    def _version(self) -> str:
        return data_version(self.generations.dataset)

    def _compute(self, system: str) -> SystemMeasures:
        reports = self.generations.reports(system)
        values = self._overlap(reports)
        of_answers, undefined = self._answered(system, set(reports))
        values |= of_answers
        for measure, by_topic in self.generations.values(system).items():
            values[measure] = self._array(by_topic)
        has_report = ~np.isnan(values[LENGTH])
        return SystemMeasures(values, undefined, has_report)

    def _array(self, by_topic: Mapping[int, float]) -> FloatArray:
        topics = self.generations.topics
        return np.array([by_topic.get(topic.pk, np.nan) for topic in topics], dtype=np.float64)

    def _overlap(self, bodies: Mapping[int, str]) -> dict[str, FloatArray]:
        """Return BLEU and ROUGE-L of reports whose topics have references; the length of all."""
        pairs = [topic for topic in bodies if topic in self.references]
        cut = self.settings.tokens.cutter()
        ours = [cut(bodies[topic]) for topic in pairs]
        theirs = [self.references[topic] for topic in pairs]
        scores = bleu(ours, theirs)
        columns = {
            BLEU: scores.without_penalty,
            BLEU_PENALISED: scores.with_penalty,
            ROUGE: rouge_l(ours, theirs),
            **dict(zip(PARTS, [scores.brevity_penalty, *scores.precisions.T], strict=True)),
        }
        lengths = {topic: float(len(body)) for topic, body in bodies.items()}
        return {LENGTH: self._array(lengths)} | {
            name: self._array(dict(zip(pairs, column.tolist(), strict=True)))
            for name, column in columns.items()
        }

    def _answered(
        self, system: str, reports: set[int]
    ) -> tuple[dict[str, FloatArray], dict[str, BoolArray]]:
        """Return RAGQuestEval of the topics with a report, and masks of where it is undefined."""
        answers = self.answers(system)
        scores = {
            topic: score
            for topic in reports
            if answers and (score := self.answers_of(topic, answers.get(topic, {}))) is not None
        }
        estimates = {
            PRECISION: {topic: score.evaluated.precision for topic, score in scores.items()},
            RECALL: {topic: score.evaluated.recall for topic, score in scores.items()},
            PRECISION_EQ2: {
                topic: score.evaluated.precision_eq2 for topic, score in scores.items()
            },
        }
        values = {
            name: self._array({t: e.value for t, e in of.items() if e.value is not None})
            for name, of in estimates.items()
        }
        is_scored = ~np.isnan(self._array(dict.fromkeys(scores, 0.0)))
        return values, {name: is_scored & np.isnan(values[name]) for name in estimates}

    def answers(self, system: str) -> Answers:
        """Return the answers in the reports of a system; none without a rater."""
        if self.settings.rater is None:
            return {}
        return self.generations.answers(self.settings.rater, Text.Kind.REPORT, system)

    def answers_of(self, topic: int, answered: Mapping[int, str | None]) -> TopicAnswers | None:
        """Return RAGQuestEval of a topic by the answers in its report.

        None where an answer is missing, or nothing is asked.

        Questions that the reference does not answer are dropped by either rules, as the authors' code does.
        One that is asked twice counts twice by either rules; where its second place has no answer of its own,
        the first one's is taken.
        """
        by_authors = self.settings.rules == AUTHORS
        questions = self.generations.questions.get(topic, [])
        meant = _answers(questions, self.reference_answers.get(topic, {}))
        answered = _answers(questions, answered)
        usable = [
            question.pk
            for question in questions
            if not question.is_filtered
            or (question.repeats is not None and question.pk in meant)
            or (by_authors and question.pk in meant)
        ]
        if not questions or any(pk not in meant for pk in usable):
            return None
        counted = [pk for pk in usable if meant[pk] is not None]
        if any(pk not in answered for pk in counted):
            return None
        evaluated = ragquesteval(
            [meant[pk] for pk in counted],
            [answered[pk] for pk in counted],
            cut=self._cut,
            rules=self.settings.rules,
        )
        return TopicAnswers(evaluated, dict(zip(counted, evaluated.f1, strict=True)))

    @cached_property
    def _cut(self) -> Cut:
        return lru_cache(maxsize=100_000)(self.settings.tokens.cutter())

    @cached_property
    def references(self) -> dict[int, Sequence[str]]:
        """Tokens of each reference, by topic."""
        cut = self.settings.tokens.cutter()
        return {topic: cut(body) for topic, body in self.generations.references.items()}

    @cached_property
    def reference_answers(self) -> Answers:
        if self.settings.rater is None:
            return {}
        return self.generations.answers(self.settings.rater, Text.Kind.REFERENCE)


def _answers(
    questions: Sequence[AskedQuestion], answers: Mapping[int, str | None]
) -> dict[int, str | None]:
    """Return the answers, with those of repeated questions copied from the first occurrence."""
    repeated = {
        question.pk: answers[question.repeats]
        for question in questions
        if question.repeats is not None
        and question.repeats in answers
        and question.pk not in answers
    }
    return {**answers, **repeated}

"""Filter sub-questions that no passage of their topic answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Count, Exists, OuterRef

from annotation.errors import UserError
from annotation.models import Dataset, Rater, Rating, SubQuestion, Text, Topic
from annotation.plurals import n_of
from annotation.row_versions import version_of
from evaluation.data.selection import SelectionError, one_of
from evaluation.data.sources import sources
from evaluation.scoring.options import ScoringQuery
from evaluation.scoring.pools import Pool, load_pools


class FilterError(UserError):
    """Questions that cannot be left out now; a sentence for people."""


@dataclass(frozen=True)
class JudgedQuestion:
    """A question with the best grade of its topic's passages, None if ungraded."""

    pk: int
    body: str
    best: int | None
    n_answering: int
    by_people: bool
    """Graded by a person, so that it stays."""


@dataclass(frozen=True)
class TopicFilter:
    topic: str
    n_passages: int
    n_unrated: int
    """Passage-question pairs without a grade; nothing is proposed while there are any."""
    questions: Sequence[JudgedQuestion]

    @property
    def proposed(self) -> Sequence[JudgedQuestion]:
        if self.n_unrated or not self.n_passages:
            return ()
        return [
            question
            for question in self.questions
            if not question.n_answering and not question.by_people
        ]


@dataclass(frozen=True)
class Filter:
    """Proposal of questions to filter, by a judge's grades at eta."""

    judge: str
    eta: int
    topics: Sequence[TopicFilter]

    @property
    def n_proposed(self) -> int:
        return sum(len(topic.proposed) for topic in self.topics)

    @property
    def n_unrated(self) -> int:
        return sum(topic.n_unrated for topic in self.topics)

    @property
    def version(self) -> str:
        """Return the version of the proposal, so that nothing unseen is filtered."""
        return version_of([question.pk for topic in self.topics for question in topic.proposed])

    @property
    def topics_to_review(self) -> list[TopicFilter]:
        """Sort topics: first those with proposed questions or missing grades."""
        return sorted(self.topics, key=lambda topic: not (topic.proposed or topic.n_unrated))


def judges_of(dataset: Dataset) -> list[str]:
    """Return the names of the judges whose grades can be used."""
    raters = (source for source in sources(dataset) if source.rater and not source.people)
    return [source.name for source in raters if source.rater and source.rater.is_judge]


def filter_of(dataset: Dataset, judge: str, eta: int | str = "") -> Filter:
    """Compute the filter proposal of a judge at `eta`, by default the paper's.

    Raises SelectionError, which lists the choices.
    """
    judges = judges_of(dataset)
    if not judges:
        raise SelectionError("This dataset has no grades of judges yet.")
    one_of("judge", judge, judges)
    options = ScoringQuery(dataset, {"source": judge, "eta": str(eta)}).options
    pools = load_pools(dataset, options)
    questions = SubQuestion.objects.with_words().filter(topic__dataset=dataset, filtered_because="")
    people = set(
        Rating.objects.filter(question__in=questions, rater__kind=Rater.Kind.HUMAN)
        .order_by()
        .values_list("question", flat=True)
    )
    bodies = dict(questions.values_list("pk", "body"))
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE).with_body().order_by()
    n_passages = dict(passages.values_list("topic").annotate(n=Count("pk")))
    return Filter(
        judge,
        options.eta,
        [
            _filter_topic(topic, n_passages.get(topic.pk, 0), pools[topic.pk], bodies, people)
            for topic in dataset.topics.all()
        ],
    )


def _filter_topic(
    topic: Topic, n_passages: int, pool: Pool, bodies: dict[int, str], people: set[int]
) -> TopicFilter:
    columns = [column for column, entry in enumerate(pool.questions) if entry.pk in bodies]
    # A passage may have grades but no body; it does not count.
    rows = [row for row, entry in enumerate(pool.passages) if entry.has_body]
    grades = pool.grades[np.ix_(rows, columns)]
    return TopicFilter(
        topic=topic.name,
        n_passages=n_passages,
        n_unrated=max(0, n_passages * len(columns) - int(np.isfinite(grades).sum())),
        questions=[_judged_question(pool, column, bodies, people) for column in columns],
    )


def _judged_question(
    pool: Pool, column: int, bodies: dict[int, str], people: set[int]
) -> JudgedQuestion:
    key = pool.questions[column].pk
    grades = pool.grades[:, column]
    rated = grades[np.isfinite(grades)]
    return JudgedQuestion(
        pk=key,
        body=bodies[key],
        best=int(rated.max()) if len(rated) else None,
        n_answering=int((rated >= pool.eta).sum()),
        by_people=key in people,
    )


@transaction.atomic
def apply(dataset: Dataset, proposed: Filter) -> int:
    """Mark the proposed questions as filtered, with the reason; return their number.

    Raises FilterError while a passage of a topic lacks a grade: what nobody looked at is not unanswered.
    """
    Dataset.objects.lock(dataset.pk)
    if proposed.n_unrated:
        lacking = [entry.topic for entry in proposed.topics if entry.n_unrated]
        raise FilterError(
            f"No grade of {proposed.judge} for {n_of(proposed.n_unrated, 'pair', ',')} of a passage and a "
            f"question, in {n_of(len(lacking), 'topic', ',')} ({', '.join(lacking[:5])}): grade these first."
        )
    keys = [entry.pk for topic in proposed.topics for entry in topic.proposed]
    because = f"no passage of its topic has a grade of {proposed.eta} from {proposed.judge}"[:200]
    questions = SubQuestion.objects.filter(topic__dataset=dataset, pk__in=keys, filtered_because="")
    # Somebody may have begun to grade meanwhile.
    by_people = Rating.objects.filter(question=OuterRef("pk"), rater__kind=Rater.Kind.HUMAN)
    questions = questions.exclude(Exists(by_people))
    return questions.update(filtered_because=because, filtered_eta=proposed.eta)

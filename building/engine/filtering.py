"""Sub-questions that no passage of their topic answers, proposed; and leaving them out, for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Count, Exists, OuterRef

from annotation.models import Dataset, Rater, Rating, SubQuestion, Text, Topic
from annotation.row_versions import version_of
from evaluation.data.selection import SelectionError, one_of
from evaluation.data.sources import sources
from evaluation.scoring.options import ScoringForm
from evaluation.scoring.pools import Pool, load_pools


class FilterRefused(ValueError):
    """Questions that cannot be left out now; a sentence for people."""


@dataclass(frozen=True)
class Judged:
    """A question and the best grade that a passage of its topic has on it, None where none has one."""

    pk: int
    body: str
    best: int | None
    n_answering: int
    by_people: bool
    """Whether somebody has graded it, so that it stays."""


@dataclass(frozen=True)
class TopicFilter:
    topic: str
    n_passages: int
    n_unrated: int
    """Cells of the topic's passages and questions without a grade: while there are any, nothing is proposed."""
    questions: Sequence[Judged]

    @property
    def proposed(self) -> Sequence[Judged]:
        if self.n_unrated or not self.n_passages:
            return ()
        return [each for each in self.questions if not each.n_answering and not each.by_people]


@dataclass(frozen=True)
class Filter:
    """What a judge's grades at eta say of the questions that are not filtered yet."""

    judge: str
    eta: int
    topics: Sequence[TopicFilter]

    @property
    def n_proposed(self) -> int:
        return sum(len(each.proposed) for each in self.topics)

    @property
    def n_unrated(self) -> int:
        return sum(each.n_unrated for each in self.topics)

    @property
    def version(self) -> str:
        """The version of what is proposed: a person leaves out what they have seen, and nothing else."""
        return version_of([each.pk for topic in self.topics for each in topic.proposed])

    @property
    def to_look_at(self) -> list[TopicFilter]:
        """The topics, those first of which something is proposed, or could be with more grades."""
        return sorted(self.topics, key=lambda each: not (each.proposed or each.n_unrated))


def judges_of(dataset: Dataset) -> list[str]:
    """The judges whose grades can say what is answered, by name."""
    alone = (each for each in sources(dataset) if each.rater and not each.people)
    return [each.name for each in alone if each.rater and each.rater.is_judge]


def filter_of(dataset: Dataset, judge: str, eta: int | str = "") -> Filter:
    """What a judge says at `eta`, by default the paper's. Raises SelectionError, which lists the choices."""
    judges = judges_of(dataset)
    if not judges:
        raise SelectionError("No judge has graded this dataset yet.")
    one_of("judge", judge, judges)
    options = ScoringForm(dataset, {"source": judge, "eta": str(eta)}).options()
    pools = load_pools(dataset, options)
    kept = SubQuestion.objects.with_words().filter(topic__dataset=dataset, filtered_because="")
    people = set(
        Rating.objects.filter(question__in=kept, rater__kind=Rater.Kind.HUMAN)
        .order_by()
        .values_list("question", flat=True)
    )
    words = dict(kept.values_list("pk", "body"))
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE).with_body().order_by()
    n_passages = dict(passages.values_list("topic").annotate(n=Count("pk")))
    return Filter(
        judge,
        options.eta,
        [
            _of_topic(topic, n_passages.get(topic.pk, 0), pools[topic.pk], words, people)
            for topic in dataset.topics.all()
        ],
    )


def _of_topic(
    topic: Topic, n_passages: int, pool: Pool, words: dict[int, str], people: set[int]
) -> TopicFilter:
    asked = [place for place, each in enumerate(pool.questions) if each.pk in words]
    # A passage may have grades and no words, and says nothing of those that have.
    with_words = [row for row, each in enumerate(pool.passages) if each.has_body]
    grades = pool.grades[np.ix_(with_words, asked)]
    return TopicFilter(
        topic=topic.name,
        n_passages=n_passages,
        n_unrated=max(0, n_passages * len(asked) - int(np.isfinite(grades).sum())),
        questions=[_judged(pool, place, words, people) for place in asked],
    )


def _judged(pool: Pool, place: int, words: dict[int, str], people: set[int]) -> Judged:
    key = pool.questions[place].pk
    grades = pool.grades[:, place]
    rated = grades[np.isfinite(grades)]
    return Judged(
        pk=key,
        body=words[key],
        best=int(rated.max()) if len(rated) else None,
        n_answering=int((rated >= pool.eta).sum()),
        by_people=key in people,
    )


@transaction.atomic
def apply(dataset: Dataset, proposed: Filter) -> int:
    """Leave out the questions that are proposed, with the reason; returns how many.

    Raises FilterRefused while a passage of a topic lacks a grade: what nobody looked at is not unanswered.
    """
    Dataset.objects.lock(dataset.pk)
    if proposed.n_unrated:
        lacking = [each.topic for each in proposed.topics if each.n_unrated]
        raise FilterRefused(
            f"{proposed.n_unrated:,} pairs of a passage and a question have no grade of {proposed.judge}, "
            f"in {len(lacking):,} topics ({', '.join(lacking[:5])}): let it grade them first."
        )
    keys = [each.pk for topic in proposed.topics for each in topic.proposed]
    because = f"no passage of its topic has a grade of {proposed.eta} from {proposed.judge}"[:200]
    questions = SubQuestion.objects.filter(topic__dataset=dataset, pk__in=keys, filtered_because="")
    # Somebody may have begun to grade meanwhile.
    by_people = Rating.objects.filter(question=OuterRef("pk"), rater__kind=Rater.Kind.HUMAN)
    questions = questions.exclude(Exists(by_people))
    return questions.update(filtered_because=because, filtered_eta=proposed.eta)

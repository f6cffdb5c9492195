"""Study for label sequences: two systems on 12 topics, a judge, and two people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic

N_TOPICS, N_QUESTIONS = 12, 4
SHARES = {"strong": 0.85, "weak": 0.25}  # of pairs that people call answerable
ERRORS = 0.1  # of the judge


@dataclass(frozen=True)
class SequenceStudy:
    """The dataset, its judge and people, and what people say about each pair."""

    dataset: Dataset
    judge: Rater
    people: list[Rater]
    truth: dict[tuple[int, int], bool]

    @property
    def rubric(self) -> Rubric:
        return Rubric.objects.get(slug="graded")

    def label(self, pairs: Iterable[tuple[int, int]], n_people: int = 1) -> None:
        """Grade pairs by the first people, 5 where answerable and else 0."""
        Rating.objects.bulk_create(
            Rating(
                rater=person,
                rubric=self.rubric,
                text_id=text,
                question_id=question,
                grade=5 * self.truth[text, question],
            )
            for text, question in pairs
            for person in self.people[:n_people]
        )


def make_sequence_study(n_topics: int = N_TOPICS) -> SequenceStudy:
    """Create the study, without a grade of a person."""
    dataset = Dataset.objects.create(slug="tide", title="The tide")
    rubric = Rubric.objects.get(slug="graded")
    judge = Rater.objects.create(dataset=dataset, name="near", kind="model")
    people = [
        Rater.objects.create(dataset=dataset, name=name, kind="human") for name in ("ann", "ben")
    ]
    generator = np.random.default_rng(7)
    truth: dict[tuple[int, int], bool] = {}
    ratings = []
    for position in range(n_topics):
        topic = Topic.objects.create(
            dataset=dataset, name=f"tide-{position + 1}", request="Say it.", position=position
        )
        questions = [
            SubQuestion.objects.create(topic=topic, position=number, body=f"Question {number}?")
            for number in range(N_QUESTIONS)
        ]
        for system, share in SHARES.items():
            text = Text.objects.create(
                dataset=dataset,
                topic=topic,
                kind=Text.Kind.REPORT,
                system=system,
                name=f"{system}-{position + 1}",
                body=f"The water rose, says {system} of {topic.name}.",
            )
            for question in questions:
                answerable = bool(generator.random() < share)
                truth[text.pk, question.pk] = answerable
                graded = answerable != bool(generator.random() < ERRORS)
                ratings.append(
                    Rating(
                        rater=judge, rubric=rubric, text=text, question=question, grade=5 * graded
                    )
                )
    Rating.objects.bulk_create(ratings)
    return SequenceStudy(dataset, judge, people, truth)

"""Study for certificates: three people and judges on 40 pairs of 8 topics, without chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from evaluation.models import Certificate

N_TOPICS = 8
N_QUESTIONS = 5
PEOPLE = ("ann", "ben", "cat")


@dataclass(frozen=True)
class CertificateStudy:
    """The dataset, and its raters by name."""

    dataset: Dataset
    raters: dict[str, Rater]

    @property
    def rubric(self) -> Rubric:
        return Rubric.objects.get(slug="graded")

    def url(self, judge: str, ending: str = "/") -> str:
        return f"/datasets/{self.dataset.slug}/certificates/graded/{self.raters[judge].pk}{ending}"

    def rating(self, rater: str, index: int = 0) -> Rating:
        """Return a rating of a rater by its place in the order of topics and questions."""
        ratings = Rating.objects.filter(rater=self.raters[rater])
        return ratings.order_by("question__topic__position", "question__position")[index]


def make_certificate_study(n_topics: int = N_TOPICS, slug: str = "bay") -> CertificateStudy:
    """Create the study. The judge `far` adds 2 to half of the grades.

    People differ by a grade from the true one on three of ten pairs each, `near` on one of twenty.
    """
    dataset = Dataset.objects.create(slug=slug, title=f"The {slug}")
    rubric = Rubric.objects.get(slug="graded")
    questions, texts = [], []
    for position in range(n_topics):
        topic = Topic.objects.create(
            dataset=dataset,
            name=f"bay-{position + 1}",
            request="Say what happened.",
            position=position,
        )
        text = Text.objects.create(
            dataset=dataset,
            topic=topic,
            kind=Text.Kind.PASSAGE,
            name=f"bay-{position + 1}:0#0",
            body="The harbour was closed. " * (position + 1),
        )
        for number in range(N_QUESTIONS):
            body = f"Question {number + 1} of {topic.name}?"
            questions.append(SubQuestion.objects.create(topic=topic, position=number, body=body))
            texts.append(text)
    raters = {
        name: Rater.objects.create(
            dataset=dataset, name=name, kind="human" if name in PEOPLE else "model"
        )
        for name in (*PEOPLE, "near", "far")
    }
    generator = np.random.default_rng(5)
    n = len(questions)
    true_grades = generator.integers(1, 4, n)
    for name, rater in raters.items():
        if name == "far":
            grades = true_grades + 2 * generator.integers(0, 2, n)
        else:
            share = 0.05 if name == "near" else 0.3
            changes = generator.choice([-1, 1], n) * (generator.random(n) < share)
            grades = true_grades + changes
        Rating.objects.bulk_create(
            Rating(rater=rater, rubric=rubric, text=text, question=question, grade=int(grade))
            for text, question, grade in zip(texts, questions, grades, strict=True)
        )
    return CertificateStudy(dataset, raters)


def store_certificate(dataset: Dataset, judge: Rater) -> Certificate:
    """Store a certificate without evidence, of a dataset that is too small for a test."""
    nothing = {"value": None, "reason": "undefined, because there are no pairs", "n": 0}
    return Certificate.objects.create(
        dataset=dataset,
        judge=judge,
        rubric=Rubric.objects.get(slug="graded"),
        is_certified=False,
        parameters={
            "people": [],
            "all_people": True,
            "eta": None,
            "epsilon": 0.1,
            "agreement_margin": 0.1,
            "bias_margin": 0.25,
        },
        result={
            **dict.fromkeys(("winning_rate", "winning_rate_by_pairs", "advantage", "reason")),
            "n_pairs": 1,
            "n_topics": 1,
            "n_without_judge": 0,
            "people": [],
            "slices": [],
            "agreement": {
                "difference": nothing,
                **dict.fromkeys(("with_judge", "among_people"), 0.5),
                "margin": 0.1,
                "p_equivalent": None,
                "p_not_worse": None,
            },
            "bias": {"estimate": nothing, "systems": []},
            "needed": None,
        },
        fingerprint="",
        rubric_hash="",
        data_hash="0" * 64,
        grade_digests={},
        text_digests={},
    )

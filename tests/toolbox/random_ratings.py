"""Random ratings of two datasets, to compare results with those of plain loops."""

import random
from itertools import product

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic

RATERS = {"ann": "human", "ben": "human", "cay": "model", "judge": "model"}
RUBRICS = ("graded", "answerable")


def make_random_ratings(seed: int) -> Dataset:
    """Create two datasets with texts in turn; "everywhere" is a rater of both. Return one."""
    draw = random.Random(seed)
    datasets = [Dataset.objects.create(slug=f"random-{n}") for n in range(2)]
    topics = [
        Topic.objects.create(dataset=dataset, name=f"topic-{n}", position=9 - n)
        for n in range(3)
        for dataset in datasets
    ]
    for topic in topics:
        for position in (2, 0, 1):
            filtered = "too vague" if draw.random() < 0.2 else ""
            body = "" if filtered and draw.random() < 0.5 else "Why?"
            SubQuestion.objects.create(
                topic=topic, position=position, body=body, filtered_because=filtered
            )
    raters = [Rater.objects.create(name="everywhere", kind="human")]
    raters += [
        Rater.objects.create(dataset=datasets[0], name=name, kind=kind)
        for name, kind in RATERS.items()
    ]
    Rater.objects.filter(name="ben").update(is_adjudicator=True)
    rubrics = [Rubric.objects.get(slug=slug) for slug in RUBRICS]
    for n in range(12):
        topic = draw.choice(topics)
        kind = draw.choice(["report", "passage"])
        fields = {"kind": kind, "name": f"text-{n}", "system": f"system-{n}"}
        text = Text.objects.create(dataset=topic.dataset, topic=topic, **fields)
        # A passage of a fifth is graded for another topic.
        rated_topic = topic if kind == "report" or draw.random() < 0.8 else draw.choice(topics)
        if rated_topic.dataset != topic.dataset:
            continue
        for rater, rubric in product(raters, rubrics):
            if rater.dataset in (None, topic.dataset):
                grades = [
                    (text.pk, question, draw.choice(rubric.grades()))
                    for question in rated_topic.questions.values_list("pk", flat=True)
                    if draw.random() < 0.6
                ]
                Rating.objects.add(rater.pk, rubric.pk, grades)
    return datasets[0]

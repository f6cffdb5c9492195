"""Three systems on five topics, each report read by ann and ben, for the mixed model."""

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic

# Which of four questions each system's report answers, topic by topic, as ann and ben see it.
ANSWERS = {
    "alpha": ((1, 1), (2, 1), (0, 1), (2, 2), (1, 0)),
    "beta": ((3, 3), (4, 3), (2, 3), (3, 4), (3, 2)),
    "gamma": ((1, 1), (2, 1), (1, 1), (2, 2), (1, 0)),
}


def make_duel() -> Dataset:
    dataset = Dataset.objects.create(slug="duel", title="The duel")
    answerable = Rubric.objects.get(slug="answerable")
    raters = [
        Rater.objects.create(dataset=dataset, name=name, kind="human") for name in ("ann", "ben")
    ]
    for topic_index in range(5):
        topic = Topic.objects.create(
            dataset=dataset, name=f"t{topic_index}", request="Write.", position=topic_index
        )
        questions = SubQuestion.objects.bulk_create(
            SubQuestion(topic=topic, position=position, body=f"What is {position}?")
            for position in range(4)
        )
        for system, answers in ANSWERS.items():
            text = Text.objects.create(
                dataset=dataset, topic=topic, kind="report", system=system, name=topic, body="a"
            )
            Rating.objects.bulk_create(
                Rating(
                    rater=rater,
                    rubric=answerable,
                    text=text,
                    question=question,
                    grade=question.position < n,
                )
                for rater, n in zip(raters, answers[topic_index], strict=True)
                for question in questions
            )
    return dataset

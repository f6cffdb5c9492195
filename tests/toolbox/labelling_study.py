"""Eight topics with a report each, of which people finished three and the judge seven."""

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic

# What the judge grades and what ann says, question by question; a filtered third question has neither.
JUDGE = [(5, 5), (5, 0), (0, 0), (3, 0), (4, 5), (0, 3), (2, 2), (5, None)]
ANN = [(1, 1), (1, 1), (0, None), (0, 0)]  # the third is not finished


def make_locks() -> Dataset:
    dataset = Dataset.objects.create(slug="locks", title="The lock study")
    people = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    judge = Rater.objects.create(dataset=dataset, name="words", kind="baseline")
    for number, grades in enumerate(JUDGE):
        topic = Topic.objects.create(
            dataset=dataset, name=f"locks-{number}", request="?", position=number
        )
        text = Text.objects.create(
            dataset=dataset,
            topic=topic,
            kind="report",
            system="one",
            name=f"r{number}",
            body="Words.",
        )
        for position in range(3):
            question = SubQuestion.objects.create(
                topic=topic,
                position=position,
                body="Why?",
                filtered_because="" if position < 2 else "nobody answers it",
            )
            if position == 2:
                continue
            answer = ANN[number][position] if number < len(ANN) else None
            rate(judge, "graded", text, question, grades[position])
            rate(people, "answerable", text, question, answer)
    return dataset


def rate(rater, rubric, text, question, grade):
    if grade is not None:
        Rating.objects.create(
            rater=rater,
            rubric=Rubric.objects.get(slug=rubric),
            text=text,
            question=question,
            grade=grade,
        )

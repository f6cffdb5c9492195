"""Small study with results by hand: four topics, three runs, two judges, two people.

Each topic has two questions and three passages. Answers:

    passage   judge    other
    #0        q0       -
    #1        q1       -
    #2        -        q0, q1

Which passages a run ranks on the four topics, and its coverage by the judge and by the other:

    good   #0 #1   #0 #1   #0 #1   #0 #1    1   1   1   1     0   0   0   0
    fair   #0      #0      #0 #1   #1       .5  .5  1   .5    0   0   0   0
    poor   #2      #0      #0      #2       0   .5  .5  0     1   0   0   1

Means by the judge: 1, 0.625, 0.25; by the other: 0, 0, 0.5.
ann and ben give #0 a 5 on q0 and #1 a 0 on q0, in every topic: the judge says the same, the other
says no to both. The system `good` has a report for each topic, which nobody rated.
"""

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from evaluation.models import RankedText, RetrievalRun

RUNS = {
    "good": ((0, 1), (0, 1), (0, 1), (0, 1)),
    "fair": ((0,), (0,), (0, 1), (1,)),
    "poor": ((2,), (0,), (0,), (2,)),
}
JUDGE = ((5, 0), (0, 5), (0, 0))
OTHER_GRADES = ((0, 0), (0, 0), (5, 5))


def make_retrieval_study(n_topics: int = 4, people: bool = True) -> Dataset:
    """The dataset `room`; topics beyond the fourth repeat the first four."""
    graded = Rubric.objects.get(slug="graded")
    dataset = Dataset.objects.create(slug="room", title="The room")
    raters = {
        name: Rater.objects.create(dataset=dataset, name=name, kind=kind)
        for name, kind in {
            "judge": "model",
            "other": "model",
            "ann": "human",
            "ben": "human",
        }.items()
        if people or kind == "model"
    }
    runs = {name: RetrievalRun.objects.create(dataset=dataset, name=name) for name in RUNS}
    for index in range(n_topics):
        topic = Topic.objects.create(
            dataset=dataset, name=f"t{index}", request="Write.", position=index
        )
        questions = [
            SubQuestion.objects.create(topic=topic, position=position, body=f"What is {position}?")
            for position in range(2)
        ]
        passages = [
            Text.objects.create(
                dataset=dataset,
                topic=topic,
                kind="passage",
                name=f"t{index}:0#{number}",
                body="a b c d",
            )
            for number in range(3)
        ]
        Text.objects.create(
            dataset=dataset, topic=topic, kind="report", system="good", name=f"t{index}", body="a b"
        )
        grades = [
            (name, passages[number], question, grade)
            for name, table in {"judge": JUDGE, "other": OTHER_GRADES}.items()
            for number, row in enumerate(table)
            for question, grade in zip(questions, row, strict=True)
        ]
        if people:
            for name in ("ann", "ben"):
                grades += [
                    (name, passages[0], questions[0], 5),
                    (name, passages[1], questions[0], 0),
                ]
        Rating.objects.bulk_create(
            Rating(rater=raters[name], rubric=graded, text=text, question=question, grade=grade)
            for name, text, question, grade in grades
        )
        RankedText.objects.bulk_create(
            RankedText(run=runs[name], topic=topic, text=passages[number], rank=rank)
            for name, ranked in RUNS.items()
            for rank, number in enumerate(ranked[index % 4], 1)
        )
    return dataset


RETRIEVAL_URL = "/datasets/room/systems/"

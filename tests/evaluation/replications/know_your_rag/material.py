"""Dataset of four questions about mills: contexts, two runs, types of three by tess."""

from annotation.models import Dataset, Rater, Rating, SubQuestion, Text, Topic
from annotation.models.standard import QUESTION_TYPE, add_standard
from evaluation.models import RankedText, RetrievalRun

TYPES = {"q1": 1, "q2": 1, "q3": 2}  # two of one fact, a summary, and nothing of q4
RUNS = {
    "bm25": {
        "q1": {"q1:0": 3.0, "q2:0": 1.0},
        "q2": {"q1:0": 4.0, "q2:0": 2.0},
        "q3": {"q1:0": 5.0},
    },
    "dense": {
        "q1": {"q2:0": 0.9, "q1:0": 0.8},
        "q2": {"q2:0": 0.9},
        "q3": {"q3:0": 0.7, "q1:0": 0.6},
    },
}


def make_mills() -> Dataset:
    dataset = Dataset.objects.create(slug="mills", title="Mills")
    tess = Rater.objects.create(dataset=dataset, name="tess", kind="human")
    rubric = add_standard(QUESTION_TYPE)
    topics, texts = {}, {}
    for position, name in enumerate(("q1", "q2", "q3", "q4")):
        topic = topics[name] = Topic.objects.create(
            dataset=dataset, name=name, request=f"What of {name}?", position=position
        )
        question = SubQuestion.objects.create(topic=topic, position=0, body=f"What of {name}?")
        text = texts[f"{name}:0"] = Text.objects.create(
            dataset=dataset, topic=topic, kind="passage", name=f"{name}:0", body=f"Of {name}."
        )
        if name in TYPES:
            Rating.objects.create(
                rater=tess, rubric=rubric, text=text, question=question, grade=TYPES[name]
            )
    for run, of_topics in RUNS.items():
        stored_run = RetrievalRun.objects.create(dataset=dataset, name=run)
        RankedText.objects.bulk_create(
            RankedText(run=stored_run, topic=topics[name], text=texts[text], rank=rank, score=score)
            for name, ranked in of_topics.items()
            for rank, (text, score) in enumerate(ranked.items(), 1)
        )
    return dataset

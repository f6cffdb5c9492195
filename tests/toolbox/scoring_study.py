"""Study small enough to score by hand: a topic with four questions, q3 filtered; a second.

    passage          words   judge           strict
    ferry-1:0#0         14   5  0  0  0      5  0  0  0
    ferry-1:0#1          -   0  3  0  0      .
    ferry-1:2#2          6   4  2  0  0      0  4  0  0
    ferry-1:10#10       10   0  0  .  4      0  0  0  0
    ferry-1:11#11        5   .               .
    far-9:0#0            8   0  4  5  0      .           of no topic of the dataset

P* of the judge: the first four. At eta 3 they answer q0, q1 and q3, not q2, and q3 counts although
it is filtered. Three passages are each the first to answer one: Z* = 0#0, 0#1, 10#10.
P* of strict: 0#0, 2#2 and 10#10. They answer q0 and q1, Z* = 0#0, 2#2 of 20 words.

Runs, in the order of ranks:
    dense            far-9:0#0, 2#2
    annotated.bm25   far-9:0#0, 2#2, 11#11, 0#1
T1 by three people, questions q0 q1 q2, of the report of annotated.oracle and that of annotated.bm25:
    ann 1 1 0    1 0 1
    ben 1 0 0    1 0 1
    cay .        0 0 .
T2 by ann and ben: 0#0 on q1 with 4 and 3; by ann alone: 2#2 on q0 with 1.
The second topic, ferry-2, has one question and one passage, which the judge gives a 0; dense ranks it.
"""

from dataclasses import dataclass

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from evaluation.models import RankedText, RetrievalRun
from tests.toolbox.factories import REPORT, make_dataset

LENGTHS = {"ferry-1:2#2": 6, "ferry-1:10#10": 10, "ferry-1:11#11": 5, "far-9:0#0": 8}
N = None
JUDGE = {
    "ferry-1:0#0": (5, 0, 0, 0),
    "ferry-1:0#1": (0, 3, 0, 0),
    "ferry-1:2#2": (4, 2, 0, 0),
    "ferry-1:10#10": (0, 0, N, 4),
    "far-9:0#0": (0, 4, 5, 0),
}
STRICT = {
    "ferry-1:0#0": (5, 0, 0, 0),
    "ferry-1:2#2": (0, 4, 0, 0),
    "ferry-1:10#10": (0, 0, 0, 0),
}
RUNS = {
    "dense": ("far-9:0#0", "ferry-1:2#2"),
    "annotated.bm25": ("far-9:0#0", "ferry-1:2#2", "ferry-1:11#11", "ferry-1:0#1"),
}
T1 = {
    "ann": {"annotated.oracle": (1, 1, 0), "annotated.bm25": (1, 0, 1)},
    "ben": {"annotated.oracle": (1, 0, 0), "annotated.bm25": (1, 0, 1)},
    "cay": {"annotated.bm25": (0, 0)},
}
T2 = {
    "ann": {"ferry-1:0#0": (N, 4), "ferry-1:2#2": (1,)},
    "ben": {"ferry-1:0#0": (N, 3)},
}
REPORT_WORDS = 31


@dataclass
class Study:
    dataset: Dataset
    topic: Topic
    questions: list[SubQuestion]
    passages: dict[str, Text]
    reports: dict[str, Text]
    raters: dict[str, Rater]

    def rate(self, rater: str, text: Text, grades: tuple, rubric: str = "graded") -> None:
        Rating.objects.bulk_create(
            Rating(
                rater=self.raters[rater],
                rubric=Rubric.objects.get(slug=rubric),
                text=text,
                question=question,
                grade=grade,
            )
            for question, grade in zip(self.questions, grades, strict=False)
            if grade is not None
        )

    def keys(self, *names: str) -> tuple[int, ...]:
        return tuple(self.passages[name].pk for name in names)


def make_study() -> Study:
    dataset = make_dataset()
    assert len(REPORT.split()) == REPORT_WORDS
    topic = dataset.topics.get()
    for name, n in LENGTHS.items():
        own_topic = topic if name.startswith("ferry-1:") else None
        body = " ".join(["word"] * n)
        Text.objects.create(dataset=dataset, topic=own_topic, kind="passage", name=name, body=body)
    study = Study(
        dataset,
        topic,
        list(topic.questions.order_by("position")),
        {text.name: text for text in dataset.texts.filter(kind="passage")},
        {text.system: text for text in dataset.texts.filter(kind="report")},
        {
            name: Rater.objects.create(dataset=dataset, name=name, kind=kind)
            for kind, names in {
                "model": ("judge", "strict"),
                "human": ("ann", "ben", "cay"),
            }.items()
            for name in names
        },
    )
    for rater, table in {"judge": JUDGE, "strict": STRICT, **T2}.items():
        for name, grades in table.items():
            study.rate(rater, study.passages[name], grades)
    for rater, table in T1.items():
        for system, grades in table.items():
            study.rate(rater, study.reports[system], grades, "answerable")
    second = Topic.objects.create(dataset=dataset, name="ferry-2", request="More.", position=1)
    question = SubQuestion.objects.create(topic=second, position=0, body="And then?")
    far_passage = Text.objects.create(
        dataset=dataset, topic=second, kind="passage", name="ferry-2:0#0", body="Nothing."
    )
    Rating.objects.create(
        rater=study.raters["judge"],
        rubric=Rubric.objects.get(slug="graded"),
        text=far_passage,
        question=question,
        grade=0,
    )
    for name, ranked in RUNS.items():
        run = RetrievalRun.objects.create(dataset=dataset, name=name)
        RankedText.objects.bulk_create(
            RankedText(run=run, topic=topic, text_id=pk, rank=rank)
            for rank, pk in enumerate(study.keys(*ranked), 1)
        )
        if name == "dense":
            RankedText.objects.create(run=run, topic=second, text=far_passage, rank=1)
    return study


def make_reference(study: Study, grades: tuple = (5, 0, 0, 5), length: int = 10) -> Text:
    """A reference summary that the judge rated."""
    text = Text.objects.create(
        dataset=study.dataset,
        topic=study.topic,
        kind="reference",
        name="ferry-1:report",
        body=" ".join(["word"] * length),
    )
    study.rate("judge", text, grades)
    return text

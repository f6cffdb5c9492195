"""Small study with tables by hand: two topics, four systems, an oracle and a bound.

Of each topic's three questions the passages answer the first two, at eta 3:

    passage   q1  q2  q3
    0#0        5   1   0
    0#1        2   4   0
    0#2        3   3   0     so Z* is this one alone
    0#3        1   0   2

    system    Z of mill-1   Z of mill-2   Cov(Z)   y of mill-1  y of mill-2   Cov(y)
    good      2 0           2             1        q1 q2        q1 q2         1
    mid       0 1           0             3/4      q1           q2            1/2
    fair      0 3           1             1/2      q1 q2        q1            3/4
    poor      3             0             1/4      q1           -             1/4
    oracle    2             2             1        q1 q2        q1 q2         1
    direct    -             -             -        q1           -             1/4

Coverage of Z orders the four as good, mid, fair, poor and of y as good, fair, mid, poor: of six
pairs one is swapped, and tau is (5 - 1) / 6.

Ann and ben have read the reports of good, mid and poor. At eta 5 only question 1 is answerable.
"""

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from evaluation.models import RankedText, RetrievalRun

GRADES = ((5, 1, 0), (2, 4, 0), (3, 3, 0), (1, 0, 2))
RUNS = {
    "human_eval.good": ((2, 0), (2,)),
    "human_eval.mid": ((0, 1), (0,)),
    "human_eval.fair": ((0, 3), (1,)),
    "human_eval.poor": ((3,), (0,)),
    "human_eval.oracle": ((2,), (2,)),
}
REPORTS = {
    "human_eval.good": ((4, 3, 0), (5, 5, 0)),
    "human_eval.mid": ((3, 1, 0), (0, 3, 0)),
    "human_eval.fair": ((4, 4, 0), (3, 0, 0)),
    "human_eval.poor": ((3, 0, 0), (1, 1, 0)),
    "human_eval.oracle": ((5, 5, 0), (5, 5, 0)),
    "human_eval.direct": ((3, 0, 0), (0, 0, 0)),
}
# T1: which of the three questions each person finds answered, by system and topic.
PEOPLE = {
    "ann": {"good": ("110", "111"), "mid": ("100", "010"), "poor": ("000", "100")},
    "ben": {"good": ("111", "110"), "mid": ("110", "000"), "poor": ("100", "000")},
}


def make_mill(
    slug: str = "mill",
    *,
    runs: bool = True,
    reports: bool = True,
    order: tuple[int, int] = (0, 1),
) -> Dataset:
    """The study, or a part of it; `order` is that in which the rows of its topics are made."""
    dataset = Dataset.objects.create(slug=slug, title="The mill study")
    graded, yes_or_no = (Rubric.objects.get(slug=slug) for slug in ("graded", "answerable"))
    judge = Rater.objects.create(dataset=dataset, name="judge", kind="model")
    people = {
        name: Rater.objects.create(dataset=dataset, name=name, kind="human") for name in PEOPLE
    }
    created_runs = {
        name: RetrievalRun.objects.create(dataset=dataset, name=name) for name in RUNS if runs
    }

    def rate(rater, rubric, text, grades):
        Rating.objects.bulk_create(
            Rating(rater=rater, rubric=rubric, text=text, question=question, grade=int(grade))
            for question, grade in zip(questions, grades, strict=True)
        )

    for position in order:
        name = f"mill-{position + 1}"
        topic = Topic.objects.create(dataset=dataset, name=name, request="Why?", position=position)
        questions = [
            SubQuestion.objects.create(topic=topic, position=n, body=f"Question {n}?")
            for n in range(3)
        ]

        def text(kind, name, n_words, system="", topic=topic):
            return Text.objects.create(
                dataset=dataset,
                topic=topic,
                kind=kind,
                name=name,
                system=system,
                body="w " * n_words,
            )

        passages = [text("passage", f"{name}:0#{n}", 10 + n) for n in range(len(GRADES))]
        for passage, grades in zip(passages, GRADES, strict=True):
            rate(judge, graded, passage, grades)
        for run in created_runs.values():
            RankedText.objects.bulk_create(
                RankedText(run=run, topic=topic, text=passages[p], rank=rank, score=1 / rank)
                for rank, p in enumerate(RUNS[run.name][position], start=1)
            )
        for system, grades in (REPORTS if reports else {}).items():
            report = text("report", f"{system.rpartition('.')[2]}_{name}", 8, system)
            rate(judge, graded, report, grades[position])
            for person, labels in PEOPLE.items():
                if system.rpartition(".")[2] in labels:
                    answer = labels[system.rpartition(".")[2]][position]
                    rate(people[person], yes_or_no, report, answer)
    return dataset

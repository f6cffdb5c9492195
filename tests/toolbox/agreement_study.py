"""A study small enough to work every number out by hand.

T1, two reports of one topic with three questions each (a fourth is filtered):

    report            question   ann  ben   judge (graded)
    annotated.oracle  1           1    1     5
                      2           1    0     1
                      3           0    0     0
    annotated.bm25    1           1    1     2
                      2           0    0     4
                      3           1    1     -

Both say yes to oracle 1 and mark the same words; to bm25 1, and mark different ones; to bm25 3,
where ben's words are not in the text.
"""

from dataclasses import dataclass

from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from tests.toolbox.factories import REPORT, make_dataset

ANN = {"oracle": (1, 1, 0), "bm25": (1, 0, 1)}
BEN = {"oracle": (1, 0, 0), "bm25": (1, 0, 1)}
JUDGE = {"oracle": (5, 1, 0), "bm25": (2, 4)}


@dataclass
class Study:
    dataset: Dataset
    ann: Rater
    ben: Rater
    judge: Rater
    oracle: Text
    bm25: Text
    questions: list[SubQuestion]

    def rating(self, rater: Rater, text: Text, number: int) -> Rating:
        question = self.questions[number - 1]
        return Rating.objects.get(rater=rater, text=text, question=question)

    def url(self, page: str, query: str = "") -> str:
        return f"/datasets/{self.dataset.slug}/{page}/{'?' if query else ''}{query}"

    def pair_url(self, text: Text, number: int, query: str = "") -> str:
        return self.url(f"pairs/{text.pk}/{self.questions[number - 1].pk}", query)


def make_study(judge_kind: str = "model") -> Study:
    dataset = make_dataset()
    texts = {name: dataset.texts.get(system=f"annotated.{name}") for name in ("oracle", "bm25")}
    questions = list(SubQuestion.objects.filter(topic__dataset=dataset).order_by("position"))
    raters = {
        name: Rater.objects.create(
            dataset=dataset, name=name, kind=judge_kind if name == "judge" else "human"
        )
        for name in ("ann", "ben", "judge")
    }
    for name, rubric, grades in (
        ("ann", "answerable", ANN),
        ("ben", "answerable", BEN),
        ("judge", "graded", JUDGE),
    ):
        Rating.objects.bulk_create(
            Rating(
                rater=raters[name],
                rubric=Rubric.objects.get(slug=rubric),
                text=texts[system],
                question=question,
                grade=grade,
            )
            for system, row in grades.items()
            for question, grade in zip(questions, row, strict=False)
        )
    study = Study(dataset, *raters.values(), *texts.values(), questions)
    mark(study.rating(study.ann, study.oracle, 1), "Halden lost steering")
    mark(study.rating(study.ben, study.oracle, 1), "lost steering off the breakwater")
    mark(study.rating(study.ann, study.bm25, 1), "The car ferry")
    mark(study.rating(study.ben, study.bm25, 1), "Investigators found a coupling")
    mark(study.rating(study.ann, study.bm25, 3), "112 people")
    NuggetSpan.objects.create(
        rating=study.rating(study.ben, study.bm25, 3),
        position=0,
        located="unlocated",
        source_quote="a coupling, it says <somewhere>",
    )
    return study


def mark(rating: Rating, quote: str) -> None:
    start = REPORT.index(quote)
    NuggetSpan.objects.create(
        rating=rating, position=0, start=start, end=start + len(quote), quote=quote
    )


def file_url(study, file: str, query: str = "") -> str:
    return study.url(file, query).replace(f"{file}/", file)

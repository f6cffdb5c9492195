"""A study of names, small enough to work every number out by hand.

Types of questions: 0 unanswerable, 1 fact_single, 2 summary, 3 reasoning; pairs 1 to 3 of one report, 4 to 6
of another:

    pair    1  2  3    4  5  6
    ann     1  1  2    3  1  0
    ben     1  2  2    3  1  0
    cat     1  2  2    2  1  -
    judge   1  2  2    3  2  0
"""

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion
from annotation.models.standard import QUESTION_TYPE, add_standard
from tests.toolbox.factories import make_dataset

TYPES = {
    "ann": (1, 1, 2, 3, 1, 0),
    "ben": (1, 2, 2, 3, 1, 0),
    "cat": (1, 2, 2, 2, 1),
    "judge": (1, 2, 2, 3, 2, 0),
}


def make_nominal(slug: str = "ferry") -> Dataset:
    dataset = Dataset.objects.filter(slug=slug).first() or make_dataset(slug)
    rate(dataset, add_standard(QUESTION_TYPE), TYPES)
    return dataset


def rate(dataset: Dataset, rubric: Rubric, grades: dict[str, tuple[int, ...]]) -> None:
    """The grades of each rater, of the two reports with three questions each, in their order."""
    questions = list(SubQuestion.objects.filter(topic__dataset=dataset).order_by("position")[:3])
    pairs = [
        (text, question)
        for system in ("annotated.oracle", "annotated.bm25")
        for text in dataset.texts.filter(system=system)
        for question in questions
    ]
    for name, item_grades in grades.items():
        kind = "model" if name == "judge" else "human"
        rater, _ = Rater.objects.get_or_create(dataset=dataset, name=name, defaults={"kind": kind})
        for (text, question), grade in zip(pairs, item_grades, strict=False):
            Rating.objects.create(
                rater=rater, rubric=rubric, text=text, question=question, grade=grade
            )

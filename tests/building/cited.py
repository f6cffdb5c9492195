"""Reports of two systems with citations, small enough to check numbers by hand.

s.one, report a     "It rained. It stopped. It cost. And so on."
    It rained.      p1, p2
    It stopped.     p1, and "9", which is nothing known
    It cost.        p3, which has no words
    And so on.      nothing
s.one, report b     "Boats sank. None was hurt."
    Boats sank.     p1, by two labels
    None was hurt.  nothing
s.two, report a     "It rained."
    It rained.      p2
"""

from annotation.models import Citation, Dataset, Rater, Rating, Rubric, Text, Topic
from building.engine.cited_pairs import CitedPairsSummary, make_support

BODY_A = "It rained. It stopped. It cost. And so on."
BODY_B = "Boats sank. None was hurt."
PAIRS = [
    ("It rained.", "p1", "s.one/a/1"),
    ("It rained.", "p2", "s.one/a/1"),
    ("It stopped.", "p1", "s.one/a/2"),
    ("It cost.", "p3", "s.one/a/3"),
    ("Boats sank.", "p1", "s.one/b/1"),
]


def make_cited(slug: str = "rain") -> Dataset:
    dataset = Dataset.objects.create(slug=slug, title=f"The {slug} reports")
    topics = {
        name: Topic.objects.create(
            dataset=dataset, name=name, position=position, request=f"Write about {name}."
        )
        for position, name in enumerate("ab")
    }
    for name, body in (("p1", "It rained, and stopped."), ("p2", "It did rain."), ("p3", None)):
        Text.objects.create(dataset=dataset, kind="passage", name=name, body=body)
    for system, name, body in (
        ("s.one", "a", BODY_A),
        ("s.one", "b", BODY_B),
        ("s.two", "a", "It rained."),
    ):
        Text.objects.create(
            dataset=dataset, topic=topics[name], kind="report", system=system, name=name, body=body
        )
    cite(report(dataset), "It rained.", "p1", "p2")
    cite(report(dataset), "It stopped.", "p1", "9")
    cite(report(dataset), "It cost.", "p3")
    cite(report(dataset, "b"), "Boats sank.", "p1", "p1")
    cite(report(dataset, system="s.two"), "It rained.", "p2")
    return dataset


def report(dataset: Dataset, name: str = "a", system: str = "s.one") -> Text:
    return dataset.texts.get(kind="report", name=name, system=system)


def cite(of: Text, quote: str, *names: str) -> None:
    start = of.body.index(quote)
    for name in names:
        Citation.objects.create(
            report=of,
            position=of.citations.count(),
            start=start,
            end=start + len(quote),
            label=f"[{of.citations.count()}]" if name.startswith("p") else name,
            cited=of.dataset.texts.filter(kind="passage", name=name).first(),
        )


def import_citations(
    dataset: Dataset, *systems: str, into: str = "rain-citations"
) -> tuple[Dataset, CitedPairsSummary]:
    summary = make_support(dataset, systems or ["s.one"], into)
    return Dataset.objects.get(slug=into), summary


def pairs_of(support: Dataset) -> list[tuple[str, str, str]]:
    """Return (statement, cited text, topic) of every pair in the dataset, in order."""
    rows = Text.objects.filter(dataset=support).order_by("topic__position", "pk")
    return [
        (body, name.partition(":")[2], topic)
        for body, name, topic in rows.values_list("topic__questions__body", "name", "topic__name")
    ]


def grade(support: Dataset, rater: Rater, *grades: int | None) -> None:
    """Grades of the pairs in the order of `pairs_of`; None leaves one out."""
    rubric = Rubric.objects.get(slug="citation-support")
    texts = Text.objects.filter(dataset=support).order_by("topic__position", "pk")
    ratings = [
        (text.pk, text.topic.questions.get().pk, value)
        for text, value in zip(texts.select_related("topic"), grades, strict=True)
        if value is not None
    ]
    Rating.objects.add(rater.pk, rubric.pk, ratings)


def a_rater(name: str = "ann", kind: str = "human", dataset: Dataset | None = None) -> Rater:
    return Rater.objects.create(name=name, kind=kind, dataset=dataset)

"""Relevance grades of whole topics (qrels): one grade for each topic and passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import raters_by_name
from annotation.models.standard import ANSWERABLE, GRADED
from evaluation.data.process_cache import RELEVANCE_SOURCES
from evaluation.data.selection import SelectionError, one_of

Grades = Mapping[int, Mapping[int, int]]
"""By key of the topic and of the text."""


@dataclass(frozen=True, slots=True)
class RelevanceSource:
    """A rater's grades under one ordinal rubric with an eta.

    `name` is RUBRIC:RATER; `short` is the rater's name alone where it says the same.
    """

    name: str
    short: str
    rater: int
    rater_name: str
    rubric: int
    rubric_title: str
    eta: int
    levels: tuple[int, ...]

    @property
    def title(self) -> str:
        return f"{self.rater_name}, {self.rubric_title}"


def relevance_sources(dataset: Dataset) -> tuple[RelevanceSource, ...]:
    """Return the raters of passages under an ordinal rubric with an eta.

    People first, then by name.

    The rubrics for sub-questions (grades 0 to 5, yes or no) are not among them: they have sources of their
    own, see `evaluation.data.sources`. Kept while nothing is written.
    """
    return RELEVANCE_SOURCES.until_db_write(dataset.pk, lambda: _sources(dataset))


def _sources(dataset: Dataset) -> tuple[RelevanceSource, ...]:
    rubrics = {
        rubric.pk: rubric
        for rubric in Rubric.objects.filter(scale=Rubric.Scale.ORDINAL, eta__isnull=False)
        if rubric.slug not in (GRADED.slug, ANSWERABLE.slug)
    }
    rated = Rating.objects.of_dataset(dataset).filter(
        rubric__in=rubrics, text__kind=Text.Kind.PASSAGE
    )
    pairs = set(rated.order_by().values_list("rater_id", "rubric_id").distinct())
    raters = raters_by_name(Rater.objects.filter(pk__in={rater for rater, _ in pairs}))
    names = {rater.pk: name for name, rater in raters.items()}
    is_person = {rater.pk: rater.kind == Rater.Kind.HUMAN for rater in raters.values()}
    n_rubrics = Counter(rater for rater, _ in pairs)
    sources = [
        RelevanceSource(
            name=f"{rubrics[rubric].slug}:{names[rater]}",
            short=names[rater] if n_rubrics[rater] == 1 else "",
            rater=rater,
            rater_name=names[rater],
            rubric=rubric,
            rubric_title=rubrics[rubric].title,
            eta=rubrics[rubric].eta or 0,
            levels=tuple(rubrics[rubric].grades()),
        )
        for rater, rubric in pairs
    ]
    return tuple(sorted(sources, key=lambda source: (not is_person[source.rater], source.name)))


def relevance_source(dataset: Dataset, name: str | None = None) -> RelevanceSource:
    """Return the source named RUBRIC:RATER or RATER; without a name the first.

    Raises SelectionError, which lists the sources, for another name or if there is none.
    """
    available = relevance_sources(dataset)
    if not available:
        raise SelectionError("No passage has a grade under an ordinal rubric with an eta.")
    if not name:
        return available[0]
    match = next((source for source in available if name == source.short), None)
    if match is None:
        one_of("source of relevance grades", name, (source.name for source in available))
        match = next(source for source in available if source.name == name)
    return match


def is_relevance_source(dataset: Dataset, name: str | None) -> bool:
    """Return True if `name` is one of `relevance_sources`, in full or by the rater's name."""
    return any(
        name and name in (source.name, source.short) for source in relevance_sources(dataset)
    )


def relevance_grades(dataset: Dataset, source: RelevanceSource) -> Grades:
    """Return the grade of each text for each topic: one query.

    A grade of the request as a whole goes before all others; without one the highest grade on any question
    of the topic is taken.
    """
    rows = Rating.objects.of_dataset(dataset).filter(
        rater=source.rater, rubric=source.rubric, text__kind=Text.Kind.PASSAGE
    )
    columns = ("question__topic_id", "text_id", "grade", "question__filtered_because")
    best: dict[int, dict[int, int]] = {}
    of_whole: dict[int, dict[int, int]] = {}
    for topic, text, grade, filtered_because in (
        rows.order_by().values_list(*columns).iterator(10_000)
    ):
        if filtered_because == SubQuestion.WHOLE:
            of_whole.setdefault(topic, {})[text] = grade
        else:
            of_topic = best.setdefault(topic, {})
            of_topic[text] = max(grade, of_topic.get(text, grade))
    for topic, grades in of_whole.items():
        best.setdefault(topic, {}).update(grades)
    return best

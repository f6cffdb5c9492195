"""Models and baselines that can be the judge of some raters: those that rated the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db.models import Exists, OuterRef

from annotation.models import Campaign, Dataset, Rater, Rating, Rubric
from annotation.models.standard import GRADED
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import JUDGE, Column
from evaluation.data.measures import measures_of
from evaluation.data.process_cache import SHARED_CACHE


def eligible_judges(
    dataset: Dataset,
    rubric: Rubric,
    rubrics: Sequence[Rubric],
    raters: Sequence[Column],
    names: dict[int, str],
    study: Campaign | None,
) -> dict[Column, Rubric]:
    """Return the models and baselines that rated the same texts as the raters, with rubrics.

    With a study, only its texts.
    """
    # Grades of the graded rubric can be read at eta beside yes and no, which have no eta to choose; beside
    # other levels one eta would mean two things.
    is_yes_or_no = "prevalence" in measures_of(rubric) and len(rubric.grades()) == 2
    extra_slugs = [GRADED.slug] if is_yes_or_no else []
    by_pk = {r.pk: r for r in rubrics if r.pk == rubric.pk or r.slug in extra_slugs}
    rated = SHARED_CACHE.until_db_write(
        (
            CacheKey.RATED_SAME_TEXTS,
            dataset.pk,
            rubric.pk,
            tuple(by_pk),
            tuple(raters),
            study and study.pk,
        ),
        lambda: _rated_same_texts(dataset, rubric, tuple(by_pk), raters, study),
    )
    rows = sorted(
        rated, key=lambda row: (row[0] == Rater.Kind.BASELINE, names[row[1]], row[2] != rubric.pk)
    )
    judges: dict[Column, Rubric] = {}
    for kind, pk, rubric_pk in rows:
        judges.setdefault(Column(pk, names[pk], kind, JUDGE), by_pk[rubric_pk])
    return judges


def _rated_same_texts(
    dataset: Dataset,
    rubric: Rubric,
    rubric_pks: Collection[int],
    raters: Sequence[Column],
    study: Campaign | None,
) -> list[tuple[str, int, int]]:
    """Kind, key and rubric of the models and baselines that rated what these raters rated."""
    # Asked rater by rater and pair by pair, until one is found: the judges of a large study have
    # millions of ratings between them.
    same = "question" if rubric.stands_for_topic else "text"
    by_raters = Rating.objects.of_dataset(dataset).filter(
        rubric=rubric,
        rater__in=[rater.pk for rater in raters],
        **{same: OuterRef(same)},
    )
    if study:
        by_raters = by_raters.filter(text__in=study.items.values("text"))
    ratings = Rating.objects.of_dataset(dataset).filter(Exists(by_raters))
    judges = Rater.objects.filter(kind__in=[Rater.Kind.MODEL, Rater.Kind.BASELINE]).order_by()
    return [
        (kind, pk, rubric_pk)
        for rubric_pk in rubric_pks
        for pk, kind in judges.filter(
            ratings.filter(rubric=rubric_pk).exist_for_rater()
        ).values_list("pk", "kind")
    ]

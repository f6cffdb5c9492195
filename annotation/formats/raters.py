"""Our own raters.jsonl: each rater with its kind, and other facts that its grades do not state."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Min

from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import RaterRow
from annotation.formats.writing import json_line
from annotation.models import Dataset, Rater, Rating
from annotation.models.rating import raters_of

if TYPE_CHECKING:
    from annotation.formats.target import Target


def read(target: "Target", source: Source) -> None:
    """Create the raters that are new. `judge` of a line is read by judging.formats.judges, before this."""
    summary = target.summary.file(source.name)
    for line, row in rows(target, source, RaterRow, again=True):
        if row.kind not in Rater.Kind.values:
            expected = ", ".join(Rater.Kind.values)
            target.problem(source, line, "kind", f"{row.kind!r} is none of {expected}")
            continue
        before = target.summary.created["raters"]
        rater = target.rater(source, line, row.name, Rater.Kind(row.kind))
        if rater is None:
            continue
        if rater.kind != row.kind:
            target.problem(source, line, "kind", f"{row.name} is a {rater.kind} already")
            continue
        is_new = target.summary.created["raters"] > before
        summary.created += is_new
        if row.adjudicator and not rater.is_adjudicator:
            _mark_adjudicator(target, source, line, rater, is_new=is_new)
        elif not is_new:
            summary.unchanged += 1
        if row.first_rating:
            target.first_ratings[rater.pk] = datetime.fromisoformat(row.first_rating)


def _mark_adjudicator(
    target: "Target", source: Source, line: int, rater: Rater, *, is_new: bool
) -> None:
    if rater.kind != Rater.Kind.HUMAN or rater.dataset_id is None:
        message = f"{rater} is here already, and is not an adjudicator"
        target.problem(source, line, "adjudicator", message)
        return
    rater.is_adjudicator = True
    rater.save(update_fields=["is_adjudicator"])
    target.summary.file(source.name).filled += not is_new


def restore_dates(target: "Target") -> None:
    """Date the ratings of an import into an empty dataset by the first rating of their rater.

    The default judge is the first that rated. In a dataset with ratings or earlier words of its own,
    imported ratings keep the time of the import: they are ratings of the current words.
    """
    if target.was_empty:
        for rater, first in target.first_ratings.items():
            ratings = Rating.objects.filter(rater=rater, text__dataset=target.dataset)
            ratings.update(created=first)


def lines(dataset: Dataset, judges: Mapping[int, dict[str, Any]]) -> Iterator[str]:
    """A line for each rater with ratings, by name; `judges` are definitions of judges by rater.

    Aggregates are left out, as their grades are.
    """
    first = dict(
        Rating.objects.of_dataset(dataset)
        .exclude(rater__kind=Rater.Kind.AGGREGATE)
        .order_by()
        .values_list("rater")
        .annotate(Min("created"))
    )
    for name, rater in sorted(raters_of(dataset).items()):
        if rater.pk not in first:
            continue
        line: dict[str, Any] = {"name": name, "kind": rater.kind}
        if rater.is_adjudicator:
            line["adjudicator"] = True
        line["first_rating"] = first[rater.pk].astimezone(UTC).isoformat()
        if rater.pk in judges:
            line["judge"] = judges[rater.pk]
        yield json_line(line)

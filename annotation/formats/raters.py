"""Our own raters.jsonl: each rater with its kind, and facts that no grade states."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Min

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.history import known_raters, superseded_raters
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import RaterRow
from annotation.formats.writing import json_line
from annotation.models import Dataset, NuggetSpan, Rater, Rating

if TYPE_CHECKING:
    from annotation.formats.target import Target


def read(target: "Target", source: Source) -> None:
    """Create the raters that are new.

    `judge` of a line is read by judging.formats.judges, before this.
    """
    summary = target.summary.file(source.name)
    for line, row in rows(target, source, RaterRow, is_repeat=True):
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


_PAIR = ("rater_id", "rubric_id", "text_id", "question_id")


def restore_dates(target: "Target") -> None:
    """Date the ratings of an import into an empty dataset by the first rating of their rater.

    The default judge is the first that rated. In a dataset with ratings or text history of its own,
    imported ratings keep the time of the import: they are ratings of the current wording.
    """
    if target.was_empty:
        for rater, first in target.first_ratings.items():
            ratings = Rating.objects.filter(rater=rater, text__dataset=target.dataset)
            ratings.update(created=first)
        _date_pairs(target)


def _date_pairs(target: "Target") -> None:
    """Date ratings of edited texts and questions, and restore their spans' positions."""
    for pairs in batches(target.rated_at, LOOK_UP):
        texts = {text for _, _, text, _ in pairs}
        ratings = Rating.objects.filter(text__in=texts, rater__in={rater for rater, *_ in pairs})
        dated_pairs = set(pairs)
        dated, moved = [], []
        for rating in ratings.only(*_PAIR):
            pair = tuple(getattr(rating, name) for name in _PAIR)
            if pair in dated_pairs:
                rating.created = target.rated_at[pair]
                dated.append(rating)
            # Few: only ratings of edited texts whose spans have moved.
            for span, positions in zip(
                rating.spans.all() if pair in target.positions else (),
                target.positions.get(pair, ()),
                strict=False,
            ):
                span.earlier_positions = positions
                moved.append(span)
        Rating.objects.date(dated)
        NuggetSpan.objects.bulk_update(moved, ["earlier_positions"], batch_size=LOOK_UP)


def lines(dataset: Dataset, judges: Mapping[int, dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each rater with ratings, also superseded ones, by name.

    `judges` are definitions by rater. Aggregates are left out, as their grades are.
    """
    first = dict(
        Rating.objects.of_dataset(dataset)
        .exclude(rater__kind=Rater.Kind.AGGREGATE)
        .order_by()
        .values_list("rater")
        .annotate(Min("created"))
    )
    superseded = superseded_raters(dataset)
    for name, rater in sorted(known_raters(dataset).items()):
        if rater.kind == Rater.Kind.AGGREGATE or not (rater.pk in first or rater.pk in superseded):
            continue
        line: dict[str, Any] = {"name": name, "kind": rater.kind}
        if rater.is_adjudicator:
            line["adjudicator"] = True
        if rater.pk in first:
            line["first_rating"] = first[rater.pk].astimezone(UTC).isoformat()
        if rater.pk in judges:
            line["judge"] = judges[rater.pk]
        yield json_line(line)

"""Which rater a name in a file means, and our own raters.jsonl."""

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from annotation.importers.layout import Source
from annotation.importers.reading import rows
from annotation.importers.records import RaterRow
from annotation.models import Dataset, Rater, Rating

if TYPE_CHECKING:
    from annotation.importers.target import Target


def raters_of(dataset: Dataset) -> dict[str, Rater]:
    """The raters of a dataset by the names that they have in its files.

    Those that came in files are known by their own names. Accounts and judges belong to no
    dataset: they are here if they rated one of its texts, and one whose name a rater of the
    dataset has already is told from it by an ending. Import and export both name them so, which
    is why reading an export again finds everybody who is in it.
    """
    raters = {rater.name: rater for rater in Rater.objects.filter(dataset=dataset)}
    rated = Rating.objects.filter(rater=OuterRef("pk"), text__dataset=dataset)
    for rater in Rater.objects.filter(Exists(rated), dataset=None).order_by("name"):
        name = rater.name
        while name in raters:
            name += "-site"
        raters[name] = rater
    return raters


def read(target: "Target", source: Source) -> None:
    """The kinds of raters whose kind their files do not tell: {"name", "kind"}."""
    summary = target.summary.file(source.name)
    for line, row in rows(target, source, RaterRow):
        if row.kind not in Rater.Kind.values:
            expected = ", ".join(Rater.Kind.values)
            target.problem(source, line, "kind", f"{row.kind!r} is none of {expected}")
            continue
        before = target.summary.created["raters"]
        rater = target.rater(source, line, row.name, Rater.Kind(row.kind))
        if rater and rater.kind != row.kind:
            target.problem(source, line, "kind", f"{row.name} is a {rater.kind} already")
        elif target.summary.created["raters"] > before:
            summary.created += 1
        else:
            summary.unchanged += 1

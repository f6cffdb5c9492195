"""Our own raters.jsonl: which raters are no people and no models, but baselines."""

from typing import TYPE_CHECKING

from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import RaterRow
from annotation.models import Rater

if TYPE_CHECKING:
    from annotation.formats.target import Target
from collections.abc import Iterator

from annotation.formats.writing import json_line
from annotation.models import Dataset
from annotation.models.rating import raters_of


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


def lines(dataset: Dataset) -> Iterator[str]:
    """A file of labels is a person's and a file of judgements is a model's, but for these."""
    for name, rater in sorted(raters_of(dataset).items()):
        if rater.kind == Rater.Kind.BASELINE and rater.ratings.exists():
            yield json_line({"name": name, "kind": rater.kind})

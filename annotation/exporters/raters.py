"""raters.jsonl: the raters whose kind their other files do not tell, {"name", "kind"}."""

from collections.abc import Iterator

from annotation.exporters.lines import json_line
from annotation.models import Dataset, Rater
from annotation.raters import raters_of


def lines(dataset: Dataset) -> Iterator[str]:
    """A file of labels is a person's and a file of judgements is a model's, but for these."""
    for name, rater in sorted(raters_of(dataset).items()):
        if rater.kind == Rater.Kind.BASELINE and rater.ratings.exists():
            yield json_line({"name": name, "kind": rater.kind})

"""What the commands of judging ask for alike: a dataset, a judge, and which texts."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Dataset
from judging.engine.selection import KINDS, Selection


def add_selection(parser: ArgumentParser) -> None:
    """The options that say which pairs are meant."""
    parser.add_argument("--texts", default="", choices=[*KINDS, ""], help="all by default")
    parser.add_argument("--topics", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--run", default="", help="only texts that this retrieval run ranks")
    parser.add_argument("--depth", type=int, help="with --run: the first ranks alone")
    parser.add_argument("--limit", type=int, help="plan to ask this many pairs at most")
    parser.add_argument("--retry", action="store_true", help="only pairs that failed")


def selection_of(options: dict[str, Any]) -> Selection:
    """What these options say."""
    names = ("texts", "run", "depth", "limit", "retry")
    return Selection(topics=tuple(options["topics"]), **{name: options[name] for name in names})


def dataset_of(options: dict[str, Any]) -> Dataset:
    """The dataset that is named. Raises CommandError, with the names of those that are there."""
    slug = options["dataset"]
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        known = ", ".join(Dataset.objects.values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no dataset {slug!r}; there are: {known}.")
    return dataset

"""Shared options of the judging commands: a dataset and a selection of texts."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Dataset
from judging.engine.selection import KINDS, Selection


def add_selection(parser: ArgumentParser) -> None:
    """Add the options that select pairs."""
    parser.add_argument("--texts", default="", choices=[*KINDS, ""], help="all by default")
    parser.add_argument("--topics", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--run", default="", help="only texts that this retrieval run ranks")
    parser.add_argument("--depth", type=int, help="with --run: the first ranks alone")
    parser.add_argument("--limit", type=int, help="plan to ask this many pairs at most")
    parser.add_argument("--retry", action="store_true", help="only pairs that failed")


def selection_of(options: dict[str, Any]) -> Selection:
    """Return the selection of these options."""
    names = ("texts", "run", "depth", "limit", "retry")
    return Selection(topics=tuple(options["topics"]), **{name: options[name] for name in names})


def dataset_of(options: dict[str, Any]) -> Dataset:
    """Return the named dataset.

    Raises CommandError, with the names of existing ones.
    """
    slug = options["dataset"]
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        slugs = ", ".join(Dataset.objects.values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no dataset {slug!r}; there are: {slugs}.")
    return dataset

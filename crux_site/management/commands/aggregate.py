"""manage.py aggregate DATASET: store the aggregate of several raters' grades as a rater."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from crux_site.aggregates import ALL_METHODS, create_aggregate
from evaluation.data.selection import one_of, select
from evaluation.stats.aggregation import LIBRARY


def slug(name: str) -> str:
    if not re.fullmatch(r"[-\w.]+", name, re.ASCII):
        raise ArgumentTypeError(f"{name!r}: letters, digits, hyphens, dots and underscores alone.")
    return name


class Command(SiteCommand):
    help = "Make one grade of each pair from those of several raters, as a rater of kind aggregate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--method", required=True, choices=ALL_METHODS)
        parser.add_argument("--rubric", help="answerable, graded or another one with ratings")
        parser.add_argument("--campaign", help="the ratings of one campaign alone")
        parser.add_argument(
            "--raters",
            default="",
            help="names separated by commas, also of judges; without it all people but adjudicators; "
            "calibrated: a judge, and the people that it learns from",
        )
        parser.add_argument("--name", type=slug, help="of the rater; without it METHOD.RUBRIC")
        parser.add_argument("--seed", type=int, default=0, help="of the start of MACE")

    def handle(self, **options: Any) -> None:
        if options["method"] in LIBRARY:
            import crowdkit  # noqa: F401, PLC0415 - an extra; manage.py says which, before anything is read
        slugs = Dataset.objects.values_list("slug", flat=True)
        one_of("dataset", options["dataset"], slugs)
        selection = select(
            Dataset.objects.get(slug=options["dataset"]),
            rubric=options["rubric"],
            raters=[options["raters"]],
            campaign=options["campaign"],
        )
        aggregate = create_aggregate(
            selection, options["method"], seed=options["seed"], name=options["name"] or ""
        )
        self.stdout.write(
            f"{aggregate.rater}: {n_of(aggregate.n, 'rating')}, {n_of(aggregate.n_none, 'pair')} without one. "
            f"Made by {aggregate.rater.made_from}."
        )

"""`manage.py exact_match DATASET`: baseline that searches texts for gold answers."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.data.exact_match import NAME, make_exact_match
from evaluation.data.selection import one_of


class Command(SiteCommand):
    help = (
        "Grade reports and passages 1 or 0 by whether they hold a gold answer, normalised as in ALCE, as the "
        f"rater {NAME}: a baseline. Pairs that it has graded stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        one_of("dataset", options["dataset"], slugs)
        result = make_exact_match(Dataset.objects.get(slug=options["dataset"]))
        how = (
            "each question is a gold answer, its aliases line by line, and a report a list"
            if result.is_list
            else "the answers of the rater gold"
        )
        remark = (
            f"; {n_of(result.n_without, 'question')} without an answer" if result.n_without else ""
        )
        self.stdout.write(f"{NAME} (baseline): {n_of(result.n, 'new rating')} by {how}{remark}.")

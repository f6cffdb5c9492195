"""`manage.py exact_match DATASET`: a baseline that looks for the gold answers of questions in texts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from evaluation.data.exact_match import NAME, make_exact_match
from evaluation.data.selection import SelectionError, one_of


class Command(BaseCommand):
    help = (
        "Grade reports and passages 1 or 0 by whether they hold a gold answer, normalised as in ALCE, as the "
        f"rater {NAME}: a baseline. Pairs that it has graded stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            one_of("dataset", options["dataset"], slugs)
            made = make_exact_match(Dataset.objects.get(slug=options["dataset"]))
        except SelectionError as error:
            raise CommandError(str(error)) from error
        how = (
            "each question is a gold answer, its aliases line by line, and a report a list"
            if made.is_list
            else "the answers of the rater gold"
        )
        without = f"; {made.n_without} questions without an answer" if made.n_without else ""
        self.stdout.write(f"{NAME} (baseline): {made.n} new ratings by {how}{without}.")

"""`manage.py build_index DATASET`: the index of its passages, which searching and BM25 runs read."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from building.indexes import index_of
from building.retrieval.index import IndexBroken
from evaluation.data.selection import SelectionError, one_of


class Command(BaseCommand):
    help = "Index the passages of a dataset as they are now; where that index is there, nothing is done."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            meta = index_of(dataset).meta
        except (SelectionError, IndexBroken, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{meta.n_texts:,} passages of {dataset.slug} are indexed: {meta.n_tokens:,} terms, "
            f"{meta.n_terms:,} of them different. {meta.n_empty:,} passages have no term."
        )

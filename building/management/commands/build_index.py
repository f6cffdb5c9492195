"""`manage.py build_index DATASET`: build the passage index for search and BM25."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.anserini.index import LANGUAGES, LuceneMeta
from building.anserini.jar import find_jar
from building.indexes import index_of, lucene_index_of
from building.retrieval.index import Meta
from evaluation.data.selection import one_of


class Command(SiteCommand):
    help = "Index the passages of a dataset as they are now; where that index is there, nothing is done."
    expected_errors = (OSError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument(
            "--engine", choices=["bm25", "anserini"], default="bm25", help="default: bm25"
        )
        parser.add_argument(
            "--language", choices=LANGUAGES, default="en", help="of the passages; default: en"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        engine, language = options["engine"], options["language"]
        if engine == "bm25" and language != "en":
            raise CommandError("bm25 reads English alone: --engine anserini has other languages.")
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        meta = self._index(dataset, engine, language)
        self.stdout.write(
            f"Index of {n_of(meta.n_texts, 'passage', ',')} of {dataset.slug}: "
            f"{n_of(meta.n_tokens, 'term', ',')}, {meta.n_terms:,} of them different. "
            f"Passages without a term: {meta.n_empty:,}."
        )

    def _index(self, dataset: Dataset, engine: str, language: str) -> Meta | LuceneMeta:
        if engine == "bm25":
            return index_of(dataset).meta
        return lucene_index_of(dataset, find_jar(settings.ANSERINI_JAVA), language).meta

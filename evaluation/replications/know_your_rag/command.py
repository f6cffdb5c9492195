"""`manage.py by_type DATASET --types RATER`: recall by the type of the question."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError

from annotation.decimals import decimals
from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset
from evaluation.data.selection import one_of
from evaluation.replications.know_your_rag.export import as_json
from evaluation.replications.know_your_rag.page import ByType, by_type
from evaluation.replications.know_your_rag.query import (
    DEPTH,
    HOWS,
    WEIGHTS,
    ByTypeQuery,
    by_type_query,
)

NAME = 20  # the width of a name in the table
PARAMS = ("types", "gold", "lexical", "dense", "how", "k", "weights")


class Command(ReadOnlyCommand):
    help = (
        "The share of questions whose gold context is among the first k of a lexical and a dense run joined, "
        "by the type of the question and the weight of the lexical run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--types", help="the rater who says the type, or RUBRIC:RATER")
        parser.add_argument(
            "--gold",
            help="own: the passage of the question's topic; or RUBRIC:RATER, whose grades say it",
        )
        parser.add_argument("--lexical", help="a run; default: the first whose name has bm25 in it")
        parser.add_argument("--dense", help="a run; default: the first other one")
        parser.add_argument("--how", help=f"{', '.join(HOWS)}; default: raw, or rrf without scores")
        parser.add_argument("--k", help=f"how many texts are looked at; default: {DEPTH}")
        parser.add_argument("--weights", help=f"of the lexical run; default: {WEIGHTS}")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        choice = by_type_query(dataset, {name: options[name] for name in PARAMS})
        if choice is None:
            raise CommandError(f"{dataset.slug} has not two runs to join.")
        results = by_type(choice)
        if options["json"]:
            self.stdout.write(json.dumps(as_json(choice, results), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(choice, results)))


def _lines(choice: ByTypeQuery, results: ByType) -> Iterable[str]:
    yield (
        f"{choice.dataset.slug}: recall@{choice.k} of weight x {choice.lexical} + (1 - weight) x "
        f"{choice.dense}, {choice.labels['how']}; types by {choice.types or 'nobody'}, gold {choice.gold}"
    )
    heads = [f"{weight:g}" for weight in choice.weights]
    yield from ("", _row("", [*heads, "best at", "n", "missing"]))
    for row in results.rows:
        cells = ["undefined" if e.value is None else decimals(e.value, 3) for e in row.recall]
        best = "none" if row.best is None else heads[row.best]
        yield _row(row.name, [*cells, best, str(row.n), str(row.missing)])
    yield (
        f"without a type {results.n_untyped}, without a gold context {results.n_without_gold}, "
        f"ranked by neither run {results.n_unranked}, filtered {results.n_filtered}"
    )


def _row(name: str, cells: Iterable[str]) -> str:
    return f"{name:{NAME}} " + " ".join(f"{cell:>9}" for cell in cells)

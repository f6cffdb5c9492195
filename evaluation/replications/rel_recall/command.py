"""`manage.py seen DATASET`: recall against Rel and Rel' (retrieved evidence)."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from annotation.decimals import decimals
from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset
from evaluation.data.selection import one_of
from evaluation.metrics.exact_match import LIST_MEASURES
from evaluation.metrics.relevance_seen import MEASURES
from evaluation.replications.rel_recall.export import as_json
from evaluation.replications.rel_recall.page import TITLES, depth_words
from evaluation.replications.rel_recall.query import SeenQuery, seen_query
from evaluation.replications.rel_recall.scores import Scores, SystemScore, scores_of
from evaluation.stats.estimate import Estimate

WIDTH = 34  # of a name in a table


class Command(ReadOnlyCommand):
    help = (
        "Precision, recall, recall' (of the relevant that was seen), their ceiling and precision' of every "
        "system with reports: of the questions that they answer, and of the texts that they cite."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        for name, field in SeenQuery.base_fields.items():
            parser.add_argument(f"--{name}", help=str(field.help_text))
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        choice = seen_query(dataset, options)
        if choice is None:
            raise CommandError(f"{dataset.slug} has no ratings yet.")
        scores = scores_of(dataset, choice.options)
        if options["json"]:
            self.stdout.write(json.dumps(as_json(choice, scores), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(choice, scores)))


def _lines(choice: SeenQuery, scores: Scores) -> Iterator[str]:
    options = choice.options
    yield (
        f"{choice.dataset.slug}: relevant and retrieved by the grades of {options.source.title}, answered in "
        f"reports by {options.rater.title}, eta {options.eta}"
    )
    yield f"Rel of answers: {options.rel}; rules of the {options.rules}. {depth_words(choice)}"
    for kind, rows in scores.rows.items():
        yield from ("", kind.capitalize(), _row("", *TITLES.values(), "not seen"))
        for row in rows:
            yield from _system(row)
        if left_out := scores.left_out[kind]:
            yield f"without anything to count: {', '.join(left_out)}"
    if scores.lists:
        yield from (
            "",
            "Lists of answers, by the rules of ALCE",
            _row("", *LIST_MEASURES, "reports"),
        )
    for listed in scores.lists:
        numbers = map(_number, listed.macro.values())
        yield _row(listed.system, *numbers, str(len(listed.reports)))
    if scores.utility:
        yield from (
            "",
            "Utility of whole reports",
            _row("", "utility", "answered", "spearman", "reports"),
        )
    for utility_row in scores.utility:
        numbers = map(_number, (utility_row.utility, utility_row.answered, utility_row.spearman))
        yield _row(
            f"{utility_row.system}, {utility_row.rater}", *numbers, str(utility_row.utility.n)
        )


def _system(row: SystemScore) -> Iterator[str]:
    macro, micro = [[of[name] for name in MEASURES] for of in (row.macro, row.micro)]
    yield _row(row.system, *map(_number, macro), _not_retrieved(row))
    for label, ends in (
        ("  95%, from", [value.low for value in macro]),
        ("  95%, to", [value.high for value in macro]),
    ):
        if any(end is not None for end in ends):
            yield _row(label, *("" if end is None else decimals(end, 3) for end in ends))
    yield _row("  reports", *(str(value.n) for value in macro))
    if any(value.missing for value in macro):
        yield _row("  missing", *(str(value.missing) for value in macro))
    yield _row("  micro", *map(_number, micro))


def _not_retrieved(row: SystemScore) -> str:
    return f"{row.n_unseen} of {row.n_compared}" if row.knows_seen else "not known"


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else decimals(estimate.value, 3)


def _row(name: str, *cells: str) -> str:
    return f"{name:{WIDTH}} " + " ".join(f"{cell:>10}" for cell in cells)

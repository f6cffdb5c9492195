"""`manage.py seen DATASET`: recall of all that is relevant, and of the relevant that systems had seen."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.decimals import decimals
from annotation.models import Dataset
from evaluation.data.selection import SelectionError, one_of
from evaluation.metrics.exact_match import LIST_MEASURES
from evaluation.metrics.relevance_seen import MEASURES
from evaluation.seen.export import as_json
from evaluation.seen.page import TITLES, depth_words
from evaluation.seen.params import SeenChoice, SeenForm, seen_choice
from evaluation.seen.scores import Scores, SystemScore, scores_of
from evaluation.stats.estimate import Estimate

WIDTH = 34  # of a name in a table


class Command(BaseCommand):
    help = (
        "Precision, recall, recall' (of the relevant that was seen), their ceiling and precision' of every "
        "system with reports: of the questions that they answer, and of the texts that they cite."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        for name, field in SeenForm.base_fields.items():
            parser.add_argument(f"--{name}", help=str(field.help_text))
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            choice = seen_choice(dataset, options)
            if choice is None:
                raise CommandError(f"Nobody has rated a text of {dataset.slug} yet.")
            scores = scores_of(dataset, choice.options)
        except SelectionError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(as_json(choice, scores), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(choice, scores)))


def _lines(choice: SeenChoice, scores: Scores) -> Iterator[str]:
    options = choice.options
    yield (
        f"{choice.dataset.slug}: relevant and seen by the grades of {options.source.title}, answered in "
        f"reports by {options.rater.title}, eta {options.eta}"
    )
    yield f"Rel of answers: {options.rel}; rules of the {options.rules}. {depth_words(choice)}"
    for what, rows in scores.rows.items():
        yield from ("", what.capitalize(), _row("", *TITLES.values(), "not seen"))
        for row in rows:
            yield from _system(row)
        if left_out := scores.left_out[what]:
            yield f"without anything to count: {', '.join(left_out)}"
    if scores.lists:
        yield from (
            "",
            "Lists of answers, as ALCE counts them",
            _row("", *LIST_MEASURES, "reports"),
        )
    for listed in scores.lists:
        numbers = map(_number, listed.macro.values())
        yield _row(listed.system, *numbers, str(len(listed.reports)))
    if scores.utility:
        yield from (
            "",
            "Reports as a whole",
            _row("", "utility", "answered", "spearman", "reports"),
        )
    for each in scores.utility:
        numbers = map(_number, (each.utility, each.answered, each.spearman))
        yield _row(f"{each.system}, {each.rater}", *numbers, str(each.utility.n))


def _system(row: SystemScore) -> Iterator[str]:
    macro, micro = [[of[name] for name in MEASURES] for of in (row.macro, row.micro)]
    yield _row(row.system, *map(_number, macro), _unseen(row))
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


def _unseen(row: SystemScore) -> str:
    return f"{row.n_unseen} of {row.n_compared}" if row.knows_seen else "not known"


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else decimals(estimate.value, 3)


def _row(name: str, *cells: str) -> str:
    return f"{name:{WIDTH}} " + " ".join(f"{cell:>10}" for cell in cells)

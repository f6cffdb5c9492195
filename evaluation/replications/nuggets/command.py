"""`manage.py nuggets DATASET`: nugget scores of systems."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from annotation.decimals import decimals
from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.data.selection import one_of
from evaluation.replications.nuggets.export import as_json
from evaluation.replications.nuggets.metrics import SCORES
from evaluation.replications.nuggets.page import TITLES, NuggetReport, nugget_report
from evaluation.replications.nuggets.query import NuggetQuery, nugget_query
from evaluation.scoring.options import RULE_WORDS
from evaluation.stats.estimate import Estimate

WIDTH = 34  # of a name in a table
OPTIONS = {
    "support": "who says what reports support; default: who said most",
    "importance": "who says what is vital; default: who said most",
    "rules": "paper (the default), or authors: as their code counts, 0 without a vital nugget",
    "beside": "another dataset, by whose coverage the same systems are ordered",
    "source": "whose grades coverage is of, in the other dataset",
    "eta": "the grade from which on these call a pair answerable",
}


class Command(ReadOnlyCommand):
    help = "Nugget scores of the systems of a dataset, and their order beside that by coverage in another."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        for name, help_text in OPTIONS.items():
            parser.add_argument(f"--{name}", default="", help=help_text)
        parser.add_argument("--json", action="store_true", help="print all of the page as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        choice = nugget_query(dataset, {name: options[name] for name in OPTIONS})
        report = nugget_report(choice)
        if options["json"]:
            self.stdout.write(json.dumps(as_json(choice, report), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(choice, report)))


def _lines(choice: NuggetQuery, report: NuggetReport) -> Iterable[str]:
    rater_titles = [
        rater.title if rater else "nobody" for rater in (choice.support, choice.importance)
    ]
    yield f"{choice.dataset.slug}: support by {rater_titles[0]}, importance by {rater_titles[1]}"
    counts = report.counts
    yield f"rules {RULE_WORDS[choice.rules]}; {', '.join(f'{n} {name}' for name, n in counts.items())}"
    yield ""
    yield _row("", [title for title, _ in TITLES.values()], "reports")
    for row in report.systems:
        means = [row.means[name] for name in SCORES]
        yield _row(row.system, map(_number, means), str(len(row.reports)))
        yield _row("  in the mean", (str(mean.n) for mean in means), "")
        yield from _reasons(means)
    if report.order and choice.comparison:
        taus = [report.order.taus[name] for name in SCORES]
        yield ""
        topics = n_of(report.order.n_topics, "topic")
        yield f"Kendall's tau-b with coverage in {choice.comparison.slug}, {topics}"
        yield _row("", map(_number, taus), n_of(taus[0].n, "system"))
        yield from _reasons(taus)


def _row(name: str, cells: Iterable[str], last: str) -> str:
    return f"{name:{WIDTH}}" + "".join(f" {cell:>12}" for cell in [*cells, last])


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else decimals(estimate.value, 3)


def _reasons(values: Iterable[Estimate]) -> Iterable[str]:
    for reason in dict.fromkeys(value.reason for value in values if value.reason):
        yield f"{'':{WIDTH}} {reason}"

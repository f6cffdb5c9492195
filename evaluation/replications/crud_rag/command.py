"""`manage.py grid DATASET`: reports against references by task and by one setting."""

from __future__ import annotations

import csv
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from annotation.decimals import decimals
from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.data.certificates import certificates_in_words
from evaluation.data.selection import one_of
from evaluation.metrics.tokenizers import NAMES
from evaluation.replications.crud_rag.export import TABLES, as_json
from evaluation.replications.crud_rag.page import Grid, GridRow, grid_report
from evaluation.replications.crud_rag.query import RULES, GridQuery
from evaluation.result_tables import plain_cell, with_certificates


class Command(ReadOnlyCommand):
    help = (
        "BLEU, ROUGE-L and RAGQuestEval of systems by kind of task. Systems that are set alike but "
        "for one setting are compared, with a paired test against a base."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument(
            "--vary",
            default="",
            metavar="SETTING",
            help="the setting that varies; system: all systems",
        )
        parser.add_argument(
            "--base", default="", metavar="SYSTEM", help="what others are tested against"
        )
        parser.add_argument("--rules", default="", help=f"one of {', '.join(RULES)}")
        parser.add_argument("--tokens", default="", help=f"one of {', '.join(NAMES)}")
        parser.add_argument("--rater", default="", help="who answered the questions")
        parser.add_argument("--csv", choices=TABLES, nargs="?", const="grid", help="print CSV")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        choice = GridQuery(dataset, options).parse()
        report = grid_report(choice)
        if options["csv"]:
            certificates = certificates_in_words(choice.dataset, choice.filter_phrases())
            table = with_certificates(TABLES[options["csv"]](choice, report), certificates)
            writer = csv.writer(self.stdout, lineterminator="\n")
            writer.writerow(table.flat_header)
            writer.writerows([plain_cell(cell) for cell in row] for row in table.flat_rows())
        elif options["json"]:
            self.stdout.write(json.dumps(as_json(choice, report), ensure_ascii=False, indent=2))
        else:
            for line in _lines(choice, report):
                self.stdout.write(line)


def _lines(choice: GridQuery, report: Grid) -> Iterator[str]:
    settings = choice.options
    by = f", answers by {choice.rater.name}" if choice.rater else ""
    yield f"{choice.vary} varies; base {choice.base}; rules {settings.rules}; tokens {settings.tokens}{by}"
    if not report.rows:
        yield "There is no report here."
    for group, rows in report.groups.items():
        yield ""
        yield f"{group or 'topics of no group'}: {n_of(rows[0].n_topics, 'topic')}"
        for row in rows:
            remark = ", on other topics than most: never the best" if row.is_on_other_topics else ""
            yield f"  {row.value}, {n_of(row.n_reports, 'report')}{remark}"
            yield from (f"    {line}" for line in _measures(report, row))


def _measures(report: Grid, row: GridRow) -> Iterator[str]:
    for name, title in report.measures.items():
        if mean := row.means.get(name):
            value = mean.reason if mean.value is None else decimals(mean.value, 4)
            interval = (
                ""
                if mean.low is None
                else f" [{decimals(mean.low, 4)}, {decimals(mean.high or 0, 4)}]"
            )
            best = " best" if name in row.best else ""
            counts = f"n = {mean.n}, {mean.missing} missing, {row.n_undefined[name]} undefined"
            yield f"{title}: {value}{interval}{best}; {counts}{_tested(row, name)}"


def _tested(row: GridRow, measure: str) -> str:
    against = row.against.get(measure)
    if against is None or against.flip.value is None or against.p_holm is None:
        return ""
    difference = decimals(against.flip.value, 4, sign=True)
    return f"; {difference} from the base, Holm’s p {decimals(against.p_holm, 4)}"

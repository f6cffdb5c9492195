"""`manage.py agreement DATASET`: agreement between raters, and of a judge with them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from annotation.decimals import decimals
from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.agreement.judges import judge_scores
from evaluation.agreement.numbers import numbers
from evaluation.agreement.report import AgreementReport, agreement_report
from evaluation.agreement.report_json import as_json
from evaluation.data.selection import Selection, one_of, select
from evaluation.result_tables import Cell, Number

NAME = 24  # the width of a name in a table


class Block(NamedTuple):
    """A table of the text: some scopes, the columns, and the counts that stand below a row.

    Columns of what a rubric's levels do not allow are left out.
    """

    title: str
    scopes: tuple[str, ...]
    columns: dict[str, str]
    counts: tuple[str, ...] = ()


RESAMPLED = Block("kappa, topics resampled", ("all",), {"kappa": "fleiss_kappa_bootstrap"})
AMONG_RATERS = (
    Block(
        "",
        ("all", "system", "topic", "slice"),
        {
            "kappa": "fleiss_kappa",
            "AC1": "gwet_ac1",
            "percent": "percent_agreement",
            "prevalence": "prevalence",
        },
    ),
    Block("alpha", ("all",), {"nominal": "krippendorff_alpha_nominal"}),
    Block("alpha", ("all",), {"ordinal": "krippendorff_alpha_ordinal"}),
    RESAMPLED,
    Block(
        "pairs of raters",
        ("pair",),
        {
            "kappa": "cohen_kappa",
            "linear": "cohen_linear",
            "quadratic": "cohen_quadratic",
            "percent": "percent_agreement",
            "macro F1": "macro_f1",
            "spans meet": "spans_meet",
            "bias": "bias",
        },
    ),
    Block(
        "against the majority",
        ("majority",),
        {
            "kappa": "scott_pi",
            "percent": "percent_agreement",
            "macro F1": "macro_f1",
            "prevalence": "prevalence",
            "judge's": "judge_scott_pi",
            "lower by": "relative_drop",
        },
        ("without_majority",),
    ),
    Block("intraclass", ("all",), {"ICC(2,1)": "icc_single", "ICC(2,k)": "icc_mean"}),
    Block("mean grade", ("grades",), {"mean": "mean_grade"}),
    Block(
        "coverage of reports",
        ("correlation",),
        {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall"},
    ),
)
AGAINST_A_JUDGE = (
    Block(
        "judge against the raters",
        ("judge", "judge_rater", "judge_system"),
        {
            "prec. ans.": "precision_answerable",
            "rec. ans.": "recall_answerable",
            "prec. un.": "precision_unanswerable",
            "rec. un.": "recall_unanswerable",
            "kappa": "cohen_binary",
            "quadratic": "cohen_quadratic",
        },
        ("tp", "fp", "fn", "tn", "without_judge"),
    ),
    Block(
        "at every eta",
        ("eta",),
        {
            "prec. ans.": "precision_answerable",
            "rec. ans.": "recall_answerable",
            "F1 ans.": "f1_answerable",
            "kappa": "cohen_binary",
        },
    ),
)
BY_GRADE = (
    Block(
        "judge against the raters",
        ("judge", "judge_rater", "judge_system"),
        {
            "kappa": "cohen_kappa",
            "linear": "cohen_linear",
            "quadratic": "cohen_quadratic",
            "percent": "accuracy",
            "macro F1": "macro_f1",
        },
        ("without_judge",),
    ),
)


class Command(ReadOnlyCommand):
    help = "Agreement between the raters of a dataset, and of a judge with them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument(
            "--rubric", help="the slug of a rubric; default: answerable, if it has ratings"
        )
        parser.add_argument(
            "--raters", default="", help="names, separated by commas; default: all people"
        )
        parser.add_argument(
            "--campaign", help="only what its raters rated in it; default: all ratings"
        )
        parser.add_argument("--judge", help="a model or baseline to compare with the raters")
        parser.add_argument(
            "--eta",
            help="grade at or above which a pair counts as answerable; default: the rubric's, 3",
        )
        parser.add_argument(
            "--majority", help="strict, more than half of the others (the default), or plurality"
        )
        parser.add_argument(
            "--exposed",
            help="grades given after seeing those of others: left-out (the default), or included",
        )
        parser.add_argument(
            "--by",
            help="RUBRIC:RATER; agreement also on the pairs of each grade that this rater gave under it",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        report = agreement_report(
            select(
                dataset,
                rubric=options["rubric"],
                raters=[options["raters"]],
                judge=options["judge"],
                eta=options["eta"],
                campaign=options["campaign"],
                majority=options["majority"],
                exposed=options["exposed"],
                by=options["by"],
            )
        )
        if options["json"]:
            self.stdout.write(json.dumps(as_json(report), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(report)))


def _lines(report: AgreementReport) -> Iterable[str]:
    selection = report.selection
    raters = [rater.title for rater in selection.raters]
    heading = f"{selection.dataset.slug}, {selection.rubric.slug}"
    if selection.campaign:
        heading += f", campaign {selection.campaign.slug}"
    yield f"{heading}: {', '.join(raters) or 'no raters'}"
    yield (
        f"{n_of(report.n_items, 'item')} of {n_of(report.n_topics, 'topic')}; {report.n_missing} of "
        f"{n_of(report.n_cells, 'rating')} missing; {n_of(report.n_filtered, 'pair')} filtered"
    )
    if not report.n_items:
        yield "Nobody has rated anything under this rubric yet."
        return
    frame = list(numbers(report))
    for block in AMONG_RATERS:
        yield from _block(block, frame)
        if block is RESAMPLED and report.bootstrap.low is not None:
            yield f"{'':{NAME}} {report.bootstrap.n_resamples} resamples, seed {report.bootstrap.seed}"
            yield f"{'':{NAME}} {report.bootstrap.caution}"
    yield from _judges(selection)
    if selection.judge:
        yield from ("", f"{selection.judge.title} against the raters{_at_eta(selection)}")
        for block in BY_GRADE if selection.eta is None else AGAINST_A_JUDGE:
            yield from _block(block, frame)


def _judges(selection: Selection) -> Iterable[str]:
    """All judges and baselines side by side, each against the same raters."""
    for index, (judge, scores) in enumerate(judge_scores(selection)):
        if index == 0:
            has_order = "cohen_quadratic" in selection.measures
            quadratic = ["quadratic"] if has_order else []
            heads = ("kappa", *quadratic, "percent", "missing", "n")
            yield from ("", _row(f"judges{_at_eta(selection)}", heads))
        kappa = scores.cohen_kappa if selection.eta is None else scores.cohen_binary
        weighted = [scores.cohen_quadratic] if quadratic else []
        cells = [_cell(estimate.value) for estimate in (kappa, *weighted, scores.accuracy)]
        yield _row(judge.title, [*cells, str(scores.n_without_judge), str(scores.n)])


def _at_eta(selection: Selection) -> str:
    return "" if selection.eta is None else f", eta {selection.eta}"


def _block(block: Block, frame: list[Number]) -> Iterable[str]:
    """The rows of some scopes under one head; nothing where there are none."""
    selected = (number for number in frame if number.scope in block.scopes)
    by_row = {
        key: {number.measure: number for number in row}
        for key, row in groupby(selected, key=lambda number: (number.scope, number.name))
    }
    available = {measure for row in by_row.values() for measure in row}
    columns = {head: measure for head, measure in block.columns.items() if measure in available}
    measures = set(columns.values())
    rows = {key: row for key, row in by_row.items() if measures and measures <= row.keys()}
    if rows:
        yield from ("", _row(block.title, [*columns, "n"]))
    for (scope, name), row in rows.items():
        cells = [row[measure] for measure in columns.values()]
        first = cells[0]
        yield _row(name or scope, [*(_cell(cell.value) for cell in cells), str(first.n)])
        if first.low is not None:
            interval = f"[{_cell(first.low)}, {_cell(first.high)}]"
            yield f"{'':{NAME}} {interval:>12}  95%, over topics"
        if block.counts:
            counts = ", ".join(f"{name} {row[name].value}" for name in block.counts)
            yield f"{'':{NAME}} {counts}"
        undefined = (cell.reason for cell in cells if cell.value is None)
        for reason in dict.fromkeys(undefined):
            yield f"{'':{NAME}} {reason}"


def _cell(value: Cell) -> str:
    return "undefined" if value is None else decimals(float(value), 3)


def _row(name: str, cells: Iterable[str]) -> str:
    return f"{name:{NAME}} " + " ".join(f"{cell:>12}" for cell in cells)

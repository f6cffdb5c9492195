"""`manage.py agreement DATASET`: agreement between raters, and of a judge with them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from evaluation.agreement.as_json import as_json
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.judges import every_judge
from evaluation.agreement.page import AgreementReport, agreement_report
from evaluation.agreement.parts import Part
from evaluation.data.selection import Selection, SelectionError, one_of, select
from evaluation.stats.estimate import Estimate

WORDS = 24  # the width of a name in a table


class Command(BaseCommand):
    help = "Agreement between the raters of a dataset, and of a judge with them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument(
            "--rubric", help="answerable or graded; default: answerable, if it has ratings"
        )
        parser.add_argument(
            "--raters", default="", help="names, parted by commas; default: all people"
        )
        parser.add_argument("--judge", help="a model or baseline to compare with the raters")
        parser.add_argument(
            "--eta",
            help="grade at or above which a pair counts as answerable; default: the rubric's, 3",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            report = agreement_report(
                select(
                    dataset,
                    rubric=options["rubric"],
                    raters=[options["raters"]],
                    judge=options["judge"],
                    eta=options["eta"],
                )
            )
        except SelectionError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(as_json(report), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_lines(report)))


def _lines(report: AgreementReport) -> Iterable[str]:
    selection = report.selection
    raters = [rater.title for rater in selection.raters]
    yield f"{selection.dataset.slug}, {selection.rubric.slug}: {', '.join(raters) or 'no raters'}"
    yield (
        f"{report.n_items} items of {report.n_topics} topics; {report.n_missing} of "
        f"{report.n_cells} ratings missing; {report.n_filtered} pairs filtered"
    )
    if not report.n_items:
        yield "Nobody has rated anything under this rubric yet."
        return
    yield from ("", *_row("", "kappa", "AC1", "percent", "prevalence", "n"))
    for part in (report.all, *report.systems, *report.topics):
        yield from _part(part)
    yield from _overall(report)
    if report.pairs:
        yield from (
            "",
            *_row("pairs of raters", "kappa", "quadratic", "percent", "spans meet", "n"),
        )
    for pair in report.pairs:
        columns = (pair.kappa, pair.quadratic, pair.percent, pair.spans_meet)
        yield from _numbers(f"{pair.a.title}, {pair.b.title}", columns, pair.kappa.n)
    if report.majority:
        heads = ("kappa", "percent", "prevalence", "dropped", "n")
        yield from ("", *_row("against the majority", *heads))
    for rater in report.majority:
        yield from _numbers(
            rater.rater.title,
            (rater.kappa, rater.percent, rater.prevalence),
            rater.kappa.n,
            str(rater.n_dropped),
        )
    if report.correlations:
        yield from ("", *_row("coverage of reports", "pearson", "spearman", "kendall", "", "n"))
    for row in report.correlations:
        found = (row.pearson, row.spearman, row.kendall)
        yield from _numbers(f"{row.a.title}, {row.b.title}", found, row.pearson.n)
    yield from _judges(selection)
    if report.judge and selection.judge:
        yield ""
        yield f"{selection.judge.title} against the raters, eta {selection.eta}"
        yield from _row("", "prec. ans.", "rec. ans.", "prec. un.", "rec. un.", "n")
        for part_ in (report.judge, *report.judge_by_rater, *report.judge_by_system):
            yield from _against(part_)
        if report.judge.sweep:
            heads = ("prec. ans.", "rec. ans.", "F1 ans.", "kappa", "n")
            yield from ("", *_row("at every eta", *heads))
        for at in report.judge.sweep:
            scores = (at.precision_answerable, at.recall_answerable, at.f1_answerable)
            yield from _numbers(f"eta {at.eta}", (*scores, at.cohen_binary), at.confusion.n)


def _judges(selection: Selection) -> Iterable[str]:
    """All judges and baselines side by side, each against the same raters."""
    for at, (judge, found) in enumerate(every_judge(selection)):
        if at == 0:
            what = f"judges, eta {selection.eta}"
            yield from ("", *_row(what, "kappa", "quadratic", "percent", "missing", "n"))
        columns = (found.cohen_binary, found.cohen_quadratic, found.accuracy)
        yield from _numbers(judge.title, columns, found.n, str(found.n_without_judge))


def _overall(report: AgreementReport) -> Iterable[str]:
    """The other interval and the other coefficient of all raters."""
    drawn = report.bootstrap
    if drawn.low is not None:
        interval = f"[{drawn.low:.3f}, {drawn.high:.3f}]"
        what = f"95%, {drawn.n_resamples} resamples of topics, seed {drawn.seed}"
        yield f"{'kappa of all':{WORDS}} {interval:>12}  {what}"
        yield f"{'':{WORDS}} {'':>12}  {drawn.caution}"
    name = f"alpha, {report.alpha_metric}"
    yield from _numbers(name, (report.alpha,), report.alpha.n)


def _part(part: Part) -> Iterable[str]:
    yield from _numbers(
        part.name, (part.kappa, part.ac1, part.percent, part.prevalence), part.kappa.n
    )


def _against(part: AgainstJudge) -> Iterable[str]:
    columns = (
        part.precision_answerable,
        part.recall_answerable,
        part.precision_unanswerable,
        part.recall_unanswerable,
    )
    yield from _numbers(part.title, columns, part.n)
    found = part.confusion
    kappas = f"kappa {_number(part.cohen_binary)}, quadratic {_number(part.cohen_quadratic)}"
    yield (
        f"{'':{WORDS}} tp {found.tp}, fp {found.fp}, fn {found.fn}, tn {found.tn}; {kappas}; "
        f"{part.n_without_judge} without the judge"
    )


def _numbers(name: str, found: Sequence[Estimate], n: int, last: str = "") -> Iterable[str]:
    cells = [_number(estimate) for estimate in found] + [""] * (4 - len(found))
    yield from _row(name, *cells[:3], last or cells[3], str(n))
    for estimate in found[:1]:
        if estimate.low is not None:
            interval = f"[{estimate.low:.3f}, {estimate.high:.3f}]"
            yield f"{'':{WORDS}} {interval:>12}  95%, jackknife over topics"
    for reason in dict.fromkeys(estimate.reason for estimate in found if estimate.reason):
        yield f"{'':{WORDS}} {reason}"


def _number(found: Estimate) -> str:
    return "undefined" if found.value is None else f"{found.value:.3f}"


def _row(name: str, *cells: str) -> Iterable[str]:
    yield f"{name:{WORDS}} " + " ".join(f"{cell:>12}" for cell in cells)

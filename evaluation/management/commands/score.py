"""`manage.py score DATASET`: coverage, ranked coverage, density and ranking metrics of its runs."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from annotation.decimals import decimals
from annotation.models import Dataset
from evaluation.data.selection import SelectionError, one_of
from evaluation.scoring.depths import unlike_depths
from evaluation.scoring.options import ORACLE, ScoringForm, add_options
from evaluation.scoring.row_score import METRICS, RowScore, TopicScore
from evaluation.scoring.score import Scores, as_json, score
from evaluation.scoring.tokens import tokenizer
from evaluation.stats.estimate import Estimate

WIDTH = 34  # of a name in a table
HEADS = ("coverage", "alpha-nDCG", "density", "recall", "MAP", "nDCG")


class Command(BaseCommand):
    help = (
        "Score the retrieval runs, reports and reference bounds of a dataset by the grades of one "
        "source: a judge, a person, the majority of the people, or people over a judge."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "--run",
            help="a run, reports/SYSTEM, bounds/references or bounds/required-subset (Z*)",
        )
        what.add_argument("--all", action="store_true", help="every run, system and bound")
        add_options(parser)
        parser.add_argument(
            "--tokenizer", default="words", help="words, or a JSON file of the package tokenizers"
        )
        parser.add_argument("--json", action="store_true", help="print JSON, with --all a list")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            chosen = ScoringForm(dataset, options).options(tokenizer(options["tokenizer"]))
            scores = score(dataset, chosen, None if options["all"] else [options["run"]])
        except SelectionError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            rows = [as_json(scores, row) for row in scores.rows]
            printed = json.dumps(rows if options["all"] else rows[0], indent=2, ensure_ascii=False)
            self.stdout.write(printed)
        else:
            self.stdout.write("\n".join(_lines(dataset, scores)))


def _lines(dataset: Dataset, scores: Scores) -> Iterable[str]:
    options = scores.options
    cutoff = "all of each context" if options.cutoff is None else f"cut-off {options.cutoff}"
    if options.cutoff == ORACLE:
        cutoff = "runs as long as Z* (cut-off oracle)"
    yield f"{dataset.slug}: grades of {options.source.title}, eta {options.eta}, {cutoff}"
    yield (
        f"rules of the {options.rules.name}, alpha-nDCG {options.ideal}; "
        f"density in {options.tokenizer.name}"
    )
    if options.source.why:
        yield options.source.why
    yield from ("", *_row("", *HEADS, "topics", "|Z|"))
    for row in scores.rows:
        if len(scores.rows) == 1:
            for name, topic in row.topics.items():
                yield from _topic(name, topic)
        yield from _mean(row)
    yield from ("", *scores.notes)
    runs = {row.row.name: row.sizes for row in scores.rows if row.row.kind == "run"}
    if unlike := unlike_depths(runs):
        yield f"{unlike.sentence} Choose --cutoff."


def _topic(name: str, score: TopicScore) -> Iterable[str]:
    values = [score.metric(metric) for metric in METRICS]
    yield from _row(name, *map(_number, values), "")
    unrated = f"; {score.n_unrated_cells} cells unrated" if score.n_unrated_cells else ""
    tokens = "unknown" if score.tokens is None else str(score.tokens)
    yield (
        f"{'':{WIDTH}} {score.n_covered} of {score.n_answerable} questions covered by "
        f"{score.n_passages} texts, {tokens} tokens{unrated}"
    )
    yield from _reasons(values)


def _mean(row: RowScore) -> Iterable[str]:
    values = [row.means[metric] for metric in METRICS]
    size = decimals(float(np.nanmean(row.sizes)), 1) if row.n_topics else ""
    yield from _row(row.row.name, *map(_number, values), str(row.n_topics), size)
    if any(value.low is not None for value in values):
        for label, ends in (
            ("95%, from", [value.low for value in values]),
            ("95%, to", [value.high for value in values]),
        ):
            yield from _row(
                f"  {label}", *("" if end is None else decimals(end, 3) for end in ends)
            )
    if (theirs := row.mean_ndeval) is not None:
        without = "alpha-nDCG without gains of other topics' passages, as ndeval"
        yield f"{'':{WIDTH}} {without}: {decimals(theirs, 3)}"
    for head, value in zip(HEADS, values, strict=True):
        if value.value is not None and value.missing:
            yield f"{'':{WIDTH}} {head}: {value.missing} topics undefined"
    yield from _reasons(values)


def _reasons(values: Iterable[Estimate]) -> Iterable[str]:
    for reason in dict.fromkeys(value.reason for value in values if value.reason):
        yield f"{'':{WIDTH}} {reason}"


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else decimals(estimate.value, 3)


def _row(name: str, *cells: str) -> Iterable[str]:
    yield f"{name:{WIDTH}} " + " ".join(f"{cell:>10}" for cell in cells)

"""`manage.py score DATASET`: coverage, ranked coverage, density and ranking metrics."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from annotation.decimals import decimals
from annotation.management.base import ReadOnlyCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.data.relevance import is_relevance_source, relevance_sources
from evaluation.data.selection import SelectionError, one_of
from evaluation.data.sources import sources
from evaluation.retrieval.relevance import RelevanceQuery, relevance_lines
from evaluation.scoring.depths import unequal_depths
from evaluation.scoring.options import ORACLE, ScoringQuery, add_options
from evaluation.scoring.relevance import check_measures, relevance_json, relevance_scores
from evaluation.scoring.row_score import BOUNDS, METRICS, REPORTS, RUNS, RowScore, TopicScore
from evaluation.scoring.same_topics import on_same_topics
from evaluation.scoring.score import Scores, as_json, score
from evaluation.scoring.tokens import tokenizer
from evaluation.stats.estimate import Estimate

WIDTH = 34  # of a name in a table
BY_RELEVANCE = ("source", "eta", "cutoff", "zeros")
OF_SUB_QUESTIONS = ("ideal", "rules", "questions")
HEADS = ("coverage", "alpha-nDCG", "density", "recall", "MAP", "nDCG")


class Command(ReadOnlyCommand):
    help = (
        "Score the retrieval runs, reports and reference bounds of a dataset by the grades of one "
        "source: a judge, a person, the majority of the people, or people over a judge."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        rows = parser.add_mutually_exclusive_group(required=True)
        rows.add_argument(
            "--run",
            help="a run, reports/SYSTEM, bounds/references or bounds/required-subset (Z*)",
        )
        rows.add_argument("--all", action="store_true", help="every run, system and bound")
        add_options(parser)
        parser.add_argument(
            "--tokenizer", default="words", help="words, or a JSON file of the package tokenizers"
        )
        parser.add_argument(
            "--measure",
            action="append",
            default=[],
            metavar="NAME",
            help="by relevance grades: another measure, as ir_measures calls it, such as ERR@10; repeatable",
        )
        parser.add_argument("--json", action="store_true", help="print JSON, with --all a list")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        if _is_by_relevance(dataset, options):
            self._by_relevance(dataset, options)
            return
        chosen = replace(
            ScoringQuery(dataset, options).options, tokenizer=tokenizer(options["tokenizer"])
        )
        scores = score(dataset, chosen, None if options["all"] else [options["run"]])
        if options["json"]:
            rows = [as_json(scores, row) for row in scores.rows]
            printed = json.dumps(rows if options["all"] else rows[0], indent=2, ensure_ascii=False)
            self.stdout.write(printed)
        else:
            self.stdout.write("\n".join(_lines(dataset, scores)))

    def _by_relevance(self, dataset: Dataset, options: dict[str, Any]) -> None:
        """Raises SelectionError, which lists the choices, for what is not there."""
        params = {name: options[name] for name in BY_RELEVANCE if options[name] is not None}
        measures = tuple(dict.fromkeys(options["measure"]))
        chosen = replace(RelevanceQuery(dataset, params).options, extra_measures=measures)
        check_measures(chosen.extra_measures, chosen.eta)
        scores = relevance_scores(dataset, chosen, None if options["all"] else [options["run"]])
        if options["json"]:
            rows = [relevance_json(scores, row) for row in scores.rows]
            printed = json.dumps(rows if options["all"] else rows[0], indent=2, ensure_ascii=False)
            self.stdout.write(printed)
        else:
            self.stdout.write("\n".join(relevance_lines(dataset.slug, scores)))


def _is_by_relevance(dataset: Dataset, options: dict[str, Any]) -> bool:
    """Return True if relevance grades of whole topics are used.

    They are if the source names them, or if no sub-question has grades. Raises SelectionError for
    options that are of sub-questions, or of whole topics, alone.
    """
    name = options["source"]
    grade_sources = sources(dataset)
    is_grade_source = name in {source.name for source in grade_sources}
    by_relevance = (
        bool(relevance_sources(dataset)) and not grade_sources
        if not name
        else is_relevance_source(dataset, name) and not is_grade_source
    )
    if by_relevance and (
        misplaced := [f"--{o}" for o in OF_SUB_QUESTIONS if options[o] is not None]
    ):
        raise SelectionError(f"By relevance grades there is no {' and no '.join(misplaced)}.")
    if not by_relevance and options["measure"]:
        raise SelectionError(
            "--measure takes relevance grades of whole topics, as qrels are: name them with --source."
        )
    if (
        not by_relevance
        and name
        and not is_grade_source
        and (whole_topic_sources := relevance_sources(dataset))
    ):
        listed = [
            *(source.name for source in grade_sources),
            *(source.name for source in whole_topic_sources),
        ]
        one_of("source of grades", name, listed)
    return by_relevance


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
    compared, other_rows = _by_topics(scores.rows)
    for row in compared:
        if len(scores.rows) == 1:
            for name, topic in row.topics.items():
                yield from _topic(name, topic)
        yield from _mean(row)
    if other_rows:
        yield from ("", "On other topics than most runs, or most systems with reports:")
        for row in other_rows:
            yield from _mean(row)
    yield from ("", *scores.notes)
    runs = {row.name: row.sizes for row in scores.rows if row.group == RUNS}
    if unlike := unequal_depths(runs):
        yield f"{unlike.sentence} Choose --cutoff."


def _by_topics(rows: Sequence[RowScore]) -> tuple[list[RowScore], list[RowScore]]:
    """Return the bounds and the systems that are compared, and then all others.

    See `on_same_topics`.
    """
    names = {
        row.name
        for group in (RUNS, REPORTS)
        for row in on_same_topics([row for row in rows if row.group == group])
    }
    compared = [row for row in rows if row.group == BOUNDS or row.name in names]
    return compared, [row for row in rows if row not in compared]


def _topic(name: str, score: TopicScore) -> Iterable[str]:
    values = [score.metric(metric) for metric in METRICS]
    yield from _row(name, *map(_number, values), "")
    unrated = f"; {n_of(score.n_unrated_cells, 'cell')} unrated" if score.n_unrated_cells else ""
    tokens = "unknown" if score.tokens is None else str(score.tokens)
    yield (
        f"{'':{WIDTH}} {score.n_covered} of {score.n_answerable} questions covered by "
        f"{n_of(score.n_passages, 'text')}, {tokens} tokens{unrated}"
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
        label_ndeval = "alpha-nDCG without gains of other topics' passages, as ndeval"
        yield f"{'':{WIDTH}} {label_ndeval}: {decimals(theirs, 3)}"
    for head, value in zip(HEADS, values, strict=True):
        if value.value is not None and value.missing:
            yield f"{'':{WIDTH}} {head}: {n_of(value.missing, 'topic')} without a value"
    if row.n_absent:
        yield f"{'':{WIDTH}} {row.absent_remark}"
    yield from _reasons(values)


def _reasons(values: Iterable[Estimate]) -> Iterable[str]:
    for reason in dict.fromkeys(value.reason for value in values if value.reason):
        yield f"{'':{WIDTH}} {reason}"


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else decimals(estimate.value, 3)


def _row(name: str, *cells: str) -> Iterable[str]:
    yield f"{name:{WIDTH}} " + " ".join(f"{cell:>10}" for cell in cells)

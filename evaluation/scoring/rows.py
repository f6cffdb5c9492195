"""Rows to score: retrieval runs, reports of systems, reference summaries, and Z* itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from annotation.models import Dataset, Text
from evaluation.data.cache import until_content_changes
from evaluation.data.number_lists import NumberList, parse_numbers
from evaluation.data.process_cache import SCORED_ROWS
from evaluation.models import RankedText, RetrievalRun
from evaluation.scoring.pools import Pool

Kind = Literal["run", "reports", "references", "bound"]

DIRECT_PROMPTING, ORACLE_RESULT, ORACLE_RETRIEVAL = 1, 2, 3
BOUNDS = {
    DIRECT_PROMPTING: "direct prompting",
    ORACLE_RESULT: "oracle result",
    ORACLE_RETRIEVAL: "oracle retrieval",
}
# A run may have the name of a system, or any other without a slash.
REPORTS = "reports/"
REFERENCES, REQUIRED = "bounds/references", "bounds/required-subset"


def is_oracle(name: str) -> bool:
    """Return True if a system used oracle retrieval: its name ends in ".oracle".

    The authors' files have such names.

    It is a reference then: no order of systems counts it.
    """
    return name.rpartition(".")[2] == "oracle"


@dataclass(frozen=True, slots=True)
class Row:
    """Something that has one context Z for each topic.

    The contexts of a run are its passages in rank order, of reports and references one text each,
    of the bound `REQUIRED` the passages of Z*. `bound` is 1 to 3 for the reference bounds
    of the paper. `system` is the name that a run and the reports written from it share.
    """

    name: str
    title: str
    kind: Kind
    contexts: Mapping[int, tuple[int, ...]] = field(repr=False)
    """By key of the topic: the keys of the texts, best first."""
    system: str = ""
    bound: int | None = None

    @property
    def text_kind(self) -> str:
        """The kind of its texts: whose scale its grades are on."""
        return {"reports": "report", "references": "reference"}.get(self.kind, "passage")

    @property
    def is_ranking(self) -> bool:
        """Return True if its contexts are rankings of passages."""
        return self.text_kind == "passage"


def rows(dataset: Dataset, pools: Mapping[int, Pool]) -> tuple[Row, ...]:
    """The reference bounds, then the runs, then the reports, each by name: three queries.

    #1, direct prompting: the reports of a system of whose name there is no retrieval run, in a
    dataset whose other systems have one. #2, oracle result: the reference summaries y*. #3, oracle
    retrieval: Z*, the required subset of each topic with answerable questions. A topic of which a
    run ranks nothing has no results. Where a system wrote several reports for a topic, the
    second of each topic make a row of their own, NAME#2; references likewise.
    """
    runs, written = until_content_changes(
        SCORED_ROWS, dataset, (), lambda: (_runs(dataset), _written(dataset))
    )
    systems = {row.system for row in runs}
    reports = [row for row in written if row.kind == "reports"]
    unlike = any(row.system in systems for row in reports)
    bounds, report_rows = [], []
    for row in reports:
        if unlike and row.system not in systems:
            title = f"#1 direct prompting: {row.title}"
            bounds.append(Row(row.name, title, row.kind, row.contexts, row.system, 1))
        else:
            report_rows.append(row)
    bounds += (row for row in written if row.kind == "references")
    z_star = {topic: pool.required_texts for topic, pool in pools.items() if pool.required}
    title = "#3 oracle retrieval: the required subset Z*"
    bounds.append(Row(REQUIRED, title, "bound", z_star, bound=ORACLE_RETRIEVAL))
    return (*bounds, *runs, *report_rows)


def left_out(all_rows: Sequence[Row]) -> tuple[str, ...]:
    """Return notes on the reference bounds that are not among the rows, with reasons."""
    reports = {row.system for row in all_rows if row.kind == "reports"}
    runs = {row.system for row in all_rows if row.kind == "run"}
    quantifier = "every" if reports & runs else "no"
    reasons = {
        DIRECT_PROMPTING: f"{quantifier} system with reports has a retrieval run of its name",
        ORACLE_RESULT: "the dataset has no reference summaries",
    }
    bounds = {row.bound for row in all_rows}
    return tuple(
        f"Reference bound #{number}, {BOUNDS[number]}, is left out: {reason}."
        for number, reason in reasons.items()
        if number not in bounds
    )


def _runs(dataset: Dataset) -> list[Row]:
    names = dict(RetrievalRun.objects.filter(dataset=dataset).values_list("pk", "name"))
    contexts: dict[int, dict[int, tuple[int, ...]]] = {pk: {} for pk in names}
    ranked = RankedText.objects.filter(run__dataset=dataset).order_by()
    lists = {f"{name}_list": NumberList(name) for name in ("topic_id", "rank", "text_id")}
    for run, *columns in ranked.values_list("run_id").annotate(**lists).iterator(chunk_size=10):
        topic, rank, text = map(parse_numbers, columns)
        order = np.lexsort((rank, topic))
        topics, starts = np.unique(topic[order], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        texts = text[order].tolist()
        for key, start, end in zip(topics.tolist(), starts.tolist(), ends, strict=True):
            contexts[run][key] = tuple(texts[start:end])
    return [
        Row(name, name, "run", contexts[pk], system=name)
        for pk, name in sorted(names.items(), key=lambda item: item[1])
    ]


def _written(dataset: Dataset) -> list[Row]:
    """Rows of reports and references."""
    texts = dataset.texts.exclude(kind=Text.Kind.PASSAGE).exclude(topic=None)
    contexts: dict[tuple[str, str, int], dict[int, tuple[int, ...]]] = defaultdict(dict)
    n: dict[tuple[str, str, int], int] = defaultdict(int)
    ordered = texts.order_by("kind", "system", "name", "pk")
    for kind, by, topic, pk in ordered.values_list("kind", "system", "topic_id", "pk"):
        system = "" if kind == Text.Kind.REFERENCE else by
        n[kind, system, topic] += 1
        contexts[kind, system, n[kind, system, topic]][topic] = (pk,)
    rows = []
    for (kind, system, number), texts_of in contexts.items():
        suffix = f"#{number}" if number > 1 else ""
        if kind == Text.Kind.REFERENCE:
            title = f"#2 oracle result: reference summaries{suffix}"
            name = REFERENCES + suffix
            rows.append(Row(name, title, "references", texts_of, bound=ORACLE_RESULT))
        else:
            name, title = f"{REPORTS}{system}{suffix}", f"{system}{suffix}, reports"
            rows.append(Row(name, title, "reports", texts_of, system=system))
    return rows

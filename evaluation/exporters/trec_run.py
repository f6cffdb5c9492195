"""A retrieval run as a file of six columns: topic Q0 text rank score tag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from annotation.formats.writing import ExportError, by_code_point
from evaluation.importers.trec_run import score_without
from evaluation.models import RankedText, RetrievalRun

_CHUNK = 2000


class _Row(NamedTuple):
    topic: str
    text: str
    rank: int
    score: float
    file_rank: int | None


def lines(run: RetrievalRun) -> Iterator[str]:
    """The run as its own file had it, for the folder of a study: ranks and scores may be tied.

    The lines are in the order of topics and ranks. Where the file told no score it is the reciprocal
    rank, and where it told no tag it is the run's name. Raises ExportError for a name with white
    space, which would make another column.
    """
    for row in _rows(run):
        rank = row.rank if row.file_rank is None else row.file_rank
        yield _line(run, row, rank, row.score)


@dataclass
class ForTrecTools:
    """The run as tools read it that sort by score: ranks from 1, scores that fall with every rank.

    Scores are the run's own, but for topics where they do not fall strictly: these get the reciprocal
    rank, and are counted in `rescored` while the lines are read. A tool would otherwise put texts of
    one score in an order of its own. Raises ExportError as `lines`.
    """

    run: RetrievalRun
    rescored: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        for topic, group in groupby(_rows(self.run), key=lambda row: row.topic):
            rows = list(group)
            falls = _falls([row.score for row in rows])
            if not falls:
                self.rescored.append(topic)
            for row in rows:
                yield _line(
                    self.run, row, row.rank, row.score if falls else score_without(row.rank)
                )

    @property
    def note(self) -> str:
        """What was written otherwise than the run has it; empty where nothing was."""
        n = len(self.rescored)
        if not n:
            return ""
        topics = f"{n} topics" if n > 1 else f"the topic {self.rescored[0]}"
        return (
            f"Scores of {topics} do not fall with every rank: 1/rank is written for them, "
            "so that tools that sort by score keep the run's order."
        )


def _falls(scores: list[float]) -> bool:
    """Whether each score is below the one before it, in the 32 bits that trec_eval keeps of it."""
    kept = np.asarray(scores, dtype=np.float32).tolist()
    return all(later < earlier for earlier, later in pairwise(kept))


def _rows(run: RetrievalRun) -> Iterator[_Row]:
    found = RankedText.objects.filter(run=run).order_by(
        "topic__position", by_code_point("topic__name"), "rank"
    )
    columns = ("topic__name", "text__name", "rank", "score", "file_rank")
    for topic, text, rank, score, file_rank in found.values_list(*columns).iterator(_CHUNK):
        yield _Row(topic, text, rank, score_without(rank) if score is None else score, file_rank)


def _line(run: RetrievalRun, row: _Row, rank: int, score: float) -> str:
    columns = f"{row.topic} Q0 {row.text} {rank} {score} {run.tag or run.name}"
    if len(columns.split()) != 6:
        raise ExportError(f"a name of the run {run.name} holds white space: {columns}")
    return columns + "\n"

"""runs/<run>.run: topic Q0 text rank score tag.

The order of the lines is the ranking where no score is above the one before it: in some files all ranks and
scores of a topic are the same. Other topics are read as `annotation.formats.run_order.ranking_order` says.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Max

from annotation.formats import reading
from annotation.formats.batches import batches
from annotation.formats.content import first_rows, opened
from annotation.formats.layout import Source
from annotation.formats.left_out_rows import RowPosition
from annotation.formats.records import RunRow, checked_name
from annotation.formats.run_order import (
    NO_RUN,
    OTHER_RUN_COLUMNS,
    RANKS_OF_THREE,
    RUN_COLUMNS,
    full_columns,
    ranking_order,
    usual_width,
)
from annotation.formats.summary import quoted_value
from annotation.formats.target import KnownTopic, Target
from annotation.formats.writing import ExportError, by_code_point
from annotation.prepared import insert_all
from evaluation.models import RankedText, RetrievalRun

_BATCH = 1000
_ONLY_RANKS = 3  # columns: topic, text, rank
_LARGEST_RANK = 2**31 - 1  # what a column of every database holds
_STORED = ("run_id", "topic_id", "text_id", "rank", "score", "file_rank")


def checked_run_name(name: str) -> str:
    """Return a name that a run can have, which is that of its file. Raises ValueError."""
    if len(checked_name(name)) > 120:
        raise ValueError("must have 120 characters at most")
    if "/" in name:
        raise ValueError("must have no /, as it is the name of a file")
    return name


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    topic: KnownTopic
    text: str
    rank: int
    file_rank: int
    score: float
    tag: str


def read(target: Target, source: Source) -> None:
    """The run of a file, named after it. A run that is there already must rank the same texts."""
    reader = _Reader(target, source)
    for batch in batches(reader.rows(), _BATCH):
        reader.store(batch)
    reader.finish()


def score_without(rank: int) -> float:
    """The score that is written where none is known: the reciprocal rank."""
    return 1 / rank


class _Reader:
    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.summary = target.summary.file(source.name)
        runs = RetrievalRun.objects.filter(dataset=target.dataset, name=source.system)
        self.run: RetrievalRun | None = runs.first()
        ranked = RankedText.objects.filter(run__in=runs).order_by().values_list("topic_id")
        self.before: dict[int, int] = dict(ranked.annotate(Count("pk")))
        # Whatever has a greater key was written from this very file.
        self.last_before = RankedText.objects.aggregate(last=Max("pk"))["last"] or 0
        rows = [] if source.translation else first_rows(source.path)
        self.width = usual_width(rows)
        """Number of columns of most first lines, which all lines must have; 0 if they are no run."""
        self.rank_above: Counter[str] = Counter()
        """Rank of the line above, by topic of a run of 3 columns."""
        width = self.width or len(RUN_COLUMNS)
        self.orders = {} if source.translation else _orders(source.path, width, target)
        self.ranks: Counter[int] = Counter()
        self.tag = ""
        self.ranked: set[tuple[int, int]] = set()
        """Topics and texts of earlier rows of a file in another format."""
        self.topics: set[str] = set()
        """Names of all topics of the file."""

    def rows(self) -> Iterator[_Row]:
        for number, text in self._lines():
            cells = text.split()
            line = self._position(number, cells)
            if self.target.is_left_out(self.source, line):
                continue
            columns = self._columns(cells)
            if columns is None:
                self._problem(line, "", self._expected(cells))
                continue
            name, _, passage, rank, score, tag = columns
            topic = self.target.topic(self.source, line, "topic", name)
            if topic and self._sound(line, passage, rank, score, tag):
                self.ranks[topic.pk] += 1
                position = self.ranks[topic.pk]
                if name in self.orders:
                    position = self.orders[name][position - 1]
                if isinstance(line, RowPosition):
                    self.target.begun.add((self.source.name, line.unit))
                yield _Row(line, topic, passage, position, _rank(rank), float(score), tag)

    def _columns(self, cells: list[str]) -> list[str] | None:
        """Return the six columns of a line; None if it has others than the run."""
        if len(cells) != (self.width or len(RUN_COLUMNS)):
            return None
        columns = full_columns(cells, self.source.system)
        if columns and self.width == _ONLY_RANKS:
            topic, rank = columns[0], int(columns[3])
            is_next = rank == self.rank_above[topic] + 1
            self.rank_above[topic] = rank  # a gap is told once, not for each later line
            if not is_next:
                return None
        return columns

    def _expected(self, cells: list[str]) -> str:
        line = quoted_value(" ".join(cells))
        if self.width and len(cells) != self.width:
            return f"expected {self.width} columns as in most lines, not {len(cells)}: {line}"
        if len(cells) == _ONLY_RANKS:
            return f"{RANKS_OF_THREE}, unlike {line}; {NO_RUN}"
        return (
            f"expected 6 columns ({' '.join(RUN_COLUMNS)}), {OTHER_RUN_COLUMNS}, not "
            f"{len(cells)}: {line}"
        )

    def _position(self, line: int, columns: list[str]) -> int:
        """Return the line; of another tool's run, as a part of the ranking of its topic.

        A ranking without one of its lines would be another ranking.
        """
        if not self.source.leaves_out or self.source.translation:
            return line
        self.topics.add(columns[0])
        self.target.units[self.source.name] = len(self.topics)
        return RowPosition(line, unit=columns[0])

    def _lines(self) -> Iterator[tuple[int, str]]:
        if not self.source.translation:
            return reading.lines(self.target, self.source)
        rows = reading.rows(self.target, self.source, RunRow)
        return ((line, row.line) for line, row in rows)

    def _sound(self, line: int, passage: str, rank: str, score: str, tag: str) -> bool:
        field, value = "text", passage
        try:
            checked_name(passage)
            field, value = "tag", tag
            if len(checked_name(tag)) > 120:
                raise ValueError("must have 120 characters at most")
            field, value = "rank", rank
            if abs(_rank(rank)) > _LARGEST_RANK:
                raise ValueError(f"at most {_LARGEST_RANK}")
            field, value = "score", score
            if not math.isfinite(float(score)):
                raise ValueError("must be a finite number")
        except ValueError as error:
            message = f"{error}" if field in ("text", "tag") else f"expected a number ({error})"
            if self.width == 4:
                message += ", in 4 columns (topic text rank score)"
            self._problem(line, field, f"{message}, not {quoted_value(value)}")
            return False
        self.tag = self.tag or tag
        if tag != self.tag:
            self._problem(line, "tag", f"expected {self.tag} as above, not {tag}")
        return tag == self.tag

    def store(self, batch: list[_Row]) -> None:
        run = self._run(batch[0])
        passages = self.target.passages(row.text for row in batch)
        stored = {
            (topic, text): (pk, rank, score)
            for pk, topic, text, rank, score in RankedText.objects.filter(
                run=run, text__in=passages.values()
            ).values_list("pk", "topic_id", "text_id", "rank", "score")
        }
        new: dict[tuple[int, int], tuple[Any, ...]] = {}
        scored: list[RankedText] = []
        for row in batch:
            key = (row.topic.pk, passages[row.text])
            pk, rank, score = stored.get(key, (None, 0, None))
            if key in new or key in self.ranked or (pk is not None and pk > self.last_before):
                self._problem(row.line, "text", f"{row.text} is ranked twice for {row.topic.name}")
            elif pk is None and row.topic.pk not in self.before:
                file_rank = row.file_rank if row.file_rank != row.rank else None
                new[key] = (run.pk, *key, row.rank, row.score, file_rank)
            elif pk is None or rank != row.rank:
                self._differs(row.line, row.topic)
            elif score == row.score or (score is None and row.score == score_without(row.rank)):
                self.summary.unchanged += 1
            elif score is None:
                scored.append(RankedText(pk=pk, score=row.score))
            else:
                message = f"{row.text} is in the dataset with the score {score}"
                self._problem(row.line, "score", message, refuses=True)
            if self.source.translation:
                self.ranked.add(key)
        insert_all(RankedText, _STORED, list(new.values()))
        RankedText.objects.bulk_update(scored, ["score"])
        self.summary.created += len(new)
        self.summary.filled += len(scored)
        self.target.summary.created["ranked texts"] += len(new)

    def _run(self, row: _Row) -> RetrievalRun:
        """The run, made with its first row. A run that came from contexts gets its tag."""
        name = self.source.system
        if self.run is None:
            try:
                checked_run_name(name)
            except ValueError as error:
                self._problem(0, "", f"the name of a run {error}")
                self.target.stop_if_wrong()
            self.run = RetrievalRun.objects.create(
                dataset=self.target.dataset, name=name, tag=row.tag
            )
            self.target.summary.created["retrieval runs"] += 1
        elif not self.run.tag and row.tag != name:  # a run without a tag is exported with its name
            self.run.tag = row.tag
            self.run.save(update_fields=["tag"])
            self.summary.filled += 1
        elif self.run.tag and self.run.tag != row.tag:
            self._problem(row.line, "tag", f"expected {self.run.tag} as in the dataset")
        return self.run

    def finish(self) -> None:
        """A run that is there must not have ended sooner here."""
        if self.rank_above and max(self.rank_above.values()) == 1:
            self._problem(0, "rank", f"has no rank but 1; {NO_RUN}")
        names = {topic.pk: topic for topic in self.target.topics.values()}
        for topic, n in self.ranks.items():
            if self.before.get(topic, 0) > n:
                self._differs(0, names[topic])

    def _differs(self, line: int, topic: KnownTopic) -> None:
        message = f"the run is in the dataset with another ranking for {topic.name}"
        if topic.name in self.orders:
            message += " (its lines are not in the order of their scores: choose an order)"
        self._problem(line, "text", message, refuses=True)

    def _problem(self, line: int, field: str, message: str, *, refuses: bool = False) -> None:
        self.target.problem(self.source, line, field, message, refuses=refuses)


def _orders(path: Path, width: int, target: Target) -> dict[str, list[int]]:
    """Return the ranks of the lines of each topic that is not ranked by line.

    This is a first pass over the file.

    It holds two numbers a line. What is wrong with a line or the file is reported by the second reading.
    """
    columns = _score_columns(path, width)
    orders: dict[str, list[int]] = {}
    for name, (scores, ranks) in columns.items():
        order, reported = ranking_order(scores, ranks, target.run_order)
        if reported is not None:
            target.summary.mapped[reported] += 1
        if order is not None:
            orders[name.decode(errors="replace")] = (np.argsort(order) + 1).tolist()
    return orders


def _score_columns(path: Path, width: int) -> dict[bytes, tuple[array[float], array[int]]]:
    columns: dict[bytes, tuple[array[float], array[int]]] = {}
    with suppress(OSError, EOFError, zlib.error), opened(path) as file:
        is_first = True
        while line := file.readline(reading.MAX_LINE + 1):
            cells = (line.removeprefix(b"\xef\xbb\xbf") if is_first else line).split()
            is_first = False
            if len(cells) == width and (columns_of_line := _rank_and_score(cells)):
                with suppress(ValueError, OverflowError):
                    rank, score = _rank(columns_of_line[0].decode()), float(columns_of_line[1])
                    scores, ranks = columns.setdefault(cells[0], (array("d"), array("q")))
                    ranks.append(rank)
                    scores.append(score)
    return columns


def _rank_and_score(cells: list[bytes]) -> list[bytes] | None:
    if len(cells) == len(RUN_COLUMNS):
        return cells[3:5]
    columns = full_columns([cell.decode(errors="replace") for cell in cells], "")
    return [cell.encode() for cell in columns[3:5]] if columns else None


def _rank(cell: str) -> int:
    """Parse a rank, a whole number that may be written as 2.0.

    Raises ValueError for anything else.
    """
    whole, point, fraction = cell.partition(".")
    return int(whole if point and fraction and not fraction.strip("0") else cell)


_CHUNK = 2000


class _Line(NamedTuple):
    topic: str
    text: str
    rank: int
    score: float
    file_rank: int | None


def lines(run: RetrievalRun) -> Iterator[str]:
    """The run as its own file had it, for the folder of a study: ranks and scores may be tied.

    The lines are in the order of topics and ranks. Where the file told no score it is the reciprocal
    rank, and where it told no tag it is the run's name. Where a score is above the one before it, the ranks
    are those of the lines, so that the topic is read back in this order. Raises ExportError for a name with
    white space, which would make another column.
    """
    # Closed at an error before its transaction is rolled back: PostgreSQL drops the cursor with that.
    with closing(_rows(run)) as all_rows:
        for _, group in groupby(all_rows, key=lambda row: row.topic):
            rows = list(group)
            rises = any(later.score > earlier.score for earlier, later in pairwise(rows))
            for row in rows:
                rank = row.rank if rises or row.file_rank is None else row.file_rank
                yield _line(run, row, rank, row.score)


@dataclass
class ForTrecTools:
    """TREC run for tools that sort by score: ranks from 1, strictly falling scores.

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
        """Note on topics with replaced scores; empty if there are none."""
        n = len(self.rescored)
        if not n:
            return ""
        topics = f"{n} topics" if n > 1 else f"the topic {self.rescored[0]}"
        return (
            f"Scores of {topics} do not fall with every rank: 1/rank is written for them, "
            "so that tools that sort by score keep the run's order."
        )


def _falls(scores: list[float]) -> bool:
    """Return True if the scores fall strictly, in the 32 bits that trec_eval keeps of them."""
    rounded = np.asarray(scores, dtype=np.float32).tolist()
    return all(later < earlier for earlier, later in pairwise(rounded))


def _rows(run: RetrievalRun) -> Generator[_Line]:
    ranked = RankedText.objects.filter(run=run).order_by(
        "topic__position", by_code_point("topic__name"), "rank"
    )
    columns = ("topic__name", "text__name", "rank", "score", "file_rank")
    for topic, text, rank, score, file_rank in ranked.values_list(*columns).iterator(_CHUNK):
        yield _Line(topic, text, rank, score_without(rank) if score is None else score, file_rank)


def _line(run: RetrievalRun, row: _Line, rank: int, score: float) -> str:
    columns = f"{row.topic} Q0 {row.text} {rank} {score} {run.tag or run.name}"
    if len(columns.split()) != 6:
        raise ExportError(f"a name of the run {run.name} holds white space: {columns}")
    return columns + "\n"

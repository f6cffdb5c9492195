"""Grades of a source as one array, with a cell for each (topic, text, question)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from annotation.models import Dataset, Rubric
from annotation.models.standard import ANSWERABLE, GRADED
from evaluation.data.corpus import KINDS, Corpus
from evaluation.data.ratings import answerable, cached_frame
from evaluation.data.selection import threshold
from evaluation.data.sources import Source
from evaluation.metrics.grades import BoolArray
from evaluation.stats.estimate import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale on which the grades of one kind of text are read.

    `rubric` is the slug of the one rubric that they were given under; the grades are those levels
    and `eta` is the threshold on them. Without one rubric they are verdicts: 1 answerable, 0 not.
    """

    rubric: str
    eta: int
    levels: tuple[int, ...]

    @property
    def is_verdict(self) -> bool:
        """Return True if the grades say only answerable or not."""
        return len(self.levels) == 2


VERDICT = Scale("", 1, (0, 1))


@dataclass(frozen=True)
class Cells:
    """Grades as rated texts x positions of the topic's questions, NaN = unrated.

    A row is a (topic, text) pair with at least one grade; rows are in the order of topic key, then
    text key. `by_people` marks the cells that a majority of people decided over a judge. `n_tied`
    counts cells that people rated without a majority.
    """

    topic: IntArray
    text: IntArray
    grades: FloatArray
    by_people: BoolArray
    scales: Mapping[str, Scale]
    """By kind of text."""
    n_ratings: int
    n_tied: int

    def of_topic(self, topic: int) -> slice:
        """The rows of a topic."""
        start, stop = np.searchsorted(self.topic, [topic, topic + 1])
        return slice(int(start), int(stop))


def load_cells(dataset: Dataset, source: Source, eta: int, corpus: Corpus) -> Cells:
    """The grades of a source, read at eta: four queries, whatever the number of ratings.

    Ratings under the graded and the yes-or-no rubric count; those under others are not read. Where
    a rater gave both for a cell the graded one counts. One rater's grades of a kind of text stay on
    the scale of their rubric as long as it is one; made up of several they are verdicts.
    """
    rubrics = {r.pk: r for r in Rubric.objects.filter(slug__in=[GRADED.slug, ANSWERABLE.slug])}
    rows = cached_frame(dataset, source.raters, list(rubrics))
    cell_index = _CellIndex(corpus, rows)
    verdicts = answerable(rows, rubrics.values(), eta)
    values, scales = verdicts.astype(np.float64), dict.fromkeys(KINDS, VERDICT)
    if source.kind == "rater":
        for index, kind in enumerate(KINDS):
            of_kind = cell_index.kind == index
            used = rows["rubric"][of_kind].unique().tolist()
            if len(used) == 1:
                rubric = rubrics[used[0]]
                values[of_kind] = rows["grade"][of_kind]
                levels = tuple(rubric.grades())
                scales[kind] = Scale(rubric.slug, threshold(rubric, eta), levels)
    graded = rows["rubric"].isin([pk for pk, r in rubrics.items() if r.slug == GRADED.slug])
    cells = np.full(cell_index.n_rows * cell_index.width, np.nan)
    by_people, n_tied = np.zeros(len(cells), dtype=bool), 0
    by_rater = rows["rater"] == (source.rater.pk if source.rater else None)
    # Yes-or-no first: where a rater gave both, the graded one is written over it.
    for part in (~graded & by_rater, graded & by_rater):
        cells[cell_index.cell[part]] = values[part]
    if source.people:
        people = (~by_rater).to_numpy()
        yes, n = _votes(cell_index.cell, verdicts, rows["rater"], graded, people, len(cells))
        decided = 2 * yes != n
        cells[decided] = 2 * yes[decided] > n[decided]
        n_tied = int(((n > 0) & ~decided).sum())
        by_people = decided & (source.rater is not None)
    return Cells(
        topic=cell_index.topic,
        text=cell_index.text,
        grades=cells.reshape(cell_index.n_rows, cell_index.width),
        by_people=by_people.reshape(cell_index.n_rows, cell_index.width),
        scales=scales,
        n_ratings=len(rows),
        n_tied=n_tied,
    )


class _CellIndex:
    """Index of each rating: its row, a (topic, text) pair, and its cell in the flat array."""

    def __init__(self, corpus: Corpus, rows: pd.DataFrame) -> None:
        question_rows = [
            (q.pk, topic, q.position) for topic, qs in corpus.questions.items() for q in qs
        ]
        table = np.array(sorted(question_rows), dtype=np.int64).reshape(-1, 3)
        question = np.searchsorted(table[:, 0], rows["question"])
        self.width = int(table[:, 2].max(initial=-1)) + 1
        topic, position = table[question, 1], table[question, 2]
        text = rows["text"].to_numpy(np.int64)
        self.kind = corpus.kind[corpus.at(text)]
        # One number a pair: keys of rows stay far below the 63 bits that there are.
        base = int(corpus.pk.max(initial=0)) + 1
        pairs, row = np.unique(topic * base + text, return_inverse=True)
        self.topic, self.text = np.divmod(pairs, base)
        self.n_rows = len(pairs)
        self.cell = row * self.width + position


def _votes(
    cell: IntArray,
    verdicts: BoolArray,
    rater: pd.Series,
    graded: pd.Series,
    by_people: BoolArray,
    n_cells: int,
) -> tuple[IntArray, IntArray]:
    """Count for each cell the people who say answerable, and all who rated."""
    # A person votes once a cell: sorted with graded ratings last, the last of a person counts. In
    # arrays, since drop_duplicates of a frame took a third more memory.
    order = np.lexsort((graded, cell, rater))
    order = order[by_people[order]]
    last, voter = np.ones(len(order), dtype=bool), rater.to_numpy()[order]
    last[:-1] = (np.diff(cell[order]) != 0) | (np.diff(voter) != 0)
    votes = order[last]
    yes = np.bincount(cell[votes[verdicts[votes]]], minlength=n_cells)
    return yes, np.bincount(cell[votes], minlength=n_cells)

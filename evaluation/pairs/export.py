"""CSV lines of the list of pairs, a few hundred pairs at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from django.urls import reverse

from annotation.models import SubQuestion
from evaluation.pairs.page import PairList, PairRow
from evaluation.result_tables import Cell, plain_cell

AT_A_TIME = 500


def pair_lines(listed: PairList, site: str) -> Iterator[str]:
    """Yield the header and a line a pair, in the order of the list, with its URL below `site`.

    A missing grade, and an undefined distance, is an empty cell.
    """
    selection = listed.matrix.selection
    yield _line(
        [
            *("topic", "kind", "system", "text", "number", "question"),
            *(rater.name for rater in selection.columns),
            *("grades_apart", "evidence_apart", "notes", "page"),
        ]
    )
    for start in range(0, len(listed), AT_A_TIME):
        rows = listed.rows(start, start + AT_A_TIME)
        questions = SubQuestion.objects.in_bulk([row.question for row in rows])
        for row in rows:
            yield _line(_cells(listed, row, questions[row.question].body, site))


def _cells(listed: PairList, row: PairRow, question: str, site: str) -> list[Cell]:
    selection = listed.matrix.selection
    slug = selection.dataset.slug
    judge = row.judge if selection.judge_apart else None
    page = reverse("pair", args=[slug, row.text.pk, row.question])
    return [
        row.topic,
        row.text.kind,
        row.text.system or None,
        row.text.name,
        row.number,
        question,
        *(cell.grade for cell in filter(None, (*row.grades, judge))),
        row.weight,
        row.evidence,
        row.n_notes,
        f"{site}{page}?{listed.query()}",
    ]


def _line(cells: Sequence[Cell]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(plain_cell(cell) for cell in cells)
    return out.getvalue()

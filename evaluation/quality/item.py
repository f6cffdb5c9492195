"""Answers of all raters to one item of a campaign, with their highlights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Answer, Assignment, Decision, Item, ItemQuestion, Rater
from annotation.participation import active_time
from evaluation.data.columns import Column
from evaluation.quality.rater import Cell, cell
from evaluation.stats import fleiss
from evaluation.stats.estimate import Estimate, IntArray

Spans = list[dict[str, Any]]


@dataclass(frozen=True)
class Reader:
    """Rater with an assignment of the item.

    The letter and the mark are the same for all questions.
    """

    column: Column
    assignment: Assignment
    active_ms: int

    @property
    def is_set_aside(self) -> bool:
        return self.assignment.participant.set_aside_at is not None


@dataclass(frozen=True)
class Voice:
    """Answer of one rater to one question."""

    reader: Reader
    cell: Cell
    answerable: bool
    spans: Spans

    def drawn(self) -> list[dict[str, Any]]:
        """Return the spans for marking the text on the server and in the browser."""
        column = self.reader.column
        return [
            {
                "rater": column.letter,
                "start": span["start"],
                "end": span["end"],
                "mark": column.mark,
                "label": column.letter,
                "says": f"{column.name} marked this line",
                "href": f"#grade-{column.letter}",
            }
            for span in self.spans
        ]


@dataclass(frozen=True)
class QuestionRow:
    """Question of the item with all answers, the expected grade, and the adjudicated grade."""

    asked: ItemQuestion
    voices: tuple[Voice, ...]
    expected: int | None
    decided: int | None

    @property
    def differs(self) -> bool:
        return len({voice.cell.grade for voice in self.voices} - {None}) > 1


@dataclass(frozen=True)
class ItemReport:
    """All answers to an item, and their agreement."""

    readers: tuple[Reader, ...]
    rows: tuple[QuestionRow, ...]
    percent: Estimate
    kappa: Estimate
    levels: IntArray

    def row(self, question: str) -> QuestionRow | None:
        """Return the row of a question, as a URL names it; None where it is not asked.

        Without a question: the first on which raters differ, or the first.
        """
        if question:
            return next((row for row in self.rows if str(row.asked.question_id) == question), None)
        first = self.rows[0] if self.rows else None
        return next((row for row in self.rows if row.differs), first)


def item_report(item: Item) -> ItemReport:
    """Return all answers to an item: six queries."""
    rubric = item.campaign.rubric
    readers = _readers(item)
    newest: dict[tuple[int, int | None], Answer] = {
        (answer.assignment_id, answer.question_id): answer
        for answer in Answer.objects.filter(
            assignment__item=item, question__isnull=False, rubric=None
        ).order_by("-late", "pk")  # a valid answer overrides a late one
    }
    decisions = {
        decision.question_id: decision.grade for decision in Decision.objects.filter(item=item)
    }
    grades = {answer.grade for answer in newest.values() if answer.grade is not None}
    levels = np.array(sorted(grades | set(rubric.scale_grades())), dtype=np.int64)
    rows = []
    for item_question in item.asked.select_related("question").order_by("position"):
        voices = []
        for reader in readers:
            answer = newest.get((reader.assignment.pk, item_question.question_id))
            grade = answer.grade if answer else None
            voices.append(
                Voice(
                    reader=reader,
                    cell=cell(grade, levels, has_order=rubric.has_order),
                    answerable=grade is not None and rubric.answers(grade),
                    spans=answer.spans if answer else [],
                )
            )
        rows.append(
            QuestionRow(
                asked=item_question,
                voices=tuple(voices),
                expected=item_question.expected,
                decided=decisions.get(item_question.question_id),
            )
        )
    matrix = [
        [
            np.nan if voice.cell.grade is None else voice.cell.grade
            for voice in row.voices
            if not voice.reader.is_set_aside
        ]
        for row in rows
    ]
    n_counted = sum(not reader.is_set_aside for reader in readers)
    counts = fleiss.counts(np.array(matrix, dtype=np.float64).reshape(len(rows), n_counted), levels)
    return ItemReport(
        readers=readers,
        rows=tuple(rows),
        percent=fleiss.percent_agreement(counts),
        kappa=fleiss.fleiss_kappa(counts),
        levels=levels,
    )


def _readers(item: Item) -> tuple[Reader, ...]:
    assignments = list(
        Assignment.objects.filter(item=item, repeats=None)
        .select_related("participant__rater")
        .order_by("participant__rater__name")
    )
    times = active_time.by_assignment(Assignment.objects.filter(item=item).values("participant"))
    return tuple(
        Reader(
            column=Column(
                assignment.participant.rater_id,
                assignment.participant.rater.name,
                Rater.Kind.HUMAN,
                index,
            ),
            assignment=assignment,
            active_ms=times[assignment.pk].ms,
        )
        for index, assignment in enumerate(assignments)
    )

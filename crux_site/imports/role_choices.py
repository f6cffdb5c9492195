"""Roles of columns and constants as the columns page offers them, with labels."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.formats.tables.mapping import Role

ROLES: tuple[tuple[str, tuple[tuple[Role, str], ...]], ...] = (
    (
        "Topic",
        (
            (Role.TOPIC, "topic: id"),
            (Role.REQUEST, "topic: request (the question)"),
            (Role.GROUP, "topic: group"),
            (Role.QUESTION, "sub-question"),
            (Role.QUESTION_NUMBER, "sub-question: number, from 1"),
            (Role.QUESTION_INDEX, "sub-question: number, from 0"),
        ),
    ),
    (
        "Text",
        (
            (Role.TEXT, "text: id"),
            (Role.BODY, "text: words (answer, passage)"),
            (Role.KIND, "text: kind (passage, report, reference)"),
            (Role.SHA256, "text: SHA-256 of its words"),
            (Role.SYSTEM, "system"),
            (Role.REPEAT, "number of the attempt"),
            (Role.REFERENCE, "reference answer"),
            (Role.CITATIONS, "citations"),
        ),
    ),
    (
        "Grades",
        (
            (Role.RATER, "rater"),
            (Role.RATER_KIND, "kind of rater (human, model, baseline)"),
            (Role.RUBRIC, "rubric"),
            (Role.GRADE, "grade"),
            (Role.COPIED_FROM, "copied from: id of the text that was read"),
            (Role.COPIED_FROM_SYSTEM, "copied from: system of the text that was read"),
            (Role.VALUE, "value (number)"),
            (Role.MEASURE, "name of the value"),
            (Role.COMMENT, "comment"),
            (Role.TIME, "time"),
            (Role.SPAN, "marked words"),
            (Role.SPAN_START, "marked words: first character"),
            (Role.SPAN_END, "marked words: end"),
            (Role.SPANS, "marked words (list)"),
        ),
    ),
    (
        "Retrieval",
        (
            (Role.CONTEXTS, "retrieved contexts (list)"),
            (Role.CONTEXT_IDS, "ids of retrieved contexts (list)"),
            (Role.GOLD, "ideal contexts (list)"),
            (Role.RUN, "retrieval run"),
            (Role.RANK, "rank"),
            (Role.SCORE, "score of the ranking"),
        ),
    ),
)
LABELS = {role: label for _, roles in ROLES for role, label in roles}
SPLIT, CUT, SCALE = "split", "cut", "scale"
_SEPARATOR = ((SPLIT, "Separator of the list"),)
COLUMN_FIELDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    Role.GRADE: (
        (Role.RATER, "Rater"),
        (Role.RUBRIC, "Rubric"),
        (Role.QUESTION, "Sub-question"),
        (Role.QUESTION_NUMBER, "Number of the sub-question, from 1"),
        (Role.SYSTEM, "System"),
        (Role.TOPIC, "Topic id"),
        (Role.TEXT, "Text id"),
        (Role.BODY, "Words of the text"),
        (CUT, "Cuts that make grades of fractions"),
        (SCALE, "Grades are shares of"),
    ),
    Role.VALUE: ((Role.MEASURE, "Name of the value"),),
    Role.BODY: ((Role.SYSTEM, "System"), (Role.KIND, "Kind of text")),
    Role.CONTEXTS: _SEPARATOR,
    Role.CONTEXT_IDS: _SEPARATOR,
    Role.GOLD: _SEPARATOR,
}
COLUMN_NOTES = {CUT: "such as 0.5", SCALE: "such as 100, for percents", SPLIT: "such as |"}
ALWAYS_SHOWN = {Role.MEASURE}
"""Fields of a column that are on the page also where they are empty."""
CONSTANTS: tuple[tuple[Role, str, str], ...] = (
    (Role.KIND, "Kind of text", ""),
    (Role.SYSTEM, "System", "that wrote the answers or retrieved the contexts"),
    (Role.RATER, "Rater", "who gave the grades"),
    (Role.RATER_KIND, "Kind of rater", ""),
    (Role.RUBRIC, "Rubric", "of the grades"),
    (Role.REQUEST, "Topic request", "if all rows are about one question"),
    (Role.RUN, "Retrieval run", "name of the ranking"),
)
MORE_CONSTANTS: tuple[tuple[Role, str, str], ...] = (
    (Role.TOPIC, "Topic id", ""),
    (Role.GROUP, "Topic group", ""),
    (Role.QUESTION, "Sub-question", ""),
    (Role.QUESTION_NUMBER, "Number of the sub-question", "from 1"),
    (Role.TEXT, "Text id", ""),
    (Role.BODY, "Words of the text", ""),
    (Role.GRADE, "Grade", ""),
    (Role.MEASURE, "Name of the value", ""),
    (Role.CITATIONS, "Citations", ""),
)
"""Constants that few tables need."""

"""Convert API rows to pandas frames, with the same columns even without rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

DATASETS = ("slug", "title", "created", "n_topics", "n_questions", "n_texts")
TOPICS = ("id", "name", "position", "request", "n_questions")
QUESTIONS = ("id", "topic", "position", "body", "is_filtered", "filtered_because", "filtered_eta")
TEXTS = ("id", "kind", "system", "name", "topic", "body", "sha256")
RUNS = ("name", "tag", "n_topics", "n_ranked")
RATERS = ("name", "kind", "is_of_dataset")
RATINGS = (
    *("id", "rater", "rater_kind", "rubric", "grade", "created"),
    *("text_id", "text_kind", "text_system", "text_name", "text_sha256"),
    *("question_id", "question_topic", "question_position", "copied_from", "spans"),
)
NUMBERS = ("scope", "name", "measure", "value", "low", "high", "n", "missing", "reason")
TYPES = {
    **dict.fromkeys(("value", "low", "high"), "float64"),
    **dict.fromkeys(
        ("n", "missing", "filtered_eta", "copied_from"), "Int64"
    ),  # whole numbers of which some are not there
}


def frame(rows: Iterable[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    """Convert rows to a frame, one line each.

    What is nested in a row becomes columns, as `text_id`; a list stays in its cell. `columns` come first
    and are there without any row; what a newer site tells beside them follows. Missing is missing: NaN or
    NA, never 0. `created` is in UTC.
    """
    read = pd.json_normalize(list(rows), sep="_")
    read = read.reindex(columns=[*columns, *(name for name in read if name not in columns)])
    read = read.astype({name: kind for name, kind in TYPES.items() if name in read})
    if "created" in read:
        read["created"] = pd.to_datetime(read["created"], utc=True, format="ISO8601")
    return read

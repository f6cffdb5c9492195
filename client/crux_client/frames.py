"""Convert API rows to pandas frames, with the same columns even without rows.

Ratings come as JSON rows or as a Parquet file, and give the same frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import pandas as pd

DATASETS = ("slug", "title", "created", "n_topics", "n_questions", "n_texts")
TOPICS = ("id", "name", "position", "request", "n_questions")
QUESTIONS = (
    "id",
    "topic",
    "position",
    "body",
    "is_filtered",
    "filtered_because",
    "filtered_eta",
    "origins",
)
TEXTS = ("id", "kind", "system", "name", "topic", "body", "sha256", "origins")
CERTIFICATES = (
    *("judge", "rubric", "state", "void_because", "tested", "epsilon", "winning_rate", "advantage"),
    *("n_pairs", "n_topics"),
)
RUNS = ("name", "tag", "n_topics", "n_ranked", "origins")
RATERS = ("name", "kind", "is_of_dataset")
RATINGS = (
    *("id", "rater", "rater_kind", "rubric", "grade", "created"),
    *("text_id", "text_kind", "text_system", "text_name", "text_sha256"),
    *("question_id", "question_topic", "question_position", "copied_from", "exposure", "spans"),
)
NUMBERS = ("scope", "name", "measure", "value", "low", "high", "n", "missing", "reason")
TYPES = {
    **dict.fromkeys(("value", "low", "high"), "float64"),
    **dict.fromkeys(
        ("n", "missing", "filtered_eta", "copied_from"), "Int64"
    ),  # whole numbers of which some are not there
}
RATING_TYPES = {
    **dict.fromkeys(("id", "text_id", "question_id", "question_position", "grade"), "int64"),
    **dict.fromkeys(("rater", "rater_kind", "rubric", "question_topic"), "str"),
    **dict.fromkeys(("text_kind", "text_system", "text_name", "text_sha256", "exposure"), "str"),
    "copied_from": "Int64",
    "created": "datetime64[us, UTC]",
    "spans": "object",
}
PARQUET = "application/vnd.apache.parquet"


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


def ratings(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Convert rows of ratings to a frame, with the same types even without rows."""
    return frame(rows, RATINGS).astype(RATING_TYPES)


def can_read_parquet() -> bool:
    """Return True if pyarrow is installed; nothing else of the client needs it."""
    return find_spec("pyarrow") is not None


def ratings_of_parquet(content: bytes) -> pd.DataFrame:
    """Convert a Parquet file of ratings to the frame that `ratings` makes of their rows."""
    import pyarrow as pa  # noqa: PLC0415 - the extra `parquet`
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pq.read_table(BytesIO(content))
    # Nullable integers: NumPy's are floats where one is missing, which are inexact from 2**53 on.
    read = table.drop_columns("spans").to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    read["spans"] = pd.Series(table["spans"].to_pylist(), dtype="object")
    read = read[[*RATINGS, *(name for name in read if name not in RATINGS)]]
    return read.astype(RATING_TYPES)

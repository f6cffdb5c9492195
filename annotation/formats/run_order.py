"""Columns of a run, and the ranking of a topic by line or by falling score. No Django."""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise

from annotation.formats.summary import Conversion

RUN_COLUMNS = ("topic", "Q0", "text", "rank", "score", "tag")
OTHER_RUN_COLUMNS = "or 3 (topic text rank), 4 (topic text rank score) or 5 (without the tag)"
RANKS_OF_THREE = "the third of 3 columns is the rank, which counts the lines of a topic from 1"
NO_RUN = "topic, text and grade are qrels, not a run"
_CONSTANTS = ("q0", "0")
_MOST_DIGITS = 10


def full_columns(cells: Sequence[str], tag: str) -> list[str] | None:
    """Return the six columns of a line of a run; None for another line.

    MS MARCO's runs have topic, text and rank, ColBERT's a score after these, and some have all columns but
    the tag. A missing score is the reciprocal rank.
    """
    match [*cells]:
        case [_, _, _, _, _, _]:
            return [*cells]
        case [topic, q0, text, rank, score] if q0.casefold() in _CONSTANTS:
            return [topic, q0, text, rank, score, tag]
        case [topic, text, rank, score] if text.casefold() not in _CONSTANTS:
            return [topic, "Q0", text, rank, score, tag]
        case [topic, text, rank] if _is_rank(rank):
            return [topic, "Q0", text, rank, str(1 / int(rank)), tag]
    return None


def _is_rank(cell: str) -> bool:
    is_number = len(cell) <= _MOST_DIGITS and cell.isascii() and cell.isdecimal()
    return is_number and int(cell) > 0


def usual_width(rows: Iterable[Sequence[str]]) -> int:
    """Return the number of columns of most rows that are lines of a run; 0 if there are none.

    Of widths that are equally frequent, the greatest.
    """
    widths = Counter(len(cells) for cells in rows if full_columns(cells, ""))
    return max(widths, key=lambda width: (widths[width], width), default=0)


class RunOrder(StrEnum):
    """Order of a run whose lines are not sorted by score."""

    AUTO = "auto"
    LINES = "lines"
    SCORE = "score"


def ranking_order(
    scores: Sequence[float], ranks: Sequence[int], order: RunOrder = RunOrder.AUTO
) -> tuple[list[int] | None, Conversion | None]:
    """Return the indexes of one topic's lines, best first, and what to report of them.

    `scores` and `ranks` are the columns of the topic's lines, in their order. Where no score is
    above the one before it, both are None: the lines are the ranking. Otherwise the lines are
    sorted by falling score, as in trec_eval, if `order` is SCORE, or if it is AUTO and no rank
    contradicts the scores; else the indexes are None. Equal scores stay in the order of the lines
    (trec_eval orders them by name).
    """
    if not any(later > earlier for earlier, later in pairwise(scores)):
        return None, None
    indexes = sorted(range(len(scores)), key=lambda index: -scores[index])
    # Ranks of equal scores may be in any order.
    ranked = [ranks[index] for index in sorted(indexes, key=lambda p: (-scores[p], ranks[p]))]
    agree = not any(later < earlier for earlier, later in pairwise(ranked))
    if order is RunOrder.SCORE or (order is RunOrder.AUTO and agree):
        return indexes, Conversion.RUN_BY_SCORE
    return None, Conversion.RUN_BY_LINE

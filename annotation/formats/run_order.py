"""Order of the texts in a topic of a TREC run: by line, or by falling score. No Django here."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from annotation.formats.summary import Mapped


class RunOrder(StrEnum):
    """Reading of a run whose lines are not in the order of their scores."""

    AUTO = "auto"
    LINES = "lines"
    SCORE = "score"


def ranking_order(
    scores: Sequence[float], ranks: Sequence[int], order: RunOrder = RunOrder.AUTO
) -> tuple[list[int] | None, Mapped | None]:
    """Return the places of one topic's lines, best first, and what to report of them.

    `scores` and `ranks` are the columns of the topic's lines, in their order. Where no score is above the
    one before it, both are None: the lines are the ranking. Otherwise the lines are read by falling score,
    as trec_eval reads them, if `order` is SCORE, or if it is AUTO and no rank contradicts the scores; else
    the places are None. Equal scores stay in the order of the lines (trec_eval orders them by name).
    """
    if not any(later > earlier for earlier, later in pairwise(scores)):
        return None, None
    places = sorted(range(len(scores)), key=lambda place: -scores[place])
    # Equal scores may have their ranks in any order.
    ranked = [ranks[place] for place in sorted(places, key=lambda p: (-scores[p], ranks[p]))]
    agree = not any(later < earlier for earlier, later in pairwise(ranked))
    if order is RunOrder.SCORE or (order is RunOrder.AUTO and agree):
        return places, Mapped.RUN_BY_SCORE
    return None, Mapped.RUN_BY_LINE

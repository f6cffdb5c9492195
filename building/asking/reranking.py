"""A ranking put in the order that a reranker behind a server gives it: /rerank, or vLLM's /score.

What an answer lacks, repeats or makes up is no new order of it: a text that it does not name once and with a
number follows in the old order, and is counted. An answer that names none is no ranking at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from building.asking.client import Client
from building.retrieval.fusion import Scored
from judging.graders.openai_server import BODY_LIMIT


class NoOrder(Exception):
    """An answer that names none of the texts that were asked about; the message says what it has."""


class Reranker:
    """A model that says of each text how well it answers a query. `kind` is rerank or score."""

    def __init__(self, client: Client, kind: str, tokens: int | None = None) -> None:
        """`tokens`: to which a query with its text is cut, where the server is told to.

        Raises GraderError where the server cannot be asked, or serves another model.
        """
        client.check()
        self.client = client
        self.kind = kind
        self.more = {"truncate_prompt_tokens": tokens} if tokens else {}

    def scores(self, query: str, texts: Sequence[str]) -> tuple[dict[int, float], int]:
        """The score of each text that the answer names, by its place; and how many it does not name.

        Raises GraderError, NoOrder.
        """
        if not texts:
            raise NoOrder("the words of none of its texts are there")
        if self.kind == "score":
            asked: dict[str, Any] = {"text_1": query, "text_2": list(texts)}
        else:
            asked = {"query": query, "documents": list(texts), "top_n": len(texts)}
        # An answer may repeat the texts, each of their signs written as six.
        limit = BODY_LIMIT + 6 * sum(map(len, texts))
        question = {"model": self.client.model, **asked, **self.more}
        [answer] = self.client.answers(self.kind, [question], limit)
        scores = scores_in(answer, self.kind, len(texts))
        return scores, len(texts) - len(scores)


def scores_in(answer: Mapping[str, Any], kind: str, n: int) -> dict[int, float]:
    """The score of each of `n` texts that an answer names, by its place; the first where it is repeated.

    Raises NoOrder where it names none.
    """
    listed, key = ("data", "score") if kind == "score" else ("results", "relevance_score")
    items = answer.get(listed)
    found: dict[int, float] = {}
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        place, score = _number(item.get("index")), _number(item.get(key))
        if place in range(n) and score is not None:
            found.setdefault(int(place or 0), score)
    if not found:
        n_there = len(items) if isinstance(items, list) else 0
        raise NoOrder(
            f"of {n:,} texts the answer scores none: it has {n_there:,} entries under “{listed}”, none of them "
            f"with the index of a text and a number as its {key}"
        )
    return found


def in_order_of(texts: Scored, scores: Mapping[int, float]) -> Scored:
    """Texts by their scores, highest first, equal ones as they were; then those without one, as they were.

    `scores` are by the place of a text. Those without one get whole steps below the lowest.
    """
    places = sorted(scores, key=lambda place: (-scores[place], place))
    first = [(texts[place][0], scores[place]) for place in places]
    lowest = min(scores.values(), default=0.0)
    rest = [text for place, (text, _) in enumerate(texts) if place not in scores]
    return first + [(text, lowest - step) for step, text in enumerate(rest, 1)]


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None

"""Reranking by a model behind a server: /rerank, or vLLM's /score.

An incomplete answer is no new order of all texts: a text that it does not score exactly once with a
number keeps its old order behind the others, and is counted. An answer that scores none is no ranking.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from building.asking.client import Client
from building.retrieval.fusion import Scored
from judging.llm.server import BODY_LIMIT


class UnscoredReplyError(Exception):
    """An answer that scores none of the texts; the message says what it has instead."""


class Reranker:
    """Model that scores each text for a query. `kind` is rerank or score."""

    def __init__(self, client: Client, kind: str, tokens: int | None = None) -> None:
        """Check the server; `tokens` is the truncation length of query and text.

        Raises BackendError where the server cannot be asked, or serves another model.
        """
        client.check()
        self.client = client
        self.kind = kind
        self.extra = {"truncate_prompt_tokens": tokens} if tokens else {}

    def scores(self, query: str, texts: Sequence[str]) -> tuple[dict[int, float], int]:
        """Score texts by index; also return the number of texts without a score.

        Raises BackendError, UnscoredReplyError.
        """
        if not texts:
            raise UnscoredReplyError("the words of none of its texts are there")
        if self.kind == "score":
            payload: dict[str, Any] = {"text_1": query, "text_2": list(texts)}
        else:
            payload = {"query": query, "documents": list(texts), "top_n": len(texts)}
        # An answer may repeat the texts, each of their signs written as six.
        limit = BODY_LIMIT + 6 * sum(map(len, texts))
        question = {"model": self.client.model, **payload, **self.extra}
        [answer] = self.client.answers(self.kind, [question], limit)
        scores = scores_in(answer, self.kind, len(texts))
        return scores, len(texts) - len(scores)


def scores_in(answer: Mapping[str, Any], kind: str, n: int) -> dict[int, float]:
    """Parse an answer's scores for `n` texts, by index; the first of repeated ones counts.

    Raises UnscoredReplyError where it names none.
    """
    listed, key = ("data", "score") if kind == "score" else ("results", "relevance_score")
    items = answer.get(listed)
    scores: dict[int, float] = {}
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        index, score = _number(item.get("index")), _number(item.get(key))
        if index in range(n) and score is not None:
            scores.setdefault(int(index or 0), score)
    if not scores:
        n_there = len(items) if isinstance(items, list) else 0
        raise UnscoredReplyError(
            f"of {n:,} texts the answer scores none: it has {n_there:,} entries under “{listed}”, none of them "
            f"with the index of a text and a number as its {key}"
        )
    return scores


def in_order_of(texts: Scored, scores: Mapping[int, float]) -> Scored:
    """Sort texts by score, highest first; unscored texts follow in their old order.

    `scores` are by the place of a text. Those without one get whole steps below the lowest.
    """
    ranked = sorted(scores, key=lambda index: (-scores[index], index))
    first = [(texts[index][0], scores[index]) for index in ranked]
    lowest = min(scores.values(), default=0.0)
    unscored = [text for index, (text, _) in enumerate(texts) if index not in scores]
    return first + [(text, lowest - step) for step, text in enumerate(unscored, 1)]


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None

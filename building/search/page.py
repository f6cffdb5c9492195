"""BM25 search in the passages of a dataset, with each term's share of the score."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Dataset, Text
from building.indexes import PAGE_LIMIT, index_of
from building.retrieval.bm25 import Bm25

MAX_HITS = 20
LONGEST = 2_000  # characters of a query
BEGINNING = 300  # characters of a passage in the list


@dataclass(frozen=True)
class Share:
    """A term's share of a score; `percent` is relative to the best passage's score."""

    term: str
    score: float
    percent: str


@dataclass(frozen=True)
class Hit:
    """A search hit. `shares` are those of the query terms that it contains."""

    rank: int
    score: float
    text: Text
    shares: list[Share]

    @property
    def beginning(self) -> str:
        body = self.text.body or ""
        return body if len(body) <= BEGINNING else body[:BEGINNING].rsplit(" ", 1)[0] + " …"


@dataclass(frozen=True)
class Search:
    """Search results; `n_empty` passages have no term, `is_cut` means there are more hits."""

    hits: list[Hit]
    n_texts: int
    n_empty: int
    is_cut: bool


def search(dataset: Dataset, query: str) -> Search:
    """Search the passages by BM25. Raises MissingIndexError, and BrokenIndexError."""
    index = index_of(dataset, PAGE_LIMIT)
    bm25 = Bm25(index)
    ranked = bm25.ranked(query, MAX_HITS + 1)
    keys = index.keys[ranked.rows[:MAX_HITS]].tolist()
    texts = Text.objects.select_related("topic").in_bulk(keys)
    best = float(ranked.scores[0]) if len(keys) else 1.0
    hits = [
        Hit(
            rank,
            score,
            texts[key],
            [
                Share(term, share, f"{100 * share / best:.1f}")
                for term, share in bm25.shares(query, row)
            ],
        )
        for rank, (key, row, score) in enumerate(
            zip(keys, ranked.rows.tolist(), ranked.scores.tolist(), strict=False), 1
        )
        if key in texts
    ]
    is_cut = len(ranked.rows) > MAX_HITS
    return Search(hits, index.meta.n_texts, index.meta.n_empty, is_cut)

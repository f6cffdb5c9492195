"""What the passages of a dataset hold of some words, best first, and what each word adds to that."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Dataset, Text
from building.indexes import AT_A_LOOK, index_of
from building.retrieval.bm25 import Bm25

SHOWN = 20
LONGEST = 2_000  # signs of what is looked for
BEGINNING = 300  # signs of a passage that stand in the list


@dataclass(frozen=True)
class Share:
    """What a term adds to a score, and to be drawn: of 100, by the best passage's score."""

    term: str
    score: float
    percent: str


@dataclass(frozen=True)
class Found:
    """A passage at its rank. `shares` are those of the terms of the search that it holds."""

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
    """`n_texts` are indexed; `n_empty` have no term and are never found. `is_cut`: more were found."""

    found: list[Found]
    n_texts: int
    n_empty: int
    is_cut: bool


def search(dataset: Dataset, words: str) -> Search:
    """The best passages for some words by BM25. Raises NoIndex, and IndexBroken."""
    index = index_of(dataset, AT_A_LOOK)
    bm25 = Bm25(index)
    ranked = bm25.ranked(words, SHOWN + 1)
    keys = index.keys[ranked.rows[:SHOWN]].tolist()
    texts = Text.objects.select_related("topic").in_bulk(keys)
    best = float(ranked.scores[0]) if len(keys) else 1.0
    found = [
        Found(
            rank,
            score,
            texts[key],
            [
                Share(term, share, f"{100 * share / best:.1f}")
                for term, share in bm25.shares(words, row)
            ],
        )
        for rank, (key, row, score) in enumerate(
            zip(keys, ranked.rows.tolist(), ranked.scores.tolist(), strict=False), 1
        )
        if key in texts
    ]
    is_cut = len(ranked.rows) > SHOWN
    return Search(found, index.meta.n_texts, index.meta.n_empty, is_cut)

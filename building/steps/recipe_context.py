"""Recipe context: shared data of the steps, the ranking between steps, and a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from django.conf import settings

from annotation.errors import UserError
from annotation.models import Dataset, Text, Topic
from building.anserini.index import LuceneIndex
from building.anserini.jar import Jar, find_jar
from building.indexes import corpus_of, index_of, lucene_index_of
from building.retrieval.fusion import Scored
from building.retrieval.index import Index
from building.retrieval.static import StaticEmbedder
from building.retrieval.vectors import Embedder, Vectors
from building.vectors import vectors_of
from evaluation.scoring.options import ScoringQuery
from evaluation.scoring.pools import Pool, load_pools
from evaluation.stats.estimate import IntArray

DEEP = 1_000  # default length of a ranking


@dataclass
class RecipeContext:
    """Recipe context: a dataset and the data that steps share.

    `opens_files`: whether a recipe may name files of this machine; `asks_servers`: whether it may ask
    models behind servers, which takes longer than a page may.
    """

    dataset: Dataset
    opens_files: bool = False
    asks_servers: bool = False
    most: int | None = None
    _pools: dict[tuple[str, int], Mapping[int, Pool]] = field(default_factory=dict)
    _models: dict[Path, StaticEmbedder] = field(default_factory=dict)
    _vectors: dict[str, Vectors] = field(default_factory=dict)

    @cached_property
    def index(self) -> Index:
        """Return the index.

        Raises MissingIndexError if it is missing and too large to build for a page.
        """
        return index_of(self.dataset, self.most)

    @cached_property
    def corpus(self) -> str:
        """Return the hash of the current passages."""
        return corpus_of(self.dataset)

    def lucene(self, language: str) -> tuple[Jar, LuceneIndex]:
        """Return the jar and the index.

        Raises AnseriniError without the extra; MissingIndexError as above.
        """
        jar = find_jar(settings.ANSERINI_JAVA)
        return jar, lucene_index_of(self.dataset, jar, language, self.most)

    @cached_property
    def passages(self) -> IntArray:
        """Return the keys of all passages, with a body or without."""
        passages = self.dataset.texts.filter(kind=Text.Kind.PASSAGE).order_by()
        return np.fromiter(passages.values_list("pk", flat=True).iterator(), dtype=np.int64)

    def words(self, keys: Sequence[int]) -> dict[int, str]:
        """Return the bodies of texts by key, without missing ones."""
        texts = Text.objects.with_body().filter(pk__in=keys).order_by()
        return {pk: body for pk, body in texts.values_list("pk", "body") if body}

    def static_model(self, folder: Path) -> StaticEmbedder:
        """Return the model in a folder, loaded once. Raises StaticModelError."""
        if folder not in self._models:
            self._models[folder] = StaticEmbedder(folder)
        return self._models[folder]

    def vectors(self, embedder: Embedder) -> Vectors:
        """Return the passage vectors of a model; embed if needed. Raises BrokenVectorsError."""
        if embedder.fingerprint not in self._vectors:
            self._vectors[embedder.fingerprint] = vectors_of(self.dataset, embedder)
        return self._vectors[embedder.fingerprint]

    def pools(self, judge: str, eta: int) -> Mapping[int, Pool]:
        """Return the pools of a judge. Raises SelectionError for an unknown source."""
        if (judge, eta) not in self._pools:
            options = ScoringQuery(self.dataset, {"source": judge, "eta": str(eta)}).options
            self._pools[judge, eta] = load_pools(self.dataset, options)
        return self._pools[judge, eta]


@dataclass
class Ranking:
    """Ranking of a topic between two steps.

    `unknown` are terms that a background has no number for. `n_left_out` counts the places that answers of
    models lack: texts that they did not name follow in the order that they had.
    """

    texts: Scored
    unknown: set[str] = field(default_factory=set)
    n_left_out: int = 0

    def cut(self, n: int | None) -> Ranking:
        return self.reordered(self.texts[: n or DEEP])

    def reordered(self, texts: Scored, n_left_out: int = 0) -> Ranking:
        """Return the ranking with its texts in another order."""
        return Ranking(texts, self.unknown, self.n_left_out + n_left_out)


class StepError(UserError):
    """A step could not rank a topic, named in the message; no run is stored."""


class Step(Protocol):
    """A step with parsed options, and its provenance without the topics' requests."""

    made_from: dict[str, Any]

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        """Rank a topic. Raises StepError, and BackendError if a server fails."""
        ...


@runtime_checkable
class BatchStep(Protocol):
    """A step that is cheaper for all topics at once; it gets them before the first."""

    def prepare_for(self, topics: Sequence[Topic]) -> None: ...

"""What all steps share: the dataset and its data, the ranking that goes from step to step, and a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from django.conf import settings

from annotation.models import Dataset, Text, Topic
from building.anserini.index import LuceneIndex
from building.anserini.jar import Jar, found
from building.indexes import corpus_of, index_of, lucene_index_of
from building.retrieval.fusion import Scored
from building.retrieval.index import Index
from building.retrieval.recipe import RecipeError
from building.retrieval.static import ModelBroken, StaticEmbedder
from building.retrieval.vectors import Embedder, Vectors, VectorsBroken
from building.vectors import vectors_of
from evaluation.data.selection import SelectionError
from evaluation.scoring.options import ScoringForm
from evaluation.scoring.pools import Pool, load_pools
from evaluation.stats.estimate import IntArray

DEEP = 1_000  # texts of a ranking that no step cuts


@dataclass
class Kitchen:
    """A dataset, and what steps share of it.

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
        """Raises NoIndex where there are more passages than `most`, and no index of them."""
        return index_of(self.dataset, self.most)

    @cached_property
    def corpus(self) -> str:
        """The hash of the passages as they are now."""
        return corpus_of(self.dataset)

    def lucene(self, language: str) -> tuple[Jar, LuceneIndex]:
        """Raises AnseriniError where the extra is not there, and NoIndex as above."""
        jar = found(settings.ANSERINI_JAVA)
        return jar, lucene_index_of(self.dataset, jar, language, self.most)

    @cached_property
    def passages(self) -> IntArray:
        """The keys of all passages, with words or without."""
        passages = self.dataset.texts.filter(kind=Text.Kind.PASSAGE).order_by()
        return np.fromiter(passages.values_list("pk", flat=True).iterator(), dtype=np.int64)

    def words(self, keys: Sequence[int]) -> dict[int, str]:
        """Those of texts by their keys, as far as they are there."""
        texts = Text.objects.with_body().filter(pk__in=keys).order_by()
        return {pk: body for pk, body in texts.values_list("pk", "body") if body}

    def static_model(self, folder: Path) -> StaticEmbedder:
        """The model in a folder, read once. Raises RecipeError."""
        if folder not in self._models:
            try:
                self._models[folder] = StaticEmbedder(folder)
            except ModelBroken as error:
                raise RecipeError(str(error)) from None
        return self._models[folder]

    def vectors(self, embedder: Embedder) -> Vectors:
        """Those of the passages by a model, made where they are not there. Raises RecipeError."""
        if embedder.fingerprint not in self._vectors:
            try:
                self._vectors[embedder.fingerprint] = vectors_of(self.dataset, embedder)
            except VectorsBroken as error:
                raise RecipeError(str(error)) from None
        return self._vectors[embedder.fingerprint]

    def pools(self, judge: str, eta: int) -> Mapping[int, Pool]:
        """Raises RecipeError for a source of grades that is not there."""
        if (judge, eta) not in self._pools:
            try:
                options = ScoringForm(self.dataset, {"source": judge, "eta": str(eta)}).options()
            except SelectionError as error:
                raise RecipeError(str(error)) from None
            self._pools[judge, eta] = load_pools(self.dataset, options)
        return self._pools[judge, eta]


@dataclass
class Ranking:
    """What a step made of a topic.

    `unknown` are terms that a background has no number for. `n_left_out` counts the places that answers of
    models lack: texts that they did not name follow in the order that they had.
    """

    texts: Scored
    unknown: set[str] = field(default_factory=set)
    n_left_out: int = 0

    def cut(self, n: int | None) -> Ranking:
        return self.reordered(self.texts[: n or DEEP])

    def reordered(self, texts: Scored, n_left_out: int = 0) -> Ranking:
        """The same of texts in another order, of which an answer lacked some more."""
        return Ranking(texts, self.unknown, self.n_left_out + n_left_out)


class StepFailed(Exception):
    """A step that could not rank a topic, which the sentence names: there is no run without it."""


class Step(Protocol):
    """A step with its options read. `made_from` says them all, and the data beside the topics' requests."""

    made_from: dict[str, Any]

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        """Raises StepFailed, and GraderError where a server is of no use."""
        ...


@runtime_checkable
class ForMany(Protocol):
    """Of a step for which it costs less to do all topics at once: it is told them before the first."""

    def prepare_for(self, topics: Sequence[Topic]) -> None: ...

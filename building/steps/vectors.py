"""Dense retrieval steps, by a static model in a folder or a model at a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from annotation.models import Topic
from building.asking.embeddings import ServerEmbedder
from building.retrieval.recipe import RecipeError
from building.retrieval.static import StaticEmbedder
from building.retrieval.vectors import Embedder, Vectors
from building.steps.options import STATIC, Option
from building.steps.recipe_context import DEEP, Ranking, RecipeContext
from building.steps.servers import embedder_at


class StaticStep:
    """static(model=FOLDER): passages near the request, by the vectors of a static model in a folder."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        self.embedder = static_model(kitchen, "static", STATIC, options)
        self.vectors = kitchen.vectors(self.embedder)
        self.made_from: dict[str, Any] = vector_provenance(self.embedder, self.vectors)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        return nearest(self.embedder, self.vectors, topic)


class EmbedStep:
    """embed(server=NAME, model=MODEL, tokens=N): passages near the request, by a model at a server."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        self.embedder = embedder_at(kitchen, "embed", options)
        self.vectors = kitchen.vectors(self.embedder)
        self.made_from: dict[str, Any] = vector_provenance(self.embedder, self.vectors)
        self.made_from["server"] = options["server"]

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        return nearest(self.embedder, self.vectors, topic)


def static_model(
    kitchen: RecipeContext, step: str, option: Option, options: Mapping[str, str]
) -> StaticEmbedder:
    """Return the model in the folder that an option names. Raises RecipeError."""
    if not kitchen.opens_files:
        raise RecipeError("A folder with a model can be used only with manage.py, not on a page.")
    if not (name := option.words(options)):
        raise RecipeError(f"{step}: add the folder of the model, {option.key}=FOLDER.")
    return kitchen.static_model(Path(name))


def nearest(embedder: Embedder, vectors: Vectors, topic: Topic) -> Ranking:
    """Rank the passages nearest to a topic's request."""
    ranked = vectors.nearest(embedder.query(topic.request), DEEP)
    keys = vectors.keys[ranked.rows].tolist()
    return Ranking(list(zip(keys, ranked.scores.tolist(), strict=True)))


def vector_provenance(embedder: Embedder, vectors: Vectors) -> dict[str, Any]:
    """Return the provenance of vectors: model, dimension, corpus and truncation."""
    provenance: dict[str, Any] = {
        "model": embedder.name,
        "fingerprint": embedder.fingerprint,
        "dimension": vectors.meta.dimension,
        "corpus": vectors.meta.corpus,
    }
    if isinstance(embedder, StaticEmbedder):
        provenance["model2vec"] = version("model2vec")
    if isinstance(embedder, ServerEmbedder):
        provenance["tokens"] = embedder.tokens
        provenance["cut_passages"] = "unknown" if vectors.n_cut is None else vectors.n_cut
    return provenance

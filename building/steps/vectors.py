"""Steps that look for texts by vectors: those of a static model in a folder, or of a model at a server."""

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
from building.steps.kitchen import DEEP, Kitchen, Ranking
from building.steps.options import STATIC, Option
from building.steps.servers import embedder_at


class StaticStep:
    """static(model=FOLDER): passages near the request, by the vectors of a static model in a folder."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        self.embedder = static_model(kitchen, "static", STATIC, options)
        self.vectors = kitchen.vectors(self.embedder)
        self.made_from: dict[str, Any] = said_of(self.embedder, self.vectors)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        return nearest(self.embedder, self.vectors, topic)


class EmbedStep:
    """embed(server=NAME, model=MODEL, tokens=N): passages near the request, by a model at a server."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        self.embedder = embedder_at(kitchen, "embed", options)
        self.vectors = kitchen.vectors(self.embedder)
        self.made_from: dict[str, Any] = said_of(self.embedder, self.vectors)
        self.made_from["server"] = options["server"]

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        return nearest(self.embedder, self.vectors, topic)


def static_model(
    kitchen: Kitchen, step: str, option: Option, options: Mapping[str, str]
) -> StaticEmbedder:
    """The model in the folder that an option names. Raises RecipeError."""
    if not kitchen.opens_files:
        raise RecipeError("A folder with a model can be named in a command alone.")
    if not (name := option.words(options)):
        raise RecipeError(f"{step}: say which folder holds the model with {option.key}=FOLDER.")
    return kitchen.static_model(Path(name))


def nearest(embedder: Embedder, vectors: Vectors, topic: Topic) -> Ranking:
    """The passages nearest to a topic's request."""
    found = vectors.nearest(embedder.query(topic.request), DEEP)
    keys = vectors.keys[found.rows].tolist()
    return Ranking(list(zip(keys, found.scores.tolist(), strict=True)))


def said_of(embedder: Embedder, vectors: Vectors) -> dict[str, Any]:
    """What decides the vectors, for how a run was made."""
    said: dict[str, Any] = {
        "model": embedder.name,
        "fingerprint": embedder.fingerprint,
        "dimension": vectors.meta.dimension,
        "corpus": vectors.meta.corpus,
    }
    if isinstance(embedder, StaticEmbedder):
        said["model2vec"] = version("model2vec")
    if isinstance(embedder, ServerEmbedder):
        said["tokens"] = embedder.tokens
        said["cut_passages"] = "unknown" if vectors.n_cut is None else vectors.n_cut
    return said

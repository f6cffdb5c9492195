"""Diversification steps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import SubQuestion, Topic
from building.retrieval.bm25 import Bm25
from building.retrieval.diversify import mmr, xquad
from building.retrieval.vectors import Embedder
from building.steps.options import LAMBDA, LAMBDA_OF_QUESTIONS, VECTORS
from building.steps.recipe_context import DEEP, Ranking, RecipeContext
from building.steps.servers import embedder_at
from building.steps.vectors import static_model, vector_provenance


class MmrStep:
    """mmr(vectors=FOLDER, lambda=0.5): the ranking before it, so that its texts are unlike each other.

    By the vectors of embed: mmr(server=NAME, model=MODEL, tokens=N, lambda=0.5).
    """

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        weight = LAMBDA.read("mmr", options)
        if "server" in options:
            embedder: Embedder = embedder_at(kitchen, "mmr", options)
        else:
            embedder = static_model(kitchen, "mmr", VECTORS, options)
        self.vectors = kitchen.vectors(embedder)
        self.made_from: dict[str, Any] = {
            "lambda": weight,
            **vector_provenance(embedder, self.vectors),
        }
        self.made_from["server"] = options.get("server")

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        vectors = self.vectors.of([text for text, _ in before.texts])
        return before.reordered(mmr(before.texts, vectors, self.made_from["lambda"]))


class XquadStep:
    """xquad(lambda=0.5): the ranking before it, so that its texts answer different sub-questions."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        weight = LAMBDA_OF_QUESTIONS.read("xquad", options)
        index = kitchen.index
        self.bm25 = Bm25(index)
        self.questions: dict[int, list[str]] = {}
        # Filtered questions are not part of the collection.
        questions = SubQuestion.objects.with_words().filter(filtered_because="")
        of_dataset = questions.filter(topic__dataset=kitchen.dataset).order_by("topic", "position")
        digest = hashlib.sha256()
        for topic, body in of_dataset.values_list("topic", "body"):
            self.questions.setdefault(topic, []).append(body)
            digest.update(f"{topic}\n{body}\n".encode("utf-8", "surrogatepass"))
        self.made_from: dict[str, Any] = {
            "lambda": weight,
            "questions": digest.hexdigest()[:16],
            "corpus": index.meta.corpus,
            "index": index.meta.version,
        }

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        keys = self.bm25.index.keys
        of_questions = []
        for question in self.questions.get(topic.pk, []):
            ranked = self.bm25.ranked(question, DEEP)
            of_questions.append(
                list(zip(keys[ranked.rows].tolist(), ranked.scores.tolist(), strict=True))
            )
        return before.reordered(xquad(before.texts, of_questions, self.made_from["lambda"]))

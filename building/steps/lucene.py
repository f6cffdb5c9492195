"""Retrieval step by Lucene itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Topic
from building.anserini.search import rank_requests
from building.retrieval.fusion import Scored
from building.steps.options import K1, LANGUAGE, B
from building.steps.recipe_context import DEEP, Ranking, RecipeContext


class AnseriniStep:
    """anserini(k1=0.9, b=0.4, language=en): the same by Lucene itself, and in its other languages."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        self.k1, self.b = K1.read("anserini", options), B.read("anserini", options)
        language = LANGUAGE.read("anserini", options)
        self.jar, self.index = kitchen.lucene(language)
        meta = self.index.meta
        self.made_from: dict[str, Any] = {"k1": self.k1, "b": self.b, "language": language}
        self.made_from |= {"corpus": meta.corpus, "anserini": meta.anserini}
        self.rankings: dict[str, Scored] = {}

    def prepare_for(self, topics: Sequence[Topic]) -> None:
        requests = {topic.name: topic.request for topic in topics}
        self.rankings |= rank_requests(self.index, self.jar, requests, self.k1, self.b, DEEP)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        if topic.name not in self.rankings:
            self.prepare_for([topic])
        return Ranking(self.rankings[topic.name])

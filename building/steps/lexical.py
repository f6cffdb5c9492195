"""Lexical retrieval step: BM25."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.models import Topic
from building.retrieval.bm25 import Background, Bm25
from building.retrieval.recipe import RecipeError
from building.steps.options import K1, B
from building.steps.recipe_context import DEEP, Ranking, RecipeContext


class Bm25Step:
    """bm25(k1=0.9, b=0.4, background=FILE): passages with words of the request, as Lucene ranks them."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        k1, b = K1.read("bm25", options), B.read("bm25", options)
        self.made_from: dict[str, Any] = {"k1": k1, "b": b, "background": None}
        background = None
        if "background" in options:
            background, self.made_from["background"] = _background(kitchen, options["background"])
        index = kitchen.index
        self.made_from |= {"corpus": index.meta.corpus, "index": index.meta.version}
        self.bm25 = Bm25(index, k1, b, background)

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        ranked = self.bm25.ranked(topic.request, DEEP)
        keys = self.bm25.index.keys[ranked.rows].tolist()
        return Ranking(list(zip(keys, ranked.scores.tolist(), strict=True)), set(ranked.unknown))


def _background(kitchen: RecipeContext, name: str) -> tuple[Background, dict[str, str]]:
    if not kitchen.opens_files:
        raise RecipeError("A file of statistics can be used only with manage.py, not on a page.")
    path = Path(name)
    background = Background.read(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return background, {"file": path.name, "sha256": digest}

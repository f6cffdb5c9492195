"""Step that reads an existing run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Topic
from building.retrieval.fusion import Scored
from building.steps.options import RUN
from building.steps.recipe_context import Ranking, RecipeContext
from evaluation.data.selection import one_of
from evaluation.formats.trec_run import score_without
from evaluation.models import RankedText, RetrievalRun


class RunStep:
    """run(name=RUN): the rankings of a run that is there, made here or come in a file, in their order."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        runs = dict(RetrievalRun.objects.filter(dataset=kitchen.dataset).values_list("name", "pk"))
        name = one_of("retrieval run", RUN.words(options), runs)
        self.rankings: dict[int, Scored] = {}
        digest = hashlib.sha256()
        rows = RankedText.objects.filter(run=runs[name]).order_by("topic", "rank")
        for topic, text, rank, score in rows.values_list("topic", "text", "rank", "score"):
            score = score_without(rank) if score is None else score
            self.rankings.setdefault(topic, []).append((text, score))
            digest.update(f"{topic}\n{text}\n{score}\n".encode())
        self.made_from: dict[str, Any] = {"name": name, "rankings": digest.hexdigest()[:16]}

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        return Ranking(self.rankings.get(topic.pk, []))

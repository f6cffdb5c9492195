"""Steps that ask models behind servers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from django.conf import settings

from annotation.models import Topic
from building.asking.client import Client
from building.asking.embeddings import ServerEmbedder
from building.asking.listwise import MAX_WORDS, PROMPT, Listwise
from building.asking.reranking import Reranker, UnscoredReplyError, in_order_of
from building.retrieval.recipe import RecipeError
from building.steps.options import (
    KIND,
    MODEL,
    SERVER,
    STRIDE,
    TOKENS,
    TOKENS_OF_A_REPLY,
    WINDOW,
)
from building.steps.recipe_context import Ranking, RecipeContext, StepError
from judging.engine.grader_choice import addresses_of

WIDEST = 100  # texts per window
TOKENS_OF_A_NUMBER = 12  # of a reply per number, with brackets and separators, and a margin


class Ranker(Protocol):
    """Reranking model."""

    def scores(self, query: str, texts: Sequence[str]) -> tuple[dict[int, float], int]: ...


class _Reorders:
    """Base of reranking steps: fetch bodies, call the ranker, keep unranked texts last."""

    def __init__(self, kitchen: RecipeContext, ranker: Ranker, provenance: dict[str, Any]) -> None:
        self.kitchen = kitchen
        self.ranker = ranker
        self.made_from = {"corpus": kitchen.corpus, **provenance}

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        if not before.texts:
            return before
        bodies = self.kitchen.words([text for text, _ in before.texts])
        indices = [index for index, (text, _) in enumerate(before.texts) if text in bodies]
        texts = [bodies[before.texts[index][0]] for index in indices]
        try:
            scores, n_left_out = self.ranker.scores(topic.request, texts)
        except UnscoredReplyError as error:
            raise StepError(
                f"{self.made_from['model']} did not rank {topic.name}: {error}."
            ) from None
        by_index = {indices[index]: score for index, score in scores.items()}
        n_left_out += len(before.texts) - len(indices)  # texts without a body are not sent
        return before.reordered(in_order_of(before.texts, by_index), n_left_out)


class RerankStep(_Reorders):
    """rerank(server=NAME, model=MODEL, kind=rerank|score, tokens=N): the ranking before it, by a reranker."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        kind = KIND.read("rerank", options)
        tokens = TOKENS.read_optional("rerank", options)
        ranker = Reranker(client_at(kitchen, "rerank", options), kind, tokens)
        at = {"server": options["server"], "model": options["model"]}
        super().__init__(kitchen, ranker, {**at, "kind": kind, "tokens": tokens})


class ListwiseStep(_Reorders):
    """listwise(server=NAME, model=MODEL, window=20, stride=10): the ranking before it, by a chat model."""

    def __init__(self, kitchen: RecipeContext, options: Mapping[str, str]) -> None:
        window = WINDOW.read("listwise", options)
        stride = STRIDE.read("listwise", options)
        if not 1 <= stride < window <= WIDEST:
            raise RecipeError(
                f"listwise: window is at most {WIDEST}, and stride is at least 1 and less than window."
            )
        tokens = TOKENS_OF_A_REPLY.read_optional("listwise", options) or TOKENS_OF_A_NUMBER * window
        client = client_at(kitchen, "listwise", options)
        provenance = {
            "server": options["server"],
            "model": options["model"],
            "window": window,
            "stride": stride,
            "tokens": tokens,
            "words": MAX_WORDS,
            "prompt": hashlib.sha256(PROMPT.encode()).hexdigest()[:16],
        }
        super().__init__(kitchen, Listwise(client, window, stride, tokens), provenance)


def embedder_at(kitchen: RecipeContext, step: str, options: Mapping[str, str]) -> ServerEmbedder:
    """Return the checked embedding model of a server.

    Raises RecipeError, and BackendError where it cannot be asked.
    """
    return ServerEmbedder(client_at(kitchen, step, options), TOKENS.read_optional(step, options))


def client_at(kitchen: RecipeContext, step: str, options: Mapping[str, str]) -> Client:
    """Return the client for the servers of a name. Raises RecipeError, and BackendError."""
    if not kitchen.asks_servers:
        raise RecipeError(
            f"{step} sends requests to a server and is too slow for a page. Use the command manage.py retrieve "
            f'{kitchen.dataset.slug} --name NAME --recipe "..."'
        )
    names = ", ".join(settings.JUDGE_ENDPOINTS) or "none"
    if not SERVER.words(options):
        raise RecipeError(f"{step}: add the server, server=NAME. JUDGE_ENDPOINTS has: {names}.")
    if not MODEL.words(options):
        raise RecipeError(f"{step}: add the model of the server, model=NAME.")
    return Client(addresses_of(options["server"]), options["model"])

"""Steps that ask models behind servers, and which server a step asks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from django.conf import settings

from annotation.models import Topic
from building.asking.client import Client
from building.asking.embeddings import ServerEmbedder
from building.asking.listwise import PROMPT, WORDS, Listwise
from building.asking.reranking import NoOrder, Reranker, in_order_of
from building.retrieval.recipe import RecipeError
from building.steps.kitchen import Kitchen, Ranking, StepFailed
from building.steps.options import (
    KIND,
    MODEL,
    SERVER,
    STRIDE,
    TOKENS,
    TOKENS_OF_A_REPLY,
    WINDOW,
)
from judging.engine.choosing import addresses_of
from judging.graders.base import GraderError

WIDEST = 100  # texts that a model is shown at once
TOKENS_OF_A_NUMBER = 12  # of a reply, with its brackets and what stands between, and to spare


class Ranker(Protocol):
    """A model that orders texts for a query."""

    def scores(self, query: str, texts: Sequence[str]) -> tuple[dict[int, float], int]: ...


class _Reorders:
    """What steps share that order a ranking as a model says: its words, and what an answer leaves out."""

    def __init__(self, kitchen: Kitchen, ranker: Ranker, made_from: dict[str, Any]) -> None:
        self.kitchen = kitchen
        self.ranker = ranker
        self.made_from = {"corpus": kitchen.corpus, **made_from}

    def __call__(self, topic: Topic, before: Ranking, parts: Sequence[Ranking]) -> Ranking:
        if not before.texts:
            return before
        words = self.kitchen.words([text for text, _ in before.texts])
        asked = [place for place, (text, _) in enumerate(before.texts) if text in words]
        texts = [words[before.texts[place][0]] for place in asked]
        try:
            scores, n_left_out = self.ranker.scores(topic.request, texts)
        except NoOrder as error:
            raise StepFailed(
                f"{self.made_from['model']} did not rank {topic.name}: {error}."
            ) from None
        by_place = {asked[place]: score for place, score in scores.items()}
        n_left_out += len(before.texts) - len(asked)  # without words they were not asked about
        return before.reordered(in_order_of(before.texts, by_place), n_left_out)


class RerankStep(_Reorders):
    """rerank(server=NAME, model=MODEL, kind=rerank|score, tokens=N): the ranking before it, by a reranker."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        kind = KIND.read("rerank", options)
        tokens = TOKENS.given("rerank", options)
        ranker = Reranker(client_at(kitchen, "rerank", options), kind, tokens)
        at = {"server": options["server"], "model": options["model"]}
        super().__init__(kitchen, ranker, {**at, "kind": kind, "tokens": tokens})


class ListwiseStep(_Reorders):
    """listwise(server=NAME, model=MODEL, window=20, stride=10): the ranking before it, by a chat model."""

    def __init__(self, kitchen: Kitchen, options: Mapping[str, str]) -> None:
        window = WINDOW.read("listwise", options)
        stride = STRIDE.read("listwise", options)
        if not 1 <= stride < window <= WIDEST:
            raise RecipeError(
                f"listwise: window is a number to {WIDEST}, and stride one from 1 that is less, so that texts "
                "can rise from one window to the next."
            )
        tokens = TOKENS_OF_A_REPLY.given("listwise", options) or TOKENS_OF_A_NUMBER * window
        client = client_at(kitchen, "listwise", options)
        made_from = {
            "server": options["server"],
            "model": options["model"],
            "window": window,
            "stride": stride,
            "tokens": tokens,
            "words": WORDS,
            "prompt": hashlib.sha256(PROMPT.encode()).hexdigest()[:16],
        }
        super().__init__(kitchen, Listwise(client, window, stride, tokens), made_from)


def embedder_at(kitchen: Kitchen, step: str, options: Mapping[str, str]) -> ServerEmbedder:
    """The model of `embed`, checked. Raises RecipeError, and GraderError where it cannot be asked."""
    return ServerEmbedder(client_at(kitchen, step, options), TOKENS.given(step, options))


def client_at(kitchen: Kitchen, step: str, options: Mapping[str, str]) -> Client:
    """Who asks the servers of a name, as judge runs have them. Raises RecipeError."""
    if not kitchen.asks_servers:
        raise RecipeError(
            f"{step} asks a server, which takes longer than a page may. On the server: manage.py retrieve "
            f'{kitchen.dataset.slug} --name NAME --recipe "..."'
        )
    known = ", ".join(settings.JUDGE_ENDPOINTS) or "none"
    if not SERVER.words(options):
        raise RecipeError(
            f"{step}: say which server with server=NAME. JUDGE_ENDPOINTS names: {known}."
        )
    if not MODEL.words(options):
        raise RecipeError(f"{step}: say which model of the server with model=NAME.")
    try:
        return Client(addresses_of(options["server"]), options["model"])
    except GraderError as error:
        raise RecipeError(str(error)) from None

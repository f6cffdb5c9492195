"""Scripted answers of model servers: vectors, scores and errors.

    server.answers["/v1/rerank"] = in_turn(status(500), reranked(SCORES))

As a process of its own, `python -m tests.building.model_server N`, it says its port and makes vectors, and at
the request after N for them it is gone.
"""

import os
import re
import socket
import sys

from aiohttp import web

from tests.toolbox.scripted_server import models, tokenized

MODEL = "tiny"
VOCABULARY = ("ferry", "boat", "harbour")
DIMENSION = 3


def in_turn(*answers):
    """Give the answers one by one, the last repeatedly; `.asked` collects the bodies."""
    queue = list(answers)

    async def answer(request, body):
        answer.asked.append(body)
        return await (queue.pop(0) if len(queue) > 1 else queue[0])(request, body)

    answer.asked = []
    return answer


def vector_of(text, dimension=DIMENSION):
    """Count each vocabulary word in a text."""
    tokens = re.findall(r"\w+", text.lower())
    return [float(tokens.count(token)) for token in VOCABULARY[:dimension]]


def vectors(dimension=DIMENSION, model=MODEL, change=lambda items: items):
    """As vLLM answers /v1/embeddings, in an order that only the index tells."""

    async def answer(request, body):
        items = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, dimension)}
            for index, text in enumerate(body["input"])
        ]
        value = {"object": "list", "model": model, "data": change(items[::-1])}
        return web.json_response(value)

    return answer


def reranked(score_of, model=MODEL, change=lambda items: items):
    """As vLLM answers /v1/rerank: best first, with the texts. `score_of`: from a text."""

    async def answer(request, body):
        assert body["top_n"] == len(body["documents"])
        items = [
            {"index": index, "document": {"text": text}, "relevance_score": score_of(text)}
            for index, text in enumerate(body["documents"])
        ]
        items.sort(key=lambda item: -item["relevance_score"])
        return web.json_response({"id": "1", "model": model, "results": change(items)})

    return answer


def scored(score_of, change=lambda items: items):
    """As vLLM answers /v1/score."""

    async def answer(request, body):
        items = [
            {"index": index, "object": "score", "score": score_of(text)}
            for index, text in enumerate(body["text_2"])
        ]
        return web.json_response({"object": "list", "model": MODEL, "data": change(items)})

    return answer


def main(n):
    make = vectors()
    n_left = n

    async def embeddings(request):
        nonlocal n_left
        n_left -= 1
        if n_left < 0:
            os._exit(1)
        return await make(request, await request.json())

    async def listed(request):
        return await models(MODEL)(request, {})

    async def counted(request):
        return await tokenized(request, await request.json())

    app = web.Application()
    app.add_routes([web.post("/v1/embeddings", embeddings), web.get("/v1/models", listed)])
    app.add_routes([web.post("/tokenize", counted)])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)  # noqa: T201 -- for who started it
        web.run_app(app, sock=listening, print=None)


if __name__ == "__main__":
    main(int(sys.argv[1]))

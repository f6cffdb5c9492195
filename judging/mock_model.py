"""Mock model server, to try out judge runs on a machine without a model.

    python -m judging.mock_model --port 8801

It speaks as much of the OpenAI protocol as our client asks for, and grades by words in common, as the
lexical baseline does, but without a corpus. It is not a model, and its grades mean nothing: a judge
that asks it is stored as a baseline. It reads the question and the text out of the prompts that ship
here, and answers any other prompt in words, which is a reply without a grade.
"""

import argparse
import asyncio
import errno
import math
import re
from collections.abc import Callable
from typing import Any

from aiohttp import web

from judging.graders.lexical import LexicalGrader, grade_of
from judging.grading.spec import STAND_IN

MODEL = STAND_IN
_QUESTION = re.compile(r"^Question:\n(.+?)\n\n", re.MULTILINE | re.DOTALL)
_TEXT = re.compile(r"^Text:\n(.+?)\n\nEnd of the text\.", re.MULTILINE | re.DOTALL)
GRADES = range(6)
Answer = Callable[[str], tuple[str, list[float] | None]]
lexical = LexicalGrader({}, 0)  # no corpus: every term weighs the same


def answer(prompt: str) -> tuple[str, list[float] | None]:
    """Return the reply to a prompt, and the log-probabilities of the grades 0 to 5.

    They are None for a reply without a grade.
    """
    question, text = _QUESTION.search(prompt), _TEXT.search(prompt)
    if not question or not text:
        return "I find no question and text here.", None
    share = float(lexical.cover_pairs([text[1]], [question[1]], [0], [0])[0])
    if math.isnan(share):
        return "The question has no content words.", None
    # The nearer the share is to another band, the more that grade weighs.
    weights = [math.exp(-((6 * share - grade - 0.5) ** 2)) for grade in GRADES]
    return str(grade_of(share)), [math.log(weight / sum(weights)) for weight in weights]


def make_app(seconds: float, at_once: int, answer_to: Answer = answer) -> web.Application:
    """Return the server: `at_once` requests take `seconds` each, the others wait."""
    slots = asyncio.Semaphore(at_once)

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def complete(request: web.Request) -> web.Response:
        query = await request.json()
        prompt = query["messages"][-1]["content"]
        async with slots:
            await asyncio.sleep(seconds)
        content, logprobs = answer_to(prompt)
        return web.json_response(_completion(content, logprobs if query.get("logprobs") else None))

    app = web.Application()
    app.add_routes([web.get("/v1/models", models), web.post("/v1/chat/completions", complete)])
    return app


def _completion(content: str, logprobs: list[float] | None) -> dict[str, Any]:
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
    }
    if logprobs:
        top = [{"token": str(g), "logprob": p} for g, p in zip(GRADES, logprobs, strict=True)]
        first = {"token": content, "logprob": logprobs[int(content)], "top_logprobs": top}
        choice["logprobs"] = {"content": [first]}
    return {"object": "chat.completion", "model": MODEL, "choices": [choice]}


def main(answer_to: Answer = answer) -> None:
    parser = argparse.ArgumentParser(description="A stand-in for a model, to try out judge runs.")
    parser.add_argument("--port", type=int, default=8801)
    parser.add_argument("--seconds", type=float, default=0.5, help="that a reply takes")
    parser.add_argument("--at-once", type=int, default=4, help="requests worked on at once")
    chosen = parser.parse_args()
    app = make_app(chosen.seconds, chosen.at_once, answer_to)
    try:
        web.run_app(app, host="127.0.0.1", port=chosen.port, print=None)
    except OSError as error:
        is_in_use = error.errno == errno.EADDRINUSE
        reason = "it is taken; --port names another" if is_in_use else error.strerror
        raise SystemExit(f"The stand-in cannot serve at port {chosen.port}: {reason}.") from None


if __name__ == "__main__":
    main()

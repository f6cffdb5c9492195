"""A real HTTP server that answers as it was told to, question by question.

    with ScriptedServer() as server:
        server.script("Q1", status(500), said("4"))     # fails once, then grades
        ... OpenAIGrader(spec, server.url, key=None) ...
        server.asked["Q1"]                               # how often it was asked

An answer is a coroutine of the request and its body. The last one of a script is given again and
again; a question without a script is graded 3. `/models` and `/tokenize` are answered too, as vLLM
does, unless `answers` says otherwise.
"""

import asyncio
import json
import threading
import time
from collections import Counter, defaultdict

from aiohttp import web

MODEL = "tiny"
LABEL_IDS = (15, 16, 17, 18, 19, 20)  # of "0".."5"


class ScriptedServer:
    def __init__(self):
        self.asked = Counter()
        self.bodies = defaultdict(list)  # what was asked about a question, in order
        self.times = defaultdict(list)
        self.headers = []
        self.most_at_once = 0
        self.answers = {"/v1/models": models(MODEL), "/tokenize": tokenized}
        self._scripts = {}
        self._under_way = []
        self._is_stopped = True
        self._port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self):
        self._thread.start()
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def script(self, question, *answers):
        self._scripts[question] = list(answers)

    def under_way_after(self, seconds):
        """Return the number of open requests, after at most `seconds` of waiting for none."""
        end = time.monotonic() + seconds
        while self._under_way and time.monotonic() < end:
            time.sleep(0.01)
        return len(self._under_way)

    def start(self):
        """Listen, on the port as before."""
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)

    def stop(self):
        """Be gone: every connection is cut, and new ones are refused."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)

    async def _start(self):
        self._is_stopped = False
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
        await self._runner.setup()
        self._site = web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True)
        await self._site.start()
        self._port = self._runner.addresses[0][1]

    async def _stop(self):
        self._is_stopped = True
        await self._site.stop()
        for request in self._under_way:
            if request.transport is not None:
                request.transport.abort()
        await self._runner.cleanup()

    async def _serve(self, request):
        if self._is_stopped:  # it came on an open connection, and would be waited for to its end
            request.transport.abort()
            return web.Response()
        self.headers.append(dict(request.headers))
        body = await request.json() if request.can_read_body else {}
        if request.path in self.answers:
            return await self.answers[request.path](request, body)
        if request.path != "/v1/chat/completions":
            return web.json_response({"detail": "Not Found"}, status=404)
        question = question_of(body)
        self.asked[question] += 1
        self.bodies[question].append(body)
        self.times[question].append(time.monotonic())
        script = self._scripts.get(question) or [reply_with("3")]
        answer = script.pop(0) if len(script) > 1 else script[0]
        self._under_way.append(request)
        self.most_at_once = max(self.most_at_once, len(self._under_way))
        try:
            return await answer(request, body)
        finally:
            self._under_way.remove(request)


def question_of(body):
    """The first line of what the user says."""
    return body["messages"][-1]["content"].split("\n", 1)[0]


def completion(content, *, finish_reason="stop", logprobs=None, **message):
    return {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "logprobs": logprobs,
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 40, "completion_tokens": 1},
    }


def reply_with(content, delay=0.0, **more):
    """An answer in words, which takes `delay` seconds."""
    return as_json(completion(content, **more), delay=delay)


def as_json(value, *, status=200, delay=0.0):
    async def answer(request, body):
        await asyncio.sleep(delay)
        return web.json_response(value, status=status)

    return answer


def as_body(text, *, status=200):
    async def answer(request, body):
        return web.Response(body=text, status=status, content_type="application/json")

    return answer


def status(number, message="out of order", *, headers=None, **more):
    async def answer(request, body):
        error = {"message": message, **more}
        return web.json_response({"error": error}, status=number, headers=headers)

    return answer


async def reset(request, body):
    request.transport.abort()
    return web.Response()


async def drip(request, body):
    """A byte now and then, and never the last."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


async def torn(request, body):
    """Half of the answer, and then the connection ends."""
    body_bytes = json.dumps(completion("4")).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(body_bytes))})
    await response.prepare(request)
    await response.write(body_bytes[: len(body_bytes) // 2])
    request.transport.close()
    return response


def models(*names, **more):
    cards = [{"id": name, "object": "model", "max_model_len": 2048, **more} for name in names]
    return as_json({"object": "list", "data": cards})


async def tokenized(request, body):
    """As vLLM's /tokenize, for a model of which every character is a token."""
    text = body.get("prompt") or "".join(
        f"<{message['role']}>{message['content']}" for message in body["messages"]
    )
    return web.json_response({"tokens": [ord(letter) - 33 for letter in text]})


def logprobs_of(shares, *, as_ids=False):
    """Return log-probabilities of the first token as a server writes them.

    `shares` maps tokens to log-probabilities.
    """
    listed = [
        {"token": f"token_id:{token}" if as_ids else token, "logprob": value}
        for token, value in shares.items()
    ]
    return {"content": [{**listed[0], "top_logprobs": listed}]}

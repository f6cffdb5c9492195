"""Benchmark of the client for judging servers against aiohttp and httpx loops.

    python -m bench.judge_client            # or --pairs 2048 --concurrency 128

The server is a process of its own that reads a request and sends the same bytes back, whatever they
were. All clients send the same messages, as many at once, and read the grade from the JSON. Read the
ratios: times alone depend on what else the machine does. Where the least client there is, plain
sockets without HTTP parsing, is not well above ours, the server is the bottleneck, and it says so.
"""

import argparse
import asyncio
import json
import multiprocessing
import socket
import time
from statistics import median

import aiohttp
import httpx

from judging.graders.chat import OpenAIGrader
from judging.grading.pairs import Pair
from judging.grading.prompt import render
from judging.grading.spec import Spec

ROUNDS = 3
AT_LEAST = 3  # times the bare loop of httpx
PASSAGE = (
    "The ferry to the island stopped in the autumn, when the last of its engines failed. " * 20
)

SPEC = Spec(
    rubric="answerability",
    levels=tuple((grade, "") for grade in range(6)),
    backend="openai",
    model="tiny",
    prompt="Question: {question}\nText: {text}\nReply with a grade from 0 to 5.",
    parser="integer-1",
)
LABELS = [{"token": str(grade), "logprob": -1.8, "bytes": [48 + grade]} for grade in range(6)]
COMPLETION = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "tiny",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "4"},
                "logprobs": {"content": [{**LABELS[4], "top_logprobs": LABELS}]},
                "finish_reason": "length",
            }
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 1},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(COMPLETION),
    COMPLETION,
)


class FixedReplyServer(asyncio.Protocol):
    """Counts the bytes of each request by its Content-Length, and answers; no more of HTTP."""

    def __init__(self, answer=ANSWER, delay=0.0):
        self.answer, self.delay = answer, delay

    def connection_made(self, transport):
        self.transport, self.pending = transport, b""

    def data_received(self, data):
        self.pending += data
        while (end := self.pending.find(b"\r\n\r\n")) >= 0:
            head = self.pending[:end].lower()
            length = 0
            if (start := head.find(b"content-length:")) >= 0:
                length = int(head[start + 15 :].split(b"\r\n", 1)[0])
            if len(self.pending) < end + 4 + length:
                return
            self.pending = self.pending[end + 4 + length :]
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self.transport.write, self.answer)
            else:
                self.transport.write(self.answer)


def serve(listening):
    async def forever():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(FixedReplyServer, sock=listening)
        await server.serve_forever()

    asyncio.run(forever())


def by_us(url, pairs, concurrency):
    grader = OpenAIGrader(SPEC, url, key="secret", concurrency=concurrency)
    return sum(reply is not None and reply.grade == 4 for reply in grader.replies(iter(pairs)))


def question(pair):
    return {
        "model": SPEC.model,
        "messages": render(SPEC, pair),
        "temperature": 0.0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": 20,
    }


def is_graded(answer):
    return answer["choices"][0]["message"]["content"] == "4"


def by_aiohttp(url, pairs, concurrency):
    async def ask_all():
        connector = aiohttp.TCPConnector(limit=concurrency)
        async with aiohttp.ClientSession(connector=connector) as session:
            slots = asyncio.Semaphore(concurrency)

            async def ask(pair):
                async with (
                    slots,
                    session.post(f"{url}/chat/completions", json=question(pair)) as response,
                ):
                    return is_graded(await response.json())

            return sum(await asyncio.gather(*map(ask, pairs)))

    return asyncio.run(ask_all())


def by_httpx(url, pairs, concurrency):
    async def ask_all():
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        async with httpx.AsyncClient(limits=limits, timeout=60) as client:
            slots = asyncio.Semaphore(concurrency)

            async def ask(pair):
                async with slots:
                    response = await client.post(f"{url}/chat/completions", json=question(pair))
                return is_graded(response.json())

            return sum(await asyncio.gather(*map(ask, pairs)))

    return asyncio.run(ask_all())


class Ceiling(asyncio.Protocol):
    """Minimal client: resends the same bytes, and only counts the replies."""

    def __init__(self, request, share, done):
        self.request, self.share, self.done, self.read = request, share, done, 0

    def connection_made(self, transport):
        self.transport = transport
        transport.write(self.request)

    def data_received(self, data):
        self.read += len(data)
        answered, remainder = divmod(self.read, len(ANSWER))
        if answered >= self.share:
            self.transport.close()
            self.done.set_result(answered)
        elif remainder == 0:
            self.transport.write(self.request)


def by_sockets(url, pairs, concurrency):
    body = json.dumps(question(pairs[0])).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    port = int(url.split(":")[2].split("/")[0])

    async def ask_all():
        loop = asyncio.get_running_loop()
        share = len(pairs) // concurrency
        clients = [
            Ceiling(head.encode() + body, share, loop.create_future()) for _ in range(concurrency)
        ]
        for client in clients:
            await loop.create_connection(lambda client=client: client, "127.0.0.1", port)
        return sum(await asyncio.gather(*(client.done for client in clients)))

    return asyncio.run(ask_all())


def timed(function, *arguments):
    """Return wall-clock seconds, CPU seconds of this process, and the result."""
    start, cpu = time.perf_counter(), time.process_time()
    result = function(*arguments)
    return time.perf_counter() - start, time.process_time() - cpu, result


def lines(n_pairs: int, concurrency: int) -> list[str]:
    """Run the four clients in turn for a few rounds; return the report."""
    pairs = [Pair(number, 1, PASSAGE, f"Why, for the time {number}?") for number in range(n_pairs)]
    clients = {
        "here": by_us,
        "bare aiohttp": by_aiohttp,
        "bare httpx": by_httpx,
        "plain sockets": by_sockets,
    }
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    process = multiprocessing.get_context("fork").Process(target=serve, args=[listening])
    process.start()
    try:
        seconds = {name: [] for name in clients}
        cpu = {name: [] for name in clients}
        for _ in range(ROUNDS):
            for name, client in clients.items():
                elapsed, cpu_seconds, n_graded = timed(client, url, pairs, concurrency)
                if n_graded != n_pairs:
                    raise SystemExit(f"{name}: {n_graded} of {n_pairs} pairs were graded.")
                seconds[name].append(elapsed)
                cpu[name].append(cpu_seconds)
    finally:
        process.terminate()
        process.join()
    rate = {name: n_pairs / median(elapsed) for name, elapsed in seconds.items()}
    return [
        f"{n_pairs:,} pairs of {len(PASSAGE):,} characters, {concurrency} at once, "
        f"median of {ROUNDS} rounds in turn",
        f"{'client':>14} {'pairs/s':>9} {'µs of CPU a pair':>17} {'here is':>9}",
        *(
            f"{name:>14} {rate[name]:>9,.0f} {1e6 * median(cpu[name]) / n_pairs:>17,.0f} "
            f"{rate['here'] / rate[name]:>8.2f}x"
            for name in clients
        ),
        verdict(rate),
    ]


def verdict(rate):
    if rate["plain sockets"] < 1.5 * rate["here"]:
        return "The server is the bottleneck: these ratios say little about the clients."
    goal_met = rate["here"] >= AT_LEAST * rate["bare httpx"]
    return f"at least {AT_LEAST}x the bare loop of httpx: {'yes' if goal_met else 'NO'}"


def smoke() -> str:
    """Grade 16 pairs by each client; see bench.smoke."""
    lines(16, 4)  # exits if a pair has no grade
    return "16 pairs graded by each client"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=640, help="a multiple of the concurrency")
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    if options.pairs % options.concurrency:
        parser.error("--pairs must be a multiple of --concurrency.")
    text = lines(options.pairs, options.concurrency)
    print("\n".join(text))
    if text[-1].endswith("NO"):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

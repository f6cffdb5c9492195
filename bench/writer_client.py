"""Benchmark of the client for model servers that write, against bare aiohttp.

    python -m bench.writer_client            # or --documents 2048 --concurrency 128 --delay 0.1

The server is a process of its own that sends the same reply to all requests, at once, and in the second
round after a delay, as no model answers faster. Both clients send the same messages, as many at once, and
read the text of the reply. The last line is a whole worker at a generation run, on SQLite: it leases each task,
makes its message, reads the passages and stores them. Read the ratios.
"""

import argparse
import asyncio
import json
import multiprocessing
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import aiohttp

from bench.judge_client import FixedReplyServer, timed
from building.writers.base import Ask
from building.writers.openai_writer import OpenAIWriter, WriterChat
from building.writers.spec import WriterSpec
from building.writing.tasks import TASKS, Source, render
from judging.llm.server import Address

ROUNDS = 3
GOAL = 0.95
TASK = TASKS["passages"]
DOCUMENT_TEXT = (
    "The ferry to the island stopped in the autumn, when the last of its engines failed. " * 20
)
# Two passages of 150 distinct words: a reply that repeats itself is a failure.
CONTENT = "\n".join(
    f"<p>Of {' '.join(f'word{number}' for number in range(start, start + 149))}.</p>"
    for start in (0, 149)
)
SPEC = WriterSpec(TASK.name, "openai", "tiny", prompt=TASK.prompt, sampling=TASK.sampling)
CHOICE = {
    "index": 0,
    "message": {"role": "assistant", "content": CONTENT},
    "finish_reason": "stop",
}
COMPLETION = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "tiny",
        "choices": [CHOICE],
        "usage": {"prompt_tokens": 500, "completion_tokens": 400},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(COMPLETION),
    COMPLETION,
)

Client = Callable[[str, list[Ask], int], int]


def asks(n: int) -> list[Ask]:
    batch = []
    for number in range(n):
        source = Source(document=f"{number}. {DOCUMENT_TEXT}")
        messages = render(TASK, TASK.system, TASK.prompt, source)
        batch.append(Ask(number, 1, TASK, source, messages, 0, number))
    return batch


def by_us(url: str, asks: list[Ask], concurrency: int) -> int:
    writer = OpenAIWriter(SPEC, [Address(url, "secret")], concurrency=concurrency)
    outcomes = writer.outcomes(iter(asks))
    return sum(outcome is not None and outcome.raw == CONTENT for outcome in outcomes)


def by_aiohttp(url: str, asks: list[Ask], concurrency: int) -> int:
    chat = WriterChat(SPEC)

    async def ask_all() -> int:
        connector = aiohttp.TCPConnector(limit=concurrency)
        async with aiohttp.ClientSession(connector=connector) as session:
            slots = asyncio.Semaphore(concurrency)

            async def ask(one: Ask) -> bool:
                question = {
                    **chat.request_variants[0],
                    **chat.extra_parameters(one),
                    "messages": one.messages,
                }
                async with (
                    slots,
                    session.post(f"{url}/chat/completions", json=question) as response,
                ):
                    answer = await response.json()
                return bool(answer["choices"][0]["message"]["content"] == CONTENT)

            return sum(await asyncio.gather(*map(ask, asks)))

    return asyncio.run(ask_all())


CLIENTS: dict[str, Client] = {"here": by_us, "bare aiohttp": by_aiohttp}


def serve(listening: socket.socket, delay: float) -> None:
    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: FixedReplyServer(ANSWER, delay), sock=listening)
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def server(delay: float) -> Iterator[str]:
    """Start a server that replies after `delay` seconds; yield its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    context = multiprocessing.get_context("fork")
    process = context.Process(target=serve, args=[listening, delay])
    process.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        process.terminate()
        process.join()
        listening.close()


def measure(n: int, concurrency: int, delay: float) -> dict[str, tuple[float, float]]:
    """Return documents a second and CPU seconds a document of each client, in turn."""
    batch = asks(n)
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in CLIENTS}
    with server(delay) as url:
        for _ in range(ROUNDS):
            for name, client in CLIENTS.items():
                seconds, cpu, n_read = timed(client, url, batch, concurrency)
                if n_read != n:
                    raise SystemExit(f"{name}: {n_read} of {n} replies were read.")
                figures[name].append((n / seconds, cpu / n))
    return {
        name: (median(rate for rate, _ in rounds), median(cpu for _, cpu in rounds))
        for name, rounds in figures.items()
    }


def smoke() -> str:
    """Write 8 documents by each client, and by a whole worker on SQLite; see bench.smoke."""
    from bench.building import measure_worker  # noqa: PLC0415 - its parts import this module

    measure(8, 4, 0.0)  # exits if a reply was not read
    with server(0.0) as url:
        measure_worker(url, 8, 4)  # counts drafts and passages
    return "8 documents written by each client, and stored by a whole worker"


def main() -> None:
    from bench.building import measure_worker  # noqa: PLC0415 - its parts import this module

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--documents", type=int, default=1_280)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--delay", type=float, default=0.1, help="seconds, of the second round")
    options = parser.parse_args()
    n, at_once = options.documents, options.concurrency
    print(
        f"{n:,} documents of {len(DOCUMENT_TEXT):,} characters, {at_once} at once, median of {ROUNDS}"
    )
    ratio = 0.0
    for delay in (0.0, options.delay):
        rates = measure(n, at_once, delay)
        with server(delay) as url:
            figures = measure_worker(url, n, at_once)
        rates["whole worker"] = figures["rate"], figures["cpu"]
        bare = rates["bare aiohttp"][0]
        print(f"a server that answers after {1_000 * delay:.0f} ms:")
        for name, (rate, cpu) in rates.items():
            print(
                f"{name:>14} {rate:>8,.0f}/s {1e6 * cpu:>8,.0f} µs of CPU each "
                f"{rate / bare:>6.2f} of bare aiohttp"
            )
        ratio = rates["here"][0] / bare
    print(
        f"at least {GOAL} of it where the server takes its time: {'yes' if ratio >= GOAL else 'NO'}"
    )
    if ratio < GOAL:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

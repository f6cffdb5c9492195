"""Simulated crowd workers that read pages and post answers as a browser does.

    python -m bench.crowd '{"port": 8000, "slug": "bench", "first": 0, "workers": 8, "until": 1790000000.0}'

SIGTERM ends the time sooner. Prints one JSON object: all answers that were sent, with their
acknowledgement, and the duration of each request. bench.campaign starts several of these, so that the client
is not the limit.
"""

import gzip
import html
import http.client
import json
import random
import re
import signal
import sys
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlencode

RETRY = 0.2  # seconds between a failure and the next try; the page waits longer
GRACE = 60.0  # seconds after the end in which unacknowledged requests are retried
FAILED = (OSError, http.client.HTTPException)
_TEXT = re.compile(r'id="text"[^>]*>(.*?)</div>', re.DOTALL)
_CARD = re.compile(
    r'data-base="(?P<base>[^"]*)".*?action="(?P<url>/work/\d+/(?:answers|checks)/\d+/)"', re.DOTALL
)


@dataclass
class Reply:
    status: int
    location: str
    text: str


class Browser:
    """Browser profile: cookies, and a keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, form: dict[str, object] | None = None, **headers: str):
        """Send one request. Raises one of FAILED if no complete response arrives."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers |= {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        headers |= {"Accept-Encoding": "gzip"}
        body = None
        if form is not None:
            body = urlencode(form)
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "X-CSRFToken": self.cookies.get("csrftoken", ""),
            }
        try:
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            data = response.read()
        except FAILED:
            self.close()
            raise
        for cookie in response.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        if response.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        return Reply(response.status, response.headers.get("Location") or "", data.decode())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@dataclass
class Worker:
    """Simulated Prolific worker: arrives, answers and submits parts until the time is up."""

    port: int
    slug: str
    name: str
    until: float
    answers: list[dict] = field(default_factory=list)
    items: list[int] = field(default_factory=list)  # as they were shown, a second look left out
    submitted: list[int] = field(default_factory=list)
    parts: int = 0
    failures: Counter = field(default_factory=Counter)
    durations: dict[str, list[float]] = field(
        default_factory=lambda: {"answer": [], "acknowledged": [], "item": [], "submit": []}
    )
    ran_out: bool = False

    def __post_init__(self) -> None:
        self.rng = random.Random(self.name)
        self.browser = Browser(self.port)

    def work(self) -> "Worker":
        while time.time() < self.until and not self.ran_out:
            self.part()
        self.browser.close()
        return self

    def part(self) -> None:
        """Work on one Prolific submission: arrive, answer the items of a part, finish it."""
        if self.rng.random() < 0.3:  # on another device, or after clearing all cookies
            self.browser.close()
            self.browser = Browser(self.port)
        ids = {"PROLIFIC_PID": self.name, "STUDY_ID": "bench", "SESSION_ID": f"s{self.parts}"}
        arrival = f"/start/{self.slug}/?{urlencode(ids)}"
        path = self.follow(arrival)
        if path == arrival:  # the terms, which a newcomer answers there
            path = self.follow(path, {"decision": "agree"})
        path = self.follow(f"/work/in/{self.slug}/begin/", {})
        while item := re.fullmatch(r"/work/(\d+)/", path):
            if time.time() >= self.until:
                return
            path = self.item(int(item[1]))
        self.ran_out = path == f"/work/in/{self.slug}/"
        self.parts += 1

    def follow(self, path: str, form: dict[str, object] | None = None) -> str:
        """Follow redirects of a visit or a submitted form; return the final address."""
        reply = self.request("POST" if form is not None else "GET", path, form)
        while reply.status in (301, 302, 303):
            path = reply.location
            reply = self.request("GET", path)
        if reply.status != 200:
            raise RuntimeError(f"{path} answered {reply.status}")
        return path

    def item(self, pk: int) -> str:
        """Answer and submit an item; return the address of the next page."""
        page = self.request("GET", f"/work/{pk}/", action="item").text
        if pk not in self.items:
            self.items.append(pk)
        body = html.unescape(re.sub(r"<[^>]+>", "", _TEXT.search(page)[1]))
        for card in _CARD.finditer(page):
            self.answer(pk, card["url"], card["base"], body)
        form = {"active_ms": self.rng.randrange(9000)}
        reply = self.request(
            "POST", f"/work/{pk}/submit/", form, action="submit", **{"X-Requested-With": "fetch"}
        )
        if reply.status != 200:
            raise RuntimeError(f"submitting {pk} was answered by {reply.status}: {reply.text}")
        self.submitted.append(pk)
        return json.loads(reply.text)["next"]

    def answer(self, pk: int, url: str, base: str, body: str) -> None:
        """Answer a question; sometimes change, retract or resend the answer."""
        changes = self.rng.choices([0, 1, 2], [80, 15, 5])[0]
        for changes_left in range(changes, -1, -1):
            grade = self.rng.randrange(6)
            spans = self.draw_spans(body) if grade else []
            if changes_left and self.rng.random() < 0.3:
                grade, spans = None, []
            base = self.send_answer(pk, url, base, grade, spans)

    def send_answer(
        self, pk: int, url: str, base: str, grade: int | None, spans: list[dict]
    ) -> str:
        """Send an answer under one idempotency key until it is acknowledged; return the key."""
        key = uuid.UUID(int=self.rng.getrandbits(128), version=4).hex
        answer = {
            "assignment": pk,
            "question": int(url.split("/")[4]),
            "key": key,
            "grade": grade,
            "spans": spans,
            "acknowledged": False,
        }
        self.answers.append(answer)
        form = {
            "key": key,
            "base": base,
            "grade": "" if grade is None else grade,
            "spans": json.dumps(spans, ensure_ascii=False),
            "active_ms": self.rng.randrange(20_000),
        }
        for _ in range(2 if self.rng.random() < 0.05 else 1):
            began = time.perf_counter()
            reply = self.request(
                "POST", url, form, action="answer", **{"X-Requested-With": "fetch"}
            )
            if reply.status != 204:
                raise RuntimeError(f"{url} answered {reply.status}: {reply.text[:200]}")
            answer["acknowledged"] = True
            self.durations["acknowledged"].append(time.perf_counter() - began)
        return key

    def draw_spans(self, body: str) -> list[dict]:
        """Draw one or two spans of a few words, in the order in which the server returns them."""
        tokens = [match.span() for match in re.finditer(r"\S+", body)]
        chosen = set()
        for _ in range(self.rng.choice([1, 1, 2])):
            first = self.rng.randrange(len(tokens) - 6)
            chosen.add((tokens[first][0], tokens[first + self.rng.randrange(1, 6)][1]))
        return [{"start": a, "end": b, "quote": body[a:b]} for a, b in sorted(chosen)]

    def request(
        self,
        method: str,
        path: str,
        form: dict[str, object] | None = None,
        action: str = "",
        **headers: str,
    ) -> Reply:
        """Send a request, and retry it until the server answers.

        Raises TimeoutError GRACE seconds after the end of the time.
        """
        while True:
            began = time.perf_counter()
            try:
                reply = self.browser.ask(method, path, form, **headers)
            except FAILED as error:
                self.failures[type(error).__name__] += 1
            else:
                if reply.status < 500:
                    if action:
                        self.durations[action].append(time.perf_counter() - began)
                    return reply
                self.failures[str(reply.status)] += 1
            if time.time() > self.until + GRACE:
                raise TimeoutError(f"{path} was never answered")
            time.sleep(RETRY * (0.5 + self.rng.random()))


def report_work(worker: Worker) -> dict:
    """Let a worker work; return its report, with the exception that stopped it, if any."""
    stopped = ""
    try:
        worker.work()
    except Exception as error:  # noqa: BLE001 - reported with the counts, which fail by it
        stopped = f"{type(error).__name__}: {error}"
    return {
        "name": worker.name,
        "answers": worker.answers,
        "items": worker.items,
        "submitted": worker.submitted,
        "parts": worker.parts,
        "failures": dict(worker.failures),
        "durations": worker.durations,
        "ran_out": worker.ran_out,
        "stopped": stopped,
    }


def main() -> None:
    options = json.loads(sys.argv[1])
    workers = [
        Worker(
            options["port"], options["slug"], f"{options['first'] + index:024x}", options["until"]
        )
        for index in range(options["workers"])
    ]

    def end(*_) -> None:
        for worker in workers:
            worker.until = time.time()

    signal.signal(signal.SIGTERM, end)
    with ThreadPoolExecutor(len(workers)) as pool:
        reports = list(pool.map(report_work, workers))
    json.dump({"workers": reports, "cpu": time.process_time()}, sys.stdout)


if __name__ == "__main__":
    main()

"""Requests and replies of batch services as JSON lines, next to an export. No Django.

Every file of pairs has its file of requests. The replies that a service gives may lie in any files: each
line says by its custom_id which judge it asked about which pair with which prompt, and what does not
belong to the export is refused. They become a file of results like those of a cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judging.graders.chat import GradingTask, request_variants
from judging.grading.pairs import Pair, Reply, group_by_message
from judging.grading.prompt import render
from judging.grading.spec import Spec
from judging.llm import response
from judging.llm.completion import storable
from judging.llm.errors import Failure
from judging.llm.messages import Message, prompt_hash
from judging.offline.job import ExchangeError, Job, results_name, write_atomically
from judging.offline.parquet import PairRow, read_pairs, write_results

LINE_LIMIT = 4_000_000  # bytes of one reply
_REQUESTS = "requests-"


def requests_name(pairs: Path) -> str:
    """Return the file name of the requests about a file of pairs."""
    return pairs.name.replace("pairs-", _REQUESTS, 1).replace(".parquet", ".jsonl")


def reply_files(folder: Path) -> list[Path]:
    """Return the reply files of a batch service in a folder.

    All JSON lines are, except our requests.
    """
    return sorted(path for path in folder.glob("*.jsonl") if not path.name.startswith(_REQUESTS))


def write_requests(folder: Path, service: str) -> int:
    """Write the requests of an export for a batch service, a file for each file of pairs.

    Returns how many requests there are. Raises ExchangeError for a folder that is no whole export
    and for a judge that the service cannot be, KeyError for a service that is unknown.
    """
    line_of = SERVICES[service]
    job = Job.read(folder)
    n = 0
    for pairs in job.pairs_files(folder):
        lines = [
            json.dumps(line_of(job.spec, key, messages), ensure_ascii=False)
            for key, (_, messages) in _requests(job, [pairs]).items()
        ]
        _write(folder / requests_name(pairs), lines)
        n += len(lines)
    return n


def _write(path: Path, lines: list[str]) -> None:
    # Half a surrogate pair, which no service takes, becomes a question mark.
    content = ("\n".join(lines) + "\n").encode("utf-8", "replace")
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def read_replies(folder: Path, replies: Path) -> Path | None:
    """Convert a file of replies to a file of results; return None if it holds none.

    It is written to the same folder. Pairs that a service did not come to (cancelled, expired) have no
    reply. Raises ExchangeError with the file and the line for what is no reply of a batch service,
    comes twice or was not asked by this export, whose judge, texts and prompts are all in the key of a
    line. So is a file in which a reply names another model; a copy of the judge that says how replies
    name it takes the replies to the requests of the judge that it was copied from.
    """
    job = Job.read(folder)
    grading = GradingTask(job.spec)
    requests = _requests(job, job.pairs_files(folder))
    named_before = replace(job.spec, reply_model="").fingerprint[:8]
    read: list[tuple[PairRow, Reply]] = []
    lines: dict[str, int] = {}
    for number, line in _lines(replies):
        try:
            key = _key(line)
            if key.startswith(
                f"{named_before}-"
            ):  # of the judge that did not say how replies name the model
                key = job.about.fingerprint[:8] + key.removeprefix(named_before)
            if key in lines:
                raise ValueError(f"the same request as in line {lines[key]}")
            lines[key] = number
            if key not in requests:
                raise ValueError(_unknown_request(key, job))
            rows, messages = requests[key]
            results = _replies(grading, [row.pair for row in rows], prompt_hash(messages), line)
            if results and grading.other_model(results):
                raise ValueError(_other_model(line, job))
        except ValueError as error:
            raise ExchangeError(f"{replies.name}, line {number}: {error}.") from None
        read += zip(rows, results, strict=True) if results else ()
    if not read:
        return None
    path = folder / results_name(Path(f"pairs-of-{replies.stem}.parquet"))
    write_results(path, job.about, read)
    return path


def _requests(job: Job, files: Iterable[Path]) -> dict[str, tuple[list[PairRow], list[Message]]]:
    """Return pairs and message of each request, by key.

    The pairs are one or all questions of a text.
    """
    requests = {}
    for path in files:
        _, rows = read_pairs(path)
        start = 0
        for pairs in group_by_message(row.pair for row in rows):
            messages = render(job.spec, pairs[0])
            keys = (pairs[0].text_id, pairs[0].question_id, prompt_hash(messages))
            key = "-".join(map(str, (job.about.fingerprint[:8], *keys)))
            requests[key] = (rows[start : start + len(pairs)], messages)
            start += len(pairs)
    return requests


def _openai(spec: Spec, key: str, messages: list[Message]) -> dict[str, Any]:
    # Token ids are vLLM's own: OpenAI refuses what it does not know.
    return _vllm(replace(spec, label_ids=()), key, messages)


def _vllm(spec: Spec, key: str, messages: list[Message]) -> dict[str, Any]:
    body = {**request_variants(spec)[0], "messages": messages}
    return {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}


def _anthropic(spec: Spec, key: str, messages: list[Message]) -> dict[str, Any]:
    """Return an Anthropic request: without a seed, and with a separate system message.

    Raises ExchangeError for a judge that wants several samples: it gives one.
    """
    if spec.sampling.samples > 1:
        raise ExchangeError(
            f"Anthropic gives one reply to a message, and this judge wants {spec.sampling.samples} samples."
        )
    sent = {name: value for name, value in spec.sampling.sent.items() if name != "seed"}
    tokens = sent.pop("max_completion_tokens", spec.sampling.max_tokens)
    system = [message["content"] for message in messages if message["role"] == "system"]
    params = {
        "model": spec.model,
        **sent,
        "max_tokens": tokens,
        "messages": [message for message in messages if message["role"] != "system"],
    }
    return {"custom_id": key, "params": {**params, **({"system": system[0]} if system else {})}}


SERVICES: Mapping[str, Callable[[Spec, str, list[Message]], dict[str, Any]]] = {
    "openai": _openai,
    "vllm": _vllm,
    "anthropic": _anthropic,
}
"""Batch services by name, with what writes a line of requests for each."""


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LINE_LIMIT + 1), b""), 1):
                if not line.strip():
                    continue
                if len(line) > LINE_LIMIT:
                    raise ExchangeError(
                        f"{path.name}, line {number} is longer than {LINE_LIMIT:,} bytes."
                    )
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise ExchangeError(
                        f"{path.name}, line {number} is not JSON: {error}."
                    ) from None
                if not isinstance(value, dict):
                    raise ExchangeError(f"{path.name}, line {number} is no JSON object.")
                yield number, value
    except OSError as error:
        raise ExchangeError(f"{path} cannot be read: {error}.") from None


def _key(line: Mapping[str, Any]) -> str:
    key = line.get("custom_id")
    if not isinstance(key, str) or not key:
        raise ValueError("there is no custom_id: this is no reply of a batch service")
    return key


def _unknown_request(key: str, job: Job) -> str:
    short = job.about.fingerprint[:8]
    if not key.startswith(f"{short}-"):
        return f"{key[:80]!r} is no request to the judge {job.about.judge} ({short})"
    return f"{key[:80]!r} is no request of this export: another text, question or prompt"


def _other_model(line: Mapping[str, Any], job: Job) -> str:
    response, result = line.get("response"), line.get("result")
    body = response.get("body") if isinstance(response, dict) else None
    if isinstance(result, dict):
        body = result.get("message")
    reply_model = storable(str(body.get("model")) if isinstance(body, dict) else "")[:250]
    return (
        f"the service answers as {reply_model}, and was asked for {job.spec.model}. If that is the model you "
        f"mean, copy this judge to a new one, with {reply_model} under “Model name in replies”, and export "
        "a run of that one: it takes these replies, so that nothing is paid for twice"
    )


def _replies(
    grading: GradingTask, pairs: Sequence[Pair], digest: str, line: Mapping[str, Any]
) -> list[Reply] | None:
    """Return the replies of a line about its pairs; None if the service did not process it."""
    if "result" in line:
        return _of_anthropic(grading, pairs, digest, line["result"])
    response, error = line.get("response"), line.get("error")
    if isinstance(error, dict) and error.get("code") in ("batch_expired", "batch_cancelled"):
        return None
    if not isinstance(response, dict):
        if not error:
            raise ValueError("there is neither a response nor an error")
        return _failed(grading, pairs, digest, error)
    if response.get("status_code") != 200 or error:
        return _failed(grading, pairs, digest, error or response.get("body"))
    return _read(grading, pairs, digest, response.get("body"))


def _of_anthropic(
    grading: GradingTask, pairs: Sequence[Pair], digest: str, result: Any
) -> list[Reply] | None:
    kind = result.get("type") if isinstance(result, dict) else None
    if kind in ("canceled", "expired"):
        return None
    if kind == "errored":
        return _failed(grading, pairs, digest, result.get("error"))
    message = result.get("message") if kind == "succeeded" else None
    if not isinstance(message, dict):
        raise ValueError(f"the result is {kind!r}, not succeeded, errored, canceled or expired")
    parts = message.get("content")
    blocks = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    usage = message.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    choice = {
        "finish_reason": message.get("stop_reason"),
        "message": {
            "content": "".join(str(part.get("text") or "") for part in blocks),
            "reasoning": "".join(str(part.get("thinking") or "") for part in blocks),
        },
    }
    body = {
        "model": message.get("model"),
        "choices": [choice],
        "usage": {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
        },
    }
    return _read(grading, pairs, digest, body)


def _read(grading: GradingTask, pairs: Sequence[Pair], digest: str, body: Any) -> list[Reply]:
    return response.read(grading, pairs, digest, json.dumps(body).encode(), storable)


def _failed(grading: GradingTask, pairs: Sequence[Pair], digest: str, error: Any) -> list[Reply]:
    message = storable(error if isinstance(error, str) else json.dumps(error, ensure_ascii=False))
    if response.is_filtered(error):
        return response.refused(grading, pairs, digest, message)
    too_long = response.says_too_long(message)
    failure = Failure.TOO_LONG if too_long else Failure.REQUEST
    return grading.failed(pairs, digest, failure, f"The service said: {message}")

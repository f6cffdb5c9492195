"""From the body of a chat completion to what was said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from judging.graders.model_names import is_model_of
from judging.graders.openai_server import decoded
from judging.graders.script import (
    NO_TOKENS,
    TOO_MANY_CHARACTERS,
    Came,
    Script,
    Tokens,
    What,
    oversized,
)
from judging.grading.pairs import RAW_LIMIT, Failure
from judging.grading.said import Said
from judging.grading.spec import Asked

_LARGEST_COUNT = 2**31 - 1

# vLLM and OpenAI; SGLang; llama.cpp; text-generation-inference.
_TOO_LONG = re.compile(
    r"maximum context length|context_length_exceeded|longer than the model's context length"
    r"|exceed_context_size|exceeds? the (?:available )?context|`inputs` tokens"
    r"|max_tokens must be at least 1, got 0",  # vLLM, where the prompt fills the window exactly
    re.IGNORECASE,
)
# Groq, Anthropic's and Mistral's gateways: one reply to a message.
_SEVERAL = re.compile(
    r"(?:['\"`]n['\"`]|\bn\b) *(?:: *number )?(?:must be|should be|has to be|is not|> ?1|other than 1)"
    r"|(?:multiple|several) (?:choices|completions|samples)|only (?:one|1|a single) (?:choice|completion)",
    re.IGNORECASE,
)
_LOGPROBS = re.compile(
    r"log_?probs?\b|logprob_token_ids|top_n_tokens|return_tokens_as_token_ids", re.IGNORECASE
)


# OpenAI's codes and words; pydantic's, so vLLM's; others'.
_PARAMETER = re.compile(
    r"unsupported_(?:parameter|value)|(?:parameter|value): '[\w.]+' (?:is not supported|does not support)"
    r"|extra_forbidden|extra inputs are not permitted|unrecognized request argument|unknown parameter"
    r"|`?top_p`? (?:must be >|cannot both be)|cannot both be specified",
    re.IGNORECASE,
)


def says_too_long(words: str) -> bool:
    """Whether a server's words say that the prompt does not fit the model."""
    return _TOO_LONG.search(words) is not None


def names_logprobs(words: str) -> bool:
    """Whether a server's words are about the request for log-probabilities."""
    return _LOGPROBS.search(words) is not None


def names_a_parameter(words: str) -> bool:
    """Whether a server's words say that it does not know or take a parameter, whatever the pair."""
    return _PARAMETER.search(words) is not None


def names_several_samples(words: str) -> bool:
    """Return True if the words of a server say that it gives one reply to a message."""
    return _SEVERAL.search(words) is not None


def is_filtered(answer: Any) -> bool:
    """Return whether an error says that a content filter refused the prompt, as OpenAI and Azure write it.

    `answer` is the body as JSON, or the error in it.
    """
    error = answer.get("error", answer) if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return False
    inner = error.get("innererror")
    return error.get("code") == "content_filter" or (
        isinstance(inner, dict) and inner.get("code") == "ResponsibleAIPolicyViolation"
    )


def refused(
    script: Script[What, Came], what: What, digest: str, words: str, tokens: Tokens = NO_TOKENS
) -> Came:
    """Return the refusal that a content filter's error comes to. `words` are the server's own."""
    said = Said(
        "", finish_reason="content_filter", refusal=f"The content filter refused it: {words}"
    )
    return script.replied(what, digest, [said] * script.spec.sampling.samples, None, tokens)


def model_named(body: bytes) -> str:
    """Return how a reply names its model, "" where it does not."""
    answer = decoded(body)
    return (_words(answer.get("model")) or "") if isinstance(answer, dict) else ""


def n_choices(body: bytes) -> int:
    """Return how many samples a completion has."""
    answer = decoded(body)
    choices = answer.get("choices") if isinstance(answer, dict) else None
    return len(choices) if isinstance(choices, list) else 0


def joined(bodies: Sequence[bytes]) -> bytes:
    """Return one completion of the choices of several, with the sum of their tokens.

    It names the model as the first that differs from the first of them does, so that no reply of another
    model goes unseen.
    """
    answers = [decoded(body) for body in bodies]
    named = [model for answer in answers if (model := answer.get("model"))]
    other = next((model for model in named if model != named[0]), named[0] if named else None)
    counts = [usage(answer) for answer in answers]
    return json.dumps(
        {
            "model": other,
            "choices": [choice for answer in answers for choice in answer["choices"]],
            "usage": {
                "prompt_tokens": sum(read for read, _ in counts),
                "completion_tokens": sum(written for _, written in counts),
            },
        }
    ).encode()


def broken(body: bytes) -> str | None:
    """Why a body with status 200 is no answer, though another try may bring one; None if it is one.

    It is no JSON (a page of HTML, half of an answer, nothing), or an error. That a prompt is too long
    is no reason to try again.
    """
    answer = decoded(body)
    if answer is None:
        return "The answer is not JSON." if body.strip() else "The answer is empty."
    choice = _first(answer, "choices")
    errors = [answer.get("error")] if isinstance(answer, dict) else []
    if isinstance(choice, dict):
        errors += [choice.get("error"), choice.get("finish_reason") == "error"]
    if not any(errors) or says_too_long(_text(body)):
        return None
    return "The answer is an error, with status 200."


def read(
    script: Script[What, Came], what: What, digest: str, body: bytes, hushed: Callable[[str], str]
) -> Came:
    """What a body comes to that came with status 200, whatever it is.

    `hushed` takes out of the server's words what must not be kept.
    """
    answer = decoded(body)
    tokens = usage(answer)
    said = said_in(script.spec, answer, body, hushed)
    if isinstance(said, NoReply):
        return script.failed(what, digest, said.failure, said.why, said.raw, tokens)
    logprobs = _logprobs(_first(answer, "choices"))
    return script.replied(what, digest, said, logprobs, tokens)


class NoReply(NamedTuple):
    """Why there is no reply in an answer, and what there is instead."""

    failure: Failure
    why: str
    raw: str


def said_in(
    spec: Asked, answer: Any, body: bytes, hushed: Callable[[str], str]
) -> list[Said] | NoReply:
    """The samples in an answer, as many as were asked for, or why there is no reply in it."""
    named = _words(answer.get("model")) if isinstance(answer, dict) else None
    if named and not is_model_of(spec, named):
        why = f"The reply names the model {named}, and {spec.model} was asked."
        return NoReply(Failure.OTHER_MODEL, why, hushed(_text(body)))
    samples = spec.sampling.samples
    choices = answer.get("choices") if isinstance(answer, dict) else None
    found = (
        [_said(choice, hushed) for choice in choices[:samples]] if isinstance(choices, list) else []
    )
    said = [each for each in found if each is not None]
    if not said or len(said) < len(found):
        return _malformed(answer, hushed(_text(body)))
    if longest := oversized(each.words for each in said):
        return NoReply(Failure.OVERSIZED, TOO_MANY_CHARACTERS, hushed(longest))
    if len(said) < samples:
        why = f"The answer has {len(said)} of the {samples} samples that were asked for."
        return NoReply(Failure.MALFORMED, why, said[0].words)
    return said


def _said(choice: Any, hushed: Callable[[str], str]) -> Said | None:
    message = choice.get("message") if isinstance(choice, dict) else None
    content = _content(message.get("content")) if isinstance(message, dict) else None
    if content is None or not isinstance(message, dict):
        return None
    refusal = _words(message.get("refusal"))
    return Said(
        content if len(content) > RAW_LIMIT else hushed(content),
        hushed(_reasoning(message)),
        _words(choice.get("finish_reason")),
        hushed(refusal) if refusal else None,
    )


def has_logprobs(body: bytes) -> bool:
    """Whether a completion tells log-probabilities of its first token."""
    choice = _first(decoded(body), "choices")
    logprobs = _logprobs(choice) if isinstance(choice, dict) else None
    return bool(logprobs and logprobs.alternatives(0))


def usage(answer: Any) -> tuple[int, int]:
    """Tokens read and written, 0 where the server does not tell."""
    counts = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(counts, dict):
        return 0, 0
    return _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _malformed(answer: Any, words: str) -> NoReply:
    if answer is None:
        why = "The answer is not JSON." if words.strip() else "The answer is empty."
    elif isinstance(answer, dict) and answer.get("error"):  # llama.cpp sent some with status 200
        if says_too_long(words):
            return NoReply(Failure.TOO_LONG, "The prompt does not fit the model.", words)
        why = "The answer is an error, with status 200."
    else:
        why = "The answer has no choices[0].message with a content that is text."
    return NoReply(Failure.MALFORMED, why, words)


def _first(holder: Any, name: str) -> Any:
    values = holder.get(name) if isinstance(holder, dict) else None
    return values[0] if isinstance(values, list) and values else None


def _content(content: Any) -> str | None:
    """The text of a message, which some servers send in parts; None if it is something else."""
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part["text"] for part in content if "text" in part]  # others are its thoughts
        return "".join(texts) if all(isinstance(text, str) for text in texts) else None
    return content if isinstance(content, str) else None


def _reasoning(message: dict[str, Any]) -> str:
    """What the model thought, as servers tell it: vLLM called it reasoning_content, then reasoning."""
    return _words(message.get("reasoning_content")) or _words(message.get("reasoning")) or ""


def _words(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return value if usable else 0


class _Logprobs:
    """`choices[0].logprobs.content` of a chat completion, whatever a server puts there."""

    def __init__(self, content: list[Any]) -> None:
        self._content = [entry if isinstance(entry, dict) else {} for entry in content]

    def tokens(self) -> list[str | bytes]:
        return [_generated(entry) for entry in self._content]

    def alternatives(self, position: int) -> list[tuple[str, float]]:
        entry = self._content[position]
        others = entry.get("top_logprobs")
        entries = [_token(other) for other in others] if isinstance(others, list) else []
        chosen = _token(entry)
        if all(other is None or chosen is None or other[0] != chosen[0] for other in entries):
            entries.append(chosen)
        return [other for other in entries if other is not None]


def _logprobs(choice: Any) -> _Logprobs | None:
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    return _Logprobs(content) if isinstance(content, list) and content else None


def _generated(entry: dict[str, Any]) -> str | bytes:
    """A token, by its bytes where its text alone is half of a character."""
    token, sent = entry.get("token"), entry.get("bytes")
    token = token if isinstance(token, str) else ""
    if "\N{REPLACEMENT CHARACTER}" in token and isinstance(sent, list):
        with suppress(TypeError, ValueError):
            return bytes(sent)
    return token


def _token(entry: Any) -> tuple[str, float] | None:
    if not isinstance(entry, dict):
        return None
    token, value = entry.get("token"), entry.get("logprob")
    return (token, value) if isinstance(token, str) and isinstance(value, int | float) else None

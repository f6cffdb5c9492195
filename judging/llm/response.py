"""Parsing of chat completion bodies: samples, errors, usage, log-probabilities."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from judging.llm.chat_task import (
    NO_TOKENS,
    TOO_MANY_CHARACTERS,
    ChatTask,
    Item,
    Result,
    Tokens,
    oversized,
)
from judging.llm.completion import RAW_LIMIT, Completion
from judging.llm.errors import Failure
from judging.llm.model_names import is_model_of
from judging.llm.sampling import RequestedModel
from judging.llm.server import decoded, error_in

_LARGEST_COUNT = 2**31 - 1

# vLLM and OpenAI; SGLang; llama.cpp; text-generation-inference.
_TOO_LONG = re.compile(
    r"maximum context length|context_length_exceeded|longer than the model's context length"
    r"|exceed_context_size|exceeds? the (?:available )?context|`inputs` tokens"
    r"|max_tokens must be at least 1, got 0"  # vLLM, where the prompt fills the window exactly
    r"|longer than the maximum model length|maximum input length of"  # vLLM of other versions
    # OpenAI, of a prompt above the tokens of a minute; Groq and Cerebras.
    r"|request too large for|reduce the length of the (?:messages|input|prompt)"
    # Anthropic and Ollama; Gemini; xAI; Bedrock.
    r"|prompt (?:is )?too long|exceed context limit|input token count (?:\([0-9]+\) )?exceeds"
    r"|maximum prompt length|input is too long for requested model"
    # LM Studio; Moonshot; DashScope; Cohere.
    r"|context length of only|greater than the context length|exceeded model token limit"
    r"|range of input length should be|tokens in the prompt cannot exceed",
    re.IGNORECASE,
)
# Groq, Anthropic's and Mistral's gateways; Gemini; llama.cpp: one reply to a message, or not so many.
_SINGLE_SAMPLE = re.compile(
    r"(?:['\"`]n['\"`]|\bn\b)(?: *:)? *(?:number )?"
    r"(?:must be|should be|has to be|is not|> ?1|other than 1)"
    r"|(?:multiple|several) (?:choices|completions|samples|candidates)"
    r"|only (?:one|1|a single) (?:choice|completion|candidate)"
    r"|candidate_?count (?:must|value)|n_cmpl cannot be",
    re.IGNORECASE,
)
_LOGPROBS = re.compile(
    r"log_?probs?\b|logprob_token_ids|top_n_tokens|return_tokens_as_token_ids", re.IGNORECASE
)


# Gemini's names of a filter, alone or behind OpenAI's: SAFETY, "content_filter: RECITATION"; Anthropic's;
# Bedrock's; Zhipu's.
_FILTERED = re.compile(
    r"content_filter(?::|\Z)|(?:SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII"
    r"|refusal|content_filtered|guardrail_intervened|sensitive)\Z",
    re.IGNORECASE,
)
# Codes or types of a filter's error: OpenAI, Azure and Moonshot; DashScope; Volcengine.
_FILTER_CODE = re.compile(
    r"content_filter|content_policy_violation|data_inspection_failed|\w*SensitiveContentDetected(?:\.\w+)?",
    re.IGNORECASE,
)
# Its words where there is no such code: DeepSeek; Anthropic; OpenAI's reasoning models; xAI.
_FILTER_WORDS = re.compile(
    r"\s*(?:Content Exists Risk|Output blocked by content filtering policy"
    r"|Invalid prompt: your prompt was flagged|Content violates usage guidelines)",
    re.IGNORECASE,
)
# Why a reply is not whole, in OpenAI's and vLLM's words, by the names that other services have for it.
_NOT_WHOLE = {
    "max_tokens": "length",  # Anthropic, Gemini, Bedrock
    "max_output_tokens": "length",
    "model_length": "abort",  # Mistral: the model's window is full
    "model_context_window_exceeded": "abort",  # Anthropic
    "insufficient_system_resource": "abort",  # DeepSeek
    "network_error": "error",  # Zhipu
}

# OpenAI's codes and words; pydantic's, so vLLM's; others'.
_PARAMETER = re.compile(
    r"unsupported_(?:parameter|value)|(?:parameter|value): '[\w.]+' (?:is not supported|does not support)"
    r"|extra_forbidden|extra inputs are not permitted|unrecognized request argument|unknown parameter"
    r"|`?top_p`? (?:must be >|cannot both be)|cannot both be specified"
    r"|`\w+` is deprecated for this model"  # Anthropic
    # Gemini; xAI; Groq; LiteLLM; Bedrock; Cohere.
    r"|unknown name|argument not supported|property '[\w.]+' is unsupported|does not support parameters?\b"
    r"|is not supported (?:with|by) this model|extraneous key \[\w+\]|is not a valid field"
    # A limit that is too high or low: DeepSeek; OpenAI and Groq; Anthropic; Gemini.
    r"|invalid max_tokens value|integer below minimum value"
    r"|max_(?:completion_)?tokens[`']? (?:is too large|must be less than)"
    r"|max_tokens: [0-9]+ > [0-9]+|maxOutputTokens value of",
    re.IGNORECASE,
)


def says_too_long(message: str) -> bool:
    """Return whether a server's message says that the prompt does not fit the model."""
    return _TOO_LONG.search(message) is not None


def names_logprobs(message: str) -> bool:
    """Return whether a server's message is about the request for log-probabilities."""
    return _LOGPROBS.search(message) is not None


def names_a_parameter(message: str) -> bool:
    """Return whether a server's message rejects a parameter, whatever the pair."""
    return _PARAMETER.search(message) is not None


def names_several_samples(message: str) -> bool:
    """Return whether a server's message says that it gives one reply to a message."""
    return _SINGLE_SAMPLE.search(message) is not None


def is_filtered(answer: Any) -> bool:
    """Return whether an error says that a content filter refused the prompt.

    By its code or type, as of OpenAI and Azure, by the details of OpenRouter's moderation, or by how its
    message begins. `answer` is the body as JSON, or the error in it.
    """
    error = error_in(answer)
    if not isinstance(error, dict):
        return False
    inner, details = error.get("innererror"), error.get("metadata")
    codes = (str(error.get("code")), str(error.get("type")))
    message = error.get("message") or error.get("error")  # xAI has no object
    return (
        any(_FILTER_CODE.fullmatch(code) for code in codes)
        or (isinstance(message, str) and _FILTER_WORDS.match(message) is not None)
        or (isinstance(inner, dict) and inner.get("code") == "ResponsibleAIPolicyViolation")
        or (isinstance(details, dict) and "flagged_input" in details)
    )


def refused(
    chat_task: ChatTask[Item, Result],
    item: Item,
    digest: str,
    message: str,
    tokens: Tokens = NO_TOKENS,
) -> Result:
    """Return the result for a prompt that a content filter refused.

    `message` is the server's message.
    """
    completion = Completion(
        "", finish_reason="content_filter", refusal=f"The content filter refused it: {message}"
    )
    return chat_task.replied(
        item, digest, [completion] * chat_task.spec.sampling.samples, None, tokens
    )


def model_named(body: bytes) -> str:
    """Return the name of the model in a reply, "" if it has none."""
    answer = decoded(body)
    return (_text_or_none(answer.get("model")) or "") if isinstance(answer, dict) else ""


def n_choices(body: bytes) -> int:
    """Return how many samples a completion has."""
    answer = decoded(body)
    choices = answer.get("choices") if isinstance(answer, dict) else None
    return len(choices) if isinstance(choices, list) else 0


def joined(bodies: Sequence[bytes]) -> bytes:
    """Join several completions into one, with the sum of their tokens.

    It names the model as the first that differs from the first of them does, so that no reply of another
    model goes unseen.
    """
    answers = [decoded(body) for body in bodies]
    names = [model for answer in answers if (model := answer.get("model"))]
    name = next((model for model in names if model != names[0]), names[0] if names else None)
    counts = [usage(answer) for answer in answers]
    return json.dumps(
        {
            "model": name,
            "choices": [choice for answer in answers for choice in answer["choices"]],
            "usage": {
                "prompt_tokens": sum(read for read, _ in counts),
                "completion_tokens": sum(written for _, written in counts),
            },
        }
    ).encode()


def broken(body: bytes) -> str | None:
    """Return why a body with status 200 is no answer; None if it is one.

    Another try may bring an answer. It is no JSON (a page of HTML, half of an answer, nothing), or an
    error. That a prompt is too long is no reason to try again.
    """
    answer = decoded(body)
    if answer is None:
        return "The answer is not JSON." if body.strip() else "The answer is empty."
    if not _has_error(answer) or says_too_long(_text(body)):
        return None
    return "The answer is an error, with status 200."


def _has_error(answer: Any) -> bool:
    """Return whether an answer or one of its choices is an error, alone or beside a reply."""
    if not isinstance(answer, dict):
        return False
    choices = answer.get("choices")
    holders = [answer, *(choices if isinstance(choices, list) else [])]
    return any(
        holder.get("error") or _finish_reason(holder) == "error"
        for holder in holders
        if isinstance(holder, dict)
    )


def status_named(body: bytes) -> int:
    """Return the HTTP status that an error within a body of status 200 names; else 0.

    OpenRouter sends such errors, and LM Studio for a path that it does not have.
    """
    answer = decoded(body)
    for holder in (answer, _first(answer, "choices")):
        error = holder.get("error") if isinstance(holder, dict) else None
        if isinstance(error, str) and error.startswith("Unexpected endpoint or method"):
            return 404
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int | str) and re.fullmatch(r"[45][0-9]{2}", str(code)):
            return int(code)
    return 0


def read(
    chat_task: ChatTask[Item, Result],
    item: Item,
    digest: str,
    body: bytes,
    hushed: Callable[[str], str],
) -> Result:
    """Return the result for a body that came with status 200.

    `hushed` takes out of the server's words what must not be kept.
    """
    answer = decoded(body)
    tokens = usage(answer)
    completions = completions_in(chat_task.spec, answer, body, hushed)
    if isinstance(completions, NoReply):
        return chat_task.failed(
            item, digest, completions.failure, completions.reason, completions.raw, tokens
        )
    logprobs = _logprobs(_first(answer, "choices"))
    return chat_task.replied(item, digest, completions, logprobs, tokens)


class NoReply(NamedTuple):
    """Reason why an answer holds no reply, with the raw answer."""

    failure: Failure
    reason: str
    raw: str


def completions_in(
    spec: RequestedModel, answer: Any, body: bytes, hushed: Callable[[str], str]
) -> list[Completion] | NoReply:
    """Return the samples in an answer, as many as requested, or a NoReply."""
    reply_model = _text_or_none(answer.get("model")) if isinstance(answer, dict) else None
    if reply_model and not is_model_of(spec, reply_model):
        detail = f"The reply names the model {reply_model}, and {spec.model} was asked."
        return NoReply(Failure.OTHER_MODEL, detail, hushed(_text(body)))
    if _has_error(answer):
        return _malformed(answer, hushed(_text(body)))
    samples = spec.sampling.samples
    choices = answer.get("choices") if isinstance(answer, dict) else None
    parsed = (
        [_completion(choice, hushed) for choice in choices[:samples]]
        if isinstance(choices, list)
        else []
    )
    completions = [completion for completion in parsed if completion is not None]
    if not completions or len(completions) < len(parsed):
        return _malformed(answer, hushed(_text(body)))
    if longest := oversized(completion.text for completion in completions):
        return NoReply(Failure.OVERSIZED, TOO_MANY_CHARACTERS, hushed(longest))
    if len(completions) < samples:
        detail = f"The answer has {len(completions)} of the {samples} samples that were asked for."
        return NoReply(Failure.MALFORMED, detail, completions[0].text)
    return completions


def _completion(choice: Any, hushed: Callable[[str], str]) -> Completion | None:
    message = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(choice, dict) and _finish_reason(choice) == "content_filter":
        message = message or {}  # which Gemini leaves out
    content = _content(message.get("content")) if isinstance(message, dict) else None
    if content is None or not isinstance(message, dict):
        return None
    refusal = _text_or_none(message.get("refusal"))
    return Completion(
        content if len(content) > RAW_LIMIT else hushed(content),
        hushed(_reasoning(message)),
        _finish_reason(choice),
        hushed(refusal) if refusal else None,
    )


def _finish_reason(choice: dict[str, Any]) -> str | None:
    """Return why a choice ended, in OpenAI's words where a service has its own."""
    reason = _text_or_none(choice.get("finish_reason"))
    if reason and _FILTERED.match(reason):
        return "content_filter"
    return _NOT_WHOLE.get(reason.casefold(), reason) if reason else None


def has_logprobs(body: bytes) -> bool:
    """Return whether a completion has log-probabilities of its first token."""
    choice = _first(decoded(body), "choices")
    logprobs = _logprobs(choice) if isinstance(choice, dict) else None
    return bool(logprobs and logprobs.alternatives(0))


def usage(answer: Any) -> tuple[int, int]:
    """Return the tokens read and written, 0 where the server does not tell."""
    counts = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(counts, dict):
        return 0, 0
    return _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _malformed(answer: Any, text: str) -> NoReply:
    if answer is None:
        detail = "The answer is not JSON." if text.strip() else "The answer is empty."
    elif _has_error(answer):  # llama.cpp sent some with status 200
        if says_too_long(text):
            return NoReply(Failure.TOO_LONG, "The prompt does not fit the model.", text)
        detail = "The answer is an error, with status 200."
    else:
        detail = "The answer has no choices[0].message with a content that is text."
    return NoReply(Failure.MALFORMED, detail, text)


def _first(holder: Any, name: str) -> Any:
    values = holder.get(name) if isinstance(holder, dict) else None
    return values[0] if isinstance(values, list) and values else None


def _content(content: Any) -> str | None:
    """Return the text of a message, which some servers send in parts; None if it is no text."""
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part["text"] for part in content if "text" in part]  # others are its thoughts
        return "".join(texts) if all(isinstance(text, str) for text in texts) else None
    return content if isinstance(content, str) else None


def _reasoning(message: dict[str, Any]) -> str:
    """Return the reasoning of a message.

    vLLM called it reasoning_content, then reasoning; Mistral sends it as parts of the content.
    """
    return (
        _text_or_none(message.get("reasoning_content"))
        or _text_or_none(message.get("reasoning"))
        or _thinking_parts(message.get("content"))
    )


def _thinking_parts(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    thinking = [part.get("thinking") for part in parts if isinstance(part, dict)]
    return "".join(_content(part) or "" for part in thinking if isinstance(part, list | str))


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return value if usable else 0


class _Logprobs:
    """Log-probabilities in `choices[0].logprobs.content` of a chat completion.

    Anything that a server puts there is accepted.
    """

    def __init__(self, content: list[Any]) -> None:
        self._content = [entry if isinstance(entry, dict) else {} for entry in content]

    def tokens(self) -> list[str | bytes]:
        return [_generated(entry) for entry in self._content]

    def alternatives(self, position: int) -> list[tuple[str, float]]:
        entry = self._content[position]
        top = entry.get("top_logprobs")
        entries = [_token(alternative) for alternative in top] if isinstance(top, list) else []
        chosen = _token(entry)
        if all(
            alternative is None or chosen is None or alternative[0] != chosen[0]
            for alternative in entries
        ):
            entries.append(chosen)
        return [alternative for alternative in entries if alternative is not None]


def _logprobs(choice: Any) -> _Logprobs | None:
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    return _Logprobs(content) if isinstance(content, list) and content else None


def _generated(entry: dict[str, Any]) -> str | bytes:
    """Return a token, as bytes where its text alone is half of a character."""
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

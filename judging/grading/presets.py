"""Request presets of server families, with which a new judge can begin.

A preset fills in a form and is no part of a judge; what it filled in is. The rules are those of each
server's documentation, in the words of `note`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judging.llm.sampling import Sampling

THINKING_TOKENS = 8_000  # for thoughts and reply together


@dataclass(frozen=True)
class Preset:
    """Parameters for a family of servers. In `extra`, null leaves a parameter out.

    `renames_max_tokens`: the limit is sent as max_completion_tokens. `tokens` is the limit at least.
    """

    title: str
    note: str
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = 0
    logprobs: bool = True
    tokens: int = 1
    parser: str = ""
    renames_max_tokens: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def sampling(self, max_tokens: int) -> Sampling:
        """Return the sampling of a judge that needs so many tokens of reply."""
        tokens = max(max_tokens, self.tokens)
        extra = dict(self.extra)
        if self.renames_max_tokens:
            extra |= {"max_tokens": None, "max_completion_tokens": tokens}
        return Sampling(self.temperature, self.top_p, tokens, self.seed, self.logprobs, extra)


PRESETS: Mapping[str, Preset] = {
    "vllm": Preset("vLLM, SGLang, llama.cpp", "Takes everything: one token and its probabilities."),
    "vllm-no-think": Preset(
        "vLLM with Qwen3 or another that may think, told not to",
        "The chat template is told not to open a thought, so one token is enough.",
        extra={"chat_template_kwargs": {"enable_thinking": False}},
    ),
    "vllm-think": Preset(
        "vLLM with Qwen3, DeepSeek-R1 or another that thinks",
        "Its thoughts come between tags or beside the reply, and count as tokens. Its makers advise "
        "against temperature 0. The first token is one of its thoughts, so there are no probabilities.",
        temperature=0.6,
        top_p=0.95,
        logprobs=False,
        tokens=THINKING_TOKENS,
        parser="after-think-1",
    ),
    "openai": Preset(
        "OpenAI: GPT-4.1, GPT-4o",
        "The limit is called max_completion_tokens. Probabilities come for the 20 likeliest tokens.",
        renames_max_tokens=True,
    ),
    "openai-reasoning": Preset(
        "OpenAI: GPT-5, o-series",
        "Takes max_completion_tokens, which hidden reasoning is counted in, and no temperature or top p "
        "but 1; tells no probabilities. Replies vary from one asking to the next.",
        seed=None,
        logprobs=False,
        tokens=THINKING_TOKENS,
        renames_max_tokens=True,
        extra={"temperature": None, "top_p": None},
    ),
    "anthropic": Preset(
        "Anthropic: Claude, by its OpenAI-compatible address",
        "It ignores seed, probabilities and response_format, and newer models take only one of "
        "temperature and top p.",
        seed=None,
        logprobs=False,
        tokens=16,
        extra={"top_p": None},
    ),
    "anthropic-no-sampling": Preset(
        "Anthropic: Claude Opus 4.7 and later, by its OpenAI-compatible address",
        "These models refuse temperature and top p, so neither is sent. Replies vary from one asking to the "
        "next. It ignores seed, probabilities and response_format.",
        seed=None,
        logprobs=False,
        tokens=16,
        extra={"temperature": None, "top_p": None},
    ),
    "gemini": Preset(
        "Google Gemini, by its OpenAI-compatible address",
        "It refuses a seed, and gives no probabilities. Thoughts count as tokens of the reply: "
        'reasoning_effort, such as "none" or "low", in the further settings limits them.',
        seed=None,
        logprobs=False,
        tokens=THINKING_TOKENS,
    ),
    "mistral": Preset(
        "Mistral",
        "The seed is called random_seed. It refuses parameters that it does not know, and gives no "
        "probabilities.",
        seed=None,
        logprobs=False,
        extra={"random_seed": 0},
    ),
    "tgi": Preset(
        "Text Generation Inference (TGI)",
        "Top p must be below 1, so it is left out; probabilities come for the 5 likeliest tokens. It "
        "replies under its model's own name, whatever it is asked for: Ask the server fills that name in.",
        tokens=2,
        extra={"top_p": None, "top_logprobs": 5},
    ),
}


def rating_schema(grades: Sequence[int]) -> dict[str, Any]:
    """Return the JSON schema of an object with a reason, then a rating, for rating-json-2."""
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "rating": {"type": "integer", "enum": list(grades)},
        },
        "required": ["reason", "rating"],
        "additionalProperties": False,
    }


CONSTRAINTS: Mapping[str, str] = {
    "choice": "one of the grades: structured_outputs, vLLM from 0.12",
    "guided-choice": "one of the grades: guided_choice, vLLM before 0.12",
    "json-schema": "JSON with reason and rating: response_format of OpenAI and vLLM",
    "json-tgi": "JSON with reason and rating: response_format of TGI",
}


def constraint(name: str, grades: Sequence[int]) -> dict[str, Any]:
    """Return the request parameters that constrain the form of the reply. Raises KeyError."""
    labels, schema = [str(grade) for grade in grades], rating_schema(grades)
    named_schema = {"name": "rating", "strict": True, "schema": schema}
    forms: dict[str, dict[str, Any]] = {
        "choice": {"structured_outputs": {"choice": labels}},
        "guided-choice": {"guided_choice": labels},
        "json-schema": {"response_format": {"type": "json_schema", "json_schema": named_schema}},
        "json-tgi": {"response_format": {"type": "json", "value": schema}},
    }
    return forms[name]

"""Presets of model servers (URL, key header, query) for the form of an endpoint.

`request_presets` names the entries of PRESETS whose request parameters suit the server. The notes follow each
server's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerPreset:
    """A kind of server. An upper-case word of `url` is to be replaced.

    `list_key_header` carries the key where the model list wants another header than chats; "" for the same.
    `limit` is the request parameter that bounds the reply's tokens.
    """

    title: str
    url: str
    note: str
    key_header: str = "bearer"
    list_key_header: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    limit: str = "max_tokens"
    needs_key: bool = True
    request_presets: tuple[str, ...] = ()


SERVER_PRESETS: Mapping[str, ServerPreset] = {
    "openai": ServerPreset(
        "OpenAI",
        "https://api.openai.com/v1",
        "Newer models take max_completion_tokens in place of max_tokens. Reasoning models take no temperature "
        "but the default and give no log-probabilities.",
        limit="max_completion_tokens",
        request_presets=("openai", "openai-reasoning"),
    ),
    "azure": ServerPreset(
        "Azure OpenAI",
        "https://RESOURCE.openai.azure.com/openai/deployments/DEPLOYMENT",
        "The key goes into the header api-key, and every request needs api-version. The deployment in the URL "
        "chooses the model; replies may name the model behind it. A deployment's URL lists no models: enter "
        "one to test the connection.",
        key_header="api-key",
        params={"api-version": "2024-10-21"},
        request_presets=("openai", "openai-reasoning"),
    ),
    "anthropic": ServerPreset(
        "Anthropic",
        "https://api.anthropic.com/v1",
        "The OpenAI-compatible layer is meant for tests and comparisons. It ignores seed, log-probabilities "
        "and response_format, and newer models refuse a temperature. The model list wants x-api-key and "
        "anthropic-version.",
        list_key_header="x-api-key",
        headers={"anthropic-version": "2023-06-01"},
        request_presets=("anthropic", "anthropic-no-sampling"),
    ),
    "gemini": ServerPreset(
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "The model list names models as models/NAME: use that form. A seed is refused. Thinking models count "
        "thoughts as tokens of the reply; reasoning_effort limits them.",
        request_presets=("gemini",),
    ),
    "mistral": ServerPreset(
        "Mistral",
        "https://api.mistral.ai/v1",
        "The seed is called random_seed. Unknown parameters are refused (status 422).",
        request_presets=("mistral",),
    ),
    "openrouter": ServerPreset(
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "Models are named PROVIDER/MODEL. Requests are routed among providers, which differ in what they "
        "support: parameters that a provider lacks are ignored, unless provider.require_parameters is set.",
    ),
    "ollama": ServerPreset(
        "Ollama",
        "http://HOST:11434/v1",
        "A key is ignored. The context is that of the server's settings, and longer prompts are cut without an "
        "error: raise it there. Models that think do so within the tokens of the reply: the further setting "
        'reasoning_effort, "none", turns it off.',
        needs_key=False,
    ),
    "vllm": ServerPreset(
        "vLLM",
        "http://HOST:8000/v1",
        "The key is that of --api-key. /tokenize lets the chat template and the token ids of grades be pinned.",
        needs_key=False,
        request_presets=("vllm", "vllm-no-think", "vllm-think"),
    ),
    "sglang": ServerPreset(
        "SGLang",
        "http://HOST:30000/v1",
        "The key is that of --api-key. Thinking models need --reasoning-parser for thoughts beside the reply.",
        needs_key=False,
        request_presets=("vllm",),
    ),
    "tgi": ServerPreset(
        "Text Generation Inference (TGI)",
        "http://HOST:8080/v1",
        "One model a server; it replies under that model's name, whatever it is asked for. Top p must be below "
        "1, and probabilities come for at most 5 tokens.",
        needs_key=False,
        request_presets=("tgi",),
    ),
    "litellm": ServerPreset(
        "LiteLLM proxy",
        "http://HOST:4000/v1",
        "The key is a virtual key of the proxy. Models have the names of its configuration. A parameter that "
        "the model behind it lacks is an error, unless the proxy drops it (drop_params).",
    ),
    "llamacpp": ServerPreset(
        "llama.cpp server",
        "http://HOST:8080/v1",
        "The key is that of --api-key. One model is loaded, and any model name is taken; --alias sets the "
        "listed one.",
        needs_key=False,
        request_presets=("vllm",),
    ),
}

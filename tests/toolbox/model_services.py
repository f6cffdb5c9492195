"""Fakes of twelve model services as documented: paths, keys, names, refusals, limits.

`serve(server, service)` makes a ScriptedServer that service. What a service would refuse it refuses here,
with its own form of error.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import web

from tests.toolbox import model_service_answers as answers
from tests.toolbox.scripted_server import completion, models, tokenized

KEY = "sk-service-0123456789"
GRADE = "4"
RATING = json.dumps({"reason": "It names the harbour: 5 of 5 facts.", "rating": int(GRADE)})
CONNECTION_TEST = 100  # characters of a message that asks about no pair, at most


@dataclass(frozen=True)
class Service:
    """Fake of a service.

    `requests` is the preset of request parameters that a judge takes for it, "" for none, and `form` the form
    of the reply, which the service may ignore. `refusal` gives the error of a chat request, None for one that
    is taken; `samples` how many choices come for `n`, or an error. `first` is what the first request about a
    pair is answered with. `no_model` is None where any name of a model is taken.
    """

    preset: str
    model: str
    replies_as: str
    requests: str
    base: str = "/v1"
    lists: tuple[str, ...] | None = None  # None: the model alone; (): no list
    chat_header: tuple[str, str] | None = ("Authorization", f"Bearer {KEY}")
    list_header: tuple[str, str] | None = None  # as for chats
    query: Mapping[str, str] = field(default_factory=dict)
    wrong_key: Callable[[], web.Response] = answers.openai_key
    no_model: Callable[[str], web.Response] | None = answers.openai_model
    refusal: Callable[[dict], web.Response | None] = lambda body: None
    samples: Callable[[int], int | web.Response] = lambda n: n
    first: Callable[[], web.Response] | None = None
    form: str = "json-schema"
    has_form: bool = True
    gives_logprobs: bool = True
    tokenizes: Callable | None = None

    def unauthorised(self, request, header):
        if header and request.headers.get(header[0]) != header[1]:
            return self.wrong_key()
        if any(request.query.get(name) != value for name, value in self.query.items()):
            return answers.openai_error("Resource not found", status=404, code="404")
        return None

    def refused(self, body):
        if self.no_model and body["model"] != self.model:
            return self.no_model(body["model"])
        return self.refusal(body)

    def reply(self, body):
        """Return the completion of a request that is taken, or the refusal of `n` samples."""
        n = self.samples(body.get("n", 1))
        if isinstance(n, web.Response):
            return n
        content = GRADE
        if "response_format" in body:
            content = RATING if self.has_form else f"```json\n{RATING}\n```"
        shares = [{"token": GRADE, "logprob": -0.1}, {"token": "3", "logprob": -2.5}]
        logprobs = {"content": [{**shares[0], "top_logprobs": shares}]}
        gives_logprobs = body.get("logprobs") and self.gives_logprobs
        answer = completion(content, logprobs=logprobs if gives_logprobs else None)
        choices = [answer["choices"][0] | {"index": index} for index in range(n)]
        return web.json_response(answer | {"model": self.replies_as, "choices": choices})


def serve(server, service):
    """Answer as the service does; return the bodies of the chat requests about pairs.

    The list grows as they come.
    """
    bodies = []

    async def listed(request, body):
        refused = service.unauthorised(request, service.list_header or service.chat_header)
        names = (service.model,) if service.lists is None else service.lists
        return refused or await models(*names)(request, body)

    async def chat(request, body):
        if refused := service.unauthorised(request, service.chat_header):
            return refused
        is_pair = len(body["messages"][-1]["content"]) > CONNECTION_TEST
        if is_pair:
            bodies.append(body)
        if service.first and is_pair and len(bodies) == 1:
            return service.first()
        return service.refused(body) or service.reply(body)

    server.answers = {f"{service.base}/chat/completions": chat}
    if service.lists != ():
        server.answers[f"{service.base}/models"] = listed
    if service.tokenizes:
        server.answers["/tokenize"] = service.tokenizes
    return bodies


async def _tokenized_content(request, body):
    """As llama.cpp's /tokenize, which reads `content` alone: no tokens for anything else."""
    return web.json_response({"tokens": [ord(letter) for letter in body.get("content", "")]})


async def _tokenized_text(request, body):
    """As SGLang's /tokenize, which takes no messages."""
    if "prompt" not in body:
        return web.json_response({"object": "error", "message": "Field required"}, status=400)
    return await tokenized(request, body)


def _name(service):
    """Return the preset, with the variant where a service has several."""
    variant = service.requests if service.requests.startswith(f"{service.preset}-") else ""
    return variant or service.preset


SERVICES = {
    _name(service): service
    for service in (
        Service(
            "openai",
            "gpt-4.1",
            "gpt-4.1-2025-04-14",
            "openai",
            refusal=answers.new_openai,
            first=answers.rate_limited(**{"retry-after-ms": "20", "Retry-After": "60"}),
        ),
        Service(
            "openai",
            "gpt-5",
            "gpt-5-2025-08-07",
            "openai-reasoning",
            refusal=answers.reasoning_model,
        ),
        Service(
            "azure",
            "our-judge",
            "gpt-4o-2024-11-20",
            "openai",
            base="/openai/deployments/our-judge",
            lists=(),
            chat_header=("api-key", KEY),
            query={"api-version": "2024-10-21"},
            wrong_key=answers.azure_key,
            no_model=None,
            refusal=answers.loose_schema,
            first=answers.rate_limited(**{"retry-after-ms": "20"}),
        ),
        Service(
            "anthropic",
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "anthropic",
            list_header=("x-api-key", KEY),
            wrong_key=answers.anthropic_key,
            no_model=answers.anthropic_model,
            refusal=answers.anthropic,
            samples=answers.anthropic_samples,
            first=answers.anthropic_busy,
            has_form=False,
            gives_logprobs=False,
        ),
        Service(
            "anthropic",
            "claude-opus-4-7",
            "claude-opus-4-7",
            "anthropic-no-sampling",
            list_header=("x-api-key", KEY),
            wrong_key=answers.anthropic_key,
            no_model=answers.anthropic_model,
            refusal=answers.anthropic_without_sampling,
            samples=answers.anthropic_samples,
            has_form=False,
            gives_logprobs=False,
        ),
        Service(
            "gemini",
            "models/gemini-2.5-flash",
            "gemini-2.5-flash",
            "gemini",
            base="/v1beta/openai",
            wrong_key=answers.gemini_key,
            no_model=answers.gemini_model,
            refusal=answers.gemini,
            samples=answers.gemini_samples,
            first=answers.gemini_busy,
            gives_logprobs=False,
        ),
        Service(
            "mistral",
            "mistral-small-latest",
            "mistral-small-latest",
            "mistral",
            wrong_key=answers.mistral_key,
            no_model=answers.mistral_model,
            refusal=answers.mistral,
            first=answers.mistral_busy,
            gives_logprobs=False,
        ),
        Service(
            "openrouter",
            "meta-llama/llama-3.3-70b-instruct:free",
            "meta-llama/llama-3.3-70b-instruct",
            "",
            base="/api/v1",
            wrong_key=answers.openrouter_key,
            no_model=answers.openrouter_model,
            samples=answers.ignores_samples,
            first=answers.openrouter_busy,
        ),
        Service(
            "ollama",
            "llama3",
            "llama3:latest",
            "",
            lists=("llama3:latest",),
            chat_header=None,
            no_model=answers.ollama_model,
            samples=answers.ignores_samples,
            first=answers.ollama_busy,
        ),
        Service(
            "vllm",
            "Qwen/Qwen3-8B",
            "Qwen/Qwen3-8B",
            "vllm",
            wrong_key=answers.sglang_key,
            no_model=answers.vllm_model,
            tokenizes=tokenized,
        ),
        Service(
            "sglang",
            "Qwen/Qwen3-8B",
            "Qwen/Qwen3-8B",
            "vllm",
            wrong_key=answers.sglang_key,
            no_model=None,
            first=answers.sglang_error,
            tokenizes=_tokenized_text,
        ),
        Service(
            "tgi",
            "tgi",
            "mistralai/Mistral-7B-Instruct-v0.3",
            "tgi",
            no_model=None,
            refusal=answers.tgi,
            samples=answers.ignores_samples,
            first=answers.tgi_busy,
            form="json-tgi",
        ),
        Service(
            "litellm",
            "judge",
            "gpt-4o-mini-2024-07-18",
            "openai",
            wrong_key=answers.litellm_key,
            no_model=answers.litellm_model,
            refusal=answers.litellm,
            first=answers.litellm_busy,
        ),
        Service(
            "llamacpp",
            "qwen3-8b",
            "qwen3-8b",
            "vllm",
            lists=("/models/qwen3-8b.gguf",),
            wrong_key=answers.llamacpp_key,
            no_model=None,
            samples=answers.llamacpp_samples,
            first=answers.llamacpp_busy,
            tokenizes=_tokenized_content,
        ),
    )
}

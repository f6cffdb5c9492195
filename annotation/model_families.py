"""Families of language models, by the names of models. No Django here.

Models of one maker and line are one family: they share training data and preferences. A model that was
fine-tuned from another line has the family of its name, so add it by hand where that is wrong.
"""

from __future__ import annotations

import re

_OWNERS = (
    "ai21|amazon|anthropic|cohere|deepseek|google|meta|microsoft|mistral|moonshot|nvidia|openai|"
    "qwen|xai|zai"
)
# "us.anthropic.claude-3" as Amazon Bedrock writes it, "ft:gpt-4o:team::id" of a fine-tuned model.
_PREFIX = re.compile(rf"(?:ft:)?(?:[a-z]{{2,6}}\.)?(?:(?:{_OWNERS})\.)?")
_TAG = re.compile(r"[:@].*")  # ":free", ":70b", "@20240229"

# The first pattern that begins a name, without its prefix, gives the family.
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("openai-gpt", r"(?:chat)?gpt(?!-?(?:neo|j\b|jt|4all|sw3))|o[1-9](?![a-z0-9])"),
    ("openai-gpt", r"text-(?:davinci|embedding-(?:3|ada))|davinci|codex-"),
    ("claude", r"claude"),
    ("google", r"gemini|(?:code|data|med|shield|t5)?gemma|palm|text-bison|chat-bison"),
    ("llama", r"(?:meta-)?(?:code-?|rank_?)?llama|(?:rank_?)?vicuna"),
    ("qwen", r"qwen|qwq|qvq"),
    (
        "mistral",
        r"(?:open-)?(?:mistral|mixtral|ministral|codestral|pixtral|magistral|devstral)"
        r"|(?:rank_?)?zephyr|e5-mistral",
    ),
    ("deepseek", r"deepseek"),
    ("phi", r"phi-?[0-9]"),
    ("cohere", r"command(?![a-z])|c4ai-|aya-|(?:rerank|embed)-(?:english|multilingual|v[0-9])"),
    ("grok", r"grok"),
    ("glm", r"(?:chat)?glm"),
    ("kimi", r"kimi|moonshot"),
    ("minimax", r"minimax|abab"),
    ("yi", r"yi-"),
    ("granite", r"granite"),
    ("nova", r"nova-(?:micro|lite|pro|premier)"),
    ("nemotron", r"nemotron"),
    ("olmo", r"olmo"),
    ("falcon", r"falcon"),
    ("jamba", r"jamba|j2-"),
    ("internlm", r"internlm"),
    ("smollm", r"smollm"),
)
_FAMILIES = tuple((family, re.compile(pattern)) for family, pattern in _PATTERNS)
FAMILIES = tuple(dict.fromkeys(family for family, _ in _PATTERNS))


def family_of(model: str) -> str:
    """Return the family of a model's name: "llama" of meta-llama/Llama-3.3-70B-Instruct.

    Prefixes of providers ("openai/", "azure/", "meta-llama/", folders), case, and tags after a colon or an @
    are ignored. A name that no pattern knows is its own family, without these. "" for no name.
    """
    name = model.strip().rstrip("/").rpartition("/")[2].casefold()
    prefix = _PREFIX.match(name)
    base = name[prefix.end() :] if prefix else name
    for family, pattern in _FAMILIES:
        if pattern.match(base) or pattern.match(name):
            return family
    return _TAG.sub("", name) or name

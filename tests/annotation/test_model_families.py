"""Families of models, by their names."""

import pytest

from annotation.model_families import FAMILIES, family_of

NAMES = {
    "openai-gpt": """
        gpt-4o openai/gpt-4.1-mini azure/gpt-4o gpt-oss-120b o1 o3-mini o4-mini-2025-04-16 GPT-4
        chatgpt-4o-latest gpt-4-0613 ft:gpt-4o-mini:team::x text-embedding-3-large text-davinci-003
    """,
    "claude": """
        claude-opus-4-7 anthropic/claude-3.5-sonnet us.anthropic.claude-3-5-sonnet-20240620-v1:0
        vertex_ai/claude-3@20240229
    """,
    "google": "gemini-2.5-pro google/gemma-3-27b-it models/gemini-1.5-pro-002 codegemma-7b",
    "llama": """
        meta-llama/Llama-3.3-70B-Instruct meta-llama-3.1-8b-instruct meta.llama3-70b-instruct-v1:0
        llama33_70b llama3:70b codellama/CodeLlama-34b castorini/rank_vicuna_7b_v1 /models/llama-3/
    """,
    "qwen": "Qwen/Qwen3-8B qwq-32b qwen2.5:7b",
    "mistral": """
        mistralai/Mixtral-8x7B-v0.1 mistral.mistral-large-2407-v1:0 open-mistral-7b ministral-8b
        codestral-latest castorini/rank_zephyr_7b_v1_full intfloat/e5-mistral-7b-instruct
    """,
    "deepseek": "deepseek-ai/DeepSeek-R1 deepseek-chat deepseek.r1-v1:0",
    "phi": "microsoft/phi-4 Phi-3.5-mini-instruct",
    "cohere": "command-r-plus command-a cohere.command-r-v1:0 c4ai-aya-expanse rerank-v3.5",
}


@pytest.mark.parametrize(
    ("name", "family"),
    [(name, family) for family, names in NAMES.items() for name in names.split()],
)
def test_known_name_has_the_family_of_its_line(name, family):
    assert family_of(name) == family
    assert family in FAMILIES


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("BAAI/bge-reranker-v2-m3", "bge-reranker-v2-m3"),
        ("Org/My-Finetune:latest", "my-finetune"),
        ("my-finetune@2", "my-finetune"),
        # Names that only begin like those of a family.
        ("EleutherAI/gpt-neo-2.7B", "gpt-neo-2.7b"),
        ("EleutherAI/gpt-j-6b", "gpt-j-6b"),
        ("o1x", "o1x"),
        ("phind-34b", "phind-34b"),
        ("commander", "commander"),
        ("tinyllama-1.1b", "tinyllama-1.1b"),
        ("bm25", "bm25"),
        (":free", ":free"),
        ("", ""),
        (" / ", ""),
    ],
)
def test_unknown_name_is_its_own_family(name, family):
    assert family_of(name) == family

"""Create a Llama with random weights of a real size, to time judges without a download.

    VLLM_ENV/bin/python -m bench.random_model FOLDER [--size 7b|1b|tiny]

Tokenizer and chat template are those of tests/vllm/tiny_model.py, so that the vocabulary is small and
the rest as large as in a real model. Most of its replies are one of the grades 0 to 5; they mean
nothing. Runs in the environment of vLLM, on a GPU if there is one.
"""

import argparse
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.vllm.tiny_model import make_tokenizer

SEED = 11
# hidden size, size of the feed-forward layer, layers, attention heads, key-value heads
SIZES = {
    "7b": (4_096, 14_336, 32, 32, 8),  # Llama 3.1 8B without its vocabulary of a billion weights
    "1b": (2_048, 8_192, 16, 32, 8),  # Llama 3.2 1B likewise
    "tiny": (64, 128, 2, 2, 2),
}
# A random model would reply with a digit once in a hundred times.
DIGIT_SCALE = 12.0


def make_model(folder: Path, size: str) -> int:
    """Write a model and its tokenizer into a folder; return the number of weights."""
    hidden, feed_forward, layers, heads, key_value_heads = SIZES[size]
    tokenizer = make_tokenizer()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(SEED)
    torch.set_default_dtype(torch.bfloat16)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=feed_forward,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_value_heads,
        max_position_embeddings=4_096,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
        dtype="bfloat16",
    )
    with torch.device(device):
        model = LlamaForCausalLM(config)
    with torch.no_grad():
        for digit in "012345":
            [token] = tokenizer.encode(digit, add_special_tokens=False)
            model.lm_head.weight[token] *= DIGIT_SCALE
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return sum(weights.numel() for weights in model.parameters())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=SIZES, default="7b")
    chosen = parser.parse_args()
    number = make_model(chosen.folder, chosen.size)
    print(f"{chosen.folder}: {number / 1e9:.2f} billion random weights")


if __name__ == "__main__":
    main()

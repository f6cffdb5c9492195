"""Creation of a small language model with random weights, from our demo texts.

    VLLM_ENV/bin/python tests/vllm/tiny_model.py FOLDER

A two-layer Llama with a byte-level BPE tokenizer, in which each digit is one token, and a chat
template. Its grades mean nothing; what matters is that a real server loads it and replies in the
real protocol. One seed, so that the same folder is made everywhere. Runs in the environment of
vLLM, which has torch, transformers and tokenizers; needs no network.
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
SEED = 11
VOCABULARY = 1_024
END = "<|end|>"
ROLES = ["<|system|>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
# A random model would say a digit once in a hundred replies, and the same one to all prompts. With
# these its attention picks out single words, so that which digit it says depends on the whole prompt,
# and some replies still are no grade.
DIGIT_SCALE = 12.0
CONTEXT_SCALE = 6.0
ATTENTION_SCALE = 16.0


def demo_texts() -> list[str]:
    lines = (DEMO / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["contents"] for line in lines]


def make_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END, *ROLES],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(demo_texts(), trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=END)
    wrapped.chat_template = TEMPLATE
    return wrapped


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=4_096,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config).float()
    with torch.no_grad():
        for layer in model.model.layers:
            attention = layer.self_attn
            for weights in (attention.q_proj, attention.k_proj):
                weights.weight *= ATTENTION_SCALE
            for weights in (attention.v_proj, attention.o_proj):
                weights.weight *= CONTEXT_SCALE
        for digit in "012345":
            [token] = tokenizer.encode(digit, add_special_tokens=False)
            model.lm_head.weight[token] *= DIGIT_SCALE
    return model


def main() -> None:
    folder = Path(sys.argv[1])
    tokenizer = make_tokenizer()
    make_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()

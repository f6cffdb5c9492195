"""Create a BERT of some thousand random weights and a word tokenizer. Needs torch."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

VOCABULARY = ["the", "mill", "turned", "in", "may", "ottilie", "marsh", "mended", "wheel"]
SIGNS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
READS = 24  # tokens


def make_encoder(folder: Path) -> Path:
    ids = {token: number for number, token in enumerate([*SIGNS, *VOCABULARY])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(sign, ids[sign]) for sign in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=READS,
    ).save_pretrained(folder)
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(ids),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=READS,
    )
    BertModel(config).save_pretrained(folder)
    return folder

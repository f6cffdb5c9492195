"""Create a T5 of some 60,000 random weights and a word tokenizer. Needs torch.

As that of the real T5 the tokenizer does not know "<", and has the sentinels <extra_id_0> and on.
"""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from building.writing.typed_line import MARKS
from tests.toolbox.training_lines import LINES

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
SENTINELS = [f"<extra_id_{number}>" for number in range(4)]
READS = 512  # tokens, as Flan-T5 says of itself


def without_marks(text: str) -> str:
    for mark in MARKS:
        text = text.replace(mark, " ")
    return text


def make_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.WordLevelTrainer(
        special_tokens=[PAD, END, UNKNOWN, *SENTINELS], show_progress=False
    )
    texts = [" ".join(without_marks(text).split()) for line in LINES for text in line.values()]
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, tokenizer.token_to_id(END))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        additional_special_tokens=SENTINELS,
        model_max_length=READS,
    )


def make_model(folder: Path, seed: int = 3) -> Path:
    tokenizer = make_tokenizer()
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        dropout_rate=0.0,
        tie_word_embeddings=False,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

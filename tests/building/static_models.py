"""Static models in model2vec's format: a tiny one, and a real one from a wheel."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

TINY = {"ferry": (1, 0), "boat": (4, 3), "harbour": (0, 1), "storm": (-1, 0)}


def write_tiny(folder: Path, vectors_of=TINY) -> Path:
    """A vector for each word; others are unknown, and count for nothing."""
    folder.mkdir()
    vocabulary = {"[UNK]": 0, **{token: row for row, token in enumerate(vectors_of, 1)}}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    dimension = len(next(iter(vectors_of.values())))
    vectors = np.array([(0,) * dimension, *vectors_of.values()], dtype=np.float32)
    save_file({"embeddings": vectors}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"normalize": False}))
    return folder


def write_wordllama(folder: Path) -> Path:
    """The weights of wordllama's wheel, of whose code nothing is run."""
    wheel = Path(find_spec("wordllama").origin).parent
    folder.mkdir()
    [vectors] = load_file(wheel / "weights" / "l2_supercat_256.safetensors").values()
    save_file({"embeddings": vectors}, folder / "model.safetensors")
    tokenizer = wheel / "tokenizers" / "l2_supercat_tokenizer_config.json"
    shutil.copy(tokenizer, folder / "tokenizer.json")
    (folder / "config.json").write_text(json.dumps({"normalize": False}))
    return folder

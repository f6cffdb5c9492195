import sys

import pytest

from evaluation.metrics import tokenizers
from evaluation.metrics.tokenizers import default_tokens, tokens_by_name


def test_by_name():
    assert tokens_by_name("words").cutter()("The U.S. mill, again!") == ["us", "mill", "again"]
    assert tokens_by_name("characters").cutter()("五月 ok。") == ["五", "月", "o", "k", "。"]
    tokens = tokens_by_name("jieba")
    # Nothing is stripped or lowered: white space and punctuation are tokens, as in CRUD-RAG's code.
    assert tokens.cutter()("500万元。 OK") == ["500", "万元", "。", " ", "OK"]
    assert str(tokens).startswith("jieba 0.")
    assert str(tokens_by_name("words")) == "words"
    with pytest.raises(ValueError, match="words, characters, jieba"):
        tokens_by_name("letters")


def test_default_tokenizer_follows_the_language(monkeypatch):
    assert default_tokens(["It grinds.", "盐溪"]) == "words"
    assert default_tokens(["盐溪的磨坊 OK"]) == "jieba"
    assert default_tokens([]) == "words"
    monkeypatch.setattr(tokenizers, "has_jieba", lambda: False)
    assert default_tokens(["盐溪的磨坊"]) == "characters"


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)
    tokenizers._jieba.cache_clear()
    with pytest.raises(ModuleNotFoundError):
        tokens_by_name("jieba")
    tokenizers._jieba.cache_clear()

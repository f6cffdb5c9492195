import sys

import pytest

from evaluation.metrics import words
from evaluation.metrics.words import tokens_called, usual_tokens


def test_by_name():
    assert tokens_called("words").cutter()("The U.S. mill, again!") == ["us", "mill", "again"]
    assert tokens_called("characters").cutter()("五月 ok。") == ["五", "月", "o", "k", "。"]
    tokens = tokens_called("jieba")
    # Nothing is stripped or lowered: white space and punctuation are tokens, as in CRUD-RAG's code.
    assert tokens.cutter()("500万元。 OK") == ["500", "万元", "。", " ", "OK"]
    assert str(tokens).startswith("jieba 0.")
    assert str(tokens_called("words")) == "words"
    with pytest.raises(ValueError, match="words, characters, jieba"):
        tokens_called("letters")


def test_what_is_usual_follows_the_language(monkeypatch):
    assert usual_tokens(["It grinds.", "盐溪"]) == "words"
    assert usual_tokens(["盐溪的磨坊 OK"]) == "jieba"
    assert usual_tokens([]) == "words"
    monkeypatch.setattr(words, "has_jieba", lambda: False)
    assert usual_tokens(["盐溪的磨坊"]) == "characters"


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)
    words._jieba.cache_clear()
    with pytest.raises(ModuleNotFoundError):
        tokens_called("jieba")
    words._jieba.cache_clear()

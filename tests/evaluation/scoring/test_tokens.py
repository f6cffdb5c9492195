import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from evaluation.data.corpus import load_corpus
from evaluation.data.selection import SelectionError
from evaluation.scoring import tokens
from evaluation.scoring.tokens import WHITESPACE_WORDS, TokenCounts, tokenizer


class ByLetter:
    """A stand-in for the package: every letter of a text is a token."""

    @staticmethod
    def from_file(file):
        if not Path(file).read_text().startswith("{"):
            raise Exception("expected value at line 1")  # what the package raises
        return ByLetter()

    def encode(self, body, *, add_special_tokens):
        assert add_special_tokens is False
        return SimpleNamespace(ids=list(body))


@pytest.fixture
def package(monkeypatch):
    tokens._from_file.cache_clear()
    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=ByLetter))
    yield
    tokens._from_file.cache_clear()


def test_words(study, django_assert_num_queries):
    counts = TokenCounts(load_corpus(study.dataset), WHITESPACE_WORDS)
    keys = study.keys("ferry-1:0#0", "ferry-1:0#1", "ferry-1:2#2")
    with django_assert_num_queries(1):
        assert list(counts.of(keys).values()) == [14, None, 6]
    # What was counted is not read again, and a text without words is not asked for.
    with django_assert_num_queries(0):
        counts.of(keys)


def test_mean_passage_stands_in(study):
    # 14, 6, 10, 5, 8 and 1 words: 44 / 6 = 7.33.
    counts = TokenCounts(load_corpus(study.dataset), WHITESPACE_WORDS, mean_stands_in=True)
    assert list(counts.of(study.keys("ferry-1:0#0", "ferry-1:0#1")).values()) == [14, 7]


def test_mean_length_without_any_body_is_none(study):
    study.dataset.texts.filter(kind="passage").update(body=None, sha256="")
    counts = TokenCounts(load_corpus(study.dataset), WHITESPACE_WORDS, mean_stands_in=True)
    assert list(counts.of(study.keys("ferry-1:0#0")).values()) == [None]


def test_file(study, package, tmp_path):
    file = tmp_path / "letters.json"
    file.write_text("{}")
    file_tokenizer = tokenizer(str(file))
    # sha256 of the two characters {}.
    assert file_tokenizer.name == "letters.json (sha256 44136fa355b3)"
    counts = TokenCounts(load_corpus(study.dataset), file_tokenizer)
    assert list(counts.of(study.keys("ferry-1:2#2")).values()) == [6 * len("word") + 5]
    file.write_text("{ }")
    assert tokenizer(str(file)) != file_tokenizer


def test_missing_tokenizer_file_is_refused():
    assert tokenizer("words") == tokenizer("") == WHITESPACE_WORDS
    with pytest.raises(SelectionError, match=r"no tokenizer “llama”\. There are: words, or a JSON"):
        tokenizer("llama")


def test_file_that_is_none(package, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("notes")
    with pytest.raises(SelectionError, match="holds no tokenizer: expected value"):
        tokenizer(str(file))


def test_without_the_package(monkeypatch, tmp_path):
    tokens._from_file.cache_clear()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(SelectionError, match="not installed here: pip install tokenizers"):
        tokenizer(str(tmp_path / "a.json"))

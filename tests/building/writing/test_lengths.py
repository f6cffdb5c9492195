"""Lengths as people write them, where a cut text ends, and how much of a context fits."""

import pytest
from hypothesis import given

from building.writing.lengths import (
    Length,
    LengthError,
    Tokenizer,
    cut_at_sentence,
    cut_at_words,
    fill_context,
    length_of,
    matches,
)
from building.writing.sentences import n_words
from building.writing.tasks import shown_passages
from tests.toolbox.text_strategies import any_text

CHARACTERS = Tokenizer("letters", len)


def test_word_count_splits_at_white_space_after_nfkc():
    assert n_words("Die Fähre\u00a0kam\u3000um 3,5 Uhr –\nspät") == 8
    assert n_words(" ") == 0


@pytest.mark.parametrize(
    ("written", "length"),
    [
        # 300 words are about 390 tokens, and half as many again leave room: 585.
        ("words:300", Length(300, 585)),
        ("tokens:512", Length(393, 512)),  # 512 / 1.3 = 393.8
        (" tokens:1 ", Length(1, 1)),
        # Two texts of 2 and 3 words: ceil(2.6) + ceil(3.9) tokens.
        ("match:required", Length(5, 7)),
        ("match:reference", Length(5, 7)),
    ],
)
def test_lengths(written, length):
    assert length_of(written, ["one two", "three four five"]) == length


def test_tokenizer_of_ones_own():
    assert length_of("match:required", ["one two", "three"], CHARACTERS) == Length(3, 12)
    assert length_of("tokens:512", tokenizer=CHARACTERS) == Length(393, 512)


@pytest.mark.parametrize("written", ["words:300", "tokens:5"])
def test_number_matches_nothing(written):
    assert matches(written) == ""
    assert matches("match:required") == "required"


@pytest.mark.parametrize(
    "written", ["", "300", "words:0", "words:-1", "words:100001", "match:other", "words:٣"]
)
def test_invalid_length_is_refused(written):
    for refuses in (length_of, matches):
        with pytest.raises(LengthError, match="is no length"):
            refuses(written)


def test_length_without_texts_to_match_is_refused():
    with pytest.raises(
        LengthError, match="the topic's required texts, and there is no word of them"
    ):
        length_of("match:required", ["", " "])


@pytest.mark.parametrize(
    ("body", "cut"),
    [
        ("One. Two and", "One."),
        ("One. Two.", "One. Two."),
        ("One “two.” Three", "One “two.”"),
        ("One? Two by Dr.", "One?"),
        ("One! On 3. Oktober 2.5", "One!"),
        ("One.\n\n# A heading\nTwo", "One."),
        ("一。二", "一。"),
        ("One and", ""),
        ("", ""),
    ],
)
def test_cut_at_the_last_sentence(body, cut):
    assert cut_at_sentence(body) == cut


@pytest.mark.parametrize(
    ("max_words", "cut"),
    [(0, ""), (1, ""), (2, "One two."), (4, "One two."), (5, "One two. Three four five.")],
)
def test_cut_at_words(max_words, cut):
    assert cut_at_words("One two. Three four five.", max_words) == cut


@given(any_text)
def test_truncated_body_is_a_prefix(body):
    assert body.startswith(cut_at_sentence(body))
    assert body.startswith(cut_at_words(body, 5))
    assert len(cut_at_words(body, 5).split()) <= 5


def test_context_is_filled_from_the_top():
    passages = shown_passages([("a", "x" * 6), ("b", "x" * 26), ("c", "x")])
    assert [len(passage) for passage in passages] == [10, 30, 5]
    for tokens, k, fit in [
        *((9, None, 0), (10, None, 1), (39, None, 1), (40, None, 2), (45, None, 3)),
        *((None, None, 3), (None, 2, 2), (45, 1, 1), (10, 3, 1), (None, 9, 3)),
    ]:
        assert fill_context(passages, tokens=tokens, k=k, tokenizer=CHARACTERS) == fit
    assert fill_context([]) == 0
    # By the estimate: 2 words each are 3 tokens.
    assert fill_context(["[1] x"] * 9, tokens=8) == 2

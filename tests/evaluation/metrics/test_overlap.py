import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import overlap
from evaluation.metrics.overlap import bleu, rouge_l

some_tokens = st.lists(st.sampled_from("abc"), max_size=12)
pairs = st.lists(st.tuples(some_tokens, some_tokens), max_size=6)


def test_bleu_by_hand():
    # "a b c d e" and "a b c d x y": 4 of 5 tokens, 3 of 4 pairs, 2 of 3 triples and 1 of 2 quadruples match.
    # The product is 4/5 x 3/4 x 2/3 x 1/2 = 1/5; 5 tokens for 6: exp(1 - 6/5).
    scores = bleu(["abcde"], ["abcdxy"])
    assert scores.precisions[0] == pytest.approx([4 / 5, 3 / 4, 2 / 3, 1 / 2])
    assert scores.brevity_penalty[0] == pytest.approx(math.exp(-0.2))
    assert scores.without_penalty[0] == pytest.approx(0.2**0.25)
    assert scores.with_penalty[0] == pytest.approx(0.2**0.25 * math.exp(-0.2))


def test_n_gram_matches_as_often_as_both_have_it():
    # "a" three times, once in the reference: 1 of 3, and no pair matches: BLEU is 0, not smoothed.
    scores = bleu(["aaa"], ["ab"])
    assert scores.precisions[0] == pytest.approx([1 / 3, 0, 0, 0])
    assert (scores.without_penalty[0], scores.brevity_penalty[0]) == (0, 1)


def test_too_short_for_an_n_gram_is_0_and_no_token_is_undefined():
    assert bleu(["abc"], ["abc"]).without_penalty[0] == 0
    scores = bleu(["", "a", ""], ["a", "", ""])
    assert np.isnan(scores.precisions).all()
    assert np.isnan(scores.with_penalty).all()
    assert np.isnan(rouge_l(["", "a"], ["a", ""])).all()
    assert bleu([], []).without_penalty.shape == (0,)


def test_rouge_l_by_hand():
    # "a x b y" and "a b z": "a b" is common, 2 of 4 and 2 of 3: F1 = 2 x 2 / 7. Of "b a" 1 is in order.
    assert rouge_l(["axby", "ba", "x"], ["abz", "ab", "y"]) == pytest.approx([4 / 7, 1 / 2, 0])


@pytest.mark.parametrize("function", [bleu, rouge_l])
def test_refuses(function):
    with pytest.raises(ValueError, match="one reference"):
        function(["a"], [])


def test_very_many_different_tokens(monkeypatch):
    scores = bleu(["abcde", "ab"], ["abcdxy", "ab"])
    monkeypatch.setattr(overlap, "_BITS", 3)
    one_by_one = bleu(["abcde", "ab"], ["abcdxy", "ab"])
    assert one_by_one.precisions.tolist() == scores.precisions.tolist()


@given(pairs)
def test_as_plain_loops_count(items):
    generated, references = [ours for ours, _ in items], [theirs for _, theirs in items]
    scores, rouge = bleu(generated, references), rouge_l(generated, references)
    for i, (ours, theirs) in enumerate(items):
        if ours and theirs:
            assert scores.precisions[i] == pytest.approx(plain_precisions(ours, theirs))
            assert rouge[i] == pytest.approx(2 * plain_lcs(ours, theirs) / len(ours + theirs))


def plain_precisions(ours, theirs):
    def grams(tokens, n):
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    matches = [(grams(ours, n) & grams(theirs, n)).total() for n in range(1, 5)]
    return [m / (len(ours) - n) if len(ours) > n else 0 for n, m in enumerate(matches)]


def plain_lcs(a, b):
    before = [0] * (len(b) + 1)
    for token in a:
        row = [0]
        for i, reference_token in enumerate(b):
            row.append(before[i] + 1 if token == reference_token else max(row[-1], before[i + 1]))
        before = row
    return before[-1]

"""evaluation.metrics.bertscore, by vectors of two numbers."""

import numpy as np
import pytest

from evaluation.metrics.bertscore import TokenVectors, bertscore


def text(*vectors: tuple[float, float], but: tuple[int, ...] = ()) -> TokenVectors:
    counts = np.array([position not in but for position in range(len(vectors))], dtype=bool)
    return TokenVectors(np.array(vectors, dtype=np.float32).reshape(-1, 2), counts)


EAST, NORTH, NORTH_EAST = (1, 0), (0, 2), (3, 4)


def test_tokens_have_their_best_matches():
    # (3, 4) has a cosine of 0.6 with the east and of 0.8 with the north.
    scores = bertscore(text(EAST, NORTH_EAST), text(NORTH, NORTH_EAST))
    assert scores.precision == pytest.approx((0.6 + 1) / 2)
    assert scores.recall == pytest.approx((0.8 + 1) / 2)
    assert scores.f1 == pytest.approx(2 * 0.8 * 0.9 / 1.7)


def test_signs_at_the_ends_count_for_nothing_and_may_be_matched():
    # The east is matched by the reference's first sign; the north that begins the generation is not asked.
    scores = bertscore(text(NORTH, EAST, but=(0,)), text(EAST, NORTH, but=(0,)))
    assert scores == pytest.approx((1, 1, 1))
    assert bertscore(text(NORTH, EAST, but=(0,)), text(NORTH)).precision == pytest.approx(0)


def test_text_is_itself_and_its_opposite_is_not():
    assert bertscore(text(EAST, NORTH), text(EAST, NORTH)) == pytest.approx((1, 1, 1))
    assert bertscore(text(EAST), text((-1, 0))) == pytest.approx((-1, -1, -1))
    assert bertscore(text(EAST), text(NORTH)) == pytest.approx((0, 0, 0))


def test_without_a_token_that_counts_there_is_none():
    for ours, theirs in ((text(), text(EAST)), (text(EAST), text(NORTH, but=(0,)))):
        assert all(np.isnan(bertscore(ours, theirs)))


def test_vectors_of_two_models():
    with pytest.raises(ValueError, match="by one model"):
        bertscore(text(EAST), TokenVectors(np.ones((1, 3)), np.ones(1, dtype=bool)))

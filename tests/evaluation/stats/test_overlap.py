import numpy as np
import pytest
from sklearn.metrics import f1_score, jaccard_score

from evaluation.stats.overlap import span_overlap


def test_by_hand():
    # a has characters 0-4, b has 3-7: both 3 and 4, either 0-7, so 2/8. F1 = 2 x 2/(5 + 5).
    result = span_overlap([(0, 5)], [(3, 8)])
    assert (result.f1.value, result.f1.n) == (0.4, 8)
    assert (result.iou.value, result.iou.n, result.meet) == (0.25, 8, True)


def test_spans_that_only_touch_do_not_meet():
    result = span_overlap([(0, 3)], [(3, 6)])
    assert (result.iou.value, result.meet) == (0.0, False)


def test_character_counts_once_however_often_one_rater_marked_it():
    assert span_overlap([(0, 4), (2, 6)], [(0, 6)]).iou.value == 1.0


def test_several_spans_in_any_order():
    # a: 0, 1 and 6, 7; b: 7, 8 and 1. Both: 1 and 7; either: 0, 1, 6, 7, 8. Of a 2/4 are b's, of b
    # 2/3 are a's: their harmonic mean is 2 x 2/(4 + 3).
    result = span_overlap([(6, 8), (0, 2)], [(7, 9), (1, 2)])
    assert result.iou.value == pytest.approx(2 / 5)
    assert result.f1.value == pytest.approx(4 / 7)


def test_neither_highlighted_is_undefined():
    result = span_overlap([], [])
    for estimate in (result.iou, result.f1):
        assert estimate.value is None
        assert estimate.reason == "undefined, because neither rater highlighted anything"
    assert result.meet is None


def test_empty_side_has_no_overlap():
    result = span_overlap([(2, 5)], [])
    assert (result.iou.value, result.iou.n, result.meet) == (0.0, 3, False)
    assert result.f1.value == 0


@pytest.mark.parametrize("seed", range(5))
def test_against_sklearn_on_character_masks(seed):
    generator = np.random.default_rng(seed)
    masks, sides = np.zeros((2, 80), dtype=bool), []
    for mask in masks:
        starts = generator.integers(0, 70, size=3)
        spans = [(int(start), int(start + generator.integers(1, 10))) for start in starts]
        for start, end in spans:
            mask[start:end] = True
        sides.append(spans)
    result = span_overlap(*sides)
    assert result.iou.value == pytest.approx(jaccard_score(masks[0], masks[1]))
    assert result.f1.value == pytest.approx(f1_score(masks[0], masks[1]))
    assert result.meet == bool((masks[0] & masks[1]).any())


@pytest.mark.parametrize("span", [(3, 3), (5, 2), (-1, 4)])
def test_refuses(span):
    with pytest.raises(ValueError, match="0 <= start < end"):
        span_overlap([span], [(0, 1)])

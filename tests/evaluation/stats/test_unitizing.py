"""evaluation.stats.unitizing"""

import numpy as np
import pytest

from evaluation.stats.unitizing import unitised_alpha

# The example of Krippendorff (2004), section 11.6, moved to begin at 0: two observers, 300 units long.
C = [[(75, 145), (220, 250)], [(70, 150), (205, 225), (250, 270)]]
K = [[(30, 90), (150, 200)], [(30, 90), (150, 200)]]


def alpha(readings, lengths=(300,), topics=None):
    return unitised_alpha(readings, lengths, topics or range(len(lengths)))


def test_example_of_the_book():
    # Of category c he has 0.0144 observed and 0.0532 expected, both rounded: 0.7286 here.
    assert alpha([C]).value == pytest.approx(1 - 0.0144 / 0.0532, abs=0.002)
    assert alpha([C]).value == pytest.approx(0.7285, abs=1e-4)
    assert alpha([K]).value == 1


def test_by_hand():
    # Ten characters. A marks 2-4, B marks 3-5: they overlap, starts and ends 1 apart: 2, twice for
    # both orders; neither lies in a gap of the other. Observed: 4 / (2 - 1) / 20 = 0.2.
    # Expected: two units of 2: (2 - 1) / 3 x (16 - 12 + 2) = 2 each. Gaps: 2, 6, 3, 5 long; a unit
    # of 2 fits 1 + 5 + 2 + 4 = 12 times, 4 x 12 = 48 each. 2 x 100 / (20 x 19 - 2 - 2) = 200 / 376.
    estimate = alpha([[[(2, 4)], [(3, 5)]]], (10,))
    assert estimate.value == pytest.approx(1 - 0.2 / (200 / 376))


def test_unit_in_a_gap_disagrees_by_its_length():
    # One marks 2-4, the other nothing: 2 x 4 / 20 = 0.4. Expected: one unit: nothing by units; gaps
    # 2, 6 and 10: 1 + 5 + 9 = 15 places, 4 x 15 = 60: 120 / (380 - 2).
    estimate = alpha([[[(2, 4)], []]], (10,))
    assert estimate.value == pytest.approx(1 - 0.4 / (120 / 378))


def test_gaps_end_at_the_end_of_the_text():
    # The same twice, end to end: gaps 2, 6, 3, 5 twice, four units: 4 x (3 / 3 x 6 + 4 x 24).
    two = alpha([[[(2, 4)], [(3, 5)]]] * 2, (10, 10))
    assert two.value == pytest.approx(1 - (8 / 40) / (2 * 4 * (6 + 96) / (40 * 39 - 8)))


def test_three_readings_and_one_that_is_missing():
    spans = [(1, 4)]
    assert alpha([[spans, spans, spans], [spans, None, spans]], (9, 9)).value == 1
    part = alpha([[spans, None, None], [spans, None, spans]], (9, 9))
    assert (part.n, part.missing) == (1, 1)
    assert part.interval_reason.endswith("fewer than two clusters")


def test_overlapping_spans_are_one_unit_and_touching_ones_two():
    assert alpha([[[(1, 4), (2, 6)], [(1, 6)]]], (9,)).value == 1
    assert alpha([[[(1, 4), (4, 6)], [(1, 6)]]], (9,)).value < 1


def test_without_each_topic_is_what_the_others_give():
    generator = np.random.default_rng(2)
    readings = []
    for _ in range(12):
        cuts = np.sort(generator.choice(60, (3, 4)), axis=1)
        readings.append(
            [
                [(a, b + 1), (c + 2, d + 4)] if b + 1 <= c else [(a, d + 1)]
                for a, b, c, d in cuts.tolist()
            ]
        )
    topics = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    whole = unitised_alpha(readings, [70] * 12, topics)
    leave_one_out = [
        unitised_alpha(
            [reading for reading, of in zip(readings, topics, strict=True) if of != left_out],
            [70] * 9,
            [of for of in topics if of != left_out],
        ).value
        for left_out in range(4)
    ]
    spread = np.sqrt(3 / 4 * ((np.array(leave_one_out) - np.mean(leave_one_out)) ** 2).sum())
    assert whole.high - whole.value == pytest.approx(3.18244631 * spread)


def test_undefined_says_why():
    assert "nobody highlighted" in alpha([[[], []]]).reason
    assert "by two raters" in alpha([[[(1, 2)], None]]).reason
    assert "by two raters" in unitised_alpha([], [], []).reason
    with pytest.raises(ValueError, match="lies in its text of 5"):
        alpha([[[(1, 9)], []]], (5,))
    with pytest.raises(ValueError, match="one length"):
        unitised_alpha([[[], []]], [], [])

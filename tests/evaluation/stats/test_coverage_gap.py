import numpy as np
import pytest

from evaluation.stats.coverage_gap import PRIOR, answerable_by_grade, expected_gap

NAN = np.nan


def test_shares_by_hand():
    # Grade 3: people said yes, no, yes; grade 0: no; grade 5: nobody labelled one. Overall 2 of 4.
    # PRIOR cells of the overall share are added to each: (2 + 1)/(3 + 2), (0 + 1)/(1 + 2), 1/2.
    assert PRIOR == 2
    shares = answerable_by_grade([3, 3, 3, 0, 5, NAN], [1, 0, 1, 0, NAN, 1], [0, 3, 5])
    assert shares.tolist() == pytest.approx([1 / 3, 3 / 5, 1 / 2])


def test_without_a_common_cell_nothing_is_known():
    assert np.isnan(answerable_by_grade([NAN, 3], [1, NAN], [0, 3])).all()


@pytest.mark.parametrize(
    ("judge", "human", "message"),
    [([3], [1, 0], "one share"), ([3], [2], "between 0 and 1"), ([4], [1], "outside the scale")],
)
def test_bad_labels_are_named(judge, human, message):
    with pytest.raises(ValueError, match=message):
        answerable_by_grade(judge, human, [0, 3])


def test_gap_by_hand():
    # Shares: grade 0 -> 1/4, grade 3 -> 1/2. Text 1: grades 3, 0: off 1/2 - 1 and 1/4 - 0, so the
    # bias is -1/8; chance (1/4 + 3/16)/4 = 7/64. Text 2: one rated cell, grade 0: bias 1/4, chance 3/16.
    gaps = expected_gap([[3, 0], [0, NAN], [NAN, NAN]], 3, [1 / 4, 1 / 2], [0, 3])
    assert gaps[0] == pytest.approx(np.sqrt(1 / 64 + 7 / 64))
    assert gaps[1] == pytest.approx(np.sqrt(1 / 16 + 3 / 16))
    assert np.isnan(gaps[2])


def test_judge_that_people_always_follow_leaves_no_gap():
    assert expected_gap([[3, 0]], 3, [0, 1], [0, 3]).tolist() == [0]


def test_gap_without_known_shares_is_nan():
    assert np.isnan(expected_gap([[3, 0]], 3, [NAN, NAN], [0, 3])).all()


def test_grades_are_a_table():
    with pytest.raises(ValueError, match="texts x questions"):
        expected_gap([3, 0], 3, [0, 1], [0, 3])

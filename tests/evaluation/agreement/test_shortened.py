"""Long tables cut to the rows furthest from the mean."""

from evaluation.agreement.shortened import SHOWN, shortened


def test_a_short_table_is_whole():
    found = shortened([1.0, 2.0], float)
    assert (found.rows, found.n, found.is_cut, found.mean) == ((1.0, 2.0), 2, False, None)


def test_of_a_long_one_the_furthest_from_the_mean_stay_in_order():
    # 0 to 99, mean 49.5: the first and the last fifteen are furthest.
    found = shortened(range(100), float)
    assert found.rows == (*range(15), *range(85, 100))
    assert (found.n, found.is_cut, found.mean, len(found.rows)) == (100, True, 49.5, SHOWN)
    assert shortened(range(100), float, everything=True).rows == tuple(range(100))


def test_rows_without_a_value_are_left_out_first():
    rows = [*[None] * 20, *range(25)]
    found = shortened(rows, lambda row: row)
    assert found.rows.count(None) == 5
    assert found.mean == 12
    assert shortened([None] * 40, lambda row: row).mean is None

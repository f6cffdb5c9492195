"""Long tables cut to the rows furthest from the mean."""

from evaluation.agreement.truncation import MAX_ROWS, truncate_rows


def test_short_table_is_whole():
    table = truncate_rows([1.0, 2.0], float)
    assert (table.rows, table.n, table.is_cut, table.mean) == ((1.0, 2.0), 2, False, None)


def test_of_a_long_one_the_furthest_from_the_mean_stay_in_order():
    # 0 to 99, mean 49.5: the first and the last fifteen are furthest.
    table = truncate_rows(range(100), float)
    assert table.rows == (*range(15), *range(85, 100))
    assert (table.n, table.is_cut, table.mean, len(table.rows)) == (100, True, 49.5, MAX_ROWS)
    assert truncate_rows(range(100), float, everything=True).rows == tuple(range(100))


def test_rows_without_a_value_are_left_out_first():
    rows = [*[None] * 20, *range(25)]
    table = truncate_rows(rows, lambda row: row)
    assert table.rows.count(None) == 5
    assert table.mean == 12
    assert truncate_rows([None] * 40, lambda row: row).mean is None

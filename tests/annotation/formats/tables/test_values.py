"""Numbers, grades and words of cells."""

from datetime import date

import pytest

from annotation.formats.tables.cells import BrokenCell, CellProblem, FormattedNumber
from annotation.formats.tables.values import (
    CellError,
    Scale,
    digest,
    is_missing,
    name_of,
    normal,
    number_of,
)

FIVE = Scale.of("five", [(grade, [str(grade)]) for grade in range(6)])
SUPPORT = Scale.of(
    "support",
    [(2, ["support", "Supported"]), (1, ["partial_support", "Partly"]), (0, ["not_support"])],
)
YES = Scale.of("yes", [(0, ["0"]), (1, ["1"])])


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("0.5", ".", 0.5),
        ("0,5", ",", 0.5),
        ("1.234,5", ",", 1234.5),
        ("1,234.5", ".", 1234.5),
        ("1,234,567", ".", 1234567),
        ("1,234", ",", 1.234),
        ("85 %", ".", 0.85),
        ("1e-3", ".", 0.001),
        (FormattedNumber(0.85, "85%"), ".", 0.85),
        ("٣", ".", 3.0),
        ("４", ".", 4.0),
        (True, ".", 1.0),
    ],
)
def test_numbers(cell, decimal, value):
    assert number_of(cell, decimal) == pytest.approx(value)


@pytest.mark.parametrize("cell", ["", "a", "1 2", "inf", "1e999", "0x10", "1,5", float("inf"), [1]])
def test_other_cells_are_no_numbers(cell):
    with pytest.raises(CellError):
        number_of(cell)


def test_ambiguous_comma_is_refused():
    with pytest.raises(CellError, match=r"may be 1204 or 1\.204"):
        number_of("1,204")


@pytest.mark.parametrize("cell", [4, 4.0, "4", "4.0", " 4 ", FormattedNumber(4, "004")])
def test_whole_numbers_are_grades(cell):
    assert FIVE.grade_of(cell) == 4


@pytest.mark.parametrize("cell", [4.5, "4.5", 6, -1, "-1", "- 1", "x", "", True])
def test_other_cells_are_refused_with_the_grades(cell):
    with pytest.raises(CellError, match="0, 1, 2, 3, 4, 5"):
        FIVE.grade_of(cell)


@pytest.mark.parametrize(
    ("cell", "grade"),
    [("Support", 2), ("partial support ", 1), ("NOT-SUPPORT", 0), ("partly", 1), (2, 2)],
)
def test_words_match_names_and_labels(cell, grade):
    assert SUPPORT.grade_of(cell) == grade


def test_ranges_are_names_and_no_other_numbers():
    scale = Scale.of("steps", [(1, ["1"]), (2, ["2-3"]), (23, ["23"])])
    assert [scale.grade_of(cell) for cell in ("2-3", "2 - 3", "23")] == [2, 2, 23]
    with pytest.raises(CellError):
        scale.grade_of("-1")


@pytest.mark.parametrize(("cell", "grade"), [(True, 1), ("FALSE", 0), ("yes", 1), ("Fail", 0)])
def test_yes_and_no_are_one_and_zero(cell, grade):
    assert YES.grade_of(cell) == grade


def test_share_of_a_hundred():
    assert (
        Scale.of("hundred", [(n, [str(n)]) for n in range(101)]).grade_of("85 %", scale=100) == 85
    )


def test_date_says_what_a_spreadsheet_did():
    with pytest.raises(CellError, match=r"is the date 2026-03-02; Excel makes dates"):
        FIVE.grade_of(date(2026, 3, 2))


@pytest.mark.parametrize(
    ("problem", "words"), [(CellProblem.FORMULA, "formula"), (CellProblem.ERROR, "#DIV/0!")]
)
def test_broken_cells_are_refused(problem, words):
    with pytest.raises(CellError, match=words):
        FIVE.grade_of(BrokenCell(problem, "#DIV/0!"))


def test_word_of_two_levels_stands_for_neither():
    scale = Scale.of("twice", [(0, ["good"]), (1, ["Good"]), (2, ["best"])])
    with pytest.raises(CellError):
        scale.grade_of("good")


@pytest.mark.parametrize("cell", [None, "", " ", "NaN", "n/a", "-", "null", float("nan"), "k. A."])
def test_missing(cell):
    assert is_missing(cell, ["k. A."])


def test_ids_are_what_the_cell_shows():
    assert [name_of(cell) for cell in (FormattedNumber(7, "00007"), 7.0, 7, " a ")] == [
        "00007",
        "7",
        "7",
        "a",
    ]


def test_words_are_compared_without_white_space_and_in_nfc():
    assert normal(" Cafe\u0301  a\n") == normal("Caf\u00e9 a")
    assert digest("Cafe\u0301") == digest("Caf\u00e9 ")
    assert digest("cafe") != digest("Cafe")

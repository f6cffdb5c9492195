"""Layout of a table before typesetting, and its CSV."""

import csv
import io

from evaluation.latex import footnote_letter
from evaluation.replications.crux_paper.names import COVERAGE_Z
from evaluation.replications.crux_paper.table_layout import (
    Block,
    Cell,
    Line,
    PaperTable,
    Style,
    csv_text,
    table_csv,
)
from evaluation.stats.estimate import Estimate


def test_letters_of_footnotes():
    assert [footnote_letter(number) for number in (0, 25, 26, 27, 51, 52, 701, 702)] == [
        "a", "z", "aa", "ab", "az", "ba", "zz", "aaa",
    ]  # fmt: skip


def test_numbers_as_printed():
    assert Style(100, 1).number(0.4445) == "44.5"
    assert Style(1, 3).number(-0.0001) == "0.000"


def test_csv_has_every_part_of_an_estimate():
    lines = (
        Line("a", (Cell(Estimate(1 / 3, None, 6, 1, 0.25, 0.5)),), ranked=True, note="so"),
        Line("b", (Cell(Estimate(None, "undefined, because, well", 0)),)),
        Line("c", (None,)),
    )
    table = PaperTable("t", "System", (COVERAGE_Z.column(),), (Block("runs", lines),), "Caption")
    text = table_csv(table)
    assert text.endswith("\n")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [
        ["block", "name", "compared", "note"]
        + [f"coverage_z{part}" for part in ("", "_low", "_high", "_n", "_missing", "_reason")],
        ["runs", "a", "yes", "so", "0.333333333333", "0.25", "0.5", "6", "1", ""],
        ["runs", "b", "no", "", "", "", "", "0", "0", "undefined, because, well"],
        ["runs", "c", "no", "", "", "", "", "", "", ""],
    ]


def test_csv_numbers_do_not_hang_on_the_last_bit():
    assert csv_text(["x"], [[0.1 + 0.2], [0.3], [-0.0]]) == "x\n0.3\n0.3\n0\n"
    assert csv_text(["x"], [["=1+1"], [-1], [None]]) == 'x\n\'=1+1\n-1\n""\n'

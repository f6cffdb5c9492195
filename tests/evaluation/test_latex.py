"""LaTeX of result tables: columns, undefined values, long tables."""

import pytest

from evaluation.latex import MAX_ROWS, latex_table
from evaluation.stats.estimate import Estimate
from tests.toolbox.latex import compile_latex, needs_latex

HEADER = ["system", "kappa", "p", "bias", "bias_reason", "unused", "tokens"]
ROWS = [
    ["[a] & b_1", Estimate(0.5, None, 9, low=0.25, high=0.75), 0.0001, -0.5, None, None, 12.0],
    [
        "50% “x”",
        Estimate(None, "undefined, because one level", 9),
        0.25,
        None,
        "no pair",
        None,
        3.0,
    ],
    ["ünder", Estimate(-0.125, None, 9), None, None, "undefined, because one level", None, None],
]


def table(rows=ROWS, header=HEADER):
    return latex_table(header, rows, label="mill_x", caption="The mill & more", source="site/a.tex")


def test_table_has_columns_with_values_alone():
    lines = table().splitlines()
    assert lines[0] == "% site/a.tex"
    assert r"  \begin{tabular}{lrrrr}" in lines
    assert r"    system & kappa & p & bias & tokens \\" in lines
    assert r"  \caption{The mill \& more.}" in lines
    assert r"  \label{tab:mill-x}" in lines


def test_rows_are_rounded_and_escaped():
    lines = table().splitlines()
    assert r"    {}[a] \& b\_1 & 0.50 [0.25, 0.75] & $<$0.001 & $-$0.50 & 12 \\" in lines
    assert any(line.startswith(r"    50\% ``x'' & --\textsuperscript{") for line in lines)
    assert r"  In brackets: 95\% intervals.\par" in lines


def test_undefined_values_share_a_footnote_for_each_reason():
    text = table()
    assert text.count(r"~undefined, because one level.\par") == 1
    assert text.count(r"~no pair.\par") == 1
    assert text.count(r"--\textsuperscript{a}") == 2


def test_long_table_breaks_over_pages():
    rows = [[f"system {n}", n] for n in range(41)]
    text = table(rows, ["system", "n"])
    assert r"\begin{longtable}{lr}" in text
    assert r"\begin{table}" not in text
    assert "longtable" not in table(rows[:40], ["system", "n"])


def test_wide_table_takes_the_page_and_shrinks_to_it():
    text = table(
        [[*row, "a sentence of many words that breaks its lines"] for row in ROWS], [*HEADER, "u"]
    )
    assert r"% Needs \usepackage{booktabs,graphicx}." in text
    assert r"\begin{table*}[t]" in text
    assert r"\resizebox" in text
    assert r"\begin{tabular}{lrrrrp{15em}}" in text
    narrow = table([["a", 1]], ["system", "n"])
    assert r"\begin{table}[t]" in narrow
    assert r"\resizebox" not in narrow


def test_table_without_rows_has_its_header():
    assert r"    system & kappa" in table([])


@needs_latex
@pytest.mark.parametrize("options", ["", "twocolumn"])
def test_tables_compile(tmp_path, options):
    wide = [[*row, *range(5)] for row in ROWS]
    tables = [table(), table([]), table(wide, [*HEADER, *"uvwxy"])]
    tables.append(table([[f"system {n}", n] for n in range(MAX_ROWS)], ["system", "n"]))
    compile_latex(tmp_path, "\n".join([*tables, *tables]), options)

"""Tables as LaTeX. No LaTeX is needed: what would not compile is looked for in the text."""

import re

import pytest

from evaluation.latex_text import escape
from evaluation.replications.crux_paper.latex import latex, latex_figure
from evaluation.replications.crux_paper.names import ALPHA_NDCG, COVERAGE_Z
from evaluation.replications.crux_paper.table_layout import TAU, Block, Cell, Line, PaperTable
from evaluation.stats.estimate import Estimate
from tests.toolbox.latex import compile_latex, needs_latex

REASON = "undefined, because nothing of it is rated"


def share(value: float, half: float | None = None) -> Cell:
    if half is None:
        return Cell(Estimate(value, None, 6))
    return Cell(Estimate(value, None, 6, low=value - half, high=value + half))


def make_table(*lines: Line, group: str = "") -> PaperTable:
    columns = (COVERAGE_Z.column(group=group), ALPHA_NDCG.column(group=group))
    tau = Line("Kendall τ", (Cell(Estimate(-0.0004, None, 4), TAU), None))
    return PaperTable(
        label="table1",
        stub="System",
        columns=columns,
        blocks=(Block("systems", lines), Block("tau", (tau,))),
        caption="Under judge_1 at η = 3, 100% of it.",
        notes=("Tokens are words & more.",),
    )


LINES = (
    Line("bm25_50%", (share(0.4444, 0.03), share(0.5)), ranked=True),
    Line("R&D#1", (share(0.52), share(0.48)), ranked=True, note="5 of 6 topics"),
    Line("oracle", (share(1.0), Cell(Estimate(None, REASON, 0)))),
    Line("x{y}~^\\", (share(0.44441), Cell(Estimate(None, REASON, 0))), ranked=True),
)


def rows(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().endswith(r"\\")]


def test_values_best_and_worst_ties_dashes_and_notes():
    text = latex(make_table(*LINES))
    assert rows(text) == [
        r"System & Cov($Z$) & $\alpha$-nDCG \\",
        # Least as printed: 44.4 stands twice. The oracle is not compared, so 52.0 is the greatest.
        r"bm25\_50\% & \underline{44.4} & \textbf{50.0} \\",
        r"R\&D\#1\textsuperscript{a} & \textbf{52.0} & \underline{48.0} \\",
        r"oracle & 100.0 & --\textsuperscript{b} \\",
        r"x\{y\}\textasciitilde{}\textasciicircum{}\textbackslash{} & \underline{44.4} "
        r"& --\textsuperscript{b} \\",
        r"Kendall $\tau$ & 0.000 &  \\",  # a negative value that rounds to zero has no sign
    ]
    assert r"\textsuperscript{a}~5 of 6 topics.\par" in text
    assert rf"\textsuperscript{{b}}~{REASON}.\par" in text
    assert text.count("nothing of it is rated") == 1
    assert r"\caption{Under judge\_1 at $\eta$ = 3, 100\% of it.}" in text
    assert r"Tokens are words \& more.\par" in text
    assert r"\label{tab:table1}" in text


def test_half_widths_where_they_are_asked_for():
    assert r"\underline{44.4} $\pm$ 3.0 &" in latex(make_table(*LINES), intervals=True)
    assert r"$\pm$" not in latex(make_table(*LINES))


def test_single_value_is_neither_best_nor_worst():
    text = latex(make_table(LINES[0]))
    assert "textbf" not in text
    assert "underline" not in text


def test_equal_values_are_neither_best_nor_worst():
    assert "textbf" not in latex(
        make_table(*(Line(name, (share(0.5), share(0.5)), True) for name in "ab"))
    )


def test_negative_number_has_a_minus_sign():
    assert "a & $-$12.5 &" in latex(make_table(Line("a", (share(-0.125), None))))


@pytest.mark.parametrize("name", ["[a]", "*a"])
def test_name_is_no_option_of_the_row_before(name):
    assert f"    {{}}{name} & 50.0" in latex(make_table(Line(name, (share(0.5), None))))


def test_name_stays_on_its_line():
    assert escape("two\n\nlines") == "two lines"


def test_heads_of_groups():
    text = latex(make_table(*LINES, group="DUC_04"))
    assert r"& \multicolumn{2}{c}{DUC\_04} \\" in text
    assert r"\cmidrule(lr){2-3}" in text


@pytest.mark.parametrize("group", ["", "DUC"])
def test_structure(group):
    text = latex(make_table(*LINES, group=group), intervals=True)
    begun = re.findall(r"\\begin\{(\w+\*?)\}", text)
    assert begun == re.findall(r"\\end\{(\w+\*?)\}", text)[::-1] == ["table", "tabular"]
    columns = re.search(r"\\begin\{tabular\}\{(l r*)\}".replace(" ", ""), text)[1]
    for row in rows(text):
        spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
        assert len(re.findall(r"(?<!\\)&", row)) + 1 + spanned == len(columns)
    braces = re.sub(r"\\[{}]", "", text)
    assert braces.count("{") == braces.count("}")
    assert [text.count(rf"\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 2, 1]


def test_escape_leaves_no_special_sign():
    escaped = escape("".join(map(chr, range(32, 127))) + "αητ±“”–")
    assert not re.search(r"(?<!\\)[&#%_]", escaped.replace(r"\textbackslash{}", ""))
    assert not re.search(r"[~^\"<>|]", escaped)
    assert escaped.isascii()


def test_figure():
    text = latex_figure("figure4", "Coverage, η = 3", wide=True)
    assert r"\includegraphics[width=\textwidth]{figure4.pdf}" in text
    assert r"\caption{Coverage, $\eta$ = 3}" in text


@needs_latex
def test_latex_compiles(tmp_path):
    compile_latex(tmp_path, latex(make_table(*LINES, group="DUC"), intervals=True))

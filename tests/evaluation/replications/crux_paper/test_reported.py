"""Reported results: a paper's Table 1 as a file, and tau from its own columns."""

import json

import pytest

from evaluation.replications.crux_paper.latex import latex
from evaluation.replications.crux_paper.reported import (
    ReportedError,
    read_reported,
    reported_csv,
    reported_table,
)
from tests.evaluation.golden_cases import GOLDEN

PAPER = GOLDEN / "table1.csv"


@pytest.fixture
def paper():
    return read_reported(PAPER)


@pytest.mark.parametrize(
    "case", json.loads((GOLDEN / "table1_tau.json").read_text()), ids=lambda case: case["x"]
)
def test_golden_tau_over_the_empirical_systems_alone(paper, case):
    fields = {field.name: field for field in paper.fields}
    x, y = fields[case["x"]], fields[case["y"]]
    assert paper.against(x) is y
    tau = paper.tau(x, y)
    assert tau.value == pytest.approx(case["empirical_21"]["tau_b"], abs=1e-12)
    assert tau.n == 21
    oracle = case["empirical_plus_oracle_retrieval_22"]["tau_b"]
    assert abs(tau.value - oracle) > 1e-3  # with a reference bound it would be another


def test_table_of_the_paper(paper):
    table = reported_table(paper, "table1.csv")
    assert [(block.name, len(block.lines)) for block in table.blocks] == [
        ("reference", 3),
        ("initial", 3),
        ("MMR", 3),
        ("rerank", 15),
        ("tau", 2),
    ]
    text = latex(table)
    assert r"Kendall $\tau$ (21 systems) & 0.670 & 0.766 &  & 0.730 &  & 0.856" in text
    assert r"Kendall $\tau$, as printed & 0.676 & 0.724 &  & 0.733 &  & 0.838" in text
    # The highest coverage of an empirical system is bold, and that of the oracle is not.
    assert r"DR + SetwiseFlanT5 & \textbf{56.6} &" in text
    assert r"(\#3) Oracle retrieval & 100.0 & 80.6 &" in text
    assert r"\begin{table*}" in text


def test_csv_can_be_read_again(paper, tmp_path):
    copy_path = tmp_path / "again.csv"
    copy_path.write_text(reported_csv(paper).replace(",tau,", ",printed,"), encoding="utf-8")
    read = read_reported(copy_path)
    assert (read.references, read.systems) == (paper.references, paper.systems)
    assert [row.values[0] for row in read.printed] == pytest.approx([0.6698564593, 0.676])


def test_tau_of_two_systems_is_undefined(tmp_path):
    reported = read(tmp_path, "system,block,CovZ,Covy\na,x,1,2\nb,x,2,1\n(#1),reference,9,9\n")
    tau = reported.tau(*reported.fields)
    assert (tau.value, tau.n) == (None, 2)
    assert "fewer than three" in tau.reason


def test_metric_without_its_result_has_no_tau(tmp_path):
    reported = read(tmp_path, "system,block,CovZ,Deny\na,x,1,2\n")
    assert reported.against(reported.fields[0]) is None


def test_byte_order_mark_blank_lines_and_spaces_are_passed_over(tmp_path):
    reported = read(tmp_path, "\ufeffsystem,block,CovZ\r\n\r\n a , x , 1 \r\n")
    assert reported.systems[0].values == (1.0,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: the header is “system”, not “”"),
        ("name,block,CovZ\n", "line 1, column 1: the header is “system”, not “name”"),
        ("system,CovZ\n", "line 1, column 2: the header is “block”, not “CovZ”"),
        ("system,block\n", "line 1, column 3: there is no metric"),
        ("system,block,Cov\n", "line 1, column 3: “Cov” does not end with one of: CovZ, aNDCG"),
        ("system,block,A_CovZ,A_CovZ\n", "line 1, column 4: “A_CovZ” stands twice"),
        ("system,block,CovZ\na,x,much\n", "line 2, column CovZ: “much” is not a number"),
        ("system,block,CovZ\na,x,nan\n", "line 2, column CovZ: “nan” is not a number"),
        ("system,block,CovZ\na,x,1e999\n", "line 2, column CovZ: “1e999” is not a number"),
        ("system,block,CovZ\na,x,1,2\n", "line 2: 4 cells, not the 3 of line 1"),
        ("system,block,CovZ\na,x,1\nb,x,1\na,y,2\n", "line 4, column system: “a” stands on line 2"),
        ("system,block,CovZ\n,x,1\n", "line 2, column system: it is empty"),
        ("system,block,CovZ\na,,1\n", "line 2, column block: it is empty"),
        ('system,block,CovZ\n"a,x,1\n', "line 2: unexpected end of data"),
    ],
)
def test_faults_have_file_line_and_column(tmp_path, text, message):
    with pytest.raises(ReportedError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"results.csv, {message}")


def test_faults_are_listed_together_up_to_a_limit(tmp_path):
    lines = "".join(f"s{n},x,?\n" for n in range(30))
    with pytest.raises(ReportedError) as caught:
        read(tmp_path, f"system,block,CovZ\n{lines}")
    fault_lines = str(caught.value).splitlines()
    assert len(fault_lines) == 21
    assert fault_lines[-1] == "and 10 more"


def test_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "results.csv"
    path.write_bytes("system,block,CovZ\nMüller,x,1\n".encode("latin-1"))
    with pytest.raises(ReportedError, match=r"results.csv.*it is not UTF-8"):
        read_reported(path)


def read(folder, text):
    path = folder / "results.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return read_reported(path)

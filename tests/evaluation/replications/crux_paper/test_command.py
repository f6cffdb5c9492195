"""manage.py tables, on a study that can be worked out by hand and on the real one."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.golden_cases import GOLDEN
from tests.evaluation.replications.crux_paper.archives import archive_members, folder_contents
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.toolbox.real_study import FOLDER

PAPER = str(GOLDEN / "table1.csv")


def output(*arguments: str) -> str:
    out = StringIO()
    call_command("tables", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def mill(db):
    return make_mill()


@pytest.mark.soak  # it draws every figure
def test_command_writes_reproducible_files(mill, tmp_path):
    out = tmp_path / "new" / "folder"
    printed = output("mill", "--out", str(out), "--judge", "judge", "--intervals")
    files = {path.name for path in out.iterdir()}
    assert files >= {
        *(f"figure4{end}" for end in (".csv", ".pdf", ".png", ".svg", ".tex", "_correlations.csv")),
        *(f"figure5.{kind}" for kind in ("csv", "pdf", "png", "svg", "tex")),
        "provenance.json",
        *(f"table{n}.{kind}" for n in (1, 2, 3) for kind in ("csv", "tex")),
        *("methods.tex", "refs.bib", "example.tex"),
        *(f"agreement_answerable.{kind}" for kind in ("csv", "tex")),
    }
    assert all(name in printed for name in files)
    output("mill", "--out", str(tmp_path / "again"), "--judge", "judge", "--intervals")
    assert folder_contents(tmp_path / "again") == folder_contents(out)


@pytest.mark.any_database
def test_skipped_parts_and_stale_files_are_reported(mill, tmp_path):
    for name in ("table3.tex", "notes.txt"):
        (tmp_path / name).write_text("mine")
    mill.runs.all().delete()
    printed = output("mill", "--out", str(tmp_path), "--judge", "judge")
    assert "not made, because the dataset has no retrieval runs" in printed
    assert "table3.tex                 not made this time; an earlier one is still there" in printed
    assert (tmp_path / "notes.txt").read_text() == "mine"
    left_out = json.loads((tmp_path / "provenance.json").read_text())["skipped"]
    assert {"table2", "table3", "figure5", "tests_runs_coverage"} <= set(left_out)
    assert not {"table1", "figure4", "agreement_answerable"} & set(left_out)


def test_reported_results_need_no_dataset(db, tmp_path):
    output("--reported", PAPER, "--out", str(tmp_path))
    rows = list(csv.DictReader((tmp_path / "table1_reported.csv").open(encoding="utf-8")))
    taus = json.loads((GOLDEN / "table1_tau.json").read_text())
    computed = next(row for row in rows if row["block"] == "tau")
    for case in taus:
        expected = case["empirical_21"]["tau_b"]
        assert float(computed[case["x"]]) == pytest.approx(expected, abs=1e-11)
    assert computed["system"] == "Kendall tau-b (21 systems)"
    assert {path.name for path in tmp_path.iterdir()} == {
        "table1_reported.csv",
        "table1_reported.tex",
        "provenance.json",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no dataset “nowhere”. There are: mill"),
        (["mill", "--judge", "eve"], "“eve”. There are: judge, ann, ben, majority"),
        (["mill", "--eta", "6"], "There are: 1, 2, 3, 4, 5"),
        (["mill", "--rules", "mine"], "There are: paper, authors"),
        (["mill", "--cutoff", "0"], "There are: size, oracle, 10, 20"),
        (["mill", "--ideal", "best"], "There are: standard, paper_eq4"),
        (
            ["mill", "--systems", "human_eval.mid,bm25"],
            "no system “bm25”. There are: human_eval.dir",
        ),
        (["mill", "--tokenizer", "nowhere.json"], "no tokenizer “nowhere.json”"),
        (["mill", "--reported", "nowhere.csv"], "nowhere.csv"),
        ([], "Name a dataset, or a file of results with --reported, or both"),
    ],
)
def test_invalid_argument_is_answered_with_the_choices(mill, tmp_path, arguments, message):
    with pytest.raises(CommandError, match=message):
        output(*arguments, "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_fault_in_reported_results_is_reported_with_its_position(db, tmp_path):
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("system,block,CovZ\na,x,1\na,x,b\n")
    with pytest.raises(CommandError) as caught:
        output("--reported", str(wrong), "--out", str(tmp_path / "out"))
    assert str(caught.value).splitlines() == [
        "wrong.csv, line 3, column system: “a” stands on line 2",
        "wrong.csv, line 3, column CovZ: “b” is not a number",
    ]


def test_folder_that_cannot_be_written(db, tmp_path):
    make_mill(runs=False, reports=False)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(CommandError, match="file"):
        output("mill", "--judge", "judge", "--out", str(tmp_path / "file" / "out"))


def test_real_study_gives_the_expected_values(real_study, cast, tmp_path):
    judge = ["--judge", "llama33_70b", "--rules", "authors"]
    output("crux-duc04", *judge, "--out", str(tmp_path))
    expected = json.loads((FOLDER / "expected_values.json").read_text())["expected"]
    names = {"coverage_z": "mean_cov", "alpha_ndcg": "mean_alpha_ndcg", "density_z": "mean_den"}
    table = {row["name"]: row for row in csv.DictReader((tmp_path / "table1.csv").open())}
    checked = 0
    for name, row in table.items():
        theirs = expected["retrieval_llama33_70b"]["mean"].get(f"{name}|eta3")
        if theirs:
            ours = [float(row[column]) for column in names]
            assert ours == pytest.approx([theirs[key] for key in names.values()], abs=1e-4), name
            assert int(row["topics_z"]) == theirs["n_defined"]
            checked += 1
    assert checked >= 3
    assert (tmp_path / "figure4.png").stat().st_size > 20_000
    correlations = list(csv.DictReader((tmp_path / "figure4_correlations.csv").open()))
    for row in correlations:
        theirs = expected["T1"]["coverage_correlation"][f"{row['a']}|{row['b']}"]
        assert float(row["pearson"]) == pytest.approx(theirs["pearson"], abs=1e-4)
        assert float(row["spearman"]) == pytest.approx(theirs["spearman"], abs=1e-4)
    assert len(correlations) == 3
    page = "/datasets/crux-duc04/paper/paper.zip?source=llama33_70b&rules=authors"
    assert archive_members(cast.client("researcher").get(page)) == folder_contents(tmp_path)

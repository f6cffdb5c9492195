"""All golden cases, and the command that answers a file of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.golden.__main__ import main
from evaluation.golden.answers import FAMILIES, answers
from tests.evaluation.golden_cases import GOLDEN, cases, differences, files
from tests.toolbox.clock import HANGS

ROOT = Path(__file__).parents[2]
CASES = [(path.stem, case) for path in files() for case in cases(path)]
# Their cases are not part of this repository.
SHARED = ROOT.parent / "shared" / "golden" / "cases"
SHARED_FAMILIES = {
    *("alt_test", "anchoring", "confidence_sequence", "confidence_sequence_judge"),
    *("equal_opportunity", "equivalence", "judge_drift", "length_bias", "position_bias"),
    "self_preference",
}
SHARED_CASES = [
    (family, case)
    for family in sorted(SHARED_FAMILIES)
    if (path := SHARED / f"{family}.json").exists()
    for case in cases(path)
]


def run(path):
    return subprocess.run(
        [sys.executable, "-m", "evaluation.golden", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def as_json(result):
    """The result as it is printed and read again; NaN and what JSON does not know are errors."""
    return json.loads(json.dumps(result, allow_nan=False))


def test_all_golden_cases_exist():
    assert len(CASES) == 138
    assert len({case["id"] for _, case in CASES}) == 138
    assert {path.stem for path in files()} == set(FAMILIES) - SHARED_FAMILIES


@pytest.mark.parametrize(("family", "case"), CASES, ids=[case["id"] for _, case in CASES])
def test_case(family, case):
    actual = as_json(FAMILIES[family](case["input"]))
    assert differences(case["expected"], actual, case["tolerance"]) == []


@pytest.mark.skipif(not SHARED_CASES, reason=f"THE CASES OF {SHARED} ARE NOT CHECKED: none there")
def test_shared_cases_exist():
    assert {family for family, _ in SHARED_CASES} == SHARED_FAMILIES
    assert len(SHARED_CASES) == 36


@pytest.mark.parametrize(
    ("family", "case"), SHARED_CASES, ids=[case["id"] for _, case in SHARED_CASES]
)
def test_shared_case(family, case):
    actual = as_json(FAMILIES[family](case["input"]))
    assert differences(case["expected"], actual, case["tolerance"]) == []


def test_file_is_answered_in_its_own_order():
    path = GOLDEN / "coverage.json"
    assert list(answers(path)) == [case["id"] for case in cases(path)]


@pytest.mark.parametrize("family", ["alpha_ndcg", "threshold_analysis"])
def test_command_prints_the_results(family):
    path = GOLDEN / f"{family}.json"
    ran = run(path)
    assert (ran.returncode, ran.stderr) == (0, "")
    printed = json.loads(ran.stdout)
    for case in cases(path):
        assert differences(case["expected"], printed[case["id"]], case["tolerance"]) == []


def density_file(**changes):
    content = {"schema": "golden-metrics/1", "family": "density"}
    inputs = {"coverage": 1, "tokens": 2, "oracle_coverage": 1, "oracle_tokens": 2, "w": 1}
    content["cases"] = [{"id": "density/one", "input": inputs}]
    return {**content, **changes}


BROKEN = {
    "not JSON": ("{", "line 1, column 2"),
    "not an object": ("[]", "a JSON object"),
    "NaN": ('{"schema": NaN}', "NaN is not JSON"),
    "another schema": (density_file(schema="other/2"), "schema: 'golden-metrics/1' is needed"),
    "an unknown family": (density_file(family="bleu"), "family: 'bleu' is not known; known are"),
    "a family of a wrong type": (density_file(family=["density"]), "family: a text is needed"),
    "no cases": (density_file(cases=None), "cases: a list of cases is needed"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_named_with_its_field(name, tmp_path, capsys):
    content, message = BROKEN[name]
    path = tmp_path / "broken.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    assert main([str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"{path}: ")
    assert message in printed.err


GOOD = density_file()["cases"][0]["input"]
REFUSED = {
    "no object": (1, "cases[0]", "id: a text is needed"),
    "no id": ({"input": GOOD}, "cases[0]", "id: a text is needed"),
    "no input": ({"id": "x"}, "x", "input: an object is needed"),
    "a missing field": ({"id": "x", "input": {"w": 1}}, "x", "input.coverage: Field required"),
    "a wrong type": ({"id": "x", "input": {**GOOD, "w": "many"}}, "x", "input.w: Input should be"),
    "a wrong value": ({"id": "x", "input": {**GOOD, "tokens": -1}}, "x", "input: coverage, tokens"),
    "an unknown field": ({"id": "x", "input": {**GOOD, "a": 3}}, "x", "input.a: Extra inputs"),
    "too large": ({"id": "x", "input": {**GOOD, "coverage": 1e300, "w": 9}}, "x", "input: "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_case_does_not_void_its_file(name, tmp_path, capsys):
    case, key, message = REFUSED[name]
    path = tmp_path / "cases.json"
    good = {"id": "density/one", "input": GOOD}
    path.write_text(json.dumps(density_file(cases=[case, good])), encoding="utf-8")
    assert main([str(path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == [key, "density/one"]
    assert printed[key]["error"].startswith(message)
    assert printed["density/one"] == {"value": 1.0, "reason": None}


def test_duplicate_id_keeps_the_first_answer(tmp_path):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(density_file(cases=density_file()["cases"] * 2)), encoding="utf-8")
    assert answers(path) == {
        "density/one": {"value": 1.0, "reason": None},
        "cases[1]": {"error": "id: 'density/one' is there twice"},
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"coverage": None}, {"value": None, "reason": "undefined_coverage"}),
        ({"oracle_coverage": None}, {"value": None, "reason": "undefined_coverage"}),
        ({"coverage": 0.2, "w": 0}, {"value": 1.0, "reason": None}),
        ({"coverage": 0, "w": 0}, {"value": 1.0, "reason": None}),
        ({"tokens": 0, "w": 0}, {"value": None, "reason": "zero_tokens"}),
    ],
)
def test_densities_at_the_edge(changes, expected):
    assert FAMILIES["density"]({**GOOD, **changes}) == expected


def test_answer_where_the_reference_has_none_has_an_f1_of_0():
    items = [("a b", "a b"), (None, "a b"), (None, None), ("a b", None)]
    input_items = [
        {"reference": reference, "generated": generated} for reference, generated in items
    ]
    scores = FAMILIES["ragquesteval"]({"items": input_items})
    assert scores["f1"] == [1, 0, None, None]
    values = {name: scores[name]["value"] for name in ("recall", "precision_text", "precision_eq2")}
    assert values == {"recall": 0.5, "precision_text": 0.5, "precision_eq2": 0.25}


BOOTSTRAP = {"B": 10, "seed": 1, "level": 0.95, "rng": "splitmix64", "quantile": "type7"}
NO_ITEMS = {
    "annotator_vs_majority": {"annotators": [], "llm": [], "labels": [0, 1]},
    "fleiss_kappa": {"counts": []},
    "krippendorff_alpha": {"ratings": []},
    "paired_randomisation": {"differences": []},
    "ragquesteval": {"items": []},
}


@pytest.mark.parametrize("family", NO_ITEMS)
def test_empty_input_has_a_result(family):
    as_json(FAMILIES[family](NO_ITEMS[family]))


@pytest.mark.parametrize("statistic", ["fleiss_kappa", "mean", "pearson"])
@pytest.mark.parametrize("clusters", [[], [[], []]])
def test_clusters_without_items_are_an_answer(statistic, clusters):
    bootstrap = FAMILIES["cluster_bootstrap"](
        {"clusters": clusters, "statistic": statistic, **BOOTSTRAP}
    )
    assert (as_json(bootstrap)["estimate"], bootstrap["reason"]) == (None, "undefined_estimate")
    assert bootstrap["n_clusters"] == len(clusters)


@pytest.mark.parametrize("name", ["another schema", "an unknown family"])
def test_command_refuses_a_broken_file_without_a_traceback(name, tmp_path):
    content, message = BROKEN[name]
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    ran = run(path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert str(path) in ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("path", ["nowhere.json", "."])
def test_file_that_cannot_be_read(path, capsys):
    assert main([path]) == 2
    assert "the file cannot be read" in capsys.readouterr().err


def test_file_in_another_encoding(tmp_path, capsys):
    path = tmp_path / "latin.json"
    path.write_bytes('{"schema": "é"}'.encode("latin-1"))
    assert main([str(path)]) == 2
    assert "the file cannot be read" in capsys.readouterr().err

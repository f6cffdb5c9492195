"""Every golden case, and the command that answers a file of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.golden.__main__ import main
from evaluation.golden.answers import FAMILIES, answers
from tests.golden_cases import GOLDEN, cases, differences, files

ROOT = Path(__file__).parents[2]
CASES = [(path.stem, case) for path in files() for case in cases(path)]


def run(path):
    return subprocess.run(
        [sys.executable, "-m", "evaluation.golden", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def as_json(result):
    """The result as it is printed and read again; NaN and what JSON does not know are errors."""
    return json.loads(json.dumps(result, allow_nan=False))


def test_all_cases_are_here():
    assert len(CASES) == 138
    assert len({case["id"] for _, case in CASES}) == 138
    assert {path.stem for path in files()} == set(FAMILIES)


@pytest.mark.parametrize(("family", "case"), CASES, ids=[case["id"] for _, case in CASES])
def test_case(family, case):
    actual = as_json(FAMILIES[family](case["input"]))
    assert differences(case["expected"], actual, case["tolerance"]) == []


def test_a_file_is_answered_in_its_own_order():
    path = GOLDEN / "coverage.json"
    assert list(answers(path)) == [case["id"] for case in cases(path)]


@pytest.mark.parametrize("family", ["alpha_ndcg", "threshold_analysis"])
def test_the_command_prints_the_results(family):
    path = GOLDEN / f"{family}.json"
    ran = run(path)
    assert (ran.returncode, ran.stderr) == (0, "")
    printed = json.loads(ran.stdout)
    for case in cases(path):
        assert differences(case["expected"], printed[case["id"]], case["tolerance"]) == []


def density_file(**changes):
    content = {"schema": "golden-metrics/1", "family": "density"}
    given = {"coverage": 1, "tokens": 2, "oracle_coverage": 1, "oracle_tokens": 2, "w": 1}
    content["cases"] = [{"id": "density/one", "input": given}]
    return {**content, **changes}


def density_case(**given):
    good = density_file()["cases"][0]["input"]
    left = {name: value for name, value in {**good, **given}.items() if value != "left out"}
    return density_file(cases=[{"id": "density/one", "input": left}])


BROKEN = {
    "not JSON": ("{", "line 1, column 2"),
    "not an object": ("[]", "a JSON object"),
    "NaN": ('{"schema": NaN}', "NaN is not JSON"),
    "another schema": (density_file(schema="other/2"), "schema: 'golden-metrics/1' is needed"),
    "an unknown family": (density_file(family="bleu"), "family: 'bleu' is not known; known are"),
    "a family of a wrong type": (density_file(family=["density"]), "family: a text is needed"),
    "no cases": (density_file(cases=None), "cases: a list of cases is needed"),
    "a case that is no object": (density_file(cases=[1]), "cases[0]: a case is an object"),
    "a case without an id": (density_file(cases=[{"input": {}}]), "cases[0].id: a text is needed"),
    "a case without input": (density_file(cases=[{"id": "x"}]), "cases[0].input: an object"),
    "an id twice": (density_file(cases=density_file()["cases"] * 2), "cases[1].id: 'density/one'"),
    "a missing field": (
        density_case(tokens="left out"),
        "density/one: input.tokens: Field required",
    ),
    "a wrong type": (density_case(tokens="many"), "density/one: input.tokens: Input should be"),
    "a wrong value": (density_case(tokens=-1), "density/one: input: coverage and tokens"),
    "an unknown field": (density_case(words=3), "density/one: input.words: Extra inputs"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_its_field(name, tmp_path, capsys):
    content, message = BROKEN[name]
    path = tmp_path / "broken.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    assert main([str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"{path}: ")
    assert message in printed.err


@pytest.mark.parametrize("name", ["a wrong type", "an unknown family"])
def test_the_command_refuses_a_broken_file_without_a_traceback(name, tmp_path):
    content, message = BROKEN[name]
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    ran = run(path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert str(path) in ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("path", ["nowhere.json", "."])
def test_a_file_that_cannot_be_read(path, capsys):
    assert main([path]) == 2
    assert "the file cannot be read" in capsys.readouterr().err


def test_a_file_in_another_encoding(tmp_path, capsys):
    path = tmp_path / "latin.json"
    path.write_bytes('{"schema": "é"}'.encode("latin-1"))
    assert main([str(path)]) == 2
    assert "the file cannot be read" in capsys.readouterr().err

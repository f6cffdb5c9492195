"""datasets/<slug>/agreement/<table>.csv, agreement.json and pairs.csv"""

import csv
import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Rating, Rubric
from evaluation.agreement.tables import TABLES
from tests.evaluation.agreement.command import as_object
from tests.toolbox.agreement_study import file_url
from tests.toolbox.responses import csv_rows, text_of_page

pytestmark = pytest.mark.any_database

FILES = [*(f"agreement/{table}.csv" for table in TABLES), "agreement.json", "pairs.csv"]


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


@pytest.mark.parametrize("file", FILES)
def test_files_are_for_researchers(cast, study, file):
    for account, status in (("admin", 200), ("researcher", 200), ("worker", 403)):
        assert cast.client(account).get(file_url(study, file)).status_code == status
    response = cast.client("stranger").get(file_url(study, file))
    assert response["Location"].startswith(reverse("login"))
    assert cast.client("researcher").post(file_url(study, file)).status_code == 405
    assert cast.client("researcher").get(f"/datasets/nowhere/{file}").status_code == 404
    assert cast.client("researcher").get(file_url(study, file, "rubric=nope")).status_code == 400


def test_unknown_table_is_answered_with_the_list(rosa, study):
    response = rosa.get(file_url(study, "agreement/nope.csv"))
    assert response.status_code == 404
    assert (
        "There are: numbers, measures, raters, pairs, systems, topics, labels, majority"
        in text_of_page(response)
    )


@pytest.mark.parametrize("table", ["judge", "confusion", "sweep"])
def test_table_against_a_judge_needs_one(rosa, study, table):
    response = rosa.get(file_url(study, f"agreement/{table}.csv", "judge="))
    assert response.status_code == 400
    assert "needs a judge: choose one" in text_of_page(response)


def test_tables_of_the_page_link_to_their_files(rosa, study):
    page = rosa.get(study.url("agreement", "raters=ann,ben")).content.decode()
    # A majority takes three raters, the others another rubric than of yes and no.
    unlinked = {"labels", "majority", "slices", "grades", "composition", "classes", "confusions"}
    for table in set(TABLES) - unlinked:
        assert f"/datasets/ferry/agreement/{table}.csv?rubric=answerable&amp;" in page, table
    assert "/datasets/ferry/agreement.json?rubric=answerable&amp;" in page


def test_measures_have_full_precision_and_reasons(rosa, study):
    measures = csv_rows(rosa.get(file_url(study, "agreement/measures.csv")))
    kappa, bootstrap = measures[:2]
    assert float(kappa["value"]) == pytest.approx(0.6571428571428571, abs=1e-15)
    assert (kappa["n"], kappa["low"]) == ("6", "")
    assert kappa["reason"].endswith("fewer than two clusters")
    assert bootstrap["interval"] == "bootstrap of topics, 0 resamples, seed 0"
    assert {row["measure"]: row["value"] for row in measures}["missing_ratings"] == "0"


def test_numbers_file_has_all_numbers(rosa, study):
    """Two raters, three questions of two reports each, and the judge.

    The numbers are worked out by submit test_command.
    """
    lines = csv_rows(rosa.get(file_url(study, "agreement/numbers.csv", "judge=judge&eta=3")))
    assert list(lines[0]) == [
        *("scope", "name", "measure", "value", "low", "high", "n", "missing", "reason"),
        "certificate",
    ]
    assert {line["certificate"] for line in lines} == {"judge judge: not tested"}
    by_name = {(row["scope"], row["name"], row["measure"]): row for row in lines}
    assert len(by_name) == len(lines)
    assert by_name["all", "", "items"]["value"] == "6"
    assert float(by_name["all", "", "fleiss_kappa"]["value"]) == pytest.approx(23 / 35)
    assert float(by_name["pair", "ann, ben", "cohen_kappa"]["value"]) == pytest.approx(2 / 3)
    assert by_name["judge", "all", "tp"]["value"] == "2"
    assert by_name["judge_rater", "ann", "n"]["value"] == "5"
    assert float(by_name["coverage", "annotated.bm25/ferry-1", "ben"]["value"]) < 1
    correlation = by_name["correlation", "ann, ben", "pearson"]
    assert (correlation["value"], correlation["n"]) == ("", "2")
    assert "fewer than three" in correlation["reason"]


@pytest.mark.parametrize(
    ("table", "scope", "names"),
    [
        ("systems", "system", ["system"]),
        ("topics", "topic", ["topic"]),
        ("raters", "rater", ["rater"]),
        ("pairs", "pair", ["a", "b"]),
        ("correlations", "correlation", ["a", "b"]),
    ],
)
def test_numbers_file_and_table_of_a_scope_are_equal(rosa, study, table, scope, names):
    lines = csv_rows(rosa.get(file_url(study, "agreement/numbers.csv")))
    wide = csv_rows(rosa.get(file_url(study, f"agreement/{table}.csv")))
    assert wide
    for row in wide:
        name = ", ".join(row[column] for column in names)
        numbers = {
            line["measure"]: line
            for line in lines
            if (line["scope"], line["name"]) == (scope, name)
        }
        assert numbers
        for measure, line in numbers.items():
            assert row[measure] == line["value"]
            if f"{measure}_n" in row:
                assert [row[f"{measure}_{part}"] for part in ("low", "high", "n", "reason")] == [
                    line[part] for part in ("low", "high", "n", "reason")
                ]


def test_table_without_rows_has_its_header(rosa, study):
    response = rosa.get(file_url(study, "agreement/majority.csv"))
    assert csv_rows(response) == []
    assert response.content.startswith(b"rater,kind,without_majority,scott_pi,scott_pi_low,")


def test_tables_are_named_and_filled(rosa, study):
    response = rosa.get(file_url(study, "agreement/confusion.csv", "truth=ben"))
    assert 'filename="ferry-agreement-confusion.csv"' in response["Content-Disposition"]
    assert [list(row.values())[:-1] for row in csv_rows(response)] == [
        ["ben", "0", "0", "2"],
        ["ben", "0", "1", "1"],
        ["ben", "1", "0", "1"],
        ["ben", "1", "1", "1"],
    ]
    sweep = csv_rows(rosa.get(file_url(study, "agreement/sweep.csv", "truth=ben")))
    assert [(row["raters"], row["eta"], row["n"]) for row in sweep] == [
        ("ben", str(eta), "5") for eta in range(1, 6)
    ]
    coverage = csv_rows(rosa.get(file_url(study, "agreement/coverage.csv")))
    assert coverage[1]["judge_unrated"] == "1"
    judge = csv_rows(rosa.get(file_url(study, "agreement/judge.csv")))
    assert [row["part"] for row in judge] == ["all", "rater", "rater", "system", "system"]


def test_json_is_what_the_command_prints(rosa, study):
    response = rosa.get(file_url(study, "agreement.json", "judge=judge&eta=2&raters=ann"))
    assert response["Content-Type"] == "application/json"
    assert json.loads(response.content) == as_object(
        "ferry", "--judge=judge", "--eta=2", "--raters=ann"
    )


@pytest.mark.parametrize("file", ["agreement/coverage.csv", "pairs.csv"])
def test_judge_among_the_raters_has_its_column_once(rosa, study, file):
    Rating.objects.filter(rater=study.ann).update(rubric=Rubric.objects.get(slug="graded"))
    query = "rubric=graded&raters=ann,judge&judge=judge"
    response = rosa.get(file_url(study, file, query))
    text = response.getvalue().decode()
    header, first = text.splitlines()[:2]
    assert header.split(",").count("judge") == 1
    assert len(header.split(",")) == len(next(csv.reader([first])))


def test_judge_among_the_raters_has_its_means_and_numbers_once(rosa, study):
    Rating.objects.filter(rater=study.ann).update(rubric=Rubric.objects.get(slug="graded"))
    query = "rubric=graded&raters=ann,judge&judge=judge"
    for table, n_keys in (("means", 2), ("numbers", 3)):
        text = rosa.get(file_url(study, f"agreement/{table}.csv", query)).getvalue().decode()
        keys = [tuple(row[:n_keys]) for row in csv.reader(text.splitlines())]
        assert any("judge" in key for key in keys)
        assert [key for key in keys if keys.count(key) > 1] == [], table
    page = rosa.get(reverse("agreement", args=[study.dataset.slug]) + f"?{query}").content.decode()
    for title in ("Mean coverage by system", "Coverage as a table"):
        [head] = re.findall(rf"{title}(?:(?!</thead>).)*<thead>(.*?)</thead>", page, re.DOTALL)
        assert head.count(">judge") == 1, head

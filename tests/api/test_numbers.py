"""Agreement and scores over the API: equal to the exported files, with n and reasons."""

import csv
import io

import pytest

from annotation.models import Dataset, Rating
from evaluation.scoring.options import ScoringQuery
from evaluation.scoring.row_score import METRICS
from evaluation.scoring.score import score
from tests.toolbox.agreement_study import Study, make_study
from tests.toolbox.retrieval_study import make_retrieval_study

AGREEMENT = "/api/v1/datasets/ferry/agreement/"
SCORES = "/api/v1/datasets/room/scores/"


@pytest.fixture(scope="module")
def kept_world(shared_world) -> tuple[Study, Dataset]:
    return shared_world(lambda: (make_study(), make_retrieval_study()))


@pytest.fixture
def study(db, kept_world) -> Study:
    return kept_world[0]


@pytest.fixture
def room(db, kept_world) -> Dataset:
    return kept_world[1]


def rows(client, url, **params):
    answer = client.get(url, params)
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def table(client, url, **params):
    """Return the rows of an exported CSV file as dicts."""
    return list(csv.DictReader(io.StringIO(client.get(url, params).content.decode())))


def cells(row):
    """Return a row with values as in the file: "" for null."""
    return {name: "" if value is None else value for name, value in row.items()}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"judge": ""},
        {"judge": "judge", "eta": "2"},
        {"raters": "ann,ben", "majority": "plurality"},
    ],
)
def test_agreement_has_the_numbers_of_the_file(api, cast, study, params):
    file = table(cast.client("researcher"), study.url("agreement") + "numbers.csv", **params)
    states = {row.pop("certificate", "") for row in file}
    assert states == {api("researcher").get(AGREEMENT, params).json()["certificates"]}
    api_rows = rows(api("researcher"), AGREEMENT, **params)
    assert [cells(row).keys() for row in api_rows] == [row.keys() for row in file]
    for ours, theirs in zip(api_rows, file, strict=True):
        for name in ("scope", "name", "measure", "reason"):
            assert (ours[name] or "") == theirs[name]
        for name in ("value", "low", "high", "n", "missing"):
            assert ours[name] == (float(theirs[name]) if theirs[name] else None)


def test_number_has_n_and_reason(api, study):
    """ann and ben agree on 5 of 6 pairs: see the material."""
    (share,) = [
        row
        for row in rows(api("researcher"), AGREEMENT, scope="all")
        if row["measure"] == "percent_agreement"
    ]
    assert (share["value"], share["n"], share["missing"]) == (pytest.approx(5 / 6), 6, 0)
    assert share["reason"] == "no interval, because there are fewer than two clusters"


def test_response_states_defaults_that_reproduce_it(api, study):
    client = api("researcher")
    first = client.get(AGREEMENT).json()
    assert first["selection"] == {
        "rubric": "answerable",
        "raters": "ann,ben",
        "judge": "judge",
        "eta": "3",
    }
    assert client.get(AGREEMENT, first["selection"]).json() == first


def test_eta_is_returned_without_judge(api, study):
    Rating.objects.filter(rater=study.judge).delete()
    answer = api("researcher").get(AGREEMENT, {"eta": "2"}).json()
    assert answer["selection"] == {"rubric": "answerable", "raters": "ann,ben", "eta": "2"}


def test_empty_judge_differs_from_default_judge(api, study):
    def scopes(**params):
        return {row["scope"] for row in rows(api("researcher"), AGREEMENT, **params)}

    assert scopes() - scopes(judge="") == {"judge", "judge_rater", "judge_system", "eta"}


def test_scope_filters_and_pages_are_complete(api, study):
    client = api("researcher")
    all_rows = rows(client, AGREEMENT)
    for scope in {row["scope"] for row in all_rows}:
        assert rows(client, AGREEMENT, scope=scope) == [r for r in all_rows if r["scope"] == scope]
    url, paged = AGREEMENT + "?limit=50", []
    while url:
        page = client.get(url).json()
        paged += page["results"]
        url = page["next"]
    assert paged == all_rows
    assert page["count"] == len(all_rows)


@pytest.mark.parametrize(
    "params", [{}, {"source": "other"}, {"source": "majority", "cutoff": "1", "rules": "authors"}]
)
def test_scores_have_the_numbers_of_the_files(api, cast, room, params):
    browser = cast.client("researcher")
    api_rows = {
        (row["scope"], row["name"], row["measure"]): row
        for row in rows(api("researcher"), SCORES, **params)
    }
    for line in table(browser, "/datasets/room/systems/systems.csv", **params):
        for metric in METRICS:
            row = api_rows[line["group"], line["name"], metric]
            for name in ("low", "high", "n", "missing"):
                assert str(cells(row)[name]) == line[f"{metric}_{name}"]
            assert (str(cells(row)["value"]), row["reason"] or "") == (
                line[metric],
                line[f"{metric}_reason"],
            )
        for name in ("topics", "cells", "unrated_cells", "texts_without_words"):
            assert api_rows[line["group"], line["name"], name]["value"] == int(line[name])
    for line in table(browser, "/datasets/room/systems/topics.csv", **params):
        name, topic = line.pop("name"), line.pop("topic")
        for measure, value in line.items():
            if measure.endswith(("_reason", "certificate")) or (
                measure == "alpha_ndcg_ndeval" and not value
            ):
                continue
            row = api_rows["topic", f"{name}, {topic}", measure]
            assert row["value"] == (float(value) if value else None)
            assert (row["reason"] or "") == line.get(f"{measure}_reason", "")


def test_score_on_a_topic_has_its_n_and_missing(api, room):
    api_rows = {
        (row["name"], row["measure"]): row for row in rows(api("researcher"), SCORES, scope="topic")
    }
    n = 0
    for row in score(room, ScoringQuery(room, {}).options).rows:
        for topic, of_topic in row.topics.items():
            for metric in METRICS:
                estimate, api_row = (
                    of_topic.metric(metric),
                    api_rows[f"{row.row.name}, {topic}", metric],
                )
                assert (api_row["value"], api_row["n"], api_row["missing"]) == (
                    estimate.value,
                    estimate.n,
                    estimate.missing,
                )
                n += 1
    assert n == 5 * 4 * 6  # Z*, three runs and the reports of `good`; topics; metrics


def test_mean_coverage_of_the_material(api, room):
    api_rows = rows(api("researcher"), SCORES, scope="runs")
    means = {row["name"]: row["value"] for row in api_rows if row["measure"] == "coverage"}
    assert means == {"good": 1, "fair": 0.625, "poor": 0.25}


@pytest.mark.parametrize(
    ("address", "status", "detail"),
    [
        ("nowhere/agreement/", 404, "There is no dataset called nowhere."),
        (
            "ferry/agreement/?raters=ann,bob",
            404,
            "There is no rater under answerable in ferry called",
        ),
        (
            "ferry/agreement/?judge=none",
            404,
            "There is no judge of these pairs called “none”",
        ),
        ("ferry/agreement/?eta=9", 404, "There is no eta “9”. There are: 1, 2, 3, 4, 5."),
        ("ferry/agreement/?eta=two", 400, "eta: A valid integer is required."),
        ("ferry/agreement/?scope=pairs", 400, 'scope: "pairs" is not a valid choice.'),
        ("ferry/agreement/?rubric=", 400, "rubric: is empty"),
        ("ferry/agreement/?judge=a&judge=b", 400, "judge: is given more than once"),
        ("ferry/agreement/?sourse=x", 400, "sourse: is no parameter here; there are: page, limit"),
        ("ferry/agreement/?limit=10001", 400, "limit: Ensure this value is less than or equal to"),
        ("ferry/scores/?source=nobody", 404, "There is no source of grades “nobody”. There are:"),
        ("ferry/scores/?cutoff=0", 404, "There is no cut-off “0”."),
        ("ferry/scores/?eta=x", 404, "There is no eta “x”. There are: 1, 2, 3, 4, 5."),
        ("ferry/scores/?rules=mine", 400, 'rules: "mine" is not a valid choice.'),
        ("ferry/scores/?page=99", 404, "Invalid page."),
    ],
)
def test_unknown_value_is_refused_with_the_alternatives(api, study, address, status, detail):
    answer = api("researcher").get(f"/api/v1/datasets/{address}")
    assert answer.json()["detail"].startswith(detail)
    assert answer.status_code == status


def test_dataset_that_nobody_has_rated_has_no_scores_and_undefined_agreement(api, db):
    Dataset.objects.create(slug="bare", title="Bare")
    client = api("researcher")
    answer = client.get(SCORES.replace("room", "bare"))
    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("This dataset has no ratings")
    api_rows = rows(client, AGREEMENT.replace("ferry", "bare"), scope="all")
    (kappa,) = [row for row in api_rows if row["measure"] == "fleiss_kappa"]
    assert (kappa["value"], kappa["n"]) == (None, 0)
    assert kappa["reason"].startswith("undefined, because")


def test_numbers_are_cached_until_data_change(api, study, django_assert_max_num_queries):
    client = api("researcher")
    rows(client, AGREEMENT)
    # token, dataset, rubrics, levels, campaigns, raters, judges, the five of the data's version
    with django_assert_max_num_queries(13):
        rows(client, AGREEMENT)

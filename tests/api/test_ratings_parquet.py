"""Ratings as a Parquet file: the rows and filters of the JSON list, and its refusals."""

from datetime import datetime
from io import BytesIO

import pytest

from annotation.models import Dataset, NuggetSpan, Project, Rating
from crux_site.exports import page
from tests.toolbox.agreement_study import make_study
from tests.toolbox.factories import make_dataset

pq = pytest.importorskip(
    "pyarrow.parquet", reason="NOT RUN: pyarrow (the extra cluster) is not installed"
)

LIST = "/api/v1/datasets/ferry/ratings/"
URL = f"{LIST}parquet/"


@pytest.fixture(scope="module")
def kept_study(shared_world):
    return shared_world(make_study)


@pytest.fixture
def study(kept_study):
    """The study, with a second span of a rating and a copied grade."""
    rating = kept_study.rating(kept_study.ann, kept_study.oracle, 1)
    NuggetSpan.objects.create(rating=rating, position=1, start=0, end=3, quote="The")
    Rating.objects.filter(rater=kept_study.ben, text=kept_study.bm25).update(
        copied_from=kept_study.oracle
    )
    return kept_study


@pytest.fixture
def client(api, study):
    return api("researcher")


def rows_of(answer):
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/vnd.apache.parquet"
    return pq.read_table(BytesIO(answer.getvalue())).to_pylist()


def flat_rows(answer):
    """Return the rows of the JSON list with the columns of the file."""
    page = answer.json()
    assert page["next"] is None
    rows = []
    for row in page["results"]:
        flat = {}
        for name, value in row.items():
            nested = value if isinstance(value, dict) else None
            flat |= (
                {f"{name}_{key}": of_key for key, of_key in nested.items()}
                if nested
                else {name: value}
            )
        rows.append(flat | {"created": datetime.fromisoformat(row["created"])})
    return rows


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ({}, 17),
        ({"rater": "ann"}, 6),
        ({"rubric": "graded"}, 5),
        ({"topic": "ferry-1"}, 17),
        ({"kind": "report"}, 17),
        ({"kind": "passage"}, 0),
        ({"system": "annotated.bm25", "rater": "judge"}, 2),
    ],
)
def test_file_has_the_rows_of_the_list(client, query, n):
    rows = rows_of(client.get(URL, query))
    assert rows == flat_rows(client.get(LIST, query | {"limit": 1000}))
    assert len(rows) == n


def test_spans_and_copies_are_in_their_rows(client, study):
    rows = rows_of(client.get(URL))
    assert [span["start"] for span in rows[0]["spans"]] == [14, 0]
    assert {row["copied_from"] for row in rows} == {None, study.oracle.pk}
    assert [span for row in rows for span in row["spans"] if span["start"] is None] == [
        {"start": None, "end": None, "quote": "", "located": "unlocated"}
    ]


@pytest.mark.parametrize("size", [1, 4, 17])
def test_file_of_several_row_groups_is_complete(client, study, monkeypatch, size):
    monkeypatch.setattr("crux_site.exports.parquet._RATINGS_AT_ONCE", size)
    answer = client.get(URL)
    assert pq.ParquetFile(BytesIO(answer.getvalue())).num_row_groups == -(-17 // size)
    assert rows_of(client.get(URL)) == flat_rows(client.get(LIST))


def test_file_without_ratings_has_its_columns(client, study):
    columns = pq.read_table(BytesIO(client.get(URL).getvalue())).schema
    NuggetSpan.objects.all().delete()
    Rating.objects.all().delete()
    table = pq.read_table(BytesIO(client.get(URL).getvalue()))
    assert (table.num_rows, table.schema) == (0, columns)


def test_file_is_named_after_the_dataset(client):
    answer = client.get(URL, headers={"Accept": "application/vnd.apache.parquet"})
    assert answer["Content-Disposition"] == 'attachment; filename="ferry.ratings.parquet"'
    assert int(answer["Content-Length"]) == len(answer.getvalue())


def test_ratings_of_other_datasets_are_left_out(client, study):
    other_dataset = make_dataset("other")
    rating = Rating.objects.first()
    Rating.objects.create(
        rater=rating.rater,
        rubric=rating.rubric,
        text=other_dataset.texts.first(),
        question=rating.question,
        grade=0,
    )
    assert len(rows_of(client.get(URL))) == 17


def test_dataset_of_another_project_is_not_found(client, study):
    project = Project.objects.create(slug="theirs", title="Theirs")
    Dataset.objects.filter(pk=study.dataset.pk).update(project=project)
    answer = client.get(URL)
    assert answer.status_code == 404
    assert answer.json()["detail"] == "There is no dataset called ferry."


@pytest.mark.parametrize(
    ("address", "status", "detail"),
    [
        ("nowhere/ratings/parquet/", 404, "There is no dataset called nowhere."),
        ("ferry/ratings/parquet/?rater=nobody", 404, "There is no rater called nobody in ferry."),
        ("ferry/ratings/parquet/?rubric=none", 404, "There is no rubric called none."),
        ("ferry/ratings/parquet/?topic=lost", 404, "There is no topic called lost in ferry."),
        ("ferry/ratings/parquet/?rater=", 400, "rater: is empty"),
        ("ferry/ratings/parquet/?kind=report&kind=passage", 400, "kind: is given more than once"),
        (
            "ferry/ratings/parquet/?kind=novel",
            400,
            "kind: Select a valid choice. novel is not one of the available choices.",
        ),
        (
            "ferry/ratings/parquet/?limit=5",
            400,
            "limit: is no parameter here; there are: topic, kind, system, rater, rubric",
        ),
    ],
)
def test_refused_request_has_reason_as_json(client, address, status, detail):
    answer = client.get(
        f"/api/v1/datasets/{address}", headers={"Accept": "application/vnd.apache.parquet"}
    )
    assert answer["Content-Type"] == "application/json"
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)


@pytest.mark.parametrize(("role", "status"), [("stranger", 401), ("worker", 403)])
def test_file_is_for_researchers(api, study, role, status):
    assert api(role).get(URL).status_code == status


def test_invalid_token_is_refused(client):
    client.credentials(HTTP_AUTHORIZATION="Token wrong")
    assert client.get(URL).status_code == 401


def test_post_is_refused(client):
    answer = client.post(URL, {}, format="json")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


def test_site_without_pyarrow_says_what_is_missing(client, monkeypatch):
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    answer = client.get(URL)
    assert (answer.status_code, answer.json()["detail"]) == (404, page.NO_PYARROW)

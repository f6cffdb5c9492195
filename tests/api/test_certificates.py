"""Certificates over the API: states, one certificate, and the test of a judge."""

import pytest

from annotation.models import Rating
from evaluation.models import Certificate
from tests.toolbox.certificate_study import make_certificate_study

URL = "/api/v1/datasets/bay/certificates/"


@pytest.fixture
def study(db):
    return make_certificate_study()


def post(client, **body):
    return client.post(URL, {"rubric": "graded"} | body, content_type="application/json")


def test_judge_is_tested_and_listed(cast, study):
    admin = cast.client("admin")
    answer = post(admin, judge="near", epsilon=0.1)
    assert answer.status_code == 201
    content = answer.json()
    assert (content["state"], content["parameters"]["epsilon"]) == ("holds", 0.1)
    assert content["result"]["n_pairs"] == 40
    rows = {row["judge"]: row for row in admin.get(URL).json()["results"]}
    assert rows["near"]["state"] == "holds"
    assert rows["near"]["winning_rate"] == 1
    assert rows["far"]["state"] == "not tested"
    assert rows["far"]["tested"] is None
    one = admin.get(f"{URL}graded/near/").json()
    assert one == content
    assert Certificate.objects.get().created_by == cast.admin


def test_changed_grade_is_visible_in_the_next_answer(cast, study):
    admin = cast.client("admin")
    post(admin, judge="near")
    Rating.objects.filter(pk=study.rating("ben").pk).update(grade=0)
    one = admin.get(f"{URL}graded/near/").json()
    assert (one["state"], one["void_because"]) == ("void", "1 grade changed in bay-1")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"judge": "nobody"}, 422, "nobody"),
        ({"judge": "near", "people": "ann"}, 422, "The test needs 2 people"),
        ({"judge": "near", "rubric": "nothing"}, 422, "nothing"),
        ({"judge": "near", "epsilon": 2}, 400, "epsilon"),
        ({"judge": "near", "epsilon": "0.1"}, 400, "epsilon"),
        ({}, 400, "judge"),
        ({"judge": "near", "margin": 1}, 400, "margin"),
    ],
)
def test_invalid_bodies_are_refused_and_store_nothing(cast, study, body, status, message):
    answer = post(cast.client("admin"), **body)
    assert answer.status_code == status, answer.content
    assert message in answer.content.decode()
    assert not Certificate.objects.exists()


def test_researchers_read_and_do_not_test(cast, study):
    rosa = cast.client("researcher")
    assert rosa.get(URL).status_code == 200
    assert post(rosa, judge="near").status_code == 403
    assert cast.client("worker").get(URL).status_code == 403


def test_missing_certificate_or_dataset_is_not_found(cast, study):
    admin = cast.client("admin")
    assert admin.get(f"{URL}graded/near/").status_code == 404
    assert admin.get("/api/v1/datasets/nothing/certificates/").status_code == 404
    assert admin.delete(URL).status_code == 405

"""Appending ratings of external judges: all or none, once, with located errors."""

import threading

import pytest
from django.db import connection, connections

from annotation.api import appending
from annotation.models import Rater, Rating, Text
from annotation.participation import assigning
from tests.toolbox.factories import make_dataset

RATINGS_URL = "/api/v1/datasets/ferry/ratings/"


def grade(value=4, position=0, name="ferry-1:0#0"):
    return {
        "text": {"kind": "passage", "name": name},
        "question": {"topic": "ferry-1", "position": position},
        "grade": value,
    }


def body(*rows, **changes):
    return {"rater": "new-judge", "rubric": "graded", "ratings": list(rows)} | changes


@pytest.fixture
def send(api, dataset):
    client = api("admin")
    return lambda sent: client.post(RATINGS_URL, sent, format="json")


def test_grades_are_added_to_a_new_rater(send, dataset):
    answer = send(body(grade(4), grade(0, position=1)))
    assert (answer.status_code, answer.json()) == (
        200,
        {"rater": "new-judge", "rubric": "graded", "added": 2, "there_before": 0},
    )
    rater = Rater.objects.get(name="new-judge")
    assert (rater.dataset, rater.kind) == (dataset, "model")
    ratings = rater.ratings.values_list("text__name", "question__position", "grade")
    assert sorted(ratings) == [("ferry-1:0#0", 0, 4), ("ferry-1:0#0", 1, 0)]


def test_append_is_idempotent(send):
    rows = [grade(4), grade(0, position=1)]
    send(body(*rows))
    before = list(Rating.objects.values())
    assert send(body(*rows)).json()["there_before"] == 2
    assert list(Rating.objects.values()) == before
    more = send(body(*rows, grade(5, position=2))).json()
    assert (more["added"], more["there_before"]) == (1, 2)


def test_ids_name_the_same_as_names(send, dataset):
    send(body(grade(4)))
    text = dataset.texts.get(name="ferry-1:0#0")
    question = dataset.topics.get().questions.get(position=0)
    repeated = send(body({"text": text.pk, "question": question.pk, "grade": 4})).json()
    assert repeated["there_before"] == 1


def test_number_without_a_fraction_is_an_integer(send):
    """JSON has one kind of numbers."""
    assert send(body(grade(3.0, position=1.0))).json()["added"] == 1
    assert send(body(grade(3, position=1))).json()["there_before"] == 1


def test_report_is_named_with_its_system(send):
    row = grade(1) | {"text": {"kind": "report", "system": "annotated.bm25", "name": "ferry-1"}}
    assert send(body(row)).json()["added"] == 1
    assert Rating.objects.get().text.system == "annotated.bm25"


def test_contradicting_grade_is_refused_and_nothing_added(send):
    send(body(grade(4)))
    answer = send(body(grade(5, position=1), grade(3)))
    message = "the passage 'ferry-1:0#0' and question 0 of topic 'ferry-1' have the grade 4 already"
    assert answer.status_code == 409
    assert answer.json() == {
        "detail": f"item 1: grade: {message}",
        "errors": [{"index": 1, "field": "grade", "message": message}],
    }
    assert Rating.objects.get().grade == 4


@pytest.mark.parametrize(
    ("sent", "status", "errors"),
    [
        (
            body(grade(), grade(9, position=1)),
            422,
            [(1, "grade", "9 is no grade of graded (0, 1, 2, 3, 4, 5)")],
        ),
        (
            body(grade(name="lost"), grade(position=77)),
            422,
            [
                (0, "text", "the passage 'lost' is not in ferry"),
                (1, "question", "question 77 of topic 'ferry-1' is not in ferry"),
            ],
        ),
        (
            body({"text": 2**40, "question": 2**63 - 1, "grade": 1}),
            422,
            [
                (0, "text", f"id {2**40} is not in ferry"),
                (0, "question", f"id {2**63 - 1} is not in ferry"),
            ],
        ),
        (body(grade(4), grade(4)), 422, [(1, "", "this is the pair of item 0 again")]),
        (body(grade(), rubric="none"), 422, [(None, "rubric", "there is no rubric called none")]),
    ],
)
def test_unknown_names_are_refused_with_position(send, sent, status, errors):
    answer = send(sent)
    assert answer.status_code == status
    assert [tuple(error.values()) for error in answer.json()["errors"]] == errors
    assert not Rating.objects.exists()
    assert not Rater.objects.filter(name="new-judge").exists()


@pytest.mark.parametrize(
    ("sent", "positions"),
    [
        ([], [(None, "")]),
        ({}, [(None, "rater"), (None, "rubric"), (None, "ratings")]),
        (body(), [(None, "ratings")]),
        (body(grade("4")), [(0, "grade")]),
        (body(grade(True)), [(0, "grade")]),
        (body(grade(-1)), [(0, "grade")]),
        (body(grade(3.5)), [(0, "grade")]),
        (body(grade(position=1), grade(position=True)), [(1, "question.position")]),
        (body(grade(), 7), [(1, "")]),
        (body(grade() | {"note": "x"}), [(0, "note")]),
        (body(grade() | {"text": {"kind": "novel", "name": "x"}}), [(0, "text.kind")]),
        (body(grade(name="a\x00b")), [(0, "text.name")]),
        (body(grade() | {"text": "1"}), [(0, "text")]),
        (body(grade() | {"question": 0}), [(0, "question")]),
        (body(grade(), rater="two words"), [(None, "rater")]),
        (body(grade(), rater="a\n"), [(None, "rater")]),
    ],
)
def test_malformed_body_is_refused_with_position(send, sent, positions):
    answer = send(sent)
    assert answer.status_code == 400
    assert [(error["index"], error["field"]) for error in answer.json()["errors"]] == positions
    assert not Rating.objects.exists()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"{", 400),
        (b"\xff", 400),
        (b"[" * 200_000, 400),
        (b'{"rater": NaN}', 400),
        (b'{"rater": "\\ud800", "rubric": "graded", "ratings": [1]}', 400),
        (b'{"\\ud800": 1}', 400),
        (b'{"rater": 1' + b"0" * 10_000 + b"}", 400),
        (b" " * (8 * 2**20 + 1), 413),
    ],
)
def test_invalid_json_is_refused(api, dataset, raw, status):
    answer = api("admin").post(RATINGS_URL, raw, content_type="application/json")
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_only_json_is_read(api, dataset):
    answer = api("admin").post(RATINGS_URL, {"rater": "x"}, format="multipart")
    assert answer.status_code == 415


def test_too_many_at_once_are_refused(send, monkeypatch):
    assert appending.MAX_RATINGS == 5000
    answer = send(body(*[grade()] * 5001))
    assert answer.status_code == 400
    assert "5000" in answer.json()["detail"]


def test_errors_that_repeat_are_counted(send):
    answer = send(body(*[grade(name=f"lost-{number}") for number in range(30)])).json()
    assert len(answer["errors"]) == 20
    assert answer["detail"].endswith("(and 29 more)")


@pytest.mark.parametrize("name", ["ada", "wil", "a-judge", "a-baseline", "reader1"])
def test_names_of_people_judges_and_baselines_are_refused(send, cast, dataset, name):
    """Names of an account, a rater, a rater from a file, a site judge, and a baseline.

    ada has an account, wil also rates; reader1 came in a file; a-judge is a judge of the site.
    """
    assigning.rater_of(cast.worker)
    Rater.objects.create(name="a-judge", kind="model")
    Rater.objects.create(name="a-baseline", kind="baseline", dataset=dataset)
    Rater.objects.create(name="reader1", kind="human", dataset=dataset)
    n = Rater.objects.count()
    answer = send(body(grade(), rater=name))
    assert answer.status_code == 409
    assert answer.json()["errors"][0]["field"] == "rater"
    assert (Rating.objects.count(), Rater.objects.count()) == (0, n)


def test_same_name_in_another_dataset_is_another_rater(send, dataset):
    Rater.objects.create(name="new-judge", kind="human", dataset=make_dataset("other"))
    assert send(body(grade())).json()["added"] == 1


def test_texts_of_another_dataset_are_not_found(send, dataset):
    text = make_dataset("other").texts.first()
    row = grade() | {"text": text.pk}
    assert send(body(row)).status_code == 422


def test_five_thousand_take_few_queries(send, dataset, django_assert_max_num_queries):
    Text.objects.bulk_create(
        Text(dataset=dataset, kind="passage", name=f"p{number}") for number in range(1250)
    )
    rows = [grade(3, position, f"p{number}") for number in range(1250) for position in range(4)]
    with django_assert_max_num_queries(80):  # SQLite takes only some 6,500 rows to a statement
        assert send(body(*rows)).json()["added"] == 5000
    with django_assert_max_num_queries(30):
        assert send(body(*rows)).json()["there_before"] == 5000


@pytest.mark.django_db(transaction=True)
def test_same_grades_sent_at_once_are_stored_once(send):
    answers = []

    def send_once():
        answers.append(send(body(grade(4), grade(2, position=1))))
        connections.close_all()

    threads = [threading.Thread(target=send_once) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [200] * 4
    assert sum(answer.json()["added"] for answer in answers) == 2
    assert Rating.objects.count() == 2
    assert connection.is_usable()

"""POST /work/answers/: replay of a browser's queue, with a result for each entry."""

import json
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.test import Client

from annotation.models import Answer, Assignment, Rating, User
from annotation.task import saving
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.threads import in_threads

URL = "/work/answers/"


def post_queue(client, entries):
    return client.post(
        URL,
        json.dumps(entries),
        content_type="application/json",
        HTTP_X_REQUESTED_WITH="fetch",
    )


def send(client, entries):
    response = post_queue(client, entries)
    assert response.status_code == 200, response.content
    return response.json()["results"]


def statuses(results):
    return [result["status"] for result in results]


def entry(assignment, position=0, grade=1, *, key=None, base="", spans="[]"):
    question = assignment.item.asked.get(position=position).question_id
    fields = {"key": str(key or uuid4()), "grade": str(grade), "spans": spans, "base": str(base)}
    return {"url": f"/work/{assignment.pk}/answers/{question}/", "fields": fields}


def end(assignment, kind="submit", **fields):
    return {"url": f"/work/{assignment.pk}/{kind}/", "fields": fields}


def test_answers_and_the_end_of_their_item_are_taken_in_order(cast, assignment):
    first, second = uuid4(), uuid4()
    queue = [
        entry(assignment, 0, 1, key=first),
        entry(assignment, 0, 0, key=second, base=first),
        entry(assignment, 1, 0),
        entry(assignment, 2, 0),
        end(assignment, active_ms="1200"),
    ]
    results = send(cast.client("worker"), queue)
    assert statuses(results) == [204, 204, 204, 204, 200]
    assert results[-1]["reply"]["next"].startswith("/work/")
    assert list(Answer.objects.order_by("pk").values_list("key", flat=True))[:2] == [first, second]
    assignment.refresh_from_db()
    assert (assignment.state, assignment.active_ms) == ("submitted", 1200)
    assert Rating.objects.get(question=assignment.item.asked.get(position=0).question).grade == 0


def test_refused_answer_does_not_lose_the_others(cast, assignment):
    queue = [entry(assignment, 0), entry(assignment, 1, grade=7), entry(assignment, 2)]
    results = send(cast.client("worker"), queue)
    assert statuses(results) == [204, 422, 204]
    assert results[1]["reply"] == "The grade must be one of 0, 1, not 7."
    assert Answer.objects.count() == 2


def test_entries_that_rest_on_a_refused_answer_are_not_taken(cast, assignment):
    refused = uuid4()
    queue = [
        entry(assignment, 0, grade=7, key=refused),
        entry(assignment, 0, grade=1, base=refused),
        entry(assignment, 1, grade=0),
        end(assignment),
        end(assignment, "skip", note="It has no end."),
    ]
    assert statuses(send(cast.client("worker"), queue)) == [422, 424, 204, 424, 424]
    assignment.refresh_from_db()
    assert assignment.state == "open"
    assert Answer.objects.count() == 1


def test_conflict_shows_the_newer_answer_and_holds_back_what_follows_it(cast, assignment):
    client, known_key, own_key = cast.client("worker"), uuid4(), uuid4()
    send(client, [entry(assignment, 0, grade=0, key=known_key)])
    queue = [
        entry(assignment, 0, grade=1, key=own_key),
        entry(assignment, 0, grade=1, base=own_key),
        entry(assignment, 1, grade=1),
    ]
    results = send(client, queue)
    assert statuses(results) == [409, 424, 204]
    assert (results[0]["reply"]["key"], results[0]["reply"]["grade"]) == (str(known_key), 0)


def test_queue_sent_twice_is_stored_once(cast, assignment):
    client, first, second = cast.client("worker"), uuid4(), uuid4()
    queue = [
        entry(assignment, 0, 1, key=first),
        entry(assignment, 0, 0, key=second, base=first),
        entry(assignment, 1, 0),
        entry(assignment, 2, 0),
        end(assignment),
    ]
    for _ in range(2):
        assert statuses(send(client, queue)) == [204, 204, 204, 204, 200]
    assert Answer.objects.count() == 4


@pytest.mark.parametrize("acting", ["other_worker", "researcher"])
def test_queue_with_a_foreign_item_gets_404(cast, assignment, acting):
    results = send(cast.client(acting), [entry(assignment), end(assignment)])
    assert statuses(results) == [404, 424]
    assert not Answer.objects.exists()


@pytest.mark.parametrize(
    "url",
    ["/work/1/", "/work/", "/nowhere/", "/logout/", "/work/answers/", "//x", "", "\x00"],
)
def test_address_that_takes_no_answer_is_not_there(cast, assignment, url):
    results = send(cast.client("worker"), [{"url": url, "fields": {}}, entry(assignment)])
    assert statuses(results) == [404, 204]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "{}",
        "3",
        "[3]",
        '[{"url": 3, "fields": {}}]',
        '[{"url": "/"}]',
        '[{"url": "/", "fields": []}]',
        '[{"url": "/", "fields": {"key": 3}}]',
        "[" * 50_000,
    ],
)
def test_body_of_another_shape_is_refused(cast, body):
    client = cast.client("worker")
    response = client.post(URL, body, content_type="application/json")
    assert response.status_code == 400


def test_half_a_surrogate_pair_in_a_note_is_no_error_of_the_server(cast, assignment):
    [result] = send(cast.client("worker"), [end(assignment, "skip", note="It ends: \ud83d")])
    assert result["status"] == 200
    assignment.refresh_from_db()
    assert assignment.note == "It ends: ?"


def test_queue_that_is_too_long_is_refused(cast, assignment):
    assert post_queue(cast.client("worker"), [entry(assignment)] * 51).status_code == 400


def test_only_post_is_allowed(cast):
    assert cast.client("worker").get(URL).status_code == 405


def test_queue_of_a_logged_out_person_redirects_to_login(db):
    assert post_queue(Client(), []).status_code == 302


def test_token_is_needed(cast):
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.worker)
    assert post_queue(client, []).status_code == 403


def test_queue_reports_entries_saved_before_a_database_error(cast, assignment, monkeypatch):
    real, calls = saving.save_answer, []

    def failing(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise OperationalError("database is locked")
        return real(*args, **kwargs)

    monkeypatch.setattr(saving, "save_answer", failing)
    queue = [entry(assignment, position) for position in range(3)]
    client = cast.client("worker")
    client.raise_request_exception = False
    assert statuses(send(client, queue)) == [
        204
    ]  # the client keeps the other two, and sends them again
    calls.append(1)
    assert statuses(send(client, queue)) == [204, 204, 204]
    assert Answer.objects.count() == 3
    calls[:] = [1]
    assert post_queue(client, queue).status_code == 503


def test_queue_sent_by_concurrent_tabs_is_stored_once_in_order(transactional_db):
    worker = User.objects.create_user("wil")
    campaign = make_campaign(make_dataset(), worker)
    assignment = Assignment.objects.filter(participant__campaign=campaign).first()
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(worker)
    queue, bases = [], ["", "", ""]
    for number in range(15):
        position, key = number % 3, uuid4()
        queue.append(entry(assignment, position, number % 2, key=key, base=bases[position]))
        bases[position] = key
    queue.append(end(assignment))
    start = Barrier(2)

    def send_at_once(client):
        start.wait()
        return send(client, queue)

    for results in in_threads(send_at_once, clients):
        # Grades of 1 without a span leave the item incomplete: only answers are compared here.
        assert statuses(results)[:15] == [204] * 15
    stored = Answer.objects.order_by("pk").values_list("question", "key")
    assert len(stored) == 15
    for position in range(3):
        sent = [one["fields"]["key"] for one in queue[position:15:3]]
        question = assignment.item.asked.get(position=position).question_id
        assert [str(key) for stored_question, key in stored if stored_question == question] == sent


def test_concurrent_queues_lose_no_acknowledged_answer(transactional_db):
    worker = User.objects.create_user("wil")
    campaign = make_campaign(make_dataset(), worker)
    assignment = Assignment.objects.filter(participant__campaign=campaign).first()
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(worker)
    queues = [[entry(assignment, position, tab) for position in range(3)] for tab in range(2)]
    start = Barrier(2)

    def send_at_once(number):
        start.wait()
        return send(clients[number], queues[number])

    both = in_threads(send_at_once, range(2))
    stored = {str(key) for key in Answer.objects.values_list("key", flat=True)}
    for queue, results in zip(queues, both, strict=True):
        for sent, result in zip(queue, results, strict=True):
            assert result["status"] in (204, 409)
            assert (sent["fields"]["key"] in stored) == (result["status"] == 204)
    assert len(stored) == 3  # of each question one, and the other tab was shown it

"""Note and confidence of an answer: stored, exported, shown to researchers, found."""

from uuid import uuid4

import pytest
from django.urls import reverse

from annotation.models import Answer, Assignment
from tests.toolbox.responses import csv_rows, text_of_page

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
NOTE = "I was unsure because the quay has two names."


@pytest.fixture
def question(assignment):
    return assignment.item.asked.first().question


@pytest.fixture
def send(cast, assignment, question):
    url = f"/work/{assignment.pk}/answers/{question.pk}/"

    def send(grade=0, **fields):
        data = {"key": uuid4(), "grade": grade, "spans": "[]"} | fields
        return cast.client("worker").post(url, data, **BY_SCRIPT)

    return send


def stored():
    return list(Answer.objects.order_by("pk").values_list("grade", "note", "confidence"))


def test_answer_keeps_its_remark_until_it_is_changed(cast, assignment, send):
    assert send("", note=NOTE, confidence="low").status_code == 204  # before any grade
    assert send(0).status_code == 204  # from a page of an earlier version
    assert send(1, note="", confidence="").status_code == 204
    assert stored() == [(None, NOTE, "low"), (0, NOTE, "low"), (1, "", "")]
    state = cast.client("worker").get(f"/work/{assignment.pk}/state/").json()
    assert [(row["note"], row["confidence"]) for row in state["answers"]] == [("", "")]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"note": "x" * 1001}, "1,000 characters at most"),
        ({"confidence": "sure"}, "sure"),
        ({"note": "a\0b"}, ""),
    ],
)
def test_invalid_remark_is_refused(send, fields, problem):
    response = send(0, **fields)
    assert response.status_code == 422
    assert problem in response.text
    assert stored() == []


def test_page_without_scripts_sends_and_shows_a_remark(cast, assignment, question):
    client, url = cast.client("worker"), f"/work/{assignment.pk}/answers/{question.pk}/"
    data = {"key": uuid4(), "grade": 0, "note": NOTE, "confidence": "medium"}
    page = client.post(url, data, follow=True).text
    assert NOTE in page
    refused = client.post(url, data | {"key": uuid4(), "grade": 9, "note": "Another."}).text
    assert "Another." in refused
    assert stored() == [(0, NOTE, "medium")]


def test_researchers_read_find_and_export_a_remark(cast, assignment, question, send):
    send(0, note=NOTE, confidence="low")
    text, campaign = assignment.item.text, assignment.participant.campaign
    rosa = cast.client("researcher")
    pair = reverse("pair", args=[text.dataset.slug, text.pk, question.pk])
    page = text_of_page(rosa.get(f"{pair}?rubric={campaign.rubric.slug}"))
    assert f"confidence: low; {NOTE}" in page
    (row,) = csv_rows(rosa.get(reverse("notes_csv", args=[text.dataset.slug])))
    assert (row["note"], row["by"]) == (NOTE, assignment.participant.rater.name)
    search_page = rosa.get(reverse("search"), {"q": "unsure names", "in": "notes"})
    (group,) = search_page.context["groups"]
    assert [hit.url.split("?")[0] for hit in group.hits] == [pair]
    assert rosa.get(reverse("search"), {"q": "harbour", "in": "notes"}).context["n"] == 0
    send(0, note="")
    assert not Answer.objects.remarks().exclude(note="").exists()


@pytest.mark.parametrize("reason", [Answer.Late.EXCLUDED, Answer.Late.RETURNED])
def test_remark_of_an_answer_that_does_not_count_is_left_out(send, reason):
    send(0, note=NOTE)
    assert Answer.objects.remarks().count() == 1
    Answer.objects.update(late=reason)
    assert Answer.objects.remarks().count() == 0


def test_other_people_do_not_write_a_remark(cast, assignment, question):
    url = f"/work/{assignment.pk}/answers/{question.pk}/"
    data = {"key": uuid4(), "grade": 0, "note": NOTE}
    assert cast.client("admin").post(url, data, **BY_SCRIPT).status_code == 404
    assert Assignment.objects.get(pk=assignment.pk).answers.count() == 0

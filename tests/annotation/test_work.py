"""The worker's pages: they work, and refuse what they should."""

import json
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment, Campaign, NuggetSpan, Rating
from tests.factories import REPORT, make_campaign, make_dataset

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}


def question(assignment, position=0):
    return assignment.item.asked.get(position=position).question


def answer(client, assignment, *, position=0, grade="1", quotes=(), key=None, spans=None, **extra):
    if spans is None:
        spans = [
            {"start": REPORT.index(q), "end": REPORT.index(q) + len(q), "quote": q} for q in quotes
        ]
    data = {"key": key or uuid4(), "grade": grade, "spans": json.dumps(spans)}
    url = f"/work/{assignment.pk}/answers/{question(assignment, position).pk}/"
    return client.post(url, data, **extra)


def test_the_page_shows_text_questions_and_guideline(cast, assignment):
    page = cast.client("worker").get(assignment.get_absolute_url()).content.decode()
    assert "lost steering off the breakwater" in page
    assert "What failed on the Halden?" in page
    assert "could somebody who has" in page  # the guideline
    assert "What did it cost?" not in page  # filtered


def test_an_answer_is_saved_with_its_spans(cast, assignment):
    response = answer(
        cast.client("worker"), assignment, quotes=["112 people", "was hurt"], **BY_SCRIPT
    )
    assert response.status_code == 204
    rating = Rating.objects.get()
    assert (rating.grade, rating.rater.user, rating.rubric.slug) == (1, cast.worker, "answerable")
    assert [(s.start, s.end, s.quote) for s in rating.spans.all()] == [
        (REPORT.index("112 people"), REPORT.index("112 people") + 10, "112 people"),
        (REPORT.index("was hurt"), REPORT.index("was hurt") + 8, "was hurt"),
    ]
    assert Answer.objects.get().text_sha256 == assignment.item.text.sha256


def test_the_newest_answer_counts_and_the_older_stay(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, quotes=["112 people"])
    answer(client, assignment, grade="0")
    assert [a.grade for a in Answer.objects.order_by("id")] == [1, 0]
    assert Rating.objects.get().grade == 0
    assert not NuggetSpan.objects.exists()


def test_an_answer_can_be_taken_back(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, grade="0")
    answer(client, assignment, grade="")
    assert not Rating.objects.exists()
    assert [a.grade for a in Answer.objects.order_by("id")] == [0, None]


def test_the_same_key_is_the_same_answer(cast, assignment):
    client, key = cast.client("worker"), uuid4()
    for _ in range(3):
        assert answer(client, assignment, grade="0", key=key, **BY_SCRIPT).status_code == 204
    assert Answer.objects.count() == 1
    refused = answer(client, assignment, grade="1", key=key, **BY_SCRIPT)
    assert refused.status_code == 422
    assert "already carried another answer" in refused.content.decode()
    assert Rating.objects.get().grade == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"grade": "2"}, "one of 0, 1, not 2"),
        ({"grade": "-1"}, "one of 0, 1, not -1"),
        ({"grade": "many"}, "whole number"),
        ({"key": "no-uuid"}, "UUID"),
        ({"spans": [{"start": 0, "end": 3, "quote": "Ter"}]}, "the text says"),
        ({"spans": [{"start": 3, "end": 3, "quote": ""}]}, "0 <= start < end"),
        ({"spans": [{"start": -1, "end": 3, "quote": "x"}]}, "0 <= start < end"),
        ({"spans": [{"start": 0, "end": 9999, "quote": "x"}]}, "beyond the text"),
        ({"spans": [{"start": 3, "end": 4, "quote": " "}]}, "white space alone"),
        ({"spans": [{"from": 3}]}, "expected a list"),
        ({"spans": "not spans"}, "expected a list"),
        ({"spans": [{"start": 0.5, "end": "3", "quote": "The"}]}, "expected a list"),
        ({"spans": [{"start": False, "end": True, "quote": "T"}]}, "expected a list"),
        ({"spans": None, "quotes": ["x"]}, None),
    ],
)
def test_bad_answers_are_refused_and_change_nothing(cast, assignment, change, says):
    if says is None:
        change = {"spans": 7}
        says = "expected a list"
    response = answer(cast.client("worker"), assignment, **change, **BY_SCRIPT)
    assert response.status_code == 422
    assert says in response.content.decode()
    assert not Answer.objects.exists()
    assert not Rating.objects.exists()


def test_without_scripts_a_form_does_the_same(cast, assignment):
    client = cast.client("worker")
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    lines = "112 people\ncoupling that was  due"
    response = client.post(url, {"key": uuid4(), "grade": "1", "quotes": lines})
    assert (response.status_code, response.url) == (302, f"/work/{assignment.pk}/#q-1")
    first, second = NuggetSpan.objects.all()
    assert (first.quote, second.quote) == ("112 people", "coupling that was due")
    page = client.get(assignment.get_absolute_url()).content.decode()
    assert '<mark data-mark="1" data-label="1">112 people</mark>' in page
    client.post(url, {"key": uuid4(), "grade": "1", "keep": f"{first.start}:{first.end}"})
    assert [s.quote for s in NuggetSpan.objects.all()] == ["112 people"]
    page = client.post(
        url, {"key": uuid4(), "grade": "1", "quotes": "not there at all"}, follow=True
    )
    assert "not there at all" in page.content.decode()
    assert [s.quote for s in NuggetSpan.objects.all()] == ["112 people"]


@pytest.mark.parametrize("keep", ["x", "1", "1:", "1:2:3", "-1:3", "9" * 5000 + ":1", "٣:٤"])
def test_a_span_to_keep_that_is_no_place_is_refused(cast, assignment, keep):
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    response = cast.client("worker").post(
        url, {"key": uuid4(), "grade": "1", "keep": keep}, **BY_SCRIPT
    )
    assert response.status_code == 422
    assert "not a place in the text" in response.content.decode()
    assert not Answer.objects.exists()


def test_submit_wants_every_question_and_every_span(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, position=0, grade="1")
    answer(client, assignment, position=1, grade="0")
    response = client.post(f"/work/{assignment.pk}/submit/")
    assert response.status_code == 422
    page = response.content.decode()
    assert '<a href="#q-1">1 needs a span</a>' in page
    assert '<a href="#q-3">3 open</a>' in page
    assignment.refresh_from_db()
    assert assignment.state == "open"


def test_words_marked_before_a_grade_are_there_after_a_reload(cast, dataset):
    campaign = make_campaign(dataset, cast.worker, rubric="graded", kind="passage")
    item = Assignment.objects.get(participant__campaign=campaign)
    client = cast.client("worker")
    words = "divers found a crack"
    start = item.item.text.body.index(words)
    span = {"start": start, "end": start + len(words), "quote": words}
    answer(client, item, grade="", spans=[span])
    assert not Rating.objects.exists()  # no grade yet
    page = client.get(item.get_absolute_url()).content.decode()
    assert f"<q>{words}</q>" in page
    assert ">0 of 3<" in page
    answer(client, item, grade="4", spans=[span])
    assert Rating.objects.get().spans.get().quote == words


def hand_in(client, assignment):
    for position in range(3):
        answer(client, assignment, position=position, grade="0")
    client.post(f"/work/{assignment.pk}/submit/")


def test_an_item_that_was_handed_in_and_lacks_something_is_open_again(cast, assignment):
    client = cast.client("worker")
    hand_in(client, assignment)
    answer(client, assignment, position=1, grade="1", quotes=["112 people"])
    assignment.refresh_from_db()
    assert assignment.state == "submitted"  # changed, and still whole
    answer(client, assignment, position=1, grade="1")
    assignment.refresh_from_db()
    assert assignment.state == "open"


def test_what_was_handed_in_or_is_closed_cannot_be_skipped(cast, assignment):
    client = cast.client("worker")
    hand_in(client, assignment)
    assert client.post(f"/work/{assignment.pk}/skip/", **BY_SCRIPT).status_code == 422
    Assignment.objects.update(state="open")
    Campaign.objects.update(state="closed")
    assert client.post(f"/work/{assignment.pk}/skip/", **BY_SCRIPT).status_code == 422
    assignment.refresh_from_db()
    assert assignment.state == "open"


def test_submit_hands_in_and_goes_on(cast, assignment):
    client = cast.client("worker")
    for position in range(3):
        answer(client, assignment, position=position, grade="0")
    following = Assignment.objects.get(
        participant=assignment.participant, position=assignment.position + 1
    )
    response = client.post(f"/work/{assignment.pk}/submit/", **BY_SCRIPT)
    assert response.json() == {"next": f"/work/{following.pk}/"}
    assignment.refresh_from_db()
    assert assignment.state == "submitted"
    assert assignment.submitted_at is not None


def test_skip_keeps_the_answers_and_the_note(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, grade="0")
    response = client.post(f"/work/{assignment.pk}/skip/", {"note": "The report is cut off."})
    assert response.status_code == 302
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note) == ("skipped", "The report is cut off.")
    assert Rating.objects.count() == 1
    page = cast.client("researcher").get("/campaigns/ferry-answerable/").content.decode()
    assert "The report is cut off." in page


def test_a_closed_study_takes_nothing(cast, assignment):
    Campaign.objects.update(state="closed")
    client = cast.client("worker")
    response = answer(client, assignment, grade="0", **BY_SCRIPT)
    assert response.status_code == 422
    assert "closed" in response.content.decode()
    assert client.post(f"/work/{assignment.pk}/submit/", **BY_SCRIPT).status_code == 422
    assert not Answer.objects.exists()


@pytest.mark.parametrize("who", ["other_worker", "researcher", "admin"])
def test_another_persons_item_is_not_there(cast, assignment, who):
    client = cast.client(who)
    assert client.get(assignment.get_absolute_url()).status_code == 404
    assert answer(client, assignment, grade="0").status_code == 404
    assert client.post(f"/work/{assignment.pk}/submit/").status_code == 404
    assert client.post(f"/work/{assignment.pk}/skip/").status_code == 404


def test_a_stranger_is_asked_to_log_in(cast, assignment):
    client = cast.client("stranger")
    for url in ("/work/", "/work/in/ferry-answerable/", assignment.get_absolute_url()):
        assert client.get(url).url.startswith("/login/?next=")
    assert answer(client, assignment, grade="0").url.startswith("/login/")
    assert not Answer.objects.exists()


def test_wrong_methods_and_missing_ids(cast, assignment):
    client = cast.client("worker")
    url = assignment.get_absolute_url()
    assert client.post(url).status_code == 405
    assert client.get(f"{url}submit/").status_code == 405
    assert client.get(f"{url}skip/").status_code == 405
    assert client.get(f"{url}answers/{question(assignment).pk}/").status_code == 405
    assert client.get("/work/999999/").status_code == 404
    assert client.post(f"{url}answers/999999/", {}).status_code == 404
    assert client.get("/work/in/nowhere/").status_code == 404


def test_a_question_that_the_item_does_not_ask_is_refused(cast, assignment):
    filtered = assignment.item.text.topic.questions.get(position=3)
    url = f"/work/{assignment.pk}/answers/{filtered.pk}/"
    assert cast.client("worker").post(url, {"key": uuid4(), "grade": 0}).status_code == 404


def test_my_work_lists_studies_and_items(cast, assignment):
    client = cast.client("worker")
    assert "0 of 2 handed in" in client.get("/work/").content.decode()
    page = client.get("/work/in/ferry-answerable/").content.decode()
    assert page.count("/work/") >= 3
    assert "Begin" in page
    assert "Nothing is waiting" in cast.client("researcher").get("/work/").content.decode()


def test_t2_shows_the_rubric_and_nothing_of_t1(cast, dataset):
    make_campaign(dataset, cast.worker)
    campaign = make_campaign(dataset, cast.worker, rubric="graded", kind="passage")
    client = cast.client("worker")
    t1 = Assignment.objects.get(participant__campaign__slug="ferry-answerable", position=0)
    answer(client, t1, quotes=["112 people"])
    t2 = Assignment.objects.get(participant__campaign=campaign)
    page = client.get(t2.get_absolute_url()).content.decode()
    for grade, label in ((5, "Answers the question fully"), (0, "Nothing to do with")):
        assert f'value="{grade}"' in page
        assert label in page
    assert "112 people" not in page
    assert "checked" not in page.split('id="help"')[0]


def test_texts_without_words_are_never_handed_out(cast):
    dataset = make_dataset("gaps")
    campaign = make_campaign(dataset, cast.worker, rubric="graded", kind="passage")
    assert [item.text.name for item in campaign.items.all()] == ["gaps-1:0#0"]


def test_the_draw_of_questions_is_frozen_and_the_same_for_all(cast, dataset):
    campaign = make_campaign(dataset, cast.worker, cast.other_worker, questions_per_item=2, seed=7)
    asked = [[q.question_id for q in item.asked.all()] for item in campaign.items.all()]
    assert all(len(questions) == 2 for questions in asked)
    again = make_campaign(make_dataset("again"), cast.worker, questions_per_item=2, seed=7)
    positions = [
        [[q.question.position for q in item.asked.all()] for item in one.items.all()]
        for one in (campaign, again)
    ]
    assert positions[0] == positions[1]


@pytest.mark.parametrize(
    "url", ["{huge}/", "{huge}/answers/1/", "{pk}/answers/{huge}/", "{pk}/checks/{huge}/"]
)
def test_a_number_that_no_database_holds_is_a_missing_id(cast, assignment, url):
    url = "/work/" + url.format(pk=assignment.pk, huge=10**25)
    assert cast.client("worker").post(url, {"key": uuid4(), "grade": 0}).status_code in (404, 405)

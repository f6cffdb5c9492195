"""The page of an item: what it shows, whose it is, what is frozen."""

import re
from html import escape
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.task_answers import answer, question


def test_page_shows_text_questions_and_guideline(cast, assignment):
    page = cast.client("worker").get(assignment.get_absolute_url()).content.decode()
    assert "lost steering off the breakwater" in page
    assert "What failed on the Halden?" in page
    assert "could somebody who has" in page  # the guideline
    assert "What did it cost?" not in page  # filtered


def test_level_labels_are_shown_as_written(cast, assignment):
    campaign = assignment.participant.campaign
    campaign.wording["levels"]["0"] = "Keine Antwort im Text"  # a noun, which German writes so
    campaign.save(update_fields=["wording"])
    page = cast.client("worker").get(assignment.get_absolute_url()).content.decode()
    assert "You answered 0 (Keine Antwort im Text)." in page


@pytest.mark.parametrize("role", ["other_worker", "researcher", "admin"])
def test_foreign_item_gets_404(cast, assignment, role):
    client = cast.client(role)
    assert client.get(assignment.get_absolute_url()).status_code == 404
    assert answer(client, assignment, grade="0").status_code == 404
    assert client.post(f"/work/{assignment.pk}/submit/").status_code == 404
    assert client.post(f"/work/{assignment.pk}/skip/").status_code == 404


def test_stranger_is_asked_to_log_in(cast, assignment):
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


def test_question_that_the_item_does_not_ask_is_refused(cast, assignment):
    filtered = assignment.item.text.topic.questions.get(position=3)
    url = f"/work/{assignment.pk}/answers/{filtered.pk}/"
    assert cast.client("worker").post(url, {"key": uuid4(), "grade": 0}).status_code == 404


def test_my_work_lists_studies_and_items(cast, assignment):
    client = cast.client("worker")
    assert "0 of 2 submitted" in client.get("/work/").content.decode()
    page = client.get("/work/in/ferry-answerable/").content.decode()
    assert page.count("/work/") >= 3
    assert "Start" in page
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


def test_draw_of_questions_is_frozen_and_the_same_for_all(cast, dataset):
    campaign = make_campaign(dataset, cast.worker, cast.other_worker, questions_per_item=2, seed=7)
    question_ids = [[q.question_id for q in item.asked.all()] for item in campaign.items.all()]
    assert all(len(questions) == 2 for questions in question_ids)
    repeated = make_campaign(make_dataset("again"), cast.worker, questions_per_item=2, seed=7)
    positions = [
        [[q.question.position for q in item.asked.all()] for item in study.items.all()]
        for study in (campaign, repeated)
    ]
    assert positions[0] == positions[1]


@pytest.mark.parametrize(
    "url", ["{huge}/", "{huge}/answers/1/", "{pk}/answers/{huge}/", "{pk}/checks/{huge}/"]
)
def test_number_that_no_database_holds_is_a_missing_id(cast, assignment, url):
    url = "/work/" + url.format(pk=assignment.pk, huge=10**25)
    assert cast.client("worker").post(url, {"key": uuid4(), "grade": 0}).status_code in (404, 405)


def test_opening_takes_few_statements(cast, assignment, django_assert_max_num_queries):
    client = cast.client("worker")
    # Session, account; the item; its opening; its part, the answers, the questions, further rubrics, levels;
    # skips, messages and minutes left.
    with django_assert_max_num_queries(12):
        page = client.get(assignment.get_absolute_url())
    assert page.status_code == 200


def test_cards_share_markup_and_keep_their_own_numbers_and_notes(cast, assignment):
    client = cast.client("worker")
    questions = [row.question for row in assignment.item.asked.order_by("position")]
    note = "{{ number }}\n    indented <b>"
    for grade, asked_question in enumerate(questions[:2]):
        url = f"/work/{assignment.pk}/answers/{asked_question.pk}/"
        client.post(url, {"key": uuid4(), "grade": grade, "spans": "[]", "note": note, "base": ""})
    page = client.get(assignment.get_absolute_url()).content.decode()
    cards = page.split('<li\n  class="question')[1:]
    assert len(cards) == len(questions)
    for number, card in enumerate(cards, start=1):
        assert set(re.findall(r'id="(?:denial|regrade|large|confidence)-(\d+)"', card)) == {
            str(number)
        }
        assert f"Save question {number}\n" in card
        checked = re.findall(r'value="(\d)"[^>]*checked', card)
        assert checked == ([str(number - 1)] if number <= 2 else [])
        assert (escape(note) in card) == (number <= 2)

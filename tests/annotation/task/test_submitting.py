"""Handing an item in, and putting it aside with a note."""

import re

import pytest
from lxml import html

from annotation.models import Assignment, Campaign, Rating
from tests.toolbox.responses import markup
from tests.toolbox.task_answers import answer

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}


def test_submit_wants_every_question_and_every_span(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, position=0, grade="1")
    answer(client, assignment, position=1, grade="0")
    response = client.post(f"/work/{assignment.pk}/submit/")
    assert response.status_code == 422
    page = markup(response)
    assert '<a href="#q-1">1 needs a span</a>' in page
    assert '<a href="#q-3">3 open</a>' in page
    assignment.refresh_from_db()
    assert assignment.state == "open"


def hand_in(client, assignment):
    for position in range(3):
        answer(client, assignment, position=position, grade="0")
    client.post(f"/work/{assignment.pk}/submit/")


def test_submitted_item_with_a_missing_answer_is_reopened(cast, assignment):
    client = cast.client("worker")
    hand_in(client, assignment)
    answer(client, assignment, position=1, grade="1", quotes=["112 people"])
    assignment.refresh_from_db()
    assert assignment.state == "submitted"  # changed, and still whole
    answer(client, assignment, position=1, grade="1")
    assignment.refresh_from_db()
    assert assignment.state == "open"


def read(client, url):
    """A page without what its scripts may have to say."""
    page = markup(client.get(url))
    return re.sub(r'<script id="words".*?</script>', "", page, flags=re.DOTALL)


def test_whoever_opens_an_item_again_is_told_and_led_back(cast, assignment):
    client = cast.client("worker")
    hand_in(client, assignment)
    url, room = f"/work/{assignment.pk}/", "/work/in/ferry-answerable/"
    opened = "You changed this"
    assert opened not in read(client, room)
    whole = answer(client, assignment, position=1, grade="1", quotes=["112 people"], **BY_SCRIPT)
    assert whole.status_code == 204
    lacking = answer(client, assignment, position=1, grade="1", **BY_SCRIPT)
    assert lacking.json() == {"reopened": url}
    assert answer(client, assignment, position=2, grade="0", **BY_SCRIPT).status_code == 204
    assert f"{opened} text after you submitted it. Submit it again" in read(client, url)
    page = read(client, room)
    assert f'{opened} after you submitted it. Submit it again: <a href="{url}">Report</a>' in page
    assert ">open again</span>" in page
    hand_in(client, assignment)
    assert opened not in read(client, room)
    assert opened not in read(client, url)


def test_text_opened_again_after_its_part_is_done_is_led_back_to(cast, assignment):
    client = cast.client("worker")
    for handed_in in Assignment.objects.filter(participant=assignment.participant):
        hand_in(client, handed_in)
    answer(client, assignment, position=1, grade="1")
    page = read(client, "/work/in/ferry-answerable/")
    assert "You changed this after you submitted it" in page
    assert f'<a class="button main large" href="/work/{assignment.pk}/">Continue</a>' in page


def test_text_opened_again_is_no_longer_asked_for_in_a_closed_study(cast, assignment):
    client = cast.client("worker")
    hand_in(client, assignment)
    answer(client, assignment, position=1, grade="1")
    Campaign.objects.update(state="closed")
    for url in ("/work/in/ferry-answerable/", f"/work/{assignment.pk}/"):
        assert "has opened this" not in read(client, url)


def test_submitted_or_closed_item_cannot_be_skipped(cast, assignment):
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


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ("x" * 2001, "The note is too long: 2,000 characters at most."),
        ("cut \0 off", "Null characters are not allowed."),
    ],
)
def test_invalid_note_is_reported_as_such(cast, assignment, note, message):
    client, url = cast.client("worker"), f"/work/{assignment.pk}/skip/"
    response = client.post(url, {"note": note}, **BY_SCRIPT)
    assert (response.status_code, response.content.decode()) == (422, message)
    assert message in client.post(url, {"note": note}, follow=True).content.decode()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note) == ("open", "")


LINES = "\r\n".join(["x" * 9] * 200)  # 1,999 characters as browsers count


def test_note_of_full_length_with_line_breaks_is_kept(cast, assignment):
    note = f"{LINES}!"
    assert len(note.replace("\r\n", "\n")) == 2000
    response = cast.client("worker").post(f"/work/{assignment.pk}/skip/", {"note": note})
    assert response.status_code == 302
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note) == ("skipped", note.replace("\r\n", "\n"))


def test_refused_skip_gives_the_typed_note_back(cast, assignment):
    url = f"/work/{assignment.pk}/skip/"
    note = f"{LINES}, too long"
    response = cast.client("worker").post(url, {"note": note, "broken": "on"})
    assert response.status_code == 422
    page = html.fromstring(response.content.decode())
    [form] = [form for form in page.forms if form.action == url]
    assert form.fields["note"].strip() == note.replace("\r\n", "\n")
    assert form.fields["broken"] == "on"
    assert form.getparent().get("open") is not None
    assert "2,000 characters at most" in page.text_content()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note, assignment.reported_broken) == ("open", "", False)
    answer = cast.client("worker").post(url, {"note": note}, **BY_SCRIPT)
    assert (answer.status_code, answer.content.decode()) == (
        422,
        "The note is too long: 2,000 characters at most.",
    )

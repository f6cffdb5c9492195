"""Answers from a form without scripts that is older than the stored answer."""

import re
from uuid import uuid4

import pytest
from django.utils import translation

from annotation.models import Answer, AttentionCheck, Campaign, Rating
from tests.toolbox.factories import REPORT
from tests.toolbox.responses import markup
from tests.toolbox.task_answers import question, send

ASKS = "This question was answered in another place too. Which answer counts?"


@pytest.fixture
def client(cast):
    return cast.client("worker")


def answer_url(assignment, position=0):
    return f"/work/{assignment.pk}/answers/{question(assignment, position).pk}/"


def card_of(page, number=1):
    return page.split(f'id="q-{number}"')[1].split("</form>")[0]


def hidden_fields(card):
    """The hidden fields of a form without scripts, as a browser sends them."""
    tags = re.findall(r'<input[^>]*type="hidden"[^>]*>', card)
    fields = [
        re.search(r'name="(\w+)"\s+value="([^"]*)"', tag) for tag in tags if "disabled" not in tag
    ]
    return {match[1]: match[2] for match in fields if match[1] != "csrfmiddlewaretoken"}


def opened(client, assignment, number=1):
    return hidden_fields(card_of(markup(client.get(assignment.get_absolute_url())), number))


def position_of(quote):
    return f"{REPORT.index(quote)}:{REPORT.index(quote) + len(quote)}"


def boxes_of(card):
    return dict(re.findall(r'name="keep"\s+value="(\S+)"\s*(\w*)', card))


def test_form_carries_the_newest_answer_of_its_question(client, assignment):
    url = answer_url(assignment)
    assert opened(client, assignment)["base"] == ""
    client.post(url, opened(client, assignment) | {"grade": "0"})
    assert opened(client, assignment)["base"] == str(Answer.objects.get().key)
    client.post(url, opened(client, assignment) | {"grade": "1", "quotes": "was hurt"})
    assert [answer.grade for answer in Answer.objects.order_by("pk")] == [0, 1]
    assert opened(client, assignment, 2)["base"] == ""


def test_stale_form_overwrites_nothing_and_shows_both_answers(client, assignment):
    url = answer_url(assignment)
    client.post(url, opened(client, assignment) | {"grade": "1", "quotes": "112 people"})
    stale = opened(client, assignment)
    other_fields = {"grade": "1", "quotes": "was hurt", "note": "There & then", "confidence": "low"}
    client.post(url, opened(client, assignment) | other_fields)
    fields = {
        "grade": "1",
        "keep": position_of("112 people"),
        "quotes": "coupling",
        "note": "Here",
        "confidence": "high",
    }
    response = client.post(url, stale | fields)
    assert response.status_code == 409
    assert Answer.objects.count() == 2
    assert [span.quote for span in Rating.objects.get().spans.all()] == ["was hurt"]
    card = card_of(markup(response))
    assert ASKS in card
    first, second = re.findall(r"<dd>(.*?)</dd>", card, re.DOTALL)
    assert all(text in first for text in ("112 people", "coupling", "Here"))
    assert all(text in second for text in ("was hurt", "There &amp; then", "low"))
    # What was sent is in the form, the stored spans beside it.
    assert boxes_of(card) == {position_of("112 people"): "checked", position_of("was hurt"): ""}
    assert ">coupling</textarea>" in card
    assert ">Here</textarea>" in card
    assert re.search(r'value="high"\s+checked', card)
    assert f'href="/work/{assignment.pk}/#q-1"' in card
    # Sent once more, it replaces the other answer knowingly.
    response = client.post(url, hidden_fields(card) | fields)
    assert response.status_code == 302
    assert Answer.objects.count() == 3
    quotes = {span.quote for span in Rating.objects.get().spans.all()}
    assert quotes == {"112 people", "coupling"}


def test_conflict_page_that_is_stale_again_asks_again(client, assignment):
    url, stale = answer_url(assignment), opened(client, assignment)
    client.post(url, opened(client, assignment) | {"grade": "0"})
    resent = hidden_fields(card_of(markup(client.post(url, stale | {"grade": ""}))))
    client.post(url, opened(client, assignment) | {"grade": "1", "quotes": "was hurt"})
    assert client.post(url, resent | {"grade": ""}).status_code == 409
    assert Rating.objects.get().grade == 1


def test_answer_by_script_is_not_overwritten_by_a_stale_form(client, assignment):
    stale = opened(client, assignment)
    send(client, answer_url(assignment), 1)
    assert client.post(answer_url(assignment), stale | {"grade": "0"}).status_code == 409
    assert Rating.objects.get().grade == 1


def test_equal_answer_of_a_stale_form_is_no_conflict(client, assignment):
    url, stale = answer_url(assignment), opened(client, assignment)
    fields = {"grade": "1", "quotes": "was hurt", "note": "a\r\nb", "confidence": "high"}
    client.post(url, opened(client, assignment) | fields)
    response = client.post(url, stale | fields, follow=True)
    assert "Question 1 is saved." in markup(response)
    assert Answer.objects.count() == 1


@pytest.mark.parametrize("change", [{"note": "Other"}, {"confidence": "low"}])
def test_stale_note_and_confidence_are_a_conflict(client, assignment, change):
    url, stale = answer_url(assignment), opened(client, assignment)
    fields = {"grade": "0", "note": "First", "confidence": "high"}
    client.post(url, opened(client, assignment) | fields)
    assert client.post(url, stale | fields | change).status_code == 409
    assert Answer.objects.count() == 1


def test_form_sent_twice_is_one_answer(client, assignment):
    sent = opened(client, assignment) | {"grade": "0", "note": "Twice"}
    for _ in range(2):
        assert client.post(answer_url(assignment), sent).status_code == 302
    assert Answer.objects.count() == 1


@pytest.mark.parametrize(
    "change", [{"note": "Second"}, {"confidence": "high"}, {"grade": "1", "quotes": "was hurt"}]
)
def test_changed_form_after_back_is_not_called_saved(client, assignment, change):
    """A browser can show the page of before, with the key that was sent already."""
    url, sent = answer_url(assignment), opened(client, assignment) | {"grade": "0", "note": "First"}
    client.post(url, sent)
    response = client.post(url, sent | change)
    assert response.status_code == 409
    assert ASKS in markup(response)
    card = card_of(markup(response))
    assert f">{change.get('note', 'First')}</textarea>" in card
    fields = {"grade": "0", "note": "First"} | change
    assert client.post(url, hidden_fields(card) | fields).status_code == 302
    newest = Answer.objects.last()
    assert {name: str(getattr(newest, name)) for name in fields if name != "quotes"} == {
        name: value for name, value in fields.items() if name != "quotes"
    }


def test_form_after_back_with_the_newest_content_is_no_conflict(client, assignment):
    url = answer_url(assignment)
    first = opened(client, assignment)
    client.post(url, first | {"grade": "0"})
    client.post(url, opened(client, assignment) | {"grade": "1", "quotes": "was hurt"})
    response = client.post(url, first | {"grade": "1", "quotes": "was hurt"})
    assert (response.status_code, Answer.objects.count()) == (302, 2)


def test_key_of_another_question_is_no_conflict_with_its_answer(client, assignment):
    first = opened(client, assignment)
    client.post(answer_url(assignment), first | {"grade": "0"})
    response = client.post(answer_url(assignment, 1), first | {"base": "", "grade": "0"})
    assert response.status_code == 422
    assert "Use the other answer" not in card_of(markup(response), 2)
    assert Answer.objects.count() == 1


def test_script_that_changes_the_note_of_a_sent_key_is_refused(client, assignment):
    key, url = uuid4(), answer_url(assignment)
    assert send(client, url, 0, key=key, note="First", confidence="").status_code == 204
    assert send(client, url, 0, key=key, note="Second", confidence="").status_code == 422
    assert send(client, url, 0, key=key).status_code == 204  # a page of before sends no note
    assert Answer.objects.get().note == "First"


def test_refused_form_keeps_ticks_of_spans_that_were_removed_elsewhere(client, assignment):
    url = answer_url(assignment)
    client.post(url, opened(client, assignment) | {"grade": "1", "quotes": "112 people"})
    stale = opened(client, assignment)
    client.post(url, opened(client, assignment) | {"grade": "1", "quotes": "was hurt"})
    sent = stale | {"grade": "1", "keep": [position_of("112 people"), "x", "5:2", "0:99999"]}
    response = client.post(url, sent | {"quotes": "not in the text"})
    assert response.status_code == 422
    card = card_of(markup(response))
    assert boxes_of(card) == {position_of("112 people"): "checked", position_of("was hurt"): ""}
    assert '<q dir="auto" translate="no">112 people</q>' in " ".join(card.split())
    # It was refused before it was compared, so it still knows nothing of the other answer.
    assert hidden_fields(card)["base"] == stale["base"]


def test_page_of_a_refused_form_has_no_scripts(client, assignment):
    """A script would take what the form shows for what is saved."""
    url, stale = answer_url(assignment), opened(client, assignment)
    client.post(url, opened(client, assignment) | {"grade": "0"})
    for sent in (stale | {"grade": "1"}, stale | {"grade": "7"}):
        page = markup(client.post(url, sent))
        assert "<script defer" not in page
        assert 'type="module"' not in page
        assert "data-incomplete" in page.split("<head>")[0]
    page = markup(client.get(assignment.get_absolute_url()))
    assert "data-incomplete" not in page.split("<head>")[0]
    assert 'type="module"' in page


def test_stale_form_of_an_attention_check_is_a_conflict(client, assignment):
    check = AttentionCheck.objects.create(
        campaign=assignment.participant.campaign, position=0, body="Choose 0 here.", expected=0
    )
    assignment.check_asked = check
    assignment.save()
    url = f"/work/{assignment.pk}/checks/{check.pk}/"
    page = markup(client.get(assignment.get_absolute_url()))
    [number] = re.findall(rf'id="q-(\d+)"(?:(?!<form).)*<form[^>]*{url}', page, re.DOTALL)[-1:]
    stale = opened(client, assignment, number)
    client.post(url, stale | {"key": uuid4(), "grade": "1"})
    assert client.post(url, stale | {"grade": "0"}).status_code == 409
    assert Answer.objects.get().grade == 1


def test_closed_campaign_has_no_conflict(client, assignment):
    stale = opened(client, assignment)
    client.post(answer_url(assignment), opened(client, assignment) | {"grade": "0"})
    Campaign.objects.update(state="closed")
    assert client.post(answer_url(assignment), stale | {"grade": ""}).status_code == 302
    assert [answer.late for answer in Answer.objects.order_by("pk")] == ["", "closed"]


def test_conflict_is_in_the_language_of_the_campaign(client, assignment):
    Campaign.objects.update(language="de")
    stale = opened(client, assignment)
    client.post(answer_url(assignment), opened(client, assignment) | {"grade": "0"})
    page = markup(client.post(answer_url(assignment), stale | {"grade": ""}))
    with translation.override("de"):
        assert str(translation.gettext(ASKS)) in page
    assert "Diese Antwort behalten" in page or "Die Antwort von hier" in page

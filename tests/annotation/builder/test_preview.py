"""The preview: the workers' own pages, with nothing behind them that could be saved."""

from copy import deepcopy
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment, Campaign, Item, Participant, Rater, Rating
from tests.toolbox.campaign_builder import (
    BODY,
    STEPS,
    make_draft,
    make_labelled,
    rows,
    url,
)
from tests.toolbox.responses import markup
from tests.toolbox.users import Cast, make_cast

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
SCREENING = {
    "purpose": "screening",
    "body": "Do you read English?",
    "options": "no\nyes",
    "correct": 2,
}
COMPREHENSION = {
    "purpose": "comprehension",
    "body": "May you use what you know?",
    "options": "yes\nno",
    "correct": 2,
    "why": "The passage alone counts.",
}


@pytest.fixture(scope="module")
def built_draft(shared_world):
    return shared_world(make)


def make() -> tuple[Campaign, Cast]:
    """Parts of four texts, one text to train with, a hidden gold one, checks and a consent."""
    cast = make_cast()
    admin = cast.client("admin")
    new_draft = make_draft(admin, make_labelled())
    sent = STEPS | {
        "parts": {"raters_per_item": 3, "items_per_part": 4, "attention_per_part": 1},
        "gold": {
            "gold_source": Rater.objects.get(name="orla").pk,
            "n_training": 1,
            "n_gold": 2,
        },
        "checks": rows("questions", SCREENING, COMPREHENSION)
        | rows("attention", {"body": "Please choose grade 2.", "expected": 2}),
    }
    for step, data in sent.items():
        assert admin.post(url(new_draft, step), data).status_code == 302
    new_draft.refresh_from_db()
    return new_draft, cast


@pytest.fixture
def draft(db, built_draft):
    return deepcopy(built_draft[0])


@pytest.fixture
def cast(db, built_draft):
    return deepcopy(built_draft[1])


@pytest.fixture
def client(cast):
    """A researcher: looks, and edits nothing."""
    return cast.client("researcher")


@pytest.fixture(autouse=True)
def nothing_is_saved(db):
    yield
    assert not Answer.objects.exists()
    assert not Assignment.objects.exists()
    assert not Participant.objects.exists()
    assert not Rating.objects.exclude(rater__name="orla").exists()


def preview_url(campaign, path=""):
    return f"/campaigns/{campaign.slug}/preview/{path}"


def first_part(campaign):
    return [
        *campaign.items.filter(purpose="training").values_list("position", flat=True),
        *campaign.items.filter(purpose="study").values_list("position", flat=True)[:2],
    ]


def test_way_goes_over_consent_and_checks_to_the_study_and_its_first_text(client, draft):
    page = client.get(preview_url(draft, "consent/"))
    assert "You may stop." in page.content.decode()
    assert "nothing is saved" in page.content.decode()
    screening = draft.check_questions.get(purpose="screening")
    sent = {"decision": "agree", f"check-{screening.pk}": 1}
    response = client.post(preview_url(draft, "consent/"), sent)
    assert response.url == preview_url(draft, "check/comprehension/")
    question = draft.check_questions.get(purpose="comprehension")
    sent = {"step": "comprehension", "tries": 0, f"check-{question.pk}": 1}
    response = client.post(preview_url(draft, "check/comprehension/"), sent)
    assert response.url == preview_url(draft, "survey/before/")
    question = draft.survey_questions.first()
    sent = {f"question-{question.pk}": 0}
    assert client.post(response.url, sent).url == preview_url(draft)
    page = client.get(preview_url(draft)).content.decode()
    assert draft.title in page
    assert f'action="{preview_url(draft)}"' in page
    assert client.post(preview_url(draft)).url == preview_url(
        draft, f"items/{first_part(draft)[0]}/"
    )


def test_wrong_answers_say_what_a_worker_would_meet(client, draft):
    response = client.post(preview_url(draft, "consent/"), {"decision": "decline"}, follow=True)
    assert "the participation would end here" in response.content.decode()
    assert client.post(preview_url(draft, "consent/"), {}).status_code == 422
    screening = draft.check_questions.get(purpose="screening")
    sent = {"decision": "agree", f"check-{screening.pk}": 0}
    response = client.post(preview_url(draft, "consent/"), sent, follow=True)
    assert "would be screened out" in response.content.decode()
    question = draft.check_questions.get(purpose="comprehension")
    sent = {"step": "comprehension", "tries": 0, f"check-{question.pk}": 0}
    response = client.post(preview_url(draft, "check/comprehension/"), sent)
    assert response.status_code == 422
    assert "The passage alone counts." in response.content.decode()


def test_item_is_the_workers_own_page(client, draft):
    training, first, _second = first_part(draft)
    page = markup(client.get(preview_url(draft, f"items/{first}/")))
    item = draft.items.get(position=first)
    assert "lost steering" in page
    for item_question in item.asked.all():
        assert str(item_question.question) in page
    assert "Please choose grade 2." in page  # the first text bears the attention check
    assert "Passage 1 of 5" in page  # practice is not counted: four study texts and a gold one
    assert ">Preview: nothing is saved</p>" in page  # the line that says where answers are
    assert "All saved" not in page.split('id="words"')[0]
    assert preview_url(draft, f"items/{training}/") in page
    assert 'action="/work/' not in page
    assert 'class="skip"' in page
    assert (
        'class="skip"' not in client.get(preview_url(draft, f"items/{training}/")).content.decode()
    )


def test_preview_has_all_items(client, draft):
    for position in range(draft.items.count()):
        assert client.get(preview_url(draft, f"items/{position}/")).status_code == 200


def test_answers_are_checked_and_forgotten(client, draft):
    position = first_part(draft)[1]
    question = draft.items.get(position=position).asked.first().question
    path = preview_url(draft, f"items/{position}/answers/{question.pk}/")
    span = f'[{{"start": 4, "end": 9, "quote": "{BODY[4:9]}"}}]'
    sent = {"key": uuid4(), "grade": "4", "spans": span}
    assert client.post(path, sent, **BY_SCRIPT).json() == {"says": "Preview: nothing is saved"}
    assert client.post(path, sent).url == preview_url(draft, f"items/{position}/")
    for change in ({"grade": "9"}, {"spans": "nonsense"}, {"key": "none"}):
        assert client.post(path, sent | change, **BY_SCRIPT).status_code == 422
    assert client.post(path, sent | {"grade": "9"}).status_code == 302
    check = draft.attention_checks.get()
    path = preview_url(draft, f"items/{position}/checks/{check.pk}/")
    assert client.post(path, sent, **BY_SCRIPT).status_code == 200
    state = client.get(preview_url(draft, f"items/{position}/state/")).json()
    assert state == {"state": "open", "answers": []}


def test_submitting_leads_through_the_part_and_back_to_the_study(client, draft):
    position, visited = first_part(draft)[0], []
    for _ in range(6):
        visited.append(position)
        following = client.post(preview_url(draft, f"items/{position}/next/")).url
        if following == preview_url(draft):
            break
        position = int(following.strip("/").split("/")[-1])
    assert len(set(visited)) == 6
    assert draft.items.filter(position__in=visited, purpose="gold").count() == 1
    # Both gold texts in the one part that there is: then one more text is shown.
    Campaign.objects.update(gold_per_person=2, max_parts=1)
    assert "Passage 1 of 6" in markup(client.get(preview_url(draft, f"items/{visited[1]}/")))
    by_script = client.post(preview_url(draft, f"items/{visited[0]}/next/"), **BY_SCRIPT)
    assert by_script.json() == {"next": preview_url(draft, f"items/{visited[1]}/")}


def test_preview_of_open_and_closed_campaigns_is_possible(client, draft):
    for state in ("open", "closed"):
        Campaign.objects.update(state=state)
        assert client.get(preview_url(draft, "items/0/")).status_code == 200
        assert client.get(preview_url(draft)).status_code == 200


def test_draft_without_texts_or_checks_has_a_preview(cast, client, draft):
    Item.objects.all().delete()
    draft.check_questions.all().delete()
    Campaign.objects.update(consent="")
    assert client.get(preview_url(draft)).status_code == 200
    assert client.post(preview_url(draft)).status_code == 200
    assert client.get(preview_url(draft, "consent/")).status_code == 404
    assert client.get(preview_url(draft, "check/screening/")).status_code == 404


PAGES = ["", "consent/", "check/screening/", "items/0/", "items/0/state/"]


@pytest.mark.parametrize(
    ("role", "status"), [("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)]
)
def test_preview_permissions_by_role(cast, draft, role, status):
    for path in PAGES:
        assert cast.client(role).get(preview_url(draft, path)).status_code == status
    if status != 200:
        question = draft.items.first().asked.first().question
        for path in (f"items/0/answers/{question.pk}/", "items/0/next/"):
            assert cast.client(role).post(preview_url(draft, path)).status_code == status


def test_wrong_methods_and_missing_things(client, draft):
    question = draft.items.get(position=0).asked.first().question
    for path in PAGES:
        assert client.get(f"/campaigns/nowhere/preview/{path}").status_code == 404
        assert client.delete(preview_url(draft, path)).status_code == 405
    assert client.post(preview_url(draft, "items/0/")).status_code == 405
    assert client.get(preview_url(draft, f"items/0/answers/{question.pk}/")).status_code == 405
    assert client.get(preview_url(draft, "items/0/next/")).status_code == 405
    huge = 10**30
    for missing in ("check/nothing/", "items/999/", f"items/{huge}/"):
        assert client.get(preview_url(draft, missing)).status_code == 404
    for missing in (
        "items/999/next/",
        "items/0/answers/999999/",
        f"items/0/answers/{huge}/",
        "items/0/checks/999999/",
        f"items/{huge}/answers/{question.pk}/",
    ):
        assert client.post(preview_url(draft, missing)).status_code == 404

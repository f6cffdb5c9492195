"""Refusals of the builder: bad input, wrong people, wrong methods."""

import pytest

from annotation.models import Campaign
from tests.toolbox.campaign_builder import (
    AGE,
    CHECK,
    HARD,
    QUESTION,
    STEPS,
    TERMS,
    TEXTS,
    labels,
    make_draft,
    orla,
    rows,
    stored,
    url,
)

BAD = [
    ("texts", {"kind": "poem"}, "Select a valid choice"),
    ("texts", {"kind": "reference"}, "No text can be assigned; none was chosen"),
    ("texts", {"systems": ["nobody"]}, "Select a valid choice"),
    ("texts", {"topics": ["nothing"]}, "Select a valid choice"),
    ("texts", {"sample": "0"}, "greater than or equal to 1"),
    ("texts", {"sample": "many"}, "whole number"),
    ("texts", {"questions": "some"}, "Enter the number of questions"),
    ("texts", {"questions": "some", "questions_per_item": "0"}, "greater than or equal to 1"),
    ("texts", {"questions": "pair"}, "Choose the source of the labels"),
    ("texts", {"questions": "pair", "labels": "1:99"}, "Select a valid choice"),
    ("texts", {"questions": "none"}, "Select a valid choice"),
    ("texts", {"seed": "9999999999"}, "less than or equal to"),
    ("texts", {"title": ""}, "required"),
    ("parts", {"raters_per_item": "0"}, "greater than or equal to 1"),
    ("parts", {"raters_per_item": "99999"}, "less than or equal to"),
    ("parts", {"items_per_part": "-1"}, "greater than or equal to"),
    ("parts", {"items_per_part": "2", "attention_per_part": "3"}, "cannot have 3"),
    ("parts", {"repeat_percent": "0", "repeat_after": "1"}, "greater than or equal to 1"),
    ("parts", {"repeat_percent": "101", "repeat_after": "1"}, "less than or equal to 100"),
    ("parts", {"repeat_percent": "some", "repeat_after": "1"}, "whole number"),
    ("parts", {"repeat_percent": "50"}, "Enter how many other texts"),
    ("parts", {"repeat_after": "2"}, "Enter the share of texts"),
    ("parts", {"repeat_percent": "50", "repeat_after": "3"}, "enter at most 2"),
    ("gold", {"n_gold": "2"}, "need known labels"),
    ("gold", {"n_training": "-2"}, "greater than or equal to"),
    ("gold", {"gold_source": "999999"}, "Select a valid choice"),
    ("gold", {"gold_per_person": "0"}, "greater than or equal to 1"),
    ("gold", {"gold_per_person": "2"}, "There are only 0 hidden gold texts, not 2."),
    ("guideline", {"consent_version": ""}, "Enter a version"),
    ("survey", rows("before", AGE | {"options": "one"}), "two choices"),
    ("survey", rows("before", AGE | {"options": "a\na"}), "are equal"),
    ("survey", rows("before", AGE | {"kind": "essay"}), "Select a valid choice"),
    ("survey", rows("before", AGE | {"body": ""}), "required"),
    ("survey", rows("before", *[AGE] * 21), "at most 20 questions"),
    ("survey", rows("after", HARD | {"points": ""}), "Enter the highest number"),
    ("survey", rows("after", HARD | {"points": 12}), "less than or equal to 11"),
    ("survey", rows("after", HARD | {"options": "one"}), "Enter two labels"),
    ("survey", {"after-TOTAL_FORMS": ""}, "missing or has been tampered"),
    ("checks", rows("questions", QUESTION | {"options": "one"}), "two choices"),
    ("checks", rows("questions", QUESTION | {"options": "a\na"}), "are equal"),
    ("checks", rows("questions", QUESTION | {"correct": "3"}), "There are only 2 choices"),
    ("checks", rows("questions", QUESTION | {"body": ""}), "required"),
    ("checks", rows("attention", CHECK | {"expected": "9"}), "Select a valid choice"),
    ("checks", {"questions-TOTAL_FORMS": ""}, "missing or has been tampered"),
    ("terms", {"currency": "pounds"}, "at most 3"),
    ("terms", {"currency": "12£"}, "three letters"),
    ("terms", {"currency": ""}, "Enter the currency"),
    ("terms", {"pay_per_part": "-1"}, "cannot be negative"),
    ("terms", {"platform": "prolific", "platform_fee": "-1"}, "greater than or equal to 0"),
    ("terms", {"platform": "prolific", "platform_fee": "100.01"}, "less than or equal to 100"),
    ("terms", {"platform": "prolific", "platform_fee": "33.333"}, "2 decimal places"),
    ("terms", {"drop_out_percent": "100"}, "less than or equal to 99"),
    ("terms", {"workers_a_day": "0"}, "greater than or equal to 1"),
    ("terms", {"workers_a_day": "99999"}, "less than or equal to"),
    (
        "terms",
        {"opens_at": "2030-02-02T10:00", "closes_at": "2030-02-01T10:00"},
        "before the opening time",
    ),
    ("terms", {"closes_at": "soon"}, "valid date"),
    ("terms", {"feedback": "at once"}, "Select a valid choice"),
    ("terms", {"platform": "bazaar"}, "Select a valid choice"),
    ("terms", {"completion_url": "nowhere at all"}, "valid URL"),
    ("terms", {"people": ["999999"]}, "Select a valid choice"),
]


def test_bad_input_is_named_and_changes_nothing(admin, draft, subtests):
    before = stored(draft)
    for step, change, message in BAD:
        with subtests.test(step=step, change=change):
            response = admin.post(url(draft, step), STEPS[step] | change)
            assert response.status_code == 422
            assert message in response.content.decode()
            assert stored(draft) == before


def test_more_gold_than_labels_is_refused_with_both_numbers(admin, draft):
    before = stored(draft)
    sent = {"gold_source": orla().pk, "n_training": 1, "n_gold": 9}
    response = admin.post(url(draft, "gold"), sent)
    assert response.status_code == 422
    page = response.content.decode()
    assert "orla has rated 8 texts" in page
    assert "need 10" in page
    assert stored(draft) == before


def test_labels_of_another_kind_of_text_are_refused(admin, harbour):
    draft = make_draft(admin, harbour, rubric="answerable")
    sent = TEXTS | {"kind": "report", "questions": "pair", "labels": labels()}
    response = admin.post(url(draft, "texts"), sent)
    assert response.status_code == 422
    assert "has labelled no text of this kind" in response.content.decode()


def test_guests_of_other_studies_cannot_be_invited(cast, admin, draft):
    cast.worker.is_guest = True
    cast.worker.save()
    sent = TERMS | {"people": [cast.worker.pk]}
    assert admin.post(url(draft, "terms"), sent).status_code == 422


ALL_STEPS = [*STEPS, "review", "later"]


@pytest.mark.parametrize(
    ("role", "reviews", "edits"),
    [("admin", 200, 200), ("researcher", 200, 403), ("worker", 403, 403), ("stranger", 302, 302)],
)
def test_builder_permissions_by_role(cast, admin, draft, role, reviews, edits):
    client = cast.client(role)
    before = stored(draft)
    assert client.get(url(draft, "review")).status_code == reviews
    for step, sent in STEPS.items():
        assert client.get(url(draft, step)).status_code == edits
        if role != "admin":
            assert client.post(url(draft, step), sent).status_code == edits
    if role != "admin":
        assert client.get(url(draft, "open")).status_code == edits
        for action in ("open", "discard", "later"):
            assert client.post(url(draft, action)).status_code == edits
        assert client.post(f"/campaigns/{draft.slug}/copy/").status_code == edits
        assert stored(draft) == before
        assert Campaign.objects.count() == 1


def test_wrong_methods_and_missing_campaigns(admin, draft):
    for step in ALL_STEPS:
        assert admin.get(f"/campaigns/nowhere/edit/{step}/").status_code == 404
        assert admin.delete(url(draft, step)).status_code == 405
    assert admin.post(url(draft, "review")).status_code == 405
    assert admin.get(url(draft, "discard")).status_code == 405
    assert admin.get("/campaigns/nowhere/edit/open/").status_code == 404
    for action in ("open", "discard"):
        assert admin.put(url(draft, action)).status_code == 405
        assert admin.post(f"/campaigns/nowhere/edit/{action}/").status_code == 404
    assert admin.get(f"/campaigns/{draft.slug}/copy/").status_code == 405
    assert admin.post("/campaigns/nowhere/copy/").status_code == 404
    assert admin.get(url(draft, "nonsense")).status_code == 404

"""Drafts as wholes: copied, thrown away, their addresses and selections."""

import json

from annotation.builder import drafts
from annotation.models import Campaign
from tests.toolbox.campaign_builder import (
    AGE,
    CHECK,
    GOLD,
    HARD,
    PROLIFIC,
    QUESTION,
    STEPS,
    TEXTS,
    WORDING,
    make_draft,
    open_it,
    url,
)


def test_copy_has_settings_words_and_checks_but_not_people(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    for name, sent in STEPS.items():
        admin.post(url(draft, name), sent)
    admin.post(
        url(draft, "terms"),
        PROLIFIC | {"people": [cast.worker.pk], "closes_at": "2099-01-01T10:00"},
    )
    open_it(admin, draft)
    response = admin.post(f"/campaigns/{draft.slug}/copy/")
    copied = Campaign.objects.latest("id")
    assert response.url == url(copied, "texts")
    assert copied.is_draft
    assert (copied.title, copied.slug) == ("Grading (copy)", "grading-copy")
    assert (copied.raters_per_item, copied.consent, copied.platform) == (
        3,
        "You may stop.",
        "prolific",
    )
    assert (copied.code_done, copied.closes_at, copied.opened_at) == ("", None, None)
    assert copied.salt != draft.salt
    assert copied.check_questions.get().body == QUESTION["body"]
    assert copied.attention_checks.get().body == CHECK["body"]
    assert [question.body for question in copied.survey_questions.all()] == [
        AGE["body"],
        HARD["body"],
    ]
    assert not copied.participants.exists()
    items = [
        [
            (
                item.text_id,
                item.purpose,
                [item_question.question_id for item_question in item.asked.all()],
            )
            for item in campaign.items.all()
        ]
        for campaign in (draft, copied)
    ]
    assert items[0] == items[1]


def test_copy_of_a_study_that_was_opened_at_once_knows_its_kind_of_text(cast, admin, campaign):
    admin.post(f"/campaigns/{campaign.slug}/copy/")
    copied = Campaign.objects.latest("id")
    assert copied.selection["kind"] == "report"
    assert copied.items.count() == campaign.items.count()


def test_draft_can_be_thrown_away(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    assert admin.post(url(draft, "discard")).url == "/campaigns/"
    assert not Campaign.objects.exists()


def test_address_is_made_from_the_title_and_never_taken_twice(draft):
    assert draft.slug == "grading"
    assert drafts.free_slug("Grading") == "grading-2"
    assert drafts.free_slug("new") == "new-2"
    assert drafts.free_slug("…") == "campaign"


def test_draft_keeps_its_selection_as_it_was_chosen(admin, draft):
    admin.post(url(draft, "texts"), TEXTS | {"topics": ["harbour-1"], "sample": 2})
    draft.refresh_from_db()
    chosen = {key: of for key, of in draft.selection.items() if key != "left_out"}
    assert chosen == {"kind": "passage", "systems": [], "topics": ["harbour-1"], "sample": 2}
    assert json.dumps(draft.selection)
    admin.post(url(draft, "gold"), GOLD)
    draft.refresh_from_db()
    assert draft.selection["sample"] == 2
    assert draft.items.count() == 2
    assert WORDING["guideline"] != draft.guideline

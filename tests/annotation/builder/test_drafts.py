"""Drafts as wholes: copied, thrown away, their addresses and selections."""

import json

from annotation.builder import drafts
from annotation.models import Campaign
from tests.annotation.builder.builder_material import (
    CHECK,
    GOLD,
    PROLIFIC,
    QUESTION,
    STEPS,
    TEXTS,
    WORDS,
    make_draft,
    open_it,
    url,
)


def test_a_copy_has_settings_words_and_checks_but_not_people(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    for name, sent in STEPS.items():
        admin.post(url(draft, name), sent)
    admin.post(
        url(draft, "terms"),
        PROLIFIC | {"people": [cast.worker.pk], "closes_at": "2099-01-01T10:00"},
    )
    open_it(admin, draft)
    response = admin.post(f"/campaigns/{draft.slug}/copy/")
    made = Campaign.objects.latest("id")
    assert response.url == url(made, "texts")
    assert made.is_draft
    assert (made.title, made.slug) == ("Grading (copy)", "grading-copy")
    assert (made.raters_per_item, made.consent, made.platform) == (3, "You may stop.", "prolific")
    assert (made.code_done, made.closes_at, made.opened_at) == ("", None, None)
    assert made.salt != draft.salt
    assert made.check_questions.get().body == QUESTION["body"]
    assert made.attention_checks.get().body == CHECK["body"]
    assert not made.participants.exists()
    drawn = [
        [
            (item.text_id, item.purpose, [asked.question_id for asked in item.asked.all()])
            for item in campaign.items.all()
        ]
        for campaign in (draft, made)
    ]
    assert drawn[0] == drawn[1]


def test_a_copy_of_a_study_that_was_opened_at_once_knows_its_kind_of_text(cast, admin, campaign):
    admin.post(f"/campaigns/{campaign.slug}/copy/")
    made = Campaign.objects.latest("id")
    assert made.selection["kind"] == "report"
    assert made.items.count() == campaign.items.count()


def test_a_draft_can_be_thrown_away(cast, admin, harbour):
    draft = make_draft(admin, harbour, cast.worker)
    assert admin.post(url(draft, "discard")).url == "/campaigns/"
    assert not Campaign.objects.exists()


def test_an_address_is_made_from_the_title_and_never_taken_twice(draft):
    assert draft.slug == "grading"
    assert drafts.free_slug("Grading") == "grading-2"
    assert drafts.free_slug("new") == "new-2"
    assert drafts.free_slug("…") == "campaign"


def test_a_draft_keeps_its_selection_as_it_was_chosen(admin, draft):
    admin.post(url(draft, "texts"), TEXTS | {"topics": ["harbour-1"], "sample": 2})
    draft.refresh_from_db()
    chosen = {key: of for key, of in draft.selection.items() if key != "left_out"}
    assert chosen == {"kind": "passage", "systems": [], "topics": ["harbour-1"], "sample": 2}
    assert json.dumps(draft.selection)
    admin.post(url(draft, "gold"), GOLD)
    draft.refresh_from_db()
    assert draft.selection["sample"] == 2
    assert draft.items.count() == 2
    assert WORDS["guideline"] != draft.guideline

"""Reasons for the expected answers of practice and gold, entered in the builder."""

import pytest

from annotation.builder.expected_reasons import stored_reasons
from annotation.models import Campaign, Item, ItemQuestion
from tests.toolbox.campaign_builder import orla, url
from tests.toolbox.responses import markup


def save_gold(admin, draft, **change):
    sent = {"gold_source": orla().pk, "n_training": 1, "n_gold": 1} | change
    assert admin.post(url(draft, "gold"), sent).status_code == 302


def opened_form(admin, draft) -> dict[str, str]:
    form = admin.get(url(draft, "gold")).context["reasons"]
    return {name: form[name].value() for name in form.fields} | {"version": form.version}


@pytest.fixture
def trained(admin, draft):
    save_gold(admin, draft)
    return draft


def reasons_of(draft) -> list[str]:
    rows = ItemQuestion.objects.filter(item__campaign=draft).exclude(expected_reason="")
    return list(rows.values_list("expected_reason", flat=True))


def reasons_url(draft) -> str:
    return f"{url(draft, 'gold')}reasons/"


def test_reasons_are_saved_and_kept_by_draws_and_copies(admin, trained):
    sent = opened_form(admin, trained)
    first = next(iter(sent))
    response = admin.post(reasons_url(trained), sent | {first: "It says\r\nso."})
    assert (response.status_code, response.url) == (302, url(trained, "gold"))
    assert reasons_of(trained) == ["It says\nso."]
    save_gold(admin, trained, n_training=2)
    assert reasons_of(trained) == ["It says\nso."]
    assert opened_form(admin, trained)[first] == "It says\nso."
    admin.post(f"/campaigns/{trained.slug}/copy/")
    copied = Campaign.objects.latest("id")
    assert stored_reasons(copied) == stored_reasons(Campaign.objects.get(pk=trained.pk))
    orla().ratings.update(grade=2)  # another answer is expected now
    save_gold(admin, trained)
    assert reasons_of(trained) == []


def test_gold_has_reasons_only_if_the_study_shows_feedback_on_it(admin, trained):
    of_training = set(opened_form(admin, trained))
    save_gold(admin, trained, gold_feedback="on")
    gold = Item.objects.get(campaign=trained, purpose=Item.Purpose.GOLD)
    added = set(opened_form(admin, trained)) - of_training
    assert added
    assert all(name.startswith(f"reason-{gold.text_id}-") for name in added)


def test_second_of_two_saves_shows_both_reasons_and_changes_nothing(admin, trained):
    sent = opened_form(admin, trained)
    first = next(iter(sent))
    admin.post(reasons_url(trained), sent | {first: "Mine."})
    response = admin.post(reasons_url(trained), sent | {first: "Theirs."})
    assert response.status_code == 409
    assert reasons_of(trained) == ["Mine."]
    page = markup(response)
    assert '<td class="source">Mine.</td>' in page
    assert "Theirs.</textarea>" in page
    resent = sent | {first: "Theirs.", "version": response.context["reasons"].version}
    assert admin.post(reasons_url(trained), resent).status_code == 302
    assert reasons_of(trained) == ["Theirs."]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reason-0-0-graded": "Gone."}, "1 of your reasons belong to questions"),
        ({"": "x" * 1001}, "at most 1000 characters"),
    ],
)
def test_refused_reasons_change_nothing(admin, trained, change, message):
    sent = opened_form(admin, trained)
    first = next(iter(sent))
    sent |= {name or first: reason for name, reason in change.items()}
    response = admin.post(reasons_url(trained), sent)
    assert response.status_code == 422
    assert message in markup(response)
    assert reasons_of(trained) == []


def test_refused_reasons_still_notice_the_save_of_another(admin, trained):
    sent = opened_form(admin, trained)
    first = next(iter(sent))
    admin.post(reasons_url(trained), sent | {first: "Mine."})
    of_removed = {"reason-0-0-graded": "Gone."}
    refused = admin.post(reasons_url(trained), sent | of_removed | {first: "Theirs."})
    assert refused.status_code == 422
    resent = sent | {first: "Theirs.", "version": refused.context["reasons"].version}
    assert admin.post(reasons_url(trained), resent).status_code == 409
    assert reasons_of(trained) == ["Mine."]


def test_reasons_are_of_drafts_and_their_coordinators(admin, cast, trained):
    assert admin.get(reasons_url(trained)).url == url(trained, "gold")
    assert cast.client("researcher").post(reasons_url(trained)).status_code in (403, 404)
    assert admin.post("/campaigns/nowhere/edit/gold/reasons/").status_code == 404
    sent = opened_form(admin, trained)
    Campaign.objects.filter(pk=trained.pk).update(state="open")
    response = admin.post(reasons_url(trained), dict.fromkeys(sent, "Late."))
    assert response.url == url(trained, "review")
    assert reasons_of(trained) == []

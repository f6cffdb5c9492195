"""New campaigns for each audience: defaults, summary, and the links after the opening."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment, Campaign, Participant, Rating, Rubric
from annotation.participation import assigning
from tests.toolbox.campaign_builder import NEW, make_draft, open_it, read, remarks, url
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import markup


def create(admin, audience, dataset="harbour", **change):
    """Create a campaign by the form, with nothing but the audience and the rubric."""
    rubric = Rubric.objects.get(slug="graded").pk
    sent = {"dataset": dataset, "audience": audience, "rubric": rubric} | change
    response = admin.post(NEW, sent)
    assert response.status_code == 302, markup(response)
    return Campaign.objects.latest("id")


def settings(campaign, *names):
    return {name: getattr(campaign, name) for name in names}


PARTS = ("raters_per_item", "items_per_part", "max_parts", "lease_hours", "begun_lease_hours")


def test_colleagues_all_get_every_text_in_one_part(cast, admin, harbour):
    people = {"people": [cast.worker.pk], "names": "Ann\n\n Ben \nAnn"}
    campaign = create(admin, "colleagues", **people)
    assert settings(campaign, *PARTS) == {
        "raters_per_item": 3,
        "items_per_part": None,
        "max_parts": None,
        "lease_hours": None,
        "begun_lease_hours": None,
    }
    assert (campaign.consent, campaign.platform, campaign.admits_anyone) == ("", "", False)
    assert campaign.attention_checks.count() == campaign.attention_per_part == 0
    sources = campaign.participants.order_by("pk").values_list("source", "external_id")
    assert list(sources) == [("account", ""), ("link", "Ann"), ("link", "Ben")]
    page = read(admin, campaign, "review")
    assert "10 passages, 3 people each, all texts in one part" in page
    assert "wil, Ann (personal link), Ben (personal link)" in page
    assert remarks(admin, campaign) == []
    page = markup(open_it(admin, campaign, follow=True))
    assert page.count("/invited/") == 2
    assert f"/work/in/{campaign.slug}/" in page


def test_link_has_parts_leases_consent_and_a_check(cast, admin, harbour):
    campaign = create(admin, "link")
    assert settings(campaign, *PARTS) == {
        "raters_per_item": 3,
        "items_per_part": 8,
        "max_parts": None,
        "lease_hours": 24,
        "begun_lease_hours": 72,
    }
    assert "Taking part is voluntary." in campaign.consent
    assert campaign.consent_version == f"{timezone.localdate():%Y-%m}"
    assert campaign.contact == cast.admin.email
    assert (campaign.admits_anyone, campaign.platform, campaign.code_done) == (True, "", "")
    assert campaign.attention_checks.count() == campaign.attention_per_part == 1
    assert not campaign.participants.exists()
    page = read(admin, campaign, "review")
    for phrase in (
        "10 passages, 3 people each, parts of 8 texts",
        "anyone with the link, without an account",
        "unknown: no earlier campaign here has measured such texts",
        "our standard text",
        "1 attention check in a part",
    ):
        assert phrase in page
    assert remarks(admin, campaign) == []
    page = markup(open_it(admin, campaign, follow=True))
    assert "/take-part/" in page
    assert "Send this link to everyone who may annotate." in page


def test_prolific_has_a_code_checks_and_pay_by_the_stated_minutes(admin, harbour):
    campaign = create(admin, "prolific", minutes="4", pay="9")
    assert settings(campaign, *PARTS) == {
        "raters_per_item": 3,
        "items_per_part": 5,
        "max_parts": 1,
        "lease_hours": 3,
        "begun_lease_hours": 24,
    }
    assert (campaign.minutes_per_part, str(campaign.pay_per_part)) == (20, "3.00")
    assert len(campaign.code_done) == 8
    assert campaign.attention_checks.count() == campaign.attention_per_part == 2
    assert "your Prolific id" in campaign.consent
    page = read(admin, campaign, "review")
    for phrase in (
        "10 passages, 3 people each, parts of 5 texts, about 20 minutes a part",
        "6 parts, 2.0 hours in all",
        "3.00 GBP a part, 9.00 GBP an hour; 18.00 GBP in all, without the fee of Prolific",
        campaign.code_done,
    ):
        assert phrase in page
    assert remarks(admin, campaign) == []
    second = create(admin, "prolific")
    assert second.code_done != campaign.code_done
    assert remarks(admin, second) == [
        "Prolific is a paid platform, but no pay is stated.",
        "The minutes for a part are not stated.",
    ]
    page = markup(open_it(admin, second, follow=True))
    assert f"{second.code_done}</code>" in page


def test_code_is_hidden_from_researchers(cast, admin, harbour):
    campaign = create(admin, "prolific")
    assert campaign.code_done not in read(cast.client("researcher"), campaign, "review")


def test_fields_of_other_audiences_are_ignored(cast, admin, harbour):
    people = {"people": [cast.worker.pk], "names": "Ann"}
    campaign = create(admin, "link", pay="9", **people)
    assert not Participant.objects.exists()
    assert campaign.pay_per_part is None


@pytest.mark.parametrize("audience", ["colleagues", "link", "prolific"])
def test_stated_number_of_people_for_each_text_goes_first(admin, harbour, audience):
    campaign = create(admin, audience, names="Ann\nBen\nCleo", raters_per_item="2")
    assert campaign.raters_per_item == 2


def test_few_texts_make_one_short_part(cast, admin):
    make_dataset("short")
    campaign = create(admin, "prolific", "short")  # one passage with words
    assert (campaign.items_per_part, campaign.attention_per_part) == (1, 1)
    assert campaign.attention_checks.count() == 1


@pytest.mark.parametrize(("minutes", "texts", "in_part"), [("0.1", 10, 1), ("30", 1, 30)])
def test_part_has_as_many_texts_as_fit_into_its_minutes(admin, harbour, minutes, texts, in_part):
    campaign = create(admin, "link", minutes=minutes)
    assert (campaign.items_per_part, campaign.minutes_per_part) == (texts, in_part)


def measure(campaign, cast, minutes):
    """Let a person submit texts of an open campaign, each after so many active minutes."""
    participant = assigning.invite(campaign, assigning.rater_of(cast.worker))
    part = assigning.begin_part(participant)
    submitted = timezone.now()
    for assignment, active in zip(part.assignments.all(), minutes, strict=False):
        Assignment.objects.filter(pk=assignment.pk).update(
            state="submitted",
            active_ms=active * 60_000,
            opened_at=submitted - timedelta(hours=1),
            submitted_at=submitted,
        )


def test_minutes_are_measured_in_an_earlier_campaign(cast, admin, harbour):
    first = create(admin, "link", title="Pilot of May")
    open_it(admin, first)
    measure(first, cast, [4, 5, 5, 6, 7])
    page = markup(admin.get(f"{NEW}?dataset=harbour"))
    assert "measured, 5.0 under T2, grades 0 to 5: median of 5 texts in “Pilot of May”" in page
    campaign = create(admin, "prolific", pay="12")
    assert (campaign.items_per_part, campaign.minutes_per_part) == (4, 20)
    assert str(campaign.pay_per_part) == "4.00"
    page = read(admin, campaign, "review")
    assert "Measured in “Pilot of May”: 5.0 minutes a text, median of 5 texts" in page
    colleagues = create(admin, "colleagues", names="Ann")
    assert colleagues.minutes_per_part is None
    assert "about 50 minutes a part, estimated; 1 part" in read(admin, colleagues, "review")
    assert create(admin, "link", minutes="10").items_per_part == 2  # what is stated goes first


def test_few_measured_texts_are_no_measure(cast, admin, harbour):
    first = create(admin, "link")
    open_it(admin, first)
    measure(first, cast, [4, 5, 5, 6])
    assert create(admin, "link").minutes_per_part is None
    assert "as no earlier campaign here has measured it" in markup(
        admin.get(f"{NEW}?dataset=harbour")
    )


def proposed(admin, dataset="harbour"):
    form = admin.get(f"{NEW}?dataset={dataset}").context["form"]
    rubric = form.initial["rubric"]
    return rubric.slug if rubric else None, str(form.fields["rubric"].help_text)


def test_rubric_is_proposed_from_the_dataset(admin, harbour):
    assert proposed(admin) == ("graded", "proposed: most ratings of this dataset are under it")
    Rating.objects.all().delete()
    assert proposed(admin) == ("graded", "proposed: the dataset has 11 passages with words")
    harbour.texts.filter(kind="passage").delete()
    assert proposed(admin) == ("answerable", "proposed: the dataset has 4 reports with words")
    make_draft(admin, harbour, rubric="answerable")
    assert proposed(admin) == ("answerable", "proposed: the newest campaign of this dataset has it")
    Rubric.objects.update(is_retired=True)
    assert proposed(admin) == (None, "")


def test_title_and_address_are_filled_in(admin, harbour):
    first, second = create(admin, "link"), create(admin, "link")
    assert first.title == second.title
    assert first.title.startswith("Passage grading, ")
    assert (first.slug, second.slug) == (first.slug, f"{first.slug}-2")
    assert create(admin, "link", title="Mine", slug="own").slug == "own"


def test_open_link_is_a_setting_of_the_terms(admin, harbour):
    campaign = create(admin, "colleagues")
    terms = {"currency": "GBP", "feedback": "never"}
    assert admin.post(url(campaign, "terms"), terms | {"admits_anyone": "on"}).status_code == 302
    campaign.refresh_from_db()
    assert campaign.admits_anyone
    assert admin.post(url(campaign, "terms"), terms).status_code == 302
    campaign.refresh_from_db()
    assert not campaign.admits_anyone

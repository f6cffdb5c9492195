"""Drop-outs and spam: time that ran out, and excluded work."""

from playwright.sync_api import expect

from tests.browser.page_audit import faults
from tests.browser.user_input import answer_all, grade, settled

RUN_OUT = """
from datetime import timedelta
from django.utils import timezone
from annotation.models import Part
parts = Part.objects.filter(participant__rater__name='worker13', participant__campaign__slug='crowd')
parts.update(expires=timezone.now() - timedelta(hours=1))
"""


def participant(site, campaign: str, rater: str) -> str:
    [(key,)] = site.rows(
        "select p.id from annotation_participant p"
        " join annotation_campaign c on c.id = p.campaign_id"
        " join annotation_rater r on r.id = p.rater_id where c.slug = ? and r.name = ?",
        campaign,
        rater,
    )
    return f"/campaigns/{campaign}/participants/{key}/"


def test_expired_part_is_reported_extended_and_finished(visit, site):
    [item] = site.assignments("worker13", "crowd")
    page = visit("worker13").open(f"/work/{item}/")
    grade(page, 1, 0)
    settled(page)
    site.run(RUN_OUT)
    page.goto(f"{site.url}/work/in/crowd/")
    expect(page.get_by_text("You can still finish this part")).to_be_visible()
    assert faults(page) == []
    admins = visit("ada").open(participant(site, "crowd", "worker13"))
    admins.get_by_label("Additional hours").fill("3")
    admins.get_by_role("button", name="Extend").click()
    expect(admins.get_by_text("The deadline of part 1 is")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Yours until")).to_be_visible()
    expect(page.get_by_text("You can still finish this part")).to_have_count(0)
    page.get_by_role("link", name="Continue").click()
    answer_all(page)
    settled(page)
    page.click("#submit button")
    page.wait_for_url(lambda url: f"/work/{item}/" not in url)
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert site.state(item) == "submitted"


def test_work_is_excluded_after_a_preview_and_restored(visit, site):
    [(rater,)] = site.rows(
        "select r.name from annotation_participant p join annotation_rater r on r.id = p.rater_id"
        " join annotation_campaign c on c.id = p.campaign_id"
        " where c.slug = 'field' and p.external_id = 'pid-part'"
    )
    before = site.ratings(rater, "answerable")
    assert before
    page = visit("ada").open(participant(site, "field", rater))
    page.get_by_role("link", name="Exclude this work").click()
    page.get_by_text("Exclude this work…").click()
    expect(page.get_by_text("Effect on this campaign")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name="Exclude this work").click()
    expect(page.get_by_text("other people can get the texts")).to_be_visible()
    assert site.ratings(rater, "answerable") == {}
    assert faults(page) == []
    page.get_by_role("button", name="Include this work again").click()
    expect(page.get_by_text("count again.")).to_be_visible()
    assert site.ratings(rater, "answerable") == before
